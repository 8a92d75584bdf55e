// Choices between views of a part of the page: [data-segments="NAME"] has buttons with data-segment. The choice is stored and set as data-NAME
// on the document element, where the style sheet reads it. A change dispatches "wb:segment" on the document.

const prefix = "wirebench.view.";
const first: Readonly<Record<string, string>> = { layout: "diagram", fields: "tree", order: "both", lengths: "repair" };

function choose(name: string, choice: string): void {
  document.documentElement.dataset[name] = choice;
  for (const button of document.querySelectorAll<HTMLElement>(`[data-segments="${name}"] [data-segment]`)) {
    const on = button.dataset["segment"] === choice;
    button.setAttribute("aria-pressed", String(on));
  }
}

function remembered(name: string): string {
  try {
    const stored = localStorage.getItem(prefix + name);
    return stored === null || (name === "layout" && stored === "both") ? first[name] ?? "" : stored; // an earlier version had both
  } catch {
    return first[name] ?? "";
  }
}

export function startSegments(): void {
  const all = (): void => {
    for (const name of Object.keys(first)) {
      choose(name, remembered(name));
    }
  };
  all();
  document.addEventListener("DOMContentLoaded", all);
  document.addEventListener("wb:morphed", all);
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-segment]") : null;
    const name = button?.closest<HTMLElement>("[data-segments]")?.dataset["segments"];
    if (button === null || name === undefined) {
      return;
    }
    choose(name, button.dataset["segment"] ?? "");
    document.dispatchEvent(new CustomEvent("wb:segment"));
    try {
      localStorage.setItem(prefix + name, button.dataset["segment"] ?? "");
    } catch {
      // The choice then lasts as long as the page.
    }
  });
}
