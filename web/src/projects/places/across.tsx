// One filter over all captures of a project: how many frames of each it finds. Captures are read one after the other, and what was not read is
// said.

import { counted, count } from "../../kit/frametext";
import { request } from "../../kit/http";
import { type ComponentChildren, h, signal, useLayoutEffect, useRef } from "../../kit/ui";
import { type Listed, mostListed, pageOf } from "./list";
import { captures, column, tool } from "./state";
import { lookAtCaptures } from "../captures";

/** The part of GET .../rows that counts. */
interface Found {
  fit: number;
  whole: boolean;
  note?: string;
}

const filter = signal(""); // the one that was started
const found = signal<ReadonlyMap<string, Found | string>>(new Map()); // by capture; a text is why it was not read
const running = signal<AbortController | undefined>(undefined);
const wrong = signal(""); // why the filter is invalid

/** Adds a box for a filter, with completions, to an element. */
export type OpenBox = (host: HTMLElement, events: { apply(text: string): void; leave(): void }) => Promise<{ focus(): void } | undefined>;

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
      const reply = await request("GET captures/{id}/rows", { project: workspace, id: x.id, count: 1, filter: text }, { signal: under.signal });
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
  return of.fit === 0 ? <span class="dim" title={less}>{text}</span> : <a href={`${pageOf(workspace, x.id)}?${new URLSearchParams({ f: filter.value }).toString()}`} title={less}>{text}</a>;
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
      void open(host.current, { apply: (text) => void (text !== "" && start(workspace, text)), leave: close }).then((box) => box?.focus());
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
    </div>
  );
}
