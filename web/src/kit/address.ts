// The state of the page in the fragment of the address: #w=WORKSPACE&d=DEFINITION&hex=BYTES&sel=OFFSET+LENGTH, and with &text= an unsaved
// definition. Browsers do not send fragments to servers.

import { hexOf } from "./hextext";

export interface Shown {
  workspace: string;
  definition: string;
  stored: boolean; // the definition is on disk
  text: string | undefined; // of an unsaved definition
  data: Uint8Array | undefined; // of the message
  selection: { start: number; end: number } | undefined; // bytes
  bookmarks: string; // packed, "" without any
}

const mostWritten = 8_192; // bytes, or characters of a definition, in the address of the page, which changes with each edit
const mostLinked = 65_536; // in a copied link
const mostPacked = 262_144; // characters of a definition that is compressed in a link
const packs = 1_024; // a definition of more characters is compressed

function base64(data: Uint8Array): string {
  let raw = "";
  for (const byte of data) {
    raw += String.fromCharCode(byte);
  }
  return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** A text compressed for an address. */
async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return base64(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** The inverse of packed; undefined if it is invalid, or longer than links are. */
export async function unpacked(code: string): Promise<string | undefined> {
  try {
    const data = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return text;
      }
      text += value;
      if (text.length > mostPacked) {
        void reader.cancel();
        return undefined;
      }
    }
  } catch {
    return undefined;
  }
}

/** The path of the server, before all others: "" at the root of its host name. */
export function root(): string {
  return document.documentElement.dataset["base"] ?? "";
}

/** The path of a page of a project, such as of ("mine", "definitions", "C_CHAT.1"). */
export function pathOf(project: string, ...parts: string[]): string {
  return [`${root()}/p`, ...[project, ...parts].map(encodeURIComponent)].join("/");
}

/** The address of a definition. */
export function addressOf(href: string, project: string, definition: string, stored: boolean): string {
  const url = new URL(href);
  url.pathname = stored ? pathOf(project, "definitions", definition) : pathOf(project, "definitions");
  for (const name of ["new", "sample"]) {
    url.searchParams.delete(name);
  }
  if (!stored) {
    url.searchParams.set("new", definition);
  }
  url.hash = "";
  return url.href;
}

/** The stored definition in an address, null without one. */
export function messageIn(url: URL): string | null {
  const name = /^\/p\/[^/]+\/definitions\/([^/]+)$/.exec(url.pathname.slice(root().length))?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}

/** The definition in an address, null without one. */
function askedFor(url: URL): string | null {
  return messageIn(url) ?? (url.searchParams.get("new") || null);
}

/** The fragment of a state, with the compressed text of the definition if there is one; left names the parts that are too large. */
function fragmentOf(shown: Shown, most: number, code?: string): { hash: string; left: string } {
  const parts = new URLSearchParams();
  parts.set("w", shown.workspace);
  parts.set("d", shown.definition);
  let left = "";
  if (code !== undefined && code.length <= most) {
    parts.set("textz", code);
  } else if (code === undefined && shown.text !== undefined && shown.text.length <= most) {
    parts.set("text", shown.text);
  } else if (shown.text !== undefined) {
    left = `the unsaved definition (${shown.text.length} characters)`;
  }
  if (shown.data !== undefined && shown.data.length <= most) {
    parts.set("hex", hexOf(shown.data));
    if (shown.selection !== undefined) {
      parts.set("sel", `${shown.selection.start}+${shown.selection.end - shown.selection.start}`);
    }
    if (shown.bookmarks !== "") {
      parts.set("bookmarks", shown.bookmarks);
    }
  } else if (shown.data !== undefined) {
    left += `${left === "" ? "" : " and "}the message (${shown.data.length} bytes)`;
  }
  return { hash: `#${parts.toString().replaceAll("%2B", "+")}`, left };
}

/** A link to a state. left names the parts that are too large for a link, or is "". */
export async function linkTo(shown: Shown): Promise<{ href: string; left: string }> {
  const length = shown.text?.length ?? 0;
  const code = length > packs && length <= mostPacked ? await packed(shown.text ?? "") : undefined;
  const { hash, left } = fragmentOf(shown, mostLinked, code);
  const url = new URL(shown.definition === "" ? location.href : addressOf(location.href, shown.workspace, shown.definition, shown.stored));
  url.hash = hash;
  return { href: url.href, left };
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Writes a state to the address, after a short delay, or now. */
export function writeAddress(shown: Shown, now = false): void {
  clearTimeout(timer);
  const write = (): void => {
    const { hash } = fragmentOf(shown, mostWritten);
    const url = new URL(location.href);
    const asked = shown.stored ? messageIn(url) : url.searchParams.get("new");
    const other = shown.definition !== "" && asked !== shown.definition && (messageIn(url) !== null || url.searchParams.has("new"));
    if (other || hash !== location.hash) {
      history.replaceState(history.state, "", other ? addressOf(location.href, shown.workspace, shown.definition, shown.stored) + hash : hash);
    }
  };
  if (now) {
    write();
  } else {
    timer = setTimeout(write, 150);
  }
}

/** The state in the address; code is the compressed text of the definition. */
export function readAddress(): { definition?: string; text?: string; code?: string; hex?: string; selection?: { start: number; end: number }; bookmarks?: string } {
  if (location.hash.length < 2) {
    return {};
  }
  const parts = new URLSearchParams(location.hash.slice(1));
  const sel = /^(\d+)[ +](\d+)$/.exec(parts.get("sel") ?? "");
  const definition = parts.get("d");
  const asked = askedFor(new URL(location.href));
  const text = parts.get("text");
  const code = parts.get("textz");
  const hex = parts.get("hex");
  const bookmarks = parts.get("bookmarks");
  if (definition === null || (asked !== null && asked !== definition)) {
    return {}; // the fragment is of an earlier page
  }
  return {
    definition,
    ...(text === null ? {} : { text }),
    ...(code === null ? {} : { code }),
    ...(hex === null ? {} : { hex }),
    ...(bookmarks === null ? {} : { bookmarks }),
    ...(sel === null ? {} : { selection: { start: Number(sel[1]), end: Number(sel[1]) + Number(sel[2]) } }),
  };
}
