// The message shown on the page, as described by the server: its bytes, and its runs of bits.

import type { PageData, PagePart as Part } from "./api";
import type { HexMessage } from "./hex/index";

/** The shown message, as merged by the socket. */
export interface MessageData extends Omit<PageData, "bytes" | "len" | "part" | "parts"> {
  bytes: string; // base64
  len: readonly number[]; // bits of each run, in wire order
  part: readonly number[]; // index of its part
  parts: readonly Part[];
}

/** Bits [start, end) of the message. */
export interface Bits {
  start: number;
  end: number;
}

function fromBase64(text: string): Uint8Array {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    out[i] = raw.charCodeAt(i);
  }
  return out;
}

/** A message to display. Immutable. */
export class Message {
  readonly data: Uint8Array;
  private readonly from: MessageData;
  private readonly off: Uint32Array; // first bit of each run
  private readonly lines: readonly number[]; // of the parts
  private byPart: number[][] | undefined; // runs of each part

  constructor(from: MessageData) {
    this.from = from;
    this.data = fromBase64(from.bytes);
    this.off = new Uint32Array(from.len.length);
    const jumps = new Map(from.jumps ?? []);
    let line = 0;
    this.lines = from.parts.map((part) => (part.lined === true ? (line += part.step ?? 0) : 0));
    let end = 0;
    from.len.forEach((bits, run) => {
      const off = jumps.get(run) ?? end;
      this.off[run] = off;
      end = off + bits;
    });
  }

  /** Whether the message has no bytes. */
  get empty(): boolean {
    return this.data.length === 0 && this.off.length === 0 && this.from.name === "";
  }

  /** Whether the hex grid would look the same. */
  looksLike(other: Message | null): boolean {
    const a = this.from;
    const b = other?.from;
    if (b === undefined || a.bytes !== b.bytes || a.used !== b.used || a.len.length !== b.len.length || a.len.length > 20_000) {
      return false;
    }
    return (
      a.len.every((bits, i) => bits === b.len[i] && a.parts[a.part[i] ?? 0]?.family === b.parts[b.part[i] ?? 0]?.family) &&
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

  get runs(): number {
    return this.off.length;
  }

  bits(run: number): Bits {
    const start = this.off[run] ?? 0;
    return { start, end: start + (this.from.len[run] ?? 0) };
  }

  part(run: number): Part | undefined {
    return this.from.parts[this.from.part[run] ?? -1];
  }

  line(run: number): number {
    return this.from.stale === true ? 0 : (this.lines[this.from.part[run] ?? -1] ?? 0);
  }

  /** The run of a bit: the last that starts at or before it and contains it; -1 for none. */
  runAt(bit: number): number {
    const { off } = this;
    let low = 0;
    let high = off.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((off[middle] ?? 0) <= bit) {
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

  private runsOf(which: (part: Part, i: number) => boolean): number[] {
    if (this.byPart === undefined) {
      const byPart: number[][] = this.from.parts.map(() => []);
      this.from.part.forEach((part, run) => byPart[part]?.push(run));
      this.byPart = byPart;
    }
    const lists = this.byPart.filter((_, i) => {
      const part = this.from.parts[i];
      return part !== undefined && which(part, i);
    });
    return lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort((a, b) => a - b);
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
    return this.from.stale === true ? [] : this.runsOf((_, i) => this.lines[i] === line);
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
    const part = this.part(run);
    if (part === undefined || !["count", "offset", "next"].includes(part.role)) {
      return [];
    }
    return this.ranges(this.runsOfKey(part.key.replace(/\/\w+$/, "/value")).filter((other) => other !== run));
  }

  /** The message for the hex grid. Neighbors of one family have different shades, as in templates/view.go. */
  hex(): HexMessage {
    const size = this.data.length;
    const tintOf = new Uint16Array(size);
    const starts = new Uint8Array(size);
    const tints = [""];
    const shades = new Map<string, { tint: number; alt: number }>();
    const shadeOf = this.from.parts.map((part) => {
      let shade = shades.get(part.family);
      if (shade === undefined) {
        shade = { tint: tints.length, alt: 0 };
        shades.set(part.family, shade);
        tints.push(`t-${part.family}`, `t-${part.family} alt`);
      }
      return shade;
    });
    const isGap = this.from.parts.map((part) => part.role === "gap");
    for (let run = 0; run < this.off.length; run++) {
      const part = this.from.part[run] ?? 0;
      const shade = shadeOf[part];
      const off = this.off[run] ?? 0;
      const end = Math.min((off + (this.from.len[run] ?? 0) + 7) >>> 3, size);
      const first = off >>> 3;
      if (shade === undefined) {
        continue;
      }
      for (let byte = first; byte < end; byte++) {
        if (tintOf[byte] === 0) {
          tintOf[byte] = shade.tint + shade.alt;
        }
        if (isGap[part] === true) {
          starts[byte] = (starts[byte] ?? 0) | 2;
        }
      }
      shade.alt ^= 1;
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
