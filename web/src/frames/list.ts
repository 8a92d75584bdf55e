// The list of frames: as many rows as there are, only those in view in the page.
//
//   .frames-list > .frames-scroll[role=grid] > .frames-head > .fh
//                                            > .frames-space > .frames-rows > .frame > .fc
//                > .frames-new

import { Scroll } from "../hex/scroll";
import type { Anchor } from "../menu";
import type { CellContext, Columns } from "./columns";
import { Header } from "./header";
import { Pages } from "./pages";
import type { Found, FrameRow, Sort, State } from "./protocol";
import { Ranges, type Range } from "./ranges";
import { Rows } from "./rows";
import { noState } from "./socket";
import { count } from "./text";

/** Where rows come from. Promises may fail. */
export interface ListSource {
  rows(from: number, count: number): Promise<readonly FrameRow[]>;
  where(n: number): Promise<Found>;
}

/** What the list tells. */
export interface ListEvents {
  /** The current row is another; undefined: there is none. */
  select(row: FrameRow | undefined, pos: number): void;
  open(row: FrameRow): void;
  /** A menu about a row is wanted; the column is that of the cell, "" for the row as such. */
  menu(row: FrameRow, column: string, anchor: Anchor): void;
  /** Columns were moved, widened, shown or hidden. */
  columns(): void;
  /** A menu about a column. */
  columnMenu(id: string, anchor: Anchor): void;
  /** The rows chosen besides the current one changed. */
  selection(count: number): void;
  /** The list is to be sorted by a column, as often as its head is pressed. */
  sort?(id: string): void;
  /** It is not to be sorted any more. */
  unsort?(): void;
  /** The list is to be sorted with the frames that came since. */
  sortAnew?(): void;
  /** Other rows are in view. */
  viewed?(): void;
}

const spareRows = 3; // drawn above and below the view
const mostRows = 300; // drawn at all, should the page give the list no height
const settleMillis = 70; // rows are asked for once fast scrolling rests that long
const fastViews = 1.5; // heights of the view in one frame that count as fast
const freezeMillis = 400; // what was shown stays that long after a change, for its new rows to come
const reachMillis = 1000; // the end of a list that is followed is shown without its rows, should they take longer
const tellMillis = 60; // between two rows that the page is told of

let lists = 0;

export class FrameList {
  readonly element = document.createElement("div");
  readonly columns: Columns;
  readonly ranges = new Ranges();
  /** Whether the list keeps to its end while it grows. */
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
  private anchorPos = 0; // where Shift extends from
  private told: { pos: number; row: FrameRow | undefined } = { pos: -1, row: undefined };
  private toldAt = -Infinity;
  private tellTimer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0; // the next drawing
  private redraws = false; // rows that are there already too
  private asked: ReturnType<typeof setTimeout> | undefined;
  private lastTop = 0;
  private frozen = false;
  private outdated = false; // until the next drawing: what is drawn stands elsewhere in the list now
  private freezing: ReturnType<typeof setTimeout> | undefined;
  private hold: { n: number; px: number; asks: boolean } | undefined; // the frame that keeps its place when the list changes
  private leftAt = 0; // rows that there were when the end was left
  private known = 0; // rows that there are, where the end that is followed is not shown yet
  private reach: { fit: number; since: number } | undefined; // the end that is shown once its rows are there

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
    this.pill.tabIndex = -1; // End does the same
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

  // 1. What is shown.

  /** The rows are others from now on; with `places` the same frames stand where they stood and only look otherwise. */
  reset(places: boolean): void {
    if (!places) {
      const row = this.pages.get(this.current);
      const first = Math.ceil(this.scroll.top / this.scroll.rowPx);
      const inView = this.current >= first && this.current * this.scroll.rowPx < this.scroll.top + this.scroll.viewPx;
      const kept = this.hold?.n ?? (inView ? (row?.n ?? this.currentN) : (this.pages.get(first)?.n ?? this.currentN));
      const pos = inView ? this.current : first;
      this.hold = kept > 0 ? { n: kept, px: this.hold?.px ?? pos * this.scroll.rowPx - this.scroll.top, asks: false } : undefined;
      this.current = -1;
      this.anchorPos = 0;
      this.clearRanges();
    }
    this.catchUp();
    this.outdated ||= !places;
    this.freeze();
    this.pages.reset(places);
    this.draw(true);
  }

  /** The same rows stand in another order from now on: the current frame stays in sight, if the person has chosen it. */
  reorder(sorted: boolean, chosen = true): void {
    const { top, viewPx, rowPx } = this.scroll;
    const n = this.pages.get(this.current)?.n ?? this.currentN;
    const px = this.current * rowPx - top;
    const inView = this.current >= 0 && px >= 0 && px + rowPx <= viewPx;
    this.reset(false);
    if (n > 0) {
      this.currentN = n;
      this.hold = { n, px: sorted && !chosen ? Infinity : inView ? px : viewPx / 3, asks: false }; // Infinity: the list begins at its start
    } else if (sorted) { // it begins with what was looked for
      this.hold = undefined;
      this.scroll.moveTo(0);
    }
  }

  /** Shows in the head by what the list is to be sorted. */
  showSort(sort: Sort | undefined, pending: boolean): void {
    this.header.showSort(sort, pending);
    if (sort !== undefined) {
      this.follows = false;
    }
  }

  /** By what the rows are sorted; undefined: they are as they came. */
  private get sorted(): Sort | undefined {
    return this.state.sorted;
  }

  /** Whether new rows come at the end. */
  private get grows(): boolean {
    return this.state.live && this.sorted === undefined;
  }

  /** What was drawn stays until the rows that take its place are there, or for a moment. */
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

  /** Takes a new state of the list and what depends on it. */
  update(state: State, marked: ReadonlySet<number>): void {
    const before = this.state;
    const looks = state.marked !== before.marked || state.notes !== before.notes || state.markers !== before.markers || state.conns !== before.conns || state.start !== before.start || marked !== this.marked;
    this.known = state.fit;
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
      this.pages.resize(state.fit);
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
    }
    this.findHeld();
    this.showPill();
    this.draw(looks);
  }

  /** Goes on to the end as it is now, in steps that are as long as rows take to come: else none of them would ever be in view. */
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
    } else {
      this.pages.want(from, fit, this.current);
    }
  }

  /** Shows all that is known, its rows may come later. */
  private catchUp(): void {
    this.reach = undefined;
    if (this.known > this.state.fit) {
      this.state = { ...this.state, fit: this.known };
      this.pages.resize(this.known);
      this.layout();
    }
  }

  /** Which fields the cells of the rows are about, in the order of the server. */
  setFields(fields: readonly string[]): void {
    this.fields = fields;
  }

  /** The columns changed. */
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
    this.element.style.setProperty("--frame-columns", this.columns.template);
    this.element.style.setProperty("--frame-width", this.columns.total);
  }

  /** How wide a column is now, in pixels. */
  widthOf(id: string): number {
    return this.header.cellOf(id)?.getBoundingClientRect().width ?? 0;
  }

  /** Draws all rows again, as what cells depend on has changed. */
  refresh(): void {
    this.draw(true);
  }

  /** The frame that times are told from, or none. */
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

  /** The frame that kept its place in mind is looked up in the new list, once the server has come that far. */
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
        const lost = this.sorted !== undefined && found.n !== hold.n; // what comes after it in the capture stands anywhere
        const pos = lost ? 0 : found.pos < 0 ? this.state.fit - 1 : found.pos;
        this.layout();
        this.scroll.moveTo(pos * this.scroll.rowPx - hold.px);
        if (hold.n === this.currentN) {
          this.anchorPos = pos;
          this.setCurrent(pos); // if it is hidden now, the next one takes its place, so that keys go on from there
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

  /** Finds the current frame again where another one kept the place. */
  private async restoreCurrent(): Promise<void> {
    const n = this.currentN;
    try {
      const found = await this.source.where(n);
      if (found.n === n && this.current < 0 && found.pos >= 0) {
        this.setCurrent(found.pos);
        this.draw(true);
      }
    } catch {
      // It is then not in the list; the page goes on showing it.
    }
  }

  // 2. Drawing.

  private layout(): void {
    const rowPx = this.header.element.offsetHeight || 20; // head and rows are of one height
    const before = this.scroll.viewPx;
    const px = this.current * this.scroll.rowPx - this.scroll.top;
    const half = this.scroll.rowPx / 2; // what is cut by less is seen
    const seen = this.current >= 0 && px >= -half && px + half <= before;
    this.scroll.resize(this.state.fit, rowPx, Math.max(0, this.box.clientHeight - rowPx));
    if (this.follows && this.state.live) {
      this.scroll.moveTo(Infinity);
    } else if (seen && this.hold === undefined && this.scroll.viewPx < before) {
      this.scroll.reveal(this.current); // what came beside the list covers rows, but not the current one
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

  /** Markers between a frame and the one above it in the list, "" if there are none. */
  private flag(pos: number, frame: FrameRow): string {
    const { markers } = this.state;
    if (markers.length === 0 || this.sorted !== undefined) { // the row above is not the frame before then
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

  /** The rows in view, those that are there only in part as well. */
  private inView(): Range {
    const { rowPx, viewPx, top } = this.scroll;
    return { start: Math.max(0, Math.floor(top / rowPx)), end: Math.min(this.state.fit, Math.ceil((top + viewPx) / rowPx)) };
  }

  /** The first row in view, and how many there are, parts of rows too. */
  get seen(): { first: number; rows: number } {
    const { rowPx, viewPx, top } = this.scroll;
    return { first: top / rowPx, rows: viewPx / rowPx };
  }

  /** Scrolls so that a row is the first one in view. */
  scrollTo(first: number): void {
    this.hold = undefined;
    this.follows = false;
    this.catchUp();
    this.scroll.moveTo(first * this.scroll.rowPx); // the box tells that it scrolled: rows are asked for then
    this.showPill();
    this.draw(false);
  }

  /** Scrolls by pixels, as the wheel does. */
  scrollBy(px: number): void {
    this.intent = performance.now();
    this.box.scrollTop += px;
  }

  /** Asks for the rows in view and, once they are there, for those that come next on either side. */
  private want(): void {
    clearTimeout(this.asked);
    if (this.reach !== undefined) {
      return; // its rows are asked for
    }
    const { start, end } = this.inView();
    const near = this.pages.has(start, end) ? end - start : 0;
    // A key may have gone to a row that the wheel then left: the page still has to know it.
    this.pages.want(start - near, end + near, this.current);
  }

  // 3. The current row and the chosen ones.

  /** How many rows there are, those too that are not shown yet while the list follows its end. */
  get size(): number {
    return Math.max(this.state.fit, this.known);
  }

  /** The position of the current row, -1 if there is none. */
  get position(): number {
    return this.current;
  }

  /** The current row as far as it is known. */
  get row(): FrameRow | undefined {
    return this.pages.get(this.current);
  }

  /** The number of the current frame, also while it is not in the list; 0 if there was none yet. */
  get frameNumber(): number {
    return this.currentN;
  }

  /** The frame at a position, as far as it is known. */
  rowAt(pos: number): FrameRow | undefined {
    return this.pages.get(pos);
  }

  /** How many rows a page of the list has. */
  get pageSize(): number {
    return Math.max(1, Math.floor(this.scroll.viewPx / this.scroll.rowPx) - 1);
  }

  /** The chosen rows by their positions; the current one alone, if no others were chosen. */
  chosen(): readonly Range[] {
    return this.ranges.list.length > 0 ? this.ranges.list : this.current < 0 ? [] : [{ start: this.current, end: this.current + 1 }];
  }

  focus(): void {
    this.box.focus({ preventScroll: true });
  }

  /** Whether the list, and nothing in front of it, has the keyboard. */
  get focused(): boolean {
    return document.activeElement === this.box;
  }

  /** Makes a row the current one and shows it; with `extend` all from where the last choice began to it are chosen. */
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

  /** Goes some rows on. Without a current row the first one in view is it. */
  step(by: number, extend = false): void {
    const from = this.current < 0 ? this.inView().start - Math.sign(by) : this.current;
    this.go(from + by, extend);
  }

  private setCurrent(pos: number): void {
    this.current = pos;
    this.currentN = this.pages.get(pos)?.n ?? this.currentN; // the page is told later
    this.draw(true);
    this.tell();
  }

  private extendTo(pos: number): void {
    this.ranges.clear();
    this.ranges.add(Math.min(this.anchorPos, pos), Math.max(this.anchorPos, pos) + 1);
    this.events.selection(this.ranges.count);
  }

  private clearRanges(): void {
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

  /** Chooses nothing but the current row; says whether anything else was chosen. */
  clearSelection(): boolean {
    const had = this.ranges.list.length > 0;
    this.clearRanges();
    return had;
  }

  /** Tells the page of the current row, once it is there, and not of every one that a held key flies over. */
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

  // 4. The end of a list that grows.

  /** Goes to the end and stays there. */
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

  // 5. What the person does.

  private intent = -Infinity; // when the person scrolled last
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
    if (this.outdated) {
      this.holdFrame(place.n, place.pos);
      return;
    }
    const inside = this.ranges.has(place.pos);
    if (event.button === 2 && inside) {
      return; // the menu is about all that is chosen
    }
    this.hold = undefined;
    if (event.button === 0 && event.shiftKey) {
      event.preventDefault(); // no text is selected
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
    this.want();
  }

  /** Makes a frame the current one while the rows that are drawn are those of the list before: it counts then, not its place. */
  private holdFrame(n: number, pos: number): void {
    if (n > 0) {
      clearTimeout(this.tellTimer); // of the one before, which would be the current one again
      this.current = -1;
      this.currentN = n;
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

  /** Where a menu or a note about the current row belongs. */
  anchor(): Anchor {
    const element = this.rows.elementOf(this.current);
    const box = (element ?? this.box).getBoundingClientRect();
    const view = this.box.getBoundingClientRect();
    const y = Math.max(view.top, Math.min(element === undefined ? view.top : box.bottom, view.bottom));
    return { x: Math.max(box.left, view.left) + 24, y };
  }

  /** Cells that are cut off tell all when they are pointed at; nothing is measured before. */
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

  /** Ends everything; the element goes. */
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
