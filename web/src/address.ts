// The state of the page in the fragment of the address: #w=WORKSPACE&d=DEFINITION&hex=BYTES&sel=OFFSET+LENGTH, and with &text= an unsaved
// definition. Browsers do not send fragments to servers.

import { hexOf } from "./hex/text";

export interface Shown {
  workspace: string;
  definition: string;
  stored: boolean; // the definition is on disk
  text: string | undefined; // of an unsaved definition
  data: Uint8Array | undefined; // of the message
  selection: { start: number; end: number } | undefined; // bytes
}

const mostWritten = 8_192; // bytes, or characters of a definition, in the address of the page, which changes with each edit
const mostLinked = 65_536; // in a copied link

/** The address with another definition. */
export function addressOf(href: string, definition: string, stored: boolean): string {
  const url = new URL(href);
  for (const name of ["message", "new", "sample"]) {
    url.searchParams.delete(name);
  }
  url.searchParams.set(stored ? "message" : "new", definition);
  url.hash = "";
  return url.href;
}

/** The definition in the query of an address, null without one. */
function askedFor(query: URLSearchParams): string | null {
  return query.get("message") ?? (query.get("new") || null);
}

/** The fragment of a state; left names the parts that are too large. */
function fragmentOf(shown: Shown, most: number): { hash: string; left: string } {
  const parts = new URLSearchParams();
  parts.set("w", shown.workspace);
  parts.set("d", shown.definition);
  let left = "";
  if (shown.text !== undefined && shown.text.length <= most) {
    parts.set("text", shown.text);
  } else if (shown.text !== undefined) {
    left = `the unsaved definition (${shown.text.length} characters)`;
  }
  if (shown.data !== undefined && shown.data.length <= most) {
    parts.set("hex", hexOf(shown.data));
    if (shown.selection !== undefined) {
      parts.set("sel", `${shown.selection.start}+${shown.selection.end - shown.selection.start}`);
    }
  } else if (shown.data !== undefined) {
    left += `${left === "" ? "" : " and "}the message (${shown.data.length} bytes)`;
  }
  return { hash: `#${parts.toString().replaceAll("%2B", "+")}`, left };
}

/** A link to a state. left names the parts that are too large for a link, or is "". */
export function linkTo(shown: Shown): { href: string; left: string } {
  const { hash, left } = fragmentOf(shown, mostLinked);
  const url = new URL(shown.definition === "" ? location.href : addressOf(location.href, shown.definition, shown.stored));
  url.hash = hash;
  return { href: url.href, left };
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Writes a state to the address, after a short delay. */
export function writeAddress(shown: Shown): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const { hash } = fragmentOf(shown, mostWritten);
    const query = new URL(location.href).searchParams;
    const asked = query.get(shown.stored ? "message" : "new");
    const other = shown.definition !== "" && asked !== shown.definition && (query.has("message") || query.has("new"));
    if (other || hash !== location.hash) {
      history.replaceState(history.state, "", other ? addressOf(location.href, shown.definition, shown.stored) + hash : hash);
    }
  }, 150);
}

/** The state in the address. */
export function readAddress(): { definition?: string; text?: string; hex?: string; selection?: { start: number; end: number } } {
  if (location.hash.length < 2) {
    return {};
  }
  const parts = new URLSearchParams(location.hash.slice(1));
  const sel = /^(\d+)[ +](\d+)$/.exec(parts.get("sel") ?? "");
  const definition = parts.get("d");
  const asked = askedFor(new URL(location.href).searchParams);
  const text = parts.get("text");
  const hex = parts.get("hex");
  if (definition === null || (asked !== null && asked !== definition)) {
    return {}; // the fragment is of an earlier page
  }
  return {
    definition,
    ...(text === null ? {} : { text }),
    ...(hex === null ? {} : { hex }),
    ...(sel === null ? {} : { selection: { start: Number(sel[1]), end: Number(sel[1]) + Number(sel[2]) } }),
  };
}
