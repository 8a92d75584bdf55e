// The listeners of the proxy: started over the API, followed by what the server pushes.

import { pathOf } from "./address";
import type { RelayInfo } from "../api/api";
import { onListeners } from "./changes";
import type { FrameName, Marker, Noted } from "../api/frames";
import { ask, type At, request } from "./http";
import { announce, notify } from "./notify";
import { lookOnly } from "./role";

/** A session of the proxy. */
export type Session = RelayInfo;

/** What sets and changes the markers of a capture. */
export function markersOf(at: At) {
  const of = (m: Marker): At & { at: string } => ({ ...at, at: m.at });
  const called = (m: Marker): string => (m.text === "" ? "marker" : m.text);
  return {
    may: !lookOnly("commenter"),
    forget: async (x: Noted): Promise<void> => {
      const name = x.id ?? String(x.n ?? 0);
      await ask("PATCH captures/{id}", at, { unmark: [name], notes: { [name]: null } });
    },
    related: async (n: FrameName, value: string, signal: AbortSignal) => {
      const reply = await request("GET captures/{id}/related", { ...at, n, value: value === "" ? undefined : value }, { signal });
      if (!reply.ok) {
        throw new Error(reply.why);
      }
      return reply.answer;
    },
    add: async (n: number, text: string, id?: string): Promise<boolean> => {
      const done = (await ask("POST captures/{id}/markers", at, { ...(id === undefined ? { n } : { id }), text })) !== undefined;
      if (done) {
        announce(`Marker before frame ${n}`);
      }
      return done;
    },
    rename: async (m: Marker, text: string): Promise<boolean> => {
      const now = await ask("PATCH captures/{id}/markers/{at}", of(m), { text });
      if (now === undefined) {
        return false;
      }
      notify(`The marker is “${called(now)}”`, "ok", { title: "Undo", run: () => void ask("PATCH captures/{id}/markers/{at}", of(m), { text: m.text, value: m.value ?? "" }) });
      return true;
    },
    remove: async (m: Marker): Promise<boolean> => {
      if ((await ask("DELETE captures/{id}/markers/{at}", of(m))) === undefined) {
        return false;
      }
      const { id, n, text, value = "" } = m;
      notify(`The marker “${called(m)}” is deleted`, "ok", { title: "Undo", run: () => void ask("POST captures/{id}/markers", at, { ...(id === undefined ? { n } : { id }), at: m.at, text, value }) });
      return true;
    },
  };
}

/** The listeners of a workspace, as the server pushes them. */
export class Relays {
  readonly workspace: string;
  private readonly watchers = new Set<(all: Session[]) => void>();
  private readonly awayWatchers = new Set<(since: Date) => void>();
  private lostSince: Date | undefined;
  private last: Session[] | undefined;

  constructor(workspace: string) {
    this.workspace = workspace;
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
  start(what: { listen: string; upstream: string; operate: boolean; settings?: Record<string, unknown>; keys?: string; idle?: string; per_address?: number; connections?: number }, project = this.workspace): Promise<void> {
    return this.begin(ask("POST proxies", { project }, what), project);
  }

  /** Starts the listener again that recorded a capture, and opens its page. */
  again(capture: string): Promise<void> {
    return this.begin(ask("POST proxies", { project: this.workspace }, { again: capture }));
  }

  /** Starts the demo game with a listener, and opens its page. */
  startDemo(): Promise<void> {
    return this.begin(ask("POST demo", { project: this.workspace }));
  }

  private async begin(starting: Promise<{ id: string } | undefined>, project = this.workspace): Promise<void> {
    const session = await starting;
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
