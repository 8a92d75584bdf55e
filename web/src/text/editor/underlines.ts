// The underlines of mistakes with their tooltips and fixes, the list of mistakes, and the keys that go to them.

import { type Diagnostic, nextDiagnostic, openLintPanel, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension, type Text, type TransactionSpec } from "@codemirror/state";
import { type EditorView, keymap } from "@codemirror/view";

import { type Found, foundField, setFound } from "./mistakes";

function applyFix(view: EditorView, id: number): boolean {
  const fix = view.state.field(foundField).find((found) => found.id === id)?.fix;
  if (fix === undefined || view.state.readOnly) {
    return false;
  }
  view.dispatch({ changes: { from: fix.from, to: fix.to, insert: fix.text }, scrollIntoView: true, userEvent: "input.fix" });
  return true;
}

function fixName(fix: { from: number; to: number; text: string }, doc: Text): string {
  const shown = (text: string): string => (/\S/.test(text) ? `“${text.trim()}”` : "white space");
  if (fix.text === "") {
    return `Remove ${shown(doc.sliceString(fix.from, fix.to))}`;
  }
  return fix.from === fix.to ? `Insert ${shown(fix.text)}` : `Write ${shown(fix.text)}`;
}

/** Underlines mistakes. */
function underlined(state: EditorState, all: readonly Found[]): Pick<TransactionSpec, "effects"> {
  const diagnostics = all.map(({ id, mistake, from, to, fix }): Diagnostic => {
    const help = mistake.help === undefined || mistake.help === "" ? "" : `\n${mistake.help}`;
    return {
      from,
      to,
      severity: mistake.severity,
      message: mistake.message + help,
      actions: fix === undefined ? [] : [{ name: fixName(fix, state.doc), apply: (view) => void applyFix(view, id) }],
    };
  });
  return { effects: setDiagnostics(state, diagnostics).effects ?? [] };
}

/** Underlines the mistakes that are shown already. */
export function underline(view: EditorView): void {
  view.dispatch(underlined(view.state, view.state.field(foundField)));
}

/** Applies the fix at the caret or on its line; without one opens the list of mistakes. */
function repair(view: EditorView): boolean {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  const here = view.state.field(foundField).filter((found) => found.fix !== undefined && found.from <= line.to && found.to >= line.from);
  const fix = here.find((found) => found.from <= head && found.to >= head) ?? here[0];
  return (fix !== undefined && applyFix(view, fix.id)) || openLintPanel(view);
}

/** The extension that underlines mistakes when they are shown. */
export function underlines(): Extension {
  return [
    EditorState.transactionExtender.of((tr) => {
      const shown = tr.effects.find((effect) => effect.is(setFound));
      return shown === undefined ? null : underlined(tr.startState, shown.value as readonly Found[]);
    }),
    keymap.of([
      { key: "F8", run: nextDiagnostic, shift: previousDiagnostic, preventDefault: true },
      { key: "Mod-.", run: repair, preventDefault: true },
      { key: "Alt-Enter", run: repair, preventDefault: true },
      { key: "Mod-Shift-m", run: openLintPanel, preventDefault: true },
    ]),
  ];
}
