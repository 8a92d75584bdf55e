// The hex grid: shows the bytes of a message, for selecting and editing. Only the rows in view are in the page.
//
//   .hexgrid > .hex-scroll[role=grid] > .hex-line.head, .hex-space > .hex-rows > .hex-line > .off, .hx*, .chars > .asc*
//            > .hex-mode
//
// Copy and paste use the clipboard events of the browser, which need no permission and work without HTTPS.

import { type ByteRange, Marks, noRanges, type Ranges } from "./marks";
import { edited, type HexMessage, noMessage } from "./message";
import { newRow, Rows } from "./rows";
import { Scroll } from "../../kit/scroll";
import { digitValue, lowerDigits, offsetText, parseHex, spacedHex, spoken, upperDigits } from "../../kit/hextext";

export type { ByteRange } from "./marks";
export { type HexMessage, noMessage } from "./message";
export { parseHex, spacedHex } from "../../kit/hextext";

/** Events of the grid. */
export interface HexEvents {
  /** The pointer is over a byte, or over none. */
  hover(byte: number | null): void;
  /**
   * The user selected bytes [start, end); the caret is on one of them, or after the last byte while editing. A "click" is one byte that
   * the page may widen to its field; "drag" includes Shift+click. The grid shows the selection already.
   */
  select(start: number, end: number, caret: number, how: "click" | "drag" | "keyboard"): void;
  /** The whole message after an edit, and the range of new bytes. The grid shows it already; the page may keep the array. */
  edit(data: Uint8Array, start: number, end: number): void;
  /** Ctrl+Z. */
  undo(): void;
  /** Ctrl+Y or Ctrl+Shift+Z. */
  redo(): void;
  /** The menu of a byte: by the right mouse button, or by the keyboard at the caret. */
  menu?(byte: number, at: { x: number; y: number }): void;
  /** A message for the user, such as why a paste was refused. */
  notice(text: string): void;
  /** Edit mode or insert mode started or ended. */
  mode?(editing: boolean, insert: boolean): void;
  /** The user wants offsets to be written in another way. */
  offsets?(): void;
  /** Whether bytes may be edited; by default they may. */
  mayEdit?(): boolean;
}

/** Display settings of the grid. */
export interface HexSettings {
  /** Bytes per row; 0 fills the width. */
  columns: 8 | 16 | 32 | 0;
  /** Upper-case digits. */
  upper: boolean;
  /** Decimal offsets. */
  decimal: boolean;
}

/** The selected bytes [start, end) and the byte of the caret. */
export interface HexSelection extends ByteRange {
  caret: number;
}

const spareRows = 4; // drawn above and below the view
const mostRows = 400; // at most, if the page gives the grid no height

let grids = 0; // distinguishes the ids of several grids

function division(className: string, role: string): HTMLElement {
  const element = document.createElement("div");
  element.className = className;
  element.setAttribute("role", role);
  return element;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

/** A grid of bytes inside an element. It fills the height of the element, or takes the height it needs, up to that of the window. */
export class HexGrid {
  /** The settings; change them through apply. */
  settings: HexSettings = { columns: 0, upper: false, decimal: false };

  private readonly events: HexEvents;
  private readonly ids = `hex${++grids}`;
  private readonly outer = document.createElement("div");
  private readonly box = division("hex-scroll", "grid");
  private readonly space = division("hex-space", "presentation");
  private readonly body = division("hex-rows", "rowgroup");
  private readonly modeLine = division("hex-mode", "status");
  private head = newRow(0, "columnheader");
  private readonly rows = new Rows(this.body);
  private readonly scroll = new Scroll(this.box, this.space);
  private readonly marks = new Marks();
  private readonly watcher = new ResizeObserver(() => this.layout());
  private readonly stopped = new AbortController();

  private message: HexMessage = noMessage;
  private lights: readonly ByteRange[] = [];
  private aims: readonly ByteRange[] = [];
  private hits: Ranges = noRanges;
  private bookmarks: readonly (ByteRange & { hue: number })[] = [];
  private peers: readonly (ByteRange & { color: number })[] = [];
  private range: ByteRange = { start: 0, end: 0 };
  private caret = 0;
  private anchor = 0; // fixed end of the selection; Shift moves the other
  private headByte = 0;
  private meant = false; // the selection was made explicitly, so an edit applies to all of it, not to the byte of the caret
  private edits = false;
  private insert = false;
  private over = false; // the last key was Ctrl+Shift+V, which pastes over the selected bytes
  private lowNibble = false; // the next digit is the second of its byte
  private hovered: number | null = null;
  private drag: { byte: number; chars: boolean; moved: boolean; extends: boolean; x: number; y: number } | undefined;
  private dragFrame = 0;
  private styleKey = "";
  private columns = 16;
  private awaited = false;
  private spokenCell: HTMLElement | undefined;

  /** Adds an empty grid to an element. */
  constructor(host: HTMLElement, events: HexEvents) {
    this.events = events;
    this.outer.className = "hexgrid";
    this.box.tabIndex = 0;
    this.box.setAttribute("aria-label", "Bytes");
    this.box.setAttribute("aria-multiselectable", "true");
    this.space.append(this.body);
    this.box.append(this.head.element, this.space);
    this.outer.append(this.box, this.modeLine);
    host.append(this.outer);
    this.listen();
    this.layout();
    this.watcher.observe(this.box);
    this.watcher.observe(this.outer);
  }

  /** The selection and the caret. */
  get selection(): HexSelection {
    return { start: this.range.start, end: this.range.end, caret: this.caret };
  }

  /** The shown bytes, with edits. */
  get data(): Uint8Array {
    return this.message.data;
  }

  /** Overwrites bytes as an edit by the user; the selection stays. */
  replace(at: number, bytes: Uint8Array): void {
    this.message = edited(this.message, at, bytes.length, bytes);
    this.later();
    this.events.edit(this.message.data, at, at + bytes.length);
  }

  /** Whether the grid is in edit mode. */
  get editing(): boolean {
    return this.edits;
  }

  /** Shows a message. With `scroll` it is a change of the same message: scroll position, selection and edit mode stay. */
  show(m: HexMessage, keep: { scroll: boolean }): void {
    this.message = m;
    if (!keep.scroll) {
      this.setEditing(false);
      this.lights = [];
      this.aims = [];
      this.put(0, 0, 0);
    }
    this.fit();
    this.layout();
    if (!keep.scroll) {
      this.scroll.moveTo(0);
      this.box.scrollLeft = 0;
    }
  }

  /** Outlines bytes under the pointer, here or in another pane. */
  light(ranges: readonly ByteRange[]): void {
    this.lights = ranges;
    this.later();
  }

  /** Outlines bytes with dashes: the target of a count or an offset under the pointer. */
  aim(ranges: readonly ByteRange[]): void {
    this.aims = ranges;
    this.later();
  }

  /** Marks bookmarked bytes. */
  bookmark(bookmarks: readonly (ByteRange & { hue: number })[]): void {
    this.bookmarks = bookmarks;
    this.later();
  }

  /** Marks the bytes where others are. */
  setPeers(peers: readonly (ByteRange & { color: number })[]): void {
    this.peers = peers;
    this.later();
  }

  /** Marks what a search has found. */
  found(hits: Ranges): void {
    this.hits = hits;
    this.later();
  }

  /**
   * Selects bytes without an event. With a caret the range is only displayed, and an edit applies to the byte of the caret: a page that
   * widens a selection to a field passes the caret of the event. Without one the caret goes to the start, and an edit applies to the whole
   * range.
   */
  select(start: number, end: number, o: { reveal: boolean; caret?: number }): void {
    const size = this.message.data.length;
    const from = clamp(start, 0, size);
    const to = clamp(end, from, size);
    if (from !== this.range.start || to !== this.range.end) {
      this.anchor = from;
      this.headByte = Math.max(from, to - 1);
      this.meant = o.caret === undefined;
    }
    this.range = { start: from, end: to };
    this.moveCaret(o.caret ?? from);
    if (o.reveal) {
      this.scroll.reveal(this.rowOf(Math.max(from, to - 1)));
      this.revealByte(from);
    }
    this.later();
  }

  /** Starts or ends edit mode; it starts overwriting, or inserting if there is nothing to overwrite. */
  setEditing(on: boolean): void {
    if (on === this.edits || (on && this.events.mayEdit?.() === false)) {
      return;
    }
    this.edits = on;
    this.setMode(on && this.message.data.length === 0);
    this.fit();
    this.layout();
  }

  /** Applies settings. The first byte in view stays in view. Stored settings may be invalid; unknown values are replaced by defaults. */
  apply(settings: HexSettings): void {
    const { columns, upper, decimal } = settings;
    this.settings = { columns: [8, 16, 32].includes(columns) ? columns : 0, upper: upper === true, decimal: decimal === true };
    this.layout();
  }

  /** Focuses the grid. */
  focus(): void {
    this.box.focus({ preventScroll: true });
  }

  /** Removes the grid. */
  destroy(): void {
    this.stopped.abort();
    this.watcher.disconnect();
    this.scroll.stop();
    cancelAnimationFrame(this.dragFrame);
    this.outer.remove();
  }

  // Drawing

  private later(): void {
    if (!this.awaited) {
      this.awaited = true;
      queueMicrotask(() => {
        if (this.awaited) {
          this.draw(true);
        }
      });
    }
  }

  private get last(): number {
    const size = this.message.data.length;
    return this.edits ? size : Math.max(0, size - 1);
  }

  private get rowCount(): number {
    return Math.max(1, Math.ceil((this.message.data.length + (this.edits ? 1 : 0)) / this.columns));
  }

  private rowOf(byte: number): number {
    return Math.floor(byte / this.columns);
  }

  /** Limits selection and caret to the message. */
  private fit(): void {
    const size = this.message.data.length;
    this.range = { start: Math.min(this.range.start, size), end: Math.min(this.range.end, size) };
    this.anchor = Math.min(this.anchor, this.last);
    this.headByte = Math.min(this.headByte, this.last);
    if (this.caret > this.last) {
      this.moveCaret(this.last);
    }
    if (this.caret >= size) {
      this.lowNibble = false;
    }
  }

  private layout(): void {
    this.restyle(this.columns);
    let headBox = this.head.element.getBoundingClientRect();
    if (headBox.height === 0) {
      return; // not visible; the observer calls again
    }
    this.bleed(headBox.height);
    const columns = this.settings.columns === 0 ? this.columnsThatFit() : this.settings.columns;
    if (columns !== this.columns) {
      const byte = Math.round(this.scroll.top / this.scroll.rowPx) * this.columns;
      this.restyle(columns);
      headBox = this.head.element.getBoundingClientRect();
      this.scroll.resize(this.rowCount, headBox.height, this.box.clientHeight - headBox.height);
      this.scroll.moveTo(this.rowOf(byte) * headBox.height);
    } else {
      this.scroll.resize(this.rowCount, headBox.height, this.box.clientHeight - headBox.height);
    }
    this.box.setAttribute("aria-rowcount", String(this.rowCount + 1));
    this.draw(true);
  }

  /** Makes the cells, which have the height of their font, as high as their row. */
  private bleed(rowPx: number): void {
    const corner = this.head.chars[0]?.element;
    if (corner !== undefined) {
      const style = getComputedStyle(corner);
      const fontPx = corner.getBoundingClientRect().height - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
      const seams = Math.abs(rowPx * devicePixelRatio - Math.round(rowPx * devicePixelRatio)) > 0.01;
      this.outer.style.setProperty("--bleed", `${Math.max(0, rowPx - fontPx) / 2 + (seams ? 0.5 / devicePixelRatio : 0)}px`);
    }
  }

  /** How many bytes fit in a row, measured on the existing row. */
  private columnsThatFit(): 8 | 16 | 32 {
    const byte = this.head.bytes[0]?.element.getBoundingClientRect();
    const chars = this.head.chars[0]?.element.parentElement?.getBoundingClientRect();
    const off = this.head.offset.getBoundingClientRect();
    if (byte === undefined || chars === undefined) {
      return 16;
    }
    const character = chars.width / this.columns;
    const now = chars.right - off.left + 2 * (off.left - this.head.element.getBoundingClientRect().left);
    const needed = (n: number): number =>
      now + (n - this.columns) * (byte.width + character) + ((n - this.columns) / 8) * character;
    const room = this.box.clientWidth;
    return needed(32) <= room ? 32 : needed(16) <= room ? 16 : 8;
  }

  /** Rebuilds head and rows for a number of columns and the settings. */
  private restyle(columns: number): void {
    const { upper, decimal } = this.settings;
    const largest = this.last - (this.last % columns);
    const offsetDigits = Math.max(4, offsetText(largest, 1, decimal).length);
    const key = `${columns} ${upper} ${decimal} ${offsetDigits}`;
    if (key === this.styleKey) {
      return;
    }
    this.styleKey = key;
    this.columns = columns;
    const digits = upper ? upperDigits : lowerDigits;
    this.rows.restyle({ columns, digits, offsetDigits, decimal });
    const head = newRow(columns, "columnheader");
    head.element.classList.add("head");
    head.element.setAttribute("aria-rowindex", "1");
    head.offset.className = "off";
    head.offset.textContent = decimal ? "dec" : "hex";
    head.offset.title = `Offsets are ${decimal ? "decimal" : "hex"}; click to change`;
    head.bytes.forEach((c, i) => {
      c.text.data = i.toString(decimal ? 10 : 16).padStart(2);
      c.element.className = "hx";
    });
    head.chars.forEach((c) => {
      c.element.className = "asc";
      c.text.data = "\u00a0";
    });
    this.head.element.replaceWith(head.element);
    this.head = head;
    this.outer.style.setProperty("--digits", String(offsetDigits));
    this.box.setAttribute("aria-colcount", String(columns + 1));
  }

  private draw(all: boolean): void {
    if (all) {
      this.awaited = false;
    }
    const { rowPx, viewPx, top } = this.scroll;
    if (rowPx <= 1) {
      return;
    }
    const rows = this.rowCount;
    const wanted = Math.min(mostRows, Math.ceil(viewPx / rowPx) + 2 * spareRows);
    // The first row is even: row heights may be half pixels.
    const first = clamp((Math.floor(top / rowPx) - spareRows) & ~1, 0, Math.max(0, rows - wanted) & ~1);
    const count = Math.min(wanted + 1, rows - first);
    this.marks.set(first, count, this.columns, { selection: this.range, light: this.lights, aim: this.aims, hits: this.hits, bookmarks: this.bookmarks, peers: this.peers });
    const { message, marks, caret } = this;
    this.rows.draw(first, count, { message, marks, caret, caretLook: this.caretLook() }, all);
    this.body.style.setProperty("transform", `translateY(${this.scroll.place(first)}px)`);
    this.head.bytes.forEach((c, i) => c.element.classList.toggle("now", i === caret % this.columns));
    this.speak();
  }

  private caretLook(): string {
    return ` caret${this.edits ? (this.insert ? " insert" : " over") : ""}${this.lowNibble ? " low" : ""}`;
  }

  /** Announces the byte of the caret to screen readers: only its cell has an id and a label. */
  private speak(): void {
    const cell = this.rows.cellOf(this.caret);
    const old = this.spokenCell;
    if (old !== undefined && old !== cell) {
      old.removeAttribute("id");
      old.removeAttribute("aria-label");
      old.removeAttribute("aria-selected");
    }
    this.spokenCell = cell;
    if (cell === undefined) {
      this.box.removeAttribute("aria-activedescendant");
      return;
    }
    cell.id = `${this.ids}-caret`;
    cell.setAttribute("aria-label", spoken(this.message.data, this.caret));
    cell.setAttribute("aria-selected", String(this.caret >= this.range.start && this.caret < this.range.end));
    this.box.setAttribute("aria-activedescendant", cell.id);
  }

  private revealByte(byte: number): void {
    this.scroll.reveal(this.rowOf(byte));
    const cell = this.head.bytes[byte % this.columns]?.element;
    if (cell !== undefined && this.box.scrollWidth > this.box.clientWidth) {
      const { left, right } = cell.getBoundingClientRect();
      const view = this.box.getBoundingClientRect();
      this.box.scrollLeft += Math.max(0, right - view.left - this.box.clientWidth) - Math.max(0, view.left - left);
    }
  }

  // Selection

  private moveCaret(byte: number): void {
    if (byte !== this.caret) {
      this.lowNibble = false;
    }
    this.caret = clamp(byte, 0, this.last);
  }

  /** Selects from the anchor to the head, both inclusive. */
  private put(anchor: number, head: number, caret: number): void {
    const size = this.message.data.length;
    this.anchor = anchor;
    this.headByte = head;
    this.range = { start: Math.min(anchor, head, size), end: Math.min(Math.max(anchor, head) + 1, size) };
    this.moveCaret(caret);
    this.later();
  }

  private tell(how: "click" | "drag" | "keyboard"): void {
    this.events.select(this.range.start, this.range.end, this.caret, how);
  }

  /** Moves the caret by keyboard. */
  private go(byte: number, extend: boolean): void {
    if (extend) {
      const head = clamp(byte, 0, Math.max(0, this.message.data.length - 1));
      this.put(this.anchor, head, head);
    } else {
      const caret = clamp(byte, 0, this.last);
      this.lowNibble = false;
      this.put(caret, caret, caret);
    }
    this.meant = extend;
    this.revealByte(this.caret);
    this.tell("keyboard");
  }

  /** The byte a number of rows up or down in the same column, if it exists. */
  private rowsFrom(byte: number, rows: number): number {
    const row = clamp(this.rowOf(byte) + rows, 0, this.rowOf(this.last));
    return Math.min(row * this.columns + (byte % this.columns), this.last);
  }

  // Editing

  private setMode(insert: boolean): void {
    this.insert = insert;
    this.lowNibble = false;
    this.outer.classList.toggle("editing", this.edits);
    if (this.edits) {
      const tag = document.createElement("span");
      tag.className = "tag";
      tag.textContent = `editing · ${insert ? "insert" : "overwrite"}`;
      const hint = document.createElement("span");
      hint.className = "note";
      hint.textContent = `Insert key: ${insert ? "overwrite" : "insert"} · Esc: done`;
      this.modeLine.replaceChildren(tag, hint);
    } else {
      this.modeLine.replaceChildren();
    }
    this.events.mode?.(this.edits, insert);
    this.later();
  }

  /** Replaces bytes, moves the caret and notifies the page. */
  private change(at: number, removed: number, inserted: Uint8Array, caret: number, lowNibble: boolean): void {
    this.message = edited(this.message, at, removed, inserted);
    this.meant = false;
    this.put(caret, caret, caret);
    this.lowNibble = lowNibble;
    if (removed === inserted.length) {
      this.later();
    } else {
      this.layout();
    }
    this.revealByte(this.caret);
    this.events.edit(this.message.data, at, at + inserted.length);
    this.tell("keyboard");
  }

  /** The range that an edit applies to: an explicit selection, otherwise the byte of the caret, which may not exist. */
  private target(): ByteRange {
    const { start, end } = this.range;
    if (this.meant && end - start > 1) {
      return { start, end };
    }
    return { start: this.caret, end: Math.min(this.caret + 1, this.message.data.length) };
  }

  private type(digit: number): void {
    const { data } = this.message;
    const { start, end } = this.target();
    if (this.lowNibble) {
      this.change(start, 1, Uint8Array.of(((data[start] ?? 0) & 0xf0) | digit), start + 1, false);
    } else if (this.insert) {
      this.change(start, end - start > 1 ? end - start : 0, Uint8Array.of(digit << 4), start, true);
    } else if (start >= data.length) {
      this.events.notice("End of the message: press Insert to add bytes.");
    } else {
      this.change(start, 1, Uint8Array.of((digit << 4) | ((data[start] ?? 0) & 0x0f)), start, true);
    }
  }

  private erase(backwards: boolean): void {
    let { start, end } = this.target();
    const many = end - start > 1;
    if (backwards && !many && !this.lowNibble) {
      end = start;
      start -= 1;
    }
    if (start < 0 || end <= start) {
      return;
    }
    if (this.insert) {
      this.change(start, end - start, new Uint8Array(), start, false);
    } else {
      this.change(start, end - start, new Uint8Array(end - start), backwards || many ? start : end, false);
    }
  }

  /** Overwrites the selected bytes, or those from the caret on, with bytes in hex; in insert mode it makes room for them. */
  paste(text: string): void {
    const bytes = parseHex(text);
    if (typeof bytes === "string") {
      this.events.notice(`Not pasted: ${bytes}.`);
      return;
    }
    const { start, end } = this.target();
    const left = this.message.data.length - start;
    if (this.insert) {
      this.change(start, end - start > 1 ? end - start : 0, bytes, start + bytes.length, false);
    } else if (bytes.length > left) {
      this.events.notice(
        `Not pasted: ${bytes.length} bytes over ${left}. Press Insert to make room for them.`,
      );
    } else {
      this.change(start, bytes.length, bytes, start + bytes.length, false);
    }
  }

  // Events

  private listen(): void {
    const { signal } = this.stopped;
    const on = <K extends keyof HTMLElementEventMap>(
      type: K,
      listener: (event: HTMLElementEventMap[K]) => void,
      o: AddEventListenerOptions = {},
    ): void => this.box.addEventListener(type, listener, { ...o, signal });
    on("scroll", () => {
      this.scroll.follow();
      this.draw(false);
    }, { passive: true });
    on("pointermove", (event) => this.pointerMoved(event));
    on("pointerleave", () => this.hover(null));
    on("pointerdown", (event) => this.pressed(event));
    on("pointerup", () => this.released(true));
    on("pointercancel", () => this.released(false));
    on("click", (event) => this.clicked(event));
    on("dblclick", (event) => this.doubleClicked(event));
    on("contextmenu", (event) => this.contextMenu(event));
    on("keydown", (event) => {
      this.over = event.shiftKey && event.key.toLowerCase() === "v";
      if (!event.isComposing && !event.defaultPrevented && this.key(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    on("copy", (event) => this.copy(event));
    on("cut", (event) => {
      this.copy(event);
      if (this.edits) {
        this.erase(false);
      }
    });
    on("paste", (event) => {
      if (this.edits || this.over && this.events.mayEdit?.() !== false) { // otherwise the page takes it in the place of all bytes
        event.preventDefault();
        this.paste(event.clipboardData?.getData("text/plain") ?? "");
      }
    });
  }

  private contextMenu(event: MouseEvent): void {
    if (this.events.menu === undefined || event.shiftKey || this.message.data.length === 0) {
      return; // Shift: the menu of the browser
    }
    const under = this.byteUnder(event);
    if (under === undefined && event.button === 2 && event.target instanceof Element && event.target.closest(".hex-line") !== null) {
      return; // an offset
    }
    event.preventDefault();
    this.events.menu(under ?? this.caret, under === undefined ? this.pointOf(this.caret) : { x: event.clientX, y: event.clientY });
  }

  /** The lower left corner of a byte in the window, or of the grid if the byte is not in view. */
  pointOf(byte: number): { x: number; y: number } {
    const box = (this.rows.cellOf(byte) ?? this.box).getBoundingClientRect();
    return { x: box.left, y: Math.min(box.bottom, innerHeight) };
  }

  private copy(event: ClipboardEvent): void {
    const { start, end } = this.range;
    const { data } = this.message;
    event.clipboardData?.setData("text/plain", spacedHex(end > start ? data.subarray(start, end) : data));
    event.preventDefault();
  }

  private hover(byte: number | null): void {
    if (byte !== this.hovered) {
      this.hovered = byte;
      this.events.hover(byte);
    }
  }

  private byteUnder(event: Event): number | undefined {
    return event.target instanceof Element ? this.rows.byteOf(event.target) : undefined;
  }

  /** The byte in view nearest to a point of the window. */
  private byteNear(x: number, y: number, chars: boolean): number {
    const view = this.space.getBoundingClientRect().top + this.box.scrollTop; // top of the rows in view
    const inside = clamp(y - view, 0, this.scroll.viewPx - 1);
    const row = Math.floor((this.scroll.top + inside) / this.scroll.rowPx);
    return clamp(row * this.columns + this.rows.columnAt(x, chars), 0, Math.max(0, this.message.data.length - 1));
  }

  private pressed(event: PointerEvent): void {
    const byte = this.byteUnder(event);
    // Touch scrolls; a tap arrives as a click.
    if (event.button !== 0 || event.pointerType === "touch" || byte === undefined || !(event.target instanceof Element)) {
      return;
    }
    this.drag = {
      byte,
      chars: event.target.classList.contains("asc"),
      moved: false,
      extends: event.shiftKey,
      x: event.clientX,
      y: event.clientY,
    };
    this.box.setPointerCapture(event.pointerId);
    this.lowNibble = false;
    if (event.shiftKey) {
      this.put(this.anchor, byte, byte);
      this.meant = true;
    } else {
      this.put(byte, byte, byte);
      this.meant = false;
    }
  }

  private pointerMoved(event: PointerEvent): void {
    const { drag } = this;
    if (drag === undefined) {
      this.hover(this.byteUnder(event) ?? null);
      return;
    }
    drag.x = event.clientX;
    drag.y = event.clientY;
    this.dragTo();
    if (this.dragFrame === 0) {
      this.dragFrame = requestAnimationFrame(() => this.dragOn());
    }
  }

  private dragTo(): void {
    const { drag } = this;
    if (drag === undefined) {
      return;
    }
    const byte = this.byteNear(drag.x, drag.y, drag.chars);
    this.hover(byte);
    if (byte !== this.headByte) {
      drag.moved = true;
      this.put(this.anchor, byte, byte);
      this.meant = true;
      this.tell("drag");
    }
  }

  /** Scrolls while the pointer is held above or below the view, faster with distance. */
  private dragOn(): void {
    this.dragFrame = 0;
    const { drag } = this;
    if (drag === undefined) {
      return;
    }
    const view = this.box.getBoundingClientRect();
    const upper = view.top + this.scroll.rowPx; // below the head of one row
    const lower = view.top + this.box.clientHeight;
    const beyond = drag.y < upper ? drag.y - upper : Math.max(0, drag.y - lower);
    if (beyond !== 0) {
      this.scroll.moveTo(this.scroll.top + clamp(beyond / 4, -60, 60));
      this.draw(false);
      this.dragTo();
      this.dragFrame = requestAnimationFrame(() => this.dragOn());
    }
  }

  private released(done: boolean): void {
    const { drag } = this;
    this.drag = undefined;
    if (drag !== undefined && done) {
      if (drag.extends && !drag.moved) {
        this.tell("drag");
      } else if (!drag.moved) {
        this.tell("click");
      }
    }
  }

  private clicked(event: MouseEvent): void {
    if (event.target instanceof Element && event.target.closest(".off") !== null) {
      this.events.offsets?.();
      return;
    }
    const byte = this.byteUnder(event);
    if (event instanceof PointerEvent && event.pointerType === "touch" && byte !== undefined) {
      this.meant = false;
      this.put(byte, byte, byte);
      this.tell("click");
    }
  }

  private doubleClicked(event: MouseEvent): void {
    if (event.button === 0 && !(event.target instanceof Element && event.target.closest(".off, .head") !== null)) {
      this.setEditing(true);
    }
  }

  /** Handles a key; returns whether the grid uses it. */
  private key(event: KeyboardEvent): boolean {
    const command = event.ctrlKey || event.metaKey;
    if (event.altKey) {
      return false;
    }
    if (command) {
      return this.commandKey(event);
    }
    const { shiftKey: extend } = event;
    const from = extend ? this.headByte : this.caret;
    const page = Math.max(1, Math.floor(this.scroll.viewPx / this.scroll.rowPx) - 1);
    const rowStart = from - (from % this.columns);
    switch (event.key) {
      case "ArrowLeft":
        this.go(from - 1, extend);
        return true;
      case "ArrowRight":
        this.go(from + 1, extend);
        return true;
      case "ArrowUp":
        this.go(this.rowsFrom(from, -1), extend);
        return true;
      case "ArrowDown":
        this.go(this.rowsFrom(from, 1), extend);
        return true;
      case "PageUp":
        this.go(this.rowsFrom(from, -page), extend);
        return true;
      case "PageDown":
        this.go(this.rowsFrom(from, page), extend);
        return true;
      case "Home":
        this.go(rowStart, extend);
        return true;
      case "End":
        this.go(rowStart + this.columns - 1, extend);
        return true;
      case "Enter":
        this.setEditing(!this.edits);
        return true;
      case "Escape":
        return this.escape();
      default:
        return this.edits && this.editKey(event.key);
    }
  }

  private commandKey(event: KeyboardEvent): boolean {
    switch (event.key) {
      case "Home":
        this.go(0, event.shiftKey);
        return true;
      case "End":
        this.go(this.last, event.shiftKey);
        return true;
    }
    switch (event.key.toLowerCase()) {
      case "a":
        this.put(0, Math.max(0, this.message.data.length - 1), 0);
        this.meant = true;
        this.tell("keyboard");
        return true;
      case "z":
        if (event.shiftKey) {
          this.events.redo();
        } else {
          this.events.undo();
        }
        return true;
      case "y":
        this.events.redo();
        return true;
      default:
        return false;
    }
  }

  private editKey(key: string): boolean {
    switch (key) {
      case "Insert":
        this.meant = false;
        this.setMode(!this.insert);
        this.put(this.caret, this.caret, this.caret);
        return true;
      case "Delete":
        this.erase(false);
        return true;
      case "Backspace":
        this.erase(true);
        return true;
    }
    const digit = digitValue(key);
    if (digit >= 0) {
      this.type(digit);
    }
    return key.length === 1; // letters are not shortcuts of the page in edit mode
  }

  private escape(): boolean {
    if (this.edits) {
      this.setEditing(false);
      return true;
    }
    const { start, end } = this.range;
    if (end === start) {
      return false;
    }
    this.range = { start: this.caret, end: this.caret };
    this.anchor = this.caret;
    this.headByte = this.caret;
    this.meant = false;
    this.later();
    this.tell("keyboard");
    return true;
  }
}
