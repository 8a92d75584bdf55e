// A line of text with completion: an input, which OneLine replaces once it is loaded.

import { load } from "../load";
import type { OneLine, OneLineOptions } from "./oneline";

/** The line in its input or in the editor. The methods are those of OneLine. */
export class Line {
  readonly element = document.createElement("div");
  private readonly input = document.createElement("input");
  private readonly options: OneLineOptions;
  private line: OneLine | undefined;

  constructor(o: OneLineOptions) {
    this.options = o;
    const { element, input } = this;
    element.className = "oneline";
    element.append(input);
    input.type = "text";
    input.placeholder = o.placeholder;
    input.maxLength = o.most;
    input.spellcheck = false;
    input.setAttribute("aria-label", o.label);
    input.setAttribute("aria-describedby", o.describedBy);
    input.autocomplete = "off";
    input.addEventListener("input", () => o.change());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        o.enter(event.shiftKey);
      } else if (event.key === "Escape") {
        o.escape();
      }
    });
    input.addEventListener("focus", () => void this.start()); // again after a failure
    void this.start();
  }

  private async start(): Promise<void> {
    const module = await load(() => import("./oneline"));
    if (module === undefined || this.line !== undefined) {
      return;
    }
    const focused = document.activeElement === this.input;
    const line = (this.line = new module.OneLine(this.options));
    if (this.input.value !== "") {
      line.text = this.input.value;
    }
    this.element.replaceChildren(line.element);
    if (focused) {
      line.focus();
    }
  }

  get text(): string {
    return this.line?.text ?? this.input.value;
  }

  set text(text: string) {
    if (this.line !== undefined) {
      this.line.text = text;
    } else if (text !== this.input.value) {
      this.input.value = text;
      this.options.change();
    }
  }

  get hasFocus(): boolean {
    return this.line?.hasFocus ?? document.activeElement === this.input;
  }

  focus(all = false): void {
    if (this.line !== undefined) {
      this.line.focus(all);
      return;
    }
    this.input.focus();
    if (all) {
      this.input.select();
    }
  }

  blur(): void {
    this.line?.blur();
    this.input.blur();
  }

  showPast(): void {
    this.line?.showPast();
  }

  mark(mistake?: { from: number; to: number; message: string }): void {
    this.input.setAttribute("aria-invalid", String(mistake !== undefined));
    this.line?.mark(mistake);
  }

  close(): void {
    this.line?.close();
  }
}
