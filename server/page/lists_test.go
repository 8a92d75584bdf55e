package page

import (
	"hash/maphash"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// apply is what web/src/patch.ts does.
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
		l := &livePage{seed: maphash.MakeSeed(), lists: sentLists{}}
		page := []string{"came with the page"}
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching("[abc]"), 0, 12), 1, 6).Draw(t, "lists")
		for i, list := range lists {
			patches := patched(l, "x", list)
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
	l := &livePage{seed: maphash.MakeSeed(), lists: sentLists{}}
	list := make([]int, 5000)
	for i := range list {
		list[i] = i
	}
	patched(l, "x", list)
	now := slices.Insert(slices.Clone(list), 100, -1)
	now = slices.Delete(now, 4000, 4001)
	now[2000] = -2
	sent := 0
	patches := patched(l, "x", now)
	for _, p := range patches {
		sent += len(p.New)
	}
	if len(patches) != 3 || sent != 2 || !slices.Equal(apply(list, patches), now) {
		t.Errorf("%+v", patches)
	}
	for i := range now {
		now[i] += 10_000
	}
	if patches := patched(l, "x", now); len(patches) != 1 || len(patches[0].New) != len(now) {
		t.Errorf("%d patches of lists that have nothing in common", len(patches))
	}
}
