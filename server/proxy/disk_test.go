package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
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

// A disk that pauses for a moment loses nothing; one without room for the next file pauses the recording with this reason, and the previous
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
		if hasEvent(s, "recording is paused") != (s.State().Record.Why != "") {
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

// room is a disk whose files are as in a folder: one that is full gets room again, and files are deleted.
type room struct {
	mu    sync.Mutex
	left  int
	files []*roomFile // by number, without discarded ones
	asked []bool      // arguments of check
}

type roomFile struct {
	of   *room
	name string
	data []byte
	gone bool
	shut int
}

func (d *room) create(n int) (string, io.WriteCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &roomFile{of: d, name: itoa(n)}
	d.files = append(d.files, f)
	return f.name, f, nil
}

func (d *room) give(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = n
}

func (d *room) check(resume bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, resume)
	if resume && d.left < 4096 {
		return errors.New("not enough room")
	}
	return nil
}

func (f *roomFile) Write(b []byte) (int, error) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	n := min(len(b), f.of.left)
	f.of.left -= n
	if f.data = append(f.data, b[:n]...); n < len(b) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func (f *roomFile) Truncate(size int64) error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.data = f.data[:size]
	return nil
}

func (f *roomFile) Gone() bool {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	return f.gone
}

func (f *roomFile) Discard() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.shut++
	f.of.files = slices.DeleteFunc(f.of.files, func(x *roomFile) bool { return x == f })
}

func (f *roomFile) Close() error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.shut++
	return nil
}

// A recording goes on in a new file when a full disk has room again, and when its file was deleted. Every packet is in a file or counted as
// missed, attempts leave no empty files, and the new file says what is missing before it.
func TestResume(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	d := &room{left: 300_000}
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Record: &Record{Create: d.create, Room: d.check}})
	c := dial(t, s)
	buf := make([]byte, 8<<10)
	echo := func() {
		t.Helper()
		if _, err := c.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	eventually(t, "the disk is full", func() bool { echo(); return s.State().Record.Paused })
	if x := s.State().Record; x.On || !strings.Contains(x.Why, "no space left") || len(x.Files) != 1 {
		t.Errorf("%+v", x)
	}
	for range 20 {
		echo()
	}
	if len(d.files) != 1 {
		t.Errorf("%d files, by attempts without room", len(d.files))
	}
	d.give(1 << 30)
	eventually(t, "it goes on", func() bool { echo(); return s.State().Record.On })
	if x := s.State().Record; x.Paused || x.Why != "" || len(x.Files) != 2 || x.Missed < 40 || !saysEvent(s, "recording continues in part 2") {
		t.Errorf("%+v, %+v", x, s.Events(0))
	}
	d.mu.Lock()
	d.files[1].gone = true
	d.mu.Unlock()
	eventually(t, "the deleted file is noticed", func() bool { echo(); return hasEvent(s, "recording is paused: the file was deleted") })
	eventually(t, "it goes on after that", func() bool { echo(); return s.State().Record.On })
	stop(t, s)
	x := s.State().Record
	if len(x.Files) != 2 || x.Files[1].Name != "3" || len(d.files) != 3 {
		t.Fatalf("%+v, %d files", x, len(d.files))
	}
	packets := uint32(0)
	for i, f := range d.files {
		got := read(t, f.data)
		if f.shut != 1 || got.sum.Torn != nil {
			t.Errorf("file %d: closed %d times, %+v", i+1, f.shut, got.sum)
		}
		if packets += got.sum.Packets; f.gone {
			packets -= got.sum.Packets
		}
		if says := bytes.Contains(f.data, []byte("before this file are not recorded")); says != (i > 0) {
			t.Errorf("file %d says that packets are missing before it: %v", i+1, says)
		}
	}
	if int64(packets) != x.Packets || d.asked[0] {
		t.Errorf("%d packets in files, state %+v", packets, x)
	}
}
