package packet

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// Link types with names of their own, and what their packets start with. The others are in Network.
const (
	LinkNull     LinkType = 0   // BSD loopback: 4 bytes of address family in the byte order of the writer
	LinkEthernet LinkType = 1   // 12 bytes of addresses, EtherType
	LinkPPP      LinkType = 9   // PPP: optional 0xff03, then the protocol in one or two bytes (RFC 1661, 1662)
	LinkRawBSD   LinkType = 12  // an IP packet; 14 is another old number for it
	linkRawOld   LinkType = 14  //
	linkPPPHDLC  LinkType = 50  // as LinkPPP
	linkPPPoE    LinkType = 51  // PPPoE without the header of Ethernet
	LinkRaw      LinkType = 101 // an IP packet
	linkCHDLC    LinkType = 104 // Cisco HDLC: address, control, EtherType
	link80211    LinkType = 105 // IEEE 802.11
	LinkLoop     LinkType = 108 // OpenBSD loopback: as LinkNull, big-endian
	LinkSLL      LinkType = 113 // Linux "any": 16 bytes, EtherType the last two
	linkPFLog    LinkType = 117 // OpenBSD packet filter log: length and address family in the first two bytes, then an IP packet
	linkPrism    LinkType = 119 // IEEE 802.11 behind a Prism header
	linkRadiotap LinkType = 127 // IEEE 802.11 behind a radiotap header
	linkUser2    LinkType = 149 // where Apple writes linkPKTAP
	linkAVS      LinkType = 163 // IEEE 802.11 behind an AVS header
	linkPPPD     LinkType = 166 // a byte of direction, then as LinkPPP
	linkPPI      LinkType = 192 // Per-Packet Information, with the link type of the rest
	linkPPPDir   LinkType = 204 // as linkPPPD
	LinkIPv4     LinkType = 228
	LinkIPv6     LinkType = 229
	linkNFLog    LinkType = 239 // Linux netfilter log: attributes, one of them the IP packet
	linkPKTAP    LinkType = 258 // Apple: a header with the link type of the rest
	LinkSLL2     LinkType = 276 // Linux "any": 20 bytes, EtherType the first two
)

// LinkUnknown stands for link types whose name or number in a text has no equivalent here. The registry reserves it for private use.
const LinkUnknown LinkType = 147

// linkNames names link types that Network does not read, for messages (tcpdump.org/linktypes.html).
var linkNames = map[LinkType]string{
	3: "AX.25", 6: "Token Ring", 7: "ARCNET", 8: "SLIP", 10: "FDDI", 11: "ATM", 99: "Symantec firewall", 106: "Linux ATM", 107: "Frame Relay",
	114: "LocalTalk", 122: "Fibre Channel", 123: "SunATM", 129: "ARCNET for Linux", 138: "FireWire", 143: "DOCSIS", 144: "IrDA",
	LinkUnknown: "unnamed", 187: "Bluetooth HCI", 189: "USB of Linux", 190: "CAN", 195: "IEEE 802.15.4", 197: "ERF", 201: "Bluetooth HCI",
	209: "I2C", 212: "LIN", 215: "IEEE 802.15.4", 220: "USB of Linux", 224: "Fibre Channel", 226: "Solaris IPNET", 227: "CAN", 230: "IEEE 802.15.4",
	231: "D-Bus", 240: "netANALYZER", 242: "InfiniBand", 243: "MPEG-2 transport", 244: "NG40", 247: "InfiniBand", 249: "USBPcap",
	251: "Bluetooth LE", 252: "Wireshark upper layers", 253: "netlink", 254: "Bluetooth monitor", 256: "Bluetooth LE", 266: "USB of Darwin",
	270: "LoRa", 271: "VSOCK", 272: "Nordic BLE", 273: "DOCSIS", 274: "Ethernet with preamble", 277: "Z-Wave", 283: "IEEE 802.15.4",
}

// String returns the name of a link type that is not read, and its number.
func (l LinkType) String() string {
	if name := linkNames[l]; name != "" {
		return fmt.Sprintf("%s (%d)", name, uint32(l))
	}
	return strconv.FormatUint(uint64(l), 10)
}

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

const (
	maxTags  = 8 // nested VLAN tags
	maxLinks = 4 // link types within link types
)

// Network returns the IP packet inside a captured packet, nil if there is none. known reports whether the link type is one that is read.
func Network(link LinkType, b []byte) (ip []byte, known bool) {
	if link == LinkEthernet {
		return etherFrame(b), true
	}
	for range maxLinks {
		switch link {
		case LinkEthernet:
			return etherFrame(b), true
		case LinkNull, LinkLoop:
			return familyPayload(b), true
		case LinkRaw, LinkRawBSD, linkRawOld, LinkIPv4, LinkIPv6:
			return ipOnly(b), true
		case LinkPPP, linkPPPHDLC:
			return pppFrame(b), true
		case linkPPPD, linkPPPDir:
			return pppFrame(after(b, 1)), true
		case linkPPPoE:
			return etherPayload(etherPPPoE, b), true
		case linkCHDLC:
			return typed(b, 2, 4), true
		case LinkSLL:
			return typed(b, 14, 16), true
		case LinkSLL2:
			return typed(b, 0, 20), true
		case linkPFLog:
			if len(b) == 0 {
				return nil, true
			}
			return ipOnly(after(b, (int(b[0])+3)&^3)), true
		case linkNFLog:
			return netfilterPayload(b), true
		case link80211:
			return wirelessPayload(b, false), true
		case linkRadiotap:
			return radiotapPayload(b), true
		case linkPrism, linkAVS:
			return wirelessPayload(after(b, prismSize(b)), false), true
		case linkPPI:
			link, b = ppiPayload(b)
		case linkPKTAP, linkUser2:
			if link == linkUser2 && !isPKTAP(b) {
				return nil, false
			}
			link, b = pktapPayload(b)
		default:
			return nil, false
		}
		if b == nil {
			return nil, true
		}
	}
	return nil, true
}

// after returns what follows n bytes, nil if there are fewer.
func after(b []byte, n int) []byte {
	if n < 0 || n > len(b) {
		return nil
	}
	return b[n:]
}

// typed returns the IP packet behind a header with an EtherType at kind.
func typed(b []byte, kind, head int) []byte {
	if len(b) < head {
		return nil
	}
	return etherPayload(binary.BigEndian.Uint16(b[kind:]), b[head:])
}

// etherFrame returns the IP packet in an Ethernet frame.
func etherFrame(b []byte) []byte { return typed(b, 12, 14) }

// familyPayload returns the IP packet behind 4 bytes of address family. The byte order of the writer is not known: the family is a small
// number in one of the two.
func familyPayload(b []byte) []byte {
	if len(b) < 4 {
		return nil
	}
	family := binary.LittleEndian.Uint32(b)
	if family > 0xffff {
		family = binary.BigEndian.Uint32(b)
	}
	switch family {
	case 2, 10, 23, 24, 28, 30: // AF_INET; AF_INET6 of Linux, Windows, NetBSD, FreeBSD, macOS
		return ipOnly(b[4:])
	}
	return nil
}

// pppFrame returns the IP packet in a frame of PPP.
func pppFrame(b []byte) []byte {
	if len(b) > 2 && b[0] == 0xff && b[1] == 3 {
		b = b[2:]
	}
	return pppPayload(b)
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
