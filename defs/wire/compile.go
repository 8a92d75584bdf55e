package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"wirebench/defs/schema"
)

// Compile computes the wire layout of a message. It fails only for invalid schemas, which dialects should not produce, and for schemas
// that exceed the limits.
func Compile(m *schema.Message) (out *Message, err error) { return CompileApart(m, nil) }

// CompileApart is like Compile, but groups of the structs in apart are parts of their own, for descriptions that refer to a struct in place
// of repeating it: see Outline. A struct that is apart is a message by itself: its items refer to its own fields only.
func CompileApart(m *schema.Message, apart map[*schema.Struct]bool) (out *Message, err error) {
	c := &compiler{m: &Message{Schema: m, apart: apart, Whole: None, Begin: None}, indexed: map[*schema.Field]bool{}, inner: map[*schema.Field]bool{}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case compileError:
			out, err = nil, fmt.Errorf("compile %s: %s", m.Name, string(e))
		default:
			panic(e)
		}
	}()
	if m.Body == nil {
		fail("no body")
	}
	n := len(m.Body.Fields) + 2 // enough for most messages
	c.index, c.m.Fields, c.regs = make(map[*schema.Field]int, n), make([]Field, 0, n), make([]regs, 0, n)
	c.addFields(m.Body, None, inGroup, 0)
	if c.repeats {
		c.read = make([]int, len(c.m.Fields))
	}
	c.m.Body = c.body(m.Body, None, 0, true)
	c.numberNames()
	if least := (c.m.Body.Min.Bits + 7) / 8; least > MaxMessage {
		fail("the minimum size of %d bytes exceeds the limit of %d", least, MaxMessage)
	}
	return c.m, nil
}

// manyFields is the number of fields of a message from which on a group that may contain itself is not repeated for each use: further uses
// refer to an earlier one.
const manyFields = 4096

type compileError string

func fail(format string, args ...any) { panic(compileError(fmt.Sprintf(format, args...))) }

type compiler struct {
	m       *Message
	index   map[*schema.Field]int   // indexes of the fields of the current body and of its groups
	regs    []regs                  // by field
	chosen  map[*schema.Field]bool  // numbers and texts that choose alternatives, or are in expressions, and groups and lists around which they look
	own     map[*schema.Struct]int  // structs of groups that may contain themselves: the field of the last use
	alts    map[int][]int           // by field of a choice: the first field of each alternative, and the end
	seen    map[*schema.Struct]bool // inner structs, for Message.source
	parts   int
	indexed map[*schema.Field]bool // lists whose current element has a number in expressions
	inner   map[*schema.Field]bool // fields of elements that expressions look up
	weaves  int                    // those around the current part
	packed  int                    // depth of compressed groups
	begins  bool                   // expressions depend on where the contents begin

	repeats bool  // some fields have the name of another one
	reads   int   // number of values so far, if repeats
	read    []int // by field: its place in the order of reading, if repeats
}

// regs are the registers of a field.
type regs struct{ count, offset, value, bytes, present, begin, end, node, index int32 }

// parentKind is the kind of the parent of a field.
type parentKind uint8

const (
	inGroup parentKind = iota // or in the message
	inList
	inArray // a group that is shown as an array
)

// addFields adds the fields of a struct and of all nested structs to Message.Fields, in preorder.
func (c *compiler) addFields(s *schema.Struct, parent int, in parentKind, depth int) {
	if depth > MaxDepth {
		fail("nested deeper than %d", MaxDepth)
	}
	first := depth == 0 || !c.seen[s]
	if first && depth > 0 {
		if c.seen == nil {
			c.seen = map[*schema.Struct]bool{}
		}
		c.seen[s] = true
	}
	for _, f := range s.Fields {
		i := len(c.m.Fields)
		if i >= MaxFields {
			fail("more than %d fields", MaxFields)
		}
		name := f.Name
		if in == inArray {
			name = "[" + name + "]"
		}
		c.m.Fields = append(c.m.Fields, Field{Schema: f, Name: name, Last: None, Parent: parent, InList: in == inList, Again: None})
		c.repeats = c.repeats || f.Same != nil
		c.regs = append(c.regs, regs{None, None, None, None, None, None, None, None, None})
		if first {
			c.m.source += len(f.Name) + len(f.TypeText) + len(f.Doc) + 4
		}
		schema.Places(f.Type, c.expr)
		c.expr(schema.Made(f.Type))
		switch t := f.Type.(type) {
		case *schema.Group:
			if t.In != nil {
				c.choose(t.In)
			}
			in := inGroup
			if t.Array {
				in = inArray
			}
			if !t.Own {
				c.addFields(t.Struct, i, in, depth+1)
				break
			}
			at, again := c.own[t.Struct]
			if again && (c.m.Fields[at].End == 0 || i >= manyFields) {
				c.m.Fields[i].Again = at
				break
			}
			if c.own == nil {
				c.own = map[*schema.Struct]int{}
			}
			c.own[t.Struct] = i
			c.addFields(t.Struct, i, in, depth+1)
		case *schema.List:
			c.addFields(t.Elem, i, inList, depth+1)
		case *schema.Choice:
			if len(t.Cases) > MaxCases {
				fail("more than %d alternatives", MaxCases)
			}
			first := make([]int, 0, len(t.Cases)+1)
			for k := range t.Cases {
				first = append(first, len(c.m.Fields))
				if b := t.Cases[k].Body; b != nil {
					c.addFields(b, i, inGroup, depth+1)
				}
			}
			if c.alts == nil {
				c.alts = map[int][]int{}
			}
			c.alts[i] = append(first, len(c.m.Fields))
		}
		c.m.Fields[i].End = len(c.m.Fields)
	}
	for _, v := range s.Variants {
		if v.Field != nil {
			c.choose(v.Field)
		}
		if v.Body != nil {
			c.addFields(v.Body, parent, in, depth+1)
		}
	}
}

// choose notes that alternatives or expressions depend on a field.
func (c *compiler) choose(f *schema.Field) {
	if c.chosen == nil {
		c.chosen = map[*schema.Field]bool{}
	}
	c.chosen[f] = true
}

// expr notes the fields of an expression.
func (c *compiler) expr(e *schema.Expr) {
	if e == nil {
		return
	}
	if e.Size() > schema.MaxExpr {
		fail("an expression of more than %d operations", schema.MaxExpr)
	}
	e.Uses(func(x *schema.Expr) {
		switch {
		case x.Op == schema.From || x.Op == schema.Begin && x.Field == nil:
			c.begins = true
		case x.Op == schema.Index:
			c.indexed[x.Field] = true
		case x.Field != nil:
			c.choose(x.Field)
		}
		if x.Inner != nil {
			c.inner[x.Inner] = true
		}
	})
}

// children yields the direct children of a field; None yields the top-level fields.
func (m *Message) children(parent int) func(yield func(int) bool) {
	i, end := 0, len(m.Fields)
	if parent != None {
		i, end = parent+1, m.Fields[parent].End
	}
	return func(yield func(int) bool) {
		for k := i; k < end && yield(k); k = m.Fields[k].End {
		}
	}
}

// Inside returns the fields directly inside a list or a group, in the order of the definition.
func (m *Message) Inside(field int) []int {
	var out []int
	for i := range m.children(field) {
		out = append(out, i)
	}
	return out
}

// enter indexes the direct children of parent by their schema.Field, and the children of hoisted groups among them.
func (c *compiler) enter(parent int) {
	for i := range c.m.children(parent) {
		f := &c.m.Fields[i]
		c.index[f.Schema] = i
		if f.Hoisted() {
			c.enter(i)
		}
	}
}

// enterRange indexes the fields from first to end that have the parent, as enter does.
func (c *compiler) enterRange(first, end int) {
	for i := first; i < end; i = c.m.Fields[i].End {
		f := &c.m.Fields[i]
		c.index[f.Schema] = i
		if f.Hoisted() {
			c.enter(i)
		}
	}
}

func (c *compiler) fieldOf(f *schema.Field) int {
	i, ok := c.index[f]
	if !ok {
		name := ""
		if f != nil {
			name = f.Name
		}
		fail("item of field %q, which is not in its struct", name)
	}
	return i
}

func (c *compiler) addReg(kind schema.ItemKind, field int, at Place) int {
	if len(c.m.Regs) >= MaxFields {
		fail("too many counts and offsets")
	}
	c.m.Regs = append(c.m.Regs, Reg{Kind: kind, Field: field, Place: at})
	return len(c.m.Regs) - 1
}

// scope is a body under construction.
type scope struct {
	body  Body
	open  bool // the last part is a block under construction
	first bool // it is the first block of the message
}

// body compiles a struct.
func (c *compiler) body(s *schema.Struct, parent, depth int, top bool) Body {
	if depth > MaxDepth {
		fail("nested deeper than %d", MaxDepth)
	}
	c.enter(parent)
	sc := &scope{first: top}
	c.fieldsOf(sc, s)
	c.wire(sc, s, depth)
	c.variants(sc, s, parent, depth)
	c.flush(sc)
	if top && len(s.Tail) > 0 {
		c.tail(sc, s, depth)
	}
	sc.body.Size = bodySize(sc.body.Parts)
	return sc.body
}

// tail adds the end of the message.
func (c *compiler) tail(sc *scope, s *schema.Struct, depth int) {
	at := len(sc.body.Parts)
	for i := range s.Tail {
		c.item(sc, &s.Tail[i], depth)
	}
	c.flush(sc)
	if len(sc.body.Parts) != at+1 || sc.body.Parts[at].Kind != Block {
		fail("the end of a message has no fixed size")
	}
	c.m.Tail = int(sc.body.Parts[at].Min.Bits / 8)
}

// fieldsOf sets the fields of a body.
func (c *compiler) fieldsOf(sc *scope, s *schema.Struct) {
	sc.body.Struct = s
	sc.body.Fields = make([]int, len(s.Fields))
	for i, f := range s.Fields {
		sc.body.Fields[i] = c.fieldOf(f)
	}
}

// inside compiles another use of a struct. If a shared struct is also in use in an enclosing scope, the indexes of its fields there are
// restored.
func (c *compiler) inside(s *schema.Struct, use func()) {
	old := make([]int, len(s.Fields))
	for i, f := range s.Fields {
		old[i] = None
		if v, ok := c.index[f]; ok {
			old[i] = v
		}
	}
	use()
	if len(s.Wire) == 0 {
		return // the fields are hoisted into the enclosing scope and stay indexed
	}
	for i, f := range s.Fields {
		if old[i] != None {
			c.index[f] = old[i]
		}
	}
}

func (c *compiler) wire(sc *scope, s *schema.Struct, depth int) {
	for i := range s.Wire {
		it := &s.Wire[i]
		if c.begins && s == c.m.Schema.Body && i == c.m.Schema.Front && i > 0 {
			c.m.Begin = c.let(sc, &schema.Expr{Op: schema.Cursor})
		}
		if i < len(s.Wire)-s.Optional || sc.open && sc.block().Min.Bits%8 != 0 { // the remaining bits of a byte are present with its first bits
			c.item(sc, it, depth)
			continue
		}
		c.flush(sc)
		at, n := len(sc.body.Parts), 1
		if at > 0 {
			n += sc.body.Parts[at-1].Optional
		}
		if was := i - 1; n > 1 && s.Wire[was].Kind != schema.Value && s.Wire[was].Field == it.Field && it.Field != nil {
			n-- // with its count, its size or its selector
		}
		c.item(sc, it, depth)
		for k := range sc.body.Parts[at:] {
			sc.body.Parts[at+k].Optional = n
		}
	}
}

// block returns the block under construction.
func (sc *scope) block() *Part { return &sc.body.Parts[len(sc.body.Parts)-1] }

func (c *compiler) addPart(sc *scope, p Part) {
	if c.parts++; c.parts > MaxParts {
		fail("more than %d parts", MaxParts)
	}
	sc.body.Parts = append(sc.body.Parts, p)
}

// flush ends the block under construction.
func (c *compiler) flush(sc *scope) {
	if !sc.open {
		return
	}
	if bits := sc.block().Min.Bits; bits%8 != 0 {
		fail("%d bits before a variable part or the end are not whole bytes", bits)
	}
	sc.open, sc.first = false, false
}

// push adds an item to the block under construction, or to a new one.
func (c *compiler) push(sc *scope, it Item) *Item {
	if !sc.open {
		c.addPart(sc, newPart(Block, None))
		sc.block().Items = make([]Item, 0, 8)
		sc.open = true
	}
	b := sc.block()
	it.Off, it.Reg = int(b.Min.Bits), None
	if it.Off+it.Bits > MaxBlock {
		fail("more than %d bytes of fixed size", MaxBlock/8)
	}
	b.Items = append(b.Items, it)
	b.Size = exactly(int64(it.Off + it.Bits))
	return &b.Items[len(b.Items)-1]
}

// newPart returns a part without registers.
func newPart(k Kind, field int) Part {
	return Part{Kind: k, Field: field, Count: None, Offset: None, Reg: None, Bytes: None, Present: None, Ended: None, At: None, In: None, InEnd: None, Begin: None, Stop: None, Node: None, Index: None}
}

func (it *Item) place() Place { return Place{it.Off, it.Bits, it.Order} }

// bookkeeping adds a number other than a value: a count, an offset or a number about the frame.
func (c *compiler) bookkeeping(sc *scope, it *schema.Item, field int) *Item {
	if n := it.Num; n != nil {
		if n.Bits < 1 || n.Bits > 64 || n.Kind == schema.Float || n.Scale != 0 {
			fail("a %s of another type than an integer", it.Kind)
		}
		x := Item{Kind: it.Kind, Field: field, Bits: n.Bits, Order: n.Order, Type: n, Var: n.Var}
		if n.Var != schema.Sized {
			return c.varint(sc, x)
		}
		return c.push(sc, x)
	}
	if it.Bits < 1 || it.Bits > 32 {
		fail("a %s of %d bits", it.Kind, it.Bits)
	}
	return c.push(sc, Item{Kind: it.Kind, Field: field, Bits: it.Bits, Order: it.Order})
}

// varint adds a number in a variable number of bytes, as a part of its own.
func (c *compiler) varint(sc *scope, it Item) *Item {
	if it.Bits > 64 {
		fail("a variable-size number of %d bits", it.Bits)
	}
	c.flush(sc)
	sc.first = false
	p := newPart(Var, it.Field)
	it.Reg = None
	p.Items = []Item{it}
	p.Size = Size{Min: Sum{Bits: 8}, Max: int64(it.Var.MaxBytes(it.Bits)) * 8}
	c.addPart(sc, p)
	return &sc.block().Items[0]
}

// frameItem adds a number about the whole frame, which must be in its first block.
func (c *compiler) frameItem(sc *scope, it *schema.Item) Place {
	if !sc.first {
		fail("%s outside the first fixed part of the message", it.Kind)
	}
	if it.Num != nil && it.Num.Var != schema.Sized {
		fail("%s in a variable number of bytes", it.Kind)
	}
	at := c.bookkeeping(sc, it, None).place()
	c.m.Header = (at.Off + at.Bits + 7) / 8
	return at
}

func (c *compiler) item(sc *scope, it *schema.Item, depth int) {
	switch it.Kind {
	case schema.Value:
		c.valueItem(sc, it.Field, depth)
	case schema.Count, schema.Offset:
		fi := c.fieldOf(it.Field)
		x := c.bookkeeping(sc, it, fi)
		x.Reg = c.addReg(it.Kind, fi, x.place())
		c.m.Regs[x.Reg].Type = x.Type
		if it.Kind == schema.Offset {
			c.regs[fi].offset = int32(x.Reg)
			break
		}
		c.regs[fi].count = int32(x.Reg)
		ext, ok := ExtentOf(it.Field.Type)
		if !ok {
			fail("a count of a field without units")
		}
		c.unresolved(ext.Min, ext.Max)
	case schema.Bytes, schema.Present:
		fi := c.fieldOf(it.Field)
		x := c.bookkeeping(sc, it, fi)
		x.Reg = c.addReg(it.Kind, fi, x.place())
		c.m.Regs[x.Reg].Type = x.Type
		if it.Kind == schema.Bytes {
			c.regs[fi].bytes = int32(x.Reg)
		} else {
			c.regs[fi].present = int32(x.Reg)
		}
	case schema.Here, schema.Next, schema.More:
		c.bookkeeping(sc, it, None)
	case schema.Length:
		c.m.Length = c.frameItem(sc, it)
	case schema.Code:
		if it.Num != nil && it.Num.Var != schema.Sized {
			if !sc.first || c.m.CodeVar {
				fail("a code in a variable number of bytes after the start of the message")
			}
			c.m.CodeVar = true
			c.bookkeeping(sc, it, None)
			break
		}
		c.m.Code = c.frameItem(sc, it)
	case schema.Counter:
		c.m.Counter = c.frameItem(sc, it)
	case schema.Check:
		c.m.Check, c.m.Sum = c.frameItem(sc, it), it.Sum
	case schema.Const:
		if x := c.push(sc, Item{Kind: it.Kind, Field: None, Bits: len(it.Bytes) * 8, Bytes: it.Bytes}); x.Off%8 != 0 {
			fail("a constant does not start at a byte boundary")
		}
	case schema.Pad:
		if it.Bits < 1 {
			fail("padding of %d bits", it.Bits)
		}
		c.push(sc, Item{Kind: it.Kind, Field: None, Bits: it.Bits, Order: it.Order})
	case schema.Align:
		if it.Bits < 8 || it.Bits%8 != 0 || it.Bits > MaxAlign {
			fail("an alignment of %d bits", it.Bits)
		}
		c.flush(sc)
		p := newPart(Align, None)
		p.Unit, p.Size = it.Bits/8, Size{Max: int64(it.Bits - 8)}
		c.addPart(sc, p)
	case schema.Weave:
		c.weave(sc, it, depth)
	case schema.Tagged:
		c.tagged(sc, it, depth)
	case schema.Tag:
		c.tag(sc, it)
	default:
		fail("item of unknown kind %d", it.Kind)
	}
}

func (c *compiler) weave(sc *scope, it *schema.Item, depth int) {
	c.flush(sc)
	inner := &scope{}
	c.weaves++
	defer func() { c.weaves-- }()
	for _, f := range it.Weave {
		if l, ok := f.Type.(*schema.List); !ok || !l.Linked {
			fail("interleaved field %q is not a chained list", f.Name)
		}
		c.content(inner, f, depth)
	}
	lists := inner.body.Parts
	p := newPart(Weave, None)
	p.Lists, p.Size = lists, bodySize(lists)
	c.addPart(sc, p)
}

// reading notes that the value of a field is read next.
func (c *compiler) reading(fi int) {
	if c.repeats {
		c.reads++
		c.read[fi] = c.reads
	}
}

// numberNames tells fields of one name apart: all but the one that is read last get their number in the order of reading.
func (c *compiler) numberNames() {
	if !c.repeats {
		return
	}
	type name struct {
		parent int
		first  *schema.Field
	}
	fields := map[name][]int{}
	for i := range c.m.Fields {
		first := c.m.Fields[i].Schema
		for first.Same != nil {
			first = first.Same
		}
		n := name{c.m.Fields[i].Parent, first}
		fields[n] = append(fields[n], i)
	}
	for _, all := range fields {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(c.read[a], c.read[b]) })
		last := len(all) - 1
		for k, i := range all[:last] {
			f := &c.m.Fields[i]
			f.Name, f.Last = f.Name+"#"+strconv.Itoa(k+1), all[last]
		}
	}
}

// valueItem adds the bits of a field: to the block if their size is fixed, otherwise as a separate part.
func (c *compiler) valueItem(sc *scope, f *schema.Field, depth int) {
	fi := c.fieldOf(f)
	c.reading(fi)
	switch t := f.Type.(type) {
	case *schema.Number:
		if t.Bits < 1 || t.Bits > 64 || t.Kind == schema.Float && t.Bits != 16 && t.Bits != 32 && t.Bits != 64 || t.Kind == schema.Float && t.Var != schema.Sized {
			fail("number %q of %d bits", f.Name, t.Bits)
		}
		if t.Expr != nil {
			c.computed(sc, fi, t)
			return
		}
		c.unresolved(t.Min, t.Max)
		c.number(sc, fi, t.Bits, t.Order, t.Var)
	case *schema.Bitfield:
		if t.Bits < 8 || t.Bits > 64 || t.Bits%8 != 0 || len(t.Forms) == 0 {
			fail("bitfield %q of %d bits", f.Name, t.Bits)
		}
		c.number(sc, fi, t.Bits, t.Order, t.Var)
	case *schema.Group:
		if t.HasBody() || c.m.apart[t.Struct] {
			c.innerGroup(sc, fi, t, depth)
			return
		}
		c.group(sc, fi, t.Struct, depth)
	case *schema.Choice:
		c.choice(sc, fi, t, depth)
	case *schema.Text, *schema.Blob, *schema.List:
		ext, _ := ExtentOf(t)
		if v := valueOf(t); v != nil {
			c.computedText(sc, fi, v)
			return
		}
		if unit := unitOf(t); ext.Size == schema.Fixed && unit > 0 && !c.chosen[f] && !ext.Trim {
			c.fixed(sc, fi, ext.N, unit)
			return
		}
		c.content(sc, f, depth)
	default:
		fail("field %q has no type", f.Name)
	}
}

func (c *compiler) number(sc *scope, fi, bits int, order schema.Order, v schema.Varint) {
	f := c.m.Fields[fi].Schema
	it := Item{Kind: schema.Value, Field: fi, Bits: bits, Order: order, Type: f.Type, Var: v}
	var x *Item
	if v != schema.Sized {
		x = c.varint(sc, it)
	} else {
		x = c.push(sc, it)
	}
	if c.chosen[f] {
		if c.regs[fi].value == None {
			c.regs[fi].value = int32(c.addReg(schema.Value, fi, x.place()))
			c.m.Regs[c.regs[fi].value].Type = f.Type
		}
		x.Reg = int(c.regs[fi].value)
	}
}

// fixed adds text or bytes of n units.
func (c *compiler) fixed(sc *scope, fi, n, unit int) {
	if n < 0 || n > MaxBlock/8/unit {
		fail("a fixed size of %d units", n)
	}
	f := c.m.Fields[fi].Schema
	if x := c.push(sc, Item{Kind: schema.Value, Field: fi, Bits: n * unit * 8, Type: f.Type}); x.Off%8 != 0 {
		fail("field %q does not start at a byte boundary", f.Name)
	}
}

func (c *compiler) group(sc *scope, fi int, s *schema.Struct, depth int) {
	if depth >= MaxDepth {
		fail("nested deeper than %d", MaxDepth)
	}
	if slices.ContainsFunc(s.Wire, func(it schema.Item) bool { return it.Kind == schema.Count }) {
		c.flush(sc) // its lengths are checked after the preceding values
	}
	if len(s.Variants) > 0 || s.Optional > 0 {
		fail("group %q has alternatives or optional parts", c.m.Fields[fi].Schema.Name)
	}
	c.inside(s, func() {
		c.enter(fi)
		c.wire(sc, s, depth+1)
	})
}

// ExtentOf returns the extent of text, bytes or a list. ok is false for other types.
func ExtentOf(t schema.Type) (schema.Extent, bool) {
	switch t := t.(type) {
	case *schema.Text:
		return t.Extent, true
	case *schema.Blob:
		return t.Extent, true
	case *schema.List:
		return t.Extent, true
	}
	return schema.Extent{}, false
}

// unitOf returns the number of bytes of a unit of text or bytes, 0 for a list.
func unitOf(t schema.Type) int {
	switch t := t.(type) {
	case *schema.Text:
		return t.Charset.Unit()
	case *schema.Blob:
		return 1
	}
	return 0
}

// valueOf returns the expression of a text or of bytes that are computed, or nil.
func valueOf(t schema.Type) *schema.Expr {
	switch t := t.(type) {
	case *schema.Text:
		return t.Value
	case *schema.Blob:
		return t.Value
	}
	return nil
}

func (c *compiler) unresolved(limits ...*schema.Limit) {
	for _, l := range limits {
		if l != nil && l.Const != "" && !slices.Contains(c.m.Unresolved, l.Const) {
			c.m.Unresolved = append(c.m.Unresolved, l.Const)
		}
	}
}

// content adds a part of variable size, or a list.
func (c *compiler) content(sc *scope, f *schema.Field, depth int) {
	c.flush(sc)
	fi := c.fieldOf(f)
	c.reading(fi)
	ext, _ := ExtentOf(f.Type)
	c.unresolved(ext.Min, ext.Max)
	if ext.Trim && (unitOf(f.Type) != 1 || ext.Size != schema.Fixed && ext.Size != schema.Computed && ext.Size != schema.ToEnd && !(ext.Size == schema.Terminated && ext.Lax && !ext.Keep)) {
		fail("field %q is padded, and has no size or larger units than bytes", f.Name)
	}
	p := newPart(Text, fi)
	p.Extent, p.Unit, p.Count, p.Offset = ext, unitOf(f.Type), int(c.regs[fi].count), int(c.regs[fi].offset)
	p.MinUnits, p.MaxUnits = ext.Units()
	if ext.Size == schema.Computed {
		p.Count = c.let(sc, ext.Expr)
	}
	if ext.Size == schema.Fixed && (ext.N < 0 || ext.N > MaxBlock) {
		fail("field %q has a fixed size of %d units", f.Name, ext.N)
	}
	if ext.Size == schema.Counted && p.Count == None {
		fail("field %q has no preceding count", f.Name)
	}
	switch t := f.Type.(type) {
	case *schema.Text:
		p.Reg = c.textReg(fi)
	case *schema.Blob:
		p.Kind, p.Reg = Blob, c.textReg(fi)
	case *schema.List:
		p.Kind, p.List = List, t
		if c.chosen[f] && !t.Linked && c.regs[fi].node == None {
			c.regs[fi].node = int32(c.addReg(schema.Value, fi, Place{Bits: 64}))
		}
		if c.indexed[f] && c.regs[fi].index == None {
			c.regs[fi].index = int32(c.addReg(schema.Value, fi, Place{Bits: 64}))
		}
		p.Node, p.Index = int(c.regs[fi].node), int(c.regs[fi].index)
		c.list(&p, depth)
	default:
		fail("field %q has no units", f.Name)
	}
	var unit Size
	p.Size, unit = contentSize(&p)
	c.m.Fields[fi].Unit = unit.Min
	c.addPart(sc, p)
}

// textReg returns the register of a text or of bytes that alternatives or expressions depend on, or None.
func (c *compiler) textReg(fi int) int {
	f := c.m.Fields[fi].Schema
	if c.chosen[f] && c.regs[fi].value == None {
		c.regs[fi].value = int32(c.addReg(schema.Value, fi, Place{}))
		c.m.Regs[c.regs[fi].value].Type = f.Type
	}
	return int(c.regs[fi].value)
}

func (c *compiler) list(p *Part, depth int) {
	t, name := p.List, c.m.Fields[p.Field].Schema.Name
	if t.Size == schema.Terminated {
		fail("list %q is zero-terminated", name)
	}
	if t.Linked && (p.Offset == None || t.Size != schema.Counted) {
		fail("chained list %q has no count or no offset", name)
	}
	c.inside(t.Elem, func() {
		body := c.body(t.Elem, p.Field, depth+1, false)
		if t.Size == schema.Ending {
			sc := &scope{body: body}
			p.Ended = c.let(sc, t.Expr)
			body = sc.body
		}
		p.Elem = &body
	})
	if t.Linked && t.Size == schema.Ending {
		fail("chained list %q is ended by an expression", name)
	}
	if t.Size == schema.Scattered {
		c.checkTags(p)
	}
	if t.Size == schema.While {
		if parts := p.Elem.Parts; len(parts) > 0 && parts[0].Kind == Block {
			for k := range parts[0].Items {
				if it := &parts[0].Items[k]; it.Kind == schema.More {
					p.More = it.place()
				}
			}
		}
		if p.More.Bits == 0 {
			fail("elements of list %q do not start with whether another one follows", name)
		}
	}
	if !t.Linked {
		return
	}
	if parts := p.Elem.Parts; len(parts) > 0 && parts[0].Kind == Block {
		for k := range parts[0].Items {
			switch it := &parts[0].Items[k]; it.Kind {
			case schema.Here:
				p.Here = it.place()
			case schema.Next:
				p.Next = it.place()
			}
		}
	}
	if p.Next.Bits == 0 {
		fail("elements of chained list %q do not start with the offset of the next", name)
	}
}

// variants adds the alternatives at the end of a struct.
func (c *compiler) variants(sc *scope, s *schema.Struct, parent, depth int) {
	if len(s.Variants) == 0 {
		return
	}
	if s.Optional > 0 {
		fail("alternatives after optional parts")
	}
	if len(s.Variants) > MaxCases {
		fail("more than %d alternatives", MaxCases)
	}
	cases := make([]Case, len(s.Variants))
	for i, v := range s.Variants {
		cases[i] = Case{Reg: None, Value: v.Value, Min: max(v.MinLen, 0), Max: max(v.MaxLen, 0)}
		if v.Field != nil {
			if cases[i].Reg = int(c.regs[c.fieldOf(v.Field)].value); cases[i].Reg == None {
				fail("alternatives depend on %q, which is not an earlier number", v.Field.Name)
			}
		}
	}
	c.flush(sc)
	// The fields of alternatives are children of parent, like those of the common part.
	children := make(map[*schema.Field]int)
	for i := range c.m.children(parent) {
		children[c.m.Fields[i].Schema] = i
	}
	for i, v := range s.Variants {
		if v.Body == nil {
			continue // the struct ends here
		}
		if len(v.Body.Variants) > 0 {
			fail("alternatives inside an alternative")
		}
		for _, f := range v.Body.Fields {
			if k, ok := children[f]; ok {
				c.index[f] = k
			}
		}
		inner := &scope{}
		c.fieldsOf(inner, v.Body)
		c.wire(inner, v.Body, depth+1)
		c.flush(inner)
		inner.body.Size = bodySize(inner.body.Parts)
		cases[i].Body = inner.body
	}
	c.parts += len(cases)
	size := c.choiceSize(cases, bodySize(sc.body.Parts).Min.Bits, parent == None)
	p := newPart(Choice, None)
	p.Cases, p.Size = cases, size
	c.addPart(sc, p)
}

// innerGroup adds a group with a body of its own, or another use of the body of an enclosing group.
func (c *compiler) innerGroup(sc *scope, fi int, t *schema.Group, depth int) {
	c.flush(sc)
	if target := c.m.Fields[fi].Again; target != None {
		if t.Sized || t.Packed != schema.Unpacked {
			fail("group %q has a size or is compressed, and contains itself", c.m.Fields[fi].Schema.Name)
		}
		p := newPart(Call, fi)
		p.Max = NoLimit
		c.addPart(sc, p)
		return
	}
	p := newPart(Group, fi)
	name := c.m.Fields[fi].Schema.Name
	if t.Sized {
		switch p.Bytes = int(c.regs[fi].bytes); {
		case t.Size != nil && (p.Bytes != None || t.Null):
			fail("group %q has two sizes, or may be null", name)
		case t.Size != nil:
			p.Bytes = c.let(sc, t.Size)
		case p.Bytes == None:
			fail("group %q has no preceding size", name)
		}
	} else if t.Size != nil {
		fail("group %q has no size, but an expression for it", name)
	}
	if t.At != nil {
		if t.Own || t.Sized && t.Size == nil || t.Null || c.weaves > 0 {
			fail("group %q has a position, and contains itself, has a size before it or is in an interleaved list", name)
		}
		if t.In == nil && !t.Inner && c.packed > 0 {
			fail("group %q has a position in the message, and is in compressed contents", name)
		}
		p.At, p.Inner = c.let(sc, t.At), t.Inner
		if t.In != nil {
			of := c.regs[c.fieldOf(t.In)]
			if p.In, p.InEnd = int(of.begin), int(of.end); p.In == None {
				fail("group %q has a position in %q, which has no size or is not earlier", name, t.In.Name)
			}
		}
	}
	if f := c.m.Fields[fi].Schema; (t.Sized || t.Packed != schema.Unpacked) && c.chosen[f] {
		c.regs[fi].begin = int32(c.addReg(schema.Value, fi, Place{Bits: 64}))
		c.regs[fi].end = int32(c.addReg(schema.Value, fi, Place{Bits: 64}))
		p.Begin, p.Stop = int(c.regs[fi].begin), int(c.regs[fi].end)
	}
	if t.Packed.Keyed() != (t.Key != nil) {
		fail("group %q has a key that its packing does not have, or lacks one", name)
	}
	if t.Key != nil {
		p.Expr = &Expr{}
		if c.steps(p.Expr, t.Key); p.Expr.Kind() == schema.FloatExpr || t.Packed == schema.Rotate && p.Expr.Kind() != schema.IntExpr {
			fail("group %q has a key that is not a number or bytes", name)
		}
	}
	if t.Packed != schema.Unpacked {
		c.packed++
		defer func() { c.packed-- }()
	}
	c.inside(t.Struct, func() {
		body := c.body(t.Struct, fi, depth+1, false)
		p.Body = &body
	})
	switch p.Size = p.Body.Size; {
	case t.Size != nil && t.Size.Op == schema.Literal && t.Size.Int >= 0 && t.Size.Int <= MaxBlock/8:
		p.Size = exactly(t.Size.Int * 8)
	case t.Sized || t.Packed != schema.Unpacked:
		p.Size = Size{Max: NoLimit} // the contents may end early, or leave bytes over
	}
	if t.At != nil {
		p.Min = Sum{} // the contents may share the bytes of others
	}
	c.addPart(sc, p)
}

// choice adds alternatives that are selected by an earlier value.
func (c *compiler) choice(sc *scope, fi int, t *schema.Choice, depth int) {
	if depth > MaxDepth {
		fail("nested deeper than %d", MaxDepth)
	}
	c.flush(sc)
	reg, text := c.selector(sc, fi, t)
	p := newPart(Choice, fi)
	if t.On == nil {
		p.Present = reg
	}
	p.Cases = make([]Case, len(t.Cases))
	first := c.alts[fi]
	for i := range t.Cases {
		a, x := &t.Cases[i], &p.Cases[i]
		*x = Case{Reg: reg, Value: a.Value, Text: a.Text, Else: a.Else, Field: true, Bare: a.Bare, Name: a.Name}
		if (a.Text != nil) != text && !a.Else {
			fail("an alternative of %q compares a number with a text", c.m.Fields[fi].Schema.Name)
		}
		if a.Body == nil {
			continue
		}
		c.inside(a.Body, func() {
			c.enterRange(first[i], first[i+1])
			inner := &scope{}
			c.fieldsOf(inner, a.Body)
			c.wire(inner, a.Body, depth+1)
			c.variants(inner, a.Body, fi, depth+1)
			c.flush(inner)
			inner.body.Size = bodySize(inner.body.Parts)
			x.Body = inner.body
		})
	}
	if len(p.Cases) == 2 && p.Cases[1].Else {
		p.Cases[1].Not = &p.Cases[0]
	}
	c.parts += len(p.Cases)
	p.Size = c.fieldChoiceSize(p.Cases)
	c.addPart(sc, p)
}

// selector returns the register that selects the alternatives of a choice, and whether it is that of a text.
func (c *compiler) selector(sc *scope, fi int, t *schema.Choice) (reg int, text bool) {
	name := c.m.Fields[fi].Schema.Name
	if t.On == nil {
		if reg = int(c.regs[fi].present); reg == None {
			fail("choice %q has no number that selects", name)
		}
		return reg, false
	}
	if t.On.Op == schema.Ref && t.On.Part == "" {
		f := c.fieldOf(t.On.Field)
		if _, list := t.On.Field.Type.(*schema.List); list {
			if reg = int(c.regs[f].count); reg != None {
				return reg, false
			}
			return c.let(sc, t.On), false
		}
		if reg = int(c.regs[f].value); reg == None {
			fail("choice %q depends on %q, which is not an earlier number or text", name, t.On.Field.Name)
		}
		return reg, t.On.Kind() == schema.TextExpr
	}
	return c.let(sc, t.On), t.On.Kind() == schema.TextExpr
}

// let adds the computation of an expression, and returns its register.
func (c *compiler) let(sc *scope, e *schema.Expr) (reg int) {
	if e == nil {
		fail("a computed number without an expression")
	}
	c.flush(sc)
	p := newPart(Let, None)
	var x Expr
	c.steps(&x, e)
	if x.Kind() == schema.FloatExpr {
		fail("a size, a position or a condition that is a float")
	}
	p.Reg = c.addReg(schema.Value, None, Place{Bits: 64})
	p.Expr, c.m.Regs[p.Reg].Expr = &x, &x
	c.addPart(sc, p)
	return p.Reg
}

// computed adds a number that is computed and shown.
func (c *compiler) computed(sc *scope, fi int, t *schema.Number) {
	c.unresolved(t.Min, t.Max)
	if t.Kind == schema.Float && t.Bits != 64 || t.Scale != 0 || t.Add != 0 || t.Absent || t.Var != schema.Sized {
		fail("number %q is computed, and not a plain integer or a float of 64 bits", c.m.Fields[fi].Schema.Name)
	}
	c.flush(sc)
	p := newPart(Computed, fi)
	p.Expr = &Expr{}
	c.steps(p.Expr, t.Expr)
	switch kind := p.Expr.Kind(); {
	case kind == schema.TextExpr, kind == schema.FloatExpr && t.Kind != schema.Float:
		fail("number %q is computed from a text or a float", c.m.Fields[fi].Schema.Name)
	case kind == schema.IntExpr && t.Kind == schema.Float:
		fail("float %q is computed from an integer", c.m.Fields[fi].Schema.Name)
	}
	if p.Reg = int(c.regs[fi].value); p.Reg == None {
		p.Reg = c.addReg(schema.Value, fi, Place{Bits: t.Bits})
		c.regs[fi].value, c.m.Regs[p.Reg].Type = int32(p.Reg), t
	}
	p.Items = []Item{{Kind: schema.Value, Field: fi, Bits: t.Bits, Type: t, Reg: p.Reg}}
	c.addPart(sc, p)
}

// computedText adds a text or bytes that are computed and shown.
func (c *compiler) computedText(sc *scope, fi int, value *schema.Expr) {
	f := c.m.Fields[fi].Schema
	if t, ok := f.Type.(*schema.Text); ok && t.Charset != schema.UTF8 {
		fail("text %q is computed, and not in UTF-8", f.Name)
	}
	c.flush(sc)
	p := newPart(Computed, fi)
	p.Expr, p.Unit, p.Reg = &Expr{}, 1, c.textReg(fi)
	if c.steps(p.Expr, value); p.Expr.Kind() != schema.TextExpr {
		fail("text %q is computed from a number", f.Name)
	}
	c.addPart(sc, p)
}

// steps appends an expression in postfix order.
func (c *compiler) steps(out *Expr, e *schema.Expr) {
	if len(e.Args) != e.Op.Operands() {
		fail("an operation with %d operands", len(e.Args))
	}
	switch {
	case c.m.Begin == None && e.Op == schema.Add && isStart(e.Args[0]): // 0
		c.steps(out, e.Args[1])
		return
	case c.m.Begin == None && e.Op == schema.Sub && isStart(e.Args[1]):
		c.steps(out, e.Args[0])
		return
	}
	kinds := [3]schema.ExprKind{}
	isBytes := e.Bytes
	for i, a := range e.Args {
		c.steps(out, a)
		kinds[i] = out.Kind()
		isBytes = isBytes || kinds[i] == schema.TextExpr && (*out)[len(*out)-1].Bytes
	}
	s := Step{Op: e.Op, Int: e.Int, Float: e.Float, Text: []byte(e.Text), Set: e.Set, Reg: None, Field: None, Bytes: isBytes && e.Op != schema.Characters}
	switch s.Op {
	case schema.Ref:
		c.ref(&s, e)
	case schema.Begin, schema.End:
		c.around(&s, e.Field)
	case schema.Index, schema.Element, schema.Least, schema.Greatest:
		c.element(&s, e, kinds[0])
	default:
		s.operands(kinds)
	}
	*out = append(*out, s)
}

// isStart reports whether an expression is where the contents begin.
func isStart(e *schema.Expr) bool { return e.Op == schema.Begin && e.Field == nil }

// operands sets the kinds of an operation.
func (s *Step) operands(kinds [3]schema.ExprKind) {
	a, b, of := kinds[0], kinds[1], schema.IntExpr
	text := schema.TextExpr
	valid := true
	switch s.Op {
	case schema.FloatLiteral:
		s.Kind = schema.FloatExpr
	case schema.TextLiteral:
		s.Kind = text
	case schema.Neg:
		of, s.Kind, valid = a, a, a != text
	case schema.Add:
		of = max(a, b)
		s.Kind, valid = of, (a == text) == (b == text)
	case schema.Sub, schema.Mul, schema.Div, schema.Mod:
		of = max(a, b)
		s.Kind, valid = of, of != text
	case schema.Equal, schema.NotEqual, schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual:
		of = max(a, b)
		valid = (a == text) == (b == text)
	case schema.If:
		of = max(b, kinds[2])
		s.Kind, valid = of, a == schema.IntExpr && (b == text) == (kinds[2] == text)
	case schema.LengthOf, schema.Reverse, schema.Characters:
		if of, valid = text, a == text; s.Op != schema.LengthOf {
			s.Kind = text
		}
	case schema.ToInt:
		of, valid = a, b == schema.IntExpr
	case schema.ToText:
		s.Kind, valid = text, a == schema.IntExpr
	case schema.ByteOf:
		s.Kind, s.Bytes, valid = text, true, a == schema.IntExpr
	case schema.Slice:
		of, s.Kind, valid = text, text, a == text && b == schema.IntExpr && kinds[2] == schema.IntExpr
	case schema.ByteAt:
		of, valid = text, a == text && b == schema.IntExpr
	default:
		valid = max(a, b, kinds[2]) == schema.IntExpr
	}
	if s.Of = of; !valid {
		fail("an expression has operands of kinds that %q does not have", s.Op.Name())
	}
}

// ref sets the operand that is the value of a field.
func (c *compiler) ref(s *Step, e *schema.Expr) {
	s.Field = c.fieldOf(e.Field)
	if _, list := e.Field.Type.(*schema.List); list && c.regs[s.Field].count != None {
		s.Reg = int(c.regs[s.Field].count)
		return
	} else if s.Reg = int(c.regs[s.Field].node); list && s.Reg != None {
		s.Listed = true
		return
	}
	if s.Reg = int(c.regs[s.Field].value); s.Reg == None {
		fail("an expression depends on %q, which is not an earlier number, text or bytes", e.Field.Name)
	}
	s.typed(e.Field, e.Part)
}

// typed sets the kind of the value of a field.
func (s *Step) typed(f *schema.Field, part string) {
	switch t := f.Type.(type) {
	case *schema.Number:
		switch {
		case t.Kind == schema.Float || t.Scale != 0:
			s.Kind, s.Num = schema.FloatExpr, t
		case t.Kind == schema.Signed:
			s.Bits = t.Bits
		}
		s.Add, s.Truth = t.Add, t.Kind == schema.Bool
	case *schema.Bitfield:
		if part != "" && part != t.All {
			if s.Part = t.Forms[len(t.Forms)-1].Part(part); s.Part == nil {
				fail("%q has no part %q", f.Name, part)
			}
		}
	case *schema.Text:
		s.Kind, s.Set = schema.TextExpr, t.Charset
	case *schema.Blob:
		s.Kind, s.Bytes = schema.TextExpr, true
	default:
		fail("an expression depends on %q, which is not a number", f.Name)
	}
}

// element sets the operand that is about an element of a list.
func (c *compiler) element(s *Step, e *schema.Expr, number schema.ExprKind) {
	s.Field = c.fieldOf(e.Field)
	if s.Op == schema.Index {
		if s.Reg = int(c.regs[s.Field].index); s.Reg == None {
			fail("an expression depends on the number of the element of %q, and is not in it", e.Field.Name)
		}
		return
	}
	list, ok := e.Field.Type.(*schema.List)
	if s.Reg = int(c.regs[s.Field].node); !ok || s.Reg == None || list.Linked || number != schema.IntExpr {
		fail("an expression depends on an element of %q, which is not an earlier list of adjacent elements", e.Field.Name)
	}
	if s.Inner = c.m.within(s.Field, e.Inner); s.Inner == None {
		fail("an expression depends on a field that elements of %q do not have", e.Field.Name)
	}
	s.typed(e.Inner, e.Part)
}

// within returns the first field with a schema inside a list, but not in a list inside it; None if there is none.
func (m *Message) within(list int, f *schema.Field) int {
	for i := list + 1; i < m.Fields[list].End; {
		if m.Fields[i].Schema == f {
			return i
		}
		if _, inner := m.Fields[i].Schema.Type.(*schema.List); inner {
			i = m.Fields[i].End
		} else {
			i++
		}
	}
	return None
}

// around sets the operand that is about the bytes of a group with a size, or about the message.
func (c *compiler) around(s *Step, f *schema.Field) {
	switch {
	case f == nil && s.Op == schema.End:
		if c.m.Whole == None {
			c.m.Whole = c.addReg(schema.Value, None, Place{Bits: 64})
		}
		s.Reg = c.m.Whole
		return
	case f == nil && c.m.Begin == None:
		s.Op = schema.Literal
		return
	case f == nil:
		s.Reg = c.m.Begin
		return
	}
	s.Field = c.fieldOf(f)
	if s.Reg = int(c.regs[s.Field].begin); s.Op == schema.End {
		s.Reg = int(c.regs[s.Field].end)
	}
	if s.Reg == None {
		fail("an expression depends on where %q begins or ends, which has no size or is not earlier", f.Name)
	}
}
