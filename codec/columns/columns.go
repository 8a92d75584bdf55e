package columns

import (
	"math"

	"wirebench/codec"
)

// MaxValues is the number of values at which a Set is full. It bounds the memory: a value takes eight bytes, and at most one run of
// messages is appended beyond the limit.
const MaxValues = 1 << 24

// A Set holds the values of many messages of one program by field: a column has one entry per row. The rows of a top-level field are the
// messages; the rows of a field in a list are the elements of all those lists. First maps a list to its elements, Message an element to its
// message.
//
// The zero Set selects all fields of the first program appended to it. Its memory is reused after Reset. It must be used by one goroutine
// at a time.
type Set struct {
	Program *codec.Program
	Data    []byte         // the data of the last Append, not copied; of a Packed program, copies of the messages with what is behind them
	N       int            // messages
	Status  []codec.Status // by message, as of Decode. A message that is not OK has the values that could be read

	cols   []column     // by field
	chosen []uint16     // fields that have a column, ascending
	tables []rowSet     // 0 is the messages, the others are lists
	fills  [][]fillIn   // by block: its numbers that have a column
	spans  [][]spanIn   // by block: its texts and bytes of fixed size that have a column
	parts  []target     // by content of a simple program: its destination
	inline bool         // the contents of a simple program follow its block one after another, each preceded by its number
	twice  bool         // a field has two places in the program, in different alternatives, or may be absent: no runs
	values int          // so far, including absent ones
	most   int          // MaxValues, less in tests
	run    messageRun   // state of the current run, for simple messages
	rec    codec.Record // the current message, for others
	own    []byte       // memory of Data, if messages are copied
	whole  bool         // see SelectWhole
	made   []byte       // see Made
}

// Span is a run of bytes: a message, a text without its terminator, or bytes.
type Span struct {
	Off uint32 // bytes from the start of Set.Data
	Len uint32 // bytes
}

// column is the column of one field. Only the members for its kind are used.
type column struct {
	kind   Kind
	table  uint16      // table whose rows it has
	list   uint16      // list: the table of its elements
	item   *codec.Item // number, and span of fixed size: its last place in the program
	num    []uint64    // number: the bits
	spans  []Span
	first  []uint32 // list: by row, the index of its first element; then the total number of elements
	absent []uint64 // bit i%64 of word i/64: row i has no value. Rows beyond have one
}

// Kind is the kind of a field's column.
type Kind uint8

// The kinds.
const (
	NoColumn     Kind = iota // of a group, or not selected
	NumberColumn             // see Numbers
	SpanColumn               // see Spans
	ListColumn               // see First
	PickColumn               // see Picks
	MadeColumn               // see Made
)

// rowSet is the row count of the messages, or of the elements of all lists of one field.
type rowSet struct {
	field uint16 // the list; noIndex for the messages
	rows  int
	cols  int // selected fields that have these rows
}

// cost returns how many values a row counts for MaxValues: at least 1, as row numbers have 32 bits.
func (t *rowSet) cost() int { return max(t.cols, 1) }

// Reset removes all messages but keeps the selected fields.
func (c *Set) Reset() {
	c.Data, c.N, c.values, c.Status = nil, 0, 0, c.Status[:0]
	for i := range c.tables {
		c.tables[i].rows = 0
	}
	for _, f := range c.chosen {
		l := &c.cols[f]
		l.num, l.spans, l.absent = l.num[:0], l.spans[:0], l.absent[:0]
		if l.kind == ListColumn {
			l.first = append(l.first[:0], 0)
		}
	}
	c.rec.Data, c.own, c.made = nil, c.own[:0], c.made[:0]
}

// Append appends the values of messages of a program and returns the number of messages appended, which is less than all only if the Set is
// full. A Set that holds messages of another program also counts as full until Reset; an empty one switches to the program and selects all
// of its fields.
//
// messages are spans of data, of which the first 4 GiB are addressable: a longer span is truncated there. Until Reset, the data of the next
// call must begin with the same bytes.
func (c *Set) Append(p *codec.Program, data []byte, messages []Span) int {
	if c.Program != p {
		if c.N > 0 {
			return 0
		}
		c.SelectAll(p)
	}
	c.Data = data[:min(uint64(len(data)), math.MaxUint32)]
	if p.Packed() {
		if c.N == 0 {
			c.own = c.own[:0]
		}
		return c.packed(messages)
	}
	n := 0
	for n < len(messages) && c.values < c.most && len(c.made) < maxOwn {
		if (p.Simple || p.Straight != nil) && !c.twice {
			if k := c.quickRows(messages[n:]); k > 0 {
				n += k
				continue
			}
		}
		c.row(messages[n])
		n++
		if p.Simple || p.Straight != nil {
			c.pad() // a run requires that all columns have all their rows
		}
	}
	c.pad()
	return n
}

// Kind returns the kind of the field's column.
func (c *Set) Kind(field uint16) Kind {
	if l := c.column(field); l != nil {
		return l.kind
	}
	return NoColumn
}

// Rows returns the length of the field's column: the number of messages, or of elements of the list that contains it; 0 without a column.
func (c *Set) Rows(field uint16) int {
	if l := c.column(field); l != nil {
		return c.tables[l.table].rows
	}
	return 0
}

// Numbers returns the raw bits of a number by row, 0 where it is absent; the field's schema.Number gives their meaning. It is nil if
// the field has no column of numbers. Like Spans and First, it is valid until the Set changes.
func (c *Set) Numbers(field uint16) []uint64 {
	if l := c.column(field); l != nil && l.kind == NumberColumn {
		return l.num
	}
	return nil
}

// Spans returns the position of the text or bytes in each row. It is nil if the field has no such column.
func (c *Set) Spans(field uint16) []Span {
	if l := c.column(field); l != nil && l.kind == SpanColumn {
		return l.spans
	}
	return nil
}

// Picks returns the alternative of a choice by row, 0 for the first one, or 0 for a group that is present: a row without a value has none. It is nil
// without SelectWhole, and for groups that are part of what is around them.
func (c *Set) Picks(field uint16) []uint64 {
	if l := c.column(field); l != nil && l.kind == PickColumn {
		return l.num
	}
	return nil
}

// Made returns the values of a field that are not in the data as such, by row, as spans of the second result: the JSON text of a group that
// contains itself, where it is inside itself, and the decimal text of numbers of up to 128 bits; of a Bitfield of so many, the upper and the
// lower 64 bits, most significant byte first. It is nil without SelectWhole, and for other fields.
func (c *Set) Made(field uint16) (spans []Span, of []byte) {
	if l := c.column(field); l != nil && l.kind == MadeColumn {
		return l.spans, c.made
	}
	return nil, nil
}

// First returns the elements of the list by row: row i has those from First[i] up to First[i+1], which are rows of the fields inside it.
func (c *Set) First(field uint16) []uint32 {
	if l := c.column(field); l != nil {
		return l.first
	}
	return nil
}

// column returns the column of a field, nil if it has none.
func (c *Set) column(field uint16) *column {
	if int(field) >= len(c.cols) || c.cols[field].kind == NoColumn {
		return nil
	}
	return &c.cols[field]
}

// pad extends all columns to the number of their rows; the added rows have no value.
func (c *Set) pad() {
	for _, f := range c.chosen {
		l := &c.cols[f]
		l.padTo(c.tables[l.table].rows)
	}
}

// padTo appends rows without a value, up to a number of rows.
func (l *column) padTo(rows int) {
	have := l.len()
	if have >= rows {
		return
	}
	switch l.kind {
	case NumberColumn, PickColumn:
		l.num = growTo(l.num, rows)
		clear(l.num[have:])
	case SpanColumn, MadeColumn:
		l.spans = growTo(l.spans, rows)
		clear(l.spans[have:])
	case ListColumn:
		last := l.first[have]
		l.first = growTo(l.first, rows+1)
		for i := have + 1; i <= rows; i++ {
			l.first[i] = last
		}
	case NoColumn: // nothing to extend
	}
	for len(l.absent) < (rows+63)/64 {
		l.absent = append(l.absent, 0)
	}
	for row := have; row < rows; row++ {
		l.absent[row/64] |= 1 << (row % 64)
	}
}

// lackZeros marks the rows from one on that are 0 as those without a value.
func (l *column) lackZeros(from int) {
	for row := from; row < len(l.num); row++ {
		if l.num[row] != 0 {
			continue
		}
		for len(l.absent) <= row/64 {
			l.absent = append(l.absent, 0)
		}
		l.absent[row/64] |= 1 << (row % 64)
	}
}

// len returns the number of rows of the column.
func (l *column) len() int {
	switch l.kind {
	case NumberColumn, PickColumn:
		return len(l.num)
	case SpanColumn, MadeColumn:
		return len(l.spans)
	default: // a list
		return len(l.first) - 1
	}
}

// growTo returns s with another length; new elements are arbitrary. Unlike slices.Grow it is small enough to be inlined.
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
