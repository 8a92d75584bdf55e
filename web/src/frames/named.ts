// Letters for frames: "m a" gives the current frame the letter a, "' a" goes to it. They are stored in this browser, per capture. Marks are
// independent and shared: m sets one, and a letter may follow.

import { isTyping, singleKeys } from "../kit/keys";
import { type Anchor, closeMenu, openMenu } from "../kit/menu";
import type { FrameName, FrameRow } from "../api/frames";
import { keep, recallList } from "../kit/store";

const sequenceMillis = 1000; // as in keys.ts
const notLetters = "gjkmn"; // pressed right after m, these keep their own meaning: next frame, no mark, a note

/** The interface of the list for letters. */
export interface NamedHost {
  row(): FrameRow | undefined;
  goTo(frame: FrameName): Promise<void>;
  say(text: string): void;
  anchor(): Anchor;
  changed(): void;
}

type Named = [letter: string, n: number, id: string]; // n: its former number; earlier versions have other text in place of id

function isNamed(value: unknown): value is Named {
  return Array.isArray(value) && value.length === 3 && /^[a-z]$/.test(String(value[0])) && Number.isSafeInteger(value[1]) && Number(value[1]) > 0 && typeof value[2] === "string";
}

export class NamedFrames {
  private readonly host: NamedHost;
  private readonly key: string;
  private readonly all: Map<string, { n: number; id: string }>;
  private end: ((named: boolean) => void) | undefined; // of waiting for a letter

  constructor(remember: string, host: NamedHost) {
    this.host = host;
    this.key = `letters.${remember}`;
    this.all = new Map(recallList(this.key, isNamed).map(([letter, n, id]) => [letter, { n, id: id.includes(":") ? id : "" }]));
  }

  /** The letters of a frame, or "". */
  of(row: FrameRow | undefined): string {
    return [...this.all].filter(([, at]) => (at.id === "" ? at.n === row?.n : at.id === row?.id)).map(([letter]) => letter).sort().join(" ");
  }

  /** Takes the next letter pressed for the current frame; on any other key, or none, calls `otherwise`. */
  offer(otherwise: () => void): void {
    this.stop();
    const row = this.host.row();
    if (row === undefined || !singleKeys()) {
      otherwise();
      return;
    }
    const end = (named: boolean): void => {
      this.end = undefined;
      clearTimeout(timer);
      removeEventListener("keydown", listen, true);
      if (!named) {
        otherwise();
      }
    };
    const listen = (event: KeyboardEvent): void => {
      if (event.key === "Shift" || event.key === "Control" || event.key === "Alt" || event.key === "Meta") {
        return;
      }
      const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.isComposing && !isTyping(event.target);
      const letter = plain && /^[a-z]$/.test(event.key) && !notLetters.includes(event.key) ? event.key : "";
      end(letter !== "");
      if (letter !== "") {
        event.preventDefault();
        event.stopImmediatePropagation();
        this.put(letter, row.n, row.id ?? "");
      }
    };
    const timer = setTimeout(() => end(false), sequenceMillis);
    addEventListener("keydown", listen, true);
    this.end = end;
  }

  /** Stops waiting for a letter. */
  stop(): void {
    this.end?.(false);
  }

  private put(letter: string, n: number, id: string): void {
    this.all.set(letter, { n, id });
    this.store();
    this.host.say(`frame ${n} is ${letter}: ' ${letter} goes to it`);
  }

  private store(): void {
    keep(this.key, [...this.all].map(([letter, { n, id }]): Named => [letter, n, id]));
    this.host.changed();
  }

  /** Lists the frames with letters; pressing a letter goes to its frame. */
  choose(): void {
    this.stop();
    const letters = [...this.all.keys()].sort();
    if (letters.length === 0) {
      this.host.say("no frame has a letter; m a assigns a to the current frame");
      return;
    }
    openMenu(this.host.anchor(), {
      label: "Go to the frame with the letter",
      items: [
        ...letters.map((letter) => ({ title: `frame ${this.all.get(letter)?.n ?? 0}`, hint: letter, run: () => void this.goTo(letter) })),
        { group: "All", title: "Remove the letters", run: () => {
          this.all.clear();
          this.store();
        } },
      ],
    });
    const listen = (event: KeyboardEvent): void => {
      const open = document.querySelector(".pop [role=menu]") !== null;
      const known = open && !event.ctrlKey && !event.altKey && !event.metaKey && this.all.has(event.key);
      if (!open || known || event.key === "Escape" || event.key === "Enter") {
        removeEventListener("keydown", listen, true);
      }
      if (known) {
        event.preventDefault();
        event.stopImmediatePropagation();
        closeMenu();
        void this.goTo(event.key);
      }
    };
    addEventListener("keydown", listen, true);
  }

  private async goTo(letter: string): Promise<void> {
    const at = this.all.get(letter);
    if (at === undefined) {
      return;
    }
    await this.host.goTo(at.id === "" ? at.n : at.id);
  }
}
