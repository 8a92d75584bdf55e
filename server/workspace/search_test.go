package workspace

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"wirebench/defs/benchtest"
)

func TestSearch(t *testing.T) {
	s := built(t, fstest.MapFS{
		"protocol.1.map":    {Data: []byte("C_CHAT 7\nS_CHAT 3000\nS_CHAT_LIST 9\nS_NOBODY 11\n")},
		"C_CHAT.1.def":      {Data: []byte("# a message to others\n\nuint32 channel # where it is said\nstring message\n")},
		"S_CHAT.1.def":      {Data: []byte("uint64 gameId\nstring name\nstring message\n")},
		"S_CHAT.2.def":      {Data: []byte("uint64 gameId\nstring message\n")},
		"S_CHAT_LIST.1.def": {Data: []byte("array members\n- uint32 playerId # of the member\n- vec3 pos\n")},
	})
	for _, c := range []struct{ query, want string }{
		{"S_CHAT", "message S_CHAT.2"},
		{"s_chat.1", "message S_CHAT.1"},
		{"chat", "message S_CHAT.2"},
		{"c_chat", "message C_CHAT.1"},
		{"3000", "message S_CHAT.2"},
		{"0xBB8", "message S_CHAT.2"},
		{"11", "code S_NOBODY"},
		{"0xb", "code S_NOBODY"},
		{"0003000", "message S_CHAT.2"},
		{"bb8", "message S_CHAT.2"},
		{"nobody", "code S_NOBODY"},
		{"playerid", "field members.playerId"},
		{"chat_list player", "field members.playerId"},
		{"others", "comment a message to others"},
		{"where said", "comment where it is said"},
		{"pos", "field members.pos"},
		{"nothing of this", ""},
		{"", ""},
	} {
		got := ""
		if found := s.Search(c.query, 5); len(found) > 0 {
			got = found[0].Kind + " " + found[0].Title
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	if f := s.Search("playerid", 1)[0]; f.Message != "S_CHAT_LIST.1" || f.Line != 2 || !strings.Contains(f.Hint, "uint32") {
		t.Errorf("%+v", f)
	}
	if found := s.Search("a", 3); len(found) != 3 {
		t.Errorf("%d found", len(found))
	}
}

// BenchmarkMustSearch compares a search of 1,200 definitions with one pass over their texts, which takes 1 ms.
func BenchmarkMustSearch(b *testing.B) {
	var all strings.Builder
	files := fstest.MapFS{}
	for i := range 1200 {
		var text strings.Builder
		fmt.Fprintf(&text, "# message number %d of the library\n\n", i)
		for k := range 15 {
			fmt.Fprintf(&text, "uint32 field%d_%d # what it is\n", i, k)
		}
		files[fmt.Sprintf("S_MESSAGE_%04d.1.def", i)] = &fstest.MapFile{Data: []byte(text.String())}
		all.WriteString(text.String())
	}
	s := built(b, files)
	s.Search("field", 50)
	texts := all.String()
	took := benchtest.Least(max(b.N, 7), benchtest.Job{Name: "search", Run: func() { s.Search("number 7 field", 50) }}, benchtest.Job{Name: "texts", Run: func() { strings.Count(texts, "number 7 field") }})
	benchtest.Must(b, 1, took[0], took[1], 25)
}
