// The dialog with the history of a definition: who changed it and when, each revision compared with the one before, with the present text or with
// any other, how many messages of the captures fit it, and its text to restore.

import type { ComparedDefinitions, HistoryPastRevision as Revision, HistoryStep as Step, ScoresScore } from "../../api/api";
import { Button, dialog, Says, Select } from "../../kit/dialog";
import { askText } from "../../kit/notebox";
import { ask, request } from "../../kit/http";
import { stepOffer } from "../../kit/journal";
import { valueOf } from "../../kit/numbers";
import { lookOnly } from "../../kit/role";
import { fitText, scoreText } from "../score";
import { Fragment, h, signal } from "../../kit/ui";
import { LayoutRows, Strips, summary, TextLines } from "../../kit/compared";

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

/** One of the texts that are compared. */
interface Side {
  revision?: Revision;
  text?: string;
}

/** Opens the dialog. */
export async function historyDialog({ workspace, message, file, text, bytes, restore, go }: HistorySubject): Promise<void> {
  const project = workspace;
  const list = signal<readonly Revision[] | undefined>(undefined);
  const chosen = signal(0);
  const against = signal<"before" | "now" | string>("before"); // or the id of another revision
  const view = signal<"text" | "layout" | "fields">("text");
  const values = signal<readonly FieldRow[]>([]);
  const shown = signal<ComparedDefinitions | undefined>(undefined);
  const steps = signal<ReadonlyMap<string, Step>>(new Map()); // of several files, by id
  const verdicts = signal<ReadonlyMap<string, ScoresScore | string>>(new Map()); // by revision; a text says why there is none
  const texts = new Map<string, string>();
  const textOf = async ({ revision, text }: Side): Promise<string> => {
    if (revision === undefined) {
      return text ?? "";
    }
    const known = texts.get(revision.id) ?? (await ask("GET definitions/{file}/history/{id}", { project, file, id: revision.id }))?.text ?? "";
    texts.set(revision.id, known);
    return known;
  };
  const said = ({ revision, text }: Side): { message: string; revision?: string; text?: string } => (revision === undefined ? { message, text: text === "" ? "\n" : text ?? "\n" } : { message, revision: revision.id });
  const judge = async (revision: Revision): Promise<void> => {
    const known = verdicts.value.get(revision.id);
    if (typeof known === "object" && (known.state.reading ?? 0) === 0 && known.frames === known.of) {
      return;
    }
    const reply = await request("POST scores", { project }, { body: said({ revision }) });
    verdicts.value = new Map([...verdicts.value, [revision.id, reply.ok ? reply.answer : `not known: ${reply.why}`]]);
  };
  await dialog(`History of ${file}`, (d) => {
    let latest = 0;
    let judging = Promise.resolve(); // one after the other: each may wait for captures
    const judgeNext = (revision: Revision, wanted: () => boolean): void => {
      judging = judging.then(async () => (wanted() && d.box.open ? judge(revision) : undefined));
    };
    /** Both texts, the older one first. */
    const sides = (one: Revision): [Side, Side] => {
      const all = list.value ?? [];
      const other = all.findIndex(({ id }) => id === against.value);
      if (against.value === "now") {
        return [{ revision: one }, { text: text() }];
      }
      const [older, newer] = other < 0 ? [all[chosen.value + 1] ?? one, one] : other > chosen.value ? [all[other] ?? one, one] : [one, all[other] ?? one];
      return [{ revision: older }, { revision: newer }];
    };
    const compare = async (): Promise<void> => {
      const one = (list.value ?? [])[chosen.value];
      const n = ++latest;
      if (one === undefined) {
        return;
      }
      const [before, after] = sides(one);
      const reply = await request("POST compare", { project: workspace }, { body: { old: said(before), new: said(after) } });
      if (n !== latest) {
        return;
      }
      shown.value = reply.ok ? reply.answer : undefined;
      d.say(reply.ok ? summary(reply.answer) : reply.why, !reply.ok);
      const hex = bytes();
      const decoded = async (side: Side): Promise<ReadonlyMap<string, string>> => {
        const of = hex === "" ? "" : await textOf(side);
        const answer = hex === "" ? undefined : await request("POST decode", { project }, { body: { message, hex, definition: of === "" ? "\n" : of } });
        return new Map(answer?.ok === true ? (answer.answer.results[0]?.fields ?? []).filter(({ role }) => role === "value").map(({ path, value }) => [path, typeof value === "string" ? value : JSON.stringify(value)]) : []);
      };
      judgeNext(one, () => n === latest);
      const [a, b] = await Promise.all([decoded(before), decoded(after)]);
      if (n === latest) {
        values.value = [...new Set([...a.keys(), ...b.keys()])].map((path) => ({ path, before: a.get(path), after: b.get(path) }));
      }
    };
    const load = async (): Promise<void> => {
      const answer = await ask("GET definitions/{file}/history", { project, file });
      const all = answer?.revisions ?? [];
      list.value = all;
      if (all.some((r) => r.step !== undefined)) {
        void request("GET changes", { project }).then(({ answer: { changes = [] } }) => { steps.value = new Map(changes.filter((s) => s.files > 1).map((s) => [s.id, s])); });
      }
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
    const all = list.value ?? [];
    const one = all[chosen.value];
    const compareWith = (to: string): void => {
      against.value = to;
      void compare();
    };
    const choose = (i: number): void => {
      chosen.value = i;
      compareWith(all[i]?.id === against.value ? "before" : against.value);
    };
    const nameOf = (r: Revision): string => [timeText(r.from, r.at), r.name ?? "", whoText(r, r === all.at(-1)), r.added + r.removed === 0 ? "" : `+${r.added} −${r.removed}`].filter((part) => part !== "").join(" · ");
    const others = all.slice(0, mostShown).filter((r) => r !== one).map((r) => [r.id, nameOf(r)] as const);
    const step = steps.value.get(one?.step ?? "");
    const offer = step === undefined || lookOnly() ? undefined : stepOffer(workspace, step);
    const score = verdicts.value.get(one?.id ?? "");
    const name = (event: Event): void => {
      if (one !== undefined && event.currentTarget instanceof HTMLElement) {
        askText(event.currentTarget, { label: "Name of this revision", text: one.name ?? "", button: "Name it", most: mostName }, (to) => {
          void ask("PATCH definitions/{file}/history/{id}", { project, file, id: one.id }, { name: to }).then((done) => done !== undefined && (list.value = all.map((r) => (r.id === one.id ? { ...r, name: to } : r))));
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
              <div key={r.id} role="option" class={r.id === against.value ? "history-row against" : "history-row"} tabIndex={i === chosen.value ? 0 : -1} aria-selected={i === chosen.value} onClick={() => choose(i)} {...(i === 0 ? { "data-focus": "" } : {})}>
                <span class="history-when">{timeText(r.from, r.at)}</span>
                {r.name === undefined || r.name === "" ? null : <strong>{r.name}</strong>}
                <span class="history-who">{whoText(r, i === all.length - 1)}</span>
                {r.added + r.removed === 0 ? null : <span class="dim">+{r.added} −{r.removed}</span>}
                <Verdict of={verdicts.value.get(r.id)} />
                {steps.value.has(r.step ?? "") ? <span class="history-step dim">{steps.value.get(r.step ?? "")?.about}</span> : null}
              </div>
            ))}
            {all.length > mostShown ? <p class="dim">{all.length - mostShown} older ones</p> : null}
          </div>
          <div class="history-shown">
            <div class="row">
              <span class="segments" role="group" aria-label="Compare">
                <button type="button" class="btn quiet" aria-pressed={against.value === "before"} onClick={() => compareWith("before")}>What it changed</button>
                <button type="button" class="btn quiet" aria-pressed={against.value === "now"} onClick={() => compareWith("now")}>What has changed since</button>
              </span>
              <Select aria-label="Compare with" value={others.some(([id]) => id === against.value) ? against.value : ""} change={(to) => compareWith(to === "" ? "before" : to)} options={[["", "Compare with another …"], ...others]} />
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
                : <TextLines of={shown.value} only back={against.value === "now" && !lookOnly() ? (to) => { d.close(); restore(to); } : undefined} />}
            </div>
            <p class="dim history-score" role="status">{typeof score === "object" && score.of > 0 ? `This revision: ${scoreText(score).text}` : ""}</p>
          </div>
        </div>
        <div class="row">
          <Button text="Close" run={d.close} />
          {one === undefined ? null : <Button text="Judge all" title="How many messages of the captures fit each revision" run={() => all.slice(0, mostShown).forEach((r) => judgeNext(r, () => true))} />}
          {offer === undefined ? null : <Button text={offer.title} title="The change of several files that this revision is a part of" run={() => { d.close(); offer.run(); }} />}
          {one === undefined || lookOnly() ? null : (
            <>
              <button type="button" class="btn" onClick={name}>Name it…</button>
              <Button text="Restore this text" title="Puts the text of this revision into the editor" run={() => void textOf({ revision: one }).then((to) => { d.close(); restore(to); })} />
            </>
          )}
        </div>
      </>
    );
  }, { kind: "compare history" }).closed;
}

/** How many messages of the captures fit a revision. */
function Verdict({ of }: { of: ScoresScore | string | undefined }) {
  if (of === undefined) {
    return null;
  }
  const bad = typeof of === "object" && of.of > 0 && of.clean < of.frames;
  return <span class={`history-fits ${typeof of === "string" || of.of === 0 ? "dim" : bad ? "warn" : "ok"}`}>{typeof of === "string" ? of : fitText(of)}</span>;
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
