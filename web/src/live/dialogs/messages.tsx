// The dialog for sending a message.

import { Button, dialog, Field, type Open, Says, Select } from "../../kit/dialog";
import { shortConnection } from "../../kit/frametext";
import { hexOf } from "../../kit/hextext";
import type { Operate } from "../operate";
import { ask } from "../../kit/http";
import { Fragment, h, signal } from "../../kit/ui";
import { type Content, MessageDraft, MessageForm } from "./messageform";

/** The content of a form; undefined after reporting a mistake in it. */
function read(draft: MessageDraft, d: Open): Content | undefined {
  try {
    return draft.content();
  } catch (error) {
    d.say(error instanceof Error ? error.message : "Invalid message");
    return undefined;
  }
}

const here = (): { project: string } => ({ project: document.getElementById("main")?.dataset["workspace"] ?? "" });

/** The values of a message. */
async function decode(message: string, hex: string, say?: (text: string) => void): Promise<unknown> {
  const answer = await ask("POST decode", here(), { message, hex }, say);
  return answer?.results[0]?.value;
}

/** The default values of a message. */
async function blank(message: string, say: (text: string) => void): Promise<unknown> {
  const answer = await ask("POST encode", here(), { message, value: {} }, say);
  return answer === undefined ? {} : decode(message, answer.hex, say);
}

/** Sends a new message, or one like the selected frame. */
export async function sendMessage(operate: Operate, like: boolean): Promise<void> {
  const { frames, shown } = operate;
  const { row } = frames.list;
  const frame = row === undefined ? undefined : await frames.socket.ask("frame", { n: row.n }).catch(() => undefined);
  const changed = frame !== undefined && shown.row()?.n === frame.n ? hexOf(shown.bytes()) : "";
  const hex = changed === "" ? frame?.hex ?? "" : changed;
  // Decoded before the dialog opens, so that a late response cannot replace typed text.
  const value = frame === undefined || frame.name === "" ? undefined : await decode(frame.name, hex);
  const conns = (operate.session?.conns ?? []).filter((c) => c.mode !== "impossible");
  const name = signal(frame?.name ?? "");
  const dir = signal<"c2s" | "s2c">(frame?.dir === "s2c" ? "s2c" : "c2s");
  const conn = signal(String(conns.find((c) => c.name === frame?.conn)?.id ?? conns.at(-1)?.id ?? ""));
  const off = signal(!operate.on.value);
  const draft = new MessageDraft();
  const names = shown.names();
  const d = dialog(like && frame !== undefined ? "Send a message like this one" : "Send a message", (d) => {
    const fill = async (text: string): Promise<void> => {
      name.value = text.trim();
      d.say("");
      draft.show(name.value === "" ? undefined : await blank(name.value, d.say), "");
    };
    const send = async (): Promise<void> => {
      const what = read(draft, d);
      if (what === undefined || !await operate.turnedOn()) {
        return;
      }
      const body = { dir: dir.value, ...(conn.value === "" ? {} : { conn_id: Number(conn.value) }), ...("value" in what ? { message: name.value, ...what } : what) };
      if (await ask("POST proxies/{id}/send", operate.at, body, d.say) !== undefined) {
        d.say(`Sent at ${new Date().toLocaleTimeString()}; marked * in the list`, false);
        off.value = false;
      }
    };
    return (
      <>
        <datalist id="operate-names">{names.map((n) => <option key={n} value={n} />)}</datalist>
        <div class="row">
          <Field label="Message"><input list="operate-names" autocomplete="off" placeholder="name, or empty for bytes" defaultValue={frame?.name ?? ""} onChange={(event) => void fill(event.currentTarget.value)} {...(frame === undefined ? { "data-focus": "" } : {})} /></Field>
          <Field label="Direction"><Select options={[["c2s", "C→S, to the server"], ["s2c", "S→C, to the client"]]} value={dir.value} change={(to) => (dir.value = to === "s2c" ? "s2c" : "c2s")} /></Field>
          <Field label="Connection" hidden={conns.length === 1}>
            <Select value={conn.value} change={(to) => (conn.value = to)}
              options={conns.map((c) => [String(c.id), shortConnection({ name: c.name, session: c.session ?? 0, proto: "", frames: 0 }) + (c.mode === "operating" || !operate.on.value ? "" : ` (${c.mode_why ?? c.mode ?? ""})`)])} />
          </Field>
        </div>
        <MessageForm draft={draft} />
        {off.value ? <p class="hint">Changes are off; Send turns them on.</p> : null}
        <Says d={d} />
        <div class="row"><Button text="Send" primary run={() => void send()} /><Button text="Close" run={d.close} /></div>
      </>
    );
  });
  if (frame === undefined) {
    draft.show(undefined, "");
    return;
  }
  draft.show(value, hex);
  draft.focus();
  await d.closed;
}
