package codec

import (
	"math"
	"slices"

	"wirebench/defs/schema"
)

// FindLeaf returns the leaf of a record with the given path and role; if several match, the one at the given offset.
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

// PatchNumber writes a number into data, the bytes of the record or a copy, at the position of a leaf and in its byte order. It updates
// nothing else. It returns false, and writes nothing, if the leaf is not a number of fixed size that is in the message, or raw has more bits
// than the leaf.
func (r *Record) PatchNumber(data []byte, l Leaf, raw uint64) bool {
	it := r.Item(l)
	if it == nil || it.Computed() || it.Var != 0 || it.Bits > 64 || it.Bits < 64 && raw>>it.Bits != 0 || uint64(l.Off)+uint64(it.Bits) > uint64(min(len(data), r.Size()))*8 {
		return false
	}
	StoreBits(data, l.Off, it.Bits, it.Order, raw)
	return true
}

// Written returns data, the bytes of the record or a copy, with another number at the position of a leaf: a number as it is displayed, before
// its scale. A number of variable size may change the length; the end of a list is a byte. Nothing else is updated. ok is false if the leaf
// is not a number in the message, or if it does not hold the number.
func (r *Record) Written(data []byte, l Leaf, units int64) (out []byte, ok bool) {
	it := r.Item(l)
	if it == nil {
		if l.Role != RoleEnd || units < 0 || units > math.MaxUint8 || int(l.Off/8) >= min(len(data), r.Size()) {
			return nil, false
		}
		data[l.Off/8] = byte(units)
		return data, true
	}
	raw := uint64(units)
	if it.Computed() {
		return nil, false
	}
	if it.Num != nil {
		if raw, ok = it.Num.RawUnits(units); !ok {
			return nil, false
		}
	}
	if it.Var == schema.Sized {
		return data, r.PatchNumber(data, l, raw)
	}
	from, to := int(l.Off/8), int(l.Range().End()/8)
	if to > min(len(data), r.Size()) || raw&^schema.Mask(int(it.Bits)) != 0 {
		return nil, false
	}
	return slices.Replace(data, from, to, AppendVarint(nil, raw, it.Var, it.Bits)...), true
}

// RoleNamed returns the role with the given name.
func RoleNamed(name string) (Role, bool) {
	for r := RoleValue; r <= RolePacked; r++ {
		if r.String() == name {
			return r, true
		}
	}
	return 0, false
}
