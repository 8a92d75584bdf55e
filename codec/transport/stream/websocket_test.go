package stream

import (
	"bytes"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// TestWebSocket reads a connection, split at every byte.
func TestWebSocket(t *testing.T) {
	masked := func(first byte, payload string) []byte {
		b := []byte{first, 0x80 | byte(len(payload)), 1, 2, 3, 4}
		for i := range len(payload) {
			b = append(b, payload[i]^byte(1+i%4))
		}
		return b
	}
	const request = "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
	stream := append([]byte(request), masked(0x82, "hello")...)
	stream = append(stream, masked(0x02, "fra")...)
	stream = append(stream, masked(0x89, "ping!")...)
	stream = append(stream, masked(0x80, "gment")...)
	stream = append(stream, 0x82, 126, 0, 3, 'a', 'b', 'c', 0x88, 0)
	for _, test := range []struct{ text, want string }{
		{"carrier websocket\nframe datagram\ncode u8", `control c2s 0 474554202f20485454502f312e310d0a557067726164653a20776562736f636b65740d0a0d0a via [handshake]
message c2s 0 68656c6c6f code 104
control c2s 64 70696e6721 via [ping]
message c2s 5 667261676d656e74 code 102
message c2s 13 616263 code 97
control c2s 87  via [close]
`},
		{"carrier websocket\nframe fixed 4\ncode u8", `control c2s 0 474554202f20485454502f312e310d0a557067726164653a20776562736f636b65740d0a0d0a via [handshake]
message c2s 0 68656c6c code 104
message c2s 4 6f667261 code 111
control c2s 64 70696e6721 via [ping]
message c2s 8 676d656e code 103
message c2s 12 74616263 code 116
control c2s 87  via [close]
`},
	} {
		o := Options{Envelope: parse(t, test.text)}
		for i := range stream {
			var got told
			tr := New(o)
			tr.Feed(transport.Segment{Dir: schema.ToServer, Bytes: bytes.Clone(stream[:i]), Start: true}, got.emit)
			for _, b := range stream[i:] {
				if i%2 == 0 {
					tr.Feed(transport.Segment{Dir: schema.ToServer, Bytes: []byte{b}}, got.emit)
				}
			}
			if i%2 == 1 {
				tr.Feed(transport.Segment{Dir: schema.ToServer, Bytes: bytes.Clone(stream[i:])}, got.emit)
			}
			tr.Flush(at, got.emit)
			if got.String() != test.want {
				t.Fatalf("split at %d: got\n%s\nwant\n%s", i, got.String(), test.want)
			}
		}
	}
	for _, bad := range []string{"POST / HTTP/1.1\r\n\r\n", request + "\xc2\x01a", request + "\x83\x00", request + "\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"} {
		var got told
		tr := New(Options{Envelope: parse(t, "carrier websocket\nframe datagram\ncode u8")})
		feed(tr, got.emit, data(bad), data("more"))
		if !bytes.Contains([]byte(got.String()), []byte("the rest of the direction is not read")) {
			t.Errorf("%q: got\n%s", bad, got.String())
		}
	}
}
