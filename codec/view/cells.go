package view

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Cell is a box of a diagram, or a caption above boxes.
type Cell struct {
	Caption  string
	Width    int      // columns, 1 to 16; 0 for a caption
	Row      int      // of the layout; -1 for none
	Bits     []string // instead of Top: the names of the parts, from Row on, that share these bytes
	Kind     CellKind // what it shows of the row
	Alt      bool     // the second tint of its family
	Path     string   // of an element of a list that is drawn in full, with its index
	Bit      int64    // and its place: bits after the start of the list
	Family   Family   // its color; "" for none
	Top, Low string
	Title    string
}

// CellKind is what a cell shows of its row.
type CellKind string

const (
	CellPart    CellKind = ""        // the part, or its first bytes
	CellMore    CellKind = "more"    // further bytes
	CellCut     CellKind = "cut"     // bytes left out; Top has their number
	CellBody    CellKind = "body"    // contents of variable size
	CellPointer CellKind = "pointer" // where contents of variable size begin
	CellNext    CellKind = "next"    // the next element of a list
	CellTag     CellKind = "tag"     // the tag of an element, which begins a line; Top has its bytes

	// Captions.
	CellList   CellKind = "list"   // above the elements of a list; Low is the size of an element
	CellPacked CellKind = "packed" // above the decompressed contents of a group
	CellAt     CellKind = "at"     // above contents of variable size
	CellThen   CellKind = "then"   // above the part after them
)

// Variable reports whether a cell stands for a number of bytes that its width does not say.
func (k CellKind) Variable() bool {
	return k == CellCut || k == CellBody || k == CellPointer || k == CellNext
}

// Columns is the number of bytes per row of a diagram.
const Columns = 16

// wholeRows is the largest field drawn in full, in bytes.
const wholeRows = 3 * Columns

// maxElements is the number of cells of the longest list of fixed size whose elements are drawn in full.
const maxElements = 16

// Cells draws the layout as rows of sixteen bytes. A part of variable size fills the rest of its row, and the elements of a list have their
// own rows below a caption.
func (l *LayoutInfo) Cells() []Cell {
	d := drawing{rows: l.Rows, alt: map[Family]bool{}, room: 1<<17 + 24*l.Source}
	for i := 0; i < len(d.rows); {
		i = d.scope(i, d.rows[i].Depth)
	}
	if left := len(l.Rows) - d.drawn + l.More; left > 0 {
		d.caption(Cell{Row: -1, Caption: fmt.Sprintf("… %d more", left)})
	}
	return d.cells
}

type drawing struct {
	rows  []LayoutRow
	cells []Cell
	col   int // column of the next cell
	alt   map[Family]bool
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
		if r.Computed() {
			d.caption(Cell{Row: -1, Caption: fmt.Sprintf("%s · %s", r.Path, r.Note)})
			moved = true
			i++
			continue
		}
		note := r.Note
		if r.Tag != nil && d.isList(i) {
			note = anyOrder
		}
		if note != d.note {
			if d.note = note; note != "" {
				d.caption(Cell{Row: -1, Caption: note})
			}
		}
		switch {
		case r.Tag != nil && d.isList(i):
			i = d.tagged(i)
			moved = true
			continue
		case d.isList(i) && !variable(r) && !moved && d.elements(i):
			i = d.end(i)
			continue
		case d.isList(i):
			d.pointer(i)
			moved = true
			if r.Packed {
				d.caption(Cell{Row: i, Kind: CellPacked, Caption: fmt.Sprintf("%s · %s · decompressed", r.Path, at(r))})
				i = d.scope(i+1, r.Depth+1)
				d.col = 0
				continue
			}
			size := d.elementSize(i+1, r.Depth+1)
			d.caption(Cell{Row: i, Kind: CellList, Low: size, Caption: fmt.Sprintf("%s · %s · each element%s", r.Path, at(r), size)})
			i = d.scope(i+1, r.Depth+1)
			d.fill(Cell{Row: -1, Kind: CellNext, Top: "next element …"})
			continue
		case variable(r):
			d.pointer(i)
			d.caption(Cell{Row: i, Kind: CellAt, Caption: fmt.Sprintf("%s · %s", r.Path, at(r))})
			c := d.tinted(i)
			c.Width, c.Kind, c.Top, c.Low = Columns, CellBody, shortName(r.Path), fmt.Sprintf("%s, %s", r.Type, r.SizeWords())
			d.add(c)
			moved = true
			i++
			continue
		case moved:
			d.caption(Cell{Row: i, Kind: CellThen, Caption: "then, " + at(r)})
			moved = false
		}
		if r.MinBits%8 != 0 {
			i = d.bits(i)
			continue
		}
		d.fixed(i)
		i++
	}
	return i
}

// anyOrder is above the elements of tagged lists.
const anyOrder = "in any order, each with its tag"

// tagged draws an element that may be anywhere: a line with its tag, the size of its contents and these; what they consist of follows. It returns
// the row after it.
func (d *drawing) tagged(i int) int {
	list, end := d.rows[i], d.end(i)
	d.col = 0
	c := d.tinted(i + 1)
	c.Width, c.Kind, c.Top, c.Low = len(list.Tag), CellTag, hex.EncodeToString(list.Tag), "tag"
	d.add(c)
	k := i + 2
	if k < end && d.rows[k].Depth == list.Depth+1 && d.rows[k].Role != "value" {
		c = d.tinted(k)
		c.Width, c.Kind, c.Top, c.Low = 1, CellBody, d.rows[k].Role, d.rows[k].SizeWords()
		d.add(c)
		k++
	}
	d.drawn = k
	switch {
	case k+1 == end && !variable(d.rows[k]) && d.rows[k].MinBits%8 == 0:
		d.fixed(k)
		d.drawn = end
	case k+1 == end:
		c = d.tinted(k)
		c.Width, c.Kind, c.Top, c.Low = Columns-d.col, CellBody, shortName(list.Path), fmt.Sprintf("%s, %s", d.rows[k].Type, d.rows[k].SizeWords())
		d.add(c)
		d.drawn = end
	case k < end:
		c = d.tinted(i)
		c.Width, c.Kind, c.Top, c.Low = Columns-d.col, CellBody, shortName(list.Path), list.Type
		d.add(c)
		d.caption(Cell{Row: -1, Caption: list.Path + " · each"})
		d.scope(k, list.Depth+1)
		d.note = anyOrder
	}
	d.col = 0
	return end
}

// isList reports whether a row's elements are the rows after it.
func (d *drawing) isList(i int) bool { return i+1 < len(d.rows) && d.rows[i+1].Depth > d.rows[i].Depth }

func variable(r LayoutRow) bool { return r.Placed || r.MaxBits == nil || *r.MaxBits != r.MinBits }

// caption adds a line of text, which ends the row above.
func (d *drawing) caption(c Cell) {
	d.cells = append(d.cells, c)
	d.room -= len(c.Caption) + 40
	d.col = 0
}

func (d *drawing) add(c Cell) {
	d.cells = append(d.cells, c)
	d.room -= 200 + len(c.Top) + len(c.Low) + len(c.Title)
	d.col = (d.col + c.Width) % Columns
}

// fill adds a cell to the end of the row, if its text fits.
func (d *drawing) fill(c Cell) {
	if d.col > 0 && d.col <= Columns-3 {
		c.Width = Columns - d.col
		d.add(c)
	}
	d.col = 0
}

// pointer marks a part of variable size at the end of a row.
func (d *drawing) pointer(i int) {
	r := d.rows[i]
	d.fill(Cell{Row: i, Kind: CellPointer, Top: shortName(r.Path) + " …", Low: at(r), Title: title(r)})
}

// fixed draws a field of whole bytes across rows; of a long field only the first and the last row.
func (d *drawing) fixed(i int) {
	r := d.rows[i]
	c := d.tinted(i)
	c.Top, c.Low = label(r)
	d.run(c, r.MinBits/8)
}

// run adds a cell of a number of bytes, across rows.
func (d *drawing) run(c Cell, left int64) {
	for first := true; left > 0; first = false {
		if !first {
			c.Kind, c.Top, c.Low = CellMore, "… "+strings.TrimPrefix(c.Top, "… "), ""
		}
		if !first && left > wholeRows-Columns {
			skip := left - left%Columns
			if skip == left {
				skip -= Columns
			}
			if skip > Columns {
				cut := c
				cut.Width, cut.Kind, cut.Top = Columns, CellCut, fmt.Sprintf("… %d bytes", skip)
				d.add(cut)
				left -= skip
				continue
			}
		}
		c.Width = int(min(left, int64(Columns-d.col)))
		d.add(c)
		left -= int64(c.Width)
	}
}

// end returns the row after a list and its elements.
func (d *drawing) end(i int) int {
	depth := d.rows[i].Depth
	for i++; i < len(d.rows) && d.rows[i].Depth > depth; i++ {
	}
	return i
}

// elements draws a list of fixed size without a caption: all of its elements in full, or one cell if it has many single values. It reports
// whether it did.
func (d *drawing) elements(i int) bool {
	list, end := d.rows[i], d.end(i)
	size := int64(0) // of an element
	for _, r := range d.rows[i+1 : end] {
		if r.Depth != list.Depth+1 || variable(r) || r.MinBits == 0 || r.MinBits%8 != 0 || r.Role != "value" || r.Note != list.Note {
			return false
		}
		size += r.MinBits
	}
	if list.MinBits == 0 || list.MinBits%size != 0 {
		return false
	}
	d.drawn = end
	n, parts := list.MinBits/size, int64(end-i-1)
	if n*parts > maxElements && parts == 1 {
		d.fixed(i)
		return true
	}
	if n*parts > maxElements {
		return false
	}
	at := int64(0)
	for k := range n {
		for j := i + 1; j < end; j++ {
			r := d.rows[j]
			c := d.tinted(j)
			c.Path, c.Bit = strings.Replace(r.Path, list.Path+"[]", fmt.Sprintf("%s[%d]", list.Path, k), 1), at
			r.Path = c.Path
			c.Top, c.Low = label(r)
			d.run(c, r.MinBits/8)
			at += r.MinBits
		}
	}
	return true
}

// bits draws fields that share bytes as one cell, from row i to the row that ends at a whole byte.
func (d *drawing) bits(i int) int {
	c := d.tinted(i)
	c.Title = "" // of one of them
	total, first := int64(0), i
	var sizes []string
	for i < len(d.rows) && d.rows[i].Depth == d.rows[first].Depth && !variable(d.rows[i]) && !d.isList(i) {
		r := d.rows[i]
		top, _ := label(r)
		c.Bits, sizes = append(c.Bits, top), append(sizes, fmt.Sprint(r.MinBits))
		total += r.MinBits
		i++
		if total%8 == 0 {
			break
		}
	}
	c.Low = strings.Join(sizes, "+") + " bits"
	for left := (total + 7) / 8; left > 0; {
		c.Width = int(min(left, int64(Columns-d.col)))
		d.add(c)
		left -= int64(c.Width)
		if len(c.Bits) > 0 {
			c.Top = "… " + strings.Join(c.Bits, " · ")
		}
		c.Bits, c.Kind, c.Low = nil, CellMore, ""
	}
	return max(i, first+1)
}

// tinted is a cell of row i, in the next tint of its family.
func (d *drawing) tinted(i int) Cell {
	r := d.rows[i]
	alt := d.alt[r.Family]
	d.alt[r.Family] = !alt
	return Cell{Row: i, Alt: alt, Family: cmp.Or(r.Family, FamilyInt), Title: title(r)}
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
	return ", " + bytesText(bits/8)
}

// label is the name of a part in its scope, and its type or role.
func label(r LayoutRow) (top, low string) {
	switch {
	case r.Role == "value":
		return shortName(r.Path), r.Type
	case r.Path == r.Role:
		return r.Role, r.Type
	case strings.HasSuffix(r.Path, "[]"):
		return r.Role, r.Type
	}
	return shortName(r.Path), r.Role
}

// shortName is a path without the lists around it: "pos.x" of "members[].pos.x". An unnamed element has the name of its list.
func shortName(path string) string {
	if i := strings.LastIndex(path, "[]."); i >= 0 {
		path = path[i+3:]
	}
	if bare, ok := strings.CutSuffix(path, "[]"); ok {
		return shortName(bare) + "[]"
	}
	return path
}

func title(r LayoutRow) string {
	t := r.Path + ": " + r.Type
	if r.Role != "value" {
		t = r.Path + ", " + r.Role + ": " + r.Type
	}
	t += ", " + at(r) + ", " + r.SizeWords()
	if r.Note != "" {
		t += ", " + r.Note
	}
	if r.Doc != "" {
		t += "\n" + r.Doc
	}
	return t
}

// at is the offset of a part in words.
func at(r LayoutRow) string { return "at " + r.Offset }

// SizeWords is the size of the part in words.
func (r *LayoutRow) SizeWords() string {
	unit := " bytes"
	if r.MinBits%8 != 0 {
		unit = "" // SizeText includes it
	}
	switch {
	case r.MaxBits == nil && r.MinBits == 0:
		return "any size"
	case r.MaxBits == nil:
		return SizeText(r.MinBits) + unit + " or more"
	case *r.MaxBits != r.MinBits:
		return SizeText(r.MinBits) + " to " + SizeText(*r.MaxBits) + unit
	case r.MinBits == 8:
		return "1 byte"
	}
	return SizeText(r.MinBits) + unit
}

// maxTerms bounds the parts of variable size in a formula.
const maxTerms = 4

// Summary is the size of the message: a formula such as "12 bytes + 8 × members + name", or a range.
func (l *LayoutInfo) Summary() string {
	if l.MaxSize != nil && *l.MaxSize == l.MinSize {
		return bytesText(l.MinSize)
	}
	fixed, terms := int64(0), []string{}
	d := drawing{rows: l.Rows}
	for i, r := range l.Rows {
		switch {
		case r.Note != "":
			return l.sizeWords()
		case r.Depth > 0:
		case variable(r):
			term := r.Path
			if r.Role != "value" && r.Role != r.Path {
				term += "." + r.Role
			}
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
		return l.sizeWords()
	}
	return strings.Join(append([]string{bytesText(fixed / 8)}, terms...), " + ")
}

func (l *LayoutInfo) sizeWords() string {
	if l.MaxSize == nil {
		return bytesText(l.MinSize) + " or more"
	}
	return fmt.Sprintf("%d to %d bytes", l.MinSize, *l.MaxSize)
}

func bytesText(n int64) string { return fmt.Sprintf("%d %s", n, bytesWord(int(n))) }

// SizeText is a number of bits in bytes, or in bits if it is not whole bytes.
func SizeText(bits int64) string {
	if bits%8 != 0 {
		return strconv.FormatInt(bits, 10) + " bit"
	}
	return strconv.FormatInt(bits/8, 10)
}
