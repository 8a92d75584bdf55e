// The data inspector: the bytes at one offset in all common interpretations, each of which can be changed.
//
//   .inspector > .inspect-head > .place, .ok[role=status], [data-segments=order]; table > tbody > tr > th, td > button.val
//
// The table is built once; only its texts change. It is one tab stop: arrow keys move between values. A click copies a value; a double click,
// Enter or F2 change it.

import { copyText } from "../kit/copy/index";
import { make } from "../kit/dom";
import { editIn } from "./edit";
import { hexNumber } from "../kit/hextext";
import { guidOrder, type Place, writers } from "./hex/write";
import { openMenu } from "../kit/menu";
import { valueOf } from "../kit/numbers";

const textLimit = 32; // of text shown

/** A value as shown, and as copied if that differs; null if there are too few bytes or no valid value. */
type Reading = string | { shown: string; copied: string } | null;

interface Way {
  name: string;
  title: string;
  bytes: number; // required
  tall?: boolean; // too long for one line of a narrow pane
  read(p: Place, little: boolean): Reading;
}

interface Cell {
  button: HTMLButtonElement;
  field: HTMLTableCellElement;
  way: Way;
  little: boolean;
  copied: string | null;
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) {
    return fraction === 0 ? sign * Infinity : NaN;
  }
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The shortest text that reads back as the same number in its precision. */
function floatText(value: number, digits: number, same: (n: number) => boolean): string {
  if (!Number.isFinite(value) || value === 0) {
    return numberText(value);
  }
  for (let n = 1; n < digits; n++) {
    const rounded = Number(value.toPrecision(n));
    if (same(rounded)) {
      return numberText(rounded);
    }
  }
  return numberText(Number(value.toPrecision(digits)));
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

// 2000 to 2050. Dates outside are most likely not dates.
const earliest = Date.UTC(2000, 0, 1);
const latest = Date.UTC(2050, 0, 1);

function time(ms: number, fraction: boolean): Reading {
  if (!(ms >= earliest && ms < latest)) {
    return null;
  }
  const iso = new Date(ms).toISOString();
  return { shown: iso.slice(0, fraction ? 23 : 19).replace("T", " "), copied: fraction ? iso : `${iso.slice(0, 19)}Z` };
}

/** Text with invisible characters escaped. */
function escaped(text: string): string {
  return Array.from(text, (c) => (c === "\ufffd" || /[\p{C}\p{Zl}\p{Zp}]/u.test(c) ? (escapes.get(c) ?? escape(c)) : c)).join("");
}

/** Text with invisible characters escaped, truncated if long. */
function text(whole: string): Reading {
  const all = Array.from(whole);
  const shown = escaped(all.slice(0, textLimit).join(""));
  return all.length === 0 ? null : { shown: all.length > textLimit ? `${shown}…` : shown, copied: whole };
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["\0", "\\0"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\ufffd", "\ufffd"],
]);

function escape(c: string): string {
  const code = c.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** A character with its code point, or a text if several are selected. */
function characters(whole: string, one: boolean): Reading {
  const first = Array.from(whole)[0];
  if (!one || first === undefined) {
    return text(whole);
  }
  const code = `U+${(first.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const shown = text(first);
  return shown === null || typeof shown === "string" ? shown : { shown: `${shown.shown}  ${code}`, copied: first };
}

function utf8(p: Place): Reading {
  if (p.selected.length > 1) {
    return characters(new TextDecoder("utf-8", { ignoreBOM: true }).decode(p.selected), false);
  }
  const lead = p.data[0] ?? 0;
  const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  try {
    return characters(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(p.data.subarray(0, size)), true);
  } catch {
    return null;
  }
}

function utf16(p: Place, little: boolean): Reading {
  const decoder = new TextDecoder(little ? "utf-16le" : "utf-16be", { ignoreBOM: true });
  if (p.selected.length > 2) {
    return characters(decoder.decode(p.selected.subarray(0, p.selected.length & ~1)), false);
  }
  const pair = (p.view.getUint16(0, little) & 0xfc00) === 0xd800 ? 4 : 2;
  return characters(decoder.decode(p.data.subarray(0, pair)), true);
}

function guid(data: Uint8Array, little: boolean): string {
  const order = little ? guidOrder : guidOrder.map((_, i) => i);
  const digits = order.map((i) => (data[i] ?? 0).toString(16).padStart(2, "0")).join("");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
}

// Interpretations of one byte or of text, without byte order.
const plain: readonly Way[] = [
  { name: "length", title: "Selected bytes", bytes: 0, read: ({ selected }) => {
    const n = selected.length;
    return n === 0 ? null : { shown: `${n} (${hexNumber(n)})`, copied: String(n) };
  } },
  { name: "binary", title: "Bits of the byte", bytes: 1, read: ({ view }) => {
    const bits = view.getUint8(0).toString(2).padStart(8, "0");
    return { shown: `${bits.slice(0, 4)} ${bits.slice(4)}`, copied: bits };
  } },
  { name: "u8", title: "Unsigned, 8 bits", bytes: 1, read: ({ view }) => String(view.getUint8(0)) },
  { name: "i8", title: "Signed, 8 bits", bytes: 1, read: ({ view }) => String(view.getInt8(0)) },
  { name: "utf-8", title: "The character here, or the selected text", bytes: 1, read: utf8 },
];

const ordered: readonly Way[] = [
  { name: "u16", title: "Unsigned, 16 bits", bytes: 2, read: ({ view }, le) => String(view.getUint16(0, le)) },
  { name: "i16", title: "Signed, 16 bits", bytes: 2, read: ({ view }, le) => String(view.getInt16(0, le)) },
  { name: "u32", title: "Unsigned, 32 bits", bytes: 4, read: ({ view }, le) => String(view.getUint32(0, le)) },
  { name: "i32", title: "Signed, 32 bits", bytes: 4, read: ({ view }, le) => String(view.getInt32(0, le)) },
  { name: "u64", title: "Unsigned, 64 bits", bytes: 8, tall: true, read: ({ view }, le) => String(view.getBigUint64(0, le)) },
  { name: "i64", title: "Signed, 64 bits", bytes: 8, tall: true, read: ({ view }, le) => String(view.getBigInt64(0, le)) },
  { name: "f16", title: "Floating point, 16 bits", bytes: 2, read: ({ view }, le) => floatText(half(view.getUint16(0, le)), 5, () => false) },
  { name: "f32", title: "Floating point, 32 bits", bytes: 4, read: ({ view }, le) => {
    const value = view.getFloat32(0, le);
    return floatText(value, 9, (n) => Math.fround(n) === value);
  } },
  { name: "f64", title: "Floating point, 64 bits", bytes: 8, tall: true, read: ({ view }, le) => numberText(view.getFloat64(0, le)) },
  { name: "utf-16", title: "The character here, or the selected text", bytes: 2, read: utf16 },
  { name: "time s", title: "Seconds since 1970 as 32 bits, if that is between 2000 and 2050; UTC", bytes: 4, tall: true, read: ({ view }, le) => time(view.getUint32(0, le) * 1000, false) },
  { name: "time ms", title: "Milliseconds since 1970 as 64 bits, if that is between 2000 and 2050; UTC", bytes: 8, tall: true, read: ({ view }, le) => time(Number(view.getBigUint64(0, le)), true) },
  { name: "IPv4", title: "Address; big endian is network byte order", bytes: 4, read: ({ data }, le) => {
    const parts = Array.from(data.subarray(0, 4));
    return (le ? parts.reverse() : parts).join(".");
  } },
  { name: "GUID", title: "16 bytes; little endian is Microsoft's order", bytes: 16, tall: true, read: ({ data }, le) => guid(data, le) },
];

const inLine: readonly string[] = ["u8", "u16", "u32", "f32", "utf-8"];

const noPlace: Place = { all: new Uint8Array(), data: new Uint8Array(), view: new DataView(new ArrayBuffer(0)), selected: new Uint8Array() };

/** The shown byte orders; see segments.ts. */
function chosenOrder(): string {
  return document.documentElement.dataset["order"] ?? "both";
}

/** A table of interpretations of the bytes at an offset. */
export class Inspector {
  private readonly outer = make("div", "inspector");
  private readonly place = make("span", "place");
  private readonly note = make("span", "ok");
  private readonly write: (at: number, bytes: Uint8Array) => void;
  private readonly strip: HTMLElement | null; // the line
  private readonly lines: Cell[][] = []; // in table order
  private readonly cells = new Map<Element, Cell>();
  private noteTimer = 0;
  private shown: Place = noPlace;
  private at = 0;
  private writable = false;
  private cancel: (() => void) | undefined; // of the value being changed

  /** Adds the table, without values, to an element. write replaces bytes of the message; the values asked for most are also in a line. */
  constructor(host: HTMLElement, write: (at: number, bytes: Uint8Array) => void = () => undefined, line: HTMLElement | null = null) {
    this.write = write;
    this.strip = line;
    this.note.setAttribute("role", "status");
    const orders = make("span", "segments");
    orders.dataset["segments"] = "order";
    orders.setAttribute("role", "group");
    orders.setAttribute("aria-label", "Byte order");
    for (const [order, short, long] of [["le", "LE", "Little endian"], ["be", "BE", "Big endian"], ["both", "Both", "Both byte orders"]] as const) {
      const choice = make("button", "btn quiet", short);
      choice.type = "button";
      choice.title = long;
      choice.dataset["segment"] = order;
      choice.setAttribute("aria-pressed", String(order === chosenOrder()));
      orders.append(choice);
    }
    const head = make("div", "inspect-head");
    head.append(this.place, this.note, orders);
    this.outer.append(head, this.table());
    host.append(this.outer);
    const on = <K extends "click" | "dblclick" | "contextmenu" | "focusin">(type: K, run: (cell: Cell, event: HTMLElementEventMap[K]) => void): void =>
      this.outer.addEventListener(type, (event) => {
        const cell = event.target instanceof Element ? this.cells.get(event.target) : undefined;
        if (cell !== undefined) {
          run(cell, event);
        }
      });
    on("click", (cell) => void this.copy(cell));
    on("dblclick", (cell) => this.edit(cell));
    on("contextmenu", (cell, event) => {
      event.preventDefault();
      this.menu(cell, { x: event.clientX, y: event.clientY });
    });
    on("focusin", (cell) => this.cells.forEach(({ button }) => (button.tabIndex = button === cell.button ? 0 : -1)));
    this.outer.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("wb:segment", () => this.order());
    this.order();
    this.show(new Uint8Array(), 0, 0, false);
  }

  /** Shows the interpretations of the bytes from `at` on; those up to `end` are selected. */
  show(data: Uint8Array, at: number, end: number, writable = false): void {
    if (at !== this.at || data !== this.shown.all) {
      this.cancel?.();
    }
    const rest = data.subarray(Math.min(at, data.length));
    const place: Place = {
      all: data,
      data: rest,
      view: new DataView(rest.buffer, rest.byteOffset, rest.byteLength),
      selected: data.subarray(Math.min(at, data.length), Math.min(Math.max(at, end), data.length)),
    };
    this.shown = place;
    this.at = at;
    this.writable = writable;
    this.place.textContent = rest.length === 0 ? "no byte here" : `at ${hexNumber(at)} (${at})`;
    for (const cell of this.cells.values()) {
      const reading = rest.length < cell.way.bytes ? null : cell.way.read(place, cell.little);
      const shown = reading === null ? "–" : typeof reading === "string" ? (cell.way.name.startsWith("f") ? reading : valueOf(reading)) : reading.shown;
      cell.copied = reading === null ? null : typeof reading === "string" ? reading : reading.copied;
      if (cell.button.textContent !== shown) {
        cell.button.textContent = shown;
      }
      const editable = this.editable(cell);
      cell.button.classList.toggle("editable", editable);
      cell.button.setAttribute("aria-disabled", String(reading === null && !editable));
    }
    this.brief();
  }

  /** Writes the line: the values in one byte order, little endian if both are shown. */
  private brief(): void {
    const big = chosenOrder() === "be";
    const cells = [...this.cells.values()].filter(({ little, field, copied }) => copied !== null && (field.className === "all" || little !== big));
    const parts = inLine.flatMap((name) => cells.filter(({ way }) => way.name === name)).flatMap(({ way, button }) => [" ", make("span", "dim", way.name), ` ${button.textContent ?? ""}`]);
    const place = this.shown.data.length === 0 ? "no byte here" : `${hexNumber(this.at)} ${big ? "BE" : "LE"}`;
    const text = place + parts.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
    if (this.strip?.textContent !== text) { // otherwise a press on it would lose its target
      this.strip?.replaceChildren(make("span", "dim", place), ...parts);
    }
  }

  private editable({ way }: Cell): boolean {
    return this.writable && way.bytes > 0 && this.shown.data.length >= way.bytes;
  }

  private table(): HTMLTableElement {
    const table = make("table");
    table.setAttribute("aria-label", "Interpretations of the bytes");
    const columns = make("colgroup");
    columns.append(make("col", "names"), make("col", "le"), make("col", "be"));
    const first = make("tbody");
    first.append(...plain.map((way) => this.line(way, [true])));
    const second = make("tbody");
    const orders = make("tr", "orders");
    orders.append(make("td"));
    for (const [short, long, column] of [["LE", "Little endian", "le"], ["BE", "Big endian", "be"]] as const) {
      const order = make("th", column, short);
      order.scope = "col";
      order.title = long;
      orders.append(order);
    }
    second.append(orders, ...ordered.map((way) => this.line(way, [true, false])));
    table.append(columns, first, second);
    const start = this.lines[0]?.[0];
    if (start !== undefined) {
      start.button.tabIndex = 0;
    }
    return table;
  }

  private line(way: Way, orders: readonly boolean[]): HTMLTableRowElement {
    const row = make("tr", way.tall === true ? "tall" : "");
    const name = make("th", "", way.name);
    name.scope = "row";
    name.title = way.title;
    row.append(name);
    this.lines.push(
      orders.map((little) => {
        const field = make("td", orders.length === 1 ? "all" : little ? "le" : "be");
        const button = make("button", "val");
        button.type = "button";
        button.tabIndex = -1;
        field.append(button);
        row.append(field);
        const cell: Cell = { button, field, way, little, copied: null };
        this.cells.set(button, cell);
        return cell;
      }),
    );
    return row;
  }

  /** Shows the columns of the chosen byte order. */
  private order(): void {
    const order = chosenOrder();
    for (const element of this.outer.querySelectorAll<HTMLElement>(".le, .be")) {
      element.hidden = order !== "both" && !element.classList.contains(order);
    }
    for (const field of this.outer.querySelectorAll<HTMLTableCellElement>("td.all")) {
      field.colSpan = order === "both" ? 2 : 1;
    }
    this.brief();
  }

  private menu(cell: Cell, at: { x: number; y: number } | HTMLElement): void {
    openMenu(at, {
      label: cell.way.title,
      items: [
        { title: "Copy", disabled: cell.copied === null, run: () => void this.copy(cell) },
        { title: "Change …", hint: "Enter", disabled: !this.editable(cell), run: () => this.edit(cell) },
      ],
    });
  }

  private async copy(cell: Cell): Promise<void> {
    const { copied } = cell;
    if (copied !== null) {
      this.say((await copyText(copied)) ? "copied" : "the browser does not allow copying");
    }
  }

  private say(text: string): void {
    this.note.textContent = text;
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => (this.note.textContent = ""), 2000);
  }

  /** Changes a value in its place. */
  private edit(cell: Cell): void {
    const { way, button, field, little } = cell;
    const write = writers[way.name];
    if (write === undefined || !this.editable(cell)) {
      this.say(way.bytes === 0 ? "" : this.writable ? "too few bytes" : "these bytes cannot be changed");
      return;
    }
    const { at, shown } = this;
    const order = way.bytes === 1 ? "" : little ? ", little endian" : ", big endian";
    this.cancel?.();
    this.cancel = editIn(field, {
      text: escaped(cell.copied ?? ""),
      label: `New value of ${way.name}${order}`,
      commit: (typed) => {
        const bytes = write(typed, shown, little);
        if (typeof bytes === "string") {
          return bytes;
        }
        if (bytes.some((byte, i) => byte !== shown.data[i])) {
          this.cancel = undefined; // the field closes by itself
          this.write(at, bytes);
        }
        return "";
      },
      back: button,
      done: () => {
        this.cancel = undefined;
        field.replaceChildren(button);
      },
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || event.shiftKey) {
      return;
    }
    const row = this.lines.findIndex((line) => line.some(({ button }) => button === event.target));
    const cells = (this.lines[row] ?? []).filter(({ field }) => !field.hidden);
    const column = cells.findIndex(({ button }) => button === event.target);
    const cell = cells[column];
    if (cell === undefined) {
      return;
    }
    const used = (): void => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (event.ctrlKey) {
      if (event.key === "c") {
        used();
        void this.copy(cell);
      }
      return;
    }
    if (event.key === "Enter" || event.key === "F2") {
      used();
      this.edit(cell);
      return;
    }
    const to = (line: number, at: number): HTMLElement | undefined => {
      const there = (this.lines[Math.max(0, Math.min(line, this.lines.length - 1))] ?? []).filter(({ field }) => !field.hidden);
      return there[Math.max(0, Math.min(at, there.length - 1))]?.button;
    };
    const targets: Readonly<Record<string, HTMLElement | undefined>> = {
      ArrowUp: to(row - 1, column),
      ArrowDown: to(row + 1, column),
      ArrowLeft: to(row, column - 1),
      ArrowRight: to(row, column + 1),
      Home: to(0, column),
      End: to(this.lines.length - 1, column),
    };
    const target = targets[event.key];
    if (target !== undefined) {
      target.focus();
      used();
    }
  }
}
