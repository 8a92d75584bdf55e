// What all pages of a project have.

import { startCodes } from "../library/codes";
import { startConcerns } from "../text/concerns";
import { startFiles } from "../library/files";
import { startGit } from "../projects/git";
import { startJournal } from "../kit/journal";
import { startPlaces } from "../projects/places/index";
import { startProjects } from "../projects/projects";
import { startSettings } from "../projects/settings";

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
