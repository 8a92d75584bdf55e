package templates

import (
	"fmt"
	"strings"

	"wirebench/codec/view"
)

// cell is a box of a diagram, or a caption above boxes.
type cell struct {
	Caption         string
	Width           int // columns, 1 to 16; 0 for a caption
	Class, Top, Low string
	Title           string
	Line, Range     string
	Key             string    // path and role, as of RowTitle; the same in every message
	Bits            []bitCell // instead of Top: the fields that share these bytes
}

// bitCell is a field that is not made of whole bytes.
type bitCell struct{ Name, Line, Range, Key string }

// columns is the number of bytes per row.
const columns = 16

// wholeRows is the largest field drawn in full, in bytes.
const wholeRows = 3 * columns

// diagram draws a layout as rows of sixteen bytes. A part of variable size fills the rest of its row, and the elements of a list have their
// own rows below a caption.
func diagram(l *view.LayoutInfo) []cell {
	d := drawing{rows: l.Rows, alt: map[view.Family]bool{}, room: 1<<17 + 24*l.Source}
	for i := 0; i < len(d.rows); {
		i = d.scope(i, d.rows[i].Depth)
	}
	if left := len(l.Rows) - d.drawn + l.More; left > 0 {
		d.caption(fmt.Sprintf("… %d more", left))
	}
	return d.cells
}

type drawing struct {
	rows  []view.LayoutRow
	cells []cell
	col   int // column of the next cell
	alt   map[view.Family]bool
	note  string // condition of the rows being drawn
	room  int    // bytes of HTML left to draw: the diagram stays a small multiple of the definition
	drawn int    // rows
}

// scope draws the rows of a scope from i on, with nested lists. It returns the first row after them.
func (d *drawing) scope(i, depth int) int {
	d.col = 0
	moved := false // after a part of variable size
	for i < len(d.rows) && d.rows[i].Depth >= depth {
		if d.room < 0 {
			return len(d.rows)
		}
		r := d.rows[i]
		d.drawn = i + 1
		if r.Note != d.note {
			if d.note = r.Note; r.Note != "" {
				d.caption(r.Note)
			}
		}
		switch {
		case d.isList(i):
			d.pointer(r)
			d.caption(fmt.Sprintf("%s · %s · each element%s", r.Path, at(r), d.elementSize(i+1, r.Depth+1)))
			i = d.scope(i+1, r.Depth+1)
			d.fill(cell{Class: "var", Top: "next element …"})
			moved = true
			continue
		case variable(r):
			d.pointer(r)
			d.caption(fmt.Sprintf("%s · %s", r.Path, at(r)))
			d.add(cell{Width: columns, Class: d.tint(r) + " var", Top: lastStep(r.Path), Low: fmt.Sprintf("%s, %s", r.Type, sizeRange(r)), Title: title(r), Line: number(r.Line), Key: Key(r.Path, r.Role)})
			moved = true
			i++
			continue
		case moved:
			d.caption("then, " + at(r))
			moved = false
		}
		if r.MinBits%8 != 0 {
			i = d.bits(i)
			continue
		}
		d.fixed(r)
		i++
	}
	return i
}

// isList reports whether a row's elements are the rows after it.
func (d *drawing) isList(i int) bool { return i+1 < len(d.rows) && d.rows[i+1].Depth > d.rows[i].Depth }

func variable(r view.LayoutRow) bool { return r.MaxBits == nil || *r.MaxBits != r.MinBits }

// caption adds a line of text, which ends the row above.
func (d *drawing) caption(text string) {
	d.cells = append(d.cells, cell{Caption: text})
	d.room -= len(text) + 40
	d.col = 0
}

func (d *drawing) add(c cell) {
	d.cells = append(d.cells, c)
	d.room -= 200 + len(c.Top) + len(c.Low) + len(c.Title) + len(c.Key)
	for _, b := range c.Bits {
		d.room -= 80 + len(b.Name) + len(b.Key)
	}
	d.col = (d.col + c.Width) % columns
}

// fill adds a cell to the end of the row, if its text fits.
func (d *drawing) fill(c cell) {
	if d.col > 0 && d.col <= columns-3 {
		c.Width = columns - d.col
		d.add(c)
	}
	d.col = 0
}

// pointer marks a part of variable size at the end of a row.
func (d *drawing) pointer(r view.LayoutRow) {
	d.fill(cell{Class: "var", Top: lastStep(r.Path) + " …", Low: at(r), Title: title(r), Line: number(r.Line), Key: Key(r.Path, r.Role)})
}

// fixed draws a field of whole bytes across rows; of a long field only the first and the last row.
func (d *drawing) fixed(r view.LayoutRow) {
	c := cell{Class: d.tint(r), Title: title(r), Line: number(r.Line), Key: Key(r.Path, r.Role)}
	c.Top, c.Low = label(r)
	if r.BitOffset != nil {
		c.Range = fmt.Sprintf("%d:%d", *r.BitOffset, r.MinBits)
	}
	left := r.MinBits / 8
	for first := true; left > 0; first = false {
		if !first {
			c.Top, c.Low = "…", ""
		}
		if !first && left > wholeRows-columns {
			skip := left - left%columns
			if skip == left {
				skip -= columns
			}
			if skip > columns {
				c.Width, c.Top, c.Class = columns, fmt.Sprintf("… %d bytes", skip), c.Class+" var"
				d.add(c)
				c.Class = strings.TrimSuffix(c.Class, " var")
				left -= skip
				continue
			}
		}
		c.Width = int(min(left, int64(columns-d.col)))
		d.add(c)
		left -= int64(c.Width)
	}
}

// bits draws fields that share bytes as one cell, from row i to the row that ends at a whole byte.
func (d *drawing) bits(i int) int {
	c := cell{Class: d.tint(d.rows[i])}
	total, first := int64(0), i
	var sizes []string
	for i < len(d.rows) && d.rows[i].Depth == d.rows[first].Depth && !variable(d.rows[i]) && !d.isList(i) {
		r := d.rows[i]
		top, _ := label(r)
		b := bitCell{Name: top, Line: number(r.Line), Key: Key(r.Path, r.Role)}
		if r.BitOffset != nil {
			b.Range = fmt.Sprintf("%d:%d", *r.BitOffset, r.MinBits)
		}
		c.Bits, sizes = append(c.Bits, b), append(sizes, fmt.Sprint(r.MinBits))
		total += r.MinBits
		i++
		if total%8 == 0 {
			break
		}
	}
	c.Low = strings.Join(sizes, "+") + " bits"
	for left := (total + 7) / 8; left > 0; {
		c.Width = int(min(left, int64(columns-d.col)))
		d.add(c)
		left -= int64(c.Width)
		c.Bits, c.Top, c.Low = nil, "…", ""
	}
	return max(i, first+1)
}

func (d *drawing) tint(r view.LayoutRow) string {
	class := tint(r.Family, d.alt[r.Family])
	d.alt[r.Family] = !d.alt[r.Family]
	return class
}

// elementSize is the size of the element that begins at row i: ", 8 bytes".
func (d *drawing) elementSize(i, depth int) string {
	bits := int64(0)
	for ; i < len(d.rows) && d.rows[i].Depth >= depth; i++ {
		if variable(d.rows[i]) || d.rows[i].Depth > depth {
			return ""
		}
		bits += d.rows[i].MinBits
	}
	if bits%8 != 0 {
		return fmt.Sprintf(", %d bits", bits)
	}
	return ", " + count(int(bits/8), "byte")
}

// label is the last name of a part, and its type or role.
func label(r view.LayoutRow) (top, low string) {
	switch {
	case r.Role == "value":
		return lastStep(r.Path), r.Type
	case r.Path == r.Role:
		return r.Role, r.Type
	case strings.HasSuffix(r.Path, "[]"):
		return r.Role, r.Type
	}
	return lastStep(r.Path), r.Role
}

// lastStep is the last name of a path; an unnamed element has the name of its list.
func lastStep(path string) string {
	bare := strings.TrimSuffix(path, "[]")
	return bare[strings.LastIndexByte(bare, '.')+1:] + path[len(bare):]
}

func title(r view.LayoutRow) string {
	t := r.Path + ": " + r.Type
	if r.Role != "value" {
		t = r.Path + ", " + r.Role + ": " + r.Type
	}
	t += ", " + at(r) + ", " + sizeRange(r)
	if r.Note != "" {
		t += ", " + r.Note
	}
	if r.Doc != "" {
		t += "\n" + r.Doc
	}
	return t
}

// RowTitle describes a part of a message.
func RowTitle(r view.LayoutRow) string { return title(r) }

// at is the offset of a part in words.
func at(r view.LayoutRow) string { return "at " + r.Offset }

// sizeRange is the size of a part in words.
func sizeRange(r view.LayoutRow) string {
	unit := " bytes"
	if r.MinBits%8 != 0 {
		unit = "" // sizeText includes it
	}
	switch {
	case r.MaxBits == nil && r.MinBits == 0:
		return "any size"
	case r.MaxBits == nil:
		return sizeText(r.MinBits) + unit + " or more"
	case *r.MaxBits != r.MinBits:
		return sizeText(r.MinBits) + " to " + sizeText(*r.MaxBits) + unit
	case r.MinBits == 8:
		return "1 byte"
	}
	return sizeText(r.MinBits) + unit
}

// tableSize is the size of a part for a column of numbers.
func tableSize(r view.LayoutRow) string {
	switch {
	case r.MaxBits == nil:
		return sizeText(r.MinBits) + "+"
	case *r.MaxBits != r.MinBits:
		return sizeText(r.MinBits) + "–" + sizeText(*r.MaxBits)
	}
	return sizeText(r.MinBits)
}

// maxTerms bounds the parts of variable size in a formula.
const maxTerms = 4

// layoutSummary is the size of a message: a formula such as "12 bytes + 8 × members + name", or a range.
func layoutSummary(l *view.LayoutInfo) string {
	if l.MaxSize != nil && *l.MaxSize == l.MinSize {
		return count(int(l.MinSize), "byte")
	}
	fixed, terms := int64(0), []string{}
	d := drawing{rows: l.Rows}
	for i, r := range l.Rows {
		switch {
		case r.Note != "":
			return sizeWords(l)
		case r.Depth > 0:
		case variable(r):
			term := r.Path
			if d.isList(i) {
				if size := strings.Trim(d.elementSize(i+1, 1), ", bytes"); size != "" {
					term = size + " × " + r.Path
				}
			}
			terms = append(terms, term)
		default:
			fixed += r.MinBits
		}
	}
	if len(terms) > maxTerms || fixed%8 != 0 {
		return sizeWords(l)
	}
	return strings.Join(append([]string{count(int(fixed/8), "byte")}, terms...), " + ")
}

func sizeWords(l *view.LayoutInfo) string {
	if l.MaxSize == nil {
		return count(int(l.MinSize), "byte") + " or more"
	}
	return fmt.Sprintf("%d to %d bytes", l.MinSize, *l.MaxSize)
}
