package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"wirebench/server/access"
)

// liveHeap returns the number of bytes of live objects.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What the open pages of one person keep is at most what is charged to the person, whatever the texts are, even if all differ; more is refused with a reason,
// other persons are not, and closed pages give back all.
func TestPagesHoldABoundedShare(t *testing.T) {
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "int32 field_%d # a comment\n", i)
		}
		return b.String()
	}
	person := func(id string) *http.Request {
		return access.As(httptest.NewRequest("POST", "/p/one/definitions", nil), access.Principal{ID: id, Grants: access.Grants{access.Everywhere: access.Author}})
	}
	const most, slack, pages = 60 << 20, 2 << 20, 40
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for _, c := range []struct {
		name    string
		sets    []map[string]any
		refused bool
	}{
		{"small", []map[string]any{{"definition": "int32 x\n", "input": "00"}}, false},
		{"small definition", []map[string]any{{"definition": fields(1000), "input": "00"}}, false},
		{"large definition", []map[string]any{{"definition": fields(10000), "input": "00"}}, true},
		{"large message", []map[string]any{{"definition": "int32 x\n", "input": zeros(1 << 19)}}, true},
		{"large value", []map[string]any{{"definition": "int32 x\n", "value": `{"x":"` + zeros(1<<19) + `"}`}}, true},
		{"both", []map[string]any{{"definition": fields(10000), "input": "449c0100" + zeros(40000)}}, true},
		{"mistakes after a good one", []map[string]any{{"definition": fields(10000)}, {"definition": "unheard of\n" + fields(5000)}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _, _ := testWorkbench(t)
			b.held.most = most
			opened := 0
			open := func(r *http.Request) (l *livePage, err error) {
				l = b.newLivePage(b.Projects.First(), r)
				opened++
				for _, set := range c.sets {
					m := typing(t, set)
					*m.Set.Definition += fmt.Sprintf("# page %d\n", opened)
					if _, err = l.work(t.Context(), m); err != nil {
						return l, err
					}
				}
				return l, nil
			}
			before := liveHeap()
			var all []*livePage
			var refused error
			for len(all) < pages && refused == nil {
				var l *livePage
				l, refused = open(person("one"))
				all = append(all, l)
			}
			b.texts.Forget(b.Projects.First().Now()) // it has bounds of its own
			kept := liveHeap() - before
			t.Logf("%d pages keep %d bytes, %d are charged", len(all), kept, b.held.of["account one"])
			if kept > most+slack {
				t.Errorf("%d pages keep %d bytes, more than %d", len(all), kept, most)
			}
			if c.refused != (refused != nil) || refused != nil && !strings.Contains(refused.Error(), "more than 60 MB of the server's memory: close some pages first") {
				t.Errorf("page %d: %v", len(all), refused)
			}
			if other, err := open(person("two")); err != nil {
				t.Errorf("another person: %v", err)
			} else {
				other.leave()
			}
			runtime.KeepAlive(all)
			for _, l := range all {
				l.leave()
			}
			if len(b.held.of) != 0 {
				t.Errorf("closed pages keep %v", b.held.of)
			}
			if _, err := open(person("one")); err != nil {
				t.Errorf("after pages were closed: %v", err)
			}
		})
	}
}
