// The menu of a capture.

import { pathOf } from "../../kit/address";
import { lookAtCaptures } from "../captures";
import { confirmDialog } from "../../kit/dialog";
import { dialogs } from "../../kit/dialogs";
import { askText } from "../../kit/notebox";
import { type At, ask, urlOf } from "../../kit/http";
import { loadAsked } from "../../kit/load";
import { openMenu } from "../../kit/menu";
import { notify } from "../../kit/notify";
import { roleItem } from "../../kit/role";
import type { Listed } from "./list";

const compare = () => import("./compare");

const mostName = 200; // maximum length, as on the server

/** Opens the menu of a capture; `shown`: of the one that the page shows. */
export function openCaptureMenu(anchor: HTMLElement, workspace: string, x: Listed, shown: boolean): void {
  const at: At = { project: workspace, id: x.id };
  const rename = (name: string): void => {
    if (name !== "" && name !== x.name) {
      void ask("PATCH captures/{id}", at, { name }).then((done) => done !== undefined && lookAtCaptures());
    }
  };
  const save = (): void => {
    const link = document.createElement("a");
    link.href = urlOf("GET captures/{id}", at);
    link.download = "";
    link.click();
  };
  const remove = async (): Promise<void> => {
    if (!await confirmDialog(`Delete ${x.name} with its marks and notes? This cannot be undone.`, "Delete") || await ask("DELETE captures/{id}", at) === undefined) {
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
      { title: "Compare with …", run: () => void loadAsked(compare).then((m) => m?.compareCaptures(workspace, x)) },
      { title: "Save its file", run: save },
      { title: x.keep === true ? "Keep no longer than others" : "Keep for ever", ...roleItem("commenter"), run: () => void ask("PATCH captures/{id}", at, { keep: x.keep !== true }).then((done) => done !== undefined && lookAtCaptures()) },
      { title: "Delete …", ...roleItem(), run: () => void remove() },
    ],
  });
}
