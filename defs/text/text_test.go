package text

import (
	"strings"
	"testing"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

func TestSpace(t *testing.T) {
	ascii, wide := Space(nil), Space(func(r rune) bool { return r == '\u00a0' })
	for _, c := range []struct {
		is          Space
		s, trimmed  string
		skip, words int
	}{
		{ascii, " \t\v\f\ra b\r", "a b", 5, 0},
		{ascii, "\u00a0a", "\u00a0a", 0, 3},
		{wide, "\u00a0 a\u00a0", "a", 3, 0},
		{wide, "ab\u00a0c", "ab\u00a0c", 0, 2},
		{wide, "\xc2", "\xc2", 0, 1},
		{ascii, "", "", 0, 0},
		{ascii, " \n", "", 2, 0},
	} {
		start, end := c.is.Trim(c.s)
		if c.s[start:end] != c.trimmed || c.is.Skip(c.s) != c.skip || c.is.Word(c.s) != c.words {
			t.Errorf("%q: %q, skip %d, word %d", c.s, c.s[start:end], c.is.Skip(c.s), c.is.Word(c.s))
		}
	}
	line := source.New("f", " one  two three").Line(1)
	word, rest := ascii.CutWord(ascii.Trimmed(line))
	if word.Text() != "one" || rest.Text() != "two three" || rest.Start != 6 {
		t.Errorf("%q, %q", word.Text(), rest.Text())
	}
}

func TestNames(t *testing.T) {
	for s, want := range map[string]string{"a_1": "a_1", "1a": "_1a", "": "_", "a-b c": "a_b_c", "@[`{": "____", "Zz": "Zz"} {
		if got := CleanName(s); got != want || !IsName(got) || IsName(s) != (s == want) {
			t.Errorf("%q: %q", s, got)
		}
	}
	if !IsWord("1a") || IsWord("") || IsWord("a.b") {
		t.Error("IsWord is wrong")
	}
}

func TestDiagnostics(t *testing.T) {
	f := source.New("f", strings.Repeat("x", MaxLine+5))
	if d := LineTooLong(f.Line(1)); d.Message != "the line has 4101 bytes" || d.Span.Text() != "xxxxx" {
		t.Errorf("%s at %q", d, d.Span.Text())
	}
	d := Fixed(Doubt("code", f.Line(1), "message", "help"), f.Line(1).Sub(0, 1), "y")
	if d = Near(d, source.Span{}, "nowhere"); d.Severity != diag.Warning || d.Fix.Text != "y" || len(d.Related) != 0 {
		t.Errorf("%+v", d)
	}
	var list diag.List
	for range 5 {
		Add(&list, d, 3)
	}
	if len(list) != 4 || list[3].Code != CodeTooManyMistakes {
		t.Error(list.Render())
	}
	if got := Quote("a\tb\x00" + strings.Repeat("c", 80)); got != `"a b`+"\ufffd"+strings.Repeat("c", 56)+`..."` {
		t.Error(got)
	}
}
