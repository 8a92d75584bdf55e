// Marks at the ends of lines that have open comments or suggestions.

import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";

/** The open threads of a line, from 1. */
export interface LineThreads {
  readonly line: number;
  readonly threads: readonly { id: string; suggestion: boolean; text: string }[]; // text: who and what
}

const setThreads = StateEffect.define<DecorationSet>();

class ThreadMark extends WidgetType {
  readonly line: LineThreads;
  readonly open: (id: string) => void;

  constructor(line: LineThreads, open: (id: string) => void) {
    super();
    this.line = line;
    this.open = open;
  }

  override eq(other: ThreadMark): boolean {
    return JSON.stringify(this.line.threads) === JSON.stringify(other.line.threads);
  }

  override toDOM(): HTMLElement {
    const { threads } = this.line;
    const mark = document.createElement("button");
    mark.type = "button";
    mark.className = "line-thread";
    mark.textContent = `${threads.some(({ suggestion }) => suggestion) ? "✎ " : ""}${threads.length}`;
    mark.title = threads.map(({ text }) => text).join("\n");
    mark.setAttribute("aria-label", `${mark.textContent ?? ""} ${threads.length === 1 ? "comment" : "comments"} on line ${this.line.line}`);
    mark.addEventListener("mousedown", (event) => event.preventDefault()); // the caret stays
    mark.addEventListener("click", () => this.open(threads[0]?.id ?? ""));
    const gap = document.createElement("span"); // the caret at the end of the line is at its left
    gap.className = "line-thread-gap";
    gap.append(mark);
    return gap;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** The marks, which setLineThreads sets. */
export const lineThreads = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, tr) {
    for (const effect of tr.effects) {
      if (effect.is(setThreads)) {
        return effect.value;
      }
    }
    return tr.docChanged ? set.map(tr.changes) : set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Sets the marks of the lines of the document; `open` is called with the first thread of a line that is clicked. */
export function setLineThreads(view: EditorView, lines: readonly LineThreads[], open: (id: string) => void): void {
  const set = new RangeSetBuilder<Decoration>();
  for (const line of lines.toSorted((a, b) => a.line - b.line)) {
    if (line.line >= 1 && line.line <= view.state.doc.lines) {
      const { to } = view.state.doc.line(line.line);
      set.add(to, to, Decoration.widget({ widget: new ThreadMark(line, open), side: 2 }));
    }
  }
  view.dispatch({ effects: setThreads.of(set.finish()) });
}
