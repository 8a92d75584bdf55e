// Texts of definitions that were typed and not saved. They are kept in this browser, so that a page that is closed or shows another
// definition loses nothing.

export interface Draft {
  text: string;
  base: string; // the revision that the edit began with
}

const prefix = "wirebench.draft.";
const here = "wirebench.typed"; // the last one of this tab
const most = 100; // drafts in one browser; the oldest give way

/** A draft is of a file: the list says which messages are of one that has several. */
function name(workspace: string, message: string): string {
  const link = document.querySelector(`#rail-list .item[data-file] a[href$="?message=${CSS.escape(encodeURIComponent(message))}"]`);
  return `${prefix}${workspace}.${link?.closest<HTMLElement>(".item")?.dataset["file"] ?? message}`;
}

const atOnce = 1 << 14; // characters that are written with each key; a page that is reloaded may not get to it any more
const soon = 300; // milliseconds, of longer texts: else typing would be slower
let waiting: { key: string; draft: Draft } | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function write(): void {
  clearTimeout(timer);
  const now = waiting;
  waiting = undefined;
  if (now === undefined) {
    return;
  }
  try {
    sessionStorage.setItem(here, JSON.stringify({ ...now.draft, key: now.key }));
    const isNew = localStorage.getItem(now.key) === null;
    localStorage.setItem(now.key, JSON.stringify({ ...now.draft, at: Date.now() }));
    if (isNew) {
      tidy();
    }
  } catch {
    // No room or no storage: the text lasts as long as the page.
  }
}

addEventListener("beforeunload", write); // the page that comes may read before this one hears that it is hidden
addEventListener("pagehide", write);
document.addEventListener("visibilitychange", write);

/** Keeps a draft, soon or before the page goes away, or forgets it at once. */
export function keepDraft(workspace: string, message: string, draft: Draft | undefined): void {
  if (message === "") {
    return;
  }
  const key = name(workspace, message);
  if (waiting !== undefined && waiting.key !== key) {
    write();
  }
  if (draft !== undefined) {
    waiting = { key, draft };
    clearTimeout(timer);
    if (draft.text.length <= atOnce) {
      write();
    } else {
      timer = setTimeout(write, soon);
    }
    return;
  }
  waiting = undefined;
  clearTimeout(timer);
  try {
    localStorage.removeItem(key);
    sessionStorage.removeItem(here);
  } catch {
    // There is nothing to forget.
  }
}

/** The draft of a definition, if there is one. */
export function takeDraft(workspace: string, message: string): Draft | undefined {
  write();
  return read(() => localStorage, name(workspace, message));
}

/** What was typed last in this tab, if it is of a definition and the page is one that was loaded anew. Its address may be older. */
export function typedBefore(workspace: string, message: string): Draft | undefined {
  if (!isReload()) {
    return undefined;
  }
  const draft = read(() => sessionStorage, here);
  return draft?.key === name(workspace, message) ? draft : undefined;
}

/** What was pasted, and what of it is shown. */
export interface Pasted {
  input: string;
  form: string;
  bycode: boolean;
  show: number;
  edits: Record<string, string>;
}

const pasted = "wirebench.pasted"; // of this tab

/** Keeps what was pasted for a reload of this tab. */
export function keepPasted(workspace: string, { message, input, form, bycode, show, edits }: Pasted & { message: string }): void {
  try {
    sessionStorage.setItem(pasted, JSON.stringify({ of: `${workspace}.${message}`, pasted: { input, form, bycode, show, edits } }));
  } catch {
    sessionStorage.removeItem(pasted); // no room: what an earlier page had is not what this one has
  }
}

/** What was pasted before this page was loaded anew, if it shows the same definition. */
export function pastedBefore(workspace: string, message: string): Pasted | undefined {
  if (!isReload()) {
    return undefined;
  }
  try {
    const kept = JSON.parse(sessionStorage.getItem(pasted) ?? "null") as { of: string; pasted: Pasted } | null;
    return kept?.of === `${workspace}.${message}` ? kept.pasted : undefined;
  } catch {
    return undefined; // no storage
  }
}

function isReload(): boolean {
  const [navigation] = performance.getEntriesByType("navigation");
  return navigation instanceof PerformanceNavigationTiming && navigation.type === "reload";
}

function read(storage: () => Storage, key: string): (Draft & { key: string }) | undefined {
  try {
    const value: unknown = JSON.parse(storage().getItem(key) ?? "null");
    if (typeof value === "object" && value !== null && "text" in value && "base" in value && typeof value.text === "string" && typeof value.base === "string") {
      return { text: value.text, base: value.base, key: "key" in value && typeof value.key === "string" ? value.key : key };
    }
  } catch {
    // Not ours, or no storage.
  }
  return undefined;
}

function tidy(): void {
  const all: [at: number, key: string][] = [];
  for (let i = 0; i < localStorage.length; i++) {
    const key = localStorage.key(i) ?? "";
    if (key.startsWith(prefix)) {
      const at: unknown = (JSON.parse(localStorage.getItem(key) ?? "{}") as { at?: unknown }).at;
      all.push([typeof at === "number" ? at : 0, key]);
    }
  }
  all.sort((a, b) => a[0] - b[0]);
  for (const [, key] of all.slice(0, Math.max(0, all.length - most))) {
    localStorage.removeItem(key);
  }
}
