package view

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"wirebench/server/workspace"
)

// snapshotOf compiles a library.
func snapshotOf(t testing.TB, id, dialect string, files map[string]string) *workspace.Snapshot {
	t.Helper()
	all := fstest.MapFS{}
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	lib, err := workspace.ReadFS(all)
	if err != nil {
		t.Fatal(err)
	}
	s, err := workspace.Build(lib, workspace.Settings{Dialect: dialect})
	if err != nil {
		t.Fatal(err)
	}
	s.ID = id
	return s
}

// written is a list as lines: of sections, and of rows as JSON.
func written(t testing.TB, l *List) string {
	t.Helper()
	var b strings.Builder
	for _, s := range l.held() {
		fmt.Fprintf(&b, "%s = %s\n", s.ID, s.Title)
		for _, r := range s.Rows {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %s\n", text)
		}
	}
	return b.String()
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name, dialect string
		files         map[string]string
		want          string
	}{
		{"versions, and names of the code map", "tera", map[string]string{
			"C_JOIN.1.def": "byte a\n", "C_JOIN.10.def": "byte a\n", "C_JOIN.2.def": "in32 a\n", "S_LEFT.1.def": "byte a\n", "S_LEFT.0.def": "byte a\n", "C_AWAY.3.def": "byte a\n",
			"protocol.1.map": "C_JOIN 7\nS_LEFT 300\nS_TODO 4660\n",
		}, `/c2s = Client → server
  {"name":"C_AWAY","number":3,"unmapped":true}
  {"name":"C_JOIN","number":10,"code":"0x0007","state":"error","older":[{"number":2},{"number":1}]}
/s2c = Server → client
  {"name":"S_LEFT","number":1,"code":"0x012C","older":[{}]}
undefined = No definition
  {"name":"S_TODO","number":1,"code":"0x1234"}
`},
		{"groups, and several messages in a file", "protodef", map[string]string{
			"protocol.json": `{"types": {}, "play": {"toServer": {"types": {"packet_say": ["container", [{"name": "text", "type": "u8"}]], "packet_bad": ["container", [{"name": "text", "type": "nothing"}]], "packet": ["container", [{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0x01": "say", "0x02": "bad"}}]}, {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"say": "packet_say", "bad": "packet_bad"}}]}]]}}, "toClient": {"types": {"packet_say": ["container", [{"name": "text", "type": "u8"}]], "packet": ["container", [{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0x01": "say"}}]}, {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"say": "packet_say"}}]}]]}}}}`,
		}, `envelope = Envelope
  {"name":"protocol.envelope","new":true}
play/c2s = play · Client → server
  {"name":"bad","code":"0x02","state":"error","file":"protocol.json"}
  {"name":"say","id":"c2s/say","code":"0x01","file":"protocol.json"}
play/s2c = play · Server → client
  {"name":"say","id":"s2c/say","code":"0x01","file":"protocol.json"}
`},
		{"samples, and an envelope", "tera", map[string]string{
			"C_A.1.def": "byte a\n", "C_A.1.samples.jsonl": `{"message":"C_A.1","hex":"0500010007"}` + "\n", "own.envelope": "frame length u16 be\ncode u8\n", "second.envelope": "nonsense\n",
		}, `envelope = Envelope
  {"name":"own.envelope","id":"own.envelope"}
  {"name":"second.envelope","id":"second.envelope","state":"error","unused":true}
/c2s = Client → server
  {"name":"C_A","number":1,"sampled":true}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(written(t, newList(snapshotOf(t, "x", c.dialect, c.files))), "\n")); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// randomList returns sections with some of few names, so that lists have rows in common.
func randomList(r *rand.Rand, state int) *List {
	l := &List{State: fmt.Sprint(state), Versions: r.IntN(8) > 0}
	for _, id := range r.Perm(4)[:r.IntN(5)] {
		s := ListSection{ID: fmt.Sprint("section ", id), Title: fmt.Sprint("title ", r.IntN(2))}
		for n := range 12 {
			if r.IntN(3) == 0 {
				continue
			}
			row := ListRow{ListName: ListName{Name: fmt.Sprintf("%c", 'a'+n)}}
			if r.IntN(4) == 0 {
				row.State = "error"
			}
			if r.IntN(4) == 0 {
				row.Older = []ListVersion{{Number: r.IntN(3)}}
			}
			s.Rows = append(s.Rows, row)
		}
		l.Sections = append(l.Sections, s)
	}
	return l
}

// applied makes a change, as web/src/library/list.ts does.
func applied(t *testing.T, old *List, change *ListChange) *List {
	t.Helper()
	text, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	var c ListChange
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	had := map[string]ListSection{}
	order := c.Order
	if old != nil && !c.Whole {
		for _, s := range old.Sections {
			if had[s.ID] = s; c.Order == nil {
				order = append(order, s.ID)
			}
		}
	}
	for _, x := range c.Sections {
		had[x.ID] = appliedSection(had[x.ID], x)
	}
	now := &List{State: c.State, Versions: c.Versions, More: c.More}
	for _, id := range order {
		now.Sections = append(now.Sections, had[id])
	}
	return now
}

func appliedSection(old ListSection, x ListSectionChange) ListSection {
	s := ListSection{ID: x.ID, Title: old.Title}
	if x.Title != "" {
		s.Title = x.Title
	}
	for _, row := range old.Rows {
		if !slices.Contains(x.Gone, row.Name) {
			s.Rows = append(s.Rows, row)
		}
	}
	for _, put := range x.Rows {
		i := slices.IndexFunc(s.Rows, func(r ListRow) bool { return r.Name == put.Name })
		switch {
		case i >= 0:
			s.Rows[i] = put.ListRow
		case put.At == 0:
			s.Rows = append(s.Rows, put.ListRow)
		default:
			s.Rows = slices.Insert(s.Rows, put.At-1, put.ListRow)
		}
	}
	return s
}

// A change makes the new list of any earlier one.
func TestListChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	old := randomList(r, 0)
	for i := range 5000 {
		now := randomList(r, i+1)
		from := old
		if i%10 == 0 {
			from = nil
		}
		change := now.Since(from)
		got := applied(t, from, change)
		if want := written(t, now); written(t, got) != want || got.State != now.State || got.Versions != now.Versions {
			text, _ := json.Marshal(change)
			t.Fatalf("%d. got\n%swant\n%safter\n%s", i, written(t, got), want, text)
		}
		old = now
	}
}

// A change has only what differs.
func TestListChangeIsSmall(t *testing.T) {
	files := map[string]string{"protocol.1.map": "C_B 7\nC_C 8\n", "C_A.1.def": "byte a\n", "C_B.1.def": "byte a\n", "S_C.1.def": "byte a\n"}
	first := newList(snapshotOf(t, "1", "tera", files))
	for _, c := range []struct{ name, text, want string }{
		{"C_B.1.def", "byte b\n", `{"state":"2","versions":true}`},
		{"C_B.1.def", "in32 b\n", `{"state":"2","versions":true,"sections":[{"id":"/c2s","rows":[{"name":"C_B","number":1,"code":"0x0007","state":"error"}]}]}`},
		{"C_AB.1.def", "byte b\n", `{"state":"2","versions":true,"sections":[{"id":"/c2s","rows":[{"name":"C_AB","number":1,"unmapped":true,"at":2}]}]}`},
		{"C_C.1.def", "byte b\n", `{"state":"2","versions":true,"order":["/c2s","/s2c"],"sections":[{"id":"/c2s","rows":[{"name":"C_C","number":1,"code":"0x0008"}]}]}`},
		{"C_A.1.def", "", `{"state":"2","versions":true,"sections":[{"id":"/c2s","gone":["C_A"]}]}`},
	} {
		now := map[string]string{}
		for name, text := range files {
			now[name] = text
		}
		if now[c.name] = c.text; c.text == "" {
			delete(now, c.name)
		}
		text, err := json.Marshal(newList(snapshotOf(t, "2", "tera", now)).Since(first))
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != c.want {
			t.Errorf("%s is %q:\n%s\nwant\n%s", c.name, c.text, text, c.want)
		}
	}
}

// Open pages hold a bounded number of rows, and say how many there are beyond.
func TestListIsBounded(t *testing.T) {
	l := &List{Sections: []ListSection{{ID: "a", Rows: make([]ListRow, maxListRows-1)}, {ID: "b", Rows: make([]ListRow, 5)}, {ID: "c", Rows: make([]ListRow, 5)}}, More: 9}
	held := l.held()
	if len(held) != 2 || len(held[1].Rows) != 1 {
		t.Errorf("%d sections", len(held))
	}
}

// Pages that are open at the same time share a list, and a bounded number of lists is kept.
func TestLists(t *testing.T) {
	var all Lists
	snap := func(id int) *workspace.Snapshot {
		return snapshotOf(t, fmt.Sprint(id), "tera", map[string]string{"C_A.1.def": "byte a\n"})
	}
	one := snap(1)
	got := make([]*List, 8)
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() { got[i] = all.Of(one) })
	}
	wait.Wait()
	for _, l := range got {
		if l != got[0] || l != all.Known("1") || l.State != "1" {
			t.Fatalf("%p and %p", l, got[0])
		}
	}
	if all.Known("2") != nil {
		t.Error("a list of an unknown snapshot")
	}
	for id := 2; id <= maxKeptLists+1; id++ {
		all.Of(snap(id))
		all.Known("1")
	}
	if len(all.kept) != maxKeptLists || all.Known("1") != got[0] || all.Known("2") != nil {
		t.Errorf("%d lists are kept", len(all.kept))
	}
	all.kept[0].rows = maxKeptRows // one large list forces out all others
	all.Of(snap(1000))
	if len(all.kept) > 2 {
		t.Errorf("%d lists are kept beside a large one", len(all.kept))
	}
}
