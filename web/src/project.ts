// What all pages of a project have.

import { startCodes } from "./codes";
import { startConcerns } from "./concerns";
import { startFiles } from "./files";
import { startGit } from "./git";
import { startJournal } from "./journal";
import { startPlaces } from "./places/index";
import { startProjects } from "./projects";
import { startSettings } from "./settings";

/** Starts it. The connection to the server and the listeners must have been started. */
export function startProject(): void {
  startPlaces();
  startProjects();
  startSettings();
  startCodes();
  startFiles();
  startGit();
  startConcerns();
  startJournal();
}
