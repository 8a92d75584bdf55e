// Opens the dialogs that give messages codes: from an unknown message, and from the menus of definitions.

import { register } from "../kit/commands";
import { dialogs } from "../kit/dialogs";
import { openPage } from "../kit/opened";
import { lookOnly } from "../kit/role";

/** Whether the protocol has code maps. */
export function hasCodes(): boolean {
  return document.getElementById("main")?.dataset["codes"] !== undefined;
}

async function open(message: string, code = "", map = ""): Promise<void> {
  const workspace = document.getElementById("main")?.dataset["workspace"];
  if (workspace !== undefined && await (await dialogs())?.codeDialog(workspace, { message, code, map }) === true && code !== "") { // the code of the shown message
    openPage()?.byItsCode();
  }
}

/** Asks for the code of a message, and stores it. */
export function giveCode(message: string): void {
  void open(message);
}

/** Asks for a table of codes, and stores it. */
function giveCodes(): void {
  const workspace = document.getElementById("main")?.dataset["workspace"];
  if (workspace !== undefined) {
    void dialogs().then((d) => d?.codesDialog(workspace));
  }
}

export function startCodes(): void {
  const canGive = (): boolean => hasCodes() && !lookOnly();
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-give-code]") : null;
    if (button !== null) {
      void open(button.dataset["message"] ?? "", button.dataset["giveCode"], button.dataset["map"]);
    }
  });
  register({ id: "give-code", title: "Give a message a code…", group: "Definition", enabled: canGive, run: () => giveCode("") });
  register({ id: "give-codes", title: "Give codes from a table…", group: "Definition", enabled: canGive, run: giveCodes });
}
