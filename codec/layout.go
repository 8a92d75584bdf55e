package codec

import (
	"wirebench/defs/wire"
)

// Row is one part of a message, known without data.
type Row struct {
	Field   uint16 // index into Program.Fields; 0xffff for bookkeeping that belongs to no field
	Role    Role
	Depth   int    // number of lists around it
	Path    string // members[].player_id; bookkeeping of the frame is named after its role. Short: see wire.Message.Path
	Type    string // as written, or the width of bookkeeping
	At      wire.At
	Offset  string // the place as people write it, in bytes: "18 + name", "element + 4"
	MinBits int64
	MaxBits int64  // -1 = no limit
	Note    string // what decides about it: "if more bytes follow", "for messages of 22 bytes"
}

// Layout says where everything stands, without data, in the order in which Encode writes it.
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
		MinBits: r.Min.Bits, MaxBits: r.Max, Note: p.wire.When(r),
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
	} else {
		out.Type = bookType(out.Role, uint32(r.Item.Bits), r.Item.Order)
	}
	return out
}

// Size is the smallest and the largest number of bytes of a message; most is -1 if nothing limits it.
func (p *Program) Size() (least, most int64) { return p.wire.Body.Bytes() }

// SameLayout reports whether two programs have the same bytes for the same types: only names and comments may differ between their
// definitions.
func SameLayout(a, b *Program) bool {
	rows, others := a.wire.Layout(), b.wire.Layout()
	if len(rows) != len(others) || a.Message.HasKey != b.Message.HasKey || a.Message.Key.Code != b.Message.Key.Code {
		return false
	}
	for i := range rows {
		r, o := &rows[i], &others[i]
		if (r.Item == nil) != (o.Item == nil) || r.Item != nil && r.Item.Order != o.Item.Order || r.Field != o.Field || r.Kind != o.Kind || r.Depth != o.Depth || r.Min.Bits != o.Min.Bits || r.Max != o.Max || !r.At.Same(o.At) ||
			r.Field != wire.None && a.Fields[r.Field].Type != b.Fields[o.Field].Type {
			return false
		}
	}
	return true
}
