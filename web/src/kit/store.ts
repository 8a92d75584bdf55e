// Settings of the list, stored in this browser.

const prefix = "wirebench.frames.";

/** A stored value, or undefined. It may be anything, since another version of the page may have written it. */
export function recall(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(prefix + name) ?? "null") ?? undefined;
  } catch {
    return undefined; // no storage, or invalid
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(prefix + name, JSON.stringify(value));
  } catch {
    // The setting then lasts as long as the page.
  }
}

export function recallText(name: string, otherwise: string): string {
  const value = recall(name);
  return typeof value === "string" ? value : otherwise;
}

export function recallList<T>(name: string, fits: (value: unknown) => value is T): T[] {
  const value = recall(name);
  return Array.isArray(value) ? value.filter(fits) : [];
}
