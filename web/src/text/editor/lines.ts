// Lines linked with other panes: highlighted, selected, hovered, with tooltips.

import { type EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, gutterLineClass, hoverTooltip, type Tooltip } from "@codemirror/view";
import { syntaxTree } from "@codemirror/language";

import type { Word, Words } from "./language";

/** The starts of the highlighted and selected lines. */
interface Linked {
  readonly lit: readonly number[];
  readonly picked: number | undefined;
}

const setLit = StateEffect.define<readonly number[]>();
const setPicked = StateEffect.define<number | undefined>();

const linkedField = StateField.define<Linked>({
  create: () => ({ lit: [], picked: undefined }),
  update(linked, tr) {
    let { lit, picked } = linked;
    if (tr.docChanged) {
      const start = (at: number): number => tr.newDoc.lineAt(tr.changes.mapPos(at, 1)).from;
      lit = lit.map(start);
      picked = picked === undefined ? undefined : start(picked);
    }
    for (const effect of tr.effects) {
      if (effect.is(setLit)) {
        lit = effect.value;
      } else if (effect.is(setPicked)) {
        picked = effect.value;
      }
    }
    return lit === linked.lit && picked === linked.picked ? linked : { lit, picked };
  },
});

function starts(state: EditorState, lines: readonly number[]): number[] {
  const known = lines.filter((line) => line >= 1 && line <= state.doc.lines);
  return [...new Set(known)].sort((a, b) => a - b).map((line) => state.doc.line(line).from);
}

/** Replaces the highlighted lines. */
export function lightLines(view: EditorView, lines: readonly number[]): void {
  const lit = starts(view.state, lines);
  const before = view.state.field(linkedField).lit;
  if (lit.length !== before.length || lit.some((at, i) => at !== before[i])) {
    view.dispatch({ effects: setLit.of(lit) });
  }
}

/** Replaces the selected line, and scrolls it into view inside the editor. */
export function pickLine(view: EditorView, line: number): void {
  const at = starts(view.state, [line])[0];
  if (at !== view.state.field(linkedField).picked) {
    view.dispatch({ effects: setPicked.of(at) });
  }
  if (at === undefined) {
    return;
  }
  // Heights of lines are known after measuring, so not yet for a new text.
  view.requestMeasure({
    key: pickLine,
    read: () => ({ line: view.lineBlockAt(Math.min(at, view.state.doc.length)), height: view.scrollDOM.clientHeight }),
    write({ line, height }) {
      const scroller = view.scrollDOM;
      const top = line.top + view.documentPadding.top;
      if (top < scroller.scrollTop || top + line.height > scroller.scrollTop + height) {
        scroller.scrollTop = top - (height - line.height) / 2;
      }
    },
  });
}

const litLine = Decoration.line({ class: "cm-lit" });
const pickedLine = Decoration.line({ class: "cm-picked" });

class LinkedNumber extends GutterMarker {
  override elementClass: string;

  constructor(name: string) {
    super();
    this.elementClass = name;
  }
}

const litNumber = new LinkedNumber("cm-linked");
const pickedNumber = new LinkedNumber("cm-linked cm-picked-number");

const setHelp = StateEffect.define<ReadonlyMap<number, string>>();

/** Tooltips by the start of their line; they move with the text. */
const helpField = StateField.define<ReadonlyMap<number, string>>({
  create: () => new Map(),
  update(help, tr) {
    for (const effect of tr.effects) {
      if (effect.is(setHelp)) {
        return effect.value;
      }
    }
    if (!tr.docChanged || help.size === 0) {
      return help;
    }
    return new Map(Array.from(help, ([at, text]) => [tr.newDoc.lineAt(tr.changes.mapPos(at, 1)).from, text]));
  },
});

/** Sets tooltips by line number. */
export function explainLines(view: EditorView, help: ReadonlyMap<number, string>): void {
  const known = [...help].filter(([line]) => line >= 1 && line <= view.state.doc.lines);
  view.dispatch({ effects: setHelp.of(new Map(known.map(([line, text]) => [view.state.doc.line(line).from, text]))) });
}

function box(...texts: readonly (readonly [string, string])[]): HTMLElement {
  const element = document.createElement("div");
  element.className = "cm-explained";
  for (const [name, text] of texts) {
    const part = element.appendChild(document.createElement("span"));
    part.className = name;
    part.textContent = text;
  }
  return element;
}

/** The tooltip of a word of the language. */
export function explained(word: Word): HTMLElement {
  return box(["ty", word.name], ["cm-size", word.size ?? ""], ["cm-doc", word.doc ?? ""]);
}

function tip(state: EditorState, pos: number, side: -1 | 1, words: Words): Tooltip | null {
  const node = syntaxTree(state).resolveInner(pos, side);
  const show = (dom: () => HTMLElement): Tooltip => ({ pos: node.from, end: node.to, above: true, create: () => ({ dom: dom() }) });
  if (node.name === "typeName" || node.name === "mark") {
    const word = words.get(state.sliceDoc(node.from, node.to));
    return word === undefined ? null : show(() => explained(word));
  }
  const help = node.name === "name" ? state.field(helpField).get(state.doc.lineAt(pos).from) : undefined;
  return help === undefined ? null : show(() => box(["cm-doc", help]));
}

/** Reports the line under the pointer, or null. The listeners are removed with the editor. */
export function followPointer(view: EditorView, tell: (line: number | null) => void): void {
  let last: number | null = null;
  const point = (line: number | null): void => {
    if (line !== last) {
      last = line;
      tell(line);
    }
  };
  view.scrollDOM.addEventListener("pointermove", (event) => {
    const height = event.clientY - view.documentTop;
    const block = view.lineBlockAtHeight(height);
    point(height < block.top || height >= block.bottom ? null : view.state.doc.lineAt(block.from).number);
  });
  view.scrollDOM.addEventListener("pointerleave", () => point(null));
}

/** The extension for linked lines. */
export function linkedLines(words: Words): Extension {
  return [
    linkedField,
    helpField,
    EditorView.decorations.compute([linkedField], (state) => {
      const { lit, picked } = state.field(linkedField);
      const lines = lit.map((at) => litLine.range(at));
      return Decoration.set(picked === undefined ? lines : [...lines, pickedLine.range(picked)], true);
    }),
    gutterLineClass.compute([linkedField], (state) => {
      const { lit, picked } = state.field(linkedField);
      const marks = new RangeSetBuilder<GutterMarker>();
      for (const at of [...new Set(picked === undefined ? lit : [...lit, picked])].sort((a, b) => a - b)) {
        marks.add(at, at, at === picked ? pickedNumber : litNumber);
      }
      return marks.finish();
    }),
    hoverTooltip((view, pos, side) => tip(view.state, pos, side, words), { hideOnChange: true }),
  ];
}
