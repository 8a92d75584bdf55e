// Bytes as text and text as bytes, the way the grid shows, copies and pastes them.

/** Every byte as two hex digits. */
export const lowerDigits: readonly string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));

/** Every byte as two upper-case hex digits. */
export const upperDigits: readonly string[] = lowerDigits.map((digits) => digits.toUpperCase());

/** Every byte as its character in the text column. */
export const characters: readonly string[] = Array.from({ length: 256 }, (_, i) =>
  i > 0x20 && i < 0x7f ? String.fromCharCode(i) : "·",
);

/** A number as hex with 0x: lower case, at least `digits` digits. */
export function hexNumber(n: number, digits = 2): string {
  return `0x${n.toString(16).padStart(digits, "0")}`;
}

/** Bytes as lower-case hex, joined by a separator. */
export function hexOf(data: Iterable<number>, separator = ""): string {
  return Array.from(data, (byte) => lowerDigits[byte] ?? "").join(separator);
}

/** Bytes as lower-case hex, separated by spaces; for any number of bytes. */
export function spacedHex(data: Uint8Array): string {
  if (data.length === 0) {
    return "";
  }
  // Joining sixteen million strings would take seconds.
  const digits = new TextEncoder().encode("0123456789abcdef");
  const text = new Uint8Array(data.length * 3 - 1).fill(0x20);
  data.forEach((byte, i) => {
    text[i * 3] = digits[byte >> 4] ?? 0;
    text[i * 3 + 1] = digits[byte & 15] ?? 0;
  });
  return new TextDecoder().decode(text);
}

/** The value of a hex digit, or -1. */
export function digitValue(text: string): number {
  return /^[0-9a-f]$/i.test(text) ? parseInt(text, 16) : -1;
}

function quoted(text: string): string {
  return `"${text.length > 12 ? `${text.slice(0, 12)}…` : text}"`;
}

/**
 * Parses hex digits with any separators; returns an error message for invalid text. 0x, \x and % before digits are skipped, and "0x1" is a
 * byte; otherwise a word with an odd number of digits is refused, since half a byte is probably a mistake.
 */
export function parseHex(text: string): Uint8Array | string {
  const bytes = new Uint8Array(text.length >> 1 || 1);
  let size = 0;
  for (const match of text.matchAll(/[^\s,;:._|\-{}[\]()<>"'`]+/g)) {
    for (const word of match[0].split(/(?=0x|\\x|%)/i)) {
      const digits = word.replace(/^(0x|\\x|%)/i, "");
      if (!/^[0-9a-f]+$/i.test(digits)) {
        return `not hex: ${quoted(word)} at character ${match.index + 1}`;
      }
      const padded = digits.length === 1 && digits !== word ? `0${digits}` : digits;
      if (padded.length % 2 === 1) {
        return `an odd number of hex digits: ${quoted(word)} at character ${match.index + 1}`;
      }
      for (let i = 0; i < padded.length; i += 2) {
        bytes[size++] = parseInt(padded.slice(i, i + 2), 16);
      }
    }
  }
  return size === 0 ? "no hex digits" : bytes.slice(0, size);
}

/** An offset with at least a number of digits. */
export function offsetText(offset: number, digits: number, decimal: boolean): string {
  return decimal ? String(offset).padStart(digits, "\u2007") : offset.toString(16).padStart(digits, "0");
}

/** A byte and its offset in words for screen readers. */
export function spoken(data: Uint8Array, at: number): string {
  const place = hexNumber(at);
  const byte = data[at];
  return byte === undefined ? `${place}: end of the message` : `${place}: ${lowerDigits[byte]}, ${byte}`;
}
