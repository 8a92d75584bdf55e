// What is shown, in the fragment of the address: #w=WORKSPACE&d=DEFINITION&hex=BYTES&sel=OFFSET+LENGTH, and with &text= a definition
// that is not saved. Fragments stay in the browser: no server ever sees the bytes.

export interface Shown {
  workspace: string;
  definition: string;
  text: string | undefined; // of a definition that is not saved
  data: Uint8Array | undefined; // of the message
  selection: { start: number; end: number } | undefined; // bytes
}

const mostBytes = 8_192; // browsers and chats cut longer addresses
const mostText = 8_192;

/** Bytes in hex without blanks. */
export function hexOf(data: Uint8Array): string {
  let text = "";
  for (const byte of data) {
    text += byte.toString(16).padStart(2, "0");
  }
  return text;
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Puts what is shown into the address, soon. */
export function writeAddress(shown: Shown): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const parts = new URLSearchParams();
    parts.set("w", shown.workspace);
    parts.set("d", shown.definition);
    if (shown.text !== undefined && shown.text.length <= mostText) {
      parts.set("text", shown.text);
    }
    if (shown.data !== undefined && shown.data.length <= mostBytes) {
      parts.set("hex", hexOf(shown.data));
      if (shown.selection !== undefined) {
        parts.set("sel", `${shown.selection.start}+${shown.selection.end - shown.selection.start}`);
      }
    }
    const hash = `#${parts.toString().replaceAll("%2B", "+")}`;
    if (hash !== location.hash) {
      history.replaceState(history.state, "", hash);
    }
  }, 150);
}

/** What the address asks for. */
export function readAddress(): { definition?: string; text?: string; hex?: string; selection?: { start: number; end: number } } {
  if (location.hash.length < 2) {
    return {};
  }
  const parts = new URLSearchParams(location.hash.slice(1));
  const sel = /^(\d+)[ +](\d+)$/.exec(parts.get("sel") ?? "");
  const definition = parts.get("d");
  const asked = new URL(location.href).searchParams.get("message");
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
