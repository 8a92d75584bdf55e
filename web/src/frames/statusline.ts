// The line below the list: counts of frames, progress and messages.

import { button, make } from "../kit/dom";
import type { State } from "../api/frames";
import { sortWords } from "./sorting";
import type { Connection } from "./socket";
import { bytes, count, counted, nowhere } from "../kit/frametext";

const sayMillis = 5000;

export class StatusLine {
  readonly element = make("div", "frames-line");
  private readonly counts = make("span", "counts");
  private readonly order = make("span", "order");
  private readonly choice = button("", () => this.back(), "Back to this frame (the list stays there)", "chosen link");
  private readonly bar = make("progress");
  private readonly doing = make("span", "doing");
  private readonly note = make("span", "warn");
  private readonly said = make("span", "said");
  private readonly link = make("span", "conn");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private current = 0;
  private letters = "";
  private many = 0;

  private readonly back: () => void;

  /** `back` scrolls to the current frame. */
  constructor(back: () => void) {
    this.back = back;
    this.choice.removeAttribute("aria-label"); // its text is its name
    this.choice.hidden = true;
    this.bar.max = 1;
    this.bar.hidden = true;
    this.said.setAttribute("role", "status");
    this.link.setAttribute("role", "status");
    this.element.append(this.counts, this.order, this.choice, this.note, make("span", "grow"), this.said, this.bar, this.doing, this.link); // variable parts do not move the counts
  }

  show(s: State, connection: Connection, paused = false): void {
    const all = s.live ? !paused && s.fit === s.scanned : s.done ? s.fit === s.total : s.fit === 0; // the newest frames are filtered in a moment
    const lost = s.done ? nowhere(s.noted, s.total).length : 0;
    const packets = Math.max(0, s.packets); // rows, but no frames
    this.set(this.counts, `${counted(s.total - packets, "frame")}${packets === 0 ? "" : ` and ${counted(packets, "packet event")}`}${all ? "" : ` · ${count(s.fit)} shown`}${s.marked.length === 0 ? "" : ` · ${count(s.marked.length)} marked`}${lost === 0 ? "" : ` · ${count(lost)} noted elsewhere`}`);
    const reading = s.reading && s.size > 0;
    const wrong = s.mistakes.some((m) => m.in === "filter" || m.in === "chip");
    const scanning = !wrong && !s.done && s.total > 0 && s.scanned < s.total;
    const sorting = s.sorting > 0;
    const share = reading ? s.read / s.size : scanning ? s.scanned / s.total : sorting ? s.sorting : 1;
    this.bar.hidden = !((reading || scanning) && !s.live) && !sorting;
    if (!this.bar.hidden) {
      this.bar.value = Math.min(1, share);
      this.bar.setAttribute("aria-label", reading ? "Reading" : scanning ? "Filtering" : "Sorting");
    }
    this.set(this.order, s.sorted === undefined ? "" : `sorted by ${sortWords(s.sorted)}`);
    this.set(this.doing, sorting && !reading && !scanning ? `sorting, ${Math.floor(share * 100)} %` : s.live ? (paused ? "paused" : "live") : reading ? `reading ${bytes(s.read)} of ${bytes(s.size)}` : scanning ? `filtering, ${Math.floor(share * 100)} %` : "");
    this.set(this.note, s.note === "" ? "" : `! ${s.note}`);
    this.set(this.link, connection === "open" ? "" : connection === "connecting" ? "connecting …" : connection === "gone" ? "! deleted" : "! connection lost, reconnecting");
    this.link.classList.toggle("err", connection === "lost" || connection === "gone");
  }

  /** Sets the number of selected rows besides the current one. */
  chosen(n: number): void {
    this.many = n;
    this.drawChoice();
  }

  /** Sets the current frame and its letters. */
  selected(n: number, letters = ""): void {
    this.current = n;
    this.letters = letters;
    this.drawChoice();
  }

  private drawChoice(): void {
    this.set(this.choice, this.many > 1 ? `${count(this.many)} chosen` : this.current > 0 ? `at ${count(this.current)}${this.letters === "" ? "" : ` (${this.letters})`}` : "");
    this.choice.hidden = this.choice.textContent === "";
  }

  /** Shows a message for a few seconds. */
  say(text: string, wrong = false): void {
    clearTimeout(this.timer);
    this.said.textContent = text;
    this.said.classList.toggle("err", wrong);
    this.timer = setTimeout(() => (this.said.textContent = ""), sayMillis);
  }

  private set(element: HTMLElement, text: string): void {
    if (element.textContent !== text) {
      element.textContent = text;
    }
  }
}
