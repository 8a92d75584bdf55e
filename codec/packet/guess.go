package packet

import (
	"encoding/binary"
	"slices"
)

// guessLinks are the link types that can be inferred from a packet, the most common first.
var guessLinks = []LinkType{LinkEthernet, LinkRaw, LinkNull, LinkSLL, LinkSLL2, LinkPPP}

// GuessLink returns the link type under which the packet holds a valid IP header, Ethernet if there is none.
func GuessLink(b []byte) LinkType {
	if link, ok := LinkOf(b); ok {
		return link
	}
	return LinkEthernet
}

// LinkOf returns the link type under which the packet holds a valid IP header of TCP or UDP.
func LinkOf(b []byte) (LinkType, bool) {
	for _, link := range guessLinks {
		if ip, _ := Network(link, b); RightIP(ip) {
			return link, true
		}
	}
	return 0, false
}

// RightIP reports whether b starts with a valid IP header of TCP or UDP: lengths fit, and an IPv4 checksum is right or not yet filled in.
func RightIP(b []byte) bool {
	var p ipPacket
	if !parseIP(b, &p) || len(b) < 28 {
		return false
	}
	if p.v6 {
		return int(binary.BigEndian.Uint16(b[4:])) <= len(b)-40 && p.extensions() && (p.proto == ProtoTCP || p.proto == ProtoUDP)
	}
	head := b[:int(b[0]&15)*4]
	right := Fold(Sum16(head)) == 0xffff || binary.BigEndian.Uint16(b[10:]) == 0
	total := int(binary.BigEndian.Uint16(b[2:]))
	return right && total <= len(b) && (p.proto == ProtoTCP || p.proto == ProtoUDP)
}

// OtherPacket reports whether b may be a packet of the link type that carries neither TCP nor UDP: another protocol, or an IP fragment.
func OtherPacket(link LinkType, b []byte) bool {
	var ip ipPacket
	if n, _ := Network(link, b); n != nil {
		return parseIP(n, &ip) && len(ip.data) == ip.size
	}
	kinds := []uint16{0x0806, 0x88cc, EtherIPv4, EtherIPv6, etherVLAN, etherQinQ}
	switch {
	case link == LinkEthernet && len(b) >= 14:
		kind := binary.BigEndian.Uint16(b[12:])
		return slices.Contains(kinds, kind) || kind <= 1500 && int(kind) <= len(b)-14 // IEEE 802.3: its length
	case link == LinkSLL && len(b) >= 16:
		return b[0] == 0 && b[1] <= 4 && slices.Contains(kinds, binary.BigEndian.Uint16(b[14:]))
	case link == LinkSLL2 && len(b) >= 20:
		return b[2] == 0 && b[3] == 0 && b[10] <= 4 && slices.Contains(kinds, binary.BigEndian.Uint16(b))
	}
	return false
}

// Payload returns the offset and the captured size of the TCP or UDP payload in p.Data. ok is false if there is none, and for IP fragments,
// which must be reassembled first.
func (p *Packet) Payload() (off, size int, ok bool) {
	b, _ := Network(p.Link, p.Data)
	var ip ipPacket
	for depth := 0; b != nil && depth <= maxTunnels; depth++ {
		if !parseIP(b, &ip) || ip.frag {
			return 0, 0, false
		}
		b = ip.tunnelled()
	}
	var d datagram
	if !d.parse(&ip) {
		return 0, 0, false
	}
	// All these slices end where the capacity of p.Data does.
	return cap(p.Data) - cap(d.data), len(d.data), true
}
