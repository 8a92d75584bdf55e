// What opens beside the list: statistics, the timeline, connections, tables and comparisons.

import type { FrameName, FrameRow, Marker, Noted, RequestKind, Requests, State } from "./protocol";
import type { RelatedField, RelatedType } from "../api";
import { make } from "../dom";

export type DrawerName = "types" | "timeline" | "conns" | "table" | "diff" | "markers";

/** What a drawer may use of the pane that it is in. */
export interface DrawerHost {
  readonly state: State;
  /** The current row. */
  readonly row: FrameRow | undefined;
  readonly chips: readonly string[];
  ask<K extends RequestKind>(kind: K, question: Requests[K]["ask"], signal?: AbortSignal): Promise<Requests[K]["answer"]>;
  /** Puts a filter in force, together with the one there is. */
  filter(text: string): void;
  addChip(chip: string, label?: string): void;
  removeChip(chip: string): void;
  /** Shows a frame in the list, or the next after it. */
  goTo(n: number): void;
  /** Shows the first frame that fits a filter. */
  goToFirst(filter: string): void;
  addColumn(path: string): void;
  /** What the page knows of markers; undefined: it cannot ask. */
  readonly markers: MarkerSource | undefined;
  /** Tells what went wrong. */
  failed(error: unknown): void;
}

/** What goes with a marker, as GET .../related says it. */
export interface Related {
  types: RelatedType[];
  fields: RelatedField[];
  value?: string;
}

/** Where markers are kept. Promises may fail. */
export interface MarkerSource {
  /** What comes with the marker before a frame, or with a value at that moment. */
  related(n: FrameName, value: string, signal: AbortSignal): Promise<Related>;
  /** Whether this person may set markers and change them. */
  readonly may: boolean;
  /** Sets one before a frame, which may be the next of running traffic; says whether that is done. */
  add(n: number, text: string, id?: string): Promise<boolean>;
  /** Takes away the mark and the note of a frame. */
  forget(x: Noted): Promise<void>;
  /** Gives a marker another text; it can be taken back. */
  rename(m: Marker, text: string): Promise<boolean>;
  /** Takes a marker away; it can be taken back. */
  remove(m: Marker): Promise<boolean>;
}

/** A drawer: made when it is opened, gone when it is closed. */
export interface Drawer {
  readonly element: HTMLElement;
  /** The list changed: another view (`anew`), or more of it is known. */
  changed(state: State, anew: boolean): void;
  /** The current row is another. */
  selected?(row: FrameRow | undefined): void;
  /** The drawer has another size. */
  resized?(): void;
  focus(): void;
  close(): void;
  /** Compares two frames: of the drawer that does. */
  compare?(a: number, b: number): void;
}

/** The drawers, as drawers.js has them. */
export type DrawerTable = Readonly<Record<DrawerName, new (host: DrawerHost) => Drawer>>;

const restMillis = 1000; // between two answers that are asked for because the list grows

/** Asks again when the list changes: at once for another view, now and then while it grows, and never twice at a time. */
export class Refresher {
  private readonly load: (signal: AbortSignal) => Promise<void>;
  private under: AbortController | undefined;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private key = "";

  constructor(load: (signal: AbortSignal) => Promise<void>) {
    this.load = load;
  }

  /** The list is as the state says. */
  changed(state: State, anew: boolean): void {
    const key = `${state.seq} ${state.fit} ${state.done} ${state.total}`;
    if (anew) {
      this.now();
    } else if (key !== this.key) {
      this.soon();
    }
    this.key = key;
  }

  /** Asks at once; an answer under way is given up. */
  now(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.under?.abort();
    this.under = undefined;
    void this.run();
  }

  private soon(): void {
    this.again = true;
    if (this.under === undefined && this.timer === undefined) {
      this.timer = setTimeout(() => {
        this.timer = undefined;
        void this.run();
      }, restMillis);
    }
  }

  private async run(): Promise<void> {
    const under = new AbortController();
    this.under = under;
    this.again = false;
    try {
      await this.load(under.signal);
    } finally {
      if (this.under === under) {
        this.under = undefined;
        if (this.again) {
          this.soon();
        }
      }
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.under?.abort();
    this.again = false;
  }
}

/** A table that sorts by its heads. */
export interface SortHead {
  id: string;
  title: string;
  right?: boolean;
  hint?: string;
}

/** The head row of a sortable table; each head is a button, so that keys reach it. */
export function sortHead(heads: readonly SortHead[], sort: { by: string; desc: boolean }, choose: (id: string) => void): HTMLTableRowElement {
  const row = make("tr");
  for (const head of heads) {
    const cell = make("th", head.right === true ? "num" : "");
    cell.scope = "col";
    const on = sort.by === head.id;
    if (on) {
      cell.setAttribute("aria-sort", sort.desc ? "descending" : "ascending");
    }
    if (head.title === "") {
      cell.append(make("span", "sr-only", head.hint ?? ""));
    } else {
      const button = make("button", "sort", `${head.title}${on ? (sort.desc ? " ↓" : " ↑") : ""}`);
      button.type = "button";
      button.title = head.hint ?? `Sort by ${head.title}`;
      button.dataset["sort"] = head.id;
      button.addEventListener("click", () => choose(head.id));
      cell.append(button);
    }
    row.append(cell);
  }
  return row;
}
