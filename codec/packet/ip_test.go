package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// Packets of UDP with the payload "hi", from 10.0.0.1:4660 to 10.0.0.2:22136 and from fe80::1 to fe80::2, without checksums.
const (
	udpHex = "1234 5678 000a 0000 6869"
	ip4Hex = "45000020 0000 0000 4011 0000 0a000001 0a000002"
	ip4Hi  = "4500001e 0000 0000 4011 0000 0a000001 0a000002" + udpHex
	v6Ends = "fe800000000000000000000000000001 fe800000000000000000000000000002"
	ip6Hi  = "60000000 000a 11 40" + v6Ends + udpHex
	macs   = "020000000002 020000000001"

	wlanRest  = "0000 020000000002 020000000001 020000000003 1000" // of a header of IEEE 802.11, behind frame control
	wlanHead  = "0801" + wlanRest                                  // data to an access point
	llc       = "aaaa03 000000"
	pktapHead = "6c000000 01000000"
)

// feed passes packets of a link type to an Assembler and returns the payload of the only connection.
func feed(t testing.TB, link LinkType, packets ...[]byte) (got string, sum Summary) {
	t.Helper()
	var out []string
	a := NewAssembler(Options{New: packettest.NewSink}, func(f *transport.Frame) { out = append(out, string(f.Bytes)) })
	for i, p := range packets {
		a.Packet(&Packet{N: uint32(i + 1), At: packettest.Day, Link: link, Data: p, Orig: uint32(len(p))})
	}
	a.Flush()
	return strings.Join(out, "|"), a.Summary()
}

func TestLinks(t *testing.T) {
	const sll = "0000 0001 0006 0200000000010000"
	for _, c := range []struct {
		name, packet string
		link         LinkType
	}{
		{"Ethernet", macs + "0800" + ip4Hi, LinkEthernet},
		{"Ethernet, IPv6", macs + "86dd" + ip6Hi, LinkEthernet},
		{"Ethernet with padding and checksum", macs + "0800" + ip4Hi + "000000000000 deadbeef", LinkEthernet},
		{"VLAN", macs + "8100 0005 0800" + ip4Hi, LinkEthernet},
		{"VLAN in VLAN", macs + "88a8 0005 8100 0006 9100 0007 86dd" + ip6Hi, LinkEthernet},
		{"PPPoE", macs + "8864 1100 0001 0020 0021" + ip4Hi, LinkEthernet},
		{"null, little-endian", "02000000" + ip4Hi, LinkNull},
		{"null, big-endian", "00000002" + ip4Hi, LinkNull},
		{"null, IPv6 of macOS", "1e000000" + ip6Hi, LinkNull},
		{"null, IPv6 of FreeBSD, big-endian", "0000001c" + ip6Hi, LinkNull},
		{"null, IPv6 of Windows", "17000000" + ip6Hi, LinkNull},
		{"loop", "00000002" + ip4Hi, LinkLoop},
		{"raw", ip4Hi, LinkRaw},
		{"raw, IPv6", ip6Hi, LinkRaw},
		{"BSD raw", ip4Hi, LinkRawBSD},
		{"IPv4", ip4Hi, LinkIPv4},
		{"IPv6", ip6Hi, LinkIPv6},
		{"SLL", sll + "0800" + ip4Hi, LinkSLL},
		{"SLL, IPv6", sll + "86dd" + ip6Hi, LinkSLL},
		{"SLL, VLAN", sll + "8100 0005 0800" + ip4Hi, LinkSLL},
		{"SLL2", "0800 0000 00000001 0001 00 06 0200000000010000" + ip4Hi, LinkSLL2},
		{"PPPoE without Ethernet", "1100 0001 0020 0021" + ip4Hi, 51},
		{"PPP with a direction", "01 ff03 0021" + ip4Hi, 204},
		{"PPP of pppd", "00 0021" + ip4Hi, 166},
		{"Cisco HDLC", "0f00 0800" + ip4Hi, 104},
		{"packet filter log", "3d 02 0100" + strings.Repeat("00", 60) + ip4Hi, 117},
		{"802.11, to the access point", wlanHead + llc + "0800" + ip4Hi, 105},
		{"802.11, from the access point, with quality of service", "8802" + wlanRest + "0000" + llc + "86dd" + ip6Hi, 105},
		{"802.11, between access points, with HT control", "8883" + wlanRest + "020000000009 0000 00000000" + llc + "0800" + ip4Hi, 105},
		{"802.11, VLAN", wlanHead + llc + "8100 0005 0800" + ip4Hi, 105},
		{"radiotap", "00 00 0900 02000000 00" + wlanHead + llc + "0800" + ip4Hi, 127},
		{"radiotap with time, more words and a padded header", "00 00 1900 030000a0 00000020 00000000" + "0102030405060708 20" +
			"8802" + wlanRest + "0000" + "0000" + llc + "0800" + ip4Hi, 127},
		{"Prism", "44000000 90000000" + strings.Repeat("00", 136) + wlanHead + llc + "0800" + ip4Hi, 119},
		{"AVS", "80211001 00000040" + strings.Repeat("00", 56) + wlanHead + llc + "0800" + ip4Hi, 163},
		{"PPI with 802.11", "00 00 0c00 69000000 00000000" + wlanHead + llc + "0800" + ip4Hi, 192},
		{"PPI with Ethernet", "00 00 0800 01000000" + macs + "0800" + ip4Hi, 192},
		{"netfilter log", "02 00 0000 0800 0100 08000100 0700 0a00 65303000 2200 0900" + ip4Hi, 239},
		{"netfilter log, big-endian", "02 00 0000 0008 0001 08000100 0022 0009" + ip4Hi, 239},
		{"PKTAP with Ethernet", pktapHead + "01000000" + strings.Repeat("00", 96) + macs + "0800" + ip4Hi, 258},
		{"PKTAP with raw IP, by its old number", pktapHead + "0c000000" + strings.Repeat("00", 96) + ip6Hi, 149},
		{"IP in IP", "45000032 0000 0000 4004 0000 0a000005 0a000006" + ip4Hi, LinkRaw},
		{"IPv6 in IP", "45000046 0000 0000 4029 0000 0a000005 0a000006" + ip6Hi, LinkRaw},
		{"IP in IPv6", "60000000 001e 04 40" + v6Ends + ip4Hi, LinkRaw},
		{"IPv6 in IPv6", "60000000 0032 29 40" + v6Ends + ip6Hi, LinkRaw},
		{"GRE", "45000036 0000 0000 402f 0000 0a000005 0a000006 0000 0800" + ip4Hi, LinkRaw},
		{"GRE with checksum, key and sequence", "45000042 0000 0000 402f 0000 0a000005 0a000006 b000 0800 00000000 00000001 00000002" + ip4Hi, LinkRaw},
		{"GRE with Ethernet and VLAN", "45000000 0000 0000 402f 0000 0a000005 0a000006 0000 6558" + macs + "8100 0005 86dd" + ip6Hi, LinkRaw},
		{"PPTP", "45000000 0000 0000 402f 0000 0a000005 0a000006 3081 880b 00240001 00000002 00000001 ff03 0021" + ip4Hi, LinkRaw},
		{"ERSPAN I", "45000000 0000 0000 402f 0000 0a000005 0a000006 0000 88be" + macs + "0800" + ip4Hi, LinkRaw},
		{"ERSPAN II", "45000000 0000 0000 402f 0000 0a000005 0a000006 1000 88be 00000001 1001000100000000" + macs + "0800" + ip4Hi, LinkRaw},
		{"ERSPAN III", "45000000 0000 0000 402f 0000 0a000005 0a000006 1000 22eb 00000001 200100010000000000000000" + macs + "0800" + ip4Hi, LinkRaw},
		{"ERSPAN III with platform", "45000000 0000 0000 402f 0000 0a000005 0a000006 1000 22eb 00000001 200100010000000000000001 0000000000000000" + macs + "0800" + ip4Hi, LinkRaw},
		{"tunnels in tunnels", "45000046 0000 0000 4004 0000 0a000005 0a000006 45000032 0000 0000 4004 0000 0a000005 0a000006" + ip4Hi, LinkRaw},
		{"IPv4 options", "47000026 0000 0000 4011 0000 0a000001 0a000002 0102030405060708" + udpHex, LinkRaw},
		{"no length (segmentation offload)", "45000000 0000 0000 4011 0000 0a000001 0a000002 12345678 0000 0000 6869", LinkRaw},
		{"extension headers", "60000000 0032 00 40" + v6Ends + "3c00000000000000 2b00000000000000 3300000000000000 8700000000000000 1100000000000000" +
			udpHex, LinkRaw},
	} {
		t.Run(c.name, func(t *testing.T) {
			packet := packettest.Unhex(t, c.packet)
			got, sum := feed(t, c.link, packet)
			if got != "hi" {
				t.Fatalf("got %q, %+v", got, sum)
			}
			name := sum.Conns[0].Name()
			if name != "10.0.0.1:4660-10.0.0.2:22136" && name != "[fe80::1]:4660-[fe80::2]:22136" {
				t.Errorf("the connection is %s", name)
			}
			for n := range packet { // truncated, it is counted, or read as far as it goes
				if got, _ := feed(t, c.link, packet[:n]); !strings.HasPrefix("hi", got) {
					t.Errorf("truncated at %d: %q", n, got)
				}
			}
		})
	}
}

func TestNoFrames(t *testing.T) {
	for _, c := range []struct {
		name, packet string
		link         LinkType
		count        func(*Summary) uint32
	}{
		{"ARP", macs + "0806 0001", LinkEthernet, func(s *Summary) uint32 { return s.NotIP }},
		{"ICMP", "4500001c 0000 0000 4001 0000 0a000001 0a000002 0800 0000 0000 0000", LinkRaw, func(s *Summary) uint32 { return s.NotCarrier }},
		{"802.15.4", ip4Hi, 195, func(s *Summary) uint32 { return s.UnknownLink }},
		{"a header that is too short", "41000020 0000 0000 4011 0000 0a000001 0a000002", LinkRaw, func(s *Summary) uint32 { return s.Malformed }},
		{"TCP with a wrong offset", "45000028 0000 0000 4006 0000 0a000001 0a000002 12345678 00000001 00000001 f010 0000 0000 0000", LinkRaw, func(s *Summary) uint32 { return s.Malformed }},
		{"extension headers without end", "60000000 0008 00 40" + v6Ends + strings.Repeat("0000000000000000", 20), LinkRaw, func(s *Summary) uint32 { return s.Malformed }},
		{"tags without end", macs + strings.Repeat("8100 0001", 20) + "0800" + ip4Hi, LinkEthernet, func(s *Summary) uint32 { return s.NotIP }},
		{"a fragment alone", "4500001e 0001 2000 4011 0000 0a000001 0a000002 0102030405060708 0a0b", LinkRaw, func(s *Summary) uint32 { return s.Fragments }},
	} {
		if got, sum := feed(t, c.link, packettest.Unhex(t, c.packet)); got != "" || c.count(&sum) != 1 || sum.Packets != 1 {
			t.Errorf("%s: %q, %+v", c.name, got, sum)
		}
	}
}

// split makes IPv4 or IPv6 fragments of a UDP datagram.
func split(r *rand.Rand, payload []byte, v6 bool) [][]byte {
	udp := binary.BigEndian.AppendUint16([]byte{0x12, 0x34, 0x56, 0x78}, uint16(8+len(payload)))
	udp = append(append(udp, 0, 0), payload...)
	var out [][]byte
	for at := 0; at < len(udp); {
		n := 8 * (1 + r.IntN(20))
		from := max(0, at-8*r.IntN(3))
		end := min(at+n, len(udp))
		more := uint16(0)
		if end < len(udp) {
			more = 1
		}
		var b []byte
		if v6 {
			b = []byte{0x60, 0, 0, 0, 0, 0, protoFragment, 64}
			binary.BigEndian.PutUint16(b[4:], uint16(8+end-from))
			b = append(b, bytes.Repeat([]byte{0xfe}, 31)...)
			b = append(b, 1, ProtoUDP, 0)
			b = binary.BigEndian.AppendUint16(b, uint16(from)|more)
			b = append(b, 0, 0, 0, 9)
		} else {
			b = []byte{0x45, 0, 0, 0, 0, 9, 0, 0, 64, ProtoUDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}
			binary.BigEndian.PutUint16(b[2:], uint16(20+end-from))
			binary.BigEndian.PutUint16(b[6:], uint16(from/8)|more<<13)
		}
		out = append(out, append(b, udp[from:end]...))
		at = end
	}
	return out
}

func TestFragments(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		payload := make([]byte, 1+r.IntN(4000))
		for i := range payload {
			payload[i] = byte(r.Uint32())
		}
		packets := split(r, payload, seed%2 == 0)
		if len(packets) == 1 {
			continue
		}
		r.Shuffle(len(packets), func(i, j int) { packets[i], packets[j] = packets[j], packets[i] })
		if got, sum := feed(t, LinkRaw, packets...); got != string(payload) || sum.Fragments > 1 { // a late duplicate starts another packet
			t.Fatalf("seed %d: %d bytes of %d, %+v", seed, len(got), len(payload), sum)
		}
		if got, sum := feed(t, LinkRaw, packets[1:]...); got == string(payload) && len(packets) < 3 || sum.Fragments > 1 {
			t.Fatalf("seed %d: a fragment is missing, but %d bytes were delivered", seed, len(got))
		}
	}
}

func TestFragmentBounds(t *testing.T) {
	var f fragments
	p := ipPacket{proto: ProtoUDP, frag: true, more: true, data: make([]byte, 1480), size: 1480}
	for i := range 10000 {
		q := p
		q.id, q.off = uint32(i), i%8*1480
		if f.add(&q, 1, packettest.Day) || len(f.order) > maxFragmented || len(f.byKey) != len(f.order) {
			t.Fatalf("%d incomplete packets", len(f.order))
		}
	}
	// A packet in very many pieces is given up, and so is one whose first fragment is too old.
	f = fragments{}
	for i := range 3000 {
		q := ipPacket{proto: ProtoUDP, frag: true, more: true, data: make([]byte, 8), size: 8, off: 16 * i}
		f.add(&q, 1, packettest.Day)
		if len(f.order) > 0 && len(f.order[0].have) > maxFragmentRuns+1 {
			t.Fatalf("%d runs", len(f.order[0].have))
		}
	}
	f = fragments{}
	first, last := p, p
	last.more, last.off = false, 1480
	if f.add(&first, 1, packettest.Day) || f.add(&last, 2, packettest.Day.Add(2*time.Minute)) || f.lost != 1 {
		t.Errorf("fragments two minutes apart were reassembled; %d lost", f.lost)
	}
}

func TestServer(t *testing.T) {
	tcp := func(src, dst string, flags string) []byte {
		return packettest.Unhex(t, "45000029 0000 0000 4006 0000 0a0000"+src[:2]+"0a0000"+dst[:2]+src[3:]+dst[3:]+"00000001 00000001 50"+flags+" 0000 0000 0000 78")
	}
	const a, b = "01:1388", "02:9c40" // 10.0.0.1:5000 and 10.0.0.2:40000
	for _, c := range []struct {
		name    string
		ports   []uint16
		packets [][]byte
		want    string
	}{
		{"the sender of the SYN is the client", nil, [][]byte{tcp(a, b, "02"), tcp(a, b, "10")}, "10.0.0.1:5000-10.0.0.2:40000"},
		{"the sender of the SYN-ACK is the server", nil, [][]byte{tcp(a, b, "12")}, "10.0.0.2:40000-10.0.0.1:5000"},
		{"the port decides", []uint16{5000}, [][]byte{tcp(a, b, "02")}, "10.0.0.2:40000-10.0.0.1:5000"},
		{"both ports are listed", []uint16{5000, 40000}, [][]byte{tcp(a, b, "02")}, "10.0.0.1:5000-10.0.0.2:40000"},
		{"from the middle, the lower port", nil, [][]byte{tcp(a, b, "10")}, "10.0.0.2:40000-10.0.0.1:5000"},
		{"from the middle, one port", nil, [][]byte{tcp("02:1388", a, "10")}, "10.0.0.2:5000-10.0.0.1:5000"},
	} {
		var names []string
		s := NewAssembler(Options{Ports: c.ports, New: func(c transport.Conn) transport.Transport {
			names = append(names, c.Name())
			return &packettest.Sink{}
		}}, func(*transport.Frame) {})
		for i, p := range c.packets {
			s.Packet(&Packet{N: uint32(i + 1), At: packettest.Day, Link: LinkRaw, Data: p})
		}
		s.Flush()
		if len(names) != 1 || names[0] != c.want || s.Summary().Conns[0].Name() != c.want {
			t.Errorf("%s: %v, want %s", c.name, names, c.want)
		}
	}
}

func FuzzIP(f *testing.F) {
	f.Add(packettest.Unhex(f, ip4Hi), packettest.Unhex(f, ip6Hi))
	f.Add(packettest.Unhex(f, ip4Hex), []byte{})
	r := rand.New(rand.NewPCG(1, 1))
	for _, v6 := range []bool{true, false} {
		parts := split(r, make([]byte, 300), v6)
		f.Add(parts[0], parts[1])
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		for _, link := range []LinkType{LinkRaw, LinkEthernet, LinkNull, LinkSLL, LinkSLL2} {
			got, sum := feed(t, link, one, two, one)
			if sum.Packets != 3 || len(got) > 3*(len(one)+len(two))+8 {
				t.Fatalf("%d bytes, %+v", len(got), sum)
			}
		}
	})
}

// TestSplits checks that the record of fragmented packets is bounded for hostile captures.
func TestSplits(t *testing.T) {
	var s splits
	parts := make([]part, maxFragmentParts)
	for i := range parts {
		parts[i] = part{from: uint32(8 * i), to: uint32(8*i + 8), packet: uint32(i), start: uint32(8 * i)}
	}
	for n := range uint32(10_000) {
		s.add(100_000+n, 8, parts)
		if s.parts > maxSplitParts || len(s.of) != len(s.order) || len(s.of) > maxSplitParts/maxFragmentParts {
			t.Fatalf("%d parts of %d packets", s.parts, len(s.of))
		}
	}
	last := uint32(100_000 + 9_999)
	for _, c := range []struct{ in, want []transport.Source }{
		{[]transport.Source{{Packet: 7, Off: 1, Len: 2}}, []transport.Source{{Packet: 7, Off: 1, Len: 2}}},
		{[]transport.Source{{Packet: 100_000, Off: 1, Len: 2}}, []transport.Source{{Packet: 100_000, Off: 1, Len: 2}}}, // forgotten
		{[]transport.Source{{Packet: last, Off: 0, Len: 8}}, []transport.Source{{Packet: 1, Off: 0, Len: 8}}},
		{[]transport.Source{{Packet: last, Off: 4, Len: 8}, {Packet: 7}}, []transport.Source{{Packet: 1, Off: 4, Len: 4}, {Packet: 2, Off: 0, Len: 4}, {Packet: 7}}},
		{[]transport.Source{{Packet: last, Off: 12}}, []transport.Source{{Packet: 2, Off: 4}}},
		{ // more parts than are recorded for one packet
			[]transport.Source{{Packet: last, Off: 8*maxFragmentParts - 12, Len: 8}},
			[]transport.Source{{Packet: maxFragmentParts - 1, Off: 4, Len: 4}, {Packet: last, Off: 8*maxFragmentParts - 8, Len: 4}},
		},
		{[]transport.Source{{Packet: last, Off: 1 << 20}}, []transport.Source{{Packet: last, Off: 1 << 20}}},
	} {
		if got := s.sources(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

// lostOf is a transport that records how many bytes of each datagram are missing.
type lostOf struct{ all []string }

func (x *lostOf) Feed(seg transport.Segment, _ func(*transport.Frame)) {
	x.all = append(x.all, fmt.Sprintf("%s+%d", seg.Bytes, seg.Lost))
}
func (x *lostOf) Flush(time.Time, func(*transport.Frame)) {}

// TestCutDatagrams checks that the bytes missing in truncated datagrams are reported.
func TestCutDatagrams(t *testing.T) {
	x := new(lostOf)
	a := NewAssembler(Options{New: func(transport.Conn) transport.Transport { return x }}, func(*transport.Frame) {})
	whole := packettest.Unhex(t, ip4Hi)
	for n, data := range [][]byte{whole, whole[:len(whole)-1], whole[:len(whole)-2]} {
		a.Packet(&Packet{N: uint32(n + 1), Link: LinkRaw, Data: data, Orig: uint32(len(whole))})
	}
	if got := strings.Join(x.all, " "); got != "hi+0 h+1" || a.Summary().Cut != 2 {
		t.Errorf("%s, %d cut", got, a.Summary().Cut)
	}
}

// Packets without a time, such as those of simple packet blocks, do not make fragments expire.
func TestFragmentsWithoutTimes(t *testing.T) {
	var f fragments
	whole := false
	for i, at := range []time.Time{{}, time.Unix(1700000000, 0), {}} {
		p := ipPacket{proto: ProtoUDP, frag: true, more: i < 2, off: 8 * i, size: 8, data: make([]byte, 8), id: 7}
		whole = f.add(&p, uint32(i+1), at)
	}
	if !whole || f.lost != 0 {
		t.Fatalf("whole %v, lost %d", whole, f.lost)
	}
}
