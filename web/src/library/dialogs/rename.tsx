// The dialogs that rename and copy definitions.

import type { WorkspaceRenamed } from "../../api/api";
import { Button, dialog, Field, type Open, Says } from "../../kit/dialog";
import { request } from "../../kit/http";
import { undoOffer } from "../../kit/journal";
import { notify } from "../../kit/notify";
import { Fragment, h, signal } from "../../kit/ui";

interface Names {
  files?: { from: string; to: string }[];
  messages?: { from: string; to: string }[];
  codes?: boolean;
}

/** Renames definitions; returns the report, or why it failed. */
async function rename(workspace: string, names: Names): Promise<WorkspaceRenamed | string> {
  const reply = await request("POST rename", { project: workspace }, { body: names });
  return reply.ok ? reply.answer : reply.why;
}

const bare = (name: string): string => name.replace(/^.*\//, "").replace(/\.\d+$/, "");
const numberOf = (name: string): string => /\.\d+$/.exec(name)?.[0] ?? "";

/** The field for a name; the first one has the focus, with the name selected but not its version. */
function NameField({ d, label, name, first = true }: { d: Open; label: string; name: { value: string }; first?: boolean }) {
  const select = (event: { currentTarget: HTMLInputElement }): void => {
    event.currentTarget.setSelectionRange(0, bare(name.value).length);
  };
  return (
    <Field label={label}>
      <input type="text" name="to" value={name.value} maxLength={300} spellcheck={false} autocomplete="off" {...(first ? { "data-focus": "" } : {})} onFocus={select}
        onInput={(event) => { name.value = event.currentTarget.value; d.say(""); }} />
    </Field>
  );
}

/** The file of a message, for dialects whose files are not named after their messages. */
async function fileOf(workspace: string, message: string): Promise<string | undefined> {
  const reply = await request("GET definitions/{file}", { project: workspace, file: message });
  if (!reply.ok) {
    notify(reply.why, "err");
    return undefined;
  }
  return reply.answer.file;
}

/** The name of a definition for the dialogs: NAME.VERSION, or the file without its ending. */
const nameIn = (message: string, file: string): string => (numberOf(message) === "" ? file.replace(/^.*\//, "").replace(/\.[^.]*$/, "") : message);

/** Asks for new names of a message and of its file, where the text names the message, and renames them in one step. */
async function renameBoth(workspace: string, message: string, file: string): Promise<void> {
  const was = { message: bare(message), file: nameIn(message, file) };
  const name = signal(was.message);
  const fileName = signal(was.file);
  await dialog(`Rename ${was.message}`, (d) => {
    const go = async (): Promise<void> => {
      const to = { message: name.value.trim(), file: fileName.value.trim() };
      const names: Names = {
        ...(to.message === was.message || to.message === "" ? {} : { messages: [{ from: message, to: to.message }] }),
        ...(to.file === was.file || to.file === "" ? {} : { files: [{ from: file, to: to.file }] }),
      };
      if (names.messages === undefined && names.files === undefined) {
        d.close();
        return;
      }
      const done = await rename(workspace, names);
      if (typeof done === "string") {
        d.say(done);
        return;
      }
      d.close();
      const what = [...(names.messages ?? []).map((r) => `${was.message} to ${r.to}`), ...(names.files ?? []).map((r) => `the file ${was.file} to ${r.to}`)];
      notify(`Renamed ${what.join(" and ")}`, "ok", undoOffer(workspace, done.undo));
    };
    return (
      <>
        <NameField d={d} label="New name of the message" name={name} />
        <NameField d={d} label="New name of the file" name={fileName} first={false} />
        <p class="hint">Its samples, unsaved texts and open pages follow.</p>
        <Says d={d} />
        <div class="row">
          <Button text="Rename" primary run={() => void go()} />
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  }, { kind: "question" }).closed;
}

/** Asks for a new name of a definition, and renames it. */
export async function renameDialog(workspace: string, message: string, versions: readonly string[], codes: boolean): Promise<void> {
  const file = await fileOf(workspace, message);
  if (file === undefined) {
    return;
  }
  if (numberOf(message) === "") {
    await renameBoth(workspace, message, file);
    return;
  }
  const was = nameIn(message, file);
  const name = signal(was);
  const all = signal(true);
  const keep = signal(true);
  await dialog(`Rename ${was}`, (d) => {
    const others = bare(name.value) === bare(was) ? [] : versions.filter((v) => v !== message);
    const go = async (): Promise<void> => {
      const to = name.value.trim();
      if (to === was || to === "") {
        d.close();
        return;
      }
      const version = numberOf(to) === "" ? numberOf(was) : numberOf(to);
      const list = [{ from: file, to: `${bare(to)}${version}` }, ...(all.value ? others.map((v) => ({ from: v, to: `${bare(to)}${numberOf(v)}` })) : [])];
      const done = await rename(workspace, { files: list, codes: codes && keep.value });
      if (typeof done === "string") {
        d.say(done);
        return;
      }
      d.close();
      const what = done.files.length === 1 ? `Renamed ${was} to ${list[0]?.to ?? to}` : `Renamed ${done.files.length} versions of ${bare(was)} to ${bare(to)}`;
      notify(done.maps === undefined ? what : `${what}; its code followed in ${done.maps.length === 1 ? done.maps[0] : `${done.maps.length} code maps`}`, "ok", undoOffer(workspace, done.undo));
    };
    return (
      <>
        <NameField d={d} label="New name, with its version" name={name} />
        {others.length === 0 ? null : (
          <label class="check"><input type="checkbox" checked={all.value} onChange={(event) => { all.value = event.currentTarget.checked; }} /> its other versions as well ({others.map((v) => numberOf(v).slice(1)).join(", ")})</label>
        )}
        {!codes || bare(name.value) === bare(was) ? null : (
          <label class="check"><input type="checkbox" checked={keep.value} onChange={(event) => { keep.value = event.currentTarget.checked; }} /> keep its code: rename it in the code maps, too</label>
        )}
        <Says d={d} />
        <div class="row">
          <Button text="Rename" primary run={() => void go()} />
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  }, { kind: "question" }).closed;
}

/** Asks for the name of a copy, and makes it. Resolves to the message of the copy, or "". */
export async function copyDialog(workspace: string, message: string, versions: readonly string[]): Promise<string> {
  const file = await fileOf(workspace, message);
  if (file === undefined) {
    return "";
  }
  const was = nameIn(message, file);
  const next = Math.max(0, ...versions.map((v) => Number(numberOf(v).slice(1)))) + 1;
  const name = signal(numberOf(was) === "" ? `${was}_2` : `${bare(was)}.${next}`);
  let made = "";
  await dialog(`Duplicate ${was}`, (d) => {
    const go = async (): Promise<void> => {
      const reply = await request("POST definitions/{file}/copy", { project: workspace, file }, { body: { to: name.value.trim() } });
      if (!reply.ok) {
        d.say(reply.why);
        return;
      }
      made = reply.answer.messages[0] ?? "";
      notify(`Copied ${was} to ${reply.answer.file}`, "ok");
      d.close();
    };
    return (
      <>
        <NameField d={d} label={numberOf(was) === "" ? "Name of the copy" : "Name of the copy, with its version"} name={name} />
        <p class="hint">The text as it is stored. Samples stay with the original.</p>
        <Says d={d} />
        <div class="row">
          <Button text="Duplicate" primary run={() => void go()} />
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  }, { kind: "question" }).closed;
  return made;
}
