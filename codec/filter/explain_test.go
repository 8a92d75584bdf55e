package filter_test

import (
	"strings"
	"testing"

	"wirebench/codec/filter"
)

// TestExplain checks that filters with a surprising meaning are explained, and others are not.
func TestExplain(t *testing.T) {
	fighting := fight(t)
	const words = "text alone searches names and texts, ignoring case"
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"S_FIGHT", ""},
		{"len > 3 && dir != c2s", ""},
		{".damage == 5", ""},
		{"party", words},
		{"party lfg", words},
		{`"party" || "raid"`, words},
		{"0x26d2", "a number alone is the code of a message"},
		{"0a:1b:2c", "bytes alone search the complete message"},
		{"= 48211", "searches the bytes for the value in each encoding"},
		{".damage != 5", "“.damage != 5” matches frames that have “.damage” if no value of it is equal"},
		{".damage not in {1, 2}", "“.damage not in {1, 2}” matches frames that have “.damage” if no value of it is in the set"},
		{"!(.damage == 5)", "“!(.damage == 5)” also matches frames without “.damage”"},
		{"!(len == 5)", ""},
		{".damage", "“.damage” alone is true if the field is present or, for a boolean, true"},
		{".damage & 4", "“.damage & 4” alone is true if it is not 0"},
		{"len > 3 && (.damage != 5 && 9938)", "“.damage != 5” matches frames that have “.damage” if no value of it is equal; a number alone is the code of a message"},
		{`bytes contains "guild"`, "a text in bytes is UTF-8: “bytes contains utf16(\"guild\")” finds it as UTF-16"},
		{`frame contains "guild" && len > 3`, "a text in bytes is UTF-8: “bytes contains utf16(\"guild\")” finds it as UTF-16"},
		{`bytes contains utf16("guild")`, ""},
		{`.message contains "guild"`, ""},
		{"len >", ""},
	} {
		f, _ := filter.Compile(c.text, fighting.env)
		if got := f.Explain(); got != c.want {
			t.Errorf("%s: %q\nwant %q", c.text, got, c.want)
		}
	}
}

// Explanations are short for filters of any length.
func TestExplainIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		b.WriteString(".damage != " + strings.Repeat("1", 1+i%15) + " && ")
	}
	f, mistakes := filter.Compile(b.String()+"len > 3", fight(t).env)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	if got := f.Explain(); strings.Count(got, "; ") != 3 || len(got) > 1000 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
