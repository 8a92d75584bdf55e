// The code of the open definition beside its text: it follows the text while it is open, after a pause in typing. The server writes it.
//
//   #code-pane > .pane-head, .code-losses, pre.code-text

import type { WorkspaceEmitted } from "../api/api";
import { colorCode } from "./codecolors";
import { copyText } from "../kit/copy/index";
import { button, make } from "../kit/dom";
import { request } from "../kit/http";
import type { Operations } from "../api/operations";
import { notify } from "../kit/notify";

/** What the code is of. */
export interface CodeSubject {
  workspace: string;
  message: string;
  text: string | undefined; // unsaved
  state: string; // of the library
}

interface Host {
  subject(): CodeSubject | undefined;
  save(target: string, anchor: HTMLElement): void;
  close(): void;
}

const pause = 250; // milliseconds after the last answer of the page
const mostLines = 3000; // shown at once
const targetKey = "wirebench.code.target";
const wholeKey = "wirebench.code.whole";

function remembered(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It then lasts as long as the page.
  }
}

/** The pane. */
export class CodePane {
  private readonly root: HTMLElement;
  private readonly host: Host;
  private readonly target: HTMLSelectElement;
  private readonly whole = make("input");
  private readonly note = make("span", "note");
  private readonly losses = make("div", "code-losses");
  private readonly pre = make("pre", "code-text");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = ""; // what the shown code is of
  private running: AbortController | undefined;
  private emitted: WorkspaceEmitted | undefined;

  constructor(root: HTMLElement, targets: readonly { Name: string; Title: string }[], host: Host) {
    this.root = root;
    this.host = host;
    this.target = make("select", "chooser");
    this.target.setAttribute("aria-label", "Write the definition as");
    for (const { Name, Title } of targets) {
      this.target.append(new Option(Title, Name));
    }
    this.target.value = remembered(targetKey) || "go";
    this.target.addEventListener("change", () => {
      remember(targetKey, this.target.value);
      this.pre.scrollTop = 0;
      void this.ask();
    });
    this.whole.type = "checkbox";
    this.whole.checked = remembered(wholeKey) === "yes";
    this.whole.addEventListener("change", () => {
      remember(wholeKey, this.whole.checked ? "yes" : "no");
      this.draw();
    });
    const whole = make("label", "check");
    whole.title = "The whole file, with its beginning and the code that all messages share";
    whole.append(this.whole, " all");
    const save = button("Files…", () => this.host.save(this.target.value, save), "Copy or save the files, with a test");
    const close = button("✕", () => this.host.close(), "Close the code");
    const actions = make("div", "actions");
    actions.append(whole, button("Copy", () => this.copy(), "Copy the shown code"), save, close);
    const head = make("div", "pane-head");
    head.append(this.target, this.note, make("span", "tag warn unchecked", "of an earlier text: no connection"), actions);
    this.pre.tabIndex = 0;
    this.pre.setAttribute("role", "region");
    this.pre.setAttribute("aria-label", "Code of the definition");
    this.losses.setAttribute("role", "note");
    root.replaceChildren(head, this.losses, this.pre);
  }

  focus(): void {
    this.pre.focus();
  }

  /** The definition may have changed. */
  changed(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), this.emitted === undefined ? 0 : pause);
  }

  private async ask(): Promise<void> {
    clearTimeout(this.timer);
    const subject = this.host.subject();
    if (this.root.hidden) {
      return;
    }
    if (subject === undefined) {
      this.asked = "";
      this.emitted = undefined;
      this.note.textContent = "";
      this.losses.replaceChildren();
      this.pre.textContent = "Open a definition to see its code.";
      return;
    }
    const { workspace, message, text, state } = subject;
    const target = this.target.value;
    const asked = [target, message, state, text ?? ""].join("\n");
    this.running?.abort();
    if (asked === this.asked) {
      if (this.root.classList.contains("stale")) { // a mistake was undone
        this.draw();
      }
      return;
    }
    const running = new AbortController();
    this.running = running;
    const name = message.replace(/^.*\//, "").replace(/\.\d+$/, "").toLowerCase();
    const body = { target: target as Operations["POST emit"]["body"]["target"], name, messages: [message], ...(text === undefined ? {} : { definition: text, file: `${message}.def` }) };
    const reply = await request("POST emit", { project: workspace }, { body, signal: running.signal }).catch(() => undefined);
    if (reply === undefined) {
      return; // newer text
    }
    if (!reply.ok) {
      this.stale(reply.why);
      return;
    }
    if (reply.answer.files.every(({ text }) => text === "") || reply.answer.left?.includes(message) === true) {
      this.stale(this.emitted === undefined ? "the definition has mistakes" : "mistakes: last valid version");
      return;
    }
    this.asked = asked;
    this.emitted = reply.answer;
    this.draw();
  }

  /** Keeps the shown code while there is no newer one. */
  private stale(why: string): void {
    this.note.textContent = why;
    this.note.className = "tag warn";
    this.root.classList.add("stale");
    if (this.emitted === undefined) {
      this.pre.textContent = "";
    }
  }

  /** The shown text: the part of each file about the message, or all. */
  private text(): string {
    const files = this.emitted?.files ?? [];
    return files.map(({ name, text, from = 0, to = 0 }) => {
      const shown = this.whole.checked || from === 0 ? text : `${text.split("\n").slice(from - 1, to).join("\n")}\n`;
      return files.length > 1 ? `${this.comment(name)}\n${shown}` : shown;
    }).join("\n");
  }

  private comment(name: string): string {
    return this.target.value === "c" ? `/* ${name} */\n` : `# ${name}\n`;
  }

  private draw(): void {
    const lines = this.text().split("\n");
    const left = lines.length - mostLines;
    this.root.classList.remove("stale");
    this.note.className = "note";
    this.note.textContent = `${lines.length - 1} lines`;
    const { scrollTop, scrollLeft } = this.pre;
    this.pre.textContent = lines.slice(0, mostLines).join("\n") + (left > 0 ? `\n… ${left} more lines: Files has all` : "");
    colorCode(this.pre, this.target.value);
    this.pre.scrollTo(scrollLeft, scrollTop);
    this.losses.replaceChildren(...(this.emitted?.losses ?? []).map(({ reason, count = 0, places = [] }) => {
      const line = make("p", "", count > 0 ? `Lost in ${count === 1 ? "1 place" : `${count} places`}: ${reason}` : `Lost: ${reason}`);
      line.title = `${reason}${places.length > 0 ? `\n${places.join("\n")}` : ""}`;
      return line;
    }));
    this.losses.hidden = this.losses.childElementCount === 0;
  }

  private copy(): void {
    void copyText(this.text()).then((done) => notify(done ? `Copied ${this.note.textContent ?? ""}` : "The browser does not allow copying here", done ? "ok" : "err"));
  }
}
