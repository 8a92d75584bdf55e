package filter

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// plain returns a literal value of its own kind.
func (c *compiler) plain(n *node) (value, ty, outcome) {
	switch n.kind {
	case nInt, nFloat:
		v, _, out := c.literal(n, ty{class: cNumber})
		return v, ty{class: cNumber}, out
	case nText:
		return textValue([]byte(n.text)), ty{class: cText}, fine
	case nBytes:
		return bytesValue(n.bytes.value), ty{class: cBytes}, fine
	case nTrue, nFalse:
		return boolValue(n.kind == nTrue), ty{class: cBool}, fine
	case nNeg, nAdd, nSub, nMul, nDiv, nMod, nBits:
		v, _, out := c.literal(n, ty{class: cNumber})
		return v, ty{class: cNumber}, out
	case nCall:
		v, _, out := c.literal(n, ty{class: cBytes})
		return v, ty{class: cBytes}, out
	case nValue:
		text, ok := c.env.Values[n.text]
		if !ok {
			return value{}, ty{}, c.noValue(n)
		}
		if v, ok := parseNumber(text); ok {
			return v, ty{class: cNumber}, fine
		}
		return textValue([]byte(text)), ty{class: cText}, fine
	}
	return value{}, ty{}, absent // an unknown name, reported elsewhere
}

func (c *compiler) noValue(n *node) outcome {
	names := slices.Sorted(maps.Keys(c.env.Values))
	if n.text == selected {
		return c.mistake(n, `"$sel" without a field`, "write $sel.field")
	}
	help := didYouMean(n.text, names)
	if help == "" {
		help = "write the value itself"
	}
	return c.mistake(n, "no value is given for "+strconv.Quote("$"+n.text), help)
}

// parseNumber parses a number supplied by the caller.
func parseNumber(text string) (value, bool) {
	text = strings.TrimSpace(text)
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return intValue(i), true
	}
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return uintValue(u), true
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) {
		return floatValue(f), true
	}
	return value{}, false
}

// literal converts a literal to the type of the other side.
func (c *compiler) literal(n *node, t ty) (v value, p pattern, out outcome) {
	switch t.class {
	case cList, cGroup:
		return v, p, c.mistake(c.subject, t.says(), groupHelp(t))
	case cNumber, cSpan:
		v, out = c.numberLiteral(n, t)
		return v, p, out
	case cTime:
		v, out = c.timeLiteral(n, t)
		return v, p, out
	case cBool:
		v, out = c.boolLiteral(n, t)
		return v, p, out
	case cWord:
		v, out = c.wordLiteral(n, t)
		return v, p, out
	case cText:
		v, out = c.textLiteral(n, t)
		return v, p, out
	}
	return c.bytesLiteral(n, t)
}

// given returns the text of $name.
func (c *compiler) given(n *node) (string, bool) {
	if n.kind != nValue {
		return "", false
	}
	s, ok := c.env.Values[n.text]
	return s, ok
}

// wordOf returns a bare word, or a text.
func (c *compiler) wordOf(n *node) (string, bool) {
	if n.kind == nText {
		return n.text, true
	}
	if n.kind == nPath && len(n.parts) == 1 && !n.raw && len(n.parts[0].index) == 0 {
		return n.parts[0].name, true
	}
	return c.given(n)
}

func (c *compiler) numberLiteral(n *node, t ty) (value, outcome) {
	switch n.kind {
	case nInt:
		return uintValue(n.integer), fine
	case nFloat:
		if t.num != nil && t.num.Kind == schema.Float && t.num.Bits == 32 && t.num.Scale == 0 {
			return floatValue(float64(float32(n.float))), fine
		}
		if t.num != nil && t.num.Kind == schema.Float && t.num.Bits == 16 && t.num.Scale == 0 {
			return floatValue(schema.BitsFloat(schema.FloatBits(n.float, 16), 16)), fine
		}
		return floatValue(n.float), fine
	case nTrue, nFalse:
		return value{}, c.mistake(n, t.says(), "compare it with a number")
	case nNeg:
		v, out := c.numberLiteral(n.kids[0], t)
		zero := intValue(0)
		if v.kind == vFloat {
			return floatValue(-v.f), out
		}
		v, _ = arithmetic(nSub, &zero, &v)
		return v, out
	case nAdd, nSub, nMul, nDiv, nMod, nBits:
		a, out := c.numberLiteral(n.kids[0], t)
		if out != fine {
			return a, out
		}
		b, out := c.numberLiteral(n.kids[1], t)
		if out != fine {
			return b, out
		}
		v, ok := arithmetic(n.kind, &a, &b)
		if !ok {
			return v, c.mistake(n, "no value", "")
		}
		return v, fine
	case nCall:
		return value{}, c.mistake(n, t.says()+", and "+strconv.Quote(n.String())+" is bytes", "compare it with a number")
	case nValue:
		text, ok := c.given(n)
		if !ok {
			return value{}, c.noValue(n)
		}
		if v, ok := parseNumber(text); ok {
			return v, fine
		}
		if t.num == nil || t.num.Enum == nil {
			return value{}, c.mistake(n, t.says()+`, and "$`+n.text+`" is `+strconv.Quote(text), "")
		}
	}
	if t.class == cSpan && n.kind == nText {
		if d, err := time.ParseDuration(strings.ReplaceAll(n.text, " ", "")); err == nil {
			return floatValue(d.Seconds()), fine
		}
		return value{}, c.mistake(n, strconv.Quote(n.text)+" is not a duration", `write seconds, or "20ms"`)
	}
	word, ok := c.wordOf(n)
	if ok && t.num != nil && t.num.Enum != nil {
		if v, ok := enumValue(t.num, word); ok {
			if n.kind == nPath {
				c.classify(n).found = true
			}
			return v, fine
		}
		out := c.mistake(n, fmt.Sprintf("%q has no value %q", t.label, word), oneOfThese(word, enumNames(t.num)))
		if n.kind == nPath {
			c.classify(n).found = true // it is not also an unknown name
		}
		return value{}, out
	}
	if n.kind == nPath {
		info := c.classify(n)
		switch {
		case info.kind == pathMessage && t.codes:
			info.found = true
			switch codes := c.codesOf(n, t); len(codes) {
			case 0:
				return value{}, c.mistake(n, strconv.Quote(n.String())+" has no code", "compare it with a number")
			case 1:
				return codes[0], fine
			}
			return value{}, c.mistake(n, strconv.Quote(n.String())+" has several codes", "compare it with a number")
		case info.kind == pathMessage:
			return value{}, c.mistake(n, t.says()+", and "+strconv.Quote(n.String())+" is a message", "compare it with a number")
		case info.kind == pathGroup:
			return value{}, c.mistake(n, t.says()+", and "+strconv.Quote(n.String())+" is a group of messages", "compare it with a number")
		}
		return value{}, absent // an unknown name
	}
	help := "compare it with a number"
	if n.kind == nText {
		if _, ok := parseNumber(n.text); ok {
			help = "write the number without quotes"
		}
		return value{}, c.mistake(n, t.says()+", and "+clip(quote(n.text))+" is text", help)
	}
	return value{}, c.mistake(n, t.says()+", and this is not", help)
}

// codesOf returns the codes of the messages of a path.
func (c *compiler) codesOf(n *node, t ty) (codes []value) {
	info := c.classify(n)
	if t.group == "" {
		codes = slices.Clone(info.codes)
	}
	for _, m := range c.messages {
		if v := intValue(int64(m.Key.Code)); info.messages[m] && m.HasKey && (t.group == "" || m.Key.Group == t.group) && !slices.ContainsFunc(codes, func(o value) bool { return equal(&o, &v) }) {
			codes = append(codes, v)
		}
	}
	return codes
}

// noBuild reports that the build is unknown, and how to write a filter for it.
func (c *compiler) noBuild(n *node) outcome {
	help := "compare the field of a message that carries it"
	if len(c.fieldNames("build")) > 0 {
		help = `write ".build" for the field of any message`
	} else {
		for _, m := range c.messages {
			if strings.Contains(strings.ToUpper(m.Name), "VERSION") {
				help = "look into " + m.Name + ", which may carry it"
				break
			}
		}
	}
	return c.mistake(n, "the build of the client is unknown", help)
}

// clip shortens a text for an error.
func clip(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}

func (c *compiler) timeLiteral(n *node, t ty) (value, outcome) {
	text, ok := n.text, n.kind == nText
	if s, given := c.given(n); given {
		text, ok = s, true
	}
	if ok {
		ns, ofDay, ok := parseTime(text)
		switch {
		case ok && ofDay == t.ofDay:
			return intValue(ns), fine
		case ok:
			return value{}, c.mistake(n, "a time of day and a date do not compare", "write both the same way")
		}
		if n.kind == nText {
			return value{}, c.mistake(n, clip(quote(text))+" is not a time", `write "10:00:05" or "2026-11-20 10:00:05"`)
		}
	}
	v, out := c.numberLiteral(n, ty{class: cNumber, label: t.label})
	if out != fine {
		return v, out
	}
	if t.ofDay {
		return value{}, c.mistake(n, "a time of day and a number do not compare", "write both the same way")
	}
	if v.kind == vFloat {
		if math.Abs(v.f) > 9e9 {
			return value{}, c.mistake(n, "this is not a time", "numbers are seconds since 1970")
		}
		whole, part := math.Modf(v.f)
		return intValue(int64(whole)*1e9 + int64(math.Round(part*1e9))), fine
	}
	if v.kind == vUint || int64(v.bits) > 9e9 || int64(v.bits) < -9e9 {
		return value{}, c.mistake(n, "this is not a time", "numbers are seconds since 1970")
	}
	return intValue(int64(v.bits) * 1e9), fine
}

func (c *compiler) boolLiteral(n *node, t ty) (value, outcome) {
	switch {
	case n.kind == nTrue || n.kind == nFalse:
		return boolValue(n.kind == nTrue), fine
	case n.kind == nInt && n.integer <= 1:
		return uintValue(n.integer), fine
	case n.kind == nPath && c.classify(n).kind == pathWord:
		return value{}, absent
	}
	return value{}, c.mistake(n, t.says(), "compare it with true or false")
}

func (c *compiler) wordLiteral(n *node, t ty) (value, outcome) {
	word, ok := c.wordOf(n)
	if !ok {
		return value{}, c.mistake(n, t.says(), oneOfThese("", t.words))
	}
	if n.kind == nPath {
		c.classify(n).found = true
	}
	for i, w := range t.words {
		if w == word && w != "" {
			return intValue(int64(i)), fine
		}
	}
	return value{}, c.mistake(n, fmt.Sprintf("%q is never %q", t.label, word), oneOfThese(word, t.words))
}

func (c *compiler) textLiteral(n *node, t ty) (value, outcome) {
	text := func(s string) value {
		if t.uuid {
			s = uuidText(s)
		}
		return textValue([]byte(s))
	}
	if n.kind == nText {
		return text(n.text), fine
	}
	if s, ok := c.given(n); ok {
		return text(s), fine
	}
	switch n.kind {
	case nPath:
		word, ok := c.wordOf(n)
		info := c.classify(n)
		if ok && t.free && (t.label != "name" || info.kind == pathMessage && !n.parts[0].glob) {
			info.found = true
			return textValue([]byte(word)), fine
		}
		if n.parts[0].glob {
			info.found = true
			return value{}, c.mistake(n, "a pattern cannot be compared", "write the pattern alone, or name ~ \"^S_\"")
		}
		if info.kind != pathWord || !t.free {
			info.found = true
			if !ok {
				word = n.String()
			}
			return value{}, c.mistake(n, t.says(), "put the text in quotes: "+quote(word))
		}
		return value{}, absent
	case nValue:
		return value{}, c.noValue(n)
	}
	return value{}, c.mistake(n, t.says(), "put the text in quotes")
}

// uuidText returns the usual form of a UUID, which may have upper-case digits or no hyphens; any other text is returned as it is.
func uuidText(s string) string {
	digits := strings.ReplaceAll(s, "-", "")
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != 16 {
		return strings.ToLower(s)
	}
	return string(codec.AppendUUID(nil, b))
}

func (c *compiler) bytesLiteral(n *node, t ty) (v value, p pattern, out outcome) {
	switch n.kind {
	case nBytes:
		return bytesValue(n.bytes.value), n.bytes, fine
	case nText:
		p.value = []byte(n.text)
		return bytesValue(p.value), p, fine
	case nCall:
		b, out := c.encoded(n)
		p.value = b
		return bytesValue(b), p, out
	case nValue:
		s, ok := c.given(n)
		if !ok {
			return v, p, c.noValue(n)
		}
		p.value = []byte(s)
		return bytesValue(p.value), p, fine
	case nPath:
		if k := c.classify(n).kind; k == pathWord {
			return v, p, absent
		}
		return v, p, c.mistake(n, t.says(), "put text in quotes")
	}
	return v, p, c.mistake(n, t.says(), `write the bytes: u32le(5) or x"05 00"`)
}

// encoded returns the bytes of an encoding function with a literal argument.
func (c *compiler) encoded(n *node) ([]byte, outcome) {
	f := functions[n.text]
	if out := c.arguments(n, f); out != fine {
		return nil, out
	}
	arg := n.kids[0]
	if f.read.size == 0 {
		v, out := c.textLiteral(arg, ty{class: cText})
		if out != fine {
			return nil, out
		}
		if n.text == "utf16" {
			return appendUTF16(nil, v.b), fine
		}
		return v.b, fine
	}
	if arg.kind == nBytes || arg.kind == nText {
		return nil, c.mistake(arg, "this is not a number", "")
	}
	v, out := c.numberLiteral(arg, ty{class: cNumber})
	if out != fine {
		return nil, out
	}
	size := f.read.size
	if f.read.float {
		return appendNumber(nil, schema.FloatBits(v.float(), 8*size), size, f.read.big), fine
	}
	if v.kind == vFloat {
		return nil, c.mistake(arg, n.text+" takes an integer", "f32 and f64 are for floats")
	}
	if of := f.read.of; of != schema.Sized {
		if f.read.signed && v.kind == vUint && v.bits > math.MaxInt64 {
			return nil, c.mistake(arg, arg.String()+" does not fit 64 bits with a sign", "")
		}
		return codec.AppendVarint(nil, v.bits, of, 64), fine
	}
	least, most := intValue(-1<<(8*size-1)), uintValue(schema.Mask(8*size))
	if holds(opLt, &v, &least) || holds(opGt, &v, &most) {
		bytes := strconv.Itoa(size) + " bytes"
		if size == 1 {
			bytes = "1 byte"
		}
		return nil, c.mistake(arg, arg.String()+" does not fit "+bytes, "")
	}
	return appendNumber(nil, v.bits, size, f.read.big), fine
}

// isNear reports whether a node is a float with a tolerance: f32(1.5, 0.01).
func (c *compiler) isNear(n *node) bool {
	return n.kind == nCall && len(n.kids) == 2 && functions[n.text].read.float && c.isLiteral(n.kids[0]) && c.isLiteral(n.kids[1])
}

func (c *compiler) nearValue(n *node) (near, outcome) {
	r := functions[n.text].read
	v, out := c.numberLiteral(n.kids[0], ty{class: cNumber})
	if out != fine {
		return near{}, out
	}
	off, out := c.numberLiteral(n.kids[1], ty{class: cNumber})
	return near{v.float(), math.Abs(off.float()), r.size, r.big}, out
}
