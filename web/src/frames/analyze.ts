// The strip beside the list with the names of the tools, one of which may be open. Folded away, and in narrow windows, they are in a menu.

import { button, make, put } from "../kit/dom";
import type { MenuItem } from "../kit/menu";
import { keep, recall } from "../kit/store";

/** One stop of the Tab key; the arrow keys go from tool to tool. */
export class Analyze {
  readonly element = make("div", "frames-tools");
  private readonly fold = button("»", () => this.setFolded(!this.folded), "Fold the tools away");
  private readonly tools: HTMLButtonElement[] = [];
  private folded = recall("analyze.folded") === true;

  constructor() {
    this.element.setAttribute("role", "toolbar");
    this.element.setAttribute("aria-orientation", "vertical");
    this.element.setAttribute("aria-label", "Analyze");
    this.fold.classList.add("frames-tools-fold");
    const head = make("div", "frames-tools-head", "Analyze");
    head.append(this.fold);
    this.element.append(head);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.draw();
  }

  /** Adds a tool, which is open while its aria-expanded is true. */
  add(title: string, run: () => void): HTMLButtonElement {
    const tool = button(title, run);
    tool.setAttribute("aria-expanded", "false");
    tool.tabIndex = -1;
    this.tools.push(tool);
    this.element.append(tool);
    return tool;
  }

  /** Sets the number beside the name of a tool; 0 is none. */
  count(tool: HTMLButtonElement | undefined, n: number): void {
    if (tool !== undefined && n > 0) {
      put(tool.dataset, "count", n.toLocaleString("en"));
    } else if (tool !== undefined) {
      delete tool.dataset["count"];
    }
  }

  /** The tools as items of a menu, while they are not beside the list. */
  get items(): MenuItem[] {
    return this.tools.some((tool) => tool.checkVisibility()) ? [] : this.tools.map((tool) => ({
      group: "Analyze", title: tool.textContent ?? "", ...(tool.ariaExpanded === "true" ? { note: "open" } : {}), run: () => tool.click(),
    }));
  }

  private setFolded(folded: boolean): void {
    this.folded = folded;
    keep("analyze.folded", folded);
    this.draw();
  }

  private draw(): void {
    this.element.classList.toggle("folded", this.folded);
    this.fold.textContent = this.folded ? "«" : "»";
    const title = this.folded ? "Show the tools" : "Fold the tools away";
    this.fold.title = title;
    this.fold.setAttribute("aria-label", title);
  }

  private key(event: KeyboardEvent): void {
    const all = [this.fold, ...this.tools].filter((b) => b.checkVisibility());
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    const tool = to === undefined ? undefined : all[Math.min(Math.max(to, 0), all.length - 1)];
    if (tool !== undefined && at >= 0) {
      event.preventDefault();
      event.stopPropagation();
      all.forEach((b) => (b.tabIndex = b === tool ? 0 : -1));
      tool.focus();
    }
  }
}
