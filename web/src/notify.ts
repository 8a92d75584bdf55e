// Short messages at the bottom of the page: what was done, or what went wrong. They are read out politely.

import { make } from "./dom";

const lifeMillis = 4000;
const undoMillis = 10_000; // of a message that offers to take back what was done
const together = 1000; // milliseconds within which a message joins the ones before: nobody has read them yet
const most = 3;
const signs = { ok: "✓", warn: "!", err: "✕" } as const;
const words = { ok: "", warn: "Warning: ", err: "Error: " } as const;

/** What a message is about; an error stays until it is closed. */
export type Kind = keyof typeof signs;

let region: HTMLElement | undefined;
let quiet: HTMLElement | undefined;
let timer = 0;
let left = 0; // milliseconds that the message has still to live
let since = 0;
let came = -Infinity; // when the newest message came
let cameFrom: Element | null = null; // where the focus was before it came to the close button

function live(name: string): HTMLElement {
  const element = make("div", name);
  element.setAttribute("role", "status");
  document.body.append(element);
  return element;
}

function close(): void {
  clearTimeout(timer);
  const focused = region?.contains(document.activeElement) ?? false;
  region?.replaceChildren();
  if (focused && cameFrom instanceof HTMLElement && cameFrom.isConnected) {
    cameFrom.focus();
  }
}

/** A message waits while it is pointed at or has the focus. */
function wait(): void {
  clearTimeout(timer);
  left = Math.max(1000, left - (performance.now() - since));
}

function go(): void {
  clearTimeout(timer);
  since = performance.now();
  if (left < Infinity && region?.matches(":hover, :focus-within") === false) {
    timer = setTimeout(close, left);
  }
}

function start(): HTMLElement {
  const element = live("toasts");
  element.addEventListener("pointerenter", wait);
  element.addEventListener("pointerleave", go);
  element.addEventListener("focusin", (event) => {
    wait();
    const from = event.relatedTarget;
    cameFrom = from instanceof Element && !element.contains(from) ? from : cameFrom;
  });
  element.addEventListener("focusout", () => setTimeout(go));
  document.addEventListener("keydown", (event) => {
    const elsewhere = event.target instanceof Element && event.target.closest("dialog") !== null;
    const shown = element.firstElementChild;
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || elsewhere || shown === null) {
      return;
    }
    // What goes by itself takes no key away from the rest of the page.
    if (left === Infinity || element.contains(document.activeElement)) {
      event.preventDefault();
    }
    close();
  });
  return element;
}

/** What a message offers to do. */
export interface Offer {
  title: string;
  run(): void;
}

/**
 * Shows a message in place of the one before, or below it if that came just now. Errors stay until they are closed, what offers something
 * for ten seconds, anything else for four. What is returned takes the message away, for one that says that something goes on.
 */
export function notify(text: string, kind: Kind = "ok", offer?: Offer): () => void {
  if (region === undefined || !region.isConnected) {
    region = start();
  }
  const toast = make("div", `toast ${kind}`);
  const sign = make("span", "sign", signs[kind]);
  sign.setAttribute("aria-hidden", "true");
  const shut = make("button", "shut", "×");
  shut.setAttribute("type", "button");
  shut.setAttribute("aria-label", "Close this message");
  shut.addEventListener("click", close);
  const body = make("p", "text");
  if (words[kind] !== "") {
    body.append(make("span", "sr-only", words[kind]));
  }
  body.append(text);
  toast.append(sign, body);
  if (offer !== undefined) {
    const act = make("button", "btn quiet", offer.title);
    act.setAttribute("type", "button");
    act.addEventListener("click", () => {
      close();
      offer.run();
    });
    toast.append(act);
  }
  toast.append(shut);
  if (performance.now() - came > together) {
    close();
  } else {
    while (region.childElementCount >= most) {
      region.firstElementChild?.remove();
    }
  }
  region.append(toast);
  came = performance.now();
  left = region.querySelector(":scope > .err") !== null ? Infinity : region.querySelector(":scope > .toast > .btn") === null ? lifeMillis : undoMillis;
  go();
  return () => toast.remove();
}

/** Has a text read out that people who see the page need not be told. */
export function announce(text: string): void {
  if (quiet === undefined || !quiet.isConnected) {
    quiet = live("sr-only");
  }
  quiet.textContent = text;
}
