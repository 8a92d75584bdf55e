// The bookmarks of the shown message: over its bytes, and as commands.

import { hueNames } from "../api/frames";
import { askText } from "../kit/notebox";
import { notify } from "../kit/notify";
import { type Bookmark, bookmarkList, drawBookmarks, movedBookmarks, packBookmarks, unpackBookmarks } from "./hex/bookmarks";
import type { HexGrid } from "./hex/index";

/** The page. */
export interface BookmarksHost {
  readonly grid: Pick<HexGrid, "bookmark" | "selection" | "pointOf" | "focus">;
  show(): number; // the index of the shown message in the input
  size(): number; // of the shown message, in bytes
  path(): string; // of the selected part, "" without one
  select(start: number, end: number): void;
  changing(): void; // a bookmark is about to change
  changed(): void;
}

const longest = 100; // characters of a name

/** The bookmarks of the input. */
export class Bookmarks {
  readonly bar = bookmarkList();
  private readonly host: BookmarksHost;
  private list: readonly Bookmark[];

  /** `packed` are those to begin with; they are drawn with the message. */
  constructor(host: BookmarksHost, packed: string) {
    this.host = host;
    this.list = unpackBookmarks(packed);
  }

  /** All of them as a text. */
  get packed(): string {
    return packBookmarks(this.list);
  }

  /** Takes those of a text. */
  unpack(text: string): void {
    this.set(unpackBookmarks(text));
  }

  /** The bookmarks of the shown message, in order. */
  get shown(): Bookmark[] {
    const show = this.host.show();
    return this.list.filter((b) => b.show === show).sort((a, b) => a.start - b.start || a.end - b.end);
  }

  clear(): void {
    this.set([]);
  }

  /** Moves those behind bytes of the shown message that were replaced by others. */
  move(at: number, removed: number, inserted: number): void {
    this.set(movedBookmarks(this.list, this.host.show(), at, removed, inserted));
  }

  private set(list: readonly Bookmark[]): void {
    this.list = list;
    this.draw();
  }

  /** Draws those of the shown message. */
  draw(): void {
    this.host.grid.bookmark(this.shown);
    drawBookmarks(this.bar, this.shown, {
      go: (b) => this.goTo(b),
      change: (from, to) => this.change(from, to),
      rename: (b, anchor) => askText(anchor, { label: "Name of the bookmark", text: b.name, button: "Rename", most: longest }, (name) => this.change(b, { ...b, name: name || b.name })),
    });
  }

  /** Replaces, adds or removes a bookmark, as a step that can be undone. */
  private change(from: Bookmark | undefined, to: Bookmark | undefined): void {
    this.host.changing();
    this.set([...this.list.filter((b) => b !== from), ...(to === undefined ? [] : [to])]);
    this.host.changed();
  }

  goTo({ start, end }: Bookmark): void {
    this.host.select(start, Math.min(end, this.host.size()));
    this.host.grid.focus();
  }

  /** Bookmarks the selected bytes. */
  add(): void {
    const { start, end, caret } = this.host.grid.selection;
    const range = end > start ? { start, end } : { start: caret, end: caret + 1 };
    const path = this.host.path();
    askText(this.host.grid.pointOf(range.start), { label: "Name of the bookmark", text: path === "unexplained" ? "" : path, button: "Bookmark", most: longest }, (name) => {
      const n = this.list.length;
      this.change(undefined, { show: this.host.show(), ...range, hue: (n % hueNames.length) + 1, name: name || `bookmark ${n + 1}` });
    });
  }

  /** Goes to the next bookmark, or the previous one. */
  step(by: -1 | 1): void {
    const all = this.shown;
    const { start } = this.host.grid.selection;
    const next = by > 0 ? (all.find((b) => b.start > start) ?? all[0]) : (all.findLast((b) => b.start < start) ?? all.at(-1));
    if (next === undefined) {
      notify("No bookmarks", "warn");
    } else {
      this.goTo(next);
    }
  }
}
