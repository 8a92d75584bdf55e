package proxy

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/defs/schema"
)

// For any sequence of operations, each item is taken or counted as lost before the next one of its direction; the order is kept; and the
// queue is bounded.
func TestQueueLosesNothingUnsaid(t *testing.T) {
	seeds := uint64(50)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		q := newQueue(20+rng.IntN(50), 2*largeBuffer+rng.IntN(4)*chunkSize)
		conns := []*conn{{}, {}, {}}
		var put, got [3][2]int64 // position in the stream
		takeAll := func(b batch) batch {
			b, _ = q.take(b)
			for _, it := range b.items {
				if it.what == opened {
					continue
				}
				k := 0
				for conns[k] != it.conn {
					k++
				}
				for i, n := range it.lost {
					got[k][i] += n
				}
				if it.what == carried {
					way := it.dir - schema.ToServer
					if want := byte(got[k][way]); it.bytes[0] != want || !bytes.Equal(it.bytes, bytes.Repeat(it.bytes[:1], len(it.bytes))) {
						t.Fatalf("seed %d: %d instead of %d", seed, it.bytes[0], want)
					}
					got[k][way] += int64(len(it.bytes))
				}
			}
			return b
		}
		for _, c := range conns {
			q.open(c)
		}
		var b batch
		for range 500 {
			if rng.IntN(12) == 0 {
				b = takeAll(b)
				continue
			}
			k, dir := rng.IntN(3), schema.ToServer+schema.Dir(rng.IntN(2))
			n := 1 + rng.IntN(2000)
			buf := &buffer{data: make([]byte, smallBuffer)}
			if rng.IntN(4) == 0 {
				buf, n = newLarge(), 1+rng.IntN(largeBuffer)
			} else {
				buf.refs.Store(1)
			}
			place := &put[k][dir-schema.ToServer]
			data := buf.data[:n]
			for i := range data {
				data[i] = byte(*place)
			}
			if !q.put(conns[k], dir, time.Now(), data, buf) {
				clear(data) // the caller may reuse it
			}
			buf.release()
			*place += int64(n)
			if q.memory > q.maxMemory || len(q.next.items) > q.maxItems {
				t.Fatalf("seed %d: %d bytes of %d, %d items of %d", seed, q.memory, q.maxMemory, len(q.next.items), q.maxItems)
			}
		}
		for _, c := range conns {
			q.end(c, closed, schema.Both, time.Now())
		}
		q.close()
		b = takeAll(b)
		if _, done := q.take(b); !done {
			t.Fatal("it does not end")
		}
		if put != got {
			t.Fatalf("seed %d: %v put, %v seen or lost", seed, put, got)
		}
		if q.memory != 0 {
			t.Fatalf("seed %d: %d bytes are left", seed, q.memory)
		}
	}
}

// No item of a connection comes after its end, when the observer has forgotten it.
func TestQueueAfterTheEnd(t *testing.T) {
	q := newQueue(100, 1<<20)
	c, now := &conn{}, time.Now()
	q.open(c)
	q.end(c, ended, schema.ToServer, now)
	q.put(c, schema.ToClient, now, []byte("x"), nil)
	q.end(c, closed, schema.Both, now)
	q.put(c, schema.ToServer, now, []byte("late"), nil)
	q.sent(c, schema.ToServer, now, []byte("late"), 0)
	q.end(c, ended, schema.ToClient, now)
	if q.frame(c, &sighting{}) {
		t.Error("a frame after the end has room")
	}
	got, _ := q.take(batch{})
	var whats []what
	for _, it := range got.items {
		whats = append(whats, it.what)
	}
	if !slices.Equal(whats, []what{opened, ended, carried, closed}) {
		t.Errorf("%v", whats)
	}
}

// A connection without room in the queue at its start is not observed at all, and is counted.
func TestQueueUnseen(t *testing.T) {
	q := newQueue(1, 1<<20)
	a, b := &conn{}, &conn{}
	q.open(a)
	q.open(b)
	q.put(b, schema.ToServer, time.Now(), []byte("x"), nil)
	q.end(b, closed, schema.Both, time.Now())
	q.end(a, closed, schema.Both, time.Now())
	got, _ := q.take(batch{})
	if _, unseen := q.losses(); len(got.items) != 2 || got.items[0].conn != a || got.items[1].conn != a || unseen != 1 {
		t.Errorf("%+v", got.items)
	}
}
