package kaitai

import "wirebench/defs/schema"

// windowed reports whether a type has bytes of its own: of a size, or up to a terminator.
func (a *attr) windowed() bool { return a.size != nil || a.sizeEOS || len(a.term) > 0 }

// framed makes a field the group of the bytes of a type: those of a size, without padding, up to a terminator. g is the group with the contents, in
// the stream inner, and outer the type of the field, which may be g.
func (l *lowerer) framed(x *inst, a *attr, in place, f *schema.Field, c context) (g *schema.Group, inner place, outer *schema.Group) {
	if len(a.term) == 0 && a.pad < 0 {
		g, inner = l.window(x, a, in, f, c)
		return g, inner, g
	}
	if len(a.term) > 1 {
		l.fail(a.at, "a terminator of %d bytes after an object", len(a.term))
	}
	b := *a // without process, which is of the bytes that remain
	b.process = nil
	sized := a.size != nil || a.sizeEOS
	if sized {
		g, inner = l.window(x, &b, in, f, c)
		if !g.Sized {
			l.fail(a.at, "padding or a terminator in bytes that are processed")
		}
		outer = g
		if a.pad >= 0 && (len(a.term) == 0 || byte(a.pad) != a.term[0]) { // as the package of Kaitai Struct
			g, inner = within(g, inner, &schema.Expr{Op: schema.Trimmed, Args: []*schema.Expr{lit(int64(a.pad))}}, nil)
		}
	}
	if len(a.term) > 0 {
		seek := func(how int64) *schema.Expr {
			if a.strict && !sized {
				how |= schema.SeekMust
			}
			return &schema.Expr{Op: schema.Seek, Args: []*schema.Expr{lit(int64(a.term[0])), lit(how)}}
		}
		end := &schema.Item{Kind: schema.Const, Bytes: a.term, Bits: 8}
		switch {
		case sized && a.include:
			g, inner = within(g, inner, seek(schema.SeekWith), nil)
		case sized:
			around := g
			g, inner = within(g, inner, seek(0), end)
			around.Struct.Optional = 1
		default:
			g = &schema.Group{Sized: true, Size: seek(0)}
			if a.include || !a.keep {
				g.Size = seek(schema.SeekWith)
			}
			outer, inner = g, place{field: f, packed: in.packed}
			if !a.include && !a.keep {
				size := seek(0)
				if a.strict {
					size = op(schema.Sub, op(schema.Sub, &schema.Expr{Op: schema.To}, &schema.Expr{Op: schema.Cursor}), lit(1))
				}
				g, inner = within(g, inner, size, end)
				if !a.strict {
					outer.Struct.Optional = 1
				}
			}
			f.Type = outer
		}
	}
	if a.process != nil {
		c.read = g.Size
		g.Packed, g.Key = l.process(x, a, c)
		inner.packed = true
	}
	return g, inner, outer
}

// within makes a group of a size the contents of another one, before what ends it.
func within(around *schema.Group, in place, size *schema.Expr, end *schema.Item) (*schema.Group, place) {
	g := &schema.Group{Sized: true, Size: size}
	f := &schema.Field{Type: g}
	around.Bare, around.Struct = true, bare(f)
	if end != nil {
		around.Struct.Wire = append(around.Struct.Wire, *end)
	}
	return g, place{field: f, packed: in.packed}
}
