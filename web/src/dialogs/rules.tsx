// The dialog of rules: automatic actions on messages that match a filter.

import type { RelayRule as Rule } from "../api";
import { onChanged } from "../changes";
import { Button, dialog, Field, Says, Select } from "../dialog";
import { ask } from "../http";
import { Fragment, h, signal } from "../ui";

const hints: Readonly<Record<string, readonly [label: string, example: string]>> = { replace: ["Field", "members[0].name"], delay: ["Delay", "250ms"], note: ["Note", "seen"] };

function does(rule: Rule): string {
  switch (rule.action) {
    case "replace":
      return `set ${rule.field ?? ""} to ${JSON.stringify(rule.value)}`;
    case "delay":
      return `delay by ${rule.delay ?? ""}`;
    case "note":
      return `add the note “${rule.note ?? ""}”`;
    default:
      return "drop";
  }
}

/** A typed value: JSON, otherwise text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Edits the rules of a session; `filter` is the initial filter of a new rule. */
export async function rulesDialog(api: string, filter: string, on: boolean): Promise<void> {
  const address = `${api}/rules`;
  const answer = await ask<{ rules: Rule[] }>(address);
  if (answer === undefined) {
    return;
  }
  const rules = signal(answer.rules);
  const fresh = signal({ filter, action: "replace" as Rule["action"], first: "", value: "" });
  const d = dialog("Rules for messages", (d) => {
    const { action } = fresh.value;
    const [label, example] = hints[action] ?? ["", ""];
    const type = (key: "filter" | "first" | "value") => (event: { currentTarget: HTMLInputElement }): void => { fresh.value = { ...fresh.value, [key]: event.currentTarget.value }; };
    const put = async (next: readonly Rule[]): Promise<boolean> => {
      const said = await ask<{ rules: Rule[] }>(address, "PUT", { rules: next.map(({ count: _, failed: __, ...rule }) => rule) }, d.say);
      if (said !== undefined) {
        rules.value = said.rules;
        d.say("");
      }
      return said !== undefined;
    };
    const add = async (): Promise<void> => {
      const first = fresh.value.first.trim();
      const more = { replace: { field: first, value: valueOf(fresh.value.value) }, delay: { delay: first }, note: { note: first }, drop: {} }[action];
      const rule: Rule = { id: `${Date.now()}`, on: true, filter: fresh.value.filter.trim(), action, ...more };
      if (rule.filter === "") {
        d.say("Write a filter first; “kind == message” matches all messages");
        d.box.querySelector<HTMLElement>("[data-focus]")?.focus();
      } else if (await put([...rules.value, rule])) {
        fresh.value = { ...fresh.value, first: "", value: "" };
      }
    };
    return (
      <>
        {on ? null : <p class="hint">Changes are off. Rules apply once they are on.</p>}
        <div role="list" aria-label="Rules">
          {rules.value.map((rule, i) => (
            <div class="held-row" role="listitem" key={rule.id}>
              <input type="checkbox" checked={rule.on} title="on" aria-label={`${rule.filter}: ${does(rule)}`}
                onChange={(event) => void put(rules.value.map((r, k) => (k === i ? { ...r, on: event.currentTarget.checked } : r)))} />
              <span class="held-name">{rule.filter}</span>
              <span class="held-what">{does(rule)}</span>
              <span class="held-age">{rule.count ?? 0} times{(rule.failed ?? 0) > 0 ? `, ${rule.failed ?? 0} failed` : ""}</span>
              <Button text="✕" title="Remove the rule" run={() => void put(rules.value.filter((_, k) => k !== i))} />
            </div>
          ))}
        </div>
        {rules.value.length === 0 ? <p class="hint">No rules yet.</p> : null}
        <Field label="Messages that match"><input data-focus="" type="text" spellcheck={false} placeholder={'C_CHAT && .message contains "gold"'} value={fresh.value.filter} onInput={type("filter")} /></Field>
        <div class="row">
          <Field label="Action"><Select options={[["replace", "set a field"], ["drop", "drop"], ["delay", "delay"], ["note", "add a note"]]} value={action} change={(to) => (fresh.value = { ...fresh.value, action: to as Rule["action"] })} /></Field>
          <Field label={label} hidden={action === "drop"}><input type="text" placeholder={example} value={fresh.value.first} onInput={type("first")} /></Field>
          <Field label="New value" hidden={action !== "replace"}><input type="text" placeholder="7, or text" value={fresh.value.value} onInput={type("value")} /></Field>
        </div>
        <Says d={d} />
        <div class="row"><Button text="Add the rule" primary run={() => void add()} /><Button text="Close" run={d.close} /></div>
      </>
    );
  });
  const stop = onChanged("listeners", () => void ask<{ rules: Rule[] }>(address, "GET", undefined, () => undefined).then((now) => {
    rules.value = now?.rules ?? rules.value;
  }));
  await d.closed;
  stop();
}
