// Changes between texts: minimal ones that turn one text into another, and the recorded ones from an earlier text to the current one.

import { ChangeSet, Text, type ChangeSpec, type EditorState } from "@codemirror/state";

/** Pairs of corresponding lines, numbered from 0; ascending in both. */
type Pairs = (readonly [number, number])[];

const mostCells = 1_000_000; // of the table below; larger texts are replaced as a whole

/** The longest common subsequence of two lists. */
function common(a: readonly string[], b: readonly string[]): Pairs {
  if (a.length * b.length > mostCells) {
    return [];
  }
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width); // of the rests from [i, j] on
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: Pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      pairs.push([i++, j++]);
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      i++;
    } else {
      j++;
    }
  }
  return pairs;
}

const isHigh = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

const beginsLine = (text: string, at: number): boolean => at === 0 || text[at - 1] === "\n";

/** The change of a range of text, without a common start and end. Several lines are replaced whole: others may insert lines between them. */
function stretch(from: number, old: string, now: string): ChangeSpec[] {
  if (old === now) {
    return [];
  }
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) {
    start++;
  }
  if (start > 0 && isHigh(old, start - 1)) {
    start--; // a character of two units is replaced whole
  }
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) {
    end++;
  }
  if (end > 0 && isLow(old, old.length - end)) {
    end--;
  }
  if (old.slice(start, old.length - end).includes("\n")) {
    while (!beginsLine(old, start)) {
      start--;
    }
    while (end > 0 && !(beginsLine(old, old.length - end) && beginsLine(now, now.length - end))) {
      end--;
    }
  }
  return [{ from: from + start, to: from + old.length - end, insert: Text.of(now.slice(start, now.length - end).split("\n")) }];
}

const plain = (line: string): string => line.replace(/\s+/g, "");

/** The changes that turn a text into `now`. Lines that differ only in white space correspond, so that carets stay at their words. */
export function changesTo(text: Text, now: string): ChangeSpec[] {
  const old = text.toString().split("\n");
  const wanted = now.split("\n");
  let start = 0;
  while (start < old.length && start < wanted.length && old[start] === wanted[start]) {
    start++;
  }
  let end = 0;
  while (end < Math.min(old.length, wanted.length) - start && old[old.length - 1 - end] === wanted[wanted.length - 1 - end]) {
    end++;
  }
  const a = old.slice(start, old.length - end);
  const b = wanted.slice(start, wanted.length - end);
  const pairs = common(a.map(plain), b.map(plain));

  // Between two pairs there is one gap in each text. A line break belongs to the line before it, but in the last gap, behind which there is none.
  const changes: ChangeSpec[] = [];
  let [i, j] = [0, 0];
  const joined = (lines: readonly string[], from: number, to: number, before: boolean): string => {
    const part = lines.slice(from, to).join("\n");
    return from === to ? "" : before ? `\n${part}` : `${part}\n`;
  };
  const offset = (line: number): number => text.line(start + line + 1).from;
  for (const [toI, toJ] of pairs) {
    if (i < toI || j < toJ) {
      changes.push(...stretch(offset(i), joined(a, i, toI, false), joined(b, j, toJ, false)));
    }
    changes.push(...stretch(offset(toI), a[toI] ?? "", b[toJ] ?? ""));
    [i, j] = [toI + 1, toJ + 1];
  }
  if (i < a.length || j < b.length) {
    if (end > 0) {
      changes.push(...stretch(offset(i), joined(a, i, a.length, false), joined(b, j, b.length, false)));
    } else if (start + i > 0) {
      const before = text.line(start + i).to;
      changes.push(...stretch(before, joined(a, i, a.length, true), joined(b, j, b.length, true)));
    } else {
      changes.push(...stretch(0, a.join("\n"), b.join("\n")));
    }
  }
  return changes;
}

const mostSteps = 100;

/** The recent texts of a document and the changes between them. */
export class Past {
  private steps: { before: Text; changes: ChangeSet }[] = [];

  /** Records a change. */
  add(before: Text, changes: ChangeSet): void {
    this.steps.push({ before, changes });
    if (this.steps.length > mostSteps) {
      this.steps.shift();
    }
  }

  /** Discards everything, for another document. */
  clear(): void {
    this.steps = [];
  }

  /** The changes from a text to the current one, with that text; undefined if it is not a recent one. */
  since(of: string, now: EditorState): { before: Text; changes: ChangeSet } | undefined {
    const wanted = Text.of(of.split("\n"));
    if (wanted.eq(now.doc)) {
      return { before: now.doc, changes: ChangeSet.empty(now.doc.length) };
    }
    let changes: ChangeSet | undefined;
    for (const step of this.steps.toReversed()) {
      changes = changes === undefined ? step.changes : step.changes.compose(changes);
      if (step.before.eq(wanted)) {
        return { before: step.before, changes };
      }
    }
    return undefined;
  }
}
