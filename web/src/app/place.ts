// Scripting of the places that list the captures and the listeners of a project.

import "../projects/places/views"; // with the page, not after it
import { startProject } from "./project";
import { takeEarlier } from "../projects/projects";
import { startRelays } from "../kit/relays";
import { startUpload } from "../kit/upload";

startUpload(() => import("../library/intake"));
document.addEventListener("DOMContentLoaded", () => {
  takeEarlier();
  startRelays();
  startProject();
});
