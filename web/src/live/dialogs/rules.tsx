// The dialog of rules: automatic actions on messages that match a filter, in their order.

import type { RelayRule as Rule } from "../../api/api";
import { onChanged } from "../../kit/changes";
import { Button, dialog, Field, Says, Select } from "../../kit/dialog";
import { ask, type At } from "../../kit/http";
import { Fragment, h, signal } from "../../kit/ui";

type Action = Rule["action"];

/** A text field of a rule. */
interface Input {
  label: string;
  example: string;
  of(rule: Rule): string;
  put(text: string): Partial<Rule>;
}

/** A typed value: JSON, otherwise text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const field: Input = { label: "Field", example: "members[0].name", of: (r) => r.field ?? "", put: (text) => ({ field: text.replace(/^\./, "") }) };

/** What each action does, and the fields that it needs. */
const actions: readonly { action: Action; title: string; inputs: readonly Input[]; says(rule: Rule): string }[] = [
  {
    action: "replace", title: "set a field", says: (r) => `set ${r.field ?? ""} to ${JSON.stringify(r.value)}`,
    inputs: [field, { label: "New value", example: "7, or text", of: (r) => (r.value === undefined ? "" : typeof r.value === "string" ? r.value : JSON.stringify(r.value)), put: (text) => ({ value: valueOf(text) }) }],
  },
  {
    action: "compute", title: "compute a field", says: (r) => `set ${r.field ?? ""} to ${r.expr ?? ""}`,
    inputs: [field, { label: "Value, from old and .fields", example: "old * 2 + .level", of: (r) => r.expr ?? "", put: (expr) => ({ expr }) }],
  },
  {
    action: "regexp", title: "replace in a text", says: (r) => `replace ${r.pattern ?? ""} by ${JSON.stringify(r.with ?? "")} in ${r.field ?? ""}`,
    inputs: [field, { label: "Regular expression", example: "(\\w+) gold", of: (r) => r.pattern ?? "", put: (pattern) => ({ pattern }) }, { label: "Replacement", example: "$1 silver", of: (r) => r.with ?? "", put: (text) => ({ with: text }) }],
  },
  {
    action: "bytes", title: "write bytes", says: (r) => `${r.insert === true ? "insert" : "write"} ${r.hex ?? ""} at ${r.at ?? 0}`,
    inputs: [{ label: "Offset", example: "4, or -2 from the end", of: (r) => String(r.at ?? ""), put: (text) => ({ at: Number(text) || 0 }) }, { label: "Bytes", example: "01 00", of: (r) => r.hex ?? "", put: (hex) => ({ hex }) }],
  },
  { action: "drop", title: "drop", says: () => "drop", inputs: [] },
  { action: "delay", title: "delay", says: (r) => `delay by ${r.delay ?? ""}`, inputs: [{ label: "Delay", example: "250ms", of: (r) => r.delay ?? "", put: (delay) => ({ delay }) }] },
  { action: "note", title: "add a note", says: (r) => `add the note “${r.note ?? ""}”`, inputs: [{ label: "Note", example: "seen", of: (r) => r.note ?? "", put: (note) => ({ note }) }] },
];

function ofAction(action: Action): (typeof actions)[number] {
  return actions.find((a) => a.action === action) ?? actions[0]!;
}

function does(rule: Rule): string {
  return ofAction(rule.action).says(rule);
}

/** A rule without the members that other actions have, and those of the server. */
function written({ name, on, filter, action, id, ...rest }: Rule): Rule {
  const rule: Rule = { on, filter: filter.trim(), action, ...(id === undefined || id === "" ? {} : { id }), ...(name === undefined || name.trim() === "" ? {} : { name: name.trim() }) };
  for (const input of ofAction(action).inputs) {
    Object.assign(rule, input.put(input.of({ ...rest, on, filter, action })));
  }
  return action === "bytes" && rest.insert === true ? { ...rule, insert: true } : rule;
}

/** Edits the rules of a session; `filter` is the initial filter of a new rule. */
export async function rulesDialog(at: At, filter: string, on: boolean): Promise<void> {
  const answer = await ask("GET proxies/{id}/rules", at);
  if (answer === undefined) {
    return;
  }
  const rules = signal(answer.rules);
  const blank = (text: string): Rule => ({ on: true, filter: text, action: "replace" });
  const fresh = signal<Rule>(blank(filter));
  const editing = signal(""); // id of the rule in the form
  const typed = signal<Readonly<Record<string, string>>>({}); // texts of the form, by label
  const load = (rule: Rule): void => {
    fresh.value = rule;
    editing.value = rule.id ?? "";
    typed.value = Object.fromEntries(ofAction(rule.action).inputs.map((input) => [input.label, input.of(rule)]));
  };
  const d = dialog("Rules for messages", (d) => {
    const rule = fresh.value;
    const { inputs } = ofAction(rule.action);
    const put = async (next: readonly Rule[]): Promise<boolean> => {
      const said = await ask("PUT proxies/{id}/rules", at, { rules: next.map(written) }, d.say);
      if (said !== undefined) {
        rules.value = said.rules;
        d.say("");
      }
      return said !== undefined;
    };
    const move = (i: number, by: number): void => {
      const next = [...rules.value];
      const [moved] = next.splice(i, 1);
      if (moved !== undefined) {
        next.splice(i + by, 0, moved);
        void put(next);
      }
    };
    const save = async (): Promise<void> => {
      const whole: Rule = { ...rule };
      for (const input of inputs) {
        Object.assign(whole, input.put((typed.value[input.label] ?? "").trim()));
      }
      if (whole.filter.trim() === "") {
        d.say("Write a filter first; “kind == message” matches all messages");
        d.box.querySelector<HTMLElement>("[data-focus]")?.focus();
        return;
      }
      const id = editing.value;
      if (await put(id === "" ? [...rules.value, whole] : rules.value.map((r) => (r.id === id ? whole : r)))) {
        load(blank(whole.filter));
      }
    };
    return (
      <>
        {on ? null : <p class="hint">Changes are off. Rules apply once they are on.</p>}
        <div role="list" aria-label="Rules">
          {rules.value.map((r, i) => (
            <div class={`held-row${editing.value === r.id ? " current" : ""}`} role="listitem" key={r.id}>
              <input type="checkbox" checked={r.on} title="on" aria-label={`${r.name ?? r.filter}: ${does(r)}`}
                onChange={(event) => void put(rules.value.map((one, k) => (k === i ? { ...one, on: event.currentTarget.checked } : one)))} />
              <span class="held-name" title={r.filter}>{r.name ?? r.filter}</span>
              <span class="held-what">{does(r)}</span>
              <span class="held-age">{r.count ?? 0} times{(r.failed ?? 0) > 0 ? <span class="err" title={r.why}>, {r.failed} failed: {r.why}</span> : null}</span>
              <Button text="↑" title="Apply it earlier" aria-label={`Earlier: ${r.name ?? r.filter}`} disabled={i === 0} run={() => move(i, -1)} />
              <Button text="↓" title="Apply it later" aria-label={`Later: ${r.name ?? r.filter}`} disabled={i === rules.value.length - 1} run={() => move(i, 1)} />
              <Button text="Edit" aria-label={`Edit: ${r.name ?? r.filter}`} run={() => load(r)} />
              <Button text="✕" title="Remove the rule" run={() => void put(rules.value.filter((_, k) => k !== i))} />
            </div>
          ))}
        </div>
        {rules.value.length === 0 ? <p class="hint">No rules yet.</p> : null}
        <Field label="Messages that match"><input data-focus="" type="text" spellcheck={false} placeholder={'C_CHAT && .message contains "gold"'} value={rule.filter} onInput={(event) => (fresh.value = { ...rule, filter: event.currentTarget.value })} /></Field>
        <div class="row">
          <Field label="Action"><Select options={actions.map((a) => [a.action, a.title] as const)} value={rule.action} change={(to) => (fresh.value = { ...rule, action: to as Action })} /></Field>
          {inputs.map((input) => (
            <Field key={input.label} label={input.label}><input type="text" spellcheck={false} placeholder={input.example} value={typed.value[input.label] ?? ""} onInput={(event) => (typed.value = { ...typed.value, [input.label]: event.currentTarget.value })} /></Field>
          ))}
          {rule.action === "bytes" ? <label class="check"><input type="checkbox" checked={rule.insert === true} onChange={(event) => (fresh.value = { ...rule, insert: event.currentTarget.checked })} /> insert</label> : null}
          <Field label="Name (optional)"><input type="text" maxLength={100} placeholder="for the list" value={rule.name ?? ""} onInput={(event) => (fresh.value = { ...rule, name: event.currentTarget.value })} /></Field>
        </div>
        <Says d={d} />
        <div class="row">
          <Button text={editing.value === "" ? "Add the rule" : "Save the rule"} primary run={() => void save()} />
          {editing.value === "" ? null : <Button text="New rule" run={() => load(blank(filter))} />}
          <Button text="Close" run={d.close} />
        </div>
      </>
    );
  });
  const stop = onChanged("traffic", () => void ask("GET proxies/{id}/rules", at, undefined, () => undefined).then((now) => {
    rules.value = now?.rules ?? rules.value;
  }));
  await d.closed;
  stop();
}
