package frames

import (
	"regexp"
	"strconv"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/corpus"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// maxScratch is how much memory for one text is kept for the next.
const maxScratch = 1 << 16

// anyIndex is what a path says of the elements of a list.
var anyIndex = regexp.MustCompile(`\[[^\]]*\]`)

// fieldKey makes keys of the values of a field, as the cells of a column have them.
func fieldKey(path string) keyOf {
	return func(k *keyMaker) (func(int, int, live.Entry, []byte), func()) {
		feeds := map[*codec.Program]*fieldFeed{}
		var last *fieldFeed
		add := func(rank, _ int, e live.Entry, block []byte) {
			t := k.typeOf(e, entryData(e, block), false)
			if t.program == nil {
				k.missing(rank)
				return
			}
			if last == nil || last.program != t.program {
				feed, ok := feeds[t.program]
				if !ok {
					feed = newFieldFeed(k, t, path)
					feeds[t.program] = feed
				}
				last = feed
			}
			last.add(rank, e, block)
		}
		return add, func() {
			for _, f := range feeds {
				f.flush()
			}
		}
	}
}

// fieldFeed makes the keys of messages of one program, many at once where their field has a column of its own.
type fieldFeed struct {
	k       *keyMaker
	program *codec.Program
	none    bool // the message has no such field
	single  bool // the field is field, a number or a text, and once in the message
	field   uint16
	number  *schema.Number // nil: it is a text
	numeric bool           // its cells are numbers where they look like it
	cells   *corpus.Cells
	rec     codec.Record
	columns columns.Set
	block   uint32 // of the log, which holds the messages at hand
	data    []byte
	spans   []columns.Span
	ranks   []int
	bytes   int
}

func newFieldFeed(k *keyMaker, t *sortType, path string) *fieldFeed {
	below := belowMessage(path, t.msg)
	f := &fieldFeed{k: k, program: t.program, none: below == ""}
	if f.none {
		return f
	}
	f.cells = corpus.NewCells(t.program, []string{below})
	found, name, plain := 0, []byte(nil), anyIndex.ReplaceAllString(below, "")
	for i := range t.program.Fields {
		if name = corpus.AppendFilterPath(name[:0], t.program, uint16(i)); string(name) != plain {
			continue
		}
		found++
		f.field = uint16(i)
		switch t.program.Fields[i].Schema.Type.(type) {
		case *schema.Number, *schema.List:
			f.numeric = true
		}
	}
	if found == 0 {
		return f
	}
	info := &t.program.Fields[f.field]
	if found == 1 && plain == below && !info.InList && info.Schema.Same == nil {
		switch typ := info.Schema.Type.(type) {
		case *schema.Number:
			f.single, f.number = true, typ
		case *schema.Text:
			f.single = true
		}
	}
	if f.single {
		f.columns.Select(t.program, f.field)
	}
	return f
}

// add takes the next message.
func (f *fieldFeed) add(rank int, e live.Entry, block []byte) {
	switch {
	case f.none:
		f.k.missing(rank)
		return
	case !f.single || e.Len > feedLong:
		f.program.Decode(&f.rec, entryData(e, block))
		f.cell(rank, f.cells.Append(nil, &f.rec)[0])
		return
	}
	number, off := e.Place()
	if len(f.spans) > 0 && (number != f.block || f.bytes >= feedBytes || len(f.spans) == feedFrames) {
		f.flush()
	}
	f.block, f.data, f.bytes = number, block[:off+e.Len], f.bytes+int(e.Len)
	f.spans, f.ranks = append(f.spans, columns.Span{Off: off, Len: e.Len}), append(f.ranks, rank)
}

// flush makes the keys of the messages at hand.
func (f *fieldFeed) flush() {
	spans, ranks := f.spans, f.ranks
	for len(spans) > 0 {
		f.columns.Reset()
		n := f.columns.Append(f.program, f.data, spans)
		for row, rank := range ranks[:n] {
			f.value(rank, row)
		}
		spans, ranks = spans[n:], ranks[n:]
	}
	f.spans, f.ranks, f.bytes = f.spans[:0], f.ranks[:0], 0
}

// value is the key of a message in the columns.
func (f *fieldFeed) value(rank, row int) {
	k, c := f.k, &f.columns
	switch {
	case !c.Has(f.field, row):
		k.missing(rank)
	case f.number == nil:
		text, _ := c.AppendText(k.scratch[:0], f.field, row)
		if k.text(rank, text); cap(text) <= maxScratch {
			k.scratch = text
		}
	case f.number.Kind == schema.Float || f.number.Scale != 0:
		v, _ := c.Float(f.field, row)
		k.float(rank, v)
	default:
		if v, ok := c.Int(f.field, row); ok {
			k.int(rank, v)
		} else if v, ok := c.Uint(f.field, row); ok {
			k.uint(rank, v)
		} else {
			k.missing(rank)
		}
	}
}

// cell is the key of what stands in a cell.
func (f *fieldFeed) cell(rank int, text string) {
	k := f.k
	if f.numeric {
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			k.int(rank, v)
			return
		}
		if v, err := strconv.ParseUint(text, 10, 64); err == nil {
			k.uint(rank, v)
			return
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			k.float(rank, v)
			return
		}
	}
	k.text(rank, []byte(text))
}
