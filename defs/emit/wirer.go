package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	packed []int     // the groups of those that are compressed, or have a key
	lists  []int     // those around
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
		if x.Optional > 0 && (r != nil || !isConstant(x) || w.inside == 0) {
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
			w.group(x, name)
		case wire.List:
			w.lists = append(w.lists, x.Field)
			if m := w.mem[x.Field]; x.List.Bare {
				w.field(x.Elem.Fields[0], m.elem, nil)
				w.parts(x.Elem.Parts, nil)
			} else {
				w.fields(x.Elem.Fields, m.record)
				w.parts(x.Elem.Parts, m.record)
			}
			w.lists = w.lists[:len(w.lists)-1]
		case wire.Weave, wire.Tagged:
			w.parts(x.Lists, nil)
		case wire.Choice:
			w.choice(x, r, name)
			if i > 0 && unsure(&parts[i-1], x) && laid.Fields[x.Field].Schema.Type.(*schema.Choice).Anon {
				w.chosen(x)
			}
		case wire.Block, wire.Blob, wire.Var, wire.Call, wire.Let, wire.Computed, wire.Align: // only their items, above, and expressions, below
		}
		if x.Expr != nil {
			for _, s := range *x.Expr {
				if s.Listed && slices.Contains(w.lists, s.Field) {
					fail("an expression depends on the number of elements of a list, in one of them")
				}
				if s.Op == schema.Ref && laid.Regs[s.Reg].Kind != schema.Value && laid.Regs[s.Reg].Kind != schema.Count {
					fail("an expression depends on a size")
				}
			}
		}
	}
}

// chosen adds the member that tells the alternative of a choice without a name, where what is written cannot.
func (w *wiring) chosen(x *wire.Part) {
	if m, r := w.mem[x.Field], w.around[x.Field]; m.chosen == nil {
		m.chosen = &member{name: "case", typ: &schema.Number{Bits: 64}, book: schema.Present, isBook: true}
		r.members = append(r.members, m.chosen)
	}
}

// group checks the contents of a group with a body of its own.
func (w *wiring) group(x *wire.Part, name string) {
	k := w.m.laid.Packing(x)
	if k > schema.Gzip && !k.Keyed() {
		fail("contents of %q are compressed by %s", name, k)
	}
	if x.In != wire.None && !slices.Equal(w.packed, w.packs(w.m.laid.Regs[x.In].Field)) {
		fail("contents of %q are at a position in others, which are compressed, or have a key", name)
	}
	if x.At != wire.None && len(w.packed) > 0 {
		w.lose(w.m.m, w.m.laid.Path(x.Field), "contents at a position in compressed ones are read, and cannot be written")
	}
	w.m.packed = w.m.packed || k != schema.Unpacked && !k.Keyed()
	w.plan.packed = w.plan.packed || w.m.packed
	own, packed := k != schema.Unpacked || x.Bytes != wire.None || x.At != wire.None, k != schema.Unpacked
	if own {
		w.inside++
	}
	if packed {
		w.packed = append(w.packed, x.Field)
	}
	w.parts(x.Body.Parts, w.mem[x.Field].record)
	if own {
		w.inside--
	}
	if packed {
		w.packed = w.packed[:len(w.packed)-1]
	}
}

// packs returns the groups that are compressed, or have a key, around the contents of a field, the outermost first.
func (w *wiring) packs(f int) (out []int) {
	for ; f != wire.None; f = w.m.laid.Fields[f].Parent {
		if g, ok := w.m.laid.Fields[f].Schema.Type.(*schema.Group); ok && g.Packed != schema.Unpacked {
			out = append(out, f)
		}
	}
	slices.Reverse(out)
	return out
}

// isConstant reports whether a part has nothing but constant bytes.
func isConstant(p *wire.Part) bool {
	return p.Kind == wire.Block && !slices.ContainsFunc(p.Items, func(it wire.Item) bool { return it.Kind != schema.Const })
}

// unsure reports whether what selects the alternatives of a choice, by the part before it, is not known while they are written.
func unsure(p, choice *wire.Part) bool {
	return p.Kind == wire.Let && choice.Kind == wire.Choice && choice.Field != wire.None && len(choice.Cases) > 0 && choice.Cases[0].Reg == p.Reg && p.Expr.Unsure(false)
}

// optional notes the members that are there only if a part is.
func (w *wiring) optional(x *wire.Part, r *record) {
	for _, f := range values(x) {
		for ; f != wire.None; f = w.m.laid.Fields[f].Parent {
			if w.around[f] == r {
				w.mem[f].part = max(w.mem[f].part, x.Optional)
				break
			}
		}
	}
}

// values returns the fields whose values are in a part.
func values(p *wire.Part) []int {
	fields := []int{p.Field}
	for k := range p.Items {
		if it := &p.Items[k]; it.Kind == schema.Value {
			fields = append(fields, it.Field)
		}
	}
	return fields
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

// A wirer writes the code of messages in the form of a runtime: functions that pass the values of a type, in wire order, to a coder, for both
// directions. It knows the statements and their order; a speller is the words of a language for them. Statements end with a semicolon, and
// conditions are in parentheses, which gofmt drops.
type wirer struct {
	teller
	lang     speller
	wording  *wording
	m        *message
	laid     *wire.Message
	contents map[int]*wire.Part // by field: text, bytes and lists
	at       []slot             // by field: its value
	mem      []*member          // likewise
	read     []bool             // by register: something depends on it
	computed map[int]bool       // registers with the value of an expression
	moves    bool               // the message has parts that depend on positions
	nodes    map[int]*member    // by register of the elements of a list: the list
	fn       *function
	methods  map[string]string
	shared   map[string]string // functions of groups that contain themselves, by struct
	out      strings.Builder
}

// slot is a value: the expressions that set it and that read it, which differ if it may be missing.
type slot struct {
	set, get string
	zero     string // of a value that may be missing
	typ      string // what else the language must know: likewise, the type
	mem      *member
}

// wording is the formats of a language for short expressions and statements.
type wording struct {
	declare  string    // a variable: its type, for languages that need it, its name and its value
	guard    string    // returns unless a call of the coder succeeds
	failed   string    // leaves a loop after an error, "" if errors are thrown
	nested   string    // $call passes contents with an end of their own, with the statements $body: a function of $name for $args; $id is a number
	sides    [3]string // statements that depend on the direction, of both, of those that write, $out, and of those that read, $in
	regs     string    // those that set registers unless the message is read, $regs; "" if they are among those that write
	same     string    // the condition that a register is a text; "" if a switch compares texts
	branch   string    // opens an alternative of a switch
	merge    string    // closes it
	nowhere  string    // no block
	place    string    // of a number in a block
	length   string    // of a list or of bytes
	end      string    // where what is written ends so far
	bit      string    // the place of a bit of the newest block
	some     string    // a value is there
	text     string    // the number of units of a text: its encoding, and the expressions that read and set it
	absent   string    // the number of elements or bytes, which may be absent: their number, and what sets them
	owned    bool      // the memory of lists is the caller's: their counts need not be mistrusted
	unsigned string    // an integer, as the register of a count
	signed   string    // such a register, as a signed number
	units    string    // likewise, as a number of units
	let      string    // an expression, as a register
	ref      string    // a variable to be changed
	bits     string    // declares the bits of a bitfield
	part     string    // bits, shifted and masked
	shifted  string    // a number, shifted
	again    string    // a statement that writes the message again
	exact    string    // a number of any type, as an integer of an expression
	either   string    // one of two floats or texts, by an integer of an expression
	isBit    string    // a truth value, as an integer of an expression
	equal    string    // compares floats or texts
	differ   string    // likewise
	order    string    // how texts compare: below 0, 0, or above 0; "" if operators compare them
	element  string    // an element of a list, for expressions
	real     string    // an integer of an expression, as a float
}

// closeSides are the sides of languages with closures, which do not measure.
var closeSides = [3]string{"if (x.writing) {\n\t$out\n} else {\n\t$in\n}", "if (x.writing) {\n\t$out\n}", "if (!x.writing) {\n\t$in\n}"}

// speller is the words of a language that are more than formats. Its methods return expressions, unless noted otherwise.
type speller interface {
	tongue
	title(s string) string             // a name, for errors
	compared(reg int, s string) string // a text that is compared with a register
	bounds(e schema.Extent) (lo, hi string)
	inRange(n *schema.Number, v string, big bool) string

	entry(m *message, checks, ends []string)                                  // prints what users call
	function(r *record, name, block string, params []int, text string) string // a whole function
	newFunction(r *record) string                                             // the name of another function of a type
	call(name string, of slot, args string) string                            // calls it
	alternatives(r *record, body func())                                      // prints a function to w.out, body its switch
	alternative(r *record) (read, wrote string)                               // calls it; the condition that what is written has the chosen one
	variables(regs []int) string                                              // declares those of registers
	word(name string, bits int) string                                        // a function of the runtime, for integers of that many bits
	form(bits int, v schema.Varint, order schema.Order, isSigned bool, add int64) string

	bytes(b []byte) string                                                    // a literal with a character for each byte
	float(f float64) string                                                   // a literal
	text(t schema.Type, v string) string                                      // a text or bytes, as a register
	whole(t schema.Type, at slot) string                                      // likewise, of a place
	made(t schema.Type, v string) string                                      // the value of an expression, as a text or bytes
	held(t schema.Type, s *wire.Step, at slot) string                         // a value, as that of an expression
	node(list, i string, m *member) string                                    // a list as a register: all elements, or those up to i
	look(name string, s *wire.Step, args, guard, of string) string            // calls a function of the runtime for a value in elements
	tags(list []string) string                                                // may print: numbers
	long(at slot, narrow bool, label string) (v string)                       // prints: passes an integer of 128 bits; its low bits
	flags(t *schema.Bitfield, v string, at slot, label string)                // prints: passes the bits of a bitfield of 128 bits, of which v are the low ones
	higher(t *schema.Bitfield, v string, p schema.Part) (string, schema.Part) // the variable with the bits of a part, and the part in it

	floatBits(v string) string // a float, as a register

	of(base slot, m *member) slot
	fill(m *member, at slot)                      // prints: creates a group with members of its own, if it may be missing
	kind(at slot, kind *member, bare bool) slot   // prints: creates an alternative
	part(r *record, base slot, parts []wire.Part) // prints: returns unless optional parts are present
	inner(at slot, null bool) slot                // the value of one that may be missing
	make(at slot) string                          // may print: creates a value that is read, and returns it
	create(at slot)                               // prints: likewise
	pass(method string, at slot, args string)     // prints
	chain(p *wire.Part)                           // prints: creates the elements of a chain
	stored(p *wire.Part, at slot) bool            // prints text or bytes that are stored inside their record, if it is one of these

	pick(cond string, a, b uint64, bits int) string
	constant(reg int, v uint64) string                   // of the type of a register
	cut(expr string, bits int) string                    // the lowest bits of an expression
	extend(raw string, bits int) string                  // as two's complement
	less(v string, n *schema.Number) string              // the number that is sent for a value
	cast(n *schema.Number, v string, exact bool) string  // the value of a member; exact: v has 64 bits
	argument(n *schema.Number, v string) string          // a member for the coder
	raw(v string, n *schema.Number) string               // the bits that are sent for a value
	step(s *wire.Step, args []string) string             // an operation
	truth(v string, bits int) string                     // bits are not all 0
	list(at slot, m *member, id string) string           // may print: a list whose elements are passed
	elem(list, i string, m *member) slot                 //
	next(call, list, args string, m *member) string      // begins an element
	loop(i, more, cond string)                           // opens a loop
	times(i, list, n string, least int64, p *wire.Part)  // likewise, over n elements
	blocks(i, b, list, n string, size int, p *wire.Part) // likewise, over elements of fixed size
	copied(list, n string, p *wire.Part) bool            // prints all elements at once

	take(b string, size int64) // prints: the next bytes, "" if they are not used
	slice(b string, it *wire.Item) string
	load(b string, it *wire.Item) string // a count, an offset
	store(b string, it *wire.Item, v string) string
	direct(b *block, it *wire.Item, n *schema.Number, at slot, label string) // adds statements
	copy(b *block, it *wire.Item, at slot, label string) bool                // likewise, for bytes, and for text that is copied like them
	partBits(t *schema.Bitfield, name, at, label string) string
	partValue(t *schema.Bitfield, name, bits string) string
	allOf(t *schema.Bitfield, at string) (member, bits string)
	allBits(t *schema.Bitfield, bits string) string
}

// function is a function under construction.
type function struct {
	root   int            // the field whose contents it passes, wire.None for the message
	regs   map[int]string // the variables of registers
	vars   []int          // those that are declared
	loops  int
	more   string // the variable that a list of schema.While ends with
	moreOf string
	index  string
	parts  bool // it has a variable with the number of optional parts
}

func newWirer(p *plan, say *prints, words *wording, reserved []string) wirer {
	return wirer{teller: newTeller(p, say, reserved), wording: words, methods: map[string]string{}, shared: map[string]string{}}
}

// id returns the number of the next variables.
func (w *wirer) id() string {
	w.fn.loops++
	return strconv.Itoa(w.fn.loops)
}

// message writes the functions of a message.
func (w *wirer) message(m *message) {
	w.m, w.laid, w.contents = m, m.laid, contents(m.laid)
	w.at, w.mem = make([]slot, len(w.laid.Fields)), m.mem
	w.read = make([]bool, len(w.laid.Regs))
	w.reads(w.laid.Body.Parts, func(reg int) { w.read[reg] = true })
	w.computed, w.nodes = map[int]bool{}, map[int]*member{}
	for p := range all(w.laid.Body.Parts) {
		if p.Kind == wire.List && p.Node != wire.None {
			w.nodes[p.Node] = w.mem[p.Field]
		}
		if p.Kind == wire.Let || p.Kind == wire.Computed {
			w.computed[p.Reg] = true
		}
	}
	laid := w.laid
	var checks, ends []string
	if at := laid.Length; at.Bits > 0 {
		checks = append(checks, "x.frame("+numbers(at)+")")
		ends = append(ends, "x.length("+numbers(at)+")")
	}
	if m.m.HasKey && laid.Code.Bits > 0 {
		checks = append(checks, fmt.Sprintf("x.code(%s, %d)", numbers(laid.Code), m.m.Key.Code))
	}
	if m.m.Measured {
		checks = append(checks, fmt.Sprintf("x.measure(%s)", byteSum(laid.Body.Min)))
	}
	w.moves = slices.ContainsFunc(laid.Features(), func(u wire.Use) bool {
		return u.Feature == wire.Positions || u.Feature == wire.Windows || u.Feature == wire.LooseEnds
	})
	if slices.ContainsFunc(laid.Features(), func(u wire.Use) bool { return u.Feature == wire.Positions }) {
		ends = slices.Insert(ends, 0, "x.settle()")
	}
	if laid.Whole != wire.None && w.read[laid.Whole] {
		ends = slices.Insert(ends, 0, expand(w.wording.again, vars{"type": w.types[m.record]}))
	}
	if m.record.choice {
		_, wrote := w.lang.alternative(m.record)
		ends = slices.Insert(ends, 0, fmt.Sprintf("x.check(%s, %s)", wrote, w.lang.title("the alternative, which the size of the message selects,")))
	}
	w.lang.entry(m, checks, ends)
	w.line("")
	w.function(m.record, "wire", wire.None, "", nil, func() {
		if w.moves {
			w.line("x.opens();")
		}
		w.sets(laid.Whole, word(w.wording.unsigned, "x.total()"))
		w.enter(laid.Body.Fields, slot{set: "m", get: "m"})
		w.body(laid.Body.Parts, m.record, slot{set: "m", get: "m"})
	})
	w.b.WriteString(w.out.String())
	w.out.Reset()
}

func numbers(at wire.Place) string {
	return fmt.Sprintf("%d, %d, %v", at.Off, at.Bits, at.Order == schema.Big)
}

// word returns a format of the language, with its arguments.
func word(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// declare writes a variable. typ is its type in C.
func (w *wirer) declare(typ, name, value string) { w.line(w.wording.declare, typ, name, value) }

// nested writes contents that a call passes.
func (w *wirer) nested(name, call, args string, body func()) {
	w.print(w.wording.nested, vars{"name": name, "call": call + args, "args": args, "id": sync.OnceValue(w.id), "body": body})
}

// guard writes a statement that returns unless a call of the coder succeeds.
func (w *wirer) guard(call string) { w.print(w.wording.guard, vars{"call": call}) }

// when writes a statement with a condition.
func (w *wirer) when(cond, format string, args ...any) {
	w.open("if (%s) {", cond)
	w.line(format, args...)
	w.shut("}")
}

// reads calls yield with the registers that parts depend on.
func (w *wirer) reads(parts []wire.Part, yield func(reg int)) {
	for p := range all(parts) {
		regs := []int{p.Count, p.Offset, p.Bytes, p.Ended, p.At, p.In, p.InEnd}
		if p.Expr != nil {
			for _, s := range *p.Expr {
				regs = append(regs, s.Reg)
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
func (w *wirer) outer(body *wire.Body) (out []int) {
	set := map[int]bool{}
	for p := range all(body.Parts) {
		for _, reg := range setBy(p) {
			set[reg] = true
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

// setBy returns the registers that a part sets, and None.
func setBy(p *wire.Part) []int {
	regs := []int{p.Reg, p.Begin, p.Stop, p.Node, p.Index}
	for k := range p.Items {
		regs = append(regs, p.Items[k].Reg)
	}
	return regs
}

// function writes a function of a type, unless it has one with the same body, and returns its name. own: its name, if it calls itself. root:
// the field whose contents it passes. block: the variable with their bytes, if they are a block.
func (w *wirer) function(r *record, own string, root int, block string, params []int, body func()) string {
	fn, before := w.fn, w.code
	w.fn, w.code = &function{root: root, regs: map[int]string{}}, code{}
	for i, reg := range params {
		w.fn.regs[reg] = fmt.Sprintf("v%d", i+1)
	}
	w.depth = 1
	body()
	text := w.lang.variables(w.fn.vars) + w.code.b.String()
	key := w.lang.function(r, "", block, params, text)
	w.fn, w.code = fn, before
	name := own
	if name == "" {
		if old := w.methods[key]; old != "" {
			return old
		}
		name = w.lang.newFunction(r)
		w.methods[key] = name
	}
	w.out.WriteString(w.lang.function(r, name, block, params, text))
	return name
}

// reg returns the variable of a register.
func (w *wirer) reg(reg int) string {
	name, ok := w.fn.regs[reg]
	if !ok {
		name = fmt.Sprintf("r%d", len(w.fn.regs)+1)
		w.fn.regs[reg] = name
		w.fn.vars = append(w.fn.vars, reg)
	}
	return name
}

// set returns the start of a statement whose value a register has.
func (w *wirer) set(reg int) string {
	if reg == wire.None || !w.read[reg] {
		return ""
	}
	return w.reg(reg) + " = "
}

// sets writes the value of a register, if something depends on it.
func (w *wirer) sets(reg int, value string) {
	if at := w.set(reg); at != "" {
		w.line("%s%s;", at, value)
	}
}

// enter sets the expressions of the fields of a record.
func (w *wirer) enter(fields []int, base slot) {
	for _, f := range fields {
		if c, ok := w.laid.Fields[f].Schema.Type.(*schema.Choice); ok && c.Anon {
			w.at[f] = base
		} else {
			w.enterValue(f, w.lang.of(base, w.mem[f]))
		}
	}
}

// enterValue sets the expression of a field, and of the fields in it.
func (w *wirer) enterValue(f int, at slot) {
	w.at[f] = at
	t, ok := w.laid.Fields[f].Schema.Type.(*schema.Group)
	if !ok || w.laid.Fields[f].Again != wire.None {
		return
	}
	inner := w.lang.inner(at, t.Null)
	switch {
	case bare(t):
		w.enterValue(w.laid.Inside(f)[0], inner)
	case !t.Own:
		w.lang.fill(w.mem[f], at)
		w.enter(w.laid.Inside(f), inner)
	}
}

// label returns the name of a field in errors: its path from the type whose function passes it.
func (w *wirer) label(f int) string {
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
	return w.lang.title(short(text))
}

func (w *wirer) form(it *wire.Item) string {
	n, ok := it.Type.(*schema.Number)
	return w.lang.form(it.Bits, it.Var, it.Order, ok && n.Kind == schema.Signed, addOf(n))
}

func addOf(n *schema.Number) int64 {
	if n == nil {
		return 0
	}
	return n.Add
}

// body writes the parts of a body; base is the record of its optional parts and of its alternatives.
func (w *wirer) body(parts []wire.Part, r *record, base slot) {
	for i := range parts {
		p := &parts[i]
		if p.Optional > 0 && (i == 0 || parts[i-1].Optional != p.Optional) {
			end := i + 1
			for end < len(parts) && parts[end].Optional == p.Optional {
				end++
			}
			if r == nil { // constant bytes at the end
				w.open("if (x.closes(%d)) {", p.Min.Bits/8)
				w.part(p)
				w.shut("}")
				continue
			}
			w.lang.part(r, base, parts[i:end])
		}
		if p.Kind == wire.Choice && p.Field == wire.None {
			w.variants(p, r, base)
		} else {
			w.part(p)
		}
		if i+1 < len(parts) && unsure(p, &parts[i+1]) && w.set(p.Reg) != "" {
			known := w.present(&parts[i+1])
			m := w.mem[parts[i+1].Field].chosen
			var at slot
			if m != nil {
				at = w.lang.of(w.at[parts[i+1].Field], m)
				known = at.get
			}
			w.when(fmt.Sprintf("x.unsure(%v)", p.Expr.Unsure(true)), "%s%s;", w.set(p.Reg), known)
			if m != nil {
				w.keep(at.set, w.reg(p.Reg))
			}
		}
	}
}

// present returns the number that selects an alternative with a value if there is one, and one without otherwise.
func (w *wirer) present(p *wire.Part) string {
	free := uint64(0)
	for slices.ContainsFunc(p.Cases, func(c wire.Case) bool { return !c.Else && c.Value == free }) {
		free++
	}
	pick := func(some bool) uint64 {
		for k := range p.Cases {
			if c := &p.Cases[k]; some == (len(c.Body.Fields) > 0) && !c.Else {
				return c.Value
			}
		}
		return free
	}
	return w.lang.pick(word(w.wording.some, w.at[p.Field].set), pick(true), pick(false), 64)
}

func (w *wirer) part(p *wire.Part) {
	switch p.Kind {
	case wire.Block:
		w.block(p, "")
	case wire.Var:
		w.other(w.wording.nowhere, &p.Items[0])
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
		w.own(p.Field, w.find(func(x *wire.Part) bool { return x.Kind == wire.Group && x.Field == w.laid.Fields[p.Field].Again }))
	case wire.Tagged:
		w.tagged(p)
	case wire.Let:
		switch v := w.expr(*p.Expr); p.Expr.Kind() {
		case schema.TextExpr:
			w.sets(p.Reg, v)
		default:
			w.sets(p.Reg, word(w.wording.let, v))
		}
		if p.Reg == w.laid.Begin {
			w.line("x.from = x.at();")
		}
	case wire.Computed:
		w.made(p)
	case wire.Align:
		w.line("x.align(%d);", p.Unit)
	}
}

// made writes a value that is computed, and not sent.
func (w *wirer) made(p *wire.Part) {
	at, v := w.at[p.Field], "n"+w.id()
	t := w.laid.Fields[p.Field].Schema.Type
	switch n, ok := t.(*schema.Number); {
	case !ok:
		w.declare("wb_bytes", v, w.lang.made(t, w.expr(*p.Expr)))
		w.sets(p.Reg, w.lang.text(t, v))
		w.keep(at.set, v)
	case n.Kind == schema.Float:
		w.declare("double", v, w.expr(*p.Expr))
		w.sets(p.Reg, w.lang.floatBits(v))
		w.keep(at.set, v)
		w.limit(n, p.Field, "")
	default:
		w.declare("uint64_t", v, w.lang.cut(w.expr(*p.Expr), n.Bits))
		w.sets(p.Reg, v)
		w.keep(at.set, w.lang.cast(n, v, true))
		w.limit(n, p.Field, "")
	}
}

// keep sets a value that was read.
func (w *wirer) keep(to, value string) {
	w.when("!x.writing", "%s = %s;", to, value)
}

// find returns the first part of the message that fits.
func (w *wirer) find(fits func(*wire.Part) bool) *wire.Part {
	for p := range all(w.laid.Body.Parts) {
		if fits(p) {
			return p
		}
	}
	return nil
}

// args returns the arguments for the parameters of a function.
func (w *wirer) args(params []int) (out string) {
	for _, reg := range params {
		out += ", " + w.reg(reg)
	}
	return out
}

// limit checks the legal range of a number.
func (w *wirer) limit(n *schema.Number, f int, raw string) {
	v := w.at[f].get
	if raw != "" {
		if v = raw; n.Kind == schema.Signed {
			v = w.lang.extend(raw, n.Bits)
		}
	}
	if n.Kind == schema.Unsigned && n.Add != 0 {
		v = w.lang.less(v, n)
	}
	if cond := w.lang.inRange(n, v, n.Kind != schema.Float && n.Bits > 32); cond != "" && n.Kind != schema.Bool {
		w.line("x.check(%s, %s);", cond, w.label(f))
	}
}

// selecting returns the number that selects an alternative.
func (w *wirer) selecting(f, bits int) string {
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
	cond := "false"
	if w.mem[f] != nil && len(w.mem[f].kinds) > 0 {
		cond = word(w.wording.some, w.at[f].set)
	}
	return w.lang.pick(cond, with, without, bits)
}

// count returns the number of units of contents that are written.
func (w *wirer) units(f int, e schema.Extent) string {
	t, ok := w.laid.Fields[f].Schema.Type.(*schema.Text)
	at := w.at[f]
	n := word(w.wording.length, at.get)
	switch {
	case !ok && e.Null:
		return word(w.wording.absent, n, at.set)
	case !ok:
		return n
	}
	return word(w.wording.text, charsetName(t.Charset), at.get, at.set)
}

// charsetName returns the name of an encoding in runtimes.
func charsetName(set schema.Charset) string {
	switch byteWise(set) {
	case schema.UTF16LE:
		return "utf16LE"
	case schema.UTF16BE:
		return "utf16BE"
	case schema.Latin1:
		return "latin1"
	}
	return "utf8Text"
}

// amount returns the number of units of a part: -1 up to the end, -2 up to a byte.
func (w *wirer) amount(p *wire.Part) string {
	switch p.Extent.Size {
	case schema.Fixed:
		return strconv.Itoa(p.Extent.N)
	case schema.Counted:
		return word(w.wording.units, w.reg(p.Count))
	case schema.Computed:
		if w.laid.Regs[p.Count].Expr.Unsure(false) {
			return fmt.Sprintf("x.many(%s, %s)", w.reg(p.Count), w.label(p.Field))
		}
		return fmt.Sprintf("x.amount(%s, %s)", w.reg(p.Count), w.label(p.Field))
	case schema.ToEnd:
		return "-1"
	}
	return "-2"
}

// placed writes contents, which may be at an offset.
func (w *wirer) placed(p *wire.Part, contents func()) {
	if p.Offset == wire.None {
		contents()
		return
	}
	none, back := "false", "at"+w.id()
	switch p.Extent.Size {
	case schema.Counted:
		none = w.reg(p.Count) + " " + w.say.equal + " 0"
	case schema.Terminated:
		none = w.reg(p.Offset) + " " + w.say.equal + " 0"
	}
	at := w.laid.Regs[p.Offset].Place
	w.declare("int64_t", back, fmt.Sprintf("x.seek(%s, %d, %v, %s, %s)", w.reg(p.Offset), at.Bits, at.Order == schema.Big, none, w.label(p.Field)))
	w.open("if (%s >= 0) {", back)
	contents()
	w.line("x.back(%s);", back)
	w.shut("}")
}

// run writes text or bytes of variable size.
func (w *wirer) run(p *wire.Part) {
	at, label := w.at[p.Field], w.label(p.Field)
	w.limits(p, w.units(p.Field, p.Extent))
	w.placed(p, func() {
		if w.lang.stored(p, at) {
			return
		}
		t, ok := w.laid.Fields[p.Field].Schema.Type.(*schema.Text)
		if w.loose(p, t, at, label) {
			return
		}
		if ok {
			w.lang.pass("text", at, fmt.Sprintf("%s, %s, %d, %s", w.lang.word(charsetName(t.Charset), 0), w.amount(p), p.Extent.End, label))
		} else {
			w.absent(p, func() { w.lang.pass("blob", at, w.amount(p)+", "+label) })
		}
	})
	w.sets(p.Reg, w.lang.whole(w.laid.Fields[p.Field].Schema.Type, at))
}

// loose writes a text or bytes with another end than a zero unit, or that are padded.
func (w *wirer) loose(p *wire.Part, t *schema.Text, at slot, label string) bool {
	e, name, set := p.Extent, "Blob", ""
	if t != nil {
		name, set = "Text", w.lang.word(charsetName(t.Charset), 0)+", "
	}
	how := 0
	for i, on := range []bool{e.Lax, e.Keep, e.With, e.Trim} {
		if on {
			how |= 1 << i
		}
	}
	switch {
	case e.Size == schema.Terminated && (how > 0 || t == nil):
		w.lang.pass("open"+name, at, fmt.Sprintf("%s%d, %d, %d, %s", set, how, e.End, e.Pad, label))
	case e.Size != schema.Terminated && e.Trim:
		w.lang.pass("padded"+name, at, fmt.Sprintf("%s%s, %d, %s", set, w.amount(p), e.Pad, label))
	default:
		return false
	}
	return true
}

// limits checks the number of units that are written, if it is not sent but limited.
func (w *wirer) limits(p *wire.Part, units string) {
	if p.Count != wire.None || p.Extent.Min == nil && p.Extent.Max == nil {
		return
	}
	lo, hi := w.lang.bounds(p.Extent)
	w.when("x.writing", "x.counted(%s, %s, %s, %s);", word(w.wording.unsigned, units), lo, hi, w.label(p.Field))
}

// absent writes contents unless they have a count of -1.
func (w *wirer) absent(p *wire.Part, contents func()) {
	if !p.Extent.Null {
		contents()
		return
	}
	w.open("if (%s != -1) {", word(w.wording.signed, w.reg(p.Count)))
	contents()
	w.shut("}")
}

func (w *wirer) list(p *wire.Part) {
	id := w.id()
	if p.Linked() {
		list := w.lang.list(w.at[p.Field], w.mem[p.Field], id)
		c := w.chained(p)
		w.lang.loop("i"+id, "", w.link(p, list, c, "i"+id))
		w.linked(p, list, c, "i"+id)
		w.shut("}")
		return
	}
	w.limits(p, word(w.wording.length, w.at[p.Field].get))
	if p.Extent.Null {
		w.placed(p, func() { w.absent(p, func() { w.elements(p, w.lang.list(w.at[p.Field], w.mem[p.Field], id), id) }) })
		w.listed(p, "", "")
		return
	}
	list := w.lang.list(w.at[p.Field], w.mem[p.Field], id)
	w.placed(p, func() { w.elements(p, list, id) })
	w.listed(p, "", "")
}

// listed sets the registers of a list: all of it, or up to element i.
func (w *wirer) listed(p *wire.Part, list, i string) {
	inside := false // something in an element depends on the elements
	if i != "" {
		w.sets(p.Index, word(w.wording.unsigned, i))
		w.reads(p.Elem.Parts, func(reg int) { inside = inside || reg == p.Node })
	} else {
		list = w.at[p.Field].get
	}
	if p.Node != wire.None && w.read[p.Node] && (inside || i == "") {
		w.sets(p.Node, w.lang.node(list, i, w.mem[p.Field]))
	}
}

// tagged writes lists whose elements are in any order, each with its tag. They are written one after the other.
func (w *wirer) tagged(p *wire.Part) {
	t := "t" + w.id()
	var tags []string
	other := false
	for k := range p.Lists {
		if l := p.Lists[k].List; l.Other {
			other = true
		} else {
			tags = append(tags, strconv.FormatUint(uint64(l.Tag), 10))
		}
	}
	w.declare("wb_tagged", t, fmt.Sprintf("x.tags(%s, %v, %v)", w.lang.tags(tags), other, p.Ends))
	for k := range p.Lists {
		l, id := &p.Lists[k], w.id()
		i, list := "i"+id, w.lang.list(w.at[l.Field], w.mem[l.Field], id)
		w.lang.loop(i, "", w.lang.next("scattered", list, fmt.Sprintf("%s, %d, %s", word(w.wording.ref, t), k, i), w.mem[l.Field]))
		w.listed(l, list, i)
		if l.List.Other {
			w.declare("size_t", "from"+id, w.wording.end)
		}
		w.element(l, w.lang.elem(list, i, w.mem[l.Field]), "")
		if l.List.Other {
			w.line("x.unlisted(%s, from%s, %s);", word(w.wording.ref, t), id, w.label(l.Field))
		}
		w.shut("}")
		w.listed(l, "", "")
	}
	w.line("x.tagsEnd(%s);", word(w.wording.ref, t))
}

// chained begins a list whose elements have the offset of the next one, and returns its variable.
func (w *wirer) chained(p *wire.Part) string {
	c := "c" + w.id()
	at := func(at wire.Place) string { return word(w.wording.place, numbers(at)) }
	w.declare("wb_chain", c, fmt.Sprintf("x.chain(%s, %s, %s, %s, %s, %s)", w.reg(p.Offset), at(w.laid.Regs[p.Offset].Place), w.reg(p.Count), at(p.Here), at(p.Next), w.label(p.Field)))
	w.lang.chain(p)
	return c
}

// link returns the call that begins an element of a chain, linked writes the element.
func (w *wirer) link(p *wire.Part, list, c, i string) string {
	return w.lang.next("link", list, fmt.Sprintf("%s, %s", word(w.wording.ref, c), i), w.mem[p.Field])
}

func (w *wirer) linked(p *wire.Part, list, c, i string) {
	w.element(p, w.lang.elem(list, i, w.mem[p.Field]), "")
	w.line("x.linked(%s);", word(w.wording.ref, c))
}

// weave writes lists whose elements are written in turn.
func (w *wirer) weave(p *wire.Part) {
	var chains, lists []string
	for k := range p.Lists {
		l := &p.Lists[k]
		lists = append(lists, w.lang.list(w.at[l.Field], w.mem[l.Field], w.id()))
		chains = append(chains, w.chained(l))
	}
	id := w.id()
	i, more := "i"+id, "more"+id
	w.lang.loop(i, more, more)
	w.line("%s = false;", more)
	for k := range p.Lists {
		w.open("if (%s) {", w.link(&p.Lists[k], lists[k], chains[k], i))
		w.linked(&p.Lists[k], lists[k], chains[k], i)
		w.line("%s = true;", more)
		w.shut("}")
	}
	w.shut("}")
}

// element writes an element; block is the variable with its bytes, if they are one.
func (w *wirer) element(p *wire.Part, elem slot, block string) {
	m := w.mem[p.Field]
	body := func(r *record, base slot) {
		if block != "" {
			w.block(&p.Elem.Parts[0], block)
		} else {
			w.body(p.Elem.Parts, r, base)
		}
	}
	switch {
	case p.List.Bare:
		w.enterValue(p.Elem.Fields[0], elem)
		body(nil, slot{})
	case p.Extent.Size == schema.While || p.Extent.Size == schema.Ending:
		w.enter(p.Elem.Fields, elem)
		body(m.record, elem)
	default:
		params, args := w.outer(p.Elem), ""
		if block != "" {
			block, args = "b", ", "+block
		}
		name := w.function(m.record, "", p.Field, block, params, func() {
			w.enter(p.Elem.Fields, slot{set: "m", get: "m"})
			body(m.record, slot{set: "m", get: "m"})
		})
		w.line("%s;", w.lang.call(name, elem, args+w.args(params)))
	}
}

// elements writes elements one after the other.
func (w *wirer) elements(p *wire.Part, list, id string) {
	i, label, m, n := "i"+id, w.label(p.Field), w.mem[p.Field], w.amount(p)
	elem := w.lang.elem(list, i, m)
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
		if !w.lang.copied(list, n, p) {
			w.lang.blocks(i, "b"+id, list, n, size, p)
			w.element(p, elem, "b"+id)
			w.shut("}")
		}
		if p.Extent.Size == schema.ToEnd {
			w.line("x.end();")
		}
		return
	}
	more, of, index := w.fn.more, w.fn.moreOf, w.fn.index
	from, all := "from"+id, word(w.wording.length, list)
	switch p.Extent.Size {
	case schema.Fixed:
		w.lang.times(i, list, n, least, p)
	case schema.Until:
		w.lang.loop(i, "", w.lang.next("ended", list, fmt.Sprintf("%s, %d, %s", i, p.Extent.End, label), m))
		w.declare("size_t", from, w.wording.end)
	case schema.While, schema.Ending:
		w.fn.more, w.fn.moreOf, w.fn.index = "more"+id, all, i
		w.when(fmt.Sprintf("x.writing && %s %s 0", all, w.say.equal), "x.illegal(%s, %s);", label, w.lang.title("the list is empty, but has at least one element"))
		w.lang.loop(i, w.fn.more, w.fn.more+" && "+w.lang.next("next", list, i+", -2, "+label, m))
	default:
		if (least > 0 || w.wording.owned) && p.Extent.Size != schema.ToEnd {
			w.lang.times(i, list, n, least, p)
			break
		}
		if p.Extent.Size == schema.Computed {
			w.declare("int64_t", "n"+id, n)
			n = "n" + id
		}
		w.lang.loop(i, "", w.lang.next("next", list, i+", "+n+", "+label, m))
		if p.Extent.Size == schema.ToEnd {
			w.declare("size_t", from, "x.pos")
		}
	}
	w.listed(p, list, i)
	w.element(p, elem, "")
	whole := func(ended string) {
		w.line("more%s = x.whole(%s, %s, %s, %s);", id, i, all, ended, label)
	}
	switch p.Extent.Size {
	case schema.Fixed, schema.Counted, schema.Computed:
		w.print(w.wording.failed, vars{})
	case schema.Until:
		w.line("x.begin(%s, %d, %s);", from, p.Extent.End, label)
	case schema.ToEnd:
		w.when(fmt.Sprintf("!x.moved(%s)", from), "break;")
	case schema.While:
		whole("more" + id)
	case schema.Ending:
		whole(fmt.Sprintf("%s %s %s", w.reg(p.Ended), w.say.equal, w.lang.constant(p.Ended, 0)))
	}
	w.shut("}")
	w.fn.more, w.fn.moreOf, w.fn.index = more, of, index
}

// areBytes reports whether the elements of a list are bytes, of which any are legal.
func (w *wirer) areBytes(p *wire.Part) bool {
	if !p.List.Bare || len(p.Elem.Parts[0].Items) != 1 {
		return false
	}
	it := &p.Elem.Parts[0].Items[0]
	t, ok := it.Type.(*schema.Number)
	return ok && w.mem[p.Field].elem.typ == t && goNumber(t) == "uint8" && t.Bits == 8 && t.Min == nil && t.Max == nil && (it.Reg == wire.None || !w.read[it.Reg])
}

// variants writes the alternatives at the end of a record, which depend on a number or on the size of the message.
func (w *wirer) variants(p *wire.Part, r *record, base slot) {
	on := ""
	if r.choice {
		on = w.lang.dot(base.set, w.choices[r])
		size, _ := w.lang.alternative(r)
		w.keep(on, size)
		w.lang.alternatives(r, func() {
			for k := range p.Cases {
				c := &p.Cases[k]
				w.when(w.lengthIs(c, "size"), "return %d;", k+1)
			}
		})
	}
	if len(p.Cases) == 0 {
		return
	}
	if on == "" {
		on = w.reg(p.Cases[0].Reg)
	}
	w.cases(p, on, func(c *wire.Case, k int) string {
		if r.choice {
			return strconv.Itoa(k + 1)
		}
		return w.lang.constant(c.Reg, c.Value)
	}, func(c *wire.Case, _ int) {
		w.enter(c.Body.Fields, base)
		w.body(c.Body.Parts, nil, slot{})
	})
}

// cases writes a switch, with the first case of each value.
func (w *wirer) cases(p *wire.Part, on string, value func(c *wire.Case, k int) string, body func(c *wire.Case, k int)) {
	seen := map[string]bool{}
	var list []branch
	for k := range p.Cases {
		c, v := &p.Cases[k], ""
		if !c.Else {
			v = value(c, k)
		}
		if !seen[v] {
			list = append(list, branch{cond: v, body: func() { body(c, k) }})
		}
		seen[v] = true
	}
	if reg := p.Cases[0].Reg; reg != wire.None && w.isText(reg) && w.wording.same != "" {
		for i := range list {
			list[i].cond = word(w.wording.same, on, list[i].cond)
		}
		w.branches(list, p.Cases[len(p.Cases)-1].Else)
		return
	}
	w.open("switch (%s) {", on)
	for _, b := range list {
		label := "default"
		if b.cond != "" {
			label = "case " + b.cond
		}
		w.open(w.wording.branch, label)
		b.body()
		w.depth--
		w.print(w.wording.merge, vars{})
	}
	w.shut("}")
}

// isText reports whether a register has a text or bytes.
func (w *wirer) isText(reg int) bool {
	r := &w.laid.Regs[reg]
	return isText(r.Type) || r.Expr != nil && r.Expr.Kind() == schema.TextExpr
}

// choice writes alternatives.
func (w *wirer) choice(p *wire.Part) {
	f := p.Field
	t, m := w.laid.Fields[f].Schema.Type.(*schema.Choice), w.mem[f]
	if len(p.Cases) == 0 {
		return
	}
	w.cases(p, w.reg(p.Cases[0].Reg), func(c *wire.Case, _ int) string {
		if c.Text != nil {
			return w.lang.compared(c.Reg, *c.Text)
		}
		return w.lang.constant(c.Reg, c.Value)
	}, func(c *wire.Case, k int) {
		at := w.at[f]
		if len(m.kinds) > 1 && m.kind[k] != nil {
			w.lang.fill(m, at)
			at = w.lang.of(w.lang.inner(at, false), m.kind[k])
		}
		switch {
		case c.Body.Struct == nil:
		case t.Anon:
			w.enter(c.Body.Fields, at)
			w.body(c.Body.Parts, nil, slot{})
		default:
			w.chosen(c, m.kind[k], at, f)
		}
	})
}

// chosen writes the value of an alternative.
func (w *wirer) chosen(c *wire.Case, kind *member, at slot, f int) {
	if len(c.Body.Parts) == 0 {
		w.lang.create(at)
		return
	}
	if g, ok := kind.typ.(*schema.Group); ok && !g.Own && !kind.null && !w.escapes(&c.Body) { // a function, as the type may be used in many places
		params := w.outer(&c.Body)
		name := w.function(kind.record, "", f, "", params, func() {
			if m := (slot{set: "m", get: "m"}); c.Bare {
				w.enterValue(c.Body.Fields[0], m)
			} else {
				w.enter(c.Body.Fields, m)
			}
			w.body(c.Body.Parts, nil, slot{})
		})
		made := w.lang.make(at)
		w.line("%s;", w.lang.call(name, slot{set: made, get: made}, w.args(params)))
		return
	}
	if v := w.lang.kind(at, kind, c.Bare); c.Bare {
		w.enterValue(c.Body.Fields[0], v)
	} else {
		w.enter(c.Body.Fields, v)
	}
	w.body(c.Body.Parts, nil, slot{})
}

// escapes reports whether parts outside of a body depend on registers that it sets.
func (w *wirer) escapes(body *wire.Body) bool {
	uses := map[int]int{}
	w.reads(w.laid.Body.Parts, func(reg int) { uses[reg]++ })
	w.reads(body.Parts, func(reg int) { uses[reg]-- })
	for p := range all(body.Parts) {
		for _, reg := range setBy(p) {
			if uses[reg] > 0 {
				return true
			}
		}
	}
	return false
}

// own passes a group that contains itself.
func (w *wirer) own(f int, p *wire.Part) {
	at := w.at[f]
	if w.mem[f].ptr || at.zero != "" {
		made := w.lang.make(at)
		at = slot{set: made, get: made}
	}
	params := w.outer(p.Body)
	w.line("%s;", w.lang.call(w.ownFunction(p, params), at, w.args(params)))
}

// group writes a group with a body of its own.
func (w *wirer) group(p *wire.Part) {
	f := p.Field
	t, m, at := w.laid.Fields[f].Schema.Type.(*schema.Group), w.mem[f], w.at[f]
	contents := func() {
		switch {
		case t.Own:
			w.own(f, p)
		case bare(t):
			w.body(p.Body.Parts, nil, slot{})
		default:
			w.body(p.Body.Parts, m.record, w.lang.inner(at, false))
		}
	}
	if p.Begin != wire.None || p.Stop != wire.None {
		inner := contents
		contents = func() {
			w.sets(p.Begin, word(w.wording.unsigned, "x.at()"))
			w.sets(p.Stop, word(w.wording.unsigned, "x.to()"))
			inner()
			if set := w.set(p.Stop); set != "" {
				w.line("%sx.stopped(%s);", set, w.reg(p.Stop))
			}
		}
	}
	if t.Packed != schema.Unpacked {
		contents = w.packed(p, t, contents)
	}
	if p.Bytes != wire.None {
		contents = w.sized(p, t, contents)
	}
	if p.At == wire.None {
		contents()
		return
	}
	if p.In == wire.None {
		w.nested("place", "x.place(", fmt.Sprintf("%s, %v, %d, %s", w.reg(p.At), p.Inner, w.laid.Header, w.label(f)), contents)
	} else {
		w.nested("placeIn", "x.placeIn(", fmt.Sprintf("%s, %s, %s, %d, %s", w.reg(p.At), w.reg(p.In), w.reg(p.InEnd), w.laid.Header, w.label(f)), contents)
	}
}

// within writes contents with an end of their own.
func (w *wirer) within(name, call, args string, packed, same bool, contents func()) {
	w.nested(name, call, args, func() {
		around := ""
		if w.moves {
			around = "around" + w.id()
			w.declare("wb_around", around, fmt.Sprintf("x.inner(%v, %v)", packed, same))
		}
		contents()
		if w.moves {
			w.line("x.outer(%s);", around)
		}
	})
}

// packed returns what writes contents that are compressed, or have a key.
func (w *wirer) packed(p *wire.Part, t *schema.Group, contents func()) func() {
	return func() {
		if !t.Packed.Keyed() {
			method := w.lang.word([...]string{"", "packedZlib", "packedDeflate", "packedGzip"}[t.Packed], 0)
			w.within("pack", "pack(x, ", method, true, false, contents)
			return
		}
		number, key := w.expr(wire.Expr{{Op: schema.Literal}}), w.lang.bytes(nil)
		isNumber := p.Expr.Kind() != schema.TextExpr
		if isNumber {
			number = w.expr(*p.Expr)
		} else {
			key = w.expr(*p.Expr)
		}
		w.within("keyed", "keyed(x, ", fmt.Sprintf("%v, %s, %s, %v", t.Packed == schema.Rotate, number, key, isNumber), true, true, contents)
	}
}

// sized returns what writes contents of a size.
func (w *wirer) sized(p *wire.Part, t *schema.Group, contents func()) func() {
	f, at := p.Field, w.at[p.Field]
	if t.Size != nil {
		return func() {
			w.nested("window", "x.window(", word(w.wording.signed, w.reg(p.Bytes))+", "+w.label(f), contents)
		}
	}
	some, null := "true", -2
	if t.Null {
		some, null = word(w.wording.some, at.set), 0
		if t.Packed != schema.Unpacked {
			null = -1
		}
	}
	sets := func(it wire.Item) bool { return it.Reg == p.Bytes }
	holder := w.find(func(x *wire.Part) bool { return slices.ContainsFunc(x.Items, sets) })
	form := w.form(&holder.Items[slices.IndexFunc(holder.Items, sets)])
	return func() {
		w.within("within", "x.within(", fmt.Sprintf("%s, %s, %s, %d, %s", w.reg(p.Bytes), form, some, null, w.label(f)), false, false, func() {
			if t.Null && !(t.Own && w.mem[f].ptr) {
				w.lang.create(at)
			}
			contents()
		})
	}
}

// ownFunction returns the function of a group that contains itself.
func (w *wirer) ownFunction(p *wire.Part, params []int) string {
	r := w.mem[p.Field].record
	key := fmt.Sprintf("%p %d", r, len(params))
	if old := w.shared[key]; old != "" {
		return old
	}
	name := w.lang.newFunction(r)
	w.shared[key] = name
	w.function(r, name, p.Field, "", params, func() {
		w.guard(fmt.Sprintf("x.enter(%s)", w.label(p.Field)))
		w.enter(w.laid.Inside(p.Field), slot{set: "m", get: "m"})
		w.body(p.Body.Parts, r, slot{set: "m", get: "m"})
		w.line("x.leave();")
	})
	return name
}

// expr returns an expression: an integer of 64 bits, a float, or a text.
func (w *wirer) expr(x wire.Expr) string {
	var stack []string
	var kinds []schema.ExprKind
	for i := range x {
		s := &x[i]
		n := len(stack) - s.Op.Operands()
		args := stack[n:]
		for k := range args { // an integer is a float, too
			if kinds[n+k] == schema.IntExpr && s.Of == schema.FloatExpr && (s.Op != schema.If || k > 0) {
				args[k] = word(w.wording.real, args[k])
			}
		}
		stack, kinds = append(stack[:n:n], w.step(s, args)), append(kinds[:n:n], s.Kind)
	}
	return stack[0]
}

// step returns a step of an expression. Those of integers are up to the language.
func (w *wirer) step(s *wire.Step, args []string) string {
	name := "Text"
	if s.Bytes {
		name = "Bytes"
	}
	call := func(name string) string { return w.lang.word(name, 0) + "(" + strings.Join(args, ", ") + ")" }
	switch s.Op {
	case schema.FloatLiteral:
		return w.lang.float(s.Float)
	case schema.TextLiteral:
		return w.lang.bytes(s.Text)
	case schema.Cursor:
		return word(w.wording.exact, "x.at()")
	case schema.From:
		return word(w.wording.exact, "x.from")
	case schema.To:
		return word(w.wording.exact, "x.to()")
	case schema.Seek:
		return call("x.seekByte")
	case schema.Trimmed:
		return call("x.trimmed")
	case schema.Element:
		return w.look("element", s, args[0]+", ")
	case schema.Least:
		return w.look("least", s, "")
	case schema.Greatest:
		return w.look("greatest", s, "")
	case schema.ToInt:
		return map[schema.ExprKind]string{schema.IntExpr: args[0], schema.FloatExpr: w.lang.word("floatInt", 0) + "(" + args[0] + ")", schema.TextExpr: call("textInt")}[s.Of]
	case schema.ToText:
		return call("intText")
	case schema.ByteOf:
		return call("byteText")
	case schema.Characters:
		return fmt.Sprintf("characters(%s, %s)", args[0], charsetName(s.Set))
	case schema.LengthOf:
		if s.Bytes {
			return word(w.wording.exact, word(w.wording.length, args[0]))
		}
		return call("textLength")
	case schema.Slice:
		return call("slice" + name)
	case schema.Reverse:
		return call("reverse" + name)
	case schema.ByteAt:
		return call("byteAt")
	case schema.Ref:
		if s.Listed {
			return word(w.wording.exact, word(w.wording.length, w.reg(s.Reg)))
		}
	case schema.If:
		if s.Kind != schema.IntExpr {
			return fmt.Sprintf(w.wording.either, args[0], args[1], args[2])
		}
	}
	if s.Of == schema.IntExpr || s.Op == schema.Ref {
		return w.lang.step(s, args)
	}
	if s.Of == schema.TextExpr && w.wording.order != "" {
		args = []string{word(w.wording.order, args[0], args[1]), "0"}
	}
	switch s.Op {
	case schema.Neg:
		return "(-" + args[0] + ")"
	case schema.Mod:
		return call("floatModulo")
	case schema.Equal:
		return word(w.wording.isBit, args[0]+w.wording.equal+args[1])
	case schema.NotEqual:
		return word(w.wording.isBit, args[0]+w.wording.differ+args[1])
	case schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual:
		return word(w.wording.isBit, args[0]+" "+s.Op.Name()+" "+args[1])
	}
	out := fmt.Sprintf("(%s %s %s)", args[0], s.Op.Name(), args[1])
	if s.Of == schema.TextExpr {
		out = "made" + out
	}
	return out
}

// look returns a value in the elements of a list that is in a register.
func (w *wirer) look(name string, s *wire.Step, args string) string {
	var path []int
	for f := s.Inner; f != s.Field; f = w.laid.Fields[f].Parent {
		path = append(path, f)
	}
	at, guard := slot{set: w.wording.element, get: w.wording.element}, ""
	exists := func(some bool) {
		if some {
			guard += " && " + word(w.wording.some, at.set)
		}
	}
	for _, f := range slices.Backward(path) {
		up := w.laid.Fields[f].Parent
		m, single := w.mem[up], false
		switch t := w.laid.Fields[up].Schema.Type.(type) {
		case *schema.List:
			if single = t.Bare; single {
				at = w.lang.inner(at, true)
			}
		case *schema.Group:
			exists(t.Null || m.ptr)
			at, single = w.lang.inner(at, t.Null), bare(t)
		case *schema.Choice:
			if t.Anon {
				break
			}
			c, k := w.caseOf(up, f)
			if len(m.kinds) > 1 {
				at = w.lang.of(w.lang.inner(at, false), m.kind[k])
			}
			exists(true)
			if single = c.Bare; single {
				at = w.lang.inner(at, true)
			}
		}
		if c, ok := w.laid.Fields[f].Schema.Type.(*schema.Choice); !single && !(ok && c.Anon) {
			at = w.lang.of(at, w.mem[f])
		}
	}
	return w.lang.look(name, s, w.reg(s.Reg)+", "+args, strings.TrimPrefix(guard, " && "), w.lang.held(w.laid.Fields[s.Inner].Schema.Type, s, at))
}

// caseOf returns the alternative of a choice that has a field, and its number.
func (w *wirer) caseOf(choice, f int) (*wire.Case, int) {
	p := w.find(func(p *wire.Part) bool { return p.Kind == wire.Choice && p.Field == choice })
	k := slices.IndexFunc(p.Cases, func(c wire.Case) bool { return slices.Contains(c.Body.Fields, f) })
	return &p.Cases[k], k
}
