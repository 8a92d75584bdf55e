// Fields of the definition, changed by the bytes of the message: the menu of the types that some bytes may have, and renaming, splitting,
// joining and removing fields. The server writes the text; the editor takes it as one step.

import { bitOffsetOf } from "../kit/numbers";
import type { PageChoices as Choices } from "../api/api";
import { askText } from "../kit/notebox";
import { type Anchor, type MenuItem, openMenu } from "../kit/menu";
import type { Bits } from "./model";
import { notify } from "../kit/notify";
import type { Action, Answer } from "./socket";

/** What a menu is about. */
export interface Subject {
  bits: Bits | undefined; // of the message
  path: string; // of its field, with indexes; "" if it has none
  next: Bits | undefined; // the part after it
}

/** The page. */
export interface FieldsHost {
  choices(bits: Bits): Promise<Choices>;
  act(action: Action): Promise<Answer>;
  changed(bits: Bits | undefined, line: number): void;
}

/** A range of bits in words. */
export function sizeOf({ start, end }: Bits): string {
  const bits = end - start;
  return bits % 8 !== 0 || start % 8 !== 0 ? `${bits} bit${bits === 1 ? "" : "s"}` : `${bits / 8} byte${bits === 8 ? "" : "s"}`;
}

function argument({ start, end }: Bits): string {
  return `${start}:${end - start}`;
}

function bitsOf(text: string): Bits {
  const [start = 0, length = 0] = text.split(":").map(Number);
  return { start, end: start + length };
}

/** The name at the end of a path. */
function lastName(path: string): string {
  return path.replace(/\[\d*\]/g, "").replace(/#\d+$/, "").split(".").at(-1) ?? "";
}

/** Opens the menu of some bytes: the types that they may have, then what else can be done with them. */
export async function fieldsMenu(anchor: Anchor, host: FieldsHost, subject: Subject, more: readonly MenuItem[] = []): Promise<void> {
  const { bits } = subject;
  const choices = bits === undefined ? undefined : await host.choices(bits);
  const items: MenuItem[] = (choices?.types ?? []).map(({ type, group, value, at }) => ({
    title: type, note: value, group, run: () => define(anchor, host, bitsOf(at), type, choices?.name ?? ""),
  }));
  if (items.length === 0 && choices !== undefined) {
    items.push({ title: "No field here", note: choices.failed ?? "", group: "Type", disabled: true, run: () => undefined });
  }
  items.push(...fieldItems(anchor, host, subject), ...more);
  openMenu(anchor, { label: bits === undefined ? lastName(subject.path) : `${sizeOf(bits)} at ${bitOffsetOf(bits.start)}`, items });
}

/** The items for the field itself. */
export function fieldItems(anchor: Anchor, host: FieldsHost, { bits, path, next }: Subject): MenuItem[] {
  const group = "Field";
  const items: MenuItem[] = [];
  if (path !== "") {
    items.push({ title: "Rename …", hint: "F2", group, run: () => rename(anchor, host, path) });
  }
  const size = bits === undefined ? 0 : bits.end - bits.start;
  if (bits !== undefined && path !== "") {
    for (const into of [2, 4, 8].filter((n) => size % (8 * n) === 0)) {
      items.push({ title: `Split into ${into} fields`, group, run: () => void apply(host, { action: `split:${argument(bits)}`, typed: String(into) }, bits) });
    }
    if (next !== undefined) {
      const both = { start: bits.start, end: next.end };
      items.push({ title: "Join with the next field …", group, run: () => void fieldsMenu(anchor, host, { bits: both, path: "", next: undefined }) });
    }
  }
  if (path !== "") {
    items.push({ title: "Remove from the definition", group, run: () => void apply(host, { action: "erase", path }, bits) });
  }
  return items;
}

/** Asks for the name of a new field and defines it. A field that only gets another type keeps its name. */
function define(anchor: Anchor, host: FieldsHost, at: Bits, type: string, name: string): void {
  const act = (field: string): void => void apply(host, { action: `define:${argument(at)}`, typed: type, field }, at);
  if (name === "") {
    act("");
    return;
  }
  askText(anchor, { label: `Name of the ${type}`, text: name, button: "Define", most: 100 }, act);
}

/** Asks for another name of a field. */
export function rename(anchor: Anchor, host: FieldsHost, path: string): void {
  const was = lastName(path);
  askText(anchor, { label: `New name of ${was}`, text: was, button: "Rename", most: 100 }, (field) => {
    if (field !== was && field !== "") {
      void apply(host, { action: "rename", path, field }, undefined);
    }
  });
}

async function apply(host: FieldsHost, action: Action, bits: Bits | undefined): Promise<void> {
  const answer = await host.act(action);
  if ((answer.failed ?? "") === "") {
    host.changed(bits, answer.line ?? 0);
  } else {
    notify(answer.failed ?? "", "warn");
  }
}
