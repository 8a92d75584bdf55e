package tera

import (
	"strings"
	"testing"

	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// formatChecked formats a definition and checks the invariants: the meaning and the comments are preserved, and formatting is idempotent.
func formatChecked(t *testing.T, name, text string) string {
	t.Helper()
	f := source.New(name, text)
	once, _ := Format(f)
	again, _ := Format(source.New(name, once))
	if once != again {
		t.Fatalf("formatting twice changes %.2000q:\n%.2000q\nthen\n%.2000q", text, once, again)
	}
	before, _ := Parse([]*source.File{f}, schema.Options{})
	after, _ := Parse([]*source.File{source.New(name, once)}, schema.Options{})
	if before.String() != after.String() {
		t.Fatalf("formatting changes the meaning of %.2000q:\n%.2000s\nformatted %.2000q:\n%.2000s", text, before, once, after)
	}
	return once
}

func TestCorporaFormat(t *testing.T) {
	for _, c := range corpora.All(t) {
		for _, f := range corpus(t, c) {
			formatChecked(t, f.Name, f.Text)
		}
	}
}

// TestFormatKeepsLinesReadable checks lines that would exceed the limit if they were aligned.
func TestFormatKeepsLinesReadable(t *testing.T) {
	long := "int32 " + strings.Repeat("x", text.MaxLine-20)
	for _, words := range []string{
		long + "\n" + "array<array<array<int32>>> a\n",
		long + " # " + strings.Repeat("c", 8) + "\nint32 a # b\n",
		long + "\n" + "byte b" + strings.Repeat("y", text.MaxLine-40) + " # z\n" + "array<array<array<int32>>> a # c\n",
		strings.Repeat("-", maxDepth) + "int32 " + strings.Repeat("x", text.MaxLine-maxDepth-7) + "\n",
	} {
		_, before := parseOne(words)
		_, after := parseOne(formatChecked(t, "C_TEST.1.def", words))
		if len(before) != len(after) {
			t.Errorf("%.2000s\nthen\n%.2000s", before.Render(), after.Render())
		}
	}
	huge := strings.Repeat("\n", text.MaxLines+1)
	if words, diags := Format(source.New("C_TEST.1.def", huge)); words != huge || !diags.HasErrors() {
		t.Error("a file with too many lines is changed")
	}
}
