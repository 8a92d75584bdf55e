// The queue of messages that wait for a person, over the list.
//
//   #held > .held-head, .held-list[role=list] > .held-row[role=listitem] > .held-dir, .held-name, .held-what, .held-age, .btn ...
//
// One row is that of the keys: the one with the focus, or else the oldest.

import { arrow } from "./dialog";
import { button, make } from "./dom";
import { count, counted, opcode } from "./frames/text";
import { announce } from "./notify";
import type { Content } from "./messageform";
import { ask } from "./relays";

/** A message that waits, as GET .../held lists it. */
export interface Held {
  id: number;
  conn_id: number;
  at: string;
  until?: string;
  name: string;
  behind?: number; // frames of its direction that wait for it
  with?: string;
  frame: { dir: string; message?: string; hex: string; value?: unknown; conn: string; code?: number };
}

const waiting = "Held until forwarded, or until changes are turned off.";
const period = 400; // milliseconds between two looks at what is held
const mostRows = 50;
const mostText = 160; // characters of a message in its row

interface Row {
  element: HTMLElement;
  age: HTMLElement;
  what: HTMLElement;
  changed: HTMLElement; // what was made of it
  held: Held;
}

/** Values in one line, without the braces around all of them. */
function valuesText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.startsWith("{") ? text.slice(1, -1) : text;
}

function seconds(h: Held): string {
  const waits = Math.max(0, Math.round((Date.now() - Date.parse(h.at)) / 1000));
  const rest = h.until === undefined ? -1 : Math.max(0, Math.round((Date.parse(h.until) - Date.now()) / 1000));
  const behind = (h.behind ?? 0) > 0 ? `, ${h.behind ?? 0} behind it` : "";
  return `${waits} s${behind}${rest < 0 ? "" : `, forwarded automatically in ${rest} s`}`;
}

export class HeldQueue {
  private readonly api: string;
  private readonly may: boolean;
  private readonly events: { edit(h: Held): void; leave(): void };
  private readonly host = document.getElementById("held");
  private readonly title = make("strong");
  private readonly hint = make("span", "dim", waiting);
  private readonly list = make("div", "held-list");
  private readonly more = make("p", "hint");
  private readonly rows = new Map<number, Row>();
  private readonly gone = new Set<number>(); // decided, while a look that was under way may still tell of them
  private readonly edits = new Map<number, Content>(); // what a person has made of messages that go on waiting
  private held: Held[] = []; // the oldest of those that wait
  private unlisted = 0; // that wait behind them
  private running = false;
  private isAway = false;
  private looking = false;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** With `may` the person may decide. `leave` is called when the focus was in a row that is gone and there is no other. */
  constructor(api: string, may: boolean, events: { edit(h: Held): void; leave(): void }) {
    this.api = api;
    this.may = may;
    this.events = events;
    const head = make("div", "held-head");
    head.append(
      this.title, this.hint,
      ...(may ? [button("Forward all", () => void this.forwardAll(), "Shift+A", "btn")] : []),
    );
    this.list.setAttribute("role", "list");
    this.list.setAttribute("aria-label", "Held messages, the oldest first");
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focusin", () => this.rove());
    this.more.hidden = true;
    this.host?.append(head, this.list, this.more);
  }

  /** How many can be decided. */
  get size(): number {
    return this.isAway ? 0 : this.held.length;
  }

  /** Looks at what is held from now on, or no more. */
  run(on: boolean): void {
    if (on === this.running) {
      return;
    }
    this.running = on;
    if (on) {
      this.look();
    } else {
      clearTimeout(this.timer);
      this.held = [];
      this.unlisted = 0;
      this.draw();
    }
  }

  private look(): void {
    clearTimeout(this.timer);
    if (!this.running) {
      return;
    }
    if (this.looking) {
      this.again = true;
      return;
    }
    this.looking = true;
    this.again = false;
    void (async () => {
      try {
        const response = await fetch(`${this.api}/held`);
        if (response.ok && this.running) {
          const before = this.held.length;
          const { held, total } = (await response.json()) as { held: Held[]; total: number };
          this.held = held.filter((h) => !this.gone.has(h.id));
          this.unlisted = total - held.length;
          if (this.held.length > 0 && before === 0) {
            announce(`${counted(this.held.length + this.unlisted, "message")} held`);
          }
          this.draw();
        }
      } catch {
        // The bar says that the server is away, and away() what that means here.
      }
      this.looking = false;
      if (this.running) {
        this.timer = setTimeout(() => this.look(), this.again ? 0 : document.visibilityState === "visible" ? period : 5 * period);
      }
    })();
  }

  /** The message that keys are about. */
  private target(): Held | undefined {
    const at = document.activeElement;
    const row = [...this.rows.values()].find((r) => at !== null && r.element.contains(at));
    return row?.held ?? this.held[0];
  }

  edit(): void {
    const h = this.target();
    if (h !== undefined) {
      this.events.edit(h);
    }
  }

  /** What a person has made of a message and keeps until it is forwarded. */
  edited(h: Held): Content | undefined {
    return this.edits.get(h.id);
  }

  /** Keeps what a person has made of a message: it goes so when it is forwarded. */
  keep(h: Held, content: Content): void {
    this.edits.set(h.id, content);
    this.draw();
    announce("Change saved; Forward sends it");
  }

  /** Forgets what a person has made of a message. */
  forget(h: Held): void {
    this.edits.delete(h.id);
  }

  /** Whether a held message is no more as it came. */
  get canRevert(): boolean {
    const h = this.target();
    return h !== undefined && (this.edits.has(h.id) || h.with !== undefined);
  }

  /** Takes back what was made of a message: by a person, or else by rules. */
  revert(h = this.target()): void {
    if (h === undefined) {
      return;
    }
    if (!this.edits.delete(h.id)) {
      if (h.with === undefined) {
        announce("The message is unchanged");
        return;
      }
      this.edits.set(h.id, { hex: h.frame.hex, raw: false });
    }
    this.draw();
    announce(h.with === undefined || this.edits.has(h.id) ? "The original will be sent" : "The message will be sent as changed by rules");
  }

  /** Nothing can be decided while the server is away, and what is shown may be gone. */
  away(isAway: boolean): void {
    this.isAway = isAway;
    this.hint.textContent = isAway ? "The server does not answer: these may no longer be held." : waiting;
    this.host?.classList.toggle("away", isAway);
    for (const b of this.host?.querySelectorAll("button") ?? []) {
      b.disabled = isAway;
    }
  }

  focus(): void {
    this.rows.get(this.held[0]?.id ?? -1)?.element.focus();
  }

  /** Says what becomes of a message; true if that is done. */
  async decide(action: string, h = this.target(), more: object = {}, wrong?: (text: string) => void): Promise<boolean> {
    if (h === undefined) {
      return false;
    }
    const kept = this.edits.get(h.id);
    const body = action === "forward" && kept !== undefined ? { action: "replace", ...("value" in kept ? { message: h.name, ...kept } : kept) } : { action, ...more };
    const done = (await ask(`${this.api}/held`, "POST", { id: h.id, ...body }, wrong)) !== undefined;
    if (done) {
      this.gone.add(h.id);
      this.edits.delete(h.id);
      this.held = this.held.filter((x) => x !== h && x.id !== h.id);
      this.draw();
    }
    this.look();
    return done;
  }

  async forwardAll(): Promise<void> {
    for (const h of this.held.filter((one) => this.edits.has(one.id))) {
      if (!await this.decide("forward", h)) {
        return; // what is wrong was said, and nothing is to go before it is right
      }
    }
    await ask(`${this.api}/held`, "POST", { all: true, action: "forward" });
    this.look();
  }

  private draw(): void {
    const { host, list } = this;
    if (host === null) {
      return;
    }
    const shown = this.held.slice(0, mostRows);
    const at = [...this.rows.values()].findIndex((r) => r.element.contains(document.activeElement));
    const ids = new Set(shown.map((h) => h.id));
    for (const id of this.edits.keys()) {
      if (!this.held.some((h) => h.id === id)) {
        this.edits.delete(id); // it went by itself, or by another page
      }
    }
    for (const [id, row] of this.rows) {
      if (!ids.has(id)) {
        row.element.remove();
        this.rows.delete(id);
      }
    }
    for (const h of shown) {
      const row = this.rows.get(h.id);
      if (row === undefined) {
        const made = this.row(h);
        this.rows.set(h.id, made);
        list.append(made.element); // the oldest are first, and stay so
      } else {
        row.held = h;
        row.age.textContent = seconds(h);
      }
      this.drawChange(h);
    }
    host.hidden = this.held.length === 0;
    const all = this.held.length + this.unlisted;
    this.title.textContent = `${count(all)} held`;
    this.more.hidden = all <= shown.length;
    this.more.textContent = `and ${counted(all - shown.length, "more message")}, after these`;
    this.rove();
    if (at >= 0 && !list.contains(document.activeElement)) { // the row with the focus went
      const next = [...this.rows.values()].at(Math.min(at, this.rows.size - 1));
      if (next === undefined) {
        this.events.leave();
      } else {
        next.element.focus();
      }
    }
  }

  /** One row is in the order of Tab. */
  private rove(): void {
    const rows = [...this.rows.values()];
    const current = rows.find((r) => r.element.contains(document.activeElement)) ?? rows[0];
    for (const row of rows) {
      row.element.tabIndex = row === current ? 0 : -1;
    }
  }

  /** Shows what has become of a message while it waits. */
  private drawChange(h: Held): void {
    const row = this.rows.get(h.id);
    if (row === undefined) {
      return;
    }
    const edit = this.edits.get(h.id);
    const isBack = edit !== undefined && "hex" in edit && !edit.raw && edit.hex === h.frame.hex;
    const text = isBack ? "original, without the changes of rules" : edit !== undefined ? "~ changed, not sent yet" : h.with !== undefined ? "~ by a rule" : "";
    row.changed.hidden = text === "";
    row.changed.textContent = text;
    const now = edit === undefined || isBack ? h.frame.value : "value" in edit ? edit.value : undefined;
    const shown = now === undefined ? (edit !== undefined && "hex" in edit ? edit.hex : h.frame.hex) : valuesText(now);
    row.what.textContent = shown.slice(0, mostText);
    row.what.title = shown.slice(0, 10 * mostText);
    const revert = row.element.querySelector<HTMLButtonElement>("[data-revert]");
    if (revert !== null) {
      revert.hidden = edit === undefined && h.with === undefined || isBack;
    }
  }

  private row(h: Held): Row {
    const element = make("div", "held-row");
    element.setAttribute("role", "listitem");
    const { frame } = h;
    const name = frame.message ?? `? ${opcode(frame.code ?? 0)}`;
    element.setAttribute("aria-label", `${name}, ${frame.dir === "c2s" ? "client to server" : "server to client"}`);
    const age = make("span", "held-age", seconds(h));
    const what = make("span", "held-what");
    const changed = make("span", "held-with");
    const row: Row = { element, age, what, changed, held: h };
    element.append(make("span", `held-dir ${frame.dir}`, arrow(frame.dir)), make("span", "held-name", name), what, changed, age);
    if (!this.may) {
      return row;
    }
    const revert = button("Reset", () => this.revert(row.held), "Discard the change (v)", "btn");
    revert.dataset["revert"] = "";
    element.append(
      button("Forward", () => void this.decide("forward", row.held), "Send it, as changed if it was (a)", "btn"),
      button("Change…", () => this.events.edit(row.held), "Edit it before it is sent (e)", "btn"),
      revert,
      button("Drop", () => void this.decide("drop", row.held), "Discard it (x)", "btn"),
    );
    element.addEventListener("dblclick", () => this.events.edit(row.held));
    return row;
  }

  private key(event: KeyboardEvent): void {
    const rows = [...this.rows.values()];
    const at = rows.findIndex((r) => r.element === event.target);
    if (at < 0 || event.defaultPrevented) {
      return;
    }
    const to = event.key === "ArrowDown" || event.key === "j" ? at + 1 : event.key === "ArrowUp" || event.key === "k" ? at - 1 : event.key === "Home" ? 0 : event.key === "End" ? rows.length - 1 : undefined;
    if (to !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      rows.at(Math.max(0, Math.min(to, rows.length - 1)))?.element.focus();
    } else if (event.key === "Enter" && this.may) {
      event.preventDefault();
      event.stopPropagation();
      this.edit();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.events.leave();
    }
  }
}
