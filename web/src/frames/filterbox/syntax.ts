// The syntax of filters as far as the box needs it: strings, parentheses and the loosest operators. The rest is up to the server.

/** The maximum length of a filter; the server refuses longer ones. */
export const mostText = 8192;

type Kind = "open" | "close" | "or" | "and" | "preset" | "other";

interface Token {
  kind: Kind;
  start: number;
  end: number;
}

const token = /[xr]?(["'])|[A-Za-z0-9_\u0080-\uffff]+|\|\||&&|\^\^|@[A-Za-z0-9_\u0080-\uffff]+(?![.[A-Za-z0-9_\u0080-\uffff])|~[a-z]+|\S/y;
const space = /\s*/y;

/** The end of a string whose quote is before an offset. An unclosed string ends at the end of the text. */
function endOfText(text: string, from: number, quote: string, raw: boolean): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === quote) {
      return i + 1;
    }
    if (text[i] === "\\" && !raw) {
      i++;
    }
  }
  return text.length;
}

/** Calls back for each significant token. A filter that starts with "=" is a single text to search for. */
function scan(text: string, found: (t: Token) => void): void {
  if (isFind(text)) {
    return;
  }
  for (let at = 0; ; ) {
    space.lastIndex = at;
    space.exec(text);
    at = token.lastIndex = space.lastIndex;
    const match = token.exec(text);
    if (match === null) {
      return;
    }
    const [word, quote] = match;
    let end = token.lastIndex;
    let kind: Kind = "other";
    if (quote !== undefined) {
      end = endOfText(text, end, quote, word.length > 1);
    } else if (/^[([{]$/.test(word)) {
      kind = "open";
    } else if (/^[)\]}]$/.test(word)) {
      kind = "close";
    } else if (/^(\|\||\^\^|or|xor)$/.test(word)) {
      kind = "or"; // all bind looser than "and"
    } else if (word === "&&" || word === "and") {
      kind = "and";
    } else if (word.startsWith("@") && word.length > 1) {
      kind = "preset";
    }
    found({ kind, start: at, end });
    at = end;
  }
}

/** Whether a filter searches for a value in the bytes: "= 48211". */
export function isFind(text: string): boolean {
  return /^\s*=(?!=)/.test(text);
}

/** The loosest operator outside parentheses; "one" if there is none. */
export function looseness(text: string): "or" | "and" | "one" {
  let depth = 0;
  let loosest: "or" | "and" | "one" = "one";
  scan(text, ({ kind }) => {
    if (kind === "open") {
      depth++;
    } else if (kind === "close") {
      depth--;
    } else if (depth === 0 && (kind === "or" || (kind === "and" && loosest === "one"))) {
      loosest = kind;
    }
  });
  return loosest;
}

/** Whether a pair of parentheses encloses the whole filter. */
function isEnclosed(text: string): boolean {
  if (!text.startsWith("(")) {
    return false;
  }
  let depth = 0;
  let closed = 0; // end of the first pair
  scan(text, ({ kind, end }) => {
    depth += kind === "open" ? 1 : kind === "close" ? -1 : 0;
    if (depth === 0 && closed === 0) {
      closed = end;
    }
  });
  return closed === text.length;
}

/** How a condition is combined with the filter in the box. */
export type How = "replace" | "and" | "or" | "and not";

/** Combines two filters, keeping their meaning: "a || b" and "c" is "(a || b) && c". Neither may be a short form of a whole filter. */
export function combine(current: string, text: string, how: How): string {
  const left = current.trim();
  const right = text.trim();
  if (how === "replace" || right === "") {
    return how === "replace" ? right : left;
  }
  const inside = (filter: string): string => (looseness(filter) === "or" ? `(${filter})` : filter);
  if (how === "and not") {
    const plain = isEnclosed(right) || /^[A-Za-z_][\w.]*$/.test(right);
    const negated = plain ? `!${right}` : `!(${right})`;
    return left === "" ? negated : `${inside(left)} && ${negated}`;
  }
  if (left === "" || left === right) {
    return right;
  }
  return how === "or" ? `${left} || ${right}` : `${inside(left)} && ${inside(right)}`;
}

/** A filter with its presets expanded, and the mapping of positions to the typed one. */
export interface Expanded {
  text: string;
  /** The position in the expanded text for one in the typed text. */
  there(at: number): number;
  /** The range in the typed text for one in the expanded text; inside a preset, the whole preset. */
  back(start: number, end: number): { start: number; end: number; inside: boolean };
}

interface Piece {
  start: number; // in the typed text
  end: number;
  from: number; // in the expanded text
  to: number;
}

/** Expands presets: "@party && len > 3". Other words after "@" are fields, for their bytes. */
export function expand(typed: string, presets: ReadonlyMap<string, string>): Expanded {
  const pieces: Piece[] = [];
  const whole = presets.get(typed.trim().slice(1));
  let text = "";
  let at = 0;
  scan(typed, ({ kind, start, end }) => {
    const preset = kind === "preset" ? presets.get(typed.slice(start + 1, end)) : undefined;
    if (preset === undefined || text.length > 2 * mostText) {
      return; // already too long; the server reports that
    }
    text += typed.slice(at, start);
    const from = text.length;
    text += whole !== undefined && typed.trim().startsWith("@") ? preset : `(${preset})`;
    pieces.push({ start, end, from, to: text.length });
    at = end;
  });
  text += typed.slice(at);

  const there = (place: number): number => {
    let moved = 0;
    for (const p of pieces) {
      if (place <= p.start) {
        break;
      }
      if (place < p.end) {
        return p.to;
      }
      moved = p.to - p.end;
    }
    return place + moved;
  };
  const back = (start: number, end: number): { start: number; end: number; inside: boolean } => {
    const one = (place: number, isEnd: boolean): { at: number; inside: boolean } => {
      let moved = 0;
      for (const p of pieces) {
        if (isEnd ? place <= p.from : place < p.from) {
          break;
        }
        if (isEnd ? place <= p.to : place < p.to) {
          return { at: isEnd ? p.end : p.start, inside: true };
        }
        moved = p.end - p.to;
      }
      return { at: place + moved, inside: false };
    };
    if (start === end) {
      const at = one(start, false);
      return { start: at.at, end: at.at, inside: at.inside };
    }
    const a = one(start, false);
    const b = one(end, true);
    return { start: a.at, end: Math.max(a.at, b.at), inside: a.inside || b.inside };
  };
  return { text, there, back };
}
