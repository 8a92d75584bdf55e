package codec

// GroupSite returns the site of a group, from its first field to its last, or of the elements of a list. ok is false if the fields are not
// contiguous, because texts, bytes or lists of variable size are stored elsewhere in the message. A Cursor at a group has a Range and no
// Raw.
func (p *Program) GroupSite(group uint16, index ...int32) (s *Site, ok bool) {
	within := func(field uint16) bool { return field > group && int(field) < p.Fields[group].End }
	for i := range p.Ops {
		if o := &p.Ops[i]; within(o.Field) && o.Code != OpBlock {
			return nil, false
		}
	}
	found := -1
	s = &Site{Field: group, op: noIndex, item: Item{Field: group}}
	for b := range p.Blocks {
		for i := range p.Blocks[b].Items {
			it := &p.Blocks[b].Items[i]
			if !within(it.Field) || it.Role != RoleValue {
				continue
			}
			switch {
			case found < 0:
				found, s.item.Off, s.item.Bits = b, it.Off, it.Bits
			case found != b:
				return nil, false
			}
			end := max(s.item.Off+s.item.Bits, it.Off+it.Bits)
			s.item.Off = min(s.item.Off, it.Off)
			s.item.Bits = end - s.item.Off
		}
	}
	if found < 0 {
		return nil, false
	}
	return p.finishSite(s, uint16(found), index)
}
