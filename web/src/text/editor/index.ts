// The editor of a definition.

import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { Annotation, ChangeSet, Compartment, EditorState, type Extension, Prec, Transaction } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  rectangularSelection,
  runScopeHandlers,
  showPanel,
  type ViewUpdate,
} from "@codemirror/view";

import { load, prefetch } from "../../kit/load";
import { changesTo, Past } from "./changes";
import { deleteDash, newLine, renameWord } from "./commands";
import { typedDashes } from "./dashes";
import { explainLines, followPointer, lightLines, linkedLines, pickLine } from "./lines";
import { type Mistake, mistakes, showMistakes } from "./mistakes";
import { type LineScore, lineScores, setLineScores } from "./score";
import { narrow, narrowing } from "./narrow";
import { Shared, type SharedEvents, type SharedStart } from "./shared";
import { theme } from "../../kit/line/theme";
import { type LineThreads, lineThreads, setLineThreads } from "./threads";
import { tips } from "../../kit/line/tips";
import { typeOver } from "../../kit/line/typeover";
import { Undos } from "./undo";
import { setUnsaved, type UnsavedMark, unsavedLines } from "./unsaved";
import { type Language, wordsOf } from "./language";
import { coloring, otherNames } from "./words";

export type { Mistake } from "./mistakes";
export type { LineScore } from "./score";
export type { LineThreads } from "./threads";
export type { Shared, SharedEvents, SharedStart } from "./shared";
export type { UnsavedMark } from "./unsaved";
export type { Language, Word } from "./language";

/** Events of the editor. Lines count from 1. */
export interface EditorEvents {
  change(text: string, line: number): void; // by the user, with the line of the caret, or by replace, with 0
  remote?(text: string): void; // by others
  left?(): void; // the text has lost the focus
  caret(line: number): void; // the user has moved the caret to another line, or focused the editor
  place?(line: number, column: number): void; // of the caret, from 1, when it moves; 0, 0 without the focus
  hover(line: number | null): void; // the pointer is on a line, or on none
  defect?(line: LineScore): void; // the first message that a line does not explain is wanted
  save(): void;
  decode(): void;
  format(): void;
}

/** Options of a new editor. */
export interface EditorOptions {
  text: string;
  language: Language;
  nonce: string; // of the page's content security policy, for the editor's style sheet
  label: string; // accessible name
  caret?: number; // its initial offset
  of?(): string; // names the text, so that its history is kept while others are open; "" for one without a name
  events: EditorEvents;
}

// Characters that cannot be seen are shown as signs. A byte order mark at the start of a file belongs to it, and has none.
const invisible = {
  specialChars: /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202d\u202e\u2066\u2067\u2069\ufff9-\ufffc]/gu,
  addSpecialChars: /(?<=.)\ufeff/gu,
};

// Marks a change by replace.
const outside = Annotation.define<boolean>();

/** A text for the editor, with "\n" only. A text with mixed line ends keeps its "\r" as visible signs. */
function unified(text: string): { text: string; crlf: boolean } {
  const crlf = text.includes("\n") && !/(^|[^\r])\n/.test(text);
  return { text: crlf ? text.replaceAll("\r\n", "\n") : text, crlf };
}

/** A panel with the reason why the text is read-only. */
function locked(reason: string): Extension {
  return showPanel.of(() => {
    const dom = document.createElement("div");
    dom.className = "cm-locked";
    dom.setAttribute("role", "status");
    dom.textContent = reason;
    return { dom, top: true };
  });
}

// What is only needed once somebody works in the editor, or something is wrong with its text.
const assistance = () => import("./assistance");
const assistanceKeys = /^(Ctrl-[dfgm ]|Ctrl-Alt-g|Alt-Enter|F3|F8)$/i;

/** An editor for one definition at a time. It fills its element. */
export class DefinitionEditor {
  private readonly view: EditorView;
  private readonly events: EditorEvents;
  private readonly language: Language;
  private readonly extensions: Extension;
  private readonly lock = new Compartment();
  private readonly known = new Compartment();
  private readonly sharing = new Compartment();
  private readonly scoring = new Compartment();
  private readonly assisting = new Compartment();
  private assisted: Extension | undefined;
  private typing = false; // the last change was typed
  private readonly early: KeyboardEvent[] = []; // keys for the assistance, until it is there
  private scored = false; // there is a column of figures
  private shared: Shared | undefined;
  private readonly past = new Past();
  private readonly undos = new Undos();
  private readonly of: () => string;
  private name: string; // of the text
  private crlf = false;
  private reason: string | null = null;
  private names: readonly string[] = [];
  private line = 1; // of the caret, as last reported

  constructor(host: HTMLElement, o: EditorOptions) {
    this.events = o.events;
    this.language = o.language;
    this.of = o.of ?? (() => "");
    this.name = this.of();
    addEventListener("pagehide", () => {
      this.undos.keep(this.name, this.view.state);
      this.undos.store();
    });
    prefetch(assistance);
    host.classList.add("definition-editor");
    this.extensions = this.extend(o);
    this.view = new EditorView({ state: this.newState(o.text, o.caret), parent: host });
    followPointer(this.view, (line) => this.events.hover(line));
  }

  /** The text, with its original line ends. */
  get text(): string {
    const text = this.view.state.doc.toString();
    return this.crlf ? text.replaceAll("\n", "\r\n") : text;
  }

  /** Opens another document, with the history that it had when it was left, and without a change event. */
  open(text: string): void {
    this.shared?.end();
    this.shared = undefined;
    this.undos.keep(this.name, this.view.state);
    this.name = this.of();
    this.past.clear();
    this.line = 1;
    this.scored = false;
    this.view.setState(this.newState(text));
    this.view.scrollDOM.scrollTop = 0;
  }

  /** Replaces the text by a minimal change, which can be undone. Carets stay at their words. */
  replace(text: string): void {
    const { text: wanted, crlf } = unified(text);
    const was = this.text;
    this.crlf = crlf;
    const changes = changesTo(this.view.state.doc, wanted);
    if (changes.length > 0) {
      this.view.dispatch({ changes, annotations: [outside.of(true), isolateHistory.of("full")], userEvent: "input.replace" });
    } else if (this.text !== was) {
      this.events.change(this.text, 0);
    }
  }

  /** Replaces a recent text by another one: what has changed since stays. Returns false if the text is not a recent one. */
  rewrite(of: string, text: string): boolean {
    const since = this.past.since(unified(of).text, this.view.state);
    if (since === undefined) {
      return false;
    }
    const changes = ChangeSet.of(changesTo(since.before, unified(text).text), since.before.length).map(since.changes);
    this.view.dispatch({ changes, annotations: [outside.of(true), isolateHistory.of("full")], userEvent: "input.replace" });
    return true;
  }

  /** Makes the text one that others edit at the same time, and takes the text of the server. */
  share(start: SharedStart, events: SharedEvents): Shared {
    this.unshare();
    const before = this.text;
    const keeps = start.keep?.() === true;
    const { doc, selection } = this.view.state;
    const changes = changesTo(doc, start.text);
    if (changes.length > 0) {
      this.view.dispatch({ changes, annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)] });
    }
    this.shared = new Shared(this.view, start, events);
    this.shared.before = before;
    this.view.dispatch({ effects: this.sharing.reconfigure(this.shared.extension(start.version)) });
    if (keeps && changes.length > 0) {
      this.view.dispatch({ changes: changesTo(this.view.state.doc, doc.toString()), selection, annotations: [outside.of(true), Transaction.addToHistory.of(false)] });
    }
    return this.shared;
  }

  /** Makes the text one's own. */
  unshare(): void {
    if (this.shared !== undefined) {
      this.shared.end();
      this.shared = undefined;
      this.view.dispatch({ effects: this.sharing.reconfigure([]) });
    }
  }

  private mistaken = false; // mistakes are shown

  /** Replaces the shown mistakes. Their positions are in the text `of`; if the editor no longer has it, nothing happens. */
  setMistakes(list: readonly Mistake[], of: string): void {
    const { state } = this.view;
    const since = list.length === 0 && !this.mistaken ? undefined : this.past.since(unified(of).text, state);
    if (since !== undefined) {
      this.mistaken = list.length > 0;
      this.view.dispatch(showMistakes(list, since.before, since.changes));
    }
    if (list.length > 0) {
      void load(assistance).then((m) => this.assist(m));
    }
  }

  /** Sets the figures beside the lines; no column without any. */
  setScores(lines: readonly LineScore[]): void {
    if (lines.length > 0 !== this.scored) {
      this.scored = lines.length > 0;
      this.view.dispatch({ effects: this.scoring.reconfigure(this.scores()) });
    }
    if (this.scored) {
      setLineScores(this.view, lines);
    }
  }

  /** Marks the lines that have open comments and suggestions. */
  setThreads(lines: readonly LineThreads[], open: (id: string) => void): void {
    setLineThreads(this.view, lines, open);
  }

  /** Marks the lines that are not saved. */
  setUnsaved(list: readonly UnsavedMark[]): void {
    setUnsaved(this.view, list);
  }

  /** Sets tooltips for the names of lines, by line. */
  setLineHelp(help: ReadonlyMap<number, string>): void {
    explainLines(this.view, help);
  }

  /** Sets names of fields to offer besides those of the document. */
  setNames(names: readonly string[]): void {
    this.names = names;
    this.view.dispatch({ effects: this.known.reconfigure(otherNames.of(names)) });
  }

  /** Highlights the lines under the pointer in other panes. */
  light(lines: readonly number[]): void {
    lightLines(this.view, lines);
  }

  /** Marks the line selected in another pane and scrolls it into view; 0 for none. */
  select(line: number): void {
    pickLine(this.view, line);
  }

  /** Scrolls a line to the top, without moving the caret. */
  reveal(line: number): void {
    const at = this.view.state.doc.line(Math.min(Math.max(line, 1), this.view.state.doc.lines)).from;
    this.view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "start", yMargin: 4 }), annotations: outside.of(true) });
  }

  /** Shows the lines from first to last alone, or all with 0. */
  narrow(first: number, last: number): void {
    narrow(this.view, first, last);
  }

  /** Makes the text read-only for a reason; null makes it editable. */
  setReadOnly(reason: string | null): void {
    if (reason !== this.reason) {
      this.reason = reason;
      this.view.dispatch({ effects: this.lock.reconfigure(this.locking()) });
    }
  }

  /** Focuses the text. */
  focus(): void {
    this.view.focus();
  }

  /** Focuses the text, with the caret at the next mistake. */
  nextMistake(): void {
    this.view.focus();
    void load(assistance).then((m) => {
      this.assist(m);
      m?.nextDiagnostic(this.view);
    });
  }

  /** Focuses the text, with the caret at the end of a line. */
  goTo(line: number): void {
    this.view.focus();
    this.view.dispatch({ selection: { anchor: this.view.state.doc.line(Math.min(Math.max(line, 1), this.view.state.doc.lines)).to }, scrollIntoView: true });
  }

  /** Focuses the text, with the caret at its end. */
  focusEnd(): void {
    this.view.focus();
    this.view.dispatch({ selection: { anchor: this.view.state.doc.length }, scrollIntoView: true });
  }

  /** Removes the editor from its element. */
  destroy(): void {
    this.view.dom.parentElement?.classList.remove("definition-editor");
    this.view.destroy();
  }

  private newState(text: string, caret = 0): EditorState {
    const { text: doc, crlf } = unified(text);
    this.crlf = crlf;
    const extensions = [this.assisting.of(this.assisted ?? []), this.extensions, this.lock.of(this.locking()), this.known.of(otherNames.of(this.names)), this.sharing.of([]), this.scoring.of(this.scores())];
    const selection = { anchor: Math.min(caret, doc.length) };
    return this.undos.state(this.name, doc, { extensions })?.update({ selection }).state ?? EditorState.create({ doc, selection, extensions });
  }

  /** Adds what completes, searches and underlines, once it is loaded. */
  private assist(module: Awaited<ReturnType<typeof assistance>> | undefined): void {
    if (module === undefined) {
      this.early.length = 0; // the failure is reported
    } else if (this.assisted === undefined) {
      this.assisted = module.assist(this.language);
      this.view.dispatch({ effects: this.assisting.reconfigure(this.assisted) });
      module.underline(this.view);
      if (this.typing) {
        module.offer(this.view);
      }
      this.early.splice(0).forEach((event) => runScopeHandlers(this.view, event, "editor"));
    }
  }

  /** Keeps a key for the assistance that is being loaded. */
  private keepEarly(event: KeyboardEvent): boolean {
    const is = this.assisted === undefined && assistanceKeys.test(`${event.ctrlKey || event.metaKey ? "Ctrl-" : ""}${event.altKey ? "Alt-" : ""}${event.key}`);
    if (is) {
      this.early.push(event);
    }
    return is;
  }

  private scores(): Extension {
    return this.scored ? lineScores((line) => this.events.defect?.(line)) : [];
  }

  private locking(): Extension {
    return this.reason === null ? [] : [EditorState.readOnly.of(true), locked(this.reason)];
  }

  private extend(o: EditorOptions): Extension {
    const words = wordsOf(o.language);
    const does = (action: () => void) => () => {
      action();
      return true;
    };
    return [
      EditorView.cspNonce.of(o.nonce),
      EditorState.lineSeparator.of("\n"),
      EditorState.allowMultipleSelections.of(true),
      EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?/g, "\n")),
      EditorView.contentAttributes.of({ "aria-label": o.label, tabindex: "0" }), // focusable anyway: for tools that do not know
      Prec.high(
        keymap.of([
          { key: "Mod-s", run: does(() => this.events.save()), preventDefault: true },
          { key: "Mod-Enter", run: does(() => this.events.decode()), preventDefault: true },
          { key: "Shift-Alt-f", run: does(() => this.events.format()), preventDefault: true },
          { key: "F2", run: renameWord, preventDefault: true },
          { key: "Enter", run: newLine(o.language, words) },
          { key: "Backspace", run: deleteDash },
        ]),
      ),
      narrowing,
      mistakes(),
      lineThreads,
      linkedLines(words),
      coloring(o.language),
      lineNumbers(),
      unsavedLines,
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSpecialChars(invisible),
      drawSelection(),
      rectangularSelection(),
      history(),
      typeOver,
      typedDashes,
      tips(),
      // Tab is not bound: it leaves the editor, and dashes make levels, not white space.
      keymap.of([...historyKeymap, ...defaultKeymap]),
      theme,
      EditorView.updateListener.of((update) => this.updated(update)),
      EditorView.domEventHandlers({ keydown: (event) => this.keepEarly(event) }),
    ];
  }

  private updated(update: ViewUpdate): void {
    const { state } = update;
    let before = update.startState.doc;
    for (const tr of update.transactions) {
      if (tr.docChanged) {
        this.past.add(before, tr.changes);
        before = tr.newDoc;
      }
    }
    this.typing = update.docChanged ? update.transactions.some((tr) => tr.isUserEvent("input.type")) : this.typing && !update.selectionSet;
    const line = state.doc.lineAt(state.selection.main.head).number;
    if (update.docChanged && this.events.remote !== undefined && update.transactions.every((tr) => !tr.docChanged || tr.annotation(Transaction.remote) === true)) {
      this.events.remote(this.text);
    } else if (update.docChanged) {
      this.events.change(this.text, update.transactions.some((tr) => tr.annotation(outside)) ? 0 : line);
    }
    if (update.focusChanged && !update.view.hasFocus) {
      this.events.left?.();
    }
    const came = update.focusChanged && update.view.hasFocus;
    if (!update.view.hasFocus) {
      this.events.place?.(0, 0);
    } else if (came || update.docChanged || update.selectionSet) {
      const { head } = state.selection.main;
      this.events.place?.(line, head - state.doc.line(line).from + 1);
    }
    if (came && this.assisted === undefined) {
      void load(assistance).then((m) => this.assist(m));
    }
    if (line !== this.line || came) {
      this.line = line;
      if (!update.transactions.some((tr) => tr.annotation(outside) === true || tr.annotation(Transaction.remote) === true)) {
        this.events.caret(line);
      }
    }
  }
}
