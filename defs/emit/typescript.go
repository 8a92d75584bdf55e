package emit

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

//go:embed support_ts.txt
var tsSupport string

// tsReserved are words that a name at the top of a module cannot have, or would hide.
var tsReserved = keywords(`abstract any as asserts async await bigint boolean break case catch class const constructor continue debugger
	declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof
	interface is keyof let module namespace never new null number object of package private protected public readonly require return
	set static string super switch symbol this throw true try type typeof undefined unique unknown var void while with yield
	arguments eval NaN Infinity Array BigInt Boolean DataView Error Math Number Object String TextDecoder TextEncoder Uint8Array
	Incomplete Illegal Refused Reader Writer load scaled upToZero decode16 encode16 decodeLatin1 encodeLatin1 decode8 encode8 messages`)

// emitTypeScript writes a TypeScript module of one file.
func emitTypeScript(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, false)
	g := &tsTarget{plan: p, types: map[*record]string{}, keys: map[*member]string{}, choices: map[*record]string{}, top: newNames(false, tsReserved...)}
	for _, m := range p.messages { // messages first: they keep their names
		g.types[m.record] = g.top.take(camel(m.record.want))
	}
	for _, r := range p.records {
		if g.types[r] == "" {
			g.types[r] = g.top.take(camel(r.want))
		}
		g.members(r)
		for _, word := range []string{"new", "read", "write"} {
			g.top.take(word + g.types[r])
		}
	}
	for _, r := range p.records {
		g.record(r)
	}
	g.dispatch()
	var out strings.Builder
	out.WriteString(head("// ", "ts", s, p.losses))
	out.WriteString("\n")
	out.WriteString(g.b.String())
	out.WriteString(tsSupport)
	base := strings.ToLower(legal(o.name()))
	files := []File{{Name: base + ".ts", Text: out.String()}}
	if list := p.vectors(o.Vectors); len(list) > 0 {
		files = append(files, g.vectors(base, list))
	}
	return files, p.losses
}

type tsTarget struct {
	code
	plan    *plan
	top     *names
	types   map[*record]string
	keys    map[*member]string // names of properties, as they are
	choices map[*record]string
	loops   int
}

// members names the properties of a record. They are called as in the definition: any text can be a property.
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
	for _, m := range r.members {
		switch {
		case m.isBook:
			continue
		case m.alt && taken[m.name]: // of another alternative: the property has the types of both
			g.keys[m] = m.name
		case m.name == "__proto__": // means something else to JavaScript
			g.keys[m] = own("__proto___")
		default:
			g.keys[m] = own(m.name)
		}
	}
	for _, m := range r.members {
		if m.isBook {
			g.keys[m] = own(m.name)
		}
	}
	if r.choice {
		g.choices[r] = own("alternative")
	}
}

// property is a name as a property in an interface.
func property(name string) string {
	if isName(name) && !strings.HasPrefix(name, "_") || strings.Trim(name, "_") != "" && isName(name) {
		return name
	}
	return strconv.Quote(name)
}

// dot is the access to a property.
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

func (g *tsTarget) typ(t schema.Type, r *record) string {
	switch t := t.(type) {
	case *schema.Number:
		return tsNumber(t)
	case *schema.Packed:
		var parts []string
		for _, name := range t.Names {
			parts = append(parts, property(name)+": "+tsPart(t, name))
		}
		return "{ " + strings.Join(parts, "; ") + " }"
	case *schema.Text:
		return "string"
	case *schema.Blob:
		return "Uint8Array"
	case *schema.List:
		if t.Bare {
			inner := g.typ(t.Elem.Fields[0].Type, r)
			if strings.HasPrefix(inner, "{") {
				return "Array<" + inner + ">"
			}
			return inner + "[]"
		}
	}
	if _, ok := t.(*schema.List); ok {
		return g.types[r] + "[]"
	}
	return g.types[r]
}

func tsPart(t *schema.Packed, name string) string {
	switch bits, truth := packedPart(t, name); {
	case truth:
		return "boolean"
	case bits > 32:
		return "bigint"
	}
	return "number"
}

// zero is a value of a type that nothing was read into.
func (g *tsTarget) zero(t schema.Type, r *record) string {
	switch t := t.(type) {
	case *schema.Number:
		return map[string]string{"boolean": "false", "bigint": "0n", "number": "0"}[tsNumber(t)]
	case *schema.Packed:
		var parts []string
		for _, name := range t.Names {
			parts = append(parts, property(name)+": "+map[string]string{"boolean": "false", "bigint": "0n", "number": "0"}[tsPart(t, name)])
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case *schema.Text:
		return `""`
	case *schema.Blob:
		if t.Size == schema.Fixed {
			return fmt.Sprintf("new Uint8Array(%d)", t.N)
		}
		return "new Uint8Array(0)"
	case *schema.List:
		if t.Size != schema.Fixed {
			return "[]"
		}
		elem := ""
		if t.Bare {
			elem = g.zero(t.Elem.Fields[0].Type, r)
		} else {
			elem = "new" + g.types[r] + "()"
		}
		if strings.HasPrefix(elem, "{") {
			elem = "(" + elem + ")"
		}
		return fmt.Sprintf("Array.from({ length: %d }, () => %s)", t.N, elem)
	}
	return "new" + g.types[r] + "()"
}

func (g *tsTarget) record(r *record) {
	name := g.types[r]
	g.enums(r, name)
	g.line("/**")
	switch m := r.message; {
	case m == nil:
		g.line(" * %s is a part of messages.", name)
	case m.m.HasKey:
		g.line(" * %s is the message %s, code %d.", name, oneLine(m.name), m.m.Key.Code)
	default:
		g.line(" * %s is the message %s. The definitions do not tell its code.", name, oneLine(m.name))
	}
	g.doc(" * ", r.doc)
	g.line(" */")
	g.open("export interface %s {", name)
	written := map[string]bool{}
	for _, m := range r.members {
		if !written[g.keys[m]] {
			g.member(r, m)
		}
		written[g.keys[m]] = true
	}
	if r.choice {
		g.line("%s?: number; // which alternative follows, counted from 1; none without it", property(g.choices[r]))
	}
	g.shut("}")
	g.line("")
	g.open("function new%s(): %s {", name, name)
	g.open("return {")
	for _, m := range r.members {
		if m.part == 0 && !m.alt {
			g.line("%s: %s,", property(g.keys[m]), g.zero(m.typ, m.record))
		}
	}
	g.shut("};")
	g.shut("}")
	g.line("")
	if m := r.message; m != nil {
		g.message(m, name)
	}
	if r.message != nil || r.element {
		g.loops = 0
		g.open("function read%s(r: Reader): %s {", name, name)
		g.line("const m = new%s();", name)
		g.readSteps(r, r.steps, "m")
		g.line("return m;")
		g.shut("}")
		g.line("")
		g.loops = 0
		g.open("function write%s(w: Writer, m: %s): void {", name, name)
		g.writeSteps(r, r.steps, "m")
		g.shut("}")
		g.line("")
	}
}

func (g *tsTarget) member(r *record, m *member) {
	types := []string{g.typ(m.typ, m.record)}
	for _, other := range r.members {
		if other != m && g.keys[other] == g.keys[m] && g.typ(other.typ, other.record) != types[0] {
			types = append(types, g.typ(other.typ, other.record))
		}
	}
	var words []string
	if m.field != nil && m.field.TypeText != "" {
		words = append(words, m.field.TypeText)
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
	comment, maybe := "", ""
	if len(words) > 0 {
		comment = " // " + oneLine(strings.Join(words, ": "))
	}
	if m.part > 0 || m.alt {
		maybe = "?"
	}
	g.line("%s%s: %s;%s", property(g.keys[m]), maybe, strings.Join(types, " | "), comment)
}

// enums writes the names of values as constants.
func (g *tsTarget) enums(r *record, typ string) {
	for _, m := range r.members {
		n, ok := m.typ.(*schema.Number)
		if !ok || n.Enum == nil || len(n.Enum.Values) == 0 || n.Kind == schema.Float || n.Kind == schema.Bool || n.Scale != 0 {
			continue
		}
		g.line("/** The values of %s%s that have names. */", typ, oneLine(dot(g.keys[m])))
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
		g.line("")
	}
}

// tsConstant is a value of a number's type.
func tsConstant(n *schema.Number, v uint64) string {
	text := goConstant(n, v)
	if tsNumber(n) == "bigint" {
		text += "n"
	}
	return text
}

func (g *tsTarget) message(m *message, name string) {
	g.open("export const %s = {", name)
	g.line("message: %s,", jsString(m.name))
	if m.m.HasKey {
		g.line("code: %d,", m.m.Key.Code)
	}
	g.line("/** Reads the message at the start of the view, and tells how many bytes it has. Throws Incomplete or Illegal. */")
	g.open("read(view: DataView): { value: %s; size: number } {", name)
	g.line("%s r = new Reader(view, %d);", map[bool]string{true: "let", false: "const"}[m.length != nil], m.header)
	if l := m.length; l != nil {
		g.line("if (view.byteLength < %d) throw new Incomplete();", (l.off+l.bits+7)/8)
		g.line("const size = Number(load(view, 0, %d, %d, %v));", l.off, l.bits, l.order == schema.Big)
		g.line("if (size < %d) throw new Illegal(\"length\", `it is ${size}`);", m.header)
		g.line("if (size > view.byteLength) throw new Incomplete();")
		g.line("r = new Reader(new DataView(view.buffer, view.byteOffset, size), %d);", m.header)
		g.line("r.framed = true;")
	}
	if c := m.code; c != nil && m.m.HasKey {
		g.line("if (r.view.byteLength < %d) throw new Incomplete();", (c.off+c.bits+7)/8)
		g.line("const code = Number(load(r.view, 0, %d, %d, %v));", c.off, c.bits, c.order == schema.Big)
		g.line("if (code !== %d) throw new Illegal(\"code\", `it is ${code}`);", m.m.Key.Code)
	}
	if m.m.Measured {
		g.line("r.measured = true;")
		g.line("r.size = %s;", m.min)
		g.line("r.sized();")
	}
	g.line("const value = read%s(r);", name)
	if m.length != nil {
		g.line("return { value, size };")
	} else {
		g.line("return { value, size: r.pos };")
	}
	g.shut("},")
	g.line("/** The bytes of the message. Throws Refused. */")
	g.open("write(value: %s): Uint8Array {", name)
	g.line("const w = new Writer();")
	g.line("write%s(w, value);", name)
	g.lengths(m)
	if l := m.length; l != nil {
		g.line("w.put(0, %d, %d, %v, w.pos, \"length\");", l.off, l.bits, l.order == schema.Big)
	}
	g.line("return w.close();")
	g.shut("},")
	g.shut("};")
	g.line("")
}

func (g *tsTarget) lengths(m *message) {
	for i := range m.record.steps {
		st := &m.record.steps[i]
		if st.kind != stepChoice || !m.record.choice {
			continue
		}
		found := "0"
		for k := len(st.cases) - 1; k >= 0; k-- {
			cond := strings.ReplaceAll(lengthIs(st.cases[k], "w.pos"), "==", "===")
			found = fmt.Sprintf("%s ? %d : %s", cond, k+1, found)
		}
		g.line("const found = %s;", found)
		g.line("if (found !== (value%s ?? 0)) throw new Refused(\"alternative\", \"a message of this size has another one\");", dot(g.choices[m.record]))
	}
}

// jsString is a string literal.
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

func (g *tsTarget) loop() string {
	g.loops++
	return strconv.Itoa(g.loops)
}

// place is the expression that a value is read into.
func (g *tsTarget) place(base string, at path) string {
	for i, m := range at {
		if m == nil {
			continue
		}
		base += dot(g.keys[m])
		if i < len(at)-1 && (m.part > 0 || m.alt) {
			base += "!"
		}
	}
	return base
}

// value is the expression that a value is written from.
func (g *tsTarget) value(base string, at path) string {
	for _, m := range at {
		if m == nil {
			continue
		}
		base += dot(g.keys[m])
		if m.part > 0 || m.alt {
			base = fmt.Sprintf("((%s as %s | undefined) ?? %s)", base, g.typ(m.typ, m.record), g.zero(m.typ, m.record))
		}
	}
	return base
}

// present makes the groups that a step is the first to fill.
func (g *tsTarget) present(steps []step, base string) {
	seen := map[*member]bool{}
	note := func(at path) {
		for i, m := range at[:max(len(at)-1, 0)] {
			if m != nil && !seen[m] && (m.part > 0 || m.alt) {
				seen[m] = true
				to := g.place(base, at[:i+1])
				g.line("%s ??= %s;", to, g.zero(m.typ, m.record))
			}
		}
	}
	for i := range steps {
		for k := range steps[i].items {
			if steps[i].items[k].kind == schema.Value {
				note(steps[i].items[k].path)
			}
		}
		note(steps[i].path)
	}
}

func (g *tsTarget) readSteps(r *record, steps []step, base string) {
	for i := range steps {
		for k := range steps[i].items { // what is read under a condition is needed under the next one
			if it := &steps[i].items[k]; steps[i].part > 0 && it.local != nil {
				g.line("let %s%d = 0;", localName(it.kind), it.local.id)
			}
		}
	}
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			g.open("if (r.more()) {")
			g.present(steps[i:i+1], base)
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
			for k, ch := range st.cases {
				word := "} else if"
				if k == 0 {
					word = "if"
				}
				g.open("%s (%s) {", word, g.chosen(ch, base, "r.view.byteLength"))
				if r.choice {
					g.line("%s%s = %d;", base, dot(g.choices[r]), k+1)
				}
				g.present(ch.steps, base)
				g.readSteps(r, ch.steps, base)
				g.depth--
			}
			g.line("}")
		}
		if st.part > 0 {
			g.shut("}")
		}
	}
}

func localName(kind schema.ItemKind) string {
	if kind == schema.Count {
		return "n"
	}
	return "at"
}

// chosen is the condition of an alternative.
func (g *tsTarget) chosen(ch choice, base, size string) string {
	if ch.field != nil {
		return fmt.Sprintf("%s === %s", g.value(base, ch.field), tsConstant(ch.typ, ch.value))
	}
	return strings.ReplaceAll(lengthIs(ch, size), "==", "===")
}

// raw reads the bits of an item of the block at b: a number up to 32 bits, a bigint above.
func tsRaw(b string, it *item) string {
	if it.off%8 == 0 {
		at := tsAt(b, it.off/8)
		switch it.bits {
		case 8:
			return fmt.Sprintf("r.view.getUint8(%s)", at)
		case 16, 32:
			return fmt.Sprintf("r.view.getUint%d(%s, %v)", it.bits, at, it.order == schema.Little)
		case 64:
			return fmt.Sprintf("r.view.getBigUint64(%s, %v)", at, it.order == schema.Little)
		}
	}
	text := fmt.Sprintf("load(r.view, %s, %d, %d, %v)", b, it.off, it.bits, it.order == schema.Big)
	if it.bits <= 32 {
		return "Number(" + text + ")"
	}
	return text
}

func tsAt(b string, off int) string {
	if off == 0 {
		return b
	}
	return fmt.Sprintf("%s + %d", b, off)
}

func tsBounds(e schema.Extent) (lo, hi string) {
	lo, hi = bounds(e)
	if e.Max == nil {
		hi = "Infinity"
	}
	return lo, hi
}

func (g *tsTarget) readBlock(st *step, base string) {
	b := "b" + g.loop()
	counts := false
	for i := range st.items {
		counts = counts || st.items[i].kind == schema.Count
	}
	if !reads(st.items) {
		g.line("r.take(%d);", st.bits/8)
		return
	}
	g.line("const %s = r.take(%d);", b, st.bits/8)
	set := "const "
	if st.part > 0 {
		set = ""
	}
	for i := range st.items {
		it := &st.items[i]
		switch it.kind {
		case schema.Count:
			lo, hi := tsBounds(it.ext)
			g.line("%sn%d = r.count(%s, %s, %s, %s, %s);", set, it.local.id, tsRaw(b, it), lo, hi, it.unit, jsString(it.label))
		case schema.Offset:
			g.line("%sat%d = %s; // %s", set, it.local.id, tsRaw(b, it), oneLine(it.label))
		}
	}
	if counts {
		g.line("r.sized();")
	}
	for i := range st.items {
		g.readItem(b, &st.items[i], base)
	}
}

func (g *tsTarget) readItem(b string, it *item, base string) {
	slice := fmt.Sprintf("r.slice(%s, %s)", tsAt(b, it.off/8), tsAt(b, (it.off+it.bits)/8))
	switch it.kind {
	case schema.Const:
		for i, c := range it.bytes {
			g.line("if (r.view.getUint8(%s) !== %d) throw new Illegal(\"% x\", \"bytes that must be others\");", tsAt(b, it.off/8+i), c, it.bytes)
		}
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.path != nil {
			g.line("%s = %s;", g.place(base, it.path), tsRaw(b, it))
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
		if !exact(t) {
			slice = fmt.Sprintf("upToZero(%s, %d)", slice, t.Charset.Unit())
		}
		g.line("%s = %s;", to, tsText(t.Charset, slice))
	case *schema.Blob:
		g.line("%s = %s;", to, slice)
	}
}

func tsText(set schema.Charset, bytes string) string {
	switch set {
	case schema.UTF16LE:
		return "decode16(" + bytes + ")"
	case schema.Latin1:
		return "decodeLatin1(" + bytes + ")"
	}
	return "decode8(" + bytes + ")"
}

func (g *tsTarget) readNumber(b string, it *item, n *schema.Number, to string) {
	at, little := tsAt(b, it.off/8), it.order == schema.Little
	value := tsRaw(b, it)
	zero := "0"
	if n.Bits > 32 && n.Kind != schema.Float {
		zero = "0n"
	}
	whole := it.off%8 == 0
	switch {
	case n.Kind == schema.Float:
		value = fmt.Sprintf("r.view.getFloat%d(%s, %v)", n.Bits, at, little)
	case n.Kind == schema.Signed && whole && n.Bits == 8:
		value = fmt.Sprintf("r.view.getInt8(%s)", at)
	case n.Kind == schema.Signed && whole && (n.Bits == 16 || n.Bits == 32):
		value = fmt.Sprintf("r.view.getInt%d(%s, %v)", n.Bits, at, little)
	case n.Kind == schema.Signed && n.Bits > 32:
		value = fmt.Sprintf("BigInt.asIntN(%d, %s)", n.Bits, value)
	case n.Kind == schema.Signed:
		value = fmt.Sprintf("Number(BigInt.asIntN(%d, BigInt(%s)))", n.Bits, value)
	}
	if cond := tsRange(n, "v", zero == "0n"); cond != "" {
		v := "v" + g.loop()
		g.line("const %s = %s;", v, value)
		g.line("if (!(%s)) throw new Illegal(%s, \"the value is outside its legal range\");", tsRange(n, v, zero == "0n"), jsString(it.label))
		value = v
	}
	switch {
	case n.Kind == schema.Bool:
		value += " !== " + zero
	case n.Scale != 0 && zero == "0n":
		value = fmt.Sprintf("Number(%s) * %s", value, floatText(n.Scale))
	case n.Scale != 0:
		value = fmt.Sprintf("%s * %s", value, floatText(n.Scale))
	}
	g.line("%s = %s;", to, value)
}

// tsRange is the condition that a value is legal, "" if all are.
func tsRange(n *schema.Number, v string, big bool) string {
	var parts []string
	limit := func(l *schema.Limit, op string, all uint64) {
		if l == nil {
			return
		}
		text := ""
		switch n.Kind {
		case schema.Float:
			text = strconv.FormatFloat(l.Float, 'g', -1, 64)
			if math.IsInf(l.Float, 0) {
				text = map[bool]string{true: "Infinity", false: "-Infinity"}[l.Float > 0]
			}
		case schema.Signed:
			text = strconv.FormatInt(l.Int, 10)
		default:
			if l.Uint == all {
				return
			}
			text = strconv.FormatUint(l.Uint, 10)
		}
		if big {
			text += "n"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", v, op, text))
	}
	limit(n.Min, ">=", 0)
	limit(n.Max, "<=", math.MaxUint64)
	return strings.Join(parts, " && ")
}

func (g *tsTarget) readPacked(b string, it *item, t *schema.Packed, to string) {
	v := "v" + g.loop()
	g.line("const %s = BigInt(%s);", v, tsRaw(b, it))
	g.line("%s = %s;", to, g.zero(t, nil))
	for i, f := range t.Forms {
		word := "} else if"
		if i == 0 {
			word = "if"
		}
		switch {
		case i == len(t.Forms)-1 && i == 0:
			g.open("{")
		case i == len(t.Forms)-1:
			g.open("} else {")
		default:
			g.open("%s ((%s & %dn) === %dn) {", word, v, f.Mask, f.Match)
		}
		for _, name := range t.Names {
			for _, p := range f.Parts {
				if p.Name != name {
					continue
				}
				part := fmt.Sprintf("(%s >> %dn) & %dn", v, p.Shift, schema.Mask(p.Bits))
				switch tsPart(t, name) {
				case "boolean":
					part = "(" + part + ") !== 0n"
				case "number":
					part = "Number(" + part + ")"
				}
				g.line("%s%s = %s;", to, dot(name), part)
			}
		}
		g.depth--
	}
	g.line("}")
}

func (g *tsTarget) readRun(st *step, base string) {
	to, label := g.place(base, st.path), jsString(st.items[0].label)
	ext, unit, bytes := st.items[0].ext, 1, ""
	text, isText := st.typ.(*schema.Text)
	if isText {
		unit = text.Charset.Unit()
	}
	switch ext.Size {
	case schema.Counted:
		bytes = fmt.Sprintf("r.run(%s, n%d, %d, %s)", st.at(), st.count.id, unit, label)
	case schema.Terminated:
		bytes = fmt.Sprintf("r.ended(%s, %d, %s)", st.at(), unit, label)
	case schema.Fixed:
		bytes = fmt.Sprintf("r.run(%s, %d, %d, %s)", st.at(), ext.N, unit, label)
	default:
		bytes = fmt.Sprintf("r.rest(%s, %d, %s)", st.at(), unit, label)
	}
	if isText {
		bytes = tsText(text.Charset, bytes)
	}
	g.line("%s = %s;", to, bytes)
}

// readElem reads one element into a new constant.
func (g *tsTarget) readElem(r *record, st *step, id string) string {
	e := "e" + id
	if st.rec != nil {
		g.line("const %s = read%s(r);", e, g.types[st.rec])
		return e
	}
	t := st.typ.(*schema.List)
	inner := t.Elem.Fields[0].Type
	g.line("let %s: %s = %s;", e, g.typ(inner, st.path.record(t, nil)), g.zero(inner, st.path.record(t, nil)))
	g.readSteps(r, st.elem, e)
	return e
}

func (g *tsTarget) readList(r *record, st *step, base string) {
	t := st.typ.(*schema.List)
	to, label := g.place(base, st.path), jsString(st.items[0].label)
	id := g.loop()
	list := "l" + id
	g.line("const %s: %s = [];", list, g.typ(t, st.path.record(t, st.rec)))
	n := strconv.Itoa(t.N)
	if st.count != nil {
		n = "n" + strconv.Itoa(st.count.id)
	}
	switch {
	case t.Size == schema.ToEnd:
		g.line("const back%s = r.from(%s, %s);", id, st.at(), label)
		g.open("while (r.more()) {")
		g.line("const start%s = r.pos;", id)
		e := g.readElem(r, st, id)
		g.line("r.spend(1, 0, %s);", label)
		g.line("%s.push(%s);", list, e)
		g.line("if (r.pos === start%s) break;", id)
		g.shut("}")
		g.line("r.back(%s, back%s);", st.at(), id)
	case t.Linked:
		g.open("if (%s > 0) {", n)
		g.line("const back%s = r.pos;", id)
		g.line("r.chain(%s, %s, %d, %d, %v, %s);", st.at(), n, st.next.off, st.next.bits, st.next.order == schema.Big, label)
		g.line("r.room(%s, 0, %s);", n, label)
		g.line("let pos%s = %s;", id, st.at())
		g.open("for (let i%s = 0; i%s < %s; i%s++) {", id, id, n, id)
		g.line("r.from(pos%s, %s);", id, label)
		g.line("if (pos%s < 0) r.over(%s);", id, label)
		e := g.readElem(r, st, id)
		g.line("%s.push(%s);", list, e)
		g.line("pos%s = r.next(pos%s, %d, %d, %v);", id, id, st.next.off, st.next.bits, st.next.order == schema.Big)
		g.shut("}")
		g.line("r.pos = back%s;", id)
		g.shut("}")
	default:
		g.open("if (%s > 0) {", n)
		g.line("const back%s = r.from(%s, %s);", id, st.at(), label)
		g.line("r.room(%s, %s, %s);", n, st.min, label)
		g.open("for (let i%s = 0; i%s < %s; i%s++) {", id, id, n, id)
		e := g.readElem(r, st, id)
		g.line("%s.push(%s);", list, e)
		g.shut("}")
		g.line("r.back(%s, back%s);", st.at(), id)
		g.shut("}")
	}
	g.line("%s = %s;", to, list)
}

func (g *tsTarget) writeSteps(r *record, steps []step, base string) {
	for i := range steps {
		st := &steps[i]
		if st.part > 0 {
			var there []string
			for _, m := range r.members {
				if m.part >= st.part {
					there = append(there, base+dot(g.keys[m])+" === undefined")
				}
			}
			g.open("if (%s) {", strings.Join(there, " && "))
			g.line("w.end();")
			g.line("return;")
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
			for k, ch := range st.cases {
				word := "} else if"
				if k == 0 {
					word = "if"
				}
				cond := fmt.Sprintf("%s%s === %d", base, dot(g.choices[r]), k+1)
				if ch.field != nil {
					cond = g.chosen(ch, base, "")
				}
				g.open("%s (%s) {", word, cond)
				g.writeSteps(r, ch.steps, base)
				g.depth--
			}
			g.line("}")
		}
		if st.end {
			g.line("w.end();")
		}
	}
}

func (g *tsTarget) writeBlock(st *step, base string) {
	at := "p" + g.loop()
	used := false
	for i := range st.items {
		switch st.items[i].kind {
		case schema.Value, schema.Const, schema.Counter, schema.Check, schema.Code, schema.Count, schema.Offset:
			used = true
		}
	}
	if !used {
		g.line("w.grow(%d);", st.bits/8)
		return
	}
	g.line("const %s = w.grow(%d);", at, st.bits/8)
	for i := range st.items {
		if l := st.items[i].local; l != nil {
			g.line("const q%d = %s;", l.id, at)
		}
	}
	for i := range st.items {
		g.writeItem(at, &st.items[i], base)
	}
}

func (g *tsTarget) put(at string, it *item, value string) {
	g.line("w.put(%s, %d, %d, %v, %s, %s);", at, it.off, it.bits, it.order == schema.Big, value, jsString(it.label))
}

func (g *tsTarget) writeItem(at string, it *item, base string) {
	switch it.kind {
	case schema.Const:
		for i, c := range it.bytes {
			g.line("w.view.setUint8(%s, %d);", tsAt(at, it.off/8+i), c)
		}
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.path != nil {
			g.put(at, it, g.value(base, it.path))
		} else {
			g.put(at, it, strconv.FormatUint(uint64(it.code), 10))
		}
		return
	case schema.Value:
	default:
		return
	}
	from, label := g.value(base, it.path), jsString(it.label)
	switch t := it.typ.(type) {
	case *schema.Number:
		g.writeNumber(at, it, t, from)
	case *schema.Packed:
		g.writePacked(at, it, t, from)
	case *schema.Text:
		v := "t" + g.loop()
		g.line("const %s = %s;", v, tsBytes(t.Charset, from, label))
		if exact(t) { // no text at all stands for zeros
			g.line("if (%s.length > 0) w.fixed(%s.length, %d, %s);", v, v, it.bits/8, label)
		}
		g.line("w.fill(%s, %d, %s, %s);", tsAt(at, it.off/8), it.bits/8, v, label)
	case *schema.Blob:
		g.line("w.fixed(%s.length, %d, %s);", from, it.bits/8, label)
		g.line("w.fill(%s, %d, %s, %s);", tsAt(at, it.off/8), it.bits/8, from, label)
	}
}

func tsBytes(set schema.Charset, text, label string) string {
	switch set {
	case schema.UTF16LE:
		return "encode16(" + text + ")"
	case schema.Latin1:
		return fmt.Sprintf("encodeLatin1(%s, %s)", text, label)
	}
	return fmt.Sprintf("encode8(%s, %s)", text, label)
}

func (g *tsTarget) writeNumber(at string, it *item, n *schema.Number, from string) {
	label := jsString(it.label)
	big := n.Bits > 32
	switch {
	case n.Kind == schema.Bool:
		g.put(at, it, from+" ? 1 : 0")
		return
	case n.Kind == schema.Float:
		value := from
		if n.Scale != 0 {
			value = fmt.Sprintf("%s * %s", from, floatText(1/n.Scale))
		}
		if tsRange(n, "v", false) != "" {
			g.line("w.fits(%s, %s);", tsRange(n, "("+value+")", false), label)
		}
		if n.Bits == 32 {
			g.line("w.float32(%s, %v, %s, %s);", tsAt(at, it.off/8), it.order == schema.Little, value, label)
		} else {
			g.line("w.view.setFloat64(%s, %s, %v);", tsAt(at, it.off/8), value, it.order == schema.Little)
		}
		return
	case n.Scale != 0:
		v := "v" + g.loop()
		isSigned := n.Kind == schema.Signed
		g.line("const %s = scaled(%s, %s, %d, %v, %v, %v, %s);", v, from, floatText(1/n.Scale), n.Bits, isSigned, n.Wrap, n.Truncate, label)
		raw := v
		if isSigned {
			raw = fmt.Sprintf("BigInt.asIntN(%d, %s)", n.Bits, v)
		}
		if cond := tsRange(n, raw, true); cond != "" {
			g.line("w.fits(%s, %s);", cond, label)
		}
		g.put(at, it, v)
		return
	}
	if cond := tsRange(n, from, big); cond != "" {
		g.line("w.fits(%s, %s);", cond, label)
	}
	if n.Kind == schema.Signed {
		g.line("w.putSigned(%s, %d, %d, %v, %s, %s);", at, it.off, it.bits, it.order == schema.Big, from, label)
		return
	}
	g.put(at, it, from)
}

func (g *tsTarget) writePacked(at string, it *item, t *schema.Packed, from string) {
	v, p := "v"+g.loop(), "x"+g.loop()
	g.line("const %s = %s;", p, from)
	g.line("let %s = 0n;", v)
	bitsOf := func(name string) string {
		if tsPart(t, name) == "boolean" {
			return fmt.Sprintf("(%s%s ? 1n : 0n)", p, dot(name))
		}
		return fmt.Sprintf("w.whole(%s%s, %s)", p, dot(name), jsString(it.label+"."+name))
	}
	for i, f := range t.Forms {
		word := "} else if"
		if i == 0 {
			word = "if"
		}
		var parts []string
		for _, name := range t.Names {
			for _, part := range f.Parts {
				if part.Name == name && f.Mask>>part.Shift&schema.Mask(part.Bits) != 0 {
					parts = append(parts, fmt.Sprintf("(%s << %dn)", bitsOf(name), part.Shift))
				}
			}
		}
		if len(parts) == 0 {
			parts = []string{"0n"}
		}
		switch {
		case i == len(t.Forms)-1 && i == 0:
			g.open("{")
		case i == len(t.Forms)-1:
			g.open("} else {")
		default:
			g.open("%s (((%s) & %dn) === %dn) {", word, strings.Join(parts, " | "), f.Mask, f.Match)
		}
		for _, name := range t.Names {
			bits, shift := 0, 0
			for _, part := range f.Parts {
				if part.Name == name {
					bits, shift = part.Bits, part.Shift
				}
			}
			value := bitsOf(name)
			g.line("w.fits(%s >= 0n && %s <= %dn, %s);", value, value, maskOf(bits), jsString(it.label+"."+name))
			if bits > 0 {
				g.line("%s |= %s << %dn;", v, value, shift)
			}
		}
		g.depth--
	}
	g.line("}")
	g.put(at, it, v)
}

func (g *tsTarget) writePlace(st *step, n string, null bool) {
	label := jsString(st.items[0].label)
	ext := st.items[0].ext
	lo, hi := tsBounds(ext)
	if st.count != nil {
		it := &st.count.item
		g.line("w.put(q%d, %d, %d, %v, w.count(%s, %s, %s, %s), %s);", st.count.id, it.off, it.bits, it.order == schema.Big, n, lo, hi, label, label)
	} else if ext.Min != nil || ext.Max != nil {
		g.line("w.count(%s, %s, %s, %s);", n, lo, hi, label)
	}
	if st.offset == nil {
		return
	}
	it, cond := &st.offset.item, ""
	if null {
		cond = fmt.Sprintf("if (%s > 0) ", n)
	}
	g.line("%sw.put(q%d, %d, %d, %v, w.pos, %s);", cond, st.offset.id, it.off, it.bits, it.order == schema.Big, label)
}

func (g *tsTarget) writeRun(st *step, base string) {
	from, label := g.value(base, st.path), jsString(st.items[0].label)
	v := "t" + g.loop()
	unit := 1
	ext := st.items[0].ext
	if t, ok := st.typ.(*schema.Text); ok {
		unit = t.Charset.Unit()
		from = tsBytes(t.Charset, from, label)
	}
	g.line("const %s = %s;", v, from)
	n := v + ".length"
	if unit > 1 {
		n += fmt.Sprintf(" / %d", unit)
	}
	g.writePlace(st, n, false)
	if ext.Size == schema.Fixed {
		g.line("w.fixed(%s, %d, %s);", n, ext.N, label)
	}
	if ext.Size == schema.Terminated {
		g.line("w.ended(%s, %d, %s);", v, unit, label)
	} else {
		g.line("w.append(%s);", v)
	}
}

func (g *tsTarget) writeElem(r *record, st *step, elem string) {
	if st.rec != nil {
		g.line("write%s(w, %s);", g.types[st.rec], elem)
	} else {
		g.writeSteps(r, st.elem, elem)
	}
}

func (g *tsTarget) writeList(r *record, st *step, base string) {
	t := st.typ.(*schema.List)
	id := g.loop()
	list := "l" + id
	g.line("const %s = %s;", list, g.value(base, st.path))
	if t.Size == schema.Fixed {
		g.line("w.fixed(%s.length, %d, %s);", list, t.N, jsString(st.items[0].label))
	}
	g.writePlace(st, list+".length", t.Linked)
	if t.Linked {
		g.line("let prev%s = -1;", id)
	}
	g.open("for (const e%s of %s) {", id, list)
	g.writeChained(r, st, "e"+id, id)
	g.shut("}")
}

// writeChained writes an element; in a chain also its place, in itself and in the one before.
func (g *tsTarget) writeChained(r *record, st *step, elem, id string) {
	t := st.typ.(*schema.List)
	label := jsString(st.items[0].label)
	if t.Linked {
		g.line("const elem%s = w.pos;", id)
		g.line("if (prev%s >= 0) w.put(prev%s, %d, %d, %v, w.pos, %s);", id, id, st.next.off, st.next.bits, st.next.order == schema.Big, label)
		g.line("prev%s = elem%s;", id, id)
	}
	g.writeElem(r, st, elem)
	if t.Linked && st.here != nil {
		g.line("w.put(elem%s, %d, %d, %v, elem%s, %s);", id, st.here.off, st.here.bits, st.here.order == schema.Big, id, label)
	}
}

func (g *tsTarget) writeWeave(r *record, st *step, base string) {
	var ids, lens []string
	for k := range st.lists {
		id := g.loop()
		ids, lens = append(ids, id), append(lens, "l"+id+".length")
		g.line("const l%s = %s;", id, g.value(base, st.lists[k].path))
		g.line("let prev%s = -1;", id)
		only := st.lists[k]
		only.offset = nil
		g.writePlace(&only, "l"+id+".length", false)
	}
	turn := "i" + g.loop()
	g.open("for (let %s = 0; %s < Math.max(%s); %s++) {", turn, turn, strings.Join(lens, ", "), turn)
	for k := range st.lists {
		l := &st.lists[k]
		it := &l.offset.item
		e := "e" + ids[k]
		g.line("const %s = l%s[%s];", e, ids[k], turn)
		g.open("if (%s !== undefined) {", e)
		g.line("if (%s === 0) w.put(q%d, %d, %d, %v, w.pos, %s);", turn, l.offset.id, it.off, it.bits, it.order == schema.Big, jsString(l.items[0].label))
		g.writeChained(r, l, e, ids[k])
		g.shut("}")
	}
	g.shut("}")
}

// dispatch writes the table of messages, and for every set of messages with codes a function that finds the one that comes.
func (g *tsTarget) dispatch() {
	g.line("/** All messages by their names in the definitions; a version other than 1 follows the name. */")
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
		g.line("/** Reads the message at the start of the view, whichever it is of %s. Throws Incomplete or Illegal. */", oneLine(set.String()))
		g.open("export function %s(view: DataView) {", name)
		g.line("if (view.byteLength < %d) throw new Incomplete();", (set.code.off+set.code.bits+7)/8)
		g.line("const code = Number(load(view, 0, %d, %d, %v));", set.code.off, set.code.bits, set.code.order == schema.Big)
		g.open("switch (code) {")
		for _, m := range set.messages {
			g.line("case %d:", m.m.Key.Code)
			g.line("\treturn { message: %s, ...%s.read(view) } as const;", jsString(m.name), g.types[m.record])
		}
		g.line("default:")
		g.line("\tthrow new Illegal(\"code\", `no message has ${code}`);")
		g.shut("}")
		g.shut("}")
		g.line("")
	}
}
