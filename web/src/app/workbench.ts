// Scripting of the workbench and of the pages of captures.

import { startFilter } from "../library/filter";
import { startMessages } from "../library/messages";
import { startPage } from "./page";
import { startPanes } from "../kit/panes";
import { startProject } from "./project";
import { takeEarlier } from "../projects/projects";
import { startRelays } from "../kit/relays";
import { startRemember } from "../kit/remember";
import { startSample } from "./sample";
import { startUpload } from "../kit/upload";

startPanes();
startFilter();
startRemember();
startUpload(() => import("../library/intake"));
startSample();
document.addEventListener("DOMContentLoaded", () => {
  takeEarlier();
  void startMessages();
  startPage();
  startRelays();
  startProject();
});
