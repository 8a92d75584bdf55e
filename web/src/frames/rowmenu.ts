// The menu of a row of the list.

import { keysOf, keysText } from "../kit/keys";
import type { MenuItem } from "../kit/menu";
import { roleItem } from "../kit/role";
import type { How } from "./filterbox/syntax";
import { ofCell, ofConnection } from "./filters";
import { type FrameRow, hueNames, type State } from "../api/frames";
import { frameName, shortConnection } from "../kit/frametext";

/** The context of the menu. */
export interface RowMenuContext {
  state: State;
  fields: readonly string[];
  column: string; // of the cell; "" for the row
  filter: string; // the applied filter
  marked: boolean;
  noted: boolean;
  isReference: boolean;
  chosen: number; // selected rows
  current: number; // number of the current frame, or 0
}

/** The actions of the items. */
export interface RowMenuActions {
  filter(text: string, how: How): void;
  prepare(text: string): void;
  hide(): void;
  only(): void;
  conversation(): void;
  follow(): void;
  /** Items of the page, such as for live traffic. */
  more(): readonly MenuItem[];
  colors(): void;
  compare(): void;
  export(): void;
  packet(): void;
  run(id: string): void;
}

function hint(id: string): { hint?: string } {
  const keys = keysOf(`frames.${id}`)[0];
  return keys === undefined ? {} : { hint: keysText(keys) };
}

function short(text: string, most = 44): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

export function rowMenu(row: FrameRow, c: RowMenuContext, a: RowMenuActions): MenuItem[] {
  const cell = ofCell(c.column, row, c.state.conns, c.fields) || (row.type ?? "");
  const type = row.type ?? "";
  const conn = c.state.conns[row.conn ?? 0];
  const items: MenuItem[] = [];
  if (cell !== "") {
    const group = `Filter: ${short(cell)}`;
    items.push(
      { group, title: "Apply as filter", run: () => a.filter(cell, "replace") },
      { group, title: "Apply negated", run: () => a.filter(`!(${cell})`, "replace") },
    );
    if (c.filter.trim() !== "") {
      items.push(
        { group, title: "… and this", run: () => a.filter(cell, "and") },
        { group, title: "… and not this", run: () => a.filter(cell, "and not") },
        { group, title: "… or this", run: () => a.filter(cell, "or") },
      );
    }
    items.push({ group, title: "Prepare as filter", run: () => a.prepare(cell) });
  }
  const name = frameName(row);
  const list = "Show";
  if (type !== "") {
    items.push(
      { group: list, title: `Hide ${short(name, 28)}`, ...hint("hide"), run: a.hide },
      { group: list, title: `Only ${short(name, 28)}`, ...hint("only"), run: a.only },
    );
  }
  if (conn !== undefined) {
    items.push(
      { group: list, title: `Only the connection ${shortConnection(conn)}`, run: a.conversation },
      { group: list, title: "Follow the connection", run: () => a.follow() },
    );
  }
  items.push({ group: list, title: "Fields of this type as a table", ...hint("table"), run: () => a.run("table"), disabled: type === "" });
  const frame = `Frame ${row.n}`;
  items.push(
    { group: frame, title: "Open", ...hint("open"), run: () => a.run("open") },
    { group: frame, title: c.marked ? "Remove the mark" : "Mark", ...hint("mark"), run: () => a.run("mark"), ...roleItem("commenter") },
    { group: frame, title: c.noted ? "Edit the note …" : "Add a note …", ...hint("note"), run: () => a.run("note"), ...roleItem("commenter") },
    { group: frame, title: c.isReference ? "Times relative to the start" : "Times relative to this frame", ...hint("reference"), run: () => a.run("reference") },
    { group: frame, title: c.chosen === 2 || c.current === 0 ? "Compare the two selected frames" : `Compare with frame ${c.current}`, ...hint("compare"), run: a.compare, disabled: c.chosen !== 2 && (c.current === 0 || c.current === row.n) },
    { group: frame, title: "Show the bytes of its packet", run: a.packet },
    { group: frame, title: "Copy as …", ...hint("copy"), run: () => a.run("copy") },
    { group: frame, title: "Copy a link", ...hint("link"), run: () => a.run("link") },
  );
  items.push(...a.more());
  if (c.chosen > 1) {
    items.push({ group: frame, title: `Export the ${c.chosen} selected frames …`, run: a.export });
  }
  items.push({ group: frame, title: "Color this type …", run: a.colors, disabled: type === "" });
  return items;
}

/** The hues for a type; `hue` is the current one, or 0. */
export function colorMenu(hue: number, choose: (hue: number) => void): MenuItem[] {
  const hues = hueNames.map((name, i) => ({ title: hue === i + 1 ? `${name} ✓` : name, run: () => choose(i + 1) }));
  return [...hues, { group: "None", title: "No color", run: () => choose(0), disabled: hue === 0 }];
}

/** A chip for the conversation of a row, or "". */
export function conversationOf(row: FrameRow, state: State): string {
  const conn = state.conns[row.conn ?? 0];
  return conn === undefined ? "" : ofConnection(conn);
}
