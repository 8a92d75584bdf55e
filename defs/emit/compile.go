package emit

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// try calls do with the wire layout of a message. If that fails, or the message has features that the target does not support, the message is
// omitted, which is a loss.
func (l *losses) try(m *schema.Message, known features, do func(*wire.Message)) (ok bool) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case impossible:
			l.lose(m, "", e.format+isOmitted, e.args...)
			ok = false
		default:
			panic(e)
		}
	}()
	if m.Broken || m.Body == nil {
		fail("the definition has errors")
	}
	ok = true
	laid, err := wire.Compile(m)
	if err != nil {
		fail("%s", strings.TrimPrefix(err.Error(), "compile "+m.Name+": "))
	}
	for _, u := range laid.Features() {
		if !known.has(u.Feature) {
			why := omitted[u.Feature]
			*l = append(*l, loss{m: m, field: laid.Label(u.Field), kind: why, text: why})
			ok = false
		}
	}
	if ok {
		do(laid)
	}
	return ok
}

type impossible struct {
	format string
	args   []any
}

// fail omits the current message of try.
func fail(format string, args ...any) { panic(impossible{format, args}) }

// compiler turns the parts of a message into steps, which refer to members of records in place of fields.
type compiler struct {
	p        *plan
	m        *message
	wire     *wire.Message
	members  []*member // by field; nil for the value of a bare element
	locals   []*local  // by register
	contents map[int]*wire.Part
	losses
}

func newCompiler(p *plan, m *message, w *wire.Message) *compiler {
	c := &compiler{p: p, m: m, wire: w, members: make([]*member, len(w.Fields)), locals: make([]*local, len(w.Regs)), contents: contents(w)}
	m.header, m.min = w.Header, byteSum(w.Body.Min)
	return c
}

// all yields parts and those inside them, the outer ones first.
func all(parts []wire.Part) iter.Seq[*wire.Part] {
	return func(yield func(*wire.Part) bool) { inner(parts, yield) }
}

func inner(parts []wire.Part, yield func(*wire.Part) bool) bool {
	for i := range parts {
		p := &parts[i]
		if !yield(p) || !inner(p.Lists, yield) || p.Body != nil && !inner(p.Body.Parts, yield) || p.Elem != nil && !inner(p.Elem.Parts, yield) {
			return false
		}
		for k := range p.Cases {
			if !inner(p.Cases[k].Body.Parts, yield) {
				return false
			}
		}
	}
	return true
}

// contents returns the parts of text, bytes and lists of variable size, by field.
func contents(m *wire.Message) map[int]*wire.Part {
	out := map[int]*wire.Part{}
	for p := range all(m.Body.Parts) {
		if p.Kind == wire.Text || p.Kind == wire.Blob || p.Kind == wire.List {
			out[p.Field] = p
		}
	}
	return out
}

// unit returns the minimum size of a unit of contents in bytes, as an expression.
func unit(p *wire.Part) string {
	if p.Kind == wire.List {
		return byteSum(p.Elem.Min)
	}
	return strconv.Itoa(p.Unit)
}

// byteSum returns a size in bytes, as a C expression if it contains constants without a value.
func byteSum(s wire.Sum) string {
	out := strconv.FormatInt(min((s.Bits+7)/8, math.MaxUint32), 10)
	for _, t := range s.Terms {
		times := strconv.FormatInt(t.Times, 10)
		if t.Const != "" {
			times = "(uint64_t)" + t.Const
		}
		out += " + " + times + " * (" + byteSum(t.Of) + ")"
	}
	return out
}

// record compiles the steps of a record.
func (c *compiler) record(r *record, body *wire.Body) {
	c.enter(body.Fields, r)
	r.steps = c.steps(r, body.Parts)
	for i := range r.steps { // a member is optional if all its parts are
		st := &r.steps[i]
		r.parts = max(r.parts, st.part)
		for k := range st.items {
			if it := &st.items[k]; it.kind == schema.Value && it.path[0] != nil {
				it.path[0].part = max(it.path[0].part, st.part)
			}
		}
	}
}

// enter assigns members to fields, including those in groups.
func (c *compiler) enter(fields []int, r *record) {
	for i, f := range fields {
		c.enterField(f, r.members[i])
	}
}

func (c *compiler) enterField(f int, m *member) {
	c.members[f] = m
	if x := &c.wire.Fields[f]; x.Last != wire.None {
		m.nth, _ = strconv.Atoi(x.Name[len(m.name)+len("#"):])
	}
	if g, ok := c.wire.Fields[f].Schema.Type.(*schema.Group); ok {
		if g.Array {
			c.losses.lose(c.m.m, c.wire.Path(f), "an array of contents is a type with the members 0, 1 and so on")
		}
		r := c.p.byStruct[g.Struct]
		if r == nil && m != nil {
			r = m.record
		}
		c.enter(c.wire.Inside(f), r)
	}
}

// path returns the path of a field from its record.
func (c *compiler) path(field int) path {
	at := path{c.members[field]}
	for f := &c.wire.Fields[field]; !f.InList && f.Parent != wire.None; f = &c.wire.Fields[f.Parent] {
		at = append(at, c.members[f.Parent])
	}
	slices.Reverse(at)
	return at
}

// label returns the name of a field in messages: its path from its record.
func (c *compiler) label(field int) string {
	f := &c.wire.Fields[field]
	switch name := f.Schema.Name; {
	case f.InList && name == "":
		return short(c.label(f.Parent) + "[]")
	case f.InList || f.Parent == wire.None:
		return short(name)
	default:
		return short(strings.TrimPrefix(c.label(f.Parent)+"."+name, "."))
	}
}

func (c *compiler) steps(r *record, parts []wire.Part) []step {
	var out []step
	for i := range parts {
		p := &parts[i]
		st := step{part: p.Optional}
		switch p.Kind {
		case wire.Block:
			st.kind, st.bits = stepBlock, int(p.Min.Bits)
			for k := range p.Items {
				st.items = append(st.items, c.item(r, &p.Items[k]))
			}
		case wire.Weave:
			st.kind, st.lists = stepWeave, c.steps(r, p.Lists)
		case wire.Choice:
			st.kind = stepChoice
			for k := range p.Cases {
				st.cases = append(st.cases, c.choice(r, &p.Cases[k]))
			}
		default:
			c.content(r, &st, p)
		}
		out = append(out, st)
	}
	return out
}

func (c *compiler) item(r *record, w *wire.Item) item {
	it := item{kind: w.Kind, off: w.Off, bits: w.Bits, order: w.Order, typ: w.Type, bytes: w.Bytes}
	switch w.Kind {
	case schema.Value:
		it.path, it.label = c.path(w.Field), c.label(w.Field)
		if n, ok := w.Type.(*schema.Number); ok && n.Kind == schema.Float && w.Off%8 != 0 {
			fail("the float %q does not start at a byte boundary", c.wire.Fields[w.Field].Schema.Name)
		}
	case schema.Count, schema.Offset:
		it.label, it.local = c.label(w.Field), &local{id: w.Reg + 1}
		c.locals[w.Reg] = it.local
		if p := c.contents[w.Field]; w.Kind == schema.Count && p != nil {
			it.ext, it.unit = p.Extent, unit(p)
		}
		it.local.item = it
	case schema.Length:
		x := it
		c.m.length = &x
	case schema.Code, schema.Counter, schema.Check:
		if w.Kind == schema.Code && c.m.m.HasKey {
			it.code = c.m.m.Key.Code
		} else {
			m := &member{name: w.Kind.String(), typ: &schema.Number{Bits: w.Bits}, book: w.Kind, isBook: true}
			r.members = append(r.members, m)
			it.path, it.typ = path{m}, m.typ
		}
		if w.Kind == schema.Code {
			x := it
			c.m.code = &x
		}
		if w.Kind == schema.Check && c.wire.Sum != nil {
			c.lose(c.m.m, "check", "the checksum is copied, neither computed nor verified")
		}
	}
	return it
}

// content completes a step of variable size.
func (c *compiler) content(r *record, st *step, p *wire.Part) {
	st.path, st.typ, st.min, st.end = c.path(p.Field), c.wire.Fields[p.Field].Schema.Type, unit(p), p.Extent.Size == schema.ToEnd
	st.items = []item{{kind: schema.Value, path: st.path, typ: st.typ, label: c.label(p.Field), ext: p.Extent, unit: st.min}}
	if p.Count != wire.None {
		st.count = c.locals[p.Count]
	}
	if p.Offset != wire.None {
		st.offset = c.locals[p.Offset]
	}
	if st.kind = stepRun; p.Kind != wire.List {
		return
	}
	st.kind = stepList
	if p.Linked() {
		st.next = &item{off: p.Next.Off, bits: p.Next.Bits, order: p.Next.Order}
		if p.Here.Bits > 0 {
			st.here = &item{off: p.Here.Off, bits: p.Here.Bits, order: p.Here.Order}
		}
	}
	if !p.List.Bare {
		if st.rec = c.p.byStruct[p.List.Elem]; !st.rec.element {
			st.rec.element = true
			c.record(st.rec, p.Elem)
		}
		return
	}
	if p.List.Elem.Optional > 0 || len(p.List.Elem.Variants) > 0 {
		fail("the elements of %q are bare values with optional parts", c.wire.Fields[p.Field].Schema.Name)
	}
	c.enterField(p.Elem.Fields[0], nil)
	st.elem = c.steps(r, p.Elem.Parts)
}

func (c *compiler) choice(r *record, w *wire.Case) choice {
	ch := choice{min: w.Min, max: w.Max, value: w.Value}
	if w.Reg != wire.None {
		f := c.wire.Regs[w.Reg].Field
		n, ok := c.wire.Fields[f].Schema.Type.(*schema.Number)
		if !ok || n.Kind == schema.Float || n.Scale != 0 {
			fail("alternatives depend on %q, which is not an integer", c.wire.Fields[f].Schema.Name)
		}
		ch.field, ch.typ = c.path(f), n
	}
	for _, f := range w.Body.Fields {
		c.enterField(f, c.p.altMember(r, c.wire.Fields[f].Schema))
	}
	ch.steps = c.steps(r, w.Body.Parts)
	return ch
}

// short truncates a text that is repeated in the output.
func short(text string) string {
	const most = 120 // bytes
	if len(text) <= most {
		return text
	}
	for i := range text {
		if i > most {
			return text[:i] + fmt.Sprintf("… (%d bytes)", len(text))
		}
	}
	return text
}
