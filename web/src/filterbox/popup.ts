// The list below the box: what may be written next, or what was applied before. The focus stays in the box.

import { make } from "../dom";

const edge = 8; // pixels kept free at the edges of the window
const gap = 2; // pixels between what is said and the list
const page = 8; // lines of PageDown

/** A line of the list. */
export interface Line {
  label: string;
  kind: string;
  doc: string;
  choose(): void;
}

let count = 0;

/** The label with what was typed of it in <b>. */
function marked(label: string, typed: string): Node[] {
  const low = label.toLowerCase();
  const at = typed === "" || low.length !== label.length ? -1 : low.indexOf(typed.toLowerCase());
  if (at < 0) {
    return [document.createTextNode(label)];
  }
  const end = at + typed.length;
  return [document.createTextNode(label.slice(0, at)), make("b", "", label.slice(at, end)), document.createTextNode(label.slice(end))];
}

/** A list of options of an input that has the role combobox. */
export class Popup {
  readonly element = make("div", "filterbox-popup");
  readonly #input: HTMLInputElement;
  readonly #below: HTMLElement;
  #lines: readonly Line[] = [];
  #rows: HTMLElement[] = [];
  #at = 0;
  #chosen = false;

  /** The list stands below an element, which it does not cover. */
  constructor(input: HTMLInputElement, below: HTMLElement) {
    this.#input = input;
    this.#below = below;
    this.element.id = `filterbox-popup-${count++}`;
    this.element.popover = "manual";
    this.element.setAttribute("role", "listbox");
    input.setAttribute("aria-controls", this.element.id);
    this.element.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the box
    this.element.addEventListener("pointermove", (event) => {
      const at = this.#rowOf(event);
      if (at >= 0 && (event.movementX !== 0 || event.movementY !== 0) && !(this.#chosen && at === this.#at)) {
        this.#activate(at, true);
      }
    });
    this.element.addEventListener("click", (event) => this.#lines[this.#rowOf(event)]?.choose());
  }

  get isOpen(): boolean {
    return this.#lines.length > 0;
  }

  /** Whether a line was pointed at or gone to: Enter means it then. */
  get isChosen(): boolean {
    return this.isOpen && this.#chosen;
  }

  /** Shows lines, from a pixel of the window on; without lines it is closed. */
  show(label: string, lines: readonly Line[], typed: string, left: number, chosen: boolean): void {
    if (lines.length === 0) {
      this.close();
      return;
    }
    this.#lines = lines;
    this.element.setAttribute("aria-label", label);
    this.#rows = lines.map((line, i) => {
      const row = make("div", "filterbox-option");
      row.id = `${this.element.id}-${i}`;
      row.setAttribute("role", "option");
      const name = make("span", "filterbox-label");
      name.append(...marked(line.label, typed));
      row.append(name, make("span", "filterbox-kind", line.kind), make("span", "filterbox-doc", line.doc));
      return row;
    });
    this.element.replaceChildren(...this.#rows);
    if (!this.element.isConnected) {
      (this.#input.closest("dialog") ?? document.body).append(this.element);
    }
    if (!this.element.matches(":popover-open")) {
      this.element.showPopover();
    }
    this.#place(left);
    this.#input.setAttribute("aria-expanded", "true");
    this.#activate(0, chosen);
    this.element.scrollTop = 0;
  }

  close(): void {
    if (!this.isOpen) {
      return;
    }
    this.#lines = [];
    this.#rows = [];
    this.element.remove();
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }

  /** Does what a key means to the list; false if it means nothing. */
  press(key: string): boolean {
    const last = this.#lines.length - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: !this.#chosen && this.#at === 0 && last > 0 ? 0 : this.#at === last ? 0 : this.#at + 1,
      ArrowUp: this.#at === 0 ? last : this.#at - 1,
      PageDown: Math.min(this.#at + page, last),
      PageUp: Math.max(this.#at - page, 0),
    };
    const to = moves[key];
    if (!this.isOpen || to === undefined) {
      return false;
    }
    this.#activate(to, true);
    return true;
  }

  /** Chooses the line that is shown as the next one. */
  accept(): void {
    this.#lines[this.#at]?.choose();
  }

  #activate(at: number, chosen: boolean): void {
    this.#rows[this.#at]?.setAttribute("aria-selected", "false");
    this.#at = at;
    this.#chosen = chosen;
    this.element.classList.toggle("offered", !chosen);
    const row = this.#rows[at];
    row?.setAttribute("aria-selected", "true");
    row?.scrollIntoView({ block: "nearest" });
    if (row !== undefined && chosen) {
      this.#input.setAttribute("aria-activedescendant", row.id);
    } else {
      this.#input.removeAttribute("aria-activedescendant");
    }
  }

  #rowOf(event: Event): number {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[role="option"]') : null;
    return row === null ? -1 : this.#rows.indexOf(row);
  }

  /** Below the box, or above it if there is more room. */
  #place(left: number): void {
    const box = this.#input.getBoundingClientRect();
    const { bottom } = this.#below.getBoundingClientRect();
    const below = innerHeight - bottom - gap - edge;
    const above = box.top - gap - edge;
    const { style } = this.element;
    style.setProperty("--room", `${Math.max(below, above, 96)}px`);
    const { width, height } = this.element.getBoundingClientRect();
    const up = below < height && above > below;
    style.setProperty("--room", `${Math.max(up ? above : below, 96)}px`);
    const tall = this.element.getBoundingClientRect().height;
    style.setProperty("--x", `${Math.max(edge, Math.min(left, innerWidth - edge - width))}px`);
    style.setProperty("--y", `${up ? box.top - gap - tall : bottom + gap}px`);
  }
}
