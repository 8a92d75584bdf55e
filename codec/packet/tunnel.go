package packet

import "encoding/binary"

// Protocol numbers of tunnels.
const (
	protoIPv4 = 4
	protoIPv6 = 41
	protoGRE  = 47
)

// maxTunnels bounds the packets within a packet.
const maxTunnels = 4

// EtherTypes in GRE.
const (
	greEthernet = 0x6558 // transparent Ethernet bridging (RFC 1701)
	grePPP      = 0x880b // of PPTP (RFC 2637)
	greERSPAN   = 0x88be // types I and II
	greERSPAN3  = 0x22eb
)

// tunnelled returns the IP packet that p carries for a tunnel, nil if it carries none.
func (p *ipPacket) tunnelled() []byte {
	switch p.proto {
	case protoIPv4, protoIPv6: // RFC 2003, RFC 2473, RFC 4213
		return ipOnly(p.data)
	case protoGRE:
		return grePayload(p.data)
	}
	return nil
}

// grePayload returns the IP packet in the payload of GRE (RFC 2784, 2890; version 1: RFC 2637): flags and version, EtherType, then 4 bytes
// each for checksum and offset, key, sequence number and acknowledgement as the flags say.
func grePayload(b []byte) []byte {
	if len(b) < 4 {
		return nil
	}
	const checksum, routing, key, sequence, ack, version = 0x8000, 0x4000, 0x2000, 0x1000, 0x0080, 7
	flags, kind := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if flags&routing != 0 || flags&version > 1 { // source routes are obsolete
		return nil
	}
	head := 4
	for _, flag := range []uint16{checksum, key, sequence} {
		if flags&flag != 0 {
			head += 4
		}
	}
	if flags&version == 1 && flags&ack != 0 {
		head += 4
	}
	b = after(b, head)
	switch kind {
	case greEthernet:
		return etherFrame(b)
	case grePPP:
		return pppFrame(b)
	case greERSPAN:
		if flags&sequence != 0 { // type II has a header, type I has none
			b = after(b, 8)
		}
		return etherFrame(b)
	case greERSPAN3:
		const platform = 1 // of the last byte: 8 more bytes
		if len(b) < 12 {
			return nil
		}
		if b[11]&platform != 0 {
			return etherFrame(after(b, 20))
		}
		return etherFrame(b[12:])
	}
	return etherPayload(kind, b)
}
