// The view "Form" of the fields: it follows the message while it is visible. Its code is loaded when it is first opened.

import type { ValuesFormPane } from "./form/index";
import { load } from "../kit/load";
import type { Action, Answer } from "./socket";

/** The page. */
export interface FormPaneHost {
  ask(action: Action): Promise<Answer>; // an action that changes nothing
  press(action: string, more: Partial<Action>): Promise<Answer>;
  point(path: string): void; // a value has the focus
}

/** The view. */
export class FormPane {
  private readonly host: FormPaneHost;
  private pane: ValuesFormPane | undefined;
  private asking = false;
  private again = false;
  private stale = 0; // messages the form does not show yet

  constructor(host: FormPaneHost) {
    this.host = host;
  }

  private get visible(): boolean {
    return document.documentElement.dataset["fields"] === "form";
  }

  /** Shows the current values, if the view is visible. */
  refresh(): void {
    if (this.asking) {
      this.again = true;
    } else if (this.visible) {
      void this.show();
    }
  }

  /** Another message is on its way: what is typed before its values are here would change the one before. */
  leave(): void {
    this.stale++;
    document.getElementById("values-form")?.toggleAttribute("inert", true);
  }

  /** Whether the view shows the values of the message. */
  private get isReady(): boolean {
    return this.pane !== undefined && this.stale === 0 && !this.asking;
  }

  /** Moves the focus to the first value as soon as the form has it. False if there is none, unless the user has gone elsewhere meanwhile. */
  async focus(): Promise<boolean> {
    const from = document.activeElement;
    for (let tries = 0, drawn = 0; tries < 80 && drawn < 4; tries++) {
      if (document.activeElement !== from && document.activeElement !== document.body) {
        return true;
      }
      const first = this.isReady ? document.querySelector<HTMLElement>("#values-form :is(input, select):not(:disabled)") : null;
      if (first !== null) {
        first.focus();
        if (first instanceof HTMLInputElement) {
          first.select(); // as with Tab: what is typed replaces it
        }
        if (first instanceof HTMLInputElement) {
          first.select();
        }
        return true;
      }
      drawn += this.isReady ? 1 : 0;
      await new Promise((done) => setTimeout(done, 25));
    }
    return false;
  }

  private async show(): Promise<void> {
    this.asking = true;
    const element = document.getElementById("values-form");
    const module = await load(() => import("./form/index"));
    if (element !== null && module !== undefined) {
      this.pane ??= new module.ValuesFormPane(element, {
        fill: async (value) => (await this.host.press("fill", { typed: value })).failed ?? "",
        focused: (path) => this.host.point(path),
      });
      const { stale } = this;
      const { form } = await this.host.ask({ action: "form" });
      if (form !== undefined) {
        this.pane.show(form);
      }
      if (this.stale === stale) {
        this.stale = 0;
        element.removeAttribute("inert");
      }
    }
    this.asking = false;
    if (this.again) {
      this.again = false;
      this.refresh();
    }
  }
}
