// The bar above the frames of live traffic: its state, and the controls of the listener.

import { register } from "../kit/commands";
import { dialogs } from "../kit/dialogs";
import { askText } from "../kit/notebox";
import { bytes, count, counted } from "../kit/frametext";
import type { FrameRow } from "../api/frames";
import { type MenuItem, openMenu } from "../kit/menu";
import { announce } from "../kit/notify";
import { type List, Operate, type Shown } from "./operate";
import { ask, type At } from "../kit/http";
import { markersOf, type Relays, type Session } from "../kit/relays";
import { lookOnly, lookOnlyWhy, type Role } from "../kit/role";
import { computed, effect, Fragment, h, render, signal, useLayoutEffect } from "../kit/ui";

const signs = { live: "dot ok", away: "dot err", ended: "dot" } as const;
const words = { live: "live", away: "server away", ended: "ended" } as const;

function joined(texts: readonly string[]): string {
  return texts.filter((t) => t !== "").join("  ·  ");
}

/** The list of the frames of the session, which may be paused. */
interface LiveList extends List {
  readonly isPaused: boolean;
  readonly total: number; // of its rows
  readonly fresh: number; // rows since it is paused
  counted: (() => void) | undefined; // called after each change
  rowItems: ((row: FrameRow) => readonly MenuItem[]) | undefined; // for the menu of a row
  pause(on: boolean): void;
  /** Opens the drawer of the markers. */
  open(drawer: "markers"): void;
  /** Says what the empty list waits for. */
  waitFor(text: string): void;
}

/** The bar of a session. */
export class LiveBar {
  readonly id: string;
  readonly frames: LiveList;
  readonly operate: Operate;
  readonly phase = signal<"live" | "away" | "ended">("live");
  readonly session = signal<Session | undefined>(undefined);
  readonly away = signal<Date | undefined>(undefined); // since when
  readonly stopping = signal(false);
  readonly paused = signal({ on: false, fresh: 0 });
  readonly rate = signal("");
  private readonly relays: Relays;
  private readonly markers: ReturnType<typeof markersOf>;
  private before: { at: number; frames: number; bytes: number } | undefined;

  constructor(bar: HTMLElement, relays: Relays, frames: LiveList, shown: Shown) {
    this.id = bar.dataset["session"] ?? "";
    this.relays = relays;
    this.frames = frames;
    const at: At = { project: relays.workspace, id: this.id };
    this.markers = markersOf(at);
    this.operate = new Operate(at, frames, shown);
    effect(() => {
      bar.classList.toggle("away", this.phase.value === "away");
      bar.classList.toggle("ended", this.phase.value === "ended");
      bar.classList.toggle("operating", this.operate.on.value);
    });
    render(<Bar bar={this} />, bar);
    frames.counted = () => this.counted();
    frames.rowItems = (row) => this.operate.rowItems(row);
    relays.watch((all) => this.draw(all.find((s) => s.id === this.id)));
    relays.watchAway((since) => this.drawAway(since));
    const may = (role: Role): boolean => this.phase.value === "live" && !lookOnly(role);
    register(
      { id: "live-pause", title: "Pause or resume the view", group: "Live", keys: ["p"], enabled: () => this.phase.value !== "ended", run: () => this.pause() },
      { id: "live-marker", title: "Drop a marker", group: "Live", keys: ["`"], enabled: () => may("commenter"), run: () => this.marker() },
      { id: "live-stop", title: "Stop the listener", group: "Live", enabled: () => may("operator"), run: () => this.stop() },
    );
  }

  /** Pauses or resumes the list; traffic continues. */
  pause(): void {
    this.frames.pause(!this.frames.isPaused);
    this.counted();
    announce(this.frames.isPaused ? "View paused; traffic continues" : "View resumed");
  }

  private counted(): void {
    this.paused.value = { on: this.frames.isPaused, fresh: this.frames.fresh };
  }

  stop(): void {
    const open = this.session.value?.open ?? 0;
    const end = async (): Promise<void> => {
      this.stopping.value = true; // connections have a few seconds to close
      await ask("DELETE proxies", { project: this.relays.workspace, id: this.id });
      this.stopping.value = false;
    };
    openMenu(document.getElementById("live-stop") ?? document.body, {
      label: "Stop this listener?",
      items: [
        { title: open === 0 ? "Stop listening; the recording stays" : `Stop and close ${counted(open, "open connection")}; the recording stays`, run: () => void end() },
        { title: "Keep listening", run: () => undefined },
      ],
    });
  }

  /** Shows the events of the listener. */
  events(): void {
    const events = computed(() => this.session.value?.events ?? []);
    void dialogs().then((d) => d?.eventsDialog(this.session.value?.name ?? "the listener", events));
  }

  /** Sets a marker at the time of the key, not of its text. */
  marker(): void {
    const n = this.frames.total + 1;
    const anchor = document.getElementById("live-marker") ?? document.body;
    askText(anchor, { label: "Marker at this moment. A value finds its field: max HP = 48211", text: "", button: "Set", most: 250 }, (text) => {
      void this.markers.add(n, text).then((done) => done && this.frames.open("markers"));
    });
  }

  /** The server is away: the shown state is old, and the controls are off. */
  private drawAway(since: Date): void {
    if (this.phase.value !== "live") {
      return;
    }
    this.before = undefined;
    this.rate.value = "";
    this.away.value = since;
    this.phase.value = "away";
    this.operate.away(true);
    announce("The server does not answer");
  }

  private draw(s: Session | undefined): void {
    if (this.phase.value === "away") {
      this.phase.value = "live";
      this.operate.away(false);
      announce("The server responds again");
    }
    this.operate.draw(s);
    if (s === undefined) {
      this.end();
      return;
    }
    const now = performance.now();
    const passed = s.to_server + s.to_client;
    const { before } = this;
    const seconds = before === undefined ? 0 : (now - before.at) / 1000;
    if (before === undefined || seconds >= 0.9) {
      this.before = { at: now, frames: s.frames, bytes: passed };
      if (before !== undefined) {
        this.rate.value = `${count(Math.round((s.frames - before.frames) / seconds))} frames/s, ${bytes((passed - before.bytes) / seconds)}/s`;
      }
    }
    this.session.value = s;
    this.frames.waitFor(s.pairs[0] === undefined ? "" : `Point the client at ${s.pairs[0].listen}.`);
  }

  /** The listener has ended: the recording is an ordinary capture. */
  private end(): void {
    if (this.phase.value === "ended") {
      return;
    }
    this.phase.value = "ended";
    this.frames.pause(false);
    announce("The listener has ended");
  }

  /** Counts of normal traffic, and of traffic that is not listed, recorded or relayed. */
  get facts(): { good: string; bad: string } {
    const s = this.session.value;
    if (s === undefined) {
      return { good: "", bad: "" };
    }
    const only = s.pairs[0];
    const many = (n: number | undefined, what: string): string => ((n ?? 0) > 0 ? what : "");
    return {
      good: joined([
        this.rate.value,
        s.total === 0 ? "no connection yet" : s.open === s.total ? `${counted(s.open, "connection")} open` : `${s.open} of ${counted(s.total, "connection")} open`,
        many(s.associations, counted(s.associations ?? 0, "SOCKS5 association")),
        s.record.on ? `recorded ${bytes(s.record.bytes)}` : "",
        only === undefined ? "" : `${only.listen} → ${only.upstream}`,
      ]),
      bad: joined([
        s.record.on ? "" : `${s.record.paused === true ? "recording paused" : "not recorded"}: ${s.record.why ?? ""}`,
        many(s.record.missed, `${counted(s.record.missed ?? 0, "packet")} not recorded`),
        many(s.failed, `server not reached ${s.failed}×`), many(s.refused, `${s.refused} refused`),
        many(s.lost, `${bytes(s.lost ?? 0)} not observed`), many(s.unseen, `${counted(s.unseen ?? 0, "connection")} not observed`),
        many(s.dropped, `${counted(s.dropped ?? 0, "datagram")} dropped`), many(s.unsent, `${counted(s.unsent ?? 0, "datagram")} not sent`),
        many(s.strays, `${counted(s.strays ?? 0, "datagram")} of SOCKS5 clients dropped`),
        many(s.unlogged, `${counted(s.unlogged ?? 0, "frame")} not kept`), many(s.base, `the first ${count(s.base)} frames are only in the recording`),
      ]),
    };
  }
}

function Facts({ bar }: { bar: LiveBar }) {
  if (bar.phase.value === "ended") {
    const recorded = bar.frames.total > 0 || (bar.session.value?.record.packets ?? 0) > 0;
    return (
      <span class="live-facts" id="live-facts">
        The listener has stopped. {recorded ? <><a href={location.pathname} id="live-recording">Open the recording</a>.</> : "No traffic was recorded."}
      </span>
    );
  }
  if (bar.phase.value === "away") {
    const text = `The server has not answered since ${bar.away.value?.toLocaleTimeString() ?? ""}: the state of the traffic is unknown.`;
    return <span class="live-facts" id="live-facts" title={text}><span class="warn">{text}</span></span>;
  }
  const { good, bad } = bar.facts;
  return <span class="live-facts" id="live-facts" title={joined([bad, good])}>{bad === "" ? null : <><span class="warn">{bad}</span>{"  ·  "}</>}{good}</span>;
}

/** The filter of held messages, which can be changed while messages wait. */
function Hold({ operate }: { operate: Operate }) {
  const set = (event: SubmitEvent): void => {
    event.preventDefault();
    void operate.hold(String(new FormData(event.currentTarget as HTMLFormElement).get("hold")));
  };
  return (
    <form class="live-hold" onSubmit={set}>
      <input key={operate.holding.value} name="hold" defaultValue={operate.holding.value} aria-label="Hold messages that match" placeholder="hold nothing" title="Messages that match are held; those waiting that do not match pass" maxLength={8192} autocomplete="off" spellcheck={false} />
    </form>
  );
}

function Bar({ bar }: { bar: LiveBar }) {
  const { operate } = bar;
  const phase = bar.phase.value;
  const { on, fresh } = bar.paused.value;
  const off = phase === "away" || lookOnly("operator");
  const title = (does: string): string => (lookOnly("operator") ? lookOnlyWhy("operator") : does);
  const replay = (): void => void dialogs().then((d) => d?.replayDialog(document.getElementById("main")?.dataset["workspace"] ?? "", bar.id, bar.session.value?.name ?? "live"));
  const focused = document.activeElement?.closest("#live-bar") != null; // before this drawing
  useLayoutEffect(() => {
    if (phase === "ended" && focused && document.activeElement === document.body) { // keep the focus in the bar
      const link = document.getElementById("live-recording");
      if (link === null) {
        bar.frames.focus();
      } else {
        link.focus();
      }
    }
  }, [phase]);
  return (
    <>
      <span class="live-state" id="live-state"><i class={signs[phase]} /> {words[phase]}</span>
      <Facts bar={bar} />
      {phase === "ended" ? null : (
        <>
          <button class="btn quiet live-pause" type="button" id="live-pause" aria-pressed={on} title="Freeze the list; traffic continues (p)" onClick={() => bar.pause()}>
            {!on ? "Pause view" : fresh === 0 ? "Resume" : `Resume (${count(fresh)} new)`}
          </button>
          <button class="btn quiet" type="button" id="live-marker" disabled={phase === "away" || lookOnly("commenter")} title={lookOnly("commenter") ? lookOnlyWhy("commenter") : "Set a marker at this moment (`)"} onClick={() => bar.marker()}>Marker</button>
          {operate.offered.value ? (
            <>
              <button class="btn quiet live-operate" type="button" id="live-operate" disabled={off} aria-pressed={operate.on.value} title={title(operate.title.value)} onClick={(event) => operate.menu(event.currentTarget)}>{operate.label.value}</button>
              {operate.on.value && !off ? <Hold operate={operate} /> : null}
              <button class="btn quiet" type="button" id="live-send" disabled={off} title={title("Send your own message")} onClick={() => void operate.send(false)}>Send…</button>
            </>
          ) : null}
        </>
      )}
      {lookOnly("operator") ? null : <button class="btn quiet" type="button" id="live-replay" title="Replay a connection against a server or for a client" onClick={replay}>Replay …</button>}
      <button class="btn quiet" type="button" id="live-events" title="Events of this listener" aria-haspopup="dialog" onClick={() => bar.events()}>Events</button>
      {phase === "ended" ? null : (
        <button class="btn quiet live-stop" type="button" id="live-stop" disabled={off} title={title("Stop listening; the recording stays")} onClick={() => bar.stop()}>{bar.stopping.value ? "Stopping …" : "Stop"}</button>
      )}
    </>
  );
}
