package text

import (
	"unicode/utf8"

	"wirebench/defs/source"
)

// BOM is the byte order mark that some editors write before the first line.
const BOM = "\ufeff"

// Space reports whether a character outside ASCII is white space; nil: none is. In ASCII all languages have the same white space: the
// space and \t, \n, \v, \f, \r.
type Space func(r rune) bool

// IsBlank reports whether a byte is ASCII white space.
func IsBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// Width returns the number of bytes of the white space character that s starts with, 0 if it starts with another character.
func (is Space) Width(s string) int {
	if s == "" {
		return 0
	}
	if s[0] < utf8.RuneSelf {
		if IsBlank(s[0]) {
			return 1
		}
		return 0
	}
	if is != nil {
		if r, n := utf8.DecodeRuneInString(s); is(r) {
			return n
		}
	}
	return 0
}

// Skip returns the number of bytes of white space at the start of s.
func (is Space) Skip(s string) int {
	i := 0
	for {
		n := is.Width(s[i:])
		if n == 0 {
			return i
		}
		i += n
	}
}

// Trim returns the bounds of s without leading and trailing white space, as in s[start:end].
func (is Space) Trim(s string) (start, end int) {
	start, end = is.Skip(s), len(s)
	for end > start {
		_, n := utf8.DecodeLastRuneInString(s[:end])
		if is.Width(s[end-n:end]) == 0 {
			break
		}
		end -= n
	}
	return start, end
}

// Trimmed returns a span without leading and trailing white space.
func (is Space) Trimmed(s source.Span) source.Span {
	start, end := is.Trim(s.Text())
	return s.Sub(start, end)
}

// Word returns the number of bytes before the first white space.
func (is Space) Word(s string) int {
	for i := range len(s) {
		if c := s[i]; (c <= ' ' || c >= utf8.RuneSelf) && is.Width(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// CutWord returns the first word of a span, and the rest without surrounding white space.
func (is Space) CutWord(s source.Span) (word, rest source.Span) {
	n := is.Word(s.Text())
	return s.Sub(0, n), is.Trimmed(s.Sub(n, s.End-s.Start))
}

// IsNameByte reports whether a byte is valid in a name.
func IsNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// IsName reports whether s is a name: letters, digits and "_", no digit first.
func IsName(s string) bool { return s != "" && (s[0] < '0' || s[0] > '9') && IsWord(s) }

// IsWord reports whether s is one or more letters, digits and "_".
func IsWord(s string) bool {
	for i := range len(s) {
		if !IsNameByte(s[i]) {
			return false
		}
	}
	return s != ""
}

// CleanName returns s with "_" in place of bytes that are invalid in a name.
func CleanName(s string) string {
	if IsName(s) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if !IsNameByte(c) {
			b[i] = '_'
		}
	}
	if len(b) == 0 || b[0] >= '0' && b[0] <= '9' {
		return "_" + string(b)
	}
	return string(b)
}
