package subspace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// ends are a client and a server on a bad line: datagrams are lost, duplicated and delayed.
type ends struct {
	rng  *rand.Rand
	at   time.Time
	end  [2]*Endpoint // client, server
	got  [2][]string  // messages received
	line []flying
	loss int // in percent
}

type flying struct {
	to   int
	at   time.Time
	data []byte
}

func newEnds(seed uint64, loss int, o EndpointOptions) *ends {
	e := &ends{rng: rand.New(rand.NewPCG(seed, 3)), at: time.Unix(1_700_000_000, 0), loss: loss}
	e.end[0], e.end[1] = NewEndpoint(o, schema.ToServer), NewEndpoint(o, schema.ToClient)
	for i := range e.end {
		e.end[i].Start(e.at, e.relay(i))
	}
	return e
}

func (e *ends) relay(i int) *transport.Relay {
	return &transport.Relay{
		Emit: func(f *transport.Frame) {
			if f.Kind == transport.Message {
				e.got[i] = append(e.got[i], string(f.Bytes))
			}
		},
		Out: func(s transport.Segment) {
			for range 1 + e.rng.IntN(10)/9 {
				if e.rng.IntN(100) >= e.loss {
					late := time.Duration(10+e.rng.IntN(40)) * time.Millisecond
					e.line = append(e.line, flying{1 - i, e.at.Add(late), bytes.Clone(s.Bytes)})
				}
			}
		},
	}
}

// run advances the time.
func (e *ends) run(d time.Duration) {
	for end := e.at.Add(d); e.at.Before(end); e.at = e.at.Add(5 * time.Millisecond) {
		slices.SortStableFunc(e.line, func(a, b flying) int { return a.at.Compare(b.at) })
		for len(e.line) > 0 && !e.line[0].at.After(e.at) {
			f := e.line[0]
			e.line = e.line[1:]
			e.end[f.to].Feed(f.data, false, e.at, e.relay(f.to))
		}
		for i, x := range e.end {
			if due := x.Due(); !due.IsZero() && !due.After(e.at) {
				x.Tick(e.at, e.relay(i))
			}
		}
	}
}

// Messages arrive in order and exactly once, whatever the line does; afterwards the ends are quiet.
func TestEndpoints(t *testing.T) {
	for seed := range uint64(20) {
		o := EndpointOptions{Key: 0xC0FFEE01, Encrypt: seed%2 == 0}
		e := newEnds(seed, int(seed%4)*10, o)
		e.run(10 * time.Second)
		for i := range e.end {
			if ok, _, why := e.end[i].Ready(); !ok {
				t.Fatalf("seed %d: end %d waits for %s", seed, i, why)
			}
		}
		var want [2][]string
		for n := range 60 {
			i := e.rng.IntN(2)
			m := fmt.Sprintf("\x09%d ", n)
			if n%13 == 0 {
				m += string(bytes.Repeat([]byte{'x'}, 100<<(n%5*2)))
			}
			if err := e.end[i].Send(transport.Outgoing{Bytes: []byte(m)}, e.at, e.relay(i)); err != nil {
				t.Fatal(err)
			}
			want[1-i] = append(want[1-i], m)
			if n%7 == 0 {
				e.run(100 * time.Millisecond)
			}
		}
		e.run(5 * time.Minute)
		for i := range e.end {
			if !slices.Equal(e.got[i], want[i]) {
				t.Fatalf("seed %d: end %d got %d messages, %d were sent", seed, i, len(e.got[i]), len(want[i]))
			}
			if n := e.end[i].Unsent(); n != 0 {
				t.Errorf("seed %d: end %d: %d bytes are unsent", seed, i, n)
			}
		}
		e.end[0].Close(e.at, e.relay(0))
		if err := e.end[0].Send(transport.Outgoing{Bytes: []byte{9}}, e.at, e.relay(0)); err == nil {
			t.Error("a closed end sends")
		}
		if e.loss = 0; seed%4 == 0 {
			e.run(time.Second)
			if _, never, _ := e.end[1].Ready(); !never {
				t.Errorf("seed %d: the server has not heard the goodbye", seed)
			}
		}
	}
}

// An init alone, whose source address may be forged, is answered with at most one small datagram.
func TestEndpointNoAmplification(t *testing.T) {
	out := 0
	r := &transport.Relay{Out: func(s transport.Segment) { out += len(s.Bytes) }}
	e := NewEndpoint(EndpointOptions{}, schema.ToClient)
	at := time.Unix(1_700_000_000, 0)
	e.Start(at, r)
	e.Feed([]byte{0, 1, 1, 2, 3, 0x84, 1, 0}, false, at, r)
	if err := e.Send(transport.Outgoing{Bytes: make([]byte, 500)}, at, r); err != transport.ErrNotReady {
		t.Errorf("send: %v", err)
	}
	e.Tick(at.Add(time.Minute), r)
	if out > 8 {
		t.Errorf("%d bytes for 8", out)
	}
}

// A server that does not answer is contacted a bounded number of times.
func TestEndpointUnanswered(t *testing.T) {
	n := 0
	r := &transport.Relay{Out: func(transport.Segment) { n++ }}
	e := NewEndpoint(EndpointOptions{Key: 0x80000001}, schema.ToServer)
	at := time.Unix(1_700_000_000, 0)
	e.Start(at, r)
	for range 1000 {
		at = at.Add(500 * time.Millisecond)
		e.Tick(at, r)
	}
	if _, never, _ := e.Ready(); !never || n != maxInits || !e.Due().IsZero() {
		t.Errorf("never %v, %d tries, due %v", never, n, e.Due())
	}
}

// No input causes a panic or many datagrams.
func FuzzEndpoint(f *testing.F) {
	f.Add([]byte{8, 0, 1, 1, 2, 3, 0x84, 1, 0, 2, 0, 7, 6, 0, 3, 0, 0, 0, 0}, true)
	f.Add([]byte{6, 0, 2, 1, 2, 3, 0x84, 14, 0, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 2, 0, 7}, false)
	f.Fuzz(func(t *testing.T, data []byte, server bool) {
		dir := schema.ToServer
		if server {
			dir = schema.ToClient
		}
		out, in := 0, 0
		r := &transport.Relay{Out: func(s transport.Segment) { out += len(s.Bytes) }}
		e := NewEndpoint(EndpointOptions{Key: 0x84030201, Encrypt: len(data)%2 == 0}, dir)
		at := time.Unix(1_700_000_000, 0)
		e.Start(at, r)
		for len(data) > 0 {
			n := min(int(data[0]), len(data)-1)
			e.Feed(data[1:1+n], false, at, r)
			in += n
			data = data[1+n:]
			_ = e.Send(transport.Outgoing{Bytes: []byte{9, 1}, Unreliable: n%2 == 0}, at, r)
			at = at.Add(time.Duration(n) * time.Millisecond)
			e.Tick(at, r)
		}
		e.Close(at, r)
		if e.Unsent() > 100*(in+100) {
			t.Errorf("%d bytes are unsent", e.Unsent())
		}
	})
}
