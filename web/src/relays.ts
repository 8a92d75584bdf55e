// The listeners of the proxy, from the API.

import { pathOf } from "./address";
import type { ListenerList, RelayInfo } from "./api";
import { onChanged } from "./changes";
import { pauseAfter } from "./connection";
import type { MarkerSource, Related } from "./frames/drawer";
import type { Marker } from "./frames/protocol";
import { apiOf, ask, request } from "./http";
import { announce, notify } from "./notify";
import { lookOnly } from "./role";

/** A session of the proxy, as in GET /api/v1/{ws}/proxies. */
export type Session = RelayInfo;

const patience = 4000; // milliseconds for a response: a hanging server counts as away

/** The markers of a capture. */
export function markersOf(api: string): MarkerSource {
  const of = (m: Marker): string => `${api}/markers/${encodeURIComponent(m.at)}`;
  const called = (m: Marker): string => (m.text === "" ? "marker" : m.text);
  return {
    may: !lookOnly("commenter"),
    forget: async (x) => {
      const name = x.id ?? String(x.n ?? 0);
      await ask(api, "PATCH", { unmark: [name], notes: { [name]: null } });
    },
    related: async (n, value, signal) => {
      const query = new URLSearchParams({ n: String(n), ...(value === "" ? {} : { value }) });
      const reply = await request<Related>(`${api}/related?${query.toString()}`, { signal });
      if (!reply.ok) {
        throw new Error(reply.why);
      }
      return reply.answer;
    },
    add: async (n, text, id) => {
      const done = (await ask(`${api}/markers`, "POST", { ...(id === undefined ? { n } : { id }), text })) !== undefined;
      if (done) {
        announce(`Marker before frame ${n}`);
      }
      return done;
    },
    rename: async (m, text) => {
      const now = await ask<Marker>(of(m), "PATCH", { text });
      if (now === undefined) {
        return false;
      }
      notify(`The marker is “${called(now)}”`, "ok", { title: "Undo", run: () => void ask(of(m), "PATCH", { text: m.text, value: m.value ?? "" }) });
      return true;
    },
    remove: async (m) => {
      if ((await ask(of(m), "DELETE")) === undefined) {
        return false;
      }
      const { id, n, at, text, value = "" } = m;
      notify(`The marker “${called(m)}” is deleted`, "ok", { title: "Undo", run: () => void ask(`${api}/markers`, "POST", { ...(id === undefined ? { n } : { id }), at, text, value }) });
      return true;
    },
  };
}

/** The listeners of a workspace, requested when the server reports a change. */
export class Relays {
  readonly api: string;
  private readonly workspace: string;
  private readonly watchers = new Set<(all: Session[]) => void>();
  private readonly awayWatchers = new Set<(since: Date) => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0; // consecutive
  private failedSince: Date | undefined;
  private last: Session[] | undefined;
  private turn = 0; // of requests: late responses are ignored

  constructor(workspace: string) {
    this.workspace = workspace;
    this.api = `${apiOf(workspace)}/proxies`;
    document.addEventListener("visibilitychange", () => this.look());
    onChanged("listeners", () => this.look());
    this.look();
  }

  /** Starts a listener in a project and opens its page. */
  start(what: { listen: string; upstream: string; operate: boolean; settings?: object; keys?: string }, project = this.workspace): Promise<void> {
    return this.begin(`${apiOf(project)}/proxies`, what, project);
  }

  /** Starts the listener again that recorded a capture, and opens its page. */
  again(capture: string): Promise<void> {
    return this.begin(this.api, { again: capture });
  }

  /** Starts the demo game with a listener, and opens its page. */
  startDemo(): Promise<void> {
    return this.begin(`${apiOf(this.workspace)}/demo`, undefined);
  }

  private async begin(address: string, body: object | undefined, project = this.workspace): Promise<void> {
    const session = await ask<Session>(address, "POST", body);
    if (session !== undefined) {
      location.href = pathOf(project, "captures", session.id);
    }
  }

  page(id: string): string {
    return pathOf(this.workspace, "captures", id);
  }

  /** Calls back with the running sessions after each request. */
  watch(call: (all: Session[]) => void): void {
    this.watchers.add(call);
    if (this.last !== undefined) {
      call(this.last);
    }
  }

  /** Calls back after each failed request; `watch` is called again after the next success. */
  watchAway(call: (since: Date) => void): void {
    this.awayWatchers.add(call);
    if (this.failedSince !== undefined) {
      call(this.failedSince);
    }
  }

  look(): void {
    clearTimeout(this.timer);
    if (document.visibilityState !== "visible") {
      return;
    }
    const turn = ++this.turn;
    void (async () => {
      const reply = await request<ListenerList>(this.api, { signal: AbortSignal.timeout(patience) });
      if (turn !== this.turn) {
        return; // superseded by a later request
      }
      if (!reply.ok) {
        const since = (this.failedSince ??= new Date());
        this.awayWatchers.forEach((call) => call(since));
        this.timer = setTimeout(() => this.look(), pauseAfter(++this.failures)); // the connection also reports the server's return
      } else {
        const all = reply.answer.proxies;
        this.failedSince = undefined;
        this.failures = 0;
        this.last = all;
        this.watchers.forEach((call) => call(all));
      }
    })();
  }
}

/** Starts following the listeners of the workspace, if the page shows them. */
export function startRelays(): void {
  const has = document.querySelector("#main[data-relays]") !== null;
  opened = has ? new Relays(document.getElementById("main")?.dataset["workspace"] ?? "") : undefined;
}

let opened: Relays | undefined;

/** The listeners of the page. */
export function openRelays(): Relays | undefined {
  return opened;
}
