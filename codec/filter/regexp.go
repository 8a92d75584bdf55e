package filter

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// compileRegexp makes a regular expression of its text; why says what is wrong with it. In text it is what Go's regular expressions
// are. In bytes a character of it is one byte: \xd0 is the byte d0, "." is any byte, and a letter that is no ASCII is its bytes in
// UTF-8, as it is for "contains".
func compileRegexp(text string, bytes bool) (re *regexp.Regexp, why string) {
	tidy := text
	if bytes {
		tidy = strings.ToValidUTF8(text, "\ufffd") // what is no UTF-8 is a byte
	}
	re, err := regexp.Compile(tidy)
	if err == nil && bytes {
		var pattern string
		if pattern, why = bytePattern(text); why != "" {
			return nil, why
		}
		re, err = regexp.Compile(pattern)
	}
	if err != nil {
		return nil, "no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	return re, ""
}

// bytePattern writes a regular expression, which is known to be one, so that each of its characters is a byte as a code point.
func bytePattern(text string) (pattern, why string) {
	out := []byte("(?s)")
	class, quoted := false, false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			n := 1
			switch {
			case quoted:
				if strings.HasPrefix(text[i:], `\E`) {
					quoted, n = false, 2
				}
			case c == '\\' && i+1 < len(text):
				quoted, n = text[i+1] == 'Q' && !class, 2
			case class && strings.HasPrefix(text[i:], "[:"):
				if end := strings.Index(text[i:], ":]"); end > 0 {
					n = end + 2
				}
			case class:
				class = c != ']'
			case c == '[':
				class = true
				if strings.HasPrefix(text[i+1:], "^") {
					n++
				}
				if strings.HasPrefix(text[i+n:], "]") { // the first one is a character
					n++
				}
			}
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case n > 1 && class:
			return "", fmt.Sprintf("%q is %d bytes, and brackets stand for one", r, n)
		case n == 1 && !quoted:
			out = fmt.Appendf(out, `\x%02x`, text[i])
		default:
			open, end := "(?:", ")"
			if quoted {
				open, end = `\E(?:`, `)\Q`
			}
			out = append(out, open...)
			for _, b := range []byte(text[i : i+n]) {
				out = fmt.Appendf(out, `\x%02x`, b)
			}
			out = append(out, end...)
		}
		i += n
	}
	tree, err := syntax.Parse(string(out), syntax.Perl)
	if err != nil {
		return string(out), "" // which is said where it is compiled
	}
	return string(out), aboveBytes(tree)
}

// aboveBytes is what is wrong with a character that is no byte, such as \x{20ac}.
func aboveBytes(x *syntax.Regexp) string {
	if x.Op == syntax.OpLiteral {
		for _, r := range x.Rune {
			if r > 0xff {
				return fmt.Sprintf(`\x{%x} is no byte`, r)
			}
		}
	}
	for _, sub := range x.Sub {
		if why := aboveBytes(sub); why != "" {
			return why
		}
	}
	return ""
}

// matchBytes matches bytes, each of which is a character.
func (m *machine) matchBytes(re *regexp.Regexp, b []byte) bool {
	high := 0
	for high < len(b) && b[high] < utf8.RuneSelf {
		high++
	}
	if high == len(b) {
		return re.Match(b)
	}
	from := len(m.text)
	m.text = append(m.text, b[:high]...)
	for _, c := range b[high:] {
		if c < utf8.RuneSelf {
			m.text = append(m.text, c)
		} else {
			m.text = append(m.text, 0xc0|c>>6, 0x80|c&0x3f)
		}
	}
	return re.Match(m.text[from:])
}
