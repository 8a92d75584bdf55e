// Modules of capture.js that drawers.js uses. web/build reads the imports below to find them.

import * as drawer from "./drawer";
import * as filters from "./filters";
import * as framesSocket from "./socket";
import * as pages from "./pages";

/** Provides them to drawers.js. */
export function share(): void {
  Object.assign((globalThis as unknown as { wirebench: object }).wirebench ??= {}, { drawer, filters, framesSocket, pages });
}
