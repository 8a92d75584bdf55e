// What the scripts of single pages take from app.js, so that a page has it once: registries, menus, messages. web/build reads the imports
// below to know which modules these are.

import * as commands from "./commands";
import * as copy from "./copy/index";
import * as hex from "./hex/index";
import * as scroll from "./hex/scroll";
import * as keys from "./keys";
import * as menu from "./menu";
import * as notify from "./notify";
import * as page from "./page";
import * as panes from "./panes";
import * as relays from "./relays";

/** Makes them known to the scripts that follow. */
export function share(): void {
  Object.assign(globalThis, { wirebench: { commands, copy, hex, scroll, keys, menu, notify, page, panes, relays } });
}
