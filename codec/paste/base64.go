package paste

import (
	"strings"

	"wirebench/codec/scan"
)

// Base64 in both alphabets, with and without padding, wrapped or not (RFC 4648, sections 4 and 5; RFC 2045 for wrapping). A
// blank line or padding ends a message.

// readBase64 reads the forms "base64" and "base64url".
func readBase64(t *pasted) (*builder, *Error) {
	s := t.s
	i := dataURL(s)
	d := base64Decoder{t: t, b: &builder{form: formBase64}}
	d.b.out = make([]byte, 0, len(s)/4*3+3)
	flush := func(at int) *Error {
		if !d.b.open {
			return nil
		}
		if e := d.end(at); e != nil {
			return e
		}
		return d.b.end()
	}
	for i < len(s) {
		c := s[i]
		switch {
		case c == '\n':
			next := i + 1
			for next < len(s) && (scan.IsSpace(s[next]) || s[next] == '\r') {
				next++
			}
			if d.padded || next < len(s) && s[next] == '\n' {
				if e := flush(i); e != nil {
					return nil, e
				}
			}
			i = next
		case scan.IsSpace(c) || c == '\r':
			i++
		default:
			if !d.b.open {
				_ = d.b.begin(Message{}, i)
			}
			n, e := d.run(i)
			if e != nil {
				return nil, e
			}
			i = n
		}
	}
	if e := flush(len(s)); e != nil {
		return nil, e
	}
	if d.url {
		d.b.form = formBase64URL
	}
	d.b.why = d.reason()
	return d.b, nil
}

// dataURL returns the length of a "data:...;base64," prefix.
func dataURL(s string) int {
	if head := s[:min(len(s), 200)]; strings.HasPrefix(head, "data:") {
		if i := strings.Index(head, ";base64,"); i > 0 {
			return i + len(";base64,")
		}
	}
	return 0
}

// base64Decoder decodes consecutive units.
type base64Decoder struct {
	t *pasted
	b *builder

	bits, n  uint32 // digits read of the current group of four, and how many
	padded   bool   // the unit has ended with padding
	pads     int
	missing  bool // padding was omitted
	std, url bool // characters of only that alphabet were seen
	other    int  // characters that are not hex digits
}

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

// run reads the digits and the padding at i and returns their end.
func (d *base64Decoder) run(i int) (int, *Error) {
	s, out := d.t.s, d.b.out
	for ; i < len(s); i++ {
		c := s[i]
		v := base64Value[c]
		if v == scan.NotHex {
			break
		}
		if d.padded {
			return i, errFound(d.t, i, "the end of the line after padding").as(d.strength())
		}
		if v >= 62 {
			if c == '+' || c == '/' {
				d.std = true
			} else {
				d.url = true
			}
			if d.std && d.url {
				return i, errAt(i, "%q and the characters before it are of different base64 alphabets", string(c)).as(d.strength())
			}
		}
		if !scan.IsHex(c) {
			d.other++
		}
		d.bits = d.bits<<6 | uint32(v)
		if d.n++; d.n == 4 {
			out = append(out, byte(d.bits>>16), byte(d.bits>>8), byte(d.bits))
			d.bits, d.n = 0, 0
		}
	}
	d.b.out = out
	for ; i < len(s) && s[i] == '='; i++ {
		d.padded = true
		if d.pads++; d.n == 0 && d.pads > 0 || d.pads > 4-int(d.n) {
			return i, errAt(i, "padding where none belongs").as(d.strength())
		}
	}
	if i < len(s) && !scan.IsSpace(s[i]) && s[i] != '\r' && s[i] != '\n' {
		return i, errFound(d.t, i, "base64").as(d.strength())
	}
	return i, nil
}

// end ends a unit at an offset of the text.
func (d *base64Decoder) end(at int) *Error {
	defer func() { d.bits, d.n, d.pads, d.padded = 0, 0, 0, false }()
	switch {
	case d.n == 1:
		return errAt(at, "a single base64 digit is left over: some are missing before").as(d.strength())
	case d.padded && d.pads != 4-int(d.n):
		return errAt(at, "padding is incomplete: expected %q", strings.Repeat("=", 4-int(d.n))).as(d.strength())
	case d.n == 2:
		d.b.out = append(d.b.out, byte(d.bits>>4))
		d.spare(at, d.bits&0xf)
	case d.n == 3:
		d.b.out = append(d.b.out, byte(d.bits>>10), byte(d.bits>>2))
		d.spare(at, d.bits&3)
	}
	d.missing = d.missing || d.n != 0 && !d.padded
	return nil
}

func (d *base64Decoder) spare(at int, bits uint32) {
	if bits != 0 {
		d.b.note(at, "the spare bits of the last base64 digit are not zero; the end may be missing")
	}
}

func (d *base64Decoder) strength() strength {
	if len(d.b.out) >= 24 {
		return likely
	}
	return weak
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
	clear := dataURL(t.s) > 0
	gap := -1
	t.lines(func(l line) bool {
		if i := strings.IndexAny(strings.Trim(l.text, " \t"), " \t"); i >= 0 && !clear {
			gap = l.off + i
		}
		return gap < 0
	})
	if gap >= 0 {
		return nil, nil
	}
	b, e := readBase64(t)
	if e != nil {
		return nil, e
	}
	d := looksLikeBase64(t.s)
	if !clear && !d {
		return nil, nil
	}
	return b, nil
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
	if chars >= 16 && hexLike > 9*other && hexLike >= 14 {
		return false
	}
	return symbol && chars >= 2 || other > 0 && chars >= 4 && (digit || lowerThenUpper)
}
