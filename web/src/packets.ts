// Tabs over the bytes of a frame: the frame itself, deciphered and put together, and each captured packet that it came in. In a packet the
// runs that belong to the frame are outlined.

import { HexGrid, noMessage } from "./hex/index";
import type { FrameAnswer } from "./frames/protocol";
import { notify } from "./notify";

/** A captured packet, as GET .../packets gives it. */
interface Packet {
  n: number;
  time?: string;
  link?: string;
  payload?: number; // bytes before what TCP or UDP carries
  hex: string;
}

const mostTabs = 12;

/** The packets that have a tab: the first ones, and the chosen one. */
function tabbed(packets: readonly number[], chosen: number): number[] {
  const first = packets.slice(0, mostTabs);
  return chosen === 0 || first.includes(chosen) || !packets.includes(chosen) ? first : [...first.slice(0, -1), chosen];
}

export class PacketTabs {
  private readonly api: string;
  private readonly bar = document.getElementById("byte-tabs");
  private readonly host = document.getElementById("packet");
  private grid: HexGrid | undefined;
  private frame: FrameAnswer | undefined;
  private chosen = 0; // number of a packet; 0 is the frame
  private readonly known = new Map<number, Packet>();

  private readonly opened: (n: number) => void;

  /** `opened` is told which packet is shown now; 0 is the frame. */
  constructor(api: string, opened: (n: number) => void) {
    this.api = api;
    this.opened = opened;
    this.bar?.addEventListener("click", (event) => {
      const tab = event.target instanceof Element ? event.target.closest<HTMLElement>("[role=tab]") : null;
      if (tab !== null) {
        this.choose(Number(tab.dataset["packet"]));
      }
    });
    this.bar?.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      const tabs = Array.from(this.bar?.querySelectorAll<HTMLElement>("[role=tab]") ?? []);
      const next = tabs[tabs.findIndex((tab) => tab.ariaSelected === "true") + by];
      if (by !== 0 && next !== undefined) {
        event.preventDefault();
        this.choose(Number(next.dataset["packet"]));
        this.bar?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
      }
    });
  }

  /** The frame is another one; undefined: there is none. */
  show(frame: FrameAnswer | undefined): void {
    const same = frame !== undefined && frame.n === this.frame?.n;
    this.frame = frame;
    if (!same) {
      this.chosen = 0;
    }
    this.draw();
  }

  /** Goes to the first packet of the frame. */
  open(): void {
    const [first] = this.packets();
    if (first === undefined) {
      notify("Nothing is known of the packets that this frame came in", "warn");
      return;
    }
    this.choose(first);
  }

  /** Goes to a packet of the frame. */
  openPacket(n: number): void {
    this.choose(n);
  }

  private packets(): number[] {
    return [...new Set((this.frame?.sources ?? []).map((s) => s.packet))].filter((n) => n > 0);
  }

  private choose(n: number): void {
    this.chosen = n;
    this.draw();
    this.opened(n);
  }

  private draw(): void {
    const { bar, host } = this;
    if (bar === null || host === null) {
      return;
    }
    const packets = this.packets();
    bar.hidden = packets.length === 0;
    const tab = (n: number, text: string, title: string): HTMLElement => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "byte-tab";
      button.textContent = text;
      button.title = title;
      button.dataset["packet"] = String(n);
      button.setAttribute("role", "tab");
      button.ariaSelected = String(n === this.chosen);
      button.tabIndex = n === this.chosen ? 0 : -1;
      return button;
    };
    const layers = this.frame?.row.via ?? [];
    const whole = layers.length > 0 ? `inside ${layers.join(", ")}` : "without what carried it";
    bar.replaceChildren(
      tab(0, packets.length > 1 ? "Message, put together" : "Message", `The message: deciphered, ${whole}`),
      ...tabbed(packets, this.chosen).map((n) => tab(n, `Packet ${n}`, `Packet ${n} as it was captured`)),
    );
    if (packets.length > mostTabs) {
      const more = document.createElement("span");
      more.className = "dim";
      more.textContent = `and ${packets.length - mostTabs} more`;
      bar.append(more);
    }
    const message = document.getElementById("hex");
    const packet = this.chosen !== 0;
    host.hidden = !packet;
    message?.toggleAttribute("hidden", packet);
    if (packet) {
      void this.showPacket(this.chosen);
    }
  }

  private async showPacket(n: number): Promise<void> {
    let packet = this.known.get(n);
    if (packet === undefined) {
      try {
        const response = await fetch(`${this.api}/packets?n=${n}`);
        const answer = (await response.json()) as { packets?: Packet[]; note?: string; detail?: string };
        packet = answer.packets?.find((p) => p.n === n);
        if (packet === undefined) {
          notify(answer.note ?? answer.detail ?? `Packet ${n} is not in the file`, "warn");
          return;
        }
      } catch {
        notify("The packet did not come: the server cannot be reached", "err");
        return;
      }
      if (this.known.size > 200) {
        this.known.clear();
      }
      this.known.set(n, packet);
    }
    if (this.chosen !== n || this.host === null) {
      return;
    }
    this.grid ??= new HexGrid(this.host, {
      hover: () => undefined, select: () => undefined, edit: () => undefined, undo: () => undefined, redo: () => undefined,
      notice: (said) => notify(said, "warn"),
      mayEdit: () => false,
    });
    const payload = packet.payload ?? 0;
    const data = Uint8Array.from(packet.hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const tintOf = new Uint16Array(data.length);
    tintOf.fill(1, 0, payload);
    const runs = (this.frame?.sources ?? []).filter((s) => s.packet === n).map((s) => ({ start: payload + s.off, end: payload + s.off + s.len }));
    for (const run of runs) {
      tintOf.fill(2, run.start, run.end);
    }
    this.grid.apply({ ...this.grid.settings, columns: 16 });
    this.grid.show({ ...noMessage, data, tints: ["", "t-head", "t-int"], tintOf, starts: new Uint8Array(data.length), changed: new Uint8Array(data.length) }, { scroll: false });
    this.grid.light(runs);
    const [first] = runs;
    if (first !== undefined) {
      this.grid.select(first.start, first.end, { reveal: true });
    }
  }
}
