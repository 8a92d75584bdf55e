package server

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"wirebench/defs/corpora"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// captureServer returns a server with a workspace "one" that stores captures.
func captureServer(t testing.TB, dialect string, files map[string]string, stored ...string) *Server {
	t.Helper()
	return serverOf(t, servertest.CaptureWorkspace(t, dialect, files, stored...))
}

// A capture is stored unchanged, its frames are decoded by the current definitions, and it can be deleted.
func TestCaptureOfText(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: ping\n   __group = clmsg\n"})
	dump := "00000000  01 02 00 68 69 02 02 02  01 05 00 68 65 6c        ...hi... ...hel\n0000000e  6c 6f                                             lo\n"
	var x store.Capture
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=follow.txt", []byte(dump), &x); code != http.StatusCreated || x.Name != "follow.txt" || x.Size != int64(len(dump)) {
		t.Fatalf("%d %+v", code, x)
	}
	var all struct{ Captures []store.Capture }
	if code := servertest.Request(t, s, "GET", "/api/one/captures", nil, &all); code != 200 || len(all.Captures) != 1 || all.Captures[0].ID != x.ID {
		t.Fatalf("%d %+v", code, all)
	}
	var f servertest.Frames
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames?value=true", nil, &f); code != 200 || !f.Done || f.Total == 0 {
		t.Fatalf("%d %+v", code, f)
	}
	var told []string
	for _, fr := range f.Frames {
		told = append(told, fmt.Sprintf("%d %s %s %s", fr.N, fr.Kind, fr.Message, fr.Value))
	}
	const want = `1 message say {"text":"hi"}|2 message ping {}|3 message ping {}|4 message ping {}|5 message say {"text":"hello"}`
	if got := strings.Join(told, "|"); got != want {
		t.Errorf("frames:\n%s", got)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/api/one/captures/"+x.ID, nil))
	if w.Code != 200 || w.Body.String() != dump || !strings.Contains(w.Header().Get("Content-Disposition"), "follow.txt") {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
	if code := servertest.Request(t, s, "DELETE", "/api/one/captures/"+x.ID, nil, nil); code != http.StatusNoContent {
		t.Error(code)
	}
	for _, path := range []string{x.ID, "nothing", "..%2F" + x.ID} {
		if code := servertest.Request(t, s, "GET", "/api/one/captures/"+path+"/frames", nil, nil); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// Real captures list their messages in pages, and kinds can be selected.
func TestCaptureOfCorpora(t *testing.T) {
	data := corpora.Own().Read(t, "subspace/vie-session.pcap")
	messages := 0
	for _, row := range corpora.Rows[struct{ Kind string }](t, corpora.Own(), "subspace/vie-session.truth.jsonl") {
		if row.Kind == "msg" {
			messages++
		}
	}
	s := captureServer(t, "subspace", map[string]string{"game.def": servertest.SubspaceText})
	x := servertest.Keep(t, s, "vie.pcap", data)
	var list []string
	for from := 0; ; from += 50 {
		var f servertest.Frames
		if code := servertest.Request(t, s, "GET", fmt.Sprintf("/api/one/captures/%s/frames?kind=message&count=50&from=%d", x.ID, from), nil, &f); code != 200 || !f.Done || f.Note != "" {
			t.Fatalf("%d %+v", code, f)
		}
		for _, fr := range f.Frames {
			list = append(list, fr.Dir+" "+fr.Hex)
		}
		if len(f.Frames) < 50 {
			if f.Fit != len(list) || f.Total <= f.Fit {
				t.Errorf("%d fit of %d, %d listed", f.Fit, f.Total, len(list))
			}
			break
		}
	}
	var f servertest.Frames
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames?filter="+url.QueryEscape(`dir == c2s && .text contains "a"`), nil, &f); code != 200 || f.Fit == 0 || f.Fit >= messages {
		t.Errorf("%d %+v", code, f)
	}
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames?filter="+url.QueryEscape(`len >`), nil, nil); code != 422 {
		t.Errorf("a filter that breaks off: %d", code)
	}
	if len(list) != messages {
		t.Errorf("%d messages", len(list))
	}
}

func TestCaptureThatIsNone(t *testing.T) {
	s := captureServer(t, "subspace", nil)
	var x store.Capture
	letter := []byte("This is a letter, and no capture at all.")
	for _, no := range [][]byte{letter, []byte("\x00\x01\x02raw bytes\xff"), append([]byte("\x1f\x8b"), letter...), []byte("PK, not a zip")} {
		var refused struct{ Detail string }
		if code := servertest.Request(t, s, "POST", "/api/one/captures?name=x", no, &refused); code != 422 || !strings.Contains(refused.Detail, "not a capture") {
			t.Errorf("%q: %d %+v", no, code, refused)
		}
	}
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=grows", nil, &x); code != 201 {
		t.Errorf("an empty file, to be appended to: %d", code)
	}
	x, err := s.Projects.Find("one").Captures.AddFramed("x", "", time.Now(), bytes.NewReader(letter)) // as another program may put it there
	if err != nil {
		t.Fatal(err)
	}
	var f servertest.Frames
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames", nil, &f); code != 200 || !f.Done || f.Total != 0 || !strings.Contains(f.Note, "nor a text that contains one") {
		t.Errorf("%d %+v", code, f)
	}
	if code := servertest.Request(t, s, "POST", "/api/one/captures", []byte("x"), nil); code != 422 {
		t.Errorf("without a name: %d", code)
	}
	plain, _ := testServerOf(t, nil)
	if code := servertest.Request(t, plain, "GET", "/api/one/captures", nil, nil); code != 404 {
		t.Errorf("where none are kept: %d", code)
	}
}
