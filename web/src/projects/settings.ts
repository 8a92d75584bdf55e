// Opens the dialog of the settings in force: from the status line, from the tools of a list, and by a command.

import { register } from "../kit/commands";
import { dialogs } from "../kit/dialogs";

/** Opens the settings of the page's capture or, without one, of its project. */
export function openSettings(): void {
  const { workspace, capture, captureName } = document.getElementById("main")?.dataset ?? {};
  if (workspace !== undefined) {
    void dialogs().then((d) => d?.settingsDialog(workspace, capture, captureName));
  }
}

export function startSettings(): void {
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-decode-as]") !== null) {
      openSettings();
    }
  });
  const { workspace, capture } = document.getElementById("main")?.dataset ?? {};
  if (workspace !== undefined) {
    register({ id: "decode-as", title: capture === undefined ? "Settings of the project" : "Decode this capture as …", group: "General", run: openSettings });
  }
}
