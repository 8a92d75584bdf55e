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

// wireable omits a message whose parts the runtime cannot express, and sets the numbers of optional parts of its records.
func (p *plan) wireable(m *message) {
	laid := m.wired
	if laid.Tail > 0 {
		fail("the message has a tail")
	}
	var walk func(parts []wire.Part, r *record)
	walk = func(parts []wire.Part, r *record) {
		for i := range parts {
			x := &parts[i]
			name := ""
			if x.Field != wire.None {
				name = laid.Fields[x.Field].Schema.Name
			}
			if x.Optional > 0 {
				if r == nil {
					fail("optional parts in an alternative, or in a value without a type of its own")
				}
				r.parts = max(r.parts, x.Optional)
			}
			if x.Offset != wire.None || x.Kind == wire.Weave || x.Kind == wire.Choice && x.Field == wire.None {
				fail("offsets or alternatives by size beside %s", "fields with alternatives, or others that only the runtime can express")
			}
			for k := range x.Items {
				p.wireableItem(m, r, &x.Items[k])
			}
			switch x.Kind {
			case wire.Text:
				if x.Extent.Null {
					fail("the text %q may be absent", name)
				}
			case wire.Group:
				if k := laid.Packing(x); k > schema.Gzip {
					fail("contents of %q are compressed by %s", name, k)
				}
				walk(x.Body.Parts, p.byStruct[x.Body.Struct])
			case wire.List:
				walk(x.Elem.Parts, p.byStruct[x.Elem.Struct])
			case wire.Choice:
				bodies := 0
				for k := range x.Cases {
					walk(x.Cases[k].Body.Parts, nil)
					if x.Cases[k].Body.Struct != nil {
						bodies++
					}
				}
				if x.Present != wire.None && (bodies > 1 || laid.Fields[x.Field].Schema.Type.(*schema.Choice).Anon) {
					fail("the alternatives of %q are selected by a number that is not a value", name)
				}
			}
			if x.Expr != nil {
				for _, s := range *x.Expr {
					if s.Op == schema.Ref && laid.Regs[s.Reg].Kind != schema.Value && laid.Regs[s.Reg].Kind != schema.Count {
						fail("an expression depends on a size")
					}
				}
			}
		}
	}
	walk(laid.Body.Parts, m.record)
}

// wireableItem checks an item, and adds the member of a number about the message.
func (p *plan) wireableItem(m *message, r *record, it *wire.Item) {
	if it.Var == schema.Long {
		fail("integers of 128 bits")
	}
	if it.Kind == schema.Code {
		m.code = &item{kind: it.Kind, off: it.Off, bits: it.Bits, order: it.Order, form: it.Var}
	}
	switch {
	case it.Kind == schema.Length:
		fail("the size of the message in its header, beside %s", "features that only the runtime can express")
	case it.Kind == schema.Code && !m.m.HasKey, it.Kind == schema.Counter, it.Kind == schema.Check:
		r.members = append(r.members, &member{name: it.Kind.String(), typ: &schema.Number{Bits: it.Bits}, book: it.Kind, isBook: true})
	}
}

// goWire writes the code of a message from its parts: methods that pass the values, in wire order, to the coder of package runtime.
type goWire struct {
	*goTarget
	m       *message
	laid    *wire.Message
	at      []string  // by field: the expression of its value
	mem     []*member // likewise
	around  []*record // by field of an anonymous choice: the record of its members
	read    []bool    // by register: something depends on it
	fn      *goFunc
	methods map[string]string
	shared  map[string]string // methods of groups that contain themselves, by struct
	count   map[string]int    // methods of types
	out     strings.Builder
}

// goFunc is a method under construction.
type goFunc struct {
	regs   map[int]string // the variables of registers
	vars   []string       // those that are declared
	loops  int
	more   string // the variable that a list of schema.While ends with
	moreOf string
	index  string
}

// wire writes the methods of a message.
func (w *goWire) message(m *message) {
	w.m, w.laid = m, m.wired
	n := len(w.laid.Fields)
	w.at, w.mem, w.around = make([]string, n), make([]*member, n), make([]*record, n)
	w.read = make([]bool, len(w.laid.Regs))
	w.reads(w.laid.Body.Parts, func(reg int) { w.read[reg] = true })
	name := w.types[m.record]
	w.print(goWired, vars{"type": name})
	w.line("")
	w.method(name, "wire", nil, func() {
		w.enter(w.laid.Body.Fields, m.record, "m")
		w.parts(w.laid.Body.Parts, m.record, "m")
	})
}

const goWired = `
// ReadBinary reads the message at the start of data and returns the number of its bytes.
func (m *$type) ReadBinary(data []byte) (n int, err error) {
	*m = $type{}
	return read(data, m)
}
// AppendBinary appends the bytes of the message to dst.
func (m *$type) AppendBinary(dst []byte) ([]byte, error) { return write(dst, m) }`

// reads calls yield with the registers that parts depend on, and those inside them.
func (w *goWire) reads(parts []wire.Part, yield func(reg int)) {
	some := func(reg int) {
		if reg != wire.None {
			yield(reg)
		}
	}
	for i := range parts {
		p := &parts[i]
		for _, reg := range []int{p.Count, p.Bytes, p.Ended} {
			some(reg)
		}
		if p.Expr != nil {
			for _, s := range *p.Expr {
				if s.Op == schema.Ref {
					some(s.Reg)
				}
			}
		}
		for k := range p.Cases {
			some(p.Cases[k].Reg)
			w.reads(p.Cases[k].Body.Parts, yield)
		}
		if p.Elem != nil {
			w.reads(p.Elem.Parts, yield)
		}
		if p.Body != nil {
			w.reads(p.Body.Parts, yield)
		}
	}
}

// sets calls yield with the registers that parts set.
func (w *goWire) sets(parts []wire.Part, yield func(reg int)) {
	for i := range parts {
		p := &parts[i]
		if p.Reg != wire.None {
			yield(p.Reg)
		}
		for k := range p.Items {
			if p.Items[k].Reg != wire.None {
				yield(p.Items[k].Reg)
			}
		}
		for k := range p.Cases {
			w.sets(p.Cases[k].Body.Parts, yield)
		}
		if p.Elem != nil {
			w.sets(p.Elem.Parts, yield)
		}
		if p.Body != nil {
			w.sets(p.Body.Parts, yield)
		}
	}
}

// outer returns the registers that a body needs and does not set.
func (w *goWire) outer(body *wire.Body) (out []int) {
	set := map[int]bool{}
	w.sets(body.Parts, func(reg int) { set[reg] = true })
	w.reads(body.Parts, func(reg int) {
		if !set[reg] {
			set[reg] = true
			out = append(out, reg)
		}
	})
	return out
}

// method writes a method of a type, unless it has one with the same body, and returns its name. own: its name, if it calls itself.
func (w *goWire) method(typ, own string, params []int, body func()) string {
	fn, before := w.fn, w.code
	w.fn, w.code = &goFunc{regs: map[int]string{}}, code{}
	var list string
	for i, reg := range params {
		w.fn.regs[reg] = fmt.Sprintf("v%d", i+1)
		list += fmt.Sprintf(", v%d %s", i+1, w.regType(reg))
	}
	w.depth = 1
	body()
	text := w.code.b.String()
	if len(w.fn.vars) > 0 {
		text = "\tvar (\n\t\t" + strings.Join(w.fn.vars, "\n\t\t") + "\n\t)\n" + text
	}
	w.fn, w.code = fn, before
	key := typ + list + "{" + text
	name := own
	if name == "" {
		if old := w.methods[key]; old != "" {
			return old
		}
		name = w.newMethod(typ)
		w.methods[key] = name
	}
	fmt.Fprintf(&w.out, "func (m *%s) %s(x *coder%s) {\n%s}\n\n", typ, name, list, text)
	return name
}

// newMethod returns the name of another method of a type.
func (w *goWire) newMethod(typ string) string {
	w.count[typ]++
	if n := w.count[typ]; n > 1 {
		return "wire" + strconv.Itoa(n)
	}
	return "wireElem"
}

func (w *goWire) regType(reg int) string {
	switch w.laid.Regs[reg].Type.(type) {
	case *schema.Text:
		return "string"
	case *schema.Blob:
		return "Hex"
	}
	return "uint64"
}

// reg returns the variable of a register.
func (w *goWire) reg(reg int) string {
	name, ok := w.fn.regs[reg]
	if !ok {
		name = fmt.Sprintf("r%d", len(w.fn.regs)+1)
		w.fn.regs[reg] = name
		w.fn.vars = append(w.fn.vars, name+" "+w.regType(reg))
	}
	return name
}

// set returns the start of a statement whose value a register has.
func (w *goWire) set(reg int) string {
	if reg == wire.None || !w.read[reg] {
		return ""
	}
	return w.reg(reg) + " = "
}

// enter sets the expressions of the fields of a record.
func (w *goWire) enter(fields []int, r *record, base string) {
	for i, f := range fields[:min(len(fields), r.fields)] {
		m := r.members[i]
		w.enterField(f, m, r, base)
	}
}

func (w *goWire) enterField(f int, m *member, r *record, base string) {
	w.enterValue(f, m, r, w.dot(base, w.fields[m]))
}

// enterValue sets the expression of a field, and of the fields in it.
func (w *goWire) enterValue(f int, m *member, r *record, expr string) {
	w.at[f], w.mem[f], w.around[f] = expr, m, r
	switch t := w.laid.Fields[f].Schema.Type.(type) {
	case *schema.Group:
		if t.Null {
			expr = "(*" + expr + ")"
		}
		switch {
		case w.laid.Fields[f].Again != wire.None:
		case bare(t):
			w.enterValue(w.laid.Inside(f)[0], m, r, expr)
			w.at[f] = strings.TrimSuffix(strings.TrimPrefix(expr, "(*"), ")")
			if !t.Null {
				w.at[f] = expr
			}
		case !t.Own:
			w.enter(w.laid.Inside(f), m.record, expr)
		}
	case *schema.Choice:
		if t.Anon {
			w.at[f] = strings.TrimSuffix(expr, "."+w.fields[m])
		}
	}
}

// label returns the name of a field in errors.
func (w *goWire) label(f int) string {
	var names []string
	for ; f != wire.None; f = w.laid.Fields[f].Parent {
		if name := w.laid.Fields[f].Schema.Name; name != "" {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	return strconv.Quote(short(strings.Join(names, ".")))
}

// goForm returns the composite literal of a number's encoding.
func goForm(bits int, v schema.Varint, order schema.Order, isSigned bool, add int64) string {
	out := fmt.Sprintf("number{bits: %d", bits)
	if v != schema.Sized {
		out += ", form: " + [...]string{"sized", "leb", "sleb", "zigzag", "vlq"}[v]
	}
	if order == schema.Big {
		out += ", big: true"
	}
	if isSigned {
		out += ", signed: true"
	}
	if add != 0 {
		out += fmt.Sprintf(", add: %d", add)
	}
	return out + "}"
}

func (w *goWire) form(it *wire.Item) string {
	n, ok := it.Type.(*schema.Number)
	return goForm(it.Bits, it.Var, it.Order, ok && n.Kind == schema.Signed, addOf(n))
}

func addOf(n *schema.Number) int64 {
	if n == nil {
		return 0
	}
	return n.Add
}

// parts writes the parts of a body; base is the record of its optional parts.
func (w *goWire) parts(parts []wire.Part, r *record, base string) {
	for i := range parts {
		p := &parts[i]
		if p.Optional > 0 && (i == 0 || parts[i-1].Optional != p.Optional) {
			w.print("if !x.part(&$parts, $n) {\n\treturn\n}", vars{"parts": w.dot(base, w.goTarget.parts[r]), "n": p.Optional})
		}
		w.part(p)
	}
}

func (w *goWire) part(p *wire.Part) {
	switch p.Kind {
	case wire.Block:
		size := int(p.Min.Bits / 8)
		w.print("if !x.block($n) {\n\treturn\n}", vars{"n": size})
		for k := range p.Items {
			w.item(size, &p.Items[k])
		}
	case wire.Var:
		w.item(0, &p.Items[0])
	case wire.Text, wire.Blob:
		w.run(p)
	case wire.List:
		w.list(p)
	case wire.Choice:
		w.choice(p)
	case wire.Group:
		w.group(p)
	case wire.Call:
		expr := w.at[p.Field]
		if w.mem[p.Field].ptr {
			expr = "value(x, &" + expr + ")"
		}
		of := w.find(func(x *wire.Part) bool { return x.Kind == wire.Group && x.Field == w.laid.Fields[p.Field].Again })
		params := w.outer(of.Body)
		w.line("%s.%s(x%s)", expr, w.ownMethod(of, params), w.args(params))
	case wire.Let:
		if at := w.set(p.Reg); at != "" {
			w.line("%suint64(%s)", at, w.expr(*p.Expr))
		}
	case wire.Computed:
		n := p.Items[0].Type.(*schema.Number)
		at := w.set(p.Reg)
		if at == "" {
			at = "_ = "
		}
		w.line("%suint64(%s) & %#x", at, w.expr(*p.Expr), schema.Mask(n.Bits))
		value := "v"
		switch {
		case n.Kind == schema.Bool:
			value = "v != 0"
		case n.Kind == schema.Signed:
			value = fmt.Sprintf("%s(extend(v, %d))", goNumber(n), n.Bits)
		default:
			value = goNumber(n) + "(v)"
		}
		w.print("if v := uint64($expr) & $mask; !x.writing {\n\t$to = $value\n}", vars{"expr": w.expr(*p.Expr), "mask": w.mask(schema.Mask(n.Bits)), "to": w.at[p.Field], "value": value})
		w.limit(n, p.Field, "")
	case wire.Align:
		w.line("x.align(%d)", p.Unit)
	}
}

// find returns the first part of the message that fits.
func (w *goWire) find(fits func(*wire.Part) bool) *wire.Part {
	var in func(parts []wire.Part) *wire.Part
	in = func(parts []wire.Part) *wire.Part {
		for i := range parts {
			p := &parts[i]
			inner := [][]wire.Part{}
			if p.Body != nil {
				inner = append(inner, p.Body.Parts)
			}
			if p.Elem != nil {
				inner = append(inner, p.Elem.Parts)
			}
			for k := range p.Cases {
				inner = append(inner, p.Cases[k].Body.Parts)
			}
			if fits(p) {
				return p
			}
			for _, list := range inner {
				if out := in(list); out != nil {
					return out
				}
			}
		}
		return nil
	}
	return in(w.laid.Body.Parts)
}

// args returns the arguments for the parameters of a method.
func (w *goWire) args(params []int) (out string) {
	for _, reg := range params {
		out += ", " + w.reg(reg)
	}
	return out
}

// limit checks the legal range of a number.
func (w *goWire) limit(n *schema.Number, f int, raw string) {
	v := w.at[f]
	if raw != "" {
		if v = raw; n.Kind == schema.Signed {
			v = fmt.Sprintf("extend(%s, %d)", raw, n.Bits)
		}
	}
	if n.Kind == schema.Unsigned && n.Add != 0 {
		v = fmt.Sprintf("(%s - %d)", v, n.Add)
	}
	if cond := w.inRange(n, v, false); cond != "" && n.Kind != schema.Bool {
		w.line("x.check(%s, %s)", cond, w.label(f))
	}
}

// item writes an item of a block of size bytes, or a number of variable size.
func (w *goWire) item(size int, it *wire.Item) {
	place := fmt.Sprintf("%d, %d, %s", size, it.Off, w.form(it))
	switch it.Kind {
	case schema.Value:
		w.value(size, it, place)
	case schema.Count:
		e, _ := wire.ExtentOf(w.laid.Fields[it.Field].Schema.Type)
		lo, hi := w.bounds(e)
		w.line("%sx.count(%s, %s, %s, %s, %v, %s)", w.set(it.Reg), place, w.units(it.Field, e), lo, hi, e.Null, w.label(it.Field))
	case schema.Code, schema.Counter, schema.Check:
		if it.Kind == schema.Code && w.m.m.HasKey {
			w.line("x.known(%s, %d, %q)", place, w.m.m.Key.Code, "code")
			return
		}
		for _, m := range w.m.record.members {
			if m.isBook && m.book == it.Kind {
				w.line("integer(x, &m.%s, %s, %q)", w.fields[m], place, m.name)
			}
		}
	case schema.Const:
		w.line("x.constant(%d, %d, %q)", size, it.Off/8, it.Bytes)
	case schema.Bytes:
		w.line("%sx.size(%s, %s)", w.set(it.Reg), place, w.label(it.Field))
	case schema.Present:
		w.line("%sx.raw(%s, %s, %s)", w.set(it.Reg), place, w.present(it.Field), w.label(it.Field))
	case schema.More:
		w.line("%s = x.raw(%s, bit(%s < len(%s)-1), \"more\") != 0", w.fn.more, place, w.fn.index, w.fn.moreOf)
	}
}

// present returns the number that selects an alternative.
func (w *goWire) present(f int) string {
	t := w.laid.Fields[f].Schema.Type.(*schema.Choice)
	with, without := uint64(1), uint64(0)
	for i := range t.Cases {
		switch a := &t.Cases[i]; {
		case a.Body == nil && !a.Else:
			without = a.Value
		case a.Body != nil && !a.Else:
			with = a.Value
		}
	}
	for i := range t.Cases {
		if a := &t.Cases[i]; a.Else && a.Body == nil && with == without {
			without = with + 1
		} else if a.Else && a.Body != nil && with == without {
			with = without + 1
		}
	}
	if w.mem[f] == nil || len(w.mem[f].kinds) == 0 {
		return strconv.FormatUint(without, 10)
	}
	if with == 1 && without == 0 {
		return fmt.Sprintf("bit(%s != nil)", w.at[f])
	}
	return fmt.Sprintf("uint64(when(truth(%s != nil), %d, %d))", w.at[f], with, without)
}

// units returns the number of units of contents that are written.
func (w *goWire) units(f int, e schema.Extent) string {
	t, ok := w.laid.Fields[f].Schema.Type.(*schema.Text)
	switch {
	case !ok && e.Null:
		return fmt.Sprintf("null(len(%s), %s != nil)", w.at[f], w.at[f])
	case !ok || byteWise(t.Charset) == schema.UTF8:
		return fmt.Sprintf("len(%s)", w.at[f])
	}
	return fmt.Sprintf("%s.units(%s)", goCharset(t.Charset), w.at[f])
}

func goCharset(set schema.Charset) string {
	switch byteWise(set) {
	case schema.UTF16LE:
		return "utf16LE"
	case schema.Latin1:
		return "latin1"
	}
	return "utf8Text"
}

// value writes the value of a field of fixed size, or a number of variable size.
func (w *goWire) value(size int, it *wire.Item, place string) {
	expr, label, reg := w.at[it.Field], w.label(it.Field), w.set(it.Reg)
	switch t := it.Type.(type) {
	case *schema.Number:
		switch {
		case t.Kind == schema.Float:
			scale := "1"
			if t.Scale != 0 {
				scale = floatText(t.Scale)
			}
			w.line("%sfloat(x, &%s, %s, %s, %s)", reg, expr, place, scale, label)
		case t.Kind == schema.Bool:
			w.line("%sx.boolean(&%s, %s, %s)", reg, expr, place, label)
		case t.Scale != 0:
			if t.Min != nil || t.Max != nil {
				w.fn.loops++
				reg = fmt.Sprintf("n%d := ", w.fn.loops)
			}
			w.line("%sx.scaled(&%s, %s, %s, %v, %v, %s)", reg, expr, place, floatText(t.Scale), t.Wrap, t.Truncate, label)
			w.limit(t, it.Field, strings.TrimSuffix(strings.TrimSuffix(reg, " := "), " = "))
			return
		default:
			w.line("%sinteger(x, &%s, %s, %s)", reg, expr, place, label)
		}
		w.limit(t, it.Field, "")
	case *schema.Bitfield:
		w.bitfield(it, t, place)
	case *schema.Text:
		w.line("x.fixedText(&%s, %s, %d, %d, %d, %v, %d, %s)", expr, goCharset(t.Charset), size, it.Off/8, it.Bits/8, exact(t), t.Pad, label)
	case *schema.Blob:
		w.line("x.fixed(%s[:], %d, %d)", expr, size, it.Off/8)
	}
}

// bitfield writes a bitfield: its bits are made of those of its parts, and those that no part has.
func (w *goWire) bitfield(it *wire.Item, t *schema.Bitfield, place string) {
	expr, label := w.at[it.Field], w.label(it.Field)
	w.fn.loops++
	v := fmt.Sprintf("b%d", w.fn.loops)
	w.line("var %s uint64", v)
	if t.All != "" {
		w.line("if x.writing {\n\t%s = uint64(%s.%s)\n}", v, expr, goAll)
	}
	pass := func() {
		var list []branch
		for i := range t.Forms {
			f := &t.Forms[i]
			list = append(list, branch{w.formIs(f, v), oneLine(f.When), func() {
				w.partsOf(t, f, expr, func(name, place string, p schema.Part) {
					_, flag := bitfieldPart(t, name)
					switch {
					case p.Bits == 0:
					case flag && p.Mask != 0:
						w.line("flag(x, &%s, %#x, &%s)", v, p.Mask, place)
					case flag:
						w.line("flag(x, &%s, %#x, &%s)", v, schema.Mask(p.Bits)<<p.Shift, place)
					default:
						w.line("bitsOf(x, &%s, %d, %d, &%s, %s)", v, p.Shift, p.Bits, place, label)
					}
				})
			}})
		}
		w.branches(list, true)
	}
	w.open("if x.writing {")
	pass()
	w.shut("}")
	if reg := w.set(it.Reg); reg != "" {
		w.line("%s = x.raw(%s, %s, %s)", v, place, v, label)
		w.line("%s%s", reg, v)
	} else {
		w.line("%s = x.raw(%s, %s, %s)", v, place, v, label)
	}
	w.open("if !x.writing {")
	if t.All != "" {
		w.line("%s.%s = uint%d(%s)", expr, goAll, wide(t.Bits), v)
	}
	pass()
	w.shut("}")
}

// goAll is the member with all bits of a bitfield.
const goAll = "Value"

// amount returns the number of units of a part: -1 up to the end, -2 up to a byte.
func (w *goWire) amount(p *wire.Part) string {
	switch p.Extent.Size {
	case schema.Fixed:
		return strconv.Itoa(p.Extent.N)
	case schema.Counted:
		return "int(" + w.reg(p.Count) + ")"
	case schema.Computed:
		return fmt.Sprintf("x.amount(%s, %s)", w.reg(p.Count), w.label(p.Field))
	case schema.ToEnd:
		return "-1"
	}
	return "-2"
}

// run writes text or bytes of variable size.
func (w *goWire) run(p *wire.Part) {
	expr, label := w.at[p.Field], w.label(p.Field)
	if t, ok := w.laid.Fields[p.Field].Schema.Type.(*schema.Text); ok {
		w.line("x.text(&%s, %s, %s, %d, %s)", expr, goCharset(t.Charset), w.amount(p), p.Extent.End, label)
	} else if p.Extent.Size == schema.Fixed { // an array
		w.print("if b := x.content($n, 1, $label); x.writing {\n\tx.b = append(x.b, $expr[:]...)\n} else {\n\tcopy($expr[:], b)\n}", vars{"n": p.Extent.N, "label": label, "expr": expr})
	} else {
		w.absent(p, func() { w.line("x.blob(&%s, %s, %s)", expr, w.amount(p), label) })
	}
	if at := w.set(p.Reg); at != "" {
		w.line("%s%s", at, expr)
	}
}

// absent writes contents unless they have a count of -1.
func (w *goWire) absent(p *wire.Part, contents func()) {
	if !p.Extent.Null {
		contents()
		return
	}
	w.open("if int64(%s) != -1 {", w.reg(p.Count))
	contents()
	w.shut("}")
}

func (w *goWire) list(p *wire.Part) {
	w.absent(p, func() { w.elements(p) })
}

func (w *goWire) elements(p *wire.Part) {
	w.fn.loops++
	id := strconv.Itoa(w.fn.loops)
	i, to, label, m := "i"+id, w.at[p.Field], w.label(p.Field), w.mem[p.Field]
	elem := fmt.Sprintf("%s[%s]", to, i)
	more, of, index := w.fn.more, w.fn.moreOf, w.fn.index
	switch p.Extent.Size {
	case schema.Fixed:
		w.open("for %s := range %s {", i, to)
	case schema.Until:
		w.open("for %s := 0; ended(x, &%s, %s, %d, %s); %s++ {", i, to, i, p.Extent.End, label, i)
		w.line("from%s := len(x.b)", id)
	case schema.While, schema.Ending:
		w.fn.more, w.fn.moreOf, w.fn.index = "more"+id, to, i
		w.line("if x.writing && len(%s) == 0 {\n\tx.illegal(%s, \"the list is empty, but has at least one element\")\n}", to, label)
		w.open("for %s, more%s := 0, true; more%s && next(x, &%s, %s, -2, %s); %s++ {", i, id, id, to, i, label, i)
	default:
		n := w.amount(p)
		if p.Extent.Size == schema.Computed {
			w.line("n%s := %s", id, n)
			n = "n" + id
		}
		w.open("for %s := 0; next(x, &%s, %s, %s, %s); %s++ {", i, to, i, n, label, i)
		if p.Extent.Size == schema.ToEnd {
			w.line("from%s := x.pos", id)
		}
	}
	switch {
	case p.List.Bare:
		w.enterValue(p.Elem.Fields[0], m.elem, nil, elem)
		w.parts(p.Elem.Parts, nil, "")
	case p.Extent.Size == schema.While || p.Extent.Size == schema.Ending:
		w.enter(p.Elem.Fields, m.record, elem)
		w.parts(p.Elem.Parts, m.record, elem)
	default:
		params := w.outer(p.Elem)
		name := w.method(w.types[m.record], "", params, func() {
			w.enter(p.Elem.Fields, m.record, "m")
			w.parts(p.Elem.Parts, m.record, "m")
		})
		w.line("%s.%s(x%s)", elem, name, w.args(params))
	}
	switch p.Extent.Size {
	case schema.Fixed:
		w.line("if x.err != nil {\n\tbreak\n}")
	case schema.Until:
		w.line("x.begin(from%s, %d, %s)", id, p.Extent.End, label)
	case schema.ToEnd:
		w.line("if !x.moved(from%s) {\n\tbreak\n}", id)
	case schema.While:
		w.line("more%s = x.whole(%s, len(%s), more%s, %s)", id, i, to, id, label)
	case schema.Ending:
		w.line("more%s = x.whole(%s, len(%s), %s == 0, %s)", id, i, to, w.reg(p.Ended), label)
	}
	w.shut("}")
	w.fn.more, w.fn.moreOf, w.fn.index = more, of, index
}

// choice writes alternatives.
func (w *goWire) choice(p *wire.Part) {
	f := p.Field
	t, m := w.laid.Fields[f].Schema.Type.(*schema.Choice), w.mem[f]
	if len(p.Cases) == 0 {
		return
	}
	seen := map[string]bool{}
	w.open("switch %s {", w.reg(p.Cases[0].Reg))
	for k := range p.Cases {
		c := &p.Cases[k]
		value := strconv.FormatUint(c.Value, 10)
		if c.Text != nil {
			value = strconv.Quote(*c.Text)
		}
		if c.Else {
			value = "default"
		}
		if seen[value] {
			continue
		}
		seen[value] = true
		if c.Else {
			w.line("default:")
		} else {
			w.line("case %s:", value)
		}
		w.depth++
		w.alternative(c, m.kind[k], t.Anon, f)
		w.depth--
	}
	w.shut("}")
}

func (w *goWire) alternative(c *wire.Case, kind *member, anon bool, f int) {
	m, expr := w.mem[f], w.at[f]
	switch {
	case c.Body.Struct == nil:
		return
	case anon:
		r := w.around[f]
		for _, i := range c.Body.Fields {
			w.enterField(i, w.plan.altMember(r, w.laid.Fields[i].Schema), r, expr)
		}
		w.parts(c.Body.Parts, nil, "")
		return
	}
	if len(m.kinds) > 1 {
		expr = w.dot(expr, w.fields[kind])
	}
	if len(c.Body.Parts) == 0 {
		w.line("value(x, &%s)", expr)
		return
	}
	if g, ok := kind.typ.(*schema.Group); ok && !g.Own && !kind.null { // a method, as the type may be used in many places
		params := w.outer(&c.Body)
		name := w.method(w.types[kind.record], "", params, func() {
			if c.Bare {
				w.enterValue(c.Body.Fields[0], kind, nil, "m")
			} else {
				w.enter(c.Body.Fields, kind.record, "m")
			}
			w.parts(c.Body.Parts, nil, "")
		})
		w.line("value(x, &%s).%s(x%s)", expr, name, w.args(params))
		return
	}
	w.fn.loops++
	v := fmt.Sprintf("p%d", w.fn.loops)
	w.line("%s := value(x, &%s)", v, expr)
	if c.Bare {
		w.enterValue(c.Body.Fields[0], kind, nil, "(*"+v+")")
	} else {
		w.enter(c.Body.Fields, kind.record, v)
	}
	w.line("_ = %s", v)
	w.parts(c.Body.Parts, nil, "")
}

// group writes a group with a body of its own.
func (w *goWire) group(p *wire.Part) {
	f := p.Field
	t, m, expr := w.laid.Fields[f].Schema.Type.(*schema.Group), w.mem[f], w.at[f]
	contents := func() {
		switch {
		case t.Own:
			params := w.outer(p.Body)
			w.line("%s.%s(x%s)", expr, w.ownMethod(p, params), w.args(params))
		case bare(t):
			w.parts(p.Body.Parts, nil, "")
		default:
			w.parts(p.Body.Parts, m.record, expr)
		}
	}
	if t.Own && m.ptr {
		expr = "value(x, &" + expr + ")"
	}
	method := [...]string{"unpacked", "packedZlib", "packedDeflate", "packedGzip"}[t.Packed]
	switch {
	case p.Bytes != wire.None:
		some, null := "true", -2
		if t.Null {
			some, null = expr+" != nil", 0
			if t.Packed != schema.Unpacked {
				null = -1
			}
		}
		sets := func(it wire.Item) bool { return it.Reg == p.Bytes }
		holder := w.find(func(x *wire.Part) bool { return slices.ContainsFunc(x.Items, sets) })
		form := w.form(&holder.Items[slices.IndexFunc(holder.Items, sets)])
		w.open("x.within(%s, %s, %s, %s, %d, %s, func() {", w.reg(p.Bytes), form, method, some, null, w.label(f))
		if t.Null {
			w.line("value(x, &%s)", expr)
		}
		contents()
		w.shut("})")
	case t.Packed != schema.Unpacked:
		w.open("x.pack(%s, func() {", method)
		contents()
		w.shut("})")
	default:
		contents()
	}
}

// ownMethod returns the method of a group that contains itself.
func (w *goWire) ownMethod(p *wire.Part, params []int) string {
	key := fmt.Sprintf("%p %d", p.Body.Struct, len(params))
	if old := w.shared[key]; old != "" {
		return old
	}
	r := w.plan.byStruct[p.Body.Struct]
	typ := w.types[r]
	name := w.newMethod(typ)
	w.shared[key] = name
	w.method(typ, name, params, func() {
		w.line("if !x.enter(%s) {\n\treturn\n}", w.label(p.Field))
		w.enter(w.laid.Inside(p.Field), r, "m")
		w.parts(p.Body.Parts, r, "m")
		w.line("x.leave()")
	})
	return name
}

// expr returns an expression, as an int64.
func (w *goWire) expr(x wire.Expr) string {
	var stack []string
	for i := range x {
		s := &x[i]
		n := s.Op.Operands()
		args := stack[len(stack)-n:]
		stack = append(stack[:len(stack)-n:len(stack)-n], w.step(s, args))
	}
	return stack[0]
}

func (w *goWire) step(s *wire.Step, args []string) string {
	switch s.Op {
	case schema.Literal:
		return fmt.Sprintf("literal(%d)", s.Int)
	case schema.Ref:
		return w.ref(s)
	case schema.Not:
		return "truth(" + args[0] + " == 0)"
	case schema.Neg, schema.Invert:
		return map[schema.ExprOp]string{schema.Neg: "-", schema.Invert: "^"}[s.Op] + args[0]
	case schema.Div:
		return "divide(" + args[0] + ", " + args[1] + ")"
	case schema.Mod:
		return "modulo(" + args[0] + ", " + args[1] + ")"
	case schema.ShiftLeft:
		return fmt.Sprintf("%s << uint64(%s)", "("+args[0]+")", args[1])
	case schema.ShiftRight:
		return fmt.Sprintf("%s >> min(uint64(%s), 63)", "("+args[0]+")", args[1])
	case schema.And, schema.Or:
		return fmt.Sprintf("truth(%s != 0 %s %s != 0)", args[0], s.Op.Name(), args[1])
	case schema.If:
		return "when(" + strings.Join(args, ", ") + ")"
	case schema.Equal, schema.NotEqual, schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual:
		return fmt.Sprintf("truth(%s %s %s)", args[0], s.Op.Name(), args[1])
	}
	return fmt.Sprintf("(%s %s %s)", args[0], s.Op.Name(), args[1])
}

// ref returns the value of a register.
func (w *goWire) ref(s *wire.Step) string {
	v := w.reg(s.Reg)
	switch {
	case s.Part != nil && s.Part.Mask != 0:
		v = fmt.Sprintf("truth(%s&%#x == %#x)", v, s.Part.Mask, s.Part.Mask)
	case s.Part != nil && s.Part.Ones > 0:
		v = fmt.Sprintf("int64(%s>>%d&1*%#x)", v, s.Part.Shift, schema.Mask(s.Part.Ones))
	case s.Part != nil:
		v = fmt.Sprintf("int64(%s>>%d&%#x)", v, s.Part.Shift, schema.Mask(s.Part.Bits))
	case s.Truth:
		v = fmt.Sprintf("truth(%s != 0)", v)
	case s.Bits > 0:
		v = fmt.Sprintf("extend(%s, %d)", v, s.Bits)
	default:
		v = "int64(" + v + ")"
	}
	if s.Add != 0 && s.Add != math.MinInt64 {
		return fmt.Sprintf("(%s + %d)", v, s.Add)
	}
	return v
}
