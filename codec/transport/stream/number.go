package stream

import (
	"encoding/binary"
	"math/bits"

	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// maxVarint is the maximum size in bytes of a number of variable size.
const maxVarint = 10

// readNumber reads a number at the start of b and returns its size in bytes. The size is 0 if more bytes are needed, and -1 if no number
// starts with these bytes.
func readNumber(n *envelope.Number, b []byte) (v uint64, size int) {
	switch n.Kind {
	case envelope.UInt:
		if len(b) < n.Size {
			return 0, 0
		}
		switch {
		case n.Size == 1:
			return uint64(b[0]), 1
		case n.Size == 2 && n.Order != schema.Big:
			return uint64(binary.LittleEndian.Uint16(b)), 2
		}
		if n.Order == schema.Big {
			for _, c := range b[:n.Size] {
				v = v<<8 | uint64(c)
			}
			return v, n.Size
		}
		for i := n.Size - 1; i >= 0; i-- {
			v = v<<8 | uint64(b[i])
		}
		return v, n.Size
	case envelope.VarInt, envelope.ZigZag:
		for i, c := range b {
			if i == maxVarint-1 && c > 1 {
				return 0, -1
			}
			v |= uint64(c&0x7f) << (7 * i)
			if c < 0x80 {
				if n.Kind == envelope.ZigZag {
					v = v>>1 ^ -(v & 1)
				}
				return v, i + 1
			}
		}
	case envelope.BigVarInt:
		for i, c := range b {
			if v>>57 != 0 {
				return 0, -1
			}
			v = v<<7 | uint64(c&0x7f)
			if c < 0x80 {
				return v, i + 1
			}
		}
	}
	return 0, 0
}

// appendNumber appends a number. ok is false if it does not fit.
func appendNumber(b []byte, n *envelope.Number, v uint64) (out []byte, ok bool) {
	switch n.Kind {
	case envelope.UInt:
		if n.Size < 8 && v>>(8*n.Size) != 0 {
			return b, false
		}
		var x [8]byte
		if n.Order == schema.Big {
			binary.BigEndian.PutUint64(x[:], v)
			return append(b, x[8-n.Size:]...), true
		}
		binary.LittleEndian.PutUint64(x[:], v)
		return append(b, x[:n.Size]...), true
	case envelope.VarInt:
		return binary.AppendUvarint(b, v), true
	case envelope.ZigZag:
		return binary.AppendVarint(b, int64(v)), true
	case envelope.BigVarInt:
		for i := max((bits.Len64(v)+6)/7-1, 0); i > 0; i-- {
			b = append(b, byte(v>>(7*i))|0x80)
		}
		return append(b, byte(v&0x7f)), true
	}
	return b, false
}

// numberSize returns the size in bytes of a number as appendNumber writes it.
func numberSize(n *envelope.Number, v uint64) int {
	switch n.Kind {
	case envelope.UInt:
		return n.Size
	case envelope.ZigZag:
		v = v<<1 ^ uint64(int64(v)>>63)
	}
	return max((bits.Len64(v)+6)/7, 1)
}
