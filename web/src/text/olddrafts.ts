// Unsaved texts that earlier versions of the program have left in this browser. Today they are in the rooms of the server.

export interface OldDraft {
  key: string;
  message: string;
  text: string;
  base: string; // revision of the file, "" for a new definition
}

/** The drafts of a project. A key is wirebench.draft.PROJECT.FILE, a line break and the name of a tab. */
export function oldDrafts(workspace: string): OldDraft[] {
  const start = `wirebench.draft.${workspace}.`;
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(start)).flatMap((key) => {
      const { text, base, message } = JSON.parse(localStorage.getItem(key) ?? "{}") as { text?: unknown; base?: unknown; message?: unknown };
      const of = typeof message === "string" ? message : key.slice(start.length).replace(/\n.*/, "").replace(/\.def$/, "");
      return typeof text === "string" && typeof base === "string" ? [{ key, message: of, text, base }] : [];
    });
  } catch {
    return []; // no storage, or others have written there
  }
}
