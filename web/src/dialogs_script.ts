// The script of dialogs.ts.

import { askFraming } from "./framing";
import { openHelp } from "./help";
import { replayDialog } from "./replay";
import { rulesDialog } from "./rules";

Object.assign((globalThis as unknown as { wirebench: object }).wirebench ??= {}, { dialogs: { askFraming, openHelp, replayDialog, rulesDialog } });
