// Scripting of the workbench and of the pages of captures.

import { startFilter } from "./filter";
import { startMessages } from "./messages";
import { startPage } from "./page";
import { startPanes } from "./panes";
import { startProject } from "./project";
import { takeEarlier } from "./projects";
import { startRelays } from "./relays";
import { startRemember } from "./remember";
import { startSample } from "./sample";
import { startUpload } from "./upload";

startPanes();
startFilter();
startRemember();
startUpload();
startSample();
document.addEventListener("DOMContentLoaded", () => {
  takeEarlier();
  void startMessages();
  startPage();
  startRelays();
  startProject();
});
