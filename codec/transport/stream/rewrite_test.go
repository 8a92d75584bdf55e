package stream

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// game has messages that change compression, cipher and state: codes 1 to 4, and any others.
const game = `
frame length varint
code u8
compress zlib size varint off
bundle 9 at 3 frame length u16 be
%s
state first
  COMPRESS: compress from size
  KEY: cipher aes-cfb8 key secret iv secret
  RC4: cipher rc4 key secret
  NEXT when to = 7 -> second
state second
  frame length u16 le including itself
  NEXT when to = 8 -> first
  KEY to-server: cipher to-client xor key secret
  COMPRESS: compress to-client off
`

func gameLibrary(t testing.TB) *library {
	var all []*schema.Message
	for _, g := range []string{"first", "second"} {
		all = append(all, message("COMPRESS", g, 1, number("size", 16)), message("KEY", g, 2, blob("secret")),
			message("RC4", g, 3, blob("secret")), message("NEXT", g, 4, number("to", 8)))
	}
	return newLibrary(t, all...)
}

// randomMessage returns a message of the game.
func randomMessage(rng *rand.Rand) []byte {
	switch rng.IntN(12) {
	case 0:
		return []byte{1, byte(rng.IntN(100)), byte(-rng.IntN(2))}
	case 1:
		return append([]byte{2, 16}, random(rng, 16)...)
	case 2:
		return append([]byte{3, 5}, random(rng, 5)...)
	case 3:
		return []byte{4, byte(6 + rng.IntN(3))}
	case 4:
		b := append([]byte{9}, random(rng, 2)...)
		for range 1 + rng.IntN(4) {
			m := bytes.Repeat([]byte{byte(10 + rng.IntN(9))}, 1+rng.IntN(80))
			b = append(append(b, 0, byte(len(m))), m...)
		}
		return b
	}
	b := bytes.Repeat([]byte{byte(10 + rng.IntN(200))}, 1+rng.IntN(150))
	return append(b, random(rng, rng.IntN(20))...)
}

// inner returns the messages that an end receives for one that was sent to it.
func inner(m []byte) (out []string) {
	if m[0] != 9 {
		return []string{string(m)}
	}
	for at := 3; at < len(m); {
		n := int(m[at])<<8 | int(m[at+1])
		out = append(out, string(m[at+2:at+2+n]))
		at += 2 + n
	}
	return out
}

// seeds returns the number of random cases, fewer with -short.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestEndpoints(t *testing.T) {
	for _, cipher := range []string{"", "carrier websocket", "cipher chacha20 key given iv hex 000000000000000000000000"} {
		o := Options{Envelope: parse(t, fmt.Sprintf(game, cipher)), Definitions: gameLibrary(t), Key: bytes.Repeat([]byte{7}, 32)}
		for seed := range seeds(100) {
			rng := rand.New(rand.NewPCG(seed, 2))
			ends := [2]*Endpoint{NewEndpoint(o, schema.ToServer), NewEndpoint(o, schema.ToClient)}
			watch := New(o)
			var seen told
			ends[0].Start(at, &transport.Relay{Out: func(s transport.Segment) {
				watch.Feed(s, seen.emit)
				ends[1].Feed(s.Bytes, false, at, &transport.Relay{Out: func(s transport.Segment) {
					watch.Feed(s, seen.emit)
					ends[0].Feed(s.Bytes, false, at, &transport.Relay{})
				}})
			}})
			for range 60 {
				way := rng.IntN(2)
				m := randomMessage(rng)
				want := inner(m)
				var got told
				r := &transport.Relay{Emit: got.emit}
				err := ends[way].Send(transport.Outgoing{Bytes: m}, at, &transport.Relay{Out: func(s transport.Segment) {
					seen.messages = [2][]string{}
					for _, b := range s.Bytes {
						watch.Feed(transport.Segment{Dir: dirs[way], At: at, Bytes: []byte{b}, Start: true}, seen.emit)
						ends[1-way].Feed([]byte{b}, false, at, r)
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.messages[way], want) || !slices.Equal(seen.messages[way], want) {
					t.Fatalf("seed %d: sent %x, the other end received\n%s\nand the capture has\n%s", seed, m, got.String(), seen.String())
				}
			}
		}
	}
}

// TestRewriter lets two ends talk through a proxy that holds, drops, changes and injects messages at random: each end reads exactly what
// was sent to it, without a problem.
func TestRewriter(t *testing.T) {
	for _, cipher := range []string{"", "cipher xor key hex 0102030405", "carrier websocket\ncipher xor key hex 0102030405"} {
		o := Options{Envelope: parse(t, fmt.Sprintf(game, cipher)), Definitions: gameLibrary(t)}
		for seed := range seeds(150) {
			x := &relayed{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 3)), rw: NewRewriter(o), decided: map[uint64]note{}}
			x.ends = [2]*Endpoint{NewEndpoint(o, schema.ToServer), NewEndpoint(o, schema.ToClient)}
			x.r = &transport.Relay{Out: x.out, Emit: x.emit, Decide: x.decide, Goes: x.goes}
			x.ends[0].Start(at, &transport.Relay{Out: x.feed})
			for len(x.answers) > 0 {
				s := x.answers[0]
				x.answers = x.answers[1:]
				x.feed(s)
			}
			x.run()
			x.passed()
			for _, n := range x.decided { // it passed at once
				x.want[n.way] = append(x.want[n.way], n.bytes)
			}
			for way := range x.want {
				slices.Sort(x.want[way])
				slices.Sort(x.got[way])
				if !slices.Equal(x.want[way], x.got[way]) {
					t.Fatalf("seed %d: %v\n got %x\nwant %x\n%s", seed, dirs[way], x.got[way], x.want[way], x.log.String())
				}
			}
		}
	}
}

// relayed is a conversation through a rewriter.
type relayed struct {
	t         *testing.T
	seed      uint64
	rng       *rand.Rand
	rw        *Rewriter
	ends      [2]*Endpoint
	r         *transport.Relay
	want, got [2][]string
	decided   map[uint64]note
	held      []uint64
	last      *note               // a message that was emitted and not decided about
	answers   []transport.Segment // of the handshake
	injected  int                 // direction of the message being injected
	log       strings.Builder
}

type note struct {
	way   int
	bytes string
}

func wayOf(dir schema.Dir) int {
	if dir == schema.ToClient {
		return 1
	}
	return 0
}

func (x *relayed) out(s transport.Segment) {
	way := wayOf(s.Dir)
	answer := func(s transport.Segment) { s.Bytes = bytes.Clone(s.Bytes); x.answers = append(x.answers, s) }
	x.ends[1-way].Feed(bytes.Clone(s.Bytes), false, at, &transport.Relay{Out: answer, Emit: func(f *transport.Frame) {
		if f.In("handshake") || f.Note == headerNote {
			return
		}
		if f.Kind != transport.Message {
			x.t.Fatalf("seed %d: an end reads %v %q\n%s", x.seed, f.Kind, f.Note, x.log.String())
		}
		x.got[way] = append(x.got[way], string(f.Bytes))
	}})
}

// passed records a message about which there was no decision.
func (x *relayed) passed() {
	if x.last != nil {
		x.want[x.last.way] = append(x.want[x.last.way], x.last.bytes)
		x.last = nil
	}
}

func (x *relayed) emit(f *transport.Frame) {
	x.passed()
	fmt.Fprintf(&x.log, "%v %v %x %v %s\n", f.Kind, f.Dir, f.Bytes, f.Via, f.Note)
	if f.In("handshake") || f.Note == headerNote {
		return
	}
	if f.Kind != transport.Message {
		x.t.Fatalf("seed %d: %s\n%s", x.seed, f.Note, x.log.String())
	}
	x.last = &note{wayOf(f.Dir), string(f.Bytes)}
}

func (x *relayed) decide(id uint64, f *transport.Frame) (d transport.Decision) {
	x.decided[id], x.last = *x.last, nil
	switch x.rng.IntN(9) {
	case 0:
		d.Action = transport.Hold
		x.held = append(x.held, id)
	case 1:
		d.Action = transport.Drop
	case 2:
		d.Action, d.With.Bytes = transport.Replace, bytes.Repeat([]byte{byte(20 + x.rng.IntN(9))}, 1+x.rng.IntN(100))
	}
	fmt.Fprintf(&x.log, "  %d: %v\n", id, d)
	return d
}

func (x *relayed) goes(id uint64, m []byte) {
	n, is := x.decided[id]
	if !is {
		n.way = x.injected
	}
	delete(x.decided, id)
	if m != nil {
		x.want[n.way] = append(x.want[n.way], string(m))
	}
}

func (x *relayed) run() {
	on := false
	for range 80 {
		if !on && x.rng.IntN(6) == 0 {
			on = true
			x.rw.Operate(true, at, x.r)
		}
		way := x.rng.IntN(2)
		switch n := x.rng.IntN(10); {
		case n == 0 && on:
			x.inject(way)
		case n < 3 && len(x.held) > 0:
			i := x.rng.IntN(len(x.held))
			id := x.held[i]
			x.held = slices.Delete(x.held, i, i+1)
			d := transport.Decision{}
			if x.rng.IntN(2) == 0 {
				d.Action, d.With.Bytes = transport.Replace, bytes.Repeat([]byte{byte(40 + x.rng.IntN(9))}, 1+x.rng.IntN(50))
			}
			fmt.Fprintf(&x.log, "release %d %v\n", id, d)
			if err := x.rw.Release(id, d, at, x.r); err != nil {
				x.t.Fatal(err)
			}
		default:
			m := randomMessage(x.rng)
			fmt.Fprintf(&x.log, "%v sends %x\n", dirs[way], m)
			err := x.ends[way].Send(transport.Outgoing{Bytes: m}, at, &transport.Relay{Out: func(s transport.Segment) { x.feed(s) }})
			if err != nil {
				x.t.Fatal(err)
			}
		}
	}
	for _, id := range x.held {
		if err := x.rw.Release(id, transport.Decision{}, at, x.r); err != nil {
			x.t.Fatal(err)
		}
	}
}

func (x *relayed) inject(way int) {
	m := bytes.Repeat([]byte{byte(30 + x.rng.IntN(9))}, 1+x.rng.IntN(50))
	fmt.Fprintf(&x.log, "inject %v %x\n", dirs[way], m)
	x.injected = way
	if err := x.rw.Send(dirs[way], transport.Outgoing{Bytes: m}, at, x.r); errors.Is(err, transport.ErrNotOperating) {
		if m, why := x.rw.Mode(); m != transport.Wanted || !strings.Contains(why, "WebSocket") {
			x.t.Fatal(m, why)
		}
	} else if err != nil {
		x.t.Fatal(err)
	}
}

// feed passes a segment in pieces. Between them the rewriter may be turned on, and messages may be injected.
func (x *relayed) feed(s transport.Segment) {
	for data := s.Bytes; len(data) > 0; {
		n := 1 + x.rng.IntN(len(data))
		x.rw.Feed(transport.Segment{Dir: s.Dir, At: at, Bytes: bytes.Clone(data[:n]), Start: true}, x.r)
		if data = data[n:]; len(data) > 0 && x.rng.IntN(9) == 0 {
			x.rw.Operate(true, at, x.r)
			x.inject(wayOf(s.Dir))
		}
	}
}
