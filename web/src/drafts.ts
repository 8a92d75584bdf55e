// Texts of definitions that were typed and not saved. They are kept in this browser, so that a page that is closed or shows another
// definition loses nothing.

export interface Draft {
  text: string;
  base: string; // the revision that the edit began with
}

const prefix = "wirebench.draft.";
const most = 100; // drafts in one browser; the oldest give way

/** A draft is of a file: the list says which messages are of one that has several. */
function name(workspace: string, message: string): string {
  const link = document.querySelector(`#rail-list .item[data-file] a[href$="?message=${CSS.escape(encodeURIComponent(message))}"]`);
  return `${prefix}${workspace}.${link?.closest<HTMLElement>(".item")?.dataset["file"] ?? message}`;
}

const soon = 300; // milliseconds; writing on each key would make typing slower
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
    localStorage.setItem(now.key, JSON.stringify({ ...now.draft, at: Date.now() }));
    tidy();
  } catch {
    // No room or no storage: the text lasts as long as the page.
  }
}

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
    timer = setTimeout(write, soon);
    return;
  }
  waiting = undefined;
  clearTimeout(timer);
  try {
    localStorage.removeItem(key);
  } catch {
    // There is nothing to forget.
  }
}

/** The draft of a definition, if there is one. */
export function takeDraft(workspace: string, message: string): Draft | undefined {
  write();
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name(workspace, message)) ?? "null");
    if (typeof value === "object" && value !== null && "text" in value && "base" in value && typeof value.text === "string" && typeof value.base === "string") {
      return { text: value.text, base: value.base };
    }
  } catch {
    // Not ours.
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
