package filter

import (
	"bytes"
	"math/bits"
)

// pattern is bytes with wildcard bits.
type pattern struct {
	value, mask []byte // of the same length; mask nil: all bits count
}

func (p *pattern) size() int { return len(p.value) }

// parsePattern parses pairs of hex digits; a question mark is a wildcard digit.
func parsePattern(digits string) pattern {
	var p pattern
	var mask []byte
	wild := false
	for i := 0; i+1 < len(digits); i += 2 {
		var v, m byte
		for _, c := range []byte(digits[i : i+2]) {
			v, m = v<<4, m<<4
			switch {
			case c == '?':
				wild = true
				continue
			case c <= '9':
				v |= c - '0'
			default:
				v |= c | 0x20 - 'a' + 10
			}
			m |= 15
		}
		p.value, mask = append(p.value, v), append(mask, m)
	}
	if wild {
		p.mask = mask
	}
	return p
}

// equal reports whether data matches the pattern exactly.
func (p *pattern) equal(data []byte) bool {
	if len(data) != len(p.value) {
		return false
	}
	if p.mask == nil {
		return bytes.Equal(data, p.value)
	}
	for i, m := range p.mask {
		if (data[i]^p.value[i])&m != 0 {
			return false
		}
	}
	return true
}

// finder searches bytes for a pattern in linear time. It is immutable.
type finder struct {
	pattern
	words int         // number of 64-bit words of a state
	table [][4]uint64 // by byte: its possible positions in the pattern
}

func newFinder(p pattern) *finder {
	f := &finder{pattern: p}
	if p.mask == nil {
		return f
	}
	f.words = (len(p.value) + 63) / 64
	f.table = make([][4]uint64, 256)
	for c := range f.table {
		for i, m := range p.mask {
			if (byte(c)^p.value[i])&m == 0 {
				f.table[c][i/64] |= 1 << (i % 64)
			}
		}
	}
	return f
}

// in reports whether data contains the pattern, with the shift-and algorithm: bit i of the state means that the last i+1 bytes are the
// start of the pattern.
func (f *finder) in(data []byte) bool {
	if f.mask == nil {
		return bytes.Contains(data, f.value)
	}
	last, bit := (len(f.value)-1)/64, uint64(1)<<((len(f.value)-1)%64)
	if f.words == 1 {
		state := uint64(0)
		for _, c := range data {
			if state = (state<<1 | 1) & f.table[c][0]; state&bit != 0 {
				return true
			}
		}
		return false
	}
	var state [4]uint64
	for _, c := range data {
		carry := uint64(1)
		row := &f.table[c]
		for w := range f.words {
			state[w], carry = (state[w]<<1|carry)&row[w], state[w]>>63
		}
		if state[last]&bit != 0 {
			return true
		}
	}
	return false
}

// appendNumber appends the low bytes of v, little-endian or big-endian.
func appendNumber(dst []byte, v uint64, size int, big bool) []byte {
	if big {
		v = bits.ReverseBytes64(v) >> (64 - 8*size)
	}
	for range size {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// readNumber decodes a number of up to eight bytes.
func readNumber(b []byte, big bool) (v uint64) {
	for i := range b {
		if big {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}
