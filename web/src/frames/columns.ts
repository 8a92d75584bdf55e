// The columns of the list: fixed ones, fields, and the user's changes.

import type { FrameRow, State } from "../api/frames";
import { keep, recall } from "../kit/store";
import { clock, count, dayAndClock, direction, directionWords, endName, flags, frameName, info, layers, opcode, seconds, shortConnection, span, type TimeMode } from "../kit/frametext";

/** The context of cells besides their row. */
export interface CellContext {
  state: State;
  marked: ReadonlySet<number>;
  mode: TimeMode;
  reference: number | undefined; // reference for times
  referenceFrame: number; // its frame, 0 if there is none
  fields: readonly string[]; // field columns, in the order of the server
}

export interface Column {
  /** The name of a fixed column, or "=" and the path of a field. */
  id: string;
  title: string;
  /** Accessible name if the title is a sign. */
  words: string;
  /** Automatic width: at least and at most that many characters. */
  fewest: number;
  most: number;
  leastPx: number;
  /** Aligned right, for numbers. */
  right?: boolean;
  /** Shown by default. */
  shown: boolean;
  text(row: FrameRow, context: CellContext): string;
  hint?(row: FrameRow, context: CellContext): string;
}

function timeText(row: FrameRow, c: CellContext): string {
  switch (c.mode) {
    case "clock":
      return clock(row.t);
    case "reference":
      return row.n === c.referenceFrame ? "reference" : seconds(row.t - (c.reference ?? c.state.start));
    case "delta":
      return seconds(row.d ?? 0);
    default:
      return seconds(row.t - c.state.start);
  }
}

/** The fixed columns, in their default order. */
export const fixedColumns: readonly Column[] = [
  { id: "n", title: "#", words: "Number", fewest: 3, most: 12, leastPx: 32, right: true, shown: true, text: (r) => count(r.n) },
  { id: "time", title: "Time", words: "Time", fewest: 8, most: 16, leastPx: 48, right: true, shown: true, text: timeText, hint: (r) => dayAndClock(r.t) },
  { id: "delta", title: "Δ", words: "Since the previous row", fewest: 7, most: 12, leastPx: 40, right: true, shown: false, text: (r) => (r.d === undefined ? "" : span(r.d)) },
  { id: "src", title: "Source", words: "Source", fewest: 9, most: 24, leastPx: 40, shown: false, text: (r, c) => endOf(r, c, true), hint: (r, c) => endOf(r, c, true) },
  { id: "dst", title: "Dest.", words: "Destination", fewest: 9, most: 24, leastPx: 40, shown: false, text: (r, c) => endOf(r, c, false), hint: (r, c) => endOf(r, c, false) },
  { id: "dir", title: "Dir", words: "Direction", fewest: 4, most: 4, leastPx: 30, shown: true, text: (r) => direction(r.dir), hint: (r) => directionWords(r.dir) },
  { id: "code", title: "Code", words: "Code", fewest: 6, most: 10, leastPx: 44, shown: true, text: (r) => opcode(r.code) },
  { id: "name", title: "Name", words: "Name", fewest: 10, most: 26, leastPx: 60, shown: true, text: frameName, hint: frameName },
  { id: "ver", title: "v", words: "Version", fewest: 1, most: 3, leastPx: 20, right: true, shown: true, text: (r) => (r.ver === undefined ? "" : String(r.ver)) },
  { id: "len", title: "Len", words: "Length in bytes", fewest: 4, most: 11, leastPx: 32, right: true, shown: true, text: (r) => count(r.len ?? 0) },
  { id: "flags", title: "⚑", words: "Flags", fewest: 2, most: 6, leastPx: 24, shown: true, text: (r, c) => flags(r, c.marked.has(r.n), noteOf(r, c) !== "").text, hint: flagsHint },
  { id: "info", title: "Info", words: "Info", fewest: 16, most: 16, leastPx: 80, shown: true, text: infoText, hint: infoText },
  { id: "conn", title: "Connection", words: "Connection", fewest: 10, most: 24, leastPx: 40, shown: false, text: (r, c) => shortConnection(c.state.conns[r.conn ?? 0]), hint: (r, c) => connectionHint(r, c) },
  { id: "layers", title: "Layers", words: "Layers", fewest: 8, most: 24, leastPx: 40, shown: false, text: layers, hint: layers },
];

function noteOf(row: FrameRow, c: CellContext): string {
  return c.state.notes[String(row.n)] ?? "";
}

/** The note of a frame, and its info. */
function infoText(row: FrameRow, c: CellContext): string {
  const note = noteOf(row, c);
  return note === "" ? info(row) : [`✎ ${note.replaceAll(/\s+/g, " ")}`, info(row)].filter((part) => part !== "").join(" · ");
}

function flagsHint(row: FrameRow, c: CellContext): string {
  const note = noteOf(row, c);
  return flags(row, c.marked.has(row.n), note !== "").words + (note === "" ? "" : `: ${note}`);
}

function connectionHint(row: FrameRow, c: CellContext): string {
  const conn = c.state.conns[row.conn ?? 0];
  return conn === undefined ? "" : `${conn.name} ${conn.proto}, session ${conn.session}`;
}

/** The address and port of the sender or receiver of a frame. */
function endOf(row: FrameRow, c: CellContext, sender: boolean): string {
  return endName(row, c.state.conns, sender);
}

function fieldColumn(path: string): Column {
  const name = path.replace(/^.*?\./, ".");
  return {
    id: `=${path}`, title: name === "" ? path : name, words: path, fewest: 6, most: 24, leastPx: 40, shown: true,
    text: (row, c) => (row.cells?.[c.fields.indexOf(path)] ?? "").replaceAll(/[\x00-\x1f\x7f]+/g, " "),
    hint: (row, c) => row.cells?.[c.fields.indexOf(path)] ?? "",
  };
}

const mostWidth = 2000;
const mostFields = 20;
const mostPath = 500;

interface Choice {
  id: string;
  shown: boolean;
  widthPx: number;
}

function isChoice(value: unknown): value is Choice {
  return (
    typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" && value.id.length <= mostPath &&
    "shown" in value && typeof value.shown === "boolean" && "widthPx" in value && Number.isFinite(value.widthPx)
  );
}

/** The columns with the user's changes. */
export class Columns {
  private readonly key: string;
  private readonly project: readonly string[];
  private readonly before: string;
  private list: { column: Column; shown: boolean; widthPx: number }[] = []; // widthPx: 0 is automatic
  private readonly longest = new Map<string, number>(); // length of the longest text seen, in characters
  mode: TimeMode = "start";

  /** Changes are stored under the key. Until there are any, the columns are those of the project, or what was stored under an earlier key. */
  constructor(key: string, project: readonly string[] = [], before = "") {
    this.key = key;
    this.project = project;
    this.before = before;
    this.load();
  }

  private load(): void {
    const own = recall(this.key);
    const isShared = own === undefined && this.project.length > 0;
    const stored = own ?? (isShared ? { columns: this.project.map((id) => ({ id, shown: true, widthPx: 0 })) } : recall(this.before));
    const record = typeof stored === "object" && stored !== null ? stored : {};
    const choices = "columns" in record && Array.isArray(record.columns) ? record.columns.filter(isChoice) : [];
    const mode = "mode" in record ? record.mode : "";
    this.mode = mode === "clock" || mode === "reference" || mode === "delta" ? mode : "start";
    this.list = [];
    let fields = 0;
    for (const choice of choices) {
      const column = fixedColumns.find((c) => c.id === choice.id) ?? (choice.id.startsWith("=") && fields++ < mostFields ? fieldColumn(choice.id.slice(1)) : undefined);
      if (column !== undefined && !this.list.some((c) => c.column.id === column.id)) {
        this.list.push({ column, shown: choice.shown, widthPx: choice.widthPx <= 0 ? 0 : Math.max(column.leastPx, Math.min(choice.widthPx, mostWidth)) });
      }
    }
    // A column that is new in this version is inserted at its default position.
    fixedColumns.forEach((column, at) => {
      if (!this.list.some((c) => c.column.id === column.id)) {
        const before = fixedColumns[at - 1]?.id;
        const index = this.list.findIndex((c) => c.column.id === before);
        this.list.splice(index < 0 ? (at === 0 ? 0 : this.list.length) : index + 1, 0, { column, shown: column.shown && !isShared, widthPx: 0 });
      }
    });
  }

  /** Whether the same columns are shown as by the project, in the same order. */
  get areShared(): boolean {
    return this.shown.map((c) => c.id).join("\n") === this.project.join("\n");
  }

  private save(): void {
    keep(this.key, { mode: this.mode, columns: this.list.map((c) => ({ id: c.column.id, shown: c.shown, widthPx: c.widthPx })) });
  }

  /** All columns in order. */
  get all(): readonly { readonly column: Column; readonly shown: boolean; readonly widthPx: number }[] {
    return this.list;
  }

  /** The shown columns in order. */
  get shown(): Column[] {
    return this.list.filter((c) => c.shown).map((c) => c.column);
  }

  /** Paths of the shown field columns. */
  get fields(): string[] {
    return this.shown.filter((c) => c.id.startsWith("=")).map((c) => c.id.slice(1));
  }

  /** The width set by the user, in pixels; 0 is automatic. */
  width(id: string): number {
    return this.list.find((c) => c.column.id === id)?.widthPx ?? 0;
  }

  /** Records the length of a text in a column and returns whether the column must widen. Columns do not shrink automatically. */
  saw(column: Column, length: number): boolean {
    if (length <= (this.longest.get(column.id) ?? column.fewest)) {
      return false;
    }
    const before = this.longest.get(column.id) ?? column.fewest;
    this.longest.set(column.id, length);
    return this.width(column.id) === 0 && column.id !== "info" && before < column.most;
  }

  /** The texts have changed: automatic widths start over. */
  forget(id: string): void {
    this.longest.delete(id);
  }

  private cssWidth(c: { column: Column; widthPx: number }): string {
    const { column } = c;
    const length = Math.min(column.most, Math.max(column.fewest, this.longest.get(column.id) ?? 0, Math.min(column.title.length, 10)));
    return c.widthPx > 0 ? `${c.widthPx}px` : `calc(${length}ch + var(--cell-pad) * 2)`;
  }

  /** The widths as a CSS grid template; the info column takes the rest. */
  get template(): string {
    const shown = this.list.filter((c) => c.shown);
    const rest = shown.some((c) => c.column.id === "info") ? "info" : shown.at(-1)?.column.id;
    return shown.map((c) => (c.column.id === rest ? `minmax(${this.cssWidth(c)}, 1fr)` : this.cssWidth(c))).join(" ");
  }

  /** The widths in a narrow list, whose rows have the info in a second line. frames.css hides the other columns. */
  get narrow(): string {
    return this.list.filter((c) => c.shown && ["n", "time", "dir", "name", "len", "flags"].includes(c.column.id)).map((c) => (c.column.id === "name" ? "minmax(0, 1fr)" : this.cssWidth(c))).join(" ");
  }

  /** The minimum width of a row in CSS. */
  get total(): string {
    return `calc(${this.list.filter((c) => c.shown).map((c) => this.cssWidth(c)).join(" + ")})`;
  }

  resize(id: string, widthPx: number): void {
    const found = this.list.find((c) => c.column.id === id);
    if (found !== undefined) {
      found.widthPx = Math.round(Math.max(found.column.leastPx, Math.min(widthPx, mostWidth)));
      this.save();
    }
  }

  /** Shows or hides a column; one always remains. Hiding a field's column removes it. */
  show(id: string, shown: boolean): void {
    const at = this.list.findIndex((c) => c.column.id === id);
    const found = this.list[at];
    if (found === undefined || (!shown && this.shown.length === 1)) {
      return;
    }
    found.shown = shown;
    if (!shown && id.startsWith("=")) {
      this.list.splice(at, 1);
    }
    this.save();
  }

  /** Moves a column before another, or to the end. */
  move(id: string, before: string | undefined): void {
    const at = this.list.findIndex((c) => c.column.id === id);
    if (at < 0 || id === before) {
      return;
    }
    const [moved] = this.list.splice(at, 1);
    const to = this.list.findIndex((c) => c.column.id === before);
    if (moved !== undefined) {
      this.list.splice(to < 0 ? this.list.length : to, 0, moved);
    }
    this.save();
  }

  /** Moves a column by one position among the shown ones. */
  shift(id: string, by: -1 | 1): void {
    const shown = this.shown;
    const at = shown.findIndex((c) => c.id === id);
    const to = at + by;
    if (at >= 0 && to >= 0 && to < shown.length) {
      this.move(id, by < 0 ? shown[to]?.id : shown[to + 1]?.id);
    }
  }

  /** Adds a column for a field before the info column; returns whether there was room. */
  addField(path: string): boolean {
    const id = `=${path}`;
    if (this.list.some((c) => c.column.id === id)) {
      return true;
    }
    if (path === "" || path.length > mostPath || this.fields.length >= mostFields) {
      return false;
    }
    const column = fieldColumn(path);
    const info = this.list.findIndex((c) => c.column.id === "info");
    this.list.splice(info < 0 ? this.list.length : info, 0, { column, shown: true, widthPx: 0 });
    this.save();
    return true;
  }

  setMode(mode: TimeMode): void {
    this.mode = mode;
    this.forget("time");
    this.save();
  }

  /** Restores the columns of the project, or else the defaults, and removes field columns. */
  restore(): void {
    if (this.project.length > 0) {
      keep(this.key, null);
      this.load();
      return;
    }
    this.mode = "start";
    this.list = fixedColumns.map((column) => ({ column, shown: column.shown, widthPx: 0 }));
    this.save();
  }
}
