// The script of the dialogs, which ../dialogs.ts loads.

import type { Dialogs } from "../dialogs";
import { colorsDialog } from "./colors";
import { askFraming } from "./framing";
import { openHelp } from "./help";
import { editHeld, sendMessage } from "./messages";
import { replayDialog } from "./replay";
import { rulesDialog } from "./rules";

const dialogs: Dialogs = { askFraming, colorsDialog, editHeld, openHelp, replayDialog, rulesDialog, sendMessage };

Object.assign((globalThis as unknown as { wirebench: object }).wirebench ??= {}, { dialogs });
