package tera

import "encoding/binary"

// integrityStart is the offset of the checksum in a message with the integrity header, after length, opcode and sequence number. The
// 4 bytes of the checksum are excluded from it.
const integrityStart = 8

// Checksum computes the checksum in the integrity header of client messages (patch 92 and later), over the whole frame, which must
// contain its sequence number. The key is the server's S_LOGIN_ACCOUNT_INFO.integrityIv. The checksum of a frame that is shorter than the
// header is 0. Source: tera-proxy, node_modules/tera-proxy-game; patch 92 clients send 0 instead.
func Checksum(frame []byte, key uint32) uint32 {
	if len(frame) < integrityStart+4 {
		return 0
	}
	opcode := uint32(binary.LittleEndian.Uint16(frame[2:]))
	count := binary.LittleEndian.Uint32(frame[4:])
	base := opcode + count
	walk := uint64(key) // key + sum of the positions so far; it never overflows, and its remainder chooses the term
	var sum uint32
	for at, b := range frame {
		if at >= integrityStart && at < integrityStart+4 {
			continue
		}
		i, d := uint32(at), uint32(b)
		walk += uint64(at)
		switch walk % 5 {
		case 0:
			sum += (base - key + i) ^ d<<(i%3)
		case 1:
			sum += (base + key + i) & (d << (i & 3))
		case 2:
			sum += (base - 2*key + i) | d<<(i&1)
		case 3:
			sum += (2*key - opcode + count + i) ^ d<<(i%3)
		case 4:
			sum += (base + key) ^ d<<(i%3)
		}
	}
	return sum
}
