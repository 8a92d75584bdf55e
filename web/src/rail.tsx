// The running listeners and the captures in the rail, from the API's lists.
//
//   #rail-lists[data-relays][data-demo][data-captures]    their place, with attributes for the available lists

import { pathOf } from "./address";
import { lookAtCaptures, onLookAtCaptures, tellDeleted } from "./captures";
import type { CaptureList as Captures, StoreCapture } from "./api";
import { onChanged } from "./changes";
import { confirmDialog } from "./dialog";
import { dialogs } from "./dialogs";
import type { Decoding } from "./dialogs/settings";
import { askText } from "./frames/notebox";
import { bytes, counted } from "./frames/text";
import { openMenu } from "./menu";
import { notify } from "./notify";
import { apiOf, ask, request } from "./http";
import { openRelays, type Relays, type Session } from "./relays";
import { remembered } from "./remember";
import { lookOnly, operatorsItem } from "./role";
import { computed, Fragment, h, render, signal, useLayoutEffect, useRef } from "./ui";

const mostName = 200; // maximum length, as on the server
const mostListed = 50; // maximum number of captures
const accepted = ".pcap,.pcapng,.cap,.gz,.log,.txt,.bin,.pkt,.msb,.yaml,.json,.jsonl,.csv,.tsv,.xml,.pdml,.har,.flow,.zip,.tar,.tgz,.mcpr";

/** A capture, as in GET /api/v1/{ws}/captures. */
type Listed = Omit<StoreCapture, "notes">;

const captures = signal<readonly Listed[] | undefined>(undefined); // newest first
const sessions = signal<readonly Session[]>([]);
const away = signal(false); // the state of listeners is unknown

/** Sizes of recordings, which grow during sessions. */
const recorded = computed(() => new Map(sessions.value.map((s) => [s.id, s.record.files?.[0]?.bytes ?? s.record.bytes])));

function pageOf(workspace: string, id: string): string {
  return pathOf(workspace, "captures", id);
}

function here(page: string): "page" | undefined {
  return location.pathname === new URL(page, location.href).pathname ? "page" : undefined;
}

// 1. Listeners.

/** How the traffic of the next listener is decoded; undefined: as the project does. */
const decoding = signal<Decoding | undefined>(undefined);

/** What is chosen for the next listener, in a line. */
function decodingText({ project, title, settings, keys }: Decoding, workspace: string): string {
  const { map, ...more } = settings;
  return [project === workspace ? "" : title, typeof map === "string" ? map : "", ...Object.entries(more).map(([name, value]) => (typeof value === "string" ? `${name} ${value}` : name)), keys === "" ? "" : "keys"].filter((part) => part !== "").join(" · ");
}

function Live({ workspace, relays, demo }: { workspace: string; relays: Relays; demo: boolean }) {
  const start = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const { project = workspace, settings = {}, keys = "" } = decoding.value ?? {};
    void relays.start({ listen: String(data.get("listen")).trim(), upstream: String(data.get("upstream")).trim(), operate: data.get("operate") !== null, settings, ...(keys === "" ? {} : { keys }) }, project);
  };
  const play = (event: SubmitEvent): void => {
    event.preventDefault();
    void relays.startDemo();
  };
  return (
    <details class="captures" data-remember="live" id="live" open={remembered("live")}>
      <summary><h2>Live <small id="live-count">{sessions.value.length === 0 ? "" : sessions.value.length}</small></h2></summary>
      <ul class="items" id="live-list" aria-label="Running listeners">
        {sessions.value.map((s) => {
          const page = pageOf(workspace, s.id);
          return (
            <li class={`item${here(page) === undefined ? "" : " current"}`} key={s.id}>
              <a href={page} title={s.pairs.map((p) => `${p.listen} → ${p.upstream}`).join(", ")} aria-current={here(page)}>
                <i class={away.value ? "dot" : "dot ok"} />
                <span class="name">{s.name}</span>
              </a>
            </li>
          );
        })}
      </ul>
      {lookOnly() ? null : (
        <>
          <form class="form" id="live-start" onSubmit={start}>
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
              <button class="btn" type="submit">Start</button>
              <button class="btn quiet" type="button" aria-haspopup="dialog" title="Protocol, code map, game version, groups, keys: where they differ from those of the project"
                onClick={() => void dialogs().then((d) => d?.decodingDialog(workspace, decoding.value)).then((chosen) => chosen !== undefined && (decoding.value = chosen))}>Decode as…</button>
            </div>
            {decoding.value === undefined || decodingText(decoding.value, workspace) === "" ? null : <p class="hint">Decoded as: {decodingText(decoding.value, workspace)}</p>}
            <p class="hint">Point the client at the first address. Traffic is shown and recorded as a capture.</p>
          </form>
          {demo ? (
            <form class="form" id="live-demo" onSubmit={play}>
              <button class="btn quiet" type="submit" title="A small game of this protocol, with a client and a server, on this machine">Watch the demo game</button>
            </form>
          ) : null}
        </>
      )}
    </details>
  );
}

// 2. Captures.

function openCaptureMenu(anchor: HTMLElement, workspace: string, x: Listed): void {
  const address = `${apiOf(workspace)}/captures/${encodeURIComponent(x.id)}`;
  const rename = (name: string): void => {
    if (name !== "" && name !== x.name) {
      void ask(address, "PATCH", { name }).then((done) => done !== undefined && lookAtCaptures());
    }
  };
  const save = (): void => {
    const link = document.createElement("a");
    link.href = address;
    link.download = "";
    link.click();
  };
  const remove = async (): Promise<void> => {
    if (!await confirmDialog(`Delete ${x.name} with its marks and notes? This cannot be undone.`, "Delete") || await ask(address, "DELETE") === undefined) {
      return;
    }
    if (here(pageOf(workspace, x.id)) !== undefined) {
      location.assign(pathOf(workspace, "definitions"));
      return;
    }
    lookAtCaptures();
    notify(`${x.name} is deleted`, "ok");
  };
  openMenu(anchor, {
    label: x.name,
    items: [
      { title: "Rename …", ...operatorsItem(), run: () => askText(anchor, { label: "Name", text: x.name, button: "Rename", most: mostName }, rename) },
      { title: "Decode as …", run: () => void dialogs().then((d) => d?.settingsDialog(workspace, x.id, x.name)) },
      { title: "Replay …", ...operatorsItem(), run: () => void dialogs().then((d) => d?.replayDialog(workspace, x.id, x.name)) },
      { title: "Save its file", run: save },
      { title: "Delete …", ...operatorsItem(), run: () => void remove() },
    ],
  });
}

function Captures({ workspace, shown }: { workspace: string; shown: string | undefined }) {
  const all = captures.value ?? [];
  const listed = all.slice(0, mostListed);
  const list = useRef<HTMLUListElement>(null);
  const focused = useRef(-1); // index of the focused item before drawing
  focused.current = Array.from(list.current?.children ?? []).findIndex((item) => item.contains(document.activeElement));
  useLayoutEffect(() => {
    if (focused.current >= 0 && document.activeElement === document.body) { // the focused item was removed
      list.current?.querySelectorAll("a").item(Math.min(focused.current, listed.length - 1))?.focus();
    }
  });
  return (
    <details class="captures" data-remember="captures" id="captures" open={shown !== undefined || remembered("captures")}>
      <summary><h2>Captures <small>{captures.value === undefined ? "" : all.length}</small></h2></summary>
      <ul class="items" ref={list} aria-label="Captures">
        {listed.map((x) => {
          const page = pageOf(workspace, x.id);
          return (
            <li class={`item${here(page) === undefined ? "" : " current"}`} key={x.id}>
              <a href={page} title={`${x.name}, ${new Date(x.added).toLocaleString()}`} aria-current={here(page)}>
                <span class="name">{x.name}</span>
                <small>{bytes(recorded.value.get(x.id) ?? x.size)}</small>
              </a>
              <button type="button" class="btn quiet" data-capture-menu={x.id} aria-label={`More about ${x.name}`} title="Rename, decode as, replay, save, delete"
                onClick={(event) => openCaptureMenu(event.currentTarget, workspace, x)}>⋯</button>
            </li>
          );
        })}
      </ul>
      {captures.value !== undefined && all.length === 0 ? <p class="empty" data-none>No captures yet. Drop a pcap, a pcapng or the log of a proxy on this page.</p> : null}
      {all.length > listed.length ? <p class="empty" data-more>{counted(all.length - listed.length, "capture")} more; GET /api/…/captures lists all.</p> : null}
      {lookOnly() ? null : (
        <div class="form">
          <label class="btn file-btn">Open a capture…<input class="sr-only" type="file" name="files" multiple accept={accepted} data-upload /></label>
        </div>
      )}
    </details>
  );
}

/** Keeps the list up to date: other pages, listeners and programs also create, rename and delete captures. */
class CaptureList {
  private readonly api: string;
  private readonly shown: string | undefined;
  private tag = ""; // of the shown list
  private looking = false;
  private again = false; // a change arrived during a request

  constructor(workspace: string, shown: string | undefined) {
    this.api = `${apiOf(workspace)}/captures`;
    this.shown = shown;
    document.addEventListener("visibilitychange", () => void this.look());
    onLookAtCaptures(() => void this.look());
    onChanged("captures", () => void this.look());
    void this.look();
  }

  private async look(): Promise<void> {
    this.again = this.looking;
    if (document.visibilityState !== "visible" || this.looking) {
      return;
    }
    this.looking = true;
    do {
      this.again = false;
      const reply = await request<Captures>(`${this.api}?${new URLSearchParams({ brief: "true", known: this.tag }).toString()}`);
      if (reply.ok) {
        this.took(reply.answer);
      } // The page itself reports that the server is away.
    } while (this.again as boolean);
    this.looking = false;
  }

  private took(answer: Captures): void {
    if (answer.same === true) {
      return;
    }
    this.tag = answer.tag ?? "";
    captures.value = answer.captures;
    if (this.shown !== undefined && !answer.captures.some((x) => x.id === this.shown)) {
      void this.check(this.shown);
    }
  }

  /** Checks whether a capture exists: the list may be some seconds old, and the capture new. */
  private async check(id: string): Promise<void> {
    const reply = await request<Captures>(`${this.api}?${new URLSearchParams({ since: id }).toString()}`);
    if (reply.ok && !reply.answer.captures.some((x) => x.id === id)) {
      tellDeleted(id);
    } // After a failure the next change of the list repeats it.
  }
}

/** Draws the lists in the rail, if the page has them. */
export function startRail(): void {
  const host = document.getElementById("rail-lists");
  const main = document.getElementById("main");
  if (host === null) {
    return;
  }
  const workspace = main?.dataset["workspace"] ?? "";
  const shown = main?.dataset["capture"];
  const relays = openRelays();
  relays?.watch((all) => {
    away.value = false;
    sessions.value = all;
  });
  relays?.watchAway(() => {
    away.value = true;
  });
  new CaptureList(workspace, shown);
  render(
    <>
      {relays === undefined ? null : <Live workspace={workspace} relays={relays} demo={"demo" in host.dataset} />}
      <Captures workspace={workspace} shown={shown} />
    </>,
    host,
  );
}
