package emit

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// cPublic are the types of callers, cSupport is internal.
//
//go:embed support_c_public.txt
var cPublic string

//go:embed support_c.txt
var cSupport string

//go:embed support_c_pack.txt
var cPack string

// cReserved are reserved words of C and C++, and names that their headers define.
var cReserved = keywords(`auto break case char const continue default do double else enum extern float for goto if inline int long
	register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex
	_Imaginary asm bool catch class const_cast delete dynamic_cast explicit export false friend mutable namespace new operator private
	protected public reinterpret_cast static_cast template this throw true try typeid typename using virtual wchar_t and or not xor
	alignas alignof constexpr decltype noexcept nullptr static_assert thread_local typeof and_eq bitand bitor compl not_eq or_eq xor_eq
	char8_t char16_t char32_t concept consteval constinit co_await co_return co_yield requires
	NULL EOF INFINITY NAN SIZE_MAX BUFSIZ errno assert offsetof unix linux
	int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t ssize_t
	off_t time_t clock_t fpos_t div_t ldiv_t mode_t pid_t uid_t gid_t id_t dev_t ino_t key_t blksize_t blkcnt_t nlink_t
	memcpy memset memcmp strlen main`)

// cInline is the maximum size in bytes of a list that is stored inside the struct, with its maximum number of elements.
const cInline = 1 << 16

// cLines is the number of lines after which another source begins.
const cLines = 15_000

// emitC writes a header in the style of MUTA's packetwriter, with an enum of the ids, and for each message a struct and the functions
// compute_sz, write and read; and the sources of the functions. All of them are C and C++.
func emitC(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, o, true, cFeatures, (&cTarget{}).selects)
	p.stored()
	g := &cTarget{
		wirer: newWirer(p, &cPrints, &cWording, cReserved), elemNames: map[schema.Type]string{}, pointees: map[*member]string{}, declared: map[*record]bool{},
		count: map[*record]int{}, kinds: map[*member]bool{},
	}
	g.tongue, g.lang = g, g
	for _, word := range keywords("in out mem bytes coder within chain result") {
		g.top.take("wb_" + word)
	}
	for _, m := range p.messages { // messages first, so that they keep their names
		g.types[m.record] = g.base(m.record.want)
	}
	for _, r := range p.records {
		if g.types[r] == "" {
			g.types[r] = g.base(r.want)
		}
		g.members(r)
	}
	var open []string
	for _, m := range p.messages {
		for _, name := range m.open {
			if !slices.Contains(open, name) {
				open = append(open, name)
				p.lose(nil, "", "the constant %s has no value; define it before including this header", name)
			}
		}
	}
	for _, r := range p.records {
		g.record(r)
	}
	g.dispatch()
	name := strings.ToLower(legal(o.name()))
	lost := p.kinds()
	files := g.files(name, "/*\n"+head(" * ", "c", s, lost), open)
	if list := p.vectors(o.Vectors); len(list) > 0 {
		files = append(files, g.vectors(name, list))
	}
	return files, lost
}

// members assigns the members of a record.
func (g *cTarget) members(r *record) {
	own := newNames(false, cReserved...)
	for _, m := range r.naming() {
		g.kinds[m] = r.union
		switch want := m.name; {
		case m.isBook:
			g.fields[m] = own.take("wb_" + want)
		case m.nth > 0:
			g.fields[m] = own.take(fmt.Sprintf("%s_%d", want, m.nth))
		default:
			g.fields[m] = own.take(want)
		}
	}
	if r.parts > 0 {
		g.parts[r] = own.take("wb_parts")
	}
	if r.choice {
		g.choices[r] = own.take("wb_alternative")
	}
}

// files returns the header and the sources. The support is part of a single source; several share it by another header.
func (g *cTarget) files(name, about string, open []string) []File {
	types := g.code
	g.code = code{}
	var own Range // of the header
	guarded := func(file, about string, body func()) File {
		g.code = code{}
		g.b.WriteString(about)
		guard := strings.ToUpper(file) + "_H"
		g.line("#ifndef %s", guard)
		g.line("#define %s", guard)
		g.line("")
		body()
		g.line("#endif")
		return File{Name: file + ".h", Text: g.b.String(), Own: own}
	}
	memory := code{}
	memory.line(" *")
	memory.doc(" * ", cMemory)
	memory.line(" */")
	files := []File{guarded(name, about+memory.b.String(), func() {
		g.line("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>")
		g.line("")
		for _, c := range open {
			g.line("#ifndef %s", legal(c))
			g.line("#error \"%s has no value in the definitions: define it\"", legal(c))
			g.line("#endif")
		}
		g.line("#ifdef __cplusplus\nextern \"C\" {\n#endif")
		g.line("")
		g.b.WriteString(cPublic)
		g.line("")
		own.Start = g.b.Len()
		g.codes()
		g.b.WriteString(types.b.String())
		own.End = g.b.Len()
		g.line("#ifdef __cplusplus\n}\n#endif")
		g.line("")
	})}
	const generated = "/* Code generated by wirebench emit --target c. DO NOT EDIT. */\n"
	include := func(file string) string { return fmt.Sprintf("#include %q\n", file+".h") }
	sources := g.sources()
	if len(sources) == 1 {
		text := strings.ReplaceAll(strings.Join(g.recursive, "")+sources[0], cLocal, "static inline ")
		return append(files, around(name+".c", generated+include(name)+"\n#include <string.h>\n\n"+g.support()+"\n", text, ""))
	}
	own = Range{}
	files = append(files, guarded(name+"_internal", generated, func() {
		g.b.WriteString(include(name) + "\n#include <string.h>\n\n" + g.support() + "\n")
		g.line("#ifdef __cplusplus\nextern \"C\" {\n#endif")
		g.line("")
		g.b.WriteString(strings.ReplaceAll(strings.Join(g.prototypes, ""), cLocal, ""))
		g.line("")
		g.line("#ifdef __cplusplus\n}\n#endif")
		g.line("")
	}))
	for i, text := range sources {
		files = append(files, around(fmt.Sprintf("%s_%d.c", name, i+1), generated+include(name+"_internal")+"\n", strings.ReplaceAll(text, cLocal, ""), ""))
	}
	return files
}

var (
	cWord     = regexp.MustCompile(`(?i)\bwb_\w+`)
	cDeclared = regexp.MustCompile(`(?m)^(?:static inline .*?\b(wb_\w+)\(|(?:\} |#define )(\w+))`)
)

// cNames returns the names that a part of the support declares.
func cNames(chunk string) (names []string) {
	if strings.Contains("\n"+chunk, "\nenum {") {
		return cWord.FindAllString(chunk, -1)
	}
	for _, m := range cDeclared.FindAllStringSubmatch(chunk, -1) {
		names = append(names, m[1]+m[2])
	}
	return names
}

// support returns the parts of the support that are used: by the functions of messages, or by those after them.
func (g *cTarget) support() string {
	used := map[string]bool{}
	note := func(text string) {
		for _, word := range cWord.FindAllString(text, -1) {
			used[word] = true
		}
	}
	for _, text := range g.functions {
		note(text)
	}
	chunks := strings.Split(strings.TrimSpace(cSupport)+"\n\n"+strings.TrimSpace(cPack), "\n\n")
	var out []string
	for _, chunk := range slices.Backward(chunks) {
		if slices.ContainsFunc(cNames(chunk), func(name string) bool { return used[name] }) {
			out = append(out, chunk)
			note(chunk)
		}
	}
	slices.Reverse(out)
	return strings.Join(out, "\n\n") + "\n"
}

// cLocal stands for the linkage of functions of parts of messages: they are static if there is a single source.
const cLocal = "LOCAL "

// sources joins the functions of records, up to cLines lines each.
func (g *cTarget) sources() []string {
	out := []string{""}
	var b strings.Builder
	lines := 0
	for _, text := range g.functions {
		n := strings.Count(text, "\n")
		if lines > 0 && lines+n > cLines {
			out[len(out)-1] = b.String()
			out = append(out, "")
			b.Reset()
			lines = 0
		}
		b.WriteString(text)
		lines += n
	}
	out[len(out)-1] = b.String()
	return out
}

// aside writes lines to the sources instead of the header.
func (g *cTarget) aside(write func()) {
	header := g.code
	g.code = code{}
	write()
	g.functions = append(g.functions, g.b.String())
	g.code = header
}

const cMemory = `NAME_read(in, m) reads the message at in->pos into m and, if it returns 0, advances in->pos past it.
NAME_write(out, m) writes m and advances out->pos. It needs NAME_compute_sz(m) bytes, including the id.
The sources must be compiled, as C99 or as C++. There is no allocation. Text and lists with a limit are stored inside the struct. Longer text points into the input; longer lists, and the
values of pointers, are stored in in->mem, which the caller owns. A pointer is NULL if its value is absent, or that of an alternative that is not selected; the one that an earlier value
selects must be there. The functions support either byte order of the machine and any alignment.`

// cTarget writes C: types, and for each message, and for each part of messages that may be used in many places, one function that passes its
// values, in wire order, to a coder, which reads, writes or measures them.
type cTarget struct {
	wirer
	count      map[*record]int        // functions of types
	looks      int                    // functions for elements
	kinds      map[*member]bool       // those of several alternatives: they are pointers
	public     string                 // the functions of a message that callers use
	prototypes []string               // of all functions that other sources may use
	recursive  []string               // of those that call themselves
	elemNames  map[schema.Type]string // names of types of elements that would otherwise be anonymous structs, by their lists
	pointees   map[*member]string     // likewise, of what members point to
	declared   map[*record]bool
	functions  []string        // of records, for the sources
	shadows    map[string]bool // identifiers of the members of the struct that is being declared
	within     []*record       // those whose size is being computed
}

// base takes a name from which the names of a type, its functions and its constants are derived.
func (g *cTarget) base(want string) string {
	want = strings.ToLower(legal(want))
	derived := func(base string) []string {
		upper := strings.ToUpper(base)
		return []string{base + "_t", base + "_compute_sz", base + "_read", base + "_write", base + "_wire_", upper, upper + "_MIN_SZ"}
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
	case n.Var == schema.Long:
		return "wb_uint128"
	case n.Add != 0:
		return "int64_t"
	case n.Kind == schema.Signed:
		return fmt.Sprintf("int%d_t", wide(n.Bits))
	}
	return fmt.Sprintf("uint%d_t", wide(n.Bits))
}

// cBits returns the type of all bits of a bitfield.
func cBits(t *schema.Bitfield) string {
	if t.Var == schema.Long {
		return "wb_uint128"
	}
	return fmt.Sprintf("uint%d_t", wide(t.Bits))
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
	case e.Size != schema.Counted || e.Max == nil || e.Null:
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

// memory returns the approximate size of a member's value in bytes.
func (g *cTarget) memory(m *member) uint64 {
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
	if m.pointer() {
		return 8
	}
	switch t := m.typ.(type) {
	case *schema.Number:
		return uint64(wide(t.Bits) / 8)
	case *schema.Bitfield:
		return uint64(len(t.Names)+1) * 8
	case *schema.Text:
		return list(t.Extent, uint64(t.Charset.Unit()))
	case *schema.Blob:
		return list(t.Extent, 1)
	case *schema.List:
		return list(t.Extent, g.elemBytes(m))
	case *schema.Choice:
		return 8 * uint64(len(m.kinds))
	}
	return g.recordBytes(m.record)
}

// recordBytes returns the size of a record; that of one in itself has no limit.
func (g *cTarget) recordBytes(r *record) uint64 {
	if slices.Contains(g.within, r) {
		return math.MaxUint32
	}
	g.within = append(g.within, r)
	n := uint64(8)
	for _, m := range r.members {
		n = min(n+g.memory(m), math.MaxUint32)
	}
	g.within = g.within[:len(g.within)-1]
	return n
}

func (g *cTarget) elemBytes(m *member) uint64 {
	if m.elem != nil {
		return g.memory(m.elem)
	}
	return g.recordBytes(m.record)
}

// listRoom returns the room of a list inside the struct.
func (g *cTarget) listRoom(m *member) (n string, ok bool) {
	e := m.typ.(*schema.List).Extent
	if e.Size != schema.Counted || e.Max == nil {
		return "", false
	}
	return g.room(e, g.elemBytes(m))
}

// pointer reports whether a member is a pointer to its value.
func (m *member) pointer() bool {
	_, ok := m.typ.(*schema.Choice)
	return m.ptr || m.null || ok && len(m.kinds) == 1
}

// spread reports whether the member is a choice whose fields are members of the record around it.
func (m *member) spread() bool {
	c, ok := m.typ.(*schema.Choice)
	return ok && c.Anon
}

// pointee returns the declaration of a value that the member points to. Name may be preceded by a star and followed by brackets.
func (g *cTarget) pointee(m *member, name string) string {
	if named := g.pointees[m]; named != "" {
		return named + " " + name
	}
	inner := *m
	inner.ptr, inner.null = false, false
	return g.declare(&inner, name)
}

// boxed returns the declaration of a value of a kind of a choice, to which there is a pointer, and which may be one.
func (g *cTarget) boxed(m *member, name string) string {
	if m.null {
		return g.declare(m, name)
	}
	return g.pointee(m, name)
}

// declare returns the declaration of a member. Name may be preceded by a star and followed by brackets.
func (g *cTarget) declare(m *member, name string) string {
	star := func(suffix string) string {
		if suffix != "" && strings.HasPrefix(name, "*") {
			return "(" + name + ")" + suffix
		}
		return name + suffix
	}
	if m.ptr || m.null {
		return g.pointee(m, "*"+name)
	}
	switch t := m.typ.(type) {
	case *schema.Number:
		return cNumber(t) + " " + name
	case *schema.Bitfield:
		var parts []string
		if t.All != "" {
			parts = append(parts, cBits(t)+" "+cAll+";")
		}
		for i, part := range g.partNames(t) {
			bits, truth := bitfieldPart(t, t.Names[i])
			typ := "bool"
			if !truth {
				typ = fmt.Sprintf("uint%d_t", wide(bits))
			}
			parts = append(parts, typ+" "+part+";")
		}
		return "struct { " + strings.Join(parts, " ") + " } " + name
	case *schema.Text:
		return g.declareRun(t, name, star)
	case *schema.Blob:
		return g.declareRun(t, name, star)
	case *schema.List:
		if t.Size == schema.Fixed {
			return g.elemType(m, star(fmt.Sprintf("[%d]", max(t.N, 1))))
		}
		if n, ok := g.listRoom(m); ok {
			return fmt.Sprintf("struct { %s len; %s; } %s", lenType(t.Extent), g.elemType(m, "data["+n+"]"), name)
		}
		return fmt.Sprintf("struct { size_t len; %s; } %s", g.elemType(m, "*data"), name)
	case *schema.Choice:
		switch len(m.kinds) {
		case 0:
			return "char " + name
		case 1:
			return g.boxed(m.kinds[0], "*"+name)
		}
	}
	return g.structType(m.record) + " " + name
}

// structType returns the type of a record. Its tag is required before it is declared, and in C++ if a member has the same name.
func (g *cTarget) structType(r *record) string {
	name := g.types[r] + "_t"
	if g.shadows[name] || !g.declared[r] {
		return "struct " + name
	}
	return name
}

// nameTypes declares names for types that would be anonymous, but of which callers make elements, or the values of pointers. boxed: the member
// is one of several that are pointers.
func (g *cTarget) nameTypes(m *member, want string, boxed bool) {
	name := func(suffix string, declare func(name string) string) string {
		if !strings.HasPrefix(declare(""), "struct {") {
			return ""
		}
		out := g.top.take(want + suffix)
		g.line("typedef %s;", declare(out))
		g.line("")
		return out
	}
	if len(m.kinds) == 1 {
		g.nameTypes(m.kinds[0], want, true)
	}
	if m.elem != nil && g.elemNames[m.typ] == "" {
		g.nameTypes(m.elem, want+"_elem", false)
		if !m.elem.pointer() {
			g.elemNames[m.typ] = name("_elem_t", func(name string) string { return g.declare(m.elem, name) })
		}
	}
	if m.ptr || m.null || boxed {
		g.pointees[m] = name("_value_t", func(name string) string { return g.pointee(m, name) })
	}
}

func (g *cTarget) declareRun(t schema.Type, name string, star func(string) string) string {
	typ, _ := unitType(t)
	switch n, length := g.inside(t); {
	case length != "":
		return fmt.Sprintf("struct { %s len; %s data[%s]; } %s", length, typ, n, name)
	case n != "":
		return typ + " " + star("["+n+"]")
	}
	return "wb_bytes " + name
}

// inside returns the maximum number of units of a text or bytes that are stored inside the struct, "" for others, and the type of their number, unless
// it is fixed.
func (g *cTarget) inside(t schema.Type) (n, length string) {
	var e schema.Extent
	switch t := t.(type) {
	case *schema.Text:
		if e = t.Extent; t.Value != nil {
			return "", ""
		}
	case *schema.Blob:
		if e = t.Extent; t.Value != nil {
			return "", ""
		}
	default:
		return "", ""
	}
	_, unit := unitType(t)
	n, ok := g.room(e, uint64(unit))
	switch {
	case e.Trim:
		return "", ""
	case e.Size == schema.Fixed:
		return strconv.Itoa(max(e.N, 1)), ""
	case ok:
		return n, lenType(e)
	}
	return "", ""
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
		g.nameTypes(m, name+"_"+g.fields[m], r.union)
	}
	g.shadows = map[string]bool{}
	for _, m := range r.members {
		g.shadows[g.fields[m]] = true
	}
	g.line("typedef struct %s_t", name)
	g.open("{")
	some := r.parts > 0 || r.choice
	for _, m := range r.members {
		if !m.spread() {
			g.member(r, m)
			some = true
		}
	}
	if r.parts > 0 {
		g.line("int %s; /* number of the %d optional parts at the end that are present */", g.parts[r], r.parts)
	}
	if r.choice {
		g.line("int %s; /* number of the alternative, from 1; 0 is none */", g.choices[r])
	}
	if !some {
		g.line("char nothing; /* no fields */")
	}
	g.shut("} %s_t;", name)
	g.shadows, g.declared[r] = nil, true
	g.line("")
	if r.message != nil {
		g.print(cPrototypes, vars{"type": name, "upper": strings.ToUpper(name), "least": r.message.min, "blank": func() { g.line("") }})
	}
	if r.message != nil {
		g.aside(func() {
			g.message(r.message)
			g.b.WriteString(g.public)
		})
	}
}

func (g *cTarget) member(r *record, m *member) {
	comment := g.words(r, m)
	if comment != "" {
		comment = " /* " + strings.ReplaceAll(comment, "/*", "/ *") + " */"
	}
	text := g.declare(m, g.fields[m])
	if r.union {
		text = g.boxed(m, "*"+g.fields[m])
	}
	g.line("%s;%s", text, comment)
}

// constants writes the named values.
func (g *cTarget) constants(m *member, n *schema.Number, place string) {
	typ, _, _ := strings.Cut(place, ".")
	g.line("/* The named values of %s. */", place)
	for _, v := range n.Enum.Values {
		g.line("#define %s %s", g.top.take(strings.ToUpper(strings.TrimSuffix(typ, "_t")+"_"+legal(m.name)+"_"+legal(v.Name))), g.number(n, v.Value))
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

const cPrototypes = `
/* The minimum size of a message in bytes, including its id. */
#define $upper_MIN_SZ ($least)
$blank
/* The size of the message in bytes, including its id. */
size_t $type_compute_sz(const $type_t *m);
/* Returns 0, a negative number if a value is not legal, or a positive number if there is no room for $type_compute_sz(s) bytes. */
int $type_write(wb_out *out, const $type_t *m);
/* Returns 0, a negative number if the message is not legal, or a positive number if it is incomplete. */
int $type_read(wb_in *in, $type_t *m);
$blank`

// elemType returns the type of the elements of a list, or of a pointer to them.
func (g *cTarget) elemType(m *member, name string) string {
	if m.elem == nil {
		return g.structType(m.record) + " " + name
	}
	if named := g.elemNames[m.typ]; named != "" {
		return named + " " + name
	}
	return g.declare(m.elem, name)
}

var cPrints = prints{
	code:    "id",
	typ:     "_t",
	remark:  "/* %s */",
	equal:   "==",
	comment: " /* $text */",
	test:    "($cond)",
}

func (g *cTarget) mask(v uint64) string { return cUint(v) }

func (g *cTarget) partNames(t *schema.Bitfield) []string {
	if t.All == "" {
		return bitfieldNames(t, cPart)
	}
	return bitfieldNames(t, cPart, cAll)
}

// dot returns a member of a value, or of what a variable points to.
func (g *cTarget) dot(base, name string) string {
	switch {
	case base == "m":
		return "m->" + name
	case strings.HasPrefix(base, "(*") && strings.IndexByte(base, ')') == len(base)-1:
		return base[2:len(base)-1] + "->" + name
	}
	return base + "." + name
}

// number returns a value of a number's type.
func (g *cTarget) number(n *schema.Number, v uint64) string {
	switch {
	case n.Kind == schema.Signed:
		return cInt(schema.SignExtend(v, n.Bits))
	case n.Kind == schema.Bool:
		return strconv.FormatBool(v != 0)
	}
	return cUint(v)
}

// dispatch writes, for every set of messages with codes, a function that returns the id of the next message.
func (g *cTarget) dispatch() {
	for _, set := range g.plan.sets() {
		name := g.top.take(strings.ToLower(legal(set.want())) + "_peek")
		g.line("/* Gets the id of the next message of %s. Returns 0, a negative number if no message has it, or a positive number if it is", oneLine(set.String()))
		g.line(" * incomplete. */")
		g.line("int %s(const wb_in *in, uint32_t *id);", name)
		g.line("")
		g.aside(func() { g.peek(name, set) })
	}
}

func (g *cTarget) peek(name string, set *set) {
	g.line("int")
	g.line("%s(const wb_in *in, uint32_t *id)", name)
	g.open("{")
	g.line("wb_coder x = wb_reading_(in, 0);")
	if set.code.form != schema.Sized {
		g.line("*id = (uint32_t)wb_raw_(&x, NULL, 0, %s, 0);", g.form(set.code.bits, set.code.form, set.code.order, false, 0))
		g.line("if (x.result != 0)\n\t\treturn x.result;")
	} else {
		g.line("if (x.size < %d)", (set.code.off+set.code.bits+7)/8)
		g.line("\treturn WB_INCOMPLETE;")
		g.line("*id = (uint32_t)wb_load_(x.data, %d, %d, %v);", set.code.off, set.code.bits, set.code.order == schema.Big)
	}
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
