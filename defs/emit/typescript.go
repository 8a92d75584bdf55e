package emit

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"wirebench/defs/schema"
)

//go:embed runtime/runtime.ts
var tsRuntime string

//go:embed runtime/pack.ts
var tsPack string

// tsReserved are words that are invalid as a top-level name of a module, or that it would shadow. The names of the runtime are others.
var tsReserved = append(keywords(`abstract any as asserts async await bigint boolean break case catch class const constructor continue debugger
	declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof
	interface is keyof let module namespace never new null number object of package private protected public readonly require return
	set static string super switch symbol this throw true try type typeof undefined unique unknown var void while with yield
	arguments eval NaN Infinity Array BigInt Boolean DataView Error Math Number Object RangeError String TextDecoder TextEncoder Uint8Array
	messages`), tsNames(tsRuntime+tsPack)...)

var tsDeclaration = regexp.MustCompile(`(?m)^(export )?(?:const|function|class|interface) (\w+)`)

// tsNames returns the names of the declarations of a text.
func tsNames(text string) (out []string) {
	for _, m := range tsDeclaration.FindAllStringSubmatch(text, -1) {
		out = append(out, m[2])
	}
	return out
}

var tsMethod = regexp.MustCompile(`(?m)^\t(?:get |set )?(\w+)(?:<\w+>)?(?:\(| = )`)

// tsWords notes the names in a text, those of members of the coder as x.name.
func tsWords(text string, used map[string]bool) {
	for _, path := range strings.FieldsFunc(text, func(c rune) bool { return c != '.' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		base, rest, _ := strings.Cut(strings.TrimLeft(path, "."), ".") // "...list" is a name, too
		if used[base] = true; base == "x" || base == "this" {
			member, _, _ := strings.Cut(rest, ".")
			used["x."+member] = true
		}
	}
}

// tsSupport returns the parts of the runtime that some text needs: functions, and methods of the coder. Users see only its errors.
func tsSupport(text string, packed bool) string {
	chunks := strings.Split(strings.TrimSuffix(tsRuntime, "\n"), "\n\n")[1:]
	if packed {
		chunks = append(chunks, strings.TrimPrefix(tsPack, "import { Coder } from \"./runtime.js\";\n\n"))
	}
	used, kept := map[string]bool{"Incomplete": true, "Illegal": true, "Refused": true}, make([]bool, len(chunks))
	for again := true; again; {
		tsWords(text, used)
		again, text = false, ""
		for i, c := range chunks {
			need := true
			if names := tsNames(c); len(names) > 0 && !slices.Contains(names, "pack") {
				need = slices.ContainsFunc(names, func(name string) bool { return used[name] })
			} else if m := tsMethod.FindStringSubmatch(c); len(names) == 0 && m != nil && m[1] != "constructor" {
				need = used["x."+m[1]]
			}
			if need && !kept[i] {
				kept[i], again = true, true
				text += c
			}
		}
	}
	var out []string
	for i, c := range chunks {
		if kept[i] {
			out = append(out, c)
		} else if strings.HasPrefix(c, "\t") && strings.HasSuffix(c, "\n}") { // the end of the class
			out[len(out)-1] += "\n}"
		}
	}
	return tsDeclaration.ReplaceAllStringFunc(strings.TrimSpace(strings.Join(out, "\n\n"))+"\n", func(s string) string {
		if !strings.HasPrefix(s, "export class ") || strings.HasSuffix(s, " Coder") {
			s = strings.TrimPrefix(s, "export ")
		}
		return s
	})
}

// emitTypeScript writes a TypeScript module of one file.
func emitTypeScript(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, o, false, tsFeatures)
	p.stored()
	g := &tsTarget{newWirer(p, &tsPrints, &tsWording, tsReserved), map[string]string{}, map[*member]bool{}, nil}
	g.tongue, g.lang = g, g
	for _, m := range p.messages { // messages first, so that they keep their names
		g.types[m.record] = g.top.take(camel(m.record.want))
	}
	for _, r := range p.records {
		if g.types[r] == "" {
			g.types[r] = g.top.take(camel(r.want))
		}
		g.members(r)
		for _, word := range []string{"new", "wire", "alternative"} {
			g.top.take(word + g.types[r])
		}
	}
	for _, r := range p.records {
		g.record(r)
	}
	g.dispatch()
	base := strings.ToLower(legal(o.name()))
	if len(g.encodings) > 0 {
		g.b.WriteString("// The encodings of integers.\n" + strings.Join(g.encodings, "") + "\n")
	}
	files := []File{around(base+".ts", head("// ", "ts", s, p.kinds())+"\n", g.b.String(), tsSupport(g.b.String(), p.packed))}
	if list := p.vectors(o.Vectors); len(list) > 0 {
		files = append(files, g.vectors(base, list))
	}
	return files, p.kinds()
}

// members assigns the properties of a record. They have the names of the definition: any text is valid as a property.
func (g *tsTarget) members(r *record) {
	taken := map[string]bool{}
	own := func(want string) string {
		name := want
		for i := 2; taken[name]; i++ {
			name = want + "_" + strconv.Itoa(i)
		}
		taken[name] = true
		return name
	}
	for _, m := range r.naming() {
		if c, ok := m.typ.(*schema.Choice); ok && c.Anon {
			continue // its alternatives have members
		}
		switch want := m.label(); {
		case m.isBook:
			g.fields[m] = own("wb_" + want)
		case m.alt && taken[want]: // of another alternative: the type of the property is a union
			g.fields[m] = want
		case want == "__proto__": // special in JavaScript
			g.fields[m] = own("__proto___")
		default:
			g.fields[m] = own(want)
		}
	}
	for _, m := range r.members {
		g.kinds[m] = r.union
	}
	if r.choice {
		g.choices[r] = own("wb_alternative")
	}
}

// property returns a name as a property of an interface.
func property(name string) string {
	if isName(name) && !strings.HasPrefix(name, "_") || strings.Trim(name, "_") != "" && isName(name) {
		return name
	}
	return strconv.Quote(name)
}

// dot returns the access to a property.
func dot(name string) string {
	if p := property(name); p == name {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}

func tsNumber(n *schema.Number) string {
	switch {
	case n.Kind == schema.Bool:
		return "boolean"
	case n.Kind != schema.Float && n.Scale == 0 && n.Bits > 32:
		return "bigint"
	}
	return "number"
}

// memberType returns the type of a member, if there is a value.
func (g *tsTarget) memberType(m *member) string {
	if c, ok := m.typ.(*schema.Choice); ok {
		switch {
		case c.Anon || len(m.kinds) == 0:
			return "undefined"
		case len(m.kinds) == 1:
			return g.memberType(m.kinds[0])
		}
		return g.types[m.record]
	}
	if _, ok := m.typ.(*schema.List); !ok || m.elem == nil {
		return g.typ(m.typ, m.record)
	}
	elem := g.memberType(m.elem)
	if g.maybe(m.elem) {
		elem += " | undefined"
	}
	if strings.ContainsAny(elem, " {") {
		return "Array<" + elem + ">"
	}
	return elem + "[]"
}

// maybe reports whether a member may be missing.
func (g *tsTarget) maybe(m *member) bool {
	switch t := m.typ.(type) {
	case *schema.Choice:
		if len(m.kinds) < 2 {
			return true
		}
	case *schema.List:
		if t.Null {
			return true
		}
	case *schema.Blob:
		if t.Null {
			return true
		}
	}
	return m.part > 0 || m.alt || m.ptr || m.null
}

func (g *tsTarget) typ(t schema.Type, r *record) string {
	switch t := t.(type) {
	case *schema.Number:
		return tsNumber(t)
	case *schema.Bitfield:
		var parts []string
		for _, name := range tsParts(t) {
			parts = append(parts, property(name)+": "+tsPart(t, name))
		}
		return "{ " + strings.Join(parts, "; ") + " }"
	case *schema.Text:
		return "string"
	case *schema.Blob:
		return "Uint8Array"
	case *schema.List:
		if t.Bare {
			return g.typ(t.Elem.Fields[0].Type, r) + "[]"
		}
		return g.types[r] + "[]"
	}
	return g.types[r]
}

// tsParts returns the properties of a bitfield.
func tsParts(t *schema.Bitfield) []string {
	if t.All != "" {
		return append(slices.Clone(t.Names), t.All)
	}
	return t.Names
}

func tsPart(t *schema.Bitfield, name string) string {
	switch bits, truth := bitfieldPart(t, name); {
	case name == t.All && name != "":
		if t.Bits > 32 {
			return "bigint"
		}
	case truth:
		return "boolean"
	case bits > 32:
		return "bigint"
	}
	return "number"
}

// zeroOf returns the zero value of a member.
func (g *tsTarget) zeroOf(m *member) string {
	t, ok := m.typ.(*schema.List)
	switch c, choice := m.typ.(*schema.Choice); {
	case choice && (c.Anon || len(m.kinds) == 0):
		return "undefined"
	case choice && len(m.kinds) == 1:
		return g.zeroOf(m.kinds[0])
	case !ok:
		return g.zero(m.typ, m.record)
	case t.Size == schema.Fixed:
		return fmt.Sprintf("Array.from({ length: %d }, %s)", t.N, g.maker(m))
	}
	return "[]"
}

// maker returns a function that makes an element of a list.
func (g *tsTarget) maker(m *member) string {
	if m.elem == nil {
		return "new" + g.types[m.record]
	}
	zero := "undefined"
	if !g.maybe(m.elem) {
		zero = g.zeroOf(m.elem)
	}
	if strings.HasPrefix(zero, "{") {
		zero = "(" + zero + ")"
	}
	return "() => " + zero
}

// zero returns the zero value of a type that is no list.
func (g *tsTarget) zero(t schema.Type, r *record) string {
	zeros := map[string]string{"boolean": "false", "bigint": "0n", "number": "0"}
	switch t := t.(type) {
	case *schema.Number:
		return zeros[tsNumber(t)]
	case *schema.Bitfield:
		var parts []string
		for _, name := range tsParts(t) {
			parts = append(parts, property(name)+": "+zeros[tsPart(t, name)])
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case *schema.Text:
		return `""`
	case *schema.Blob:
		if t.Size == schema.Fixed {
			return fmt.Sprintf("new Uint8Array(%d)", t.N)
		}
		return "new Uint8Array(0)"
	}
	return "new" + g.types[r] + "()"
}

func (g *tsTarget) record(r *record) {
	name := g.types[r]
	g.named(r, g.constants(name))
	g.line("/**")
	switch m := r.message; {
	case m == nil:
		g.line(" * %s is part of messages.", name)
	case m.m.HasKey:
		g.line(" * %s is the message %s, code %d.", name, oneLine(m.name), m.m.Key.Code)
	default:
		g.line(" * %s is the message %s. Its code is not in the definitions.", name, oneLine(m.name))
	}
	g.doc(" * ", r.doc)
	g.line(" */")
	g.open("export interface %s {", name)
	types := map[string][]string{} // types of a property; several members of alternatives may share one
	for _, m := range r.members {
		if c, ok := m.typ.(*schema.Choice); ok && c.Anon {
			continue
		}
		if key, typ := g.fields[m], g.memberType(m); !slices.Contains(types[key], typ) {
			types[key] = append(types[key], typ)
		}
	}
	for _, m := range r.members {
		if key, ok := g.fields[m]; ok && types[key] != nil {
			g.member(r, m, strings.Join(types[key], " | "))
			types[key] = nil
		}
	}
	if r.choice {
		g.line("%s?: number; // number of the alternative, from 1; 0 or undefined is none", property(g.choices[r]))
	}
	g.shut("}")
	g.line("")
	g.open("function new%s(): %s {", name, name)
	g.open("return {")
	for _, m := range r.members {
		if !r.union && !g.maybe(m) {
			g.line("%s: %s,", property(g.fields[m]), g.zeroOf(m))
		}
	}
	g.shut("};")
	g.shut("}")
	g.line("")
	if m := r.message; m != nil {
		g.message(m)
	}
}

func (g *tsTarget) member(r *record, m *member, typ string) {
	comment, maybe := g.words(r, m), ""
	if comment != "" {
		comment = " // " + comment
	}
	if r.union || g.maybe(m) {
		maybe = "?"
	}
	g.line("%s%s: %s;%s", property(g.fields[m]), maybe, typ, comment)
}

// constants writes the named values.
func (g *tsTarget) constants(typ string) func(m *member, n *schema.Number, place string) {
	return func(m *member, n *schema.Number, place string) {
		g.line("/** The named values of %s. */", place)
		g.open("export const %s = {", g.top.take(typ+camel(m.name)))
		seen := map[string]bool{}
		for _, v := range n.Enum.Values {
			name := v.Name
			for i := 2; seen[name] || name == "__proto__"; i++ {
				name = v.Name + "_" + strconv.Itoa(i)
			}
			seen[name] = true
			g.line("%s: %s,", property(name), tsConstant(n, v.Value))
		}
		g.shut("} as const;")
	}
}

// tsConstant returns a value of a number's type.
func tsConstant(n *schema.Number, v uint64) string {
	text := goConstant(n, v)
	if tsNumber(n) == "bigint" {
		text += "n"
	}
	return text
}

// jsString returns a string literal.
func jsString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		if c < 0x20 || c == '"' || c == '\\' || c >= 0x7f && c < 0x10000 {
			fmt.Fprintf(&b, "\\u%04x", c)
		} else {
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// dispatch writes the table of messages, and for every set of messages with codes a function that reads the next one.
func (g *tsTarget) dispatch() {
	g.line("/** All messages by their names in the definitions, followed by the version if it is not 1. */")
	g.open("export const messages = {")
	seen := map[string]bool{}
	for _, m := range g.plan.messages {
		if !seen[m.name] {
			g.line("[%s]: %s,", jsString(m.name), g.types[m.record])
		}
		seen[m.name] = true
	}
	g.shut("} as const;")
	g.line("")
	for _, set := range g.plan.sets() {
		name := g.top.take("read" + camel(set.want()))
		g.line("/** Reads the message at the start of the view, which may be any of %s. Throws Incomplete or Illegal. */", oneLine(set.String()))
		g.open("export function %s(view: DataView) {", name)
		g.line("const x = new Coder(view, 0, false);")
		if f := set.code.form; f != schema.Sized {
			g.line("const code = Number(x.rawBig(0, 0, %s, 0n, \"code\"));", g.form(set.code.bits, f, set.code.order, false, 0))
		} else {
			g.line("const code = x.peek(%d, %d, %v);", set.code.off, set.code.bits, set.code.order == schema.Big)
		}
		g.open("switch (code) {")
		for _, m := range set.messages {
			g.line("case %d:", m.m.Key.Code)
			g.line("\treturn { message: %s, ...%s.read(view) } as const;", jsString(m.name), g.types[m.record])
		}
		g.line("default:")
		g.line("\tthrow new Illegal(\"code\", `no message with code ${code}`);")
		g.shut("}")
		g.shut("}")
		g.line("")
	}
}
