// The pane beside an envelope: the first frames of a capture, as the text cuts them while it is typed.
//
//   #cut-head > h2, select, .note      #cut-frames > table.data.cuts > tr(.err), or p.empty

import type { CutFrame, CutReport } from "../api/api";
import { onChanged } from "../kit/changes";
import { arrow } from "../kit/dialog";
import { request } from "../kit/http";
import { Fragment, h, render, signal } from "../kit/ui";

const pause = 150; // milliseconds after a key
const mostListed = 100; // captures

/** The first frames. */
export class Cuts {
  private readonly project: string;
  private readonly report = signal<CutReport | undefined>(undefined);
  private readonly failed = signal("");
  private readonly asking = signal(false);
  private readonly captures = signal<readonly { id: string; name: string }[]>([]);
  private readonly chosen = signal("");
  private readonly picked = signal(-1);
  private text: string | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: AbortController | undefined;

  /** Draws the pane. `show` shows the bytes of a frame. */
  constructor(head: HTMLElement, body: HTMLElement, workspace: string, show: (frame: CutFrame) => void) {
    this.project = workspace;
    const title = head.querySelector("h2")?.textContent ?? "";
    head.replaceChildren();
    const Head = (): h.JSX.Element => (
      <>
        <h2 id="layout-title">{title}</h2>
        {this.captures.value.length === 0 ? null : (
          <select class="chooser" aria-label="Capture" value={this.chosen.value} onChange={(e) => this.choose(e.currentTarget.value)}>
            {this.captures.value.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
          </select>
        )}
        <span class={`note${this.stale ? " stale" : ""}`} role="status">{this.summary}</span>
      </>
    );
    const Body = (): h.JSX.Element => this.draw(show);
    render(<Head />, head);
    render(<Body />, body);
    onChanged("captures", () => void this.list());
    void this.list();
  }

  /** The text has changed. */
  changed(text: string): void {
    if (text === this.text) {
      return;
    }
    const first = this.text === undefined;
    this.text = text;
    this.later(first ? 0 : pause);
  }

  private later(after: number): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.timer = setTimeout(() => void this.ask(), after);
  }

  private choose(id: string): void {
    this.chosen.value = id;
    this.later(0);
  }

  private async list(): Promise<void> {
    const reply = await request("GET captures", { project: this.project, brief: true });
    if (!reply.ok) {
      return;
    }
    const list = reply.answer.captures.slice(0, mostListed).map(({ id, name }) => ({ id, name }));
    const had = this.chosen.value;
    this.captures.value = list;
    if (!list.some(({ id }) => id === had)) {
      this.chosen.value = list[0]?.id ?? "";
      this.later(0);
    }
  }

  private async ask(): Promise<void> {
    const { text } = this;
    if (text === undefined) {
      return;
    }
    const running = new AbortController();
    this.running = running;
    this.asking.value = true;
    try {
      const reply = await request("POST envelope/frames", { project: this.project }, { body: { text, ...(this.chosen.value === "" ? {} : { capture: this.chosen.value }) }, signal: running.signal });
      if (this.running !== running) {
        return;
      }
      this.failed.value = reply.ok ? "" : reply.why;
      if (reply.ok && (reply.answer.frames.length > 0 || !reply.answer.diagnostics.some(({ severity }) => severity === "error"))) {
        this.report.value = reply.answer;
        this.picked.value = -1;
        this.wrong = false;
      } else {
        this.wrong = true;
      }
      this.asking.value = false;
    } catch {
      // The next key has cancelled it.
    }
  }

  private wrong = false; // the text has mistakes: the frames are those of an earlier one

  private get stale(): boolean {
    return !this.asking.value && this.wrong;
  }

  private get summary(): string {
    const r = this.report.value;
    if (this.failed.value !== "") {
      return this.failed.value;
    }
    if (this.stale) {
      return r === undefined || r.frames.length === 0 ? "The text has mistakes" : "The text has mistakes: these are the frames of before";
    }
    if (r === undefined || r.capture === undefined) {
      return "";
    }
    const n = (count: number, what: string): string => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
    const parts = [`${n(r.count, "frame")}${r.more ? " in its first part" : ""}: ${r.exact.toLocaleString("en")} decode exactly`];
    if (r.unknown > 0) {
      parts.push(`${r.unknown.toLocaleString("en")} without a definition`);
    }
    if (r.problems > 0) {
      parts.push(n(r.problems, "problem"));
    }
    return parts.join(", ");
  }

  private draw(show: (frame: CutFrame) => void): h.JSX.Element {
    const r = this.report.value;
    if (r === undefined) {
      return <p class="empty">The first frames of a capture appear here, as the text cuts them.</p>;
    }
    if (r.capture === undefined) {
      return <p class="empty">No capture yet: the first frames of one appear here, as the text cuts them. Open a capture, or record traffic with a listener.</p>;
    }
    if (r.frames.length === 0) {
      return <p class="empty">The text cuts no frames from this capture.</p>;
    }
    const conns = new Set(r.frames.map(({ conn }) => conn)).size > 1;
    let last = "";
    return (
      <table class="data cuts" aria-label="First frames">
        <thead><tr><th class="num">#</th><th>Dir</th><th>State</th><th>Message</th><th class="num">Bytes</th><th>Fits</th></tr></thead>
        <tbody>
          {r.frames.map((f, i) => {
            const other = conns && f.conn !== last;
            last = f.conn;
            return (
              <Fragment key={i}>
                {other ? <tr class="cut-conn"><td colSpan={6}>{f.conn}</td></tr> : null}
                <tr class={`${f.kind === "problem" ? "err" : ""}${this.picked.value === i ? " current" : ""}`} title={f.hex}>
                  <td class="num">{i + 1}</td>
                  <td>{f.dir === undefined ? "" : arrow(f.dir)}</td>
                  <td>{f.state ?? ""}</td>
                  <td><button type="button" class="link" aria-pressed={this.picked.value === i} onClick={() => { this.picked.value = i; show(f); }}>{nameOf(f)}</button></td>
                  <td class="num">{f.length}</td>
                  <td class={f.exact ? "ok" : f.kind === "problem" || f.status === "illegal" || f.status === "incomplete" ? "err" : "none"}>{f.exact ? "exactly" : (f.problem ?? "") !== "" ? f.problem : f.status === "unknown" ? "no definition" : f.status ?? f.kind}</td>
                </tr>
              </Fragment>
            );
          })}
        </tbody>
      </table>
    );
  }
}

/** The name of a frame: its message, with its code. */
function nameOf({ message = "", code, kind }: CutFrame): string {
  const hex = code === undefined ? "" : `0x${code.toString(16).toUpperCase().padStart(2, "0")}`;
  return message === "" ? hex || kind : `${message} ${hex}`.trim();
}
