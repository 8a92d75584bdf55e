package frames

import (
	"strconv"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// maxScratch is the maximum capacity of a text buffer that is kept for reuse.
const maxScratch = 1 << 16

// fieldKey returns the key by the values of a field, as the cells of a column show them.
func fieldKey(path string) keyOf {
	return func(k *keyMaker, rank, _ int, e live.Entry, data []byte) {
		t := k.typeOf(e, data, false)
		if t.shown == nil {
			k.missing(rank)
			return
		}
		f := k.feeds[t.shown]
		if f == nil {
			f = newFieldFeed(k, t, path)
			k.feeds[t.shown] = f
		}
		switch {
		case f.none:
			k.missing(rank)
		case !f.single || e.Len > feedLong:
			t.shown.Decode(&f.rec, data)
			f.cell(rank, f.cells.Append(nil, &f.rec)[0])
		default:
			f.add(e, k.source, rank)
		}
	}
}

// fieldFeed computes the keys of messages of one program, in batches if the field has a column of its own.
type fieldFeed struct {
	feed[int] // by rank
	k         *keyMaker
	none      bool // the message has no such field
	single    bool // the field is a number or a text that occurs once in the message
	field     uint16
	number    *schema.Number // nil for a text
	numeric   bool           // cells that look like numbers are numbers
	cells     *corpus.Cells
	rec       codec.Record
}

func newFieldFeed(k *keyMaker, t *sortType, path string) *fieldFeed {
	below := BelowMessage(path, t.shown.Message)
	f := &fieldFeed{k: k, none: below == ""}
	f.program, f.take = t.shown, f.values
	if f.none {
		return f
	}
	f.cells = corpus.NewCells(t.shown, []string{below})
	found := corpus.FieldsOf(t.shown, below)
	for _, field := range found {
		f.field = field
		switch t.shown.Fields[field].Schema.Type.(type) {
		case *schema.Number, *schema.List:
			f.numeric = true
		}
	}
	if len(found) == 0 {
		return f
	}
	info := &t.shown.Fields[f.field]
	if len(found) == 1 && !inList(t.shown, f.field) {
		switch typ := info.Schema.Type.(type) {
		case *schema.Number:
			f.single, f.number = true, typ
		case *schema.Text:
			f.single = true
		}
	}
	if f.single {
		f.columns.Select(t.shown, f.field)
	}
	return f
}

// inList reports whether a field may have several values in a message.
func inList(p *codec.Program, field uint16) bool {
	for f := int(field); f >= 0; f = p.Fields[f].Parent {
		if p.Fields[f].InList {
			return true
		}
	}
	return false
}

// values sets the keys of the messages in the columns.
func (f *fieldFeed) values(ranks []int) {
	for row, rank := range ranks {
		f.value(rank, row)
	}
}

// value sets the key of one message in the columns.
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

// cell sets the key from the text of a cell.
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
