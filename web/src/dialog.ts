// What the queue of held messages and the dialogs about running traffic are made of.

/** An element with a class and a text. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

export function button(text: string, run: () => void, title = "", className = "btn quiet"): HTMLButtonElement {
  const element = make("button", className, text);
  element.type = "button";
  element.title = title;
  element.addEventListener("click", run);
  return element;
}

export function arrow(dir: string): string {
  return dir === "c2s" ? "C→S" : "S→C";
}

/** A label over a control. */
export function field(label: string, control: HTMLElement): HTMLElement {
  const element = make("label", "field");
  element.append(make("span", "", label), control);
  return element;
}

/** A choice of values with their texts. */
export function select(options: readonly (readonly [string, string])[], chosen = ""): HTMLSelectElement {
  const element = make("select");
  for (const [value, text] of options) {
    element.append(new Option(text, value, false, value === chosen));
  }
  return element;
}

/** A dialog that goes when it is closed. What goes wrong is said in it: messages of the page are behind it. */
export function dialog(title: string, label = title): { box: HTMLDialogElement; form: HTMLFormElement; says: HTMLElement; say: (text: string, wrong?: boolean) => void } {
  const box = make("dialog", "operate");
  const form = make("form");
  form.method = "dialog";
  form.append(make("h2", "", title));
  box.append(form);
  box.setAttribute("aria-label", label);
  const says = make("p", "operate-says");
  says.setAttribute("role", "status");
  box.addEventListener("close", () => box.remove());
  form.addEventListener("submit", (event) => event.preventDefault());
  // Keys in a dialog are those of its fields. Enter does what its first button does, where it has no use of its own.
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const { target } = event;
    const single = target instanceof HTMLInputElement && target.type === "text" && target.list === null;
    if (event.key === "Enter" && !event.isComposing && (single || (target instanceof HTMLTextAreaElement && (event.ctrlKey || event.metaKey)))) {
      event.preventDefault();
      form.querySelector<HTMLButtonElement>(".btn.primary")?.click();
    }
  });
  document.body.append(box);
  box.showModal();
  return {
    box, form, says,
    say: (text, wrong = true) => {
      says.textContent = text;
      says.classList.toggle("err", wrong);
    },
  };
}
