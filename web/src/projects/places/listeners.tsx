// The listeners of a project, and their place.

import { pathOf } from "../../kit/address";
import { dialogs } from "../../kit/dialogs";
import type { Decoding } from "../dialogs/settings";
import { bytes, counted } from "../../kit/frametext";
import type { Relays } from "../../kit/relays";
import { lookOnly } from "../../kit/role";
import { Fragment, h, signal } from "../../kit/ui";
import { Cards } from "./cards";
import { away, captures, recorded, sessions, settingsText } from "./state";

/** How the traffic of the next listener is decoded; undefined: as the project does. */
const decoding = signal<Decoding | undefined>(undefined);

/** What is chosen for the next listener, in a line. */
function decodingText({ project, title, settings, keys }: Decoding, workspace: string): string {
  const { map, ...more } = settings;
  return [project === workspace ? "" : title, typeof map === "string" ? map : "", ...Object.entries(more).map(([name, value]) => (typeof value === "string" ? `${name} ${value}` : name)), keys === "" ? "" : "keys"].filter((part) => part !== "").join(" · ");
}

/** The ports on which listeners are reached from outside, as of a container; undefined if that is not known. */
function publishedPorts(): { first: number; last: number } | undefined {
  const [first = NaN, last = first] = (document.documentElement.dataset["listenerPorts"] ?? "").split("-").map((text) => (text === "" ? NaN : Number(text)));
  return Number.isNaN(first) ? undefined : { first, last };
}

/** The first of these ports that no listener has. */
function freePort({ first, last }: { first: number; last: number }): number {
  const used = new Set(sessions.value.flatMap((s) => s.pairs.map((p) => Number(p.listen.slice(p.listen.lastIndexOf(":") + 1)))));
  for (let port = first; port <= last; port++) {
    if (!used.has(port)) {
      return port;
    }
  }
  return first;
}

/** The limits in a form that differ from those of the server. */
function limitsOf(data: FormData): { idle?: string; per_address?: number; connections?: number } {
  const idle = String(data.get("idle") ?? "").replace(/\s/g, "");
  const most = Number(data.get("per_address") ?? 0);
  const all = Number(data.get("connections") ?? 0);
  return { ...(idle === "" ? {} : { idle }), ...(most > 0 ? { per_address: most } : {}), ...(all > 0 ? { connections: all } : {}) };
}

/** The form of a new listener. */
function Start({ workspace, relays }: { workspace: string; relays: Relays }) {
  const start = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const { project = workspace, settings = {}, keys = "" } = decoding.value ?? {};
    void relays.start({ listen: String(data.get("listen")).trim(), upstream: String(data.get("upstream")).trim(), operate: data.get("operate") !== null, settings, ...limitsOf(data), ...(keys === "" ? {} : { keys }) }, project);
  };
  const chosen = decoding.value === undefined ? "" : decodingText(decoding.value, workspace);
  const ports = publishedPorts();
  return (
    <form class="form listener-form" id="live-start" aria-labelledby="live-start-title" onSubmit={start}>
      <h2 id="live-start-title">Start a listener</h2>
      <p class="hint">Point the client at the first address. Its traffic is relayed to the server, shown, and recorded as a capture.
        {ports === undefined ? null : ` Other machines reach the ports ${ports.first} to ${ports.last} of ${location.hostname}: listen on 0.0.0.0, and point the client at ${location.hostname}.`}</p>
      {document.getElementById("main")?.dataset["noEnvelope"] === undefined ? null : (
        <p class="hint warn">The messages of this project cannot be read from traffic yet: it needs <a href={pathOf(workspace, "definitions", "protocol.envelope")}>an envelope</a> without
          mistakes, which says how messages travel. Write one, or open a capture in which it can be found.</p>
      )}
      <div class="field">
        <label for="live-listen">Listen on</label>
        <input id="live-listen" name="listen" placeholder="127.0.0.1:7801" {...(ports === undefined ? {} : { defaultValue: `0.0.0.0:${freePort(ports)}` })} autocomplete="off" spellcheck={false} required />
      </div>
      <div class="field">
        <label for="live-upstream">and relay to the server at</label>
        <input id="live-upstream" name="upstream" placeholder="127.0.0.1:7802" title="host:port; socks5 (TCP or UDP) or redirect (TCP) if each client says where to" autocomplete="off" spellcheck={false} required />
      </div>
      <label class="check" title="Messages can be held, changed and sent from this page"><input type="checkbox" name="operate" value="true" /> allow changes</label>
      <details id="live-limits">
        <summary>Limits</summary>
        <div class="field">
          <label for="live-idle">End a connection without a byte after</label>
          <input id="live-idle" name="idle" placeholder="2h for TCP, 3m for UDP, unless the server has others" title="a time from 1s to 168h, such as 10m" pattern="[\d.smh\s]+" autocomplete="off" spellcheck={false} />
        </div>
        <div class="field">
          <label for="live-per-address">Connections of one address</label>
          <input id="live-per-address" name="per_address" type="number" min="1" max="65536" placeholder="64, unless the server has another number" />
        </div>
        <div class="field">
          <label for="live-connections">Connections in all</label>
          <input id="live-connections" name="connections" type="number" min="1" max="65536" placeholder="1024, unless the server has another number" title="over UDP, addresses of clients" />
        </div>
      </details>
      <div class="row">
        <button class="btn primary" type="submit">Start</button>
        <button class="btn quiet" type="button" aria-haspopup="dialog" title="Protocol, code map, game version, groups, keys: where they differ from those of the project"
          onClick={() => void dialogs().then((d) => d?.decodingDialog(workspace, decoding.value)).then((chosen) => chosen !== undefined && (decoding.value = chosen))}>Decode as…</button>
      </div>
      <p class="hint" id="live-decoding">{chosen === "" ? "" : `Decoded as: ${chosen}`}</p>
    </form>
  );
}

/** The running listeners. */
function Running({ workspace }: { workspace: string }) {
  if (sessions.value.length === 0) {
    return null;
  }
  return (
    <section aria-labelledby="live-list-title">
      <h2 id="live-list-title">Running</h2>
      <div class="scroll">
        <table class="data place-list" id="live-list" aria-label="Running listeners">
          <thead><tr><th scope="col">Name</th><th scope="col">Listens on</th><th scope="col">Relays to</th><th scope="col">Connections</th><th scope="col" class="num">Recorded</th><th scope="col">Since</th></tr></thead>
          <tbody>
            {sessions.value.map((s) => (
              <tr key={s.id}>
                <td class="name"><i class={away.value ? "dot" : "dot ok"} /> <a href={pathOf(workspace, "captures", s.id)}>{s.name}</a></td>
                <td><code>{s.pairs.map((p) => p.listen).join(", ")}</code></td>
                <td><code>{s.pairs.map((p) => p.upstream).join(", ")}</code></td>
                <td>{counted(s.open, "open", "open")}, {s.total} in all</td>
                <td class="num">{bytes(recorded.value.get(s.id) ?? 0)}</td>
                <td><time dateTime={s.started}>{new Date(s.started).toLocaleString()}</time></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const mostEarlier = 20;

/** Listeners that ran before, from their recordings: the last of each pair of addresses. */
function Earlier({ workspace, relays }: { workspace: string; relays: Relays }) {
  const running = new Set(sessions.value.map(({ id }) => id));
  const seen = new Set(sessions.value.flatMap((s) => s.pairs.map((p) => `${p.listen} ${p.upstream}`)));
  const earlier = (captures.value ?? []).filter(({ id, listener }) => {
    const key = `${listener?.listen ?? ""} ${listener?.upstream ?? ""}`;
    const is = listener !== undefined && !running.has(id) && !seen.has(key);
    seen.add(key);
    return is;
  }).slice(0, mostEarlier);
  if (earlier.length === 0) {
    return null;
  }
  return (
    <section aria-labelledby="live-earlier-title">
      <h2 id="live-earlier-title">Earlier</h2>
      <div class="scroll">
        <table class="data place-list" aria-label="Earlier listeners">
          <thead><tr><th scope="col">Recording</th><th scope="col">Listened on</th><th scope="col">Relayed to</th><th scope="col">With</th><th scope="col"><span class="sr-only">Start again</span></th></tr></thead>
          <tbody>
            {earlier.map((x) => (
              <tr key={x.id}>
                <td class="name"><a href={pathOf(workspace, "captures", x.id)}>{x.name}</a></td>
                <td><code>{x.listener?.listen}</code></td>
                <td><code>{x.listener?.upstream}</code></td>
                <td class="dim">{[x.listener?.operate === true ? "changes allowed" : "", (x.listener?.rules?.length ?? 0) > 0 ? counted(x.listener?.rules?.length ?? 0, "rule") : "", settingsText(x)].filter((text) => text !== "").join(" · ")}</td>
                <td>{lookOnly("operator") ? null : <button type="button" class="btn" aria-label={`Start again: ${x.listener?.listen ?? ""} to ${x.listener?.upstream ?? ""}`} onClick={() => void relays.again(x.id)}>Start again</button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The place of live traffic. */
export function LivePlace({ workspace, relays, demo }: { workspace: string; relays: Relays; demo: boolean }) {
  return (
    <>
      <Running workspace={workspace} />
      <Earlier workspace={workspace} relays={relays} />
      {lookOnly("operator") ? <p class="dim">No listeners can be started: you may only view.</p> : <Start workspace={workspace} relays={relays} />}
      <Cards workspace={workspace} demo={demo} place="live" />
    </>
  );
}
