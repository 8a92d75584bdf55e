package muta

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestLanguage checks that every word has a description, and that the sizes are those of the types.
func TestLanguage(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range Language().Words {
		if seen[w.Name] || len(w.Doc) < 10 || !strings.HasSuffix(w.Doc, ".") {
			t.Errorf("%q is there twice, or has no sentence: %q", w.Name, w.Doc)
		}
		seen[w.Name] = true
		if p := findPrimitive(w.Name); (p != nil) != (w.Kind == schema.TypeWord) {
			t.Errorf("%q is of kind %q", w.Name, w.Kind)
		} else if p != nil {
			want := fmt.Sprintf("%d bytes", p.bits/8)
			if p.bits == 8 {
				want = "1 byte"
			}
			if w.Size != want {
				t.Errorf("%q has %q, want %q", w.Name, w.Size, want)
			}
		}
	}
	if len(seen) != len(recordKinds)+len(directives)+len(primitives) || Language().Comment != "#" {
		t.Errorf("%d words, comments start with %q", len(seen), Language().Comment)
	}
}

// TestLanguageWordsAreRead parses a definition with each word, as inserted by an editor.
func TestLanguageWordsAreRead(t *testing.T) {
	const head = "group: g\n\npacket: p\n   __group = g\n"
	for _, w := range Language().Words {
		var text string
		switch d := findDirective(w.Name); {
		case w.Kind == schema.TypeWord:
			text = head + "   a = " + w.Name + "\n   b = " + w.Name + " {3}\n"
		case w.Name == groupDirective:
			text = head
		case w.Name == firstDirective:
			text = "group: g\n   " + w.Insert + "0\n"
		case d != nil:
			for _, kind := range d.on {
				for _, value := range d.values {
					text += fmt.Sprintf("%s: %s_%s\n   %s%s\n", kind, kind, value, w.Insert, value)
					switch kind {
					case packetRecord:
						text += "   __group = g\n"
					case enumRecord:
						text += "   A =\n"
					}
				}
			}
			text += "group: g\n"
		case w.Name == "packet":
			text = head
		case w.Name == "enum":
			text = w.Insert + "e\n   A =\n"
		default:
			text = w.Insert + "x\n"
		}
		if _, diags := Parse([]*source.File{source.New("a.def", text)}, schema.Options{}); len(diags) > 0 {
			t.Errorf("%s:\n%s", w.Name, diags.Render())
		}
	}
}
