// Menus for copying bytes and values: each format with a preview, to the clipboard or to a file.

import type { Anchor, MenuItem } from "../menu";
import { openMenu } from "../popup";
import { type BytesFormat, type BytesSource, bytesFormats, fileName } from "./bytes";
import type { Json } from "./json";
import { copyText } from "./index";
import { type Decoded, isOwn, nameOf, type ValueFormat, valueFormats } from "./values";

/** The context of a copy menu. */
export interface CopyContext {
  /** Reports success or failure. */
  notify(text: string, kind?: "ok" | "err"): void;
}

const previewBytes = 64 * 1024;
const previewValues = 400; // a value may have tens of thousands of parts; the preview shows a few lines

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // Safari reads late
}

function count(n: number): string {
  return `${n.toLocaleString("en")} ${n === 1 ? "byte" : "bytes"}`;
}

/** A title inside a sentence: lower case, unless it contains a name. */
function inSentence(format: BytesFormat | ValueFormat): string {
  return format.group === "Source code" || /^[A-Z][A-Z]/.test(format.title)
    ? format.title
    : format.title.charAt(0).toLowerCase() + format.title.slice(1);
}

async function copy(text: string, what: string, context: CopyContext): Promise<void> {
  if (await copyText(text)) {
    context.notify(`Copied ${what}`);
  } else {
    context.notify("The browser does not allow copying here", "err");
  }
}

/** Opens a menu of all formats for bytes. */
export function copyBytesMenu(anchor: Anchor, data: Uint8Array, context: BytesSource & CopyContext): void {
  if (data.length === 0) {
    context.notify("No bytes to copy");
    return;
  }
  const items = bytesFormats.map((format): MenuItem => ({
    title: format.title,
    group: format.group,
    preview() {
      const text = format.write(data.subarray(0, previewBytes), context);
      return typeof text === "string" ? text : `${fileName(context)}\n${count(data.length)}`;
    },
    run() {
      const made = format.write(data, context);
      if (typeof made === "string") {
        void copy(made, `${count(data.length)} as ${inSentence(format)}`, context);
      } else {
        save(made, fileName(context));
        context.notify(`Saved ${count(data.length)} as ${fileName(context)}`);
      }
    },
  }));
  const place = context.offset > 0 ? ` at 0x${context.offset.toString(16)}` : "";
  openMenu(anchor, { label: `Copy ${count(data.length)}${place}`, items });
}

/** The beginning of a value with many parts. */
export function beginning(value: Json, left = { values: previewValues }): Json {
  left.values--;
  if (typeof value === "string") {
    return value.slice(0, previewBytes);
  }
  if (Array.isArray(value)) {
    const out: Json[] = [];
    for (let i = 0; i < value.length && left.values > 0; i++) {
      out.push(beginning(value[i] ?? null, left));
    }
    return out;
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const out: [string, Json][] = [];
  for (const [name, inside] of Object.entries(value)) {
    if (left.values <= 0) {
      break;
    }
    out.push([name, beginning(inside, left)]);
  }
  return Object.fromEntries(out);
}

/** Opens a menu of all formats for a decoded value. */
export function copyValueMenu(anchor: Anchor, decoded: Decoded, context: CopyContext): void {
  const short: Decoded = { ...decoded, value: beginning(decoded.value as Json) };
  const items = valueFormats.map((format): MenuItem => {
    const none = format.write(short) === "" && decoded.value !== "";
    return {
      title: format.title,
      group: format.group,
      disabled: none,
      preview: () => format.write(short),
      run: () => void copy(format.write(decoded), `${nameOf(decoded)} as ${inSentence(format)}`, context),
    };
  });
  openMenu(anchor, { label: `Copy ${isOwn(decoded) ? decoded.path || decoded.message : nameOf(decoded)}`, items });
}
