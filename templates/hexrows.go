package templates

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// window returns the range of n items that is drawn: a page of size items from first on.
func window(first, n, size int) (from, to int) {
	if first >= n {
		first = 0
	}
	return first, min(first+size, n)
}

// dump is the bytes of a message from its FirstByte on, sixteen per line with offset and characters.
func dump(m *Message) string {
	from, to := window(m.FirstByte, len(m.Data), pageBytes)
	var b strings.Builder
	for at := from; at < to; at += 16 {
		row := m.Data[at:min(at+16, to)]
		fmt.Fprintf(&b, "%04x ", at)
		for _, c := range row {
			b.WriteString(" " + hex.EncodeToString([]byte{c}))
		}
		b.WriteString(strings.Repeat("   ", 16-len(row)) + "  ")
		for _, c := range row {
			b.WriteString(printable(c))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// fieldsText lists the fields of a message with their offsets, one per line.
func fieldsText(m *Message) string {
	var b strings.Builder
	for i, f := range m.Fields {
		if i == pageRows {
			fmt.Fprintf(&b, "%s more; POST /api/…/decode returns all\n", count(len(m.Fields)-i, "field"))
			break
		}
		name, text := f.Path, f.Text
		switch f.Role {
		case "value":
		case "gap":
			name, text = "(unexplained)", "no definition explains these bytes"
		case f.Path:
			name = "[" + f.Role + "]"
		default:
			name = "[" + f.Path + " " + f.Role + "]"
		}
		fmt.Fprintf(&b, "%04x  %-32s  %-12s  %s\n", f.BitOffset/8, name, f.Type, text)
	}
	return b.String()
}

// printable is the ASCII character of a byte, or a dot.
func printable(b byte) string {
	if b > 0x20 && b < 0x7f {
		return string(rune(b))
	}
	return "·"
}
