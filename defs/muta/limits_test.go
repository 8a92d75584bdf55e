package muta

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// numbered repeats a text n times with "%" replaced by the index, and "^" by the next index.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(text, "%", strconv.Itoa(i)), "^", strconv.Itoa(i+1)))
	}
	return b.String()
}

// TestLimits parses definitions that are designed to be expensive. Each must take only seconds even on a slow machine with the race
// detector; a quadratic step would take minutes.
func TestLimits(t *testing.T) {
	const (
		n      = text.MaxLines
		group  = "group: g\n   __id = uint16\n"
		packet = group + "packet: p\n   __group = g\n"
	)
	for name, c := range map[string]struct{ text, code string }{
		"lines":            {strings.Repeat("# x\n", n+1), text.CodeTooManyLines},
		"a line":           {packet + "   a = " + strings.Repeat("x", text.MaxLine) + "\n", text.CodeLineTooLong},
		"a long line":      {packet + strings.Repeat("   ", 1<<20) + "a = uint8" + strings.Repeat(" ", 1<<20), ""},
		"a line of marks":  {strings.Repeat("\ufeff", 1<<20) + group, ""},
		"mistakes":         {strings.Repeat("nonsense\n", n-1), text.CodeTooManyMistakes},
		"bad names":        {packet + numbered(n-6, "   a-% = uint8\n"), text.CodeTooManyMistakes},
		"comments":         {strings.Repeat("# x\n", n-6) + packet, ""},
		"indented ones":    {packet + strings.Repeat("  # x\n", n-6) + "   a = uint8\n", ""},
		"fields":           {packet + numbered(n-6, "   f% = uint8\n"), codeTooLarge},
		"same fields":      {packet + strings.Repeat("   f = uint8\n", n-6), text.CodeTooManyMistakes},
		"packets":          {group + numbered(n/3-1, "packet: p%\n   __group = g\n\n"), ""},
		"too many packets": {"group: g\n" + numbered(n/3-1, "packet: p%\n   __group = g\n\n"), text.CodeTooManyMistakes},
		"groups":           {numbered(n-1, "group: g%\n"), ""},
		"undefined groups": {numbered(n/4, "group: agroup%\n") + numbered(n/4, "packet: p%\n   __group = agruop%\n"), text.CodeTooManyMistakes},
		"unknown types":    {packet + numbered(n/2, "   f% = astruct%\n") + numbered(n/4, "struct: asturct%\n"), text.CodeTooManyMistakes},
		"doubling":         {numbered(40, "struct: s%\n   a = s^\n   b = s^\n") + "struct: s40\n   a = uint64\n" + packet + "   x = s0\n", codeTooLarge},
		"a chain":          {numbered(n/2-5, "struct: s%\n   a = s^\n") + fmt.Sprintf("struct: s%d\n", n/2-5) + packet + "   x = s0\n", codeTooLarge},
		"a circle":         {numbered(n/2-5, "struct: s%\n   a = s^\n") + fmt.Sprintf("struct: s%d\n   a = s0\n", n/2-5), codeTooLarge},
		"large structs":    {"struct: s\n" + numbered(15000, "   f% = uint8\n") + group + numbered(n/8, "packet: p%\n   __group = g\n   s = s\n"), codeTooLarge},
		"bytes":            {numbered(40, "struct: s%\n   a = s^ {256, 256}\n") + "struct: s40\n   a = uint64\n" + packet + "   x = s0\n", codeTooLarge},
		"values":           {"enum: e\n" + numbered(n/2, "   v% =\n") + "   __type = uint32\n" + packet + "   x = e\n", ""},
		"uses of values":   {"enum: e\n" + numbered(n/2, "   v% =\n") + "   __type = uint32\n" + packet + numbered(n/4, "   x% = e\n"), ""},
		"constants":        {"constants: c\n" + numbered(n-2, "   c% = c^ + 1\n"), text.CodeTooManyMistakes},
		"constants upward": {"constants: c\n   c0 = 1\n" + numbered(n-3, "   c^ = c% + 1\n"), ""},
		"a product":        {"constants: c\n   c0 = 2\n" + numbered(300, "   c^ = c% * c%\n"), text.CodeTooManyMistakes},
		"brackets":         {"constants: c\n   c = " + strings.Repeat("(", 4000) + "\n", codeBadConstant},
		"signs":            {"constants: c\n   c = " + strings.Repeat("-", 4000) + "1\n", codeBadConstant},
		"a sum":            {"constants: c\n   c = 1" + strings.Repeat("+1", 2000) + "\n", ""},
		"digits":           {"constants: c\n   c = " + strings.Repeat("9", 4000) + "\n", codeBadConstant},
		"unresolved":       {packet + numbered(10000, "   f% = uint8 [0, C%]\n"), text.CodeTooManyMistakes},
	} {
		t.Run(name, func(t *testing.T) {
			f := source.New("game.def", c.text)
			_, diags := Parse([]*source.File{f}, schema.Options{})
			out, _ := Format(f)
			ParseConstants(f)
			found := c.code == "" && !diags.HasErrors() || slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == c.code })
			if !found || len(diags) > 2*(maxMistakes+1) {
				t.Errorf("%d diagnostics, %q among them: %v\n%.1000s", len(diags), c.code, found, diags.Render())
			}
			if c.code == text.CodeTooManyLines && out != c.text {
				t.Error("a file that exceeds the limit of lines was formatted")
			}
		})
	}
}
