// Mistakes of the line that is being typed are held back: it is rarely right before it is complete.

const pauseMillis = 1000; // after the last key they are shown

/** Holds back the mistakes of one line; `apply` shows those of all lines but it, 0 for none. */
export class Hold {
  private readonly apply: (line: number) => void;
  private timer = 0;
  private line = 0;

  constructor(apply: (line: number) => void) {
    this.apply = apply;
  }

  /** A key was typed in a line. */
  typed(line: number): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.end(), pauseMillis);
    this.line = line;
  }

  /** The caret is in another line now, or the text has lost the focus. */
  left(line: number): void {
    if (this.line !== 0 && this.line !== line) {
      this.end();
    }
  }

  /** Shows everything. */
  end(): void {
    clearTimeout(this.timer);
    if (this.line !== 0) {
      this.line = 0;
      this.apply(0);
    }
  }

  /** Hides the elements that are only about the line, and returns it. */
  mark(): number {
    for (const element of document.querySelectorAll<HTMLElement>("[data-hold]")) {
      element.classList.toggle("on-hold", this.line !== 0 && (element.dataset["hold"] ?? "").split(" ").every((n) => Number(n) === this.line));
    }
    return this.line;
  }
}
