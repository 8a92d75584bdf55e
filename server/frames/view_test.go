package frames

import (
	"context"
	"sync"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/store"
)

// A filtered list of endless traffic does not grow without bound, and its positions do not change.
func TestViewForgets(t *testing.T) {
	log := live.NewRolling(1 << 20)
	conn := log.Connection(live.Conn{Name: "a-b"})
	v := NewView(log, definitions(t, "tera", nil), ViewSpec{Filter: "dir == c2s"}, store.Notes{})
	const n = 400_000
	place := -1 // position of a frame near the end
	for log.Len() < n {
		for range 5000 {
			f := &transport.Frame{Dir: schema.ToServer, Bytes: []byte("0123456789")}
			if log.Len()%3 == 2 {
				f.Dir = schema.ToClient
			}
			if err := log.Add(conn, f); err != nil {
				t.Fatal(err)
			}
		}
		for !v.Advance(t.Context(), time.Second) {
			continue
		}
		if log.Len() == n-5000 {
			place = v.position(n - 5004)
		}
	}
	fit, scanned := v.State()
	if want := n - n/3; fit != want || scanned != n {
		t.Errorf("%d of %d fit, want %d", fit, scanned, want)
	}
	if len(v.fits) > 3*viewStep || v.gone == 0 {
		t.Errorf("%d are kept, %d are gone", len(v.fits), v.gone)
	}
	if i := v.index(place); i != n-5004 || v.position(i) != place {
		t.Errorf("frame %d is at %d", i, place)
	}
	if got := v.listed(v.gone-1, 2); len(got) != 2 || got[0] != -1 || got[1] != int(v.fits[0]) {
		t.Errorf("around the discarded frames: %v", got)
	}
	if got := v.Rows(0, 10); len(got) != 0 {
		t.Errorf("discarded frames: %v", got)
	}
	count, first := 0, -1
	if err := v.Each(t.Context(), 0, false, func(pos, i int, _ live.Entry, _ []byte) bool {
		if first < 0 {
			first = i
		}
		if v.index(pos) != i {
			t.Errorf("frame %d at %d", i, pos)
		}
		count++
		return true
	}); err != nil || first < log.Base() || count == 0 {
		t.Errorf("%d frames from %d on: %v", count, first, err)
	}
	back := 0
	_ = v.Each(t.Context(), fit-1, true, func(int, int, live.Entry, []byte) bool { back++; return true })
	if back != count {
		t.Errorf("%d frames backwards, %d forwards", back, count)
	}
}

// rolls is a context whose first question adds frames to a log, so that it discards those that are to be read next.
type rolls struct {
	context.Context
	once *sync.Once
	add  func()
}

func (r rolls) Err() error {
	r.once.Do(r.add)
	return r.Context.Err()
}

// The time since a frame that a rolling log discards meanwhile is unknown: it is not that since an earlier one.
func TestDeltaWhileRolling(t *testing.T) {
	log := live.NewRolling(8 << 20)
	conn := log.Connection(live.Conn{Name: "a-b"})
	add := func(n int) {
		for range n {
			if err := log.Add(conn, &transport.Frame{Dir: schema.ToServer, At: time.UnixMilli(1_800_000_000_000 + int64(log.Len())), Bytes: []byte("0123456789")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(150_000)
	v := NewView(log, definitions(t, "tera", nil), ViewSpec{Filter: "delta > 0.5"}, store.Notes{})
	base, n := log.Base(), log.Len()
	got := v.fitting(rolls{t.Context(), new(sync.Once), func() { add((n - base) / 2) }}, v.filters, base, n)
	if now := log.Base(); now < base+20_000 || now >= n {
		t.Fatalf("the log of %d to %d begins at %d", base, n, now)
	}
	if len(got) > 0 {
		t.Errorf("frames %v are after a gap", got)
	}
}
