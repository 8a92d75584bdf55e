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

// cReserved are reserved words of C and C++, and names that their headers define.
var cReserved = keywords(`auto break case char const continue default do double else enum extern float for goto if inline int long
	register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex
	_Imaginary asm bool catch class const_cast delete dynamic_cast explicit export false friend mutable namespace new operator private
	protected public reinterpret_cast static_cast template this throw true try typeid typename using virtual wchar_t and or not xor
	alignas alignof constexpr decltype noexcept nullptr static_assert thread_local typeof
	NULL EOF INFINITY NAN SIZE_MAX BUFSIZ errno assert offsetof unix linux
	int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t ssize_t
	off_t time_t clock_t fpos_t div_t ldiv_t mode_t pid_t uid_t gid_t id_t dev_t ino_t key_t blksize_t blkcnt_t nlink_t
	memcpy memset memcmp strlen main`)

// cInline is the maximum size in bytes of a list that is stored inside the struct, with its maximum number of elements.
const cInline = 1 << 16

// emitC writes a single header in the style of MUTA's packetwriter: an enum of the ids, and for each message a struct and the functions
// compute_sz, write and read.
func emitC(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, o, true)
	g := &cTarget{walker: newWalker(p, &cPrints, cReserved), elems: map[*schema.List]string{}}
	g.lang = g
	for _, word := range keywords("in out mem bytes reader writer result") {
		g.top.take("wb_" + word)
	}
	for _, m := range p.messages { // messages first, so that they keep their names
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
				p.lose(nil, "", "the constant %s has no value; define it before including this header", name)
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

const cMemory = `NAME_read(in, s) reads the message at in->pos into s and, if it returns 0, advances in->pos past it.
NAME_write(out, s) writes s and advances out->pos. It needs NAME_compute_sz(s) bytes, including the id.
There is no allocation. Text and lists with a limit are stored inside the struct. Longer text points into the input; longer lists are
stored in in->mem, which the caller owns. The functions support either byte order of the machine and any alignment.`

type cTarget struct {
	walker
	elems map[*schema.List]string // names of types of elements that would otherwise be anonymous structs
}

// base takes a name from which the names of a type, its functions and its constants are derived.
func (g *cTarget) base(want string) string {
	want = strings.ToLower(legal(want))
	derived := func(base string) []string {
		upper := strings.ToUpper(base)
		return []string{base + "_t", base + "_compute_sz", base + "_read", base + "_write", base + "_read_", base + "_write_", upper, upper + "_MIN_SZ"}
	}
	name := want
	for i := g.top.last[want] + 1; ; i++ {
		free := true
		for _, d := range derived(name) {
			free = free && !g.top.taken[d]
		}
		if free {
			break
		}
		name = want + "_" + strconv.Itoa(i+1)
		g.top.last[want] = i
	}
	for _, d := range derived(name) {
		g.top.take(d)
	}
	return name
}

// codes writes the ids of the messages, as an enum for each set.
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
			large = large || m.m.Key.Code > math.MaxInt32 // exceeds the range of an enum
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

// unitType returns the type of a unit of text or bytes inside a struct, and its size.
func unitType(t schema.Type) (typ string, bytes int) {
	if x, ok := t.(*schema.Text); ok {
		if x.Charset == schema.UTF16LE {
			return "uint16_t", 2
		}
		return "char", 1
	}
	return "uint8_t", 1
}

// room returns the number of elements that a list has inside the struct; ok is false if it is not stored there.
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

// lenType returns the type of the length of a list inside a struct.
func lenType(e schema.Extent) string {
	switch {
	case e.Max.Const != "" || e.Max.Uint > math.MaxUint16:
		return "uint32_t"
	case e.Max.Uint > math.MaxUint8:
		return "uint16_t"
	}
	return "uint8_t"
}

// bytes returns the approximate size of a value in memory.
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
	case *schema.Bitfield:
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

// declare returns the declaration of a member. Name may be preceded by a star and followed by brackets.
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
	case *schema.Bitfield:
		var parts []string
		for i, part := range bitfieldNames(t, cPart) {
			bits, truth := bitfieldPart(t, t.Names[i])
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

// elemType declares a name for the type of a list's elements, if it would be anonymous, so that callers can declare elements.
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

// cPart returns the identifier of a part of a bitfield.
func cPart(name string) string {
	return newNames(false, cReserved...).take(name)
}

func (g *cTarget) record(r *record) {
	name := g.types[r]
	g.named(r, g.constants)
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
		g.line("int %s; /* number of the %d optional parts at the end that are present */", g.parts[r], r.parts)
	}
	if r.choice {
		g.line("int %s; /* number of the alternative, from 1; 0 is none */", g.choices[r])
	}
	if len(r.members) == 0 && r.parts == 0 && !r.choice {
		g.line("char nothing; /* no fields */")
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
	comment := g.words(r, m)
	if comment != "" {
		comment = " /* " + strings.ReplaceAll(comment, "/*", "/ *") + " */"
	}
	g.line("%s;%s", g.declare(m.typ, m.record, g.fields[m]), comment)
}

// constants writes the named values.
func (g *cTarget) constants(m *member, n *schema.Number, place string) {
	typ, _, _ := strings.Cut(place, ".")
	g.line("/* The named values of %s. */", place)
	for _, v := range n.Enum.Values {
		g.line("#define %s %s", g.top.take(strings.ToUpper(strings.TrimSuffix(typ, "_t")+"_"+legal(m.name)+"_"+legal(v.Name))), g.constant(n, v.Value))
	}
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

// message writes the public functions.
func (g *cTarget) message(m *message, name string) {
	v := vars{
		"type": name, "upper": strings.ToUpper(name), "least": m.min, "header": m.header, "pos": "r.pos", "length": "", "setLength": "", "code": "", "measured": "", "found": "",
		"blank": g.blank,
	}
	use := func(name, text string, l *item) {
		v[name] = func() {
			if l != nil {
				g.print(text, v.with(vars{"where": where(l), "bytes": (l.off + l.bits + 7) / 8}))
			} else {
				g.print(text, v)
			}
		}
	}
	if m.length != nil {
		v["pos"] = "r.size"
		use("length", cLength, m.length)
		use("setLength", "if (!wb_put_(&w, 0, $where, w.pos))\n\treturn WB_ILLEGAL;", m.length)
	}
	if m.code != nil && m.m.HasKey {
		use("code", cCode, m.code)
	}
	if m.m.Measured {
		use("measured", "r.measured = true;\nr.need = $upper_MIN_SZ;\nif (wb_sized_(&r) != 0)\n\treturn r.result;", nil)
	}
	if found := g.found(m, "w.pos"); found != "" {
		v["which"] = fmt.Sprintf("s->%s != (%s)", g.choices[m.record], found)
		use("found", "if ($which)\n\treturn WB_ILLEGAL;", nil)
	}
	g.print(cMessage, v)
	g.line("")
}

const (
	cMessage = `
/* The minimum size of a message in bytes, including its id. */
#define $upper_MIN_SZ ($least)
$blank
/* Returns 0, a negative number if a value is not legal, or a positive number if there is no room for $type_compute_sz(s) bytes. */
static inline int
$type_write(wb_out *out, const $type_t *s)
{
	size_t size = $type_compute_sz(s);
	wb_writer w;
	int result;
	if (out->pos > out->size || size > out->size - out->pos)
		return WB_INCOMPLETE;
	w.data = out->data + out->pos;
	w.size = size;
	w.pos = 0;
	w.last = SIZE_MAX;
	result = $type_write_(&w, s);
	if (result != 0)
		return result;
	if (w.last != SIZE_MAX && w.pos > w.last)
		return WB_ILLEGAL; /* data after the end of the message */
	$found
	$setLength
	out->pos += w.pos;
	return 0;
}
$blank
/* Returns 0, a negative number if the message is not legal, or a positive number if it is incomplete. */
static inline int
$type_read(wb_in *in, $type_t *s)
{
	wb_reader r = wb_start_(in, $header);
	size_t used = in->mem != NULL ? in->mem->used : 0;
	$length
	$code
	$measured
	memset(s, 0, sizeof *s);
	if ($type_read_(&r, s) != 0) {
		if (in->mem != NULL)
			in->mem->used = used;
		return r.result;
	}
	in->pos += $pos;
	return 0;
}`
	cLength = `
uint64_t size;
if (r.size < $bytes)
	return WB_INCOMPLETE;
size = wb_load_(r.data, $where);
if (size < $header)
	return WB_ILLEGAL;
if (size > r.size)
	return WB_INCOMPLETE;
r.size = (size_t)size;
r.framed = true;`
	cCode = `
if (r.size < $bytes)
	return WB_INCOMPLETE;
if (wb_load_(r.data, $where) != $upper)
	return WB_ILLEGAL;`
)

func (g *cTarget) reading(r *record, name string) {
	g.loops = 0
	g.print("static inline int\n$type_read_(wb_reader *r, $type_t *s)\n{\n\t(void)s;\n\t$body\n\treturn r->result;\n}\n$blank", vars{
		"type": name, "blank": g.blank, "body": func() { g.readSteps(r, r.steps, "s") },
	})
}

func (g *cTarget) writing(r *record, name string) {
	g.loops = 0
	g.print("static inline int\n$type_write_(wb_writer *w, const $type_t *s)\n{\n\t(void)w;\n\t(void)s;\n\t$body\n\treturn 0;\n}\n$blank", vars{
		"type": name, "blank": g.blank, "body": func() { g.writeSteps(r, r.steps, "s") },
	})
}

func (g *cTarget) sizing(r *record, name string) {
	g.loops = 0
	g.line("/* The size of the values in a message in bytes. */")
	g.line("static inline size_t")
	g.line("%s_compute_sz(const %s_t *s)", name, name)
	g.open("{")
	g.line("size_t ret = 0;")
	g.line("(void)s;")
	g.sizeSteps(r, r.steps, "s")
	g.line("return ret;")
	g.shut("}")
	g.line("")
}

func (g *cTarget) sizeSteps(r *record, steps []step, base string) {
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			g.print("if ($cond)\n\treturn ret;", vars{"cond": g.missing(r, st, base)})
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
			g.choose(r, st, base, false, func(steps []step) { g.sizeSteps(r, steps, base) })
		}
	}
}

// fixedBytes returns the size of a list's elements if it is fixed.
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
	id := g.fresh()
	t, from := st.typ.(*schema.List), g.place(base, st.path)
	count := from + ".len"
	if t.Size == schema.Fixed {
		count = strconv.Itoa(t.N)
	}
	if n, ok := fixedBytes(st); ok {
		g.line("ret = wb_add_(ret, wb_mul_(%s, %d));", count, n)
		return
	}
	elem := from + ".data[i" + id() + "]"
	if t.Size == schema.Fixed {
		elem = from + "[i" + id() + "]"
	}
	g.print(g.say.loop, vars{"id": id, "n": count, "body": func() {
		if st.rec != nil {
			g.line("ret = wb_add_(ret, %s_compute_sz(&%s));", g.types[st.rec], elem)
		} else {
			g.sizeSteps(r, st.elem, elem)
		}
	}})
}

var cPrints = prints{
	code:    "id",
	typ:     "_t",
	remark:  "/* %s */",
	equal:   "==",
	comment: " /* $text */",
	frame:   "r->size",
	first:   "if ($cond) {$comment", next: "} else if ($cond) {$comment", last: "} else {", sole: "{", end: "}",

	count:      "size_t $name = 0;",
	offset:     "uint64_t $name = 0;",
	decl:       "size_t ",
	declAt:     "uint64_t ",
	skip:       "if (wb_take_(r, $bytes) == NULL)\n\treturn r->result;",
	take:       "const uint8_t *b$id = wb_take_(r, $bytes);\nif (b$id == NULL)\n\treturn r->result;",
	countRead:  "$decl$name = wb_count_(r, $raw, $lo, $hi, $min);",
	offsetRead: "$decl$name = $raw;",
	sized:      "if (wb_sized_(r) != 0)\n\treturn r->result;",
	part:       "if (r->pos < r->size) {\n\t$parts = $part;\n\t$body\n}",
	assign:     "$to = $value;",
	checkOn:    "$value",
	check:      "if (!$cond)\n\treturn wb_fail_(r, WB_ILLEGAL);",
	checked:    "$value",
	bitfield:   "uint64_t v$id = $raw;",
	bitfieldAs: "($bits & $mask) == $match",
	bitfieldOf: "(v$id >> $shift & $mask)",
	run:        "wb_run$suffix_(r$comma, $n, $unit)",
	ended:      "wb_ended$suffix_(r$comma, $unit)",
	rest:       "wb_rest$suffix_(r$comma, $unit)",
	list: `
if ($n > 0) {
	size_t back$id = r->pos;
	$from
	if (wb_room_(r, $n, $min) != 0)
		return r->result;
	$make
	for (size_t i$id = 0; i$id < $n; i$id++) {
		$element
	}
	$back
}`,
	linked: `
if ($n > 0) {
	size_t back$id = r->pos;
	size_t pos$id = (size_t)$at;
	if (wb_chain_(r, pos$id, $n, $next) != 0)
		return r->result;
	if (wb_room_(r, $n, 0) != 0)
		return r->result;
	$make
	for (size_t i$id = 0; i$id < $n; i$id++) {
		if (wb_go_(r, pos$id) != 0)
			return r->result;
		$element
		pos$id = wb_next_(r, pos$id, $next);
	}
	$back
}`,
	toEnd: `
{
	size_t back$id = r->pos, start$id, room$id = 0;
	$from
	while (r->pos < r->size) {
		start$id = r->pos;
		if ($to.len == room$id) { /* twice the room, in new memory: there is no way to know how many will come */
			void *old = $to.data;
			room$id = room$id == 0 ? 8 : room$id * 2;
			$to.data = wb_alloc_(r, room$id, sizeof *$to.data);
			if (r->result != 0)
				return r->result;
			wb_copy_($to.data, old, $to.len * sizeof *$to.data);
		}
		if (wb_spend_(r, 1, 0) != 0)
			return r->result;
		$to.len++;
		$element
		if (r->pos == start$id)
			break;
	}
	$back
}`,
	from:    "if (wb_go_(r, $at) != 0)\n\treturn r->result;",
	stay:    "(void)back$id;",
	back:    "r->pos = back$id;",
	element: "if ($record_read_(r, &$elem) != 0)\n\treturn r->result;",

	here:         "w->pos",
	since:        "elem$id",
	some:         "$n > 0",
	grow:         "size_t p$id = w->pos;\nif (wb_grow_(w, $bytes) == NULL)\n\treturn WB_ILLEGAL;",
	growOnly:     "if (wb_grow_(w, $bytes) == NULL)\n\treturn WB_ILLEGAL;",
	place:        "size_t $local = $p;",
	putAt:        "if (!wb_put_(w, $p, $where, $value))\n\treturn WB_ILLEGAL;",
	putAtIf:      "if ($cond && !wb_put_(w, $p, $where, $value))\n\treturn WB_ILLEGAL;",
	scale:        "uint64_t v$id;\nif (!wb_scale_($from, $inverse, $bits, $signed, $wrap, $cut, &v$id))\n\treturn WB_ILLEGAL;",
	fits:         "if (!$cond)\n\treturn WB_ILLEGAL;",
	packing:      "uint64_t v$id = 0;",
	bitfieldFrom: "$from",
	partFits:     "wb_in_u_($from, 0, $mask)",
	partIs:       "$from == $mask",
	partBits:     "$bits << $shift",
	setPart:      "v$id |= $bits << $shift;",
	counted:      "if (!wb_in_u_($n, $lo, $hi))\n\treturn WB_ILLEGAL;",
	counting:     "$n",
	stop:         "if ($cond) {\n\twb_end_(w);\n\treturn 0;\n}",
	over:         "wb_end_(w);",
	writeElem:    "if ($record_write_(w, &$elem) != 0)\n\treturn WB_ILLEGAL;",
	prev:         "size_t prev$id = 0;",
	later:        "$index > 0",
	elemAt:       "size_t elem$id = w->pos;",
	prevIs:       "prev$id = elem$id;",
	loop:         "for (size_t i$id = 0; i$id < $n; i$id++) {\n\t$body\n}",
	turns:        "for (size_t $turn = 0; $conds; $turn++) {\n\t$body\n}",
	turn:         "if ($turn < $n) {\n\t$body\n}",
}

func (g *cTarget) typ(t schema.Type, r *record) string   { return g.declare(t, r, "") }
func (g *cTarget) zero(schema.Type, *record) string      { return "" }
func (g *cTarget) value(base string, at path) string     { return g.place(base, at) }
func (g *cTarget) quote(string) string                   { return "" }
func (g *cTarget) mask(v uint64) string                  { return cUint(v) }
func (g *cTarget) partNames(t *schema.Bitfield) []string { return bitfieldNames(t, cPart) }
func (g *cTarget) present([]step, string)                {}
func (g *cTarget) newElem(*step, string)                 {}

func (g *cTarget) dot(base, name string) string {
	if base == "s" {
		return "s->" + name
	}
	return base + "." + name
}

// constant returns a value of a number's type.
func (g *cTarget) constant(n *schema.Number, v uint64) string {
	switch {
	case n.Kind == schema.Signed:
		return cInt(schema.SignExtend(v, n.Bits))
	case n.Kind == schema.Bool:
		return strconv.FormatBool(v != 0)
	}
	return cUint(v)
}

// cLimits returns limits as C constants; those without a value by their names.
func cLimits(lo, hi *schema.Limit, least, most string, text func(*schema.Limit) string) (from, to string) {
	limit := func(l *schema.Limit, none string) string {
		switch {
		case l == nil:
			return none
		case l.Const != "":
			return legal(l.Const)
		}
		return text(l)
	}
	return limit(lo, least), limit(hi, most)
}

func (g *cTarget) bounds(e schema.Extent) (lo, hi string) {
	return cLimits(e.Min, e.Max, "0", "UINT64_MAX", func(l *schema.Limit) string { return cUint(l.Uint) })
}

func (g *cTarget) inRange(n *schema.Number, v string, _ bool) string {
	call, lo, hi := "wb_in_u_", "0", "UINT64_MAX"
	text := func(l *schema.Limit) string { return cUint(l.Uint) }
	switch n.Kind {
	case schema.Float:
		call, lo, hi = "wb_in_f_", "(-1e308 * 10)", "(1e308 * 10)"
		text = func(l *schema.Limit) string {
			if math.IsInf(l.Float, 0) {
				return map[bool]string{true: "(1e308 * 10)", false: "(-1e308 * 10)"}[l.Float > 0]
			}
			return floatText(l.Float)
		}
	case schema.Signed:
		call, lo, hi = "wb_in_i_", "INT64_MIN", "INT64_MAX"
		text = func(l *schema.Limit) string { return cInt(l.Int) }
	}
	if n.Min == nil && n.Max == nil {
		return ""
	}
	lo, hi = cLimits(n.Min, n.Max, lo, hi, text)
	return fmt.Sprintf("%s(%s, %s, %s)", call, v, lo, hi)
}

func (g *cTarget) signed(bits string, n *schema.Number) string {
	return fmt.Sprintf("wb_signed_(%s, %d)", bits, n.Bits)
}

func (g *cTarget) raw(b string, it *item) (bits, wide string) {
	switch {
	case it.off%8 != 0 || it.bits%8 != 0:
		bits = fmt.Sprintf("wb_load_(%s, %s)", b, where(it))
	case it.bits == 8:
		bits = fmt.Sprintf("%s[%d]", b, it.off/8)
	default:
		order := map[bool]string{true: "be", false: "le"}[it.order == schema.Big]
		bits = fmt.Sprintf("wb_%s_(%s + %d, %d)", order, b, it.off/8, it.bits/8)
	}
	return bits, bits
}

func (g *cTarget) load(b string, it *item, n *schema.Number) string {
	bits, _ := g.raw(b, it)
	switch {
	case n.Kind == schema.Float:
		return fmt.Sprintf("wb_%s_(%s)", cFloat(n), bits)
	case n.Kind == schema.Signed:
		return g.signed(bits, n)
	}
	return bits
}

// cFloat returns the type of a float on the wire.
func cFloat(n *schema.Number) string {
	return map[bool]string{true: "float", false: "double"}[n.Bits == 32]
}

func (g *cTarget) shown(n *schema.Number, value string) string {
	switch {
	case n.Kind == schema.Bool:
		return value + " != 0"
	case n.Scale != 0:
		return fmt.Sprintf("(double)%s * %s", value, floatText(n.Scale))
	case n.Kind == schema.Float:
		return value
	}
	return fmt.Sprintf("(%s)%s", cNumber(n), value)
}

func (g *cTarget) partOf(t *schema.Bitfield, name, bits string) string {
	if n, truth := bitfieldPart(t, name); !truth {
		return fmt.Sprintf("(uint%d_t)%s", wide(n), bits)
	}
	return bits + " != 0"
}

func (g *cTarget) bits(_ *schema.Bitfield, _, from string, _ *item) string {
	return "(uint64_t)" + from
}

// cBytes returns a string literal of bytes.
func cBytes(b []byte) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range b {
		fmt.Fprintf(&out, "\\%03o", c)
	}
	out.WriteByte('"')
	return out.String()
}

func (g *cTarget) readConst(b string, it *item) {
	if len(it.bytes) > 0 {
		g.print("if (memcmp($b + $at, $bytes, $n) != 0)\n\treturn wb_fail_(r, WB_ILLEGAL);", vars{
			"b": b, "at": it.off / 8, "bytes": cBytes(it.bytes),
			"n": len(it.bytes),
		})
	}
}

func (g *cTarget) readFixed(b string, it *item, to string) {
	switch typ, _ := unitType(it.typ); {
	case it.bits == 0:
	case typ == "uint16_t":
		g.print(cUnits, vars{"i": "i" + g.fresh()(), "n": it.bits / 16, "to": to, "from": fmt.Sprintf("%s + %d", b, it.off/8)})
	default:
		g.line("memcpy(%s, %s + %d, %d);", to, b, it.off/8, it.bits/8)
	}
}

const (
	cUnits    = "for (size_t $i = 0; $i < $n; $i++)\n\t$to[$i] = (uint16_t)wb_le_($from + 2 * $i, 2);"
	cPutUnits = "for (size_t $i = 0; $i < $n; $i++)\n\twb_store_(w->data + $to + 2 * $i, 0, 16, false, $from[$i]);"
	cFailed   = "if (r->result != 0)\n\treturn r->result;"
)

func (g *cTarget) readRun(st *step, to, bytes string) {
	ext := st.items[0].ext
	typ, unit := unitType(st.typ)
	room, inside := g.room(ext, uint64(unit))
	if ext.Size != schema.Fixed && !inside {
		g.line("%s = %s;", to, bytes)
		g.print(cFailed, nil)
		return
	}
	v := vars{"t": "t" + g.fresh()(), "to": to, "bytes": bytes, "room": room, "data": to, "type": ""}
	g.print("wb_bytes $t = $bytes;\n"+cFailed, v)
	if ext.Size != schema.Fixed {
		v["type"], v["data"] = lenType(ext), to+".data"
		g.print("if ($t.len > $room)\n\treturn wb_fail_(r, WB_ILLEGAL);\n$to.len = ($type)$t.len;", v) // never happens: the count was checked
	}
	if typ == "uint16_t" {
		g.print(cUnits, vars{"i": "i" + g.fresh()(), "n": expand("$t.len", v), "to": v["data"], "from": expand("$t.data", v)})
		return
	}
	g.print("wb_copy_($data, $t.data, $t.len);", v)
}

func (g *cTarget) makeList(st *step, to, n string) {
	t := st.typ.(*schema.List)
	if t.Size == schema.Fixed {
		return
	}
	v := vars{"n": n, "to": to}
	if room, inside := g.room(t.Extent, g.elemBytes(t, st.path.record(t, st.rec))); inside {
		v["room"], v["type"] = room, lenType(t.Extent)
		g.print("if ($n > $room)\n\treturn wb_fail_(r, WB_ILLEGAL);\n$to.len = ($type)$n;", v) // never happens: the count was checked
		return
	}
	g.print("$to.data = wb_alloc_(r, $n, sizeof *$to.data);\n"+cFailed+"\n$to.len = $n;", v)
}

func (g *cTarget) elem(st *step, to, id string) string {
	switch st.typ.(*schema.List).Size {
	case schema.ToEnd:
		return fmt.Sprintf("%s.data[%s.len - 1]", to, to)
	case schema.Fixed:
		return fmt.Sprintf("%s[i%s]", to, id)
	}
	return fmt.Sprintf("%s.data[i%s]", to, id)
}

func (g *cTarget) float(n *schema.Number, from string) string {
	if n.Scale == 0 {
		return from
	}
	return fmt.Sprintf("(%s)(%s * %s)", cFloat(n), from, floatText(1/n.Scale))
}

func (g *cTarget) put(p string, it *item, n *schema.Number, value string) {
	v := vars{"p": p, "where": where(it), "value": value}
	switch {
	case n != nil && n.Kind == schema.Signed && n.Scale == 0:
		g.print("if (!wb_put_signed_(w, $p, $where, $value))\n\treturn WB_ILLEGAL;", v)
		return
	case n != nil && n.Kind == schema.Bool:
		v["value"] = value + " ? 1 : 0"
	case n != nil && n.Kind == schema.Float:
		v["value"] = fmt.Sprintf("wb_%s_bits_(%s)", cFloat(n), value)
	}
	if it.bits == 64 && it.off%8 == 0 {
		g.print("wb_store_(w->data + $p, $where, $value);", v)
		return
	}
	g.print(g.say.putAt, v)
}

func (g *cTarget) writeConst(p string, it *item) {
	if len(it.bytes) > 0 {
		g.line("memcpy(w->data + %s + %d, %s, %d);", p, it.off/8, cBytes(it.bytes), len(it.bytes))
	}
}

func (g *cTarget) writeFixed(p string, it *item, from string) {
	switch typ, _ := unitType(it.typ); {
	case it.bits == 0:
	case typ == "uint16_t":
		g.print(cPutUnits, vars{"i": "i" + g.fresh()(), "n": it.bits / 16, "from": from, "to": fmt.Sprintf("%s + %d", p, it.off/8)})
	default:
		g.line("memcpy(w->data + %s + %d, %s, %d);", p, it.off/8, from, it.bits/8)
	}
}

// inside checks the length of a list that is stored inside the struct.
func (g *cTarget) inside(e schema.Extent, unit uint64, n string) bool {
	room, ok := g.room(e, unit)
	if ok {
		g.print(g.say.counted, vars{"n": n, "lo": 0, "hi": room})
	}
	return ok
}

func (g *cTarget) run(st *step, base, _ string) (n string) {
	if ext := st.items[0].ext; ext.Size == schema.Fixed {
		return strconv.Itoa(ext.N)
	}
	n = g.place(base, st.path) + ".len"
	g.inside(st.items[0].ext, uint64(st.unit()), n)
	return n
}

func (g *cTarget) putRun(st *step, base, n, id string) {
	ext := st.items[0].ext
	typ, unit := unitType(st.typ)
	_, inside := g.room(ext, uint64(unit))
	v := vars{"data": g.place(base, st.path) + ".data", "n": n, "unit": unit, "i": "i" + id, "to": "p" + id}
	if ext.Size == schema.Fixed {
		v["data"], inside = g.place(base, st.path), true
	}
	v["from"] = v["data"]
	switch {
	case inside && typ == "uint16_t":
		g.print("size_t $to = w->pos;\nif (wb_grow_(w, 2 * (size_t)$n) == NULL)\n\treturn WB_ILLEGAL;\n"+cPutUnits, v)
	case ext.Size == schema.Terminated:
		g.print("if (!wb_append_ended_(w, $data, $n, $unit))\n\treturn WB_ILLEGAL;", v)
	default:
		g.print("if (!wb_append_(w, $data, wb_mul_($n, $unit)))\n\treturn WB_ILLEGAL;", v)
	}
}

func (g *cTarget) list(st *step, base, _, index string) (n, elem string) {
	t, to := st.typ.(*schema.List), g.place(base, st.path)
	if t.Size == schema.Fixed {
		return strconv.Itoa(t.N), to + "[" + index + "]"
	}
	g.inside(t.Extent, g.elemBytes(t, st.path.record(t, st.rec)), to+".len")
	return to + ".len", to + ".data[" + index + "]"
}

func (g *cTarget) missing(r *record, st *step, base string) string {
	return fmt.Sprintf("%s < %d", g.dot(base, g.parts[r]), st.part)
}

// dispatch writes, for every set of messages with codes, a function that returns the id of the next message.
func (g *cTarget) dispatch() {
	for _, set := range g.plan.sets() {
		name := g.top.take(strings.ToLower(legal(set.want())) + "_peek")
		g.line("/* Gets the id of the next message of %s. Returns 0, a negative number if no message has it, or a positive number if it is", oneLine(set.String()))
		g.line(" * incomplete. */")
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
