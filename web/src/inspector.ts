// The data inspector: the bytes at one offset in all common interpretations.
//
//   .inspector > .inspect-head > .place, .ok[role=status]; table > tbody > tr > th, td > button.val
//
// The table is built once; only its texts change. It is one tab stop: arrow keys move between values.

import { hexNumber } from "./hex/text";

const textLimit = 32; // of text shown

/** The bytes from an offset on, and the number of selected ones. */
interface Place {
  data: Uint8Array;
  view: DataView;
  selected: Uint8Array;
}

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

/** Text with invisible characters escaped, truncated if long. */
function text(whole: string): Reading {
  const all = Array.from(whole);
  const shown = all
    .slice(0, textLimit)
    .map((c) => (c === "\ufffd" || /[\p{C}\p{Zl}\p{Zp}]/u.test(c) ? (escapes.get(c) ?? escape(c)) : c))
    .join("");
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
  const order = little ? [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] : Array.from({ length: 16 }, (_, i) => i);
  const digits = order.map((i) => (data[i] ?? 0).toString(16).padStart(2, "0")).join("");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
}

// Interpretations of one byte or of text, without byte order.
const plain: readonly Way[] = [
  { name: "length", title: "Selected bytes", bytes: 0, read: ({ selected }) => {
    const n = selected.length;
    return n === 0 ? null : { shown: `${n} (0x${n.toString(16)})`, copied: String(n) };
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

function create<K extends keyof HTMLElementTagNameMap>(parent: Element, tag: K, className = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") {
    element.className = className;
  }
  parent.append(element);
  return element;
}

/** Copies text, also without HTTPS. */
async function copy(value: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(value);
      return true;
    } catch {
      // Not permitted; execCommand may be.
    }
  }
  const put = (event: ClipboardEvent): void => {
    event.clipboardData?.setData("text/plain", value);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("copy", put, { capture: true, once: true });
  const done = document.execCommand("copy");
  document.removeEventListener("copy", put, { capture: true });
  return done;
}

/** A table of interpretations of the bytes at an offset. */
export class Inspector {
  private readonly outer = document.createElement("div");
  private readonly place: HTMLElement;
  private readonly note: HTMLElement;
  private readonly lines: Cell[][] = []; // in table order
  private readonly cells = new Map<Element, Cell>();
  private noteTimer = 0;

  /** Adds the table, without values, to an element. */
  constructor(host: HTMLElement) {
    this.outer.className = "inspector";
    const head = create(this.outer, "div", "inspect-head");
    this.place = create(head, "span", "place");
    this.note = create(head, "span", "ok");
    this.note.setAttribute("role", "status");
    this.table();
    host.append(this.outer);
    this.outer.addEventListener("click", (event) => {
      const cell = event.target instanceof Element ? this.cells.get(event.target) : undefined;
      if (cell !== undefined) {
        void this.copy(cell);
      }
    });
    this.outer.addEventListener("keydown", (event) => this.key(event));
    this.outer.addEventListener("focusin", (event) => {
      const cell = event.target instanceof Element ? this.cells.get(event.target) : undefined;
      if (cell !== undefined) {
        this.cells.forEach(({ button }) => (button.tabIndex = button === cell.button ? 0 : -1));
      }
    });
    this.show(new Uint8Array(), 0, 0);
  }

  /** Shows the interpretations of the bytes from `at` on; those up to `end` are selected. */
  show(data: Uint8Array, at: number, end: number): void {
    const rest = data.subarray(Math.min(at, data.length));
    const place: Place = {
      data: rest,
      view: new DataView(rest.buffer, rest.byteOffset, rest.byteLength),
      selected: data.subarray(Math.min(at, data.length), Math.min(Math.max(at, end), data.length)),
    };
    this.place.textContent = rest.length === 0 ? "no byte here" : `at ${hexNumber(at)} (${at})`;
    for (const cell of this.cells.values()) {
      const reading = rest.length < cell.way.bytes ? null : cell.way.read(place, cell.little);
      const shown = reading === null ? "–" : typeof reading === "string" ? reading : reading.shown;
      cell.copied = reading === null ? null : typeof reading === "string" ? reading : reading.copied;
      if (cell.button.textContent !== shown) {
        cell.button.textContent = shown;
      }
      cell.button.setAttribute("aria-disabled", String(reading === null));
    }
  }

  private table(): void {
    const table = create(this.outer, "table");
    table.setAttribute("aria-label", "Interpretations of the bytes");
    const columns = create(table, "colgroup");
    create(columns, "col", "names");
    create(columns, "col");
    create(columns, "col");
    const first = create(table, "tbody");
    plain.forEach((way) => this.line(first, way, [true]));
    const second = create(table, "tbody");
    const orders = create(second, "tr", "orders");
    create(orders, "td");
    for (const [short, long] of [["LE", "Little endian"], ["BE", "Big endian"]] as const) {
      const order = create(orders, "th");
      order.scope = "col";
      order.title = long;
      order.textContent = short;
    }
    ordered.forEach((way) => this.line(second, way, [true, false]));
    const start = this.lines[0]?.[0];
    if (start !== undefined) {
      start.button.tabIndex = 0;
    }
  }

  private line(body: HTMLElement, way: Way, orders: readonly boolean[]): void {
    const row = create(body, "tr", way.tall === true ? "tall" : "");
    const name = create(row, "th");
    name.scope = "row";
    name.title = way.title;
    name.textContent = way.name;
    this.lines.push(
      orders.map((little) => {
        const field = create(row, "td");
        field.colSpan = orders.length === 1 ? 2 : 1;
        const button = create(field, "button", "val");
        button.type = "button";
        button.tabIndex = -1;
        const cell: Cell = { button, way, little, copied: null };
        this.cells.set(button, cell);
        return cell;
      }),
    );
  }

  private async copy(cell: Cell): Promise<void> {
    const { copied } = cell;
    if (copied === null) {
      return;
    }
    const done = await copy(copied);
    this.note.textContent = done ? "copied" : "the browser does not allow copying";
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => (this.note.textContent = ""), 2000);
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    const row = this.lines.findIndex((line) => line.some(({ button }) => button === event.target));
    const column = this.lines[row]?.findIndex(({ button }) => button === event.target) ?? -1;
    if (row < 0) {
      return;
    }
    const to = (line: number, at: number): HTMLElement | undefined => {
      const cells = this.lines[Math.max(0, Math.min(line, this.lines.length - 1))] ?? [];
      return cells[Math.max(0, Math.min(at, cells.length - 1))]?.button;
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
      event.preventDefault();
      event.stopPropagation();
    }
  }
}
