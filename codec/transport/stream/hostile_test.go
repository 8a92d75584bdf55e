package stream

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// feed feeds segments to the server.
func feed(t *Transport, emit func(*transport.Frame), segments ...transport.Segment) {
	for i, s := range segments {
		s.At, s.Start, s.Packet = at, i == 0, uint32(i+1)
		t.Feed(s, emit)
	}
	t.Flush(at, emit)
}

func data(s string) transport.Segment {
	return transport.Segment{Dir: schema.ToServer, Bytes: []byte(s)}
}

func lost(n int64) transport.Segment { return transport.Segment{Dir: schema.ToServer, Lost: n} }

// TestProblems feeds streams with gaps and errors.
func TestProblems(t *testing.T) {
	for _, test := range []struct {
		name, text string
		segments   []transport.Segment
		want       string
	}{
		{"a gap inside a message", "frame length u8\ncode u8", []transport.Segment{data("\x01a\x05bc"), lost(2), data("f\x01g")}, `
message c2s 0 61 code 97 1:0+2
problem c2s 2 056263 1:2+3 (the start of a message, 3 bytes: the rest is missing in the capture)
problem c2s 5  2:0+0 (bytes of the stream are missing in the capture)
problem c2s 7 66 3:0+1 (the end of a message, 1 byte)
message c2s 8 67 code 103 3:1+2`},
		{"a gap of unknown size", "frame length u8\ncode u8", []transport.Segment{data("\x01a\x05bc"), lost(-1), data("f\x01g")}, `
message c2s 0 61 code 97 1:0+2
problem c2s 2 056263 1:2+3 (the start of a message, 3 bytes: the rest is missing in the capture)
problem c2s 5  2:0+0 (bytes of the stream are missing in the capture)
problem c2s 5 660167 3:0+3 (after missing bytes; 3 bytes not read; no message was found in them)`},
		{"a gap beyond a message", "frame length u8\ncode u8", []transport.Segment{data("\x02b"), lost(5), data("f\x01g")}, `
problem c2s 0 0262 1:0+2 (the start of a message, 2 bytes: the rest is missing in the capture)
problem c2s 2  2:0+0 (bytes of the stream are missing in the capture)
problem c2s 7 660167 3:0+3 (after missing bytes; 3 bytes not read; no message was found in them)`},
		{"a gap in frames of fixed size", "frame fixed 3\ncode u8\ncipher xor key hex 2020202020", []transport.Segment{data("ABCD"), lost(9), data("NOPQR")}, `
message c2s 0 616263 code 97 1:0+3
problem c2s 3 64 1:3+1 (the start of a message, 1 byte: the rest is missing in the capture)
problem c2s 4  2:0+0 (bytes of the stream are missing in the capture)
problem c2s 13 6e6f 3:0+2 (the end of a message, 2 bytes)
message c2s 15 707172 code 112 3:2+3`},
		{"a gap between delimiters", "frame delimiter 0a\ncode u8", []transport.Segment{data("ab\nc"), lost(-1), data("de\nfg\n")}, `
message c2s 0 6162 code 97 1:0+3
problem c2s 3 63 1:3+1 (the start of a message, 1 byte: the rest is missing in the capture)
problem c2s 4  2:0+0 (bytes of the stream are missing in the capture)
problem c2s 4 64650a 3:0+3 (the end of a message, 3 bytes)
message c2s 7 6667 code 102 3:3+3`},
		{"an impossible length", "frame length u32 be\ncode u8", []transport.Segment{data("\x00\x00\x00\x01a\x7f\x00\x00\x00"), data("more"), data("!")}, `
message c2s 0 61 code 97 1:0+5
problem c2s 5 7f0000006d6f726521 1:5+4 2:0+4 3:0+1 (a length of 2130706432: the limit is 16777216; 9 bytes not read; no message was found in them)`},
		{"a length that is too small", "frame length u16 le including itself\ncode u8", []transport.Segment{data("\x01\x00")}, `
problem c2s 0 0100 1:0+2 (the length 1 is too small; 2 bytes not read; no message was found in them)`},
		{"an end inside a message", "frame length u16 le\ncode u16 le", []transport.Segment{data("\x01\x00a\x00\x00\x05\x00ab")}, `
message c2s 0 61 1:0+3 (the message ends before its code)
control c2s 3  1:3+2 (an empty frame)
problem c2s 5 05006162 1:5+4 (the stream ends inside a message, after 4 of its 7 bytes)`},
		{"a message that the end ends", "frame delimiter 0a 0a or end\ncode u8", []transport.Segment{data("\n\nab\n"), data("\nc\n"), {Dir: schema.ToServer, End: true}}, `
control c2s 0  1:0+2 (an empty frame)
message c2s 2 6162 code 97 1:2+3 2:0+1
message c2s 6 630a code 99 2:1+2`},
		{"a bundle that the end ends", "frame length u8\ncode u8\nbundle 97 frame delimiter 2c or end", []transport.Segment{data("\x04ab,c")}, `
message c2s 2 62 code 98 1:2+2 via [97]
message c2s 4 63 code 99 1:4+1 via [97]`},
		{"a message without its delimiter", "frame delimiter 0a max 4\ncode u8", []transport.Segment{data("abcdef"), data("gh\nab\nabcdefgh\nc\n")}, `
problem c2s 0 616263646566 1:0+6 (there is no delimiter in 6 bytes; 6 bytes not read)
problem c2s 6 67680a 2:0+3 (the end of a message, 3 bytes)
message c2s 9 6162 code 97 2:3+3
problem c2s 12 61626364656667680a 2:6+9 (a message of 8 bytes: the limit is 4; 9 bytes not read)
message c2s 21 63 code 99 2:15+2`},
		{"an impossible length in a datagram", "carrier udp\nframe length u8 max 2\ncode u8", []transport.Segment{data("\x01a\xff" + strings.Repeat("b", 70)), data("\x01c")}, `
message c2s -1 61 code 97 1:0+2
problem c2s -1 ff` + strings.Repeat("62", 70) + ` 1:2+71 (a message of 255 bytes: the limit is 2; 71 bytes not read)
message c2s -1 63 code 99 2:0+2`},
		{"data that are not compressed", "frame length u8\ncode u8\ncompress zlib size u8", []transport.Segment{data("\x03\x00ab\x03\x05ab\x02\x00c")}, `
message c2s 0 6162 code 97 1:0+4
problem c2s 4 03056162 1:4+4 (the data cannot be decompressed: zlib: invalid header)
message c2s 8 63 code 99 1:8+3`},
		{"an unknown key", "frame length u8\ncode u8\n97: cipher rc4 key given", []transport.Segment{data("\x01abcd")}, `
message c2s 0 61 code 97 1:0+2
opaque c2s 2 626364 1:2+3 (the key of the cipher is not given)`},
		{"a bundle that does not fit", "frame length u8\ncode u8\nbundle 97 frame length u8", []transport.Segment{data("\x05a\x01b\x01c\x03a\x02b")}, `
message c2s 2 62 code 98 1:2+2 via [97]
message c2s 4 63 code 99 1:4+2 via [97]
message c2s 6 610262 code 97 1:6+4 (the bundle ends inside a message, after 2 of its bytes)`},
		{"a bundle with a header", "frame length u8\ncode u8\nbundle 97 at 3 frame length u8", []transport.Segment{data("\x07a12\x01b\x01c\x02a1\x03a12")}, `
control c2s 0 613132 1:0+4 (the header of a bundle)
message c2s 4 62 code 98 1:4+2 via [97]
message c2s 6 63 code 99 1:6+2 via [97]
message c2s 8 6131 code 97 1:8+3 (the bundle ends before its messages, after 2 of 3 bytes)
message c2s 11 613132 code 97 1:11+4`},
		{"frames that are bundles", "frame length u8\ncode u8\nbundle at 2 frame length u8", []transport.Segment{data("\x0612\x01b\x01c\x0212\x011\x0412\x03a")}, `
control c2s 0 3132 1:0+3 (the header of a bundle)
message c2s 3 62 code 98 1:3+2 via [bundle]
message c2s 5 63 code 99 1:5+2 via [bundle]
control c2s 7 3132 1:7+3 (a bundle without messages)
message c2s 10 31 1:10+2 (the bundle ends before its messages, after 1 of 2 bytes)
message c2s 12 31320361 1:12+5 (the bundle ends inside a message, after 2 of its bytes)`},
		{"a rule without definitions", "frame length u8\ncode u8\nstate a\n97 when x = 1 -> b\nstate b\n", []transport.Segment{data("\x01a\x01b")}, `
message c2s 0 61 a code 97 1:0+2 (the field "x" cannot be read: the message has no definition)
message c2s 2 62 a code 98 1:2+2`},
		{"messages without codes", "frame length u8\ncode none ANY", []transport.Segment{data("\x01a")}, `
message c2s 0 61 ANY 1:0+2`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got told
			feed(New(Options{Envelope: parse(t, test.text)}), got.emit, test.segments...)
			if got.String() != test.want[1:]+"\n" {
				t.Errorf("got\n%s\nwant%s", got.String(), test.want)
			}
		})
	}
}

func TestDatagrams(t *testing.T) {
	var got told
	o := Options{Envelope: parse(t, "carrier udp\nframe length u8\ncode u8\ncipher xor key hex 2021")}
	tr := New(o)
	for i, d := range []string{"\x01a\x01b", "\x01a\x09b", "\x01c"} {
		b := []byte(d)
		for k := range b {
			b[k] ^= byte(0x20 + k%2)
		}
		tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Packet: uint32(i + 1), Bytes: b}, got.emit)
	}
	const want = `message s2c -1 61 code 97 1:0+2
message s2c -1 62 code 98 1:2+2
message s2c -1 61 code 97 2:0+2
problem s2c -1 0962 2:2+2 (the datagram ends inside a message, after 2 of its bytes)
message s2c -1 63 code 99 3:0+2
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// TestOtherDirection: a change applies in the other direction from the next frame on that has not begun to arrive.
func TestOtherDirection(t *testing.T) {
	var got told
	tr := New(Options{Envelope: parse(t, "frame length u8\ncode u8\nstate a\n97 to-server -> b: cipher xor key hex 20\nstate b")})
	for _, s := range []transport.Segment{
		{Dir: schema.ToClient, Bytes: []byte("\x02x")},
		{Dir: schema.ToServer, Bytes: []byte("\x01a\x21B")},
		{Dir: schema.ToClient, Bytes: []byte("y\x21Z")},
	} {
		s.Start = true
		tr.Feed(s, got.emit)
	}
	const want = `message c2s 0 61 a code 97
message c2s 2 62 b code 98
message s2c 0 7879 a code 120
message s2c 3 7a b code 122
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// TestClear reports what was deciphered.
func TestClear(t *testing.T) {
	var all strings.Builder
	tr := New(Options{Envelope: parse(t, "frame length u8\ncode u8\n97: cipher xor key hex 20"), Clear: func(c transport.Clear) {
		fmt.Fprintf(&all, "%d:%d %q; ", c.Packet, c.Off, c.Bytes)
	}})
	feed(tr, func(*transport.Frame) {}, data("\x01a\x22A"), data("B"))
	if all.String() != `1:2 "\x02"; 1:3 "a"; 2:0 "b"; ` {
		t.Error(all.String())
	}
}

// TestBombs bounds the memory for data that claim or contain much after decompression.
func TestBombs(t *testing.T) {
	for i, name := range schema.Packings() {
		t.Run(name, func(t *testing.T) {
			var x codecs
			method := schema.Packing(i + 1)
			bomb, err := x.Compress(nil, method, make([]byte, 8<<20))
			if err != nil {
				t.Fatal(err)
			}
			for _, header := range []string{"", " size u32 be"} {
				e := parse(t, "frame length u32 be max 1000000\ncode u8\ncompress "+name+header)
				wire := bomb
				if header != "" {
					wire = append([]byte{0, 0, 0x10, 0}, bomb...)
				}
				n := len(wire)
				if n > 1000000 {
					n = 1000000
					wire = wire[:n]
				}
				wire = append([]byte{0, byte(n >> 16), byte(n >> 8), byte(n)}, wire...)
				var got told
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				feed(New(Options{Envelope: e}), got.emit, transport.Segment{Dir: schema.ToServer, Bytes: wire})
				runtime.ReadMemStats(&after)
				if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
					t.Errorf("%d bytes are allocated", used)
				}
				if !strings.HasPrefix(got.String(), "problem") || strings.Contains(got.String(), "message ") {
					t.Errorf("got %.300s", got.String())
				}
			}
			out, err := x.Decompress(nil, method, bomb, 8<<20, 8<<20)
			if err != nil || len(out) != 8<<20 {
				t.Errorf("%d bytes, %v", len(out), err)
			}
		})
	}
}

func TestCompressionComesBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var x codecs
	for i := range schema.Packings() {
		for range 50 {
			body := bytes.Repeat(random(rng, rng.IntN(40)), 1+rng.IntN(40))
			for _, c := range []compression{{method: schema.Packing(i + 1), on: true}, {method: schema.Packing(i + 1), on: true, header: envelope.SizeHeader, number: envelope.Number{Kind: envelope.VarInt}, from: 100}} {
				packed, err := x.pack([]byte("x"), &c, body, len(body))
				if err != nil {
					t.Fatal(err)
				}
				out, err := x.unpack([]byte("y"), &c, packed[1:], 1<<20)
				if err != nil || string(out) != "y"+string(body) {
					t.Fatalf("%s: %x becomes %x, %v", schema.Packing(i+1), body, out, err)
				}
			}
		}
	}
}

// TestStreams checks that ciphers continue, can be copied, and can skip.
func TestStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	for kind := envelope.XOR; kind <= envelope.ChaCha20; kind++ {
		key, iv := random(rng, 32), random(rng, 16)
		if kind == envelope.ChaCha20 {
			iv = iv[:12]
		}
		if !envelope.GoodIV(kind, len(iv)) {
			iv = nil
		}
		plain := random(rng, 5000)
		a, err := newStream(kind, key, iv, true)
		if err != nil {
			t.Fatal(kind, err)
		}
		whole := slices.Clone(plain)
		a.Apply(whole)
		b, _ := newStream(kind, key, iv, false)
		got := slices.Clone(whole)
		for at := 0; at < len(got); {
			n := min(1+rng.IntN(300), len(got)-at)
			b.Apply(got[at : at+n])
			at += n
			if rng.IntN(3) == 0 {
				again := slices.Clone(plain[at:])
				b.Clone().Apply(again)
				if !bytes.Equal(again, whole[at:]) {
					t.Fatalf("cipher %d: a copy differs", kind)
				}
			}
			if c, _ := newStream(kind, key, iv, false); c.Skip(int64(at)) {
				rest := slices.Clone(whole[at:])
				c.Apply(rest)
				if !bytes.Equal(rest, plain[at:]) {
					t.Fatalf("cipher %d: skipping %d bytes differs", kind, at)
				}
			}
		}
		if !bytes.Equal(got, plain) {
			t.Errorf("cipher %d does not decipher", kind)
		}
	}
}

// TestHotPathAllocates: frames without compression and cipher allocate nothing.
func TestHotPathAllocates(t *testing.T) {
	tr := New(Options{Envelope: parse(t, "frame length varint\ncode varint\nstate a\n9 -> b\nstate b\n"), Definitions: gameLibrary(t)})
	segment := transport.Segment{Dir: schema.ToServer, Packet: 1, Start: true, Bytes: bytes.Repeat([]byte("\x05hello\x03abc"), 100)}
	emit := func(*transport.Frame) {}
	tr.Feed(segment, emit)
	if n := testing.AllocsPerRun(100, func() { tr.Feed(segment, emit) }); n > 0 {
		t.Errorf("%v allocations for 200 frames", n)
	}
}

func BenchmarkTransport(b *testing.B) {
	for _, text := range []string{"frame length varint\ncode varint", "frame length varint\ncode varint\ncompress zlib size varint", "frame length varint\ncode varint\ncipher aes-cfb8 key hex 000102030405060708090a0b0c0d0e0f iv hex 000102030405060708090a0b0c0d0e0f"} {
		b.Run(strings.ReplaceAll(text, "\n", "; "), func(b *testing.B) {
			o := Options{Envelope: parse(b, text)}
			var wire []byte
			end := NewEndpoint(o, schema.ToServer)
			for range 1000 {
				_ = end.Send(transport.Outgoing{Bytes: bytes.Repeat([]byte("a message "), 10)}, at, &transport.Relay{Out: func(s transport.Segment) { wire = append(wire, s.Bytes...) }})
			}
			buf := make([]byte, len(wire))
			b.SetBytes(int64(len(wire)))
			b.ReportAllocs()
			for b.Loop() {
				tr := New(o)
				copy(buf, wire)
				for p := buf; len(p) > 0; {
					n := min(len(p), 1400)
					tr.Feed(transport.Segment{Dir: schema.ToServer, Bytes: p[:n], Start: true}, func(*transport.Frame) {})
					p = p[n:]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/frame")
		})
	}
}

func FuzzTransport(f *testing.F) {
	for _, x := range framed {
		f.Add(x.text, []byte("\x05hello\x00\x03abc\r\n\x01"), uint16(3))
	}
	f.Add("frame length u8\ncode u8\ncompress zlib size varint\n1: compress off\nbundle 2 frame length u8", []byte("\x05\x00hello"), uint16(1))
	f.Add("carrier udp\nframe datagram\ncode u8\nbundle at 2 frame length u8", []byte("\x05\x00\x01a\x02bc"), uint16(7))
	f.Add("frame length u8\ncode u8\nbundle 2 at 3 frame length u8\nfield x u8 at 1\nchecksum y sum8 at -1", []byte("\x06\x02\x00\x00\x02hi\x01"), uint16(4))
	f.Add("carrier udp\nframe datagram\ncode u8\ncipher rc4 key hex 00", []byte("\x05\x00hello"), uint16(1))
	f.Add("carrier websocket\nframe datagram\ncode u8", []byte("GET / HTTP/1.1\r\n\r\n\x82\x85abcdefghi\x81\x02xy\x88\x00"), uint16(700))
	f.Add("carrier websocket\nframe datagram\ncode u8", bytes.Repeat([]byte("\x82\x03abc"), 40), uint16(0xc006))
	lib := gameLibrary(f)
	f.Fuzz(func(t *testing.T, text string, wire []byte, split uint16) {
		if len(text) > 2000 || len(wire) > 8<<10 {
			return
		}
		e, diags := envelope.Parse(source.New("f", text))
		if diags.HasErrors() {
			return
		}
		o := Options{Envelope: e, Definitions: lib}
		var got [2]strings.Builder
		emit := func(i int) func(f *transport.Frame) {
			return func(f *transport.Frame) { fmt.Fprintf(&got[i], "%v %v %.20x\n", f.Kind, f.Dir, f.Bytes) }
		}
		segments := func(feed func(transport.Segment)) {
			for i, rest := 0, bytes.Clone(wire); len(rest) > 0; i++ {
				n := min(int(split%1000)+1, len(rest))
				feed(transport.Segment{Dir: dirs[i%2], At: at, Bytes: rest[:n], Start: true})
				rest = rest[n:]
			}
		}
		var fed, sent [2][]byte
		for what, job := range map[string]func(){
			"the transport": func() {
				got[0].Reset()
				tr := New(o)
				n := 0
				segments(func(s transport.Segment) {
					s.Start = split&0x8000 == 0
					if n++; split&0x4000 != 0 && n%5 == 4 {
						s.Lost, s.Bytes = int64(len(s.Bytes)), nil
					}
					tr.Feed(s, emit(0))
				})
				tr.Flush(at, emit(0))
			},
			"the rewriter": func() {
				got[1].Reset()
				fed, sent = [2][]byte{}, [2][]byte{}
				rw := NewRewriter(o)
				r := &transport.Relay{Emit: emit(1), Out: func(s transport.Segment) { sent[envelope.Way(s.Dir)] = append(sent[envelope.Way(s.Dir)], s.Bytes...) }}
				rw.Operate(true, at, r)
				segments(func(s transport.Segment) {
					fed[envelope.Way(s.Dir)] = append(fed[envelope.Way(s.Dir)], s.Bytes...)
					rw.Feed(s, r)
				})
				rw.Flush(at, r)
			},
		} {
			const most = 200 * time.Millisecond // 50 ms on an idle machine where the program is not compiled for fuzzing
			if took, used := benchtest.Cost(most, job); took > most || used > 64<<20 {
				t.Fatalf("%s takes %v and allocates %d bytes", what, took, used)
			}
		}
		for i := range fed {
			if e.Carrier != envelope.WebSocket && !bytes.Equal(fed[i], sent[i]) { // masks may differ
				t.Fatalf("%v: received\n%x, sent\n%x\n%s", dirs[i], fed[i], sent[i], got[1].String())
			}
		}
	})
}
