// Marks beside the lines that are not in the file, with whose they are.

import { type Extension, RangeSet, RangeSetBuilder, StateEffect, StateField, type Text } from "@codemirror/state";
import { type EditorView, gutter, GutterMarker } from "@codemirror/view";

/** Lines that are not saved, from 1. */
export interface UnsavedMark {
  readonly from: number;
  readonly to: number;
  readonly who: string; // "" for nobody that is known
  readonly own: boolean;
}

class Mark extends GutterMarker {
  readonly who: string;
  readonly own: boolean;

  constructor(who: string, own: boolean) {
    super();
    this.who = who;
    this.own = own;
  }

  override eq(other: Mark): boolean {
    return other.who === this.who && other.own === this.own;
  }

  override toDOM(): Node {
    const mark = document.createElement("span");
    mark.className = this.own ? "cm-unsaved own" : "cm-unsaved";
    mark.title = this.who === "" ? "Not saved" : `Not saved: typed by ${this.who}`;
    return mark;
  }
}

const setMarks = StateEffect.define<RangeSet<GutterMarker>>();

const marks = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(set, tr) {
    for (const effect of tr.effects) {
      if (effect.is(setMarks)) {
        return effect.value;
      }
    }
    return tr.docChanged ? set.map(tr.changes) : set;
  },
});

/** The column of the marks. It has its width without any, so that nothing moves when one comes. */
export const unsavedLines: Extension = [marks, gutter({ class: "cm-unsaved-lines", markers: (view) => view.state.field(marks) })];

/** Sets the marks. */
export function setUnsaved(view: EditorView, list: readonly UnsavedMark[]): void {
  view.dispatch({ effects: setMarks.of(marksOf(view.state.doc, list)) });
}

function marksOf(doc: Text, list: readonly UnsavedMark[]): RangeSet<GutterMarker> {
  const who = new Map<number, { names: Set<string>; own: boolean }>(); // by line: one mark, of all who have changed it
  for (const { from, to, who: name, own } of list) {
    for (let line = Math.max(from, 1); line <= Math.min(to, doc.lines); line++) {
      const of = who.get(line) ?? { names: new Set(), own: false };
      who.set(line, { names: name === "" ? of.names : of.names.add(name), own: of.own || own });
    }
  }
  const set = new RangeSetBuilder<GutterMarker>();
  for (const [line, { names, own }] of [...who].sort(([a], [b]) => a - b)) {
    const { from } = doc.line(line);
    set.add(from, from, new Mark([...names].join(", "), own));
  }
  return set.finish();
}
