// The listeners of the proxy: started over the API, followed by what the server pushes.

import { pathOf } from "./address";
import type { RelayInfo } from "./api";
import { onListeners } from "./changes";
import type { MarkerSource, Related } from "./frames/drawer";
import type { Marker } from "./frames/protocol";
import { apiOf, ask, request } from "./http";
import { announce, notify } from "./notify";
import { lookOnly } from "./role";

/** A session of the proxy, as in GET /api/v1/projects/{project}/proxies. */
export type Session = RelayInfo;

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

/** The listeners of a workspace, as the server pushes them. */
export class Relays {
  readonly api: string;
  private readonly workspace: string;
  private readonly watchers = new Set<(all: Session[]) => void>();
  private readonly awayWatchers = new Set<(since: Date) => void>();
  private lostSince: Date | undefined;
  private last: Session[] | undefined;

  constructor(workspace: string) {
    this.workspace = workspace;
    this.api = `${apiOf(workspace)}/proxies`;
    onListeners((all) => {
      if (all === undefined) {
        const since = (this.lostSince ??= new Date());
        this.awayWatchers.forEach((call) => call(since));
        return;
      }
      this.lostSince = undefined;
      this.last = all.proxies;
      this.watchers.forEach((call) => call(all.proxies));
    });
  }

  /** Starts a listener in a project and opens its page. */
  start(what: { listen: string; upstream: string; operate: boolean; settings?: object; keys?: string; idle?: string; per_address?: number; connections?: number }, project = this.workspace): Promise<void> {
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

  /** Calls back with the running sessions, now and after each change. */
  watch(call: (all: Session[]) => void): void {
    this.watchers.add(call);
    if (this.last !== undefined) {
      call(this.last);
    }
  }

  /** Calls back when the server is away, and after each failure to reach it; `watch` is called again when it has returned. */
  watchAway(call: (since: Date) => void): void {
    this.awayWatchers.add(call);
    if (this.lostSince !== undefined) {
      call(this.lostSince);
    }
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
