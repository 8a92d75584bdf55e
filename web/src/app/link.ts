// The links between the panes: hover and selection in one are shown in all.
//
// Three attributes link the panes: bits of the message (data-range="START:LENGTH"), lines of the definition (data-line), and keys (data-key),
// which name a part of every message, such as "members[].player_id/value". Elements have those that apply; the hex grid, the editor, the
// layout and the tree, of which the document has only a part, are told.

import type { DefinitionField } from "../text/editor/field";
import type { HexGrid } from "../message/hex/index";
import type { Layout, Mark } from "../message/layout";
import type { Bits, Message } from "../message/model";
import type { Tree } from "../message/tree";

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

/** The part that an element represents. */
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
  private editor: DefinitionField | null = null;
  private tree: Tree | null = null;
  private layout: Layout | null = null;
  private places: Place[] | null = null; // of other elements: problems; a cache, cleared when the page changes
  private shown: Target | null = null; // hovered
  private picked: Target | null = null; // selected
  private readonly past: Target[] = [];
  private at = -1; // index in past
  private readonly watch: (target: Target | null, picked: boolean) => void;

  /** watch gets the hovered target, or without one the selected target. */
  constructor(watch: (target: Target | null, picked: boolean) => void) {
    this.watch = watch;
  }

  attach(hex: HexGrid, editor: DefinitionField, tree: Tree, layout: Layout): void {
    this.hex = hex;
    this.editor = editor;
    this.tree = tree;
    this.layout = layout;
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
    if (this.shown !== null) {
      this.shown = this.again(this.shown);
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
    const row = m === null || target.path === "" ? -1 : rowOfPath(m, target.path, target.keys);
    // The selection keeps its origin: the caret of the grid stays.
    if (m !== null && row >= 0) {
      return { ...this.ofRow(m, row), from: target.from };
    }
    const start = target.ranges[0]?.start;
    const now = m === null || start === undefined || start >= m.data.length * 8 ? null : this.ofByte(start >> 3);
    return now === null ? null : { ...now, from: target.from };
  }

  private others(): Place[] {
    this.places ??= Array.from(document.querySelectorAll<HTMLElement>(selector), placeOf).filter(({ element }) => element.closest(".virtual") === null);
    return this.places;
  }

  /** The target of a byte: its run of bits, or the byte itself if no field explains it. */
  ofByte(byte: number): Target | null {
    const m = this.message;
    if (m === null) {
      return null;
    }
    const run = m.runAt(byte * 8);
    if (run >= 0 && m.partOfRun(run)?.role !== "gap") {
      return this.ofRun(run, "hex");
    }
    return { from: "hex", ranges: [{ start: byte * 8, end: byte * 8 + 8 }], lines: [], keys: new Set(), path: m.runs > 0 ? "unexplained" : "", run: -1 };
  }

  /** The target of a run of bits. */
  ofRun(run: number, from: Target["from"]): Target | null {
    const m = this.message;
    const part = m?.partOfRun(run);
    if (m === null || part === undefined) {
      return null;
    }
    const line = m.line(run) || (m.linked ? lineOf(part.key) : 0);
    return { from, ranges: [m.bits(run)], lines: line > 0 ? [line] : [], keys: new Set(m.linked ? [part.key] : []), path: m.pathOf(m.row(run)), run };
  }

  /** The target of a row of the message. */
  private ofRow(m: Message, row: number): Target {
    const { start, end } = m.place(row);
    return this.ofBits(start, end, m.linked ? m.part(row).key : "", m.lineOf(row), m.pathOf(row));
  }

  /** The target of a line: all parts that it defines. */
  ofLine(line: number): Target | null {
    const m = this.message;
    const runs = m?.linked === true ? m.runsOfLine(line) : [];
    const keys = new Set<string>();
    for (const run of runs) {
      keys.add(m?.partOfRun(run)?.key ?? "");
    }
    for (const key of this.layout?.keysOfLine(line) ?? []) {
      keys.add(key);
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
    const role = key.endsWith("/value") ? "" : ` ${key.slice(cut + 1)}`;
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
    return this.ofBits(p.start, p.end, p.key, p.line, element.dataset["path"] ?? "");
  }

  private ofBits(start: number, end: number, key: string, known: number, path: string): Target {
    const line = known || lineOf(key);
    const list = listOf(key);
    const run = this.message?.runAt(start) ?? -1;
    const own = run >= 0 && this.message !== null && this.message.bits(run).end === end ? run : -1;
    const keys = new Set([key, key.endsWith("/value") ? (list ?? "") : ""].filter((k) => k !== "")); // the layout has no row for an element itself
    return { from: "tree", ranges: [{ start, end }], lines: line > 0 ? [line] : [], keys, path, run: own };
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

  /** The bits of a part in the layout, without a message; undefined if they depend on it. */
  layoutBits(target: Target): Bits | undefined {
    return this.layout?.bitsOf(target.keys);
  }

  /** Selects the part of the message with a path, if there is one. */
  pickPath(path: string): void {
    const m = this.message;
    const row = m === null || path === "" ? -1 : rowOfPath(m, path, undefined);
    if (m !== null && row >= 0) {
      this.pick(this.ofRow(m, row));
    }
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

  private draw(name: Mark, target: Target | null): void {
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
    const byPlace = target !== null && ["hex", "tree", "keys"].includes(target.from);
    const places = new Set(byPlace ? ranges.map((r) => `${r.start}:${r.end}`) : []);
    const rows = new Set<number>();
    const m = this.message;
    if (m !== null && target !== null) {
      for (const row of byPlace ? rowsAt(m, ranges) : m.rowsOf((part) => (m.linked && target.keys.has(part.key)) || (part.line > 0 && target.from === "editor" && target.lines.includes(part.line)))) {
        if (!byPlace || target.keys.size === 0 || !m.linked || m.part(row).key === "" || target.keys.has(m.part(row).key)) {
          rows.add(row);
        }
      }
    }
    let found = rows.size > 0;
    const marked = new Set<Element>();
    for (const p of target === null ? [] : this.others()) {
      const byBits = p.start >= 0 && places.has(`${p.start}:${p.end}`) && (target?.keys.size === 0 || p.key === "" || target?.keys.has(p.key) === true);
      const byLine = p.line > 0 && target?.lines.includes(p.line) === true;
      if (p.tree ? (byPlace ? byBits : byLine && target?.from === "editor") : byLine) {
        marked.add(p.element);
        found ||= p.tree;
      }
    }
    if (!found && byPlace && m !== null && ranges[0] !== undefined) {
      const around = rowAround(m, ranges[0]);
      if (around >= 0) {
        rows.add(around);
      }
    }
    this.tree?.mark(name, rows);
    this.layout?.mark(name, target?.keys ?? new Set());
    for (const old of document.querySelectorAll(`tr.${name}, li.${name}`)) {
      if (!marked.has(old) && old.closest(".virtual") === null) {
        old.classList.remove(name);
      }
    }
    for (const element of marked) {
      element.classList.add(name);
    }
  }

  /** Scrolls to the selection in every pane except its origin. */
  private reveal(target: Target): void {
    if (target.from !== "layout") {
      this.layout?.reveal();
    }
    if (target.from !== "tree") {
      this.tree?.reveal();
    }
  }
}

/** The rows that have exactly one of the ranges. */
function rowsAt(m: Message, ranges: readonly Bits[]): number[] {
  const ends = new Map<number, Set<number>>();
  for (const { start, end } of ranges) {
    ends.set(start, (ends.get(start) ?? new Set()).add(end));
  }
  const found: number[] = [];
  for (let row = 0; row < m.rows; row++) {
    const { start, end } = m.place(row);
    if (ends.get(start)?.has(end) === true) {
      found.push(row);
    }
  }
  return found;
}

/** The smallest row that covers a range, -1 for none. */
function rowAround(m: Message, bits: Bits): number {
  let best = -1;
  let size = Infinity;
  for (let row = 0; row < m.rows; row++) {
    const { start, end } = m.place(row);
    if (start <= bits.start && end >= bits.end && end - start <= size) {
      best = row;
      size = end - start;
    }
  }
  return best;
}

/** The row of a path, and of one of the keys if they are given; -1 for none. */
function rowOfPath(m: Message, path: string, keys: ReadonlySet<string> | undefined): number {
  const plain = path.replaceAll(/\[\d+\]/g, "[]");
  return m.rowsOf((part) => part.path === plain && (keys === undefined || !m.linked || part.key === "" || keys.has(part.key))).find((row) => m.pathOf(row) === path) ?? -1;
}

/** The element of a pane that an event belongs to. */
export function linkedElement(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(selector) : null;
}
