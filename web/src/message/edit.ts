// A text field in place of a value.

export interface EditOptions {
  text: string;
  label: string;
  /** What the text is chosen from; others are legal, too. */
  choices?: readonly { name: string; value: string }[] | undefined;
  /** Takes the typed text, and resolves to the reason for a refusal, or "". After a refusal the field stays. */
  commit(typed: string): Promise<string> | string;
  /** The element that gets the focus afterwards. */
  back: HTMLElement;
  /** The field was removed. */
  done(): void;
}

/** Replaces the content of an element by a text field. Enter commits; Escape, or leaving the field, does not. Returns what removes it. */
export function editIn(cell: HTMLElement, o: EditOptions): () => void {
  const input = document.createElement("input");
  input.className = "value-edit";
  const { choices = [] } = o;
  const list = document.createElement("datalist");
  if (choices.length === 0) {
    input.value = o.text;
  } else { // empty, so that all of them are offered
    input.placeholder = o.text;
    list.id = "value-choices";
    list.append(...choices.map(({ name, value }) => new Option(value === name ? "" : value, name)));
    input.setAttribute("list", list.id);
  }
  input.spellcheck = false;
  input.autocomplete = "off";
  input.setAttribute("aria-label", o.label);
  const why = document.createElement("span");
  why.className = "value-why";
  why.setAttribute("role", "alert");
  cell.replaceChildren(input, list, why);
  let busy = false;
  let closed = false; // removing the field blurs it, which would close it again
  const close = (focus: boolean): void => {
    if (closed) {
      return;
    }
    closed = true;
    const { isConnected } = input; // else the page has removed it
    if (isConnected) {
      cell.replaceChildren();
    }
    o.done();
    if (focus && isConnected) {
      o.back.focus({ preventScroll: true });
    }
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      close(true);
    } else if (event.key === "Enter" && !event.isComposing && !busy) {
      event.preventDefault();
      busy = true;
      void Promise.resolve(o.commit(choices.length > 0 && input.value === "" ? o.text : input.value)).then((failed) => {
        busy = false;
        if (failed === "") {
          close(true);
          return;
        }
        why.textContent = failed;
        input.setAttribute("aria-invalid", "true");
        input.focus();
      });
    }
  });
  input.addEventListener("blur", () => {
    if (!busy && why.textContent === "") {
      close(false);
    }
  });
  input.focus();
  input.select();
  return () => close(false);
}
