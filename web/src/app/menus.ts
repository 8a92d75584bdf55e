// Menus of the page that are details elements: one is open at a time, and a click outside or Escape closes it. An entry that runs a command or
// opens a popover closes it first, so that the focus returns to the menu afterwards.

const closing = ".menu-box :is([data-command], [data-give-code], [data-segment], [popovertarget])";

export function startMenus(): void {
  document.addEventListener("click", (event) => {
    const entry = event.target instanceof Element ? event.target.closest(closing) : null;
    const menu = entry?.closest<HTMLDetailsElement>("details[data-menu][open]");
    if (menu != null) {
      menu.querySelector("summary")?.focus();
      menu.open = false;
    }
  }, true);
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details[data-menu][open]")) {
      if (!(event.target instanceof Node && menu.contains(event.target))) {
        menu.open = false;
      }
    }
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.target instanceof Element ? event.target.closest<HTMLDetailsElement>("details[data-menu][open]") : null;
    if (event.key === "Escape" && menu !== null) {
      event.preventDefault();
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
}
