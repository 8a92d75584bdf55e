package runtime

import (
	"math/bits"
)

// keyed passes contents up to the end, each byte of which is xor that of a key, or rotated by a number of bits. key is empty for a number.
func keyed(x *coder, rotate bool, number int64, key string, isNumber bool, body func()) {
	apply := func(b []byte, by int64) {
		for i := range b {
			switch {
			case rotate:
				b[i] = bits.RotateLeft8(b[i], int(by%8))
			case isNumber:
				b[i] ^= byte(number)
			case key != "":
				b[i] ^= key[i%len(key)]
			}
		}
	}
	switch {
	case x.err != nil:
	case x.writing:
		from, base := len(x.b), x.base
		x.base = from
		x.inside++
		body()
		x.inside--
		x.base = base
		apply(x.b[from:], -number)
		x.end()
	default:
		plain := append([]byte(nil), x.b[x.pos:]...)
		apply(plain, number)
		sent, framed, base := x.b, x.framed, x.base
		x.plain -= len(plain) + 1024
		x.bytes += 4 * len(plain)
		x.elements += 4 * len(plain)
		if x.plain < 0 {
			x.illegal("contents with a key", "are too large")
		}
		x.b, x.framed, x.pos, x.base = plain, true, 0, 0
		x.inside++
		body()
		x.inside--
		x.b, x.framed, x.pos, x.base = sent, framed, len(sent), base
	}
}
