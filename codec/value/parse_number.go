package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// rangeText returns the legal range of a number for error messages.
func rangeText(t *schema.Number) string {
	one := func(l *schema.Limit, none string) string {
		switch {
		case l == nil:
			return none
		case l.Const != "":
			return l.Const
		case t.Kind == schema.Float:
			return strconv.FormatFloat(l.Float, 'g', -1, 64)
		case t.Kind == schema.Signed:
			return strconv.FormatInt(l.Int, 10)
		}
		return strconv.FormatUint(l.Uint, 10)
	}
	return one(t.Min, "any") + " to " + one(t.Max, "any")
}

// number reads a number, a boolean or the name of a number, as raw bits.
func (v *valuer) number(it *codec.Item, tok int32) uint64 {
	t := v.toks[tok]
	text := v.text[t.start:t.end]
	num := it.Num
	wrong := func(want string) uint64 {
		v.failAt(tok, it.Field, "", "wrong-kind", "%s where %s is expected: %s", t.kind, want, v.show(tok))
		return 0
	}
	if num.Kind == schema.Bool {
		if t.kind != tokBool {
			return wrong("true or false")
		}
		if text[0] == 't' {
			return 1
		}
		return 0
	}
	if it.Form == codec.FormScaled || num.Kind == schema.Float {
		if t.kind == tokString && num.Kind == schema.Float && num.Scale == 0 {
			if raw, ok := schema.ParseNaN(string(text), int(it.Bits)); ok {
				return raw
			}
		}
		f, ok := v.float(it, tok)
		if !ok {
			if t.kind == tokString {
				return wrong(`a number, "NaN", "Infinity", "-Infinity" or a NaN by its bits`)
			}
			return wrong("a number")
		}
		return v.fromFloat(it, tok, f)
	}
	switch {
	case t.kind == tokNumber && num.Add == 0:
	case num.Add != 0 && (t.kind == tokNumber || t.kind == tokString && it.Bits > 32):
		n, err := strconv.ParseInt(string(text), 10, 64)
		raw, ok := num.RawUnits(n)
		if err != nil || !ok {
			v.failAt(tok, it.Field, "", "out-of-range", "%s does not fit %s", v.show(tok), num.Name())
		}
		return raw
	case t.kind == tokString && num.Enum != nil && num.Enum.Shown && isDecimal(text) && v.named(tok, num) != nil:
		return v.named(tok, num).Value
	case t.kind == tokString && num.Enum != nil && num.Enum.Shown && num.Add == 0 && isDecimal(text): // where a name may be
	case t.kind == tokString && num.Enum != nil && !isDecimal(text):
		if e := v.named(tok, num); e != nil {
			return e.Value & (1<<(it.Bits-1)<<1 - 1)
		}
		return wrong("a number or one of its names")
	case t.kind == tokString && it.Bits > 32 && !t.escaped && isDecimal(text):
	case t.kind == tokString && it.Bits > 32:
		return wrong("a decimal number, optionally in quotes,")
	case t.kind == tokArray && it.Bits == 64:
		if raw, ok := v.halves(tok); ok {
			return raw
		}
		return wrong("a number, or an array of its upper and its lower 32 bits,")
	default:
		return wrong("a number")
	}
	return v.integer(it, tok, string(text))
}

// halves reads an integer of 64 bits as node-protodef has it: an array of its upper and its lower 32 bits, each with or without a sign.
func (v *valuer) halves(tok int32) (raw uint64, ok bool) {
	n := 0
	for k := tok + 1; k < int32(v.toks[tok].after); k = int32(v.toks[k].after) {
		half, ok := parseInt(string(v.text[v.toks[k].start:v.toks[k].end]), math.MaxUint32, math.MinInt32)
		if !ok || v.toks[k].kind != tokNumber {
			return 0, false
		}
		raw, n = raw<<32|half&math.MaxUint32, n+1
	}
	return raw, n == 2
}

// named returns the value whose name is a string, or nil. If several values are shown as that name, it is the last one.
func (v *valuer) named(tok int32, num *schema.Number) *schema.EnumValue {
	if num.Enum.Shown {
		for i := len(num.Enum.Values) - 1; i >= 0; i-- {
			if v.keyIs(tok, num.Enum.Values[i].Name) {
				return &num.Enum.Values[i]
			}
		}
		return nil
	}
	for i := range num.Enum.Values {
		if v.keyIs(tok, num.Enum.Values[i].Name) {
			return &num.Enum.Values[i]
		}
	}
	return nil
}

// isDecimal reports whether s is an optional minus and digits.
func isDecimal(s []byte) bool {
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) > 0
}

// integer reads an integer and checks its range.
func (v *valuer) integer(it *codec.Item, tok int32, text string) uint64 {
	lo, hi := int64(0), schema.Mask(int(it.Bits))
	isSigned := it.Num != nil && it.Num.Kind == schema.Signed
	if isSigned {
		lo, hi = -1<<(it.Bits-1), hi>>1
	}
	if n, ok := parseInt(text, hi, lo); ok {
		return n & schema.Mask(int(it.Bits))
	}
	if it.Var == schema.Long && isDecimal([]byte(text)) {
		high, low, ok := codec.ParseLong(text)
		if v.high = high; !ok {
			v.failAt(tok, it.Field, "", "out-of-range", "%s does not fit 128 bits without a sign", v.show(tok))
		}
		return low
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		if f != math.Trunc(f) {
			v.failAt(tok, it.Field, "", "wrong-kind", "%s is not an integer", v.show(tok))
			return 0
		}
		if math.Abs(f) <= 1<<53 && f >= float64(lo) && f <= float64(hi) {
			return uint64(int64(f)) & schema.Mask(int(it.Bits))
		}
	}
	v.failAt(tok, it.Field, "", "out-of-range", "%s does not fit %s: %d to %d", v.show(tok), kindName(it), lo, hi)
	return 0
}

// parseInt reads a decimal integer in the range lo to hi, as two's complement.
func parseInt(s string, hi uint64, lo int64) (uint64, bool) {
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	var n uint64
	for i := 0; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 || n > (math.MaxUint64-uint64(c))/10 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	if neg {
		return -n, n <= uint64(-lo)
	}
	return n, n <= hi
}

// kindName returns the kind of a number for error messages: int16, uint4.
func kindName(it *codec.Item) string {
	name := "uint"
	if it.Num != nil && it.Num.Kind == schema.Signed {
		name = "int"
	}
	return name + strconv.Itoa(int(it.Bits))
}

// float reads a number, "NaN", "Infinity" or "-Infinity".
func (v *valuer) float(it *codec.Item, tok int32) (float64, bool) {
	t := v.toks[tok]
	text := string(v.text[t.start:t.end])
	switch {
	case t.kind == tokNumber:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			v.failAt(tok, it.Field, "", "out-of-range", "%s is too large for a float", v.show(tok))
			return 0, true
		}
		return f, true
	case t.kind == tokString && text == "NaN":
		return math.NaN(), true
	case t.kind == tokString && text == "Infinity":
		return math.Inf(1), true
	case t.kind == tokString && text == "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

// fromFloat converts a displayed number to raw bits.
func (v *valuer) fromFloat(it *codec.Item, tok int32, f float64) uint64 {
	if it.Num.Scale != 0 {
		f *= 1 / it.Num.Scale
	}
	switch {
	case it.Num.Kind == schema.Float && it.Bits < 64:
		raw := schema.FloatBits(f, int(it.Bits))
		if math.IsInf(schema.BitsFloat(raw, int(it.Bits)), 0) && !math.IsInf(f, 0) {
			most := math.MaxFloat32
			if it.Bits == 16 {
				most = 65504
			}
			v.failAt(tok, it.Field, "", "out-of-range", "%s does not fit a %d-bit float: at most %g", v.show(tok), it.Bits, most)
		}
		return raw
	case it.Num.Kind == schema.Float:
		return schema.FloatBits(f, 64)
	}
	return v.scaledInteger(it, tok, f)
}

// scaledInteger rounds a number to raw units. An angle is taken modulo its full turn.
func (v *valuer) scaledInteger(it *codec.Item, tok int32, f float64) uint64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		v.failAt(tok, it.Field, "", "out-of-range", "%s cannot be represented as %s", v.show(tok), kindName(it))
		return 0
	}
	if it.Num.Truncate {
		f = math.Trunc(f)
	} else {
		f = math.Floor(f + 0.5)
	}
	turn := math.Ldexp(1, int(it.Bits))
	if it.Num.Wrap {
		f = math.Mod(f, turn)
		if f < 0 {
			f += turn
		}
		return uint64(f) & schema.Mask(int(it.Bits))
	}
	lo, hi := 0.0, turn-1
	if it.Num.Kind == schema.Signed {
		lo, hi = -turn/2, turn/2-1
	}
	if f < lo || f > hi {
		v.failAt(tok, it.Field, "", "out-of-range", "%s does not fit %s: %g to %g", v.show(tok), kindName(it), lo*it.Num.Scale, hi*it.Num.Scale)
		return 0
	}
	if f < 0 {
		return uint64(int64(f)) & schema.Mask(int(it.Bits))
	}
	return uint64(f)
}

// bitfield reads the parts of an integer.
func (v *valuer) bitfield(it *codec.Item, tok int32) uint64 {
	t := it.Type.(*schema.Bitfield)
	if t.All != "" && v.toks[tok].kind == tokNumber {
		return v.integer(it, tok, string(v.text[v.toks[tok].start:v.toks[tok].end]))
	}
	if v.toks[tok].kind != tokObject {
		v.failAt(tok, it.Field, "", "wrong-kind", "%s where an object {%s} is expected: %s", v.toks[tok].kind, strings.Join(t.Names, ", "), v.show(tok))
		return 0
	}
	all := int32(-1)
	var some [64]int32 // tokens by name
	values := append(some[:0], make([]int32, len(t.Names))...)
	for i := range values {
		values[i] = -1
	}
	for k := tok + 1; k < int32(v.toks[tok].after); {
		key, val := k, k+1
		k = int32(v.toks[val].after)
		found := t.All != "" && v.keyIs(key, t.All)
		if found {
			all = val
		}
		for i, name := range t.Names {
			if v.keyIs(key, name) {
				found = true
				if values[i] >= 0 {
					v.failAt(key, it.Field, name, "duplicate-field", "duplicate field")
				}
				values[i] = val
			}
		}
		if !found {
			help := ""
			if near := diag.Nearest(string(v.text[v.toks[key].start:v.toks[key].end]), t.Names); near != "" {
				help = fmt.Sprintf("; did you mean %q?", near)
			}
			v.failAt(key, it.Field, strings.Trim(v.show(key), `"`), "unknown-field", "no part has this name%s", help)
		}
	}
	if t.All != "" {
		return v.flags(it, t, all, values)
	}
	for i := range t.Forms {
		f := &t.Forms[i]
		if i < len(t.Forms)-1 && !v.formFits(t, f, values) {
			continue
		}
		return v.packForm(it, t, f, values)
	}
	return 0
}

// formFits reports whether the parts that distinguish forms have the values of this form.
func (v *valuer) formFits(t *schema.Bitfield, f *schema.Form, values []int32) bool {
	raw := uint64(0)
	for i, name := range t.Names {
		for _, p := range f.Parts {
			if p.Name != name || p.Of(f.Mask) == 0 || values[i] < 0 {
				continue
			}
			tok := v.toks[values[i]]
			text := string(v.text[tok.start:tok.end])
			switch {
			case tok.kind == tokBool && text == "true":
				raw |= 1 << p.Shift
			case tok.kind == tokNumber:
				if n, ok := parseInt(text, schema.Mask(p.Bits), 0); ok {
					raw |= n << p.Shift
				}
			}
		}
	}
	return raw&f.Mask == f.Match
}

// packForm combines the parts. A part without bits in the form must be 0.
func (v *valuer) packForm(it *codec.Item, t *schema.Bitfield, f *schema.Form, values []int32) (raw uint64) {
	for i, name := range t.Names {
		tok := values[i]
		if tok < 0 || v.toks[tok].kind == tokNull {
			continue
		}
		part := f.Part(name)
		k, text := v.toks[tok].kind, string(v.text[v.toks[tok].start:v.toks[tok].end])
		switch {
		case part == nil:
			if n, ok := parseInt(text, math.MaxUint64, 0); k != tokNumber || !ok || n != 0 {
				v.failAt(tok, it.Field, name, "out-of-range", "%s is not allowed here: it must be 0 unless %s", v.show(tok), t.Forms[0].When)
			}
		case part.Kind == schema.Bool:
			if k != tokBool {
				v.failAt(tok, it.Field, name, "wrong-kind", "%s where true or false is expected: %s", k, v.show(tok))
			} else if text == "true" {
				raw |= 1 << part.Shift
			}
		case k != tokNumber:
			v.failAt(tok, it.Field, name, "wrong-kind", "%s where a number is expected: %s", k, v.show(tok))
		default:
			n, ok := parseInt(text, math.MaxUint64, 0)
			bits, fits := part.Pack(n)
			if !ok || !fits {
				also := ""
				if part.Ones > 0 {
					also = fmt.Sprintf(", or %d", schema.Mask(part.Ones))
				}
				v.failAt(tok, it.Field, name, "out-of-range", "%s does not fit %d bits: 0 to %d%s", v.show(tok), part.Bits, schema.Mask(part.Bits), also)
			}
			raw |= bits
		}
	}
	return raw
}

// flags reads a bitfield that is also shown as one number. Parts that are given replace bits of the number, those that are true last.
func (v *valuer) flags(it *codec.Item, t *schema.Bitfield, all int32, values []int32) (raw uint64) {
	if v.given(all) {
		if k := v.toks[all].kind; k != tokNumber && k != tokString {
			v.failAt(all, it.Field, t.All, "wrong-kind", "%s where a number is expected: %s", k, v.show(all))
			return 0
		}
		raw = v.integer(it, all, string(v.text[v.toks[all].start:v.toks[all].end]))
	}
	f := &t.Forms[len(t.Forms)-1]
	for _, set := range [...]bool{false, true} {
		for i, name := range t.Names {
			part, word := f.Part(name), &raw
			if part == nil || !v.given(values[i]) {
				continue
			}
			if part.Shift >= 64 {
				upper := *part
				upper.Shift -= 64
				part, word = &upper, &v.high
			}
			k, text := v.toks[values[i]].kind, string(v.text[v.toks[values[i]].start:v.toks[values[i]].end])
			bits := schema.Mask(part.Bits) << part.Shift
			if part.Mask != 0 {
				bits = part.Mask
			}
			switch {
			case part.Kind != schema.Bool:
				n, ok := parseInt(text, math.MaxUint64, 0)
				packed, fits := part.Pack(n)
				if k != tokNumber || !ok || !fits {
					v.failAt(values[i], it.Field, name, "out-of-range", "%s does not fit %d bits", v.show(values[i]), part.Bits)
					return 0
				}
				*word = *word&^bits | packed
			case k != tokBool:
				v.failAt(values[i], it.Field, name, "wrong-kind", "%s where true or false is expected: %s", k, v.show(values[i]))
				return 0
			case text == "true" && set:
				*word |= bits
			case text != "true" && !set && part.Value(*word) == 1:
				*word &^= bits
			}
		}
	}
	return raw
}
