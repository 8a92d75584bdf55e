// Tabs of the bytes of a frame, from the message to the network: the message, the reassembled stream around it, the decrypted payload of each
// packet, and each packet as captured. The bytes of the frame are marked in all tabs, and the selection is kept between tabs.

import type { PacketList } from "./api";
import { HexGrid, type HexMessage, noMessage } from "./hex/index";
import type { FrameAnswer } from "./frames/protocol";
import { failure, request } from "./http";
import { inPacket, joined, type Layer, type Packet, type Run, toFrame, toLayer } from "./layers";
import { notify } from "./notify";

const mostTabs = 12; // packets
const mostKnown = 200;

/** The kind of a tab: the frame, the stream around it, or one packet. */
type Kind = "message" | "joined" | "clear" | "packet";

interface Tab {
  kind: Kind;
  n: number; // of a packet, 0 for none
}

const message: Tab = { kind: "message", n: 0 };

/** Events of the tabs. */
export interface TabEvents {
  /** The shown packet changed; 0 is none. */
  opened(n: number): void;
  /** A part of the frame was selected in a packet. */
  selected(part: Run): void;
  /** The bytes to inspect changed; undefined: those of the message. */
  inspect(place: { data: Uint8Array; start: number; end: number } | undefined): void;
}

/** The packets with a tab: the first ones, and the selected one. */
function tabbed(packets: readonly number[], chosen: number): number[] {
  const first = packets.slice(0, mostTabs);
  return chosen === 0 || first.includes(chosen) || !packets.includes(chosen) ? first : [...first.slice(0, -1), chosen];
}

export class PacketTabs {
  private readonly api: string;
  private readonly bar = document.getElementById("byte-tabs");
  private readonly host = document.getElementById("packet");
  private readonly events: TabEvents;
  private grid: HexGrid | undefined;
  private frame: FrameAnswer | undefined;
  private chosen: Tab = message;
  private part: Run | undefined; // the selection, in the frame
  private layer: Layer | undefined; // the shown one, undefined for the message
  private readonly known = new Map<number, Packet>();
  private readonly plain = new Set<string>(); // connections whose packets are not encrypted

  constructor(api: string, events: TabEvents) {
    this.api = api;
    this.events = events;
    this.bar?.addEventListener("click", (event) => {
      const tab = event.target instanceof Element ? event.target.closest<HTMLElement>("[role=tab]") : null;
      if (tab !== null) {
        this.choose({ kind: (tab.dataset["layer"] ?? "message") as Kind, n: Number(tab.dataset["packet"]) });
      }
    });
    this.bar?.addEventListener("keydown", (event) => {
      const tabs = Array.from(this.bar?.querySelectorAll<HTMLElement>("[role=tab]") ?? []);
      const at = tabs.findIndex((tab) => tab.ariaSelected === "true");
      const next = { ArrowRight: tabs[at + 1], ArrowLeft: tabs[at - 1], Home: tabs[0], End: tabs.at(-1) }[event.key];
      if (next !== undefined) {
        event.preventDefault();
        next.click();
        this.bar?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
      }
    });
  }

  /** Shows another frame; undefined: none. */
  show(frame: FrameAnswer | undefined): void {
    if (frame === undefined || frame.n !== this.frame?.n) {
      this.chosen = message;
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

  private choose(tab: Tab): void {
    this.chosen = tab;
    this.draw();
    this.events.opened(tab.kind === "message" ? 0 : tab.kind === "joined" ? (this.packets()[0] ?? 0) : tab.n);
  }

  private tabs(): [tab: Tab, text: string, title: string][] {
    const packets = this.packets();
    const shown = tabbed(packets, this.chosen.n);
    const layers = this.frame?.row.via ?? [];
    const whole = layers.length > 0 ? `inside ${layers.join(", ")}` : "without headers";
    const { ciphered = false, stream = false, conn = "" } = this.frame ?? {};
    const clear = ciphered && !this.plain.has(conn);
    const several = packets.length > 1;
    const kind = this.frame?.row.kind ?? "message";
    const what = kind === "message" ? "Message" : "Frame";
    return [
      [message, several && !stream ? `${what}, reassembled` : what, `The ${what.toLowerCase()}${clear ? ", decrypted" : ""}, ${whole}`],
      ...(several && stream ? [[{ kind: "joined", n: 0 }, "Joined", `The ${clear ? "decrypted " : ""}stream of its ${packets.length} packets, around the message`] as [Tab, string, string]] : []),
      ...(clear ? shown.map((n): [Tab, string, string] => [{ kind: "clear", n }, `Decrypted ${n}`, `The payload of packet ${n}, decrypted, with protocol headers and its other messages`]) : []),
      ...shown.map((n): [Tab, string, string] => [{ kind: "packet", n }, `Packet ${n}`, `Packet ${n} as captured`]),
    ];
  }

  private draw(): void {
    const { bar, host } = this;
    if (bar === null || host === null) {
      return;
    }
    const packets = this.packets();
    bar.hidden = packets.length === 0;
    bar.replaceChildren(
      ...this.tabs().map(([tab, text, title]) => {
        const button = document.createElement("button");
        const chosen = tab.kind === this.chosen.kind && tab.n === this.chosen.n;
        button.type = "button";
        button.className = "byte-tab";
        button.textContent = text;
        button.title = title;
        button.dataset["layer"] = tab.kind;
        button.dataset["packet"] = String(tab.n);
        button.setAttribute("role", "tab");
        button.ariaSelected = String(chosen);
        button.tabIndex = chosen ? 0 : -1;
        return button;
      }),
    );
    if (packets.length > mostTabs) {
      const more = document.createElement("span");
      more.className = "dim";
      more.textContent = `and ${packets.length - mostTabs} more`;
      bar.append(more);
    }
    const other = this.chosen.kind !== "message";
    host.hidden = !other;
    document.getElementById("hex")?.toggleAttribute("hidden", other);
    if (other) {
      void this.fill(this.chosen);
    } else {
      this.layer = undefined;
      this.events.inspect(undefined);
    }
  }

  /** Shows a tab, once loaded. */
  private async fill(tab: Tab): Promise<void> {
    const { frame } = this;
    if (frame === undefined) {
      return;
    }
    const clear = (frame.ciphered ?? false) && tab.kind !== "packet" && !this.plain.has(frame.conn);
    const wanted = tab.kind === "joined" ? this.packets().slice(0, 100) : [tab.n];
    this.host?.classList.toggle("waits", wanted.some((n) => this.missing(n, clear)));
    const done = await this.fetch(wanted.filter((n) => this.missing(n, clear)), clear, frame.conn);
    if (this.chosen.kind !== tab.kind || this.chosen.n !== tab.n || this.frame?.n !== frame.n || this.host === null) {
      return;
    }
    this.host.classList.remove("waits");
    if (!done) {
      this.choose(message);
      return;
    }
    const packet = this.known.get(tab.n);
    if (tab.kind === "clear" && (packet?.clear ?? "") === "") {
      notify(`Packet ${tab.n} was not encrypted; this is its payload`);
      if (frame.row.kind === "message") {
        this.plain.add(frame.conn);
      }
      this.choose({ kind: "packet", n: tab.n });
      return;
    }
    const layer = tab.kind === "joined" ? joined(frame, this.known) : packet === undefined ? undefined : inPacket(frame, packet, tab.kind === "clear");
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
    const query = new URLSearchParams({ n: numbers.join(",") });
    if (clear) {
      query.set("clear", "true");
      query.set("conn", conn);
    }
    const reply = await request<PacketList>(`${this.api}/packets?${query.toString()}`);
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
