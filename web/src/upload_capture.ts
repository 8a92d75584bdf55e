// Files that are kept as captures: what tells them, and how they go to the server.

import { hexOf } from "./hex/text";
import type { PasteInfo, StoreCapture } from "./api";
import { dialogs } from "./dialogs";
import { apiOf, failure, request } from "./http";
import { notify } from "./notify";
import { lookOnly, lookOnlyWhy } from "./role";

export const mostCapture = 2 * 1024 ** 3; // bytes, as the server has it
const sample = 256 << 10; // bytes of a text by which it is told
const logs = /\.(log|pcap|pcapng|cap)$/i;

/** Whether bytes are text: no controls but those of lines, and valid UTF-8 but for a character that is cut at the end. */
export function isText(data: Uint8Array): boolean {
  const text = new TextDecoder("utf-8").decode(data, { stream: true });
  return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/.test(text);
}

/** Whether a file starts as a pcap, a pcapng or the binary log of a known tool does, or as a packed one may. */
export async function isCapture(file: File): Promise<boolean> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const magic = hexOf(head);
  const plain = ["d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a", "5450504c", "01130054"].includes(magic);
  return plain || /\.(pkt|msb)$/i.test(file.name) || (magic.startsWith("1f8b") && /\.gz$/i.test(file.name));
}

/** Whether a text shows several messages that go both ways or one, as the server sees it from its first lines. */
export async function showsConversation(workspace: string, file: File): Promise<boolean> {
  const data = new Uint8Array(await file.slice(0, sample).arrayBuffer());
  if (file.size === 0 || !isText(data)) {
    return false;
  }
  let text = new TextDecoder("utf-8").decode(data, { stream: true });
  if (file.size > sample) {
    text = text.slice(0, text.lastIndexOf("\n") + 1);
  }
  const reply = await request<PasteInfo>(`${apiOf(workspace)}/paste`, { body: { text } });
  if (!reply.ok) {
    return logs.test(file.name) && file.size > sample; // its first lines may say nothing
  }
  return reply.answer.conversation === true;
}

/** Stores one file and returns the id of the capture, "" if it was refused; what is wrong is told. */
async function store(workspace: string, file: File, framing: string): Promise<string> {
  const query = new URLSearchParams({ name: file.name.slice(-200) });
  if (framing !== "") {
    query.set("framing", framing);
  }
  const done = notify(`Storing ${file.name} …`);
  const reply = await request<StoreCapture>(`${apiOf(workspace)}/captures?${query.toString()}`, { headers: { "Content-Type": "application/octet-stream" }, body: file });
  done();
  if (reply.ok) {
    return reply.answer.id;
  }
  notify(failure(`${file.name} was not stored`, reply), "err");
  return "";
}

function lead(workspace: string, id: string): void {
  location.assign(`/w/${encodeURIComponent(workspace)}/captures/${encodeURIComponent(id)}`);
}

/** Stores files as captures and goes to the first of them. */
export async function keepCaptures(workspace: string, files: File[]): Promise<void> {
  if (lookOnly()) {
    notify(lookOnlyWhy, "warn");
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

/** Offers to keep raw bytes as a capture. It is false if they are to be shown instead. */
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
