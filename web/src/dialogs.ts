// Less common dialogs, which are loaded on first use.

import { load, prefetch } from "./load";

const module = () => import("./dialogs/index");

prefetch(module);

/** Loads the dialogs; undefined after a failure, which is reported. */
export function dialogs(): Promise<Awaited<ReturnType<typeof module>> | undefined> {
  return load(module);
}
