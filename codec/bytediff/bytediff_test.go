package bytediff_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wirebench/codec/bytediff"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"abc", "abc", "equal abc abc"},
		{"", "abc", "inserted | abc"},
		{"abc", "", "removed abc |"},
		{"abcdef", "abXdef", "equal ab ab, changed c X, equal def def"},
		{"abcdef", "abcXdef", "equal abc abc, inserted | X, equal def def"},
		{"abcdef", "abdef", "equal ab ab, removed c |, equal def def"},
		{"abcdefgh", "bcdefghi", "removed a |, equal bcdefgh bcdefgh, inserted | i"},
		{"a1b2c3", "aXbYcZ", "equal a a, changed 1 X, equal b b, changed 2 Y, equal c c, changed 3 Z"},
		{"abc", "xyz", "changed abc xyz"},
		{"headABCtail", "headXtail", "equal head head, changed ABC X, equal tail tail"},
	} {
		var got []string
		for _, r := range bytediff.Of([]byte(c.a), []byte(c.b)) {
			side := func(s string) string {
				if s == "" {
					return "|"
				}
				return s
			}
			got = append(got, fmt.Sprintf("%v %s %s", r.Kind, side(c.a[r.A:r.A+r.ASize]), side(c.b[r.B:r.B+r.BSize])))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q %q: %s\nwant %s", c.a, c.b, strings.Join(got, ", "), c.want)
		}
	}
}

// checkRuns checks that the runs cover both strings and are correct. It returns the number of changed bytes.
func checkRuns(t interface{ Fatalf(string, ...any) }, a, b []byte) (edits int) {
	x, y := 0, 0
	before := bytediff.RunKind(99)
	for _, r := range bytediff.Of(a, b) {
		if r.A != x || r.B != y || r.Kind == before || before != bytediff.Equal && before != 99 && r.Kind != bytediff.Equal {
			t.Fatalf("%+v after %v at %d and %d", r, before, x, y)
		}
		before = r.Kind
		ok := false
		switch r.Kind {
		case bytediff.Equal:
			ok = r.ASize == r.BSize && r.ASize > 0 && bytes.Equal(a[x:x+r.ASize], b[y:y+r.BSize])
		case bytediff.Changed:
			ok = r.ASize > 0 && r.BSize > 0
		case bytediff.Inserted:
			ok = r.ASize == 0 && r.BSize > 0
		case bytediff.Removed:
			ok = r.ASize > 0 && r.BSize == 0
		}
		if !ok {
			t.Fatalf("%+v of %x and %x", r, a, b)
		}
		x, y = x+r.ASize, y+r.BSize
		if r.Kind != bytediff.Equal {
			edits += r.ASize + r.BSize
		}
	}
	if x != len(a) || y != len(b) {
		t.Fatalf("%d of %d and %d of %d bytes", x, len(a), y, len(b))
	}
	return edits
}

// longest returns the length of the longest common subsequence.
func longest(a, b []byte) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

func TestIsShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfN(rapid.ByteRange('a', 'd'), 0, 40)
		a, b := few.Draw(t, "a"), few.Draw(t, "b")
		edits, least := checkRuns(t, a, b), len(a)+len(b)-2*longest(a, b)
		if len(a) != len(b) && edits != least {
			t.Fatalf("%d bytes of %s and %s, %d would do", edits, a, b, least)
		}
		if len(a) == len(b) { // by offset if that changes no more bytes: each counts for both sides
			changed := 0
			for i := range a {
				if a[i] != b[i] {
					changed++
				}
			}
			if want := min(2*changed, least); least < changed && edits != want || least >= changed && edits != 2*changed {
				t.Fatalf("%d bytes of %s and %s, changed %d, least %d", edits, a, b, changed, least)
			}
		}
	})
}

func TestIsBounded(t *testing.T) {
	big := func(seed byte, n int) []byte {
		b := make([]byte, n)
		x := uint32(seed) + 1
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
		return b
	}
	a, b := big(1, 1<<20), big(2, 1<<20+7)
	checkRuns(t, a, b)
	runs := bytediff.Of(a, b)
	if !runs[len(runs)/2].Unresolved {
		t.Errorf("%d runs", len(runs))
	}
	if runs := bytediff.Of(a, big(3, 1<<20)); len(runs) > 1<<17 {
		t.Errorf("%d runs", len(runs))
	}
	checkRuns(t, a, big(3, 1<<20))
	a = a[:1<<14]
	moved := append(bytes.Clone(a[100:]), a[:100]...)
	if got := checkRuns(t, a, moved); got > 200 {
		t.Errorf("%d bytes of what was moved by 100", got)
	}
}

func FuzzOf(f *testing.F) {
	f.Add([]byte("abcdef"), []byte("abXdef"))
	f.Add([]byte("abcdefgh"), []byte("bcdefghi"))
	f.Fuzz(func(t *testing.T, a, b []byte) { checkRuns(t, a, b) })
}
