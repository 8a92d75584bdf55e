package paste

import (
	"regexp"
	"strings"

	"wirebench/codec/scan"
)

// Base64 in both alphabets, with and without padding, wrapped or not (RFC 4648, sections 4 and 5; RFC 2045 for wrapping). A
// blank line or padding ends a message.

// readBase64 reads the forms "base64" and "base64url".
func readBase64(t *pasted) (*builder, *Error) {
	d := base64Decoder{t: t, b: &builder{form: formBase64}}
	d.b.out = make([]byte, 0, len(t.s)/4*3+3)
	unit := span{from: len(dataURL.FindString(t.s))}
	unit.to = unit.from
	e := t.each(func(l line) (e *Error) {
		text := strings.TrimSpace(l.text)
		if text != "" {
			unit.to = l.off + len(l.text)
		}
		if text == "" || strings.HasSuffix(text, "=") {
			e = d.message(unit)
			unit.from = unit.to
		}
		return e
	})
	if e == nil {
		e = d.message(unit)
	}
	if d.url {
		d.b.form = formBase64URL
	}
	d.b.why = d.reason()
	return d.b.whole(e, noBytes)
}

// dataURL matches the start of a URL with base64.
var dataURL = regexp.MustCompile(`^data:.{0,195}?;base64,`)

// base64Decoder decodes units, each the digits of whole bytes.
type base64Decoder struct {
	t        *pasted
	b        *builder
	missing  bool // padding was omitted
	std, url bool // characters of only that alphabet were seen
	other    int  // characters that are not hex digits
}

// message reads a part of the text as a message.
func (d *base64Decoder) message(unit span) (e *Error) {
	for unit.from < unit.to && isBlank(d.t.s[unit.from]) {
		unit.from++
	}
	if unit.from < unit.to {
		_ = d.b.begin(Message{}, unit.from)
		if e = d.unit(unit); e == nil {
			e = d.b.end()
		}
	}
	return e
}

func isBlank(c byte) bool { return scan.IsSpace(c) || c == '\r' || c == '\n' }

// base64Value maps base64 digits of either alphabet to their values, other characters to 0xff.
var base64Value = func() (v [256]byte) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range v {
		v[i] = scan.NotHex
	}
	for i := range len(digits) {
		v[digits[i]] = byte(i)
	}
	v['-'], v['_'] = 62, 63
	return v
}()

// unit appends the bytes of a part of the text. White space inside is skipped.
func (d *base64Decoder) unit(unit span) *Error {
	s, out := d.t.s, d.b.out
	bits, n, pads := uint32(0), 0, 0
	fail := func(e *Error) *Error {
		if len(d.b.out)+(e.off-unit.from)/4*3 >= 24 { // many bytes before it
			e.strength = likely
		}
		return e
	}
	for i := unit.from; i < unit.to; i++ {
		c := s[i]
		v := base64Value[c]
		switch {
		case isBlank(c):
			continue
		case c == '=':
			if pads++; n == 0 || pads > 4-n {
				return fail(errAt(i, "padding where none belongs"))
			}
			continue
		case pads > 0:
			return fail(errFound(d.t, i, "the end of the line after padding"))
		case v == scan.NotHex:
			return fail(errFound(d.t, i, "base64"))
		}
		if v >= 62 {
			d.std, d.url = d.std || c == '+' || c == '/', d.url || c == '-' || c == '_'
			if d.std && d.url {
				return fail(errAt(i, "%q and the characters before it are of different base64 alphabets", string(c)))
			}
		}
		if !scan.IsHex(c) {
			d.other++
		}
		bits = bits<<6 | uint32(v)
		if n++; n == 4 {
			out = append(out, byte(bits>>16), byte(bits>>8), byte(bits))
			bits, n = 0, 0
		}
	}
	spare := uint32(0)
	switch {
	case n == 1:
		return fail(errAt(unit.to, "a single base64 digit is left over: some are missing before"))
	case pads > 0 && pads != 4-n:
		return fail(errAt(unit.to, "padding is incomplete: expected %q", strings.Repeat("=", 4-n)))
	case n == 2:
		out, spare = append(out, byte(bits>>4)), bits&0xf
	case n == 3:
		out, spare = append(out, byte(bits>>10), byte(bits>>2)), bits&3
	}
	if d.b.out = out; spare != 0 {
		d.b.note(unit.to, "the spare bits of the last base64 digit are not zero; the end may be missing")
	}
	d.missing = d.missing || n != 0 && pads == 0
	return nil
}

func (d *base64Decoder) reason() string {
	why := "only base64 characters, some of them not hex digits"
	if d.other == 0 {
		why = "read as base64 although hex fits too"
	}
	if d.url {
		why += "; - and _ are of the alphabet for URLs"
	}
	if d.missing {
		why += "; without padding"
	}
	return why
}

// tryBase64 reads text that is almost certainly base64: no spaces inside the lines, and either padding and other marks of base64 or a mix
// of characters that words do not have. Hex digits with a few other letters are mistyped hex.
func tryBase64(t *pasted) (*builder, *Error) {
	clear := dataURL.MatchString(t.s)
	for l := range t.lines() {
		if !clear && strings.ContainsAny(strings.Trim(l.text, " \t"), " \t") {
			return nil, nil
		}
	}
	b, e := readBase64(t)
	if e == nil && !clear && !looksLikeBase64(t.s) {
		return nil, nil
	}
	return b, e
}

// looksLikeBase64 distinguishes base64 from a word and from mistyped hex. Spaces and line breaks in s do not count.
func looksLikeBase64(s string) bool {
	var hexLike, other, chars int
	var lowerThenUpper, digit, symbol bool
	for i := range len(s) {
		c := s[i]
		if base64Value[c] == scan.NotHex {
			symbol = symbol || c == '='
			continue
		}
		chars++
		symbol = symbol || base64Value[c] >= 62
		digit = digit || scan.IsDigit(c)
		lowerThenUpper = lowerThenUpper || i > 0 && c >= 'A' && c <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z'
		if !scan.IsHex(c) {
			other++
		} else if c != 'A' {
			hexLike++
		}
	}
	return !(chars >= 16 && hexLike > 9*other && hexLike >= 14) &&
		(symbol && chars >= 2 || other > 0 && chars >= 4 && (digit || lowerThenUpper))
}
