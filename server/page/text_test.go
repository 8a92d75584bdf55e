package page

import (
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// A change made in the units of the browser gives the same text here; one of another text is refused.
func TestTextEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\n\tä€😀"))).Draw(t, "text")
		units := utf16.Encode([]rune(text))
		runes := []rune(text)
		from := rapid.IntRange(0, len(runes)).Draw(t, "from")
		to := rapid.IntRange(from, len(runes)).Draw(t, "to")
		insert := rapid.StringOf(rapid.SampledFrom([]rune("xy😀"))).Draw(t, "insert")
		want := string(runes[:from]) + insert + string(runes[to:])
		at := len(utf16.Encode(runes[:from]))
		e := TextEdit{At: at, Remove: len(utf16.Encode(runes[from:to])), Insert: insert, Sum: sum32(want)}
		if now, ok := e.apply(text); !ok || now != want {
			t.Fatalf("%q %v, want %q", now, ok, want)
		}
		if _, ok := e.apply(text + "!"); ok {
			t.Fatal("a change of another text is taken")
		}
		for _, e := range []TextEdit{{At: -1}, {Remove: -1}, {At: len(units) + 1}, {Remove: len(units) + 1}} {
			if _, ok := e.apply(text); ok {
				t.Fatalf("%+v is taken", e)
			}
		}
	})
}

// The browser computes the same; see web/src/message/texts.test.ts.
func TestSum32(t *testing.T) {
	if got := sum32("a€😀"); got != 3800997253 {
		t.Errorf("got %d", got)
	}
}

// A change of a text of the page, in the units of the browser, gives the new text.
func TestSplice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.StringOf(rapid.SampledFrom([]rune("ab<äëȫ€😀😁")))
		was, now := some.Draw(t, "was"), some.Draw(t, "now")
		x := spliceOf(was, now)
		units := utf16.Encode([]rune(was))
		got := string(utf16.Decode(units[:x.At])) + x.Insert + string(utf16.Decode(units[x.At+x.Remove:]))
		if got != now {
			t.Fatalf("%q to %q: %+v gives %q", was, now, x, got)
		}
	})
}
