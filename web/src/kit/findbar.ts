// The find bar: searches frames or bytes without filtering them.

import { button, make } from "./dom";
import { keep, recall, recallText } from "./store";

/** What is searched for. */
export interface FindQuery<As extends string> {
  text: string;
  as: As;
  exact: boolean; // match case
}

/** The result of a search in words. */
export interface FindResult {
  text: string;
  wrong?: boolean;
  mistake?: { start: number; end: number }; // in the typed text
}

export interface FindEvents<As extends string> {
  /** Goes to the next match, or the previous one. */
  find(query: FindQuery<As>, back: boolean, signal: AbortSignal): Promise<FindResult>;
  /** The user changed what is searched for. */
  changed?(query: FindQuery<As>): void;
  /** Words for a failed search. */
  failed(error: unknown): string;
  closed(): void;
}

const modes = {
  text: ["Text", "any text in the message or its name"],
  regex: ["Regex", "^hello.*!$"],
  hex: ["Hex", "e8 03 ?? 00"],
  value: ["Value", "48211, 1.5 or text, in any width and order"],
  filter: ["Filter", "C_CHAT.message contains \"lfg\""],
} as const;

export type FindAs = keyof typeof modes;

export class FindBar<As extends FindAs> {
  readonly element = make("div", "find-bar");
  readonly input = make("input");
  private readonly events: FindEvents<As>;
  private readonly as = make("select");
  private readonly note = make("span", "find-note");
  private readonly exact: HTMLButtonElement;
  private readonly hints: Partial<Record<FindAs, string>>;
  private under: AbortController | undefined;

  /** The chosen way of searching is stored under a name. */
  constructor(o: { label: string; ways: readonly As[]; hints?: Partial<Record<As, string>>; store: string }, events: FindEvents<As>) {
    this.events = events;
    this.hints = o.hints ?? {};
    this.element.hidden = true;
    this.element.setAttribute("role", "search");
    this.element.setAttribute("aria-label", o.label);
    this.input.type = "text";
    this.input.maxLength = 4096;
    this.input.spellcheck = false;
    this.input.autocomplete = "off";
    this.input.setAttribute("aria-label", "Find");
    this.as.setAttribute("aria-label", "Find by");
    for (const value of o.ways) {
      const option = make("option", "", modes[value][0]);
      option.value = value;
      this.as.append(option);
    }
    this.as.value = recallText(o.store, "text");
    if (this.as.selectedIndex < 0) {
      this.as.value = "text";
    }
    this.note.setAttribute("role", "status");
    this.exact = button("Aa", () => {
      this.setExact(!this.isExact);
      keep("find.exact", this.isExact);
      this.input.focus();
      this.change();
    }, "Match case");
    this.exact.setAttribute("aria-label", this.exact.title);
    this.setExact(recall("find.exact") === true);
    this.element.append(
      this.as,
      this.input,
      this.exact,
      button("↑", () => void this.run(true), "Previous (Shift+Enter)"),
      button("↓", () => void this.run(false), "Next (Enter)"),
      this.note,
      button("×", () => this.close(), "Close (Esc)", "btn quiet find-close"),
    );
    this.hint();
    this.as.addEventListener("change", () => {
      keep(o.store, this.as.value);
      this.hint();
      this.change();
    });
    this.input.addEventListener("input", () => this.change());
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
    const as = this.as.value as As;
    this.exact.hidden = as !== "text";
    this.input.placeholder = this.hints[as] ?? modes[as][1];
  }

  private change(): void {
    this.under?.abort();
    this.say({ text: "" });
    this.events.changed?.(this.query);
  }

  get query(): FindQuery<As> {
    return { text: this.input.value, as: this.as.value as As, exact: this.isExact };
  }

  open(): void {
    this.element.hidden = false;
    this.input.focus();
    this.input.select();
    this.events.changed?.(this.query);
  }

  /** Whether it has the focus, so that the same keys open the browser's own find. */
  get focused(): boolean {
    return this.element.contains(document.activeElement);
  }

  close(): void {
    this.under?.abort();
    this.element.hidden = true;
    this.say({ text: "" });
    this.events.closed();
  }

  /** Finds the next match; opens the bar if the text is empty. */
  async run(back: boolean): Promise<void> {
    if (this.input.value.trim() === "") {
      this.open();
      return;
    }
    this.under?.abort();
    const under = new AbortController();
    this.under = under;
    const slow = setTimeout(() => this.say({ text: "searching …" }), 150);
    try {
      const result = await this.events.find(this.query, back, under.signal);
      if (this.under === under) {
        this.say(result);
        if (result.mistake !== undefined) {
          this.input.setSelectionRange(result.mistake.start, result.mistake.end);
        }
      }
    } catch (error) {
      if (this.under === under) {
        this.say({ text: this.events.failed(error), wrong: true });
      }
    } finally {
      clearTimeout(slow);
      if (this.under === under) {
        this.under = undefined;
      }
    }
  }

  /** Shows a result. */
  say({ text, wrong = false }: FindResult): void {
    this.note.textContent = text;
    this.note.classList.toggle("err", wrong && text !== "");
    this.input.setAttribute("aria-invalid", String(wrong && text !== ""));
  }
}

/** The result of a search whose text has mistakes; undefined without any. */
export function mistakeIn(list: readonly { message: string; help?: string; start: number; end: number }[] | undefined): FindResult | undefined {
  const [m] = list ?? [];
  return m === undefined ? undefined : { text: m.message + (m.help === undefined || m.help === "" ? "" : ` (${m.help})`), wrong: true, mistake: m };
}
