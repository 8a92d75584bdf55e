// The page of the workbench while it is open, for parts of the pages that do without it.

import type { Page } from "../app/page";

let opened: Page | undefined;

/** The page, once started. */
export function openPage(): Page | undefined {
  return opened;
}

/** Tells which page was started. */
export function startedPage(page: Page): void {
  opened = page;
}
