package stream

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The header of a bundle stays while its messages are held, changed and dropped; a message that is sent alone has that of the last bundle.
func TestRewriterKeepsHeadersOfBundles(t *testing.T) {
	const coded = "carrier udp\nframe datagram\ncode u8\nbundle 1 at 3 frame length u8\n"
	const every = "carrier udp\nframe datagram\ncode u8\nbundle at 3 frame length u8 including itself\nchecksum crc sum8 at -1\n"
	for _, test := range []struct {
		name, text string
		in         []string
		do         map[string]transport.Decision
		send       string
		want       string
	}{
		{name: "changed", text: coded, in: []string{"\x01xy\x02ab\x02cd"}, do: map[string]transport.Decision{"cd": {Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("longer")}}}, want: "01787902616206" + "6c6f6e676572"},
		{name: "dropped", text: coded, in: []string{"\x01xy\x02ab\x02cd", "\x01xz\x02ab"}, do: map[string]transport.Decision{"ab": {Action: transport.Drop}}, want: "017879026364"},
		{name: "sent", text: coded, in: []string{"\x01xy\x02ab"}, send: "q", want: "017879026162 71"},
		{name: "held", text: coded, in: []string{"\x01xy\x02ab\x02cd", "z"}, do: map[string]transport.Decision{"ab": {Action: transport.Hold}}, want: "017879026162026364 7a"},
		{name: "every changed", text: every, in: []string{"XYZ\x04ab\xc3\x03cc"}, do: map[string]transport.Decision{"cc": {Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("d?")}}}, want: "58595a046162c3036464"},
		{name: "every sent", text: every, in: []string{"XYZ\x03aa"}, send: "e?", want: "58595a036161 58595a036565"},
		{name: "every sent first", text: every, send: "e?", want: "000000036565"},
		{name: "every dropped", text: every, in: []string{"XYZ\x03aa\x03bb"}, do: map[string]transport.Decision{"aa": {Action: transport.Drop}}, want: "58595a036262"},
		{name: "without messages", text: every, in: []string{"XYZ", "XY"}, want: "58595a 5859"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rw := NewRewriter(Options{Envelope: parse(t, test.text)})
			var sent []string
			var held []uint64
			r := &transport.Relay{
				Out: func(s transport.Segment) { sent = append(sent, fmt.Sprintf("%x", s.Bytes)) },
				Decide: func(id uint64, f *transport.Frame) transport.Decision {
					d := test.do[string(f.Bytes)]
					if d.Action == transport.Hold {
						held = append(held, id)
					}
					return d
				},
			}
			rw.Operate(true, at, r)
			for _, in := range test.in {
				rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte(in)}, r)
			}
			for _, id := range held {
				if err := rw.Release(id, transport.Decision{}, at, r); err != nil {
					t.Fatal(err)
				}
			}
			if test.send != "" {
				if err := rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte(test.send)}, at, r); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(sent, " "); got != test.want {
				t.Errorf("sent %s, want %s", got, test.want)
			}
		})
	}
}

// An end sends each message in a bundle of its own, if every frame is one, and the other end reads it.
func TestEndpointBundles(t *testing.T) {
	o := Options{Envelope: parse(t, "frame length u16 be\ncode u8\nbundle at 2 frame length varint\nfield n u8 at 1\n")}
	a, b := NewEndpoint(o, schema.ToServer), NewEndpoint(o, schema.ToClient)
	var got told
	var wire []byte
	for _, m := range []string{"a1", "b2long"} {
		err := a.Send(transport.Outgoing{Bytes: []byte(m)}, at, &transport.Relay{Out: func(s transport.Segment) {
			wire = append(wire, s.Bytes...)
			b.Feed(s.Bytes, false, at, &transport.Relay{Emit: got.emit})
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := "\x00\x05\x00\x00\x02a1\x00\x09\x00\x00\x06b2long"; string(wire) != want || strings.Join(got.messages[0], " ") != "a1 b2long" {
		t.Errorf("sent %x, want %x; read\n%s", wire, want, got.String())
	}
}
