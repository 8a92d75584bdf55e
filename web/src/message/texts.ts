// Texts of controls go to the server as changes: what is between the common start and end of the text that the server has and the new one.

import type { PageControls, PageMessage, PageTextEdit } from "../api/api";

type Set = PageMessage["set"];
type TextControl = "definition" | "input" | "value";

const texts: readonly TextControl[] = ["definition", "input", "value"];
const least = 200; // characters; shorter texts go as a whole

/** FNV-1a of the UTF-16 code units of a text, as on the server. */
export function sum32(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  }
  return h >>> 0;
}

/** The change from a text to another one. Surrogate pairs are not split. */
export function textEdit(was: string, now: string): Pick<PageTextEdit, "at" | "remove" | "insert" | "sum"> {
  const most = Math.min(was.length, now.length);
  const isLow = (text: string, i: number): boolean => (text.charCodeAt(i) & 0xfc00) === 0xdc00;
  let at = 0;
  while (at < most && was[at] === now[at]) {
    at++;
  }
  while (at > 0 && (isLow(was, at) || isLow(now, at))) {
    at--;
  }
  let end = 0;
  while (end < most - at && was[was.length - 1 - end] === now[now.length - 1 - end]) {
    end++;
  }
  while (end > 0 && (isLow(was, was.length - end) || isLow(now, now.length - end))) {
    end--;
  }
  const remove = was.length - at - end;
  const insert = now.slice(at, now.length - end);
  return { at, ...(remove === 0 ? {} : { remove }), ...(insert === "" ? {} : { insert }), sum: sum32(now) };
}

/** The texts that the server has. */
export class Texts {
  private readonly texts = new Map<TextControl, string>();
  private edits: Record<string, string> | undefined;

  clear(): void {
    this.texts.clear();
    this.edits = undefined;
  }

  /** The server takes the bytes of a frame itself, which has no edits. */
  forget(): void {
    this.texts.delete("input");
    this.edits = {};
  }

  /** Takes the texts set by the server, unless newer ones were sent. */
  take(set: PageControls, isNewest: (key: string) => boolean): void {
    for (const key of ["definition", "input"] as const) {
      const text = set[key];
      if (text !== undefined && isNewest(key)) {
        this.texts.set(key, text);
      }
    }
    if (set.edits !== undefined && isNewest("edits")) {
      this.edits = set.edits;
    }
  }

  /** The parts of a message that set controls. */
  changes(dirty: Set): Pick<PageMessage, "set" | "edit"> {
    const set: Set = { ...dirty };
    const edit: PageTextEdit[] = [];
    for (const control of texts) {
      const now = set[control]?.replaceAll("\r\n", "\n");
      if (now === undefined) {
        continue;
      }
      const was = this.texts.get(control);
      this.texts.set(control, now);
      set[control] = now;
      if (was !== undefined && now.length >= least) {
        delete set[control];
        edit.push({ control, ...textEdit(was, now) }); // even without a difference: its sum tells whether the server has the text
      }
    }
    const [changed, ...others] = this.changedEdits(set.edits);
    if (set.edits !== undefined) {
      const was = changed === undefined ? undefined : this.edits?.[changed];
      const now = changed === undefined ? undefined : set.edits[changed];
      this.edits = set.edits;
      if (changed !== undefined && was !== undefined && now !== undefined && others.length === 0 && now.length >= least) {
        delete set.edits;
        edit.push({ control: "edits", number: Number(changed), ...textEdit(was, now) });
      }
    }
    return { set, ...(edit.length === 0 ? {} : { edit }) };
  }

  /** The numbers of the messages whose changed bytes differ from those of the server. */
  private changedEdits(edits: Record<string, string> | undefined): string[] {
    const keys = new globalThis.Set([...Object.keys(edits ?? {}), ...Object.keys(this.edits ?? {})]);
    return [...keys].filter((key) => edits?.[key] !== this.edits?.[key]);
  }
}
