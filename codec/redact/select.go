package redact

import (
	"encoding/binary"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// selector is the values of a field that alternatives or sizes depend on.
type selector struct {
	all   bool // each value makes a difference
	bits  []uint64
	texts []string
}

// selectors collects the fields that alternatives or sizes depend on.
func selectors(s *schema.Struct, out map[*schema.Field]selector, seen map[*schema.Struct]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	var all func(f *schema.Field)
	all = func(f *schema.Field) {
		if out[f].all {
			return
		}
		out[f] = selector{all: true}
		dependsOn(schema.Made(f.Type), all) // a value that is computed depends on others
	}
	for _, v := range s.Variants {
		if v.Field != nil {
			all(v.Field)
		}
		selectors(v.Body, out, seen)
	}
	for _, f := range s.Fields {
		if t, ok := f.Type.(*schema.Choice); ok {
			addCases(t, out, all)
		} else {
			schema.Places(f.Type, func(e *schema.Expr) { dependsOn(e, all) })
		}
		for _, in := range schema.Bodies(f.Type) {
			selectors(in, out, seen)
		}
	}
}

// dependsOn calls yield with the fields whose values an expression depends on.
func dependsOn(e *schema.Expr, yield func(*schema.Field)) {
	e.Uses(func(x *schema.Expr) {
		switch {
		case x.Inner != nil:
			yield(x.Inner)
		case x.Op == schema.Ref:
			yield(x.Field)
		}
	})
}

// addCases adds the values that select the alternatives of a choice.
func addCases(t *schema.Choice, out map[*schema.Field]selector, all func(*schema.Field)) {
	if t.On == nil || t.On.Op != schema.Ref || t.On.Part != "" {
		dependsOn(t.On, all)
		return
	}
	dependsOn(schema.Made(t.On.Field.Type), all)
	x := out[t.On.Field]
	for _, c := range t.Cases {
		switch {
		case c.Text != nil:
			x.texts = append(x.texts, *c.Text)
		case !c.Else:
			x.bits = append(x.bits, c.Value)
		}
	}
	out[t.On.Field] = x
}

// has reports whether a value selects an alternative of its own.
func (x *selector) has(l *codec.Leaf, data []byte, it *codec.Item) bool {
	switch {
	case it == nil:
		return slices.Contains(x.texts, strings.TrimRight(string(data), "\x00"))
	case len(x.bits) == 0:
		return false
	case it.Var != schema.Sized:
		raw, _ := codec.ReadVarint(data, it.Var, it.Bits)
		return slices.Contains(x.bits, raw)
	}
	return slices.Contains(x.bits, codec.LoadBits(data, l.Off%8, it.Bits, it.Order))
}

// walker follows the nodes of a record.
type walker struct {
	rec    *codec.Record
	secret []bool
	next   uint32 // first node not visited
	after  uint32 // the first node that is not in a secret group nested in itself
	ends   map[uint32]byte
}

// to visits the nodes up to one.
func (w *walker) to(node uint32) {
	for ; w.next <= node; w.next++ {
		n := &w.rec.Nodes[w.next]
		o := &w.rec.Program.Ops[n.Op]
		switch {
		case o.Code == codec.OpCall && w.secret[o.Field] && w.next >= w.after:
			w.after = n.After
		case n.Kind == codec.NodeElem && o.Code == codec.OpList && o.Size == schema.Until:
			if w.ends == nil {
				w.ends = map[uint32]byte{}
			}
			w.ends[n.Off] = o.End0
		}
	}
}

// inSecret reports whether a node is in a secret group that is nested in itself. Its fields are also those of groups that are not secret.
func (w *walker) inSecret(node uint32) bool { return node < w.after }

// maxTries is the number of replacements that are tried for one value.
const maxTries = 16

// replace replaces one value, unless it selects an alternative. It reports whether it did.
func (r *Redactor) replace(dst []byte, rec *codec.Record, l *codec.Leaf, selects selector, w *walker) bool {
	it, f := rec.Item(*l), rec.Program.Fields[l.Field].Schema
	from, to := l.Off/8, (l.Off+l.Len+7)/8
	if selects.has(l, rec.Data[from:to], it) {
		return false
	}
	end, isFirst := w.ends[l.Off]
	r.was = append(r.was[:0], dst[from:to]...)
	defer func() { r.salt = 0 }()
	for r.salt = 0; r.salt < maxTries; r.salt++ {
		r.value(dst, l, f, it)
		if !selects.has(l, dst[from:to], it) && !(isFirst && dst[from] == end) && !isZero(dst[from:to], l, it) {
			return true
		}
		copy(dst[from:to], r.was)
	}
	return false
}

// isZero reports whether a number that may be absent is.
func isZero(data []byte, l *codec.Leaf, it *codec.Item) bool {
	if it == nil || it.Num == nil || !it.Num.Absent || l.Raw == 0 {
		return false
	}
	if it.Var != schema.Sized {
		raw, _ := codec.ReadVarint(data, it.Var, it.Bits)
		return raw == 0
	}
	return codec.LoadBits(data, l.Off%8, it.Bits, it.Order) == 0
}

// varint replaces a number of variable size by another one of the same size.
func (r *Redactor) varint(data []byte, raw uint64, it *codec.Item) {
	n := len(data)
	if it.Num != nil && it.Num.Enum != nil {
		var same []uint64
		for _, v := range it.Num.Enum.Values {
			if codec.VarintSize(v.Value, it.Var, it.Bits) == n {
				same = append(same, v.Value)
			}
		}
		if len(same) > 1 || len(same) > 0 && n < leastValue {
			h := binary.LittleEndian.Uint64(r.hash('n', raw))
			codec.AppendVarint(data[:0], same[h%uint64(len(same))], it.Var, it.Bits)
			return
		}
	}
	if it.Var == schema.WideSigned && n == it.Var.MaxBytes(64) { // a negative one
		codec.AppendVarint(data[:0], binary.LittleEndian.Uint64(r.hash('v', raw))|1<<(it.Bits-1), it.Var, it.Bits)
		return
	}
	for try := range uint64(64) {
		sum := r.hash('v', raw, byte(try))
		for i := range data {
			data[i] = sum[i]&0x7f | 0x80
		}
		data[n-1] &= 0x7f
		if got, _ := codec.ReadVarint(data, it.Var, it.Bits); it.Num == nil || it.Num.Legal(got) {
			if string(it.Shortest(nil, data, got)) == string(data) {
				return
			}
		}
	}
	for i := range data { // 0 in as many bytes
		data[i] = 0x80
	}
	data[n-1] = 0
}
