package emit

import (
	_ "embed"
	"fmt"
	"go/format"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

//go:embed support_go.txt
var goSupport string

//go:embed runtime/values.go
var goValues string

//go:embed runtime/runtime.go
var goRuntime string

// The packages that the code imports, and those for messages that are written by the runtime.
var (
	goImports      = keywords("encoding/binary encoding/hex encoding/json errors fmt math slices strconv unicode/utf8")
	goWiredImports = keywords("bytes compress/flate compress/gzip compress/zlib io math/bits")
)

// goBody returns the declarations of a source file, without its package and its imports.
func goBody(text string) string {
	_, text, _ = strings.Cut(text, "\n)\n")
	return text
}

// goReserved are names that are unavailable at package level: keywords, predeclared names that the code uses, packages, and the
// declarations of goSupport.
var goReserved = keywords(`break case chan const continue default defer else fallthrough for func go goto if import interface map
	package range return select struct switch type var bool byte error false float32 float64 int int8 int16 int32 int64 len make max
	min nil rune string true uint uint8 uint16 uint32 uint64 append copy any init main _ binary errors fmt math slices strconv utf8
	Incomplete Illegal Message Messages Hex Uint8s toHex unhex reader newReader load store signed writer upToZero decode16 encode16
	decodeLatin1 encodeLatin1`)

// emitGo writes a Go package of one file.
func emitGo(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, o, false, goFeatures)
	sizes := p.blobSizes()
	reserved := slices.Clone(goReserved)
	for _, n := range sizes {
		reserved = append(reserved, fmt.Sprintf("Hex%d", n))
	}
	g := &goTarget{walker: newWalker(p, &goPrints, reserved)}
	g.wire = &goWire{goTarget: g, methods: map[string]string{}, shared: map[string]string{}, count: map[string]int{}}
	g.lang = g
	pkg := newNames(false, goReserved...).take(strings.ToLower(o.name()))
	for _, m := range p.messages { // messages first, so that they keep their names
		g.types[m.record] = g.top.take(camel(m.record.want))
	}
	for _, r := range p.records {
		if g.types[r] == "" {
			g.types[r] = g.top.take(camel(r.want))
		}
		own := newNames(false, "ReadBinary", "AppendBinary")
		for _, m := range r.naming() {
			switch want := camel(m.name); {
			case m.isBook:
				g.fields[m] = own.take("Wb" + want)
			case m.nth > 0:
				g.fields[m] = own.take(fmt.Sprintf("%s_%d", want, m.nth))
			default:
				g.fields[m] = own.take(want)
			}
		}
		if r.parts > 0 {
			g.parts[r] = own.take("WbParts")
		}
		if r.choice {
			g.choices[r] = own.take("WbAlternative")
		}
	}
	for _, r := range p.records {
		g.record(r)
	}
	g.dispatch()
	var out strings.Builder
	out.WriteString(head("// ", "go", s, p.kinds()))
	imports, support := slices.Clone(goImports), goBody(goValues)+goSupport
	if slices.ContainsFunc(p.messages, func(m *message) bool { return m.wired != nil }) {
		imports, support = slices.Concat(imports, goWiredImports), support+goBody(goRuntime)
	}
	slices.Sort(imports)
	fmt.Fprintf(&out, "\npackage %s\n\nimport (\n\"%s\"\n)\n\n", pkg, strings.Join(imports, "\"\n\""))
	out.WriteString(g.b.String())
	out.WriteString(support)
	for _, n := range sizes {
		fmt.Fprintf(&out, goFixedHex, n)
	}
	out.WriteString("\n// The packages are used even where the messages do not need them.\nvar (\n_ = binary.LittleEndian\n_ = math.Float64bits\n_ = slices.Clone[[]byte]\n)\n")
	text, err := format.Source([]byte(out.String()))
	if err != nil {
		panic("emit go: " + err.Error() + "\n" + out.String()) // a bug: the output must be valid Go
	}
	files := []File{{pkg + ".go", string(text), goOwn(string(text))}}
	if list := p.vectors(o.Vectors); len(list) > 0 {
		files = append(files, g.vectors(pkg, list))
	}
	return files, p.kinds()
}

// goOwn finds the part of a formatted file between its imports and the support.
func goOwn(text string) Range {
	const imported = "\n)\n"
	start := strings.Index(text, imported) + len(imported)
	first, _, _ := strings.Cut(strings.TrimSpace(goBody(goValues)), "\n")
	return Range{start, strings.LastIndex(text, "\n"+first+"\n")}
}

type goTarget struct {
	walker
	wire *goWire
}

// goFixedHex is the type of bytes of a fixed size.
const goFixedHex = `
// Hex%[1]d is bytes, as hex in JSON.
type Hex%[1]d [%[1]d]byte

func (b Hex%[1]d) MarshalJSON() ([]byte, error) { return toHex(b[:]), nil }

// UnmarshalJSON accepts fewer bytes; the others are 0.
func (b *Hex%[1]d) UnmarshalJSON(text []byte) error {
	some, err := unhex(text)
	if err != nil || some == nil {
		return err
	}
	if len(some) > len(b) {
		return fmt.Errorf("there are %%d bytes where %%d fit", len(some), len(b))
	}
	*b = Hex%[1]d{}
	copy(b[:], some)
	return nil
}
`

// blobSizes returns the sizes of all bytes of fixed size.
func (p *plan) blobSizes() []int {
	sizes := map[int]bool{}
	var note func(m *member)
	note = func(m *member) {
		if b, ok := m.typ.(*schema.Blob); ok && b.Size == schema.Fixed {
			sizes[b.N] = true
		}
		if m.elem != nil {
			note(m.elem)
		}
		for _, k := range m.kinds {
			note(k)
		}
	}
	for _, r := range p.records {
		for _, m := range r.members {
			note(m)
		}
	}
	return slices.Sorted(maps.Keys(sizes))
}

// memberType returns the type of a member. inner: it is that of an element or of what a pointer points to.
func (g *goTarget) memberType(m *member, inner bool) string {
	out := ""
	switch t := m.typ.(type) {
	case *schema.Choice:
		switch len(m.kinds) {
		case 0:
			out = "struct{}"
		case 1:
			out = "*" + g.memberType(m.kinds[0], true)
		default:
			out = g.types[m.record]
		}
	case *schema.List:
		if out = g.typ(t, m.record); m.elem != nil && out != "Uint8s" {
			dims, _, _ := strings.Cut(out, "]")
			out = dims + "]" + g.memberType(m.elem, true)
		}
	default:
		out = g.typ(t, m.record)
	}
	if m.ptr && !inner || m.null {
		out = "*" + out
	}
	return out
}

// goNumber returns the type of a number.
func goNumber(n *schema.Number) string {
	switch {
	case n.Kind == schema.Bool:
		return "bool"
	case n.Scale != 0:
		return "float64"
	case n.Kind == schema.Float:
		return "float" + strconv.Itoa(max(n.Bits, 32))
	case n.Add != 0:
		return "int64"
	case n.Kind == schema.Signed:
		return "int" + strconv.Itoa(wide(n.Bits))
	}
	return "uint" + strconv.Itoa(wide(n.Bits))
}

// typ returns a type. r is the record of its groups and elements.
func (g *goTarget) typ(t schema.Type, r *record) string {
	switch t := t.(type) {
	case *schema.Number:
		return goNumber(t)
	case *schema.Bitfield:
		return "struct{ " + strings.Join(g.bitfieldFields(t), "; ") + " }"
	case *schema.Text:
		return "string"
	case *schema.Blob:
		if t.Size == schema.Fixed {
			return fmt.Sprintf("Hex%d", t.N)
		}
		return "Hex"
	case *schema.List:
		if t.Bare && t.Size != schema.Fixed {
			if n, ok := t.Elem.Fields[0].Type.(*schema.Number); ok && goNumber(n) == "uint8" {
				return "Uint8s"
			}
		}
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

func (g *goTarget) bitfieldFields(t *schema.Bitfield) []string {
	var out []string
	if t.All != "" {
		out = append(out, fmt.Sprintf("%s uint%d `json:%q`", goAll, wide(t.Bits), t.All))
	}
	for i, name := range g.partNames(t) {
		bits, truth := bitfieldPart(t, t.Names[i])
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
	g.named(r, g.constants)
	switch m := r.message; {
	case m == nil:
		g.line("// %s is part of messages.", name)
	case m.m.HasKey:
		g.line("// %s is the message %s, code %d.", name, m.name, m.m.Key.Code)
	default:
		g.line("// %s is the message %s. Its code is not in the definitions.", name, m.name)
	}
	if r.doc != "" {
		g.line("//")
		g.doc("// ", r.doc)
	}
	g.open("type %s struct {", name)
	seen := map[string]bool{}
	for _, m := range r.members {
		g.member(r, m, seen[m.label()] && m.alt)
		seen[m.label()] = true
	}
	if r.parts > 0 {
		g.line("%s int // number of the %d optional parts at the end that are present", g.parts[r], r.parts)
	}
	if r.choice {
		g.line("%s int // number of the alternative, from 1; 0 is none", g.choices[r])
	}
	g.shut("}")
	g.line("")
	if m := r.message; m != nil && m.wired != nil {
		g.wire.message(m)
		g.b.WriteString(g.wire.out.String())
		g.wire.out.Reset()
	} else if m != nil {
		g.message(m, name)
	} else if r.element {
		g.reading(r, name)
		g.writing(r, name)
	}
}

// member writes a member. again: another alternative has a member of the same name.
func (g *goTarget) member(r *record, m *member, again bool) {
	comment := g.words(r, m)
	if comment != "" {
		comment = " // " + comment
	}
	tag, star := "`json:\"-\"`", ""
	if r.union {
		star = "*"
	}
	switch plain := !strings.ContainsAny(m.name, "`\"\\,"); {
	case again:
		tag = fmt.Sprintf("`json:\"-\" wire:%q`", m.label())
	case m.field != nil && plain:
		tag = fmt.Sprintf("`json:%q`", m.label())
	}
	g.line("%s %s %s%s", g.fields[m], star+g.memberType(m, r.union), tag, comment)
}

// constants writes the named values.
func (g *goTarget) constants(m *member, n *schema.Number, place string) {
	typ, _, _ := strings.Cut(place, ".")
	g.line("// The named values of %s.", place)
	g.open("const (")
	for _, v := range n.Enum.Values {
		g.line("%s %s = %s", g.top.take(typ+camel(m.name)+camel(v.Name)), goNumber(n), goConstant(n, v.Value))
	}
	g.shut(")")
}

// message writes the two methods of a message.
func (g *goTarget) message(m *message, name string) {
	v := vars{"type": name, "header": m.header, "least": m.min, "pos": ""}
	lines := func(text string, more vars) func() { return func() { g.print(text, v.with(more)) } }
	v["length"], v["code"], v["measured"], v["found"], v["setLength"] = lines("", nil), lines("", nil), lines("", nil), lines("", nil), lines("", nil)
	if l := m.length; l != nil {
		place := vars{"where": where(l), "bytes": (l.off + l.bits + 7) / 8}
		v["length"], v["setLength"], v["pos"] = lines(goLength, place), lines(goSetLength, place), "r.pos = len(r.data)"
	}
	if c := m.code; c != nil && m.m.HasKey {
		v["code"] = lines(goCode, vars{"where": where(c), "bytes": (c.off + c.bits + 7) / 8, "value": m.m.Key.Code})
	}
	if m.m.Measured {
		v["measured"] = lines(goMeasured, nil)
	}
	if step := m.record.choice; step {
		v["found"] = func() { g.lengths(m) }
	}
	g.print(goRead, v)
	g.line("")
	g.reading(m.record, name)
	g.print(goAppend, v)
	g.line("")
	g.writing(m.record, name)
}

const (
	goRead = `
// ReadBinary reads the message at the start of data and returns the number of its bytes.
func (m *$type) ReadBinary(data []byte) (n int, err error) {
	r := newReader(data, $header)
	$length
	$code
	$measured
	*m = $type{}
	m.read(&r)
	$pos
	if r.err != nil {
		return 0, r.err
	}
	return r.pos, nil
}`
	goLength = `
if len(data) < $bytes {
	return 0, Incomplete
}
size := load(data, $where)
if size < $header {
	return 0, fmt.Errorf("%w: length %d", Illegal, size)
}
if size > uint64(len(data)) {
	return 0, Incomplete
}
r = newReader(data[:size], $header)
r.framed = true`
	goCode = `
if len(r.data) < $bytes {
	return 0, Incomplete
}
if code := load(r.data, $where); code != $value {
	return 0, fmt.Errorf("%w: code %d", Illegal, code)
}`
	goMeasured = `
r.measured, r.size = true, $least
if !r.sized() {
	return 0, r.err
}`
	goAppend = `
// AppendBinary appends the bytes of the message to dst.
func (m *$type) AppendBinary(dst []byte) ([]byte, error) {
	w := writer{b: dst, base: len(dst), last: -1}
	m.write(&w)
	$found
	$setLength
	return w.close(dst)
}`
	goSetLength = `
if w.err == nil {
	w.put(w.base, $where, uint64(len(w.b)-w.base), "length")
}`
)

// lengths writes a check that the size of a written message selects its alternative.
func (g *goTarget) lengths(m *message) {
	g.line("found := 0")
	g.line("switch size := len(w.b) - w.base; {")
	for k, ch := range m.record.steps[len(m.record.steps)-1].cases {
		g.line("case %s:", g.lengthIs(ch, "size"))
		g.line("found = %d", k+1)
	}
	g.line("}")
	g.open("if found != m.%s {", g.choices[m.record])
	g.line("w.illegal(\"alternative\", \"the size of the message requires another one\")")
	g.shut("}")
}

func (g *goTarget) reading(r *record, name string) {
	g.loops = 0
	g.open("func (m *%s) read(r *reader) {", name)
	g.readSteps(r, r.steps, "m")
	g.shut("}")
	g.line("")
}

func (g *goTarget) writing(r *record, name string) {
	g.loops = 0
	g.open("func (m *%s) write(w *writer) {", name)
	g.writeSteps(r, r.steps, "m")
	g.shut("}")
	g.line("")
}

var goPrints = prints{
	code:    "code",
	remark:  "// %s",
	equal:   "==",
	comment: " // $text",
	frame:   "len(r.data)",
	chain:   "switch {", first: "case $cond:$comment", next: "case $cond:$comment", last: "default:", sole: "switch {\ndefault:", end: "}",

	count:      "var $name int",
	offset:     "var $name int",
	decl:       ":",
	declAt:     ":",
	none:       "[]byte{}",
	skip:       "if r.take($bytes) == nil {\n\treturn\n}",
	take:       "b$id := r.take($bytes)\nif b$id == nil {\n\treturn\n}",
	countRead:  "$name $decl= r.count($wide, $lo, $hi, $min, $label)",
	offsetRead: "$name $decl= int($raw) // $about",
	sized:      "if !r.sized() {\n\treturn\n}",
	part:       "if r.more() {\n\t$parts = $part\n\t$body\n}",
	assign:     "$to = $value",
	checkOn:    "v",
	check:      "if v := $value; !($cond) {\n\tr.illegal($label, \"the value is outside its legal range\")\n\treturn\n}",
	checked:    "$value",
	bitfield:   "v$id := $wide",
	bitfieldAs: "$bits&$mask == $match",
	bitfieldOf: "v$id>>$shift&$mask",
	run:        "r.run($at, $n, $unit, $label)",
	ended:      "r.ended($at, $unit, $label)",
	rest:       "r.rest($at, $unit, $label)",
	list: `
if $n > 0 {
	back$id := r.from($at, $label)
	if !r.room($n, $min, $label) {
		return
	}
	$make
	for i$id := range $to {
		$element
		if r.err != nil {
			return
		}
	}
	r.back($at, back$id)
}`,
	linked: `
if $n > 0 && r.chain($at, $n, $next, $label) {
	back$id, pos$id := r.pos, $at
	if !r.room($n, 0, $label) {
		return
	}
	$make
	for i$id := range $to {
		if r.from(pos$id, $label); r.err != nil {
			return
		}
		$element
		if r.err != nil {
			return
		}
		pos$id = r.next(pos$id, $next)
	}
	r.pos = back$id
}
if r.err != nil {
	return
}`,
	toEnd: `
back$id := r.from($at, $label)
for r.more() {
	start$id := r.pos
	var $elem $elemType
	$element
	r.spend(1, 0, $label)
	if r.err != nil {
		return
	}
	$to = append($to, $elem)
	if r.pos == start$id {
		break
	}
}
r.back($at, back$id)
if r.err != nil {
	return
}`,
	element: "$elem.read(r)",

	here:         "w.here()",
	since:        "uint64(elem$id-w.base)",
	some:         "$n > 0",
	grow:         "p$id := w.grow($bytes)",
	growOnly:     "w.grow($bytes)",
	place:        "$local := $p",
	putAt:        "w.put($p, $where, $value, $label)",
	putAtIf:      "if $cond {\n\tw.put($p, $where, $value, $label)\n}",
	scale:        "v$id := w.scaled($from, $inverse, $bits, $signed, $wrap, $cut, $label)",
	fits:         "w.fits($cond, $label)",
	packing:      "var v$id uint64",
	bitfieldFrom: "$from",
	partFits:     "$bits <= $mask",
	partIs:       "$bits == $mask",
	partBits:     "$bits<<$shift",
	setPart:      "v$id |= $bits << $shift",
	counted:      "w.count($n, $lo, $hi, $label)",
	counting:     "w.count($n, $lo, $hi, $label)",
	stop:         "if $cond {\n\tw.end()\n\treturn\n}",
	over:         "w.end()",
	writeElem:    "$elem.write(w)",
	prev:         "prev$id := 0",
	later:        "$index > 0",
	elemAt:       "elem$id := len(w.b)",
	prevIs:       "prev$id = elem$id",
	broken:       "if w.err != nil {\n\treturn\n}",
	loop:         "for i$id := range $from {\n\t$body\n}",
	turns:        "for $turn := range max($lens) {\n\t$body\n}",
	turn:         "if $turn < $n {\n\t$body\n}",
}

func (g *goTarget) dot(base, name string) string           { return base + "." + name }
func (g *goTarget) value(base string, at path) string      { return g.place(base, at) }
func (g *goTarget) quote(s string) string                  { return strconv.Quote(s) }
func (g *goTarget) mask(v uint64) string                   { return fmt.Sprintf("%#x", v) }
func (g *goTarget) bounds(e schema.Extent) (lo, hi string) { return bounds(e, "1<<64-1") }
func (g *goTarget) partNames(t *schema.Bitfield) []string {
	if t.All == "" {
		return bitfieldNames(t, camel)
	}
	return bitfieldNames(t, camel, goAll)
}

func (g *goTarget) constant(n *schema.Number, v uint64) string { return goConstant(n, v) }
func (g *goTarget) pointer(*step) string                       { return "" }
func (g *goTarget) present([]step, string)                     {}
func (g *goTarget) newElem(*step, string)                      {}

// native reports whether an item is an aligned number of 8, 16, 32 or 64 bits, and returns its byte order.
func (it *item) native() (order string, ok bool) {
	return map[bool]string{true: "Big", false: "Little"}[it.order == schema.Big], it.off%8 == 0 && isNative(it.bits)
}

// goRaw returns the bits of an item of the block b, as an unsigned integer of the returned width.
func goRaw(b string, it *item) (string, int) {
	order, ok := it.native()
	switch at := it.off / 8; {
	case !ok:
		return fmt.Sprintf("load(%s, %s)", b, where(it)), 64
	case it.bits == 8:
		return fmt.Sprintf("%s[%d]", b, at), 8
	case at == 0:
		return fmt.Sprintf("binary.%sEndian.Uint%d(%s)", order, it.bits, b), it.bits
	default:
		return fmt.Sprintf("binary.%sEndian.Uint%d(%s[%d:])", order, it.bits, b, at), it.bits
	}
}

// convert converts an unsigned integer to another width.
func convert(expr string, width, to int) string {
	if to == width {
		return expr
	}
	return fmt.Sprintf("uint%d(%s)", to, expr)
}

func (g *goTarget) raw(b string, it *item) (bits, wide string) {
	raw, width := goRaw(b, it)
	return raw, convert(raw, width, 64)
}

func (g *goTarget) signed(bits string, n *schema.Number) string {
	return fmt.Sprintf("signed(%s, %d)", bits, n.Bits)
}

func (g *goTarget) load(b string, it *item, n *schema.Number) string {
	raw, width := goRaw(b, it)
	switch bits := wide(n.Bits); {
	case n.Kind == schema.Float:
		return fmt.Sprintf("math.Float%dfrombits(%s)", n.Bits, convert(raw, width, n.Bits))
	case n.Kind == schema.Bool:
		return raw
	case n.Kind != schema.Signed:
		return convert(raw, width, bits)
	case n.Bits == bits:
		return fmt.Sprintf("int%d(%s)", bits, raw)
	default:
		return fmt.Sprintf("int%d(%s)", bits, g.signed(convert(raw, width, 64), n))
	}
}

func (g *goTarget) shown(n *schema.Number, value string) string {
	switch {
	case n.Kind == schema.Bool:
		return value + " != 0"
	case n.Scale != 0:
		return fmt.Sprintf("float64(%s) * %s", value, floatText(n.Scale))
	}
	return value
}

// inRange returns the condition that a value is legal, "" if all values are. NaN is outside every range.
func (g *goTarget) inRange(n *schema.Number, v string, _ bool) string {
	typ := map[schema.NumKind]string{schema.Float: "float64", schema.Signed: "int64"}[n.Kind]
	if typ == "" {
		typ = "uint64"
	}
	return limits(n, typ+"("+v+")", "", func(f float64) string {
		if math.IsInf(f, 0) {
			return fmt.Sprintf("math.Inf(%d)", map[bool]int{true: 1, false: -1}[f > 0])
		}
		return floatText(f)
	})
}

func (g *goTarget) partOf(t *schema.Bitfield, name, bits string) string {
	if n, truth := bitfieldPart(t, name); !truth {
		return fmt.Sprintf("uint%d(%s)", wide(n), bits)
	}
	return bits + " != 0"
}

func (g *goTarget) bits(t *schema.Bitfield, name, from string, _ *item) string {
	if _, truth := bitfieldPart(t, name); truth {
		return "bit(" + from + ")"
	}
	return "uint64(" + from + ")"
}

func (g *goTarget) readConst(b string, it *item) {
	g.open("if string(%s) != %q {", bytesOf(b, it), it.bytes)
	g.line("r.illegal(%q, \"the constant bytes differ\")", fmt.Sprintf("% x", it.bytes))
	g.line("return")
	g.shut("}")
}

// bytesOf returns an expression for a part of a block.
func bytesOf(b string, it *item) string {
	return fmt.Sprintf("%s[%d:%d]", b, it.off/8, (it.off+it.bits)/8)
}

func (g *goTarget) readFixed(b string, it *item, to string) {
	t, ok := it.typ.(*schema.Text)
	if !ok {
		g.line("copy(%s[:], %s)", to, bytesOf(b, it))
		return
	}
	bytes := bytesOf(b, it)
	if !exact(t) {
		bytes = fmt.Sprintf("upToZero(%s, %d)", bytes, t.Charset.Unit())
	}
	g.line("%s = %s", to, goText(t.Charset, bytes))
}

// goText returns the conversion of bytes to text.
func goText(set schema.Charset, bytes string) string {
	switch byteWise(set) {
	case schema.UTF16LE:
		return "decode16(" + bytes + ")"
	case schema.Latin1:
		return "decodeLatin1(" + bytes + ")"
	}
	return "string(" + bytes + ")"
}

// goBytes returns the conversion of text to bytes.
func goBytes(set schema.Charset, text, label string) string {
	switch byteWise(set) {
	case schema.UTF16LE:
		return "encode16(" + text + ")"
	case schema.Latin1:
		return fmt.Sprintf("w.encodeLatin1(%s, %q)", text, label)
	}
	return "[]byte(" + text + ")"
}

func (g *goTarget) readRun(st *step, to, bytes string) {
	if t, ok := st.typ.(*schema.Text); ok {
		g.line("%s = %s", to, goText(t.Charset, bytes))
	} else {
		g.line("%s = append([]byte{}, %s...)", to, bytes)
	}
	g.print("if r.err != nil {\n\treturn\n}", nil)
}

func (g *goTarget) makeList(st *step, to, n string) {
	if st.typ.(*schema.List).Size != schema.Fixed {
		g.line("%s = make(%s, %s)", to, g.listType(st), n)
	}
}

func (g *goTarget) elem(st *step, to, id string) string {
	if st.typ.(*schema.List).Size == schema.ToEnd {
		return "e" + id
	}
	return fmt.Sprintf("%s[i%s]", to, id)
}

func (g *goTarget) float(n *schema.Number, from string) string {
	switch {
	case n.Scale != 0 && n.Bits == 32:
		return fmt.Sprintf("float32(%s * %s)", from, floatText(1/n.Scale))
	case n.Scale != 0:
		return fmt.Sprintf("%s * %s", from, floatText(1/n.Scale))
	}
	return from
}

func (g *goTarget) put(p string, it *item, n *schema.Number, value string) {
	width, safe := 64, true
	label := strconv.Quote(it.label)
	switch {
	case n == nil:
	case n.Kind == schema.Bool:
		g.print("if $from {\n\tstore(w.b[$p:], $where, 1)\n}", vars{"from": value, "p": p, "where": where(it)})
		return
	case n.Kind == schema.Float:
		value, width = fmt.Sprintf("math.Float%dbits(%s)", n.Bits, value), n.Bits
	case n.Kind == schema.Signed && n.Bits != wide(n.Bits):
		g.line("w.fits(signed(uint64(%s), %d) == int64(%s), %s)", value, n.Bits, value, label)
		value = fmt.Sprintf("uint64(%s)&%#x", value, schema.Mask(n.Bits))
	case n.Kind == schema.Signed:
		value, width = fmt.Sprintf("uint%d(%s)", n.Bits, value), n.Bits
	default:
		width = wide(n.Bits)
		safe = n.Bits == width
	}
	switch order, ok := it.native(); {
	case !ok || !safe:
		g.line("w.put(%s, %s, %s, %s)", p, where(it), convert(value, width, 64), label)
	case it.bits == 8:
		g.line("w.b[%s+%d] = %s", p, it.off/8, convert(value, width, 8))
	default:
		g.line("binary.%sEndian.PutUint%d(w.b[%s+%d:], %s)", order, it.bits, p, it.off/8, convert(value, width, it.bits))
	}
}

func (g *goTarget) writeConst(p string, it *item) {
	g.line("copy(w.b[%s+%d:], %q)", p, it.off/8, it.bytes)
}

func (g *goTarget) writeFixed(p string, it *item, from string) {
	slot := fmt.Sprintf("w.b[%s+%d:%s+%d]", p, it.off/8, p, (it.off+it.bits)/8)
	t, ok := it.typ.(*schema.Text)
	if !ok {
		g.line("copy(%s, %s[:])", slot, from)
		return
	}
	v := "t" + g.fresh()()
	g.line("%s := %s", v, goBytes(t.Charset, from, it.label))
	if exact(t) { // empty text represents zeros
		g.open("if len(%s) > 0 {", v)
		g.line("w.fixed(len(%s), %d, %q)", v, it.bits/8, it.label)
		g.shut("}")
	}
	g.line("w.fill(%s, %s, %q)", slot, v, it.label)
}

func (g *goTarget) run(st *step, base, id string) (n string) {
	from := g.place(base, st.path)
	if t, ok := st.typ.(*schema.Text); ok {
		from = goBytes(t.Charset, from, st.items[0].label)
	}
	g.line("t%s := %s", id, from)
	n = "len(t" + id + ")"
	if unit := st.unit(); unit > 1 {
		n += fmt.Sprintf("/%d", unit)
	}
	return n
}

func (g *goTarget) putRun(st *step, _, n, id string) {
	ext, label := st.items[0].ext, st.items[0].label
	if ext.Size == schema.Fixed {
		g.line("w.fixed(%s, %d, %q)", n, ext.N, label)
	}
	if ext.Size == schema.Terminated {
		g.line("w.ended(t%s, %d, %q)", id, st.unit(), label)
	} else {
		g.line("w.b = append(w.b, t%s...)", id)
	}
}

func (g *goTarget) list(st *step, base, _, index string) (n, elem string) {
	from := g.place(base, st.path)
	return "len(" + from + ")", from + "[" + index + "]"
}

func (g *goTarget) missing(r *record, st *step, base string) string {
	return fmt.Sprintf("%s.%s < %d", base, g.parts[r], st.part)
}

// goConstant returns a value of a number's type.
func goConstant(n *schema.Number, v uint64) string {
	switch n.Kind {
	case schema.Signed:
		return n.Decimal(v)
	case schema.Bool:
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatUint(v, 10)
}

// dispatch writes the table of messages, and for every set of messages with codes a function that reads the next one.
func (g *goTarget) dispatch() {
	g.line("// Messages are all messages by their names in the definitions, followed by the version if it is not 1.")
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
		g.line("// %s reads the message at the start of data, which may be any of %s.", name, set.String())
		g.open("func %s(data []byte) (m Message, n int, err error) {", name)
		g.open("if len(data) < %d {", (set.code.off+set.code.bits+7)/8)
		g.line("return nil, 0, Incomplete")
		g.shut("}")
		if f := set.code.form; f != schema.Sized {
			g.line("var code uint64")
			g.line("x := newCoder(data)")
			g.line("if code = x.raw(0, 0, %s, 0, \"code\"); x.err != nil {\nreturn nil, 0, x.err\n}", goForm(set.code.bits, f, set.code.order, false, 0))
			g.line("switch code {")
		} else {
			g.line("switch code := load(data, %d, %d, %v); code {", set.code.off, set.code.bits, set.code.order == schema.Big)
		}
		for _, m := range set.messages {
			g.line("case %d:", m.m.Key.Code)
			g.line("\tm = new(%s)", g.types[m.record])
		}
		g.line("default:")
		g.line("\treturn nil, 0, fmt.Errorf(\"%%w: no message with code %%d\", Illegal, code)")
		g.line("}")
		g.line("n, err = m.ReadBinary(data)")
		g.line("return m, n, err")
		g.shut("}")
		g.line("")
	}
}
