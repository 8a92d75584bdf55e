// The part of a long list of rows that is in view.

// Browsers lose exactness and then stop altogether with taller elements; a longer list scrolls in proportion.
const tallestPx = 8_000_000;

/** Where a box is scrolled to, in pixels of rows; the rows may be taller together than a browser allows an element to be. */
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
  private last = 0; // scrollTop as it was seen or set last
  private settling = 0;

  /** The box scrolls; the space inside it is given the height of the rows. */
  constructor(box: HTMLElement, space: HTMLElement) {
    this.box = box;
    this.space = space;
  }

  /** Takes new sizes; the first row in view stays, as far as there are rows. */
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

  /** Scrolls to a place. */
  moveTo(top: number): void {
    this.top = Math.max(0, Math.min(top, this.limit));
    this.box.scrollTop = this.top / this.ratio;
    this.last = this.box.scrollTop;
  }

  /** Scrolls as little as is needed to show a row; a row that is far away comes into the upper third. */
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

  /** Follows the box after it was scrolled. */
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
      // The wheel moves by rows as everywhere else. The bar is put right when the hand rests.
      this.top += moved;
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.moveTo(this.top), 200);
    }
    this.top = Math.max(0, Math.min(this.top, this.limit));
  }

  /** Where a row has to be drawn inside the space, in pixels from its upper end. */
  place(row: number): number {
    const y = row * this.rowPx;
    return this.ratio === 1 ? y : this.last + y - this.top;
  }

  /** Ends what is under way. */
  stop(): void {
    clearTimeout(this.settling);
  }
}
