// Sharing a finding: messages with their definitions as one page. What goes and what stays is shown before it is made.

import type { CapsuleBody, CapsuleList, MadeCapsule, PublishPreview as Preview } from "../../api/api";
import { copyText } from "../../kit/copy/index";
import { Button, confirmDialog, dialog, Field, Says } from "../../kit/dialog";
import { pathOf } from "../../kit/address";
import { ask, request } from "../../kit/http";
import { notify } from "../../kit/notify";
import { personName } from "../../kit/person";
import { lookOnly } from "../../kit/role";
import { Fragment, h, signal } from "../../kit/ui";

/** What is shared: the messages, and the title that is proposed. */
export interface CapsuleSubject {
  workspace: string;
  title: string;
  what: Pick<CapsuleBody, "capture" | "frames" | "filter" | "hex" | "message" | "text">;
}

const pause = 300; // milliseconds after a key

const count = (n: number, what: string): string => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

/** The size of a page. */
function sizeText(bytes: number): string {
  return bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

/** Opens the dialog that makes a capsule. */
export async function capsuleDialog({ workspace, title: proposed, what }: CapsuleSubject): Promise<void> {
  const title = signal(proposed);
  const note = signal("");
  const rules = signal("");
  const secrets = signal(false);
  const addresses = signal(false);
  const notes = signal(false);
  const chosen = signal<ReadonlySet<string>>(new Set()); // fields that are replaced by a tick
  const seen = new Set<string>(); // fields that look like secrets, which were ticked once
  const preview = signal<Preview | undefined>(undefined);
  const made = signal<MadeCapsule | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let n = 0;
  await dialog("Share messages", (d) => {
    const body = (more: Partial<CapsuleBody>): CapsuleBody => ({
      ...what, title: title.value, note: note.value, name: personName(), rules: [rules.value, ...chosen.value].join("\n"), secrets: secrets.value, addresses: addresses.value, notes: notes.value, ...more,
    });
    const look = async (): Promise<void> => {
      const mine = ++n;
      const reply = await request("POST capsules", { project: workspace }, { body: body({ preview: true }) });
      if (mine !== n) {
        return;
      }
      const fresh = reply.ok ? (reply.answer.preview?.kept ?? []).filter((f) => (f.why ?? "") !== "" && !seen.has(f.field)) : [];
      if (fresh.length > 0) {
        fresh.forEach((f) => seen.add(f.field));
        chosen.value = new Set([...chosen.value, ...fresh.map((f) => f.field)]);
        await look();
        return;
      }
      preview.value = reply.ok ? (reply.answer.preview ?? undefined) : undefined;
      d.say(reply.ok ? "" : reply.why, !reply.ok);
    };
    const later = (): void => {
      made.value = undefined;
      clearTimeout(timer);
      timer = setTimeout(() => void look(), pause);
    };
    if (n === 0) {
      void look();
    }
    const make = async (): Promise<void> => {
      const answer = await ask("POST capsules", { project: workspace }, body({}));
      if (answer !== undefined) {
        made.value = answer;
        preview.value = answer.preview ?? undefined;
        d.say("Made: others of this project can open its page; the file is for everybody else.", false);
      }
    };
    const check = (of: typeof secrets, text: string, why: string) => (
      <label title={why}><input type="checkbox" checked={of.value} onChange={(event) => { of.value = event.currentTarget.checked; later(); }} /> {text}</label>
    );
    const tick = (field: string, on: boolean): void => {
      const now = new Set(chosen.value);
      if (on) {
        now.add(field);
      } else {
        now.delete(field);
      }
      chosen.value = now;
      later();
    };
    const state = (f: Preview["kept"][number], gone: boolean): string => {
      const parts = [gone ? "replaced" : "as it is"];
      if ((f.stays ?? 0) > 0) {
        parts.push(`${count(f.stays ?? 0, "value")} stay: they select what follows`);
      }
      if (!gone && (f.erased ?? 0) > 0) {
        parts.push(`${count(f.erased ?? 0, "value")} overwritten: replaced values were in them`);
      }
      if ((f.why ?? "") !== "") {
        parts.push(`looks like a secret: ${f.why}`);
      }
      return parts.join("; ");
    };
    const page = made.value?.page === undefined ? "" : new URL(made.value.page, location.href).href;
    const p = preview.value;
    return (
      <>
        <div class="row">
          <Field label="Title"><input type="text" maxLength={200} value={title.value} data-focus="" onInput={(event) => { title.value = event.currentTarget.value; later(); }} /></Field>
        </div>
        <Field label="What it is about"><textarea rows={2} value={note.value} onInput={(event) => { note.value = event.currentTarget.value; later(); }} /></Field>
        <Field label="Also replace: a rule per line, such as name, *.members.name or type:string"><textarea rows={2} class="mono" spellcheck={false} value={rules.value} onInput={(event) => { rules.value = event.currentTarget.value; later(); }} /></Field>
        <div class="row capsule-checks">
          {what.capture === undefined ? null : check(addresses, "addresses", "The addresses of the connections")}
          {what.capture === undefined ? null : check(notes, "notes", "The notes on the frames")}
          {lookOnly() ? null : check(secrets, "secret values", "Values of fields marked @secret, and key exchanges")}
          <Says d={d} />
        </div>
        <div class="scores-box capsule-preview" tabIndex={0} role="region" aria-label="What it has">
          {p === undefined ? null : (
            <>
              <p>
                {count(p.frames, "message")}, {count(p.bytes, "byte")}, {count(p.definitions.length, "definition")}; a page of {sizeText(p.size)}.
                {(p.erased ?? 0) > 0 ? ` ${count(p.erased ?? 0, "replaced value")} found elsewhere and overwritten.` : ""}
                {(p.left ?? 0) > 0 ? ` ${count(p.left ?? 0, "message")} without their bytes.` : ""}
                {(p.unknown ?? 0) > 0 ? <strong> {count(p.unknown ?? 0, "message")} without a definition: their bytes are there as they are.</strong> : null}
              </p>
              <table class="data" aria-label="Fields">
                <thead><tr><th scope="col">Replace</th><th scope="col">Field</th><th scope="col">Type</th><th scope="col" class="num">Values</th><th scope="col">In the capsule</th></tr></thead>
                <tbody>
                  {[...p.gone.map((f) => ({ ...f, gone: true })), ...p.kept.map((f) => ({ ...f, gone: false }))].map((f) => (
                    <tr key={f.field}>
                      <td><input type="checkbox" aria-label={`Replace ${f.field}`} checked={f.gone} disabled={f.gone && !chosen.value.has(f.field)} onChange={(event) => tick(f.field, event.currentTarget.checked)} /></td>
                      <td>{f.field}</td><td class="dim">{f.type}</td><td class="num">{f.values.toLocaleString("en")}</td>
                      <td class={f.gone ? "ok" : (f.why ?? "") !== "" ? "err" : ""}>{state(f, f.gone)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </>
          )}
        </div>
        <div class="row">
          {made.value === undefined
            ? <Button text="Make it" primary run={() => void make()} disabled={p === undefined} />
            : (
              <>
                <a class="btn primary" href={`${page}?download=1`} download="">Save the page</a>
                <a class="btn" href={page} target="_blank" rel="noopener">Open it</a>
                <Button text="Copy its address" run={() => void copyText(page).then((done) => notify(done ? "Copied" : "The browser does not allow copying here", done ? "ok" : "err"))} />
              </>
            )}
          <Button text="Close" run={d.close} />
        </div>
      </>
    );
  }, { kind: "compare capsule-dialog" }).closed;
  clearTimeout(timer);
}

/** Opens the list of capsules. */
export async function capsulesDialog(workspace: string): Promise<void> {
  const list = signal<CapsuleList["capsules"] | undefined>(undefined);
  await dialog("Shared messages", (d) => {
    const load = async (): Promise<void> => {
      list.value = (await ask("GET capsules", { project: workspace }))?.capsules ?? [];
      d.say(list.value.length === 0 ? "Nothing is shared yet: “Share …” in the palette makes a page of the selected frames, or of the message." : "", false);
    };
    if (list.value === undefined && d.says.value.text === "") {
      d.say("…", false);
      void load();
    }
    const drop = async (id: string, title: string): Promise<void> => {
      if (await confirmDialog(`Delete “${title}” here? Copies of its page stay as they are.`, "Delete")) {
        await ask("DELETE capsules/{id}", { project: workspace, id });
        await load();
      }
    };
    const pageOf = (id: string): string => new URL(`${pathOf(workspace)}/capsules/${id}`, location.href).href;
    return (
      <>
        <Says d={d} />
        <div class="scores-box" tabIndex={0} role="region" aria-label="Capsules">
          {list.value === undefined || list.value.length === 0 ? null : (
            <table class="data" aria-label="Capsules">
              <thead><tr><th scope="col">Title</th><th scope="col">By</th><th scope="col">When</th><th scope="col" class="num">Messages</th><th scope="col">Page</th></tr></thead>
              <tbody>
                {list.value.map((c) => (
                  <tr key={c.id}>
                    <td><a href={pageOf(c.id)} target="_blank" rel="noopener">{c.title === "" ? c.id.slice(0, 8) : c.title}</a></td>
                    <td>{c.by ?? ""}</td>
                    <td>{new Date(c.at).toLocaleDateString()}</td>
                    <td class="num">{c.frames}</td>
                    <td><a href={`${pageOf(c.id)}?download=1`} download="">Save</a>{lookOnly() ? null : <Button text="Delete" kind="err" run={() => void drop(c.id, c.title)} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
        <div class="row"><Button text="Close" data-focus="" run={d.close} /></div>
      </>
    );
  }, { kind: "compare" }).closed;
}
