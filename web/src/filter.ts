// The filter of the message list: input[data-filter] hides the messages (#rail-list .item[data-name]) whose name lacks a typed word. Enter
// opens the first visible message, arrow keys move through them.

function narrow(box: HTMLInputElement): void {
  const words = box.value.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const list = document.getElementById("rail-list");
  let left = 0;
  for (const section of list?.querySelectorAll<HTMLElement>("section, .undefined") ?? []) {
    let inSection = 0;
    for (const item of section.querySelectorAll<HTMLElement>(".item[data-name]")) {
      const name = item.dataset["name"]?.toLowerCase() ?? "";
      item.hidden = !words.every((w) => name.includes(w));
      inSection += item.hidden ? 0 : 1;
    }
    section.hidden = inSection === 0;
    left += inSection;
  }
  const none = list?.querySelector<HTMLElement>("[data-filter-none]");
  if (none !== null && none !== undefined) {
    none.hidden = left > 0 || words.length === 0;
  }
}

/** Filters the list again, after it was redrawn. */
export function refilter(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>("input[data-filter]")) {
    if (box.value !== "") {
      narrow(box);
    }
  }
}

/** The visible messages: not filtered out, and not in a closed part of the list. */
function shownLinks(): HTMLElement[] {
  return Array.from(document.querySelectorAll<HTMLElement>("#rail-list .item:not([hidden]) > a:first-child")).filter((a) => a.checkVisibility());
}

function onFilterKey(event: KeyboardEvent, box: HTMLInputElement): void {
  if (event.key === "Enter" || event.key === "ArrowDown") {
    const [first] = shownLinks();
    if (first === undefined) {
      return; // Enter sends the form: the server searches all names
    }
    event.preventDefault();
    if (event.key === "Enter") {
      first.click();
    } else {
      first.focus();
    }
  } else if (event.key === "Escape") {
    box.value = "";
    narrow(box);
    box.blur();
  }
}

function onListKey(event: KeyboardEvent, link: HTMLElement): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) {
    return;
  }
  event.preventDefault();
  const links = shownLinks();
  const at = links.indexOf(link) + step;
  (at < 0 ? document.querySelector<HTMLElement>("input[data-filter]") : links[at])?.focus();
}

export function startFilter(): void {
  document.addEventListener("input", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.dataset["filter"] !== undefined) {
      narrow(event.target);
    }
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (target instanceof HTMLInputElement && target.dataset["filter"] !== undefined) {
      onFilterKey(event, target);
      return;
    }
    const link = target instanceof Element ? target.closest<HTMLElement>("#rail-list .item > a") : null;
    if (link !== null) {
      onListKey(event, link);
    }
  });
}
