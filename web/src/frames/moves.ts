// Moves in the list: to a frame by its name, to the next one of a kind, to what is found, and through the history. A later move makes those under
// way void. Some leave an entry in the history of the browser: those that a user asks for directly.

import type { Found, FrameName, FrameRow, RequestKind, Requests, State, StepBy } from "../api/frames";
import { announce, notify } from "../kit/notify";
import { History } from "./history";
import { nameOf } from "./marks";
import { FramesError } from "./socket";

const mostIDs = 20_000; // of rows

const kinds: Readonly<Record<StepBy, string>> = { type: "of this type", conn: "of this conversation", mark: "with a mark", note: "with a note", problem: "with a problem" };

/** The list. */
export interface MovesHost {
  readonly position: number;
  readonly frameNumber: number;
  /** Goes to a row, or by some rows. */
  go(pos: number, extend?: boolean): void;
  step(by: number, extend: boolean): void;
  ask<K extends RequestKind>(kind: K, question: Requests[K]["ask"], signal?: AbortSignal): Promise<Requests[K]["answer"]>;
  /** Says something in the status line. */
  say(text: string): void;
  failed(error: unknown): void;
}

export class Moves {
  private readonly host: MovesHost;
  private readonly history = new History();
  private ids = new Map<number, string>(); // identities of rows
  private idsBefore: Map<number, string> | undefined; // by the numbers that frames had before renumbering, which the list still uses
  private travelling = false;
  private jumped = false; // the next current row is one that the user went to directly
  private going = 0; // number of moves; an answer about an earlier one is void
  private first: { frame: FrameName; number: number } | undefined; // the frame to begin with, and its former number

  constructor(host: MovesHost, frame: FrameName, number: number) {
    this.host = host;
    this.first = frame === 0 ? undefined : { frame, number };
  }

  /** Rows have come. */
  saw(rows: readonly FrameRow[]): void {
    if (this.ids.size > mostIDs) {
      this.ids.clear();
    }
    for (const { n, id } of rows) {
      if (id !== undefined) {
        this.ids.set(n, id);
      }
    }
  }

  /** Frames have other numbers now. */
  renumbered(): void {
    this.idsBefore ??= this.ids;
    this.ids = new Map();
  }

  /** The current position of a frame. Its number may be from before a renumbering, which the list still uses. */
  async where(n: number): Promise<Found> {
    const frame = this.idsBefore?.get(n);
    const found = frame === undefined ? undefined : await this.host.ask("where", { frame });
    if (found?.meant === undefined) {
      return this.host.ask("where", { n });
    }
    return found.n === found.meant ? { ...found, n } : found;
  }

  /** Another row is current. Returns whether the user went to it directly. */
  arrived(row: FrameRow | undefined): boolean {
    this.idsBefore = undefined;
    if (row !== undefined && !this.travelling) {
      this.history.visit(nameOf(row));
    }
    this.travelling = false;
    const { jumped } = this;
    this.jumped = false;
    return jumped;
  }

  /** The user moves: moves under way, also to the initial frame, are void. */
  begin(jumped = false): void {
    this.first = undefined;
    this.going++;
    this.jumped = jumped;
  }

  /** A row was pressed, which may become current. */
  pressed(onRow: boolean, jumped: boolean): void {
    if (onRow) {
      this.begin();
    }
    this.jumped = jumped;
  }

  /** Goes to the initial frame, once the list has been read that far. */
  start(state: State): void {
    if (this.first !== undefined && ((state.scanned >= this.first.number && this.first.number > 0) || state.done)) {
      void this.goTo(this.first.frame, false);
    }
  }

  /** Goes to a row on request, with a history entry. */
  jumpTo(pos: number, extend = false): void {
    this.begin(!extend);
    this.host.go(pos, extend);
  }

  /** Moves by rows, without a history entry. */
  walk(by: number, extend: boolean): void {
    this.begin();
    this.host.step(by, extend);
  }

  /** Shows a frame, or the next listed one after it; `jumped`: the user requested it. */
  async goTo(frame: FrameName, jumped = true): Promise<void> {
    this.begin();
    const { going } = this;
    await this.trying(async () => {
      const found = await this.host.ask("where", typeof frame === "number" ? { n: frame } : { frame });
      if (going !== this.going) {
        return;
      }
      const n = found.meant ?? frame;
      if (found.pos < 0) {
        notify(`Frame ${n} is not in the list.`, "warn");
        return;
      }
      this.begin(jumped);
      this.host.go(found.pos);
      if (found.n !== n) {
        notify(`Frame ${n} is hidden by the filter; showing the next one.`, "warn");
      }
    });
  }

  /** Goes to the next frame of a kind. */
  async next(by: StepBy, back: boolean): Promise<void> {
    await this.trying(async () => {
      const found = await this.host.ask("step", { n: this.host.frameNumber, by, back });
      if (found.pos >= 0) {
        this.jumpTo(found.pos);
      } else {
        const text = `no ${back ? "earlier" : "later"} frame ${kinds[by]}`;
        announce(text);
        this.host.say(text);
      }
    });
  }

  /** Moves through the frames that were current. */
  async travel(by: -1 | 1): Promise<void> {
    const frame = this.history.travel(by);
    if (frame !== undefined) {
      this.travelling = true;
      await this.goTo(frame, false);
    }
  }

  /** Finds the next row from the current one; if the list changes meanwhile, in the new list. */
  async find(what: Omit<Requests["find"]["ask"], "from">, signal?: AbortSignal): Promise<Found> {
    for (;;) {
      try {
        return await this.host.ask("find", { ...what, from: this.host.position }, signal);
      } catch (error) {
        if (!(error instanceof FramesError && error.why === "stale")) {
          throw error;
        }
      }
    }
  }

  /** Goes to the next frame that matches a filter; `none` is said without one. */
  async toMatch(filter: string, back: boolean, none: string): Promise<void> {
    await this.trying(async () => {
      const found = await this.find({ text: filter, as: "filter", back });
      if (found.pos < 0) {
        notify(none, "warn");
      } else {
        this.jumpTo(found.pos);
      }
    });
  }

  /** Goes to the first frame of the list that matches a filter. */
  async toFirst(filter: string): Promise<void> {
    await this.trying(async () => {
      const found = await this.host.ask("find", { text: filter, as: "filter", from: -1, back: false });
      if (found.pos >= 0) {
        this.jumpTo(found.pos);
      }
    });
  }

  private async trying(move: () => Promise<void>): Promise<void> {
    try {
      await move();
    } catch (error) {
      this.host.failed(error);
    }
  }
}
