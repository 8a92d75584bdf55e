package paste

import (
	"strings"

	"wirebench/codec/scan"
)

// Numbers in source code.

// bareHex describes whether numbers in a list could be unmarked hex.
type bareHex struct {
	no, letter, zero, uneven bool
}

func (h bareHex) is() bool { return !h.no && (h.letter || h.zero && !h.uneven) }

// byteValue parses a number of source code. octal means that it has a leading zero, which only some languages read as octal.
func byteValue(s string) (v byte, octal, ok bool) {
	s, negative := strings.CutPrefix(s, "-")
	s = strings.TrimPrefix(s, "+")
	if s == "" {
		return 0, false, false
	}
	base := 10
	switch {
	case s[0] == '$':
		s, base = s[1:], 16
	case s[0] == '&':
		s, base = s[2:], 16
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x':
		s, base = s[2:], 16
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'b':
		s, base = s[2:], 2
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'o':
		s, base = s[2:], 8
	case len(s) > 1 && s[0] == '0' && scan.IsDigit(s[1]):
		octal = true
	}
	n, i := 0, 0
	for ; i < len(s); i++ {
		if s[i] == '_' {
			continue
		}
		d := int(scan.HexValue[s[i]])
		if d >= base {
			break
		}
		if n = n*base + d; n > 1<<20 {
			return 0, octal, false
		}
	}
	if i == 0 || !numberSuffix(s[i:]) {
		return 0, octal, false
	}
	if negative {
		return byte(-n), octal, n <= 128
	}
	return byte(n), octal, n <= 255
}

// numberSuffix reports whether s is a valid suffix of a number: its type, in C, Rust, F# and others.
func numberSuffix(s string) bool {
	switch strings.ToLower(strings.TrimLeft(s, "_")) {
	case "", "u", "l", "ul", "lu", "ull", "u8", "i8", "uy", "y", "s", "uc", "h":
		return true
	}
	return false
}

// appendBareHex appends the bytes of a list of hex numbers of one or two digits.
func appendBareHex(out []byte, s string) []byte {
	x := codeLexer{s: s}
	for {
		tok := x.next()
		if tok.kind == codeEnd {
			return out
		}
		if tok.kind == codeNumber || tok.kind == codeWord {
			v, _ := readNumber(s[:tok.end], tok.off, 16)
			out = append(out, byte(v))
		}
	}
}
