package emit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A diagram has 32 bits per row and two characters per bit, as in RFCs.
const (
	rowBits  = 32
	rowChars = 2*rowBits + 1
)

// box is a part of a diagram: bits from..to relative to its run of fixed parts.
type box struct {
	from, to int
	name     string
}

// drawRows draws parts: parts of fixed size as boxes, others across the whole width, and at the end the elements of lists.
func drawRows(b *strings.Builder, rows []mdRow) {
	b.WriteString(" 0                   1                   2                   3\n")
	b.WriteString(" " + strings.Repeat("0 1 2 3 4 5 6 7 8 9 ", 3) + "0 1\n")
	drawScope(b, rows)
}

func drawScope(b *strings.Builder, rows []mdRow) {
	rule := strings.Repeat("+-", rowBits) + "+\n"
	var boxes []box
	at := 0
	last := "" // pending rule below the last row, as the next row may need a wider one
	flush := func() {
		if len(boxes) == 0 {
			return
		}
		last = drawBoxes(b, boxes, last)
		boxes, at = nil, 0
	}
	when := ""
	for _, r := range rows {
		if r.alt {
			continue
		}
		if r.when != when {
			flush()
			b.WriteString(last)
			last = ""
			if when = r.when; when != "" {
				fmt.Fprintf(b, "  %s:\n", when)
			} else {
				b.WriteString("  always:\n")
			}
		}
		if !r.placed && r.bits >= 0 && r.bits <= 4*rowBits {
			if r.bits > 0 {
				boxes = append(boxes, box{at, at + r.bits, r.name})
				at += r.bits
			}
			continue
		}
		flush()
		text := r.name
		switch {
		case r.placed:
			text += " (at its position)"
		case r.bits >= 0:
			text += " (" + bitsText(r.bits) + " bytes)"
		case r.moved:
			text += " (at its offset)"
		case r.packed:
			text += " (compressed)"
		case len(r.elem) > 0:
			text += " (elements)"
		}
		b.WriteString(rule + "/" + center(text, rowChars-2) + "/\n")
		b.WriteString("/" + strings.Repeat(" ", rowChars-2) + "/\n")
		last = rule
	}
	flush()
	b.WriteString(last)
	for _, r := range rows {
		if len(r.elem) > 0 && !r.alt {
			what := "each element"
			if r.packed {
				what = "decompressed contents"
			}
			fmt.Fprintf(b, "\n  %s of %s:\n", what, r.path)
			drawScope(b, r.elem)
		}
	}
}

// drawBoxes draws adjacent parts, below an existing rule if there is one. It returns the rule that belongs below them.
func drawBoxes(b *strings.Builder, boxes []box, above string) (below string) {
	end := boxes[len(boxes)-1].to
	// edge returns the rule above a row, as wide as the rows above and below it, with a gap inside a box that spans both rows.
	edge := func(row int) string {
		width := 0
		if row < end {
			width = min(end-row, rowBits)
		}
		if row > 0 {
			width = max(width, min(end-(row-rowBits), rowBits))
		}
		line := []byte(strings.Repeat("+-", width) + "+")
		for _, x := range boxes {
			lo, hi := max(x.from, row-rowBits)-(row-rowBits), min(x.to, row+rowBits)-row
			if x.from < row && x.to > row { // the box spans both rows
				for c := 2*max(lo, 0) + 1; c < 2*min(hi, rowBits); c++ {
					line[c] = ' '
				}
				if lo < hi {
					line[2*lo] = "+|"[btoi(lo == 0)]
					line[2*hi] = "+|"[btoi(hi == rowBits)]
				}
			}
		}
		return string(line) + "\n"
	}
	for row := 0; row < end; row += rowBits {
		if rule := edge(row); row > 0 || len(rule) > len(above) {
			b.WriteString(rule)
		} else {
			b.WriteString(above)
		}
		line := []rune(strings.Repeat(" ", 2*min(end-row, rowBits)+1))
		for _, x := range boxes {
			lo, hi := max(x.from, row), min(x.to, row+rowBits)
			if lo >= hi {
				continue
			}
			l, h := 2*(lo-row), 2*(hi-row)
			line[l], line[h] = '|', '|'
			if inRow(x, row) {
				copy(line[l+1:h], []rune(center(x.name, h-l-1)))
			}
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return edge((end + rowBits - 1) / rowBits * rowBits)
}

func btoi(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

// inRow reports whether the name of a box is in a row: the row with the largest part of the box, the first of equal ones.
func inRow(x box, row int) bool {
	best, most := 0, -1
	for r := x.from / rowBits * rowBits; r < x.to; r += rowBits {
		if n := min(x.to, r+rowBits) - max(x.from, r); n > most {
			best, most = r, n
		}
	}
	return best == row
}

// center centers text in a width; longer text is truncated and ends with "~".
func center(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n > width {
		r := []rune(s)
		if width <= 3 {
			return string(r[:max(width, 0)])
		}
		return string(r[:width-1]) + "~"
	}
	left := (width - n) / 2
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", width-n-left)
}
