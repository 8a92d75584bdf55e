// Tests of runtime.ts and pack.ts, run by TestToolTypeScriptRuntime: an error is thrown by the first that fails.

import { packedDeflate, packedGzip, packedZlib, pack } from "./pack.js";
import { Coder, Illegal, Incomplete, Refused, coding, divide, extend, flag, fromHalf, latin1, load, loadBig, modulo, place, shiftLeft, shiftRight, store, storeBig, toHalf, truth, unless, utf16LE, utf8Text, wrap } from "./runtime.js";

function equal(got: unknown, want: unknown, what: string): void {
	const text = (v: unknown) => JSON.stringify(v, (_, x) => (typeof x === "bigint" ? x + "n" : x instanceof Uint8Array ? [...x] : Object.is(x, -0) ? "-0" : x));
	if (text(got) !== text(want)) throw new Error(`${what}: got ${text(got)}, want ${text(want)}`);
}

const hex = (b: Uint8Array): string => Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
const unhex = (s: string): Uint8Array => Uint8Array.from(s.match(/../g) ?? [], (x) => parseInt(x, 16));
const viewOf = (b: Uint8Array): DataView => new DataView(b.buffer, b.byteOffset, b.length);
const writer = (): Coder => new Coder(new DataView(new ArrayBuffer(4)), 0, true);
const reader = (b: Uint8Array): Coder => new Coder(viewOf(b), 0, false);

/** The name of the error that f throws, or its result. */
function attempt(f: () => unknown): unknown {
	try {
		return f();
	} catch (e) {
		if (e instanceof Incomplete || e instanceof Illegal || e instanceof Refused) return e.name;
		throw e;
	}
}

/** Writes by a function, reads the same bytes by it, and reads all their beginnings; illegal: they may be. */
function both<T>(pass: (x: Coder, v: T) => T, v: T, zero: T, want?: string, illegal = false): void {
	const x = writer();
	pass(x, v);
	const b = x.wrote();
	if (want !== undefined) equal(hex(b), want, "bytes of " + pass);
	const r = reader(b);
	equal(pass(r, zero), v, "value of " + pass);
	equal(r.wasRead(), b.length, "size");
	for (let i = 0; i < b.length; i++) {
		const got = attempt(() => pass(reader(b.slice(0, i)), zero));
		if (got === "Illegal" && !illegal) throw new Error(`${i} bytes of ${hex(b)} are illegal`);
	}
}

// Integers of all widths and places, in both orders, compared with one that a bit at a time gives.
const some = unhex("129ac35fe107b8643df0");
for (let off = 0; off < 16; off++) {
	for (let bits = 1; bits <= 64; bits++) {
		for (const big of [false, true]) {
			let want = 0n;
			for (let i = 0; i < bits; i++) {
				const at = off + i;
				const bit = BigInt((some[at >> 3]! >> (big ? 7 - (at % 8) : at % 8)) & 1);
				want = big ? want * 2n + bit : want + (bit << BigInt(i));
			}
			const out = new DataView(new ArrayBuffer(10));
			storeBig(out, 0, off, bits, big, want);
			equal([loadBig(viewOf(some), 0, off, bits, big), loadBig(out, 0, off, bits, big)], [want, want], `${bits} bits at ${off}, ${big}`);
			if (bits > 32) continue;
			const few = new DataView(new ArrayBuffer(10));
			store(few, 0, off, bits, big, Number(want));
			equal([load(viewOf(some), 0, off, bits, big), load(few, 0, off, bits, big)], [Number(want), Number(want)], `number of ${bits} bits at ${off}`);
		}
	}
}

// Numbers of variable size.
for (const form of ["leb", "sleb", "zigzag", "vlq"] as const) {
	for (const bits of [7, 8, 14, 31, 32, 35, 63, 64]) {
		for (const signed of [false, true]) {
			const n = coding(bits, form, false, signed, 0);
			for (let k = 0n; k < BigInt(bits); k++) {
				for (const d of [-1n, 0n, 1n]) {
					const v = signed ? BigInt.asIntN(bits, (1n << k) + d) : BigInt.asUintN(bits, (1n << k) + d);
					both((x, v) => x.integerBig(0, 0, n, v, "n"), v, 0n);
					if (bits <= 32) both((x, v) => x.integer(0, 0, n, v, "n"), Number(v), 0);
				}
			}
		}
	}
}
both((x, v) => x.integer(0, 0, coding(32, "leb", false, false, 0), v, "n"), 300, 0, "ac02");
both((x, v) => x.integer(0, 0, coding(32, "zigzag", false, true, 0), v, "n"), -2, 0, "03");
both((x, v) => x.integer(0, 0, coding(32, "vlq", false, false, 0), v, "n"), 300, 0, "822c");
both((x, v) => x.integer(0, 0, coding(16, "sleb", false, true, 0), v, "n"), -128, 0, "807f");
both((x, v) => x.integer(0, 0, coding(32, "leb", false, false, -1), v, "n"), -1, 0, "00");
equal(attempt(() => reader(unhex("ffffffffffff")).raw(0, 0, coding(32, "leb", false, false, 0), 0, "n")), "Illegal", "too long");
equal(attempt(() => reader(unhex("ffffffffffffffffff02")).rawBig(0, 0, coding(64, "leb", false, false, 0), 0n, "n")), "Incomplete", "cut at the end");
for (const [v, bits, signed] of [[256, 8, false], [-1, 8, false], [128, 8, true], [1.5, 8, false], [NaN, 8, true]] as const) {
	equal(attempt(() => (signed ? writer().signed(v, bits, "n") : writer().unsigned(v, bits, "n"))), "Refused", `${v} in ${bits} bits`);
}

// Floats of 16 bits.
for (const [raw, want] of [[0, 0], [1, 2 ** -24], [0x3ff, 1023 * 2 ** -24], [0x400, 2 ** -14], [0x3c00, 1], [0xc000, -2], [0x7bff, 65504], [0x7c00, Infinity]] as const) {
	equal([fromHalf(raw) === want, toHalf(want)], [true, raw], `half ${raw}`);
}
for (let raw = 0; raw < 65536; raw++) if (!Number.isNaN(fromHalf(raw)) && toHalf(fromHalf(raw)) !== raw) throw new Error(`half ${raw}`);

// Arithmetic.
for (const [a, b, q, m] of [[7n, 2n, 3n, 1n], [-7n, 2n, -4n, 1n], [7n, -2n, -4n, -1n], [7n, 0n, 0n, 0n], [-(1n << 63n), -1n, -(1n << 63n), 0n]] as const) {
	equal([divide(a, b), modulo(a, b)], [q, m], `${a} and ${b}`);
}
equal([shiftLeft(1n, 63n), shiftLeft(1n, 64n), shiftRight(-8n, 70n), wrap(1n << 63n), truth(true)], [-(1n << 63n), 0n, -1n, -(1n << 63n), 1n], "shifts");
equal([flag(0n, 6n, true), flag(7n, 6n, false), flag(3n, 6n, false), unless(3, false), extend(255, 8)], [6n, 1n, 3n, -1, -1], "flags");

// Texts.
for (const s of ["", "a", "Größe", "a😀", "\ud800", "long ".repeat(40)]) {
	for (const set of [latin1, utf16LE, utf8Text]) {
		const fits = set === utf16LE || (set === latin1 ? !/[^\x00-\xff]/.test(s) : s !== "\ud800");
		if (!fits) equal(attempt(() => set.encode(s, "s")), "Refused", s);
		else {
			equal(set.decode(set.encode(s, "s")), s, "text");
			equal(set.units(s) * set.unit, set.encode(s, "s").length, "units");
			both((x, v) => x.text(v, set, set.units(s), 0, "s"), s, "");
			both((x, v) => x.text(v, set, -2, 0, "s"), s, "");
		}
	}
}
equal(hex(utf8Text.encode(utf8Text.decode(unhex("61ff80c3a9c3")), "s")), "61ff80c3a9c3", "invalid UTF-8");
equal(attempt(() => writer().text("a\0b", latin1, -2, 0, "s")), "Refused", "terminator");
for (const [pad, all, want] of [[0, false, "6162000000"], [32, false, "6162202020"]] as const) {
	both((x, v) => x.fixedText(v, latin1, x.block(5), 5, all, pad, "s"), "ab", "", want);
}

// Lists, in the forms that they end in, and contents with a size.
const u8 = coding(8, "sized", false, false, 0);
const byte = (x: Coder, v: number) => x.integer(x.block(1), 0, u8, v, "byte");
type Bytes = (x: Coder, l: number[], i: number) => boolean;
const elements = (ends: Bytes, more = (_x: Coder, _l: number[], _i: number) => true) => (x: Coder, v: number[]) => {
	const l = x.writing ? v : [];
	for (let i = 0, on = true; on && ends(x, l, i); i++) {
		l[i] = byte(x, l[i]!);
		on = more(x, l, i);
	}
	return l;
};
both(elements((x, l, i) => x.next(l, i, 3, "l", () => 0)), [1, 2, 3], [], "010203");
both(elements((x, l, i) => x.next(l, i, -1, "l", () => 0)), [1, 2, 3], [], "010203");
both(elements((x, l, i) => x.ended(l, i, 255, "l", () => 0)), [1, 2, 3], [], "010203ff");
both(elements((x, l, i) => x.next(l, i, -2, "l", () => 0), (x, l, i) => x.whole(i, l.length, l[i] !== 0, "l")), [1, 2, 0], [], "010200");
equal(attempt(() => reader(new Uint8Array(9)).list([], 1 << 30, 0, "l", () => 0)), "Illegal", "forged count");
for (const n of [u8, coding(32, "leb", false, false, 0)]) {
	const wide = "x".repeat(200);
	both((x, v) => {
		const at = x.size(n === u8 ? x.block(1) : 0, 0, n, "size");
		let s = "";
		x.within(at, n, true, -2, "size", () => (s = x.text(v, latin1, -1, 0, "s")));
		byte(x, 7);
		return s;
	}, wide, "", (n === u8 ? "c8" : "c801") + "78".repeat(200) + "07");
}

// Chains: elements in any order, but none twice, and none outside.
const chained = (x: Coder, v: number[]) => {
	const b = x.block(4);
	const at = x.writing ? 8 * b : x.view.getUint16(b, true);
	const n = x.integer(b, 16, coding(16, "sized", false, false, 0), v.length, "n");
	const l = x.writing ? v : [];
	const c = x.chain(at, place(0, 16, false), n, place(0, 0, false), place(0, 16, false), "l");
	for (let i = 0; x.link(l, c, i, () => 0); i++) {
		const b = x.block(3);
		l[i] = x.integer(b, 16, u8, l[i]!, "elem");
		x.linked(c);
	}
	return l;
};
both(chained, [5, 6, 7], [], "040003000700050a0006000007", true);
for (const [text, want] of [["0a000300000005040006070007", 3], ["04000300040005040006000007", "Illegal"], ["ff000100", "Incomplete"]] as const) {
	const got = attempt(() => chained(reader(unhex(text)), []).length);
	if (got !== want) throw new Error(`chain ${text}: ${got}`);
}

// Compressed contents, as other programs write them, and as they are written here.
const plain = "to be or not to be, that is the question: ".repeat(3);
const packed: [number, string][] = [
	// PACKED
];
const within = (method: number) => (x: Coder, v: string) => {
	let s = "";
	pack(x, method, () => (s = x.text(v, utf8Text, -1, 0, "s")));
	return s;
};
for (const [method, text] of packed) {
	equal(within(method)(reader(unhex(text)), ""), plain, `method ${method}`);
	for (let i = 0; i < text.length / 2; i++) { // never anything but an error
		attempt(() => within(method)(reader(unhex(text).slice(0, i)), ""));
		const wrong = unhex(text);
		wrong[i]! ^= 0x15;
		attempt(() => within(method)(reader(wrong), ""));
	}
}
for (const method of [packedZlib, packedDeflate, packedGzip]) {
	for (const s of ["", plain, "x".repeat(70000)]) {
		const x = writer();
		within(method)(x, s);
		equal(within(method)(reader(x.wrote()), ""), s, `stored by ${method}`);
	}
}
if (packed.length < 9) throw new Error("no compressed contents");
