package codec_test

import (
	"encoding/binary"
	"math"

	"wirebench/defs/schema"
)

// The shapes of the benchmarks, each with its schema, a struct, and well-written manual code for it: bounds are checked once per message,
// memory is reused, strings remain bytes of the message.

// span is the manual code's representation of a value: its field, its position, and its bits.
type span struct {
	Field, Size uint16
	Off         uint32
	Bits        uint64
}

// shapeS is 30 bytes: 8 numbers of fixed size, three of them floats, after the frame's header.
type shapeS struct {
	ID      uint32  `json:"id"`
	X       float32 `json:"x"`
	Y       float32 `json:"y"`
	Z       float32 `json:"z"`
	Heading int16   `json:"heading"`
	Speed   uint16  `json:"speed"`
	State   uint16  `json:"state"`
	Time    uint32  `json:"time"`
}

func header() []schema.Item {
	return []schema.Item{{Kind: schema.Length, Bits: 16}, {Kind: schema.Code, Bits: 16}}
}

func schemaS() *schema.Message {
	s := record(field("id", unsigned(32)), field("x", float(32)), field("y", float(32)), field("z", float(32)),
		field("heading", integer(16)), field("speed", unsigned(16)), field("state", unsigned(16)), field("time", unsigned(32)))
	s.Wire = append(header(), s.Wire...)
	return message("S", s)
}

func (m *shapeS) read(b []byte) bool {
	if len(b) < 30 || int(binary.LittleEndian.Uint16(b)) != 30 {
		return false
	}
	b = b[:30]
	m.ID = binary.LittleEndian.Uint32(b[4:])
	m.X = math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))
	m.Y = math.Float32frombits(binary.LittleEndian.Uint32(b[12:]))
	m.Z = math.Float32frombits(binary.LittleEndian.Uint32(b[16:]))
	m.Heading = int16(binary.LittleEndian.Uint16(b[20:]))
	m.Speed = binary.LittleEndian.Uint16(b[22:])
	m.State = binary.LittleEndian.Uint16(b[24:])
	m.Time = binary.LittleEndian.Uint32(b[26:])
	return true
}

func (m *shapeS) write(b []byte, code uint16) []byte {
	b = b[:30]
	binary.LittleEndian.PutUint16(b, 30)
	binary.LittleEndian.PutUint16(b[2:], code)
	binary.LittleEndian.PutUint32(b[4:], m.ID)
	binary.LittleEndian.PutUint32(b[8:], math.Float32bits(m.X))
	binary.LittleEndian.PutUint32(b[12:], math.Float32bits(m.Y))
	binary.LittleEndian.PutUint32(b[16:], math.Float32bits(m.Z))
	binary.LittleEndian.PutUint16(b[20:], uint16(m.Heading))
	binary.LittleEndian.PutUint16(b[22:], m.Speed)
	binary.LittleEndian.PutUint16(b[24:], m.State)
	binary.LittleEndian.PutUint32(b[26:], m.Time)
	return b
}

func spansS(dst []span, b []byte) []span {
	if len(b) < 30 || int(binary.LittleEndian.Uint16(b)) != 30 {
		return dst
	}
	b = b[:30]
	return append(dst,
		span{0xffff, 16, 0, uint64(binary.LittleEndian.Uint16(b))},
		span{0xffff, 16, 16, uint64(binary.LittleEndian.Uint16(b[2:]))},
		span{0, 32, 32, uint64(binary.LittleEndian.Uint32(b[4:]))},
		span{1, 32, 64, uint64(binary.LittleEndian.Uint32(b[8:]))},
		span{2, 32, 96, uint64(binary.LittleEndian.Uint32(b[12:]))},
		span{3, 32, 128, uint64(binary.LittleEndian.Uint32(b[16:]))},
		span{4, 16, 160, uint64(binary.LittleEndian.Uint16(b[20:]))},
		span{5, 16, 176, uint64(binary.LittleEndian.Uint16(b[22:]))},
		span{6, 16, 192, uint64(binary.LittleEndian.Uint16(b[24:]))},
		span{7, 32, 208, uint64(binary.LittleEndian.Uint32(b[26:]))},
	)
}

// shapeM is about 60 bytes: numbers and a name whose length is counted.
type shapeM struct {
	ID     uint64 `json:"id,string"`
	Name   []byte `json:"-"`
	Level  uint16 `json:"level"`
	Race   uint8  `json:"race"`
	Class  uint8  `json:"class"`
	MapID  uint32 `json:"map_id"`
	Guild  uint32 `json:"guild"`
	Gold   uint64 `json:"gold,string"`
	Health uint32 `json:"health"`
	Mana   uint32 `json:"mana"`
}

// shapeMText is shapeM in the form required by encoding/json.
type shapeMText struct {
	ID     uint64 `json:"id,string"`
	Name   string `json:"name"`
	Level  uint16 `json:"level"`
	Race   uint8  `json:"race"`
	Class  uint8  `json:"class"`
	MapID  uint32 `json:"map_id"`
	Guild  uint32 `json:"guild"`
	Gold   uint64 `json:"gold,string"`
	Health uint32 `json:"health"`
	Mana   uint32 `json:"mana"`
}

func schemaM() *schema.Message {
	name := field("name", &schema.Text{Charset: schema.Latin1, Extent: counted(2, 32)})
	fields := []*schema.Field{
		field("id", unsigned(64)), name, field("level", unsigned(16)), field("race", unsigned(8)), field("class", unsigned(8)),
		field("map_id", unsigned(32)), field("guild", unsigned(32)), field("gold", unsigned(64)), field("health", unsigned(32)), field("mana", unsigned(32)),
	}
	return message("M", lengthsFirst(header(), fields, map[*schema.Field]int{name: 8}))
}

func (m *shapeM) read(b []byte) bool {
	if len(b) < 41 || int(binary.LittleEndian.Uint16(b)) != len(b) {
		return false
	}
	n := int(b[4])
	if n < 2 || n > 32 || 41+n > len(b) {
		return false
	}
	h := b[:41]
	m.ID = binary.LittleEndian.Uint64(h[5:])
	m.Level = binary.LittleEndian.Uint16(h[13:])
	m.Race = h[15]
	m.Class = h[16]
	m.MapID = binary.LittleEndian.Uint32(h[17:])
	m.Guild = binary.LittleEndian.Uint32(h[21:])
	m.Gold = binary.LittleEndian.Uint64(h[25:])
	m.Health = binary.LittleEndian.Uint32(h[33:])
	m.Mana = binary.LittleEndian.Uint32(h[37:])
	m.Name = append(m.Name[:0], b[41:41+n]...)
	return true
}

func (m *shapeM) write(b []byte, code uint16) []byte {
	b = b[:41+len(m.Name)]
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	binary.LittleEndian.PutUint16(b[2:], code)
	b[4] = byte(len(m.Name))
	binary.LittleEndian.PutUint64(b[5:], m.ID)
	binary.LittleEndian.PutUint16(b[13:], m.Level)
	b[15], b[16] = m.Race, m.Class
	binary.LittleEndian.PutUint32(b[17:], m.MapID)
	binary.LittleEndian.PutUint32(b[21:], m.Guild)
	binary.LittleEndian.PutUint64(b[25:], m.Gold)
	binary.LittleEndian.PutUint32(b[33:], m.Health)
	binary.LittleEndian.PutUint32(b[37:], m.Mana)
	copy(b[41:], m.Name)
	return b
}

func spansM(dst []span, b []byte) []span {
	if len(b) < 41 || int(binary.LittleEndian.Uint16(b)) != len(b) {
		return dst
	}
	n := int(b[4])
	if n < 2 || n > 32 || 41+n > len(b) {
		return dst
	}
	h := b[:41]
	return append(dst,
		span{0xffff, 16, 0, uint64(binary.LittleEndian.Uint16(h))},
		span{0xffff, 16, 16, uint64(binary.LittleEndian.Uint16(h[2:]))},
		span{1, 8, 32, uint64(h[4])},
		span{0, 64, 40, binary.LittleEndian.Uint64(h[5:])},
		span{2, 16, 104, uint64(binary.LittleEndian.Uint16(h[13:]))},
		span{3, 8, 120, uint64(h[15])},
		span{4, 8, 128, uint64(h[16])},
		span{5, 32, 136, uint64(binary.LittleEndian.Uint32(h[17:]))},
		span{6, 32, 168, uint64(binary.LittleEndian.Uint32(h[21:]))},
		span{7, 64, 200, binary.LittleEndian.Uint64(h[25:])},
		span{8, 32, 264, uint64(binary.LittleEndian.Uint32(h[33:]))},
		span{9, 32, 296, uint64(binary.LittleEndian.Uint32(h[37:]))},
		span{1, uint16(n * 8), 328, uint64(n)},
	)
}

// shapeL is 514 bytes: a counted array of 20 structs of 6 numbers, 25 bytes each. shapeT is the same as a list whose elements contain the
// offset of the next one, as in TERA.
type shapeL struct {
	Kind  uint32  `json:"kind"`
	Flags uint16  `json:"flags"`
	List  []elemL `json:"list"`
}

type elemL struct {
	ID     uint64  `json:"id,string"`
	X      float32 `json:"x"`
	Y      float32 `json:"y"`
	Amount uint32  `json:"amount"`
	Slot   int32   `json:"slot"`
	Kind   uint8   `json:"kind"`
}

func elementL() []*schema.Field {
	return []*schema.Field{field("id", unsigned(64)), field("x", float(32)), field("y", float(32)), field("amount", unsigned(32)), field("slot", integer(32)), field("kind", unsigned(8))}
}

func schemaL() *schema.Message {
	list := field("list", &schema.List{Elem: record(elementL()...), Extent: counted(0, 1000)})
	fields := []*schema.Field{field("kind", unsigned(32)), field("flags", unsigned(16)), list}
	return message("L", lengthsFirst(header(), fields, map[*schema.Field]int{list: 32}))
}

func (e *elemL) read(b []byte) {
	b = b[:25]
	e.ID = binary.LittleEndian.Uint64(b)
	e.X = math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))
	e.Y = math.Float32frombits(binary.LittleEndian.Uint32(b[12:]))
	e.Amount = binary.LittleEndian.Uint32(b[16:])
	e.Slot = int32(binary.LittleEndian.Uint32(b[20:]))
	e.Kind = b[24]
}

func (e *elemL) write(b []byte) {
	b = b[:25]
	binary.LittleEndian.PutUint64(b, e.ID)
	binary.LittleEndian.PutUint32(b[8:], math.Float32bits(e.X))
	binary.LittleEndian.PutUint32(b[12:], math.Float32bits(e.Y))
	binary.LittleEndian.PutUint32(b[16:], e.Amount)
	binary.LittleEndian.PutUint32(b[20:], uint32(e.Slot))
	b[24] = e.Kind
}

func elemSpans(dst []span, b []byte, first uint16, at uint32) []span {
	b = b[:25]
	return append(dst,
		span{first, 64, at, binary.LittleEndian.Uint64(b)},
		span{first + 1, 32, at + 64, uint64(binary.LittleEndian.Uint32(b[8:]))},
		span{first + 2, 32, at + 96, uint64(binary.LittleEndian.Uint32(b[12:]))},
		span{first + 3, 32, at + 128, uint64(binary.LittleEndian.Uint32(b[16:]))},
		span{first + 4, 32, at + 160, uint64(binary.LittleEndian.Uint32(b[20:]))},
		span{first + 5, 8, at + 192, uint64(b[24])},
	)
}

// resize sets the length of the list to n.
func (m *shapeL) resize(n int) {
	if cap(m.List) < n {
		m.List = make([]elemL, n)
	}
	m.List = m.List[:n]
}

func (m *shapeL) read(b []byte) bool {
	if len(b) < 14 || int(binary.LittleEndian.Uint16(b)) != len(b) {
		return false
	}
	n := int(binary.LittleEndian.Uint32(b[4:]))
	if n > 1000 || 14+n*25 > len(b) {
		return false
	}
	m.Kind = binary.LittleEndian.Uint32(b[8:])
	m.Flags = binary.LittleEndian.Uint16(b[12:])
	m.resize(n)
	rest := b[14 : 14+n*25]
	for i := range m.List {
		m.List[i].read(rest)
		rest = rest[25:]
	}
	return true
}

func (m *shapeL) write(b []byte, code uint16) []byte {
	b = b[:14+25*len(m.List)]
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	binary.LittleEndian.PutUint16(b[2:], code)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(m.List)))
	binary.LittleEndian.PutUint32(b[8:], m.Kind)
	binary.LittleEndian.PutUint16(b[12:], m.Flags)
	rest := b[14:]
	for i := range m.List {
		m.List[i].write(rest)
		rest = rest[25:]
	}
	return b
}

func spansL(dst []span, b []byte) []span {
	if len(b) < 14 || int(binary.LittleEndian.Uint16(b)) != len(b) {
		return dst
	}
	n := int(binary.LittleEndian.Uint32(b[4:]))
	if n > 1000 || 14+n*25 > len(b) {
		return dst
	}
	dst = append(dst,
		span{0xffff, 16, 0, uint64(binary.LittleEndian.Uint16(b))},
		span{0xffff, 16, 16, uint64(binary.LittleEndian.Uint16(b[2:]))},
		span{2, 32, 32, uint64(n)},
		span{0, 32, 64, uint64(binary.LittleEndian.Uint32(b[8:]))},
		span{1, 16, 96, uint64(binary.LittleEndian.Uint16(b[12:]))},
	)
	rest := b[14 : 14+n*25]
	for i := range n {
		dst = elemSpans(dst, rest, 3, uint32(14+i*25)*8)
		rest = rest[25:]
	}
	return dst
}

func schemaT() *schema.Message {
	fields := elementL()
	elem := &schema.Struct{Fields: fields, Wire: append([]schema.Item{{Kind: schema.Here, Bits: 16}, {Kind: schema.Next, Bits: 16}}, values(fields...)...)}
	list := field("list", &schema.List{Elem: elem, Linked: true, Extent: schema.Extent{Size: schema.Counted}})
	kind, flags := field("kind", unsigned(32)), field("flags", unsigned(16))
	wire := append(header(), schema.Item{Kind: schema.Count, Field: list, Bits: 16}, schema.Item{Kind: schema.Offset, Field: list, Bits: 16})
	return message("T", &schema.Struct{Fields: []*schema.Field{kind, flags, list}, Wire: append(wire, values(kind, flags, list)...)})
}

// shapeT is read by following the chain. Each element is visited once: only chains that go forwards are accepted.
type shapeT shapeL

func (m *shapeT) read(b []byte) bool {
	if len(b) < 14 || int(binary.LittleEndian.Uint16(b)) != len(b) {
		return false
	}
	n, at := int(binary.LittleEndian.Uint16(b[4:])), int(binary.LittleEndian.Uint16(b[6:]))
	m.Kind = binary.LittleEndian.Uint32(b[8:])
	m.Flags = binary.LittleEndian.Uint16(b[12:])
	if n*29 > len(b) {
		return false
	}
	(*shapeL)(m).resize(n)
	last := 3
	for i := range m.List {
		if at <= last || at+29 > len(b) {
			return false
		}
		e := b[at : at+29]
		last, at = at, int(binary.LittleEndian.Uint16(e[2:]))
		m.List[i].read(e[4:])
	}
	return true
}

func (m *shapeT) write(b []byte, code uint16) []byte {
	b = b[:14+29*len(m.List)]
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	binary.LittleEndian.PutUint16(b[2:], code)
	binary.LittleEndian.PutUint16(b[4:], uint16(len(m.List)))
	binary.LittleEndian.PutUint16(b[6:], 0)
	binary.LittleEndian.PutUint32(b[8:], m.Kind)
	binary.LittleEndian.PutUint16(b[12:], m.Flags)
	if len(m.List) > 0 {
		binary.LittleEndian.PutUint16(b[6:], 14)
	}
	for i := range m.List {
		at := 14 + 29*i
		e := b[at : at+29]
		binary.LittleEndian.PutUint16(e, uint16(at))
		next := at + 29
		if i == len(m.List)-1 {
			next = 0
		}
		binary.LittleEndian.PutUint16(e[2:], uint16(next))
		m.List[i].write(e[4:])
	}
	return b
}

func spansT(dst []span, b []byte) []span {
	if len(b) < 14 || int(binary.LittleEndian.Uint16(b)) != len(b) {
		return dst
	}
	n, at := int(binary.LittleEndian.Uint16(b[4:])), int(binary.LittleEndian.Uint16(b[6:]))
	dst = append(dst,
		span{0xffff, 16, 0, uint64(binary.LittleEndian.Uint16(b))},
		span{0xffff, 16, 16, uint64(binary.LittleEndian.Uint16(b[2:]))},
		span{2, 16, 32, uint64(n)},
		span{2, 16, 48, uint64(at)},
		span{0, 32, 64, uint64(binary.LittleEndian.Uint32(b[8:]))},
		span{1, 16, 96, uint64(binary.LittleEndian.Uint16(b[12:]))},
	)
	last := 3
	for range n {
		if at <= last || at+29 > len(b) {
			return dst
		}
		e := b[at : at+29]
		dst = append(dst, span{0xffff, 16, uint32(at) * 8, uint64(binary.LittleEndian.Uint16(e))}, span{0xffff, 16, uint32(at)*8 + 16, uint64(binary.LittleEndian.Uint16(e[2:]))})
		dst = elemSpans(dst, e[4:], 3, uint32(at+4)*8)
		last, at = at, int(binary.LittleEndian.Uint16(e[2:]))
	}
	return dst
}
