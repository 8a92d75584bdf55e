// Code loaded on demand, see web/build. From the first press of a key or a button on, it is prefetched while the page is idle, so that its first
// use does not wait; a page that is only read does without it.

import { notify } from "./notify";

/** A module imported on demand; `() => import("./x")`. */
type Module<T> = () => Promise<T>;

const later: Module<unknown>[] = [];

/** Prefetches a module once the page is used, and idle. */
export function prefetch(module: Module<unknown>): void {
  later.push(module);
}

/** Prefetches once the page is used. */
export function startPrefetching(): void {
  const next = (): void => {
    const module = later.shift();
    if (module !== undefined) {
      get(module).then(soon, () => undefined); // its first use reports a failure
    }
  };
  const soon = (): void => {
    if ("requestIdleCallback" in globalThis) {
      requestIdleCallback(next, { timeout: 5000 });
    } else {
      setTimeout(next, 200); // Safari
    }
  };
  const used = new AbortController();
  for (const kind of ["keydown", "pointerdown"]) {
    addEventListener(kind, () => {
      used.abort();
      soon();
    }, { capture: true, passive: true, signal: used.signal });
  }
}

const recovered = new Map<string, unknown>(); // modules loaded after a failure, by address
let tries = 0;

/** Imports a module. Browsers keep the failure of an address, so that the next attempt needs another one. */
async function get<T>(module: Module<T>): Promise<T> {
  try {
    return await module();
  } catch (error) {
    const address = addressIn(error);
    if (address === undefined) {
      throw error;
    }
    if (!recovered.has(address)) {
      recovered.set(address, await import(`${address}?again=${++tries}`));
    }
    return recovered.get(address) as T;
  }
}

/** The address in a message about a module that could not be loaded. Safari's has none. */
function addressIn(error: unknown): string | undefined {
  return /https?:\/\/\S+?\.js\b/.exec(String(error))?.[0];
}

/** Loads a module. A failure is reported, and resolves to undefined; the next use tries again. */
export async function load<T>(module: Module<T>): Promise<T | undefined> {
  try {
    return await get(module);
  } catch (error) {
    const [text, reload] = await why(error);
    notify(text, "err", reload ? { title: "Reload", run: () => location.reload() } : undefined);
    return undefined;
  }
}

/** Why a module could not be loaded, and whether reloading the page helps. */
async function why(error: unknown): Promise<[text: string, reload: boolean]> {
  try {
    const { status } = await fetch(addressIn(error) ?? location.href, { method: "HEAD", cache: "no-store" });
    return status === 404
      ? ["This page is from an earlier version of the server. Reload it to go on; unsaved text is kept.", true]
      : ["A part of the page could not be loaded. Try again, or reload the page; unsaved text is kept.", true];
  } catch {
    return ["The server cannot be reached. Try again later.", false];
  }
}
