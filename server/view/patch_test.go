package view

import (
	"hash/maphash"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// apply is what web/src/message/patch.ts does.
func apply[T any](list []T, patches []ListPatch[T]) []T {
	var out []T
	at := 0
	for _, p := range patches {
		if p.Remove < 0 {
			return p.New
		}
		out = append(append(out, list[at:p.At]...), p.New...)
		at = p.At + p.Remove
	}
	return append(out, list[at:]...)
}

// For any sequence of lists the page has the list after each change, and nothing is sent without a change.
func TestListPatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := maphash.MakeSeed()
		var page []string
		var sums []uint32 // of what the page has
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching("[abc]"), 0, 12), 1, 6).Draw(t, "lists")
		for i, list := range lists {
			now := Sums(seed, list)
			patches := ListPatches(sums, now, list)
			sums = now
			if page = apply(page, patches); !slices.Equal(page, list) {
				t.Fatalf("the page has %q, not %q, after %+v", page, list, patches)
			}
			if i > 0 && slices.Equal(lists[i-1], list) && patches != nil {
				t.Fatalf("sent without a change: %+v", patches)
			}
		}
	})
}

// Changes at distant places are sent alone, and lists that differ everywhere are compared in bounded time.
func TestListPatchesAreSmall(t *testing.T) {
	seed := maphash.MakeSeed()
	list := make([]int, 5000)
	for i := range list {
		list[i] = i
	}
	now := slices.Insert(slices.Clone(list), 100, -1)
	now = slices.Delete(now, 4000, 4001)
	now[2000] = -2
	sent := 0
	patches := ListPatches(Sums(seed, list), Sums(seed, now), now)
	for _, p := range patches {
		sent += len(p.New)
	}
	if len(patches) != 3 || sent != 2 || !slices.Equal(apply(list, patches), now) {
		t.Errorf("%+v", patches)
	}
	for i := range now {
		now[i] += 10_000
	}
	if patches := ListPatches(Sums(seed, list), Sums(seed, now), now); len(patches) != 1 || len(patches[0].New) != len(now) {
		t.Errorf("%d patches of lists that have nothing in common", len(patches))
	}
}

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		was, is string
		want    [][2]int
	}{
		{"abcdef", "abcdef", nil},
		{"abcdef", "aXcdYZ", [][2]int{{1, 2}, {4, 6}}},
		{"abcdef", "abXXcdef", [][2]int{{2, 4}}},
		{"abcdefghij", "aXcdefghYYij", [][2]int{{1, 2}, {8, 10}}},
		{"abcdef", "abef", [][2]int{{2, 2}}},
		{"aaa", "aaaa", [][2]int{{3, 4}}},
		{"", "ab", [][2]int{{0, 2}}},
	} {
		if got := Changes([]byte(test.was), []byte(test.is)); !cmp.Equal(got, test.want) {
			t.Errorf("%q to %q: %v, want %v", test.was, test.is, got, test.want)
		}
	}
}
