// What stands over the list of the frames of running traffic.

import { register } from "./commands";
import type { Frames } from "./frames/index";
import type { MarkerSource } from "./frames/drawer";
import { askText } from "./frames/notebox";
import { bytes, count, counted } from "./frames/text";
import { openMenu } from "./menu";
import { announce } from "./notify";
import { Operate, type Shown } from "./operate";
import { ask, markersOf, type Relays, type Session } from "./relays";
import { lookOnly } from "./role";

/** What stands over the list of running traffic. */
export class LiveBar {
  private readonly relays: Relays;
  private readonly frames: Frames;
  private readonly id: string;
  private session: Session | undefined;
  private before: { at: number; frames: number; bytes: number } | undefined;
  private ended = false;
  private readonly markers: MarkerSource;
  private rate = "";
  private away = false;
  readonly operate: Operate;

  constructor(bar: HTMLElement, relays: Relays, frames: Frames, shown: Shown) {
    this.id = bar.dataset["session"] ?? "";
    this.operate = new Operate(`${relays.api}/${encodeURIComponent(this.id)}`, frames, shown);
    this.relays = relays;
    this.frames = frames;
    this.markers = markersOf(`${relays.api.replace(/proxies$/, "captures")}/${encodeURIComponent(this.id)}`);
    const on = (name: string, run: (button: HTMLElement) => void): void => {
      const button = document.getElementById(name);
      button?.addEventListener("click", () => run(button));
    };
    on("live-pause", () => this.pause());
    on("live-stop", () => this.stop());
    on("live-events", (button) => this.events(button));
    on("live-marker", () => this.marker());
    relays.watch((all) => this.draw(all.find((s) => s.id === this.id)));
    relays.watchAway((since) => this.drawAway(since));
    register(
      { id: "live-pause", title: "Pause or resume the view", group: "Live", keys: ["p"], enabled: () => !this.ended, run: () => this.pause() },
      { id: "live-marker", title: "Drop a marker", group: "Live", keys: ["`"], enabled: () => this.may("live-marker"), run: () => this.marker() },
      { id: "live-stop", title: "Stop the listener", group: "Live", enabled: () => this.may("live-stop"), run: () => this.stop() },
    );
  }

  /** Whether a button can be pressed now: a viewer has some that cannot. */
  private may(id: string): boolean {
    const button = document.getElementById(id);
    return !this.ended && !this.away && button instanceof HTMLButtonElement && !button.disabled;
  }

  /** Holds the list still at what is there now; traffic goes on. */
  private pause(): void {
    if (this.ended) {
      return;
    }
    this.frames.pause(!this.frames.isPaused);
    this.drawPause();
    announce(this.frames.isPaused ? "View paused; traffic continues" : "View resumed");
  }

  private drawPause(): void {
    const button = document.getElementById("live-pause");
    const { isPaused, fresh } = this.frames;
    if (button !== null) {
      button.setAttribute("aria-pressed", String(isPaused));
      button.textContent = !isPaused ? "Pause view" : fresh === 0 ? "Resume" : `Resume (${count(fresh)} new)`;
    }
  }

  private stop(): void {
    const button = document.getElementById("live-stop");
    if (this.ended || button === null) {
      return;
    }
    const open = this.session?.open ?? 0;
    openMenu(button, {
      label: "Stop this listener?",
      items: [
        {
          title: open === 0 ? "Stop listening; the recording stays" : `Stop and close ${counted(open, "open connection")}; the recording stays`,
          run: () => {
            button.textContent = "Stopping …"; // connections have a few seconds to end by themselves
            void ask(`${this.relays.api}?id=${encodeURIComponent(this.id)}`, "DELETE").then(() => {
              button.textContent = "Stop";
              this.relays.look();
            });
          },
        },
        { title: "Keep listening", run: () => undefined },
      ],
    });
  }

  private events(anchor: HTMLElement): void {
    const events = [...(this.session?.events ?? [])].reverse().slice(0, 60);
    openMenu(anchor, {
      label: "Events",
      items: events.length === 0 ? [{ title: "No events yet", disabled: true, run: () => undefined }] : events.map((e) => ({
        title: `${new Date(e.at).toLocaleTimeString()}  ${e.severity === "info" ? "" : `${e.severity}: `}${e.text}`, run: () => undefined,
      })),
    });
  }

  /** Marks this moment: that of the key, not that in which its text is written. */
  private marker(): void {
    if (this.ended) {
      return;
    }
    const n = this.frames.total + 1;
    const anchor = document.getElementById("live-marker") ?? document.body;
    askText(anchor, { label: "Marker at this moment. A value finds its field: max HP = 48211", text: "", button: "Set", most: 250 }, (text) => {
      void this.markers.add(n, text).then((done) => done && this.frames.open("markers"));
    });
  }

  /** The server does not answer: what was known is old, and nothing can be done. */
  private drawAway(since: Date): void {
    const state = document.getElementById("live-state");
    const facts = document.getElementById("live-facts");
    if (this.ended || this.away || state === null || facts === null) {
      return;
    }
    this.setAway(state, true);
    this.before = undefined;
    this.rate = "";
    const warning = document.createElement("span");
    warning.className = "warn";
    warning.textContent = `The server has not answered since ${since.toLocaleTimeString()}: the state of the traffic is unknown.`;
    facts.replaceChildren(warning);
    facts.title = warning.textContent;
    announce("The server does not answer");
  }

  private setAway(state: HTMLElement, isAway: boolean): void {
    this.away = isAway;
    const dot = document.createElement("i");
    dot.className = isAway ? "dot err" : "dot ok";
    state.replaceChildren(dot, isAway ? " server away" : " live");
    state.parentElement?.classList.toggle("away", isAway);
    for (const id of ["live-stop", "live-operate", "live-send", "live-marker"]) {
      const button = document.getElementById(id);
      if (button instanceof HTMLButtonElement && !lookOnly()) {
        button.disabled = isAway;
      }
    }
    this.operate.away(isAway);
  }

  private draw(s: Session | undefined): void {
    const state = document.getElementById("live-state");
    const facts = document.getElementById("live-facts");
    if (state === null || facts === null) {
      return;
    }
    if (this.away && !this.ended) {
      this.setAway(state, false);
      announce("The server answers again");
    }
    this.operate.draw(s);
    if (s === undefined) {
      this.end(state, facts);
      return;
    }
    const now = performance.now();
    const passed = s.to_server + s.to_client;
    const { before } = this;
    const seconds = before === undefined ? 0 : (now - before.at) / 1000;
    if (before === undefined || seconds >= 0.9) {
      this.before = { at: now, frames: s.frames, bytes: passed };
      if (before !== undefined) {
        this.rate = `${count(Math.round((s.frames - before.frames) / seconds))} frames/s, ${bytes((passed - before.bytes) / seconds)}/s`;
      }
    }
    const only = s.pairs[0];
    const good = [
      this.rate,
      s.total === 0 ? "no connection yet" : s.open === s.total ? `${counted(s.open, "connection")} open` : `${s.open} of ${counted(s.total, "connection")} open`,
      s.record.on ? `recorded ${bytes(s.record.bytes)}` : "",
      only === undefined ? "" : `${only.listen} → ${only.upstream}`,
    ];
    // What is not seen, not kept or not relayed is never silent.
    const bad = [
      s.record.on ? "" : `not recorded: ${s.record.why ?? ""}`,
      s.failed > 0 ? `server not reached ${s.failed}×` : "", s.refused > 0 ? `${s.refused} refused` : "",
      (s.lost ?? 0) > 0 ? `${bytes(s.lost ?? 0)} not observed` : "", (s.unseen ?? 0) > 0 ? `${counted(s.unseen ?? 0, "connection")} not observed` : "",
      (s.dropped ?? 0) > 0 ? `${counted(s.dropped ?? 0, "datagram")} dropped` : "", (s.unsent ?? 0) > 0 ? `${counted(s.unsent ?? 0, "datagram")} not sent` : "",
      (s.unlogged ?? 0) > 0 ? `${counted(s.unlogged ?? 0, "frame")} not kept` : "", s.base > 0 ? `the first ${count(s.base)} frames are only in the recording` : "",
    ];
    const say = (texts: readonly string[]): string => texts.filter((t) => t !== "").join("  ·  ");
    const warning = document.createElement("span");
    warning.className = "warn";
    warning.textContent = say(bad);
    facts.replaceChildren(...(warning.textContent === "" ? [] : [warning, "  ·  "]), say(good));
    facts.title = say([...bad, ...good]);
    this.session = s;
    this.frames.waitFor(only === undefined ? "" : `Point the client at ${only.listen}.`);
    this.drawPause();
  }

  /** Traffic is over: what was recorded is a capture like any other. */
  private end(state: HTMLElement, facts: HTMLElement): void {
    if (this.ended) {
      return;
    }
    this.ended = true;
    this.frames.pause(false);
    const dot = document.createElement("i");
    dot.className = "dot";
    state.replaceChildren(dot, " ended");
    state.parentElement?.classList.add("ended");
    const link = document.createElement("a");
    link.href = location.pathname;
    link.id = "live-recording";
    link.textContent = "Open the recording";
    if (this.frames.total === 0 && (this.session?.record.packets ?? 0) === 0) {
      facts.replaceChildren("The listener has stopped. No traffic was recorded.");
    } else {
      facts.replaceChildren("The listener has stopped. ", link, ".");
    }
    facts.title = "";
    const focused = document.activeElement;
    for (const id of ["live-stop", "live-pause", "live-operate", "live-send", "live-marker"]) {
      const button = document.getElementById(id);
      button?.setAttribute("hidden", "");
      if (button === focused && button !== null) { // the keys go on with what is left
        if (link.isConnected) {
          link.focus();
        } else {
          this.frames.focus();
        }
      }
    }
    announce("The listener has ended");
  }
}
