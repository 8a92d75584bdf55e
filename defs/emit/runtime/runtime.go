package runtime

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// maxDepth limits the nesting of values in themselves, maxPlain the bytes of decompressed contents.
const (
	maxDepth = 512
	maxPlain = 4 << 20
)

// coder is the state of reading or writing a message.
type coder struct {
	b        []byte // reading: up to the end of the message, or of the contents that are read. Writing: what was written, after what was there
	pos      int    // reading: the next byte. Writing: the start of the current block
	base     int    // start of the message, or of decompressed contents
	writing  bool
	framed   bool // reading: b is complete, so that no further bytes can help
	inside   int  // depth of contents with an end of their own
	last     int  // writing: the message must end here; -1: anywhere
	elements int  // remaining elements of all lists
	bytes    int  // remaining bytes of all contents
	plain    int  // remaining bytes of decompressed contents
	depth    int
	err      error
}

func newCoder(data []byte) *coder {
	return &coder{b: data, elements: 1<<16 + 4*len(data), bytes: 1<<20 + 4*len(data), plain: maxPlain, last: -1}
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
	sized  form = iota
	leb         // least significant group first
	sleb        // likewise, sign-extended from the last group
	zigzag      // leb of the number with the sign in the lowest bit
	vlq         // most significant group first
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

// block begins a run of n bytes of fixed size.
func (x *coder) block(n int) bool {
	switch {
	case x.err != nil:
	case x.writing:
		x.pos = len(x.b)
		x.b = slices.Grow(x.b, n)[:x.pos+n]
		clear(x.b[x.pos:])
	case n > len(x.b)-x.pos:
		x.over("a part of fixed size")
	default:
		x.pos += n
		x.bytes -= n
		return x.spend(0, 0, "a part of fixed size")
	}
	return x.err == nil
}

// item returns the bytes of the current block, of n bytes, from an offset on.
func (x *coder) item(n, at int) []byte {
	if x.writing {
		return x.b[x.pos+at:]
	}
	return x.b[x.pos-n+at:]
}

// raw passes the bits of an integer: of a block of size bytes at off bits, or of a variable number of bytes.
func (x *coder) raw(size, off int, n number, v uint64, field string) uint64 {
	switch {
	case x.err != nil:
		return 0
	case n.form != sized && x.writing:
		x.b = appendVar(x.b, n, v)
	case n.form != sized:
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
	case x.writing:
		store(x.item(size, 0), off, n.bits, n.big, v)
	default:
		v = load(x.item(size, 0), off, n.bits, n.big)
	}
	if x.err != nil {
		return 0
	}
	return v
}

// readVar reads the bits of a number from the start of b. size is 0 if b ends before the number does, -1 if it is too long.
func readVar(b []byte, n number) (v uint64, size int) {
	most := (n.bits + 6) / 7
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

type integers interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// integer passes a number and returns its bits.
func integer[T integers](x *coder, p *T, size, off int, n number, field string) uint64 {
	if x.err != nil {
		return 0
	}
	if x.writing {
		raw := uint64(*p) - uint64(n.add)
		cut := raw & mask(n.bits)
		if n.signed && extend(cut, n.bits) != int64(raw) || !n.signed && cut != raw {
			x.illegal(field, fmt.Sprintf("%d does not fit %d bits", *p, n.bits))
		}
		return x.raw(size, off, n, cut, field)
	}
	raw := x.raw(size, off, n, 0, field)
	*p = T(n.value(raw))
	return raw
}

// value returns the value of the bits of a number.
func (n *number) value(raw uint64) uint64 {
	if n.signed {
		raw = uint64(extend(raw, n.bits))
	}
	return raw + uint64(n.add)
}

// boolean passes a truth value and returns its bits.
func (x *coder) boolean(p *bool, size, off int, n number, field string) uint64 {
	raw := x.raw(size, off, n, bit(*p && x.writing), field)
	if !x.writing {
		*p = raw != 0
	}
	return raw
}

// float passes a float of 16, 32 or 64 bits.
func float[T ~float32 | ~float64](x *coder, p *T, size, off int, n number, scale float64, field string) uint64 {
	raw := uint64(0)
	if x.writing {
		switch v := float64(*p) / scale; n.bits {
		case 16:
			raw = toHalf(v)
		case 32:
			raw = uint64(math.Float32bits(float32(v)))
			if f, ok := any(*p).(float32); ok && scale == 1 {
				raw = uint64(math.Float32bits(f))
			}
		default:
			raw = math.Float64bits(v)
		}
	}
	raw = x.raw(size, off, n, raw, field)
	if x.writing {
		return raw
	}
	switch n.bits {
	case 16:
		*p = T(fromHalf(raw) * scale)
	case 32:
		if f, ok := any(p).(*float32); ok && scale == 1 {
			*f = math.Float32frombits(uint32(raw))
		} else {
			*p = T(float64(math.Float32frombits(uint32(raw))) * scale)
		}
	default:
		*p = T(math.Float64frombits(raw) * scale)
	}
	return raw
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

// scaled passes an integer of units of scale, and returns its bits.
func (x *coder) scaled(p *float64, size, off int, n number, scale float64, wrap, cut bool, field string) uint64 {
	raw := uint64(0)
	if x.writing {
		raw = x.units(*p*(1/scale), n, wrap, cut, field)
	}
	raw = x.raw(size, off, n, raw, field)
	switch {
	case x.writing:
	case n.signed:
		*p = float64(extend(raw, n.bits)) * scale
	default:
		*p = float64(raw) * scale
	}
	return raw
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

// count passes a number of units, which must be from lo to hi. null: -1 means that there are no contents.
func (x *coder) count(size, off int, n number, units int, lo, hi uint64, null bool, field string) uint64 {
	v := uint64(0)
	if x.writing {
		raw := uint64(units) - uint64(n.add)
		if v = raw & mask(n.bits); n.value(v) != uint64(units) {
			x.illegal(field, fmt.Sprintf("there are %d units, too many for %d bits", units, n.bits))
		}
	}
	v = x.raw(size, off, n, v, field)
	v = n.value(v)
	switch {
	case null && v == math.MaxUint64 || x.err != nil:
	case int64(v) < 0:
		x.illegal(field, "there are fewer than 0 units")
	case v < lo || v > hi:
		x.illegal(field, "there are "+strconv.FormatUint(v, 10)+" units, the legal range is "+strconv.FormatUint(lo, 10)+" to "+strconv.FormatUint(hi, 10))
	}
	return v
}

// size passes the size of contents that follow. Writing returns its place, for end.
func (x *coder) size(size, off int, n number, field string) uint64 {
	at := len(x.b)
	if n.form == sized {
		at = 8*x.pos + off
	}
	v := x.raw(size, off, n, 0, field)
	if x.writing {
		return uint64(at)
	}
	return n.value(v)
}

// setSize sets the size at a place. One of variable size moves what follows.
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

// within passes contents of a size that was passed before, by body. null is the size of those that are not there, some, or below -1.
func (x *coder) within(at uint64, n number, method packing, some bool, null int64, field string, body func()) {
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
		x.pack(method, body)
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
	x.pack(method, body)
	x.inside--
	x.b, x.framed, x.pos = whole, framed, to
}

// packing is a method of compression.
type packing uint8

const (
	unpacked packing = iota
	packedZlib
	packedDeflate
	packedGzip
)

// pack passes contents that are compressed, up to the end.
func (x *coder) pack(method packing, body func()) {
	switch {
	case method == unpacked || x.err != nil:
		body()
	case x.writing:
		from, base := len(x.b), x.base
		x.base = from
		x.inside++
		body()
		x.inside--
		x.base = base
		if x.err == nil {
			x.b = append(x.b[:from], deflate(method, x.b[from:])...)
		}
		if x.inside == 0 {
			x.end()
		}
	default:
		plain, err := inflate(method, x.b[x.pos:], x.plain)
		if err != nil {
			x.illegal("compressed contents", err.Error())
			return
		}
		sent, framed, base := x.b, x.framed, x.base
		x.plain -= len(plain) + 1024
		x.bytes += 4 * len(plain)
		x.elements += 4 * len(plain)
		if x.plain < 0 {
			x.illegal("compressed contents", "are too large")
		}
		x.b, x.framed, x.pos, x.base = plain, true, 0, 0
		x.inside++
		body()
		x.inside--
		x.b, x.framed, x.pos, x.base = sent, framed, len(sent), base
	}
}

func inflate(method packing, b []byte, most int) (plain []byte, err error) {
	var r io.Reader
	switch in := bytes.NewReader(b); method {
	case packedZlib:
		r, err = zlib.NewReader(in)
	case packedGzip:
		r, err = gzip.NewReader(in)
	default:
		r = flate.NewReader(in)
	}
	if err == nil {
		plain, err = io.ReadAll(io.LimitReader(r, int64(max(most, 0))+1))
	}
	return plain, err
}

func deflate(method packing, plain []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch method {
	case packedZlib:
		w = zlib.NewWriter(&out)
	case packedGzip:
		w = gzip.NewWriter(&out)
	default:
		w, _ = flate.NewWriter(&out, flate.DefaultCompression)
	}
	w.Write(plain) // a bytes.Buffer never fails
	w.Close()
	return out.Bytes()
}

// end records that the message must end here, unless contents with an end of their own do.
func (x *coder) end() {
	if x.writing && x.last < 0 && x.inside == 0 {
		x.last = len(x.b)
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
func (x *coder) constant(size, at int, want string) {
	if x.writing {
		copy(x.item(size, at), want)
	} else if string(x.item(size, at)[:len(want)]) != want {
		x.illegal(fmt.Sprintf("% x", want), "the constant bytes differ")
	}
}

// known passes a number of a block that the message alone determines.
func (x *coder) known(size, off int, n number, want uint64, field string) {
	if x.raw(size, off, n, want, field) != want {
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

// add appends contents of n units, -1 if any number is legal.
func (x *coder) add(b []byte, n, unit int, field string) {
	if n >= 0 && len(b) != n*unit {
		x.illegal(field, "there are "+strconv.Itoa(len(b)/unit)+" units where "+strconv.Itoa(n)+" are required")
		return
	}
	x.b = append(x.b, b...)
}

// addEnded appends text and the unit that ends it.
func (x *coder) addEnded(b []byte, unit int, end byte, field string) {
	for i := 0; i+unit <= len(b); i += unit {
		if b[i] == end && (unit == 1 || b[i+1] == 0) {
			x.illegal(field, "the text contains a terminator")
		}
	}
	x.b = append(append(x.b, b...), []byte{end, 0}[:unit]...)
}

// text passes a text of n units, up to the end if n is -1, or up to the byte end if n is -2.
func (x *coder) text(p *string, set charset, n int, end byte, field string) {
	unit := set.unit()
	switch {
	case x.err != nil:
	case x.writing && n == -2:
		x.addEnded(x.encode(*p, set, field), unit, end, field)
	case x.writing:
		x.add(x.encode(*p, set, field), n, unit, field)
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
	switch {
	case x.err != nil:
	case x.writing:
		x.add(*p, n, 1, field)
	default:
		*p = append(Hex{}, x.content(n, 1, field)...)
	}
	if n == -1 {
		x.end()
	}
}

// fixed passes bytes of a block.
func (x *coder) fixed(p []byte, size, at int) {
	if x.writing {
		copy(x.item(size, at), p)
	} else {
		copy(p, x.item(size, at))
	}
}

// fixedText passes a text of n bytes of a block, which ends before the last run of pad bytes; all: it does not.
func (x *coder) fixedText(p *string, set charset, size, at, n int, all bool, pad byte, field string) {
	if x.writing {
		b := x.encode(*p, set, field)
		if len(b) > n || all && len(b) != n && len(b) > 0 {
			x.illegal(field, "there are "+strconv.Itoa(len(b))+" bytes where "+strconv.Itoa(n)+" fit")
			return
		}
		to := x.item(size, at)[:n]
		for i := copy(to, b); pad != 0 && i < n; i++ {
			to[i] = pad
		}
		return
	}
	b := x.item(size, at)[:n]
	switch {
	case all:
	case pad != 0:
		b = bytes.TrimRight(b, string(pad))
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
)

func (c charset) unit() int {
	if c == utf16LE {
		return 2
	}
	return 1
}

func (c charset) decode(b []byte) string {
	switch c {
	case utf16LE:
		return decode16(b)
	case latin1:
		return decodeLatin1(b)
	}
	return string(b)
}

func (x *coder) encode(s string, c charset, field string) []byte {
	switch c {
	case utf16LE:
		return encode16(s)
	case latin1:
		b, wide := encodeLatin1(s)
		if wide != 0 {
			x.illegal(field, "a character does not fit a byte: "+strconv.QuoteRune(wide))
		}
		return b
	}
	return []byte(s)
}

// units returns the number of units of a text.
func (c charset) units(s string) int {
	var x coder
	return len(x.encode(s, c, "")) / c.unit()
}

// null returns -1 for contents that are not there, n otherwise.
func null(n int, there bool) int {
	if there {
		return n
	}
	return -1
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

// wired is a message.
type wired interface{ wire(x *coder) }

func read(data []byte, m wired) (n int, err error) {
	x := newCoder(data)
	if m.wire(x); x.err != nil {
		return 0, x.err
	}
	return x.pos, nil
}

func write(dst []byte, m wired) ([]byte, error) {
	x := &coder{b: dst, base: len(dst), writing: true, last: -1}
	if m.wire(x); x.last >= 0 && len(x.b) > x.last {
		x.illegal("a part at the end of the message", "it is followed by other parts")
	}
	if x.err != nil {
		return dst, x.err
	}
	return x.b, nil
}

// flag passes a part of a bitfield that is set if all bits of a mask are. Those of others are kept.
func flag(x *coder, raw *uint64, mask uint64, p *bool) {
	switch set := *raw&mask == mask; {
	case !x.writing:
		*p = set
	case *p:
		*raw |= mask
	case set:
		*raw &^= mask
	}
}

// bitsOf passes bits of a bitfield.
func bitsOf[T integers](x *coder, raw *uint64, shift, width int, p *T, field string) {
	if !x.writing {
		*p = T(*raw >> shift & mask(width))
		return
	}
	if uint64(*p) > mask(width) {
		x.illegal(field, "the value does not fit its bits")
	}
	*raw = *raw&^(mask(width)<<shift) | uint64(*p)<<shift
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
