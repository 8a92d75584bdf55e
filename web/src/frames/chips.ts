// The bar of chips: additional filters, each removed by a click.

import { button, make } from "../kit/dom";
import { hiddenType } from "./filters";
import type { Mistake } from "../api/frames";

/** A short label for a chip. */
export function chipLabel(chip: string, names: ReadonlyMap<string, string>): string {
  const named = names.get(chip);
  if (named !== undefined) {
    return named;
  }
  const hidden = hiddenType(chip);
  return hidden === undefined ? `only: ${chip}` : `hidden: ${hidden}`;
}

const mostShown = 12;

export interface ChipEvents {
  remove(chip: string): void;
  manage(): void;
  next(): void; // to the next highlighted frame
  plain(): void; // removes the highlight
}

export class Chips {
  readonly element = make("div", "frames-chips");
  private readonly events: ChipEvents;
  private drawn = "";

  constructor(events: ChipEvents) {
    this.events = events;
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Chips");
    this.element.hidden = true;
  }

  show(chips: readonly string[], highlight: string, names: ReadonlyMap<string, string>, mistakes: readonly Mistake[]): void {
    const wrong = new Map(mistakes.filter((m) => m.in === "chip").map((m) => [m.index ?? 0, m.message]));
    const labels = chips.map((chip) => chipLabel(chip, names));
    const bad = mistakes.find((m) => m.in === "highlight")?.message;
    const key = JSON.stringify([labels, [...wrong], highlight, bad]);
    if (key === this.drawn) {
      return; // keep the focus
    }
    this.drawn = key;
    const at = [...this.element.children].indexOf(document.activeElement ?? this.element);
    this.element.hidden = chips.length === 0 && highlight === "";
    const shown = chips.slice(0, mostShown).map((chip, i) => {
      const label = labels[i] ?? chip;
      const mistake = wrong.get(i);
      const element = button("", () => this.events.remove(chip), `Remove the chip ${label}`, `frames-chip${mistake === undefined ? "" : " wrong"}${hiddenType(chip) === undefined ? "" : " hides"}`);
      element.append(make("span", "", label), make("span", "x", "×"));
      element.title = mistake === undefined ? chip : `${chip}: ${mistake}`;
      return element;
    });
    const more = chips.length > mostShown ? `${chips.length - mostShown} more …` : "Manage …";
    const marked = [];
    if (highlight !== "") {
      const next = button("", this.events.next, "Go to the next highlighted frame (g h)", `frames-chip highlights${bad === undefined ? "" : " wrong"}`);
      next.append(make("span", "", `highlighted: ${highlight}`));
      next.title = bad === undefined ? "Go to the next highlighted frame (g h)" : `${highlight}: ${bad}`;
      marked.push(next, button("×", this.events.plain, "Remove the highlight", "frames-chip quiet"));
    }
    const manage = button(more, this.events.manage, chips.length > mostShown ? "Manage all chips" : "Manage chips", "frames-chip quiet");
    this.element.replaceChildren(...shown, ...(chips.length > 0 ? [manage] : []), ...marked);
    if (at >= 0) {
      const next = this.element.children[Math.min(at, this.element.children.length - 1)];
      (next instanceof HTMLElement ? next : this.element).focus(); // the focused chip was removed
    }
  }
}
