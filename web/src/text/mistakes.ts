// The mistakes of the open definition.

import type { DiagInfo } from "../api/api";
import type { DefinitionField } from "./editor/field";
import { Hold } from "./hold";

/** The mistakes, except those of the line that is being typed. */
export class Mistakes {
  readonly hold = new Hold(() => this.show());
  private readonly editor: Pick<DefinitionField, "setMistakes">;
  private list: readonly DiagInfo[] = [];
  private of = ""; // the text that they are in

  constructor(editor: Pick<DefinitionField, "setMistakes">) {
    this.editor = editor;
  }

  get any(): boolean {
    return this.list.length > 0;
  }

  /** Takes the mistakes of a text; undefined: they are the same. */
  take(list: readonly DiagInfo[] | undefined, of: string): void {
    this.list = list ?? this.list;
    this.of = of;
    this.show();
  }

  private show(): void {
    const held = this.hold.mark();
    this.editor.setMistakes(this.list.filter(({ line }) => line !== held), this.of);
  }

  /** Shows the list of all mistakes over the text, or hides it. */
  toggleList(): void {
    document.getElementById("definition-pane")?.toggleAttribute("data-listed");
    this.markListed();
  }

  /** Marks the button of the list, which the server draws. */
  markListed(): void {
    const listed = document.getElementById("definition-pane")?.hasAttribute("data-listed") === true;
    document.querySelector('[data-command="mistakes"]')?.setAttribute("aria-expanded", String(listed));
  }
}
