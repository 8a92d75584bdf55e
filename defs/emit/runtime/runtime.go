package runtime

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxDepth limits the nesting of values in themselves, maxPlain the bytes of decompressed contents.
const (
	maxDepth = 512
	maxPlain = 4 << 20
)

// coder is the state of reading or writing a message.
type coder struct {
	b        []byte // reading: up to the end of the message, or of the contents that are read. Writing: what was written, after what was there
	pos      int    // reading: the next byte. Writing: the start of the newest block
	base     int    // start of the message, or of decompressed contents
	header   int    // bytes; offsets into it are invalid
	writing  bool
	framed   bool   // reading: b is complete, so that no further bytes can help
	inside   int    // depth of contents with an end of their own
	last     int    // writing: the message must end here, in bytes from its start; -1: anywhere
	far      int    // reading: the end of contents at offsets
	least    uint64 // reading: the bytes that all counts so far require, if the message is measured
	elements int    // remaining elements of all lists
	bytes    int    // remaining bytes of all contents
	plain    int    // remaining bytes of decompressed contents
	depth    int
	err      error
	around
	placing
}

// around is what surrounds a part, of messages that depend on positions.
type around struct {
	all    []byte // reading: the message, or decompressed contents
	closed bool   // framed of all
	from   int64  // where the innermost contents with a size begin
	limit  int64  // writing: where they end; unknownEnd: it is not known
	packed bool   // it is decompressed contents, or has a key
	beyond int    // far before them
}

// placing is what is written at positions, and after everything else.
type placing struct {
	pieces []piece
	voids  []void
	asked  bool  // something depends on the size of the message
	sure   bool  // it is guess
	guess  int64 // bytes
}

// piece is contents at a position, void a run of bytes that belong to nothing.
type piece struct {
	at    int64
	b     []byte
	voids []void
	field string
}

type void struct{ from, to int }

func reading(data []byte, header int) coder {
	return coder{b: data, header: header, elements: 1<<16 + 4*len(data), bytes: 1<<20 + 4*len(data), plain: maxPlain}
}

func writing(dst []byte) coder { return coder{b: dst, base: len(dst), writing: true, last: -1} }

// frame limits reading to the size of the message, which is in its header.
func (x *coder) frame(off, bits int, big bool) bool {
	if (off+bits+7)/8 > len(x.b) {
		x.err = Incomplete
		return false
	}
	switch size := load(x.b, off, bits, big); {
	case size < uint64(x.header):
		x.illegal("length", "is "+strconv.FormatUint(size, 10))
	case size > uint64(len(x.b)):
		x.err = Incomplete
	default:
		*x = reading(x.b[:size], x.header)
		x.framed = true
	}
	return x.err == nil
}

// code checks the number that selects the message.
func (x *coder) code(off, bits int, big bool, want uint64) bool {
	if (off+bits+7)/8 > len(x.b) {
		x.err = Incomplete
	} else if code := load(x.b, off, bits, big); code != want {
		x.illegal("code", "is "+strconv.FormatUint(code, 10))
	}
	return x.err == nil
}

// measure checks that there are the bytes that all messages have; need adds those of n units of a size beyond the least number; sized checks
// the sum.
func (x *coder) measure(least uint64) bool {
	x.least = least
	return x.sized()
}

func (x *coder) need(n, lo, size uint64) {
	if x.least += min(n-lo, 1<<32) * size; x.least > 1<<32 {
		x.least = 1 << 32
	}
}

func (x *coder) sized() bool {
	if x.err == nil && !x.writing && x.least > uint64(len(x.b)) {
		x.err = Incomplete
	}
	return x.err == nil
}

// wasRead returns the results of ReadBinary, wrote those of AppendBinary.
func (x *coder) wasRead() (n int, err error) {
	switch {
	case x.err != nil:
		return 0, x.err
	case x.framed:
		return len(x.b), nil
	}
	return max(x.pos, x.far), nil
}

func (x *coder) wrote(dst []byte) ([]byte, error) {
	if x.last >= 0 && len(x.b)-x.base > x.last {
		x.illegal("a part at the end of the message", "it is followed by other parts")
	}
	if x.err != nil {
		return dst, x.err
	}
	return x.b, nil
}

// length sets the size of the message in its header.
func (x *coder) length(off, bits int, big bool) {
	x.put(8*x.base+off, bits, big, len(x.b)-x.base, "length")
}

// put sets a size or an offset, at a place in bits.
func (x *coder) put(at, bits int, big bool, v int, field string) {
	if x.fits(uint64(v) <= mask(bits), bits, field); x.err == nil {
		store(x.b, at, bits, big, uint64(v))
	}
}

// number is the encoding of an integer.
type number struct {
	bits   int
	form   form
	big    bool
	signed bool
	add    int64 // the value is the sent number plus this
}

// form is a way to write an integer: as it is, or in groups of seven bits.
type form uint8

const (
	sized      form = iota
	leb             // least significant group first
	sleb            // likewise, sign-extended from the last group
	zigzag          // leb of the number with the sign in the lowest bit
	vlq             // most significant group first
	wide            // leb of 64 bits, of which the low ones are the number
	wideSigned      // likewise, with the sign extended
)

// extend interprets the lowest bits as two's complement.
func extend(v uint64, bits int) int64 { return int64(v<<(64-bits)) >> (64 - bits) }

func (x *coder) illegal(field, what string) {
	if x.err == nil {
		if x.writing {
			x.err = fmt.Errorf("%s: %s", field, what)
		} else {
			x.err = fmt.Errorf("%w: %s: %s", Illegal, field, what)
		}
	}
}

// over fails for contents that extend past the end of the data.
func (x *coder) over(field string) {
	if x.framed {
		x.illegal(field, "extends past the end of its contents")
	} else if x.err == nil {
		x.err = Incomplete
	}
}

// fits fails unless a value fits its bits.
func (x *coder) fits(ok bool, bits int, field string) {
	if !ok {
		x.illegal(field, "the value does not fit "+strconv.Itoa(bits)+" bits")
	}
}

// check fails unless a value is legal.
func (x *coder) check(ok bool, field string) {
	if !ok {
		x.illegal(field, "the value is outside its legal range")
	}
}

// spend limits the work to a fixed multiple of the size of the message.
func (x *coder) spend(elements, bytes int, field string) bool {
	x.elements -= elements
	x.bytes -= bytes
	if x.elements < 0 || x.bytes < 0 {
		x.illegal(field, "requires more work than the size of the message allows")
	}
	return x.err == nil
}

// enter begins a value that may contain itself, leave ends it.
func (x *coder) enter(field string) bool {
	if x.depth++; x.depth > maxDepth {
		x.illegal(field, "is nested too deeply")
	}
	return x.err == nil && (x.writing || x.spend(1, 0, field))
}

func (x *coder) leave() { x.depth-- }

// block returns the next n bytes: when writing, zeros to be set. It returns nil after an error.
func (x *coder) block(n int) []byte {
	switch {
	case x.err != nil:
	case x.writing:
		x.pos = len(x.b)
		x.b = slices.Grow(x.b, n)[:x.pos+n]
		clear(x.b[x.pos:])
		return x.b[x.pos:]
	case n > len(x.b)-x.pos:
		x.over("a part of fixed size")
	default:
		x.pos += n
		if x.spend(0, n, "a part of fixed size") {
			return x.b[x.pos-n : x.pos]
		}
	}
	return nil
}

// raw passes the bits of an integer: at off bits of a block, or in a variable number of bytes.
func (x *coder) raw(b []byte, off int, n number, v uint64, field string) uint64 {
	switch {
	case x.err != nil:
		return 0
	case n.form == sized && x.writing:
		store(b, off, n.bits, n.big, v)
	case n.form == sized:
		v = load(b, off, n.bits, n.big)
	case x.writing:
		x.b = appendVar(x.b, n, v)
	default:
		var size int
		switch v, size = readVar(x.b[x.pos:], n); {
		case size == 0:
			x.over(field)
		case size < 0:
			x.illegal(field, "the number is too long")
		default:
			x.pos += size
			x.spend(0, size, field)
		}
		if x.err != nil {
			return 0
		}
	}
	return v
}

// readVar reads the bits of a number from the start of b. size is 0 if b ends before the number does, -1 if it is too long.
func readVar(b []byte, n number) (v uint64, size int) {
	most := (n.bits + 6) / 7
	if n.form >= wide {
		most = 10
	}
	for shift := 0; size < most && size < len(b); shift += 7 {
		c := b[size]
		size++
		if size == 10 && (n.form == vlq && v>>57 != 0 || n.form != vlq && n.form != sleb && c&0x7f > 1) {
			return 0, -1 // bits would be cut
		}
		if n.form == vlq {
			v = v<<7 | uint64(c&0x7f)
		} else {
			v |= uint64(c&0x7f) << shift
		}
		if c >= 0x80 {
			continue
		}
		switch n.form {
		case zigzag:
			v &= mask(n.bits)
			v = v>>1 ^ -(v & 1)
		case sleb:
			v = uint64(extend(v, min(shift+7, 64)))
		}
		return v & mask(n.bits), size
	}
	if most <= len(b) && size == most && most < len(b) {
		return 0, -1
	}
	return 0, 0
}

// appendVar appends the shortest encoding of the bits of a number.
func appendVar(b []byte, n number, v uint64) []byte {
	switch n.form {
	case zigzag:
		s := extend(v, n.bits)
		v = uint64(s<<1^s>>63) & mask(n.bits)
	case sleb:
		s := extend(v, n.bits)
		for ; s>>6 != 0 && s>>6 != -1; s >>= 7 {
			b = append(b, byte(s)|0x80)
		}
		return append(b, byte(s)&0x7f)
	case wideSigned:
		v = uint64(extend(v, n.bits))
	case vlq:
		for groups := max(bits.Len64(v)-1, 0) / 7; groups > 0; groups-- {
			b = append(b, byte(v>>(7*groups))|0x80)
		}
		return append(b, byte(v)&0x7f)
	}
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// integer passes a number, in 64 bits.
func (x *coder) integer(b []byte, off int, n number, v uint64, field string) uint64 {
	switch {
	case x.writing:
		raw := v - uint64(n.add)
		cut := raw & mask(n.bits)
		x.fits(n.signed && extend(cut, n.bits) == int64(raw) || !n.signed && cut == raw, n.bits, field)
		x.raw(b, off, n, cut, field)
		return v
	case n.form == leb && x.err == nil && x.pos < len(x.b) && x.b[x.pos] < 0x80 && n.bits >= 7 && x.bytes > 0: // most numbers
		x.pos++
		x.bytes--
		return n.value(uint64(x.b[x.pos-1]))
	}
	return n.value(x.raw(b, off, n, 0, field))
}

// value returns the value of the bits of a number.
func (n *number) value(raw uint64) uint64 {
	if n.signed {
		raw = uint64(extend(raw, n.bits))
	}
	return raw + uint64(n.add)
}

// float passes a float of 16 bits, or one with a scale.
func (x *coder) float(b []byte, off int, n number, v, scale float64, field string) float64 {
	raw := uint64(0)
	if x.writing {
		switch v := v * (1 / scale); n.bits {
		case 16:
			raw = toHalf(v)
		case 32:
			raw = uint64(math.Float32bits(float32(v)))
		default:
			raw = math.Float64bits(v)
		}
	}
	switch raw = x.raw(b, off, n, raw, field); n.bits {
	case 16:
		return fromHalf(raw) * scale
	case 32:
		return float64(math.Float32frombits(uint32(raw))) * scale
	}
	return math.Float64frombits(raw) * scale
}

// fromHalf converts a float of 16 bits.
func fromHalf(raw uint64) float64 {
	exp, frac := int(raw>>10&31), float64(raw&1023)
	f := math.Ldexp(1024+frac, exp-25)
	switch {
	case exp == 31 && frac != 0:
		f = math.NaN()
	case exp == 31:
		f = math.Inf(1)
	case exp == 0:
		f = math.Ldexp(frac, -24)
	}
	return math.Copysign(f, 1-float64(raw>>15&1)*2)
}

// toHalf rounds a float to 16 bits, to the even neighbor of two.
func toHalf(f float64) uint64 {
	sign := bit(math.Signbit(f)) << 15
	f = math.Abs(f)
	switch {
	case f != f:
		return 0x7e00
	case f >= 65520:
		return sign | 0x7c00
	case f < 1.0/(1<<14):
		return sign | uint64(math.RoundToEven(math.Ldexp(f, 24)))
	}
	frac, exp := math.Frexp(f)
	return sign | uint64(exp+14)<<10 + uint64(math.RoundToEven(math.Ldexp(frac, 11))) - 1024
}

// units rounds a number of units.
func (x *coder) units(f float64, n number, wrap, cut bool, field string) uint64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		x.illegal(field, "the value is not a number")
		return 0
	}
	if cut {
		f = math.Trunc(f)
	} else {
		f = math.Floor(f + 0.5)
	}
	turn := math.Ldexp(1, n.bits)
	lo, hi := 0.0, turn-1
	if n.signed {
		lo, hi = -turn/2, turn/2-1
	}
	if wrap {
		if f = math.Mod(f, turn); f < 0 {
			f += turn
		}
	} else if f < lo || f > hi {
		x.illegal(field, "the value does not fit "+strconv.Itoa(n.bits)+" bits")
		return 0
	}
	if f < 0 {
		return uint64(int64(f)) & mask(n.bits)
	}
	return uint64(f)
}

// counted checks a number of units.
func (x *coder) counted(n, lo, hi uint64, field string) {
	if n < lo || n > hi {
		x.illegal(field, "there are "+strconv.FormatUint(n, 10)+" units, the legal range is "+strconv.FormatUint(lo, 10)+" to "+strconv.FormatUint(hi, 10))
	}
}

// count passes a number of units. null: -1 means that there are no contents.
func (x *coder) count(b []byte, off int, n number, units int, lo, hi uint64, null bool, field string) uint64 {
	v := uint64(0)
	if x.writing {
		raw := uint64(units) - uint64(n.add)
		if v = raw & mask(n.bits); n.value(v) != uint64(units) {
			x.illegal(field, fmt.Sprintf("there are %d units, too many for %d bits", units, n.bits))
		}
	}
	v = x.raw(b, off, n, v, field)
	if v = n.value(v); x.err == nil && (!null || v != math.MaxUint64) {
		x.counted(v, lo, min(hi, math.MaxInt64), field)
	}
	return v
}

// size passes the size of contents that follow. Writing returns its place, for setSize.
func (x *coder) size(b []byte, off int, n number, field string) uint64 {
	at := len(x.b)
	if n.form == sized {
		at = 8*x.pos + off
	}
	v := x.raw(b, off, n, 0, field)
	if x.writing {
		return uint64(at)
	}
	return n.value(v)
}

// setSize sets a size at a place. One of variable size moves what follows.
func (x *coder) setSize(at int, n number, size uint64, field string) {
	raw := (size - uint64(n.add)) & mask(n.bits)
	switch {
	case x.err != nil:
	case n.value(raw) != size:
		x.illegal(field, fmt.Sprintf("a size of %d does not fit %d bits", size, n.bits))
	case n.form == sized:
		store(x.b, at, n.bits, n.big, raw)
	default:
		x.b = slices.Replace(x.b, at, at+len(appendVar(nil, n, 0)), appendVar(nil, n, raw)...)
	}
}

// seek begins contents at an offset, unless none says that there are none to read, and returns where to go back to, or -1. Writing sets the offset,
// at whose place it is.
func (x *coder) seek(at uint64, bits int, big, none bool, field string) (back int) {
	switch {
	case x.err != nil:
	case x.writing:
		if x.put(int(at), bits, big, len(x.b)-x.base, field); x.err == nil {
			return 0
		}
	case none:
	case at < uint64(x.header):
		x.illegal(field, "the offset is inside the header")
	case at > uint64(len(x.b)):
		x.over(field)
	default:
		back, x.pos = x.pos, int(at)
		return back
	}
	return -1
}

// back ends contents at an offset.
func (x *coder) back(to int) {
	if !x.writing {
		x.far, x.pos = max(x.far, x.pos), to
	}
}

// chain is a list whose elements have the offset of the next one, and may have their own.
type chain struct {
	at    uint64 // reading: the next element. Writing: the place of its offset, which has the form of to
	to    place
	here  place
	next  place
	n     int
	back  int
	elem  int // writing: the start of the element
	field string
}

// place is the place of a number in a block, in bits.
type place struct {
	off, bits int
	big       bool
}

// chain begins a list of n elements. Reading checks the offsets of all of them first.
func (x *coder) chain(at uint64, first place, n uint64, here, next place, field string) chain {
	c := chain{at, first, here, next, int(n), x.pos, 0, field}
	if x.writing || n == 0 || !x.spend(int(min(n, 1<<31)), 0, field) {
		return c
	}
	follow := func(at int) int { // negative if the chain ends or points outside the message
		if at < x.header || at > len(x.b) || (next.off+next.bits+7)/8 > len(x.b)-at {
			return -1
		}
		to := int(load(x.b[at:], next.off, next.bits, next.big))
		if to == 0 {
			return -1
		}
		return to
	}
	rising := true
	for pos, i := int(at), 1; i < c.n; i++ {
		to := follow(pos)
		if to < 0 {
			x.illegal(field, "the chain of elements ends early, or points outside the message")
			return c
		}
		rising = rising && to > pos
		pos = to
	}
	if rising {
		return c
	}
	// Elements may be in any order, but not repeated: find the cycle (R. P. Brent, 1980) and check that all elements precede its end.
	slow, fast, power, length := int(at), follow(int(at)), 1, 1
	for slow != fast && fast >= 0 {
		if power == length {
			slow, power, length = fast, power*2, 0
		}
		fast = follow(fast)
		length++
	}
	if fast < 0 {
		return c
	}
	slow, fast = int(at), int(at)
	for range length {
		fast = follow(fast)
	}
	for ; slow != fast; length++ {
		slow, fast = follow(slow), follow(fast)
	}
	if c.n > length {
		x.illegal(field, "the chain of elements has a cycle")
	}
	return c
}

// link begins element i of a chain, and reports whether there is one. linked ends it.
func link[S ~[]T, T any](x *coder, p *S, c *chain, i int) bool {
	switch {
	case x.err != nil:
		return false
	case x.writing && i >= len(*p):
		return false
	case x.writing:
		c.elem = len(x.b)
		x.put(int(c.at), c.to.bits, c.to.big, c.elem-x.base, c.field)
		c.at, c.to = uint64(8*c.elem+c.next.off), c.next
		return x.err == nil
	case i >= c.n:
		x.pos = c.back
		return false
	case i == 0:
		*p = make(S, c.n)
	}
	switch {
	case c.at < uint64(x.header):
		x.illegal(c.field, "the offset is inside the header")
	case c.at > uint64(len(x.b)):
		x.over(c.field)
	default:
		x.pos, c.elem = int(c.at), int(c.at)
	}
	return x.err == nil
}

func (x *coder) linked(c *chain) {
	switch {
	case x.err != nil:
	case x.writing && c.here.bits > 0:
		x.put(8*c.elem+c.here.off, c.here.bits, c.here.big, c.elem-x.base, c.field)
	case x.writing:
	default: // the element has the bytes
		c.at = load(x.b[c.elem:], c.next.off, c.next.bits, c.next.big)
		x.far = max(x.far, x.pos)
	}
}

// within passes contents of a size that was passed before, by body. null is the size of those that are not there, some, or below -1.
func (x *coder) within(at uint64, n number, some bool, null int64, field string, body func()) {
	if x.err != nil || !x.writing && null >= -1 && at == uint64(null) {
		return
	}
	if x.writing {
		if !some {
			x.setSize(int(at), n, uint64(null), field)
			return
		}
		from := len(x.b)
		x.inside++
		body()
		x.inside--
		x.setSize(int(at), n, uint64(len(x.b)-from), field)
		return
	}
	if at > uint64(len(x.b)-x.pos) {
		if int64(at) < 0 {
			x.illegal(field, "the size is below 0")
		}
		x.over(field)
		return
	}
	whole, framed := x.b, x.framed
	to := x.pos + int(at)
	x.b, x.framed = x.b[:to], true
	x.inside++
	body()
	x.inside--
	x.b, x.framed, x.pos = whole, framed, to
}

// end records that the message must end here, unless contents with an end of their own do.
func (x *coder) end() {
	if x.writing && x.last < 0 && x.inside == 0 {
		x.last = len(x.b) - x.base
	}
}

// more reports whether there are more bytes to read.
func (x *coder) more() bool { return x.err == nil && x.pos < len(x.b) }

// part reports whether an optional part is present; parts is the number of those that are.
func (x *coder) part(parts *int, i int) bool {
	if x.writing {
		if *parts < i {
			x.end()
		}
		return *parts >= i && x.err == nil
	}
	if !x.more() {
		return false
	}
	*parts = i
	return true
}

// align passes padding up to a multiple of n bytes.
func (x *coder) align(n int) {
	at := x.pos
	if x.writing {
		at = len(x.b)
	}
	x.block((n - (at-x.base)%n) % n)
}

// constant passes bytes of a block.
func (x *coder) constant(b []byte, at int, want string) {
	if b = b[at:]; x.writing {
		copy(b, want)
	} else if string(b[:len(want)]) != want {
		x.illegal(fmt.Sprintf("% x", want), "the constant bytes differ")
	}
}

// known passes a number of variable size that the message alone determines.
func (x *coder) known(n number, want uint64, field string) {
	if x.raw(nil, 0, n, want, field) != want {
		x.illegal(field, "is that of another message")
	}
}

// content returns n units of the given size, or those up to the end if n is -1.
func (x *coder) content(n, unit int, field string) []byte {
	switch left := len(x.b) - x.pos; {
	case x.err != nil:
		return nil
	case n < 0:
		n = left / unit
	case n > left/unit:
		x.over(field)
		return nil
	}
	if !x.spend(0, n*unit, field) {
		return nil
	}
	x.pos += n * unit
	return x.b[x.pos-n*unit : x.pos]
}

// until returns the units before a unit of the value end, and moves past it.
func (x *coder) until(unit int, end byte, field string) []byte {
	for i := x.pos; x.err == nil && i+unit <= len(x.b); i += unit {
		if x.b[i] == end && (unit == 1 || x.b[i+1] == 0) {
			out := x.b[x.pos:i]
			x.spend(0, i-x.pos, field)
			x.pos = i + unit
			return out
		}
	}
	if x.framed {
		x.illegal(field, "is not terminated")
	}
	x.over(field)
	return nil
}

// terminate checks that contents have no unit of the value end, and appends one.
func (x *coder) terminate(from, unit int, end byte, field string) {
	b := x.b[from:]
	for i := 0; i+unit <= len(b); i += unit {
		if b[i] == end && (unit == 1 || b[i+1] == 0) {
			x.illegal(field, "the text contains a terminator")
		}
	}
	if x.b = append(x.b, end); unit == 2 {
		x.b = append(x.b, 0)
	}
}

// exactly checks that contents have n units, unless any number is legal.
func (x *coder) exactly(from, n, unit int, field string) {
	if size := len(x.b) - from; n >= 0 && size != n*unit {
		x.illegal(field, "there are "+strconv.Itoa(size/unit)+" units where "+strconv.Itoa(n)+" are required")
	}
}

// text passes a text of n units, up to the end if n is -1, or up to the byte end if n is -2.
func (x *coder) text(p *string, set charset, n int, end byte, field string) {
	unit := set.unit()
	switch from := len(x.b); {
	case x.err != nil:
	case x.writing:
		if x.encode(*p, set, field); n == -2 {
			x.terminate(from, unit, end, field)
		} else {
			x.exactly(from, n, unit, field)
		}
	case n == -2:
		*p = set.decode(x.until(unit, end, field))
	default:
		*p = set.decode(x.content(n, unit, field))
	}
	if n == -1 {
		x.end()
	}
}

// blob passes n bytes, or those up to the end if n is -1.
func (x *coder) blob(p *Hex, n int, field string) {
	switch from := len(x.b); {
	case x.err != nil:
	case x.writing:
		x.b = append(x.b, *p...)
		x.exactly(from, n, 1, field)
	default:
		*p = append(Hex{}, x.content(n, 1, field)...)
	}
	if n == -1 {
		x.end()
	}
}

// fixedText passes a text that has the bytes of a block, and ends before the last run of pad bytes; all: it does not.
func (x *coder) fixedText(p *string, set charset, b []byte, all bool, pad byte, field string) {
	if x.writing {
		text, wide := set.append(nil, *p)
		if x.narrow(wide, field); len(text) > len(b) || all && len(text) != len(b) && len(text) > 0 {
			x.illegal(field, "there are "+strconv.Itoa(len(text))+" bytes where "+strconv.Itoa(len(b))+" fit")
		}
		for i := copy(b, text); pad != 0 && i < len(b); i++ {
			b[i] = pad
		}
		return
	}
	switch {
	case all:
	case pad != 0:
		for len(b) > 0 && b[len(b)-1] == pad {
			b = b[:len(b)-1]
		}
	default:
		for i := 0; i+set.unit() <= len(b); i += set.unit() {
			if b[i] == 0 && (set.unit() == 1 || b[i+1] == 0) {
				b = b[:i]
			}
		}
	}
	*p = set.decode(b)
}

// charset is an encoding of text.
type charset uint8

const (
	utf8Text charset = iota
	latin1
	utf16LE
	utf16BE
)

func (c charset) unit() int {
	if c >= utf16LE {
		return 2
	}
	return 1
}

func (c charset) decode(b []byte) string {
	switch c {
	case utf16LE:
		return decode16(b)
	case utf16BE:
		return decode16(swap16(slices.Clone(b)))
	case latin1:
		return decodeLatin1(b)
	}
	return string(b)
}

// append appends a text. It also returns the first character that does not fit a byte of Latin-1, or 0.
func (c charset) append(b []byte, s string) (out []byte, wide rune) {
	switch c {
	case utf16LE:
		return append16(b, s), 0
	case utf16BE:
		out = append16(b, s)
		swap16(out[len(b):])
		return out, 0
	case latin1:
		return appendLatin1(b, s)
	}
	return append(b, s...), 0
}

// units returns the number of units of a text.
func (c charset) units(s string) int {
	switch c {
	case utf16LE, utf16BE:
		return units16(s)
	case latin1:
		return utf8.RuneCountInString(s)
	}
	return len(s)
}

func (x *coder) encode(s string, c charset, field string) {
	var wide rune
	x.b, wide = c.append(x.b, s)
	x.narrow(wide, field)
}

func (x *coder) narrow(wide rune, field string) {
	if wide != 0 {
		x.illegal(field, "a character does not fit a byte: "+strconv.QuoteRune(wide))
	}
}

// unless returns -1 for contents that are not there, n otherwise.
func unless(n int, there bool) int {
	if there {
		return n
	}
	return -1
}

// elems begins a list of n elements of size bytes each, or of those up to the end if n is -1, and returns the bytes of all of them; list begins
// one of elements of at least size bytes, and returns their number.
func elems[S ~[]T, T any](x *coder, p *S, n, size int, field string) []byte {
	if n < 0 && !x.writing {
		n = (len(x.b) - x.pos) / size
		if x.pos+n*size < len(x.b) {
			x.over(field)
		}
	}
	if n = list(x, p, n, size, field); n == 0 {
		return nil
	}
	return x.block(n * size)
}

func list[S ~[]T, T any](x *coder, p *S, n, size int, field string) int {
	switch {
	case x.err != nil:
	case x.writing && n >= 0 && n != len(*p):
		x.illegal(field, "there are "+strconv.Itoa(len(*p))+" elements where "+strconv.Itoa(n)+" are required")
	case x.writing:
		return len(*p)
	case n > (len(x.b)-x.pos)/size:
		x.over(field)
	case x.spend(n, 0, field):
		*p = make(S, n)
		return n
	}
	return 0
}

// next begins element i of a list of n elements, of those up to the end if n is -1, and reports whether there is one. It protects against
// allocations for forged counts.
func next[S ~[]T, T any](x *coder, p *S, i, n int, field string) bool {
	switch {
	case x.err != nil:
		return false
	case x.writing:
		if i == 0 && n >= 0 && n != len(*p) {
			x.illegal(field, "there are "+strconv.Itoa(len(*p))+" elements where "+strconv.Itoa(n)+" are required")
			return false
		}
		if n == -1 && i == len(*p) {
			x.end()
		}
		return i < len(*p)
	case i == 0:
		*p = make(S, 0, min(max(n, 0), 64, len(x.b)-x.pos))
	}
	if i == n || n == -1 && !x.more() || !x.spend(1, 0, field) {
		return false
	}
	var zero T
	*p = append(*p, zero)
	return true
}

// moved reports whether an element of a list up to the end had bytes; without any the list would not end.
func (x *coder) moved(from int) bool { return x.writing || x.pos > from }

// ended is next for a list that the byte end ends.
func ended[S ~[]T, T any](x *coder, p *S, i int, end byte, field string) bool {
	switch {
	case x.err != nil:
	case x.writing && i == len(*p):
		x.b = append(x.b, end)
		return false
	case !x.writing && x.pos >= len(x.b):
		x.over(field)
	case !x.writing && x.b[x.pos] == end:
		if x.pos++; i == 0 {
			*p = S{}
		}
		return false
	default:
		return next(x, p, i, -2, field)
	}
	return false
}

// whole checks the last element of a list that a condition ends.
func (x *coder) whole(i, n int, more bool, field string) bool {
	if x.writing && x.err == nil && more == (i == n-1) {
		x.illegal(field, "the condition that ends the list does not hold for its last element, or for an earlier one")
	}
	return more && x.err == nil
}

// begin checks that an element of a list that the byte end ends does not begin with it.
func (x *coder) begin(from int, end byte, field string) {
	if x.writing && x.err == nil && (len(x.b) == from || x.b[from] == end) {
		x.illegal(field, "an element begins with the end of the list")
	}
}

// value returns the value of a pointer: a new one if it is read, zero if it is written and nil.
func value[T any](x *coder, p **T) *T {
	switch {
	case !x.writing:
		*p = new(T)
	case *p == nil:
		return new(T)
	}
	return *p
}

// amount returns a computed number of units.
func (x *coder) amount(n uint64, field string) int {
	if int64(n) < 0 || n > math.MaxInt32 {
		x.illegal(field, "the computed number of units is "+strconv.FormatInt(int64(n), 10))
		return 0
	}
	return int(n)
}

// flag returns the bits of a bitfield with those of a mask set, or not all of them; bitsOf with a number in place of some of them.
func flag(raw, mask uint64, on bool) uint64 {
	switch {
	case on:
		return raw | mask
	case raw&mask == mask:
		return raw &^ mask
	}
	return raw
}

func (x *coder) bitsOf(raw uint64, shift, width int, v uint64, field string) uint64 {
	x.fits(v <= mask(width), width, field)
	return raw&^(mask(width)<<shift) | (v&mask(width))<<shift
}

// divide rounds down, and is 0 if the divisor is 0; modulo has the sign of the divisor.
func divide(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func modulo(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a - b*divide(a, b)
}

// when is the conditional operator.
func when(cond, a, b int64) int64 {
	if cond != 0 {
		return a
	}
	return b
}

func truth(b bool) int64 { return int64(bit(b)) }

// literal keeps arithmetic from being that of constants, which must not overflow.
func literal(n int64) int64 { return n }
