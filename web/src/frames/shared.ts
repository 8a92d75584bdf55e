// What the drawers take from capture.js. web/build reads the imports below to know which modules these are.

import * as drawer from "./drawer";
import * as filters from "./filters";
import * as framesSocket from "./socket";
import * as pages from "./pages";

/** Makes them known to drawers.js. */
export function share(): void {
  Object.assign((globalThis as unknown as { wirebench: object }).wirebench ??= {}, { drawer, filters, framesSocket, pages });
}
