// The order of the list, in the head, the palette and the address.
//
// The address has ?sort=COLUMN, or ?sort=-COLUMN for descending order.

import { register, type Command } from "../kit/commands";
import { fixedColumns } from "./columns";
import type { Sort } from "../api/frames";
import { keep, recall } from "../kit/store";

const mostName = 500; // maximum length of a column's name, as in columns.ts

function isColumn(id: string): boolean {
  return fixedColumns.some((c) => c.id === id) || (id.startsWith("=") && id.length > 1 && id.length <= mostName);
}

/** The order after a click on a head: ascending, descending, capture order. */
export function nextSort(now: Sort | undefined, by: string): Sort | undefined {
  return now?.by !== by ? { by, desc: false } : now.desc ? undefined : { by, desc: true };
}

export function sameSort(a: Sort | undefined, b: Sort | undefined): boolean {
  return a?.by === b?.by && a?.desc === b?.desc && (a?.again ?? 0) === (b?.again ?? 0);
}

/** An order in the address, "" for none. */
export function sortText(sort: Sort | undefined): string {
  return sort === undefined ? "" : (sort.desc ? "-" : "") + sort.by;
}

/** The order in a text of the address; undefined if invalid. */
export function sortOf(text: string | null): Sort | undefined {
  const desc = text?.startsWith("-") === true;
  const by = desc ? (text ?? "").slice(1) : (text ?? "");
  return isColumn(by) ? { by, desc } : undefined;
}

/** The column of an order in words: "Length in bytes". */
export function columnWords(by: string): string {
  return fixedColumns.find((c) => c.id === by)?.words ?? by.replace(/^=/, "");
}

/** "Length in bytes ↓". */
export function sortWords(sort: Sort): string {
  return `${columnWords(sort.by)} ${sort.desc ? "↓" : "↑"}`;
}

/** The order in the address, or the last one of the capture. */
export function firstSort(remember: string): Sort | undefined {
  const text = new URL(location.href).searchParams.get("sort");
  const remembered = recall(`sort.${remember}`);
  return sortOf(text ?? (typeof remembered === "string" ? remembered : null));
}

/** The order in the current address. */
export function addressSort(): Sort | undefined {
  return sortOf(new URL(location.href).searchParams.get("sort"));
}

/** Writes an order to the address and stores it for the capture. */
export function keepSort(remember: string, sort: Sort | undefined): void {
  keep(`sort.${remember}`, sortText(sort));
  const url = new URL(location.href);
  if ((url.searchParams.get("sort") ?? "") === sortText(sort)) {
    return;
  }
  if (sort === undefined) {
    url.searchParams.delete("sort");
  } else {
    url.searchParams.set("sort", sortText(sort));
  }
  history.replaceState(history.state, "", url.href);
}

/** The implementation of the sorting commands, in the pane of the list. */
export interface SortActions {
  ready(): boolean;
  sorted(): boolean;
  /** Like a click on the head of a column. */
  sort(by: string): void;
  /** A menu of all columns, including fields. */
  choose(): void;
  unsort(): void;
  toggleMap(): void;
}

let actions: SortActions | undefined;

function build(): Command[] {
  const group = "Frames";
  const at = (id: string, title: string, run: (a: SortActions) => void, enabled: (a: SortActions) => boolean = (a) => a.ready()): Command => ({
    id: `frames.${id}`, title, group,
    run: () => actions !== undefined && run(actions),
    enabled: () => actions !== undefined && enabled(actions),
  });
  return [
    at("sort", "Sort by …", (a) => a.choose()),
    ...fixedColumns.map((c) => at(`sort-${c.id}`, `Sort by ${c.words}`, (a) => a.sort(c.id))),
    at("unsort", "Stop sorting: original order", (a) => a.unsort(), (a) => a.ready() && a.sorted()),
    at("map", "Toggle the minimap beside the list", (a) => a.toggleMap()),
  ];
}

/** Makes the commands apply to a list; returns a function that ends this. */
export function offerSorting(to: SortActions): () => void {
  actions = to;
  register(...build());
  return () => {
    if (actions === to) {
      actions = undefined;
    }
  };
}
