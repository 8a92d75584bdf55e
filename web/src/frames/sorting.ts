// In which order the list is: what the head, the palette and the address say about it.
//
// The address has it as ?sort=COLUMN, or ?sort=-COLUMN for the other direction.

import { register, type Command } from "../commands";
import { fixedColumns } from "./columns";
import type { Sort } from "./protocol";
import { keep, recall } from "./store";

const mostName = 500; // characters of a column's name, as in columns.ts

function isColumn(id: string): boolean {
  return fixedColumns.some((c) => c.id === id) || (id.startsWith("=") && id.length > 1 && id.length <= mostName);
}

/** What a click on the head of a column makes of an order: rising, falling, as the frames came. */
export function nextSort(now: Sort | undefined, by: string): Sort | undefined {
  return now?.by !== by ? { by, desc: false } : now.desc ? undefined : { by, desc: true };
}

export function sameSort(a: Sort | undefined, b: Sort | undefined): boolean {
  return a?.by === b?.by && a?.desc === b?.desc && (a?.again ?? 0) === (b?.again ?? 0);
}

/** An order as the address has it, "" for none. */
export function sortText(sort: Sort | undefined): string {
  return sort === undefined ? "" : (sort.desc ? "-" : "") + sort.by;
}

/** What a text of the address says, undefined if that is no order. */
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

/** The order that the address says, or the one that was chosen for the capture last. */
export function firstSort(remember: string): Sort | undefined {
  const text = new URL(location.href).searchParams.get("sort");
  const remembered = recall(`sort.${remember}`);
  return sortOf(text ?? (typeof remembered === "string" ? remembered : null));
}

/** What the address says now. */
export function addressSort(): Sort | undefined {
  return sortOf(new URL(location.href).searchParams.get("sort"));
}

/** Puts an order into the address, and remembers it for the capture. */
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

/** What the commands about the order do; the pane of the list has it. */
export interface SortActions {
  ready(): boolean;
  sorted(): boolean;
  /** As a click on the head of a column. */
  sort(by: string): void;
  /** Offers all columns, those of fields too. */
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
    at("map", "Minimap beside the list: on or off", (a) => a.toggleMap()),
  ];
}

/** Makes the commands be about a list; gives what ends that. */
export function offerSorting(to: SortActions): () => void {
  actions = to;
  register(...build());
  return () => {
    if (actions === to) {
      actions = undefined;
    }
  };
}
