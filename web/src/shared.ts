// Modules of app.js that other scripts use, so that a page has one copy. web/build reads the imports below to find them.

import * as base from "./editor/base";
import * as captures from "./captures";
import * as commands from "./commands";
import * as copy from "./copy/index";
import * as dialog from "./dialog";
import * as dialogs from "./dialogs";
import * as dom from "./dom";
import * as hex from "./hex/index";
import * as hexText from "./hex/text";
import * as load from "./load";
import * as http from "./http";
import * as keys from "./keys";
import * as menu from "./menu";
import * as notebox from "./frames/notebox";
import * as notify from "./notify";
import * as page from "./page";
import * as panes from "./panes";
import * as relays from "./relays";
import * as role from "./role";
import * as scroll from "./hex/scroll";
import * as text from "./frames/text";
import * as ui from "./ui";

/** Provides them to later scripts. */
export function share(): void {
  Object.assign((globalThis as unknown as { wirebench: object }).wirebench ??= {}, { base, captures, commands, copy, dialog, dialogs, dom, hex, hexText, http, load, keys, menu, notebox, notify, page, panes, relays, role, scroll, text, ui });
}
