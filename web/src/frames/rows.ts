// The rows in the page: those in view and a few more, reused while scrolling.

import type { CellContext, Column } from "./columns";
import type { FrameRow } from "../api/frames";
import { isBad } from "../kit/frametext";

/** The content of rows besides their frames. */
export interface RowContent {
  get(pos: number): FrameRow | undefined;
  context: CellContext;
  isSelected(pos: number): boolean;
  /** The markers before the frame at a position, or "". */
  flag(pos: number, frame: FrameRow): string;
  current: number;
  total: number;
}

interface Cell {
  element: HTMLElement;
  text: Text;
  look: string;
}

interface Row {
  element: HTMLElement;
  cells: Cell[];
  pos: number; // -1 if it shows none
  frame: FrameRow | undefined;
  look: string;
  flag: string;
  selected: boolean;
}

/** Classes of a row by its frame. */
export function lookOf(frame: FrameRow, marked: boolean, reference: boolean): string {
  const kind = frame.kind ?? "message";
  return (
    "frame" + (kind === "message" ? "" : ` ${kind}`) + (isBad(frame) ? " bad" : "") + (frame.status === "unknown" ? " unknown" : "") +
    (frame.hue !== undefined && frame.hue >= 1 && frame.hue <= 8 ? ` hued hue${frame.hue}` : "") + (frame.hit === true ? " hit" : "") +
    (marked ? " marked" : "") + (reference ? " time-zero" : "") +
    (frame.flags?.includes("X") === true ? " dropped" : "") + (frame.flags?.includes("~") === true ? " modified" : "") + (frame.flags?.includes("*") === true ? " injected" : "") +
    (frame.dir === "c2s" ? " c2s" : frame.dir === "s2c" ? " s2c" : "")
  );
}

export class Rows {
  private readonly body: HTMLElement;
  private readonly ids: string;
  private columns: readonly Column[] = [];
  private rows: Row[] = []; // in page order
  private wider = false; // a text is longer than earlier ones of its column
  private readonly places = new WeakMap<Element, { row: Row; column: number }>();

  private readonly saw: (column: Column, length: number) => boolean;

  /** The ids of rows begin with `ids`. `saw` gets the lengths of texts and returns whether their column must widen. */
  constructor(body: HTMLElement, ids: string, saw: (column: Column, length: number) => boolean) {
    this.body = body;
    this.ids = ids;
    this.saw = saw;
  }

  /** Sets the columns; removes all rows until the next draw. */
  restyle(columns: readonly Column[]): void {
    this.columns = columns;
    this.rows = [];
    this.body.replaceChildren();
  }

  /** Draws `count` rows from `first`; with `all` also unchanged ones. Returns whether a column must widen. */
  draw(first: number, count: number, content: RowContent, all: boolean): boolean {
    this.wider = false;
    this.resize(count);
    this.rotate(first);
    this.rows.forEach((row, i) => {
      const pos = first + i;
      const frame = content.get(pos);
      if (all || row.pos !== pos || row.frame !== frame) {
        this.paint(row, pos, frame, content);
      }
    });
    return this.wider;
  }

  private resize(count: number): void {
    while (this.rows.length > count) {
      this.rows.pop()?.element.remove();
    }
    const added: Row[] = [];
    while (this.rows.length + added.length < count) {
      added.push(this.make());
    }
    if (added.length > 0) {
      this.rows.push(...added);
      this.body.append(...added.map((row) => row.element));
    }
  }

  private make(): Row {
    const element = document.createElement("div");
    element.className = "frame";
    element.setAttribute("role", "row");
    const row: Row = { element, cells: [], pos: -1, frame: undefined, look: "frame", flag: "", selected: false };
    this.places.set(element, { row, column: -1 });
    this.columns.forEach((column, at) => {
      const cell = document.createElement("span");
      const text = document.createTextNode("");
      const look = `fc fc-${column.id.startsWith("=") ? "field" : column.id}${column.right === true ? " right" : ""}`;
      cell.className = look;
      cell.setAttribute("role", "gridcell");
      cell.append(text);
      element.append(cell);
      row.cells.push({ element: cell, text, look });
      this.places.set(cell, { row, column: at });
    });
    return row;
  }

  /** Moves rows that left the view on one side to the other side. */
  private rotate(first: number): void {
    const shown = this.rows[0]?.pos ?? -1;
    const shift = first - shown;
    if (shown < 0 || shift === 0 || Math.abs(shift) >= this.rows.length) {
      return;
    }
    const moved = shift > 0 ? this.rows.splice(0, shift) : this.rows.splice(shift);
    const elements = moved.map((row) => row.element);
    if (shift > 0) {
      this.body.append(...elements);
      this.rows.push(...moved);
    } else {
      this.body.prepend(...elements);
      this.rows.unshift(...moved);
    }
  }

  private paint(row: Row, pos: number, frame: FrameRow | undefined, content: RowContent): void {
    const { context } = content;
    if (row.pos !== pos) {
      row.pos = pos;
      row.element.id = `${this.ids}-${pos}`;
      row.element.setAttribute("aria-rowindex", String(pos + 2)); // the head is row 1
    }
    row.frame = frame;
    const inside = pos >= 0 && pos < content.total;
    const flag = frame === undefined ? "" : content.flag(pos, frame);
    if (row.flag !== flag) {
      row.flag = flag;
      if (flag === "") {
        row.element.removeAttribute("data-flag");
        row.element.removeAttribute("aria-description");
      } else {
        row.element.dataset["flag"] = flag;
        row.element.setAttribute("aria-description", `marker before: ${flag}`);
      }
    }
    const look =
      (frame === undefined ? `frame ${inside ? "coming" : "none"}` : lookOf(frame, context.marked.has(frame.n), frame.n === context.referenceFrame)) +
      (flag === "" ? "" : " flagged") + (content.isSelected(pos) ? " sel" : "") + (pos === content.current ? " cur" : "");
    if (row.look !== look) {
      row.look = look;
      row.element.className = look;
    }
    const selected = content.isSelected(pos) || pos === content.current;
    if (row.selected !== selected) {
      row.selected = selected;
      row.element.setAttribute("aria-selected", String(selected));
    }
    row.cells.forEach((cell, at) => {
      const column = this.columns[at];
      const text = frame === undefined ? "" : (column?.text(frame, context) ?? "");
      if (cell.text.data !== text) {
        cell.text.data = text;
        if (column !== undefined && this.saw(column, text.length)) {
          this.wider = true;
        }
      }
    });
  }

  /** The position, frame (0 if not loaded) and column of an element in the page, or undefined. */
  placeOf(element: Element | null): { pos: number; n: number; column: number; cell: HTMLElement } | undefined {
    const found = element === null ? undefined : this.places.get(element.closest(".fc") ?? element.closest(".frame") ?? element);
    if (found === undefined || found.row.pos < 0) {
      return undefined;
    }
    return { pos: found.row.pos, n: found.row.frame?.n ?? 0, column: found.column, cell: found.row.cells[found.column]?.element ?? found.row.element };
  }

  /** The element of a row, if it is in the page. */
  elementOf(pos: number): HTMLElement | undefined {
    const row = this.rows[pos - (this.rows[0]?.pos ?? 0)];
    return row?.pos === pos ? row.element : undefined;
  }

  /** The width that the texts of a column in the page need, in pixels. */
  neededPx(column: number): number {
    let most = 0;
    const range = document.createRange();
    for (const row of this.rows) {
      const cell = row.cells[column];
      if (cell !== undefined) {
        range.selectNodeContents(cell.element);
        most = Math.max(most, range.getBoundingClientRect().width);
      }
    }
    return most;
  }
}
