package text

import (
	"unicode/utf8"

	"wirebench/defs/source"
)

// BOM is the byte order mark that some editors put before the first line.
const BOM = "\ufeff"

// Space reports whether a character outside of ASCII is white space; nil: none is. In ASCII all languages have the same: the blank, the
// tab, and the line ends that Unicode knows.
type Space func(r rune) bool

// IsBlank reports whether a byte is white space of ASCII.
func IsBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// Width is the number of bytes of the white space character that s starts with, 0 if it starts with something else.
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

// Skip is the number of bytes of white space at the start of s.
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

// Trim returns the part of s without white space at its ends, as s[start:end].
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

// Trimmed is a place without white space at its ends.
func (is Space) Trimmed(s source.Span) source.Span {
	start, end := is.Trim(s.Text())
	return s.Sub(start, end)
}

// Word is the number of bytes before the next white space.
func (is Space) Word(s string) int {
	for i := range len(s) {
		if c := s[i]; (c <= ' ' || c >= utf8.RuneSelf) && is.Width(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// CutWord is the first word of a place, and what follows it.
func (is Space) CutWord(s source.Span) (word, rest source.Span) {
	n := is.Word(s.Text())
	return s.Sub(0, n), is.Trimmed(s.Sub(n, s.End-s.Start))
}

// IsNameByte reports whether a byte can stand in a name.
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

// CleanName is s with "_" for what cannot stand in a name.
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
