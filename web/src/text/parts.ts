// A text with several messages: the layout shows one of them, and select#part, which the server draws, chooses it. Of a large text only this one is
// shown, unless the user wants all.

/** The page. */
interface PartsHost {
  reveal(line: number): void; // in the editor
  narrow(first: number, last: number): void; // shows these lines alone, or all with 0
  pick(n: number): void; // shows a message of the text, from 1
  text(): string;
}

/** A text with more lines is large. */
const largest = 300;

const stored = "wirebench.whole-texts"; // "on" if large texts are wanted whole

/** The messages of the open definition. */
export class Parts {
  caret: number | null = null; // its line, until a message is selected in another way
  private readonly host: PartsHost;
  private shown = ""; // the text, and the first line of the message

  constructor(host: PartsHost) {
    this.host = host;
  }

  private get select(): HTMLSelectElement | null {
    return document.querySelector<HTMLSelectElement>("#part");
  }

  /** Of each message the line of its name, and the first and the last one of its own, 0 if these are not together. */
  private get lines(): (readonly [number, number, number])[] {
    return JSON.parse(this.select?.dataset["parts"] ?? "[]") as [number, number, number][];
  }

  /** Scrolls to the message in the layout when it changes, unless the caret is in its text. */
  reveal(): void {
    const { select } = this;
    const own = this.lines[select?.selectedIndex ?? 0];
    const now = own === undefined ? "" : `${document.getElementById("definition-title")?.textContent ?? ""} ${select?.value ?? ""}`;
    const moved = now !== this.shown;
    this.shown = now;
    if (moved && own !== undefined && document.activeElement?.closest("#code") === null) {
      this.narrow();
      this.host.reveal(own[0]);
    }
  }

  /** Shows the message of the text that contains the caret. */
  follow(): void {
    const { select, caret } = this;
    if (select === null || caret === null) {
      return;
    }
    const at = partAt(this.lines.map(([line]) => line), select.selectedIndex, caret, this.host.text());
    if (at >= 0 && at !== select.selectedIndex && document.activeElement?.closest("#code") !== null) {
      select.selectedIndex = at;
      this.host.pick(at + 1);
    }
  }

  /** Shows whole texts, or one message of a large one at a time again. */
  toggleWhole(): void {
    try {
      localStorage.setItem(stored, this.whole ? "" : "on");
    } catch { /* for this time only */ }
    this.narrow();
  }

  private get whole(): boolean {
    try {
      return localStorage.getItem(stored) === "on";
    } catch {
      return false;
    }
  }

  private narrow(): void {
    const [, first = 0, last = 0] = this.lines[this.select?.selectedIndex ?? 0] ?? [];
    const large = first > 0 && !this.whole && this.host.text().split("\n", largest + 1).length > largest;
    this.host.narrow(large ? first : 0, last);
  }
}

/** The message that a line belongs to, -1 for none. Messages may have another order than their texts, and several, such as the shown one, may have
 *  the same text. One inside another one ends where a line is not indented more than its first one. */
export function partAt(starts: readonly number[], shown: number, line: number, text = ""): number {
  const lines = text.split("\n", line);
  const depth = (n: number): number => lines[n - 1]?.search(/\S/) ?? 0; // -1: the line is empty
  let at = line;
  while (at > 1 && depth(at) < 0) {
    at--;
  }
  const isIn = (start: number): boolean => start === at || depth(start) <= 0 || depth(start) < depth(at);
  const from = Math.max(...starts.filter((start) => start <= line && isIn(start)));
  return starts[shown] === from ? shown : starts.lastIndexOf(from);
}
