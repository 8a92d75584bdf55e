package codec

import (
	"math/bits"
	"strconv"

	"wirebench/defs/schema"
)

// Numbers of schema.Long have up to 128 bits. The lower 64 are the bits of their nodes, leaves and registers; the upper ones are only in the bytes.

// High returns the upper bits of the number at a range of data, which is complete; 0 for numbers of at most 64 bits.
func (it *Item) High(data []byte, at Range) (high uint64) {
	if it.Var != schema.Long || at.Len <= 72 {
		return 0
	}
	for i, c := range data[at.Off/8+9 : at.End()/8] {
		if shift := 7*(i+9) - 64; shift < 0 {
			high |= uint64(c&0x7f) >> -shift
		} else {
			high |= uint64(c&0x7f) << shift
		}
	}
	return high
}

// High returns the upper bits of the current number.
func (c *Cursor) High() uint64 {
	if !c.at.varint {
		return 0
	}
	return c.at.item.High(c.r.Data, c.Range)
}

// AppendLong appends the shortest encoding of a number of up to 128 bits.
func AppendLong(dst []byte, high, low uint64) []byte {
	for high > 0 || low >= 0x80 {
		dst = append(dst, byte(low)|0x80)
		low, high = low>>7|high<<57, high>>7
	}
	return append(dst, byte(low))
}

// AppendLongText appends a number of up to 128 bits in decimal.
func AppendLongText(dst []byte, high, low uint64) []byte {
	if high == 0 {
		return strconv.AppendUint(dst, low, 10)
	}
	const most = 1e19
	top, rest := bits.Div64(high%most, low, most)
	dst = AppendLongText(dst, high/most, top)
	text := strconv.AppendUint(nil, rest, 10)
	for range 19 - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

// ParseLong reads a decimal number of up to 128 bits.
func ParseLong(text string) (high, low uint64, ok bool) {
	for i := range len(text) {
		c := uint64(text[i] - '0')
		if c > 9 {
			return 0, 0, false
		}
		over, h := bits.Mul64(high, 10)
		carry, l := bits.Mul64(low, 10)
		l, more := bits.Add64(l, c, 0)
		h, over2 := bits.Add64(h, carry, more)
		if over+over2 > 0 {
			return 0, 0, false
		}
		high, low = h, l
	}
	return high, low, text != ""
}

// Shortest appends the shortest encoding of the number that is encoded as b, whose lower bits are raw.
func (it *Item) Shortest(dst, b []byte, raw uint64) []byte {
	if it.Var == schema.Long {
		return AppendLong(dst, it.High(b, Range{0, uint32(len(b)) * 8}), raw)
	}
	return AppendVarint(dst, raw, it.Var, it.Bits)
}
