package server

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wirebench/server/servertest"
	"wirebench/server/store"
)

// A later part of a recording cannot be deleted, renamed, reinterpreted or appended to while it is written; notes are allowed.
func TestWrittenPart(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	captures := s.Projects.Find("one").Captures
	record := func() string {
		t.Helper()
		x, f, err := captures.Record(store.Capture{Name: "live, part 2"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return x.ID
	}
	part := s.captures.Part("one")
	second := record()
	part.Is(second)
	ask := func(method, path, body string) (int, string) {
		r := httptest.NewRequest(method, "/api/one/captures/"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var p struct{ Detail string }
		_ = json.Unmarshal(w.Body.Bytes(), &p)
		return w.Code, p.Detail
	}
	for _, test := range []struct {
		method, path, body string
		want               int
	}{
		{"DELETE", "", "", 409},
		{"PATCH", "", `{"name":"mine"}`, 409},
		{"PATCH", "", `{"framing":"whole"}`, 409},
		{"PATCH", "", `{"keys":""}`, 409},
		{"PATCH", "", `{"mark":[1],"name":"mine"}`, 409},
		{"POST", "/append?offset=0", "x", 403},
		{"PATCH", "", `{"mark":[1],"text":"good"}`, 200},
	} {
		if code, why := ask(test.method, second+test.path, test.body); code != test.want || code == 409 && !strings.Contains(why, "still being written") {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, code, why)
		}
	}
	if x, err := captures.Get(second); err != nil || x.Name != "live, part 2" || x.Framing != "" || len(x.Notes.Marked) != 1 {
		t.Errorf("%+v %v", x, err)
	}
	third := record()
	part.Is(third)
	if code, _ := ask("PATCH", second, `{"name":"mine"}`); code != 200 {
		t.Errorf("the part before: %d", code)
	}
	if code, _ := ask("DELETE", third, ""); code != 409 {
		t.Errorf("the part of now: %d", code)
	}
	part.Is("")
	late := record()
	part.Is(late) // its file was created at the end
	for _, id := range []string{second, third, late} {
		if s.captures.Writes("one", id) {
			t.Errorf("a part of what has ended: %v", id)
		}
	}
	for _, id := range []string{second, third} {
		if code, _ := ask("DELETE", id, ""); code != 204 {
			t.Errorf("afterwards: %d", code)
		}
	}
	if all, _ := captures.List(); len(all) != 1 {
		t.Errorf("%d captures", len(all))
	}
	var x store.Capture
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=a.bin&framing=whole", []byte("x"), &x); code != 201 {
		t.Error(code)
	}
}
