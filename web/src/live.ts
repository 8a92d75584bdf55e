// What stands over the list of the frames of running traffic.

import { register } from "./commands";
import type { Frames } from "./frames/index";
import { isTyping } from "./keys";
import { openMenu } from "./menu";
import { notify } from "./notify";
import { Operate, type Shown } from "./operate";
import { ask, bytesText, type Relays, type Session } from "./relays";

/** What stands over the list of running traffic. */
export class LiveBar {
  private readonly relays: Relays;
  private readonly frames: Frames;
  private readonly id: string;
  private session: Session | undefined;
  private before: { at: number; frames: number; bytes: number } | undefined;
  private paused = "";
  readonly operate: Operate;

  constructor(bar: HTMLElement, relays: Relays, frames: Frames, shown: Shown) {
    this.id = bar.dataset["session"] ?? "";
    this.operate = new Operate(`${relays.api}/${encodeURIComponent(this.id)}`, frames, shown);
    this.relays = relays;
    this.frames = frames;
    const on = (name: string, run: (button: HTMLElement) => void): void => {
      const button = document.getElementById(name);
      button?.addEventListener("click", () => run(button));
    };
    on("live-pause", () => this.pause());
    on("live-stop", () => void this.stop());
    on("live-events", (button) => this.events(button));
    on("live-marker", () => this.marker());
    relays.watch((all) => this.draw(all.find((s) => s.id === this.id)));
    register(
      { id: "live-pause", title: "Pause the view, or go on", group: "Live", keys: ["p"], run: () => this.pause() },
      { id: "live-marker", title: "Drop a marker", group: "Live", keys: ["`"], enabled: () => !isTyping(document.activeElement), run: () => this.marker() },
      { id: "live-stop", title: "Stop the listener", group: "Live", run: () => void this.stop() },
    );
  }

  /** Holds the list still at what is there now; traffic goes on. */
  private pause(): void {
    const { filter, chips } = this.frames.shown;
    const button = document.getElementById("live-pause");
    if (this.paused !== "") {
      this.frames.setView(filter, chips.filter((chip) => chip !== this.paused));
      this.paused = "";
    } else {
      this.paused = `n <= ${this.session?.frames ?? 0}`;
      this.frames.setView(filter, [...chips, this.paused]);
    }
    button?.setAttribute("aria-pressed", String(this.paused !== ""));
    if (button !== null) {
      button.textContent = this.paused === "" ? "Pause view" : "Go on";
    }
  }

  private async stop(): Promise<void> {
    if (!confirm("Stop this listener? Connections that run through it end; what was recorded stays.")) {
      return;
    }
    if (await ask(`${this.relays.api}?id=${encodeURIComponent(this.id)}`, "DELETE") !== undefined) {
      this.relays.look();
    }
  }

  private events(anchor: HTMLElement): void {
    const events = [...(this.session?.events ?? [])].reverse().slice(0, 60);
    openMenu(anchor, {
      label: "What has happened",
      items: events.length === 0 ? [{ title: "Nothing yet", disabled: true, run: () => undefined }] : events.map((e) => ({
        title: `${new Date(e.at).toLocaleTimeString()}  ${e.severity === "info" ? "" : `${e.severity}: `}${e.text}`, run: () => undefined,
      })),
    });
  }

  private marker(): void {
    const last = this.session?.frames ?? 0;
    if (last === 0) {
      notify("There is no frame yet to put a marker at", "warn");
      return;
    }
    const text = prompt("A marker at this moment. What is to be seen? A value helps to find its field: max HP = 48211");
    if (text !== null) {
      void ask(`${this.relays.api.replace(/proxies$/, "captures")}/${encodeURIComponent(this.id)}/markers`, "POST", { text }).then((done) => done !== undefined && notify(`Marker before frame ${last + 1}: filter by marker == "…"`));
    }
  }

  private draw(s: Session | undefined): void {
    const state = document.getElementById("live-state");
    const facts = document.getElementById("live-facts");
    if (state === null || facts === null) {
      return;
    }
    this.operate.draw(s);
    const now = performance.now();
    if (s === undefined) {
      state.textContent = "ended";
      facts.textContent = "the recording is a capture like any other";
      for (const id of ["live-stop", "live-pause", "live-operate", "live-send", "live-marker"]) {
        document.getElementById(id)?.setAttribute("hidden", "");
      }
      return;
    }
    const bytes = s.to_server + s.to_client;
    const { before } = this;
    const seconds = before === undefined ? 0 : (now - before.at) / 1000;
    const rate = before === undefined || seconds <= 0 ? "" : `${Math.round((s.frames - before.frames) / seconds).toLocaleString("en")} frames/s · ${bytesText((bytes - before.bytes) / seconds)}/s`;
    const missed = (s.lost ?? 0) > 0 ? `${bytesText(s.lost ?? 0)} not observed` : "";
    const unlogged = (s.unlogged ?? 0) > 0 ? `${s.unlogged} frames not kept` : "";
    const record = s.record.on ? `recorded ${bytesText(s.record.bytes)}` : `not recorded: ${s.record.why ?? ""}`;
    facts.textContent = [
      s.pairs.map((p) => `${p.listen} → ${p.upstream}`)[0] ?? "", `${s.open} of ${s.total} connections open`, rate, record,
      s.failed > 0 ? `${s.failed} upstream failures` : "", s.refused > 0 ? `${s.refused} refused` : "", missed, unlogged,
    ].filter((t) => t !== "").join("  ·  ");
    facts.title = facts.textContent;
    this.session = s;
    if (before === undefined || seconds >= 0.9) {
      this.before = { at: now, frames: s.frames, bytes };
    }
  }
}
