// Rows of a long list, loaded in pages: only those wanted now, and few at a time.

export const pageRows = 100;
const mostPages = 80; // kept
const mostUnderWay = 2;
const failedMillis = 1000; // until a failed page is requested again

/** Requests rows [from, from+count); the result may be shorter. */
export type Fetch<T> = (from: number, count: number) => Promise<readonly T[]>;

interface Page<T> {
  rows: readonly T[];
  old: boolean; // of the old list; shown until the new page arrives
}

export class Pages<T> {
  private readonly fetch: Fetch<T>;
  private readonly came: () => void;
  private readonly pages = new Map<number, Page<T>>(); // least recently used first
  private readonly underWay = new Set<number>();
  private wanted: readonly number[] = [];
  private total = 0;
  private available = 0;
  private age = 0;
  private failedUntil = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `came` is called when rows arrive. */
  constructor(fetch: Fetch<T>, came: () => void) {
    this.fetch = fetch;
    this.came = came;
  }

  /** Discards all pages, or keeps showing them until new ones arrive. */
  reset(keepOld = false): void {
    this.age++;
    this.underWay.clear();
    this.failedUntil = 0;
    clearTimeout(this.timer);
    if (!keepOld) {
      this.pages.clear();
      return;
    }
    for (const page of this.pages.values()) {
      page.old = true;
    }
  }

  /** Sets the number of rows, and how many of them the source has now: pages beyond are not requested yet. */
  resize(total: number, available = total): void {
    this.total = total;
    this.available = available;
  }

  get(index: number): T | undefined {
    return this.pages.get(Math.floor(index / pageRows))?.rows[index % pageRows];
  }

  private isAvailable(page: number): boolean {
    return this.available >= this.total || (page + 1) * pageRows <= this.available;
  }

  /** Whether all rows [first, end) of the current list are loaded. */
  has(first: number, end: number): boolean {
    for (let page = Math.floor(first / pageRows); page * pageRows < Math.min(end, this.total); page++) {
      if (!this.isWhole(page)) {
        return false;
      }
    }
    return true;
  }

  private isWhole(page: number): boolean {
    const found = this.pages.get(page);
    return found !== undefined && !found.old && found.rows.length >= Math.min(pageRows, this.total - page * pageRows);
  }

  /** Requests rows [first, end) and one more row instead of earlier requests; pending ones complete. */
  want(first: number, end: number, also = -1): void {
    const wanted: number[] = [];
    if (also >= 0 && also < this.total && !this.isWhole(Math.floor(also / pageRows)) && this.isAvailable(Math.floor(also / pageRows))) {
      wanted.push(Math.floor(also / pageRows));
    }
    for (let page = Math.max(0, Math.floor(first / pageRows)); page * pageRows < Math.min(end, this.total); page++) {
      const found = this.pages.get(page);
      if (found !== undefined) {
        this.pages.delete(page); // to the end of the map: most recently used
        this.pages.set(page, found);
      }
      if (!this.isWhole(page) && this.isAvailable(page)) {
        wanted.push(page);
      }
    }
    this.wanted = wanted;
    this.next();
  }

  private next(): void {
    const rest = this.failedUntil - performance.now();
    if (rest > 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.next(), rest);
      return;
    }
    for (const page of this.wanted) {
      if (this.underWay.size >= mostUnderWay) {
        return;
      }
      if (!this.underWay.has(page) && !this.isWhole(page)) {
        void this.load(page);
      }
    }
  }

  private async load(page: number): Promise<void> {
    const age = this.age;
    this.underWay.add(page);
    let rows: readonly T[] | undefined;
    try {
      rows = await this.fetch(page * pageRows, pageRows);
    } catch {
      // The list reports connection errors; here the request is only repeated later.
    }
    if (age !== this.age) {
      return;
    }
    this.underWay.delete(page);
    if (rows === undefined) {
      this.failedUntil = performance.now() + failedMillis;
    } else {
      const before = this.pages.get(page);
      this.pages.delete(page);
      this.pages.set(page, { rows, old: false });
      this.trim();
      if (rows.length < Math.min(pageRows, this.total - page * pageRows) && rows.length <= (before?.rows.length ?? 0)) {
        this.failedUntil = performance.now() + failedMillis; // the server has fewer rows than reported: do not repeat at once
      }
      this.came();
    }
    this.next();
  }

  private trim(): void {
    for (const page of this.pages.keys()) {
      if (this.pages.size <= mostPages) {
        return;
      }
      if (!this.wanted.includes(page)) {
        this.pages.delete(page);
      }
    }
  }

  stop(): void {
    this.reset();
    this.wanted = [];
  }
}
