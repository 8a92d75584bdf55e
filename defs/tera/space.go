package tera

import "wirebench/defs/text"

// space is white space as in JavaScript's \s, since all parsers of the language use it: it includes the byte order mark, the no-break
// space, line separators and the vertical tab. Go's unicode.IsSpace lacks U+FEFF.
var space text.Space = func(r rune) bool {
	switch {
	case r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000,
		r == 0xFEFF:
		return true
	}
	return false
}
