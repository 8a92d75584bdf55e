package corpus

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Table computes statistics of all fields of a message. A field in a list has one value per element, and the value of the list itself is
// its number of elements. Values are ordered by message, and by position in the message.
type Table struct {
	program    *codec.Program
	columns    []column
	messages   uint64
	incomplete uint64
	illegal    uint64
	room       room
	rec        codec.Record
	cur        codec.Cursor
	rows       fieldRows
	text       []byte
	key        []byte
}

// Column holds the statistics of one field.
type Column struct {
	Field  uint16 // index into Program.Fields; if alternatives share the path, the first of their fields
	Path   string // "members[].name"
	Filter string // path in a filter, below the name of the message: "members.name", or "len(members)" with Len
	Type   string // as in the definition
	Doc    string
	Len    bool   // the values are the numbers of elements of a list
	Bytes  bool   // the values are bytes
	Text   bool   // the values are texts
	Frames uint64 // number of messages with a value
	First  uint64 // number of the first frame with a value
	Figures
}

type column struct {
	Column
	sites  []*codec.Site
	lists  [][]uint16 // by site: the lists around it, outermost first
	number bool
	kind   numberKind
	counts numberCounts
	texts  textCounts

	n                uint64
	moves            moves
	prev             uint64 // rank of the previous value
	ordered          bool   // prev is valid: the previous value was not NaN
	ranked           bool   // min and max are valid
	least, greatest  uint64 // ranks
	minKey, maxKey   uint64
	minText, maxText []byte
	minLen, maxLen   int
	lastSeen         uint64 // message, counted from 1
	uuid             bool   // text: of a UUID
}

// NewTable returns an empty table for a program.
func NewTable(p *codec.Program) *Table {
	t := &Table{program: p, room: room{maxMemory}}
	byPath := map[string]int{}
	for i := range p.Fields {
		site, ok := p.Site(uint16(i))
		if !ok {
			continue
		}
		f := &p.Fields[i]
		c := column{Column: Column{
			Field: uint16(i), Path: string(p.AppendFieldPath(nil, uint16(i))), Type: f.Type, Doc: f.Doc,
			Filter: string(AppendFilterPath(nil, p, uint16(i))),
		}, sites: []*codec.Site{site}, lists: [][]uint16{listsAround(p, uint16(i))}}
		switch t := f.Schema.Type.(type) {
		case *schema.Text:
			c.Text = true
		case *schema.Blob:
			c.uuid = t.UUID
			c.Text, c.Bytes = t.UUID, !t.UUID
		case *schema.List:
			if t.Once { // its element stands for it
				continue
			}
			c.Len, c.number = true, true
			c.Filter = "len(" + c.Filter + ")"
		default:
			if c.kind, c.number = kindOf(f.Schema); !c.number {
				continue
			}
		}
		k, ok := byPath[c.Path]
		switch {
		case ok && t.columns[k].alike(&c):
			t.columns[k].sites, t.columns[k].lists = append(t.columns[k].sites, site), append(t.columns[k].lists, c.lists[0])
		default:
			byPath[c.Path] = len(t.columns)
			t.columns = append(t.columns, c)
		}
	}
	return t
}

// alike reports whether the values of both have the same interpretation.
func (c *column) alike(d *column) bool {
	if c.number != d.number || c.Text != d.Text || c.uuid != d.uuid || c.Len != d.Len || (c.kind.num == nil) != (d.kind.num == nil) {
		return false
	}
	if a, b := c.kind.num, d.kind.num; a != nil {
		return a.Bits == b.Bits && a.Kind == b.Kind && a.Scale == b.Scale && a.Add == b.Add && a.Enum == b.Enum
	}
	return c.kind.bitfield == d.kind.bitfield
}

// Add adds a message, frame n of its capture. It does not retain the bytes.
func (t *Table) Add(n uint64, data []byte) {
	t.program.Decode(&t.rec, data)
	t.AddRecord(n, &t.rec)
	t.rec.Data = nil
}

// AddRecord is like Add for a message already decoded by the program of the table.
func (t *Table) AddRecord(n uint64, r *codec.Record) {
	t.judged(r.Status())
	for i := range t.columns {
		c := &t.columns[i]
		for _, site := range c.sites {
			if raw, ok := site.Number(r); ok && c.number {
				c.seen(n, t.messages)
				least, greatest := c.add(raw, 1, &t.room)
				c.bounds(n, least, greatest)
				continue
			}
			t.cur.Start(r, site)
			for t.cur.Next() {
				c.seen(n, t.messages)
				if c.number && t.cur.High() > 0 {
					continue // only counted
				}
				if c.number {
					least, greatest := c.add(t.cur.Raw, 1, &t.room)
					c.bounds(n, least, greatest)
					continue
				}
				b := t.cur.Bytes()
				switch {
				case c.uuid:
					t.text = codec.AppendUUID(t.text[:0], b)
					b = t.text
				case c.Text:
					t.text = t.cur.AppendText(t.text[:0])
					b = t.text
				}
				least, greatest := t.addText(c, b, 1)
				c.bounds(n, least, greatest)
			}
		}
	}
	t.cur.Forget()
	t.trim()
}

// judged counts a message by its status.
func (t *Table) judged(s codec.Status) {
	t.messages++
	switch s {
	case codec.Incomplete:
		t.incomplete++
	case codec.Illegal:
		t.illegal++
	}
}

// addText is column.addText with the key of the text.
func (t *Table) addText(c *column, b []byte, times uint64) (least, greatest bool) {
	if len(b) <= keptText {
		return c.addText(b, b, times, &t.room)
	}
	t.key = keyOf(t.key, b)
	return c.addText(b, t.key, times, &t.room)
}

// trim releases the memory of a long text.
func (t *Table) trim() {
	if cap(t.text) > maxScratch {
		t.text = nil
	}
}

// maxScratch is the maximum memory retained after a long text, in bytes.
const maxScratch = 1 << 20

// seen records that a message has the field.
func (c *column) seen(n, message uint64) {
	if c.lastSeen != message {
		c.lastSeen = message
		if c.Frames == 0 {
			c.First = n
		}
		c.Frames++
	}
}

// bounds records the frame of a new minimum or maximum.
func (c *column) bounds(frame uint64, least, greatest bool) {
	if least {
		c.MinAt = frame
	}
	if greatest {
		c.MaxAt = frame
	}
}

// add adds a number that occurs times times in a row, and reports whether it is a new minimum or maximum.
func (c *column) add(raw, times uint64, r *room) (least, greatest bool) {
	key := c.kind.key(raw)
	c.counts.add(key, times, r)
	rank, ok := c.kind.rank(key)
	if c.n > 0 {
		switch {
		case !ok || !c.ordered:
			c.moves |= unordered
		case rank > c.prev:
			c.moves |= up
		case rank < c.prev:
			c.moves |= down
		default:
			c.moves |= level
		}
	}
	c.n += times
	c.prev, c.ordered = rank, ok
	if !ok {
		if times > 1 {
			c.moves |= unordered
		}
		return false, false
	}
	if times > 1 {
		c.moves |= level
	}
	if !c.ranked || rank < c.least {
		c.least, c.minKey, least = rank, key, true
	}
	if !c.ranked || rank > c.greatest {
		c.greatest, c.maxKey, greatest = rank, key, true
	}
	c.ranked = true
	return least, greatest
}

// addText is like add for a text, or bytes.
func (c *column) addText(b, key []byte, times uint64, r *room) (least, greatest bool) {
	first := c.n == 0
	c.n += times
	c.texts.add(key, times, r)
	size := len(b)
	if c.Text {
		size = utf8.RuneCount(b)
	}
	if first {
		c.minLen, c.maxLen = size, size
	}
	c.minLen, c.maxLen = min(c.minLen, size), max(c.maxLen, size)
	if !first && len(c.texts.texts) == 1 && c.texts.rest == 0 {
		return false, false // equal to all previous values
	}
	head := key[:min(len(key), keptText)]
	if first || bytes.Compare(head, c.minText[:min(len(c.minText), keptText)]) < 0 {
		c.minText, least = append(c.minText[:0], key...), true
	}
	if first || bytes.Compare(head, c.maxText[:min(len(c.maxText), keptText)]) > 0 {
		c.maxText, greatest = append(c.maxText[:0], key...), true
	}
	return least, greatest
}

// Messages returns the number of messages added.
func (t *Table) Messages() uint64 { return t.messages }

// Bad returns the number of incomplete and of illegal messages. The statistics include the values that could be read from them.
func (t *Table) Bad() (incomplete, illegal uint64) { return t.incomplete, t.illegal }

// Columns returns the statistics of all fields so far, in the order of the definition.
func (t *Table) Columns() []Column {
	out := make([]Column, 0, len(t.columns))
	for i := range t.columns {
		out = append(out, t.columns[i].figures())
	}
	return out
}

func (c *column) figures() Column {
	out := c.Column
	out.Values = c.n
	if c.n == 0 {
		return out
	}
	if !c.number {
		c.textFigures(&out.Figures)
		return out
	}
	f, t := &out.Figures, &c.counts
	f.Distinct, f.Rest, f.Trend = t.used, t.rest, c.moves.trend()
	counts, keys := make([]uint64, 0, t.used+1), make([]slot, 0, t.used)
	for _, s := range t.slots {
		if s.n > 0 {
			counts, keys = append(counts, s.n), append(keys, s)
		}
	}
	f.finish(counts)
	if c.ranked {
		f.Min, f.Max = c.kind.value(c.minKey), c.kind.value(c.maxKey)
	}
	for _, i := range most(len(keys), func(i int) uint64 { return keys[i].n }, func(i, j int) bool {
		a, _ := c.kind.rank(keys[i].key)
		b, _ := c.kind.rank(keys[j].key)
		return a < b || a == b && keys[i].key < keys[j].key
	}) {
		f.Top = append(f.Top, Top{c.kind.value(keys[i].key), keys[i].n})
	}
	return out
}

func (c *column) textFigures(f *Figures) {
	t := &c.texts
	f.Distinct, f.Rest = len(t.texts), t.rest
	f.finish(slices.Clone(t.n))
	f.MinLen, f.MaxLen = c.minLen, c.maxLen
	f.Min, f.Max = textValue(string(c.minText), c.Bytes), textValue(string(c.maxText), c.Bytes)
	for _, i := range most(len(t.texts), func(i int) uint64 { return t.n[i] }, func(i, j int) bool {
		return strings.Compare(t.texts[i], t.texts[j]) < 0
	}) {
		f.Top = append(f.Top, Top{textValue(t.texts[i], c.Bytes), t.n[i]})
	}
}

// finish sets the statistics derived from the counts.
func (f *Figures) finish(counts []uint64) {
	f.More = f.Rest > 0
	f.Constant = f.Distinct == 1 && !f.More
	f.Entropy = entropy(counts, f.Rest)
}
