package packet

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// segments is a TCP stream to the server that a test splits, shuffles and drops at random.
type segments struct {
	data  []byte
	grams []datagram
}

func cutStream(r *rand.Rand, size int) segments {
	s := segments{data: make([]byte, size)}
	for i := range s.data {
		s.data[i] = byte(1 + r.IntN(255))
	}
	base := r.Uint32()
	s.grams = append(s.grams, datagram{tcp: true, flags: FlagSYN, seq: base})
	for at := 0; at < size; {
		n := min(1+r.IntN(40), size-at)
		from := max(0, at-r.IntN(30)*r.IntN(2))
		s.grams = append(s.grams, datagram{tcp: true, flags: FlagACK, seq: base + 1 + uint32(from), data: s.data[from : at+n], size: at + n - from})
		at += n
	}
	return s
}

// TestStreamProperty checks that in any order and with any duplicates, captured bytes are delivered once and in sequence, and the others
// are reported as lost, byte by byte.
func TestStreamProperty(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := cutStream(r, 1+r.IntN(3000))
		grams := append([]datagram(nil), s.grams...)
		for range r.IntN(10) {
			grams = append(grams, grams[r.IntN(len(grams))])
		}
		have := make([]bool, len(s.data))
		kept := grams[:0]
		for i, g := range grams {
			if i > 0 && r.IntN(8) == 0 {
				continue
			}
			kept = append(kept, g)
			for j := range g.data {
				have[int(g.seq-s.grams[0].seq-1)+j] = true
			}
		}
		r.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
		// A missing end of the data cannot be detected.
		end := len(have)
		for end > 0 && !have[end-1] {
			end--
		}
		var got, lost []byte
		first, late := true, kept[0].flags&FlagSYN == 0
		st := stream{pool: &pool{limit: 1 << 20}, out: func(fromB bool, seg transport.Segment) {
			if fromB || seg.Start != first && !late {
				t.Fatalf("seed %d: start %t at the wrong position", seed, seg.Start)
			}
			first = false
			got = append(got, seg.Bytes...)
			lost = append(lost, bytes.Repeat([]byte{1}, len(seg.Bytes))...)
			if seg.Lost > 0 {
				got = append(got, make([]byte, seg.Lost)...)
				lost = append(lost, make([]byte, seg.Lost)...)
			}
		}}
		st.b.fromB = true
		if late { // the start that is detected then depends on the order
			st.a.begin(s.grams[0].seq)
		}
		for i := range kept {
			st.feed(&kept[i], uint32(i+1), packettest.Day)
		}
		st.flush(packettest.Day)
		if len(got) != end {
			t.Fatalf("seed %d: %d bytes, want %d", seed, len(got), end)
		}
		for i := range got {
			if (lost[i] == 1) != have[i] || have[i] && got[i] != s.data[i] {
				t.Fatalf("seed %d: byte %d is %d (there %t), want %d (there %t)", seed, i, got[i], lost[i] == 1, s.data[i], have[i])
			}
		}
		if st.pool.bytes != 0 {
			t.Fatalf("seed %d: %d bytes are still held", seed, st.pool.bytes)
		}
	}
}

// TestStreamBounds feeds a stream whose first byte is missing.
func TestStreamBounds(t *testing.T) {
	lost, got := int64(0), 0
	st := stream{pool: &pool{limit: 1 << 20}, out: func(_ bool, seg transport.Segment) {
		lost += max(seg.Lost, 0)
		got += len(seg.Bytes)
	}}
	data := make([]byte, 1400)
	d := datagram{tcp: true, flags: FlagSYN, seq: 1}
	st.feed(&d, 1, packettest.Day)
	for i := range 5000 {
		d := datagram{tcp: true, flags: FlagACK, seq: 3 + uint32(i)*1401, data: data, size: 1400} // one byte is missing before each
		st.feed(&d, uint32(i+2), packettest.Day)
		if len(st.a.held) > maxHeldSegments || st.pool.bytes > st.pool.limit+1<<16 {
			t.Fatalf("after %d segments %d are held, %d bytes", i+1, len(st.a.held), st.pool.bytes)
		}
	}
	st.flush(packettest.Day)
	if lost != 5000 || got != 5000*1400 {
		t.Errorf("%d bytes lost, %d delivered", lost, got)
	}
}

// Every packet with data is accounted for: its bytes are delivered, or were before, or the packet is counted as a stray one.
func TestStreamAccounts(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := &pool{limit: 1 << 20}
		delivered := map[byte]map[uint32]bool{0: {}, 1: {}} // sequence numbers by direction
		of := map[uint32]datagram{}
		st := stream{pool: p, out: func(fromB bool, seg transport.Segment) {
			d := of[seg.Packet]
			for i := range seg.Lost { // reported as missing
				delivered[b2i(fromB)][d.seq+seg.Off-1-uint32(i)] = true
			}
			for i := range seg.Bytes {
				delivered[b2i(fromB)][d.seq+seg.Off+uint32(i)] = true
			}
		}}
		st.b.fromB = true
		at := [2]uint32{r.Uint32(), r.Uint32()}
		for n := uint32(1); n <= 60; n++ {
			fromB := r.IntN(2) == 0
			w := b2i(fromB)
			size := r.IntN(20)
			d := datagram{tcp: true, fromB: fromB, flags: FlagACK, seq: at[w], ack: at[1-w], data: make([]byte, size), size: size}
			switch r.IntN(16) {
			case 0:
				d.seq += 20 << 20 // of nothing else
			case 1:
				at[w] += 20 << 20 * uint32(1+r.IntN(40)) // a large loss
				d.seq = at[w]
			case 2:
				d.seq -= uint32(r.IntN(100))
			case 3:
				d.seq += uint32(r.IntN(100))
			case 4:
				if n > 30 {
					d.flags |= FlagFIN
				}
			case 5:
				if n > 50 {
					d.flags |= FlagRST
				}
			}
			if d.seq == at[w] {
				at[w] += uint32(size)
			}
			of[n] = d
			st.feed(&d, n, packettest.Day)
		}
		st.flush(packettest.Day)
		gone := uint32(0)
		for n := range uint32(len(of)) {
			d, lost := of[n+1], false
			for i := range d.data {
				have := delivered[b2i(d.fromB)]
				lost = lost || !have[d.seq+uint32(i)]
				have[d.seq+uint32(i)] = true // a retransmission need not be counted
			}
			if lost {
				gone++
			}
		}
		if gone > p.strays {
			t.Fatalf("seed %d: %d packets have bytes that were not delivered, %d are counted", seed, gone, p.strays)
		}
		if p.bytes != 0 {
			t.Fatalf("seed %d: %d bytes are still held", seed, p.bytes)
		}
	}
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// After a loss of more than 16 MiB the stream continues with the first segment after it, not with the third.
func TestStreamFarAhead(t *testing.T) {
	for _, c := range []struct {
		name   string
		grams  []datagram
		want   string
		strays uint32
	}{
		{"three segments", []datagram{{seq: 1, data: []byte("a")}, {seq: 20 << 20, data: []byte("b")}, {seq: 20<<20 + 1, data: []byte("c")}, {seq: 20<<20 + 2, data: []byte("d")}}, "a?bcd", 0},
		{"acknowledged", []datagram{{seq: 1, data: []byte("a")}, {seq: 20 << 20, data: []byte("b")}, {fromB: true, ack: 20<<20 + 1}}, "a?b", 0},
		{"a stray one", []datagram{{seq: 1, data: []byte("a")}, {seq: 20 << 20, data: []byte("b")}, {seq: 2, data: []byte("c")}}, "ac", 1},
		{"the last two", []datagram{{seq: 1, data: []byte("a")}, {seq: 20 << 20, data: []byte("b")}, {seq: 20<<20 + 1, data: []byte("c")}}, "a", 2},
		{"retransmitted", []datagram{{seq: 1, data: []byte("a")}, {seq: 20 << 20, data: []byte("b")}, {seq: 20 << 20, data: []byte("b")}}, "a", 1},
		{"after the end", []datagram{{seq: 1, data: []byte("a")}, {seq: 2, flags: FlagFIN}, {seq: 2, data: []byte("b")}}, "a", 1},
		{"with a reset", []datagram{{seq: 1, data: []byte("a")}, {seq: 2, flags: FlagRST, data: []byte("b")}}, "a", 1},
	} {
		got := ""
		st := stream{pool: &pool{limit: 1 << 20}, out: func(_ bool, seg transport.Segment) {
			if seg.Lost != 0 {
				got += "?"
			}
			got += string(seg.Bytes)
		}}
		st.b.fromB = true
		st.feed(&datagram{tcp: true, flags: FlagSYN}, 1, packettest.Day)
		for i, d := range c.grams {
			d.tcp, d.flags, d.size = true, d.flags|FlagACK, len(d.data)
			st.feed(&d, uint32(i+2), packettest.Day)
		}
		st.flush(packettest.Day)
		if got != c.want || st.pool.strays != c.strays {
			t.Errorf("%s: %q and %d stray packets, want %q and %d", c.name, got, st.pool.strays, c.want, c.strays)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("\x00\x02\x00\x00\x00\x00\x00\x10\x01\x01\x00\x05\x01\x10\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		delivered, fed := 0, 0
		st := stream{pool: &pool{limit: 1 << 16}, out: func(_ bool, seg transport.Segment) {
			if seg.Lost != 0 && len(seg.Bytes) > 0 || seg.Lost < transport.Unknown {
				t.Fatalf("a segment of %d bytes has lost %d", len(seg.Bytes), seg.Lost)
			}
			delivered += len(seg.Bytes)
		}}
		st.b.fromB = true
		n := uint32(0)
		for ; len(script) >= 8; script = script[8:] {
			n++
			d := datagram{tcp: true, fromB: script[0]&1 != 0, flags: script[1] & 31}
			d.seq = uint32(script[2])<<24 | uint32(script[3])
			d.ack = uint32(script[4])<<24 | uint32(script[5])
			d.data = make([]byte, script[6]&63)
			d.size = len(d.data) + int(script[7]&3)
			fed += len(d.data)
			if !st.isNew(&d) {
				st.feed(&d, n, packettest.Day)
			}
		}
		st.flush(packettest.Day)
		st.flush(packettest.Day)
		if delivered > fed || st.pool.bytes != 0 || len(st.a.held)+len(st.b.held) != 0 {
			t.Fatalf("%d bytes of %d are delivered, %d held", delivered, fed, st.pool.bytes)
		}
	})
}

// TestReadAllocatesOutOfOrder checks that buffers of out-of-order segments are reused.
func TestReadAllocatesOutOfOrder(t *testing.T) {
	got := 0
	st := stream{pool: &pool{limit: 1 << 20}, out: func(_ bool, seg transport.Segment) { got += len(seg.Bytes) }}
	data := make([]byte, 100)
	seq := uint32(1)
	d := datagram{tcp: true, flags: FlagSYN}
	st.feed(&d, 1, packettest.Day)
	swap := func() {
		for _, off := range [...]uint32{200, 100, 300, 0} {
			d := datagram{tcp: true, flags: FlagACK, seq: seq + off, data: data, size: 100}
			st.feed(&d, 2, packettest.Day)
		}
		seq += 400
	}
	if n := testing.AllocsPerRun(1000, swap); n != 0 {
		t.Errorf("%v allocations for four packets", n)
	}
	if got != 1001*400 {
		t.Errorf("%d bytes", got)
	}
}

// Data of a SYN (RFC 7413) belong to its connection, even if the SYN-ACK was captured first.
func TestSynWithDataBehindItsAnswer(t *testing.T) {
	var got []byte
	starts := 0
	p := &pool{limit: maxHeldInAll}
	s := &stream{pool: p, out: func(fromB bool, seg transport.Segment) {
		if !fromB {
			got = append(got, seg.Bytes...)
			if seg.Start {
				starts++
			}
		}
	}}
	s.b.fromB = true
	for i, d := range []datagram{
		{tcp: true, fromB: true, flags: FlagSYN | FlagACK, seq: 900, ack: 106},
		{tcp: true, flags: FlagSYN, seq: 100, data: []byte("hello"), size: 5},
		{tcp: true, flags: FlagACK, seq: 106, ack: 901, data: []byte("world"), size: 5},
	} {
		if s.isNew(&d) {
			t.Errorf("packet %d starts another connection", i+1)
		}
		s.feed(&d, uint32(i+1), time.Unix(0, 0))
	}
	if string(got) != "helloworld" || starts != 1 {
		t.Fatalf("%q, %d starts", got, starts)
	}
}

// A FIN of a connection that was not captured otherwise does not end the next one between the same ends.
func TestLoneEndBeforeASyn(t *testing.T) {
	var got []byte
	s := &stream{pool: &pool{limit: maxHeldInAll}, out: func(_ bool, seg transport.Segment) { got = append(got, seg.Bytes...) }}
	s.b.fromB = true
	for i, d := range []datagram{
		{tcp: true, fromB: true, flags: FlagFIN | FlagACK, seq: 4294000000, ack: 77},
		{tcp: true, flags: FlagSYN, seq: 100},
		{tcp: true, fromB: true, flags: FlagSYN | FlagACK, seq: 900, ack: 101},
		{tcp: true, fromB: true, flags: FlagACK, seq: 901, ack: 101, data: []byte("hello"), size: 5},
	} {
		s.feed(&d, uint32(i+1), time.Unix(0, 0))
	}
	if string(got) != "hello" {
		t.Fatalf("%q", got)
	}
}
