package pcap

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// sample is a capture of a short conversation, with comments.
func sample(t testing.TB, proto transport.Proto) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, "test", "about the section")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Name: "lo", Link: packet.LinkEthernet, SnapLen: 1 << 16}); err != nil {
		t.Fatal(err)
	}
	s := NewSynthetic(w, 0, packettest.Conversation(proto))
	for _, err := range []error{
		s.Open(packettest.Day),
		s.Data(schema.ToServer, packettest.Day.Add(time.Nanosecond), []byte("hello"), "greets"),
		s.Data(schema.ToClient, packettest.Day.Add(time.Second), []byte("world!"), ""),
		s.Close(schema.ToServer, packettest.Day.Add(time.Minute)),
		s.Close(schema.ToClient, packettest.Day.Add(time.Minute)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

func readAll(t testing.TB, file []byte) (packets []packet.Packet, err error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	for {
		p, err := r.Next()
		if err != nil {
			if _, again := r.Next(); again != err { //nolint:errorlint // the same value
				t.Errorf("%v is followed by %v", err, again)
			}
			return packets, err
		}
		kept := *p
		kept.Data = bytes.Clone(p.Data)
		packets = append(packets, kept)
	}
}

func TestWriterRoundTrip(t *testing.T) {
	packets, err := readAll(t, sample(t, transport.TCP))
	if !errors.Is(err, io.EOF) || len(packets) != 7 {
		t.Fatalf("%d packets, %v", len(packets), err)
	}
	p := packets[3]
	if p.N != 4 || !p.At.Equal(packettest.Day.Add(time.Nanosecond)) || p.Comment != "greets" || p.Flow != packet.Inbound || p.Link != packet.LinkEthernet || p.Orig != uint32(len(p.Data)) {
		t.Errorf("%+v", p)
	}
	if packets[4].Flow != packet.Outbound || packets[4].Comment != "" {
		t.Errorf("%+v", packets[4])
	}
	for _, p := range packets {
		head := p.Data[14:34]
		if packet.Fold(packet.Sum16(head)) != 0xffff {
			t.Errorf("packet %d: the checksum of IP is wrong", p.N)
		}
		body := p.Data[34:]
		if got := packet.Fold(packet.Sum16(head[12:]) + packet.ProtoTCP + uint32(len(body)) + packet.Sum16(body)); got != 0xffff {
			t.Errorf("packet %d: the checksum of TCP is wrong: %04x", p.N, got)
		}
	}
	tapes, _ := play(t, sample(t, transport.TCP))
	want := "4: c2s \"hello\" start\n5: s2c \"world!\" start\n6: c2s \"\" end\n7: s2c \"\" end"
	if got := strings.Join(tapes[0].Log, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if tapes, _ := play(t, sample(t, transport.UDP)); strings.Join(tapes[0].Log, "; ") != `1: c2s "hello"; 2: s2c "world!"` {
		t.Errorf("%q", tapes[0].Log)
	}
}

// TestTruncated truncates files at every byte: the packets before that are read, and the error has the position.
func TestTruncated(t *testing.T) {
	whole := sample(t, transport.TCP)
	all, _ := readAll(t, whole)
	for _, file := range [][]byte{whole, asPcap(all, binary.BigEndian, true)} {
		last := 0
		for n := 4; n < len(file); n++ {
			packets, err := readAll(t, file[:n])
			var torn *packet.Torn
			if errors.As(err, &torn) {
				if torn.Pos > int64(n) || int(torn.Packets) != len(packets) || torn.Why == "" {
					t.Fatalf("cut at %d: %v", n, torn)
				}
			} else if !errors.Is(err, io.EOF) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			if len(packets) < last || len(packets) > last+1 {
				t.Fatalf("cut at %d: %d packets after %d", n, len(packets), last)
			}
			last = len(packets)
			for i := range packets {
				if !bytes.Equal(packets[i].Data, all[i].Data) {
					t.Fatalf("cut at %d: packet %d differs", n, i+1)
				}
			}
		}
	}
	packed := pack(t, whole)
	packets, err := readAll(t, packed[:len(packed)-20])
	var torn *packet.Torn
	if !errors.As(err, &torn) || len(packets) == 0 {
		t.Errorf("cut gzip: %d packets, %v", len(packets), err)
	}
}

func pack(t testing.TB, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	for part := file; len(part) > 0; part = part[min(len(part), 100):] {
		if _, err := z.Write(part[:min(len(part), 100)]); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// order is a byte order that supports appending.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func asPcap(packets []packet.Packet, o order, nanos bool) []byte {
	magic, unit := uint32(pcapMicro), 1000
	if nanos {
		magic, unit = pcapNano, 1
	}
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, 2)
	b = o.AppendUint16(b, 4)
	for _, v := range []uint32{0, 0, 1 << 16, uint32(packets[0].Link)} {
		b = o.AppendUint32(b, v)
	}
	for _, p := range packets {
		for _, v := range []uint32{uint32(p.At.Unix()), uint32(p.At.Nanosecond() / unit), uint32(len(p.Data)), p.Orig} {
			b = o.AppendUint32(b, v)
		}
		b = append(b, p.Data...)
	}
	return b
}

func TestPcap(t *testing.T) {
	all, _ := readAll(t, sample(t, transport.TCP))
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		for _, nanos := range []bool{false, true} {
			file := asPcap(all, o, nanos)
			for _, file := range [][]byte{file, pack(t, file)} {
				packets, err := readAll(t, file)
				if !errors.Is(err, io.EOF) || len(packets) != len(all) {
					t.Fatalf("%v nanos %t: %d packets, %v", o, nanos, len(packets), err)
				}
				for i, p := range packets {
					at := all[i].At
					if !nanos {
						at = at.Truncate(time.Microsecond)
					}
					if !p.At.Equal(at) || !bytes.Equal(p.Data, all[i].Data) || p.N != all[i].N || p.Link != packet.LinkEthernet {
						t.Errorf("%v nanos %t: packet %+v, want %+v", o, nanos, p, all[i])
					}
				}
			}
		}
	}
}

// block encodes a block of a pcapng.
func block(o order, kind uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	b := o.AppendUint32(nil, kind)
	b = o.AppendUint32(b, uint32(len(body)+12))
	b = append(b, body...)
	return o.AppendUint32(b, uint32(len(body)+12))
}

func sectionBlock(o order) []byte {
	b := o.AppendUint32(nil, sectionMagic)
	b = o.AppendUint16(b, 1)
	b = o.AppendUint16(b, 0)
	return block(o, blockSection, o.AppendUint64(b, ^uint64(0)))
}

func opt(o order, code uint16, value ...byte) []byte {
	b := o.AppendUint16(o.AppendUint16(nil, code), uint16(len(value)))
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func TestPcapngBlocks(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		words := func(v ...uint32) []byte { return words(o, v...) }
		iface := func(link uint16, snap uint32, options ...[]byte) []byte {
			b := o.AppendUint16(o.AppendUint16(nil, link), 0)
			return block(o, blockInterface, append(o.AppendUint32(b, snap), bytes.Join(options, nil)...))
		}
		var old []byte
		old = o.AppendUint16(old, 1) // interface
		old = o.AppendUint16(old, 7) // drops
		old = append(old, words(0, 2000, 2, 9)...)
		file := bytes.Join([][]byte{
			sectionBlock(o),
			iface(1, 3),
			iface(101, 0, opt(o, optionResol, 3), opt(o, optionOffset, o.AppendUint64(nil, 100)...), opt(o, optionIfName, []byte("eth\x00")...)),
			block(o, 4, words(1, 2, 3)), // name resolution
			block(o, blockSimple, append(words(5), "abc"...)),
			block(o, blockOldPacket, append(old, "xy"...)),
			block(o, blockPacket, bytes.Join([][]byte{
				words(1, 0, 5250, 1, 1),
				{'z', 0, 0, 0},
				opt(o, optionComment, []byte("one")...), opt(o, 9999, 1, 2, 3),
				opt(o, optionComment, []byte("two")...), opt(o, optionFlags, words(2)...), opt(o, optionEnd),
			}, nil)),
			sectionBlock(o),
			iface(228, 0, opt(o, optionResol, 0x80|10)),
			block(o, blockPacket, append(words(3, 0, 0, 2, 2), "no"...)), // there is no such interface: only this packet is lost
			block(o, blockPacket, append(words(0, 0, 0, 9, 9), "no"...)),
			block(o, blockPacket, []byte("no")),
			block(o, blockPacket, append(words(0, 0, 1536, 2, 2), "hi"...)),
		}, nil)
		packets, err := readAll(t, file)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%v: ends with %v", o, err)
		}
		if sum, err := Read(bytes.NewReader(file), packet.Options{}, func(*transport.Frame) {}); err != nil || sum.Torn != nil || sum.Malformed < 3 || sum.Packets != 4 {
			t.Errorf("%v: %+v, %v", o, sum, err)
		}
		var got []string
		for _, p := range packets {
			at := "-"
			if !p.At.IsZero() {
				at = fmt.Sprint(float64(p.At.UnixMilli()) / 1000)
			}
			got = append(got, fmt.Sprintf("%d %s %d %q %d %q %d %q", p.N, at, p.Link, p.Data, p.Orig, p.Comment, p.Flow, file[p.Pos:p.Pos+int64(len(p.Data))]))
		}
		want := []string{
			`1 - 1 "abc" 5 "" 0 "abc"`,
			`2 102 101 "xy" 9 "" 0 "xy"`,
			`3 105.25 101 "z" 1 "one\ntwo" 2 "z"`,
			`7 1.5 228 "hi" 2 "" 0 "hi"`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%v: got\n%s\nwant\n%s", o, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestTimeStamps(t *testing.T) {
	for _, c := range []struct {
		resolution uint8
		offset     int64
		stamp      uint64
		want       string
	}{
		{6, 0, 1_000_001, "1970-01-01T00:00:01.000001Z"},
		{9, 0, 1_700_000_000_123_456_789, "2023-11-14T22:13:20.123456789Z"},
		{0, 3600, 1, "1970-01-01T01:00:01Z"},
		{12, 0, 1_500_000_000_000, "1970-01-01T00:00:01.5Z"},
		{19, 0, 15_000_000_000_000_000_000, "1970-01-01T00:00:01.5Z"},
		{127, 0, 1 << 63, "1970-01-01T00:00:00Z"},
		{0x80 | 32, 0, 3 << 31, "1970-01-01T00:00:01.5Z"},
		{0x80 | 63, 0, 3 << 62, "1970-01-01T00:00:01.5Z"},
		{0x80 | 64, 0, 1 << 63, "1970-01-01T00:00:00.5Z"},
		{0x80, 0, 7, "1970-01-01T00:00:07Z"},
		{0xff, 0, 1 << 63, "1970-01-01T00:00:00Z"},
		{0, 0, 1 << 62, "0001-01-01T00:00:00Z"},
		{6, -10, 1_000_000, "0001-01-01T00:00:00Z"},
		{6, 1 << 62, 1, "0001-01-01T00:00:00Z"},
	} {
		in := Interface{resolution: c.resolution, offset: c.offset}
		if got := in.time(c.stamp).Format(time.RFC3339Nano); got != c.want {
			t.Errorf("%d in units %#x with %d: %s, want %s", c.stamp, c.resolution, c.offset, got, c.want)
		}
	}
}

func TestNotACapture(t *testing.T) {
	for _, file := range []string{"", "\x0a", "hello, world", "\x1f\x8b", "\x1f\x8bgarbage and more", string(pack(t, []byte("text")))} {
		if _, err := Read(strings.NewReader(file), packet.Options{}, func(*transport.Frame) {}); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", file, err)
		}
	}
	// An invalid length ends the reading and costs no memory.
	huge, _ := hex.DecodeString("0a0d0d0afcffffff4d3c2b1a01000000ffffffffffffffff")
	if _, err := readAll(t, huge); err == nil || !strings.Contains(err.Error(), "is invalid") {
		t.Errorf("%v", err)
	}
	broken := errors.New("the disk is gone")
	r := io.MultiReader(bytes.NewReader(sample(t, transport.TCP)[:300]), &failing{broken})
	if sum, err := Read(r, packet.Options{}, func(*transport.Frame) {}); !errors.Is(err, broken) || sum.Torn != nil {
		t.Errorf("%v %v", sum, err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func FuzzReadCapture(f *testing.F) {
	whole := sample(f, transport.TCP)
	all, _ := readAll(f, whole)
	f.Add(whole)
	f.Add(asPcap(all, binary.BigEndian, false))
	f.Add(asPcap(all, binary.LittleEndian, true))
	f.Add(sample(f, transport.UDP))
	f.Add(pack(f, whole))
	f.Fuzz(func(t *testing.T, file []byte) {
		total := 0
		sum, err := Read(bytes.NewReader(file), packet.Options{New: packettest.NewSink, Conns: 100}, func(fr *transport.Frame) { total += len(fr.Bytes) })
		if err == nil && sum.Frames > 0 && total > 2000*len(file) { // gzip packs at most about 1000 : 1
			t.Fatalf("%d bytes of %d", total, len(file))
		}
		if sum.Torn != nil && (sum.Torn.Packets != sum.Packets || sum.Torn.Pos < 0) {
			t.Fatalf("%+v of %d packets", sum.Torn, sum.Packets)
		}
	})
}
