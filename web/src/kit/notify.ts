// Short messages at the bottom of the page about success or failure, announced politely.

import { make } from "./dom";

const lifeMillis = 4000;
const undoMillis = 10_000; // of a message with an undo
const together = 1000; // milliseconds within which a message is added to the previous ones
const most = 3;
const signs = { ok: "✓", warn: "!", err: "✕" } as const;
const words = { ok: "", warn: "Warning: ", err: "Error: " } as const;

/** The kind of a message; errors stay until closed. */
export type Kind = keyof typeof signs;

let region: HTMLElement | undefined;
let quiet: HTMLElement | undefined;
let timer = 0;
let left = 0; // milliseconds until the message disappears
let since = 0;
let came = -Infinity; // time of the newest message
let cameFrom: Element | null = null; // the focus before it moved to the close button

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

/** A message does not disappear while hovered or focused. */
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
    // A message that disappears must not move the focus.
    if (left === Infinity || element.contains(document.activeElement)) {
      event.preventDefault();
    }
    close();
  });
  return element;
}

/** An action offered by a message. */
export interface Offer {
  title: string;
  run(): void;
}

/**
 * Shows a message in place of the previous one, or below it if that is new. Errors stay until closed, messages with an offer for ten
 * seconds, others for four. The returned function removes the message, for ongoing states.
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
  if (performance.now() - came > together && region.querySelector(":scope > .toast > .btn") === null) { // what can be undone stays
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

/** Announces text to screen readers only. */
export function announce(text: string): void {
  if (quiet === undefined || !quiet.isConnected) {
    quiet = live("sr-only");
  }
  quiet.textContent = text;
}
