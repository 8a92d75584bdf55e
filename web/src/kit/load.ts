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

const loaded = new WeakMap<Module<unknown>, unknown>();
const recovered = new Map<string, unknown>(); // modules loaded after a failure, by address
let tries = 0;
const mostHeldMillis = 3000;

/** Imports a module. Browsers keep the failure of an address, so that the next attempt needs another one. */
async function get<T>(module: Module<T>): Promise<T> {
  try {
    const part = await module();
    loaded.set(module, part);
    return part;
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

/** A module if it was loaded. */
export function loadedNow<T>(module: Module<T>): T | undefined {
  return loaded.get(module) as T | undefined;
}

const held: KeyboardEvent[] = []; // keys that were pressed while the user waited for a part: they are for it
let awaited = 0; // parts that the user waits for
let swallowed = false; // the last key is among them

/** Holds keys back while the user waits. Some senders of keys send the letter of one nevertheless. */
function hold(event: KeyboardEvent): void {
  if (!event.isTrusted || event.isComposing || /^(Control|Shift|Alt|AltGraph|Meta|Process|Unidentified)$/.test(event.key)) {
    return;
  }
  if (event.type === "keydown") {
    swallowed = awaited > 0 || held.length > 0;
  }
  if (swallowed) {
    event.preventDefault();
    event.stopImmediatePropagation();
    held.push(...(event.type === "keydown" ? [event] : []));
  }
}

/** Presses the held keys again, one after the other, as each may open something that the next is for. */
async function release(): Promise<void> {
  awaited--;
  while (held.length > 0) {
    await new Promise((done) => setTimeout(done));
    if (awaited > 0) {
      return;
    }
    const key = held[0];
    if (key !== undefined) {
      press(key);
      held.shift();
    }
  }
}

/** Loads a module that the user waits for, such as a dialog. Keys that are pressed meanwhile are pressed again when it is there. */
export async function loadAsked<T>(module: Module<T>): Promise<T | undefined> {
  const before = loadedNow(module);
  if (before !== undefined) {
    return before;
  }
  for (const kind of ["keydown", "keypress"] as const) {
    addEventListener(kind, hold, { capture: true }); // once, whatever the number of calls
  }
  awaited++;
  let waits = true;
  const done = (): void => {
    if (waits) {
      waits = false;
      void release();
    }
  };
  const late = setTimeout(() => { // nobody types ahead for so long
    held.length = 0;
    done();
  }, mostHeldMillis);
  const part = await load(module);
  clearTimeout(late);
  if (part === undefined) {
    held.length = 0;
  }
  setTimeout(done); // it is shown then
  return part;
}

/** Presses a key again, on what has the focus now. */
function press({ key, code, ctrlKey, altKey, metaKey, shiftKey }: KeyboardEvent): void {
  const on = document.activeElement ?? document.body;
  if (!on.dispatchEvent(new KeyboardEvent("keydown", { key, code, ctrlKey, altKey, metaKey, shiftKey, bubbles: true, cancelable: true })) || ctrlKey || metaKey) {
    return;
  }
  if ([...key].length === 1) {
    document.execCommand("insertText", false, key); // there is no other way that works for all text fields
  } else if (key === "Backspace") {
    document.execCommand("delete");
  } else if (key === "Enter" && on instanceof HTMLElement && on.matches("button, a")) {
    on.click();
  } else if (key === "Escape") {
    on.closest("dialog")?.close();
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
