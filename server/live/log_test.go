package live_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

func frame(i int) *transport.Frame {
	f := &transport.Frame{
		Kind: transport.Message, Dir: schema.ToServer, At: time.Unix(0, int64(i)), HasKey: true, Key: schema.Key{Group: "game", Code: uint32(i)},
		Bytes: []byte(fmt.Sprintf("frame %d", i)),
	}
	if i%3 == 0 {
		f.Note, f.From, f.Resumed = "odd", []transport.Source{{Packet: uint32(i), Len: 7}}, true
	}
	return f
}

func check(t *testing.T, l *live.Log, i int, e live.Entry, data []byte) {
	t.Helper()
	want := frame(i)
	x := l.Extra(e)
	if e.At != int64(i) || e.Code != want.Key.Code || l.Group(e) != "game" || !bytes.Equal(data, want.Bytes) || x.Note != want.Note || len(x.From) != len(want.From) ||
		e.Flags&live.Resumed != 0 != want.Resumed {
		t.Fatalf("frame %d is %+v %q %+v", i, e, data, x)
	}
}

// Frames can be read while others are added, and do not change.
func TestReadWhileAdding(t *testing.T) {
	l := live.New(0)
	conn := l.Connection(live.Conn{Name: "a-b", Proto: "tcp"})
	const n = 60_000
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for seen := 0; seen < n; {
				l.Each(seen, l.Len(), func(i int, e live.Entry, data []byte) bool {
					check(t, l, i, e, data)
					seen = i + 1
					return true
				})
			}
		})
	}
	for i := range n {
		if err := l.Add(conn, frame(i)); err != nil {
			t.Fatal(err)
		}
	}
	readers.Wait()
	for _, i := range []int{0, 1, 16383, 16384, n - 1} {
		e := l.Entry(i)
		check(t, l, i, e, l.Data(e))
	}
	if c := l.Conns(); len(c) != 1 || c[0].Frames != n || l.Len() != n {
		t.Errorf("%+v, %d frames", c, l.Len())
	}
}

func TestFull(t *testing.T) {
	l := live.New(10_000)
	conn := l.Connection(live.Conn{})
	n := 0
	for ; n < 1000; n++ {
		if err := l.Add(conn, frame(n)); err != nil {
			if !errors.Is(err, live.ErrFull) {
				t.Fatal(err)
			}
			break
		}
	}
	if n < 50 || n == 1000 || l.Len() != n || l.Bytes() > 10_000 {
		t.Errorf("%d frames, %d bytes", n, l.Bytes())
	}
	check(t, l, n-1, l.Entry(n-1), l.Data(l.Entry(n-1)))
}

func BenchmarkAdd(b *testing.B) {
	l := live.New(1 << 40)
	conn := l.Connection(live.Conn{})
	f := frame(1)
	b.ReportAllocs()
	for range b.N {
		if err := l.Add(conn, f); err != nil {
			b.Fatal(err)
		}
	}
}

// full returns a frame with everything that a log keeps.
func full(i int) *transport.Frame {
	f := frame(i)
	f.Offset, f.Length = int64(i)*7, int64(i%5)-1
	for n := range i % 4 {
		f.From = append(f.From, transport.Source{Packet: uint32(i + n), Off: uint32(n), Len: uint32(i)})
	}
	if i%2 == 0 {
		f.Via = []string{"cluster:1", fmt.Sprint("reliable:", i)}
	}
	if i%5 == 0 {
		f.Name = fmt.Sprint("name ", i%70)
	}
	return f
}

func same(l *live.Log, i int, e live.Entry, data []byte) error {
	want, got := full(i), transport.Frame{}
	l.Frame(i, e, data, &got)
	x := l.Extra(e)
	if !slices.Equal(got.From, want.From) || !slices.Equal(l.AppendFrom(nil, e), want.From) || !slices.Equal(got.Via, want.Via) || got.Offset != want.Offset ||
		got.Length != want.Length || got.Note != want.Note || got.Name != want.Name || l.Name(e) != want.Name || !bytes.Equal(got.Bytes, want.Bytes) ||
		l.Via(e, fmt.Sprint("reliable:", i)) != (want.Via != nil) || l.Via(e, "stream") || x.Name != want.Name {
		return fmt.Errorf("frame %d is %+v, want %+v", i, got, want)
	}
	return nil
}

// A log keeps all properties of frames, in memory and on a disk, whatever the size of the frames.
func TestDisk(t *testing.T) {
	for _, name := range []string{"disk", "memory"} {
		t.Run(name, func(t *testing.T) {
			disk := live.NewDisk(t.TempDir(), 1<<30)
			l := live.New(0)
			if name == "disk" {
				l = live.NewOn(disk, 1<<30)
			}
			conn := l.Connection(live.Conn{})
			if name == "disk" { // exceeds what is kept in memory first
				if err := l.Add(conn, &transport.Frame{Bytes: make([]byte, 12<<20)}); err != nil {
					t.Fatal(err)
				}
				if err := l.Add(conn, &transport.Frame{Bytes: make([]byte, 8<<20)}); err != nil {
					t.Fatal(err)
				}
			}
			first := l.Len()
			for i := range 60_000 {
				if err := l.Add(conn, full(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Add(conn, &transport.Frame{Bytes: bytes.Repeat([]byte("large"), 1<<20)}); err != nil {
				t.Fatal(err)
			}
			l.Each(first, l.Len()-1, func(i int, e live.Entry, data []byte) bool {
				if err := same(l, i-first, e, data); err != nil {
					t.Fatal(err)
				}
				return true
			})
			if _, data, ok := l.Get(l.Len() - 1); !ok || len(data) != 5<<20 || data[5<<20-1] != 'e' {
				t.Errorf("%d bytes, %t", len(data), ok)
			}
			if onDisk := disk.Used() > 0; onDisk != (name == "disk") || onDisk && l.Bytes() > 20<<20 {
				t.Errorf("%d bytes on disk, %d in memory", disk.Used(), l.Bytes())
			}
		})
	}
}

// A log whose disk has no room continues in memory up to its limit. Then it is full, with the reason, and its frames stay readable.
func TestDiskFull(t *testing.T) {
	disk := live.NewDisk(t.TempDir(), 4<<20)
	l := live.NewOn(disk, 80<<20)
	conn := l.Connection(live.Conn{})
	var err error
	big := &transport.Frame{Bytes: make([]byte, 1<<20)}
	for range 100 {
		if err = l.Add(conn, big); err != nil {
			break
		}
	}
	if !errors.Is(err, live.ErrFull) || !strings.Contains(err.Error(), "4 MiB of disk") || l.Len() < 75 || disk.Used() == 0 {
		t.Fatalf("%d frames, %v, %d bytes on disk", l.Len(), err, disk.Used())
	}
	if e, data, ok := l.Get(l.Len() - 1); !ok || len(data) != 1<<20 || e.Len != 1<<20 {
		t.Error("the last frame is gone")
	}
	gone := live.NewOn(live.NewDisk(t.TempDir()+"/gone", 1<<30), 80<<20)
	conn = gone.Connection(live.Conn{})
	for range 100 {
		if err = gone.Add(conn, big); err != nil {
			break
		}
	}
	if !errors.Is(err, live.ErrFull) || gone.Len() < 75 { // it goes on in memory
		t.Fatalf("%d frames, %v", gone.Len(), err)
	}
}

// A log that has filled its disk continues in memory, and readers take out of memory only what is on the disk.
func TestDiskEnds(t *testing.T) {
	disk := live.NewDisk(t.TempDir(), 8<<20)
	l := live.NewOn(disk, 1<<30)
	conn := l.Connection(live.Conn{})
	if err := l.Add(conn, &transport.Frame{Bytes: make([]byte, 15<<20)}); err != nil {
		t.Fatal(err)
	}
	var all []int
	for i := range 200_000 {
		if err := l.Add(conn, full(i)); err != nil {
			t.Fatal(err)
		}
		all = append(all, i+1)
	}
	if disk.Used() < 6<<20 || l.Bytes() < 25<<20 {
		t.Fatalf("%d bytes on disk, %d in memory", disk.Used(), l.Bytes())
	}
	for range 2 {
		seen := 0
		l.Each(1, l.Len(), func(i int, e live.Entry, data []byte) bool {
			if err := same(l, i-1, e, data); err != nil {
				t.Fatal(err)
			}
			seen++
			return true
		})
		l.EachOf(all, func(i int, e live.Entry, block []byte) bool {
			_, off := e.Place()
			if err := same(l, i-1, e, block[off:off+e.Len]); err != nil {
				t.Fatal(err)
			}
			seen++
			return true
		})
		if seen != 2*len(all) {
			t.Fatalf("%d frames", seen)
		}
	}
}

// Frames stay as they are while their blocks move to the disk, also in slices that readers hold.
func TestDiskWhileRead(t *testing.T) {
	l := live.NewOn(live.NewDisk(t.TempDir(), 1<<30), 1<<30)
	conn := l.Connection(live.Conn{})
	const n = 60_000
	added := make(chan error, 1)
	go func() {
		for i := range n {
			f := full(i)
			f.Bytes = append(f.Bytes, bytes.Repeat([]byte{byte(i)}, 400)...)
			if err := l.Add(conn, f); err != nil {
				added <- err
				return
			}
		}
		added <- nil
	}()
	var kept [][]byte
	is := func(i int, data []byte) {
		want := full(i).Bytes
		if !bytes.HasPrefix(data, want) || len(data) != len(want)+400 || data[len(data)-1] != byte(i) {
			t.Fatalf("frame %d is % x", i, data)
		}
	}
	for whole := false; !whole; {
		whole = l.Len() == n
		l.Each(0, n, func(i int, _ live.Entry, data []byte) bool {
			if is(i, data); i == len(kept) {
				kept = append(kept, data)
			}
			return true
		})
		for i, data := range kept {
			is(i, data)
		}
	}
	if err := <-added; err != nil {
		t.Fatal(err)
	}
}
