package emit

import (
	_ "embed"
	"fmt"
	"go/format"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

//go:embed runtime/values.go
var goValues string

//go:embed runtime/runtime.go
var goRuntime string

//go:embed runtime/pack.go
var goPack string

// What few messages need.
var (
	//go:embed runtime/place.go
	goPlace string
	//go:embed runtime/ends.go
	goEnds string
	//go:embed runtime/texts.go
	goTexts string
	//go:embed runtime/tags.go
	goTags string
	//go:embed runtime/long.go
	goLong string
	//go:embed runtime/keys.go
	goKeys string

	goParts = []string{goEnds, goTexts, goTags, goLong, goKeys, goPack, goPlace}
)

// goImports are the packages that all code imports.
var goImports = keywords("encoding/binary encoding/hex encoding/json errors fmt math math/bits slices strconv unicode/utf8")

// goNames finds the functions and the types of a source file, and methods of the coder as x.name.
var goNames = regexp.MustCompile(`(?m)^(?:func (?:\((x) \*coder\) )?(\w+)[(\[]|type (\w+) )`)

// goUses finds the calls of these, and the only type that code names.
var goUses = regexp.MustCompile(`(?:\b(x)\.)?\b(\w+)\(|\b(Uint128)\b`)

// goSupport returns the parts of the runtime that some text needs besides those of all code, and the packages that they import.
func goSupport(text string) (support string, imports []string) {
	used := map[string]bool{}
	kept := make([]bool, len(goParts))
	for again := true; again; {
		for _, m := range goUses.FindAllStringSubmatch(text, -1) {
			used[m[1]+m[2]+m[3]] = true
		}
		again, text = false, ""
		for i, part := range goParts {
			for _, m := range goNames.FindAllStringSubmatch(part, -1) {
				if used[m[1]+m[2]+m[3]] && !kept[i] {
					kept[i], again = true, true
					text += part
				}
			}
		}
	}
	for i, part := range goParts {
		if !kept[i] {
			continue
		}
		before, _, _ := strings.Cut(strings.TrimSuffix(part, goBody(part)), "\n)\n")
		for _, line := range strings.Split(before, "\n") {
			if path := strings.Trim(line, "\t\""); strings.HasPrefix(line, "\t\"") && !slices.Contains(imports, path) && !slices.Contains(goImports, path) {
				imports = append(imports, path)
			}
		}
		support += goBody(part)
	}
	return support, imports
}

// goBody returns the declarations of a source file, without its package and its imports.
func goBody(text string) string {
	if _, body, ok := strings.Cut(text, "\nimport ("); ok {
		_, text, _ = strings.Cut(body, "\n)\n")
		return text
	}
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// goReserved are names that are unavailable at package level: keywords, predeclared names that the code uses, packages, and the
// exported declarations of the runtime.
var goReserved = keywords(`break case chan const continue default defer else fallthrough for func go goto if import interface map
	package range return select struct switch type var bool byte error false float32 float64 int int8 int16 int32 int64 len make max
	min nil rune string true uint uint8 uint16 uint32 uint64 append copy any init main _ binary errors fmt math slices strconv utf8
	Incomplete Illegal Message Messages Hex Uint8s Uint128`)

// emitGo writes a Go package of one file.
func emitGo(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, o, false, goFeatures)
	sizes := p.blobSizes()
	reserved := slices.Clone(goReserved)
	for _, n := range sizes {
		reserved = append(reserved, fmt.Sprintf("Hex%d", n))
	}
	g := &goTarget{newWirer(p, &goPrints, &goWording, reserved), map[string]int{}}
	g.tongue, g.lang = g, g
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
	more, imports := goSupport(g.b.String())
	imports, support := append(imports, goImports...), goBody(goValues)+goBody(goRuntime)+more
	slices.Sort(imports)
	fmt.Fprintf(&out, "\npackage %s\n\nimport (\n\"%s\"\n)\n\n", pkg, strings.Join(imports, "\"\n\""))
	out.WriteString(g.b.String())
	out.WriteString(support)
	for _, n := range sizes {
		fmt.Fprintf(&out, goFixedHex, n)
	}
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
		if b, ok := m.typ.(*schema.Blob); ok && fixedSize(b) {
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
	case n.Var == schema.Long:
		return "Uint128"
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
		if fixedSize(t) {
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
		typ := fmt.Sprintf("uint%d", wide(t.Bits))
		if t.Var == schema.Long {
			typ = "Uint128"
		}
		out = append(out, fmt.Sprintf("%s %s `json:%q`", goAll, typ, t.All))
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
	if m := r.message; m != nil {
		g.message(m)
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
			g.line("x := reading(data, 0)")
			g.line("if code = x.raw(nil, 0, %s, 0, \"code\"); x.err != nil {\nreturn nil, 0, x.err\n}", g.form(set.code.bits, f, set.code.order, false, 0))
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
