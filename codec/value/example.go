package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	"wirebench/codec"
	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Example is a message with its expected decoding, for tests of other readers of the same definition.
type Example struct {
	Value  []byte // JSON, as from AppendJSON; nil if Status is not OK
	Data   []byte
	Used   int // bytes of Data that belong to the message, if Status is OK
	Status codec.Status
}

// Examples returns n valid messages that round-trip through JSON, or fewer if it finds fewer. The first has zeros and empty lists as far as
// the definition allows; the others have values of all sizes, chosen by seed. Each is followed by a truncated copy and, if possible, by a
// copy with one byte changed that makes it illegal. code is the key of messages whose definition does not specify one. Equal arguments give
// equal examples. A program with unresolved constants has none.
func Examples(p *codec.Program, n int, seed uint64, code uint32) []Example {
	if len(p.Unresolved) > 0 || p.Message.Body == nil {
		return nil
	}
	var out []Example
	var in, made, rec codec.Record
	seen := map[string]bool{}
	add := func(data []byte) {
		p.Decode(&rec, data)
		e := Example{Data: bytes.Clone(data), Used: rec.Used, Status: rec.Status()}
		if e.Status == codec.OK {
			e.Value = AppendJSON(nil, &rec)
		}
		if !seen[string(data)] {
			seen[string(data)] = true
			out = append(out, e)
		}
	}
	x := exampler{rng: rand.New(rand.NewPCG(seed, 0)), names: earlierNames(p.Wire())}
	x.findHints(p.Message.Body)
	for try := 0; n > 0 && try < 10*n+20; try++ {
		x.begin(try == 0)
		x.object(p.Message.Body)
		if x.failed || ParseJSON(&in, p, x.out) != nil {
			continue // the alternative does not fit its size, or limits exclude all values of a number
		}
		in.Code = code
		if p.Message.HasKey {
			in.Code = p.Message.Key.Code
		}
		if encodePlaced(p, &made, &in) != nil || seen[string(made.Message())] {
			continue
		}
		data := bytes.Clone(made.Message())
		p.Decode(&rec, data)
		if rec.Status() != codec.OK || ParseJSON(&in, p, AppendJSON(nil, &rec)) != nil {
			continue
		}
		if in.Code = made.Code; p.Encode(&made, &in) != nil || !bytes.Equal(made.Message(), data) {
			continue // its values lose information: the presence of an optional part without bytes
		}
		n--
		add(data)
		if len(data) > 0 {
			cut := data[:x.rng.IntN(len(data))]
			if p.Decode(&rec, cut); rec.Status() == codec.Incomplete {
				add(cut)
			}
		}
		breakOne(p, data, &rec, x.rng, add)
	}
	return out
}

// breakOne finds a byte after the header whose change makes a message illegal. If the message's length is not stated, the distinction
// between incomplete and illegal depends on the order of a reader's checks: then it finds none.
func breakOne(p *codec.Program, data []byte, rec *codec.Record, rng *rand.Rand, found func([]byte)) {
	head, framed := 0, p.Message.Measured
	for _, it := range p.Message.Body.Wire {
		if it.Kind != schema.Length && it.Kind != schema.Code && it.Kind != schema.Counter && it.Kind != schema.Check {
			break
		}
		framed = framed || it.Kind == schema.Length
		head += it.Bits
	}
	head = (head + 7) / 8
	if !framed || len(data) <= head {
		return
	}
	for range 40 {
		wrong := bytes.Clone(data)
		wrong[head+rng.IntN(len(data)-head)] = []byte{0, 1, 0x7f, 0x80, 0xff}[rng.IntN(5)]
		if p.Decode(rec, wrong); rec.Status() == codec.Illegal {
			found(wrong)
			return
		}
	}
}

// earlierNames returns the names of the fields of which a later one has the name; empty if the later one has the type, too, so that they can
// share a value.
func earlierNames(m *wire.Message) map[*schema.Field]string {
	var names map[*schema.Field]string
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Last == wire.None {
			continue
		}
		if names == nil {
			names = map[*schema.Field]string{}
		}
		if names[f.Schema] = f.Name; f.Schema.TypeText == m.Fields[f.Last].Schema.TypeText {
			names[f.Schema] = ""
		}
	}
	return names
}

// nameOf returns the name of a field. shared means that it takes the value of a later one.
func (x *exampler) nameOf(f *schema.Field) (name string, shared bool) {
	if name, ok := x.names[f]; ok {
		return name, name == ""
	}
	return f.Name, false
}

// exampler writes values as JSON.
type exampler struct {
	rng   *rand.Rand
	names map[*schema.Field]string // as from earlierNames
	least bool
	units int // how many more units lists and texts may have, beyond the required ones
	out   []byte
	choices
}

func (x *exampler) add(format string, args ...any) { x.out = fmt.Appendf(x.out, format, args...) }

// object writes the fields of a struct and of one of its alternatives.
func (x *exampler) object(s *schema.Struct) {
	x.out = append(x.out, '{')
	var chosen *schema.Variant
	if n := len(s.Variants); n > 0 {
		chosen = &s.Variants[x.rng.IntN(n)]
	}
	keep := len(s.Fields)
	if s.Optional > 0 && !x.least {
		keep -= x.rng.IntN(min(s.Optional, keep) + 1)
	}
	fields := s.Fields[:keep]
	if chosen != nil && chosen.Body != nil {
		fields = append(fields[:keep:keep], chosen.Body.Fields...)
	}
	x.members(fields, chosen, "")
	x.out = append(x.out, '}')
}

// members writes fields after a comma, if there are fields before them. It returns the comma for the next ones.
func (x *exampler) members(fields []*schema.Field, chosen *schema.Variant, comma string) string {
	for _, f := range fields {
		name, shared := x.nameOf(f)
		if shared {
			continue
		}
		if c, ok := f.Type.(*schema.Choice); ok && c.Anon {
			if a := x.choose(c); a != nil && a.Body != nil {
				comma = x.members(a.Body.Fields, nil, comma)
			}
			continue
		}
		x.add("%s%s:", comma, quoteName(name))
		comma = ","
		if n, ok := f.Type.(*schema.Number); ok && chosen != nil && chosen.Field == f {
			x.integer(n, chosen.Value)
			continue
		}
		x.field(f)
	}
	return comma
}

func (x *exampler) value(t schema.Type) {
	switch t := t.(type) {
	case *schema.Number:
		x.number(t)
	case *schema.Bitfield:
		x.bitfield(t)
	case *schema.Text:
		n := x.count(t.Extent)
		x.out = append(x.out, '"')
		for i := 0; i < n; i++ {
			switch k := x.rng.IntN(8); {
			case k == 0 && t.Charset != schema.UTF8:
				x.add("é")
			case k == 1 && t.Charset == schema.UTF16LE:
				x.add("家")
			case k == 0 && i+1 < n: // two bytes in UTF-8
				x.add("é")
				i++
			case k == 1 && t.Charset == schema.UTF16LE && i+1 < n: // two units in UTF-16
				x.add("😀")
				i++
			default:
				x.add("%c", 'a'+x.rng.IntN(26))
			}
		}
		x.out = append(x.out, '"')
	case *schema.Blob:
		if t.UUID {
			x.add(`"%08x-%04x-%04x-%04x-%012x"`, x.rng.Uint32(), x.rng.Uint32()>>16, x.rng.Uint32()>>16, x.rng.Uint32()>>16, x.rng.Uint64()>>16)
			return
		}
		x.out = append(x.out, '"')
		for range x.count(t.Extent) {
			x.add("%02x", byte(x.rng.Uint32()))
		}
		x.out = append(x.out, '"')
	case *schema.List:
		x.list(t)
	case *schema.Choice:
		if a := x.choose(t); a == nil || a.Body == nil || len(a.Body.Fields) == 0 {
			x.out = append(x.out, "null"...)
		} else {
			x.body(a.Body, a.Bare)
		}
	case *schema.Group:
		if t.HasBody() {
			x.inner(t)
			return
		}
		if !t.Array {
			x.object(t.Struct)
			return
		}
		x.out = append(x.out, '[')
		for i, f := range t.Struct.Fields {
			if i > 0 {
				x.out = append(x.out, ',')
			}
			x.field(f)
		}
		x.out = append(x.out, ']')
	}
}

// list writes elements and returns their number.
func (x *exampler) list(t *schema.List) int {
	if t.Size == schema.Ending {
		return x.ending(t)
	}
	if t.Once {
		return x.once(t)
	}
	x.out = append(x.out, '[')
	n := x.count(t.Extent)
	if t.Other {
		n = 0 // tags must not be those of other lists
	}
	for i := range n {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		x.body(t.Elem, t.Bare)
	}
	x.out = append(x.out, ']')
	return n
}

// count returns a legal number of units.
func (x *exampler) count(e schema.Extent) int {
	if e.Size == schema.Fixed {
		return max(e.N, 0)
	}
	if e.Size == schema.Computed {
		return x.computed(e.Expr)
	}
	lo, more := 0, []int{0, 1, 3, 20}[x.rng.IntN(4)]
	if e.Size == schema.While {
		lo = 1
	}
	if e.Min != nil {
		lo = int(min(e.Min.Uint, 1<<16))
	}
	if e.Max != nil {
		more = int(min(uint64(more), max(e.Max.Uint, uint64(lo))-uint64(lo)))
	}
	if more = min(more, x.units); x.least {
		more = 0
	}
	x.units -= more
	return lo + more
}

// integer writes the value of an integer's bits.
func (x *exampler) integer(n *schema.Number, raw uint64) {
	quote := ""
	if n.Bits > 32 {
		quote = `"`
	}
	x.add("%s%s%s", quote, n.Decimal(raw&schema.Mask(n.Bits)), quote)
}

func (x *exampler) number(n *schema.Number) {
	switch raw := x.raw(n); n.Kind {
	case schema.Bool:
		x.add("%v", raw&1 == 1)
	case schema.Float:
		x.float(n)
	default:
		x.shown(n, raw)
	}
}

// shown writes an integer as it is displayed.
func (x *exampler) shown(n *schema.Number, raw uint64) {
	switch {
	case n.Scale != 0:
		x.add("%s", strconv.FormatFloat(n.Float(raw), 'g', -1, 64))
	case n.Absent && raw == 0:
		x.add("null")
	case n.Enum != nil && n.Enum.Shown:
		switch name, bare := n.ShownName(raw); {
		case name != "":
			x.add("%s", quoteName(name))
		case bare:
			x.add("%s", n.Decimal(raw))
		default:
			x.integer(n, raw)
		}
	default:
		x.integer(n, raw)
	}
}

// raw returns the bits of a legal number that is not a float.
func (x *exampler) raw(n *schema.Number) uint64 {
	mask := schema.Mask(n.Bits)
	raw := x.rng.Uint64() >> x.rng.IntN(64) & mask
	if x.rng.IntN(8) == 0 {
		raw = mask
	}
	if x.least {
		raw = 0
	}
	switch n.Kind {
	case schema.Bool, schema.Float:
		return raw
	case schema.Signed:
		lo, hi := int64(-1)<<(n.Bits-1), int64(mask>>1)
		if n.Min != nil {
			lo = n.Min.Int
		}
		if n.Max != nil {
			hi = min(hi, n.Max.Int)
		}
		v := schema.SignExtend(raw, n.Bits)
		if v < lo || v > hi {
			v = int64(x.between(uint64(lo), uint64(hi)))
		}
		raw = uint64(v)
	default:
		lo, hi := uint64(0), mask
		if n.Min != nil {
			lo = n.Min.Uint
		}
		if n.Max != nil {
			hi = min(hi, n.Max.Uint)
		}
		if raw < lo || raw > hi {
			raw = x.between(lo, hi)
		}
	}
	return raw & mask
}

// between returns a number of a range that does not hold all numbers. Signed bounds and results are in two's complement.
func (x *exampler) between(lo, hi uint64) uint64 {
	if width := hi - lo; !x.least && width+1 != 0 {
		return lo + x.rng.Uint64N(width+1)
	}
	return lo
}

func (x *exampler) float(n *schema.Number) {
	v := []float64{0, 1.5, -2.25, 0.1, 1e20, -1e-3}[x.rng.IntN(6)]
	if n.Bits == 16 {
		v = schema.BitsFloat(schema.FloatBits(v, 16), 16)
		if v > 65504 {
			v = 65504
		}
	}
	if x.least {
		v = 0
	}
	if n.Scale != 0 {
		v *= n.Scale
	}
	lo, hi := v, v
	if n.Min != nil {
		lo = n.Min.Float
	}
	if n.Max != nil {
		hi = n.Max.Float
	}
	if n.Scale == 0 && (v < lo || v > hi) {
		if n.Min == nil {
			lo = hi
		}
		if n.Max == nil {
			hi = lo
		}
		v = lo + (hi-lo)*float64(x.rng.IntN(5))/4
	}
	if n.Bits == 32 && n.Scale == 0 {
		x.add("%s", strconv.FormatFloat(v, 'g', -1, 32))
		return
	}
	x.add("%s", strconv.FormatFloat(v, 'g', -1, 64))
}

// bitfield writes the parts of a form, with the bits that select it. It returns all bits.
func (x *exampler) bitfield(t *schema.Bitfield) (raw uint64) {
	f := &t.Forms[x.rng.IntN(len(t.Forms))]
	raw = x.rng.Uint64() & schema.Mask(t.Bits)
	if x.least {
		raw = 0
	}
	raw = raw&^f.Mask | f.Match
	f = t.Form(raw) // an earlier form may match too
	comma := ""
	x.out = append(x.out, '{')
	if t.All != "" {
		x.add("%s:", quoteName(t.All))
		comma = ","
		x.integer(&schema.Number{Bits: t.Bits}, raw)
	}
	for _, p := range f.Parts {
		part := p.Value(raw)
		x.add("%s%s:", comma, quoteName(p.Name))
		comma = ","
		if p.Kind == schema.Bool {
			x.add("%v", part != 0)
		} else {
			x.integer(&schema.Number{Bits: max(p.Bits, p.Ones)}, part)
		}
	}
	x.out = append(x.out, '}')
	return raw
}

// quoteName returns a name as a JSON key.
func quoteName(name string) string {
	b, _ := json.Marshal(name) // strings cannot fail
	return string(b)
}
