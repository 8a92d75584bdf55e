package packet

// Sum16 returns the sum of b as big-endian 16-bit numbers (RFC 1071), at most 2^32 for 128 KiB.
func Sum16(b []byte) uint32 {
	sum := uint32(0)
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) > 0 {
		sum += uint32(b[0]) << 8
	}
	return sum
}

// Fold folds the carries of a sum into 16 bits.
func Fold(sum uint32) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
