package live_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/server/live"
)

// resident returns the bytes in memory of files below a directory.
func resident(t *testing.T, dir string) (sum int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	here := false
	for line := range strings.Lines(string(maps)) {
		if fields := strings.Fields(line); !strings.HasSuffix(fields[0], ":") {
			here = strings.Contains(line, dir)
		} else if kb := 0; here && fields[0] == "Rss:" {
			if _, err := fmt.Sscan(fields[1], &kb); err != nil {
				t.Fatal(err)
			}
			sum += kb << 10
		}
	}
	return sum
}

// Whoever reads the frames of a large capture, by ranges or by indexes, from any frame on, has only some blocks of them in memory.
func TestReadersLetGo(t *testing.T) {
	dir := t.TempDir()
	l := live.NewOn(live.NewDisk(dir, 1<<30), 1<<30)
	conn := l.Connection(live.Conn{})
	const n = 150_000
	data := make([]byte, 400)
	var all, few []int
	for i := range n {
		if err := l.Add(conn, &transport.Frame{Bytes: data}); err != nil {
			t.Fatal(err)
		}
		if all = append(all, i); i%1000 == 0 {
			few = append(few, i)
		}
	}
	read := func(block []byte) (out byte) {
		for at := 0; at < len(block); at += 512 {
			out |= block[at]
		}
		return out
	}
	got := byte(0)
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"added", func() {}},
		{"all", func() {
			l.Each(0, n, func(_ int, _ live.Entry, data []byte) bool { got |= data[0] | data[399]; return true })
		}},
		{"in parts", func() {
			for from := 0; from < n; from += 10_007 {
				l.Each(from, from+10_007, func(_ int, _ live.Entry, data []byte) bool { got |= data[0] | data[399]; return true })
			}
		}},
		{"by index", func() {
			l.EachOf(all, func(_ int, _ live.Entry, block []byte) bool { got |= block[0]; return true })
		}},
		{"a few", func() {
			l.EachOf(few, func(_ int, _ live.Entry, block []byte) bool { got |= read(block); return true })
		}},
	} {
		c.do()
		if have := resident(t, dir); have > 14<<20 { // the last blocks, which are not full
			t.Errorf("%s: %d MiB are in memory", c.name, have>>20)
		}
	}
	if got != 0 {
		t.Error("the frames have changed")
	}
}
