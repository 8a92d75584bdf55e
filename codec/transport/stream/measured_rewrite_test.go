package stream_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/schema"
)

// pass feeds a stream to the rewriter in pieces and collects the output.
func pass(rng *rand.Rand, rw transport.Rewriter, r *transport.Relay, dir schema.Dir, data string, first bool) {
	for len(data) > 0 {
		n := min(len(data), 1+rng.IntN(8))
		rw.Feed(transport.Segment{Dir: dir, At: at, Bytes: []byte(data[:n]), Start: first}, r)
		data, first = data[n:], false
	}
}

func TestRewrite(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rw := stream.NewRewriter(stream.Measured(measure))
		var out [2]strings.Builder
		var notes []string
		var held uint64
		r := &transport.Relay{
			Out: func(s transport.Segment) {
				i := 0
				if s.Dir == schema.ToClient {
					i = 1
				}
				out[i].Write(s.Bytes)
				if s.End {
					out[i].WriteString("|")
				}
			},
			Emit: func(f *transport.Frame) {
				if f.Note != "" {
					notes = append(notes, f.Note)
				}
			},
			Decide: func(id uint64, f *transport.Frame) (d transport.Decision) {
				switch f.Bytes[0] {
				case 2:
					d.Action = transport.Drop
				case 3:
					d.Action, d.With.Bytes = transport.Replace, []byte("\x04\x06longer")
				case 4:
					d.Action, d.With.Bytes = transport.Replace, []byte("\x04\x06short")
				case 5:
					d.Action, held = transport.Hold, id
				}
				return d
			},
		}
		pass(rng, rw, r, schema.ToServer, "\x01\x01a\x03\x03xyz\x02", true)
		rw.Operate(true, at, r) // inside a message
		if err := rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte("\x09\x01z")}, at, r); err != nil {
			t.Fatal(err)
		}
		pass(rng, rw, r, schema.ToServer, "\x02bc\x02\x01d\x03\x01e\x04\x01f\x01\x01g", false)
		pass(rng, rw, r, schema.ToServer, "\x05\x01h\x01\x01i\xff\x00\x01", false)
		if err := rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte("\x09\x01y")}, at, r); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"", "\x09", "\x09\x02y", "\x09\x01yy", "\x19\x01y"} {
			if err := rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte(bad)}, at, r); err == nil {
				t.Errorf("%q is sent", bad)
			}
		}
		if err := rw.Send(schema.ToClient, transport.Outgoing{Bytes: []byte("any"), Raw: true}, at, r); err != nil {
			t.Fatal(err)
		}
		before := out[0].String()
		const sent = "\x01\x01a\x03\x03xyz\x02\x02bc" + "\x09\x01z" + "\x04\x06longer" + "\x04\x01f\x01\x01g" + "\x09\x01y"
		if before != sent {
			t.Fatalf("seed %d: while one is held\n%q, want\n%q", seed, before, sent)
		}
		rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, End: true}, r)
		if err := rw.Release(held, transport.Decision{}, at, r); err != nil {
			t.Fatal(err)
		}
		if got, want := out[0].String(), sent+"\x05\x01h\x01\x01i\xff\x00\x01|"; got != want {
			t.Fatalf("seed %d: after it\n%q, want\n%q", seed, got, want)
		}
		if got := out[1].String(); got != "any" {
			t.Fatalf("to the client: %q", got)
		}
		all := strings.Join(notes, "\n")
		for _, want := range []string{"the message was not replaced: the message has 7 bytes and needs at least 8", "id 255; 3 bytes not read; no message was found in them; forwarded unchanged"} {
			if !strings.Contains(all, want) {
				t.Errorf("nothing says %q in\n%s", want, all)
			}
		}
	}
}

// TestRewriteWhereNothingMeasures: unreadable bytes pass at once, and injected messages wait for a place where a message can start.
func TestRewriteWhereNothingMeasures(t *testing.T) {
	rw := stream.NewRewriter(stream.Measured(measure))
	out := ""
	r := &transport.Relay{
		Out: func(s transport.Segment) { out += string(s.Bytes) },
		Decide: func(_ uint64, f *transport.Frame) (d transport.Decision) {
			if f.Bytes[0] == 2 {
				d.Action = transport.Drop
			}
			return d
		},
	}
	rw.Operate(true, at, r)
	feed := func(data, want string) {
		t.Helper()
		out = ""
		rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte(data), Start: true}, r)
		if out != want {
			t.Fatalf("%q goes out as %q, want %q", data, out, want)
		}
	}
	feed("\x01\x00\xffzz", "\x01\x00\xffzz")
	if err := rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte("\x09\x00")}, at, r); err != nil {
		t.Fatal(err)
	}
	if n := rw.Waiting(schema.ToServer); n == 0 {
		t.Error("the own message does not wait")
	}
	feed("zzz", "zzz")
	feed("zz\x01\x00\x02\x00\x01\x01a\x01\x00\x02", "zz\x09\x00\x01\x00\x01\x01a\x01\x00")
	if n := rw.Waiting(schema.ToServer); n != 0 {
		t.Errorf("%d bytes wait", n)
	}
	feed("\x00\x03\x00", "\x03\x00")
	feed("\x04\x05ab", "")
	rw.Flush(at, r)
	if out != "\x04\x05ab" {
		t.Errorf("%q goes out at the end", out)
	}
	feed("more", "more")
}

func TestRewriteObserves(t *testing.T) {
	rw := stream.NewRewriter(stream.Measured(measure))
	out := ""
	r := &transport.Relay{Out: func(s transport.Segment) { out += string(s.Bytes) }}
	if err := rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte("\x01\x00")}, at, r); !errors.Is(err, transport.ErrNotOperating) {
		t.Errorf("Send: %v", err)
	}
	const data = "\x01\x01a\xff\xff\x03\x03x"
	rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte(data)}, r)
	if out != data {
		t.Errorf("%q passes as %q", data, out)
	}
}

func FuzzMeasuredRewriter(f *testing.F) {
	f.Add("\x01\x01a\x03\x03xyz\x02\x02bc\xff\x01\x00\x01\x00\x01\x00\x01\x00", uint64(1))
	f.Fuzz(func(t *testing.T, data string, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rw := stream.NewRewriter(stream.Measured(measure))
		out := ""
		var ids []uint64
		standing, gone := map[uint64]bool{}, map[uint64]bool{}
		change := seed%2 == 0
		r := &transport.Relay{
			Out: func(s transport.Segment) { out += string(s.Bytes) },
			Decide: func(id uint64, f *transport.Frame) (d transport.Decision) {
				if change {
					d.Action, d.With.Bytes = transport.Action(rng.IntN(4)), []byte(data)
					ids = append(ids, id)
				}
				return d
			},
		}
		r.Waits = func(id uint64) {
			if standing[id] || gone[id] {
				t.Fatalf("%d waits twice, or after it has gone", id)
			}
			standing[id] = true
		}
		r.Goes = func(id uint64, _ []byte) {
			if gone[id] {
				t.Fatalf("%d goes twice", id)
			}
			delete(standing, id)
			gone[id] = true
		}
		rest := data
		for len(rest) > 0 {
			n := min(len(rest), 1+rng.IntN(20))
			rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte(rest[:n]), Start: rng.IntN(9) > 0}, r)
			rest = rest[n:]
			switch rng.IntN(6) {
			case 0, 1:
				rw.Operate(rng.IntN(4) > 0, at, r)
			case 2:
				if change && len(ids) > 0 {
					_ = rw.Release(ids[rng.IntN(len(ids))], transport.Decision{Action: transport.Action(rng.IntN(4))}, at, r)
					_ = rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte(rest)}, at, r)
				}
			}
		}
		rw.Flush(at, r)
		if !change && out != data {
			t.Fatalf("%q passes as %q", data, out)
		}
	})
}
