// The sample by hand: a text that is pasted or dropped takes its place, and the text of the bytes, which opens on demand, can be changed.

import { load, prefetch } from "../kit/load";
import { isTyping } from "../kit/keys";
import { notify } from "../kit/notify";
import { openPage } from "../kit/opened";
import { showPane } from "../kit/panes";
import type { Action, Answer } from "../message/socket";
import { take } from "../kit/upload";

const intake = () => import("../library/intake");

/** The page with the sample. */
export interface SampleHost {
  /** Makes a text the sample, as one step; the result takes it back, and forgets it if it should not come again. */
  put(text: string): (forget: boolean) => void;
  act(action: Action): Promise<Answer>;
  /** Bytes of the shown message. */
  size(): number;
  /** The bytes as text, if they are no longer those of the text of the sample. */
  other(): string | undefined;
  /** Moves the focus to the bytes. */
  focus(): void;
}

/** A number of bytes in words. */
export function sizeText(n: number): string {
  return `${n} ${n === 1 ? "byte" : "bytes"}`;
}

/** The field for the text of the bytes; null on the page of a capture. */
function area(): HTMLTextAreaElement | null {
  const found = document.getElementById("input");
  return found instanceof HTMLTextAreaElement ? found : null;
}

/** Puts a text into the field for the text of the bytes; returns whether it had another one. */
export function showText(text: string): boolean {
  const field = area();
  const isOther = field !== null && field.value !== text;
  if (isOther) {
    field.value = text;
  }
  return isOther;
}

/** The sample of a page. */
export class Sample {
  private readonly host: SampleHost;
  private closePasted = (): void => undefined; // the message about the last paste

  constructor(host: SampleHost) {
    this.host = host;
  }

  /** Follows what is typed into the text of the bytes. */
  listen(): void {
    area()?.addEventListener("input", (event) => {
      this.host.put(area()?.value ?? "");
      if (event instanceof InputEvent && /^insertFrom(Paste|Drop)$/.test(event.inputType)) {
        void this.host.act({ action: "paste" });
      }
    });
    area()?.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.isComposing) {
        event.preventDefault();
        document.getElementById("input-text")?.classList.remove("open");
        this.host.focus();
      }
    });
  }

  /** Puts a text with bytes in the place of the sample, which undo brings back. One without bytes changes nothing. */
  async paste(text: string, refused = "Not pasted"): Promise<void> {
    showText(text);
    if (document.documentElement.classList.contains("forms")) {
      return; // its button sends it
    }
    const back = this.host.put(text);
    const { failed = "" } = await this.host.act({ action: "paste" });
    this.closePasted();
    if (failed === "") {
      const list = document.querySelectorAll("#messages tbody tr").length;
      this.closePasted = notify(`Pasted ${list > 0 ? `${list} messages` : sizeText(this.host.size())}`, "ok", { title: "Undo", run: () => back(false) });
    } else {
      back(true);
      const [why = ""] = failed.split(";"); // the text, once it is opened, has all of it beside it
      this.closePasted = notify(`${refused}: ${why}`, "warn", { title: "Edit as text", run: () => this.edit(text) });
    }
  }

  /** Takes the text of the clipboard. A browser may keep it from pages: then one pastes into the text of the bytes. */
  async fromClipboard(takes: (text: string) => void): Promise<void> {
    const text = await Promise.resolve().then(() => navigator.clipboard.readText()).catch(() => undefined);
    if (text !== undefined) {
      takes(text);
      return;
    }
    this.edit();
    notify("This browser does not give the clipboard to pages: paste here", "warn");
  }

  /** Opens the text of the bytes, or another one in its place. */
  edit(other?: string): void {
    showPane(document.getElementById("bytes-pane") ?? document.body);
    document.getElementById("input-text")?.classList.add("open");
    const now = other ?? this.host.other();
    if (now !== undefined) {
      showText(now);
    }
    if (other !== undefined) {
      this.host.put(other);
    }
    area()?.focus();
    area()?.select();
  }
}

/** Takes what was pasted or dropped: on the workbench a text is the new sample, on the page of a capture it is offered as another one. */
function given(data: DataTransfer | null): boolean {
  const { workspace, capture } = document.getElementById("main")?.dataset ?? {};
  const files = Array.from(data?.files ?? []);
  const text = data?.getData("text/plain") ?? "";
  if (workspace === undefined || text.trim() === "" && files.length === 0) {
    return false;
  }
  if (text.trim() === "") {
    take(workspace, files);
  } else if (capture === undefined) {
    void openPage()?.sample.paste(text);
  } else {
    void load(intake).then((m) => m?.offer(workspace, text));
  }
  return true;
}

/** Follows what is pasted and dropped outside text fields, and the button that keeps a pasted text as a capture. upload.ts has dropped files. */
export function startSample(): void {
  prefetch(intake);
  document.addEventListener("click", (event) => {
    const { keepCapture } = (event.target instanceof Element ? event.target.closest<HTMLElement>("[data-keep-capture]") : null)?.dataset ?? {};
    const text = area()?.value;
    if (keepCapture !== undefined && text !== undefined) {
      void load(intake).then((m) => m?.keep(document.getElementById("main")?.dataset["workspace"] ?? "", keepCapture, text));
    }
  });
  document.addEventListener("paste", (event) => {
    if (!event.defaultPrevented && !isTyping(event.target) && document.querySelector("dialog[open]") === null && given(event.clipboardData)) {
      event.preventDefault();
    }
  });
  const hasText = ({ dataTransfer, target, defaultPrevented }: DragEvent): boolean =>
    !defaultPrevented && dataTransfer?.types.includes("text/plain") === true && !dataTransfer.types.includes("text/uri-list") && !isTyping(target);
  for (const type of ["dragover", "drop"] as const) {
    document.addEventListener(type, (event) => {
      if (hasText(event) && (type === "dragover" || given(event.dataTransfer))) {
        event.preventDefault();
      }
    });
  }
}
