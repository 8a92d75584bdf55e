package captures

import (
	"math/rand/v2"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/store"
)

// The numbers of places in any log are what looking through all of it says, and are found in one pass also where very many frames begin at one
// place.
func TestNumbersOfPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		o := filledLog(func(add func(from ...transport.Source)) {
			for range r.IntN(40) {
				var from []transport.Source
				for range r.IntN(3) {
					from = append(from, transport.Source{Packet: 1 + r.Uint32N(4), Off: r.Uint32N(20), Len: r.Uint32N(9)})
				}
				add(from...)
			}
		})
		var places []store.Place
		var had []uint64
		for range r.IntN(12) {
			places, had = append(places, store.Place{Packet: 1 + r.Uint32N(4), Off: r.Uint32N(20), Nth: r.Uint32N(2)}), append(had, 1+r.Uint64N(40))
		}
		got := o.numbersOf(places, had)
		again := o.numbersOf(places, had)
		for i, p := range places {
			if want := slowNumber(o, p, had[i]); got[i] != want || again[i] != want {
				t.Fatalf("%+v, which was %d: %d, then %d, and should be %d", p, had[i], got[i], again[i], want)
			}
		}
	}
	begun := time.Now()
	o := filledLog(func(add func(from ...transport.Source)) {
		for range 200_000 {
			add(transport.Source{Packet: 1, Off: 0, Len: 1 << 16})
		}
	})
	places, had := make([]store.Place, 60_000), make([]uint64, 60_000)
	for i := range places {
		places[i], had[i] = store.Place{Packet: 1, Off: uint32(i)}, 7
	}
	o.numbersOf(places, had)
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// filledLog is a reading with frames from some places.
func filledLog(fill func(add func(from ...transport.Source))) *Capture {
	o := &Capture{log: live.New(0), done: make(chan struct{})}
	conn := o.log.Connection(live.Conn{})
	fill(func(from ...transport.Source) {
		_ = o.log.Add(conn, &transport.Frame{Offset: transport.Unknown, From: from})
	})
	o.filled.Store(true)
	return o
}

// slowNumber is numbersOf as it is said.
func slowNumber(o *Capture, p store.Place, had uint64) uint64 {
	if o.placeOf(had) == p {
		return had
	}
	begins, has, next := uint64(0), uint64(0), uint64(0)
	var least store.Place
	for n := uint64(1); n <= uint64(o.log.Len()); n++ {
		e := o.log.Entry(int(n - 1))
		start := o.start(e)
		here := o.placeOf(n)
		if here == p {
			return n
		}
		if start.Known() && start.Packet == p.Packet && start.Off == p.Off {
			begins = n
		}
		for _, x := range o.covers(e) {
			if has == 0 && x.Packet == p.Packet && x.Off <= p.Off && p.Off < x.Off+x.Len {
				has = n
			}
		}
		if start.Known() && start.Compare(p) > 0 && (next == 0 || start.Compare(least) < 0) {
			next, least = n, start
		}
	}
	for _, n := range []uint64{begins, has, next} {
		if n > 0 {
			return n
		}
	}
	return had
}
