// The mistakes of a definition: marks beside line numbers, and messages after lines. underlines.ts has the rest.

import type { DiagInfo } from "../../api/api";
import { type ChangeDesc, type EditorState, type Extension, RangeSetBuilder, StateEffect, StateField, type Text, type TransactionSpec } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutterLineClass, WidgetType } from "@codemirror/view";

/** A range of text: lines and columns from 1, columns in Unicode characters, the end exclusive. */
interface Place {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** A diagnostic of a definition. */
export type Mistake = DiagInfo;

/** A mistake in the current document; offsets in UTF-16. */
export interface Found {
  readonly id: number;
  readonly mistake: Mistake;
  readonly from: number;
  readonly to: number;
  readonly fix: { readonly from: number; readonly to: number; readonly text: string } | undefined;
}

function offset(doc: Text, line: number, column: number): number {
  if (line < 1) {
    return 0;
  }
  if (line > doc.lines) {
    return doc.length;
  }
  const { from, text } = doc.line(line);
  let at = 0;
  for (let left = column - 1; left > 0 && at < text.length; left--) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return from + at;
}

function range(doc: Text, place: Place): { from: number; to: number } {
  const from = offset(doc, place.line, place.column);
  return { from, to: Math.max(from, offset(doc, place.end_line, place.end_column)) };
}

function moved(found: Found, changes: ChangeDesc): Found {
  const from = changes.mapPos(found.from, 1);
  const { fix } = found;
  return {
    ...found,
    from,
    to: Math.max(from, changes.mapPos(found.to, -1)),
    // After an edit inside the range, the fix may be wrong.
    fix:
      fix === undefined || changes.touchesRange(fix.from, fix.to) !== false
        ? undefined
        : { from: changes.mapPos(fix.from, 1), to: changes.mapPos(fix.to, fix.from === fix.to ? 1 : -1), text: fix.text },
  };
}

/** Replaces the mistakes. */
export const setFound = StateEffect.define<readonly Found[]>();

/** The mistakes. */
export const foundField = StateField.define<readonly Found[]>({
  create: () => [],
  update(list, tr) {
    for (const effect of tr.effects) {
      if (effect.is(setFound)) {
        return effect.value;
      }
    }
    return tr.docChanged && list.length > 0 ? list.map((found) => moved(found, tr.changes)) : list;
  },
});

/** The message after its line. */
class Message extends WidgetType {
  private readonly mistake: Mistake;

  constructor(mistake: Mistake) {
    super();
    this.mistake = mistake;
  }

  override eq(other: Message): boolean {
    return this.mistake.message === other.mistake.message && this.mistake.severity === other.mistake.severity;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = `lint ${this.mistake.severity === "error" ? "err" : "warn"}`;
    element.textContent = this.mistake.message;
    return element;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

class LineMark extends GutterMarker {
  override elementClass: string;

  constructor(severity: Mistake["severity"]) {
    super();
    this.elementClass = `cm-${severity}-line`;
  }
}

const lineMarks = { error: new LineMark("error"), warning: new LineMark("warning") };

/** The worst mistake of each line, the first among equals; by start of line, ascending. */
function worst(state: EditorState): [number, Found][] {
  const lines = new Map<number, Found>();
  for (const found of state.field(foundField)) {
    const { from } = state.doc.lineAt(found.from);
    const before = lines.get(from);
    if (before === undefined || (before.mistake.severity !== "error" && found.mistake.severity === "error")) {
      lines.set(from, found);
    }
  }
  return [...lines].sort(([a], [b]) => a - b);
}

function messages(state: EditorState): DecorationSet {
  return Decoration.set(
    worst(state).map(([line, found]) => Decoration.widget({ widget: new Message(found.mistake), side: 1 }).range(state.doc.lineAt(line).to)),
  );
}

/** Shows mistakes in a document that has changed since `before`, to which they refer. */
export function showMistakes(list: readonly Mistake[], before: Text, changes: ChangeDesc): TransactionSpec {
  const found = list.map((mistake, id): Found => {
    const fix = mistake.fix === undefined ? undefined : { ...range(before, mistake.fix), text: mistake.fix.text };
    return moved({ id, mistake, ...range(before, mistake), fix }, changes);
  });
  return { effects: setFound.of(found) };
}

/** The extension that shows mistakes. */
export function mistakes(): Extension {
  return [
    foundField,
    EditorView.decorations.compute([foundField, "doc"], messages),
    gutterLineClass.compute([foundField, "doc"], (state) => {
      const marks = new RangeSetBuilder<GutterMarker>();
      for (const [line, { mistake }] of worst(state)) {
        marks.add(line, line, lineMarks[mistake.severity]);
      }
      return marks.finish();
    }),
  ];
}
