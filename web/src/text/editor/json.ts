// Definitions in JSON with comments, and in YAML: their highlighting, and what may be written at a position.

import type { StringStream } from "@codemirror/language";
import type { Text } from "@codemirror/state";

import { isType, type Role, type Words } from "./language";

/** The state of the tokenizer. */
export interface TreePlace {
  yaml: boolean | undefined; // undefined before the first text
  comment: boolean; // inside a comment of several lines
  key: string; // the last key
}

/** The state at the start of a text. */
export const treeStart = (): TreePlace => ({ yaml: undefined, comment: false, key: "" });

/** Whether a text is YAML: it starts neither with a bracket nor with a comment of JSON. */
export function isYAML(doc: Text): boolean {
  for (let n = 1; n <= Math.min(doc.lines, 100); n++) {
    const line = doc.line(n).text.trim();
    if (line !== "") {
      return !/^(\ufeff|[{[]|\/[/*])/.test(line);
    }
  }
  return false;
}

const keyOfName = "name"; // whose value is a name

/** The role of a value. */
function valueRole(value: string, key: string, words: Words): Role | null {
  if (key === keyOfName) {
    return "name";
  }
  if (/^-?(0x[\da-f]+|\d[\d.]*)$/i.test(value)) {
    return "number";
  }
  const word = words.get(value);
  return isType(word) ? "typeName" : null;
}

/** The role of the next piece of a text. */
export function treeToken(stream: StringStream, place: TreePlace, words: Words): Role | null {
  if (place.comment) {
    place.comment = stream.match(/^.*?\*\//) === null;
    if (place.comment) {
      stream.skipToEnd();
    }
    return "comment";
  }
  if (stream.eatSpace()) {
    return null;
  }
  place.yaml ??= stream.match(/^(\ufeff|[{[]|\/[/*])/, false) === null;
  return place.yaml ? yamlToken(stream, place, words) : jsonToken(stream, place, words);
}

function jsonToken(stream: StringStream, place: TreePlace, words: Words): Role | null {
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    place.comment = !stream.match(/^.*?\*\//);
    if (place.comment) {
      stream.skipToEnd();
    }
    return "comment";
  }
  if (stream.match(/^"([^"\\]|\\.)*"?/)) {
    const text = stream.current().replace(/^"|"$/g, "");
    if (!stream.match(/^\s*:/, false)) {
      return valueRole(text, place.key, words);
    }
    place.key = text;
    const word = words.get(text);
    return word !== undefined && !isType(word) ? "mark" : "name";
  }
  if (stream.match(/^-?\d[\d.eE+-]*/)) {
    return "number";
  }
  if (stream.match(/^\w+/)) {
    return "mark"; // true, false, null
  }
  if (stream.next() === "[") {
    place.key = ""; // of an array: its first element is a type
  }
  return null;
}

function yamlToken(stream: StringStream, place: TreePlace, words: Words): Role | null {
  if (stream.match(/^#.*/)) {
    return "comment";
  }
  if (stream.match(/^-(?=\s)/)) {
    place.key = "";
    return "dash";
  }
  if (stream.match(/^[!^%][^\s:]*/)) {
    place.key = "";
    return "mark";
  }
  if (stream.match(/^(if|or|default)(?=[\s:])/) || stream.match(/^(=>|\?)/)) {
    return "mark";
  }
  if (stream.match(/^["']?[^\s:"'[\]{},]+["']?(?=\s*:(\s|$))/)) {
    place.key = stream.current();
    const bare = place.key.replace(/^["']|["']$/g, "");
    if (/^(0x[\da-f]+|\d+)$/i.test(bare)) {
      return "number";
    }
    return place.key.startsWith('"') && !isType(words.get(bare)) && words.has(bare) ? "mark" : "name";
  }
  if (stream.match(/^"([^"\\]|\\.)*"?/)) {
    return valueRole(stream.current().replace(/^"|"$/g, ""), place.key.replaceAll('"', ""), words);
  }
  if (stream.match(/^[\p{L}_][\p{L}\d_./]*/u)) {
    return valueRole(stream.current(), "", words);
  }
  if (stream.match(/^-?(0x[\da-f]+|\d[\d.]*)\b/i)) {
    return "number";
  }
  stream.next();
  return null;
}

/** What may be written at a position: a type, the name of a field, a key, or a name. */
export interface TreeOffer {
  from: number; // start of the word in the line
  kind: "type" | "field" | "key";
  quoted: boolean; // inside quotes
}

const fieldKeys = /"(compareTo|count|countFor)"\s*:\s*"$/;
const typeKeys = /("(type|countType|lengthType|default)"\s*:\s*|\[\s*|"(option|array)"\s*,\s*|"[^"]+"\s*:\s*)"?$/;

/** The offer at the end of a line's text before the caret; undefined in comments and at unknown positions. */
export function treeOffer(before: string, yaml: boolean): TreeOffer | undefined {
  const word = /[\p{L}\d_]*$/u.exec(before)?.[0] ?? "";
  const from = before.length - word.length;
  const rest = before.slice(0, from);
  if (yaml) {
    if (/#/.test(rest)) {
      return undefined;
    }
    if (/\?\s*$/.test(rest)) {
      return undefined;
    }
    return /(:\s+|\[\])$/.test(rest) || /\["$/.test(rest) ? { from, kind: "type", quoted: false } : undefined;
  }
  const quoted = (rest.match(/(?<!\\)"/g) ?? []).length % 2 === 1;
  if (/^\s*\/\//.test(rest) || (!quoted && /\/\//.test(rest))) {
    return undefined;
  }
  if (fieldKeys.test(rest)) {
    return { from, kind: "field", quoted };
  }
  if (!/"(name|encoding)"\s*:\s*"?$/.test(rest) && typeKeys.test(rest)) {
    return { from, kind: "type", quoted };
  }
  return quoted && /[{,]\s*"$/.test(rest) ? { from, kind: "key", quoted } : undefined;
}

/** The names of the types that a text defines. */
export function namedTypes(text: string, yaml: boolean): string[] {
  const found = new Set<string>();
  if (yaml) {
    let indent: string | undefined;
    for (const line of text.split("\n")) {
      if (line.startsWith("^")) {
        indent = undefined; // of a namespace
        continue;
      }
      const key = /^(\s*)([\p{L}_][\p{L}\d_]*)\??:/u.exec(line);
      if (key !== null && (indent ??= key[1]) === key[1] && key[2] !== undefined) {
        found.add(key[2]);
      }
    }
    return [...found];
  }
  // The members of namespaces, which are in objects only: all of "types": {...}, else those that are no objects.
  const open: string[] = []; // brackets, with "t" for the brace of types
  let arrays = 0;
  const piece = /"((?:[^"\\\n]|\\.)*)"\s*(:?)\s*(\{?)|\/\/[^\n]*|\/\*[^]*?\*\/|[{}[\]]/g;
  for (const [all, name, colon, brace] of text.matchAll(piece)) {
    if (name === undefined) {
      if (all === "{" || all === "[") {
        open.push(all);
        arrays += all === "[" ? 1 : 0;
      } else if (all === "}" || all === "]") {
        arrays -= open.pop() === "[" ? 1 : 0;
      }
      continue;
    }
    const member = colon === ":" && arrays === 0;
    const inTypes = open.includes("t");
    if (member && (open.at(-1) === "t" || (!inTypes && name !== "types" && brace !== "{"))) {
      found.add(name);
    }
    if (brace === "{") {
      open.push(member && !inTypes && name === "types" ? "t" : "{");
    }
  }
  return [...found];
}

/** The names of the fields of a text. */
export function namedFields(text: string, yaml: boolean): string[] {
  const found = new Set<string>();
  for (const [, name] of text.matchAll(yaml ? /^\s+([\p{L}_][\p{L}\d_]*)\??:/gmu : /"name"\s*:\s*"([^"\\\n]+)"/g)) {
    if (name !== undefined) {
      found.add(name);
    }
  }
  return [...found];
}
