package emit

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

//go:embed support_c.txt
var cSupport string

// cReserved are words that C or C++ keeps for itself, or that its headers define.
var cReserved = keywords(`auto break case char const continue default do double else enum extern float for goto if inline int long
	register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex
	_Imaginary asm bool catch class const_cast delete dynamic_cast explicit export false friend mutable namespace new operator private
	protected public reinterpret_cast static_cast template this throw true try typeid typename using virtual wchar_t and or not xor
	alignas alignof constexpr decltype noexcept nullptr static_assert thread_local typeof
	NULL EOF INFINITY NAN SIZE_MAX BUFSIZ errno assert offsetof unix linux
	int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t ssize_t
	off_t time_t clock_t fpos_t div_t ldiv_t mode_t pid_t uid_t gid_t id_t dev_t ino_t key_t blksize_t blkcnt_t nlink_t
	memcpy memset memcmp strlen main`)

// cInline is up to how many bytes a list takes its room in the struct, for as many elements as it may have.
const cInline = 1 << 16

// emitC writes a header with everything in it, in the manner of MUTA's packetwriter: an enum of the ids, and for each message a struct
// and the functions compute_sz, write and read.
func emitC(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, true)
	g := &cTarget{
		plan: p, types: map[*record]string{}, fields: map[*member]string{}, parts: map[*record]string{}, choices: map[*record]string{},
		elems: map[*schema.List]string{}, top: newNames(false, cReserved...),
	}
	for _, word := range keywords("in out mem bytes reader writer result") {
		g.top.take("wb_" + word)
	}
	for _, m := range p.messages { // messages first: they keep their names
		g.types[m.record] = g.base(m.record.want)
	}
	for _, r := range p.records {
		if g.types[r] == "" {
			g.types[r] = g.base(r.want)
		}
		own := newNames(false, cReserved...)
		for _, m := range r.members {
			g.fields[m] = own.take(m.name)
		}
		if r.parts > 0 {
			g.parts[r] = own.take("parts")
		}
		if r.choice {
			g.choices[r] = own.take("alternative")
		}
	}
	var open []string
	seen := map[string]bool{}
	for _, m := range p.messages {
		for _, name := range m.open {
			if !seen[name] {
				open = append(open, name)
				p.losses = append(p.losses, Loss{Reason: fmt.Sprintf("the constant %s has no value: it must be defined before this header is included", name)})
			}
			seen[name] = true
		}
	}
	name := strings.ToLower(legal(o.name()))
	guard := strings.ToUpper(name) + "_H"
	g.line("/*")
	g.b.WriteString(head(" * ", "c", s, p.losses))
	g.line(" *")
	g.doc(" * ", cMemory)
	g.line(" */")
	g.line("#ifndef %s", guard)
	g.line("#define %s", guard)
	g.line("")
	g.line("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>")
	g.line("")
	for _, c := range open {
		g.line("#ifndef %s", legal(c))
		g.line("#error \"%s has no value in the definitions: define it\"", legal(c))
		g.line("#endif")
	}
	g.b.WriteString(cSupport)
	g.line("")
	g.codes()
	for _, r := range p.records {
		g.record(r)
	}
	g.dispatch()
	g.line("#endif")
	files := []File{{Name: name + ".h", Text: g.b.String()}}
	if list := p.vectors(o.Vectors); len(list) > 0 {
		files = append(files, g.vectors(name, list))
	}
	return files, p.losses
}

const cMemory = `NAME_read(in, s) reads the message at in->pos into s and moves in->pos behind it, if it returns 0.
NAME_write(out, s) writes s and moves out->pos. It needs NAME_compute_sz(s) bytes, the id among them.
Nothing is allocated. Text and lists of bounded length stand in the struct. Longer text points into the bytes that were read; longer
lists are put into in->mem, which the caller owns. The functions work with either byte order of the machine and any alignment.`

type cTarget struct {
	code
	plan    *plan
	top     *names
	types   map[*record]string // without _t
	fields  map[*member]string
	parts   map[*record]string
	choices map[*record]string
	elems   map[*schema.List]string // types of elements that are structs without a definition of their own
	loops   int
}

// base takes a name from which those of a type, its functions and its constants can be made.
func (g *cTarget) base(want string) string {
	want = strings.ToLower(legal(want))
	derived := func(base string) []string {
		upper := strings.ToUpper(base)
		return []string{base + "_t", base + "_compute_sz", base + "_read", base + "_write", base + "_read_", base + "_write_", upper, upper + "_MIN_SZ"}
	}
	name := want
	for i := 2; ; i++ {
		free := true
		for _, d := range derived(name) {
			free = free && !g.top.taken[d]
		}
		if free {
			break
		}
		name = want + "_" + strconv.Itoa(i)
	}
	for _, d := range derived(name) {
		g.top.take(d)
	}
	return name
}

// codes writes the ids of the messages, an enum for each set of them.
func (g *cTarget) codes() {
	type key struct {
		dir   schema.Dir
		group string
	}
	sets := map[key][]*message{}
	var order []key
	for _, m := range g.plan.messages {
		if !m.m.HasKey {
			continue
		}
		k := key{m.m.Key.Dir, m.m.Key.Group}
		if sets[k] == nil {
			order = append(order, k)
		}
		sets[k] = append(sets[k], m)
	}
	for _, k := range order {
		large := false
		for _, m := range sets[k] {
			large = large || m.m.Key.Code > math.MaxInt32 // more than an enum holds
		}
		if large {
			for _, m := range sets[k] {
				g.line("#define %s %du", strings.ToUpper(g.types[m.record]), m.m.Key.Code)
			}
			g.line("")
			continue
		}
		s := set{dir: k.dir, group: k.group}
		g.line("enum %s", g.top.take(strings.ToLower(legal(s.want()))))
		g.open("{")
		for i, m := range sets[k] {
			comma := ","
			if i == len(sets[k])-1 {
				comma = ""
			}
			g.line("%s = %d%s", strings.ToUpper(g.types[m.record]), m.m.Key.Code, comma)
		}
		g.shut("};")
		g.line("")
	}
}

func cNumber(n *schema.Number) string {
	switch {
	case n.Kind == schema.Bool:
		return "bool"
	case n.Scale != 0 || n.Kind == schema.Float && n.Bits == 64:
		return "double"
	case n.Kind == schema.Float:
		return "float"
	case n.Kind == schema.Signed:
		return fmt.Sprintf("int%d_t", wide(n.Bits))
	}
	return fmt.Sprintf("uint%d_t", wide(n.Bits))
}

// unitType is the type of a unit of text or bytes that stands in a struct.
func unitType(t schema.Type) (typ string, bytes int) {
	if x, ok := t.(*schema.Text); ok {
		if x.Charset == schema.UTF16LE {
			return "uint16_t", 2
		}
		return "char", 1
	}
	return "uint8_t", 1
}

// room is how many elements a list takes room for in the struct; ok is false if it does not.
func (g *cTarget) room(e schema.Extent, elem uint64) (n string, ok bool) {
	switch {
	case e.Size != schema.Counted || e.Max == nil:
		return "", false
	case e.Max.Const != "":
		return legal(e.Max.Const), true
	case elem == 0 || e.Max.Uint > cInline/elem:
		return "", false
	}
	return strconv.FormatUint(max(e.Max.Uint, 1), 10), true
}

// lenType is the type of the length of a list that has room for n elements.
func lenType(e schema.Extent) string {
	switch {
	case e.Max.Const != "" || e.Max.Uint > math.MaxUint16:
		return "uint32_t"
	case e.Max.Uint > math.MaxUint8:
		return "uint16_t"
	}
	return "uint8_t"
}

// bytes is about how much a value takes in memory.
func (g *cTarget) bytes(t schema.Type, r *record) uint64 {
	list := func(e schema.Extent, elem uint64) uint64 {
		switch _, ok := g.room(e, elem); {
		case e.Size == schema.Fixed:
			return uint64(max(e.N, 1)) * elem
		case ok && e.Max.Const != "":
			return 8 + 64*elem
		case ok:
			return 8 + e.Max.Uint*elem
		}
		return 16
	}
	switch t := t.(type) {
	case *schema.Number:
		return uint64(wide(t.Bits) / 8)
	case *schema.Packed:
		return uint64(len(t.Names)) * 8
	case *schema.Text:
		return list(t.Extent, uint64(t.Charset.Unit()))
	case *schema.Blob:
		return list(t.Extent, 1)
	case *schema.List:
		if t.Bare {
			return list(t.Extent, g.bytes(t.Elem.Fields[0].Type, r))
		}
		return list(t.Extent, g.recordBytes(r))
	}
	return g.recordBytes(r)
}

func (g *cTarget) recordBytes(r *record) uint64 {
	n := uint64(8)
	for _, m := range r.members {
		n = min(n+g.bytes(m.typ, m.record), math.MaxUint32)
	}
	return n
}

// declare is the declaration of a member: name may have a star before it and brackets behind it.
func (g *cTarget) declare(t schema.Type, r *record, name string) string {
	star := func(suffix string) string {
		if suffix != "" && strings.HasPrefix(name, "*") {
			return "(" + name + ")" + suffix
		}
		return name + suffix
	}
	switch t := t.(type) {
	case *schema.Number:
		return cNumber(t) + " " + name
	case *schema.Packed:
		var parts []string
		for i, part := range packedNames(t, cPart) {
			bits, truth := packedPart(t, t.Names[i])
			typ := "bool"
			if !truth {
				typ = fmt.Sprintf("uint%d_t", wide(bits))
			}
			parts = append(parts, typ+" "+part+";")
		}
		return "struct { " + strings.Join(parts, " ") + " } " + name
	case *schema.Text:
		return g.declareRun(t, t.Extent, name, star)
	case *schema.Blob:
		return g.declareRun(t, t.Extent, name, star)
	case *schema.List:
		elem := func(name string) string {
			if g.elems[t] != "" {
				return g.elems[t] + " " + name
			}
			if t.Bare {
				return g.declare(t.Elem.Fields[0].Type, r, name)
			}
			return g.types[r] + "_t " + name
		}
		if t.Size == schema.Fixed {
			return elem(star(fmt.Sprintf("[%d]", max(t.N, 1))))
		}
		if n, ok := g.room(t.Extent, g.elemBytes(t, r)); ok {
			return fmt.Sprintf("struct { %s len; %s; } %s", lenType(t.Extent), elem("data["+n+"]"), name)
		}
		return fmt.Sprintf("struct { size_t len; %s; } %s", elem("*data"), name)
	}
	return g.types[r] + "_t " + name
}

// elemType gives a name to the type of a list's elements, if it would have none: the caller makes such elements too.
func (g *cTarget) elemType(t schema.Type, r *record, want string) {
	l, ok := t.(*schema.List)
	if !ok || !l.Bare || g.elems[l] != "" {
		return
	}
	inner := l.Elem.Fields[0].Type
	g.elemType(inner, r, want+"_elem")
	if text := g.declare(inner, r, ""); strings.HasPrefix(text, "struct {") {
		name := g.top.take(want + "_elem_t")
		g.line("typedef %s;", g.declare(inner, r, name))
		g.line("")
		g.elems[l] = name
	}
}

func (g *cTarget) elemBytes(t *schema.List, r *record) uint64 {
	if t.Bare {
		return g.bytes(t.Elem.Fields[0].Type, r)
	}
	return g.recordBytes(r)
}

func (g *cTarget) declareRun(t schema.Type, e schema.Extent, name string, star func(string) string) string {
	typ, size := unitType(t)
	if e.Size == schema.Fixed {
		return typ + " " + star(fmt.Sprintf("[%d]", max(e.N, 1)))
	}
	if n, ok := g.room(e, uint64(size)); ok {
		return fmt.Sprintf("struct { %s len; %s data[%s]; } %s", lenType(e), typ, n, name)
	}
	return "wb_bytes " + name
}

// cPart is the name of a part of a packed number.
func cPart(name string) string {
	return newNames(false, cReserved...).take(name)
}

func (g *cTarget) record(r *record) {
	name := g.types[r]
	g.enums(r, name)
	if m := r.message; m != nil {
		g.line("/* The message %s. */", oneLine(m.name))
	}
	if r.doc != "" {
		g.line("/*")
		g.doc(" * ", r.doc)
		g.line(" */")
	}
	for _, m := range r.members {
		g.elemType(m.typ, m.record, name+"_"+g.fields[m])
	}
	g.line("typedef struct %s_t", name)
	g.open("{")
	for _, m := range r.members {
		g.member(r, m)
	}
	if r.parts > 0 {
		g.line("int %s; /* how many of the %d parts at the end are there */", g.parts[r], r.parts)
	}
	if r.choice {
		g.line("int %s; /* which alternative follows, counted from 1; 0 is none */", g.choices[r])
	}
	if len(r.members) == 0 && r.parts == 0 && !r.choice {
		g.line("char nothing; /* there are no fields */")
	}
	g.shut("} %s_t;", name)
	g.line("")
	if r.message == nil && !r.element {
		return
	}
	g.sizing(r, name)
	g.writing(r, name)
	g.reading(r, name)
	if r.message != nil {
		g.message(r.message, name)
	}
}

func (g *cTarget) member(r *record, m *member) {
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
			schema.Code: "the id of the message", schema.Counter: "running number of the message", schema.Check: "checksum, as it is on the wire",
		}[m.book])
	}
	if m.field != nil && m.field.Doc != "" {
		words = append(words, m.field.Doc)
	}
	comment := ""
	if len(words) > 0 {
		comment = " /* " + strings.ReplaceAll(oneLine(strings.Join(words, ": ")), "/*", "/ *") + " */"
	}
	g.line("%s;%s", g.declare(m.typ, m.record, g.fields[m]), comment)
}

// enums writes the names of values as constants.
func (g *cTarget) enums(r *record, typ string) {
	for _, m := range r.members {
		n, ok := m.typ.(*schema.Number)
		if !ok || n.Enum == nil || len(n.Enum.Values) == 0 || n.Kind == schema.Float || n.Kind == schema.Bool || n.Scale != 0 {
			continue
		}
		g.line("/* The values of %s_t.%s that have names. */", typ, g.fields[m])
		for _, v := range n.Enum.Values {
			g.line("#define %s %s", g.top.take(strings.ToUpper(typ+"_"+legal(m.name)+"_"+legal(v.Name))), cConstant(n, v.Value))
		}
		g.line("")
	}
}

// cConstant is a value of a number's type.
func cConstant(n *schema.Number, v uint64) string {
	switch {
	case n.Kind == schema.Signed:
		return cInt(schema.SignExtend(v, n.Bits))
	case n.Kind == schema.Bool:
		return strconv.FormatBool(v != 0)
	}
	return cUint(v)
}

func cUint(v uint64) string {
	if v > math.MaxUint32 {
		return fmt.Sprintf("UINT64_C(%d)", v)
	}
	return fmt.Sprintf("%du", v)
}

func cInt(v int64) string {
	switch {
	case v == math.MinInt64:
		return "INT64_MIN"
	case v < 0:
		return fmt.Sprintf("(-INT64_C(%d))", -v)
	}
	return fmt.Sprintf("INT64_C(%d)", v)
}

func (g *cTarget) loop() string {
	g.loops++
	return strconv.Itoa(g.loops)
}

// place is the expression of a value. base ends with "->" or ".".
func (g *cTarget) place(base string, at path) string {
	var parts []string
	for _, m := range at {
		if m != nil {
			parts = append(parts, g.fields[m])
		}
	}
	if len(parts) == 0 {
		return strings.TrimSuffix(base, ".")
	}
	return base + strings.Join(parts, ".")
}

// message writes the functions that people call.
func (g *cTarget) message(m *message, name string) {
	upper := strings.ToUpper(name)
	g.line("/* The least number of bytes of a message, its id among them. */")
	g.line("#define %s_MIN_SZ (%s)", upper, m.min)
	g.line("")
	g.line("/* Returns 0, a negative number if a value is not legal, a positive one if there is no room for %s_compute_sz(s) bytes. */", name)
	g.line("static inline int")
	g.line("%s_write(wb_out *out, const %s_t *s)", name, name)
	g.open("{")
	g.line("size_t size = %s_compute_sz(s);", name)
	g.line("wb_writer w;")
	g.line("int result;")
	g.line("if (out->pos > out->size || size > out->size - out->pos)")
	g.line("\treturn WB_INCOMPLETE;")
	g.line("w.data = out->data + out->pos;")
	g.line("w.size = size;")
	g.line("w.pos = 0;")
	g.line("w.last = SIZE_MAX;")
	g.line("result = %s_write_(&w, s);", name)
	g.line("if (result != 0)")
	g.line("\treturn result;")
	g.line("if (w.last != SIZE_MAX && w.pos > w.last)")
	g.line("\treturn WB_ILLEGAL; /* nothing may follow what ends the message */")
	g.lengths(m)
	if l := m.length; l != nil {
		g.refuse("!wb_put_(&w, 0, %d, %d, %v, w.pos)", l.off, l.bits, l.order == schema.Big)
	}
	g.line("out->pos += w.pos;")
	g.line("return 0;")
	g.shut("}")
	g.line("")

	g.line("/* Returns 0, a negative number if the message is not legal, a positive one if it is not whole. */")
	g.line("static inline int")
	g.line("%s_read(wb_in *in, %s_t *s)", name, name)
	g.open("{")
	g.line("wb_reader r = wb_start_(in, %d);", m.header)
	g.line("size_t used = in->mem != NULL ? in->mem->used : 0;")
	if l := m.length; l != nil {
		g.line("uint64_t size;")
		g.line("if (r.size < %d)", (l.off+l.bits+7)/8)
		g.line("\treturn WB_INCOMPLETE;")
		g.line("size = wb_load_(r.data, %d, %d, %v);", l.off, l.bits, l.order == schema.Big)
		g.line("if (size < %d)", m.header)
		g.line("\treturn WB_ILLEGAL;")
		g.line("if (size > r.size)")
		g.line("\treturn WB_INCOMPLETE;")
		g.line("r.size = (size_t)size;")
		g.line("r.framed = true;")
	}
	if c := m.code; c != nil && m.m.HasKey {
		g.line("if (r.size < %d)", (c.off+c.bits+7)/8)
		g.line("\treturn WB_INCOMPLETE;")
		g.line("if (wb_load_(r.data, %d, %d, %v) != %s)", c.off, c.bits, c.order == schema.Big, upper)
		g.line("\treturn WB_ILLEGAL;")
	}
	if m.m.Measured {
		g.line("r.measured = true;")
		g.line("r.need = %s_MIN_SZ;", upper)
		g.line("if (wb_sized_(&r) != 0)")
		g.line("\treturn r.result;")
	}
	g.line("memset(s, 0, sizeof *s);")
	g.line("if (%s_read_(&r, s) != 0) {", name)
	g.line("\tif (in->mem != NULL)")
	g.line("\t\tin->mem->used = used;")
	g.line("\treturn r.result;")
	g.line("}")
	if m.length != nil {
		g.line("in->pos += r.size;")
	} else {
		g.line("in->pos += r.pos;")
	}
	g.line("return 0;")
	g.shut("}")
	g.line("")
}

// refuse writes a condition under which writing fails.
func (g *cTarget) refuse(cond string, args ...any) {
	g.line("if (%s)", fmt.Sprintf(cond, args...))
	g.line("\treturn WB_ILLEGAL;")
}

func (g *cTarget) lengths(m *message) {
	for i := range m.record.steps {
		st := &m.record.steps[i]
		if st.kind != stepChoice || !m.record.choice {
			continue
		}
		found := "0"
		for k := len(st.cases) - 1; k >= 0; k-- {
			ch := st.cases[k]
			cond := lengthIs(ch, "w.pos")
			if ch.min == 0 && ch.max == 0 {
				cond = "true" // a size is never negative, and compilers say so
			}
			found = fmt.Sprintf("(%s) ? %d : %s", cond, k+1, found)
		}
		g.refuse("s->%s != (%s)", g.choices[m.record], found)
	}
}

func (g *cTarget) reading(r *record, name string) {
	g.loops = 0
	g.line("static inline int")
	g.line("%s_read_(wb_reader *r, %s_t *s)", name, name)
	g.open("{")
	g.line("(void)s;")
	g.readSteps(r, r.steps, "s->")
	g.line("return r->result;")
	g.shut("}")
	g.line("")
}

func (g *cTarget) writing(r *record, name string) {
	g.loops = 0
	g.line("static inline int")
	g.line("%s_write_(wb_writer *w, const %s_t *s)", name, name)
	g.open("{")
	g.line("(void)w;")
	g.line("(void)s;")
	g.writeSteps(r, r.steps, "s->")
	g.line("return 0;")
	g.shut("}")
	g.line("")
}

func (g *cTarget) sizing(r *record, name string) {
	g.loops = 0
	g.line("/* Bytes that the values take in a message. */")
	g.line("static inline size_t")
	g.line("%s_compute_sz(const %s_t *s)", name, name)
	g.open("{")
	g.line("size_t ret = 0;")
	g.line("(void)s;")
	g.sizeSteps(r, r.steps, "s->")
	g.line("return ret;")
	g.shut("}")
	g.line("")
}

func (g *cTarget) sizeSteps(r *record, steps []step, base string) {
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			g.line("if (%s%s < %d)", base, g.parts[r], st.part)
			g.line("\treturn ret;")
		}
		switch st.kind {
		case stepBlock:
			g.line("ret = wb_add_(ret, %d);", st.bits/8)
		case stepRun:
			ext := st.items[0].ext
			_, unit := unitType(st.typ)
			length := g.place(base, st.path) + ".len"
			if ext.Size == schema.Fixed {
				length = strconv.Itoa(ext.N)
			}
			g.line("ret = wb_add_(ret, wb_mul_(%s, %d));", length, unit)
			if ext.Size == schema.Terminated {
				g.line("ret = wb_add_(ret, %d);", unit)
			}
		case stepList:
			g.sizeList(r, st, base)
		case stepWeave:
			for k := range st.lists {
				g.sizeList(r, &st.lists[k], base)
			}
		case stepChoice:
			g.choose(r, st, base, func(steps []step) { g.sizeSteps(r, steps, base) }, false)
		}
	}
}

// choose writes one branch for each alternative, chosen by a value or by the member that tells it.
func (g *cTarget) choose(r *record, st *step, base string, body func([]step), reading bool) {
	for k, ch := range st.cases {
		word := "} else if"
		if k == 0 {
			word = "if"
		}
		cond := ""
		switch {
		case ch.field != nil:
			cond = fmt.Sprintf("%s == %s", g.place(base, ch.field), cConstant(ch.typ, ch.value))
		case reading && ch.min == 0 && ch.max == 0:
			cond = "true"
		case reading:
			cond = lengthIs(ch, "r->size")
		default:
			cond = fmt.Sprintf("%s%s == %d", base, g.choices[r], k+1)
		}
		g.open("%s (%s) {", word, cond)
		if reading && r.choice {
			g.line("%s%s = %d;", base, g.choices[r], k+1)
		}
		body(ch.steps)
		g.depth--
	}
	g.line("}")
}

// length is the expression of a list's number of elements.
func (g *cTarget) length(st *step, base string) string {
	if t := st.typ.(*schema.List); t.Size == schema.Fixed {
		return strconv.Itoa(t.N)
	}
	return g.place(base, st.path) + ".len"
}

// elem is the expression of a list's element.
func (g *cTarget) elem(st *step, base, index string) string {
	if t := st.typ.(*schema.List); t.Size == schema.Fixed {
		return fmt.Sprintf("%s[%s]", g.place(base, st.path), index)
	}
	return fmt.Sprintf("%s.data[%s]", g.place(base, st.path), index)
}

// fixedBytes is the size of a list's elements if all have the same one.
func fixedBytes(st *step) (int, bool) {
	steps := st.elem
	if st.rec != nil {
		steps = st.rec.steps
	}
	n := 0
	for i := range steps {
		if steps[i].kind != stepBlock || steps[i].part > 0 {
			return 0, false
		}
		n += steps[i].bits / 8
	}
	return n, true
}

func (g *cTarget) sizeList(r *record, st *step, base string) {
	if n, ok := fixedBytes(st); ok {
		g.line("ret = wb_add_(ret, wb_mul_(%s, %d));", g.length(st, base), n)
		return
	}
	i := "i" + g.loop()
	g.open("for (size_t %s = 0; %s < %s; %s++) {", i, i, g.length(st, base), i)
	elem := g.elem(st, base, i)
	if st.rec != nil {
		g.line("ret = wb_add_(ret, %s_compute_sz(&%s));", g.types[st.rec], elem)
	} else {
		g.sizeSteps(r, st.elem, elem+".")
	}
	g.shut("}")
}

func (g *cTarget) readSteps(r *record, steps []step, base string) {
	for i := range steps {
		for k := range steps[i].items { // what is read under a condition is needed under the next one
			if it := &steps[i].items[k]; steps[i].part > 0 && it.local != nil {
				g.line("%s%d = 0;", cLocal(it.kind), it.local.id)
			}
		}
	}
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			g.open("if (r->pos < r->size) {")
			g.line("%s%s = %d;", base, g.parts[r], st.part)
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
			g.choose(r, st, base, func(steps []step) { g.readSteps(r, steps, base) }, true)
		}
		if st.part > 0 {
			g.shut("}")
		}
	}
}

func cLocal(kind schema.ItemKind) string {
	if kind == schema.Count {
		return "size_t n"
	}
	return "uint64_t at"
}

// cRaw is the bits of an item of the block b.
func cRaw(b string, it *item) string {
	if it.off%8 == 0 && it.bits%8 == 0 {
		order := "le"
		if it.order == schema.Big {
			order = "be"
		}
		if it.bits == 8 {
			return fmt.Sprintf("%s[%d]", b, it.off/8)
		}
		return fmt.Sprintf("wb_%s_(%s + %d, %d)", order, b, it.off/8, it.bits/8)
	}
	return fmt.Sprintf("wb_load_(%s, %d, %d, %v)", b, it.off, it.bits, it.order == schema.Big)
}

// cBounds are the legal numbers of units.
func cBounds(e schema.Extent) (lo, hi string) {
	limit := func(l *schema.Limit, none string) string {
		switch {
		case l == nil:
			return none
		case l.Const != "":
			return legal(l.Const)
		}
		return cUint(l.Uint)
	}
	return limit(e.Min, "0"), limit(e.Max, "UINT64_MAX")
}

func (g *cTarget) failed() {
	g.line("if (r->result != 0)")
	g.line("\treturn r->result;")
}

func (g *cTarget) illegal(cond string, args ...any) {
	g.line("if (%s)", fmt.Sprintf(cond, args...))
	g.line("\treturn wb_fail_(r, WB_ILLEGAL);")
}

func (g *cTarget) readBlock(st *step, base string) {
	if st.bits == 0 {
		return
	}
	if !reads(st.items) {
		g.line("if (wb_take_(r, %d) == NULL)", st.bits/8)
		g.line("\treturn r->result;")
		return
	}
	b := "b" + g.loop()
	g.line("const uint8_t *%s = wb_take_(r, %d);", b, st.bits/8)
	g.line("if (%s == NULL)", b)
	g.line("\treturn r->result;")
	counts := false
	for i := range st.items {
		it := &st.items[i]
		what := cLocal(it.kind)
		if st.part > 0 {
			what = what[strings.LastIndexByte(what, ' ')+1:]
		}
		switch it.kind {
		case schema.Count:
			counts = true
			lo, hi := cBounds(it.ext)
			g.line("%s%d = wb_count_(r, %s, %s, %s, %s);", what, it.local.id, cRaw(b, it), lo, hi, it.unit)
		case schema.Offset:
			g.line("%s%d = %s;", what, it.local.id, cRaw(b, it))
		}
	}
	if counts {
		g.line("if (wb_sized_(r) != 0)")
		g.line("\treturn r->result;")
	}
	for i := range st.items {
		g.readItem(b, &st.items[i], base)
	}
}

// cBytes is a string literal of bytes.
func cBytes(b []byte) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range b {
		fmt.Fprintf(&out, "\\%03o", c)
	}
	out.WriteByte('"')
	return out.String()
}

func (g *cTarget) readItem(b string, it *item, base string) {
	switch it.kind {
	case schema.Const:
		if len(it.bytes) > 0 {
			g.illegal("memcmp(%s + %d, %s, %d) != 0", b, it.off/8, cBytes(it.bytes), len(it.bytes))
		}
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.path != nil {
			g.line("%s = (uint%d_t)%s;", g.place(base, it.path), wide(it.bits), cRaw(b, it))
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
	default:
		if it.bits == 0 {
			return
		}
		if typ, _ := unitType(it.typ); typ == "uint16_t" {
			i := "i" + g.loop()
			g.line("for (size_t %s = 0; %s < %d; %s++)", i, i, it.bits/16, i)
			g.line("\t%s[%s] = (uint16_t)wb_le_(%s + %d + 2 * %s, 2);", to, i, b, it.off/8, i)
			return
		}
		g.line("memcpy(%s, %s + %d, %d);", to, b, it.off/8, it.bits/8)
	}
}

// cRange is the condition that raw bits are legal, "" if all are.
func cRange(n *schema.Number, v string) string {
	if n.Min == nil && n.Max == nil {
		return ""
	}
	limit := func(l *schema.Limit, none string, text func(*schema.Limit) string) string {
		switch {
		case l == nil:
			return none
		case l.Const != "":
			return legal(l.Const)
		}
		return text(l)
	}
	switch n.Kind {
	case schema.Float:
		text := func(l *schema.Limit) string {
			if math.IsInf(l.Float, 0) {
				return map[bool]string{true: "(1e308 * 10)", false: "(-1e308 * 10)"}[l.Float > 0]
			}
			return floatText(l.Float)
		}
		return fmt.Sprintf("wb_in_f_(%s, %s, %s)", v, limit(n.Min, "(-1e308 * 10)", text), limit(n.Max, "(1e308 * 10)", text))
	case schema.Signed:
		text := func(l *schema.Limit) string { return cInt(l.Int) }
		return fmt.Sprintf("wb_in_i_(%s, %s, %s)", v, limit(n.Min, "INT64_MIN", text), limit(n.Max, "INT64_MAX", text))
	}
	text := func(l *schema.Limit) string { return cUint(l.Uint) }
	return fmt.Sprintf("wb_in_u_(%s, %s, %s)", v, limit(n.Min, "0", text), limit(n.Max, "UINT64_MAX", text))
}

func (g *cTarget) readNumber(b string, it *item, n *schema.Number, to string) {
	value := cRaw(b, it)
	switch {
	case n.Kind == schema.Float && n.Bits == 32:
		value = fmt.Sprintf("wb_float_(%s)", value)
	case n.Kind == schema.Float:
		value = fmt.Sprintf("wb_double_(%s)", value)
	case n.Kind == schema.Signed:
		value = fmt.Sprintf("wb_signed_(%s, %d)", value, n.Bits)
	}
	if cond := cRange(n, value); cond != "" {
		g.illegal("!%s", cond)
	}
	switch {
	case n.Kind == schema.Bool:
		g.line("%s = %s != 0;", to, value)
	case n.Scale != 0:
		g.line("%s = (double)%s * %s;", to, value, floatText(n.Scale))
	case n.Kind == schema.Float:
		g.line("%s = %s;", to, value)
	default:
		g.line("%s = (%s)%s;", to, cNumber(n), value)
	}
}

func (g *cTarget) readPacked(b string, it *item, t *schema.Packed, to string) {
	v := "v" + g.loop()
	names := packedNames(t, cPart)
	g.line("uint64_t %s = %s;", v, cRaw(b, it))
	g.forms(t, func(f *schema.Form) string {
		return fmt.Sprintf("(%s & %s) == %s", v, cUint(f.Mask), cUint(f.Match))
	}, func(f *schema.Form) {
		for k, name := range t.Names {
			for _, p := range f.Parts {
				if p.Name != name {
					continue
				}
				part := fmt.Sprintf("(%s >> %d & %s)", v, p.Shift, cUint(schema.Mask(p.Bits)))
				if bits, truth := packedPart(t, name); truth {
					g.line("%s.%s = %s != 0;", to, names[k], part)
				} else {
					g.line("%s.%s = (uint%d_t)%s;", to, names[k], wide(bits), part)
				}
			}
		}
	})
}

// forms writes one branch for each form of a packed number.
func (g *cTarget) forms(t *schema.Packed, cond func(*schema.Form) string, body func(*schema.Form)) {
	for i := range t.Forms {
		f := &t.Forms[i]
		last := i == len(t.Forms)-1
		switch {
		case i == 0 && last:
			g.open("{")
		case i == 0:
			g.open("if (%s) { /* %s */", cond(f), oneLine(f.When))
		case last:
			g.open("} else {")
		default:
			g.open("} else if (%s) { /* %s */", cond(f), oneLine(f.When))
		}
		body(f)
		g.depth--
	}
	g.line("}")
}

func (g *cTarget) readRun(st *step, base string) {
	to := g.place(base, st.path)
	ext := st.items[0].ext
	typ, unit := unitType(st.typ)
	at, where := "", ""
	if st.offset != nil {
		at, where = fmt.Sprintf(", at%d", st.offset.id), "_at"
	}
	bytes := ""
	switch ext.Size {
	case schema.Counted:
		bytes = fmt.Sprintf("wb_run%s_(r%s, n%d, %d)", where, at, st.count.id, unit)
	case schema.Terminated:
		bytes = fmt.Sprintf("wb_ended%s_(r%s, %d)", where, at, unit)
	case schema.Fixed:
		bytes = fmt.Sprintf("wb_run%s_(r%s, %d, %d)", where, at, ext.N, unit)
	default:
		bytes = fmt.Sprintf("wb_rest%s_(r%s, %d)", where, at, unit)
	}
	room, inside := g.room(ext, uint64(unit))
	if ext.Size != schema.Fixed && !inside {
		g.line("%s = %s;", to, bytes)
		g.failed()
		return
	}
	t, data := "t"+g.loop(), to+".data"
	if ext.Size == schema.Fixed {
		data = to
	}
	g.line("wb_bytes %s = %s;", t, bytes)
	g.failed()
	if ext.Size != schema.Fixed {
		g.illegal("%s.len > %s", t, room) // never: the count was judged
		g.line("%s.len = (%s)%s.len;", to, lenType(ext), t)
	}
	if typ == "uint16_t" {
		i := "i" + g.loop()
		g.line("for (size_t %s = 0; %s < %s.len; %s++)", i, i, t, i)
		g.line("\t%s[%s] = (uint16_t)wb_le_(%s.data + 2 * %s, 2);", data, i, t, i)
		return
	}
	g.line("wb_copy_(%s, %s.data, %s.len);", data, t, t)
}

func (g *cTarget) readElem(r *record, st *step, elem string) {
	if st.rec != nil {
		g.line("if (%s_read_(r, &%s) != 0)", g.types[st.rec], elem)
		g.line("\treturn r->result;")
	} else {
		g.readSteps(r, st.elem, elem+".")
	}
}

func (g *cTarget) readList(r *record, st *step, base string) {
	t := st.typ.(*schema.List)
	to := g.place(base, st.path)
	id := g.loop()
	rec := st.path.record(t, st.rec)
	if t.Size == schema.ToEnd {
		g.readToEnd(r, st, to, id)
		return
	}
	n := strconv.Itoa(t.N)
	if st.count != nil {
		n = fmt.Sprintf("n%d", st.count.id)
	}
	g.open("if (%s > 0) {", n)
	g.line("size_t back%s = r->pos;", id)
	minimum := st.min.String()
	switch {
	case t.Linked:
		g.line("size_t pos%s = (size_t)at%d;", id, st.offset.id)
		g.line("if (wb_chain_(r, pos%s, %s, %d, %d, %v) != 0)", id, n, st.next.off, st.next.bits, st.next.order == schema.Big)
		g.line("\treturn r->result;")
		minimum = "0"
	case st.offset != nil:
		g.line("if (wb_go_(r, at%d) != 0)", st.offset.id)
		g.line("\treturn r->result;")
	default:
		g.line("(void)back%s;", id)
	}
	g.line("if (wb_room_(r, %s, %s) != 0)", n, minimum)
	g.line("\treturn r->result;")
	if t.Size != schema.Fixed {
		room, inside := g.room(t.Extent, g.elemBytes(t, rec))
		if inside {
			g.illegal("%s > %s", n, room) // never: the count was judged
			g.line("%s.len = (%s)%s;", to, lenType(t.Extent), n)
		} else {
			g.line("%s.data = wb_alloc_(r, %s, sizeof *%s.data);", to, n, to)
			g.failed()
			g.line("%s.len = %s;", to, n)
		}
	}
	i := "i" + id
	g.open("for (size_t %s = 0; %s < %s; %s++) {", i, i, n, i)
	if t.Linked {
		g.line("if (wb_go_(r, pos%s) != 0)", id)
		g.line("\treturn r->result;")
	}
	g.readElem(r, st, g.elem(st, base, i))
	if t.Linked {
		g.line("pos%s = wb_next_(r, pos%s, %d, %d, %v);", id, id, st.next.off, st.next.bits, st.next.order == schema.Big)
	}
	g.shut("}")
	if st.offset != nil {
		g.line("r->pos = back%s;", id)
	}
	g.shut("}")
}

// readToEnd reads a list that has no count: its elements are counted first, as far as they can be read.
func (g *cTarget) readToEnd(r *record, st *step, to, id string) {
	t := st.typ.(*schema.List)
	_ = t
	g.open("{")
	g.line("size_t back%s = r->pos, start%s, room%s = 0;", id, id, id)
	if st.offset != nil {
		g.line("if (wb_go_(r, at%d) != 0)", st.offset.id)
		g.line("\treturn r->result;")
	} else {
		g.line("(void)back%s;", id)
	}
	g.open("while (r->pos < r->size) {")
	g.line("start%s = r->pos;", id)
	g.open("if (%s.len == room%s) { /* twice the room, in new memory: there is no way to know how many will come */", to, id)
	g.line("void *old = %s.data;", to)
	g.line("room%s = room%s == 0 ? 8 : room%s * 2;", id, id, id)
	g.line("%s.data = wb_alloc_(r, room%s, sizeof *%s.data);", to, id, to)
	g.failed()
	g.line("wb_copy_(%s.data, old, %s.len * sizeof *%s.data);", to, to, to)
	g.shut("}")
	g.line("if (wb_spend_(r, 1, 0) != 0)")
	g.line("\treturn r->result;")
	g.line("%s.len++;", to)
	g.readElem(r, st, fmt.Sprintf("%s.data[%s.len - 1]", to, to))
	g.line("if (r->pos == start%s)", id)
	g.line("\tbreak;")
	g.shut("}")
	if st.offset != nil {
		g.line("r->pos = back%s;", id)
	}
	g.shut("}")
}

func (g *cTarget) writeSteps(r *record, steps []step, base string) {
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			g.open("if (%s%s < %d) {", base, g.parts[r], st.part)
			g.line("wb_end_(w);")
			g.line("return 0;")
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
			g.choose(r, st, base, func(steps []step) { g.writeSteps(r, steps, base) }, false)
		}
		if st.end {
			g.line("wb_end_(w);")
		}
	}
}

func (g *cTarget) writeBlock(st *step, base string) {
	p := "p" + g.loop()
	if st.bits == 0 {
		return
	}
	used := false
	for i := range st.items {
		switch it := &st.items[i]; it.kind {
		case schema.Value, schema.Counter, schema.Check, schema.Code, schema.Count, schema.Offset:
			used = used || it.bits > 0
		case schema.Const:
			used = used || it.bits > 0
		}
	}
	if used {
		g.line("size_t %s = w->pos;", p)
	}
	g.refuse("wb_grow_(w, %d) == NULL", st.bits/8)
	for i := range st.items {
		if l := st.items[i].local; l != nil {
			g.line("size_t q%d = %s;", l.id, p)
		}
	}
	for i := range st.items {
		g.writeItem(p, &st.items[i], base)
	}
}

// put writes a number into a block.
func (g *cTarget) put(p string, it *item, value string) {
	if it.bits == 64 && it.off%8 == 0 {
		g.line("wb_store_(w->data + %s, %d, 64, %v, %s);", p, it.off, it.order == schema.Big, value)
		return
	}
	g.refuse("!wb_put_(w, %s, %d, %d, %v, %s)", p, it.off, it.bits, it.order == schema.Big, value)
}

func (g *cTarget) writeItem(p string, it *item, base string) {
	switch it.kind {
	case schema.Const:
		if len(it.bytes) > 0 {
			g.line("memcpy(w->data + %s + %d, %s, %d);", p, it.off/8, cBytes(it.bytes), len(it.bytes))
		}
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.path != nil {
			g.put(p, it, g.place(base, it.path))
		} else {
			g.put(p, it, cUint(uint64(it.code)))
		}
		return
	case schema.Value:
	default:
		return
	}
	from := g.place(base, it.path)
	switch t := it.typ.(type) {
	case *schema.Number:
		g.writeNumber(p, it, t, from)
	case *schema.Packed:
		g.writePacked(p, it, t, from)
	default:
		if it.bits == 0 {
			return
		}
		if typ, _ := unitType(it.typ); typ == "uint16_t" {
			i := "i" + g.loop()
			g.line("for (size_t %s = 0; %s < %d; %s++)", i, i, it.bits/16, i)
			g.line("\twb_store_(w->data + %s + %d + 2 * %s, 0, 16, false, %s[%s]);", p, it.off/8, i, from, i)
			return
		}
		g.line("memcpy(w->data + %s + %d, %s, %d);", p, it.off/8, from, it.bits/8)
	}
}

func (g *cTarget) writeNumber(p string, it *item, n *schema.Number, from string) {
	switch {
	case n.Kind == schema.Bool:
		g.put(p, it, from+" ? 1 : 0")
		return
	case n.Kind == schema.Float:
		typ, bits := "double", "wb_double_bits_"
		if n.Bits == 32 {
			typ, bits = "float", "wb_float_bits_"
		}
		value := from
		if n.Scale != 0 {
			value = fmt.Sprintf("(%s)(%s * %s)", typ, from, floatText(1/n.Scale))
		}
		if cond := cRange(n, value); cond != "" {
			g.refuse("!%s", cond)
		}
		g.put(p, it, fmt.Sprintf("%s(%s)", bits, value))
		return
	case n.Scale != 0:
		v := "v" + g.loop()
		isSigned := n.Kind == schema.Signed
		g.line("uint64_t %s;", v)
		g.refuse("!wb_scale_(%s, %s, %d, %v, %v, %v, &%s)", from, floatText(1/n.Scale), n.Bits, isSigned, n.Wrap, n.Truncate, v)
		raw := v
		if isSigned {
			raw = fmt.Sprintf("wb_signed_(%s, %d)", v, n.Bits)
		}
		if cond := cRange(n, raw); cond != "" {
			g.refuse("!%s", cond)
		}
		g.put(p, it, v)
		return
	}
	if cond := cRange(n, from); cond != "" {
		g.refuse("!%s", cond)
	}
	if n.Kind == schema.Signed {
		g.refuse("!wb_put_signed_(w, %s, %d, %d, %v, %s)", p, it.off, it.bits, it.order == schema.Big, from)
		return
	}
	g.put(p, it, from)
}

func (g *cTarget) writePacked(p string, it *item, t *schema.Packed, from string) {
	v := "v" + g.loop()
	names := packedNames(t, cPart)
	g.line("uint64_t %s = 0;", v)
	g.forms(t, func(f *schema.Form) string {
		var parts []string
		for k, name := range t.Names {
			for _, part := range f.Parts {
				if part.Name == name && f.Mask>>part.Shift&schema.Mask(part.Bits) != 0 {
					parts = append(parts, fmt.Sprintf("(uint64_t)%s.%s << %d", from, names[k], part.Shift))
				}
			}
		}
		if len(parts) == 0 {
			parts = []string{"UINT64_C(0)"}
		}
		return fmt.Sprintf("((%s) & %s) == %s", strings.Join(parts, " | "), cUint(f.Mask), cUint(f.Match))
	}, func(f *schema.Form) {
		for k, name := range t.Names {
			bits, shift := 0, 0
			for _, part := range f.Parts {
				if part.Name == name {
					bits, shift = part.Bits, part.Shift
				}
			}
			g.refuse("!wb_in_u_(%s.%s, 0, %s)", from, names[k], cUint(maskOf(bits)))
			if bits > 0 {
				g.line("%s |= (uint64_t)%s.%s << %d;", v, from, names[k], shift)
			}
		}
	})
	g.put(p, it, v)
}

func (g *cTarget) writePlace(st *step, n string, null bool) {
	ext := st.items[0].ext
	if ext.Min != nil || ext.Max != nil {
		lo, hi := cBounds(ext)
		g.refuse("!wb_in_u_(%s, %s, %s)", n, lo, hi)
	}
	if st.count != nil {
		it := &st.count.item
		g.refuse("!wb_put_(w, q%d, %d, %d, %v, %s)", st.count.id, it.off, it.bits, it.order == schema.Big, n)
	}
	if st.offset == nil {
		return
	}
	it, cond := &st.offset.item, ""
	if null {
		cond = n + " > 0 && "
	}
	g.refuse("%s!wb_put_(w, q%d, %d, %d, %v, w->pos)", cond, st.offset.id, it.off, it.bits, it.order == schema.Big)
}

func (g *cTarget) writeRun(st *step, base string) {
	from := g.place(base, st.path)
	ext := st.items[0].ext
	typ, unit := unitType(st.typ)
	room, inside := g.room(ext, uint64(unit))
	data, n := from+".data", from+".len"
	if ext.Size == schema.Fixed {
		data, n, inside = from, strconv.Itoa(ext.N), true
	} else if inside {
		g.refuse("!wb_in_u_(%s, 0, %s)", n, room)
	}
	g.writePlace(st, n, false)
	switch {
	case inside && typ == "uint16_t":
		i, p := "i"+g.loop(), "p"+g.loop()
		g.line("size_t %s = w->pos;", p)
		g.refuse("wb_grow_(w, 2 * (size_t)%s) == NULL", n)
		g.line("for (size_t %s = 0; %s < %s; %s++)", i, i, n, i)
		g.line("\twb_store_(w->data + %s + 2 * %s, 0, 16, false, %s[%s]);", p, i, data, i)
	case ext.Size == schema.Terminated:
		g.refuse("!wb_append_ended_(w, %s, %s, %d)", data, n, unit)
	default:
		g.refuse("!wb_append_(w, %s, wb_mul_(%s, %d))", data, n, unit)
	}
}

func (g *cTarget) writeElem(r *record, st *step, elem string) {
	if st.rec != nil {
		g.refuse("%s_write_(w, &%s) != 0", g.types[st.rec], elem)
	} else {
		g.writeSteps(r, st.elem, elem+".")
	}
}

func (g *cTarget) writeList(r *record, st *step, base string) {
	t := st.typ.(*schema.List)
	id := g.loop()
	n := g.length(st, base)
	if t.Size != schema.Fixed {
		if room, inside := g.room(t.Extent, g.elemBytes(t, st.path.record(t, st.rec))); inside {
			g.refuse("!wb_in_u_(%s, 0, %s)", n, room)
		}
	}
	g.writePlace(st, n, t.Linked)
	if t.Linked {
		g.line("size_t prev%s = 0;", id)
	}
	i := "i" + id
	g.open("for (size_t %s = 0; %s < %s; %s++) {", i, i, n, i)
	g.writeChained(r, st, g.elem(st, base, i), id, i)
	g.shut("}")
}

// writeChained writes an element; in a chain also its place, in itself and in the one before.
func (g *cTarget) writeChained(r *record, st *step, elem, id, index string) {
	t := st.typ.(*schema.List)
	if t.Linked {
		g.line("size_t elem%s = w->pos;", id)
		g.refuse("%s > 0 && !wb_put_(w, prev%s, %d, %d, %v, w->pos)", index, id, st.next.off, st.next.bits, st.next.order == schema.Big)
		g.line("prev%s = elem%s;", id, id)
	}
	g.writeElem(r, st, elem)
	if t.Linked && st.here != nil {
		g.refuse("!wb_put_(w, elem%s, %d, %d, %v, elem%s)", id, st.here.off, st.here.bits, st.here.order == schema.Big, id)
	}
}

func (g *cTarget) writeWeave(r *record, st *step, base string) {
	var ids, more []string
	turn := "i" + g.loop()
	for k := range st.lists {
		id := g.loop()
		n := g.length(&st.lists[k], base)
		ids, more = append(ids, id), append(more, fmt.Sprintf("%s < %s", turn, n))
		g.line("size_t prev%s = 0;", id)
		only := st.lists[k]
		only.offset = nil
		g.writePlace(&only, n, false)
	}
	g.open("for (size_t %s = 0; %s; %s++) {", turn, strings.Join(more, " || "), turn)
	for k := range st.lists {
		l := &st.lists[k]
		it := &l.offset.item
		g.open("if (%s) {", more[k])
		g.refuse("%s == 0 && !wb_put_(w, q%d, %d, %d, %v, w->pos)", turn, l.offset.id, it.off, it.bits, it.order == schema.Big)
		g.writeChained(r, l, g.elem(l, base, turn), ids[k], turn)
		g.shut("}")
	}
	g.shut("}")
}

// dispatch writes a function for every set of messages with codes that tells which one comes.
func (g *cTarget) dispatch() {
	for _, set := range g.plan.sets() {
		name := g.top.take(strings.ToLower(legal(set.want())) + "_peek")
		g.line("/* Tells the id of what comes next of %s. Returns 0, a negative number if no message has it, a positive one if it is not", oneLine(set.String()))
		g.line(" * there yet. */")
		g.line("static inline int")
		g.line("%s(const wb_in *in, uint32_t *id)", name)
		g.open("{")
		g.line("wb_reader r = wb_start_(in, 0);")
		g.line("if (r.size < %d)", (set.code.off+set.code.bits+7)/8)
		g.line("\treturn WB_INCOMPLETE;")
		g.line("*id = (uint32_t)wb_load_(r.data, %d, %d, %v);", set.code.off, set.code.bits, set.code.order == schema.Big)
		g.open("switch (*id) {")
		for _, m := range set.messages {
			g.line("case %s:", strings.ToUpper(g.types[m.record]))
		}
		g.line("\treturn 0;")
		g.line("default:")
		g.line("\treturn WB_ILLEGAL;")
		g.shut("}")
		g.shut("}")
		g.line("")
	}
}
