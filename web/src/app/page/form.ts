// The form of the page: its controls are followed, and its buttons are actions.

import { confirmDialog } from "../../kit/dialogs";
import { notify } from "../../kit/notify";
import type { FormPane } from "../../message/formpane";
import type { Socket } from "../../message/socket";
import type { DefinitionField } from "../../text/editor/field";
import type { Parts } from "../../text/parts";
import type { Together } from "../../text/together";
import type { Actions } from "./actions";
import { chosenForm, field, showForm, type Sent } from "./controls";
import type { Opening } from "./opening";
import type { PageText } from "./text";

/** The page. */
interface FormHost extends Sent {
  readonly form: HTMLFormElement;
  readonly editor: Pick<DefinitionField, "text">;
  readonly socket: Pick<Socket, "state">;
  readonly actions: Pick<Actions, "press">;
  readonly opening: Pick<Opening, "beginFrom" | "rename">;
  readonly together: Pick<Together, "active" | "forget">;
  readonly text: Pick<PageText, "discard" | "save">;
  readonly parts: Pick<Parts, "caret">;
  readonly formPane: Pick<FormPane, "refresh">;
  byItsCode(): void; // decodes the message by its code
}

/** Follows the controls. */
export function followControls(host: FormHost): void {
  const { form, controls } = host;
  form.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLSelectElement || target instanceof HTMLInputElement)) {
      return;
    }
    const { name, value } = target;
    switch (name) {
      case "form":
      case "pattern":
        controls.form = name === "form" ? value : chosenForm("", value);
        host.set({ form: controls.form });
        showForm(controls.form);
        break;
      case "dir":
        controls.dir = value;
        host.set({ dir: value });
        break;
      case "part":
        host.parts.caret = null;
        void host.actions.press(`pick:${value}`);
        break;
      case "bycode":
        if (target instanceof HTMLInputElement && target.type === "checkbox") {
          controls.bycode = target.checked;
          host.set({ bycode: target.checked });
        }
        break;
      case "name":
        host.opening.rename();
    }
  });
  form.addEventListener("input", ({ target }) => {
    if (target instanceof HTMLTextAreaElement && target.name === "value") {
      controls.value = target.value;
      host.set({ value: target.value });
    } else if (target instanceof HTMLInputElement && target.name === "code") {
      controls.code = target.value;
      host.set({ code: target.value });
    }
  });
  document.addEventListener("wb:segment", () => {
    const values = document.documentElement.dataset["fields"] === "values";
    if (values !== controls.values) {
      controls.values = values;
      host.set({ values });
    }
    host.formPane.refresh();
  });
  followButtons(host);
}

function followButtons(host: FormHost): void {
  const { form } = host;
  let confirmed: HTMLButtonElement | undefined; // whose question was confirmed
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing && event.target === field("about")) {
      event.preventDefault(); // a browser presses the first button of the form
      field("samples")?.querySelector<HTMLElement>('button[value="keep"]')?.click();
    }
  });
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    const byForms = document.documentElement.classList.contains("forms");
    if ((document.activeElement === field("name") || document.activeElement === field("pattern")) && !byForms) {
      event.preventDefault(); // Enter only ends editing the name or the pattern
      return;
    }
    if (!(button instanceof HTMLButtonElement)) {
      return;
    }
    const asked = button.dataset["confirm"];
    if (asked !== undefined && confirmed !== button) {
      event.preventDefault();
      void confirmDialog(asked, button.dataset["confirmAction"] ?? "Delete").then((yes) => {
        if (yes) {
          confirmed = button;
          form.requestSubmit(button);
        }
      });
      return;
    }
    confirmed = undefined;
    if (byForms) {
      const text = field<HTMLTextAreaElement>("definition");
      if (text !== null) {
        text.value = host.editor.text;
      }
      return; // never connected: the page works as a form
    }
    event.preventDefault();
    if (host.socket.state !== "open" && !(host.together.active && button.value === "save")) { // the room saves it later
      // Without a server, submitting the form would lose the typed text.
      notify("The server cannot be reached. Your changes are kept; try again later.", "err");
      return;
    }
    pressed(host, button);
  });
}

function pressed(host: FormHost, button: HTMLButtonElement): void {
  if (button.dataset["begin"] !== undefined) {
    host.opening.beginFrom(button);
    return;
  }
  if (button.name === "bycode") {
    host.byItsCode();
    return;
  }
  const menu = button.closest("details");
  if (menu !== null && !button.value.startsWith("drop")) {
    menu.open = false;
  }
  if (host.together.active && (button.value === "save" || button.value === "stored")) {
    void (button.value === "save" ? host.text.save() : host.text.discard());
    return;
  }
  if (button.value === "stored" || button.value === "theirs") {
    host.together.forget();
  }
  void host.actions.press(button.value);
}
