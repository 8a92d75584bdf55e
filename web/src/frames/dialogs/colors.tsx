// The dialog of color rules for frames in the list. The first matching rule colors a frame.

import { Button, dialog, Says, Select } from "../../kit/dialog";
import { type ColorRule, hueNames, type Mistake, mostColors } from "../../api/frames";
import { lookOnly, lookOnlyWhy } from "../../kit/role";
import type { ProjectList } from "../projectlist";
import { Fragment, h, signal } from "../../kit/ui";

/** The parts of the list that the dialog uses. */
export interface ColorsHost {
  colors(): readonly ColorRule[];
  /** Applies rules; undefined: those of the project. */
  put(rules: readonly ColorRule[] | undefined): void;
  shared: Pick<ProjectList, "colors" | "save">;
  /** The mistakes in the filters of the applied rules; index is the rule's. */
  mistakes(): readonly Mistake[];
}

const hues = hueNames.map((name, i): readonly [string, string] => [String(i + 1), name]);

/** Opens the dialog; offered is a filter for a new rule, or "". The caller calls checked when the mistakes may have changed. */
export function colorsDialog(host: ColorsHost, offered: string): { checked: () => void; closed: Promise<void> } {
  const rules = signal<readonly ColorRule[]>(host.colors());
  const wrong = signal<ReadonlyMap<number, string>>(new Map());
  const fresh = signal({ filter: offered, hue: (host.colors().length % hues.length) + 1 });
  const checked = (): void => {
    wrong.value = new Map(host.mistakes().filter((m) => m.in === "color").map((m) => [m.index ?? 0, m.message]));
  };
  const put = (next: readonly ColorRule[] | undefined): void => {
    host.put(next);
    rules.value = host.colors();
    checked();
  };
  const d = dialog("Colors of frames", (d) => {
    const list = rules.value;
    const isShared = JSON.stringify(list) === JSON.stringify(host.shared.colors);
    const input = (): HTMLInputElement | null => d.box.querySelector<HTMLInputElement>("[data-focus]");
    const add = (): void => {
      const filter = fresh.value.filter.trim();
      if (filter === "") {
        d.say("Write a filter first.");
      } else if (list.length >= mostColors) {
        d.say(`There are already ${mostColors} rules, the maximum.`);
        return;
      } else {
        d.say("");
        put([{ filter, hue: fresh.value.hue }, ...list]);
        fresh.value = { filter: "", hue: (fresh.value.hue % hues.length) + 1 };
      }
      input()?.focus();
    };
    const change = (i: number, to: Partial<ColorRule>): void => put(list.map((r, k) => (k === i ? { ...r, ...to } : r)));
    const drop = (i: number): void => put(list.filter((_, k) => k !== i));
    const move = (i: number, by: number, event: Event): void => {
      const next = [...list];
      next.splice(i + by, 0, ...next.splice(i, 1));
      put(next);
      (event.currentTarget as HTMLElement | null)?.closest("[role=list]")?.children.item(i + by)?.querySelector("input")?.focus();
    };
    return (
      <>
        <div class={`color-rule hue${fresh.value.hue}`}>
          <span class="color-sample">Aa</span>
          <Select aria-label="Color of a new rule" options={hues} value={String(fresh.value.hue)} change={(hue) => (fresh.value = { ...fresh.value, hue: Number(hue) })} />
          <input type="text" data-focus="" spellcheck={false} placeholder="status == illegal, .damage > 1000" aria-label="Filter of a new rule" value={fresh.value.filter} onInput={(event) => (fresh.value = { ...fresh.value, filter: event.currentTarget.value })} />
          <Button text="Add" primary run={add} />
        </div>
        <Says d={d} />
        {list.length === 0 ? <p class="hint">No rules yet. A rule colors the frames that match its filter, in the list and in the strip beside it.</p> : (
          <div role="list" aria-label="Rules">
            {list.map((rule, i) => (
              <div class={`color-rule hue${rule.hue}`} role="listitem" aria-label={`Rule ${i + 1}`} key={`${i} ${rule.filter}`}>
                <span class="color-sample">Aa</span>
                <Select aria-label={`Color of rule ${i + 1}`} options={hues} value={String(rule.hue)} change={(hue) => change(i, { hue: Number(hue) })} />
                <input type="text" spellcheck={false} aria-label={`Filter of rule ${i + 1}`} value={rule.filter} onChange={(event) => {
                  const filter = event.currentTarget.value.trim();
                  if (filter === "") {
                    drop(i);
                  } else {
                    change(i, { filter });
                  }
                }} />
                <button type="button" class="btn quiet" aria-label="Move up" title="Move up" disabled={i === 0} onClick={(event) => move(i, -1, event)}>↑</button>
                <button type="button" class="btn quiet" aria-label="Move down" title="Move down" disabled={i === list.length - 1} onClick={(event) => move(i, 1, event)}>↓</button>
                <Button text="✕" title="Remove" run={() => drop(i)} />
                <span class="color-wrong">{wrong.value.get(i) ?? ""}</span>
              </div>
            ))}
          </div>
        )}
        <div class="row">
          <Button text="Close" run={d.close} />
          <Button text="Save for the project" disabled={lookOnly() || isShared} title={lookOnly() ? lookOnlyWhy() : "For all who have not chosen others"} run={async () => {
            await host.shared.save(() => ({ colors: [...list] }), "These are the colors of the project", (text, kind) => d.say(text, kind === "err"));
            rules.value = [...list]; // compared again
          }} />
          {host.shared.colors.length > 0 && !isShared ? <Button text="Colors of the project" run={() => put(undefined)} /> : ""}
        </div>
      </>
    );
  });
  checked();
  return { checked, closed: d.closed };
}
