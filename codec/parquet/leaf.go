package parquet

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/defs/schema"
)

// leafKind is the kind of the values of a column, and how they are made.
type leafKind uint8

const (
	uint8Leaf leafKind = iota
	uint16Leaf
	uint32Leaf
	uint64Leaf
	int8Leaf
	int16Leaf
	int32Leaf
	int64Leaf
	boolLeaf
	floatLeaf
	doubleLeaf
	namedLeaf    // the name of a number, or its decimal text
	textLeaf     // of a charset
	bytesLeaf    //
	uuidLeaf     //
	madeLeaf     // text that the Set has made
	jsonLeaf     // likewise, JSON
	presenceLeaf // true for a group without fields that is there
)

// leafNodes are the types of the columns.
var leafNodes = [...]pq.Node{
	uint8Leaf: pq.Uint(8), uint16Leaf: pq.Uint(16), uint32Leaf: pq.Uint(32), uint64Leaf: pq.Uint(64),
	int8Leaf: pq.Int(8), int16Leaf: pq.Int(16), int32Leaf: pq.Int(32), int64Leaf: pq.Int(64),
	boolLeaf: pq.Leaf(pq.BooleanType), floatLeaf: pq.Leaf(pq.FloatType), doubleLeaf: pq.Leaf(pq.DoubleType),
	namedLeaf: dictionary(pq.String()), textLeaf: dictionary(pq.String()), bytesLeaf: pq.Leaf(pq.ByteArrayType), uuidLeaf: pq.UUID(),
	madeLeaf: pq.String(), jsonLeaf: pq.JSON(), presenceLeaf: pq.Leaf(pq.BooleanType),
}

func dictionary(n pq.Node) pq.Node { return pq.Encoded(n, &pq.RLEDictionary) }

// unsignedKind is the kind of unsigned numbers of so many bits.
func unsignedKind(bits int) leafKind {
	switch {
	case bits <= 8:
		return uint8Leaf
	case bits <= 16:
		return uint16Leaf
	case bits <= 32:
		return uint32Leaf
	}
	return uint64Leaf
}

// numberKind is the kind of the values of a number.
func numberKind(t *schema.Number) leafKind {
	switch {
	case t.Enum != nil && t.Enum.Shown:
		return namedLeaf
	case t.Scale != 0, t.Kind == schema.Float && t.Bits == 64:
		return doubleLeaf
	case t.Kind == schema.Float:
		return floatLeaf
	case t.Kind == schema.Bool:
		return boolLeaf
	case t.Add != 0 && t.Kind == schema.Unsigned && t.Bits == 64:
		return namedLeaf // the sum may have more bits
	case t.Add != 0:
		return int64Leaf
	case t.Kind == schema.Signed:
		return int8Leaf + unsignedKind(t.Bits)
	}
	return unsignedKind(t.Bits)
}

// leaf is a column of a field, or of a part of a bitfield.
type leaf struct {
	kind    leafKind
	path    []*node          // from the top to the leaf
	fields  []uint16         // with the values: of several at most one has a value in a row
	numbers []*schema.Number // by field, of numbers
	flags   *schema.Bitfield
	part    string // of flags
	all     bool   // the value is all the flags
	bodies  []bool // presenceLeaf: by alternative
}

// filler is a leaf and the values of the messages that are being written.
type filler struct {
	*leaf
	set    *columns.Set
	column int
	last   int // definition level of a value
	out    []pq.Value
	arena  []byte // bytes of out
}

// add appends the value of a row, or a null value.
func (s *filler) add(row, rep, def int) {
	for k, f := range s.fields {
		if f == codec.NoField { // a group without fields that is always there
			s.out = append(s.out, pq.BooleanValue(true).Level(rep, s.last, s.column))
			return
		}
		if !s.set.Has(f, row) {
			continue
		}
		if v, ok := s.value(k, f, row); ok {
			s.out = append(s.out, v.Level(rep, s.last, s.column))
			return
		}
	}
	s.out = append(s.out, pq.Value{}.Level(rep, def, s.column))
}

// value returns the value of a field in a row that has one.
func (s *filler) value(k int, f uint16, row int) (v pq.Value, ok bool) {
	switch s.kind {
	case textLeaf:
		from := len(s.arena)
		s.arena, ok = s.set.AppendText(s.arena, f, row)
		return pq.ByteArrayValue(s.valid(from)), ok
	case bytesLeaf:
		b, ok := s.set.Bytes(f, row)
		return pq.ByteArrayValue(b), ok
	case uuidLeaf:
		b, ok := s.set.Bytes(f, row)
		return pq.FixedLenByteArrayValue(b), ok && len(b) == 16
	case presenceLeaf:
		pick := s.set.Picks(f)[row]
		return pq.BooleanValue(true), s.bodies == nil || pick < uint64(len(s.bodies)) && s.bodies[pick]
	}
	if s.flags != nil {
		return s.flag(f, row), true
	}
	if s.kind == madeLeaf || s.kind == jsonLeaf {
		spans, made := s.set.Made(f)
		return pq.ByteArrayValue(made[spans[row].Off:][:spans[row].Len]), true
	}
	raw, num := s.set.Numbers(f)[row], s.numbers[k]
	switch s.kind {
	case boolLeaf:
		return pq.BooleanValue(raw != 0), true
	case floatLeaf:
		if num.Bits == 32 {
			return pq.FloatValue(math.Float32frombits(uint32(raw))), true // also a NaN with all its bits
		}
		return pq.FloatValue(float32(num.Float(raw))), true
	case doubleLeaf:
		return pq.DoubleValue(num.Float(raw)), true
	case namedLeaf:
		from := len(s.arena)
		s.arena = appendShown(s.arena, num, raw)
		return pq.ByteArrayValue(s.valid(from)), true
	case int64Leaf:
		if num.Add != 0 {
			return pq.Int64Value(num.Units(raw)), true
		}
		return pq.Int64Value(num.Int(raw)), true
	case uint64Leaf:
		return pq.Int64Value(int64(raw)), true
	case int8Leaf, int16Leaf, int32Leaf:
		return pq.Int32Value(int32(num.Int(raw))), true
	}
	return pq.Int32Value(int32(raw)), true
}

// flag returns the value of a part of a bitfield.
func (s *filler) flag(f uint16, row int) pq.Value {
	high, raw := uint64(0), uint64(0)
	if s.set.Kind(f) == columns.MadeColumn {
		spans, made := s.set.Made(f)
		b := made[spans[row].Off:][:16]
		high, raw = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	} else {
		raw = s.set.Numbers(f)[row]
	}
	v := raw
	if !s.all {
		v = 0
		if p := s.flags.Form(raw).Part(s.part); p != nil {
			v = p.In(high, raw)
		}
	}
	switch s.kind {
	case boolLeaf:
		return pq.BooleanValue(v != 0)
	case madeLeaf:
		from := len(s.arena)
		s.arena = codec.AppendLongText(s.arena, high, raw)
		return pq.ByteArrayValue(s.arena[from:])
	case uint64Leaf:
		return pq.Int64Value(int64(v))
	}
	return pq.Int32Value(int32(v))
}

// valid returns the bytes of the arena from one on as valid UTF-8: each byte that is not becomes U+FFFD.
func (s *filler) valid(from int) []byte {
	if b := s.arena[from:]; utf8.Valid(b) {
		return b
	}
	text := string(s.arena[from:])
	s.arena = s.arena[:from]
	for _, c := range text {
		s.arena = utf8.AppendRune(s.arena, c)
	}
	return s.arena[from:]
}
