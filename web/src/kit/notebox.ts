// A small text field over the page, for notes about frames.

import type { Anchor } from "./menu";
import { above, button, make } from "./dom";

const mostNote = 4000;

/** Asks for a line of text near an anchor; `done` gets it on confirmation, and the focus returns. */
export function askText(anchor: Anchor, options: { label: string; text: string; button: string; pattern?: string; most?: number }, done: (text: string) => void): void {
  const before = document.activeElement;
  const form = make("form", "frames-ask");
  form.popover = "manual";
  form.setAttribute("aria-label", options.label);
  const input = make("input");
  input.type = "text";
  input.maxLength = options.most ?? mostNote;
  input.value = options.text;
  input.setAttribute("aria-label", options.label);
  if (options.pattern !== undefined) {
    input.pattern = options.pattern;
    input.inputMode = "numeric";
  }
  let over = false; // removing the form fires blur again
  const end = (): void => {
    over = true;
    form.remove();
    if (before instanceof HTMLElement && before.isConnected) {
      before.focus({ preventScroll: true });
    }
  };
  const submit = make("button", "btn primary", options.button);
  submit.type = "submit";
  form.append(make("span", "frames-ask-label", options.label), input, submit, button("Cancel", end));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    end();
    done(text);
  });
  form.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape" && !event.isComposing) {
      event.preventDefault();
      end();
    }
  });
  form.addEventListener("focusout", (event) => {
    if (!over && !(event.relatedTarget instanceof Node && form.contains(event.relatedTarget)) && document.hasFocus()) {
      over = true;
      form.remove(); // a click elsewhere cancels
    }
  });
  above().append(form);
  form.showPopover();
  const at = anchor instanceof HTMLElement ? { x: anchor.getBoundingClientRect().left, y: anchor.getBoundingClientRect().bottom } : anchor;
  const box = form.getBoundingClientRect();
  form.style.left = `${Math.max(8, Math.min(at.x, innerWidth - box.width - 8))}px`;
  form.style.top = `${Math.max(8, Math.min(at.y, innerHeight - box.height - 8))}px`;
  input.focus();
  input.select();
}
