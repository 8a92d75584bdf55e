// The workbench page while open: edits and actions go to the server, and its answers update the panes.
//
// The page is a form that works without scripts. Here its controls are followed, its buttons become actions over the websocket, and the editor
// and the hex grid replace the text field and the static bytes. The files of page/ have the parts of it; this one connects them.

import type { PageAnswer, PageFrameForm as FrameContext, PagePick } from "../api/api";
import { readAddress, type Shown } from "../kit/address";
import { pushes } from "../kit/changes";
import { Connection, socketOf } from "../kit/connection";
import { dialogs } from "../kit/dialogs";
import { hexOf } from "../kit/hextext";
import { load } from "../kit/load";
import { onNumbers } from "../kit/numbers";
import { type OpenPage, startedPage } from "../kit/opened";
import { startPeople } from "../library/people";
import { FormPane } from "../message/formpane";
import { spacedHex } from "../message/hex/index";
import { ShownMessage } from "../message/shown";
import { type Controls, Socket, type State } from "../message/socket";
import { Values } from "../message/values";
import { CodeArea } from "../text/codearea";
import type { DefinitionField } from "../text/editor/field";
import type { Cuts } from "../text/envelope";
import { Mistakes } from "../text/mistakes";
import { Parts } from "../text/parts";
import { scoresCommand, scoresShown, showScore } from "../text/score";
import { Threads } from "../text/threads";
import { clientID, type Together } from "../text/together";
import { Actions } from "./page/actions";
import { PageAddress } from "./page/address";
import { Answers, numberProblems } from "./page/answers";
import { registerCommands } from "./page/commands";
import { showConnection } from "./page/connection";
import { asAsked, field, ofFrames, readControls, type Sent, showPart } from "./page/controls";
import { makeEditor } from "./page/editor";
import { addEntries } from "./page/entries";
import { followControls } from "./page/form";
import { type FrameHost, PageFrames, told } from "./page/frames";
import { Input } from "./page/input";
import { Linked } from "./page/linked";
import { Menus } from "./page/menus";
import { Opening } from "./page/opening";
import { followPointer } from "./page/pointing";
import { makeTogether } from "./page/room";
import { Selection } from "./page/selection";
import { PageText } from "./page/text";
import { pastedBefore } from "./reload";
import { Sample, showText } from "./sample";

export type { FieldForFilter, FrameHost } from "./page/frames";

/** The page of a workspace. */
export class Page implements OpenPage {
  readonly connected: Connection;
  readonly sample: Sample;
  private readonly controls: Controls;
  private readonly workspace: string;
  private readonly envelope: boolean; // the text is an envelope
  private readonly capture: string | undefined; // whose frames are the messages
  private readonly editor: DefinitionField;
  private readonly shown: ShownMessage;
  private readonly selection: Selection;
  private readonly socket: Socket;
  private readonly together: Together;
  private readonly threads: Threads;
  private readonly markPeople: (() => void) | undefined; // in the list
  private readonly input: Input;
  private readonly actions: Actions;
  private readonly opening: Opening;
  private readonly text: PageText;
  private readonly linked: Linked;
  private readonly address: PageAddress;
  private readonly mistakes: Mistakes;
  private readonly parts: Parts;
  private readonly values: Values;
  private readonly menus: Menus;
  private readonly formPane: FormPane;
  private readonly codeArea: CodeArea;
  private readonly frames: PageFrames;
  private readonly answers: Answers;
  private cuts: Cuts | undefined; // the frames beside an envelope

  constructor(main: HTMLElement, form: HTMLFormElement) {
    this.capture = main.dataset["capture"];
    this.workspace = main.dataset["workspace"] ?? "";
    this.envelope = main.dataset["envelope"] !== undefined;
    const { workspace } = this;
    const ofCapture = this.capture !== undefined;
    const asked: ReturnType<typeof readAddress> = ofCapture ? {} : readAddress();
    const given = readControls(form, scoresShown());
    const before = ofCapture ? undefined : pastedBefore(workspace, asked.definition ?? given.message);
    this.controls = ofCapture ? ofFrames(given) : asAsked(given, asked, before);
    if (before !== undefined) {
      showText(before.input);
    }

    this.editor = makeEditor(main, {
      workspace, envelope: this.envelope, controls: this.controls,
      parts: () => ({ actions: this.actions, mistakes: this.mistakes, parts: this.parts, selection: this.selection, text: this.text, together: this.together }),
    });
    const { editor } = this;
    this.shown = this.makeShown(before?.bookmarks ?? asked.bookmarks ?? "");
    const { shown } = this;
    this.selection = new Selection({
      shown, editor,
      name: () => this.controls.message,
      mayEdit: () => this.mayEdit(),
      isBehind: () => this.socket.isBehind,
      moved: () => this.address.write(),
    });
    this.selection.pending = asked.selection;
    this.address = new PageAddress({ view: () => this.view(), bytes: () => this.bytes, toList: () => this.tellList() });
    onNumbers(() => {
      numberProblems();
      this.selection.links.refresh();
      this.selection.inspect();
    });

    this.connected = new Connection(socketOf(workspace));
    this.socket = this.makeSocket();
    this.together = makeTogether({
      workspace, capture: this.capture, connected: this.connected, controls: this.controls, editor,
      parts: () => ({ frames: this.frames.list, linked: this.linked, markPeople: this.markPeople, opening: this.opening, selection: this.selection, text: this.text }),
    });
    const { socket, together, selection } = this;
    const sent: Sent = { controls: this.controls, set: (change) => socket.set(change) };
    this.input = new Input({ ...sent, shown, selection, opening: { leave: () => this.opening.leave() } });
    const { input: { steps } } = this;
    this.actions = new Actions({
      socket, steps, together,
      about: () => field<HTMLInputElement>("about")?.value ?? "",
      saving: () => this.opening.rename(), // the name field may still have the focus
      saved: () => this.opening.giveCode(),
      exportPlace: () => document.querySelector<HTMLElement>("#layout-head details summary") ?? form,
    });
    const { actions } = this;
    this.opening = new Opening({
      ...sent, workspace, envelope: this.envelope, capture: ofCapture, editor, steps, actions, together,
      closing: () => { this.parts.caret = null; },
      moved: () => this.address.write(),
      begun: (name, was) => this.frames.list?.begun?.(name, was),
    });
    const { opening } = this;
    this.text = new PageText({
      ...sent, workspace, editor, actions, together, opening, socket,
      suggest: () => this.threads.send(),
      changed: (text) => this.cuts?.changed(text),
      draft: (draft) => this.frames.list?.draft(draft),
    });
    this.linked = new Linked({
      workspace, editor,
      message: () => this.controls.message,
      file: () => this.text.file,
      isEmpty: () => opening.isNew && this.controls.definition.trim() === "",
      restore: (text) => this.restore(text),
      shown: () => this.address.write(true),
    }, asked);
    this.threads = this.makeThreads();
    pushes(this.connected);
    this.markPeople = startPeople(workspace, (file, id) => together.isSelf(file, id));

    this.mistakes = new Mistakes(editor);
    this.parts = new Parts({ text: () => editor.text, reveal: (line) => editor.reveal(line), narrow: (first, last) => editor.narrow(first, last), pick: (n) => void actions.press(`pick:${n}`) });
    this.sample = new Sample({
      put: (text) => this.input.put(text),
      act: (action) => socket.act(action),
      size: () => shown.size,
      other: () => (this.controls.form === "" && this.controls.edits["0"] !== undefined && document.querySelector("#messages tr") === null ? spacedHex(shown.hex.data) : undefined),
      focus: () => shown.hex.focus(),
    });
    const act: Socket["act"] = (action) => socket.act(action);
    const press: Actions["press"] = (...action) => actions.press(...action);
    this.values = new Values({ act, press, isShown: () => shown.message !== null, redraw: () => shown.tree.list.redraw() });
    this.formPane = new FormPane({ ask: act, press, point: (path) => this.selection.links.pickPath(path) });
    this.codeArea = new CodeArea({
      subject: () => (this.controls.message === "" || this.envelope ? undefined : { // an envelope has no code
        workspace, message: this.controls.message, text: this.text.edited ? this.controls.definition : undefined, state: field("rail-list")?.dataset["state"] ?? "",
      }),
      save: (target, anchor) => void actions.press(`emit:${target}`, {}, anchor),
    });
    this.menus = new Menus({
      shown, editor, actions, socket, selection, values: this.values, sample: this.sample,
      mayEdit: () => this.mayEdit(),
      bookmark: ofCapture ? undefined : () => shown.bookmarks.add(),
      filters: (of) => this.frames.list?.fieldMenu(of) ?? [],
    });
    this.frames = new PageFrames({ ...sent, capture: this.capture, formPane: this.formPane, parts: this.parts, selection, steps, together, bytes: () => this.bytes });
    this.answers = new Answers({
      controls: this.controls, form, envelope: this.envelope, shown, selection, editor, together, opening,
      text: this.text, linked: this.linked, threads: this.threads, parts: this.parts, mistakes: this.mistakes, formPane: this.formPane, codeArea: this.codeArea, address: this.address,
      drawn: () => this.frames.list?.shown(),
      picked: (frame) => this.frames.took(frame),
    });
    this.turn("connecting");
    this.follow(form);
    const first = field("first")?.textContent ?? "";
    if (first !== "" && !ofCapture) {
      this.answers.draw(socket.first(JSON.parse(first) as PageAnswer), field<HTMLTextAreaElement>("definition")?.value ?? "");
    }
    if (this.envelope) {
      void this.startCuts();
    }
  }

  private makeShown(bookmarks: string): ShownMessage {
    return new ShownMessage({
      hover: (byte) => this.selection.links.point(byte === null ? null : this.selection.links.ofByte(byte)),
      select: (start, end, caret, how) => this.selection.chose(start, end, caret, how),
      selectBytes: (start, end) => this.selectBytes(start, end),
      edit: (data, start, end) => this.input.edited(data, start, end),
      undo: () => this.input.steps.undo(),
      redo: () => this.input.steps.redo(),
      menu: (byte, at) => void this.menus.ofByte(byte, at),
      mayEdit: () => this.mayEdit(),
      ask: (action) => this.socket.act(action),
      bookmarks: {
        show: () => this.controls.show,
        path: () => this.selection.links.chosen?.path ?? "",
        changing: () => this.input.steps.remember(),
        changed: () => this.address.write(),
      },
    }, bookmarks);
  }

  private makeSocket(): Socket {
    const { editor, workspace } = this;
    return new Socket(
      this.connected,
      { capture: this.capture, client: clientID, text: () => editor.text, waits: () => this.together.waits, knows: (of) => this.text.knows(of) },
      () => told(this.controls),
      (answer) => this.answers.take(answer),
      (state) => this.turn(state),
      (score) => {
        showScore(workspace, score);
        editor.setScores(score.of > 0 ? (score.lines ?? []) : []);
      },
    );
  }

  private makeThreads(): Threads {
    const { editor, workspace, together } = this;
    return new Threads({
      workspace, editor,
      line: () => this.parts.caret ?? 1,
      edited: () => this.text.edited,
      shared: () => together.active,
      base: () => this.controls.base,
      discard: () => this.text.endSuggestion(),
      part: () => this.text.beginSuggestion(),
      go: (message, line) => this.openMessage(message, line),
      restore: (text) => this.restore(text),
      selection: () => this.chosenBytes(),
    });
  }

  /** Follows what the user does. */
  private follow(form: HTMLFormElement): void {
    const { capture, controls, workspace, editor, shown, selection, socket, together, input, actions, opening, text, mistakes, parts, values, menus, sample, formPane, codeArea } = this;
    const set: Sent["set"] = (change) => socket.set(change);
    addEventListener("pagehide", () => capture === undefined && input.keep(workspace));
    addEventListener("popstate", () => opening.follow());
    sample.listen();
    followControls({ form, controls, set, editor, socket, actions, opening, together, text, parts, formPane, byItsCode: () => this.byItsCode() });
    followPointer({ selection, shown, editor, socket, opening, menus, values });
    scoresCommand((score) => {
      controls.score = score;
      set({ score });
    });
    registerCommands({
      capture: capture !== undefined, actions, codeArea, editor, menus, mistakes, opening, parts: this.parts, sample, selection, shown, steps: input.steps, text, values,
      mayEdit: () => this.mayEdit(), focusFields: () => this.focusFields(), share: () => this.share(), copyLink: () => void this.address.copy(),
    });
    addEntries({ workspace, socket, opening, selection, shown, actions });
  }

  /** Shows the frames that the envelope cuts. */
  private async startCuts(): Promise<void> {
    const head = field("cut-head");
    const body = field("cut-frames");
    const module = await load(() => import("../text/envelope"));
    if (module !== undefined && head !== null && body !== null) {
      this.cuts = new module.Cuts(head, body, this.workspace, ({ hex, dir = "", state = "", message = "", kind }) => {
        const frame: FrameContext = { kind, dir, group: state, name: message, alternate: false, about: null, offer: "" };
        this.change({ bycode: true, frame });
        showText(hex);
        this.input.put(hex);
      });
      this.cuts.changed(this.editor.text);
    }
  }

  // 1. For features, and for the list of frames.

  /** Connects the panes to a list of frames. */
  attach(list: FrameHost): void {
    this.frames.list = list;
  }

  /** Shows a frame of the capture, of which the server has the bytes; undefined for none. */
  pickFrame(frame: PagePick | undefined): void {
    this.frames.pick(frame);
  }

  /** Shows a message that is held. */
  showFrame(frame: FrameContext & { hex: string; edited?: string }): void {
    this.frames.show(frame);
  }

  /** The bytes of the shown message in hex, without edits. */
  get originalHex(): string {
    return this.controls.input;
  }

  get definition(): string {
    return this.editor.text;
  }

  restore(text: string): void {
    this.text.restore(text);
  }

  get storedMessage(): string {
    return this.controls.base === "" || this.text.file === "" ? "" : this.controls.message; // without a file it was deleted
  }

  get openFile(): string {
    return this.text.file;
  }

  openMessage(message: string, line = 0): Promise<void> {
    return this.opening.go(message, line);
  }

  /** Starts an unsaved definition; the message stays. */
  begin(name: string): void {
    this.opening.begin(name);
  }

  openThreads(): void {
    this.threads.open("", true);
  }

  editedText(message: string): string | undefined {
    return this.text.edited && message === this.controls.message ? this.controls.definition : undefined;
  }

  byItsCode(): void {
    this.change({ bycode: true });
  }

  get bytes(): Uint8Array {
    return this.shown.bytes;
  }

  /** The edit of the message with these bytes, "" if it has none; undefined if another message is shown. */
  editOf(hex: string): string | undefined {
    return this.controls.input === hex ? (this.controls.edits["0"] ?? "") : undefined;
  }

  /** Selects bytes of the message, like the user. */
  selectBytes(start: number, end: number): void {
    if (this.shown.message !== null && end <= this.shown.message.data.length) {
      this.selection.select(start, end);
    }
  }

  /** Inspects other bytes than those of the message; undefined: those of the message. */
  inspectOther(place: { data: Uint8Array; start: number; end: number } | undefined): void {
    this.selection.inspectOther(place);
  }

  /** Moves the focus to the fields. */
  focusFields(): void {
    showPart("fields-pane");
    document.querySelector<HTMLElement>('#fields-head [data-segment="tree"]')?.click(); // the tree, not another view
    this.shown.tree.focus();
  }

  /** Resolves when the edits of the message that are under way have been applied. */
  async settled(): Promise<void> {
    if (document.activeElement instanceof HTMLInputElement) {
      document.activeElement.blur(); // a field of the form takes its text then
    }
    await this.actions.settled();
  }

  /** Moves the focus to the form of the values, or to the bytes of a message without a definition. */
  async focusForm(): Promise<void> {
    showPart("fields-pane");
    document.querySelector<HTMLElement>('[data-segment="form"]')?.click();
    await this.settled();
    if (!await this.formPane.focus()) {
      this.shown.hex.focus();
    }
  }

  // 2. The message.

  /** Changes controls, and tells the server. */
  private change(change: Partial<Controls>): void {
    Object.assign(this.controls, change);
    this.socket.set(change);
  }

  private mayEdit(): boolean {
    return this.shown.message !== null && this.socket.state === "open";
  }

  /** Offers the message as a page that needs no server. */
  private share(): void {
    const { message, definition } = this.controls;
    const what = { hex: hexOf(this.shown.hex.data), ...(message === "" ? {} : { message }), ...(this.text.edited ? { text: definition } : {}) };
    void dialogs().then((d) => d?.capsuleDialog({ workspace: this.workspace, title: message, what }));
  }

  /** The selected bytes of the shown frame of a capture; undefined if there are none. */
  private chosenBytes(): { capture: string; frame: number; offset: number; length: number } | undefined {
    const { capture, selection: { bytes } } = this;
    const frame = Number(new URLSearchParams(location.hash.slice(1)).get("n"));
    return capture === undefined || !(frame > 0) || this.shown.message === null || bytes === undefined ? undefined : { capture, frame, offset: bytes.start, length: bytes.end - bytes.start };
  }

  private view(): Shown {
    return {
      workspace: this.workspace,
      definition: this.controls.message,
      stored: this.controls.base !== "",
      text: this.text.edited ? this.controls.definition : undefined,
      data: this.shown.message?.data,
      selection: this.selection.bytes,
      bookmarks: this.shown.bookmarks.packed,
    };
  }

  /** Tells the list of frames what is selected; false without a list. */
  private tellList(): boolean {
    this.frames.list?.selected(this.selection.bytes);
    return this.capture !== undefined; // it may still be loaded
  }

  // 3. From the server to the page.

  private turn(state: State): void {
    showConnection(state, this.connected);
    if (state === "lost") {
      this.selection.tell(null, false); // what it says may be of an earlier text
    }
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
