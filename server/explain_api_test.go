package server

import (
	"encoding/json"
	"net/url"
	"testing"

	"wirebench/server/frames"
	"wirebench/server/servertest"
)

// The operations that explain a capture, over HTTP.
func TestExplainAPI(t *testing.T) {
	s := captureServer(t, "tera", servertest.NumberFiles)
	id := servertest.Keep(t, s, "numbers", servertest.Numbers(t, 5000)).ID
	get := func(path string, into any) {
		t.Helper()
		if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+path, nil, into); code != 200 {
			t.Fatalf("%s: %d", path, code)
		}
	}
	var graph frames.Graph
	get("/graph?points=500&field=.level&field="+url.QueryEscape("C_LEVEL.share")+"&field=.nothing", &graph)
	for i, want := range []int{5000, 5000, 0} {
		s := graph.Series[i]
		if s.Frames != want || len(s.Points) > 500 || want > 0 && len(s.Points) < 100 {
			t.Errorf("%s: %d values, %d points", s.Field, s.Frames, len(s.Points))
		}
	}
	if first, last := graph.Series[0].Points[0], graph.Series[0].Points[len(graph.Series[0].Points)-1]; first.Value != 0 || first.N != 1 || last.Value != 4999 {
		t.Errorf("%+v to %+v", first, last)
	}

	var conns frames.Conns
	get("/connections", &conns)
	if len(conns.Rows) != 1 || conns.Rows[0].ToServer != 5000 || conns.Rows[0].Sent != 60000 || conns.Rows[0].To-conns.Rows[0].From != 49_990_000 {
		got, _ := json.Marshal(conns)
		t.Errorf("%s", got)
	}

	var follow frames.Follow
	get("/follow?n=17", &follow)
	if len(follow.Parts) != 200 || follow.Parts[0].N != 1 || follow.Before != 0 || follow.After != 201 || follow.Parts[3].Name != "C_LEVEL" {
		t.Errorf("%d parts, before %d, after %d", len(follow.Parts), follow.Before, follow.After)
	}
	get("/follow?n=17&from=4900&back=true", &follow)
	if len(follow.Parts) != 200 || follow.Parts[0].N != 4701 || follow.Parts[199].N != 4900 || follow.Before != 4700 || follow.After != 4901 {
		t.Errorf("%d parts from %d, before %d, after %d", len(follow.Parts), follow.Parts[0].N, follow.Before, follow.After)
	}

	var line frames.Timeline
	get("/timeline?step=1000000&line="+url.QueryEscape(".level < 100")+"&line=.no", &line)
	if len(line.C2S) != 50 || line.C2S[0] != 100 || line.C2SBytes[0] != 1200 || line.Lines[0].Frames[0] != 100 || line.Lines[0].Frames[1] != 0 || line.Lines[1].Mistake == "" {
		t.Errorf("%d intervals of %d: %+v", len(line.C2S), line.Step, line.Lines)
	}

	var problems frames.Problems
	get("/problems", &problems)
	if problems.Frames != 0 || len(problems.Rows) != 0 {
		t.Errorf("%+v", problems)
	}
	other := servertest.Keep(t, s, "chat", servertest.Chat(t, 100)).ID
	if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+other+"/problems", nil, &problems); code != 200 || problems.Frames != 100 || len(problems.Rows) == 0 {
		t.Errorf("%d %+v", code, problems)
	}
	for _, r := range problems.Rows {
		var rows struct{ Fit int }
		if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+other+"/rows?filter="+url.QueryEscape(r.Filter), nil, &rows); code != 200 || rows.Fit < int(r.Frames) {
			t.Errorf("%s finds %d frames, %d", r.Filter, rows.Fit, code)
		}
	}
}
