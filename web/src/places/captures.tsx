// The place of the captures of a project, and the menu of a capture.

import { pathOf } from "../address";
import { lookAtCaptures } from "../captures";
import { confirmDialog } from "../dialog";
import { dialogs } from "../dialogs";
import { askText } from "../frames/notebox";
import { bytes, counted } from "../frames/text";
import { openMenu } from "../menu";
import { notify } from "../notify";
import { apiOf, ask } from "../http";
import { lookOnly, roleItem } from "../role";
import { Fragment, h, useLayoutEffect, useRef } from "../ui";
import { chooseCapture } from "../upload";
import { Cards } from "./cards";
import { type Listed, moreTitle, pageOf } from "./list";
import { captures, quota, recorded, sessions, settingsText } from "./state";

const mostName = 200; // maximum length, as on the server
const mostListed = 500; // maximum number of captures

/** Opens the menu of a capture; `shown`: of the one that the page shows. */
export function openCaptureMenu(anchor: HTMLElement, workspace: string, x: Listed, shown: boolean): void {
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
    if (shown) {
      location.assign(pathOf(workspace, "captures"));
      return;
    }
    lookAtCaptures();
    notify(`${x.name} is deleted`, "ok");
  };
  openMenu(anchor, {
    label: x.name,
    items: [
      { title: "Rename …", ...roleItem(), run: () => askText(anchor, { label: "Name", text: x.name, button: "Rename", most: mostName }, rename) },
      { title: "Decode as …", run: () => void dialogs().then((d) => d?.settingsDialog(workspace, x.id, x.name)) },
      { title: "Replay …", ...roleItem("operator"), run: () => void dialogs().then((d) => d?.replayDialog(workspace, x.id, x.name)) },
      { title: "Save its file", run: save },
      { title: "Delete …", ...roleItem(), run: () => void remove() },
    ],
  });
}

function More({ workspace, x }: { workspace: string; x: Listed }) {
  return (
    <button type="button" class="btn quiet" data-capture-menu={x.id} aria-label={`More about ${x.name}`} title={moreTitle}
      onClick={(event) => openCaptureMenu(event.currentTarget, workspace, x, false)}>⋯</button>
  );
}

/** The place of the captures. */
export function CapturesPlace({ workspace, demo }: { workspace: string; demo: boolean }) {
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
        <Cards workspace={workspace} demo={demo} />
      </>
    );
  }
  const running = new Set(sessions.value.map(({ id }) => id));
  return (
    <>
      {lookOnly() ? null : <p><button type="button" class="btn primary" onClick={chooseCapture}>Open a capture…</button> <span class="dim">or drop files on this page</span></p>}
      {quota.value > 0 ? <p class={all.reduce((sum, x) => sum + x.size, 0) >= 0.9 * quota.value ? "warn" : "dim"} id="captures-quota">{bytes(all.reduce((sum, x) => sum + x.size, 0))} of {bytes(quota.value)}{lookOnly() ? "" : " · deleting some makes room"}</p> : null}
      <div class="scroll">
        <table class="data place-list" aria-label="Captures">
          <thead><tr><th scope="col">Name</th><th scope="col" class="num">Size</th><th scope="col">Added</th><th scope="col">Decoded as</th><th scope="col"><span class="sr-only">More</span></th></tr></thead>
          <tbody ref={body}>
            {listed.map((x) => (
              <tr key={x.id}>
                <td class="name"><a href={pageOf(workspace, x.id)}>{x.name}</a>{running.has(x.id) ? <span class="tag ok">live</span> : null}</td>
                <td class="num">{bytes(recorded.value.get(x.id) ?? x.size)}</td>
                <td><time dateTime={x.added}>{new Date(x.added).toLocaleString()}</time></td>
                <td class="dim">{settingsText(x)}</td>
                <td><More workspace={workspace} x={x} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {all.length > listed.length ? <p class="empty" data-more>{counted(all.length - listed.length, "capture")} more; GET /api/…/captures lists all.</p> : null}
    </>
  );
}
