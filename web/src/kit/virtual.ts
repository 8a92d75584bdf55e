// Long lists of which the document has only the items in view. The items around the view, the active one, and those that are focused,
// selected or being edited stay in the document.

/** What a list shows. Items of a kind have the same height. */
export interface Items {
  readonly count: number;
  kind(i: number): string;
  /** An identity of an item, which it keeps when others are inserted or removed. */
  id(i: number): string;
  /** Creates the element of an item, or updates the one that it has. */
  draw(i: number, element: HTMLElement | undefined): HTMLElement;
  /** Text of an item for the clipboard. */
  text(i: number): string;
}

const around = 240; // pixels above and below the view that have items, too
const guess = 28; // pixels of an item that was never drawn
const least = 300; // pixels of a view that is not visible

// Drawing reads the focus and the selection, for which a browser computes the styles of all that has changed. So all lists that have something
// to draw are drawn together, after these were read once: when the code that shows items is done, and before anything is painted.
const waiting = new Set<VirtualList>();
let isQueued = false;

/** Draws all lists that have something to draw. */
function drawWaiting(): void {
  isQueued = false;
  const kept = keptNodes();
  for (const list of waiting) {
    list.drawNow(kept);
  }
}

/** What must stay in the document, as the user is there. */
interface Kept {
  focused: Element | null;
  ends: readonly (Node | null)[]; // of the selection
}

function keptNodes(): Kept {
  const selection = getSelection();
  return { focused: document.activeElement, ends: selection?.isCollapsed === false ? [selection.anchorNode, selection.focusNode] : [] };
}

const none: Items = { count: 0, kind: () => "", id: () => "", draw: (_, e) => e ?? document.createElement("div"), text: () => "" };

export class VirtualList {
  readonly host: HTMLElement;
  private readonly scroller: HTMLElement;
  private items: Items = none;
  private readonly heights = new Map<string, number>(); // by kind, as measured
  private tops: Float64Array = new Float64Array(1); // of the items, in the host; the last is the height of all
  private drawn = new Map<string, HTMLElement>(); // by id
  private indexes = new Map<HTMLElement, number>();
  private shown: [from: number, to: number] = [0, 0];
  private view = { top: 0, height: least, offset: 0 }; // of the scroller, and the place of the host in it
  private settling = false;
  private isActive = 0;

  constructor(host: HTMLElement, scroller: HTMLElement) {
    this.host = host;
    this.scroller = scroller;
    host.classList.add("virtual");
    scroller.addEventListener("scroll", () => this.look(), { passive: true });
    new ResizeObserver(() => {
      this.heights.clear();
      this.settle();
    }).observe(scroller);
    document.addEventListener("copy", (event) => this.copy(event));
  }

  /** Shows other items. */
  show(items: Items): void {
    this.items = items;
    this.isActive = Math.min(this.isActive, Math.max(0, items.count - 1));
    this.place();
    this.drawSoon();
    this.settleSoon();
  }

  get count(): number {
    return this.items.count;
  }

  /** The item in the tab order. */
  get active(): number {
    return this.isActive;
  }

  set active(i: number) {
    this.isActive = i;
    this.drawSoon();
  }

  /** The index of an element of the list, -1 for others. */
  indexOf(element: Element | null): number {
    this.catchUp();
    return this.indexNow(element);
  }

  private indexNow(element: Element | null): number {
    for (let e = element; e !== null && e !== this.host; e = e.parentElement) {
      if (e.parentElement === this.host) {
        return this.indexes.get(e as HTMLElement) ?? -1;
      }
    }
    return -1;
  }

  /** The element of an item, if the document has it. */
  element(i: number): HTMLElement | undefined {
    this.catchUp();
    for (const [element, index] of this.indexes) {
      if (index === i) {
        return element;
      }
    }
    return undefined;
  }

  /** Looks where the list is, after what is above it has changed. */
  moved(): void {
    this.settle();
  }

  /** Draws the items in the document again. */
  redraw(): void {
    this.drawSoon();
  }

  private drawSoon(): void {
    waiting.add(this);
    if (!isQueued) {
      isQueued = true;
      queueMicrotask(drawWaiting);
    }
  }

  private catchUp(): void {
    if (waiting.has(this)) {
      this.draw();
    }
  }

  /** Scrolls an item into view; in the middle if it is not there yet, or to a number of pixels below the top of the view. */
  reveal(i: number, at?: number): void {
    this.look(false);
    const top = (this.tops[i] ?? 0) + this.view.offset;
    const bottom = (this.tops[i + 1] ?? 0) + this.view.offset;
    const { scrollTop, clientHeight } = this.scroller;
    const head = this.headHeight();
    if (at !== undefined) {
      this.scroller.scrollTop = top - at;
    } else if (top < scrollTop + head || bottom > scrollTop + clientHeight) {
      this.scroller.scrollTop = Math.max(0, top - Math.max(head, (clientHeight - (bottom - top)) / 2));
    }
    this.look();
  }

  /** Focuses an item, which becomes the active one. It is scrolled into view with as little movement as possible. */
  focus(i: number): void {
    this.look(false);
    const top = (this.tops[i] ?? 0) + this.view.offset;
    const bottom = (this.tops[i + 1] ?? 0) + this.view.offset;
    const { scrollTop, clientHeight } = this.scroller;
    const head = this.headHeight();
    if (top < scrollTop + head) {
      this.scroller.scrollTop = top - head;
    } else if (bottom > scrollTop + clientHeight) {
      this.scroller.scrollTop = bottom - clientHeight;
    }
    this.isActive = i;
    this.look(false);
    this.draw();
    this.element(i)?.focus({ preventScroll: true });
  }

  /** Selects the text of all items; copying then copies all. */
  selectAll(): void {
    getSelection()?.selectAllChildren(this.host);
  }

  /** The height of a heading that covers the top of the view. */
  private headHeight(): number {
    return this.host.parentElement?.querySelector<HTMLElement>(":scope > thead")?.offsetHeight ?? 0;
  }

  /** Computes the places of the items. */
  private place(): void {
    const { items } = this;
    const tops = new Float64Array(items.count + 1);
    let top = 0;
    for (let i = 0; i < items.count; i++) {
      tops[i] = top;
      top += this.heights.get(items.kind(i)) ?? guess;
    }
    tops[items.count] = top;
    this.tops = tops;
  }

  /** The last item that begins at or above a height. */
  private at(height: number): number {
    let low = 0;
    let high = this.items.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.tops[middle] ?? 0) <= height) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return Math.max(0, low - 1);
  }

  /** Measures the view, and draws what has come into it. */
  private look(draw = true): void {
    const outer = this.scroller.getBoundingClientRect();
    this.view = {
      top: this.scroller.scrollTop,
      height: Math.max(this.scroller.clientHeight, least),
      offset: this.host.checkVisibility() ? this.host.getBoundingClientRect().top - outer.top + this.scroller.scrollTop : 0, // its first items if hidden
    };
    const [from, to] = this.range();
    if (draw && (from !== this.shown[0] || to !== this.shown[1])) {
      this.draw();
    }
  }

  private range(): [from: number, to: number] {
    const { top, height, offset } = this.view;
    const { count } = this.items;
    return [count === 0 ? 0 : this.at(top - offset - around), count === 0 ? 0 : Math.min(count, this.at(top - offset + height + around) + 1)];
  }

  private draw(): void {
    this.drawNow(keptNodes());
  }

  /** Draws at once. */
  drawNow({ focused, ends }: Kept): void {
    waiting.delete(this);
    const { items, host } = this;
    const [from, to] = (this.shown = this.range());
    const wanted = new Set<number>();
    for (let i = from; i < to; i++) {
      wanted.add(i);
    }
    if (this.isActive < items.count) {
      wanted.add(this.isActive);
    }
    const at = this.indexNow(focused); // as before
    for (const node of [focused, ...ends]) {
      const element = this.itemAround(node);
      const i = element === undefined ? -1 : this.find(element);
      if (i >= 0) {
        wanted.add(i);
      }
    }
    const old = this.drawn;
    const now = new Map<string, HTMLElement | undefined>();
    const order = [...wanted].sort((a, b) => a - b);
    const ids = order.map((i) => {
      let id = items.id(i);
      while (now.has(id)) {
        id += "'";
      }
      now.set(id, old.get(id));
      return id;
    });
    for (const [id, element] of old) { // first: moving the others would take away the focus
      if (!now.has(id)) {
        element.remove();
      }
    }
    this.drawn = new Map();
    this.indexes = new Map();
    let last: ChildNode | null = null; // the element before the next one
    order.forEach((i, n) => {
      const id = ids[n] ?? "";
      const element = items.draw(i, now.get(id));
      this.drawn.set(id, element);
      this.indexes.set(element, i);
      const apart = i < from || i >= to;
      element.classList.toggle("apart", apart);
      element.style.top = apart ? `${this.tops[i] ?? 0}px` : "";
      const place: ChildNode | null = last === null ? host.firstChild : last.nextSibling;
      if (place !== element) {
        host.insertBefore(element, place);
      }
      last = element;
    });
    host.style.paddingTop = `${this.tops[from] ?? 0}px`;
    host.style.paddingBottom = `${(this.tops[items.count] ?? 0) - (this.tops[to] ?? 0)}px`;
    if (at >= 0 && items.count > 0 && document.activeElement !== focused) { // its item was removed
      this.isActive = Math.min(at, items.count - 1);
      (this.element(this.isActive) ?? host).focus({ preventScroll: true });
    }
  }

  /** The item that an element in the document shows, -1 if it was removed. */
  private find(element: HTMLElement): number {
    const was = this.indexes.get(element) ?? -1;
    const id = [...this.drawn].find(([, e]) => e === element)?.[0];
    if (was < 0 || id === undefined || (was < this.items.count && this.items.id(was) === id)) {
      return was;
    }
    for (let i = 0; i < this.items.count; i++) {
      if (this.items.id(i) === id) {
        return i;
      }
    }
    return -1;
  }

  /** The element of the list that a node is in. */
  private itemAround(node: Node | null): HTMLElement | undefined {
    for (let e = node; e !== null; e = e.parentNode) {
      if (e.parentNode === this.host) {
        return e instanceof HTMLElement ? e : undefined;
      }
    }
    return undefined;
  }

  private settleSoon(): void {
    if (!this.settling) {
      this.settling = true;
      requestAnimationFrame(() => {
        this.settling = false;
        this.settle();
      });
    }
  }

  /** Measures the heights of new kinds of items, and the view. */
  private settle(): void {
    this.catchUp();
    let changed = false;
    for (const [element, i] of this.indexes) {
      const kind = this.items.kind(i);
      if (!this.heights.has(kind) && element.offsetHeight > 0) {
        const next = element.nextElementSibling;
        const apart = element.classList.contains("apart") || next === null || next.classList.contains("apart");
        this.heights.set(kind, apart ? element.offsetHeight : next.getBoundingClientRect().top - element.getBoundingClientRect().top); // with the gap
        changed = true;
      }
    }
    if (changed) {
      this.place();
    }
    this.look(!changed);
    if (changed) {
      this.draw();
      this.settleSoon(); // other kinds may have come into view
    }
  }

  /** Copies items of which some are not in the document. */
  private copy(event: ClipboardEvent): void {
    const selection = getSelection();
    const target = event.target instanceof Element ? event.target : null;
    if (selection === null || selection.isCollapsed || target?.closest("input, textarea") != null) {
      return;
    }
    const { anchorNode, focusNode } = selection;
    const ends = [anchorNode, focusNode].map((node) => this.indexOf(node instanceof Element ? node : (node?.parentElement ?? null)));
    const [from, to] = anchorNode === this.host && focusNode === this.host ? [0, this.items.count - 1] : [Math.min(...ends), Math.max(...ends)];
    if (from < 0 || to <= from) {
      return;
    }
    const lines: string[] = [];
    for (let i = from; i <= to; i++) {
      lines.push(this.items.text(i));
    }
    event.clipboardData?.setData("text/plain", lines.join("\n"));
    event.preventDefault();
  }
}
