// The shown message: its bytes, its fields and its layout, in their panes.

import { load, prefetch } from "../kit/load";
import { notify } from "../kit/notify";
import { nextNumbers, numbers, onNumbers } from "../kit/numbers";
import { Bookmarks, type BookmarksHost } from "./bookmarks";
import type { ByteFind } from "./hex/find";
import { type HexEvents, HexGrid, type HexSettings } from "./hex/index";
import { Layout, type LayoutData } from "./layout";
import { Message, type MessageData } from "./model";
import type { Action, Answer } from "./socket";
import { Tree } from "./tree";

/** The page. */
export interface ShownHost extends Pick<HexEvents, "hover" | "select" | "edit" | "undo" | "redo"> {
  mayEdit(): boolean;
  menu(byte: number, at: { x: number; y: number }): void; // of a byte
  selectBytes(start: number, end: number): void; // like the user
  ask(action: Action): Promise<Answer>;
  readonly bookmarks: Omit<BookmarksHost, "grid" | "size" | "select">;
}

const find = () => import("./hex/find");

const settingsKey = "wirebench.hex";

function part(id: string): HTMLElement {
  return document.getElementById(id) ?? document.createElement("div");
}

/** The panes of the message. */
export class ShownMessage {
  readonly hex: HexGrid;
  readonly tree = new Tree(part("tree-rows"), part("fields-body"));
  readonly layout = new Layout(part("layout-body"), part("layout-diagram"), part("layout-rows"));
  readonly bookmarks: Bookmarks;
  message: Message | null = null;
  size = 0; // in bytes, with an edit that the server does not have yet
  private readonly host: ShownHost;
  private drawn: Message | null = null; // in the hex grid
  private find: ByteFind | undefined; // once it was opened

  /** `bookmarks` are those of the input, as a text. */
  constructor(host: ShownHost, bookmarks: string) {
    this.host = host;
    const grid = document.getElementById("hex");
    const live = document.createElement("div");
    live.className = "hex-host";
    live.hidden = true; // until the server sends bytes: without a websocket those of the page stay
    grid?.append(live);
    this.hex = new HexGrid(live, {
      hover: (byte) => host.hover(byte),
      select: (start, end, caret, how) => host.select(start, end, caret, how),
      edit: (data, start, end) => host.edit(data, start, end),
      undo: () => host.undo(),
      redo: () => host.redo(),
      menu: (byte, at) => host.menu(byte, at),
      notice: (said) => notify(said, "warn"),
      mayEdit: () => host.mayEdit(),
      offsets: () => notify(`Numbers: ${nextNumbers()}`),
    });
    this.bookmarks = new Bookmarks({ ...host.bookmarks, grid: this.hex, size: () => this.size, select: (start, end) => host.selectBytes(start, end) }, bookmarks);
    grid?.before(this.bookmarks.bar);
    try {
      const columns = matchMedia("(max-width: 600px)").matches ? 0 : 16; // as many as fit there
      this.hex.apply({ ...this.hex.settings, columns, ...(JSON.parse(localStorage.getItem(settingsKey) ?? "{}") as object) });
    } catch {
      // The stored value is invalid.
    }
    const decimal = (): void => this.hex.apply({ ...this.hex.settings, decimal: numbers() === "decimal" });
    decimal();
    onNumbers(() => {
      decimal();
      this.tree.list.redraw();
      this.layout.redraw();
    });
    this.tree.isList = (path) => this.layout.isList(path);
    prefetch(find);
  }

  /** The shown bytes, with edits. */
  get bytes(): Uint8Array {
    return this.message?.data ?? new Uint8Array();
  }

  /** Shows the layout of the definition. */
  showLayout(layout: LayoutData): void {
    this.layout.show(layout);
    this.tree.setHoles(layout.holes);
  }

  /** Shows a message. */
  show(data: MessageData): void {
    const shown = new Message(data);
    this.message = shown.empty ? null : shown;
    document.documentElement.classList.toggle("no-message", shown.empty);
    const live = document.querySelector<HTMLElement>(".hex-host");
    if (live?.hidden === true) {
      live.parentElement?.removeAttribute("tabindex");
      live.parentElement?.replaceChildren(live);
      live.hidden = false;
    }
    this.size = shown.data.length;
    this.bookmarks.draw();
    if (!shown.looksLike(this.drawn)) {
      this.hex.show(shown.hex(), { scroll: true });
      this.find?.changed();
    }
    this.drawn = shown;
    this.tree.show(this.message);
  }

  /** The grid has edited the bytes, of which those from start to end are new. */
  edited(data: Uint8Array, start: number, end: number): void {
    this.bookmarks.move(start, end - start + this.size - data.length, end - start);
    this.size = data.length;
    this.drawn = null; // the grid shows its own edit
    this.find?.changed();
  }

  /** Whether the bytes of a message are shown. */
  get hasBytes(): boolean {
    return this.message !== null && document.getElementById("hex")?.hidden === false;
  }

  /** Does something with the search in the bytes. */
  async findBytes(what: (find: ByteFind) => void): Promise<void> {
    const hex = document.getElementById("hex");
    const module = await load(find);
    if (module !== undefined && hex !== null) {
      this.find ??= new module.ByteFind(hex, { grid: this.hex, ask: (action) => this.host.ask(action), select: (start, end) => this.host.selectBytes(start, end) });
      what(this.find);
    }
  }

  /** Changes settings of the grid, and stores them. */
  setGrid(change: Partial<HexSettings>): void {
    const { decimal, ...rest } = { ...this.hex.settings, ...change };
    this.hex.apply({ ...rest, decimal });
    try {
      localStorage.setItem(settingsKey, JSON.stringify(rest));
    } catch {
      // The settings then last as long as the page.
    }
  }
}
