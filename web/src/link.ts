// The links between the panes: hover and selection in one are shown in all.
//
// Three attributes link the panes: bits of the message (data-range="START:LENGTH"), lines of the definition (data-line), and keys (data-key),
// which name a part of every message, such as "members[].player_id/value". Elements have those that apply; the hex grid and the editor are
// notified.

import type { DefinitionEditor } from "./editor/index";
import type { HexGrid } from "./hex/index";
import type { Bits, Message } from "./model";

/** A hovered or selected part. */
export interface Target {
  from: "hex" | "tree" | "layout" | "editor" | "keys"; // the pane; "keys" moves to a field from any pane
  ranges: Bits[];
  lines: number[];
  keys: Set<string>;
  path: string; // with indexes, if known
  run: number; // of the message, -1 if it is not a single run
}

/** The part that an element of a pane represents. */
interface Place {
  element: HTMLElement;
  start: number; // first bit, or -1
  end: number;
  line: number; // or 0
  key: string;
  tree: boolean; // bits of this message, not a part of every message
}

const selector = "[data-range],[data-line],[data-key]";

let lineOfKey: ReadonlyMap<string, number> = new Map();

/** The key of the list of an element, or of its position; undefined for other parts. */
function listOf(key: string): string | undefined {
  const list = /^(.*)\[\]\/(?:value|here|next)$/.exec(key)?.[1];
  return list === undefined || lineOfKey.has(key) ? undefined : `${list}/value`;
}

/** The line of a part, or 0. */
function lineOf(key: string): number {
  return lineOfKey.get(listOf(key) ?? key) ?? 0;
}

/** The row itself, or the collapsed row that hides it. */
function unfolded(row: HTMLElement): HTMLElement {
  let shown = row;
  for (let before = row.previousElementSibling; shown.hidden && before instanceof HTMLElement; before = before.previousElementSibling) {
    if (Number(before.ariaLevel) < Number(shown.ariaLevel)) {
      shown = before;
    }
  }
  return shown;
}

function placeOf(element: HTMLElement): Place {
  const key = element.dataset["key"] ?? "";
  const [start, length] = (element.dataset["range"] ?? "").split(":").map(Number);
  const known = start !== undefined && length !== undefined && start >= 0;
  return {
    element,
    start: known ? start : -1,
    end: known ? start + length : -1,
    line: Number(element.dataset["line"] ?? lineOfKey.get(key) ?? 0),
    key,
    tree: element.closest("[data-record]") !== null,
  };
}

/** Hover and selection across the panes. */
export class Links {
  private message: Message | null = null;
  private hex: HexGrid | null = null;
  private editor: DefinitionEditor | null = null;
  private places: Place[] | null = null; // a cache, cleared when the page changes
  private shown: Target | null = null; // hovered
  private picked: Target | null = null; // selected
  private readonly past: Target[] = [];
  private at = -1; // index in past
  private readonly watch: (target: Target | null, picked: boolean) => void;

  /** watch gets the hovered target, or without one the selected target. */
  constructor(watch: (target: Target | null, picked: boolean) => void) {
    this.watch = watch;
  }

  attach(hex: HexGrid, editor: DefinitionEditor): void {
    this.hex = hex;
    this.editor = editor;
  }

  /** Shows another message or text: the selection stays if its target still exists. */
  show(message: Message | null): void {
    this.message = message;
    this.refresh();
  }

  /** Sets the lines of the definition for the parts of a message. */
  lines(keys: ReadonlyMap<string, number>): void {
    lineOfKey = keys;
    this.places = null;
  }

  /** Parts of the page were replaced. */
  refresh(): void {
    this.places = null;
    if (this.picked !== null) {
      this.picked = this.again(this.picked);
      this.draw("picked", this.picked);
    }
    this.draw("lit", this.shown);
    this.watch(this.shown ?? this.picked, this.shown === null);
  }

  /** The same target in the current message. */
  private again(target: Target): Target | null {
    const m = this.message;
    if (target.from === "editor") {
      return this.ofLine(target.lines[0] ?? 0);
    }
    const [key] = target.keys;
    if (target.from === "layout" && key !== undefined) {
      return this.ofKey(key, target.lines[0] ?? 0);
    }
    const row = this.all().find((p) => p.tree && target.path !== "" && p.element.dataset["path"] === target.path && (p.key === "" || target.keys.has(p.key)));
    // The selection keeps its origin: the caret of the grid stays.
    if (row !== undefined) {
      const now = this.ofElement(row.element);
      return now === null ? null : { ...now, from: target.from };
    }
    const start = target.ranges[0]?.start;
    const now = m === null || start === undefined || start >= m.data.length * 8 ? null : this.ofByte(start >> 3);
    return now === null ? null : { ...now, from: target.from };
  }

  private all(): Place[] {
    this.places ??= Array.from(document.querySelectorAll<HTMLElement>(selector), placeOf);
    return this.places;
  }

  /** The target of a byte: its run of bits, or the byte itself if no field explains it. */
  ofByte(byte: number): Target | null {
    const m = this.message;
    if (m === null) {
      return null;
    }
    const run = m.runAt(byte * 8);
    if (run >= 0 && m.part(run)?.role !== "gap") {
      return this.ofRun(run, "hex");
    }
    return { from: "hex", ranges: [{ start: byte * 8, end: byte * 8 + 8 }], lines: [], keys: new Set(), path: m.runs > 0 ? "unexplained" : "", run: -1 };
  }

  /** The target of a run of bits. */
  ofRun(run: number, from: Target["from"]): Target | null {
    const m = this.message;
    const part = m?.part(run);
    if (m === null || part === undefined) {
      return null;
    }
    const bits = m.bits(run);
    const row = this.all().find((p) => p.tree && p.start === bits.start && p.end === bits.end && p.element.dataset["role"] === part.role);
    const line = m.line(run) || (m.linked ? lineOf(part.key) : 0);
    return { from, ranges: [bits], lines: line > 0 ? [line] : [], keys: new Set(m.linked ? [part.key] : []), path: row?.element.dataset["path"] ?? part.path, run };
  }

  /** The target of a line: all parts that it defines. */
  ofLine(line: number): Target | null {
    const m = this.message;
    const runs = m?.linked === true ? m.runsOfLine(line) : [];
    const keys = new Set<string>();
    for (const run of runs) {
      keys.add(m?.part(run)?.key ?? "");
    }
    for (const p of this.all()) {
      if (p.line === line && p.key !== "" && !p.tree) {
        keys.add(p.key);
      }
    }
    let ranges = m?.ranges(runs) ?? [];
    if (runs.length === 0 && m?.linked === true) {
      ranges = m.ranges([...keys].flatMap((key) => [...m.runsOfKey(key)]));
    }
    return { from: "editor", ranges, lines: [line], keys, path: "", run: -1 };
  }

  private ofKey(key: string, line: number): Target {
    const m = this.message;
    const runs = m?.linked === true ? m.runsOfKey(key) : [];
    const cut = key.lastIndexOf("/");
    const role = key.endsWith("/value") ? "" : ` [${key.slice(cut + 1)}]`;
    return { from: "layout", ranges: m?.ranges(runs) ?? [], lines: line > 0 ? [line] : [], keys: new Set([key]), path: key.slice(0, cut) + role, run: -1 };
  }

  /** The target of an element of a pane. */
  ofElement(element: HTMLElement): Target | null {
    const p = placeOf(element);
    if (!p.tree) {
      return p.key !== "" ? this.ofKey(p.key, p.line || lineOf(p.key)) : this.ofLine(p.line);
    }
    if (p.start < 0) {
      return p.line > 0 ? this.ofLine(p.line) : null;
    }
    const line = p.line || lineOf(p.key);
    const list = listOf(p.key);
    const run = this.message?.runAt(p.start) ?? -1;
    const own = run >= 0 && this.message !== null && this.message.bits(run).end === p.end ? run : -1;
    const keys = new Set([p.key, p.key.endsWith("/value") ? (list ?? "") : ""].filter((key) => key !== "")); // the layout has no row for an element itself
    return { from: "tree", ranges: [{ start: p.start, end: p.end }], lines: line > 0 ? [line] : [], keys, path: element.dataset["path"] ?? "", run: own };
  }

  /** Sets the hovered target, or none. */
  point(target: Target | null): void {
    this.shown = target;
    this.draw("lit", target);
    this.watch(target ?? this.picked, target === null);
  }

  /** Selects a target, or none, and scrolls to it in the other panes. */
  pick(target: Target | null, remember = true): void {
    this.picked = target;
    this.draw("picked", target);
    this.editor?.select(target?.lines[0] ?? 0);
    if (target !== null) {
      this.reveal(target);
      if (remember) {
        this.past.splice(this.at + 1);
        this.past.push(target);
        this.past.splice(0, this.past.length - 100);
        this.at = this.past.length - 1;
      }
    }
    this.watch(target, true);
  }

  get chosen(): Target | null {
    return this.picked;
  }

  /** Moves through the history of selections. */
  travel(by: -1 | 1): void {
    const target = this.past[this.at + by];
    if (target !== undefined) {
      this.at += by;
      const again = this.again(target);
      this.pick(again === null || again.from === "editor" || again.from === "layout" ? again : { ...again, from: "keys" }, false);
    }
  }

  /** Selects the field before or after the selected one. */
  step(by: -1 | 1): void {
    const m = this.message;
    if (m === null || m.runs === 0) {
      return;
    }
    const start = this.picked?.ranges[0]?.start;
    const from = this.picked?.run ?? -1;
    const run = from >= 0 ? from : start === undefined ? (by > 0 ? -1 : m.runs) : m.runAt(start);
    const next = Math.max(0, Math.min(m.runs - 1, run + by));
    this.pick(this.ofRun(next, "keys"));
  }

  private isShown(p: Place, target: Target, exact: Set<string>, byPlace: boolean): boolean {
    if (!p.tree) {
      return (p.key !== "" && target.keys.has(p.key)) || (p.key === "" && p.line > 0 && target.lines.includes(p.line));
    }
    if (byPlace) {
      return p.start >= 0 && exact.has(`${p.start}:${p.end}`) && (target.keys.size === 0 || p.key === "" || target.keys.has(p.key));
    }
    return (p.key !== "" && target.keys.has(p.key)) || (p.line > 0 && target.lines.includes(p.line) && target.from === "editor");
  }

  private draw(name: "lit" | "picked", target: Target | null): void {
    const marked = new Set<Element>();
    const ranges = target?.ranges ?? [];
    const bytes = ranges.map((r) => ({ start: r.start >> 3, end: (r.end + 7) >> 3 }));
    if (name === "lit") {
      this.hex?.light(bytes);
      this.hex?.aim((target !== null && target.run >= 0 ? (this.message?.aim(target.run) ?? []) : []).map((r) => ({ start: r.start >> 3, end: (r.end + 7) >> 3 })));
      this.editor?.light(target?.lines ?? []);
    } else {
      const [first] = bytes;
      const same = this.hex !== null && first !== undefined && this.hex.selection.start === first.start && this.hex.selection.end === first.end;
      if (!same && target?.from !== "hex") {
        this.hex?.select(first?.start ?? 0, first?.end ?? 0, { reveal: first !== undefined });
      }
    }
    if (target === null) {
      this.mark(name, marked);
      return;
    }
    const byPlace = target.from === "hex" || target.from === "tree" || target.from === "keys";
    const exact = new Set(ranges.map((r) => `${r.start}:${r.end}`));
    let found = false;
    for (const p of this.all()) {
      if (this.isShown(p, target, exact, byPlace)) {
        marked.add(p.tree ? unfolded(p.element) : p.element);
        found ||= p.tree;
      }
    }
    const around = !found && byPlace ? this.around(target) : undefined;
    if (around !== undefined) {
      marked.add(around);
    }
    this.mark(name, marked);
  }

  /** Changes the classes only of elements that differ: each change causes painting. */
  private mark(name: "lit" | "picked", marked: ReadonlySet<Element>): void {
    for (const old of document.querySelectorAll(`.${name}`)) {
      if (!marked.has(old)) {
        old.classList.remove(name);
      }
    }
    for (const element of marked) {
      element.classList.add(name);
    }
  }

  /** The smallest row that covers a target inside a collapsed row. */
  private around(target: Target): HTMLElement | undefined {
    const [bits] = target.ranges;
    let best: Place | undefined;
    for (const p of this.all()) {
      if (p.tree && bits !== undefined && p.start >= 0 && p.start <= bits.start && p.end >= bits.end && (best === undefined || p.end - p.start <= best.end - best.start)) {
        best = p;
      }
    }
    return best?.element;
  }

  /** Scrolls to the selection in every pane except its origin, without scrolling the page. */
  private reveal(target: Target): void {
    for (const [pane, from] of [["layout-body", "layout"], ["fields-body", "tree"]] as const) {
      const body = document.getElementById(pane);
      const element = body?.querySelector<HTMLElement>(".picked");
      if (body === null || element === null || element === undefined || target.from === from) {
        continue;
      }
      const inner = element.getBoundingClientRect();
      const outer = body.getBoundingClientRect();
      if (inner.top < outer.top + 28 || inner.bottom > outer.bottom) {
        body.scrollTop += inner.top - outer.top - Math.max(28, (outer.height - inner.height) / 2);
      }
    }
  }
}

/** The element of a pane that an event belongs to. */
export function linkedElement(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(selector) : null;
}
