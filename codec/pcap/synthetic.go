package pcap

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// ErrTooLong is the error for a datagram that does not fit into an IP packet.
var ErrTooLong = errors.New("a datagram is longer than UDP can carry")

// Bounds of synthetic packets.
const (
	maxSyntheticTCP = 32 << 10   // bytes of a segment; longer data are split
	maxSyntheticUDP = 65535 - 28 // bytes of a datagram, in IPv4 as in IPv6
)

// Synthetic writes the data of a connection as packets of Ethernet, IP and TCP or UDP, with valid checksums, for other programs. A packet
// to the server is marked inbound, one to the client outbound, as seen by an interface in front of the server. It must be used by one
// goroutine at a time.
type Synthetic struct {
	w      *Writer
	iface  int
	client netip.AddrPort
	server netip.AddrPort
	proto  transport.Proto
	v6     bool
	isn    uint32    // sequence number of the SYN, different for each session of the same addresses
	seq    [3]uint32 // by direction: the next sequence number
	id     uint16
	buf    []byte
	packet packet.Packet
}

// unknownEnd replaces an unknown address by one of a documentation network (RFC 5737).
func unknownEnd(host byte, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, host}), port)
}

// NewSynthetic returns a Synthetic for a connection that writes to an interface of w, which must be of LinkEthernet.
func NewSynthetic(w *Writer, iface int, c transport.Conn) *Synthetic {
	s := &Synthetic{w: w, iface: iface, client: c.Client, server: c.Server, proto: c.Proto}
	if !s.client.IsValid() {
		s.client = unknownEnd(1, 49152)
	}
	if !s.server.IsValid() {
		s.server = unknownEnd(2, 1)
	}
	if s.proto == transport.TCP {
		s.isn = uint32(c.Session) << 16
		s.seq = [3]uint32{s.isn + 1, s.isn + 1, s.isn + 1}
	}
	s.v6 = !s.client.Addr().Unmap().Is4() || !s.server.Addr().Unmap().Is4()
	return s
}

// Open writes the TCP handshake. The first byte of each direction has the same sequence number with it and without.
func (s *Synthetic) Open(at time.Time) error {
	if s.proto != transport.TCP {
		return nil
	}
	s.seq[schema.ToServer], s.seq[schema.ToClient] = s.isn, s.isn
	if err := s.write(schema.ToServer, at, packet.FlagSYN, nil, ""); err != nil {
		return err
	}
	s.seq[schema.ToServer]++
	if err := s.write(schema.ToClient, at, packet.FlagSYN|packet.FlagACK, nil, ""); err != nil {
		return err
	}
	s.seq[schema.ToClient]++
	return s.write(schema.ToServer, at, packet.FlagACK, nil, "")
}

// Data writes bytes of a stream, in as many segments as needed, or a datagram. The comment is on the first packet.
func (s *Synthetic) Data(dir schema.Dir, at time.Time, data []byte, comment string) error {
	if s.proto != transport.TCP {
		if len(data) > maxSyntheticUDP {
			return ErrTooLong
		}
		return s.write(dir, at, 0, data, comment)
	}
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), maxSyntheticTCP)
		if err := s.write(dir, at, packet.FlagPSH|packet.FlagACK, data[:n], comment); err != nil {
			return err
		}
		s.seq[dir] += uint32(n)
		data, comment = data[n:], ""
	}
	return nil
}

// Lost leaves a gap of n bytes in a stream, which a reader detects.
func (s *Synthetic) Lost(dir schema.Dir, n uint32) { s.seq[dir] += n }

// Close writes the FIN of one direction of a stream.
func (s *Synthetic) Close(dir schema.Dir, at time.Time) error {
	if s.proto != transport.TCP {
		return nil
	}
	err := s.write(dir, at, packet.FlagFIN|packet.FlagACK, nil, "")
	s.seq[dir]++
	return err
}

const (
	etherHead = 14
	ipv4Head  = 20
	ipv6Head  = 40
	tcpHead   = 20
	udpHead   = 8
)

func (s *Synthetic) write(dir schema.Dir, at time.Time, flags uint8, data []byte, comment string) error {
	src, dst, flow := s.client, s.server, packet.Inbound
	if dir == schema.ToClient {
		src, dst, flow = s.server, s.client, packet.Outbound
	}
	s.buf = s.buf[:0]
	s.ether(dir == schema.ToClient)
	proto, size := uint8(packet.ProtoTCP), tcpHead+len(data)
	if s.proto != transport.TCP {
		proto, size = packet.ProtoUDP, udpHead+len(data)
	}
	var sum uint32 // of the pseudo header
	if s.v6 {
		sum = s.ipv6(src.Addr().As16(), dst.Addr().As16(), proto, size)
	} else {
		sum = s.ipv4(src.Addr().Unmap().As4(), dst.Addr().Unmap().As4(), proto, size)
	}
	start, check := len(s.buf), 16
	s.u16(src.Port())
	s.u16(dst.Port())
	if s.proto == transport.TCP {
		ack := uint32(0)
		if flags&packet.FlagACK != 0 {
			ack = s.seq[schema.ToServer+schema.ToClient-dir]
		}
		s.buf = binary.BigEndian.AppendUint32(s.buf, s.seq[dir])
		s.buf = binary.BigEndian.AppendUint32(s.buf, ack)
		s.buf = append(s.buf, tcpHead/4<<4, flags, 0xff, 0xff, 0, 0, 0, 0) // window, checksum, urgent
	} else {
		s.u16(uint16(size))
		s.u16(0)
		check = 6
	}
	s.buf = append(s.buf, data...)
	value := ^packet.Fold(sum + uint32(proto) + uint32(size) + packet.Sum16(s.buf[start:]))
	if value == 0 && proto == packet.ProtoUDP {
		value = 0xffff // 0 means no checksum (RFC 768)
	}
	binary.BigEndian.PutUint16(s.buf[start+check:], value)
	s.packet = packet.Packet{Interface: s.iface, At: at, Data: s.buf, Comment: comment, Flow: flow}
	return s.w.Packet(&s.packet)
}

func (s *Synthetic) u16(v uint16) { s.buf = binary.BigEndian.AppendUint16(s.buf, v) }

// ether writes locally administered addresses (IEEE 802, the second bit of the first byte).
func (s *Synthetic) ether(toClient bool) {
	client, server := [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2}
	if toClient {
		client, server = server, client
	}
	s.buf = append(append(s.buf, server[:]...), client[:]...)
	if s.v6 {
		s.u16(packet.EtherIPv6)
		return
	}
	s.u16(packet.EtherIPv4)
}

// ipv4 writes a header and returns the sum of the addresses.
func (s *Synthetic) ipv4(src, dst [4]byte, proto uint8, size int) uint32 {
	at := len(s.buf)
	s.buf = append(s.buf, 0x45, 0)
	s.u16(uint16(ipv4Head + size))
	s.id++
	s.u16(s.id)
	s.buf = append(s.buf, 0x40, 0, 64, proto, 0, 0) // don't fragment; TTL 64; checksum
	s.buf = append(append(s.buf, src[:]...), dst[:]...)
	binary.BigEndian.PutUint16(s.buf[at+10:], ^packet.Fold(packet.Sum16(s.buf[at:])))
	return packet.Sum16(s.buf[at+12:])
}

// ipv6 writes a header and returns the sum of the addresses.
func (s *Synthetic) ipv6(src, dst [16]byte, proto uint8, size int) uint32 {
	s.buf = append(s.buf, 0x60, 0, 0, 0)
	s.u16(uint16(size))
	s.buf = append(s.buf, proto, 64)
	at := len(s.buf)
	s.buf = append(append(s.buf, src[:]...), dst[:]...)
	return packet.Sum16(s.buf[at:])
}
