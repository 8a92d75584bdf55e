// The list of messages: #rail-list with sections, or .undefined, of ul.items with .item[data-name] > a[href]; .older is a version of the
// message. The page is sent with the first rows in view and gets all as data; the document keeps those in view, drawn as in
// templates/rail.templ.

import { messageIn, pathOf } from "../kit/address";
import type { ViewListChange } from "../api/api";
import { make } from "../kit/dom";
import { changed, type List, messagesOf, noList, type Row, type Section } from "./list";
import { remembered } from "../kit/remember";
import { type Items, VirtualList } from "../kit/virtual";

/** A section in the document. */
interface Part {
  readonly id: string;
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly list: VirtualList;
  rows: readonly Row[];
  shown: readonly Row[]; // those that the filter leaves
}

let list: List = noList;
let early: ViewListChange[] | undefined = []; // changes that arrived before all rows; undefined once they are here
let begun: readonly Row[] = []; // definitions that are not saved yet
let parts: readonly Part[] = [];
let rows = new Map<string, Row>(); // by the names of its versions in addresses
let words: readonly string[] = []; // of the filter
let open = ""; // the open message
let people: ReadonlyMap<string, string> = new Map(); // the names of those who edit a message
const known = new Map<string, Part>(); // parts by id, with those that are gone
const elements = new WeakMap<Row, HTMLElement>();

let arrived = (): void => undefined; // resolves `listed`
const mostWaitMillis = 2000;
const mostPauseMillis = 30_000; // between attempts to load all rows
const field = (selector: string): HTMLElement | null => document.querySelector<HTMLElement>(`#rail-list${selector}`);
const workspace = (): string => document.getElementById("main")?.dataset["workspace"] ?? "";

// 1. What others ask.

/** Resolves when all rows are here, or are late. */
export const listed = new Promise<void>((done) => {
  arrived = done;
  setTimeout(done, mostWaitMillis);
});

/** The names of all rows. */
export function listedNames(): string[] {
  return list.sections.flatMap((section) => section.rows.map(({ name }) => name));
}

/** The names in addresses of all definitions and their versions. */
export function listedMessages(): string[] {
  return [...rows.keys()];
}

/** All versions of a message, by the name of one of them in addresses; none for an unknown one. */
export function listedVersions(message: string): string[] {
  const row = rows.get(message);
  return row === undefined ? [] : messagesOf(list, row);
}

/** The entries of the list for a menu: name, version or code, and address. */
export function listedEntries(): { name: string; note: string; href: string }[] {
  return sectionsOf().flatMap(({ id, rows }) => rows.flatMap((row) => messagesOf(list, row).map((message, i) => ({
    name: row.name, note: i === 0 ? noteOf(id, row) : `v${row.older?.[i - 1]?.number ?? 0}`, href: hrefOf(id, message),
  }))));
}

// 2. Rows.

function hrefOf(section: string, message: string): string {
  return section === "undefined" || section === "begun" ? `${pathOf(workspace(), "definitions")}?new=${encodeURIComponent(message)}` : pathOf(workspace(), "definitions", message);
}

/** What is beside the name. */
function noteOf(section: string, row: Row): string {
  if (section === "envelope") {
    return row.unused === true ? "not used" : row.new === true && field("[data-envelope-from]") !== null ? "found" : "";
  }
  if (section === "begun") {
    return "not saved";
  }
  return section !== "undefined" && list.versions ? `v${row.number ?? 0}` : row.code ?? "";
}

function envelopeTitle({ name, state, unused }: Row): string {
  const what = state === "error" ? "; it has errors, so that no messages can be read" : state === "warning" ? "; it has warnings" : unused === true ? "; another envelope applies" : "";
  return `${name}: how messages travel${what}`;
}

function titleOf(section: string, row: Row): string {
  if (section === "undefined") {
    return `Write a definition of ${row.name}`;
  }
  if (section === "begun") {
    return `${row.name}: nobody has saved this definition yet`;
  }
  if (section === "envelope" && row.new === true) {
    const from = field("[data-envelope-from]")?.dataset["envelopeFrom"];
    return from === undefined ? "Say how messages travel: framing, codes, compression, ciphers, states" : `Begin with the envelope that was found in ${from}`;
  }
  if (section === "envelope") {
    return envelopeTitle(row);
  }
  const code = row.code !== undefined ? `, code ${row.code}` : row.unmapped === true ? ": not in the code map, so bytes cannot be matched to it by code" : "";
  const state = row.state === "error" ? ": its definition has errors" : row.state === "warning" ? ": its definition has warnings" : "";
  return `${row.name}${list.versions ? `, version ${row.number ?? 0}` : ""}${code}${state}`;
}

function dotOf(section: string, { state, unmapped, unused, new: missing }: Row): string {
  if (state !== undefined) {
    return state === "error" ? "err" : "warn";
  }
  return section === "undefined" || section === "begun" || unmapped === true || unused === true || missing === true ? "none" : "ok";
}

function linkTo(href: string, title: string, className = "", text = ""): HTMLAnchorElement {
  const link = make("a", className, text);
  link.href = href;
  link.title = title;
  return link;
}

/** The element of a row. */
function drawn(section: string, row: Row): HTMLElement {
  const item = make("li", "item");
  item.dataset["name"] = row.name;
  if (row.file !== undefined) {
    item.dataset["file"] = row.file;
  }
  const [newest = "", ...older] = messagesOf(list, row);
  const link = linkTo(hrefOf(section, newest), titleOf(section, row));
  link.append(make("i", `dot ${dotOf(section, row)}`), " ", make("span", "name", row.new === true ? "New envelope" : row.name), " ");
  const note = section === "begun" ? "" : noteOf(section, row); // the heading says it
  if (note !== "" || section !== "envelope") {
    const small = make("small", "", note);
    if (row.sampled === true) {
      const mark = make("span", "sampled", "▪");
      mark.title = "has samples";
      small.prepend(mark, " ");
    }
    link.append(small);
  }
  if (row.state !== undefined) {
    link.append(" ", make("span", "sr-only", "has mistakes"));
  }
  item.append(link);
  older.forEach((message, i) => {
    const number = row.older?.[i]?.number ?? 0;
    item.append(" ", linkTo(hrefOf(section, message), `${row.name}, older version ${number}`, "older", `v${number}`));
  });
  return item;
}

/** Marks the open message in the element of a row, and those that people edit. */
function mark(row: Row | undefined): void {
  const item = row === undefined ? undefined : elements.get(row);
  if (row === undefined || item === undefined) {
    return;
  }
  const messages = messagesOf(list, row);
  item.querySelectorAll("a").forEach((link, i) => {
    const message = messages[i] ?? "";
    const names = people.get(message);
    if (message === open) {
      link.setAttribute("aria-current", "true");
    } else {
      link.removeAttribute("aria-current");
    }
    if (names === undefined) {
      delete link.dataset["people"];
    } else {
      link.dataset["people"] = names;
    }
  });
}

function elementOf(section: string, row: Row): HTMLElement {
  let item = elements.get(row);
  if (item === undefined) {
    item = drawn(section, row);
    elements.set(row, item);
    if (section !== "undefined") {
      mark(row);
    }
  }
  return item;
}

// 3. The list.

function itemsOf(section: string, shown: readonly Row[]): Items {
  const at = (i: number): Row => shown[i] as Row;
  return {
    count: shown.length,
    kind: () => "message",
    id: (i) => at(i).name,
    draw: (i, old) => {
      const item = elementOf(section, at(i));
      item.ariaSetSize = String(shown.length);
      item.ariaPosInSet = String(i + 1);
      if (old !== undefined && old !== item) { // of the row before a change
        const focused = Array.from(old.children).indexOf(document.activeElement as Element);
        old.replaceWith(item);
        (item.children.item(focused) as HTMLElement | null)?.focus({ preventScroll: true });
      }
      return item;
    },
    text: (i) => at(i).name,
  };
}

/** The words of a filter. */
export function wordsOf(filter: string): string[] {
  return filter.toLowerCase().split(/\s+/).filter((w) => w !== "");
}

/** Shows the messages whose name has all words. */
export function narrow(by: readonly string[]): void {
  words = by;
  for (const part of parts) {
    part.shown = words.length === 0 ? part.rows : part.rows.filter(({ name }) => {
      const lower = name.toLowerCase();
      return words.every((w) => lower.includes(w));
    });
    part.element.hidden = part.shown.length === 0;
  }
  for (const { id, list, shown } of parts) {
    list.show(itemsOf(id, shown));
  }
  const none = field(" [data-filter-none]");
  if (none !== null) {
    none.hidden = words.length === 0 || early !== undefined || parts.some((part) => part.shown.length > 0);
    none.textContent = "No matching message."; // the server may have written of another filter
  }
}

/** Makes a section of the document. */
function made(id: string, scroller: HTMLElement): Part {
  const heading = make("h2");
  const items = make("ul", "items");
  const element = document.createElement(id === "undefined" ? "details" : "section");
  if (element instanceof HTMLDetailsElement) {
    element.className = element.dataset["remember"] = id;
    element.open = remembered(id);
    const summary = make("summary");
    summary.append(heading);
    element.append(summary, items);
  } else {
    element.append(heading, items);
  }
  return { id, element, heading, list: new VirtualList(items, scroller), rows: [], shown: [] };
}

/** Replaces the list by the one after a change. */
export function update(change: ViewListChange): void {
  if (early !== undefined) {
    early.push(change);
    return;
  }
  list = changed(list, change);
  redraw();
}

/** Lists the definitions that were begun and not saved, by their names in addresses. */
export function listBegun(names: readonly string[]): void {
  if (names.join("\n") !== begun.map(({ name }) => name).join("\n")) {
    begun = names.map((name) => ({ name, id: name }));
    if (early === undefined) {
      redraw();
    }
  }
}

/** All sections: those of the library, and before them what is not saved. */
function sectionsOf(): readonly Section[] {
  return begun.length === 0 ? list.sections : [{ id: "begun", title: "Not saved", rows: begun }, ...list.sections];
}

function redraw(): void {
  const root = field("");
  const scroller = root?.closest<HTMLElement>(".rail-scroll");
  if (root == null || scroller == null) {
    return;
  }
  root.dataset["state"] = list.state;
  const sections = sectionsOf();
  rows = new Map(sections.flatMap(({ id, rows }) => id === "undefined" ? [] : rows.flatMap((row) => messagesOf(list, row).map((message) => [message, row] as const))));
  const before = parts;
  parts = sections.map(({ id, title, rows }) => {
    const part = known.get(id) ?? made(id, scroller);
    known.set(id, part);
    part.rows = rows;
    part.heading.replaceChildren(`${title} `, ...(id === "envelope" ? [] : [make("small", "", String(rows.length))]));
    return part;
  });
  before.filter((part) => !parts.includes(part)).forEach(({ element }) => element.remove());
  parts.forEach(({ element }, i) => {
    if (root.children[i] !== element) {
      root.insertBefore(element, root.children[i] ?? null);
    }
  });
  field(" [data-list-none]")?.toggleAttribute("hidden", parts.some(({ id }) => id.includes("/")));
  const more = field(" [data-list-more]");
  if (more !== null) {
    more.hidden = list.more === 0;
    more.textContent = `${list.more} more names are not listed: search finds them.`;
  }
  narrow(words);
}

/** The parts in view or to be scrolled to, in order. */
function inView(): Part[] {
  return parts.filter((part) => part.shown.length > 0 && part.list.host.checkVisibility());
}

/** Scrolls to the first shown message and returns its link. */
export function firstShown(): HTMLAnchorElement | undefined {
  const list = inView()[0]?.list;
  list?.reveal(0);
  return list?.element(0)?.querySelector("a") ?? undefined;
}

/** Focuses the message before or after that of a link. Returns whether there is one. */
export function focusNext(link: Element, step: 1 | -1): boolean {
  const all = inView();
  let at = all.findIndex((part) => part.list.host.contains(link));
  let i = (all[at]?.list.indexOf(link) ?? -1) + step;
  if (i < 0 || i >= (all[at]?.list.count ?? 0)) {
    at += step;
    i = step > 0 ? 0 : (all[at]?.list.count ?? 0) - 1;
  }
  const list = all[at]?.list;
  list?.focus(i);
  list?.element(i)?.querySelector("a")?.focus({ preventScroll: true });
  return list !== undefined;
}

/** Marks the open message, and scrolls to it. */
export function markMessage(message: string): void {
  if (message === open) {
    return;
  }
  const before = open;
  open = message;
  mark(rows.get(before));
  mark(rows.get(open));
  reveal();
}

/** Marks the messages that people edit, by their names in addresses. */
export function markPeople(names: ReadonlyMap<string, string>): void {
  const before = people;
  people = names;
  for (const message of [...before.keys(), ...people.keys()]) {
    mark(rows.get(message));
  }
}

/** Scrolls to the open message: to a place in the view, if it is given. */
function reveal(at?: number): void {
  const row = rows.get(open);
  for (const { id, list, shown } of inView()) {
    const i = row === undefined || id === "undefined" ? -1 : shown.indexOf(row);
    if (i >= 0) {
      list.reveal(i, at);
    }
  }
}

/** The place in the view of the row that the page was sent with as the open one, undefined without one. */
function placeOf(link: HTMLAnchorElement | null, scroller: HTMLElement): number | undefined {
  if (link?.checkVisibility() !== true) {
    return undefined;
  }
  const at = (link.closest(".item") ?? link).getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  return at < scroller.clientHeight - link.offsetHeight ? at : undefined;
}

/** Loads all rows, again and again until they are here. */
async function allRows(from: string): Promise<ViewListChange> {
  for (let pause = 1000; ; pause = Math.min(2 * pause, mostPauseMillis)) {
    try {
      const answer = await fetch(from);
      if (answer.ok) {
        return await answer.json() as ViewListChange;
      }
    } catch {
      // The server cannot be reached.
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}

/**
 * Draws the list in the place of the rows that the page was sent with, once all rows are here. The open message stays where it is in the view.
 */
export async function startMessages(): Promise<void> {
  const root = field("");
  const scroller = root?.closest<HTMLElement>(".rail-scroll");
  if (root == null || scroller == null) {
    return;
  }
  begun = Array.from(root.querySelectorAll<HTMLElement>(":scope > [data-begun] .item"), ({ dataset }) => ({ name: dataset["name"] ?? "", id: dataset["name"] ?? "" }));
  const current = root.querySelector<HTMLAnchorElement>("a[aria-current]");
  open = current === null ? "" : messageIn(new URL(current.href)) ?? "";
  words = wordsOf(document.querySelector<HTMLInputElement>("input[data-filter]")?.value ?? "");
  const all = await allRows(root.dataset["rows"] ?? "");
  const at = placeOf(current, scroller);
  for (const part of root.querySelectorAll(":scope > :is(section, details, .rail-page)")) {
    part.remove();
  }
  const later = early?.slice(early.findIndex(({ state }) => state === all.state) + 1) ?? [];
  early = undefined;
  [all, ...later].forEach(update);
  arrived();
  // What is above a part may open or grow.
  let isMeasured = false;
  const moved = new ResizeObserver(() => {
    for (const { list } of parts) {
      list.moved();
    }
    if (!isMeasured) { // the sizes are known
      isMeasured = true;
      reveal(at);
    }
  });
  for (const part of scroller.children) {
    moved.observe(part);
  }
}
