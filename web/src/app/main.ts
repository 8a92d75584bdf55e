// Scripting of all pages. Everything here is optional: each page works without it.
//
// early.ts has what the first drawing needs; place.ts, workbench.ts and capture.ts have what the pages of a project need besides. What is loaded
// later is imported with import(), see load.ts.

import { startButtons } from "./buttons";
import { register } from "../kit/commands";
import { dialogs } from "../kit/dialogs";
import { startKeys } from "../kit/keys";
import { startPrefetching } from "../kit/load";
import { startMenus } from "./menus";
import { startPalette } from "../kit/palette";
import { startScrollers } from "./scrollers";

startPalette();
startKeys();
startMenus();
startButtons();
register({
  id: "help", title: "Keyboard shortcuts", group: "General", keys: ["?", "F1"], anywhere: true,
  run: () => void dialogs().then((d) => d?.openHelp()),
}, {
  id: "sign-out", title: "Sign out", group: "General", enabled: () => document.getElementById("sign-out") !== null,
  run: () => document.getElementById("sign-out")?.click(),
});
document.addEventListener("DOMContentLoaded", startScrollers);
startPrefetching();
