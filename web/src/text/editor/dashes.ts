// Dashes inserted by Enter may also be typed, out of habit: typing overwrites them instead of doubling them. Typing fewer dashes, or pasting
// a line with dashes, replaces them.

import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

interface Given {
  from: number;
  to: number;
  typed: number; // typed characters of it
}

/** Makes dashes overwritable. Any other edit, or a move of the caret, ends that. */
export const giveDashes = StateEffect.define<Given>();

const given = StateField.define<Given | undefined>({
  create: () => undefined,
  update(value, tr) {
    for (const effect of tr.effects) {
      if (effect.is(giveDashes)) {
        return effect.value;
      }
    }
    return tr.docChanged || tr.selection !== undefined ? undefined : value;
  },
});

const typed = EditorView.inputHandler.of((view, from, to, text) => {
  const dashes = view.state.field(given);
  if (dashes === undefined || from !== dashes.to || to !== dashes.to) {
    return false;
  }
  const all = view.state.sliceDoc(dashes.from, dashes.to);
  if (all.startsWith(text, dashes.typed)) {
    view.dispatch({ effects: giveDashes.of({ ...dashes, typed: dashes.typed + text.length }) });
    return true;
  }
  if (dashes.typed === 0 || dashes.typed === all.length) {
    return false;
  }
  const insert = all.slice(0, dashes.typed) + text;
  view.dispatch({ changes: { ...dashes, insert }, selection: { anchor: dashes.from + insert.length }, userEvent: "input.type" });
  return true;
});

const pasted = EditorState.transactionFilter.of((tr) => {
  const dashes = tr.startState.field(given);
  if (dashes === undefined || !tr.isUserEvent("input.paste")) {
    return tr;
  }
  let own = false;
  tr.changes.iterChanges((from, to, _from, _to, text) => {
    own ||= from === dashes.to && to === dashes.to && /^\s*-/.test(text.sliceString(0, 100));
  });
  return own ? [{ changes: { from: dashes.from, to: dashes.to } }, tr] : tr;
});

/** The extension for overwritable dashes. */
export const typedDashes: Extension = [given, typed, pasted];
