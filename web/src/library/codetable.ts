// Reads a table of names and codes, as people have them: lines of a code map, of a spreadsheet, of JSON or of a C header.

/** A name with its code. */
export interface NamedCode {
  message: string;
  code: number;
}

/** A line that cannot be read, counted from 1, and why. */
export interface WrongLine {
  line: number;
  why: string;
}

/** What a table says. */
export interface CodeTable {
  codes: NamedCode[];
  wrong: WrongLine[];
}

const mostCode = 0xffff;

/** Reads a code in decimal or hex. */
export function readCode(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  return /^\d{1,10}$/.test(word) || /^0x[0-9a-f]{1,8}$/.test(word) ? Number(word) : undefined;
}

/** Reads lines of a name and a code, in either order. Comments, quotes, brackets and commas are ignored. */
export function readTable(text: string): CodeTable {
  const codes: NamedCode[] = [];
  const wrong: WrongLine[] = [];
  const lineOf = new Map<string, number>();
  const ownerOf = new Map<number, string>();
  for (const [i, whole] of text.split("\n").entries()) {
    const line = i + 1;
    const words = whole.replace(/^\s*#define\b/, "").replace(/(#|\/\/).*$/, "").split(/[\s=:,;"'{}|]+/).filter((w) => w !== "");
    if (words.length === 0) {
      continue;
    }
    const bad = (why: string): void => void wrong.push({ line, why });
    const numbers = words.map(readCode);
    const at = numbers.findIndex((n) => n !== undefined);
    const code = numbers[at];
    const name = words[1 - at]?.replace(/\.\d+$/, "") ?? "";
    if (words.length !== 2) {
      bad(words.length === 1 ? "a name and a code are needed" : "more than a name and a code");
    } else if (code === undefined) {
      bad(`${words[1] ?? ""} is not a code`);
    } else if (!/^[A-Za-z_]\w*$/.test(name)) {
      bad(`${name} is not a name`);
    } else if (code > mostCode) {
      bad(`${words[at] ?? ""} is above ${mostCode}`);
    } else if (lineOf.has(name)) {
      bad(`${name} is also in line ${lineOf.get(name) ?? 0}`);
    } else if (ownerOf.has(code)) {
      bad(`${ownerOf.get(code) ?? ""} has this code in line ${lineOf.get(ownerOf.get(code) ?? "") ?? 0}`);
    } else {
      lineOf.set(name, line);
      ownerOf.set(code, name);
      codes.push({ message: name, code });
    }
  }
  return { codes, wrong };
}
