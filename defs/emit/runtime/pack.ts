import { Coder } from "./runtime.js";

// Compressed contents. JavaScript has no synchronous inflate that browsers share, so here is one; what is written is stored, not compressed.

export const packedZlib = 1;
export const packedDeflate = 2;
export const packedGzip = 3;

/** Passes contents that are compressed, up to the end. */
export function pack(x: Coder, method: number, body: () => void): void {
	const { view, stop, framed, base } = x;
	if (x.writing) {
		const from = x.pos;
		x.base = from;
		x.inside++;
		body();
		x.inside--;
		x.base = base;
		const plain = x.slice(from, x.pos);
		x.pos = from;
		x.append(stored(method, plain));
		x.end();
		return;
	}
	let plain: Uint8Array | undefined;
	try {
		plain = new Inflater(x.part(x.pos, stop), Math.max(x.plain, 0)).unpack(method);
	} catch (e) {
		if (!(e instanceof RangeError)) throw e;
	}
	if (!plain) return x.illegal("compressed contents", "are invalid or too large");
	x.plain -= plain.length + 1024;
	x.bytes += 4 * plain.length;
	x.elements += 4 * plain.length;
	if (x.plain < 0) x.illegal("compressed contents", "are too large");
	x.view = new DataView(plain.buffer, plain.byteOffset, plain.length);
	x.stop = plain.length;
	x.framed = true;
	x.pos = x.base = 0;
	x.inside++;
	body();
	x.inside--;
	x.view = view;
	x.stop = x.pos = stop;
	x.framed = framed;
	x.base = base;
}

/** Codes of a Huffman tree: the number of codes of each length, and their symbols. */
interface Tree {
	counts: number[];
	symbols: number[];
}

function tree(lengths: number[]): Tree {
	const counts = new Array<number>(16).fill(0);
	for (const n of lengths) counts[n]! += 1;
	counts[0] = 0;
	const symbols: number[] = [];
	let left = 1; // codes of the length that are not in use
	for (let n = 1; n < 16; n++) {
		left = 2 * left - counts[n]!;
		if (left < 0) throw new RangeError("invalid code");
		lengths.forEach((m, symbol) => m === n && symbols.push(symbol));
	}
	return { counts, symbols };
}

const fixedTree = tree(Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)));
const fixedDistances = tree(new Array<number>(30).fill(5));
const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Inflater decompresses (RFC 1950, 1951, 1952). It throws a RangeError. */
class Inflater {
	private pos = 0;
	private bit = 0;
	private out = new Uint8Array(1024);
	private size = 0;

	constructor(
		private readonly b: Uint8Array,
		private readonly most: number,
	) {}

	unpack(method: number): Uint8Array {
		if (method === packedZlib) {
			const head = this.bits(8) * 256 + this.bits(8);
			if (head % 31 !== 0 || (head & 0x0f20) !== 0x0800) throw new RangeError("no zlib");
		} else if (method === packedGzip) this.gzip();
		this.inflate();
		const plain = this.out.subarray(0, this.size);
		this.bit = 0;
		if (method === packedZlib) this.sum(adler32(plain), [24, 16, 8, 0]);
		if (method === packedGzip) this.sum(crc32(plain), [0, 8, 16, 24]);
		if (method === packedGzip) this.sum(plain.length, [0, 8, 16, 24]);
		return plain;
	}

	private gzip(): void {
		if (this.bits(16) !== 0x8b1f || this.bits(8) !== 8) throw new RangeError("no gzip");
		const flags = this.bits(8);
		this.pos += 6;
		if (flags & 4) this.pos += this.bits(16);
		for (const f of [8, 16]) if (flags & f) while (this.bits(8) !== 0);
		if (flags & 2) this.pos += 2;
	}

	private sum(want: number, shifts: number[]): void {
		for (const s of shifts) if (this.bits(8) !== ((want >>> s) & 255)) throw new RangeError("the checksum differs");
	}

	private bits(n: number): number {
		let v = 0;
		for (let i = 0; i < n; i++) {
			if (this.bit === 0) this.pos++;
			const c = this.b[this.pos - 1];
			if (c === undefined) throw new RangeError("it ends early");
			v |= ((c >> this.bit) & 1) << i;
			this.bit = (this.bit + 1) % 8;
		}
		return v;
	}

	private symbol(t: Tree): number {
		let code = 0;
		let first = 0;
		let index = 0;
		for (let n = 1; n < 16; n++) {
			code |= this.bits(1);
			const count = t.counts[n]!;
			if (code - count < first) return t.symbols[index + code - first]!;
			index += count;
			first = 2 * (first + count);
			code *= 2;
		}
		throw new RangeError("invalid code");
	}

	private put(c: number): void {
		if (this.size >= this.most) throw new RangeError("too large");
		if (this.size === this.out.length) {
			const more = new Uint8Array(2 * this.size);
			more.set(this.out);
			this.out = more;
		}
		this.out[this.size++] = c;
	}

	private inflate(): void {
		for (let final = 0; final === 0; ) {
			final = this.bits(1);
			const kind = this.bits(2);
			if (kind === 0) {
				this.bit = 0;
				const n = this.bits(16);
				if (this.bits(16) !== (n ^ 0xffff)) throw new RangeError("invalid length");
				for (let i = 0; i < n; i++) this.put(this.bits(8));
			} else if (kind === 1) this.codes(fixedTree, fixedDistances);
			else if (kind === 2) this.dynamic();
			else throw new RangeError("invalid block");
		}
	}

	private dynamic(): void {
		const literals = this.bits(5) + 257;
		const distances = this.bits(5) + 1;
		const codes = this.bits(4) + 4;
		const lengths = new Array<number>(19).fill(0);
		for (let i = 0; i < codes; i++) lengths[order[i]!] = this.bits(3);
		const t = tree(lengths);
		const all: number[] = [];
		while (all.length < literals + distances) {
			const s = this.symbol(t);
			if (s < 16) all.push(s);
			else if (s === 16) all.push(...new Array<number>(3 + this.bits(2)).fill(all[all.length - 1] ?? 99));
			else all.push(...new Array<number>(s === 17 ? 3 + this.bits(3) : 11 + this.bits(7)).fill(0));
		}
		if (all.length > literals + distances || all.includes(99)) throw new RangeError("invalid lengths");
		this.codes(tree(all.slice(0, literals)), tree(all.slice(literals)));
	}

	private codes(lengths: Tree, distances: Tree): void {
		for (let s = this.symbol(lengths); s !== 256; s = this.symbol(lengths)) {
			if (s < 256) this.put(s);
			else {
				const k = s - 257;
				if (k > 28) throw new RangeError("invalid length");
				const extra = k < 8 || k === 28 ? 0 : (k - 4) >> 2;
				const n = k === 28 ? 258 : (k < 8 ? k + 3 : ((4 + (k % 4)) << extra) + 3) + this.bits(extra);
				const d = this.symbol(distances);
				if (!(d < 30)) throw new RangeError("invalid distance");
				const more = d < 4 ? 0 : (d - 2) >> 1;
				const back = (d < 4 ? d : (2 + (d % 2)) << more) + 1 + this.bits(more);
				if (back > this.size) throw new RangeError("invalid distance");
				for (let i = 0; i < n; i++) this.put(this.out[this.size - back]!);
			}
		}
	}
}

function adler32(b: Uint8Array): number {
	let low = 1;
	let high = 0;
	for (const c of b) {
		low = (low + c) % 65521;
		high = (high + low) % 65521;
	}
	return high * 65536 + low;
}

function crc32(b: Uint8Array): number {
	let crc = -1;
	for (const c of b) {
		crc ^= c;
		for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc >>> 0;
}

/** Returns the form of compressed contents in which they are as they are. */
function stored(method: number, plain: Uint8Array): Uint8Array {
	const out = [...[[], [0x78, 0x01], [], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]][method]!];
	for (let i = 0; i === 0 || i < plain.length; i += 65535) {
		const n = Math.min(65535, plain.length - i);
		out.push(i + n === plain.length ? 1 : 0, n & 255, n >> 8, ~n & 255, (~n >> 8) & 255);
		for (let k = i; k < i + n; k++) out.push(plain[k]!);
	}
	const bytes = (v: number, shifts: number[]) => shifts.forEach((s) => out.push((v >>> s) & 255));
	if (method === packedZlib) bytes(adler32(plain), [24, 16, 8, 0]);
	if (method === packedGzip) bytes(crc32(plain), [0, 8, 16, 24]);
	if (method === packedGzip) bytes(plain.length, [0, 8, 16, 24]);
	return Uint8Array.from(out);
}
