package filter

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// token is a word, a number, a text or an operator.
type token struct {
	kind       tokenKind
	start, end int
	text       string // as written; for a text its value
	integer    uint64
	float      float64
	bytes      pattern
}

type tokenKind uint8

const (
	tEnd tokenKind = iota
	tName
	tInt
	tFloat
	tText
	tBytes
	tSign
	tBad // a mistake was recorded
)

// scanner splits a filter into tokens.
type scanner struct {
	text     string
	at       int
	mistakes []Mistake
}

func (s *scanner) mistake(start, end int, message, help string) {
	if len(s.mistakes) == 0 { // later mistakes may be consequences of the first
		s.mistakes = append(s.mistakes, Mistake{start, end, message, help})
	}
}

func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isNameByte(c byte) bool { return isNameStart(c) || isDigit(c) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func (s *scanner) peekByte(off int) byte {
	if i := s.at + off; i < len(s.text) {
		return s.text[i]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// signs are the operators of more than one byte.
var signs = [...]string{"===", "!==", "~=", "==", "!=", ">=", "<=", "&&", "||", "^^", ".."}

func (s *scanner) next() token {
	s.space()
	t := token{start: s.at}
	if s.at >= len(s.text) {
		t.end = s.at
		return t
	}
	c := s.text[s.at]
	switch {
	case s.octets(&t):
	case s.address(&t):
	case c == 'x' && (s.peekByte(1) == '"' || s.peekByte(1) == '\''):
		s.at++
		s.pattern(&t)
	case c == 'r' && (s.peekByte(1) == '"' || s.peekByte(1) == '\''):
		s.at++
		s.rawText(&t)
	case c == '"' || c == '\'':
		s.quoted(&t)
	case isNameStart(c):
		t.kind = tName
		for isNameByte(s.peekByte(0)) {
			s.at++
		}
		t.text = s.text[t.start:s.at]
	case isDigit(c):
		s.number(&t)
	default:
		s.sign(&t)
	}
	t.end = s.at
	return t
}

func (s *scanner) sign(t *token) {
	t.kind = tSign
	for _, sign := range signs {
		if strings.HasPrefix(s.text[s.at:], sign) {
			t.text = sign
			s.at += len(sign)
			return
		}
	}
	_, n := utf8.DecodeRuneInString(s.text[s.at:])
	t.text = s.text[s.at : s.at+n]
	s.at += n
}

// octets reads bytes such as 0a:1b:2c: at least two, with two digits each.
func (s *scanner) octets(t *token) bool {
	n := 0
	for ; isHex(s.peekByte(n)) && isHex(s.peekByte(n+1)); n += 3 {
		if s.peekByte(n+2) != ':' || !isHex(s.peekByte(n+3)) {
			n += 2
			break
		}
	}
	if n < 5 || n%3 != 2 || isNameByte(s.peekByte(n)) || s.peekByte(n) == ':' {
		return false
	}
	t.kind, t.text = tBytes, s.text[s.at:s.at+n]
	s.at += n
	t.bytes = parsePattern(strings.ReplaceAll(t.text, ":", ""))
	if t.bytes.size() > maxPattern {
		s.mistake(t.start, s.at, "a pattern of more than "+strconv.Itoa(maxPattern)+" bytes", "")
		t.kind = tBad
	}
	return true
}

// pattern reads bytes such as x"de ?? be ef".
func (s *scanner) pattern(t *token) {
	quote := s.text[s.at]
	end := strings.IndexByte(s.text[s.at+1:], quote)
	if end < 0 {
		s.open(t)
		return
	}
	from := s.at + 1
	body := s.text[from : from+end]
	s.at = from + end + 1
	t.kind, t.text = tBytes, s.text[t.start:s.at]
	digits := make([]byte, 0, len(body))
	for i := range len(body) {
		c := body[i]
		switch {
		case strings.IndexByte(" :-,", c) >= 0:
			if len(digits)%2 != 0 {
				s.mistake(from+i-1, from+i, "half a byte", "write two digits for each byte")
				t.kind = tBad
				return
			}
		case isHex(c) || c == '?' || c == '.':
			if c == '.' {
				c = '?'
			}
			digits = append(digits, c)
		default:
			_, n := utf8.DecodeRuneInString(body[i:])
			s.mistake(from+i, from+i+n, strconv.Quote(body[i:i+n])+" is not a hex digit", `bytes look like x"de ?? be ef"`)
			t.kind = tBad
			return
		}
	}
	switch {
	case len(digits)%2 != 0:
		s.mistake(s.at-2, s.at-1, "half a byte", "write two digits for each byte")
		t.kind = tBad
	case len(digits) == 0:
		s.mistake(t.start, s.at, "no bytes", `bytes look like x"de ?? be ef"`)
		t.kind = tBad
	case len(digits) > 2*maxPattern:
		s.mistake(t.start, s.at, "a pattern of more than "+strconv.Itoa(maxPattern)+" bytes", "")
		t.kind = tBad
	default:
		t.bytes = parsePattern(string(digits))
	}
}

func (s *scanner) rawText(t *token) {
	end := strings.IndexByte(s.text[s.at+1:], s.text[s.at])
	if end < 0 {
		s.open(t)
		return
	}
	t.kind, t.text = tText, s.text[s.at+1:s.at+1+end]
	s.at += end + 2
}

// open reports an unterminated text.
func (s *scanner) open(t *token) {
	s.mistake(t.start, len(s.text), "missing closing quote", "")
	t.kind, s.at = tBad, len(s.text)
}

func (s *scanner) quoted(t *token) {
	quote := s.text[s.at]
	t.kind = tText
	var b []byte
	for i := s.at + 1; i < len(s.text); i++ {
		c := s.text[i]
		if c == quote {
			t.text, s.at = string(b), i+1
			return
		}
		if c != '\\' {
			b = append(b, c)
			continue
		}
		n := 0
		b, n = escape(b, s.text[i+1:])
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s.text[i+1:])
			s.mistake(i, i+1+n, "unknown escape "+strconv.Quote(s.text[i:i+1+n]), `write \\ for a backslash, or put r before the text: r"..."`)
			t.kind, s.at = tBad, len(s.text)
			return
		}
		i += n
	}
	s.open(t)
}

// escape reads an escape after its backslash. n is 0 if it is unknown.
func escape(dst []byte, rest string) (out []byte, n int) {
	if rest == "" {
		return dst, 0
	}
	digits := 0
	switch rest[0] {
	case 'n':
		return append(dst, '\n'), 1
	case 'r':
		return append(dst, '\r'), 1
	case 't':
		return append(dst, '\t'), 1
	case '0':
		return append(dst, 0), 1
	case '"', '\'', '\\':
		return append(dst, rest[0]), 1
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return dst, 0
	}
	if len(rest) <= digits {
		return dst, 0
	}
	v, err := strconv.ParseUint(rest[1:1+digits], 16, 32)
	switch {
	case err != nil:
		return dst, 0
	case digits == 2:
		return append(dst, byte(v)), 3
	case v >= 0xd800 && v < 0xe000: // a surrogate, as in texts of fields
		return append(dst, 0xe0|byte(v>>12), 0x80|byte(v>>6)&0x3f, 0x80|byte(v)&0x3f), 1 + digits
	}
	if v > utf8.MaxRune {
		return dst, 0
	}
	return utf8.AppendRune(dst, rune(v)), 1 + digits
}

// number reads a number that starts with a digit. "1..5" is 1, then "..".
func (s *scanner) number(t *token) {
	from := s.at
	for isNameByte(s.peekByte(0)) {
		s.at++
	}
	word := s.text[from:s.at]
	based := len(word) > 1 && word[0] == '0' && strings.IndexByte("xXbBoO", word[1]) >= 0
	decimal := strings.Trim(word, "0123456789_") == ""
	if !based {
		if s.peekByte(0) == '.' && isDigit(s.peekByte(1)) && decimal {
			for s.at++; isNameByte(s.peekByte(0)); s.at++ {
			}
			decimal = false
		}
		if c := s.text[s.at-1]; (c == 'e' || c == 'E') && (s.peekByte(0) == '-' || s.peekByte(0) == '+') && isDigit(s.peekByte(1)) {
			for s.at++; isDigit(s.peekByte(0)); s.at++ {
			}
		}
		word = s.text[from:s.at]
	}
	t.text = word
	clean := strings.ReplaceAll(word, "_", "")
	if based || decimal {
		base := 10
		if based {
			base = map[byte]int{'x': 16, 'b': 2, 'o': 8}[word[1]|0x20]
			clean = clean[2:]
		}
		v, err := strconv.ParseUint(clean, base, 64)
		if err == nil {
			t.kind, t.integer = tInt, v
			return
		}
		t.kind = tBad
		if clean != "" && strings.Trim(clean, "0123456789abcdefABCDEF"[:min(base, 10)+2*max(base-10, 0)]) == "" {
			s.mistake(from, s.at, word+" does not fit 64 bits", "")
		} else {
			s.mistake(from, s.at, strconv.Quote(word)+" is not a number", "put text in quotes")
		}
		return
	}
	if s.peekByte(0) == '.' && isDigit(s.peekByte(1)) {
		for isDigit(s.peekByte(0)) || s.peekByte(0) == '.' {
			s.at++
		}
		s.mistake(from, s.at, strconv.Quote(s.text[from:s.at])+" is not a number", "an address is 10.8.0.1, a network 10.8.0.0/24")
		t.kind = tBad
		return
	}
	v, err := strconv.ParseFloat(clean, 64)
	if err != nil || math.IsInf(v, 0) || strings.ContainsAny(clean, "xXpPiInN") {
		s.mistake(from, s.at, strconv.Quote(word)+" is not a number", "put text in quotes")
		t.kind = tBad
		return
	}
	t.kind, t.float = tFloat, v
}
