package frames

import (
	"math/bits"

	"wirebench/defs/schema"
	"wirebench/server/live"
)

// LengthRow counts the frames whose length is from From to To, both included.
type LengthRow struct {
	From int `json:"from" doc:"bytes"`
	To   int `json:"to"`
	C2S  int `json:"c2s" doc:"frames of the client"`
	S2C  int `json:"s2c" doc:"other frames"`
}

// stepBits is the binary logarithm of the number of ranges between a power of two and the next one. Shorter frames have a range each length.
const stepBits = 2

// lengths counts frames by their length, in ranges that grow with it, so that any number of frames takes the same memory.
type lengths struct {
	c2s, s2c [(33 - stepBits) << stepBits]int
}

// lengthRange returns the index of the range of a length, and its first and last length.
func lengthRange(n uint32) (index, from, to int) {
	shift := max(bits.Len32(n)-1-stepBits, 0)
	index = shift<<stepBits + int(n>>shift)
	from = int(n>>shift) << shift
	return index, from, from + 1<<shift - 1
}

func (l *lengths) add(e live.Entry) {
	i, _, _ := lengthRange(e.Len)
	if e.Dir == schema.ToServer {
		l.c2s[i]++
	} else {
		l.s2c[i]++
	}
}

func (l *lengths) rows() []LengthRow {
	out := []LengthRow{}
	for n := uint64(0); n < 1<<32; {
		i, from, to := lengthRange(uint32(n))
		if l.c2s[i]+l.s2c[i] > 0 {
			out = append(out, LengthRow{from, to, l.c2s[i], l.s2c[i]})
		}
		n = uint64(to) + 1
	}
	return out
}
