// The comments and suggestions of a project: a list, and one of them with its answers. A suggestion shows what it would change now, and what
// the messages of the captures say about that.

import { pathOf } from "../../kit/address";
import type { MergedText, ScoresScore, WorkspaceRemark as Remark, WorkspaceThread as Thread } from "../../api/api";
import { onChanged } from "../../kit/changes";
import { Button, dialog, type Open, Says } from "../../kit/dialog";
import { ask, request } from "../../kit/http";
import { notify } from "../../kit/notify";
import { personName } from "../../kit/person";
import { lookOnly } from "../../kit/role";
import { frameAddress, scoreText } from "../score";
import { threadText } from "../threads";
import { Fragment, h, signal } from "../../kit/ui";
import { LayoutRows, Strips, TextLines } from "../../kit/compared";

/** What the dialog is opened for. */
export interface ThreadsSubject {
  workspace: string;
  id: string; // of a thread, "" for the first
  mine: boolean; // only those that concern the person, at first
  file: string; // the open definition, "" if none is
  go(message: string, line: number): void;
  edit(message: string, text: string): void;
}

type Filter = "mine" | "open" | "file" | "all";

interface Proposed {
  id: string;
  merged: MergedText;
  before?: ScoresScore | undefined; // undefined until they are there
  after?: ScoresScore | undefined;
}

function when(at: string): string {
  const time = new Date(at);
  return time.toDateString() === new Date().toDateString() ? time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : time.toLocaleDateString();
}

function place({ file = "", line, path, new: isNew, capture, frame = 0, offset = 0, length = 0 }: Thread): string {
  if (capture !== undefined) {
    return `frame ${frame}, ${length} ${length === 1 ? "byte" : "bytes"} at 0x${offset.toString(16)}`;
  }
  const name = file.replace(/^.*\//, "");
  return line === undefined ? `${name}, ${isNew ? "a new file" : "a line that is gone"}` : `${name}:${line}${path === undefined ? "" : ` ${path}`}`;
}

function state({ open, suggestion, closedBy = "" }: Thread): string {
  const by = closedBy === "" ? "" : ` by ${closedBy}`;
  return open ? (suggestion === undefined ? "open" : "suggested") : suggestion === undefined ? `resolved${by}` : `${suggestion.state}${by}`;
}

/** Opens the dialog. */
export async function threadsDialog(subject: ThreadsSubject): Promise<void> {
  const { workspace } = subject;
  const project = workspace;
  const list = signal<readonly Thread[] | undefined>(undefined);
  const chosen = signal(subject.id);
  const you = signal("");
  const filter = signal<Filter>(subject.mine ? "mine" : "open");
  const layout = signal(false);
  const shown = signal<Proposed | undefined>(undefined);
  let d: Open | undefined;
  let again = 0;

  const has: Readonly<Record<Filter, (t: Thread) => boolean>> = { mine: (t) => t.concerns === true, open: (t) => t.open, file: (t) => t.open && t.file === subject.file, all: () => true };
  const mine = (): readonly Thread[] => (list.value ?? []).filter((t) => has[filter.value](t) || (t.id === chosen.value && (filter.value !== "file" || t.file === subject.file)));
  const current = (): Thread | undefined => mine().find(({ id }) => id === chosen.value) ?? mine()[0];

  /** Compares the present text with that of the suggestion, then judges both. */
  const propose = async (): Promise<void> => {
    const thread = current();
    const n = ++again;
    if (thread?.suggestion === undefined) {
      shown.value = undefined;
      return;
    }
    const { id, message, suggestion } = thread;
    const merged = await ask("GET threads/{id}/merged", { project, id });
    if (merged === undefined || n !== again) {
      return;
    }
    shown.value = { id, merged };
    if (suggestion.state !== "open" || message === undefined) {
      return;
    }
    const score = async (text: string): Promise<ScoresScore | undefined> => {
      const reply = await request("POST scores", { project }, { body: { message, text: text === "" ? "\n" : text } });
      return reply.ok ? reply.answer : undefined;
    };
    const [before, after] = await Promise.all([score(merged.now), score(merged.merged)]);
    if (n === again) {
      shown.value = { id, merged, before, after };
    }
  };
  const load = async (): Promise<void> => {
    const answer = await ask("GET threads", { project, closed: true, name: personName() });
    list.value = answer?.threads ?? [];
    you.value = answer?.you ?? "";
    if (chosen.value !== "" && current()?.id !== chosen.value && list.value.some(({ id }) => id === chosen.value)) {
      filter.value = "all";
    }
    d?.say("", false);
    await propose();
  };
  const choose = (id: string): void => {
    chosen.value = id;
    void propose();
  };
  const act = async (done: Promise<unknown>): Promise<boolean> => {
    if ((await done) === undefined) {
      return false;
    }
    await load();
    return true;
  };
  const stop = onChanged("threads", () => void load());

  await dialog("Comments and suggestions", (open) => {
    d = open;
    if (list.value === undefined && open.says.value.text === "") {
      open.say("…", false);
      void load();
    }
    const threads = mine();
    const thread = current();
    const keys = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
      const at = threads.findIndex(({ id }) => id === thread?.id);
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: threads.length - 1 }[event.key];
      const next = to === undefined ? undefined : threads[to];
      if (to !== undefined && next !== undefined) {
        event.preventDefault();
        choose(next.id);
        event.currentTarget.querySelectorAll<HTMLElement>("[role=option]")[to]?.focus();
      } else if (event.key === "a" && thread?.suggestion?.state === "open" && !lookOnly()) {
        event.preventDefault();
        void accept(thread);
      } else if (event.key === "d" && thread?.suggestion?.state === "open" && !lookOnly("commenter")) {
        event.preventDefault();
        void act(resolve(thread));
      }
    };
    const resolve = ({ id, open: isOpen }: Thread): Promise<unknown> => ask("PATCH threads/{id}", { project, id }, { open: !isOpen, name: personName() });
    const accept = async (t: Thread): Promise<void> => {
      if (await act(ask("POST threads/{id}/accept", { project, id: t.id }, { name: personName() }))) {
        notify(`Accepted: ${t.file ?? ""} has the text`);
      }
    };
    const filters: readonly (readonly [Filter, string])[] = [["mine", "For you"], ["open", "Open"], ...(subject.file === "" ? [] : [["file", "Of this definition"] as const]), ["all", "All"]];
    return (
      <>
        <div class="row">
          <span class="segments" role="group" aria-label="Which">
            {filters.map(([key, text]) => <button key={key} type="button" class="btn quiet" aria-pressed={filter.value === key} onClick={() => { filter.value = key; void propose(); }}>{text}</button>)}
          </span>
          <Says d={open} />
        </div>
        <div class="history-parts">
          <div class="history-list" role="listbox" aria-label="Comments and suggestions" onKeyDown={keys}>
            {threads.map((t) => (
              <div key={t.id} role="option" class="history-row" tabIndex={t.id === thread?.id ? 0 : -1} aria-selected={t.id === thread?.id} onClick={() => choose(t.id)} {...(t.id === thread?.id ? { "data-focus": "" } : {})}>
                <span class="history-when">{place(t)}</span>
                <span class="thread-brief">{t.suggestion === undefined ? "" : "✎ "}{threadText(t)}</span>
                <span class="dim">{t.open ? (t.remarks.length > 1 ? (t.remarks.length === 2 ? "1 answer" : `${t.remarks.length - 1} answers`) : "") : state(t)}</span>
              </div>
            ))}
            {list.value !== undefined && threads.length === 0 ? <p class="dim thread-none">{filter.value === "all" ? "None yet. Ctrl+Alt+M in a definition comments on its line; “Suggest the edited text” in the palette suggests another text." : filter.value === "mine" ? "Nothing is open for you: no suggestion of somebody else, and no comment with your name after an @." : "None are open."}</p> : null}
          </div>
          <div class="history-shown">
            {thread === undefined ? null : <Shown key={thread.id} thread={thread} proposed={shown.value?.id === thread.id ? shown.value : undefined} layout={layout} you={you.value} subject={subject} close={open.close} act={act} accept={accept} resolve={resolve} />}
          </div>
        </div>
        <div class="row"><Button text="Close" run={open.close} /></div>
      </>
    );
  }, { kind: "compare history threads-dialog" }).closed;
  stop();
}

interface ShownProps {
  thread: Thread;
  proposed: Proposed | undefined;
  layout: { value: boolean };
  you: string; // the name of the person, "" if they have none
  subject: ThreadsSubject;
  close(): void;
  act(done: Promise<unknown>): Promise<boolean>;
  accept(thread: Thread): Promise<void>;
  resolve(thread: Thread): Promise<unknown>; // or opens it again
}

function Shown({ thread, proposed, layout, you, subject, close, act, accept, resolve }: ShownProps) {
  const { workspace } = subject;
  const { id, message = "", line, open, suggestion, was, now, capture } = thread;
  const mayComment = !lookOnly("commenter");
  const answer = (field: HTMLTextAreaElement | null | undefined): void => {
    if (field !== null && field !== undefined && field.value.trim() !== "") {
      void act(ask("POST threads/{id}/remarks", { project: workspace, id }, { text: field.value, name: personName() })).then((done) => {
        if (done) {
          field.value = "";
        }
      });
    }
  };
  const send = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      answer(event.currentTarget);
    }
  };
  const where = place(thread);
  return (
    <div class="thread">
      <p class="thread-head">
        {capture === undefined
          ? message === "" ? where : <a href={pathOf(workspace, "definitions", message)} onClick={(event) => { event.preventDefault(); close(); subject.go(message, line ?? 0); }}>{where}</a>
          : <a href={`${frameAddress(workspace, capture, thread.frame ?? 0)}&sel=${thread.offset ?? 0}+${thread.length ?? 0}`}>{where}</a>}
        {" "}<span class="dim">{state(thread)}</span>
      </p>
      {capture === undefined && suggestion === undefined ? <p class="thread-line"><code>{now ?? was ?? ""}</code>{now !== undefined && was !== undefined && now !== was ? <span class="dim"> was <code>{was}</code></span> : null}</p> : null}
      <div class="thread-remarks" tabIndex={0} role="group" aria-label="Remarks">
        {thread.remarks.map((r, i) => <OneRemark key={i} remark={r} you={you} />)}
      </div>
      {suggestion === undefined ? null : (
        <>
          <div class="row">
            <span class="segments" role="group" aria-label="Show">
              <button type="button" class="btn quiet" aria-pressed={!layout.value} onClick={() => { layout.value = false; }}>Text</button>
              <button type="button" class="btn quiet" aria-pressed={layout.value} onClick={() => { layout.value = true; }}>Layout</button>
            </span>
            {proposed === undefined ? null : <Judged proposed={proposed} />}
          </div>
          <div class="compare-body" tabIndex={0} role="region" aria-label="What it changes">
            {proposed === undefined ? null : <Changes of={proposed.merged} layout={layout.value} />}
          </div>
        </>
      )}
      {mayComment ? (
        <div class="thread-answer">
          <textarea rows={2} aria-label="Answer" placeholder="Answer; @name mentions somebody; Ctrl+Enter sends" onKeyDown={send} />
          <span class="row">
            <button type="button" class="btn" onClick={(event) => answer(event.currentTarget.closest(".thread-answer")?.querySelector("textarea"))}>Answer</button>
            {suggestion?.state === "open" && !lookOnly() ? <Button text="Accept" title="Write these changes into the definition (a)" primary run={() => void accept(thread)} /> : null}
            {suggestion?.state === "open" && proposed !== undefined && message !== "" ? <Button text="Open in the editor" title="To change it before it is saved" run={() => { close(); subject.edit(message, proposed.merged.merged); }} /> : null}
            {suggestion?.state === "accepted" ? null : <Button text={open ? (suggestion === undefined ? "Resolve" : "Decline") : "Open again"} {...(open && suggestion !== undefined ? { title: "Close it; its text stays here (d)" } : {})} run={() => void act(resolve(thread))} />}
            {lookOnly() ? null : <Button text="Delete" kind="err" run={() => void act(ask("DELETE threads/{id}", { project: workspace, id }))} />}
          </span>
        </div>
      ) : null}
    </div>
  );
}

function OneRemark({ remark: { by, at, text, mentions = [] }, you }: { remark: Remark; you: string }) {
  const parts = text.split(/(@[\p{L}\p{N}_.-]+)/u);
  return (
    <div class="remark">
      <strong>{by}</strong> <span class="dim">{when(at)}</span>
      <p>{parts.map((part, i) => (part.startsWith("@") && mentions.some((name) => part.startsWith(`@${name}`)) ? <mark key={i} class={you !== "" && part.toLowerCase() === `@${you.toLowerCase()}` ? "me" : ""}>{part}</mark> : part))}</p>
    </div>
  );
}

/** What a suggestion changes, and what is wrong with its text. */
function Changes({ of: { compared, mistakes = [] }, layout }: { of: MergedText; layout: boolean }) {
  const { noLayout, rows } = compared;
  return (
    <>
      {mistakes.slice(0, 20).map(({ severity, line, message }, i) => <p key={i} class={severity === "error" ? "err" : "warn"}>{`Line ${line}: ${message}`}</p>)}
      {!layout ? <TextLines of={compared} only /> : noLayout === undefined ? <><Strips rows={rows ?? []} /><LayoutRows of={compared} only go={() => undefined} /></> : <p class="dim">{noLayout}</p>}
    </>
  );
}

/** What the messages of the captures say before and after. */
function Judged({ proposed: { merged: { named }, before, after } }: { proposed: Proposed }) {
  if (named !== undefined) {
    return <span class="dim">{`names ${named.toLocaleString("en")} ${named === 1 ? "message" : "messages"} of the captures`}</span>;
  }
  if (before === undefined || after === undefined || (after.of === 0 && before.of === 0)) {
    return null;
  }
  const worse = after.clean < before.clean;
  return <span class={worse ? "err" : after.clean > before.clean ? "ok" : "dim"} title={`Before: ${scoreText(before).text}`}>{before.clean.toLocaleString("en")} → {scoreText(after).text}{after.tried === undefined ? "" : `, with code ${after.tried}`}</span>;
}
