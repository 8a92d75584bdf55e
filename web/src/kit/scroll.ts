// Scrolling of a long list of rows.

// Browsers round positions in, and then refuse, taller elements; a longer list scrolls proportionally.
const tallestPx = 8_000_000;

/** The scroll position of a box, in pixels of rows; the rows may be taller than a browser allows an element to be. */
export class Scroll {
  /** Pixels of rows above the view. */
  top = 0;
  /** Height of the view. */
  viewPx = 0;
  /** Height of a row. */
  rowPx = 1;
  private readonly box: HTMLElement;
  private readonly space: HTMLElement;
  private allPx = 0;
  private spacePx = 0;
  private last = 0; // last scrollTop
  private settling = 0;

  /** The box scrolls; the space inside it gets the height of the rows. */
  constructor(box: HTMLElement, space: HTMLElement) {
    this.box = box;
    this.space = space;
  }

  /** Sets sizes; the first row in view stays, if it still exists. */
  resize(rows: number, rowPx: number, viewPx: number): void {
    const row = this.top / this.rowPx;
    const spacePx = Math.min(rows * rowPx, tallestPx);
    if (spacePx !== this.spacePx) {
      this.space.style.setProperty("height", `${spacePx}px`);
    }
    this.allPx = rows * rowPx;
    this.spacePx = spacePx;
    this.rowPx = rowPx;
    this.viewPx = viewPx;
    const top = Math.min(row * rowPx, this.limit);
    if (top !== this.top) {
      this.moveTo(top);
    }
  }

  private get limit(): number {
    return Math.max(0, this.allPx - this.viewPx);
  }

  private get ratio(): number {
    const room = this.spacePx - this.viewPx;
    return this.allPx === this.spacePx || room <= 0 ? 1 : this.limit / room;
  }

  /** Scrolls to a position. */
  moveTo(top: number): void {
    this.top = Math.max(0, Math.min(top, this.limit));
    this.box.scrollTop = this.top / this.ratio;
    this.last = this.box.scrollTop;
  }

  /** Scrolls minimally to show a row; a distant row goes to the upper third. */
  reveal(row: number): void {
    const y = row * this.rowPx;
    const below = y + this.rowPx - this.top - this.viewPx;
    if (y < this.top - this.viewPx || below > this.viewPx) {
      this.moveTo(y - this.viewPx / 3);
    } else if (y < this.top) {
      this.moveTo(y);
    } else if (below > 0) {
      this.moveTo(this.top + below);
    }
  }

  /** Updates the position after the box was scrolled. */
  follow(): void {
    const now = this.box.scrollTop;
    const moved = now - this.last;
    this.last = now;
    if (this.ratio === 1) {
      this.top = Math.max(0, Math.min(now, this.limit));
      return;
    }
    if (Math.abs(moved) > this.viewPx * 2 || now <= 0 || now >= this.spacePx - this.viewPx - 1) {
      this.top = now * this.ratio;
    } else {
      // The wheel scrolls by its usual distance. The scroll bar is adjusted when scrolling pauses.
      this.top += moved;
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.moveTo(this.top), 200);
    }
    this.top = Math.max(0, Math.min(this.top, this.limit));
  }

  /** The position of a row inside the space, in pixels. */
  place(row: number): number {
    const y = row * this.rowPx;
    return this.ratio === 1 ? y : this.last + y - this.top;
  }

  /** Cancels pending timers. */
  stop(): void {
    clearTimeout(this.settling);
  }
}
