// The list of messages: #rail-list with sections, or .undefined, of ul.items with .item[data-name] > a[href]; .older is a version of the
// message. The page is sent with all items; of these the document keeps the ones in view, as each has a clipped name, which costs time in
// every frame. The others are kept here.

import { morph } from "./morph";
import { type Items, VirtualList } from "./virtual";

interface Part {
  element: HTMLElement; // the section
  list: VirtualList;
  all: readonly HTMLElement[];
  shown: readonly HTMLElement[]; // those that the filter leaves
}

let parts: readonly Part[] = [];
let links = new Map<string, HTMLAnchorElement>(); // by address
let marked: HTMLAnchorElement | undefined; // the open one
const lists = new WeakMap<Element, VirtualList>();

/** All items, filtered out or not. Few of them are in the document. */
export function listed(): HTMLElement[] {
  return parts.flatMap((part) => part.all);
}

/** The links of all items, those to older versions too. */
export function listedLinks(): HTMLAnchorElement[] {
  return listed().flatMap((item) => Array.from(item.querySelectorAll<HTMLAnchorElement>("a[href]")));
}

/** The link of the list with an address, which the document may lack. */
export function listedLink(address: string): HTMLAnchorElement | undefined {
  return links.get(address);
}

/** Shows the messages whose name has all words. Returns whether there are any. */
export function narrow(words: readonly string[]): boolean {
  for (const part of parts) {
    part.shown = part.all.filter((item) => {
      const name = item.dataset["name"]?.toLowerCase() ?? "";
      return words.every((w) => name.includes(w));
    });
    part.element.hidden = part.shown.length === 0;
  }
  for (const { list, shown } of parts) {
    list.show(itemsOf(shown));
  }
  return parts.some((part) => part.shown.length > 0);
}

function itemsOf(shown: readonly HTMLElement[]): Items {
  const at = (i: number): HTMLElement => shown[i] as HTMLElement;
  return {
    count: shown.length,
    kind: () => "message",
    id: (i) => at(i).querySelector("a")?.getAttribute("href") ?? "",
    draw: (i, old) => {
      const item = at(i);
      item.ariaSetSize = String(shown.length);
      item.ariaPosInSet = String(i + 1);
      if (old !== undefined && old !== item) { // of the list before an update
        const focused = Array.from(old.children).indexOf(document.activeElement as Element);
        old.replaceWith(item);
        (item.children.item(focused) as HTMLElement | null)?.focus({ preventScroll: true });
      }
      return item;
    },
    text: (i) => at(i).dataset["name"] ?? "",
  };
}

/** The parts in view or to be scrolled to, in order. */
function open(): Part[] {
  return parts.filter((part) => part.shown.length > 0 && part.list.host.checkVisibility());
}

/** Scrolls to the first shown message and returns its link. */
export function firstShown(): HTMLAnchorElement | undefined {
  const list = open()[0]?.list;
  list?.reveal(0);
  return list?.element(0)?.querySelector("a") ?? undefined;
}

/** Focuses the message before or after that of a link. Returns whether there is one. */
export function focusNext(link: Element, step: 1 | -1): boolean {
  const all = open();
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
export function markMessage(address: string): void {
  const link = links.get(address);
  if (link === marked) {
    return;
  }
  marked?.removeAttribute("aria-current");
  marked = link;
  marked?.setAttribute("aria-current", "true");
  reveal();
}

/** Scrolls to the open message. */
function reveal(): void {
  const item = marked?.closest<HTMLElement>(".item");
  for (const { list, shown } of open()) {
    const i = item == null ? -1 : shown.indexOf(item);
    if (i >= 0) {
      list.reveal(i);
    }
  }
}

/** Replaces the list by another one of the server. */
export function update(html: string): void {
  const fresh = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  if (fresh !== null) {
    const items = Array.from(fresh.querySelectorAll(".items"), (ul) => {
      const list = Array.from(ul.children) as HTMLElement[];
      ul.replaceChildren();
      return list;
    });
    morph("rail-list", fresh);
    take(items);
  }
}

/** Takes over the items of each part. */
function take(items: readonly (readonly HTMLElement[])[]): void {
  const root = document.getElementById("rail-list");
  const scroller = root?.closest<HTMLElement>(".rail-scroll");
  if (root == null || scroller == null) {
    return;
  }
  parts = Array.from(root.querySelectorAll<HTMLElement>(".items"), (ul, n) => {
    const list = lists.get(ul) ?? new VirtualList(ul, scroller);
    lists.set(ul, list);
    const all = items[n] ?? [];
    return { element: ul.parentElement ?? ul, list, all, shown: all };
  });
  const open = marked?.getAttribute("href") ?? "";
  links = new Map(listedLinks().map((link) => [link.getAttribute("href") ?? "", link]));
  marked = links.get(open);
  marked?.setAttribute("aria-current", "true");
}

/** Takes the list over that the page was sent with. */
export function startMessages(): void {
  const root = document.getElementById("rail-list");
  if (root === null) {
    return;
  }
  marked = root.querySelector<HTMLAnchorElement>("a[aria-current]") ?? undefined;
  take(Array.from(root.querySelectorAll(".items"), (ul) => {
    const items = Array.from(ul.children) as HTMLElement[];
    ul.replaceChildren();
    return items;
  }));
  narrow([]);
  // What is above a part may open or grow.
  let begun = false;
  const moved = new ResizeObserver(() => {
    for (const { list } of parts) {
      list.moved();
    }
    if (!begun) { // the sizes are known
      begun = true;
      reveal();
    }
  });
  for (const part of root.parentElement?.children ?? []) {
    moved.observe(part);
  }
}
