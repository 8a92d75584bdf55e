// The dialog that compares two definitions: versions of one, the saved and the edited text, or any two of the project. It shows which fields
// were added, removed, renamed and retyped, how far each byte has moved, and the lines of the texts.

import type { ComparedDefinitions, ViewComparedRow as Row } from "../../api/api";
import { LayoutRows, Strips, summary, TextLines } from "../../kit/compared";
import { Button, dialog, Field, Says } from "../../kit/dialog";
import { request } from "../../kit/http";
import { Fragment, h, signal } from "../../kit/ui";

/** The definitions to begin with. */
export interface Comparison {
  workspace: string;
  message: string;
  versions: readonly string[]; // of the message, all of them
  edited: string | undefined; // the unsaved text of the message
  names: readonly string[]; // that can be chosen
  go(message: string, line: number): void;
}

const editedMark = " as edited";
const version = (name: string): number => Number(/\.(\d+)$/.exec(name)?.[1] ?? NaN);

/** Opens the dialog. */
export async function compareDialog({ workspace, message, versions, edited, names, go }: Comparison): Promise<void> {
  const older = versions.filter((v) => version(v) < version(message)).sort((a, b) => version(b) - version(a))[0];
  const newer = versions.filter((v) => version(v) > version(message)).sort((a, b) => version(a) - version(b))[0];
  const from = signal(edited !== undefined ? message : older ?? message);
  const to = signal(edited !== undefined ? message + editedMark : older !== undefined ? message : newer ?? "");
  const shown = signal<ComparedDefinitions | undefined>(undefined);
  const only = signal(true);
  const text = signal(false);
  await dialog("Compare definitions", (d) => {
    const side = (name: string): { message: string; text?: string } => (name.endsWith(editedMark) && edited !== undefined ? { message, text: edited } : { message: name.trim() });
    const compare = async (): Promise<void> => {
      if (from.value.trim() === "" || to.value.trim() === "") {
        shown.value = undefined;
        d.say("Choose two definitions.", false);
        return;
      }
      const reply = await request("POST compare", { project: workspace }, { body: { old: side(from.value), new: side(to.value) } });
      shown.value = reply.ok ? reply.answer : undefined;
      d.say(reply.ok ? summary(reply.answer) + (reply.answer.wrong === undefined ? "" : ` · ${reply.answer.wrong.join(" and ")} with mistakes`) : reply.why, !reply.ok);
    };
    if (shown.value === undefined && d.says.value.text === "") {
      d.say("…", false);
      void compare();
    }
    const choose = (into: { value: string }) => ({ // an answer draws the fields again while one types
      value: into.value,
      onInput: (event: { currentTarget: HTMLInputElement }): void => { into.value = event.currentTarget.value; },
      onChange: (): void => { void compare(); },
    });
    const swap = (): void => {
      [from.value, to.value] = [to.value, from.value];
      void compare();
    };
    const show = (row: Row): void => {
      const part = row.new ?? row.old;
      d.close();
      go((row.new === undefined ? from : to).value.replace(editedMark, ""), part?.line ?? 0);
    };
    const focus = (name: string) => (to.value === "" ? name === "new" : name === "old") ? { "data-focus": "" } : {};
    return (
      <>
        <div class="row">
          <Field label="Old"><input type="text" name="old" list="compare-names" spellcheck={false} autocomplete="off" {...choose(from)} {...focus("old")} /></Field>
          <Button text="⇄" title="Exchange old and new" run={swap} />
          <Field label="New"><input type="text" name="new" list="compare-names" spellcheck={false} autocomplete="off" {...choose(to)} {...focus("new")} /></Field>
        </div>
        <datalist id="compare-names">{[...(edited === undefined ? [] : [message + editedMark]), ...versions, ...names].map((name) => <option key={name} value={name} />)}</datalist>
        <div class="row">
          <span class="segments" role="group" aria-label="Compare">
            <button type="button" class="btn quiet" aria-pressed={!text.value} onClick={() => { text.value = false; }}>Layout</button>
            <button type="button" class="btn quiet" aria-pressed={text.value} onClick={() => { text.value = true; }}>Text</button>
          </span>
          <label class="check"><input type="checkbox" checked={only.value} onChange={(event) => { only.value = event.currentTarget.checked; }} /> only changes</label>
          <Says d={d} />
        </div>
        <div class="compare-body" tabIndex={0} role="region" aria-label="Comparison">
          {shown.value === undefined ? null : text.value
            ? <TextLines of={shown.value} only={only.value} />
            : <><Strips rows={shown.value.rows ?? []} /><LayoutRows of={shown.value} only={only.value} go={show} /></>}
        </div>
        <div class="row"><Button text="Close" run={d.close} /></div>
      </>
    );
  }, { kind: "compare" }).closed;
}
