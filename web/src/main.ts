// Scripting of the pages. Everything here is optional: each page works without it.
//
// early.ts has what the first drawing needs; what is loaded later is imported with import(), see load.ts.

import { startButtons } from "./buttons";
import { startCodes } from "./codes";
import { register } from "./commands";
import { startFiles } from "./files";
import { startFilter } from "./filter";
import { dialogs } from "./dialogs";
import { startJournal } from "./journal";
import { startKeys } from "./keys";
import { startPrefetching } from "./load";
import { startMenus } from "./menus";
import { startMessages } from "./messages";
import { startPage } from "./page";
import { startPalette } from "./palette";
import { startPanes } from "./panes";
import { startPlaces } from "./places/index";
import { startProjects, takeEarlier } from "./projects";
import { startRelays } from "./relays";
import { startRemember } from "./remember";
import { startScrollers } from "./scrollers";
import { startSettings } from "./settings";
import { startUpload } from "./upload";

startPalette();
startPanes();
startKeys();
startFilter();
startMenus();
startRemember();
startUpload();
startButtons();
register({
  id: "help", title: "Keyboard shortcuts", group: "General", keys: ["?", "F1"], anywhere: true,
  run: () => void dialogs().then((d) => d?.openHelp()),
}, {
  id: "sign-out", title: "Sign out", group: "General", enabled: () => document.getElementById("sign-out") !== null,
  run: () => document.getElementById("sign-out")?.click(),
});
document.addEventListener("DOMContentLoaded", () => {
  takeEarlier();
  startMessages();
  startPage();
  startRelays();
  startPlaces();
  startProjects();
  startSettings();
  startCodes();
  startFiles();
  startJournal();
  startScrollers();
  if (document.querySelector(".places") !== null) { // of a project: readers of the manual rarely need more
    startPrefetching();
  }
});
