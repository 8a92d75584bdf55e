// Holding, changing and sending messages of running traffic: what is held by which filter, and the dialogs to change, to send and for
// rules. The queue of what is held is that of held.ts.
//
//   dialog.operate > form > .field, .message-form, .row, .operate-says

import { hexOf } from "./hex/text";
import { register } from "./commands";
import { arrow, dialog, field, select } from "./dialog";
import { button, make } from "./dom";
import type { Frames } from "./frames/index";
import type { FrameRow } from "./frames/protocol";
import { counted, shortConnection } from "./frames/text";
import { type Held, HeldQueue } from "./held";
import { openMenu } from "./menu";
import { type Content, MessageForm } from "./messageform";
import { notify } from "./notify";
import { ask, type Session } from "./relays";
import { lookOnly } from "./role";
import { dialogs } from "./dialogs";
import { signal } from "./ui";

/** What the panes show: a message to send is made of it. */
export interface Shown {
  /** The bytes, as they were changed in the page. */
  bytes(): Uint8Array;
  row(): FrameRow | undefined;
}

const mostShown = 14; // characters of a filter on the button

// Filters that the page itself offers, in words.
const all = "kind == message";
const client = "dir == c2s && kind == message";
const server = "dir == s2c && kind == message";
const holds: Readonly<Record<string, string>> = { [all]: "all", [client]: "C→S", [server]: "S→C" };

function short(text: string): string {
  return text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`;
}

/** What can be done with the messages of one session. */
export class Operate {
  private readonly api: string;
  private readonly frames: Frames;
  private readonly shown: Shown;
  readonly on = signal(false);
  readonly offered = signal(false); // by the listener
  readonly label = signal("Intercept"); // of the button
  readonly title = signal("");
  private readonly queue: HeldQueue;
  private session: Session | undefined;
  private intercept = "";
  private isAway = false;

  constructor(api: string, frames: Frames, shown: Shown) {
    this.api = api;
    this.frames = frames;
    this.shown = shown;
    const may = !lookOnly();
    this.queue = new HeldQueue(api, may, { edit: (h) => void this.edit(h), leave: () => frames.focus() });
    const some = (): boolean => may && this.queue.size > 0;
    const can = (): boolean => may && !this.isAway && this.session?.operate !== undefined;
    const { queue } = this;
    register(
      { id: "live-intercept", title: "Intercept on or off", group: "Live", keys: ["i"], enabled: can, run: () => void this.flip() },
      { id: "live-forward", title: "Forward the held message", group: "Live", keys: ["a"], enabled: some, run: () => void queue.decide("forward") },
      { id: "live-forward-all", title: "Forward all held messages", group: "Live", keys: ["Shift+A"], enabled: some, run: () => void queue.forwardAll() },
      { id: "live-drop", title: "Drop the held message", group: "Live", keys: ["x"], enabled: some, run: () => void queue.decide("drop") },
      { id: "live-edit", title: "Change the held message", group: "Live", keys: ["e"], enabled: some, run: () => queue.edit() },
      { id: "live-revert", title: "Take back what was made of the held message", group: "Live", keys: ["v"], enabled: () => some() && queue.canRevert, run: () => queue.revert() },
      { id: "live-held", title: "Messages that are held", group: "Go to", keys: ["w h"], enabled: some, run: () => queue.focus() },
      { id: "live-resend", title: "Send the frame again as it is", group: "Live", keys: ["r"], enabled: can, run: () => void this.resend() },
      { id: "live-duplicate", title: "Send a message like this one", group: "Live", keys: ["Shift+D"], enabled: can, run: () => void this.send(true) },
      { id: "live-rules", title: "Rules for messages", group: "Live", enabled: can, run: () => void dialogs().then((d) => d?.rulesDialog(this.api, this.frames.shown.filter, this.on.value)) },
    );
  }

  /** The session was looked at. */
  draw(s: Session | undefined): void {
    this.session = s;
    const op = s?.operate;
    this.offered.value = op !== undefined;
    const on = op?.on ?? false;
    this.on.value = on;
    this.intercept = op?.intercept ?? "";
    const rules = (op?.rules ?? 0) > 0 ? ` · ${counted(op?.rules ?? 0, "rule")}` : "";
    this.label.value = !on ? "Intercept" : (this.intercept === "" ? "Changes on" : `Holding ${holds[this.intercept] ?? short(this.intercept)}`) + rules;
    this.title.value = !on ? "Hold messages that match a filter, to change or drop them (i)" :
      this.intercept === "" ? "Nothing is held; messages can be sent, and rules apply (i turns it off)" : `Messages that match ${this.intercept} are held (i turns it off)`;
    this.queue.run(on);
  }

  /** The server is away, or there again. */
  away(isAway: boolean): void {
    this.isAway = isAway;
    this.queue.away(isAway);
  }

  /** Holds what the filter of the list shows, or nothing any more. */
  private flip(): Promise<boolean> {
    return this.set(this.on.value ? { on: false, intercept: "" } : { on: true, intercept: this.frames.shown.filter || all });
  }

  private async set(change: { on: boolean; intercept: string }): Promise<boolean> {
    const s = await ask<Session>(`${this.api}/operate`, "POST", change);
    if (s === undefined) {
      return false;
    }
    this.draw(s);
    notify(this.on.value ? (this.intercept === "" ? "Messages can be changed and sent" : `Messages that fit “${this.intercept}” are held`) : "Traffic passes as it comes");
    const stuck = s.conns.some((c) => c.mode === "operating") ? undefined : s.conns.find((c) => c.mode === "impossible" || c.mode === "wanted");
    if (this.on.value && stuck !== undefined) {
      notify(`${shortConnection({ name: stuck.name, session: stuck.session ?? 0, proto: "", frames: 0 })}: ${stuck.mode === "wanted" ? "not yet, " : "cannot be changed, "}${stuck.mode_why ?? ""}`, "warn");
    }
    return true;
  }

  /** Lets messages be sent, and holds none by that, where nobody has allowed it yet; false if that fails. */
  private async turnedOn(): Promise<boolean> {
    return this.on.value || await this.set({ on: true, intercept: "" });
  }

  /** Offers what can be held. */
  menu(anchor: HTMLElement): void {
    const filter = this.frames.shown.filter;
    const type = this.shown.row()?.type ?? "";
    const hold = (title: string, intercept: string): { title: string; run: () => void } => ({ title: intercept !== "" && this.on.value && this.intercept === intercept ? `${title} ✓` : title, run: () => void this.set({ on: true, intercept }) });
    openMenu(anchor, {
      label: "Change what passes",
      items: [
        ...(filter === "" ? [] : [hold(`Hold what fits the filter: ${filter.slice(0, 40)}`, filter)]),
        ...(type === "" || type === filter ? [] : [hold(`Hold what is chosen in the list: ${type.slice(0, 40)}`, type)]),
        hold("Hold what the client sends", client),
        hold("Hold what the server sends", server),
        { title: "Hold nothing; allow sending and rules", run: () => void this.set({ on: true, intercept: "" }) },
        { title: "Rules …", run: () => void dialogs().then((d) => d?.rulesDialog(this.api, filter, this.on.value)) },
        { title: "Off: traffic passes as it comes", hint: "i", disabled: !this.on.value, run: () => void this.set({ on: false, intercept: "" }) },
      ],
    });
  }

  /** Changes a held message. */
  private async edit(h: Held): Promise<void> {
    const title = `Change ${h.frame.message ?? "a message"} before it goes (${arrow(h.frame.dir)})`;
    const now = h.with === undefined || h.name === "" ? undefined : await this.decode(h.name, h.with); // what rules made of it
    const { box, form, says, say } = dialog(title);
    const content = new MessageForm();
    const kept = this.queue.edited(h);
    if (kept === undefined) {
      content.show(h.frame.value, h.frame.hex, now);
    } else {
      content.resume(h.frame.value, h.frame.hex, kept);
    }
    const close = (action: string, more: object = {}): void => void this.queue.decide(action, h, more, say).then((done) => done && box.close());
    const row = make("div", "row");
    row.append(
      button("Send changed", () => {
        const what = read(content, say);
        if (what !== undefined) {
          close("replace", "value" in what ? { message: h.name, ...what } : what);
        }
      }, "", "btn primary"),
      button("Save for later", () => {
        const what = read(content, say);
        if (what !== undefined) {
          this.queue.keep(h, what);
          box.close();
        }
      }, "Keep holding the message; Forward sends it as changed"),
      button("Reset", () => {
        content.show(h.frame.value, h.frame.hex);
        content.focus();
      }, "Back to the original values"),
      button("Send original", () => {
        this.queue.forget(h);
        if (h.with === undefined) {
          close("forward");
        } else {
          close("replace", { hex: h.frame.hex }); // rules have made something else of it
        }
      }),
      button("Drop", () => close("drop")),
      button("Cancel", () => box.close(), "Keep holding the message"),
    );
    form.append(content.element, says, row);
    box.addEventListener("close", () => {
      if (document.activeElement !== document.body && document.activeElement !== null) {
        return;
      }
      if (this.queue.size > 0) { // the row that had the keys is gone
        this.queue.focus();
      } else {
        this.frames.focus();
      }
    });
    content.focus();
  }

  /** Sends the chosen frame again, as it is. */
  private async resend(): Promise<void> {
    const { row } = this.frames.list; // the panes may not have it yet
    if (row === undefined) {
      notify("Choose a frame first: it is sent again as it is", "warn");
      return;
    }
    const frame = await this.frames.socket.ask("frame", { n: row.n }).catch(() => undefined);
    if (frame === undefined) {
      notify(`Frame ${row.n} is not known any more`, "warn");
      return;
    }
    if ((frame.row.kind ?? "message") !== "message" || frame.dir === "") {
      notify("Only messages can be sent: this frame belongs to the protocol below them", "warn");
      return;
    }
    if ((frame.row.len ?? 0) > frame.hex.length / 2) {
      notify("This message is too large to be sent again", "warn");
      return;
    }
    if (!await this.turnedOn()) {
      return;
    }
    const open = (this.session?.conns ?? []).filter((c) => c.mode !== "impossible");
    const conn = this.session?.conns.find((c) => c.name === frame.conn) ?? (open.length === 1 ? open[0] : undefined);
    if (conn === undefined) {
      notify(open.length === 0 ? "No connection is open that it could go into" : "Its connection has ended: choose another one", "warn");
      if (open.length > 0) {
        await this.send(true);
      }
      return;
    }
    if (await ask(`${this.api}/send`, "POST", { dir: frame.dir, conn_id: conn.id, hex: frame.hex }) !== undefined) {
      notify(`${frame.row.name ?? "The message"} is sent again, ${arrow(frame.dir)}: it is in the list, with *`);
    }
  }

  /** Sends a message of one's own, or one like that in the panes. */
  async send(like: boolean): Promise<void> {
    const { row } = this.frames.list;
    const frame = row === undefined ? undefined : await this.frames.socket.ask("frame", { n: row.n }).catch(() => undefined);
    const { box, form, says, say } = dialog(like && frame !== undefined ? "Send a message like this one" : "Send a message");
    const content = new MessageForm();
    const name = make("input");
    name.value = frame?.name ?? "";
    name.placeholder = "name, or none: bytes";
    name.autocomplete = "off";
    name.setAttribute("list", "operate-names");
    const names = make("datalist");
    names.id = "operate-names";
    names.append(...Array.from(document.querySelectorAll<HTMLElement>("#rail-list .item"), (item) => new Option(item.dataset["name"] ?? "")));
    const dir = select([["c2s", "C→S, to the server"], ["s2c", "S→C, to the client"]], frame?.dir ?? "c2s");
    const conns = (this.session?.conns ?? []).filter((c) => c.mode !== "impossible");
    const conn = select(conns.map((c) => [String(c.id), shortConnection({ name: c.name, session: c.session ?? 0, proto: "", frames: 0 }) + (c.mode === "operating" || !this.on.value ? "" : ` (${c.mode_why ?? c.mode ?? ""})`)]), String(conns.find((c) => c.name === frame?.conn)?.id ?? conns.at(-1)?.id ?? ""));
    const connField = field("Connection", conn);
    connField.hidden = conns.length === 1;
    const top = make("div", "row");
    top.append(field("Message", name), field("Direction", dir), connField);
    const fill = async (): Promise<void> => {
      say("");
      content.show(name.value === "" ? undefined : await this.blank(name.value.trim(), say), "");
    };
    name.addEventListener("change", () => void fill());
    const post = async (what: Content): Promise<void> => {
      const body = { dir: dir.value, ...(conn.value === "" ? {} : { conn_id: Number(conn.value) }), ...("value" in what ? { message: name.value.trim(), ...what } : what) };
      if (await ask(`${this.api}/send`, "POST", body, say) !== undefined) {
        say(`Sent at ${new Date().toLocaleTimeString()}: it is in the list, with *`, false);
        off.remove();
      }
    };
    const off = make("p", "hint", "Changes are off: Send turns them on first.");
    off.hidden = this.on.value;
    const buttons = make("div", "row");
    buttons.append(
      button("Send", () => {
        const what = read(content, say);
        if (what === undefined) {
          return;
        }
        void this.turnedOn().then((on) => (on ? post(what) : undefined));
      }, "", "btn primary"),
      button("Close", () => box.close()),
    );
    form.append(names, top, content.element, off, says, buttons);
    if (frame === undefined) {
      content.show(undefined, "");
      name.focus();
      return;
    }
    const now = this.shown.row()?.n === frame.n ? hexOf(this.shown.bytes()) : "";
    const hex = now === "" ? frame.hex : now;
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
