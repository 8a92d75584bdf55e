package tera

import "unicode/utf8"

// White space is what JavaScript's \s means, since that is what all parsers of the language use: beside blanks and tabs also
// the byte order mark, the no-break space, line separators and the vertical tab. Go's unicode.IsSpace lacks U+FEFF.

// spaceWidth is the number of bytes of the white space character that s starts with, 0 if it starts with something else.
func spaceWidth(s string) int {
	if s == "" {
		return 0
	}
	if c := s[0]; c < utf8.RuneSelf {
		if c == ' ' || c >= '\t' && c <= '\r' {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000,
		r == 0xFEFF:
		return n
	}
	return 0
}

// skipSpace is the number of bytes of white space at the start of s.
func skipSpace(s string) int {
	i := 0
	for {
		n := spaceWidth(s[i:])
		if n == 0 {
			return i
		}
		i += n
	}
}

// trim returns the part of s without white space at its ends, as s[start:end].
func trim(s string) (start, end int) {
	start, end = skipSpace(s), len(s)
	for end > start {
		if c := s[end-1]; c < utf8.RuneSelf {
			if spaceWidth(s[end-1:]) == 0 {
				break
			}
			end--
			continue
		}
		_, n := utf8.DecodeLastRuneInString(s[:end])
		if spaceWidth(s[end-n:end]) == 0 {
			break
		}
		end -= n
	}
	return start, end
}

// wordLen is the number of bytes before the next white space.
func wordLen(s string) int {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= utf8.RuneSelf {
			if spaceWidth(s[i:]) > 0 {
				return i
			}
		}
	}
	return len(s)
}
