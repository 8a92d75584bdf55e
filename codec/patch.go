package codec

// FindLeaf returns the run of bits of a record with that path and role; where several have them, the one at the given place.
func (r *Record) FindLeaf(path string, role Role, bitOffset uint32) (Leaf, bool) {
	w := r.Paths()
	var found Leaf
	ok := false
	var buf []byte
	for _, l := range r.AppendLeaves(nil) {
		buf = w.Append(buf[:0], l)
		if l.Role != role || string(buf) != path {
			continue
		}
		if l.Off == bitOffset {
			return l, true
		}
		if !ok {
			found, ok = l, true
		}
	}
	return found, ok
}

// PatchNumber writes a number into data, the bytes of the record or a copy, in the place of a leaf and in its order of bytes. Nothing
// else is repaired. It reports false, and writes nothing, if the leaf is no number or if the number needs more bits than it has.
func (r *Record) PatchNumber(data []byte, l Leaf, raw uint64) bool {
	it := r.Item(l)
	if it == nil || it.Bits > 64 || it.Bits < 64 && raw>>it.Bits != 0 || uint64(l.Off)+uint64(it.Bits) > uint64(len(data))*8 {
		return false
	}
	StoreBits(data, l.Off, it.Bits, it.Order, raw)
	return true
}

// RoleNamed is the role of that name.
func RoleNamed(name string) (Role, bool) {
	for r := RoleValue; r <= RoleCheck; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}
