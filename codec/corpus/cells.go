package corpus

import (
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// MaxCell is the maximum length of the text of a cell, in bytes.
const MaxCell = 160

// maxShown is the maximum number of list elements in a cell.
const maxShown = 16

// Cells formats chosen fields of a message as short texts for the row of a list.
type Cells struct {
	cells []cell
	cur   codec.Cursor
	buf   []byte
	text  []byte
}

type cell struct {
	sites []cellSite
	group bool // the parts of a group, in parentheses
}

type cellSite struct {
	site   *codec.Site
	kind   numberKind
	number bool
	text   bool
	uuid   bool
	count  bool // only the number of elements of the list
}

// NewCells selects fields of a program by their paths below the name of the message: gold, members.name, members[2].name; .name is at any
// depth. The cell of an unknown path is empty.
func NewCells(p *codec.Program, paths []string) *Cells {
	c := &Cells{cells: make([]cell, len(paths))}
	for i, path := range paths {
		found, group := find(p, path)
		c.cells[i].group = group
		for _, t := range found {
			site, ok := p.Site(t.field, t.index...)
			if !ok {
				continue
			}
			s := cellSite{site: site}
			switch f := p.Fields[t.field].Schema; typ := f.Type.(type) {
			case *schema.List:
				s.count = true
			case *schema.Text:
				s.text = true
			case *schema.Blob:
				s.uuid = typ.UUID
			default:
				s.kind, s.number = kindOf(f)
			}
			c.cells[i].sites = append(c.cells[i].sites, s)
		}
	}
	return c
}

// Append appends one text for each path, empty if the record has no value. Several values are written as "3: a, b, c". A text longer than
// MaxCell is truncated with "…".
func (c *Cells) Append(dst []string, r *codec.Record) []string {
	for i := range c.cells {
		c.buf = c.cell(c.buf[:0], r, &c.cells[i])
		dst = append(dst, string(c.buf))
	}
	c.cur.Forget()
	return dst
}

func (c *Cells) cell(dst []byte, r *codec.Record, at *cell) []byte {
	if !at.group {
		out, _ := c.values(dst, r, at.sites)
		return cut(out)
	}
	parts := 0
	for i := range at.sites {
		if len(dst) > MaxCell {
			break
		}
		from := len(dst)
		if dst = append(dst, "("...); parts > 0 {
			dst = append(dst[:from], ", "...)
		}
		var ok bool
		if dst, ok = c.values(dst, r, at.sites[i:i+1]); !ok {
			dst = dst[:from]
			continue
		}
		parts++
	}
	if parts > 0 {
		dst = append(dst, ')')
	}
	return cut(dst)
}

// values appends the values at sites. ok is false if there are none.
func (c *Cells) values(dst []byte, r *codec.Record, sites []cellSite) (out []byte, ok bool) {
	n, single := 0, true
	from := len(dst)
	for i := range sites {
		s := &sites[i]
		for c.cur.Start(r, s.site); c.cur.Next(); {
			single = single && s.site.Single()
			switch n++; {
			case n > maxShown || len(dst)-from > MaxCell:
				continue // counted, but not shown
			case n > 1:
				dst = append(dst, ", "...)
			}
			dst = c.value(dst, s)
		}
	}
	switch {
	case n == 0:
		return dst, false
	case n == 1 && single:
		return dst, true
	}
	if n > maxShown {
		dst = append(dst, "…"...)
	}
	count := append(strconv.AppendInt(nil, int64(n), 10), ": "...)
	return append(dst[:from], append(count, dst[from:]...)...), true
}

func (c *Cells) value(dst []byte, s *cellSite) []byte {
	switch {
	case s.count:
		return strconv.AppendUint(dst, c.cur.Raw, 10)
	case s.number && c.cur.High() > 0:
		return codec.AppendLongText(dst, c.cur.High(), c.cur.Raw)
	case s.number:
		return append(dst, s.kind.people(s.kind.key(c.cur.Raw))...)
	case s.text:
		c.text = c.cur.AppendText(c.text[:0])
		dst = append(dst, c.text[:min(len(c.text), MaxCell+1)]...)
		if cap(c.text) > maxScratch {
			c.text = nil
		}
		return dst
	}
	b := c.cur.Bytes()
	if s.uuid {
		return codec.AppendUUID(dst, b)
	}
	return hex.AppendEncode(dst, b[:min(len(b), MaxCell/2+1)])
}

// cut truncates a text to MaxCell bytes at a character boundary.
func cut(b []byte) []byte {
	if len(b) <= MaxCell {
		return b
	}
	n := MaxCell - len("…")
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return append(b[:n], "…"...)
}
