// Messages between the list of captures in the rail and the page of a capture, which are in separate scripts.

const look = "wb:captures";
const deleted = "wb:capture-deleted";

/** Makes the list update the state of the captures. */
export function lookAtCaptures(): void {
  document.dispatchEvent(new Event(look));
}

export function onLookAtCaptures(run: () => void): void {
  document.addEventListener(look, run);
}

/** Reports a deleted capture. */
export function tellDeleted(id: string): void {
  document.dispatchEvent(new CustomEvent(deleted, { detail: id }));
}

export function onDeleted(id: string, run: () => void): void {
  document.addEventListener(deleted, (event) => {
    if (event instanceof CustomEvent && event.detail === id) {
      run();
    }
  });
}
