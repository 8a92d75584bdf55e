package codec

import (
	"cmp"
	"slices"

	"wirebench/defs/schema"
)

// loading is how a number is read from a block.
type loading uint8

const (
	oddLoad  loading = iota // by its bits, one by one
	maskLoad                // eight bytes, a shift and a mask: a peek
	load8                   // whole bytes, little-endian
	load16
	load32
	load64
)

// fillIn is how a number of a block comes to its column.
type fillIn struct {
	field uint16
	how   loading
	at    uint32 // bytes from the start of the block; of an oddLoad see peek
	off   uint32 // bits from the start of the block
	bits  uint32
	order schema.Order
	peek  peek
}

// spanIn is a text, or bytes, of fixed size in a block.
type spanIn struct {
	field uint16
	off   uint32 // bytes from the start of the block
	size  uint32 // bytes
	unit  uint8  // bytes of a unit of a text that ends before its first zero; 0 if all of it counts
}

// target is where contents of a simple program go.
type target struct {
	field uint16 // noIndex if it is not chosen
	kind  NodeKind
	unit  uint32 // bytes of a unit, or of an element
	table uint16 // list: of its elements
	block uint16 // list: of its elements
}

// Select forgets the messages and chooses the fields of a program that get columns; the others are only validated. A field in a list
// selects the list too. A group has no bits and no column.
func (c *Columns) Select(p *Program, fields ...uint16) {
	chosen := make([]bool, len(p.Fields))
	for _, f := range fields {
		if int(f) < len(chosen) {
			chosen[f] = true
		}
	}
	c.choose(p, chosen)
}

// SelectAll chooses all fields of a program.
func (c *Columns) SelectAll(p *Program) {
	chosen := make([]bool, len(p.Fields))
	for i := range chosen {
		chosen[i] = true
	}
	c.choose(p, chosen)
}

// choose sets up the columns of a program.
func (c *Columns) choose(p *Program, chosen []bool) {
	for i := len(chosen) - 1; i >= 0; i-- { // from the inside, so that lists in lists are found
		if !chosen[i] {
			continue
		}
		for f := p.Fields[i].Parent; f >= 0; f = p.Fields[f].Parent {
			if _, ok := p.Fields[f].Schema.Type.(*schema.List); ok {
				chosen[f] = true
			}
		}
	}
	*c = Columns{
		Program: p, Status: c.Status[:0], run: c.run, rec: c.rec,
		cols: make([]column, len(p.Fields)), fills: make([][]fillIn, len(p.blocks)), spans: make([][]spanIn, len(p.blocks)),
		tables: []rowSet{{field: noIndex}}, most: MaxValues,
	}
	c.chooseOps(chosen, 0, len(p.ops), 0)
	for _, f := range c.fills {
		slices.SortStableFunc(f, func(a, b fillIn) int { return cmp.Compare(b.how, a.how) })
	}
	for i := range c.cols {
		if l := &c.cols[i]; l.kind != noColumn {
			c.chosen = append(c.chosen, uint16(i))
			c.tables[l.table].cols++
		}
	}
	c.inline, c.run.most = true, maxRun
	for i := range p.contents {
		k := &p.contents[i]
		c.parts = append(c.parts, c.targetOf(k))
		c.inline = c.inline && k.size == schema.Counted && !k.placed && !k.count.slow
	}
	c.Reset()
}

// chooseOps finds the columns of the ops [pc, end), which are inside the elements of a table.
func (c *Columns) chooseOps(chosen []bool, pc, end int, table uint16) {
	for pc < end {
		o := &c.Program.ops[pc]
		switch o.code {
		case opBlock:
			c.chooseItems(chosen, o.block, table)
		case opText, opBlob:
			if chosen[o.field] {
				c.place(o.field, spanColumn, table)
			}
		case opList:
			if chosen[o.field] {
				l := c.place(o.field, listColumn, table)
				if l.list == 0 {
					l.list = uint16(len(c.tables))
					c.tables = append(c.tables, rowSet{field: o.field})
				}
				c.chooseOps(chosen, pc+1, int(o.end), l.list)
			}
			pc = int(o.end)
			continue
		}
		pc++ // alternatives and lists in turns: what is inside has the rows of what is around
	}
}

// place notes that a field stands at a place of the program.
func (c *Columns) place(field uint16, kind columnKind, table uint16) *column {
	l := &c.cols[field]
	c.twice = c.twice || l.kind != noColumn
	l.kind, l.table = kind, table
	return l
}

// chooseItems finds the columns of a block.
func (c *Columns) chooseItems(chosen []bool, block, table uint16) {
	b := &c.Program.blocks[block]
	for i := range b.items {
		it := &b.items[i]
		if it.role != RoleValue || !chosen[it.field] {
			continue
		}
		if it.form.isNumber() {
			c.place(it.field, numberColumn, table).item = it
			c.fills[block] = append(c.fills[block], newFillIn(it, b))
			continue
		}
		c.place(it.field, spanColumn, table).item = it
		s := spanIn{field: it.field, off: it.off / 8, size: it.bits / 8}
		if t, ok := it.typ.(*schema.Text); ok && it.form == formText {
			s.unit = uint8(t.Charset.Unit())
		}
		c.spans[block] = append(c.spans[block], s)
	}
}

func (c *Columns) targetOf(k *content) target {
	o := &c.Program.ops[k.op]
	t := target{field: noIndex, kind: k.kind, unit: uint32(k.each), block: o.block}
	if l := &c.cols[o.field]; l.kind != noColumn {
		t.field, t.table = o.field, l.list
	}
	return t
}

func newFillIn(it *item, b *block) fillIn {
	f := fillIn{field: it.field, at: it.off / 8, off: it.off, bits: it.bits, order: it.order, peek: it.peek}
	whole := it.off%8 == 0 && (it.order == schema.Little || it.bits == 8)
	switch {
	case whole && it.bits == 8:
		f.how = load8
	case whole && it.bits == 16:
		f.how = load16
	case whole && it.bits == 32:
		f.how = load32
	case whole && it.bits == 64:
		f.how = load64
	case !it.peek.slow && b.bits >= 64:
		f.how, f.at = maskLoad, it.peek.at
	}
	return f
}
