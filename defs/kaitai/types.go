package kaitai

import (
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// tree is the parse tree of one file.
type tree struct {
	file  *source.File
	root  *typeDef // nil if the file has no format
	diags diag.List

	imports []importOf
	opaque  bool // ks-opaque-types
}

// importOf is an entry of meta/imports.
type importOf struct {
	path string
	span source.Span
}

// typeDef is a type: that of the file, or one in types.
type typeDef struct {
	name   string
	at     source.Span
	doc    string
	parent *typeDef // around it in the text
	unit   *tree

	endian    string // le, be or ""
	endianOn  *expr  // endian: switch-on
	endians   []caseOf
	bitEndian string
	encoding  *node
	params    []*attr
	seq       []*attr
	instances []*attr
	types     map[string]*typeDef
	enums     map[string]*enumDef
}

// enumDef is an enum.
type enumDef struct {
	name   string
	values []enumValue
}

type enumValue struct {
	name  string
	value uint64 // two's complement of a negative one
	low   bool   // it is negative
}

// expr is an expression in the text.
type expr struct {
	e *ex
	n *node
}

// caseOf is a case of a switch. Without key it is that of all other values.
type caseOf struct {
	key  *expr
	typ  *typeRef
	node *node
}

// attr is an entry of seq, instances or params.
type attr struct {
	id   string
	at   source.Span // the name
	line source.Span
	doc  string

	typ      *typeRef
	typNode  *node
	on       *expr
	cases    []caseOf
	contents []byte
	fixed    bool // contents are given
	size     *expr
	sizeEOS  bool
	term     []byte // of a terminator, of one byte or several
	include  bool
	keep     bool // consume: false
	strict   bool // eos-error is not false
	pad      int  // -1: none
	encoding *node
	repeat   string
	count    *expr
	until    *expr
	cond     *expr
	process  *node
	enum     []string
	enumNode *node
	value    *expr
	pos      *expr
	io       *expr
	parent   *expr
	valid    *node
	node     *node
}

// isBits reports whether the attribute is of bits that may share bytes with others.
func (a *attr) isBits() bool {
	return a.typ != nil && len(a.typ.path) == 1 && bitsOf(a.typ.path[0]) > 0
}

var (
	metaKeys = []string{
		"id", "title", "application", "file-extension", "xref", "license", "ks-version", "ks-debug", "ks-opaque-types", "ks-zero-copy-substream",
		"imports", "encoding", "endian", "bit-endian", "tags", "namespace",
	}
	typeKeys = []string{"meta", "doc", "doc-ref", "params", "seq", "types", "instances", "enums", "to-string"}
	attrKeys = []string{
		"id", "doc", "doc-ref", "contents", "type", "repeat", "repeat-expr", "repeat-until", "if", "size", "size-eos", "process", "enum", "encoding",
		"terminator", "consume", "include", "eos-error", "pad-right", "parent", "valid",
	}
	instKeys  = append([]string{"pos", "io", "value"}, attrKeys...)
	paramKeys = []string{"id", "type", "doc", "doc-ref", "enum"}
)

// model makes types of nodes.
type model struct {
	reader
	tree *tree
}

func parseTree(f *source.File) *tree {
	t := &tree{file: f}
	p := &model{tree: t}
	p.file = f
	if n := p.read(); n != nil {
		if n.kind != mapNode {
			p.report(notYAML(n.span, "a file is a map, not "+n.kind.String()))
		} else {
			t.root = p.typeDef(n, nil, key{})
		}
	}
	t.diags = p.diags
	return t
}

// check reports keys that are not known. Those that start with "-" are for other programs.
func (p *model) check(n *node, known []string, where string) {
	for _, k := range n.keys {
		if !strings.HasPrefix(k.text, "-") && !slices.Contains(known, k.text) {
			p.report(unknownKey(k.span, k.text, where, diag.Nearest(k.text, known)))
		}
	}
}

// want returns the value of a key if it is of the kind.
func (p *model) want(n *node, name string, kind nodeKind) *node {
	v := n.get(name)
	if v == nil || v.kind == kind {
		return v
	}
	if v.kind != nullNode {
		p.report(malformed(v.span, `"`+name+`" is `+kind.String()+", not "+v.kind.String(), "see the manual"))
	}
	return nil
}

func (p *model) typeDef(n *node, parent *typeDef, k key) *typeDef {
	d := &typeDef{name: k.text, at: k.span, parent: parent, unit: p.tree, types: map[string]*typeDef{}, enums: map[string]*enumDef{}, doc: docOf(n)}
	if n.kind == nullNode {
		return d
	}
	if n.kind != mapNode {
		p.report(malformed(n.span, "a type is a map, not "+n.kind.String(), "give it a seq"))
		return d
	}
	p.check(n, typeKeys, "a type")
	if m := p.want(n, "meta", mapNode); m != nil {
		p.meta(d, m)
	}
	if d.name == "" {
		d.name, d.at = fileBase(p.file.Name), p.file.Line(1)
	}
	if list := p.want(n, "params", listNode); list != nil {
		for _, a := range list.items {
			d.params = append(d.params, p.attr(a, key{}, paramKeys, len(d.params)))
		}
	}
	if list := p.want(n, "seq", listNode); list != nil {
		for i, a := range list.items {
			d.seq = append(d.seq, p.attr(a, key{}, attrKeys, i))
		}
	}
	if m := p.want(n, "instances", mapNode); m != nil {
		for i, a := range m.items {
			d.instances = append(d.instances, p.attr(a, m.keys[i], instKeys, i))
		}
	}
	if m := p.want(n, "enums", mapNode); m != nil {
		for i, e := range m.items {
			d.enums[m.keys[i].text] = p.enum(e, m.keys[i].text)
		}
	}
	if m := p.want(n, "types", mapNode); m != nil {
		for i, t := range m.items {
			d.types[m.keys[i].text] = p.typeDef(t, d, m.keys[i])
		}
	}
	return d
}

func docOf(n *node) string {
	doc := strings.TrimSpace(n.get("doc").str())
	refs := n.get("doc-ref")
	list := []*node{refs}
	if refs != nil && refs.kind == listNode {
		list = refs.items
	}
	for _, r := range list {
		if s := strings.TrimSpace(r.str()); s != "" {
			doc = strings.TrimSpace(doc + "\n" + s)
		}
	}
	return doc
}

func (p *model) meta(d *typeDef, m *node) {
	p.check(m, metaKeys, "meta")
	if id := m.get("id"); id != nil && id.str() != "" && d.parent == nil {
		d.name, d.at = id.text, id.span
	}
	d.encoding = m.get("encoding")
	if d.parent == nil {
		p.tree.opaque = p.flag(m, "ks-opaque-types", false)
	}
	switch e := m.get("endian"); {
	case e == nil:
	case e.kind == mapNode:
		d.endianOn = p.expr(e.get("switch-on"))
		cases := p.want(e, "cases", mapNode)
		if d.endianOn == nil || cases == nil {
			p.report(malformed(e.span, "an endian that depends on a value has switch-on and cases", "endian: le"))
			break
		}
		for i, v := range cases.items {
			c := caseOf{node: v, key: p.caseKey(cases.keys[i])}
			if v.str() != "le" && v.str() != "be" {
				p.report(malformed(v.span, "endian is le or be", "write le or be"))
				continue
			}
			d.endians = append(d.endians, c)
		}
	case e.str() == "le" || e.str() == "be":
		d.endian = e.text
	default:
		p.report(malformed(e.span, "endian is le or be", "write le or be"))
	}
	switch e := m.get("bit-endian"); {
	case e == nil:
	case e.str() == "le" || e.str() == "be":
		d.bitEndian = e.text
	default:
		p.report(malformed(e.span, "bit-endian is le or be", "write le or be"))
	}
	if list := p.want(m, "imports", listNode); list != nil && d.parent == nil {
		for _, i := range list.items {
			if i.str() != "" {
				p.tree.imports = append(p.tree.imports, importOf{i.text, i.span})
			}
		}
	}
}

// caseKey returns the expression of a case, nil for "_".
func (p *model) caseKey(k key) *expr {
	if k.text == "_" {
		return nil
	}
	return p.expr(&node{text: k.text, span: k.span, exact: k.span.Text() == k.text})
}

func (p *model) enum(n *node, name string) *enumDef {
	e := &enumDef{name: name}
	if n.kind != mapNode {
		if n.kind != nullNode {
			p.report(malformed(n.span, "an enum is a map of names by value, not "+n.kind.String(), "0: name"))
		}
		return e
	}
	for i, v := range n.items {
		x, err := parseExpr(n.keys[i].text)
		ev := enumValue{name: v.str()}
		if v.kind == mapNode {
			ev.name = v.get("id").str()
		}
		switch {
		case err == nil && x.kind == exInt:
			ev.value = x.int
		case err == nil && x.kind == exBool: // the value of a bit
			ev.value = x.int
		case err == nil && x.kind == exUnary && x.name == "-" && x.args[0].kind == exInt:
			ev.value, ev.low = -x.args[0].int, true
		default:
			p.report(malformed(n.keys[i].span, "a value of an enum is an integer", "0: name"))
			continue
		}
		if ev.name == "" {
			p.report(malformed(v.span, "a value of an enum has no name", "0: name"))
			continue
		}
		e.values = append(e.values, ev)
	}
	return e
}

// expr parses an expression; it returns nil if there is none, or a malformed one.
func (p *model) expr(n *node) *expr {
	if n == nil || n.kind == nullNode {
		return nil
	}
	if n.kind == listNode { // bytes, in YAML
		x := &ex{kind: exArray}
		for _, i := range n.items {
			if e := p.expr(i); e != nil {
				x.args = append(x.args, e.e)
			}
		}
		return &expr{x, &node{span: n.span}}
	}
	if n.kind != scalarNode {
		p.report(malformed(n.span, "an expression is text, not "+n.kind.String(), "put it in quotes"))
		return nil
	}
	e, err := parseExpr(n.text)
	if err != nil {
		x := err.(*exprError)
		p.report(badExpression(n.sub(x.from, x.to), x.why))
		return &expr{nil, n}
	}
	return &expr{e, n}
}

func (p *model) flag(n *node, name string, otherwise bool) bool {
	switch v := n.get(name); {
	case v == nil:
		return otherwise
	case v.str() == "true":
		return true
	case v.str() == "false":
		return false
	default:
		p.report(malformed(v.span, name+" is true or false", "write true or false"))
		return otherwise
	}
}

func (p *model) typeRef(n *node) *typeRef {
	if n.kind != scalarNode {
		p.report(malformed(n.span, "a type is a name, not "+n.kind.String(), "type: u4"))
		return nil
	}
	t, err := parseTypeRef(n.text)
	if err != nil {
		x := err.(*exprError)
		p.report(badExpression(n.sub(x.from, x.to), x.why))
		return nil
	}
	return &t
}

func (p *model) attr(n *node, k key, known []string, index int) *attr {
	a := &attr{id: k.text, at: k.span, pad: -1, strict: true, node: n, doc: docOf(n)}
	if n.kind != mapNode {
		p.report(malformed(n.span, "a field is a map, not "+n.kind.String(), "id: name"))
		a.at, a.line = n.span, n.span
		return a
	}
	p.check(n, known, "a field")
	if a.id == "" {
		if id := n.get("id"); id != nil && id.str() != "" {
			a.id, a.at = id.text, id.span
		} else {
			a.id, a.at = "_unnamed"+itoa(index), n.span
		}
	}
	a.line = p.file.LineAt(a.at.Start)
	switch t := n.get("type"); {
	case t == nil || t.kind == nullNode:
	case t.kind == mapNode:
		a.typNode = t
		p.check(t, []string{"switch-on", "cases"}, "a type that depends on a value")
		a.on = p.expr(t.get("switch-on"))
		cases := p.want(t, "cases", mapNode)
		if a.on == nil || cases == nil {
			p.report(malformed(t.span, "a type that depends on a value has switch-on and cases", "type: u4"))
			break
		}
		for i, v := range cases.items {
			c := caseOf{key: p.caseKey(cases.keys[i]), node: v}
			if v.kind != nullNode {
				c.typ = p.typeRef(v)
			}
			a.cases = append(a.cases, c)
		}
	default:
		a.typ, a.typNode = p.typeRef(t), t
		if a.typ == nil {
			a.on = &expr{nil, t} // fails when it is lowered
		}
	}
	if c := n.get("contents"); c != nil {
		a.fixed = true
		a.contents = p.contents(c)
	}
	a.size, a.sizeEOS = p.expr(n.get("size")), p.flag(n, "size-eos", false)
	a.include, a.keep, a.strict = p.flag(n, "include", false), !p.flag(n, "consume", true), p.flag(n, "eos-error", true)
	if t := n.get("terminator"); t != nil {
		a.term = p.contents(t)
		if len(a.term) == 0 {
			p.report(malformed(t.span, "a terminator is a byte", "terminator: 0"))
		}
	}
	if t := n.get("pad-right"); t != nil {
		if b := p.contents(t); len(b) == 1 {
			a.pad = int(b[0])
		} else {
			p.report(malformed(t.span, "pad-right is a byte", "pad-right: 0"))
		}
	}
	a.encoding, a.process, a.valid = n.get("encoding"), n.get("process"), n.get("valid")
	switch r := n.get("repeat"); {
	case r == nil:
	case r.str() == "eos" || r.str() == "expr" || r.str() == "until":
		a.repeat = r.text
	default:
		p.report(malformed(r.span, "repeat is eos, expr or until", "repeat: eos"))
	}
	a.count, a.until = p.expr(n.get("repeat-expr")), p.expr(n.get("repeat-until"))
	a.cond = p.expr(n.get("if"))
	if e := n.get("enum"); e != nil && e.str() != "" {
		if t := p.typeRef(e); t != nil {
			a.enum, a.enumNode = t.path, e
		}
	}
	a.value, a.pos, a.io = p.expr(n.get("value")), p.expr(n.get("pos")), p.expr(n.get("io"))
	if v := n.get("parent"); v != nil {
		a.parent = p.expr(v)
	}
	return a
}

// contents returns the bytes of contents: text, a byte, or a list of both.
func (p *model) contents(n *node) (out []byte) {
	if n.kind == listNode {
		for _, i := range n.items {
			out = append(out, p.contents(i)...)
		}
		return out
	}
	if n.kind != scalarNode {
		p.report(malformed(n.span, "contents are text, or a list of bytes and texts", "contents: [0x50, 0x4b]"))
		return nil
	}
	if !n.quoted {
		if x, err := parseExpr(n.text); err == nil && x.kind == exInt {
			if x.int > 255 {
				p.report(malformed(n.span, "a byte is at most 255", "write a list of bytes"))
			}
			return []byte{byte(x.int)}
		}
	}
	return []byte(n.text)
}
