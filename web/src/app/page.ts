// The workbench page while open: edits and actions go to the server, and its answers update the panes.
//
// The page is a form that works without scripts. Here its controls are followed, its buttons become actions over the websocket, and the editor
// and the hex grid replace the text field and the static bytes.

import { addressOf, linkTo, messageIn, pathOf, readAddress, unpacked, writeAddress, type Shown } from "../kit/address";
import type { DiagInfo, PageAnswer, PageControls as ControlChanges, PageFrameForm as FrameContext, PagePick, PagePicked, PageValueAnswer as Answered } from "../api/api";
import { pushes } from "../kit/changes";
import { register } from "../kit/commands";
import { Connection, socketOf } from "../kit/connection";
import { copyText } from "../kit/copy/index";
import { askDialog, confirmDialog, copyMenus, dialogs } from "../kit/dialogs";
import { put } from "../kit/dom";
import { DefinitionField } from "../text/editor/field";
import type { Language } from "../text/editor/index";
import { CodeArea } from "../text/codearea";
import { FormPane } from "../message/formpane";
import type { FieldsHost, Subject } from "../message/fields";
import { Hold } from "../text/hold";
import { hueNames } from "../api/frames";
import { askText } from "../kit/notebox";
import { type Bookmark, bookmarkList, drawBookmarks, movedBookmarks, packBookmarks, unpackBookmarks } from "../message/hex/bookmarks";
import type { ByteFind } from "../message/hex/find";
import { HexGrid, type HexSettings, spacedHex } from "../message/hex/index";
import { hexNumber, hexOf } from "../kit/hextext";
import { request } from "../kit/http";
import { Inspector } from "../message/inspector";
import { Layout } from "../message/layout";
import { linkedElement, Links, type Target } from "./link";
import { literal } from "../frames/filters";
import { type MenuItem, openMenu } from "../kit/menu";
import type { Cuts } from "../text/envelope";
import { load, prefetch } from "../kit/load";
import { listed, listedEntries, listedVersions, markMessage, update as updateMessages } from "../library/messages";
import { type Bits, Message } from "../message/model";
import { morph } from "../kit/morph";
import { notify } from "../kit/notify";
import { bitOffsetOf, nextNumbers, numberOf, numbers, offsetOf, onNumbers } from "../kit/numbers";
import { type OldDraft, oldDrafts } from "../text/olddrafts";
import { startedPage } from "../kit/opened";
import { addProvider } from "../kit/entries";
import { showPane } from "../kit/panes";
import type { FrameOffer } from "../api/frames";
import { keepPasted, pastedBefore } from "./reload";
import { lookOnly } from "../kit/role";
import { roleWord } from "../message/roles";
import { Sample, showText, sizeText } from "./sample";
import { searchLibrary } from "../library/search";
import { startPeople } from "../library/people";
import { frameAddress, scoresCommand, scoresShown, showScore } from "../text/score";
import { type Action, type Answer, type Controls, isAnswer, Socket, type State, sumOfText } from "../message/socket";
import { markStale } from "../kit/stale";
import { Threads } from "../text/threads";
import { clientID, Together } from "../text/together";
import { editValue, startTree, Tree } from "../message/tree";

function field<T extends HTMLElement>(id: string): T | null {
  return document.getElementById(id) as T | null;
}

/** A field of the shown message for filters: its name and its value as a literal, undefined if filters cannot compare with it. */
export interface FieldForFilter {
  path: string; // S_CHAT.message
  literal: string | undefined;
}

/** The interface of a list of frames beside the panes; see capture.ts. */
export interface FrameHost {
  /** The selection in the bytes of the frame changed. */
  selected(selection: { start: number; end: number } | undefined): void;
  /** The open definition has unsaved edits, or none any more. */
  draft(draft: { name: string; text: string } | undefined): void;
  /** The menu items of a field. The value is requested on demand. */
  fieldMenu(field: () => Promise<FieldForFilter | undefined>): MenuItem[];
  /** A frame is being loaded into the panes, or is shown. */
  shown(): void;
  /** The picked frame is shown, or is told about again: it is in another place of the list, or explained in another way. */
  picked(frame: PagePicked): void;
  /** Goes to a frame by its number. */
  go(frame: number): void;
  /** A definition was started by typing, or an unsaved one was renamed from `was`. */
  begun?(name: string, was: string): void;
}

type ValueAnswer = Answered["value"];

/** A state of the shown message for undo. */
interface Step {
  message: string;
  show: number;
  input: string;
  form: string;
  bycode: boolean;
  edits: Record<string, string>;
  bookmarks: string;
}

/** A value as a filter literal, undefined for lists and groups. */
function literalOf(value: ValueAnswer): string | undefined {
  if (typeof value.value === "object") {
    return undefined;
  }
  return literal(value.typed, typeof value.value === "string" && !/^u?int|^uint|^int|^[iu]\d+$/.test(value.type) ? (/^(bytes|byte\[|blob)/.test(value.type) ? "bytes" : "text") : "");
}

/** Whether a name is that of a text that says how messages travel. */
function isEnvelope(name: string): boolean {
  return name.toLowerCase().endsWith(".envelope");
}

/** Selected bytes in words: where they are, how many, and their sum. */
function selectionText(data: Uint8Array, start: number, end: number): string {
  let sum = 0;
  for (let i = start; i < end; i++) {
    sum += data[i] ?? 0;
  }
  const n = end - start;
  return `${sizeText(n)} (${hexNumber(n)}) selected at ${hexNumber(start)}, sum ${sum} (${hexNumber(sum)})`;
}

const mostRecent = 100; // texts of a room

/** The page of a workspace. */
export class Page {
  private readonly workspace: string;
  private readonly form: HTMLFormElement;
  private controls: Controls;
  private readonly editor: DefinitionField;
  private readonly hex: HexGrid;
  private readonly inspector: Inspector;
  private readonly links: Links;
  private readonly tree: Tree;
  private readonly layout: Layout;
  private readonly socket: Socket;
  readonly connected: Connection;
  private readonly together: Together;
  private readonly markPeople: (() => void) | undefined; // in the list
  private readonly threads: Threads;
  private message: Message | null = null;
  private drawn: Message | null = null; // in the hex grid
  private readonly undone: Step[] = [];
  private readonly done: Step[] = [];
  private readonly selected = field("selected") ?? document.createElement("span"); // in the status line
  private resting = ""; // the status line without hover
  private edited = false;
  private confirmed: HTMLButtonElement | undefined; // whose question was confirmed
  private isOpening = false; // another definition
  private isBeginning = false; // one that is not saved

  private readonly envelope: boolean; // the text is an envelope
  private cuts: Cuts | undefined; // the frames beside it
  private readonly capture: boolean; // the message is a frame of a list
  private host: FrameHost | undefined;

  constructor(main: HTMLElement, form: HTMLFormElement) {
    this.capture = main.dataset["capture"] !== undefined;
    this.workspace = main.dataset["workspace"] ?? "";
    this.envelope = main.dataset["envelope"] !== undefined;
    this.form = form;
    const code = field<HTMLElement>("code");
    const text = field<HTMLTextAreaElement>("definition");
    const value = (name: string): string => {
      const control = form.elements.namedItem(name);
      return control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement || control instanceof HTMLSelectElement ? control.value : "";
    };
    this.controls = {
      message: value("message"),
      name: value("name"),
      definition: text?.value ?? "",
      base: value("base"),
      shared: "",
      score: scoresShown(),
      input: value("input"),
      form: value("form"),
      bycode: field<HTMLInputElement>("bycode")?.checked ?? false,
      value: value("value"),
      made: value("made"),
      code: value("code"),
      show: Number(value("show")),
      edits: JSON.parse(value("edits") || "{}") as Record<string, string>,
      values: document.documentElement.dataset["tools"] === "values",
    };
    const asked: ReturnType<typeof readAddress> = this.capture ? {} : readAddress();
    if (this.capture) {
      Object.assign(this.controls, { bycode: true, form: "hex", name: "", input: "", edits: {}, frame: { kind: "", dir: "", group: "", name: "" } });
    }
    if (asked.definition !== undefined && asked.definition !== this.controls.message) {
      this.controls.message = asked.definition;
      this.controls.definition = "";
      this.controls.base = "";
    }
    if (asked.hex !== undefined) {
      this.controls.input = asked.hex;
      this.controls.edits = {};
      this.controls.show = 0;
    }
    const before = this.capture ? undefined : pastedBefore(this.workspace, this.controls.message);
    if (before !== undefined) {
      const { bookmarks, ...controls } = before;
      Object.assign(this.controls, controls);
      this.bookmarks = unpackBookmarks(bookmarks);
      showText(before.input);
    }
    if (asked.bookmarks !== undefined && before === undefined) {
      this.bookmarks = unpackBookmarks(asked.bookmarks);
    }
    this.linked = asked.text;
    this.links = new Links((target, picked) => this.tell(target, picked));
    this.editor = new DefinitionField(code ?? document.createElement("div"), text ?? document.createElement("textarea"), {
      text: this.controls.definition,
      language: JSON.parse(code?.dataset["language"] ?? '{"comment":"#","words":[]}') as Language,
      nonce: main.dataset["nonce"] ?? "",
      label: this.envelope ? "Envelope text" : "Definition text",
      of: () => (this.place.file === "" ? "" : `${this.workspace}/${this.place.file}${this.together.apart ? " apart" : ""}`),
      events: {
        change: (now, line) => {
          if (line > 0) {
            this.hold.typed(line);
            this.together.stopFollowing();
          }
          this.typed(now);
        },
        remote: (now) => {
          this.controls.definition = now === "" ? "\n" : now;
          this.recall(now);
          this.cuts?.changed(now);
          this.together.typed();
        },
        left: () => this.hold.end(),
        caret: (line) => {
          this.hold.left(line);
          this.links.pick(this.links.ofLine(line));
          this.caretLine = line;
          this.follow();
        },
        place: (line, column) => field("caret")?.replaceChildren(...(line === 0 ? [] : [`Ln ${line}, Col ${column}`])),
        hover: (line) => this.links.point(line === null ? null : this.links.ofLine(line)),
        defect: ({ first }) => first !== undefined && open(frameAddress(this.workspace, first.capture, first.frame), "_self"),
        save: () => void this.save(),
        decode: () => this.press("decode"),
        format: () => this.press("format"),
      },
    });
    const grid = field<HTMLElement>("hex");
    const live = document.createElement("div");
    live.className = "hex-host";
    live.hidden = true; // until the server sends bytes: without a websocket those of the page stay
    grid?.append(live);
    grid?.before(this.bookmarkBar);
    this.hex = new HexGrid(live, {
      hover: (byte) => this.links.point(byte === null ? null : this.links.ofByte(byte)),
      select: (start, end, caret, how) => this.chose(start, end, caret, how),
      edit: (data, start, end) => this.changeBytes(data, start, end),
      undo: () => this.undo(),
      redo: () => this.redo(),
      menu: (byte, at) => this.bytesMenu(byte, at),
      notice: (said) => notify(said, "warn"),
      mayEdit: () => this.mayEdit(),
      offsets: () => notify(`Numbers: ${nextNumbers()}`),
    });
    try {
      const columns = matchMedia("(max-width: 600px)").matches ? 0 : 16; // as many as fit there
      this.hex.apply({ ...this.hex.settings, columns, ...(JSON.parse(localStorage.getItem("wirebench.hex") ?? "{}") as object) });
    } catch {
      // The stored value is invalid.
    }
    const decimal = (): void => this.hex.apply({ ...this.hex.settings, decimal: numbers() === "decimal" });
    decimal();
    onNumbers(() => {
      decimal();
      this.numberProblems();
      this.tree.list.redraw();
      this.layout.redraw();
      this.links.refresh();
      this.inspect();
    });
    this.inspector = new Inspector(field<HTMLElement>("inspector") ?? document.createElement("div"), (at, bytes) => this.hex.replace(at, bytes), field("inspector-line"));
    const part = (id: string): HTMLElement => field(id) ?? document.createElement("div");
    this.tree = new Tree(part("tree-rows"), part("fields-body"));
    this.tree.isList = (path) => this.layout.isList(path);
    this.layout = new Layout(part("layout-body"), part("layout-diagram"), part("layout-rows"));
    this.links.attach(this.hex, this.editor, this.tree, this.layout);
    this.connected = new Connection(socketOf(this.workspace));
    this.socket = new Socket(
      this.connected,
      { capture: main.dataset["capture"], client: clientID, text: () => this.editor.text, waits: () => this.together.waits, knows: (of) => this.controls.shared === "" || this.recent.has(of) },
      () => this.told(),
      (answer) => this.take(answer),
      (state) => this.connection(state),
      (score) => {
        showScore(this.workspace, score);
        this.editor.setScores(score.of > 0 ? (score.lines ?? []) : []);
      },
    );
    this.together = new Together({
      connection: this.connected,
      workspace: this.workspace,
      editor: this.editor,
      text: () => this.editor.text,
      message: () => this.controls.message,
      rewrite: (of, text) => this.rewrite(of, text),
      confirmed: (text) => this.recall(text),
      revision: () => this.controls.base,
      showApart: (own, revision) => {
        this.editor.open(own);
        this.controls.base = revision;
        this.socket.set({ base: revision });
        this.typed(own);
      },
      named: (name) => this.named(name),
      saved: () => void this.giveCode(this.controls.message),
      discard: () => void this.discard(),
      beginSuggestion: () => void this.beginSuggestion(),
      endSuggestion: () => this.endSuggestion(),
      beside: (why, text) => this.showBeside(why, text),
      changed: (file, isAway = false) => {
        if (file === this.controls.shared || file !== "" && (this.isOpening || this.isBeginning)) { // the answer is about another one
          return;
        }
        this.controls.shared = file;
        this.recent.clear();
        this.recall(this.editor.text);
        if (!isAway) { // otherwise it gets everything when it is back
          this.socket.set({ shared: file });
        }
      },
      joined: () => this.markPeople?.(),
      go: (message) => void this.openMessage(message),
      goFrame: ({ capture, frame }) => {
        const here = capture === main.dataset["capture"];
        if (here) {
          this.host?.go(frame);
        }
        return here && this.host !== undefined;
      },
      peers: (colors) => {
        this.peers = colors;
        this.layout.setPeers(colors);
        this.markPeers();
      },
    });
    this.threads = new Threads({
      workspace: this.workspace,
      editor: this.editor,
      line: () => this.caretLine ?? 1,
      edited: () => this.edited,
      shared: () => this.together.active,
      base: () => this.controls.base,
      discard: () => this.endSuggestion(),
      part: () => this.beginSuggestion(),
      go: (message, line) => this.openMessage(message, line),
      restore: (text) => this.restore(text),
      selection: () => this.chosenBytes(main.dataset["capture"]),
    });
    pushes(this.connected);
    this.markPeople = startPeople(this.workspace, (file, id) => this.together.isSelf(file, id));
    this.connection("connecting");
    this.listen();
    this.commands();
    const first = field("first")?.textContent ?? "";
    if (first !== "" && !this.capture) {
      this.draw(this.socket.first(JSON.parse(first) as PageAnswer), text?.value ?? "");
    }
    this.pendingSelection = asked.selection;
    if (asked.code !== undefined) {
      void unpacked(asked.code).then((text) => {
        if (text === undefined) {
          notify("The definition in this link cannot be read", "err");
        } else {
          this.linked = text;
          this.showLinked();
        }
      });
    }
    if (this.envelope) {
      void this.startCuts();
    }
  }

  /** Shows the frames that the envelope cuts. */
  private async startCuts(): Promise<void> {
    const head = field("cut-head");
    const body = field("cut-frames");
    const module = await load(() => import("../text/envelope"));
    if (module !== undefined && head !== null && body !== null) {
      this.cuts = new module.Cuts(head, body, this.workspace, ({ hex, dir = "", state = "", message = "", kind }) => {
        const frame: FrameContext = { kind, dir, group: state, name: message, alternate: false, about: null, offer: "" };
        this.controls.bycode = true;
        this.controls.frame = frame;
        showText(hex);
        this.socket.set({ bycode: true, frame });
        this.setInput(hex);
      });
      this.cuts.changed(this.editor.text);
    }
  }

  private mistakes: { list: readonly DiagInfo[]; of: string } = { list: [], of: "" };
  private readonly hold = new Hold(() => this.showMistakes());

  /** Shows the mistakes of the text, except those of the line that is being typed. */
  private showMistakes(): void {
    const held = this.hold.mark();
    const { list, of } = this.mistakes;
    this.editor.setMistakes(list.filter(({ line }) => line !== held), of);
  }

  private caretLine: number | null = null; // line of the caret, until a message is selected in another way

  private pendingSelection: { start: number; end: number } | undefined;

  // 0. Frames of a list.

  /** Connects the panes to a list of frames. */
  attach(host: FrameHost): void {
    this.host = host;
  }

  /** Shows a frame of the capture, of which the server has the bytes; undefined for none. */
  pickFrame(frame: PagePick | undefined): void {
    const capture = document.querySelector("main")?.dataset["capture"];
    this.turnTo();
    this.together.look(capture === undefined || frame === undefined ? undefined : { capture, frame: frame.n });
    const pick = frame ?? { n: 0 };
    const { frame: _, ...controls } = this.controls;
    this.controls = { ...controls, pick, input: "", form: "hex", bycode: true, edits: {}, show: 0 };
    this.socket.set({ pick });
    this.formPane.leave();
  }

  /** Shows a message that is held. */
  showFrame(frame: FrameContext & { hex: string; edited?: string }): void {
    this.turnTo();
    this.together.look(undefined);
    const { hex, edited, ...context } = frame;
    const change = { input: hex, form: "hex", bycode: true, edits: edited === undefined ? {} : { 0: edited }, show: 0, frame: context };
    const { pick: _, ...controls } = this.controls;
    this.controls = { ...controls, ...change };
    this.socket.set(change);
    this.formPane.leave();
  }

  /** Another message is about to be shown. */
  private turnTo(): void {
    this.done.length = 0;
    this.undone.length = 0;
    this.caretLine = null;
    this.pendingSelection = undefined;
  }

  /** The controls for a server that knows none of them. It has the bytes of a picked frame. */
  private told(): Partial<Controls> {
    const { input, ...controls } = this.controls;
    return controls.pick === undefined ? { ...controls, input } : controls;
  }

  /** Takes what the server tells about the picked frame. */
  private tookPicked(frame: PagePicked): void {
    if (Object.keys(this.controls.edits).length === 0) {
      this.controls.input = hexOf(this.message?.data ?? new Uint8Array());
    }
    const begin = field<HTMLInputElement>("name");
    const { offer } = frame;
    if (begin !== null && offer !== undefined && this.controls.message === "" && document.activeElement !== begin) {
      begin.value = offer.name + (offer.first ?? "");
    }
    this.host?.picked(frame);
  }

  /** The bytes of the shown message in hex, without edits. */
  get originalHex(): string {
    return this.controls.input;
  }

  /** The text of the open definition. */
  get definition(): string {
    return this.editor.text;
  }

  /** Puts a text into the editor; undo takes it back. */
  restore(text: string): void {
    this.editor.replace(text);
    showPane(field("definition-pane") ?? this.form);
    this.editor.focus();
  }

  /** The open definition, "" if it is not stored. */
  get storedMessage(): string {
    return this.controls.base === "" ? "" : this.controls.message;
  }

  /** Opens a definition. */
  openMessage(message: string, line = 0): Promise<void> {
    return (message === this.controls.message ? Promise.resolve() : this.open(message)).then(() => {
      if (line > 0) {
        this.editor.select(line);
        this.editor.focus();
      }
    });
  }

  /** Shows the comments and suggestions that concern the person of the page. */
  openThreads(): void {
    this.threads.open("", true);
  }

  private peers: ReadonlyMap<number, number> = new Map(); // colors of others, by the lines where they are

  /** Marks the bytes of the lines where others are. */
  private markPeers(): void {
    this.hex.setPeers([...this.peers].flatMap(([line, color]) => (this.links.ofLine(line)?.ranges ?? []).map(({ start, end }) => ({ start: start >> 3, end: (end + 7) >> 3, color }))));
  }

  /** Offers the message as a page that needs no server. */
  private shareMessage(): void {
    const { message, definition } = this.controls;
    const what = { hex: hexOf(this.hex.data), ...(message === "" ? {} : { message }), ...(this.edited ? { text: definition } : {}) };
    void dialogs().then((d) => d?.capsuleDialog({ workspace: this.workspace, title: message, what }));
  }

  /** The selected bytes of the shown frame of a capture; undefined if there are none. */
  private chosenBytes(capture: string | undefined): { capture: string; frame: number; offset: number; length: number } | undefined {
    const frame = Number(new URLSearchParams(location.hash.slice(1)).get("n"));
    const { start, end } = this.hex.selection;
    return capture === undefined || !(frame > 0) || this.message === null || end <= start ? undefined : { capture, frame, offset: start, length: end - start };
  }

  /** The unsaved text of a definition, if it is the open one. */
  editedText(message: string): string | undefined {
    return this.edited && message === this.controls.message ? this.controls.definition : undefined;
  }

  /** Focuses the text of a definition that has been begun, unless somebody types its name already. */
  private focusBegun(): void {
    if (document.activeElement?.id !== "name") {
      this.editor.focus();
    }
  }

  /** Starts an unsaved definition; the message stays. */
  begin(name: string): void {
    void this.beginNew(name).then(() => this.focusBegun());
  }

  /** Decodes the message by its code instead of the open definition. */
  byItsCode(): void {
    this.controls.bycode = true;
    this.socket.set({ bycode: true });
  }

  /** Moves the focus to the fields. */
  focusFields(): void {
    showPane(field("fields-pane") ?? this.form);
    document.querySelector<HTMLElement>('#fields-head [data-segment="inspector"]')?.click(); // the tree, not another view
    this.tree.focus();
  }

  /** The shown bytes, with edits. */
  get bytes(): Uint8Array {
    return this.message?.data ?? new Uint8Array();
  }

  /** The edit of the message with these bytes, "" if it has none; undefined if another message is shown. */
  editOf(hex: string): string | undefined {
    return this.controls.input === hex ? (this.controls.edits["0"] ?? "") : undefined;
  }

  private readonly acting = new Set<Promise<unknown>>();
  private readonly begun = new Map<string, FrameOffer>(); // unsaved definitions, by name, that get the code of the message which they were begun from

  /** Resolves when the edits of the message that are under way have been applied. */
  async settled(): Promise<void> {
    if (document.activeElement instanceof HTMLInputElement) {
      document.activeElement.blur(); // a field of the form takes its text then
    }
    await Promise.all(this.acting);
  }

  /** Moves the focus to the form of the values, or to the bytes of a message without a definition. */
  async focusForm(): Promise<void> {
    const pane = field("tools-pane");
    if (pane !== null) {
      showPane(pane);
    }
    document.querySelector<HTMLElement>('[data-segment="form"]')?.click();
    await this.settled();
    const from = document.activeElement;
    for (let tries = 0, drawn = 0; tries < 80 && drawn < 4; tries++) {
      if (document.activeElement !== from && document.activeElement !== document.body) {
        return; // the user has gone elsewhere
      }
      const first = this.formPane.isReady ? document.querySelector<HTMLElement>("#values-form :is(input, select):not(:disabled)") : null;
      if (first !== null) {
        first.focus();
        if (first instanceof HTMLInputElement) {
          first.select();
        }
        return;
      }
      drawn += this.formPane.isReady ? 1 : 0;
      await new Promise((done) => setTimeout(done, 25));
    }
    this.hex.focus();
  }

  /** Reports the definition used for decoding to the list of frames. */
  private tellDraft(): void {
    this.host?.draft(this.edited && this.controls.message !== "" ? { name: this.controls.message, text: this.controls.definition } : undefined);
  }

  // 1. From the page to the server.

  /** The file of the open definition, "" if it is not stored. */
  get openFile(): string {
    const { file, stored } = field("definition-head")?.dataset ?? {};
    return stored === undefined ? "" : (file ?? "");
  }

  /** The file whose room has the text, or would have it. */
  private get place(): { file: string; is: "stored" | "begun" | "" } {
    const { file, stored, begun } = field("definition-head")?.dataset ?? {};
    return { file: this.controls.message === "" ? "" : file ?? "", is: stored !== undefined ? "stored" : begun !== undefined ? "begun" : "" };
  }

  private typed(text: string): void {
    if (!this.together.active) {
      this.together.alone(this.controls.definition, text);
    }
    if (this.isOpening) { // typed into the definition being closed
      return;
    }
    this.controls.definition = text === "" ? "\n" : text; // an empty text would mean the stored one
    this.cuts?.changed(text);
    this.edited = true;
    const saved = document.querySelector("#facts .ok");
    if (saved !== null && this.socket.state !== "open") { // the server cannot say so
      put(saved, "className", "warn");
      put(saved, "textContent", "not saved");
      document.querySelector('#definition-head button[value="save"]')?.toggleAttribute("disabled", !this.together.active);
    }
    const begun = this.controls.message === "" ? this.beginTyped() : {};
    this.tellDraft();
    this.recall(text);
    if (this.controls.shared === "") {
      this.socket.set({ definition: this.controls.definition, ...begun });
    }
    this.together.typed();
  }

  /** Names a definition started by typing, after the proposed name. A frame without a definition gets that name, too. */
  private beginTyped(): { name?: string } {
    const name = field<HTMLInputElement>("name")?.value.trim() ?? "";
    if (name === "") {
      return {};
    }
    this.controls.message = name;
    this.host?.begun?.(name, "");
    return { name };
  }

  private readonly recent = new Map<number, string>(); // texts of the room, by their sums, oldest first

  /** Keeps a text that answers may be about. */
  private recall(text: string): void {
    if (this.controls.shared !== "") {
      const sum = sumOfText(text);
      this.recent.delete(sum);
      this.recent.set(sum, text);
      const [oldest] = this.recent.keys();
      if (this.recent.size > mostRecent && oldest !== undefined) {
        this.recent.delete(oldest);
      }
      queueMicrotask(() => this.socket.retake()); // the editor may be taking the text
    }
  }

  /** Takes what an action has made of an earlier text: others may have typed meanwhile. */
  private rewrite(was: string | undefined, text: string): void {
    if (was === undefined || !this.editor.rewrite(was, text)) {
      notify("The text has changed meanwhile: try again", "warn");
    }
  }

  private partShown = ""; // of a text with several messages: the file, and the first line of the message

  /** Scrolls to the message in the layout when it changes, unless the caret is in its text. */
  private reveal(): void {
    const parts = field<HTMLSelectElement>("part");
    const starts = parts === null ? [] : (JSON.parse(parts.dataset["parts"] ?? "[]") as number[]);
    const line = starts[parts?.selectedIndex ?? 0];
    const now = line === undefined ? "" : `${field("definition-title")?.textContent ?? ""} ${parts?.value ?? ""}`;
    const moved = now !== this.partShown;
    this.partShown = now;
    if (moved && line !== undefined && document.activeElement?.closest("#code") === null) {
      this.editor.reveal(line);
    }
  }

  /** Shows the message of the text that contains the caret. */
  private follow(): void {
    const parts = field<HTMLSelectElement>("part");
    const line = this.caretLine;
    if (parts === null || line === null) {
      return;
    }
    const starts = JSON.parse(parts.dataset["parts"] ?? "[]") as number[];
    // Messages may have another order than their texts, and several may have the same text.
    const from = Math.max(...starts.filter((start) => start <= line));
    const at = starts[parts.selectedIndex] === from ? parts.selectedIndex : starts.lastIndexOf(from);
    if (at >= 0 && at !== parts.selectedIndex && document.activeElement?.closest("#code") !== null) {
      parts.selectedIndex = at;
      void this.press(`pick:${at + 1}`);
    }
  }

  /** Makes a text the sample, as one step; the result takes it back, and what came after it, and forgets it if it should not come again. */
  private setInput(text: string): (forget: boolean) => void {
    this.remember();
    const step = this.done.at(-1);
    this.setBookmarks([]);
    this.controls.input = text;
    this.controls.edits = {};
    this.controls.show = 0;
    this.socket.set({ input: text, edits: {}, show: 0 });
    return (forget) => {
      while (step !== undefined && this.done.includes(step)) {
        this.undo();
      }
      this.undone.splice(forget ? -1 : this.undone.length);
    };
  }

  /** The sample by hand: pasted, or typed as text. */
  readonly sample = new Sample({
    put: (text) => this.setInput(text),
    act: (action) => this.socket.act(action),
    size: () => this.size,
    other: () => (this.controls.form === "" && this.controls.edits["0"] !== undefined && document.querySelector("#messages tr") === null ? spacedHex(this.hex.data) : undefined),
    focus: () => this.hex.focus(),
  });

  private changeBytes(data: Uint8Array, start: number, end: number): void {
    this.remember();
    this.setBookmarks(movedBookmarks(this.bookmarks, this.controls.show, start, end - start + this.size - data.length, end - start));
    this.size = data.length;
    this.drawn = null; // the grid shows its own edit
    this.find?.changed();
    const key = String(this.controls.show);
    this.controls.edits = { ...this.controls.edits, [key]: hexOf(data) };
    this.socket.set({ edits: this.controls.edits });
    this.inspect();
  }

  private step(): Step {
    const { message, show, input, form, bycode, edits } = this.controls;
    return { message, show, input, form, bycode, edits: { ...edits }, bookmarks: packBookmarks(this.bookmarks) };
  }

  /** Stores the input for a reload of this tab: the address has space for one short message only. */
  private keepPasted(): void {
    if (!this.capture) {
      keepPasted(this.workspace, this.step());
    }
  }

  private remember(): void {
    this.done.push(this.step());
    this.done.splice(0, this.done.length - 500);
    this.undone.length = 0;
  }

  private back(from: Step[], to: Step[], nothing: string): void {
    const step = from.pop();
    if (step === undefined) {
      notify(nothing, "warn");
      return;
    }
    to.push(this.step());
    const { message, show, input, form, bycode, edits, bookmarks } = step;
    this.setBookmarks(unpackBookmarks(bookmarks));
    Object.assign(this.controls, { show, input, form, bycode, edits });
    showText(input);
    this.socket.set({ show, bycode, edits, ...(this.controls.pick === undefined ? { input, form } : {}) });
    if (message !== this.controls.message) {
      this.socket.set({ message, ...this.leave() });
    }
  }

  private undo(): void {
    this.back(this.done, this.undone, "Nothing to undo");
  }

  private redo(): void {
    this.back(this.undone, this.done, "Nothing to redo");
  }

  /** Puts the saved text in the place of the open one; undo takes that back. */
  private async discard(): Promise<void> {
    const { message } = this.controls;
    await this.together.settled();
    if (!this.together.active) {
      this.together.forget();
      await this.press("stored");
      return;
    }
    const others = this.together.othersUnsaved;
    if (others.length > 0 && !(await confirmDialog(`Discard all that is not saved of this definition? Lines of ${others.join(", ")} are among it.`, "Discard"))) {
      return;
    }
    if (this.openFile === "") { // it is gone when everybody has left it
      this.editor.replace("");
      return;
    }
    const stored = await request("GET definitions/{file}", { project: this.workspace, file: this.openFile });
    if (stored.ok && message === this.controls.message) {
      this.editor.replace(stored.answer.text.replaceAll("\r\n", "\n"));
    } else if (!stored.ok) {
      notify(stored.why, "err");
    }
  }

  /** Begins a suggestion: a text of one's own, made of the saved one, until it is sent or discarded. */
  private async beginSuggestion(): Promise<void> {
    this.together.part(true);
    await this.press("stored");
    this.editor.focus();
  }

  /** Goes back to the text of all, without the suggestion. */
  private endSuggestion(): void {
    this.together.part(false);
  }

  /** Saves the definition. */
  private async save(): Promise<void> {
    if (this.together.joins) {
      this.rename(); // the name field may still have the focus
      this.together.save();
    } else if (this.together.apart && document.querySelector("#definition-notes > .notice") === null) { // it may restore a file
      this.threads.send();
    } else {
      await this.press("save");
    }
  }

  /** Writes the code of a definition that was begun from a message, and has been saved: the message is found by its code then. */
  private async giveCode(message: string): Promise<void> {
    const offer = this.begun.get(message);
    if (offer !== undefined) {
      this.begun.delete(message);
      const { nameCode } = await import("../library/define");
      await nameCode(this.workspace, offer, message.replace(/\.\d+$/, ""));
    }
  }

  private async press(action: string, more: Partial<Action> = {}, anchor?: HTMLElement): Promise<Answer> {
    if (this.together.pending && !/^(open|new):/.test(action)) {
      await this.together.settled(); // what is done is done with all that is typed
    }
    const [name] = action.split(":");
    if (name === "save") {
      this.rename(); // the name field may still have the focus
    }
    const before = this.step();
    const changes = ["encode", "build", "repair", "original", "sample", "set", "insert", "remove", "copy", "up", "down", "fill", "case"].includes(name ?? "");
    if (changes) {
      this.remember();
    }
    const about = field<HTMLInputElement>("about")?.value ?? "";
    this.together.isVersioned = name === "version";
    const acting = this.socket.act({ action, ...(name === "keep" ? { about } : {}), ...more });
    this.acting.add(acting);
    const answer = await acting.finally(() => this.acting.delete(acting));
    this.together.isVersioned = false;
    if (changes && JSON.stringify(this.step()) === JSON.stringify(before)) {
      this.done.pop(); // it changed nothing, so there is nothing to undo
    }
    if (answer.failed !== undefined && answer.failed !== "" && more.path === undefined && name !== "fill") {
      notify(answer.failed, "err");
    }
    if (name === "save" && (answer.failed ?? "") === "") {
      await this.giveCode(this.controls.message);
    }
    if (answer.export !== undefined) {
      this.exported(answer.export, anchor ?? document.querySelector<HTMLElement>("#layout-head details summary") ?? this.form);
    }
    return answer;
  }

  private exported(made: NonNullable<Answer["export"]>, anchor: HTMLElement): void {
    const copy = (file: (typeof made.Files)[number]): void => {
      void copyText(file.Text).then((done) => notify(done ? `Copied ${file.Name}` : "The browser does not allow copying here", done ? "ok" : "err"));
    };
    const save = (file: (typeof made.Files)[number]): void => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([file.Text], { type: file.Type }));
      link.download = file.Name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    };
    const losses = made.Losses ?? [];
    openMenu(anchor, {
      label: made.Title,
      items: [
        ...made.Files.flatMap((file) => [
          { title: made.Files.length > 1 ? `Copy ${file.Name}` : "Copy", run: () => copy(file), preview: () => file.Text },
          { title: `Save as ${file.Name}`, run: () => save(file), preview: () => file.Text },
        ]),
        ...(made.Files.length > 1 ? [{ title: "Save all", run: () => made.Files.forEach(save) }] : []),
        ...(losses.length > 0 ? [{ title: `Lost: ${losses.length}`, run: () => void copyText(losses.join("\n")).then(() => notify("Copied the list of losses")), preview: () => losses.join("\n") }] : []),
      ],
    });
  }

  /** Opens another definition. */
  private open(message: string, push = true): Promise<void> {
    if (!this.capture && isEnvelope(message) !== this.envelope) {
      return this.leaveFor(pathOf(this.workspace, "definitions", message));
    }
    this.caretLine = null;
    this.socket.set(this.leave());
    const before = this.step();
    this.remember();
    return this.press(`open:${message}`).then((answer) => {
      this.isOpening = false;
      if (JSON.stringify({ ...this.step(), message: "" }) === JSON.stringify({ ...before, message: "" })) {
        this.done.pop(); // the bytes stay
      }
      if (push && !this.capture && (answer.failed ?? "") === "") {
        history.pushState({ message }, "", pathOf(this.workspace, "definitions", message));
      }
      this.address();
      showPane(field("definition-pane") ?? this.form);
    });
  }

  /** Goes to a text in another language, on a page of its own. */
  private leaveFor(address: string): Promise<void> {
    location.assign(address);
    return new Promise(() => undefined);
  }

  /** Begins an unsaved definition. */
  private async beginNew(name: string): Promise<void> {
    if (this.envelope && !isEnvelope(name)) {
      await this.leaveFor(`${pathOf(this.workspace, "definitions")}?new=${encodeURIComponent(name)}`);
    }
    this.isBeginning = true;
    await this.press(`new:${name}`).finally(() => { this.isBeginning = false; });
    this.together.share();
  }

  /** Applies the typed name to an unsaved definition. */
  private rename(): void {
    const name = field<HTMLInputElement>("name")?.value.trim() ?? "";
    if (this.controls.base !== "" || name === "" || name === this.controls.message) {
      return;
    }
    this.wanted = name;
    this.together.rename(name);
    if (!this.together.active) {
      this.begunAs(name);
      this.socket.set({ name, definition: this.controls.definition || "\n" });
    }
  }

  /** Gives the definition, which was begun, another name in this page. */
  private begunAs(name: string): void {
    const { message } = this.controls;
    this.host?.begun?.(name, message);
    const offer = this.begun.get(message);
    if (offer !== undefined) {
      this.begun.delete(message);
      this.begun.set(name, offer);
    }
  }

  private wanted = ""; // the name that this page asks for

  /** Takes the name that somebody has given the open definition, which is not saved yet. */
  private named(name: string): void {
    const { message } = this.controls;
    if (name !== message) {
      const begin = field("code")?.dataset["begin"] ?? ""; // of the text of a new definition, with its name
      const said = begin.replaceAll("$NAME", message);
      if (name === this.wanted && said !== begin && this.editor.text.startsWith(said)) {
        this.editor.replace(begin.replaceAll("$NAME", name) + this.editor.text.slice(said.length));
      }
      this.begunAs(name);
      this.controls.message = name;
      this.socket.set({ name });
      if (!this.capture) {
        document.title = `${name} · Wirebench`;
        history.replaceState(history.state, "", addressOf(location.href, this.workspace, name, false));
      }
    }
    this.wanted = "";
    const input = field<HTMLInputElement>("name");
    if (input !== null) {
      input.value = name;
    }
  }

  private linked: string | undefined; // the text of the address, until it is shown
  private isAnswered = false;

  /** Whether the address names a definition that is not stored. */
  private get isNew(): boolean {
    const { message } = this.controls;
    return messageIn(new URL(location.href)) === null && listedVersions(message).length === 0;
  }

  /** Shows the text of the address beside that of the editor: nobody may replace a text by a link. */
  private showLinked(): void {
    const text = this.linked;
    if (text === undefined || !this.isAnswered) {
      return;
    }
    this.linked = undefined;
    if (text === this.editor.text) {
      return;
    }
    if (this.isNew && this.controls.definition.trim() === "") {
      this.editor.replace(text);
      return;
    }
    void this.showBeside("The address of this page has a text of its own.", text);
  }

  private async showBeside(why: string, text: string): Promise<void> {
    const { message } = this.controls;
    const taken = await (await dialogs())?.besideDialog({ workspace: this.workspace, file: this.openFile, message, why, now: this.editor.text, text });
    if (taken !== undefined && message === this.controls.message) {
      this.restore(taken);
    }
    this.address(true); // without that text: it is not shown again when the page is loaded again
  }

  /** Opens a definition that an earlier version of the program has kept in this browser. */
  private async openOld({ key, message, text, base }: OldDraft): Promise<void> {
    if (base !== "") {
      await this.open(message); // where it is merged
      return;
    }
    await this.beginNew(message);
    this.editor.replace(text);
    localStorage.removeItem(key);
  }

  /** The controls needed by the server before another definition opens: the text of the current one. */
  private leave(): { definition: string; base: string; shared: string } {
    this.isOpening = true;
    this.controls.shared = "";
    return { definition: "", base: "", shared: "" };
  }

  /** Shows the list of all mistakes over the text, or hides it. */
  private listMistakes(): void {
    const pane = field("definition-pane");
    pane?.toggleAttribute("data-listed");
    this.markListed();
  }

  private markListed(): void {
    const listed = field("definition-pane")?.hasAttribute("data-listed") === true;
    document.querySelector('[data-command="mistakes"]')?.setAttribute("aria-expanded", String(listed));
  }

  // 2. From the server to the page.

  private take(answer: Answer): void {
    if (isAnswer(answer)) {
      return; // for its caller
    }
    const set = answer.set ?? {};
    const before = this.controls.message;
    const isRenamed = answer.renamed?.some(({ from, to }) => from === before && to === set.message) === true;
    Object.assign(this.controls, set, { name: "" });
    if (set.input !== undefined && showText(set.input)) {
      this.setBookmarks([]);
    }
    const form = field<HTMLSelectElement>("form");
    const byCode = field<HTMLInputElement>("bycode");
    if (form !== null && byCode !== null) {
      form.value = this.controls.form;
      byCode.checked = this.controls.bycode;
    }
    const { message, base } = this.controls;
    field("new-definition")?.toggleAttribute("hidden", message !== "" && (base !== "" || this.envelope));
    const name = field<HTMLInputElement>("name");
    if (name !== null && message !== "" && document.activeElement !== name) {
      name.value = message;
    }
    if (answer.list !== undefined) {
      updateMessages(answer.list);
    }
    for (const [id, html] of Object.entries(answer.html ?? {})) {
      this.part(id, html);
    }
    if (isRenamed) {
      this.together.goAlongTo(this.place.file);
    }
    if (set.definition !== undefined && set.reset !== true && answer.of === undefined && this.together.has(this.place.file)) {
      delete set.definition; // it was made before the server took the text from the room, which has it, too
      this.controls.definition = this.editor.text;
    }
    if (answer.older !== true) {
      this.takeDefinition(set, before, isRenamed && set.definition === undefined);
    }
    if (answer.rewritten !== undefined) {
      this.rewrite(this.recent.get(answer.of ?? 0), answer.rewritten);
    }
    this.draw(answer, (answer.of === undefined ? undefined : this.recent.get(answer.of)) ?? this.controls.definition);
    this.markOpen();
    const { file, is } = this.place;
    this.together.follow(file, is);
    if (!this.isOpening) {
      this.together.share();
    }
    this.isAnswered = true;
    this.showLinked();
    this.threads.follow(this.openFile, this.controls.base);
    if (answer.picked !== undefined) {
      this.tookPicked(answer.picked);
    }
    if (answer.data !== undefined) {
      this.host?.shown();
    }
    if (this.pendingSelection !== undefined && this.message !== null) {
      const { start, end } = this.pendingSelection;
      this.pendingSelection = undefined;
      this.hex.select(start, end, { reveal: true });
      this.chose(start, end, start, "keyboard");
    }
    this.address();
    if (Object.keys(answer.html ?? {}).some((id) => id !== "facts")) {
      document.dispatchEvent(new CustomEvent("wb:morphed"));
    }
    this.formPane.refresh();
    this.codeArea.refresh();
    performance.mark("wb:answered", { detail: answer.n });
    this.reveal();
    this.follow();
    document.dispatchEvent(new CustomEvent("wb:answered", { detail: answer.n }));
  }

  /** Draws the layout, the message and the mistakes of a text. */
  private draw(answer: Answer, text: string): void {
    if (answer.layout !== undefined) {
      this.layout.show(answer.layout);
      this.tree.setHoles(answer.layout.holes);
      this.links.lines(this.layout.keys());
      const help = this.layout.help();
      if (help !== undefined) {
        this.editor.setLineHelp(help);
      }
    }
    if (answer.data !== undefined) {
      const shown = new Message(answer.data);
      this.message = shown.empty ? null : shown;
      document.documentElement.classList.toggle("no-message", shown.empty);
      const host = document.querySelector<HTMLElement>(".hex-host");
      if (host?.hidden === true) {
        host.parentElement?.removeAttribute("tabindex");
        host.parentElement?.replaceChildren(host);
        host.hidden = false;
      }
      this.size = shown.data.length;
      this.setBookmarks(this.bookmarks);
      if (!shown.looksLike(this.drawn)) {
        this.hex.show(shown.hex(), { scroll: true });
        this.find?.changed();
      }
      this.drawn = shown;
      this.tree.show(this.message);
    }
    this.mistakes = { list: answer.mistakes ?? this.mistakes.list, of: text };
    this.showMistakes();
    if (answer.status !== undefined) {
      this.resting = answer.status;
    }
    this.links.show(this.message);
    this.together.tellPeers(); // with the new lines and bytes
    this.inspect(); // even while something else is hovered
  }

  /** Takes the open definition from an answer, and its text if it differs from the page's. */
  private takeDefinition(set: ControlChanges, before: string, renamed: boolean): void {
    const { message, base } = this.controls;
    if (renamed && !this.capture) {
      document.title = `${message} · Wirebench`;
      history.replaceState(history.state, "", addressOf(location.href, this.workspace, message, base !== "") + location.hash);
    }
    const another = message !== before && !renamed;
    this.edited = set.edited ?? this.edited;
    const { isOpening } = this;
    if (another) {
      this.isOpening = false; // an answer that was on its way is about the definition before
      if (!this.capture) {
        document.title = message === "" ? "Wirebench" : `${message} · Wirebench`;
      }
      if (!isOpening && !this.capture) { // a new one, or the one of the message
        history.pushState({}, "", addressOf(location.href, this.workspace, message, base !== ""));
      }
    }
    if (set.definition !== undefined) {
      if (set.reset === true && this.together.has(this.place.file)) { // another message of the same text
        this.controls.definition = this.editor.text;
      } else if (set.reset === true) {
        this.editor.open(set.definition);
      } else {
        this.editor.replace(set.definition);
      }
    }
    this.tellDraft();
    if (set.definition !== undefined) {
      this.cuts?.changed(set.definition);
    }
    if (!this.edited) {
      this.together.forget(); // it is saved
    }
  }

  /** Marks the open definition in the list, which the server draws the same for all pages. */
  private markOpen(): void {
    markMessage(this.controls.message);
  }

  /** Opens the address of a definition, or of a new one, in this page. Returns false for other addresses. */
  private openAt(href: string): boolean {
    const url = new URL(href, location.href);
    const message = messageIn(url);
    const name = url.searchParams.get("new");
    if (message !== null) {
      void this.open(message);
    } else if (name !== null) {
      void this.beginNew(name).then(() => this.focusBegun());
    }
    return message !== null || name !== null;
  }

  /** Writes the offsets and sizes of the problems, which come in hex and decimal, as chosen. */
  private numberProblems(): void {
    for (const e of document.querySelectorAll<HTMLElement>("#tree-problems :is([data-offset], [data-size])")) {
      const { offset, size } = e.dataset;
      put(e, "textContent", offset === undefined ? numberOf(Number(size)) : offsetOf(Number(offset)));
    }
  }

  private part(id: string, html: string): void {
    morph(id, html);
    if (id === "tree-problems") {
      this.numberProblems();
    }
    if (id === "values-body") {
      const value = field<HTMLTextAreaElement>("value");
      const made = this.form.elements.namedItem("made");
      this.controls.value = value?.value ?? "";
      this.controls.made = made instanceof HTMLInputElement ? made.value : "";
    }
    if (id === "notices") {
      this.notices();
    }
    if (id === "definition-notes") {
      this.markListed();
    }
  }

  /** Success messages of the last action disappear automatically. */
  private notices(): void {
    const good = document.querySelector("#notices .ok");
    if (good !== null) {
      notify(good.textContent ?? "");
      good.remove();
    }
  }

  private connection(state: State): void {
    document.documentElement.classList.toggle("live", state === "open");
    markStale(state === "lost" && this.connected.opened);
    if (state === "lost") {
      this.tell(null, false); // what it says may be of an earlier text
    }
    // The page was loaded, but websockets are blocked: it works by its forms.
    const forms = state === "lost" && this.connected.tries >= 2 && !this.connected.opened;
    document.documentElement.classList.toggle("forms", forms);
    const mark = field("connection");
    if (mark !== null && forms) {
      mark.className = "connection warn";
      mark.textContent = "no websocket: buttons only";
      mark.title = "No websocket connection: something between this browser and the server blocks it. Changes appear when a button is pressed.";
    } else if (mark !== null) {
      mark.className = `connection ${state === "open" ? "ok" : "warn"}`;
      mark.textContent = { open: "connected", connecting: "connecting …", lost: "reconnecting …" }[state];
      mark.title = state === "open" ? "" : "The server cannot be reached. Your changes stay here and are sent once it is back.";
    }
  }

  // 3. Links between the panes.

  private tell(target: Target | null, picked: boolean): void {
    if (picked) {
      this.inspect();
    }
    const line = field("pointed");
    if (line === null) {
      return;
    }
    if (target === null || (target.path === "" && target.ranges.length === 0)) {
      line.textContent = this.socket.isBehind ? "" : this.resting;
      return;
    }
    const name = this.message?.name ?? this.controls.message;
    const part = target.run >= 0 ? this.message?.partOfRun(target.run) : undefined;
    const [first] = target.ranges;
    const size = first === undefined ? 0 : first.end - first.start;
    const where = first === undefined ? "" : ` @ ${bitOffsetOf(first.start)} +${size % 8 === 0 ? numberOf(size / 8) : `${size} bit`}`;
    const more = target.ranges.length > 1 ? `, ${target.ranges.length} places` : "";
    const gap = part?.role === "gap";
    const role = part === undefined || gap ? "" : roleWord(part.role, target.path);
    line.textContent = `${name} › ${target.path || (gap ? "unexplained" : target.lines[0] === undefined ? "bytes" : `line ${target.lines[0]}`)}${role}${part === undefined ? "" : `: ${part.type}`}${where}${more}`;
  }

  /** A selection in the hex grid: a click selects the whole field. */
  private chose(start: number, end: number, caret: number, how: "click" | "drag" | "keyboard"): void {
    this.pendingSelection = undefined; // a selection made meanwhile stays
    const target = this.links.ofByte(caret);
    const [bits] = target?.ranges ?? [];
    if (how === "click" && bits !== undefined && end - start <= 1) {
      this.hex.select(bits.start >> 3, (bits.end + 7) >> 3, { reveal: false, caret });
    }
    if (end - start <= 1 || how === "click") {
      this.links.pick(target);
    } else {
      this.links.pick({ from: "hex", ranges: [{ start: start * 8, end: end * 8 }], lines: [], keys: new Set(), path: "", run: -1 });
    }
    this.address();
  }

  /** Selects bytes of the message, like the user. */
  selectBytes(start: number, end: number): void {
    if (this.message !== null && end <= this.message.data.length) {
      this.hex.select(start, end, { reveal: true });
      this.chose(start, end, start, "keyboard");
    }
  }

  private elsewhere: { data: Uint8Array; start: number; end: number } | undefined; // inspected instead of the message

  /** Inspects other bytes than those of the message; undefined: those of the message. */
  inspectOther(place: { data: Uint8Array; start: number; end: number } | undefined): void {
    this.elsewhere = place;
    this.inspect();
  }

  private mayEdit(): boolean {
    return this.message !== null && this.socket.state === "open";
  }

  private inspect(): void {
    if (this.elsewhere !== undefined) {
      this.inspector.show(this.elsewhere.data, this.elsewhere.start, this.elsewhere.end);
      return;
    }
    const { start, end, caret } = this.hex.selection;
    const { data } = this.hex;
    const target = this.links.chosen;
    const nowhere = target !== null && target.ranges.length === 0; // a line that no byte of the message belongs to
    this.inspector.show(data, nowhere ? data.length : end - start > 1 ? start : caret, end, this.mayEdit());
    put(this.selected, "textContent", end > start ? selectionText(data, start, end) : "");
  }

  /** Moves the focus into the inspector, which opens. */
  private openInspector(): void {
    const strip = field<HTMLDetailsElement>("inspector-strip");
    showPane(field(strip === null ? "tools-pane" : "bytes-pane") ?? this.form);
    if (strip === null) {
      document.querySelector<HTMLElement>('[data-segment="inspector"]')?.click();
    } else if (!strip.open) {
      strip.querySelector("summary")?.click(); // it is remembered
    }
    document.querySelector<HTMLElement>('.inspector [tabindex="0"]')?.focus();
  }

  private pick(target: Target | null): void {
    this.links.pick(target);
    this.address();
  }

  private address(now = false): void {
    const { start, end } = this.hex.selection;
    if (this.host !== undefined) {
      this.host.selected(end > start ? { start, end } : undefined);
      return;
    }
    if (this.capture) {
      return; // the list is being loaded
    }
    writeAddress({ ...this.shown(), text: undefined }, now); // what is typed is in the room
  }

  private shown(): Shown {
    const { start, end } = this.hex.selection;
    return {
      workspace: this.workspace,
      definition: this.controls.message,
      stored: this.controls.base !== "",
      text: this.edited ? this.controls.definition : undefined,
      data: this.message?.data,
      selection: end > start ? { start, end } : undefined,
      bookmarks: packBookmarks(this.bookmarks),
    };
  }

  // 4. Values.

  private async valueOf(row: HTMLElement): Promise<ValueAnswer | undefined> {
    const [at] = (row.dataset["range"] ?? "").split(":");
    const answer = await this.socket.act({ action: `value:${row.dataset["role"] === undefined ? "" : at}`, path: row.dataset["path"] ?? "", role: row.dataset["role"] ?? "value" });
    if (answer.value === undefined || (answer.value.failed ?? "") !== "") {
      notify(answer.value?.failed ?? answer.failed ?? "No such value", "warn");
      return undefined;
    }
    return answer.value;
  }

  private async edit(row: HTMLElement): Promise<void> {
    const role = row.dataset["role"];
    if (role === undefined || this.message === null) {
      return;
    }
    const value = await this.valueOf(row);
    if (value === undefined || !row.isConnected) {
      return;
    }
    const [at] = (row.dataset["range"] ?? "").split(":");
    const commit = async (typed: string): Promise<string> => {
      if (typed === value.typed) {
        return "";
      }
      const exactly = document.documentElement.dataset["lengths"] === "keep";
      const answer = await this.press(`set:${at ?? ""}`, { path: value.path, role, typed, exactly });
      return answer.failed ?? "";
    };
    editValue(row, value, commit, () => this.tree.list.redraw());
  }

  private rowMenu(row: HTMLElement, at: { x: number; y: number } | HTMLElement): void {
    const target = this.links.ofElement(row);
    const line = target?.lines[0];
    const goTo = { title: "Go to its line in the definition", disabled: line === undefined, run: () => line !== undefined && this.editor.select(line) };
    this.pick(target);
    if (row.closest(".tree") === null) {
      void this.fieldMenu(at, [goTo]);
      return;
    }
    const filters = row.dataset["run"] !== undefined ? [] : (this.host?.fieldMenu(() => this.fieldForFilter(row)) ?? []);
    const element = row.dataset["element"] !== undefined;
    const path = row.dataset["path"] ?? "";
    const list = row.dataset["list"] !== undefined || (["count", "offset"].includes(row.dataset["role"] ?? "") && this.layout.isList(path)); // an empty list
    const run = row.dataset["run"] !== undefined;
    const gap = row.classList.contains("gap");
    const change = (action: string): void => this.changeList(action, row);
    const items = [
      { title: "Copy value as …", hint: "c", disabled: run || gap, run: () => void this.copyValue(row, at) },
      { title: "Copy bytes as …", run: () => this.copyBytes(at) },
      { title: "Edit value", hint: "Enter", disabled: row.dataset["role"] === undefined, run: () => void this.edit(row) },
      goTo,
      ...filters,
      ...(list || element ? [{ title: element ? "Insert an element before" : "Add an element", hint: "Insert", run: () => change("insert") }] : []),
      ...(element && !run ? [
        { title: "Duplicate this element", hint: "Ctrl+D", run: () => change("copy") },
        { title: "Move this element up", hint: "Alt+↑", run: () => change("up") },
        { title: "Move this element down", hint: "Alt+↓", run: () => change("down") },
        { title: "Remove this element", hint: "Delete", run: () => change("remove") },
      ] : []),
      ...(this.layout.alternatives && !run ? [{ title: "Change to another alternative …", run: () => void this.alternatives(at) }] : []),
      ...(run ? [] : [{ title: gap ? "Define these bytes …" : "Type, name and parts of the field …", hint: "t", run: () => void this.fieldMenu(at) }]),
    ];
    openMenu(at, { label: path === "" ? "Field" : path, items });
  }

  /** Offers the alternatives of the message. The bytes are made anew, with defaults for fields that only the chosen one has. */
  private async alternatives(at: { x: number; y: number } | HTMLElement): Promise<void> {
    const { form } = await this.socket.act({ action: "form" });
    const cases = form?.form.cases ?? [];
    if (form === undefined || form.made || cases.length === 0) {
      notify(form?.failed ?? "The message has no alternatives", "warn");
      return;
    }
    openMenu(at, {
      label: "Alternative",
      items: cases.map(({ title, fields }, i) => ({
        title, note: i === form.case ? "now" : fields.map(({ name }) => name).join(", "), disabled: i === form.case, why: "the message has this alternative",
        run: () => this.changeMessage(`case:${i}`, ""),
      })),
    });
  }

  private readonly formPane = new FormPane({
    ask: (action) => this.socket.act(action),
    press: (action, more) => this.press(action, more),
    point: (path) => this.links.pickPath(path),
  });

  private readonly codeArea = new CodeArea({
    subject: () => (this.controls.message === "" || this.envelope ? undefined : { // an envelope has no code
      workspace: this.workspace, message: this.controls.message, text: this.edited ? this.controls.definition : undefined, state: field("rail-list")?.dataset["state"] ?? "",
    }),
    save: (target, anchor) => void this.press(`emit:${target}`, {}, anchor),
  });

  // 4a. Fields of the definition.

  private readonly fieldsHost: FieldsHost = {
    choices: async ({ start, end }) => {
      const answer = await this.socket.act({ action: `types:${start}:${end - start}` });
      return answer.choices ?? { types: [], name: "", failed: answer.failed ?? "the server cannot be reached" };
    },
    act: (action) => this.press(action.action, action),
    changed: (bits, line) => {
      if (bits !== undefined && this.message !== null) {
        this.hex.select(bits.start >> 3, (bits.end + 7) >> 3, { reveal: true });
        this.chose(bits.start >> 3, (bits.end + 7) >> 3, bits.start >> 3, "click");
      }
      if (line > 0) {
        this.editor.select(line);
      }
    },
  };

  /** The selected bytes, or the selected part of the message or the layout. */
  private subject(): Subject {
    const { start, end } = this.hex.selection;
    const target = this.links.chosen;
    const [part] = target?.ranges ?? [];
    const path = target === null || target.run < 0 && target.from === "hex" ? "" : target.path.replace(/ \[\w+\]$/, "");
    let bits: Bits | undefined = end > start ? { start: start * 8, end: end * 8 } : undefined;
    if (part !== undefined && (bits === undefined || (part.start >> 3 === start && (part.end + 7) >> 3 === end))) {
      bits = { ...part }; // which may be bits of a byte
    } else if (this.message === null && target !== null) {
      bits = this.links.layoutBits(target);
    }
    const run = bits === undefined ? -1 : (this.message?.runAt(bits.end) ?? -1);
    const next = run >= 0 ? this.message?.bits(run) : undefined;
    return { bits, path: path === "unexplained" ? "" : path, next: next?.start === bits?.end ? next : undefined };
  }

  /** Where a menu of the selected bytes opens, without a pointer. */
  private menuPlace(): { x: number; y: number } | HTMLElement {
    const row = document.activeElement?.closest<HTMLElement>(".tree tr, .layout-table tr");
    return row?.querySelector("td") ?? this.hex.pointOf(this.hex.selection.start);
  }

  /** Opens the menu of the selected bytes or field. */
  private async fieldMenu(at: { x: number; y: number } | HTMLElement, more: readonly MenuItem[] = []): Promise<void> {
    const subject = this.subject(); // the selection can change while the menu is loaded
    const fields = await load(() => import("../message/fields"));
    await fields?.fieldsMenu(at, this.fieldsHost, subject, more);
  }

  /** Opens the menu of a byte: of the selection if it is inside. */
  private bytesMenu(byte: number, at: { x: number; y: number }): void {
    const { start, end } = this.hex.selection;
    if (byte < start || byte >= end) {
      this.hex.select(byte, byte + 1, { reveal: false });
      this.chose(byte, byte + 1, byte, "click");
    }
    void this.fieldMenu(at, [
      { title: "Copy bytes as …", hint: "c", group: "Bytes", run: () => this.copyBytes(at) },
      { title: "Paste over the selected bytes", hint: "Ctrl+Shift+V", group: "Bytes", disabled: !this.mayEdit(), run: () => void this.sample.fromClipboard((text) => this.hex.paste(text)) },
      ...(this.capture ? [] : [{ title: "Bookmark …", hint: "m", group: "Bytes", run: () => this.addBookmark() }]),
      { title: "Edit bytes", hint: "Enter", group: "Bytes", run: () => { this.hex.focus(); this.hex.setEditing(true); } },
    ]);
  }

  private async renameField(): Promise<void> {
    const { path } = this.subject();
    if (path === "") {
      notify("Select a field first", "warn");
      return;
    }
    const at = this.menuPlace();
    (await load(() => import("../message/fields")))?.rename(at, this.fieldsHost, path);
  }

  /** Starts a definition of the shown message, under a name that the user may change. */
  private async beginFrom(button: HTMLElement): Promise<void> {
    const { begin = "", code = "", map = "" } = button.dataset;
    askText(button, { label: "Name of the new definition", text: begin, button: "Begin", most: 100 }, (name) => {
      void this.press(`begin:${name}`).then((answer) => {
        if ((answer.failed ?? "") !== "") {
          return;
        }
        showPane(field("definition-pane") ?? this.form);
        this.editor.focusEnd();
        if (map !== "" && !lookOnly()) {
          this.begun.set(name, { name, map, code: Number(code) });
        }
      });
    });
  }

  /** A field of the tree for filters, with its value. */
  private async fieldForFilter(row: HTMLElement): Promise<FieldForFilter | undefined> {
    const role = row.dataset["role"] ?? "value";
    const value = await this.valueOf(row);
    if (value === undefined) {
      return undefined;
    }
    const message = value.message.replace(/^.*\//, "");
    return { path: role === "value" ? `${message}.${value.path}` : "", literal: literalOf(value) };
  }

  /** Inserts, duplicates or removes an element of a list. */
  /** The row of the current element of a list in the tree, or null. */
  private elementRow(): HTMLElement | null {
    return document.querySelector<HTMLElement>('.tree tr[data-element][tabindex="0"]:not([data-run])');
  }

  private changeElement(action: string): void {
    const row = this.elementRow();
    if (row !== null) {
      this.changeList(action, row);
    }
  }

  private changeList(action: string, row: HTMLElement): void {
    this.changeMessage(action, row.dataset["path"] ?? "");
  }

  private changeMessage(action: string, path: string): void {
    void this.press(action, { path }).then((answer) => {
      if ((answer.failed ?? "") !== "") {
        notify(answer.failed ?? "", "warn");
      }
    });
  }

  /** Exchanges an element with the one before or after it; the focus goes with it. */
  private shiftElement(row: HTMLElement, by: -1 | 1): void {
    const path = row.dataset["path"] ?? "";
    void this.press(by < 0 ? "up" : "down", { path }).then((answer) => {
      if ((answer.failed ?? "") !== "") {
        notify(answer.failed ?? "", "warn");
        return;
      }
      const next = path.replace(/\[(\d+)\]$/, (_, n: string) => `[${Number(n) + by}]`);
      document.querySelector<HTMLElement>(`.tree tr[data-path="${CSS.escape(next)}"][data-element]`)?.focus();
    });
  }

  private async copyValue(row: HTMLElement, at: { x: number; y: number } | HTMLElement): Promise<void> {
    const value = await this.valueOf(row);
    if (value !== undefined) {
      const name = value.path.slice(Math.max(value.path.lastIndexOf("."), value.path.lastIndexOf("[") - 1) + 1);
      (await copyMenus())?.copyValueMenu(at, { path: value.path, name: name || value.message, message: value.message, value: value.value, type: value.type, role: value.role }, { notify });
    }
  }

  private copyBytes(at: { x: number; y: number } | HTMLElement): void {
    const m = this.message;
    if (m === null) {
      return;
    }
    const { start, end } = this.hex.selection;
    const whole = end <= start;
    const dir = m.dir === "c2s" || m.dir === "s2c" ? m.dir : "";
    void copyMenus().then((c) => c?.copyBytesMenu(at, whole ? m.data : m.data.subarray(start, end), { offset: whole ? 0 : start, name: m.name, dir, notify }));
  }

  // 5. Listeners and commands.

  private listen(): void {
    const form = this.form;
    addEventListener("pagehide", () => this.keepPasted());
    this.sample.listen();
    form.addEventListener("change", (event) => {
      const target = event.target;
      if (target instanceof HTMLSelectElement && target.name === "form") {
        this.controls.form = target.value;
        this.socket.set({ form: target.value });
      } else if (target instanceof HTMLSelectElement && target.name === "part") {
        this.caretLine = null;
        void this.press(`pick:${target.value}`);
      } else if (target instanceof HTMLInputElement && target.name === "bycode" && target.type === "checkbox") {
        this.controls.bycode = target.checked;
        this.socket.set({ bycode: target.checked });
      } else if (target instanceof HTMLInputElement && target.name === "name") {
        this.rename();
      }
    });
    form.addEventListener("input", (event) => {
      const target = event.target;
      if (target instanceof HTMLTextAreaElement && target.name === "value") {
        this.controls.value = target.value;
        this.socket.set({ value: target.value });
      } else if (target instanceof HTMLInputElement && target.name === "code") {
        this.controls.code = target.value;
        this.socket.set({ code: target.value });
      }
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing && event.target === field("about")) {
        event.preventDefault(); // a browser presses the first button of the form
        field("samples")?.querySelector<HTMLElement>('button[value="keep"]')?.click();
      }
    });
    form.addEventListener("submit", (event) => {
      const button = event.submitter;
      const byForms = document.documentElement.classList.contains("forms");
      if (document.activeElement === field("name") && !byForms) {
        event.preventDefault(); // Enter only ends editing the name
        return;
      }
      if (!(button instanceof HTMLButtonElement)) {
        return;
      }
      const asked = button.dataset["confirm"];
      if (asked !== undefined && this.confirmed !== button) {
        event.preventDefault();
        void confirmDialog(asked, button.dataset["confirmAction"] ?? "Delete").then((yes) => {
          if (yes) {
            this.confirmed = button;
            this.form.requestSubmit(button);
          }
        });
        return;
      }
      this.confirmed = undefined;
      if (byForms) {
        const text = field<HTMLTextAreaElement>("definition");
        if (text !== null) {
          text.value = this.editor.text;
        }
        return; // never connected: the page works as a form
      }
      if (this.socket.state !== "open" && !(this.together.active && button.value === "save")) { // the room saves it later
        // Without a server, submitting the form would lose the typed text.
        event.preventDefault();
        notify("The server cannot be reached. Your changes are kept; try again later.", "err");
        return;
      }
      event.preventDefault();
      if (button.dataset["begin"] !== undefined) {
        void this.beginFrom(button);
        return;
      }
      if (button.name === "bycode") {
        this.controls.bycode = true;
        this.socket.set({ bycode: true });
        return;
      }
      const menu = button.closest("details");
      if (menu !== null && !button.value.startsWith("drop")) {
        menu.open = false;
      }
      if (this.together.active && (button.value === "save" || button.value === "stored")) {
        void (button.value === "save" ? this.save() : this.discard());
        return;
      }
      if (button.value === "stored" || button.value === "theirs") {
        this.together.forget();
      }
      void this.press(button.value);
    });
    document.addEventListener("wb:segment", () => {
      const values = document.documentElement.dataset["tools"] === "values";
      if (values !== this.controls.values) {
        this.controls.values = values;
        this.socket.set({ values });
      }
      this.formPane.refresh();
    });
    document.addEventListener("pointerover", (event) => {
      const element = linkedElement(event.target);
      if (element?.closest("#hex,.editor-host") != null) {
        return; // they report themselves
      }
      if (element !== null) {
        this.links.point(this.links.ofElement(element));
      } else if (!(event.target instanceof Element && event.target.closest("#hex,.editor-host") !== null)) {
        this.links.point(null);
      }
    });
    document.documentElement.addEventListener("pointerleave", () => this.links.point(null));
    document.addEventListener("focusin", (event) => {
      const element = linkedElement(event.target);
      if (element !== null && element.matches("tr[tabindex]")) {
        this.pick(this.links.ofElement(element));
      }
    });
    document.addEventListener("click", (event) => {
      if (!(event.target instanceof Element)) {
        return;
      }
      const link = event.target.closest<HTMLAnchorElement>(".rail a[href],.fits a");
      if (link !== null && this.socket.state === "open" && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        if (this.openAt(link.href)) {
          event.preventDefault();
        }
        return;
      }
      const problem = event.target.closest<HTMLElement>(".problems li[data-line]");
      const element = linkedElement(event.target);
      if (problem !== null) {
        this.editor.select(Number(problem.dataset["line"]));
        this.editor.focus();
      } else if (element !== null && element.closest("#hex,.editor-host") === null && !element.matches(".tree tr, .tree tr *")) {
        this.pick(this.links.ofElement(element));
      } else if (element?.matches(".tree tr") === true) {
        element.focus({ preventScroll: true });
      }
    });
    addEventListener("popstate", () => {
      const url = new URL(location.href);
      const message = messageIn(url);
      const begun = url.searchParams.get("new");
      if (message !== null && message !== this.controls.message) {
        void this.open(message, false);
      } else if (begun !== null && begun !== "" && begun !== this.controls.message) {
        this.isOpening = true;
        void this.beginNew(begun).then(() => { this.isOpening = false; });
      }
    });
    addEventListener("hashchange", () => {
      const asked = readAddress();
      if (location.hash === "#main") {
        this.address(); // by the skip link
      } else if (asked.hex !== undefined && asked.hex !== hexOf(this.message?.data ?? new Uint8Array())) {
        location.reload();
      }
    });
    startTree(this.tree, this.layout.list, {
      edit: (row) => void this.edit(row),
      menu: (row, at) => this.rowMenu(row, at),
      insert: (path) => this.changeMessage("insert", path),
      remove: (row) => this.changeList("remove", row),
      copy: (row) => this.changeList("copy", row),
      shift: (row, by) => this.shiftElement(row, by),
    });
  }

  private commands(): void {
    scoresCommand((score) => {
      this.controls.score = score;
      this.socket.set({ score });
    });
    prefetch(() => import("../message/fields"));
    prefetch(() => import("../message/hex/find"));
    const byBrowser = (): boolean => false; // its keys make the browser paste, without asking
    const onParts = (): boolean => document.activeElement?.closest("#bytes-pane, #fields-pane, #layout-pane") !== null;
    const onBytes = (): boolean => document.activeElement?.closest("#bytes-pane") != null;
    const focus = (id: string) => (): void => {
      const element = field<HTMLElement>(id);
      showPane(element ?? this.form);
      element?.focus();
      if (element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement) {
        element.select();
      }
    };
    register(
      { id: "filter", title: "Filter the messages of the library", group: "Go to", keys: field("frames") === null ? ["/"] : [], run: focus("filter") }, // "/" is for frames if the page has some
      ...(this.capture ? [] : [
        { id: "paste", title: "Paste bytes in the place of these", group: "Message", keys: ["Ctrl+V"], here: byBrowser, run: () => void this.sample.fromClipboard((text) => void this.sample.paste(text)) },
        { id: "input", title: "Edit the bytes as text", group: "Message", keys: ["p"], run: () => this.sample.edit() },
      ]),
      { id: "paste-over", title: "Paste over the selected bytes", group: "Message", keys: ["Ctrl+Shift+V"], enabled: () => this.mayEdit(), here: byBrowser, run: () => void this.sample.fromClipboard((text) => this.hex.paste(text)) },
      { id: "editor", title: "Definition", group: "Go to", keys: ["d"], run: () => { showPane(field("definition-pane") ?? this.form); this.editor.focus(); } },
      { id: "bytes", title: "Bytes", group: "Go to", keys: ["b"], run: () => { showPane(field("bytes-pane") ?? this.form); this.hex.focus(); } },
      { id: "fields", title: "Fields", group: "Go to", keys: ["f"], run: () => this.focusFields() },
      { id: "layout", title: "Layout", group: "Go to", keys: ["y"], run: () => { showPane(field("layout-pane") ?? this.form); this.layout.focus(); } },
      { id: "layout-table", title: "Layout as a table, or as a diagram", group: "View", keys: ["g t"], enabled: () => this.layout.views().length > 0, run: () => { showPane(field("layout-pane") ?? this.form); this.layout.views().find((view) => view.ariaPressed !== "true")?.click(); this.layout.focus(); } },
      { id: "layout-order", title: "Table of the layout in the order of the definition, or of the wire", group: "View", run: () => this.layout.reorder() },
      { id: "offset", title: "Go to an offset", group: "Go to", keys: ["Ctrl+G"], run: () => this.goTo() },
      ...(this.capture ? [] : [
        { id: "bookmark", title: "Bookmark the selected bytes", group: "Message", keys: ["m"], enabled: () => this.hasBytes(), here: onBytes, run: () => this.addBookmark() },
        { id: "bookmark-next", title: "Next bookmark", group: "Go to", keys: ["."], enabled: () => this.hasBytes(), here: onBytes, run: () => this.stepBookmark(1) },
        { id: "bookmark-previous", title: "Previous bookmark", group: "Go to", keys: [","], enabled: () => this.hasBytes(), here: onBytes, run: () => this.stepBookmark(-1) },
      ]),
      { id: "find-bytes", title: "Find in bytes", group: "Go to", keys: ["Ctrl+F"], enabled: () => this.hasBytes(), here: onBytes, run: () => { showPane(field("bytes-pane") ?? this.form); void this.findBytes((find) => find.open()); } },
      { id: "find-bytes-next", title: "Find the next in bytes", group: "Go to", keys: ["F3"], anywhere: true, enabled: () => this.hasBytes(), here: onBytes, run: () => void this.findBytes((find) => find.next(false)) },
      { id: "find-bytes-previous", title: "Find the previous in bytes", group: "Go to", keys: ["Shift+F3"], anywhere: true, enabled: () => this.hasBytes(), here: onBytes, run: () => void this.findBytes((find) => find.next(true)) },
      { id: "field-before", title: "Previous field", group: "Go to", keys: ["["], run: () => this.links.step(-1) },
      { id: "field-after", title: "Next field", group: "Go to", keys: ["]"], run: () => this.links.step(1) },
      { id: "back", title: "Back to the previous selection", group: "Go to", keys: ["Alt+ArrowLeft"], run: () => this.links.travel(-1) },
      { id: "forth", title: "Forward again", group: "Go to", keys: ["Alt+ArrowRight"], run: () => this.links.travel(1) },
      { id: "type", title: "Type of the selected bytes …", group: "Definition", keys: ["t"], enabled: () => onParts(), run: () => void this.fieldMenu(this.menuPlace()) },
      { id: "rename-field", title: "Rename the selected field", group: "Definition", keys: ["F2"], enabled: () => onParts(), run: () => void this.renameField() },
      { id: "mistakes", title: "List all mistakes of the definition", group: "Definition", keys: ["Shift+F8"], enabled: () => document.querySelector(".strip .problems") !== null, run: () => this.listMistakes() },
      { id: "save", title: "Save the definition", group: "Definition", keys: ["Ctrl+S"], anywhere: true, run: () => void this.save() },
      { id: "version", title: "Save the text as a new version", group: "Definition", enabled: () => !lookOnly(), run: () => void this.press("version") },
      { id: "format", title: "Format the definition", group: "Definition", keys: ["Shift+Alt+F"], run: () => void this.press("format") },
      { id: "code", title: "Code of the definition, beside its text", group: "Definition", keys: ["g c"], run: () => this.codeArea.toggle() },
      { id: "new", title: "New definition", group: "Definition", run: () => void this.beginNew("").then(() => focus("name")()) },
      { id: "discard", title: "Discard unsaved changes", group: "Definition", enabled: () => this.edited, run: () => void this.discard() },
      { id: "svg", title: "Layout as a picture (SVG)", group: "Definition", run: () => void this.press("svg") },
      { id: "layout-text", title: "Layout as text", group: "Definition", run: () => void this.press("text") },
      { id: "build", title: "Build a message from scratch", group: "Message", run: () => void this.press("build") },
      { id: "alternative", title: "Change to another alternative …", group: "Message", enabled: () => this.message !== null && this.layout.alternatives, run: () => void this.alternatives(this.menuPlace()) },
      { id: "element-insert", title: "Insert an element into the list", group: "Message", enabled: () => this.elementRow() !== null, run: () => this.changeElement("insert") },
      { id: "element-copy", title: "Duplicate the element of the list", group: "Message", enabled: () => this.elementRow() !== null, run: () => this.changeElement("copy") },
      { id: "element-up", title: "Move the element of the list up", group: "Message", enabled: () => this.elementRow() !== null, run: () => this.changeElement("up") },
      { id: "element-down", title: "Move the element of the list down", group: "Message", enabled: () => this.elementRow() !== null, run: () => this.changeElement("down") },
      { id: "element-remove", title: "Remove the element of the list", group: "Message", enabled: () => this.elementRow() !== null, run: () => this.changeElement("remove") },
      { id: "mistake-next", title: "Next mistake of the definition", group: "Definition", keys: ["F8"], enabled: () => this.mistakes.list.length > 0, run: () => { showPane(field("definition-pane") ?? this.form); this.editor.nextMistake(); } },
      { id: "keep", title: "Keep the message as a sample", group: "Message", enabled: () => !lookOnly() && this.message !== null, run: () => { const menu = field<HTMLDetailsElement>("samples"); if (menu !== null) { menu.open = true; field("about")?.focus(); } } },
      { id: "repair", title: "Repair lengths, counts and offsets", group: "Message", enabled: () => this.message !== null, run: () => void this.press("repair") },
      { id: "original", title: "Back to the pasted bytes", group: "Message", run: () => void this.press("original") },
      { id: "undo", title: "Undo a change of bytes", group: "Message", keys: ["Ctrl+Z"], run: () => this.undo() },
      { id: "redo", title: "Redo a change of bytes", group: "Message", keys: ["Ctrl+Y", "Ctrl+Shift+Z"], run: () => this.redo() },
      { id: "edit-bytes", title: "Edit bytes", group: "Message", enabled: () => this.message !== null, run: () => { this.hex.focus(); this.hex.setEditing(!this.hex.editing); } },
      { id: "copy", title: "Copy bytes as …", group: "Message", keys: ["c"], enabled: () => this.message !== null, run: () => this.copyBytes(this.menuPlace()) },
      { id: "share", title: "Share the message as a page, without secrets …", group: "Message", enabled: () => !this.capture && this.message !== null && !lookOnly("commenter"), run: () => this.shareMessage() },
      { id: "link", title: "Copy a link to this view", group: "Message", keys: ["l"], run: () => this.copyLink() },
      { id: "clear", title: "Clear the selection", group: "Go to", keys: ["Escape"], run: () => this.pick(null) },
      { id: "numbers", title: "Offsets and numbers in hex or decimal", group: "View", keys: ["#"], run: () => notify(`Numbers: ${nextNumbers()}`) },
      { id: "upper", title: "Bytes in upper or lower case", group: "View", run: () => this.setGrid({ upper: !this.hex.settings.upper }) },
      { id: "byte-order", title: "Byte order of the inspector: little endian, big endian, both", group: "View", run: () => (document.querySelector<HTMLElement>("[data-segments=order] [aria-pressed=true] + button") ?? document.querySelector<HTMLElement>("[data-segments=order] button"))?.click() },
      { id: "inspector", title: "Inspector", group: "Go to", keys: ["g i"], run: () => this.openInspector() },
      { id: "columns", title: "Bytes per row: 8, 16, 32, automatic", group: "View", run: () => this.setGrid({ columns: ({ 8: 16, 16: 32, 32: 0, 0: 8 } as const)[this.hex.settings.columns] }) },
    );
    searchLibrary(this.workspace, (message, line) => {
      void this.open(message).then(() => {
        if (line > 0) {
          this.links.pick(this.links.ofLine(line));
        }
      });
    }, (message) => void this.beginNew(message).then(() => this.focusBegun()));
    addProvider({
      group: "Messages",
      ready: listed,
      entries: () =>
        listedEntries().map(({ name, note, href }) => ({
          title: name,
          hint: note,
          run: () => {
            if (this.socket.state !== "open" || !this.openAt(href)) {
              location.assign(href);
            }
          },
        })),
    });
    addProvider({
      group: "Fields of the message",
      entries: () =>
        this.tree.fields().map(({ title, hint, focus }) => ({ title, hint, run: () => { showPane(field("fields-pane") ?? this.form); focus(); } })),
    });
    addProvider({ group: "Bookmarks", entries: () => this.marked.map((b) => ({ title: b.name, hint: `${numberOf(b.end - b.start)} at ${offsetOf(b.start)}`, run: () => this.goToBookmark(b) })) });
    addProvider({
      group: "Unsaved texts of an earlier version",
      entries: () => oldDrafts(this.workspace).map((old) => ({ title: old.message, hint: "in this browser", run: () => void this.openOld(old) })),
    });
    addProvider({
      group: "Samples",
      entries: () =>
        Array.from(document.querySelectorAll<HTMLButtonElement>("#samples button[value^='sample:']"), (button) => ({
          title: button.querySelector("span")?.textContent ?? "",
          run: () => void this.press(button.value),
        })),
    });
  }

  private bookmarks: readonly Bookmark[] = [];
  private readonly bookmarkBar = bookmarkList();
  private size = 0; // of the shown message, in bytes

  /** The bookmarks of the shown message, in order. */
  private get marked(): Bookmark[] {
    return this.bookmarks.filter(({ show }) => show === this.controls.show).sort((a, b) => a.start - b.start || a.end - b.end);
  }

  private setBookmarks(list: readonly Bookmark[]): void {
    this.bookmarks = list;
    this.hex.bookmark(this.marked);
    drawBookmarks(this.bookmarkBar, this.marked, {
      go: (b) => this.goToBookmark(b),
      change: (from, to) => this.changeBookmark(from, to),
      rename: (b, anchor) => askText(anchor, { label: "Name of the bookmark", text: b.name, button: "Rename", most: 100 }, (name) => this.changeBookmark(b, { ...b, name: name || b.name })),
    });
  }

  /** Replaces, adds or removes a bookmark, as a step that can be undone. */
  private changeBookmark(from: Bookmark | undefined, to: Bookmark | undefined): void {
    this.remember();
    this.setBookmarks([...this.bookmarks.filter((b) => b !== from), ...(to === undefined ? [] : [to])]);
    this.address();
  }

  private goToBookmark({ start, end }: Bookmark): void {
    this.selectBytes(start, Math.min(end, this.size));
    this.hex.focus();
  }

  /** Bookmarks the selected bytes. */
  private addBookmark(): void {
    const { start, end, caret } = this.hex.selection;
    const range = end > start ? { start, end } : { start: caret, end: caret + 1 };
    const path = this.links.chosen?.path ?? "";
    askText(this.hex.pointOf(range.start), { label: "Name of the bookmark", text: path === "unexplained" ? "" : path, button: "Bookmark", most: 100 }, (name) => {
      const n = this.bookmarks.length;
      this.changeBookmark(undefined, { show: this.controls.show, ...range, hue: (n % hueNames.length) + 1, name: name || `bookmark ${n + 1}` });
    });
  }

  /** Goes to the next bookmark, or the previous one. */
  private stepBookmark(by: -1 | 1): void {
    const all = this.marked;
    const { start } = this.hex.selection;
    const next = by > 0 ? (all.find((b) => b.start > start) ?? all[0]) : (all.findLast((b) => b.start < start) ?? all.at(-1));
    if (next === undefined) {
      notify("No bookmarks", "warn");
    } else {
      this.goToBookmark(next);
    }
  }

  private find: ByteFind | undefined; // once it was opened

  /** Whether the bytes of a message are shown. */
  private hasBytes(): boolean {
    return this.message !== null && field("hex")?.hidden === false;
  }

  private async findBytes(what: (find: ByteFind) => void): Promise<void> {
    const hex = field("hex");
    const module = await load(() => import("../message/hex/find"));
    if (module !== undefined && hex !== null) {
      this.find ??= new module.ByteFind(hex, { grid: this.hex, ask: (action) => this.socket.act(action), select: (start, end) => this.selectBytes(start, end) });
      what(this.find);
    }
  }

  /** Changes settings of the grid, and stores them. */
  private setGrid(change: Partial<HexSettings>): void {
    const { decimal, ...rest } = { ...this.hex.settings, ...change };
    this.hex.apply({ ...rest, decimal });
    try {
      localStorage.setItem("wirebench.hex", JSON.stringify(rest));
    } catch {
      // The settings then last as long as the page.
    }
  }

  private goTo(): void {
    const size = this.message?.data.length ?? 0;
    if (size === 0) {
      notify("No bytes", "warn");
      return;
    }
    void askDialog("Go to offset", `0 to ${size - 1} (${hexNumber(size - 1)}), decimal or hex with 0x`, "Go", (text) => {
      const at = text === "" ? NaN : Number(text);
      return Number.isInteger(at) && at >= 0 && at < size ? "" : `An offset is a number from 0 to ${size - 1}`;
    }).then((text) => {
      const at = Number(text);
      if (text !== undefined) {
        this.hex.select(at, at + 1, { reveal: true });
        this.chose(at, at + 1, at, "click");
        this.hex.focus();
      }
    });
  }

  private copyLink(): void {
    void linkTo(this.shown()).then(async ({ href, left }) => {
      const done = await copyText(href);
      if (!done) {
        notify("The browser does not allow copying here", "err");
      } else if (left === "") {
        notify("Copied a link to this view");
      } else {
        notify(`Copied a link without ${left}: too large for a link`, "warn");
      }
    });
  }
}

/** Starts the workbench page, if it is one. */
export function startPage(): void {
  const main = document.getElementById("main");
  const form = document.getElementById("bench");
  if (main?.dataset["workspace"] !== undefined && form instanceof HTMLFormElement) {
    started = new Page(main, form);
    startedPage(started);
  }
}

let started: Page | undefined;

/** The workbench page, once started. */
export function workbenchPage(): Page | undefined {
  return started;
}
