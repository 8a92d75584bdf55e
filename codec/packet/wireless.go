package packet

import "encoding/binary"

// Headers of link layers that wrap another one.

// wirelessPayload returns the IP packet in an IEEE 802.11 data frame (IEEE 802.11-2020, 9.2). Encrypted frames and aggregates (A-MSDU)
// have none that can be read. padded means that the header is padded to 4 bytes.
func wirelessPayload(b []byte, padded bool) []byte {
	if len(b) < 24 || b[0]&0x0f != 8 || b[0]&0x40 != 0 || b[1]&0x40 != 0 { // data with contents, not protected
		return nil
	}
	head := 24
	if b[1]&3 == 3 { // between access points: a fourth address
		head += 6
	}
	if b[0]&0x80 != 0 { // quality of service
		if len(b) < head+2 || b[head]&0x80 != 0 {
			return nil
		}
		head += 2
		if b[1]&0x80 != 0 { // HT control
			head += 4
		}
	}
	if padded {
		head = (head + 3) &^ 3
	}
	if b = after(b, head); len(b) < 8 || b[0] != 0xaa || b[1] != 0xaa || b[2] != 3 { // LLC with SNAP (RFC 1042)
		return nil
	}
	return etherPayload(binary.BigEndian.Uint16(b[6:]), b[8:])
}

// radiotapPayload returns the IP packet in a frame behind a radiotap header (radiotap.org): version, pad, length of 2 bytes, words that name
// the fields present, fields. Of these only the flags matter, the second field, after 8 aligned bytes of time.
func radiotapPayload(b []byte) []byte {
	if len(b) < 8 || b[0] != 0 {
		return nil
	}
	size := int(binary.LittleEndian.Uint16(b[2:]))
	if size < 8 || size > len(b) {
		return nil
	}
	const haveTime, haveFlags, more, dataPad = 1, 2, 1 << 31, 0x20
	present := binary.LittleEndian.Uint32(b[4:])
	at := 8
	for word := present; word&more != 0; at += 4 {
		if at+4 > size {
			return nil
		}
		word = binary.LittleEndian.Uint32(b[at:])
	}
	if present&haveTime != 0 {
		at = (at+7)&^7 + 8
	}
	padded := present&haveFlags != 0 && at < size && b[at]&dataPad != 0
	return wirelessPayload(b[size:], padded)
}

// prismSize returns the size of the header that Prism and AVS drivers put before a frame, -1 if there is none. An AVS header is big-endian,
// and may stand where a Prism header is announced.
func prismSize(b []byte) int {
	if len(b) < 8 {
		return -1
	}
	const avs, avsMask, prism = 0x80211000, 0xfffff000, 0x44
	if binary.BigEndian.Uint32(b)&avsMask == avs {
		return int(min(binary.BigEndian.Uint32(b[4:]), 1<<16))
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint32(b) == prism {
			return int(min(order.Uint32(b[4:]), 1<<16))
		}
	}
	return -1
}

// ppiPayload returns the link type and the packet behind a PPI header (CACE Technologies, PPI 1.0.10): version, flags, length, link type.
func ppiPayload(b []byte) (LinkType, []byte) {
	if len(b) < 8 || b[0] != 0 {
		return 0, nil
	}
	size := int(binary.LittleEndian.Uint16(b[2:]))
	if size < 8 {
		return 0, nil
	}
	return LinkType(binary.LittleEndian.Uint32(b[4:])), after(b, size)
}

const pktapHeader = 108 // bytes of the shortest header of PKTAP

// isPKTAP reports whether a packet starts with a header of PKTAP (XNU, bsd/net/pktap.h): length, kind (1: a packet follows), link type.
func isPKTAP(b []byte) bool {
	return len(b) >= pktapHeader && binary.LittleEndian.Uint32(b) >= pktapHeader && binary.LittleEndian.Uint32(b[4:]) == 1
}

func pktapPayload(b []byte) (LinkType, []byte) {
	if !isPKTAP(b) {
		return 0, nil
	}
	return LinkType(binary.LittleEndian.Uint32(b[8:])), after(b, int(min(binary.LittleEndian.Uint32(b), 1<<16)))
}

// netfilterPayload returns the IP packet among the attributes of a netfilter log message: family, version 0, resource, then attributes of
// length, type and value, padded to 4 bytes, in the byte order of the writer.
func netfilterPayload(b []byte) []byte {
	const payload = 9 // NFULA_PAYLOAD
	if len(b) < 4 || b[1] != 0 {
		return nil
	}
	b = b[4:]
	order := binary.ByteOrder(binary.LittleEndian)
	if len(b) >= 4 && order.Uint16(b[2:]) > 0xff {
		order = binary.BigEndian
	}
	for len(b) >= 4 {
		size, kind := int(order.Uint16(b)), order.Uint16(b[2:])
		if size < 4 || size > len(b) {
			return nil
		}
		if kind == payload {
			return ipOnly(b[4:])
		}
		b = after(b, (size+3)&^3)
	}
	return nil
}
