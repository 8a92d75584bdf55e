// Keyboard shortcuts: the keys of commands, default or changed by the user.
//
// Keys are strokes separated by spaces, a stroke is modifiers and a key: "Ctrl+K", "g g", "?", "Alt+ArrowLeft", "Shift+H" (or "H"),
// "Space". A stroke is the typed character, whatever the keyboard layout; Shift is written for letters and named keys only. On macOS Ctrl is
// the command key.
//
//   [data-command="ID"]    a click runs the command
//   [data-keys-of="ID"]    shows the command's first keys
//
// The listener is on the window, above the document: other listeners run first and may prevent the default action, in whichever order the
// parts of the page were started.

import { all, find, onRegister, pressable, run, type Command } from "./commands";

const storageKey = "wirebench.keys";
const sequenceMillis = 1000;

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

// 1. Notation.

/** Characters of the keys of a US keyboard without Shift, except letters: for "Shift+." and for non-Latin layouts. */
const unshifted: Readonly<Record<string, string>> = {
  Backquote: "`", Minus: "-", Equal: "=", BracketLeft: "[", BracketRight: "]", Backslash: "\\",
  Semicolon: ";", Quote: "'", Comma: ",", Period: ".", Slash: "/",
};

function charOfCode(code: string): string {
  const letter = /^Key([A-Z])$/.exec(code)?.[1] ?? /^Digit([0-9])$/.exec(code)?.[1];
  return letter?.toLowerCase() ?? unshifted[code] ?? "";
}

const hasNoShift = new Set([..."0123456789", ...Object.values(unshifted)]);

interface Stroke {
  ctrl: boolean; // the command key on macOS
  alt: boolean;
  meta: boolean; // the control key on macOS
  shift: boolean;
  key: string; // KeyboardEvent.key, but "Space", and letters in lower case
}

function isChar(key: string): boolean {
  return key === "Space" || [...key].length === 1;
}

function isLetter(key: string): boolean {
  return [...key].length === 1 && key.toLowerCase() !== key.toUpperCase();
}

function parse(text: string): Stroke {
  const stroke: Stroke = { ctrl: false, alt: false, meta: false, shift: false, key: text };
  for (;;) {
    const [whole, modifier] = /^(Ctrl|Alt|Meta|Shift)\+(?=.)/.exec(stroke.key) ?? [];
    if (whole === undefined) {
      break;
    }
    stroke.ctrl ||= modifier === "Ctrl";
    stroke.alt ||= modifier === "Alt";
    stroke.meta ||= modifier === "Meta";
    stroke.shift ||= modifier === "Shift";
    stroke.key = stroke.key.slice(whole.length);
  }
  if (stroke.key === "Esc") {
    stroke.key = "Escape";
  }
  if (isLetter(stroke.key)) {
    // "G" alone is a capital; in "Ctrl+K" the capital is only convention.
    stroke.shift ||= !stroke.ctrl && !stroke.alt && !stroke.meta && stroke.key !== stroke.key.toLowerCase();
    stroke.key = stroke.key.toLowerCase();
  } else if ([...stroke.key].length === 1 && !hasNoShift.has(stroke.key)) {
    stroke.shift = false; // typing "?" implies it
  }
  return stroke;
}

function format(s: Stroke): string {
  const modified = s.ctrl || s.alt || s.meta || s.shift;
  const key = modified && isLetter(s.key) ? s.key.toUpperCase() : s.key;
  return `${s.ctrl ? "Ctrl+" : ""}${s.alt ? "Alt+" : ""}${s.meta ? "Meta+" : ""}${s.shift ? "Shift+" : ""}${key}`;
}

/** The canonical notation, so that equal keys are equal strings. */
export function canonical(keys: string): string {
  return keys.split(" ").filter((s) => s !== "").map((s) => format(parse(s))).join(" ");
}

const modifierKeys = new Set(["Control", "Shift", "Alt", "AltGraph", "Meta", "OS", "CapsLock", "NumLock", "Fn", "Hyper", "Super"]);

/** The possible strokes of an event, likeliest first; none for a modifier alone. */
function strokesOf(event: KeyboardEvent): string[] {
  if (modifierKeys.has(event.key) || event.key === "Unidentified" || event.key === "Process") {
    return [];
  }
  const key = event.key === " " ? "Space" : event.key;
  // AltGr types a character; some systems also report it as Ctrl and Alt.
  const typesWithAlt = isChar(key) && event.getModifierState("AltGraph");
  const macSpace = mac && key === "Space" && event.ctrlKey;
  const base: Stroke = {
    ctrl: (mac && !macSpace ? event.metaKey : event.ctrlKey) && !typesWithAlt,
    alt: event.altKey && !typesWithAlt,
    meta: (mac ? event.ctrlKey && !macSpace : event.metaKey),
    shift: event.shiftKey,
    key,
  };
  const typed = format(parse(format({ ...base, key: isLetter(key) ? key.toLowerCase() : key })));
  const code = charOfCode(event.code);
  if (code === "" || event.key.length > 1 && event.key !== "Dead") {
    return [typed];
  }
  const placed = format({ ...base, key: code });
  if (mac && base.alt) {
    // Option types another character: it is a modifier unless that character has a meaning.
    return [placed, format(parse(format({ ...base, alt: false, shift: false, key })))];
  }
  if (event.key === "Dead" || /[^\x20-\x7e]/.test(event.key)) {
    return [typed, placed];
  }
  return base.shift && !isLetter(key) && !isLetter(code) ? [typed, placed] : [typed];
}

/** The keys of an event in canonical notation; "" for a modifier alone. */
export function strokeOf(event: KeyboardEvent): string {
  return strokesOf(event)[0] ?? "";
}

/** Why keys cannot be bound, because the browser or keyboard navigation needs them; "" if they can. */
export function refusal(keys: string): string {
  for (const text of keys.split(" ")) {
    const s = parse(text);
    if (/^F(5|7|11|12)$/.test(s.key) || (s.ctrl && !s.alt && /^[wtn]$/.test(s.key))) {
      return `The browser reserves ${label(text)}.`;
    }
    if (s.key === "Tab") {
      return "Tab moves the focus.";
    }
  }
  return "";
}

const keyLabels: Readonly<Record<string, string>> = {
  ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓",
  Escape: "Esc", PageUp: "PgUp", PageDown: "PgDn", Delete: "Del", Insert: "Ins",
};

/** A stroke in the notation of this system. */
function label(stroke: string): string {
  const s = parse(stroke);
  const modified = s.ctrl || s.alt || s.meta || s.shift;
  const key = keyLabels[s.key] ?? (modified && isLetter(s.key) ? s.key.toUpperCase() : s.key);
  if (mac) {
    const control = s.meta || (s.ctrl && s.key === "Space");
    return `${control ? "⌃" : ""}${s.alt ? "⌥" : ""}${s.shift ? "⇧" : ""}${s.ctrl && s.key !== "Space" ? "⌘" : ""}${key}`;
  }
  return `${s.ctrl ? "Ctrl+" : ""}${s.alt ? "Alt+" : ""}${s.meta ? "Meta+" : ""}${s.shift ? "Shift+" : ""}${key}`;
}

/** Keys in the notation of this system: "⌘K". */
export function keysText(keys: string): string {
  return keys.split(" ").map(label).join(" ");
}

/** An element for keys: a <kbd> for each stroke. */
export function keysElement(keys: string): HTMLElement {
  const element = document.createElement("span");
  element.className = "keys";
  for (const stroke of keys.split(" ")) {
    const cap = document.createElement("kbd");
    cap.className = "key";
    cap.textContent = label(stroke);
    element.append(...(element.hasChildNodes() ? [" "] : []), cap); // it is read as two words
  }
  return element;
}

// 2. The user's changes.

interface Choice {
  off: boolean; // single keys are off
  map: Record<string, readonly string[]>; // keys by command, if changed
}

let choice = stored();

function stored(): Choice {
  const none: Choice = { off: false, map: {} };
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "null");
    if (typeof value !== "object" || value === null) {
      return none;
    }
    const map = "map" in value && typeof value.map === "object" && value.map !== null ? Object.entries(value.map) : [];
    for (const [id, keys] of map) {
      if (Array.isArray(keys)) {
        none.map[id] = keys.filter((k) => typeof k === "string" && k !== "").map((k) => canonical(String(k)));
      }
    }
    return { ...none, off: "off" in value && value.off === true };
  } catch {
    return none; // no storage, or invalid
  }
}

const changed: (() => void)[] = [];

/** Calls back when keys or the switch change, in this tab or in another. */
export function onKeys(callback: () => void): void {
  changed.push(callback);
}

function tell(): void {
  bound = undefined;
  showKeys();
  for (const callback of changed) {
    callback();
  }
}

function keep(): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(choice));
  } catch {
    // The change then lasts as long as the page.
  }
  tell();
}

/** The current keys of a command, canonical, including those turned off by the switch. */
export function keysOf(id: string): string[] {
  return [...(choice.map[id] ?? find(id)?.keys ?? [])].map(canonical).filter((k) => k !== "" && refusal(k) === "");
}

/** Whether the keys of a command were changed. */
export function isChosen(id: string): boolean {
  return choice.map[id] !== undefined;
}

/** Whether any keys were changed. */
export function anyChosen(): boolean {
  return choice.off || Object.keys(choice.map).length > 0;
}

/** Changes the keys of a command and stores them; without keys, restores the defaults. */
export function setKeys(id: string, keys?: readonly string[]): void {
  const wanted = [...new Set((keys ?? []).map(canonical))].filter((k) => k !== "" && refusal(k) === "");
  const registered = (find(id)?.keys ?? []).map(canonical);
  if (keys === undefined || wanted.join("\n") === registered.join("\n")) {
    delete choice.map[id];
  } else {
    choice.map[id] = wanted;
  }
  keep();
}

/** Whether keys that type a character run commands. */
export function singleKeys(): boolean {
  return !choice.off;
}

/** Turns keys that type a character on or off (WCAG 2.1.4) and stores it. */
export function setSingleKeys(on: boolean): void {
  choice.off = !on;
  keep();
}

/** Restores all defaults. */
export function resetKeys(): void {
  choice = { off: false, map: {} };
  keep();
}

/** Whether keys type a character, alone or in a sequence: dictation or a tremor may press them unintentionally. */
export function isSingle(keys: string): boolean {
  return keys.split(" ").map(parse).some((s) => isChar(s.key) && !s.ctrl && !s.alt && !s.meta);
}

/** The other commands with the same keys, or whose keys are a prefix or an extension of them. */
export function conflicts(keys: string, id: string): Command[] {
  const mine = `${canonical(keys)} `;
  return all().filter((c) => c.id !== id && keysOf(c.id).some((k) => `${k} `.startsWith(mine) || mine.startsWith(`${k} `)));
}

// 3. The listener.

type Binding = readonly [keys: string, command: Command, single: boolean];

let bound: { from: readonly Command[]; list: readonly Binding[] } | undefined;

function bindings(): readonly Binding[] {
  const from = all();
  if (bound?.from !== from) {
    bound = { from, list: from.flatMap((c) => keysOf(c.id).map((k) => [k, c, isSingle(k)] as const)) };
  }
  return bound.list;
}

/** The pressed keys that start a longer sequence. */
let pending: { keys: string; run: Command | undefined; timer: number } | undefined;

function forget(): Command | undefined {
  const old = pending;
  clearTimeout(old?.timer);
  pending = undefined;
  return old?.run;
}

interface Found {
  run: Command | undefined; // of exactly these keys
  longer: boolean; // the keys are a prefix of a command's
  known: boolean; // the keys are, or are a prefix of, the keys of a command, even a disabled one
}

function look(keys: string, typing: boolean): Found {
  const found: Found = { run: undefined, longer: false, known: false };
  const first = parse(keys.split(" ")[0] ?? "");
  const harmless = first.ctrl || first.meta || first.key === "Escape" || /^F\d+$/.test(first.key);
  for (const [whole, command, single] of bindings()) {
    const longer = whole.startsWith(`${keys} `);
    if ((whole !== keys && !longer) || (single && choice.off) || (typing && !(harmless && command.anywhere === true))) {
      continue;
    }
    found.known = true;
    if (longer) {
      found.longer ||= pressable(command);
    } else if (found.run === undefined && pressable(command)) {
      found.run = command;
    }
  }
  return found;
}

const fields = 'input, textarea, select, [contenteditable]:not([contenteditable="false"]), .cm-editor, [role="menu"], [role="textbox"]';

/** Whether keys pressed on an element are text input. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(fields) !== null;
}

/** Space and Enter press the focused element. */
function isPress(event: KeyboardEvent): boolean {
  const plain = !event.ctrlKey && !event.altKey && !event.metaKey && (event.key === " " || event.key === "Enter");
  return plain && event.target instanceof Element &&
    event.target.closest('button, a[href], summary, [role="button"], [role="switch"], [role="tab"], [role="separator"]') !== null;
}

/** Whether an event is one of a command's keys, for parts of the page that handle keys themselves. */
export function pressed(event: KeyboardEvent, id: string): boolean {
  const strokes = strokesOf(event);
  return keysOf(id).some((k) => strokes.includes(k) && !(choice.off && isSingle(k)));
}

function onKeydown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) {
    return;
  }
  const strokes = strokesOf(event);
  if (strokes.length === 0 || isPress(event) || document.querySelector("dialog:modal") !== null) {
    return;
  }
  if (strokes[0] === "Escape" && [...document.querySelectorAll<HTMLElement>(":popover-open")].some((x) => x.popover === "auto")) {
    return; // the browser closes it
  }
  const typing = isTyping(event.target);
  if (pending !== undefined) {
    const before = pending.keys;
    const earlier = forget();
    if (strokes[0] === "Escape") {
      event.preventDefault();
      return;
    }
    if (strokes.some((s) => act(event, `${before} ${s}`, typing))) {
      return;
    }
    earlier?.run(); // "m" was the command, not the start of "m a"
  }
  strokes.some((s) => act(event, s, typing));
}

/** Runs the command of keys; returns whether they have a meaning. */
function act(event: KeyboardEvent, keys: string, typing: boolean): boolean {
  const found = look(keys, typing);
  if (found.longer) {
    const wait = (): void => forget()?.run();
    pending = { keys, run: found.run, timer: setTimeout(wait, sequenceMillis) };
  }
  if (found.longer || found.run !== undefined || (found.known && /[/']$/.test(keys))) {
    event.preventDefault(); // Firefox would search on "/" and "'", even while the command is disabled
  }
  if (!found.longer) {
    found.run?.run();
  }
  return found.known;
}

function showKeys(): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-keys-of]")) {
    const keys = keysOf(element.dataset["keysOf"] ?? "").find((k) => singleKeys() || !isSingle(k));
    element.replaceChildren(...(keys === undefined ? [] : [keysElement(keys)]));
  }
}

/** Starts the keyboard shortcuts, and the buttons that run commands. */
export function startKeys(): void {
  addEventListener("keydown", onKeydown);
  addEventListener("blur", forget);
  addEventListener("storage", (event) => {
    if (event.key === storageKey || event.key === null) {
      choice = stored();
      tell();
    }
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-command]") : null;
    if (button !== null && run(button.dataset["command"] ?? "")) {
      event.preventDefault();
    }
  });
  document.addEventListener("DOMContentLoaded", showKeys);
  onRegister(showKeys);
  document.addEventListener("wb:morphed", showKeys);
}
