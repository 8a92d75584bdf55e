// Scripting of the places that list the captures and the listeners of a project.

import "./places/views"; // with the page, not after it
import { startProject } from "./project";
import { takeEarlier } from "./projects";
import { startRelays } from "./relays";
import { startUpload } from "./upload";

startUpload();
document.addEventListener("DOMContentLoaded", () => {
  takeEarlier();
  startRelays();
  startProject();
});
