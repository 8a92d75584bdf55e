// Drafts: unsaved texts of definitions, stored in this browser, so that closing the page or opening another definition loses nothing. Each tab
// has its own drafts; those of closed tabs go to the next tab that opens the definition.

import { listedFile } from "./messages";
import { notify } from "./notify";

export interface Draft {
  text: string;
  base: string; // the revision at the start of the edit
}

/** A stored draft. */
export interface Kept extends Draft {
  message: string;
  at: number; // milliseconds since 1970
  key: string;
}

const prefix = "wirebench.draft."; // a key is this, the workspace, a dot, the file, a line break, the tab
const tabs = "wirebench.tab."; // followed by the name of a tab: it is open
const here = "wirebench.typed"; // the last draft of this tab
const most = 100; // drafts in a browser; the oldest of closed tabs are deleted

let tab = "";
const mine = new Map<string, string>(); // drafts stored by this page

/** Calls a function that uses the browser's storage, which may be full, missing or invalid. */
function attempt<T>(f: () => T): T | undefined {
  try {
    return f();
  } catch {
    return undefined;
  }
}

function enter(name: string): void {
  tab = name;
  attempt(() => {
    sessionStorage.setItem(tabs, tab);
    localStorage.setItem(tabs + tab, "1");
  });
}

const newName = (): string => Math.random().toString(36).slice(2);
const resume = (): void => enter(attempt(() => sessionStorage.getItem(tabs)) ?? newName());

resume();
addEventListener("pageshow", resume);
addEventListener("pagehide", () => attempt(() => localStorage.removeItem(tabs + tab)));
    // A duplicated tab starts with the name of its original.
addEventListener("storage", ({ key, newValue }) => {
  if (key === tabs + tab && newValue === null) {
    enter(tab); // the other tab was closed
  } else if (key !== null && mine.has(key) && mine.get(key) !== newValue) {
    const was = tab;
    enter(newName()); // the other tab has changed a common draft
    attempt(() => sessionStorage.setItem(here, (sessionStorage.getItem(here) ?? "").replaceAll(was, tab)));
    const kept = [...mine];
    mine.clear();
    for (const [old, value] of kept) {
      attempt(() => store(own(fileOfKey(old)), value));
    }
  }
});

function store(key: string, value: string): void {
  mine.set(key, value);
  localStorage.setItem(key, value);
}

const own = (file: string): string => `${file}\n${tab}`;
const fileOfKey = (key: string): string => key.replace(/\n.*/, "");

/** The file of a draft: the list has the messages of files with several. */
function fileOf(workspace: string, message: string): string {
  return `${prefix}${workspace}.${listedFile(message) ?? message}`;
}

const atOnce = 1 << 14; // characters written at each keystroke; a reloaded page may get no other chance
const soon = 300; // milliseconds, for longer texts, so that typing stays fast
let waiting: { key: string; draft: Draft & { message: string } } | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let unkept: string | undefined; // the key of a draft that lasts only as long as the page

function write(): void {
  clearTimeout(timer);
  const now = waiting;
  waiting = undefined;
  if (now === undefined) {
    return;
  }
  const isNew = !mine.has(now.key);
  const kept = attempt(() => {
    sessionStorage.setItem(here, JSON.stringify({ ...now.draft, key: now.key }));
    store(now.key, JSON.stringify({ ...now.draft, at: Date.now() }));
    return true;
  });
  if (kept === undefined) {
    if (unkept === undefined) {
      notify("This browser cannot store unsaved text: its storage is full or disabled. Save the definition before you close the page.", "err");
    }
    unkept = now.key;
    return;
  }
  unkept = undefined;
  if (isNew) {
    attempt(() => {
      for (const old of all(prefix).slice(most).filter(({ key }) => isClosed(key))) {
        localStorage.removeItem(old.key);
      }
    });
  }
}

/** Whether no open tab has a draft. */
const isClosed = (key: string): boolean => attempt(() => localStorage.getItem(tabs + key.slice(key.indexOf("\n") + 1))) === null;

addEventListener("beforeunload", (event) => {
  write(); // the next page may read before this one is hidden
  if (unkept !== undefined) {
    event.preventDefault(); // the browser asks
  }
});
addEventListener("pagehide", write);
document.addEventListener("visibilitychange", write);

/** Stores a draft, soon or before the page closes, or deletes it at once. */
export function keepDraft(workspace: string, message: string, draft: Draft | undefined): void {
  if (message === "") {
    return;
  }
  const key = own(fileOf(workspace, message));
  if (waiting !== undefined && waiting.key !== key) {
    write();
  }
  if (draft !== undefined) {
    waiting = { key, draft: { ...draft, message } };
    clearTimeout(timer);
    if (draft.text.length <= atOnce) {
      write();
    } else {
      timer = setTimeout(write, soon);
    }
    return;
  }
  waiting = undefined;
  unkept = undefined;
  clearTimeout(timer);
  mine.delete(key);
  attempt(() => {
    localStorage.removeItem(key);
    sessionStorage.removeItem(here);
  });
}

/** The draft of a definition, if any: of this tab, or the newest of closed tabs, which this tab takes over. */
export function takeDraft(workspace: string, message: string): Draft | undefined {
  write();
  const file = fileOf(workspace, message);
  const key = own(file);
  const kept = attempt(() => read(localStorage, key));
  if (kept !== undefined) {
    return kept;
  }
  const left = all(file).find((draft) => fileOfKey(draft.key) === file && isClosed(draft.key));
  if (left !== undefined) {
    attempt(() => {
      store(key, JSON.stringify({ ...left, key: undefined }));
      localStorage.removeItem(left.key); // not before: the storage may be full
    });
  }
  return left;
}

/** The drafts of other tabs, of a definition or of the workspace, newest first. */
export function otherDrafts(workspace: string, message?: string): Kept[] {
  const file = fileOf(workspace, message ?? "");
  return all(file).filter(({ key }) => !key.endsWith(`\n${tab}`) && (message === undefined || fileOfKey(key) === file));
}

/** Gives the drafts of a renamed message its new name: those of this tab, and of closed tabs. */
export function moveDrafts(workspace: string, from: string, to: string): void {
  write();
  const [was, is] = [fileOf(workspace, from), fileOf(workspace, to)];
  for (const draft of all(`${was}\n`)) {
    const of = draft.key.slice(was.length + 1);
    if (of === tab || isClosed(draft.key)) {
      const { text, base, at } = draft;
      attempt(() => {
        mine.delete(draft.key);
        localStorage.setItem(`${is}\n${of}`, JSON.stringify({ text, base, message: to, at }));
        localStorage.removeItem(draft.key);
      });
    }
  }
}

/** The stored drafts whose keys have a prefix, newest first. */
function all(begin: string): Kept[] {
  return (attempt(() => Object.keys(localStorage)) ?? [])
    .flatMap((key) => (key.startsWith(begin) ? (read(localStorage, key) ?? []) : []))
    .sort((a, b) => b.at - a.at);
}

/** The last text typed in this tab, if it belongs to a definition and the page was reloaded. Its address may be older. */
export function typedBefore(workspace: string, message: string): Draft | undefined {
  const draft = isReload() ? attempt(() => read(sessionStorage, here)) : undefined;
  return draft?.key === own(fileOf(workspace, message)) ? draft : undefined;
}

/** The input, and the shown part of it. */
export interface Pasted {
  input: string;
  form: string;
  bycode: boolean;
  show: number;
  edits: Record<string, string>;
  bookmarks: string;
}

const pasted = "wirebench.pasted"; // of this tab

/** Stores the input for a reload of this tab. */
export function keepPasted(workspace: string, { message, input, form, bycode, show, edits, bookmarks }: Pasted & { message: string }): void {
  try {
    sessionStorage.setItem(pasted, JSON.stringify({ of: `${workspace}.${message}`, pasted: { input, form, bycode, show, edits, bookmarks } }));
  } catch {
    sessionStorage.removeItem(pasted); // no space: delete the input of an earlier page
  }
}

/** The input before this page was reloaded, if it shows the same definition. */
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

function read(storage: Storage, key: string): Kept | undefined {
  const value = attempt(() => JSON.parse(storage.getItem(key) ?? "null") as Partial<Kept> | null);
  if (typeof value?.text !== "string" || typeof value.base !== "string") {
    return undefined; // invalid
  }
  const { text, base, message = fileOfKey(key).replace(/^wirebench\.draft\.[^.]*\./, "").replace(/\.def$/, ""), at = 0 } = value;
  return { text, base, message, at, key: value.key ?? key };
}
