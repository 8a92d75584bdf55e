// The pane of a list of frames: filter, chips, find bar, list and drawers.
//
//   .frames > .frames-top > .frames-filter, .frames-more
//           > .frames-chips, .find-bar
//           > .frames-body > .frames-list (+ .frames-empty), .frames-drawer > .drawer-head, the drawer; .frames-tools
//   .status > .frames-line

import type { How } from "./filterbox/syntax";
import { combine } from "./filterbox/syntax";
import { dialogs } from "../kit/dialogs";
import { isTyping } from "../kit/keys";
import { type Anchor, type MenuItem, openMenu } from "../kit/menu";
import { announce, notify } from "../kit/notify";
import { Chips, chipLabel } from "./chips";
import { type Column, Columns } from "./columns";
import { columnItems } from "./columnsmenu";
import { type FrameActions, offerCommands, runKey } from "./commands";
import { button, make } from "../kit/dom";
import type { DrawerHost, DrawerName, MarkerSource } from "./drawer";
import { not } from "./filters";
import { type FindAs, FindBar, mistakeIn } from "../kit/findbar";
import { FrameList } from "./list";
import { Marks } from "./marks";
import { Minimap } from "./minimap";
import { Moves } from "./moves";
import { NamedFrames } from "./named";
import { askText } from "../kit/notebox";
import { type ColorRule, type Draft, type FrameName, type FrameRow, type Sort, type State, type View } from "../api/frames";
import type { Range } from "./ranges";
import { RowColors, withColor } from "./rowcolors";
import { colorMenu, conversationOf, rowMenu } from "./rowmenu";
import type { Channel, ChannelEvents } from "../kit/connection";
import { type Connection, FramesError, FramesSocket, isGivenUp } from "./socket";
import { addressSort, columnWords, firstSort, keepSort, nextSort, offerSorting, sameSort, sortText, sortWords } from "./sorting";
import { roleItem } from "../kit/role";
import { ProjectList } from "./projectlist";
import { keep, recall, recallList } from "../kit/store";
import { Shelf } from "./shelf";
import { StatusLine } from "./statusline";
import { Vacant } from "./vacant";

/** Events of the pane. */
export interface FramesEvents {
  /** The current row changed; undefined: none. `jumped`: the user went to it directly. */
  select(row: FrameRow | undefined, jumped: boolean): void;
  /** Something was found in the bytes of a frame, which is or will be shown. */
  found?(n: number, range: { start: number; end: number }): void;
  /** Enter or a double click. */
  open(row: FrameRow): void;
  /** Marks or unmarks frames; the pane shows it already, until the next state. */
  mark(frames: readonly FrameName[], on: boolean): void;
  /** Writes notes of frames; null removes a note. */
  note(notes: Readonly<Record<FrameName, string | null>>): void;
  /** Opens the copy menu of a frame at the anchor. */
  copy(row: FrameRow, anchor: Anchor): void;
  link(row: FrameRow): void;
  /** Shows the bytes of the packet that carried the frame. */
  packet(row: FrameRow): void;
  /** Exports rows of the filtered list. */
  export(chosen: readonly Range[]): void;
  /** The user changed the filter or the chips. */
  changed(view: View): void;
  state?(state: State, connection: Connection): void;
}

/** The interface of the filter box in .frames-filter. */
export interface FilterSlot {
  /** Sets the text and, with apply, applies it: the page then calls setFilter. */
  set(text: string, apply: boolean): unknown;
  /** Adds a condition to the text without applying it. */
  prepare(text: string, how: How): unknown;
  focus(): void;
}

export interface FramesOptions {
  /** Opens the channel of the list. */
  channel(events: ChannelEvents): Channel;
  /** Storage key of chips, per capture. Columns and colors are common to a project, drawers to all. */
  remember: string;
  /** What the project shares. */
  shared?: ProjectList;
  events: FramesEvents;
  /** The filter in the address of the page; without chips in it the stored ones apply. */
  filter?: string;
  chips?: readonly string[];
  highlight?: string;
  /** The initial frame, and its former number; 0: none. */
  frame?: FrameName;
  frameNumber?: number;
  /** Opens the settings by which the frames are decoded. */
  decodeAs?(): void;
  /** Storage of markers. */
  markers?: MarkerSource;
  /** Lists events of packets as rows, or no longer. */
  packets?(on: boolean): void;
}

const mostChips = 100;
const mostMarks = 100; // frames marked by one key
function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 8192;
}

function isName(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every(isText);
}

export class Frames {
  readonly element = make("section", "frames");
  /** The place of the filter box. */
  readonly filterHost = make("div", "frames-filter");
  readonly list: FrameList;
  readonly socket: FramesSocket;
  /** The filter box, once added by the page. */
  filterBox: FilterSlot | undefined;

  private readonly options: FramesOptions;
  private readonly events: FramesEvents;
  private readonly shared: ProjectList;
  private readonly columns: Columns;
  private readonly chipBar: Chips;
  private readonly findBar: FindBar<FindAs>;
  private readonly line: StatusLine;
  private readonly status = document.querySelector<HTMLElement>(".status") ?? this.element;
  private readonly body = make("div", "frames-body");
  private readonly vacant: Vacant;
  private readonly shelf: Shelf;
  /** Above everything: proposals, see proposals.tsx. */
  readonly proposals = make("div");
  private readonly more = button("⋯", () => this.moreMenu(), "More tools");
  private readonly moves: Moves;
  private readonly named: NamedFrames;
  private readonly stopped = new AbortController();
  private readonly endCommands: () => void;
  private readonly endSorting: () => void;
  private readonly listHost = make("div", "frames-main");
  private minimap: Minimap | undefined;
  private order = 0; // of the rows, as counted by the server
  private again = 0; // number of repeated sortings

  private view: View;
  private names = new Map<string, string>(); // labels of chips, if other than the chip
  private sentFields: readonly string[] = [];
  private state: State;
  private latest: State; // from the server
  private paused: { fit: number; total: number; seq: number } | undefined; // state at which the list was paused
  private limited = false; // the server knows about the pause
  private readonly marks: Marks;
  private readonly colors: RowColors;
  private drawnSeq = 0;
  private epoch = 0;
  private cuts = -1;
  private before: FrameRow | undefined; // the row that was current before the row of a menu
  rowItems: ((row: FrameRow) => readonly MenuItem[]) | undefined; // of the page, for the menu of a row
  counted: (() => void) | undefined; // called after each state of the list
  private mistakesSeen: (() => void) | undefined; // of the dialog of colors, while open

  constructor(host: HTMLElement, options: FramesOptions) {
    this.options = options;
    this.events = options.events;
    this.shared = options.shared ?? new ProjectList("", undefined);
    this.columns = new Columns(`columns.${this.shared.project}`, this.shared.columns, "columns");
    this.colors = new RowColors(this.shared);
    const pane = this;
    this.marks = new Marks({
      get state() {
        return pane.state;
      },
      get row() {
        return pane.list.row;
      },
      about: () => this.about(),
      anchor: () => this.list.anchor(),
      changed: () => this.list.update(this.state, this.marks.numbers),
      mark: (frames, on) => this.events.mark(frames, on),
      note: (notes) => this.events.note(notes),
    });
    const frame = options.frame ?? 0;
    this.moves = new Moves({
      get position() {
        return pane.list.position;
      },
      get frameNumber() {
        return pane.list.frameNumber;
      },
      go: (pos, extend) => this.list.go(pos, extend),
      step: (by, extend) => this.list.step(by, extend),
      ask: (kind, question, signal) => this.socket.ask(kind, question, signal),
      say: (text) => this.line.say(text),
      failed: (error) => this.failed(error),
    }, frame, options.frameNumber ?? Number(frame));
    this.names = new Map(recallList(`names.${options.remember}`, isName).slice(0, mostChips));
    const chips = options.chips ?? recallList(`chips.${options.remember}`, isText);
    this.view = {
      filter: options.filter ?? "",
      chips: [...new Set(chips)].slice(0, mostChips),
      columns: this.columns.fields,
      colors: this.colors.rules,
      highlight: options.highlight ?? "",
    };
    const sort = firstSort(options.remember);
    if (sort !== undefined) {
      this.view = { ...this.view, sort };
      keepSort(options.remember, sort);
    }
    this.element.setAttribute("aria-label", "Frames");

    this.more.setAttribute("aria-haspopup", "menu");
    this.more.classList.add("frames-more");
    const top = make("div", "frames-top");
    top.append(this.filterHost, this.more);

    this.chipBar = new Chips({
      remove: (chip) => this.removeChip(chip),
      manage: () => this.manageChips(),
      next: () => void this.nextHighlighted(false),
      plain: () => this.highlightBy(""),
    });
    this.findBar = new FindBar<FindAs>({ label: "Find frames", ways: ["text", "regex", "hex", "value", "filter"], store: "find" }, {
      find: async ({ text, as, exact }, back, signal) => {
        const found = await this.moves.find({ text, as, back, fold: !exact }, signal);
        const wrong = mistakeIn(found.mistakes);
        if (wrong !== undefined || found.pos < 0) {
          return wrong ?? { text: "not found", wrong: true };
        }
        const round = this.list.position >= 0 && (back ? found.pos >= this.list.position : found.pos <= this.list.position);
        this.moves.jumpTo(found.pos);
        if (found.at !== undefined) {
          this.events.found?.(found.n, { start: found.at[0], end: found.at[1] });
        }
        return { text: round ? `frame ${found.n}, ${back ? "wrapped to the end" : "wrapped to the start"}` : `frame ${found.n}` };
      },
      failed: (error) => (isGivenUp(error) ? "" : error instanceof FramesError ? error.message : "failed"),
      closed: () => this.list.focus(),
    });
    this.line = new StatusLine(() => {
      this.list.reveal();
      this.list.focus();
    });
    this.named = new NamedFrames(options.remember, {
      row: () => this.list.row,
      goTo: (frame) => this.goTo(frame),
      say: (text) => {
        announce(text);
        this.line.say(text);
      },
      anchor: () => this.list.anchor(),
      changed: () => this.line.selected(this.list.frameNumber, this.named.of(this.list.row)),
    });
    const { listHost } = this;
    this.body.append(listHost);
    this.shelf = new Shelf(
      this.body,
      ["types", "problems", "timeline", "graph", "conns", "follow", "flow", "table", ...(options.markers === undefined ? [] : ["markers" as const])],
      { drawerHost: () => this.drawerHost(), refocus: () => this.list.focus() },
      this.stopped.signal,
    );
    this.vacant = new Vacant({ clear: () => this.clearFilter(), edit: () => (this.filterBox === undefined ? undefined : () => this.filterBox?.focus()) });
    this.proposals.hidden = true;
    this.element.append(this.proposals, top, this.chipBar.element, this.findBar.element, this.body);
    this.status.prepend(this.line.element);
    host.append(this.element);

    this.list = new FrameList(
      listHost,
      this.columns,
      {
        rows: async (from, count) => {
          const rows = (await this.socket.ask("rows", { from, count })).rows ?? [];
          this.moves.saw(rows);
          return rows;
        },
        where: (n) => this.moves.where(n),
      },
      {
        select: (row) => this.selected(row),
        open: (row) => this.events.open(row),
        menu: (row, column, anchor) => this.rowMenu(row, column, anchor),
        columns: () => this.columnsChanged(),
        columnMenu: (id, anchor) => this.columnsMenu(anchor, id),
        selection: (n) => this.line.chosen(n),
        sort: (id) => this.sort(id),
        unsort: () => this.setSort(undefined),
        sortAnew: () => this.sortAnew(),
        viewed: () => this.minimap?.place(),
      },
    );
    listHost.append(this.vacant.element);
    this.socket = new FramesSocket(
      { state: (state) => this.took(state), connection: (c) => this.connected(c) },
      options.channel,
    );
    this.state = this.socket.state;
    this.latest = this.state;
    this.sentFields = this.view.columns;
    this.list.setFields(this.sentFields);
    this.show();
    this.list.showSort(this.view.sort, true);
    this.endCommands = offerCommands(this.actions());
    this.endSorting = offerSorting({
      ready: () => this.isReady(),
      sorted: () => this.view.sort !== undefined,
      sort: (id) => this.sort(id),
      choose: () => this.sortMenu(),
      unsort: () => this.setSort(undefined),
      toggleMap: () => {
        keep("minimap", this.minimap === undefined);
        this.showMap(this.minimap === undefined);
      },
    });
    this.showMap(recall("minimap") !== false);
    this.listen();
    this.drawChips();
    this.shelf.reopen();
    this.checkEmpty();
  }

  // 1. Interface of the page.

  /** The current view. */
  get shown(): View {
    return this.view;
  }

  /** Applies a filter. */
  setFilter(text: string): void {
    if (text !== this.view.filter) {
      this.change({ filter: text }, false);
    }
  }

  /** Applies the filter and the chips of an address. */
  setView(filter: string, chips: readonly string[]): void {
    const next = [...new Set(chips)].slice(0, mostChips);
    if (filter !== this.view.filter || next.join("\n") !== this.view.chips.join("\n")) {
      this.change({ filter, chips: next }, false);
      keep(`chips.${this.options.remember}`, next);
    }
  }

  /** Decodes with an unsaved definition, or with the stored ones. */
  setDraft(draft: Draft | undefined): void {
    if (draft?.name === this.view.draft?.name && draft?.text === this.view.draft?.text) {
      return;
    }
    const { draft: _, ...rest } = this.view;
    this.view = draft === undefined ? rest : { ...rest, draft };
    this.change({}, this.view.filter === "" && this.view.chips.length === 0);
  }

  /** Highlights matching frames; "" is none. */
  setHighlight(filter: string): void {
    if (filter !== this.view.highlight) {
      this.change({ highlight: filter }, true);
    }
  }

  /** The connections of the frames. */
  get connections(): State["conns"] {
    return this.state.conns;
  }

  /** The note of a frame, or "". */
  noteOf(n: number): string {
    return this.marks.noteOf(n);
  }

  /** Edits the note of the current frame. */
  editNote(): void {
    this.marks.editNote();
  }

  /** The positions of the selected rows; none if only one row is current. */
  get selectedRows(): readonly Range[] {
    return this.list.ranges.list;
  }

  /** The columns of the list. */
  get columnsShown(): readonly Column[] {
    return this.columns.shown;
  }

  /** Places an element below the list, with its columns. */
  below(element: HTMLElement): void {
    const column = make("div", "frames-column");
    this.listHost.replaceWith(column);
    column.append(this.listHost, element);
    this.list.below.push(element);
    this.list.rebuild();
  }

  /** Shows a field in the graph. */
  graph(path: string): void {
    this.shelf.open("graph", true, (d) => d.addField?.(path));
  }

  /** Opens a drawer. */
  open(name: DrawerName): void {
    this.shelf.open(name);
  }

  /** Adds a field as a column. */
  addColumn(path: string): void {
    if (!this.columns.addField(path)) {
      notify("There is no room for another column.", "warn");
      return;
    }
    this.list.rebuild();
    this.list.focus();
    announce(`${path} is a column`);
  }

  /** Shows a frame, or the next listed one after it; `jumped`: the user requested it. */
  goTo(frame: FrameName, jumped = true): Promise<void> {
    return this.moves.goTo(frame, jumped);
  }

  focus(): void {
    this.list.focus();
  }

  /** Removes the pane and its listeners. */
  destroy(): void {
    this.stopped.abort();
    this.named.stop();
    this.endCommands();
    this.endSorting();
    this.minimap?.destroy();
    this.list.destroy();
    this.socket.close();
    this.line.element.remove();
    this.element.remove();
  }

  // 2. The view.

  /** Changes the view; with `places` the frames keep their positions. */
  private change(part: Partial<View>, places: boolean): void {
    this.view = { ...this.view, ...part };
    this.list.reset(places, Object.keys(part).length === 0);
    this.show();
    this.state = this.socket.state;
    this.latest = this.state;
    this.sentFields = this.view.columns;
    this.list.setFields(this.sentFields);
    this.drawChips();
    this.shelf.changed(this.state, true);
    this.drawnSeq = this.socket.seq;
    this.line.show(this.state, this.socket.connection, this.isPaused);
    this.vacant.forget();
  }

  /** Sends the view. A paused list has no later frames. */
  private show(): void {
    this.limited = this.paused !== undefined;
    this.socket.show(this.paused === undefined ? this.view : { ...this.view, chips: [...this.view.chips, `n <= ${this.paused.total}`] });
  }

  /** Whether the list is paused while traffic continues. */
  get isPaused(): boolean {
    return this.paused !== undefined;
  }

  /** The number of all frames, including filtered ones and those since the pause. */
  get total(): number {
    return this.latest.total;
  }

  /** The number of frames since the pause. */
  get fresh(): number {
    return this.paused === undefined ? 0 : Math.max(0, this.latest.total - this.paused.total);
  }

  /** Pauses or resumes the list. Filters may change during the pause; they apply to the frames before it. */
  pause(on: boolean): void {
    if (on === this.isPaused) {
      return;
    }
    if (on) {
      this.paused = { fit: this.state.fit, total: this.state.total, seq: this.socket.seq };
    } else {
      this.paused = undefined;
      if (this.limited) {
        this.change({}, true);
        return;
      }
    }
    this.took(this.latest);
  }

  /** The user changed the filter or the chips. */
  private choose(part: Partial<View>): void {
    this.change(part, false);
    if (part.chips !== undefined) {
      keep(`chips.${this.options.remember}`, this.view.chips);
      keep(`names.${this.options.remember}`, [...this.names].filter(([chip]) => this.view.chips.includes(chip)));
    }
    this.events.changed(this.view);
  }

  private took(given: State): void {
    this.latest = given;
    const { paused } = this;
    if (paused !== undefined && !this.limited && given.seq === paused.seq && given.epoch !== this.epoch) {
      this.epoch = given.epoch;
      this.change({}, true); // other frames match under other definitions
      return;
    }
    const state = paused !== undefined && given.seq === paused.seq ? { ...given, fit: Math.min(given.fit, paused.fit) } : given;
    this.state = state;
    this.marks.take(state);
    const anew = state.epoch !== this.epoch;
    this.epoch = state.epoch;
    const renumbered = this.cuts >= 0 && state.cuts >= 0 && state.cuts !== this.cuts;
    this.cuts = state.cuts < 0 ? this.cuts : state.cuts;
    if (renumbered) {
      this.moves.renumbered();
      void this.moveReference();
    }
    const turned = state.order !== this.order;
    this.order = state.order;
    if (anew && !turned) {
      this.list.reset(!renumbered); // the same frames, decoded again
    }
    if (turned) {
      this.list.reorder(state.sorted !== undefined);
    }
    this.list.update(state, this.marks.numbers);
    this.tookSort(state);
    this.minimap?.update(state);
    this.line.show(state, this.socket.connection, this.isPaused);
    this.drawChips();
    this.mistakesSeen?.();
    this.checkEmpty();
    this.shelf.changed(state, anew || state.seq !== this.drawnSeq);
    this.drawnSeq = state.seq;
    const wrong = state.mistakes.some((m) => m.in === "filter" || m.in === "chip"); // then no list exists to go to it in
    if (!wrong) {
      this.moves.start(state);
    }
    this.events.state?.(state, this.socket.connection);
    this.counted?.();
  }

  private connected(connection: Connection): void {
    if (connection === "open") {
      this.line.say(""); // failed requests are repeated
      if (this.paused !== undefined && !this.limited) {
        this.show();
      }
      this.list.reset(true); // the same rows, loaded again
    }
    this.line.show(this.state, connection, this.isPaused);
    this.checkEmpty();
    this.events.state?.(this.state, connection);
  }

  /** Cycles the sorting by a column: ascending, descending, none. */
  private sort(id: string): void {
    this.setSort(nextSort(this.view.sort, id));
  }

  private setSort(sort: Sort | undefined): void {
    if (sameSort(sort, this.view.sort)) {
      return;
    }
    const { sort: _, ...rest } = this.view;
    this.view = sort === undefined ? rest : { ...rest, sort };
    keepSort(this.options.remember, sort);
    this.list.showSort(sort, true);
    this.change({}, true);
    announce(sort === undefined ? "Original order" : `Sorted by ${columnWords(sort.by)}, ${sort.desc ? "descending" : "ascending"}`);
  }

  private sortAnew(): void {
    const { sort } = this.view;
    if (sort !== undefined) {
      this.setSort({ ...sort, again: ++this.again });
    }
  }

  private tookSort(state: State): void {
    const wrong = state.mistakes.find((m) => m.in === "sort");
    if (wrong !== undefined && !sameSort(this.view.sort, state.sorted)) {
      notify(`The list cannot be sorted by ${columnWords(this.view.sort?.by ?? "")}: ${wrong.message}`, "warn");
      this.setSort(state.sorted);
      return;
    }
    this.list.showSort(this.view.sort, !sameSort(this.view.sort, state.sorted));
  }

  /** A menu of all shown columns to sort by. */
  private sortMenu(): void {
    const now = this.view.sort;
    const items: MenuItem[] = this.columns.shown.map((c) => ({
      group: "Sort by", title: now?.by === c.id ? sortWords(now) : c.words, run: () => this.sort(c.id),
    }));
    items.push({ group: "Order", title: "Original order", run: () => this.setSort(undefined), disabled: now === undefined });
    openMenu(this.list.anchor(), { label: "Sort by", items });
  }

  private showMap(on: boolean): void {
    this.listHost.classList.toggle("mapped", on);
    if (!on) {
      this.minimap?.destroy();
      this.minimap = undefined;
      return;
    }
    this.minimap = new Minimap({
      ask: (buckets, signal) => this.socket.ask("map", { buckets }, signal),
      view: () => this.list.seen,
      scrollTo: (first) => this.list.scrollTo(first),
      scrollBy: (px) => this.list.scrollBy(px),
    });
    this.listHost.append(this.minimap.element);
    this.minimap.update(this.state);
  }

  private columnsChanged(): void {
    const fields = this.columns.fields;
    if (fields.join("\n") !== this.view.columns.join("\n")) {
      this.change({ columns: fields }, true);
    }
  }

  private drawChips(): void {
    this.chipBar.show(this.view.chips, this.view.highlight, this.names, this.state.mistakes);
  }

  private addChip(chip: string, label?: string): void {
    if (this.view.chips.includes(chip)) {
      return;
    }
    if (this.view.chips.length >= mostChips) {
      notify(`There are already ${mostChips} chips: remove some first.`, "warn");
      return;
    }
    if (label !== undefined) {
      this.names.set(chip, label);
    }
    this.choose({ chips: [...this.view.chips, chip] });
    announce(chipLabel(chip, this.names));
  }

  private removeChip(chip: string): void {
    if (this.view.chips.includes(chip)) {
      this.choose({ chips: this.view.chips.filter((c) => c !== chip) });
    }
  }

  /** Applies a filter, through the box if there is one. */
  private applyFilter(text: string, how: How): void {
    const filter = combine(this.view.filter, text, how);
    if (this.filterBox === undefined) {
      this.choose({ filter });
    } else {
      void this.filterBox.set(filter, true);
    }
  }

  private clearFilter(): void {
    void this.filterBox?.set("", false);
    this.choose({ filter: "", chips: [] });
    this.list.focus();
  }

  // 3. The current row.

  /** Moves the time reference to the new number of its message. */
  private async moveReference(): Promise<void> {
    const before = this.list.timeReference;
    const frame = before?.id;
    if (frame === undefined) {
      return;
    }
    try {
      const { meant } = await this.socket.ask("where", { frame });
      if (meant !== undefined && this.list.timeReference === before) {
        this.list.setReference((await this.socket.ask("frame", { n: meant })).row);
      }
    } catch (error) {
      this.failed(error);
    }
  }

  private selected(row: FrameRow | undefined): void {
    const jumped = this.moves.arrived(row);
    this.shelf.selected(row);
    this.line.selected(row?.n ?? 0, this.named.of(row));
    this.events.select(row, jumped);
  }

  /** The frames that a key applies to: the loaded ones of the selection, or the current one. */
  private about(): FrameRow[] {
    const rows: FrameRow[] = [];
    for (const range of this.list.chosen()) {
      for (let pos = range.start; pos < range.end && rows.length < mostMarks; pos++) {
        const row = this.list.rowAt(pos);
        if (row !== undefined) {
          rows.push(row);
        }
      }
    }
    if (rows.length === 0 && this.list.row !== undefined) {
      rows.push(this.list.row);
    }
    return rows;
  }

  /** Marks at once and waits for a letter, which takes the mark back. */
  private markOrName(): void {
    this.named.stop();
    if (this.marks.sets) {
      this.marks.toggle();
      this.named.offer(() => undefined);
    } else {
      this.named.offer(() => this.marks.toggle());
    }
  }

  private toggleReference(): void {
    const row = this.list.row;
    const away = row === undefined || row.n === this.list.timeReference?.n;
    this.list.setReference(away ? undefined : row);
    this.columns.setMode(away ? "start" : "reference");
    this.list.refresh();
    announce(away ? "Times are relative to the first frame" : `Times are relative to frame ${row.n}`);
  }

  private hide(): void {
    const type = this.list.row?.type ?? "";
    if (type !== "") {
      this.addChip(not(type));
    }
  }

  private only(): void {
    const type = this.list.row?.type ?? "";
    if (type !== "") {
      if (this.view.chips.includes(type)) {
        this.removeChip(type);
      } else {
        this.addChip(type);
      }
    }
  }

  /** Applies rules for colors; undefined: those of the project. */
  private putColors(rules: readonly ColorRule[] | undefined): void {
    this.change({ colors: this.colors.put(rules) }, true);
  }

  private async manageColors(offered = ""): Promise<void> {
    const open = (await dialogs())?.colorsDialog({ colors: () => this.view.colors, put: (rules) => this.putColors(rules), shared: this.shared, mistakes: () => this.state.mistakes }, offered);
    this.mistakesSeen = open?.checked;
    await open?.closed;
    this.mistakesSeen = undefined;
    this.list.focus();
  }

  /** Highlights frames on the user's request; "" is none. */
  highlightBy(filter: string): void {
    this.setHighlight(filter);
    this.events.changed(this.view);
  }

  private async nextHighlighted(back: boolean): Promise<void> {
    const { highlight } = this.view;
    if (highlight === "") {
      notify("Nothing is highlighted. Press Shift+Enter in the filter.", "warn");
      return;
    }
    await this.moves.toMatch(highlight, back, "No highlighted frame in the list.");
  }

  /** Compares the two selected frames, or the current one with another. */
  private compare(with_?: FrameRow): void {
    const rows = this.about();
    const a = rows.length === 2 ? rows[0] : with_ === undefined ? undefined : this.list.row;
    const b = rows.length === 2 ? rows[1] : with_;
    if (a === undefined || b === undefined || a.n === b.n) {
      notify("Select two frames with Ctrl+click, then compare them.", "warn");
      return;
    }
    this.shelf.open("diff", true, (drawer) => drawer.compare?.(a.n, b.n));
  }

  // 4. Menus.

  private rowMenu(row: FrameRow, column: string, anchor: Anchor): void {
    const state = this.state;
    const current = this.before;
    openMenu(anchor, {
      label: `Frame ${row.n}`,
      items: rowMenu(
        row,
        {
          state, column,
          fields: this.sentFields,
          filter: this.view.filter,
          marked: this.marks.numbers.has(row.n),
          noted: state.notes[String(row.n)] !== undefined,
          isReference: this.list.timeReference?.n === row.n,
          chosen: this.list.ranges.count,
          current: current?.n ?? 0,
        },
        {
          filter: (text, how) => this.applyFilter(text, how),
          prepare: (text) => (this.filterBox === undefined ? this.applyFilter(text, "and") : void this.filterBox.prepare(text, this.view.filter === "" ? "replace" : "and")),
          hide: () => this.hide(),
          only: () => this.only(),
          conversation: () => this.addChip(conversationOf(row, state)),
          follow: () => this.shelf.open("follow", true, (d) => d.follow?.(row.n)),
          more: () => this.rowItems?.(row) ?? [],
          colors: () => this.colorsMenu(row.type ?? "", anchor),
          compare: () => this.compare(current),
          export: () => this.events.export(this.list.chosen()),
          packet: () => this.events.packet(row),
          run: (id) => this.runByMenu(id),
        },
      ),
    });
  }

  private colorsMenu(type: string, anchor: Anchor): void {
    const hue = this.view.colors.find((c) => c.filter === type)?.hue ?? 0;
    openMenu(anchor, { label: `Color of ${type}`, items: [...colorMenu(hue, (h) => this.putColors(withColor(this.view.colors, type, h))), { group: "More", title: "Colors by filter …", run: () => this.manageColors() }] });
  }

  private runByMenu(id: string): void {
    const a = this.actions();
    const known: Readonly<Record<string, () => void>> = {
      table: () => a.drawer("table"), open: a.open, mark: () => this.marks.toggle(), note: a.note, reference: a.reference, copy: a.copy, link: a.link,
    };
    known[id]?.();
  }

  private columnsMenu(anchor: Anchor, id: string): void {
    const { list } = this;
    const items = columnItems(this.columns, id, this.shared, {
      sort: this.view.sort,
      setSort: (sort) => this.setSort(sort),
      hasReference: list.timeReference !== undefined,
      widthOf: (column) => list.widthOf(column),
      changed: () => list.rebuild(),
      colors: () => void this.manageColors(),
    });
    openMenu(anchor, { label: this.columns.all.find((c) => c.column.id === id)?.column.words ?? "Columns", items });
  }

  /** What is not beside the list: at the end of the line of the filter. */
  private moreMenu(): void {
    const { decodeAs, packets } = this.options;
    const listed = this.state.packets >= 0;
    openMenu(this.more, {
      label: "More tools",
      items: [
        ...this.shelf.items,
        { group: "List", title: "Columns…", run: () => this.columnsMenu(this.more, "") },
        { group: "List", title: "Colors…", run: () => void this.manageColors() },
        { group: "List", title: "Find…", hint: "Ctrl F", run: () => this.actions().find() },
        ...(packets === undefined || this.state.live ? [] : [{ group: "List", title: "Packet events", note: listed ? "are rows" : "FIN, RST, losses as rows", ...roleItem(), run: () => packets(!listed) }]),
        ...(decodeAs === undefined ? [] : [{ group: "Capture", title: "Decode as…", run: decodeAs }]),
        { group: "Capture", title: "Export…", run: () => this.events.export([]) },
      ],
    });
  }

  private manageChips(): void {
    const items: MenuItem[] = this.view.chips.map((chip) => ({ group: "Remove", title: chipLabel(chip, this.names), run: () => this.removeChip(chip) }));
    if (items.length > 1) {
      items.push({ title: "Remove all", run: () => this.choose({ chips: [] }) });
    }
    const hidden = this.view.chips.filter((c) => c.startsWith("!(")).length;
    if (hidden > 0 && hidden < this.view.chips.length) {
      items.push({ title: "Remove all hiding chips", run: () => this.choose({ chips: this.view.chips.filter((c) => !c.startsWith("!(")) }) });
    }
    items.push({ group: "More", title: "Frame types …", run: () => this.shelf.open("types") });
    const anchor = this.chipBar.element.lastElementChild;
    openMenu(anchor instanceof HTMLElement && !this.chipBar.element.hidden ? anchor : this.list.anchor(), { label: "Chips", items });
  }

  // 5. Drawers.

  private drawerHost(): DrawerHost {
    const pane = this;
    return {
      get state() {
        return pane.state;
      },
      get row() {
        return pane.list.row;
      },
      get chosen() {
        return pane.list.chosen();
      },
      get chips() {
        return pane.view.chips;
      },
      ask: (kind, question, signal) => this.socket.ask(kind, question, signal),
      filter: (text) => this.applyFilter(text, "and"),
      addChip: (chip, label) => this.addChip(chip, label),
      removeChip: (chip) => this.removeChip(chip),
      goTo: (n) => void this.goTo(n),
      goToFirst: (filter) => void this.moves.toFirst(filter),
      addColumn: (path) => this.addColumn(path),
      follow: (n) => this.shelf.open("follow", true, (d) => d.follow?.(n)),
      markers: this.options.markers,
      failed: (error) => this.failed(error),
    };
  }

  // 6. States without rows.

  /** Sets the text of live traffic without frames. */
  waitFor(text: string): void {
    this.vacant.waiting = text;
    this.checkEmpty();
  }

  private checkEmpty(): void {
    if (this.vacant.show(this.state, this.socket.connection, this.view) === "gone") {
      this.gone();
    }
  }

  /** The capture was deleted: removes controls that could only fail. */
  private gone(): void {
    const focused = this.element.contains(document.activeElement);
    this.endCommands();
    this.endSorting();
    this.element.classList.add("gone");
    this.line.element.hidden = true;
    announce("This capture has been deleted");
    if (focused) {
      setTimeout(() => this.vacant.element.querySelector("a")?.focus());
    }
  }

  private failed(error: unknown): void {
    if (!isGivenUp(error)) {
      const text = error instanceof FramesError ? error.message : "Failed.";
      this.line.say(text, true);
    }
  }

  // 7. Keys.

  private listen(): void {
    const { signal } = this.stopped;
    addEventListener("popstate", () => {
      const sort = addressSort();
      if (sortText(sort) !== sortText(this.view.sort)) {
        this.setSort(sort);
      }
    }, { signal });
    this.list.element.addEventListener("keydown", (event) => {
      if (!event.defaultPrevented && !event.isComposing && event.target instanceof Element && event.target.matches(".frames-scroll")) {
        runKey(event);
      }
    }, { signal });
    // The current row before the menu opens, for "compare with".
    this.list.element.addEventListener("mousedown", (event) => {
      this.before = this.list.row;
      const onRow = event.target instanceof Element && event.target.closest(".frame") !== null;
      this.moves.pressed(onRow, onRow && !event.ctrlKey && !event.metaKey && !event.shiftKey);
    }, { capture: true, signal });
    this.list.element.addEventListener("keydown", () => (this.before = undefined), { capture: true, signal });
  }

  private isReady(): boolean {
    const at = document.activeElement;
    return this.element.isConnected && this.element.offsetParent !== null && (at === null || at === document.body || this.list.focused || ((this.element.contains(at) || this.status.contains(at) || at.closest(".frame-switches") !== null) && !isTyping(at) && !this.shelf.element.contains(at)));
  }

  private actions(): FrameActions {
    const row = (run: (row: FrameRow) => void) => (): void => {
      const current = this.list.row;
      if (current !== undefined) {
        run(current);
      }
    };
    const { list } = this;
    return {
      ready: () => this.isReady(),
      hasRow: () => this.isReady() && list.row !== undefined,
      finds: () => this.findBar.focused,
      step: (by, extend) => this.moves.walk(by, extend),
      page: (by, extend) => this.moves.walk(by * list.pageSize, extend),
      edge: (end, extend) => this.moves.jumpTo(end ? list.size - 1 : 0, extend),
      selectAll: () => list.selectAll(),
      jump: (by, back) => void this.moves.next(by, back),
      mark: () => this.markOrName(),
      named: () => this.named.choose(),
      note: () => this.marks.editNote(),
      reference: () => this.toggleReference(),
      hide: () => this.hide(),
      only: () => this.only(),
      manage: () => this.manageChips(),
      copy: row((r) => this.events.copy(r, list.anchor())),
      link: row((r) => this.events.link(r)),
      open: row((r) => this.events.open(r)),
      travel: (by) => void this.moves.travel(by),
      find: () => this.findBar.open(),
      findNext: (back) => void this.findBar.run(back),
      goTo: () => {
        askText(list.anchor(), { label: "Go to frame", text: "", button: "Go", pattern: "[0-9]+", most: 15 }, (text) => {
          const n = Number(text);
          if (Number.isSafeInteger(n) && n > 0) {
            void this.goTo(n);
          }
        });
      },
      columns: () => this.columnsMenu(list.anchor(), ""),
      colors: () => this.manageColors(this.list.row?.type ?? ""),
      highlighted: (back) => void this.nextHighlighted(back),
      drawer: (name) => this.shelf.toggle(name as DrawerName),
      compare: () => this.compare(),
      rowMenu: row((r) => this.rowMenu(r, "", list.anchor())),
      escape: () => {
        if (list.clearSelection()) {
          return;
        }
        if (!this.findBar.element.hidden) {
          this.findBar.close();
        } else if (this.view.sort !== undefined) {
          this.setSort(undefined);
        } else {
          list.leave();
        }
      },
      follow: () => {
        if (this.state.live && this.state.sorted === undefined) {
          list.follow();
        } else {
          list.go(list.size - 1);
        }
      },
    };
  }
}
