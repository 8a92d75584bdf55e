package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Messages are answered while others are still sent, mistakes where they are; the answers are those of a request with one message.
func TestDecodeStream(t *testing.T) {
	s := testServer(t)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	r, w := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/api/one/decode", r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	go func() { io.WriteString(w, viewedHex+"\n") }()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatal(resp.Status, resp.Header)
	}
	in := bufio.NewScanner(resp.Body)
	next := func() map[string]any {
		t.Helper()
		if !in.Scan() {
			t.Fatal("no answer")
		}
		var out map[string]any
		if err := json.Unmarshal(in.Bytes(), &out); err != nil {
			t.Fatal(err, in.Text())
		}
		return out
	}
	first := next()
	if first["message"] != "C_JOIN" || first["status"] != "ok" {
		t.Errorf("%v", first)
	}
	long := strings.Repeat("00", 100_000)
	for _, c := range []struct{ line, want string }{
		{`"` + viewedHex + `"`, fmt.Sprint(first)},
		{`{"hex":"` + viewedHex + `","dir":"c2s"}`, fmt.Sprint(first)},
		{"zz", "not-hex"},
		{"{", "not-json"},
		{`{"hexx":1}`, `unknown field "hexx"`},
		{`{"hex":"00"}{}`, "more after"},
		{`{}`, "no-message"},
		{`{"hex":"` + viewedHex + `","dir":"up"}`, "c2s or s2c"},
		{`{"kind":"control","hex":"00"}`, "not a message"},
		{`{"n":1,"time":"2026-11-20T10:00:00Z","conn":"a","kind":"message","from":[1],"dir":"c2s","status":"ok","hex":"` + viewedHex + `"}`, fmt.Sprint(first)},
		{"ff ff", "status:"},
		{long, "status:"},
		{viewedHex, fmt.Sprint(first)},
	} {
		io.WriteString(w, c.line+"\n")
		if got := fmt.Sprint(next()); !strings.Contains(got, c.want) {
			t.Errorf("%.60s: %.300s, want %s", c.line, got, c.want)
		}
	}
	io.WriteString(w, viewedHex) // without a line break at the end
	w.Close()
	if got := fmt.Sprint(next()); got != fmt.Sprint(first) || in.Scan() {
		t.Errorf("%s", got)
	}
	for path, want := range map[string]int{"/api/none/decode": 404, "/api/one/decode?message=NOTHING": 422, "/api/one/decode?mesage=C_JOIN": 422, "/api/one/decode?dir=up": 422} {
		resp, err := http.Post(srv.URL+path, "application/x-ndjson", strings.NewReader("00"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

// A stream has no time limit between its messages, only for taking its answers.
func TestDecodeStreamWaits(t *testing.T) {
	s := testServer(t)
	r := httptest.NewRequest("POST", "/api/one/decode", strings.NewReader(viewedHex+"\n"+viewedHex+"\n"))
	r.Header.Set("Content-Type", "application/x-ndjson")
	w := &limits{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, r)
	if len(w.read) == 0 || slices.ContainsFunc(w.read, func(at time.Time) bool { return !at.IsZero() }) || len(w.write) == 0 {
		t.Errorf("times to read %v, to write %v", w.read, w.write)
	}
	if n := strings.Count(w.Body.String(), "\n"); n != 2 {
		t.Errorf("%d answers", n)
	}
}

// limits records the deadlines of a request.
type limits struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (l *limits) SetReadDeadline(at time.Time) error  { l.read = append(l.read, at); return nil }
func (l *limits) SetWriteDeadline(at time.Time) error { l.write = append(l.write, at); return nil }

// BenchmarkDecodeStream decodes a stream of messages over HTTP.
func BenchmarkDecodeStream(b *testing.B) {
	s := testServer(b)
	srv := httptest.NewServer(s)
	defer srv.Close()
	line := []byte(viewedHex + "\n")
	b.SetBytes(int64(len(viewedHex) / 2))
	b.ResetTimer()
	start := time.Now()
	resp, err := http.Post(srv.URL+"/api/one/decode", "application/x-ndjson", io.LimitReader(&repeated{line: bytes.Repeat(line, 1000)}, int64(b.N*len(line))))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || n == 0 {
		b.Fatal(n, err)
	}
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "messages/s")
}

// repeated repeats lines without end.
type repeated struct {
	line []byte
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.line[r.at:])
	r.at = (r.at + n) % len(r.line)
	return n, nil
}

// BenchmarkDecodeRequests compares decode requests of one message each with a bare echo of JSON of the same sizes, in requests a second: the
// ratio is the metric echo/1.
func BenchmarkDecodeRequests(b *testing.B) {
	s := testServer(b)
	body := []byte(`{"message":"C_JOIN","hex":"` + viewedHex + `"}`)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/api/one/decode", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	s.ServeHTTP(w, r)
	answer := w.Body.Bytes()
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	})
	rate := func(h http.Handler, n int) (perSecond float64, p99 time.Duration) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		const clients = 8
		took := make([][]time.Duration, clients)
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
		start := time.Now()
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				for range n / clients {
					at := time.Now()
					resp, err := client.Post(srv.URL+"/api/one/decode", "application/json", bytes.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					took[c] = append(took[c], time.Since(at))
				}
			})
		}
		all.Wait()
		sorted := slices.Sorted(slices.Values(slices.Concat(took...)))
		return float64(len(sorted)) / time.Since(start).Seconds(), sorted[len(sorted)*99/100]
	}
	for b.Loop() {
		rate(echo, 2000)
		plain, plain99 := rate(echo, 20_000)
		rate(s, 2000)
		ours, ours99 := rate(s, 20_000)
		b.ReportMetric(ours, "requests/s")
		b.ReportMetric(ours/plain, "echo/1")
		b.ReportMetric(float64(ours99)/float64(plain99), "p99/1")
	}
}
