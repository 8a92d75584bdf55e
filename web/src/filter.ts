// The list of messages narrows while a person types, and begins at the open one. Without a script the same box is a form.

function showCurrent(): void {
  const item = document.querySelector<HTMLElement>(".rail section [aria-current]");
  const rail = item?.closest<HTMLElement>(".rail");
  if (item && rail) {
    rail.scrollTop += item.getBoundingClientRect().top - rail.getBoundingClientRect().top - rail.clientHeight / 2;
  }
}

export function startFilter(): void {
  document.addEventListener("DOMContentLoaded", showCurrent);
  document.addEventListener("input", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || !box.hasAttribute("data-filter")) {
      return;
    }
    const words = box.value.toLowerCase().split(/\s+/).filter((w) => w !== "");
    const rail = box.closest(".rail");
    let left = 0;
    for (const section of rail?.querySelectorAll("section") ?? []) {
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
      none.hidden = left > 0;
    }
  });
}
