// The find bar: searches the list without filtering it.

import { button, make } from "../dom";
import type { FindAs, Found } from "./protocol";
import { FramesError, isGivenUp } from "./socket";
import { keep, recall, recallText } from "./store";

const modes: readonly (readonly [FindAs, string, string])[] = [
  ["text", "Text", "any text in the message or its name"],
  ["regex", "Regex", "^hello.*!$"],
  ["hex", "Hex", "e8 03 ?? 00"],
  ["value", "Value", "48211, 1.5 or text, in any width and order"],
  ["filter", "Filter", "C_CHAT.message contains \"lfg\""],
];

export interface FindEvents {
  /** Searches from the current row. */
  find(text: string, as: FindAs, back: boolean, fold: boolean, signal: AbortSignal): Promise<Found>;
  /** Shows a result; returns whether the search wrapped around. */
  found(found: Found, back: boolean): boolean;
  closed(): void;
}

export class FindBar {
  readonly element = make("form", "frames-find");
  readonly input = make("input");
  private readonly events: FindEvents;
  private readonly as = make("select");
  private readonly note = make("span", "frames-find-note");
  private readonly exact: HTMLButtonElement;
  private under: AbortController | undefined;

  constructor(events: FindEvents) {
    this.events = events;
    this.element.hidden = true;
    this.element.setAttribute("role", "search");
    this.element.setAttribute("aria-label", "Find frames");
    this.input.type = "text";
    this.input.maxLength = 4096;
    this.input.spellcheck = false;
    this.input.autocomplete = "off";
    this.input.setAttribute("aria-label", "Find");
    this.as.setAttribute("aria-label", "Find by");
    for (const [value, title] of modes) {
      const option = make("option", "", title);
      option.value = value;
      this.as.append(option);
    }
    this.as.value = recallText("find", "text");
    if (this.as.selectedIndex < 0) {
      this.as.value = "text";
    }
    this.note.setAttribute("role", "status");
    this.exact = button("Aa", () => {
      this.setExact(!this.isExact);
      keep("find.exact", this.isExact);
      this.say("");
      this.input.focus();
    }, "Match case");
    this.setExact(recall("find.exact") === true);
    this.element.append(
      this.as,
      this.input,
      this.exact,
      button("↑", () => void this.run(true), "Previous (Shift+Enter)"),
      button("↓", () => void this.run(false), "Next (Enter)"),
      this.note,
      button("×", () => this.close(), "Close (Esc)", "btn quiet frames-find-close"),
    );
    this.hint();
    this.as.addEventListener("change", () => {
      keep("find", this.as.value);
      this.hint();
      this.say("");
    });
    this.input.addEventListener("input", () => {
      this.under?.abort();
      this.say("");
    });
    this.element.addEventListener("submit", (event) => event.preventDefault());
    this.element.addEventListener("keydown", (event) => {
      if (event.isComposing) {
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        this.close();
      } else if (event.key === "Enter" && event.target === this.input) {
        event.preventDefault();
        void this.run(event.shiftKey);
      }
    });
  }

  private get isExact(): boolean {
    return this.exact.getAttribute("aria-pressed") === "true";
  }

  private setExact(on: boolean): void {
    this.exact.setAttribute("aria-pressed", String(on));
  }

  private hint(): void {
    this.exact.hidden = this.as.value !== "text";
    this.input.placeholder = modes.find(([value]) => value === this.as.value)?.[2] ?? "";
  }

  open(): void {
    this.element.hidden = false;
    this.input.focus();
    this.input.select();
  }

  /** Whether it has the focus, so that the same keys open the browser's own find. */
  get focused(): boolean {
    return this.element.contains(document.activeElement);
  }

  close(): void {
    this.under?.abort();
    this.element.hidden = true;
    this.say("");
    this.events.closed();
  }

  /** Finds the next match; opens the bar if the text is empty. */
  async run(back: boolean): Promise<void> {
    const text = this.input.value;
    if (text.trim() === "") {
      this.open();
      return;
    }
    this.under?.abort();
    const under = new AbortController();
    this.under = under;
    const slow = setTimeout(() => this.say("searching …"), 150);
    try {
      const found = await this.events.find(text, this.as.value as FindAs, back, !this.isExact, under.signal);
      const mistake = found.mistakes?.[0];
      if (mistake !== undefined) {
        this.say(mistake.message + (mistake.help === undefined || mistake.help === "" ? "" : ` (${mistake.help})`), true);
        this.input.setSelectionRange(mistake.start, mistake.end);
      } else if (found.pos < 0) {
        this.say("not found", true);
      } else {
        this.say(this.events.found(found, back) ? `frame ${found.n}, ${back ? "wrapped to the end" : "wrapped to the start"}` : `frame ${found.n}`);
      }
    } catch (error) {
      if (this.under === under) {
        this.say(isGivenUp(error) ? "" : error instanceof FramesError ? error.message : "failed", true);
      }
    } finally {
      clearTimeout(slow);
      if (this.under === under) {
        this.under = undefined;
      }
    }
  }

  private say(text: string, wrong = false): void {
    this.note.textContent = text;
    this.note.classList.toggle("err", wrong && text !== "");
    this.input.setAttribute("aria-invalid", String(wrong && text !== ""));
  }
}
