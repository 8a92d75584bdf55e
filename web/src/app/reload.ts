// The input of a page, kept for a reload of its tab.

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
  const [navigation] = performance.getEntriesByType("navigation");
  if (!(navigation instanceof PerformanceNavigationTiming && navigation.type === "reload")) {
    return undefined;
  }
  try {
    const kept = JSON.parse(sessionStorage.getItem(pasted) ?? "null") as { of: string; pasted: Pasted } | null;
    return kept?.of === `${workspace}.${message}` ? kept.pasted : undefined;
  } catch {
    return undefined; // no storage
  }
}
