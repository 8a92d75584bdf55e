package stream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/schema"
)

// measure is for a protocol with ids from 1 to 9 and texts of at most 20 bytes after their length.
func measure(_ schema.Dir, data []byte) (n, need int, key schema.Key, why transport.Reason) {
	if data[0] < 1 || data[0] > 9 {
		return 0, 0, key, func() string { return fmt.Sprintf("id %d", data[0]) }
	}
	key.Code = uint32(data[0])
	switch {
	case len(data) < 2:
		return 0, 2, key, nil
	case data[1] > 20:
		return 0, 0, key, func() string { return fmt.Sprintf("length %d", data[1]) }
	case len(data) < 2+int(data[1]):
		return 0, 2 + int(data[1]), key, nil
	}
	return 2 + int(data[1]), 0, key, nil
}

var at = time.Unix(1_700_000_000, 0)

// told writes frames as lines: kind, offset, bytes, marks.
type told struct{ strings.Builder }

func (b *told) emit(f *transport.Frame) {
	fmt.Fprintf(b, "%s %d %x", f.Kind, f.Offset, f.Bytes)
	if f.Kind == transport.Message {
		n := 0
		for _, s := range f.From {
			n += int(s.Len)
		}
		if n != len(f.Bytes) {
			fmt.Fprintf(b, " made of %d bytes", n)
		}
	}
	if f.Resumed {
		b.WriteString(" resumed")
	}
	if f.Note != "" {
		fmt.Fprintf(b, " (%s)", f.Note)
	}
	b.WriteByte('\n')
}

func seg(packet uint32, data string) transport.Segment {
	return transport.Segment{Dir: schema.ToServer, At: at, Packet: packet, Bytes: []byte(data), Start: packet == 1}
}

func TestPlaybook(t *testing.T) {
	good := "\x01\x00\x02\x01a\x03\x02ab\x04\x00\x05\x00"
	for _, c := range []struct {
		name string
		segs []transport.Segment
		want string
	}{
		{"whole and cut", []transport.Segment{seg(1, "\x01\x00\x02"), seg(2, "\x02h"), seg(3, "i\x03")}, `
message 0 0100
message 2 02026869
problem 6 03 (the stream ends inside a message, after 1 of its bytes)
`},
		{"out of step, and found again", []transport.Segment{seg(1, "\x01\x00\xff\xee"+good)}, `
message 0 0100
problem 2 ffee (id 255; 2 bytes not read; resumed at packet 1; 3 messages in a row fit)
message 4 0100 resumed
message 6 020161 resumed
message 9 03026162 resumed
message 13 0400 resumed
message 15 0500 resumed
`},
		{"never found again", []transport.Segment{seg(1, "\xff\xff\xff"), seg(2, "\x00\x00")}, `
problem 0 ffffff0000 (id 255; 5 bytes not read; no message was found in them)
`},
		{"too few to be sure, until the end", []transport.Segment{seg(1, "\xff\x01\x00"), seg(2, "\x02\x00")}, `
problem 0 ff (id 255; 1 byte not read; resumed at packet 1; 2 messages in a row fit)
message 1 0100 resumed
message 3 0200 resumed
`},
		{"bytes are missing", []transport.Segment{seg(1, "\x01\x00\x02\x05ab"), {Dir: schema.ToServer, At: at, Lost: 3}, seg(3, good)}, `
message 0 0100
problem 2 02056162 (the start of a message, 4 bytes: the rest is missing in the capture)
problem 6  (bytes of the stream are missing in the capture)
message 9 0100 resumed
message 11 020161 resumed
message 14 03026162 resumed
message 18 0400 resumed
message 20 0500 resumed
`},
		{"bytes are missing between two messages, and one is left", []transport.Segment{seg(1, "\x01\x00"), {Dir: schema.ToServer, At: at, Lost: 3}, seg(3, "\x02\x02hi")}, `
message 0 0100
problem 2  (bytes of the stream are missing in the capture)
message 5 02026869 resumed
`},
		{"bytes are missing twice, and none are read between", []transport.Segment{
			seg(1, "\x01\x00"), {Dir: schema.ToServer, At: at, Lost: 3}, seg(3, "\xff\xfe"), {Dir: schema.ToServer, At: at, Lost: 2}, seg(4, "\xfd"),
		}, `
message 0 0100
problem 2  (bytes of the stream are missing in the capture)
problem 5 fffe resumed (after missing bytes; 2 bytes not read; no message was found in them)
problem 7  (bytes of the stream are missing in the capture)
problem 9 fd resumed (after missing bytes; 1 byte not read; no message was found in them)
`},
		{"from the middle", []transport.Segment{seg(7, "xy"+good)}, `
problem 0 7879 resumed (the capture begins inside the stream; 2 bytes not read; resumed at packet 7; 3 messages in a row fit)
message 2 0100 resumed
message 4 020161 resumed
message 7 03026162 resumed
message 11 0400 resumed
message 13 0500 resumed
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got told
			tr := stream.New(stream.Measured(measure))
			for _, s := range c.segs {
				tr.Feed(s, got.emit)
			}
			tr.Flush(at, got.emit)
			if got.String() != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%swant%s", got.String(), c.want)
			}
		})
	}
}

// However a stream is split into segments, the messages are the same, and together with the reported bytes they make up the stream.
func TestCutsDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var sent []byte
		for range rng.IntN(40) {
			n := rng.IntN(21)
			sent = append(sent, byte(1+rng.IntN(9)), byte(n))
			for range n {
				sent = append(sent, byte(rng.Uint32()))
			}
		}
		var whole []byte
		tr := stream.New(stream.Measured(measure))
		for rest, packet := sent, uint32(1); len(rest) > 0; packet++ {
			n := 1 + rng.IntN(min(len(rest), 30))
			tr.Feed(seg(packet, string(rest[:n])), func(f *transport.Frame) {
				if f.Kind != transport.Message || f.Offset != int64(len(whole)) {
					t.Errorf("%s at %d, %s", f.Kind, f.Offset, f.Note)
				}
				whole = append(whole, f.Bytes...)
			})
			rest = rest[n:]
		}
		if !bytes.Equal(whole, sent) {
			t.Fatalf("%x\nof %x", whole, sent)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	tr := stream.New(stream.Measured(measure))
	s := seg(1, strings.Repeat("\x01\x00\x02\x01a", 100))
	n := 0
	emit := func(*transport.Frame) { n++ }
	tr.Feed(s, emit)
	s.Start = false
	if a := testing.AllocsPerRun(50, func() { tr.Feed(s, emit) }); a > 0 || n < 10_000 {
		t.Errorf("%v allocations, %d frames", a, n)
	}
}

func FuzzMeasured(f *testing.F) {
	f.Add([]byte("\x01\x00\x02\x01a\xff"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		tr := stream.New(stream.Measured(measure))
		next := int64(0)
		emit := func(f *transport.Frame) {
			if f.Kind == transport.Message {
				if f.Offset < next || !bytes.Equal(data[f.Offset:f.Offset+int64(len(f.Bytes))], f.Bytes) {
					t.Errorf("message at %d after %d", f.Offset, next)
				}
				next = f.Offset + int64(len(f.Bytes))
			}
		}
		for i := 0; i < len(data); i += int(step) + 1 {
			tr.Feed(seg(uint32(i+1), string(data[i:min(len(data), i+int(step)+1)])), emit)
		}
		tr.Flush(at, emit)
	})
}
