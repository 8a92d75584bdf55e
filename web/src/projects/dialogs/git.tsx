// The git repository of the project: what has changed since the last commit, commits of what is chosen, and pulling, with a choice where both
// sides have changed a place.

import type { CommitBody, ComparedDefinitions, GitConflict as Conflict, GitStatus as Status, PullBody } from "../../api/api";
import { Button, dialog, Says } from "../../kit/dialog";
import { ask, failure, request } from "../../kit/http";
import { notify } from "../../kit/notify";
import { personName } from "../../kit/person";
import { lookOnly } from "../../kit/role";
import { Fragment, h, signal } from "../../kit/ui";
import { LayoutRows, Strips, TextLines } from "../../kit/compared";

const signs = { added: "+", changed: "~", deleted: "−", conflict: "!" } as const;

const noGit = "The definitions of this project are in a git repository, but this server has no git program: install git where the server runs to see changes and to commit. The Docker image has none.";

const files = (n: number): string => `${n} ${n === 1 ? "file" : "files"}`;

/** Opens the dialog. */
export async function gitDialog(workspace: string): Promise<void> {
  const project = workspace;
  const status = signal<Status | undefined>(undefined);
  const picked = signal<ReadonlySet<string>>(new Set());
  const chosen = signal("");
  const layout = signal(false);
  const shown = signal<ComparedDefinitions | undefined>(undefined);
  const conflicts = signal<readonly Conflict[]>([]);
  const choices = signal<Readonly<Record<string, string>>>({});
  const message = signal("");
  const busy = signal(false);
  const absent = signal(false); // there is no repository, or no git
  let n = 0;
  await dialog("Git", (d) => {
    const take = (s: Status | undefined): void => {
      if (s === undefined) {
        return;
      }
      const before = new Set(status.value?.changes.map(({ file }) => file));
      const news = s.changes.filter(({ file }) => !before.has(file)).map(({ file }) => file);
      picked.value = new Set([...s.changes.map(({ file }) => file).filter((file) => picked.value.has(file)), ...news]);
      status.value = s;
      if (!s.changes.some(({ file }) => file === chosen.value)) {
        void choose(s.changes[0]?.file ?? "");
      }
    };
    const load = async (): Promise<void> => {
      const reply = await request("GET git", { project });
      if (reply.ok) {
        const { none = false, missing = false } = reply.answer;
        absent.value = none || missing;
        d.say(none ? "The definitions of this project are in no git repository. Start the server with --library and a folder of one." : missing ? noGit : "", absent.value);
        take(absent.value ? undefined : reply.answer);
      } else {
        d.say(failure("Git", reply));
      }
    };
    const compare = async (file: string, before: string, after: string): Promise<void> => {
      const mine = ++n;
      const known = await request("GET definitions/{file}", { project, file });
      const message = (known.ok ? known.answer.messages[0] : undefined) ?? file.replace(/^.*\//, "").replace(/\.(def|json|ya?ml)$/, "");
      const side = (text: string) => ({ message, text: text === "" ? "\n" : text });
      const reply = await request("POST compare", { project: workspace }, { body: { old: side(before), new: side(after) } });
      if (mine === n) {
        shown.value = reply.ok ? reply.answer : undefined;
        if (!reply.ok) {
          d.say(reply.why);
        }
      }
    };
    const choose = async (file: string): Promise<void> => {
      chosen.value = file;
      shown.value = undefined;
      const change = status.value?.changes.find((c) => c.file === file);
      if (change === undefined || !/\.(def|json|ya?ml)$/.test(file)) {
        return;
      }
      const was = change.kind === "added" ? "" : (await ask("GET git/text", { project, file }))?.text ?? "";
      const now = change.kind === "deleted" ? "" : (await ask("GET definitions/{file}", { project, file }))?.text ?? "";
      if (chosen.value === file) {
        await compare(file, was, now);
      }
    };
    const commit = async (): Promise<void> => {
      busy.value = true;
      const body: CommitBody = { files: [...picked.value], message: message.value, name: personName() };
      const reply = await request("POST git/commit", { project }, { body });
      busy.value = false;
      if (!reply.ok) {
        d.say(reply.why);
        return;
      }
      notify(`Committed ${files(picked.value.size)}`);
      message.value = "";
      picked.value = new Set();
      take(reply.answer);
    };
    const pull = async (): Promise<void> => {
      busy.value = true;
      d.say("Pulling …", false);
      const body: PullBody = { name: personName(), choices: choices.value };
      const reply = await request("POST git/pull", { project }, { body });
      busy.value = false;
      if (!reply.ok) {
        d.say(reply.why);
        return;
      }
      const { commits, merged, conflicts: both } = reply.answer;
      conflicts.value = both ?? [];
      const [first] = conflicts.value;
      if (first !== undefined) {
        chosen.value = first.file;
        await compare(first.file, first.ours, first.theirs);
        d.say("Both sides have changed these files. Nothing was changed yet: choose a text for each.");
        return;
      }
      choices.value = {};
      await load();
      d.say(commits === 0 ? "There is nothing new." : `Took over ${commits} ${commits === 1 ? "commit" : "commits"}${merged === true ? ", merged" : ""}.`, false);
    };
    if (status.value === undefined && d.says.value.text === "") {
      d.say("…", false);
      void load();
    }
    const s = status.value;
    const may = !lookOnly();
    const settle = (c: Conflict, text: string): void => {
      choices.value = { ...choices.value, [c.file]: text };
      const next = conflicts.value.find(({ file }) => !(file in choices.value));
      if (next !== undefined) {
        chosen.value = next.file;
        void compare(next.file, next.ours, next.theirs);
      }
    };
    const toggle = (file: string, on: boolean): void => {
      const now = new Set(picked.value);
      if (on) {
        now.add(file);
      } else {
        now.delete(file);
      }
      picked.value = now;
    };
    return (
      <>
        {s === undefined ? null : (
          <p>
            <strong>{s.branch === "" ? "no branch" : s.branch}</strong>{" "}
            <span class="dim">{s.commit === undefined ? "without a commit yet" : `at ${s.commit} ${s.subject ?? ""}`}</span>
            {(s.ahead ?? 0) > 0 ? ` · ${s.ahead ?? 0} ahead` : ""}{(s.behind ?? 0) > 0 ? ` · ${s.behind ?? 0} behind` : ""}
            {s.elsewhere === true ? <span class="dim"> · other parts of the repository have changes, too</span> : null}
          </p>
        )}
        <Says d={d} />
        {absent.value ? null : <div class="history-parts">
          <div class="history-list" role="group" aria-label="Changed files">
            {conflicts.value.length > 0
              ? conflicts.value.map((c) => (
                <div key={c.file} class="history-row" role="group" aria-label={c.file} data-current={c.file === chosen.value}>
                  <button type="button" class="link history-when" onClick={() => { chosen.value = c.file; void compare(c.file, c.ours, c.theirs); }}>{c.file}</button>
                  <label><input type="radio" name={`side ${c.file}`} checked={choices.value[c.file] === c.ours} onChange={() => settle(c, c.ours)} /> ours</label>
                  <label><input type="radio" name={`side ${c.file}`} checked={choices.value[c.file] === c.theirs && c.theirs !== c.ours} onChange={() => settle(c, c.theirs)} /> theirs</label>
                </div>
              ))
              : s?.changes.map(({ file, kind }) => (
                <div key={file} class="history-row" data-current={file === chosen.value}>
                  {may ? <input type="checkbox" aria-label={`Commit ${file}`} checked={picked.value.has(file)} onChange={(event) => toggle(file, event.currentTarget.checked)} /> : null}
                  <span class={kind === "deleted" ? "err" : kind === "added" ? "ok" : "dim"} title={kind}>{signs[kind]}</span>
                  <button type="button" class="link" aria-pressed={file === chosen.value} onClick={() => void choose(file)}>{file}</button>
                </div>
              ))}
            {s !== undefined && s.changes.length === 0 && conflicts.value.length === 0 ? <p class="dim thread-none">Nothing has changed since the last commit.</p> : null}
          </div>
          <div class="history-shown">
            <div class="row">
              <span class="segments" role="group" aria-label="Show">
                <button type="button" class="btn quiet" aria-pressed={!layout.value} onClick={() => { layout.value = false; }}>Text</button>
                <button type="button" class="btn quiet" aria-pressed={layout.value} onClick={() => { layout.value = true; }}>Layout</button>
              </span>
              <span class="dim">{conflicts.value.length > 0 ? "ours → theirs" : "the last commit → now"}</span>
            </div>
            <div class="compare-body" tabIndex={0} role="region" aria-label="Comparison">
              {shown.value === undefined ? null : layout.value ? <><Strips rows={shown.value.rows ?? []} /><LayoutRows of={shown.value} only go={() => undefined} /></> : <TextLines of={shown.value} only />}
            </div>
          </div>
        </div>}
        {may && conflicts.value.length === 0 && s !== undefined ? <textarea rows={2} aria-label="Message of the commit" placeholder="Message of the commit" value={message.value} onInput={(event) => { message.value = event.currentTarget.value; }} /> : null}
        <div class="row">
          {may && conflicts.value.length === 0 && s !== undefined ? <Button text={`Commit ${files(picked.value.size)}`} primary disabled={busy.value || picked.value.size === 0 || message.value.trim() === ""} run={() => void commit()} /> : null}
          {may && conflicts.value.length > 0 ? <Button text="Merge with these" primary disabled={busy.value || conflicts.value.some(({ file }) => !(file in choices.value))} run={() => void pull()} /> : null}
          {may && conflicts.value.length > 0 ? <Button text="Not now" run={() => { conflicts.value = []; choices.value = {}; void load(); }} /> : null}
          {may && conflicts.value.length === 0 && s?.remote !== undefined ? <Button text={`Pull from ${s.remote}`} disabled={busy.value} run={() => void pull()} /> : null}
          <Button text="Close" data-focus="" run={d.close} />
        </div>
      </>
    );
  }, { kind: "compare history git-dialog" }).closed;
}
