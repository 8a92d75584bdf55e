package live_test

import (
	"bytes"
	"errors"
	"fmt"
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
