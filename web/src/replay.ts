// A recorded conversation again, from the page: what is played with whom, and step by step what came of it.
//
//   dialog.operate > form > .field, .row, details > .replay-lifts, textarea
//                         > progress, .replay-steps > .held-row, .held-before

import { onChanged } from "./changes";
import { arrow, dialog, field, select } from "./dialog";
import { button, make } from "./dom";
import { counted } from "./frames/text";
import { ask } from "./relays";

interface Conn {
  conn: string;
  session?: number;
  to_server: number;
  to_client: number;
}

/** What POST .../script answers. */
interface Made {
  conns: Conn[];
  conn: string;
  session?: number;
  note?: string;
  steps: number;
  lifts: { name: string; from: string; to: string[]; why: string }[];
  text: string; // a text, since JavaScript would round the large numbers in it
}

/** A run, as GET /api/{ws}/replays/{id} has it. */
interface Run {
  id: string;
  capture: string;
  play: string;
  to?: string;
  listen?: string;
  state: string;
  done: boolean;
  error?: string;
  steps: number;
  total: number;
  left_out?: number;
  different: number;
  missing: number;
  failed: number;
  note?: string;
  report?: { ok: boolean; took: string; sent: number; received: number; matched: number; unexpected: number; ignored: number; keepalive: number; answered: number; stopped?: string; notes?: string[]; extra?: { message: string; bytes: number; at: string }[] };
  results: Result[];
}

interface Result {
  step: string;
  kind: string;
  status: string;
  message?: string;
  at: string;
  lifted?: Record<string, string>;
  differences?: { path: string; expected: string; got: string }[];
  more?: number;
  error?: string;
}

const atOnce = 500; // results asked for at once
const mostShown = 2000; // steps in the list; of those behind them only what went wrong
const mostWrong = 4000;

/** Opens the dialog about replays of a capture: the run that is under way, or what to start. */
export async function replayDialog(workspace: string, capture: string, name: string): Promise<void> {
  const api = `/api/${encodeURIComponent(workspace)}`;
  const all = await ask<{ replays: Run[] }>(`${api}/replays`);
  if (all === undefined) {
    return;
  }
  const { box, form, says, say } = dialog(`Replay ${name}`);
  const parts = { form: make("div", "form"), run: make("div", "form") };
  form.append(parts.form, parts.run, says);
  const page = { box, api, of: `${api}/captures/${encodeURIComponent(capture)}`, name, say };
  const running = all.replays.find((r) => r.capture === capture && !r.done);
  const show = (id: string): void => {
    parts.form.hidden = true;
    showRun(page, parts.run, id, () => {
      parts.run.replaceChildren();
      parts.form.hidden = false;
      if (parts.form.childElementCount === 0) {
        void showStart(page, parts.form, show);
      }
    });
  };
  if (running !== undefined) {
    show(running.id);
    return;
  }
  await showStart(page, parts.form, show);
}

interface Page {
  box: HTMLDialogElement;
  api: string;
  of: string; // address of the capture
  name: string;
  say: (text: string, wrong?: boolean) => void;
}

function input(value: string, hint = ""): HTMLInputElement {
  const element = make("input");
  element.value = value;
  element.placeholder = hint;
  element.spellcheck = false;
  return element;
}

function row(...inside: Node[]): HTMLElement {
  const element = make("div", "row");
  element.append(...inside);
  return element;
}

/** Keeps a text as a file. */
function save(text: string, name: string): void {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** What is asked for: the connection, whom it is played with, and how. */
async function showStart(page: Page, host: HTMLElement, show: (id: string) => void): Promise<void> {
  const { say } = page;
  let made: Made | undefined;
  let text = ""; // the script as it was made
  let asked = 0; // scripts
  const conn = select([]);
  const play = select([["client", "the client, to a server"], ["server", "the server, for a client"]]);
  const to = input("", "host:port");
  const listen = input("127.0.0.1:0");
  const speed = select([["0", "as it was"], ["2", "twice as fast"], ["10", "10 times as fast"], ["1000", "hardly waiting"]]);
  const tolerance = select([["", "as the script says"], ["fields", "another value of a field"], ["shape", "other fields"], ["exact", "any other byte"]]);
  const going = make("input");
  going.type = "checkbox";
  const check = make("label", "check");
  check.append(going, " go on when an expected message does not come");
  const script = make("textarea");
  script.rows = 14;
  script.spellcheck = false;
  script.setAttribute("aria-label", "Script");
  const summary = make("summary");
  const lifts = make("div");
  const details = make("details", "replay-script");
  details.append(summary, lifts, script);
  const toField = field("Server", to);
  const listenField = field("Listen at", listen);
  const start = button("Start", () => void begin(), "", "btn primary");

  const draw = (): void => {
    toField.hidden = play.value !== "client";
    listenField.hidden = play.value === "client";
  };
  // The script of the chosen connection; what was written into the one before is gone.
  const load = async (): Promise<void> => {
    start.disabled = true;
    const nth = ++asked;
    const [name, session] = conn.value === "" ? [] : (JSON.parse(conn.value) as [string, number]);
    const answer = await ask<Made>(`${page.of}/script`, "POST", { as_text: true, play: play.value, ...(name === undefined ? {} : { conn: name, session }) }, say);
    if (answer === undefined || nth !== asked) {
      return;
    }
    made = answer;
    start.disabled = false;
    script.value = answer.text;
    text = script.value;
    summary.textContent = `Script: ${counted(answer.steps, "step")}, ${counted(answer.lifts.length, "value")} taken from what comes`;
    lifts.replaceChildren(...answer.lifts.slice(0, 100).map((l) => make("p", "hint", `$${l.name}: from ${l.from} into ${l.to.join(", ")}: ${l.why}`)));
    say(answer.note ?? "", false);
    if (conn.options.length === 0) {
      conn.append(...answer.conns.map((c) => new Option(`${c.conn}${c.session === undefined ? "" : ` (${c.session + 1}.)`}: ${c.to_server} to the server, ${c.to_client} to the client`, JSON.stringify([c.conn, c.session ?? 0]))));
      to.value = answer.conn.slice(answer.conn.lastIndexOf("-") + 1);
    }
  };
  const begin = async (): Promise<void> => {
    if (made === undefined) {
      return;
    }
    const [name, session] = JSON.parse(conn.value) as [string, number];
    start.disabled = true;
    const run = await ask<{ id: string }>(`${page.of}/replay`, "POST", {
      conn: name, session, speed: Number(speed.value), keep_going: going.checked,
      ...(play.value === "client" ? { to: to.value.trim() } : { listen: listen.value.trim() }),
      ...(tolerance.value === "" ? {} : { tolerance: tolerance.value }), ...(script.value === text ? {} : { script: script.value }),
    }, say);
    start.disabled = false;
    if (run !== undefined) {
      say("");
      show(run.id);
    }
  };
  play.addEventListener("change", () => {
    draw();
    void load();
  });
  conn.addEventListener("change", () => void load());
  draw();
  host.append(
    field("Connection", conn), row(field("Play", play), toField, listenField), row(field("Speed", speed), field("A difference is", tolerance)), check, details,
    row(start, button("Save script", () => save(script.value, `${page.name}.replay.json`), "JSON, also for the command “wirebench replay”"), button("Close", () => page.box.close())),
  );
  await load();
}

/** A run and its steps, as they come. */
function showRun(page: Page, host: HTMLElement, id: string, again: () => void): void {
  const address = `${page.api}/replays/${encodeURIComponent(id)}`;
  const state = make("p", "replay-state");
  state.setAttribute("role", "status");
  const bar = make("progress");
  bar.setAttribute("aria-label", "Steps");
  const list = make("div", "replay-steps");
  const results: Result[] = []; // for the file
  let shown = 0;
  let wrong = 0;
  let run: Run | undefined;
  const stop = button("Stop", () => void ask(address, "DELETE", undefined, page.say));
  const saveAll = button("Save report", () => save(JSON.stringify({ ...run, results }, null, 2), `${page.name}.report.json`));
  const back = button("Replay again …", again);
  back.hidden = saveAll.hidden = true;
  host.replaceChildren(state, bar, row(stop, back, saveAll, button("Close", () => page.box.close(), "A run goes on without this dialog")), list);

  const add = (result: Result): void => {
    results.push(result);
    const bad = result.status !== "ok" && result.status !== "absent";
    if (bad ? wrong >= mostWrong : shown >= mostShown) {
      return;
    }
    shown++;
    wrong += bad ? 1 : 0;
    const dir = (result.kind === "send") === (run?.play !== "server") ? "c2s" : "s2c";
    const lifted = Object.entries(result.lifted ?? {}).map(([name, value]) => `$${name} = ${value}`);
    const line = make("div", "held-row");
    line.dataset["status"] = result.status;
    line.append(
      make("span", "held-age", result.step), make("span", `held-dir ${dir}`, arrow(dir)), make("span", "held-name", result.message ?? ""),
      make("span", "held-what", [result.error ?? "", ...lifted].filter((t) => t !== "").join(", ")), make("span", "held-age", result.at),
      make("span", bad ? "err" : "ok", result.status === "ok" ? "✓ ok" : bad ? `✕ ${result.status}` : result.status),
    );
    list.append(line);
    const diffs = (result.differences ?? []).map((d) => `${d.path === "" ? "the message" : d.path}: expected ${d.expected}, got ${d.got}`);
    if ((result.more ?? 0) > 0) {
      diffs.push(`and ${result.more ?? 0} more`);
    }
    if (diffs.length > 0) {
      list.append(make("pre", "held-before", diffs.join("\n")));
    }
  };
  const draw = (now: Run): void => {
    const bad = [now.different > 0 ? `${now.different} different` : "", now.missing > 0 ? `${now.missing} missing` : "", now.failed > 0 ? `${now.failed} not sent` : ""].filter((t) => t !== "").join(", ");
    const { report } = now;
    bar.max = Math.max(now.steps, 1);
    bar.value = now.total;
    bar.hidden = now.done;
    if (!now.done) {
      const doing: Record<string, string> = { connecting: `connecting to ${now.to ?? "the client"}`, listening: `waiting for a client at ${now.listen ?? ""}` };
      state.textContent = `${doing[now.state] ?? `${now.total} of ${now.steps} messages`}${bad === "" ? "" : `: ${bad}`}`;
      return;
    }
    state.classList.toggle("err", report?.ok !== true);
    state.classList.toggle("ok", report?.ok === true);
    state.textContent = report === undefined ? `✕ ${now.error ?? "it has ended"}` : report.ok ? `✓ as recorded: ${report.sent} sent, ${report.matched} came as expected, in ${report.took}` :
      `✕ not as recorded: ${[bad, report.stopped ?? ""].filter((t) => t !== "").join("; ")}`;
    const facts = report === undefined ? [] : [
      ...(report.unexpected > 0 ? [`${report.unexpected} came that nothing expected: ${(report.extra ?? []).slice(0, 10).map((x) => x.message).join(", ")}`] : []),
      ...(report.ignored > 0 ? [`${report.ignored} ignored`] : []), ...(report.keepalive > 0 ? [`${report.keepalive} keepalives sent${report.answered > 0 ? `, ${report.answered} of them as answers` : ""}`] : []),
      ...(report.notes ?? []), ...(now.note === undefined ? [] : [now.note]), ...((now.left_out ?? 0) > 0 ? [`${now.left_out ?? 0} results are not kept`] : []),
      ...(results.length > shown ? [`${results.length - shown} more steps are in the report`] : []),
    ];
    list.before(...facts.map((text) => make("p", "hint", text)));
    stop.hidden = true;
    back.hidden = saveAll.hidden = false;
    back.focus();
  };
  let looking = false;
  let more = false; // something happened while it was looking
  const look = async (): Promise<void> => {
    if (looking) {
      more = true;
      return;
    }
    looking = true;
    do {
      more = false;
      await lookOnce();
    } while (more);
    looking = false;
  };
  const lookOnce = async (): Promise<void> => {
    const now = await ask<Run>(`${address}?from=${results.length}&count=${atOnce}`, "GET", undefined, page.say);
    if (!page.box.open || !host.contains(list)) {
      stopListening();
      return;
    }
    if (now === undefined) {
      back.hidden = false; // it is not known here any more, or the server is away: what was shown stays
      return;
    }
    run = now;
    now.results.forEach(add);
    const rest = results.length < now.total - (now.left_out ?? 0);
    more ||= rest;
    if (now.done && !rest) {
      stopListening();
    }
    if (!now.done || !rest) {
      draw(now);
    }
  };
  const stopListening = onChanged(`replay:${decodeURIComponent(address.slice(address.lastIndexOf("/") + 1))}`, () => void look());
  stop.focus();
  void look();
}
