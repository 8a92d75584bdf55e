// The decoded tree, and what it has in common with the table of the layout: keyboard, and editing of values.
//
// One row is in the tab order; up and down move between rows. Left and right collapse and expand a row with rows inside (aria-expanded), left
// also moves to the parent; clicking its sign (.fold) toggles it. The rows inside a row follow it with a higher aria-level. Of a list with many
// elements, runs of elements have rows of their own (data-run), all but the first of them collapsed.

import { roleSign, roleWord } from "./roles";
import { make, put, write } from "../kit/dom";
import { editIn, type EditOptions } from "./edit";
import type { Mark } from "./layout";
import type { Message } from "./model";
import { bitOffsetOf, numberOf, valueOf } from "../kit/numbers";
import { type Items, VirtualList } from "../kit/virtual";

// 1. The tree.

/** The value of a row, with numbers as the user wants them. */
function valueText(m: Message, row: number): string {
  const text = m.textOf(row);
  return ["text", "float"].includes(m.part(row).family) ? text : valueOf(text);
}

/** A row in view, or hidden in a collapsed one. */
interface Row {
  row: number; // of the message; of a run its first row
  depth: number;
  open: boolean | undefined; // undefined without rows inside
  run: { id: string; name: string; end: number; elements: number } | undefined; // a run of elements
}

const runLength = 100; // elements; longer lists have runs
const mostListed = 5000; // fields in the palette
const firstRun = 20; // elements of the first run

const noRows: ReadonlySet<number> = new Set();

export class Tree {
  readonly list: VirtualList;
  private message: Message | null = null;
  private rows: Row[] = [];
  private viewOf = new Int32Array(); // by row of the message: the row that shows it, which may be a collapsed one
  private readonly folded = new Set<string>(); // paths of collapsed rows
  private readonly runs = new Set<string>(); // ids of runs that differ from their first state
  private readonly chosen: Record<Mark, ReadonlySet<number>> = { lit: noRows, picked: noRows }; // rows of the message
  private readonly marked: Record<Mark, ReadonlySet<number>> = { lit: noRows, picked: noRows }; // rows of the tree

  constructor(rows: HTMLElement, body: HTMLElement) {
    this.list = new VirtualList(rows, body);
  }

  show(message: Message | null): void {
    this.message = message;
    this.build();
  }

  private build(): void {
    const m = this.message;
    this.rows = [];
    this.viewOf = new Int32Array(m?.rows ?? 0);
    for (let row = 0; m !== null && row < m.rows; ) {
      row = this.add(m, row, 0);
    }
    this.place("lit");
    this.place("picked");
    this.list.show(this.items());
    this.list.host.closest("table")?.setAttribute("aria-rowcount", String(this.rows.length + 1));
  }

  /** Adds a row and those inside, `shift` deeper; returns the row after them. */
  private add(m: Message, row: number, shift: number): number {
    const { depth, role } = m.part(row);
    const end = m.end(row);
    const group = role === "group";
    const open = group ? !this.folded.has(m.pathOf(row)) : undefined;
    this.viewOf[row] = this.rows.push({ row, depth: depth + shift, open, run: undefined }) - 1;
    if (open !== true) {
      this.viewOf.fill(this.rows.length - 1, row, end);
      return end;
    }
    if (m.elements(row) <= runLength) {
      for (let inner = row + 1; inner < end; ) {
        inner = this.add(m, inner, shift);
      }
      return end;
    }
    const path = m.pathOf(row);
    let inner = row + 1;
    for (let n = 0; inner < end; ) {
      if (!m.isElement(inner)) {
        inner = this.add(m, inner, shift);
        continue;
      }
      let after = inner;
      let last = inner;
      let elements = 0;
      for (const most = n === 0 ? firstRun : runLength; after < end && elements < most; elements++) {
        last = after;
        after = m.end(after);
      }
      const id = `${path}#${n}`;
      const shown = (n === 0) !== this.runs.has(id);
      this.rows.push({ row: inner, depth: depth + shift + 1, open: shown, run: { id, name: `${m.nameOf(inner)} … ${m.nameOf(last)}`, end: after, elements } });
      if (!shown) {
        this.viewOf.fill(this.rows.length - 1, inner, after);
        inner = after;
      }
      while (inner < after) {
        inner = this.add(m, inner, shift + 1);
      }
      n += elements;
    }
    return end;
  }

  /** The path of an element of the tree, as in the rows of the message. */
  private idOf({ row, run }: Row): string {
    return run?.id ?? `${this.message?.pathOf(row) ?? ""}/${this.message?.part(row).role ?? ""}`;
  }

  /** The bits of a row. */
  private placeOf({ row, run }: Row): { start: number; end: number } {
    const m = this.message;
    if (m === null || run === undefined) {
      return m?.place(row) ?? { start: 0, end: 0 };
    }
    let { start, end } = m.place(row);
    for (let inner = row; inner < run.end; inner = m.end(inner)) {
      const place = m.place(inner);
      start = Math.min(start, place.start);
      end = Math.max(end, place.end);
    }
    return { start, end };
  }

  /** Expands or collapses a row. Collapsed rows inside stay collapsed. */
  expand(element: HTMLElement, open: boolean): void {
    const row = this.rows[this.list.indexOf(element)];
    if (row !== undefined && this.set(row, open)) {
      this.build();
    }
  }

  private set(row: Row, open: boolean): boolean {
    if (row.open === undefined || row.open === open) {
      return false;
    }
    const [closed, name] = row.run === undefined ? [this.folded, this.message?.pathOf(row.row) ?? ""] as const : [this.runs, row.run.id] as const;
    if (closed.has(name)) {
      closed.delete(name);
    } else {
      closed.add(name);
    }
    return true;
  }

  /** Expands a row and all rows inside, but no runs; without an element all rows. */
  expandAll(element?: HTMLElement): void {
    const m = this.message;
    const row = element === undefined ? undefined : this.rows[this.list.indexOf(element)];
    const [from, to] = row === undefined ? [0, m?.rows ?? 0] : [row.row, row.run?.end ?? m?.end(row.row) ?? 0];
    for (let inner = from; m !== null && inner < to; inner++) {
      if (m.part(inner).role === "group") {
        this.folded.delete(m.pathOf(inner));
      }
    }
    this.build();
  }

  /** The index of the row around a row, -1 for none. */
  around(element: HTMLElement): number {
    const at = this.list.indexOf(element);
    const depth = this.rows[at]?.depth ?? 0;
    return this.rows.slice(0, Math.max(at, 0)).findLastIndex((row) => row.depth < depth);
  }

  /** Sets the lines whose parts are shown as they were before the mistakes in them. */
  setHoles(lines: ReadonlySet<number>): void {
    this.holes = lines;
    this.list.redraw();
  }

  private holes: ReadonlySet<number> = noRows;

  /** Marks rows of the message; a collapsed row is marked for those inside. */
  mark(name: Mark, rows: ReadonlySet<number>): void {
    this.chosen[name] = rows;
    if (this.marked[name].size > 0 || rows.size > 0) {
      this.place(name);
      this.list.redraw();
    }
  }

  /** Finds the rows of the tree that show the chosen rows of the message. */
  private place(name: Mark): void {
    this.marked[name] = new Set(Array.from(this.chosen[name], (row) => this.viewOf[row] ?? -1));
  }

  /** Scrolls to the first selected row. */
  reveal(): void {
    const [row] = this.marked.picked;
    if (row !== undefined) {
      this.list.reveal(row);
    }
  }

  /** Moves the focus into the tree. */
  focus(): void {
    if (this.rows.length > 0) {
      this.list.focus(this.list.active);
    }
  }

  /** The named fields, with the beginnings of their values, for the palette. */
  fields(): { title: string; hint: string; focus(): void }[] {
    const m = this.message;
    return Array.from({ length: Math.min(m?.rows ?? 0, mostListed) }, (_, row) => ({
      title: m?.pathOf(row) ?? "",
      hint: m?.textOf(row).slice(0, 40) ?? "",
      focus: () => {
        this.unfold(row);
        this.list.focus(this.viewOf[row] ?? 0);
      },
    })).filter(({ title }) => title !== "");
  }

  /** Expands the rows around a row of the message. */
  private unfold(row: number): void {
    const m = this.message;
    for (let outer = m?.parent(row) ?? -1; m !== null && outer >= 0; outer = m.parent(outer)) {
      this.folded.delete(m.pathOf(outer));
    }
    this.build();
    for (let shown = this.rows[this.viewOf[row] ?? -1]; shown?.run !== undefined && this.set(shown, true); shown = this.rows[this.viewOf[row] ?? -1]) {
      this.build();
    }
  }

  /** Whether a path is that of a list, which may be empty. */
  isList: (path: string) => boolean = () => false;

  private tools: HTMLElement | undefined; // of the row that has the focus, or is under the pointer

  /** Shows in a row what can be done with it. */
  offer(tr: HTMLElement): void {
    const { message: m } = this;
    const r = this.rows[this.list.indexOf(tr)];
    this.tools?.remove();
    const tools = m === null || r === undefined || r.run !== undefined ? [] : this.toolsOf(m, r.row);
    if (tools.length > 0 && tr.querySelector("input") === null) {
      this.tools = rowTools(tools);
      tr.children[2]?.append(this.tools);
    }
  }

  /** What can be done with an element, or a list: titles, and the path where an element comes, "" if it goes. */
  private toolsOf(m: Message, row: number): readonly (readonly [title: string, at: string])[] {
    const path = m.pathOf(row);
    if (m.isElement(row)) {
      const list = m.parent(row);
      const after = m.end(row) === m.end(list) ? m.pathOf(list) : path.replace(/\d+(?=\]$)/, (n) => String(Number(n) + 1));
      const tools = [["+ before", path], ["+ after", after], ["remove", ""]] as const;
      return tools.slice(m.end(row) > row + 1 ? 0 : 1); // a value has less room
    }
    return m.elements(row) > 0 || m.part(row).role === "count" && this.isList(path) ? [["+ add", path]] : [];
  }

  private items(): Items {
    const { rows, message: m, list } = this;
    const valueOf = ({ row, run }: Row): string => run === undefined ? (m === null ? "" : valueText(m, row)) : run.elements === 1 ? "1 element" : `${run.elements} elements`;
    const cellsOf = (r: Row): [name: string, type: string, value: string, offset: string, size: string] => {
      const { start, end } = this.placeOf(r);
      const offset = bitOffsetOf(start);
      const size = (end - start) % 8 === 0 ? numberOf((end - start) / 8) : `${end - start} bit`;
      return [r.run?.name ?? m?.nameOf(r.row) ?? "", r.run === undefined ? (m?.part(r.row).type ?? "") : "", valueOf(r), offset, size];
    };
    const marks = (i: number): string => (["lit", "picked"] as const).filter((name) => this.marked[name].has(i)).join(" ");
    return {
      count: rows.length,
      kind: () => "row",
      id: (i) => (rows[i] === undefined ? "" : this.idOf(rows[i])),
      text: (i) => {
        const r = rows[i];
        const role = r !== undefined && r.open === undefined ? roleWord(m?.part(r.row).role ?? "value", m?.nameOf(r.row) ?? "") : "";
        return r === undefined ? "" : `${"  ".repeat(r.depth)}${cellsOf(r).map((cell, n) => (n === 0 ? cell + role : cell)).join("\t")}`;
      },
      draw: (i, old) => {
        const r = rows[i];
        const tr = old ?? newRow();
        if (r === undefined || m === null) {
          return tr;
        }
        const part = m.part(r.row);
        const gap = part.role === "gap";
        const leaf = r.open === undefined;
        const bad = leaf && part.bad !== "" ? (part.bad === "error" ? "err" : "warn") : "";
        const [name, type, value, offset, size] = cellsOf(r);
        const { start, end } = this.placeOf(r);
        put(tr, "className", [bad, gap ? "gap" : "", leaf ? "" : "parent", leaf && this.holes.has(m.lineOf(r.row)) ? "hole" : "", marks(i)].filter((c) => c !== "").join(" "));
        put(tr, "ariaLevel", String(r.depth + 1));
        put(tr, "ariaExpanded", r.open === undefined ? null : String(r.open));
        put(tr, "ariaRowIndex", String(i + 2));
        put(tr, "tabIndex", i === list.active ? 0 : -1);
        const isList = r.run === undefined && m.elements(r.row) > 0;
        const isElement = r.run === undefined && m.isElement(r.row);
        for (const [key, is] of [
          ["range", `${start}:${end - start}`], ["path", r.run?.id ?? m.pathOf(r.row)], ["run", r.run?.id], ["key", r.run === undefined && m.linked && part.key !== "" ? part.key : undefined],
          ["role", leaf ? part.role : undefined], ["list", isList ? "" : undefined], ["element", isElement ? "" : undefined],
        ] as const) {
          if (is === undefined) {
            delete tr.dataset[key];
          } else {
            put(tr.dataset, key, is);
          }
        }
        const [first, second, third, fourth, fifth] = Array.from(tr.children);
        if (first === undefined || second === undefined || third === undefined || fourth === undefined || fifth === undefined) {
          return tr;
        }
        const own = leaf && part.role !== "value" && !gap;
        put(first, "className", `${r.depth === 0 ? "" : `d${Math.min(r.depth, 12)}`}${own ? " own" : ""}`);
        const swatch = leaf ? `sw ${m.tint(m.run(r.row))}` : "fold";
        if (write(first, `${swatch}\n${name}\n${r.run?.id ?? ""}\n${own ? part.role : ""}`)) {
          const sign = make("span", swatch);
          sign.ariaHidden = "true";
          first.replaceChildren(sign, r.run === undefined ? name : make("span", "run", name), ...(own ? roleSign(part.role, name) : []));
        }
        put(second, "textContent", type);
        const hint = !leaf ? "" : part.overlaps ? "shares bytes with a field before it" : part.packed ? "compressed" : "";
        if (third.querySelector("input") === null && write(third, `${value}\n${hint}`)) {
          third.replaceChildren(value, ...(hint === "" ? [] : [" ", make("span", "dim", hint)]));
          put(third as HTMLElement, "title", value.length > 24 ? value : "");
        }
        put(fourth, "textContent", offset);
        put(fifth, "textContent", size);
        if (this.tools?.parentElement === third || tr.matches(":focus")) {
          this.tools?.remove();
          queueMicrotask(() => this.offer(tr)); // once it has its place
        }
        return tr;
      },
    };
  }
}

/** The buttons of a row, for the pointer; its keys and its menu do the same. */
function rowTools(tools: readonly (readonly [title: string, at: string])[]): HTMLElement {
  const all = make("span", "row-tools");
  all.append(...tools.map(([title, at]) => {
    const one = make("button", "btn", title);
    one.type = "button";
    one.tabIndex = -1;
    one.dataset["insert"] = at;
    return one;
  }));
  return all;
}

function newRow(): HTMLTableRowElement {
  const row = make("tr");
  row.setAttribute("role", "row");
  row.tabIndex = -1; // the attribute makes it focusable
  row.append(make("td"), make("td", "ty"), make("td", "value"), make("td", "num"), make("td", "num"));
  row.childNodes.forEach((cell) => (cell as Element).setAttribute("role", "gridcell"));
  return row;
}

// 2. Keyboard and pointer.

const rowSelector = ".tree tr[tabindex],.layout-table tr[tabindex]";

function focusedRow(target: EventTarget | null): HTMLElement | null {
  return target instanceof HTMLElement && target.matches(rowSelector) ? target : null;
}

function destination(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
    case "j":
      return Math.min(at + 1, count - 1);
    case "ArrowUp":
    case "k":
      return Math.max(at - 1, 0);
    case "PageDown":
    case " ":
      return Math.min(at + 10, count - 1);
    case "PageUp":
      return Math.max(at - 10, 0);
    case "Home":
      return 0;
    case "End":
    case "G":
      return count - 1;
    default:
      return undefined;
  }
}

/** Events of rows. */
export interface TreeEvents {
  edit(row: HTMLElement): void; // its value
  menu(row: HTMLElement, at: { x: number; y: number } | HTMLElement): void; // of the tree, or of the layout
  insert(path: string): void; // before this element, or at the end of this list
  remove(row: HTMLElement): void; // this element
  copy(row: HTMLElement): void; // this element
  shift(row: HTMLElement, by: -1 | 1): void; // this element, past the one before or after it
}

/** Handles the events of the rows of the tree and of the table of the layout. */
export function startTree(tree: Tree, layout: VirtualList, events: TreeEvents): void {
  const isOpen = (row: HTMLElement): boolean | undefined => (row.ariaExpanded === null ? undefined : row.ariaExpanded === "true");
  const listOf = (row: HTMLElement): VirtualList => (tree.list.host.closest("table")?.contains(row) === true ? tree.list : layout);

  /** Moves the focus to another row of the table, which may be one of the problems above the tree. */
  const move = (key: string, row: HTMLElement): boolean => {
    const list = listOf(row);
    const before = Array.from(row.closest("table")?.querySelectorAll<HTMLElement>("tbody:not(.virtual) tr[tabindex]") ?? []);
    const at = list.indexOf(row) >= 0 ? before.length + list.indexOf(row) : before.indexOf(row);
    const to = destination(key, at, before.length + list.count);
    if (to === undefined) {
      return false;
    }
    if (to < before.length) {
      before[to]?.focus();
    } else {
      list.focus(to - before.length);
    }
    return true;
  };
  const sideways = (key: string, row: HTMLElement): void => {
    const open = isOpen(row);
    if (key === "ArrowRight" && open === false) {
      tree.expand(row, true);
    } else if (key === "ArrowLeft" && open === true) {
      tree.expand(row, false);
    } else if (key !== "ArrowRight" && listOf(row) === tree.list && tree.around(row) >= 0) {
      tree.list.focus(tree.around(row));
    }
  };
  const moved = (event: KeyboardEvent, row: HTMLElement): boolean => {
    if (event.altKey || event.metaKey) {
      return false;
    }
    if (event.key === "ArrowRight" && (event.shiftKey || event.ctrlKey)) {
      if (listOf(row) === tree.list) {
        tree.expandAll(event.ctrlKey ? undefined : row);
      }
      return true;
    }
    if (event.ctrlKey && event.key === "a") {
      listOf(row).selectAll();
      return true;
    }
    if (event.ctrlKey || (event.shiftKey && event.key !== "G")) {
      return false;
    }
    if (["ArrowLeft", "ArrowRight", "Backspace"].includes(event.key)) {
      sideways(event.key, row);
      return true;
    }
    return move(event.key, row);
  };
  document.addEventListener("keydown", (event) => {
    const row = focusedRow(event.target);
    if (row === null || event.defaultPrevented) {
      return;
    }
    const inTree = row.closest(".tree") !== null && row.dataset["path"] !== undefined;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const open = isOpen(row);
    const element = row.dataset["element"] !== undefined && !event.shiftKey && !event.metaKey;
    if (element && event.altKey && !event.ctrlKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      events.shift(row, event.key === "ArrowUp" ? -1 : 1);
    } else if (element && event.ctrlKey && !event.altKey && event.key === "d") {
      event.preventDefault();
      events.copy(row);
    } else if (moved(event, row)) {
      event.preventDefault();
    } else if (event.key === "Enter" && plain && open !== undefined) {
      event.preventDefault();
      tree.expand(row, !open);
    } else if (inTree && plain && (event.key === "Enter" || event.key === "e")) {
      event.preventDefault();
      events.edit(row);
    } else if (plain && (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey) || (inTree && event.key === "c"))) {
      event.preventDefault();
      events.menu(row, row.querySelector<HTMLElement>("td") ?? row);
    } else if (inTree && plain && event.key === "Insert") {
      event.preventDefault();
      events.insert(row.dataset["path"] ?? "");
    } else if (inTree && plain && event.key === "Delete" && row.dataset["element"] !== undefined) {
      event.preventDefault();
      events.remove(row);
    }
  });
  document.addEventListener("click", (event) => {
    const sign = event.target instanceof Element ? event.target.closest(".fold, .run") : null;
    const row = sign?.closest<HTMLElement>("tr[aria-expanded]");
    if (row !== null && row !== undefined) {
      tree.expand(row, isOpen(row) === false);
    }
  });
  document.addEventListener("click", (event) => {
    const tool = event.target instanceof Element ? event.target.closest<HTMLElement>(".row-tools > button") : null;
    const row = tool?.closest<HTMLElement>("tr");
    if (tool?.dataset["insert"] === "" && row != null) {
      events.remove(row);
    } else if (tool !== null) {
      events.insert(tool.dataset["insert"] ?? "");
    }
  });
  for (const type of ["pointerover", "focusin"] as const) {
    document.addEventListener(type, (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".tree tr[data-path]") : null;
      if (row?.querySelector(".row-tools") === null) {
        tree.offer(row);
      }
    });
  }
  document.addEventListener("dblclick", (event) => {
    const target = event.target instanceof Element && event.target.closest(".row-tools") === null ? event.target : null;
    const row = target?.closest<HTMLElement>(".tree tr[data-path]") ?? null;
    if (row === null || target?.closest(".fold, .run") != null) {
      return; // its two clicks were enough
    }
    const open = isOpen(row);
    if (open === undefined) {
      events.edit(row);
    } else {
      tree.expand(row, !open);
    }
  });
  document.addEventListener("contextmenu", (event) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".tree tr[data-path], .layout-table tr[data-key], .diagram [data-key]") : null;
    if (row !== null && !event.shiftKey) {
      event.preventDefault();
      events.menu(row, { x: event.clientX, y: event.clientY });
    }
  });
  document.addEventListener("focusin", (event) => {
    const row = focusedRow(event.target);
    const list = row === null ? undefined : listOf(row);
    const at = list?.indexOf(row) ?? -1;
    if (list !== undefined && at >= 0 && list.active !== at) {
      list.active = at;
    }
  });
}

// 3. Values.

/** Whether a value is being edited. */
function isEditing(): boolean {
  return document.querySelector(".tree .value-edit") !== null;
}

/** Replaces a row's value by a text field, with the choices that there are. done is called when the field is removed. */
export function editValue(row: HTMLElement, { typed, choices }: { typed: string; choices?: EditOptions["choices"] }, commit: (typed: string) => Promise<string>, done: () => void): void {
  const cell = row.querySelector<HTMLElement>("td.value");
  if (cell !== null && !isEditing()) {
    editIn(cell, { text: typed, choices, label: `New value of ${row.dataset["path"] ?? ""}`, commit, back: row, done });
    write(cell, ""); // to be drawn again
  }
}
