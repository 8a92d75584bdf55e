//go:build amd64 || arm64

package codec

import "unsafe"

// fill is fillSafe without checks inside its loop, for little-endian machines with unaligned loads. The loop's preconditions are checked
// once: out has room for the leaves, and the furthest load of the last block (no row's at exceeds reach-8, see NewPeek) ends inside data.
//
//go:noinline
func fill(out []Leaf, b *Block, data []byte, at, node uint32, elem int32, n int) {
	rows := len(b.rows)
	if n <= 0 || rows == 0 {
		return
	}
	if uint64(len(out)) < uint64(n)*uint64(rows) || uint64(at/8)+uint64(n-1)*uint64(b.Bits/8)+uint64(b.Reach) > uint64(len(data)) {
		panic("codec: no room to fill")
	}
	l := unsafe.Pointer(unsafe.SliceData(out))
	base := unsafe.Add(unsafe.Pointer(unsafe.SliceData(data)), at/8)
	place, step, another := uint64(node)<<32|uint64(at), uint64(b.Bits), int32(1) // Leaf.Off and Leaf.Node
	if elem < 0 {
		step, another = step+1<<32, 0
	}
	for {
		t := unsafe.Pointer(unsafe.SliceData(b.rows))
		for k := rows; ; {
			r := (*row)(t)
			*(*uint64)(l) = *(*uint64)(unsafe.Add(base, r.at)) >> (r.shift & 63) & r.mask
			*(*uint64)(unsafe.Add(l, 8)) = place + r.off
			*(*LeafKind)(unsafe.Add(l, 16)) = r.kind
			*(*int32)(unsafe.Add(l, 16)) = elem
			if k--; k == 0 {
				break
			}
			l, t = unsafe.Add(l, unsafe.Sizeof(Leaf{})), unsafe.Add(t, unsafe.Sizeof(row{}))
		}
		if n--; n == 0 {
			return
		}
		l = unsafe.Add(l, unsafe.Sizeof(Leaf{}))
		base = unsafe.Add(base, b.Bits/8)
		place += step
		elem += another
	}
}

// Offsets of the parts of a Leaf, for the loop of fill.
const (
	_ = -unsafe.Offsetof(Leaf{}.Raw)
	_ = 8 - unsafe.Offsetof(Leaf{}.Off)
	_ = unsafe.Offsetof(Leaf{}.Off) - 8
	_ = 12 - unsafe.Offsetof(Leaf{}.Node)
	_ = unsafe.Offsetof(Leaf{}.Node) - 12
	_ = 16 - unsafe.Offsetof(Leaf{}.LeafKind)
	_ = unsafe.Offsetof(Leaf{}.LeafKind) - 16
	_ = -unsafe.Offsetof(LeafKind{}.Elem)
)
