// The field table: every field of a message type as a column, every matching message as a row.
//
// The head shows the behavior of each field: distinct values, minimum and maximum, whether it is constant or only rises, its entropy in bits,
// and its most frequent values. Only the rows in view are in the page.
//
// Messages without a definition have a column per byte, and bytes can be read together as a number or a text.

import { Scroll } from "../kit/scroll";
import { type MenuItem, openMenu } from "../kit/menu";
import { make } from "../kit/dom";
import { type Drawer, type DrawerHost, Refresher } from "./drawer";
import { literal, quote } from "./filters";
import { Pages } from "./pages";
import type { FrameRow, State, TableAnswer, TableColumn, TableRow } from "../api/frames";
import { isGivenUp } from "./socket";
import { count, counted, seconds } from "../kit/frametext";

const spareRows = 2;
const mostColumns = 200; // in the page
const mostGuesses = 24;
const mostTop = 5;

/** The filter expression for a field of a type. */
export function fieldFilter(type: string, path: string): string {
  // A type with a condition has no name for filters: the expression then matches the field at the top of any message.
  const name = /^[A-Za-z_][\w.]*$/.test(type) ? type : "*";
  return `${name}.${path.replaceAll("[]", "")}`;
}

/** The facts about a field in the head, shortest first. */
export function fieldFacts(c: TableColumn): string[] {
  const facts: string[] = [];
  if (c.constant === true) {
    facts.push(`always ${c.min ?? c.top?.[0]?.[0] ?? ""}`);
  } else {
    if (c.distinct !== undefined) {
      facts.push(`${count(c.distinct)}${c.more === true ? "+" : ""} distinct`);
    }
    if (c.trend !== undefined && c.trend !== "") {
      facts.push(c.trend);
    } else if (c.rising === true) {
      facts.push("rising");
    }
    if (c.entropy !== undefined) {
      facts.push(`${c.entropy.toFixed(1)} bits`);
    }
  }
  return facts;
}

/** How much a column tells: its class in the heat strip, and the words for it. */
export function heatOf(c: TableColumn): { name: string; words: string } {
  const trend = c.trend ?? "";
  if (c.constant === true) {
    return { name: "constant", words: "constant" };
  }
  if (trend !== "" || c.rising === true) {
    return { name: "counter", words: trend !== "" ? trend : "rising" };
  }
  if ((c.distinct ?? 0) <= 8 && c.more !== true) {
    return { name: "few", words: "few values" };
  }
  return (c.entropy ?? 0) >= 6 ? { name: "random", words: "random" } : { name: "varied", words: "many values" };
}

/** Whether a column is a byte of messages without a definition. */
function isByte(c: TableColumn): boolean {
  return c.type === "hex" && c.filter?.startsWith("bytes[") === true;
}

/** The ways to read bytes as one value: the type of the request, and what it is called. */
const readings: readonly (readonly [as: string, title: string])[] = [
  ["u16le", "u16"], ["u16be", "u16, big-endian"], ["i16le", "i16"], ["i16be", "i16, big-endian"],
  ["u32le", "u32"], ["u32be", "u32, big-endian"], ["i32le", "i32"], ["i32be", "i32, big-endian"],
  ["u64le", "u64"], ["u64be", "u64, big-endian"], ["f32", "f32"], ["f32be", "f32, big-endian"], ["f64", "f64"], ["f64be", "f64, big-endian"],
  ["u8", "u8"], ["i8", "i8"], ["text", "text up to a zero"], ["utf16", "UTF-16 up to a zero"],
  ["text:8", "text of 8 bytes"], ["text:16", "text of 16 bytes"], ["text:32", "text of 32 bytes"],
];

/** The number of bytes of a group; those of a text up to a zero are not known. */
function sizeOf(as: string): number {
  const [kind = "", size] = as.split(":");
  return size !== undefined ? Number(size) : kind === "text" || kind === "utf16" ? 0 : Number(/\d+/.exec(kind)?.[0] ?? 8) / 8;
}

/** The groups with one more, without those that it overlaps; with as "" the bytes at an offset are bytes again. */
export function regrouped(groups: readonly string[], at: number, as: string): string[] {
  const end = at + Math.max(1, sizeOf(as));
  const rest = groups.filter((g) => {
    const [from = 0, type = ""] = [Number.parseInt(g, 10), g.slice(g.indexOf(":") + 1)];
    return from !== at && (from < at ? from + Math.max(1, sizeOf(type)) <= at : from >= end);
  });
  return as === "" ? rest : [...rest, `${at}:${as}`].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

/** The groups of bytes by type, as long as the page lasts. */
const groupsOf = new Map<string, readonly string[]>();

export class TableDrawer implements Drawer {
  readonly element = make("div", "frames-table");
  private readonly host: DrawerHost;
  private readonly refresher: Refresher;
  private readonly title = make("strong");
  private readonly summary = make("span", "note");
  private readonly stay = make("input");
  private readonly box = make("div", "ft-scroll");
  private readonly head = make("div", "ft-head");
  private readonly space = make("div", "ft-space");
  private readonly body = make("div", "ft-rows");
  private readonly empty = make("p", "empty");
  private readonly guesses = make("div", "ft-guesses");
  private readonly scroll: Scroll;
  private readonly pages: Pages<TableRow>;
  private readonly watcher = new ResizeObserver(() => this.layout());
  private type = "";
  private name = "";
  private sort = { by: "", desc: false };
  private columns: readonly TableColumn[] = [];
  private total = 0;
  private at = { row: 0, column: 0 }; // the focused cell
  private frame = 0;
  private drawn: HTMLElement[] = [];
  private aborts = new AbortController();

  constructor(host: DrawerHost) {
    this.host = host;
    this.refresher = new Refresher((signal) => this.load(signal));
    this.scroll = new Scroll(this.box, this.space);
    this.pages = new Pages(
      async (from, n) => (await this.host.ask("table", { ...this.query(), from, count: n }, this.aborts.signal)).rows ?? [],
      () => this.draw(),
    );
    this.stay.type = "checkbox";
    const label = make("label", "check");
    label.append(this.stay, "Pin this type");
    label.title = "Do not follow the selected row";
    this.stay.addEventListener("change", () => this.selected(this.host.row));
    const bar = make("div", "frames-bar");
    bar.append(this.title, this.summary, label);
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "grid");
    this.box.setAttribute("aria-label", "Fields");
    this.head.setAttribute("role", "row");
    this.body.setAttribute("role", "rowgroup");
    this.space.setAttribute("role", "presentation");
    this.space.append(this.body);
    this.box.append(this.head, this.space);
    this.guesses.setAttribute("aria-label", "What the bytes may be");
    this.guesses.setAttribute("role", "group");
    this.element.append(bar, this.guesses, this.box, this.empty);
    this.listen();
    this.watcher.observe(this.box);
    this.selected(host.row);
  }

  private listen(): void {
    this.box.addEventListener("scroll", () => {
      this.scroll.follow();
      this.draw();
      this.want();
    }, { passive: true });
    this.box.addEventListener("click", (event) => {
      const target = event.target instanceof Element ? event.target : null;
      const head = target?.closest<HTMLElement>("[data-head]");
      const cell = target?.closest<HTMLElement>("[data-cell]");
      if (head !== null && head !== undefined) {
        const path = head.dataset["head"] ?? "";
        this.sort = { by: path, desc: this.sort.by === path && !this.sort.desc };
        this.again();
      } else if (cell !== null && cell !== undefined) {
        const row = Number(cell.parentElement?.dataset["row"] ?? -1);
        this.at = { row, column: Number(cell.dataset["cell"]) };
        this.draw();
        this.cellMenu({ x: event.clientX, y: event.clientY });
      }
    });
    this.box.addEventListener("contextmenu", (event) => {
      const head = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-head]") : null;
      if (head !== null) {
        event.preventDefault();
        this.columnMenu(head.dataset["head"] ?? "", { x: event.clientX, y: event.clientY });
      }
    });
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) {
      return;
    }
    const page = Math.max(1, Math.floor(this.scroll.viewPx / this.scroll.rowPx) - 1);
    const to = { ...this.at };
    switch (event.key) {
      case "ArrowDown": to.row++; break;
      case "ArrowUp": to.row--; break;
      case "PageDown": to.row += page; break;
      case "PageUp": to.row -= page; break;
      case "Home": to.row = 0; break;
      case "End": to.row = this.total - 1; break;
      case "ArrowRight": to.column++; break;
      case "ArrowLeft": to.column--; break;
      case "Enter": case " ": {
        event.preventDefault();
        event.stopPropagation();
        const cell = this.cellOf(this.at)?.getBoundingClientRect();
        if (cell !== undefined) {
          this.cellMenu({ x: cell.left, y: cell.bottom });
        }
        return;
      }
      case "s": {
        // Keys cannot reach the heads: this sorts by the column of the focused cell.
        const path = this.columns[this.at.column - 1]?.path ?? "";
        this.sort = { by: path, desc: this.sort.by === path && !this.sort.desc };
        this.again();
        break;
      }
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.at = { row: Math.max(0, Math.min(to.row, this.total - 1)), column: Math.max(0, Math.min(to.column, this.columns.length)) };
    this.scroll.reveal(this.at.row);
    this.want();
    this.draw();
    requestAnimationFrame(() => this.cellOf(this.at)?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  }

  /** The menu of a value. */
  private cellMenu(anchor: { x: number; y: number }): void {
    const row = this.pages.get(this.at.row);
    const column = this.columns[this.at.column - 1];
    if (row === undefined) {
      return;
    }
    if (column === undefined) {
      this.host.goTo(row.n);
      return;
    }
    const value = row.cells[this.at.column - 1] ?? "";
    const field = this.filterOf(column);
    const filter = this.valueFilter(column, value);
    openMenu(anchor, {
      label: `${column.path} in frame ${row.n}`,
      items: [
        { group: "Filter", title: `Only ${filter.length > 50 ? `${filter.slice(0, 49)}…` : filter}`, run: () => this.host.filter(filter), disabled: value === "" },
        { group: "Filter", title: "Not this value", run: () => this.host.filter(`!(${filter})`), disabled: value === "" },
        { group: "Filter", title: "Only frames with the field", run: () => this.host.filter(field) },
        { group: "Frame", title: `Show frame ${row.n} in the list`, run: () => this.host.goTo(row.n) },
        { group: "Frame", title: "Show the field in the list as a column", run: () => this.host.addColumn(field) },
        ...this.readItems(column),
      ],
    });
  }

  private query(): { type: string; sort: string; desc: boolean; groups: string[] } {
    return { type: this.type, sort: this.sort.by, desc: this.sort.desc, groups: [...(groupsOf.get(this.type) ?? [])] };
  }

  /** The filter expression of a column: a field of the type, or bytes. */
  private filterOf(column: TableColumn): string {
    return this.ofBytes(column) ? (column.filter ?? "") : fieldFilter(this.type, column.path);
  }

  /** Whether a column is of bytes without a definition. */
  private ofBytes(column: TableColumn): boolean {
    return column.filter?.includes("bytes[") === true;
  }

  /** The filter for a value of a column. */
  private valueFilter(column: TableColumn, value: string): string {
    const field = this.filterOf(column);
    if (this.ofBytes(column) && /^(text|utf16)/.test(column.type ?? "")) {
      return `${field} contains ${column.type?.startsWith("utf16") === true ? `utf16(${quote(value)})` : quote(value)}`;
    }
    return `${field} == ${literal(value, column.type)}`;
  }

  /** The menu items that read the bytes of a column in another way. */
  private readItems(column: TableColumn): MenuItem[] {
    if (!this.ofBytes(column)) {
      return [];
    }
    const at = Number.parseInt(column.path, 16);
    const ways = readings.filter(([as]) => as !== column.type);
    return [
      ...(isByte(column) ? [] : [{ group: "Read as", title: "bytes", run: () => this.read(at, "") }]),
      ...(isByte(column) && column.as !== undefined ? [{ group: "Read as", title: `${column.as}, as guessed`, run: () => this.read(at, column.as ?? "") }] : []),
      ...ways.map(([as, title]) => ({ group: "Read as", title, run: () => this.read(at, as) })),
    ];
  }

  /** Reads the bytes at an offset as one value. */
  private read(at: number, as: string): void {
    groupsOf.set(this.type, regrouped(groupsOf.get(this.type) ?? [], at, as));
    this.again();
  }

  private columnMenu(path: string, anchor: { x: number; y: number }): void {
    const column = this.columns.find((c) => c.path === path);
    if (column === undefined) {
      return;
    }
    const field = this.filterOf(column);
    openMenu(anchor, {
      label: path,
      items: [
        { title: "Show in the list as a column", run: () => this.host.addColumn(field) },
        ...(column.top ?? []).slice(0, 20).map(([value, n, written]) => ({
          group: "Only", title: `${value.length > 40 ? `${value.slice(0, 39)}…` : value}  × ${count(n)}`,
          disabled: written === "" && !this.ofBytes(column),
          run: () => this.host.filter(written === "" ? this.valueFilter(column, value) : `${field} == ${written}`),
        })),
        ...this.readItems(column),
      ],
    });
  }

  /** Starts over: another type, order or list. */
  private again(): void {
    this.aborts.abort();
    this.aborts = new AbortController();
    this.pages.reset(true);
    this.refresher.now();
  }

  private async load(signal: AbortSignal): Promise<void> {
    if (this.type === "") {
      this.show({ type: "", total: 0, done: true, bad: 0, columns: [], rows: [] });
      return;
    }
    try {
      const answer = await this.host.ask("table", { ...this.query(), from: 0, count: 1 }, signal);
      this.show(answer);
    } catch (error) {
      if (!isGivenUp(error)) {
        this.host.failed(error);
      }
    }
  }

  private show(answer: TableAnswer): void {
    const columns = (answer.columns ?? []).slice(0, mostColumns);
    const same = columns.length === this.columns.length && columns.every((c, i) => c.path === this.columns[i]?.path);
    this.columns = columns;
    this.total = answer.total;
    if (!same) {
      this.body.replaceChildren();
      this.drawn = [];
    }
    this.pages.resize(this.total);
    this.pages.reset(true); // values of the rows change as more is read
    this.title.textContent = this.name;
    this.summary.textContent = this.type === "" ? "" : `${counted(this.total, "frame")}${answer.done ? "" : " so far"} · ${counted((answer.columns ?? []).length, "field")}${(answer.columns ?? []).length > mostColumns ? `, the first ${mostColumns}` : ""}${(answer.note ?? "") === "" ? "" : ` · ${answer.note}`}`;
    if ((answer.bad ?? 0) > 0) {
      this.summary.append(" · ", make("span", "err", `${counted(answer.bad ?? 0, "frame")} with problems`));
    }
    this.empty.hidden = this.total > 0 && columns.length > 0;
    this.box.hidden = !this.empty.hidden;
    this.empty.textContent = this.type === "" ? "Select a frame with known fields." : this.total === 0 ? "No frame of this type matches." : "No known fields in this type.";
    this.box.setAttribute("aria-rowcount", String(this.total + 1));
    this.box.setAttribute("aria-colcount", String(columns.length + 1));
    this.drawHead();
    this.layout();
    this.want();
  }

  private drawHead(): void {
    const number = make("div", "ft-column");
    number.setAttribute("role", "columnheader");
    number.append(make("span", "ft-name", "Frame"));
    number.dataset["head"] = "";
    number.title = "Sort by frame number";
    const cells = this.columns.map((c) => {
      const heat = heatOf(c);
      const cell = make("div", `ft-column ${heat.name}${isByte(c) ? " byte" : ""}${c.guess === undefined ? "" : " guessed"}`);
      cell.setAttribute("role", "columnheader");
      cell.dataset["head"] = c.path;
      const name = make("span", "ft-name");
      name.append(make("span", "", isByte(c) ? c.path.replace(/^0x/, "") : c.path), make("span", "ty", ` ${c.type ?? ""}`));
      if (this.sort.by === c.path) {
        name.append(this.sort.desc ? " ↓" : " ↑");
        cell.setAttribute("aria-sort", this.sort.desc ? "descending" : "ascending");
      }
      const facts = fieldFacts(c);
      if (c.present !== undefined && c.present < this.total) {
        facts.push(`in ${count(c.present)}`);
      }
      const top = (c.top ?? []).slice(0, mostTop).map(([value, n]) => `${value} × ${count(n)}`);
      cell.append(
        name,
        make("span", "ft-fact", facts.join(" · ")),
        make("span", "ft-fact", c.constant === true || c.min === undefined || c.min === "" ? "" : `${c.min} … ${c.max ?? ""}`),
        c.guess === undefined ? make("span", "ft-fact top", c.constant === true ? "" : top.slice(0, 2).join(", ")) : make("span", "ft-fact guess", c.guess),
      );
      cell.title = [`${c.path} ${c.type ?? ""}`, heat.words, facts.join(", "), c.min === undefined ? "" : `from ${c.min} to ${c.max ?? ""}`, ...(c.guess ?? "").split("; "), ...top].filter((t) => t !== "").join("\n");
      return cell;
    });
    this.head.replaceChildren(number, ...cells);
    this.element.style.setProperty("--ft-columns", ["5.5rem", ...this.columns.map((c) => (isByte(c) ? "calc(3ch + 2px)" : this.ofBytes(c) ? "8rem" : "12.5rem"))].join(" "));
    this.drawGuesses();
  }

  /** Lists what the bytes of messages without a definition may be, with what speaks for it. */
  private drawGuesses(): void {
    const found = this.columns.filter((c) => isByte(c) && c.guess !== undefined);
    this.guesses.hidden = found.length === 0;
    this.guesses.replaceChildren(...found.slice(0, mostGuesses).map((c) => {
      const words = `${c.path}: ${c.guess ?? ""}`;
      if (c.as === undefined) {
        return make("span", "ft-guess", words);
      }
      const guess = make("button", "ft-guess link", words);
      guess.type = "button";
      guess.title = `Read the bytes at ${c.path} as ${c.as}`;
      guess.addEventListener("click", () => this.read(Number.parseInt(c.path, 16), c.as ?? ""));
      return guess;
    }));
  }

  private layout(): void {
    const rowPx = this.drawn[0]?.offsetHeight ?? 0;
    this.scroll.resize(this.total, rowPx > 0 ? rowPx : 20, Math.max(0, this.box.clientHeight - this.head.offsetHeight));
    this.draw();
    this.want();
  }

  private want(): void {
    const { top, viewPx, rowPx } = this.scroll;
    this.pages.want(Math.floor(top / rowPx), Math.ceil((top + viewPx) / rowPx), this.at.row);
  }

  private draw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  private paint(): void {
    const { top, viewPx, rowPx } = this.scroll;
    const first = Math.max(0, Math.floor(top / rowPx) - spareRows);
    const end = Math.min(this.total, Math.ceil((top + viewPx) / rowPx) + spareRows, first + 200);
    while (this.drawn.length > Math.max(0, end - first)) {
      this.drawn.pop()?.remove();
    }
    while (this.drawn.length < end - first) {
      const row = make("div", "ft-row");
      row.setAttribute("role", "row");
      for (let i = 0; i <= this.columns.length; i++) {
        const column = this.columns[i - 1];
        const cell = make("span", column !== undefined && isByte(column) ? "ft-cell byte" : "ft-cell");
        cell.setAttribute("role", "gridcell");
        cell.dataset["cell"] = String(i);
        row.append(cell);
      }
      this.drawn.push(row);
      this.body.append(row);
    }
    this.drawn.forEach((element, i) => {
      const at = first + i;
      const row = this.pages.get(at);
      element.dataset["row"] = String(at);
      element.setAttribute("aria-rowindex", String(at + 2));
      [...element.children].forEach((cell, column) => {
        const text = row === undefined ? "" : column === 0 ? String(row.n) : (row.cells[column - 1] ?? "");
        if (cell.textContent !== text) {
          cell.textContent = text;
          (cell as HTMLElement).title = text.length > 18 ? text : column === 0 && row !== undefined ? `${seconds(row.t - this.host.state.start)} s` : "";
        }
        cell.classList.toggle("cur", at === this.at.row && column === this.at.column);
        cell.id = at === this.at.row && column === this.at.column ? "frames-table-cell" : "";
      });
    });
    this.body.style.setProperty("transform", `translateY(${Math.round(this.scroll.place(first))}px)`);
    this.box.setAttribute("aria-activedescendant", "frames-table-cell");
    if (this.drawn.length > 0 && this.drawn[0]?.offsetHeight !== rowPx && (this.drawn[0]?.offsetHeight ?? 0) > 0) {
      this.layout(); // the height of rows is known after the first ones
    }
  }

  private cellOf(at: { row: number; column: number }): HTMLElement | undefined {
    const cell = this.drawn.find((row) => row.dataset["row"] === String(at.row))?.children[at.column];
    return cell instanceof HTMLElement ? cell : undefined;
  }

  selected(row: FrameRow | undefined): void {
    const type = row?.type ?? "";
    if (row === undefined || type === this.type || (this.stay.checked && this.type !== "")) {
      if (this.type === "") {
        this.refresher.now();
      }
      return;
    }
    this.type = type;
    this.name = row.name !== undefined && row.name !== "" ? row.name : type;
    this.sort = { by: "", desc: false };
    this.at = { row: 0, column: 0 };
    this.scroll.moveTo(0);
    this.pages.reset();
    this.again();
  }

  changed(state: State, anew: boolean): void {
    if (anew) {
      this.again();
    } else {
      this.refresher.changed(state, false);
    }
  }

  resized(): void {
    this.layout();
  }

  focus(): void {
    this.box.focus({ preventScroll: true });
  }

  close(): void {
    this.refresher.stop();
    this.pages.stop();
    this.scroll.stop();
    this.watcher.disconnect();
    this.aborts.abort();
    cancelAnimationFrame(this.frame);
  }
}
