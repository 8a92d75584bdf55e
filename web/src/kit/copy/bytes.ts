// The formats for copying bytes: dumps, strings and arrays of programming languages, each a pure function.

import { hexOf, lowerDigits } from "../hextext";

/** The origin of bytes. */
export interface BytesSource {
  /** Offset of the first byte in its message. */
  offset: number;
  /** Name of the message, from which names of arrays and files are made. */
  name: string;
  dir: "c2s" | "s2c" | "";
  /** Time of the message: a time of day, or a date and a time, in ISO 8601. */
  time?: string;
}

/** A format for copying bytes. */
export interface BytesFormat {
  id: string;
  group: string;
  title: string;
  /** The text to copy, or what to save as a file. */
  write(data: Uint8Array, from: BytesSource): string | Blob;
}

const perLine = 16; // bytes per line of a dump
const mostColumns = 76; // per line of an array


function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f;
}

/** The bytes as ASCII, with a dot for each non-printable byte. */
function asciiOf(data: Uint8Array): string {
  let out = "";
  for (const byte of data) {
    out += isPrintable(byte) ? String.fromCharCode(byte) : ".";
  }
  return out;
}

/** The output of write for each sixteen bytes, on separate lines. */
function lines(data: Uint8Array, write: (row: Uint8Array, at: number) => string): string {
  let out = "";
  for (let at = 0; at < data.length; at += perLine) {
    out += `${write(data.subarray(at, at + perLine), at)}\n`;
  }
  return out;
}

/** A dump as copied by Wireshark: offsets of four digits, or more on all lines if the last offset needs more. */
function dump(data: Uint8Array, offset: number, ascii: boolean): string {
  const width = Math.max(4, (offset + Math.max(data.length - 1, 0)).toString(16).length);
  return lines(data, (row, at) => {
    const line = `${(offset + at).toString(16).padStart(width, "0")}   ${hexOf(row, " ")}`;
    return ascii ? `${line.padEnd(width + 2 + 3 * perLine)}   ${asciiOf(row)}` : line;
  });
}

/** A dump as printed by xxd. */
function xxd(data: Uint8Array, offset: number): string {
  return lines(data, (row, at) => {
    const pairs = hexOf(row, "").replaceAll(/.{4}(?=.)/g, "$& ");
    return `${(offset + at).toString(16).padStart(8, "0")}: ${pairs.padEnd(39)}  ${asciiOf(row)}`;
  });
}

/** The printable characters and white space in the bytes. */
function printable(data: Uint8Array): string {
  let out = "";
  for (const byte of data) {
    out += isPrintable(byte) || (byte >= 9 && byte <= 13) ? String.fromCharCode(byte) : "";
  }
  return out;
}

function base64(data: Uint8Array): string {
  let raw = "";
  for (let at = 0; at < data.length; at += 0x1000) {
    raw += String.fromCharCode(...data.subarray(at, at + 0x1000)); // in parts: the number of arguments is limited
  }
  return btoa(raw);
}

/** A C string with all bytes escaped; a long one continues on the next line, as in Wireshark. */
function escaped(data: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < data.length; at += perLine) {
    rows.push(`"\\x${hexOf(data.subarray(at, at + perLine), "\\x")}"`);
  }
  return rows.length === 0 ? '""' : rows.join(" \\\n");
}

/** The time of day in a text, with milliseconds; undefined without one. */
function timeOfDay(text: string | undefined): string | undefined {
  const found = /(?:^|[T ])(\d\d:\d\d:\d\d)(?:[.,](\d+))?/.exec(text ?? "");
  return found === null ? undefined : `${found[1]}.${(found[2] ?? "").slice(0, 3).padEnd(3, "0")}`;
}

/** The direction of a message: if unknown, the one that the prefix of its name implies. */
function direction(from: BytesSource): "c2s" | "s2c" | "" {
  if (from.dir !== "") {
    return from.dir;
  }
  return from.name.startsWith("S_") ? "s2c" : from.name.startsWith("C_") ? "c2s" : "";
}

/** A log entry in the format of tera-mods/debug: time, arrow, name; then header and contents in hex. */
function teraLog(data: Uint8Array, from: BytesSource): string {
  const arrow = direction(from) === "s2c" ? "<-" : "->";
  const code = (data[2] ?? 0) | ((data[3] ?? 0) << 8); // in place of a missing name
  const hex = `${hexOf(data.subarray(0, 4), "")} ${hexOf(data.subarray(4), "")}`;
  return `[${timeOfDay(from.time) ?? "00:00:00.000"}] ${arrow} ${from.name || code}\n${hex.trimEnd()}\n`;
}

/** A packet for text2pcap -D: O from the client, I from the server. Offset 0 starts a packet. */
function text2pcap(data: Uint8Array, from: BytesSource): string {
  const letter = { c2s: "O", s2c: "I", "": "" }[direction(from)];
  const head = [letter, from.time ?? ""].filter((word) => word !== "").join(" ");
  const body = lines(data, (row, at) => `${at.toString(16).padStart(6, "0")} ${hexOf(row, " ")}`);
  return (head === "" ? "" : `${head}\n`) + body;
}

/** The ASCII words of a name, in lower case. Together with "bytes" they are not a keyword in any language. */
function words(name: string): string[] {
  const found: string[] = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const named = /^[a-z]/.test(found[0] ?? "");
  return [...(named ? [] : ["message"]), ...found, "bytes"];
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function snake(name: string): string {
  return words(name).join("_");
}

function camel(name: string): string {
  return words(name).map((word, i) => (i === 0 ? word : capital(word))).join("");
}

function pascal(name: string): string {
  return words(name).map(capital).join("");
}

interface ArrayStyle {
  indent: string;
  item(byte: number): string;
  /** A comma also after the last item. */
  trailing?: boolean;
}

const plain = (byte: number): string => `0x${lowerDigits[byte] ?? ""}`;

/** The items of an array on lines of at most 76 columns; a tab counts as eight. */
function items(data: Uint8Array, style: ArrayStyle): string {
  const margin = style.indent === "\t" ? 8 : style.indent.length;
  let out = "";
  let column = mostColumns; // start a line
  data.forEach((byte, i) => {
    const last = i === data.length - 1 && style.trailing !== true;
    const text = style.item(byte) + (last ? "" : ",");
    if (column + 1 + text.length > mostColumns) {
      out += `${i === 0 ? "" : "\n"}${style.indent}${text}`;
      column = margin + text.length;
    } else {
      out += ` ${text}`;
      column += 1 + text.length;
    }
  });
  return out === "" ? "" : `${out}\n`;
}

interface Language {
  id: string;
  title: string;
  before(name: string, size: number): string;
  after: string;
  style?: Partial<ArrayStyle>;
}

const languages: readonly Language[] = [
  { id: "c", title: "C array", before: (name, size) => `static const unsigned char ${snake(name)}[${size}] = {`, after: "};" },
  { id: "cpp", title: "C++ array", before: (name, size) => `constexpr std::array<std::uint8_t, ${size}> ${snake(name)} = {`, after: "};" },
  { id: "csharp", title: "C# array", before: (name) => `byte[] ${camel(name)} = {`, after: "};" },
  { id: "go", title: "Go slice", before: (name) => `var ${camel(name)} = []byte{`, after: "}", style: { indent: "\t", trailing: true } },
  { id: "rust", title: "Rust array", before: (name, size) => `const ${snake(name).toUpperCase()}: [u8; ${size}] = [`, after: "];", style: { trailing: true } },
  { id: "python", title: "Python bytes", before: (name) => `${snake(name)} = bytes([`, after: "])" },
  {
    id: "java",
    title: "Java array",
    before: (name) => `byte[] ${camel(name)} = {`,
    after: "};",
    style: { item: (byte) => (byte < 0x80 ? plain(byte) : `(byte) ${plain(byte)}`) }, // a byte is -128 to 127 in Java
  },
  { id: "javascript", title: "JavaScript array", before: (name) => `const ${camel(name)} = new Uint8Array([`, after: "]);", style: { indent: "  " } },
  {
    id: "typescript",
    title: "TypeScript array",
    before: (name) => `const ${camel(name)}: Uint8Array = new Uint8Array([`,
    after: "]);",
    style: { indent: "  " },
  },
  { id: "lua", title: "Lua table", before: (name) => `local ${snake(name)} = {`, after: "}", style: { indent: "  " } },
  { id: "swift", title: "Swift array", before: (name) => `let ${camel(name)}: [UInt8] = [`, after: "]" },
  {
    id: "pascal",
    title: "Pascal array",
    before: (name, size) => `const\n  ${pascal(name)}: array[0..${size - 1}] of Byte = (`,
    after: "  );",
    style: { item: (byte) => `$${(lowerDigits[byte] ?? "").toUpperCase()}` },
  },
];

function arrayFormat(language: Language): BytesFormat {
  const style: ArrayStyle = { indent: "    ", item: plain, ...language.style };
  return {
    id: language.id,
    group: "Source code",
    title: language.title,
    write(data, from) {
      return `${language.before(from.name, data.length)}\n${items(data, style)}${language.after}\n`;
    },
  };
}

/** A file name for bytes: the name of the message, and the offset of the first byte unless it is 0. */
export function fileName(from: BytesSource): string {
  const name = from.name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "");
  const place = from.offset > 0 ? `-0x${from.offset.toString(16)}` : "";
  return `${name === "" ? "message" : name.slice(0, 100)}${place}.bin`;
}

/** All formats for copying bytes, in the order of the menu: those of Wireshark first, in its order. */
export const bytesFormats: readonly BytesFormat[] = [
  { id: "hex-ascii", group: "Text", title: "Hex + ASCII dump", write: (data, from) => dump(data, from.offset, true) },
  { id: "hex-dump", group: "Text", title: "Hex dump", write: (data, from) => dump(data, from.offset, false) },
  { id: "text", group: "Text", title: "Printable text", write: (data) => printable(data) },
  { id: "hex", group: "Text", title: "Hex stream", write: (data) => hexOf(data, "") },
  { id: "spaced", group: "Text", title: "Spaced hex", write: (data) => hexOf(data, " ") },
  { id: "base64", group: "Text", title: "Base64", write: (data) => base64(data) },
  { id: "escaped", group: "Text", title: "Escaped string", write: (data) => escaped(data) },
  {
    id: "raw",
    group: "Text",
    title: "Raw file",
    write: (data) => new Blob([new Uint8Array(data)], { type: "application/octet-stream" }),
  },
  ...languages.map(arrayFormat),
  { id: "xxd", group: "Tools", title: "xxd", write: (data, from) => xxd(data, from.offset) },
  { id: "tera-log", group: "Tools", title: "TERA log line", write: teraLog },
  { id: "text2pcap", group: "Tools", title: "text2pcap block", write: text2pcap },
];
