package server

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/live"
	"wirebench/server/logs"
	"wirebench/server/rooms"
	"wirebench/server/servertest"
)

// What an operator has to see is in the metrics: texts that are not saved, stored captures, memory, the disk, the log, sign-ins.
func TestMetricsOfOperation(t *testing.T) {
	log, err := logs.New(io.Discard, "info", "text")
	if err != nil {
		t.Fatal(err)
	}
	ws := servertest.CaptureWorkspace(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	s := newServer(t, Config{Projects: servertest.Fixed(t, ws), Log: log, Disk: live.NewDisk(t.TempDir(), 1<<30)})
	x := servertest.Keep(t, s, "a.txt", []byte(servertest.Follow))
	m, err := s.rooms.Join(t.Context(), ws, "game.def", rooms.Person{Name: "ann", Writes: true}, rooms.Have{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Leave()
	if err := m.Merge("ann", servertest.SayAndPing, "# unsaved\n"+servertest.SayAndPing); err != nil {
		t.Fatal(err)
	}
	log.Warn("something")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		"wirebench_ready 1", `wirebench_projects{state="open"} 1`, `wirebench_projects{state="failed"} 0`, "wirebench_texts_open 1", "wirebench_texts_people 1", "wirebench_texts_unsaved 1",
		`wirebench_captures_stored{workspace="one"} 1`, fmt.Sprintf(`wirebench_captures_stored_bytes{workspace="one"} %d`, x.Size), "wirebench_frames_disk_most_bytes 1.073741824e+09",
		`wirebench_memory_admitted_bytes{kind="open"}`, "wirebench_memory_waiting 0", "wirebench_memory_refused_total 0", `wirebench_log_lines_total{level="warn"} 1`, "wirebench_listeners_running 0",
	} {
		if !strings.Contains(w.Body.String(), "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
}

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
