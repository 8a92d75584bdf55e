// The items of the menus of bytes and fields, which menus.ts loads with the first of them.

import { literal } from "../../frames/filters";
import { type Anchor, type MenuItem, openMenu } from "../../kit/menu";
import { type FieldsHost, fieldsMenu, rename, type Subject } from "../../message/fields";
import type { ShownMessage } from "../../message/shown";
import type { Socket } from "../../message/socket";
import type { ValueAnswer, Values } from "../../message/values";
import type { DefinitionField } from "../../text/editor/field";
import type { Target } from "../link";
import type { Sample } from "../sample";
import type { Actions } from "./actions";
import type { FieldForFilter } from "./frames";
import type { Selection } from "./selection";

/** The page. */
export interface ItemsHost {
  readonly shown: Pick<ShownMessage, "hex" | "layout" | "message">;
  readonly selection: Pick<Selection, "select">;
  readonly values: Pick<Values, "of" | "edit" | "copy" | "alternatives" | "changeElement">;
  readonly actions: Pick<Actions, "press">;
  readonly socket: Pick<Socket, "act">;
  readonly editor: Pick<DefinitionField, "select">;
  readonly sample: Pick<Sample, "fromClipboard">;
  mayEdit(): boolean;
  /** Adds a bookmark; undefined if the page has none. */
  readonly bookmark: (() => void) | undefined;
  /** Items that a list of frames has for a field. */
  filters(field: () => Promise<FieldForFilter | undefined>): MenuItem[];
  copyBytes(at: Anchor): void;
  ofField(at: Anchor): Promise<void>; // opens the menu of what is selected then
}

function fieldsOf(host: ItemsHost): FieldsHost {
  return {
    choices: async ({ start, end }) => {
      const answer = await host.socket.act({ action: `types:${start}:${end - start}` });
      return answer.choices ?? { types: [], name: "", failed: answer.failed ?? "the server cannot be reached" };
    },
    act: (action) => host.actions.press(action.action, action),
    changed: (bits, line) => {
      if (bits !== undefined && host.shown.message !== null) {
        host.selection.select(bits.start >> 3, (bits.end + 7) >> 3, "click");
      }
      if (line > 0) {
        host.editor.select(line);
      }
    },
  };
}

/** Opens the menu of bytes or a field. */
export function fieldMenu(host: ItemsHost, at: Anchor, subject: Subject, more: readonly MenuItem[] = []): Promise<void> {
  return fieldsMenu(at, fieldsOf(host), subject, more);
}

/** Asks for another name of a field. */
export function renameField(host: ItemsHost, at: Anchor, path: string): void {
  rename(at, fieldsOf(host), path);
}

/** Opens the menu of the selected bytes. */
export function byteMenu(host: ItemsHost, at: Anchor, subject: Subject): Promise<void> {
  const { shown: { hex }, sample, bookmark } = host;
  return fieldMenu(host, at, subject, [
    { title: "Copy bytes as …", hint: "c", group: "Bytes", run: () => host.copyBytes(at) },
    { title: "Paste over the selected bytes", hint: "Ctrl+Shift+V", group: "Bytes", disabled: !host.mayEdit(), run: () => void sample.fromClipboard((text) => hex.paste(text)) },
    ...(bookmark === undefined ? [] : [{ title: "Bookmark …", hint: "m", group: "Bytes", run: bookmark }]),
    { title: "Edit bytes", hint: "Enter", group: "Bytes", run: () => { hex.focus(); hex.setEditing(true); } },
  ]);
}

/** Opens the menu of a row of the tree or of the layout, whose part is selected. */
export function rowMenu(host: ItemsHost, at: Anchor, row: HTMLElement, target: Target | null, subject: Subject): void {
  const { editor, values, shown: { layout } } = host;
  const line = target?.lines[0];
  const goTo = { title: "Go to its line in the definition", disabled: line === undefined, run: () => line !== undefined && editor.select(line) };
  if (row.closest(".tree") === null) {
    void fieldMenu(host, at, subject, [goTo]);
    return;
  }
  const filters = row.dataset["run"] !== undefined ? [] : host.filters(() => forFilter(values, row));
  const element = row.dataset["element"] !== undefined;
  const path = row.dataset["path"] ?? "";
  const list = row.dataset["list"] !== undefined || (["count", "offset"].includes(row.dataset["role"] ?? "") && layout.isList(path)); // an empty list
  const run = row.dataset["run"] !== undefined;
  const gap = row.classList.contains("gap");
  const items = [
    { title: "Copy value as …", hint: "c", disabled: run || gap, run: () => void values.copy(row, at) },
    { title: "Copy bytes as …", run: () => host.copyBytes(at) },
    { title: "Edit value", hint: "Enter", disabled: row.dataset["role"] === undefined, run: () => void values.edit(row) },
    goTo,
    ...filters,
    ...(list || element ? [{ title: element ? "Insert an element before" : "Add an element", hint: "Insert", run: () => values.changeElement("insert", row) }] : []),
    ...(element && !run ? [
      { title: "Duplicate this element", hint: "Ctrl+D", run: () => values.changeElement("copy", row) },
      { title: "Move this element up", hint: "Alt+↑", run: () => values.changeElement("up", row) },
      { title: "Move this element down", hint: "Alt+↓", run: () => values.changeElement("down", row) },
      { title: "Remove this element", hint: "Delete", run: () => values.changeElement("remove", row) },
    ] : []),
    ...(layout.alternatives && !run ? [{ title: "Change to another alternative …", run: () => void values.alternatives(at) }] : []),
    ...(run ? [] : [{ title: gap ? "Define these bytes …" : "Type, name and parts of the field …", hint: "t", run: () => void host.ofField(at) }]),
  ];
  openMenu(at, { label: path === "" ? "Field" : path, items });
}

/** A field of the tree for filters, with its value. */
async function forFilter(values: ItemsHost["values"], row: HTMLElement): Promise<FieldForFilter | undefined> {
  const role = row.dataset["role"] ?? "value";
  const value = await values.of(row);
  if (value === undefined) {
    return undefined;
  }
  const message = value.message.replace(/^.*\//, "");
  return { path: role === "value" ? `${message}.${value.path}` : "", literal: literalOf(value) };
}

/** A value as a filter literal, undefined for lists and groups. */
export function literalOf({ value, typed, type }: Pick<ValueAnswer, "value" | "typed" | "type">): string | undefined {
  if (typeof value === "object") {
    return undefined;
  }
  return literal(typed, typeof value === "string" && !/^u?int|^uint|^int|^[iu]\d+$/.test(type) ? (/^(bytes|byte\[|blob)/.test(type) ? "bytes" : "text") : "");
}
