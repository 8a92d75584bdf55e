// The list of messages of a library as data; see server/view/list.go. A list is never changed: rows that a change leaves are in the next list,
// too.

import type { ViewListChange, ViewListPut, ViewListSectionChange } from "../api/api";

/** A message in all its versions, an envelope, or a name without a definition. Its name identifies it in its section. */
export type Row = Omit<ViewListPut, "at">;

export interface Section {
  readonly id: string; // "envelope", "undefined", or of the messages of a group
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface List {
  readonly state: string;
  readonly versions: boolean; // messages have versions
  readonly more: number; // names of the library beyond those of the list
  readonly sections: readonly Section[];
}

export const noList: List = { state: "", versions: false, more: 0, sections: [] };

/** The names of the versions of a row in addresses, the newest first. */
export function messagesOf(list: List, row: Row): string[] {
  return [row, ...(row.older ?? [])].map(({ id, number = 0 }) => id ?? (list.versions ? `${row.name}.${number}` : row.name));
}

/** The list after a change. */
export function changed(list: List, { state, whole, versions = false, more = 0, order, sections = [] }: ViewListChange): List {
  const now = new Map((whole === true ? [] : list.sections).map((section) => [section.id, section]));
  for (const change of sections) {
    now.set(change.id, changedSection(now.get(change.id), change));
  }
  return { state, versions, more, sections: (order ?? [...now.keys()]).flatMap((id) => now.get(id) ?? []) };
}

function changedSection(old: Section | undefined, { id, title, gone = [], rows: puts = [] }: ViewListSectionChange): Section {
  const left = new Set(gone);
  const rows = (old?.rows ?? []).filter(({ name }) => !left.has(name));
  const places = new Map(old === undefined ? [] : rows.map(({ name }, i) => [name, i]));
  const added: [at: number, row: Row][] = [];
  for (const { at = 0, ...row } of puts) {
    const place = places.get(row.name);
    if (place !== undefined) {
      rows[place] = row;
    } else {
      added.push([at, row]);
    }
  }
  for (const [at, row] of added) {
    rows.splice(at === 0 ? rows.length : at - 1, 0, row);
  }
  return { id, title: title ?? old?.title ?? "", rows };
}
