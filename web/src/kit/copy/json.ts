// Values of messages as JSON.

/** A result of JSON.parse. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Whether a value is an object. */
export function isObject(value: Json): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a name is a valid TypeScript property without quotes. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

/** A number, a boolean or null as JSON. */
export function numberText(value: number | boolean | null): string {
  return Object.is(value, -0) ? "-0" : String(value); // JSON.stringify loses the sign, and the bytes would change
}

/** A value as JSON, on one line or indented. */
export function jsonText(value: Json, step = "", indent = ""): string {
  if (typeof value === "string") {
    return JSON.stringify(value);
  }
  if (typeof value !== "object" || value === null) {
    return numberText(value);
  }
  const inner = indent + step;
  const parts = Array.isArray(value)
    ? value.map((element) => jsonText(element, step, inner))
    : Object.entries(value).map(([name, inside]) => `${JSON.stringify(name)}:${step === "" ? "" : " "}${jsonText(inside, step, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (parts.length === 0 || step === "") {
    return `${open}${parts.join(",")}${close}`;
  }
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}
