// Texts of definitions that were typed and not saved. They are kept in this browser, so that a page that is closed or shows another
// definition loses nothing.

export interface Draft {
  text: string;
  base: string; // the revision that the edit began with
}

const prefix = "wirebench.draft.";
const most = 100; // drafts in one browser; the oldest give way

function name(workspace: string, message: string): string {
  return `${prefix}${workspace}.${message}`;
}

/** Keeps a draft, or forgets it. */
export function keepDraft(workspace: string, message: string, draft: Draft | undefined): void {
  if (message === "") {
    return;
  }
  const key = name(workspace, message);
  try {
    if (draft === undefined) {
      localStorage.removeItem(key);
      return;
    }
    localStorage.setItem(key, JSON.stringify({ ...draft, at: Date.now() }));
    tidy();
  } catch {
    // No room or no storage: the text lasts as long as the page.
  }
}

/** The draft of a definition, if there is one. */
export function takeDraft(workspace: string, message: string): Draft | undefined {
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
