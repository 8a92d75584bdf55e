// The page of the workbench while it is open, for parts of the pages that do without it.

/** What features ask the open page for. */
export interface OpenPage {
  readonly storedMessage: string; // the open definition if it is stored, else ""
  readonly openFile: string; // its file
  readonly definition: string; // its text
  readonly bytes: Uint8Array; // of the message
  readonly sample: { paste(text: string, none?: string): Promise<void> };
  /** Opens a definition, at a line. */
  openMessage(name: string, line?: number): Promise<void>;
  /** The text of a definition if it is open and has changed. */
  editedText(message: string): string | undefined;
  /** Shows a text of another time in place of the present one, which can be undone. */
  restore(text: string): void;
  /** Decodes the message by its code instead of the open definition. */
  byItsCode(): void;
  /** Shows the comments and suggestions that concern the person of the page. */
  openThreads(): void;
}

let opened: OpenPage | undefined;

/** The page, once started. */
export function openPage(): OpenPage | undefined {
  return opened;
}

/** Tells which page was started. */
export function startedPage(page: OpenPage): void {
  opened = page;
}
