package text

import (
	"strings"
)

// TrimLines returns a text with "\n" at the end of each line, and without white space before it or lines without text at the end. It is
// the form of languages that have no other. Trimming twice changes nothing more.
func TrimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	if s = strings.TrimRight(strings.Join(lines, "\n"), "\n"); s == "" {
		return ""
	}
	return s + "\n"
}
