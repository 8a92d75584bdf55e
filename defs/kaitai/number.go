package kaitai

import (
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// bits compiles a field of bits.
func (l *lowerer) bits(x *inst, a *attr, name string, f *schema.Field, inline bool) *val {
	n := &schema.Number{Bits: bitsOf(name), Order: schema.Big}
	if l.bitEndian(x, name) == "le" {
		n.Order = schema.Little
	}
	if n.Bits > 64 {
		l.wrong(malformed(a.typNode.span, "a field has at most 64 bits", "b64"))
	}
	if n.Bits == 1 && a.enum == nil {
		n.Kind = schema.Bool
	}
	switch {
	case !inline && (n.Bits%8 != 0 || x.bits != 0):
		l.fail(a.at, "bits in a list, under a condition, or in a type that depends on a value, which are not whole bytes")
	case inline && x.bits != 0 && x.order != n.Order:
		l.fail(a.at, "fields of bits in two orders in one byte")
	}
	l.enumOf(x, a, n)
	if inline {
		x.bits, x.order = (x.bits+n.Bits)%8, n.Order
	}
	f.Type = n
	return l.limited(x, a, n, numberVal(f))
}

// limited gives a number its legal range, as far as that is one.
func (l *lowerer) limited(x *inst, a *attr, n *schema.Number, v *val) *val {
	if a.enum != nil {
		v.enum = l.enum(a.enum, x.def)
	}
	if v.ranged = l.limits(x, a, n); !v.ranged {
		n.Min, n.Max = nil, nil
	}
	return v
}

func (l *lowerer) bitEndian(x *inst, name string) string {
	switch {
	case strings.HasSuffix(name, "le"):
		return "le"
	case strings.HasSuffix(name, "be"):
		return "be"
	}
	for d := x.def; d != nil; d = d.parent {
		if d.bitEndian != "" {
			return d.bitEndian
		}
	}
	return "be"
}

// enumOf gives the names of an enum to a number.
func (l *lowerer) enumOf(x *inst, a *attr, n *schema.Number) {
	if a.enum == nil {
		return
	}
	d := l.enum(a.enum, x.def)
	if d == nil {
		l.wrong(badExpression(a.enumNode.span, "no enum is named "+text.Quote(strings.Join(a.enum, "::"))))
	}
	n.Enum = enumNames(d, n)
}

func enumNames(d *enumDef, n *schema.Number) *schema.Enum {
	e := &schema.Enum{Name: d.name, Shown: true}
	lo, hi := n.Bounds()
	for _, v := range d.values {
		switch {
		case v.low && (n.Kind != schema.Signed || int64(v.value) < lo), !v.low && v.value > hi:
			continue
		}
		e.Values = append(e.Values, schema.EnumValue{Name: v.name, Value: v.value & schema.Mask(n.Bits)})
	}
	return e
}

// limits gives a number the bounds of valid. It reports whether there are no other constraints.
func (l *lowerer) limits(x *inst, a *attr, n *schema.Number) bool {
	v := a.valid
	if v == nil {
		return true
	}
	set := func(of *node, to ...**schema.Limit) bool {
		e, err := parseExpr(of.str())
		if err != nil || of.kind != scalarNode {
			return false
		}
		var limit *schema.Limit
		d := l.caught(func() {
			val := l.eval(x, &expr{e, of}, context{})
			switch {
			case n.Kind == schema.Float && val.e.Op == schema.FloatLiteral:
				limit = &schema.Limit{Float: val.e.Float}
			case n.Kind == schema.Float && val.kind == intVal && val.e.Op == schema.Literal:
				limit = &schema.Limit{Float: float64(val.e.Int)}
			case val.kind == intVal && val.e.Op == schema.Literal && n.Kind == schema.Signed:
				limit = &schema.Limit{Int: val.e.Int}
			case val.kind == intVal && val.e.Op == schema.Literal && n.Kind == schema.Unsigned && (val.e.Int >= 0 || val.wide):
				limit = &schema.Limit{Uint: uint64(val.e.Int)}
			}
		})
		if d != nil || limit == nil {
			return false
		}
		for _, t := range to {
			*t = limit
		}
		return true
	}
	ok := false
	if v.kind == scalarNode {
		ok = set(v, &n.Min, &n.Max)
	}
	if v.kind == mapNode {
		ok = true
		for i, k := range v.keys {
			switch k.text {
			case "eq":
				ok = set(v.items[i], &n.Min, &n.Max) && ok
			case "min":
				ok = set(v.items[i], &n.Min) && ok
			case "max":
				ok = set(v.items[i], &n.Max) && ok
			default:
				ok = false
			}
		}
	}
	return ok
}

// check adds the constraint of a value that is not the range of a number: a computed truth value that must be true.
func (l *lowerer) check(x *inst, a *attr, v *val) {
	d := l.caught(func() {
		cond := l.constraint(x, a, v)
		if cond.Op == schema.Literal && cond.Int != 0 {
			return
		}
		if x.bits != 0 {
			l.fail(a.valid.span, "valid of bits that share a byte with others, except for constant eq, min and max")
		}
		must := &schema.Limit{Uint: 1}
		f := &schema.Field{Name: a.id + "_valid", Span: l.spanOf(a), TypeText: "valid", Type: &schema.Number{Bits: 8, Expr: cond, Min: must, Max: must}}
		x.s.Fields = append(x.s.Fields, f)
		x.s.Wire = append(x.s.Wire, schema.Item{Field: f})
	})
	if d == nil {
		return
	}
	if d.d.Severity == diag.Warning {
		d.d.Help = "it is not checked"
	}
	if d.d.Message != "" {
		l.report(d.d)
	}
}

// constraint returns the condition of valid.
func (l *lowerer) constraint(x *inst, a *attr, v *val) *schema.Expr {
	n := a.valid
	if v.kind == noVal || v.kind == structVal || v.kind == listVal || v.kind == ioVal {
		l.fail(n.span, "valid of %s", v.kind)
	}
	c := context{in: x, elem: v}
	compare := func(of *node, o string) *schema.Expr {
		e, err := parseExpr(of.str())
		if of.kind == listNode {
			e = &ex{kind: exArray}
			for _, i := range of.items {
				item, err := parseExpr(i.str())
				if err != nil {
					l.wrong(badExpression(i.span, err.Error()))
				}
				e.args = append(e.args, item)
			}
		} else if err != nil {
			l.wrong(badExpression(of.span, err.Error()))
		}
		at := c
		at.n = &node{span: of.span}
		r := l.binary(&at, &ex{kind: exBinary, name: o, args: []*ex{{kind: exName, name: "_"}, e}})
		if r.kind != boolVal {
			l.fail(of.span, "valid of %s", r.kind)
		}
		return r.e
	}
	if n.kind != mapNode {
		return compare(n, "==")
	}
	all := lit(1)
	for i, k := range n.keys {
		item := n.items[i]
		one := lit(0)
		switch k.text {
		case "eq":
			one = compare(item, "==")
		case "min":
			one = compare(item, ">=")
		case "max":
			one = compare(item, "<=")
		case "any-of":
			for _, i := range item.items {
				one = either(one, compare(i, "=="))
			}
		case "in-enum":
			if v.kind != intVal || v.enum == nil {
				l.fail(item.span, "in-enum of %s", v.kind)
			}
			for _, known := range v.enum.values {
				one = either(one, op(schema.Equal, v.e, lit(int64(known.value))))
			}
		case "expr":
			e, err := parseExpr(item.str())
			if err != nil {
				l.wrong(badExpression(item.span, err.Error()))
			}
			one = l.truth(x, &expr{e, item}, c)
		default:
			l.fail(k.span, "valid with %s", text.Quote(k.text))
		}
		if all = op(schema.And, all, one); all.Size() > schema.MaxExpr {
			l.fail(n.span, "the expression has more than %d operations", schema.MaxExpr)
		}
	}
	return all
}

func either(a, b *schema.Expr) *schema.Expr {
	if a.Op == schema.Literal && a.Int == 0 {
		return b
	}
	return op(schema.Or, a, b)
}

// bitsOf returns the number of bits of a type such as b12le, 0 for others.
func bitsOf(name string) int {
	s := strings.TrimSuffix(strings.TrimSuffix(name, "le"), "be")
	if len(s) < 2 || s[0] != 'b' || s[1] == '0' {
		return 0
	}
	n, err := strconv.ParseUint(s[1:], 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// numberOf returns the number of a type such as u4le, nil for others.
func numberOf(name, endian string) *schema.Number {
	if len(name) < 2 {
		return nil
	}
	n := &schema.Number{Bits: 8 * int(name[1]-'0')}
	switch name[0] {
	case 'u':
	case 's':
		n.Kind = schema.Signed
	case 'f':
		n.Kind = schema.Float
	default:
		return nil
	}
	switch name[1] {
	case '1', '2':
		if n.Kind == schema.Float {
			return nil
		}
	case '4', '8':
	default:
		return nil
	}
	switch name[2:] {
	case "":
	case "le", "be":
		if endian = name[2:]; n.Bits == 8 {
			return nil
		}
	default:
		return nil
	}
	if endian == "be" && n.Bits > 8 {
		n.Order = schema.Big
	}
	return n
}

// numberVal returns the value of a number.
func numberVal(f *schema.Field) *val {
	n := f.Type.(*schema.Number)
	v := &val{e: schema.RefTo(f), field: f, wide: n.Kind == schema.Unsigned && n.Bits == 64}
	switch n.Kind {
	case schema.Bool:
		v.kind = boolVal
	case schema.Float:
		v.kind = floatVal
	}
	return v
}
