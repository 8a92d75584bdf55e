// The tree of fields and the table of the layout: keyboard, collapsed rows, and editing of values.
//
// One row is in the tab order; up and down move between rows. Left and right collapse and expand a row with rows inside (aria-expanded), left
// also moves to the parent; clicking its sign (.fold) toggles it. The rows inside a row follow it with a higher aria-level. The server draws
// rows of a run of list elements (data-run) when they are expanded.

const rowSelector = ".tree tr[tabindex],.layout-table tr[tabindex]";
const folded = new Set<string>(); // paths of collapsed rows

function rowsAround(row: HTMLElement): HTMLElement[] {
  const table = row.closest("table");
  return table === null ? [] : Array.from(table.querySelectorAll<HTMLElement>("tbody tr[tabindex]:not([hidden])"));
}

function focusedRow(target: EventTarget | null): HTMLElement | null {
  return target instanceof HTMLElement && target.matches(rowSelector) ? target : null;
}

function destination(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
    case "j":
      return Math.min(at + 1, count - 1);
    case "ArrowUp":
    case "k":
      return Math.max(at - 1, 0);
    case "PageDown":
    case " ":
      return Math.min(at + 10, count - 1);
    case "PageUp":
      return Math.max(at - 10, 0);
    case "Home":
      return 0;
    case "End":
    case "G":
      return count - 1;
    default:
      return undefined;
  }
}

function level(row: Element): number {
  return Number(row.getAttribute("aria-level") ?? "1");
}

/** Shows a row expanded or collapsed. Collapsed rows inside stay collapsed. */
function show(row: Element, open: boolean): void {
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

/** Expands or collapses a row, and stores that by path. A run of elements is requested from the server. */
function expand(row: HTMLElement, open: boolean): void {
  if (row.dataset["run"] !== undefined) {
    row.querySelector<HTMLButtonElement>(".run")?.click();
    return;
  }
  const path = row.dataset["path"] ?? "";
  if (open) {
    folded.delete(path);
  } else {
    folded.add(path);
  }
  show(row, open);
}

/** Expands or collapses a row and all rows inside. */
function expandAll(row: HTMLElement, open: boolean): void {
  const inside: HTMLElement[] = [row];
  for (let next = row.nextElementSibling; next instanceof HTMLElement && level(next) > level(row); next = next.nextElementSibling) {
    inside.push(next);
  }
  for (const each of inside.reverse()) {
    if (each.hasAttribute("aria-expanded") && each.dataset["run"] === undefined) {
      expand(each, open);
    }
  }
}

/** Restores the collapsed rows after a redraw. */
export function refold(): void {
  if (folded.size === 0) {
    return;
  }
  for (const row of document.querySelectorAll<HTMLElement>(".tree tr[aria-expanded='true'][data-path]:not([data-run])")) {
    if (folded.has(row.dataset["path"] ?? "")) {
      show(row, false);
    }
  }
}

function around(row: HTMLElement): Element | null {
  let before = row.previousElementSibling;
  while (before !== null && level(before) >= level(row)) {
    before = before.previousElementSibling;
  }
  return before;
}

/** Handles left and right; returns the new focus, if it moves. */
function sideways(row: HTMLElement, key: string): Element | null {
  const open = row.getAttribute("aria-expanded");
  if (key === "ArrowRight" && open === "false") {
    expand(row, true);
  } else if (key === "ArrowLeft" && open === "true") {
    expand(row, false);
  } else if (key === "ArrowLeft" || key === "Backspace") {
    return around(row);
  }
  return null;
}

function moved(event: KeyboardEvent, row: HTMLElement): boolean {
  if (event.altKey || event.metaKey) {
    return false;
  }
  if (event.key === "ArrowRight" && (event.shiftKey || event.ctrlKey)) {
    if (event.ctrlKey) {
      for (const each of row.closest("tbody")?.querySelectorAll<HTMLElement>("tr[aria-expanded]") ?? []) {
        expandAll(each, true);
      }
    } else {
      expandAll(row, true);
    }
    return true;
  }
  if (event.ctrlKey || (event.shiftKey && event.key !== "G")) {
    return false;
  }
  if (["ArrowLeft", "ArrowRight", "Backspace"].includes(event.key)) {
    const next = sideways(row, event.key);
    if (next instanceof HTMLElement) {
      next.focus();
    }
    return true;
  }
  const rows = rowsAround(row);
  const to = destination(event.key, rows.indexOf(row), rows.length);
  const next = to === undefined ? undefined : rows[to];
  next?.focus();
  return next !== undefined;
}

/** Events of rows. */
export interface TreeEvents {
  edit(row: HTMLElement): void; // its value
  menu(row: HTMLElement, at: { x: number; y: number } | HTMLElement): void;
  insert(row: HTMLElement): void; // before this element, or at the end of this list
  remove(row: HTMLElement): void; // this element
}

export function startTree(events: TreeEvents): void {
  document.addEventListener("keydown", (event) => {
    const row = focusedRow(event.target);
    if (row === null || event.defaultPrevented) {
      return;
    }
    const inTree = row.closest(".tree") !== null && row.dataset["path"] !== undefined;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (moved(event, row)) {
      event.preventDefault();
    } else if (event.key === "Enter" && plain && row.hasAttribute("aria-expanded")) {
      event.preventDefault();
      expand(row, row.getAttribute("aria-expanded") === "false");
    } else if (inTree && plain && (event.key === "Enter" || event.key === "F2" || event.key === "e")) {
      event.preventDefault();
      events.edit(row);
    } else if (inTree && plain && (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey) || event.key === "c")) {
      event.preventDefault();
      events.menu(row, row.querySelector<HTMLElement>("td") ?? row);
    } else if (inTree && plain && event.key === "Insert") {
      event.preventDefault();
      events.insert(row);
    } else if (inTree && plain && event.key === "Delete" && row.dataset["element"] !== undefined) {
      event.preventDefault();
      events.remove(row);
    }
  });
  document.addEventListener("click", (event) => {
    const sign = event.target instanceof Element ? event.target.closest(".fold") : null;
    const row = sign?.closest<HTMLElement>("tr[aria-expanded]");
    if (row !== null && row !== undefined) {
      expand(row, row.getAttribute("aria-expanded") === "false");
    }
  });
  document.addEventListener("dblclick", (event) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".tree tr[data-path]") : null;
    if (row === null) {
      return;
    }
    if (row.hasAttribute("aria-expanded")) {
      expand(row, row.getAttribute("aria-expanded") === "false");
    } else {
      events.edit(row);
    }
  });
  document.addEventListener("contextmenu", (event) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".tree tr[data-path]") : null;
    if (row !== null && !event.shiftKey) {
      event.preventDefault();
      events.menu(row, { x: event.clientX, y: event.clientY });
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

/** Whether a value is being edited: the tree must not be redrawn meanwhile. */
export function isEditing(): boolean {
  return document.querySelector(".tree .value-edit") !== null;
}

/**
 * Replaces a row's value by a text field. commit takes the typed text and resolves to the reason for a refusal, or ""; after a refusal the
 * field stays. done is called when the field is removed.
 */
export function editValue(row: HTMLElement, text: string, commit: (typed: string) => Promise<string>, done: () => void): void {
  const cell = row.querySelector<HTMLElement>("td.value");
  if (cell === null || isEditing()) {
    return;
  }
  const before = Array.from(cell.childNodes);
  const input = document.createElement("input");
  input.className = "value-edit";
  input.value = text;
  input.spellcheck = false;
  input.autocomplete = "off";
  input.setAttribute("aria-label", `New value of ${row.dataset["path"] ?? ""}`);
  const why = document.createElement("span");
  why.className = "value-why";
  why.setAttribute("role", "alert");
  cell.replaceChildren(input, why);
  let busy = false;
  let closed = false; // removing the field blurs it, which would close it again
  const close = (): void => {
    if (closed) {
      return;
    }
    closed = true;
    if (input.isConnected) {
      cell.replaceChildren(...before);
      row.focus({ preventScroll: true });
    }
    done();
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (event.key === "Enter" && !event.isComposing && !busy) {
      event.preventDefault();
      busy = true;
      void commit(input.value).then((failed) => {
        busy = false;
        if (failed === "") {
          close();
          return;
        }
        why.textContent = failed;
        input.setAttribute("aria-invalid", "true");
        input.focus();
      });
    }
  });
  input.addEventListener("blur", () => {
    if (!busy && why.textContent === "") {
      close();
    }
  });
  input.focus();
  input.select();
}
