// The dialog of rules: what is done to messages that fit a filter, without a person.

import { onChanged } from "./changes";
import { dialog, field, select } from "./dialog";
import { button, make } from "./dom";
import { ask } from "./relays";

interface Rule {
  id: string;
  name?: string;
  on: boolean;
  filter: string;
  action: string;
  delay?: string;
  field?: string;
  value?: unknown;
  note?: string;
  count?: number;
  failed?: number;
}

function does(rule: Rule): string {
  switch (rule.action) {
    case "replace":
      return `${rule.field ?? ""} becomes ${JSON.stringify(rule.value)}`;
    case "delay":
      return `waits ${rule.delay ?? ""}`;
    case "note":
      return `gets the note “${rule.note ?? ""}”`;
    default:
      return "is dropped";
  }
}

/** A new value as a person types it: JSON, or else a text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Shows the rules of a session, and takes new ones; `filter` is what the first is offered for. */
export async function rulesDialog(api: string, filter: string, on: boolean): Promise<void> {
  const answer = await ask<{ rules: Rule[] }>(`${api}/rules`);
  if (answer === undefined) {
    return;
  }
  let { rules } = answer;
  const { box, form, says, say } = dialog("Rules: what is done to messages without a person");
  const list = make("div", "rules");
  const put = async (next: Rule[]): Promise<boolean> => {
    const said = await ask<{ rules: Rule[] }>(`${api}/rules`, "PUT", { rules: next.map(({ count: _, failed: __, ...rule }) => rule) }, say);
    if (said !== undefined) {
      ({ rules } = said);
      say("");
      draw();
    }
    return said !== undefined;
  };
  const draw = (): void => {
    list.replaceChildren(...rules.map((rule, i) => {
      const row = make("div", "held-row");
      const check = make("input");
      check.type = "checkbox";
      check.checked = rule.on;
      check.title = "on";
      check.setAttribute("aria-label", `${rule.filter} ${does(rule)}`);
      check.addEventListener("change", () => void put(rules.map((r, k) => (k === i ? { ...r, on: check.checked } : r))));
      row.append(
        check, make("span", "held-name", rule.filter), make("span", "held-what", does(rule)), make("span", "held-age", `${rule.count ?? 0} times${(rule.failed ?? 0) > 0 ? `, ${rule.failed ?? 0} failed` : ""}`),
        button("✕", () => void put(rules.filter((_, k) => k !== i)), "Take the rule away"),
      );
      return row;
    }));
    if (rules.length === 0) {
      list.append(make("p", "hint", "None yet."));
    }
  };
  draw();
  const counts = onChanged("listeners", () => {
    if (!list.contains(document.activeElement)) {
      void ask<{ rules: Rule[] }>(`${api}/rules`, "GET", undefined, () => undefined).then((now) => {
        if (now !== undefined && box.open) {
          ({ rules } = now);
          draw();
        }
      });
    }
  });
  box.addEventListener("close", counts);
  const fits = make("input");
  fits.value = filter;
  fits.placeholder = "C_CHAT && .message contains \"gold\"";
  fits.spellcheck = false;
  const action = select([["replace", "set a field"], ["drop", "drop"], ["delay", "delay"], ["note", "add a note"]]);
  const first = make("input");
  const value = make("input");
  value.placeholder = "7, or a text";
  const firstField = field("Field", first);
  const valueField = field("New value", value);
  const turn = (): void => {
    const [label, hint] = { replace: ["Field", "members[0].name"], delay: ["For how long", "250ms"], note: ["Note", "seen"], drop: ["", ""] }[action.value] ?? ["", ""];
    firstField.hidden = action.value === "drop";
    firstField.querySelector("span")?.replaceChildren(label ?? "");
    first.placeholder = hint ?? "";
    valueField.hidden = action.value !== "replace";
  };
  action.addEventListener("change", turn);
  turn();
  const add = button("Add the rule", () => {
    const rule: Rule = { id: `${Date.now()}`, on: true, filter: fits.value.trim(), action: action.value };
    if (rule.filter === "") {
      say("Say which messages are meant: kind == message is all of them");
      fits.focus();
      return;
    }
    if (action.value === "replace") {
      rule.field = first.value.trim();
      rule.value = valueOf(value.value);
    } else if (action.value === "delay") {
      rule.delay = first.value.trim();
    } else if (action.value === "note") {
      rule.note = first.value.trim();
    }
    void put([...rules, rule]).then((done) => {
      if (done) {
        first.value = "";
        value.value = "";
      }
    });
  }, "", "btn primary");
  const row = make("div", "row");
  row.append(field("Do", action), firstField, valueField);
  const buttons = make("div", "row");
  buttons.append(add, button("Close", () => box.close()));
  form.append(...(on ? [] : [make("p", "hint", "Changes are off: rules count once they are on.")]), list, field("Messages that fit", fits), row, says, buttons);
  fits.focus();
}
