// Files stored as captures: how they are recognized and uploaded.

import { pathOf } from "../kit/address";
import { hexOf } from "../kit/hextext";
import { dialogs } from "../kit/dialogs";
import { failure, request } from "../kit/http";
import { notify } from "../kit/notify";
import { lookOnly, lookOnlyWhy } from "../kit/role";

export const mostCapture = 2 * 1024 ** 3; // bytes, as on the server
const sample = 256 << 10; // bytes of a text used to recognize it
const logs = /\.(log|pcap|pcapng|cap)$/i;

/** Whether bytes are text: no control characters except white space and ESC, and valid UTF-8 except for a truncated character at the end. */
export function isText(data: Uint8Array): boolean {
  const text = new TextDecoder("utf-8").decode(data, { stream: true });
  return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/.test(text);
}

/** Whether a file starts like a pcap, a pcapng, the binary log of a known tool, or a compressed one. */
export async function isCapture(file: File): Promise<boolean> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const magic = hexOf(head);
  const plain = ["d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a", "5450504c", "01130054"].includes(magic);
  return plain || /\.(pkt|msb)$/i.test(file.name) || (magic.startsWith("1f8b") && /\.gz$/i.test(file.name));
}

/** Whether the server finds several messages with directions in the first lines of a text. */
export async function showsConversation(workspace: string, file: File): Promise<boolean> {
  const data = new Uint8Array(await file.slice(0, sample).arrayBuffer());
  if (file.size === 0 || !isText(data)) {
    return false;
  }
  let text = new TextDecoder("utf-8").decode(data, { stream: true });
  if (file.size > sample) {
    text = text.slice(0, text.lastIndexOf("\n") + 1);
  }
  const reply = await request("POST paste", { project: workspace }, { body: { text } });
  if (!reply.ok) {
    return logs.test(file.name) && file.size > sample; // its first lines may have no messages
  }
  return reply.answer.conversation === true;
}

/** Stores a file and resolves to the id of the capture, "" if it was refused; errors are reported. */
async function store(workspace: string, file: File, framing: string): Promise<string> {
  const done = notify(`Storing ${file.name} …`);
  const reply = await request("POST captures", { project: workspace, name: file.name.slice(-200), framing: framing === "" ? undefined : framing }, { headers: { "Content-Type": "application/octet-stream" }, body: file });
  done();
  if (reply.ok) {
    return reply.answer.id;
  }
  notify(failure(`${file.name} was not stored`, reply), "err");
  return "";
}

function lead(workspace: string, id: string): void {
  location.assign(pathOf(workspace, "captures", id));
}

/** Stores files as captures and opens the first. */
export async function keepCaptures(workspace: string, files: File[]): Promise<void> {
  if (lookOnly()) {
    notify(lookOnlyWhy(), "warn");
    return;
  }
  let first = "";
  for (const file of files) {
    const id = await store(workspace, file, "");
    first = first === "" ? id : first;
  }
  if (first !== "") {
    lead(workspace, first);
  }
}

/** Offers to store raw bytes as a capture; false if they are to be shown instead. */
export async function keepRaw(workspace: string, file: File): Promise<boolean> {
  if (lookOnly()) {
    return false;
  }
  const asked = await dialogs();
  if (asked === undefined) {
    return true;
  }
  const framing = await asked.askFraming(workspace, file);
  if (framing === undefined || framing === "") {
    return framing === undefined;
  }
  const id = await store(workspace, file, framing);
  if (id !== "") {
    lead(workspace, id);
  }
  return true;
}
