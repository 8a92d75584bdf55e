// State needed before the first drawing of the page: the theme, the sizes of the panes, and the views of parts. Rendering waits for this
// script only.

import { startFirstSteps } from "../projects/firststeps";
import { startSegments } from "../kit/segments";
import * as sizes from "../kit/sizes";
import { startTheme } from "../kit/theme";

document.documentElement.classList.add("js");
startTheme();
sizes.applyEarly();
startSegments();
startFirstSteps();
Object.assign(globalThis, { wirebench: { sizes } });
