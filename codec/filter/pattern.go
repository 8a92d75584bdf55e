package filter

import (
	"bytes"
	"math/bits"
)

// pattern is bytes, some bits of which may be anything.
type pattern struct {
	value, mask []byte // of one length; mask nil: all bits count
}

func (p *pattern) size() int { return len(p.value) }

// parsePattern reads pairs of hex digits; a question mark is a digit that may be anything.
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

// equal reports whether data is the pattern.
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

// finder looks for a pattern in bytes, in time that is proportional to them. It is immutable.
type finder struct {
	pattern
	words int         // of 64 bits that a state has
	table [][4]uint64 // by byte: the places of the pattern at which it may stand
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

// in reports whether data has the pattern: by the shift-and algorithm, in which bit i of the state says that the i+1 bytes before
// here are the start of the pattern.
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

// appendNumber appends the low bytes of v, the least significant first, or last.
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

// readNumber is the number that up to eight bytes are.
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
