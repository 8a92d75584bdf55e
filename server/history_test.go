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
