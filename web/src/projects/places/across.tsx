// One filter over all captures of a project: how many frames of each it finds. Captures are read one after the other, and what was not read is
// said.

import { counted, count } from "../../kit/frametext";
import { request } from "../../kit/http";
import { type ComponentChildren, h, signal, useLayoutEffect, useRef } from "../../kit/ui";
import { type Listed, mostListed, pageOf } from "./list";
import { captures, column, tool } from "./state";
import { lookAtCaptures } from "../captures";

/** What GET .../where answers. */
interface Found {
  fit: number;
  whole: boolean;
  note?: string;
  places?: readonly Place[];
  looked?: number; // matches that places are of
}
interface Place {
  message: string;
  field?: string;
  bytes?: boolean;
  frames: number;
  filter: string;
}

const filter = signal(""); // the one that was started
const found = signal<ReadonlyMap<string, Found | string>>(new Map()); // by capture; a text is why it was not read
const running = signal<AbortController | undefined>(undefined);
let box: Box | undefined;
const wrong = signal(""); // why the filter is invalid

interface Box {
  focus(): void;
  put(text: string): void;
}

/** Adds a box for a filter, with completions, to an element. */
export type OpenBox = (host: HTMLElement, events: { apply(text: string): void; leave(): void }) => Promise<Box | undefined>;

/** Offers the filter above the list of captures. */
export function filterAll(workspace: string, open: OpenBox): void {
  tool.value = <Across workspace={workspace} open={open} />;
}

function close(): void {
  running.value?.abort();
  running.value = column.value = tool.value = undefined;
}

async function start(workspace: string, text: string): Promise<void> {
  running.value?.abort();
  const under = new AbortController();
  [running.value, filter.value, found.value, wrong.value] = [under, text, new Map(), ""];
  column.value = { title: "Matches", cell: (x) => <Cell workspace={workspace} x={x} /> };
  for (const x of (captures.value ?? []).slice(0, mostListed)) {
    try {
      const reply = await request("GET captures/{id}/where", { project: workspace, id: x.id, filter: text }, { signal: under.signal });
      if (!reply.ok && reply.status === 422 && found.value.size === 0) {
        wrong.value = reply.why;
        break;
      }
      found.value = new Map(found.value).set(x.id, reply.ok ? reply.answer : reply.why);
    } catch {
      return; // stopped
    }
  }
  if (running.value === under) {
    running.value = undefined;
    lookAtCaptures(); // their counts are known now
  }
}

function Cell({ workspace, x }: { workspace: string; x: Listed }): ComponentChildren {
  const of = found.value.get(x.id);
  if (of === undefined) {
    return running.value === undefined ? <span class="dim" title="Not read">–</span> : <span class="dim">…</span>;
  }
  if (typeof of === "string") {
    return <span class="err" title={of}>not read</span>;
  }
  const less = of.whole ? "" : of.note ?? "not read to its end";
  const text = `${count(of.fit)}${less === "" ? "" : " +"}`;
  const page = (f: string): string => `${pageOf(workspace, x.id)}?${new URLSearchParams({ f }).toString()}`;
  return of.fit === 0 ? <span class="dim" title={less}>{text}</span> : [
    <a href={page(filter.value)} title={less}>{text}</a>,
    ...(of.places ?? []).slice(0, mostInCell).map((p) => <a class="where" href={page(p.filter)}>{nameOf(p)} {count(p.frames)}</a>),
    <Others places={(of.places ?? []).slice(mostInCell)} />,
  ];
}

function Others({ places }: { places: readonly Place[] }) {
  return places.length === 0 ? null : <span class="where dim" title={places.map((p) => `${nameOf(p)} ${count(p.frames)}`).join("\n")}>+{count(places.length)}</span>;
}

const mostInCell = 2; // fields of a capture that are shown
const mostInAll = 12;

/** A message and a field of it, as filters write them. */
function nameOf(p: Place): string {
  return p.field === undefined ? `${p.message}${p.bytes === true ? " (bytes)" : ""}` : `${p.message}.${p.field}`;
}

/** In which fields of which messages something was found, over all captures: the most frequent first. */
export function totals(of: ReadonlyMap<string, Found | string>): { name: string; frames: number; captures: number; filter: string }[] {
  const all = new Map<string, { name: string; frames: number; captures: number; filter: string }>();
  for (const x of of.values()) {
    for (const p of typeof x === "string" ? [] : x.places ?? []) {
      const name = nameOf(p);
      const was = all.get(name) ?? { name, frames: 0, captures: 0, filter: p.filter };
      all.set(name, { ...was, frames: was.frames + p.frames, captures: was.captures + 1 });
    }
  }
  return [...all.values()].sort((a, b) => b.frames - a.frames || a.name.localeCompare(b.name));
}

/** What was found so far, in a sentence. */
export function summary(of: ReadonlyMap<string, Found | string>, all: number, runs: boolean): string {
  const read = [...of.values()].filter((x): x is Found => typeof x !== "string");
  const frames = read.reduce((sum, x) => sum + x.fit, 0);
  const parts = [`${counted(frames, "match", "matches")} in ${counted(read.filter((x) => x.fit > 0).length, "capture")}`];
  const cut = read.filter((x) => !x.whole).length;
  const failed = of.size - read.length;
  if (of.size < all) {
    parts.push(runs ? `${count(of.size)} of ${count(all)} searched` : `stopped: ${counted(all - of.size, "capture")} not searched`);
  }
  return [...parts, ...(cut > 0 ? [`${count(cut)} not read to the end`] : []), ...(failed > 0 ? [`${count(failed)} could not be read`] : [])].join(" · ");
}

function Across({ workspace, open }: { workspace: string; open: OpenBox }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (host.current !== null) {
      void open(host.current, { apply: (text) => void (text !== "" && start(workspace, text)), leave: close }).then((b) => (box = b)?.focus());
    }
  }, []);
  const all = captures.value?.length ?? 0;
  const runs = running.value !== undefined;
  const stop = (): void => {
    running.value?.abort();
    running.value = undefined;
  };
  return (
    <div class="across" role="search" aria-label="Filter all captures">
      <div ref={host} />
      {runs ? <button type="button" class="btn" onClick={stop}>Stop</button> : null}
      <button type="button" class="btn quiet" aria-label="Close the filter of all captures" onClick={close}>×</button>
      <span class={wrong.value === "" ? "dim" : "err"} role="status">{wrong.value !== "" ? wrong.value : column.value === undefined ? "" : `${summary(found.value, Math.min(all, mostListed), runs)}${all > mostListed ? ` · only the newest ${mostListed} captures` : ""}`}</span>
      <Totals workspace={workspace} />
    </div>
  );
}

/** The fields in which something was found; a click on one filters by it. */
function Totals({ workspace }: { workspace: string }) {
  const all = totals(found.value);
  const left = [...found.value.values()].reduce((sum, x) => sum + (typeof x === "string" ? 0 : x.fit - (x.looked ?? x.fit)), 0);
  return all.length === 0 ? null : (
    <ul class="totals" aria-label="Matches by field">
      {all.slice(0, mostInAll).map((t) => <li key={t.name}><button type="button" class="btn quiet" title={`Filter all captures by ${t.filter}`} onClick={() => void (box?.put(t.filter), start(workspace, t.filter))}>{t.name}</button> {count(t.frames)} <span class="dim">in {counted(t.captures, "capture")}</span></li>)}
      {left > 0 ? <li class="err">without {counted(left, "match", "matches")}, for which there was no time</li> : null}
      {all.length > mostInAll ? <li class="dim">{count(all.length - mostInAll)} more</li> : null}
    </ul>
  );
}
