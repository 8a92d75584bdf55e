package tera

import "encoding/binary"

// ViaIntegrity in Frame.Via marks client messages with the long header. It is the name of defs.Dialect.Alternate.
const ViaIntegrity = "integrity"

// Sizes of headers in bytes.
const (
	headerSize    = 4  // uint16 length, uint16 code
	integritySize = 12 // then uint32 count, uint32 checksum. Offsets in the body count from byte 0 all the same
)

// Checksum returns the checksum of a client message with the long header, its count included. iv is the server's
// S_LOGIN_ACCOUNT_INFO.integrityIv. The checksum's own field is excluded. It is 0 for a message below 12 bytes.
func Checksum(iv uint32, message []byte) uint32 {
	if len(message) < integritySize {
		return 0
	}
	code := uint32(binary.LittleEndian.Uint16(message[2:]))
	count := binary.LittleEndian.Uint32(message[4:])
	base := [5]uint32{code + count - iv, code + count + iv, code + count - 2*iv, count - code + 2*iv, code + count + iv}
	acc := uint64(iv) // does not wrap
	sum, mod3 := uint32(0), uint(0)
	for i, b := range message {
		if i < 8 || i >= integritySize {
			acc += uint64(i)
			d, n := uint32(b), uint32(i)
			switch acc % 5 {
			case 0:
				sum += (base[0] + n) ^ d<<mod3
			case 1:
				sum += (base[1] + n) & (d << (n & 3))
			case 2:
				sum += (base[2] + n) | d<<(n&1)
			case 3:
				sum += (base[3] + n) ^ d<<mod3
			case 4:
				sum += base[4] ^ d<<mod3
			}
		}
		if mod3++; mod3 == 3 {
			mod3 = 0
		}
	}
	return sum
}

// Seal writes count and checksum into a client message of at least 12 bytes. It does nothing to a shorter one.
func Seal(iv, count uint32, message []byte) {
	if len(message) < integritySize {
		return
	}
	binary.LittleEndian.PutUint32(message[4:], count)
	binary.LittleEndian.PutUint32(message[8:], Checksum(iv, message))
}

// Counts holds the counts of the long header: one per code, from 1. The zero value is for a new connection. A proxy has one for the
// messages that it sends.
type Counts struct {
	of map[uint16]uint32 // last counts
}

// Next returns the next count of a code, and advances it.
func (c *Counts) Next(code uint16) uint32 {
	if c.of == nil {
		c.of = make(map[uint16]uint32)
	}
	n := c.of[code] + 1
	c.of[code] = n
	return n
}

// integrity recognises the long header in client messages.
type integrity struct {
	iv     uint32
	hasIV  bool
	zero   bool // the checksum is 0: patch 92
	seen   Counts
	sealed Counts // of the recognised messages
	missed bool   // messages were lost: counts may have advanced
}

// check reports whether a client message has the long header, and counts it.
//
// A count is right if that many messages of the code have been received, or if it follows the last recognised one, since a proxy may have
// sent some without the long header. After a gap any higher count is accepted, because the checksum is sufficient evidence.
func (n *integrity) check(code uint16, message []byte) bool {
	seen := n.seen.Next(code)
	if len(message) < integritySize || !n.hasIV && !n.zero {
		return false
	}
	count := binary.LittleEndian.Uint32(message[4:])
	last := n.sealed.of[code]
	if count != seen && count != last+1 && !(n.missed && count > last) {
		return false
	}
	want := uint32(0)
	if n.hasIV {
		want = Checksum(n.iv, message)
	}
	if binary.LittleEndian.Uint32(message[8:]) != want {
		return false
	}
	if n.sealed.of == nil {
		n.sealed.of = make(map[uint16]uint32)
	}
	n.seen.of[code], n.sealed.of[code] = count, count
	return true
}
