package view

import "strings"

// Indexless returns members[].player_id for members[0].player_id.
func Indexless(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	var b strings.Builder
	inside := false
	for _, c := range path {
		switch {
		case c == '[':
			inside = true
			b.WriteString("[")
		case c == ']':
			inside = false
			b.WriteString("]")
		case !inside:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// WithoutIndexes is Indexless without brackets at the end.
func WithoutIndexes(path string) string { return strings.TrimSuffix(Indexless(path), "[]") }
