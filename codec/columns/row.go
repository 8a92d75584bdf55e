package columns

import (
	"encoding/binary"

	"wirebench/codec"
	"wirebench/codec/value"
)

// Messages that are not simple are decoded, and their values are taken from the nodes.

// row appends one message that is decoded to a Record.
func (c *Set) row(s Span) {
	have := uint64(len(c.Data))
	from := min(uint64(s.Off), have)
	message := c.Data[from:min(from+uint64(s.Len), have)]
	c.Program.Decode(&c.rec, message)
	c.decoded(uint32(from))
	c.rec.Data = nil
}

// maxOwn limits the memory for messages with contents behind them, and for what the Set makes. A Set with more is full.
const maxOwn = 1 << 30

// packed appends messages of a Packed program. They are copied, with what is behind them.
func (c *Set) packed(messages []Span) (n int) {
	data := c.Data
	for n < len(messages) && c.values < c.most && len(c.own) < maxOwn {
		s := messages[n]
		from := min(uint64(s.Off), uint64(len(data)))
		c.Program.Decode(&c.rec, data[from:min(from+uint64(s.Len), uint64(len(data)))])
		at := len(c.own)
		c.own = append(c.own, c.rec.Data...)
		c.Data = c.own
		c.decoded(uint32(at))
		n++
	}
	c.Data, c.rec.Data = c.own, nil
	c.pad()
	return n
}

// decoded appends the values of the current message, whose data begin at a byte of c.Data.
func (c *Set) decoded(from uint32) {
	c.N++
	c.Status = append(c.Status, c.rec.Status())
	c.tables[0].rows++
	c.values += c.tables[0].cost()
	c.nodes(from, 0, uint32(len(c.rec.Nodes)), c.tables[0].rows)
}

// nodes appends the values of the nodes [i, end) of the message that starts at a byte of the data. They belong to the last row of a table,
// rows-1.
func (c *Set) nodes(at, i, end uint32, rows int) {
	for i < end {
		n := &c.rec.Nodes[i]
		switch o := &c.Program.Ops[n.Op]; n.Kind {
		case codec.NodeBlock:
			c.block(o.Block, at+n.Off/8, n.Len, rows)
		case codec.NodeText, codec.NodeBlob:
			if l := &c.cols[o.Field]; l.kind == SpanColumn && (n.Bad == codec.NoProblem || n.Len > 0) {
				l.setSpan(rows, Span{at + n.Off/8, uint32(n.Raw) * uint32(o.Unit)})
			}
		case codec.NodeList:
			if c.cols[o.Field].kind == ListColumn {
				c.list(at, i, o, rows)
			}
		case codec.NodeVariant:
			if c.whole && o.Field != codec.NoField {
				c.cols[o.Field].setNumber(rows, n.Raw)
			}
			c.nodes(at, i+1, n.After, rows)
		case codec.NodeVar:
			if it := c.Program.Var(o); it.Role == codec.RoleValue && n.Bad == codec.NoProblem && (n.Raw != 0 || !absent(it)) {
				high := it.High(c.Data[at:], n.Range())
				switch l := &c.cols[it.Field]; {
				case l.kind == MadeColumn:
					c.setLong(l, rows, it, high, n.Raw)
				case l.kind == NumberColumn && high == 0:
					l.setNumber(rows, n.Raw)
				}
			}
		case codec.NodeGroup:
			switch {
			case o.Code == codec.OpGroup:
				if _, placed := o.Position(); c.whole && o.Field != codec.NoField && (n.Bad == codec.NoProblem || !placed) {
					c.cols[o.Field].setNumber(rows, 0)
				}
				c.nodes(at, i+1, n.After, rows)
			case c.whole:
				from := len(c.made)
				c.made = value.AppendGroup(c.made, &c.rec, i)
				c.setMade(&c.cols[o.Field], rows, from)
			}
		case codec.NodeElem, codec.NodeEnd, codec.NodeNull, codec.NodeAlign: // elements are read with their lists, the others have no values
		}
		i = n.After
	}
}

// setLong sets a number of up to 128 bits in the last row.
func (c *Set) setLong(l *column, rows int, it *codec.Item, high, low uint64) {
	from := len(c.made)
	if it.Form == codec.FormBitfield {
		c.made = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(c.made, high), low)
	} else {
		c.made = codec.AppendLongText(c.made, high, low)
	}
	c.setMade(l, rows, from)
}

// setMade sets the bytes of c.made from one on in the last row.
func (c *Set) setMade(l *column, rows, from int) {
	l.setSpan(rows, Span{uint32(from), uint32(len(c.made) - from)})
}

// block appends the values of a block at a byte of the data; of a truncated block, those that are complete. size is in bits.
func (c *Set) block(block uint16, at, size uint32, rows int) {
	whole := size == c.Program.Blocks[block].Bits
	for i := range c.fills[block] {
		f := &c.fills[block][i]
		l := &c.cols[f.field]
		v := uint64(0)
		switch {
		case whole:
			v = f.load(c.Data, at)
		case f.off+f.bits <= size:
			v = codec.LoadBits(c.Data[at:], f.off, f.bits, f.order)
		default:
			continue
		}
		if v != 0 || !f.maybe {
			l.setNumber(rows, v)
		}
	}
	for i := range c.spans[block] {
		if s := &c.spans[block][i]; (s.off+s.size)*8 <= size {
			c.cols[s.field].setSpan(rows, s.span(c.Data, at))
		}
	}
}

// setNumber sets the value of the last row. It replaces an earlier one of the row.
func (l *column) setNumber(rows int, v uint64) {
	if len(l.num) < rows {
		l.padTo(rows - 1)
		l.num = append(l.num, v)
		return
	}
	l.num[rows-1] = v
}

func (l *column) setSpan(rows int, s Span) {
	if len(l.spans) < rows {
		l.padTo(rows - 1)
		l.spans = append(l.spans, s)
		return
	}
	l.spans[rows-1] = s
}

// list appends a list and its elements.
func (c *Set) list(at, node uint32, o *codec.Op, rows int) {
	l, n := &c.cols[o.Field], &c.rec.Nodes[node]
	t := &c.tables[l.list]
	l.padTo(rows - 1)
	switch {
	case n.After > node+1:
		for i := node + 1; i < n.After; i = c.rec.Nodes[i].After {
			e := &c.rec.Nodes[i]
			t.rows++
			c.values += t.cost()
			if o.Plain {
				c.block(o.Block, at+e.Off/8, e.Len, t.rows)
			} else {
				c.nodes(at, i+1, e.After, t.rows)
			}
		}
	case n.Raw > 0: // contiguous, and complete
		part := [1]located{{at + n.Off/8, uint32(n.Raw)}}
		c.elements(t, o.Block, part[:], int(n.Raw))
	}
	if l.len() < rows {
		l.first = append(l.first, 0)
	}
	l.first[rows] = uint32(t.rows)
}
