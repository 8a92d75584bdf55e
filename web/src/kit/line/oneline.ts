// A one-line editor with the completion of the definition editor, for the filter box.

import {
  acceptCompletion, autocompletion, closeCompletion, type Completion, type CompletionContext, type CompletionResult, completionStatus, currentCompletions, moveCompletionSelection,
  pickedCompletion, selectedCompletionIndex, setSelectedCompletion, startCompletion,
} from "@codemirror/autocomplete";
import { history, historyKeymap, standardKeymap } from "@codemirror/commands";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension, Prec, StateEffect, StateField } from "@codemirror/state";
import { type Command, EditorView, keymap, placeholder } from "@codemirror/view";

import { common } from "./theme";
import { tips } from "./tips";
import { typeOver } from "./typeover";

/** A replacement for a range of the line. */
export interface Offer {
  label: string;
  kind: string;
  doc: string;
  from: number;
  to: number;
  text: string;
  more: boolean; // more is offered directly after it
}

/** Options of a one-line editor. */
export interface OneLineOptions {
  label: string;
  describedBy: string; // id of the element with the error message
  placeholder: string;
  most: number; // maximum length, in UTF-16
  nonce: string; // of the page's content security policy
  change(): void;
  /** The offers at an offset; `asked`: by Ctrl+Space rather than by typing. */
  offers(at: number, asked: boolean): Promise<readonly Offer[]>;
  /** Earlier texts of the line: Down in an empty line, Alt+Down in any. */
  past(): readonly string[];
  enter(shift: boolean): void;
  /** Esc, when no list is open. */
  escape(): void;
}

/** An offer for the completion. */
interface Option extends Completion {
  readonly more: boolean;
}

const setWrong = StateEffect.define<boolean>();

const wrong = StateField.define<boolean>({
  create: () => false,
  update: (was, tr) => tr.effects.findLast((e) => e.is(setWrong))?.value ?? was,
  provide: (field) => EditorView.contentAttributes.from(field, (is) => ({ "aria-invalid": String(is) })),
});

// It has the height of a control; the frame belongs to the host.
const theme: Extension = [common, EditorView.theme({
  "&": { color: "var(--text)" },
  ".cm-scroller": { font: "1rem/1.5 var(--mono)", overflow: "hidden", alignItems: "center" },
  ".cm-content": { padding: "0.25rem 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 0.3rem 0 0" },
  ".cm-placeholder": { color: "var(--faint)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { maxWidth: "min(48rem, 95vw)", maxHeight: "18rem" },
  // Tab accepts the first line while none is selected.
  ".cm-tooltip-autocomplete > ul:not(:has([aria-selected])) > li:first-child::after": {
    content: '"Tab"', padding: "0 0.3rem", font: "0.85rem/1.6 var(--ui)", color: "var(--dim)", border: "1px solid var(--line)", borderRadius: "3px",
  },
})];

/** A line of text. Enter applies it, and accepts an offer only if a line of the list is selected; Tab accepts the first. */
export class OneLine {
  readonly #view: EditorView;
  readonly #options: OneLineOptions;
  #past = false; // the next list has the earlier texts
  #first = false; // the list was opened explicitly: its first line is selected

  constructor(o: OneLineOptions) {
    this.#options = o;
    const take: Command = (view) => {
      if (selectedCompletionIndex(view.state) === null && currentCompletions(view.state).length > 0) {
        view.dispatch({ effects: setSelectedCompletion(0) });
      }
      return acceptCompletion(view);
    };
    const enter = (shift: boolean): Command => (view) => {
      if (shift || completionStatus(view.state) !== "active" || selectedCompletionIndex(view.state) === null || !acceptCompletion(view)) {
        closeCompletion(view);
        o.enter(shift);
      }
      return true;
    };
    const past: Command = () => (this.showPast(), true);
    const move = (forward: boolean): Command => (view) => moveCompletionSelection(forward)(view) || (view.state.doc.length === 0 && past(view));
    this.#view = new EditorView({
      state: EditorState.create({
        extensions: [
          EditorView.cspNonce.of(o.nonce),
          EditorView.contentAttributes.of({ "aria-label": o.label, "aria-describedby": o.describedBy, "aria-multiline": "false", enterkeyhint: "go" }),
          EditorView.clipboardInputFilter.of((text) => text.trim().replace(/\s*[\r\n]\s*/g, " ")),
          EditorState.transactionFilter.of((tr) => (tr.docChanged && (tr.newDoc.lines > 1 || tr.newDoc.length > o.most) ? [] : tr)),
          placeholder(o.placeholder),
          history(),
          typeOver,
          wrong,
          autocompletion({
            override: [(context) => this.#complete(context)],
            activateOnCompletion: (option) => (option as Option).more,
            defaultKeymap: false,
            icons: false,
            interactionDelay: 0,
            selectOnOpen: false,
          }),
          Prec.highest(
            keymap.of([
              { key: "Enter", run: enter(false), shift: enter(true) },
              { key: "Tab", run: take },
              { key: "Ctrl-Space", run: (view) => ((this.#first = true), startCompletion(view)) },
              { key: "Escape", run: (view) => (this.#escape(view), true) },
              { key: "ArrowDown", run: move(true) },
              { key: "ArrowUp", run: move(false) },
              { key: "Alt-ArrowDown", run: past },
              { key: "Alt-ArrowUp", run: past },
              { key: "PageDown", run: moveCompletionSelection(true, "page") },
              { key: "PageUp", run: moveCompletionSelection(false, "page") },
            ]),
          ),
          keymap.of([...historyKeymap, ...standardKeymap]),
          tips(),
          theme,
          EditorView.updateListener.of(({ state, view, docChanged }) => {
            if (docChanged) {
              this.#first = false;
              o.change();
            } else if (this.#first && completionStatus(state) === "active") {
              this.#first = false;
              view.dispatch({ effects: setSelectedCompletion(0) });
            }
          }),
        ],
      }),
    });
  }

  get element(): HTMLElement {
    return this.#view.dom;
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Replaces the text, with the caret at its end. */
  set text(text: string) {
    closeCompletion(this.#view);
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text }, selection: { anchor: text.length }, scrollIntoView: true });
  }

  get hasFocus(): boolean {
    return this.#view.hasFocus;
  }

  focus(all = false): void {
    this.#view.focus();
    if (all) {
      this.select(0, this.#view.state.doc.length);
    }
  }

  select(from: number, to: number): void {
    this.#view.dispatch({ selection: { anchor: from, head: to } });
  }

  blur(): void {
    this.#view.contentDOM.blur();
  }

  /** Lists what may be at the caret. */
  offer(): void {
    startCompletion(this.#view);
  }

  /** Lists the earlier texts, or closes the open list. */
  showPast(): void {
    this.#view.focus();
    if (!closeCompletion(this.#view)) {
      this.#past = this.#first = true;
      startCompletion(this.#view);
    }
  }

  /** Underlines a mistake, or removes the underline. */
  mark(mistake?: { from: number; to: number; message: string }): void {
    const most = this.#view.state.doc.length;
    const list = mistake === undefined ? [] : [{ ...mistake, from: Math.min(mistake.from, most), to: Math.min(mistake.to, most), severity: "error" as const }];
    const { effects } = setDiagnostics(this.#view.state, list);
    this.#view.dispatch({ effects: [setWrong.of(mistake !== undefined), ...[effects ?? []].flat()] });
  }

  close(): void {
    this.#view.destroy();
  }

  #escape(view: EditorView): void {
    const open = completionStatus(view.state) === "active";
    closeCompletion(view);
    if (!open) {
      this.#options.escape();
    }
  }

  async #complete({ state, pos, explicit }: CompletionContext): Promise<CompletionResult | null> {
    const all = state.doc.length;
    const past = this.#past;
    this.#past = false;
    const offers = past
      ? this.#options.past().map((text): Offer => ({ label: text, kind: "", doc: "", from: 0, to: all, text, more: false }))
      : await this.#options.offers(pos, explicit);
    if (offers.length === 0) {
      return null;
    }
    const options = offers.map(({ label, kind, doc, from, to, text, more }): Option => ({
      label, more, detail: doc === "" || kind === "" ? kind + doc : `${kind} · ${doc}`,
      apply: (view, option) => view.dispatch({
        changes: { from, to, insert: text }, selection: { anchor: from + text.length }, annotations: pickedCompletion.of(option), userEvent: "input.complete", scrollIntoView: true,
      }),
    }));
    const from = past ? 0 : Math.min(pos, ...offers.map((o) => o.from));
    const typed = past ? "" : /[^.]*$/.exec(state.sliceDoc(from, pos))?.[0].toLowerCase() ?? "";
    return { from, to: Math.max(pos, ...offers.map((o) => o.to)), options, filter: false, getMatch: ({ label }) => {
      const at = typed === "" ? -1 : label.toLowerCase().indexOf(typed);
      return at < 0 ? [] : [at, at + typed.length];
    } };
  }
}
