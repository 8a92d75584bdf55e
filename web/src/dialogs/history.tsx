// The dialog with the history of a definition: who changed it and when, each revision compared with the one before or with the present text,
// and its text to restore.

import type { ComparedDefinitions, HistoryList, ScoresScore, HistoryPastRevision as Revision } from "../api";
import { Button, dialog, Says } from "../dialog";
import { askText } from "../frames/notebox";
import { ask, apiOf, request } from "../http";
import { valueOf } from "../numbers";
import { lookOnly } from "../role";
import { scoreText } from "../score";
import { Fragment, h, signal } from "../ui";
import { LayoutRows, Strips, summary, TextLines } from "./compare";

/** What the history is about. */
export interface HistorySubject {
  workspace: string;
  message: string;
  file: string;
  text(): string; // the present one, also if it is not saved
  bytes(): string; // the open message as hex, "" if there is none
  restore(text: string): void;
  go(line: number): void;
}

/** A value of the open bytes by both texts. */
interface FieldRow {
  path: string;
  before: string | undefined;
  after: string | undefined;
}

interface Decoded {
  results: readonly { fields?: readonly { path: string; role: string; value: unknown }[] }[];
}

const mostName = 100;
const mostShown = 500;

function timeText(from: string, to: string): string {
  const a = new Date(from), b = new Date(to);
  const day = (d: Date): string => d.toLocaleDateString();
  const clock = (d: Date): string => d.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const today = day(a) === day(new Date()) ? "" : `${day(a)} `;
  return clock(a) === clock(b) ? today + clock(a) : `${today}${clock(a)} – ${clock(b)}`;
}

function whoText({ who, added, removed }: Revision, isFirst: boolean): string {
  if (who.length > 0) {
    return who.map((name) => (name === "outside" ? "another program" : name)).join(", ");
  }
  return added + removed === 0 ? (isFirst ? "the text before" : "the text found") : "somebody";
}

/** Opens the dialog. */
export async function historyDialog({ workspace, message, file, text, bytes, restore, go }: HistorySubject): Promise<void> {
  const base = `${apiOf(workspace)}/definitions/${encodeURIComponent(file)}/history`;
  const list = signal<readonly Revision[] | undefined>(undefined);
  const chosen = signal(0);
  const toNow = signal(false);
  const view = signal<"text" | "layout" | "fields">("text");
  const values = signal<readonly FieldRow[]>([]);
  const score = signal<ScoresScore | undefined>(undefined);
  const shown = signal<ComparedDefinitions | undefined>(undefined);
  const texts = new Map<string, string>();
  const textOf = async (one: Revision | undefined): Promise<string> => {
    if (one === undefined) {
      return "";
    }
    const known = texts.get(one.id) ?? (await ask<{ text: string }>(`${base}/${one.id}`))?.text ?? "";
    texts.set(one.id, known);
    return known;
  };
  await dialog(`History of ${file}`, (d) => {
    let latest = 0;
    const compare = async (): Promise<void> => {
      const all = list.value ?? [];
      const one = all[chosen.value];
      const n = ++latest;
      if (one === undefined) {
        return;
      }
      const before = toNow.value ? await textOf(one) : await textOf(all[chosen.value + 1] ?? one);
      const after = toNow.value ? text() : await textOf(one);
      const side = (of: string) => ({ message, text: of === "" ? "\n" : of });
      const reply = await request<ComparedDefinitions>(`${apiOf(workspace)}/compare`, { body: { old: side(before), new: side(after) } });
      if (n !== latest) {
        return;
      }
      shown.value = reply.ok ? reply.answer : undefined;
      d.say(reply.ok ? summary(reply.answer) : reply.why, !reply.ok);
      score.value = undefined;
      const hex = bytes();
      const decoded = async (of: string): Promise<ReadonlyMap<string, string>> => {
        const answer = await request<Decoded>(`${apiOf(workspace)}/decode`, { body: { message, hex, definition: of === "" ? "\n" : of } });
        return new Map(answer.ok ? (answer.answer.results[0]?.fields ?? []).filter(({ role }) => role === "value").map(({ path, value }) => [path, typeof value === "string" ? value : JSON.stringify(value)]) : []);
      };
      const [a, b, judged] = await Promise.all([
        hex === "" ? new Map<string, string>() : decoded(before), hex === "" ? new Map<string, string>() : decoded(after),
        request<ScoresScore>(`${apiOf(workspace)}/scores`, { body: side(await textOf(one)) }),
      ]);
      if (n === latest) {
        values.value = [...new Set([...a.keys(), ...b.keys()])].map((path) => ({ path, before: a.get(path), after: b.get(path) }));
        score.value = judged.ok && judged.answer.of > 0 ? judged.answer : undefined;
      }
    };
    const load = async (): Promise<void> => {
      const answer = await ask<HistoryList>(base);
      const all = answer?.revisions ?? [];
      list.value = all;
      if (all.length === 0) {
        d.say("It has not been changed since the history began.", false);
      } else {
        requestAnimationFrame(() => d.box.querySelector<HTMLElement>("[data-focus]")?.focus());
        await compare();
      }
    };
    if (list.value === undefined && d.says.value.text === "") {
      d.say("…", false);
      void load();
    }
    const choose = (i: number): void => {
      chosen.value = i;
      void compare();
    };
    const all = list.value ?? [];
    const one = all[chosen.value];
    const name = (event: Event): void => {
      if (one !== undefined && event.currentTarget instanceof HTMLElement) {
        askText(event.currentTarget, { label: "Name of this revision", text: one.name ?? "", button: "Name it", most: mostName }, (to) => {
          void ask(`${base}/${one.id}`, "PATCH", { name: to }).then((done) => done !== undefined && (list.value = all.map((r) => (r.id === one.id ? { ...r, name: to } : r))));
        });
      }
    };
    const keys = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
      const to = { ArrowDown: chosen.value + 1, ArrowUp: chosen.value - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to !== undefined && to >= 0 && to < all.length) {
        event.preventDefault();
        choose(to);
        event.currentTarget.querySelectorAll<HTMLElement>("[role=option]")[to]?.focus();
      }
    };
    return (
      <>
        <div class="history-parts">
          <div class="history-list" role="listbox" aria-label="Revisions" onKeyDown={keys}>
            {all.slice(0, mostShown).map((r, i) => (
              <div key={r.id} role="option" class="history-row" tabIndex={i === chosen.value ? 0 : -1} aria-selected={i === chosen.value} onClick={() => choose(i)} {...(i === 0 ? { "data-focus": "" } : {})}>
                <span class="history-when">{timeText(r.from, r.at)}</span>
                {r.name === undefined || r.name === "" ? null : <strong>{r.name}</strong>}
                <span class="history-who">{whoText(r, i === all.length - 1)}</span>
                {r.added + r.removed === 0 ? null : <span class="dim">+{r.added} −{r.removed}</span>}
              </div>
            ))}
            {all.length > mostShown ? <p class="dim">{all.length - mostShown} older ones</p> : null}
          </div>
          <div class="history-shown">
            <div class="row">
              <span class="segments" role="group" aria-label="Compare">
                <button type="button" class="btn quiet" aria-pressed={!toNow.value} onClick={() => { toNow.value = false; void compare(); }}>What it changed</button>
                <button type="button" class="btn quiet" aria-pressed={toNow.value} onClick={() => { toNow.value = true; void compare(); }}>What has changed since</button>
              </span>
              <span class="segments" role="group" aria-label="Show">
                <button type="button" class="btn quiet" aria-pressed={view.value === "text"} onClick={() => { view.value = "text"; }}>Text</button>
                <button type="button" class="btn quiet" aria-pressed={view.value === "layout"} onClick={() => { view.value = "layout"; }}>Layout</button>
                {bytes() === "" ? null : <button type="button" class="btn quiet" aria-pressed={view.value === "fields"} title="The open bytes, decoded by both texts" onClick={() => { view.value = "fields"; }}>Fields</button>}
              </span>
              <Says d={d} />
            </div>
            <div class="compare-body" tabIndex={0} role="region" aria-label="Comparison">
              {shown.value === undefined ? null : view.value === "fields" ? <Values rows={values.value} /> : view.value === "layout"
                ? <><Strips rows={shown.value.rows ?? []} /><LayoutRows of={shown.value} only go={(row) => { d.close(); go(row.new?.line ?? row.old?.line ?? 0); }} /></>
                : <TextLines of={shown.value} only back={toNow.value && !lookOnly() ? (to) => { d.close(); restore(to); } : undefined} />}
            </div>
            <p class="dim history-score" role="status">{score.value === undefined ? "" : `This revision: ${scoreText(score.value).text}`}</p>
          </div>
        </div>
        <div class="row">
          <Button text="Close" run={d.close} />
          {one === undefined || lookOnly() ? null : (
            <>
              <button type="button" class="btn" onClick={name}>Name it…</button>
              <Button text="Restore this text" title="Puts the text of this revision into the editor" run={() => void textOf(one).then((to) => { d.close(); restore(to); })} />
            </>
          )}
        </div>
      </>
    );
  }, { kind: "compare history" }).closed;
}

/** The values of the open bytes; those that differ are marked. */
function Values({ rows }: { rows: readonly FieldRow[] }) {
  return (
    <table class="data changes compare-table" aria-label="Values of the open bytes">
      <thead><tr><th>Field</th><th>Before</th><th>After</th></tr></thead>
      <tbody>
        {rows.slice(0, mostShown).map(({ path, before, after }) => (
          <tr key={path} class={before === after ? "" : before === undefined ? "c-added" : after === undefined ? "c-removed" : "c-retyped"}><td>{path}</td><td>{valueOf(before ?? "")}</td><td>{valueOf(after ?? "")}</td></tr>
        ))}
      </tbody>
    </table>
  );
}
