// The queue of messages that wait for a person, over the list.
//
//   #held > .held-head, .held-list[role=list] > .held-row[role=listitem] > .held-dir, .held-name, .held-what, .held-age, .btn ...
//
// One row is that of the keys: the one with the focus, or else the oldest.

import { arrow, button, make } from "./dialog";
import { counted } from "./frames/text";
import { announce } from "./notify";
import { ask } from "./relays";

/** A message that waits, as GET .../held lists it. */
export interface Held {
  id: number;
  conn_id: number;
  at: string;
  until?: string;
  name: string;
  with?: string;
  frame: { dir: string; message?: string; hex: string; value?: unknown; conn: string; code?: number };
}

const period = 400; // milliseconds between two looks at what is held
const mostRows = 50;

interface Row {
  element: HTMLElement;
  age: HTMLElement;
  held: Held;
}

function seconds(h: Held): string {
  const waits = Math.max(0, Math.round((Date.now() - Date.parse(h.at)) / 1000));
  const rest = h.until === undefined ? -1 : Math.max(0, Math.round((Date.parse(h.until) - Date.now()) / 1000));
  return `${waits} s${rest < 0 ? "" : `, goes by itself in ${rest} s`}`;
}

export class HeldQueue {
  private readonly api: string;
  private readonly may: boolean;
  private readonly events: { edit(h: Held): void; leave(): void };
  private readonly host = document.getElementById("held");
  private readonly title = make("strong");
  private readonly list = make("div", "held-list");
  private readonly more = make("p", "hint");
  private readonly rows = new Map<number, Row>();
  private readonly gone = new Set<number>(); // decided, while a look that was under way may still tell of them
  private held: Held[] = [];
  private running = false;
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
      this.title, make("span", "dim", "They wait until they are forwarded, or intercept is turned off."),
      ...(may ? [button("Forward all", () => void this.forwardAll(), "Shift+A", "btn")] : []),
    );
    this.list.setAttribute("role", "list");
    this.list.setAttribute("aria-label", "Held messages, the oldest first");
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("focusin", () => this.rove());
    this.more.hidden = true;
    this.host?.append(head, this.list, this.more);
  }

  get size(): number {
    return this.held.length;
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
          const { held } = (await response.json()) as { held: Held[] };
          this.held = held.filter((h) => !this.gone.has(h.id));
          if (this.held.length > 0 && before === 0) {
            announce(`${counted(this.held.length, "message")} held`);
          }
          this.draw();
        }
      } catch {
        // The bar says that the server is away.
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

  focus(): void {
    this.rows.get(this.held[0]?.id ?? -1)?.element.focus();
  }

  /** Says what becomes of a message; true if that is done. */
  async decide(action: string, h = this.target(), more: object = {}, wrong?: (text: string) => void): Promise<boolean> {
    if (h === undefined) {
      return false;
    }
    const done = (await ask(`${this.api}/held`, "POST", { id: h.id, action, ...more }, wrong)) !== undefined;
    if (done) {
      this.gone.add(h.id);
      this.held = this.held.filter((x) => x !== h && x.id !== h.id);
      this.draw();
    }
    this.look();
    return done;
  }

  async forwardAll(): Promise<void> {
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
    }
    host.hidden = this.held.length === 0;
    this.title.textContent = `${this.held.length} held`;
    this.more.hidden = this.held.length <= mostRows;
    this.more.textContent = `and ${counted(this.held.length - mostRows, "more message")}, after these`;
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

  private row(h: Held): Row {
    const element = make("div", "held-row");
    element.setAttribute("role", "listitem");
    const { frame } = h;
    const name = frame.message ?? `? 0x${(frame.code ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    const text = frame.value === undefined ? frame.hex.slice(0, 80) : JSON.stringify(frame.value).slice(1, 160);
    element.setAttribute("aria-label", `${name}, ${frame.dir === "c2s" ? "client to server" : "server to client"}`);
    const age = make("span", "held-age", seconds(h));
    const what = make("span", "held-what", text);
    what.title = text;
    const row: Row = { element, age, held: h };
    element.append(
      make("span", `held-dir ${frame.dir}`, arrow(frame.dir)), make("span", "held-name", name), what, ...(h.with === undefined ? [] : [make("span", "held-with", "~ by a rule")]), age,
    );
    if (!this.may) {
      return row;
    }
    element.append(
      button("Forward", () => void this.decide("forward", row.held), "Forward it as it is (a)", "btn"),
      button("Change…", () => this.events.edit(row.held), "Change it before it goes (e)", "btn"),
      button("Drop", () => void this.decide("drop", row.held), "It never arrives (Shift+X)", "btn"),
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
