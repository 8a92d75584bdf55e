// Elements.

/** Creates an element with a class and a text. */
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

/** Creates a button. Its title is also its accessible name if the text is only a sign. */
export function button(text: string, run: () => void, title = "", className = "btn quiet"): HTMLButtonElement {
  const element = make("button", className, text);
  element.type = "button";
  if (title !== "") {
    element.title = title;
    if (!/\p{L}{2}/u.test(text)) {
      element.setAttribute("aria-label", title);
    }
  }
  element.addEventListener("click", run);
  return element;
}
