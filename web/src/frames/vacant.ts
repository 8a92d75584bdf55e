// What stands in the place of rows while there are none, and why.

import type { Mistake, State, View } from "../api/frames";
import { button, make } from "../kit/dom";
import type { Connection } from "./socket";

/** Why there are no rows; "" if there are some, "coming" if it is not known yet. */
export type Vacancy = "" | "gone" | "connecting" | "lost" | "wrong" | "coming" | "nothing" | "waiting" | "none";

/** The mistake for which a list has no frames. */
function mistakeOf(state: State): Mistake | undefined {
  return state.mistakes.find((m) => m.in === "filter" || m.in === "chip");
}

export function vacancyOf(state: State, connection: Connection, view: Pick<View, "filter" | "chips">): Vacancy {
  const filtered = view.filter !== "" || view.chips.length > 0;
  if (connection === "gone") {
    return "gone";
  }
  if (state.fit > 0) {
    return "";
  }
  return connection !== "open" && state.total === 0 ? connection
    : mistakeOf(state) !== undefined && filtered ? "wrong"
    : !state.done && (state.seq === 0 || state.scanned < state.total || (state.reading && !state.live)) ? "coming"
    : filtered && state.total > 0 ? "nothing"
    : state.live ? "waiting" : state.done ? "none" : "coming";
}

/** What one can do about it. */
export interface VacantHost {
  /** Removes the filter and the chips. */
  clear(): void;
  /** Goes to the filter; undefined without a box for it. */
  edit(): (() => void) | undefined;
}

export class Vacant {
  readonly element = make("div", "frames-empty");
  /** What live traffic without frames waits for. */
  waiting = "";
  private readonly host: VacantHost;
  private key = "";

  constructor(host: VacantHost) {
    this.host = host;
    this.element.hidden = true;
  }

  /** What is said is about an earlier list. */
  forget(): void {
    this.key = "";
    this.element.hidden = true;
  }

  /** Says why there are no rows; returns that, unless it was said already. */
  show(state: State, connection: Connection, view: Pick<View, "filter" | "chips">): Vacancy | undefined {
    const why = vacancyOf(state, connection, view);
    const wrong = why === "wrong" ? mistakeOf(state) : undefined;
    const key = [why, why === "waiting" ? this.waiting : "", wrong?.message ?? "", wrong?.help ?? "", state.note].join(" ");
    if (key === this.key) {
      return undefined;
    }
    this.key = key;
    this.element.hidden = why === "" || why === "coming";
    if (!this.element.hidden) {
      this.element.replaceChildren(...this.content(why, state, view, wrong));
    }
    return why;
  }

  private content(why: Vacancy, state: State, view: Pick<View, "filter" | "chips">, wrong: Mistake | undefined): HTMLElement[] {
    const say = (title: string, text: string, ...buttons: HTMLElement[]): HTMLElement[] => {
      const row = make("div", "row");
      row.append(...buttons);
      return [make("strong", "", title), make("p", "", text), ...(buttons.length > 0 ? [row] : [])];
    };
    const edit = this.host.edit();
    const editing = (kind: string): HTMLElement[] => (edit === undefined ? [] : [button("Edit the filter", edit, "", kind)]);
    switch (why) {
      case "gone": {
        const link = make("a", "btn", "All captures");
        link.href = location.pathname.replace(/\/captures\/.*/, "/captures");
        return say("This capture has been deleted", "Its frames, marks and notes are gone from the server. The last selected frame stays in the panes until you leave.", link);
      }
      case "connecting":
        return say("Connecting …", "The list appears once the server answers.");
      case "lost":
        return say("No connection", "The server does not answer. Reconnecting automatically.");
      case "wrong":
        return say(wrong?.in === "chip" ? "Not a valid filter in a chip" : "Not a valid filter", `${wrong?.message ?? ""}${(wrong?.help ?? "") === "" ? "" : `: ${wrong?.help}`}`, ...editing("btn"), button("Clear the filter", () => this.host.clear()));
      case "nothing": {
        const chips = view.chips.length;
        return say("No matching frames", `None of ${state.total} frames matches the filter${chips === 0 ? "" : chips === 1 ? " and the chip" : ` and the ${chips} chips`}.`,
          button("Clear filter and chips", () => this.host.clear(), "", "btn"), ...editing("quiet"));
      }
      case "waiting":
        return say("No frames yet", this.waiting);
      default:
        return say(state.again ? "It cannot be read now" : "No frames", state.note === "" ? "There are no frames in this capture." : state.note);
    }
  }
}
