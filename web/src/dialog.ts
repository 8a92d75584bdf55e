// What the queue of held messages and the dialogs about running traffic are made of.

import { button, make } from "./dom";

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

/** Asks before something that cannot be undone; resolves to whether it is to be done. */
export function confirmDialog(question: string, action: string): Promise<boolean> {
  const { box, form } = dialog(action, question);
  box.classList.add("question");
  let yes = false;
  const act = button(action, () => {
    yes = true;
    box.close();
  }, "", "btn primary");
  const cancel = button("Cancel", () => box.close());
  const row = make("div", "row");
  row.append(act, cancel);
  form.append(make("p", "", question), row);
  cancel.focus();
  return new Promise((resolve) => box.addEventListener("close", () => resolve(yes)));
}

/** Asks for a line of text; `wrong` says what is wrong with it, "" for nothing. Resolves to undefined when it is given up. */
export function askDialog(title: string, hint: string, action: string, wrong: (text: string) => string): Promise<string | undefined> {
  const { box, form, says, say } = dialog(title);
  box.classList.add("question");
  let answer: string | undefined;
  const input = make("input");
  input.type = "text";
  input.autocomplete = "off";
  input.spellcheck = false;
  const row = make("div", "row");
  row.append(button(action, () => {
    const text = input.value.trim();
    const why = wrong(text);
    if (why !== "") {
      say(why);
      return;
    }
    answer = text;
    box.close();
  }, "", "btn primary"), button("Cancel", () => box.close()));
  form.append(field(hint, input), row, says);
  input.focus();
  return new Promise((resolve) => box.addEventListener("close", () => resolve(answer)));
}
