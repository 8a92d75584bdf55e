package codec

import (
	"wirebench/defs/schema"
)

// ReadVarint reads a number of so many bits in an encoding of variable size from the start of b. n is the number of bytes; 0 if b ends
// before the number does, -1 if the number has more bytes than an encoding of its width can have, or bits that would be cut: more than 64, of Long more than 128. Other bits beyond the width are ignored.
func ReadVarint(b []byte, v schema.Varint, bits uint32) (raw uint64, n int) {
	most := min(v.MaxBytes(int(bits)), len(b))
	shift := uint(0)
	for n < most {
		c := b[n]
		n++
		if n == 10 && (v == schema.VLQ && raw>>57 != 0 || (v == schema.LEB128 || v == schema.ZigZag || v >= schema.Wide) && c&0x7f > 1) || n == 19 && v == schema.Long && c&0x7f > 3 {
			return 0, -1 // bits would be cut
		}
		if v == schema.VLQ {
			raw = raw<<7 | uint64(c&0x7f)
		} else {
			raw |= uint64(c&0x7f) << shift
		}
		shift += 7
		if c < 0x80 {
			return finishVarint(raw, v, bits, shift), n
		}
	}
	if most < len(b) {
		return 0, -1
	}
	return 0, 0
}

// finishVarint turns the groups of a number into its bits.
func finishVarint(raw uint64, v schema.Varint, bits uint32, shift uint) uint64 {
	switch v {
	case schema.ZigZag:
		raw &= schema.Mask(int(bits))
		raw = raw>>1 ^ -(raw & 1)
	case schema.SLEB128:
		if shift < 64 {
			raw = uint64(schema.SignExtend(raw, int(shift)))
		}
	}
	return raw & schema.Mask(int(bits))
}

// AppendVarint appends the shortest encoding of the bits of a number.
func AppendVarint(dst []byte, raw uint64, v schema.Varint, bits uint32) []byte {
	switch v {
	case schema.ZigZag:
		s := schema.SignExtend(raw, int(bits))
		raw = uint64(s<<1^s>>63) & schema.Mask(int(bits))
	case schema.SLEB128:
		s := schema.SignExtend(raw, int(bits))
		for {
			c := byte(s & 0x7f)
			if s >>= 7; s == 0 && c&0x40 == 0 || s == -1 && c&0x40 != 0 {
				return append(dst, c)
			}
			dst = append(dst, c|0x80)
		}
	case schema.WideSigned:
		raw = uint64(schema.SignExtend(raw, int(bits)))
	case schema.VLQ:
		shift := uint(0)
		for raw>>shift>>7 != 0 {
			shift += 7
		}
		for ; shift > 0; shift -= 7 {
			dst = append(dst, byte(raw>>shift)|0x80)
		}
		return append(dst, byte(raw&0x7f))
	}
	for raw >= 0x80 {
		dst = append(dst, byte(raw)|0x80)
		raw >>= 7
	}
	return append(dst, byte(raw))
}

// VarintSize returns the number of bytes of AppendVarint.
func VarintSize(raw uint64, v schema.Varint, bits uint32) int {
	var b [10]byte
	return len(AppendVarint(b[:0], raw, v, bits))
}
