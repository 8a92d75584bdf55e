package server

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/api"
	"wirebench/server/store"
)

// listed returns a summary of the frames of a capture.
func listed(t *testing.T, s *Server, id string) (out string) {
	t.Helper()
	var f gotFrames
	if code := request(t, s, "GET", "/api/one/captures/"+id+"/frames?value=true", nil, &f); code != 200 || !f.Done {
		t.Fatalf("%d %+v", code, f)
	}
	for _, x := range f.Frames {
		out += fmt.Sprintf("%s %s %s|", x.Kind, x.Dir, x.Message)
	}
	return out
}

// A framing set at upload or later determines how the file is read from then on.
func TestFramingOfACapture(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": sayAndPing})
	raw := []byte("\x06\x01\x02\x00hi\x00\x02\x02")
	var x store.Capture
	if code := request(t, s, "POST", "/api/one/captures?name=raw.bin&framing=prefixed:1%2Bself%2Bc2s", raw, &x); code != 201 || x.Framing != "prefixed:1+self+c2s" {
		t.Fatalf("%d %+v", code, x)
	}
	if got := listed(t, s, x.ID); got != "message c2s say|problem c2s |" {
		t.Error(got)
	}
	if code, _ := patch(t, s, x.ID, `{"framing":"fixed:9+c2s"}`); code != 200 {
		t.Fatal(code)
	}
	if got := listed(t, s, x.ID); got != "message c2s |" {
		t.Error(got)
	}
	if code := request(t, s, "POST", "/api/one/captures?name=raw.bin&framing=lines", raw, nil); code != 422 {
		t.Error(code)
	}
	file, _ := exported(t, s, x.ID, "format=pcapng")
	if !strings.Contains(file, "\x06\x01\x02\x00hi") {
		t.Errorf("%q", file)
	}
}

// Captures may be larger than other bodies.
func TestLargeCapture(t *testing.T) {
	s := captureServer(t, "muta", nil)
	var x store.Capture
	if code := request(t, s, "POST", "/api/one/captures?name=large&framing=whole", bytes.Repeat([]byte("."), api.MaxBody+10), &x); code != 201 || x.Size != api.MaxBody+10 {
		t.Errorf("%d %+v", code, x)
	}
}

// The result page of an upload links to the captures in it.
func TestUploadPageOfCaptures(t *testing.T) {
	s := captureServer(t, "muta", nil)
	kind, form := formOf(t, sent{"talk.log", twoWays})
	r := httptest.NewRequest("POST", "/p/one/upload", bytes.NewReader(form))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	all, err := s.Projects.Find("one").Captures.List()
	if err != nil || len(all) != 1 || w.Code != 200 || !strings.Contains(w.Body.String(), `<a href="/p/one/captures/`+all[0].ID) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
