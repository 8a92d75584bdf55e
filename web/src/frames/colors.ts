// The dialog of colours: which frames stand out in the list, and how. The first rule that fits gives a frame its colour.

import { dialog, select } from "../dialog";
import { button, make } from "../dom";
import type { ColorRule, Mistake } from "./protocol";
import { hueNames } from "./rowmenu";

export const mostColors = 50;

/** What the dialog needs of the list. */
export interface ColorsHost {
  colors(): readonly ColorRule[];
  /** Puts rules in force. */
  put(rules: readonly ColorRule[]): void;
  /** What is wrong with the filters of rules that are in force; index is the rule's. */
  mistakes(): readonly Mistake[];
}

/** Opens the dialog; offered is a filter for a new rule, "" for none. It gives what is called when the mistakes may be others. */
export function colorsDialog(host: ColorsHost, offered: string): { checked: () => void; closed: Promise<void> } {
  const { box, form, says, say } = dialog("Colours of frames");
  const list = make("div", "rules");
  const put = (rules: ColorRule[]): void => {
    host.put(rules);
    draw();
  };
  const hues = hueNames.map((name, i): readonly [string, string] => [String(i + 1), name]);
  const draw = (focus = -1): void => {
    const rules = [...host.colors()];
    list.replaceChildren(...rules.map((rule, i) => {
      const row = make("div", `color-rule hue${rule.hue}`);
      const hue = select(hues, String(rule.hue));
      hue.setAttribute("aria-label", `Colour of rule ${i + 1}`);
      hue.addEventListener("change", () => put(rules.map((r, k) => (k === i ? { ...r, hue: Number(hue.value) } : r))));
      const filter = make("input");
      filter.type = "text";
      filter.value = rule.filter;
      filter.spellcheck = false;
      filter.setAttribute("aria-label", `Filter of rule ${i + 1}`);
      filter.addEventListener("change", () => {
        const text = filter.value.trim();
        put(text === "" ? rules.filter((_, k) => k !== i) : rules.map((r, k) => (k === i ? { ...r, filter: text } : r)));
      });
      const swap = (by: number): void => {
        const next = [...rules];
        [next[i], next[i + by]] = [next[i + by] ?? rule, rule];
        host.put(next);
        draw(i + by);
      };
      const up = button("↑", () => swap(-1), "Before the rule above it");
      up.disabled = i === 0;
      const down = button("↓", () => swap(1), "After the rule below it");
      down.disabled = i === rules.length - 1;
      row.append(make("span", "color-sample", "Aa"), hue, filter, up, down, button("✕", () => put(rules.filter((_, k) => k !== i)), "Take the rule away"), make("span", "color-wrong"));
      return row;
    }));
    if (rules.length === 0) {
      list.append(make("p", "hint", "None yet. A rule colours every frame that fits its filter, in the list and beside it."));
    }
    checked();
    if (focus >= 0) {
      list.children[focus]?.querySelector<HTMLInputElement>("input")?.focus();
    }
  };
  const checked = (): void => {
    const wrong = new Map(host.mistakes().filter((m) => m.in === "color").map((m) => [m.index ?? 0, m.message]));
    [...list.querySelectorAll(".color-wrong")].forEach((place, i) => {
      place.textContent = wrong.get(i) ?? "";
    });
  };
  const fits = make("input");
  fits.type = "text";
  fits.value = offered;
  fits.spellcheck = false;
  fits.placeholder = "status == illegal, .damage > 1000";
  fits.setAttribute("aria-label", "Filter of a new rule");
  const hue = select(hues, String((host.colors().length % hueNames.length) + 1));
  hue.setAttribute("aria-label", "Colour of a new rule");
  const sample = make("span", "color-sample", "Aa");
  const add = make("div", "color-rule");
  const tint = (): void => void (add.className = `color-rule hue${hue.value}`);
  hue.addEventListener("change", tint);
  tint();
  add.append(sample, hue, fits, button("Add", () => {
    const filter = fits.value.trim();
    if (filter === "") {
      say("Say which frames are meant.");
      fits.focus();
      return;
    }
    if (host.colors().length >= mostColors) {
      say(`${mostColors} rules are the most.`);
      return;
    }
    say("");
    fits.value = "";
    put([{ filter, hue: Number(hue.value) }, ...host.colors()]);
    hue.value = String((Number(hue.value) % hueNames.length) + 1);
    tint();
    fits.focus();
  }, "", "btn primary"));
  const buttons = make("div", "row");
  buttons.append(button("Close", () => box.close()));
  form.append(add, says, list, buttons);
  draw();
  fits.focus();
  return { checked, closed: new Promise((resolve) => box.addEventListener("close", () => resolve())) };
}
