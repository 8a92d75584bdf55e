// A line of text with completion: an input, which OneLine replaces once it is loaded.

import { load, prefetch } from "../load";
import type { OneLine, OneLineOptions } from "./oneline";

const module = () => import("./oneline");

/** The line in its input or in the editor. The methods are those of OneLine. */
export class Line {
  readonly element = document.createElement("div");
  private readonly input = document.createElement("input");
  private readonly options: OneLineOptions;
  private line: OneLine | undefined;
  private typed = false; // into the input
  private mistake: { from: number; to: number; message: string } | undefined;

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
    input.addEventListener("input", () => {
      this.typed = true;
      o.change();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        o.enter(event.shiftKey);
      } else if (event.key === "Escape") {
        o.escape();
      } else if (event.key === "ArrowDown") {
        this.showPast();
      }
    });
    input.addEventListener("focus", () => void this.start());
    prefetch(module);
  }

  private async start(): Promise<void> {
    const loaded = await load(module);
    if (loaded === undefined || this.line !== undefined) {
      return;
    }
    const { value, selectionStart, selectionEnd } = this.input;
    const focused = document.activeElement === this.input;
    const line = (this.line = new loaded.OneLine(this.options));
    if (value !== "") {
      line.text = value;
    }
    line.mark(this.mistake);
    this.element.replaceChildren(line.element);
    if (focused) {
      line.focus();
      line.select(selectionStart ?? value.length, selectionEnd ?? value.length);
      if (this.typed) {
        line.offer();
      }
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
    void this.start().then(() => this.line?.showPast());
  }

  mark(mistake?: { from: number; to: number; message: string }): void {
    this.mistake = mistake;
    this.input.setAttribute("aria-invalid", String(mistake !== undefined));
    this.line?.mark(mistake);
  }

  close(): void {
    this.line?.close();
  }
}
