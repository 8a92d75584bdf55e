package corpus

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Value is a value formatted for display and for filters.
type Value struct {
	Text    string // display form: the name of an enum's value, a number with its scale, bytes in hex. Truncated after 240 bytes, with "…"
	Literal string // filter form: path == literal. Empty for values without one: NaN, and truncated values
}

// numberKind describes how a number is ordered and formatted.
type numberKind struct {
	num      *schema.Number // nil: unsigned
	bitfield *schema.Bitfield
}

func kindOf(f *schema.Field) (k numberKind, ok bool) {
	switch t := f.Type.(type) {
	case *schema.Number:
		return numberKind{num: t}, true
	case *schema.Bitfield:
		return numberKind{bitfield: t}, true
	}
	return k, false
}

// key returns the key by which a number is counted: its bits, or 0 or 1 for booleans.
func (k *numberKind) key(raw uint64) uint64 {
	if k.num != nil && k.num.Kind == schema.Bool {
		return min(raw, 1)
	}
	return raw
}

// rank returns the position of a number in the order: a larger number has a larger rank. ok is false for NaN.
func (k *numberKind) rank(key uint64) (rank uint64, ok bool) {
	if k.num == nil {
		return key, true
	}
	switch k.num.Kind {
	case schema.Signed:
		rank = uint64(k.num.Int(key)) ^ 1<<63
	case schema.Float:
		f := k.num.Unscaled(key)
		if f != f {
			return 0, false
		}
		if rank = math.Float64bits(f + 0); rank>>63 != 0 { // + 0 makes both zeros equal
			rank = ^rank
		} else {
			rank |= 1 << 63
		}
	default:
		rank = key
	}
	if k.num.Scale < 0 {
		rank = ^rank
	}
	return rank, true
}

// value formats a number.
func (k *numberKind) value(key uint64) Value {
	text, fraction := k.text(key)
	switch {
	case k.num == nil:
		return Value{text, strconv.FormatUint(key, 10)}
	case k.hasNames():
		if name := k.num.NameOf(text); name != "" {
			if !k.isFirst(name, key) {
				return Value{name, text} // in a filter, the name means another value
			}
			return Value{name, string(AppendText(nil, name))}
		}
	case fraction:
		return Value{text, floatLiteral(k.shown(key), k.width())}
	}
	return Value{text, text}
}

// people returns Value.Text.
func (k *numberKind) people(key uint64) string {
	text, _ := k.text(key)
	if k.hasNames() {
		if name := k.num.NameOf(text); name != "" {
			return name
		}
	}
	return text
}

func (k *numberKind) hasNames() bool {
	return k.num != nil && k.num.Enum != nil && k.num.Kind != schema.Float && k.num.Kind != schema.Bool && k.num.Scale == 0
}

// isFirst reports whether the name is first defined with this value.
func (k *numberKind) isFirst(name string, key uint64) bool {
	for _, v := range k.num.Enum.Values {
		if v.Name == name {
			return (v.Value^key)&schema.Mask(k.num.Bits) == 0
		}
	}
	return false
}

// text formats a number without its name. fraction reports that it is a float.
func (k *numberKind) text(key uint64) (text string, fraction bool) {
	n := k.num
	switch {
	case k.bitfield != nil:
		return bitfieldText(k.bitfield, key), false
	case n == nil:
		return strconv.FormatUint(key, 10), false
	case n.Kind == schema.Float || n.Scale != 0:
		return floatText(k.shown(key), k.width()), true
	case n.Kind == schema.Bool:
		return strconv.FormatBool(key != 0), false
	}
	return n.Decimal(key), false
}

// shown returns the value of a float, or of a number with a scale.
func (k *numberKind) shown(key uint64) float64 { return k.num.Float(key) }

// width returns the precision in bits with which a float is formatted, so that a 32-bit float has only significant digits.
func (k *numberKind) width() int {
	if k.num.Kind == schema.Float && k.num.Bits == 32 && k.num.Scale == 0 {
		return 32
	}
	return 64
}

func floatText(f float64, width int) string {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, width)
	}
	return strconv.FormatFloat(f, 'f', -1, width)
}

// floatLiteral formats a float as a filter literal; "" if it has none.
func floatLiteral(f float64, width int) string {
	if f != f || math.IsInf(f, 0) {
		return ""
	}
	s := strconv.FormatFloat(f, 'g', -1, width)
	if strings.Contains(s, ".") {
		return s
	}
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok {
		return mantissa + ".0e" + exponent
	}
	return s + ".0"
}

// bitfieldText lists the parts of a bitfield that are not 0, by name.
func bitfieldText(t *schema.Bitfield, raw uint64) string {
	if len(t.Forms) == 0 {
		return strconv.FormatUint(raw, 10)
	}
	form := t.Form(raw)
	var out []byte
	rest := raw // bits of no part
	for _, name := range t.Names {
		for _, p := range form.Parts {
			v := p.Value(raw)
			if p.Name == name {
				all, _ := p.Pack(schema.Mask(max(p.Bits, 1)))
				rest &^= all
			}
			if p.Name != name || v == 0 {
				continue
			}
			if len(out) > 0 {
				out = append(out, ' ')
			}
			out = append(out, name...)
			if p.Kind != schema.Bool {
				out = strconv.AppendUint(append(out, '='), v, 10)
			}
		}
	}
	if t.All != "" && rest != 0 && len(out) > 0 {
		out = strconv.AppendUint(append(out, " +"...), rest, 10)
	} else if t.All != "" && rest != 0 {
		out = strconv.AppendUint(out, rest, 10)
	}
	if len(out) == 0 {
		return "0"
	}
	return string(out)
}

// textValue formats a text, or bytes, given its key.
func textValue(key string, isBytes bool) Value {
	cut := len(key) > keptText
	if cut {
		key = key[:keptText]
	}
	v := Value{Text: key}
	if isBytes {
		if v.Text = hex.EncodeToString([]byte(key[:min(len(key), keptText/2)])); !cut {
			v.Literal = string(AppendBytes(nil, []byte(key)))
		}
		cut = cut || len(key) > keptText/2
	} else if !cut {
		v.Literal = string(AppendText(nil, key))
	} else {
		v.Text = wholeChars(key)
	}
	if cut {
		v.Text += "…"
	}
	return v
}

// wholeChars removes an incomplete character at the end.
func wholeChars(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// AppendText appends a quoted text in the syntax of filters.
func AppendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		c, n := utf8.DecodeRuneInString(s)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == utf8.RuneError && n == 1 || c < 0x20 || c == 0x7f:
			dst = fmt.Appendf(dst, `\x%02x`, s[0])
		default:
			dst = append(dst, s[:n]...)
		}
		s = s[n:]
	}
	return append(dst, '"')
}

// AppendBytes appends bytes in the syntax of filters: x"de ad", and "" for no bytes.
func AppendBytes(dst, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	dst = append(dst, 'x', '"')
	for i, c := range b {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
	}
	return append(dst, '"')
}

// AppendFilterPath appends the path of a field below the name of its message, in the syntax of filters: members.name.
func AppendFilterPath(dst []byte, p *codec.Program, field uint16) []byte {
	path := p.AppendFieldPath(nil, field)
	for i := 0; i < len(path); i++ {
		if path[i] == '[' && i+1 < len(path) && path[i+1] == ']' {
			i++
			continue
		}
		dst = append(dst, path[i])
	}
	return dst
}
