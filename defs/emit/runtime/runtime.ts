// What the TypeScript code of package emit needs, see the comment of package runtime: functions pass the values of a message, in wire order, to
// a Coder, for both directions. Only these errors are exported by what is emitted.

/** More bytes could complete the message. Nothing was read. */
export class Incomplete extends Error {
	constructor() {
		super("incomplete message");
		this.name = "Incomplete";
	}
}

/** The message is invalid, regardless of further bytes. Nothing was read. */
export class Illegal extends Error {
	constructor(field: string, what: string) {
		super(`illegal message: ${field}: ${what}`);
		this.name = "Illegal";
	}
}

/** A value that cannot be written. */
export class Refused extends Error {
	constructor(field: string, what: string) {
		super(`${field}: ${what}`);
		this.name = "Refused";
	}
}

const maxDepth = 512; // of values in themselves

/** The encoding of an integer: its bits, in groups of seven unless it is sized; the value is the sent number plus add. */
export interface Coding {
	bits: number;
	form: "sized" | "leb" | "sleb" | "zigzag" | "vlq" | "wide" | "wideSigned"; // those of 64 bits, of which the low ones are the number
	big: boolean;
	signed: boolean;
	add: number;
	exact: bigint; // add, which may have more bits than a number
}

export function coding(bits: number, form: Coding["form"], big: boolean, signed: boolean, add: number, exact = BigInt(add)): Coding {
	return { bits, form, big, signed, add, exact };
}

/** The place of a number in a block, in bits. */
export interface Place {
	off: number;
	bits: number;
	big: boolean;
}

export const place = (off: number, bits: number, big: boolean): Place => ({ off, bits, big });

/** A list whose elements have the offset of the next one, and may have their own. */
interface Chain {
	at: number; // reading: the next element. Writing: the place of its offset, which has the form of to
	to: Place;
	here: Place;
	next: Place;
	n: number;
	back: number;
	elem: number; // the start of the element
	field: string;
}

/** What surrounds a part, of messages that depend on positions, which count from the start of the message or of decompressed contents. */
interface Around {
	view?: DataView; // reading: the message, or decompressed contents
	end: number; // reading: of the view
	closed: boolean; // framed of the view
	from: number; // where the innermost contents with a size begin
	limit: number; // writing: where they end; unknownEnd: it is not known
	packed: boolean; // it is decompressed contents, or has a key
	far: number; // before them
}

const unknownEnd = 2 ** 62; // where bytes end that are still being written: beyond every message
const nowhere: Around = { end: 0, closed: false, from: 0, limit: unknownEnd, packed: false, far: 0 };

/** A run of bytes. */
interface Void {
	from: number;
	to: number;
}

/** Contents at a position. */
interface Piece {
	at: number;
	b: Uint8Array;
	voids: Void[];
	field: string;
}

/** The state of reading or writing a message. Positions are bytes. Integers of up to 32 bits are numbers, others have methods of their own. */
export class Coder {
	pos = 0; // the next byte
	stop: number; // reading: the end of the message, or of the contents that are read. Writing: of the bytes that may not be 0
	base = 0; // start of the message, or of decompressed contents
	framed = false; // reading: no bytes after the end can help
	inside = 0; // depth of contents with an end of their own
	last = -1; // writing: the message must end here; -1: anywhere
	far = 0; // reading: the end of contents at offsets
	least = 0; // reading: the bytes that all counts so far require, if the message is measured
	elements = 0; // remaining elements of all lists
	bytes = 0; // remaining bytes of all contents
	plain = 4194304; // remaining bytes of decompressed contents
	depth = 0;

	around = nowhere; // of messages that depend on positions
	pieces: Piece[] = []; // writing: contents at positions
	voids: Void[] = []; // writing: bytes that belong to nothing
	asked = false; // writing: something depends on the size of the message
	guess?: number; // writing: that size

	constructor(
		public view: DataView,
		readonly header: number, // bytes; offsets into it are invalid
		readonly writing: boolean,
	) {
		this.stop = 0;
		if (!writing) this.budget(view.byteLength);
	}

	budget(size: number): void {
		this.stop = size;
		this.elements = 65536 + 4 * size;
		this.bytes = 1048576 + 4 * size;
	}

	illegal(field: string, what: string): never {
		if (this.writing) throw new Refused(field, what);
		throw new Illegal(field, what);
	}

	/** Fails for contents that extend past the end of the data. */
	over(field: string): never {
		if (this.framed) this.illegal(field, "extends past the end of its contents");
		throw new Incomplete();
	}

	/** Returns a number near the start of the message. */
	peek(off: number, bits: number, big: boolean): number {
		if (Math.ceil((off + bits) / 8) > this.stop) throw new Incomplete();
		return loadAny(this.view, 0, off, bits, big);
	}

	/** Limits reading to the size of the message, which is in its header. */
	frame(off: number, bits: number, big: boolean): void {
		const size = this.peek(off, bits, big);
		if (size < this.header) this.illegal("length", `is ${size}`);
		if (size > this.stop) throw new Incomplete();
		this.budget(size);
		this.framed = true;
	}

	/** Checks the number that selects the message. */
	code(off: number, bits: number, big: boolean, want: number): void {
		const code = this.peek(off, bits, big);
		if (code !== want) this.illegal("code", `is ${code}`);
	}

	/** Checks that there are the bytes that all messages have; need adds those of n units beyond the least number; sized checks the sum. */
	measure(least: number): void {
		this.least = least;
		this.sized();
	}

	need(n: number, lo: number, size: number): void {
		this.least = Math.min(this.least + (n - lo) * size, 2 ** 32);
	}

	sized(): void {
		if (!this.writing && this.least > this.stop) throw new Incomplete();
	}

	/** Returns the size of the message that was read. */
	wasRead(): number {
		return this.framed ? this.stop : Math.max(this.pos, this.far);
	}

	/** Returns the bytes of the message that was written. */
	wrote(): Uint8Array {
		if (this.last >= 0 && this.pos - this.base > this.last) this.illegal("a part at the end of the message", "it is followed by other parts");
		return this.slice(0, this.pos);
	}

	/** Sets the size of the message in its header. */
	length(off: number, bits: number, big: boolean): void {
		this.put(off, bits, big, this.pos, "length");
	}

	/** Sets a size or an offset, at a place in bits. */
	put(at: number, bits: number, big: boolean, v: number, field: string): void {
		this.fits(v < power(bits), bits, field);
		if (bits <= 32) store(this.view, 0, at, bits, big, v);
		else storeBig(this.view, 0, at, bits, big, BigInt(v));
	}

	/** Fails unless a value fits its bits. */
	fits(ok: boolean, bits: number, field: string): void {
		if (!ok) this.illegal(field, `the value does not fit ${bits} bits`);
	}

	/** Fails unless a value is legal. */
	check(ok: boolean, field: string): void {
		if (!ok) this.illegal(field, "the value is outside its legal range");
	}

	/** Limits the work to a fixed multiple of the size of the message. */
	spend(elements: number, bytes: number, field: string): void {
		this.elements -= elements;
		this.bytes -= bytes;
		if (this.elements < 0 || this.bytes < 0) this.illegal(field, "requires more work than the size of the message allows");
	}

	/** Begins a value that may contain itself, leave ends it. */
	enter(field: string): void {
		if (++this.depth > maxDepth) this.illegal(field, "is nested too deeply");
		if (!this.writing) this.spend(1, 0, field);
	}

	leave(): void {
		this.depth--;
	}

	/** Returns the position of the next n bytes: when writing, zeros to be set. */
	block(n: number): number {
		const at = this.pos;
		if (this.writing) this.grow(n);
		else {
			if (n > this.stop - at) this.over("a part of fixed size");
			this.spend(0, n, "a part of fixed size");
		}
		this.pos = at + n;
		return at;
	}

	/** Makes room for n more bytes, and clears them. */
	grow(n: number): void {
		if (this.pos + n > this.view.byteLength) {
			const more = new Uint8Array(2 * (this.pos + n));
			more.set(this.part(0, this.pos));
			this.view = new DataView(more.buffer);
		} else if (this.stop > this.pos) this.part(this.pos, this.pos + n).fill(0); // what was moved or compressed
		this.stop = Math.max(this.stop, this.pos + n);
	}

	part(from: number, to: number): Uint8Array {
		return new Uint8Array(this.view.buffer, this.view.byteOffset + from, to - from);
	}

	slice(from: number, to: number): Uint8Array {
		return this.part(from, to).slice();
	}

	append(b: Uint8Array): void {
		this.grow(b.length);
		this.part(this.pos, this.pos + b.length).set(b);
		this.pos += b.length;
	}

	byte(c: number): void {
		this.grow(1);
		this.view.setUint8(this.pos++, c);
	}

	/** Returns an integer that is written. */
	int(v: number | bigint | boolean, field: string): bigint {
		if (typeof v === "number" && !Number.isInteger(v)) this.illegal(field, `${v} is not an integer`);
		return BigInt(v);
	}

	/** Returns the bits of an integer that is written. */
	unsigned(v: number, bits: number, field: string): number {
		if (!(v >= 0 && v < power(bits) && Number.isInteger(v))) this.fits(false, bits, field);
		return v;
	}

	signed(v: number, bits: number, field: string): number {
		if (!(v >= -power(bits - 1) && v < power(bits - 1) && Number.isInteger(v))) this.fits(false, bits, field);
		return v < 0 ? v + power(bits) : v;
	}

	unsignedBig(v: bigint, bits: number, field: string): bigint {
		this.fits(BigInt.asUintN(bits, (v = this.int(v, field))) === v, bits, field);
		return v;
	}

	signedBig(v: bigint, bits: number, field: string): bigint {
		this.fits(BigInt.asIntN(bits, (v = this.int(v, field))) === v, bits, field);
		return BigInt.asUintN(bits, v);
	}

	single(v: number, field: string): number {
		if (Number.isFinite(v) && !Number.isFinite(Math.fround(v))) this.fits(false, 32, field);
		return v;
	}

	/** Passes the bits of an integer: at off bits of a block, or in a variable number of bytes. */
	raw(b: number, off: number, n: Coding, v: number, field: string): number {
		if (n.form !== "sized") return Number(this.rawBig(b, off, n, BigInt(v), field));
		if (!this.writing) return load(this.view, b, off, n.bits, n.big);
		store(this.view, b, off, n.bits, n.big, v);
		return v;
	}

	rawBig(b: number, off: number, n: Coding, v: bigint, field: string): bigint {
		if (n.form !== "sized") {
			if (!this.writing) return this.readVar(n, field);
			this.appendVar(n, v);
		} else if (this.writing) storeBig(this.view, b, off, n.bits, n.big, v);
		else return loadBig(this.view, b, off, n.bits, n.big);
		return v;
	}

	/** Reads the bits of a number in a variable number of bytes. */
	readVar(n: Coding, field: string): bigint {
		const most = n.form === "wide" || n.form === "wideSigned" ? 10 : Math.ceil(n.bits / 7);
		let v = 0n;
		let few = 0; // the first four groups
		for (let size = 1; size <= most; size++) {
			if (this.pos + size > this.stop) this.over(field);
			const c = this.view.getUint8(this.pos + size - 1);
			if (size === 10 && (n.form === "vlq" ? v >> 57n !== 0n : n.form !== "sleb" && (c & 127) > 1)) break; // bits would be cut
			if (size < 5) few = n.form === "vlq" ? (few << 7) | (c & 127) : few | ((c & 127) << (7 * (size - 1)));
			if (size === 4 || (c < 128 && size < 4)) v = BigInt(few);
			if (size > 4) v = n.form === "vlq" ? (v << 7n) | BigInt(c & 127) : v | (BigInt(c & 127) << BigInt(7 * (size - 1)));
			if (c >= 128) continue;
			this.pos += size;
			this.spend(0, size, field);
			v = n.form === "sleb" ? BigInt.asIntN(Math.min(7 * size, 64), v) : BigInt.asUintN(n.bits, v);
			if (n.form === "zigzag") v = (v >> 1n) ^ -(v & 1n);
			return BigInt.asUintN(n.bits, v);
		}
		if (this.pos + most >= this.stop) this.over(field);
		return this.illegal(field, "the number is too long");
	}

	/** Appends the shortest encoding of the bits of a number. */
	appendVar(n: Coding, v: bigint): void {
		const s = BigInt.asIntN(n.bits, v);
		if (n.form === "zigzag") v = s < 0n ? -2n * s - 1n : 2n * s;
		if (n.form === "wideSigned") v = BigInt.asUintN(64, s);
		if (n.form === "sleb") {
			for (v = s; v >> 6n !== 0n && v >> 6n !== -1n; v >>= 7n) this.byte(Number(v & 127n) | 128);
			v &= 127n;
		} else if (n.form === "vlq") {
			let shift = 0n;
			while (v >> (shift + 7n)) shift += 7n;
			for (; shift > 0n; shift -= 7n) this.byte(Number((v >> shift) & 127n) | 128);
			v &= 127n;
		}
		for (; v >= 128n; v >>= 7n) this.byte(Number(v & 127n) | 128);
		this.byte(Number(v));
	}

	/** Passes an integer. */
	integer(b: number, off: number, n: Coding, v: number, field: string): number {
		if (this.writing) {
			const raw = n.signed ? this.signed(v - n.add, n.bits, field) : this.unsigned(v - n.add, n.bits, field);
			if (n.form === "leb" && raw < 128) this.byte(raw);
			else this.raw(b, off, n, raw, field);
			return v;
		}
		if (n.form === "leb" && this.pos < this.stop && n.bits > 6) {
			const c = this.view.getUint8(this.pos); // most numbers
			if (c < 128 && this.bytes > 0) {
				this.pos++;
				this.bytes--;
				return valueOf(n, c);
			}
		}
		return valueOf(n, this.raw(b, off, n, 0, field));
	}

	integerBig(b: number, off: number, n: Coding, v: bigint, field: string): bigint {
		if (this.writing) {
			const raw = this.int(v, field) - n.exact;
			this.rawBig(b, off, n, n.signed ? this.signedBig(raw, n.bits, field) : this.unsignedBig(raw, n.bits, field), field);
			return v;
		}
		const raw = this.rawBig(b, off, n, 0n, field);
		return (n.signed ? BigInt.asIntN(n.bits, raw) : raw) + n.exact;
	}

	/** Passes a float of 16 bits, or one with a scale. */
	float(b: number, off: number, n: Coding, v: number, scale: number, field: string): number {
		const view = new DataView(new ArrayBuffer(8));
		v *= 1 / scale;
		if (n.bits === 64) view.setFloat64(0, v);
		else if (n.bits === 32) view.setFloat32(0, this.writing ? this.single(v, field) : v);
		else view.setUint16(0, toHalf(v));
		storeBig(view, 0, 0, n.bits, true, this.rawBig(b, off, n, loadBig(view, 0, 0, n.bits, true), field));
		return (n.bits === 64 ? view.getFloat64(0) : n.bits === 32 ? view.getFloat32(0) : fromHalf(view.getUint16(0))) * scale;
	}

	/** Rounds a number of units. Of those that are read it is 0. */
	units(f: number, n: Coding, wrap: boolean, cut: boolean, field: string): number {
		if (!this.writing) return 0;
		if (!Number.isFinite(f)) this.illegal(field, "the value is not a number");
		f = cut ? Math.trunc(f) : Math.floor(f + 0.5);
		const turn = 2 ** n.bits;
		if (wrap) f %= turn;
		else this.fits(n.signed ? f >= -turn / 2 && f < turn / 2 : f >= 0 && f < turn, n.bits, field);
		return f < 0 ? f + turn : f + 0; // not -0
	}

	unitsBig(f: number, n: Coding, wrap: boolean, cut: boolean, field: string): bigint {
		return BigInt.asUintN(n.bits, BigInt(this.units(f, n, wrap, cut, field)));
	}

	/** Checks a number of units. */
	counted(n: number, lo: number, hi: number, field: string): void {
		if (n < lo || n > hi) this.illegal(field, `there are ${n} units, the legal range is ${lo} to ${hi}`);
	}

	/** Passes a number of units. absent: -1 means that there are no contents. */
	count(b: number, off: number, n: Coding, units: number, lo: number, hi: number, absent: boolean, field: string): number {
		if (this.writing) this.rawBig(b, off, n, this.rawSize(units, n, field), field);
		else units = sizeOf(n, this.rawBig(b, off, n, 0n, field));
		if (!absent || units !== -1) this.counted(units, lo, Math.min(hi, 2 ** 63 - 1024), field);
		return units;
	}

	rawSize(size: number, n: Coding, field: string): bigint {
		const raw = BigInt.asUintN(n.bits, BigInt(size - n.add));
		this.fits(sizeOf(n, raw) === size, n.bits, field);
		return raw;
	}

	/** Passes the size of contents that follow. Writing returns its place, for setSize. */
	size(b: number, off: number, n: Coding, field: string): number {
		const at = n.form === "sized" ? 8 * b + off : this.pos;
		const v = this.rawBig(b, off, n, 0n, field);
		return this.writing ? at : sizeOf(n, v);
	}

	/** Sets a size at a place. One of variable size moves what follows. */
	setSize(at: number, n: Coding, size: number, field: string): void {
		const raw = this.rawSize(size, n, field);
		if (n.form === "sized") storeBig(this.view, 0, at, n.bits, n.big, raw);
		else {
			const after = this.slice(at + 1, this.pos);
			this.pos = at;
			this.appendVar(n, raw);
			this.append(after);
		}
	}

	/** Begins contents at an offset, unless none says that there are none to read, and returns where to go back to, or -1. */
	seek(at: number, bits: number, big: boolean, none: boolean, field: string): number {
		if (this.writing) {
			this.put(at, bits, big, this.pos - this.base, field);
			return 0;
		}
		return none ? -1 : this.jump(at, field);
	}

	jump(at: number, field: string): number {
		const back = this.pos;
		if (at < this.header) this.illegal(field, "the offset is inside the header");
		if (at > this.stop) this.over(field);
		this.pos = at;
		return back;
	}

	/** Ends contents at an offset. */
	back(to: number): void {
		if (this.writing) return;
		this.far = Math.max(this.far, this.pos);
		this.pos = to;
	}

	/** Begins a list of n elements with offsets. Reading checks the offsets of all of them first. */
	chain(at: number, to: Place, n: number, here: Place, next: Place, field: string): Chain {
		const c = { at, to, here, next, n, back: this.pos, elem: 0, field };
		if (this.writing || n === 0) return c;
		this.spend(n, 0, field);
		const follow = (at: number): number => {
			if (at < this.header || at > this.stop || Math.ceil((next.off + next.bits) / 8) > this.stop - at) return -1;
			return loadAny(this.view, at, next.off, next.bits, next.big) || -1;
		};
		let rising = true;
		for (let pos = at, i = 1; i < n; i++) {
			const to = follow(pos);
			if (to < 0) this.illegal(field, "the chain of elements ends early, or points outside the message");
			rising &&= to > pos;
			pos = to;
		}
		if (rising) return c;
		// Elements may be in any order, but not repeated: find the cycle (R. P. Brent, 1980) and check that all elements precede its end.
		let [slow, fast, power, length] = [at, follow(at), 1, 1];
		for (; slow !== fast && fast >= 0; length++) {
			if (power === length) [slow, power, length] = [fast, power * 2, 0];
			fast = follow(fast);
		}
		if (fast < 0) return c;
		slow = fast = at;
		for (let i = 0; i < length; i++) fast = follow(fast);
		for (; slow !== fast; length++) [slow, fast] = [follow(slow), follow(fast)];
		if (n > length) this.illegal(field, "the chain of elements has a cycle");
		return c;
	}

	/** Begins element i of a chain, and reports whether there is one. linked ends it. */
	link<T>(l: T[], c: Chain, i: number, make: () => T): boolean {
		if (this.writing) {
			if (i >= l.length) return false;
			c.elem = this.pos;
			this.put(c.at, c.to.bits, c.to.big, c.elem - this.base, c.field);
			c.at = 8 * c.elem + c.next.off;
			c.to = c.next;
			return true;
		}
		if (i >= c.n) {
			this.pos = c.back;
			return false;
		}
		this.jump(c.at, c.field);
		c.elem = c.at;
		l.push(make());
		return true;
	}

	linked(c: Chain): void {
		if (!this.writing) {
			c.at = loadAny(this.view, c.elem, c.next.off, c.next.bits, c.next.big); // the element has the bytes
			this.far = Math.max(this.far, this.pos);
		} else if (c.here.bits > 0) this.put(8 * c.elem + c.here.off, c.here.bits, c.here.big, c.elem - this.base, c.field);
	}

	/** Passes contents of a size that was passed before, by body. absent is the size of those that are not there, or below -1. */
	within(at: number, n: Coding, some: boolean, absent: number, field: string, body: () => void): void {
		if (this.writing) {
			const from = this.pos;
			this.inside++;
			if (some) body();
			this.inside--;
			this.setSize(at, n, some ? this.pos - from : absent, field);
			return;
		}
		if (absent >= -1 && at === absent) return;
		if (at < 0) this.illegal(field, "the size is below 0");
		if (at > this.stop - this.pos) this.over(field);
		const { stop, framed } = this;
		const to = this.pos + at;
		this.stop = to;
		this.framed = true;
		this.inside++;
		body();
		this.inside--;
		this.stop = stop;
		this.framed = framed;
		this.pos = to;
	}

	/** Records that the message must end here, unless contents with an end of their own do. */
	end(): void {
		if (this.writing && this.last < 0 && this.inside === 0) this.last = this.pos - this.base;
	}

	/** Reports whether optional part i is present; parts is the number of those that are written. */
	optional(parts: number, i: number): boolean {
		if (!this.writing) return this.pos < this.stop;
		if (parts < i) this.end();
		return parts >= i;
	}

	/** Passes padding up to a multiple of n bytes. */
	align(n: number): void {
		this.block((n - ((this.pos - this.base) % n)) % n);
	}

	/** Passes bytes of a block. */
	constant(b: number, at: number, want: string): void {
		for (let i = 0; i < want.length; i++) {
			if (this.writing) this.view.setUint8(b + at + i, want.charCodeAt(i));
			else if (this.view.getUint8(b + at + i) !== want.charCodeAt(i)) this.illegal("constant bytes", "differ");
		}
	}

	/** Passes a number of variable size that the message alone determines. */
	known(n: Coding, want: number, field: string): void {
		if (this.rawBig(0, 0, n, BigInt(want), field) !== BigInt(want)) this.illegal(field, "is that of another message");
	}

	/** Returns the position of n units of the given size, or of those up to the end if n is -1, and moves past them. */
	content(n: number, unit: number, field: string): number {
		const left = Math.floor((this.stop - this.pos) / unit);
		if (n < 0) n = left;
		if (n > left) this.over(field);
		this.spend(0, n * unit, field);
		this.pos += n * unit;
		return this.pos - n * unit;
	}

	/** Checks that contents have n units, unless any number is legal. */
	exactly(size: number, n: number, field: string): void {
		if (n >= 0 && size !== n) this.illegal(field, `there are ${size} units where ${n} are required`);
	}

	/** Passes a text of n units, up to the end if n is -1, or up to the byte end if n is -2. */
	text(s: string, set: Charset, n: number, end: number, field: string): string {
		const unit = set.unit;
		if (n === -1 && this.writing) {
			this.append(set.encode(s, field));
			this.end();
		} else if (this.writing) {
			const b = set.encode(s, field);
			if (n >= 0) this.exactly(b.length / unit, n, field);
			else if (n === -2 && find(b, unit, end) < b.length) this.illegal(field, "the text contains a terminator");
			this.append(b);
			if (n === -2) this.byte(end);
			if (n === -2 && unit === 2) this.byte(0);
		} else if (n !== -2) {
			const at = this.content(n, unit, field);
			return set.decode(this.part(at, this.pos));
		} else {
			const b = this.part(this.pos, this.stop);
			const size = find(b, unit, end);
			if (size + unit > b.length) this.over(field);
			this.spend(0, size, field);
			this.pos += size + unit;
			return set.decode(b.subarray(0, size));
		}
		return s;
	}

	/** Passes n bytes, or those up to the end if n is -1. */
	blob(b: Uint8Array, n: number, field: string): Uint8Array {
		if (this.writing) {
			this.exactly(b.length, n, field);
			this.append(b);
			if (n === -1) this.end();
			return b;
		}
		const at = this.content(n, 1, field);
		return this.slice(at, this.pos);
	}

	/** Sets the bytes of a block. */
	fill(at: number, n: number, b: Uint8Array, field: string): void {
		this.exactly(b.length, n, field);
		this.part(at, at + n).set(b);
	}

	/** Passes a text that has n bytes of a block, and ends before the last run of pad bytes; all: it does not. */
	fixedText(s: string, set: Charset, at: number, n: number, all: boolean, pad: number, field: string): string {
		const b = this.part(at, at + n);
		if (this.writing) {
			const text = set.encode(s, field);
			if (text.length > n || (all && text.length < n && text.length > 0)) this.illegal(field, `there are ${text.length} bytes where ${n} fit`);
			b.set(text);
			if (pad !== 0) b.fill(pad, text.length);
			return s;
		}
		let size = all || pad !== 0 ? n : find(b, set.unit, 0);
		while (!all && pad !== 0 && size > 0 && b[size - 1] === pad) size--;
		return set.decode(b.subarray(0, size));
	}

	/** Begins a list of n elements of size bytes each, or of those up to the end if n is -1, and returns the position of their bytes. */
	blocks<T>(l: T[], n: number, size: number, field: string, make?: () => T): number {
		if (n < 0 && !this.writing) {
			n = Math.floor((this.stop - this.pos) / size);
			if (this.pos + n * size < this.stop) this.over(field);
		}
		return this.block(this.list(l, n, size, field, make) * size);
	}

	/** Begins a list of n elements of at least size bytes, and returns their number. */
	list<T>(l: T[], n: number, size: number, field: string, make?: () => T): number {
		if (this.writing) {
			this.exactly(l.length, n, field);
			return l.length;
		}
		if (n * size > this.stop - this.pos) this.over(field);
		this.spend(n, 0, field);
		if (make) for (let i = 0; i < n; i++) l.push(make());
		return n;
	}

	/** Begins element i of a list of n elements, of those up to the end if n is -1, and reports whether there is one. */
	next<T>(l: T[], i: number, n: number, field: string, make: () => T): boolean {
		if (this.writing) {
			if (i === 0) this.exactly(l.length, n, field);
			if (n === -1 && i === l.length) this.end();
			return i < l.length;
		}
		if (i === n || (n === -1 && this.pos >= this.stop)) return false;
		this.spend(1, 0, field);
		l.push(make());
		return true;
	}

	/** Reports whether an element of a list up to the end had bytes; without any the list would not end. */
	moved(from: number): boolean {
		return this.writing || this.pos > from;
	}

	/** next for a list that the byte end ends. */
	ended<T>(l: T[], i: number, end: number, field: string, make: () => T): boolean {
		if (this.writing && i === l.length) {
			this.byte(end);
			return false;
		}
		if (!this.writing && this.pos >= this.stop) this.over(field);
		if (!this.writing && this.view.getUint8(this.pos) === end) {
			this.pos++;
			return false;
		}
		return this.next(l, i, -2, field, make);
	}

	/** Checks the last element of a list that a condition ends. */
	whole(i: number, n: number, more: boolean, field: string): boolean {
		if (this.writing && more === (i === n - 1)) this.illegal(field, "the condition that ends the list does not hold for its last element, or for an earlier one");
		return more;
	}

	/** Checks that an element of a list that the byte end ends does not begin with it. */
	begin(from: number, end: number, field: string): void {
		if (this.writing && (this.pos === from || this.view.getUint8(from) === end)) this.illegal(field, "an element begins with the end of the list");
	}

	/** Returns a computed number of units. */
	amount(n: bigint | number, field: string): number {
		const v = Number(typeof n === "bigint" ? BigInt.asIntN(64, n) : n);
		if (v < 0 || v > 0x7fffffff) this.illegal(field, `the computed number of units is ${v}`);
		return v;
	}

	/** Begins a message whose parts depend on positions. */
	opens(): void {
		this.around = { ...nowhere, view: this.view, end: this.stop, closed: this.framed };
	}

	/** Reports whether the message is to be written again, now that its size is known. */
	retry(): boolean {
		if (!this.asked) return false;
		this.guess = this.pos;
		this.asked = false;
		this.pos = this.stop = this.depth = 0;
		this.last = -1;
		this.view = new DataView(new ArrayBuffer(256));
		this.pieces = [];
		this.voids = [];
		return true;
	}

	/** Returns the size of the message. */
	total(): number {
		if (!this.writing) return this.stop;
		if (this.guess === undefined) this.asked = true;
		return this.guess ?? unknownEnd;
	}

	/** Returns the position of the next part. */
	at(): number {
		return this.pos - this.base;
	}

	/** Returns the position at which the innermost contents with a size end. */
	to(): number {
		return this.writing ? this.around.limit : this.stop;
	}

	/** Where the innermost contents with a size begin. */
	get from(): number {
		return this.around.from;
	}

	set from(at: number) {
		this.around = { ...this.around, from: at };
	}

	/** Returns the position at which contents end that were passed, if it was not known before. */
	stopped(at: number): number {
		return this.writing && at > unknownEnd / 2 ? this.at() : at;
	}

	/** Reports whether what is written cannot depend on where contents end, or on what follows. */
	unsure(follows: boolean): boolean {
		return this.writing && (follows || this.around.limit > unknownEnd / 2);
	}

	/** Begins contents with a size that is sent, or that are packed. same: they have as many bytes as they are sent with. */
	inner(packed: boolean, same: boolean): Around {
		const was = { ...this.around, far: this.far };
		const from = this.at();
		const room = was.limit - was.from;
		const limit = packed && same && room < unknownEnd / 2 ? from + room : unknownEnd;
		this.around = { ...was, from, limit, packed: was.packed || packed };
		if (packed && !this.writing) Object.assign(this.around, { view: this.view, end: this.stop, closed: true });
		return was;
	}

	/** Ends them. */
	outer(was: Around): void {
		if (this.around.packed && !this.writing) this.far = was.far;
		this.around = was;
	}

	/** Passes contents of a computed size, by body. Those that are written are filled up. */
	window(n: bigint, field: string, body: () => void): void {
		const size = Number(BigInt.asIntN(64, n));
		const from = this.at();
		const was = this.around;
		const known = !this.writing || size <= unknownEnd / 2;
		if (known && (size < 0 || size > 2 ** 28)) this.illegal(field, `the size is ${size}`);
		if (!this.writing && size > this.stop - this.pos) this.over(field);
		const { stop, framed } = this;
		this.around = { ...was, from, limit: this.writing && known ? from + size : unknownEnd };
		if (!this.writing) {
			this.stop = this.pos + size;
			this.framed = true;
		}
		this.inside++;
		body();
		this.inside--;
		this.around = was;
		if (!this.writing) {
			this.pos = this.stop;
			this.stop = stop;
			this.framed = framed;
		} else if (known) {
			const more = from + size - this.at();
			if (more < 0) this.illegal(field, `there are ${size - more} bytes where ${size} are required`);
			if (more > 0) this.voids.push({ from: this.pos, to: this.pos + more });
			this.append(new Uint8Array(more));
		}
	}

	/** Passes contents at a position, by body. within: they are in the innermost contents around that have a size. */
	place(at: bigint, within: boolean, header: number, field: string, body: () => void): void {
		const { around, view, stop, framed, inside } = this;
		if (!within && inside > 0) {
			this.around = { ...around, from: 0, limit: unknownEnd };
			if (!this.writing) {
				this.view = around.view!;
				this.stop = around.end;
				this.framed = around.closed;
				this.inside = 0;
			}
		}
		this.aside(at, header, field, body);
		Object.assign(this, this.writing ? { around, inside } : { around, view, stop, framed, inside });
	}

	/** Passes contents at a position in others. */
	placeIn(at: bigint, from: number, to: number, header: number, field: string, body: () => void): void {
		const { around, view, stop, framed, inside, far } = this;
		this.around = { ...around, from, limit: to };
		if (!this.writing) {
			this.view = around.view!;
			this.stop = Math.min(to, around.end);
			this.framed = true;
			this.inside = 1;
		}
		this.aside(at, header, field, body);
		Object.assign(this, this.writing ? { around, inside } : { around, view, stop, framed, inside, far });
	}

	aside(where: bigint, header: number, field: string, body: () => void): void {
		const at = Number(BigInt.asUintN(64, where));
		const { pos, view, stop, base, voids } = this;
		if (at < header) this.illegal(field, "the position is inside the header");
		if (this.writing) {
			if (this.around.packed) this.illegal(field, "it is at a position in compressed contents");
			if (at > 2 ** 28) this.illegal(field, `the position is ${at}`);
			const piece: Piece = { at, b: new Uint8Array(0), voids: [], field };
			this.pieces.push(piece);
			Object.assign(this, { view: new DataView(new ArrayBuffer(256)), pos: 0, stop: 0, base: -at, voids: piece.voids, inside: 0 });
			body();
			piece.b = this.slice(0, this.pos);
			Object.assign(this, { view, pos, stop, base, voids });
			return;
		}
		if (at > this.stop) this.over(field);
		this.pos = at;
		body();
		this.far = Math.max(this.far, this.pos);
		this.pos = pos;
	}

	/** Writes the contents at positions, which may be in the bytes of others if these are the same. */
	settle(): void {
		if (this.pieces.length === 0) return;
		const owned: boolean[] = new Array<boolean>(this.pos).fill(true);
		for (const v of this.voids) owned.fill(false, v.from, v.to);
		for (const p of this.pieces) {
			if (p.at > this.pos + 2 ** 22) this.illegal(p.field, "too many bytes before it would belong to nothing");
			if (p.b.length > 0 && p.at > this.pos) {
				owned.length = p.at;
				this.append(new Uint8Array(p.at - this.pos));
			}
			p.b.forEach((c, i) => {
				const k = p.at + i;
				const mine = !p.voids.some((v) => i >= v.from && i < v.to);
				if (k === this.pos) this.byte(c);
				else if (!mine) return;
				else if (owned[k] && this.view.getUint8(k) !== c) this.illegal(p.field, "other contents have other bytes there");
				else this.view.setUint8(k, c);
				owned[k] = mine;
			});
		}
		for (const p of this.pieces) if (p.at > this.pos) this.illegal(p.field, "its position is outside of the message");
		if (this.guess !== undefined && this.pos !== this.guess) this.illegal("the size of the message", "depends on contents at positions, and they on it");
	}

	/** Reports whether constant bytes at the end of contents with a size are there, or have room. */
	closes(n: number): boolean {
		return this.writing ? this.at() + n <= this.around.limit : this.pos < this.stop;
	}

	/** Returns the number of bytes up to a byte; bits of how: with it, and one more than there is if it is missing. */
	seekByte(c: bigint, how: bigint): bigint {
		if (this.writing) return BigInt(unknownEnd);
		const rest = this.part(this.pos, this.stop);
		const n = rest.indexOf(Number(c & 255n));
		this.spend(0, n < 0 ? rest.length : n, "a search");
		return BigInt(n < 0 ? rest.length + (how & 2n ? 1 : 0) : n + Number(how & 1n));
	}

	/** Returns the number of bytes up to the last run of a byte. */
	trimmed(pad: bigint): bigint {
		if (this.writing) return BigInt(unknownEnd);
		this.spend(0, this.stop - this.pos, "a search");
		return BigInt(trim(this.part(this.pos, this.stop), Number(pad & 255n)).length);
	}

	/** Returns a computed number of units, -3 if it depends on what is not known while it is written. */
	many(n: bigint, field: string): number {
		return this.writing && BigInt.asIntN(64, n) > unknownEnd / 2 ? -3 : this.amount(n, field);
	}

	/** Returns the number of bytes up to the end of contents that are written, -1 if it is not known. */
	room(): number {
		const left = this.around.limit - this.at();
		return left > unknownEnd / 2 ? -1 : Math.max(left, 0);
	}

	pad(n: number, pad: number): void {
		if (n > 0) this.append(new Uint8Array(n).fill(pad));
	}

	/** Passes units up to one of the value end. how: 1: the end of the contents around ends them, too; 2, 4: it belongs to what follows, to the value; 8: before padding. */
	open(value: Uint8Array, unit: number, how: number, end: number, pad: number, field: string): Uint8Array {
		if (this.writing) {
			const i = find(value, unit, end);
			if (i >= value.length && (how & 5) === 4) this.illegal(field, "it does not end as it must");
			if (i < value.length && ((how & 4) === 0 || i + unit !== value.length)) this.illegal(field, "the text contains a terminator");
			this.append(value);
			if ((how & 6) === 0 && ((how & 1) === 0 || this.room() !== 0)) this.append(unit === 1 ? Uint8Array.of(end) : Uint8Array.of(end, 0));
			if (how & 8) this.pad(this.room(), pad);
			return value;
		}
		const all = this.part(this.pos, this.stop);
		const rest = how & 8 ? trim(all, pad) : all;
		let i = find(rest, unit, end);
		let size = i + unit;
		if (i + unit > rest.length) {
			if ((how & 1) === 0) this.over(field);
			i = size = rest.length - (rest.length % unit);
		} else if (how & 2) size = i;
		else if (how & 4) i = size;
		if (how & 8) size = all.length;
		this.spend(0, size, field);
		this.pos += size;
		return rest.slice(0, i);
	}

	openText(s: string, set: Charset, how: number, end: number, pad: number, field: string): string {
		const b = this.open(this.writing ? set.encode(s, field) : new Uint8Array(0), set.unit, how, end, pad, field);
		return this.writing ? s : set.decode(b);
	}

	openBlob(b: Uint8Array, how: number, end: number, pad: number, field: string): Uint8Array {
		return this.open(b, 1, how, end, pad, field);
	}

	/** Passes n bytes, or those up to the end if n is -1, of which the value has those before the last run of pad bytes. */
	paddedBlob(b: Uint8Array, n: number, pad: number, field: string): Uint8Array {
		if (!this.writing) {
			const at = this.content(n, 1, field);
			return trim(this.part(at, this.pos), pad).slice();
		}
		if (b.length > 0 && b[b.length - 1] === pad) this.illegal(field, "it ends with a byte that fills it up");
		const size = Math.max(b.length, n === -1 ? this.room() : n);
		this.append(b);
		this.pad(size - b.length, pad);
		this.exactly(size, n, field);
		if (n === -1) this.end();
		return b;
	}

	paddedText(s: string, set: Charset, n: number, pad: number, field: string): string {
		const b = this.paddedBlob(this.writing ? set.encode(s, field) : new Uint8Array(0), n, pad, field);
		return this.writing ? s : set.decode(b);
	}

	/** Begins lists with tags. Reading finds all elements first; ends: a tag of wire type 4 ends them, too. */
	tags(tags: number[], other: boolean, ends: boolean): Tagged {
		const t: Tagged = { tags, other, found: [], next: 0, end: this.pos };
		if (this.writing) return t;
		const start = this.pos;
		while (this.pos < this.stop) {
			const at = this.pos;
			const tag = this.readVar(tagForm, "tag");
			if (ends && (tag & 7n) === 4n) {
				this.pos = at;
				break;
			}
			this.spend(1, 1, "a tag");
			const list = listOf(t, tag);
			if (!legalTag(tag) || list < 0) this.illegal("tag", "no field has it");
			t.found.push({ list, at });
			this.skip(tag);
		}
		t.end = this.pos;
		this.pos = start;
		t.found.sort((a, b) => a.list - b.list || a.at - b.at);
		return t;
	}

	/** Moves past what follows a tag. */
	skip(tag: bigint): void {
		const open: bigint[] = []; // the tags that end the groups around
		const from = this.pos;
		for (;;) {
			let size = 0n;
			const kind = Number(tag & 7n);
			if (kind === 0) this.readVar(tagForm, "a field");
			if (kind === 1) size = 8n;
			if (kind === 2) size = this.readVar(tagForm, "a field");
			if (kind === 5) size = 4n;
			if (kind === 3 && open.push(tag + 1n) > maxDepth) this.illegal("a group", "is nested too deeply");
			if (kind === 4 && open.pop() !== tag) this.illegal("a group", "has another end");
			if (size > this.stop - this.pos) this.over("a field");
			this.pos += Number(size);
			if (open.length === 0) {
				if (kind === 4) this.spend(0, this.pos - from, "a group"); // the fields inside are read again
				return;
			}
			tag = this.readVar(tagForm, "tag");
			if ((tag & 7n) !== 4n && !legalTag(tag)) this.illegal("tag", "no field has it");
		}
	}

	/** Begins element i of a list with a tag, and reports whether there is one. */
	scattered<T>(l: T[], t: Tagged, list: number, i: number, make: () => T): boolean {
		if (this.writing) return i < l.length;
		const x = t.found[t.next];
		if (!x || x.list !== list) return false;
		this.pos = x.at;
		t.next++;
		l.push(make());
		return true;
	}

	/** Checks that an element that was written has a tag of no other list. */
	unlisted(t: Tagged, from: number, field: string): void {
		if (!this.writing) return;
		let tag = 0n;
		for (let i = from; i < this.pos; i++) {
			const c = this.view.getUint8(i);
			tag |= BigInt(c & 127) << BigInt(7 * (i - from));
			if (c < 128) break;
		}
		if (!legalTag(tag) || listOf(t, tag) !== t.tags.length) this.illegal(field, "the tag is illegal, or that of another field");
	}

	/** Ends lists with tags. */
	tagsEnd(t: Tagged): void {
		if (!this.writing) this.pos = t.end;
	}

	/** Passes a number of up to 128 bits. narrow: other parts depend on it, so that it must have 64. */
	long(v: bigint, narrow: boolean, field: string): bigint {
		if (this.writing) {
			v = this.int(v, field);
			this.fits(v >= 0n && v >> (narrow ? 64n : 128n) === 0n, narrow ? 64 : 128, field);
			let rest = v;
			for (; rest >= 128n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
			this.byte(Number(rest));
			return v;
		}
		v = 0n;
		for (let size = 1; size < 20; size++) {
			if (this.pos + size > this.stop) this.over(field);
			const c = this.view.getUint8(this.pos + size - 1);
			if (size === 19 && (c & 127) > 3) break;
			v |= BigInt(c & 127) << BigInt(7 * (size - 1));
			if (c >= 128) continue;
			this.pos += size;
			this.spend(0, size, field);
			this.fits(!narrow || v >> 64n === 0n, 64, field);
			return v;
		}
		return this.illegal(field, "the number is too long");
	}

	/** Sets some bits of a bitfield. */
	bitsOf(raw: bigint, shift: number, width: number, v: bigint, field: string): bigint {
		this.fits(v >= 0n && v >> BigInt(width) === 0n, width, field);
		const mask = ((1n << BigInt(width)) - 1n) << BigInt(shift);
		return (raw & ~mask) | (v << BigInt(shift));
	}
}

/** Sets the bits of a mask, or not all of them. */
export function flag(raw: bigint, mask: bigint, on: boolean): bigint {
	if (on) return raw | mask;
	return (raw & mask) === mask ? raw & ~mask : raw;
}

/** Returns -1 for contents that are not there, n otherwise. */
export const unless = (n: number, there: boolean): number => (there ? n : -1);

/** Interprets the lowest bits as two's complement. */
export const extend = (v: number, bits: number): number => (v >= power(bits - 1) ? v - power(bits) : v);

const powers = Array.from({ length: 65 }, (_, i) => 2 ** i);
const power = (n: number): number => powers[n]!;

const valueOf = (n: Coding, raw: number): number => (n.signed ? extend(raw, n.bits) : raw) + n.add;
const sizeOf = (n: Coding, raw: bigint): number => Number(n.signed ? BigInt.asIntN(n.bits, raw) : raw) + n.add;

/** Reads an integer of up to 32 bits, at off bits after a position. */
export function load(view: DataView, at: number, off: number, bits: number, big: boolean): number {
	if (off % 8 === 0) {
		at += off / 8;
		if (bits === 8) return view.getUint8(at);
		if (bits === 16) return view.getUint16(at, !big);
		if (bits === 32) return view.getUint32(at, !big);
		off = 0;
	}
	let v = 0;
	for (let i = 0; i < bits; ) {
		const skip = (off + i) % 8;
		const n = Math.min(8 - skip, bits - i);
		const c = view.getUint8(at + (off + i - skip) / 8);
		if (big) v = v * 2 ** n + ((c >> (8 - skip - n)) & (2 ** n - 1)); // from the most significant bit on
		else v += ((c >> skip) & (2 ** n - 1)) * 2 ** i;
		i += n;
	}
	return v;
}

/** Reads an integer of any width, which may lose its lowest bits. */
function loadAny(view: DataView, at: number, off: number, bits: number, big: boolean): number {
	return bits <= 32 ? load(view, at, off, bits, big) : Number(loadBig(view, at, off, bits, big));
}

export function loadBig(view: DataView, at: number, off: number, bits: number, big: boolean): bigint {
	if (bits <= 32) return BigInt(load(view, at, off, bits, big));
	if (bits === 64 && off % 8 === 0) return view.getBigUint64(at + off / 8, !big);
	const high = load(view, at, big ? off : off + 32, bits - 32, big);
	return (BigInt(high) << 32n) | BigInt(load(view, at, big ? off + bits - 32 : off, 32, big));
}

/** Writes an integer of up to 32 bits into zeros. */
export function store(view: DataView, at: number, off: number, bits: number, big: boolean, v: number): void {
	if (off % 8 === 0 && (bits === 16 || bits === 32)) {
		if (bits === 16) view.setUint16(at + off / 8, v, !big);
		else view.setUint32(at + off / 8, v, !big);
		return;
	}
	for (let i = 0; i < bits; ) {
		const skip = (off + i) % 8;
		const n = Math.min(8 - skip, bits - i);
		const k = at + (off + i - skip) / 8;
		const part = Math.floor(v / 2 ** (big ? bits - i - n : i)) % 2 ** n;
		view.setUint8(k, (view.getUint8(k) & ~((2 ** n - 1) << (big ? 8 - skip - n : skip))) | (part << (big ? 8 - skip - n : skip)));
		i += n;
	}
}

export function storeBig(view: DataView, at: number, off: number, bits: number, big: boolean, v: bigint): void {
	if (bits <= 32) return store(view, at, off, bits, big, Number(v));
	if (bits === 64 && off % 8 === 0) return view.setBigUint64(at + off / 8, v, !big);
	store(view, at, big ? off : off + 32, bits - 32, big, Number(v >> 32n));
	store(view, at, big ? off + bits - 32 : off, 32, big, Number(v & 0xffffffffn));
}

/** Converts a float of 16 bits. */
export function fromHalf(raw: number): number {
	const exp = (raw >> 10) & 31;
	const frac = raw & 1023;
	const f = exp === 0 ? frac * 2 ** -24 : exp < 31 ? (1024 + frac) * 2 ** (exp - 25) : frac === 0 ? Infinity : NaN;
	return raw >> 15 ? -f : f;
}

/** Rounds a float to 16 bits, to the even neighbor of two. */
export function toHalf(f: number): number {
	const sign = f < 0 || Object.is(f, -0) ? 0x8000 : 0;
	f = Math.abs(f);
	if (Number.isNaN(f)) return 0x7e00;
	if (f >= 65520) return sign | 0x7c00;
	let exp = -14;
	while (f >= 2 ** (exp + 1)) exp++;
	const units = f * 2 ** (10 - exp); // of the last bit
	let n = Math.floor(units);
	if (units - n > 0.5 || (units - n === 0.5 && n % 2 === 1)) n++;
	return sign | ((exp + 14) * 1024 + n);
}

/** The position of the first unit of the value end, or the size. */
function find(b: Uint8Array, unit: number, end: number): number {
	let i = 0;
	for (; i + unit <= b.length; i += unit) {
		if (b[i] === end && (unit === 1 || b[i + 1] === 0)) return i;
	}
	return unit === 1 ? i : b.length;
}

/** An encoding of text: the bytes of a unit, the units of a text. */
interface Charset {
	unit: number;
	units(s: string): number;
	decode(b: Uint8Array): string;
	encode(s: string, field: string): Uint8Array;
}

export const utf16LE: Charset = {
	unit: 2,
	units: (s) => s.length,
	decode(b) {
		let s = "";
		for (let i = 0; i + 1 < b.length; i += 2) s += String.fromCharCode(b[i]! | (b[i + 1]! << 8));
		return s;
	},
	encode(s) {
		const b = new Uint8Array(2 * s.length);
		for (let i = 0; i < s.length; i++) {
			b[2 * i] = s.charCodeAt(i) & 0xff;
			b[2 * i + 1] = s.charCodeAt(i) >> 8;
		}
		return b;
	},
};

const swap16 = (b: Uint8Array): Uint8Array => b.map((c, i) => b[i ^ 1] ?? c);

export const utf16BE: Charset = {
	...utf16LE,
	decode: (b) => utf16LE.decode(swap16(b.subarray(0, b.length & ~1))),
	encode: (s, field) => swap16(utf16LE.encode(s, field)),
};

export const latin1: Charset = {
	unit: 1,
	units: (s) => s.length,
	decode(b) {
		let s = "";
		for (let i = 0; i < b.length; i++) s += String.fromCharCode(b[i]!);
		return s;
	},
	encode(s, field) {
		const b = new Uint8Array(s.length);
		for (let i = 0; i < s.length; i++) {
			if (s.charCodeAt(i) > 0xff) throw new Refused(field, "a character does not fit a byte");
			b[i] = s.charCodeAt(i);
		}
		return b;
	},
};

const ascii = (b: Uint8Array): boolean => b.length < 64 && b.every((c) => c < 128);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const toUTF8 = new TextEncoder();

/** UTF-8, in which a byte that is invalid becomes the low surrogate U+DC00 + byte, so that it is preserved. */
export const utf8Text: Charset = {
	unit: 1,
	units: (s) => utf8Text.encode(s, "text").length,
	decode(b) {
		if (ascii(b)) return latin1.decode(b);
		try {
			return utf8.decode(b);
		} catch {
			// byte by byte
		}
		let s = "";
		for (let i = 0; i < b.length; ) {
			let c = String.fromCharCode(0xdc00 | (b[i] ?? 0));
			let n = 1;
			for (let k = 1; k <= 4 && i + k <= b.length; k++) {
				try {
					c = utf8.decode(b.subarray(i, i + k));
					n = k;
					break;
				} catch {
					// longer, or invalid
				}
			}
			s += c;
			i += n;
		}
		return s;
	},
	encode(s, field) {
		if (!/[\ud800-\udfff]/.test(s)) return toUTF8.encode(s);
		const out: number[] = [];
		for (const c of s) {
			const v = c.codePointAt(0) ?? 0;
			if (v >= 0xdc80 && v <= 0xdcff) out.push(v & 0xff);
			else if (v >= 0xd800 && v < 0xe000) throw new Refused(field, "a lone surrogate cannot be UTF-8");
			else out.push(...toUTF8.encode(c));
		}
		return Uint8Array.from(out);
	},
};

/** Arithmetic of integers of 64 bits: the quotient is rounded down, and is 0 if the divisor is 0; the remainder has the sign of the divisor. */
export const wrap = (v: bigint): bigint => BigInt.asIntN(64, v);
export const truth = (b: boolean): bigint => (b ? 1n : 0n);

export function divide(a: bigint, b: bigint): bigint {
	if (b === 0n) return 0n;
	return wrap(a / b - truth(a % b !== 0n && a < 0n !== b < 0n));
}

export const modulo = (a: bigint, b: bigint): bigint => (b === 0n ? 0n : wrap(a - b * divide(a, b)));

export const shiftLeft = (a: bigint, n: bigint): bigint => (n < 0n || n > 63n ? 0n : wrap(a << n));
export const shiftRight = (a: bigint, n: bigint): bigint => a >> (n < 0n || n > 63n ? 63n : n);

const trim = (b: Uint8Array, pad: number): Uint8Array => {
	let n = b.length;
	while (n > 0 && b[n - 1] === pad) n--;
	return b.subarray(0, n);
};

/** Lists whose elements are in any order, each with its tag. other: the last list has all other tags. */
interface Tagged {
	tags: number[];
	other: boolean;
	found: { list: number; at: number }[];
	next: number; // reading: the next one
	end: number;
}

const tagForm = coding(64, "leb", false, false, 0);

const legalTag = (tag: bigint): boolean => tag > 7n && tag <= 0xffffffffn && (tag & 7n) < 6n && (tag & 7n) !== 4n;

/** The list of a tag, -1 if there is none. */
const listOf = (t: Tagged, tag: bigint): number => {
	const i = t.tags.indexOf(Number(tag));
	return i < 0 && t.other ? t.tags.length : i;
};

/** Passes contents up to the end, each byte of which is xor that of a key, or rotated by a number of bits. */
export function keyed(x: Coder, rotate: boolean, number: bigint, key: string, isNumber: boolean, body: () => void): void {
	const apply = (b: Uint8Array, by: bigint): void => {
		const bits = Number(((by % 8n) + 8n) % 8n);
		for (let i = 0; i < b.length; i++) {
			const c = b[i]!;
			if (rotate) b[i] = (c << bits) | (c >> (8 - bits));
			else if (isNumber) b[i] = c ^ Number(BigInt.asUintN(8, number));
			else if (key) b[i] = c ^ key.charCodeAt(i % key.length);
		}
	};
	const { view, pos, stop, framed, base } = x;
	x.inside++;
	if (x.writing) {
		x.base = pos;
		body();
		apply(x.part(pos, x.pos), -number);
	} else {
		const plain = x.slice(pos, stop);
		apply(plain, number);
		x.plain -= plain.length + 1024;
		x.bytes += 4 * plain.length;
		x.elements += 4 * plain.length;
		if (x.plain < 0) x.illegal("contents with a key", "are too large");
		x.view = new DataView(plain.buffer);
		x.stop = plain.length;
		x.framed = true;
		x.pos = x.base = 0;
		body();
		x.view = view;
		x.stop = x.pos = stop;
		x.framed = framed;
	}
	x.base = base;
	x.inside--;
	x.end();
}

/** Texts in expressions are strings with a character for each byte, in UTF-8; so are bytes. Those that are too long are cut. */
export const textOf = (s: string): string => (/^[\0-\x7f]*$/.test(s) ? s : latin1.decode(utf8Text.encode(s, "text")));
export const fromText = (s: string): string => utf8Text.decode(latin1.encode(s, "text"));
export const made = (s: string): string => s.slice(0, 65536);

export const characters = (s: string, set: Charset): string => made(textOf(set.decode(latin1.encode(s, "text"))));
const character = // of UTF-8, or a byte that is invalid
	/[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[^]/g;
const characterList = (s: string): string[] => s.match(character) ?? [];
export const textLength = (s: string): bigint => BigInt(characterList(s).length);
export const intText = (n: bigint): string => n.toString();
export const byteAt = (s: string, i: bigint): bigint => (i >= 0n && i < s.length ? BigInt(s.charCodeAt(Number(i))) : 0n);
export const byteText = (n: bigint): string => String.fromCharCode(Number(n & 255n));

/** The number that is written in a base, 0 if there is none. */
export function textInt(s: string, base: bigint): bigint {
	const digits = s.replace(/^[+-]/, "").toLowerCase();
	if (base < 2n || base > 36n || digits === "") return 0n;
	let n = 0n;
	for (const c of digits) {
		const d = "0123456789abcdefghijklmnopqrstuvwxyz".indexOf(c);
		if (d < 0 || d >= base) return 0n;
		n = n * base + BigInt(d);
	}
	if (s.startsWith("-")) n = -n;
	const most = 2n ** 63n;
	return n >= most ? most - 1n : n < -most ? -most : n;
}

const clip = (n: bigint, size: number): number => (n < 0n ? 0 : n > size ? size : Number(n));

export function sliceBytes(s: string, from: bigint, to: bigint): string {
	const end = clip(to, s.length);
	return s.slice(Math.min(clip(from, s.length), end), end);
}

export function sliceText(s: string, from: bigint, to: bigint): string {
	const list = characterList(s);
	const end = clip(to, list.length);
	return list.slice(Math.min(clip(from, list.length), end), end).join("");
}

export const reverseBytes = (s: string): string => made(Array.from(s).reverse().join(""));
export const reverseText = (s: string): string => made(characterList(s).reverse().join(""));

/** A number without its fraction. */
export function floatInt(f: number): bigint {
	if (Number.isNaN(f)) return 0n;
	if (f >= 2 ** 63) return 2n ** 63n - 1n;
	return f <= -(2 ** 63) ? -(2n ** 63n) : BigInt(Math.trunc(f));
}

export function floatModulo(a: number, b: number): number {
	const m = a % b;
	return m !== 0 && m < 0 !== b < 0 ? m + b : m;
}

/** The float with bits, and the bits of a float of 64. */
export function bitsFloat(bits: number, raw: number | bigint): number {
	if (bits === 16) return fromHalf(Number(raw));
	const view = new DataView(new ArrayBuffer(8));
	if (bits === 32) view.setUint32(0, Number(raw));
	else view.setBigUint64(0, BigInt(raw));
	return bits === 32 ? view.getFloat32(0) : view.getFloat64(0);
}

export function floatBits(f: number): bigint {
	const view = new DataView(new ArrayBuffer(8));
	view.setFloat64(0, f);
	return view.getBigUint64(0);
}

/** A value of element i of a list, none if there is no such element. */
export function element<T, R>(list: T[], i: bigint, of: (e: T) => R, none: R): R {
	const e = i < 0n ? undefined : list[Number(i)];
	return e === undefined ? none : of(e);
}

/** The smallest of the values in the elements of a list. */
export const least = <T, R>(list: T[], of: (e: T) => R, none: R): R => (list.length > 0 ? list.map(of).reduce((a, b) => (b < a ? b : a)) : none);

/** The largest of the values in the elements of a list. */
export const greatest = <T, R>(list: T[], of: (e: T) => R, none: R): R => (list.length > 0 ? list.map(of).reduce((a, b) => (b < a ? a : b)) : none);
