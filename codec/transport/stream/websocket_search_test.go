package stream

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
)

// wsTalk is one direction of a WebSocket connection behind its handshake.
type wsTalk struct {
	bytes []byte
	ends  []int // of the WebSocket frames
	said  []wsSaid
}

// wsSaid is a message of the connection, with the places of the WebSocket frames that carry it.
type wsSaid struct {
	message  string
	from, to int
}

// talk makes messages, each in a WebSocket message, some of which have several frames, and control frames between them.
func (h *harbor) talk(rng *rand.Rand, dir, n int, datagrams bool) (x wsTalk) {
	masked := dir == 0
	for range n {
		m := h.say(rng)
		payload := h.framed(m)
		if datagrams {
			payload = m
		}
		from := len(x.bytes)
		add := func(first byte, payload []byte) {
			frame := appendFrame(nil, 2, payload, masked, rng.Uint32())
			frame[0] = first
			x.bytes = append(x.bytes, frame...)
			x.ends = append(x.ends, len(x.bytes))
		}
		if k := rng.IntN(len(payload)); rng.IntN(12) == 0 && k > 0 {
			add(0x02, payload[:k])
			add(0x80, payload[k:])
		} else {
			add(0x82, payload)
		}
		x.said = append(x.said, wsSaid{string(m), from, len(x.bytes)})
		if rng.IntN(30) == 0 {
			add(0x89, random(rng, rng.IntN(8)))
		}
	}
	return x
}

// segments returns where the segments of a connection end: mostly where a WebSocket frame does.
func (x *wsTalk) segments(rng *rand.Rand) (ends []int) {
	for _, end := range x.ends {
		if rng.IntN(3) == 0 {
			continue
		}
		if rng.IntN(5) == 0 {
			end = min(end+rng.IntN(30), len(x.bytes))
		}
		if len(ends) == 0 || end > ends[len(ends)-1] {
			ends = append(ends, end)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] < len(x.bytes) {
		ends = append(ends, len(x.bytes))
	}
	return ends
}

// TestWebSocketLosses loses a segment of WebSocket connections, or their start. All messages behind are found, except hardly any, and others are
// not; no byte is read twice.
func TestWebSocketLosses(t *testing.T) {
	const handshake = "GET /game HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
	for n, h := range harbors(t) {
		text, datagrams := h.text, n == 0
		if datagrams {
			text = "frame datagram\ncode u8\ngroup play"
		}
		e := parse(t, "carrier websocket\n"+text)
		expected, missing, other := 0, 0, 0
		for seed := range seeds(300) {
			rng := rand.New(rand.NewPCG(seed, 41))
			dir := rng.IntN(2)
			x := h.talk(rng, dir, 30+rng.IntN(60), datagrams)
			ends := x.segments(rng)
			var got told
			seen := map[string]bool{}
			tr := New(Options{Envelope: e, Definitions: h.lib})
			emit := func(f *transport.Frame) {
				got.emit(f)
				for _, s := range f.From {
					for i := range s.Len {
						place := fmt.Sprint(s.Packet, " ", s.Off+i)
						if seen[place] {
							t.Fatalf("%q, seed %d: byte %s is in two rows\n%s", text, seed, place, got.String())
						}
						seen[place] = true
					}
				}
			}
			late := rng.IntN(2) == 0
			from, lost := 0, [2]int{-1, -1}
			if late {
				lost = [2]int{0, ends[rng.IntN(len(ends)/2)]}
			} else {
				k := 1 + rng.IntN(len(ends)/2)
				lost = [2]int{ends[k-1], ends[k]}
				tr.Feed(transport.Segment{Dir: dirs[dir], At: at, Packet: 1000, Bytes: []byte(handshake), Start: true}, emit)
			}
			gap := int64(0)
			for i, end := range ends {
				part := transport.Segment{Dir: dirs[dir], At: at, Packet: uint32(i + 1), Bytes: append([]byte(nil), x.bytes[from:end]...), Lost: gap}
				gap = 0
				switch {
				case from >= lost[0] && end <= lost[1]:
					if gap = int64(end - from); rng.IntN(2) == 0 {
						gap = transport.Unknown
					}
					if late {
						gap = 0
					}
				default:
					tr.Feed(part, emit)
				}
				from = end
			}
			tr.Flush(at, emit)
			found := map[string]int{}
			for _, m := range got.messages[envelope.Way(dirs[dir])] {
				found[m]++
			}
			for _, m := range x.said {
				whole := m.to <= lost[0] || m.from >= lost[1]
				if whole {
					expected++
				}
				if found[m.message] > 0 {
					found[m.message]--
				} else if whole {
					missing++
				}
			}
			for _, n := range found {
				other += n
			}
		}
		name := strings.SplitN(text, "\n", 2)[0]
		t.Logf("%q: %d of %d messages are missing, %d others", name, missing, expected, other)
		if missing > expected/800 || other > 0 {
			t.Errorf("%q: %d of %d messages are missing, %d others", name, missing, expected, other)
		}
	}
}

// TestWebSocketSearchIsBounded gives a search bytes that are no frames, one at a time: what it keeps is bounded, and every byte is in a row.
func TestWebSocketSearchIsBounded(t *testing.T) {
	tr := New(Options{Envelope: parse(t, "carrier websocket\nframe datagram\ncode u8")})
	told := 0
	emit := func(f *transport.Frame) {
		if f.Kind == transport.Problem {
			told += len(f.Bytes)
		}
	}
	const size = 5 * maxParts
	for n := range uint32(size) {
		tr.Feed(transport.Segment{Dir: dirs[0], At: at, Packet: n + 1, Bytes: []byte{'x'}}, emit)
		if h := tr.ways[0].ws.search; h == nil || len(h.parts) > maxParts+1 {
			t.Fatalf("byte %d: the search has ended, or keeps more than %d segments", n, maxParts)
		}
	}
	if tr.Flush(at, emit); told != size {
		t.Errorf("%d of %d bytes are in rows", told, size)
	}
}
