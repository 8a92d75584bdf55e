package envelope

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Field is a part of a message that belongs to no definition: a number, bytes or a checksum before or behind the contents.
type Field struct {
	Name     string
	At       int    // bytes before it in the message; negative: from the end of the message
	Number   Number // of a number or a checksum
	Size     int    // in bytes
	Constant []byte // the bytes it always has; nil: any
	Sum      *Sum   // of a checksum
	Span     source.Span
}

// end returns the place behind the field.
func (f *Field) end() int { return f.At + f.Size }

// Header is what surrounds the contents of the messages of a state in one direction: the code, a length that is part of the message, and
// fields. Its bytes are those of the message before Size, and the last ones, Tail.
type Header struct {
	Fields []Field // in the order of the text
	Code   Code
	Size   int // bytes before the contents, without a code of variable size
	Tail   int

	length   *Framing // of a length that is part of the message; nil: none
	zeros    bool     // see Framing.Zeros
	measured bool
	all      []Field // Fields, the length, and bytes that nothing is known about
	front    []schema.Item
	back     []schema.Item
	around   *schema.Message
	names    []*schema.Field // of the front
	ends     []*schema.Field // of the tail
}

// Stated reports whether the text has fields.
func (h *Header) Stated() bool { return len(h.Fields) > 0 }

// Bare reports whether the header is a code alone.
func (h *Header) Bare() bool {
	return len(h.all) == 0
}

// newHeader returns the header of a direction of a state, nil if there is nothing before the contents. The error is about the places of a field,
// or of the code.
func newHeader(s *State, way int, fields []Field) (h *Header, at source.Span, err error) {
	f, c := &s.Frame[way], s.Code[way]
	if b := s.Every(way); b != nil {
		f = &b.Frame
	}
	if c.Number.Kind == NoNumber && len(fields) == 0 {
		return nil, at, nil
	}
	h = &Header{Fields: slices.Clone(fields), Code: c, measured: f.Kind == Measured}
	var parts []piece
	for _, x := range fields {
		parts = append(parts, piece{Field: x})
	}
	if f.Kind == Length && f.Keep && f.Number.Kind == UInt {
		h.length, h.zeros = f, f.Zeros
		parts = append(parts, piece{Field: Field{Name: "length", At: f.At, Number: f.Number, Size: f.Number.Size}})
	}
	if c.Number.Kind != NoNumber {
		parts = append(parts, piece{Field: Field{At: c.At, Size: max(c.Number.Size, 1)}, code: true})
	}
	slices.SortStableFunc(parts, func(a, b piece) int {
		if a.At < 0 != (b.At < 0) {
			return b.At - a.At
		}
		return a.At - b.At
	})
	at, err = h.place(parts)
	if err == nil && h.zeros && c.Number.Kind != NoNumber && c.Number.Kind != UInt {
		at, err = c.Span, errors.New("zeros are left out of contents, whose place is not known, as they follow a code of variable size")
	}
	h.around = &schema.Message{Open: true, Body: &schema.Struct{
		Wire: h.front, Tail: h.back, Fields: slices.Concat(part("header", h.names), part("tail", h.ends)),
	}}
	return h, at, err
}

// Around returns the message that is the header and the tail alone, for messages without a definition: their contents are bytes of no field.
func (h *Header) Around() *schema.Message { return h.around }

// piece is a part of a header: a field, or the code.
type piece struct {
	Field
	code bool
}

// place makes the items of the header and of the tail. The error is about a part, at whose line it is, or at that of the one after the code.
func (h *Header) place(parts []piece) (at source.Span, err error) {
	next, tail, names := 0, false, map[string]bool{}
	for i := range parts {
		p := &parts[i]
		if at = p.Span; at.IsZero() && i > 0 {
			at = parts[i-1].Span
		}
		if !p.code && names[p.Name] {
			return at, fmt.Errorf("a second field %q", p.Name)
		}
		names[p.Name] = true
		if p.At < 0 && !tail {
			h.Size, next, tail = next, p.At, true
			h.Tail = -p.At
		}
		switch {
		case p.At < next:
			return at, fmt.Errorf("it overlaps what precedes it, up to byte %d", next)
		case tail && p.At+p.Size > 0:
			return at, errors.New("it extends past the end of the message")
		case tail && h.measured:
			return at, errors.New("a message that its definition measures has no end of its own")
		case i > 0 && parts[i-1].code && h.Code.Number.Kind != UInt && !tail:
			return at, errors.New("its place is not known, as it follows a code of variable size")
		}
		h.gap(next, p.At)
		h.add(p)
		next = p.At + p.Size
	}
	if tail {
		h.gap(next, 0)
	} else {
		h.Size = next
	}
	return at, nil
}

// gap adds bytes that nothing is known about.
func (h *Header) gap(from, to int) {
	switch n := to - from; {
	case n == 1:
		h.add(&piece{Field: Field{Name: gapName("byte", from), At: from, Number: Number{Kind: UInt, Size: 1}, Size: 1}})
	case n > 1:
		h.add(&piece{Field: Field{Name: gapName("bytes", from), At: from, Size: n}})
	}
}

// gapName returns the name of bytes without one: byte0 at the start, byte_1 for the last one.
func gapName(what string, at int) string {
	return what + strings.Replace(strconv.Itoa(at), "-", "_", 1)
}

// add adds the item of a part.
func (h *Header) add(p *piece) {
	items, fields := &h.front, &h.names
	if p.At < 0 {
		items, fields = &h.back, &h.ends
	}
	if p.code {
		n := h.Code.Number.schema()
		*items = append(*items, schema.Item{Kind: schema.Code, Bits: n.Bits, Order: n.Order, Num: n})
		return
	}
	f := &p.Field
	h.all = append(h.all, *f)
	x := &schema.Field{Name: f.Name}
	if f.Number.Kind == UInt {
		x.Type, x.TypeText = f.Number.schema(), f.Number.String()
	} else {
		x.Type, x.TypeText = &schema.Blob{Extent: schema.Extent{Size: schema.Fixed, N: f.Size}}, fmt.Sprintf("%d bytes", f.Size)
	}
	*fields = append(*fields, x)
	*items = append(*items, schema.Item{Kind: schema.Value, Field: x})
}

// schema returns the type of the number.
func (n Number) schema() *schema.Number {
	switch n.Kind {
	case VarInt:
		return &schema.Number{Bits: 32, Var: schema.LEB128}
	case ZigZag:
		return &schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.ZigZag}
	case BigVarInt:
		return &schema.Number{Bits: 32, Var: schema.VLQ}
	}
	return &schema.Number{Bits: 8 * n.Size, Order: n.Order}
}

// Fits reports whether definitions describe the header themselves: their code, after items that have no values, is where the envelope has it.
// start is the start of a definition, see schema.Message.Start.
func (h *Header) Fits(start []schema.Item) bool {
	if h == nil {
		return true
	}
	if h.Stated() || len(start) == 0 {
		return false
	}
	at := 0
	for _, it := range start[:len(start)-1] {
		switch it.Kind {
		case schema.Const:
			at += 8 * len(it.Bytes)
		default:
			at += it.Bits
		}
	}
	code, want := start[len(start)-1], h.Code.Number.schema()
	have := schema.Number{Bits: code.Bits, Order: code.Order}
	if code.Num != nil {
		have = *code.Num
	}
	if at != 8*h.Code.At || have.Var != want.Var {
		return false
	}
	return have.Var != schema.Sized || have.Bits == want.Bits && (have.Bits == 8 || have.Order == want.Order)
}

// Of returns a message behind the header, with m as AlternateOf; m itself if its definition describes the header, or if its code follows values
// of its own.
func (h *Header) Of(m *schema.Message) *schema.Message {
	if h == nil || m.Body == nil || m.AlternateOf != nil {
		return m
	}
	start, ok := m.Start()
	if ok && h.Fits(start) || !ok && (hasCode(m) || !h.Stated() && !isTagged(m)) {
		return m
	}
	for _, it := range m.Body.Wire[:len(start)] {
		if it.Field != nil {
			return m
		}
	}
	body := *m.Body
	body.Wire = slices.Concat(h.front, m.Body.Wire[len(start):])
	body.Tail = h.back
	header, tail := h.Names(m)
	body.Fields = slices.Concat(part(header, h.names), m.Body.Fields, part(tail, h.ends))
	out := *m
	out.Body, out.AlternateOf, out.Measured = &body, m, m.Measured && h.measured
	out.Front = len(h.front)
	out.Seal = func(frame []byte) { h.Seal(frame, m.Extra) }
	return &out
}

// hasCode reports whether the bytes of a message have its code. Others are contents alone.
func hasCode(m *schema.Message) bool {
	return slices.ContainsFunc(m.Body.Wire, func(it schema.Item) bool { return it.Kind == schema.Code })
}

// isTagged reports whether a message is elements with tags in any order, so that nothing else begins it.
func isTagged(m *schema.Message) bool {
	return len(m.Body.Wire) > 0 && m.Body.Wire[0].Kind == schema.Tagged
}

// Names returns the names of the fields of a message that have those of its header and of its tail: the first ones that its definition does not
// have.
func (h *Header) Names(m *schema.Message) (header, tail string) {
	return m.Body.Free("header"), m.Body.Free("tail")
}

// part returns the group of the fields around contents, none if there are none.
func part(name string, fields []*schema.Field) []*schema.Field {
	if len(fields) == 0 {
		return nil
	}
	return []*schema.Field{{Name: name, Type: &schema.Group{Around: true, Struct: &schema.Struct{Name: name, Fields: fields}}, TypeText: "envelope"}}
}

// Seal sets the length and the checksums of a message in place. It leaves out what the message has no room for, and checksums that count the
// extra bytes of a definition if these are nil.
func (h *Header) Seal(message, extra []byte) {
	if h == nil {
		return
	}
	wire := message
	if zeros := h.trailing(message); zeros > 0 {
		wire = h.without(message, zeros)
	}
	if f := h.length; f != nil && len(wire) >= f.At+f.Number.Size {
		if v, ok := f.length(len(wire)); ok {
			f.Number.put(message[f.At:], v)
			f.Number.put(wire[f.At:], v)
		}
	}
	for i := range h.Fields { // a checksum may cover those before it
		f := &h.Fields[i]
		if f.Sum == nil || f.Sum.Extra && extra == nil {
			continue
		}
		if at, ok := f.placed(len(wire)); ok {
			sum := f.sum(wire, at, extra)
			f.Number.put(wire[at:], sum)
			at, _ = f.placed(len(message))
			f.Number.put(message[at:], sum)
		}
	}
}

// trailing returns the number of zeros at the end of the contents of a message that its frame does not have: all but those of the first byte.
func (h *Header) trailing(message []byte) (n int) {
	if !h.zeros {
		return 0
	}
	for at := len(message) - h.Tail - 1; at > h.Size && message[at] == 0; at-- {
		n++
	}
	return n
}

// without returns a copy of a message without the last bytes of its contents.
func (h *Header) without(message []byte, n int) []byte {
	end := len(message) - h.Tail
	return append(append(make([]byte, 0, len(message)-n), message[:end-n]...), message[end:]...)
}

// Full returns a message of a frame with the zeros that were left out at the end of its contents, which with header and tail have a size in
// bytes: itself if there are none, or if its length is not that of the message.
func (h *Header) Full(message []byte, size int) []byte {
	if h == nil || !h.zeros || len(message) >= size || len(message) < h.Size+h.Tail {
		return message
	}
	f := h.length
	if v, ok := f.length(len(message)); !ok || f.Number.get(message[f.At:]) != v {
		return message
	}
	full := make([]byte, size)
	end := len(message) - h.Tail
	copy(full, message[:end])
	copy(full[size-h.Tail:], message[end:])
	return full
}

// Short is the inverse of Full: it returns a message as in a frame. The length in it says how many bytes these are.
func (h *Header) Short(message []byte) []byte {
	if h == nil || !h.zeros || len(message) < h.Size+h.Tail {
		return message
	}
	f := h.length
	v := int64(f.Number.get(message[f.At:]))
	most, ok := f.length(len(message))
	if n := (int64(most) - v) * f.Times; ok && v < int64(most) && n <= int64(len(message)-h.Size-h.Tail) {
		cut := message[len(message)-h.Tail-int(n) : len(message)-h.Tail]
		if len(bytes.TrimLeft(cut, "\x00")) == 0 {
			return h.without(message, int(n))
		}
	}
	return message
}

// Leaves reports whether frames lack zeros that messages have, see Full.
func (h *Header) Leaves() bool { return h != nil && h.zeros }

// constant returns the place behind the constants of the header.
func (h *Header) constant() (end int) {
	for i := range h.Fields {
		if f := &h.Fields[i]; f.Constant != nil && f.At >= 0 {
			end = max(end, f.end())
		}
	}
	return end
}

// length returns the number of a length that is part of a message of n bytes.
func (f *Framing) length(n int) (v uint64, ok bool) {
	x := int64(n) - f.Add
	switch f.Counts {
	case Rest:
		x -= int64(f.At + f.Number.Size)
	case Itself:
		x -= int64(f.At)
	}
	if x < 0 || x%f.Times != 0 {
		return 0, false
	}
	v = uint64(x / f.Times)
	return v, f.Number.Size == 8 || v>>(8*f.Number.Size) == 0
}

// placed returns the place of a field in a message of n bytes.
func (f *Field) placed(n int) (at int, ok bool) {
	if at = f.At; at < 0 {
		at += n
	}
	return at, at >= 0 && at+f.Size <= n
}

func (f *Field) sum(message []byte, at int, extra []byte) uint64 {
	from, to := f.Sum.Bounds(len(message), at, at+f.Size, f.At < 0)
	if !f.Sum.Extra {
		extra = nil
	}
	return f.Sum.Of(message, from, to, at, at+f.Size, extra)
}

// put writes a number of fixed size.
func (n Number) put(dst []byte, v uint64) {
	for i := range n.Size {
		if n.Order == schema.Big {
			dst[n.Size-1-i] = byte(v)
		} else {
			dst[i] = byte(v)
		}
		v >>= 8
	}
}

// get reads a number of fixed size.
func (n Number) get(src []byte) (v uint64) {
	for i := range n.Size {
		if n.Order == schema.Big {
			v = v<<8 | uint64(src[i])
		} else {
			v |= uint64(src[i]) << (8 * i)
		}
	}
	return v
}

// Wrong returns the first constant or checksum with another value than the message must have, nil if there is none. Checksums that count the
// extra bytes of a definition are not looked at if these are nil.
func (h *Header) Wrong(message, extra []byte) *Field {
	message = h.Short(message)
	for i := range h.Fields {
		f := &h.Fields[i]
		at, ok := f.placed(len(message))
		switch {
		case !ok:
		case f.Sum != nil && f.Sum.Extra && extra == nil:
		case f.Sum != nil && f.Number.get(message[at:]) != f.sum(message, at, extra),
			f.Constant != nil && !bytes.Equal(message[at:at+f.Size], f.Constant):
			return f
		}
	}
	return nil
}

// Begins reports whether the constants of the header are in the first bytes of a message, as far as these go.
func (h *Header) Begins(start []byte) bool {
	for i := range h.Fields {
		if f := &h.Fields[i]; f.Constant != nil && f.At >= 0 && f.end() <= len(start) && !bytes.Equal(start[f.At:f.end()], f.Constant) {
			return false
		}
	}
	return true
}

// Why returns the reason for f, the result of Wrong.
func (h *Header) Why(f *Field, message, extra []byte) string {
	message = h.Short(message)
	at, ok := f.placed(len(message))
	switch {
	case !ok:
		return ""
	case f.Sum == nil:
		return fmt.Sprintf("%s is %x, not %x", f.Name, message[at:at+f.Size], f.Constant)
	}
	return fmt.Sprintf("the checksum %s is 0x%0*x; that of the bytes is 0x%0*x", f.Name, 2*f.Size, f.Number.get(message[at:]), 2*f.Size, f.sum(message, at, extra))
}

// Checks returns the number of bits that Wrong looks at.
func (h *Header) Checks() (n int) {
	for i := range h.Fields {
		if f := &h.Fields[i]; f.Sum != nil || f.Constant != nil {
			n += 8 * f.Size
		}
	}
	return n
}

// Part is a field of the header or the tail, with the value that it has if none is given.
type Part struct {
	Name     string
	At, Size int    // bytes, as of a Field
	Constant []byte // nil: it has no value of its own
	Computed bool   // Seal sets it

	number Number
}

// Value returns the constant as JSON.
func (p *Part) Value() []byte {
	switch {
	case p.number.Kind != UInt:
		return []byte(`"` + hex.EncodeToString(p.Constant) + `"`)
	case p.Size > 4: // as of other numbers that JavaScript cannot hold
		return []byte(`"` + strconv.FormatUint(p.number.get(p.Constant), 10) + `"`)
	}
	return []byte(strconv.FormatUint(p.number.get(p.Constant), 10))
}

// Opens reports whether the header, without the tail, has bytes that a message may leave to the one before it.
func (h *Header) Opens() bool {
	return slices.ContainsFunc(h.all, func(f Field) bool { return f.At >= 0 && f.Sum == nil && f.Constant == nil })
}

// Parts returns the fields of the header and the tail in order, without the code.
func (h *Header) Parts() (out []Part) {
	for i := range h.all {
		f := &h.all[i]
		out = append(out, Part{f.Name, f.At, f.Size, f.Constant, f.Sum != nil || h.length != nil && f.Name == "length" && f.At == h.length.At, f.Number})
	}
	return out
}

// words returns the field as in a text.
func (f *Field) words() string {
	var words []string
	switch {
	case f.Sum != nil:
		words = []string{Word(f.Name), f.Sum.words()}
		if f.Size > 1 {
			words = append(words, [...]string{"le", "be"}[f.Number.Order])
		}
	case f.Number.Kind == UInt:
		words = []string{Word(f.Name), f.Number.String()}
	case f.Constant != nil:
		words = []string{Word(f.Name), "hex", hex.EncodeToString(f.Constant)}
	default:
		words = []string{Word(f.Name), "bytes", strconv.Itoa(f.Size)}
	}
	words = append(words, "at", strconv.Itoa(f.At))
	switch {
	case f.Sum != nil && f.Sum.Over:
		words = append(words, f.Sum.over())
	case f.Number.Kind == UInt && f.Constant != nil:
		words = append(words, "=", strconv.FormatUint(f.Number.get(f.Constant), 10))
	}
	if f.Sum != nil && f.Sum.Extra {
		words = append(words, "extra")
	}
	return strings.Join(words, " ")
}
