package columns

import (
	"cmp"
	"slices"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// loading is the method of reading a number from a block.
type loading uint8

const (
	oddLoad  loading = iota // bit by bit
	maskLoad                // eight bytes, a shift and a mask: a peek
	load8                   // whole bytes, little-endian
	load16
	load32
	load64
)

// fillIn describes how the column of a number in a block is filled.
type fillIn struct {
	field uint16
	how   loading
	at    uint32 // bytes from the start of the block; for oddLoad see peek
	off   uint32 // bits from the start of the block
	bits  uint32
	order schema.Order
	peek  codec.Peek
	maybe bool // bits of 0 mean that there is no value
}

// spanIn describes a text, or bytes, of fixed size in a block.
type spanIn struct {
	field uint16
	off   uint32 // bytes from the start of the block
	size  uint32 // bytes
	unit  uint8  // size of a code unit if the text ends before its first zero; 0 if it has the full size
}

// target is the destination of contents of a simple program.
type target struct {
	field uint16 // noIndex if it is not selected
	kind  codec.NodeKind
	unit  uint32 // bytes of a code unit or an element
	table uint16 // list: the table of its elements
	block uint16 // list: the block of its elements
}

// Select removes all messages and selects the fields of a program that get columns; the others are only validated. A field in a list
// selects the list too. A group has no bits and no column.
func (c *Set) Select(p *codec.Program, fields ...uint16) {
	chosen := make([]bool, len(p.Fields))
	for _, f := range fields {
		if int(f) < len(chosen) {
			chosen[f] = true
		}
	}
	c.choose(p, chosen, false)
}

// SelectAll is Select with all fields of the program.
func (c *Set) SelectAll(p *codec.Program) { c.choose(p, allOf(p), false) }

// SelectWhole is SelectAll with what a table of values alone does not say: see Picks and Made.
func (c *Set) SelectWhole(p *codec.Program) { c.choose(p, allOf(p), true) }

func allOf(p *codec.Program) []bool {
	chosen := make([]bool, len(p.Fields))
	for i := range chosen {
		chosen[i] = true
	}
	return chosen
}

// choose sets up the columns of a program.
func (c *Set) choose(p *codec.Program, chosen []bool, whole bool) {
	for i := len(chosen) - 1; i >= 0; i-- { // inner lists first, so that lists in lists are found
		if !chosen[i] {
			continue
		}
		for f := p.Fields[i].Parent; f >= 0; f = p.Fields[f].Parent {
			if _, ok := p.Fields[f].Schema.Type.(*schema.List); ok {
				chosen[f] = true
			}
		}
	}
	*c = Set{
		Program: p, Status: c.Status[:0], run: c.run, rec: c.rec,
		cols: make([]column, len(p.Fields)), fills: make([][]fillIn, len(p.Blocks)), spans: make([][]spanIn, len(p.Blocks)),
		tables: []rowSet{{field: codec.NoField}}, most: MaxValues, own: c.own[:0], made: c.made[:0], whole: whole,
	}
	c.chooseOps(chosen, 0, len(p.Ops), 0)
	for _, f := range c.fills {
		slices.SortStableFunc(f, func(a, b fillIn) int { return cmp.Compare(b.how, a.how) })
	}
	for i := range c.cols {
		if l := &c.cols[i]; l.kind != NoColumn {
			c.chosen = append(c.chosen, uint16(i))
			c.tables[l.table].cols++
		}
	}
	c.inline, c.run.most = true, maxRun
	for i := range p.Contents {
		k := &p.Contents[i]
		c.parts = append(c.parts, c.targetOf(k.Op, k.Kind, k.Each))
		c.inline = c.inline && k.Size == schema.Counted && !k.Placed && !k.Count.Slow
	}
	for i := range p.Straight {
		s := &p.Straight[i]
		c.parts = append(c.parts, c.targetOf(s.Op, s.Kind, s.Each))
	}
	c.Reset()
}

// chooseOps adds the columns of the ops [pc, end), which are inside the elements of a table.
func (c *Set) chooseOps(chosen []bool, pc, end int, table uint16) {
	for pc < end {
		o := &c.Program.Ops[pc]
		switch o.Code {
		case codec.OpBlock:
			c.chooseItems(chosen, o.Block, table)
		case codec.OpText, codec.OpBlob:
			if chosen[o.Field] {
				c.place(o.Field, SpanColumn, table)
			}
		case codec.OpVar, codec.OpShown:
			if it := c.Program.Var(o); it.Role == codec.RoleValue && chosen[it.Field] {
				kind := NumberColumn
				if c.whole && it.Var == schema.Long {
					kind = MadeColumn
				}
				c.place(it.Field, kind, table).item = it
			}
		case codec.OpVariant, codec.OpGroup:
			if c.whole && o.Field != codec.NoField {
				c.place(o.Field, PickColumn, table)
			}
		case codec.OpCall:
			if c.whole {
				c.place(o.Field, MadeColumn, table)
			}
		case codec.OpList:
			if chosen[o.Field] {
				l := c.place(o.Field, ListColumn, table)
				if l.list == 0 {
					l.list = uint16(len(c.tables))
					c.tables = append(c.tables, rowSet{field: o.Field})
				}
				c.chooseOps(chosen, pc+1, int(o.End), l.list)
			}
			pc = int(o.End)
			continue
		case codec.OpWeave, codec.OpCase, codec.OpLet, codec.OpAlign, codec.OpTagged: // no values of their own
		}
		pc++ // alternatives, groups and lists in turns: fields inside have the rows of their table
	}
}

// place records a place of a field in the program.
func (c *Set) place(field uint16, kind Kind, table uint16) *column {
	l := &c.cols[field]
	c.twice = c.twice || l.kind != NoColumn
	l.kind, l.table = kind, table
	return l
}

// chooseItems adds the columns of a block.
func (c *Set) chooseItems(chosen []bool, block, table uint16) {
	b := &c.Program.Blocks[block]
	for i := range b.Items {
		it := &b.Items[i]
		if it.Role != codec.RoleValue || !chosen[it.Field] {
			continue
		}
		if it.Form.IsNumber() {
			c.place(it.Field, NumberColumn, table).item = it
			c.fills[block] = append(c.fills[block], newFillIn(it, b))
			c.twice = c.twice || absent(it) // runs have all values of their messages
			continue
		}
		c.place(it.Field, SpanColumn, table).item = it
		s := spanIn{field: it.Field, off: it.Off / 8, size: it.Bits / 8}
		if t, ok := it.Type.(*schema.Text); ok && it.Form == codec.FormText {
			s.unit = uint8(t.Charset.Unit())
		}
		c.spans[block] = append(c.spans[block], s)
	}
}

// absent reports whether bits of 0 mean that a number has no value.
func absent(it *codec.Item) bool { return it.Num != nil && it.Num.Absent }

// targetOf returns the destination of the contents of an op. A block has no field.
func (c *Set) targetOf(op uint16, kind codec.NodeKind, each uint64) target {
	o := &c.Program.Ops[op]
	t := target{field: codec.NoField, kind: kind, unit: uint32(each), block: o.Block}
	if kind == codec.NodeBlock {
		return t
	}
	if l := &c.cols[o.Field]; l.kind != NoColumn {
		t.field, t.table = o.Field, l.list
	}
	return t
}

func newFillIn(it *codec.Item, b *codec.Block) fillIn {
	f := fillIn{field: it.Field, at: it.Off / 8, off: it.Off, bits: it.Bits, order: it.Order, peek: it.Peek, maybe: absent(it)}
	whole := it.Off%8 == 0 && (it.Order == schema.Little || it.Bits == 8)
	switch {
	case whole && it.Bits == 8:
		f.how = load8
	case whole && it.Bits == 16:
		f.how = load16
	case whole && it.Bits == 32:
		f.how = load32
	case whole && it.Bits == 64:
		f.how = load64
	case !it.Peek.Slow && b.Bits >= 64:
		f.how, f.at = maskLoad, it.Peek.At
	}
	return f
}
