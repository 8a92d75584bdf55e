package server

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"

	"wirebench/server/servertest"
	"wirebench/server/store"
)

// A brief list is sent again only after a change, by any program.
func TestBriefCaptures(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	folder := s.Projects.Find("one").Captures
	type answer struct {
		Captures []store.Capture
		Tag      string
		Same     bool
	}
	tag := ""
	ask := func(what string, changed bool, names ...string) {
		t.Helper()
		var got answer
		if code := servertest.Request(t, s, "GET", "/api/one/captures?brief=true&known="+tag, nil, &got); code != 200 {
			t.Fatalf("%s: %d", what, code)
		}
		if got.Same == changed || (got.Tag == tag) == changed || changed && len(got.Captures) != len(names) || !changed && len(got.Captures) > 0 {
			t.Fatalf("%s: %+v, it was %s", what, got, tag)
		}
		for i, x := range got.Captures {
			if x.Name != names[i] || x.Size == 0 || x.Notes.Text != "" || len(x.Notes.Marked) > 0 {
				t.Errorf("%s: %+v", what, x)
			}
		}
		tag = got.Tag
	}
	ask("nothing", true)
	ask("still nothing", false)
	a := servertest.Keep(t, s, "a", servertest.Chat(t, 3))
	ask("one is there", true, "a")
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+a.ID+"/types", nil, nil); code != 200 {
		t.Fatal(code)
	}
	ask("it was read: what it has is known", true, "a")
	if code, got := servertest.Patch(t, s, a.ID, `{"mark":[1],"text":"of all"}`); code != 200 {
		t.Fatal(got)
	}
	ask("notes do not count", false)
	if code, got := servertest.Patch(t, s, a.ID, `{"name":"b"}`); code != 200 {
		t.Fatal(got)
	}
	ask("it has another name", true, "b")
	if err := folder.Remove(a.ID); err != nil { // changes by other programs are seen after a pause, see TestBriefPause
		t.Fatal(err)
	}
	s.captures.ForgetBrief(folder)
	ask("it is gone", true)
	a = servertest.Keep(t, s, "a", servertest.Chat(t, 3))
	ask("one is there again", true, "a")
	if code := servertest.Request(t, s, "DELETE", "/api/one/captures/"+a.ID, nil, nil); code >= 300 {
		t.Fatal(code)
	}
	ask("deleted", true)
}

// An open list is notified of a new name of its capture, and of its deletion.
func TestListTellsNameAndEnd(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	c := openList(t, s, servertest.Chat(t, 3))
	c.view(1, "")
	if got := string(c.st["name"]); got != `"chat.pcapng"` {
		t.Errorf("name %s", got)
	}
	all, err := s.Projects.Find("one").Captures.List()
	if err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	if code, got := servertest.Patch(t, s, all[0].ID, `{"name":"evening"}`); code != 200 {
		t.Fatal(got)
	}
	for string(c.st["name"]) != `"evening"` {
		c.read()
	}
	if code := servertest.Request(t, s, "DELETE", "/api/one/captures/"+all[0].ID, nil, nil); code >= 300 {
		t.Fatal(code)
	}
	for string(c.read()["gone"]) != "true" {
		continue
	}
	if _, err := c.conn.Read(c.ctx); err == nil {
		t.Error("the connection goes on")
	}
}

// Requests for many captures at once are each answered with all frames: none ends the reading of another one.
func TestManyCapturesAtOnce(t *testing.T) {
	s := captureServer(t, "tera", servertest.NumberFiles)
	const n = 200_000
	data := servertest.Numbers(t, n)
	var ids []string
	for i := range 12 {
		ids = append(ids, servertest.Keep(t, s, fmt.Sprint(i), data).ID)
	}
	var answers sync.WaitGroup
	for i, id := range ids {
		answers.Go(func() {
			var f struct {
				Total int
				Done  bool
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("GET", "/api/one/captures/"+id+"/frames?count=1", nil))
			if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || w.Code != 200 || f.Done && f.Total != n {
				t.Errorf("capture %d: %d %+v %v", i, w.Code, f, err)
			}
		})
	}
	answers.Wait()
}
