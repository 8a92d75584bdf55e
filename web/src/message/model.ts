// The message shown on the page, as described by the server: its bytes, and the rows of its tree. A row is a run of bits, or a group with
// rows inside: a list, an element or a structure.

import type { PageData, ViewJump, ViewNamed, ViewPart } from "../api/api";
import type { HexMessage } from "./hex/index";

/** The shown message, as merged by the socket. */
export interface MessageData extends Omit<PageData, "bytes" | "parts" | "rows" | "bits" | "texts" | "jumps" | "named"> {
  bytes: Uint8Array;
  parts: readonly ViewPart[];
  rows: readonly number[]; // index of the part of each row
  bits: readonly number[]; // length of each run
  texts: readonly string[]; // its value
  jumps: readonly ViewJump[];
  named: readonly ViewNamed[];
}

/** No message. */
export const noData: MessageData = { bytes: new Uint8Array(), parts: [], rows: [], bits: [], texts: [], jumps: [], named: [], used: 0, name: "", dir: "" };

/** Bits [start, end) of the message. */
export interface Bits {
  start: number;
  end: number;
}

/** What the rows of a part of a message have in common. */
export interface Part {
  key: string; // as in the layout: "members[].name/value"; "" for bytes that no field explains
  path: string; // without indexes
  role: string; // "value", "group", "gap", or the role of bookkeeping
  name: string; // in the tree; "" for elements, which are named by their index
  type: string;
  family: string;
  depth: number; // rows around it
  line: number; // of the definition, or 0
  overlaps: boolean;
  packed: boolean; // in decompressed contents
  bad: string; // severity of its worst problem, or ""
}

/** The parts with everything that the server leaves out. */
function complete(parts: readonly ViewPart[]): Part[] {
  let line = 0;
  return parts.map((p) => {
    const role = p.role ?? "value";
    const gap = role === "gap";
    const element = p.path.endsWith("[]"); // or a number of one that is a single value, beside it
    if (p.unlined !== true) {
      line += (p.skip ?? 0) + 1;
    }
    return {
      key: gap ? "" : `${p.path}/${role === "group" ? "value" : role}`,
      path: p.path,
      role,
      name: gap ? "unexplained" : (p.name ?? (element ? "" : p.path.slice(p.path.lastIndexOf(".") + 1))),
      type: p.type ?? "",
      family: p.family ?? "int",
      depth: p.depth ?? 0,
      line: p.unlined === true ? 0 : line,
      overlaps: p.overlaps === true,
      packed: p.packed === true,
      bad: p.bad ?? "",
    };
  });
}

const none: Part = { key: "", path: "", role: "gap", name: "", type: "", family: "int", depth: 0, line: 0, overlaps: false, packed: false, bad: "" };

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || (a.length === b.length && a.every((byte, i) => byte === b[i]));
}

/** A message to display. Immutable. */
export class Message {
  readonly data: Uint8Array;
  private readonly from: MessageData;
  private readonly parts: readonly Part[];
  private readonly rowOf: Uint32Array; // by run
  private readonly runOf: Int32Array; // by row; -1 for a group
  private readonly parents: Int32Array; // by row: the row around it, or -1
  private readonly ends: Uint32Array; // by row: the row after those inside
  private readonly indexes: Int32Array; // by row of an element
  private readonly starts: Uint32Array; // by row: its first bit
  private readonly stops: Uint32Array; // by row: the bit after it
  private readonly counts: Uint32Array; // by row: the elements in it
  private byPart: number[][] | undefined; // rows of each part

  constructor(from: MessageData) {
    this.from = from;
    this.data = from.bytes;
    this.parts = complete(from.parts);
    const rows = from.rows.length;
    this.rowOf = new Uint32Array(from.bits.length);
    this.runOf = new Int32Array(rows).fill(-1);
    this.parents = new Int32Array(rows);
    this.ends = new Uint32Array(rows);
    this.indexes = new Int32Array(rows).fill(-1);
    this.starts = new Uint32Array(rows).fill(0xffff_ffff);
    this.stops = new Uint32Array(rows);
    this.counts = new Uint32Array(rows);
    this.build();
  }

  private build(): void {
    const { from, parents, starts, stops, counts } = this;
    const named = new Map<number, number>();
    let at = 0;
    for (const { rows, index } of from.named) {
      named.set((at += rows), index);
    }
    const jumps = new Map<number, number>();
    at = 0;
    for (const { runs, bits } of from.jumps) {
      jumps.set((at += runs), bits);
    }
    const open: number[] = []; // rows around the next one
    const next: number[] = []; // by depth: the index of the next element
    const close = (depth: number, row: number): void => {
      for (let inner = open.pop(); inner !== undefined; inner = open.pop()) {
        this.ends[inner] = row;
        const outer = open.at(-1);
        if (outer !== undefined) {
          starts[outer] = Math.min(starts[outer] ?? 0, starts[inner] ?? 0);
          stops[outer] = Math.max(stops[outer] ?? 0, stops[inner] ?? 0);
        }
        if (open.length <= depth) {
          break;
        }
      }
    };
    let end = 0;
    let run = 0;
    for (let row = 0; row < from.rows.length; row++) {
      const part = this.part(row);
      if (open.length > part.depth) {
        close(part.depth, row);
      }
      const parent = open.at(-1) ?? -1;
      parents[row] = parent;
      if (part.name === "") {
        const index = named.get(row) ?? next[part.depth] ?? 0;
        this.indexes[row] = index;
        const whole = part.role === "value" || part.role === "group";
        next[part.depth] = whole ? index + 1 : index;
        counts[parent] = (counts[parent] ?? 0) + (whole ? 1 : 0); // of no row if it is -1
      }
      if (part.role === "group") {
        open.push(row);
        next[part.depth + 1] = 0;
        continue;
      }
      this.ends[row] = row + 1;
      this.rowOf[run] = row;
      this.runOf[row] = run;
      starts[row] = end + (jumps.get(run) ?? 0);
      end = stops[row] = (starts[row] ?? 0) + (from.bits[run] ?? 0);
      run++;
      if (parent >= 0) {
        starts[parent] = Math.min(starts[parent] ?? 0, starts[row] ?? 0);
        stops[parent] = Math.max(stops[parent] ?? 0, end);
      }
    }
    close(-1, from.rows.length);
  }

  /** Whether the message has no bytes. */
  get empty(): boolean {
    return this.data.length === 0 && this.rows === 0 && this.from.name === "";
  }

  /** Whether the hex grid would look the same. */
  looksLike(other: Message | null): boolean {
    const a = this.from;
    const b = other?.from;
    if (other === null || b === undefined || !sameBytes(a.bytes, b.bytes) || a.used !== b.used || a.bits.length !== b.bits.length || a.bits.length > 20_000) {
      return false;
    }
    return (
      a.bits.every((bits, run) => bits === b.bits[run] && this.partOfRun(run)?.family === other.partOfRun(run)?.family) &&
      JSON.stringify([a.jumps, a.changed]) === JSON.stringify([b.jumps, b.changed])
    );
  }

  get name(): string {
    return this.from.name;
  }

  get dir(): string {
    return this.from.dir;
  }

  /** Whether the shown layout and definition belong to this message. */
  get linked(): boolean {
    return this.from.linked === true;
  }

  // Rows.

  get rows(): number {
    return this.from.rows.length;
  }

  part(row: number): Part {
    return this.parts[this.from.rows[row] ?? -1] ?? none;
  }

  /** The row around a row, or -1. */
  parent(row: number): number {
    return this.parents[row] ?? -1;
  }

  /** The row after those inside a row. */
  end(row: number): number {
    return this.ends[row] ?? row + 1;
  }

  /** The bits of a row. */
  place(row: number): Bits {
    return { start: this.starts[row] ?? 0, end: this.stops[row] ?? 0 };
  }

  /** The number of elements in a row. */
  elements(row: number): number {
    return this.counts[row] ?? 0;
  }

  isElement(row: number): boolean {
    return (this.indexes[row] ?? -1) >= 0;
  }

  nameOf(row: number): string {
    return this.isElement(row) ? `[${this.indexes[row] ?? 0}]` : this.part(row).name;
  }

  /** The path of a row, with indexes. */
  pathOf(row: number): string {
    const { path } = this.part(row);
    if (!path.includes("[]")) {
      return path;
    }
    const indexes: number[] = [];
    for (let r = row; r >= 0; r = this.parent(r)) {
      if (this.isElement(r)) {
        indexes.unshift(this.indexes[r] ?? 0);
      }
    }
    return path.replaceAll("[]", () => {
      const index = indexes.shift();
      return index === undefined ? "[]" : `[${index}]`;
    });
  }

  /** The value of a row, as text. */
  textOf(row: number): string {
    if (this.part(row).role === "gap") {
      return "no definition explains these bytes";
    }
    const n = this.elements(row);
    return n > 0 ? (n === 1 ? "1 element" : `${n} elements`) : (this.from.texts[this.runOf[row] ?? -1] ?? "");
  }

  /** The line of a row in the definition, or 0. */
  lineOf(row: number): number {
    return this.from.stale === true || !this.linked ? 0 : this.part(row).line;
  }

  /** The row of a run. */
  row(run: number): number {
    return this.rowOf[run] ?? -1;
  }

  /** The run of a row, -1 for a group. */
  run(row: number): number {
    return this.runOf[row] ?? -1;
  }

  /** The rows of the parts that a function accepts, ascending. */
  rowsOf(which: (part: Part) => boolean): readonly number[] {
    if (this.byPart === undefined) {
      const byPart: number[][] = this.parts.map(() => []);
      this.from.rows.forEach((part, row) => byPart[part]?.push(row));
      this.byPart = byPart;
    }
    const lists = this.byPart.filter((_, i) => {
      const part = this.parts[i];
      return part !== undefined && which(part);
    });
    return lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort((a, b) => a - b);
  }

  // Runs of bits.

  get runs(): number {
    return this.rowOf.length;
  }

  bits(run: number): Bits {
    return this.place(this.row(run));
  }

  partOfRun(run: number): Part | undefined {
    const row = this.rowOf[run];
    return row === undefined ? undefined : this.part(row);
  }

  line(run: number): number {
    return this.lineOf(this.row(run));
  }

  /** The run of a bit: the last that starts at or before it and contains it; -1 for none. */
  runAt(bit: number): number {
    const { starts, rowOf } = this;
    let low = 0;
    let high = rowOf.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[rowOf[middle] ?? 0] ?? 0) <= bit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (let run = low - 1; run >= Math.max(0, low - 64); run--) {
      if (this.bits(run).end > bit) {
        return run;
      }
    }
    return -1;
  }

  private runsOf(which: (part: Part) => boolean): number[] {
    return this.rowsOf((part) => part.role !== "group" && which(part)).map((row) => this.runOf[row] ?? -1);
  }

  /** The runs of a part by key. A list or group has the runs inside it. */
  runsOfKey(key: string): readonly number[] {
    const own = this.runsOf((part) => part.key === key);
    if (own.length > 0 || !key.endsWith("/value")) {
      return own;
    }
    const path = key.slice(0, -"/value".length);
    return this.runsOf((part) => part.path.startsWith(`${path}[`) || part.path.startsWith(`${path}.`));
  }

  runsOfLine(line: number): readonly number[] {
    return this.from.stale === true || !this.linked ? [] : this.runsOf((part) => part.line === line);
  }

  /** The ranges of runs, adjacent ones joined. */
  ranges(runs: readonly number[]): Bits[] {
    const out: Bits[] = [];
    for (const bits of runs.map((run) => this.bits(run)).sort((a, b) => a.start - b.start)) {
      const last = out.at(-1);
      if (last !== undefined && bits.start <= last.end) {
        last.end = Math.max(last.end, bits.end);
      } else {
        out.push({ ...bits });
      }
    }
    return out;
  }

  /** The target of a count or an offset: the bits of the values with the same path. */
  aim(run: number): Bits[] {
    const part = this.partOfRun(run);
    if (part === undefined || !["count", "offset", "next"].includes(part.role)) {
      return [];
    }
    return this.ranges(this.runsOfKey(part.key.replace(/\/\w+$/, "/value")).filter((other) => other !== run));
  }

  /** The class of the color of each run. Neighbors of one family have different shades. */
  tint(run: number): string {
    this.shades ??= this.shade();
    const family = this.partOfRun(run)?.family ?? "int";
    return this.shades[run] === 1 ? `t-${family} alt` : `t-${family}`;
  }

  private shades: Uint8Array | undefined; // 1 for the second of the family

  private shade(): Uint8Array {
    const out = new Uint8Array(this.runs);
    const last = new Map<string, number>();
    for (let run = 0; run < out.length; run++) {
      const family = this.partOfRun(run)?.family ?? "";
      const shade = last.get(family) ?? 0;
      out[run] = shade;
      last.set(family, 1 - shade);
    }
    return out;
  }

  /** The message for the hex grid. */
  hex(): HexMessage {
    const size = this.data.length;
    const tintOf = new Uint16Array(size);
    const starts = new Uint8Array(size);
    const tints = [""];
    const tintOfFamily = new Map<string, number>();
    const shades = (this.shades ??= this.shade());
    for (let run = 0; run < this.runs; run++) {
      const part = this.partOfRun(run) ?? none;
      let tint = tintOfFamily.get(part.family);
      if (tint === undefined) {
        tint = tints.push(`t-${part.family}`, `t-${part.family} alt`) - 2;
        tintOfFamily.set(part.family, tint);
      }
      const bits = this.bits(run);
      const end = Math.min((bits.end + 7) >>> 3, size);
      const first = bits.start >>> 3;
      for (let byte = first; byte < end; byte++) {
        if (tintOf[byte] === 0) {
          tintOf[byte] = tint + (shades[run] ?? 0);
        }
        if (part.role === "gap") {
          starts[byte] = (starts[byte] ?? 0) | 2;
        }
      }
      if (first < size) {
        starts[first] = (starts[first] ?? 0) | 1;
      }
    }
    for (let byte = this.from.used; byte < size; byte++) {
      starts[byte] = (starts[byte] ?? 0) | 4;
    }
    const changed = new Uint8Array(size);
    for (const [from, to] of this.from.changed ?? []) {
      changed.fill(1, from, to);
    }
    return { data: this.data, tints, tintOf, starts, changed };
  }
}
