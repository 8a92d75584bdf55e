package proxy

import (
	"bytes"
	"flag"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/live"
)

var flatFrames = flag.Int("flat-frames", 1_000_000, "how many frames pass while memory has to stay flat")

// hundreds is a transport with messages of 100 bytes.
type hundreds struct{ rest [2][]byte }

func (h *hundreds) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	way := int(seg.Dir) - 1
	buf := append(h.rest[way], seg.Bytes...)
	for len(buf) >= 100 {
		emit(&transport.Frame{Kind: transport.Message, Dir: seg.Dir, At: seg.At, Bytes: buf[:100], From: []transport.Source{{Packet: seg.Packet, Len: 100}}})
		buf = buf[100:]
	}
	h.rest[way] = append(h.rest[way][:0], buf...)
}

func (h *hundreds) Flush(time.Time, func(*transport.Frame)) {}

// nowhere is a file that discards its data.
type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }

// The memory of a session does not grow with the number of frames and connections: its log rolls, its recording continues from file to
// file, and a page follows.
func TestMemoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million frames, with -short")
	}
	const (
		limit  = 16 << 20 // of the log
		bound  = 64 << 20 // of the process
		group  = 500
		rounds = 10 // each with another connection
		ahead  = 20_000
	)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(io.Discard, struct{ io.Reader }{c}) })
	log := live.NewRolling(limit)
	s := start(t, newProxy(t), Config{
		Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Log: log,
		Transport: func(transport.Conn) transport.Transport { return &hundreds{} },
		Record:    &Record{Create: func(n int) (string, io.WriteCloser, error) { return itoa(n), nowhere{}, nil }, FileBytes: 32 << 20, Bytes: 1 << 40},
	})
	seen, read := 0, make(chan struct{})
	go func() {
		defer close(read)
		for r := log.Follow(0); ; {
			b, err := r.Next(t.Context())
			if err != nil {
				return
			}
			seen += b.Missed + b.To - b.From
		}
	}()
	data := bytes.Repeat([]byte("x"), group*100)
	per := *flatFrames / rounds / group
	var first, highest uint64
	begun := time.Now()
	for round := range rounds {
		c := dial(t, s)
		for range per {
			if _, err := c.Write(data); err != nil {
				t.Fatal(err, s.Events(0))
			}
			// Frames skipped by the observer would not be in the log.
			for sent := s.State().ToServer / 100; sent-int64(log.Len()) > ahead; sent = s.State().ToServer / 100 {
				time.Sleep(time.Millisecond)
			}
		}
		c.Close()
		eventually(t, "all is in the log", func() bool { return log.Len() == (round+1)*per*group })
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		if highest = max(highest, m.HeapAlloc); round == 0 {
			first = m.HeapAlloc
		}
		if log.Bytes() > limit {
			t.Errorf("the log has %d bytes", log.Bytes())
		}
	}
	took := time.Since(begun)
	stop(t, s)
	<-read
	x := s.State()
	if x.Lost != 0 || x.Unlogged != 0 || x.Record.Missed != 0 || x.Frames != rounds*per*group || seen != x.Frames {
		t.Errorf("%d frames, %d read or missed: %+v", x.Frames, seen, x)
	}
	if highest > bound {
		t.Errorf("%d MiB are in use, for a log of %d", highest>>20, limit>>20)
	}
	t.Logf("%d frames in %v (%.0f a second), %d files; heap %d MiB after the first tenth, %d at most", x.Frames, took.Round(time.Millisecond),
		float64(x.Frames)/took.Seconds(), len(x.Record.Files), first>>20, highest>>20)
}
