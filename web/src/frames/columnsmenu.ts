// The menu of the columns: of one of them, or of all.

import type { Sort } from "../api/frames";
import { timeModes } from "../kit/frametext";
import type { MenuItem } from "../kit/menu";
import { roleItem } from "../kit/role";
import type { Columns } from "./columns";
import type { ProjectList } from "./projectlist";

/** What the menu needs of the list. */
export interface ColumnsHost {
  readonly sort: Sort | undefined;
  setSort(sort: Sort | undefined): void;
  /** Whether there is a frame that times may be relative to. */
  readonly hasReference: boolean;
  /** The current width of a column, in pixels. */
  widthOf(id: string): number;
  /** The columns have changed. */
  changed(): void;
  colors(): void;
}

/** The items for a column, or with "" for all. */
export function columnItems(columns: Columns, id: string, shared: ProjectList, host: ColumnsHost): MenuItem[] {
  const items: MenuItem[] = [];
  const about = columns.all.find((c) => c.column.id === id)?.column;
  const act = (group: string, title: string, run: () => void, disabled = false): void => {
    items.push({ group, title, run: () => { run(); host.changed(); }, disabled });
  };
  if (about !== undefined) {
    const { sort } = host;
    for (const desc of [false, true]) {
      items.push({ group: about.words, title: desc ? "Sort, falling ↓" : "Sort, rising ↑", run: () => host.setSort({ by: id, desc }), disabled: sort?.by === id && sort.desc === desc });
    }
    if (sort !== undefined) {
      items.push({ group: about.words, title: "Original order", run: () => host.setSort(undefined) });
    }
    const at = columns.shown.findIndex((c) => c.id === id);
    act(about.words, "Move left", () => columns.shift(id, -1), at <= 0);
    act(about.words, "Move right", () => columns.shift(id, 1), at === columns.shown.length - 1);
    act(about.words, "Wider", () => columns.resize(id, host.widthOf(id) * 1.3));
    act(about.words, "Narrower", () => columns.resize(id, host.widthOf(id) / 1.3));
    act(about.words, id.startsWith("=") ? "Remove" : "Hide", () => columns.show(id, false), columns.shown.length === 1);
  }
  if (about === undefined || id === "time") {
    for (const [mode, title] of timeModes) {
      act("Times", columns.mode === mode ? `${title} ✓` : title, () => columns.setMode(mode), mode === "reference" && !host.hasReference);
    }
  }
  for (const { column, shown } of columns.all) {
    act("Columns", `${shown ? "✓" : "  "} ${column.words}`, () => columns.show(column.id, !shown), shown && columns.shown.length === 1);
  }
  const has = shared.columns.length > 0;
  act("All", has ? "Columns of the project" : "Default columns", () => columns.restore(), has && columns.areShared);
  items.push({
    group: "All", title: "Save for the project", note: "for all who have not chosen others", ...(columns.areShared ? { disabled: true } : roleItem()),
    run: () => void shared.save(() => ({ columns: columns.shown.map((c) => c.id) }), "These are the columns of the project"),
  });
  if (about === undefined) {
    items.push({ group: "Rows", title: "Colors of frames …", run: () => host.colors() });
  }
  return items;
}
