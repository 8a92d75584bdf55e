package columns

import (
	"math"

	"wirebench/codec"
)

// MaxValues is the number of values at which a Set is full. It bounds their memory: a value takes eight bytes, and at most one run
// of messages is appended beyond it.
const MaxValues = 1 << 24

// A Set holds the values of many messages of one program by field: a column has one entry a row. The rows of a field at the top are
// the messages; the rows of a field in a list are the elements of all those lists. Elements maps a list to its elements, Message an
// element to its message.
//
// The zero Set takes all fields of the first program that appends to it. Its memory is reused after Reset. One goroutine
// at a time.
type Set struct {
	Program *codec.Program
	Data    []byte         // the data of the last Append, not copied
	N       int            // messages
	Status  []codec.Status // by message, the same as of Decode. A message that is not OK has the values that could be read

	cols   []column     // by field
	chosen []uint16     // fields that have a column, ascending
	tables []rowSet     // 0 is the messages, the others are lists
	fills  [][]fillIn   // by block: its numbers that have a column
	spans  [][]spanIn   // by block: its texts and bytes of fixed size that have a column
	parts  []target     // by content of a simple program: where it goes
	inline bool         // the contents of a simple program follow its block one after another, each with its number
	twice  bool         // a field stands at two places of the program, as alternatives may have it
	values int          // so far, counting those that are absent
	most   int          // MaxValues, less in tests
	run    messageRun   // what is known of the messages at hand, if they are simple
	rec    codec.Record // the message at hand, if it is not
}

// Span is a run of bytes: a message, a text without its terminator, or bytes.
type Span struct {
	Off uint32 // bytes from the start of Set.Data
	Len uint32 // bytes
}

// column is one field. Only what its kind needs is in use.
type column struct {
	kind   columnKind
	table  uint16      // whose rows it has
	list   uint16      // list: the table of its elements
	item   *codec.Item // number, and span of fixed size: the last place in the program that holds it
	num    []uint64    // number: the bits
	spans  []Span
	first  []uint32 // list: by row, the first of its elements; and the number of elements at the end
	absent []uint64 // bit i%64 of word i/64: row i has no value. What is beyond is there
}

type columnKind uint8

const (
	noColumn columnKind = iota // of a group, or not chosen
	numberColumn
	spanColumn
	listColumn
)

// rowSet is the messages, or the elements of all lists of one field.
type rowSet struct {
	field uint16 // the list; noIndex of the messages
	rows  int
	cols  int // fields that have a column with these rows
}

// cost is what a row counts for MaxValues. One without values counts, too: rows are numbers of 32 bits.
func (t *rowSet) cost() int { return max(t.cols, 1) }

// Reset forgets the messages and keeps the choice of fields.
func (c *Set) Reset() {
	c.Data, c.N, c.values, c.Status = nil, 0, 0, c.Status[:0]
	for i := range c.tables {
		c.tables[i].rows = 0
	}
	for _, f := range c.chosen {
		l := &c.cols[f]
		l.num, l.spans, l.absent = l.num[:0], l.spans[:0], l.absent[:0]
		if l.kind == listColumn {
			l.first = append(l.first[:0], 0)
		}
	}
	c.rec.Data = nil
}

// Append appends the values of messages of a program and returns how many messages it took: fewer than all only if the Set is full.
// A Set that holds messages of another program is full, too, until Reset; an empty one switches to this program and selects all of its
// fields.
//
// messages are spans of data, of which the first 4 GiB are addressable: a longer span is truncated there. Until Reset, the data of the
// next call must begin with the same bytes.
func (c *Set) Append(p *codec.Program, data []byte, messages []Span) int {
	if c.Program != p {
		if c.N > 0 {
			return 0
		}
		c.SelectAll(p)
	}
	c.Data = data[:min(uint64(len(data)), math.MaxUint32)]
	n := 0
	for n < len(messages) && c.values < c.most {
		if p.Simple && !c.twice {
			if k := c.quickRows(messages[n:]); k > 0 {
				n += k
				continue
			}
		}
		c.row(messages[n])
		n++
		if p.Simple {
			c.pad() // a run appends to columns that have all their rows
		}
	}
	c.pad()
	return n
}

// Rows is the length of the field's column: the number of messages, or of elements of the list that it is in; 0 without a column.
func (c *Set) Rows(field uint16) int {
	if l := c.column(field); l != nil {
		return c.tables[l.table].rows
	}
	return 0
}

// Numbers returns the raw bits of a number by row, 0 where it is absent; the field's schema.Number gives their meaning. It is nil if
// the field has no column of numbers. Like Spans and First, it is valid until the Set changes.
func (c *Set) Numbers(field uint16) []uint64 {
	if l := c.column(field); l != nil {
		return l.num
	}
	return nil
}

// Spans are the places of texts or bytes in all rows.
func (c *Set) Spans(field uint16) []Span {
	if l := c.column(field); l != nil {
		return l.spans
	}
	return nil
}

// First says which elements the list has in row i: those from First[i] up to First[i+1]. They are rows of the fields inside it.
func (c *Set) First(field uint16) []uint32 {
	if l := c.column(field); l != nil {
		return l.first
	}
	return nil
}

// column is that of a field, nil if it has none.
func (c *Set) column(field uint16) *column {
	if int(field) >= len(c.cols) || c.cols[field].kind == noColumn {
		return nil
	}
	return &c.cols[field]
}

// pad brings all columns to the number of their rows: the last rows have no value there.
func (c *Set) pad() {
	for _, f := range c.chosen {
		l := &c.cols[f]
		l.padTo(c.tables[l.table].rows)
	}
}

// padTo makes rows without a value up to a number of rows.
func (l *column) padTo(rows int) {
	have := l.len()
	if have >= rows {
		return
	}
	switch l.kind {
	case numberColumn:
		l.num = growTo(l.num, rows)
		clear(l.num[have:])
	case spanColumn:
		l.spans = growTo(l.spans, rows)
		clear(l.spans[have:])
	case listColumn:
		last := l.first[have]
		l.first = growTo(l.first, rows+1)
		for i := have + 1; i <= rows; i++ {
			l.first[i] = last
		}
	}
	for len(l.absent) < (rows+63)/64 {
		l.absent = append(l.absent, 0)
	}
	for row := have; row < rows; row++ {
		l.absent[row/64] |= 1 << (row % 64)
	}
}

// len is how many rows the column has.
func (l *column) len() int {
	switch l.kind {
	case numberColumn:
		return len(l.num)
	case spanColumn:
		return len(l.spans)
	}
	return len(l.first) - 1
}

// growTo is s with another length; what is new holds anything. Unlike slices.Grow it is small enough to be inlined.
func growTo[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return growMore(s, n)
}

func growMore[T any](s []T, n int) []T {
	more := make([]T, n, max(n+n/4, 64))
	copy(more, s)
	return more
}
