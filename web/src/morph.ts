// Replaces parts of the page without losing what is open, focused or selected.

import { Idiomorph } from "idiomorph";

import type { PageListChange } from "./api";

const large = 100_000; // characters of HTML above which a part is replaced as a whole: comparing would take longer than drawing

/** Replaces the element with an id. The HTML comes from our own templates. */
export function morph(id: string, html: string): void {
  const old = document.getElementById(id);
  if (old === null) {
    return;
  }
  if (html.length > large) {
    replace(old, html);
    return;
  }
  Idiomorph.morph(old, html, {
    morphStyle: "outerHTML",
    // Typed text stays. Other focused elements would keep their old content.
    ignoreActiveValue: document.activeElement?.matches("input, textarea, select") === true,
    callbacks: {
      beforeAttributeUpdated: (name: string, node: Element) => {
        // Open menus and details stay open; highlighted elements stay so until redrawn.
        return !(name === "open" && node instanceof HTMLDetailsElement);
      },
    },
  });
}

function elementsOf(html: string): Element[] {
  const holder = document.createElement("template");
  holder.innerHTML = html; // from our own templates
  return Array.from(holder.content.children);
}

const manyMorphs = 40;

/** Applies a change to the children of an element. If the focused one is removed, the focus goes to its replacement or successor. */
export function morphList(change: PageListChange): void {
  const list = document.getElementById(change.id);
  if (list === null) {
    return;
  }
  const focused = list.contains(document.activeElement) ? (document.activeElement?.closest<HTMLElement>("tr") ?? null) : null;
  const at = focused === null ? -1 : Array.from(list.children).indexOf(focused);
  const changes = Object.entries(change.change ?? {});
  for (const [index, html] of changes) {
    const old = list.children[Number(index)];
    const [next] = elementsOf(html);
    if (old === undefined || next === undefined) {
      continue;
    }
    if (changes.length <= manyMorphs) {
      Idiomorph.morph(old, next, { morphStyle: "outerHTML" });
    } else {
      old.replaceWith(next);
    }
  }
  if (change.remove === -1) {
    list.replaceChildren(...elementsOf((change.new ?? []).join("")));
  } else if (changes.length === 0) {
    const after = list.children[change.at + (change.remove ?? 0)] ?? null;
    for (let i = 0; i < (change.remove ?? 0); i++) {
      list.children[change.at]?.remove();
    }
    const added = document.createDocumentFragment();
    added.append(...elementsOf((change.new ?? []).join("")));
    list.insertBefore(added, after);
  }
  if (focused !== null && !list.contains(document.activeElement)) {
    const { path, role } = focused.dataset;
    const rows = Array.from(list.querySelectorAll<HTMLElement>(":scope > tr[tabindex]"));
    (rows.find((row) => path !== undefined && row.dataset["path"] === path && row.dataset["role"] === role) ?? rows[Math.min(at, rows.length - 1)])?.focus({ preventScroll: true });
  }
}

function replace(old: HTMLElement, html: string): void {
  const parsed = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  if (parsed === null) {
    return;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const path = focused?.getAttribute("data-path");
  const { scrollTop, scrollLeft } = old;
  old.replaceWith(document.adoptNode(parsed));
  if (scrollTop !== 0 || scrollLeft !== 0) {
    parsed.scrollTo(scrollLeft, scrollTop); // forces a layout: only if needed
  }
  if (path !== undefined && path !== null) {
    parsed.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus({ preventScroll: true });
  }
}
