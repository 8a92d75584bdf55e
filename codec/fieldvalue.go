package codec

import (
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"wirebench/defs/schema"
)

// Site is the location of one field's values in the records of a program. It is immutable, and valid for every program compiled from the
// same message.
type Site struct {
	Field uint16 // index into Program.Fields

	hops    []hop  // lists and alternatives around it, outermost first
	op      uint16 // op of the node that holds it; for an element (see elem) the op of its list
	elem    bool   // the node is an element of the last hop, which is a plain list
	content bool   // text, bytes or a list of variable size: a node of its own
	varint  bool   // a number in a variable number of bytes, or a computed one: likewise
	maybe   bool   // a number of which bits of 0 mean that there is no value
	item    Item   // otherwise
	unit    uint32 // content: bytes of a unit, 0 for a list
	set     schema.Charset
	stride  uint32 // bits from one element to the next, if they are adjacent
	every   bool   // the hops begin in each node of a group that contains itself: of its op, and of the calls
	start   uint16 // every: the op of the group, or of one call
	there   bool   // only the presence of a group, or of an alternative, matters
	named   []bool // there, of a choice: the cases that are there whatever is in them
}

// hop is a list, an alternative or a group with a body of its own on the way to a field.
type hop struct {
	op    uint16
	list  bool
	group bool
	bare  bool   // list: elements are adjacent and have no nodes, if the list has none inside
	index int32  // list: the selected element, from 0; -1 = all
	which uint64 // alternative: index of the case
}

// Site returns the site of a field's values. index selects an element of each list around the field, outermost first; -1, or no index,
// selects all elements. Values in groups that are nested in themselves are not found. ok is false for a group or a choice, which has no
// bits of its own.
func (p *Program) Site(field uint16, index ...int32) (s *Site, ok bool) {
	s = &Site{Field: field, op: noIndex}
	for b := range p.Blocks {
		for i := range p.Blocks[b].Items {
			if it := &p.Blocks[b].Items[i]; it.Field == field && it.Role == RoleValue {
				s.item, s.maybe = *it, it.Num != nil && it.Num.Absent
				return p.finishSite(s, uint16(b), index)
			}
		}
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.Field != field || o.Code != OpText && o.Code != OpBlob && o.Code != OpList {
			continue
		}
		s.op, s.content, s.unit, s.set = uint16(i), true, uint32(o.Unit), o.Set
		if o.Code == OpList {
			s.unit = 0
		}
		p.addHops(s, i, index)
		return s, true
	}
	return nil, false
}

// SiteIn is like Site, but begins in every group of a field that contains itself, at all its levels, or in those of one of its fields that
// is such a group again. index is for the lists in the group.
func (p *Program) SiteIn(group, field uint16, index ...int32) (s *Site, ok bool) {
	if s, ok = p.Site(field); ok {
		ok = p.begin(s, group, index)
	}
	return s, ok
}

// begin drops the hops around a group.
func (p *Program) begin(s *Site, group uint16, index []int32) bool {
	at := -1
	for i := range p.Ops {
		if o := &p.Ops[i]; o.Field == group && (o.Code == OpGroup || o.Code == OpCall) {
			at, s.start = i, uint16(i)
			if o.Code == OpCall {
				at = int(o.Group)
			}
		}
	}
	for k, h := range s.hops {
		if h.group && int(h.op) == at {
			s.hops, s.every = s.hops[k+1:], true
		}
	}
	for k := range s.hops {
		if h := &s.hops[k]; h.list && len(index) > 0 {
			h.index, index = index[0], index[1:]
		}
	}
	return s.every
}

// Called returns the group that a field reads again, or the field itself if others read it again; ok is false for other fields.
func (p *Program) Called(field uint16) (group uint16, ok bool) {
	for i := range p.Ops {
		if o := &p.Ops[i]; o.Code == OpCall {
			if of := p.Ops[o.Group].Field; o.Field == field || of == field {
				return of, true
			}
		}
	}
	return field, false
}

// PresenceSite returns a site that has a value, 1, wherever a group is there, whatever is in it; of a choice, wherever one of the alternatives
// is there that are not shown as the value of their only field. It begins in groups of start, if that is not negative: see SiteIn.
func (p *Program) PresenceSite(start int, group uint16, index ...int32) (s *Site, ok bool) {
	s = &Site{Field: group, op: noIndex, there: true}
	within := func(field uint16) bool { return field > group && int(field) < p.Fields[group].End }
	if t, choice := p.Fields[group].Schema.Type.(*schema.Choice); choice {
		within = func(uint16) bool { return false }
		for i := range t.Cases {
			s.named = append(s.named, t.Cases[i].Body != nil && !t.Cases[i].Bare)
		}
		if !slices.Contains(s.named, true) {
			return nil, false
		}
	}
	for i := 0; i < len(p.Ops) && !ok; i++ {
		o := &p.Ops[i]
		switch {
		case o.Field == group && (o.Code == OpGroup || o.Code == OpCall || o.Code == OpVariant), o.Code != OpBlock && within(o.Field):
			s.op, ok = uint16(i), true
			p.addHops(s, i, index)
		case o.Code == OpBlock || o.Code == OpList && o.Plain:
			for k := range p.Blocks[o.Block].Items {
				if it := &p.Blocks[o.Block].Items[k]; !ok && within(it.Field) {
					s, ok = p.finishSite(s, o.Block, index)
				}
			}
		}
	}
	if ok && start >= 0 {
		ok = p.begin(s, uint16(start), index)
	}
	return s, ok
}

// finishSite sets the node of a field in a block.
func (p *Program) finishSite(s *Site, block uint16, index []int32) (*Site, bool) {
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.Code != OpBlock && o.Code != OpVar && o.Code != OpShown || o.Block != block {
			continue
		}
		p.addHops(s, i, index)
		s.op, s.varint = uint16(i), o.Code != OpBlock
		if k := len(s.hops) - 1; k >= 0 && s.hops[k].list {
			if l := &p.Ops[s.hops[k].op]; l.Plain && l.Block == block {
				s.op, s.elem, s.stride = s.hops[k].op, true, l.Stride
				s.hops[k].bare = !l.Linked
			}
		}
		return s, true
	}
	return nil, false
}

// addHops adds the lists and alternatives around an op.
func (p *Program) addHops(s *Site, at int, index []int32) {
	lists := 0
	for i := 0; i < at; {
		o := &p.Ops[i]
		if int(o.End) <= at {
			i = int(o.End)
			continue
		}
		switch o.Code {
		case OpVariant:
			h := hop{op: uint16(i)}
			for c := i + 1; int(p.Ops[c].End) <= at; c = int(p.Ops[c].End) {
				h.which++
			}
			s.hops = append(s.hops, h)
		case OpGroup:
			s.hops = append(s.hops, hop{op: uint16(i), group: true})
		case OpList:
			h := hop{op: uint16(i), list: true, index: -1}
			if lists < len(index) {
				h.index = index[lists]
			}
			lists++
			s.hops = append(s.hops, h)
		case OpBlock, OpText, OpBlob, OpWeave, OpCase, OpVar, OpCall, OpLet, OpShown, OpAlign, OpTagged: // no choice between nodes
		}
		i++
	}
}

// Single reports whether a record has at most one value at the site.
func (s *Site) Single() bool {
	for _, h := range s.hops {
		if h.list && h.index < 0 {
			return false
		}
	}
	return !s.every
}

// Number reads a number at a fixed position in the message, which is faster than a Cursor. ok is false if the position is not fixed or the
// value is missing; use a Cursor then.
func (s *Site) Number(r *Record) (raw uint64, ok bool) {
	if len(s.hops) > 0 || s.every || s.content || s.varint || len(r.Nodes) == 0 {
		return 0, false
	}
	n := &r.Nodes[0]
	it := &s.item
	if n.Op != s.op || it.Off+it.Bits > n.Len || it.Bits-1 > 63 {
		return 0, false
	}
	raw = LoadBits(r.Data, n.Off+it.Off, it.Bits, it.Order)
	return raw, raw != 0 || !s.maybe
}

// NumberIn is like Number but reads the number from an undecoded message. ok is false for messages whose first block cannot be located
// directly.
func (s *Site) NumberIn(p *Program, data []byte) (raw uint64, ok bool) {
	it := &s.item
	if !p.Simple || len(p.First.Checks) > 0 || s.op != 0 || len(s.hops) > 0 || s.every || s.content || s.maybe || it.Bits-1 > 63 {
		return 0, false
	}
	size := p.shortFrame(data)
	if size == 0 {
		size = p.AnyFrame(data)
	}
	if size < p.Head || it.Off+it.Bits > p.First.Bits {
		return 0, false
	}
	return LoadBits(data, it.Off, it.Bits, it.Order), true
}

// Cursor iterates over the values of a field in a record. Its memory is reused by the next Start.
type Cursor struct {
	Raw   uint64 // numbers: the bits. Text, bytes and lists: number of units
	Range Range  // without the terminator of text
	Node  uint32 // index of the node that holds it

	r      *Record
	at     *Site
	levels []level
	left   uint32 // remaining adjacent elements
	fresh  bool
	next   uint32 // the first node that may be a group to begin in
}

// level is a list being walked.
type level struct {
	hop         int
	node, after uint32 // the next element, and the end
	k           int32  // index of the element
}

// Start begins the iteration over a site's values in a record of its program.
func (c *Cursor) Start(r *Record, at *Site) {
	c.r, c.at, c.levels, c.left, c.fresh, c.next = r, at, c.levels[:0], 0, true, 0
}

// Forget drops the reference to the record.
func (c *Cursor) Forget() { c.r, c.at = nil, nil }

// Next advances to the next value, in decoding order. It returns false at the end. Truncated, absent and null values are skipped.
func (c *Cursor) Next() bool {
	for c.advance() {
		if c.Raw != 0 || !c.at.maybe {
			return true
		}
	}
	return false
}

func (c *Cursor) advance() bool {
	for !c.onward() {
		if !c.at.every || !c.begin() {
			return false
		}
	}
	return true
}

// begin goes to the next group in which the site begins, and prepares to descend from it.
func (c *Cursor) begin() bool {
	for ; int(c.next) < len(c.r.Nodes); c.next++ {
		n := &c.r.Nodes[c.next]
		if o := &c.r.Program.Ops[n.Op]; n.Kind == NodeGroup && (n.Op == c.at.start || o.Code == OpCall && o.Group == c.at.start) {
			c.next, c.fresh = c.next+1, true
			return true
		}
	}
	return false
}

func (c *Cursor) onward() bool {
	switch {
	case c.fresh:
		c.fresh = false
		first, after := uint32(0), uint32(len(c.r.Nodes))
		if c.at.every {
			if first = c.next; first == 0 {
				return false
			}
			after = c.r.Nodes[first-1].After
		}
		if c.descend(0, first, after) {
			return true
		}
	case c.left > 0:
		c.left--
		c.item(c.Range.Off + c.at.stride)
		return true
	}
	for len(c.levels) > 0 {
		l := &c.levels[len(c.levels)-1]
		h := &c.at.hops[l.hop]
		if l.node >= l.after || h.index >= 0 && l.k > h.index {
			c.levels = c.levels[:len(c.levels)-1]
			continue
		}
		e, k := l.node, l.k
		l.node, l.k = c.r.Nodes[e].After, k+1
		switch {
		case h.index >= 0 && k != h.index:
		case c.at.elem && l.hop == len(c.at.hops)-1:
			if c.value(e) {
				return true
			}
		case c.descend(l.hop+1, e+1, l.node):
			return true
		}
	}
	return false
}

// descend goes from the nodes [first, after) through the hops from i on to a value. It stops at a list, whose elements follow.
func (c *Cursor) descend(i int, first, after uint32) bool {
	for ; i < len(c.at.hops); i++ {
		h := &c.at.hops[i]
		k, ok := c.find(first, after, h.op)
		if !ok {
			return false
		}
		n := &c.r.Nodes[k]
		switch {
		case !h.list:
			if !h.group && n.Raw != h.which {
				return false
			}
			first, after = k+1, n.After
			continue
		case h.bare && n.After == k+1:
			return c.side(k, n, h.index)
		}
		c.levels = append(c.levels, level{hop: i, node: k + 1, after: n.After})
		return false
	}
	k, ok := c.find(first, after, c.at.op)
	return ok && c.value(k)
}

// side begins the iteration over the adjacent elements of a list.
func (c *Cursor) side(node uint32, n *Node, index int32) bool {
	at, count := n.Off, uint32(n.Raw)
	if index >= 0 {
		if uint32(index) >= count {
			return false
		}
		at, count = at+uint32(index)*c.at.stride, 1
	}
	if count == 0 {
		return false
	}
	c.Node, c.left = node, count-1
	c.item(at + c.at.item.Off)
	return true
}

func (c *Cursor) find(first, after uint32, op uint16) (node uint32, ok bool) {
	for first < after {
		n := &c.r.Nodes[first]
		if n.Op == op {
			return first, true
		}
		first = n.After
	}
	return 0, false
}

// value sets the current value from a node, if it is present.
func (c *Cursor) value(node uint32) bool {
	n := &c.r.Nodes[node]
	c.Node = node
	if c.at.there {
		c.Raw, c.Range = 1, Range{n.Off, n.Len}
		return n.Kind != NodeNull && (n.Kind != NodeVariant || n.Raw < uint64(len(c.at.named)) && c.at.named[n.Raw])
	}
	if c.at.varint {
		c.Raw, c.Range = n.Raw, Range{n.Off, n.Len}
		return n.Bad == NoProblem
	}
	if c.at.content {
		if n.Kind == NodeNull {
			return false
		}
		if n.Bad != NoProblem && n.Len == 0 && n.Kind != NodeList {
			return false // no part of it could be read
		}
		c.Raw, c.Range = n.Raw, Range{n.Off, n.Len}
		if c.at.unit > 0 {
			c.Range.Len = uint32(n.Raw) * c.at.unit * 8
		}
		return true
	}
	it := &c.at.item
	if it.Off+it.Bits > n.Len {
		return false
	}
	c.item(n.Off + it.Off)
	return true
}

// item sets the current value to an item at a bit offset.
func (c *Cursor) item(off uint32) {
	it := &c.at.item
	if c.Range = (Range{off, it.Bits}); c.at.there {
		c.Raw = 1
		return
	}
	if it.Form.IsNumber() {
		c.Raw = LoadBits(c.r.Data, off, it.Bits, it.Order)
		return
	}
	c.Raw = uint64(len(c.Bytes()))
	if t, ok := it.Type.(*schema.Text); ok {
		c.Raw /= uint64(t.Charset.Unit())
	}
}

// Bytes returns the bytes of a text or a blob, which alias the record's data. Text of fixed size ends before its first zero, unless its
// definition makes all units significant.
func (c *Cursor) Bytes() []byte {
	b := c.r.Data[c.Range.Off/8 : c.Range.End()/8]
	if c.at.item.Form == FormText {
		if t, ok := c.at.item.Type.(*schema.Text); ok {
			return FixedText(t, b)
		}
	}
	return b
}

// AppendText appends the text as UTF-8. A lone surrogate is encoded as three bytes; UTF-8 text is appended unchanged, valid or not.
func (c *Cursor) AppendText(dst []byte) []byte {
	set := c.at.set
	if t, ok := c.at.item.Type.(*schema.Text); ok {
		set = t.Charset
	}
	return AppendChars(dst, c.Bytes(), set)
}

// AppendUUID appends sixteen bytes as a UUID: hex digits and hyphens.
func AppendUUID(dst, b []byte) []byte {
	for i, n := range [...]int{4, 2, 2, 2, 6} {
		if i > 0 {
			dst = append(dst, '-')
		}
		n = min(n, len(b))
		dst = hex.AppendEncode(dst, b[:n])
		b = b[n:]
	}
	return dst
}

// AppendChars appends characters as UTF-8.
func AppendChars(dst, b []byte, set schema.Charset) []byte {
	switch set {
	case schema.UTF16LE:
		return appendUTF16(dst, b)
	case schema.UTF16BE:
		little := make([]byte, len(b)&^1)
		for i := 0; i < len(little); i += 2 {
			little[i], little[i+1] = b[i+1], b[i]
		}
		return appendUTF16(dst, little)
	case schema.UTF8:
		return append(dst, b...)
	}
	for len(b) > 0 {
		c, n := rune(b[0]), 1
		if set.Table() {
			c, n = set.Next(b)
		}
		if b = b[n:]; c >= 0xd800 && c < 0xe000 {
			dst = append(dst, 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
			continue
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst
}

func appendUTF16(dst, b []byte) []byte {
	for ; len(b) >= 2; b = b[2:] {
		u := rune(b[0]) | rune(b[1])<<8
		if u < 0x80 {
			dst = append(dst, byte(u))
			continue
		}
		if u >= 0xd800 && u < 0xe000 {
			if u < 0xdc00 && len(b) >= 4 {
				if lo := rune(b[2]) | rune(b[3])<<8; lo >= 0xdc00 && lo < 0xe000 {
					dst = utf8.AppendRune(dst, (u-0xd800)<<10|(lo-0xdc00)+0x10000)
					b = b[2:]
					continue
				}
			}
			dst = append(dst, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0x3f, 0x80|byte(u)&0x3f)
			continue
		}
		dst = utf8.AppendRune(dst, u)
	}
	return dst
}

// AppendRaw appends the bytes of the value in the message. A number that does not occupy whole bytes is appended as its bits, the least
// significant byte first.
func (c *Cursor) AppendRaw(dst []byte) []byte {
	if c.Range.Off%8 == 0 && c.Range.Len%8 == 0 {
		return append(dst, c.r.Data[c.Range.Off/8:c.Range.End()/8]...)
	}
	for n := uint32(0); n < c.Range.Len; n += 8 {
		dst = append(dst, byte(c.Raw>>n))
	}
	return dst
}
