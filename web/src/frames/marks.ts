// The marks and notes of frames: a mark shows at once, until the next state of the list has it.

import type { FrameName, FrameRow, Noted, State } from "../api/frames";
import type { Anchor } from "../kit/menu";
import { askText } from "../kit/notebox";
import { announce } from "../kit/notify";

/** What marks and notes need of the list. */
export interface MarksHost {
  readonly state: State;
  readonly row: FrameRow | undefined;
  /** The frames that a key applies to. */
  about(): readonly FrameRow[];
  anchor(): Anchor;
  /** The marks have changed. */
  changed(): void;
  /** Marks or unmarks frames. */
  mark(frames: readonly FrameName[], on: boolean): void;
  /** Writes notes of frames; null removes a note. */
  note(notes: Readonly<Record<FrameName, string | null>>): void;
}

/** The name of a frame that lasts when numbers change. */
export function nameOf(row: FrameRow): FrameName {
  return row.id ?? row.n;
}

export class Marks {
  private readonly host: MarksHost;
  private marked: ReadonlySet<number> = new Set();
  private from: readonly number[] | undefined; // the list from which the set was made

  constructor(host: MarksHost) {
    this.host = host;
  }

  /** The numbers of the marked frames. */
  get numbers(): ReadonlySet<number> {
    return this.marked;
  }

  /** Takes a state of the list. */
  take({ marked }: State): void {
    if (marked !== this.from) {
      this.from = marked;
      this.marked = new Set(marked);
    }
  }

  /** Whether a mark key would set marks. */
  get sets(): boolean {
    return this.host.about().some((row) => !this.marked.has(row.n));
  }

  /** Marks the frames that a key applies to, or unmarks them if all are marked. */
  toggle(): void {
    const rows = this.host.about();
    const on = this.sets;
    const frames = rows.filter((row) => this.marked.has(row.n) !== on);
    const names = frames.flatMap((row) => (on ? [nameOf(row)] : this.notedOf(row, (x) => x.mark === true)));
    const next = new Set(this.marked);
    for (const { n } of frames) {
      if (on) {
        next.add(n);
      } else {
        next.delete(n);
      }
    }
    this.marked = next;
    this.host.changed();
    announce(`${frames.length === 1 ? `frame ${frames[0]?.n}` : `${frames.length} frames`} ${on ? "marked" : "unmarked"}`);
    this.host.mark(names, on);
  }

  /** The frames whose marks or notes a row shows: its own, and frames that are now part of it. */
  private notedOf(row: FrameRow, fits: (noted: Noted) => boolean): FrameName[] {
    const of = this.host.state.noted.filter((x) => x.n === row.n && fits(x)).map((x) => x.id ?? row.n);
    return of.length > 0 ? of : [nameOf(row)];
  }

  /** The note of a frame, or "". */
  noteOf(n: number): string {
    return this.host.state.notes[String(n)] ?? "";
  }

  /** Edits the note of the current frame. */
  editNote(): void {
    const { row } = this.host;
    if (row === undefined) {
      return;
    }
    askText(this.host.anchor(), { label: `Note about frame ${row.n}`, text: this.noteOf(row.n), button: "Save" }, (text) => {
      if (text !== this.noteOf(row.n)) {
        const names = this.notedOf(row, (x) => x.note !== undefined);
        this.host.note(Object.fromEntries(names.map((name, i) => [name, i === 0 && text !== "" ? text : null])));
      }
    });
  }
}
