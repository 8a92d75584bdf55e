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

// wiring checks that the runtime can express the parts of a message, and completes its records: the numbers of their optional parts, the
// names of repeated members, and the members of numbers about the message.
type wiring struct {
	plan   *plan
	m      *message
	mem    []*member // by field
	around []*record // likewise: the record of its member
	inside int       // depth of contents with an end of their own
	losses
}

func (w *wiring) message() {
	laid := w.m.laid
	if laid.Tail > 0 {
		fail("the message has a tail")
	}
	if !w.m.plain {
		w.plan.afford(laid.Body.Parts)
	}
	w.mem, w.around = make([]*member, len(laid.Fields)), make([]*record, len(laid.Fields))
	w.fields(laid.Body.Fields, w.m.record)
	w.parts(laid.Body.Parts, w.m.record)
	w.m.mem = w.mem
}

// fields notes the members of fields, including those in groups, and numbers those with the same name.
func (w *wiring) fields(fields []int, r *record) {
	for i, f := range fields[:min(len(fields), r.fields)] {
		w.field(f, r.members[i], r)
	}
}

func (w *wiring) field(f int, m *member, r *record) {
	x := &w.m.laid.Fields[f]
	if w.mem[f], w.around[f] = m, r; x.Last != wire.None {
		m.nth, _ = strconv.Atoi(x.Name[len(m.name)+len("#"):])
	}
	if g, ok := x.Schema.Type.(*schema.Group); ok {
		if g.Array {
			w.lose(w.m.m, w.m.laid.Path(f), "an array of contents is a type with the members 0, 1 and so on")
		}
		switch {
		case x.Again != wire.None:
		case bare(g):
			w.field(w.m.laid.Inside(f)[0], m, r)
		default:
			w.fields(w.m.laid.Inside(f), m.record)
		}
	}
}

func (w *wiring) parts(parts []wire.Part, r *record) {
	laid := w.m.laid
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
			w.optional(x, r)
		}
		if (x.Offset != wire.None || x.Kind == wire.Choice && x.Field == wire.None && x.Cases[0].Reg == wire.None) && w.inside > 0 {
			fail("offsets or alternatives by size in contents with a size of their own, or compressed ones")
		}
		for k := range x.Items {
			w.item(&x.Items[k])
		}
		switch x.Kind {
		case wire.Text:
			if x.Extent.Null {
				fail("the text %q may be absent", name)
			}
		case wire.Group:
			k := laid.Packing(x)
			if k > schema.Gzip {
				fail("contents of %q are compressed by %s", name, k)
			}
			w.plan.packed = w.plan.packed || k != schema.Unpacked
			if k != schema.Unpacked || x.Bytes != wire.None {
				w.inside++
			}
			w.parts(x.Body.Parts, w.mem[x.Field].record)
			if k != schema.Unpacked || x.Bytes != wire.None {
				w.inside--
			}
		case wire.List:
			if m := w.mem[x.Field]; x.List.Bare {
				w.field(x.Elem.Fields[0], m.elem, nil)
				w.parts(x.Elem.Parts, nil)
			} else {
				w.fields(x.Elem.Fields, m.record)
				w.parts(x.Elem.Parts, m.record)
			}
		case wire.Weave:
			w.parts(x.Lists, nil)
		case wire.Choice:
			w.choice(x, r, name)
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

// optional notes the members that are there only if a part is.
func (w *wiring) optional(x *wire.Part, r *record) {
	fields := []int{x.Field}
	for k := range x.Items {
		if it := &x.Items[k]; it.Kind == schema.Value {
			fields = append(fields, it.Field)
		}
	}
	for _, f := range fields {
		for ; f != wire.None; f = w.m.laid.Fields[f].Parent {
			if w.around[f] == r {
				w.mem[f].part = max(w.mem[f].part, x.Optional)
				break
			}
		}
	}
}

func (w *wiring) choice(x *wire.Part, r *record, name string) {
	laid, bodies := w.m.laid, 0
	for k := range x.Cases {
		c := &x.Cases[k]
		switch {
		case x.Field != wire.None:
			w.alternative(c, x.Field, k)
		case c.Reg == wire.None && r != w.m.record:
			fail("alternatives by the size of the message in a part of it")
		case c.Reg != wire.None:
			f := laid.Regs[c.Reg].Field
			if n, ok := laid.Fields[f].Schema.Type.(*schema.Number); !ok || n.Kind == schema.Float || n.Scale != 0 {
				fail("alternatives depend on %q, which is not an integer", laid.Fields[f].Schema.Name)
			}
			fallthrough
		default:
			for _, f := range c.Body.Fields {
				w.field(f, w.plan.altMember(r, laid.Fields[f].Schema), r)
			}
		}
		w.parts(c.Body.Parts, nil)
		if c.Body.Struct != nil {
			bodies++
		}
	}
	if x.Field != wire.None && x.Present != wire.None && (bodies > 1 || laid.Fields[x.Field].Schema.Type.(*schema.Choice).Anon) {
		fail("the alternatives of %q are selected by a number that is not a value", name)
	}
}

// alternative notes the members of case k of a field.
func (w *wiring) alternative(c *wire.Case, f, k int) {
	m := w.mem[f]
	switch {
	case c.Body.Struct == nil:
	case w.m.laid.Fields[f].Schema.Type.(*schema.Choice).Anon:
		for _, i := range c.Body.Fields {
			w.field(i, w.plan.altMember(w.around[f], w.m.laid.Fields[i].Schema), w.around[f])
		}
	case c.Bare:
		w.field(c.Body.Fields[0], m.kind[k], nil)
	default:
		w.fields(c.Body.Fields, m.kind[k].record)
	}
}

func (w *wiring) item(it *wire.Item) {
	m := w.m
	if it.Var == schema.Long {
		fail("integers of 128 bits")
	}
	if n, ok := it.Type.(*schema.Number); ok && it.Kind == schema.Value && n.Kind == schema.Float {
		switch name := m.laid.Fields[it.Field].Schema.Name; {
		case it.Off%8 != 0:
			fail("the float %q does not start at a byte boundary", name)
		case it.Reg != wire.None && (n.Bits == 16 || n.Scale != 0):
			fail("alternatives or sizes depend on the float %q", name)
		}
	}
	switch {
	case it.Kind == schema.Code && m.m.HasKey:
		m.code = &item{kind: it.Kind, off: it.Off, bits: it.Bits, order: it.Order, form: it.Var}
	case it.Kind == schema.Code, it.Kind == schema.Counter, it.Kind == schema.Check:
		m.record.members = append(m.record.members, &member{name: it.Kind.String(), typ: &schema.Number{Bits: it.Bits}, book: it.Kind, isBook: true})
	}
	if it.Kind == schema.Check && m.laid.Sum != nil {
		w.lose(m.m, "check", "the checksum is copied, neither computed nor verified")
	}
}

// goTarget writes Go. The code of a message is methods that pass its values, in wire order, to the coder of package runtime.
type goTarget struct {
	teller
	m        *message
	laid     *wire.Message
	contents map[int]*wire.Part // by field: text, bytes and lists
	at       []string           // by field: the expression of its value
	mem      []*member          // likewise
	read     []bool             // by register: something depends on it
	fn       *goFunc
	methods  map[string]string
	shared   map[string]string // methods of groups that contain themselves, by struct
	count    map[string]int    // methods of types
	out      strings.Builder
}

// goFunc is a method under construction.
type goFunc struct {
	root   int            // the field whose contents it passes, wire.None for the message
	regs   map[int]string // the variables of registers
	vars   []string       // those that are declared
	loops  int
	more   string // the variable that a list of schema.While ends with
	moreOf string
	index  string
}

// id returns the number of the next variables.
func (w *goTarget) id() string {
	w.fn.loops++
	return strconv.Itoa(w.fn.loops)
}

// message writes the methods of a message.
func (w *goTarget) message(m *message) {
	w.m, w.laid, w.contents = m, m.laid, contents(m.laid)
	n := len(w.laid.Fields)
	w.at, w.mem = make([]string, n), m.mem
	w.read = make([]bool, len(w.laid.Regs))
	w.reads(w.laid.Body.Parts, func(reg int) { w.read[reg] = true })
	name, laid := w.types[m.record], w.laid
	var checks, ends []string
	if at := laid.Length; at.Bits > 0 {
		checks = append(checks, fmt.Sprintf("!x.frame(%s)", goPlace(at)))
		ends = append(ends, fmt.Sprintf("x.length(%s)", goPlace(at)))
	}
	if m.record.choice {
		ends = append(ends, fmt.Sprintf("x.check(m.alternative(len(x.b)-x.base) == m.%s, \"the alternative, which the size of the message selects,\")", w.choices[m.record]))
		slices.Reverse(ends)
	}
	if m.m.HasKey && laid.Code.Bits > 0 {
		checks = append(checks, fmt.Sprintf("!x.code(%s, %d)", goPlace(laid.Code), m.m.Key.Code))
	}
	if m.m.Measured {
		checks = append(checks, fmt.Sprintf("!x.measure(%s)", byteSum(laid.Body.Min)))
	}
	w.print(goMethods, vars{"type": name, "header": laid.Header, "checks": func() {
		if len(checks) > 0 {
			w.line("if %s {\n\treturn 0, x.err\n}", strings.Join(checks, " || "))
		}
	}, "ends": func() {
		for _, end := range ends {
			w.line("%s", end)
		}
	}})
	w.line("")
	w.method(name, "wire", wire.None, "", nil, func() {
		w.enter(laid.Body.Fields, "m")
		w.body(laid.Body.Parts, m.record, "m")
	})
}

const goMethods = `
// ReadBinary reads the message at the start of data and returns the number of its bytes.
func (m *$type) ReadBinary(data []byte) (n int, err error) {
	x := reading(data, $header)
	$checks
	*m = $type{}
	m.wire(&x)
	return x.wasRead()
}
// AppendBinary appends the bytes of the message to dst.
func (m *$type) AppendBinary(dst []byte) ([]byte, error) {
	x := writing(dst)
	m.wire(&x)
	$ends
	return x.wrote(dst)
}`

func goPlace(at wire.Place) string {
	return fmt.Sprintf("%d, %d, %v", at.Off, at.Bits, at.Order == schema.Big)
}

// reads calls yield with the registers that parts depend on.
func (w *goTarget) reads(parts []wire.Part, yield func(reg int)) {
	for p := range all(parts) {
		regs := []int{p.Count, p.Offset, p.Bytes, p.Ended}
		if p.Expr != nil {
			for _, s := range *p.Expr {
				if s.Op == schema.Ref {
					regs = append(regs, s.Reg)
				}
			}
		}
		for k := range p.Cases {
			regs = append(regs, p.Cases[k].Reg)
		}
		for _, reg := range regs {
			if reg != wire.None {
				yield(reg)
			}
		}
	}
}

// outer returns the registers that a body needs and does not set.
func (w *goTarget) outer(body *wire.Body) (out []int) {
	set := map[int]bool{}
	for p := range all(body.Parts) {
		set[p.Reg] = true
		for k := range p.Items {
			set[p.Items[k].Reg] = true
		}
	}
	w.reads(body.Parts, func(reg int) {
		if !set[reg] {
			set[reg] = true
			out = append(out, reg)
		}
	})
	return out
}

// method writes a method of a type, unless it has one with the same body, and returns its name. own: its name, if it calls itself. root: the
// field whose contents it passes. block: the variable with their bytes, if they are a block.
func (w *goTarget) method(typ, own string, root int, block string, params []int, body func()) string {
	fn, before := w.fn, w.code
	w.fn, w.code = &goFunc{root: root, regs: map[int]string{}}, code{}
	list := ""
	if block != "" {
		list = ", " + block + " []byte"
	}
	for i, reg := range params {
		w.fn.regs[reg] = fmt.Sprintf("v%d", i+1)
		list += fmt.Sprintf(", v%d %s", i+1, w.regType(reg))
	}
	w.depth = 1
	body()
	text := w.code.b.String()
	if len(w.fn.vars) > 0 {
		text = strings.Join(w.fn.vars, "\n") + "\n" + text
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
func (w *goTarget) newMethod(typ string) string {
	w.count[typ]++
	if n := w.count[typ]; n > 1 {
		return "wire" + strconv.Itoa(n)
	}
	return "wireElem"
}

func (w *goTarget) regType(reg int) string {
	switch w.laid.Regs[reg].Type.(type) {
	case *schema.Text:
		return "string"
	case *schema.Blob:
		return "Hex"
	}
	return "uint64"
}

// reg returns the variable of a register.
func (w *goTarget) reg(reg int) string {
	name, ok := w.fn.regs[reg]
	if !ok {
		name = fmt.Sprintf("r%d", len(w.fn.regs)+1)
		w.fn.regs[reg] = name
		typ := w.regType(reg)
		if last := len(w.fn.vars) - 1; last >= 0 && strings.HasSuffix(w.fn.vars[last], " "+typ) {
			w.fn.vars[last] = strings.TrimSuffix(w.fn.vars[last], " "+typ) + ", " + name + " " + typ
		} else {
			w.fn.vars = append(w.fn.vars, "\tvar "+name+" "+typ)
		}
	}
	return name
}

// set returns the start of a statement whose value a register has.
func (w *goTarget) set(reg int) string {
	if reg == wire.None || !w.read[reg] {
		return ""
	}
	return w.reg(reg) + " = "
}

// enter sets the expressions of the fields of a record.
func (w *goTarget) enter(fields []int, base string) {
	for _, f := range fields {
		w.enterValue(f, w.dot(base, w.fields[w.mem[f]]))
	}
}

// enterValue sets the expression of a field, and of the fields in it.
func (w *goTarget) enterValue(f int, expr string) {
	w.at[f] = expr
	switch t := w.laid.Fields[f].Schema.Type.(type) {
	case *schema.Group:
		inner := expr
		if t.Null {
			inner = "(*" + expr + ")"
		}
		switch {
		case w.laid.Fields[f].Again != wire.None:
		case bare(t):
			w.enterValue(w.laid.Inside(f)[0], inner)
		case !t.Own:
			w.enter(w.laid.Inside(f), inner)
		}
	case *schema.Choice:
		if t.Anon {
			w.at[f] = strings.TrimSuffix(expr, "."+w.fields[w.mem[f]])
		}
	}
}

// label returns the name of a field in errors: its path from the type whose method passes it.
func (w *goTarget) label(f int) string {
	text := ""
	for i := f; i != wire.None && (i == f || i != w.fn.root); i = w.laid.Fields[i].Parent {
		switch x := &w.laid.Fields[i]; {
		case x.Schema.Name == "" && x.InList:
			text = "[]" + text
		case x.Schema.Name == "":
		case text == "" || text[0] == '[':
			text = x.Schema.Name + text
		default:
			text = x.Schema.Name + "." + text
		}
	}
	return strconv.Quote(short(text))
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

func (w *goTarget) form(it *wire.Item) string {
	n, ok := it.Type.(*schema.Number)
	return goForm(it.Bits, it.Var, it.Order, ok && n.Kind == schema.Signed, addOf(n))
}

func addOf(n *schema.Number) int64 {
	if n == nil {
		return 0
	}
	return n.Add
}

// body writes the parts of a body; base is the record of its optional parts and of its alternatives.
func (w *goTarget) body(parts []wire.Part, r *record, base string) {
	for i := range parts {
		p := &parts[i]
		if p.Optional > 0 && (i == 0 || parts[i-1].Optional != p.Optional) {
			w.print("if !x.part(&$parts, $n) {\n\treturn\n}", vars{"parts": w.dot(base, w.parts[r]), "n": p.Optional})
		}
		if p.Kind == wire.Choice && p.Field == wire.None {
			w.variants(p, r, base)
		} else {
			w.part(p)
		}
	}
}

func (w *goTarget) part(p *wire.Part) {
	switch p.Kind {
	case wire.Block:
		w.block(p, "")
	case wire.Var:
		w.other("nil", &p.Items[0])
	case wire.Text, wire.Blob:
		w.run(p)
	case wire.List:
		w.list(p)
	case wire.Weave:
		w.weave(p)
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
		w.computed(p)
	case wire.Align:
		w.line("x.align(%d)", p.Unit)
	}
}

// computed sets a number that is not sent.
func (w *goTarget) computed(p *wire.Part) {
	n, v := p.Items[0].Type.(*schema.Number), "n"+w.id()
	w.line("%s := uint64(%s) & %s", v, w.expr(*p.Expr), w.mask(schema.Mask(n.Bits)))
	if at := w.set(p.Reg); at != "" {
		w.line("%s%s", at, v)
	}
	value := fmt.Sprintf("%s(%s)", goNumber(n), v)
	switch n.Kind {
	case schema.Bool:
		value = v + " != 0"
	case schema.Signed:
		value = fmt.Sprintf("%s(extend(%s, %d))", goNumber(n), v, n.Bits)
	}
	w.keep(w.at[p.Field], value)
	w.limit(n, p.Field, "")
}

// keep sets a value that was read.
func (w *goTarget) keep(to, value string) {
	w.print("if !x.writing {\n\t$to = $value\n}", vars{"to": to, "value": value})
}

// find returns the first part of the message that fits.
func (w *goTarget) find(fits func(*wire.Part) bool) *wire.Part {
	for p := range all(w.laid.Body.Parts) {
		if fits(p) {
			return p
		}
	}
	return nil
}

// args returns the arguments for the parameters of a method.
func (w *goTarget) args(params []int) (out string) {
	for _, reg := range params {
		out += ", " + w.reg(reg)
	}
	return out
}

// limit checks the legal range of a number.
func (w *goTarget) limit(n *schema.Number, f int, raw string) {
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

// present returns the number that selects an alternative.
func (w *goTarget) present(f int) string {
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
func (w *goTarget) units(f int, e schema.Extent) string {
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

// goAll is the member with all bits of a bitfield.
const goAll = "Value"

// amount returns the number of units of a part: -1 up to the end, -2 up to a byte.
func (w *goTarget) amount(p *wire.Part) string {
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

// placed writes contents, which may be at an offset.
func (w *goTarget) placed(p *wire.Part, contents func()) {
	if p.Offset == wire.None {
		contents()
		return
	}
	none, back := "false", "at"+w.id()
	switch p.Extent.Size {
	case schema.Counted:
		none = w.reg(p.Count) + " == 0"
	case schema.Terminated:
		none = w.reg(p.Offset) + " == 0"
	}
	at := w.laid.Regs[p.Offset].Place
	w.open("if %s, ok := x.seek(%s, %d, %v, %s, %s); ok {", back, w.reg(p.Offset), at.Bits, at.Order == schema.Big, none, w.label(p.Field))
	contents()
	w.line("x.back(%s)", back)
	w.shut("}")
}

// run writes text or bytes of variable size.
func (w *goTarget) run(p *wire.Part) {
	expr, label := w.at[p.Field], w.label(p.Field)
	w.limits(p, w.units(p.Field, p.Extent))
	w.placed(p, func() {
		if t, ok := w.laid.Fields[p.Field].Schema.Type.(*schema.Text); ok {
			w.line("x.text(&%s, %s, %s, %d, %s)", expr, goCharset(t.Charset), w.amount(p), p.Extent.End, label)
		} else if p.Extent.Size == schema.Fixed { // an array
			w.print("if b := x.content($n, 1, $label); x.writing {\n\tx.b = append(x.b, $expr[:]...)\n} else {\n\tcopy($expr[:], b)\n}", vars{"n": p.Extent.N, "label": label, "expr": expr})
		} else {
			w.absent(p, func() { w.line("x.blob(&%s, %s, %s)", expr, w.amount(p), label) })
		}
	})
	if at := w.set(p.Reg); at != "" {
		w.line("%s%s", at, expr)
	}
}

// limits checks the number of units that are written, if it is not sent but limited.
func (w *goTarget) limits(p *wire.Part, units string) {
	if p.Count != wire.None || p.Extent.Min == nil && p.Extent.Max == nil {
		return
	}
	lo, hi := w.bounds(p.Extent)
	w.line("if x.writing {\n\tx.counted(uint64(%s), %s, %s, %s)\n}", units, lo, hi, w.label(p.Field))
}

// absent writes contents unless they have a count of -1.
func (w *goTarget) absent(p *wire.Part, contents func()) {
	if !p.Extent.Null {
		contents()
		return
	}
	w.open("if int64(%s) != -1 {", w.reg(p.Count))
	contents()
	w.shut("}")
}

func (w *goTarget) list(p *wire.Part) {
	if p.Linked() {
		id := w.chained(p)
		w.open("for i%s := 0; link(x, &%s, &c%s, i%s); i%s++ {", id, w.at[p.Field], id, id, id)
		w.element(p, fmt.Sprintf("%s[i%s]", w.at[p.Field], id), "")
		w.line("x.linked(&c%s)", id)
		w.shut("}")
		return
	}
	w.limits(p, "len("+w.at[p.Field]+")")
	w.placed(p, func() { w.absent(p, func() { w.elements(p) }) })
}

// chained begins a list whose elements have the offset of the next one.
func (w *goTarget) chained(p *wire.Part) (id string) {
	id = w.id()
	place := func(at wire.Place) string { return "place{" + goPlace(at) + "}" }
	w.line("c%s := x.chain(%s, %s, %s, %s, %s, %s)", id, w.reg(p.Offset), place(w.laid.Regs[p.Offset].Place), w.reg(p.Count), place(p.Here), place(p.Next), w.label(p.Field))
	return id
}

// weave writes lists whose elements are written in turn.
func (w *goTarget) weave(p *wire.Part) {
	id := w.id()
	var chains []string
	for k := range p.Lists {
		chains = append(chains, w.chained(&p.Lists[k]))
	}
	w.open("for i%s, more := 0, true; more; i%s++ {", id, id)
	w.line("more = false")
	for k := range p.Lists {
		l := &p.Lists[k]
		w.open("if link(x, &%s, &c%s, i%s) {", w.at[l.Field], chains[k], id)
		w.element(l, fmt.Sprintf("%s[i%s]", w.at[l.Field], id), "")
		w.line("x.linked(&c%s)", chains[k])
		w.line("more = true")
		w.shut("}")
	}
	w.shut("}")
}

// element writes an element; block is the variable with its bytes, if they are one.
func (w *goTarget) element(p *wire.Part, elem, block string) {
	m := w.mem[p.Field]
	body := func(r *record, base string) {
		if block != "" {
			w.block(&p.Elem.Parts[0], block)
		} else {
			w.body(p.Elem.Parts, r, base)
		}
	}
	switch {
	case p.List.Bare:
		w.enterValue(p.Elem.Fields[0], elem)
		body(nil, "")
	case p.Extent.Size == schema.While || p.Extent.Size == schema.Ending:
		w.enter(p.Elem.Fields, elem)
		body(m.record, elem)
	default:
		params, outside, args := w.outer(p.Elem), block, ""
		if block != "" {
			block, args = "b", ", "+outside
		}
		name := w.method(w.types[m.record], "", p.Field, block, params, func() {
			w.enter(p.Elem.Fields, "m")
			body(m.record, "m")
		})
		w.line("%s.%s(x%s%s)", elem, name, args, w.args(params))
	}
}

// elements writes elements one after the other.
func (w *goTarget) elements(p *wire.Part) {
	id := w.id()
	i, to, label, n := "i"+id, w.at[p.Field], w.label(p.Field), w.amount(p)
	elem := fmt.Sprintf("%s[%s]", to, i)
	least := p.Elem.Min.Bits / 8
	size := 0 // of each element
	if parts := p.Elem.Parts; len(parts) == 1 && parts[0].Kind == wire.Block && parts[0].Optional == 0 {
		size = int(parts[0].Min.Bits / 8)
	}
	switch p.Extent.Size {
	case schema.Fixed, schema.Counted, schema.Computed, schema.ToEnd:
		if size == 0 {
			break
		}
		all := fmt.Sprintf("elems(x, &%s, %s, %d, %s)", to, n, size, label)
		slice := to
		if p.Extent.Size == schema.Fixed {
			all, slice = fmt.Sprintf("x.block(%d)", p.Extent.N*size), to+"[:]"
		}
		if w.bytes(p) {
			w.print("if b := $all; x.writing {\n\tcopy(b, $to)\n} else {\n\tcopy($to, b)\n}", vars{"all": all, "to": slice})
		} else {
			w.open("for %s, b%s := 0, %s; len(b%s) > 0; %s, b%s = %s+1, b%s[%d:] {", i, id, all, id, i, id, i, id, size)
			w.element(p, elem, "b"+id)
			w.shut("}")
		}
		if p.Extent.Size == schema.ToEnd {
			w.line("x.end()")
		}
		return
	}
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
		if least > 0 && p.Extent.Size != schema.ToEnd {
			w.open("for %s := range list(x, &%s, %s, %d, %s) {", i, to, n, least, label)
			break
		}
		if p.Extent.Size == schema.Computed {
			w.line("n%s := %s", id, n)
			n = "n" + id
		}
		w.open("for %s := 0; next(x, &%s, %s, %s, %s); %s++ {", i, to, i, n, label, i)
		if p.Extent.Size == schema.ToEnd {
			w.line("from%s := x.pos", id)
		}
	}
	w.element(p, elem, "")
	switch p.Extent.Size {
	case schema.Fixed, schema.Counted, schema.Computed:
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

// bytes reports whether the elements of a list are bytes, of which any are legal.
func (w *goTarget) bytes(p *wire.Part) bool {
	if !p.List.Bare || len(p.Elem.Parts[0].Items) != 1 {
		return false
	}
	it := &p.Elem.Parts[0].Items[0]
	n, ok := it.Type.(*schema.Number)
	return ok && w.mem[p.Field].elem.typ == n && goNumber(n) == "uint8" && n.Bits == 8 && n.Min == nil && n.Max == nil && !(it.Reg != wire.None && w.read[it.Reg])
}

// variants writes the alternatives at the end of a record, which depend on a number or on the size of the message.
func (w *goTarget) variants(p *wire.Part, r *record, base string) {
	alternative := ""
	if r.choice {
		alternative = w.dot(base, w.choices[r])
		w.keep(alternative, base+".alternative(len(x.b))")
		fmt.Fprintf(&w.out, "// alternative returns the number of the alternative that a message of that size has.\nfunc (*%s) alternative(size int) int {\nswitch {\n", w.types[r])
		for k := range p.Cases {
			c := &p.Cases[k]
			fmt.Fprintf(&w.out, "case %s:\nreturn %d\n", w.lengthIs(choice{min: c.Min, max: c.Max}, "size"), k+1)
		}
		w.out.WriteString("}\nreturn 0\n}\n\n")
	}
	if len(p.Cases) == 0 {
		return
	}
	on := alternative
	if on == "" {
		on = w.reg(p.Cases[0].Reg)
	}
	w.cases(p, on, func(c *wire.Case, k int) string {
		if r.choice {
			return strconv.Itoa(k + 1)
		}
		return strconv.FormatUint(c.Value, 10)
	}, func(c *wire.Case, _ int) {
		w.enter(c.Body.Fields, base)
		w.body(c.Body.Parts, nil, "")
	})
}

// cases writes a switch, with the first case of each value.
func (w *goTarget) cases(p *wire.Part, on string, value func(c *wire.Case, k int) string, body func(c *wire.Case, k int)) {
	seen := map[string]bool{}
	w.open("switch %s {", on)
	for k := range p.Cases {
		c := &p.Cases[k]
		label := "case " + value(c, k)
		if c.Else {
			label = "default"
		}
		if seen[label] {
			continue
		}
		seen[label] = true
		w.line("%s:", label)
		w.depth++
		body(c, k)
		w.depth--
	}
	w.shut("}")
}

// choice writes alternatives.
func (w *goTarget) choice(p *wire.Part) {
	f := p.Field
	t, m := w.laid.Fields[f].Schema.Type.(*schema.Choice), w.mem[f]
	if len(p.Cases) == 0 {
		return
	}
	w.cases(p, w.reg(p.Cases[0].Reg), func(c *wire.Case, _ int) string {
		if c.Text != nil {
			return strconv.Quote(*c.Text)
		}
		return strconv.FormatUint(c.Value, 10)
	}, func(c *wire.Case, k int) { w.alternative(c, m.kind[k], t.Anon, f) })
}

func (w *goTarget) alternative(c *wire.Case, kind *member, anon bool, f int) {
	m, expr := w.mem[f], w.at[f]
	switch {
	case c.Body.Struct == nil:
		return
	case anon:
		w.enter(c.Body.Fields, expr)
		w.body(c.Body.Parts, nil, "")
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
		name := w.method(w.types[kind.record], "", f, "", params, func() {
			if c.Bare {
				w.enterValue(c.Body.Fields[0], "m")
			} else {
				w.enter(c.Body.Fields, "m")
			}
			w.body(c.Body.Parts, nil, "")
		})
		w.line("value(x, &%s).%s(x%s)", expr, name, w.args(params))
		return
	}
	w.fn.loops++
	v := fmt.Sprintf("p%d", w.fn.loops)
	w.line("%s := value(x, &%s)", v, expr)
	if c.Bare {
		w.enterValue(c.Body.Fields[0], "(*"+v+")")
	} else {
		w.enter(c.Body.Fields, v)
	}
	w.line("_ = %s", v)
	w.body(c.Body.Parts, nil, "")
}

// group writes a group with a body of its own.
func (w *goTarget) group(p *wire.Part) {
	f := p.Field
	t, m, expr := w.laid.Fields[f].Schema.Type.(*schema.Group), w.mem[f], w.at[f]
	contents := func() {
		switch {
		case t.Own:
			params := w.outer(p.Body)
			w.line("%s.%s(x%s)", expr, w.ownMethod(p, params), w.args(params))
		case bare(t):
			w.body(p.Body.Parts, nil, "")
		default:
			w.body(p.Body.Parts, m.record, expr)
		}
	}
	if t.Own && m.ptr {
		expr = "value(x, &" + expr + ")"
	}
	if t.Packed != schema.Unpacked {
		plain := contents
		contents = func() {
			w.open("x.pack(%s, func() {", [...]string{"", "packedZlib", "packedDeflate", "packedGzip"}[t.Packed])
			plain()
			w.shut("})")
		}
	}
	if p.Bytes == wire.None {
		contents()
		return
	}
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
	w.open("x.within(%s, %s, %s, %d, %s, func() {", w.reg(p.Bytes), form, some, null, w.label(f))
	if t.Null {
		w.line("value(x, &%s)", expr)
	}
	contents()
	w.shut("})")
}

// ownMethod returns the method of a group that contains itself.
func (w *goTarget) ownMethod(p *wire.Part, params []int) string {
	r := w.mem[p.Field].record
	key := fmt.Sprintf("%p %d", r, len(params))
	if old := w.shared[key]; old != "" {
		return old
	}
	typ := w.types[r]
	name := w.newMethod(typ)
	w.shared[key] = name
	w.method(typ, name, p.Field, "", params, func() {
		w.line("if !x.enter(%s) {\n\treturn\n}", w.label(p.Field))
		w.enter(w.laid.Inside(p.Field), "m")
		w.body(p.Body.Parts, r, "m")
		w.line("x.leave()")
	})
	return name
}

// expr returns an expression, as an int64.
func (w *goTarget) expr(x wire.Expr) string {
	var stack []string
	for i := range x {
		s := &x[i]
		n := s.Op.Operands()
		args := stack[len(stack)-n:]
		stack = append(stack[:len(stack)-n:len(stack)-n], w.step(s, args))
	}
	return stack[0]
}

func (w *goTarget) step(s *wire.Step, args []string) string {
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
func (w *goTarget) ref(s *wire.Step) string {
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
