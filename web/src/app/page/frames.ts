// The list of frames beside the panes, on the page of a capture.

import type { PageFrameForm, PagePick, PagePicked } from "../../api/api";
import { hexOf } from "../../kit/hextext";
import type { MenuItem } from "../../kit/menu";
import type { FormPane } from "../../message/formpane";
import type { Controls } from "../../message/socket";
import type { Parts } from "../../text/parts";
import type { Together } from "../../text/together";
import { field, type Sent } from "./controls";
import type { Selection } from "./selection";
import type { Steps } from "./steps";

/** A field of the shown message for filters: its name and its value as a literal, undefined if filters cannot compare with it. */
export interface FieldForFilter {
  path: string; // S_CHAT.message
  literal: string | undefined;
}

/** The list. */
export interface FrameHost {
  /** The selection in the bytes of the frame changed. */
  selected(selection: { start: number; end: number } | undefined): void;
  /** The open definition has unsaved edits, or none any more. */
  draft(draft: { name: string; text: string } | undefined): void;
  /** The menu items of a field. The value is requested on demand. */
  fieldMenu(field: () => Promise<FieldForFilter | undefined>): MenuItem[];
  /** A frame is being loaded into the panes, or is shown. */
  shown(): void;
  /** The picked frame is shown, or has another place in the list or another explanation. */
  picked(frame: PagePicked): void;
  /** Goes to a frame by its number. */
  go(frame: number): void;
  /** A definition was started by typing, or an unsaved one was renamed from `was`. */
  begun?(name: string, was: string): void;
}

/** The page. */
interface PageFramesHost extends Sent {
  readonly capture: string | undefined;
  readonly formPane: Pick<FormPane, "leave">;
  readonly parts: Pick<Parts, "caret">;
  readonly selection: Pick<Selection, "pending">;
  readonly steps: Pick<Steps, "clear">;
  readonly together: Pick<Together, "look">;
  bytes(): Uint8Array; // of the shown message
}

/** The frames in the panes. */
export class PageFrames {
  list: FrameHost | undefined;
  private readonly host: PageFramesHost;

  constructor(host: PageFramesHost) {
    this.host = host;
  }

  /** Shows a frame of the capture, of which the server has the bytes; undefined for none. */
  pick(frame: PagePick | undefined): void {
    const { capture, controls, together } = this.host;
    this.turn();
    together.look(capture === undefined || frame === undefined ? undefined : { capture, frame: frame.n });
    const pick = frame ?? { n: 0 };
    delete controls.frame;
    Object.assign(controls, { pick, input: "", form: "hex", bycode: true, edits: {}, show: 0 });
    this.host.set({ pick });
    this.host.formPane.leave();
  }

  /** Shows a message that is held. */
  show({ hex, edited, ...frame }: PageFrameForm & { hex: string; edited?: string }): void {
    const { controls, together } = this.host;
    this.turn();
    together.look(undefined);
    const change = { input: hex, form: "hex", bycode: true, edits: edited === undefined ? {} : { 0: edited }, show: 0, frame };
    delete controls.pick;
    Object.assign(controls, change);
    this.host.set(change);
    this.host.formPane.leave();
  }

  /** Another message is about to be shown. */
  private turn(): void {
    this.host.steps.clear();
    this.host.parts.caret = null;
    this.host.selection.pending = undefined;
  }

  /** Takes what the server tells about the picked frame. */
  took(frame: PagePicked): void {
    const { controls, bytes } = this.host;
    if (Object.keys(controls.edits).length === 0) {
      controls.input = hexOf(bytes());
    }
    const begin = field<HTMLInputElement>("name");
    const { offer } = frame;
    if (begin !== null && offer !== undefined && controls.message === "" && document.activeElement !== begin) {
      begin.value = offer.name + (offer.first ?? "");
    }
    this.list?.picked(frame);
  }
}

/** The controls for a server that knows none of them. It has the bytes of a picked frame. */
export function told({ input, ...controls }: Controls): Partial<Controls> {
  return controls.pick === undefined ? { ...controls, input } : controls;
}
