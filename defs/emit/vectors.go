package emit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Vector is a test vector. The targets that are programming languages write Options.Vectors as a test of the generated code;
// codec.Program.Examples provides some.
type Vector struct {
	Message string          // its name, with the version if that is not 1: "C_EXAMPLE.2"
	Value   json.RawMessage // expected result of reading, or a value that cannot be written; nil: not compared. Missing members are zero
	Bytes   []byte          // input of reading; it may be longer than the message
	Used    int             // size of the message in bytes, if Outcome is OutcomeOK; 0 = all
	Outcome Outcome
}

// Outcome is the expected outcome of a Vector.
type Outcome string

// The outcomes.
const (
	OutcomeOK         Outcome = "ok"         // Bytes are read as Value, and Value is written as the same Bytes
	OutcomeIncomplete Outcome = "incomplete" // more bytes could complete the message
	OutcomeIllegal    Outcome = "illegal"    // the message is invalid, regardless of further bytes
	OutcomeRefused    Outcome = "refused"    // Value cannot be written; there are no Bytes
)

// vector is a Vector of a message in the plan.
type vector struct {
	Vector
	m   *message
	val map[string]any // numbers are json.Number; nil: only bytes are compared
}

// used returns the bytes of the message.
func (v *vector) used() []byte {
	if v.Used > 0 && v.Used <= len(v.Bytes) {
		return v.Bytes[:v.Used]
	}
	return v.Bytes
}

// book returns the value of a code, a counter or a checksum from the bytes, as JSON values do not have them.
func (v *vector) book(m *member) uint64 {
	laid := v.m.laid
	at := map[schema.ItemKind]wire.Place{schema.Code: laid.Code, schema.Counter: laid.Counter, schema.Check: laid.Check}[m.book]
	if (at.Off+at.Bits+7)/8 > len(v.Bytes) {
		return 0
	}
	return loadBits(v.Bytes, at)
}

// loadBits returns the number at a place, of at most 64 bits.
func loadBits(b []byte, at wire.Place) uint64 {
	var n uint64
	if at.Order == schema.Big {
		for _, c := range b[at.Off/8 : (at.Off+at.Bits)/8] {
			n = n<<8 | uint64(c)
		}
		return n
	}
	for i := range at.Bits {
		k := at.Off + i
		n |= uint64(b[k/8]>>(k%8)&1) << i
	}
	return n
}

// vectors returns the vectors whose messages are in the plan. If a target's types cannot represent a value, only the bytes are compared;
// without bytes the vector is omitted.
func (p *plan) vectors(list []Vector) []vector {
	byName := map[string]*message{}
	for _, m := range p.messages {
		if byName[m.name] == nil {
			byName[m.name] = m
		}
	}
	var out []vector
	for _, v := range list {
		m := byName[v.Message]
		if m == nil || len(m.open) > 0 {
			continue
		}
		x := vector{Vector: v, m: m}
		switch v.Outcome {
		case OutcomeOK:
			if val, ok := object(v.Value); ok && m.plain && tells(m.record, nil) && p.fits(m.record, val) {
				x.val = val
			}
		case OutcomeRefused:
			val, ok := object(v.Value)
			if !ok || !m.plain || !tells(m.record, nil) || m.record.parts > 0 || m.record.choice || !p.fits(m.record, val) {
				continue
			}
			x.val, x.Bytes = val, nil
		case OutcomeIncomplete, OutcomeIllegal:
		default:
			continue
		}
		out = append(out, x)
	}
	return out
}

// object parses a value. ok is false if it contains text that is not Unicode, which JSON parsers replace.
func object(text json.RawMessage) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out map[string]any
	if d.Decode(&out) != nil || out == nil {
		return nil, false
	}
	return out, true
}

// tells reports whether a JSON value determines all members of a record: names are unique, and there are no optional parts or alternatives
// below the top level. around are the records that it is in.
func tells(r *record, around []*record) bool {
	if around != nil && (r.parts > 0 || r.choice) {
		return false
	}
	seen := map[string]bool{}
	for _, m := range r.members {
		if m.isBook {
			continue
		}
		if seen[m.label()] || !m.tells(append(around, r)) {
			return false
		}
		seen[m.label()] = true
	}
	return true
}

func (m *member) tells(around []*record) bool {
	for _, k := range m.kinds {
		if !k.tells(around) {
			return false
		}
	}
	return m.record == nil || slices.Contains(around, m.record) || tells(m.record, around)
}

// in returns the value of the member in the value of its record. An earlier field of a name has the value of the last one, unless it differs.
func (m *member) in(v map[string]any) (x any, ok bool) {
	if x, ok = v[m.label()]; !ok {
		x, ok = v[m.name]
	}
	return x, ok
}

// fits reports whether the members of a record can represent a value.
func (p *plan) fits(r *record, v map[string]any) bool {
	known := 0
	for _, m := range r.members {
		x, ok := m.in(v)
		if m.isBook || !ok {
			continue
		}
		if _, own := v[m.label()]; own {
			known++
		}
		if x != nil && !p.fitsMember(m, x) {
			return false
		}
	}
	return known == len(v)
}

func (p *plan) fitsMember(m *member, v any) bool {
	switch t := m.typ.(type) {
	case *schema.Number:
		return fitsNumber(t, v)
	case *schema.Bitfield:
		x, ok := v.(map[string]any)
		for name, part := range x {
			n, truth := bitfieldPart(t, name)
			switch b, isBool := part.(bool); {
			case t.All != "" && name == t.All && fitsNumber(&schema.Number{Bits: t.Bits}, part):
			case truth && isBool, !truth && !isBool && fitsNumber(&schema.Number{Bits: n}, part):
			case truth && fmt.Sprint(part) == "0": // a form without the part
			case isBool && !b:
			default:
				return false
			}
		}
		return ok
	case *schema.Text:
		s, ok := v.(string)
		if !ok || strings.ContainsRune(s, utf8.RuneError) {
			return false
		}
		units, ok := textUnits(t.Charset, s)
		return ok && fitsExtent(t.Extent, len(units))
	case *schema.Blob:
		s, ok := v.(string)
		if !ok {
			return false
		}
		b, err := hex.DecodeString(s)
		return err == nil && fitsExtent(t.Extent, len(b))
	case *schema.List:
		x, ok := v.([]any)
		if !ok || !fitsExtent(t.Extent, len(x)) || t.Null && len(x) == 0 {
			return false
		}
		for _, e := range x {
			switch {
			case e == nil:
			case m.elem != nil:
				if !p.fitsMember(m.elem, e) {
					return false
				}
			default:
				if o, ok := e.(map[string]any); !ok || !p.fits(m.record, o) {
					return false
				}
			}
		}
		return true
	}
	x, ok := v.(map[string]any)
	return ok && m.record != nil && p.fits(m.record, x)
}

// fitsExtent reports whether there is room for that many units.
func fitsExtent(e schema.Extent, n int) bool {
	switch {
	case e.Size == schema.Fixed:
		return n <= e.N
	case e.Max != nil:
		return uint64(n) <= e.Max.Uint
	}
	return true
}

func fitsNumber(n *schema.Number, v any) bool {
	if n.Kind == schema.Bool {
		_, ok := v.(bool)
		return ok
	}
	text := numberText(v)
	if n.Kind == schema.Float || n.Scale != 0 {
		f, err := strconv.ParseFloat(text, 64)
		return err == nil && (n.Bits != 32 || n.Scale != 0 || math.IsInf(f, 0) || math.IsNaN(f) || math.Abs(f) <= math.MaxFloat32)
	}
	if n.Kind == schema.Signed {
		_, err := strconv.ParseInt(text, 10, wide(n.Bits))
		return err == nil
	}
	_, err := strconv.ParseUint(text, 10, wide(n.Bits))
	return err == nil
}

// numberText returns a JSON number, without quotes.
func numberText(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}

// textUnits returns the code units of a text.
func textUnits(set schema.Charset, s string) ([]uint16, bool) {
	switch set {
	case schema.UTF16LE:
		return utf16.Encode([]rune(s)), true
	case schema.Latin1:
		var out []uint16
		for _, c := range s {
			if c > 0xff {
				return nil, false
			}
			out = append(out, uint16(c))
		}
		return out, true
	}
	var out []uint16
	for i := range len(s) {
		if set != schema.UTF8 && s[i] >= 0x80 {
			return nil, false // not as targets show it
		}
		out = append(out, uint16(s[i]))
	}
	return out, !strings.ContainsRune(s, utf8.RuneError) // which stands for bytes that are not UTF-8
}

// partValue returns the value of a part of a bitfield: a number, or a boolean.
func partValue(v any) uint64 {
	switch v := v.(type) {
	case bool:
		return map[bool]uint64{true: 1}[v]
	case nil:
		return 0
	default:
		n, _ := strconv.ParseUint(numberText(v), 10, 64) // checked by fits
		return n
	}
}

// float returns the value of a float or of a scaled number.
func float(v any) float64 {
	f, _ := strconv.ParseFloat(numberText(v), 64) // checked by fits
	return f
}

// list returns the value of a list.
func list(v any) []any {
	x, _ := v.([]any)
	return x
}

// fields returns the value of a group or an element.
func fields(v any) map[string]any {
	x, _ := v.(map[string]any)
	return x
}

// chunks splits the hex of bytes into lines of source.
func chunks(b []byte) []string {
	text := hex.EncodeToString(b)
	out := []string{}
	for len(text) > 96 {
		out, text = append(out, text[:96]), text[96:]
	}
	return append(out, text)
}
