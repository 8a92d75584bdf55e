// Wide examples and tables of the manual can be scrolled by keyboard.

/** Lets those parts of prose take the focus that are wider than their place. */
export function startScrollers(): void {
  const fit = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target instanceof HTMLElement) {
        if (target.scrollWidth > target.clientWidth) {
          target.tabIndex = 0;
        } else {
          target.removeAttribute("tabindex");
        }
      }
    }
  });
  for (const part of document.querySelectorAll(".page :is(pre, .scroll)")) {
    fit.observe(part);
  }
}
