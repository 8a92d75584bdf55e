// Changes of many files that can be undone: what messages about them offer, and commands.

import type { ChangeProblem, HistoryStep as Step } from "../api/api";
import { register } from "./commands";
import { failure, request } from "./http";
import type { Anchor } from "./menu";
import { openMenu } from "./menu";
import { notify, type Offer } from "./notify";
import { lookOnly, roleItem } from "./role";

type Way = "undo" | "redo";
const done: Record<Way, string> = { undo: "Undone", redo: "Redone" };
const titles: Record<Way, string> = { undo: "Undo", redo: "Redo" };

function workspaceNow(): string | undefined {
  return document.getElementById("main")?.dataset["workspace"];
}

async function turn(workspace: string, step: Step, way: Way, rest = false): Promise<void> {
  const reply = await request(way === "undo" ? "POST changes/{id}/undo" : "POST changes/{id}/redo", { project: workspace, id: step.id, rest });
  if (reply.ok) {
    const back: Way = way === "undo" ? "redo" : "undo";
    notify(`${done[way]}: ${step.about}`, "ok", { title: titles[back], run: () => void turn(workspace, reply.answer, back) });
    return;
  }
  const { changed = [], files = 0 } = reply.answer as Partial<ChangeProblem>;
  const others = files - changed.length;
  const offer = changed.length === 0 || others <= 0 ? undefined : { title: `${titles[way]} the other ${others === 1 ? "file" : `${others} files`}`, run: () => void turn(workspace, step, way, true) };
  notify(failure(`Not ${done[way].toLowerCase()}`, reply), "err", offer);
}

/** What a message about a change offers. */
export function undoOffer(workspace: string, step: Step | undefined): Offer | undefined {
  return step === undefined ? undefined : { title: titles.undo, run: () => void turn(workspace, step, "undo") };
}

/** What undoes a change, or redoes it. */
export function stepOffer(workspace: string, step: Step): Offer {
  const way: Way = step.undone === true ? "redo" : "undo";
  return { title: `${titles[way]}: ${step.about}`, run: () => void turn(workspace, step, way) };
}

async function steps(workspace: string): Promise<Step[]> {
  const reply = await request("GET changes", { project: workspace });
  if (!reply.ok) {
    notify(failure("The changes were not listed", reply), "err");
  }
  return reply.answer.changes ?? [];
}

/** Undoes the newest change, or redoes the one undone last. */
async function newest(way: Way): Promise<void> {
  const workspace = workspaceNow() ?? "";
  const list = await steps(workspace);
  const step = way === "undo" ? list.find((s) => s.undone !== true) : list.findLast((s, i) => s.undone === true && list.slice(0, i).every((o) => o.undone === true));
  if (step === undefined) {
    notify(`Nothing to ${way}: no files were changed`, "warn");
    return;
  }
  await turn(workspace, step, way);
}

async function list(anchor: Anchor): Promise<void> {
  const workspace = workspaceNow() ?? "";
  const all = await steps(workspace);
  if (all.length === 0) {
    notify("Nothing to undo yet. Uploads, renames, new codes and deleted files are listed here", "warn");
    return;
  }
  openMenu(anchor, {
    label: "Changes of files",
    items: all.map((s) => ({
      ...stepOffer(workspace, s), hint: new Date(s.at).toLocaleString(), preview: () => s.names.join("\n") + (s.files > s.names.length ? `\nand ${s.files - s.names.length} more` : ""), ...roleItem(),
    })),
  });
}

/** Where the box of a command opens. */
function middle(): Anchor {
  return document.getElementById("definition-head") ?? { x: innerWidth / 3, y: innerHeight / 4 };
}

export function startJournal(): void {
  const able = (): boolean => workspaceNow() !== undefined && !lookOnly();
  register(
    { id: "undo-files", title: "Undo the last change of many files", group: "Library", enabled: able, run: () => void newest("undo") },
    { id: "redo-files", title: "Redo the change of many files", group: "Library", enabled: able, run: () => void newest("redo") },
    { id: "changes", title: "Changes of many files, to undo…", group: "Library", enabled: () => workspaceNow() !== undefined, run: () => void list(middle()) },
  );
}
