package tera

import (
	"encoding/binary"
	"math/bits"
)

const shaBlock = 64 // bytes

// shaState holds the five words of SHA-0: FIPS 180 of 1993, which is SHA-1 without the rotation in the message schedule.
type shaState [5]uint32

var shaStart = shaState{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}

// block adds a block.
func (s *shaState) block(p []byte) {
	var w [80]uint32
	_ = p[shaBlock-1]
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(p[4*i:])
	}
	for i := 16; i < 80; i++ {
		w[i] = w[i-3] ^ w[i-8] ^ w[i-14] ^ w[i-16]
	}
	a, b, c, d, e := s[0], s[1], s[2], s[3], s[4]
	i := 0
	for ; i < 20; i++ {
		a, b, c, d, e = bits.RotateLeft32(a, 5)+(b&c|^b&d)+e+w[i]+0x5a827999, a, bits.RotateLeft32(b, 30), c, d
	}
	for ; i < 40; i++ {
		a, b, c, d, e = bits.RotateLeft32(a, 5)+(b^c^d)+e+w[i]+0x6ed9eba1, a, bits.RotateLeft32(b, 30), c, d
	}
	for ; i < 60; i++ {
		a, b, c, d, e = bits.RotateLeft32(a, 5)+(b&c|b&d|c&d)+e+w[i]+0x8f1bbcdc, a, bits.RotateLeft32(b, 30), c, d
	}
	for ; i < 80; i++ {
		a, b, c, d, e = bits.RotateLeft32(a, 5)+(b^c^d)+e+w[i]+0xca62c1d6, a, bits.RotateLeft32(b, 30), c, d
	}
	s[0] += a
	s[1] += b
	s[2] += c
	s[3] += d
	s[4] += e
}

// finish adds the rest of a message with a total length in bytes, and the padding.
func (s *shaState) finish(rest []byte, total int) {
	for len(rest) >= shaBlock {
		s.block(rest)
		rest = rest[shaBlock:]
	}
	var last [2 * shaBlock]byte
	n := copy(last[:], rest)
	last[n] = 0x80
	size := shaBlock
	if n+9 > shaBlock {
		size = 2 * shaBlock
	}
	binary.BigEndian.PutUint64(last[size-8:], 8*uint64(total))
	for at := 0; at < size; at += shaBlock {
		s.block(last[at:])
	}
}

// sha0 returns the digest of a message, as words.
func sha0(message []byte) shaState {
	s := shaStart
	s.finish(message, len(message))
	return s
}
