// The keyboard in tables of fields: one row is in the tab order, up and down go from row to row. Left and right close and open a row
// that has others inside (aria-expanded), left goes out to the row around; a click on its sign (.fold) does the same.
//
// A table with class tree or layout-table whose rows carry tabindex takes part. What is inside a row follows it with a higher aria-level.

function rowsAround(row: HTMLElement): HTMLElement[] {
  const table = row.closest("table");
  return table === null ? [] : Array.from(table.querySelectorAll<HTMLElement>("tbody tr[tabindex]:not([hidden])"));
}

function focusedRow(target: EventTarget | null): HTMLElement | null {
  return target instanceof HTMLElement && target.matches(".tree tr[tabindex],.layout-table tr[tabindex]") ? target : null;
}

function destination(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return Math.min(at + 1, count - 1);
    case "ArrowUp":
      return Math.max(at - 1, 0);
    case "PageDown":
      return Math.min(at + 10, count - 1);
    case "PageUp":
      return Math.max(at - 10, 0);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

function level(row: Element): number {
  return Number(row.getAttribute("aria-level") ?? "1");
}

/** Opens or closes a row. What was closed inside stays closed. */
function expand(row: Element, open: boolean): void {
  row.setAttribute("aria-expanded", String(open));
  let closed = open ? Infinity : level(row); // rows deeper than that are hidden
  for (let next = row.nextElementSibling; next instanceof HTMLElement && level(next) > level(row); next = next.nextElementSibling) {
    if (level(next) <= closed) {
      closed = Infinity;
    }
    next.hidden = !open || level(next) > closed;
    if (next.getAttribute("aria-expanded") === "false") {
      closed = Math.min(closed, level(next));
    }
  }
}

/** Does what left or right asks of a row; returns where the focus goes, if it moves. */
function sideways(row: HTMLElement, key: string): Element | null {
  const open = row.getAttribute("aria-expanded");
  if (key === "ArrowRight" && open === "false") {
    expand(row, true);
  } else if (key === "ArrowLeft" && open === "true") {
    expand(row, false);
  } else if (key === "ArrowLeft") {
    let around = row.previousElementSibling;
    while (around !== null && level(around) >= level(row)) {
      around = around.previousElementSibling;
    }
    return around;
  }
  return null;
}

export function startTree(): void {
  document.addEventListener("keydown", (event) => {
    const row = focusedRow(event.target);
    if (row === null || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      event.preventDefault();
      const around = sideways(row, event.key);
      if (around instanceof HTMLElement) {
        around.focus();
      }
      return;
    }
    const rows = rowsAround(row);
    const to = destination(event.key, rows.indexOf(row), rows.length);
    const next = to === undefined ? undefined : rows[to];
    if (next !== undefined) {
      event.preventDefault();
      next.focus();
    }
  });
  document.addEventListener("click", (event) => {
    const sign = event.target instanceof Element ? event.target.closest(".fold") : null;
    const row = sign?.closest("tr[aria-expanded]");
    if (row !== null && row !== undefined) {
      expand(row, row.getAttribute("aria-expanded") === "false");
    }
  });
  document.addEventListener("focusin", (event) => {
    const row = focusedRow(event.target);
    if (row !== null) {
      for (const other of rowsAround(row)) {
        other.tabIndex = other === row ? 0 : -1;
      }
    }
  });
}
