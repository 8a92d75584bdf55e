// The marks of bytes: selection, search hits, hover, and targets of the hovered field.

/** Bytes [start, end) of a message. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Ranges of bytes in ascending order that do not overlap: as many as there are bytes, so not objects. */
export interface Ranges {
  starts: Uint32Array;
  ends: Uint32Array;
}

export const noRanges: Ranges = { starts: new Uint32Array(), ends: new Uint32Array() };

/** The index of the first range that ends after a byte. */
export function rangeAfter({ ends }: Ranges, byte: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) <= byte) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const selected = 1;
const on = 2; // and its two edges
const onFirst = 4;
const onLast = 8;
const aim = 16;
const aimFirst = 32;
const aimLast = 64;
const hit = 128;

function edges(name: string): readonly string[] {
  return Array.from({ length: 16 }, (_, bits) => {
    const sides = ["t", "r", "b", "l"].filter((_, i) => (bits >> i) & 1).map((side) => ` ${name}-${side}`);
    return ` ${name}${sides.join("")}`;
  });
}

const onClasses = edges("on");
const aimClasses = edges("aim");

/** The marks of the bytes in a window of rows. */
export class Marks {
  private first = 0; // byte of bits[0]; one row before the window, because it affects lower edges
  private columns = 16;
  private bits = new Uint8Array();
  private hues = new Map<number, number>(); // of bookmarked bytes in the window
  private readonly peers = new Map<number, number>(); // colors of others, by the bytes where they are

  /** Sets the marks for the rows from `row` on. */
  set(
    row: number,
    rows: number,
    columns: number,
    o: { selection: ByteRange; light: readonly ByteRange[]; aim: readonly ByteRange[]; hits: Ranges; bookmarks: readonly (ByteRange & { hue: number })[]; peers: readonly (ByteRange & { color: number })[] },
  ): void {
    const size = (rows + 2) * columns;
    this.first = (row - 1) * columns;
    this.columns = columns;
    if (this.bits.length === size) {
      this.bits.fill(0);
    } else {
      this.bits = new Uint8Array(size);
    }
    this.add(o.selection, selected, 0, 0);
    o.light.forEach((range) => this.add(range, on, onFirst, onLast));
    o.aim.forEach((range) => this.add(range, aim, aimFirst, aimLast));
    this.hues.clear();
    for (const { start, end, hue } of o.bookmarks) {
      for (let byte = Math.max(start, this.first); byte < Math.min(end, this.first + size); byte++) {
        this.hues.set(byte, hue);
      }
    }
    this.peers.clear();
    for (const { start, end, color } of o.peers) {
      for (let byte = Math.max(start, this.first); byte < Math.min(end, this.first + size); byte++) {
        this.peers.set(byte, color);
      }
    }
    const { starts, ends } = o.hits;
    for (let i = rangeAfter(o.hits, this.first); i < starts.length && (starts[i] ?? 0) < this.first + size; i++) {
      this.add({ start: starts[i] ?? 0, end: ends[i] ?? 0 }, hit, 0, 0);
    }
  }

  private add(range: ByteRange, all: number, first: number, last: number): void {
    const start = range.start - this.first;
    const end = range.end - this.first;
    if (end <= start || end <= 0 || start >= this.bits.length) {
      return;
    }
    for (let i = Math.max(0, start); i < Math.min(end, this.bits.length); i++) {
      this.bits[i] = (this.bits[i] ?? 0) | all | (i === start ? first : 0) | (i === end - 1 ? last : 0);
    }
  }

  /** The classes of a byte in the window: "hit", "sel", and outlines with their drawn sides. */
  classes(byte: number, column: number): string {
    const bits = this.bits[byte - this.first] ?? 0;
    const hue = this.hues.get(byte);
    const peer = this.peers.get(byte);
    const bookmark = (hue === undefined ? "" : ` bookmarked hue${hue}`) + (peer === undefined ? "" : ` peer-byte peer-${peer}`);
    if (bits === 0) {
      return bookmark;
    }
    return (
      bookmark +
      (bits & hit ? " hit" : "") +
      (bits & selected ? " sel" : "") +
      (bits & on ? onClasses[this.sides(byte, column, on, onFirst, onLast)] : "") +
      (bits & aim ? aimClasses[this.sides(byte, column, aim, aimFirst, aimLast)] : "")
    );
  }

  private sides(byte: number, column: number, all: number, first: number, last: number): number {
    const i = byte - this.first;
    const own = this.bits[i] ?? 0;
    const above = (this.bits[i - this.columns] ?? 0) & all;
    const below = (this.bits[i + this.columns] ?? 0) & all;
    const left = column === 0 || own & first;
    const right = column === this.columns - 1 || own & last;
    return (above ? 0 : 1) | (right ? 2 : 0) | (below ? 0 : 4) | (left ? 8 : 0);
  }
}
