package wire

import "wirebench/defs/schema"

// tagged adds lists whose elements are in any order, each with its tag.
func (c *compiler) tagged(sc *scope, it *schema.Item, depth int) {
	c.flush(sc)
	sc.first = false
	inner := &scope{}
	c.weaves++
	defer func() { c.weaves-- }()
	if len(it.Weave) == 0 {
		fail("no lists of tagged elements")
	}
	tags := map[uint32]bool{}
	for i, f := range it.Weave {
		l, ok := f.Type.(*schema.List)
		switch {
		case !ok || l.Size != schema.Scattered:
			fail("field %q among tagged ones is not a list by tags", f.Name)
		case l.Other && i < len(it.Weave)-1:
			fail("list %q of other tags is not the last one", f.Name)
		case !l.Other && tags[l.Tag]:
			fail("list %q has the tag of another one", f.Name)
		}
		tags[l.Tag] = true
		c.content(inner, f, depth)
	}
	p := newPart(Tagged, None)
	p.Lists, p.Ends, p.Size = inner.body.Parts, it.Ends, Size{Max: NoLimit}
	c.addPart(sc, p)
}

// tag adds the tag of an element, or the one after tagged lists.
func (c *compiler) tag(sc *scope, it *schema.Item) {
	if it.Num == nil || it.Num.Var == schema.Sized || it.Num.Var == schema.Long {
		fail("a tag of fixed size")
	}
	c.bookkeeping(sc, it, None).Tag = it.Tag
}

// checkTags checks that the elements of a list begin with their tag.
func (c *compiler) checkTags(p *Part) {
	name := c.m.Fields[p.Field].Schema.Name
	if c.weaves == 0 || p.List.Linked {
		fail("list %q is by tags, and not among others", name)
	}
	parts := p.Elem.Parts
	if len(parts) == 0 || parts[0].Kind != Var {
		fail("elements of list %q do not begin with a tag", name)
	}
	if x := &parts[0].Items[0]; p.List.Other && x.Kind != schema.Value || !p.List.Other && (x.Kind != schema.Tag || x.Tag != p.List.Tag) {
		fail("elements of list %q begin with another number than their tag", name)
	}
}

// Once reports whether the field is a list whose only element stands for it.
func (f *Field) Once() bool {
	l, ok := f.Schema.Type.(*schema.List)
	return ok && l.Once
}
