// The held messages: rows below the list, in its columns. The chosen one is in the panes of the page, where it is changed.
//
//   #held > .held-head (> strong, .btn ...), .held-list[role=list] > .held-row[role=listitem] > .fc ...,
//           .held-changes > table
//
// Keys and buttons apply to one message: the chosen one, otherwise the oldest.

import type { HeldInfo } from "../api/api";
import { onChanged } from "../kit/changes";
import { arrow } from "../kit/dialog";
import { changesOf, type Change } from "./changed";
import { count, counted, directionWords, opcode } from "../kit/frametext";
import { announce } from "../kit/notify";
import { ask, type At, request } from "../kit/http";
import { Fragment, h, render, signal, useLayoutEffect, useRef } from "../kit/ui";

/** A held message, as in GET .../held. */
export type Held = HeldInfo;

/** An edit of a held message: its bytes in hex. */
interface Edit {
  hex: string;
  value: unknown; // its values, undefined until they are known and without a definition
}

/** A column of the list. */
export interface Column {
  readonly id: string; // "info", another fixed one, or "=" and the path of a field
  readonly right?: boolean; // aligned right
}

interface Events {
  /** Shows a held message in the panes, with its edit or ""; undefined: the selected frame again. */
  show(m: Held | undefined, edit: string): void;
  /** Moves the focus to the form of the message in the panes. */
  form(): void;
  /** Resolves when the edits in the panes have been taken. */
  settled(): Promise<void>;
  /** The columns of the list. */
  columns(): readonly Column[];
  /** The row with the focus was removed, and no other exists. */
  leave(): void;
}

const period = 1000; // milliseconds between updates of the waiting times
const mostRows = 50;
const mostText = 300; // characters of a message in its row
const mostChanges = 30; // shown

/** Values on one line, as the list shows them. */
function valuesText(value: unknown): string {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([name, v]) => `${name} ${JSON.stringify(v)}`).join(", ")
    : JSON.stringify(value);
}

function ageText(m: Held): string {
  return `${Math.max(0, Math.round((Date.now() - Date.parse(m.at)) / 1000))} s`;
}

function waitText(m: Held): string {
  const rest = m.until === undefined ? -1 : Math.max(0, Math.round((Date.parse(m.until) - Date.now()) / 1000));
  return [(m.behind ?? 0) > 0 ? `${m.behind ?? 0} behind it` : "", rest < 0 ? "" : `forwarded automatically in ${rest} s`].filter((t) => t !== "").join(", ");
}

export class HeldQueue {
  readonly may: boolean;
  readonly events: Events;
  readonly host = document.getElementById("held");
  readonly held = signal<readonly Held[]>([]); // the oldest ones
  readonly unlisted = signal(0); // number of further ones
  readonly edits = signal<ReadonlyMap<number, Edit>>(new Map()); // edits of messages that are still held
  readonly chosen = signal(0); // the message in the panes, 0: none
  readonly raw = signal(false); // edits are sent as they are, without corrected lengths
  readonly isAway = signal(false);
  private readonly at: At;
  private readonly gone = new Set<number>(); // decided, while a pending request may still list them
  private readonly deciding = new Set<number>(); // requests of these are under way
  private running = false;
  private looking = false;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `may`: the user may decide. */
  constructor(at: At, may: boolean, events: Events) {
    this.at = at;
    this.may = may;
    this.events = events;
    if (this.host !== null) {
      render(<Queue queue={this} />, this.host);
    }
    onChanged(`held:${at.id}`, () => void this.look());
  }

  /** The number of messages that can be decided. */
  get size(): number {
    return this.isAway.value ? 0 : this.held.value.length;
  }

  /** Starts or stops following the queue. */
  run(on: boolean): void {
    if (on === this.running) {
      return;
    }
    this.running = on;
    if (on) {
      void this.look();
    } else {
      clearTimeout(this.timer);
      this.show([], 0);
    }
  }

  private async look(): Promise<void> {
    clearTimeout(this.timer);
    this.again = this.looking;
    if (!this.running || this.looking) {
      return;
    }
    this.looking = true;
    const reply = await request("GET proxies/{id}/held", this.at); // if the server is away, the bar says so, and away() applies here
    if (reply.ok && this.running) {
      const { held, total } = reply.answer;
      const waiting = held.filter((m) => !this.gone.has(m.id));
      if (waiting.length > 0 && this.held.value.length === 0) {
        announce(`${counted(waiting.length + total - held.length, "message")} held`);
      }
      this.show(waiting, total - held.length);
    }
    this.looking = false;
    if (this.again as boolean) {
      void this.look();
    } else {
      this.age();
    }
  }

  /** Updates the waiting times while messages wait. */
  private age(): void {
    clearTimeout(this.timer);
    if (this.running && this.held.value.length > 0) {
      this.timer = setTimeout(() => {
        this.held.value = [...this.held.value];
        this.age();
      }, period);
    }
  }

  private show(held: readonly Held[], unlisted: number): void {
    const left = new Map([...this.edits.value].filter(([id]) => held.some((m) => m.id === id))); // others were decided automatically or on another page
    if (left.size !== this.edits.value.size) {
      this.edits.value = left;
    }
    const at = this.held.value.findIndex((m) => m.id === this.chosen.value);
    this.held.value = held;
    this.unlisted.value = unlisted;
    if (this.chosen.value !== 0 && !held.some((m) => m.id === this.chosen.value)) {
      this.choose(held[Math.min(Math.max(at, 0), held.length - 1)]);
    }
  }

  /** Shows a message in the panes; undefined: the selected frame again. */
  choose(m: Held | undefined): void {
    if (m?.id === this.chosen.value) {
      return;
    }
    const was = this.chosen.value;
    this.chosen.value = m?.id ?? 0;
    this.raw.value = false;
    if (m !== undefined || was !== 0) {
      this.events.show(m, m === undefined ? "" : this.bytesOf(m));
    }
  }

  /** The panes show something else. */
  left(): void {
    this.chosen.value = 0;
  }

  /** The bytes of a message as they would be sent, "" if they are the original. */
  private bytesOf(m: Held): string {
    const hex = this.edits.value.get(m.id)?.hex ?? m.with ?? "";
    return hex === m.frame.hex ? "" : hex;
  }

  /** The message that keys apply to. A key pressed again before the server has answered applies to the next one. */
  target(): Held | undefined {
    const at = Math.max(0, this.held.value.findIndex((m) => m.id === this.chosen.value));
    return this.held.value.find((m, i) => i >= at && !this.deciding.has(m.id));
  }

  /** Starts editing. */
  edit(): void {
    const m = this.target();
    if (m !== undefined) {
      this.choose(m);
      this.events.form();
    }
  }

  /** Takes an edit of the chosen message in the panes; "" is the original. */
  edited(hex: string): void {
    const m = this.held.value.find(({ id }) => id === this.chosen.value);
    if (m === undefined || hex === this.bytesOf(m)) {
      return;
    }
    if (hex === (m.with ?? "")) { // as it is sent anyway
      this.forget(m);
      return;
    }
    const to = hex === "" ? m.frame.hex : hex;
    this.put(m, { hex: to, value: to === m.frame.hex ? m.frame.value : undefined });
    void this.decode(m, to);
  }

  private put(m: Held, edit: Edit): void {
    this.edits.value = new Map(this.edits.value).set(m.id, edit);
  }

  /** Asks for the values of an edit. */
  private async decode(m: Held, hex: string): Promise<void> {
    const workspace = document.getElementById("main")?.dataset["workspace"] ?? "";
    const reply = m.name === "" ? undefined : await request("POST decode", { project: workspace }, { body: { message: m.name, hex } });
    if (reply?.ok === true && this.edits.value.get(m.id)?.hex === hex) {
      this.put(m, { hex, value: reply.answer.results[0]?.value });
    }
  }

  /** Discards the edit of a message; returns whether there was one. */
  private forget(m: Held): boolean {
    const left = new Map(this.edits.value);
    const was = left.delete(m.id);
    this.edits.value = left;
    return was;
  }

  /** Whether a held message was changed. */
  get canRevert(): boolean {
    const m = this.target();
    return m !== undefined && (this.edits.value.has(m.id) || m.with !== undefined);
  }

  /** Discards the change of a message: the edit, or else the change by rules. */
  revert(m = this.target()): void {
    if (m === undefined) {
      return;
    }
    const forgot = this.forget(m);
    if (!forgot && m.with === undefined) {
      announce("The message is unchanged");
      return;
    }
    if (!forgot) {
      this.put(m, { hex: m.frame.hex, value: m.frame.value });
    }
    if (m.id === this.chosen.value) {
      this.events.show(m, this.bytesOf(m));
    }
    announce(m.with === undefined || !forgot ? "The original will be sent" : "The message will be sent as changed by rules");
  }

  /** While the server is away nothing can be decided, and the list may be outdated. */
  away(isAway: boolean): void {
    this.isAway.value = isAway;
    this.host?.classList.toggle("away", isAway);
  }

  focus(): void {
    this.host?.querySelector<HTMLElement>('.held-row[tabindex="0"]')?.focus();
  }

  /** Decides about a message; resolves to whether that succeeded. */
  async decide(action: "forward" | "drop" | "original", m = this.target()): Promise<boolean> {
    if (m === undefined || this.deciding.has(m.id)) {
      return false;
    }
    this.deciding.add(m.id);
    if (action === "forward" && m.id === this.chosen.value) {
      await this.events.settled();
    }
    const edit = this.edits.value.get(m.id);
    const body: { action: "drop" | "forward" | "replace"; hex?: string; raw?: boolean } = action === "drop" ? { action }
      : action === "original" && m.with !== undefined ? { action: "replace", hex: m.frame.hex } // rules have changed it
        : action === "forward" && edit !== undefined ? { action: "replace", hex: edit.hex, raw: this.raw.value && m.id === this.chosen.value }
          : { action: "forward" };
    const done = (await ask("POST proxies/{id}/held", this.at, { id: m.id, ...body })) !== undefined;
    this.deciding.delete(m.id);
    if (done) {
      this.gone.add(m.id);
      this.show(this.held.value.filter((x) => x.id !== m.id), this.unlisted.value);
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) { // the field that had the focus is gone
          if (this.size > 0) {
            this.focus();
          } else {
            this.events.leave();
          }
        }
      });
    }
    void this.look();
    return done;
  }

  async forwardAll(): Promise<void> {
    for (const m of this.held.value.filter((one) => this.edits.value.has(one.id))) {
      if (!await this.decide("forward", m)) {
        return; // a mistake was reported, and nothing is sent before it is corrected
      }
    }
    await ask("POST proxies/{id}/held", this.at, { all: true, action: "forward" });
    void this.look();
  }
}

function Queue({ queue }: { queue: HeldQueue }) {
  const held = queue.held.value;
  const shown = held.slice(0, mostRows);
  const all = held.length + queue.unlisted.value;
  const list = useRef<HTMLDivElement>(null);
  const rows = (): HTMLElement[] => Array.from(list.current?.querySelectorAll<HTMLElement>(".held-row") ?? []);
  const focused = rows().findIndex((row) => row.contains(document.activeElement)); // before this drawing
  const chosen = held.find((m) => m.id === queue.chosen.value);
  const inOrder = shown.some((m) => m.id === queue.chosen.value) ? queue.chosen.value : shown[0]?.id; // the row in the tab order
  useLayoutEffect(() => {
    queue.host?.toggleAttribute("hidden", held.length === 0);
    if (focused >= 0 && list.current?.contains(document.activeElement) !== true && (document.activeElement ?? document.body) === document.body) { // the row with the focus was removed
      const left = rows();
      if (left.length === 0) {
        queue.events.leave();
      } else {
        left[Math.min(focused, left.length - 1)]?.focus();
      }
    }
  });
  const key = (event: KeyboardEvent): void => {
    const all = rows();
    const at = all.findIndex((row) => row === event.target);
    if (at < 0 || event.defaultPrevented) {
      return;
    }
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === -1 && event.key === "ArrowUp") {
      queue.events.leave(); // to the list above
    } else if (to !== undefined) {
      all[Math.max(0, Math.min(to, all.length - 1))]?.focus();
    } else if (event.key === "Enter" && queue.may) {
      queue.edit();
    } else if (event.key === "Escape") {
      queue.choose(undefined);
      queue.events.leave();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <Head queue={queue} all={all} />
      <div class="held-list" role="list" aria-label="Held messages, the oldest first" ref={list} onKeyDown={key}>
        {shown.map((m) => <Row key={m.id} queue={queue} m={m} tab={m.id === inOrder ? 0 : -1} />)}
      </div>
      <p class="hint" hidden={all <= shown.length}>and {counted(all - shown.length, "more message")}</p>
      {chosen === undefined ? null : <Changes queue={queue} m={chosen} />}
    </>
  );
}

/** The number of held messages, and the buttons for the one that keys apply to. */
function Head({ queue, all }: { queue: HeldQueue; all: number }) {
  const m = queue.target();
  const { may } = queue;
  const edit = m === undefined ? undefined : queue.edits.value.get(m.id);
  const changed = m !== undefined && (edit === undefined ? m.with !== undefined : edit.hex !== m.frame.hex);
  const act = (text: string, key: string, title: string, run: () => void, more: object = {}) => (
    <button type="button" class="btn" title={title} disabled={queue.isAway.value} onClick={run} {...more}>{text} <kbd>{key}</kbd></button>
  );
  return (
    <div class="held-head">
      <strong>{count(all)} held</strong>
      {may && m !== undefined ? (
        <>
          {act(changed ? "Send changed" : "Send", "a", changed ? "Send it as changed" : "Send it as it came", () => void queue.decide("forward", m), { "data-send": "" })}
          {act("Drop", "x", "Discard it", () => void queue.decide("drop", m))}
          {act("Change", "e", "Change its values in the panes below", () => queue.edit())}
          {/* What comes and goes with a change is last, so that no button moves. */}
          {changed ? <button type="button" class="btn" title="Send it as it came" disabled={queue.isAway.value} onClick={() => void queue.decide("original", m)}>Send original</button> : null}
          {act("Reset", "v", "Discard the change", () => queue.revert(m), { hidden: !queue.canRevert, "data-revert": "" })}
          {edit !== undefined && m.id === queue.chosen.value ? (
            <label class="check" title="Lengths, sequence numbers and checksums are not corrected"><input type="checkbox" checked={queue.raw.value} onChange={(event) => (queue.raw.value = event.currentTarget.checked)} /> bytes as they are</label>
          ) : null}
        </>
      ) : null}
      {queue.isAway.value ? <span class="dim">The server does not answer: these may no longer be held.</span> : null}
      {may ? act("Forward all", "Shift+A", "Send all, as changed", () => void queue.forwardAll(), { "data-all": "" }) : null}
    </div>
  );
}

function Row({ queue, m, tab }: { queue: HeldQueue; m: Held; tab: number }) {
  const { frame } = m;
  const name = frame.message ?? `? ${opcode(frame.code ?? 0)}`;
  const edit = queue.edits.value.get(m.id);
  const isBack = edit !== undefined && edit.hex === frame.hex;
  const changed = isBack ? (m.with === undefined ? "" : "original, without the changes of rules") : edit !== undefined ? "~ changed, not sent yet" : m.with !== undefined ? "~ by a rule" : "";
  const value = edit === undefined ? frame.value : edit.value;
  const what = (value !== undefined && value !== null ? valuesText(value) : (edit?.hex ?? frame.hex)).slice(0, mostText);
  const notes = [changed, waitText(m)].filter((t) => t !== "").join(" · ");
  const cells: Readonly<Record<string, string>> = {
    n: "‖", time: ageText(m), dir: arrow(frame.dir), code: frame.code === undefined ? "" : opcode(frame.code), name,
    len: count((edit?.hex ?? frame.hex).length / 2), flags: changed.startsWith("~") ? "~" : "",
  };
  const current = m.id === queue.chosen.value;
  return (
    <div class={`held-row ${frame.dir}${current ? " cur" : ""}`} role="listitem" data-id={m.id} tabIndex={tab} aria-current={current ? "true" : undefined}
      aria-label={`${name}, ${directionWords(frame.dir)}, held for ${ageText(m)}${notes === "" ? "" : `, ${notes}`}`}
      onFocus={() => queue.choose(m)} onClick={(event) => event.currentTarget.focus()} onDblClick={queue.may ? () => queue.edit() : undefined}>
      {queue.events.columns().map((c) => (
        <span key={c.id} class={`fc fc-${c.id.startsWith("=") ? "field" : c.id}${c.right === true ? " right" : ""}`}>
          {c.id === "info" ? <>{changed === "" ? null : <span class="held-with">{changed}</span>}<span class="held-wait">{waitText(m) === "" ? "" : `${waitText(m)} ·`}</span><span class="held-what">{what}</span></> : (cells[c.id] ?? "")}
        </span>
      ))}
    </div>
  );
}

/** The original and the changed values of a message, side by side. Its height is constant: the buttons above must not move when a change appears. */
function Changes({ queue, m }: { queue: HeldQueue; m: Held }) {
  const edit = queue.edits.value.get(m.id);
  const changes: readonly Change[] = edit === undefined ? [] : changesOf({ value: m.frame.value, hex: m.frame.hex }, { value: edit.value, hex: edit.hex });
  if (changes.length === 0) {
    return queue.may ? <p class="held-changes hint">Changes of its fields or bytes below are listed here, beside the original.</p> : null;
  }
  return (
    <div class="held-changes" tabIndex={0} role="group" aria-label="Changes of the held message">
      <table>
        <thead><tr><th>Changed</th><th>Original</th><th>To be sent</th></tr></thead>
        <tbody>
          {changes.slice(0, mostChanges).map((c) => <tr key={c.what}><th>{c.what}</th><td class="old">{c.was}</td><td class="new">{c.is}</td></tr>)}
        </tbody>
      </table>
      {changes.length > mostChanges ? <p class="hint">and {counted(changes.length - mostChanges, "more change")}</p> : null}
    </div>
  );
}
