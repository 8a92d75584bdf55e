// Messages for the grid, and edits of them.

/** The bytes of a message with their styles. */
export interface HexMessage {
  data: Uint8Array;
  /** Classes such as "t-int" and "t-int alt"; the first is "", for bytes of no field. */
  tints: readonly string[];
  /** By byte: index into tints. */
  tintOf: Uint16Array;
  /** By byte: 1 where a field begins, 2 for a gap, 4 past the end of the message; bits may be combined. */
  starts: Uint8Array;
  /** By byte: 1 where it differs from the original. */
  changed: Uint8Array;
}

/** An empty message. */
export const noMessage: HexMessage = {
  data: new Uint8Array(),
  tints: [""],
  tintOf: new Uint16Array(),
  starts: new Uint8Array(),
  changed: new Uint8Array(),
};

function splice<T extends Uint8Array | Uint16Array>(old: T, made: T, at: number, removed: number, inserted: T): T {
  made.set(old.subarray(0, at));
  made.set(inserted, at);
  made.set(old.subarray(at + removed), at + inserted.length);
  return made;
}

/**
 * Returns the message with some bytes replaced. The old message is unchanged, for histories. New bytes have the style of those they
 * replace, or else of the byte before, until the page has decoded the message again.
 */
export function edited(m: HexMessage, at: number, removed: number, inserted: Uint8Array): HexMessage {
  const n = inserted.length;
  const size = m.data.length - removed + n;
  const tint = new Uint16Array(n);
  const starts = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const like = i < removed ? at + i : at + removed - 1;
    tint[i] = m.tintOf[like] ?? 0;
    starts[i] = (m.starts[like] ?? 0) & (i < removed ? 7 : 6);
  }
  return {
    data: splice(m.data, new Uint8Array(size), at, removed, inserted),
    tints: m.tints,
    tintOf: splice(m.tintOf, new Uint16Array(size), at, removed, tint),
    starts: splice(m.starts, new Uint8Array(size), at, removed, starts),
    changed: splice(m.changed, new Uint8Array(size), at, removed, new Uint8Array(n).fill(1)),
  };
}
