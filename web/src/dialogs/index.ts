// Less common dialogs, which ../dialogs.ts loads.

export { besideDialog } from "./beside";
export { capsuleDialog, capsulesDialog } from "./capsule";
export { codeDialog } from "./code";
export { codesDialog } from "./codes";
export { colorsDialog } from "./colors";
export { compareDialog } from "./compare";
export { eventsDialog } from "./events";
export { askFraming } from "./framing";
export { gitDialog } from "./git";
export { envelopesDialog } from "./envelopes";
export { openHelp } from "./help";
export { historyDialog } from "./history";
export { sendMessage } from "./messages";
export { projectDialog } from "./newproject";
export { copyDialog, renameDialog } from "./rename";
export { replayDialog } from "./replay";
export { rulesDialog } from "./rules";
export { scoresDialog } from "./scores";
export { threadsDialog } from "./threads";
export { decodingDialog, settingsDialog } from "./settings";
