package stream

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// A rewriter sends the last message of a stream as it came, without a delimiter.
func TestRewriteUpToTheEnd(t *testing.T) {
	for _, on := range []bool{false, true} {
		rw := NewRewriter(Options{Envelope: parse(t, "frame delimiter 0a or end\ncode u8")})
		var out, seen strings.Builder
		r := &transport.Relay{
			Out:  func(s transport.Segment) { out.Write(s.Bytes) },
			Emit: func(f *transport.Frame) { fmt.Fprintf(&seen, "%v %s; ", f.Kind, f.Bytes) },
		}
		if on {
			rw.Operate(true, at, r)
			r.Decide = func(uint64, *transport.Frame) (d transport.Decision) { return d }
		}
		for i, s := range []string{"a", "b\nc", "d"} {
			seg := data(s)
			seg.Start, seg.At, seg.End = i == 0, at, i == 2
			rw.Feed(seg, r)
		}
		if out.String() != "ab\ncd" || seen.String() != "message ab; message cd; " {
			t.Errorf("%v: %q, %s", on, out.String(), seen.String())
		}
	}
}

// What waits can be given up: its bytes are a problem, and the messages behind it are found.
func TestGiveUp(t *testing.T) {
	for _, c := range []struct{ text, before, after, want string }{
		{"frame length u8\ncode u8", "\x05ab", "cde\x01f", `
problem c2s 0 056162 1:0+3 (enough; 3 bytes not read)
problem c2s 3 636465 2:0+3 (the end of a message, 3 bytes)
message c2s 6 66 code 102 2:3+2`},
		{"frame delimiter 0a\ncode u8", "ab", "cd\nf\n", `
problem c2s 0 6162 1:0+2 (enough; 2 bytes not read)
problem c2s 2 63640a 2:0+3 (the end of a message, 3 bytes)
message c2s 5 66 code 102 2:3+2`},
		{"frame length u32 be\ncode u8", "\x00\x00", "\x00\x01f\x00\x00\x00\x01g\x00\x00\x00\x01h", `
problem c2s 0 0000 1:0+2 (enough; 2 bytes not read)
problem c2s 2 000166 2:0+3 (3 bytes not read; resumed at packet 2; 2 messages in a row fit)
message c2s 5 67 code 103 2:3+5
message c2s 10 68 code 104 2:8+5`},
	} {
		x := New(Options{Envelope: parse(t, c.text)})
		var got told
		first := data(c.before)
		first.Start, first.Packet = true, 1
		x.Feed(first, got.emit)
		if x.Held() != len(c.before) {
			t.Errorf("%d bytes are held", x.Held())
		}
		x.GiveUp("enough", got.emit)
		if x.Held() != 0 {
			t.Errorf("%d bytes are held", x.Held())
		}
		second := data(c.after)
		second.Packet, second.End = 2, true
		x.Feed(second, got.emit)
		if got.String() != c.want[1:]+"\n" {
			t.Errorf("%s: got\n%s\nwant%s", c.text, got.String(), c.want)
		}
	}
}

// A datagram that cannot be read leaves those after it as they are.
func TestDatagramsAfterABadOne(t *testing.T) {
	x := New(Options{Envelope: parse(t, "carrier udp\nframe length u8 max 2\ncode u8")})
	var got []string
	for _, s := range []string{"\x01a", "\xffa", "\x01a"} {
		x.Feed(data(s), func(f *transport.Frame) { got = append(got, fmt.Sprint(f.Kind, f.Resumed)) })
	}
	if want := []string{"message false", "problem false", "message false"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Zeros are no messages without contents: where the start is unknown, they are not read as such.
func TestZerosAreNotFound(t *testing.T) {
	var got told
	feed(New(Options{Envelope: parse(t, "frame length u32 le\ncode none ANY")}), got.emit, transport.Segment{Dir: schema.ToServer, Bytes: append([]byte("\xff\xff\xff\xff"), make([]byte, 200)...)})
	if strings.Contains(got.String(), "resumed") || strings.Contains(got.String(), "control") {
		t.Error(got.String())
	}
}

// Where only one direction is there, the state and the compression that messages of the other one lead to are found at the first message that
// shows them. They are not where the other direction is, whose messages decide.
func TestOneDirection(t *testing.T) {
	o := Options{
		Envelope:    parse(t, "frame length u16 le\ncode u8\ncompress zlib size varint off\nstate login\n1 to-client -> play: compress on\nstate play\n"),
		Definitions: newLibrary(t, message("LOGIN", "login", 1, blob("name")), message("WALK", "play", 7, number("x", 32), number("y", 32), number("z", 32))),
	}
	var wire []byte
	add := func(body string) {
		wire = append(append(wire, byte(len(body)), 0), body...)
	}
	add("\x01\x03bob")
	for i := range 5 {
		add("\x00\x07" + string([]byte{byte(i), 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0}))
	}
	for _, both := range []bool{false, true} {
		x := New(o)
		var got told
		if both {
			x.Feed(transport.Segment{Dir: schema.ToClient, Start: true, Bytes: []byte("\x01\x00\x05")}, got.emit)
		}
		x.Feed(transport.Segment{Dir: schema.ToServer, Start: true, Packet: 1, Bytes: wire, End: true}, got.emit)
		if all := got.String(); strings.Count(all, " play code 7 ") != 5 == !both || strings.Contains(all, "problem") || strings.Contains(all, `messages are compressed`) == both {
			t.Errorf("both %v:\n%s", both, all)
		}
	}
}

// Whatever is lost, every captured byte is in one row, also where delimiters are missing and where the end ends messages.
func TestAccountsOfDelimiters(t *testing.T) {
	for seed := range seeds(500) {
		rng := rand.New(rand.NewPCG(seed, 40))
		stream := random(rng, rng.IntN(2000))
		for i := range stream {
			stream[i] = "abcdefgh\n\n\r"[int(stream[i])%(4+rng.IntN(8))]
		}
		text := []string{"frame delimiter 0a or end", "frame delimiter 0d 0a max 30", "frame delimiter 0a or end max 7", "frame delimiter 0a keep"}[rng.IntN(4)]
		if err := accounts(Options{Envelope: parse(t, text+"\ncode u8")}, stream, rng); err != nil {
			t.Fatalf("seed %d, %s: %v", seed, text, err)
		}
		e := parse(t, "carrier udp\nframe datagram max 40\ncode u8")
		e.Carrier = envelope.TCP // a stream that is one message, as of a framing
		if err := accounts(Options{Envelope: e}, stream, rng); err != nil {
			t.Fatalf("seed %d, one message: %v", seed, err)
		}
	}
}
