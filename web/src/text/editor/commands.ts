// Keys specific to definitions.

import { ensureSyntaxTree } from "@codemirror/language";
import { EditorSelection, type EditorState, type SelectionRange } from "@codemirror/state";
import type { Command } from "@codemirror/view";

import { giveDashes } from "./dashes";
import type { Language, Words } from "./language";
import { codeOf } from "./words";

const parseTime = 200; // milliseconds, enough for thousands of lines

/** The role of the text at an offset, by the name of its highlighting; comments are one role, unnamed text another. */
function role(state: EditorState, at: number): string {
  return ensureSyntaxTree(state, state.doc.length, parseTime)?.resolveInner(at, 1).name ?? "";
}

/** Selects all occurrences of a word in the same role, for renaming: names, but not their mentions in comments. */
export const renameWord: Command = ({ state, dispatch }) => {
  const word = state.wordAt(state.selection.main.head);
  if (word === null || state.readOnly) {
    return false;
  }
  const text = state.sliceDoc(word.from, word.to);
  const wanted = role(state, word.from);
  const ranges: SelectionRange[] = [];
  const doc = state.doc.toString();
  for (let at = doc.indexOf(text); at >= 0; at = doc.indexOf(text, at + text.length)) {
    const found = state.wordAt(at);
    if (found?.from === at && found.to === at + text.length && role(state, at) === wanted) {
      ranges.push(EditorSelection.range(at, found.to));
    }
  }
  const main = ranges.findIndex((range) => range.from === word.from);
  dispatch(state.update({ selection: EditorSelection.create(ranges, Math.max(0, main)), userEvent: "select" }));
  return true;
};

const dashed = /^\s*((?:-[ \t]*)+)(.*)$/;

/** The dashes of the next deeper level. */
const deeper = (dashes: string): string => `${dashes.trimEnd()} - `.trimStart();
const shallower = (dashes: string): string => dashes.replace(/-[ \t]*$/, "");

/** Starts a line at the level of the line above; below a group one level deeper. On a line of only dashes it removes the last one. */
export function newLine(language: Language, words: Words): Command {
  return ({ state, dispatch }) => {
    const { main, ranges } = state.selection;
    const line = state.doc.lineAt(main.head);
    if (!main.empty || ranges.length > 1 || state.readOnly || language.syntax === "words") {
      return false;
    }
    const [, dashes = "", rest = line.text.trimStart()] = dashed.exec(line.text) ?? [];
    const start = line.from + line.text.length - rest.length; // of the text after the dashes
    const first = /^[\p{L}_][\p{L}\d_]*(?=\s|\[)/u.exec(rest)?.[0] ?? "";
    if (main.head < start || (dashes === "" && words.get(first)?.kind !== "group")) {
      return false;
    }
    if (rest === "") {
      dispatch(state.update({ changes: { from: line.from, to: line.to, insert: shallower(dashes) }, scrollIntoView: true, userEvent: "input" }));
      return true;
    }
    // A group is complete with its name; a caret before the end of the name keeps the level.
    const after = codeOf(line.text.slice(main.head - line.from), language).trim();
    const opens = words.get(first)?.kind === "group" && after === "";
    if (dashes === "" && !opens) {
      return false;
    }
    const insert = state.lineBreak + (opens ? deeper(dashes) : `${dashes.trimEnd()} `);
    dispatch(
      state.update({
        changes: { from: main.head, insert },
        selection: { anchor: main.head + insert.length },
        effects: giveDashes.of({ from: main.head + 1, to: main.head + insert.length, typed: 0 }),
        scrollIntoView: true,
        userEvent: "input",
      }),
    );
    return true;
  };
}

/** Deletes the last dash before the caret, with its space. */
export const deleteDash: Command = ({ state, dispatch }) => {
  const { main, ranges } = state.selection;
  const line = state.doc.lineAt(main.head);
  const before = line.text.slice(0, main.head - line.from);
  if (!main.empty || ranges.length > 1 || state.readOnly || !/^(?:-[ \t]*)*- $/.test(before)) {
    return false;
  }
  const from = line.from + shallower(before).length;
  dispatch(state.update({ changes: { from, to: main.head }, scrollIntoView: true, userEvent: "delete.backward" }));
  return true;
};
