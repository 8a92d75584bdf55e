package tera

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// isName reports whether random messages have the code.
func isName(k schema.Key) bool { return k.Code >= 20000 && k.Code%97 == 3 }

// randomMessage returns a message whose body has arbitrary bytes, many of them 0.
func randomMessage(rng *rand.Rand) []byte {
	n := rng.IntN(60)
	if rng.IntN(100) == 0 {
		n = rng.IntN(5000)
	}
	b := make([]byte, headerSize+n)
	for i := range b {
		if rng.IntN(3) > 0 {
			b[i] = byte(rng.Uint32())
		}
	}
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	binary.LittleEndian.PutUint16(b[2:], uint16(20000/97*97+97+97*rng.IntN(300)+3))
	return b
}

// randomScript returns a connection of any kind, with gaps and errors, and segments of several messages.
func randomScript(rng *rand.Rand, lossy bool) *script {
	s := new(script)
	switch rng.IntN(6) {
	case 0:
		s.shake(OldConstants)
	case 1, 2, 3:
		s.shake(CurrentConstants)
	case 4:
		s.sent[rng.IntN(3)]++ // plain, possibly from the middle
	}
	if s.leg != nil {
		s.c2s(message(19900, "v"))
	}
	for range rng.IntN(80) {
		dir := schema.ToClient
		if rng.IntN(3) == 0 {
			dir = schema.ToServer
		}
		var row []byte
		for range 1 + rng.IntN(6) {
			row = append(row, randomMessage(rng)...)
		}
		switch n := rng.IntN(60); {
		case lossy && n == 0:
			s.send(dir, []byte{byte(rng.IntN(4)), 0, 1, 2, 3, 4, 5})
		case lossy && n <= 2:
			from := rng.IntN(len(row))
			to := from + 1 + rng.IntN(len(row)-from)
			s.send(dir, row[:from]).lose(dir, row[from:to]).send(dir, row[to:])
		case lossy && n == 3:
			s.lose(dir, row)
			s.segs[len(s.segs)-1].Lost = transport.Unknown
		default:
			s.send(dir, row)
		}
	}
	return s
}

// lines formats the frames of a connection; opaque bytes are joined, as they are emitted per segment, and so are those that are not read.
type lines struct {
	all            []string
	opaque, unread [3][]byte
}

func (l *lines) emit(f *transport.Frame) {
	switch {
	case f.Kind == transport.Opaque:
		l.opaque[f.Dir] = append(l.opaque[f.Dir], f.Bytes...)
		return
	case f.Kind == transport.Problem && (strings.Contains(f.Note, " not read") || strings.HasPrefix(f.Note, "the end of a message")):
		l.unread[f.Dir] = append(l.unread[f.Dir], f.Bytes...)
		return
	}
	l.all = append(l.all, fmt.Sprintf("%s %s %d %x %d %v %s %v %s", f.Dir, f.Kind, f.Offset, f.Bytes, f.Length, f.Resumed, f.Note, f.At, f.Via))
}

// cut splits segments anywhere.
func cut(rng *rand.Rand, segs []transport.Segment, most int) (all []transport.Segment) {
	for _, s := range segs {
		for rest := s.Bytes; ; {
			part := s
			part.Bytes = rest[:min(len(rest), rng.IntN(most+1))]
			rest = rest[len(part.Bytes):]
			s.Off += uint32(len(part.Bytes))
			part.End = s.End && len(rest) == 0
			all = append(all, part)
			s.Start = s.Start && len(part.Bytes) == 0
			s.Lost = 0
			if len(rest) == 0 {
				break
			}
		}
	}
	return all
}

// However a connection is split into segments, the frames are the same.
func TestCutsDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for round := range 150 {
		s := randomScript(rng, true)
		run := func(segs []transport.Segment) *lines {
			l := new(lines)
			tr := New(Options{Definitions: knows(isName)})
			for _, seg := range segs {
				tr.Feed(seg, l.emit)
			}
			tr.Flush(at, l.emit)
			slices.SortStableFunc(l.all, func(a, b string) int { return strings.Compare(a[:3], b[:3]) }) // a direction may wait for more bytes
			return l
		}
		whole := run(s.segs)
		for _, most := range []int{1, 7, 3000} {
			got := run(cut(rng, s.segs, most))
			if !slices.Equal(got.all, whole.all) {
				i := 0
				for i < min(len(got.all), len(whole.all)) && got.all[i] == whole.all[i] {
					i++
				}
				t.Fatalf("round %d, cut into %d: %d frames, not %d\n got %.300s\nwant %.300s", round, most, len(got.all), len(whole.all), entry(got.all, i), entry(whole.all, i))
			}
			for dir := range got.opaque {
				if !bytes.Equal(got.opaque[dir], whole.opaque[dir]) || !bytes.Equal(got.unread[dir], whole.unread[dir]) {
					t.Fatalf("round %d, cut into %d: opaque or unread bytes differ", round, most)
				}
			}
		}
	}
}

func entry(l []string, i int) string {
	if i < len(l) {
		return l[i]
	}
	return "nothing"
}

// The sources of a frame are exactly its captured bytes, and its time is that of the packet with its last byte.
func TestSources(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 200 {
		s := randomScript(rng, false)
		segs := cut(rng, s.segs, 300)
		// Each is a packet, with 10 bytes before the segment.
		starts, sent := make([]int64, len(segs)), [3]int64{}
		for i := range segs {
			segs[i].Packet, segs[i].Off, segs[i].At = uint32(i+1), 10, at.Add(time.Duration(i)*time.Second)
			starts[i] = sent[segs[i].Dir]
			sent[segs[i].Dir] += int64(len(segs[i].Bytes))
		}
		frames := 0
		emit := func(f *transport.Frame) {
			frames++
			next := f.Offset
			for _, from := range f.From {
				i := from.Packet - 1
				if segs[i].Dir != f.Dir || starts[i]+int64(from.Off)-10 != next || from.Off < 10 || from.Len == 0 || int(from.Off-10+from.Len) > len(segs[i].Bytes) {
					t.Fatalf("%s at %d: %v", f.Kind, f.Offset, f.From)
				}
				next += int64(from.Len)
			}
			if next != f.Offset+int64(len(f.Bytes)) {
				t.Fatalf("%s at %d of %d bytes: %v", f.Kind, f.Offset, len(f.Bytes), f.From)
			}
			if n := len(f.From); n > 0 && f.Kind != transport.Problem && !f.At.Equal(segs[f.From[n-1].Packet-1].At) {
				t.Fatalf("%s at %d: time of another packet", f.Kind, f.Offset)
			}
		}
		tr := New(Options{Definitions: knows(isName)})
		for _, seg := range segs {
			tr.Feed(seg, emit)
		}
		tr.Flush(at, emit)
		if frames == 0 && len(segs) > 3 {
			t.Error("no frames")
		}
	}
}

// Missing bytes cost only the messages that they belong to, and those up to the next detectable start.
func TestLossLosesWhatIsLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	wrong, gone, cuts := 0, 0, 0
	for range 200 {
		s := new(script).shake(CurrentConstants).c2s(message(19900, "v"))
		type place struct {
			data []byte
			lost bool
		}
		places := map[int64]place{}
		for range 200 {
			data := randomMessage(rng)
			p := place{data: data}
			offset := s.sent[schema.ToClient]
			if rng.IntN(40) == 0 {
				from := rng.IntN(len(data))
				to := from + 1 + rng.IntN(len(data)-from)
				s.s2c(data[:from]).lose(schema.ToClient, data[from:to]).s2c(data[to:])
				p.lost = true
				cuts++
			} else {
				s.s2c(data)
			}
			places[offset] = p
		}
		tr := New(Options{Definitions: knows(isName)})
		emit := func(f *transport.Frame) {
			if f.Kind != transport.Message || f.Dir != schema.ToClient {
				return
			}
			p, ok := places[f.Offset]
			if !ok || p.lost || !bytes.Equal(p.data, f.Bytes) {
				wrong++
			}
			delete(places, f.Offset)
		}
		for _, seg := range s.segs {
			tr.Feed(seg, emit)
		}
		tr.Flush(at, emit)
		for _, p := range places {
			if !p.lost {
				gone++
			}
		}
	}
	if wrong > 0 || gone > cuts/100 {
		t.Errorf("%d gaps: %d messages that are none, %d lost besides", cuts, wrong, gone)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	for _, kind := range []string{"plain", "encrypted", "long header"} {
		s := new(script)
		if kind != "plain" {
			s.shake(CurrentConstants)
		}
		s.c2s(message(19900, "v")).s2c(message(19901, "w"))
		o := Options{}
		if kind == "long header" {
			o.IntegrityIV = func(schema.Key, []byte) (uint32, bool) { return 0, true }
		}
		tr := New(o)
		n := 0
		emit := func(f *transport.Frame) {
			if f.Kind == transport.Message {
				n++
			}
		}
		for i, seg := range s.segs {
			seg.Packet = uint32(i + 1)
			tr.Feed(seg, emit)
		}
		row := messageRow(30, 5000, "a body of some bytes")
		packet, wire := uint32(100), bytes.Clone(row)
		feed := func() {
			for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
				copy(wire, row)
				if s.leg != nil {
					s.cipher(dir).XORKeyStream(wire, wire)
				}
				for data := wire; len(data) > 0; {
					k := min(len(data), 100)
					packet++
					tr.Feed(transport.Segment{Dir: dir, At: at, Packet: packet, Bytes: data[:k]}, emit)
					data = data[k:]
				}
			}
		}
		feed()
		if a := testing.AllocsPerRun(100, feed); a > 0 || n < 6000 {
			t.Errorf("%s: %v allocations, %d messages", kind, a, n)
		}
	}
}

// The work and memory of the transport do not depend on the sizes that a connection claims.
func TestHostileInputIsLinear(t *testing.T) {
	count := func(feed func(tr *Transport, emit func(*transport.Frame))) (tr *Transport) {
		tr = New(Options{})
		start := time.Now()
		feed(tr, func(*transport.Frame) {})
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("took %v", d)
		}
		if cap(tr.pending.bytes) > 1<<20 {
			t.Errorf("keeps %d pending bytes", cap(tr.pending.bytes))
		}
		return tr
	}
	shaken := new(script).shake(CurrentConstants).c2s(message(19900, "v"))
	garbage := bytes.Repeat([]byte{4, 0, 0, 0, 0, 0, 0xff}, 300)
	t.Run("huge gaps", func(t *testing.T) {
		count(func(tr *Transport, emit func(*transport.Frame)) {
			for _, s := range shaken.segs {
				tr.Feed(s, emit)
			}
			for i := range 100_000 {
				tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Lost: 1<<24 + int64(i)}, emit)
				tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Bytes: garbage[:3]}, emit)
			}
		})
	})
	t.Run("gaps without end", func(t *testing.T) {
		count(func(tr *Transport, emit func(*transport.Frame)) {
			for range 10 {
				tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Lost: 1<<63 - 1, Bytes: garbage[:3]}, emit)
				tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Lost: -5, Bytes: garbage[:3]}, emit)
			}
		})
	})
	for _, step := range []int{1, 1000} {
		t.Run(fmt.Sprintf("never a message again, %d bytes a segment", step), func(t *testing.T) {
			count(func(tr *Transport, emit func(*transport.Frame)) {
				for _, s := range new(script).c2s(message(19900, "v")).s2c(message(19901, "w")).segs {
					tr.Feed(s, emit)
				}
				for i := range 1 << 20 / step {
					tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Packet: uint32(i), Bytes: bytes.Repeat([]byte{2}, step)[:step]}, emit)
					tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Packet: uint32(i), Bytes: garbage[i%7:][:step]}, emit)
				}
			})
		})
	}
	t.Run("a large segment", func(t *testing.T) {
		count(func(tr *Transport, emit func(*transport.Frame)) {
			for _, s := range shaken.segs {
				tr.Feed(s, emit)
			}
			tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Bytes: make([]byte, 32<<20)}, emit)
		})
	})
	t.Run("never decided", func(t *testing.T) {
		count(func(tr *Transport, emit func(*transport.Frame)) {
			for i := range 1 << 20 {
				tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Start: i == 0, Bytes: []byte{0xff}}, emit)
			}
		})
	})
}

func FuzzTransport(f *testing.F) {
	// The first byte of a step selects the action, the following ones its size.
	f.Add([]byte("\x00\x05\x05\x00\xbc\x4dv\x01\x05\x05\x00\xbd\x4dw\x00\x03abc\x04\x09\x01\x02zz"), false)
	f.Add([]byte("\x00\x05\x05\x00\xbc\x4dv\x01\x09\x04\x00\x01\x60\x04\x00\x02\x60\x00\x05\x09\x01\x08\x04\x00\x01\x60\x04\x00\x02\x60\x06\x07"), true)
	f.Fuzz(func(t *testing.T, data []byte, encrypted bool) {
		s := new(script)
		if encrypted {
			s.shake(CurrentConstants)
		}
		big := 0
		for len(data) >= 2 {
			do, n := data[0], int(data[1])
			data = data[2:]
			dir := schema.ToServer
			if do&1 != 0 {
				dir = schema.ToClient
			}
			switch do >> 1 % 8 {
			case 0, 1:
				n = min(n, len(data))
				s.send(dir, data[:n])
				data = data[n:]
			case 2:
				s.lose(dir, make([]byte, n))
			case 3:
				s.segs = append(s.segs, transport.Segment{Dir: dir, At: at, Lost: int64(n) - 128, Start: n&1 != 0})
			case 4:
				s.segs = append(s.segs, transport.Segment{Dir: dir, At: at, Lost: int64(n) << 55})
			case 5:
				s.segs = append(s.segs, transport.Segment{Dir: dir, At: at, End: true})
			case 6:
				n = min(n, len(data))
				s.raw(dir, data[:n])
				data = data[n:]
			case 7:
				if big++; big <= 8 { // enough to pass the start of the search, few enough to be fast
					s.segs = append(s.segs, transport.Segment{Dir: dir, At: at, Bytes: make([]byte, n<<8), Start: n&2 != 0})
				}
			}
		}
		var next [3]int64
		tr := New(Options{IntegrityIV: func(schema.Key, []byte) (uint32, bool) { return 1, true }})
		emit := func(f *transport.Frame) {
			if f.Kind == transport.Problem {
				return
			}
			if f.Offset < next[f.Dir] {
				t.Errorf("%s at %d after %d", f.Kind, f.Offset, next[f.Dir])
			}
			next[f.Dir] = f.Offset + int64(len(f.Bytes))
			if f.Kind == transport.Message && (len(f.Bytes) < headerSize || int(binary.LittleEndian.Uint16(f.Bytes)) != len(f.Bytes)) {
				t.Errorf("message of %d bytes at %d", len(f.Bytes), f.Offset)
			}
		}
		for i, seg := range s.segs {
			tr.Feed(seg, emit)
			if i%16 == 15 {
				tr.Flush(at, emit)
			}
		}
		tr.Flush(at, emit)
	})
}

func BenchmarkTransport(b *testing.B) {
	for _, kind := range []string{"plain", "encrypted"} {
		b.Run(kind, func(b *testing.B) {
			s := new(script)
			if kind == "encrypted" {
				s.shake(CurrentConstants)
			}
			s.c2s(message(19900, "v")).s2c(message(19901, "w"))
			tr := New(Options{})
			n := 0
			emit := func(*transport.Frame) { n++ }
			for _, seg := range s.segs {
				tr.Feed(seg, emit)
			}
			row := messageRow(40, 5000, "a body of thirty bytes, or so.")
			b.SetBytes(int64(len(row)))
			b.ReportAllocs()
			n = 0
			wire := bytes.Clone(row)
			for i := uint32(0); b.Loop(); i++ {
				if s.leg != nil {
					b.StopTimer()
					copy(wire, row)
					s.leg.ToClient.XORKeyStream(wire, wire)
					b.StartTimer()
				}
				tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Packet: i, Bytes: wire}, emit)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/message")
		})
	}
}
