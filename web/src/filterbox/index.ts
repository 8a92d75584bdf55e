// The box in which people write which frames they mean. While they type it says whether that is a filter, what is wrong and where, what
// short forms stand for, and what may come next; Enter applies it.

import { button, make } from "../dom";
import { openMenu } from "../menu";
import { type Line, Popup } from "./popup";
import { PresetBar } from "./presets";
import { type Answer, type Ask, asker, type Draft, type Item } from "./question";
import { StoredFilters } from "./stored";
import { combine, expand, type Expanded, hasAlias, type How, mostText } from "./syntax";

export type { How } from "./syntax";
export type { Draft } from "./question";

/** What the box needs of the page. */
export interface FilterBoxOptions {
  workspace: string;
  /** The definition that is edited and not stored yet: filters are read with it. */
  draft(): Draft | undefined;
  /** Called with a filter that is right, without presets, when it is to be applied; "" means every frame. */
  apply(text: string): void;
  /** Called with a filter whose frames are to stand out among the others, as apply is. Without it nothing is highlighted. */
  highlight?(text: string): void;
  /** Values of a field that were seen, as they are written in a filter. */
  values?(path: string): Promise<string[]>;
  /** Called when Esc has nothing more to do in the box. */
  leave?(): void;
  /** Asks what a filter means, in place of the server's API. */
  ask?: Ask;
  /** Where history and presets are kept, in place of the browser's storage. */
  place?: Storage;
}

const pauseMillis = 120; // of typing, before the server is asked
const waitMillis = 10_000; // for its answer
const mostSeen = 30; // values in the list

/** What is known of a text. */
interface Checked {
  typed: string;
  expanded: Expanded;
  answer: Answer;
}

function localPlace(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined; // a browser that refuses storage remembers nothing
  }
}

let count = 0;

export class FilterBox {
  readonly #options: FilterBoxOptions;
  readonly #ask: Ask;
  readonly #stored: StoredFilters;
  readonly #root = make("div", "filterbox");
  readonly #field = make("div", "filterbox-field");
  readonly #input = make("input", "filterbox-input");
  readonly #sign = make("span", "filterbox-sign");
  readonly #mark = make("span", "filterbox-mark");
  readonly #says = make("p", "filterbox-says");
  readonly #said = make("span", "filterbox-said");
  readonly #applyButton: HTMLButtonElement;
  readonly #clearButton: HTMLButtonElement;
  readonly #popup: Popup;
  readonly #bar: PresetBar;
  readonly #ended = new AbortController();
  #applied = { typed: "", text: "" };
  #checked: Checked | undefined;
  #asked: AbortController | undefined; // of the question that is under way
  #later = 0;

  constructor(host: HTMLElement, options: FilterBoxOptions) {
    this.#options = options;
    this.#ask = options.ask ?? asker(options.workspace);
    this.#stored = new StoredFilters(options.workspace, options.place ?? localPlace());
    const input = this.#input;
    input.type = "text";
    input.maxLength = mostText;
    input.spellcheck = false;
    input.placeholder = "Filter: party, C_CHAT, .damage > 1000  /";
    this.#says.id = `filterbox-says-${count++}`;
    for (const [name, value] of [
      ["role", "combobox"], ["aria-label", "Filter"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["autocomplete", "off"],
      ["autocapitalize", "off"], ["autocorrect", "off"], ["enterkeyhint", "go"], ["aria-describedby", this.#says.id],
    ] as const) {
      input.setAttribute(name, value);
    }
    this.#sign.setAttribute("aria-hidden", "true");
    this.#mark.setAttribute("aria-hidden", "true");
    this.#says.setAttribute("role", "status");
    this.#says.append(this.#said);
    this.#popup = new Popup(input, this.#said);
    this.#applyButton = button("Apply", () => void this.#applyTyped(), "Apply (Enter)", "btn filterbox-apply");
    this.#clearButton = button("✕", () => this.#clear(), "Clear the filter");
    const past = button("▾", () => this.#toggleHistory(), "Filters that were applied (Down in an empty box)");
    past.addEventListener("mousedown", (event) => event.preventDefault());
    const save = button("☆", () => this.#bar.ask(this.#root), "Save as a preset");
    this.#bar = new PresetBar(this.#stored, {
      use: (name, how) => void this.#usePreset(name, how),
      edit: (text) => this.#put(text, true),
      text: () => this.#textToSave(),
      menu: openMenu,
      changed: () => this.recheck(),
      done: () => this.focus(),
    });
    this.#field.append(this.#sign, input, this.#mark, this.#clearButton, past);
    const line = make("div", "filterbox-line");
    const mark = button("✦", () => void this.#highlightTyped(), "Highlight the frames that fit, among all (Shift+Enter)", "btn quiet filterbox-highlight");
    line.append(this.#field, save, ...(options.highlight === undefined ? [] : [mark]), this.#applyButton);
    this.#root.append(line, this.#says, this.#bar.element);
    host.append(this.#root);
    this.#listen();
    this.#show();
  }

  /** The filter that is applied, with presets written out; "" is every frame. */
  get applied(): string {
    return this.#applied.text;
  }

  /** What stands in the box. */
  get text(): string {
    return this.#input.value;
  }

  focus(): void {
    this.#input.focus();
    this.#input.select();
  }

  /** Puts a filter into the box. With apply it is applied, if it is right; says whether it was. */
  async set(text: string, apply: boolean): Promise<boolean> {
    this.#put(text, false);
    return apply && (await this.#applyTyped());
  }

  /** Puts a condition to what is in the box, for the reader to go on with. If that is wrong, to what is applied. */
  async prepare(text: string, how: How): Promise<void> {
    const before = this.#input.value;
    let current = "";
    if (how !== "replace" && before.trim() !== "") {
      const c = await this.#check();
      if (this.#input.value !== before) {
        return; // something else was written meanwhile
      }
      current = c?.answer.ok === true ? this.#long(c) : this.#applied.text;
    }
    this.#put(combine(current, text, how), true);
  }

  /** Asks again what the filter means: definitions or presets have changed. */
  recheck(): void {
    this.#checked = undefined;
    this.#bar.draw(this.#input.value.trim());
    if (this.#input.value.trim() !== "") {
      void this.#check();
    }
  }

  /** Takes the box off the page. */
  close(): void {
    this.#ended.abort();
    this.#asked?.abort();
    clearTimeout(this.#later);
    this.#popup.close();
    this.#root.remove();
  }

  #listen(): void {
    const { signal } = this.#ended;
    const input = this.#input;
    input.addEventListener("input", (event) => {
      this.#show();
      if (!(event instanceof InputEvent && event.isComposing)) {
        this.#soon(true);
      }
    });
    input.addEventListener("compositionend", () => this.#soon(true));
    input.addEventListener("keydown", (event) => {
      if (!event.isComposing && this.#press(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    input.addEventListener("blur", () => this.#popup.close());
    input.addEventListener("scroll", () => this.#placeMark());
    input.addEventListener("pointerdown", () => this.#popup.close());
    addEventListener("resize", () => (this.#popup.close(), this.#placeMark()), { signal });
    addEventListener("storage", (event) => {
      if (this.#stored.owns(event.key)) {
        this.recheck();
      }
    }, { signal });
  }

  /** Does what a key means; false if it means nothing here. */
  #press(event: KeyboardEvent): boolean {
    const { key } = event;
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
    if (plain && this.#popup.isOpen) {
      if (key === "Tab" || (key === "Enter" && this.#popup.isChosen)) {
        this.#popup.accept();
        return true;
      }
      if (key === "Escape") {
        this.#popup.close();
        return true;
      }
      if (this.#popup.press(key)) {
        return true;
      }
    }
    if (key === " " && event.ctrlKey) {
      void this.#complete(true);
      return true;
    }
    if ((key === "ArrowDown" || key === "ArrowUp") && (event.altKey || (plain && this.#input.value === ""))) {
      this.#showHistory();
      return true;
    }
    if (key === "Enter" && event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey && this.#options.highlight !== undefined) {
      void this.#highlightTyped();
      return true;
    }
    if (!plain) {
      return false;
    }
    if (key === "Enter") {
      void this.#applyTyped();
      return true;
    }
    if (key === "Escape") { // what is typed stays
      this.#input.blur();
      this.#options.leave?.();
      return true;
    }
    return false;
  }

  // 1. The text.

  /** Writes the box anew. */
  #put(text: string, focus: boolean): void {
    this.#input.value = text;
    this.#popup.close();
    if (focus) {
      this.#input.focus();
      this.#input.setSelectionRange(text.length, text.length);
    }
    this.#show();
    this.#soon(false);
  }

  /** Replaces a part of the text, so that Ctrl+Z takes it back. */
  #replace(start: number, end: number, text: string): void {
    this.#input.focus();
    this.#input.setSelectionRange(start, end);
    if (!document.execCommand("insertText", false, text)) {
      this.#input.setRangeText(text, start, end, "end");
      this.#input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
  }

  /** Applies what is in the box; false if that is no filter. */
  async #applyTyped(): Promise<boolean> {
    this.#popup.close();
    const typed = this.#input.value.trim();
    if (typed === "") {
      this.#commit("", "");
      return true;
    }
    const c = await this.#check();
    if (c === undefined || !c.answer.ok || this.#input.value.trim() !== typed) {
      return false; // the line below says why
    }
    if (hasAlias(typed) && c.answer.rewritten !== "") {
      this.#input.value = c.answer.rewritten;
      this.#commit(c.answer.rewritten, c.answer.rewritten);
      this.#soon(false);
    } else {
      this.#commit(typed, c.expanded.text.trim());
    }
    return true;
  }

  /** Has the frames that fit what is in the box stand out, and puts the filter that is applied back into it. */
  async #highlightTyped(): Promise<void> {
    this.#popup.close();
    const typed = this.#input.value.trim();
    if (typed === "") {
      this.#options.highlight?.("");
      return;
    }
    const c = await this.#check();
    if (c?.answer.ok === true && this.#input.value.trim() === typed) {
      this.#stored.remember(typed);
      this.#options.highlight?.(this.#long(c) === c.typed.trim() ? c.expanded.text.trim() : this.#long(c));
      this.#put(this.#applied.typed, true);
    }
  }

  #commit(typed: string, text: string): void {
    this.#applied = { typed, text };
    this.#stored.remember(typed);
    this.#popup.close();
    this.#show();
    this.#options.apply(text);
  }

  #clear(): void {
    this.#put("", true);
    if (this.#applied.text !== "") {
      this.#commit("", "");
    }
  }

  /** A filter as it may stand among others: short forms of the whole are written out. */
  #long(c: Checked): string {
    if (c.answer.rewritten === "") {
      return c.typed.trim();
    }
    return c.answer.rewritten;
  }

  async #usePreset(name: string, how: How): Promise<void> {
    await this.prepare(`@${name}`, how);
    await this.#applyTyped();
  }

  /** What is saved by a name, or why there is nothing. */
  async #textToSave(): Promise<{ text: string } | { why: string }> {
    if (this.#input.value.trim() === "") {
      return { why: "write a filter first" };
    }
    const c = await this.#check();
    if (c?.answer.ok !== true) {
      return { why: c === undefined ? "the filter could not be checked" : "the filter is wrong" };
    }
    return { text: c.answer.rewritten === "" ? c.expanded.text.trim() : c.answer.rewritten };
  }

  // 2. What the server says.

  /** Asks when the reader pauses. */
  #soon(complete: boolean): void {
    clearTimeout(this.#later);
    this.#asked?.abort();
    this.#popup.close();
    if (this.#input.value.trim() === "") {
      this.#checked = undefined;
      return;
    }
    this.#later = setTimeout(() => void (complete ? this.#complete(false) : this.#check()), pauseMillis);
  }

  /** Asks what is in the box means. Undefined is no answer, or one that came too late. */
  async #check(caret?: number): Promise<Checked | undefined> {
    clearTimeout(this.#later);
    this.#asked?.abort();
    const asked = new AbortController();
    this.#asked = asked;
    const typed = this.#input.value;
    const expanded = expand(typed, new Map(this.#stored.presets().map((p) => [p.name, p.text])));
    const draft = this.#options.draft();
    let answer: Answer;
    try {
      answer = await this.#ask(
        { text: expanded.text, ...(caret === undefined ? {} : { caret: expanded.there(caret) }), ...(draft === undefined ? {} : { draft }) },
        AbortSignal.any([asked.signal, this.#ended.signal, AbortSignal.timeout(waitMillis)]),
      );
    } catch (error) {
      if (!asked.signal.aborted && !this.#ended.signal.aborted) {
        this.#checked = undefined;
        this.#show(`not checked: ${error instanceof Error ? error.message : String(error)}`);
      }
      return undefined;
    }
    if (asked.signal.aborted || this.#ended.signal.aborted || this.#input.value !== typed) {
      return undefined;
    }
    this.#checked = { typed, expanded, answer };
    this.#show();
    return this.#checked;
  }

  // 3. The list below the box.

  /** Offers what may stand at the caret. */
  async #complete(asked: boolean): Promise<void> {
    const caret = this.#input.selectionStart ?? this.#input.value.length;
    const c = await this.#check(caret);
    if (c === undefined || document.activeElement !== this.#input || this.#input.selectionStart !== caret || this.#input.selectionEnd !== caret) {
      return;
    }
    const { completions } = c.answer;
    const place = c.expanded.back(completions.start, completions.end);
    const before = c.typed.slice(0, caret);
    const named = /(?:^|[^\w.])@([A-Za-z0-9_\u0080-\uffff]*)$/.exec(before);
    const lines: Line[] = [];
    if (named !== null) {
      const from = caret - (named[1] ?? "").length - 1;
      for (const p of this.#stored.presets()) {
        if (p.name.toLowerCase().includes((named[1] ?? "").toLowerCase())) {
          lines.push({ label: `@${p.name}`, kind: "preset", doc: p.text, choose: () => this.#accept(from, caret, `@${p.name}`, "preset") });
        }
      }
    }
    const typed = place.inside ? "" : c.typed.slice(place.start, caret);
    let items = place.inside ? [] : completions.items;
    if (!place.inside && completions.path !== "" && this.#options.values !== undefined) {
      const seen = await this.#seen(completions.path, typed, items);
      if (this.#checked !== c || this.#input.selectionStart !== caret) {
        return;
      }
      items = [...seen, ...items];
    }
    const word = c.typed.slice(place.start, place.end);
    for (const item of items) {
      if (item.text !== word) {
        lines.push({ label: item.label, kind: item.kind, doc: item.doc, choose: () => this.#accept(place.start, place.end, item.text, item.kind) });
      }
    }
    const wanted = asked || named !== null || typed !== "" || ["value", "seen"].includes(items[0]?.kind ?? ""); // values come first
    this.#popup.show("What may stand here", wanted ? lines : [], typed.slice(typed.lastIndexOf(".") + 1), this.#pixelOf(place.inside ? caret : place.start), asked);
  }

  /** Values that were seen and begin with what is typed, or have it. */
  async #seen(path: string, typed: string, known: readonly Item[]): Promise<Item[]> {
    let values: string[];
    try {
      values = (await this.#options.values?.(path)) ?? [];
    } catch {
      return []; // without them the list is shorter
    }
    const low = typed.replace(/^"/, "").toLowerCase();
    const has = new Set(known.map((i) => i.text));
    return values
      .filter((v) => !has.has(v) && v.toLowerCase().includes(low) && (!typed.startsWith('"') || v.startsWith('"')))
      .slice(0, mostSeen)
      .map((text) => ({ text, label: text, kind: "seen", doc: "" }));
  }

  #accept(start: number, end: number, text: string, kind: string): void {
    this.#popup.close();
    const spaced = kind === "operator" && text !== "{" && this.#input.value[end] !== " ";
    this.#replace(start, end, spaced ? `${text} ` : text);
    this.#soon(kind === "operator" || text.endsWith("(") || text.endsWith("."));
  }

  #toggleHistory(): void {
    this.#input.focus();
    if (this.#popup.isOpen) {
      this.#popup.close();
    } else {
      this.#showHistory();
    }
  }

  #showHistory(): void {
    const lines = this.#stored.history().map((text): Line => ({ label: text, kind: "", doc: "", choose: () => this.#put(text, true) }));
    clearTimeout(this.#later);
    this.#popup.show("Filters that were applied", lines, "", this.#pixelOf(0), true);
    if (lines.length === 0) {
      this.#said.textContent = "no filter was applied yet";
    }
  }

  // 4. What is shown.

  #show(trouble = ""): void {
    const typed = this.#input.value;
    const c = this.#checked?.typed === typed ? this.#checked : undefined;
    const empty = typed.trim() === "";
    const state = empty ? "empty" : trouble !== "" ? "unknown" : c === undefined ? "waiting" : c.answer.ok ? "ok" : "wrong";
    this.#root.dataset["state"] = state;
    this.#sign.textContent = { empty: "", unknown: "?", waiting: "…", ok: "✓", wrong: "!" }[state];
    this.#input.setAttribute("aria-invalid", String(state === "wrong"));
    const changed = typed.trim() !== this.#applied.typed;
    this.#root.classList.toggle("changed", changed);
    this.#applyButton.disabled = !changed || state === "wrong";
    this.#applyButton.classList.toggle("primary", changed && state === "ok");
    this.#clearButton.hidden = typed === "" && this.#applied.typed === "";
    this.#placeMark();
    this.#bar.draw(typed.trim());
    if (state !== "waiting") {
      this.#said.replaceChildren(...this.#sentence(c, trouble));
      this.#said.classList.remove("long");
      this.#said.classList.toggle("long", this.#said.scrollWidth > this.#said.clientWidth);
    }
    this.#said.title = this.#said.textContent ?? "";
  }

  /** The line below the box. */
  #sentence(c: Checked | undefined, trouble: string): Node[] {
    const [mistake] = c?.answer.mistakes ?? [];
    if (trouble !== "") {
      return [document.createTextNode(trouble)];
    }
    if (c !== undefined && mistake !== undefined) {
      const { start, inside } = c.expanded.back(mistake.start, mistake.end);
      const help = mistake.help === "" ? "" : `: ${mistake.help}`;
      const where = inside ? "in the preset" : `at ${start + 1}`;
      const message = /^@[A-Za-z0-9_\u0080-\uffff]+(?![.[])/.test(c.typed.slice(start)) ? "there is no preset of that name, nor a field" : mistake.message + help;
      return [make("span", "filterbox-where", where), document.createTextNode(` ${message}`)];
    }
    if (c === undefined || !c.answer.ok) {
      return [];
    }
    const nodes: Node[] = [];
    const { rewritten, explain } = c.answer;
    const long = rewritten !== "" ? rewritten : c.expanded.text.trim() === c.typed.trim() ? "" : c.expanded.text.trim();
    if (long !== "") {
      nodes.push(make("span", "filterbox-where", "means"), document.createTextNode(" "), make("code", "", long));
    }
    if (explain !== "") {
      nodes.push(document.createTextNode(`${nodes.length > 0 ? " – " : ""}${explain}`));
    }
    return nodes;
  }

  /** The width of what stands before a place, without what is scrolled away. */
  #pixelsBefore(at: number): number {
    const context = document.createElement("canvas").getContext("2d");
    if (context === null) {
      return 0;
    }
    context.font = getComputedStyle(this.#input).font;
    return context.measureText(this.#input.value.slice(0, at)).width - this.#input.scrollLeft;
  }

  /** A place of the text as a pixel of the window. */
  #pixelOf(at: number): number {
    const style = getComputedStyle(this.#input);
    const box = this.#input.getBoundingClientRect();
    return Math.min(box.left + parseFloat(style.paddingLeft) + this.#pixelsBefore(at), box.right);
  }

  /** Underlines what is wrong; below its start stands a caret. */
  #placeMark(): void {
    const c = this.#checked?.typed === this.#input.value ? this.#checked : undefined;
    const [mistake] = c?.answer.mistakes ?? [];
    this.#mark.hidden = c === undefined || mistake === undefined;
    if (c === undefined || mistake === undefined) {
      return;
    }
    const { start, end } = c.expanded.back(mistake.start, mistake.end);
    const field = this.#field.getBoundingClientRect();
    const from = this.#pixelOf(start) - field.left;
    const width = this.#pixelsBefore(end) - this.#pixelsBefore(start);
    const most = this.#input.getBoundingClientRect().right - field.left - from;
    this.#mark.style.setProperty("--from", `${Math.max(from, 0)}px`);
    this.#mark.style.setProperty("--width", `${Math.max(8, Math.min(width, most))}px`);
  }
}
