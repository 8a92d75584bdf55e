package stream

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// TestRewriteDatagrams: a datagram whose messages all pass is sent unchanged; a message that waited gets one of its own.
func TestRewriteDatagrams(t *testing.T) {
	rw := NewRewriter(Options{Envelope: parse(t, "carrier udp\nframe length u8\ncode u8\ncipher xor key hex 20")})
	var out []string
	var held uint64
	r := &transport.Relay{
		Out: func(s transport.Segment) { out = append(out, string(s.Bytes)) },
		Decide: func(id uint64, f *transport.Frame) (d transport.Decision) {
			switch f.Bytes[0] {
			case 'h':
				d.Action, held = transport.Hold, id
			case 'd':
				d.Action = transport.Drop
			case 'r':
				d.Action, d.With.Bytes = transport.Replace, []byte("xyz")
			}
			return d
		},
	}
	rw.Operate(true, at, r)
	for _, test := range []struct{ in, want string }{
		{"\x21A\x22BC", `["!A\"BC"]`},
		{"\x21A\x21D\x21B", `["!A!B"]`},
		{"\x21D", `[]`},
		{"\x21R\x21B", `["#XYZ!B"]`},
		{"\x21A\x29", `["!A)"]`},
		{"\x21A\x21H\x21B", `["!A"]`},
		{"\x21C", `[]`},
	} {
		out = nil
		rw.Feed(transport.Segment{Dir: schema.ToClient, At: at, Bytes: []byte(test.in)}, r)
		if got := fmt.Sprintf("%q", out); got != test.want {
			t.Errorf("%q goes out as %s, want %s", test.in, got, test.want)
		}
	}
	out = nil
	if err := rw.Release(held, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("new")}}, at, r); err != nil {
		t.Fatal(err)
	}
	if err := rw.Send(schema.ToClient, transport.Outgoing{Bytes: []byte("own")}, at, r); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%q", out), `["#NEW" "!B" "!C" "#OWN"]`; got != want {
		t.Errorf("released: %s, want %s", got, want)
	}
}

func TestRewriteModes(t *testing.T) {
	rw := NewRewriter(Options{Envelope: parse(t, "frame length u8\ncode u8\ncipher xor key hex 2122")})
	out := ""
	var notes []string
	asked := 0
	r := &transport.Relay{
		Out: func(s transport.Segment) {
			if out += string(s.Bytes); s.End {
				out += "|"
			}
		},
		Emit: func(f *transport.Frame) {
			notes = append(notes, fmt.Sprintf("%v %q %s", f.Kind, f.Bytes, f.Note))
		},
		Decide: func(uint64, *transport.Frame) transport.Decision { asked++; return transport.Decision{} },
	}
	in := ""
	feed := func(data string, end bool) {
		in += data
		rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte(data), Start: true, End: end}, r)
	}
	own := transport.Outgoing{Bytes: []byte("own")}
	if err := rw.Send(schema.ToServer, own, at, r); !errors.Is(err, transport.ErrNotOperating) {
		t.Error(err)
	}
	const stream = "\x22CBA" + "\x20C" + "\x20D" + "\x23EFF" // encrypted: 03 "acc", ...
	feed(stream[:2], false)
	rw.Operate(true, at, r)
	feed(stream[2:5], false)
	rw.Operate(false, at, r) // nothing was changed
	if m, _ := rw.Mode(); m != transport.Observing {
		t.Error(m)
	}
	if in != out {
		t.Errorf("received %q, sent %q", in, out)
	}
	rw.Operate(true, at, r)
	feed(stream[5:], false)
	rw.Flush(at, r)
	if in != out {
		t.Errorf("received %q, sent %q", in, out)
	}
	for _, bad := range []transport.Outgoing{{}, {Bytes: make([]byte, 300)}, {Raw: true}} {
		if err := rw.Send(schema.ToServer, bad, at, r); err == nil {
			t.Errorf("%v is sent", bad)
		}
	}
	if err := rw.Release(99, transport.Decision{}, at, r); !errors.Is(err, transport.ErrNotHeld) {
		t.Error(err)
	}
	feed("", true)
	if in+"|" != out {
		t.Errorf("received %q, sent %q", in, out)
	}
	if err := rw.Send(schema.ToServer, own, at, r); !errors.Is(err, transport.ErrClosed) {
		t.Error(err)
	}
	if asked == 0 || !strings.Contains(strings.Join(notes, "\n"), "message ") {
		t.Errorf("%d decisions; %q", asked, notes)
	}
}

// TestRewriteUnreadable: what cannot be read passes unchanged.
func TestRewriteUnreadable(t *testing.T) {
	for _, text := range []string{
		"frame length u32 be\ncode u8\ncipher aes-cfb8 key hex 000102030405060708090a0b0c0d0e0f iv hex 000102030405060708090a0b0c0d0e0f",
		"frame length u8\ncode u8\n97: cipher rc4 key given",
	} {
		for _, from := range []int{0, 3, 9} {
			rw := NewRewriter(Options{Envelope: parse(t, text)})
			in, out := "", ""
			r := &transport.Relay{Out: func(s transport.Segment) { out += string(s.Bytes) }}
			for i, b := range []byte("\x01a rest of the stream, which cannot be read") {
				if i == from {
					rw.Operate(true, at, r)
				}
				in += string(b)
				rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte{b}, Start: true}, r)
			}
			rw.Flush(at, r)
			if in != out {
				t.Errorf("received %q, sent %q", in, out)
			}
			own := transport.Outgoing{Bytes: []byte("own")}
			if err := rw.Send(schema.ToServer, own, at, r); strings.Contains(text, "given") && !errors.Is(err, transport.ErrNotOperating) {
				t.Error(err)
			} else if !strings.Contains(text, "given") && (err != nil || rw.Waiting(schema.ToServer) == 0 || in != out) { // the start of a message is searched
				t.Errorf("%v, and %d bytes wait", err, rw.Waiting(schema.ToServer))
			}
		}
	}
}
