package emit

import (
	"fmt"
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
	ops      []*luaOp   // list
	cases    [][]*luaOp // choice
	conds    []string
}

func countOps(ops []*luaOp) int {
	n := len(ops)
	for _, o := range ops {
		n += countOps(o.ops)
		for _, c := range o.cases {
			n += countOps(c) + 1
		}
	}
	return n
}

func (c *code) ops(before string, ops []*luaOp, after string) {
	if len(ops) == 0 {
		c.line("%s%s", before, after)
		return
	}
	c.open("%s", before)
	for _, o := range ops {
		attrs := o.attrs
		if o.optional {
			attrs += ", optional = true"
		}
		switch o.kind {
		case "block":
			c.open(`{"block", bits = %d, cost = %d%s, items = {`, o.bits, o.bits/8+o.zero, attrs)
			for _, it := range o.items {
				c.line("%s,", it)
			}
			c.shut("}},")
		case "list":
			c.ops(fmt.Sprintf(`{"list"%s, ops = {`, attrs), o.ops, "}},")
		case "choice":
			c.open(`{"choice"%s, cases = {`, attrs)
			for i, body := range o.cases {
				c.ops("{"+o.conds[i]+"ops = {", body, "}},")
			}
			c.shut("}},")
		default:
			c.line(`{"%s"%s},`, o.kind, attrs)
		}
	}
	c.shut("%s", after)
}

// luaCompiler compiles the ops of one message.
type luaCompiler struct {
	m      *wire.Message
	out    *luaMessage
	fields []*luaField             // by field
	least  map[int]int64           // by field: minimum size of an element of a list in bytes
	groups []string                // statements
	names  luaClasses              // filter names of the file
	tables map[*schema.Enum]string // tables of value names in the file, for enumerations with many values
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
			out = append(out, o)
		case wire.Weave:
			for k := range p.Lists {
				out = append(out, c.content(&p.Lists[k]))
			}
		case wire.Choice:
			out = append(out, c.choice(p.Cases, list))
		default:
			out = append(out, c.content(p))
		}
		if p.Optional > optional {
			optional, out[at].optional = p.Optional, true
		}
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
			lf := &luaField{f: x.Schema, name: x.Name, path: at.path, scope: at.scope}
			switch {
			case x.Schema.Name == "": // an element has the name of its list
				lf.name = at.name
			case !isArray(at.f):
				lf.path, lf.scope = at.path+"."+at.scope.of(x.Name), newLuaScope()
			}
			if at.f != nil {
				if _, ok := at.f.Type.(*schema.Group); ok {
					lf.up = at
				}
			}
			c.fields[i] = lf
			if _, ok := x.Schema.Type.(*schema.Group); ok {
				c.enter(c.m.Inside(i), lf)
			}
		}
	}
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
func (o *luaOp) push(kind string, it *wire.Item, attrs string) {
	if it.Order == schema.Big && it.Bits > 8 {
		attrs = ", big = true" + attrs
	}
	if it.Bits == 0 {
		o.zero++
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
		}
		o.push(name, it, attrs+", f = "+c.bookField(lf, name, it.Bits))
		o.loads = true
	case schema.Here, schema.Next:
		o.push(name, it, ", f = "+c.bookField(list, name, it.Bits))
	case schema.Code:
		o.push(name, it, "")
		if m := c.m.Schema; m.HasKey && it.Bits%8 == 0 && it.Off%8 == 0 {
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
		o.push(name, it, "")
	case schema.Const:
		if first {
			c.out.marks = append(c.out.marks, luaMark{it.Off / 8, it.Bytes})
		}
		o.push(name, it, ", bytes = "+luaBytes(it.Bytes))
	default:
		o.push(name, it, "")
	}
}

// bookField returns the field of a count, an offset or a similar number of another field.
func (c *luaCompiler) bookField(of *luaField, name string, bits int) string {
	if of == nil {
		fail("%s is outside of a list", name)
	}
	kind := luaInteger("uint", bits)
	path := c.names.take(of.path+"."+of.scope.of("wb_"+name), kind)
	return fmt.Sprintf("field(%s, %s, %s, nil%s)", luaString(path), luaString(name), luaString(kind), c.upOf(of))
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
		c.groups = append(c.groups, fmt.Sprintf("field(%s, %s, \"none\", %s%s)", luaString(up.group), luaString(up.name), luaDoc(up.f), outer))
	}
	return ", " + luaString(up.group)
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
	return fmt.Sprintf("field(%s, %s, %s, %s%s)", luaString(c.names.take(lf.path, kind)), luaString(lf.name), luaString(kind), luaDoc(lf.f), up)
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
		if !exact(t) {
			attrs += ", cut = true"
		}
		o.push("text", it, attrs+", f = "+c.field(lf, "string", ""))
	case *schema.Blob:
		o.push("bytes", it, luaNested(t)+", f = "+c.field(lf, "bytes", ""))
	}
}

func luaText(t *schema.Text) string {
	return fmt.Sprintf(", unit = %d, set = %s", t.Charset.Unit(), luaString([]string{"utf16le", "latin1", "utf8"}[byteWise(t.Charset)]))
}

func luaNested(t *schema.Blob) string {
	if t.Nested {
		return ", nested = true"
	}
	return ""
}

func (c *luaCompiler) number(o *luaOp, it *wire.Item, lf *luaField, t *schema.Number) {
	var kind, field string
	switch t.Kind {
	case schema.Float:
		if it.Off%8 != 0 {
			fail("the float %q does not start at a byte boundary", lf.f.Name)
		}
		if kind, field = "float", "float"; t.Bits == 64 {
			field = "double"
		}
	case schema.Bool:
		kind, field = "bool", "boolean"
	case schema.Signed:
		kind, field = "signed", luaInteger("int", t.Bits)
	default:
		kind, field = "unsigned", luaInteger("uint", t.Bits)
	}
	attrs := ""
	if t.Scale != 0 {
		attrs, field = ", scale = "+luaFloat(t.Scale), "double"
	}
	if it.Reg != wire.None {
		attrs += fmt.Sprintf(", reg = %d", it.Reg+1)
		o.loads = true
	}
	attrs += luaRange(t)
	values := ""
	if t.Enum != nil && len(t.Enum.Values) > 0 {
		if values = c.values(t); values == "" || t.Scale != 0 {
			c.lose(c.m.Schema, lf.path, "the names of its values are omitted: only integers of at most 32 bits can have names")
			values = ""
		}
	}
	o.push(kind, it, attrs+", f = "+c.field(lf, field, values))
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
		if len(t.Enum.Values) <= manyValues || text == "" {
			return text
		}
		name = fmt.Sprintf("VALUES[%d]", len(c.tables)+1)
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
			if p.Bits > 48 && p.Bits < 64 {
				fail("the part %q of the bitfield %q has %d bits", p.Name, lf.f.Name, p.Bits)
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
		var when, parts []string
		for shift := 0; shift < t.Bits; shift++ {
			n := 0
			for shift+n < t.Bits && n < 32 && form.Mask>>(shift+n)&1 == 1 {
				n++
			}
			if n > 0 {
				when = append(when, fmt.Sprintf("{%d, %d, %d}", shift, n, form.Match>>shift&(1<<n-1)))
				shift += n - 1
			}
		}
		for _, p := range form.Parts {
			times := ""
			if p.Ones > 0 {
				times = fmt.Sprintf(", times = %d", schema.Mask(p.Ones))
			}
			parts = append(parts, fmt.Sprintf("{%d, %d, f = field(%s, %s, %s)%s}", p.Shift, p.Bits, luaString(c.names.take(paths[p.Name], kinds[p.Name])), luaString(p.Name), luaString(kinds[p.Name]), times))
		}
		forms = append(forms, fmt.Sprintf("{when = {%s}, %s}", strings.Join(when, ", "), strings.Join(parts, ", ")))
	}
	o.push("packed", it, ", forms = {"+strings.Join(forms, ", ")+"}, f = "+c.field(lf, luaInteger("uint", t.Bits), ""))
}

// content compiles a part of variable size.
func (c *luaCompiler) content(p *wire.Part) *luaOp {
	lf := c.fields[p.Field]
	attrs := ""
	switch p.Extent.Size {
	case schema.Fixed:
		attrs += fmt.Sprintf(", n = %d", max(p.Extent.N, 0))
	case schema.Counted:
		attrs += fmt.Sprintf(", count = %d", p.Count+1)
	case schema.Terminated:
		attrs += ", ended = true"
	}
	if p.Offset != wire.None {
		attrs += fmt.Sprintf(", offset = %d", p.Offset+1)
	}
	switch t := lf.f.Type.(type) {
	case *schema.Text:
		return &luaOp{kind: "text", attrs: attrs + luaText(t) + ", f = " + c.field(lf, "string", "")}
	case *schema.Blob:
		if t.Size == schema.Terminated {
			fail("the bytes %q are zero-terminated", lf.f.Name)
		}
		return &luaOp{kind: "bytes", attrs: attrs + ", unit = 1" + luaNested(t) + ", f = " + c.field(lf, "bytes", "")}
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
	if len(o.ops) == 0 || len(o.ops) == 1 && o.ops[0].kind == "block" && !o.ops[0].optional && !o.ops[0].loads {
		attrs += ", plain = true"
	}
	if p.Linked() {
		attrs += ", next = " + place(p.Next).String()
	}
	o.attrs = attrs + ", f = " + field
	return o
}

// choice compiles the alternatives at the end of a struct.
func (c *luaCompiler) choice(cases []wire.Case, at *luaField) *luaOp {
	o := &luaOp{kind: "choice"}
	for i := range cases {
		x := &cases[i]
		cond := fmt.Sprintf("min = %d, ", x.Min)
		switch {
		case x.Reg != wire.None:
			f := c.m.Fields[c.m.Regs[x.Reg].Field].Schema
			if n, ok := f.Type.(*schema.Number); !ok || n.Kind == schema.Float || n.Bits > 48 {
				fail("alternatives depend on %q, which is not an integer of at most 48 bits", f.Name)
			}
			cond = fmt.Sprintf("reg = %d, value = %d, ", x.Reg+1, x.Value)
		case x.Max > 0:
			cond += fmt.Sprintf("max = %d, ", x.Max)
		}
		c.enter(x.Body.Fields, at)
		o.conds, o.cases = append(o.conds, cond), append(o.cases, c.ops(x.Body.Parts, at, false))
	}
	return o
}
