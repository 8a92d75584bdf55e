package capture

import (
	"bytes"
	"io"
	"net/netip"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// sink is a transport that emits each segment as one frame.
type sink struct{ frame transport.Frame }

func (s *sink) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	s.frame.Dir, s.frame.At, s.frame.Bytes = seg.Dir, seg.At, seg.Bytes
	emit(&s.frame)
}

func (s *sink) Flush(time.Time, func(*transport.Frame)) {}

func newSink(Conn) transport.Transport { return &sink{} }

// traffic writes a capture of n messages of 40 bytes of several connections.
func traffic(t testing.TB, proto Proto, n int) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Link: LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	var conns []*Synthetic
	for i := range 8 {
		c := conversation(proto)
		c.Client = netip.AddrPortFrom(c.Client.Addr(), uint16(40000+i))
		conns = append(conns, NewSynthetic(w, 0, c))
	}
	at := day
	for _, s := range conns {
		if err := s.Open(at); err != nil {
			t.Fatal(err)
		}
	}
	data := make([]byte, 40)
	for i := range n {
		at = at.Add(time.Millisecond)
		if err := conns[i/3%8].Data(schema.ToServer+schema.Dir(i%2), at, data, ""); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

func BenchmarkRead(b *testing.B) {
	for _, proto := range []Proto{TCP, UDP} {
		b.Run(proto.String(), func(b *testing.B) {
			const n = 1_000_000
			file := traffic(b, proto, n)
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				got := 0
				if _, err := Read(bytes.NewReader(file), Options{New: newSink}, func(Frame) { got++ }); err != nil || got != n {
					b.Fatalf("%d frames, %v", got, err)
				}
			}
		})
	}
}

// TestReadAllocates nothing per packet, once the connections are known.
func TestReadAllocates(t *testing.T) {
	for _, proto := range []Proto{TCP, UDP} {
		r, err := NewReader(&again{file: traffic(t, proto, 4000)})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		a := NewAssembler(Options{New: newSink}, func(Frame) { got++ })
		next := func() {
			p, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			a.Packet(p)
		}
		for range 1000 {
			next()
		}
		before := got
		if n := testing.AllocsPerRun(2000, next); n != 0 {
			t.Errorf("%v: %v allocations a packet", proto, n)
		}
		if got-before < 2000 {
			t.Errorf("%v: %d frames of 2000 packets", proto, got-before)
		}
	}
}

// TestReadAllocatesOutOfOrder: segments that wait for others are kept in buffers that are used again.
func TestReadAllocatesOutOfOrder(t *testing.T) {
	got := 0
	st := stream{pool: &pool{limit: 1 << 20}, out: func(_ bool, seg transport.Segment) { got += len(seg.Bytes) }}
	data := make([]byte, 100)
	seq := uint32(1)
	d := datagram{tcp: true, flags: flagSYN}
	st.feed(&d, 1, day)
	swap := func() {
		for _, off := range [...]uint32{200, 100, 300, 0} {
			d := datagram{tcp: true, flags: flagACK, seq: seq + off, data: data, size: 100}
			st.feed(&d, 2, day)
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

// again gives a file bit by bit, as a disk does.
type again struct{ file []byte }

func (a *again) Read(to []byte) (int, error) {
	if len(a.file) == 0 {
		return 0, io.EOF
	}
	n := copy(to[:min(len(to), 32<<10)], a.file)
	a.file = a.file[n:]
	return n, nil
}
