package codec

import (
	"slices"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Row is one part of a message layout.
type Row struct {
	Field   uint16 // index into Program.Fields; 0xffff for bookkeeping that belongs to no field
	Role    Role
	Depth   int    // number of lists and compressed groups around it
	Path    string // members[].player_id; frame bookkeeping is named after its role. May be abbreviated: see wire.Message.Path
	Type    string // as in the definition, or the width of bookkeeping
	At      wire.At
	Offset  string // in bytes, for display: "18 + name", "element + 4"; empty for a number that is computed
	MinBits int64
	MaxBits int64  // -1 = no limit
	Packed  bool   // compressed bytes: the rows inside are those of their contents
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
		MinBits: r.Min.Bits, MaxBits: r.Max, Note: p.wire.Note(r), Packed: r.Part != nil && r.Part.Kind == wire.Group,
	}
	if r.Computed() {
		out.Offset = ""
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
	if len(rows) != len(others) || a.Message.HasKey != b.Message.HasKey || a.Message.Key.Code != b.Message.Key.Code || !sameOps(a, b) {
		return false
	}
	for i := range rows {
		r, o := &rows[i], &others[i]
		if (r.Item == nil) != (o.Item == nil) || r.Item != nil && (r.Item.Order != o.Item.Order || !sameNumber(r.Item, o.Item)) || r.Field != o.Field || r.Kind != o.Kind || r.Depth != o.Depth || r.Min.Bits != o.Min.Bits || r.Max != o.Max || !r.At.Same(o.At) ||
			r.Field != wire.None && a.Fields[r.Field].Type != b.Fields[o.Field].Type {
			return false
		}
	}
	return true
}

// sameNumber reports whether two items encode numbers in the same way.
func sameNumber(a, b *wire.Item) bool {
	n, is := a.Type.(*schema.Number)
	m, other := b.Type.(*schema.Number)
	if is != other || !is {
		return is == other && a.Var == b.Var
	}
	return n.Kind == m.Kind && n.Var == m.Var && n.Add == m.Add && n.Absent == m.Absent
}

// sameOps reports whether the alternatives, sizes and ends of contents depend on the same values.
func sameOps(a, b *Program) bool {
	return slices.EqualFunc(a.Ops, b.Ops, func(o, p Op) bool {
		w, x := o.When, p.When
		text := w.Text == x.Text || w.Text != nil && x.Text != nil && *w.Text == *x.Text
		return o.Code == p.Code && (o.at == noIndex) == (p.at == noIndex) && o.Size == p.Size && o.End0 == p.End0 && o.null == p.null && o.NullSize == p.NullSize &&
			text && w.Reg == x.Reg && w.Else == x.Else && w.Value == x.Value && w.min == x.min && w.max == x.max &&
			slices.EqualFunc(o.expr, p.expr, sameStep)
	})
}

func sameStep(a, b wire.Step) bool {
	if (a.Part == nil) != (b.Part == nil) || a.Part != nil && (a.Part.Shift != b.Part.Shift || a.Part.Bits != b.Part.Bits || a.Part.Mask != b.Part.Mask) {
		return false
	}
	return a.Op == b.Op && a.Int == b.Int && a.Reg == b.Reg && a.Bits == b.Bits && a.Add == b.Add && a.Truth == b.Truth
}
