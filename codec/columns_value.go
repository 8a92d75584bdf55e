package codec

import (
	"math"
	"sort"
	"unicode/utf8"

	"wirebench/defs/schema"
)

// Elements are the elements that the list has in a row: rows of the fields inside it.
func (c *Columns) Elements(list uint16, row int) (from, to int) {
	l := c.column(list)
	if l == nil || row < 0 || row+1 >= len(l.first) {
		return 0, 0
	}
	return int(l.first[row]), int(l.first[row+1])
}

// Count is how many elements the list has in a row.
func (c *Columns) Count(list uint16, row int) int {
	from, to := c.Elements(list, row)
	return to - from
}

// Message is the message that a row of the field's column is in, -1 if there is no such row. For an element it searches.
func (c *Columns) Message(field uint16, row int) int {
	l := c.column(field)
	if l == nil || row < 0 || row >= c.tables[l.table].rows {
		return -1
	}
	for l.table != 0 {
		l = &c.cols[c.tables[l.table].field]
		row = sort.Search(len(l.first)-1, func(i int) bool { return int(l.first[i+1]) > row })
	}
	return row
}

// Has reports whether a row has a value: not where a message is cut off, or where an alternative or an optional part is not there.
func (c *Columns) Has(field uint16, row int) bool {
	l := c.column(field)
	return l != nil && row >= 0 && row < c.tables[l.table].rows && !l.lacks(row)
}

func (l *column) lacks(row int) bool {
	return row/64 < len(l.absent) && l.absent[row/64]>>(row%64)&1 != 0
}

// raw is the bits of a number, and what they mean.
func (c *Columns) raw(field uint16, row int) (raw uint64, it *item, ok bool) {
	if l := c.column(field); l != nil && row >= 0 && row < len(l.num) && !l.lacks(row) {
		return l.num[row], l.item, true
	}
	return 0, nil, false
}

// Int is a whole number without scale. It is false for a float, and for what an int64 does not hold.
func (c *Columns) Int(field uint16, row int) (v int64, ok bool) {
	raw, it, ok := c.raw(field, row)
	switch {
	case !ok:
		return 0, false
	case it.num == nil:
	case it.num.Scale != 0 || it.num.Kind == schema.Float:
		return 0, false
	case it.num.Kind == schema.Signed:
		return it.num.Int(raw), true
	case it.num.Kind == schema.Bool:
		return int64(min(raw, 1)), true
	}
	if raw > math.MaxInt64 {
		return 0, false
	}
	return int64(raw), true
}

// Uint is a whole number without scale that is not negative.
func (c *Columns) Uint(field uint16, row int) (v uint64, ok bool) {
	if i, ok := c.Int(field, row); ok {
		return uint64(max(i, 0)), i >= 0
	}
	raw, it, ok := c.raw(field, row)
	if !ok || it.num != nil && (it.num.Scale != 0 || it.num.Kind != schema.Unsigned) {
		return 0, false
	}
	return raw, true
}

// Float is any number as it is shown, its scale included. Of whole numbers beyond 2^53 it is the nearest.
func (c *Columns) Float(field uint16, row int) (v float64, ok bool) {
	raw, it, ok := c.raw(field, row)
	if !ok {
		return 0, false
	}
	if it.num == nil {
		return float64(raw), true
	}
	return it.num.Float(raw), true
}

// Bytes are those of a text, without its terminator, or of bytes. They are part of Data.
func (c *Columns) Bytes(field uint16, row int) (b []byte, ok bool) {
	l := c.column(field)
	if l == nil || row < 0 || row >= len(l.spans) || l.lacks(row) {
		return nil, false
	}
	s := l.spans[row]
	end := uint64(s.Off) + uint64(s.Len)
	if end > uint64(len(c.Data)) {
		return nil, false // the Data is not the one that was read
	}
	return c.Data[s.Off:end:end], true
}

// AppendText appends a text as UTF-8, as Cursor.AppendText does. It is false for bytes.
func (c *Columns) AppendText(dst []byte, field uint16, row int) (text []byte, ok bool) {
	b, ok := c.Bytes(field, row)
	if !ok {
		return dst, false
	}
	t, ok := c.Program.Fields[field].Schema.Type.(*schema.Text)
	if !ok {
		return dst, false
	}
	return appendChars(dst, b, t.Charset), true
}

// appendChars appends characters as UTF-8.
func appendChars(dst, b []byte, set schema.Charset) []byte {
	switch set {
	case schema.UTF16LE:
		return appendUTF16(dst, b)
	case schema.UTF8:
		return append(dst, b...)
	}
	for _, x := range b {
		dst = utf8.AppendRune(dst, rune(x))
	}
	return dst
}
