// Editing a definition together: the connection of the open text with the room of its file, and the people in it. The text itself is in
// editor/shared.ts.
//
//   #together-bar > .together-people > (button.peer-N, a.together-frame) ..., .together-state, button.together-name

import type { PeopleList, RoomsFileState, RoomsLook, RoomsMessage, RoomsSeen, TextMessage } from "./api";
import { onChanged } from "./changes";
import type { Channel, Connection } from "./connection";
import { copyText } from "./copy/index";
import { make } from "./dom";
import type { DefinitionField } from "./editor/field";
import type { Shared } from "./editor/index";
import { askText } from "./frames/notebox";
import { apiOf, request } from "./http";
import { notify } from "./notify";
import { choosePersonName, personName } from "./person";
import { remember, remembered } from "./remember";
import { frameAddress } from "./score";

/** The page. */
export interface TogetherHost {
  readonly connection: Connection;
  readonly workspace: string;
  readonly editor: DefinitionField;
  text(): string; // of the open definition
  message(): string; // its name
  edited(): boolean; // it differs from the file
  base(): string; // the revision of the file that it was made of
  beside(why: string, text: string): Promise<void>; // shows a text that cannot be merged
  changed(shared: boolean): void;
  go(message: string): void;
  goFrame(at: RoomsLook): boolean; // false if the frame is not one of the page
  peers(colors: ReadonlyMap<number, number>): void; // of others, by the lines where they are
}

/** What is kept of a text whose changes were not confirmed when its page was closed or showed another one. */
interface Kept {
  room: string;
  version: number;
  client: string;
  base: string; // the text of the version
  revision?: string; // of the file, instead of base
  text: string;
  changes: unknown[]; // from the one to the other
}

const key = "together"; // whether texts are edited together
const mostName = 40;
const keepAfter = 1000; // milliseconds without a confirmation
const lookAfter = 200; // milliseconds that a frame is shown until others are told
const drainTime = 5000; // milliseconds that changes on their way have when another text is opened

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function store(name: string, value: string | undefined): void {
  try {
    if (value === undefined) {
      localStorage.removeItem(name);
    } else {
      localStorage.setItem(name, value);
    }
  } catch {
    // Not permitted, or full.
  }
}

export class Together {
  private readonly host: TogetherHost;
  private readonly bar = document.getElementById("together-bar");
  private readonly client = crypto.getRandomValues(new Uint32Array(4)).join("-"); // randomUUID needs TLS
  // Where people sign in, others are there; alone, a text is one's own until it is saved.
  private on = remembered(key, document.getElementById("together-bar")?.dataset["team"] !== undefined);
  private file = "";
  private channel: Channel | undefined;
  private shared: Shared | undefined;
  private room = "";
  private writes = true;
  private state: RoomsFileState | undefined;
  private people: readonly RoomsSeen[] = [];
  private known = false; // the name is that of an account
  private isLost = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private queue: Promise<void> = Promise.resolve(); // messages are taken one after the other

  constructor(host: TogetherHost) {
    this.host = host;
    document.addEventListener("wb:morphed", () => this.mark());
    addEventListener("pagehide", () => this.keep());
    onChanged("people", () => this.goAlong());
    this.mark();
  }

  /** Whether the open text is shared: it is in its file soon after it is typed. */
  get active(): boolean {
    return this.shared !== undefined;
  }

  /** The number of others in the text. */
  get others(): number {
    return this.people.length;
  }

  /** Turns editing together on or off. */
  toggle(): void {
    this.on = !this.on;
    remember(key, this.on);
    const { file } = this;
    this.leave();
    this.follow(file);
    this.mark();
    if (this.on && file === "") {
      notify("Definitions that are stored are edited together from now on");
    }
  }

  /** The page has another file open; "" for a text without one. */
  follow(file: string): void {
    if (file !== this.file) {
      this.leave();
      this.file = file;
    }
    if (this.on && file !== "" && this.channel === undefined) {
      this.join();
    }
  }

  private frame: RoomsLook | undefined; // that is shown
  private looking: ReturnType<typeof setTimeout> | undefined;

  /** The page shows a frame of a capture; undefined for none. Others are told when it stays. */
  look(frame: RoomsLook | undefined): void {
    this.frame = frame;
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.tellFrame(), lookAfter);
  }

  private tellFrame(): void {
    this.send({ look: this.frame ?? { capture: "", frame: 0 } });
  }

  private unmerged: Kept | undefined; // a text that the server is to merge, until it says so
  private whyMerged = "";

  /** Merges a text that was made of a revision of the file. */
  merge(text: string, revision: string): void {
    this.toMerge({ revision, text });
    this.sendUnmerged();
  }

  /** Keeps a text until the server says that it is merged. Its client is its own, so that it is merged once, however often it is sent. */
  private toMerge(of: { base?: string; revision?: string; text: string }): void {
    this.unmerged = { room: "", version: 0, client: `${this.client}-${Date.now().toString(36)}`, base: "", ...of, changes: [] };
    store(this.keptStart + this.unmerged.client, JSON.stringify(this.unmerged));
  }

  private sendUnmerged(): void {
    if (this.unmerged !== undefined) {
      const { client, base, revision, text } = this.unmerged;
      this.send({ merge: { client, base, text, ...(revision === undefined ? {} : { revision }) } });
    }
  }

  /** The server has merged a text, or cannot. */
  private merged(outcome: string): void {
    const { unmerged, file } = this;
    this.unmerged = undefined;
    if (unmerged === undefined) {
      return;
    }
    const key = this.keptStart + unmerged.client;
    if (outcome === "done") {
      store(key, undefined);
      notify(this.whyMerged === "" ? "Your changes are merged with those of others" : `Your text is merged with that of the others: ${this.whyMerged}`);
      return;
    }
    const why = "Your unsaved text was made of one that nobody knows any more, so that it cannot be merged.";
    void this.host.beside(why, unmerged.text).then(() => {
      if (file === this.file) {
        store(key, undefined);
      }
    });
  }

  /** Writes the file now. */
  write(): void {
    this.send({ write: true });
    this.draw();
  }

  private send(message: TextMessage): void {
    this.channel?.send(message);
  }

  /** Where what is typed here is kept: each tab has its place. */
  private get keptKey(): string {
    return this.keptStart + this.client;
  }

  private get keptStart(): string {
    return `wirebench.together\n${this.host.workspace}\n${this.file}\n`;
  }

  private join(): void {
    const { file } = this;
    const kept = this.kept();
    const asked: { file: string; message: string; name: string; have: { room?: string; version?: number } } = {
      file, message: this.host.message(), name: personName(), have: kept === undefined ? {} : { room: kept.room, version: kept.version },
    };
    const channel: Channel = this.host.connection.channel("text", asked, {
      open: () => undefined,
      message: (message: RoomsMessage) => {
        if (this.channel === channel) {
          this.queue = this.queue.then(() => (this.channel === channel ? this.take(message) : undefined));
        } else {
          this.drained(channel, message);
        }
      },
      lost: () => {
        if (this.channel === channel) {
          asked.have = this.shared === undefined ? {} : { room: this.room, version: this.shared.version };
          this.isLost = true;
          this.draw();
        }
      },
    });
    this.channel = channel;
    this.draw();
  }

  /** The text is becoming a new version. What the file refuses is in that one; the room of this one gets back the text of the file. */
  isVersioned = false;

  private readonly draining = new Map<Channel, { left: number; key: string }>();

  /** Ends the connection. Changes on their way are confirmed first, or kept for the next time. */
  private leave(): void {
    const { channel, shared } = this;
    this.keep();
    if (channel !== undefined && shared !== undefined && shared.pending > 0 && !this.isLost) {
      this.draining.set(channel, { left: shared.pending, key: this.keptKey });
      this.send({ push: { client: this.client, version: shared.version, changes: shared.changes } }); // those that are there already are left out
      setTimeout(() => this.draining.delete(channel) && channel.close(), drainTime);
    } else if (this.isVersioned && (this.state?.problem ?? "") !== "") {
      this.send({ revert: true });
      setTimeout(() => channel?.close(), drainTime);
    } else {
      channel?.close();
    }
    this.channel = undefined;
    this.unmerged = undefined; // it is kept
    if (shared !== undefined) {
      this.host.editor.unshare();
      this.host.editor.setReadOnly(null);
      this.shared = undefined;
      this.host.changed(false);
    }
    this.people = [];
    this.tellPeers();
    this.state = undefined;
    this.isLost = false;
    this.file = "";
    this.draw();
  }

  /** Takes the confirmations of a text that is not open any more. */
  private drained(channel: Channel, { updates }: RoomsMessage): void {
    const of = this.draining.get(channel);
    if (of === undefined) {
      return;
    }
    of.left -= (updates ?? []).filter(({ clientID }) => clientID === this.client).length;
    if (of.left <= 0) {
      this.draining.delete(channel);
      store(of.key, undefined);
      channel.close();
    }
  }

  private async take(message: RoomsMessage): Promise<void> {
    const { start, updates, merged, people, nobody, file } = message;
    if (start !== undefined) {
      this.isLost = false;
      this.room = start.room;
      this.writes = start.writes;
      this.known = start.account === true;
      if (start.notice !== undefined) {
        notify(start.notice, "warn");
      }
      if (start.text !== undefined || this.shared === undefined) {
        await this.begin(start.text, start.version, start.why ?? "");
      } else {
        this.shared.again();
      }
      this.sendUnmerged();
      if (this.frame !== undefined) {
        this.tellFrame();
      }
    }
    if (updates !== undefined) {
      this.shared?.receive(updates);
    }
    if (merged !== undefined) {
      this.merged(merged);
    }
    if (file !== undefined) {
      this.state = file;
      this.check(file);
    }
    if (people !== undefined || nobody === true) {
      this.people = people ?? [];
      this.shared?.show(this.people);
      this.tellPeers();
      this.goAlong();
    }
    this.keepLater();
    this.draw();
  }

  /** Takes the text of the server; undefined: the one that is kept. What this page has and the server has not becomes a change of it. */
  private async begin(text: string | undefined, version: number, why: string): Promise<void> {
    const { shared: was } = this;
    const mine = was === undefined ? this.kept() : was.pending > 0 ? { base: was.base, text: this.host.text() } : undefined;
    if (was === undefined && mine === undefined && this.host.edited() && this.writes) {
      this.toMerge({ revision: this.host.base(), text: this.host.text() }); // the draft goes
    }
    const now = text ?? mine?.base ?? "";
    const shared = await this.host.editor.share({ text: now, version, client: this.client }, {
      push: (at, changes) => this.send({ push: { client: this.client, version: at, changes } }),
      at: (at, anchor, head) => this.send({ at: { version: at, anchor, head } }),
    });
    if (shared === undefined) {
      return;
    }
    this.shared = shared;
    this.host.editor.setReadOnly(this.writes ? null : "View only: you see what others type");
    this.host.changed(true);
    this.whyMerged = why;
    if (mine === undefined || !this.writes) {
      return;
    }
    if (text === undefined && "changes" in mine) {
      this.send({ push: { client: mine.client, version: mine.version, changes: mine.changes } }); // those that arrived are left out
    } else if (mine.text !== now) {
      if ("client" in mine && mine.changes.length === 0) {
        this.unmerged = mine; // it may be merged already
      } else {
        this.toMerge({ base: mine.base, text: mine.text });
      }
    }
    if ("client" in mine && mine.client !== this.unmerged?.client) {
      store(this.keptStart + mine.client, undefined);
    }
  }

  /** What was kept of this text, by this tab or another one: the server leaves out what it has of it already. */
  private kept(): Kept | undefined {
    try {
      const key = Object.keys(localStorage).find((k) => k.startsWith(this.keptStart));
      return key === undefined ? undefined : (JSON.parse(stored(key) ?? "null") as Kept | null) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps the text while changes are not confirmed. */
  private keep(): void {
    const { shared } = this;
    if (shared !== undefined) {
      const kept: Kept = { room: this.room, version: shared.version, client: this.client, base: shared.base, text: this.host.text(), changes: shared.changes };
      store(this.keptKey, shared.pending > 0 ? JSON.stringify(kept) : undefined);
    }
  }

  private keepLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.keep();
      if ((this.shared?.pending ?? 0) > 0) {
        this.keepLater();
      }
    }, keepAfter);
  }

  /** The text was typed in. */
  typed(): void {
    this.draw();
    if (this.isLost) {
      this.keepLater();
    }
  }

  /** Compares the text with that of the server, where both are the same version without changes on their way. */
  private check({ version, hash }: RoomsFileState): void {
    const { shared } = this;
    if (shared === undefined || version !== shared.version || shared.pending > 0) {
      return;
    }
    const text = this.host.text();
    let mine = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      mine = Math.imul(mine ^ (unit & 0xff), 0x01000193);
      mine = Math.imul(mine ^ (unit >> 8), 0x01000193);
    }
    if (mine >>> 0 !== hash) {
      const { file } = this;
      this.leave();
      this.follow(file);
      void this.keepApart(file, text);
    }
  }

  /** Keeps a text that differs from that of the others as a suggestion. */
  private async keepApart(file: string, text: string): Promise<void> {
    const api = apiOf(this.host.workspace);
    const copy = { title: "Copy this text", run: () => void copyText(text) };
    const said = "This text differed from that of the others, and was loaded again";
    const stored = await request<{ text: string }>(`${api}/definitions/${encodeURIComponent(file)}`);
    const base = stored.ok ? stored.answer.text.replace(/\r\n?/g, "\n") : "";
    if (!stored.ok || base === text) {
      notify(said, "warn", copy);
      return;
    }
    const made = await request(`${api}/threads`, { body: { file, name: personName(), text: "A text that had come apart from that of the others", suggest: { base, text } } });
    notify(made.ok ? `${said}; it is kept as a suggestion` : said, "warn", copy);
  }

  /** Marks the button. */
  private mark(): void {
    document.querySelector(".together-button")?.setAttribute("aria-pressed", String(this.on));
  }

  private get says(): { text: string; kind: "" | "warn" } {
    const problem = this.state?.problem ?? "";
    switch (true) {
      case this.channel === undefined:
        return { text: "", kind: "" };
      case this.isLost:
        return { text: (this.shared?.pending ?? 0) > 0 ? "No connection: your changes are kept and sent later" : "No connection", kind: "warn" };
      case this.shared === undefined:
        return { text: "Connecting…", kind: "" };
      case problem !== "":
        return { text: `Not in the file: ${problem}`, kind: "warn" };
      case !this.writes:
        return { text: "You see what others type", kind: "" };
      default:
        return { text: this.state?.version === this.shared?.version && (this.shared?.pending ?? 0) === 0 ? "In the file" : "Writing…", kind: "" };
    }
  }

  /** Tells the page where the others are in the text as it is now. */
  tellPeers(): void {
    this.host.peers(new Map(this.people.map((one) => [this.shared?.lineOf(one) ?? 0, one.color] as const).filter(([line]) => line > 0)));
  }

  private followed: { id: string; name: string; line: number } | undefined; // whose place the view goes along with

  /** Ends following somebody. */
  stopFollowing(): void {
    if (this.followed !== undefined) {
      this.followed = undefined;
      this.draw();
    }
  }

  /** Goes to the place of the one who is followed, in this text or in another definition. */
  private goAlong(): void {
    const { followed } = this;
    if (followed === undefined || this.shared === undefined) {
      return;
    }
    const one = this.people.find(({ id }) => id === followed.id) ?? this.people.find(({ name }) => name === followed.name);
    if (one === undefined) {
      void this.goAfter(followed.name);
      return;
    }
    const line = this.shared.lineOf(one);
    if (line > 0 && (line !== followed.line || one.id !== followed.id)) {
      this.followed = { id: one.id, name: one.name, line };
      this.host.editor.reveal(line);
      this.host.editor.select(line);
    }
  }

  /** Opens the definition that somebody has gone to. */
  private async goAfter(name: string): Promise<void> {
    const reply = await request<PeopleList>(`${apiOf(this.host.workspace)}/people`);
    const there = reply.ok ? reply.answer.files.find(({ file, people }) => file !== this.file && people.some((one) => one.name === name)) : undefined;
    const message = there?.people.find((one) => one.name === name)?.message;
    if (this.followed?.name === name && message !== undefined) {
      this.host.go(message);
    }
  }

  private drawing = false;

  /** Draws the bar with the next frame. */
  private draw(): void {
    if (!this.drawing) {
      this.drawing = true;
      requestAnimationFrame(() => {
        this.drawing = false;
        this.drawBar();
      });
    }
  }

  private drawBar(): void {
    const { bar } = this;
    if (bar === null) {
      return;
    }
    bar.hidden = this.channel === undefined;
    const people = make("span", "together-people");
    people.setAttribute("role", "group");
    people.setAttribute("aria-label", "People in this text");
    for (const one of this.people) {
      const button = make("button", `btn quiet peer-${one.color}`);
      button.setAttribute("type", "button");
      button.dataset["peer"] = one.id;
      button.textContent = one.name;
      const followed = this.followed?.id === one.id;
      button.setAttribute("aria-pressed", String(followed));
      button.title = [one.account === true ? "" : "the name is self-chosen", one.writes === true ? "" : "reads only", followed ? "a click ends following" : "a click goes there, and follows until you type"].filter((t) => t !== "").join(", ");
      button.addEventListener("click", () => {
        this.followed = followed ? undefined : { id: one.id, name: one.name, line: 0 };
        this.goAlong();
        this.draw();
      });
      people.append(button);
      if (one.look !== undefined) {
        people.append(this.frameOf(one.name, one.look));
      }
    }
    const { text, kind } = this.says;
    const state = make("span", `together-state ${kind === "" ? "dim" : kind}`);
    state.textContent = text;
    const name = make("button", "btn quiet together-name");
    name.setAttribute("type", "button");
    name.textContent = personName() || "Say who you are";
    name.title = "The name that others see";
    name.hidden = this.known;
    name.addEventListener("click", () => askText(name, { label: "Your name, for others", text: personName(), button: "Use it", most: mostName }, (to) => this.rename(to)));
    const back = make("button", "btn quiet", "Back to the file");
    back.setAttribute("type", "button");
    back.title = "Replaces the text by that of the file, for all";
    back.hidden = (this.state?.problem ?? "") === "" || !this.writes || this.shared === undefined;
    back.addEventListener("click", () => this.send({ revert: true }));
    const alone = make("span", "dim");
    alone.textContent = this.people.length === 0 ? "Nobody else is here" : "";
    const parts = [people, alone, state, back, name];
    const same = bar.childElementCount === parts.length && parts.every((part, i) => bar.children[i]?.outerHTML === part.outerHTML);
    if (!same) { // otherwise the focus stays
      bar.replaceChildren(...parts);
    }
  }

  /** Returns a link to the frame that somebody looks at. */
  private frameOf(name: string, look: RoomsLook): HTMLElement {
    const link = make("a", "together-frame dim", `frame ${look.frame.toLocaleString("en")}`);
    link.setAttribute("href", frameAddress(this.host.workspace, look.capture, look.frame));
    link.title = `${name} looks at this frame: a click opens it`;
    link.addEventListener("click", (e) => {
      if (!(e.ctrlKey || e.metaKey || e.shiftKey) && this.host.goFrame(look)) {
        e.preventDefault();
      }
    });
    return link;
  }

  private rename(name: string): void {
    choosePersonName(name.trim().slice(0, mostName));
    const { file } = this;
    this.leave();
    this.follow(file);
  }
}
