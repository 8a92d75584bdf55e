package packet

import (
	"encoding/binary"
	"net/netip"
)

// Protocol numbers (iana.org/assignments/protocol-numbers).
const (
	protoHopByHop = 0
	ProtoTCP      = 6
	ProtoUDP      = 17
	protoRouting  = 43
	protoFragment = 44
	protoAuth     = 51
	protoOptions  = 60
	protoMobility = 135
	protoHIP      = 139
	protoShim6    = 140
)

const maxExtensions = 16 // headers of IPv6 before the payload

// addr16 is an address as 16 bytes, an IPv4 address mapped into IPv6: fast to compare and to hash.
type addr16 [16]byte

func (a addr16) netip() netip.Addr { return netip.AddrFrom16(a).Unmap() }

// ipPacket is a parsed IP packet. Checksums are not verified: packets captured on the sending machine have none yet.
type ipPacket struct {
	src, dst addr16
	v6       bool
	proto    uint8
	data     []byte // the captured part of the payload
	size     int    // bytes of the payload on the wire
	frag     bool
	more     bool   // frag: not the last one
	off      int    // frag: offset of data in the payload of the reassembled packet
	id       uint32 // frag
}

// parseIP parses the header of an IP packet and reports whether it is valid.
func parseIP(b []byte, p *ipPacket) bool {
	if len(b) == 0 {
		return false
	}
	if b[0]>>4 == 6 {
		return parseIPv6(b, p)
	}
	if len(b) < 20 || b[0]>>4 != 4 {
		return false
	}
	head := int(b[0]&15) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	if total == 0 { // segmentation offload: the network card splits the packet, so the length is not known yet
		total = len(b)
	}
	if head < 20 || total < head || len(b) < head {
		return false
	}
	flags := binary.BigEndian.Uint16(b[6:])
	*p = ipPacket{
		proto: b[9], data: b[head:min(total, len(b))], size: total - head,
		frag: flags&0x3fff != 0, more: flags&0x2000 != 0, off: int(flags&0x1fff) * 8, id: uint32(binary.BigEndian.Uint16(b[4:])),
	}
	p.src[10], p.src[11], p.dst[10], p.dst[11] = 0xff, 0xff, 0xff, 0xff
	copy(p.src[12:], b[12:16])
	copy(p.dst[12:], b[16:20])
	return true
}

func parseIPv6(b []byte, p *ipPacket) bool {
	if len(b) < 40 {
		return false
	}
	size := int(binary.BigEndian.Uint16(b[4:]))
	if size == 0 {
		size = len(b) - 40 // segmentation offload, or a jumbogram, which is not used in practice
	}
	*p = ipPacket{v6: true, proto: b[6], data: b[40:min(40+size, len(b))], size: size}
	copy(p.src[:], b[8:24])
	copy(p.dst[:], b[24:40])
	return p.extensions()
}

// extensions skips the extension headers of IPv6, up to a fragment header or the payload.
func (p *ipPacket) extensions() bool {
	for range maxExtensions {
		d := p.data
		skip := 8
		switch p.proto {
		case protoHopByHop, protoRouting, protoOptions, protoMobility, protoHIP, protoShim6:
			if len(d) >= 2 {
				skip = 8 + int(d[1])*8
			}
		case protoAuth: // RFC 4302: the length is in units of 4 bytes, minus 2
			if len(d) >= 2 {
				skip = 8 + int(d[1])*4
			}
		case protoFragment: // RFC 8200, section 4.5
			if len(d) < 8 || p.frag {
				return false
			}
			field := binary.BigEndian.Uint16(d[2:])
			p.more, p.off, p.id = field&1 != 0, int(field&^7), binary.BigEndian.Uint32(d[4:])
			p.frag = p.more || p.off != 0 // else the packet is complete ("atomic", RFC 6946)
			p.proto, p.data, p.size = d[0], d[8:], p.size-8
			if p.frag {
				return true // other extension headers may follow: they are read after reassembly
			}
			continue
		default:
			return true
		}
		if len(d) < skip {
			return false
		}
		p.proto, p.data, p.size = d[0], d[skip:], p.size-skip
	}
	return false
}

// datagram is a TCP segment or UDP datagram with its header parsed.
type datagram struct {
	key      flowKey
	fromB    bool // sent by the second end of key
	tcp      bool
	flags    uint8 // of TCP
	seq, ack uint32
	data     []byte // the captured part of the payload
	size     int    // bytes of the payload on the wire
}

// Flags of TCP (RFC 9293, section 3.1).
const (
	FlagFIN = 1 << iota
	FlagSYN
	FlagRST
	FlagPSH
	FlagACK
)

// flowKey identifies the two ends of a connection. The lower end comes first.
type flowKey struct {
	a, b         addr16
	aPort, bPort uint16
	proto        uint8
}

// parse parses the header of TCP or UDP and reports whether it is valid.
func (d *datagram) parse(p *ipPacket) bool {
	b := p.data
	switch p.proto {
	case ProtoTCP:
		if len(b) < 20 {
			return false
		}
		head := int(b[12]>>4) * 4
		if head < 20 || head > p.size {
			return false
		}
		d.tcp, d.flags, d.seq, d.ack = true, b[13], binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
		d.data, d.size = b[min(head, len(b)):], p.size-head
	case ProtoUDP:
		if len(b) < 8 {
			return false
		}
		size := int(binary.BigEndian.Uint16(b[4:]))
		if size == 0 || size > p.size { // 0 means segmentation offload; bytes beyond the IP payload do not exist
			size = p.size
		}
		if size < 8 {
			return false
		}
		d.tcp, d.flags, d.seq, d.ack = false, 0, 0, 0
		d.data, d.size = b[8:min(size, len(b))], size-8
	default:
		return false
	}
	d.key.set(p, binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]))
	d.fromB = d.key.a != p.src || d.key.aPort != binary.BigEndian.Uint16(b)
	return true
}

func (k *flowKey) set(p *ipPacket, src, dst uint16) {
	k.proto = p.proto
	if swapped := compareAddr(&p.src, &p.dst); swapped > 0 || swapped == 0 && src > dst {
		k.a, k.aPort, k.b, k.bPort = p.dst, dst, p.src, src
		return
	}
	k.a, k.aPort, k.b, k.bPort = p.src, src, p.dst, dst
}

func compareAddr(a, b *addr16) int {
	for i := 0; i < 16; i += 8 {
		x, y := binary.BigEndian.Uint64(a[i:]), binary.BigEndian.Uint64(b[i:])
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return 0
}
