// Bookmarks on bytes: named and colored ranges of a message. They are listed over the grid.
//
//   .bookmarks[role=group] > button.bookmark.hue1..8

import { button, make } from "../../kit/dom";
import { openMenu } from "../../kit/menu";
import { hueNames } from "../../api/frames";
import { offsetOf } from "../../kit/numbers";

/** A bookmark. Immutable. */
export interface Bookmark {
  show: number; // index of the message in the input
  start: number;
  end: number;
  hue: number; // from 1
  name: string;
}

const most = 200;
const longest = 100; // characters of a name

/** Bookmarks as stored in links. */
export function packBookmarks(list: readonly Bookmark[]): string {
  return list.length === 0 ? "" : JSON.stringify(list.map(({ show, start, end, hue, name }) => [show, start, end - start, hue, name]));
}

/** The inverse of packBookmarks; without what is invalid. */
export function unpackBookmarks(text: string): Bookmark[] {
  try {
    const list = JSON.parse(text) as unknown;
    return (Array.isArray(list) ? list : []).slice(0, most).flatMap((item: unknown) => {
      const [show, start, length, hue, name] = Array.isArray(item) ? (item as unknown[]) : [];
      const whole = [show, start, length, hue].every((n) => Number.isInteger(n) && Number(n) >= 0);
      return whole && Number(length) > 0 && typeof name === "string" && Number(hue) >= 1 && Number(hue) <= hueNames.length
        ? [{ show: Number(show), start: Number(start), end: Number(start) + Number(length), hue: Number(hue), name: name.slice(0, longest) }] : [];
    });
  } catch {
    return [];
  }
}

/** Bookmarks after bytes were replaced: those behind move, and those that lost all their bytes go. */
export function movedBookmarks(list: readonly Bookmark[], show: number, at: number, removed: number, inserted: number): Bookmark[] {
  const moved = (byte: number): number => (byte <= at ? byte : byte >= at + removed ? byte - removed + inserted : Math.min(byte, at + inserted));
  return list.flatMap((b) => {
    const now = b.show === show && removed !== inserted ? { ...b, start: moved(b.start), end: moved(b.end) } : b;
    return now.end > now.start ? [now] : [];
  });
}

export interface BookmarkEvents {
  go(b: Bookmark): void;
  rename(b: Bookmark, anchor: HTMLElement): void;
  change(from: Bookmark, to: Bookmark | undefined): void;
}

/** Draws the list of bookmarks. */
export function drawBookmarks(host: HTMLElement, list: readonly Bookmark[], events: BookmarkEvents): void {
  host.hidden = list.length === 0;
  host.replaceChildren(...list.map((b) => {
    const item = button(b.name, () => events.go(b), `${b.end - b.start} bytes at ${offsetOf(b.start)}; the menu changes and removes it`, `btn quiet bookmark hue${b.hue}`);
    const menu = (at: HTMLElement | { x: number; y: number }): void => openMenu(at, {
      label: b.name,
      items: [
        { title: "Rename …", run: () => events.rename(b, item) },
        { title: "Remove", hint: "Delete", run: () => events.change(b, undefined) },
        ...hueNames.map((name, i) => ({ title: name, group: "Color", run: () => events.change(b, { ...b, hue: i + 1 }) })),
      ],
    });
    item.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      menu(event.button === 2 ? { x: event.clientX, y: event.clientY } : item);
    });
    item.addEventListener("keydown", (event) => {
      if (event.key === "Delete") {
        events.change(b, undefined);
      }
    });
    return item;
  }));
}

/** An empty list of bookmarks. */
export function bookmarkList(): HTMLElement {
  const host = make("div", "bookmarks");
  host.setAttribute("role", "group");
  host.setAttribute("aria-label", "Bookmarks");
  host.hidden = true;
  return host;
}
