package codec

// GroupSite finds the place of a group, from its first field to its last, or of the elements of a list. ok is false if the fields are
// not contiguous: texts, bytes and lists of variable size are elsewhere in the message. A Cursor at a group has a Range and no Raw.
func (p *Program) GroupSite(group uint16, index ...int32) (s *Site, ok bool) {
	within := func(field uint16) bool { return field > group && int(field) < p.Fields[group].End }
	for i := range p.ops {
		if o := &p.ops[i]; within(o.field) && (o.code == opText || o.code == opBlob || o.code == opList) {
			return nil, false
		}
	}
	found := -1
	s = &Site{Field: group, op: noIndex, item: item{field: group}}
	for b := range p.blocks {
		for i := range p.blocks[b].items {
			it := &p.blocks[b].items[i]
			if !within(it.field) || it.role != RoleValue {
				continue
			}
			switch {
			case found < 0:
				found, s.item.off, s.item.bits = b, it.off, it.bits
			case found != b:
				return nil, false
			}
			end := max(s.item.off+s.item.bits, it.off+it.bits)
			s.item.off = min(s.item.off, it.off)
			s.item.bits = end - s.item.off
		}
	}
	if found < 0 {
		return nil, false
	}
	return p.finishSite(s, uint16(found), index)
}
