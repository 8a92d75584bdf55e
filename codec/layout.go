package codec

import (
	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Row is one part of a message layout.
type Row struct {
	Field   uint16 // index into Program.Fields; 0xffff for bookkeeping that belongs to no field
	Role    Role
	Depth   int    // number of lists around it
	Path    string // members[].player_id; frame bookkeeping is named after its role. May be abbreviated: see wire.Message.Path
	Type    string // as in the definition, or the width of bookkeeping
	At      wire.At
	Offset  string // in bytes, for display: "18 + name", "element + 4"
	MinBits int64
	MaxBits int64  // -1 = no limit
	Note    string // its condition, and rules of its encoding: "if present", "in messages of 22 bytes", "bytes: width * height"
}

// Layout returns the positions of all parts, without data, in the order in which Encode writes them.
func (p *Program) Layout() []Row {
	rows := p.wire.Layout()
	out := make([]Row, len(rows))
	for i := range rows {
		out[i] = p.row(&rows[i])
	}
	return out
}

func (p *Program) row(r *wire.Row) Row {
	out := Row{
		Field: index(r.Field), Role: roles[r.Kind], Depth: r.Depth, At: r.At, Offset: p.wire.AtText(r.At),
		MinBits: r.Min.Bits, MaxBits: r.Max, Note: p.wire.Note(r),
	}
	switch {
	case r.Field != wire.None:
		out.Path = p.wire.Path(r.Field)
	case r.List != wire.None: // here and next belong to the element
		out.Path = p.wire.Label(r.List) + "[]"
	default:
		out.Path = out.Role.String()
	}
	if out.Role == RoleValue {
		out.Type = p.Fields[out.Field].Type
	} else if n, ok := r.Item.Type.(*schema.Number); ok {
		out.Type = n.Name()
	} else {
		out.Type = bookType(out.Role, uint32(r.Item.Bits), r.Item.Order)
	}
	return out
}

// Size returns the minimum and maximum size of a message in bytes; most is -1 if it is unlimited.
func (p *Program) Size() (least, most int64) { return p.wire.Body.Bytes() }

// SameLayout reports whether two programs assign the same bytes to the same types: their definitions may differ only in names and comments.
func SameLayout(a, b *Program) bool {
	rows, others := a.wire.Layout(), b.wire.Layout()
	if len(rows) != len(others) || a.Message.HasKey != b.Message.HasKey || a.Message.Key.Code != b.Message.Key.Code {
		return false
	}
	for i := range rows {
		r, o := &rows[i], &others[i]
		if (r.Item == nil) != (o.Item == nil) || r.Item != nil && !sameItem(r.Item, o.Item) || r.Field != o.Field || r.Kind != o.Kind || r.Depth != o.Depth || r.Min.Bits != o.Min.Bits || r.Max != o.Max || !r.At.Same(o.At) ||
			!sameCase(r.Case, o.Case) || r.Field != wire.None && a.Fields[r.Field].Type != b.Fields[o.Field].Type {
			return false
		}
	}
	return true
}

// sameItem reports whether two numbers have the same encoding. The types of values are compared as text.
func sameItem(a, b *wire.Item) bool {
	if a.Order != b.Order || a.Var != b.Var {
		return false
	}
	n, ok := a.Type.(*schema.Number)
	o, other := b.Type.(*schema.Number)
	return ok == other && (!ok || n.Kind == o.Kind && n.Add == o.Add && n.Absent == o.Absent)
}

// sameCase reports whether two alternatives apply to the same values.
func sameCase(a, b *wire.Case) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Reg == b.Reg && a.Value == b.Value && a.Else == b.Else && a.Min == b.Min && a.Max == b.Max && (a.Text == nil) == (b.Text == nil) &&
		(a.Text == nil || *a.Text == *b.Text)
}
