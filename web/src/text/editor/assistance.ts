// What helps those who work in the editor: completion, search, and the underlines of mistakes.

import { startCompletion } from "@codemirror/autocomplete";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import type { Extension } from "@codemirror/state";
import { type EditorView, keymap } from "@codemirror/view";

import { completion } from "./completion";
import { underlines } from "./underlines";
import { type Language, wordsOf } from "./language";

export { nextDiagnostic } from "@codemirror/lint";
export { underline } from "./underlines";

/** The extension for a language. */
export function assist(language: Language): Extension {
  return [
    completion(language, wordsOf(language)),
    underlines(),
    highlightSelectionMatches({ wholeWords: true, minSelectionLength: 2 }),
    search({ top: true }),
    keymap.of(searchKeymap),
  ];
}

/** Offers words for the one that was typed before the completion was there. */
export function offer(view: EditorView): void {
  const { head } = view.state.selection.main;
  if (/[\p{L}\d_@]/u.test(view.state.sliceDoc(head - 1, head))) {
    startCompletion(view);
  }
}
