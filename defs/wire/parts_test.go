package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

func varint(v schema.Varint) *schema.Number { return &schema.Number{Bits: 32, Var: v} }

// counted returns the items of contents after their number of units.
func counted(f *schema.Field, n *schema.Number) []schema.Item {
	return []schema.Item{{Kind: schema.Count, Field: f, Num: n}, value(f)}
}

func size(s schema.Size) schema.Extent { return schema.Extent{Size: s} }

// join returns a struct with its fields, and the items of several groups.
func join(fields []*schema.Field, items ...[]schema.Item) *schema.Struct {
	return &schema.Struct{Fields: fields, Wire: slices.Concat(items...)}
}

// full is like show, with the notes of rows and the features.
func full(m *wire.Message, rows []wire.Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Repeat("  ", r.Depth) + r.Kind.String() + " " + m.Path(r.Field) + " at " + m.AtText(r.At) + sizeOf(r))
		if note := m.Note(&r); note != "" {
			b.WriteString(" # " + note)
		}
		if r.Apart != nil {
			b.WriteString(" (apart)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func sizeOf(r wire.Row) string {
	least, most := r.Size.Bytes()
	switch {
	case r.Min.Bits%8 != 0:
		return fmt.Sprintf(": %d bits", r.Min.Bits)
	case most == wire.NoLimit:
		return fmt.Sprintf(": %d or more", least)
	case least == most:
		return fmt.Sprintf(": %d", least)
	}
	return fmt.Sprintf(": %d to %d", least, most)
}

func checkFull(t *testing.T, m *wire.Message, rows []wire.Row, want string) {
	t.Helper()
	want = strings.TrimLeft(strings.ReplaceAll(want, "\t", ""), "\n")
	if got := full(m, rows); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestNumbersOfVariableSize checks that such numbers are parts of their own, also those about other parts.
func TestNumbersOfVariableSize(t *testing.T) {
	id, name := field("id", varint(schema.ZigZag)), field("name", &schema.Text{Charset: schema.UTF8, Extent: size(schema.Counted)})
	tail := field("tail", &schema.Number{Bits: 64, Var: schema.LEB128, Add: -1, Absent: true})
	code := []schema.Item{{Kind: schema.Code, Num: varint(schema.LEB128)}}
	m := compile(t, join([]*schema.Field{id, name, tail}, code, []schema.Item{value(id)}, counted(name, varint(schema.LEB128)), []schema.Item{value(tail)}))
	checkFull(t, m, m.Layout(), `
	code  at 0: 1 to 5
	value id at 0 + code: 1 to 5
	count name at 0 + code + id: 1 to 5
	value name at 0 + code + id + name.count: 0 or more
	value tail at 0 + code + id + name.count + name: 1 to 10 # sent as the number plus 1, 0 if there is no value
	`)
	for i, kind := range []wire.Kind{wire.Var, wire.Var, wire.Var, wire.Text, wire.Var} {
		if m.Body.Parts[i].Kind != kind {
			t.Errorf("part %d is of kind %d", i, m.Body.Parts[i].Kind)
		}
	}
	if !m.CodeVar || m.Code.Bits != 0 {
		t.Errorf("code of variable size: %v, at %+v", m.CodeVar, m.Code)
	}
}

// TestChoices checks the conditions of alternatives inside alternatives, and of one that is an option.
func TestChoices(t *testing.T) {
	kind, sub := field("kind", number(8)), field("sub", number(8))
	text := func(s string) *string { return &s }
	mode := field("mode", &schema.Text{Charset: schema.UTF8, Extent: size(schema.Terminated)})
	inner := field("", &schema.Choice{On: schema.RefTo(sub), Anon: true, Cases: []schema.Alternative{
		{Value: 1, Body: plain(field("a", number(16)))}, {Value: 2, Name: "two", Body: plain(field("b", number(32)))}, {Else: true, Body: plain(field("c", number(8)))},
	}})
	data := field("data", &schema.Choice{On: schema.RefTo(kind), Cases: []schema.Alternative{{Value: 7, Body: plain(sub, inner)}, {Else: true}}})
	only := field("only", &schema.Choice{On: schema.RefTo(kind), Cases: []schema.Alternative{{Value: 7}, {Else: true, Body: plain(field("x", number(8)))}}})
	byText := field("by", &schema.Choice{On: schema.RefTo(mode), Cases: []schema.Alternative{{Text: text("on"), Bare: true, Body: plain(field("", number(8)))}}})
	reply := field("reply", &schema.Choice{Cases: []schema.Alternative{{}, {Else: true, Bare: true, Body: plain(field("", number(64)))}}})
	tail := field("tail", number(8))
	m := compile(t, join([]*schema.Field{kind, data, only, mode, byText, reply, tail}, []schema.Item{value(kind), value(data), value(only), value(mode), value(byText)},
		[]schema.Item{{Kind: schema.Present, Field: reply, Num: &schema.Number{Bits: 8, Kind: schema.Bool}}, value(reply), value(tail)}))
	checkFull(t, m, m.Layout(), `
	value kind at 0: 1
	value data.sub at 1: 1 # if kind is 7
	value data.a at 2: 2 # if kind is 7 and data.sub is 1
	value data.b at 2: 4 # if kind is 7 and data.sub is two
	value data.c at 2: 1 # if kind is 7 and data.sub has another value
	value only.x at 1 + data: 1 # if kind is not 7
	value mode at 1 + data + only: 1 or more
	value by at 1 + data + only + mode: 1 # if mode is "on"
	present reply at 1 + data + only + mode + by: 1
	value reply at 2 + data + only + mode + by: 8 # if reply is present
	value tail at 2 + data + only + mode + by + reply: 1
	`)
	outer, least, most := m.Body.Parts[1], int64(0), int64(40)
	if outer.Kind != wire.Choice || outer.Min.Bits != least || outer.Max != most {
		t.Errorf("the choice is %d..%d bits, want %d..%d", outer.Min.Bits, outer.Max, least, most)
	}
	checkFull(t, m, m.Outline()[:4], `
	value kind at 0: 1
	value data at 1: 0 to 5
	value data.sub at 1: 1 # if kind is 7
	value data at 2: 1 to 4 # if kind is 7
	`)
}

// TestExtents checks computed sizes, lists that end with a byte or announce the next element, and contents that may be absent.
func TestExtents(t *testing.T) {
	w, h := field("w", number(8)), field("h", &schema.Number{Bits: 8, Kind: schema.Signed})
	area := &schema.Expr{Op: schema.Mul, Args: []*schema.Expr{schema.RefTo(w), {Op: schema.Add, Args: []*schema.Expr{schema.RefTo(h), {Int: 1}}}}}
	bytes := field("bytes", &schema.Blob{Extent: schema.Extent{Size: schema.Computed, Expr: area}})
	until := field("until", &schema.List{Elem: plain(field("x", number(16))), Extent: schema.Extent{Size: schema.Until, End: 0x7f}})
	slot := field("slot", &schema.Number{Bits: 7, Order: schema.Big})
	more := &schema.Struct{Fields: []*schema.Field{slot}, Wire: []schema.Item{{Kind: schema.More, Bits: 1, Order: schema.Big}, value(slot)}}
	while := field("while", &schema.List{Elem: more, Extent: size(schema.While)})
	some := field("some", &schema.Blob{Extent: schema.Extent{Size: schema.Counted, Null: true}})
	m := compile(t, join([]*schema.Field{w, h, bytes, until, while, some}, []schema.Item{value(w), value(h), value(bytes), value(until), value(while)},
		counted(some, &schema.Number{Bits: 16, Kind: schema.Signed, Order: schema.Big})))
	checkFull(t, m, m.Layout(), `
	value w at 0: 1
	value h at 1: 1
	value bytes at 2: 0 or more # bytes: w * (h + 1)
	value until at 2 + bytes: 1 or more # up to a byte of 127 in the place of an element
	  value until[].x at element + 0: 2
	value while at 2 + bytes + until: 1 or more # each element starts with whether another one follows
	  more  at element + 0: 1 bits
	  value while[].slot at element + 0 bytes 1 bits: 7 bits
	count some at 2 + bytes + until + while: 2 # -1 if there is no value
	value some at 4 + bytes + until + while: 0 or more
	`)
	let := m.Body.Parts[1]
	if let.Kind != wire.Let || m.Body.Parts[2].Count != let.Reg || m.ExprText(*m.Regs[let.Reg].Expr) != "w * (h + 1)" || let.Max != 0 {
		t.Errorf("the size is computed by %+v", let)
	}
	if p := m.Body.Parts[4]; p.More != (wire.Place{Bits: 1, Order: schema.Big}) {
		t.Errorf("more is at %+v", p.More)
	}
}

// TestEndings checks lists that end with an element that meets a condition.
func TestEndings(t *testing.T) {
	stop, last := field("stop", number(8)), field("last", number(8))
	list := field("list", &schema.List{Elem: plain(last), Extent: schema.Extent{
		Size: schema.Ending, Expr: &schema.Expr{Op: schema.Equal, Args: []*schema.Expr{schema.RefTo(last), schema.RefTo(stop)}},
	}})
	m := compile(t, plain(stop, list))
	checkFull(t, m, m.Layout(), `
	value stop at 0: 1
	value list at 1: 1 or more # until list[].last == stop
	  value list[].last at element + 0: 1
	`)
	p := m.Body.Parts[1]
	if let := p.Elem.Parts[1]; let.Kind != wire.Let || let.Reg != p.Ended {
		t.Errorf("the end is computed by %+v", let)
	}
	if got := m.Features(); len(got) != 2 || got[1] != (wire.Use{Feature: wire.Endings, Field: 1}) {
		t.Errorf("the features are %v", got)
	}
	if text := (&schema.Message{Name: "M", Body: plain(stop, list)}).String(); !strings.Contains(text, "list list ending of (last == ../stop)\n") {
		t.Error(text)
	}
}

// TestComputed checks numbers that are computed and not sent.
func TestComputed(t *testing.T) {
	a := field("a", number(8))
	b := field("b", &schema.Number{Bits: 16, Expr: &schema.Expr{Op: schema.Add, Args: []*schema.Expr{schema.RefTo(a), {Int: 1}}}})
	c := field("c", &schema.Blob{Extent: schema.Extent{Size: schema.Computed, Expr: schema.RefTo(b)}})
	m := compile(t, plain(a, b, c))
	checkFull(t, m, m.Layout(), `
	value a at 0: 1
	value b at 1: 0 # computed: a + 1
	value c at 1: 0 or more # bytes: b
	`)
	if rows := m.Layout(); !rows[1].Computed() || rows[0].Computed() || rows[2].Computed() || m.Body.Parts[1].Kind != wire.Computed {
		t.Errorf("the parts are %+v", m.Body.Parts)
	}
	if text := (&schema.Message{Name: "M", Body: plain(a, b)}).String(); !strings.Contains(text, "b uint16 computed as (a + 1)\n") {
		t.Error(text)
	}
	_, err := wire.Compile(&schema.Message{Name: "M", Body: plain(b, a)})
	if err == nil || !strings.Contains(err.Error(), `depends on "a", which is not an earlier number`) {
		t.Error(err)
	}
}

// TestPositions checks contents at a position that is computed: the parts after them are at the offset of the group.
func TestPositions(t *testing.T) {
	a, x, y, z := field("a", number(8)), field("x", number(16)), field("y", number(8)), field("z", number(8))
	text := field("", &schema.Text{Charset: schema.UTF8, Extent: size(schema.Terminated)})
	g := field("g", &schema.Group{Struct: plain(x, field("t", &schema.Group{Struct: plain(text), Bare: true, At: schema.RefTo(x)}), y), At: &schema.Expr{
		Op: schema.Mul, Args: []*schema.Expr{schema.RefTo(a), {Int: 4}},
	}})
	m := compile(t, plain(a, g, z))
	checkFull(t, m, m.Layout(), `
	value a at 0: 1
	value g.x at position + 0: 2 # position: a * 4
	value g.t at position + 0: 1 or more # position: g.x
	value g.y at position + 2: 1 # position: a * 4
	value z at 1: 1
	`)
	if got := m.Features(); len(got) != 2 || got[1] != (wire.Use{Feature: wire.Positions, Field: 1}) {
		t.Errorf("the features are %v", got)
	}
	if m.Body.Min.Bits != 16 || m.Body.Max != wire.NoLimit {
		t.Errorf("the size is %+v", m.Body.Size)
	}
	if text := (&schema.Message{Name: "M", Body: plain(a, g)}).String(); !strings.Contains(text, "g group at (a * 4)\n    x uint16\n    t group bare at x\n") {
		t.Error(text)
	}
}

// TestGroups checks groups with a size, and groups that contain themselves.
func TestGroups(t *testing.T) {
	tree := &schema.Struct{}
	kids := field("kids", &schema.List{Elem: plain(field("", &schema.Group{Struct: tree, Own: true})), Bare: true, Extent: size(schema.Counted)})
	*tree = *join([]*schema.Field{field("leaf", number(8)), kids}, nil)
	tree.Wire = append([]schema.Item{value(tree.Fields[0])}, counted(kids, number(8))...)
	root, sized := field("root", &schema.Group{Struct: tree, Own: true}), field("sized", &schema.Group{Struct: plain(field("x", number(8))), Sized: true, Null: true})
	m := compile(t, join([]*schema.Field{root, sized}, []schema.Item{value(root), {Kind: schema.Bytes, Field: sized, Num: varint(schema.LEB128)}, value(sized)}))
	checkFull(t, m, m.Layout(), `
	value root.leaf at 0: 1
	count root.kids at 1: 1
	value root.kids at 2: 0 or more
	  value root.kids[] at element + 0: 0 or more # as root again
	bytes sized at 0 + root: 1 to 5 # 0 if there is no value
	value sized.x at 0 + root + sized.bytes: 1
	`)
	if p := m.Body.Parts[0]; p.Kind != wire.Group || p.Bytes != wire.None || m.Body.Parts[2].Bytes == wire.None {
		t.Errorf("the groups are %+v, %+v", p, m.Body.Parts[2])
	}
}

// TestFeatures checks that each construct is a feature, with its first use.
func TestFeatures(t *testing.T) {
	all := map[string]*schema.Struct{
		"":                         plain(field("a", number(8)), field("b", number(3)), field("c", number(5)), field("d", &schema.Number{Bits: 24, Order: schema.Big})),
		"numbers of variable size": plain(field("a", varint(schema.VLQ))),
		"numbers with an added constant or without a value": plain(field("a", &schema.Number{Bits: 8, Add: 1})),
		"floats of 16 bits":                      plain(field("a", &schema.Number{Bits: 16, Kind: schema.Float})),
		"bits from the most significant one on":  plain(field("a", &schema.Number{Bits: 4, Order: schema.Big}), field("b", &schema.Number{Bits: 4, Order: schema.Big})),
		"flags that leave bits out or overlap":   plain(field("a", &schema.Bitfield{Bits: 8, All: "all", Forms: make([]schema.Form, 1)})),
		"lists that end with a byte":             plain(field("a", &schema.List{Elem: plain(field("x", number(8))), Extent: size(schema.Until)})),
		"numbers that are computed and not sent": plain(field("a", &schema.Number{Bits: 8, Expr: &schema.Expr{Int: 1}})),
		"groups that contain themselves":         plain(field("a", &schema.Group{Struct: plain(field("x", number(8))), Own: true})),
	}
	for want, s := range all {
		got := compile(t, s).Features()
		switch {
		case want == "" && len(got) > 0, want != "" && len(got) != 1:
			t.Errorf("%q: %v", want, got)
		case want != "" && (got[0].Feature.String() != want || got[0].Field != 0):
			t.Errorf("%q: %v", want, got)
		}
	}
	for f := range wire.Features {
		if f.String() == "" {
			t.Errorf("feature %d has no name", f)
		}
	}
}

// TestApart checks that an outline refers to structs that are apart, and that the offsets after them are those of a part.
func TestApart(t *testing.T) {
	kind := field("kind", number(8))
	shared := plain(kind, field("", &schema.Choice{On: schema.RefTo(kind), Anon: true, Cases: []schema.Alternative{{Value: 1, Body: plain(field("x", number(8)))}}}))
	again := field("again", &schema.Choice{Cases: []schema.Alternative{{}, {Else: true, Body: shared}}})
	list := field("list", &schema.List{Elem: shared, Extent: schema.Extent{Size: schema.ToEnd}})
	body := join([]*schema.Field{field("one", &schema.Group{Struct: shared}), again, list}, nil)
	body.Wire = []schema.Item{value(body.Fields[0]), {Kind: schema.Present, Field: again, Num: number(8)}, value(again), value(list)}
	m, err := wire.CompileApart(&schema.Message{Name: "M", Body: body}, map[*schema.Struct]bool{shared: true})
	if err != nil {
		t.Fatal(err)
	}
	checkFull(t, m, m.Outline(), `
	value one at 0: 1 to 2 (apart)
	present again at 0 + one: 1
	value again at 1 + one: 1 to 2 # if again is present (apart)
	value list at 1 + one + again: 0 or more (apart)
	`)
	checkFull(t, m, m.Layout()[:2], `
	value one.kind at 0: 1
	value one.x at 1: 1 # if one.kind is 1
	`)
}
