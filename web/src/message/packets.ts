// The choice in the head of the bytes: the message, the reassembled stream around it, the decrypted payload of each packet, and each packet as
// captured, from the message to the network. The bytes of the frame are marked in all of them, and the selection is kept between them.
//
//   #byte-layer     the choice, hidden without packets
//   #packet         the bytes of all but the message, which #hex has

import { copyMenus } from "../kit/dialogs";
import { button } from "../kit/dom";
import { HexGrid, type HexMessage, noMessage } from "./hex/index";
import type { FrameAnswer } from "../api/frames";
import { count } from "../kit/frametext";
import { type At, failure, request } from "../kit/http";
import { inPacket, joined, type Layer, type Packet, type Run, toFrame, toLayer } from "./layers";
import { notify } from "../kit/notify";

const mostOffered = 100; // packets
const mostKnown = 200;

/** The frame, the stream around it, or one packet. */
type Kind = "message" | "joined" | "clear" | "packet";

interface Choice {
  kind: Kind;
  n: number; // of a packet, 0 for none
}

const message: Choice = { kind: "message", n: 0 };

/** Events of the choice. */
export interface LayerEvents {
  /** The shown packet changed; 0 is none. */
  opened(n: number): void;
  /** A part of the frame was selected in a packet. */
  selected(part: Run): void;
  /** The bytes to inspect changed; undefined: those of the message. */
  inspect(place: { data: Uint8Array; start: number; end: number } | undefined): void;
}

/** The packets that can be chosen: the first ones, and the chosen one. */
function offered(packets: readonly number[], chosen: number): number[] {
  const first = packets.slice(0, mostOffered);
  return chosen === 0 || first.includes(chosen) || !packets.includes(chosen) ? first : [...first.slice(0, -1), chosen];
}

function option({ kind, n }: Choice, text: string, title: string): HTMLOptionElement {
  const made = new Option(text, `${kind} ${n}`);
  made.title = title;
  return made;
}

function group(label: string, options: readonly HTMLOptionElement[]): HTMLOptGroupElement {
  const made = document.createElement("optgroup");
  made.label = label;
  made.append(...options);
  return made;
}

export class PacketLayers {
  private readonly at: At;
  private readonly choice = document.querySelector<HTMLSelectElement>("#byte-layer");
  private readonly host = document.getElementById("packet");
  private readonly events: LayerEvents;
  private readonly copy = button("Copy as", () => void this.copyMenu(), "", "btn quiet byte-copy");
  private grid: HexGrid | undefined;
  private frame: FrameAnswer | undefined;
  private chosen: Choice = message;
  private part: Run | undefined; // the selection, in the frame
  private layer: Layer | undefined; // the shown one, undefined for the message
  private readonly known = new Map<number, Packet>();
  private readonly plain = new Set<string>(); // connections whose packets are not encrypted

  constructor(at: At, events: LayerEvents) {
    this.at = at;
    this.events = events;
    this.copy.setAttribute("aria-haspopup", "menu");
    this.copy.hidden = true;
    this.choice?.after(this.copy);
    this.choice?.addEventListener("change", () => {
      const [kind, n] = (this.choice?.value ?? "").split(" ");
      this.choose({ kind: (kind ?? "message") as Kind, n: Number(n) });
    });
  }

  /** Shows another frame; undefined: none. */
  show(frame: FrameAnswer | undefined): void {
    if (frame === undefined || frame.n !== this.frame?.n) {
      const [first] = frame?.row.kind === "packet" ? frame.sources : []; // an event has no bytes of its own
      this.chosen = first === undefined ? message : { kind: "packet", n: first.packet };
      this.part = undefined;
      this.layer = undefined;
      this.events.inspect(undefined);
    }
    this.frame = frame;
    this.draw();
  }

  /** Shows the first packet of the frame. */
  open(): void {
    const [first] = this.packets();
    if (first === undefined) {
      notify("The packets of this frame are unknown", "warn");
      return;
    }
    this.openPacket(first);
  }

  /** Shows a packet of the frame. */
  openPacket(n: number): void {
    this.choose({ kind: "packet", n });
  }

  /** A part of the frame was selected, in its bytes or its fields. */
  select(part: Run | undefined): void {
    if (part?.start === this.part?.start && part?.end === this.part?.end) {
      return;
    }
    this.part = part;
    if (this.layer !== undefined && part !== undefined && !this.telling) {
      this.mark(this.layer);
    }
  }

  private telling = false; // the selection originates here

  private packets(): number[] {
    return [...new Set((this.frame?.sources ?? []).map((s) => s.packet))].filter((n) => n > 0);
  }

  private choose(to: Choice): void {
    this.chosen = to;
    this.draw();
    this.events.opened(to.kind === "message" ? 0 : to.kind === "joined" ? (this.packets()[0] ?? 0) : to.n);
  }

  private options(): HTMLElement[] {
    const packets = this.packets();
    const listed = offered(packets, this.chosen.n);
    const { ciphered = false, stream = false, conn = "", row } = this.frame ?? {};
    if (row?.kind === "packet") {
      return listed.map((n) => option({ kind: "packet", n }, `Packet ${n}`, `Packet ${n} as captured`));
    }
    const layers = row?.via ?? [];
    const whole = layers.length > 0 ? `inside ${layers.join(", ")}` : "without headers";
    const clear = ciphered && !this.plain.has(conn);
    const several = packets.length > 1;
    const what = (row?.kind ?? "message") === "message" ? "Message" : "Frame";
    const size = row?.len ?? 0;
    const left = packets.length - listed.length;
    return [
      option(message, `${several && !stream ? `${what}, reassembled` : what}, ${count(size)} ${size === 1 ? "byte" : "bytes"}`, `The ${what.toLowerCase()}${clear ? ", decrypted" : ""}, ${whole}`),
      ...(several && stream ? [option({ kind: "joined", n: 0 }, "Joined", `The ${clear ? "decrypted " : ""}stream of its ${packets.length} packets, around the message`)] : []),
      ...(clear ? [group("Decrypted, with the headers of the protocol", listed.map((n) => option({ kind: "clear", n }, `Decrypted ${n}`, `The payload of packet ${n}, decrypted, with protocol headers and its other messages`)))] : []),
      group(left > 0 ? `As captured, without ${count(left)} more` : "As captured", listed.map((n) => option({ kind: "packet", n }, `Packet ${n}`, `Packet ${n} as captured`))),
    ];
  }

  private draw(): void {
    const { choice, host, chosen } = this;
    if (choice === null || host === null) {
      return;
    }
    choice.hidden = this.packets().length === 0;
    choice.replaceChildren(...this.options());
    choice.value = `${chosen.kind} ${chosen.n}`;
    choice.title = choice.selectedOptions[0]?.title ?? "";
    const other = chosen.kind !== "message";
    host.hidden = !other;
    this.copy.hidden = !other;
    document.getElementById("hex")?.toggleAttribute("hidden", other);
    if (other) {
      void this.fill(chosen);
    } else {
      this.layer = undefined;
      this.events.inspect(undefined);
    }
  }

  private async copyMenu(): Promise<void> {
    const { layer, chosen, copy } = this;
    if (layer !== undefined) {
      (await copyMenus())?.copyBytesMenu(copy, layer.data, { offset: 0, name: `${chosen.kind}_${chosen.n}`, dir: this.frame?.dir ?? "", notify });
    }
  }

  /** Shows what is chosen, once it is loaded. */
  private async fill(to: Choice): Promise<void> {
    const { frame } = this;
    if (frame === undefined) {
      return;
    }
    const clear = (frame.ciphered ?? false) && to.kind !== "packet" && !this.plain.has(frame.conn);
    const wanted = to.kind === "joined" ? this.packets().slice(0, 100) : [to.n];
    this.host?.classList.toggle("waits", wanted.some((n) => this.missing(n, clear)));
    const done = await this.fetch(wanted.filter((n) => this.missing(n, clear)), clear, frame.conn);
    if (this.chosen.kind !== to.kind || this.chosen.n !== to.n || this.frame?.n !== frame.n || this.host === null) {
      return;
    }
    this.host.classList.remove("waits");
    if (!done) {
      this.choose(message);
      return;
    }
    const packet = this.known.get(to.n);
    if (to.kind === "clear" && (packet?.clear ?? "") === "") {
      notify(`Packet ${to.n} was not encrypted; this is its payload`);
      if (frame.row.kind === "message") {
        this.plain.add(frame.conn);
      }
      this.choose({ kind: "packet", n: to.n });
      return;
    }
    const layer = to.kind === "joined" ? joined(frame, this.known) : packet === undefined ? undefined : inPacket(frame, packet, to.kind === "clear");
    if (layer !== undefined) {
      this.put(layer);
    }
  }

  private missing(n: number, clear: boolean): boolean {
    const packet = this.known.get(n);
    return packet === undefined || (clear && packet.clear === undefined);
  }

  private async fetch(numbers: readonly number[], clear: boolean, conn: string): Promise<boolean> {
    if (numbers.length === 0) {
      return true;
    }
    const reply = await request("GET captures/{id}/packets", { ...this.at, n: numbers.join(","), ...(clear ? { clear, conn } : {}) });
    if (!reply.ok) {
      notify(failure("The packet could not be loaded", reply), "err");
      return false;
    }
    const { packets, note } = reply.answer;
    if (this.known.size > mostKnown) {
      this.known.clear();
    }
    for (const packet of packets) {
      this.known.set(packet.n, clear ? { ...packet, clear: packet.clear ?? "" } : packet);
    }
    const missing = numbers.find((n) => !this.known.has(n));
    if (missing !== undefined) {
      notify(note ?? `Packet ${missing} is not in the file`, "warn");
    }
    return missing === undefined || (numbers.length > 1 && packets.length > 0);
  }

  private put(layer: Layer): void {
    if (this.host === null) {
      return;
    }
    this.grid ??= new HexGrid(this.host, {
      hover: () => undefined,
      select: (start, end, caret) => this.chose(start, end, caret),
      edit: () => undefined, undo: () => undefined, redo: () => undefined,
      notice: (said) => notify(said, "warn"),
      mayEdit: () => false,
    });
    this.layer = layer;
    const { data } = layer;
    const tintOf = new Uint16Array(data.length);
    tintOf.fill(1, 0, layer.head);
    for (const run of layer.runs) {
      tintOf.fill(2, run.start, run.end);
    }
    this.grid.apply({ ...this.grid.settings, columns: 16 });
    const shown: HexMessage = { ...noMessage, data, tints: ["", "t-head", "t-int"], tintOf, starts: new Uint8Array(data.length), changed: new Uint8Array(data.length) };
    this.grid.show(shown, { scroll: false });
    this.mark(layer);
  }

  /** Outlines the bytes of the frame in a layer, and selects the selection of the frame in it. */
  private mark(layer: Layer): void {
    this.grid?.light(layer.runs);
    const [first = layer.runs[0]] = this.part === undefined ? [] : toLayer(layer, this.part);
    if (first === undefined) {
      this.events.inspect({ data: layer.data, start: 0, end: 0 });
      return;
    }
    this.grid?.select(first.start, first.end, { reveal: true });
    this.events.inspect({ data: layer.data, start: first.start, end: first.end });
  }

  /** A selection in the grid of a packet. */
  private chose(start: number, end: number, caret: number): void {
    const { layer } = this;
    if (layer === undefined) {
      return;
    }
    this.events.inspect({ data: layer.data, start: end - start > 1 ? start : caret, end });
    const part = toFrame(layer, { start, end: Math.max(end, start + 1) });
    if (part !== undefined) {
      this.telling = true;
      this.part = part;
      this.events.selected(part);
      this.telling = false;
    }
  }
}
