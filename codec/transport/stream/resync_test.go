package stream

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// harbor is a game with 40 messages: of fixed sizes, and with bytes.
type harbor struct {
	lib    *library
	text   string
	framed func(message []byte) []byte
	header *envelope.Header // of a game whose messages are as they are framed; nil otherwise
}

func harborLibrary(t testing.TB, group string, measured bool) *library {
	var all []*schema.Message
	for code := range uint32(40) {
		fields := []*schema.Field{number("a", 32), number("b", 16)}
		switch code % 4 {
		case 1:
			fields = []*schema.Field{number("n", 8), blob("data")}
		case 2:
			fields = []*schema.Field{number("x", 64), number("y", 64)}
		}
		m := message(fmt.Sprintf("m%d", code), group, code+100, fields...)
		m.Measured = measured
		all = append(all, m)
	}
	return newLibrary(t, all...)
}

// say returns a message of the game.
func (h *harbor) say(rng *rand.Rand) []byte {
	m := saying(rng)
	if h.header != nil {
		m = slices.Concat([]byte{0xfe, m[0], 0, 0}, m[1:], []byte{0, 0})
		h.header.Seal(m, nil)
	}
	return m
}

func saying(rng *rand.Rand) []byte {
	code := rng.IntN(40)
	b := []byte{byte(100 + code)}
	switch code % 4 {
	case 1:
		n := rng.IntN(60)
		return append(append(b, byte(rng.IntN(256)), byte(n)), random(rng, n)...)
	case 2:
		return append(b, random(rng, 16)...)
	}
	return append(b, random(rng, 6)...)
}

// harbors are the game in envelopes of each kind that has no certain starts of messages.
func harbors(t testing.TB) []harbor {
	lib := harborLibrary(t, "play", false)
	length := func(put func(b []byte, n int) []byte) func([]byte) []byte {
		return func(m []byte) []byte { return append(put(nil, len(m)), m...) }
	}
	out := []harbor{
		{lib, "frame length varint\ncode u8\ngroup play", length(func(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }), nil},
		{lib, "frame length u16 le\ncode u8\ngroup play", length(func(b []byte, n int) []byte { return binary.LittleEndian.AppendUint16(b, uint16(n)) }), nil},
		{lib, "frame length u32 be including itself max 4096\ncode u8\ngroup play", length(func(b []byte, n int) []byte { return binary.BigEndian.AppendUint32(b, uint32(n+4)) }), nil},
		{lib, "frame length varint\ncode u8\ncompress zlib size varint\ngroup play", length(func(b []byte, n int) []byte { return append(binary.AppendUvarint(b, uint64(n+1)), 0) }), nil},
		{harborLibrary(t, "play", true), "frame measured\ncode u8\ngroup play", func(m []byte) []byte { return m }, nil},
	}
	const headed = "frame length u16 be including all at 2 keep\ncode u8 at 1\nfield magic u8 at 0 = 0xfe\nchecksum crc crc16 le at -2\ngroup play"
	h := parse(t, headed).States[0].Header[0]
	out = append(out, harbor{harborLibrary(t, "play", false), headed, func(m []byte) []byte { return m }, h})
	codes := "frame codes u8\n"
	for code := range 40 {
		switch code % 4 {
		case 1:
			codes += fmt.Sprintf("  %d = length u8 at 2\n", 100+code)
		case 2:
			codes += fmt.Sprintf("  %d = 17\n", 100+code)
		default:
			codes += fmt.Sprintf("  %d = 7\n", 100+code)
		}
	}
	return append(out, harbor{lib, codes + "code u8\ngroup play", func(m []byte) []byte { return m }, nil})
}

// TestResyncAccounts reads streams with noise and losses: every byte is in exactly one row, whatever the stream has, and nothing is read twice.
func TestResyncAccounts(t *testing.T) {
	for _, h := range harbors(t) {
		e := parse(t, h.text)
		for seed := range seeds(400) {
			rng := rand.New(rand.NewPCG(seed, 31))
			var stream []byte
			for range rng.IntN(80) {
				switch rng.IntN(20) {
				case 0:
					stream = append(stream, random(rng, rng.IntN(300))...)
				case 1:
					if w := h.framed(h.say(rng)); len(w) > 1 {
						stream = append(stream, w[:rng.IntN(len(w))]...)
					}
				case 2:
					stream = append(stream, h.framed(random(rng, 1+rng.IntN(30)))...)
				default:
					stream = append(stream, h.framed(h.say(rng))...)
				}
			}
			o := Options{Envelope: e}
			if seed%4 > 0 {
				o.Definitions = h.lib
			}
			if err := accounts(o, stream, rng); err != nil {
				t.Fatalf("%s\nseed %d: %v", h.text, seed, err)
			}
		}
	}
}

// FuzzResync reads any bytes in any of the envelopes, with losses.
func FuzzResync(f *testing.F) {
	all := harbors(f)
	rng := rand.New(rand.NewPCG(36, 1))
	for i := range all {
		var stream []byte
		for range 30 {
			stream = append(stream, all[i].framed(all[i].say(rng))...)
		}
		f.Add(stream, uint8(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, stream []byte, which uint8, seed uint64) {
		h := all[int(which)%len(all)]
		if err := accounts(Options{Envelope: parse(t, h.text), Definitions: h.lib}, stream, rand.New(rand.NewPCG(seed, 37))); err != nil {
			t.Fatal(err)
		}
	})
}

// accounts feeds a stream in packets, some of which are lost, and checks that every captured byte is in exactly one row.
func accounts(o Options, stream []byte, rng *rand.Rand) error {
	tr := New(o)
	var rows, captured []transport.Source
	var shown strings.Builder
	emit := func(f *transport.Frame) {
		fmt.Fprintf(&shown, "%v %v %d bytes %s\n", f.Kind, f.From, len(f.Bytes), f.Note)
		rows = append(rows, f.From...)
	}
	start := rng.IntN(3) > 0
	for n, pos := 1, 0; pos < len(stream); n++ {
		size := min(1+rng.IntN(100), len(stream)-pos)
		seg := transport.Segment{Dir: schema.ToServer, At: at, Packet: uint32(n), Start: start && n == 1}
		switch rng.IntN(12) {
		case 0:
			seg.Lost = int64(size)
		case 1:
			seg.Lost = transport.Unknown
		default:
			seg.Bytes = bytes.Clone(stream[pos : pos+size])
			captured = append(captured, transport.Source{Packet: uint32(n), Len: uint32(size)})
		}
		pos += size
		tr.Feed(seg, emit)
		clear(seg.Bytes)
	}
	if rng.IntN(2) == 0 {
		tr.Feed(transport.Segment{Dir: schema.ToServer, End: true}, emit)
	}
	tr.Flush(at, emit)
	rows = slices.DeleteFunc(rows, func(s transport.Source) bool { return s.Len == 0 }) // the place of a gap
	slices.SortFunc(rows, func(a, b transport.Source) int {
		return cmp.Or(cmp.Compare(a.Packet, b.Packet), cmp.Compare(a.Off, b.Off))
	})
	var joined []transport.Source
	for _, s := range rows {
		if n := len(joined); n > 0 && joined[n-1].Packet == s.Packet && joined[n-1].Off+joined[n-1].Len == s.Off {
			joined[n-1].Len += s.Len
		} else {
			joined = append(joined, s)
		}
	}
	if !slices.Equal(joined, captured) {
		return fmt.Errorf("rows have %v\nof %v\n%s", joined, captured, shown.String())
	}
	return nil
}

// TestResync finds messages again behind what cannot be read, and says so in one row.
func TestResync(t *testing.T) {
	for _, h := range harbors(t) {
		e := parse(t, h.text)
		for _, defined := range []bool{true, false} {
			if !defined && (strings.Contains(h.text, "measured") || strings.Contains(h.text, "codes")) {
				continue
			}
			worst, total := 0, 0
			for seed := range seeds(200) {
				rng := rand.New(rand.NewPCG(seed, 32))
				o := Options{Envelope: e}
				if defined {
					o.Definitions = h.lib
				}
				var got told
				tr := New(o)
				var want []string
				send := func(n int) (b []byte) {
					for range n {
						m := h.say(rng)
						want = append(want, string(m))
						b = append(b, h.framed(m)...)
					}
					return b
				}
				before := send(5)
				seg := transport.Segment{Dir: schema.ToServer, At: at, Packet: 1, Start: true, Bytes: before}
				tr.Feed(seg, got.emit)
				seg.Start, seg.Packet, seg.Bytes = false, 2, random(rng, 1+rng.IntN(500))
				if seed%2 == 0 {
					seg.Lost, seg.Bytes = transport.Unknown, nil
				}
				tr.Feed(seg, got.emit)
				seg.Lost, seg.Packet, seg.Bytes = 0, 3, send(80)
				tr.Feed(seg, got.emit)
				tr.Flush(at, got.emit)
				missing := 0
				for _, m := range want {
					if !slices.Contains(got.messages[0], m) {
						missing++
					}
				}
				worst, total = max(worst, missing), total+missing
				if extra := len(got.messages[0]) - (len(want) - missing); defined && extra > 16 {
					t.Errorf("%s\nseed %d: %d messages that nobody sent\n%s", h.text, seed, extra, got.String())
				}
			}
			t.Logf("%q, definitions %t: of 85 messages, %.2f are not found, at worst %d", strings.SplitN(h.text, "\n", 2)[0], defined, float64(total)/float64(seeds(200)), worst)
			if most := map[bool]int{true: 2, false: 12}[defined]; total > most*int(seeds(200)) {
				t.Errorf("%d messages in %d streams are not found", total, seeds(200))
			}
		}
	}
}

// TestResyncOfFronts skips what stands before the first message.
func TestResyncOfFronts(t *testing.T) {
	for _, h := range harbors(t) {
		for name, front := range map[string]string{
			"PROXY protocol v1":            "PROXY TCP4 203.0.113.7 198.51.100.2 51234 25565\r\n",
			"PROXY protocol v2":            "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x07\xc6\x33\x64\x02\xc8\x22\x63\xdd",
			"a policy request":             "<policy-file-request/>\x00",
			"a magic":                      "GAME\x00\x07",
			"the ping of an older version": "\xfe\x01\xfa\x00\x0b\x00M\x00C\x00|\x00P\x00i\x00n\x00g\x00H\x00o\x00s\x00t",
		} {
			rng := rand.New(rand.NewPCG(33, 1))
			var got told
			tr := New(Options{Envelope: parse(t, h.text), Definitions: h.lib})
			stream := []byte(front)
			var want []string
			for range 60 {
				m := h.say(rng)
				want = append(want, string(m))
				stream = append(stream, h.framed(m)...)
			}
			feed(tr, got.emit, transport.Segment{Dir: schema.ToServer, Bytes: stream})
			missing := 0
			for _, m := range want {
				if !slices.Contains(got.messages[0], m) {
					missing++
				}
			}
			if missing > 12 {
				t.Errorf("%q, %s: %d of %d messages are not found\n%.600s", strings.SplitN(h.text, "\n", 2)[0], name, missing, len(want), got.String())
			}
		}
	}
}

// TestResyncOfNoise finds no messages in noise, or hardly any.
func TestResyncOfNoise(t *testing.T) {
	for _, h := range harbors(t) {
		for seed := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, 34))
			tr := New(Options{Envelope: parse(t, h.text), Definitions: h.lib})
			found, from := 0, 0
			emit := func(f *transport.Frame) {
				if f.Kind == transport.Message {
					found++
				}
				for _, s := range f.From {
					from += int(s.Len)
				}
			}
			const size = 1 << 20
			for n := range size >> 12 {
				tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Packet: uint32(n + 1), Bytes: random(rng, 1<<12)}, emit)
			}
			tr.Flush(at, emit)
			if found > 8 || from != size {
				t.Errorf("%q: %d messages in noise; %d of %d bytes in rows", strings.SplitN(h.text, "\n", 2)[0], found, from, size)
			}
		}
	}
}

// TestResyncOfChangedDefinitions defines a code after a search that did not know it. The next search finds its messages.
func TestResyncOfChangedDefinitions(t *testing.T) {
	a := message("a", "", 1, number("x", 32))
	b := message("b", "", 2, number("x", 32))
	lib := &changing{now: newLibrary(t, a)}
	var got told
	tr := New(Options{Envelope: parse(t, "frame length u8\ncode u8"), Definitions: lib})
	for packet := range uint32(6) {
		if packet == 3 {
			lib.now = newLibrary(t, a, b)
		}
		segment := transport.Segment{Dir: schema.ToServer, Packet: packet + 1, At: at, Bytes: bytes.Repeat([]byte("\x05\x02...."), 40)}
		if packet == 0 || packet == 4 {
			segment.Lost = transport.Unknown
			segment.Bytes = segment.Bytes[3:]
		}
		feed(tr, got.emit, segment)
	}
	if n := len(got.messages[0]); n < 110 { // 40, 39 and 40 messages of b
		t.Errorf("%d messages are found\n%s", n, got.String())
	}
}

type changing struct{ now *library }

func (c *changing) Current() Definitions { return c.now }

func (c *changing) Lookup(schema.Key) *schema.Message { panic("it may change") }

func (c *changing) Program(*schema.Message) (*codec.Program, error) { panic("it may change") }

func (c *changing) Behind(*envelope.Header, *schema.Message) *schema.Message { panic("it may change") }

// BenchmarkMustNoise compares a search in noise with 16 sums of its bytes, about 64 cycles a byte: 50 ns at 3 GHz are 2.4 of these, and 3.6 where
// a sum takes less than a nanosecond.
func BenchmarkMustNoise(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 35))
	noise := random(rng, 1<<20)
	heavy := harbor{lib: harborLibrary(b, "play", false), text: "frame length u16 le\ncode u16 le\nchecksum crc crc16 le at -2\ngroup play"} // most lengths are possible, and long
	for _, h := range append(harbors(b), heavy) {
		e := parse(b, h.text)
		b.Run(strings.SplitN(h.text, "\n", 2)[0], func(b *testing.B) {
			took := benchtest.Least(7, benchtest.Job{Name: "search", Run: func() {
				tr := New(Options{Envelope: e, Definitions: h.lib})
				for part := range slices.Chunk(noise, 1460) {
					tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Packet: 1, Bytes: part}, func(*transport.Frame) {})
				}
				tr.Flush(at, func(*transport.Frame) {})
			}}, benchtest.Job{Name: "sums", Run: func() {
				var sum uint32
				for range 16 {
					for _, c := range noise {
						sum = sum*31 + uint32(c)
					}
				}
				sink = sum
			}})
			benchtest.Must(b, len(noise), took[0], took[1], 3.6)
		})
	}
}

var sink uint32

// TestRewriterResyncs relays streams with noise. What cannot be read passes unchanged and at once, and messages behind it can be dropped again.
func TestRewriterResyncs(t *testing.T) {
	for _, h := range harbors(t) {
		dropped := 0
		for _, cipher := range []string{"", "\ncipher aes-cfb8 key hex 000102030405060708090a0b0c0d0e0f iv hex 000102030405060708090a0b0c0d0e0f"} {
			e := parse(t, h.text+cipher)
			for seed := range seeds(100) {
				rng := rand.New(rand.NewPCG(seed, 38))
				var plain []byte
				for range 5 {
					plain = append(plain, h.framed(h.say(rng))...)
				}
				noise := len(plain)
				plain = append(plain, random(rng, rng.IntN(300))...)
				for range 60 {
					plain = append(plain, h.framed(h.say(rng))...)
				}
				stream := bytes.Clone(plain)
				if cipher != "" {
					s, err := newStream(e.Cipher[0].Kind, e.Cipher[0].Key.Bytes, e.Cipher[0].IV.Bytes, true)
					if err != nil {
						t.Fatal(err)
					}
					s.Apply(stream)
				}
				rw := NewRewriter(Options{Envelope: e, Definitions: h.lib})
				type hole struct{ from, to int64 }
				var holes []hole
				var out []byte
				in := 0
				r := &transport.Relay{
					Out:  func(s transport.Segment) { out = append(out, s.Bytes...) },
					Emit: func(*transport.Frame) {},
					Decide: func(_ uint64, f *transport.Frame) transport.Decision {
						if rng.IntN(3) > 0 {
							return transport.Decision{Action: transport.Pass}
						}
						if holes = append(holes, hole{f.Offset, f.Offset + int64(len(h.framed(f.Bytes)))}); f.Offset > int64(noise)+300 {
							dropped++
						}
						return transport.Decision{Action: transport.Drop}
					},
				}
				on := rng.IntN(len(stream) / 2)
				gone := func() (n int) {
					for _, h := range holes {
						n += int(h.to - h.from)
					}
					return n
				}
				for in < len(stream) {
					if in >= on {
						rw.Operate(true, at, r)
						on = len(stream)
					}
					n := min(1+rng.IntN(80), len(stream)-in)
					rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: bytes.Clone(stream[in : in+n]), Start: in == 0}, r)
					in += n
					if x := &rw.t.ways[0]; x.resync != nil && len(out) != in-gone() {
						t.Fatalf("%q, seed %d: %d of %d bytes are sent during a search", h.text, seed, len(out), in-gone())
					}
				}
				rw.Flush(at, r)
				rw.Operate(false, at, r)
				rw.Feed(transport.Segment{Dir: schema.ToServer, At: at, End: true}, r)
				if cipher != "" {
					s, _ := newStream(e.Cipher[0].Kind, e.Cipher[0].Key.Bytes, e.Cipher[0].IV.Bytes, false)
					s.Apply(out)
				}
				var want []byte
				from := int64(0)
				for _, x := range holes {
					want, from = append(want, plain[from:x.from]...), x.to
				}
				if want = append(want, plain[from:]...); !bytes.Equal(out, want) {
					t.Fatalf("%q, seed %d, dropped %v: sent\n%x\nwant\n%x", h.text, seed, holes, out, want)
				}
			}
		}
		t.Logf("%q: %d messages behind noise are dropped", strings.SplitN(h.text, "\n", 2)[0], dropped)
		if dropped < 500*int(seeds(100))/100 {
			t.Errorf("%d messages behind noise are dropped", dropped)
		}
	}
}

// TestResyncIsBounded searches in bytes that look like the start of a long message everywhere: the work of an attempt has a limit.
func TestResyncIsBounded(t *testing.T) {
	m := message("long", "", 'd', &schema.Field{Name: "all", Type: &schema.List{
		Elem: &schema.Struct{Fields: []*schema.Field{number("a", 16)}}, Extent: schema.Extent{Size: schema.ToEnd},
	}})
	list := m.Body.Fields[0].Type.(*schema.List)
	list.Elem.Wire = []schema.Item{{Kind: schema.Value, Field: list.Elem.Fields[0]}}
	tr := New(Options{Envelope: parse(t, "frame length u16 le max 30000\ncode u8"), Definitions: newLibrary(t, m)})
	for range 32 {
		tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Packet: 1, Bytes: bytes.Repeat([]byte("d"), 8<<10)}, func(*transport.Frame) {})
	}
	h := tr.ways[0].resync
	if h == nil || h.work < firstWork {
		t.Fatal("the bytes are no burden")
	}
	if most := firstWork + 32*(8<<10)*workPerByte; h.work > most+most/4 {
		t.Errorf("a search reads %d bytes", h.work)
	}
}
