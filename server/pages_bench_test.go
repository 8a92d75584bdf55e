package server

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkPages measures what 200 open pages cost: memory when they rest, with a small message and with one of 64 KB, and the time until all
// have the news of one change.
func BenchmarkPages(b *testing.B) {
	for _, size := range []int{8, 65_000} {
		b.Run(fmt.Sprintf("%d bytes", size), func(b *testing.B) {
			for range b.N {
				benchmarkPages(b, 200, size)
			}
		})
	}
}

func benchmarkPages(b *testing.B, pages, size int) {
	files := map[string]string{"C_BLOB.1.def": "uint16 a\nuint16 b\nbytes rest\n", "protocol.1.map": "C_BLOB 7\n"}
	for i := range 800 {
		files[fmt.Sprintf("C_OTHER%d.1.def", i)] = "uint32 id\nstring name\narray items\n- uint32 item\n"
	}
	s, _ := testServerOf(b, files)
	srv := httptest.NewServer(s)
	defer srv.Close()
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := heap()
	message := fmt.Sprintf("%02x%02x%02x%02x", size&0xff, size>>8&0xff, 7, 0) + strings.Repeat("00", size-4)
	var conns []*channelConn
	for range pages {
		c := dialChannel(b, b.Context(), srv.URL, nil, "page", "null")
		conns = append(conns, c)
		if err := c.Write(b.Context(), fmt.Appendf(nil, `{"id":1,"message":{"n":1,"set":{"message":"C_BLOB.1","definition":"","input":%q}}}`, message)); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(heap()-before)/float64(pages)/1024, "KB/page")
	var all sync.WaitGroup
	for _, c := range conns {
		all.Go(func() {
			if _, err := c.Read(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
	start := time.Now()
	if _, err := s.Projects.Find("one").Save("C_BLOB.1.def", []byte("uint16 a\nuint16 c\nbytes rest\n"), nil); err != nil {
		b.Fatal(err)
	}
	all.Wait()
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/change")
	for _, c := range conns {
		c.Drop()
	}
	s.Close()
}
