package tera

import (
	"strconv"
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// TestLimits parses definitions that are designed to be expensive. Each must take only seconds even on a slow machine with the race
// detector; a quadratic step would take minutes.
func TestLimits(t *testing.T) {
	const n = text.MaxLines
	numbered := func(format string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "%", string(rune('a'+i%26))+strings.Repeat("x", i/26%7)+strconv.Itoa(i)))
		}
		return b.String()
	}
	for name, c := range map[string]struct{ text, code string }{
		"lines":          {strings.Repeat("# x\n", n+1), text.CodeTooManyLines},
		"mistakes":       {numbered("wrong %\n"), text.CodeTooManyMistakes},
		"bad names":      {strings.Repeat("byte a-b\n", n-1), text.CodeTooManyMistakes},
		"bad syntax":     {strings.Repeat("<\n", n-1), text.CodeTooManyMistakes},
		"fields":         {numbered("byte %\n"), codeTooLarge},
		"objects":        {numbered("object %\n"), text.CodeTooManyLines},
		"one object":     {strings.Repeat("object o\n- byte b\n", n/2-1), text.CodeTooManyMistakes},
		"refs":           {numbered("ref %\n"), text.CodeTooManyMistakes},
		"lost fields":    {"ref a\n" + strings.Repeat("ref bbbbbb\n", n/2) + numbered("string %\n")[:n*5], text.CodeTooManyMistakes},
		"weave":          {numbered("array[interleaved] %\n"), codeTooLarge},
		"continuations":  {"int32 a\n" + strings.Repeat(" # more\n", n), text.CodeTooManyLines},
		"includes":       {strings.Repeat("@include S_TEST.1.def\n", n-1), codeTooManyIncludes},
		"nested":         {strings.Repeat("array a\n"+nested()+"\n", n/40), codeDuplicateName},
		"dashes":         {strings.Repeat("-", text.MaxLine-20) + " byte a\n", codeTooDeep},
		"subtypes":       {strings.Repeat("array<", 600) + "byte" + strings.Repeat(">", 400) + " a\n", codeMalformedType},
		"sizes":          {"byte" + strings.Repeat("[1]", 1300) + " a\n", codeMalformedType},
		"flags":          {"array[" + strings.Repeat("x,", 1500) + "x] a\n", text.CodeTooManyMistakes},
		"long last line": {strings.Repeat("\u00a0", 1<<20) + "byte a" + strings.Repeat("\ufeff", 1<<20), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := source.New("S_TEST.1.def", c.text)
			_, diags := Parse([]*source.File{f}, schema.Options{})
			Format(f)
			found := c.code == "" && !diags.HasErrors()
			for _, d := range diags {
				found = found || d.Code == c.code
			}
			if !found || len(diags) > 2*(maxMistakes+1) {
				t.Errorf("%d diagnostics, %q among them: %v", len(diags), c.code, found)
			}
		})
	}
}

// nested returns arrays nested as deep as dashes allow.
func nested() string {
	var b strings.Builder
	for depth := 1; depth <= maxDepth; depth++ {
		b.WriteString(strings.Repeat("-", depth) + "array a\n")
	}
	return b.String()
}

// TestIncludedLinesAreBounded includes more lines than a definition may have.
func TestIncludedLinesAreBounded(t *testing.T) {
	part := source.New("part.def", strings.Repeat("object o\n", text.MaxLines/2))
	whole := source.New("S_TEST.1.def", strings.Repeat("@include part.def\n", 4))
	s, diags := Parse([]*source.File{part, whole}, schema.Options{})
	if len(diags) == 0 || diags[0].Code != text.CodeTooManyLines || !s.Messages[0].Broken {
		t.Error(diags.Render())
	}
}
