// Less common dialogs, whose script is loaded on first use.

import type { colorsDialog } from "./dialogs/colors";
import type { askFraming } from "./dialogs/framing";
import type { openHelp } from "./dialogs/help";
import type { editHeld, sendMessage } from "./dialogs/messages";
import type { replayDialog } from "./dialogs/replay";
import type { rulesDialog } from "./dialogs/rules";
import { load } from "./load";
import { notify } from "./notify";

/** The exports of the script. */
export interface Dialogs {
  askFraming: typeof askFraming;
  colorsDialog: typeof colorsDialog;
  editHeld: typeof editHeld;
  openHelp: typeof openHelp;
  replayDialog: typeof replayDialog;
  rulesDialog: typeof rulesDialog;
  sendMessage: typeof sendMessage;
}

/** Loads the dialogs; undefined after a failure, which is reported. */
export async function dialogs(): Promise<Dialogs | undefined> {
  try {
    return await load<Dialogs>("dialogs", document.documentElement.dataset["dialogs"] ?? "");
  } catch (error) {
    notify(String(error), "err");
    return undefined;
  }
}
