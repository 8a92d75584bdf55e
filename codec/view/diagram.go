package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text returns the layout as a table.
//
//	C_EXAMPLE.1  14 bytes or more
//	offset         size  field      type    role
//	0              2     length     uint16  length
func (l LayoutInfo) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", l.title())
	rows := [][]string{{"offset", "size", "field", "type", "role", "line"}}
	for _, r := range l.Rows {
		line, path := "", r.Path
		if r.Line > 0 {
			line = fmt.Sprint(r.Line)
		}
		if r.Note != "" {
			line += "  " + r.Note
		}
		rows = append(rows, []string{r.Offset, r.sizeText(), path, r.Type, r.Role, line})
	}
	table(&b, rows, l.budget())
	b.WriteString(l.more())
	return b.String()
}

// more returns a note about omitted rows.
func (l LayoutInfo) more() string {
	if l.More == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more rows\n", l.More)
}

func (l LayoutInfo) title() string {
	name := l.Message
	if l.Version > 0 {
		name += fmt.Sprintf(".%d", l.Version)
	}
	switch {
	case l.MaxSize == nil:
		return fmt.Sprintf("%s  %d bytes or more", name, l.MinSize)
	case *l.MaxSize == l.MinSize:
		return fmt.Sprintf("%s  %d bytes", name, l.MinSize)
	}
	return fmt.Sprintf("%s  %d to %d bytes", name, l.MinSize, *l.MaxSize)
}

// sizeText returns the size of a part in bytes, or in bits if it is not a whole number of bytes.
func (r LayoutRow) sizeText() string {
	one := func(bits int64) string {
		if bits%8 != 0 {
			return fmt.Sprintf("%d bits", bits)
		}
		return fmt.Sprint(bits / 8)
	}
	switch {
	case r.MaxBits == nil:
		return one(r.MinBits) + "+"
	case *r.MaxBits != r.MinBits:
		return one(r.MinBits) + ".." + one(*r.MaxBits)
	}
	return one(r.MinBits)
}

// table writes rows in columns, without trailing blanks. Columns are narrower than their longest cell if the padding would exceed room.
func table(b *strings.Builder, rows [][]string, room int) {
	var width []int
	total := 0
	for _, r := range rows {
		for i, c := range r {
			if i >= len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for i := range width {
		total += width[i] * len(rows)
	}
	if total > room {
		for i := range width {
			width[i] = min(width[i], 40)
		}
	}
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			line.WriteString(c)
			line.WriteString(strings.Repeat(" ", max(width[i]-utf8.RuneCountInString(c), 0)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
}

// Diagram draws the layout as rows of sixteen bytes, with separate rows for a list's element.
//
//	  0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f
//	+-------+-------+-------+-------+
//	|length |code   |members|password|
//	|uint16 |uint16 |count  |uint16 |
//	+-------+-------+-------+-------+
func (l LayoutInfo) Diagram() string {
	var b strings.Builder
	b.WriteString(l.title() + "\n")
	b.WriteString("  0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f\n")
	for i := 0; i < len(l.Rows); {
		i = l.scope(&b, i, l.Rows[i].Depth)
	}
	b.WriteString(l.more())
	return b.String()
}

// longCell is the number of bits from which a cell of a long diagram is written as a line of text.
const longCell = 64 * 8

// cell is a box of a diagram, with its range of bits in the drawn bytes.
type cell struct {
	from, to int64
	top, low string
}

// scope draws the rows of one scope from i on, followed by the lists inside it. It returns the first row not drawn.
func (l LayoutInfo) scope(b *strings.Builder, i, depth int) int {
	var cells []cell
	var at int64
	flush := func() {
		boxes(b, cells)
		cells, at = nil, 0
	}
	for i < len(l.Rows) && l.Rows[i].Depth >= depth {
		r := l.Rows[i]
		long := r.MinBits > longCell && int64(b.Len())+(at+r.MinBits)/128*4*65 > int64(l.budget()) // rows of 16 bytes
		if r.Computed() {
			flush()
			fmt.Fprintf(b, "%s %s: %s\n", strings.Repeat("  ", r.Depth)+"~", r.Path, r.variableText())
			i++
			continue
		}
		if r.Placed || r.MaxBits == nil || *r.MaxBits != r.MinBits || r.Depth > depth || long {
			flush()
			fmt.Fprintf(b, "%s %s: %s\n", strings.Repeat("  ", r.Depth)+"~", r.Path, r.variableText())
			i++
			if i < len(l.Rows) && l.Rows[i].Depth > r.Depth {
				what := "each element"
				if r.Packed {
					what = "decompressed"
				}
				fmt.Fprintf(b, "%s %s:\n", strings.Repeat("  ", r.Depth+1), what)
				i = l.scope(b, i, r.Depth+1)
			}
			continue
		}
		name, low := r.Path, r.Type
		if k := strings.LastIndexAny(name, "]"); k >= 0 && k+2 <= len(name) {
			name = name[k+2:]
		}
		if r.Role != "value" {
			if low = r.Role; r.Path == r.Role {
				low = r.Type
			} else if r.Role == "here" || r.Role == "next" {
				name, low = r.Role, r.Type
			}
		}
		cells = append(cells, cell{at, at + r.MinBits, name, low})
		at += r.MinBits
		i++
	}
	flush()
	return i
}

func (r LayoutRow) variableText() string {
	if r.Computed() {
		return r.Type + ", " + r.Note
	}
	text := fmt.Sprintf("%s from byte %s, %s bytes", r.Type, r.Offset, r.sizeText())
	if strings.HasPrefix(r.Offset, "element") || r.Placed {
		text = fmt.Sprintf("%s from %s, %s bytes", r.Type, r.Offset, r.sizeText())
	}
	if r.Note != "" {
		text += ", " + r.Note
	}
	return text
}

// boxes draws cells, sixteen bytes per row, four characters per byte.
func boxes(b *strings.Builder, cells []cell) {
	const rowBits, charsPerByte = 128, 4
	if len(cells) == 0 {
		return
	}
	end := cells[len(cells)-1].to
	col := func(bit int64) int { return int(bit * charsPerByte / 8) }
	// within returns the cells in a row, and those that touch it.
	within := func(row int64) []cell {
		first, _ := slices.BinarySearchFunc(cells, row, func(c cell, at int64) int { return cmp.Compare(c.to, at) })
		last, _ := slices.BinarySearchFunc(cells, row+rowBits+1, func(c cell, at int64) int { return cmp.Compare(c.from, at) })
		return cells[first:max(first, last)]
	}
	// rule returns the line above a row, which spans the cells above and below it.
	rule := func(row int64) string {
		width := 0
		if row < end {
			width = col(min(end-row, rowBits))
		}
		if row > 0 {
			width = max(width, col(min(end-(row-rowBits), rowBits)))
		}
		line := []byte(strings.Repeat("-", width+1))
		for _, start := range []int64{row, row - rowBits} {
			if start < 0 {
				continue
			}
			for _, c := range within(start) {
				for _, edge := range []int64{c.from, c.to} {
					if edge >= start && edge <= start+rowBits {
						line[min(col(edge-start), width)] = '+'
					}
				}
			}
		}
		line[0] = '+'
		return string(line)
	}
	text := func(row int64, pick func(cell) string) string {
		line := []rune(strings.Repeat(" ", col(min(end-row, rowBits))+1))
		for _, c := range within(row) {
			if c.to <= row || c.from >= row+rowBits {
				continue
			}
			lo, hi := col(max(c.from-row, 0)), col(min(c.to-row, rowBits))
			line[lo], line[hi] = '|', '|'
			label := pick(c)
			if c.from < row {
				label = "..."
			}
			copy(line[min(lo+1, hi):hi], []rune(shorten(label, hi-lo-1)))
		}
		return strings.TrimRight(string(line), " ")
	}
	row := int64(0)
	for ; row < end; row += rowBits {
		b.WriteString(rule(row) + "\n")
		b.WriteString(text(row, func(c cell) string { return c.top }) + "\n")
		b.WriteString(text(row, func(c cell) string { return c.low }) + "\n")
	}
	b.WriteString(rule(row) + "\n")
}

// shorten truncates a label to the width of its box.
func shorten(s string, room int) string {
	r := []rune(s)
	if len(r) <= room {
		return s
	}
	if room <= 1 {
		return string(r[:max(room, 0)])
	}
	return string(r[:room-1]) + "~"
}
