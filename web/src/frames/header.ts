// The head of the list: titles of the columns. A press sorts, dragging the right edge resizes, dragging elsewhere moves. Tab treats them as one
// button; arrow keys move between them.

import type { Columns } from "./columns";
import type { Anchor } from "../kit/menu";
import type { Sort } from "../api/frames";

/** Events of the head. */
export interface HeaderEvents {
  /** The width is changing while an edge is dragged. */
  resized(): void;
  /** The order changed. */
  moved(): void;
  /** The width that a column needs for the rows in view. */
  needed(id: string): number;
  /** A column was pressed, to sort by it. */
  sort(id: string): void;
  /** Escape, or an arrow out of the head: moves the focus to the list. */
  leave(unsorts: boolean): void;
  menu(id: string, anchor: Anchor): void;
}

const dragPx = 5; // distance that starts a drag

export class Header {
  readonly element = document.createElement("div");
  private readonly columns: Columns;
  private readonly events: HeaderEvents;
  private sorted: Sort | undefined;
  private pending = false;
  private stop = ""; // the column in the tab order
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
        const text = document.createElement("button");
        text.type = "button";
        text.className = "fh-text";
        text.textContent = column.title;
        text.tabIndex = -1;
        const grip = document.createElement("span");
        grip.className = "fh-grip";
        cell.append(text, grip);
        return cell;
      }),
    );
    this.drawSort();
    this.drawStop();
  }

  /** Shows the order of the list, or a pending order. */
  showSort(sorted: Sort | undefined, pending: boolean): void {
    this.sorted = sorted;
    this.pending = pending;
    this.drawSort();
  }

  private drawSort(): void {
    for (const cell of this.cells()) {
      const by = cell.dataset["column"] === this.sorted?.by ? (this.sorted?.desc === true ? "descending" : "ascending") : "none";
      cell.setAttribute("aria-sort", by);
      cell.classList.toggle("sorted", by !== "none");
      cell.classList.toggle("pending", by !== "none" && this.pending);
    }
  }

  private drawStop(): void {
    const cells = this.cells();
    const stop = cells.some((cell) => cell.dataset["column"] === this.stop) ? this.stop : (cells[0]?.dataset["column"] ?? "");
    for (const cell of cells) {
      this.buttonOf(cell)?.setAttribute("tabindex", cell.dataset["column"] === stop ? "0" : "-1");
    }
  }

  private buttonOf(cell: HTMLElement | undefined): HTMLElement | null {
    return cell?.querySelector<HTMLElement>(".fh-text") ?? null;
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
      // The info column may be wider than its set width: resizing starts from the visible width.
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
    const end = (done: boolean): void => {
      const drag = this.drag;
      this.drag = undefined;
      this.showDrop("", undefined);
      if (drag === undefined || !done) {
        return;
      }
      if (!drag.moved && !drag.resizes) {
        this.events.sort(drag.id);
      } else if (drag.moved && !drag.resizes) {
        this.columns.move(drag.id, drag.target === "" ? undefined : drag.target);
        this.events.moved();
      }
    };
    head.addEventListener("pointerup", () => end(true));
    head.addEventListener("pointercancel", () => end(false));
    head.addEventListener("click", (event) => {
      const cell = this.cellAt(event);
      if (cell !== undefined && event.detail === 0) { // from the keyboard; pointer presses are handled elsewhere
        this.events.sort(cell.dataset["column"] ?? "");
      }
    });
    head.addEventListener("focusin", (event) => {
      this.stop = this.cellAt(event)?.dataset["column"] ?? this.stop;
      this.drawStop();
    });
    head.addEventListener("keydown", (event) => this.key(event));
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

  /** Keys of the focused button; the list uses some of them otherwise. */
  private key(event: KeyboardEvent): void {
    const cell = this.cellAt(event);
    if (cell === undefined || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const cells = this.cells();
    const at = cells.indexOf(cell);
    const go = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: cells.length - 1 }[event.key];
    if (go !== undefined && !event.shiftKey) {
      this.buttonOf(cells[Math.max(0, Math.min(go, cells.length - 1))])?.focus();
    } else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      const box = cell.getBoundingClientRect();
      this.events.menu(cell.dataset["column"] ?? "", { x: box.left, y: box.bottom });
    } else if (event.key === "ArrowDown" || event.key === "Escape") {
      this.events.leave(event.key === "Escape");
    } else if (event.key === "Enter" || event.key === " ") {
      event.stopPropagation(); // the browser presses the button
      return;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  cellOf(id: string): HTMLElement | undefined {
    return this.cells().find((cell) => cell.dataset["column"] === id);
  }

  private cells(): HTMLElement[] {
    return [...this.element.children].filter((child): child is HTMLElement => child instanceof HTMLElement);
  }

  /** The column before which a drop at x inserts; "" is the end. */
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
