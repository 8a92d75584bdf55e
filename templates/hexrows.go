package templates

import (
	"encoding/hex"
	"fmt"
)

// hexRow is sixteen bytes of a message, or fewer at its end.
type hexRow struct {
	Offset string
	Cells  []hexCell
}

type hexCell struct{ Hex, Char, Range, Class string }

// window is the first and the last of n things that are drawn, a page of the given size from first on.
func window(first, n, size int) (from, to int) {
	if first >= n {
		first = 0
	}
	return first, min(first+size, n)
}

// hexRows draws the bytes of a message from its FirstByte on, each in the colour of the first field that explains it.
func hexRows(m *Message) []hexRow {
	from, to := window(m.FirstByte, len(m.Data), pageBytes)
	class := make([]string, len(m.Data))
	for i, t := range tints(m.Fields) {
		f := m.Fields[i]
		for b := f.BitOffset / 8; b < (f.BitOffset+f.BitLength+7)/8 && int(b) < to; b++ {
			if class[b] == "" {
				class[b] = t
			}
		}
	}
	if m.Edited && m.Was != nil {
		for _, c := range Changes(m.Was, m.Data) {
			for i := c[0]; i < c[1]; i++ {
				class[i] += " changed"
			}
		}
	}
	var rows []hexRow
	for at := from; at < to; at += 16 {
		row := hexRow{Offset: fmt.Sprintf("%04x", at)}
		for i := at; i < min(at+16, to); i++ {
			row.Cells = append(row.Cells, hexCell{hex.EncodeToString(m.Data[i : i+1]), printable(m.Data[i]), fmt.Sprintf("%d:8", i*8), class[i]})
		}
		rows = append(rows, row)
	}
	return rows
}

// printable is the ASCII character of a byte, or a dot.
func printable(b byte) string {
	if b > 0x20 && b < 0x7f {
		return string(rune(b))
	}
	return "·"
}
