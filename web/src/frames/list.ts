// The list of frames: only the rows in view are in the page.
//
//   .frames-list > .frames-scroll[role=grid] > .frames-head > .fh
//                                            > .frames-space > .frames-rows > .frame > .fc
//                > .frames-new

import { Scroll } from "../kit/scroll";
import type { Anchor } from "../kit/menu";
import type { CellContext, Columns } from "./columns";
import { Header } from "./header";
import { Pages } from "./pages";
import type { Found, FrameRow, Sort, State } from "../api/frames";
import { Ranges, type Range } from "./ranges";
import { Rows } from "./rows";
import { noState } from "./socket";
import { count } from "../kit/frametext";

/** The source of rows. Promises may fail. */
export interface ListSource {
  rows(from: number, count: number): Promise<readonly FrameRow[]>;
  where(n: number): Promise<Found>;
}

/** Events of the list. */
export interface ListEvents {
  /** The current row changed; undefined: none. */
  select(row: FrameRow | undefined, pos: number): void;
  open(row: FrameRow): void;
  /** Opens the menu of a row; column is that of the cell, or "". */
  menu(row: FrameRow, column: string, anchor: Anchor): void;
  /** Columns were moved, resized, shown or hidden. */
  columns(): void;
  /** Opens the menu of a column. */
  columnMenu(id: string, anchor: Anchor): void;
  /** The number of selected rows besides the current one changed. */
  selection(count: number): void;
  /** Sorts by a column; called for each press of its head. */
  sort?(id: string): void;
  /** Removes the sorting. */
  unsort?(): void;
  /** Sorts again, with the frames that arrived since. */
  sortAnew?(): void;
  /** The rows in view changed. */
  viewed?(): void;
}

const spareRows = 3; // drawn above and below the view
const mostRows = 300; // at most, if the page gives the list no height
const settleMillis = 70; // rows are requested when fast scrolling pauses that long
const fastViews = 1.5; // heights of the view per animation frame that count as fast
const freezeMillis = 400; // old rows stay that long after a change, until the new ones arrive
const reachMillis = 1000; // after that long the end of a followed list is shown without its rows
const tellMillis = 60; // between two selections reported to the page

let lists = 0;

/** The frame that keeps its position when the list changes. */
interface Hold {
  n: number;
  px: number;
  asks: boolean;
}

const mostChosenAgain = 100; // frames whose positions are asked for

export class FrameList {
  readonly element = document.createElement("div");
  readonly columns: Columns;
  readonly below: HTMLElement[] = []; // elements with rows in the same columns
  readonly ranges = new Ranges();
  /** Whether the list follows its end. */
  follows = false;

  private readonly events: ListEvents;
  private readonly source: ListSource;
  private readonly ids = `frames${++lists}`;
  private readonly box = document.createElement("div");
  private readonly space = document.createElement("div");
  private readonly body = document.createElement("div");
  private readonly pill = document.createElement("button");
  private readonly header: Header;
  private readonly rows: Rows;
  private readonly scroll: Scroll;
  private readonly pages: Pages<FrameRow>;
  private readonly watcher = new ResizeObserver(() => this.layout());
  private readonly stopped = new AbortController();

  private state: State = noState();
  private marked: ReadonlySet<number> = new Set();
  private reference: FrameRow | undefined;
  private fields: readonly string[] = [];
  private current = -1;
  private currentN = 0;
  private anchorPos = 0; // start of a selection with Shift
  private told: { pos: number; row: FrameRow | undefined } = { pos: -1, row: undefined };
  private toldAt = -Infinity;
  private tellTimer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0; // of the next drawing
  private redraws = false; // also rows already drawn
  private asked: ReturnType<typeof setTimeout> | undefined;
  private lastTop = 0;
  private frozen = false;
  private refilled = 0; // until so many frames of the same rows have been examined again, their number stays: keys must not stop at row 0
  private outdated = false; // until the next drawing: the drawn rows have other positions now
  private freezing: ReturnType<typeof setTimeout> | undefined;
  private hold: Hold | undefined;
  private again: { chosen: readonly number[]; range: boolean } | undefined; // frames to be selected once their positions are known
  private leftAt = 0; // number of rows when following stopped
  private known = 0; // number of rows, if the followed end is not shown yet
  private reach: { fit: number; since: number } | undefined; // the end, shown once its rows have arrived

  constructor(host: HTMLElement, columns: Columns, source: ListSource, events: ListEvents) {
    this.columns = columns;
    this.source = source;
    this.events = events;
    this.element.className = "frames-list";
    this.box.className = "frames-scroll";
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "grid");
    this.box.setAttribute("aria-label", "Frames");
    this.box.setAttribute("aria-multiselectable", "true");
    this.space.className = "frames-space";
    this.space.setAttribute("role", "presentation");
    this.body.className = "frames-rows";
    this.body.setAttribute("role", "rowgroup");
    this.pill.className = "frames-new";
    this.pill.type = "button";
    this.pill.tabIndex = -1; // End has the same effect
    this.pill.hidden = true;
    this.header = new Header(columns, {
      resized: () => this.widen(),
      moved: () => this.rebuild(),
      sort: (id) => this.events.sort?.(id),
      leave: (unsorts) => {
        if (unsorts) {
          this.events.unsort?.();
        }
        this.focus();
      },
      needed: (id) => this.rows.neededPx(this.columns.shown.findIndex((c) => c.id === id)),
      menu: (id, anchor) => this.events.columnMenu(id, anchor),
    });
    this.rows = new Rows(this.body, this.ids, (column, length) => this.columns.saw(column, length));
    this.scroll = new Scroll(this.box, this.space);
    this.pages = new Pages(
      (from, n) => this.source.rows(from, n),
      () => this.came(),
    );
    this.space.append(this.body);
    this.box.append(this.header.element, this.space);
    this.element.append(this.box, this.pill);
    host.append(this.element);
    this.listen();
    this.restyle();
    this.watcher.observe(this.box);
  }

  // 1. Content.

  /**
   * The rows have changed; with `places` the same frames keep their positions and only look different. With `same` nobody asked for other
   * frames, so a selection of few frames stays.
   */
  reset(places: boolean, same = false): void {
    this.refilled = places ? Math.max(this.refilled, this.state.fit) : 0;
    if (!places) {
      const row = this.pages.get(this.current);
      const first = Math.ceil(this.scroll.top / this.scroll.rowPx);
      const inView = this.current >= first && this.current * this.scroll.rowPx < this.scroll.top + this.scroll.viewPx;
      const kept = this.hold?.n ?? (inView ? (row?.n ?? this.currentN) : (this.pages.get(first)?.n ?? this.currentN));
      const pos = inView ? this.current : first;
      const again = same ? this.again ?? { chosen: this.chosenNumbers(), range: false } : undefined;
      this.hold = kept > 0 ? { n: kept, px: this.hold?.px ?? pos * this.scroll.rowPx - this.scroll.top, asks: false } : undefined;
      this.current = -1;
      this.anchorPos = 0;
      this.clearRanges();
      this.again = again;
    }
    this.catchUp();
    this.outdated ||= !places;
    this.freeze();
    this.pages.reset(places);
    this.draw(true);
  }

  /** The same rows have another order; the current frame stays in view. */
  reorder(sorted: boolean): void {
    const { top, viewPx, rowPx } = this.scroll;
    const n = this.pages.get(this.current)?.n ?? this.currentN;
    const px = this.current * rowPx - top;
    const inView = this.current >= 0 && px >= 0 && px + rowPx <= viewPx;
    this.reset(false);
    if (n > 0) {
      this.currentN = n;
      this.hold = { n, px: inView ? px : viewPx / 3, asks: false };
    } else if (sorted) { // start at the top of the new order
      this.hold = undefined;
      this.scroll.moveTo(0);
    }
  }

  /** Shows the order in the head. */
  showSort(sort: Sort | undefined, pending: boolean): void {
    this.header.showSort(sort, pending);
    if (sort !== undefined) {
      this.follows = false;
    }
  }

  /** The order of the rows; undefined: capture order. */
  private get sorted(): Sort | undefined {
    return this.state.sorted;
  }

  /** Whether new rows are added at the end. */
  private get grows(): boolean {
    return this.state.live && this.sorted === undefined;
  }

  /** Keeps the drawn rows until their replacements arrive, at most for a moment. */
  private freeze(): void {
    this.frozen = this.body.childElementCount > 0;
    clearTimeout(this.freezing);
    this.freezing = setTimeout(() => this.thaw(), freezeMillis);
  }

  private thaw(): void {
    clearTimeout(this.freezing);
    if (this.frozen) {
      this.frozen = false;
      this.layout();
      this.draw(true);
    }
  }

  /** Takes a new state of the list and its marks. */
  update(state: State, marked: ReadonlySet<number>): void {
    const before = this.state;
    const looks = state.marked !== before.marked || state.notes !== before.notes || state.markers !== before.markers || state.conns !== before.conns || state.start !== before.start || marked !== this.marked;
    this.known = state.fit;
    const refills = this.refilled > 0;
    const examined = state.done || (state.live && state.scanned >= state.total);
    if (examined || state.fit >= this.refilled) {
      this.refilled = 0;
    } else {
      state = { ...state, fit: this.refilled };
    }
    const reaches = this.follows && state.live && !this.frozen && state.seq === before.seq && before.fit > 0 && state.fit > before.fit;
    if (reaches) {
      state = { ...state, fit: before.fit };
    } else {
      this.reach = undefined;
    }
    this.state = state;
    this.marked = marked;
    if (state.sorted !== undefined) {
      this.follows = false;
    } else if (state.live && !before.live) {
      this.follows = true;
    }
    if (reaches) {
      this.reachOn();
    } else {
      this.pages.resize(state.fit, this.known);
    }
    if (this.frozen && state.done && state.fit === 0) {
      this.thaw();
    }
    if (state.fit !== before.fit || state.seq !== before.seq || state.order !== before.order) {
      this.box.setAttribute("aria-rowcount", String(state.done ? state.fit + 1 : -1));
      if (this.frozen) {
        this.want();
      } else {
        this.layout();
      }
    } else if (refills) {
      this.want();
    }
    this.findHeld();
    this.showPill();
    this.draw(looks);
  }

  /** Moves to the current end in steps as long as rows take to arrive; otherwise rows would never be in view. */
  private reachOn(): void {
    if (this.reach !== undefined && performance.now() - this.reach.since > reachMillis) {
      this.catchUp();
      return;
    }
    if (this.reach === undefined && this.known > this.state.fit) {
      this.reach = { fit: this.known, since: performance.now() };
      this.pages.resize(this.known);
    }
    if (this.reach === undefined) {
      return;
    }
    const { fit } = this.reach;
    const from = Math.max(0, fit - Math.ceil(this.scroll.viewPx / this.scroll.rowPx) - spareRows);
    if (this.pages.has(from, fit)) {
      this.reach = undefined;
      this.state = { ...this.state, fit };
      this.layout();
      this.reachOn(); // more may have come
    } else {
      this.pages.want(from, fit, this.current);
    }
  }

  /** Shows all rows, even before they arrive. */
  private catchUp(): void {
    this.reach = undefined;
    if (this.known > this.state.fit) {
      this.state = { ...this.state, fit: this.known };
      this.pages.resize(this.known);
      this.layout();
    }
  }

  /** Sets the fields of cells, in the order of the server. */
  setFields(fields: readonly string[]): void {
    this.fields = fields;
  }

  /** Applies changed columns. */
  rebuild(): void {
    this.restyle();
    this.events.columns();
  }

  private restyle(): void {
    this.header.draw();
    this.rows.restyle(this.columns.shown);
    this.widen();
    this.layout();
    this.draw(true);
  }

  private widen(): void {
    for (const element of [this.element, ...this.below]) {
      element.style.setProperty("--frame-columns", this.columns.template);
      element.style.setProperty("--frame-width", this.columns.total);
      element.style.setProperty("--frame-narrow", this.columns.narrow);
    }
  }

  /** The current width of a column, in pixels. */
  widthOf(id: string): number {
    return this.header.cellOf(id)?.getBoundingClientRect().width ?? 0;
  }

  /** Redraws all rows after a change of the context of cells. */
  refresh(): void {
    this.draw(true);
  }

  /** The reference frame for times, if any. */
  get timeReference(): FrameRow | undefined {
    return this.reference;
  }

  setReference(row: FrameRow | undefined): void {
    this.reference = row;
    this.draw(true);
  }

  private context(): CellContext {
    return {
      state: this.state,
      marked: this.marked,
      mode: this.columns.mode,
      reference: this.reference?.t,
      referenceFrame: this.reference?.n ?? 0,
      fields: this.fields,
    };
  }

  /** Finds the frame that keeps its position in the new list, once the server has read that far. */
  private findHeld(): void {
    const hold = this.hold;
    if (hold === undefined || hold.asks || (this.state.scanned < hold.n && !this.state.done) || this.state.seq === 0) {
      return;
    }
    hold.asks = true;
    this.source.where(hold.n).then(
      (found) => {
        if (this.hold !== hold) {
          return;
        }
        this.hold = undefined;
        if (found.pos < 0 && this.state.fit === 0) {
          return;
        }
        const lost = this.sorted !== undefined && found.n !== hold.n; // its successor in the capture may be anywhere
        const pos = lost ? 0 : found.pos < 0 ? this.state.fit - 1 : found.pos;
        this.layout();
        this.scroll.moveTo(pos * this.scroll.rowPx - hold.px);
        if (hold.n === this.currentN) {
          this.anchorPos = pos;
          this.setCurrent(pos); // if it is hidden, its successor becomes current, so that keys continue from there
          void this.selectAgain(pos);
        } else if (this.currentN > 0) {
          void this.restoreCurrent();
        }
        this.draw(false);
        this.want();
      },
      () => {
        if (this.hold === hold) {
          hold.asks = false;
        }
      },
    );
  }

  /** The numbers of the selected frames, if they are few. */
  private chosenNumbers(): number[] {
    const numbers: number[] = [];
    if (this.ranges.count <= mostChosenAgain) {
      for (const { start, end } of this.ranges.list) {
        for (let pos = start; pos < end; pos++) {
          numbers.push(this.pages.get(pos)?.n ?? 0);
        }
      }
    }
    return numbers.includes(0) ? [] : numbers;
  }

  /** Selects the frames that were selected in the list before, or by a click on its rows, unless another row was chosen meanwhile. */
  private async selectAgain(pos: number): Promise<void> {
    const { again } = this;
    const { seq } = this.state;
    if (again === undefined || again.chosen.length === 0) {
      return;
    }
    const found = await Promise.all(again.chosen.map((n) => this.source.where(n).catch(() => undefined)));
    if (this.again !== again || this.state.seq !== seq || this.current !== pos) {
      return; // of a newer list they are asked for again
    }
    this.again = undefined;
    const places = found.flatMap((f, i) => (f !== undefined && f.n === again.chosen[i] && f.pos >= 0 ? [f.pos] : []));
    if (again.range && places.length === again.chosen.length) {
      this.anchorPos = places[0] ?? pos;
      this.ranges.add(Math.min(...places), Math.max(...places) + 1);
    } else {
      places.forEach((at) => this.ranges.add(at, at + 1));
    }
    this.events.selection(this.ranges.count);
    this.draw(true);
  }

  /** Finds the current frame again after another frame kept the position. */
  private async restoreCurrent(): Promise<void> {
    const n = this.currentN;
    try {
      const found = await this.source.where(n);
      if (found.n === n && this.current < 0 && found.pos >= 0) {
        this.setCurrent(found.pos);
        this.draw(true);
      }
    } catch {
      // It is not in the list; the page still shows it.
    }
  }

  // 2. Drawing.

  private layout(): void {
    const headPx = this.header.element.offsetHeight || 20;
    const rowPx = headPx * (Number(getComputedStyle(this.element).getPropertyValue("--frame-lines")) || 1); // a line of a row has the height of the head
    const before = this.scroll.viewPx;
    const px = this.current * this.scroll.rowPx - this.scroll.top;
    const half = this.scroll.rowPx / 2; // a row cut by less counts as visible
    const seen = this.current >= 0 && px >= -half && px + half <= before;
    this.scroll.resize(this.state.fit, rowPx, Math.max(0, this.box.clientHeight - headPx));
    if (this.follows && this.state.live) {
      this.scroll.moveTo(Infinity);
    } else if (seen && this.hold === undefined && this.scroll.viewPx < before) {
      this.scroll.reveal(this.current); // elements beside the list may cover rows, but not the current one
    }
    this.draw(false);
    this.want();
    this.events.viewed?.();
  }

  private draw(all: boolean): void {
    this.redraws ||= all;
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.paint();
      });
    }
  }

  private paint(): void {
    if (this.frozen) {
      return;
    }
    const { rowPx, viewPx, top } = this.scroll;
    const first = Math.max(0, Math.floor(top / rowPx) - spareRows);
    const end = Math.min(this.state.fit, Math.ceil((top + viewPx) / rowPx) + spareRows, first + mostRows);
    const all = this.redraws;
    this.redraws = false;
    this.outdated = false;
    const wider = this.rows.draw(first, Math.max(0, end - first), {
      get: (pos) => this.pages.get(pos),
      context: this.context(),
      isSelected: (pos) => this.ranges.has(pos),
      flag: (pos, frame) => this.flag(pos, frame),
      current: this.current,
      total: this.state.fit,
    }, all);
    if (wider) {
      this.widen();
    }
    this.body.style.setProperty("transform", `translateY(${Math.round(this.scroll.place(first))}px)`);
    const element = this.current < 0 ? undefined : this.rows.elementOf(this.current);
    if (element === undefined) {
      this.box.removeAttribute("aria-activedescendant");
    } else {
      this.box.setAttribute("aria-activedescendant", element.id);
    }
  }

  /** Markers between a frame and the row above, or "". */
  private flag(pos: number, frame: FrameRow): string {
    const { markers } = this.state;
    if (markers.length === 0 || this.sorted !== undefined) { // the row above is then not the preceding frame
      return "";
    }
    let low = 0;
    for (let high = markers.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((markers[middle]?.n ?? 0) <= frame.n) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const last = markers[low - 1];
    const above = pos === 0 ? 0 : (this.pages.get(pos - 1)?.n ?? frame.n - 1);
    return last === undefined || last.n <= above ? "" : last.text === "" ? "marker" : last.text;
  }

  private came(): void {
    const { start, end } = this.inView();
    if (this.frozen && this.hold === undefined && this.pages.has(start, end)) {
      this.thaw();
    }
    if (this.reach !== undefined) {
      this.reachOn();
    }
    this.draw(false);
    this.tell();
  }

  /** The rows in view, including partly visible ones. */
  private inView(): Range {
    const { rowPx, viewPx, top } = this.scroll;
    return { start: Math.max(0, Math.floor(top / rowPx)), end: Math.min(this.state.fit, Math.ceil((top + viewPx) / rowPx)) };
  }

  /** The first row in view and the number of rows, including partly visible ones. */
  get seen(): { first: number; rows: number } {
    const { rowPx, viewPx, top } = this.scroll;
    return { first: top / rowPx, rows: viewPx / rowPx };
  }

  /** Scrolls a row to the top. */
  scrollTo(first: number): void {
    this.hold = undefined;
    this.follows = false;
    this.catchUp();
    this.scroll.moveTo(first * this.scroll.rowPx); // the scroll event requests the rows
    this.showPill();
    this.draw(false);
  }

  /** Scrolls by pixels, like the wheel. */
  scrollBy(px: number): void {
    this.intent = performance.now();
    this.box.scrollTop += px;
  }

  /** Requests the rows in view and then those before and after. */
  private want(): void {
    clearTimeout(this.asked);
    if (this.reach !== undefined) {
      return; // its rows are being requested
    }
    const { start, end } = this.inView();
    const near = this.pages.has(start, end) ? end - start : 0;
    // The wheel may have scrolled away from a row selected by a key, which must still be reported.
    this.pages.want(start - near, end + near, this.current);
  }

  // 3. The current and the selected rows.

  /** The number of rows, including those at a followed end that are not shown yet. */
  get size(): number {
    return Math.max(this.state.fit, this.known);
  }

  /** The position of the current row, or -1. */
  get position(): number {
    return this.current;
  }

  /** The current row, if loaded. While its position in a changed list is being found, it is the row as it was. */
  get row(): FrameRow | undefined {
    const { row } = this.told;
    return this.pages.get(this.current) ?? (this.current < 0 && this.hold !== undefined && row?.n === this.currentN ? row : undefined);
  }

  /** The number of the current frame, even if it is not in the list; 0 before the first. */
  get frameNumber(): number {
    return this.currentN;
  }

  /** The frame at a position, if loaded. */
  rowAt(pos: number): FrameRow | undefined {
    return this.pages.get(pos);
  }

  /** The number of rows per page. */
  get pageSize(): number {
    return Math.max(1, Math.floor(this.scroll.viewPx / this.scroll.rowPx) - 1);
  }

  /** The positions of the selected rows, or of the current one. */
  chosen(): readonly Range[] {
    return this.ranges.list.length > 0 ? this.ranges.list : this.current < 0 ? [] : [{ start: this.current, end: this.current + 1 }];
  }

  focus(): void {
    this.box.focus({ preventScroll: true });
  }

  /** Whether the list has the focus. */
  get focused(): boolean {
    return document.activeElement === this.box;
  }

  /** Makes a row current and scrolls to it; with `extend` also selects the rows from the anchor. */
  go(pos: number, extend = false): void {
    this.catchUp();
    if (this.state.fit === 0) {
      return;
    }
    this.hold = undefined;
    const to = Math.max(0, Math.min(pos, this.state.fit - 1));
    this.thaw();
    if (extend) {
      this.extendTo(to);
    } else {
      this.clearRanges();
      this.anchorPos = to;
    }
    this.setCurrent(to);
    this.scroll.reveal(to);
    this.follows = this.grows && to === this.state.fit - 1;
    this.showPill();
    this.want();
  }

  /** Moves the current row; without one, the first row in view becomes current. */
  step(by: number, extend = false): void {
    const from = this.current < 0 ? this.inView().start - Math.sign(by) : this.current;
    this.go(from + by, extend);
    this.chose();
  }

  private setCurrent(pos: number): void {
    this.current = pos;
    this.currentN = this.pages.get(pos)?.n ?? this.currentN; // the page is notified later
    this.draw(true);
    this.tell();
  }

  private extendTo(pos: number): void {
    this.ranges.clear();
    this.ranges.add(Math.min(this.anchorPos, pos), Math.max(this.anchorPos, pos) + 1);
    this.events.selection(this.ranges.count);
  }

  private clearRanges(): void {
    this.again = undefined;
    if (this.ranges.list.length > 0) {
      this.ranges.clear();
      this.events.selection(0);
      this.draw(true);
    }
  }

  selectAll(): void {
    this.ranges.clear();
    this.ranges.add(0, this.state.fit);
    this.events.selection(this.ranges.count);
    this.draw(true);
  }

  /** Selects only the current row; returns whether others were selected. */
  clearSelection(): boolean {
    const had = this.ranges.list.length > 0;
    this.clearRanges();
    return had;
  }

  /** Makes no row current; returns whether one was. */
  leave(): boolean {
    const had = this.currentN > 0 || this.current >= 0;
    clearTimeout(this.tellTimer);
    this.hold = undefined;
    this.again = undefined;
    this.current = -1;
    this.currentN = 0;
    this.told = { pos: -1, row: undefined };
    this.draw(true);
    if (had) {
      this.events.select(undefined, -1);
    }
    return had;
  }

  /** Reports the current row once loaded, but not every row that a held key passes. */
  private tell(): void {
    const row = this.pages.get(this.current);
    if (row === undefined || (this.told.row === row && this.told.pos === this.current)) {
      return;
    }
    const rest = tellMillis - (performance.now() - this.toldAt);
    clearTimeout(this.tellTimer);
    if (rest > 0) {
      this.tellTimer = setTimeout(() => this.tell(), rest);
      return;
    }
    this.toldAt = performance.now();
    this.told = { pos: this.current, row };
    this.currentN = row.n;
    this.events.select(row, this.current);
  }

  // 4. The end of a growing list.

  /** Moves to the end and follows it. */
  follow(): void {
    this.catchUp();
    this.follows = this.grows;
    this.hold = undefined;
    this.scroll.moveTo(Infinity);
    this.showPill();
    this.want();
    this.draw(false);
  }

  private showPill(): void {
    if (this.follows) {
      this.leftAt = this.known;
    }
    if (this.sorted !== undefined) {
      this.leftAt = this.known;
      this.pill.hidden = this.state.fresh <= 0;
      this.pill.textContent = `${count(this.state.fresh)} new: sort again`;
      return;
    }
    const fresh = this.known - this.leftAt;
    this.pill.hidden = !this.state.live || this.follows || fresh <= 0;
    if (!this.pill.hidden) {
      this.pill.textContent = `${count(fresh)} new ↓`;
    }
  }

  // 5. Input.

  private intent = -Infinity; // time of the user's last scrolling
  private pressing = false; // the scroll bar is held

  private listen(): void {
    const { signal } = this.stopped;
    const scrolled = (): void => {
      this.intent = performance.now();
    };
    this.box.addEventListener("wheel", scrolled, { passive: true, signal });
    this.box.addEventListener("touchmove", scrolled, { passive: true, signal });
    this.box.addEventListener("pointerdown", (event) => {
      this.pressing = event.target === this.box;
    }, { signal });
    addEventListener("pointerup", () => (this.pressing = false), { signal });
    this.box.addEventListener("scroll", () => this.scrolled(), { passive: true, signal });
    this.box.addEventListener("mousedown", (event) => this.press(event), { signal });
    this.box.addEventListener("dblclick", (event) => {
      if (this.outdated) {
        return;
      }
      const row = this.pages.get(this.rows.placeOf(event.target instanceof Element ? event.target : null)?.pos ?? -1);
      if (row !== undefined) {
        this.events.open(row);
      }
    }, { signal });
    this.box.addEventListener("contextmenu", (event) => this.menu(event), { signal });
    this.body.addEventListener("mouseover", (event) => this.hint(event), { signal });
    this.box.addEventListener("focus", () => {
      if (this.current < 0 && this.state.fit > 0 && this.hold === undefined && !this.box.matches(":active")) {
        this.setCurrent(this.follows ? this.state.fit - 1 : Math.min(Math.ceil(this.scroll.top / this.scroll.rowPx), this.state.fit - 1));
      }
    }, { signal });
    this.pill.addEventListener("click", () => {
      if (this.sorted !== undefined) {
        this.events.sortAnew?.();
      } else {
        this.follow();
      }
      this.focus();
    }, { signal });
  }

  private scrolled(): void {
    const before = this.scroll.top;
    this.scroll.follow();
    const { top, viewPx, rowPx } = this.scroll;
    if (this.pressing || performance.now() - this.intent < 500) {
      this.hold = undefined;
      if (top !== before) {
        this.follows = this.grows && top + viewPx >= this.state.fit * rowPx - 2;
        if (!this.follows) {
          this.catchUp();
        }
        this.showPill();
      }
    }
    this.draw(false);
    this.events.viewed?.();
    const { start, end } = this.inView();
    const fast = Math.abs(top - this.lastTop) > viewPx * fastViews;
    this.lastTop = top;
    clearTimeout(this.asked);
    if (this.pages.has(start, end) || !fast) {
      this.want();
    } else {
      this.asked = setTimeout(() => this.want(), settleMillis);
    }
  }

  private press(event: MouseEvent): void {
    const place = this.rows.placeOf(event.target instanceof Element ? event.target : null);
    if (place === undefined || event.button > 2 || (place.pos >= this.state.fit && !this.outdated)) {
      return;
    }
    const select = event.button !== 0 ? "" : event.shiftKey ? "range" : event.ctrlKey || event.metaKey ? "both" : "";
    if (this.outdated || (select !== "" && this.current < 0 && this.currentN > 0)) { // positions are not known yet
      this.holdFrame(place.n, place.pos, select);
      return;
    }
    const inside = this.ranges.has(place.pos);
    if (event.button === 2 && inside) {
      return; // the menu applies to the selection
    }
    this.hold = undefined;
    if (event.button === 0 && event.shiftKey) {
      event.preventDefault(); // do not select text
      this.box.focus({ preventScroll: true });
      this.extendTo(place.pos);
    } else if (event.button === 0 && (event.ctrlKey || event.metaKey)) {
      if (this.ranges.list.length === 0 && this.current >= 0) {
        this.ranges.add(this.current, this.current + 1);
      }
      this.ranges.toggle(place.pos);
      this.anchorPos = place.pos;
      this.events.selection(this.ranges.count);
    } else {
      this.clearRanges();
      this.anchorPos = place.pos;
    }
    this.setCurrent(place.pos);
    this.chose();
    this.want();
  }

  /** A row was chosen: the list does not move away from it. */
  private chose(): void {
    this.catchUp();
    this.follows = false;
    this.showPill();
  }

  /** Scrolls back to the current row. */
  reveal(): void {
    if (this.current >= 0) {
      this.chose();
      this.scroll.reveal(this.current);
      this.want();
      this.draw(false);
    }
  }

  /** Makes a frame current while the drawn rows are still those of the old list, by its number, not its position. */
  private holdFrame(n: number, pos: number, select: "" | "range" | "both" = ""): void {
    if (n > 0) {
      const from = select === "" ? 0 : this.currentN;
      clearTimeout(this.tellTimer); // of the row before, which would become current again
      this.current = -1;
      this.currentN = n;
      this.again = from > 0 ? { chosen: [from, n], range: select === "range" } : undefined;
      this.hold = { n, px: pos * this.scroll.rowPx - this.scroll.top, asks: false };
      this.findHeld();
    }
  }

  private menu(event: MouseEvent): void {
    if (this.outdated) {
      event.preventDefault();
      return;
    }
    const place = this.rows.placeOf(event.target instanceof Element ? event.target : null);
    const row = this.pages.get(place?.pos ?? this.current);
    if (row === undefined) {
      return;
    }
    event.preventDefault();
    if (place === undefined) {
      this.events.menu(row, "", this.anchor());
      return;
    }
    const column = this.columns.shown[place.column]?.id ?? "";
    this.events.menu(row, column, { x: event.clientX, y: event.clientY });
  }

  /** The anchor for a menu or a note of the current row. */
  anchor(): Anchor {
    const element = this.rows.elementOf(this.current);
    const box = (element ?? this.box).getBoundingClientRect();
    const view = this.box.getBoundingClientRect();
    const y = Math.max(view.top, Math.min(element === undefined ? view.top : box.bottom, view.bottom));
    return { x: Math.max(box.left, view.left) + 24, y };
  }

  /** Sets a tooltip on a truncated cell under the pointer; cells are measured only then. */
  private hint(event: MouseEvent): void {
    const place = this.rows.placeOf(event.target instanceof Element ? event.target : null);
    const row = this.pages.get(place?.pos ?? -1);
    const column = this.columns.shown[place?.column ?? -1];
    if (place === undefined || row === undefined || column === undefined) {
      return;
    }
    const text = column.hint?.(row, this.context()) ?? "";
    const cut = place.cell.scrollWidth > place.cell.clientWidth;
    const shown = column.text(row, this.context());
    const title = text !== "" && (cut || text !== shown) ? text : cut ? shown : "";
    if (place.cell.title !== title) {
      place.cell.title = title;
    }
  }

  /** Removes the list and its listeners. */
  destroy(): void {
    this.stopped.abort();
    this.watcher.disconnect();
    this.scroll.stop();
    this.pages.stop();
    clearTimeout(this.asked);
    clearTimeout(this.freezing);
    clearTimeout(this.tellTimer);
    cancelAnimationFrame(this.frame);
    this.element.remove();
  }
}
