package pcap

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// manyPackets returns a pcapng of several sections with different interfaces and a number of packets; the data of a packet are its number.
func manyPackets(t testing.TB, n int) []byte {
	var file bytes.Buffer
	var w *Writer
	for i := range n {
		if i%7000 == 0 {
			var err error
			if w, err = NewWriter(&file, "test"); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Interface(Interface{Link: packet.LinkType(100 + i/7000)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Packet(&packet.Packet{At: time.Unix(int64(i), 0), Data: binary.BigEndian.AppendUint32(nil, uint32(i+1))}); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

// countedFile counts the bytes read from a file.
type countedFile struct {
	*bytes.Reader
	n int
}

func (c *countedFile) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func TestIndexFindsPackets(t *testing.T) {
	data := manyPackets(t, 35_000)
	var x Index
	find := func(data []byte, want ...uint32) (read int, got []string) {
		t.Helper()
		file := &countedFile{Reader: bytes.NewReader(data)}
		if err := x.Packets(file, want, func(p *packet.Packet) bool {
			got = append(got, fmt.Sprint(p.N, " ", binary.BigEndian.Uint32(p.Data), " ", p.Link, " ", p.At.Unix()))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return file.n, got
	}
	want := []string{"9 9 100 8", "7000 7000 100 6999", "7001 7001 101 7000", "34990 34990 104 34989"}
	first, got := find(data, 9, 7000, 7001, 34_990, 40_000)
	if !slices.Equal(got, want) {
		t.Errorf("at first: %q", got)
	}
	second, got := find(data, 9, 7000, 7001, 34_990, 40_000)
	if !slices.Equal(got, want) {
		t.Errorf("with the index: %q", got)
	}
	if first < len(data) || second > first*3/4 {
		t.Errorf("%d bytes were read at first, then %d of %d", first, second, len(data))
	}
	if _, got := find(data, 0, 20_000, 20_001, 30_000); !slices.Equal(got, []string{"20000 20000 102 19999", "20001 20001 102 20000", "30000 30000 104 29999"}) {
		t.Errorf("at marks: %q", got)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(data)
	z.Close()
	x = Index{}
	for range 2 {
		if _, got := find(packed.Bytes(), 9, 7000, 7001, 34_990, 40_000); !slices.Equal(got, want) || len(x.marks) > 0 {
			t.Errorf("packed: %q, %d marks", got, len(x.marks))
		}
	}
	x = Index{}
	if _, got := find(data[:len(data)/2], 17_000, 34_990); len(got) != 1 {
		t.Errorf("cut off: %q", got)
	}
	if err := x.Packets(bytes.NewReader([]byte("a letter")), []uint32{1}, nil); err == nil {
		t.Error("a single letter is accepted as a capture")
	}
	n := 0
	if err := x.Packets(bytes.NewReader(data), []uint32{1, 2, 3}, func(*packet.Packet) bool { n++; return false }); err != nil || n != 1 {
		t.Error("it does not stop", n, err)
	}
}

// The marks of a file whose sections have the maximum of interfaces store a bounded number of them.
func TestIndexIsBounded(t *testing.T) {
	x := Index{}
	r := &Reader{in: scan.NewInput(nil), form: "pcapng"}
	for i := range uint32(1000) {
		r.packet.N, r.ifaces = (i+1)*markEvery, make([]Interface, maxInterfaces)
		r.ifaces[0].Link = packet.LinkType(i)
		x.learn(r)
	}
	if x.ifaces > maxMarkIfaces+maxInterfaces {
		t.Errorf("%d interfaces", x.ifaces)
	}
	for range 2 * maxMarks {
		r.packet.N += markEvery
		x.learn(r)
	}
	if len(x.marks) > maxMarks {
		t.Errorf("%d marks", len(x.marks))
	}
}

func TestPayload(t *testing.T) {
	for _, c := range []transport.Conn{
		{Proto: transport.TCP},
		{Proto: transport.UDP},
		{Proto: transport.UDP, Client: netip.MustParseAddrPort("[fe80::1]:4000"), Server: netip.MustParseAddrPort("[fe80::2]:5000")},
	} {
		var file bytes.Buffer
		w, _ := NewWriter(&file, "")
		iface, _ := w.Interface(Interface{Link: packet.LinkEthernet})
		s := NewSynthetic(w, iface, c)
		if err := s.Data(schema.ToServer, time.Unix(1, 0), []byte("payload"), ""); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		off, size, ok := p.Payload()
		if !ok || string(p.Data[off:off+size]) != "payload" {
			t.Errorf("%v: %d, %d, %v", c, off, size, ok)
		}
		p.Data = append(p.Data, "trailer"...) // Ethernet pads short packets
		if off, size, ok = p.Payload(); !ok || string(p.Data[off:off+size]) != "payload" {
			t.Errorf("%v with a trailer: %d, %d, %v", c, off, size, ok)
		}
		if p.Data = p.Data[:20]; len(p.Data) == 20 {
			if _, _, ok = p.Payload(); ok {
				t.Error("there is no payload")
			}
		}
	}
}

// The sources of frames are inside the payloads of their packets.
func TestPayloadOfCorpora(t *testing.T) {
	n := 0
	_, err := Read(bytes.NewReader(corpora.Own().Read(t, "subspace/plain-session.pcap")), packet.Options{Packet: func(p *packet.Packet) {
		if off, size, ok := p.Payload(); ok {
			if off < 0 || off+size > len(p.Data) || size == 0 {
				t.Fatalf("packet %d: %d bytes at %d of %d", p.N, size, off, len(p.Data))
			}
			n++
		}
	}}, func(*transport.Frame) {})
	if err != nil || n < 100 {
		t.Error(n, err)
	}
}

func FuzzPayload(f *testing.F) {
	f.Add(uint32(1), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0, 2, 0, 8, 0, 0})
	f.Fuzz(func(t *testing.T, link uint32, data []byte) {
		p := packet.Packet{Link: packet.LinkType(link), Data: data}
		if off, size, ok := p.Payload(); ok && (off < 0 || size < 0 || off+size > len(data)) {
			t.Errorf("%d bytes at %d of %d", size, off, len(data))
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add(manyPackets(f, 20), uint16(3), uint16(9))
	f.Fuzz(func(t *testing.T, data []byte, a, b uint16) {
		want := []uint32{uint32(min(a, b)), uint32(max(a, b))}
		var x Index
		var before []uint32
		for i := range 2 {
			var got []uint32
			if err := x.Packets(bytes.NewReader(data), want, func(p *packet.Packet) bool {
				got = append(got, p.N)
				return true
			}); err != nil {
				return
			}
			if i > 0 && !slices.Equal(got, before) {
				t.Errorf("%v, then %v", before, got)
			}
			before = got
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	data := manyPackets(b, 1_000_000)
	b.Run("from the start", func(b *testing.B) {
		for range b.N {
			var x Index
			_ = x.Packets(bytes.NewReader(data), []uint32{999_999}, func(*packet.Packet) bool { return false })
		}
		b.SetBytes(int64(len(data)))
	})
	b.Run("by marks", func(b *testing.B) {
		var x Index
		for range b.N {
			_ = x.Packets(bytes.NewReader(data), []uint32{999_999}, func(*packet.Packet) bool { return false })
		}
	})
}

var _ io.ReadSeeker = (*countedFile)(nil)
