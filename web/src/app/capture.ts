// The page of a capture: the list of its frames beside the panes of the workbench, which show the selected frame.
//
//   #frames                     the list and its tools: frames/panel.ts, filterbox/
//   #byte-layer                 which bytes are shown: the frame, or its packets

import type { PagePicked } from "../api/api";
import { lookAtCaptures, onDeleted } from "../projects/captures";
import { register } from "../kit/commands";
import { copyText } from "../kit/copy/index";
import { canName, nameCode } from "../library/define";
import { FilterBox, localPlace } from "../frames/filterbox/index";
import { sayWidened } from "../frames/filterbox/widened";
import { Frames, type FrameRow, type Range, type State, type View } from "../frames/index";
import type { Connection, FrameAnswer, FrameName, FrameOffer } from "../api/frames";
import { projectList } from "../frames/projectlist";
import { opcode, sentence } from "../kit/frametext";
import { urlOf, type At, failure, request } from "../kit/http";
import { type Anchor, type MenuItem, openMenu } from "../kit/menu";
import { notify } from "../kit/notify";
import { LiveBar } from "../live/live";
import type { Held } from "../live/held";
import type { Shown } from "../live/operate";
import { load } from "../kit/load";
import { listedNames } from "../library/messages";
import { type FieldForFilter, type Page, workbenchPage } from "./page";
import { markersOf, openRelays } from "../kit/relays";
import { openSettings } from "../projects/settings";
import { askText } from "../kit/notebox";
import { Origin } from "../message/origin";
import { PacketLayers } from "../message/packets";
import { changed, focusPane, showPane } from "../kit/panes";
import { copyMenus, dialogs } from "../kit/dialogs";
import { lookOnly, roleItem } from "../kit/role";

const mostExported = 20_000; // characters of an address that lists frames

/** A position in a capture. Chips are undefined for an address without a view: the stored chips apply. */
interface Place {
  filter: string;
  highlight: string;
  chips: string[] | undefined;
  frame: FrameName; // 0: none
  number: number; // its number
  selection: { start: number; end: number } | undefined;
}

const mostPushed = 40; // history entries in ten seconds: browsers limit them, and a held key makes many

/** The position in the address: ?f=FILTER&h=HIGHLIGHT&c=CHIP&c=CHIP#n=NUMBER&frame=IDENTITY&sel=OFFSET+LENGTH; old addresses lack the identity. */
function readPlace(): Place {
  const asks = new URL(location.href).searchParams;
  const parts = new URLSearchParams(location.hash.slice(1));
  const sel = /^(\d+)[ +](\d+)$/.exec(parts.get("sel") ?? "");
  const start = Number(sel?.[1] ?? 0);
  const id = parts.get("frame") ?? "";
  const number = Number(parts.get("n") ?? (id.includes(":") ? 0 : id)) || 0;
  return {
    filter: asks.get("f") ?? "",
    highlight: asks.get("h") ?? "",
    chips: ["f", "h", "c"].some((name) => asks.has(name)) || parts.has("n") || id !== "" ? asks.getAll("c").filter((chip) => chip !== "") : undefined,
    frame: id.includes(":") ? id : number,
    number,
    selection: sel === null ? undefined : { start, end: start + Number(sel[2]) },
  };
}

/** The part of an address that names a frame: the number for the reader, the identity for the page. */
function placeOf(row: FrameRow): string {
  return `n=${row.n}${row.id === undefined ? "" : `&frame=${row.id}`}`;
}

/** Writes a view to the query of an address. */
function asked(url: URL, view: View): void {
  for (const [name, filter] of [["f", view.filter], ["h", view.highlight]] as const) {
    if (filter !== (url.searchParams.get(name) ?? "")) { // otherwise its spelling stays
      if (filter === "") {
        url.searchParams.delete(name);
      } else {
        url.searchParams.set(name, filter);
      }
    }
  }
  const { chips } = view;
  if (chips.join("\n") !== url.searchParams.getAll("c").join("\n")) {
    url.searchParams.delete("c");
    for (const chip of chips) {
      url.searchParams.append("c", chip);
    }
  }
}

function isLive(): boolean {
  return document.getElementById("live-bar") !== null;
}

const mostTypesAsked = 8;

/** Values of a property of frames that comes from their connections, as filter literals. */
function seenInFrames(field: string, conns: readonly Connection[]): string[] {
  const names = conns.map((c) => c.name).filter((name) => name.includes("-"));
  const ends = names.flatMap((name) => name.split("-", 2));
  const quoted = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, 100).map((text) => `"${text}"`);
  switch (field) {
    case "conn":
      return quoted(names);
    case "src": case "dst":
      return quoted(ends);
    case "client":
      return quoted(names.map((name) => name.split("-")[0] ?? ""));
    case "server":
      return quoted(names.map((name) => name.split("-")[1] ?? ""));
    case "ip": case "srcip": case "dstip":
      return quoted(ends.map((end) => end.slice(0, end.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1")));
    case "port": case "srcport": case "dstport":
      return [...new Set(ends.map((end) => end.slice(end.lastIndexOf(":") + 1)))].slice(0, 100);
    case "proto":
      return quoted(conns.map((c) => c.proto));
    default:
      return [];
  }
}

const proposeMillis = 300;
const enoughFrames = 50; // of live traffic, after which it is looked at again

class CapturePage implements Shown {
  private readonly main: HTMLElement;
  private readonly at: At;
  private readonly id: string;
  private readonly page: Page;
  readonly frames: Frames;
  private readonly box: FilterBox;
  private readonly packets: PacketLayers;
  private readonly origin: Origin;
  private readonly workspace: string;
  private draft: { name: string; text: string } | undefined;
  private drafting: ReturnType<typeof setTimeout> | undefined;
  private shown: FrameAnswer | undefined;
  private chosen: { row: FrameRow; jumped: boolean } | undefined; // the frame that is shown, or on its way; undefined for none, and for a held message
  private awaited = false; // it is on its way: the one before is shown
  private name: string; // of the capture
  private gone = false; // the capture has been deleted
  private selection: { start: number; end: number } | undefined;
  private place = readPlace();

  constructor(main: HTMLElement, host: HTMLElement, page: Page) {
    const workspace = main.dataset["workspace"] ?? "";
    const id = main.dataset["capture"] ?? "";
    this.main = main;
    main.toggleAttribute("data-unchosen", this.place.number === 0);
    this.id = id;
    this.at = { project: workspace, id };
    this.page = page;
    this.workspace = workspace;
    this.name = main.dataset["captureName"] ?? "";
    this.frames = new Frames(host, {
      channel: (events) => page.connected.channel("frames", { capture: id }, events),
      remember: `${workspace}/${id}`,
      shared: projectList(),
      filter: this.place.filter,
      highlight: this.place.highlight,
      ...(this.place.chips === undefined ? {} : { chips: this.place.chips }),
      frame: this.place.frame,
      frameNumber: this.place.number,
      markers: markersOf(this.at),
      decodeAs: openSettings,
      packets: (on) => void this.change({ packets: on }),
      events: {
        select: (row, jumped) => {
          if (this.heldHex === undefined || row?.n !== this.beforeHeld) {
            this.leaveHeld(false);
            this.select(row, jumped);
          }
        },
        found: (n, range) => this.point(n, range),
        open: () => this.openFields(),
        mark: (frames, on) => void this.change(on ? { mark: frames } : { unmark: frames }),
        note: (notes) => void this.change({ notes }),
        copy: (row, anchor) => void this.copy(row, anchor),
        link: (row) => this.link(row),
        packet: (row) => this.showPacket(row),
        export: (chosen) => this.exportMenu(chosen),
        changed: (view) => this.changed(view),
        state: (state, connection) => this.took(state, connection === "gone"),
      },
    });
    onDeleted(id, () => this.frames.socket.gone());
    this.box = new FilterBox(this.frames.filterHost, {
      workspace,
      capture: id,
      shared: projectList(),
      draft: () => this.draft,
      apply: (text) => {
        this.frames.setFilter(text);
        this.changed(this.frames.shown);
      },
      highlight: (text) => this.frames.highlightBy(text),
      values: (path) => this.values(path),
      leave: () => this.frames.focus(),
    });
    this.frames.filterBox = this.box;
    const { columns, colors } = this.frames.shown;
    void sayWidened(workspace, id, [...this.box.stored.presets().map((p) => p.text), ...colors.map((c) => c.filter), ...columns], localPlace());
    if (this.place.filter !== "") {
      this.box.set(this.place.filter, true);
    }
    this.packets = new PacketLayers(this.at, {
      opened: (n) => void this.framesOf(n),
      selected: ({ start, end }) => page.selectBytes(start, end),
      inspect: (place) => page.inspectOther(place),
    });
    this.origin = new Origin({
      note: () => this.frames.editNote(),
      packet: (n) => {
        const pane = document.getElementById("packet");
        this.packets.openPacket(n);
        if (pane !== null) {
          showPane(pane);
        }
      },
      frame: (n) => void this.frames.goTo(n),
      define: (frame, anchor) => this.define(frame, anchor),
    });
    this.frames.list.element.addEventListener("mousedown", (event) => {
      if (event.target instanceof Element && event.target.closest(".frame") !== null) {
        this.leaveHeld();
      }
    }, { capture: true });
    page.attach({
      selected: (selection) => {
        this.selection = selection;
        if (selection !== undefined) {
          this.place.selection = undefined; // the bytes differ
        }
        this.packets.select(selection);
        this.write();
      },
      draft: (draft) => this.decodeBy(draft),
      shown: () => {
        const edit = this.heldHex === undefined ? undefined : page.editOf(this.heldHex);
        if (edit !== undefined) {
          this.held?.edited(edit);
        }
      },
      picked: (frame) => this.picked(frame),
      go: (frame) => void this.frames.goTo(frame),
      begun: (name, was) => this.begun(name, was),
      fieldMenu: (field) => [
        { title: "Filter: this value", run: () => this.filterBy(field, "replace") },
        { title: "Filter: and this value", run: () => this.filterBy(field, "and") },
        { title: "Filter: but not this value", run: () => this.filterBy(field, "and not") },
        { title: "Find this value in all frames", run: () => this.filterBy(field, "anywhere") },
        { title: "Show over time", run: () => void field().then((f) => f !== undefined && f.path !== "" ? this.frames.graph(f.path) : this.cannot()) },
        { title: "Show as a column", run: () => void field().then((f) => f !== undefined && f.path !== "" ? this.frames.addColumn(f.path) : this.cannot()) },
      ],
    });
    register(
      { id: "frames-filter", title: "Filter the frames", group: "Frames", keys: ["/"], run: () => this.box.focus() },
      { id: "frames-list", title: "Frames", group: "Go to", keys: ["Shift+L"], run: () => this.frames.focus() },
      { id: "frames-share", title: "Share the listed frames as a page, without secrets …", group: "Frames", enabled: () => !this.gone && !lookOnly("commenter"), run: () => this.shareListed() },
      { id: "frames-export", title: "Export the listed frames", group: "Frames", keys: isLive() ? ["Shift+X"] : ["x"], enabled: () => !this.gone, run: () => this.exportMenu(this.frames.selectedRows) }, // x drops the held message
    );
    addEventListener("popstate", () => {
      this.place = readPlace();
      this.frames.setHighlight(this.place.highlight);
      this.frames.setView(this.place.filter, this.place.chips ?? []); // before the address is written
      this.box.set(this.place.filter, true);
      const { frame, selection } = this.place;
      if (this.shown !== undefined && this.isPlace(this.shown.row) && !this.awaited && selection !== undefined) {
        this.point(this.shown.n, selection);
      }
      if (frame !== 0) {
        void this.frames.goTo(frame, false);
      }
    });
    const url = new URL(location.href);
    asked(url, this.frames.shown); // with the stored chips, too
    history.replaceState(history.state, "", url.href);
    this.frames.focus();
  }

  /** Filters by a field of the shown frame. */
  private filterBy(field: () => Promise<FieldForFilter | undefined>, how: "replace" | "and" | "and not" | "anywhere"): void {
    void field().then((f) => {
      if (f?.literal === undefined || (f.path === "" && how !== "anywhere")) {
        this.cannot();
      } else if (how === "replace" || how === "anywhere") {
        void this.box.set(how === "replace" ? `${f.path} == ${f.literal}` : `= ${f.literal}`, true);
      } else {
        void this.box.prepare(`${f.path} == ${f.literal}`, how);
      }
    });
  }

  /** Moves the focus from the list to the fields. */
  private openFields(): void {
    const pane = document.getElementById("fields-pane");
    if (pane !== null) {
      showPane(pane);
      focusPane(pane);
    }
    this.page.focusFields();
  }

  /** Shows the frames of a packet; 0 is none. */
  private async framesOf(n: number): Promise<void> {
    const near = this.shown?.n ?? 0;
    if (n === 0 || near === 0) {
      this.origin.showPacket(undefined);
      return;
    }
    try {
      const answer = await this.frames.socket.ask("packet", { n, near });
      if (this.shown?.n === near) {
        this.origin.showPacket(answer);
      }
    } catch {
      // The packet itself is shown regardless.
    }
  }

  /** Starts a definition of a frame without one, under an editable name. */
  private define(frame: FrameAnswer, anchor: HTMLElement): void {
    const { offer } = frame;
    if (offer === null || offer === undefined) {
      return;
    }
    const begin = (name: string): void => {
      const pane = document.getElementById("definition-pane");
      if (pane !== null) {
        showPane(pane);
      }
      this.page.begin(name + (offer.first ?? ""));
    };
    if (!canName(offer)) {
      begin(offer.name);
      return;
    }
    const label = `Name of message ${opcode(offer.code)}, added to ${offer.map}`;
    askText(anchor, { label, text: offer.name, button: "Define", most: 100 }, (name) => {
      if (!/^[A-Za-z_]\w*$/.test(name)) {
        notify("Names consist of letters, digits and _", "warn");
        return;
      }
      void nameCode(this.workspace, offer, name).then((given) => given !== undefined && begin(name));
    });
  }

  private typedFor: { offer: FrameOffer; name: string } | undefined; // the definition started by typing, and its name in the code map

  /** A definition of the shown frame was started by typing, or renamed: writes its name to the code map. */
  private begun(name: string, was: string): void {
    const bare = name.replace(/\.\d+$/, "");
    if (was === "") {
      const offer = this.shown?.offer;
      this.typedFor = offer === null || offer === undefined || !canName(offer) || lookOnly() || !/^[A-Za-z_]\w*$/.test(bare) ? undefined : { offer, name: "" };
    }
    const typed = this.typedFor;
    if (typed === undefined || typed.name !== was.replace(/\.\d+$/, "") || !/^[A-Za-z_]\w*$/.test(bare)) {
      return;
    }
    const before = typed.name;
    typed.name = bare;
    void nameCode(this.workspace, typed.offer, bare, before).then((given) => {
      if (given !== undefined) {
        notify(`${bare} is ${opcode(given.code)} in ${given.map}`, "ok");
      }
    });
  }

  private cannot(): void {
    notify("Filters cannot express this: it is not a single value", "warn");
  }

  bytes(): Uint8Array {
    return this.page.bytes;
  }

  row(): FrameRow | undefined {
    return this.shown?.row;
  }

  settled(): Promise<void> {
    return this.page.settled();
  }

  form(): void {
    void this.page.focusForm();
  }

  names(): string[] {
    return listedNames();
  }

  held: Shown["held"];
  private heldHex: string | undefined; // its bytes as it came
  private beforeHeld: number | undefined; // the selected frame

  hold(m: Held | undefined, edit: string): void {
    if (m === undefined) {
      this.heldHex = undefined;
      this.select(this.frames.list.row);
      return;
    }
    this.chosen = undefined;
    this.awaited = false;
    this.shown = undefined;
    this.showDetails(true);
    this.heldHex = m.frame.hex;
    this.beforeHeld = this.frames.list.row?.n;
    this.packets.show(undefined);
    this.origin.show(undefined);
    this.page.showFrame({
      kind: "message", dir: m.frame.dir, group: m.group ?? "", name: m.name === "" ? (m.frame.name ?? "") : m.name, alternate: m.alternate ?? false, hex: m.frame.hex,
      ...(edit === "" ? {} : { edited: edit }), about: null, offer: "",
    });
  }

  /** The panes show frames again, the selected one at once if `again`. */
  private leaveHeld(again = true): void {
    if (this.heldHex === undefined) {
      return;
    }
    this.heldHex = undefined;
    this.held?.left();
    if (again) {
      this.select(this.frames.list.row);
    }
  }

  /** Whether a frame is the one of the address, or of the last selection. */
  private isPlace(row: FrameRow): boolean {
    return this.place.frame === row.n || this.place.frame === row.id;
  }

  /** Shows the details below the list, or gives the list their room. */
  private showDetails(on: boolean): void {
    if (this.main.hasAttribute("data-unchosen") === on) {
      this.main.toggleAttribute("data-unchosen", !on);
      changed(); // the lines between the panes have positions now
    }
  }

  /** Shows a frame in the panes. */
  private select(row: FrameRow | undefined, jumped = false): void {
    this.showDetails(row !== undefined);
    this.main.toggleAttribute("data-event", row?.kind === "packet");
    if (row === undefined) {
      this.chosen = undefined;
      this.awaited = false;
      this.shown = undefined;
      this.page.pickFrame(undefined);
      this.packets.show(undefined);
      this.origin.show(undefined);
      this.write();
      return;
    }
    const isSame = this.chosen !== undefined && sameFrame(this.chosen.row, row);
    if (!this.isPlace(row) && jumped) {
      this.place.selection = undefined;
    }
    this.chosen = { row, jumped: jumped || (isSame && this.awaited && this.chosen?.jumped === true) };
    if (!isSame) {
      this.awaited = true;
      this.opens = false;
      this.origin.wait();
      this.page.pickFrame({ n: row.n, ...(row.id === undefined ? {} : { id: row.id }) });
    } else if (this.shown !== undefined && !this.awaited) {
      this.show({ ...this.shown, n: row.n, row });
      this.write(); // it may have another number
    }
  }

  /** The page shows the chosen frame. */
  private picked({ lost, ...frame }: PagePicked): void {
    const { chosen } = this;
    if (chosen === undefined) {
      return;
    }
    const isNew = this.awaited;
    this.awaited = false;
    if (lost !== undefined) {
      this.shown = undefined;
      this.packets.show(undefined);
      this.origin.show(undefined);
      notify(sentence(lost), "warn");
      return;
    }
    const hex = this.page.originalHex;
    const { len } = chosen.row;
    if (isNew && len > hex.length / 2) {
      notify(`Showing the first ${(hex.length / 2).toLocaleString("en")} bytes of ${len.toLocaleString("en")}; the export has all`, "warn");
    }
    this.show({ ...frame, hex, row: chosen.row });
    this.write(chosen.jumped);
    chosen.jumped = false;
    if (this.opens) {
      this.opens = false;
      this.packets.open();
    }
  }

  private show(frame: FrameAnswer): void {
    this.shown = frame;
    this.packets.show(frame);
    this.origin.show(frame);
    this.origin.showNote(this.frames.noteOf(frame.n));
    const { selection } = this.place;
    if (selection !== undefined && this.isPlace(frame.row)) { // of the address, or found
      this.page.selectBytes(selection.start, selection.end);
    }
  }

  private took(state: State, gone: boolean): void {
    if (gone && !this.gone) {
      this.gone = true;
      document.title = `Deleted: ${document.title}`;
      this.packets.show(undefined); // not available
      this.origin.show(undefined);
      lookAtCaptures();
    }
    if (state.name !== "" && state.name !== this.name) {
      this.rename(state.name);
    }
    if (this.shown !== undefined) {
      this.origin.showNote(this.frames.noteOf(this.shown.n));
    }
    this.propose(state);
  }

  private proposed = ""; // the list for which proposals were asked for
  private proposing: ReturnType<typeof setTimeout> | undefined;
  private look: (() => Promise<void>) | undefined;

  /** Asks for proposals when the frames are there or are decoded differently; of live traffic a while after its first frames. */
  private propose({ done, live, total, epoch, cuts }: State): void {
    const of = `${epoch}.${cuts}.${live && total < enoughFrames}`;
    if (this.gone || !(done || (live && total > 0)) || this.proposed === of) {
      return;
    }
    this.proposed = of;
    clearTimeout(this.proposing);
    this.proposing = setTimeout(() => void load(() => import("../frames/proposals")).then((m) => {
      if (this.frames.socket.connection !== "open") { // the next state asks again
        this.proposed = "";
        return undefined;
      }
      this.look ??= m?.startProposals(this.frames.proposals, this.workspace, this.id, () => this.name);
      return this.look?.();
    }), proposeMillis);
  }

  /** The capture was renamed. */
  private rename(name: string): void {
    if (document.title.startsWith(this.name)) {
      document.title = name + document.title.slice(this.name.length);
    }
    document.getElementById("frames-title")?.replaceChildren(`Frames of ${name}`);
    document.getElementById("main")?.setAttribute("data-capture-name", name);
    this.name = name;
    lookAtCaptures();
  }

  /** Selects bytes of a frame, once it is shown. */
  private point(n: number, selection: { start: number; end: number }): void {
    this.place = { ...this.place, frame: n, selection };
    if (this.shown?.n === n && !this.awaited) {
      this.select(this.shown.row);
    }
  }

  private pushed: number[] = []; // times of history entries for frames, milliseconds

  /** Writes the filter, the frame and the selection to the address, as a new history entry if `jumped`. */
  private write(jumped = false): void {
    const url = new URL(location.href);
    asked(url, this.frames.shown);
    const parts = [];
    if (this.shown !== undefined) {
      parts.push(placeOf(this.shown.row));
      if (this.selection !== undefined) {
        parts.push(`sel=${this.selection.start}+${this.selection.end - this.selection.start}`);
      }
    }
    url.hash = parts.join("&");
    if (url.href === location.href) {
      return;
    }
    const now = performance.now();
    const before = new URLSearchParams(location.hash.slice(1)).get("n");
    this.pushed = this.pushed.filter((at) => at > now - 10_000);
    if (jumped && before !== null && before !== String(this.shown?.n) && this.pushed.length < mostPushed) {
      this.pushed.push(now);
      history.pushState({}, "", url.href);
    } else {
      history.replaceState(history.state, "", url.href);
    }
  }

  private changed(view: View): void {
    const url = new URL(location.href);
    asked(url, view);
    if (url.href !== location.href) {
      history.pushState({}, "", url.href); // Back removes the filter
    }
  }

  /** Decodes the frames with the text in the editor. */
  private decodeBy(draft: { name: string; text: string } | undefined): void {
    if (draft?.name === this.draft?.name && draft?.text === this.draft?.text) {
      return;
    }
    this.draft = draft;
    clearTimeout(this.drafting);
    this.drafting = setTimeout(() => this.frames.setDraft(this.draft), 120);
  }

  private async change(what: object): Promise<void> {
    if (this.gone) {
      return;
    }
    const reply = await request("PATCH captures/{id}", this.at, { body: what });
    if (!reply.ok) {
      notify(failure("The change was not saved", reply), "err");
    }
  }

  /** Values that frames have in a field of a filter, as filter literals. */
  private async values(path: string): Promise<string[]> {
    const dot = path.lastIndexOf(".");
    if (dot < 0) {
      return seenInFrames(path, this.frames.connections);
    }
    const name = path.slice(0, dot);
    const [message] = name.split(".");
    const inTable = async (type: string, fits: (column: string) => boolean): Promise<string[]> => {
      const table = await this.frames.socket.ask("table", { type, from: 0, count: 0, sort: "", desc: false });
      const column = (table.columns ?? []).find((c) => fits(c.path));
      return (column?.top ?? []).map(([, , literal]) => literal).filter((text): text is string => typeof text === "string" && text !== "");
    };
    if (message !== undefined && message !== "" && message !== "*") {
      const field = path.slice(message.length + 1).replace(/^\d+\./, "");
      return inTable(message, (column) => column === field);
    }
    // A field of any message: in the first types that have it, at their top or at any depth.
    const top = message === "*";
    const field = path.slice(top ? 2 : 1);
    const { rows } = await this.frames.socket.ask("types", {});
    for (const { type } of (rows ?? []).filter((r) => r.defined).slice(0, mostTypesAsked)) {
      const found = await inTable(type, (column) => column === field || (!top && column.endsWith(`.${field}`)));
      if (found.length > 0) {
        return found;
      }
    }
    return [];
  }

  private async copy(row: FrameRow, anchor: Anchor): Promise<void> {
    const frame = this.shown?.n === row.n ? this.shown : await this.frames.socket.ask("frame", { n: row.n });
    const data = Uint8Array.from(frame.hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    (await copyMenus())?.copyBytesMenu(anchor, data, { offset: 0, name: row.name ?? `frame_${row.n}`, dir: row.dir ?? "", notify });
  }

  private link(row: FrameRow): void {
    const url = new URL(location.href); // it has the filter, the chips and the order
    asked(url, this.frames.shown);
    const of = row.n === this.shown?.n ? this.selection : undefined;
    url.hash = `${placeOf(row)}${of === undefined ? "" : `&sel=${of.start}+${of.end - of.start}`}`;
    void copyText(url.href).then((done) => notify(done ? `Copied a link to frame ${row.n}` : "The browser does not allow copying here", done ? "ok" : "err"));
  }

  private opens = false; // the packets of the chosen frame are to be shown once it is

  private showPacket(row: FrameRow): void {
    this.select(row);
    if (this.awaited) {
      this.opens = true;
    } else {
      this.packets.open();
    }
  }

  /** Offers the selected frames, or all listed ones, as a file. */
  private exportMenu(chosen: readonly Range[]): void {
    const { filter, chips } = this.frames.shown;
    const all = [filter, ...chips].filter((text) => text.trim() !== "").map((text) => `(${text})`).join(" && ");
    const save = (format: string, values = false, secrets = false, listed = false) => (): void => void this.save(format, all, chosen, values, secrets, listed);
    const secrets = document.getElementById("main")?.dataset["secrets"] !== undefined;
    const kept = { group: "With the values marked @secret, which are replaced above" };
    const withSecrets: MenuItem[] = secrets ? [
      { ...kept, title: "pcapng with secrets", ...roleItem(), run: save("pcapng", false, true) },
      { ...kept, title: "pcapng with secrets, the original packets", ...roleItem(), run: save("packets", false, true) },
      { ...kept, title: "JSON Lines with secrets", ...roleItem(), run: save("jsonl", false, true) },
    ] : [];
    const count = chosen.reduce((sum, range) => sum + range.end - range.start, 0);
    openMenu(document.querySelector<HTMLElement>(".frames-more") ?? document.body, {
      label: count > 1 ? `Export ${count} frames` : "Export the listed frames",
      items: [
        { title: "pcapng, for Wireshark", run: save("pcapng") },
        ...(secrets ? [] : [{ title: "pcapng, the original packets", run: save("packets") }]),
        { title: "JSON Lines, with values", run: save("jsonl") },
        { title: "Parquet, a table per message", run: save("parquet") },
        { title: "CSV, columns as listed", run: save("csv", false, false, true) },
        { title: "CSV, with all values", run: save("csv", true) },
        { title: "TSV, columns as listed", run: save("tsv", false, false, true) },
        { title: "Hex, one frame per line", run: save("hex") },
        { title: "A page for others, with definitions and values …", ...roleItem("commenter"), run: () => void this.share(all, chosen) },
        ...withSecrets,
      ],
    });
  }

  private shareListed(): void {
    const { filter, chips } = this.frames.shown;
    void this.share([filter, ...chips].filter((text) => text.trim() !== "").map((text) => `(${text})`).join(" && "), []);
  }

  /** Offers frames as a page that needs no server. */
  private async share(filter: string, chosen: readonly Range[]): Promise<void> {
    const frames = chosen.length > 0 ? spans(await this.numbersOf(chosen)) : undefined;
    const what = { capture: this.id, ...(frames === undefined ? { filter } : { frames }) };
    await dialogs().then((d) => d?.capsuleDialog({ workspace: this.workspace, title: document.querySelector("h1")?.textContent ?? "", what }));
  }

  private async numbersOf(chosen: readonly Range[]): Promise<number[]> {
    const numbers: number[] = [];
    for (const range of chosen) {
      for (let from = range.start; from < range.end; from += 500) {
        const answer = await this.frames.socket.ask("rows", { from, count: Math.min(500, range.end - from) });
        numbers.push(...(answer.rows ?? []).map((row) => row.n));
      }
    }
    return numbers;
  }

  private async save(format: string, filter: string, chosen: readonly Range[], values: boolean, secrets: boolean, listed: boolean): Promise<void> {
    const { columns } = this.frames.shown;
    const address = urlOf("GET captures/{id}/export", {
      ...this.at,
      format,
      values: values || undefined,
      secrets: secrets || undefined,
      frames: chosen.length > 0 ? spans(await this.numbersOf(chosen)) : undefined,
      filter: chosen.length > 0 || filter === "" ? undefined : filter,
      listed: listed ? this.frames.columnsShown.map(({ id }) => id).join() : undefined,
      columns: listed || columns.length === 0 ? undefined : columns.join(), // of repeated parameters only the first counts
    });
    if (address.length > mostExported) {
      notify("Too many single frames for one export: use a filter", "warn");
      return;
    }
    if (format === "packets" && !(await hasExport(address))) {
      return;
    }
    const link = document.createElement("a");
    link.href = address;
    link.download = "";
    link.click();
  }
}

/** Whether an export succeeds; otherwise reports why, as a failed download reports nothing. */
async function hasExport(address: string): Promise<boolean> {
  const enough = new AbortController();
  try {
    const response = await fetch(address, { signal: enough.signal });
    if (response.ok) {
      enough.abort(); // the download requests the file itself
      return true;
    }
    notify(((await response.json()) as { detail?: string }).detail ?? response.statusText, "warn");
  } catch {
    notify("The server cannot be reached: nothing was exported", "err");
  }
  return false;
}

/** Whether two rows are of one frame, cut in the same way. */
function sameFrame(a: FrameRow, b: FrameRow): boolean {
  return (a.id === undefined ? a.n === b.n : a.id === b.id) && a.len === b.len && a.kind === b.kind;
}

/** Ascending numbers as ranges: 1-3,7. */
function spans(numbers: readonly number[]): string {
  const out: string[] = [];
  for (let i = 0; i < numbers.length; ) {
    let j = i;
    while (j + 1 < numbers.length && numbers[j + 1] === (numbers[j] ?? 0) + 1) {
      j++;
    }
    out.push(i === j ? `${numbers[i]}` : `${numbers[i]}-${numbers[j]}`);
    i = j + 1;
  }
  return out.join(",");
}

/** Starts the list of a capture, if the page has one, and the bar of live traffic. */
function startCapture(): void {
  const main = document.getElementById("main");
  const host = document.getElementById("frames");
  const page = workbenchPage();
  if (page === undefined || main?.dataset["capture"] === undefined || host === null) {
    return;
  }
  const capture = new CapturePage(main, host, page);
  const bar = document.getElementById("live-bar");
  const relays = openRelays();
  if (relays !== undefined && bar !== null) {
    new LiveBar(bar, relays, capture.frames, capture);
  }
}

document.addEventListener("DOMContentLoaded", startCapture); // after the listener of main.ts, which opens the page
