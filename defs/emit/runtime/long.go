package runtime

import (
	"fmt"
	"math"
	"math/big"
)

// Uint128 is an integer of 128 bits, a decimal number in JSON.
type Uint128 struct{ High, Low uint64 }

func (n Uint128) String() string {
	v := new(big.Int).SetUint64(n.High)
	return v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(n.Low)).String()
}

func (n Uint128) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

func (n *Uint128) UnmarshalJSON(text []byte) error {
	var v big.Int
	if s := string(text); s == "null" {
		return nil
	} else if len(s) > 1 && s[0] == '"' {
		text = text[1 : len(text)-1]
	}
	if err := v.UnmarshalJSON(text); err != nil {
		return err
	}
	if v.Sign() < 0 || v.BitLen() > 128 {
		return fmt.Errorf("%s does not fit 128 bits", text)
	}
	n.Low = new(big.Int).And(&v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	n.High = v.Rsh(&v, 64).Uint64()
	return nil
}

// long passes a number of up to 128 bits. narrow: other parts depend on it, so that it must have 64.
func (x *coder) long(p *Uint128, narrow bool, field string) (low uint64) {
	v := *p
	if x.err != nil {
		return 0
	}
	if x.writing {
		x.fits(!narrow || v.High == 0, 64, field)
		for v.High > 0 || v.Low >= 0x80 {
			x.b = append(x.b, byte(v.Low)|0x80)
			v.Low, v.High = v.Low>>7|v.High<<57, v.High>>7
		}
		x.b = append(x.b, byte(v.Low))
		return p.Low
	}
	v = Uint128{}
	for size := 1; ; size++ {
		if x.pos+size > len(x.b) {
			x.over(field)
			return 0
		}
		c := uint64(x.b[x.pos+size-1])
		if size > 19 || size == 19 && c&0x7f > 3 {
			x.illegal(field, "the number is too long")
			return 0
		}
		switch shift := 7 * (size - 1); {
		case shift >= 64:
			v.High |= c & 0x7f << (shift - 64)
		default:
			v.Low |= c & 0x7f << shift
			if shift > 57 {
				v.High |= c & 0x7f >> (64 - shift)
			}
		}
		if c < 0x80 {
			x.pos += size
			x.spend(0, size, field)
			x.fits(!narrow || v.High == 0, 64, field)
			*p = v
			return v.Low
		}
	}
}
