package protobuf

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wirebench/defs/text"
)

// Limits of a guess.
const (
	maxSketch       = 64 << 10 // bytes of a message
	maxSketchDepth  = 32       // of messages in messages
	maxSketchFields = 1000     // of all messages together
)

// The numbers that the language reserves for itself.
const firstReserved, lastReserved = 19000, 19999

// The least evidence for contents that are a message or packed numbers, in bits.
const (
	leastMessage = 2
	leastPacked  = 3
)

// Sketch guesses the definition of a message from its bytes. Behind each field stands what speaks for its type, and what else it may be.
// ok is false if less than half of the bytes can be read as fields.
//
// A type is chosen by evidence: how improbable it is, in bits, that random bytes have the form of a text, a message, or numbers. All values
// of a field count, in all messages of one type.
func Sketch(name string, data []byte) (definition string, ok bool) {
	if len(data) > maxSketch {
		return "", false
	}
	top, n, _ := scan(data, 0, 0)
	if len(top) == 0 || n < len(data)/2 {
		return "", false
	}
	g := guesser{left: maxSketchFields}
	m := g.message([][]sent{top}, 0)
	w := sketchWriter{guesser: &g}
	w.line(0, "// Guessed from %d bytes: behind each field stands why.", len(data))
	if n < len(data) {
		w.line(0, "// The bytes from %d on are no field.", n)
	}
	if g.cut {
		w.line(0, "// More fields than %d are not guessed.", maxSketchFields)
	}
	if g.reserved {
		w.line(0, "// Numbers from %d to %d cannot be in a definition: their fields are unknown ones.", firstReserved, lastReserved)
	}
	w.line(0, "syntax = \"proto%d\";", map[bool]int{true: 2, false: 3}[g.groups])
	w.line(0, "")
	w.message(0, name, m)
	return w.out.String(), true
}

// sent is a field as it was sent.
type sent struct {
	number uint32
	wire   uint8
	value  uint64 // a number
	size   int    // of a number
	data   []byte // contents
	room   int    // bytes that the contents could have had
	group  []sent
}

// scan reads fields up to the end, or to the tag that ends a group. n is the number of bytes of those that are whole; whole reports
// whether they are all.
func scan(data []byte, end uint32, depth int) (out []sent, n int, whole bool) {
	if depth > maxSketchDepth {
		return nil, 0, false
	}
	for n < len(data) {
		tag, k := binary.Uvarint(data[n:])
		if k <= 0 || tag > math.MaxUint32 || tag>>3 == 0 {
			return out, n, false
		}
		at := n + k
		s := sent{number: uint32(tag >> 3), wire: uint8(tag & 7)}
		switch s.wire {
		case wireVarint:
			s.value, s.size = binary.Uvarint(data[at:])
		case wireFixed64:
			if s.size = 8; len(data)-at >= 8 {
				s.value = binary.LittleEndian.Uint64(data[at:])
			}
		case wireFixed32:
			if s.size = 4; len(data)-at >= 4 {
				s.value = uint64(binary.LittleEndian.Uint32(data[at:]))
			}
		case wireBytes:
			size, k := binary.Uvarint(data[at:])
			if k <= 0 || size > uint64(len(data)-at-k) {
				return out, n, false
			}
			at += k
			s.room, s.size = len(data)-at, int(size)
			s.data = data[at : at+s.size]
		case wireGroup:
			var ended bool
			s.group, s.size, ended = scan(data[at:], uint32(tag)+1, depth+1)
			if !ended {
				return out, n, false
			}
		case wireEnd:
			return out, at, end != 0 && uint32(tag) == end
		default:
			return out, n, false
		}
		if s.size < 0 || s.size == 0 && s.wire != wireBytes && s.wire != wireGroup || at+s.size > len(data) {
			return out, n, false
		}
		n = at + s.size
		out = append(out, s)
	}
	return out, n, end == 0
}

// guesser guesses types.
type guesser struct {
	left   int  // fields that may be added
	cut    bool // there were more
	groups bool // there are groups, which only proto2 has

	reserved bool // there are fields with reserved numbers
}

// shape is the guessed type of a message.
type shape struct {
	fields []*guess // in the order of their numbers
	bits   float64  // evidence
	count  int      // fields that were sent
}

// guess is the guessed type of a field.
type guess struct {
	number   uint32
	all      [6][]sent // by wire type
	repeated bool
	typ      string // "" for a message
	packed   bool
	message  *shape
	isGroup  bool
	why      string
}

// message guesses a type from messages of it.
func (g *guesser) message(messages [][]sent, depth int) *shape {
	m := &shape{}
	byNumber := map[uint32]*guess{}
	for _, fields := range messages {
		seen := map[uint32]bool{}
		for _, s := range fields {
			f := byNumber[s.number]
			switch {
			case s.number >= firstReserved && s.number <= lastReserved:
				g.reserved = true
				continue
			case f == nil && g.left == 0:
				g.cut = true
				continue
			case f == nil:
				g.left--
				f = &guess{number: s.number}
				byNumber[s.number] = f
				m.fields = append(m.fields, f)
				if s.number > 15 { // improbable; one up to 15 is a quarter of all tags
					m.bits -= math.Log2(float64(s.number)/15) + 2
				}
			}
			m.bits += 2
			m.count++
			f.repeated = f.repeated || seen[s.number]
			seen[s.number] = true
			f.all[s.wire] = append(f.all[s.wire], s)
		}
	}
	slices.SortFunc(m.fields, func(a, b *guess) int { return int(a.number) - int(b.number) })
	for _, f := range m.fields {
		m.bits += g.field(f, depth)
	}
	return m
}

// field guesses the type of a field, and returns the evidence.
func (g *guesser) field(f *guess, depth int) (bits float64) {
	most := 0
	for w := range f.all {
		if len(f.all[w]) > len(f.all[most]) {
			most = w
		}
	}
	mixed := 0
	for w := range f.all {
		if w != most {
			mixed += len(f.all[w])
		}
	}
	of := f.all[most]
	switch most {
	case wireVarint:
		bits = f.varint(of)
	case wireFixed32:
		bits = f.fixed(of, 32)
	case wireFixed64:
		bits = f.fixed(of, 64)
	case wireBytes:
		bits = g.contents(f, of, depth)
	case wireGroup:
		g.groups, f.isGroup = true, true
		var messages [][]sent
		for _, s := range of {
			messages = append(messages, s.group)
		}
		f.message = g.message(messages, depth+1)
		f.why = "a group of " + counted(f.message.count, "field")
		bits = f.message.bits + 8*float64(len(of)) // of the tags at the ends
	}
	if mixed > 0 {
		f.why += "; " + counted(mixed, "value") + " of other kinds"
		bits -= 8 * float64(mixed)
	}
	return bits
}

// varint guesses the type of numbers of variable size.
func (f *guess) varint(all []sent) (bits float64) {
	top, negative, small, isInt32 := uint64(0), false, true, true
	for _, s := range all {
		if int64(s.value) < 0 {
			negative = true
			isInt32 = isInt32 && int64(s.value) >= math.MinInt32
		} else {
			top = max(top, s.value)
		}
		small = small && s.value <= 1
		if s.size > 1 && s.value>>(7*(s.size-1)) == 0 {
			bits -= 8 // more bytes than it needs
		}
	}
	f.typ = "uint32"
	show := func(s sent) string { return strconv.FormatUint(s.value, 10) }
	switch {
	case negative:
		show = func(s sent) string { return strconv.FormatInt(int64(s.value), 10) }
		if f.typ = "int64"; isInt32 && top <= math.MaxInt32 {
			f.typ = "int32"
		}
	case top > math.MaxUint32:
		f.typ = "uint64"
	}
	f.why = values(all, show)
	switch at := when(top); {
	case small:
		f.why += "; may be bool"
	case negative:
		f.why += "; ten bytes"
	case at != "":
		f.why += "; as a time " + at
		bits += 3
	}
	return bits
}

// fixed guesses the type of numbers of 4 or 8 bytes.
func (f *guess) fixed(all []sent, size int) float64 {
	isFloat, negative, small := true, false, true
	asFloat := func(s sent) float64 {
		if size == 32 {
			return float64(math.Float32frombits(uint32(s.value)))
		}
		return math.Float64frombits(s.value)
	}
	asInt := func(s sent) int64 {
		if size == 32 {
			return int64(int32(s.value))
		}
		return int64(s.value)
	}
	for _, s := range all {
		isFloat = isFloat && plausible(asFloat(s))
		negative = negative || asInt(s) < 0
		small = small && asInt(s) > -1<<(size/2) && asInt(s) < 1<<(size/2)
	}
	zero := !slices.ContainsFunc(all, func(s sent) bool { return s.value != 0 })
	integer := "fixed"
	show := func(s sent) string { return strconv.FormatUint(s.value, 10) }
	if negative && small {
		integer, show = "sfixed", func(s sent) string { return strconv.FormatInt(asInt(s), 10) }
	}
	if isFloat && !zero {
		f.typ = map[int]string{32: "float", 64: "double"}[size]
		f.why = values(all, func(s sent) string { return strconv.FormatFloat(asFloat(s), 'g', 7, 64) }) + "; as integers " + values(all, show)
		return floatBits(size) * float64(len(all))
	}
	f.typ = integer + strconv.Itoa(size)
	f.why = values(all, show)
	if at := when(all[0].value); at != "" {
		f.why += "; as a time " + at
	}
	return 0
}

// plausible reports whether a number with a fraction is one that people use.
func plausible(x float64) bool {
	return x == 0 || math.Abs(x) > 1e-6 && math.Abs(x) < 1e9
}

// floatBits returns how improbable a plausible number is among random bytes: by the part of the exponents.
func floatBits(size int) float64 { return map[int]float64{32: 2.3, 64: 5.3}[size] }

// contents guesses the type of contents.
func (g *guesser) contents(f *guess, all []sent, depth int) (bits float64) {
	total := 0
	for _, s := range all {
		total += len(s.data)
		bits += max(8-math.Log2(float64(s.room+1)), 0) // a random size would be too large
	}
	if total == 0 {
		f.typ, f.why = "bytes", "empty: a text, bytes or a message"
		return bits
	}
	sizes := fmt.Sprintf("%s of %s", counted(total, "byte"), counted(len(all), "value"))
	if len(all) == 1 {
		sizes = counted(total, "byte")
	}
	asText, isText := textBits(all)
	nested := g.nested(all, depth)
	packedAs, asPacked, many := packedBits(all)
	isMessage := nested != nil && nested.bits >= leastMessage
	isPacked := asPacked >= leastPacked && !f.repeated // all of them would be in one value
	switch {
	case isMessage && (!isText || nested.bits > asText) && (!isPacked || nested.bits >= asPacked):
		f.message = nested
		f.why = fmt.Sprintf("%s in %s", counted(nested.count, "field"), sizes)
		if isText {
			f.why += "; may be a text: " + excerpt(all)
		}
		return bits + nested.bits
	case isText && (!isPacked || asText >= asPacked):
		f.typ, f.why = "string", excerpt(all)
		if isMessage {
			f.why += "; may be a message of " + counted(nested.count, "field")
		}
		return bits + asText
	case isPacked:
		f.typ, f.packed, f.repeated = packedAs, true, true
		f.why = fmt.Sprintf("%s in %s", counted(many, "number"), sizes)
		if isMessage {
			f.why += "; may be a message of " + counted(nested.count, "field")
		}
		return bits + asPacked
	}
	f.typ, f.why = "bytes", sizes+": no text, message or numbers"
	return bits
}

// nested guesses the type of contents that are all messages; nil if they are not.
func (g *guesser) nested(all []sent, depth int) *shape {
	if depth >= maxSketchDepth {
		return nil
	}
	var messages [][]sent
	for _, s := range all {
		fields, _, whole := scan(s.data, 0, depth+1)
		if !whole {
			return nil
		}
		messages = append(messages, fields)
	}
	was := *g
	m := g.message(messages, depth+1)
	if m.bits < leastMessage {
		*g = was
	}
	return m
}

// textBits returns the evidence that contents are text.
func textBits(all []sent) (bits float64, ok bool) {
	for _, s := range all {
		if !utf8.Valid(s.data) {
			return 0, false
		}
		for _, r := range string(s.data) {
			switch {
			case r == '\n' || r == '\t' || r == '\r':
			case !unicode.IsPrint(r):
				return 0, false
			case r >= utf8.RuneSelf:
				bits += 4
			case unicode.IsLetter(r) || r == ' ' || unicode.IsDigit(r):
				bits += 1.6
			default:
				bits++
			}
		}
	}
	return bits, bits > 0
}

// packedBits returns the evidence that contents are numbers in one piece, and the number of these.
func packedBits(all []sent) (typ string, bits float64, many int) {
	for _, size := range [...]int{64, 32} {
		n, fits := 0, true
		for _, s := range all {
			if len(s.data)%(size/8) != 0 {
				fits = false
				break
			}
			for b := s.data; len(b) > 0; b = b[size/8:] {
				x := math.Float64frombits(binary.LittleEndian.Uint64(append(slices.Clone(b[:size/8]), make([]byte, 8)...)))
				if size == 32 {
					x = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
				}
				fits = fits && plausible(x)
				n++
			}
		}
		if evidence := floatBits(size) * float64(n); fits && n > 1 && evidence > bits {
			typ, bits, many = map[int]string{32: "float", 64: "double"}[size], evidence, n
		}
	}
	n, top, evidence := 0, uint64(0), 0.0
	for _, s := range all {
		for b := s.data; len(b) > 0; n++ {
			x, k := binary.Uvarint(b)
			if k <= 0 || k > 1 && x>>(7*(k-1)) == 0 {
				return typ, bits, many
			}
			top = max(top, x)
			evidence += [...]float64{1: 1, 2: 0, 3: -1, 4: -2}[min(k, 4)]
			b = b[k:]
		}
	}
	if n > 1 && evidence > bits {
		if typ, bits, many = "uint32", evidence, n; top > math.MaxUint32 {
			typ = "uint64"
		}
	}
	return typ, bits, many
}

// when returns a number as a time, if it may be one: seconds or milliseconds since 1970, of the years 2000 to 2037.
func when(n uint64) string {
	const from, to = 946684800, 2145916800
	switch {
	case n >= from && n < to:
		return time.Unix(int64(n), 0).UTC().Format(time.RFC3339)
	case n >= from*1000 && n < to*1000:
		return time.UnixMilli(int64(n)).UTC().Format(time.RFC3339)
	}
	return ""
}

// values returns the first values of a field.
func values(all []sent, show func(s sent) string) string {
	var out []string
	for _, s := range all {
		if v := show(s); !slices.Contains(out, v) {
			out = append(out, v)
		}
		if len(out) == 4 {
			out[3] = "…"
			break
		}
	}
	return strings.Join(out, ", ")
}

// excerpt returns the first text of a field.
func excerpt(all []sent) string {
	for _, s := range all {
		if len(s.data) > 0 {
			return text.Quote(string(s.data))
		}
	}
	return `""`
}

// counted returns a number of things: "1 field", "2 fields".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sketchWriter writes guessed types.
type sketchWriter struct {
	*guesser
	out strings.Builder
}

func (w *sketchWriter) line(depth int, format string, args ...any) {
	line := strings.Repeat("  ", depth) + fmt.Sprintf(format, args...)
	w.out.WriteString(strings.TrimRight(line, " ") + "\n")
}

// message writes a message, with those of its fields after these.
func (w *sketchWriter) message(depth int, name string, m *shape) {
	w.line(depth, "message %s {", name)
	w.fields(depth+1, m)
	w.line(depth, "}")
}

func (w *sketchWriter) fields(depth int, m *shape) {
	var inside []*guess
	for _, f := range m.fields {
		label, option := w.marks(f)
		typ := f.typ
		if f.message != nil {
			typ = fmt.Sprintf("Field%d", f.number)
		}
		if f.isGroup {
			w.line(depth, "// %s", f.why)
			w.line(depth, "%sgroup %s = %d {", label, typ, f.number)
			w.fields(depth+1, f.message)
			w.line(depth, "}")
			continue
		}
		w.line(depth, "%s%s field_%d = %d%s; // %s", label, typ, f.number, f.number, option, f.why)
		if f.message != nil {
			inside = append(inside, f)
		}
	}
	for _, f := range inside {
		w.line(depth, "")
		w.message(depth, fmt.Sprintf("Field%d", f.number), f.message)
	}
}

// marks returns the words before the type of a field, and the options behind its number.
func (w *sketchWriter) marks(f *guess) (label, option string) {
	switch {
	case f.repeated:
		label = "repeated "
	case w.groups:
		label = "optional "
	}
	if numeric := f.message == nil && f.typ != "string" && f.typ != "bytes"; numeric && f.repeated && f.packed == w.groups {
		option = fmt.Sprintf(" [packed = %t]", f.packed) // not as the syntax has it without a word
	}
	return label, option
}
