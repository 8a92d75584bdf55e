package codec

import (
	"math"

	"wirebench/defs/schema"
)

// minSize is the number of bytes that a struct takes at least.
func (c *compiler) minSize(s *schema.Struct, depth int) uint64 {
	if depth > maxDepth {
		fail("nested deeper than %d", maxDepth)
	}
	var bits uint64
	wire := s.Wire[:len(s.Wire)-min(s.Optional, len(s.Wire))]
	for i := range wire {
		it := &wire[i]
		switch it.Kind {
		case schema.Value:
			bits += c.minBits(it.Field.Type, depth)
		case schema.Const:
			bits += uint64(len(it.Bytes)) * 8
		case schema.Weave:
		default:
			bits += uint64(max(it.Bits, 0))
		}
	}
	return (bits + 7) / 8
}

func (c *compiler) minBits(t schema.Type, depth int) uint64 {
	units := func(e schema.Extent, unit uint64) uint64 {
		n := uint64(0)
		switch e.Size {
		case schema.Fixed:
			n = uint64(max(e.N, 0))
		case schema.Terminated:
			n = 1
		default:
			if e.Min != nil {
				n = e.Min.Uint
			}
		}
		if unit != 0 && n > math.MaxUint32/unit {
			return math.MaxUint32
		}
		return n * unit * 8
	}
	switch t := t.(type) {
	case *schema.Number:
		return uint64(max(t.Bits, 0))
	case *schema.Packed:
		return uint64(max(t.Bits, 0))
	case *schema.Text:
		return units(t.Extent, uint64(t.Charset.Unit()))
	case *schema.Blob:
		return units(t.Extent, 1)
	case *schema.List:
		if t.Size == schema.Counted && t.Min == nil || t.Size == schema.ToEnd {
			return 0
		}
		return units(t.Extent, c.minSize(t.Elem, depth+1))
	case *schema.Group:
		return c.minSize(t.Struct, depth+1) * 8
	}
	return 0
}
