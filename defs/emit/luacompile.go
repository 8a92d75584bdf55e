package emit

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// luaField is one use of a field in a message. Types such as vectors are shared: one schema.Field may have several uses.
type luaField struct {
	f     *schema.Field
	name  string // displayed
	path  string // in filters: without indexes of elements, as in the program's own filters
	up    *luaField
	scope *luaScope // of its nested fields
	group string    // filter name of the field as a group, once its statement has been written
	index int       // see wire.Message.Fields
}

// isShown reports whether a field has a node of its own around those inside it, other than a list.
func (lf *luaField) isShown() bool {
	if lf.f == nil {
		return false
	}
	switch t := lf.f.Type.(type) {
	case *schema.Group:
		return !t.Bare
	case *schema.Choice:
		return !t.Anon
	}
	return false
}

// luaScope assigns the parts of filter names, by names of fields. Fields of one name share a part.
type luaScope struct {
	parts map[string]string
	taken map[string]bool
}

func newLuaScope() *luaScope { return &luaScope{map[string]string{}, map[string]bool{}} }

func (s *luaScope) of(name string) string {
	if part := s.parts[name]; part != "" {
		return part
	}
	want := luaLegal(name)
	part := want
	for i := 2; s.taken[part]; i++ {
		part = want + "_" + strconv.Itoa(i)
	}
	s.parts[name], s.taken[part] = part, true
	return part
}

// luaLegal replaces characters that are invalid in filter names.
func luaLegal(name string) string {
	part := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, name)
	if part == "" {
		return "_"
	}
	return part[:min(len(part), maxName)]
}

// luaClasses are the classes of the fields with a filter name: those of one class may share it.
type luaClasses map[string]string

// take returns the filter name of a field: its path, with a number appended if another class has it.
func (l luaClasses) take(path, kind string) string {
	class := kind
	switch kind {
	case "uint8", "uint16", "uint24":
		class = "uint32"
	case "int8", "int16", "int24":
		class = "int32"
	case "float":
		class = "double"
	}
	name := path
	for i := 2; l[name] != "" && l[name] != class; i++ {
		name = path + "_" + strconv.Itoa(i)
	}
	l[name] = class
	return name
}

// luaOp is a part of a message.
type luaOp struct {
	kind     string
	attrs    string   // of the table, with commas before
	items    []string // block
	bits     int
	zero     int // items without bits
	loads    bool
	optional bool
	ops      []*luaOp   // list and group
	cases    [][]*luaOp // choice
	conds    []string
	lists    []*luaOp // tagged
	texts    bool     // choice: it compares texts
	own      int      // of a group that contains itself: the number of its body
}

func countOps(ops []*luaOp) int {
	n := len(ops)
	for _, o := range ops {
		n += countOps(o.ops)
		for _, c := range o.cases {
			n += countOps(c) + 1
		}
		n += countOps(o.lists)
	}
	return n
}

// luaRegisters is how many values of the tables around a body may wait, of at most 50 in each, before the body becomes a statement of its own:
// Lua has 250 for all tables in progress of a function.
const luaRegisters = 130

func luaWaiting(n int) int { return min(n, 50) + 4 }

// body writes an attribute with ops and the end of its table.
func (c *luaCompiler) body(w *code, before string, ops []*luaOp, after string, used, own int) {
	if own > 0 || len(ops) > 0 && used+luaWaiting(len(ops)) > luaRegisters {
		if own == 0 {
			own = c.newBody()
		}
		var apart code
		c.ops2(&apart, fmt.Sprintf("BODIES[%d] = {", own), ops, "}", 0)
		c.groups = append(c.groups, strings.TrimSuffix(apart.b.String(), "\n"))
		w.line("%sops = BODIES[%d]%s", before, own, strings.TrimPrefix(after, "}"))
		return
	}
	c.ops2(w, before+"ops = {", ops, after, used)
}

func (c *luaCompiler) newBody() int {
	*c.bodies++
	return *c.bodies
}

func (c *luaCompiler) ops2(w *code, before string, ops []*luaOp, after string, used int) {
	if len(ops) == 0 {
		w.line("%s%s", before, after)
		return
	}
	w.open("%s", before)
	used += luaWaiting(len(ops))
	for _, o := range ops {
		attrs := o.attrs
		if o.optional {
			attrs += ", optional = true"
		}
		switch o.kind {
		case "block":
			w.open(`{"block", bits = %d, cost = %d%s, items = {`, o.bits, o.bits/8+o.zero, attrs)
			for _, it := range o.items {
				w.line("%s,", it)
			}
			w.shut("}},")
		case "var":
			w.line(`{"var", %s%s},`, o.items[0], attrs)
		case "list", "group":
			c.body(w, fmt.Sprintf(`{"%s"%s, `, o.kind, attrs), o.ops, "}},", used, o.own)
		case "choice":
			w.open(`{"choice"%s, cases = {`, attrs)
			for i, body := range o.cases {
				c.body(w, "{"+o.conds[i], body, "}},", used+luaWaiting(len(o.cases)), 0)
			}
			w.shut("}},")
		case "tagged":
			c.ops2(w, fmt.Sprintf(`{"tagged"%s, lists = {`, attrs), o.lists, "}},", used)
		default:
			w.line(`{"%s"%s},`, o.kind, attrs)
		}
	}
	w.shut("%s", after)
}

// luaCompiler compiles the ops of one message.
type luaCompiler struct {
	m        *wire.Message
	out      *luaMessage
	fields   []*luaField             // by field
	least    map[int]int64           // by field: minimum size of an element of a list in bytes
	groups   []string                // statements
	names    luaClasses              // filter names of the file
	tables   map[*schema.Enum]string // tables of value names in the file, for enumerations with many values
	prefixes map[string]int          // beginnings of filter names: numbers of P
	bodies   *int                    // number of BODIES in the file
	called   map[int]int             // by field: the number of the body of a group that contains itself
	recurs   map[int]bool            // fields of groups that contain themselves
	sets     map[int][]int           // by these: the registers that their bodies set
	held     map[int]bool            // fields whose values in elements expressions look up
	chosen   map[int]bool            // registers that alternatives and expressions depend on
	nested   bool                    // has parts that can make more nodes than bytes
	start    int                     // bytes before the part
	losses
}

// ops compiles the ops of parts. list is the list whose element they belong to.
func (c *luaCompiler) ops(parts []wire.Part, list *luaField, first bool) []*luaOp {
	var out []*luaOp
	optional := 0
	for i := range parts {
		p := &parts[i]
		at := len(out)
		switch p.Kind {
		case wire.Block:
			o := &luaOp{kind: "block", bits: int(p.Min.Bits)}
			for k := range p.Items {
				c.item(o, &p.Items[k], list, first && i == 0)
			}
			if first && i == 0 {
				c.start = o.bits / 8
			}
			out = append(out, o)
		case wire.Weave:
			for k := range p.Lists {
				out = append(out, c.content(&p.Lists[k]))
			}
		case wire.Choice:
			out = append(out, c.choice(p, list))
		case wire.Var:
			out = append(out, c.varint(&p.Items[0], list))
		case wire.Group, wire.Call:
			out = append(out, c.group(p))
		case wire.Let:
			out = append(out, &luaOp{kind: "let", attrs: fmt.Sprintf(", reg = %d, x = %s", p.Reg+1, c.expr(*p.Expr))})
		case wire.Computed:
			out = append(out, c.computed(p, list))
		case wire.Align:
			out = append(out, &luaOp{kind: "align", attrs: fmt.Sprintf(", unit = %d", p.Unit)})
		case wire.Tagged:
			out = append(out, c.tagged(p))
		default:
			out = append(out, c.content(p))
		}
		if p.Optional > optional {
			optional, out[at].optional = p.Optional, true
		}
	}
	return out
}

// varint compiles a number of variable size.
func (c *luaCompiler) varint(it *wire.Item, list *luaField) *luaOp {
	o := &luaOp{kind: "var", loads: true}
	c.item(o, it, list, false)
	form := [...]string{schema.LEB128: "leb", schema.SLEB128: "sleb", schema.ZigZag: "zigzag", schema.VLQ: "vlq", schema.Long: "long", schema.Wide: "wide", schema.WideSigned: "wide signed"}[it.Var]
	o.items[0] = luaString(form) + ", " + o.items[0]
	return o
}

// computed compiles a number, a text or bytes that are computed.
func (c *luaCompiler) computed(p *wire.Part, list *luaField) *luaOp {
	lf := c.fields[p.Field]
	x := ", x = " + c.expr(*p.Expr)
	if len(p.Items) > 0 {
		var o luaOp
		c.item(&o, &p.Items[0], list, false)
		return &luaOp{kind: "shown", attrs: x + ", item = " + o.items[0]}
	}
	if p.Reg != wire.None {
		x += fmt.Sprintf(", reg = %d", p.Reg+1)
	}
	if c.held[p.Field] {
		x += fmt.Sprintf(", hold = %d", p.Field+1)
	}
	if _, ok := lf.f.Type.(*schema.Text); ok {
		return &luaOp{kind: "made", attrs: x + `, set = "utf8", f = ` + c.field(lf, "string", "")}
	}
	return &luaOp{kind: "made", attrs: x + ", f = " + c.field(lf, "bytes", "")}
}

// groupField returns the node of a group or of a choice; one without a filter name if it is shown as the value of its only field.
func (c *luaCompiler) groupField(lf *luaField, bare bool) string {
	if bare {
		return fmt.Sprintf("bare(%s%s)", luaString(lf.name), c.upOf(lf))
	}
	inner := &luaField{up: lf}
	return fmt.Sprintf("field(%s, %s, \"none\")", strings.TrimPrefix(c.upOf(inner), ", "), luaString(lf.name))
}

// group compiles a group with a body of its own, or another use of one around.
func (c *luaCompiler) group(p *wire.Part) *luaOp {
	lf := c.fields[p.Field]
	t := lf.f.Type.(*schema.Group)
	attrs := ""
	reg := func(name string, r int) {
		if r != wire.None {
			attrs += fmt.Sprintf(", %s = %d", name, r+1)
		}
	}
	if t.Bare {
		attrs += ", bare = true"
	}
	if p.Kind == wire.Call {
		again := c.m.Fields[p.Field].Again
		var saves []string
		for _, r := range c.sets[again] {
			saves = append(saves, strconv.Itoa(r+1))
		}
		attrs += fmt.Sprintf(", call = %d, saves = {%s}, f = %s", c.called[again], strings.Join(saves, ", "), c.groupField(lf, t.Bare))
		return &luaOp{kind: "call", attrs: attrs}
	}
	reg("size", p.Bytes)
	reg("at", p.At)
	reg("first", p.In)
	reg("last", p.InEnd)
	reg("begin", p.Begin)
	reg("stop", p.Stop)
	if t.Look && t.At != nil {
		attrs += ", look = true"
	}
	if p.Inner {
		attrs += ", inner = true"
	}
	if t.Size != nil {
		attrs += ", window = true"
	}
	switch {
	case t.Null && t.Sized && t.Packed != schema.Unpacked:
		attrs += ", null = -1"
	case t.Null && t.Sized:
		attrs += ", null = 0"
	}
	switch t.Packed {
	case schema.Unpacked:
	case schema.Zlib, schema.Deflate, schema.Gzip, schema.Xor, schema.Rotate:
		attrs += fmt.Sprintf(", pack = %q", t.Packed.String())
		if p.Expr != nil {
			attrs += ", key = " + c.expr(*p.Expr)
		}
		if clears := c.cleared(p.Body.Parts); clears != "" {
			attrs += ", clears = {" + clears + "}"
		}
	default:
		fail("%q is compressed with %s", lf.f.Name, t.Packed)
	}
	o := &luaOp{kind: "group"}
	if c.recurs[p.Field] {
		o.own = c.newBody()
		c.called[p.Field] = o.own
		c.sets[p.Field] = nil
		for r := range luaSets(p.Body.Parts) {
			c.sets[p.Field] = append(c.sets[p.Field], r)
		}
		slices.Sort(c.sets[p.Field])
	}
	attrs += ", f = " + c.groupField(lf, t.Bare)
	o.attrs = attrs
	o.ops = c.ops(p.Body.Parts, nil, false)
	return o
}

// tagged compiles lists whose elements are in any order.
func (c *luaCompiler) tagged(p *wire.Part) *luaOp {
	o := &luaOp{kind: "tagged"}
	var tags []string
	for i := range p.Lists {
		l := p.Lists[i].List
		if l.Other {
			o.attrs += fmt.Sprintf(", other = %d", i+1)
		} else {
			tags = append(tags, fmt.Sprintf("[%d] = %d", l.Tag, i+1))
		}
		o.lists = append(o.lists, c.content(&p.Lists[i]))
	}
	if p.Ends {
		o.attrs += ", ends = true"
	}
	o.attrs += ", tags = {" + strings.Join(tags, ", ") + "}"
	return o
}

// isTag reports whether an item is the tag of an element with any other tag.
func (c *luaCompiler) isTag(it *wire.Item) bool {
	i := c.m.Fields[it.Field].Parent
	for i != wire.None {
		if l, ok := c.m.Fields[i].Schema.Type.(*schema.List); ok {
			return l.Other && len(l.Elem.Fields) > 0 && l.Elem.Fields[0] == c.m.Fields[it.Field].Schema
		}
		i = c.m.Fields[i].Parent
	}
	return false
}

// depends finds the registers and the elements that alternatives and expressions depend on, and the groups that contain themselves.
func (c *luaCompiler) depends() {
	c.held, c.chosen, c.recurs, c.sets = map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int][]int{}
	for p := range all(c.m.Body.Parts) {
		if p.Kind == wire.Call {
			c.recurs[c.m.Fields[p.Field].Again] = true
		}
		for i := range p.Cases {
			c.chosen[p.Cases[i].Reg] = true
		}
		if p.Expr == nil {
			continue
		}
		for _, s := range *p.Expr {
			c.chosen[s.Reg] = true
			switch s.Op {
			case schema.Element, schema.Least, schema.Greatest:
				c.held[s.Inner] = true
			}
		}
	}
}

// luaSets returns the registers that parts set.
func luaSets(parts []wire.Part) map[int]bool {
	out := map[int]bool{}
	for p := range all(parts) {
		for _, r := range []int{p.Reg, p.Begin, p.Stop, p.Node, p.Index} {
			out[r] = true
		}
		for i := range p.Items {
			out[p.Items[i].Reg] = true
		}
	}
	delete(out, wire.None)
	return out
}

// cleared returns the registers that parts set, and that others depend on.
func (c *luaCompiler) cleared(parts []wire.Part) string {
	var regs []int
	for r := range luaSets(parts) {
		if c.chosen[r] {
			regs = append(regs, r+1)
		}
	}
	slices.Sort(regs)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(regs), " ", ", "), "[]")
}

// luaInt returns an integer as the runtime has it: exact as a number, or an Int64.
func luaInt(v int64) string {
	if v >= -1<<52 && v <= 1<<52 {
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprintf("i64(%d, %d)", uint32(v), uint32(v>>32))
}

// luaUnits returns the attributes of a number of units that is not a plain unsigned one.
func luaUnits(it *wire.Item) (attrs string) {
	t, ok := it.Type.(*schema.Number)
	if !ok {
		return ""
	}
	attrs = ", own = true"
	if t.Kind == schema.Signed {
		attrs += fmt.Sprintf(", signed = %d", t.Bits)
	}
	if t.Add != 0 {
		attrs += ", add = " + luaInt(t.Add)
	}
	return attrs
}

// expr returns an expression.
func (c *luaCompiler) expr(x wire.Expr) string {
	var out []string
	for i := range x {
		out = append(out, c.step(&x[i]))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func (c *luaCompiler) step(s *wire.Step) string {
	switch s.Op {
	case schema.Literal:
		return luaInt(s.Int)
	case schema.FloatLiteral:
		if math.IsNaN(s.Float) {
			return "0 / 0"
		}
		return luaFloat(s.Float)
	case schema.TextLiteral:
		return luaBytes(s.Text)
	case schema.Begin, schema.End, schema.Index:
		return fmt.Sprintf(`{"ref", %d}`, s.Reg+1)
	case schema.Ref:
		if s.Listed {
			return fmt.Sprintf(`{"count", %d}`, s.Reg+1)
		}
		return fmt.Sprintf(`{"ref", %d%s}`, s.Reg+1, luaTyped(s))
	case schema.Element, schema.Least, schema.Greatest:
		return fmt.Sprintf(`{%q, %d, inner = %d%s}`, s.Op.Name(), s.Reg+1, s.Inner+1, luaTyped(s))
	case schema.Not:
		return `{"not"}`
	case schema.If:
		return `{"if"}`
	}
	name := s.Op.Name()
	if s.Op == schema.Neg {
		name = "neg"
	}
	switch {
	case s.Of == schema.FloatExpr:
		name = "f " + name
	case s.Of == schema.TextExpr && s.Bytes:
		name = "b " + name
	case s.Of == schema.TextExpr:
		name = "t " + name
	}
	if s.Op == schema.Characters {
		return fmt.Sprintf("{%q, text = %q}", name, luaKnown(s.Set))
	}
	return fmt.Sprintf("{%q}", name)
}

// luaKnown returns the name of an encoding of a text that expressions depend on.
func luaKnown(set schema.Charset) string {
	if set.Table() {
		fail("an expression depends on text in %s", set)
	}
	return luaCharset(set)
}

// luaTyped returns the attributes of a step that is the value of a field.
func luaTyped(s *wire.Step) string {
	out := ""
	if s.Add != 0 {
		out = ", add = " + luaInt(s.Add)
	}
	switch {
	case s.Kind == schema.TextExpr && s.Bytes:
		return `, text = "utf8"`
	case s.Kind == schema.TextExpr:
		return fmt.Sprintf(", text = %q", luaKnown(s.Set))
	case s.Num != nil:
		kind := [...]string{schema.Unsigned: "unsigned", schema.Signed: "signed", schema.Float: "float", schema.Bool: "bool"}[s.Num.Kind]
		out += fmt.Sprintf(", float = %q, bits = %d", kind, s.Num.Bits)
		if s.Num.Scale != 0 {
			out += ", scale = " + luaFloat(s.Num.Scale)
		}
	case s.Part != nil:
		out += fmt.Sprintf(", part = {%d, %d", s.Part.Shift, s.Part.Bits)
		if s.Part.Mask != 0 {
			out += ", ones = {" + luaRuns(64, s.Part.Mask, s.Part.Mask) + "}"
		}
		if s.Part.Ones > 0 {
			out += fmt.Sprintf(", times = %d", schema.Mask(s.Part.Ones))
		}
		out += "}"
	case s.Truth:
		out += ", truth = true"
	case s.Bits > 0:
		out += fmt.Sprintf(", bits = %d", s.Bits)
	}
	return out
}

// enter creates the fields of a struct, including those of its groups. Earlier fields of a repeated name come last, as their names name#1
// are not valid in filters.
func (c *luaCompiler) enter(fields []int, at *luaField) {
	for _, early := range []bool{false, true} {
		for _, i := range fields {
			x := &c.m.Fields[i]
			if early != (x.Last != wire.None) {
				continue
			}
			lf := &luaField{f: x.Schema, name: x.Name, path: at.path, scope: at.scope, up: at.up, index: i}
			switch {
			case x.Schema.Name == "": // an element has the name of its list
				lf.name = at.name
			case !isArray(at.f):
				lf.path, lf.scope = at.path+"."+at.scope.of(x.Name), newLuaScope()
			}
			if at.isShown() && !(x.Schema.Name == "" && isChoice(at.f)) {
				lf.up = at
			}
			c.fields[i] = lf
			if _, ok := x.Schema.Type.(*schema.Group); ok {
				c.enter(c.m.Inside(i), lf)
			}
		}
	}
}

func isChoice(f *schema.Field) bool {
	_, ok := f.Type.(*schema.Choice)
	return ok
}

// isArray reports whether a field is a group that is shown as an array.
func isArray(f *schema.Field) bool {
	if f == nil {
		return false
	}
	g, ok := f.Type.(*schema.Group)
	return ok && g.Array
}

// push adds an item to a block. attrs are further attributes of its table, each preceded by a comma.
func (c *luaCompiler) push(o *luaOp, kind string, it *wire.Item, attrs string) {
	if it.Order == schema.Big && (it.Bits > 8 || (it.Off|it.Bits)%8 != 0) {
		attrs = ", big = true" + attrs
	}
	if it.Bits == 0 {
		o.zero++
	}
	if it.Field != wire.None && it.Kind == schema.Value && c.held[it.Field] {
		attrs += fmt.Sprintf(", hold = %d", it.Field+1)
	}
	o.items = append(o.items, fmt.Sprintf(`{"%s", %d, %d%s}`, kind, it.Off, it.Bits, attrs))
}

func place(at wire.Place) luaPlace { return luaPlace{at.Off, at.Bits, at.Order} }

func (c *luaCompiler) item(o *luaOp, it *wire.Item, list *luaField, first bool) {
	name := it.Kind.String()
	switch it.Kind {
	case schema.Value:
		c.value(o, it)
	case schema.Count, schema.Offset:
		lf := c.fields[it.Field]
		attrs := fmt.Sprintf(", reg = %d", it.Reg+1)
		if it.Kind == schema.Count {
			ext, bytes := extentOf(lf.f.Type)
			if l := ext.Min; l != nil && l.Const == "" {
				attrs += fmt.Sprintf(", min = %d", l.Uint)
			}
			if l := ext.Max; l != nil && l.Const == "" {
				attrs += fmt.Sprintf(", max = %d", l.Uint)
			}
			attrs += fmt.Sprintf(", unit = %d", max(int64(bytes), c.least[it.Field]))
			if ext.Null {
				attrs += ", null = true"
			}
		}
		c.push(o, name, it, attrs+luaUnits(it)+", f = "+c.bookField(lf, name, it))
		o.loads = true
	case schema.Bytes:
		attrs := fmt.Sprintf(", reg = %d%s", it.Reg+1, luaUnits(it))
		if g, ok := c.fields[it.Field].f.Type.(*schema.Group); ok && g.Null && g.Packed != schema.Unpacked {
			attrs += ", null = true"
		}
		c.push(o, "size", it, attrs)
		o.loads = true
	case schema.Present:
		attrs := fmt.Sprintf(", reg = %d", it.Reg+1)
		if t, ok := it.Type.(*schema.Number); ok && t.Kind == schema.Bool && it.Var == schema.Sized {
			attrs += ", truth = true"
		}
		c.push(o, name, it, attrs)
		o.loads = true
	case schema.Tag:
		c.push(o, name, it, fmt.Sprintf(", must = %d", it.Tag))
	case schema.Here, schema.Next:
		c.push(o, name, it, ", f = "+c.bookField(list, name, it))
	case schema.Code:
		c.push(o, name, it, "")
		if m := c.m.Schema; m.HasKey && it.Var != schema.Sized {
			if it.Var == schema.LEB128 {
				c.out.marks = append(c.out.marks, luaMark{c.start, binary.AppendUvarint(nil, uint64(m.Key.Code))})
			}
		} else if m.HasKey && it.Bits%8 == 0 && it.Off%8 == 0 {
			b := make([]byte, it.Bits/8)
			for i := range b {
				shift := 8 * i
				if it.Order == schema.Big {
					shift = it.Bits - 8 - shift
				}
				b[i] = byte(m.Key.Code >> shift)
			}
			c.out.marks = append(c.out.marks, luaMark{it.Off / 8, b})
		}
	case schema.Check:
		c.lose(c.m.Schema, "check", "the checksum is not verified")
		c.push(o, name, it, "")
	case schema.Const:
		if first {
			c.out.marks = append(c.out.marks, luaMark{it.Off / 8, it.Bytes})
		}
		c.push(o, name, it, ", bytes = "+luaBytes(it.Bytes))
	default:
		c.push(o, name, it, "")
	}
}

// bookField returns the field of a count, an offset or a similar number of another field.
func (c *luaCompiler) bookField(of *luaField, name string, it *wire.Item) string {
	if of == nil {
		fail("%s is outside of a list", name)
	}
	kind := luaInteger("uint", it.Bits)
	if t, ok := it.Type.(*schema.Number); ok && (t.Kind == schema.Signed || t.Add != 0) {
		kind = luaInteger("int", it.Bits+1)
	}
	path := c.names.take(of.path+"."+of.scope.of("wb_"+name), kind)
	return fmt.Sprintf("field(%s, %s, %s, nil%s)", c.pathText(path), luaString(name), luaString(kind), c.upOf(of))
}

// upOf returns the group of a field, as the last argument of the Lua function field.
func (c *luaCompiler) upOf(lf *luaField) string {
	up := lf.up
	if up == nil {
		return ""
	}
	if up.group == "" {
		outer := c.upOf(up)
		path := up.path
		if isArray(up.f) {
			path += "." + up.scope.of("wb_list") // the elements have its name
		}
		up.group = c.names.take(path, "none")
		c.groups = append(c.groups, fmt.Sprintf("field(%s, %s, \"none\", %s%s)", c.pathText(up.group), luaString(up.name), luaDoc(up.f), outer))
	}
	return ", " + c.pathText(up.group)
}

// field returns the call of the Lua function field.
func (c *luaCompiler) field(lf *luaField, kind, values string) string {
	up := c.upOf(lf)
	if values != "" && up == "" {
		up = ", nil"
	}
	if values != "" {
		up += ", " + values
	}
	return fmt.Sprintf("field(%s, %s, %s, %s%s)", c.pathText(c.names.take(lf.path, kind)), luaString(lf.name), luaString(kind), luaDoc(lf.f), up)
}

// pathText returns a filter name. The beginning of a long one is written once in a message.
func (c *luaCompiler) pathText(path string) string {
	if n := c.prefixes[path]; n > 0 {
		return fmt.Sprintf("P[%d]", n)
	}
	i := strings.LastIndexByte(path, '.')
	if strings.Count(path, ".") < 4 || len(path)-i > 60 {
		return luaString(path)
	}
	n := c.prefixes[path[:i]]
	if n == 0 {
		text := c.pathText(path[:i])
		n = len(c.prefixes) + 1
		c.prefixes[path[:i]] = n
		c.groups = append(c.groups, fmt.Sprintf("P[%d] = %s", n, text))
	}
	return fmt.Sprintf("P[%d] .. %s", n, luaString(path[i:]))
}

func luaDoc(f *schema.Field) string {
	if f.Doc == "" {
		return "nil"
	}
	return luaString(oneLine(f.Doc))
}

func luaInteger(sign string, bits int) string {
	for _, n := range []int{8, 16, 24, 32} {
		if bits <= n {
			return sign + strconv.Itoa(n)
		}
	}
	return sign + "64"
}

func (c *luaCompiler) value(o *luaOp, it *wire.Item) {
	lf := c.fields[it.Field]
	switch t := it.Type.(type) {
	case *schema.Number:
		c.number(o, it, lf, t)
	case *schema.Bitfield:
		c.bitfield(o, it, lf, t)
	case *schema.Text:
		attrs := luaText(t)
		if t.Pad != 0 {
			attrs += fmt.Sprintf(", pad = %d", t.Pad)
		} else if !exact(t) {
			attrs += ", cut = true"
		}
		c.push(o, "text", it, attrs+", f = "+c.field(lf, "string", ""))
	case *schema.Blob:
		c.push(o, "bytes", it, c.luaNested(t)+", f = "+c.field(lf, "bytes", ""))
	}
}

func luaText(t *schema.Text) string {
	return fmt.Sprintf(", unit = %d, set = %s", t.Charset.Unit(), luaString(luaCharset(t.Charset)))
}

func luaCharset(set schema.Charset) string {
	return []string{"utf16le", "latin1", "utf8", "utf16be"}[byteWise(set)]
}

func (c *luaCompiler) luaNested(t *schema.Blob) string {
	if t.Nested {
		c.out.carries = true
		return ", nested = true"
	}
	return ""
}

func (c *luaCompiler) number(o *luaOp, it *wire.Item, lf *luaField, t *schema.Number) {
	var kind, field, variable string
	switch t.Kind {
	case schema.Float:
		if kind, field = "float", "float"; t.Bits == 64 {
			field = "double"
		}
	case schema.Bool:
		kind, field = "bool", "boolean"
		if it.Var != schema.Sized {
			variable = ", var = true"
		}
	case schema.Signed:
		kind, field = "signed", luaInteger("int", t.Bits)
	default:
		kind, field = "unsigned", luaInteger("uint", t.Bits)
	}
	attrs := variable
	if t.Add != 0 {
		attrs = ", add = " + luaInt(t.Add)
		if field = "int64"; t.Bits < 32 && t.Add < 1<<30 && t.Add > -1<<30 {
			field = "int32"
		}
	}
	if t.Absent {
		attrs += ", absent = true"
	}
	if c.isTag(it) {
		attrs += ", tag = true"
	}
	if t.Scale != 0 {
		attrs, field = attrs+", scale = "+luaFloat(t.Scale), "double"
	}
	if it.Reg != wire.None {
		attrs += fmt.Sprintf(", reg = %d", it.Reg+1)
		o.loads = true
	}
	attrs += luaRange(t)
	values := ""
	if t.Enum != nil && len(t.Enum.Values) > 0 {
		if values = c.values(t); values == "" || field == "int64" || t.Scale != 0 {
			c.lose(c.m.Schema, lf.path, "the names of its values are omitted: only integers of at most 32 bits can have names")
			values = ""
		}
	}
	c.push(o, kind, it, attrs+", f = "+c.field(lf, field, values))
}

// luaRange returns the legal range of a number. Limits without a value are omitted.
func luaRange(t *schema.Number) string {
	known := func(l *schema.Limit) bool { return l != nil && l.Const == "" }
	one := func(l *schema.Limit) (text, shown string) {
		switch {
		case t.Kind == schema.Float:
			return luaFloat(l.Float), luaFloat(l.Float)
		case t.Kind == schema.Signed:
			shown = strconv.FormatInt(l.Int, 10)
			if t.Bits > 32 {
				return fmt.Sprintf("i64(%d, %d)", uint32(l.Int), uint32(l.Int>>32)), shown
			}
			return shown, shown
		}
		shown = strconv.FormatUint(l.Uint, 10)
		if t.Bits > 32 {
			return fmt.Sprintf("u64(%d, %d)", uint32(l.Uint), l.Uint>>32), shown
		}
		return shown, shown
	}
	out, from, to := "", "", ""
	if known(t.Min) {
		var text string
		text, from = one(t.Min)
		out += ", min = " + text
	}
	if known(t.Max) {
		var text string
		text, to = one(t.Max)
		out += ", max = " + text
	}
	if out == "" {
		return ""
	}
	return out + ", range = " + luaString(from+".."+to)
}

// values returns the table of the names of values; a large table is written once.
func (c *luaCompiler) values(t *schema.Number) string {
	name := c.tables[t.Enum]
	if name == "" {
		text := luaValues(t)
		if len(t.Enum.Values) <= 4 || text == "" {
			return text
		}
		name = fmt.Sprintf("VALUES[%d]", c.newBody())
		c.tables[t.Enum] = name
		c.groups = append(c.groups, name+" = "+text)
	}
	return name
}

// luaValues returns the table of the names of values, "" if Wireshark does not support them for such a number.
func luaValues(t *schema.Number) string {
	if t.Bits > 32 || t.Kind == schema.Float || t.Kind == schema.Bool {
		return ""
	}
	seen := map[uint64]bool{}
	var out []string
	for _, v := range t.Enum.Values {
		if seen[v.Value] {
			continue
		}
		seen[v.Value] = true
		key := t.Decimal(v.Value)
		out = append(out, fmt.Sprintf("[%s] = %s", key, luaString(v.Name)))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func (c *luaCompiler) bitfield(o *luaOp, it *wire.Item, lf *luaField, t *schema.Bitfield) {
	kinds, paths := map[string]string{}, map[string]string{}
	for _, form := range t.Forms {
		for _, p := range form.Parts {
			kind := luaInteger("uint", max(p.Bits, p.Ones))
			if p.Kind == schema.Bool {
				kind = "boolean"
			}
			if p.Ones > 48 {
				fail("the part %q of the bitfield %q has %d bits", p.Name, lf.f.Name, p.Ones)
			}
			switch old := kinds[p.Name]; {
			case old == "", old == "boolean":
				kinds[p.Name] = kind
			case kind != "boolean" && (len(kind) > len(old) || len(kind) == len(old) && kind > old):
				kinds[p.Name] = kind
			}
			if paths[p.Name] == "" {
				paths[p.Name] = lf.path + "." + lf.scope.of(p.Name)
			}
		}
	}
	var forms []string
	for _, form := range t.Forms {
		var parts []string
		when := luaRuns(t.Bits, form.Mask, form.Match)
		for _, p := range form.Parts {
			times := ""
			if p.Ones > 0 {
				times = fmt.Sprintf(", times = %d", schema.Mask(p.Ones))
			}
			if p.Mask != 0 {
				times += ", ones = {" + luaRuns(64, p.Mask, p.Mask) + "}"
			}
			parts = append(parts, fmt.Sprintf("{%d, %d, f = field(%s, %s, %s)%s}", p.Shift, p.Bits, c.pathText(c.names.take(paths[p.Name], kinds[p.Name])), luaString(p.Name), luaString(kinds[p.Name]), times))
		}
		forms = append(forms, fmt.Sprintf("{when = {%s}, %s}", when, strings.Join(parts, ", ")))
	}
	reg := ""
	if it.Reg != wire.None {
		reg, o.loads = fmt.Sprintf(", reg = %d", it.Reg+1), true
	}
	if it.Var != schema.Sized {
		reg += ", var = true"
	}
	c.push(o, "packed", it, reg+", forms = {"+strings.Join(forms, ", ")+"}, f = "+c.field(lf, luaInteger("uint", t.Bits), ""))
}

// luaRuns returns the runs of up to 32 bits of a mask, with their values.
func luaRuns(bits int, mask, match uint64) string {
	var out []string
	for shift := 0; shift < bits; shift++ {
		n := 0
		for shift+n < bits && n < 32 && mask>>(shift+n)&1 == 1 {
			n++
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("{%d, %d, %d}", shift, n, match>>shift&(1<<n-1)))
			shift += n - 1
		}
	}
	return strings.Join(out, ", ")
}

// content compiles a part of variable size.
func (c *luaCompiler) content(p *wire.Part) *luaOp {
	lf := c.fields[p.Field]
	attrs := ""
	switch p.Extent.Size {
	case schema.Fixed:
		attrs += fmt.Sprintf(", n = %d", max(p.Extent.N, 0))
	case schema.Counted, schema.Computed:
		attrs += fmt.Sprintf(", count = %d", p.Count+1)
		if p.Extent.Null && p.Extent.Size == schema.Counted {
			attrs += ", null = true"
		}
		if p.Extent.Size == schema.Computed {
			attrs += ", computed = true"
		}
	case schema.Terminated:
		end := byte(0)
		if p.Unit == 1 {
			end = p.Extent.End
		}
		attrs += fmt.Sprintf(", ended = %d", end)
	}
	for _, x := range []struct {
		name string
		is   bool
	}{{"lax", p.Extent.Lax}, {"keep", p.Extent.Keep}, {"with", p.Extent.With}} {
		if x.is {
			attrs += ", " + x.name + " = true"
		}
	}
	if p.Extent.Trim {
		attrs += fmt.Sprintf(", trim = %d", p.Extent.Pad)
	}
	if p.Reg != wire.None {
		attrs += fmt.Sprintf(", reg = %d", p.Reg+1)
	}
	if c.held[p.Field] {
		attrs += fmt.Sprintf(", hold = %d", p.Field+1)
	}
	if p.Offset != wire.None {
		attrs += fmt.Sprintf(", offset = %d", p.Offset+1)
	}
	switch t := lf.f.Type.(type) {
	case *schema.Text:
		return &luaOp{kind: "text", attrs: attrs + luaText(t) + ", f = " + c.field(lf, "string", "")}
	case *schema.Blob:
		return &luaOp{kind: "bytes", attrs: attrs + ", unit = 1" + c.luaNested(t) + ", f = " + c.field(lf, "bytes", "")}
	}
	return c.list(p, lf, attrs)
}

func (c *luaCompiler) list(p *wire.Part, lf *luaField, attrs string) *luaOp {
	inner := &luaField{f: lf.f, name: lf.name, path: lf.path, scope: lf.scope}
	own := *lf
	if p.List.Bare {
		own.path += "." + lf.scope.of("wb_list") // its name is used for the values
		attrs += ", bare = true"
	}
	o := &luaOp{kind: "list"}
	field := c.field(&own, "none", "")
	c.enter(p.Elem.Fields, inner)
	o.ops = c.ops(p.Elem.Parts, inner, false)
	open := p.Extent.Size >= schema.Until
	if !open && p.Index == wire.None && (len(o.ops) == 0 || len(o.ops) == 1 && o.ops[0].kind == "block" && !o.ops[0].optional && !o.ops[0].loads && o.ops[0].bits%8 == 0) {
		attrs += ", plain = true"
	}
	if p.Node != wire.None {
		attrs += fmt.Sprintf(", node = %d", p.Node+1)
	}
	if p.Index != wire.None {
		attrs += fmt.Sprintf(", index = %d", p.Index+1)
	}
	switch p.Extent.Size {
	case schema.Until:
		attrs += fmt.Sprintf(", till = %d", p.List.End)
	case schema.While:
		attrs += ", more = " + place(p.More).String()
	case schema.Ending:
		attrs += fmt.Sprintf(", last = %d", p.Ended+1)
	case schema.Scattered:
		if p.List.Once {
			attrs += ", once = true"
		}
	}
	if p.Linked() {
		attrs += ", next = " + place(p.Next).String()
	}
	o.attrs = attrs + ", f = " + field
	return o
}

// choice compiles alternatives.
func (c *luaCompiler) choice(p *wire.Part, at *luaField) *luaOp {
	o := &luaOp{kind: "choice"}
	if p.Field != wire.None {
		at = c.fields[p.Field]
		if at.name != "" {
			o.attrs = ", name = " + luaString(at.name)
		}
	}
	var inside []wire.Part
	for i := range p.Cases {
		x := &p.Cases[i]
		inside = append(inside, x.Body.Parts...)
		cond := ""
		switch {
		case x.Else:
			cond = "other = true, "
		case x.Text != nil:
			cond = "text = " + luaBytes([]byte(*x.Text)) + ", "
			o.texts = true
		case x.Reg != wire.None && p.Field == wire.None:
			cond = fmt.Sprintf("min = %d, reg = %d, value = %s, ", x.Min, x.Reg+1, luaInt(int64(x.Value)))
		case x.Reg != wire.None:
			cond = fmt.Sprintf("value = %s, ", luaInt(int64(x.Value)))
		default:
			if cond = fmt.Sprintf("min = %d, ", x.Min); x.Max > 0 {
				cond += fmt.Sprintf("max = %d, ", x.Max)
			}
		}
		c.enter(x.Body.Fields, at)
		o.conds, o.cases = append(o.conds, cond), append(o.cases, c.ops(x.Body.Parts, at, false))
	}
	if p.Field != wire.None {
		o.attrs += fmt.Sprintf(", reg = %d", p.Cases[0].Reg+1)
		if o.texts {
			o.attrs += ", text = true"
		}
	}
	if clears := c.cleared(inside); clears != "" {
		o.attrs += ", clears = {" + clears + "}"
	}
	return o
}
