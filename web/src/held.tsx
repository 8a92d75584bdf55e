// The queue of held messages, above the list.
//
//   #held > .held-head, .held-list[role=list] > .held-row[role=listitem] > .held-dir, .held-name, .held-what, .held-with, .held-age, .btn ...
//
// Keys apply to one row: the focused one, otherwise the oldest.

import type { HeldInfo, HeldList } from "./api";
import { onChanged } from "./changes";
import { arrow } from "./dialog";
import { count, counted, directionWords, opcode } from "./frames/text";
import type { Content } from "./dialogs/messageform";
import { announce } from "./notify";
import { ask, request } from "./http";
import { Fragment, h, render, signal, useLayoutEffect, useRef } from "./ui";

/** A held message, as in GET .../held. */
export type Held = HeldInfo;

interface Events {
  edit(m: Held): void;
  /** The row with the focus was removed, and no other exists. */
  leave(): void;
}

const period = 1000; // milliseconds between updates of the waiting times
const mostRows = 50;
const mostText = 160; // characters of a message in its row

/** Values on one line, without the outer braces. */
function valuesText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.startsWith("{") ? text.slice(1, -1) : text;
}

function ageText(m: Held): string {
  const waits = Math.max(0, Math.round((Date.now() - Date.parse(m.at)) / 1000));
  const rest = m.until === undefined ? -1 : Math.max(0, Math.round((Date.parse(m.until) - Date.now()) / 1000));
  const behind = (m.behind ?? 0) > 0 ? `, ${m.behind ?? 0} behind it` : "";
  return `${waits} s${behind}${rest < 0 ? "" : `, forwarded automatically in ${rest} s`}`;
}

export class HeldQueue {
  readonly may: boolean;
  readonly events: Events;
  readonly host = document.getElementById("held");
  readonly held = signal<readonly Held[]>([]); // the oldest ones
  readonly unlisted = signal(0); // number of further ones
  readonly edits = signal<ReadonlyMap<number, Content>>(new Map()); // edits of messages that are still held
  readonly isAway = signal(false);
  private readonly api: string;
  private readonly gone = new Set<number>(); // decided, while a pending request may still list them
  private readonly deciding = new Set<number>(); // requests of these are under way
  private running = false;
  private looking = false;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `may`: the user may decide. */
  constructor(api: string, may: boolean, events: Events) {
    this.api = api;
    this.may = may;
    this.events = events;
    if (this.host !== null) {
      render(<Queue queue={this} />, this.host);
    }
    onChanged(`held:${decodeURIComponent(api.slice(api.lastIndexOf("/") + 1))}`, () => void this.look());
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
    const reply = await request<HeldList>(`${this.api}/held`); // if the server is away, the bar says so, and away() applies here
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
    this.held.value = held;
    this.unlisted.value = unlisted;
  }

  /** The message that keys apply to. A key pressed again before the server has answered applies to the next one. */
  private target(): Held | undefined {
    const id = Number(document.activeElement?.closest<HTMLElement>("#held .held-row")?.dataset["id"] ?? -1);
    const at = Math.max(0, this.held.value.findIndex((m) => m.id === id));
    return this.held.value.find((m, i) => i >= at && !this.deciding.has(m.id));
  }

  edit(): void {
    const m = this.target();
    if (m !== undefined) {
      this.events.edit(m);
    }
  }

  /** The edit of a message, kept until it is forwarded. */
  edited(m: Held): Content | undefined {
    return this.edits.value.get(m.id);
  }

  /** Keeps an edit of a message; Forward sends it. */
  keep(m: Held, content: Content): void {
    this.edits.value = new Map(this.edits.value).set(m.id, content);
    announce("Change saved; Forward sends it");
  }

  /** Discards the edit of a message; returns whether there was one. */
  forget(m: Held): boolean {
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
      this.edits.value = new Map(this.edits.value).set(m.id, { hex: m.frame.hex, raw: false });
    }
    announce(m.with === undefined || !forgot ? "The original will be sent" : "The message will be sent as changed by rules");
  }

  /** While the server is away nothing can be decided, and the list may be outdated. */
  away(isAway: boolean): void {
    this.isAway.value = isAway;
    this.host?.classList.toggle("away", isAway);
  }

  focus(): void {
    this.host?.querySelector<HTMLElement>(".held-row")?.focus();
  }

  /** Decides about a message; resolves to whether that succeeded. */
  async decide(action: string, m = this.target(), more: object = {}, wrong?: (text: string) => void): Promise<boolean> {
    if (m === undefined || this.deciding.has(m.id)) {
      return false;
    }
    this.deciding.add(m.id);
    const kept = this.edited(m);
    const body = action === "forward" && kept !== undefined ? { action: "replace", ...("value" in kept ? { message: m.name, ...kept } : kept) } : { action, ...more };
    const done = (await ask(`${this.api}/held`, "POST", { id: m.id, ...body }, wrong)) !== undefined;
    this.deciding.delete(m.id);
    if (done) {
      this.gone.add(m.id);
      this.show(this.held.value.filter((x) => x.id !== m.id), this.unlisted.value);
    }
    void this.look();
    return done;
  }

  /** Sends a message as it came, and discards its changes. */
  async original(m: Held): Promise<boolean> {
    this.forget(m);
    if (m.with !== undefined) { // by rules
      this.edits.value = new Map(this.edits.value).set(m.id, { hex: m.frame.hex, raw: false });
    }
    return this.decide("forward", m);
  }

  async forwardAll(): Promise<void> {
    for (const m of this.held.value.filter((one) => this.edits.value.has(one.id))) {
      if (!await this.decide("forward", m)) {
        return; // a mistake was reported, and nothing is sent before it is corrected
      }
    }
    await ask(`${this.api}/held`, "POST", { all: true, action: "forward" });
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
  const current = Number(rows()[focused]?.dataset["id"] ?? -1);
  const inOrder = shown.some((m) => m.id === current) ? current : shown[0]?.id; // the row in the tab order
  useLayoutEffect(() => {
    queue.host?.toggleAttribute("hidden", held.length === 0);
    if (focused >= 0 && list.current?.contains(document.activeElement) === false) { // the row with the focus was removed
      const left = rows();
      if (left.length === 0) {
        queue.events.leave();
      } else {
        left[Math.min(focused, left.length - 1)]?.focus();
      }
    }
  });
  const rove = (event: FocusEvent): void => {
    const at = (event.target as Element).closest(".held-row");
    rows().forEach((row) => { row.tabIndex = row === at ? 0 : -1; });
  };
  const key = (event: KeyboardEvent): void => {
    const all = rows();
    const at = all.findIndex((row) => row === event.target);
    if (at < 0 || event.defaultPrevented) {
      return;
    }
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      all[Math.max(0, Math.min(to, all.length - 1))]?.focus();
    } else if (event.key === "Enter" && queue.may) {
      queue.edit();
    } else if (event.key === "Escape") {
      queue.events.leave();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div class="held-head">
        <strong>{count(all)} held</strong>
        <span class="dim">{queue.isAway.value ? "The server does not answer: these may no longer be held." : "Held until forwarded, or until changes are turned off."}</span>
        {queue.may ? <button type="button" class="btn" title="Shift+A" disabled={queue.isAway.value} onClick={() => void queue.forwardAll()}>Forward all</button> : null}
      </div>
      <div class="held-list" role="list" aria-label="Held messages, the oldest first" ref={list} onKeyDown={key} onFocusIn={rove}>
        {shown.map((m) => <Row key={m.id} queue={queue} m={m} tab={m.id === inOrder ? 0 : -1} />)}
      </div>
      <p class="hint" hidden={all <= shown.length}>and {counted(all - shown.length, "more message")}</p>
    </>
  );
}

function Row({ queue, m, tab }: { queue: HeldQueue; m: Held; tab: number }) {
  const { frame } = m;
  const name = frame.message ?? `? ${opcode(frame.code ?? 0)}`;
  const edit = queue.edits.value.get(m.id);
  const isBack = edit !== undefined && "hex" in edit && !edit.raw && edit.hex === frame.hex;
  const changed = isBack ? "original, without the changes of rules" : edit !== undefined ? "~ changed, not sent yet" : m.with !== undefined ? "~ by a rule" : "";
  const now = edit === undefined || isBack ? frame.value : "value" in edit ? edit.value : undefined;
  const what = now !== undefined ? valuesText(now) : edit !== undefined && "hex" in edit ? edit.hex : frame.hex;
  const change = (): void => queue.events.edit(m);
  const act = (text: string, title: string, run: () => void, more: object = {}) => <button type="button" class="btn" title={title} disabled={queue.isAway.value} onClick={run} {...more}>{text}</button>;
  return (
    <div class="held-row" role="listitem" data-id={m.id} tabIndex={tab} aria-label={`${name}, ${directionWords(frame.dir)}`} onDblClick={queue.may ? change : undefined}>
      <span class={`held-dir ${frame.dir}`}>{arrow(frame.dir)}</span>
      <span class="held-name">{name}</span>
      <span class="held-what" title={what.slice(0, 10 * mostText)}>{what.slice(0, mostText)}</span>
      <span class="held-with" hidden={changed === ""}>{changed}</span>
      <span class="held-age">{ageText(m)}</span>
      {queue.may ? (
        <>
          {act(edit !== undefined && !isBack ? "Send changed" : "Send", "Send it, as changed if it was (a)", () => void queue.decide("forward", m))}
          {edit !== undefined && !isBack ? act("Send original", "Send it as it came", () => void queue.original(m)) : null}
          {act("Change…", "Edit it before it is sent (e)", change)}
          {act("Reset", "Discard the change (v)", () => queue.revert(m), { "data-revert": "", hidden: (edit === undefined && m.with === undefined) || isBack })}
          {act("Drop", "Discard it (x)", () => void queue.decide("drop", m))}
        </>
      ) : null}
    </div>
  );
}
