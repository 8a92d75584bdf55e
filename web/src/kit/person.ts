// The name of the person where people do not sign in: chosen in this browser, and not checked by anyone.

const nameKey = "wirebench.name";

/** The chosen name, "" if none is. */
export function personName(): string {
  try {
    return localStorage.getItem(nameKey) ?? "";
  } catch {
    return ""; // no storage
  }
}

/** Chooses a name. */
export function choosePersonName(name: string): void {
  try {
    localStorage.setItem(nameKey, name);
  } catch {
    // Not permitted, or full: it is that of the next choice only.
  }
}
