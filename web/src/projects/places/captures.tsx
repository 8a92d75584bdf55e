// The place of the captures of a project.

import { bytes, count, counted } from "../../kit/frametext";
import { load } from "../../kit/load";
import { lookOnly } from "../../kit/role";
import { Fragment, h, useLayoutEffect, useRef } from "../../kit/ui";
import { chooseCapture } from "../../kit/upload";
import type { OpenBox } from "./across";
import { Cards } from "./cards";
import { type Listed, moreTitle, mostListed, pageOf } from "./list";
import { captures, column, counts, kept, lake, quota, recorded, sessions, settingsText, tool } from "./state";

/** What is said of a capture that is not in the folder of the server. */
const elsewhere = "Its bytes are only in the folder or bucket of --captures, and are read from there";

function More({ workspace, x }: { workspace: string; x: Listed }) {
  return (
    <button type="button" class="btn quiet" data-capture-menu={x.id} aria-label={`More about ${x.name}`} title={moreTitle}
      onClick={({ currentTarget }) => void load(() => import("./menu")).then((m) => m?.openCaptureMenu(currentTarget, workspace, x, false))}>⋯</button>
  );
}

/** How long captures stay, which have gone, and what the lake has of them. */
function Kept() {
  const { text, removed = [] } = kept.value ?? { text: "" };
  const stays = text === "" ? null : removed.length === 0 ? <p class="dim">{text}</p> : <details class="dim"><summary>{text}</summary>{removed.map((line) => <div key={line}>{line}</div>)}</details>;
  return <>{stays}{lake.value === "" ? null : <p class="dim" id="captures-lake">{lake.value}</p>}</>;
}

/** The place of the captures. */
export function CapturesPlace({ workspace, demo, filterBox }: { workspace: string; demo: boolean; filterBox: OpenBox }) {
  const all = captures.value ?? [];
  const listed = all.slice(0, mostListed);
  const body = useRef<HTMLTableSectionElement>(null);
  const focused = useRef(-1); // index of the focused row before drawing
  focused.current = Array.from(body.current?.children ?? []).findIndex((row) => row.contains(document.activeElement));
  useLayoutEffect(() => {
    if (focused.current >= 0 && document.activeElement === document.body) { // the focused row was removed
      body.current?.querySelectorAll("a").item(Math.min(focused.current, listed.length - 1))?.focus();
    }
  });
  if (captures.value === undefined) {
    return <p class="empty" />;
  }
  if (all.length === 0) {
    return (
      <>
        <p class="dim" data-none>No captures yet. Drop a pcap, a pcapng or the log of a proxy on this page.</p>
        <Kept />
        <Cards workspace={workspace} demo={demo} />
      </>
    );
  }
  const running = new Set(sessions.value.map(({ id }) => id));
  return (
    <>
      {lookOnly() ? null : <p><button type="button" class="btn primary" onClick={chooseCapture}>Open a capture…</button> <span class="dim">or drop files on this page</span></p>}
      {tool.value ?? <p><button type="button" class="btn" onClick={() => void load(() => import("./across")).then((m) => m?.filterAll(workspace, filterBox))}>Filter all captures…</button></p>}
      {quota.value > 0 ? <p class={all.reduce((sum, x) => sum + x.size, 0) >= 0.9 * quota.value ? "warn" : "dim"} id="captures-quota">{bytes(all.reduce((sum, x) => sum + x.size, 0))} of {bytes(quota.value)}{lookOnly() ? "" : " · deleting some makes room"}</p> : null}
      <Kept />
      <div class="scroll">
        <table class="data place-list" aria-label="Captures">
          <thead><tr><th scope="col">Name</th>{column.value === undefined ? null : <th scope="col" class="num">{column.value.title}</th>}<th scope="col" class="num">Frames</th><th scope="col" class="num">Problems</th><th scope="col" class="num">Size</th><th scope="col">Added</th><th scope="col">Decoded as</th><th scope="col"><span class="sr-only">More</span></th></tr></thead>
          <tbody ref={body}>
            {listed.map((x) => {
              const has = counts.value[x.id];
              return (
              <tr key={x.id}>
                <td class="name"><a href={pageOf(workspace, x.id)}>{x.name}</a>{running.has(x.id) ? <span class="tag ok">live</span> : null}{x.away === true ? <span class="tag dim" title={elsewhere}>elsewhere</span> : null}</td>
                {column.value === undefined ? null : <td class="num">{column.value.cell(x)}</td>}
                <td class="num" title={has === undefined ? "Not read yet" : has.note}>{has === undefined ? "–" : count(has.frames)}</td>
                <td class="num">{(has?.problems ?? 0) === 0 ? "" : <a class="err" href={`${pageOf(workspace, x.id)}?f=kind+%3D%3D+problem`}>{count(has?.problems ?? 0)}</a>}</td>
                <td class="num">{bytes(recorded.value.get(x.id) ?? x.size)}</td>
                <td><time dateTime={x.added}>{new Date(x.added).toLocaleString()}</time></td>
                <td class="dim">{settingsText(x)}</td>
                <td><More workspace={workspace} x={x} /></td>
              </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {all.length > listed.length ? <p class="empty" data-more>{counted(all.length - listed.length, "capture")} more; GET /api/…/captures lists all.</p> : null}
    </>
  );
}
