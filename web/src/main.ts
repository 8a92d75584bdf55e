// What a page does beyond its HTML. Everything here is an addition: each page works without it.
//
// All listeners sit on the document, so a part of the page that is replaced needs no wiring.

import { startEditor } from "./editor";
import { startFilter } from "./filter";
import { startLinks } from "./link";
import { startPointed } from "./pointed";
import { startRemember } from "./remember";
import { startTheme } from "./theme";
import { startTree } from "./tree";

startTheme();
startLinks();
startEditor();
startFilter();
startPointed();
startRemember();
startTree();
