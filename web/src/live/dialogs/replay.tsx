// Replays of a recorded conversation: what to replay against which end, and the results step by step.
//
//   dialog.operate > form > .field, .row, details > textarea
//                         > progress, .replay-steps > .held-row, .held-before

import type { RunsConfig, RunsInfo, RunsResult as Result } from "../../api/api";
import { pathOf } from "../../kit/address";
import { onChanged } from "../../kit/changes";
import { arrow, Button, dialog, Field, type Open, Says, Select } from "../../kit/dialog";
import { counted } from "../../kit/frametext";
import { ask, type At } from "../../kit/http";
import { Fragment, h, type ReadonlySignal, type Signal, signal, useLayoutEffect } from "../../kit/ui";

interface Conn {
  conn: string;
  session?: number;
  to_server: number;
  to_client: number;
}

/** The response of POST .../script. */
interface Made {
  conns: Conn[];
  conn: string;
  session?: number;
  note?: string;
  steps: number;
  lifts: { name: string; from: string; to: string[]; why: string }[];
  text: string; // a string, since JavaScript would round large numbers
}

/** A run with its results. */
type Run = RunsInfo & { results: Result[] };

type Tolerance = NonNullable<RunsConfig["tolerance"]>;

const atOnce = 500; // results per request
const mostShown = 2000; // steps in the list; after them only those with differences
const mostWrong = 4000;

/** State shared by the parts of the dialog. */
interface Page {
  d: Open;
  workspace: string;
  of: At; // the capture
  name: string;
  run: Signal<string>; // id of the shown run, or ""
}

/** Saves text as a file. */
function save(text: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Opens the replay dialog of a capture: the current run, or the form to start one. */
export async function replayDialog(workspace: string, capture: string, name: string): Promise<void> {
  const all = await ask("GET replays", { project: workspace });
  if (all === undefined) {
    return;
  }
  const run = signal(all.replays.find((r) => r.capture === capture && !r.done)?.id ?? "");
  let start: Start | undefined; // kept, so that the form is restored after a run
  await dialog(`Replay ${name}`, (d) => {
    const page: Page = { d, workspace, of: { project: workspace, id: capture }, name, run };
    return <>{run.value === "" ? <StartForm start={(start ??= new Start(page))} /> : <Steps key={run.value} page={page} />}<Says d={d} /></>;
  }).closed;
}

/** The form: the connection, the side to play, and options. */
class Start {
  readonly page: Page;
  readonly made = signal<Made | undefined>(undefined);
  readonly conns = signal<readonly Conn[]>([]);
  readonly choice = signal({ conn: "", play: "client" as "client" | "server", to: "", listen: "127.0.0.1:0", speed: "0", tolerance: "" as Tolerance | "", going: false });
  readonly script = signal("");
  readonly busy = signal(true);
  private asked = 0; // number of script requests

  constructor(page: Page) {
    this.page = page;
    void this.load();
  }

  set(more: Partial<Start["choice"]["value"]>): void {
    this.choice.value = { ...this.choice.value, ...more };
    if ("conn" in more || "play" in more) {
      void this.load();
    }
  }

  /** Makes the script of the selected connection, discarding edits of the previous one. */
  private async load(): Promise<void> {
    const { d, of } = this.page;
    const { conn, play } = this.choice.value;
    this.busy.value = true;
    const nth = ++this.asked;
    const [name, session] = conn === "" ? [] : (JSON.parse(conn) as [string, number]);
    const answer = await ask("POST captures/{id}/script", of, { as_text: true, play, ...(name === undefined ? {} : { conn: name, session: session ?? 0 }) }, d.say);
    if (answer === undefined || nth !== this.asked) {
      return;
    }
    const text = answer.text ?? "";
    this.made.value = { ...answer, text };
    this.script.value = text;
    this.busy.value = false;
    d.say(answer.note ?? "", false);
    const [first] = answer.conns;
    if (this.conns.value.length === 0 && first !== undefined) {
      this.conns.value = answer.conns;
      this.choice.value = { ...this.choice.value, conn: JSON.stringify([first.conn, first.session ?? 0]), to: answer.conn.slice(answer.conn.lastIndexOf("-") + 1) };
    }
  }

  async begin(): Promise<void> {
    const { conn, play, to, listen, speed, tolerance, going } = this.choice.value;
    const { of, d } = this.page;
    const [name, session] = JSON.parse(conn) as [string, number];
    this.busy.value = true;
    const run = await ask("POST captures/{id}/replay", of, {
      conn: name, session, speed: Number(speed), keep_going: going,
      ...(play === "client" ? { to: to.trim() } : { listen: listen.trim() }),
      ...(tolerance === "" ? {} : { tolerance }), ...(this.script.value === this.made.value?.text ? {} : { script: this.script.value }),
    }, d.say);
    this.busy.value = false;
    if (run !== undefined) {
      d.say("");
      this.page.run.value = run.id;
    }
  }
}

function StartForm({ start }: { start: Start }) {
  const { page } = start;
  const { conn, play, to, listen, speed, tolerance, going } = start.choice.value;
  const made = start.made.value;
  return (
    <div class="form">
      <Field label="Connection">
        <Select value={conn} change={(value) => start.set({ conn: value })}
          options={start.conns.value.map((c) => [JSON.stringify([c.conn, c.session ?? 0]), `${c.conn}${c.session === undefined ? "" : ` (${c.session + 1}.)`}: ${c.to_server} to the server, ${c.to_client} to the client`])} />
      </Field>
      <div class="row">
        <Field label="Play"><Select value={play} change={(value) => start.set({ play: value === "server" ? "server" : "client" })} options={[["client", "the client, to a server"], ["server", "the server, for a client"]]} /></Field>
        <Field label="Server" hidden={play !== "client"}><input placeholder="host:port" spellcheck={false} value={to} onInput={(event) => start.set({ to: event.currentTarget.value })} /></Field>
        <Field label="Listen on" hidden={play === "client"}><input spellcheck={false} value={listen} onInput={(event) => start.set({ listen: event.currentTarget.value })} /></Field>
      </div>
      <div class="row">
        <Field label="Speed"><Select value={speed} change={(value) => start.set({ speed: value })} options={[["0", "as recorded"], ["2", "2 times"], ["10", "10 times"], ["1000", "1000 times"]]} /></Field>
        <Field label="Differences that count"><Select value={tolerance} change={(value) => start.set({ tolerance: value as Tolerance | "" })} options={[["", "as in the script"], ["fields", "values of fields"], ["shape", "missing or extra fields"], ["exact", "any byte"]]} /></Field>
      </div>
      <label class="check"><input type="checkbox" checked={going} onChange={(event) => start.set({ going: event.currentTarget.checked })} /> continue when an expected message does not arrive</label>
      <details class="replay-script">
        <summary>{made === undefined ? "Script" : `Script: ${counted(made.steps, "step")}, ${counted(made.lifts.length, "value")} taken from received messages`}</summary>
        {made?.lifts.slice(0, 100).map((l) => <p class="hint">${l.name}: from {l.from} into {l.to.join(", ")}: {l.why}</p>)}
        <textarea rows={14} spellcheck={false} aria-label="Script" value={start.script.value} onInput={(event) => { start.script.value = event.currentTarget.value; }} />
      </details>
      <div class="row">
        <Button text="Start" primary disabled={start.busy.value} run={() => void start.begin()} />
        <Button text="Save script" title="JSON, also for the command “wirebench replay”" run={() => save(start.script.value, `${page.name}.replay.json`)} />
        <Button text="Close" run={page.d.close} />
      </div>
    </div>
  );
}

const good = (r: Result): boolean => r.status === "ok" || r.status === "absent";

/** The listed results: the first ones, then only those with differences. */
function listed(results: readonly Result[]): Result[] {
  let wrong = 0;
  let shown = 0;
  return results.filter((r) => {
    const is = good(r) ? shown < mostShown : wrong++ < mostWrong;
    shown += is ? 1 : 0;
    return is;
  });
}

function wrongText(run: Run): string {
  return [run.different > 0 ? `${run.different} different` : "", run.missing > 0 ? `${run.missing} missing` : "", run.failed > 0 ? `${run.failed} not sent` : ""].filter((t) => t !== "").join(", ");
}

function stateText(run: Run): string {
  const wrong = wrongText(run);
  const { report } = run;
  if (!run.done) {
    const doing: Readonly<Record<string, string>> = { connecting: `connecting to ${run.to ?? "the client"}`, listening: `waiting for a client at ${run.listen ?? ""}` };
    return `${doing[run.state] ?? `${run.total} of ${run.steps} messages`}${wrong === "" ? "" : `: ${wrong}`}`;
  }
  if (report === undefined) {
    return `✕ ${run.error ?? "ended"}`;
  }
  return report.ok ? `✓ as recorded: ${report.sent} sent, ${report.matched} received as expected, in ${report.took}` : `✕ not as recorded: ${[wrong, report.stopped ?? ""].filter((t) => t !== "").join("; ")}`;
}

/** More facts about a completed run. */
function factsOf(run: Run, unlisted: number): string[] {
  const { report } = run;
  return report === undefined ? [] : [
    report.unexpected > 0 ? `${report.unexpected} not expected: ${(report.extra ?? []).slice(0, 10).map((x) => x.message).join(", ")}` : "",
    report.ignored > 0 ? `${report.ignored} ignored` : "",
    report.keepalive > 0 ? `${report.keepalive} keepalives sent${report.answered > 0 ? `, ${report.answered} of them as responses` : ""}` : "",
    ...(report.notes ?? []), run.note ?? "",
    (run.left_out ?? 0) > 0 ? `${run.left_out ?? 0} results were discarded` : "",
    unlisted > 0 ? `${unlisted} more steps are in the report` : "",
  ].filter((text) => text !== "");
}

/** A run and its steps, updated live. */
function Steps({ page }: { page: Page }) {
  const at: At = { project: page.workspace, id: page.run.value };
  const { run, results, away } = watched(page, at);
  const now = run.value;
  const list = listed(results.value);
  const over = now?.done === true;
  useLayoutEffect(() => page.d.box.querySelector<HTMLElement>(".replay-act")?.focus(), [over]);
  return (
    <div class="form">
      <p class={now?.report === undefined || !over ? "" : now.report.ok ? "ok" : "err"} role="status">{now === undefined ? "" : stateText(now)}</p>
      {over ? null : <progress aria-label="Steps" max={Math.max(now?.steps ?? 1, 1)} value={now?.total ?? 0} />}
      <div class="row">
        {over ? null : <Button text="Stop" kind="replay-act" run={() => void ask("DELETE replays/{id}", at, undefined, page.d.say)} />}
        {over || away.value ? <Button text="Replay again …" kind="replay-act" run={() => { page.run.value = ""; }} /> : null}
        {(now?.recording ?? "") === "" ? null : <a class="btn" href={pathOf(page.workspace, "captures", now?.recording ?? "")}>What was sent and received</a>}
        {over ? <Button text="Save report" run={() => save(JSON.stringify({ ...now, results: results.value }, null, 2), `${page.name}.report.json`)} /> : null}
        <Button text="Close" title="The replay continues without this dialog" run={page.d.close} />
      </div>
      {over ? factsOf(now, results.value.length - list.length).map((text) => <p class="hint">{text}</p>) : null}
      <div class="replay-steps">{list.map((r, i) => <Step key={i} r={r} play={now?.play ?? ""} />)}</div>
    </div>
  );
}

const watching = new WeakMap<Page["d"], { id: string; state: Watched }>();

interface Watched {
  run: ReadonlySignal<Run | undefined>;
  results: ReadonlySignal<readonly Result[]>;
  away: ReadonlySignal<boolean>; // the run or the server is gone; the last state stays
}

/** Follows a run until it is over or the dialog is closed. */
function watched({ d }: Page, at: At): Watched {
  const known = watching.get(d);
  if (known?.id === at.id) {
    return known.state;
  }
  const run = signal<Run | undefined>(undefined);
  const results = signal<readonly Result[]>([]);
  const away = signal(false);
  let looking = false;
  let more = false; // a change arrived during a request
  const look = async (): Promise<void> => {
    more = looking;
    if (looking) {
      return;
    }
    looking = true;
    do {
      more = false;
      const now = await ask("GET replays/{id}", { ...at, from: results.value.length, count: atOnce }, undefined, d.say);
      away.value = now === undefined;
      if (!d.box.open || now === undefined) {
        break;
      }
      results.value = [...results.value, ...now.results];
      const rest = results.value.length < now.total - (now.left_out ?? 0);
      more ||= rest;
      if (!now.done || !rest) {
        run.value = now;
      }
      if (now.done && !rest) {
        stop();
      }
    } while (more as boolean);
    looking = false;
  };
  const stop = onChanged(`replay:${at.id}`, () => void look());
  void d.closed.then(stop);
  const state = { run, results, away };
  watching.set(d, { id: at.id, state });
  void look();
  return state;
}

function Step({ r, play }: { r: Result; play: string }) {
  const dir = (r.kind === "send") === (play !== "server") ? "c2s" : "s2c";
  const lifted = Object.entries(r.lifted ?? {}).map(([name, value]) => `$${name} = ${value}`);
  const diffs = (r.differences ?? []).map((x) => `${x.path === "" ? "the message" : x.path}: expected ${x.expected}, got ${x.got}`);
  if ((r.more ?? 0) > 0) {
    diffs.push(`and ${r.more ?? 0} more`);
  }
  return (
    <>
      <div class="held-row" data-status={r.status}>
        <span class="held-age">{r.step}</span>
        <span class={`held-dir ${dir}`}>{arrow(dir)}</span>
        <span class="held-name">{r.message ?? ""}</span>
        <span class="held-what">{[r.error ?? "", ...lifted].filter((t) => t !== "").join(", ")}</span>
        <span class="held-age">{r.at}</span>
        <span class={good(r) ? "ok" : "err"}>{r.status === "ok" ? "✓ ok" : good(r) ? r.status : `✕ ${r.status}`}</span>
      </div>
      {diffs.length === 0 ? null : <pre class="held-before">{diffs.join("\n")}</pre>}
    </>
  );
}
