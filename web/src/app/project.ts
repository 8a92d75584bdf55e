// What all pages of a project have.

import { startCodes } from "../library/codes";
import { startConcerns } from "../text/concerns";
import { projectList } from "../frames/projectlist";
import { load } from "../kit/load";
import { startFiles } from "../library/files";
import { startGit } from "../projects/git";
import { startJournal } from "../kit/journal";
import { startPlaces } from "../projects/places/index";
import { startProjects } from "../projects/projects";
import { startSettings } from "../projects/settings";

/** Starts it. The connection to the server and the listeners must have been started. */
export function startProject(): void {
  startPlaces(async (host, events) => {
    const { workspace = "" } = document.getElementById("main")?.dataset ?? {};
    const module = await load(() => import("../frames/filterbox/index"));
    return module === undefined ? undefined : new module.FilterBox(host, { workspace, label: "Filter of all captures", placeholder: "S_CHAT, .damage > 1000, kind == problem", draft: () => undefined, shared: projectList(), ...events });
  });
  startProjects();
  startSettings();
  startCodes();
  startFiles();
  startGit();
  startConcerns();
  startJournal();
}
