// Parts of the page that come anew are put in the place of the old ones without losing what a person has open, focused or selected.

import { Idiomorph } from "idiomorph";

const large = 100_000; // characters of HTML beyond which a part is replaced as a whole: comparing would take longer than drawing

/** Puts the HTML in the place of the element of that id. The HTML comes from our own templates. */
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
    ignoreActiveValue: true,
    callbacks: {
      beforeAttributeUpdated: (name: string, node: Element) => {
        // Open menus and details stay open; what was lit stays lit until it is drawn anew.
        return !(name === "open" && node instanceof HTMLDetailsElement);
      },
    },
  });
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
    parsed.scrollTo(scrollLeft, scrollTop); // makes the browser lay the page out: not for nothing
  }
  if (path !== undefined && path !== null) {
    parsed.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus({ preventScroll: true });
  }
}
