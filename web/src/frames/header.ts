// The head of the list: titles of the columns, drawn at their right edge to widen them and elsewhere to move them.

import type { Columns } from "./columns";
import type { Anchor } from "../menu";

/** What the head tells the list. */
export interface HeaderEvents {
  /** A width changes while an edge is dragged. */
  resized(): void;
  /** The order changed. */
  moved(): void;
  /** The width that a column needs for what is in view. */
  needed(id: string): number;
  menu(id: string, anchor: Anchor): void;
}

const dragPx = 5; // the pointer moves that far before a column is dragged

export class Header {
  readonly element = document.createElement("div");
  private readonly columns: Columns;
  private readonly events: HeaderEvents;
  private drag: { id: string; x: number; width: number; resizes: boolean; moved: boolean; target?: string | undefined } | undefined;

  constructor(columns: Columns, events: HeaderEvents) {
    this.columns = columns;
    this.events = events;
    this.element.className = "frames-head";
    this.element.setAttribute("role", "row");
    this.element.setAttribute("aria-rowindex", "1");
    this.listen();
  }

  draw(): void {
    this.element.replaceChildren(
      ...this.columns.shown.map((column) => {
        const cell = document.createElement("div");
        cell.className = `fh${column.right === true ? " right" : ""}`;
        cell.setAttribute("role", "columnheader");
        cell.setAttribute("aria-label", column.words);
        cell.title = column.words;
        cell.dataset["column"] = column.id;
        const text = document.createElement("span");
        text.className = "fh-text";
        text.textContent = column.title;
        const grip = document.createElement("span");
        grip.className = "fh-grip";
        cell.append(text, grip);
        return cell;
      }),
    );
  }

  private cellAt(event: Event): HTMLElement | undefined {
    return (event.target instanceof Element ? event.target.closest<HTMLElement>(".fh") : null) ?? undefined;
  }

  private listen(): void {
    const head = this.element;
    head.addEventListener("pointerdown", (event) => {
      const cell = this.cellAt(event);
      if (cell === undefined || event.button !== 0) {
        return;
      }
      const id = cell.dataset["column"] ?? "";
      const resizes = event.target instanceof Element && event.target.closest(".fh-grip") !== null;
      // The info may be wider than it was chosen: it goes on from what is seen.
      this.drag = { id, x: event.clientX, width: cell.getBoundingClientRect().width, resizes, moved: false };
      head.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    head.addEventListener("pointermove", (event) => {
      const drag = this.drag;
      if (drag === undefined) {
        return;
      }
      const by = event.clientX - drag.x;
      drag.moved ||= Math.abs(by) >= (drag.resizes ? 1 : dragPx);
      if (!drag.moved) {
        return;
      }
      if (drag.resizes) {
        this.columns.resize(drag.id, drag.width + by);
        this.events.resized();
        return;
      }
      drag.target = this.dropAt(event.clientX);
      this.showDrop(drag.id, drag.target);
    });
    const end = (event: PointerEvent, done: boolean): void => {
      const drag = this.drag;
      this.drag = undefined;
      this.showDrop("", undefined);
      if (drag === undefined || !done) {
        return;
      }
      if (!drag.moved && !drag.resizes) {
        const cell = this.cellOf(drag.id);
        if (cell !== undefined) {
          this.events.menu(drag.id, { x: event.clientX, y: cell.getBoundingClientRect().bottom });
        }
      } else if (drag.moved && !drag.resizes) {
        this.columns.move(drag.id, drag.target === "" ? undefined : drag.target);
        this.events.moved();
      }
    };
    head.addEventListener("pointerup", (event) => end(event, true));
    head.addEventListener("pointercancel", (event) => end(event, false));
    head.addEventListener("dblclick", (event) => {
      const cell = this.cellAt(event);
      if (cell !== undefined && event.target instanceof Element && event.target.closest(".fh-grip") !== null) {
        const id = cell.dataset["column"] ?? "";
        this.columns.resize(id, this.events.needed(id) + 16);
        this.events.resized();
      }
    });
    head.addEventListener("contextmenu", (event) => {
      const cell = this.cellAt(event);
      if (cell !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        this.events.menu(cell.dataset["column"] ?? "", { x: event.clientX, y: event.clientY });
      }
    });
  }

  cellOf(id: string): HTMLElement | undefined {
    return this.cells().find((cell) => cell.dataset["column"] === id);
  }

  private cells(): HTMLElement[] {
    return [...this.element.children].filter((child): child is HTMLElement => child instanceof HTMLElement);
  }

  /** The column in front of which a drop at x would put another; "" is the end. */
  private dropAt(x: number): string {
    const behind = this.cells().find((cell) => {
      const box = cell.getBoundingClientRect();
      return x < box.left + box.width / 2;
    });
    return behind?.dataset["column"] ?? "";
  }

  private showDrop(id: string, before: string | undefined): void {
    const cells = this.cells();
    cells.forEach((cell, at) => {
      cell.classList.toggle("dragged", id !== "" && cell.dataset["column"] === id);
      cell.classList.toggle("drop-before", before !== undefined && before !== "" && cell.dataset["column"] === before);
      cell.classList.toggle("drop-after", before === "" && at === cells.length - 1);
    });
  }
}
