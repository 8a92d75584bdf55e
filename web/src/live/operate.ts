// Holding, changing and sending messages of live traffic: the filter for held messages. The queue of held messages is held.tsx, the dialogs
// are dialogs/messages.tsx.

import { register } from "../kit/commands";
import { arrow } from "../kit/dialog";
import type { FrameAnswer, FrameRow } from "../api/frames";
import { counted, shortConnection } from "../kit/frametext";
import { type Column, type Held, HeldQueue } from "./held";
import { type MenuItem, openMenu } from "../kit/menu";
import { notify } from "../kit/notify";
import { ask, type At } from "../kit/http";
import { type Session } from "../kit/relays";
import { lookOnly } from "../kit/role";
import { dialogs } from "../kit/dialogs";
import { signal } from "../kit/ui";

/** The list of the frames of the traffic. */
export interface List {
  readonly columnsShown: readonly Column[];
  readonly shown: { readonly filter: string };
  readonly list: { readonly row: FrameRow | undefined }; // the current row
  readonly socket: { ask(kind: "frame", question: { n: number }): Promise<FrameAnswer> };
  focus(): void;
  /** Puts an element below the list. */
  below(element: HTMLElement): void;
}

/** The message in the panes, as a template for sending. */
export interface Shown {
  /** The bytes, with edits. */
  bytes(): Uint8Array;
  row(): FrameRow | undefined;
  /** Shows a held message in place of a frame, with an edit or ""; undefined: the selected frame again. */
  hold(m: Held | undefined, edit: string): void;
  /** Is called with the edits of the held message that is shown, and when the panes show something else. */
  held: { edited(hex: string): void; left(): void } | undefined;
  /** Resolves when edits have been taken. */
  settled(): Promise<void>;
  /** Moves the focus to the form of the message. */
  form(): void;
  /** The names of the messages that may be sent. */
  names(): string[];
}

const mostShown = 14; // characters of a filter on the button

// Filters offered by the page, with their words.
const all = "kind == message";
const client = "dir == c2s && kind == message";
const server = "dir == s2c && kind == message";
const holds: Readonly<Record<string, string>> = { [all]: "all", [client]: "C→S", [server]: "S→C" };

function short(text: string): string {
  return text.length <= mostShown ? text : `${text.slice(0, mostShown - 1)}…`;
}

/** The operations on the messages of a session. */
export class Operate {
  readonly at: At;
  readonly frames: List;
  readonly shown: Shown;
  readonly on = signal(false);
  readonly offered = signal(false); // by the listener
  readonly label = signal("Intercept"); // of the button
  readonly title = signal("");
  readonly holding = signal(""); // the filter of held messages
  readonly queue: HeldQueue;
  session: Session | undefined;
  private intercept = "";
  private isAway = false;

  constructor(at: At, frames: List, shown: Shown) {
    this.at = at;
    this.frames = frames;
    this.shown = shown;
    const may = !lookOnly("operator");
    this.queue = new HeldQueue(at, may, {
      show: (m, edit) => shown.hold(m, edit),
      form: () => shown.form(),
      settled: () => shown.settled(),
      columns: () => frames.columnsShown,
      leave: () => frames.focus(),
    });
    shown.held = { edited: (hex) => this.queue.edited(hex), left: () => this.queue.left() };
    if (this.queue.host !== null) {
      frames.below(this.queue.host);
    }
    const some = (): boolean => may && this.queue.size > 0;
    const can = (): boolean => may && !this.isAway && this.session?.operate !== undefined;
    const { queue } = this;
    register(
      { id: "live-intercept", title: "Turn intercept on or off", group: "Live", keys: ["i"], enabled: can, run: () => void this.flip() },
      { id: "live-forward", title: "Forward the held message", group: "Live", keys: ["a", "Ctrl+Enter"], anywhere: true, enabled: some, run: () => void queue.decide("forward") },
      { id: "live-forward-all", title: "Forward all held messages", group: "Live", keys: ["Shift+A"], enabled: some, run: () => void queue.forwardAll() },
      { id: "live-drop", title: "Drop the held message", group: "Live", keys: ["x"], enabled: some, run: () => void queue.decide("drop") },
      { id: "live-edit", title: "Change the held message", group: "Live", keys: ["e"], enabled: some, run: () => queue.edit() },
      { id: "live-revert", title: "Reset the held message", group: "Live", keys: ["v"], enabled: () => some() && queue.canRevert, run: () => queue.revert() },
      { id: "live-held", title: "Held messages", group: "Go to", keys: ["w h"], enabled: some, run: () => queue.focus() },
      { id: "live-resend", title: "Send the frame again, unchanged", group: "Live", keys: ["r"], enabled: can, run: () => void this.resend() },
      { id: "live-duplicate", title: "Send a message like this one", group: "Live", keys: ["Shift+D"], enabled: can, run: () => void this.send(true) },
      { id: "live-rules", title: "Rules for messages", group: "Live", enabled: can, run: () => void dialogs().then((d) => d?.rulesDialog(this.at, this.frames.shown.filter, this.on.value)) },
    );
  }

  /** Items for the menu of a frame. */
  rowItems(row: FrameRow): readonly MenuItem[] {
    const may = !lookOnly("operator") && !this.isAway && this.session?.operate !== undefined && (row.kind ?? "message") === "message";
    const type = row.type ?? "";
    return !may || type === "" ? [] : [
      { group: "Live", title: "Send it again", hint: "r", run: () => void this.resend() },
      { group: "Live", title: "Send one like it …", hint: "Shift+D", run: () => void this.send(true) },
      { group: "Live", title: "Hold such messages", run: () => void this.set({ on: true, intercept: type }) },
      { group: "Live", title: "Rule from this …", run: () => void dialogs().then((d) => d?.rulesDialog(this.at, type, this.on.value)) },
    ];
  }

  /** Holds what matches a filter from now on; held messages that do not match it pass. */
  async hold(filter: string): Promise<boolean> {
    return this.set({ on: true, intercept: filter.trim() });
  }

  /** Takes the state of the session. */
  draw(s: Session | undefined): void {
    this.session = s;
    const op = s?.operate;
    this.offered.value = op !== undefined;
    const on = op?.on ?? false;
    this.on.value = on;
    this.intercept = op?.intercept ?? "";
    this.holding.value = this.intercept;
    const rules = (op?.rules ?? 0) > 0 ? ` · ${counted(op?.rules ?? 0, "rule")}` : "";
    this.label.value = !on ? "Intercept" : (this.intercept === "" ? "Changes on" : `Holding ${holds[this.intercept] ?? short(this.intercept)}`) + rules;
    this.title.value = !on ? "Hold messages that match a filter, to change or drop them (i)" :
      this.intercept === "" ? "Nothing is held; messages can be sent, and rules apply (i turns it off)" : `Messages that match ${this.intercept} are held (i turns it off)`;
    this.queue.run(on);
  }

  /** The server is away or back. */
  away(isAway: boolean): void {
    this.isAway = isAway;
    this.queue.away(isAway);
  }

  /** Starts holding what the filter of the list matches, or stops. */
  private flip(): Promise<boolean> {
    return this.set(this.on.value ? { on: false, intercept: "" } : { on: true, intercept: this.frames.shown.filter || all });
  }

  private async set(change: { on: boolean; intercept: string }): Promise<boolean> {
    const s = await ask("POST proxies/{id}/operate", this.at, change);
    if (s === undefined) {
      return false;
    }
    this.draw(s);
    notify(this.on.value ? (this.intercept === "" ? "Messages can be changed and sent" : `Messages that match “${this.intercept}” are held`) : "Traffic passes unchanged");
    const stuck = s.conns.some((c) => c.mode === "operating") ? undefined : s.conns.find((c) => c.mode === "impossible" || c.mode === "wanted");
    if (this.on.value && stuck !== undefined) {
      notify(`${shortConnection({ name: stuck.name, session: stuck.session ?? 0, proto: "", frames: 0 })}: ${stuck.mode === "wanted" ? "not yet, " : "cannot be changed, "}${stuck.mode_why ?? ""}`, "warn");
    }
    return true;
  }

  /** Allows sending, without holding, unless already allowed; false on failure. */
  async turnedOn(): Promise<boolean> {
    return this.on.value || await this.set({ on: true, intercept: "" });
  }

  /** Opens the menu of filters for holding. */
  menu(anchor: HTMLElement): void {
    const filter = this.frames.shown.filter;
    const type = this.shown.row()?.type ?? "";
    const hold = (title: string, intercept: string): { title: string; run: () => void } => ({ title: intercept !== "" && this.on.value && this.intercept === intercept ? `${title} ✓` : title, run: () => void this.set({ on: true, intercept }) });
    openMenu(anchor, {
      label: "Intercept",
      items: [
        ...(filter === "" ? [] : [hold(`Hold messages that match the filter: ${filter.slice(0, 40)}`, filter)]),
        ...(type === "" || type === filter ? [] : [hold(`Hold messages of the selected type: ${type.slice(0, 40)}`, type)]),
        hold("Hold messages from the client", client),
        hold("Hold messages from the server", server),
        { title: "Hold nothing; allow sending and rules", run: () => void this.set({ on: true, intercept: "" }) },
        { title: "Rules …", run: () => void dialogs().then((d) => d?.rulesDialog(this.at, filter, this.on.value)) },
        { title: "Off: traffic passes unchanged", hint: "i", disabled: !this.on.value, run: () => void this.set({ on: false, intercept: "" }) },
      ],
    });
  }

  /** Sends the selected frame again, unchanged. */
  private async resend(): Promise<void> {
    const { row } = this.frames.list; // the panes may not show it yet
    if (row === undefined) {
      notify("Select a frame first: it is sent again unchanged", "warn");
      return;
    }
    const frame = await this.frames.socket.ask("frame", { n: row.n }).catch(() => undefined);
    if (frame === undefined) {
      notify(`Frame ${row.n} no longer exists`, "warn");
      return;
    }
    if ((frame.row.kind ?? "message") !== "message" || frame.dir === "") {
      notify("Only messages can be sent; this frame belongs to the underlying protocol", "warn");
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
      notify(open.length === 0 ? "No open connection to send it on" : "Its connection has ended; choose another one", "warn");
      if (open.length > 0) {
        await this.send(true);
      }
      return;
    }
    if (await ask("POST proxies/{id}/send", this.at, { dir: frame.dir, conn_id: conn.id, hex: frame.hex }) !== undefined) {
      notify(`${frame.row.name ?? "The message"} was sent again, ${arrow(frame.dir)}; marked * in the list`);
    }
  }

  /** Sends a new message, or one like the message in the panes. */
  async send(like: boolean): Promise<void> {
    await (await dialogs())?.sendMessage(this, like);
  }
}
