package server

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/scores"
	"wirebench/server/servertest"
)

// The history of a definition has who changed it, whatever way it was changed; its revisions have their texts, and names.
func TestHistory(t *testing.T) {
	s, dir := testServerOf(t, map[string]string{"sub/C_A.1.def": "uint32 id\nstring name\n"})
	const file = "/api/v1/one/definitions/sub%2FC_A.1.def"
	list := func() (out api.HistoryList) {
		t.Helper()
		if code := servertest.Request(t, s, "GET", file+"/history", nil, &out); code != 200 {
			t.Fatal(code)
		}
		return out
	}
	if got := list(); len(got.Revisions) != 0 || got.File != "sub/C_A.1.def" {
		t.Errorf("%+v", got)
	}
	put := func(who, text string) {
		t.Helper()
		r := httptest.NewRequest("PUT", file+"?force=true", strings.NewReader(text))
		r.Header.Set("Content-Type", "text/plain")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, access.As(r, access.Principal{Name: who, Grants: access.Grants{access.Everywhere: access.Author}}))
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	put("ann", "uint32 key\nstring name\n")
	put("ann", "uint32 key\nstring name\nbyte level\n") // another revision
	servertest.WriteFile(t, filepath.Join(dir, "sub/C_A.1.def"), "# a script\r\nuint32 key\r\nstring name\r\nbyte level\r\n")
	if err := s.Projects.Find("one").Reload(); err != nil {
		t.Fatal(err)
	}
	put("bob", "uint32 key\nstring name\nbyte level\n")
	got := list().Revisions
	said := ""
	for _, r := range got {
		said += fmt.Sprintf("%s +%d -%d\n", strings.Join(r.Who, "+"), r.Added, r.Removed)
	}
	if said != "bob +0 -1\noutside +1 -0\nann +1 -0\nann +1 -1\n +0 -0\n" {
		t.Fatal(said)
	}
	for i, want := range []string{"uint32 key\nstring name\nbyte level\n", "# a script\nuint32 key\nstring name\nbyte level\n", "uint32 key\nstring name\nbyte level\n", "uint32 key\nstring name\n", "uint32 id\nstring name\n"} {
		var x struct{ Text string }
		if code := servertest.Request(t, s, "GET", file+"/history/"+got[i].ID, nil, &x); code != 200 || x.Text != want {
			t.Errorf("%d: %d %q", i, code, x.Text)
		}
	}
	if code := servertest.Request(t, s, "GET", file+"/history/nothing", nil, nil); code != 404 {
		t.Error(code)
	}
	r := httptest.NewRequest("PATCH", file+"/history/"+got[4].ID, strings.NewReader(`{"name":"before the patch"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != 204 {
		t.Error(w.Code, w.Body)
	}
	if now := list().Revisions; now[4].Name != "before the patch" || len(now) != 5 {
		t.Errorf("%+v", now)
	}
	if code := servertest.Request(t, s, "DELETE", file+"/history", nil, nil); code != 200 || len(list().Revisions) != 0 {
		t.Error(code, list())
	}
	if code := servertest.Request(t, s, "GET", "/api/v1/one/definitions/"+url.PathEscape("../x.def")+"/history", nil, nil); code != 404 {
		t.Error(code)
	}
}

// Any two revisions are compared as text and as layout, in both directions, and judged by the captures; one without a layout as text alone.
func TestRevisionsCompared(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": servertest.HitText, "protocol.1.map": "C_HIT 4097\n"})
	servertest.Keep(t, s, "one.pcapng", servertest.Hits(t, 400, 100))
	ws := s.Projects.Find("one")
	texts := []string{"uint16 short\n" + servertest.HitText, "", "no such type\n", servertest.HitText + "# the same\n"}
	for _, text := range texts {
		if _, err := ws.SaveBy([]string{"ann"}, "C_HIT.1.def", []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	list, err := ws.History.Of("C_HIT.1.def")
	if err != nil || len(list) != len(texts)+1 {
		t.Fatalf("%+v, %v", list, err)
	}
	last, broken, empty, longer, first := list[0].ID, list[1].ID, list[2].ID, list[3].ID, list[4].ID
	for _, c := range []struct{ old, new, want string }{
		{first, longer, "broken 1 added, 0 removed, 3 moved; lines 3 same, 1 added, 0 removed"},
		{longer, first, "broken 0 added, 1 removed, 3 moved; lines 3 same, 0 added, 1 removed"},
		{first, last, "same 0 added, 0 removed, 0 moved; lines 3 same, 1 added, 0 removed"},
		{last, empty, "broken 0 added, 4 removed, 0 moved; lines 0 same, 1 added, 4 removed"},
	} {
		var got api.ComparedDefinitions
		body := fmt.Sprintf(`{"old":{"message":"C_HIT.1","revision":%q},"new":{"message":"C_HIT.1","revision":%q}}`, c.old, c.new)
		if code := servertest.Ask(t, s, "POST", "/api/v1/one/compare", "application/json", body, &got); code != 200 {
			t.Fatal(code)
		}
		rows, lines := map[string]int{}, map[string]int{}
		for _, r := range got.Rows {
			rows[string(r.Change)]++
		}
		for _, l := range got.Lines {
			lines[fmt.Sprint(l.Old > 0, l.New > 0)]++
		}
		said := fmt.Sprintf("%s %d added, %d removed, %d moved; lines %d same, %d added, %d removed",
			got.Compat, rows["added"], rows["removed"], rows["moved"], lines["true true"], lines["false true"], lines["true false"])
		if said != c.want {
			t.Errorf("%s, want %s", said, c.want)
		}
	}
	for _, c := range []struct {
		revision string
		want     string
	}{{last, "396 of 400 false"}, {longer, "0 of 400 false"}, {first, "396 of 400 false"}, {broken, "0 of 400 true"}} {
		var got scores.Score
		if code := servertest.Ask(t, s, "POST", "/api/v1/one/scores", "application/json", fmt.Sprintf(`{"message":"C_HIT.1","revision":%q}`, c.revision), &got); code != 200 {
			t.Fatal(code)
		}
		if said := fmt.Sprintf("%d of %d %v", got.Clean, got.Of, got.Mistakes); said != c.want {
			t.Errorf("%s, want %s: %+v", said, c.want, got)
		}
	}
	for body, want := range map[string]int{
		`{"old":{"message":"C_HIT.1","revision":"none"},"new":{"message":"C_HIT.1"}}`:                           404,
		`{"old":{"message":"C_HIT.1","revision":"` + last + `","text":"byte a\n"},"new":{"message":"C_HIT.1"}}`: 422,
	} {
		if code := servertest.Ask(t, s, "POST", "/api/v1/one/compare", "application/json", body, nil); code != want {
			t.Errorf("%s: %d", body, code)
		}
	}
}

// A revision that defines no message is compared as text alone, and has no verdict.
func TestRevisionWithoutLayout(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": "group: c\npacket: hello\n   __group = c\n   a = uint8\n"})
	ws := s.Projects.Find("one")
	text := ws.Now().File("game.def").Text
	if _, err := ws.SaveBy([]string{"ann"}, "game.def", []byte("# nothing\n"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.SaveBy([]string{"ann"}, "game.def", []byte(text), nil); err != nil {
		t.Fatal(err)
	}
	list, err := ws.History.Of("game.def")
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	var got api.ComparedDefinitions
	body := fmt.Sprintf(`{"old":{"message":"hello","revision":%q},"new":{"message":"hello"}}`, list[1].ID)
	if code := servertest.Ask(t, s, "POST", "/api/v1/one/compare", "application/json", body, &got); code != 200 || got.NoLayout == "" || len(got.Rows) > 0 || len(got.Lines) < 2 {
		t.Errorf("%d %+v", code, got)
	}
	var score scores.Score
	if code := servertest.Ask(t, s, "POST", "/api/v1/one/scores", "application/json", fmt.Sprintf(`{"message":"hello","revision":%q}`, list[1].ID), &score); code != 200 || score.Message != "" || score.Of > 0 {
		t.Errorf("%d %+v", code, score)
	}
}
