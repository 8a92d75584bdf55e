// The marks of bytes: selection, hover, and targets of the hovered field.

/** Bytes [start, end) of a message. */
export interface ByteRange {
  start: number;
  end: number;
}

const selected = 1;
const on = 2; // and its two edges
const onFirst = 4;
const onLast = 8;
const aim = 16;
const aimFirst = 32;
const aimLast = 64;

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

  /** Sets the marks for the rows from `row` on. */
  set(
    row: number,
    rows: number,
    columns: number,
    o: { selection: ByteRange; light: readonly ByteRange[]; aim: readonly ByteRange[] },
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

  /** The classes of a byte in the window: "sel", and outlines with their drawn sides. */
  classes(byte: number, column: number): string {
    const bits = this.bits[byte - this.first] ?? 0;
    if (bits === 0) {
      return "";
    }
    return (
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
