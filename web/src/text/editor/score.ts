// Beside each line of a definition, how many messages of the project have a value there, and how many different ones; the first message whose
// defect is there is a click away.

import type { ScoresLine } from "../../api/api";
import { type Extension, RangeSet, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, gutter, GutterMarker } from "@codemirror/view";

import { shortCount } from "../score";

export type LineScore = ScoresLine;

const setScores = StateEffect.define<RangeSet<GutterMarker>>();

class ScoreMark extends GutterMarker {
  readonly line: LineScore;

  constructor(line: LineScore) {
    super();
    this.line = line;
  }

  override eq(other: ScoreMark): boolean {
    return JSON.stringify(this.line) === JSON.stringify(other.line);
  }

  override toDOM(): Node {
    const { frames, distinct, more, values, bad, first } = this.line;
    const mark = document.createElement("span");
    mark.className = "line-score";
    const plural = (n: number, what: string): string => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
    const parts = [`${plural(frames, "message")} with a value`, `${more === true ? "more than " : ""}${plural(distinct, "different value")}`];
    if (values !== undefined) {
      parts.push(values);
    }
    if (bad !== undefined && first !== undefined) {
      mark.classList.add("bad");
      mark.setAttribute("role", "button");
      mark.textContent = `✗ ${shortCount(bad)}`;
      parts.unshift(`${plural(bad, "message")} not as this line says; the first is frame ${first.frame} of ${first.name}: ${first.reason}. A click opens it`);
    } else {
      mark.textContent = `${shortCount(frames)} · ${shortCount(distinct)}${more === true ? "+" : ""}`;
    }
    mark.title = parts.join("\n");
    mark.setAttribute("aria-label", parts.join(", "));
    return mark;
  }
}

const spacer = new (class extends GutterMarker {
  override toDOM(): Node {
    const mark = document.createElement("span");
    mark.className = "line-score";
    mark.textContent = "000k · 000k";
    return mark;
  }
})();

/** The column of figures, for the lines that setLineScores sets. `open` is called for a line with a defect that is clicked. */
export function lineScores(open: (line: LineScore) => void): Extension {
  const marks = StateField.define<RangeSet<GutterMarker>>({
    create: () => RangeSet.empty,
    update(set, tr) {
      for (const effect of tr.effects) {
        if (effect.is(setScores)) {
          return effect.value;
        }
      }
      return tr.docChanged ? set.map(tr.changes) : set;
    },
  });
  return [
    marks,
    gutter({
      class: "cm-scores",
      side: "after",
      markers: (view) => view.state.field(marks),
      initialSpacer: () => spacer,
      domEventHandlers: {
        mousedown(view, block) {
          let found = false;
          view.state.field(marks).between(block.from, block.from, (_from, _to, mark) => {
            if (mark instanceof ScoreMark && mark.line.first !== undefined) {
              open(mark.line);
              found = true;
            }
          });
          return found;
        },
      },
    }),
  ];
}

/** Sets the figures of the lines of the document. */
export function setLineScores(view: EditorView, lines: readonly LineScore[]): void {
  const set = new RangeSetBuilder<GutterMarker>();
  for (const line of lines) {
    if (line.line <= view.state.doc.lines) {
      const { from } = view.state.doc.line(line.line);
      set.add(from, from, new ScoreMark(line));
    }
  }
  view.dispatch({ effects: setScores.of(set.finish()) });
}
