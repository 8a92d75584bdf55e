// Filters with names, as buttons below the box, and the little form that saves one.

import { make } from "../dom";
import type { Anchor, MenuOptions } from "../menu";
import { isPresetName, nameRule, type Preset, type StoredFilters } from "./stored";
import type { How } from "./syntax";

/** What the buttons need of the box. */
export interface PresetUser {
  /** Applies a preset, alone or with what is in the box. */
  use(name: string, how: How): void;
  /** Puts a text into the box. */
  edit(text: string): void;
  /** What is to be saved. */
  text(): Promise<{ text: string } | { why: string }>;
  menu(anchor: Anchor, options: MenuOptions): void;
  changed(): void;
  /** The form is closed. */
  done(): void;
}

let count = 0;

export class PresetBar {
  readonly element = make("div", "filterbox-presets");
  readonly #stored: StoredFilters;
  readonly #user: PresetUser;
  #drawn = "";

  constructor(stored: StoredFilters, user: PresetUser) {
    this.#stored = stored;
    this.#user = user;
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Presets");
  }

  /** Shows the presets; that which is all of the box is pressed. */
  draw(typed: string): void {
    const presets = this.#stored.presets();
    const state = JSON.stringify([typed.startsWith("@") ? typed : "", presets]);
    if (state === this.#drawn) {
      return; // a button that has the focus keeps it
    }
    this.#drawn = state;
    this.element.hidden = presets.length === 0;
    this.element.replaceChildren(...presets.map((p) => this.#chip(p, typed === `@${p.name}`)));
  }

  #chip(preset: Preset, pressed: boolean): HTMLElement {
    const chip = make("span", "filterbox-preset");
    const use = make("button", "btn", `@${preset.name}`);
    use.type = "button";
    use.title = preset.text;
    use.setAttribute("aria-pressed", String(pressed));
    use.addEventListener("click", () => this.#user.use(preset.name, "replace"));
    const more = make("button", "btn", "▾");
    more.type = "button";
    more.setAttribute("aria-label", `More of @${preset.name}`);
    more.setAttribute("aria-haspopup", "menu");
    const open = (anchor: Anchor): void => this.#user.menu(anchor, { label: `@${preset.name}`, items: this.#items(preset) });
    more.addEventListener("click", () => open(more));
    chip.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      open(more);
    });
    chip.append(use, more);
    return chip;
  }

  #items(preset: Preset): MenuOptions["items"] {
    const { name, text } = preset;
    const use = (how: How) => (): void => this.#user.use(name, how);
    return [
      { title: "Apply", group: "", run: use("replace"), preview: () => text },
      { title: "And", group: "", run: use("and"), preview: () => `… && @${name}` },
      { title: "Or", group: "", run: use("or"), preview: () => `… || @${name}` },
      { title: "And not", group: "", run: use("and not"), preview: () => `… && !(@${name})` },
      { title: "Write it out in the box", group: "Preset", run: () => this.#user.edit(text), preview: () => text },
      {
        title: "Delete",
        group: "Preset",
        preview: () => text,
        run: () => {
          this.#stored.drop(name);
          this.#user.changed();
        },
      },
    ];
  }

  /** Asks for the name under which the filter is saved, below a part of the page. */
  ask(root: HTMLElement): void {
    const old = root.querySelector<HTMLFormElement>(".filterbox-save");
    if (old !== null) {
      old.remove();
      this.#user.done();
      return;
    }
    const form = make("form", "filterbox-save");
    const label = make("label", "", "Save as @");
    const name = make("input", "");
    name.id = `filterbox-name-${count++}`;
    label.htmlFor = name.id;
    name.maxLength = 30;
    name.spellcheck = false;
    name.autocomplete = "off";
    const save = make("button", "btn primary", "Save");
    const cancel = make("button", "btn quiet", "Cancel");
    cancel.type = "button";
    const why = make("span", "filterbox-why");
    why.setAttribute("role", "status");
    const close = (): void => {
      form.remove();
      this.#user.done();
    };
    name.addEventListener("input", () => {
      const there = this.#stored.presets().some((p) => p.name === name.value.trim().replace(/^@/, ""));
      save.textContent = there ? "Replace" : "Save";
      why.textContent = "";
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        close();
      }
    });
    cancel.addEventListener("click", close);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#save(name.value.trim().replace(/^@/, "")).then((problem) => {
        if (problem === "") {
          close();
          this.#user.changed();
        } else {
          why.textContent = problem;
          name.focus();
        }
      });
    });
    form.append(label, name, save, cancel, why);
    root.append(form);
    name.focus();
  }

  async #save(name: string): Promise<string> {
    if (!isPresetName(name)) {
      return nameRule;
    }
    const saved = await this.#user.text();
    return "why" in saved ? saved.why : this.#stored.save(name, saved.text);
  }
}
