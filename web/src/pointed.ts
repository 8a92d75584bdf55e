// The last line of the page says what is pointed at: its path, its type, and where it stands.

import { onLight } from "./link";

function cells(row: Element): string[] {
  return Array.from(row.querySelectorAll("td"), (cell) => cell.textContent?.trim().replace(/\s+/g, " ") ?? "");
}

export function startPointed(): void {
  let resting: string | undefined; // what the line says while nothing is pointed at
  onLight((lit) => {
    const line = document.getElementById("pointed");
    if (line === null) {
      return;
    }
    resting ??= line.textContent ?? "";
    const row = lit.find((element) => element.matches(".tree tr[data-path]"));
    if (row === undefined) {
      line.textContent = resting;
      return;
    }
    const [name, type, , offset, size] = cells(row);
    const path = row.getAttribute("data-path");
    line.textContent = `${path === "" ? name : path}: ${type === "" ? "" : `${type} `}@ ${offset} +${size}`;
  });
}
