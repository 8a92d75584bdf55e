package value

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// AppendJSON appends the values of the record as a JSON object, with fields in the order of the definition. Values that could not be read
// are omitted. 64-bit integers are strings; a float is the shortest text that reads back to exactly the number on the wire; a lone UTF-16
// surrogate is an escape.
func AppendJSON(dst []byte, r *codec.Record) []byte {
	if len(r.Nodes) == 0 {
		return append(dst, '{', '}')
	}
	return writerOf(r).object(dst, 0, 0, uint32(len(r.Nodes)))
}

func writerOf(r *codec.Record) writer {
	s := scratchOf(r)
	if s.of != r.Program {
		s.of, s.bodies = r.Program, plansOf(r.Program).bodies
	}
	return writer{Record: r, scratch: s}
}

// AppendGroup appends the value of a group, which is a node of the record, as JSON.
func AppendGroup(dst []byte, r *codec.Record, node uint32) []byte {
	w := writerOf(r)
	o := &r.Program.Ops[r.Nodes[node].Op]
	if r.Nodes[node].Kind == codec.NodeNull {
		return append(dst, "null"...)
	}
	if o.NullSize {
		return w.option(dst, o, node)
	}
	return w.caseValue(dst, o, node)
}

// AppendLeaf appends the value of a leaf as JSON: null for a number that is absent.
func AppendLeaf(dst []byte, r *codec.Record, l codec.Leaf) []byte {
	w := writer{Record: r} // the leaf of a content is text or bytes, which need no plan
	it := r.Item(l)
	switch {
	case it == nil && l.Role == codec.RoleEnd:
		return appendUint(dst, l.Raw)
	case it == nil && (l.Role == codec.RolePad || l.Role == codec.RolePacked):
		return appendHex(dst, r.Data[l.Off/8:l.Range().End()/8])
	case it == nil:
		return w.content(dst, &r.Program.Ops[r.Nodes[l.Node].Op], l.Node)
	case l.Role == codec.RoleValue && it.Num != nil && it.Num.Absent && l.Raw == 0:
		return append(dst, "null"...)
	case it.Form == codec.FormNone && it.Bits <= 64:
		return appendNumber(dst, &codec.Item{Form: codec.FormUint64, Bits: it.Bits}, l.Raw)
	case it.Var != schema.Sized || it.Computed():
		return appendVar(dst, r.Data, it, l.Range(), l.Raw)
	}
	return w.itemValue(dst, it, l.Off-it.Off)
}

// writer writes the values of a record.
type writer struct {
	*codec.Record
	*scratch
}

// scratch is memory that is reused for the next message.
type scratch struct {
	of     *codec.Program // program of the bodies
	bodies []plan
	starts []int32 // node indexes of the bodies being written
	toks   []token
	slots  []int32
	path   []pathPart
	data   []byte
	regs   []uint64
	leaves []codec.Leaf
	walker codec.Walker
	text   []byte
}

func scratchOf(r *codec.Record) *scratch {
	s, ok := r.Scratch.(*scratch)
	if !ok {
		s = &scratch{}
		r.Scratch = s
	}
	return s
}

// object appends the body whose nodes are [first, after).
func (r writer) object(dst []byte, pi uint16, first, after uint32) []byte {
	dst = append(dst, '{')
	dst, _ = r.members(dst, pi, first, after, false)
	return append(dst, '}')
}

// members appends the fields of a body. It reports whether it wrote any, or comma was already set.
func (r writer) members(dst []byte, pi uint16, first, after uint32, comma bool) ([]byte, bool) {
	p := &r.bodies[pi]
	base := len(r.starts)
	r.nodesOf(p, first, after)
	if tail, ok := r.Program.Tail(); ok && pi == 0 {
		r.moveTail(base, p.nodes, tail)
	}
	dst, comma = r.fields(dst, p, base, 0, len(p.steps), comma)
	r.starts = r.starts[:base]
	return dst, comma
}

// moveTail gives the node of the tail its place among so many nodes of the message, in place of optional ones that are missing.
func (r writer) moveTail(base, nodes int, tail uint16) {
	last := len(r.starts) - 1
	if missing := base + nodes - 1 - last; missing > 0 && last >= base && r.Nodes[r.starts[last]].Op == tail {
		at := r.starts[last]
		r.starts[last] = missingNode
		for range missing - 1 {
			r.starts = append(r.starts, missingNode)
		}
		r.starts = append(r.starts, at)
	}
}

// missingNode stands for an optional node before the tail of a message.
const missingNode = -1

// lacks reports whether a node is not among those of a body.
func lacks(nodes []int32, node uint16) bool {
	return int(node) >= len(nodes) || nodes[node] == missingNode
}

// fields appends the steps [from, to) of a body whose nodes are listed from base on.
func (r writer) fields(dst []byte, p *plan, base, from, to int, comma bool) ([]byte, bool) {
	nodes := r.starts[base:]
	for i := from; i < to; i++ {
		s := &p.steps[i]
		if s.kind == stepClose {
			dst = append(dst, s.brace)
			comma = true
			continue
		}
		if s.last != noIndex {
			size := len(dst)
			if dst = r.unlike(dst, p, base, i, comma); len(dst) > size {
				comma = true
			}
			nodes = r.starts[base:] // may have been reallocated
			if s.kind == stepOpen {
				i = int(s.end)
			}
			continue
		}
		if lacks(nodes, s.node) { // no part of it is present
			switch {
			case s.kind != stepOpen:
				continue
			case s.node != noIndex:
				i = int(s.end)
				continue
			}
		} else if s.run != noIndex {
			run := &p.runs[s.run]
			if n := &r.Nodes[nodes[s.node]]; n.Kind == codec.NodeBlock && n.Len == r.Program.Blocks[run.block].Bits {
				dst = r.appendRun(dst, run, n.Off, comma)
				i, comma = int(run.next)-1, true
				continue
			}
		}
		switch s.kind {
		case stepVariant:
			dst, comma = r.alternative(dst, s, nodes, comma)
			nodes = r.starts[base:]
			continue
		case stepVar, stepInner:
			dst, comma = r.inner(dst, s, uint32(nodes[s.node]), comma)
			nodes = r.starts[base:]
			continue
		case stepOpen:
			if comma {
				dst = append(dst, ',')
			}
			dst = append(dst, s.frag...)
			dst = append(dst, s.brace)
			comma = false
			continue
		}
		n := &r.Nodes[nodes[s.node]]
		if s.kind == stepItem {
			it := &r.Program.Blocks[s.block].Items[s.item]
			if it.Off+it.Bits > n.Len {
				continue // truncated
			}
			if it.Num != nil && it.Num.Absent && codec.LoadBits(r.Data, n.Off+it.Off, it.Bits, it.Order) == 0 {
				continue
			}
			if comma {
				dst = append(dst, ',')
			}
			dst = append(dst, s.frag...)
			dst = r.itemValue(dst, it, n.Off)
			comma = true
			continue
		}
		if n.Bad != codec.NoProblem && n.Len == 0 && n.Kind != codec.NodeList {
			continue // no part of it could be read
		}
		if comma {
			dst = append(dst, ',')
		}
		dst = append(dst, s.frag...)
		dst = r.content(dst, &r.Program.Ops[s.op], uint32(nodes[s.node]))
		nodes = r.starts[base:]
		comma = true
	}
	return dst, comma
}

// inner appends a number of variable size, a group or a choice. It reports whether it wrote any field, or comma was already set.
func (r writer) inner(dst []byte, s *step, node uint32, comma bool) ([]byte, bool) {
	n, o := &r.Nodes[node], &r.Program.Ops[s.op]
	if s.anon {
		if c, ok := r.caseOf(s.op, n.Raw); ok {
			return r.members(dst, c.Body, node+1, n.After, comma)
		}
		return dst, comma
	}
	if s.kind == stepVar {
		if n.Bad != codec.NoProblem {
			return dst, comma
		}
		if num := r.Program.Var(o).Num; num != nil && num.Absent && n.Raw == 0 {
			return dst, comma
		}
	}
	if _, placed := o.Position(); placed && (n.Bad != codec.NoProblem || o.Bare && !r.hasBare(o.Body, node+1, n.After)) {
		return dst, comma // no part of it could be read
	}
	if comma {
		dst = append(dst, ',')
	}
	dst = append(dst, s.frag...)
	return r.innerValue(dst, s, node), true
}

// innerValue appends the value of a number of variable size, of a group or of a choice with a name.
func (r writer) innerValue(dst []byte, s *step, node uint32) []byte {
	n, o := &r.Nodes[node], &r.Program.Ops[s.op]
	if s.kind == stepVar {
		return appendVar(dst, r.Data, r.Program.Var(o), n.Range(), n.Raw)
	}
	if n.Kind == codec.NodeNull {
		return append(dst, "null"...)
	}
	if o.Code == codec.OpVariant {
		c, ok := r.caseOf(s.op, n.Raw)
		present := o.Present != noIndex && ok && n.Raw > 0
		switch {
		case !present && (!ok || c.Body == noIndex || len(r.bodies[c.Body].steps) == 0):
			return append(dst, "null"...)
		case present && len(r.bodies[c.Body].steps) == 0:
			return append(dst, '{', '}')
		case present:
			return r.option(dst, c, node)
		}
		o = c
	}
	if o.NullSize {
		return r.option(dst, o, node)
	}
	return r.caseValue(dst, o, node)
}

// option appends the value of a choice or a group that is there, but may be missing. One that is null is the member "" of an object, so that it
// is not missing; and so is one that is such an object itself.
func (r writer) option(dst []byte, c *codec.Op, node uint32) []byte {
	from := len(dst)
	dst = r.caseValue(dst, c, node)
	if v := dst[from:]; !r.Short && !r.Illegal && string(v) == "null" || bytes.HasPrefix(v, []byte(`{"":`)) {
		dst = append(slices.Insert(dst, from, []byte(`{"":`)...), '}')
	}
	return dst
}

// caseValue appends the value of a group, or of an alternative, whose node is given.
func (r writer) caseValue(dst []byte, o *codec.Op, node uint32) []byte {
	n := &r.Nodes[node]
	body := o.Body
	if o.Code == codec.OpCall {
		body = r.Program.Ops[o.Group].Body
	}
	if o.Bare {
		return r.bareBody(dst, body, node+1, n.After)
	}
	return r.object(dst, body, node+1, n.After)
}

// caseOf returns the op of the k-th case of a variant.
func (r writer) caseOf(variant uint16, k uint64) (*codec.Op, bool) {
	end := r.Program.Ops[variant].End
	c := variant + 1
	for ; k > 0 && c < end; k-- {
		c = r.Program.Ops[c].End
	}
	if c >= end {
		return nil, false
	}
	return &r.Program.Ops[c], true
}

// bareBody appends the value of the only field of a body whose nodes are [first, after); null if it could not be read.
func (r writer) bareBody(dst []byte, pi uint16, first, after uint32) []byte {
	p := &r.bodies[pi]
	base := len(r.starts)
	r.nodesOf(p, first, after)
	switch nodes := r.starts[base:]; {
	case len(p.steps) == 0:
		dst = append(dst, "null"...)
	case r.has(&p.steps[0], nodes) || p.steps[0].kind == stepContent && !lacks(nodes, p.steps[0].node):
		dst = r.stepValue(dst, p, base, 0)
	default:
		dst = append(dst, "null"...)
	}
	r.starts = r.starts[:base]
	return dst
}

// hasBare reports whether the only field of a body whose nodes are [first, after) could be read, at least in part.
func (r writer) hasBare(pi uint16, first, after uint32) bool {
	p := &r.bodies[pi]
	base := len(r.starts)
	r.nodesOf(p, first, after)
	has := len(p.steps) > 0 && r.has(&p.steps[0], r.starts[base:])
	r.starts = r.starts[:base]
	return has
}

// has reports whether a field could be read, at least in part.
func (r writer) has(s *step, nodes []int32) bool {
	if s.kind == stepOpen && s.node == noIndex {
		return true
	}
	if lacks(nodes, s.node) {
		return false
	}
	n := &r.Nodes[nodes[s.node]]
	switch s.kind {
	case stepItem:
		it := &r.Program.Blocks[s.block].Items[s.item]
		return it.Off+it.Bits <= n.Len
	case stepContent:
		return n.Bad == codec.NoProblem || n.Len > 0 || n.Kind == codec.NodeList
	case stepVar:
		return n.Bad == codec.NoProblem
	}
	return true
}

// stepValue appends the value of a field that could be read.
func (r writer) stepValue(dst []byte, p *plan, base, i int) []byte {
	s, nodes := &p.steps[i], r.starts[base:]
	switch s.kind {
	case stepItem:
		return r.itemValue(dst, &r.Program.Blocks[s.block].Items[s.item], r.Nodes[nodes[s.node]].Off)
	case stepContent:
		return r.content(dst, &r.Program.Ops[s.op], uint32(nodes[s.node]))
	case stepVar, stepInner:
		return r.innerValue(dst, s, uint32(nodes[s.node]))
	}
	dst, _ = r.fields(append(dst, s.brace), p, base, i+1, int(s.end), false)
	return append(dst, p.steps[s.end].brace)
}

// unlike appends a field that has the name of a later one, unless it has the same value.
func (r writer) unlike(dst []byte, p *plan, base, i int, comma bool) []byte {
	s := &p.steps[i]
	if !r.has(s, r.starts[base:]) {
		return dst
	}
	start := len(dst)
	if comma {
		dst = append(dst, ',')
	}
	dst = append(dst, s.frag...)
	from := len(dst)
	dst = r.stepValue(dst, p, base, i)
	to := len(dst)
	if r.mayBe(&p.steps[s.last], r.starts[base:], s.kind, to-from) {
		if dst = r.stepValue(dst, p, base, int(s.last)); bytes.Equal(dst[from:to], dst[to:]) {
			return dst[:start]
		}
	}
	return dst[:to]
}

// mayBe reports whether the value of a field may have that many bytes of JSON; it avoids writing large values to compare them.
func (r writer) mayBe(s *step, nodes []int32, kind stepKind, size int) bool {
	return s.kind == kind && r.has(s, nodes) && (kind != stepContent || r.Nodes[nodes[s.node]].Raw <= uint64(size))
}

// alternative appends the fields of the alternative that was read.
func (r writer) alternative(dst []byte, s *step, nodes []int32, comma bool) ([]byte, bool) {
	if lacks(nodes, s.node) {
		return dst, comma
	}
	n := &r.Nodes[nodes[s.node]]
	c := s.op + 1
	for k := uint64(0); k < n.Raw && c < r.Program.Ops[s.op].End; k++ {
		c = r.Program.Ops[c].End
	}
	if c < r.Program.Ops[s.op].End {
		dst, comma = r.members(dst, r.Program.Ops[c].Body, uint32(nodes[s.node])+1, n.After, comma)
	}
	return dst, comma
}

// content appends text, bytes or a list.
func (r writer) content(dst []byte, o *codec.Op, node uint32) []byte {
	n := &r.Nodes[node]
	switch n.Kind {
	case codec.NodeText:
		from := n.Off / 8
		return appendText(dst, r.Data[from:from+uint32(n.Raw)*uint32(o.Unit)], o.Set)
	case codec.NodeBlob:
		return appendHex(dst, r.Data[n.Off/8:n.Off/8+uint32(n.Raw)])
	case codec.NodeNull:
		return append(dst, "null"...)
	default: // a list, below
	}
	bare := o.Bare
	if o.Once() && n.Raw == 1 {
		return r.bareElement(dst, o, node+1, n.After)
	}
	dst = append(dst, '[')
	if !o.Linked && o.Plain && n.After == node+1 {
		b := &r.Program.Blocks[o.Block]
		for k := uint64(0); k < n.Raw; k++ {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = r.element(dst, o, b, n.Off+uint32(k)*o.Stride, bare)
		}
		return append(dst, ']')
	}
	for e := node + 1; e < n.After; e = r.Nodes[e].After {
		if e > node+1 {
			dst = append(dst, ',')
		}
		en := &r.Nodes[e]
		switch {
		case o.Plain && en.Len == r.Program.Blocks[o.Block].Bits:
			dst = r.element(dst, o, &r.Program.Blocks[o.Block], en.Off, bare)
		case o.Plain:
			dst = r.cutElement(dst, o, en, bare)
		case bare:
			dst = r.bareElement(dst, o, e, en.After)
		default:
			dst = r.object(dst, o.Body, e+1, en.After)
		}
	}
	return append(dst, ']')
}

// element appends an element that consists of one block.
func (r writer) element(dst []byte, o *codec.Op, b *codec.Block, at uint32, bare bool) []byte {
	p := &r.bodies[o.Body]
	if p.flat && !bare && at/8+b.Reach <= uint32(len(r.Data)) {
		run := &p.runs[0]
		dst = slices.Grow(dst, run.room+1)
		start := len(dst)
		dst = append(dst, '{')
		if n, done := putRun(dst[:cap(dst)], start+1, run, b, r.Data[at/8:], false); done == len(run.parts) {
			return append(dst[:n], p.tail...)
		}
		dst = dst[:start] // a rare kind of number
	}
	steps := p.steps
	if bare && len(steps) > 0 {
		if steps[0].kind == stepItem {
			return r.itemValue(dst, &b.Items[steps[0].item], at)
		}
		return r.blockValue(dst, p, 0, b, at, wholeBlock)
	}
	dst = append(dst, '{')
	comma := false
	first := 0
	if len(steps) > 0 && steps[0].run != noIndex {
		run := &p.runs[steps[0].run]
		dst = r.appendRun(dst, run, at, false)
		first, comma = int(run.next), true
	}
	if first < len(steps) {
		dst = r.blockMembers(dst, p, first, len(steps), b, at, wholeBlock, comma)
	}
	return append(dst, '}')
}

// appendRun appends the values of a complete block that starts at bit at.
func (r writer) appendRun(dst []byte, run *run, at uint32, comma bool) []byte {
	b := &r.Program.Blocks[run.block]
	first := 0
	if run.room > 0 && at/8+b.Reach <= uint32(len(r.Data)) {
		dst = slices.Grow(dst, run.room)
		var n int
		if n, first = putRun(dst[:cap(dst)], len(dst), run, b, r.Data[at/8:], comma); first == len(run.parts) {
			return dst[:n]
		}
		dst, comma = dst[:n], comma || first > 0
	}
	for i := first; i < len(run.parts); i++ {
		part := &run.parts[i]
		text := part.text
		if !comma {
			text, comma = text[1:], true
		}
		dst = append(dst, text...)
		dst = r.itemValue(dst, &b.Items[part.item], at)
	}
	return dst
}

// putRun writes a run of plain numbers into a buffer with enough room. It returns how many of them it wrote: it stops at a float that it
// cannot write.
func putRun(buf []byte, n int, run *run, b *codec.Block, data []byte, comma bool) (end, done int) {
	for i := range run.parts {
		part := &run.parts[i]
		start := n
		if len(part.text) <= partHead {
			*(*[partHead]byte)(buf[n:]) = part.head
		} else {
			copy(buf[n:], part.text)
		}
		n += len(part.text)
		if !comma { // the first one has none
			copy(buf[start:n-1], part.text[1:])
			n--
			comma = true
		}
		raw := codec.Word(data, part.peek.At) >> (part.peek.Shift & 63) & part.peek.Mask
		ok := true
		switch part.form {
		case codec.FormUint:
			n = putUint(buf, n, raw)
		case codec.FormInt:
			n = putInt(buf, n, schema.SignExtend(raw, int(part.bits)))
		case codec.FormUint64, codec.FormInt64:
			buf[n] = '"'
			if part.form == codec.FormInt64 {
				n = putInt(buf, n+1, schema.SignExtend(raw, int(part.bits)))
			} else {
				n = putUint(buf, n+1, raw)
			}
			buf[n] = '"'
			n++
		case codec.FormBool:
			n = len(strconv.AppendBool(buf[:n], raw != 0))
		case codec.FormFloat32:
			n, ok = putFloat(buf, n, schema.BitsFloat(raw, 32))
		case codec.FormFloat64:
			n, ok = putFloat(buf, n, schema.BitsFloat(raw, 64))
		default:
			n, ok = putFloat(buf, n, b.Items[part.item].Num.Float(raw))
		}
		if !ok {
			return start, i
		}
	}
	return n, len(run.parts)
}

// wholeBlock is the length of a block that is not truncated.
const wholeBlock = ^uint32(0)

// blockMembers appends the steps [from, to) of a body that is one block, as far as they are in the first length bits.
func (r writer) blockMembers(dst []byte, p *plan, from, to int, b *codec.Block, at, length uint32, comma bool) []byte {
	for i := from; i < to; i++ {
		s := &p.steps[i]
		if s.kind == stepClose {
			dst = append(dst, s.brace)
			comma = true
			continue
		}
		start := len(dst)
		if comma {
			dst = append(dst, ',')
		}
		dst = append(dst, s.frag...)
		begin := len(dst)
		switch {
		case s.last != noIndex:
			dst = r.blockValue(dst, p, i, b, at, length)
			end := len(dst)
			if dst = r.blockValue(dst, p, int(s.last), b, at, length); bytes.Equal(dst[begin:end], dst[end:]) {
				end = begin
			}
			dst = dst[:end]
			if s.kind == stepOpen {
				i = int(s.end)
			}
		case s.kind == stepOpen:
			dst = append(dst, s.brace)
			comma = false
			continue
		default:
			dst = r.blockValue(dst, p, i, b, at, length)
		}
		if len(dst) == begin {
			dst = dst[:start]
			continue
		}
		comma = true
	}
	return dst
}

// blockValue appends the value of a step of blockMembers; nothing if it is not in the first length bits.
func (r writer) blockValue(dst []byte, p *plan, i int, b *codec.Block, at, length uint32) []byte {
	s := &p.steps[i]
	if s.kind == stepOpen {
		return append(r.blockMembers(append(dst, s.brace), p, i+1, int(s.end), b, at, length, false), p.steps[s.end].brace)
	}
	if it := &b.Items[s.item]; it.Off+it.Bits <= length {
		return r.itemValue(dst, it, at)
	}
	return dst
}

func (r writer) cutElement(dst []byte, o *codec.Op, n *codec.Node, bare bool) []byte {
	p := &r.bodies[o.Body]
	b := &r.Program.Blocks[o.Block]
	if bare && len(p.steps) > 0 {
		if p.steps[0].kind == stepItem {
			return append(dst, "null"...)
		}
		return r.blockValue(dst, p, 0, b, n.Off, n.Len)
	}
	dst = append(dst, '{')
	dst = r.blockMembers(dst, p, 0, len(p.steps), b, n.Off, n.Len, false)
	return append(dst, '}')
}

// bareElement appends the value of an element whose only field has no name and is of variable size.
func (r writer) bareElement(dst []byte, o *codec.Op, elem, after uint32) []byte {
	return r.bareBody(dst, o.Body, elem+1, after)
}

// itemValue appends the value of a field in a block that starts at bit at.
func (r writer) itemValue(dst []byte, it *codec.Item, at uint32) []byte {
	off := at + it.Off
	switch it.Form {
	case codec.FormText:
		t := it.Type.(*schema.Text)
		return appendText(dst, codec.FixedText(t, r.Data[off/8:(off+it.Bits)/8]), t.Charset)
	case codec.FormChars:
		return appendText(dst, r.Data[off/8:(off+it.Bits)/8], it.Type.(*schema.Text).Charset)
	case codec.FormUUID:
		return appendUUID(dst, r.Data[off/8:(off+it.Bits)/8])
	case codec.FormBlob, codec.FormNone:
		return appendHex(dst, r.Data[off/8:(off+it.Bits)/8])
	}
	return appendNumber(dst, it, codec.LoadBits(r.Data, off, it.Bits, it.Order))
}

// appendNumber appends the value of raw bits.
func appendNumber(dst []byte, it *codec.Item, raw uint64) []byte {
	switch it.Form {
	case codec.FormUint:
		return appendUint(dst, raw)
	case codec.FormInt:
		return appendInt(dst, schema.SignExtend(raw, int(it.Bits)))
	case codec.FormUint64:
		dst = append(dst, '"')
		dst = appendUint(dst, raw)
		return append(dst, '"')
	case codec.FormInt64:
		dst = append(dst, '"')
		dst = appendInt(dst, schema.SignExtend(raw, int(it.Bits)))
		return append(dst, '"')
	case codec.FormBool:
		return strconv.AppendBool(dst, raw != 0)
	case codec.FormFloat16, codec.FormFloat32, codec.FormFloat64:
		if schema.OddNaN(raw, int(it.Bits)) {
			return append(schema.AppendNaN(append(dst, '"'), raw, int(it.Bits)), '"')
		}
		return appendFloat(dst, schema.BitsFloat(raw, int(it.Bits)))
	case codec.FormScaled:
		return appendFloat(dst, it.Num.Float(raw))
	case codec.FormNamed:
		return appendNamed(dst, it, raw)
	case codec.FormBitfield:
		return appendBitfield(dst, it.Type.(*schema.Bitfield), 0, raw)
	}
	return dst
}

// appendVar appends the value of a number of variable size.
func appendVar(dst, data []byte, it *codec.Item, at codec.Range, raw uint64) []byte {
	high := it.High(data, at)
	switch {
	case high == 0:
		return appendNumber(dst, it, raw)
	case it.Form == codec.FormBitfield:
		return appendBitfield(dst, it.Type.(*schema.Bitfield), high, raw)
	}
	return append(codec.AppendLongText(append(dst, '"'), high, raw), '"')
}

// appendNamed appends the name of an integer, or the integer if it has none.
func appendNamed(dst []byte, it *codec.Item, raw uint64) []byte {
	num := it.Num
	if num.Enum != nil && num.Enum.Shown {
		name, bare := num.ShownName(raw)
		switch {
		case name != "":
			return appendUTF8(dst, []byte(name))
		case bare:
			return num.AppendDecimal(dst, raw)
		}
	}
	if it.Bits > 32 {
		dst = append(dst, '"')
	}
	dst = num.AppendDecimal(dst, raw)
	if it.Bits > 32 {
		dst = append(dst, '"')
	}
	return dst
}

// appendUUID appends sixteen bytes as a UUID in quotes.
func appendUUID(dst, b []byte) []byte {
	return append(codec.AppendUUID(append(dst, '"'), b), '"')
}

func appendBitfield(dst []byte, t *schema.Bitfield, high, raw uint64) []byte {
	f := t.Form(raw)
	dst = append(dst, '{')
	if t.All != "" {
		dst = appendUTF8(dst, []byte(t.All))
		dst = append(dst, ':')
		if t.Bits > 32 {
			dst = append(dst, '"')
		}
		dst = codec.AppendLongText(dst, high, raw)
		if t.Bits > 32 {
			dst = append(dst, '"')
		}
		if len(t.Names) > 0 {
			dst = append(dst, ',')
		}
	}
	for i, name := range t.Names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, name...)
		dst = append(dst, '"', ':')
		v, kind := uint64(0), schema.Unsigned
		if p := f.Part(name); p != nil {
			v, kind = p.In(high, raw), p.Kind
		}
		if kind == schema.Bool {
			dst = strconv.AppendBool(dst, v != 0)
		} else {
			dst = strconv.AppendUint(dst, v, 10)
		}
	}
	return append(dst, '}')
}

const hexDigits = "0123456789abcdef"

func appendHex(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = hex.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendText appends characters as a JSON string.
func appendText(dst, b []byte, set schema.Charset) []byte {
	dst = append(dst, '"')
	switch set {
	case schema.UTF16LE:
		for len(b) >= 2 {
			n := plainUnits(b)
			from := len(dst)
			dst = slices.Grow(dst, n+8)[:from+n]
			for i := range dst[from:] {
				dst[from+i] = b[2*i]
			}
			if b = b[2*n:]; len(b) < 2 {
				break
			}
			u := rune(b[0]) | rune(b[1])<<8
			b = b[2:]
			if u >= 0xd800 && u < 0xdc00 && len(b) >= 2 {
				if lo := rune(b[0]) | rune(b[1])<<8; lo >= 0xdc00 && lo < 0xe000 {
					u = (u-0xd800)<<10 | (lo - 0xdc00) + 0x10000
					b = b[2:]
				}
			}
			dst = appendChar(dst, u)
		}
	case schema.UTF16BE:
		for ; len(b) >= 2; b = b[2:] {
			u := rune(b[0])<<8 | rune(b[1])
			if u >= 0xd800 && u < 0xdc00 && len(b) >= 4 {
				if lo := rune(b[2])<<8 | rune(b[3]); lo >= 0xdc00 && lo < 0xe000 {
					u = (u-0xd800)<<10 | (lo - 0xdc00) + 0x10000
					b = b[2:]
				}
			}
			dst = appendChar(dst, u)
		}
	case schema.UTF8:
		return appendUTF8(dst[:len(dst)-1], b)
	default:
		for len(b) > 0 {
			n := plainBytes(b)
			dst = append(dst, b[:n]...)
			if b = b[n:]; len(b) > 0 {
				c, n := rune(b[0]), 1
				if set.Table() {
					c, n = set.Next(b)
				}
				dst = appendChar(dst, c)
				b = b[n:]
			}
		}
	}
	return append(dst, '"')
}

// appendUTF8 is appendText for UTF-8. It does not retain b, so that a converted string is not copied.
func appendUTF8(dst, b []byte) []byte {
	dst = append(dst, '"')
	for len(b) > 0 {
		n := plainBytes(b)
		dst = append(dst, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			break
		}
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 {
			// An invalid UTF-8 byte is written as the low surrogate U+DC00 + byte, and read back from it.
			c = 0xdc00 | rune(b[0])
		}
		dst = appendChar(dst, c)
		b = b[n:]
	}
	return append(dst, '"')
}

// plainBytes returns the number of characters at the start of b that JSON represents as themselves, one byte each.
func plainBytes(b []byte) int {
	n := 0
	for len(b)-n >= 8 && allPlain(binary.LittleEndian.Uint64(b[n:n+8])) {
		n += 8
	}
	for n < len(b) && b[n] >= 0x20 && b[n] < 0x7f && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// allPlain reports whether eight characters are all plain. It may return false for some that are.
func allPlain(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash, del := w^('"'*ones), w^('\\'*ones), w^(0x7f*ones)
	return (w|(w-0x20*ones)|(quote-ones)|(slash-ones)|(del-ones))&tops == 0
}

// plainUnits is plainBytes for UTF-16.
func plainUnits(b []byte) int {
	for i := 0; i+1 < len(b); i += 2 {
		if c := b[i]; b[i+1] != 0 || c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return i / 2
		}
	}
	return len(b) / 2
}

// appendChar appends one code point inside a JSON string; a surrogate is an escape.
func appendChar(dst []byte, c rune) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', byte(c))
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\t':
		return append(dst, '\\', 't')
	case c < 0x20 || c == 0x7f || c >= 0xd800 && c < 0xe000 || c == 0x2028 || c == 0x2029 || c >= 0x80 && c < 0xa0:
		return append(dst, '\\', 'u', hexDigits[c>>12&15], hexDigits[c>>8&15], hexDigits[c>>4&15], hexDigits[c&15])
	}
	return utf8.AppendRune(dst, c)
}
