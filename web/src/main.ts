// Scripting of the pages. Everything here is optional: each page works without it.
//
// The script is deferred; early.ts has what the first drawing needs.

import { register } from "./commands";
import { startFilter } from "./filter";
import { dialogs } from "./dialogs";
import { startKeys } from "./keys";
import { startMenus } from "./menus";
import { startPage } from "./page";
import { startPalette } from "./palette";
import { startPanes } from "./panes";
import { startRail } from "./rail";
import { startRelays } from "./relays";
import { startRemember } from "./remember";
import { share } from "./shared";
import { startUpload } from "./upload";

startPalette();
startPanes();
startKeys();
startFilter();
startMenus();
startRemember();
startUpload();
share();
register({
  id: "help", title: "Keyboard shortcuts", group: "General", keys: ["?", "F1"], anywhere: true,
  run: () => void dialogs().then((d) => d?.openHelp()),
}, {
  id: "sign-out", title: "Sign out", group: "General", enabled: () => document.getElementById("sign-out") !== null,
  run: () => document.getElementById("sign-out")?.click(),
});
document.addEventListener("DOMContentLoaded", () => {
  startPage();
  startRelays();
  startRail();
});
