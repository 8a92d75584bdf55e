package kaitai

import (
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// sizeofType returns the number of bits of the type of sizeof<type>.
func (l *lowerer) sizeofType(c *context, e *ex) int64 {
	if len(e.path) == 1 {
		if n := numberOf(e.path[0], "le"); n != nil {
			return int64(n.Bits)
		}
		if n := bitsOf(e.path[0]); n > 0 {
			return int64(n)
		}
	}
	d := l.find(e.path, c.in.def)
	if d == nil {
		l.wrong(unknownType(c.at(e), strings.Join(e.path, "::"), ""))
	}
	return l.sizeof(d, c.at(e), 0)
}

// sizeof returns the number of bits of a type of fixed size.
func (l *lowerer) sizeof(d *typeDef, at source.Span, depth int) (bits int64) {
	if depth > maxDepth {
		l.fail(at, "the size of %q, which has no fixed size", d.name)
	}
	for _, a := range d.seq {
		if !a.isBits() {
			bits = (bits + 7) / 8 * 8
		}
		name := ""
		if a.typ != nil && len(a.typ.path) == 1 {
			name = a.typ.path[0]
		}
		n := int64(0)
		switch {
		case a.cond != nil || a.repeat != "" || a.on != nil || a.sizeEOS:
			l.fail(at, "the size of %q, which has no fixed size", d.name)
		case a.fixed:
			n = int64(len(a.contents)) * 8
		case a.size != nil && a.size.e != nil && a.size.e.kind == exInt:
			n = int64(a.size.e.int) * 8
		case a.size != nil || a.typ == nil || name == "str" || name == "strz":
			l.fail(at, "the size of %q, which has no fixed size", d.name)
		case bitsOf(name) > 0:
			n = int64(bitsOf(name))
		case numberOf(name, "le") != nil:
			n = int64(numberOf(name, "le").Bits)
		default:
			in := l.find(a.typ.path, d)
			if in == nil {
				l.wrong(unknownType(a.typNode.span, name, ""))
			}
			n = (l.sizeof(in, at, depth+1) + 7) / 8 * 8
		}
		if bits += n; bits > 1<<40 {
			l.fail(at, "the size of %q, which is too large", d.name)
		}
	}
	return bits
}

// sizeofField returns the number of bytes of a value of fixed size.
func sizeofField(f *schema.Field) (int64, bool) {
	if f == nil {
		return 0, false
	}
	e := schema.Extent{Size: schema.ToEnd}
	switch t := f.Type.(type) {
	case *schema.Number:
		return int64(t.Bits+7) / 8, t.Expr == nil
	case *schema.Blob:
		e = t.Extent
	case *schema.Text:
		e = t.Extent
	}
	switch {
	case e.Size == schema.Fixed:
		return int64(e.N), true
	case e.Size == schema.Computed && e.Expr.Op == schema.Literal:
		return e.Expr.Int, true
	}
	return 0, false
}
