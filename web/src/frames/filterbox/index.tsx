// The filter box. While typing it checks the filter, shows mistakes, the meaning of short forms, and completions; Enter applies the filter.

import { Line } from "../../kit/line/line";
import type { Offer } from "../../kit/line/oneline";
import { openMenu } from "../../kit/menu";
import { notify } from "../../kit/notify";
import { batch, computed, Fragment, h, render, signal, useLayoutEffect, useRef } from "../../kit/ui";
import { Presets, SaveForm } from "./presets";
import type { FilterInfo, FilterOption } from "../../api/api";
import { type Ask, asker, type Draft } from "./question";
import { type Preset, type SharedFilters, StoredFilters } from "./stored";
import { combine, expand, type Expanded, type How, mostText } from "./syntax";

export type { How } from "./syntax";
export type { Draft } from "./question";

/** A completion at the caret; seen values are known to the page only. */
type Item = Omit<FilterOption, "kind"> & { kind: FilterOption["kind"] | "seen" };

/** The interface of the page for the box. */
export interface FilterBoxOptions {
  workspace: string;
  label?: string;
  placeholder?: string;
  /** id of the capture whose settings apply */
  capture?: string;
  /** The unsaved definition with which filters are checked. */
  draft(): Draft | undefined;
  /** Applies a valid filter with presets expanded; "" is every frame. */
  apply(text: string): void;
  /** Highlights the frames of a valid filter. Without it there is no highlighting. */
  highlight?(text: string): void;
  /** Seen values of a field, as filter literals. */
  values?(path: string): Promise<string[]>;
  /** Called on Esc when the box has no other use for it. */
  leave?(): void;
  /** Replaces the request to the server's API. */
  ask?: Ask;
  /** Replaces the browser's storage for history and presets. */
  place?: Storage;
  /** The named filters of the project. */
  shared?: SharedFilters;
}

const pauseMillis = 120; // of typing, before a request
const waitMillis = 10_000; // for a response
const mostSeen = 30; // in the list

/** The result of checking a text. */
interface Checked {
  typed: string;
  expanded: Expanded;
  answer: FilterInfo;
}

const signs = { empty: "", unknown: "?", waiting: "…", ok: "✓", wrong: "!" };

export function localPlace(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined; // storage is not permitted
  }
}

/** A filter for combination with others: short forms are expanded. */
function long(c: Checked): string {
  return c.answer.rewritten === "" ? c.typed.trim() : c.answer.rewritten;
}

/** Like long, with presets expanded too. */
function whole(c: Checked): string {
  return c.answer.rewritten === "" ? c.expanded.text.trim() : c.answer.rewritten;
}

export class FilterBox {
  readonly stored: StoredFilters;
  readonly line: Line;
  readonly options: FilterBoxOptions;
  readonly typed = signal("");
  readonly inForce = signal({ typed: "", text: "" });
  readonly naming = signal(false); // the form for saving a preset is open
  readonly presets = signal<readonly Preset[]>([]);
  readonly #checked = signal<Checked | undefined>(undefined);
  readonly #trouble = signal(""); // why the text is unchecked, or another message
  readonly #host: HTMLElement;
  readonly #ask: Ask;
  readonly #ended = new AbortController();
  #asked: AbortController | undefined; // of the pending request
  #act: { typed: string; result: Promise<Checked | undefined> } | undefined; // in progress
  #later = 0;

  /** The result for the text in the box. */
  readonly checked = computed(() => (this.#checked.value?.typed === this.typed.value ? this.#checked.value : undefined));
  readonly trouble = computed(() => this.#trouble.value);
  readonly state = computed((): keyof typeof signs => {
    const c = this.checked.value;
    return this.typed.value.trim() === "" ? "empty" : this.#trouble.value !== "" ? "unknown" : c === undefined ? "waiting" : c.answer.ok ? "ok" : "wrong";
  });

  constructor(host: HTMLElement, options: FilterBoxOptions) {
    this.options = options;
    this.#host = host;
    this.#ask = options.ask ?? asker(options.workspace, options.capture);
    this.stored = new StoredFilters(options.workspace, options.place ?? localPlace(), options.shared);
    this.presets.value = this.stored.presets();
    this.line = new Line({
      label: options.label ?? "Filter",
      describedBy: "filterbox-says",
      placeholder: options.placeholder ?? "Filter: party, C_CHAT, .damage > 1000  /",
      most: mostText,
      nonce: document.getElementById("main")?.dataset["nonce"] ?? "",
      change: () => this.#changed(),
      offers: (at, asked) => this.#offers(at, asked),
      past: () => this.#past(),
      enter: (shift) => void (shift && options.highlight !== undefined ? this.highlight() : this.apply()),
      escape: () => { // keep the text
        this.line.blur();
        options.leave?.();
      },
    });
    addEventListener("storage", (event) => {
      if (this.stored.owns(event.key)) {
        this.recheck();
      }
    }, { signal: this.#ended.signal });
    render(<Box box={this} />, host);
  }

  /** The applied filter, with presets expanded; "" is every frame. */
  get applied(): string {
    return this.inForce.value.text;
  }

  /** The text in the box. */
  get text(): string {
    return this.line.text;
  }

  focus(): void {
    this.line.focus(true);
  }

  /** Sets the text. With apply, also applies it if valid; returns whether it did. */
  async set(text: string, apply: boolean): Promise<boolean> {
    this.line.text = text;
    return apply && (await this.apply());
  }

  /** Adds a condition to the text without applying it; if the text is invalid, to the applied filter. */
  async prepare(text: string, how: How): Promise<void> {
    const before = this.text;
    let current = "";
    if (how !== "replace" && before.trim() !== "") {
      const c = await this.#certainly();
      if (this.text !== before) {
        return; // the text has changed meanwhile
      }
      current = c?.answer.ok === true ? long(c) : this.applied;
    }
    this.put(combine(current, text, how));
  }

  /** Sets the text and focuses the box. */
  put(text: string): void {
    this.line.text = text;
    this.line.focus();
  }

  /** Checks the filter again: definitions or presets have changed. */
  recheck(): void {
    this.#checked.value = undefined;
    this.presets.value = this.stored.presets();
    if (this.text.trim() !== "") {
      void this.#check();
    }
  }

  /** Removes the box. */
  close(): void {
    this.#ended.abort();
    this.#asked?.abort();
    clearTimeout(this.#later);
    render(null, this.#host);
    this.line.close();
  }

  /** Applies the text; false if it is invalid. */
  async apply(): Promise<boolean> {
    const typed = this.text.trim();
    if (typed === "") {
      this.#commit("", "");
      return true;
    }
    const c = await this.#certainly();
    if (c === undefined || !c.answer.ok || this.text.trim() !== typed) {
      return false; // the line below shows the mistake
    }
    const { translated } = c.answer;
    if (translated !== "") {
      this.line.text = translated;
      this.#commit(translated, translated);
      notify(`${typed} is ${translated} here`, "ok", { title: "Undo", run: () => this.put(typed) });
    } else {
      this.#commit(typed, c.expanded.text.trim());
    }
    return true;
  }

  /** Highlights the frames of the filter in the box, and restores the applied filter. */
  async highlight(): Promise<void> {
    const typed = this.text.trim();
    if (typed === "") {
      this.options.highlight?.("");
      return;
    }
    const c = await this.#certainly();
    if (c?.answer.ok === true && this.text.trim() === typed) {
      this.stored.remember(typed);
      this.options.highlight?.(whole(c));
      this.put(this.inForce.value.typed);
    }
  }

  clear(): void {
    this.put("");
    if (this.applied !== "") {
      this.#commit("", "");
    }
  }

  async usePreset(name: string, how: How): Promise<void> {
    await this.prepare(`@${name}`, how);
    await this.apply();
  }

  /** The filter to be saved as a preset, or the reason why there is none. */
  async textToSave(): Promise<{ text: string } | { why: string }> {
    if (this.text.trim() === "") {
      return { why: "write a filter first" };
    }
    const c = await this.#certainly();
    return c?.answer.ok === true ? { text: whole(c) } : { why: c === undefined ? "the filter could not be checked" : "the filter is invalid" };
  }

  #commit(typed: string, text: string): void {
    this.stored.remember(typed);
    this.inForce.value = { typed, text };
    this.options.apply(text);
  }

  // Requests.

  /** Checks the text when typing pauses. */
  #changed(): void {
    clearTimeout(this.#later);
    this.#asked?.abort();
    batch(() => {
      this.typed.value = this.text;
      this.#trouble.value = "";
    });
    if (this.text.trim() === "") {
      this.#checked.value = undefined;
      queueMicrotask(() => this.line.mark());
    } else {
      this.#later = setTimeout(() => void this.#check(), pauseMillis);
    }
  }

  /** Checks the text for an act of the user, which must not be lost because completions for the same text are asked for meanwhile. */
  #certainly(): Promise<Checked | undefined> {
    const typed = this.text;
    if (this.#act?.typed !== typed) {
      const act = this.#act = { typed, result: this.#insist(typed) };
      void act.result.finally(() => {
        if (this.#act === act) {
          this.#act = undefined;
        }
      });
    }
    return this.#act.result;
  }

  async #insist(typed: string): Promise<Checked | undefined> {
    for (;;) {
      const c = await this.#check();
      if (c !== undefined || this.text !== typed || this.#trouble.value !== "" || this.#ended.signal.aborted) {
        return c;
      }
    }
  }

  /** Checks the text. Undefined: no response, or a late one. */
  async #check(caret?: number): Promise<Checked | undefined> {
    clearTimeout(this.#later);
    this.#asked?.abort();
    const asked = new AbortController();
    this.#asked = asked;
    const typed = this.text;
    const expanded = expand(typed, new Map(this.stored.presets().map((p) => [p.name, p.text])));
    const draft = this.options.draft();
    let answer: FilterInfo;
    try {
      answer = await this.#ask(
        { text: expanded.text, ...(caret === undefined ? {} : { caret: expanded.there(caret) }), ...(draft === undefined ? {} : { draft }) },
        AbortSignal.any([asked.signal, this.#ended.signal, AbortSignal.timeout(waitMillis)]),
      );
    } catch (error) {
      if (!asked.signal.aborted && !this.#ended.signal.aborted) {
        this.#checked.value = undefined;
        this.#trouble.value = `not checked: ${error instanceof Error ? error.message : String(error)}`;
      }
      return undefined;
    }
    if (asked.signal.aborted || this.#ended.signal.aborted || this.text !== typed) {
      return undefined;
    }
    const c = { typed, expanded, answer };
    batch(() => {
      this.#checked.value = c;
      this.#trouble.value = "";
    });
    const [mistake] = answer.mistakes;
    const place = mistake === undefined ? undefined : expanded.back(mistake.start, mistake.end);
    this.line.mark(mistake === undefined || place === undefined ? undefined : { from: place.start, to: place.end, message: mistake.message });
    return c;
  }

  /** The completions at the caret. */
  async #offers(caret: number, asked: boolean): Promise<Offer[]> {
    const c = this.text.trim() === "" && !asked ? undefined : await this.#check(caret);
    if (c === undefined || !this.line.hasFocus) {
      return [];
    }
    const { completions } = c.answer;
    const place = c.expanded.back(completions.start, completions.end);
    const named = /(?:^|[^\w.])@([A-Za-z0-9_\u0080-\uffff]*)$/.exec(c.typed.slice(0, caret))?.[1];
    const offers: Offer[] = named === undefined ? [] : this.stored.presets()
      .filter((p) => p.name.toLowerCase().includes(named.toLowerCase()))
      .map((p) => ({ label: `@${p.name}`, kind: "preset", doc: p.text, from: caret - named.length - 1, to: caret, text: `@${p.name}`, more: false }));
    if (place.inside) {
      return offers;
    }
    const typed = c.typed.slice(place.start, caret);
    let items: readonly Item[] = completions.items;
    if (completions.path !== "" && this.options.values !== undefined) {
      items = [...(await this.#seen(completions.path, typed, items)), ...items];
    }
    if (!asked && named === undefined && typed === "" && !["value", "seen"].includes(items[0]?.kind ?? "")) { // values come first
      return [];
    }
    const word = c.typed.slice(place.start, place.end);
    for (const { text, label, kind, doc } of items) {
      if (text !== word) {
        const spaced = kind === "operator" && text !== "{" && c.typed[place.end] !== " ";
        offers.push({ label, kind, doc, from: place.start, to: place.end, text: spaced ? `${text} ` : text, more: kind === "operator" || /[(.]$/.test(text) });
      }
    }
    return offers;
  }

  /** Seen values that start with or contain the typed text. */
  async #seen(path: string, typed: string, known: readonly Item[]): Promise<Item[]> {
    let values: string[];
    try {
      values = (await this.options.values?.(path)) ?? [];
    } catch {
      return []; // the list is shorter without them
    }
    const low = typed.replace(/^"/, "").toLowerCase();
    const has = new Set(known.map((i) => i.text));
    return values
      .filter((v) => !has.has(v) && v.toLowerCase().includes(low) && (!typed.startsWith('"') || v.startsWith('"')))
      .slice(0, mostSeen)
      .map((text) => ({ text, label: text, kind: "seen", doc: "" }));
  }

  #past(): readonly string[] {
    const list = this.stored.history();
    if (list.length === 0) {
      this.#trouble.value = "no recent filters";
    }
    return list;
  }
}

/** The line below the box. */
function sentence(box: FilterBox): h.JSX.Element | null {
  const c = box.checked.value;
  const [mistake] = c?.answer.mistakes ?? [];
  if (box.trouble.value !== "") {
    return <>{box.trouble.value}</>;
  }
  if (c !== undefined && mistake !== undefined) {
    const { start, inside } = c.expanded.back(mistake.start, mistake.end);
    const preset = /^@[A-Za-z0-9_\u0080-\uffff]+(?![.[])/.test(c.typed.slice(start));
    const help = mistake.help === "" ? "" : `: ${mistake.help}`;
    return <><b>{inside ? "in the preset" : `at ${start + 1}`}</b> {preset ? "no preset or field has that name" : mistake.message + help}</>;
  }
  if (c === undefined || !c.answer.ok) {
    return null;
  }
  const { rewritten, explain } = c.answer;
  const means = rewritten !== "" ? rewritten : c.expanded.text.trim() === c.typed.trim() ? "" : c.expanded.text.trim();
  return <>{means === "" ? null : <><b>means</b> <code>{means}</code></>}{means !== "" && explain !== "" ? " – " : ""}{explain}</>;
}

function Box({ box }: { box: FilterBox }) {
  const says = useRef<HTMLSpanElement>(null);
  const said = useRef<h.JSX.Element | null>(null);
  const state = box.state.value;
  const changed = box.typed.value.trim() !== box.inForce.value.typed;
  const offered = changed && state !== "wrong";
  const attach = useRef((element: HTMLElement | null) => element?.append(box.line.element)).current;
  useLayoutEffect(() => {
    const element = says.current;
    if (element !== null && state !== "waiting") {
      element.classList.remove("long");
      element.classList.toggle("long", element.scrollWidth > element.clientWidth);
      element.title = element.textContent ?? "";
    }
  });
  return (
    <div class={changed ? "filterbox changed" : "filterbox"} data-state={state}>
      <div class="filterbox-line">
        <div class="filterbox-field">
          <span class="filterbox-sign" aria-hidden="true">{signs[state]}</span>
          <div class="filterbox-input" ref={attach} />
          {box.typed.value === "" && box.inForce.value.typed === "" ? null : (
            <button class="btn quiet" type="button" aria-label="Clear the filter" title="Clear the filter" onClick={() => box.clear()}>✕</button>
          )}
          <button class="btn quiet" type="button" aria-label="Save as a preset" title="Save as a preset" onClick={() => (box.naming.value = !box.naming.value)}>☆</button>
          {box.options.highlight === undefined ? null : (
            <button class="btn quiet" type="button" aria-label="Highlight matching frames" title="Highlight matching frames among all (Shift+Enter)" onClick={() => void box.highlight()}>✦</button>
          )}
          <button class="btn quiet" type="button" aria-label="Recent filters" title="Recent filters (Down in an empty box)" onMouseDown={(e) => e.preventDefault()} onClick={() => box.line.showPast()}>▾</button>
        </div>
        {offered ? <button class={state === "ok" ? "btn primary" : "btn quiet"} type="button" title="Apply (Enter)" onClick={() => void box.apply()}>Apply</button> : null}
      </div>
      <p class="filterbox-says" id="filterbox-says" role="status"><span class="filterbox-said" ref={says}>{state === "waiting" ? said.current : (said.current = sentence(box))}</span></p>
      <Presets box={box} menu={openMenu} />
      {box.naming.value ? <SaveForm box={box} /> : null}
    </div>
  );
}
