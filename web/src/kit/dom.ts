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

/** Returns the place for menus, tips and small forms above the page: in the modal dialog, if there is one, else in the main part, as all
 * content is in a landmark of the page. */
export function above(): HTMLElement {
  return document.querySelector<HTMLElement>("dialog:modal") ?? document.querySelector<HTMLElement>("main") ?? document.body;
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

const looks = new WeakMap<Element, string>();

/** Whether an element does not look like that yet. */
export function write(element: Element, look: string): boolean {
  if (looks.get(element) === look) {
    return false;
  }
  looks.set(element, look);
  return true;
}

/** Sets a property, unless it has the value: each change costs drawing. */
export function put<T extends object, K extends keyof T>(of: T, name: K, value: T[K]): void {
  if (of[name] !== value) {
    of[name] = value;
  }
}
