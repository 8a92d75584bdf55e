// What the list of captures at the side and the page of one of them tell each other; they are scripts of their own.

const look = "wb:captures";
const deleted = "wb:capture-deleted";

/** Has the list look at once whether captures are as it shows them. */
export function lookAtCaptures(): void {
  document.dispatchEvent(new Event(look));
}

export function onLookAtCaptures(run: () => void): void {
  document.addEventListener(look, run);
}

/** Says that a capture is not there any more. */
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
