package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/servertest"
	"wirebench/server/socket"
)

// answerOf returns the JSON of a response, or its problem.
func answerOf(t *testing.T, s *Server, path string) (code int, got map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%s: %d %.200s", path, w.Code, w.Body)
	}
	return w.Code, got
}

// The queries of the page socket are available over HTTP with the same results.
func TestFramesOverHTTP(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	c := openList(t, s, servertest.Chat(t, 50))
	c.view(1, "")
	all, err := s.Projects.Find("one").Captures.List()
	if err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	base := "/api/one/captures/" + all[0].ID + "/"
	unknown := "op == 0x7777 && dir == s2c"
	for _, q := range []struct {
		path           string
		kind, key, ask string
		want           string // in the answer
	}{
		{"frames/5", "frame", "frame", `,"n":5`, `"type":"` + unknown + `"`},
		{"rows?from=2&count=3", "rows", "rows", `,"from":2,"count":3`, `"info":"text \"text 2\""`},
		{"find?text=text+7", "find", "found", `,"text":"text 7","as":"text","from":-1`, `"n":8`},
		{"find?text=text+7&from=10&back=true", "find", "found", `,"text":"text 7","as":"text","from":10,"back":true`, `"at":[`},
		{"types", "types", "types", ``, `"count":40`},
		{"timeline?buckets=7", "timeline", "timeline", `,"buckets":7`, `"step":`},
		{"map?buckets=10", "map", "map", `,"buckets":10`, `"unknown":[1,1,1,1,1,1,1,1,1,1]`},
		{"fields?type=C_SAY&count=2", "table", "table", `,"type":"C_SAY","from":0,"count":2`, `"distinct":40`},
		{"fields?type=" + url.QueryEscape(unknown), "table", "table", `,"type":"` + unknown + `","from":0,"count":100`, `"trend":"rising"`},
		{"fields?groups=4:u16be,6:text&type=" + url.QueryEscape(unknown), "table", "table", `,"type":"` + unknown + `","from":0,"count":100,"groups":["4:u16be","6:text"]`, `"filter":"u16be(bytes[4:2])"`},
		{"compare?a=1&b=2", "diff", "diff", `,"a":1,"b":2`, `"same":false`},
		{"compare?a=1&b=5", "diff", "diff", `,"a":1,"b":5`, `different definitions`},
	} {
		code, got := answerOf(t, s, base+q.path)
		text, _ := socket.JSON(got)
		if code != 200 || !strings.Contains(string(text), q.want) {
			t.Errorf("%s: %d %.600s", q.path, code, text)
		}
		var told map[string]any
		if err := json.Unmarshal([]byte(c.ask(q.kind, q.key, q.ask)), &told); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"id", "seq", "epoch", "order"} { // of the socket
			delete(told, key)
			delete(got, key)
		}
		if q.key == "rows" {
			for _, key := range []string{"fit", "total", "done", "whole"} {
				delete(got, key)
			}
		}
		if !reflect.DeepEqual(got, told) {
			t.Errorf("%s\n%.600v over HTTP\n%.600v over the socket", q.path, got, told)
		}
	}
	for path, want := range map[string]string{
		"rows?sort=n&desc=true&count=1":                            `"n":50`,
		"rows?filter=C_SAY&columns=.text&count=1":                  `"cells":["text 0"]`,
		"rows?count=1&highlight=len+%3E+1":                         `"hit":true`,
		"rows?sort=" + url.QueryEscape("=.text"):                   `"fit":50`,
		"find?text=" + url.QueryEscape("len > 999") + "&as=filter": `"pos":-1`,
		"types?filter=C_SAY":                                       `"total":40`,
		"timeline?filter=n+%3C+0":                                  `"c2s":[0`,
		"map?filter=n+%3C+0":                                       `"total":0`,
		"fields?type=C_SAY&sort=text&desc=true":                    `"cells":["text 8"]`,
	} {
		code, got := answerOf(t, s, base+path)
		if text, _ := socket.JSON(got); code != 200 || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %.600s", path, code, text)
		}
	}
	for path, want := range map[string]int{
		"frames/0": 422, "frames/51": 404, "compare?a=1&b=99": 404, "fields?type=" + url.QueryEscape("n == 0"): 404,
		"rows?filter=len+%3E": 422, "rows?sort=nothing": 422, "rows?count=501": 422, "find?text=len+%3E&as=filter": 422, "find": 422,
		"fields?type=len+%3E": 422, "map?highlight=len+%3E": 422, "timeline?buckets=0": 422,
	} {
		if code, got := answerOf(t, s, base+path); code != want {
			t.Errorf("%s: %d %v", path, code, got)
		}
	}
	for _, path := range []string{"frames/1", "rows", "find?text=a", "types", "timeline", "problems", "connections", "replies", "graph?field=.text", "follow?n=1", "map", "fields?type=C_SAY", "compare?a=1&b=2"} {
		if code, got := answerOf(t, s, "/api/one/captures/none/"+path); code != 404 {
			t.Errorf("%s of no capture: %d %v", path, code, got)
		}
	}
}

// Queries work on the frames of running traffic as on those of a file.
func TestLiveFramesOverHTTP(t *testing.T) {
	r := newRolling(t, 1<<20)
	r.add(30_000)
	kept, base := r.log.Len()-r.log.Base(), "/api/one/captures/"+r.id+"/"
	var rows struct {
		Rows       []struct{ N int }
		Fit, Total int
		Done       bool
	}
	if code := servertest.Request(t, r.s, "GET", base+"rows?sort=n&desc=true&count=3", nil, &rows); code != 200 || rows.Fit != kept || rows.Total != 30_000 || rows.Done || rows.Rows[0].N != 30_000 {
		t.Errorf("%d %+v", code, rows)
	}
	var types struct{ Total int }
	if code := servertest.Request(t, r.s, "GET", base+"types", nil, &types); code != 200 || types.Total != kept {
		t.Errorf("%d %+v, %d are kept", code, types, kept)
	}
	var line struct{ C2S, S2C []int }
	if code := servertest.Request(t, r.s, "GET", base+"timeline?buckets=1", nil, &line); code != 200 || line.C2S[0]+line.S2C[0] != kept {
		t.Errorf("%d %+v", code, line)
	}
	if code, got := answerOf(t, r.s, base+"frames/1"); code != 404 {
		t.Errorf("a frame that is gone: %d %v", code, got)
	}
	if err := r.log.Add(r.conn, &transport.Frame{Dir: schema.ToServer, Bytes: []byte{9}}); err != nil {
		t.Fatal(err)
	}
	if code, got := answerOf(t, r.s, base+"frames/30001"); code != 200 || got["hex"] != "09" {
		t.Errorf("the newest: %d %v", code, got)
	}
}
