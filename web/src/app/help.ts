// Keyboard help: every registered command with its keys, which can be changed here.

import { button, make } from "../kit/dom";
import { all, find, type Command } from "../kit/commands";
import {
  anyChosen, canonical, conflicts, isChosen, isSingle, keysElement, keysOf, keysText, onKeys, pressed, refusal, resetKeys, setKeys,
  setSingleKeys, singleKeys, strokeOf,
} from "../kit/keys";

const pauseMillis = 1000; // after which the recording of keys ends
const mostStrokes = 3;

interface Parts {
  dialog: HTMLDialogElement;
  search: HTMLInputElement;
  single: HTMLInputElement;
  reset: HTMLButtonElement;
  groups: HTMLElement;
  said: HTMLElement;
  answers: HTMLElement;
}

let parts: Parts | undefined;

/** The keys being changed: existing ones of a command, or new ones. */
let recording: { id: string; old: string; strokes: string[]; button: HTMLElement; timer: number } | undefined;

const idle = "Click a key to change it. Changes stay in this browser.";

function say(text: string, wrong = false, ...answers: HTMLElement[]): void {
  if (parts !== undefined) {
    parts.said.textContent = text;
    parts.said.classList.toggle("err", wrong);
    parts.answers.replaceChildren(...answers);
  }
}

// 1. The list.

function cap(command: Command, keys: string): HTMLElement {
  const off = isSingle(keys) && !singleKeys();
  const element = button("", () => record(command.id, keys, element), "", off ? "cap off" : "cap");
  element.dataset["cap"] = `${command.id}\n${keys}`;
  element.setAttribute("aria-label", `${keysText(keys)}${off ? ", off" : ""}: change this key of “${command.title}”`);
  element.title = off ? "Off, like all single-key shortcuts" : "Change";
  element.append(keysElement(keys));
  return element;
}

function row(command: Command): HTMLElement {
  const element = make("li", "binding");
  const caps = make("span", "caps");
  if (isChosen(command.id)) {
    const back = button("↺", () => {
      setKeys(command.id);
      focusOn(command.id);
      say(`“${command.title}” has its default keys again.`);
    }, "", "mini");
    back.title = "Default keys";
    back.setAttribute("aria-label", `Default keys of “${command.title}”`);
    caps.append(back);
  }
  caps.append(...keysOf(command.id).map((k) => cap(command, k)));
  const add = button("+", () => record(command.id, "", add), "", "mini");
  add.dataset["cap"] = `${command.id}\n`;
  add.title = "Add keys";
  add.setAttribute("aria-label", `Add keys for “${command.title}”`);
  caps.append(add);
  element.append(make("span", "title", command.title), caps);
  return element;
}

function draw(): void {
  if (parts === undefined) {
    return;
  }
  const words = parts.search.value.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const groups = new Map<string, Command[]>();
  for (const command of all()) {
    const text = [command.title, command.group, ...keysOf(command.id).map(keysText)].join(" ").toLowerCase();
    if (words.every((w) => text.includes(w))) {
      groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
    }
  }
  const sections = [...groups].map(([group, commands]) => {
    const section = make("section", "");
    const list = make("ul", "");
    list.append(...commands.map(row));
    section.append(make("h3", "heading", group), list);
    return section;
  });
  parts.groups.replaceChildren(...(sections.length > 0 ? sections : [make("p", "none", `No command matches “${parts.search.value.trim()}”.`)]));
  parts.single.checked = singleKeys();
  parts.reset.disabled = !anyChosen();
}

/** Focuses keys of a command in the redrawn list. */
function focusOn(id: string, keys?: string): void {
  const caps = Array.from(parts?.groups.querySelectorAll<HTMLElement>("[data-cap]") ?? []);
  const exact = caps.find((e) => keys !== undefined && e.dataset["cap"] === `${id}\n${canonical(keys)}`);
  (exact ?? caps.find((e) => e.dataset["cap"]?.startsWith(`${id}\n`)) ?? parts?.search)?.focus();
}

// 2. Changing keys.

function titleOf(id: string): string {
  return find(id)?.title ?? id;
}

function record(id: string, old: string, button: HTMLElement): void {
  stop();
  recording = { id, old, strokes: [], button, timer: 0 };
  button.classList.add("recording");
  button.replaceChildren("press keys");
  say(`Press the new keys for “${titleOf(id)}”. Esc cancels${old === "" ? "" : ", Backspace removes the old ones"}.`);
}

/** Ends the recording and shows the current keys. The list is not redrawn: it may have the focus. */
function stop(): void {
  if (recording === undefined) {
    return;
  }
  clearTimeout(recording.timer);
  const { old, button } = recording;
  recording = undefined;
  button.classList.remove("recording");
  button.replaceChildren(old === "" ? "+" : keysElement(old));
}

/** Replaces old keys with new ones; either may be "". */
function change(id: string, old: string, keys: string): void {
  const before = keysOf(id);
  const at = before.indexOf(old);
  const after = before.toSpliced(at < 0 ? before.length : at, at < 0 ? 0 : 1, ...(keys === "" ? [] : [keys]));
  setKeys(id, after);
  focusOn(id, keys);
}

function finish(): void {
  if (recording === undefined) {
    return;
  }
  const { id, old, strokes } = recording;
  const keys = strokes.join(" ");
  stop();
  if (keys === "" || keys === old) {
    say(idle);
    return;
  }
  const refused = refusal(keys);
  if (refused !== "") {
    say(refused, true);
    return;
  }
  const others = conflicts(keys, id);
  const done = (): void => {
    change(id, old, keys);
    const asleep = isSingle(keys) && !singleKeys() ? " Single-key shortcuts are off, so this has no effect yet." : "";
    say(`“${titleOf(id)}” has ${keysText(keys)}.${asleep}`);
  };
  if (others.length === 0) {
    done();
    return;
  }
  const names = others.map((c) => {
    const theirs = keysOf(c.id).filter((k) => clash(k, keys) && k !== keys).map(keysText).join(", ");
    return `“${c.title}”${theirs === "" ? "" : ` (${theirs})`}`;
  }).join(", ");
  const move = button("Move here", () => {
    for (const other of others) {
      setKeys(other.id, keysOf(other.id).filter((k) => !clash(k, keys)));
    }
    done();
  }, "", "btn primary");
  const both = button("Use for both", done, "", "btn");
  const cancel = button("Cancel", () => {
    say(idle);
    focusOn(id, old);
  }, "", "btn");
  say(`${keysText(keys)} is used by ${names}.`, true, move, both, cancel);
  move.focus();
}

function clash(a: string, b: string): boolean {
  return `${a} `.startsWith(`${b} `) || `${b} `.startsWith(`${a} `);
}

/** While recording, every key is recorded. */
function onRecordingKey(event: KeyboardEvent): void {
  if (recording === undefined || event.isComposing) {
    return;
  }
  const stroke = strokeOf(event);
  if (stroke === "Tab" || stroke === "Shift+Tab") {
    return; // the focus leaves, which ends the recording
  }
  event.preventDefault();
  event.stopPropagation();
  if (stroke === "" || event.repeat) {
    return;
  }
  const { id, old, strokes, button } = recording;
  if (stroke === "Escape") {
    stop();
    say(idle);
  } else if (stroke === "Backspace" && strokes.length === 0 && old !== "") {
    stop();
    change(id, old, "");
    say(`“${titleOf(id)}” no longer has ${keysText(old)}.`);
  } else {
    strokes.push(canonical(stroke));
    button.replaceChildren(keysElement(strokes.join(" ")), " …");
    clearTimeout(recording.timer);
    if (strokes.length === mostStrokes || refusal(stroke) !== "") {
      finish();
    } else {
      recording.timer = setTimeout(finish, pauseMillis);
    }
  }
}

// 3. The dialog.

function build(): Parts {
  const dialog = document.createElement("dialog");
  dialog.className = "keyboard";
  dialog.setAttribute("aria-labelledby", "keyboard-title");
  const title = make("h2", "", "Keyboard");
  title.id = "keyboard-title";
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Command or key";
  search.autocomplete = "off";
  search.spellcheck = false;
  search.setAttribute("aria-label", "Find a command or a key");
  const shut = button("×", () => dialog.close(), "", "shut");
  shut.setAttribute("aria-label", "Close");
  const head = make("div", "line");
  head.append(title, search, shut);

  const single = document.createElement("input");
  single.type = "checkbox";
  single.setAttribute("role", "switch");
  single.addEventListener("change", () => {
    setSingleKeys(single.checked);
    say(single.checked ? "Single-key shortcuts are on." : "Single-key shortcuts are off; keys with Ctrl or Alt, Esc and F-keys still work.");
  });
  const label = make("label", "switch");
  label.append(single, make("span", "", "Single-key shortcuts"));
  const reset = button("Reset all", () => {
    resetKeys();
    search.focus();
    say("All keys have their defaults.");
  }, "", "btn");
  const bar = make("div", "bar");
  bar.append(label, reset);

  const groups = make("div", "groups");
  const scroll = make("div", "scroll");
  scroll.append(groups);
  const said = make("p", "said", idle);
  said.setAttribute("role", "status");
  const answers = make("div", "answers");
  const foot = make("div", "foot");
  foot.append(said, answers);
  dialog.append(head, bar, scroll, foot);

  search.addEventListener("input", () => {
    stop();
    draw();
    scroll.scrollTop = 0;
  });
  dialog.addEventListener("keydown", onRecordingKey, true);
  dialog.addEventListener("keydown", (event) => {
    const typing = event.target === search && !event.ctrlKey && !event.altKey && !event.metaKey && event.key.length === 1;
    if (dialog.open && !event.defaultPrevented && !typing && pressed(event, "help")) {
      event.preventDefault();
      dialog.close();
    }
  });
  dialog.addEventListener("cancel", (event) => {
    if (recording !== undefined) {
      event.preventDefault();
    }
  });
  dialog.addEventListener("focusout", (event) => {
    if (event.target === recording?.button && document.hasFocus()) {
      stop();
      say(idle);
    }
  });
  dialog.addEventListener("close", stop);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) {
      dialog.close(); // outside
    }
  });
  onKeys(draw);
  return { dialog, search, single, reset, groups, said, answers };
}

/** Opens the keyboard help. */
export function openHelp(): void {
  parts ??= build();
  if (!parts.dialog.isConnected) {
    document.body.append(parts.dialog);
  }
  if (parts.dialog.open) {
    return;
  }
  parts.search.value = "";
  say(idle);
  draw();
  parts.dialog.showModal();
  parts.search.focus();
}
