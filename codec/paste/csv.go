package paste

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Comma-separated values, also with semicolons, tabs or bars between the cells (RFC 4180 for quotes).

// tryCSV recognises a table by rows of the same number of cells, at least two.
func tryCSV(t *pasted) (*builder, *Error) {
	sep := csvSeparator(t)
	if sep == 0 {
		return nil, nil
	}
	c := newCSVTable(t, sep)
	if !c.header && c.literals() {
		return nil, nil
	}
	b, e := c.read()
	if e != nil {
		e.strength = weak
		if c.header && rankedColumn(c.list) {
			e.strength = likely
		}
	}
	return b, e
}

// literals reports whether the cells of the first row are literals of bytes: then it is a list.
func (c *csvTable) literals() bool {
	_, e := c.record(len(c.t.s) - len(strings.TrimLeft(c.t.s, "\r\n \t")))
	n := 0
	for _, cell := range c.row.cells {
		if x, ok := readElement(&pasted{cell.text + ","}, 0); ok && x.isByte() {
			n++
		}
	}
	return e == nil && n >= 3 && n >= len(c.row.cells)-2
}

// tryCSVHeader is tryCSV for tables whose header names a column of bytes: those are tables even if quotes look like code.
func tryCSVHeader(t *pasted) (*builder, *Error) {
	if sep := csvSeparator(t); sep != 0 {
		if c := newCSVTable(t, sep); c.header && rankedColumn(c.list) && len(c.list) > 1 {
			return tryCSV(t)
		}
	}
	return nil, nil
}

// rankedColumn reports whether a header names a column of bytes.
func rankedColumn(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return rankName(n, byteNames) >= 0 })
}

// readCSV reads the form "csv".
func readCSV(t *pasted) (*builder, *Error) {
	return newCSVTable(t, cmp.Or(csvSeparator(t), ',')).read()
}

// csvSeparator returns the character that splits the first rows into the same number of cells, at least two; 0 if there is none.
func csvSeparator(t *pasted) byte {
	var best byte
	most := 1
	for _, sep := range []byte{',', ';', '\t', '|'} {
		count, same := 0, true
		c := csvTable{t: t, sep: sep}
		for i, rows := 0, 0; i < len(t.s) && rows < 20 && same; {
			next, e := c.record(i)
			if e != nil {
				break
			}
			if n := len(c.row.cells); n > 0 {
				same = rows == 0 || n == count
				count = n
				rows++
			}
			i = next
		}
		if same && count > most && count <= maxColumns {
			best, most = sep, count
		}
	}
	return best
}

type csvTable struct {
	t      *pasted
	sep    byte
	header bool
	list   []string
	row    row
}

// newCSVTable takes the first row as a header if it names a column of bytes, or has no digit while a later row has.
func newCSVTable(t *pasted, sep byte) *csvTable {
	c := &csvTable{t: t, sep: sep}
	for i := 0; i < len(t.s) && len(c.row.cells) == 0; {
		next, e := c.record(i)
		if e != nil {
			return c
		}
		i = next
	}
	digits := false
	var names []string
	for _, cell := range c.row.cells {
		names = append(names, strings.TrimSpace(cell.text))
		digits = digits || strings.ContainsAny(cell.text, "0123456789")
	}
	if c.header = rankedColumn(names) || !digits; c.header {
		c.list = names
	}
	return c
}

func (c *csvTable) names() []string { return c.list }

func (c *csvTable) read() (*builder, *Error) {
	b, e := readTable(c.t, c, formCSV)
	if e == nil {
		b.why = fmt.Sprintf("cells separated by %q, ", c.sep) + b.why
	}
	return b, e
}

func (c *csvTable) walk(visit func(r *row) *Error) *Error {
	header := c.header
	for i := 0; i < len(c.t.s); {
		next, e := c.record(i)
		if e != nil {
			return e
		}
		i = next
		for n := len(c.list); n < len(c.row.cells); n++ {
			c.list = append(c.list, fmt.Sprintf("column %d", n+1))
		}
		if len(c.row.cells) > 0 && !header {
			if e := visit(&c.row); e != nil {
				return e
			}
		}
		header = header && len(c.row.cells) == 0
	}
	return nil
}

// record reads the row at i into c.row, which has no cells if the line is blank, and returns the start of the next one.
func (c *csvTable) record(i int) (next int, _ *Error) {
	s := c.t.s
	c.row.cells, c.row.off = c.row.cells[:0], i
	for column := 0; ; column++ {
		for i < len(s) && (s[i] == ' ' || s[i] == '\t' && c.sep != '\t') {
			i++
		}
		start, quoted := i, i < len(s) && s[i] == '"'
		text := ""
		if quoted {
			end, ok := quotedCell(s, i)
			if !ok {
				return len(s), errAt(i, "this quoted cell has no end")
			}
			text = strings.ReplaceAll(s[i+1:end-1], `""`, `"`)
			start, i = i+1, end
		}
		for ; i < len(s) && s[i] != c.sep && s[i] != '\n'; i++ {
			if quoted && !isBlank(s[i]) {
				return len(s), errFound(c.t, i, "the end of the cell")
			}
		}
		if !quoted {
			text = strings.TrimRight(s[start:i], " \r")
		}
		if column < maxColumns {
			c.row.cells = append(c.row.cells, cell{column, cellText, text, start})
		}
		if i >= len(s) || s[i] == '\n' {
			if column == 0 && text == "" {
				c.row.cells = c.row.cells[:0]
			}
			return min(i+1, len(s)), nil
		}
		i++
	}
}

// quotedCell returns the end of the quoted cell at i. A doubled quote is an escaped one.
func quotedCell(s string, i int) (end int, ok bool) {
	for k := i + 1; k < len(s); k++ {
		if s[k] == '"' {
			if k++; k == len(s) || s[k] != '"' {
				return k, true
			}
		}
	}
	return len(s), false
}
