package live_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/live"
)

// A rolling log keeps its newest frames, with their numbers, within its limit.
func TestRolling(t *testing.T) {
	const limit = 2 << 20
	l := live.NewRolling(limit)
	conn := l.Connection(live.Conn{})
	var readers sync.WaitGroup
	const n = 60_000
	readers.Go(func() { // retained frames do not change while the oldest are discarded
		for seen := 0; seen < n; {
			l.Each(seen, l.Len(), func(i int, e live.Entry, data []byte) bool {
				if i < seen || e.At != int64(i) || string(data) != string(frame(i).Bytes) {
					t.Errorf("frame %d: %+v %q", i, e, data)
					return false
				}
				seen = i + 1
				return true
			})
		}
	})
	for i := range n {
		if err := l.Add(conn, frame(i)); err != nil {
			t.Fatal(err)
		}
		if l.Bytes() > limit {
			t.Fatalf("%d bytes after %d frames", l.Bytes(), i)
		}
	}
	readers.Wait()
	base := l.Base()
	if l.Len() != n || base < n/2 || base >= n-1000 || l.Conns()[0].Frames != n {
		t.Errorf("%d to %d", base, l.Len())
	}
	for i := base; i < n; i++ {
		e, data, ok := l.Get(i)
		if !ok {
			t.Fatalf("frame %d is gone", i)
		}
		check(t, l, i, e, data)
		if e != l.Entry(i) {
			t.Fatalf("frame %d is two", i)
		}
	}
	for _, i := range []int{0, base - 1, n, -1} {
		if _, _, ok := l.Get(i); ok {
			t.Errorf("frame %d is there", i)
		}
	}
	if e := l.Entry(0); e.Len != 0 || len(l.Data(e)) != 0 || l.Extra(e).Note != "" {
		t.Errorf("%+v", e)
	}
}

// Reading a discarded frame through its entry does not panic.
func TestLetGo(t *testing.T) {
	l := live.NewRolling(4 << 20)
	conn := l.Connection(live.Conn{})
	if err := l.Add(conn, frame(0)); err != nil {
		t.Fatal(err)
	}
	e := l.Entry(0)
	big := &transport.Frame{Bytes: make([]byte, 1<<20), Note: "x"}
	for range 20_000 {
		if err := l.Add(conn, frame(3)); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		if err := l.Add(conn, big); err != nil {
			t.Fatal(err)
		}
	}
	if l.Data(e) != nil || l.Extra(e).Note != "" || l.Base() < 20_000 || l.Bytes() > 4<<20 {
		t.Errorf("%q %+v, base %d, %d bytes", l.Data(e), l.Extra(e), l.Base(), l.Bytes())
	}
	big.Bytes = make([]byte, 5<<20)
	if err := l.Add(conn, big); !errors.Is(err, live.ErrFull) {
		t.Error(err)
	}
	big.Bytes = []byte(strings.Repeat("y", 3<<20))
	if err := l.AddFlagged(conn, big, live.Injected); err != nil {
		t.Fatal(err)
	}
	if e, data, ok := l.Get(l.Len() - 1); !ok || len(data) != 3<<20 || e.Flags != live.Injected|live.Noted {
		t.Errorf("%+v", e)
	}
}

// A reader gets every frame once, in batches with a minimum distance, and the end.
func TestFollow(t *testing.T) {
	l := live.New(0)
	conn := l.Connection(live.Conn{})
	add := func(n int) {
		for range n {
			if err := l.Add(conn, frame(l.Len())); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(10)
	ctx := t.Context()
	all, newest := l.Follow(0), l.Follow(-1)
	got := 0
	go func() {
		for range 5 {
			time.Sleep(20 * time.Millisecond)
			_ = l.Add(conn, frame(l.Len()))
		}
		l.Touch()
		time.Sleep(20 * time.Millisecond)
		l.Close()
	}()
	start := time.Now()
	batches, touched := 0, false
	for {
		b, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || b.From != got || b.Missed != 0 {
			t.Fatalf("%+v, %v, want from %d", b, err, got)
		}
		got = b.To
		touched = touched || b.Touched
		batches++
	}
	if most := 1 + int(time.Since(start)/live.BatchTime); got != 15 || batches > most || !touched {
		t.Errorf("%d frames in %d batches, %v", got, batches, touched)
	}
	if b, err := newest.Next(ctx); err != nil || b.From != 10 || b.To != 15 {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := newest.Next(ctx); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A reader that is too slow learns the exact number of missed frames, and does not affect others.
func TestSlowReaders(t *testing.T) {
	for _, l := range []*live.Log{live.New(0), live.NewRolling(2 << 20)} {
		conn := l.Connection(live.Conn{})
		slow := l.Follow(0)
		const n = 200_000
		for range n {
			if err := l.Add(conn, frame(1)); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		next, missed, got := 0, 0, 0
		for {
			b, err := slow.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || b.From != next+b.Missed || b.To < b.From {
				t.Fatalf("%+v, %v", b, err)
			}
			next, missed, got = b.To, missed+b.Missed, got+b.To-b.From
		}
		if next != n || missed == 0 || missed+got != n {
			t.Errorf("%d missed and %d read of %d", missed, got, n)
		}
	}
}

// Memory does not grow with the number of frames.
func TestMemoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million frames, with -short")
	}
	l := live.NewRolling(8 << 20)
	conn := l.Connection(live.Conn{})
	var m runtime.MemStats
	highest := uint64(0)
	for i := range 500_000 {
		if err := l.Add(conn, frame(3)); err != nil {
			t.Fatal(err)
		}
		if i%50_000 == 49_999 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapAlloc)
		}
	}
	if highest > 48<<20 {
		t.Errorf("%d bytes for a log of 8 MiB", highest)
	}
	runtime.KeepAlive(l)
}

func TestFollowEnds(t *testing.T) {
	l := live.New(0)
	ctx, cancel := context.WithCancel(t.Context())
	r := l.Follow(0)
	done := make(chan error, 1)
	go func() { _, err := r.Next(ctx); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkAddRolling(b *testing.B) {
	l := live.NewRolling(16 << 20)
	conn := l.Connection(live.Conn{})
	f := frame(3)
	b.ReportAllocs()
	for range b.N {
		if err := l.Add(conn, f); err != nil {
			b.Fatal(err)
		}
	}
	if l.Bytes() > 16<<20 {
		b.Fatalf("%d bytes", l.Bytes())
	}
}
