// The buttons beside the filter, in one line: those without room are in a menu at its end.

import { button, make } from "../dom";
import { openMenu } from "../menu";

const gapPx = 2;

export class Toolbar {
  readonly element = make("div", "frames-tools");
  private readonly more = button("⋯", () => this.menu(), "More tools");
  private readonly widths = new Map<HTMLElement, number>();
  private room = -1; // for the last drawing

  constructor(label: string) {
    this.element.setAttribute("role", "toolbar");
    this.element.setAttribute("aria-label", label);
    this.more.hidden = true;
    this.more.setAttribute("aria-haspopup", "menu");
    this.element.append(this.more);
  }

  add(tool: HTMLButtonElement): void {
    this.more.before(tool);
    this.room = -1;
  }

  private get buttons(): HTMLButtonElement[] {
    return Array.from(this.element.querySelectorAll<HTMLButtonElement>(":scope > button")).filter((b) => b !== this.more);
  }

  /** Shows the buttons that fit into a width in pixels. */
  fit(room: number): void {
    if (room === this.room || room <= 0) {
      return;
    }
    this.room = room;
    const all = this.buttons;
    const focused = document.activeElement;
    for (const b of [...all, this.more]) {
      b.hidden = false;
    }
    for (const b of [...all, this.more]) { // read together: one layout
      this.widths.set(b, b.getBoundingClientRect().width + gapPx);
    }
    const width = (b: HTMLElement): number => this.widths.get(b) ?? 0;
    const sum = all.reduce((px, b) => px + width(b), 0);
    let left = sum <= room ? room : room - width(this.more);
    let fits = true;
    for (const b of all) {
      left -= width(b);
      fits &&= left >= 0;
      b.hidden = !fits;
    }
    this.more.hidden = fits;
    if (focused instanceof HTMLButtonElement && focused.hidden && all.includes(focused)) {
      this.more.focus();
    }
  }

  private menu(): void {
    openMenu(this.more, {
      label: "More tools",
      items: this.buttons.filter((b) => b.hidden).map((b) => ({
        title: (b.textContent ?? "").replace(/ ▾$/, " …"),
        ...(b.ariaExpanded === "true" ? { note: "open" } : {}),
        ...(b.disabled ? { disabled: true, why: b.title } : {}),
        run: () => b.click(),
      })),
    });
  }
}
