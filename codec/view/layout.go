package view

import (
	"encoding/binary"
	"strings"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// LayoutInfo is the byte layout of a message in the API.
type LayoutInfo struct {
	Message string      `json:"message"`
	Version int         `json:"version,omitempty"`
	MinSize int64       `json:"min_size" doc:"bytes"`
	MaxSize *int64      `json:"max_size" doc:"bytes; null if unlimited"`
	Rows    []LayoutRow `json:"rows"`
	More    int         `json:"more,omitempty" doc:"rows omitted at the end, because all rows would be far longer than the definition"`
	Source  int         `json:"-"` // approximate bytes of the definition
}

// LayoutRow is one part of a message.
type LayoutRow struct {
	Path      string `json:"path"`
	Depth     int    `json:"depth" doc:"number of lists and compressed groups around it"`
	Type      string `json:"type"`
	Role      string `json:"role"`
	Offset    string `json:"offset" doc:"in bytes, exact after variable parts: \"18 + name\", \"element + 4\"; \"18 + 40 parts before\" where that would be long: request the field alone. Empty for a number that is computed, and not sent"`
	BitOffset *int64 `json:"bit_offset" doc:"null where it depends on data"`
	MinBits   int64  `json:"min_bits"`
	MaxBits   *int64 `json:"max_bits" doc:"null if unlimited"`
	Line      int    `json:"line,omitempty"`
	Note      string `json:"note,omitempty"`
	Doc       string `json:"doc,omitempty"`
	Family    Family `json:"-"`

	// Parts of Offset: bits from the start of the message, of the element, or of decompressed contents, and the variable parts before: " + name".
	InElement bool   `json:"-"`
	InPacked  bool   `json:"-"`
	Placed    bool   `json:"-"` // the offset is in contents at a computed position
	AtBits    int64  `json:"-"`
	After     string `json:"-"`
	Tag       []byte `json:"-"` // a list whose elements are anywhere, each with this tag
	Packed    bool   `json:"-"` // compressed bytes: the rows inside are those of their contents
}

// Layout describes the layout of a program's message.
func Layout(p *codec.Program) LayoutInfo {
	least, most := p.Size()
	out := LayoutInfo{
		Message: p.Message.Name, Version: p.Message.Version, MinSize: least, MaxSize: limited(most), Rows: []LayoutRow{}, Source: p.Wire().Source(),
	}
	rows := p.Layout()
	room := out.budget()
	for i := range rows {
		row := layoutRow(p, &rows[i])
		if room -= row.size(); room < 0 {
			out.More = len(rows) - i
			break
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// FieldLayout returns the layout of one field, by its path. Its offsets and its path are written in full, however long they are.
func FieldLayout(p *codec.Program, path string) LayoutInfo {
	out := Layout(p)
	out.Rows, out.More = []LayoutRow{}, 0
	w := p.Wire()
	for _, r := range p.Layout() {
		if r.Field == codec.NoField || path != r.Path && path != w.FullPath(int(r.Field)) {
			continue
		}
		row := layoutRow(p, &r)
		if row.Path = w.FullPath(int(r.Field)); !row.Computed() {
			row.Offset = w.FullAtText(r.At)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// Computed reports whether the row is a number that is computed, and not sent: it has no offset.
func (r *LayoutRow) Computed() bool { return r.Offset == "" }

func layoutRow(p *codec.Program, r *codec.Row) LayoutRow {
	row := LayoutRow{
		Path: r.Path, Depth: r.Depth, Type: r.Type, Role: r.Role.String(), Offset: r.Offset,
		MinBits: r.MinBits, MaxBits: limited(r.MaxBits), Line: p.Line(r.Field), Note: r.Note,
		Family: FamilyOf(p, r.Field, r.Role), InElement: r.At.Elem, InPacked: r.At.Packed, Placed: r.At.Placed != nil, AtBits: r.At.Bits,
		After: strings.TrimPrefix(r.Offset, r.At.Text()), Packed: r.Packed,
	}
	if r.At.Fixed() && r.Offset != "" {
		bits := r.At.Bits // a pointer into r would keep all rows of the program
		row.BitOffset = &bits
	}
	if r.Field != codec.NoField && r.Role == codec.RoleValue {
		row.Doc = p.Fields[r.Field].Doc
		if l, ok := p.Fields[r.Field].Schema.Type.(*schema.List); ok && l.Size == schema.Scattered && !l.Other {
			row.Tag = binary.AppendUvarint(nil, uint64(l.Tag))
		}
	}
	return row
}

// limited returns a size, or nil if it is unlimited.
func limited(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// budget returns the maximum bytes of output about a message: shared structs may produce any number of rows from a short definition.
func (l *LayoutInfo) budget() int { return 1<<16 + 48*l.Source }

// size returns the approximate bytes of a row as JSON.
func (r *LayoutRow) size() int {
	return 150 + len(r.Path) + len(r.Type) + len(r.Offset) + len(r.Note) + len(r.Doc)
}
