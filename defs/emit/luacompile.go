package emit

import (
	"fmt"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// luaField is a field at one place of a message. Types such as vectors are shared: one schema.Field can be several of these.
type luaField struct {
	f     *schema.Field
	path  string // of its filter name
	up    *luaField
	scope *names // of what is inside
	made  bool   // a group whose statement is written
}

// title is its name for people. A bare element is called as its list.
func (lf *luaField) title() string {
	if lf.f.Name == "" {
		return lf.path[strings.LastIndexByte(lf.path, '.')+1:]
	}
	return lf.f.Name
}

// luaOp is a part of a message that is read in one go.
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
	next     luaPlace // block of an element: where the next one is
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

// luaCompiler compiles one message, in the way of the codec.
type luaCompiler struct {
	m      *schema.Message
	out    *luaMessage
	where  map[*schema.Field]*luaField
	count  map[*luaField]int
	offset map[*luaField]int
	value  map[*schema.Field]int // registers of numbers that choose alternatives
	regs   int
	groups []string                // statements
	tables map[*schema.Enum]string // names of values that are in the file already, if they are many
	open   []string                // constants without a value
	losses []Loss
	depth  int
}

func (c *luaCompiler) lose(field, format string, args ...any) {
	c.losses = append(c.losses, Loss{Message: messageName(c.m), Field: field, Reason: fmt.Sprintf(format, args...)})
}

// luaScope is a list of ops under construction.
type luaScope struct {
	ops   []*luaOp
	open  *luaOp
	first bool
}

func (c *luaCompiler) body(s *schema.Struct, at *luaField, top bool) []*luaOp {
	if c.depth++; c.depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	if c.count == nil {
		c.count, c.offset, c.value = map[*luaField]int{}, map[*luaField]int{}, map[*schema.Field]int{}
	}
	for _, v := range s.Variants {
		if v.Field == nil {
			continue
		}
		n, ok := v.Field.Type.(*schema.Number)
		if !ok || n.Kind == schema.Float || n.Bits > 48 {
			fail("alternatives are chosen by %q, which is not a whole number of at most 48 bits", v.Field.Name)
		}
		if c.value[v.Field] == 0 {
			c.regs++
			c.value[v.Field] = c.regs
		}
	}
	c.enter(s.Fields, at)
	sc := &luaScope{first: top}
	c.wire(sc, s)
	c.flush(sc)
	if len(s.Variants) > 0 {
		c.choice(sc, s, at)
	}
	c.depth--
	return sc.ops
}

// enter makes the fields of a struct known, and those of groups that have no bytes of their own. It returns what they were before.
func (c *luaCompiler) enter(fields []*schema.Field, at *luaField) map[*schema.Field]*luaField {
	old := make(map[*schema.Field]*luaField, len(fields))
	for _, f := range fields {
		old[f] = c.where[f]
		if f.Same != nil && c.where[f.Same] != nil && sameKind(f.Type, f.Same.Type) {
			c.where[f] = c.where[f.Same]
			continue
		}
		lf := &luaField{f: f, path: at.path, scope: at.scope} // a bare element has the name of its list
		if f.Name != "" {
			lf.path, lf.scope = at.path+"."+at.scope.take(f.Name), newNames(false)
		}
		if at.f != nil {
			if _, ok := at.f.Type.(*schema.Group); ok {
				lf.up = at
			}
		}
		c.where[f] = lf
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 && len(g.Struct.Variants) == 0 {
			c.enter(g.Struct.Fields, lf)
		}
	}
	return old
}

func sameKind(a, b schema.Type) bool {
	p := &plan{shapes: map[*schema.Struct]string{}}
	return p.typeShape(a) == p.typeShape(b)
}

func (c *luaCompiler) find(f *schema.Field) *luaField {
	lf := c.where[f]
	if lf == nil {
		fail("an item is of a field that is not in its struct")
	}
	return lf
}

func (c *luaCompiler) wire(sc *luaScope, s *schema.Struct) {
	for i := range s.Wire {
		it := &s.Wire[i]
		if i < len(s.Wire)-s.Optional || sc.open != nil && sc.open.bits%8 != 0 {
			c.item(sc, it)
			continue
		}
		c.flush(sc)
		at := len(sc.ops)
		c.item(sc, it)
		if at < len(sc.ops) {
			sc.ops[at].optional = true
		}
	}
}

func (c *luaCompiler) flush(sc *luaScope) {
	if sc.open == nil {
		return
	}
	if sc.open.bits%8 != 0 {
		fail("fields before a variable part do not fill whole bytes")
	}
	sc.open, sc.first = nil, false
}

// push adds an item to the block being filled. attrs are those of its table, with commas before.
func (c *luaCompiler) push(sc *luaScope, kind string, bits int, order schema.Order, attrs string) {
	if sc.open == nil {
		sc.open = &luaOp{kind: "block"}
		sc.ops = append(sc.ops, sc.open)
	}
	b := sc.open
	if order == schema.Big && bits > 8 {
		if b.bits%8 != 0 || bits%8 != 0 {
			fail("a big-endian number does not stand at whole bytes")
		}
		attrs = ", big = true" + attrs
	}
	if bits == 0 {
		b.zero++
	}
	b.items = append(b.items, fmt.Sprintf(`{"%s", %d, %d%s}`, kind, b.bits, bits, attrs))
	if b.bits += bits; b.bits > 1<<26 {
		fail("a part of fixed size is too large")
	}
}

func (c *luaCompiler) wholeByte(sc *luaScope, what string) {
	if sc.open != nil && sc.open.bits%8 != 0 {
		fail("%s does not start at a whole byte", what)
	}
}

// frameItem adds a number about the whole message.
func (c *luaCompiler) frameItem(sc *luaScope, it *schema.Item) luaPlace {
	if !sc.first {
		fail("%s does not stand in the first fixed part of the message", it.Kind)
	}
	c.push(sc, it.Kind.String(), it.Bits, it.Order, "")
	at := luaPlace{sc.open.bits - it.Bits, it.Bits, it.Order}
	c.out.header = (sc.open.bits + 7) / 8
	return at
}

func (c *luaCompiler) item(sc *luaScope, it *schema.Item) {
	if it.Kind != schema.Value && it.Kind != schema.Const && it.Kind != schema.Weave && (it.Bits < 1 || it.Bits > 32 && it.Kind != schema.Pad) {
		fail("%s has %d bits", it.Kind, it.Bits)
	}
	switch it.Kind {
	case schema.Value:
		c.valueItem(sc, it.Field)
	case schema.Count, schema.Offset:
		lf := c.find(it.Field)
		c.regs++
		name := it.Kind.String()
		attrs := fmt.Sprintf(", reg = %d", c.regs)
		if it.Kind == schema.Count {
			c.count[lf] = c.regs
			ext, unit := luaExtent(it.Field.Type)
			if l := ext.Min; l != nil && l.Const == "" {
				attrs += fmt.Sprintf(", min = %d", l.Uint)
			}
			if l := ext.Max; l != nil && l.Const == "" {
				attrs += fmt.Sprintf(", max = %d", l.Uint)
			}
			attrs += fmt.Sprintf(", unit = %d", unit)
		} else {
			c.offset[lf] = c.regs
		}
		c.push(sc, name, it.Bits, it.Order, attrs+", f = "+c.bookField(lf, name, it.Bits))
		sc.open.loads = true
	case schema.Here, schema.Next:
		at := luaPlace{off: 0, bits: it.Bits, order: it.Order}
		c.push(sc, it.Kind.String(), it.Bits, it.Order, ", f = "+c.bookField(c.where[nil], it.Kind.String(), it.Bits))
		if it.Kind == schema.Next {
			at.off = sc.open.bits - it.Bits
			sc.open.next = at
		}
	case schema.Length:
		c.out.length = c.frameItem(sc, it)
	case schema.Code:
		c.out.key = c.frameItem(sc, it)
		if c.m.HasKey && it.Bits%8 == 0 && c.out.key.off%8 == 0 {
			b := make([]byte, it.Bits/8)
			for i := range b {
				shift := 8 * i
				if it.Order == schema.Big {
					shift = it.Bits - 8 - shift
				}
				b[i] = byte(c.m.Key.Code >> shift)
			}
			c.out.marks = append(c.out.marks, luaMark{c.out.key.off / 8, b})
		}
	case schema.Counter:
		c.frameItem(sc, it)
	case schema.Check:
		c.frameItem(sc, it)
		c.lose("check", "the checksum is shown, not verified")
	case schema.Const:
		c.wholeByte(sc, "a constant")
		if sc.first {
			at := 0
			if sc.open != nil {
				at = sc.open.bits / 8
			}
			c.out.marks = append(c.out.marks, luaMark{at, it.Bytes})
		}
		c.push(sc, "const", 8*len(it.Bytes), schema.Little, ", bytes = "+luaBytes(it.Bytes))
	case schema.Pad:
		c.push(sc, "pad", it.Bits, schema.Little, "")
	case schema.Weave:
		c.flush(sc)
		for _, f := range it.Weave {
			if l, ok := f.Type.(*schema.List); !ok || !l.Linked {
				fail("the interleaved field %q is not a chained list", f.Name)
			}
			c.content(sc, f)
		}
	default:
		fail("an item is of an unknown kind")
	}
}

func luaExtent(t schema.Type) (schema.Extent, uint64) {
	switch t := t.(type) {
	case *schema.Text:
		return t.Extent, uint64(t.Charset.Unit())
	case *schema.Blob:
		return t.Extent, 1
	case *schema.List:
		return t.Extent, (&plan{}).minSize(t.Elem).n
	}
	fail("a count is of something that has no units")
	return schema.Extent{}, 0
}

// bookField is the field of a number about another one.
func (c *luaCompiler) bookField(of *luaField, name string, bits int) string {
	if of == nil {
		fail("%s stands outside of a list", name)
	}
	path := of.path + "." + of.scope.take(name)
	return fmt.Sprintf("field(%s, %s, %s, nil%s)", luaString(path), luaString(name), luaString(luaInteger("uint", bits)), c.upOf(of))
}

// upOf is the group that a field is in, as the last argument of field.
func (c *luaCompiler) upOf(lf *luaField) string {
	up := lf.up
	if up == nil {
		return ""
	}
	if !up.made {
		up.made = true
		outer := c.upOf(up)
		c.groups = append(c.groups, fmt.Sprintf("field(%s, %s, \"none\", %s%s)", luaString(up.path), luaString(up.title()), luaDoc(up.f), outer))
	}
	return ", " + luaString(up.path)
}

// field is the call that makes a field.
func (c *luaCompiler) field(lf *luaField, kind, values string) string {
	up := c.upOf(lf)
	if values != "" && up == "" {
		up = ", nil"
	}
	if values != "" {
		up += ", " + values
	}
	return fmt.Sprintf("field(%s, %s, %s, %s%s)", luaString(lf.path), luaString(lf.title()), luaString(kind), luaDoc(lf.f), up)
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

func (c *luaCompiler) valueItem(sc *luaScope, f *schema.Field) {
	lf := c.find(f)
	switch t := f.Type.(type) {
	case *schema.Number:
		c.number(sc, lf, t)
	case *schema.Packed:
		c.packed(sc, lf, t)
	case *schema.Text:
		if t.Size != schema.Fixed {
			c.content(sc, f)
			return
		}
		c.wholeByte(sc, strconv.Quote(f.Name))
		attrs := luaText(t)
		if t.Min == nil || t.Min.Const != "" || t.Min.Uint != uint64(t.N) {
			attrs += ", cut = true"
		}
		c.push(sc, "text", max(t.N, 0)*t.Charset.Unit()*8, schema.Little, attrs+", f = "+c.field(lf, "string", ""))
	case *schema.Blob:
		if t.Size != schema.Fixed {
			c.content(sc, f)
			return
		}
		c.wholeByte(sc, strconv.Quote(f.Name))
		c.push(sc, "bytes", max(t.N, 0)*8, schema.Little, luaNested(t)+", f = "+c.field(lf, "bytes", ""))
	case *schema.Group:
		c.group(sc, lf, t.Struct)
	case *schema.List:
		c.content(sc, f)
	default:
		fail("the field %q has no type", f.Name)
	}
}

func luaText(t *schema.Text) string {
	return fmt.Sprintf(", unit = %d, set = %s", t.Charset.Unit(), luaString([]string{"utf16le", "latin1", "utf8"}[t.Charset]))
}

func luaNested(t *schema.Blob) string {
	if t.Nested {
		return ", nested = true"
	}
	return ""
}

func (c *luaCompiler) group(sc *luaScope, lf *luaField, s *schema.Struct) {
	if c.depth++; c.depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	if len(s.Variants) > 0 || s.Optional > 0 {
		fail("the group %q has alternatives or optional parts", lf.f.Name)
	}
	for i := range s.Wire {
		if s.Wire[i].Kind == schema.Count {
			c.flush(sc) // its lengths are judged after the values before it
			break
		}
	}
	old := c.enter(s.Fields, lf)
	c.wire(sc, s)
	c.depth--
	if len(s.Wire) == 0 {
		return // its fields stand in the struct around it
	}
	for f, o := range old {
		if o != nil {
			c.where[f] = o
		}
	}
}

func (c *luaCompiler) number(sc *luaScope, lf *luaField, t *schema.Number) {
	if t.Bits < 1 || t.Bits > 64 || t.Kind == schema.Float && t.Bits != 32 && t.Bits != 64 {
		fail("the number %q has %d bits", lf.f.Name, t.Bits)
	}
	var kind, field string
	switch t.Kind {
	case schema.Float:
		c.wholeByte(sc, fmt.Sprintf("the float %q", lf.f.Name))
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
	if reg := c.value[lf.f]; reg != 0 {
		attrs += fmt.Sprintf(", reg = %d", reg)
		defer func() { sc.open.loads = true }()
	}
	attrs += luaRange(t)
	values := ""
	if t.Enum != nil && len(t.Enum.Values) > 0 {
		if values = c.values(t); values == "" || t.Scale != 0 {
			c.lose(lf.path, "the names of its values are left out: only whole numbers of at most 32 bits can have some")
			values = ""
		}
	}
	c.push(sc, kind, t.Bits, t.Order, attrs+", f = "+c.field(lf, field, values))
}

// luaRange is the legal range of a number. Limits without a value are left out.
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

// values is the table of the names of values; one with many is written once.
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

// luaValues is the table of the names of values, "" if Wireshark has none for such a number.
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

func (c *luaCompiler) packed(sc *luaScope, lf *luaField, t *schema.Packed) {
	if len(t.Forms) == 0 || t.Bits%8 != 0 || t.Bits < 8 || t.Bits > 64 {
		fail("the packed number %q has %d bits", lf.f.Name, t.Bits)
	}
	kinds, paths := map[string]string{}, map[string]string{}
	for _, form := range t.Forms {
		for _, p := range form.Parts {
			kind := luaInteger("uint", p.Bits)
			if p.Kind == schema.Bool {
				kind = "boolean"
			}
			if p.Bits > 48 && p.Bits < 64 {
				fail("the part %q of the packed number %q has %d bits", p.Name, lf.f.Name, p.Bits)
			}
			switch old := kinds[p.Name]; {
			case old == "", old == "boolean":
				kinds[p.Name] = kind
			case kind != "boolean" && (len(kind) > len(old) || len(kind) == len(old) && kind > old):
				kinds[p.Name] = kind
			}
			if paths[p.Name] == "" {
				paths[p.Name] = lf.path + "." + lf.scope.take(p.Name)
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
			parts = append(parts, fmt.Sprintf("{%d, %d, f = field(%s, %s, %s)}", p.Shift, p.Bits, luaString(paths[p.Name]), luaString(p.Name), luaString(kinds[p.Name])))
		}
		forms = append(forms, fmt.Sprintf("{when = {%s}, %s}", strings.Join(when, ", "), strings.Join(parts, ", ")))
	}
	c.push(sc, "packed", t.Bits, t.Order, ", forms = {"+strings.Join(forms, ", ")+"}, f = "+c.field(lf, luaInteger("uint", t.Bits), ""))
}

// content adds a part of variable size.
func (c *luaCompiler) content(sc *luaScope, f *schema.Field) {
	c.flush(sc)
	lf := c.find(f)
	ext, _ := luaExtent(f.Type)
	attrs := ""
	switch ext.Size {
	case schema.Fixed:
		attrs += fmt.Sprintf(", n = %d", max(ext.N, 0))
	case schema.Counted:
		if c.count[lf] == 0 {
			fail("%q has no count before it", f.Name)
		}
		attrs += fmt.Sprintf(", count = %d", c.count[lf])
	case schema.Terminated:
		attrs += ", ended = true"
	}
	if c.offset[lf] != 0 {
		attrs += fmt.Sprintf(", offset = %d", c.offset[lf])
	}
	switch t := f.Type.(type) {
	case *schema.Text:
		sc.ops = append(sc.ops, &luaOp{kind: "text", attrs: attrs + luaText(t) + ", f = " + c.field(lf, "string", "")})
	case *schema.Blob:
		if t.Size == schema.Terminated {
			fail("the bytes %q are ended by a zero", f.Name)
		}
		sc.ops = append(sc.ops, &luaOp{kind: "bytes", attrs: attrs + ", unit = 1" + luaNested(t) + ", f = " + c.field(lf, "bytes", "")})
	case *schema.List:
		c.list(sc, lf, t, attrs)
	}
}

func (c *luaCompiler) list(sc *luaScope, lf *luaField, t *schema.List, attrs string) {
	if t.Size == schema.Terminated {
		fail("the list %q is ended by a zero", lf.f.Name)
	}
	inner := &luaField{f: lf.f, path: lf.path, scope: lf.scope}
	own := *lf
	if t.Bare {
		own.path += "." + lf.scope.take("list") // its name is that of the values
		attrs += ", bare = true"
	}
	o := &luaOp{kind: "list"}
	field := c.field(&own, "none", "")
	sc.ops = append(sc.ops, o)
	oldList := c.where[nil]
	c.where[nil] = inner
	saved := make(map[*schema.Field]*luaField, len(t.Elem.Fields))
	for _, f := range t.Elem.Fields {
		saved[f] = c.where[f]
	}
	o.ops = c.body(t.Elem, inner, false)
	for f, old := range saved {
		if old != nil {
			c.where[f] = old
		}
	}
	c.where[nil] = oldList
	if len(o.ops) == 0 || len(o.ops) == 1 && o.ops[0].kind == "block" && !o.ops[0].optional && !o.ops[0].loads {
		attrs += ", plain = true"
	}
	if t.Linked {
		if t.Size != schema.Counted || c.offset[lf] == 0 {
			fail("the chained list %q has no count or no offset", lf.f.Name)
		}
		if len(o.ops) == 0 || o.ops[0].next.bits == 0 {
			fail("the elements of the chained list %q do not start with the place of the next", lf.f.Name)
		}
		attrs += ", next = " + o.ops[0].next.String()
	}
	o.attrs = attrs + ", f = " + field
}

// choice adds the alternatives at the end of a struct.
func (c *luaCompiler) choice(sc *luaScope, s *schema.Struct, at *luaField) {
	if s.Optional > 0 {
		fail("there are alternatives after optional parts")
	}
	o := &luaOp{kind: "choice"}
	sc.ops = append(sc.ops, o)
	// Fields of one name and type in several alternatives are one field to people who filter by it.
	byName := map[string]*luaField{}
	for _, v := range s.Variants {
		cond := ""
		switch {
		case v.Field != nil:
			cond = fmt.Sprintf("reg = %d, value = %d, ", c.value[v.Field], v.Value)
		case v.MaxLen > 0:
			cond = fmt.Sprintf("min = %d, max = %d, ", max(v.MinLen, 0), v.MaxLen)
		default:
			cond = fmt.Sprintf("min = %d, ", max(v.MinLen, 0))
		}
		var ops []*luaOp
		if v.Body != nil {
			if len(v.Body.Variants) > 0 {
				fail("there are alternatives inside an alternative")
			}
			var fresh []*schema.Field
			for _, f := range v.Body.Fields {
				if old := byName[f.Name]; old != nil && sameKind(old.f.Type, f.Type) {
					if _, ok := f.Type.(*schema.Number); ok {
						c.where[f] = old
						continue
					}
				}
				fresh = append(fresh, f)
			}
			c.enter(fresh, at)
			for _, f := range fresh {
				byName[f.Name] = c.where[f]
			}
			inner := &luaScope{}
			c.wire(inner, v.Body)
			c.flush(inner)
			ops = inner.ops
		}
		o.conds, o.cases = append(o.conds, cond), append(o.cases, ops)
	}
}
