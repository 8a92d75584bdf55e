// The rows of the grid in the page: those in view and a few more, reused while scrolling.

import type { Marks } from "./marks";
import type { HexMessage } from "./message";
import { characters, offsetText } from "../../kit/hextext";

/** The style of a row. */
export interface RowStyle {
  columns: number;
  digits: readonly string[]; // by byte value
  offsetDigits: number;
  decimal: boolean;
}

/** The content of all rows. */
export interface RowContent {
  message: HexMessage;
  marks: Marks;
  caret: number;
  /** Classes of the byte under the caret. */
  caretLook: string;
}

interface Cell {
  element: HTMLElement;
  text: Text;
  value: number; // the byte shown, or none
  look: string; // its classes
}

interface Row {
  element: HTMLElement;
  offset: HTMLElement;
  bytes: Cell[];
  chars: Cell[];
  index: number; // of the row in the message, -1 without content
}

const none = -1;
const unknown = -2; // not written yet

function cell(parent: HTMLElement, tag: string): Cell {
  const element = document.createElement(tag);
  const text = document.createTextNode("");
  element.append(text);
  parent.append(element);
  return { element, text, value: unknown, look: "" };
}

/** A row without bytes. */
export function newRow(columns: number, role: "rowheader" | "columnheader"): Omit<Row, "index"> {
  const element = document.createElement("div");
  element.className = "hex-line";
  element.setAttribute("role", "row");
  const offset = document.createElement("span");
  offset.className = "off";
  offset.setAttribute("role", role);
  element.append(offset);
  const bytes = Array.from({ length: columns }, (_, i) => {
    const byte = cell(element, "span");
    byte.element.setAttribute("role", role === "rowheader" ? "gridcell" : role);
    byte.element.setAttribute("aria-colindex", String(i + 2));
    return byte;
  });
  const ascii = document.createElement("span");
  ascii.className = "chars";
  ascii.setAttribute("aria-hidden", "true");
  element.append(ascii);
  const chars = Array.from({ length: columns }, () => cell(ascii, "i"));
  return { element, offset, bytes, chars };
}

function write(c: Cell, value: number, text: string, look: string): void {
  if (c.value !== value) {
    c.value = value;
    c.text.data = text;
  }
  if (c.look !== look) {
    c.look = look;
    c.element.className = look;
  }
}

/** The rows in the page. */
export class Rows {
  private readonly body: HTMLElement;
  private style: RowStyle = { columns: 16, digits: [], offsetDigits: 4, decimal: false };
  private rows: Row[] = []; // in page order
  private readonly places = new WeakMap<Element, { row: Row; column: number }>();

  constructor(body: HTMLElement) {
    this.body = body;
  }

  /** Sets the style; removes all rows until the next draw. */
  restyle(style: RowStyle): void {
    this.style = style;
    this.rows = [];
    this.body.replaceChildren();
  }

  /** Draws `count` rows from `first`; with `all` also unchanged ones. */
  draw(first: number, count: number, content: RowContent, all: boolean): void {
    this.resize(count);
    this.rotate(first);
    this.rows.forEach((row, i) => {
      if (all || row.index !== first + i) {
        this.paint(row, first + i, content);
      }
    });
  }

  private resize(count: number): void {
    while (this.rows.length > count) {
      this.rows.pop()?.element.remove();
    }
    while (this.rows.length < count) {
      const row: Row = { ...newRow(this.style.columns, "rowheader"), index: none };
      row.bytes.forEach((c, column) => this.places.set(c.element, { row, column }));
      row.chars.forEach((c, column) => this.places.set(c.element, { row, column }));
      this.rows.push(row);
      this.body.append(row.element);
    }
  }

  /** Moves rows that left the view on one side to the other side. */
  private rotate(first: number): void {
    const shift = first - (this.rows[0]?.index ?? first);
    if (shift === 0 || Math.abs(shift) >= this.rows.length || this.rows[0]?.index === none) {
      return;
    }
    if (shift > 0) {
      const moved = this.rows.splice(0, shift);
      this.body.append(...moved.map((row) => row.element));
      this.rows.push(...moved);
    } else {
      const moved = this.rows.splice(shift);
      this.body.prepend(...moved.map((row) => row.element));
      this.rows.unshift(...moved);
    }
  }

  private paint(row: Row, index: number, content: RowContent): void {
    const { message, marks, caret, caretLook } = content;
    const { columns, digits, offsetDigits, decimal } = this.style;
    const base = index * columns;
    if (row.index !== index) {
      row.index = index;
      row.offset.textContent = offsetText(base, offsetDigits, decimal);
      row.element.setAttribute("aria-rowindex", String(index + 2));
    }
    const now = caret >= base && caret < base + columns ? "off now" : "off";
    if (row.offset.className !== now) {
      row.offset.className = now;
    }
    for (let column = 0; column < columns; column++) {
      const byte = row.bytes[column];
      const char = row.chars[column];
      if (byte === undefined || char === undefined) {
        continue;
      }
      const at = base + column;
      const value = message.data[at];
      if (value === undefined) {
        write(byte, none, "  ", at === caret ? `hx${caretLook}` : "hx");
        write(char, none, " ", "asc");
        continue;
      }
      const starts = message.starts[at] ?? 0;
      const shared = marks.classes(at, column) + ((message.changed[at] ?? 0) === 0 ? "" : " new") + (at === caret ? caretLook : "");
      const tint = message.tints[message.tintOf[at] ?? 0] ?? "";
      const field = (starts & 1 ? " first" : "") + (starts & 2 ? " gap" : "") + (starts & 4 ? " past" : "");
      write(byte, value, digits[value] ?? "", `hx${tint === "" ? "" : ` ${tint}`}${field}${shared}`);
      write(char, value, characters[value] ?? "", `asc${starts & 4 ? " past" : ""}${shared}`);
    }
  }

  /** The byte of an element in the page, or undefined; a cell after the last byte has none. */
  byteOf(element: Element): number | undefined {
    const place = this.places.get(element);
    return place === undefined || place.row.index === none || (place.row.bytes[place.column]?.value ?? none) < 0
      ? undefined
      : place.row.index * this.style.columns + place.column;
  }

  /** The element of a byte, if it is in the page. */
  cellOf(byte: number): HTMLElement | undefined {
    const index = Math.floor(byte / this.style.columns);
    const row = this.rows[index - (this.rows[0]?.index ?? 0)];
    return row?.index === index ? row.bytes[byte % this.style.columns]?.element : undefined;
  }

  /** The column at a distance from the left edge of the window, among the bytes or their characters. */
  columnAt(x: number, chars: boolean): number {
    const cells = (chars ? this.rows[0]?.chars : this.rows[0]?.bytes) ?? [];
    let column = 0;
    cells.forEach((c, i) => {
      if (c.element.getBoundingClientRect().left <= x) {
        column = i;
      }
    });
    return column;
  }
}
