// The room of the open definition: the server has its text, and every page with the definition open shows it. The text itself is in editor/shared.ts.
//
//   #people-bar > (button.peer-N, a.together-frame) ..., span > input           who else is there, at the title
//   #room-bar > .together-state, button                                         what is not as it should be
//   #unsaved-lines                                                              how many lines are not saved, and whose they are

import type { RoomsFileState, RoomsLook, RoomsMessage, RoomsMoved, RoomsSaved, RoomsSeen, RoomsUnsaved, TextMessage, TextOpened } from "../api/api";
import { onChanged } from "../kit/changes";
import { find } from "../kit/commands";
import type { Channel, Connection } from "../kit/connection";
import { copyText } from "../kit/copy/index";
import { make, put } from "../kit/dom";
import type { DefinitionField } from "./editor/field";
import type { Shared } from "./editor/index";
import { request } from "../kit/http";
import { notify } from "../kit/notify";
import { oldDrafts } from "./olddrafts";
import { choosePersonName, personName } from "../kit/person";
import { lookOnly, lookOnlyWhy } from "../kit/role";
import { frameAddress } from "./score";
import { clock } from "../kit/stale";

/** The page. */
export interface TogetherHost {
  readonly connection: Connection;
  readonly workspace: string;
  readonly editor: DefinitionField;
  text(): string; // of the open definition
  message(): string; // its name
  revision(): string; // of the file, that the text was made of
  confirmed(text: string): void; // that the room has
  rewrite(of: string, text: string): void; // replaces a recent text, and leaves what has changed since
  beside(why: string, text: string): Promise<void>; // shows a text that cannot be merged
  changed(file: string, isAway?: boolean): void; // whose room has the text, "" for none; the server is away
  showApart(text: string, revision: string): void; // a suggestion, and the revision that it was made of
  named(message: string): void; // the name of the definition, which is not saved yet
  saved(): void;
  beginSuggestion(): void;
  endSuggestion(): void;
  discard(): void; // asks for the saved text in place of this one
  joined(): void; // the server has said who this page is in the room
  go(message: string): void;
  goFrame(at: RoomsLook): boolean; // false if the frame is not one of the page
  peers(colors: ReadonlyMap<number, number>): void; // of others, by the lines where they are
}

/** What is kept of a text whose changes were not confirmed when its page was closed or showed another one. */
interface Kept {
  room: string; // "" if it was typed before the room was there
  version: number;
  client: string;
  base: string; // the text of the version
  revision?: string; // of the file, instead of base
  copy?: string; // whose text may have begun the definition
  text: string;
  changes: unknown[]; // from the one to the other
}

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

/** Stores a text, or removes it. Returns whether that is possible: the storage may be full, or not permitted. */
function store(name: string, value: string | undefined): boolean {
  try {
    if (value === undefined) {
      localStorage.removeItem(name);
    } else {
      localStorage.setItem(name, value);
    }
    return true;
  } catch {
    return value === undefined;
  }
}

/** How many lines are not saved, in words. */
function linesOf({ lines, more }: RoomsUnsaved): string {
  const all = new Set(lines.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)));
  return `${all.size === 1 ? "1 line" : `${all.size} lines`}${(more ?? 0) > 0 ? " and more" : ""}`;
}

/** Gives an element other children, unless they are the same. The focus stays: a field that is moved would take half a name. */
function replaced(element: HTMLElement, parts: readonly HTMLElement[]): void {
  if (element.childElementCount === parts.length && parts.every((part, i) => element.children[i] === part || element.children[i]?.outerHTML === part.outerHTML)) {
    return;
  }
  const at = parts.findIndex((part) => part.contains(document.activeElement));
  const kept = parts[at];
  if (kept?.parentElement !== element) {
    element.replaceChildren(...parts);
    return;
  }
  [...element.children].filter((child) => child !== kept).forEach((child) => child.remove());
  kept.before(...parts.slice(0, at));
  kept.after(...parts.slice(at + 1));
}

/** Identifies the copy of the text of this page. */
export const clientID = Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join(""); // randomUUID needs TLS

export class Together {
  private readonly host: TogetherHost;
  private readonly bar = document.getElementById("room-bar");
  private readonly peopleBar = document.getElementById("people-bar");
  private readonly client = clientID;
  private file = "";
  private channel: Channel | undefined;
  private shared: Shared | undefined;
  private room = "";
  private writes = true;
  private state: RoomsFileState | undefined;
  private people: readonly RoomsSeen[] = [];
  private known = false; // the name is that of an account
  private name = ""; // as others see it
  private you = ""; // in the room
  private unsaved: RoomsUnsaved = { version: 0, who: [], lines: [] };
  private isLost = false;
  private lostAt = ""; // the time
  private refused = ""; // why the server does not give the text
  private timer: ReturnType<typeof setTimeout> | undefined;
  private queue: Promise<void> = Promise.resolve(); // messages are taken one after the other
  private era = 0; // connections that were lost: what waits of theirs comes again

  constructor(host: TogetherHost) {
    this.host = host;
    addEventListener("pagehide", () => this.keep());
    addEventListener("beforeunload", (event) => {
      this.keep();
      if (this.isUnkept) {
        event.preventDefault(); // the browser asks
      }
    });
    onChanged("people", () => this.goAlong());
    document.addEventListener("click", ({ target }) => {
      if (target instanceof Element && target.closest("#unsaved-lines") !== null && this.unsaved.lines.length > 0) {
        this.host.editor.goTo(Math.min(...this.unsaved.lines.map(({ from }) => from)));
      }
    });
  }

  /** Whether the open text is that of a room: what is typed is there. */
  get active(): boolean {
    return this.shared !== undefined;
  }

  /** Whether the text is that of a room, or will be. */
  get joins(): boolean {
    return this.channel !== undefined && this.refused === "";
  }

  /** Whether a person in a room is this page. */
  isSelf(file: string, id: string): boolean {
    return file === this.file && id === this.you;
  }

  /** Whether the text in the editor is that of the room of a file. */
  has(file: string): boolean {
    return this.active && file === this.file;
  }

  /** The number of others in the text. */
  get others(): number {
    return this.people.length;
  }

  private is: "stored" | "begun" | "" = "";

  /** The page has a file open; "" for none. It is stored, or was begun and not saved, or there is no text of it. */
  follow(file: string, is: "stored" | "begun" | ""): void {
    const isGone = this.is === "stored" && is === "" && this.unsaved.lines.length === 0 && !this.pending; // otherwise the room stays
    if (file !== this.file || isGone) {
      const own = this.isRenamed ? this.own : undefined; // goes along
      if (own !== undefined) {
        this.own = undefined;
        store(this.keptKey, undefined);
      }
      this.leave();
      this.file = file;
      this.own = own;
      const apart = this.apartText();
      this.isApart = apart !== undefined;
      if (apart?.text !== undefined) {
        this.host.showApart(apart.text, apart.base ?? "");
      }
      this.draw();
    }
    this.isRenamed = false;
    this.is = is;
    if (file !== "" && this.channel === undefined && !this.isApart && (is !== "" || this.own !== undefined || this.kept() !== undefined)) {
      this.join();
    }
  }

  private own: { base: string; text: string } | undefined; // typed here while the text was not that of a room

  /** Takes what is typed while the text is not that of a room. */
  alone(base: string, text: string): void {
    if (this.isApart) {
      store(this.apartKey, JSON.stringify({ text, base: this.host.revision() }));
      return;
    }
    this.own = { base: this.own?.base ?? base, text };
    if (this.file !== "" && this.channel === undefined) {
      this.join();
    }
    this.keepLater();
  }

  /** What was typed alone is not wanted any more, as it is in the file. */
  forget(): void {
    this.own = undefined;
    this.keep();
  }

  private isApart = false;

  /** Whether the open text is a suggestion that is being written: others do not see it. */
  get apart(): boolean {
    return this.isApart;
  }

  private get apartKey(): string {
    return `wirebench.apart\n${this.host.workspace}\n${this.file}`;
  }

  /** The suggestion that is being written, undefined for none; without a text at its beginning. */
  private apartText(): { text?: string; base?: string } | undefined {
    try {
      return (JSON.parse(stored(this.apartKey) ?? "null") as { text?: string; base?: string } | null) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Leaves the room for a suggestion, or comes back to it. */
  part(isApart: boolean): void {
    const { file } = this;
    store(this.apartKey, isApart ? "{}" : undefined);
    this.leave();
    this.follow(file, this.is);
  }

  private frame: RoomsLook | undefined; // that is shown
  private looking: ReturnType<typeof setTimeout> | undefined;

  /** The page shows a frame of a capture; undefined for none. Others are told when it stays. */
  look(frame: RoomsLook | undefined): void {
    this.frame = frame;
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.tellFrame(), lookAfter);
  }

  private toldFrame = ""; // by this connection

  private tellFrame(): void {
    const look = this.frame ?? { capture: "", frame: 0 };
    const told = look.capture === "" ? "" : `${look.capture} ${look.frame}`;
    if (this.people.length > 0 && told !== this.toldFrame) { // there is somebody to see it
      this.toldFrame = told;
      this.send({ look });
    }
  }

  private unmerged: Kept | undefined; // a text that the server is to merge, until it says so
  private whyMerged = "";

  /** Keeps a text until the server says that it is merged. Its client is its own, so that it is merged once, however often it is sent. */
  private toMerge(of: { base?: string; revision?: string; copy?: string; text: string }): void {
    this.unmerged = { room: "", version: 0, client: `${this.client}-${Date.now().toString(36)}`, base: "", ...of, changes: [] };
    store(this.keptStart + this.unmerged.client, JSON.stringify(this.unmerged));
  }

  private sendUnmerged(): void {
    if (this.unmerged !== undefined) {
      const { client, base, revision, copy, text } = this.unmerged;
      this.send({ merge: { client, base, text, ...(revision === undefined ? {} : { revision }), ...(copy === undefined ? {} : { copy }) } });
    }
  }

  private tookBack = { before: "", after: "" }; // the texts around the last updates

  /** Takes back the last updates, and leaves what has been typed since. */
  private undo(): { title: string; run: () => void } | undefined {
    const { before, after } = this.tookBack;
    return this.writes ? { title: "Undo", run: () => this.host.rewrite(after, before) } : undefined;
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
      notify(this.whyMerged === "" ? "Your changes are merged with those of others" : `Your text is merged with that of the others: ${this.whyMerged}`, "ok", this.undo());
      return;
    }
    if (outcome === "suggested") {
      store(key, undefined);
      notify("Others have changed the same lines as you: your text is kept as a suggestion", "warn", { title: "Show", run: () => find("threads")?.run() });
      return;
    }
    const why = "Your unsaved text was made of one that nobody knows any more, so that it cannot be merged.";
    void this.host.beside(why, unmerged.text).then(() => {
      if (file === this.file) {
        store(key, undefined);
      }
    });
  }

  private saving: "" | "wanted" | "sent" = "";

  /** Tells the page whose room has its text, after it has opened another message of it. */
  share(): void {
    if (this.shared !== undefined && !this.isLost) {
      this.host.changed(this.file);
    }
  }

  /** Whether something that is typed here is not in the room yet. */
  get pending(): boolean {
    return this.shared !== undefined && this.shared.pending > 0 && !this.isLost;
  }

  /** Whether something that is typed here is not confirmed, also without a connection. */
  get waits(): boolean {
    return (this.shared?.pending ?? 0) > 0;
  }

  /** Resolves once the page is in the room and all that is typed here, too, or there is no connection. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.channel === undefined || this.shared?.pending === 0 || this.isLost) {
          resolve();
        } else {
          setTimeout(look, 5);
        }
      };
      look();
    });
  }

  /** Saves the text, once all that is typed here is in the room. */
  save(): void {
    if (!this.writes) {
      notify(lookOnlyWhy(), "warn");
      return;
    }
    if (this.isLost) {
      notify("No connection: it is saved once the server is back", "warn");
    }
    this.saving = "wanted";
    this.trySave();
  }

  private isNaming = false; // the server is asked for another name
  private isRenamed = false; // the next file is this one with another name

  /** Gives the definition, which is not saved yet, another name. */
  rename(message: string): void {
    if (this.shared === undefined) {
      this.isRenamed = true;
    } else if (this.writes && !this.isLost) {
      this.isNaming = true;
      this.send({ name: message });
    }
  }

  private trySave(): void {
    if (this.saving === "wanted" && this.shared?.pending === 0 && !this.isLost && !this.isNaming) {
      this.saving = "sent";
      this.send({ write: true });
    }
  }

  private saved({ same, problem, by }: RoomsSaved): void {
    if (by !== undefined) {
      notify(`${by} has saved ${this.file.replace(/^.*\//, "")}, with your lines`);
      this.host.saved();
      return;
    }
    if (this.saving === "sent") { // else it is wanted again
      this.saving = "";
    }
    const file = this.file.replace(/^.*\//, "");
    if (problem !== undefined) {
      notify(`Not saved: ${problem}`, "err");
    } else {
      notify(same === true ? "No changes to save." : `Saved ${file}.`);
      this.host.saved();
    }
  }

  /** The people, others than oneself, whose lines are not saved. */
  get othersUnsaved(): string[] {
    return this.unsaved.who.filter((name) => name !== this.name);
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
    this.held = this.shared === undefined && this.own === undefined ? this.kept() : undefined;
    const own = this.own === undefined ? this.held : { ...this.own, room: "", version: 0 };
    this.sent = own?.text;
    const asked: TextOpened = {
      file, message: this.host.message(), name: personName(),
      have: this.shared !== undefined ? { room: this.room, version: this.shared.version } : own === undefined ? {} : { room: own.room, version: own.version, begin: own.text, client: this.client },
    };
    const channel: Channel = this.host.connection.channel("text", asked, {
      open: () => undefined,
      message: (message: RoomsMessage) => {
        if (this.channel === channel) {
          const { era } = this;
          this.queue = this.queue.then(() => (this.channel === channel && (era === this.era || message.moved !== undefined) ? this.take(message) : undefined)).catch((reason: unknown) => {
            this.enterAgain();
            reportError(reason);
          });
        } else {
          this.drained(channel, message);
        }
      },
      lost: (why) => {
        if (this.channel === channel) {
          this.era++;
          this.refused = why;
          if (why !== "" && this.shared === undefined && this.saving !== "") {
            this.saving = "";
            this.saved({ problem: why });
          }
          if (this.shared !== undefined) {
            asked.have = { room: this.room, version: this.shared.version };
          }
          this.lostAt = this.isLost ? this.lostAt : clock();
          this.isLost = true;
          this.host.changed("", why === ""); // until the room is back
          this.draw();
        }
      },
    });
    this.channel = channel;
    this.refused = "";
    this.draw();
  }

  /** The text is becoming a new version: what is not saved is in that one, and the room of this one gets back the text of the file. */
  isVersioned = false;

  private held: Kept | undefined; // what was kept when the page asked for the room: another tab may remove it before the answer
  private sent: string | undefined; // the text with which a definition begins that has no room yet

  /** The file has another name, and its room is there. */
  private moved({ file, message }: RoomsMoved): void {
    store(this.keptKey, undefined);
    this.channel?.close();
    this.file = file;
    this.isNaming = false;
    this.join();
    this.keep();
    if (message !== undefined) {
      this.host.named(message);
    }
  }

  /** The file of the open text has another name, which the room may not have told, for want of a connection: what was typed here goes along. */
  goAlongTo(file: string): void {
    if (this.channel !== undefined && file !== "" && file !== this.file) {
      this.moved({ file });
    }
  }

  /** Takes what was kept of the room under another name of its file. */
  private takeFormer(): void {
    const start = `wirebench.together\n${this.host.workspace}\n`;
    try {
      for (const key of Object.keys(localStorage).filter((key) => key.startsWith(start) && !key.startsWith(this.keptStart))) {
        const text = stored(key) ?? "null";
        const kept = JSON.parse(text) as Kept | null;
        if (kept?.room === this.room && store(this.keptStart + kept.client, text)) {
          store(key, undefined);
        }
      }
    } catch {
      return; // this browser stores nothing
    }
  }

  private readonly draining = new Map<Channel, { left: number; key: string }>();

  /** Ends the connection. Changes on their way are confirmed first, or kept for the next time. */
  private leave(): void {
    const { channel, shared } = this;
    this.keep();
    if (channel !== undefined && shared !== undefined && shared.pending > 0 && !this.isLost) {
      this.draining.set(channel, { left: shared.pending, key: this.keptKey });
      this.send({ push: { client: this.client, version: shared.version, changes: shared.changes } }); // those that are there already are left out
      setTimeout(() => this.draining.delete(channel) && channel.close(), drainTime);
    } else if (this.isVersioned && channel !== undefined) {
      this.send({ revert: true });
      setTimeout(() => channel?.close(), drainTime);
    } else {
      channel?.close();
    }
    this.channel = undefined;
    this.own = undefined; // likewise
    this.isNaming = false;
    this.unmerged = undefined; // it is kept
    if (shared !== undefined) {
      this.host.editor.unshare();
      this.host.editor.setReadOnly(null);
      this.shared = undefined;
      this.host.changed("");
    }
    this.people = [];
    this.tellPeers();
    if (this.saving !== "" && this.isLost) {
      notify(`${this.file} is not saved: there was no connection`, "err");
    }
    this.saving = "";
    this.takeUnsaved({ version: 0, who: [], lines: [] });
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
    const { start, updates, merged, people, nobody, file, unsaved, saved, moved, refused } = message;
    if (moved !== undefined) {
      this.moved(moved);
      return;
    }
    if (refused !== undefined) {
      this.isNaming = false;
      this.saving = "";
      notify(`The name is not changed: ${refused}`, "err");
      this.host.named(this.host.message());
    }
    if (start !== undefined) {
      this.isLost = false;
      this.refused = "";
      this.room = start.room;
      if (this.shared === undefined) {
        this.takeFormer();
      }
      this.writes = start.writes;
      this.known = start.account === true;
      this.name = start.name;
      this.you = start.you;
      this.host.joined();
      if (start.notice !== undefined) {
        notify(start.notice, "warn");
      }
      if (start.text !== undefined || this.shared === undefined) {
        await this.begin(start.text, start.version, start.why ?? "");
      } else {
        this.shared.again();
        this.host.changed(this.file);
      }
      if (this.saving === "sent") {
        this.saving = "wanted"; // nobody knows whether it was
      }
      this.sendUnmerged();
      this.toldFrame = "";
      this.tellFrame();
    }
    if (updates !== undefined) {
      const before = this.host.text();
      this.shared?.receive(updates);
      this.tookBack = { before, after: this.host.text() };
      if ((this.shared?.pending ?? 0) > 0) { // otherwise it is the text of the editor
        this.host.confirmed(this.shared?.base ?? "");
      }
      const isOutside = updates.some(({ clientID }) => clientID.startsWith("outside "));
      if (isOutside || updates.some(({ clientID }) => clientID.startsWith("here "))) {
        notify(`${this.file.replace(/^.*\//, "")} has changed on disk: what has changed is in the text`, "ok", isOutside ? this.undo() : undefined);
      }
    }
    if (merged !== undefined) {
      this.merged(merged);
    }
    if (file !== undefined) {
      this.state = file;
      this.check(file);
    }
    if (unsaved !== undefined) {
      this.takeUnsaved(unsaved);
    }
    if (saved !== undefined) {
      this.saved(saved);
    }
    this.trySave();
    if (people !== undefined || nobody === true) {
      this.people = people ?? [];
      this.shared?.show(this.people);
      this.tellFrame();
      this.tellPeers();
      this.goAlong();
    }
    this.keepLater();
    this.draw();
  }

  private takeUnsaved(unsaved: RoomsUnsaved): void {
    this.unsaved = unsaved;
    this.host.editor.setUnsaved(unsaved.lines.map(({ from, to, by }) => ({ from, to, who: unsaved.who[by] ?? "", own: unsaved.who[by] === this.name })));
  }

  /** Takes the text of the server; undefined: the one that is kept. What this page has and the server has not becomes a change of it. */
  private async begin(text: string | undefined, version: number, why: string): Promise<void> {
    const { shared: was } = this;
    const { held } = this;
    this.held = undefined;
    const kept = held ?? (text !== undefined && this.own === undefined ? this.kept() : undefined); // the room may have said that it is of this file
    const mine = was === undefined ? kept : was.pending > 0 ? { base: was.base, text: this.host.text() } : undefined;
    const now = text ?? mine?.base ?? "";
    let own: typeof this.own; // with what was typed while the editor was being loaded
    let keeps = false;
    const shared = await this.host.editor.share({ text: now, version, client: this.client, keep: () => {
      own = this.own;
      keeps = was === undefined && own !== undefined && (now === own.base || now === this.sent); // nobody else has changed the text
      return keeps;
    } }, {
      push: (at, changes) => this.send({ push: { client: this.client, version: at, changes } }),
      at: (at, anchor, head) => this.send({ at: { version: at, anchor, head } }),
    });
    if (shared === undefined) {
      return;
    }
    this.shared = shared;
    if (own !== undefined && !this.writes && !lookOnly("commenter")) {
      this.own = undefined;
      store(this.keptKey, undefined);
      this.part(true);
      this.host.showApart(own.text, this.host.revision());
      return;
    }
    if (own !== undefined && was === undefined && this.writes && !keeps && shared.before !== now) {
      this.toMerge({ base: own.base, text: shared.before, copy: this.client });
    }
    this.own = undefined;
    this.takeOld();
    this.host.editor.setReadOnly(this.writes ? null : "View only");
    this.host.changed(this.file);
    shared.again(); // others are told where this page is
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

  /** Merges what an earlier version of the program has kept of the text in this browser. */
  private takeOld(): void {
    const message = this.host.message();
    const old = this.writes && this.unmerged === undefined ? oldDrafts(this.host.workspace).find((old) => old.message === message) : undefined;
    if (old !== undefined) {
      this.toMerge({ revision: old.base, text: old.text });
      store(old.key, undefined);
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
    const { shared, own } = this;
    if (own !== undefined && this.file !== "") {
      const kept: Kept = { room: "", version: 0, client: this.client, copy: this.client, ...own, changes: [] };
      this.stores(own.text === own.base ? undefined : JSON.stringify(kept));
    } else if (shared !== undefined) {
      const kept: Kept = { room: this.room, version: shared.version, client: this.client, base: shared.base, text: this.host.text(), changes: shared.changes };
      this.stores(shared.pending > 0 ? JSON.stringify(kept) : undefined);
    }
  }

  private isUnkept = false; // what is typed lasts only as long as the page

  private stores(kept: string | undefined): void {
    const was = this.isUnkept;
    this.isUnkept = !store(this.keptKey, kept);
    if (this.isUnkept && !was) {
      notify("This browser cannot store unsaved text: its storage is full or disabled. Do not close the page before the server is back.", "err");
    }
  }

  private keepLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.keep();
      if ((this.shared?.pending ?? 0) > 0) {
        this.keepLater(); // a text of one's own is kept until it is typed in again
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
      this.enterAgain();
    }
  }

  /** Takes the text of the room in place of this one, which has come apart from it. */
  private enterAgain(): void {
    const { file } = this;
    const text = this.host.text();
    this.leave();
    this.follow(file, this.is);
    void this.keepApart(file, text);
  }

  /** Keeps a text that differs from that of the others as a suggestion. */
  private async keepApart(file: string, text: string): Promise<void> {
    const project = this.host.workspace;
    const copy = { title: "Copy this text", run: () => void copyText(text) };
    const said = "This text differed from that of the others, and was loaded again";
    const stored = await request("GET definitions/{file}", { project, file });
    const base = stored.ok ? stored.answer.text.replace(/\r\n?/g, "\n") : "";
    if (!stored.ok || base === text) {
      notify(said, "warn", copy);
      return;
    }
    const made = await request("POST threads", { project }, { body: { file, name: personName(), text: "A text that had come apart from that of the others", suggest: { base, text } } });
    notify(made.ok ? `${said}; it is kept as a suggestion` : said, "warn", copy);
  }

  /** What is to be known of the text, "" if it is as everybody expects. */
  private get says(): { text: string; kind: "" | "warn" } {
    const problem = this.state?.problem ?? "";
    switch (true) {
      case this.isApart:
        return { text: "Your suggestion: only you see this text", kind: "warn" };
      case this.own !== undefined && this.host.connection.tries > 0:
        return { text: "No connection: your changes are kept and sent later", kind: "warn" };
      case this.channel === undefined || this.shared === undefined && !this.isLost:
        return { text: "", kind: "" };
      case !this.writes:
        return { text: "View only: you see what others type", kind: "" };
      case this.isLost && this.refused !== "":
        return { text: `${this.shared === undefined ? "Only you see what you type: " : "Your changes are kept and sent later: "}${this.refused}`, kind: "warn" };
      case this.isLost:
        return { text: `No connection since ${this.lostAt}${this.waits ? ": your changes are kept and sent later" : ""}`, kind: "warn" };
      case problem !== "":
        return { text: `Not saved: ${problem}`, kind: "warn" };
      default:
        return { text: "", kind: "" };
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
    const reply = await request("GET people", { project: this.host.workspace });
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

  /** Says in the status line what is not saved. A click goes to its first line. */
  private drawUnsaved(): void {
    const { lines, who } = this.unsaved;
    const button = document.getElementById("unsaved-lines");
    if (button === null) {
      return;
    }
    const isHere = this.isLost && this.waits; // the server has not counted these lines
    const names = who.map((name) => (name === this.name ? "you" : name)).join(", ");
    const said = isHere ? "not saved" : lines.length === 0 ? "" : `${linesOf(this.unsaved)} not saved${names === "you" || names === "" ? "" : ` (${names})`}`;
    put(button, "hidden", said === "");
    put(button, "title", isHere ? "What is typed is in this browser until the server can be reached" : `${said}. A click goes to the first line.`);
    put(button, "textContent", said);
  }

  private drawBar(): void {
    this.drawPeople();
    this.drawUnsaved();
    const { bar } = this;
    if (bar === null) {
      return;
    }
    const { text, kind } = this.says;
    put(bar, "hidden", text === "");
    bar.parentElement?.toggleAttribute("data-apart", this.isApart);
    bar.dataset["state"] = this.shared === undefined ? "" : this.isLost ? "lost" : this.shared.pending > 0 ? "pending" : "open";
    const state = make("span", `together-state ${kind === "" ? "dim" : kind}`, text);
    const back = this.button("Back to the saved text", "Replaces the text, for all; Undo takes that back", () => this.host.discard());
    back.hidden = (this.state?.problem ?? "") === "" || !this.writes || this.shared === undefined || this.isLost;
    const more = this.isLost && this.refused === "" ? [
      this.button("Try now", "Connect again, without waiting for the next attempt", () => this.host.connection.retry()),
    ] : this.isApart ? [
      this.button("Suggest it …", "Others see it under Comments and suggestions, and can accept it (Ctrl+S)", () => find("suggest")?.run(), "btn primary"),
      this.button("Back to the text of all", "Your text is discarded", () => this.host.endSuggestion()),
    ] : this.shared !== undefined && !this.writes && !lookOnly("commenter") ? [
      this.button("Suggest a change", "Your changes of the text are shown to others when you send them", () => this.host.beginSuggestion()),
    ] : [];
    replaced(bar, [state, back, ...more]);
  }

  private button(text: string, title: string, act: () => void, className = "btn quiet"): HTMLElement {
    const button = make("button", className, text);
    button.setAttribute("type", "button");
    button.title = title;
    button.addEventListener("click", act);
    return button;
  }

  /** Draws who else is there, and one's own name, for them. */
  private drawPeople(): void {
    const bar = this.peopleBar;
    if (bar === null) {
      return;
    }
    put(bar, "hidden", this.people.length === 0 && !bar.contains(document.activeElement));
    const parts: HTMLElement[] = [];
    for (const one of this.people) {
      const button = make("button", `btn quiet peer-${one.color}`, one.name);
      button.setAttribute("type", "button");
      button.dataset["peer"] = one.id;
      const followed = this.followed?.id === one.id;
      button.setAttribute("aria-pressed", String(followed));
      button.title = [one.account === true ? "" : "the name is self-chosen", one.writes === true ? "" : "reads only", followed ? "a click ends following" : "a click goes there, and follows until you type"].filter((t) => t !== "").join(", ");
      button.addEventListener("click", () => {
        this.followed = followed ? undefined : { id: one.id, name: one.name, line: 0 };
        this.goAlong();
        this.draw();
      });
      parts.push(button);
      if (one.look !== undefined) {
        parts.push(this.frameOf(one.name, one.look));
      }
    }
    if (!this.known) {
      parts.push((this.field ??= this.nameField()));
    }
    replaced(bar, parts);
  }

  private field: HTMLElement | undefined; // the same one all the time: somebody may be typing in it

  /** The field with one's own name. */
  private nameField(): HTMLElement {
    const you = make("span", "together-you dim", "you: ");
    const name = document.createElement("input");
    name.className = "together-name";
    name.setAttribute("aria-label", "Your name, for others");
    name.title = "Your name, as others see it";
    name.placeholder = "your name";
    name.defaultValue = personName();
    name.maxLength = mostName;
    name.size = Math.max(personName().length, 9);
    name.addEventListener("change", () => this.callOneself(name.value));
    name.addEventListener("blur", () => this.draw());
    name.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        name.blur();
      }
    });
    you.append(name);
    return you;
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

  private callOneself(name: string): void {
    choosePersonName(name.trim().slice(0, mostName));
    const { file } = this;
    this.leave();
    this.follow(file, this.is);
  }
}
