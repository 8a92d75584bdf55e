// Replaces parts of the page without losing what is open, focused or selected.

import { Idiomorph } from "idiomorph";

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
      beforeNodeMorphed: (node: Node) => !(node instanceof Element && node.hasAttribute("data-scripted")), // scripts have drawn it
      beforeAttributeUpdated: (name: string, node: Element) => {
        // Open menus and details stay open; highlighted elements stay so until redrawn.
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
  const { scrollTop, scrollLeft } = old;
  old.replaceWith(document.adoptNode(parsed));
  if (scrollTop !== 0 || scrollLeft !== 0) {
    parsed.scrollTo(scrollLeft, scrollTop); // forces a layout: only if needed
  }
}
