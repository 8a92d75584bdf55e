// The line above the fields of a frame: its note, its packets and layers, the other frames of a packet, and, without a definition, a button to start
// one.
//
//   .frame-origin > .fo-note, .fo-from (.fo-packet ...) .fo-with (.fo-frame ...) .fo-offer

import { button, make } from "../kit/dom";
import type { FrameAnswer, PacketAnswer } from "../api/frames";
import { count, frameName } from "../kit/frametext";
import { forRole } from "../kit/role";

/** Events of the line. */
export interface OriginEvents {
  packet(n: number): void;
  /** Edits the note of the frame. */
  note(): void;
  frame(n: number): void;
  /** Starts a definition; its name can be edited at the anchor. */
  define(frame: FrameAnswer, anchor: HTMLElement): void;
}

const mostPackets = 12;
const mostFrames = 24;

export class Origin {
  private readonly element = make("div", "frame-origin");
  private readonly note = button("", () => this.events.note(), "Edit the note", "fo-note link");
  private readonly from = make("span", "fo-from");
  private readonly others = make("span", "fo-with");
  private readonly offer = make("span", "fo-offer");
  private readonly events: OriginEvents;
  private frame: FrameAnswer | undefined;

  constructor(events: OriginEvents) {
    this.events = events;
    this.element.hidden = true;
    this.note.removeAttribute("aria-label"); // its text is its name
    this.note.hidden = true;
    this.element.append(this.note, this.offer, this.from, this.others);
    document.getElementById("fields-body")?.before(this.element);
  }

  /** Another frame was selected, which is not here yet: what this one offers cannot be pressed. */
  wait(): void {
    this.element.inert = true;
  }

  show(frame: FrameAnswer | undefined): void {
    this.element.inert = false;
    const same = frame !== undefined && frame.n === this.frame?.n;
    this.frame = frame;
    this.element.hidden = frame === undefined;
    if (!same) {
      this.others.replaceChildren();
    }
    this.offer.replaceChildren();
    this.from.replaceChildren();
    if (frame === undefined) {
      return;
    }
    const { offer } = frame;
    if (offer !== null && offer !== undefined) {
      const define = button(`Define ${offer.name} …`, () => this.events.define(frame, this.offer), "No definition for this message; write one", "btn");
      this.offer.append((offer.map ?? "") === "" ? define : forRole(define)); // the code map would name it
    }
    const packets = [...new Set(frame.sources.map((s) => s.packet))].filter((n) => n > 0);
    const via = frame.row.via ?? [];
    const event = frame.row.kind === "packet" ? `${frame.row.info ?? ""}, ` : "";
    this.from.append(event, packets.length > 1 ? "assembled from packets " : packets.length === 1 ? "in packet " : "");
    packets.slice(0, mostPackets).forEach((n, i) => {
      this.from.append(i > 0 ? ", " : "", button(count(n), () => this.events.packet(n), `Show packet ${n} and its other frames`, "fo-packet link"));
    });
    if (packets.length > mostPackets) {
      this.from.append(` and ${count(packets.length - mostPackets)} more`);
    }
    if (via.length > 0) {
      this.from.append(`${packets.length > 0 ? ", " : ""}inside ${via.join(" › ")}`);
    }
    this.element.hidden = packets.length === 0 && via.length === 0 && this.offer.childElementCount === 0;
  }

  /** Shows the note of the frame; "" if it has none. */
  showNote(text: string): void {
    this.note.textContent = text === "" ? "" : `✎ ${text}`;
    this.note.hidden = text === "";
    this.element.hidden &&= text === "" || this.frame === undefined;
  }

  /** Shows the frames of a packet; undefined removes them. */
  showPacket(answer: PacketAnswer | undefined): void {
    this.others.replaceChildren();
    const list = (answer?.frames ?? []).filter((f) => f.n !== this.frame?.n);
    if (answer === undefined) {
      return;
    }
    this.others.append(list.length === 0 ? `nothing else in packet ${count(answer.n)}` : `also in packet ${count(answer.n)}: `);
    list.slice(0, mostFrames).forEach((f, i) => {
      this.others.append(i > 0 ? ", " : "", button(`${count(f.n)} ${frameName(f)}`, () => this.events.frame(f.n), `Go to frame ${f.n}`, "fo-frame link"));
    });
    if (list.length > mostFrames || answer.more === true) {
      this.others.append(` and ${answer.more === true ? "many" : count(list.length - mostFrames)} more`);
    }
  }
}
