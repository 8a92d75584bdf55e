// Drawers beside the list: statistics, timeline, connections, tables and comparisons.

import type { FrameName, FrameRow, Marker, Noted, RequestKind, Requests, State } from "../api/frames";
import type { RelatedField, RelatedType } from "../api/api";
import { make } from "../kit/dom";
import type { Range } from "./ranges";

export type DrawerName = "types" | "problems" | "timeline" | "graph" | "conns" | "follow" | "flow" | "table" | "diff" | "markers";

/** The interface of the pane for its drawers. */
export interface DrawerHost {
  readonly state: State;
  /** The current row. */
  readonly row: FrameRow | undefined;
  /** The selected rows, or the current one. */
  readonly chosen: readonly Range[];
  readonly chips: readonly string[];
  ask<K extends RequestKind>(kind: K, question: Requests[K]["ask"], signal?: AbortSignal): Promise<Requests[K]["answer"]>;
  /** Adds a condition to the current filter. */
  filter(text: string): void;
  addChip(chip: string, label?: string): void;
  removeChip(chip: string): void;
  /** Shows a frame in the list, or the next listed one after it. */
  goTo(n: number): void;
  /** Shows the first frame that matches a filter. */
  goToFirst(filter: string): void;
  addColumn(path: string): void;
  /** Follows the connection of a frame. */
  follow(n: number): void;
  /** Access to markers; undefined if there are none. */
  readonly markers: MarkerSource | undefined;
  /** Reports an error. */
  failed(error: unknown): void;
}

/** The response of GET .../related for a marker. */
export interface Related {
  types: RelatedType[];
  fields: RelatedField[];
  value?: string;
}

/** Storage of markers. Promises may fail. */
export interface MarkerSource {
  /** The messages and fields related to the marker before a frame, or to a value at that time. */
  related(n: FrameName, value: string, signal: AbortSignal): Promise<Related>;
  /** Whether the user may set and change markers. */
  readonly may: boolean;
  /** Sets a marker before a frame, which may be the next live one; resolves to whether it succeeded. */
  add(n: number, text: string, id?: string): Promise<boolean>;
  /** Removes the mark and the note of a frame. */
  forget(x: Noted): Promise<void>;
  /** Renames a marker; can be undone. */
  rename(m: Marker, text: string): Promise<boolean>;
  /** Removes a marker; can be undone. */
  remove(m: Marker): Promise<boolean>;
}

/** A drawer, created when opened and destroyed when closed. */
export interface Drawer {
  readonly element: HTMLElement;
  /** The list changed: another view (`anew`), or more frames. */
  changed(state: State, anew: boolean): void;
  /** The current row changed. */
  selected?(row: FrameRow | undefined): void;
  /** The size of the drawer changed. */
  resized?(): void;
  focus(): void;
  close(): void;
  /** Follows the connection of a frame, in the drawer for that. */
  follow?(n: number): void;
  /** Adds a field, in the drawer for graphs. */
  addField?(field: string): void;
  /** Compares two frames, in the drawer for comparisons. */
  compare?(a: number, b: number): void;
}

/** The drawers by name. */
export type DrawerTable = Readonly<Record<DrawerName, new (host: DrawerHost) => Drawer>>;

const restMillis = 1000; // between two requests while the list grows

/** Repeats a request when the list changes: at once for another view, at intervals while it grows, and never two at a time. */
export class Refresher {
  private readonly load: (signal: AbortSignal) => Promise<void>;
  private under: AbortController | undefined;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private key = "";

  constructor(load: (signal: AbortSignal) => Promise<void>) {
    this.load = load;
  }

  /** Takes a state of the list. */
  changed(state: State, anew: boolean): void {
    const key = `${state.seq} ${state.fit} ${state.done} ${state.total}`;
    if (anew) {
      this.now();
    } else if (key !== this.key) {
      this.soon();
    }
    this.key = key;
  }

  /** Requests at once, cancelling a pending request. */
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

/** A head of a sortable table. */
export interface SortHead {
  id: string;
  title: string;
  right?: boolean;
  hint?: string;
}

/** The head row of a sortable table; the heads are buttons, so that keys reach them. */
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
