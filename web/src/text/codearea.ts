// The place of the code beside the text of the definition. The pane is loaded when it is first opened.

import type { CodePane, CodeSubject } from "./codepane";
import { load } from "../kit/load";
import { changed as panesChanged } from "../kit/panes";
import { remembered, remember } from "../kit/remember";

interface Host {
  subject(): CodeSubject | undefined;
  save(target: string, anchor: HTMLElement): void;
}

const key = "code-pane";

/** The place. */
export class CodeArea {
  private readonly host: Host;
  private readonly root = document.getElementById("code-pane");
  private pane: CodePane | undefined;
  private open = false;

  constructor(host: Host) {
    this.host = host;
    document.addEventListener("wb:morphed", () => this.mark());
    if (remembered(key)) {
      this.toggle();
    }
  }

  /** Opens or closes the pane. */
  toggle(): void {
    if (this.root === null) {
      return;
    }
    this.open = !this.open;
    remember(key, this.open);
    this.root.hidden = !this.open;
    this.mark();
    panesChanged();
    if (this.open) {
      void this.start(this.root);
    }
  }

  private async start(root: HTMLElement): Promise<void> {
    const module = await load(() => import("./codepane"));
    if (module === undefined) {
      return;
    }
    this.pane ??= new module.CodePane(root, JSON.parse(root.dataset["targets"] ?? "[]") as { Name: string; Title: string }[], {
      ...this.host,
      close: () => {
        this.toggle();
        document.querySelector<HTMLElement>("#definition-head .menu > summary")?.focus();
      },
    });
    this.refresh();
  }

  private mark(): void {
    document.querySelector(".code-button")?.setAttribute("aria-pressed", String(this.open));
  }

  /** The definition may have changed. */
  refresh(): void {
    if (this.open) {
      this.pane?.changed();
    }
  }
}
