// The listeners of a project, and their place.

import { pathOf } from "../address";
import { dialogs } from "../dialogs";
import type { Decoding } from "../dialogs/settings";
import { bytes, counted } from "../frames/text";
import type { Relays, Session } from "../relays";
import { lookOnly } from "../role";
import { computed, Fragment, h, signal } from "../ui";
import { Cards } from "./cards";

export const sessions = signal<readonly Session[]>([]);
export const away = signal(false); // the state of listeners is unknown

/** Sizes of recordings, which grow during sessions. */
export const recorded = computed(() => new Map(sessions.value.map((s) => [s.id, s.record.files?.[0]?.bytes ?? s.record.bytes])));

/** How the traffic of the next listener is decoded; undefined: as the project does. */
const decoding = signal<Decoding | undefined>(undefined);

/** What is chosen for the next listener, in a line. */
function decodingText({ project, title, settings, keys }: Decoding, workspace: string): string {
  const { map, ...more } = settings;
  return [project === workspace ? "" : title, typeof map === "string" ? map : "", ...Object.entries(more).map(([name, value]) => (typeof value === "string" ? `${name} ${value}` : name)), keys === "" ? "" : "keys"].filter((part) => part !== "").join(" · ");
}

/** The form of a new listener. */
function Start({ workspace, relays }: { workspace: string; relays: Relays }) {
  const start = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const { project = workspace, settings = {}, keys = "" } = decoding.value ?? {};
    void relays.start({ listen: String(data.get("listen")).trim(), upstream: String(data.get("upstream")).trim(), operate: data.get("operate") !== null, settings, ...(keys === "" ? {} : { keys }) }, project);
  };
  const chosen = decoding.value === undefined ? "" : decodingText(decoding.value, workspace);
  return (
    <form class="form listener-form" id="live-start" aria-labelledby="live-start-title" onSubmit={start}>
      <h2 id="live-start-title">Start a listener</h2>
      <p class="hint">Point the client at the first address. Its traffic is relayed to the server, shown, and recorded as a capture.</p>
      <div class="field">
        <label for="live-listen">Listen on</label>
        <input id="live-listen" name="listen" placeholder="127.0.0.1:7801" autocomplete="off" spellcheck={false} required />
      </div>
      <div class="field">
        <label for="live-upstream">and relay to the server at</label>
        <input id="live-upstream" name="upstream" placeholder="127.0.0.1:7802" autocomplete="off" spellcheck={false} required />
      </div>
      <label class="check" title="Messages can be held, changed and sent from this page"><input type="checkbox" name="operate" value="true" /> allow changes</label>
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

/** The place of live traffic. */
export function LivePlace({ workspace, relays, demo }: { workspace: string; relays: Relays; demo: boolean }) {
  return (
    <>
      <Running workspace={workspace} />
      {lookOnly() ? <p class="dim">No listeners can be started: you may only view.</p> : <Start workspace={workspace} relays={relays} />}
      <Cards workspace={workspace} demo={demo} place="live" />
    </>
  );
}
