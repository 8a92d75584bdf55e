// Files that the user drops or chooses, and the forms of the library. What is done with them is loaded with the first ones; app/sample.ts has texts.

import { make } from "./dom";
import { load, prefetch } from "./load";

/** What is done with files and forms. */
interface Intake {
  take(workspace: string, files: File[]): void;
  upload(workspace: string, files: File[], replace: boolean): Promise<void>;
  settings(form: HTMLFormElement): void;
}

let intake: () => Promise<Intake>;

const captureFiles = ".pcap,.pcapng,.cap,.gz,.log,.txt,.bin,.pkt,.msb,.yaml,.json,.jsonl,.csv,.tsv,.xml,.pdml,.har,.flow,.zip,.tar,.tgz,.mcpr";

/** Lets the user choose files, which are stored as captures, or are taken like dropped ones. */
export function chooseCapture(): void {
  choose("Capture files", captureFiles);
}

/** Lets the user choose any files, which are taken like dropped ones. */
export function chooseFiles(): void {
  choose("Files of the project", "");
}

function choose(ariaLabel: string, accept: string): void {
  const workspace = document.getElementById("main")?.dataset["workspace"];
  if (workspace === undefined) {
    return;
  }
  document.getElementById("capture-files")?.remove(); // of a dialog that was canceled
  const picker = make("input", "sr-only");
  Object.assign(picker, { id: "capture-files", type: "file", multiple: true, accept, ariaLabel, tabIndex: -1 });
  picker.addEventListener("change", () => {
    const files = Array.from(picker.files ?? []);
    picker.remove();
    if (files.length > 0) {
      take(workspace, files);
    }
  });
  document.body.append(picker); // outside the document, a browser may drop the choice
  picker.click();
}

export function take(workspace: string, files: File[]): void {
  void load(intake).then((m) => m?.take(workspace, files));
}

/** Follows files and forms; `module` loads what does something with them. */
export function startUpload(module: () => Promise<Intake>): void {
  intake = module;
  prefetch(intake);
  const main = (): HTMLElement | null => document.querySelector<HTMLElement>("#main[data-workspace]");
  let depth = 0;
  const mark = (on: boolean): void => {
    main()?.classList.toggle("dropping", on);
  };
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragenter", (event) => {
    if (hasFiles(event)) {
      depth++;
      mark(true);
    }
  });
  document.addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    mark(depth > 0);
  });
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event)) {
      event.preventDefault();
    }
  });
  document.addEventListener("drop", (event) => {
    depth = 0;
    mark(false);
    const files = Array.from(event.dataTransfer?.files ?? []);
    const workspace = main()?.dataset["workspace"];
    if (files.length === 0 || workspace === undefined) {
      return;
    }
    event.preventDefault();
    take(workspace, files);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form instanceof HTMLFormElement && form.id === "library-settings") {
      event.preventDefault();
      void load(intake).then((m) => m?.settings(form));
      return;
    }
    const workspace = main()?.dataset["workspace"];
    if (!(form instanceof HTMLFormElement) || form.id !== "upload" || workspace === undefined) {
      return;
    }
    const replace = form.elements.namedItem("replace");
    const picked = form.elements.namedItem("files");
    if (picked instanceof HTMLInputElement && picked.files !== null && picked.files.length > 0) {
      event.preventDefault();
      const files = Array.from(picked.files);
      void load(intake).then((m) => m?.upload(workspace, files, replace instanceof HTMLInputElement && replace.checked).then(() => form.reset()));
    }
  });
}
