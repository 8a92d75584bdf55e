// Pasted texts with several messages: they can be kept as a capture, which lists them with direction and time.

import { pathOf } from "../kit/address";
import type { PasteInfo } from "../api/api";
import { arrow, Button, dialog } from "../kit/dialog";
import { request } from "../kit/http";
import { notify } from "../kit/notify";
import { lookOnly, lookOnlyWhy } from "../kit/role";
import { Fragment, h } from "../kit/ui";
import { keepCaptures } from "./upload_capture";

const sample = 256 << 10; // characters used to recognize a long text
const mostShared = 8_192; // maximum bytes in an address

/** The beginning of a long text, in whole lines. */
function startOf(text: string): string {
  return text.length <= sample ? text : text.slice(0, text.lastIndexOf("\n", sample) + 1);
}

/** Recognizes a text; resolves to an error message if it has no bytes. */
export async function readPasted(workspace: string, text: string): Promise<PasteInfo | string> {
  const reply = await request("POST paste", { project: workspace }, { body: { text: startOf(text) } });
  return reply.ok ? reply.answer : reply.why;
}

/** "38 messages, 20 C→S and 18 S→C, from 12:03:01.2 to 12:04:05". */
export function whatIsIn(pasted: PasteInfo): string {
  const { messages } = pasted;
  const ways = (["c2s", "s2c"] as const).map((dir) => [messages.filter((m) => m.dir === dir).length, arrow(dir)] as const).filter(([n]) => n > 0);
  const times = messages.map((m) => m.time ?? "").filter((time) => time !== "");
  const bytes = messages.reduce((sum, m) => sum + m.hex.length / 2, 0);
  return [
    messages.length === 1 ? `one message of ${bytes} bytes` : `${messages.length} messages`,
    ways.map(([n, way]) => `${n} ${way}`).join(" and "),
    times.length === 0 ? "" : times.length === 1 ? `at ${times[0]}` : `from ${times[0]} to ${times.at(-1)}`,
  ].filter((part) => part !== "").join(", ");
}

/** Keeps a text as a capture. */
export function keep(workspace: string, title: string, text: string): void {
  void keepCaptures(workspace, [new File([text], `${title.replaceAll(/[^\p{L}\p{N}.,()-]+/gu, " ").trim() || "pasted"}.txt`)]);
}

/** Describes a pasted text and asks what to do with it. */
function ask(workspace: string, text: string, pasted: PasteInfo): void {
  const [only] = pasted.messages;
  const single = only !== undefined && pasted.messages.length === 1 && only.hex.length / 2 <= mostShared ? only : undefined;
  const notes = [pasted.why ?? "", ...(pasted.notes ?? []).slice(0, 3)].filter((note) => note !== "");
  dialog("Pasted text", (d) => {
    const act = (run: () => void) => (): void => {
      d.close();
      run();
    };
    return (
      <>
        <p>{pasted.title}: {whatIsIn(pasted)}{text.length > sample ? ", in its first lines" : ""}.</p>
        {notes.map((note) => <p class="dim">{note}</p>)}
        <div class="row">
          <Button text="Keep as a capture" primary data-focus="" disabled={lookOnly()} {...(lookOnly() ? { title: lookOnlyWhy() } : {})} run={act(() => keep(workspace, pasted.title, text))} />
          {single === undefined ? null : <Button text="Open in the workbench" run={act(() => location.assign(`${pathOf(workspace, "definitions")}#hex=${single.hex}`))} />}
          <Button text="Cancel" run={d.close} />
        </div>
      </>
    );
  });
}

/** Describes a pasted text and offers to keep it, once the server has recognized it. */
export async function offer(workspace: string, text: string): Promise<void> {
  const pasted = await readPasted(workspace, text);
  if (typeof pasted === "string") {
    notify(`Nothing recognized in the pasted text: ${pasted}`, "warn");
  } else {
    ask(workspace, text, pasted);
  }
}
