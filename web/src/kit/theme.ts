// The color theme: the system's, or the user's choice, stored in this browser.
//
// A button with data-theme-toggle cycles through system, light, dark. The value of data-theme-toggle is the current choice. Load the script in
// <head> without defer, so that the theme applies to the first drawing.

const key = "wirebench.theme";
const choices = ["system", "light", "dark"] as const;
type Theme = (typeof choices)[number];

function isTheme(text: string | null): text is Theme {
  return choices.some((choice) => choice === text);
}

/** The stored choice. Without storage there is none. */
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
  // Another tab of the same browser changed it.
  addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) {
      theme = stored();
      apply(theme);
    }
  });
}
