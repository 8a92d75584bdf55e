package packet

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// tcpPacket returns a packet between a client at port 4000 and a server at port 7801.
func tcpPacket(n int, toServer bool, seq uint32, flags uint8, data string) *Packet {
	client, server := []byte{10, 0, 0, 2}, []byte{10, 0, 0, 1}
	from, to := uint16(4000), uint16(7801)
	if !toServer {
		client, server, from, to = server, client, to, from
	}
	b := append([]byte{0x45, 0, 0, 0, 0, 0, 0, 0, 64, ProtoTCP, 0, 0}, append(slices.Clone(client), server...)...)
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, from), to)
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, seq), 0)
	b = append(append(b, 5<<4, flags, 255, 255, 0, 0, 0, 0), data...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return &Packet{N: uint32(n), At: packettest.Day.Add(time.Duration(n) * time.Millisecond), Link: LinkRaw, Data: b, Orig: uint32(len(b))}
}

// sources is a transport whose frames refer to their packets.
type sources struct{}

func (sources) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	f := transport.Frame{Kind: transport.Message, Dir: seg.Dir, At: seg.At, Bytes: slices.Clone(seg.Bytes), Length: seg.Lost}
	if seg.Packet > 0 {
		f.From = []transport.Source{{Packet: seg.Packet, Off: seg.Off, Len: uint32(len(seg.Bytes))}}
	}
	emit(&f)
}
func (sources) Flush(time.Time, func(*transport.Frame)) {}

func readWith(events bool, packets []*Packet) (frames []string, told []string) {
	a := NewAssembler(Options{Events: events, New: func(transport.Conn) transport.Transport { return sources{} }}, func(f *transport.Frame) {
		if f.Kind == transport.Packet {
			told = append(told, fmt.Sprintf("%d %v %s", f.From[0].Packet, f.Dir, f.Note))
			return
		}
		frames = append(frames, fmt.Sprintf("%v %v %q %d %v %v", f.ID, f.Dir, f.Bytes, f.Length, f.At, f.Conn.Name()))
	})
	for _, p := range packets {
		a.Packet(p)
	}
	a.Flush()
	return frames, told
}

// Ends, resets, bytes that were captured before and bytes that were not are told, in the order of the packets.
func TestEvents(t *testing.T) {
	packets := []*Packet{
		tcpPacket(1, true, 99, FlagSYN, ""),
		tcpPacket(2, true, 100, FlagACK, "one"),
		tcpPacket(3, true, 100, FlagACK, "one"),
		tcpPacket(4, true, 101, FlagACK, "netwo"),
		tcpPacket(5, true, 110, FlagACK, "four"), // "thr." is missing
		tcpPacket(6, true, 110, FlagACK, "four"),
		tcpPacket(7, true, 114, FlagACK|FlagFIN, "end"),
		tcpPacket(8, false, 500, FlagRST, ""),
	}
	_, told := readWith(true, packets)
	want := []string{
		"3 c2s retransmission of 3 bytes", "4 c2s retransmission of 2 of 5 bytes",
		"5 c2s lost: 4 bytes", // known at the end of the capture only, and listed at its place
		"6 c2s retransmission of 4 bytes", "7 c2s FIN", "8 s2c RST",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
	if _, told := readWith(false, packets); len(told) > 0 {
		t.Errorf("events that nobody wants: %q", told)
	}
}

// A connection that is refused has no frames, and its reset is told.
func TestEventsWithoutData(t *testing.T) {
	_, told := readWith(true, []*Packet{tcpPacket(1, true, 1, FlagSYN, ""), tcpPacket(2, false, 0, FlagRST|FlagACK, "")})
	if want := []string{"2 s2c RST"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}

// Whatever is told, the other frames are the same, with the same identities.
func TestEventsChangeNothing(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var packets []*Packet
		n := 0
		for range 1 + r.IntN(3) {
			start := r.Uint32()
			for range r.IntN(60) {
				n++
				seq, flags := start+uint32(r.IntN(200)), uint8(FlagACK)
				switch r.IntN(12) {
				case 0:
					flags |= FlagSYN
				case 1:
					flags |= FlagFIN
				case 2:
					flags |= FlagRST
				}
				packets = append(packets, tcpPacket(n, r.IntN(3) > 0, seq, flags, "abcdefghijklmnopqrstuvwxyz"[:r.IntN(26)]))
			}
		}
		plain, _ := readWith(false, packets)
		with, _ := readWith(true, packets)
		if !slices.Equal(plain, with) {
			t.Fatalf("seed %d:\n%q\n%q", seed, plain, with)
		}
	}
}
