package emit

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

//go:embed support_ts.txt
var tsSupport string

// tsReserved are words that are invalid as a top-level name of a module, or that it would shadow.
var tsReserved = keywords(`abstract any as asserts async await bigint boolean break case catch class const constructor continue debugger
	declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof
	interface is keyof let module namespace never new null number object of package private protected public readonly require return
	set static string super switch symbol this throw true try type typeof undefined unique unknown var void while with yield
	arguments eval NaN Infinity Array BigInt Boolean DataView Error Math Number Object String TextDecoder TextEncoder Uint8Array
	Incomplete Illegal Refused Reader Writer load scaled upToZero decode16 encode16 decodeLatin1 encodeLatin1 decode8 encode8 messages`)

// emitTypeScript writes a TypeScript module of one file.
func emitTypeScript(s *schema.Schema, o Options) ([]File, []Loss) {
	p := newPlan(s, o, false, 0)
	g := &tsTarget{walker{teller: newTeller(p, &tsPrints, tsReserved)}}
	g.lang, g.tongue = g, g
	for _, m := range p.messages { // messages first, so that they keep their names
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
	base := strings.ToLower(legal(o.name()))
	files := []File{around(base+".ts", head("// ", "ts", s, p.kinds())+"\n", g.b.String(), tsSupport)}
	if list := p.vectors(o.Vectors); len(list) > 0 {
		files = append(files, g.vectors(base, list))
	}
	return files, p.kinds()
}

type tsTarget struct{ walker }

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

func (g *tsTarget) typ(t schema.Type, r *record) string {
	switch t := t.(type) {
	case *schema.Number:
		return tsNumber(t)
	case *schema.Bitfield:
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

func tsPart(t *schema.Bitfield, name string) string {
	switch bits, truth := bitfieldPart(t, name); {
	case truth:
		return "boolean"
	case bits > 32:
		return "bigint"
	}
	return "number"
}

// zero returns the zero value of a type.
func (g *tsTarget) zero(t schema.Type, r *record) string {
	switch t := t.(type) {
	case *schema.Number:
		return map[string]string{"boolean": "false", "bigint": "0n", "number": "0"}[tsNumber(t)]
	case *schema.Bitfield:
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
		if key, typ := g.fields[m], g.typ(m.typ, m.record); !slices.Contains(types[key], typ) {
			types[key] = append(types[key], typ)
		}
	}
	for _, m := range r.members {
		if key := g.fields[m]; types[key] != nil {
			g.member(r, m, strings.Join(types[key], " | "))
			types[key] = nil
		}
	}
	if r.choice {
		g.line("%s?: number; // number of the alternative, from 1; none if undefined", property(g.choices[r]))
	}
	g.shut("}")
	g.line("")
	g.open("function new%s(): %s {", name, name)
	g.open("return {")
	for _, m := range r.members {
		if m.part == 0 && !m.alt {
			g.line("%s: %s,", property(g.fields[m]), g.zero(m.typ, m.record))
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

func (g *tsTarget) member(r *record, m *member, typ string) {
	comment, maybe := g.words(r, m), ""
	if comment != "" {
		comment = " // " + comment
	}
	if m.part > 0 || m.alt {
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

func (g *tsTarget) message(m *message, name string) {
	v := vars{
		"type": name, "name": jsString(m.name), "key": "", "let": "const", "header": m.header, "length": "", "code": "", "measured": "",
		"found": "", "setLength": "", "size": "size: r.pos",
	}
	if m.m.HasKey {
		v["key"] = fmt.Sprintf("code: %d,", m.m.Key.Code)
	}
	if l := m.length; l != nil {
		v["let"], v["size"] = "let", "size"
		v["length"] = func() { g.print(tsLength, v.with(vars{"where": where(l), "bytes": (l.off + l.bits + 7) / 8})) }
		v["setLength"] = fmt.Sprintf("w.put(0, %s, w.pos, \"length\");", where(l))
	}
	if c := m.code; c != nil && m.m.HasKey {
		v["code"] = func() {
			g.print(tsCode, vars{"where": where(c), "bytes": (c.off + c.bits + 7) / 8, "value": m.m.Key.Code})
		}
	}
	if m.m.Measured {
		v["measured"] = func() { g.print("r.measured = true;\nr.size = $least;\nr.sized();", vars{"least": m.min}) }
	}
	if found := g.found(m, "w.pos"); found != "" {
		v["found"] = func() {
			g.line("const found = %s;", found)
			g.line("if (found !== (value%s ?? 0)) throw new Refused(\"alternative\", \"the size of the message requires another one\");", dot(g.choices[m.record]))
		}
	}
	g.print(tsMessage, v)
	g.line("")
}

const (
	tsMessage = `
export const $type = {
	message: $name,
	$key
	/** Reads the message at the start of the view, and tells how many bytes it has. Throws Incomplete or Illegal. */
	read(view: DataView): { value: $type; size: number } {
		$let r = new Reader(view, $header);
		$length
		$code
		$measured
		const value = read$type(r);
		return { value, $size };
	},
	/** The bytes of the message. Throws Refused. */
	write(value: $type): Uint8Array {
		const w = new Writer();
		write$type(w, value);
		$found
		$setLength
		return w.close();
	},
};`
	tsLength = `
if (view.byteLength < $bytes) throw new Incomplete();
const size = Number(load(view, 0, $where));
if (size < $header) throw new Illegal("length", ` + "`the value is ${size}`" + `);
if (size > view.byteLength) throw new Incomplete();
r = new Reader(new DataView(view.buffer, view.byteOffset, size), $header);
r.framed = true;`
	tsCode = `
if (r.view.byteLength < $bytes) throw new Incomplete();
const code = Number(load(r.view, 0, $where));
if (code !== $value) throw new Illegal("code", ` + "`the value is ${code}`" + `);`
)

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

// value returns the expression that a value is written from.
func (g *tsTarget) value(base string, at path) string {
	for _, m := range at {
		if m == nil {
			continue
		}
		base += dot(g.fields[m])
		if m.part > 0 || m.alt {
			base = fmt.Sprintf("((%s as %s | undefined) ?? %s)", base, g.typ(m.typ, m.record), g.zero(m.typ, m.record))
		}
	}
	return base
}

func (g *tsTarget) pointer(*step) string { return "" }

// present creates the groups that a step is the first to fill.
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

var tsPrints = prints{
	code:   "code",
	remark: "/** %s */",
	equal:  "===",
	sure:   "!",
	wide:   "n",
	frame:  "r.view.byteLength",
	test:   "($cond)",

	count:      "let $name = 0;",
	offset:     "let $name = 0;",
	decl:       "const ",
	declAt:     "const ",
	none:       "r.pos",
	skip:       "r.take($bytes);",
	take:       "const b$id = r.take($bytes);",
	countRead:  "$decl$name = r.count($raw, $lo, $hi, $min, $label);",
	offsetRead: "$decl$name = $raw; // $about",
	sized:      "r.sized();",
	part:       "if (r.more()) {\n\t$body\n}",
	assign:     "$to = $value;",
	checkOn:    "v$id",
	check:      "const v$id = $value;\nif (!($cond)) throw new Illegal($label, \"the value is outside its legal range\");",
	checked:    "v$id",
	bitfield:   "const v$id = $wide;\n$to = $zero;",
	bitfieldOf: "(v$id >> $shift) & $mask",
	run:        "r.run($at, $n, $unit, $label)",
	ended:      "r.ended($at, $unit, $label)",
	rest:       "r.rest($at, $unit, $label)",
	list: `
const l$id: $type = [];
if ($n > 0) {
	const back$id = r.from($at, $label);
	r.room($n, $min, $label);
	for (let i$id = 0; i$id < $n; i$id++) {
		$element
		l$id.push($elem);
	}
	r.back($at, back$id);
}
$to = l$id;`,
	linked: `
const l$id: $type = [];
if ($n > 0) {
	const back$id = r.pos;
	r.chain($at, $n, $next, $label);
	r.room($n, 0, $label);
	let pos$id = $at;
	for (let i$id = 0; i$id < $n; i$id++) {
		r.from(pos$id, $label);
		if (pos$id < 0) r.over($label);
		$element
		l$id.push($elem);
		pos$id = r.next(pos$id, $next);
	}
	r.pos = back$id;
}
$to = l$id;`,
	toEnd: `
const l$id: $type = [];
const back$id = r.from($at, $label);
while (r.more()) {
	const start$id = r.pos;
	$element
	r.spend(1, 0, $label);
	l$id.push($elem);
	if (r.pos === start$id) break;
}
r.back($at, back$id);
$to = l$id;`,
	element: "const $elem = read$record(r);",

	here:         "w.pos",
	since:        "elem$id",
	some:         "$n > 0",
	grow:         "const p$id = w.grow($bytes);",
	growOnly:     "w.grow($bytes);",
	place:        "const $local = $p;",
	putAt:        "w.put($p, $where, $value, $label);",
	putAtIf:      "if ($cond) w.put($p, $where, $value, $label);",
	scale:        "const v$id = scaled($from, $inverse, $bits, $signed, $wrap, $cut, $label);",
	fits:         "w.fits($cond, $label);",
	packing:      "const x$id = $from;\nlet v$id = 0n;",
	bitfieldFrom: "x$id",
	partFits:     "$bits >= 0n && $bits <= $mask",
	partIs:       "$bits == $mask",
	partBits:     "($bits << $shift)",
	setPart:      "v$id |= $bits << $shift;",
	counted:      "w.count($n, $lo, $hi, $label);",
	counting:     "w.count($n, $lo, $hi, $label)",
	stop:         "if ($cond) {\n\tw.end();\n\treturn;\n}",
	over:         "w.end();",
	writeElem:    "write$record(w, $elem);",
	prev:         "let prev$id = -1;",
	later:        "prev$id >= 0",
	elemAt:       "const elem$id = w.pos;",
	prevIs:       "prev$id = elem$id;",
	loop:         "for (const e$id of l$id) {\n\t$body\n}",
	turns:        "for (let $turn = 0; $turn < Math.max($lens); $turn++) {\n\t$body\n}",
	turn:         "const $elem = l$id[$turn];\nif ($elem !== undefined) {\n\t$body\n}",
}

func (g *tsTarget) dot(base, name string) string               { return base + dot(name) }
func (g *tsTarget) quote(s string) string                      { return jsString(s) }
func (g *tsTarget) mask(v uint64) string                       { return fmt.Sprintf("%dn", v) }
func (g *tsTarget) partNames(t *schema.Bitfield) []string      { return t.Names }
func (g *tsTarget) elem(_ *step, _, id string) string          { return "e" + id }
func (g *tsTarget) makeList(*step, string, string)             {}
func (g *tsTarget) constant(n *schema.Number, v uint64) string { return tsConstant(n, v) }

func (g *tsTarget) bounds(e schema.Extent) (lo, hi string) { return bounds(e, "Infinity") }

func (g *tsTarget) inRange(n *schema.Number, v string, big bool) string {
	suffix := ""
	if big {
		suffix = "n"
	}
	return limits(n, v, suffix, func(f float64) string {
		if math.IsInf(f, 0) {
			return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	})
}

func (g *tsTarget) signed(bits string, n *schema.Number) string {
	return fmt.Sprintf("BigInt.asIntN(%d, %s)", n.Bits, bits)
}

// raw returns the bits of an item of the block at b: a number up to 32 bits, a bigint above.
func (g *tsTarget) raw(b string, it *item) (bits, wide string) {
	bits = fmt.Sprintf("load(r.view, %s, %s)", b, where(it))
	switch _, ok := it.native(); {
	case ok && it.bits == 8:
		bits = fmt.Sprintf("r.view.getUint8(%s)", tsAt(b, it.off/8))
	case ok:
		big := map[bool]string{true: "Big"}[it.bits == 64]
		bits = fmt.Sprintf("r.view.get%sUint%d(%s, %v)", big, it.bits, tsAt(b, it.off/8), it.order == schema.Little)
	case it.bits <= 32:
		bits = "Number(" + bits + ")"
	}
	return bits, "BigInt(" + bits + ")"
}

func tsAt(b string, off int) string {
	if off == 0 {
		return b
	}
	return fmt.Sprintf("%s + %d", b, off)
}

func (g *tsTarget) load(b string, it *item, n *schema.Number) string {
	at, little := tsAt(b, it.off/8), it.order == schema.Little
	value, wide := g.raw(b, it)
	switch whole := it.off%8 == 0; {
	case n.Kind == schema.Float:
		return fmt.Sprintf("r.view.getFloat%d(%s, %v)", n.Bits, at, little)
	case n.Kind == schema.Signed && whole && n.Bits == 8:
		return fmt.Sprintf("r.view.getInt8(%s)", at)
	case n.Kind == schema.Signed && whole && (n.Bits == 16 || n.Bits == 32):
		return fmt.Sprintf("r.view.getInt%d(%s, %v)", n.Bits, at, little)
	case n.Kind == schema.Signed && n.Bits > 32:
		return g.signed(value, n)
	case n.Kind == schema.Signed:
		return "Number(" + g.signed(wide, n) + ")"
	}
	return value
}

func (g *tsTarget) shown(n *schema.Number, value string) string {
	big := n.Bits > 32 && n.Kind != schema.Float
	switch {
	case n.Kind == schema.Bool && big:
		return value + " !== 0n"
	case n.Kind == schema.Bool:
		return value + " !== 0"
	case n.Scale != 0 && big:
		return fmt.Sprintf("Number(%s) * %s", value, floatText(n.Scale))
	case n.Scale != 0:
		return fmt.Sprintf("%s * %s", value, floatText(n.Scale))
	}
	return value
}

func (g *tsTarget) partOf(t *schema.Bitfield, name, bits string) string {
	switch tsPart(t, name) {
	case "boolean":
		return "(" + bits + ") !== 0n"
	case "number":
		return "Number(" + bits + ")"
	}
	return bits
}

func (g *tsTarget) bits(t *schema.Bitfield, name, from string, it *item) string {
	if tsPart(t, name) == "boolean" {
		return "(" + from + " ? 1n : 0n)"
	}
	return fmt.Sprintf("w.whole(%s, %s)", from, jsString(it.label+"."+name))
}

func (g *tsTarget) readConst(b string, it *item) {
	for i, c := range it.bytes {
		g.line("if (r.view.getUint8(%s) !== %d) throw new Illegal(\"% x\", \"the constant bytes differ\");", tsAt(b, it.off/8+i), c, it.bytes)
	}
}

func (g *tsTarget) readFixed(b string, it *item, to string) {
	bytes := fmt.Sprintf("r.slice(%s, %s)", tsAt(b, it.off/8), tsAt(b, (it.off+it.bits)/8))
	if t, ok := it.typ.(*schema.Text); ok {
		if !exact(t) {
			bytes = fmt.Sprintf("upToZero(%s, %d)", bytes, t.Charset.Unit())
		}
		bytes = tsText(t.Charset, bytes)
	}
	g.line("%s = %s;", to, bytes)
}

func tsText(set schema.Charset, bytes string) string {
	switch byteWise(set) {
	case schema.UTF16LE:
		return "decode16(" + bytes + ")"
	case schema.Latin1:
		return "decodeLatin1(" + bytes + ")"
	}
	return "decode8(" + bytes + ")"
}

func tsBytes(set schema.Charset, text, label string) string {
	switch byteWise(set) {
	case schema.UTF16LE:
		return "encode16(" + text + ")"
	case schema.Latin1:
		return fmt.Sprintf("encodeLatin1(%s, %s)", text, label)
	}
	return fmt.Sprintf("encode8(%s, %s)", text, label)
}

func (g *tsTarget) readRun(st *step, to, bytes string) {
	if t, ok := st.typ.(*schema.Text); ok {
		bytes = tsText(t.Charset, bytes)
	}
	g.line("%s = %s;", to, bytes)
}

func (g *tsTarget) newElem(st *step, elem string) {
	t := st.typ.(*schema.List)
	inner, rec := t.Elem.Fields[0].Type, st.path.record(t, nil)
	g.line("let %s: %s = %s;", elem, g.typ(inner, rec), g.zero(inner, rec))
}

func (g *tsTarget) float(n *schema.Number, from string) string {
	if n.Scale == 0 {
		return from
	}
	return fmt.Sprintf("%s * %s", from, floatText(1/n.Scale))
}

func (g *tsTarget) put(p string, it *item, n *schema.Number, value string) {
	v := vars{"p": p, "where": where(it), "value": value, "label": jsString(it.label), "at": tsAt(p, it.off/8), "little": it.order == schema.Little}
	switch {
	case n != nil && n.Kind == schema.Float && n.Bits == 32:
		g.print("w.float32($at, $little, $value, $label);", v)
		return
	case n != nil && n.Kind == schema.Float:
		g.print("w.view.setFloat64($at, $value, $little);", v)
		return
	case n != nil && n.Kind == schema.Signed:
		g.print("w.putSigned($p, $where, $value, $label);", v)
		return
	case n != nil && n.Kind == schema.Bool:
		v["value"] = value + " ? 1 : 0"
	}
	g.print(g.say.putAt, v)
}

func (g *tsTarget) writeConst(p string, it *item) {
	for i, c := range it.bytes {
		g.line("w.view.setUint8(%s, %d);", tsAt(p, it.off/8+i), c)
	}
}

func (g *tsTarget) writeFixed(p string, it *item, from string) {
	v := vars{"at": tsAt(p, it.off/8), "n": it.bits / 8, "bytes": from, "label": jsString(it.label)}
	t, ok := it.typ.(*schema.Text)
	if !ok {
		g.print("w.fixed($bytes.length, $n, $label);\nw.fill($at, $n, $bytes, $label);", v)
		return
	}
	v["bytes"] = "t" + g.fresh()()
	g.line("const %s = %s;", v["bytes"], tsBytes(t.Charset, from, jsString(it.label)))
	if exact(t) { // empty text represents zeros
		g.print("if ($bytes.length > 0) w.fixed($bytes.length, $n, $label);", v)
	}
	g.print("w.fill($at, $n, $bytes, $label);", v)
}

func (g *tsTarget) run(st *step, base, id string) (n string) {
	from := g.value(base, st.path)
	if t, ok := st.typ.(*schema.Text); ok {
		from = tsBytes(t.Charset, from, jsString(st.items[0].label))
	}
	g.line("const t%s = %s;", id, from)
	n = "t" + id + ".length"
	if unit := st.unit(); unit > 1 {
		n += fmt.Sprintf(" / %d", unit)
	}
	return n
}

func (g *tsTarget) putRun(st *step, _, n, id string) {
	ext, label := st.items[0].ext, jsString(st.items[0].label)
	if ext.Size == schema.Fixed {
		g.line("w.fixed(%s, %d, %s);", n, ext.N, label)
	}
	if ext.Size == schema.Terminated {
		g.line("w.ended(t%s, %d, %s);", id, st.unit(), label)
	} else {
		g.line("w.append(t%s);", id)
	}
}

func (g *tsTarget) list(st *step, base, id, _ string) (n, elem string) {
	g.line("const l%s = %s;", id, g.value(base, st.path))
	if t := st.typ.(*schema.List); t.Size == schema.Fixed {
		g.line("w.fixed(l%s.length, %d, %s);", id, t.N, jsString(st.items[0].label))
	}
	return "l" + id + ".length", "e" + id
}

// missing compares with the number of parts that are present, which is computed before the first one.
func (g *tsTarget) missing(r *record, st *step, base string) string {
	if st == &r.steps[slices.IndexFunc(r.steps, func(st step) bool { return st.part > 0 })] {
		g.line("let parts = 0;")
		for _, m := range r.members {
			if m.part > 0 {
				g.line("if (%s !== undefined) parts = Math.max(parts, %d);", g.dot(base, g.fields[m]), m.part)
			}
		}
	}
	return fmt.Sprintf("parts < %d", st.part)
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
		g.line("if (view.byteLength < %d) throw new Incomplete();", (set.code.off+set.code.bits+7)/8)
		g.line("const code = Number(load(view, 0, %d, %d, %v));", set.code.off, set.code.bits, set.code.order == schema.Big)
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
