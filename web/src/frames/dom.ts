// Elements, as the parts of the list make them.

/** An element with a class and a text. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") {
    element.className = className;
  }
  if (text !== "") {
    element.textContent = text;
  }
  return element;
}

/** A button; where its text is a sign, `label` says what it does. */
export function button(className: string, text: string, run: () => void, label = ""): HTMLButtonElement {
  const element = make("button", className, text);
  element.type = "button";
  if (label !== "") {
    element.setAttribute("aria-label", label);
    element.title = label;
  }
  element.addEventListener("click", run);
  return element;
}
