// What is done with files and with the settings of the library. Definitions, maps and zips go to the library, captures to the captures, bytes in
// other files to the input. Loaded when there are some: see upload.ts.

import { dialogs } from "../kit/dialogs";
import { hexOf } from "../kit/hextext";
import { failure, request } from "../kit/http";
import { undoOffer } from "../kit/journal";
import { isCapture, isText, keepCaptures, keepRaw, mostCapture, showsConversation } from "./upload_capture";
import { notify } from "../kit/notify";
import { openPage } from "../kit/opened";
import { lookOnly, lookOnlyWhy } from "../kit/role";

export { keep, offer } from "./pasted";

const definitions = /\.(def|map|envelope|zip|jsonl)$/i;
const byContents = /\.(json|ya?ml)$/i; // definitions or captures
const mostText = 4 << 20;
const likeOne = 4096; // bytes: a raw file up to this size is decoded as one message without asking

/** Uploads files to the library. */
export async function upload(workspace: string, files: File[], replace: boolean): Promise<void> {
  if (lookOnly()) {
    notify(lookOnlyWhy(), "warn");
    return;
  }
  if (document.getElementById("main")?.dataset["samples"] !== undefined && (await (await dialogs())?.projectDialog(files)) !== true) {
    return;
  }
  const body = new FormData();
  for (const file of files) {
    body.append("files", file, file.name);
  }
  const done = notify(`Uploading ${files.length === 1 ? (files[0]?.name ?? "") : `${files.length} files`} …`);
  const reply = await request("POST upload", { project: workspace, replace }, { body });
  done();
  const { files: report = [] } = reply.answer;
  const counts = new Map<string, number>();
  for (const file of report) {
    counts.set(file.result, (counts.get(file.result) ?? 0) + 1);
  }
  const text = [...counts].map(([result, count]) => `${count} ${result}`).join(", ") || (reply.ok ? "No changes" : failure("The upload failed", reply));
  const bad = report.filter((f) => f.result === "error" || f.result === "skipped" || f.result === "exists");
  const why = bad.slice(0, 3).map((f) => `${f.file}: ${f.reason ?? f.result}`).join("; ");
  notify(why === "" ? text : `${text}. ${why}${bad.length > 3 ? ` and ${bad.length - 3} more` : ""}`, !reply.ok ? "err" : bad.length === 0 ? "ok" : "warn", undoOffer(workspace, reply.answer.undo));
}

/** Sends the settings of the library; the changed parts of the page come over the websocket. */
export async function settings(form: HTMLFormElement): Promise<void> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    body.append(name, typeof value === "string" ? value : "");
  }
  try {
    const response = await fetch(form.action, { method: "POST", body });
    if (response.ok) {
      notify("Settings saved");
      return;
    }
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    notify(`The settings were not changed: ${page.querySelector("main p")?.textContent?.trim() ?? response.statusText}`, "err");
  } catch {
    notify("The settings were not saved: the server cannot be reached", "err");
  }
}

/** The contents of a file for pasting: text, or other bytes as hex. */
async function asText(file: File): Promise<string> {
  const data = new Uint8Array(await file.arrayBuffer());
  return isText(data) ? new TextDecoder("utf-8").decode(data) : hexOf(data, " ");
}

/** Puts the bytes of a file in the place of the sample, if this page has one. */
async function paste(file: File): Promise<void> {
  if (document.getElementById("input") === null) {
    notify(`${file.name} is not a capture`, "err");
  } else if (file.size > mostText) {
    notify(`${file.name} has ${file.size} bytes; at most ${mostText} can be decoded at once`, "err");
  } else {
    await openPage()?.sample.paste(await asText(file), `${file.name} is not a capture and has no bytes to decode`);
  }
}

/** Takes other files: captures are stored, and the first of the others is decoded. */
async function takeOthers(workspace: string, files: File[]): Promise<void> {
  const captures: File[] = [];
  let first: File | undefined;
  for (const file of files) {
    if (file.size === 0) {
      notify(`${file.name} is empty`, "err");
    } else if (file.size > mostCapture) {
      notify(`${file.name} has ${file.size} bytes; a capture has at most ${mostCapture}`, "err");
    } else if ((await isCapture(file)) || (await showsConversation(workspace, file))) {
      captures.push(file);
    } else if (first === undefined && captures.length === 0) {
      first = file;
    } else {
      notify(`${file.name} is not a capture; only one file can be decoded at a time`, "warn");
    }
  }
  if (captures.length > 0) {
    if (first !== undefined) {
      notify(`${first.name} is not a capture; only one file can be decoded at a time`, "warn");
    }
    await keepCaptures(workspace, captures);
    return;
  }
  if (first === undefined) {
    return;
  }
  const head = new Uint8Array(await first.slice(0, 4096).arrayBuffer());
  const shown = first.size <= likeOne && document.getElementById("input") !== null;
  if (isText(head) || shown || !(await keepRaw(workspace, first))) {
    await paste(first);
  }
}

/** Takes files from a drop or a picker and distributes them. */
export function take(workspace: string, files: File[]): void {
  void Promise.all(files.map(isOurs)).then((found) => {
    const ours = files.filter((_, i) => found[i] === true);
    if (ours.length > 0) {
      void upload(workspace, ours, false);
    }
    const others = files.filter((_, i) => found[i] !== true);
    if (others.length > 0) {
      takeOthers(workspace, others).catch(() => notify(`${others[0]?.name ?? "The file"} cannot be read`, "err"));
    }
  });
}

const definitionText = /"types"\s*:\s*\{|:\s*\[\s*"(container|switch|mapper|array|option|pstring|buffer|bitfield|bitflags|count)"\s*,\s*[[{]|^\^[\w.]+:|^!import:|^\s+\w+\??: (native|varint|\S+ (=>|\?))\s*$/m;
const bundleText = /^\ufeff?\s*\{\s*"(maps|protocol|deprecated)"\s*:\s*\{/;

/** Whether a file may belong to the library: definitions of types, unlike captures, name some of their language. The server decides. */
async function isOurs(file: File): Promise<boolean> {
  if (!byContents.test(file.name)) {
    return definitions.test(file.name);
  }
  try {
    const start = await file.slice(0, 256 << 10).text();
    return definitionText.test(start) || bundleText.test(start);
  } catch {
    return false;
  }
}
