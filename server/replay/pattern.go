package replay

import "strings"

// pattern selects ignored messages, or ignored fields of messages.
type pattern struct {
	message string
	field   string // "": the whole message
}

// parsePattern reads NAME, or NAME.field.
func parsePattern(text string) pattern {
	name, field, _ := strings.Cut(text, ".")
	return pattern{name, field}
}

// matches reports whether the pattern selects a message.
func (p pattern) matches(name string) bool { return p.field == "" && glob(p.message, name) }

// matchesField reports whether the pattern selects a field. A path without indexes selects all elements.
func (p pattern) matchesField(name, path string) bool {
	return p.field != "" && glob(p.message, name) && (glob(p.field, path) || glob(p.field, unindexed(path)))
}

// unindexed removes the indexes of elements from a path.
func unindexed(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '[' {
			if n := strings.IndexByte(path[i:], ']'); n > 0 {
				i += n
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// glob matches a text with a pattern in which * is any text. Its time is at most the product of both lengths, which are bounded.
func glob(pattern, text string) bool {
	p, t, star, from := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
