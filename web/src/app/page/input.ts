// The input: the bytes that the page shows, as a text, with edits, and as states that undo brings back.

import { hexOf } from "../../kit/hextext";
import { closeFirstSteps } from "../../projects/firststeps";
import type { ShownMessage } from "../../message/shown";
import type { Controls } from "../../message/socket";
import { keepPasted } from "../reload";
import { showText } from "../sample";
import type { Sent } from "./controls";
import type { Opening } from "./opening";
import type { Selection } from "./selection";
import { type Step, Steps } from "./steps";

/** The page. */
interface InputHost extends Sent {
  readonly shown: Pick<ShownMessage, "bookmarks" | "edited">;
  readonly selection: Pick<Selection, "inspect">;
  readonly opening: Pick<Opening, "leave">;
}

/** The input. */
export class Input {
  readonly steps = new Steps({ now: () => this.step(), show: (step) => this.show(step) });
  private readonly host: InputHost;

  constructor(host: InputHost) {
    this.host = host;
  }

  private change(change: Partial<Controls>): void {
    Object.assign(this.host.controls, change);
    this.host.set(change);
  }

  /** Makes a text the sample, as one step; the result takes it back, and what came after it, and forgets it if it should not come again. */
  put(input: string): (forget: boolean) => void {
    closeFirstSteps();
    const back = this.steps.remember();
    this.host.shown.bookmarks.clear();
    this.change({ input, edits: {}, show: 0 });
    return back;
  }

  /** The bytes were edited; those from start to end are new. */
  edited(data: Uint8Array, start: number, end: number): void {
    this.steps.remember();
    this.host.shown.edited(data, start, end);
    const { edits, show } = this.host.controls;
    this.change({ edits: { ...edits, [String(show)]: hexOf(data) } });
    this.host.selection.inspect();
  }

  private step(): Step {
    const { message, show, input, form, bycode, edits } = this.host.controls;
    return { message, show, input, form, bycode, edits: { ...edits }, bookmarks: this.host.shown.bookmarks.packed };
  }

  private show({ message, show, input, form, bycode, edits, bookmarks }: Step): void {
    this.host.shown.bookmarks.unpack(bookmarks);
    Object.assign(this.host.controls, { show, input, form, bycode, edits });
    showText(input);
    this.host.set({ show, bycode, edits, ...(this.host.controls.pick === undefined ? { input, form } : {}) }); // the server has the bytes of a picked frame
    if (message !== this.host.controls.message) {
      this.host.set({ message, ...this.host.opening.leave() });
    }
  }

  /** Stores the input for a reload of this tab: the address has space for one short message only. */
  keep(workspace: string): void {
    keepPasted(workspace, this.step());
  }
}
