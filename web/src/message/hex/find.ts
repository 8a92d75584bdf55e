// Find in bytes: a bar over the grid. The server searches, with the patterns that find frames, and the grid marks all matches.

import { FindBar, type FindQuery, type FindResult, mistakeIn } from "../../kit/findbar";
import type { Answer } from "../socket";
import type { HexGrid } from "./index";
import { noRanges, rangeAfter, type Ranges } from "./marks";

type As = "text" | "hex" | "value";

export interface FindHost {
  grid: HexGrid;
  ask(action: { action: string; typed: string; exactly: boolean }): Promise<Answer>;
  select(start: number, end: number): void;
}

const pause = 120; // milliseconds without typing before a search

interface Search {
  key: string; // the query, and the state of the bytes
  hits: Ranges;
  count: number; // of all, including those not in hits
  wrong: FindResult | undefined;
}

const count = (n: number): string => n.toLocaleString("en-US");

export class ByteFind {
  private readonly host: FindHost;
  private readonly bar: FindBar<As>;
  private bytes = 0; // changes of the bytes
  private search: Promise<Search> | undefined;
  private key = ""; // of search
  private timer = 0;

  /** Adds the bar before an element. */
  constructor(before: Element, host: FindHost) {
    this.host = host;
    this.bar = new FindBar<As>(
      { label: "Find in bytes", ways: ["text", "hex", "value"], hints: { text: "any text, in UTF-8, UTF-16 and Latin-1" }, store: "find.bytes" },
      {
        find: (query, back) => this.go(query, back),
        changed: () => this.soon(),
        failed: () => "failed",
        closed: () => {
          clearTimeout(this.timer);
          this.host.grid.found(noRanges);
          this.host.grid.focus();
        },
      },
    );
    before.before(this.bar.element);
  }

  open(): void {
    this.bar.open();
  }

  next(back: boolean): void {
    if (this.bar.element.hidden) {
      this.bar.open();
    }
    void this.bar.run(back);
  }

  /** The bytes have changed: the matches are searched again. */
  changed(): void {
    this.bytes++;
    if (!this.bar.element.hidden) {
      this.soon();
    }
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.mark(), pause);
  }

  /** Marks all matches and says how many there are; the selection stays. */
  private async mark(): Promise<void> {
    const { query } = this.bar;
    if (query.text.trim() === "") {
      this.host.grid.found(noRanges);
      return;
    }
    const search = await this.run(query);
    if (search.key === this.key && !this.bar.element.hidden) {
      const { start, end } = this.host.grid.selection;
      this.bar.say(search.wrong ?? { text: this.place(search, at(search.hits, start, end)) });
    }
  }

  /** Searches, unless that was the last search. */
  private run(query: FindQuery<As>): Promise<Search> {
    const key = `${this.bytes} ${query.as} ${query.exact} ${query.text}`;
    if (this.search === undefined || key !== this.key) {
      this.key = key;
      this.search = this.host.ask({ action: `find:${query.as}`, typed: query.text, exactly: query.exact }).then((answer) => {
        const search = searched(key, answer);
        if (key === this.key && !this.bar.element.hidden) {
          this.host.grid.found(search.hits);
        }
        if (answer.hits === undefined) {
          this.key = ""; // try again
        }
        return search;
      });
    }
    return this.search;
  }

  private async go(query: FindQuery<As>, back: boolean): Promise<FindResult> {
    clearTimeout(this.timer);
    const search = await this.run(query);
    if (search.wrong !== undefined) {
      return search.wrong;
    }
    const { starts, ends } = search.hits;
    this.host.grid.found(search.hits);
    const { start, end } = this.host.grid.selection;
    let i = rangeAfter(search.hits, start);
    if (back) {
      i -= (starts[i] ?? Infinity) < start ? 0 : 1;
    } else if (end > start && starts[i] === start && ends[i] === end) {
      i++;
    } else if ((starts[i] ?? Infinity) < start) {
      i++;
    }
    const round = i < 0 || i >= starts.length;
    i = i < 0 ? starts.length - 1 : i >= starts.length ? 0 : i;
    this.host.select(starts[i] ?? 0, ends[i] ?? 0);
    return { text: `${this.place(search, i)}${round ? `, wrapped to the ${back ? "end" : "start"}` : ""}` };
  }

  private place({ hits, count: all }: Search, i: number): string {
    const marked = hits.starts.length;
    return (i >= 0 ? `${count(i + 1)} of ${count(all)}` : all === 1 ? "1 match" : `${count(all)} matches`) + (marked < all ? `, the first ${count(marked)} are marked` : "");
  }
}

/** The index of a range, -1 if it is not among them. */
function at(hits: Ranges, start: number, end: number): number {
  const i = rangeAfter(hits, start);
  return hits.starts[i] === start && hits.ends[i] === end ? i : -1;
}

function searched(key: string, { hits, failed }: Answer): Search {
  const pairs = hits?.at ?? [];
  const starts = new Uint32Array(pairs.length / 2);
  const ends = new Uint32Array(pairs.length / 2);
  let end = 0;
  for (let i = 0; i < starts.length; i++) {
    const start = end + (pairs[2 * i] ?? 0);
    end = start + (pairs[2 * i + 1] ?? 0);
    starts[i] = start;
    ends[i] = end;
  }
  let wrong = mistakeIn(hits?.mistakes);
  if (hits === undefined) {
    wrong = { text: failed ?? "failed", wrong: true };
  } else if (hits.late === true) {
    wrong = { text: "the search takes too long", wrong: true };
  } else if (wrong === undefined && hits.count === 0) {
    wrong = { text: "not found", wrong: true };
  }
  return { key, hits: { starts, ends }, count: hits?.count ?? 0, wrong };
}
