package pcap

import (
	"bytes"
	"io"
	"net/netip"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// traffic writes a capture of n messages of 40 bytes in several connections.
func traffic(t testing.TB, proto transport.Proto, n int) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	var conns []*Synthetic
	for i := range 8 {
		c := packettest.Conversation(proto)
		c.Client = netip.AddrPortFrom(c.Client.Addr(), uint16(40000+i))
		conns = append(conns, NewSynthetic(w, 0, c))
	}
	at := packettest.Day
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
	for _, proto := range []transport.Proto{transport.TCP, transport.UDP} {
		b.Run(proto.String(), func(b *testing.B) {
			const n = 1_000_000
			file := traffic(b, proto, n)
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				got := 0
				if _, err := Read(bytes.NewReader(file), packet.Options{New: packettest.NewSink}, func(*transport.Frame) { got++ }); err != nil || got != n {
					b.Fatalf("%d frames, %v", got, err)
				}
			}
		})
	}
}

// TestReadAllocates checks that known connections need no allocations per packet.
func TestReadAllocates(t *testing.T) {
	for _, proto := range []transport.Proto{transport.TCP, transport.UDP} {
		r, err := NewReader(&again{file: traffic(t, proto, 4000)})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		a := packet.NewAssembler(packet.Options{New: packettest.NewSink}, func(*transport.Frame) { got++ })
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

// again returns a file in parts, as a disk does.
type again struct{ file []byte }

func (a *again) Read(to []byte) (int, error) {
	if len(a.file) == 0 {
		return 0, io.EOF
	}
	n := copy(to[:min(len(to), 32<<10)], a.file)
	a.file = a.file[n:]
	return n, nil
}
