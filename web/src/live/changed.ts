// The differences between two messages: by value, or by byte without values.

/** A changed value or run of bytes. */
export interface Change {
  what: string; // the path of the value, or the offset of the bytes
  was: string; // "" if it is new
  is: string; // "" if it is gone
}

/** A message: its values, undefined if they are not known, and its bytes in hex. */
export interface Content {
  value: unknown;
  hex: string;
}

const mostLeaves = 5000;

/** The scalar values in a value, by path. */
function leavesOf(value: unknown, path: string, out: Map<string, string>): Map<string, string> {
  if (out.size >= mostLeaves) {
    return out;
  }
  if (Array.isArray(value)) {
    value.forEach((v, i) => leavesOf(v, `${path}[${i}]`, out));
  } else if (typeof value === "object" && value !== null) {
    Object.entries(value).forEach(([key, v]) => leavesOf(v, path === "" ? key : `${path}.${key}`, out));
  } else {
    out.set(path, JSON.stringify(value) ?? "");
  }
  return out;
}

/** The runs of bytes that differ: of messages of one length byte by byte, otherwise one between their common start and end. */
function byteChanges(was: string, is: string): Change[] {
  const a = was.match(/../g) ?? [];
  const b = is.match(/../g) ?? [];
  const out: Change[] = [];
  const add = (start: number, endA: number, endB: number): void => {
    out.push({ what: `0x${start.toString(16).toUpperCase().padStart(2, "0")}`, was: a.slice(start, endA).join(" "), is: b.slice(start, endB).join(" ") });
  };
  if (a.length !== b.length) {
    const least = Math.min(a.length, b.length);
    let start = 0;
    while (start < least && a[start] === b[start]) {
      start++;
    }
    let end = 0;
    while (end < least - start && a.at(-1 - end) === b.at(-1 - end)) {
      end++;
    }
    add(start, a.length - end, b.length - end);
    return out;
  }
  for (let i = 0; i < a.length; ) {
    const start = i;
    while (i < a.length && a[i] !== b[i]) {
      i++;
    }
    if (i > start) {
      add(start, i, i);
    } else {
      i++;
    }
  }
  return out;
}

/** The changes from one message to another. */
export function changesOf(was: Content, is: Content): Change[] {
  if (was.hex === is.hex) {
    return [];
  }
  if (was.value === undefined || was.value === null || is.value === undefined || is.value === null) {
    return byteChanges(was.hex, is.hex);
  }
  const [a, b] = [leavesOf(was.value, "", new Map()), leavesOf(is.value, "", new Map())];
  const out: Change[] = [];
  for (const what of new Set([...a.keys(), ...b.keys()])) {
    if (a.get(what) !== b.get(what)) {
      out.push({ what, was: a.get(what) ?? "", is: b.get(what) ?? "" });
    }
  }
  return out.length > 0 ? out : byteChanges(was.hex, is.hex); // bytes that no value shows
}
