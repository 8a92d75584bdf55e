// Sets of positions as ranges: two clicks may select a million rows.

/** The positions [start, end). */
export interface Range {
  start: number;
  end: number;
}

const mostRanges = 10_000; // one click each

/** A set of positions. Its ranges are sorted and do not touch. */
export class Ranges {
  list: readonly Range[] = [];

  get count(): number {
    return this.list.reduce((sum, r) => sum + r.end - r.start, 0);
  }

  clear(): void {
    this.list = [];
  }

  /** The index of the first range that ends after a position. */
  private after(pos: number): number {
    let low = 0;
    let high = this.list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.list[middle]?.end ?? 0) > pos) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  has(pos: number): boolean {
    const range = this.list[this.after(pos)];
    return range !== undefined && range.start <= pos;
  }

  add(start: number, end: number): void {
    if (end <= start || this.list.length >= mostRanges) {
      return;
    }
    const before = this.list.filter((r) => r.end < start);
    const behind = this.list.filter((r) => r.start > end);
    const touched = this.list.slice(before.length, this.list.length - behind.length);
    const joined = { start: Math.min(start, touched[0]?.start ?? start), end: Math.max(end, touched.at(-1)?.end ?? end) };
    this.list = [...before, joined, ...behind];
  }

  remove(start: number, end: number): void {
    if (end <= start) {
      return;
    }
    this.list = this.list.flatMap((r) => {
      if (r.end <= start || r.start >= end) {
        return [r];
      }
      return [{ start: r.start, end: start }, { start: end, end: r.end }].filter((part) => part.start < part.end);
    });
  }

  toggle(pos: number): void {
    if (this.has(pos)) {
      this.remove(pos, pos + 1);
    } else {
      this.add(pos, pos + 1);
    }
  }
}
