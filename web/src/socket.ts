// The channel of the panes: one message at a time goes up, what changes by it comes down.

import type { PageAnswer, PageControls, PageMessage, PageOutline, PageValueAnswer } from "./api";
import type { Channel, Connection } from "./connection";
import type { MessageData } from "./model";

/** The controls of the page whose values the server has to know. */
export type Controls = Omit<Required<PageMessage["set"]>, "frame"> & Pick<PageMessage["set"], "frame">; // frame: of a page of a capture

/** What was pressed, with what belongs to it. */
export type Action = Omit<PageMessage, "n" | "set" | "have"> & { action: string };

/** An answer with the whole of what it changes. */
export interface Answer extends Omit<PageAnswer, "outline" | "data" | "status"> {
  status?: string;
  value?: PageValueAnswer["value"];
  older?: boolean; // than the text of the definition that the page has
  data?: MessageData;
  keys?: Map<string, number>; // lines of the definition, by the key of what they make
  lines?: Map<number, string>; // what is to be said about them
}

/** The list that a patch makes of one: `remove` of its elements from `at` on, all if that is -1, give way to new ones. */
function patched<T>(list: readonly T[], patch: { at: number; remove?: number; new?: T[] } | undefined): readonly T[] {
  return patch === undefined ? list : list.toSpliced(patch.at, patch.remove === -1 ? list.length : (patch.remove ?? 0), ...(patch.new ?? []));
}

const noData: MessageData = { bytes: "", len: [], part: [], parts: [], used: 0, name: "", dir: "" };

export type State = "connecting" | "open" | "lost";

/** The channel. `all` gives every control, for the first message of each connection. */
export class Socket {
  private readonly all: () => Controls;
  private readonly answered: (answer: Answer) => void;
  private readonly changed: (state: State) => void;
  private readonly channel: Channel;
  private n = 0; // of the last message sent
  private known = 0; // of the last message that was answered
  private dirty: Partial<Controls> = {};
  private readonly actions: Action[] = [];
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private readonly sentAt = new Map<string, number>(); // the last message that has a control
  private skipped: MessageData | undefined; // of older bytes than those that were typed, as the server told them last
  private late: PageControls = {}; // of answers that were older than the text
  private data = noData; // the server tells what changes in this and the outline
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
    // The server knows nothing of what came before: it gets all of it.
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

  /** The answer with the whole of what it changes. */
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
      answer.data = this.skipped; // what was typed since is the same, so the server tells nothing
      this.skipped = undefined;
    }
    if (answer.value === undefined) {
      // What was typed since counts, not what the server made of older values.
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
        delete answer.data; // of older bytes than those that are shown
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

  /** Tells the server what has changed in the controls; several changes at once are one message. */
  set(change: Partial<Controls>): void {
    Object.assign(this.dirty, change);
    queueMicrotask(() => this.send());
  }

  /** Asks for an action. Without a connection it is refused. */
  act(action: Action): Promise<Answer> {
    if (this.state !== "open") {
      return Promise.resolve({ n: 0, failed: "no connection to the server" });
    }
    return new Promise((resolve) => {
      this.actions.push(action);
      this.flush(resolve);
    });
  }

  /** One message at a time is under way: while the server works, what comes is put together. */
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
