package emit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"wirebench/defs/schema"
)

// Vector is a message with a known meaning. The targets that are programming languages write Options.Vectors as a test of what they
// made; codec.Program.Examples makes some.
type Vector struct {
	Message string          // its name, with the version if that is not 1: "C_EXAMPLE.2"
	Value   json.RawMessage // exactly what reading gives, or what cannot be written; nil: nothing to compare. Members that are missing are zero
	Bytes   []byte          // what is read; it may hold more than the message
	Used    int             // bytes of the message, if Outcome is OutcomeOK; 0 = all
	Outcome Outcome
}

// Outcome is what reading a Vector gives.
type Outcome string

// The outcomes.
const (
	OutcomeOK         Outcome = "ok"         // Bytes are read as Value, which is written as the same Bytes
	OutcomeIncomplete Outcome = "incomplete" // more bytes could make Bytes whole
	OutcomeIllegal    Outcome = "illegal"    // no bytes behind Bytes could make them right
	OutcomeRefused    Outcome = "refused"    // Value cannot be written; there are no Bytes
)

// vector is a Vector of a message that the plan has.
type vector struct {
	Vector
	m   *message
	val map[string]any // numbers are json.Number; nil: only bytes are compared
}

// used is the bytes of the message itself.
func (v *vector) used() []byte {
	if v.Used > 0 && v.Used <= len(v.Bytes) {
		return v.Bytes[:v.Used]
	}
	return v.Bytes
}

// book is the value of a code, a counter or a checksum: values do not have them, the bytes do.
func (v *vector) book(m *member) uint64 {
	for i := range v.m.record.steps {
		for k := range v.m.record.steps[i].items {
			it := &v.m.record.steps[i].items[k]
			if it.path == nil || it.path[0] != m || i > 0 || (it.off+it.bits+7)/8 > len(v.Bytes) {
				continue
			}
			return loadBits(v.Bytes, it)
		}
	}
	return 0
}

// loadBits is the number that stands in an item of at most 64 bits.
func loadBits(b []byte, it *item) uint64 {
	var n uint64
	if it.order == schema.Big {
		for _, c := range b[it.off/8 : (it.off+it.bits)/8] {
			n = n<<8 | uint64(c)
		}
		return n
	}
	for i := range it.bits {
		at := it.off + i
		n |= uint64(b[at/8]>>(at%8)&1) << i
	}
	return n
}

// vectors are those whose messages the plan has. What a target's types cannot hold is compared by its bytes alone, or left out if it
// has none.
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
			if val, ok := object(v.Value); ok && tells(m.record, true) && p.fits(m.record, val) {
				x.val = val
			}
		case OutcomeRefused:
			val, ok := object(v.Value)
			if !ok || !tells(m.record, true) || m.record.parts > 0 || m.record.choice || !p.fits(m.record, val) {
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

// object reads a value. Text that is not Unicode is none: JSON readers replace it.
func object(text json.RawMessage) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out map[string]any
	if d.Decode(&out) != nil || out == nil {
		return nil, false
	}
	return out, true
}

// tells reports whether a value tells all members of a record: no two have one name, and below the message itself nothing may be
// missing or chosen.
func tells(r *record, top bool) bool {
	if !top && (r.parts > 0 || r.choice) {
		return false
	}
	seen := map[string]bool{}
	for _, m := range r.members {
		if m.isBook {
			continue
		}
		if seen[m.name] || m.record != nil && !tells(m.record, false) {
			return false
		}
		seen[m.name] = true
	}
	return true
}

// fits reports whether the members of a record can hold a value.
func (p *plan) fits(r *record, v map[string]any) bool {
	known := 0
	for _, m := range r.members {
		x, ok := v[m.name]
		if m.isBook || !ok {
			continue
		}
		known++
		if x != nil && !p.fitsType(m.typ, m.record, x) {
			return false
		}
	}
	return known == len(v)
}

func (p *plan) fitsType(t schema.Type, r *record, v any) bool {
	switch t := t.(type) {
	case *schema.Number:
		return fitsNumber(t, v)
	case *schema.Bitfield:
		x, ok := v.(map[string]any)
		for name, part := range x {
			n, truth := bitfieldPart(t, name)
			switch b, isBool := part.(bool); {
			case truth && isBool, !truth && !isBool && fitsNumber(&schema.Number{Bits: n}, part):
			case truth && fmt.Sprint(part) == "0": // a form that does not have the part
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
		if !ok || !fitsExtent(t.Extent, len(x)) {
			return false
		}
		for _, e := range x {
			switch {
			case e == nil:
			case t.Bare:
				if !p.fitsType(t.Elem.Fields[0].Type, r, e) {
					return false
				}
			default:
				if o, ok := e.(map[string]any); !ok || !p.fits(r, o) {
					return false
				}
			}
		}
		return true
	}
	x, ok := v.(map[string]any)
	return ok && r != nil && p.fits(r, x)
}

// fitsExtent reports whether there is room for so many units.
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

// numberText is a number as it stands in JSON, without quotes.
func numberText(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}

// textUnits are the code units of a text.
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
		out = append(out, uint16(s[i]))
	}
	return out, true
}

// partValue is the value of a part of a bitfield: a number, or a truth value.
func partValue(v any) uint64 {
	switch v := v.(type) {
	case bool:
		return map[bool]uint64{true: 1}[v]
	case nil:
		return 0
	default:
		n, _ := strconv.ParseUint(numberText(v), 10, 64) // it was judged
		return n
	}
}

// float is the value of a float or of a scaled number.
func float(v any) float64 {
	f, _ := strconv.ParseFloat(numberText(v), 64) // it was judged
	return f
}

// list is the value of a list.
func list(v any) []any {
	x, _ := v.([]any)
	return x
}

// fields is the value of a group or an element.
func fields(v any) map[string]any {
	x, _ := v.(map[string]any)
	return x
}

// chunks cuts the hex of bytes into lines of source.
func chunks(b []byte) []string {
	text := hex.EncodeToString(b)
	out := []string{}
	for len(text) > 96 {
		out, text = append(out, text[:96]), text[96:]
	}
	return append(out, text)
}
