// The channel of the panes: one message at a time goes to the server, and its effects come back.

import type { FramesHits, PageAnswer, PageChoices, PageControls, PageMessage, PageScoreAnswer, PageValueAnswer, PageValuesForm } from "../api/api";
import type { Channel, Connection } from "../kit/connection";
import { type LayoutData, noLayout } from "./layout";
import { type MessageData, noData } from "./model";
import { patched, patchedBytes, spliced } from "./patch";
import { sum32, Texts } from "./texts";

/** The controls of the page whose values the server needs. */
export type Controls = Omit<Required<PageMessage["set"]>, "frame" | "pick"> & Pick<PageMessage["set"], "frame" | "pick">; // these: of a page of a capture

/** A pressed button with its parameters. */
export type Action = Omit<PageMessage, "n" | "set" | "edit" | "have"> & { action: string };

/** An answer with patches applied. */
export interface Answer extends Omit<PageAnswer, "layout" | "data" | "status"> {
  status?: string;
  value?: PageValueAnswer["value"];
  choices?: PageChoices;
  hits?: FramesHits;
  form?: PageValuesForm;
  older?: boolean; // than the page's text of the definition
  rewritten?: string; // the text that an action has made of an older one, of
  data?: MessageData;
  layout?: LayoutData;
}

/** Whether an answer is only for its caller: it changes nothing on the page. */
export function isAnswer({ value, choices, hits, form }: Pick<Answer, "value" | "choices" | "hits" | "form">): boolean {
  return value !== undefined || choices !== undefined || hits !== undefined || form !== undefined;
}

export type State = "connecting" | "open" | "lost";

const judged: readonly (keyof Controls)[] = ["definition", "input", "pick", "edits", "form", "dir", "bycode"]; // what the panes are about
const byPick: readonly (keyof Controls)[] = ["input", "edits", "form", "bycode", "show", "frame"]; // what a picked frame sets

const mostAhead = 500; // milliseconds that an answer waits for the text that it is about

/** The sum of a text by which an answer says what it is about. */
export function sumOfText(text: string): number {
  return sum32(text.replace(/\n$/, ""));
}

/** The channel. `all` returns every control that the server needs, for the first message of a connection. */
export class Socket {
  private readonly all: () => Partial<Controls>;
  private readonly text: () => string;
  private readonly knows: (of: number) => boolean;
  private readonly waits: () => boolean;
  private readonly answered: (answer: Answer) => void;
  private readonly changed: (state: State) => void;
  private readonly scored: (score: PageScoreAnswer["score"]) => void;
  private readonly channel: Channel;
  private n = 0; // of the last message sent
  private known = 0; // of the last answered message
  private dirty: Partial<Controls> = {};
  private readonly told = new Texts(); // texts that the server has
  private readonly actions: Action[] = [];
  private readonly unanswered = new Map<number, { set: Partial<Controls>; action: Action | undefined }>(); // messages by number
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly sentAt = new Map<string, number>(); // by control, its last message
  private skipped: MessageData | undefined; // of bytes older than the typed ones, the server's last state
  private late: PageControls = {}; // of answers older than the text
  private lateOf: number | undefined; // the sum of the text that the last of these is about, which may come again
  private data = noData; // merged; the server sends changes of this and the layout
  private layout = noLayout;
  private readonly parts = new Map<string, string>(); // of the page, as sent
  state: State = "connecting";

  /** `capture` is the id of the capture that the page shows, whose settings apply, `client` identifies its copy of the text, and `waits` tells
   *  whether something is typed there that the server has not confirmed. */
  constructor(connection: Connection, with_: { capture?: string | undefined; client: string; text: () => string; waits: () => boolean; knows: (of: number) => boolean }, all: () => Partial<Controls>, answered: (answer: Answer) => void, changed: (state: State) => void, scored: (score: PageScoreAnswer["score"]) => void) {
    this.all = all;
    this.text = with_.text;
    this.knows = with_.knows;
    this.waits = with_.waits;
    this.answered = answered;
    this.changed = changed;
    this.scored = scored;
    const { capture, client } = with_;
    this.channel = connection.channel("page", { client, ...(capture === undefined ? {} : { capture }) }, { open: () => this.open(), message: (m) => this.take(m), lost: () => this.lost() });
  }

  /** Whether what is shown is about earlier texts or bytes, and there is no connection to ask again. */
  get isBehind(): boolean {
    const changed = [this.dirty, ...[...this.unanswered.values()].map(({ set }) => set)];
    return this.state === "lost" && (this.waits() || changed.some((set) => judged.some((key) => key in set)));
  }

  private turn(state: State): void {
    this.state = state;
    this.changed(state);
    this.behind();
  }

  /** Marks the panes whose content is about earlier texts; see stale.ts. */
  private behind(): void {
    document.documentElement.classList.toggle("behind", this.isBehind);
  }

  private open(): void {
    this.known = this.n;
    this.skipped = undefined;
    this.late = {};
    this.data = noData;
    this.layout = noLayout;
    this.parts.clear();
    this.told.clear();
    this.unanswered.clear();
    this.ahead.length = 0;
    // The server has no state of earlier connections: it gets everything.
    this.dirty = this.all();
    this.turn("open");
    this.flush(undefined, { have: document.getElementById("rail-list")?.dataset["state"] ?? "" });
  }

  private lost(): void {
    this.turn("lost");
    for (const resolve of this.waiting.values()) {
      resolve({ n: 0, failed: "the connection was lost" });
    }
    this.waiting.clear();
  }

  /** An answer with patches applied. */
  private whole({ data, layout, patches, ...answer }: PageAnswer & Pick<Answer, "value" | "choices" | "hits" | "form">): Answer {
    const whole: Answer = answer;
    if (patches !== undefined) {
      whole.html = { ...answer.html, ...Object.fromEntries(Object.entries(patches).map(([id, patch]) => [id, spliced(this.parts.get(id) ?? "", patch)])) };
    }
    for (const [id, html] of Object.entries(whole.html ?? {})) {
      this.parts.set(id, html);
    }
    if (data !== undefined) {
      const { bytes, parts, rows, bits, texts, jumps, named } = this.data;
      whole.data = this.data = {
        ...data, bytes: patchedBytes(bytes, data.bytes), parts: patched(parts, data.parts), rows: patched(rows, data.rows), bits: patched(bits, data.bits),
        texts: patched(texts, data.texts), jumps: patched(jumps, data.jumps), named: patched(named, data.named),
      };
    }
    if (layout !== undefined) {
      const { rows, cells } = this.layout;
      whole.layout = this.layout = { rows: patched(rows, layout.rows), cells: patched(cells, layout.cells), stale: layout.stale === true, holes: new Set(layout.holes) };
    }
    return whole;
  }

  /** The answer that came with the page, to be drawn only: the state of the text comes over the connection. */
  first(answer: PageAnswer): Answer {
    return this.whole(answer);
  }

  /** Sends messages again, up to n, with all controls: the server has other texts than the page assumed. */
  private resend(n: number): void {
    this.told.clear();
    const sets: Partial<Controls>[] = [];
    for (const [of, { set, action }] of this.unanswered) {
      if (of <= n) {
        sets.push(set);
        this.actions.push(...(action === undefined ? [] : [action])); // at most one: the server does not merge actions
        this.unanswered.delete(of);
      }
    }
    const all = this.all();
    this.dirty = Object.assign({}, all, ...sets, this.dirty) as Partial<Controls>;
    if (all.pick !== undefined) { // earlier messages may have been about other bytes
      const { input: _, frame: __, ...rest } = this.dirty;
      this.dirty = { ...rest, pick: all.pick, edits: all.edits ?? {} };
    } else {
      delete this.dirty.pick;
    }
    const resolve = this.waiting.get(n);
    this.waiting.delete(n);
    this.flush(resolve);
  }

  private readonly ahead: (PageAnswer & { score?: PageScoreAnswer["score"] })[] = []; // about a text of the room that has not come yet, or after such a one
  private aheadTimer: ReturnType<typeof setTimeout> | undefined;

  private take(from: PageAnswer & { score?: PageScoreAnswer["score"] }): void {
    if (this.ahead.length > 0 || this.isAhead(from)) {
      this.ahead.push(from);
      this.aheadTimer ??= setTimeout(() => this.retake(true), mostAhead);
    } else {
      this.process(from);
    }
  }

  private isAhead({ of }: PageAnswer): boolean {
    return of !== undefined && !this.knows(of);
  }

  /** Takes what waited for a text which has come; all answers, if it does not come. */
  retake(all = false): void {
    if (this.lateOf !== undefined && this.lateOf === sumOfText(this.text())) {
      const set = this.late;
      this.late = {};
      this.lateOf = undefined;
      this.answered({ n: this.known, set });
    }
    for (let next = this.ahead[0]; next !== undefined && (all || !this.isAhead(next)); next = this.ahead[0]) {
      this.ahead.shift();
      this.process(next);
    }
    if (this.ahead.length === 0) {
      clearTimeout(this.aheadTimer);
      this.aheadTimer = undefined;
    }
  }

  private process(from: PageAnswer & { score?: PageScoreAnswer["score"] }): void {
    if (from.score !== undefined) { // of the text before, if a later one is on its way
      if ((this.sentAt.get("definition") ?? 0) <= from.n && !("definition" in this.dirty)) {
        this.scored(from.score);
      }
      return;
    }
    const answer = this.whole(from);
    this.known = Math.max(this.known, answer.n);
    if (answer.resend === true) {
      this.resend(answer.n);
      return;
    }
    for (const n of [...this.unanswered.keys()].filter((n) => n <= answer.n)) {
      this.unanswered.delete(n);
    }
    this.told.take(answer.set ?? {}, (key) => (this.sentAt.get(key) ?? 0) <= answer.n);
    if (answer.data !== undefined) {
      this.skipped = undefined;
    } else if (this.skipped !== undefined && (this.sentAt.get("edits") ?? 0) <= answer.n && !("edits" in this.dirty)) {
      answer.data = this.skipped; // later edits changed nothing, so the server sends nothing
      this.skipped = undefined;
    }
    if (!isAnswer(answer)) {
      // Newer typed values take precedence over the server's.
      const newer = (key: string): boolean => key in this.dirty || (this.sentAt.get(key) ?? 0) > answer.n;
      const set: Record<string, unknown> = { ...this.late, ...answer.set };
      for (const key of Object.keys(set).filter(newer)) {
        delete set[key];
      }
      answer.older = newer("definition") || (answer.of !== undefined && answer.of !== sumOfText(this.text()));
      if (answer.older && answer.of !== undefined && typeof set["definition"] === "string") {
        answer.rewritten = set["definition"];
        delete set["definition"];
      }
      this.late = answer.older ? set : {};
      this.lateOf = answer.older ? answer.of : undefined;
      answer.set = answer.older ? {} : set;
      if (newer("pick")) {
        delete answer.picked; // of another frame
      }
      if (newer("edits")) {
        this.skipped = answer.data ?? this.skipped;
        delete answer.data; // of bytes older than those shown
      }
    }
    this.answered(answer);
    for (const [n, resolve] of this.waiting) {
      if (n <= answer.n) {
        this.waiting.delete(n);
        resolve(answer);
      }
    }
    this.send();
  }

  /** Sends changed controls; several changes at once are one message. */
  set(change: Partial<Controls>): void {
    if (change.shared !== undefined) {
      this.told.clear(); // the server takes the text from the room, or not any more
    }
    if (change.pick !== undefined) { // nothing of the message before is left
      byPick.forEach((key) => delete this.dirty[key]);
      this.told.forget();
    } else if (change.frame !== undefined) {
      delete this.dirty.pick;
    }
    Object.assign(this.dirty, change);
    this.behind();
    this.wakeUp();
    queueMicrotask(() => this.send());
  }

  /** Requests an action; fails without a connection. */
  act(action: Action): Promise<Answer> {
    if (this.state !== "open") {
      return Promise.resolve({ n: 0, failed: "no connection to the server" });
    }
    return new Promise((resolve) => {
      this.actions.push(action);
      this.flush(resolve);
    });
  }

  private rest: ReturnType<typeof setTimeout> | undefined; // until it ends, what later has changed waits

  /** Sets changed controls that are not urgent: they go with the next ones, or after some milliseconds. */
  later(change: Partial<Controls>, millis: number): void {
    Object.assign(this.dirty, change);
    this.behind();
    this.rest ??= setTimeout(() => {
      this.rest = undefined;
      this.send();
    }, millis);
  }

  private wakeUp(): void {
    clearTimeout(this.rest);
    this.rest = undefined;
  }

  /** One message at a time is pending: meanwhile changes accumulate. */
  private send(): void {
    if (this.rest === undefined && this.known >= this.n && Object.keys(this.dirty).length > 0) {
      this.flush(undefined);
    }
  }

  private flush(resolve: ((answer: Answer) => void) | undefined, more: object = {}): void {
    if (this.state !== "open") {
      return;
    }
    this.wakeUp();
    const action = this.actions.shift();
    this.n++;
    for (const key of [...Object.keys(this.dirty), ...(this.dirty.pick === undefined ? [] : byPick)]) {
      this.sentAt.set(key, this.n);
    }
    if (resolve !== undefined) {
      this.waiting.set(this.n, resolve);
    }
    this.unanswered.set(this.n, { set: this.dirty, action });
    this.channel.send({ n: this.n, ...this.told.changes(this.dirty), ...more, ...action });
    this.dirty = {};
  }
}
