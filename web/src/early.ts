// What has to be there before the page is drawn for the first time: the theme, the sizes of the panes, and how parts are shown. This
// script is the only one that the page waits for.

import { startSegments } from "./segments";
import * as sizes from "./sizes";
import { startTheme } from "./theme";

document.documentElement.classList.add("js");
startTheme();
sizes.applyEarly();
startSegments();
Object.assign(globalThis, { wirebench: { sizes } });
