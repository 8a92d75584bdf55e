// The colour theme: as the system has it, or what the person chose, remembered in this browser.
//
// A button with data-theme-toggle goes round system, light, dark. Its data-theme-toggle="..." value is the choice in force.
// Load the script in <head> without defer, so that a chosen theme is there before anything is drawn.

const key = "wirebench.theme";
const choices = ["system", "light", "dark"] as const;
type Theme = (typeof choices)[number];

function isTheme(text: string | null): text is Theme {
  return choices.some((choice) => choice === text);
}

/** The remembered choice. A browser that refuses storage has none. */
function stored(): Theme {
  try {
    const text = localStorage.getItem(key);
    return isTheme(text) ? text : "system";
  } catch {
    return "system";
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // The choice then lasts as long as the page.
  }
}

function apply(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") {
    delete root.dataset["theme"];
  } else {
    root.dataset["theme"] = theme;
  }
  for (const button of document.querySelectorAll<HTMLElement>("[data-theme-toggle]")) {
    button.dataset["themeToggle"] = theme;
    button.setAttribute("aria-label", `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
  }
}

export function startTheme(): void {
  let theme = stored();
  apply(theme);
  document.addEventListener("DOMContentLoaded", () => apply(theme));
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || event.target.closest("[data-theme-toggle]") === null) {
      return;
    }
    theme = choices[(choices.indexOf(theme) + 1) % choices.length] ?? "system";
    store(theme);
    apply(theme);
  });
  // Another tab of the same browser chose.
  addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) {
      theme = stored();
      apply(theme);
    }
  });
}
