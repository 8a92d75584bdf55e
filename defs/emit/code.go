package emit

import (
	"fmt"
	"strings"
)

// code is source text under construction. Indentation is a tab a level.
type code struct {
	b     strings.Builder
	depth int
}

// line adds a line. An empty one has no indentation.
func (c *code) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		c.b.WriteString(strings.Repeat("\t", c.depth))
	}
	c.b.WriteString(text)
	c.b.WriteByte('\n')
}

// open adds a line and goes one level deeper, shut comes back and adds one.
func (c *code) open(format string, args ...any) {
	c.line(format, args...)
	c.depth++
}

func (c *code) shut(format string, args ...any) {
	c.depth--
	c.line(format, args...)
}

// doc adds a comment of several lines, each behind a prefix, if there is one.
func (c *code) doc(prefix, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		c.line("%s", strings.TrimRight(prefix+oneLine(line), " "))
	}
}
