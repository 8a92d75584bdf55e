// Holding, changing and sending messages of running traffic: the queue over the list, and the dialogs to change, to send and for rules.
//
//   #held     > .held-head, .held-row > .held-what, .btn ...
//   dialog.operate > form > .field, .two > textarea, .row

import { register } from "./commands";
import type { Frames } from "./frames/index";
import type { FrameRow } from "./frames/protocol";
import { ask, type Session } from "./relays";
import { openMenu } from "./menu";
import { announce, notify } from "./notify";

/** A message that waits, as GET .../held lists it. */
interface Held {
  id: number;
  conn_id: number;
  at: string;
  name: string;
  with?: string;
  frame: { dir: string; message?: string; hex: string; value?: unknown; conn: string; code?: number };
}

interface Rule {
  id: string;
  name?: string;
  on: boolean;
  filter: string;
  action: string;
  delay?: string;
  field?: string;
  value?: unknown;
  note?: string;
  count?: number;
  failed?: number;
}

/** What the panes show: a message to send is made of it. */
export interface Shown {
  /** The bytes, as they were changed in the page. */
  bytes(): Uint8Array;
  row(): FrameRow | undefined;
}

const period = 400; // milliseconds between two looks at what is held

function make<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

function button(text: string, run: () => void, title = "", className = "btn quiet"): HTMLButtonElement {
  const element = make("button", className, text);
  element.type = "button";
  element.title = title;
  element.addEventListener("click", run);
  return element;
}

function field(label: string, control: HTMLElement): HTMLElement {
  const element = make("label", "field");
  element.append(make("span", "", label), control);
  return element;
}

function area(text: string, rows: number): HTMLTextAreaElement {
  const element = make("textarea", "hex-input");
  element.value = text;
  element.rows = rows;
  element.spellcheck = false;
  return element;
}

function select(options: readonly (readonly [string, string])[], chosen = ""): HTMLSelectElement {
  const element = make("select");
  for (const [value, text] of options) {
    element.append(new Option(text, value, false, value === chosen));
  }
  return element;
}

function arrow(dir: string): string {
  return dir === "c2s" ? "C→S" : "S→C";
}

/** A dialog that goes when it is closed. */
function dialog(title: string): { box: HTMLDialogElement; form: HTMLFormElement } {
  const box = make("dialog", "operate");
  const form = make("form");
  form.method = "dialog";
  const head = make("h2", "", title);
  form.append(head);
  box.append(form);
  box.setAttribute("aria-label", title);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return { box, form };
}

/** What can be done with the messages of one session. */
export class Operate {
  private readonly api: string;
  private readonly frames: Frames;
  private readonly shown: Shown;
  private readonly host = document.getElementById("held");
  private readonly toggle = document.getElementById("live-operate");
  private on = false;
  private intercept = "";
  private held: Held[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: string, frames: Frames, shown: Shown) {
    this.api = api;
    this.frames = frames;
    this.shown = shown;
    this.toggle?.addEventListener("click", () => this.menu());
    document.getElementById("live-send")?.addEventListener("click", () => this.send());
    const ready = (): boolean => this.on;
    const some = (): boolean => this.held.length > 0;
    register(
      { id: "live-intercept", title: "Intercept on or off", group: "Live", keys: ["i"], enabled: () => this.toggle?.hidden === false, run: () => void this.set(this.on ? { on: false } : { on: true, intercept: this.frames.shown.filter || "kind == message" }) },
      { id: "live-forward", title: "Forward the oldest held message", group: "Live", keys: ["a"], enabled: some, run: () => this.first((h) => void this.decide(h, "forward")) },
      { id: "live-forward-all", title: "Forward all held messages", group: "Live", keys: ["Shift+A"], enabled: some, run: () => void this.forwardAll() },
      { id: "live-drop", title: "Drop the oldest held message", group: "Live", keys: ["Shift+X"], enabled: some, run: () => this.first((h) => void this.decide(h, "drop")) },
      { id: "live-edit", title: "Change the oldest held message", group: "Live", keys: ["e"], enabled: some, run: () => this.first((h) => this.edit(h)) },
      { id: "live-resend", title: "Send a message like this one", group: "Live", keys: ["r"], enabled: ready, run: () => this.send() },
      { id: "live-rules", title: "Rules for messages", group: "Live", enabled: () => this.toggle?.hidden === false, run: () => void this.rules() },
    );
  }

  /** The session was looked at. */
  draw(s: Session | undefined): void {
    const op = s?.operate;
    for (const element of [this.toggle, document.getElementById("live-send")]) {
      element?.toggleAttribute("hidden", op === undefined);
    }
    this.on = op?.on ?? false;
    this.intercept = op?.intercept ?? "";
    if (this.toggle !== null) {
      this.toggle.setAttribute("aria-pressed", String(this.on));
      this.toggle.textContent = this.on ? (this.intercept === "" ? "Changes on" : `Holding ${this.intercept.slice(0, 30)}`) : "Intercept";
    }
    document.getElementById("live-bar")?.classList.toggle("operating", this.on);
    if (this.on && this.timer === undefined) {
      this.look();
    } else if (!this.on) {
      this.held = [];
      this.drawHeld();
    }
  }

  private look(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.on) {
      return;
    }
    void (async () => {
      try {
        const response = await fetch(`${this.api}/held`);
        if (response.ok) {
          const before = this.held.length;
          this.held = ((await response.json()) as { held: Held[] }).held;
          if (this.held.length > 0 && before === 0) {
            announce(`${this.held.length} held`);
          }
          this.drawHeld();
        }
      } catch {
        // The bar says that the server is away.
      }
      this.timer = setTimeout(() => this.look(), period);
    })();
  }

  private first(run: (h: Held) => void): void {
    const [h] = this.held;
    if (h !== undefined) {
      run(h);
    }
  }

  private drawHeld(): void {
    const { host } = this;
    if (host === null) {
      return;
    }
    const key = this.held.map((h) => h.id).join(",");
    host.hidden = this.held.length === 0;
    if (host.dataset["shown"] === key) {
      return;
    }
    host.dataset["shown"] = key;
    const head = make("div", "held-head");
    head.append(make("strong", "", `${this.held.length} held`), make("span", "dim", "nothing is lost: they go when they are forwarded, or when intercept is turned off"), button("Forward all", () => void this.forwardAll(), "Shift+A", "btn"));
    host.replaceChildren(head, ...this.held.slice(0, 50).map((h) => {
      const row = make("div", "held-row");
      const text = h.frame.value === undefined ? h.frame.hex.slice(0, 80) : JSON.stringify(h.frame.value).slice(0, 160);
      row.append(
        make("span", `held-dir ${h.frame.dir}`, arrow(h.frame.dir)), make("span", "held-name", h.frame.message ?? `0x${(h.frame.code ?? 0).toString(16)}`), make("span", "held-what", text),
        button("Forward", () => void this.decide(h, "forward"), "a", "btn"), button("Change…", () => this.edit(h), "e", "btn"), button("Drop", () => void this.decide(h, "drop"), "Shift+X", "btn"),
      );
      return row;
    }));
  }

  private async decide(h: Held, action: string, more: object = {}): Promise<boolean> {
    const done = await ask(`${this.api}/held`, "POST", { id: h.id, action, ...more }) !== undefined;
    this.look();
    return done;
  }

  private async forwardAll(): Promise<void> {
    await ask(`${this.api}/held`, "POST", { all: true, action: "forward" });
    this.look();
  }

  private async set(change: object): Promise<void> {
    const s = await ask<Session>(`${this.api}/operate`, "POST", change);
    if (s !== undefined) {
      this.draw(s);
      notify(this.on ? (this.intercept === "" ? "Messages can be changed and sent" : `Messages that fit “${this.intercept}” are held`) : "Traffic passes as it comes");
    }
  }

  private menu(): void {
    const filter = this.frames.shown.filter;
    const anchor = this.toggle ?? document.body;
    openMenu(anchor, {
      label: "Change what passes",
      items: [
        ...(filter === "" ? [] : [{ title: `Hold what fits the filter: ${filter.slice(0, 40)}`, run: () => void this.set({ on: true, intercept: filter }) }]),
        { title: "Hold what the client sends", run: () => void this.set({ on: true, intercept: "dir == c2s && kind == message" }) },
        { title: "Hold what the server sends", run: () => void this.set({ on: true, intercept: "dir == s2c && kind == message" }) },
        { title: "Hold nothing; allow sending and rules", run: () => void this.set({ on: true, intercept: "" }) },
        { title: "Rules …", run: () => void this.rules() },
        { title: "Off: traffic passes as it comes", disabled: !this.on, run: () => void this.set({ on: false, intercept: "" }) },
      ],
    });
  }

  /** Values or bytes of a message, with the choice between them. */
  private editor(form: HTMLFormElement, value: unknown, hex: string): () => object {
    const known = value !== undefined && value !== null;
    const text = area(known ? JSON.stringify(value, null, 2) : hex, 12);
    const raw = make("input");
    raw.type = "checkbox";
    raw.checked = !known;
    raw.disabled = !known;
    const exactly = make("input");
    exactly.type = "checkbox";
    const as = make("label", "check");
    as.append(raw, " as bytes");
    const wrong = make("label", "check");
    wrong.append(exactly, " leave lengths and numbers wrong");
    wrong.hidden = known;
    raw.addEventListener("change", () => {
      text.value = raw.checked ? hex : JSON.stringify(value, null, 2);
      wrong.hidden = !raw.checked;
    });
    const row = make("div", "row");
    row.append(as, wrong);
    form.append(field("Message", text), row);
    text.focus();
    return () => (raw.checked ? { hex: text.value, raw: exactly.checked } : { value: JSON.parse(text.value) as unknown });
  }

  private edit(h: Held): void {
    const { box, form } = dialog(`Change ${h.frame.message ?? "a message"} before it goes (${arrow(h.frame.dir)})`);
    const before = make("details");
    before.append(make("summary", "", "As it came"), make("pre", "held-before", h.frame.value === undefined ? h.frame.hex : JSON.stringify(h.frame.value, null, 2)));
    const content = this.editor(form, h.frame.value, h.frame.hex);
    const row = make("div", "row");
    row.append(
      button("Send changed", () => {
        let what: object;
        try {
          what = content();
        } catch (error) {
          notify(`That is no JSON: ${error instanceof Error ? error.message : ""}`, "err");
          return;
        }
        void this.decide(h, "replace", "value" in what ? { message: h.name, ...what } : what).then((done) => done && box.close());
      }, "", "btn primary"),
      button("Forward as it came", () => void this.decide(h, "forward").then((done) => done && box.close())),
      button("Drop", () => void this.decide(h, "drop").then((done) => done && box.close())),
      button("Cancel", () => box.close()),
    );
    form.append(before, row);
  }

  private send(): void {
    const row = this.shown.row();
    void (async () => {
      const frame = row === undefined ? undefined : await this.frames.socket.ask("frame", { n: row.n }).catch(() => undefined);
      const { box, form } = dialog("Send a message");
      const name = make("input");
      name.value = frame?.name ?? "";
      name.placeholder = "name of its definition";
      name.setAttribute("list", "operate-names");
      const names = make("datalist");
      names.id = "operate-names";
      names.append(...Array.from(document.querySelectorAll<HTMLElement>("#rail-list .item"), (item) => new Option(item.dataset["name"] ?? "")));
      const dir = select([["c2s", "C→S, to the server"], ["s2c", "S→C, to the client"]], frame?.dir ?? "c2s");
      form.append(names, field("Message", name), field("Direction", dir));
      const hex = frame === undefined ? "" : Array.from(this.shown.bytes(), (b) => b.toString(16).padStart(2, "0")).join("") || frame.hex;
      const value = frame === undefined || frame.name === "" ? {} : await this.valueOf(frame.name, hex);
      const content = this.editor(form, value, hex);
      const buttons = make("div", "row");
      buttons.append(
        button("Send", () => {
          let what: object;
          try {
            what = content();
          } catch (error) {
            notify(`That is no JSON: ${error instanceof Error ? error.message : ""}`, "err");
            return;
          }
          void ask(`${this.api}/send`, "POST", { dir: dir.value, ...("value" in what ? { message: name.value, ...what } : what) }).then((done) => done !== undefined && notify("Sent"));
        }, "", "btn primary"),
        button("Close", () => box.close()),
      );
      form.append(buttons);
    })();
  }

  /** The values of a message, by the API that decodes. */
  private async valueOf(message: string, hex: string): Promise<unknown> {
    const workspace = document.getElementById("main")?.dataset["workspace"] ?? "";
    const answer = await ask<{ results: { value?: unknown }[] }>(`/api/${encodeURIComponent(workspace)}/decode`, "POST", { message, hex });
    return answer?.results[0]?.value ?? {};
  }

  private async rules(): Promise<void> {
    const answer = await ask<{ rules: Rule[] }>(`${this.api}/rules`);
    if (answer === undefined) {
      return;
    }
    let { rules } = answer;
    const { box, form } = dialog("Rules: what is done to messages without a person");
    const list = make("div", "rules");
    const put = async (next: Rule[]): Promise<void> => {
      const said = await ask<{ rules: Rule[] }>(`${this.api}/rules`, "PUT", { rules: next.map(({ count: _, failed: __, ...rule }) => rule) });
      if (said !== undefined) {
        ({ rules } = said);
        draw();
      }
    };
    const draw = (): void => {
      list.replaceChildren(...rules.map((rule, i) => {
        const row = make("div", "held-row");
        const on = make("input");
        on.type = "checkbox";
        on.checked = rule.on;
        on.title = "on";
        on.addEventListener("change", () => void put(rules.map((r, k) => (k === i ? { ...r, on: on.checked } : r))));
        const what = rule.action === "replace" ? `${rule.field ?? ""} becomes ${JSON.stringify(rule.value)}` : rule.action === "delay" ? `waits ${rule.delay ?? ""}` : rule.action === "note" ? `gets the note “${rule.note ?? ""}”` : "is dropped";
        row.append(on, make("span", "held-name", rule.filter), make("span", "held-what", `${what} · ${rule.count ?? 0} times${(rule.failed ?? 0) > 0 ? `, ${rule.failed ?? 0} failed` : ""}`), button("✕", () => void put(rules.filter((_, k) => k !== i)), "Take the rule away"));
        return row;
      }));
      if (rules.length === 0) {
        list.append(make("p", "hint", "None yet. A rule counts while changes are on."));
      }
    };
    draw();
    const filter = make("input");
    filter.value = this.frames.shown.filter;
    filter.placeholder = "C_CHAT && .message contains \"gold\"";
    const action = select([["replace", "replace a field"], ["drop", "drop"], ["delay", "delay"], ["note", "note"]]);
    const path = make("input");
    path.placeholder = "field, or 250ms, or the note";
    const value = make("input");
    value.placeholder = "new value in JSON: 7, \"text\"";
    action.addEventListener("change", () => {
      path.hidden = action.value === "drop";
      value.hidden = action.value !== "replace";
    });
    const add = button("Add the rule", () => {
      const rule: Rule = { id: `${Date.now()}`, on: true, filter: filter.value, action: action.value };
      if (action.value === "replace") {
        try {
          rule.value = JSON.parse(value.value) as unknown;
        } catch {
          notify("The new value is no JSON: texts need quotes", "err");
          return;
        }
        rule.field = path.value;
      } else if (action.value === "delay") {
        rule.delay = path.value;
      } else if (action.value === "note") {
        rule.note = path.value;
      }
      void put([...rules, rule]);
    }, "", "btn");
    const row = make("div", "row");
    row.append(action, path, value, add);
    const buttons = make("div", "row");
    buttons.append(button("Close", () => box.close()));
    form.append(list, field("Messages that fit", filter), row, buttons);
  }
}
