package columns

import (
	"math"
	"sort"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Message returns the message that contains a row of the field's column, -1 if there is no such row. For elements it is a binary search.
func (c *Set) Message(field uint16, row int) int {
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

// Has reports whether a row has a value. It has none in the missing part of a truncated message, or of an absent alternative or option.
func (c *Set) Has(field uint16, row int) bool {
	l := c.column(field)
	return l != nil && row >= 0 && row < c.tables[l.table].rows && !l.lacks(row)
}

func (l *column) lacks(row int) bool {
	return row/64 < len(l.absent) && l.absent[row/64]>>(row%64)&1 != 0
}

// raw returns the bits of a number and the item that describes them.
func (c *Set) raw(field uint16, row int) (raw uint64, it *codec.Item, ok bool) {
	if l := c.column(field); l != nil && row >= 0 && row < len(l.num) && !l.lacks(row) {
		return l.num[row], l.item, true
	}
	return 0, nil, false
}

// Int returns an integer without scale. ok is false for a float, and for a value outside the range of int64.
func (c *Set) Int(field uint16, row int) (v int64, ok bool) {
	raw, it, ok := c.raw(field, row)
	switch {
	case !ok:
		return 0, false
	case it.Num == nil:
	case it.Num.Scale != 0 || it.Num.Kind == schema.Float:
		return 0, false
	case it.Num.Kind == schema.Signed:
		return it.Num.Int(raw), true
	case it.Num.Kind == schema.Bool:
		return int64(min(raw, 1)), true
	case it.Num.Add != 0 && raw <= math.MaxInt64:
		return it.Num.Units(raw), true
	}
	if raw > math.MaxInt64 {
		return 0, false
	}
	return int64(raw), true
}

// Uint returns a non-negative integer without scale.
func (c *Set) Uint(field uint16, row int) (v uint64, ok bool) {
	if i, ok := c.Int(field, row); ok {
		return uint64(max(i, 0)), i >= 0
	}
	raw, it, ok := c.raw(field, row)
	if !ok || it.Num != nil && (it.Num.Scale != 0 || it.Num.Kind != schema.Unsigned) {
		return 0, false
	}
	return raw, true
}

// Float returns any number as it is shown, its scale included. Integers beyond 2^53 are rounded.
func (c *Set) Float(field uint16, row int) (v float64, ok bool) {
	raw, it, ok := c.raw(field, row)
	if !ok {
		return 0, false
	}
	if it.Num == nil {
		return float64(raw), true
	}
	return it.Num.Float(raw), true
}

// Bytes returns the bytes of a text, without its terminator, or of a bytes field. They are a part of Data.
func (c *Set) Bytes(field uint16, row int) (b []byte, ok bool) {
	l := c.column(field)
	if l == nil || row < 0 || row >= len(l.spans) || l.lacks(row) {
		return nil, false
	}
	s := l.spans[row]
	end := uint64(s.Off) + uint64(s.Len)
	if end > uint64(len(c.Data)) {
		return nil, false // Data is not the slice that was read
	}
	return c.Data[s.Off:end:end], true
}

// AppendText appends a text as UTF-8, as Cursor.AppendText does. ok is false for bytes.
func (c *Set) AppendText(dst []byte, field uint16, row int) (text []byte, ok bool) {
	b, ok := c.Bytes(field, row)
	if !ok {
		return dst, false
	}
	t, ok := c.Program.Fields[field].Schema.Type.(*schema.Text)
	if !ok {
		return dst, false
	}
	return codec.AppendChars(dst, b, t.Charset), true
}
