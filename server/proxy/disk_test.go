package proxy

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"wirebench/defs/schema"
)

// pausing is a disk that pauses now and then, for less time than the queue covers.
type pausing struct {
	disk
	pauses int
}

func (p *pausing) Write(b []byte) (int, error) {
	if p.pauses > 0 {
		p.pauses--
		time.Sleep(30 * time.Millisecond)
	}
	return p.disk.Write(b)
}

// A disk that pauses for a moment loses nothing; one without room for the next file ends the recording with this reason, and the previous
// files are complete. Traffic and log continue.
func TestDiskInTheMiddle(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	const size = 4 << 20
	run := func(t *testing.T, record *Record) RecordState {
		t.Helper()
		s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{QueueBytes: 256 << 20}, Record: record})
		c := dial(t, s)
		go func() {
			_, _ = io.Copy(c, &pattern{state: 7, left: size})
			_ = c.CloseWrite()
		}()
		want := sum(&pattern{state: 7, left: size})
		if got := sum(c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		stop(t, s)
		if got := sum(logged(s, schema.ToServer)); got != want {
			t.Errorf("log: %s, want %s", got, want)
		}
		if hasEvent(s, "recording has stopped") != (s.State().Record.Why != "") {
			t.Errorf("%+v", s.Events(0))
		}
		return s.State().Record
	}
	t.Run("pauses", func(t *testing.T) {
		d := &pausing{disk{room: 1 << 30}, 10}
		x := run(t, &Record{Create: func(int) (string, io.WriteCloser, error) { return "x", d, nil }})
		if got := read(t, d.Bytes()); x.Why != "" || x.Missed != 0 || got.sum.Torn != nil || int64(got.sum.Packets) != x.Packets || got.lost != 0 {
			t.Errorf("%+v, %+v", x, got.sum)
		}
	})
	t.Run("no next file", func(t *testing.T) {
		var made []*disk
		x := run(t, &Record{FileBytes: 1 << 20, Create: func(n int) (string, io.WriteCloser, error) {
			if n > 2 {
				return "", nil, errors.New("no room for a file")
			}
			made = append(made, &disk{room: 1 << 30})
			return itoa(n), made[n-1], nil
		}})
		if !strings.Contains(x.Why, "no room for a file") || x.Missed == 0 || len(made) != 2 || len(x.Files) != 2 {
			t.Fatalf("%+v", x)
		}
		packets := int64(0)
		for _, d := range made {
			got := read(t, d.Bytes())
			packets += int64(got.sum.Packets)
			if got.sum.Torn != nil {
				t.Errorf("%+v", got.sum)
			}
		}
		if packets != x.Packets {
			t.Errorf("%d packets in the files, %d by the state", packets, x.Packets)
		}
	})
}
