// The channel of an open list of frames. After reconnecting it sends the view again.

import type { Channel, ChannelEvents } from "../kit/connection";
import type { Found, Noted, RequestKind, Requests, State, View } from "../api/frames";

export type Connection = "connecting" | "open" | "lost" | "gone"; // gone: the capture was deleted, and the connection is closed

/** Why a request failed. */
export type Failure = "lost" | "stale" | "cancelled" | "failed";

/** A failed request; for "failed" and "lost" the message is to be shown. */
export class FramesError extends Error {
  readonly why: Failure;

  constructor(why: Failure, message: string) {
    super(message);
    this.why = why;
  }
}

/** Whether a request was cancelled on purpose, so that no message is needed. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof FramesError && (error.why === "cancelled" || error.why === "stale");
}

export interface SocketEvents {
  /** The state changed; it has all keys. */
  state(state: State): void;
  connection(connection: Connection): void;
}

/** The state before the first message of the server. */
export function noState(): State {
  return {
    seq: 0, name: "", total: 0, scanned: 0, fit: 0, done: false, reading: false, read: 0, size: 0, note: "", start: 0, end: 0,
    conns: [], mistakes: [], rewritten: "", noted: [], marked: [], notes: {}, markers: [], live: false, cuts: -1, epoch: 0,
    order: 0, sorted: undefined, sorting: 0, fresh: 0, packets: -1, again: false,
  };
}

/** Marks and notes by frame number; notes of frames with the same number are joined. */
function numbered(noted: readonly Noted[]): Pick<State, "marked" | "notes"> {
  const notes: Record<string, string> = {};
  for (const { n, note } of noted) {
    if (n !== undefined && note !== undefined) {
      const before = notes[n];
      notes[n] = before === undefined || before.split("\n").includes(note) ? (before ?? note) : `${before}\n${note}`;
    }
  }
  return { marked: [...new Set(noted.flatMap(({ n, mark }) => (n !== undefined && mark === true ? [n] : [])))], notes };
}

interface Waiting {
  kind: RequestKind;
  seq: number; // of the view that the request is about
  question: object;
  sent: boolean; // false: waiting for the connection
  resolve(answer: unknown): void;
  reject(error: FramesError): void;
}

const toldOnce: ReadonlySet<string> = new Set(["noted", "markers", "conns"]); // sent once until they change, whatever the view
const repeated: ReadonlySet<RequestKind> = new Set(["where", "step"]); // made again if the list changes: they do not depend on its positions
const cancellable: ReadonlySet<RequestKind> = new Set(["find", "types", "map", "timeline", "table", "problems", "conns", "graph", "follow"]);

export class FramesSocket {
  state: State = noState();
  connection: Connection = "connecting";

  private readonly events: SocketEvents;
  private readonly channel: Channel;
  private stopped = false;
  private view: View | undefined;
  private seqNow = 0;
  private lastID = 0;
  private readonly waiting = new Map<number, Waiting>();

  constructor(events: SocketEvents, channel: (events: ChannelEvents) => Channel) {
    this.events = events;
    this.channel = channel({ open: () => this.begin(), message: (m) => this.take(m), lost: () => this.lost() });
  }

  /** The number of the current view; rows of others are void. */
  get seq(): number {
    return this.seqNow;
  }

  /** Sets the view and returns its number. Requests about the old view are cancelled. */
  show(view: View): number {
    this.view = view;
    const again = this.turn();
    this.channel.send({ view: { seq: this.seqNow, ...view } });
    again.forEach((w) => this.repeat(w));
    return this.seqNow;
  }

  /** Starts a new view, with an empty state; returns the requests to be made again. */
  private turn(): Waiting[] {
    const again: Waiting[] = [];
    this.seqNow++;
    this.state = { ...this.state, seq: this.seqNow, scanned: 0, fit: 0, done: false, mistakes: [], rewritten: "" };
    for (const [id, w] of this.waiting) {
      if (!w.sent) {
        w.seq = this.seqNow; // not sent yet
      } else if (repeated.has(w.kind)) {
        this.waiting.delete(id);
        again.push(w);
      } else if (w.seq !== this.seqNow && w.kind !== "diff" && w.kind !== "frame" && w.kind !== "packet") {
        this.giveUp(id, "stale");
      }
    }
    return again;
  }

  /** Makes a request about the new view; an answer to the former one is void. */
  private repeat(w: Waiting): void {
    const id = ++this.lastID;
    this.waiting.set(id, { ...w, seq: this.seqNow });
    this.put(id, w.kind, w.question);
  }

  /**
   * Sends a request, once the list is open. The promise fails with a FramesError; aborting the signal also cancels the request at the
   * server.
   */
  ask<K extends RequestKind>(kind: K, question: Requests[K]["ask"], signal?: AbortSignal): Promise<Requests[K]["answer"]> {
    const sent = this.channel.isOpen;
    if (!sent && (this.connection !== "connecting" || this.stopped)) {
      return Promise.reject(new FramesError("lost", "no connection to the server"));
    }
    if (signal?.aborted === true) {
      return Promise.reject(new FramesError("cancelled", "cancelled"));
    }
    const id = ++this.lastID;
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => this.giveUp(id, "cancelled"), { once: true }); // no effect after the response
      this.waiting.set(id, { kind, seq: this.seqNow, question, sent, resolve: resolve as (answer: unknown) => void, reject });
      if (sent) {
        this.put(id, kind, question);
      }
    });
  }

  private put(id: number, kind: RequestKind, question: object): void {
    this.channel.send({ [kind]: { id, ...question } });
  }

  /** Closes the connection permanently. */
  close(): void {
    this.stopped = true;
    this.channel.close();
    this.loseAll("cancelled", "cancelled");
  }

  /** The capture was deleted: no more requests. */
  gone(): void {
    if (this.connection !== "gone") {
      this.close();
      this.become("gone");
    }
  }

  private giveUp(id: number, why: "stale" | "cancelled"): void {
    const w = this.waiting.get(id);
    if (w === undefined) {
      return;
    }
    this.waiting.delete(id);
    if (cancellable.has(w.kind)) {
      this.channel.send({ cancel: { id } });
    }
    w.reject(new FramesError(why, why === "stale" ? "the list has changed" : "cancelled"));
  }

  private loseAll(why: Failure, message: string): void {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const w of all) {
      w.reject(new FramesError(why, message));
    }
  }

  private begin(): void {
    // The server has no state of earlier connections.
    this.state = noState();
    if (this.view !== undefined) {
      this.turn();
      this.channel.send({ view: { seq: this.seqNow, ...this.view } });
    }
    for (const [id, w] of this.waiting) {
      if (!w.sent) {
        w.sent = true;
        this.put(id, w.kind, w.question);
      }
    }
    this.become("open");
  }

  private lost(): void {
    this.loseAll("lost", "the connection was lost");
    this.become("lost");
  }

  private become(connection: Connection): void {
    this.connection = connection;
    this.events.connection(connection);
  }

  private take({ state, gone, ...answers }: Record<string, Record<string, unknown>>): void {
    if (gone !== undefined) {
      this.gone();
    } else if (state !== undefined) {
      this.takeState(state);
    }
    for (const [kind, body] of Object.entries(answers)) {
      this.answer(kind, body["id"] as number, body);
    }
  }

  private takeState(change: Record<string, unknown>): void {
    const stale = change["seq"] !== this.seqNow; // of an old view
    const changes = change["conn_changes"] as Record<string, State["conns"][number]> | undefined;
    if (changes !== undefined) {
      const conns = [...this.state.conns];
      for (const [index, conn] of Object.entries(changes)) {
        conns[Number(index)] = conn;
      }
      change["conns"] = conns;
    }
    const told = Object.entries(change).filter(([key]) => !stale || toldOnce.has(key));
    this.state = { ...this.state, ...Object.fromEntries(told.map(([key, value]) => [key, value ?? undefined])) };
    if (change["noted"] !== undefined) {
      this.state = { ...this.state, ...numbered(this.state.noted) };
    }
    if (!stale) {
      this.events.state(this.state);
    }
  }

  private answer(kind: string, id: number, body: Record<string, unknown>): void {
    const w = this.waiting.get(id);
    if (w === undefined) {
      return; // cancelled
    }
    this.waiting.delete(id);
    if (kind === "failed") {
      w.reject(new FramesError("failed", body["message"] as string));
    } else if ((kind === "rows" || kind === "map") && (body["seq"] !== this.seqNow || (body["order"] ?? 0) !== this.state.order)) {
      w.reject(new FramesError("stale", "the list has changed"));
    } else {
      w.resolve(body as unknown as Found);
    }
  }
}
