// One message of a large text: the lines before and after it are hidden, until the whole text is shown.

import { EditorSelection, EditorState, type Extension, StateEffect, StateField, type Text, type Transaction, type TransactionSpec } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";

interface Shown {
  readonly from: number; // the start of a line
  readonly to: number; // the end of one
  readonly hidden: DecorationSet;
}

const setShown = StateEffect.define<{ from: number; to: number } | null>();

/** The lines that are shown, null for all. */
const shown = StateField.define<Shown | null>({
  create: () => null,
  update: (value, tr) => {
    for (const e of tr.effects) {
      if (e.is(setShown)) {
        return e.value === null ? null : around(tr.newDoc, e.value.from, e.value.to);
      }
    }
    return value === null || !tr.docChanged ? value : around(tr.newDoc, tr.changes.mapPos(value.from, -1), tr.changes.mapPos(value.to, 1));
  },
  provide: (f) => EditorView.decorations.from(f, (value) => value?.hidden ?? Decoration.none),
});

/** What stands in the place of hidden lines: a button that shows them. */
class Hidden extends WidgetType {
  private readonly lines: number;
  private readonly where: string;

  constructor(lines: number, where: string) {
    super();
    this.lines = lines;
    this.where = where;
  }

  override eq(other: Hidden): boolean {
    return this.lines === other.lines && this.where === other.where;
  }

  override toDOM(view: EditorView): HTMLElement {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "cm-hidden-lines";
    button.textContent = `${this.lines.toLocaleString("en")} ${this.lines === 1 ? "line" : "lines"} ${this.where}: show the whole text`;
    button.addEventListener("click", () => {
      view.dispatch({ effects: setShown.of(null) });
      view.focus();
    });
    return button;
  }
}

/** The whole lines around two places, null if these are all. */
function around(doc: Text, a: number, b: number): Shown | null {
  const first = doc.lineAt(Math.min(a, doc.length));
  const last = doc.lineAt(Math.min(Math.max(a, b), doc.length));
  const ranges = [];
  if (first.from > 0) {
    ranges.push(Decoration.replace({ widget: new Hidden(first.number - 1, "above"), block: true }).range(0, first.from - 1));
  }
  if (last.to < doc.length) {
    ranges.push(Decoration.replace({ widget: new Hidden(doc.lines - last.number, "below"), block: true }).range(last.to + 1, doc.length));
  }
  return ranges.length === 0 ? null : { from: first.from, to: last.to, hidden: Decoration.set(ranges) };
}

/** The user's own moves stay in what is shown; who goes to another place, such as a mistake or what a search has found, sees the whole text. */
function guard(tr: Transaction): TransactionSpec | readonly TransactionSpec[] {
  const value = tr.startState.field(shown);
  const back = tr.isUserEvent("undo") || tr.isUserEvent("redo");
  if (value === null || tr.selection === undefined || tr.docChanged && !back || tr.effects.some((e) => e.is(setShown))) {
    return tr;
  }
  const from = tr.changes.mapPos(value.from, -1);
  const to = tr.changes.mapPos(value.to, 1);
  if (tr.selection.ranges.every((r) => r.from >= from && r.to <= to)) {
    return tr;
  }
  if (!tr.isUserEvent("select") || tr.isUserEvent("select.search")) {
    return [tr, { effects: setShown.of(null) }];
  }
  const inside = (at: number): number => Math.min(Math.max(at, from), to);
  const ranges = tr.selection.ranges.map((r) => EditorSelection.range(inside(r.anchor), inside(r.head)));
  return [tr, { selection: EditorSelection.create(ranges, tr.selection.mainIndex) }];
}

/** Who types cannot change what is hidden: not the ends of the lines beside it, either. */
function protect(tr: Transaction): boolean | readonly number[] {
  const value = tr.startState.field(shown);
  const typed = ["input.type", "input.paste", "input.drop", "input.complete", "input.indent", "delete", "move"].some((of) => tr.isUserEvent(of));
  return value === null || !typed ? true : [0, value.from, value.to, tr.startState.doc.length];
}

/** The extension that can show a part of the text. */
export const narrowing: Extension = [shown, EditorState.transactionFilter.of(guard), EditorState.changeFilter.of(protect)];

/** Shows the lines from first to last alone, or all with 0. A caret outside goes to the first. */
export function narrow(view: EditorView, first: number, last: number): void {
  const { doc, selection } = view.state;
  const next = first < 1 || last > doc.lines || first > last ? null : { from: doc.line(first).from, to: doc.line(last).to };
  const now = view.state.field(shown);
  if (now?.from === next?.from && now?.to === next?.to) {
    return;
  }
  const inside = next === null || selection.main.from >= next.from && selection.main.to <= next.to;
  view.dispatch({ effects: setShown.of(next), ...(inside ? {} : { selection: { anchor: next.from } }) });
}
