// The text that the address of the page has, shown beside that of the editor: nobody may replace a text by a link.

import { unpacked } from "../../kit/address";
import { dialogs } from "../../kit/dialogs";
import { notify } from "../../kit/notify";
import type { DefinitionField } from "../../text/editor/field";

/** The page. */
interface LinkedHost {
  readonly workspace: string;
  readonly editor: Pick<DefinitionField, "text" | "replace">;
  message(): string; // the name of the open definition
  file(): string; // of the open definition, "" if it is not stored
  isEmpty(): boolean; // the address names a new definition, which has no text yet
  restore(text: string): void; // puts a text into the editor
  shown(): void; // the address of the page may lose its text: it is not shown again when the page is loaded again
}

/** The text. */
export class Linked {
  private readonly host: LinkedHost;
  private text: string | undefined; // until it is shown
  private isAnswered = false;

  constructor(host: LinkedHost, { text, code }: { text?: string; code?: string }) {
    this.host = host;
    this.text = text;
    if (code !== undefined) {
      void unpacked(code).then((of) => {
        if (of === undefined) {
          notify("The definition in this link cannot be read", "err");
        } else {
          this.text = of;
          this.show();
        }
      });
    }
  }

  /** The server has said what is in the editor. */
  answered(): void {
    this.isAnswered = true;
    this.show();
  }

  private show(): void {
    const { text, host } = this;
    if (text === undefined || !this.isAnswered) {
      return;
    }
    this.text = undefined;
    if (text === host.editor.text) {
      return;
    }
    if (host.isEmpty()) {
      host.editor.replace(text);
      return;
    }
    void this.beside("The address of this page has a text of its own.", text);
  }

  /** Shows a text beside that of the editor, which may take it. */
  async beside(why: string, text: string): Promise<void> {
    const { workspace, editor, message, file, restore } = this.host;
    const of = message();
    const taken = await (await dialogs())?.besideDialog({ workspace, file: file(), message: of, why, now: editor.text, text });
    if (taken !== undefined && of === message()) {
      restore(taken);
    }
    this.host.shown();
  }
}
