package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/servertest"
)

// heapPeak returns the maximum growth of the live heap in bytes while do runs.
func heapPeak(do func()) uint64 {
	live := func() uint64 {
		s := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		runtimemetrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	begin, peak := live(), uint64(0)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			peak = max(peak, live())
			time.Sleep(5 * time.Millisecond)
		}
	})
	do()
	cancel()
	wg.Wait()
	return peak - min(begin, peak)
}

func posted(s *Server, path string, body any) *httptest.ResponseRecorder {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest("POST", path, strings.NewReader(string(text)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// manyFields returns messages in which every five bytes are three fields, which take the most memory.
func manyFields(messages int) string {
	const elements = 12_000
	var b strings.Builder
	number := func(v int) { fmt.Fprintf(&b, "%02x%02x", v&255, v>>8&255) }
	for range messages {
		for _, v := range []int{8 + 5*elements, 1, elements, 8} {
			number(v)
		}
		for i := range elements {
			here, next := 8+5*i, 8+5*(i+1)
			if i == elements-1 {
				next = 0
			}
			number(here)
			number(next)
			b.WriteString("07")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The memory of concurrent decoding is bounded; requests that cannot be served in time get a Retry-After header.
func TestDecodesSideBySide(t *testing.T) {
	const budget = 128 << 20
	w, dir := servertest.OpenWorkspace, t.TempDir()
	servertest.WriteFile(t, dir+"/C_A.1.def", "array a\n- byte b\n")
	s, err := New(Config{Version: "test", Projects: servertest.Fixed(t, w(t, dir, nil)), Memory: budget})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	body := map[string]string{"hex": manyFields(3), "message": "C_A.1"}
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	var served, refused atomic.Int32
	peak := heapPeak(func() {
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				w := posted(s, "/api/one/decode", body)
				switch {
				case w.Code == 200:
					served.Add(1)
				case w.Code == 503 && w.Header().Get("Retry-After") != "" && w.Header().Get("Content-Type") == "application/problem+json":
					refused.Add(1)
				default:
					t.Errorf("status %d, %v: %.200s", w.Code, w.Header(), w.Body)
				}
			})
		}
		all.Wait()
	})
	t.Logf("%d served, %d refused, at most %d MB", served.Load(), refused.Load(), peak>>20)
	if served.Load() == 0 || peak > 3*budget {
		t.Errorf("%d served with %d MB", served.Load(), peak>>20)
	}
	if now, most := s.budget.Used(); now != 0 || most > budget || most == 0 {
		t.Errorf("%d bytes are taken after all, %d were", now, most)
	}
}
