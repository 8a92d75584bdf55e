package emit

import (
	_ "embed"
	"fmt"
	"go/format"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

//go:embed support_go.txt
var goSupport string

// goReserved are words that a name at package level cannot have: keywords, predeclared names that the code uses, packages, and
// what goSupport declares.
var goReserved = keywords(`break case chan const continue default defer else fallthrough for func go goto if import interface map
	package range return select struct switch type var bool byte error false float32 float64 int int8 int16 int32 int64 len make max
	min nil rune string true uint uint8 uint16 uint32 uint64 append copy any init main _ binary errors fmt math slices strconv utf8
	Incomplete Illegal Message Messages reader newReader load store signed writer upToZero decode16 encode16 decodeLatin1`)

// emitGo writes a Go package of one file.
func emitGo(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, false)
	g := &goTarget{plan: p, types: map[*record]string{}, fields: map[*member]string{}, top: newNames(false, goReserved...)}
	pkg := newNames(false, goReserved...).take(strings.ToLower(o.name()))
	for _, m := range p.messages { // messages first: they keep their names
		g.types[m.record] = g.top.take(camel(m.record.want))
	}
	for _, r := range p.records {
		if g.types[r] == "" {
			g.types[r] = g.top.take(camel(r.want))
		}
		own := newNames(false, "Read", "Append", "read", "write")
		for _, m := range r.members {
			g.fields[m] = own.take(camel(m.name))
		}
		if r.parts > 0 {
			g.extra(r, &g.parts, own, "Parts")
		}
		if r.choice {
			g.extra(r, &g.choices, own, "Alternative")
		}
	}
	for _, r := range p.records {
		g.record(r)
	}
	g.dispatch()
	var out strings.Builder
	out.WriteString(head("// ", "go", s, p.losses))
	fmt.Fprintf(&out, "\npackage %s\n\nimport (\n\"encoding/binary\"\n\"errors\"\n\"fmt\"\n\"math\"\n\"slices\"\n\"strconv\"\n\"unicode/utf8\"\n)\n\n", pkg)
	out.WriteString(g.b.String())
	out.WriteString(goSupport)
	out.WriteString("\n// The packages are used even where the messages do not need them.\nvar (\n_ = binary.LittleEndian\n_ = math.Float64bits\n_ = slices.Clone[[]byte]\n)\n")
	text, err := format.Source([]byte(out.String()))
	if err != nil {
		panic("emit go: " + err.Error() + "\n" + out.String()) // a bug: what is written must be Go
	}
	files := []File{{Name: pkg + ".go", Text: string(text)}}
	if list := p.vectors(o.Vectors); len(list) > 0 {
		files = append(files, g.vectors(pkg, list))
	}
	return files, p.losses
}

type goTarget struct {
	code
	plan    *plan
	top     *names
	types   map[*record]string
	fields  map[*member]string
	parts   map[*record]string // names of the members that say how much is there
	choices map[*record]string
	loops   int
}

func (g *goTarget) extra(r *record, to *map[*record]string, own *names, want string) {
	if *to == nil {
		*to = map[*record]string{}
	}
	(*to)[r] = own.take(want)
}

// goNumber is the type of a number.
func goNumber(n *schema.Number) string {
	switch {
	case n.Kind == schema.Bool:
		return "bool"
	case n.Scale != 0:
		return "float64"
	case n.Kind == schema.Float:
		return "float" + strconv.Itoa(n.Bits)
	case n.Kind == schema.Signed:
		return "int" + strconv.Itoa(wide(n.Bits))
	}
	return "uint" + strconv.Itoa(wide(n.Bits))
}

// wide is the width of the smallest integer of a common type that holds so many bits.
func wide(bits int) int {
	for _, n := range []int{8, 16, 32} {
		if bits <= n {
			return n
		}
	}
	return 64
}

// typ is a type. r is the record of the groups and elements in it.
func (g *goTarget) typ(t schema.Type, r *record) string {
	switch t := t.(type) {
	case *schema.Number:
		return goNumber(t)
	case *schema.Packed:
		return "struct{ " + strings.Join(g.packedFields(t), "; ") + " }"
	case *schema.Text:
		return "string"
	case *schema.Blob:
		if t.Size == schema.Fixed {
			return fmt.Sprintf("[%d]byte", t.N)
		}
		return "[]byte"
	case *schema.List:
		dims := "[]"
		if t.Size == schema.Fixed {
			dims = fmt.Sprintf("[%d]", t.N)
		}
		if t.Bare {
			return dims + g.typ(t.Elem.Fields[0].Type, r)
		}
		return dims + g.types[r]
	}
	return g.types[r]
}

// packedNames are the identifiers of the parts of a packed number.
func packedNames(t *schema.Packed, style func(string) string) []string {
	own := newNames(false)
	var out []string
	for _, name := range t.Names {
		out = append(out, own.take(style(name)))
	}
	return out
}

// packedPart is how wide a part is at most, and whether it is a truth value.
func packedPart(t *schema.Packed, name string) (bits int, truth bool) {
	for _, f := range t.Forms {
		for _, p := range f.Parts {
			if p.Name == name {
				bits, truth = max(bits, p.Bits), p.Kind == schema.Bool
			}
		}
	}
	return max(bits, 1), truth
}

func (g *goTarget) packedFields(t *schema.Packed) []string {
	var out []string
	for i, name := range packedNames(t, camel) {
		bits, truth := packedPart(t, t.Names[i])
		typ := "bool"
		if !truth {
			typ = "uint" + strconv.Itoa(wide(bits))
		}
		out = append(out, fmt.Sprintf("%s %s `json:%q`", name, typ, t.Names[i]))
	}
	return out
}

func (g *goTarget) record(r *record) {
	name := g.types[r]
	g.enums(r, name)
	switch m := r.message; {
	case m == nil:
		g.line("// %s is a part of messages.", name)
	case m.m.HasKey:
		g.line("// %s is the message %s, code %d.", name, m.name, m.m.Key.Code)
	default:
		g.line("// %s is the message %s. The definitions do not tell its code.", name, m.name)
	}
	if r.doc != "" {
		g.line("//")
		g.doc("// ", r.doc)
	}
	g.open("type %s struct {", name)
	seen := map[string]bool{}
	for _, m := range r.members {
		g.member(r, m, seen[m.name] && m.alt)
		seen[m.name] = true
	}
	if r.parts > 0 {
		g.line("%s int // how many of the %d parts at the end are there", g.parts[r], r.parts)
	}
	if r.choice {
		g.line("%s int // which alternative follows, counted from 1; 0 is none", g.choices[r])
	}
	g.shut("}")
	g.line("")
	if m := r.message; m != nil {
		g.message(m, name)
	} else if r.element {
		g.reading(r, name)
		g.writing(r, name)
	}
}

// member writes one member. again: there is another one of its name, in another alternative.
func (g *goTarget) member(r *record, m *member, again bool) {
	var words []string
	if m.field != nil && m.field.TypeText != "" {
		words = append(words, m.field.TypeText)
	}
	if m.part > 0 {
		words = append(words, fmt.Sprintf("there if %s is %d or more", g.parts[r], m.part))
	}
	if m.alt {
		words = append(words, "in some alternatives")
	}
	if m.isBook {
		words = append(words, map[schema.ItemKind]string{
			schema.Code: "the code of the message", schema.Counter: "running number of the message", schema.Check: "checksum, as it is on the wire",
		}[m.book])
	}
	if m.field != nil && m.field.Doc != "" {
		words = append(words, m.field.Doc)
	}
	comment := ""
	if len(words) > 0 {
		comment = " // " + oneLine(strings.Join(words, ": "))
	}
	tag := "`json:\"-\"`"
	switch plain := !strings.ContainsAny(m.name, "`\"\\,"); {
	case again:
		tag = fmt.Sprintf("`json:\"-\" wire:%q`", m.name)
	case m.field != nil && plain:
		tag = fmt.Sprintf("`json:%q`", m.name)
	}
	g.line("%s %s %s%s", g.fields[m], g.typ(m.typ, m.record), tag, comment)
}

// enums writes the names of values as constants.
func (g *goTarget) enums(r *record, typ string) {
	for _, m := range r.members {
		n, ok := m.typ.(*schema.Number)
		if !ok || n.Enum == nil || len(n.Enum.Values) == 0 || n.Kind == schema.Float || n.Kind == schema.Bool || n.Scale != 0 {
			continue
		}
		g.line("// The values of %s.%s that have names.", typ, g.fields[m])
		g.open("const (")
		for _, v := range n.Enum.Values {
			value := strconv.FormatUint(v.Value, 10)
			if n.Kind == schema.Signed {
				value = n.Decimal(v.Value)
			}
			g.line("%s %s = %s", g.top.take(typ+camel(m.name)+camel(v.Name)), goNumber(n), value)
		}
		g.shut(")")
		g.line("")
	}
}

// message writes the two methods of a message.
func (g *goTarget) message(m *message, name string) {
	g.line("// Read reads the message at the start of data and returns the number of its bytes.")
	g.open("func (m *%s) Read(data []byte) (n int, err error) {", name)
	g.line("r := newReader(data, %d)", m.header)
	if l := m.length; l != nil {
		g.open("if len(data) < %d {", (l.off+l.bits+7)/8)
		g.line("return 0, Incomplete")
		g.shut("}")
		g.line("size := load(data, %d, %d, %v)", l.off, l.bits, l.order == schema.Big)
		g.open("if size < %d {", m.header)
		g.line("return 0, fmt.Errorf(\"%%w: its length is %%d\", Illegal, size)")
		g.shut("}")
		g.open("if size > uint64(len(data)) {")
		g.line("return 0, Incomplete")
		g.shut("}")
		g.line("r = newReader(data[:size], %d)", m.header)
		g.line("r.framed = true")
	}
	if c := m.code; c != nil && m.m.HasKey {
		g.open("if len(r.data) < %d {", (c.off+c.bits+7)/8)
		g.line("return 0, Incomplete")
		g.shut("}")
		g.open("if code := load(r.data, %d, %d, %v); code != %d {", c.off, c.bits, c.order == schema.Big, m.m.Key.Code)
		g.line("return 0, fmt.Errorf(\"%%w: its code is %%d\", Illegal, code)")
		g.shut("}")
	}
	if m.m.Measured {
		g.line("r.measured, r.size = true, %s", m.min)
		g.open("if !r.sized() {")
		g.line("return 0, r.err")
		g.shut("}")
	}
	g.line("*m = %s{}", name)
	g.line("m.read(&r)")
	if m.length != nil {
		g.line("r.pos = len(r.data)")
	}
	g.open("if r.err != nil {")
	g.line("return 0, r.err")
	g.shut("}")
	g.line("return r.pos, nil")
	g.shut("}")
	g.line("")
	g.reading(m.record, name)
	g.line("// Append appends the bytes of the message to dst.")
	g.open("func (m *%s) Append(dst []byte) ([]byte, error) {", name)
	g.line("w := writer{b: dst, base: len(dst), last: -1}")
	g.line("m.write(&w)")
	g.lengths(m)
	if l := m.length; l != nil {
		g.open("if w.err == nil {")
		g.line("w.put(w.base, %d, %d, %v, uint64(len(w.b)-w.base), \"length\")", l.off, l.bits, l.order == schema.Big)
		g.shut("}")
	}
	g.line("return w.close(dst)")
	g.shut("}")
	g.line("")
	g.writing(m.record, name)
}

// lengths judges whether a message that was written has a size that leads to its alternative.
func (g *goTarget) lengths(m *message) {
	for i := range m.record.steps {
		st := &m.record.steps[i]
		if st.kind != stepChoice || !m.record.choice {
			continue
		}
		g.line("found := 0")
		g.line("switch size := len(w.b) - w.base; {")
		for k, ch := range st.cases {
			if ch.field == nil {
				g.line("case %s:", lengthIs(ch, "size"))
				g.line("found = %d", k+1)
			}
		}
		g.line("}")
		g.open("if %s {", g.byLength(st, "m."+g.choices[m.record]))
		g.line("w.illegal(\"Alternative\", \"a message of this size has another one\")")
		g.shut("}")
	}
}

// byLength is true if the alternative that was written is one by length, or none, and not the one that was found.
func (g *goTarget) byLength(st *step, chosen string) string {
	cond := "found != " + chosen
	for k, ch := range st.cases {
		if ch.field != nil {
			cond += fmt.Sprintf(" && %s != %d", chosen, k+1)
		}
	}
	return cond
}

// lengthIs is the condition of an alternative.
func lengthIs(ch choice, size string) string {
	switch {
	case ch.max == 0 && ch.min == 0:
		return size + " >= 0"
	case ch.max == 0:
		return fmt.Sprintf("%s >= %d", size, ch.min)
	case ch.max == ch.min:
		return fmt.Sprintf("%s == %d", size, ch.min)
	}
	return fmt.Sprintf("%s >= %d && %s <= %d", size, ch.min, size, ch.max)
}

func (g *goTarget) reading(r *record, name string) {
	g.open("func (m *%s) read(r *reader) {", name)
	g.loops = 0
	g.readSteps(r, r.steps, "m")
	g.shut("}")
	g.line("")
}

func (g *goTarget) writing(r *record, name string) {
	g.open("func (m *%s) write(w *writer) {", name)
	g.loops = 0
	g.writeSteps(r, r.steps, "m")
	g.shut("}")
	g.line("")
}

// place is the expression of a value.
func (g *goTarget) place(base string, at path) string {
	for _, m := range at {
		if m != nil {
			base += "." + g.fields[m]
		}
	}
	return base
}

func (g *goTarget) loop() string {
	g.loops++
	return strconv.Itoa(g.loops)
}

func (g *goTarget) readSteps(r *record, steps []step, base string) {
	for i := range steps {
		for k := range steps[i].items { // what is read under a condition is needed under the next one
			switch it := &steps[i].items[k]; {
			case steps[i].part == 0 || it.local == nil:
			case it.kind == schema.Count:
				g.line("var n%d int", it.local.id)
			default:
				g.line("var at%d int", it.local.id)
			}
		}
	}
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			g.open("if r.more() {")
			g.line("%s.%s = %d", base, g.parts[r], st.part)
		}
		switch st.kind {
		case stepBlock:
			g.readBlock(st, base)
		case stepRun:
			g.readRun(st, base)
		case stepList:
			g.readList(r, st, base)
		case stepWeave:
			for k := range st.lists {
				g.readList(r, &st.lists[k], base)
			}
		case stepChoice:
			g.readChoice(r, st, base)
		}
		if st.part > 0 {
			g.shut("}")
		}
	}
}

// goRaw reads the bits of an item from the block b: an unsigned integer of the returned width.
func goRaw(b string, it *item) (string, int) {
	at := it.off / 8
	if it.off%8 == 0 {
		order := "Little"
		if it.order == schema.Big {
			order = "Big"
		}
		switch it.bits {
		case 8:
			return fmt.Sprintf("%s[%d]", b, at), 8
		case 16, 32, 64:
			if at == 0 {
				return fmt.Sprintf("binary.%sEndian.Uint%d(%s)", order, it.bits, b), it.bits
			}
			return fmt.Sprintf("binary.%sEndian.Uint%d(%s[%d:])", order, it.bits, b, at), it.bits
		}
	}
	return fmt.Sprintf("load(%s, %d, %d, %v)", b, it.off, it.bits, it.order == schema.Big), 64
}

// convert makes an unsigned integer of one width another type.
func convert(expr string, width int, to string) string {
	if to == "uint"+strconv.Itoa(width) {
		return expr
	}
	return to + "(" + expr + ")"
}

func (g *goTarget) readBlock(st *step, base string) {
	b := "b" + g.loop()
	counts := false
	for i := range st.items {
		counts = counts || st.items[i].kind == schema.Count
	}
	switch {
	case st.bits == 0:
		b = "[]byte{}"
	case !reads(st.items):
		g.open("if r.take(%d) == nil {", st.bits/8)
		g.line("return")
		g.shut("}")
		return
	default:
		g.line("%s := r.take(%d)", b, st.bits/8)
		g.open("if %s == nil {", b)
		g.line("return")
		g.shut("}")
	}
	set := ":="
	if st.part > 0 {
		set = "="
	}
	for i := range st.items {
		it := &st.items[i]
		raw, width := goRaw(b, it)
		switch it.kind {
		case schema.Count:
			lo, hi := bounds(it.ext)
			g.line("n%d %s r.count(%s, %s, %s, %s, %q)", it.local.id, set, convert(raw, width, "uint64"), lo, hi, it.unit, it.label)
		case schema.Offset:
			g.line("at%d %s int(%s) // %s", it.local.id, set, raw, oneLine(it.label))
		}
	}
	if counts {
		g.open("if !r.sized() {")
		g.line("return")
		g.shut("}")
	}
	for i := range st.items {
		g.readItem(b, &st.items[i], base)
	}
}

// reads reports whether anything is done with the bytes of a block.
func reads(items []item) bool {
	for i := range items {
		switch items[i].kind {
		case schema.Value, schema.Count, schema.Offset, schema.Const, schema.Counter, schema.Check:
			return true
		case schema.Code:
			if items[i].path != nil {
				return true
			}
		}
	}
	return false
}

// bounds are the legal numbers of units.
func bounds(e schema.Extent) (lo, hi string) {
	lo, hi = "0", "1<<64-1"
	if e.Min != nil {
		lo = strconv.FormatUint(e.Min.Uint, 10)
	}
	if e.Max != nil {
		hi = strconv.FormatUint(e.Max.Uint, 10)
	}
	return lo, hi
}

// bytesOf is an expression for a part of a block.
func bytesOf(b string, it *item) string {
	return fmt.Sprintf("%s[%d:%d]", b, it.off/8, (it.off+it.bits)/8)
}

func (g *goTarget) readItem(b string, it *item, base string) {
	switch it.kind {
	case schema.Const:
		g.open("if string(%s) != %q {", bytesOf(b, it), it.bytes)
		g.line("r.illegal(%q, \"bytes that must be others\")", fmt.Sprintf("% x", it.bytes))
		g.line("return")
		g.shut("}")
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.path != nil {
			raw, width := goRaw(b, it)
			g.line("%s = %s", g.place(base, it.path), convert(raw, width, "uint"+strconv.Itoa(wide(it.bits))))
		}
		return
	case schema.Value:
	default:
		return
	}
	to := g.place(base, it.path)
	switch t := it.typ.(type) {
	case *schema.Number:
		g.readNumber(b, it, t, to)
	case *schema.Packed:
		g.readPacked(b, it, t, to)
	case *schema.Text:
		bytes := bytesOf(b, it)
		if !exact(t) {
			bytes = fmt.Sprintf("upToZero(%s, %d)", bytes, t.Charset.Unit())
		}
		g.line("%s = %s", to, goText(t.Charset, bytes))
	case *schema.Blob:
		g.line("copy(%s[:], %s)", to, bytesOf(b, it))
	}
}

// exact reports whether a fixed text has all its characters always, be they zeros.
func exact(t *schema.Text) bool {
	return t.Min != nil && t.Min.Const == "" && t.Min.Uint == uint64(t.N)
}

// goText makes text of bytes.
func goText(set schema.Charset, bytes string) string {
	switch set {
	case schema.UTF16LE:
		return "decode16(" + bytes + ")"
	case schema.Latin1:
		return "decodeLatin1(" + bytes + ")"
	}
	return "string(" + bytes + ")"
}

// goInteger is an integer of the type that holds it, from its bits.
func goInteger(raw string, width int, n *schema.Number) string {
	bits := wide(n.Bits)
	if n.Kind != schema.Signed {
		return convert(raw, width, "uint"+strconv.Itoa(bits))
	}
	if n.Bits == bits {
		return fmt.Sprintf("int%d(%s)", bits, raw)
	}
	return fmt.Sprintf("int%d(signed(%s, %d))", bits, convert(raw, width, "uint64"), n.Bits)
}

func (g *goTarget) readNumber(b string, it *item, n *schema.Number, to string) {
	raw, width := goRaw(b, it)
	value := ""
	switch n.Kind {
	case schema.Float:
		value = fmt.Sprintf("math.Float%dfrombits(%s)", n.Bits, convert(raw, width, "uint"+strconv.Itoa(n.Bits)))
	case schema.Bool:
		value = raw
	default:
		value = goInteger(raw, width, n)
	}
	if cond := goRange(n, "v"); cond != "" {
		g.open("if v := %s; !(%s) {", value, cond)
		g.line("r.illegal(%q, \"the value is outside its legal range\")", it.label)
		g.line("return")
		g.shut("}")
	}
	switch {
	case n.Kind == schema.Bool:
		value += " != 0"
	case n.Scale != 0:
		value = fmt.Sprintf("float64(%s) * %s", value, floatText(n.Scale))
	}
	g.line("%s = %s", to, value)
}

// floatText is a float that reads back to the same one.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// goRange is the condition that a value is legal, "" if all are. NaN is in no range.
func goRange(n *schema.Number, v string) string {
	var parts []string
	limit := func(l *schema.Limit, op string, all uint64) {
		if l == nil {
			return
		}
		switch n.Kind {
		case schema.Float:
			parts = append(parts, fmt.Sprintf("float64(%s) %s %s", v, op, floatLiteral(l.Float)))
		case schema.Signed:
			parts = append(parts, fmt.Sprintf("int64(%s) %s %d", v, op, l.Int))
		default:
			if l.Uint != all {
				parts = append(parts, fmt.Sprintf("uint64(%s) %s %d", v, op, l.Uint))
			}
		}
	}
	limit(n.Min, ">=", 0)
	limit(n.Max, "<=", math.MaxUint64)
	return strings.Join(parts, " && ")
}

// floatLiteral is a float in Go, infinities too.
func floatLiteral(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "math.Inf(1)"
	case math.IsInf(f, -1):
		return "math.Inf(-1)"
	}
	return floatText(f)
}

func (g *goTarget) readPacked(b string, it *item, t *schema.Packed, to string) {
	raw, width := goRaw(b, it)
	v := "v" + g.loop()
	g.line("%s := %s", v, convert(raw, width, "uint64"))
	names := packedNames(t, camel)
	g.line("switch {")
	for i, f := range t.Forms {
		if i == len(t.Forms)-1 {
			g.line("default:")
		} else {
			g.line("case %s&%#x == %#x: // %s", v, f.Mask, f.Match, oneLine(f.When))
		}
		g.depth++
		for k, name := range t.Names {
			for _, p := range f.Parts {
				if p.Name != name {
					continue
				}
				part := fmt.Sprintf("%s>>%d&%#x", v, p.Shift, schema.Mask(p.Bits))
				bits, truth := packedPart(t, name)
				if truth {
					g.line("%s.%s = %s != 0", to, names[k], part)
				} else {
					g.line("%s.%s = uint%d(%s)", to, names[k], wide(bits), part)
				}
			}
		}
		g.depth--
	}
	g.line("}")
}

// at is the local with a step's offset, -1 if it stands where the cursor is.
func (st *step) at() string {
	if st.offset == nil {
		return "-1"
	}
	return "at" + strconv.Itoa(st.offset.id)
}

func (g *goTarget) readRun(st *step, base string) {
	to := g.place(base, st.path)
	label := st.items[0].label
	var ext schema.Extent
	unit, set, text := 1, schema.UTF8, false
	switch t := st.typ.(type) {
	case *schema.Text:
		ext, unit, set, text = t.Extent, t.Charset.Unit(), t.Charset, true
	case *schema.Blob:
		ext = t.Extent
	}
	bytes := ""
	switch ext.Size {
	case schema.Counted:
		bytes = fmt.Sprintf("r.run(%s, n%d, %d, %q)", st.at(), st.count.id, unit, label)
	case schema.Terminated:
		bytes = fmt.Sprintf("r.ended(%s, %d, %q)", st.at(), unit, label)
	case schema.Fixed:
		bytes = fmt.Sprintf("r.run(%s, %d, %d, %q)", st.at(), ext.N, unit, label)
	default:
		bytes = fmt.Sprintf("r.rest(%s, %d, %q)", st.at(), unit, label)
	}
	if text {
		g.line("%s = %s", to, goText(set, bytes))
	} else {
		g.line("%s = append([]byte{}, %s...)", to, bytes)
	}
	g.failed("r")
}

func (g *goTarget) failed(v string) {
	g.open("if %s.err != nil {", v)
	g.line("return")
	g.shut("}")
}

// element reads or writes one element of a list.
func (g *goTarget) readElem(r *record, st *step, elem string) {
	if st.rec != nil {
		g.line("%s.read(r)", elem)
	} else {
		g.readSteps(r, st.elem, elem)
	}
}

func (g *goTarget) readList(r *record, st *step, base string) {
	t := st.typ.(*schema.List)
	to, label := g.place(base, st.path), st.items[0].label
	id := g.loop()
	typ := g.typ(t, st.path.record(t, st.rec))
	switch {
	case t.Size == schema.ToEnd:
		g.line("back%s := r.from(%s, %q)", id, st.at(), label)
		g.open("for r.more() {")
		g.line("start%s := r.pos", id)
		g.line("var e%s %s", id, strings.TrimPrefix(typ, "[]"))
		g.readElem(r, st, "e"+id)
		g.line("r.spend(1, 0, %q)", label)
		g.failed("r")
		g.line("%s = append(%s, e%s)", to, to, id)
		g.open("if r.pos == start%s {", id)
		g.line("break")
		g.shut("}")
		g.shut("}")
		g.line("r.back(%s, back%s)", st.at(), id)
		g.failed("r")
		return
	case t.Linked:
		g.open("if n%d > 0 && r.chain(%s, n%d, %d, %d, %v, %q) {", st.count.id, st.at(), st.count.id, st.next.off, st.next.bits, st.next.order == schema.Big, label)
		g.line("back%s, pos%s := r.pos, %s", id, id, st.at())
		g.open("if !r.room(n%d, 0, %q) {", st.count.id, label)
		g.line("return")
		g.shut("}")
		g.line("%s = make(%s, n%d)", to, typ, st.count.id)
		g.open("for i%s := range %s {", id, to)
		g.open("if r.from(pos%s, %q); r.err != nil {", id, label)
		g.line("return")
		g.shut("}")
		g.readElem(r, st, fmt.Sprintf("%s[i%s]", to, id))
		g.failed("r")
		g.line("pos%s = r.next(pos%s, %d, %d, %v)", id, id, st.next.off, st.next.bits, st.next.order == schema.Big)
		g.shut("}")
		g.line("r.pos = back%s", id)
		g.shut("}")
		g.failed("r")
		return
	}
	n := strconv.Itoa(t.N)
	if t.Size == schema.Counted {
		n = "n" + strconv.Itoa(st.count.id)
	}
	g.open("if %s > 0 {", n)
	g.line("back%s := r.from(%s, %q)", id, st.at(), label)
	g.open("if !r.room(%s, %s, %q) {", n, st.min, label)
	g.line("return")
	g.shut("}")
	if t.Size != schema.Fixed {
		g.line("%s = make(%s, %s)", to, typ, n)
	}
	g.open("for i%s := range %s {", id, to)
	g.readElem(r, st, fmt.Sprintf("%s[i%s]", to, id))
	g.failed("r")
	g.shut("}")
	g.line("r.back(%s, back%s)", st.at(), id)
	g.shut("}")
}

// record is the record of a list's elements, groups in single values too.
func (at path) record(t *schema.List, rec *record) *record {
	if rec != nil {
		return rec
	}
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] != nil {
			return at[i].record
		}
	}
	return nil
}

func (g *goTarget) readChoice(r *record, st *step, base string) {
	g.line("switch {")
	for i, ch := range st.cases {
		cond := lengthIs(ch, "len(r.data)")
		if ch.field != nil {
			cond = fmt.Sprintf("%s == %s", g.place(base, ch.field), goConstant(ch.typ, ch.value))
		}
		g.line("case %s:", cond)
		g.depth++
		if r.choice {
			g.line("%s.%s = %d", base, g.choices[r], i+1)
		}
		g.readSteps(r, ch.steps, base)
		g.depth--
	}
	g.line("}")
}

// goConstant is a value of a number's type.
func goConstant(n *schema.Number, v uint64) string {
	switch n.Kind {
	case schema.Signed:
		return n.Decimal(v)
	case schema.Bool:
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatUint(v, 10)
}

func (g *goTarget) writeSteps(r *record, steps []step, base string) {
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			g.open("if %s.%s < %d {", base, g.parts[r], st.part)
			g.line("w.end()")
			g.line("return")
			g.shut("}")
		}
		switch st.kind {
		case stepBlock:
			g.writeBlock(st, base)
		case stepRun:
			g.writeRun(st, base)
		case stepList:
			g.writeList(r, st, base)
		case stepWeave:
			g.writeWeave(r, st, base)
		case stepChoice:
			g.writeChoice(r, st, base)
		}
		if st.end {
			g.line("w.end()")
		}
	}
}

func (g *goTarget) writeBlock(st *step, base string) {
	at := "p" + g.loop()
	writes, uses := false, false // anything but zeros; a place that is filled in later
	for i := range st.items {
		switch st.items[i].kind {
		case schema.Value, schema.Const, schema.Counter, schema.Check:
			writes = true
		case schema.Code:
			writes = true
		case schema.Count, schema.Offset:
			uses = true
		}
	}
	if !writes && !uses {
		g.line("w.grow(%d)", st.bits/8)
		return
	}
	g.line("%s := w.grow(%d)", at, st.bits/8)
	for i := range st.items {
		if l := st.items[i].local; l != nil {
			g.line("%s := %s", g.localAt(l), at)
		}
	}
	for i := range st.items {
		g.writeItem(at, &st.items[i], base)
	}
}

// localAt is the variable with the place of the block in which a count or an offset stands.
func (g *goTarget) localAt(l *local) string { return "q" + strconv.Itoa(l.id) }

// put writes a number into a block.
func (g *goTarget) put(at string, it *item, value string, width int, safe bool) {
	if safe && it.off%8 == 0 && (it.bits == 8 || it.bits == 16 || it.bits == 32 || it.bits == 64) {
		if it.bits == 8 {
			g.line("w.b[%s+%d] = %s", at, it.off/8, convert(value, width, "uint8"))
			return
		}
		order := "Little"
		if it.order == schema.Big {
			order = "Big"
		}
		g.line("binary.%sEndian.PutUint%d(w.b[%s+%d:], %s)", order, it.bits, at, it.off/8, convert(value, width, "uint"+strconv.Itoa(it.bits)))
		return
	}
	g.line("w.put(%s, %d, %d, %v, %s, %q)", at, it.off, it.bits, it.order == schema.Big, convert(value, width, "uint64"), it.label)
}

func (g *goTarget) writeItem(at string, it *item, base string) {
	slot := fmt.Sprintf("w.b[%s+%d:%s+%d]", at, it.off/8, at, (it.off+it.bits)/8)
	switch it.kind {
	case schema.Const:
		g.line("copy(w.b[%s+%d:], %q)", at, it.off/8, it.bytes)
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.path != nil {
			g.put(at, it, g.place(base, it.path), wide(it.bits), it.bits == wide(it.bits))
			return
		}
		g.line("w.put(%s, %d, %d, %v, %d, %q)", at, it.off, it.bits, it.order == schema.Big, it.code, "code")
		return
	case schema.Value:
	default:
		return
	}
	from := g.place(base, it.path)
	switch t := it.typ.(type) {
	case *schema.Number:
		g.writeNumber(at, it, t, from)
	case *schema.Packed:
		g.writePacked(at, it, t, from)
	case *schema.Text:
		v := "t" + g.loop()
		g.line("%s := %s", v, goBytes(t.Charset, from, it.label))
		if exact(t) { // no text at all stands for zeros
			g.open("if len(%s) > 0 {", v)
			g.line("w.fixed(len(%s), %d, %q)", v, it.bits/8, it.label)
			g.shut("}")
		}
		g.line("w.fill(%s, %s, %q)", slot, v, it.label)
	case *schema.Blob:
		g.line("copy(%s, %s[:])", slot, from)
	}
}

// goBytes makes bytes of text.
func goBytes(set schema.Charset, text, label string) string {
	switch set {
	case schema.UTF16LE:
		return "encode16(" + text + ")"
	case schema.Latin1:
		return fmt.Sprintf("w.encodeLatin1(%s, %q)", text, label)
	}
	return "[]byte(" + text + ")"
}

func (g *goTarget) writeNumber(at string, it *item, n *schema.Number, from string) {
	raw, width, safe := "", 64, n.Bits == wide(n.Bits)
	switch {
	case n.Kind == schema.Bool:
		g.open("if %s {", from)
		g.line("store(w.b[%s:], %d, %d, %v, 1)", at, it.off, it.bits, it.order == schema.Big)
		g.shut("}")
		return
	case n.Scale != 0 && n.Kind == schema.Float && n.Bits == 32:
		raw, width = fmt.Sprintf("math.Float32bits(float32(%s * %s))", from, floatText(1/n.Scale)), 32
	case n.Scale != 0 && n.Kind == schema.Float:
		raw = fmt.Sprintf("math.Float64bits(%s * %s)", from, floatText(1/n.Scale))
	case n.Scale != 0:
		raw = fmt.Sprintf("w.scaled(%s, %s, %d, %v, %v, %v, %q)", from, floatText(1/n.Scale), n.Bits, n.Kind == schema.Signed, n.Wrap, n.Truncate, it.label)
	case n.Kind == schema.Float:
		raw, width = fmt.Sprintf("math.Float%dbits(%s)", n.Bits, from), n.Bits
	case n.Kind == schema.Signed && !safe:
		g.line("w.fits(signed(uint64(%s), %d) == int64(%s), %q)", from, n.Bits, from, it.label)
		raw = fmt.Sprintf("uint64(%s)&%#x", from, schema.Mask(n.Bits))
	default:
		raw, width = from, wide(n.Bits)
		if n.Kind == schema.Signed {
			raw, width = fmt.Sprintf("uint%d(%s)", wide(n.Bits), from), wide(n.Bits)
		}
	}
	if cond := goRange(n, "v"); cond != "" {
		v := "v" + g.loop()
		back := raw
		switch n.Kind {
		case schema.Float:
			if n.Scale != 0 {
				g.line("%s := %s", v, raw)
				raw = v
				back = fmt.Sprintf("math.Float%dfrombits(%s)", n.Bits, v)
			} else {
				back = from
			}
		case schema.Signed:
			if n.Scale != 0 {
				g.line("%s := %s", v, raw)
				raw, back = v, fmt.Sprintf("signed(%s, %d)", v, n.Bits)
			} else {
				back = from
			}
		default:
			if n.Scale != 0 {
				g.line("%s := %s", v, raw)
				raw, back = v, v
			}
		}
		g.line("w.fits(%s, %q)", goRange(n, back), it.label)
	}
	g.put(at, it, raw, width, safe)
}

func (g *goTarget) writePacked(at string, it *item, t *schema.Packed, from string) {
	v := "v" + g.loop()
	names := packedNames(t, camel)
	g.line("var %s uint64", v)
	g.line("switch {")
	for i, f := range t.Forms {
		if i == len(t.Forms)-1 {
			g.line("default:")
		} else {
			var parts []string
			for k, name := range t.Names {
				for _, p := range f.Parts {
					if p.Name == name && f.Mask>>p.Shift&schema.Mask(p.Bits) != 0 {
						parts = append(parts, fmt.Sprintf("%s<<%d", g.partBits(t, name, from+"."+names[k]), p.Shift))
					}
				}
			}
			if len(parts) == 0 {
				parts = []string{"uint64(0)"}
			}
			g.line("case (%s)&%#x == %#x: // %s", strings.Join(parts, "|"), f.Mask, f.Match, oneLine(f.When))
		}
		g.depth++
		for k, name := range t.Names {
			bits, shift := 0, 0
			for _, p := range f.Parts {
				if p.Name == name {
					bits, shift = p.Bits, p.Shift
				}
			}
			value := g.partBits(t, name, from+"."+names[k])
			if bits < 64 {
				g.line("w.fits(%s <= %#x, %q)", value, maskOf(bits), it.label+"."+name)
			}
			if bits > 0 {
				g.line("%s |= %s << %d", v, value, shift)
			}
		}
		g.depth--
	}
	g.line("}")
	g.put(at, it, v, 64, true)
}

// maskOf is mask, 0 for no bits.
func maskOf(bits int) uint64 {
	if bits == 0 {
		return 0
	}
	return schema.Mask(bits)
}

// partBits is a part of a packed number as a uint64.
func (g *goTarget) partBits(t *schema.Packed, name, from string) string {
	if _, truth := packedPart(t, name); truth {
		return "bit(" + from + ")"
	}
	return "uint64(" + from + ")"
}

// writePlace fills in the count and the offset of what comes now.
func (g *goTarget) writePlace(st *step, n string, null bool) {
	label := st.items[0].label
	ext := st.items[0].ext
	if st.count != nil {
		it := &st.count.item
		lo, hi := bounds(ext)
		g.line("w.put(%s, %d, %d, %v, w.count(%s, %s, %s, %q), %q)", g.localAt(st.count), it.off, it.bits, it.order == schema.Big, n, lo, hi, label, label)
	} else if ext.Min != nil || ext.Max != nil {
		lo, hi := bounds(ext)
		g.line("w.count(%s, %s, %s, %q)", n, lo, hi, label)
	}
	if st.offset == nil {
		return
	}
	it := &st.offset.item
	if null {
		g.open("if %s > 0 {", n)
	}
	g.line("w.put(%s, %d, %d, %v, w.here(), %q)", g.localAt(st.offset), it.off, it.bits, it.order == schema.Big, label)
	if null {
		g.shut("}")
	}
}

func (g *goTarget) writeRun(st *step, base string) {
	from, label := g.place(base, st.path), st.items[0].label
	v := "t" + g.loop()
	unit := 1
	ext := st.items[0].ext
	if t, ok := st.typ.(*schema.Text); ok {
		unit = t.Charset.Unit()
		g.line("%s := %s", v, goBytes(t.Charset, from, label))
	} else {
		g.line("%s := %s", v, from)
	}
	n := fmt.Sprintf("len(%s)", v)
	if unit > 1 {
		n += fmt.Sprintf("/%d", unit)
	}
	g.writePlace(st, n, false)
	if ext.Size == schema.Fixed {
		g.line("w.fixed(%s, %d, %q)", n, ext.N, label)
	}
	if ext.Size == schema.Terminated {
		g.line("w.ended(%s, %d, %q)", v, unit, label)
	} else {
		g.line("w.b = append(w.b, %s...)", v)
	}
}

func (g *goTarget) writeElem(r *record, st *step, elem string) {
	if st.rec != nil {
		g.line("%s.write(w)", elem)
	} else {
		g.writeSteps(r, st.elem, elem)
	}
}

func (g *goTarget) writeList(r *record, st *step, base string) {
	t := st.typ.(*schema.List)
	from := g.place(base, st.path)
	id := g.loop()
	g.writePlace(st, fmt.Sprintf("len(%s)", from), t.Linked)
	if t.Linked {
		g.line("prev%s := 0", id)
	}
	g.open("for i%s := range %s {", id, from)
	g.writeChained(r, st, fmt.Sprintf("%s[i%s]", from, id), id, "i"+id)
	g.shut("}")
}

// writeChained writes an element; in a chain also its place, in itself and in the one before.
func (g *goTarget) writeChained(r *record, st *step, elem, id, index string) {
	t := st.typ.(*schema.List)
	label := st.items[0].label
	if t.Linked {
		g.line("elem%s := len(w.b)", id)
		g.open("if %s > 0 {", index)
		g.line("w.put(prev%s, %d, %d, %v, w.here(), %q)", id, st.next.off, st.next.bits, st.next.order == schema.Big, label)
		g.shut("}")
		g.line("prev%s = elem%s", id, id)
	}
	g.writeElem(r, st, elem)
	if t.Linked {
		g.open("if w.err != nil {")
		g.line("return")
		g.shut("}")
		if st.here != nil {
			g.line("w.put(elem%s, %d, %d, %v, uint64(elem%s-w.base), %q)", id, st.here.off, st.here.bits, st.here.order == schema.Big, id, label)
		}
	}
}

// writeWeave writes the elements of several lists in turns.
func (g *goTarget) writeWeave(r *record, st *step, base string) {
	var ids, lens []string
	for k := range st.lists {
		id := g.loop()
		ids = append(ids, id)
		from := g.place(base, st.lists[k].path)
		lens = append(lens, fmt.Sprintf("len(%s)", from))
		g.line("prev%s := 0", id)
		g.writeCountOnly(&st.lists[k], fmt.Sprintf("len(%s)", from))
	}
	turn := "i" + g.loop()
	g.open("for %s := range max(%s) {", turn, strings.Join(lens, ", "))
	for k := range st.lists {
		l := &st.lists[k]
		from := g.place(base, l.path)
		g.open("if %s < len(%s) {", turn, from)
		it := &l.offset.item
		g.open("if %s == 0 {", turn)
		g.line("w.put(%s, %d, %d, %v, w.here(), %q)", g.localAt(l.offset), it.off, it.bits, it.order == schema.Big, l.items[0].label)
		g.shut("}")
		g.writeChained(r, l, fmt.Sprintf("%s[%s]", from, turn), ids[k], turn)
		g.shut("}")
	}
	g.shut("}")
}

func (g *goTarget) writeCountOnly(st *step, n string) {
	only := *st
	only.offset = nil
	g.writePlace(&only, n, false)
}

func (g *goTarget) writeChoice(r *record, st *step, base string) {
	g.line("switch {")
	for i, ch := range st.cases {
		cond := ""
		if ch.field != nil {
			cond = fmt.Sprintf("%s == %s", g.place(base, ch.field), goConstant(ch.typ, ch.value))
		} else {
			cond = fmt.Sprintf("%s.%s == %d", base, g.choices[r], i+1)
		}
		g.line("case %s:", cond)
		g.depth++
		g.writeSteps(r, ch.steps, base)
		g.depth--
	}
	g.line("}")
}

// dispatch writes the table of messages, and for every set of messages with codes a function that finds the one that comes.
func (g *goTarget) dispatch() {
	g.line("// Messages are all messages by their names in the definitions; a version other than 1 follows the name.")
	g.open("var Messages = map[string]func() Message{")
	seen := map[string]bool{}
	for _, m := range g.plan.messages {
		if !seen[m.name] {
			g.line("%q: func() Message { return new(%s) },", m.name, g.types[m.record])
		}
		seen[m.name] = true
	}
	g.shut("}")
	g.line("")
	for _, set := range g.plan.sets() {
		name := g.top.take("Read" + camel(set.want()))
		g.line("// %s reads the message at the start of data, whichever it is of %s.", name, set.String())
		g.open("func %s(data []byte) (m Message, n int, err error) {", name)
		g.open("if len(data) < %d {", (set.code.off+set.code.bits+7)/8)
		g.line("return nil, 0, Incomplete")
		g.shut("}")
		g.line("switch code := load(data, %d, %d, %v); code {", set.code.off, set.code.bits, set.code.order == schema.Big)
		for _, m := range set.messages {
			g.line("case %d:", m.m.Key.Code)
			g.line("\tm = new(%s)", g.types[m.record])
		}
		g.line("default:")
		g.line("\treturn nil, 0, fmt.Errorf(\"%%w: no message has the code %%d\", Illegal, code)")
		g.line("}")
		g.line("n, err = m.Read(data)")
		g.line("return m, n, err")
		g.shut("}")
		g.line("")
	}
}
