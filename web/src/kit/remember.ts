// Open and closed parts of the page are remembered for the next page: details[data-remember="NAME"]. A part opened by the server, because the
// page is about it, stays open regardless.

const prefix = "wirebench.open.";

function stored(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    return null; // storage is not permitted
  }
}

/** Remembers whether a part is open. */
export function remember(name: string, open: boolean): void {
  try {
    localStorage.setItem(prefix + name, String(open));
  } catch {
    // The state then lasts as long as the page.
  }
}

/** Whether a part was left open; `otherwise` if it was never opened or closed. */
export function remembered(name: string, otherwise = false): boolean {
  return (stored(name) ?? String(otherwise)) === "true";
}

export function startRemember(): void {
  document.addEventListener("DOMContentLoaded", () => {
    for (const part of document.querySelectorAll<HTMLDetailsElement>("details[data-remember]")) {
      part.open ||= remembered(part.dataset["remember"] ?? "");
    }
  });
  document.addEventListener("click", (event) => {
    const summary = event.target instanceof Element ? event.target.closest("summary") : null;
    const part = summary?.parentElement;
    if (part instanceof HTMLDetailsElement && part.dataset["remember"] !== undefined) {
      remember(part.dataset["remember"], !part.open); // it is about to change
    }
  });
}
