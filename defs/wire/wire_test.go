package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

func number(bits int) *schema.Number { return &schema.Number{Bits: bits} }

func field(name string, t schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

func value(f *schema.Field) schema.Item { return schema.Item{Kind: schema.Value, Field: f} }

func book(kind schema.ItemKind, f *schema.Field, bits int) schema.Item {
	return schema.Item{Kind: kind, Field: f, Bits: bits}
}

func text() *schema.Text {
	return &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Terminated}}
}

// plain returns a struct with its fields in wire order.
func plain(fields ...*schema.Field) *schema.Struct {
	s := &schema.Struct{Fields: fields}
	for _, f := range fields {
		s.Wire = append(s.Wire, value(f))
	}
	return s
}

func compile(t *testing.T, s *schema.Struct) *wire.Message {
	t.Helper()
	m, err := wire.Compile(&schema.Message{Name: "M", Body: s})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// show returns a layout as text, one row per line.
func show(m *wire.Message) string {
	var b strings.Builder
	least, most := m.Body.Bytes()
	fmt.Fprintf(&b, "%d..%d\n", least, most)
	for _, r := range m.Layout() {
		fmt.Fprintf(&b, "%s%s %s at %s: %d..%d", strings.Repeat("  ", r.Depth), r.Kind, m.Path(r.Field), m.AtText(r.At), r.Min.Bits, r.Max)
		if when := m.When(&r); when != "" {
			b.WriteString(" " + when)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func check(t *testing.T, m *wire.Message, want string) {
	t.Helper()
	want = strings.TrimLeft(strings.ReplaceAll(want, "\t", ""), "\n")
	if got := show(m); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestParts checks the layout of a header, bits, a group, a chained list and texts.
func TestParts(t *testing.T) {
	id, name := field("id", number(32)), field("name", text())
	elem := &schema.Struct{Fields: []*schema.Field{id, name}, Wire: []schema.Item{
		book(schema.Here, nil, 16), book(schema.Next, nil, 16), book(schema.Offset, name, 16), value(id), value(name),
	}}
	list := field("members", &schema.List{Elem: elem, Linked: true, Extent: schema.Extent{Size: schema.Counted}})
	pos := field("pos", &schema.Group{Struct: plain(field("x", number(4)), field("y", number(4)))})
	title, tail := field("title", text()), field("tail", number(8))
	m := compile(t, &schema.Struct{Fields: []*schema.Field{list, pos, title, tail}, Wire: []schema.Item{
		book(schema.Length, nil, 16), book(schema.Code, nil, 16), book(schema.Count, list, 16), book(schema.Offset, list, 16),
		value(pos), value(list), value(title), value(tail),
	}})
	check(t, m, `
	11..-1
	length  at 0: 16..16
	code  at 2: 16..16
	count members at 4: 16..16
	offset members at 6: 16..16
	value pos.x at 8: 4..4
	value pos.y at 8 bytes 4 bits: 4..4
	value members at 9: 0..-1
	  here  at element + 0: 16..16
	  next  at element + 2: 16..16
	  offset members[].name at element + 4: 16..16
	  value members[].id at element + 6: 32..32
	  value members[].name at element + 10: 8..-1
	value title at 9 + members: 8..-1
	value tail at 9 + members + title: 8..8
	`)
	if m.Header != 4 || m.Length.Bits != 16 || m.Code.Off != 16 {
		t.Errorf("header of %d bytes, %+v, %+v", m.Header, m.Length, m.Code)
	}
	l := &m.Body.Parts[1]
	if l.Kind != wire.List || l.Next.Off != 16 || m.Regs[l.Count].Off != 32 || m.Regs[l.Offset].Off != 48 || l.Elem.Parts[1].Offset == wire.None {
		t.Errorf("the list is %+v", l)
	}
}

// TestSharedStruct checks that a struct that is used twice has separate fields for each use.
func TestSharedStruct(t *testing.T) {
	v := plain(field("x", number(16)), field("s", text()))
	m := compile(t, plain(field("a", &schema.Group{Struct: v}), field("b", &schema.Group{Struct: v}), field("end", number(8))))
	check(t, m, `
	7..-1
	value a.x at 0: 16..16
	value a.s at 2: 8..-1
	value b.x at 2 + a.s: 16..16
	value b.s at 4 + a.s: 8..-1
	value end at 4 + a.s + b.s: 8..8
	`)
}

// choice returns a byte and alternatives of four and eight bytes.
func choice(kind *schema.Number, values ...uint64) *schema.Struct {
	f := field("kind", kind)
	s := plain(f)
	for i, v := range values {
		body := plain(field("v", number(32<<min(i, 1))))
		s.Variants = append(s.Variants, schema.Variant{Field: f, Value: v, Body: body})
	}
	return s
}

// TestChoiceSize checks that alternatives count towards the minimum size only if one of them must apply.
func TestChoiceSize(t *testing.T) {
	limit := func(v uint64) *schema.Limit { return &schema.Limit{Uint: v} }
	for name, c := range map[string]struct {
		s           *schema.Struct
		least, most int64
	}{
		"other values match none":   {choice(number(8), 1, 2), 1, 9},
		"all legal values":          {choice(&schema.Number{Bits: 8, Min: limit(1), Max: limit(2)}, 1, 2), 5, 9},
		"one legal value is absent": {choice(&schema.Number{Bits: 8, Max: limit(2)}, 1, 2), 1, 9},
		"signed":                    {choice(&schema.Number{Bits: 8, Kind: schema.Signed, Min: &schema.Limit{Int: -1}, Max: &schema.Limit{Int: 0}}, 0xff, 0), 5, 9},
	} {
		if least, most := compile(t, c.s).Body.Bytes(); least != c.least || most != c.most {
			t.Errorf("%s: %d to %d bytes, want %d to %d", name, least, most, c.least, c.most)
		}
	}
	byLength := plain(field("a", number(16)))
	byLength.Variants = []schema.Variant{{MinLen: 6, MaxLen: 6, Body: plain(field("b", number(32)))}, {MinLen: 10, MaxLen: 10, Body: plain(field("c", number(64)))}}
	check(t, compile(t, byLength), `
	2..10
	value a at 0: 16..16
	value b at 2: 32..32 in messages of 6 bytes
	value c at 2: 64..64 in messages of 10 bytes
	`)
	byLength.Variants = append(byLength.Variants, schema.Variant{MinLen: 2, Body: plain(field("d", number(8)))})
	if least, _ := compile(t, byLength).Body.Bytes(); least != 3 {
		t.Errorf("a message with a default alternative has %d bytes, want 3", least)
	}
}

// TestOptional checks that optional items do not count towards the minimum size, and that parts of one item belong together.
func TestOptional(t *testing.T) {
	pair := field("pair", &schema.Group{Struct: plain(field("s", text()), field("n", number(16)))})
	s := plain(field("a", number(8)), pair, field("b", number(32)))
	s.Optional = 2
	m := compile(t, s)
	check(t, m, `
	1..-1
	value a at 0: 8..8
	value pair.s at 1: 8..-1 if present
	value pair.n at 1 + pair.s: 16..16 if present
	value b at 3 + pair.s: 32..32 if present
	`)
	var got []int
	for _, p := range m.Body.Parts {
		got = append(got, p.Optional)
	}
	if fmt.Sprint(got) != "[0 1 1 2]" {
		t.Errorf("optional parts %v", got)
	}
}

// TestConstantsWithoutValue checks that a minimum size has terms for the constants that it depends on.
func TestConstantsWithoutValue(t *testing.T) {
	list := field("list", &schema.List{Elem: plain(field("x", number(16))), Extent: schema.Extent{Size: schema.Counted, Min: &schema.Limit{Const: "LEAST"}}})
	m := compile(t, &schema.Struct{Fields: []*schema.Field{list}, Wire: []schema.Item{book(schema.Count, list, 8), value(list)}})
	terms := m.Body.Min.Terms
	if len(terms) != 1 || terms[0].Const != "LEAST" || terms[0].Of.Bits != 16 || m.Body.Min.Bits != 8 || fmt.Sprint(m.Unresolved) != "[LEAST]" {
		t.Errorf("%+v, %v", m.Body.Min, m.Unresolved)
	}
}

// TestRefused checks the errors of invalid schemas.
func TestRefused(t *testing.T) {
	f := field("f", number(8))
	odd := field("odd", number(3))
	loop := &schema.Struct{}
	loop.Fields = []*schema.Field{field("in", &schema.List{Elem: loop})}
	for want, s := range map[string]*schema.Struct{
		"no body": nil,
		`item of field "f", which is not in its struct`:                {Wire: []schema.Item{value(f)}},
		"3 bits before a variable part or the end are not whole bytes": plain(odd),
		"nested deeper than 64":                                        loop,
		`alternatives depend on "f", which is not an earlier number`:   {Fields: []*schema.Field{f}, Variants: []schema.Variant{{Field: f}}},
		"a count of 40 bits":                                           {Fields: []*schema.Field{f}, Wire: []schema.Item{book(schema.Count, f, 40)}},
	} {
		_, err := wire.Compile(&schema.Message{Name: "M", Body: s})
		if err == nil || err.Error() != "compile M: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestLongTexts checks that the layout of a message with many or long names is a small multiple of its definition, and that full paths
// and offsets are available.
func TestLongTexts(t *testing.T) {
	var fields []*schema.Field
	for i := range 3000 {
		fields = append(fields, field(fmt.Sprintf("s%d", i), text()))
	}
	m := compile(t, plain(fields...))
	if n := len(show(m)); n > 100*m.Source() {
		t.Errorf("a layout of %d bytes for a definition of about %d bytes", n, m.Source())
	}
	rows := m.Layout()
	last := rows[len(rows)-1].At
	if got := m.AtText(last); got != "0 + 2999 parts before" {
		t.Errorf("the last field is at %q", got)
	}
	if full := m.FullAtText(last); strings.Count(full, " + ") != 2999 || !strings.HasSuffix(full, " + s2998") {
		t.Errorf("in full: %d bytes", len(full))
	}
	if got, want := m.AtText(rows[3].At), "0 + s0 + s1 + s2"; got != want {
		t.Errorf("the fourth field is at %q, want %q", got, want)
	}
	long := strings.Repeat("long", 50)
	deep := plain(field("x", number(8)), field("y", number(8)))
	for range 40 {
		deep = plain(field(long, &schema.Group{Struct: deep}))
	}
	m = compile(t, deep)
	at := m.Layout()[1].Field
	if path := m.Path(at); path != "…#41.y" {
		t.Errorf("a deep path is %q", path)
	}
	if path := m.FullPath(at); len(path) != 40*201+1 {
		t.Errorf("in full %d bytes", len(path))
	}
}
