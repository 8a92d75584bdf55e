// The drawer of types: count, size and problems of each frame type.

import { button, make } from "../kit/dom";
import { type Drawer, type DrawerHost, Refresher, sortHead, type SortHead } from "./drawer";
import { hiddenType, not } from "./filters";
import type { State, TypeRow, TypesAnswer } from "../api/frames";
import { isGivenUp } from "./socket";
import { bytes, count, counted, direction, frameName, opcode, seconds } from "../kit/frametext";

const heads: readonly SortHead[] = [
  { id: "shown", title: "", hint: "Shown in the list" },
  { id: "name", title: "Type" },
  { id: "code", title: "Code" },
  { id: "dir", title: "Dir" },
  { id: "count", title: "Frames", right: true },
  { id: "share", title: "Share", right: true, hint: "Share of the frames" },
  { id: "bytes", title: "Bytes", right: true },
  { id: "min", title: "Least", right: true, hint: "Bytes, minimum" },
  { id: "mean", title: "Mean", right: true, hint: "Bytes, average" },
  { id: "max", title: "Most", right: true, hint: "Bytes, maximum" },
  { id: "bad", title: "Bad", right: true, hint: "Frames with a problem" },
  { id: "first", title: "First", right: true, hint: "Seconds since the start" },
  { id: "last", title: "Last", right: true, hint: "Seconds since the start" },
];

const moreRows = 200; // at a time: a capture may have tens of thousands of codes

/** A type in the list; of one hidden by a chip only the name is known. */
type Listed = Partial<TypeRow> & Pick<TypeRow, "type" | "name" | "count">;

function value(row: Listed, by: string): number | string {
  switch (by) {
    case "name":
      return frameName(row);
    case "dir":
      return row.dir ?? "";
    case "share":
      return row.count;
    case "mean":
      return row.count === 0 ? 0 : (row.bytes ?? 0) / row.count;
    case "code": case "count": case "bytes": case "min": case "max": case "bad": case "first": case "last":
      return row[by] ?? 0;
    default:
      return 0;
  }
}

/** Sorted rows; equal ones by descending count. */
export function sortTypes(rows: readonly Listed[], by: string, desc: boolean): Listed[] {
  const sign = desc ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = value(a, by);
    const y = value(b, by);
    const order = typeof x === "string" ? x.localeCompare(String(y), "en", { numeric: true }) : x - Number(y);
    return order * sign || b.count - a.count || (a.code ?? -1) - (b.code ?? -1);
  });
}

export class TypesDrawer implements Drawer {
  readonly element = make("div", "frames-types");
  private readonly host: DrawerHost;
  private readonly refresher: Refresher;
  private readonly search = make("input");
  private readonly summary = make("span", "note");
  private readonly head = make("thead");
  private readonly body = make("tbody");
  private readonly more: HTMLButtonElement;
  private answer: TypesAnswer = { total: 0, rows: [], lengths: [] };
  private sort = { by: "count", desc: true };
  private most = moreRows;

  constructor(host: DrawerHost) {
    this.host = host;
    this.refresher = new Refresher((signal) => this.load(signal));
    this.search.type = "search";
    this.search.placeholder = "Name or code";
    this.search.maxLength = 200;
    this.search.setAttribute("aria-label", "Types by name or code");
    this.search.addEventListener("input", () => {
      this.most = moreRows;
      this.draw();
    });
    this.more = button("", () => {
      this.most += moreRows * 5;
      this.draw();
    });
    const bar = make("div", "frames-bar");
    bar.append(this.search, this.summary);
    const table = make("table", "data");
    table.setAttribute("aria-label", "Types of frames");
    table.append(this.head, this.body);
    const box = make("div", "frames-box");
    box.append(table, this.more);
    this.element.append(bar, box);
    this.body.addEventListener("click", (event) => this.click(event));
    this.draw();
    this.refresher.now();
  }

  private async load(signal: AbortSignal): Promise<void> {
    try {
      this.answer = await this.host.ask("types", {}, signal);
      this.draw();
    } catch (error) {
      if (!isGivenUp(error)) {
        this.host.failed(error);
      }
    }
  }

  private click(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : null;
    const type = target?.closest<HTMLElement>("tr")?.dataset["type"];
    if (type === undefined || type === "") {
      return;
    }
    if (target?.closest("input") !== null && target?.closest("input") !== undefined) {
      const hidden = not(type);
      if (this.host.chips.includes(hidden)) {
        this.host.removeChip(hidden);
      } else {
        this.host.addChip(hidden);
      }
    } else if (target?.closest("button") !== null) {
      if (this.host.chips.includes(type)) {
        this.host.removeChip(type);
      } else {
        this.host.addChip(type);
      }
    }
  }

  private draw(): void {
    const focused = document.activeElement instanceof HTMLElement && this.element.contains(document.activeElement) ? document.activeElement : undefined;
    const focusedType = focused?.closest<HTMLElement>("tr")?.dataset["type"];
    const focusedSort = focused?.dataset["sort"];
    const focusedBox = focused instanceof HTMLInputElement;
    this.head.replaceChildren(sortHead(heads, this.sort, (id) => {
      const same = this.sort.by === id;
      this.sort = { by: id, desc: same ? !this.sort.desc : id !== "name" && id !== "code" && id !== "dir" && id !== "first" };
      this.draw();
    }));
    const rows = this.answer.rows ?? [];
    const total = rows.reduce((sum, r) => sum + r.count, 0);
    // A hidden type has no matching frames; it stays listed, so that it can be shown again.
    const hidden = this.host.chips
      .map(hiddenType)
      .filter((type): type is string => type !== undefined && !rows.some((r) => r.type === type))
      .map((type): Listed => ({ type, name: type, count: 0, defined: true }));
    const wanted = this.search.value.trim().toLowerCase();
    const fitting = sortTypes([...rows, ...hidden], this.sort.by, this.sort.desc).filter(
      (r) => wanted === "" || frameName(r).toLowerCase().includes(wanted) || opcode(r.code).toLowerCase().includes(wanted),
    );
    const most = Math.max(1, ...rows.map((r) => r.count));
    this.body.replaceChildren(...fitting.slice(0, this.most).map((r) => this.row(r, total, most)));
    const unknown = rows.filter((r) => r.defined !== true).reduce((sum, r) => sum + r.count, 0);
    const bad = rows.reduce((sum, r) => sum + (r.bad ?? 0), 0);
    const known = total === 0 ? "" : ` · ${(((total - unknown) * 100) / total).toFixed(unknown === 0 ? 0 : 2)} % with a definition`;
    this.summary.textContent = `${counted(rows.length, "type")} · ${counted(total, "frame")}${known} · ${count(bad)} bad`;
    this.more.hidden = fitting.length <= this.most;
    this.more.textContent = `Show more of ${count(fitting.length - this.most)}`;
    if (focusedSort !== undefined) {
      this.head.querySelector<HTMLElement>(`[data-sort="${focusedSort}"]`)?.focus();
    } else if (focusedType !== undefined) {
      const row = [...this.body.rows].find((r) => r.dataset["type"] === focusedType);
      row?.querySelector<HTMLElement>(focusedBox ? "input" : "button")?.focus();
    }
  }

  private row(r: Listed, total: number, most: number): HTMLTableRowElement {
    const { chips, state } = this.host;
    const row = make("tr");
    row.dataset["type"] = r.type;
    const name = frameName(r);
    const isHidden = chips.includes(not(r.type));
    row.className = `${isHidden ? "hidden-type" : ""}${r.defined === true ? "" : " unknown"}`;
    const box = make("input");
    box.type = "checkbox";
    box.checked = !isHidden;
    box.disabled = r.type === "";
    box.setAttribute("aria-label", `Show ${name}`);
    box.title = isHidden ? "Hidden: show again" : "Hide this type";
    const cell = (text: string, className = ""): HTMLTableCellElement => make("td", className, text);
    const shown = cell("");
    shown.append(box);
    const named = cell("");
    const only = make("button", "link", name);
    only.type = "button";
    only.title = chips.includes(r.type) ? "Show other types too" : "Show only this type";
    only.setAttribute("aria-pressed", String(chips.includes(r.type)));
    named.append(only, make("span", "note", r.ver === undefined || r.ver === 0 ? "" : ` v${r.ver}`));
    const share = cell("", "share");
    const bar = make("span", "bar");
    bar.style.setProperty("width", `${(90 * r.count) / most}%`);
    share.append(bar, make("span", "", total === 0 || r.count === 0 ? "" : `${((r.count * 100) / total).toFixed(1)} %`));
    const time = (t: number | undefined): string => (t === undefined ? "" : seconds(t - state.start));
    row.append(
      shown, named,
      cell(opcode(r.code), "dim"), cell(direction(r.dir)), cell(isHidden ? "hidden" : count(r.count), "num"), share,
      cell(r.bytes === undefined ? "" : bytes(r.bytes), "num"), cell(r.min === undefined ? "" : count(r.min), "num"),
      cell(r.bytes === undefined || r.count === 0 ? "" : count(Math.round(r.bytes / r.count)), "num"), cell(r.max === undefined ? "" : count(r.max), "num"),
      cell((r.bad ?? 0) === 0 ? "" : `! ${count(r.bad ?? 0)}`, "num err"), cell(time(r.first), "num dim"), cell(time(r.last), "num dim"),
    );
    return row;
  }

  changed(state: State, anew: boolean): void {
    this.refresher.changed(state, anew);
    if (anew) {
      this.draw(); // the chips have changed
    }
  }

  focus(): void {
    this.search.focus();
  }

  close(): void {
    this.refresher.stop();
  }
}
