package columns

import (
	"encoding/binary"
	"math"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Simple messages are appended in runs: first the messages of a run are validated, and their contents located; then each column is filled
// for all of them, in a loop without per-message decisions. Runs are short enough that their bytes stay in the first-level cache.

const (
	minRun      = 8 // messages
	maxRun      = 512
	maxRunBytes = 1 << 14 // of messages
	maxFound    = 1 << 16 // contents of a run
)

// located is the place of a text, of bytes or of a list.
type located struct {
	Off   uint32 // bytes from the start of the data
	Units uint32 // code units, bytes or elements
}

// messageRun is the state of a run of messages.
type messageRun struct {
	ends  []uint32  // by message: its end, bytes from the start of the data
	next  []uint32  // by message: start of the contents to be located next
	found []located // contents of all messages, those of content k from k*room on; offsets are from the start of the data
	room  int       // messages that found has room for
	spots []Span    // straight messages: where their blocks begin; those of segment k from k*room on
	most  int       // messages to try: fewer after invalid ones, so that the others are not validated again and again
}

// of returns the k-th contents of n messages.
func (r *messageRun) of(k, n int) []located { return r.found[k*r.room:][:n] }

// quickRows appends the messages at the start of rows that are simple and valid, at most one run, and returns their number.
func (c *Set) quickRows(rows []Span) int {
	p := c.Program
	if p.Straight != nil {
		return c.straightRows(rows)
	}
	rows = rows[:min(len(rows), c.run.most)]
	n := c.heads(rows)
	if n > 0 && len(p.Contents) > 0 {
		n = c.contents(rows[:n])
	}
	c.run.most = min(max(2*n, minRun), maxRun)
	if n == 0 {
		return 0
	}
	rows = rows[:n]
	c.begin(n)
	c.blocks(p.Ops[0].Block, rows)
	for k := range c.parts {
		if t := &c.parts[k]; t.field != codec.NoField {
			if t.kind == codec.NodeList {
				c.lists(t, c.run.of(k, n))
			} else {
				c.texts(t, c.run.of(k, n))
			}
		}
	}
	return n
}

// begin adds n messages without problems, of which the columns have no values yet.
func (c *Set) begin(n int) {
	c.N += n
	status := len(c.Status)
	c.Status = growTo(c.Status, status+n)
	clear(c.Status[status:])
	c.tables[0].rows += n
	c.values += n * c.tables[0].cost()
}

// blocks appends the values of a block that begins where rows do.
func (c *Set) blocks(block uint16, rows []Span) {
	c.numbers(c.fills[block], rows)
	for i := range c.spans[block] {
		s := &c.spans[block][i]
		l := &c.cols[s.field]
		for _, r := range rows {
			l.spans = append(l.spans, s.span(c.Data, r.Off))
		}
	}
}

// numbers appends the numbers of a block, several columns at once for byte-aligned loads: these come first, sorted by width.
func (c *Set) numbers(fills []fillIn, rows []Span) {
	col := func(i int) []uint64 { return c.cols[fills[i].field].grow(len(rows)) }
	for len(fills) > 0 {
		f, k := &fills[0], 1
		switch {
		case len(fills) > 3 && fills[3].how == f.how && f.how >= load8:
			k = 4
			fillFour(&[4][]uint64{col(0), col(1), col(2), col(3)}, c.Data, rows, (*[4]fillIn)(fills))
		case len(fills) > 1 && fills[1].how >= load8:
			k = 2
			fillTwo(col(0), col(1), c.Data, rows, f, &fills[1])
		default:
			fillRows(col(0), c.Data, rows, f)
		}
		fills = fills[k:]
	}
}

// heads returns how many messages at the start of rows, at most one run, are complete and start with a valid first block. It records their
// ends.
func (c *Set) heads(rows []Span) (n int) {
	p := c.Program
	c.run.ends = growTo(c.run.ends, len(rows))
	ends, head := c.run.ends[:len(rows)], p.Head
	if !p.Lone {
		head = max(head, p.First.Reach)
	}
	if p.Frame16 {
		n = heads16(ends, c.Data, rows, max(head, 2))
	} else {
		n = anyHeads(p, ends, c.Data, rows, head)
	}
	if len(p.First.Checks) == 0 {
		return n
	}
	for i, r := range rows[:n] {
		if !p.First.Legal(c.Data[r.Off:ends[i]]) {
			return i
		}
	}
	return n
}

// heads16Safe returns how many messages at the start of rows, at most one run, are in data, start with their length in 16 bits, and are
// complete and as long as their first block. It records their ends.
func heads16Safe(ends []uint32, data []byte, rows []Span, head uint32) (n int) {
	total := uint64(0)
	for i, r := range rows {
		if r.Len < head || uint64(r.Off)+uint64(r.Len) > uint64(len(data)) || total >= maxRunBytes {
			return i
		}
		size := uint32(binary.LittleEndian.Uint16(data[r.Off:]))
		if size < head || size > r.Len {
			return i
		}
		ends[i] = r.Off + size
		total += uint64(size)
	}
	return len(rows)
}

// anyHeads is heads16Safe for messages whose length is elsewhere, or absent.
func anyHeads(p *codec.Program, ends []uint32, data []byte, rows []Span, head uint32) (n int) {
	total := uint64(0)
	for i, r := range rows {
		end := uint64(r.Off) + uint64(r.Len)
		if end > uint64(len(data)) || total >= maxRunBytes {
			return i
		}
		size := p.AnyFrame(data[r.Off:end])
		if size < head {
			return i
		}
		ends[i] = r.Off + size
		total += uint64(size)
	}
	return len(rows)
}

// contents locates the contents of the messages, as quickContents does, and returns how many messages at the start have all of them within
// the bounds.
func (c *Set) contents(rows []Span) (n int) {
	p, r := c.Program, &c.run
	r.room = min(len(rows), max(maxFound/len(p.Contents), 1))
	rows = rows[:r.room]
	r.found = growTo(r.found, len(p.Contents)*r.room)
	if !c.inline {
		for i := range rows {
			if !c.locate(i, rows[i].Off) {
				return i
			}
		}
		return len(rows)
	}
	r.next = growTo(r.next, len(rows))
	for i := range rows {
		r.next[i] = rows[i].Off + p.Head
	}
	n = len(rows)
	for k := range p.Contents {
		n = follow(&p.Contents[k], r.of(k, n), c.Data, rows[:n], r.next, r.ends)
	}
	return n
}

// follow locates contents that directly follow the previous ones and whose number is in the first block. It returns how many messages at
// the start of rows are valid.
func follow(k *codec.Content, found []located, data []byte, rows []Span, next, ends []uint32) int {
	at, shift, mask, each, lo, hi := k.Count.At, k.Count.Shift&63, k.Count.Mask, k.Each, k.Min, k.Max
	found, next, ends = found[:len(rows)], next[:len(rows)], ends[:len(rows)]
	for i := range rows {
		n := codec.Word(data, rows[i].Off+at) >> shift & mask
		from := uint64(next[i])
		end := from + n*each
		if end > uint64(ends[i]) || n < lo || n > hi {
			return i
		}
		found[i] = located{uint32(from), uint32(n)}
		next[i] = uint32(end)
	}
	return len(rows)
}

// locate locates the contents of any simple message, the i-th of the run. It returns false if elements are not contiguous in the order of
// their chain.
func (c *Set) locate(i int, at uint32) bool {
	p, r := c.Program, &c.run
	data := c.Data[at:r.ends[i]]
	left := codec.NewBudget(data)
	cur, have := uint64(p.Head), uint64(len(data))
	for j := range p.Contents {
		k := &p.Contents[j]
		var from, n uint64
		switch {
		case k.Size == schema.Counted && !k.Placed && !k.Count.Slow:
			from, n = cur, codec.Word(data, k.Count.At)>>(k.Count.Shift&63)&k.Count.Mask
			if cur += n * k.Each; cur > have || codec.Judge(n, k.Min, k.Max) != codec.NoProblem {
				return false
			}
		case k.Linked && !k.Count.Slow && !k.Offset.Slow:
			n = codec.Word(data, k.Count.At) >> (k.Count.Shift & 63) & k.Count.Mask
			if n > left.Nodes || n*k.Each > left.Bytes || codec.Judge(n, k.Min, k.Max) != codec.NoProblem {
				return false
			}
			left.Nodes -= n
			left.Bytes -= n * k.Each
			if n > 0 {
				from = codec.Word(data, k.Offset.At) >> (k.Offset.Shift & 63) & k.Offset.Mask
				if p.Place(from, have, have) != codec.NoProblem || !sideBySide(k, data, from, n) {
					return false
				}
			}
		default:
			var end uint64
			var ok bool
			if from, n, end, ok = k.Locate(p, data, cur, &left); !ok || k.Linked && n > 0 && !sideBySide(k, data, from, n) {
				return false
			}
			if !k.Placed {
				cur = end
			}
		}
		r.found[j*r.room+i] = located{at + uint32(from), uint32(n)}
	}
	return true
}

// sideBySide reports whether the elements of a chain are complete and contiguous. Unlike chain, it need not read one element to locate the
// next.
func sideBySide(k *codec.Content, data []byte, from, n uint64) bool {
	if from == 0 || from+n*k.Each > min(uint64(len(data)), math.MaxUint16) || k.Next+2 > k.Each {
		return false
	}
	return chained(data[from:from+n*k.Each], uint32(from), int(k.Each), int(k.Next))
}

// chainedSafe reports whether each element of data, the first of which is at a byte of a message, holds the offset of the next. The last
// one may hold any.
func chainedSafe(data []byte, at uint32, each, next int) bool {
	for len(data) > each {
		at += uint32(each)
		if uint32(binary.LittleEndian.Uint16(data[next:])) != at {
			return false
		}
		data = data[each:]
	}
	return true
}

// texts appends texts or bytes.
func (c *Set) texts(t *target, found []located) {
	l := &c.cols[t.field]
	have := len(l.spans)
	l.spans = growTo(l.spans, have+len(found))
	dst := l.spans[have:]
	for i, p := range found[:len(dst)] {
		dst[i] = Span{p.Off, p.Units * t.unit}
	}
}

// lists appends lists and their elements.
func (c *Set) lists(t *target, found []located) {
	l, e := &c.cols[t.field], &c.tables[t.table]
	have, end := len(l.first), uint32(e.rows)
	l.first = growTo(l.first, have+len(found))
	dst := l.first[have:]
	for i, p := range found[:len(dst)] {
		end += p.Units
		dst[i] = end
	}
	c.elements(e, t.block, found, int(end)-e.rows)
}

// elements appends n contiguous elements at the places in found.
func (c *Set) elements(e *rowSet, block uint16, found []located, n int) {
	before := e.rows
	e.rows += n
	c.values += n * e.cost()
	stride := c.Program.Blocks[block].Bits / 8
	for i := range c.fills[block] {
		f := &c.fills[block][i]
		l := &c.cols[f.field]
		l.padTo(before)
		fillElems(l.grow(n), c.Data, found, stride, f)
		if f.maybe {
			l.lackZeros(before)
		}
	}
	for i := range c.spans[block] {
		s := &c.spans[block][i]
		l := &c.cols[s.field]
		l.padTo(before)
		for _, p := range found {
			for x := range p.Units {
				l.spans = append(l.spans, s.span(c.Data, p.Off+x*stride))
			}
		}
	}
}

// grow appends n rows to a column that has all its rows, and returns them. Their values are arbitrary.
func (l *column) grow(n int) []uint64 {
	have := len(l.num)
	l.num = growTo(l.num, have+n)
	return l.num[have:]
}

// load reads the number from a block that starts at a byte of data.
func (f *fillIn) load(data []byte, block uint32) uint64 {
	switch at := block + f.at; f.how {
	case load8:
		return uint64(data[at])
	case load16:
		return uint64(binary.LittleEndian.Uint16(data[at:]))
	case load32:
		return uint64(binary.LittleEndian.Uint32(data[at:]))
	case load64:
		return binary.LittleEndian.Uint64(data[at:])
	case maskLoad:
		return codec.Word(data, at) >> (f.peek.Shift & 63) & f.peek.Mask
	}
	return codec.LoadBits(data[block:], f.off, f.bits, f.order)
}

// span returns the text in a block that starts at a byte of data.
func (s *spanIn) span(data []byte, block uint32) Span {
	at := block + s.off
	if s.unit == 0 {
		return Span{at, s.size}
	}
	return Span{at, uint32(len(codec.CutAtNul(data[at:at+s.size], int(s.unit))))}
}

// fillRowsSafe fills a column of a block at the start of messages, each of which holds the complete block.
func fillRowsSafe(dst []uint64, data []byte, rows []Span, f *fillIn) {
	for i := range dst {
		dst[i] = f.load(data, rows[i].Off)
	}
}

// fillElemsSafe fills a column of contiguous elements, at the places in found. dst has room for all of them.
func fillElemsSafe(dst []uint64, data []byte, found []located, stride uint32, f *fillIn) {
	for _, p := range found {
		for x := range p.Units {
			dst[x] = f.load(data, p.Off+x*stride)
		}
		dst = dst[p.Units:]
	}
}
