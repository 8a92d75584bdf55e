package page

import (
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func TestOwnLines(t *testing.T) {
	for text, want := range map[string][2]int{
		"a\n  b[x\n y]\n":                     {2, 3},
		"a\n\n  // about b\n  // more\n  b[]": {3, 5},
		"/* about\n * b\n */\nb[]":            {1, 4},
		"a\n// of a\n\nb[]":                   {4, 4},
		"b[\n]\n":                             {1, 2},
		"<!-- about\n-->\n<!-- b -->\nb[\n]":  {3, 5},
	} {
		f := source.New("x", text)
		at := 0
		for text[at] != 'b' || text[at+1] != '[' {
			at++
		}
		end := at
		for text[end] != ']' {
			end++
		}
		m := &schema.Message{Span: source.Span{File: f, Start: at, End: at + 1}, Text: source.Span{File: f, Start: at, End: end + 1}}
		if first, last := ownLines(m, "//"); first != want[0] || last != want[1] {
			t.Errorf("%q: %d to %d, want %v", text, first, last, want)
		}
		m.Text = source.Span{}
		if first, last := ownLines(m, "//"); first != 0 || last != 0 {
			t.Errorf("%q: %d to %d without a text of its own", text, first, last)
		}
	}
}
