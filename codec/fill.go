package codec

// row holds the constant properties of a block's leaf: how its bits are read, and its kind.
type row struct {
	mask  uint64
	kind  LeafKind
	off   uint64 // bits from the start of the block
	at    uint32 // see Peek
	shift uint8
}

// fill creates the leaves of n adjacent blocks, the first at bit at of data. out must have room for all of them, and data must cover the
// loads of the last block. All are elements of one node, the first with the index elem; or elem is -1, and the blocks have consecutive
// nodes of their own.
//
// Creating leaves is most of the work of reading a row of values, so there are two versions of this function: fillSafe here, and one with
// fewer instructions in fill_fast.go. A test compares them.
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
