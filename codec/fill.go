package codec

// row is what is known of a block's leaf before there is a message: how its bits are read, and its kind.
type row struct {
	mask  uint64
	kind  LeafKind
	off   uint64 // bits from the start of the block
	at    uint32 // see peek
	shift uint8
}

// fill makes the leaves of n blocks that stand side by side, the first at bit at of data. There is room in out for all of them, and
// data reaches as far as the loads of the last block do. All are elements of one node, the first with the index elem; or elem is -1,
// and each has a node of its own, one after another.
//
// Making leaves is most of the work of reading a row of values, so there are two forms of this function: fillSafe here, and one
// with fewer instructions in fill_fast.go. A test compares them.
func fillSafe(out []Leaf, b *Block, data []byte, at, node uint32, elem int32, n int) {
	for ; n > 0; n-- {
		one := out[:len(b.rows)]
		for i := range b.rows {
			t := &b.rows[i]
			raw := Word(data, at/8+t.at) >> (t.shift & 63) & t.mask
			l := &one[i]
			l.Raw = raw
			l.Off = at + uint32(t.off)
			l.Node = node
			l.LeafKind = t.kind
			l.Elem = elem
		}
		out, at = out[len(b.rows):], at+b.Bits
		if elem < 0 {
			node++
		} else {
			elem++
		}
	}
}
