package subspace_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// TestCorporaRewriteOfCaptures passes the sessions of real captures through a rewriter without decisions: an observer after it sees the same
// messages as one before it.
func TestCorporaRewriteOfCaptures(t *testing.T) { corpora.Run(t, testRewriteOfCaptures) }

func testRewriteOfCaptures(t *testing.T, c *corpora.Corpus) {
	seen := 0
	for _, name := range c.Glob(t, "subspace/*.pcap") {
		name = strings.TrimSuffix(path.Base(name), ".pcap")
		if strings.Contains(name, "malformed") || strings.Contains(name, "midstream") {
			continue
		}
		names, of := sessions(t, c, name)
		for _, n := range names {
			before := play(subspace.Options{}, of[n])
			rw := subspace.NewRewriter(subspace.Options{})
			var out []transport.Segment
			r := &transport.Relay{Out: func(s transport.Segment) {
				if len(s.Bytes) > 512 {
					t.Errorf("%s: a datagram of %d bytes", name, len(s.Bytes))
				}
				s.Bytes = slices.Clone(s.Bytes)
				s.Packet = uint32(len(out) + 1)
				out = append(out, s)
			}}
			rw.Operate(true, time.Time{}, r)
			acks := newAcknowledger()
			for _, s := range of[n] {
				acks.learn(s.Bytes)
				for due := rw.Due(); !due.IsZero() && due.Before(s.At); due = rw.Due() {
					rw.Tick(due, r)
				}
				rw.Feed(s, r)
				// The captured ends do not react to the rewriter: its packets are acknowledged for them.
				for acks.seen < len(out) {
					for _, a := range acks.of(out[acks.seen]) {
						a.At = s.At
						rw.Feed(a, r)
					}
				}
			}
			if m, _ := rw.Mode(); m != transport.Operating {
				continue
			}
			for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
				// Acknowledgements belong to the other leg: only the handshake is common to both.
				after := play(subspace.Options{}, slices.DeleteFunc(slices.Clone(out), func(s transport.Segment) bool {
					return s.Dir != dir && (len(s.Bytes) < 2 || s.Bytes[0] != 0 || s.Bytes[1] > 2)
				}))
				var rows [2][]string
				var loose [2]map[string]int
				for i, frames := range [][]frame{before, after} {
					loose[i] = map[string]int{}
					for _, f := range frames {
						switch {
						case f.Kind != transport.Message || f.Dir != dir:
						case slices.ContainsFunc(f.Via, isReliable) || slices.Contains(f.Via, "chunk") || slices.Contains(f.Via, "stream"):
							rows[i] = append(rows[i], string(f.Bytes))
						default:
							loose[i][string(f.Bytes)]++
						}
					}
				}
				seen += len(rows[0]) + len(loose[0])
				sameTexts(t, fmt.Sprint(name, " ", n, " ", dir), rows[1], rows[0])
				for m, k := range loose[0] {
					if loose[1][m] != k {
						t.Errorf("%s %s: %x comes %d times instead of %d", name, n, m, loose[1][m], k)
					}
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("%d messages are compared", seen)
	}
}

// acknowledger acknowledges the numbered packets of datagrams.
type acknowledger struct {
	client []byte // first datagram of the client
	cipher *subspace.Cipher
	seen   int
}

func newAcknowledger() *acknowledger { return new(acknowledger) }

// learn determines the key of a session.
func (a *acknowledger) learn(data []byte) {
	if len(data) == 8 && data[0] == 0 && data[1] == 1 {
		a.client = slices.Clone(data)
	}
	if len(data) == 6 && data[0] == 0 && data[1] == 2 {
		a.cipher = nil
		if key := binary.LittleEndian.Uint32(data[2:]); key != 0 && !slices.Equal(data[2:6], a.client[2:6]) {
			a.cipher = subspace.NewCipher(key, subspace.Signed)
		}
	}
}

// of returns the acknowledgements of a datagram, in the opposite direction.
func (a *acknowledger) of(s transport.Segment) (all []transport.Segment) {
	a.seen++
	if len(s.Bytes) < 2 || s.Bytes[0] != 0 || s.Bytes[1] < 3 {
		return nil
	}
	data := slices.Clone(s.Bytes)
	if a.cipher != nil {
		a.cipher.Decrypt(data, data)
	}
	var walk func(data []byte)
	walk = func(data []byte) {
		switch {
		case len(data) > 6 && data[0] == 0 && data[1] == 3:
			ack := append([]byte{0, 4}, data[2:6]...)
			if a.cipher != nil {
				a.cipher.Encrypt(ack, ack)
			}
			back := schema.ToServer
			if s.Dir == schema.ToServer {
				back = schema.ToClient
			}
			all = append(all, transport.Segment{Dir: back, Bytes: ack})
		case len(data) > 3 && data[0] == 0 && data[1] == 14:
			for at := 2; at < len(data) && data[at] > 0 && at+1+int(data[at]) <= len(data); at += 1 + int(data[at]) {
				walk(data[at+1 : at+1+int(data[at])])
			}
		}
	}
	walk(data)
	return all
}

// TestRewriteIsBounded attacks a rewriter in a session, holds everything, and checks its memory.
func TestRewriteIsBounded(t *testing.T) {
	attacks := map[string]func(i int, room []byte) []byte{
		"reliable": func(i int, room []byte) []byte { return append(numbered(room, uint32(i)), make([]byte, 480)...) },
		"far ahead": func(i int, room []byte) []byte {
			return append(numbered(room, uint32(1+i%5000)), make([]byte, 480)...)
		},
		"unreliable": func(_ int, room []byte) []byte { return append(room, slices.Repeat([]byte{7}, 500)...) },
		"large":      func(i int, room []byte) []byte { return append(numbered(room, uint32(i+1)), make([]byte, 60000)...) },
		"chunks": func(i int, room []byte) []byte {
			return append(numbered(room, uint32(i)), append([]byte{0, 8}, make([]byte, 480)...)...)
		},
		"acks": func(i int, room []byte) []byte {
			return binary.LittleEndian.AppendUint32(append(room, 0, 4), uint32(i))
		},
		"tiny": func(i int, room []byte) []byte {
			return append(append(numbered(room, uint32(i)), 0, 14), slices.Repeat([]byte{1, 7}, 240)...)
		},
		"inits": func(i int, room []byte) []byte { return append(room, 0, 1, byte(i), byte(i>>8), 0, 0, 1, 0) },
		"byes":  func(i int, room []byte) []byte { return append(room, 0, 7) },
	}
	for name, attack := range attacks {
		for _, hold := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", hold), func(t *testing.T) {
				at := time.Unix(1000, 0)
				rw := subspace.NewRewriter(subspace.Options{})
				sent := 0
				r := &transport.Relay{
					Out: func(s transport.Segment) { sent += len(s.Bytes) },
					Decide: func(uint64, *transport.Frame) (d transport.Decision) {
						if hold {
							d.Action = transport.Hold
						}
						return d
					},
				}
				feed := func(dir schema.Dir, data []byte) {
					rw.Feed(transport.Segment{Dir: dir, At: at, Bytes: data}, r)
				}
				feed(schema.ToServer, []byte{0, 1, 1, 0, 0, 0, 1, 0})
				feed(schema.ToClient, []byte{0, 2, 1, 0, 0, 0})
				rw.Operate(true, at, r)
				came := 0
				room := make([]byte, 0, 70000)
				before := heap()
				for i := range 30000 {
					at = at.Add(time.Millisecond)
					data := attack(i, room)
					came += len(data)
					feed(schema.ToServer, data)
					if i%100 == 0 {
						rw.Tick(at, r)
					}
				}
				if kept := heap() - before; kept > 24<<20 {
					t.Errorf("%d bytes are kept", kept)
				}
				if sent > 12*came+1<<20 {
					t.Errorf("%d bytes came and %d were sent", came, sent)
				}
				if n := rw.Waiting(schema.ToServer); n > 8<<20 {
					t.Errorf("%d bytes wait", n)
				}
			})
		}
	}
}

// FuzzRewriter feeds arbitrary datagrams and decisions; the rewriter must not panic.
func FuzzRewriter(f *testing.F) {
	f.Add([]byte("\x0a\x00\x03\x00\x00\x00\x00\x07A\x08\x09\x00\x04\x00\x00\x00\x00"), uint64(1))
	f.Add([]byte("\x10\x00\x0e\x08\x00\x03\x01\x00\x00\x00\x07A\x02\x07A\x08\x09\x00\x0a\x05\x00\x00\x00\x07A"), uint64(6))
	f.Add([]byte("\x0a\x00\x03\x00\x00\x00\x00\x00\x08A\x0a\x00\x03\x01\x00\x00\x00\x00\x09A\x02\x00\x07"), uint64(3))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rw := subspace.NewRewriter(subspace.Options{})
		var ids []uint64
		all := data
		r := &transport.Relay{
			Emit: func(f *transport.Frame) { _ = f.Kind.String() },
			Out:  func(transport.Segment) {},
			Decide: func(id uint64, f *transport.Frame) transport.Decision {
				if len(f.Bytes) == 0 {
					t.Error("a message without a byte")
				}
				ids = append(ids, id)
				return transport.Decision{Action: transport.Action(rng.IntN(4)), With: transport.Outgoing{Bytes: all, Raw: rng.IntN(4) == 0}}
			},
		}
		follow(t, r)
		at := time.Unix(1000, 0)
		feed := func(dir schema.Dir, data []byte) {
			rw.Feed(transport.Segment{Dir: dir, At: at, Bytes: slices.Clone(data), Lost: int64(max(0, rng.IntN(200)-198))}, r)
		}
		if seed%3 > 0 {
			feed(schema.ToServer, []byte{0, 1, 1, 0, 0, 0, 1, 0})
			feed(schema.ToClient, []byte{0, 2, 1, 0, 0, 0})
		}
		if seed%2 > 0 {
			rw.Operate(true, at, r)
		}
		for len(data) > 0 {
			n := min(len(data)-1, int(data[0]))
			dir := []schema.Dir{schema.ToServer, schema.ToClient}[rng.IntN(2)]
			feed(dir, data[1:1+n])
			data = data[1+n:]
			at = at.Add(time.Duration(rng.IntN(900)) * time.Millisecond)
			switch rng.IntN(6) {
			case 0:
				rw.Operate(rng.IntN(4) > 0, at, r)
			case 1:
				_ = rw.Send(dir, transport.Outgoing{Bytes: data, Raw: rng.IntN(4) == 0, Unreliable: rng.IntN(2) == 0}, at, r)
			case 2:
				if len(ids) > 0 {
					d := transport.Decision{Action: transport.Action(rng.IntN(4)), With: transport.Outgoing{Bytes: data}}
					_ = rw.Release(ids[rng.IntN(len(ids))], d, at, r)
				}
			case 3:
				rw.Tick(at, r)
			case 4:
				if rng.IntN(4) == 0 {
					rw.Flush(at, r)
				}
			}
		}
		for range 40 {
			at = at.Add(3 * time.Second)
			rw.Tick(at, r)
		}
		for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
			if rw.Waiting(dir) < 0 {
				t.Error("less than nothing waits")
			}
		}
	})
}

// BenchmarkRewriter passes a reliable message and its acknowledgement.
func BenchmarkRewriter(b *testing.B) {
	at := time.Unix(1000, 0)
	rw := subspace.NewRewriter(subspace.Options{})
	out := 0
	r := &transport.Relay{Out: func(s transport.Segment) { out++ }}
	feed := func(dir schema.Dir, data []byte) { rw.Feed(transport.Segment{Dir: dir, At: at, Bytes: data}, r) }
	feed(schema.ToServer, []byte{0, 1, 1, 0, 0, 0, 1, 0})
	feed(schema.ToClient, []byte{0, 2, 1, 0, 0, 0})
	rw.Operate(true, at, r)
	room := make([]byte, 0, 512)
	b.ReportAllocs()
	n := uint32(0)
	for b.Loop() {
		feed(schema.ToServer, append(numbered(room, n), 7, 0, 0, 1, 0, 'a', 'b', 0))
		feed(schema.ToClient, binary.LittleEndian.AppendUint32(append(room, 0, 4), n))
		n++
	}
	if out != 2+2*int(n) {
		b.Fatalf("%d datagrams for %d messages", out, n)
	}
}
