package packet

import "encoding/binary"

// Supported link types, and what their packets start with.
const (
	LinkNull     LinkType = 0   // BSD loopback: 4 bytes of address family in the byte order of the writer
	LinkEthernet LinkType = 1   // 12 bytes of addresses, EtherType
	LinkPPP      LinkType = 9   // PPP: optional 0xff03, then the protocol in one or two bytes (RFC 1661, 1662)
	LinkRawBSD   LinkType = 12  // an IP packet; 14 is another old number for it
	linkRawOld   LinkType = 14  //
	linkPPPHDLC  LinkType = 50  // as LinkPPP
	LinkRaw      LinkType = 101 // an IP packet
	LinkLoop     LinkType = 108 // OpenBSD loopback: as LinkNull, big-endian
	LinkSLL      LinkType = 113 // Linux "any": 16 bytes, EtherType the last two
	LinkIPv4     LinkType = 228
	LinkIPv6     LinkType = 229
	LinkSLL2     LinkType = 276 // Linux "any": 20 bytes, EtherType the first two
)

// EtherTypes (IEEE 802 numbers at iana.org).
const (
	EtherIPv4  = 0x0800
	EtherIPv6  = 0x86dd
	etherMPLS  = 0x8847
	etherMPLSm = 0x8848 // multicast
	etherPPPoE = 0x8864
	etherVLAN  = 0x8100
	etherQinQ  = 0x88a8
	etherQinQ1 = 0x9100 // used before 802.1ad had a number
	etherQinQ2 = 0x9200
)

const maxTags = 8 // nested VLAN tags

// Network returns the IP packet inside a captured packet, nil if there is none.
func Network(link LinkType, b []byte) []byte {
	switch link {
	case LinkEthernet:
		if len(b) < 14 {
			return nil
		}
		return etherPayload(binary.BigEndian.Uint16(b[12:]), b[14:])
	case LinkNull, LinkLoop:
		if len(b) < 4 {
			return nil
		}
		// The byte order of the writer is not known: the family is a small number in one of the two.
		family := binary.LittleEndian.Uint32(b)
		if family > 0xffff {
			family = binary.BigEndian.Uint32(b)
		}
		switch family {
		case 2, 10, 23, 24, 28, 30: // AF_INET; AF_INET6 of Linux, Windows, NetBSD, FreeBSD, macOS
			return ipOnly(b[4:])
		}
		return nil
	case LinkRaw, LinkRawBSD, linkRawOld, LinkIPv4, LinkIPv6:
		return ipOnly(b)
	case LinkPPP, linkPPPHDLC:
		if len(b) > 2 && b[0] == 0xff && b[1] == 3 {
			b = b[2:]
		}
		return pppPayload(b)
	case LinkSLL:
		if len(b) < 16 {
			return nil
		}
		return etherPayload(binary.BigEndian.Uint16(b[14:]), b[16:])
	case LinkSLL2:
		if len(b) < 20 {
			return nil
		}
		return etherPayload(binary.BigEndian.Uint16(b), b[20:])
	}
	return nil
}

// knownLink reports whether the link type is supported.
func knownLink(link LinkType) bool {
	switch link {
	case LinkEthernet, LinkPPP, linkPPPHDLC, LinkNull, LinkLoop, LinkRaw, LinkRawBSD, linkRawOld, LinkIPv4, LinkIPv6, LinkSLL, LinkSLL2:
		return true
	}
	return false
}

func etherPayload(kind uint16, b []byte) []byte {
	for range maxTags {
		switch kind {
		case EtherIPv4, EtherIPv6:
			return ipOnly(b)
		case etherVLAN, etherQinQ, etherQinQ1, etherQinQ2: // 2 bytes of tag, then the next EtherType
			if len(b) < 4 {
				return nil
			}
			kind, b = binary.BigEndian.Uint16(b[2:]), b[4:]
		case etherPPPoE: // RFC 2516: version, code (0 is a session), session, length, then the protocol of PPP
			if len(b) < 8 || b[1] != 0 {
				return nil
			}
			return pppPayload(b[6:])
		case etherMPLS, etherMPLSm:
			return mplsPayload(b)
		default:
			return nil
		}
	}
	return nil
}

// pppPayload finds the IP packet behind a protocol of PPP.
func pppPayload(b []byte) []byte {
	if len(b) < 2 {
		return nil
	}
	kind, rest := binary.BigEndian.Uint16(b), b[2:]
	if b[0]&1 != 0 { // the first byte of two is even (RFC 1661, 6.5)
		kind, rest = uint16(b[0]), b[1:]
	}
	switch kind {
	case 0x0021, 0x0057: // IPv4, IPv6
		return ipOnly(rest)
	}
	return nil
}

// mplsPayload finds the IP packet behind labels (RFC 3032): 4 bytes each, the last one marked. The payload has no type: it is returned only
// if it starts as IP.
func mplsPayload(b []byte) []byte {
	for range maxTags {
		if len(b) < 4 {
			return nil
		}
		last := b[2]&1 != 0
		if b = b[4:]; last {
			return ipOnly(b)
		}
	}
	return nil
}

// ipOnly returns b if it starts as an IP packet of either version, else nil.
func ipOnly(b []byte) []byte {
	if len(b) > 0 && (b[0]>>4 == 4 || b[0]>>4 == 6) {
		return b
	}
	return nil
}

// LinkUnknown stands for link types whose name or number in a text has no equivalent here. The registry reserves it for private use.
const LinkUnknown LinkType = 147
