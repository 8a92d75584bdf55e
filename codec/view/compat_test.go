package view_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/view"
)

func TestCompat(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"uint32 a\nuint16 b\n", "uint32 x # renamed\nuint16 b\n", "same"},
		{"uint32 a\n", "uint32 a\nuint16 b\n", "extended at b"},
		{"string name\nuint32 a\n", "string name\nuint32 a\nuint32 b\n", "extended at b"}, // the name moves, and its offset says where
		{"string name\n", "string name\nstring title\n", "extended at title"},
		{"uint32 a\nuint16 b\n", "uint32 a\nuint16 n\nuint16 b\n", "broken at b"},
		{"uint32 a\nuint16 b\n", "uint32 a\n", "broken at b"},
		{"uint32 a\nuint16 b\n", "float a\nuint16 b\n", "broken at a"},
		{"uint16 a\nuint16 b\n", "uint16 b\nuint16 a\n", "broken at b"},
		{"array list\n- uint16 a\n", "array list\n- uint16 a\n- uint16 b\n", "extended at list[].b"},
		{"array list\n- uint16 a\n", "array list\n- uint32 a\n", "broken at list[].a"},
		{"string name\nuint32 a\n", "string name\nstring title\nuint32 a\n", "broken at a"},
	} {
		x := view.ComparePrograms(programOf(t, c.before), programOf(t, c.after))
		kind, where := x.Compat()
		got := string(kind)
		if where != nil {
			part := where.New
			if part == nil {
				part = where.Old
			}
			got += " at " + part.Path
		}
		if got != c.want {
			t.Errorf("%q to %q: %s, want %s", c.before, c.after, got, c.want)
		}
	}
}

// What is the same has the same layout, and the reverse, unless two fields exchange their lines. Every definition extends its beginnings.
func TestCompatProperty(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	types := []string{"uint32", "uint16", "byte", "float", "int64", "string"}
	lines := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("%s f%d\n", types[random.IntN(len(types))], i))
		}
		return out
	}
	for range 400 {
		all := lines(1 + random.IntN(6))
		before := programOf(t, strings.Join(all, ""))
		other := append([]string{}, all...)
		change := random.IntN(4)
		switch change {
		case 0:
			i := random.IntN(len(other))
			other[i] = fmt.Sprintf("%s f%d\n", types[random.IntN(len(types))], i)
		case 1:
			i, j := random.IntN(len(other)), random.IntN(len(other))
			other[i], other[j] = other[j], other[i]
		case 2:
			i := random.IntN(len(other))
			other[i] = strings.Replace(other[i], " f", " renamed", 1)
		case 3:
			if !strings.Contains(strings.Join(all, ""), "string") { // pointers come first, so that a string moves what follows
				other = append(other, "uint32 last\n")
			}
		}
		after := programOf(t, strings.Join(other, ""))
		x := view.ComparePrograms(before, after)
		kind, _ := x.Compat()
		same := codec.SameLayout(before, after)
		if same && kind == view.CompatBroken && change != 1 || !same && kind == view.CompatSame && change != 1 || len(other) > len(all) && kind != view.CompatExtended {
			t.Fatalf("%q to %q: %s, and the same layout is %t", all, other, kind, same)
		}
	}
}
