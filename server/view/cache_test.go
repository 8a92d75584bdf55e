package view

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// snapshot returns the meaning of some files.
func snapshot(t testing.TB, dialect string, files map[string]string) *workspace.Snapshot {
	t.Helper()
	dir, _ := workspacetest.Dir(t, files)
	return workspacetest.Open(t, workspace.Config{Dialect: dialect, Files: dir}).Now()
}

// versions returns a text as it is typed: some versions have mistakes, and are shown without them or as an earlier version.
func versions(n int) []string {
	var out []string
	for i := range n {
		text := fmt.Sprintf("byte x%d\nstring name\n", i)
		switch i % 4 {
		case 1:
			text += "unheard of\n"
		case 3:
			text += strings.Repeat("unheard of\n", 20+i) // too many
		}
		out = append(out, text)
	}
	return out
}

// Those that ask for the same versions of a text, all at once or some later, get the same analyses.
func TestCacheAnalyzesOnce(t *testing.T) {
	snap := snapshot(t, "", map[string]string{"C_A.1.def": "byte x\n"})
	var c Cache
	texts := versions(12)
	const askers = 5
	got := make([][]*Text, askers)
	ask := func(who int) {
		var good *workspace.Definition
		for _, text := range texts {
			a, err := c.Of(Asked{Snap: snap, Name: "C_A.1", Text: text, Good: good})
			if err != nil {
				t.Error(err)
				return
			}
			if got[who] = append(got[who], a); !a.Def.Broken() {
				good = a.Def
			}
		}
	}
	var all sync.WaitGroup
	for i := range askers - 1 {
		all.Go(func() { ask(i) })
	}
	all.Wait()
	ask(askers - 1)
	different := map[*Text]bool{}
	for who := range got {
		for _, a := range got[who] {
			different[a] = true
		}
	}
	if len(different) != len(texts) {
		t.Errorf("%d analyses of %d texts", len(different), len(texts))
	}
	for i, a := range got[0] {
		if stale, held := i%4 == 3, i%4 == 1; a.Stale != stale || (len(a.Holes) > 0) != held || len(a.Rows) == 0 || len(a.Cells) == 0 {
			t.Errorf("version %d: stale %v, holes %v, %d rows, %d cells", i, a.Stale, a.Holes, len(a.Rows), len(a.Cells))
		}
	}
}

// A cache stays within its bounds, and the bytes that it counts are at least those in memory.
func TestCacheIsBounded(t *testing.T) {
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const slack = 4 << 20 // drafts of the snapshot that are not in the cache
	for _, line := range []string{"int32 field_%d # a comment\n", "string s%d\n", "array a%d\n- string b\n", "byte f%d\n", "unheard_of f%d\n"} {
		for _, lines := range []int{10, 300} {
			var c Cache
			snap := snapshot(t, "", map[string]string{"C_A.1.def": "byte x\n"})
			before := heap()
			for i := range 70 {
				text := fmt.Sprintf("byte x%d\n", i)
				for k := range lines {
					text += fmt.Sprintf(line, k)
				}
				if _, err := c.Of(Asked{Snap: snap, Name: "C_A.1", Text: text}); err != nil {
					t.Fatal(err)
				}
			}
			kept := heap() - before
			t.Logf("%d times %q: %d texts keep %d bytes, %d are counted", lines, line, len(c.texts), kept, c.bytes)
			if len(c.texts) == 0 || len(c.texts) > maxTexts || c.bytes > maxBytes || kept > c.bytes+slack {
				t.Errorf("%d times %q: %d texts keep %d bytes, %d are counted", lines, line, len(c.texts), kept, c.bytes)
			}
			if c.Forget(snap); len(c.texts) != 0 || c.bytes != 0 {
				t.Errorf("%d texts of a forgotten snapshot are left, with %d bytes", len(c.texts), c.bytes)
			}
		}
	}
}

// A text that is too long for the cache is analyzed and not kept, the texts used last stay, and those of other snapshots are not forgotten.
func TestCacheKeepsTheLastUsed(t *testing.T) {
	var c Cache
	one, two := new(workspace.Snapshot), new(workspace.Snapshot)
	ask := func(snap *workspace.Snapshot, text string, cells int) (asked bool) {
		if _, err := c.once(key{Asked{Snap: snap, Text: text}, false}, func() (*Text, error) {
			asked = true
			return &Text{Cells: make([]Cell, cells)}, nil
		}); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	ask(two, "other", 1)
	for i := range 2 * maxTexts {
		ask(one, fmt.Sprint(i), 1)
		if ask(two, "other", 1) {
			t.Fatal("a text in use is analyzed again")
		}
	}
	if !ask(one, "0", 1) || ask(one, fmt.Sprint(2*maxTexts-1), 1) {
		t.Error("it is not the last used that stay")
	}
	for range 2 {
		if !ask(one, "long", maxBytes/perCell+1) || c.bytes > maxBytes {
			t.Errorf("a long text is kept: %d bytes", c.bytes)
		}
	}
	ask(two, "other", 1)
	if c.Forget(one); len(c.texts) != 1 || ask(two, "other", 1) {
		t.Errorf("%d texts are left", len(c.texts))
	}
}

// An analysis that fails is not kept.
func TestCacheKeepsNoFailure(t *testing.T) {
	var c Cache
	snap := snapshot(t, "", nil)
	if _, err := c.Of(Asked{Snap: snap, Name: "C_A.1"}); err == nil || len(c.texts) != 0 {
		t.Errorf("%v, %d are kept", err, len(c.texts))
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = c.once(key{}, func() (*Text, error) { panic("a bug") })
	}()
	if len(c.texts) != 0 {
		t.Error("a panic is kept")
	}
}
