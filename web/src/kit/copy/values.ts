// The formats for copying a decoded value, each a pure function.

import { type Json, isObject, isPlainName, jsonText, numberText } from "./json";
import { yamlText } from "./yaml";

/** A value of a message, or the message itself. */
export interface Decoded {
  /** "members[0].name"; empty for the whole message. */
  path: string;
  /** The last step of the path. */
  name: string;
  /** Name of the message. */
  message: string;
  /** In the JSON of the API: 64-bit integers are decimal strings, bytes are hex strings, and so are NaN and infinities. */
  value: unknown;
  /** As in the definition: "uint16", "array<int64>". */
  type: string;
  /** The role, unless it is the field's own value: "offset", "count", "length". */
  role?: string;
}

/** A format for copying a value. */
export interface ValueFormat {
  id: string;
  group: string;
  title: string;
  /** The text to copy; empty if the value has none in this format. */
  write(v: Decoded): string;
}

/** The meaning of strings in a value, by its type. */
type Meaning = "integer" | "number" | "bytes" | "text";

function meaning(type: string): Meaning {
  const element = /^array<(.*)>/.exec(type)?.[1];
  if (element !== undefined) {
    return meaning(element);
  }
  const bare = type.trim();
  if (/^u?int64/.test(bare)) {
    return "integer";
  }
  if (/^(float|double|angle)/.test(bare)) {
    return "number";
  }
  return /^bytes?\b/.test(bare) ? "bytes" : "text";
}

/** A string by meaning: digits, bytes, or text; NaN and infinities keep their word. */
interface Word {
  kind: "integer" | "nan" | "bytes" | "text";
  text: string;
}

function wordOf(text: string, meaning: Meaning): Word {
  if (meaning === "integer" && /^-?\d+$/.test(text)) {
    return { kind: "integer", text };
  }
  if (meaning === "number" && /^(NaN(\(0x[0-9a-f]+\))?|-?Infinity)$/.test(text)) {
    return { kind: "nan", text: text.replace(/\(.*/, "") };
  }
  if (meaning === "bytes" && /^([0-9a-f]{2})*$/i.test(text)) {
    return { kind: "bytes", text };
  }
  return { kind: "text", text };
}

/** A value as text, without quotes; a group or a list as JSON. */
function bare(value: Json): string {
  return typeof value === "string" ? value : typeof value === "object" && value !== null ? jsonText(value, "  ") : numberText(value);
}

/** Whether a value is the field's own, rather than its count or offset. */
export function isOwn(v: Decoded): boolean {
  return v.role === undefined || v.role === "" || v.role === "value";
}

/** The name of a value: an element has its path, a whole message the name of the message. Computed fields are in brackets. */
export function nameOf(v: Decoded): string {
  const name = v.path === "" ? v.message : v.name === "" || v.name.startsWith("[") ? v.path : v.name;
  return isOwn(v) ? name : `[${name === v.role ? "" : `${name} `}${v.role}]`;
}

function assignment(v: Decoded): string {
  const value = v.value as Json;
  const name = nameOf(v);
  if (typeof value === "string" && wordOf(value, meaning(v.type)).kind !== "text") {
    return `${name} = ${value}`;
  }
  return `${name} = ${jsonText(value)}`;
}

/** A filter for messages with this value; for a whole message, its name. Groups, lists and computed fields have none. */
function filter(v: Decoded): string {
  const value = v.value as Json;
  if (v.path === "") {
    return v.message;
  }
  const field = `${v.message}.${v.path}`;
  if (typeof value === "object" || !isOwn(v)) {
    return ""; // the path is that of the field, whose offset or count has no expression
  }
  if (typeof value !== "string") {
    return `${field} == ${numberText(value)}`;
  }
  const word = wordOf(value, meaning(v.type));
  switch (word.kind) {
    case "integer":
      return `${field} == ${word.text}`;
    case "nan":
      return ""; // nothing equals NaN, and the language has no word for it
    case "bytes":
      return `${field} == x"${word.text}"`;
    default:
      return `${field} == ${JSON.stringify(value)}`;
  }
}

/** A value for a cell of a table: lists as JSON. */
function cellText(value: Json): string {
  return typeof value === "object" && value !== null ? jsonText(value) : value === null ? "" : bare(value);
}

/** The values in a group by path, including nested groups: "pos.x". */
function flat(value: Json, path = "", into = new Map<string, Json>()): Map<string, Json> {
  if (!isObject(value)) {
    into.set(path, value);
    return into;
  }
  for (const [name, inside] of Object.entries(value)) {
    flat(inside, path === "" ? name : `${path}.${name}`, into);
  }
  return into;
}

interface Table {
  head: string[];
  rows: string[][];
}

/** A group as one row; a list as one row per element; any other value as one cell. */
function table(v: Decoded): Table {
  const value = v.value as Json;
  const list = Array.isArray(value) ? value : [value];
  const maps = list.map((element) => flat(element, isObject(element) ? "" : nameOf(v)));
  const head = [...new Set(maps.flatMap((map) => [...map.keys()]))];
  return { head, rows: maps.map((map) => head.map((name) => (map.has(name) ? cellText(map.get(name) ?? null) : ""))) };
}

/** RFC 4180: a comma, a quote or a line break requires quotes. So does white space at the ends, which some readers would trim. */
function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(v: Decoded): string {
  const { head, rows } = table(v);
  if (head.length === 0) {
    return "";
  }
  const structured = typeof v.value === "object" && v.value !== null;
  return (structured ? [head, ...rows] : rows).map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** Text for a cell of a Markdown table. */
function markdownCell(text: string): string {
  return text
    .replaceAll(/[\\`*<>|~[\]&]/g, "\\$&")
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_") // inside a word it has no meaning
    .replaceAll(/\r\n|[\r\n]/g, "<br>");
}

function markdown(v: Decoded): string {
  const value = v.value as Json;
  let { head, rows } = table(v);
  if (!Array.isArray(value)) {
    // The members of a single value are rows: a message has more fields than a page has columns.
    rows = isObject(value) ? head.map((name, i) => [name, rows[0]?.[i] ?? ""]) : [[nameOf(v), rows[0]?.[0] ?? ""]];
    head = ["field", "value"];
  }
  if (head.length === 0) {
    return "";
  }
  const line = (cells: readonly string[]): string => `| ${cells.map(markdownCell).join(" | ")} |\n`;
  return line(head) + `|${" --- |".repeat(head.length)}\n` + rows.map(line).join("");
}

/** A Go string. A lone surrogate has no escape in Go and is written as its bytes. */
function goString(text: string): string {
  let out = "";
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code < 0xe000) {
      out += `\\xed\\x${(0x80 | ((code >> 6) & 0x3f)).toString(16)}\\x${(0x80 | (code & 0x3f)).toString(16)}`;
    } else if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0xfeff || code === 0x2028 || code === 0x2029) {
      out += { 9: "\\t", 10: "\\n", 13: "\\r" }[code] ?? `\\u${code.toString(16).padStart(4, "0")}`;
    } else {
      out += letter === '"' || letter === "\\" ? `\\${letter}` : letter;
    }
  }
  return `"${out}"`;
}

function byteItems(hex: string): string {
  return (hex.match(/../g) ?? []).map((digits) => `0x${digits.toLowerCase()}`).join(", ");
}

const goWords: Record<string, string> = { NaN: "math.NaN()", Infinity: "math.Inf(1)", "-Infinity": "math.Inf(-1)" };

/** The Go type for all elements of a list; for whole numbers one that holds all numbers in the JSON. */
function goElement(list: readonly Json[], meaning: Meaning, type: string): string {
  const is = (check: (element: Json) => boolean): boolean => list.length > 0 && list.every(check);
  if (is((e) => typeof e === "string")) {
    const kinds = new Set(list.map((e) => wordOf(e as string, meaning).kind));
    const [kind] = kinds;
    if (kinds.size === 1 && kind !== "nan") {
      return kind === "integer" ? (/\buint64/.test(type) ? "uint64" : "int64") : kind === "bytes" ? "[]byte" : "string";
    }
  }
  if (is((e) => typeof e === "boolean")) {
    return "bool";
  }
  if (meaning !== "number" && is((e) => typeof e === "number" && Number.isInteger(e))) {
    return "int64";
  }
  if (is((e) => typeof e === "number" || (typeof e === "string" && wordOf(e, meaning).kind === "nan"))) {
    return "float64";
  }
  return is(isObject) ? "map[string]any" : "any";
}

function goLiteral(value: Json, sense: Meaning, type: string, indent = "", typed = true): string {
  const inner = `${indent}\t`;
  if (Array.isArray(value)) {
    const element = goElement(value, sense, type);
    const simple = value.every((e) => typeof e !== "object" || e === null);
    const written = value.map((e) => goLiteral(e, sense, type, inner, element === "any"));
    if (simple && written.join(", ").length <= 60) {
      return `[]${element}{${written.join(", ")}}`;
    }
    return `[]${element}{\n${written.map((text) => `${inner}${text},\n`).join("")}${indent}}`;
  }
  if (isObject(value)) {
    const head = typed ? "map[string]any" : "";
    const members = Object.entries(value).map(([name, inside]) => `${inner}${goString(name)}: ${goLiteral(inside, "text", "", inner)},\n`);
    return members.length === 0 ? `${head}{}` : `${head}{\n${members.join("")}${indent}}`;
  }
  if (typeof value === "string") {
    const word = wordOf(value, sense);
    switch (word.kind) {
      case "integer":
        return word.text;
      case "nan":
        return goWords[word.text] ?? "";
      case "bytes":
        return `${typed ? "[]byte" : ""}{${byteItems(word.text)}}`;
      default:
        return goString(value);
    }
  }
  return value === null ? "nil" : Object.is(value, -0) ? "math.Copysign(0, -1)" : numberText(value);
}

function typescriptKey(name: string): string {
  // Unquoted it would set the prototype.
  return name === "__proto__" ? '["__proto__"]' : isPlainName(name) ? name : JSON.stringify(name);
}

function typescriptLiteral(value: Json, sense: Meaning, indent = ""): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const simple = value.every((e) => typeof e !== "object" || e === null);
    const written = value.map((e) => typescriptLiteral(e, sense, inner));
    if (simple && written.join(", ").length <= 60) {
      return `[${written.join(", ")}]`;
    }
    return `[\n${written.map((text) => `${inner}${text},\n`).join("")}${indent}]`;
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, e]) => `${inner}${typescriptKey(name)}: ${typescriptLiteral(e, "text", inner)},\n`);
    return members.length === 0 ? "{}" : `{\n${members.join("")}${indent}}`;
  }
  if (typeof value === "string") {
    const word = wordOf(value, sense);
    switch (word.kind) {
      case "integer":
        return `${word.text}n`;
      case "nan":
        return word.text;
      case "bytes":
        return `new Uint8Array([${byteItems(word.text)}])`;
      default:
        return JSON.stringify(value);
    }
  }
  return numberText(value);
}

/** All formats for copying a value, in the order of the menu. */
export const valueFormats: readonly ValueFormat[] = [
  { id: "value", group: "Text", title: "Value", write: (v) => bare(v.value as Json) },
  { id: "path", group: "Text", title: "Path", write: (v) => (v.path === "" ? v.message : v.path) },
  { id: "assignment", group: "Text", title: "Name = value", write: assignment },
  { id: "filter", group: "Text", title: "Filter expression", write: filter },
  { id: "json", group: "Data", title: "JSON, indented", write: (v) => jsonText(v.value as Json, "  ") },
  { id: "json-line", group: "Data", title: "JSON, one line", write: (v) => jsonText(v.value as Json) },
  { id: "yaml", group: "Data", title: "YAML", write: (v) => yamlText(v.value as Json) },
  { id: "csv", group: "Data", title: "CSV row", write: csv },
  { id: "go", group: "Source code", title: "Go literal", write: (v) => goLiteral(v.value as Json, meaning(v.type), v.type) },
  { id: "typescript", group: "Source code", title: "TypeScript literal", write: (v) => typescriptLiteral(v.value as Json, meaning(v.type)) },
  { id: "markdown", group: "Source code", title: "Markdown table", write: markdown },
];
