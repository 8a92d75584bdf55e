package corpus

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/defs/schema"
)

// fieldRows holds the values of a field as columns.
type fieldRows struct {
	c      *columns.Set
	field  uint16
	around [][]uint32 // rows of the lists around it, outermost first: codec.Columns.First

	// One of these is set, depending on the kind of the field.
	numbers []uint64
	first   []uint32
	spans   []columns.Span
}

// listsAround returns the lists around a field, outermost first.
func listsAround(p *codec.Program, field uint16) (out []uint16) {
	for f := p.Fields[field].Parent; f >= 0; f = p.Fields[f].Parent {
		if _, ok := p.Fields[f].Schema.Type.(*schema.List); ok {
			out = append(out, uint16(f))
		}
	}
	slices.Reverse(out)
	return out
}

// AddColumns adds messages from the values of all their fields, as selected by columns.Columns.SelectAll for the program of the table. n
// holds the frame numbers of the messages. The statistics are the same as with AddRecord.
func (t *Table) AddColumns(c *columns.Set, n []uint64) {
	before := t.messages
	for _, s := range c.Status {
		t.judged(s)
	}
	step := c.N
	if !t.hasRoomFor(c) {
		step = 1 // if memory does not suffice for all values, earlier messages take precedence
	}
	for from := 0; from < c.N; from += step {
		for i := range t.columns {
			t.addRows(&t.columns[i], c, n, from, from+step, before)
		}
	}
	t.rows = fieldRows{}
	t.trim()
}

// hasRoomFor reports whether all values of columns could be counted individually if they were all distinct.
func (t *Table) hasRoomFor(c *columns.Set) bool {
	need := 0
	for i := range t.columns {
		col := &t.columns[i]
		rows := 0
		for _, s := range col.sites {
			rows += c.Rows(s.Field)
		}
		if col.number {
			need += col.counts.mostFor(rows)
		} else if !col.texts.full {
			need += rows * (keptText + sha256.Size + textBytes)
		}
	}
	return need <= t.room.left
}

// addRows adds the values of a column in the messages [from, to). before is the number of messages added to the table earlier.
func (t *Table) addRows(col *column, c *columns.Set, n []uint64, from, to int, before uint64) {
	if len(col.sites) == 1 {
		if x := t.rowsOf(col, 0, c); x != nil {
			col.seenRows(x, n, from, to, before)
			a, b := x.within(from, to)
			t.addValues(col, x, n, a, b)
		}
		return
	}
	for m := from; m < to; m++ { // alternatives: keep the values of a message together
		for i := range col.sites {
			if x := t.rowsOf(col, i, c); x != nil {
				col.seenRows(x, n, m, m+1, before)
				a, b := x.within(m, m+1)
				t.addValues(col, x, n, a, b)
			}
		}
	}
}

// rowsOf returns the values of a column at one of its sites, or nil. They are valid until the next call.
func (t *Table) rowsOf(col *column, site int, c *columns.Set) *fieldRows {
	x, field := &t.rows, col.sites[site].Field
	if c.Rows(field) == 0 {
		return nil
	}
	*x = fieldRows{c: c, field: field, around: x.around[:0], numbers: c.Numbers(field), first: c.First(field), spans: c.Spans(field)}
	for _, l := range col.lists[site] {
		x.around = append(x.around, c.First(l))
	}
	return x
}

// within returns the rows [a, b) of the messages [from, to).
func (x *fieldRows) within(from, to int) (a, b int) {
	for _, first := range x.around {
		from, to = int(first[from]), int(first[to])
	}
	return from, to
}

// has reports whether a row has a value. It tests for nonzero values first, because that is the common case.
func (x *fieldRows) has(row int) bool {
	return x.numbers != nil && x.numbers[row] != 0 || x.c.Has(x.field, row)
}

// number returns the value of a row as in Cursor.Raw.
func (x *fieldRows) number(row int) uint64 {
	switch {
	case x.numbers != nil:
		return x.numbers[row]
	case x.first != nil:
		return uint64(x.first[row+1] - x.first[row])
	}
	return uint64(x.spans[row].Len)
}

// bytes returns the value of a row of bytes.
func (x *fieldRows) bytes(row int) []byte {
	s := x.spans[row]
	return x.c.Data[s.Off : uint64(s.Off)+uint64(s.Len)]
}

// seenRows records which of the messages [from, to) have the field.
func (c *column) seenRows(x *fieldRows, n []uint64, from, to int, before uint64) {
	if len(x.around) == 0 {
		for m := from; m < to; m++ {
			if x.has(m) {
				c.seen(n[m], before+uint64(m)+1)
			}
		}
		return
	}
	for m := from; m < to; m++ {
		for row, end := x.within(m, m+1); row < end; row++ {
			if x.has(row) {
				c.seen(n[m], before+uint64(m)+1)
				break
			}
		}
	}
}

// addValues adds the values of the rows [from, to). Repetitions of the previous value are cheap: they are the most common case.
func (t *Table) addValues(c *column, x *fieldRows, n []uint64, from, to int) {
	for row := from; row < to; {
		if !x.has(row) {
			row++
			continue
		}
		end := row + 1
		var least, greatest bool
		switch {
		case !c.number:
			b := x.bytes(row)
			for end < to && int(x.spans[end].Len) == len(b) && bytes.Equal(x.bytes(end), b) && x.has(end) {
				end++
			}
			switch {
			case c.uuid:
				t.text = codec.AppendUUID(t.text[:0], b)
				b = t.text
			case c.Text:
				t.text, _ = x.c.AppendText(t.text[:0], x.field, row)
				b = t.text
			}
			least, greatest = t.addText(c, b, uint64(end-row))
		case x.numbers != nil:
			v := x.numbers[row]
			for end < to && x.numbers[end] == v && (v != 0 || x.has(end)) {
				end++
			}
			least, greatest = c.add(v, uint64(end-row), &t.room)
		default:
			v := x.number(row)
			for end < to && x.number(end) == v && x.has(end) {
				end++
			}
			least, greatest = c.add(v, uint64(end-row), &t.room)
		}
		if least || greatest {
			c.bounds(n[x.c.Message(x.field, row)], least, greatest)
		}
		row = end
	}
}
