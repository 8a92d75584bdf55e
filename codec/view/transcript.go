package view

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/source"
)

// Transcript formats a decoded message for a terminal: its bytes on the left, their fields on the right, and its problems below.
//
//	offset  bytes                    text      field                  type    value
//	0x0000  26 00                    &.        [length]               uint16  38
//	0x0010  e9 03 00 00              ....      members[0].player_id   uint32  1001
//
// Bookkeeping is in brackets. Control characters of the message are escaped.
func Transcript(r *codec.Record) string {
	var b strings.Builder
	m := r.Program.Message
	title := m.Name
	if title == "" {
		title = "?" // a frame without a definition
	}
	if m.Version > 0 {
		title += fmt.Sprintf(".%d", m.Version)
	}
	fmt.Fprintf(&b, "%s", title)
	if r.HasCode() {
		fmt.Fprintf(&b, "  code %d (0x%04X)", r.Code, r.Code)
	}
	fmt.Fprintf(&b, "  %d %s  %s\n", r.Used, bytesWord(r.Used), r.Status())
	fields := Fields(r)
	if rest, ok := Rest(r); ok {
		fields = append(fields, rest)
	}
	rows := make([]transcriptRow, len(fields))
	width := [3]int{len("field"), len("type"), 0}
	for i, f := range fields {
		rows[i] = transcriptRow{name: f.name(), typ: f.Type, value: f.Text}
		width[0] = max(width[0], utf8.RuneCountInString(rows[i].name))
		width[1] = max(width[1], len(f.Type))
	}
	width[0], width[1] = min(width[0], 48), min(width[1], 20)
	if len(fields) > 0 {
		fmt.Fprintf(&b, "%-6s  %-23s  %-8s  %-*s  %-*s  %s\n", "offset", "bytes", "text", width[0], "field", width[1], "type", "value")
	}
	for i, f := range fields {
		writeRow(&b, r.Data, f, rows[i], width)
	}
	for _, p := range Problems(r) {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func bytesWord(n int) string {
	if n == 1 {
		return "byte"
	}
	return "bytes"
}

type transcriptRow struct{ name, typ, value string }

// name returns the path of a field, in brackets if the codec manages the number itself.
func (f FieldValue) name() string {
	switch f.Role {
	case "value":
		return f.Path
	case "gap":
		return "(gap)"
	case f.Path:
		return "[" + f.Path + "]"
	}
	return "[" + f.Path + " " + f.Role + "]"
}

// writeRow writes one field: eight bytes per line, long fields shortened in the middle.
func writeRow(b *strings.Builder, message []byte, f FieldValue, row transcriptRow, width [3]int) {
	const perLine, most = 8, 64
	at := f.data
	data := message[at.Off/8 : (at.End()+7)/8]
	mark, sign, from := "", "0x", at.Off/8
	switch {
	case f.Inner != nil: // bytes of the contents, at their place there
		sign, from = " +", *f.Inner/8
	case f.Overlap:
		mark = "  (shared bytes)"
	}
	bits := ""
	if at.Off%8 != 0 || at.Len%8 != 0 {
		bits = fmt.Sprintf("  bits %d to %d", at.Off%8, at.Off%8+at.Len-1)
	}
	for i := 0; i < len(data) || i == 0; i += perLine {
		if i == perLine && len(data) > most {
			fmt.Fprintf(b, "%-6s  ... %d more bytes\n", "", len(data)-2*perLine)
			i = (len(data) - perLine) / perLine * perLine
		}
		chunk := data[i:min(i+perLine, len(data))]
		line := fmt.Sprintf("%s%04X  %-23s  %-8s", sign, int(from)+i, spacedHex(chunk), printableASCII(chunk))
		if i == 0 {
			line += fmt.Sprintf("  %-*s  %-*s  %s%s%s", width[0], row.name, width[1], row.typ, source.Visible(row.value), bits, mark)
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
}

func spacedHex(p []byte) string {
	out := make([]byte, 0, 3*len(p))
	for i := range p {
		if i > 0 {
			out = append(out, ' ')
		}
		out = hex.AppendEncode(out, p[i:i+1])
	}
	return string(out)
}

func printableASCII(p []byte) string {
	out := make([]byte, len(p))
	for i, c := range p {
		if out[i] = '.'; c >= 0x20 && c < 0x7f {
			out[i] = c
		}
	}
	return string(out)
}

// leafText formats the value of a leaf for display: offsets in hex, codes in hex too, and that of a number which is shown by name with the
// number. text is its value as JSON.
func leafText(r *codec.Record, l codec.Leaf, text string) string {
	it := r.Item(l)
	number := strings.Trim(text, `"`) // 64 bits are a string in JSON
	switch l.Role {
	case codec.RolePad, codec.RoleConst:
		return ""
	case codec.RoleOffset, codec.RoleHere, codec.RoleNext:
		if n, err := strconv.ParseUint(number, 10, 64); err == nil {
			return fmt.Sprintf("0x%X", n)
		}
	case codec.RoleCode:
		if n, err := strconv.ParseUint(number, 10, 64); err == nil {
			return fmt.Sprintf("%d (0x%04X)", n, n)
		}
	case codec.RoleTag:
		if n, err := strconv.ParseUint(number, 10, 64); err == nil {
			return fmt.Sprintf("%d (field %d)", n, n>>3)
		}
	case codec.RoleValue:
		if it != nil && it.Form == codec.FormNamed && it.High(r.Data, l.Range()) == 0 {
			switch n := it.Num; {
			case n.Absent && l.Raw == 0:
				return "none"
			case n.Enum != nil && n.Enum.NameOfBits(l.Raw) != "":
				return n.Decimal(l.Raw) + " (" + n.Enum.NameOfBits(l.Raw) + ")"
			}
		}
	default:
		if _, err := strconv.ParseUint(number, 10, 64); err == nil {
			return number
		}
	}
	return string(value.AppendShown(nil, r, l))
}

// String returns the problem on one line.
func (p ProblemInfo) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", p.Severity, p.Message)
	sep := " ("
	if p.Path != "" {
		b.WriteString(sep + p.Path)
		sep = ", "
	}
	if p.BitLength > 0 || p.BitOffset > 0 {
		fmt.Fprintf(&b, "%sat 0x%04X", sep, p.BitOffset/8)
		sep = ", "
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%sline %d", sep, p.Line)
		sep = ", "
	}
	if sep == ", " {
		b.WriteByte(')')
	}
	fmt.Fprintf(&b, " [%s]", p.Code)
	return b.String()
}
