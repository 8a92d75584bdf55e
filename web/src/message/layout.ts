// The layout of the open message: a diagram, sixteen bytes per row, and a table. The server sends the rows, and what the cells show of them.

import type { ViewCell, ViewLayoutRow } from "../api/api";
import { roleSign } from "./roles";
import { make, put, write } from "../kit/dom";
import type { Bits } from "./model";
import { bitOffsetOf, numberOf, offsetOf } from "../kit/numbers";
import { type Items, VirtualList } from "../kit/virtual";

/** The layout, as merged by the socket. */
export interface LayoutData {
  rows: readonly ViewLayoutRow[];
  cells: readonly ViewCell[];
  stale: boolean; // the line numbers are of an older text
  holes: ReadonlySet<number>; // lines that are shown as they were before their mistakes
}

/** No layout. */
export const noLayout: LayoutData = { rows: [], cells: [], stale: true, holes: new Set() };

/** A part of the message, with everything that the server leaves out. */
interface Row {
  key: string; // "members[].name/value"
  path: string;
  role: string;
  type: string;
  family: string;
  depth: number;
  bits: number; // minimum size
  most: number; // maximum size, -1 if unlimited
  at: number; // first bit, in the message or in an element
  computed: boolean; // from other values: it has no bits and no offset
  fixed: boolean; // always there in the message
  inside: string; // "element", "contents" (decompressed) or "position" (a computed one), if its place is relative to one
  after: string; // parts of variable size before it
  line: number; // of the definition, or 0
  note: string;
  doc: string;
}

/** The offset of a row, in words as those of codec/view. */
function offsetText(inside: string, bits: number, after: string): string {
  const own = bitOffsetOf(bits);
  return inside === "" ? own + after : bits > 0 || after === "" ? `${inside} + ${own}${after}` : inside + after;
}

function complete(list: readonly ViewLayoutRow[]): Row[] {
  const ends = [0]; // by depth: where the next row begins if it follows the one before
  let line = 0;
  return list.map((r) => {
    const depth = r.depth ?? 0;
    while (ends.length <= depth) {
      ends.push(0);
    }
    ends.length = depth + 1;
    const at = (ends[depth] ?? 0) + (r.jump ?? 0);
    ends[depth] = at + r.bits;
    if (r.unlined !== true) {
      line += (r.skip ?? 0) + 1;
    }
    const role = r.role ?? "value";
    const inside = r.element === true ? "element" : r.packed === true ? "contents" : r.placed === true ? "position" : "";
    return {
      key: `${r.path}/${role}`, path: r.path, role, type: r.type ?? "", family: r.family ?? "int", depth, bits: r.bits, most: r.most ?? r.bits,
      at, computed: r.computed === true, fixed: r.computed !== true && inside === "" && (r.after ?? "") === "", inside, after: r.after ?? "",
      line: r.unlined === true ? 0 : line, note: r.note ?? "", doc: r.doc ?? "",
    };
  });
}

function offsetOfRow({ inside, at, after, computed }: Row): string {
  return computed ? "" : offsetText(inside, at, after);
}

/** A path without the lists around it: "pos.x" of "members[].pos.x". An unnamed element has the name of its list. */
function shortName(path: string): string {
  const own = path.slice(path.lastIndexOf("[].") + 1).replace(/^\]\./, "");
  return own.endsWith("[]") ? `${shortName(own.slice(0, -2))}[]` : own;
}

/** A number of bits in bytes, or in bits if it is not whole bytes. */
function sizeText(bits: number, number: (n: number) => string = String): string {
  return bits % 8 === 0 ? number(bits / 8) : `${bits} bit`;
}

/** The size of a row in words. */
function sizeRange(r: Row): string {
  const unit = r.bits % 8 === 0 ? " bytes" : "";
  if (r.most === -1) {
    return r.bits === 0 ? "any size" : `${sizeText(r.bits)}${unit} or more`;
  }
  return r.most !== r.bits ? `${sizeText(r.bits)} to ${sizeText(r.most)}${unit}` : r.bits === 8 ? "1 byte" : sizeText(r.bits) + unit;
}

/** The size of a row for a column of numbers. */
function tableSize(r: Row): string {
  const least = sizeText(r.bits, numberOf);
  return r.most === -1 ? `${least}+` : r.most !== r.bits ? `${least}–${sizeText(r.most, numberOf)}` : least;
}

/** Describes a row, for tooltips. */
function titleOf(r: Row): string {
  const role = r.role === "value" ? "" : `, ${r.role}`;
  const note = r.note === "" ? "" : `, ${r.note}`;
  if (r.computed) {
    return `${r.path}: ${r.type}${note}${r.doc === "" ? "" : `\n${r.doc}`}`;
  }
  return `${r.path}${role}: ${r.type}, at ${offsetOfRow(r)}, ${sizeRange(r)}${note}${r.doc === "" ? "" : `\n${r.doc}`}`;
}

/** The name of a row in the table, for texts: what the codec computes is followed by its role. */
function nameOf(r: Row): string {
  return r.role === "value" || r.role === r.path ? r.path : `${r.path} ${r.role}`;
}

/** The name of a row in a cell, and the text below it. */
function labelOf(r: Row): [top: string, low: string] {
  if (r.role === "value") {
    return [shortName(r.path), r.type];
  }
  return r.path === r.role || r.path.endsWith("[]") ? [r.role, r.type] : [shortName(r.path), r.role];
}

/** The text of a caption. */
function captionOf(cell: ViewCell, r: Row | undefined): string {
  if (cell.caption !== undefined || r === undefined) {
    return cell.caption ?? "";
  }
  if (cell.kind === "packed") {
    return `${r.path} · at ${offsetOfRow(r)} · decompressed`;
  }
  return cell.kind === "then" ? `then, at ${offsetOfRow(r)}` : `${r.path} · at ${offsetOfRow(r)}${cell.kind === "list" ? ` · each element${cell.text ?? ""}` : ""}`;
}

/** The rows in the order of the definition's lines, each with those inside it. A row without a line stays after the one before. */
function inWrittenOrder(rows: readonly Row[]): Row[] {
  const [first] = rows;
  if (first === undefined) {
    return [];
  }
  const branches: { line: number; rows: Row[] }[] = [];
  for (const row of rows) {
    const last = branches.at(-1);
    if (last === undefined || row.depth <= first.depth) {
      branches.push({ line: row.line || (last?.line ?? 0), rows: [row] });
    } else {
      last.rows.push(row);
    }
  }
  branches.sort((a, b) => a.line - b.line);
  return branches.flatMap(({ rows: [head, ...inside] }) => (head === undefined ? [] : [head, ...inWrittenOrder(inside)]));
}

/** A line of the diagram: cells, or a caption. */
interface Line {
  cells: { cell: ViewCell; row: number; done: number }[]; // index in the rows, -1 for none; bytes before this part of the cell, NaN if unknown
}

/** Columns of the cells as sent. */
const columns = 16;

/** The least width of a column in pixels; narrow diagrams have 8 columns. */
const leastColumn = 58;

/** Arranges cells in lines of 8 or 16 columns. Of a cell that a line divides, the part after it is a further part. */
function linesOf(cells: readonly ViewCell[], wide: boolean): Line[] {
  const lines: Line[] = [];
  const most = wide ? columns : columns / 2;
  let column = columns; // as sent
  let next = 0;
  let done = 0;
  for (const cell of cells) {
    const width = cell.width ?? 0;
    const row = cell.kind === "next" || cell.caption !== undefined ? -1 : next + (cell.row ?? 0);
    if (row >= 0 && width > 0) {
      next = row + Math.max(cell.bits ?? 0, 1);
    }
    if (width === 0) {
      lines.push({ cells: [{ cell, row, done: 0 }] });
      column = columns;
      continue;
    }
    column = column + width > columns || cell.kind === "tag" ? 0 : column;
    done = cell.kind === "more" ? done : cell.kind === "cut" ? NaN : 0;
    const once = cell.kind !== undefined && cell.kind !== "more"; // its width means nothing
    for (let from = column, part = cell; from < column + width;) {
      if (from % most === 0) {
        lines.push({ cells: [] });
      }
      const to = Math.min(column + width, from - (from % most) + most);
      lines.at(-1)?.cells.push({ cell: { ...part, width: to - from }, row, done });
      part = { ...cell, kind: "more" };
      done += to - from;
      from = once ? column + width : to;
    }
    column += width;
  }
  return lines;
}

/** The panes' marks: what is under the pointer, and what is selected. */
export type Mark = "lit" | "picked";

const noKeys: ReadonlySet<string> = new Set();

export class Layout {
  readonly list: VirtualList; // of the table
  private readonly diagram: VirtualList;
  private rows: readonly Row[] = []; // in wire order
  private ordered: readonly Row[] = []; // as in the table
  private cells: readonly ViewCell[] = [];
  private lines: readonly Line[] = [];
  private isWide = true;
  private readonly marked: Record<Mark, ReadonlySet<string>> = { lit: noKeys, picked: noKeys }; // keys
  private isStale = true;
  private holes: ReadonlySet<number> = new Set();
  private written = false;

  constructor(body: HTMLElement, diagram: HTMLElement, table: HTMLElement) {
    this.diagram = new VirtualList(diagram, body);
    this.list = new VirtualList(table, body);
    new ResizeObserver(() => {
      const wide = diagram.clientWidth >= columns * leastColumn;
      if (diagram.clientWidth > 0 && wide !== this.isWide) {
        this.isWide = wide;
        diagram.classList.toggle("narrow", !wide);
        this.lines = linesOf(this.cells, wide);
        this.diagram.show(this.diagramItems());
      }
    }).observe(diagram);
  }

  show(data: LayoutData): void {
    this.rows = complete(data.rows);
    this.cells = data.cells;
    this.lines = linesOf(data.cells, this.isWide);
    this.isStale = data.stale;
    this.holes = data.holes;
    this.draw();
  }

  private draw(): void {
    const other = inWrittenOrder(this.rows);
    document.documentElement.classList.toggle("reordered", other.some((row, i) => row !== this.rows[i]));
    document.documentElement.classList.toggle("as-written", this.written);
    this.ordered = this.written ? other : this.rows;
    this.list.show(this.tableItems());
    this.diagram.show(this.diagramItems());
    const table = this.list.host.closest("table");
    table?.setAttribute("aria-rowcount", String(this.rows.length + 1));
  }

  /** Changes the order of the table: as on the wire, or as in the definition. */
  reorder(): void {
    this.written = !this.written;
    this.draw();
  }

  /** The lines of the parts, by key; none while they are of an older text. */
  keys(): Map<string, number> {
    const out = new Map<string, number>();
    for (const { key, line } of this.isStale ? [] : this.rows) {
      if (line > 0) {
        out.set(key, line);
      }
    }
    return out;
  }

  /** The keys of the parts that a line defines. */
  keysOfLine(line: number): string[] {
    return this.isStale ? [] : this.rows.filter((row) => row.line === line).map((row) => row.key);
  }

  /** Tooltips of the lines; undefined while they are of an older text. Of several parts of a line it is that of the last value, or else of the first part. */
  help(): Map<number, string> | undefined {
    if (this.isStale) {
      return undefined;
    }
    const rows = new Map<number, Row>();
    for (const row of this.rows) {
      if (row.line > 0 && (row.role === "value" || !rows.has(row.line))) {
        rows.set(row.line, row);
      }
    }
    return new Map(Array.from(rows, ([line, row]) => [line, titleOf(row)]));
  }

  /** Marks the parts with these keys. */
  mark(name: Mark, keys: ReadonlySet<string>): void {
    if (this.marked[name].size === 0 && keys.size === 0) {
      return;
    }
    this.marked[name] = keys;
    this.redraw();
  }

  /** Draws what is in view again. */
  redraw(): void {
    this.list.redraw();
    this.diagram.redraw();
  }

  /** Scrolls to the first selected part. */
  reveal(): void {
    const keys = this.marked.picked;
    const isPicked = (row: number): boolean => keys.has(this.rows[row]?.key ?? "");
    const line = this.lines.findIndex(({ cells }) => cells.some(({ cell, row }) => isPicked(row) || Array.from({ length: cell.bits ?? 0 }, (_, i) => row + i).some(isPicked)));
    if (line >= 0 && this.diagram.host.checkVisibility()) {
      this.diagram.reveal(line + 1); // after the heads
      return;
    }
    const row = this.ordered.findIndex(({ key }) => keys.has(key));
    if (row >= 0) {
      this.list.reveal(row);
    }
  }

  /** The buttons that show the diagram or the table. */
  views(): HTMLElement[] {
    return [...document.querySelectorAll<HTMLElement>("[data-segments=layout] > button")];
  }

  /** Moves the focus into the table, or to the diagram. */
  focus(): void {
    if (!this.list.host.checkVisibility()) {
      this.diagram.host.closest<HTMLElement>("[tabindex]")?.focus();
    } else if (this.ordered.length > 0) {
      this.list.focus(this.list.active);
    }
  }

  /** The bits of the first part with one of the keys that has the same place in every message. */
  bitsOf(keys: ReadonlySet<string>): Bits | undefined {
    const row = this.rows.find((r) => keys.has(r.key) && r.fixed && r.most === r.bits);
    return row === undefined ? undefined : { start: row.at, end: row.at + row.bits };
  }

  /** Whether a part is a list, by its path with or without indexes. */
  isList(path: string): boolean {
    const bare = path.replace(/\[\d+\]/g, "[]");
    return this.rows.some((r) => r.path === bare && r.role === "value" && r.family === "chain");
  }

  /** Whether the message has alternatives. */
  get alternatives(): boolean {
    return this.rows.some((r) => /^if .* is |^in messages of /.test(r.note));
  }

  private peers: ReadonlyMap<number, number> = new Map(); // colors of others by the lines where they are

  /** Marks the parts of the lines where others are. */
  setPeers(colors: ReadonlyMap<number, number>): void {
    if (colors.size !== this.peers.size || [...colors].some(([line, color]) => this.peers.get(line) !== color)) {
      this.peers = colors;
      this.redraw();
    }
  }

  private marks({ key, line }: Row): string {
    const peer = this.isStale ? undefined : this.peers.get(line);
    return [
      ...(["lit", "picked"] as const).filter((name) => this.marked[name].has(key)), ...(this.holes.has(line) ? ["hole"] : []), ...(peer === undefined ? [] : ["has-peer", `peer-${peer}`]),
    ].join(" ");
  }

  private tableItems(): Items {
    const { ordered: rows, list } = this;
    return {
      count: rows.length,
      kind: () => "row",
      id: (i) => rows[i]?.key ?? "",
      text: (i) => {
        const r = rows[i];
        return r === undefined ? "" : [nameOf(r), r.type, offsetOfRow(r), tableSize(r)].join("\t");
      },
      draw: (i, old) => {
        const r = rows[i] as Row;
        const tr = old ?? make("tr");
        if (old === undefined) {
          tr.setAttribute("role", "row");
          tr.tabIndex = -1; // the attribute makes it focusable
          tr.append(make("td"), make("td", "ty"), make("td"), make("td", "num"));
          tr.childNodes.forEach((td) => (td as Element).setAttribute("role", "cell"));
        }
        const [name, type, offset, size] = Array.from(tr.children);
        if (name === undefined || type === undefined || offset === undefined || size === undefined) {
          return tr;
        }
        put(tr, "className", this.marks(r));
        put(tr, "tabIndex", i === list.active ? 0 : -1);
        put(tr, "ariaRowIndex", String(i + 2));
        put(tr.dataset, "key", r.key);
        put(name, "className", `${r.depth === 0 ? "" : `d${Math.min(r.depth, 12)}`}${r.role === "value" ? "" : " own"}`);
        if (write(name, nameOf(r) + r.family)) {
          name.replaceChildren(make("span", `sw t-${r.family}`), r.path, ...roleSign(r.role, r.path));
        }
        put(type, "textContent", r.type);
        if (write(offset, `${offsetOfRow(r)}\n${r.note}`)) {
          offset.replaceChildren(offsetOfRow(r), ...(r.note === "" ? [] : [" ", make("span", "dim", r.note)]));
        }
        put(size, "textContent", tableSize(r));
        return tr;
      },
    };
  }

  private diagramItems(): Items {
    const { lines, rows } = this;
    const caption = (i: number): string => {
      const [first] = lines[i - 1]?.cells ?? [];
      return first === undefined || first.cell.width !== undefined ? "" : captionOf(first.cell, rows[first.row]);
    };
    return {
      count: lines.length === 0 ? 0 : lines.length + 1,
      kind: (i) => (i === 0 ? "heads" : caption(i) !== "" ? "caption" : "cells"),
      id: (i) => (i === 0 ? `heads ${this.isWide}` : String(i)),
      text: (i) => (i === 0 ? "" : caption(i) || (lines[i - 1]?.cells ?? []).map(({ row }) => rows[row]?.path ?? "").join("\t")),
      draw: (i, old) => {
        const line = old ?? make("div", "line");
        if (i === 0) {
          if (old === undefined) {
            line.append(make("div", "col"), ...Array.from(this.isWide ? "0123456789abcdef" : "01234567", (digit) => make("div", "col", digit)));
          }
          return line;
        }
        const cells = lines[i - 1]?.cells ?? [];
        const look = cells.map(({ cell, row }) => {
          const shared = Array.from({ length: Math.max(cell.bits ?? 0, 1) }, (_, n) => rows[row + n]);
          return [caption(i), cell.width, cell.kind, cell.alt, cell.path, cell.text, cell.bits, ...shared.flatMap((r) => (r === undefined ? [] : [titleOf(r), r.family, this.marks(r)]))].join("\n");
        }).join("\n\n");
        if (write(line, look)) {
          const at = caption(i) !== "" ? [] : [make("div", "col at", this.place(lines[i - 1] as Line))];
          line.replaceChildren(...at, ...cells.map(({ cell, row }) => this.cell(cell, row)));
        }
        return line;
      },
    };
  }

  /** The part that a cell shows: a row, or one element of a list that is drawn in full. */
  private shown(cell: ViewCell, row: Row, index: number): Row {
    const list = cell.path === undefined ? undefined : this.rows.slice(0, index).findLast((r) => r.depth < row.depth);
    if (cell.path === undefined || list === undefined) {
      return row;
    }
    const at = list.at + (cell.bit ?? 0);
    return { ...row, path: cell.path, at, fixed: list.fixed, inside: list.inside, after: list.after };
  }

  /** The offset of a line in bytes, if it is a number: of the message or, with "+", of an element. */
  private place({ cells: [first] }: Line): string {
    const row = this.rows[first?.row ?? -1];
    if (first === undefined || row === undefined || (first.cell.kind !== undefined && first.cell.kind !== "more") || Number.isNaN(first.done)) {
      return "";
    }
    const { at, after, inside } = this.shown(first.cell, row, first.row);
    return after !== "" ? "" : `${inside === "" ? "" : "+"}${offsetOf(Math.floor(at / 8) + first.done)}`;
  }

  private cell(cell: ViewCell, index: number): HTMLElement {
    const row = this.rows[index];
    if (cell.width === undefined) {
      return make("div", "cap", captionOf(cell, row));
    }
    const isVar = cell.kind !== undefined && cell.kind !== "more" && cell.kind !== "tag";
    const tinted = row !== undefined && cell.kind !== "pointer";
    const box = make("div", ["cell", `w${cell.width}`, tinted ? `t-${row.family}` : "", tinted && cell.alt === true ? "alt" : "", isVar ? "var" : ""].filter((name) => name !== "").join(" "));
    if (row === undefined) {
      box.textContent = "next element …";
      return box;
    }
    if (cell.bits !== undefined && cell.kind === undefined) {
      const shared = this.rows.slice(index, index + cell.bits);
      shared.forEach((r, i) => {
        const name = make("span", this.marks(r), labelOf(r)[0]);
        name.dataset["key"] = r.key;
        box.append(i > 0 ? " · " : "", name);
      });
      box.append(make("small", "", `${shared.map((r) => r.bits).join("+")} bits`));
      return box;
    }
    const marks = this.marks(row);
    if (marks !== "") {
      box.classList.add(...marks.split(" "));
    }
    const shown = this.shown(cell, row, index);
    box.title = titleOf(shown);
    box.dataset["key"] = row.key;
    const [name, type] = labelOf(shown);
    const [top, low] = cell.kind === undefined ? [name, type]
      : cell.kind === "body" ? [row.role === "value" ? shortName(row.path) : row.role, `${row.type}, ${sizeRange(row)}`]
      : cell.kind === "tag" ? [cell.text ?? "", "tag"]
      : cell.kind === "pointer" ? [`${shortName(row.path)} …`, `at ${offsetOfRow(row)}`]
      : cell.kind === "cut" ? [cell.text ?? "", ""]
      : [`… ${name}`, ""];
    const dot = top.lastIndexOf(".");
    if (dot > 0 && (cell.kind === undefined || cell.kind === "more")) { // narrow cells shorten what is around it
      const line = make("div", "name");
      line.append(make("span", "of", top.slice(0, dot + 1)), make("span", "", top.slice(dot + 1)));
      box.append(line);
    } else {
      box.append(top);
    }
    box.append(make("small", "", low));
    return box;
  }
}
