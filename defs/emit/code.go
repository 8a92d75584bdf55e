package emit

import (
	"fmt"
	"strings"
)

// code is source text under construction. Indentation is one tab per level.
type code struct {
	b     strings.Builder
	depth int
}

// line adds a line. An empty line has no indentation.
func (c *code) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		c.b.WriteString(strings.Repeat("\t", c.depth))
	}
	c.b.WriteString(text)
	c.b.WriteByte('\n')
}

// open adds a line and increases the indentation, shut decreases it and adds a line.
func (c *code) open(format string, args ...any) {
	c.line(format, args...)
	c.depth++
}

func (c *code) shut(format string, args ...any) {
	c.depth--
	c.line(format, args...)
}

// doc adds a comment of several lines, each with a prefix, unless text is empty.
func (c *code) doc(prefix, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		c.line("%s", strings.TrimRight(prefix+oneLine(line), " "))
	}
}

// vars are the variables of a snippet: a func() writes lines in place of the variable's line, a func() string returns text, any other value
// is printed.
type vars map[string]any

// print adds the lines of a snippet: text of the target with variables $name, where names consist of letters. Empty lines are dropped; tabs
// at the start of a line are indentation relative to the current level.
func (c *code) print(snippet string, v vars) {
	depth := c.depth
	for line := range strings.SplitSeq(snippet, "\n") {
		text := strings.TrimLeft(line, "\t")
		c.depth = depth + len(line) - len(text)
		if write, ok := v[strings.TrimPrefix(text, "$")].(func()); ok {
			write()
		} else if text = expand(text, v); text != "" {
			c.line("%s", text)
		}
	}
	c.depth = depth
}

// expand replaces the variables in a text.
func expand(text string, v vars) string {
	at := strings.IndexByte(text, '$')
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(text, '$') {
		end := at + 1
		for end < len(text) && (text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
			end++
		}
		b.WriteString(text[:at])
		switch x, ok := v[text[at+1:end]]; {
		case end == at+1:
			b.WriteByte('$')
		case !ok:
			panic("a snippet has an unknown variable: " + text) // a bug
		default:
			if f, ok := x.(func() string); ok {
				x = f()
			}
			fmt.Fprint(&b, x)
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}
