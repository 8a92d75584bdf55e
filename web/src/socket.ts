// The channel of the panes: one message at a time goes to the server, and its effects come back.

import type { PageAnswer, PageControls, PageMessage, PageOutline, PageValueAnswer } from "./api";
import type { Channel, Connection } from "./connection";
import type { MessageData } from "./model";

/** The controls of the page whose values the server needs. */
export type Controls = Omit<Required<PageMessage["set"]>, "frame"> & Pick<PageMessage["set"], "frame">; // frame: of a page of a capture

/** A pressed button with its parameters. */
export type Action = Omit<PageMessage, "n" | "set" | "have"> & { action: string };

/** An answer with patches applied. */
export interface Answer extends Omit<PageAnswer, "outline" | "data" | "status"> {
  status?: string;
  value?: PageValueAnswer["value"];
  older?: boolean; // than the page's text of the definition
  data?: MessageData;
  keys?: Map<string, number>; // lines of the definition, by key of the part
  lines?: Map<number, string>; // tooltips of lines
}

/** Applies a patch to a list: `remove` elements from `at` on, all if -1, are replaced by new ones. */
function patched<T>(list: readonly T[], patch: { at: number; remove?: number; new?: T[] } | undefined): readonly T[] {
  return patch === undefined ? list : list.toSpliced(patch.at, patch.remove === -1 ? list.length : (patch.remove ?? 0), ...(patch.new ?? []));
}

const noData: MessageData = { bytes: "", len: [], part: [], parts: [], used: 0, name: "", dir: "" };

export type State = "connecting" | "open" | "lost";

/** The channel. `all` returns every control, for the first message of a connection. */
export class Socket {
  private readonly all: () => Controls;
  private readonly answered: (answer: Answer) => void;
  private readonly changed: (state: State) => void;
  private readonly channel: Channel;
  private n = 0; // of the last message sent
  private known = 0; // of the last answered message
  private dirty: Partial<Controls> = {};
  private readonly actions: Action[] = [];
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly sentAt = new Map<string, number>(); // by control, its last message
  private skipped: MessageData | undefined; // of bytes older than the typed ones, the server's last state
  private late: PageControls = {}; // of answers older than the text
  private data = noData; // merged; the server sends changes of this and the outline
  private outline: readonly PageOutline[] = [];
  state: State = "connecting";

  constructor(connection: Connection, all: () => Controls, answered: (answer: Answer) => void, changed: (state: State) => void) {
    this.all = all;
    this.answered = answered;
    this.changed = changed;
    this.channel = connection.channel("page", undefined, { open: () => this.open(), message: (m) => this.take(m), lost: () => this.lost() });
  }

  private turn(state: State): void {
    this.state = state;
    this.changed(state);
  }

  private open(): void {
    this.known = this.n;
    this.skipped = undefined;
    this.late = {};
    this.data = noData;
    this.outline = [];
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
  private whole({ data, outline, ...answer }: PageAnswer & Pick<Answer, "value">): Answer {
    const whole: Answer = answer;
    if (answer.value !== undefined) {
      return whole;
    }
    if (data !== undefined) {
      const { bytes, len, part, parts } = this.data;
      this.data = { ...data, bytes: data.bytes ?? bytes, len: patched(len, data.len), part: patched(part, data.part), parts: patched(parts, data.parts) };
      whole.data = this.data;
    }
    this.outline = patched(this.outline, outline);
    const keys = (whole.keys = new Map<string, number>());
    if (answer.behind !== true) {
      const lines = (whole.lines = new Map<number, string>());
      let line = 0;
      for (const { key, step, text } of this.outline) {
        keys.set(key, (line += step));
        if (text !== undefined) {
          lines.set(line, text);
        }
      }
    }
    return whole;
  }

  private take(from: PageAnswer): void {
    const answer = this.whole(from);
    this.known = Math.max(this.known, answer.n);
    if (answer.data !== undefined) {
      this.skipped = undefined;
    } else if (this.skipped !== undefined && (this.sentAt.get("edits") ?? 0) <= answer.n && !("edits" in this.dirty)) {
      answer.data = this.skipped; // later edits changed nothing, so the server sends nothing
      this.skipped = undefined;
    }
    if (answer.value === undefined) {
      // Newer typed values take precedence over the server's.
      const newer = (key: string): boolean => key in this.dirty || (this.sentAt.get(key) ?? 0) > answer.n;
      const set: Record<string, unknown> = { ...this.late, ...answer.set };
      for (const key of Object.keys(set).filter(newer)) {
        delete set[key];
      }
      answer.older = newer("definition");
      this.late = answer.older ? set : {};
      answer.set = answer.older ? {} : set;
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
    Object.assign(this.dirty, change);
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

  /** One message at a time is pending: meanwhile changes accumulate. */
  private send(): void {
    if (this.known >= this.n && Object.keys(this.dirty).length > 0) {
      this.flush(undefined);
    }
  }

  private flush(resolve: ((answer: Answer) => void) | undefined, more: object = {}): void {
    if (this.state !== "open") {
      return;
    }
    const action = this.actions.shift();
    this.n++;
    for (const key of Object.keys(this.dirty)) {
      this.sentAt.set(key, this.n);
    }
    if (resolve !== undefined) {
      this.waiting.set(this.n, resolve);
    }
    this.channel.send({ n: this.n, set: this.dirty, ...more, ...action });
    this.dirty = {};
  }
}
