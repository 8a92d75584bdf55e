package emit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// message writes the functions of a message: each passes values, in wire order, to the coder x, which reads, writes or measures them.
func (g *cTarget) message(m *message) {
	g.m, g.laid, g.contents = m, m.laid, contents(m.laid)
	g.at, g.mem = make([]string, len(g.laid.Fields)), m.mem
	g.read = make([]bool, len(g.laid.Regs))
	g.reads(g.laid.Body.Parts, func(reg int) { g.read[reg] = true })
	name := g.types[m.record]
	g.function(name, name+"_wire_", nil, "static", func() {
		g.enter(g.laid.Body.Fields, "s")
		g.body(g.laid.Body.Parts, m.record, "s")
	})
	g.public(m, name)
}

// function writes a function that passes a value of a type, unless there is one with the same body, and returns its name. own: its name, if it
// calls itself or is that of a message.
func (g *cTarget) function(typ, own string, params []int, linkage string, body func()) string {
	fn, before := g.fn, g.code
	g.fn, g.code = &function{regs: map[int]string{}}, code{}
	list := ""
	for i, reg := range params {
		g.fn.regs[reg] = fmt.Sprintf("v%d", i+1)
		list += fmt.Sprintf(", %s v%d", g.regType(reg), i+1)
	}
	g.depth = 1
	body()
	text := ""
	for _, reg := range g.fn.vars {
		zero := map[bool]string{true: "{0, NULL}", false: "0"}[g.text(reg)]
		text += fmt.Sprintf("\t%s %s = %s;\n", g.regType(reg), g.reg(reg), zero)
	}
	text += "\t(void)x;\n\t(void)s;\n"
	for i := range params {
		text += fmt.Sprintf("\t(void)v%d;\n", i+1)
	}
	text += g.code.b.String()
	g.fn, g.code = fn, before
	key := typ + list + "{" + text
	name := own
	if name == "" {
		if old := g.methods[key]; old != "" {
			return old
		}
		name = g.newFunction(typ)
		g.methods[key] = name
	}
	head := fmt.Sprintf("%s(wb_coder *x, %s_t *s%s)", name, typ, list)
	if linkage != "static" {
		g.prototypes = append(g.prototypes, linkage+"void "+head+";\n")
		if own != "" {
			g.recursive = append(g.recursive, linkage+"void "+head+";\n")
		}
	} else {
		linkage += " "
	}
	g.out.WriteString(fmt.Sprintf("%svoid\n%s\n{\n%s}\n\n", linkage, head, text))
	return name
}

// newFunction returns the name of another function of a type.
func (g *cTarget) newFunction(typ string) string {
	g.count[typ]++
	return fmt.Sprintf("%s_wire%d_", typ, g.count[typ])
}

// selects omits a message whose alternatives depend on a text that C has not as bytes of the message.
func (g *cTarget) selects(laid *wire.Message) {
	for p := range all(laid.Body.Parts) {
		regs, fields := []int{p.Reg}, []int{p.Field}
		for k := range p.Items {
			if it := &p.Items[k]; it.Kind == schema.Value {
				regs, fields = append(regs, it.Reg), append(fields, it.Field)
			}
		}
		for i, f := range fields {
			if f == wire.None || regs[i] == wire.None {
				continue
			}
			t, ok := laid.Fields[f].Schema.Type.(*schema.Text)
			_, inside := g.room(p.Extent, 2)
			if ok && (i > 0 || t.Charset == schema.UTF16LE && (inside || t.Size == schema.Fixed)) {
				fail("alternatives depend on the text %q", laid.Fields[f].Schema.Name)
			}
		}
	}
}

// text reports whether a register is that of a text or of bytes.
func (g *cTarget) text(reg int) bool {
	switch g.laid.Regs[reg].Type.(type) {
	case *schema.Text, *schema.Blob:
		return true
	}
	return false
}

func (g *cTarget) regType(reg int) string {
	if g.text(reg) {
		return "wb_bytes"
	}
	return "uint64_t"
}

// enter sets the expressions of the fields of a record.
func (g *cTarget) enter(fields []int, base string) {
	for _, f := range fields {
		g.enterValue(f, g.dot(base, g.fields[g.mem[f]]))
	}
}

// enterValue sets the expression of a field, and of the fields in it.
func (g *cTarget) enterValue(f int, expr string) {
	g.at[f] = expr
	switch t := g.laid.Fields[f].Schema.Type.(type) {
	case *schema.Group:
		inner := expr
		if t.Null {
			inner = "(*" + expr + ")"
		}
		switch {
		case g.laid.Fields[f].Again != wire.None:
		case bare(t):
			g.enterValue(g.laid.Inside(f)[0], inner)
		case !t.Own:
			g.enter(g.laid.Inside(f), inner)
		}
	case *schema.Choice:
		if t.Anon {
			expr = strings.TrimSuffix(expr, g.fields[g.mem[f]])
			g.at[f] = strings.TrimSuffix(strings.TrimSuffix(expr, "."), "->")
		}
	}
}

// form returns the arguments for the encoding of a number, without its added constant.
func cForm(it *wire.Item) string {
	n, _ := it.Type.(*schema.Number)
	var forms []string
	if it.Var != schema.Sized {
		forms = append(forms, [...]string{"", "WB_LEB_", "WB_SLEB_", "WB_ZIGZAG_", "WB_VLQ_"}[it.Var])
	}
	if it.Order == schema.Big {
		forms = append(forms, "WB_BIG_")
	}
	if n != nil && n.Kind == schema.Signed {
		forms = append(forms, "WB_SIGNED_")
	}
	if len(forms) == 0 {
		forms = []string{"0"}
	}
	return fmt.Sprintf("%d, %s", it.Bits, strings.Join(forms, " | "))
}

// cAdd returns the constant that is added to a number.
func cAdd(it *wire.Item) string {
	n, _ := it.Type.(*schema.Number)
	return cUint(uint64(addOf(n)))
}

// body writes the parts of a body; base is the record of its optional parts and of its alternatives.
func (g *cTarget) body(parts []wire.Part, r *record, base string) {
	for i := range parts {
		p := &parts[i]
		if p.Optional > 0 && (i == 0 || parts[i-1].Optional != p.Optional) {
			g.line("if (!wb_part_(x, &%s, %d))\n\treturn;", g.dot(base, g.parts[r]), p.Optional)
		}
		if p.Kind == wire.Choice && p.Field == wire.None {
			g.variants(p, r, base)
		} else {
			g.part(p)
		}
	}
}

func (g *cTarget) part(p *wire.Part) {
	switch p.Kind {
	case wire.Block:
		g.block(p)
	case wire.Var:
		g.other("NULL", &p.Items[0])
	case wire.Text, wire.Blob:
		g.run(p)
	case wire.List:
		g.list(p)
	case wire.Weave:
		g.weave(p)
	case wire.Choice:
		g.choice(p)
	case wire.Group:
		g.group(p)
	case wire.Call:
		of := g.find(func(x *wire.Part) bool { return x.Kind == wire.Group && x.Field == g.laid.Fields[p.Field].Again })
		g.own(of, p.Field)
	case wire.Let:
		if at := g.set(p.Reg); at != "" {
			g.line("%s(uint64_t)%s;", at, g.expr(*p.Expr))
		}
	case wire.Computed:
		n, v := p.Items[0].Type.(*schema.Number), "n"+g.id()
		g.line("uint64_t %s = (uint64_t)%s & %s;", v, g.expr(*p.Expr), cUint(schema.Mask(n.Bits)))
		if at := g.set(p.Reg); at != "" {
			g.line("%s%s;", at, v)
		}
		g.keep(g.at[p.Field], g.shown(n, g.loaded(n, v)))
		g.limit(n, g.at[p.Field])
	case wire.Align:
		g.line("wb_align_(x, %d);", p.Unit)
	}
}

// keep sets a value that was read.
func (g *cTarget) keep(to, value string) {
	g.line("if (!x->writing)\n\t%s%s = %s;", g.tabs(), to, value)
}

// tabs returns the current indentation, for the second line of a statement.
func (g *cTarget) tabs() string { return strings.Repeat("\t", g.depth) }

// stop writes a return after errors.
func (g *cTarget) stop() { g.line("if (x->result != 0)\n%s\treturn;", g.tabs()) }

// limit checks the legal range of a number; v is the value as in messages.
func (g *cTarget) limit(n *schema.Number, v string) {
	if n.Kind == schema.Unsigned && n.Add != 0 {
		v = fmt.Sprintf("(uint64_t)%s - %s", v, cUint(uint64(n.Add)))
	}
	if cond := g.inRange(n, v); cond != "" && n.Kind != schema.Bool {
		g.line("wb_check_(x, %s);", cond)
	}
}

// selectors returns the numbers that select contents, and none of them, of a choice that a number selects which is not a value.
func selectors(t *schema.Choice) (with, without uint64) {
	with = 1
	rest := false // the other number selects contents
	for i := range t.Cases {
		switch a := &t.Cases[i]; {
		case a.Else:
			rest = a.Body != nil
		case a.Body == nil:
			without = a.Value
		default:
			with = a.Value
		}
	}
	switch {
	case with != without:
	case rest:
		with = without + 1
	default:
		without = with + 1
	}
	return with, without
}

// present returns the number that selects an alternative.
func (g *cTarget) present(f int) string {
	with, without := selectors(g.laid.Fields[f].Schema.Type.(*schema.Choice))
	if len(g.mem[f].kinds) == 0 {
		return cUint(without)
	}
	return fmt.Sprintf("(uint64_t)(%s != NULL ? %s : %s)", g.at[f], cUint(with), cUint(without))
}

// units returns the number of units of contents that are written.
func (g *cTarget) units(f int, e schema.Extent) string {
	if e.Null {
		return fmt.Sprintf("(%s.data != NULL ? %s.len : UINT64_MAX)", g.at[f], g.at[f])
	}
	return g.at[f] + ".len"
}

// amount returns the number of units of a part.
func (g *cTarget) amount(p *wire.Part) string {
	switch p.Extent.Size {
	case schema.Fixed:
		return strconv.Itoa(p.Extent.N)
	case schema.Counted:
		return "(int64_t)" + g.reg(p.Count)
	case schema.Computed:
		return fmt.Sprintf("wb_amount_(x, %s)", g.reg(p.Count))
	case schema.ToEnd:
		return "WB_REST_"
	}
	return "WB_UNTIL_"
}

// placed writes contents, which may be at an offset, or absent.
func (g *cTarget) placed(p *wire.Part, contents func()) {
	if p.Extent.Null {
		plain := contents
		contents = func() {
			g.open("if (%s != UINT64_MAX) {", g.reg(p.Count))
			plain()
			g.shut("}")
		}
	}
	if p.Offset == wire.None {
		contents()
		return
	}
	none, id := "false", g.id()
	switch p.Extent.Size {
	case schema.Counted:
		none = g.reg(p.Count) + " == 0"
	case schema.Terminated:
		none = g.reg(p.Offset) + " == 0"
	}
	at := g.laid.Regs[p.Offset].Place
	g.line("size_t back%s = x->pos;", id)
	g.open("if (wb_seek_(x, %s, %d, %v, %s)) {", g.reg(p.Offset), at.Bits, at.Order == schema.Big, none)
	contents()
	g.line("wb_back_(x, back%s);", id)
	g.shut("}")
}

// limits checks the number of units that are written, if it is not sent but limited.
func (g *cTarget) limits(p *wire.Part) {
	if p.Count == wire.None && (p.Extent.Min != nil || p.Extent.Max != nil) && p.Extent.Size != schema.Fixed {
		lo, hi := g.bounds(p.Extent)
		g.line("wb_check_(x, !x->writing || wb_in_u_(%s.len, %s, %s));", g.at[p.Field], lo, hi)
	}
}

// run writes text or bytes of variable size.
func (g *cTarget) run(p *wire.Part) {
	expr, t := g.at[p.Field], g.laid.Fields[p.Field].Schema.Type
	typ, unit := unitType(t)
	_, inside := g.room(p.Extent, uint64(unit))
	length, data := expr+".len", expr+".data"
	array := map[bool]string{true: "wb_units_", false: "wb_array_"}[typ == "uint16_t"]
	g.limits(p)
	g.placed(p, func() {
		switch {
		case p.Extent.Size == schema.Fixed:
			length, data = strconv.Itoa(p.Extent.N), expr
			g.line("%s(x, %s, %d);", array, expr, p.Extent.N)
		case inside:
			g.stop()
			g.keep(length, fmt.Sprintf("(%s)%s", lenType(p.Extent), g.reg(p.Count)))
			g.line("%s(x, %s, %s);", array, data, length)
		default:
			g.line("wb_run_(x, %s, %s, %d, %d);", cAddress(expr), g.amount(p), unit, p.Extent.End)
			if p.Extent.Null {
				g.line("if (!x->writing && x->result == 0 && %s == NULL)\n%s\t%s = x->data; /* not absent */", data, g.tabs(), data)
			}
		}
	})
	if at := g.set(p.Reg); at != "" {
		g.line("%s.len = %s;\n%s%s.data = (const uint8_t *)%s;", g.reg(p.Reg), length, g.tabs(), g.reg(p.Reg), data)
	}
}

// elemsOf returns the expression of an element, and the number of elements that are written.
func (g *cTarget) elemsOf(p *wire.Part) (elem func(i string) string, length string) {
	to := g.at[p.Field]
	if p.Extent.Size == schema.Fixed {
		return func(i string) string { return to + "[" + i + "]" }, strconv.Itoa(p.Extent.N)
	}
	return func(i string) string { return to + ".data[" + i + "]" }, to + ".len"
}

// inner returns the type of the elements of a list, or of a pointer to them.
func (g *cTarget) inner(m *member, name string) string {
	if m.elem == nil {
		return g.structType(m.record) + " " + name
	}
	if named := g.elemNames[m.typ]; named != "" {
		return named + " " + name
	}
	return g.declare(m.elem, name)
}

// making writes the memory for the n elements of a list that is read.
func (g *cTarget) making(p *wire.Part, n string) {
	to, m := g.at[p.Field], g.mem[p.Field]
	if p.Extent.Size == schema.Fixed {
		return
	}
	g.open("if (!x->writing) {")
	if _, inside := g.listRoom(m); inside {
		g.line("%s.len = (%s)%s;", to, lenType(p.Extent), n)
	} else {
		room := n
		if p.Extent.Null {
			room = "(" + n + " > 0 ? " + n + " : 1)" // not absent
		}
		g.line("%s.data = (%s)wb_alloc_(x, %s, sizeof *%s.data);", to, g.inner(m, "*"), room, to)
		g.stop()
		g.line("%s.len = %s;", to, n)
	}
	g.shut("}")
}

func (g *cTarget) list(p *wire.Part) {
	if p.Linked() {
		id := g.chained(p)
		elem, length := g.elemsOf(p)
		g.open("for (size_t i%s = 0; wb_link_(x, &c%s, i%s, %s); i%s++) {", id, id, id, length, id)
		g.element(p, elem("i"+id))
		g.line("wb_linked_(x, &c%s);", id)
		g.shut("}")
		return
	}
	g.limits(p)
	g.placed(p, func() { g.elements(p) })
}

// chained begins a list whose elements have the offset of the next one.
func (g *cTarget) chained(p *wire.Part) (id string) {
	id = g.id()
	n, first := g.reg(p.Count), g.laid.Regs[p.Offset].Place
	at := func(p wire.Place) (int, int, bool) { return p.Off, p.Bits, p.Order == schema.Big }
	_, bits, big := at(first)
	here, hereBits, hereBig := at(p.Here)
	next, nextBits, nextBig := at(p.Next)
	g.line("wb_chain c%s = {%s, %d, %v, %s, %d, %d, %d, %d, %v, %v, 0, 0};", id, g.reg(p.Offset), bits, big, n, here, next, hereBits, nextBits, hereBig, nextBig)
	g.line("wb_chain_(x, &c%s);", id)
	g.stop()
	g.making(p, "(size_t)"+n)
	return id
}

// weave writes lists whose elements are written in turn.
func (g *cTarget) weave(p *wire.Part) {
	id := g.id()
	var chains []string
	for k := range p.Lists {
		chains = append(chains, g.chained(&p.Lists[k]))
	}
	g.line("bool more%s = true;", id)
	g.open("for (size_t i%s = 0; more%s; i%s++) {", id, id, id)
	g.line("more%s = false;", id)
	for k := range p.Lists {
		elem, length := g.elemsOf(&p.Lists[k])
		g.open("if (wb_link_(x, &c%s, i%s, %s)) {", chains[k], id, length)
		g.element(&p.Lists[k], elem("i"+id))
		g.line("wb_linked_(x, &c%s);", chains[k])
		g.line("more%s = true;", id)
		g.shut("}")
	}
	g.shut("}")
}

// element writes an element.
func (g *cTarget) element(p *wire.Part, elem string) {
	m := g.mem[p.Field]
	switch {
	case p.List.Bare:
		g.enterValue(p.Elem.Fields[0], elem)
		g.body(p.Elem.Parts, nil, "")
	case p.Extent.Size == schema.While || p.Extent.Size == schema.Ending: // the element sets the end of the list
		g.enter(p.Elem.Fields, elem)
		g.body(p.Elem.Parts, m.record, elem)
	default:
		params := g.outer(p.Elem)
		name := g.function(g.types[m.record], "", params, cLocal, func() {
			g.enter(p.Elem.Fields, "s")
			g.body(p.Elem.Parts, m.record, "s")
		})
		g.line("%s(x, &%s%s);", name, elem, g.args(params))
	}
}

// elements writes elements one after the other.
func (g *cTarget) elements(p *wire.Part) {
	id := g.id()
	i, to, n := "i"+id, g.at[p.Field], g.amount(p)
	elem, length := g.elemsOf(p)
	least, size := byteSum(p.Elem.Min), int64(0) // of each element
	if parts := p.Elem.Parts; len(parts) == 1 && parts[0].Kind == wire.Block && parts[0].Optional == 0 {
		size = parts[0].Min.Bits / 8
	}
	switch e := p.Extent.Size; {
	case e == schema.Fixed:
		g.open("for (size_t %s = 0; %s < %d && x->result == 0; %s++) {", i, i, p.Extent.N, i)
		g.element(p, elem(i))
		g.shut("}")
		return
	case e == schema.Counted, e == schema.Computed, e == schema.ToEnd && size > 0:
		g.line("size_t n%s = wb_list_(x, %s, %s, %s);", id, n, length, least)
		g.stop()
		g.making(p, "n"+id)
		g.open("for (size_t %s = 0; %s < n%s && x->result == 0; %s++) {", i, i, id, i)
		g.element(p, elem(i))
		g.shut("}")
		if e == schema.ToEnd {
			g.line("wb_end_(x);")
		}
		return
	}
	more, of := g.fn.more, g.fn.moreOf
	g.line("size_t room%s = 0;", id)
	switch last := fmt.Sprintf("%s + 1 == %s", i, length); p.Extent.Size {
	case schema.Until:
		g.open("for (size_t %s = 0; wb_ended_(x, %s < %s, %d); %s++) {", i, i, length, p.Extent.End, i)
	case schema.While, schema.Ending:
		g.fn.more, g.fn.moreOf = "more"+id, last
		g.line("bool more%s = true;", id)
		g.line("wb_check_(x, !x->writing || %s > 0);", length)
		g.open("for (size_t %s = 0; more%s && x->result == 0; %s++) {", i, id, i)
	default:
		g.open("for (size_t %s = 0; wb_more_(x, %s >= %s); %s++) {", i, i, length, i)
	}
	g.line("size_t from%s = x->pos;", id)
	g.line("if (!x->writing)\n%s\t%s.data = (%s)wb_push_(x, %s.data, &%s.len, &room%s, sizeof *%s.data);", g.tabs(), to, g.inner(g.mem[p.Field], "*"), to, to, id, to)
	g.stop()
	g.element(p, elem(i))
	switch last := fmt.Sprintf("%s + 1 == %s", i, length); p.Extent.Size {
	case schema.Until:
		g.line("wb_begin_(x, from%s, %d);", id, p.Extent.End)
	case schema.While:
		g.line("more%s = wb_whole_(x, %s, more%s);", id, last, id)
	case schema.Ending:
		g.line("more%s = wb_whole_(x, %s, %s == 0);", id, last, g.reg(p.Ended))
	}
	switch p.Extent.Size {
	case schema.Until, schema.While, schema.Ending:
		g.line("(void)from%s;", id)
	default:
		g.line("if (!x->writing && x->pos == from%s)\n%s\tbreak; /* it would not end */", id, g.tabs())
	}
	g.shut("}")
	g.fn.more, g.fn.moreOf = more, of
}

// variants writes the alternatives at the end of a record, which depend on a number or on the size of the message.
func (g *cTarget) variants(p *wire.Part, r *record, base string) {
	alternative := ""
	if r.choice {
		alternative = g.dot(base, g.choices[r])
		g.keep(alternative, g.found(p, "x->size"))
	}
	if len(p.Cases) == 0 {
		return
	}
	on := alternative
	if on == "" {
		on = g.reg(p.Cases[0].Reg)
	}
	g.cases(p, on, func(c *wire.Case, k int) string {
		if r.choice {
			return strconv.Itoa(k + 1)
		}
		return cUint(c.Value)
	}, func(c *wire.Case, _ int) {
		g.enter(c.Body.Fields, base)
		g.body(c.Body.Parts, nil, "")
	})
}

// found returns an expression for the alternative of a message of a size.
func (g *cTarget) found(p *wire.Part, size string) string {
	found := "0"
	for k, c := range slices.Backward(p.Cases) {
		found = fmt.Sprintf("(%s) ? %d : %s", g.lengthIs(&c, size), k+1, found)
	}
	return found
}

// cases writes a switch, with the first case of each value; texts are compared one after the other.
func (g *cTarget) cases(p *wire.Part, on string, value func(c *wire.Case, k int) string, body func(c *wire.Case, k int)) {
	seen := map[string]bool{}
	var texts []branch
	total := false
	text := p.Cases[0].Reg != wire.None && g.text(p.Cases[0].Reg)
	if !text {
		g.open("switch (%s) {", on)
	}
	for k := range p.Cases {
		c := &p.Cases[k]
		label := "default"
		if !c.Else {
			label = "case " + value(c, k)
		}
		if seen[label] {
			continue
		}
		seen[label] = true
		if text {
			if total = c.Else; !c.Else {
				label = strings.TrimPrefix(label, "case ")
			}
			texts = append(texts, branch{label, "", func() { body(c, k) }})
			continue
		}
		g.line("%s: {", label)
		g.depth++
		body(c, k)
		g.line("break;")
		g.shut("}")
	}
	if !text {
		g.shut("}")
	} else if len(texts) == 1 && total {
		texts[0].body()
	} else {
		g.branches(texts, total)
	}
}

// choice writes alternatives.
func (g *cTarget) choice(p *wire.Part) {
	f := p.Field
	t, m := g.laid.Fields[f].Schema.Type.(*schema.Choice), g.mem[f]
	if len(p.Cases) == 0 {
		return
	}
	reg := p.Cases[0].Reg
	g.cases(p, g.reg(reg), func(c *wire.Case, _ int) string {
		if c.Text == nil {
			return cUint(c.Value)
		}
		set := schema.Latin1
		if t, ok := g.laid.Regs[reg].Type.(*schema.Text); ok {
			set = byteWise(t.Charset)
		}
		var b []byte
		units, _ := textUnits(set, *c.Text)
		for _, u := range units {
			if b = append(b, byte(u)); set == schema.UTF16LE {
				b = append(b, byte(u>>8))
			}
		}
		return fmt.Sprintf("%s.len == %d && memcmp(%s.data, %s, %d) == 0", g.reg(reg), len(units), g.reg(reg), cBytes(b), len(b))
	}, func(c *wire.Case, k int) { g.alternative(c, m.kind[k], t.Anon, f) })
}

// value writes the memory of a pointer that is read; the one of a value that is written must be there.
func (g *cTarget) value(expr, pointer string) {
	g.line("if (!x->writing)\n%s\t%s = (%s)wb_alloc_(x, 1, sizeof *%s);", g.tabs(), expr, pointer, expr)
	g.line("wb_check_(x, %s != NULL);", expr)
	g.stop()
}

func (g *cTarget) alternative(c *wire.Case, kind *member, anon bool, f int) {
	m, expr := g.mem[f], g.at[f]
	switch {
	case c.Body.Struct == nil:
		return
	case anon:
		g.enter(c.Body.Fields, expr)
		g.body(c.Body.Parts, nil, "")
		return
	}
	if len(m.kinds) > 1 {
		expr = g.dot(expr, g.fields[kind])
	}
	if len(c.Body.Parts) == 0 {
		g.keep(expr, fmt.Sprintf("(%s)wb_alloc_(x, 1, sizeof *%s)", g.boxed(kind, "*"), expr))
		return
	}
	g.value(expr, g.boxed(kind, "*"))
	if t, ok := kind.typ.(*schema.Group); ok && !t.Own && !kind.null { // a function, as the type may be used in many places
		params := g.outer(&c.Body)
		name := g.function(g.types[kind.record], "", params, cLocal, func() {
			if c.Bare {
				g.enterValue(c.Body.Fields[0], "(*s)")
			} else {
				g.enter(c.Body.Fields, "s")
			}
			g.body(c.Body.Parts, nil, "")
		})
		g.line("%s(x, %s%s);", name, expr, g.args(params))
		return
	}
	if c.Bare {
		g.enterValue(c.Body.Fields[0], "(*"+expr+")")
	} else {
		g.enter(c.Body.Fields, "(*"+expr+")")
	}
	g.body(c.Body.Parts, nil, "")
}

// cAddress returns a pointer to a value.
func cAddress(expr string) string {
	if strings.HasPrefix(expr, "(*") && strings.IndexByte(expr, ')') == len(expr)-1 {
		return expr[2 : len(expr)-1]
	}
	return "&" + expr
}

// own writes the call of the function of a group that contains itself, for the field with its contents.
func (g *cTarget) own(p *wire.Part, f int) {
	r, expr := g.mem[p.Field].record, g.at[f]
	if g.mem[f].ptr {
		g.value(expr, g.pointee(g.mem[f], "*"))
		expr = "(*" + expr + ")"
	}
	params := g.outer(p.Body)
	key := fmt.Sprintf("%p %d", r, len(params))
	name := g.shared[key]
	if name == "" {
		typ := g.types[r]
		name = g.newFunction(typ)
		g.shared[key] = name
		g.function(typ, name, params, cLocal, func() {
			g.line("if (!wb_enter_(x))\n\t\treturn;")
			g.enter(g.laid.Inside(p.Field), "s")
			g.body(p.Body.Parts, r, "s")
			g.line("x->depth--;")
		})
	}
	g.line("%s(x, %s%s);", name, cAddress(expr), g.args(params))
}

// group writes a group with a body of its own.
func (g *cTarget) group(p *wire.Part) {
	f := p.Field
	t, m, expr := g.laid.Fields[f].Schema.Type.(*schema.Group), g.mem[f], g.at[f]
	contents := func() {
		switch {
		case t.Own:
			g.own(p, f)
		case bare(t):
			g.body(p.Body.Parts, nil, "")
		default:
			g.body(p.Body.Parts, m.record, expr)
		}
	}
	if p.Bytes == wire.None {
		contents()
		return
	}
	some, null := "true", -2
	if t.Null {
		some, null = expr+" != NULL", 0
	}
	sets := func(it wire.Item) bool { return it.Reg == p.Bytes }
	holder := g.find(func(x *wire.Part) bool { return slices.ContainsFunc(x.Items, sets) })
	it := &holder.Items[slices.IndexFunc(holder.Items, sets)]
	id, form := g.id(), fmt.Sprintf("%s, %s, %s", g.reg(p.Bytes), cForm(it), cAdd(it))
	g.line("wb_within w%s = wb_within_(x, %s, %s, %d);", id, form, some, null)
	g.open("if (w%s.some) {", id)
	if t.Null && !(t.Own && m.ptr) {
		g.value(expr, g.pointee(m, "*"))
	}
	contents()
	g.line("wb_outside_(x, &w%s, %s);", id, form)
	g.shut("}")
}

// expr returns an expression, as an int64_t.
func (g *cTarget) expr(x wire.Expr) string {
	var stack []string
	for i := range x {
		s := &x[i]
		n := s.Op.Operands()
		args := stack[len(stack)-n:]
		stack = append(stack[:len(stack)-n:len(stack)-n], g.operation(s, args))
	}
	return stack[0]
}

func (g *cTarget) operation(s *wire.Step, args []string) string {
	switch op := s.Op; op {
	case schema.Literal:
		return cInt(s.Int)
	case schema.Ref:
		return g.ref(s)
	case schema.Not:
		return "(int64_t)(" + args[0] + " == 0)"
	case schema.Neg:
		return "wb_int_(0 - (uint64_t)" + args[0] + ")"
	case schema.Invert:
		return "wb_int_(~(uint64_t)" + args[0] + ")"
	case schema.Div, schema.Mod, schema.ShiftLeft, schema.ShiftRight:
		name := map[schema.ExprOp]string{schema.Div: "div", schema.Mod: "mod", schema.ShiftLeft: "shl", schema.ShiftRight: "shr"}[op]
		return fmt.Sprintf("wb_%s_(%s, %s)", name, args[0], args[1])
	case schema.And, schema.Or:
		return fmt.Sprintf("(int64_t)(%s != 0 %s %s != 0)", args[0], op.Name(), args[1])
	case schema.If:
		return fmt.Sprintf("(%s != 0 ? %s : %s)", args[0], args[1], args[2])
	case schema.Equal, schema.NotEqual, schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual:
		return fmt.Sprintf("(int64_t)(%s %s %s)", args[0], op.Name(), args[1])
	default:
		return fmt.Sprintf("wb_int_((uint64_t)%s %s (uint64_t)%s)", args[0], op.Name(), args[1])
	}
}

// ref returns the value of a register.
func (g *cTarget) ref(s *wire.Step) string {
	v := g.reg(s.Reg)
	switch {
	case s.Part != nil && s.Part.Mask != 0:
		v = fmt.Sprintf("(int64_t)((%s & %s) == %s)", v, cUint(s.Part.Mask), cUint(s.Part.Mask))
	case s.Part != nil:
		bits, ones := schema.Mask(s.Part.Bits), uint64(1)
		if s.Part.Ones > 0 {
			bits, ones = 1, schema.Mask(s.Part.Ones)
		}
		v = fmt.Sprintf("wb_int_((%s >> %d & %s) * %s)", v, s.Part.Shift, cUint(bits), cUint(ones))
	case s.Truth:
		v = fmt.Sprintf("(int64_t)(%s != 0)", v)
	case s.Bits > 0:
		v = fmt.Sprintf("wb_int_(wb_extend_(%s, %d))", v, s.Bits)
	default:
		v = "wb_int_(" + v + ")"
	}
	if s.Add != 0 && s.Add != math.MinInt64 {
		return fmt.Sprintf("wb_int_((uint64_t)%s + (uint64_t)%s)", v, cInt(s.Add))
	}
	return v
}
