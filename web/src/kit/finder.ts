// The dialog of the palette.

import { make } from "./dom";
import { all, ready, run } from "./commands";
import { isSingle, keysElement, keysOf, pressed, singleKeys } from "./keys";
import { providers, searched } from "./entries";
import { notify } from "./notify";

const storageKey = "wirebench.palette";
const mostShown = 50;
const mostRemembered = 6;
const mostLetters = 24; // maximum length of a word to be matched letter by letter

const searchPause = 40; // ms after a key

// 1. Search.

interface Item {
  group: string;
  title: string;
  low: string; // title in lower case
  starts: Uint8Array | undefined; // starts of words, computed on demand
  mask: number; // characters of the title, to skip most items with one operation
  hint: string;
  lowHint: string;
  keys: string;
  command: boolean;
  exact?: boolean;
  run(): void;
}

/** A bit for each letter, one for all digits, one for the rest. */
function maskOf(low: string): number {
  let mask = 0;
  for (let i = 0; i < low.length; i++) {
    const c = low.charCodeAt(i);
    mask |= c >= 97 && c <= 122 ? 1 << (c - 97) : c >= 48 && c <= 57 ? 1 << 26 : 1 << 27;
  }
  return mask;
}

/** The kind of a character: 1 lower case, 2 upper case, 3 digit, 0 other. */
function kindOf(text: string, at: number): number {
  const c = text.charCodeAt(at);
  if (c < 128) {
    return c >= 97 && c <= 122 ? 1 : c >= 65 && c <= 90 ? 2 : c >= 48 && c <= 57 ? 3 : 0;
  }
  const letter = text[at] ?? "";
  return /\p{Lu}/u.test(letter) ? 2 : /[\p{L}\p{M}]/u.test(letter) ? 1 : /\p{N}/u.test(letter) ? 3 : 0;
}

/** The starts of words, 1 at each position: "C_JOIN", "joinRoom", "slot2". */
function startsOf(item: Item): Uint8Array {
  if (item.starts === undefined) {
    const starts = new Uint8Array(item.title.length);
    for (let i = 0, before = 0; i < starts.length; i++) {
      const kind = kindOf(item.title, i);
      starts[i] = (kind !== 0 && before === 0) || (kind === 2 && before === 1) || (kind === 3 && before !== 3) || i === 0 ? 1 : 0;
      before = kind;
    }
    item.starts = starts;
  }
  return item.starts;
}

function isSubsequence(word: string, low: string): boolean {
  for (let i = 0, at = 0; i < word.length; i++) {
    at = low.indexOf(word[i] ?? "", at) + 1;
    if (at === 0) {
      return false;
    }
  }
  return true;
}

/**
 * The positions of a word's letters from the i-th on, where each letter starts a word or is further on in the word of the letter before:
 * "cepc" and "edpriv" match C_EDIT_PRIVATE_CHANNEL, "dita" does not. Starts of words are tried first.
 */
function spread(word: string, i: number, low: string, starts: Uint8Array, last: number): number[] | undefined {
  if (i === word.length) {
    return [];
  }
  const letter = word[i] ?? "";
  const next = (at: number): number[] | undefined => {
    const rest = spread(word, i + 1, low, starts, at);
    rest?.unshift(at);
    return rest;
  };
  const close = last + 1;
  let found = last >= 0 && low[close] === letter ? next(close) : undefined;
  for (let at = low.indexOf(letter, close); at >= 0 && found === undefined; at = low.indexOf(letter, at + 1)) {
    found = starts[at] === 1 ? next(at) : undefined;
  }
  for (let at = close; last >= 0 && at < low.length && starts[at] !== 1 && found === undefined; at++) {
    found = low[at] === letter ? next(at) : undefined;
  }
  return found;
}

/** The score of a word in a title, 0 for no match. The positions of its letters are added to marks. */
function scoreWord(word: string, item: Item, marks?: Set<number>): number {
  const { low } = item;
  const first = low.indexOf(word);
  if (first >= 0) {
    const starts = startsOf(item);
    let at = first;
    while (at >= 0 && starts[at] !== 1) {
      at = low.indexOf(word, at + 1);
    }
    const start = at < 0 ? first : at;
    for (let i = 0; marks !== undefined && i < word.length; i++) {
      marks.add(start + i);
    }
    return (at < 0 ? 300 : at > 0 ? 500 : low.length === word.length ? 800 : 600) - low.length / 10;
  }
  const places = word.length > mostLetters || !isSubsequence(word, low) ? undefined : spread(word, 0, low, startsOf(item), -1);
  if (places === undefined) {
    return 0;
  }
  let score = places[0] === 0 ? 60 : 0;
  places.forEach((at, i) => {
    score += (at === (places[i - 1] ?? -2) + 1 ? 280 : item.starts?.[at] === 1 ? 400 : 40) / word.length;
    marks?.add(at);
  });
  return Math.max(1, score - low.length / 10);
}

/** The score of all words in an item, 0 if one does not match. */
function score(words: readonly string[], masks: readonly number[], item: Item): number {
  let sum = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const mask = masks[i] ?? 0;
    let one = (item.mask & mask) === mask ? scoreWord(word, item) : 0;
    if (one < 60 && item.lowHint.includes(word)) {
      one = 60;
    }
    if (one === 0) {
      return 0;
    }
    sum += one;
  }
  return sum / words.length;
}

/** The best items in descending order; the earlier first among equals. */
function best(query: string, items: readonly Item[], bonus: (item: Item) => number): Item[] {
  const words = query.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const masks = words.map(maskOf);
  const found: { item: Item; score: number }[] = [];
  for (const item of items) {
    let s = score(words, masks, item);
    if (s === 0) {
      continue;
    }
    s += bonus(item);
    if (found.length === mostShown && s <= (found.at(-1)?.score ?? 0)) {
      continue;
    }
    let at = found.length;
    while (at > 0 && (found[at - 1]?.score ?? 0) < s) {
      at--;
    }
    found.splice(at, 0, { item, score: s });
    found.length = Math.min(found.length, mostShown);
  }
  return found.map((b) => b.item);
}

/** The title with the matched letters in <b>. */
function marked(item: Item, query: string): Node[] {
  const marks = new Set<number>();
  for (const word of query.toLowerCase().split(/\s+/).filter((w) => w !== "")) {
    scoreWord(word, item, marks);
  }
  const parts: Node[] = [];
  for (let at = 0; at < item.title.length; ) {
    const start = at;
    const on = marks.has(at);
    while (at < item.title.length && marks.has(at) === on) {
      at++;
    }
    const text = item.title.slice(start, at);
    parts.push(on ? make("b", "", text) : document.createTextNode(text));
  }
  return parts;
}

// 2. History.

function nameOf(item: Item): string {
  return `${item.group}\n${item.title}`;
}

function remembered(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(value) ? value.filter((v) => typeof v === "string").slice(0, mostRemembered) : [];
  } catch {
    return []; // no storage, or invalid
  }
}

function remember(item: Item): void {
  const name = nameOf(item);
  const names = [name, ...remembered().filter((n) => n !== name)].slice(0, mostRemembered);
  try {
    localStorage.setItem(storageKey, JSON.stringify(names));
  } catch {
    // Nothing is stored then.
  }
}

// 3. The dialog.

interface Parts {
  dialog: HTMLDialogElement;
  input: HTMLInputElement;
  hint: HTMLElement;
  list: HTMLElement;
  said: HTMLElement;
}

let parts: Parts | undefined;
let items: Item[] = [];
let recent: string[] = [];
let shown: Item[] = [];
let active = 0;
let sayTimer = 0;
let found: readonly Item[] = []; // by the searcher, for the query foundFor
let foundFor = "";
let asked: AbortController | undefined;
let askTimer = 0;

function itemOf(group: string, title: string, hint: string, keys: string, command: boolean, run: () => void): Item {
  const low = title.toLowerCase();
  // Some letters have lower-case forms of another length; the positions of marks would be wrong.
  const safe = low.length === title.length ? low : title;
  return { group, title, low: safe, starts: undefined, mask: maskOf(safe), hint, lowHint: hint.toLowerCase(), keys, command, run };
}

function collect(): Item[] {
  const found: Item[] = [];
  const add = (group: string, title: string, hint: string, keys: string, command: boolean, run: () => void): void => {
    found.push(itemOf(group, title, hint, keys, command, run));
  };
  for (const command of all()) {
    if (command.id !== "palette" && ready(command)) {
      const keys = keysOf(command.id).find((k) => singleKeys() || !isSingle(k)) ?? "";
      add("Commands", command.title, command.group, keys, true, () => { // the page may have changed since the palette was opened
        if (!run(command.id)) {
          notify(`“${command.title}” is not possible any more`, "warn");
        }
      });
    }
  }
  for (const provider of providers) {
    for (const entry of provider.entries()) {
      add(provider.group, entry.title, entry.hint ?? "", "", false, () => entry.run());
    }
  }
  return found;
}

function option(item: Item, query: string, at: number): HTMLElement {
  const row = make("div", item.command ? "entry command" : "entry");
  row.id = `palette-${at}`;
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", "false");
  const title = make("span", "title");
  title.append(...marked(item, query));
  row.append(title);
  if (item.hint !== "") {
    row.append(make("span", "hint", item.hint));
  }
  if (item.keys !== "") {
    row.append(keysElement(item.keys));
  }
  return row;
}

function activate(at: number): void {
  if (parts === undefined) {
    return;
  }
  const rows = parts.list.querySelectorAll<HTMLElement>('[role="option"]');
  rows[active]?.setAttribute("aria-selected", "false");
  active = Math.max(0, Math.min(at, shown.length - 1));
  const row = rows[active];
  row?.setAttribute("aria-selected", "true");
  if (row === undefined) {
    parts.input.removeAttribute("aria-activedescendant");
    return;
  }
  parts.input.setAttribute("aria-activedescendant", row.id);
  if (active === 0) {
    parts.list.scrollTop = 0; // including the first heading
  } else {
    row.scrollIntoView({ block: "nearest" });
  }
}

function say(text: string): void {
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => {
    if (parts !== undefined) {
      parts.said.textContent = text;
    }
  }, 500);
}

function whatCanBeTyped(): string {
  const groups = [...new Set([...providers.map((p) => p.group), ...searched.groups])].map((group) => group.toLowerCase());
  return groups.length === 0 ? "commands" : `commands, ${groups.join(", ")}`;
}

/** Asks the searcher, once per query. The list is filled again when it has found something. */
function ask(query: string): void {
  const { search } = searched;
  if (search === undefined || foundFor === query) {
    return;
  }
  clearTimeout(askTimer);
  asked?.abort();
  const { signal } = (asked = new AbortController());
  askTimer = window.setTimeout(() => {
    search(query, signal).then((entries) => {
      if (!signal.aborted) {
        foundFor = query;
        found = entries.map((entry) => ({ ...itemOf(entry.group, entry.title, entry.hint ?? "", "", false, () => entry.run()), exact: entry.exact === true }));
        if (parts?.dialog.open === true && found.length > 0) {
          const chosen = active === 0 ? undefined : shown[active];
          update();
          const again = chosen === undefined ? -1 : shown.findIndex((item) => nameOf(item) === nameOf(chosen));
          if (again > 0) {
            activate(again);
          }
        }
      }
    }, () => undefined); // aborted
  }, searchPause);
}

/** Fills the list for the typed text. */
function update(): void {
  if (parts === undefined) {
    return;
  }
  const text = parts.input.value.trimStart();
  const onlyCommands = text.startsWith(">");
  const query = (onlyCommands ? text.slice(1) : text).trim();
  const pool = onlyCommands ? items.filter((i) => i.command) : items;
  const groups = new Map<string, Item[]>();
  const put = (group: string, item: Item): void => {
    const list = groups.get(group);
    if (list === undefined) {
      groups.set(group, [item]);
    } else {
      list.push(item);
    }
  };
  if (query === "") {
    const old = onlyCommands ? [] : recent.flatMap((name) => items.find((i) => nameOf(i) === name) ?? []);
    old.forEach((item) => put("Recent", item));
    pool.filter((i) => i.command && !old.includes(i)).slice(0, mostShown - old.length).forEach((item) => put(item.group, item));
  } else {
    const bonus = (item: Item): number => {
      const at = recent.length === 0 ? -1 : recent.indexOf(nameOf(item));
      return at < 0 ? 0 : 40 - at;
    };
    const own = best(query, pool, bonus);
    const more = onlyCommands || foundFor !== query ? [] : found.filter((item) => !own.some((o) => o.group === item.group && (o.title === item.title || (item.low !== query.toLowerCase() && item.title.startsWith(`${o.title}.`)))));
    const exact = [...own, ...more].find((item) => item.exact === true || (!item.command && item.low === query.toLowerCase()));
    if (exact !== undefined) {
      put(exact.group, exact); // its group is the first
    }
    [...own, ...more].forEach((item) => item !== exact && put(item.group, item));
    if (!onlyCommands) {
      ask(query);
    }
  }
  shown = [...groups.values()].flat();
  let at = 0;
  const sections = [...groups].map(([group, members], i) => {
    const section = make("div", "entries");
    const heading = make("div", "heading", group);
    heading.id = `palette-group-${i}`;
    section.setAttribute("role", "group");
    section.setAttribute("aria-labelledby", heading.id);
    section.append(heading, ...members.map((item) => option(item, query, at++)));
    return section;
  });
  parts.list.replaceChildren(...sections);
  parts.list.hidden = shown.length === 0;
  parts.input.setAttribute("aria-expanded", String(shown.length > 0));
  parts.hint.replaceChildren();
  parts.hint.classList.toggle("none", shown.length === 0);
  if (query === "" && !onlyCommands) {
    parts.hint.append(`A few letters of any name find it: ${whatCanBeTyped()}. `, make("kbd", "key", ">"), " finds commands only.");
  } else if (shown.length === 0) {
    parts.hint.append(`No match for “${query}”. `, onlyCommands ? "Without > everything is searched." : `Searched: ${whatCanBeTyped()}.`);
  }
  parts.hint.hidden = parts.hint.textContent === "";
  activate(0);
  say(query === "" ? "" : shown.length === mostShown ? `The best ${mostShown}` : `${shown.length} found`);
}

function choose(at: number): void {
  const item = shown[at];
  if (item === undefined || parts === undefined) {
    return;
  }
  remember(item);
  parts.dialog.close(); // first: the focus returns to where the command may need it
  item.run();
}

function onKeydown(event: KeyboardEvent): void {
  if (event.isComposing || parts?.dialog.open !== true) {
    return; // for a moment after closing the focus is still in it
  }
  const page = 8;
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: active + 1 < shown.length ? active + 1 : 0,
    ArrowUp: active > 0 ? active - 1 : shown.length - 1,
    PageDown: active + page,
    PageUp: active - page,
  };
  const to = event.ctrlKey || event.altKey || event.metaKey ? undefined : moves[event.key];
  if (to !== undefined) {
    activate(to);
  } else if (event.key === "Enter") {
    choose(active);
  } else if (pressed(event, "palette")) {
    parts.dialog.close();
  } else {
    return;
  }
  event.preventDefault();
}

function footer(): HTMLElement {
  const element = make("div", "foot");
  for (const [keys, text] of [["ArrowUp ArrowDown", "move"], ["Enter", "go"], ["Escape", "close"]] as const) {
    const pair = make("span", "");
    pair.append(keysElement(keys), ` ${text}`);
    element.append(pair);
  }
  return element;
}

function build(): Parts {
  const dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Go to anything");
  const input = document.createElement("input");
  input.type = "text";
  input.autocomplete = "off";
  input.spellcheck = false;
  input.placeholder = "Go to anything";
  for (const [name, value] of [
    ["role", "combobox"], ["aria-label", "Go to anything"], ["aria-controls", "palette-list"], ["aria-autocomplete", "list"],
    ["aria-expanded", "true"], ["autocapitalize", "off"], ["enterkeyhint", "go"],
  ] as const) {
    input.setAttribute(name, value);
  }
  const shut = make("button", "shut", "×");
  shut.setAttribute("type", "button");
  shut.setAttribute("aria-label", "Close");
  const line = make("div", "line");
  line.append(input, shut);
  const hint = make("p", "tip");
  const list = make("div", "list");
  list.id = "palette-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found");
  const said = make("p", "sr-only");
  said.setAttribute("role", "status");
  dialog.append(line, hint, list, footer(), said);

  shut.addEventListener("click", () => dialog.close());
  input.addEventListener("input", update);
  dialog.addEventListener("keydown", onKeydown);
  const rowAt = (event: Event): number => {
    const row = event.target instanceof Element ? event.target.closest('[role="option"]') : null;
    return row === null ? -1 : [...list.querySelectorAll('[role="option"]')].indexOf(row);
  };
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the field
  list.addEventListener("pointermove", (event) => {
    const at = rowAt(event);
    if (at >= 0 && at !== active && (event.movementX !== 0 || event.movementY !== 0)) {
      activate(at);
    }
  });
  list.addEventListener("click", (event) => choose(rowAt(event)));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) {
      dialog.close(); // outside
    }
  });
  return { dialog, input, hint, list, said };
}

/** Opens the palette with text in its field. */
export function openPalette(text = ""): void {
  parts ??= build();
  if (!parts.dialog.isConnected) {
    document.body.append(parts.dialog);
  }
  if (parts.dialog.open) {
    return;
  }
  items = collect();
  foundFor = "";
  recent = remembered();
  parts.input.value = text;
  parts.dialog.showModal();
  parts.input.focus();
  update();
}
