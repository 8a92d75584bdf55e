// Holding, changing and sending messages of running traffic: what is held by which filter, and the dialogs to change, to send and for
// rules. The queue of what is held is that of held.ts.
//
//   dialog.operate > form > .field, .message-form, .row, .operate-says

import { register } from "./commands";
import { arrow, button, dialog, field, make, select } from "./dialog";
import type { Frames } from "./frames/index";
import type { FrameRow } from "./frames/protocol";
import { counted, shortConnection } from "./frames/text";
import { type Held, HeldQueue } from "./held";
import { openMenu } from "./menu";
import { type Content, MessageForm } from "./messageform";
import { notify } from "./notify";
import { ask, type Session } from "./relays";
import { rulesDialog } from "./rules";

/** What the panes show: a message to send is made of it. */
export interface Shown {
  /** The bytes, as they were changed in the page. */
  bytes(): Uint8Array;
  row(): FrameRow | undefined;
}

// Filters that the page itself offers, in words.
const all = "kind == message";
const client = "dir == c2s && kind == message";
const server = "dir == s2c && kind == message";
const holds: Readonly<Record<string, string>> = { [all]: "all", [client]: "C→S", [server]: "S→C" };

/** What can be done with the messages of one session. */
export class Operate {
  private readonly api: string;
  private readonly frames: Frames;
  private readonly shown: Shown;
  private readonly toggle = document.getElementById("live-operate");
  private readonly queue: HeldQueue;
  private session: Session | undefined;
  private on = false;
  private intercept = "";

  constructor(api: string, frames: Frames, shown: Shown) {
    this.api = api;
    this.frames = frames;
    this.shown = shown;
    this.toggle?.addEventListener("click", () => this.menu());
    document.getElementById("live-send")?.addEventListener("click", () => void this.send(false));
    const may = this.toggle instanceof HTMLButtonElement && !this.toggle.disabled; // a viewer may not
    this.queue = new HeldQueue(api, may, { edit: (h) => void this.edit(h), leave: () => frames.focus() });
    const some = (): boolean => may && this.queue.size > 0;
    const can = (): boolean => may && this.session?.operate !== undefined;
    const { queue } = this;
    register(
      { id: "live-intercept", title: "Intercept on or off", group: "Live", keys: ["i"], enabled: can, run: () => void this.flip() },
      { id: "live-forward", title: "Forward the held message", group: "Live", keys: ["a"], enabled: some, run: () => void queue.decide("forward") },
      { id: "live-forward-all", title: "Forward all held messages", group: "Live", keys: ["Shift+A"], enabled: some, run: () => void queue.forwardAll() },
      { id: "live-drop", title: "Drop the held message", group: "Live", keys: ["Shift+X"], enabled: some, run: () => void queue.decide("drop") },
      { id: "live-edit", title: "Change the held message", group: "Live", keys: ["e"], enabled: some, run: () => queue.edit() },
      { id: "live-held", title: "Messages that are held", group: "Go to", keys: ["w h"], enabled: some, run: () => queue.focus() },
      { id: "live-resend", title: "Send a message like this one", group: "Live", keys: ["r"], enabled: can, run: () => void this.send(true) },
      { id: "live-rules", title: "Rules for messages", group: "Live", enabled: can, run: () => void rulesDialog(this.api, this.frames.shown.filter, this.on) },
    );
  }

  /** The session was looked at. */
  draw(s: Session | undefined): void {
    this.session = s;
    const op = s?.operate;
    for (const element of [this.toggle, document.getElementById("live-send")]) {
      element?.toggleAttribute("hidden", op === undefined);
    }
    this.on = op?.on ?? false;
    this.intercept = op?.intercept ?? "";
    if (this.toggle !== null) {
      const rules = (op?.rules ?? 0) > 0 ? ` · ${counted(op?.rules ?? 0, "rule")}` : "";
      this.toggle.setAttribute("aria-pressed", String(this.on));
      this.toggle.textContent = (this.on ? (this.intercept === "" ? "Changes on" : `Holding ${holds[this.intercept] ?? this.intercept}`) : "Intercept") + (this.on ? rules : "");
      this.toggle.title = this.on ? (this.intercept === "" ? "Nothing is held; messages can be sent, and rules count (i turns it off)" : `Messages that fit ${this.intercept} are held (i turns it off)`) : "Hold messages that fit a filter, to change or drop them (i)";
    }
    document.getElementById("live-bar")?.classList.toggle("operating", this.on);
    this.queue.run(this.on);
  }

  /** Holds what the filter of the list shows, or nothing any more. */
  private flip(): Promise<boolean> {
    return this.set(this.on ? { on: false, intercept: "" } : { on: true, intercept: this.frames.shown.filter || all });
  }

  private async set(change: { on: boolean; intercept: string }): Promise<boolean> {
    const s = await ask<Session>(`${this.api}/operate`, "POST", change);
    if (s === undefined) {
      return false;
    }
    this.draw(s);
    notify(this.on ? (this.intercept === "" ? "Messages can be changed and sent" : `Messages that fit “${this.intercept}” are held`) : "Traffic passes as it comes");
    const stuck = s.conns.some((c) => c.mode === "operating") ? undefined : s.conns.find((c) => c.mode === "impossible" || c.mode === "wanted");
    if (this.on && stuck !== undefined) {
      notify(`${shortConnection({ name: stuck.name, session: stuck.session ?? 0, proto: "", frames: 0 })}: ${stuck.mode === "wanted" ? "not yet, " : "cannot be changed, "}${stuck.mode_why ?? ""}`, "warn");
    }
    return true;
  }

  private menu(): void {
    const filter = this.frames.shown.filter;
    const type = this.shown.row()?.type ?? "";
    const hold = (title: string, intercept: string): { title: string; run: () => void } => ({ title: intercept !== "" && this.on && this.intercept === intercept ? `${title} ✓` : title, run: () => void this.set({ on: true, intercept }) });
    openMenu(this.toggle ?? document.body, {
      label: "Change what passes",
      items: [
        ...(filter === "" ? [] : [hold(`Hold what fits the filter: ${filter.slice(0, 40)}`, filter)]),
        ...(type === "" || type === filter ? [] : [hold(`Hold what is chosen in the list: ${type.slice(0, 40)}`, type)]),
        hold("Hold what the client sends", client),
        hold("Hold what the server sends", server),
        { title: "Hold nothing; allow sending and rules", run: () => void this.set({ on: true, intercept: "" }) },
        { title: "Rules …", run: () => void rulesDialog(this.api, filter, this.on) },
        { title: "Off: traffic passes as it comes", hint: "i", disabled: !this.on, run: () => void this.set({ on: false, intercept: "" }) },
      ],
    });
  }

  /** Changes a held message. */
  private async edit(h: Held): Promise<void> {
    const title = `Change ${h.frame.message ?? "a message"} before it goes (${arrow(h.frame.dir)})`;
    const now = h.with === undefined || h.name === "" ? undefined : await this.decode(h.name, h.with); // what rules made of it
    const { box, form, says, say } = dialog(title);
    const content = new MessageForm();
    content.show(h.frame.value, h.frame.hex, now);
    const close = (action: string, more: object = {}): void => void this.queue.decide(action, h, more, say).then((done) => done && box.close());
    const row = make("div", "row");
    row.append(
      button("Send changed", () => {
        const what = read(content, say);
        if (what !== undefined) {
          close("replace", "value" in what ? { message: h.name, ...what } : what);
        }
      }, "", "btn primary"),
      button("Forward as it came", () => close("forward")),
      button("Drop", () => close("drop")),
      button("Cancel", () => box.close(), "It goes on waiting"),
    );
    form.append(content.element, says, row);
    content.focus();
  }

  /** Sends a message of one's own, or one like that in the panes. */
  private async send(like: boolean): Promise<void> {
    if (!this.on && !await this.set({ on: true, intercept: "" })) {
      return;
    }
    const row = this.shown.row();
    const frame = row === undefined ? undefined : await this.frames.socket.ask("frame", { n: row.n }).catch(() => undefined);
    const { box, form, says, say } = dialog(like && frame !== undefined ? "Send a message like this one" : "Send a message");
    const content = new MessageForm();
    const name = make("input");
    name.value = frame?.name ?? "";
    name.placeholder = "name of its definition; empty: bytes alone";
    name.autocomplete = "off";
    name.setAttribute("list", "operate-names");
    const names = make("datalist");
    names.id = "operate-names";
    names.append(...Array.from(document.querySelectorAll<HTMLElement>("#rail-list .item"), (item) => new Option(item.dataset["name"] ?? "")));
    const dir = select([["c2s", "C→S, to the server"], ["s2c", "S→C, to the client"]], frame?.dir ?? "c2s");
    const conns = (this.session?.conns ?? []).filter((c) => c.mode !== "impossible");
    const conn = select(conns.map((c) => [String(c.id), shortConnection({ name: c.name, session: c.session ?? 0, proto: "", frames: 0 }) + (c.mode === "operating" ? "" : ` (${c.mode_why ?? c.mode ?? ""})`)]), String(conns.find((c) => c.name === frame?.conn)?.id ?? conns.at(-1)?.id ?? ""));
    const connField = field("Connection", conn);
    connField.hidden = conns.length === 1;
    const top = make("div", "row");
    top.append(field("Message", name), field("Direction", dir), connField);
    const fill = async (): Promise<void> => {
      say("");
      content.show(name.value === "" ? undefined : await this.blank(name.value.trim(), say), "");
    };
    name.addEventListener("change", () => void fill());
    const buttons = make("div", "row");
    buttons.append(
      button("Send", () => {
        const what = read(content, say);
        if (what === undefined) {
          return;
        }
        const body = { dir: dir.value, ...(conn.value === "" ? {} : { conn_id: Number(conn.value) }), ...("value" in what ? { message: name.value.trim(), ...what } : what) };
        void ask(`${this.api}/send`, "POST", body, say).then((done) => {
          if (done !== undefined) {
            say(`Sent at ${new Date().toLocaleTimeString()}: it is in the list, with *`, false);
          }
        });
      }, "", "btn primary"),
      button("Close", () => box.close()),
    );
    form.append(names, top, content.element, says, buttons);
    if (frame === undefined) {
      content.show(undefined, "");
      name.focus();
      return;
    }
    const hex = Array.from(this.shown.bytes(), (b) => b.toString(16).padStart(2, "0")).join("") || frame.hex;
    content.show(frame.name === "" ? undefined : await this.decode(frame.name, hex), hex);
    content.focus();
  }

  /** The values of a message, by the API that decodes. */
  private async decode(message: string, hex: string, say?: (text: string) => void): Promise<unknown> {
    const workspace = document.getElementById("main")?.dataset["workspace"] ?? "";
    const answer = await ask<{ results: { value?: unknown }[] }>(`/api/${encodeURIComponent(workspace)}/decode`, "POST", { message, hex }, say);
    return answer?.results[0]?.value;
  }

  /** The values of a message of which nothing is known yet. */
  private async blank(message: string, say: (text: string) => void): Promise<unknown> {
    const workspace = document.getElementById("main")?.dataset["workspace"] ?? "";
    const answer = await ask<{ hex: string }>(`/api/${encodeURIComponent(workspace)}/encode`, "POST", { message, value: {} }, say);
    return answer === undefined ? {} : this.decode(message, answer.hex, say);
  }
}

/** What is in a form; what is wrong with it is said, and undefined the answer. */
function read(form: MessageForm, say: (text: string) => void): Content | undefined {
  try {
    return form.content();
  } catch (error) {
    say(error instanceof Error ? error.message : "It cannot be read");
    return undefined;
  }
}
