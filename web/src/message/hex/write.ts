// Values as bytes: the inverse of the inspector's interpretations.

/** The bytes that are interpreted. */
export interface Place {
  all: Uint8Array; // the message
  data: Uint8Array; // from the offset on
  view: DataView; // of data
  selected: Uint8Array;
}

/** Returns the bytes of a typed value, or the reason why it has none. There are as many bytes as the interpretation has read. */
type Write = (typed: string, p: Place, little: boolean) => Uint8Array | string;

function made(size: number, put: (view: DataView) => void): Uint8Array {
  const out = new Uint8Array(size);
  put(new DataView(out.buffer));
  return out;
}

/** A typed integer; undefined if it is none. */
function integer(typed: string): bigint | undefined {
  const [, minus, digits] = /^([-+]?)\s*(0x[\da-f]+|0b[01]+|0o[0-7]+|\d+)$/i.exec(typed.trim().replaceAll("_", "")) ?? [];
  if (digits === undefined) {
    return undefined;
  }
  return minus === "-" ? -BigInt(digits) : BigInt(digits);
}

function integers(bits: number, signed: boolean): Write {
  const least = signed ? -(1n << BigInt(bits - 1)) : 0n;
  const most = (1n << BigInt(signed ? bits - 1 : bits)) - 1n;
  return (typed, _, little) => {
    const n = integer(typed);
    const pattern = /^0[xb]/i.test(typed.trim()) && n !== undefined && n >> BigInt(bits) === 0n; // all bits are given
    if (n === undefined || ((n < least || n > most) && !pattern)) {
      return `a whole number from ${least} to ${most}, decimal or with 0x or 0b`;
    }
    return made(bits / 8, (view) => {
      const bytes = new Uint8Array(view.buffer);
      for (let i = 0; i < bytes.length; i++) {
        bytes[little ? i : bytes.length - 1 - i] = Number((n >> BigInt(8 * i)) & 0xffn);
      }
    });
  };
}

/** The nearest number with half precision, as bits; ties go to the even one. */
function half(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const n = Math.abs(value);
  if (Number.isNaN(n)) {
    return 0x7e00;
  }
  if (n >= 65520) {
    return sign | 0x7c00;
  }
  const exponent = Math.max(-14, Math.floor(Math.log2(n || 2 ** -30)));
  const scaled = n / 2 ** (exponent - 10); // with the leading bit, except for the smallest
  const low = Math.floor(scaled);
  const even = scaled - low > 0.5 || (scaled - low === 0.5 && low % 2 === 1) ? low + 1 : low;
  return sign | (((exponent + 14) << 10) + even); // a carry goes into the exponent
}

function floats(size: 2 | 4 | 8): Write {
  return (typed, _, little) => {
    const text = typed.trim().replace(/^([-+]?)inf(inity)?$/i, "$1Infinity");
    const value = /^[-+]?nan$/i.test(text) ? NaN : Number(text);
    if (text === "" || (Number.isNaN(value) && !/nan$/i.test(text))) {
      return "a number, such as 1.5, 1e-3, Infinity or NaN";
    }
    const bytes = made(size, (view) => {
      if (size === 2) {
        view.setUint16(0, half(value), little);
      } else if (size === 4) {
        view.setFloat32(0, value, little);
      } else {
        view.setFloat64(0, value, little);
      }
    });
    const most = size === 2 ? 65504 : 3.4028234663852886e38;
    if (size < 8 && Number.isFinite(value) && !Number.isFinite(size === 2 ? (half(value) & 0x7fff) >= 0x7c00 ? Infinity : value : Math.fround(value))) {
      return `at most ${most} in ${8 * size} bits`;
    }
    return bytes;
  };
}

/** Text with escapes such as \n, \x00 and \u{1f600}; undefined if one is not complete. */
function unescaped(typed: string): string | undefined {
  let wrong = false;
  const text = typed.replaceAll(/\\(x[\da-f]{2}|u\{[\da-f]{1,6}\}|.|$)/gi, (_, code: string) => {
    const plain = { 0: "\0", t: "\t", n: "\n", r: "\r", "\\": "\\" }[code];
    if (plain !== undefined) {
      return plain;
    }
    const n = parseInt(code.replace(/^(x|u\{)/i, ""), 16);
    if (!/^[xu]./i.test(code) || !(n <= 0x10ffff)) {
      wrong = true;
      return "";
    }
    return String.fromCodePoint(n);
  });
  return wrong ? undefined : text;
}

/** As many bytes of text as are selected, or as the character there has. */
function texts(encode: (text: string, little: boolean) => Uint8Array, one: (p: Place, little: boolean) => number, unit: number): Write {
  return (typed, p, little) => {
    const text = unescaped(typed);
    if (text === undefined) {
      return "after a \\ comes 0, t, n, r, \\, x with two digits, or u{…}";
    }
    const bytes = encode(text, little);
    const size = p.selected.length > unit ? p.selected.length - (p.selected.length % unit) : one(p, little);
    return bytes.length === size ? bytes : `${bytes.length} ${bytes.length === 1 ? "byte" : "bytes"} instead of ${size}: select as many bytes as the text has`;
  };
}

const utf8 = texts((text) => new TextEncoder().encode(text), ({ data }) => {
  const lead = data[0] ?? 0;
  return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}, 1);

const utf16 = texts(
  (text, little) => made(2 * text.length, (view) => {
    for (let i = 0; i < text.length; i++) {
      view.setUint16(2 * i, text.charCodeAt(i), little);
    }
  }),
  ({ view }, little) => ((view.getUint16(0, little) & 0xfc00) === 0xd800 && view.byteLength >= 4 ? 4 : 2),
  2,
);

function times(bits: 32 | 64): Write {
  return (typed, p, little) => {
    const text = typed.trim().replace(" ", "T");
    const ms = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?Z?$/.test(text) ? Date.parse(text.includes("T") ? text.replace(/Z?$/, "Z") : text.replace(/Z$/, "")) : NaN;
    const n = bits === 32 ? Math.floor(ms / 1000) : ms;
    if (!(n >= 0 && (bits === 64 || n < 2 ** 32))) {
      return `a time in UTC, such as 2024-05-17 08:30:00, from 1970${bits === 32 ? " to 2106" : ""}`;
    }
    return integers(bits, false)(String(n), p, little);
  };
}

/** The writers by the names of interpretations. */
export const writers: Readonly<Record<string, Write>> = {
  binary: (typed) => {
    const digits = typed.replaceAll(/^\s*0b|[\s_]/g, "");
    return /^[01]{1,8}$/.test(digits) ? Uint8Array.of(parseInt(digits, 2)) : "up to eight digits 0 and 1";
  },
  u8: integers(8, false), i8: integers(8, true), u16: integers(16, false), i16: integers(16, true),
  u32: integers(32, false), i32: integers(32, true), u64: integers(64, false), i64: integers(64, true),
  f16: floats(2), f32: floats(4), f64: floats(8),
  "utf-8": utf8, "utf-16": utf16,
  "time s": times(32), "time ms": times(64),
  IPv4: (typed, _, little) => {
    const parts = typed.trim().split(".");
    if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) {
      return "an address, such as 192.168.0.1";
    }
    const bytes = parts.map(Number);
    return Uint8Array.from(little ? bytes.reverse() : bytes);
  },
  GUID: (typed, _, little) => {
    const digits = typed.replaceAll(/[\s{}-]/g, "");
    if (!/^[\da-f]{32}$/i.test(digits)) {
      return "32 hex digits, such as 00010203-0405-0607-0809-0a0b0c0d0e0f";
    }
    const order = little ? guidOrder : guidOrder.map((_, i) => i);
    return Uint8Array.from(order, (i) => parseInt(digits.slice(2 * i, 2 * i + 2), 16));
  },
};

/** The order of the bytes of a GUID in little endian, which is Microsoft's. It is its own inverse. */
export const guidOrder: readonly number[] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
