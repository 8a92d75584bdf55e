package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wirebench/server/servertest"
	"wirebench/server/settings"
	"wirebench/server/store/storetest"
)

// TestAwayCaptureAnswers asks two servers the same of one capture: one has its bytes, the bytes of the other are only in the place of captures. Their
// answers do not differ; where the place fails, the answer is an error, and the list goes on.
func TestAwayCaptureAnswers(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	answers := func(away bool) (out []string, in *storetest.Objects, s *Server, id string) {
		ws := servertest.CaptureWorkspace(t, "tera", servertest.ChatFiles)
		place, in := storetest.Place(t, 0)
		ws.Captures.In(place)
		x, err := ws.Captures.Add("chat.pcapng", now, bytes.NewReader(servertest.Chat(t, 50)))
		if err != nil {
			t.Fatal(err)
		}
		if away {
			storetest.Away(t, ws.Captures, x.ID)
		}
		s = newServer(t, Config{Projects: servertest.Fixed(t, ws), Place: place, Keep: settings.Keep{Bytes: 1}})
		for _, c := range []struct{ method, path, kind, body string }{
			{"GET", "", "", ""},
			{"GET", "/ID", "", ""},
			{"GET", "/ID/frames?count=1000&value=true", "", ""},
			{"GET", "/ID/frames?filter=dir+%3D%3D+c2s", "", ""},
			{"GET", "/ID/packets?n=1,2,40", "", ""},
			{"GET", "/ID/export?format=csv", "", ""},
			{"GET", "/ID/export?format=packets&frames=3-9", "", ""},
			{"GET", "/ID/envelopes", "", ""},
			{"GET", "/ID/proposals", "", ""},
			{"POST", "/ID/script", "application/json", "{}"},
			{"PATCH", "/ID", "application/json", `{"name":"another","keep":true}`},
			{"GET", "", "", ""},
		} {
			r := httptest.NewRequest(c.method, "/api/v1/projects/one/captures"+strings.ReplaceAll(c.path, "ID", x.ID), strings.NewReader(c.body))
			if c.kind != "" {
				r.Header.Set("Content-Type", c.kind)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			body := strings.ReplaceAll(strings.ReplaceAll(w.Body.String(), x.ID, "ID"), `,"away":true`, "")
			out = append(out, c.method+" "+c.path+": "+http.StatusText(w.Code)+" "+body)
		}
		return out, in, s, x.ID
	}
	here, _, _, _ := answers(false)
	there, in, s, id := answers(true)
	ok := 0
	for i := range here {
		if here[i] != there[i] {
			t.Errorf("here:\n%.600q\naway:\n%.600q", here[i], there[i])
		}
		if strings.Contains(here[i], ": OK ") {
			ok++
		} else {
			t.Logf("%.200s", here[i])
		}
	}
	if ok != len(here) {
		t.Errorf("only %d answers", ok)
	}
	in.Fail(func(op, _ string) error {
		if op == "read" {
			return errors.New("503 Slow Down")
		}
		return nil
	})
	server := httptest.NewServer(s)
	defer server.Close()
	answer, err := http.Get(server.URL + "/api/v1/projects/one/captures/" + id)
	if err == nil {
		defer answer.Body.Close()
		_, err = io.ReadAll(answer.Body)
	}
	if err == nil {
		t.Error("a download that fails looks whole")
	}
	s.captures.Drop("one", id)
	var frames struct {
		Whole bool
		Note  string
	}
	if code := servertest.Request(t, s, "GET", "/api/v1/projects/one/captures/"+id+"/frames", nil, &frames); code != 200 || frames.Whole || !strings.Contains(frames.Note, "503 Slow Down") {
		t.Error(code, frames)
	}
	if code := servertest.Request(t, s, "GET", "/api/v1/projects/one/captures", nil, nil); code != 200 {
		t.Error(code)
	}
	in.Fail(nil)
	s.retention.Sweep(t.Context()) // it is to be kept
	if code := servertest.Request(t, s, "GET", "/api/v1/projects/one/captures/"+id+"/frames", nil, nil); code != 200 {
		t.Error(code)
	}
	if code, body := servertest.Patch(t, s, id, `{"keep":false}`); code != 200 {
		t.Error(code, body)
	}
	s.retention.Sweep(t.Context())
	if code := servertest.Request(t, s, "GET", "/api/v1/projects/one/captures/"+id, nil, nil); code != 404 {
		t.Error(code, "it has not gone")
	}
}
