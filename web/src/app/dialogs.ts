// Less common dialogs, which kit/dialogs.ts loads.

export { besideDialog } from "../text/dialogs/beside";
export { capsuleDialog, capsulesDialog } from "../frames/dialogs/capsule";
export { codeDialog } from "../library/dialogs/code";
export { codesDialog } from "../library/dialogs/codes";
export { colorsDialog } from "../frames/dialogs/colors";
export { compareDialog } from "../text/dialogs/compare";
export { eventsDialog } from "../live/dialogs/events";
export { askFraming } from "../library/dialogs/framing";
export { gitDialog } from "../projects/dialogs/git";
export { envelopesDialog } from "../frames/dialogs/envelopes";
export { openHelp } from "./help";
export { historyDialog } from "../text/dialogs/history";
export { sendMessage } from "../live/dialogs/messages";
export { projectDialog } from "../library/dialogs/newproject";
export { copyDialog, renameDialog } from "../library/dialogs/rename";
export { replayDialog } from "../live/dialogs/replay";
export { rulesDialog } from "../live/dialogs/rules";
export { scoresDialog } from "../text/dialogs/scores";
export { threadsDialog } from "../text/dialogs/threads";
export { decodingDialog, settingsDialog } from "../projects/dialogs/settings";
