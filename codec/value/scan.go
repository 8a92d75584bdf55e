package value

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// token is one JSON value, or the key of a member. Containers are followed by their contents.
type token struct {
	kind       tokenKind
	start, end uint32 // bytes of the text; strings without quotes
	after      uint32 // index of the first token after its contents
	escaped    bool   // a string with escapes
}

type tokenKind uint8

const (
	tokNull tokenKind = iota
	tokBool
	tokNumber
	tokString
	tokArray
	tokObject // members: key, value, key, value
)

func (k tokenKind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// maxJSONDepth limits nesting, and thereby the stack.
const maxJSONDepth = 200

// SyntaxError describes invalid JSON.
type SyntaxError struct {
	Offset  int // in bytes from the start of the text
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON at byte %d: %s", e.Offset, e.Message)
}

// scanner reads JSON (RFC 8259) into tokens. It does not use encoding/json because lone surrogates must survive.
type scanner struct {
	text []byte
	at   int
	toks []token
	err  *SyntaxError
}

func (s *scanner) fail(format string, args ...any) bool {
	if s.err == nil {
		s.err = &SyntaxError{Offset: s.at, Message: fmt.Sprintf(format, args...)}
	}
	return false
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// document reads one value up to the end of the text.
func (s *scanner) document() bool {
	if len(s.text) > 1<<30 {
		return s.fail("longer than 1 GiB")
	}
	s.space()
	if !s.value(0) {
		return false
	}
	s.space()
	if s.at < len(s.text) {
		return s.fail("%s after the value", s.found())
	}
	return true
}

// found describes the character at the cursor for error messages.
func (s *scanner) found() string {
	if s.at >= len(s.text) {
		return "the end of the text"
	}
	c, _ := utf8.DecodeRune(s.text[s.at:])
	return fmt.Sprintf("%q", c)
}

func (s *scanner) push(k tokenKind, start int) int {
	s.toks = append(s.toks, token{kind: k, start: uint32(start), after: uint32(len(s.toks) + 1)})
	return len(s.toks) - 1
}

func (s *scanner) value(depth int) bool {
	if s.at >= len(s.text) {
		return s.fail("a value expected, the text ends")
	}
	switch c := s.text[s.at]; {
	case c == '{' || c == '[':
		if depth >= maxJSONDepth {
			return s.fail("nested deeper than %d", maxJSONDepth)
		}
		return s.container(c, depth)
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, w := range [...]struct {
		word string
		kind tokenKind
	}{{"null", tokNull}, {"true", tokBool}, {"false", tokBool}} {
		if len(s.text)-s.at >= len(w.word) && string(s.text[s.at:s.at+len(w.word)]) == w.word {
			t := s.push(w.kind, s.at)
			s.at += len(w.word)
			s.toks[t].end = uint32(s.at)
			return true
		}
	}
	return s.fail("a value expected, found %s", s.found())
}

func (s *scanner) container(open byte, depth int) bool {
	kind, closing := tokArray, byte(']')
	if open == '{' {
		kind, closing = tokObject, '}'
	}
	t := s.push(kind, s.at)
	s.at++
	s.space()
	for n := 0; ; n++ {
		if s.at < len(s.text) && s.text[s.at] == closing && n == 0 {
			break
		}
		if kind == tokObject {
			if s.at >= len(s.text) || s.text[s.at] != '"' {
				return s.fail("a field name in quotes expected, found %s", s.found())
			}
			if !s.str() {
				return false
			}
			s.space()
			if s.at >= len(s.text) || s.text[s.at] != ':' {
				return s.fail("a colon expected, found %s", s.found())
			}
			s.at++
			s.space()
		}
		if !s.value(depth + 1) {
			return false
		}
		s.space()
		if s.at < len(s.text) && s.text[s.at] == ',' {
			s.at++
			s.space()
			continue
		}
		if s.at < len(s.text) && s.text[s.at] == closing {
			break
		}
		return s.fail("a comma or %q expected, found %s", closing, s.found())
	}
	s.at++
	s.toks[t].end, s.toks[t].after = uint32(s.at), uint32(len(s.toks))
	return true
}

func (s *scanner) number() bool {
	t := s.push(tokNumber, s.at)
	digits := func() bool {
		from := s.at
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		return s.at > from
	}
	if s.text[s.at] == '-' {
		s.at++
	}
	zero := s.at
	if !digits() {
		return s.fail("a digit expected, found %s", s.found())
	}
	if s.text[zero] == '0' && s.at > zero+1 {
		s.at = zero
		return s.fail("a number with a leading zero")
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if !digits() {
			return s.fail("a digit expected, found %s", s.found())
		}
	}
	if s.at < len(s.text) && s.text[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		if !digits() {
			return s.fail("a digit expected, found %s", s.found())
		}
	}
	s.toks[t].end = uint32(s.at)
	return true
}

func (s *scanner) str() bool {
	s.at++
	t := s.push(tokString, s.at)
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.toks[t].end = uint32(s.at)
			s.at++
			return true
		case c == '\\':
			s.toks[t].escaped = true
			n := 2
			if s.at+1 < len(s.text) {
				switch s.text[s.at+1] {
				case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				case 'u':
					n = 6
					for k := 2; k < 6; k++ {
						if s.at+k >= len(s.text) || unhex(s.text[s.at+k]) < 0 {
							return s.fail("four hex digits expected after \\u")
						}
					}
				default:
					return s.fail("unknown escape \\%c", s.text[s.at+1])
				}
			}
			s.at += n
		case c < 0x20:
			return s.fail("a control character inside a string")
		case c < utf8.RuneSelf:
			s.at++
		default:
			r, n := utf8.DecodeRune(s.text[s.at:])
			if r == utf8.RuneError && n == 1 {
				return s.fail("a byte that is not UTF-8")
			}
			s.at += n
		}
	}
	s.at = len(s.text)
	return s.fail("a string without its closing quote")
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// char reads one code point of a JSON string, or one lone surrogate. rest is the remaining text.
func char(s []byte) (c rune, rest []byte) {
	if s[0] != '\\' {
		if s[0] < utf8.RuneSelf {
			return rune(s[0]), s[1:]
		}
		c, n := utf8.DecodeRune(s)
		return c, s[n:]
	}
	switch s[1] {
	case 'b':
		return '\b', s[2:]
	case 'f':
		return '\f', s[2:]
	case 'n':
		return '\n', s[2:]
	case 'r':
		return '\r', s[2:]
	case 't':
		return '\t', s[2:]
	case 'u':
		c = unit(s)
		s = s[6:]
		if c >= 0xd800 && c < 0xdc00 && len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
			if both := utf16.DecodeRune(c, unit(s)); both != utf8.RuneError {
				return both, s[6:]
			}
		}
		return c, s
	}
	return rune(s[1]), s[2:]
}

// unit reads \uXXXX.
func unit(s []byte) (c rune) {
	for _, d := range s[2:6] {
		c = c<<4 | rune(unhex(d))
	}
	return c
}
