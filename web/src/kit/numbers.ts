// How offsets and numbers are written: offsets in hex and values in decimal, or all in hex, or all in decimal. The choice is stored. Hex has one
// form everywhere: 0x, lower case, at least two digits.

import { hexNumber } from "./hextext";

const modes = { mixed: "offsets in hex, numbers in decimal", hex: "offsets and numbers in hex", decimal: "offsets and numbers in decimal" } as const;

export type Numbers = keyof typeof modes;

const storageKey = "wirebench.numbers";
const followers: (() => void)[] = [];
let mode: Numbers = stored();

function stored(): Numbers {
  try {
    const value = localStorage.getItem(storageKey) ?? "";
    return value in modes ? (value as Numbers) : "mixed";
  } catch {
    return "mixed"; // no storage
  }
}

/** The choice. */
export function numbers(): Numbers {
  return mode;
}

/** Chooses the next way to write numbers, and returns it in words. */
export function nextNumbers(): string {
  const all = Object.keys(modes) as Numbers[];
  setNumbers(all[(all.indexOf(mode) + 1) % all.length] ?? "mixed");
  return modes[mode];
}

export function setNumbers(to: Numbers): void {
  mode = to;
  try {
    localStorage.setItem(storageKey, to);
  } catch {
    // The choice then lasts as long as the page.
  }
  followers.forEach((run) => run());
}

/** Calls back after each change. */
export function onNumbers(run: () => void): void {
  followers.push(run);
}

/** An offset in bytes. */
export function offsetOf(byte: number): string {
  return mode === "decimal" ? String(byte) : hexNumber(byte);
}

/** An offset in bits, as bytes, and bits after a dot. */
export function bitOffsetOf(bits: number): string {
  return `${offsetOf(Math.floor(bits / 8))}${bits % 8 === 0 ? "" : `.${bits % 8}`}`;
}

/** A text with offsets that the server writes in decimal, such as "4", "+4.3" or "+4 + name2". */
export function offsetsIn(text: string): string {
  return mode === "decimal" ? text : text.replace(/(?<![\w.[])\d+(?!\w)/g, (n) => offsetOf(Number(n)));
}

/** A number: a size, a count. */
export function numberOf(n: number): string {
  return mode === "hex" ? hexNumber(n) : String(n);
}

/** A value as text, if it is an integer; other text stays. Offsets that the server writes in hex become decimal. */
export function valueOf(text: string): string {
  if (mode === "decimal") {
    return /^0x[\da-f]+$/i.test(text) ? BigInt(text).toString() : text.replace(/^(\d+) \(0x[\da-f]+\)$/i, "$1");
  }
  const [, minus, digits] = /^(-?)(\d+)$/.exec(text) ?? [];
  if (mode === "hex" && digits !== undefined) {
    return `${minus}0x${BigInt(digits).toString(16).padStart(2, "0")}`;
  }
  const own = mode === "hex" ? text.replace(/^\d+ \((0x[\da-f]+)\)$/i, "$1") : text;
  return own.replace(/^0x([\da-f]+)$/i, (_, hex: string) => `0x${hex.toLowerCase().padStart(2, "0")}`);
}
