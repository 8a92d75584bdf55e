package paste

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"wirebench/codec/packettest"
	"wirebench/defs/corpora"
)

// FuzzRecognise checks for any text: no panic, bounded output, positions inside the text, and that RecogniseAs with the detected form reads
// the same bytes.
func FuzzRecognise(f *testing.F) {
	for _, b := range packettest.Samples()[15:30] {
		for _, spec := range dumpSpecs {
			f.Add(spec.render(b))
		}
		for _, render := range renderers {
			f.Add(render(b))
		}
	}
	for _, text := range []string{`{"data":[1,-2]}`, "a = ($5F, &H1F, -1)", "c2s;4142\ns2c;43", "I 10:00:00 0000 41", "{'a', 010}", `"""\x41"""`} {
		f.Add(text)
	}
	for _, name := range corpora.Own().Glob(f, "pasted/*/*.txt") {
		if text := corpora.Own().Text(f, name); len(text) < 4000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		p, err := Recognise(text)
		if err != nil {
			e := err.(*Error)
			if e.Line < 0 || e.Line > lines || (e.Line == 0) != (e.Column == 0) || e.Error() == "" || e.Column > utf8.RuneCountInString(text)+1 {
				t.Errorf("error %+v of %q", e, text)
			}
			return
		}
		total, last := 0, 1
		for _, m := range p.Messages {
			total += len(m.Bytes)
			if m.Line < last || m.Line > lines {
				t.Errorf("message at line %d after line %d", m.Line, last)
			}
			last = m.Line
		}
		if len(p.Messages) == 0 || p.Why == "" || p.Title == "" {
			t.Errorf("%+v", p)
		}
		if total > 64*len(text)+64 && !strings.Contains(text, "*") {
			t.Errorf("%d bytes of a text of %d", total, len(text))
		}
		for _, n := range p.Notes {
			if n.Line < 1 || n.Line > lines || n.Column < 1 {
				t.Errorf("note %+v", n)
			}
		}
		again, err := RecogniseAs(text, p.Form)
		if err != nil {
			t.Fatalf("%q as %s: %v", text, p.Form, err)
		}
		if len(again.Messages) != len(p.Messages) {
			t.Fatalf("%q as %s: %d messages, recognised %d", text, p.Form, len(again.Messages), len(p.Messages))
		}
		for i, m := range again.Messages {
			if !bytes.Equal(m.Bytes, p.Messages[i].Bytes) || m.Dir != p.Messages[i].Dir {
				t.Errorf("%q as %s, message %d: %x, recognised %x", text, p.Form, i, m.Bytes, p.Messages[i].Bytes)
			}
		}
	})
}

// FuzzRecogniseAs checks that no form panics on any text.
func FuzzRecogniseAs(f *testing.F) {
	for i, form := range forms {
		f.Add(i, "00000000: 4142  AB\n"+form.ID)
	}
	f.Fuzz(func(t *testing.T, i int, text string) {
		form := forms[uint(i)%uint(len(forms))].ID
		p, err := RecogniseAs(text, form)
		if err == nil && (p.Form != form || len(p.Messages) == 0) {
			t.Errorf("%q as %s: %+v", text, form, p)
		}
	})
}
