package codec

import (
	"encoding/binary"
	"math/bits"

	"wirebench/defs/schema"
)

// LoadBits reads a number of 1 to 64 bits at bit off of data. The caller must ensure that it is inside data. Bit 0 of a byte is the least
// significant one, for big-endian numbers the most significant one.
func LoadBits(data []byte, off, bits uint32, order schema.Order) uint64 {
	if order == schema.Big && (off|bits)&7 != 0 {
		return loadMSB(data, off, bits)
	}
	i, shift := int(off>>3), off&7
	var v uint64
	if i+8 <= len(data) {
		v = binary.LittleEndian.Uint64(data[i:]) >> shift
		if shift+bits > 64 {
			v |= uint64(data[i+8]) << (64 - shift)
		}
	} else {
		v = loadTail(data, i, shift)
	}
	if order == schema.Big {
		return swap(v, bits)
	}
	return v & (^uint64(0) >> (64 - bits))
}

// loadTail reads fewer than eight bytes at the end of data.
func loadTail(data []byte, i int, shift uint32) (v uint64) {
	for k := len(data) - 1; k >= i; k-- {
		v = v<<8 | uint64(data[k])
	}
	return v >> shift
}

// swap reverses the low n/8 bytes of v, and clears the others.
func swap(v uint64, n uint32) uint64 { return bits.ReverseBytes64(v) >> (64 - n&^7) }

// loadMSB reads a big-endian number that does not occupy whole bytes.
func loadMSB(data []byte, off, bits uint32) (v uint64) {
	for bits > 0 {
		n := min(8-off&7, bits)
		v = v<<n | uint64(data[off>>3]>>(8-off&7-n))&(1<<n-1)
		off, bits = off+n, bits-n
	}
	return v
}

// storeMSB writes a big-endian number that does not occupy whole bytes.
func storeMSB(data []byte, off, bits uint32, v uint64) {
	for bits > 0 {
		n := min(8-off&7, bits)
		shift := 8 - off&7 - n
		mask := byte(1<<n-1) << shift
		data[off>>3] = data[off>>3]&^mask | byte(v>>(bits-n))<<shift&mask
		off, bits = off+n, bits-n
	}
}

// StoreBits writes the low bits of v at bit off of data, which must be long enough.
func StoreBits(data []byte, off, bits uint32, order schema.Order, v uint64) {
	if order == schema.Big && (off|bits)&7 != 0 {
		storeMSB(data, off, bits, v)
		return
	}
	i, shift := off>>3, off&7
	if order == schema.Big {
		v = swap(v, bits)
	}
	if shift == 0 {
		switch bits {
		case 8:
			data[i] = byte(v)
			return
		case 16:
			binary.LittleEndian.PutUint16(data[i:], uint16(v))
			return
		case 32:
			binary.LittleEndian.PutUint32(data[i:], uint32(v))
			return
		case 64:
			binary.LittleEndian.PutUint64(data[i:], v)
			return
		}
	}
	for bits > 0 {
		n := min(8-shift, bits)
		mask := byte(1<<n-1) << shift
		data[i] = data[i]&^mask | byte(v)<<shift&mask
		v >>= n
		bits -= n
		i++
		shift = 0
	}
}

// Peek reads a number at a known position in a block: one load of eight bytes, one shift, one mask. It reads from a window, the bytes from
// the start of the block on, which has at least eight bytes: see window.
type Peek struct {
	Mask  uint64
	At    uint32 // byte of the window where the load starts
	Shift uint8
	bits  uint8
	order schema.Order
	Slow  bool // spans nine bytes, or is big-endian: read by LoadBits
}

// NewPeek returns the Peek of a number in a block of the given size. The load does not extend beyond the block, unless the block is shorter
// than eight bytes.
func NewPeek(off, bits uint32, order schema.Order, blockBits uint32) Peek {
	if bits == 0 || bits > 64 {
		return Peek{} // not a number: reads as 0
	}
	at := min(off/8, max(blockBits/8, 8)-8)
	shift := off - at*8
	k := Peek{
		Mask: ^uint64(0) >> (64 - bits), At: at, Shift: uint8(shift), bits: uint8(bits), order: order,
		Slow: shift+bits > 64 || order == schema.Big && bits > 8,
	}
	if order == schema.Big && (off|bits)&7 != 0 {
		if k.Slow = off&7+bits > 8; !k.Slow { // inside one byte: the same bits, counted from the other end
			k.Shift, k.order = uint8(shift&^7+(8-shift&7-bits)), schema.Little
		}
	}
	return k
}

// From reads the number from a block that starts with the window.
func (k *Peek) From(window []byte) uint64 {
	if k.Slow {
		return k.fromBits(window)
	}
	return Word(window, k.At) >> (k.Shift & 63) & k.Mask
}

func (k *Peek) fromBits(window []byte) uint64 {
	return LoadBits(window, k.At*8+uint32(k.Shift), uint32(k.bits), k.order)
}

// Word loads eight bytes. The construction of peeks and windows ensures that they exist; the explicit test lets the compiler omit its own
// bounds checks.
func Word(window []byte, at uint32) uint64 {
	i := int(at)
	if i+8 > len(window) {
		return 0
	}
	return binary.LittleEndian.Uint64(window[i : i+8])
}

// window returns data from a byte on, or a copy in pad if fewer than eight bytes remain.
func window(data []byte, at uint32, pad *[8]byte) []byte {
	w := data[at:]
	if len(w) < len(pad) {
		copy(pad[:], w)
		return pad[:]
	}
	return w
}

// trimmed returns the number of bytes before the last run of a byte.
func trimmed(b []byte, pad byte) uint64 {
	n := len(b)
	for n > 0 && b[n-1] == pad {
		n--
	}
	return uint64(n)
}

// FixedText returns the characters of a text of fixed size: up to its first zero unit, or without its padding.
func FixedText(t *schema.Text, b []byte) []byte {
	if t.Pad != 0 {
		for len(b) > 0 && b[len(b)-1] == t.Pad {
			b = b[:len(b)-1]
		}
		return b
	}
	return CutAtNul(b, t.Charset.Unit())
}

// CutAtNul returns fixed text up to its first zero unit.
func CutAtNul(b []byte, unit int) []byte {
	for i := 0; i+unit <= len(b); i += unit {
		if b[i] == 0 && (unit == 1 || b[i+1] == 0) {
			return b[:i]
		}
	}
	return b
}
