package subspace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// told follows the notifications of a rewriter, like a proxy that lists reliable messages in the order of sending.
type told struct {
	t     testing.TB
	rows  [2][]string
	stand map[uint64]toldRow
	last  *toldRow // last one emitted
	own   *toldRow // the one being sent by Send
	never int
}

type toldRow struct {
	way    int
	text   string
	listed bool
}

func follow(t testing.TB, r *transport.Relay) *told {
	o := &told{t: t, stand: map[uint64]toldRow{}}
	inner := r.Emit
	r.Emit = func(f *transport.Frame) {
		if inner != nil {
			inner(f)
		}
		o.last = &toldRow{wayOf(f.Dir), string(f.Bytes), f.Kind == transport.Message && isReliableFrame(f)}
		o.list(*o.last)
	}
	r.Waits = func(id uint64) {
		x := o.own
		if o.own = nil; x == nil {
			if x = o.last; x == nil {
				t.Errorf("%d waits, and nothing came", id)
				return
			}
			if x.listed {
				o.rows[x.way] = o.rows[x.way][:len(o.rows[x.way])-1]
			}
		}
		if _, ok := o.stand[id]; ok {
			t.Errorf("%d waits twice", id)
		}
		o.stand[id] = *x
	}
	r.Goes = func(id uint64, message []byte) {
		x, ok := o.stand[id]
		delete(o.stand, id)
		if !ok && o.own != nil {
			x, ok = *o.own, true
			if o.own = nil; string(message) != x.text {
				t.Errorf("%q is sent as %q", x.text, message)
			}
		}
		if ok {
			o.list(x)
		}
	}
	r.Never = func(id uint64) {
		if _, ok := o.stand[id]; !ok {
			t.Errorf("%d never goes, and did not wait", id)
		}
		delete(o.stand, id)
		o.never++
	}
	return o
}

func (o *told) list(x toldRow) {
	if x.listed {
		o.rows[x.way] = append(o.rows[x.way], x.text)
	}
}

// Messages in a queue whose session restarts are reported by Never, exactly once each.
func TestRewriteTellsWhatNeverGoes(t *testing.T) {
	rw := subspace.NewRewriter(subspace.Options{})
	out := 0
	r := transport.Relay{
		Out: func(transport.Segment) { out++ },
		Decide: func(_ uint64, f *transport.Frame) (d transport.Decision) {
			if f.Bytes[0] == 5 {
				d.Action = transport.Hold
			}
			return d
		},
	}
	o := follow(t, &r)
	feed := func(dir schema.Dir, data string) {
		rw.Feed(transport.Segment{Dir: dir, Bytes: []byte(data)}, &r)
	}
	shake := func() {
		feed(schema.ToServer, "\x00\x01\x00\x00\x00\x00\x01\x00")
		feed(schema.ToClient, "\x00\x02\x00\x00\x00\x00")
	}
	rw.Operate(true, time.Time{}, &r)
	shake()
	for i, text := range []string{"\x04a", "\x05b", "\x04c", "\x05d", "\x04e"} {
		feed(schema.ToServer, "\x00\x03"+string(rune(i))+"\x00\x00\x00"+text)
	}
	if got := fmt.Sprintf("%q", o.rows[0]); got != `["\x04a"]` || len(o.stand) != 4 {
		t.Errorf("%s are listed, %d stand", got, len(o.stand))
	}
	shake()
	if o.never != 4 || len(o.stand) != 0 {
		t.Errorf("%d go never, %d stand", o.never, len(o.stand))
	}
}

// Messages wait while one before them is held, and no longer.
func TestRewriteWaitsOnlyBehindAHeldMessage(t *testing.T) {
	rw := subspace.NewRewriter(subspace.Options{})
	var waits, goes []uint64
	r := transport.Relay{
		Decide: func(_ uint64, f *transport.Frame) (d transport.Decision) {
			if f.Bytes[0] == 5 {
				d.Action = transport.Hold
			}
			return d
		},
		Waits: func(id uint64) { waits = append(waits, id) },
		Goes:  func(id uint64, _ []byte) { goes = append(goes, id) },
	}
	feed := func(dir schema.Dir, data string) {
		rw.Feed(transport.Segment{Dir: dir, Bytes: []byte(data)}, &r)
	}
	rw.Operate(true, time.Time{}, &r)
	feed(schema.ToServer, "\x00\x01\x00\x00\x00\x00\x01\x00")
	feed(schema.ToClient, "\x00\x02\x00\x00\x00\x00")
	feed(schema.ToServer, "\x00\x03\x00\x00\x00\x00\x00\x0e\x02\x05a\x02\x04b") // one behind it in its cluster
	feed(schema.ToServer, "\x00\x03\x01\x00\x00\x00\x04c")
	feed(schema.ToServer, "\x04d") // not reliable: it overtakes
	if err := rw.Release(1, transport.Decision{}, time.Time{}, &r); err != nil {
		t.Fatal(err)
	}
	feed(schema.ToServer, "\x00\x03\x02\x00\x00\x00\x04e")
	if got := fmt.Sprint(waits, goes); got != "[1 2 3] [1 2 3]" {
		t.Errorf("these wait, and these go: %s", got)
	}
	if err := rw.Release(1, transport.Decision{}, time.Time{}, &r); err != transport.ErrNotHeld {
		t.Errorf("released twice: %v", err)
	}
	// Another session begins: the held ones, reliable or not, and what is behind them.
	var never []uint64
	r.Never = func(id uint64) { never = append(never, id) }
	feed(schema.ToServer, "\x00\x03\x03\x00\x00\x00\x05f")
	feed(schema.ToServer, "\x00\x03\x04\x00\x00\x00\x00\x0e\x02\x04g\x02\x04h")
	feed(schema.ToServer, "\x05i")
	feed(schema.ToServer, "\x00\x07")
	feed(schema.ToServer, "\x00\x01\x01\x00\x00\x00\x01\x00")
	if slices.Sort(never); fmt.Sprint(never) != "[6 7 8 9]" {
		t.Errorf("these never go: %v", never)
	}
}

// A message that is longer than servers read passes as it is, unless it is replaced.
func TestRewritePassesALongDatagram(t *testing.T) {
	rw := subspace.NewRewriter(subspace.Options{})
	var went []string
	r := transport.Relay{Out: func(s transport.Segment) { went = append(went, string(s.Bytes)) }}
	rw.Operate(true, time.Time{}, &r)
	feed := func(dir schema.Dir, data string) {
		went = nil
		rw.Feed(transport.Segment{Dir: dir, Bytes: []byte(data)}, &r)
	}
	feed(schema.ToServer, "\x00\x01\x00\x00\x00\x00\x01\x00")
	feed(schema.ToClient, "\x00\x02\x00\x00\x00\x00")
	long := strings.Repeat("\x07", 600)
	if feed(schema.ToServer, long); len(went) != 1 || went[0] != long {
		t.Errorf("%d datagrams go: %.40q", len(went), went)
	}
	r.Decide = func(uint64, *transport.Frame) transport.Decision {
		return transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(long)}}
	}
	if feed(schema.ToServer, long); len(went) != 2 || !strings.HasPrefix(went[0], "\x00\x03\x00\x00\x00\x00\x00\x08\x07") {
		t.Errorf("replaced, %d datagrams go: %.40q", len(went), went)
	}
}
