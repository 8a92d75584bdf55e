// The list of messages narrows while a person types: input[data-filter] hides the items (.item[data-name]) of its list whose name does not
// have all typed words.

function narrow(box: HTMLInputElement): void {
  const words = box.value.toLowerCase().split(/\s+/).filter((w) => w !== "");
  const rail = box.closest(".rail");
  let left = 0;
  for (const section of rail?.querySelectorAll<HTMLElement>("section,.undefined") ?? []) {
    let inSection = 0;
    for (const item of section.querySelectorAll<HTMLElement>(".item[data-name]")) {
      const name = item.dataset["name"]?.toLowerCase() ?? "";
      item.hidden = !words.every((w) => name.includes(w));
      inSection += item.hidden ? 0 : 1;
    }
    section.hidden = inSection === 0;
    left += inSection;
  }
  const none = rail?.querySelector<HTMLElement>("[data-filter-none]");
  if (none !== null && none !== undefined) {
    none.hidden = left > 0 || words.length === 0;
  }
}

/** Narrows the list again, after it was drawn anew. */
export function refilter(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>("input[data-filter]")) {
    if (box.value !== "") {
      narrow(box);
    }
  }
}

export function startFilter(): void {
  document.addEventListener("input", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.dataset["filter"] !== undefined) {
      narrow(event.target);
    }
  });
  document.addEventListener("keydown", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.dataset["filter"] === undefined) {
      return;
    }
    const items = Array.from(box.closest(".rail")?.querySelectorAll<HTMLElement>(".item:not([hidden]) > a:first-child") ?? []).filter((a) => a.offsetParent !== null);
    if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      const [first] = items;
      if (event.key === "Enter") {
        first?.click();
      } else {
        first?.focus();
      }
    } else if (event.key === "Escape") {
      box.value = "";
      narrow(box);
      box.blur();
    }
  });
  document.addEventListener("keydown", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>(".rail .item > a") : null;
    if (link === null || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) {
      return;
    }
    event.preventDefault();
    const links = Array.from(link.closest(".rail")?.querySelectorAll<HTMLElement>(".item:not([hidden]) > a:first-child") ?? []).filter((a) => a.offsetParent !== null);
    const at = links.indexOf(link) + (event.key === "ArrowDown" ? 1 : -1);
    if (at < 0) {
      link.closest(".rail")?.querySelector<HTMLElement>("input[data-filter]")?.focus();
    } else {
      links[at]?.focus();
    }
  });
}
