package cstruct

import (
	"slices"
	"strings"

	"wirebench/defs/source"
)

// parser reads the declarations in the tokens of a file and those that it includes. What is no declaration of a type or of a constant is
// skipped.
type parser struct {
	u     *unit
	toks  []token
	i     int
	depth int
	angle bool // inside "<>": ">" ends the expression
}

var end = token{}

func (p *parser) peek(k int) *token {
	if p.i+k >= len(p.toks) || p.i+k < 0 {
		return &end
	}
	return &p.toks[p.i+k]
}

func (p *parser) is(s string) bool { return p.peek(0).is(s) }

func (p *parser) accept(s string) bool {
	if p.is(s) {
		p.i++
		return true
	}
	return false
}

// here returns the span of the current token, or of the last one.
func (p *parser) here() source.Span {
	if p.i < len(p.toks) {
		return p.toks[p.i].at
	}
	if len(p.toks) > 0 {
		return p.toks[len(p.toks)-1].at
	}
	return source.Span{}
}

// since returns the text from a token up to the current one.
func (p *parser) since(from int) source.Span {
	to := max(from, min(p.i, len(p.toks))-1)
	at := p.toks[from].at
	for to > from && p.toks[to].at.File != at.File {
		to--
	}
	at.End = max(at.End, p.toks[to].at.End)
	return at
}

// balanced skips what is in brackets, from the opening one on.
func (p *parser) balanced() {
	for depth := 0; p.i < len(p.toks); {
		switch t := p.peek(0); {
		case t.is("(") || t.is("{") || t.is("["):
			depth++
		case t.is(")") || t.is("}") || t.is("]"):
			depth--
		}
		if p.i++; depth <= 0 {
			return
		}
	}
}

// angles skips "<...>" if it is there.
func (p *parser) angles() {
	if !p.is("<") {
		return
	}
	for depth := 0; p.i < len(p.toks); {
		switch t := p.peek(0); {
		case t.is("<"):
			depth++
		case t.is(">"):
			depth--
		case t.is(">>"):
			depth -= 2
		case t.is("(") || t.is("{") || t.is("["):
			p.balanced()
			continue
		case t.is(";"):
			return
		}
		if p.i++; depth <= 0 {
			return
		}
	}
}

// starters are words that begin a declaration.
var starters = []string{"struct", "class", "union", "enum", "typedef", "namespace", "template", "static", "using", "extern"}

// skip leaves the rest of a declaration out: up to ";" or the end of a body.
func (p *parser) skip() {
	inits := false // in the initializers of a constructor
	for p.i < len(p.toks) {
		switch t := p.peek(0); {
		case t.is(";"):
			p.i++
			return
		case t.is("}"):
			return
		case t.is(":"):
			inits = true
			p.i++
		case t.is("("), t.is("["):
			p.balanced()
			if n := p.peek(0); n.first && n.kind == wordToken && slices.Contains(starters, n.text) {
				return // what was skipped is a macro
			}
		case t.is("{"):
			last := p.peek(-1)
			p.balanced()
			if !inits || last.is(")") || last.is("}") {
				p.accept(";")
				return
			}
		default:
			p.i++
		}
	}
}

// file reads all declarations.
func (p *parser) file() {
	for p.i < len(p.toks) {
		p.declarations(p.u.root, nil)
		if p.i < len(p.toks) {
			p.u.report(unexpected(*p.peek(0), "nothing is open here"))
			p.i++
		}
	}
}

// declarations reads declarations up to "}" or the end: those of a namespace, or the members of a record.
func (p *parser) declarations(s *scope, in *record) {
	if p.depth++; p.depth > maxDepth {
		p.u.report(tooDeep(p.here()))
		p.skip()
		p.depth--
		return
	}
	defer func() { p.depth-- }()
	for p.i < len(p.toks) && !p.is("}") {
		from := p.i
		p.declaration(s, in)
		if p.i == from {
			p.i++
		}
	}
}

// declaration reads one declaration.
func (p *parser) declaration(s *scope, in *record) {
	from := p.i
	t := p.peek(0)
	switch {
	case t.is(";"):
		p.i++
	case t.is("namespace") || t.is("inline") && p.peek(1).is("namespace"):
		p.namespace(s)
	case t.is("extern") && p.peek(1).kind == stringToken:
		if p.i += 2; p.accept("{") {
			p.declarations(s, in)
			p.accept("}")
		}
	case t.is("template"):
		p.i++
		params := p.params()
		p.declared(s, in, from, params, true)
	case t.is("using"):
		p.using(s, nil)
	case t.is("static_assert") || t.is("_Static_assert"):
		p.i += 2
		if x := p.expr(0); x != nil {
			p.u.asserts = append(p.u.asserts, assertion{x, p.since(from), s})
		}
		p.skip()
	case in != nil && (t.is("public") || t.is("private") || t.is("protected")) && p.peek(1).is(":"):
		p.i += 2
	case t.is("friend") || t.is("asm") || t.is("concept"):
		p.skip()
	case t.is("~"):
		p.function(in)
	default:
		p.declared(s, in, from, nil, false)
	}
}

func (p *parser) namespace(s *scope) {
	from := p.i
	p.accept("inline")
	p.i++
	for p.peek(0).kind == wordToken || p.is("::") {
		if p.peek(0).kind == wordToken && !p.is("inline") {
			s = s.kid(p.peek(0).text)
		}
		p.i++
	}
	if !p.accept("{") {
		p.skip()
		return
	}
	s.notes = p.u.notes(p, from, p.i-1)
	p.declarations(s, nil)
	if !p.accept("}") {
		p.u.report(notClosed(p.toks[from].at, "namespace"))
	}
}

// params reads the parameters of a template, and returns their names.
func (p *parser) params() []string {
	if !p.is("<") {
		return []string{}
	}
	from := p.i
	p.angles()
	params := []string{}
	for i := from + 1; i < p.i; i++ {
		if t := &p.toks[i]; (t.is(",") || t.is(">") || t.is("=")) && p.toks[i-1].kind == wordToken && !p.toks[max(i-2, from)].is("=") {
			params = append(params, p.toks[i-1].text)
		}
	}
	return params
}

func (p *parser) using(s *scope, params []string) {
	p.i++
	if p.accept("namespace") {
		if path := p.path(); path != nil {
			s.using = append(s.using, path)
		}
		p.skip()
		return
	}
	name := *p.peek(0)
	if name.kind == wordToken && p.peek(1).is("=") {
		p.i += 2
		if t, _ := p.specifiers(s, nil, p.i); t != nil {
			d := p.declarator(s, t)
			s.define(&typeDef{name: name.text, at: name.at, scope: s, alias: t, of: d, params: params})
		}
	} else if path := p.path(); len(path) > 1 {
		s.refer(path)
	}
	p.skip()
}

// function skips a function.
func (p *parser) function(in *record) {
	from := p.i
	p.skip()
	if from < len(p.toks) && p.i > from && in != nil {
		p.u.skipped(in, p.toks[from].at)
	}
}

// path reads a name with "::".
func (p *parser) path() (path []string) {
	if p.accept("::") {
		path = append(path, "")
	}
	for p.peek(0).kind == wordToken {
		path = append(path, p.peek(0).text)
		p.i++
		if !p.is("::") || p.peek(1).kind != wordToken {
			return path
		}
		p.i++
	}
	return nil
}

// specs are the words beside a type.
type specs struct {
	typedef, static, constant, virtual bool
	attrs                              attrs
}

// declared reads a declaration that starts with a type.
func (p *parser) declared(s *scope, in *record, from int, params []string, template bool) {
	if template && p.is("using") {
		p.using(s, params)
		return
	}
	t, sp := p.specifiers(s, params, from)
	if in != nil && sp.virtual {
		in.virtual = true
	}
	switch {
	case t == nil && p.is("operator") || p.is("operator") || template && (t == nil || t.def == nil):
		p.i = from
		p.function(in)
		return
	case t == nil:
		if p.is("~") {
			p.function(in)
			return
		}
		bad := p.here()
		p.skip()
		if in != nil {
			in.broken = true
			p.u.report(malformed(p.since(from), "a field has a type and a name: \"uint16_t level;\""))
		} else if p.i == from {
			p.u.report(unexpected(token{text: bad.Text(), at: bad}, "a declaration is expected"))
		}
		return
	case p.is(";"):
		if t.def != nil && in != nil && t.def.record != nil && t.def.record.whole && t.def.name == "" {
			in.members = append(in.members, &member{typ: t, at: t.at, notes: p.u.notes(p, from, p.i), of: declarator{attrs: sp.attrs}})
		}
		p.i++
		return
	case p.is("(") && !p.peek(1).is("*") && !p.peek(1).is("&") && !p.peek(1).is("^"):
		if in != nil && (len(t.path) == 0 || t.path[len(t.path)-1] != in.typeDef.name) {
			in.broken = true
			p.skip()
			p.u.report(unknownMacro(p.since(from), t.name()))
			return
		}
		if in != nil {
			in.complex = true
		}
		p.function(in)
		return
	}
	for first := true; ; first = false {
		d := p.declarator(s, t)
		if d.function || p.is("operator") {
			p.function(in)
			return
		}
		if d.name.text == "" && d.bits == nil && !(in == nil && sp.static) {
			if in == nil && t.def == nil && p.i < len(p.toks) && !p.is(";") {
				p.u.report(unexpected(*p.peek(0), "a declaration is a type and a name"))
			}
			p.skip()
			if in != nil {
				in.broken = true
				p.u.report(malformed(p.since(from), "a field has a type and a name: \"uint16_t level;\""))
			}
			return
		}
		p.declare(s, in, from, t, sp, d, first)
		if !p.accept(",") {
			break
		}
	}
	if !p.is(";") && in != nil && !p.u.pp.stopped {
		at := p.toks[max(p.i-1, from)].at
		p.u.report(noSemicolon(at.Sub(at.End-at.Start, at.End-at.Start)))
		in.broken = true
		if !p.peek(0).first {
			p.skip()
		}
		return
	}
	p.skip()
}

// declare records what a declarator declares.
func (p *parser) declare(s *scope, in *record, from int, t *typeExpr, sp specs, d declarator, first bool) {
	switch {
	case sp.typedef:
		def := &typeDef{name: d.name.text, at: d.name.at, scope: s, alias: t, of: d}
		if t.def != nil && first && !d.pointer && len(d.dims) == 0 && (t.def.record != nil && t.def.record.whole || t.def.enum != nil) {
			// struct tag {} name: both are names of it, and the second one is used
			if r := t.def.record; r != nil {
				r.notes.add(p.u.notes(p, p.i, p.i))
			}
			if t.def.enum != nil && t.def.enum.name == "" {
				t.def.enum.name = def.name
			}
			if t.def.name == "" || t.def.record != nil {
				t.def.name, t.def.at = def.name, def.at
			}
		}
		if len(t.path) != 1 || t.path[0] != def.name || d.pointer || len(d.dims) > 0 { // not typedef struct x x
			s.define(def)
		}
	case in == nil || sp.static:
		if d.init != nil && !d.pointer && len(d.dims) == 0 {
			s.constant(d.name.text, &constant{name: d.name.text, at: d.name.at, x: d.init, scope: s})
		}
	default:
		d.attrs.packed = d.attrs.packed || sp.attrs.packed
		d.attrs.align = append(slices.Clip(sp.attrs.align), d.attrs.align...)
		at := d.name.at
		if d.name.text == "" {
			at = t.at
		}
		in.members = append(in.members, &member{typ: t, of: d, at: at, notes: p.u.notes(p, from, p.i)})
	}
}

// ignored are words of a declaration that do not change a layout.
var ignored = strings.Fields("const volatile inline register mutable explicit typename thread_local _Thread_local restrict __restrict __restrict__ " +
	"__extension__ extern auto constinit consteval final override noexcept __inline __forceinline __const __volatile__ _Atomic __cdecl __stdcall __fastcall WINAPI CALLBACK FAR")

// primitives are the words of the types of the language.
var primitives = strings.Fields("signed unsigned short long int char bool float double void _Bool wchar_t char8_t char16_t char32_t __signed__ __int8 __int16 __int32 __int64 __int128 _Complex _Float16 _Float32 _Float64")

// specifiers reads the type of a declaration, and the words around it. The type is nil if there is none.
func (p *parser) specifiers(s *scope, params []string, from int) (*typeExpr, specs) {
	var sp specs
	var t *typeExpr
	var words []string
	start := p.i
	for p.i < len(p.toks) {
		w := p.peek(0)
		switch {
		case p.attributes(&sp.attrs):
		case w.is("typedef"):
			sp.typedef = true
			p.i++
		case w.is("static"), w.is("constexpr"):
			sp.static = true
			p.i++
		case w.is("virtual"):
			sp.virtual = true
			p.i++
		case w.kind == wordToken && slices.Contains(ignored, w.text):
			sp.constant = sp.constant || w.text == "const"
			p.i++
		case w.kind == wordToken && slices.Contains(primitives, w.text) && t == nil:
			words = append(words, w.text)
			p.i++
		case t == nil && words == nil && (w.is("struct") || w.is("class") || w.is("union")):
			t = p.record(s, params, from)
		case t == nil && words == nil && w.is("enum"):
			t = p.enum(s, from)
		case t == nil && words == nil && (w.kind == wordToken && w.text != "operator" || w.is("::") && p.peek(1).kind == wordToken):
			at := p.i
			path := p.path()
			if path == nil {
				return nil, sp
			}
			t = &typeExpr{path: path}
			if p.is("<") {
				if t.args = p.arguments(s); t.args == nil {
					p.i = at
					return nil, sp
				}
			}
			t.at = p.since(at)
			if p.is("::") { // of an instance
				p.i = at
				return nil, sp
			}
		default:
			if words != nil {
				t = &typeExpr{at: p.since(start), prim: primitive(words)}
			}
			return t, sp
		}
	}
	if words != nil {
		t = &typeExpr{at: p.since(start), prim: primitive(words)}
	}
	return t, sp
}

// primitive returns the usual name of a type in several words.
func primitive(words []string) string {
	long, sign, base := 0, "", ""
	for _, w := range words {
		switch w {
		case "long":
			long++
		case "unsigned":
			sign = "unsigned "
		case "signed", "__signed__":
			sign = "signed "
		case "int":
			if base == "" {
				base = "int"
			}
		default:
			base = w
		}
	}
	switch {
	case base == "double" && long > 0:
		return "long double"
	case long > 1:
		base = "long long"
	case long > 0:
		base = "long"
	case base == "":
		base = "int"
	}
	if sign == "signed " && base != "char" {
		sign = ""
	}
	return sign + base
}

// arguments reads the arguments of a template: types, or numbers.
func (p *parser) arguments(s *scope) []*typeExpr {
	args := []*typeExpr{}
	if p.depth++; p.depth > maxDepth {
		p.depth--
		return nil
	}
	defer func(angle bool) { p.angle = angle; p.depth-- }(p.angle)
	p.angle = true
	for p.i++; !p.is(">"); {
		if p.is(">>") { // the first ">" of two
			p.toks = slices.Clone(p.toks)
			a, b := p.toks[p.i], p.toks[p.i]
			a.text, b.text, b.before = ">", ">", nil
			p.toks = slices.Replace(p.toks, p.i, p.i+1, a, b)
			break
		}
		from := p.i
		t, _ := p.specifiers(s, nil, p.i)
		for t != nil && (p.is("*") || p.is("&")) {
			t.pointer = true
			p.i++
		}
		if t == nil || !p.is(",") && !p.is(">") && !p.is(">>") {
			p.i = from
			x := p.expr(1)
			if x == nil {
				return nil
			}
			t = &typeExpr{at: p.since(from), value: x}
		} else if len(t.path) > 0 && t.args == nil {
			t.value = &expr{op: "name", at: t.at, path: t.path}
		}
		args = append(args, t)
		if !p.accept(",") && !p.is(">") && !p.is(">>") {
			return nil
		}
	}
	p.i++
	return args
}

// attributes reads attributes if there are any: __attribute__((...)), alignas(...), __declspec(...), [[...]].
func (p *parser) attributes(a *attrs) bool {
	t := p.peek(0)
	switch {
	case t.is("__packed"):
		a.packed = true
		p.i++
	case t.is("alignas") || t.is("_Alignas"):
		p.i++
		p.alignment(a)
	case (t.is("__attribute__") || t.is("__attribute") || t.is("__declspec")) && p.peek(1).is("("), t.is("[") && p.peek(1).is("["):
		if t.kind == wordToken {
			p.i++
		}
		at := p.i
		p.balanced()
		last := p.i
		p.i = at
		for p.i < last {
			switch w := strings.Trim(p.peek(0).text, "_"); {
			case p.peek(0).kind == wordToken && w == "packed":
				a.packed = true
				p.i++
			case p.peek(0).kind == wordToken && (w == "aligned" || w == "align"):
				p.i++
				p.alignment(a)
			case p.peek(0).kind == wordToken && (w == "scalar_storage_order" || w == "ms_struct" || w == "mode" || w == "vector_size"):
				p.u.report(unknownAttribute(p.peek(0).at))
				p.i++
			default:
				p.i++
			}
		}
		p.i = last
	default:
		return false
	}
	return true
}

// alignment reads the number of an attribute, or the type in its place.
func (p *parser) alignment(a *attrs) {
	if !p.is("(") {
		a.align = append(a.align, nil)
		return
	}
	from := p.i
	p.i++
	x := p.expr(0)
	if x == nil || !p.is(")") {
		p.i = from + 1
		if t, _ := p.specifiers(p.u.root, nil, p.i); t != nil && p.is(")") {
			x = &expr{op: "alignof", at: t.at, typ: t}
		} else {
			x = &expr{op: "?", at: p.toks[from].at}
		}
	}
	a.align = append(a.align, x)
	p.i = from
	p.balanced()
}

// record reads a struct, class or union: its contents, or only its name.
func (p *parser) record(s *scope, params []string, from int) *typeExpr {
	at := p.i
	word := p.peek(0)
	p.i++
	r := &record{union: word.text == "union", params: params}
	for p.attributes(&r.attrs) {
	}
	path := p.path()
	var name token
	if path != nil {
		name = *p.peek(-1)
		p.angles() // of a specialization
	}
	for p.accept("final") || p.attributes(&r.attrs) {
	}
	t := &typeExpr{at: word.at, path: path}
	if path != nil {
		t.at = name.at
	}
	open := p.is("{") || p.is(":") && p.basesFollow()
	if !open {
		return t // a use of it, or a declaration without contents
	}
	r.whole, r.top = true, true
	if p.accept(":") {
		for !p.is("{") && p.i < len(p.toks) {
			if p.accept("public") || p.accept("private") || p.accept("protected") || p.accept(",") {
				continue
			}
			if p.accept("virtual") {
				r.virtual = true
				continue
			}
			b, _ := p.specifiers(s, nil, p.i)
			if b == nil {
				p.u.report(unexpected(*p.peek(0), "a base is the name of a struct"))
				r.broken = true
				for p.i < len(p.toks) && !p.is("{") {
					p.i++
				}
				break
			}
			r.bases = append(r.bases, b)
		}
	}
	r.complex = len(r.bases) > 0
	def := &typeDef{at: t.at, scope: s, record: r}
	if path != nil {
		def.name = path[len(path)-1]
	}
	r.typeDef, t.def = def, def
	r.inner = &scope{name: def.name, up: s}
	if def.name != "" && p.specialized(at) {
		p.u.report(specialization(t.at))
		def.name += "<>"
	} else if def.name != "" {
		s.define(def)
		if s.kids == nil {
			s.kids = map[string]*scope{}
		}
		s.kids[def.name] = r.inner
	}
	r.notes = p.u.notes(p, from, p.i)
	p.u.records = append(p.u.records, r)
	p.i++
	inside := p.u.inside
	r.top, p.u.inside = !inside, true
	p.declarations(r.inner, r)
	p.u.inside = inside
	r.pack = p.peek(0).pack
	if !p.accept("}") {
		p.u.report(notClosed(t.at, word.text))
		r.broken = true
	}
	for p.attributes(&r.attrs) {
	}
	r.text = p.since(from)
	return t
}

// specialized reports whether the name of a record, from its first word on, has arguments.
func (p *parser) specialized(from int) bool {
	for i := from; i < p.i && !p.toks[i].is(":") && !p.toks[i].is("{"); i++ {
		if p.toks[i].is("<") {
			return true
		}
	}
	return false
}

// basesFollow reports whether the names after ":" are bases: a "{" follows them.
func (p *parser) basesFollow() bool {
	for k := 1; ; k++ {
		switch t := p.peek(k); {
		case t.is("{"):
			return true
		case t.kind == endToken, t.is(";"), t.is("="), t.is("("):
			return false
		}
	}
}

// enum reads an enumeration, or only its name.
func (p *parser) enum(s *scope, from int) *typeExpr {
	word := *p.peek(0)
	p.i++
	e := &enum{}
	var a attrs
	class := p.accept("class") || p.accept("struct")
	for p.attributes(&a) {
	}
	t := &typeExpr{at: word.at}
	if p.peek(0).kind == wordToken {
		t.at = p.peek(0).at
		t.path = p.path()
	}
	if p.is(":") && !p.peek(1).is(":") && (p.peek(1).kind == wordToken || p.peek(1).is("::")) {
		p.i++
		e.typ, _ = p.specifiers(s, nil, p.i)
	}
	if !p.is("{") {
		if e.typ == nil {
			return t
		}
		if len(t.path) == 1 && s.types[t.path[0]] == nil { // its size is known
			s.define(&typeDef{name: t.path[0], at: t.at, scope: s, enum: e})
		}
		return t
	}
	def := &typeDef{at: t.at, scope: s, enum: e}
	if len(t.path) > 0 {
		def.name = t.path[len(t.path)-1]
		e.name = def.name
		s.define(def)
	}
	e.typeDef, t.def = def, def
	e.notes = p.u.notes(p, from, p.i)
	p.i++
	in := s
	if def.name != "" {
		in = s.kid(def.name)
	}
	var prev *constant
	for p.i < len(p.toks) && !p.is("}") {
		name := *p.peek(0)
		if name.kind != wordToken {
			if !name.is(",") {
				p.u.report(unexpected(name, "a name of the enum is expected"))
				for p.i < len(p.toks) && !p.is(",") && !p.is("}") && !p.is(";") {
					p.i++
				}
			}
			p.i++
			continue
		}
		p.i++
		c := &constant{name: name.text, at: name.at, prev: prev, enum: e, scope: in}
		for p.attributes(&a) {
		}
		if p.accept("=") {
			at := p.i
			if c.x = p.expr(0); c.x == nil || !p.is(",") && !p.is("}") {
				for p.i < len(p.toks) && !p.is(",") && !p.is("}") && !p.is(";") {
					p.i++
				}
				c.x = &expr{op: "?", at: p.since(min(at, len(p.toks)-1))}
			}
		}
		e.values = append(e.values, c)
		in.constant(c.name, c)
		if !class && in != s {
			s.constant(c.name, c)
		}
		prev = c
	}
	if !p.accept("}") {
		p.u.report(notClosed(t.at, "enum"))
	}
	for p.attributes(&a) {
	}
	e.packed = a.packed
	return t
}

// declarator reads a name with its pointers, dimensions, bits and initial value.
func (p *parser) declarator(s *scope, t *typeExpr) (d declarator) {
	for {
		switch w := p.peek(0); {
		case w.is("*") || w.is("^"):
			d.pointer = true
			p.i++
		case w.is("&") || w.is("&&"):
			d.ref = true
			p.i++
		case w.kind == wordToken && slices.Contains(ignored, w.text):
			p.i++
		case p.attributes(&d.attrs):
		default:
			goto name
		}
	}
name:
	switch {
	case p.is("(") && (p.peek(1).is("*") || p.peek(1).is("&") || p.peek(1).is("^")):
		p.i += 2
		d.pointer = true
		for p.is("*") || p.peek(0).kind == wordToken {
			if p.peek(0).kind == wordToken && !slices.Contains(ignored, p.peek(0).text) {
				d.name = *p.peek(0)
			}
			p.i++
		}
		for p.is("[") {
			d.dims = append(d.dims, p.dimension())
		}
		p.accept(")")
		if p.is("(") {
			p.balanced()
		}
		for p.is("[") {
			p.balanced()
		}
	case p.peek(0).kind == wordToken && !p.is("operator"):
		d.name = *p.peek(0)
		p.i++
	}
	for p.attributes(&d.attrs) {
	}
	for p.is("[") {
		d.dims = append(d.dims, p.dimension())
		for p.attributes(&d.attrs) {
		}
	}
	if p.is("(") || p.is("::") {
		d.function = true
		return d
	}
	if p.is(":") {
		p.i++
		if d.bits = p.expr(1); d.bits == nil {
			d.bits = &expr{op: "?", at: p.here()}
		}
	}
	for p.attributes(&d.attrs) {
	}
	switch {
	case p.accept("="):
		from := p.i
		if d.init = p.expr(1); d.init == nil || !p.is(",") && !p.is(";") {
			p.i, d.init = from, nil
			for p.i < len(p.toks) && !p.is(",") && !p.is(";") && !p.is("}") {
				if p.is("{") || p.is("(") || p.is("[") {
					p.balanced()
				} else {
					p.i++
				}
			}
		}
	case p.is("{"):
		from := p.i
		p.i++
		d.init = p.expr(1)
		p.i = from
		p.balanced()
	}
	return d
}

// dimension reads "[...]". It is nil without a number.
func (p *parser) dimension() *expr {
	from := p.i
	p.i++
	if p.accept("]") {
		return nil
	}
	x := p.expr(0)
	if x == nil || !p.is("]") {
		p.i = from
		p.balanced()
		return &expr{op: "?", at: p.since(from)}
	}
	p.i++
	return x
}
