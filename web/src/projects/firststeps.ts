// The first steps on a new server, until they are closed.

const storageKey = "wirebench.first-steps";

/** Hides the first steps if they were closed, before the page is drawn. */
export function startFirstSteps(): void {
  try {
    document.documentElement.classList.toggle("no-first-steps", localStorage.getItem(storageKey) === "closed");
  } catch {
    // Without storage they come again.
  }
}

/** Closes the first steps for good: somebody does so, or does something else. */
export function closeFirstSteps(): void {
  if (document.documentElement.classList.contains("no-first-steps")) {
    return;
  }
  try {
    localStorage.setItem(storageKey, "closed");
  } catch {
    // They come again.
  }
  document.documentElement.classList.add("no-first-steps");
  dispatchEvent(new Event("resize")); // the panes have more room
}
