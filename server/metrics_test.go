package server

import (
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/servertest"
)

// Metrics are in Prometheus format; requests are counted by route, not by path.
func TestMetrics(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "a.txt", []byte(servertest.Follow))
	servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/frames", nil, &servertest.Frames{})
	servertest.Request(t, s, "GET", "/api/one/captures/nosuch/frames", nil, nil)
	servertest.Request(t, s, "BREW", "/coffee/"+x.ID, nil, nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body := w.Body.String()
	for _, want := range []string{
		`wirebench_http_request_duration_seconds_count{code="200",method="GET",route="/api/v1/projects/{project}/captures/{id}/frames"} 1`,
		`wirebench_http_request_duration_seconds_count{code="404",method="GET",route="/api/v1/projects/{project}/captures/{id}/frames"} 1`,
		`method="other",route="none"`,
		"\nwirebench_captures_open 1\n", "\nwirebench_frames_kept 5\n", "\nwirebench_pages_open 0\n", "\ngo_goroutines ",
		`wirebench_build_info{version="` + s.Version + `"} 1`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || strings.Contains(body, x.ID) {
		t.Errorf("%d %s\n%s", w.Code, w.Header(), body)
	}
}
