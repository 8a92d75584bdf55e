package collab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, x := range []struct{ base, mine, theirs, want string }{
		{"a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n", "a\nB\nC\n"},
		{"a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nx\nb\n"},                                    // the same
		{"a\nb\n", "a\nx\ny\nb\n", "a\nx\nz\nb\n", "a\nx\nz\ny\nb\n"},                        // partly the same
		{"uint32 id\n", "uint64 id\n", "uint32 identity\n", "uint64 identity\n"},             // parts of a line
		{"string name\n", "string names\n", "string names\n", "string names\n"},              // once
		{"x", "x\nmine", "x\ntheirs", "x\ntheirs\nmine"},                                     // without ends of lines
		{"x", "x\nmine", "x", "x\nmine"},                                                     //
		{"a\nb\nc\n", "a\nc\n", "a\nB\nc\n", "a\nB\nc\n"},                                    // what one has removed and the other changed stays
		{"a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"},                                 //
		{"a\nb\n", "a\nb\nmine\n", "A\nb\ntheirs\n", "A\nb\ntheirs\nmine\n"},                 //
		{"", "mine\n", "theirs\n", "theirs\nmine\n"},                                         //
		{"a\n", "", "a\nb\n", "b\n"},                                                         // all of it was removed
		{"x\n", "x\nA\nB\n", "X\nA\n", "X\nA\nB\n"},                                          // a part was saved elsewhere, beside another change
		{"id\nname\n", "id\nlevel\nname\n", "id\nname\nlevel\n", "id\nlevel\nname\nlevel\n"}, // at different places
		{"id\nname\n", "account\nname\n", "id\ntitle\nlevel\n", "account\ntitle\nlevel\n"},
		{"id\nname\n", "account\nname\n", "id\nlevel\nname\n", "account\nlevel\nname\n"},
		{"id\nname\n", "id\nlevel\nname\n", "id\ntitle\n", "id\nlevel\ntitle\n"},
	} {
		got, is := MergeClearly(NewText(x.base), NewText(x.mine), NewText(x.theirs))
		if got.String() != x.want {
			t.Errorf("%q, mine %q, theirs %q: %q, not %q", x.base, x.mine, x.theirs, got.String(), x.want)
		}
		if !is {
			t.Errorf("%q, mine %q, theirs %q: not clear", x.base, x.mine, x.theirs)
		}
	}
}

// Whatever two people do with a text, what either has typed is there once, also if both have it, and what neither has touched stays.
func TestMergeLosesNothing(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var base []string
		for i := range r.IntN(8) {
			base = append(base, fmt.Sprintf("base %d", i))
		}
		n := 0
		edit := func(lines []string, who string) []string {
			lines = slices.Clone(lines)
			for range r.IntN(4) {
				switch at := r.IntN(len(lines) + 1); r.IntN(3) {
				case 0, 1:
					n++
					lines = slices.Insert(lines, at, fmt.Sprintf("%s %d", who, n))
				default:
					if at < len(lines) {
						lines = slices.Delete(lines, at, at+1)
					}
				}
			}
			return lines
		}
		common := edit(base, "both") // what both have done
		mine, theirs := edit(common, "mine"), edit(common, "theirs")
		text := func(lines []string) Text { return NewText(strings.Join(lines, "\n")) }
		got := strings.Split(Merge(text(base), text(mine), text(theirs)).String(), "\n")
		for _, line := range slices.Concat(base, mine, theirs) {
			in := func(list []string) bool { return slices.Contains(list, line) }
			count := 0
			for _, l := range got {
				if l == line {
					count++
				}
			}
			want := 1
			if in(common) && (!in(mine) || !in(theirs)) || !in(common) && in(base) { // somebody has removed it
				want = 0
			}
			if count > 1 || count < want {
				t.Fatalf("seed %d: %q is there %d times\nbase %q\nmine %q\ntheirs %q\ngot %q", seed, line, count, base, mine, theirs, got)
			}
		}
		for _, same := range []struct{ base, mine, theirs, want []string }{{base, mine, base, mine}, {base, base, theirs, theirs}, {base, mine, mine, mine}} {
			if got := Merge(text(same.base), text(same.mine), text(same.theirs)); got.String() != text(same.want).String() {
				t.Fatalf("seed %d: %q, %q, %q: %q", seed, same.base, same.mine, same.theirs, got.String())
			}
		}
	}
}

// Where both have changed a line in ways that cannot be joined, both lines are there, which is told.
func TestMergeIsNotClear(t *testing.T) {
	for _, x := range []struct{ base, mine, theirs, want string }{
		{"uint32 id\n", "uint32 account\n", "uint32 identifier\n", "uint32 identifier\nuint32 account\n"},
		{"a\nuint32 id\n", "a\nuint32 account\nmine\n", "a\nuint16 other\n", "a\nuint16 other\nuint32 account\nmine\n"},
		{"a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\n", "a\ntheirs\nmine\n"},
	} {
		if got, is := MergeClearly(NewText(x.base), NewText(x.mine), NewText(x.theirs)); got.String() != x.want || is {
			t.Errorf("%q, mine %q, theirs %q: %q, clear %t", x.base, x.mine, x.theirs, got.String(), is)
		}
	}
}
