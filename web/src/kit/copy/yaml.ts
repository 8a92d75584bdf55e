// Values as YAML 1.2 that readers of YAML 1.1 understand the same way.

import { type Json, isObject, numberText } from "./json";

// Words that YAML 1.1 or 1.2 reads as other types than text, and patterns of numbers, times and dates.
const words = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const bareText = /^[\p{L}_][\p{L}\p{N}_ ./()-]*$/u;

/** A string, quoted if a reader could take it for another type. */
function scalar(text: string): string {
  if (bareText.test(text) && !text.endsWith(" ") && !words.test(text) && text.length <= 80) {
    return text;
  }
  // Characters that are not printable in YAML are escaped, besides those that JSON escapes.
  return JSON.stringify(text).replaceAll(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A value on a single line. */
function short(value: Json): string | undefined {
  if (typeof value === "string") {
    return scalar(value);
  }
  if (typeof value !== "object" || value === null) {
    return numberText(value).replace(/^(-?\d+)e/, "$1.0e"); // YAML 1.1 reads 1e21 as text
  }
  if (Object.keys(value).length > 0) {
    return undefined;
  }
  return Array.isArray(value) ? "[]" : "{}";
}

/** The lines of a value; the first follows "- " or is at the indent. */
function lines(value: Json, indent: string): string {
  const one = short(value);
  if (one !== undefined) {
    return `${one}\n`;
  }
  if (Array.isArray(value)) {
    return value.map((element) => `- ${lines(element, `${indent}  `)}`).join(indent);
  }
  if (!isObject(value)) {
    return "";
  }
  return Object.entries(value)
    .map(([name, inside]) => {
      const text = short(inside);
      if (text !== undefined) {
        return `${scalar(name)}: ${text}\n`;
      }
      return `${scalar(name)}:\n${indent}  ${lines(inside, `${indent}  `)}`;
    })
    .join(indent);
}

/** A value as YAML in blocks. */
export function yamlText(value: Json): string {
  return lines(value, "");
}
