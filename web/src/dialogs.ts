// Dialogs that few people open on most days: their script is loaded when one is.

import type { colorsDialog } from "./dialogs/colors";
import type { askFraming } from "./dialogs/framing";
import type { openHelp } from "./dialogs/help";
import type { editHeld, sendMessage } from "./dialogs/messages";
import type { replayDialog } from "./dialogs/replay";
import type { rulesDialog } from "./dialogs/rules";
import { load } from "./load";
import { notify } from "./notify";

/** What the script has. */
export interface Dialogs {
  askFraming: typeof askFraming;
  colorsDialog: typeof colorsDialog;
  editHeld: typeof editHeld;
  openHelp: typeof openHelp;
  replayDialog: typeof replayDialog;
  rulesDialog: typeof rulesDialog;
  sendMessage: typeof sendMessage;
}

/** The dialogs, once their script is there; undefined where it cannot be loaded, which is told. */
export async function dialogs(): Promise<Dialogs | undefined> {
  try {
    return await load<Dialogs>("dialogs", document.documentElement.dataset["dialogs"] ?? "");
  } catch (error) {
    notify(String(error), "err");
    return undefined;
  }
}
