package kaitai

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// enumValue lowers a::b::value.
func (l *lowerer) enumValue(c *context, e *ex) *val {
	last := len(e.path) - 1
	d := l.enum(e.path[:last], c.in.def)
	if d == nil {
		l.wrong(badExpression(c.at(e), "no enum is named "+text.Quote(strings.Join(e.path[:last], "::"))))
	}
	var names []string
	for _, v := range d.values {
		if v.name == e.path[last] {
			return &val{kind: intVal, e: lit(int64(v.value)), enum: d, wide: int64(v.value) < 0 && !v.low}
		}
		names = append(names, v.name)
	}
	bad := badExpression(c.at(e), fmt.Sprintf("the enum %q has no %s", d.name, text.Quote(e.path[last])))
	if near := diag.Nearest(e.path[last], names); near != "" {
		bad.Help = fmt.Sprintf("did you mean %q?", near)
	}
	l.wrong(bad)
	return nil
}

// find returns the type of a path, seen from a type; nil if there is none.
func (l *lowerer) find(path []string, from *typeDef) *typeDef {
	descend := func(d *typeDef) *typeDef {
		for _, name := range path[1:] {
			if d = d.types[name]; d == nil {
				return nil
			}
		}
		return d
	}
	for d := from; d != nil; d = d.parent {
		if t := d.types[path[0]]; t != nil {
			return descend(t)
		}
		if d.name == path[0] {
			return descend(d)
		}
	}
	if t := l.tops[path[0]]; t != nil {
		return descend(t)
	}
	return nil
}

// enum returns the enum of a path, seen from a type; nil if there is none.
func (l *lowerer) enum(path []string, from *typeDef) *enumDef {
	if len(path) == 0 {
		return nil
	}
	last := len(path) - 1
	if last > 0 {
		if t := l.find(path[:last], from); t != nil {
			return t.enums[path[last]]
		}
		return nil
	}
	for d := from; d != nil; d = d.parent {
		if e := d.enums[path[0]]; e != nil {
			return e
		}
	}
	return nil
}

// nearType returns the name of a type that is similar to a name.
func (l *lowerer) nearType(name string, from *typeDef) string {
	names := slices.Collect(maps.Keys(l.tops))
	for d := from; d != nil; d = d.parent {
		names = append(names, slices.Collect(maps.Keys(d.types))...)
	}
	slices.Sort(names)
	return diag.Nearest(name, names)
}

// charset returns the encoding of a name.
func charset(name string) (schema.Charset, bool) {
	return schema.CharsetNamed(strings.TrimSpace(name))
}
