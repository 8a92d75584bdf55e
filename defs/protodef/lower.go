package protodef

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The limits of definitions. Those of a message are within the limits of package wire.
const (
	maxTypes  = 1 << 20 // uses of types in a file
	maxNested = 100     // nesting depth of types

	maxMessages = 1 << 16
)

// lowerer compiles the messages of one file.
type lowerer struct {
	tree  *tree
	diags diag.List

	spaces []*space
	space  *space // of the type that is compiled
	params map[string]param
	low    int // smallest depth of a scope that paths led to
	uses   int
	depth  int
	errs   int // number of errors so far
	seen   map[source.Span]bool

	done      map[*definition]lowered
	open      map[*definition]*schema.Struct
	recursive map[*definition]bool
	tagSets   [3]*tagSet
	varTags   bool // "nbt" is the form with integers of variable size
}

// space is a namespace.
type space struct {
	path   []string
	parent *space
	types  map[string]*definition
	order  []*definition
}

// definition is a named type.
type definition struct {
	name  string
	doc   string // comment
	at    source.Span
	node  *node
	space *space
	bare  bool // beside types, not in it
}

// param is an argument of a type.
type param struct {
	node  *node
	scope *scope
	outer map[string]param
}

func newLowerer(t *tree) *lowerer {
	return &lowerer{
		tree: t, done: map[*definition]lowered{}, open: map[*definition]*schema.Struct{}, recursive: map[*definition]bool{},
		seen: map[source.Span]bool{}, low: math.MaxInt,
	}
}

// report adds a diagnostic, once for each place: types are compiled for each use.
func (l *lowerer) report(d diag.Diagnostic) {
	if d.Severity == diag.Error {
		l.errs++
	}
	if !l.seen[d.Span] {
		l.seen[d.Span] = true
		text.Add(&l.diags, d, maxMistakes)
	}
}

func (l *lowerer) lower() []*schema.Message {
	root := l.tree.root
	if root == nil {
		return nil
	}
	if root.kind != objectNode {
		l.report(malformedType(root.span, "a file is an object, not "+root.kind.String(), `write {"types": {...}}, or the types alone`))
		return nil
	}
	l.collect(root, nil, nil)
	for _, s := range l.spaces {
		if s.types["lnbt"] != nil || s.types["zigzag64"] != nil {
			l.varTags = true
		}
	}
	l.findRecursive()
	var out []*schema.Message
	var with map[*space]bool                       // namespaces with a packet
	for _, named := range [...]bool{true, false} { // other types may look like packets
		with = map[*space]bool{}
		for _, s := range l.spaces {
			for _, d := range s.order {
				is := strings.HasSuffix(strings.ToLower(d.name), "packet")
				if p, ok := packetOf(d); ok && len(out) < maxMessages && (is || !named && p.lone()) {
					with[s] = true
					out = append(out, l.packets(d, &p)...)
				}
			}
		}
		if len(out) > 0 {
			break
		}
	}
	// Without a packet all containers are messages; beside packets those of a direction without one, whose messages have no code.
	any := len(out) == 0
	for _, s := range l.spaces {
		if dir, _ := s.key(); !any && (dir == schema.Both || with[s]) {
			continue
		}
		for _, d := range s.order {
			if typeName(d.node) == "container" && d.at.File == l.tree.file && len(out) < maxMessages {
				m := l.message(d, d.name, d.at, d.node)
				m.Doc, m.Text = d.doc, written(d.at, d.node)
				out = append(out, m)
			}
		}
	}
	l.unused()
	return out
}

// collect finds the namespaces and their types: the members of types, and beside it those that have the form of a type. A file may be a map of
// types alone.
func (l *lowerer) collect(n *node, path []string, parent *space) {
	s := &space{path: path, parent: parent, types: map[string]*definition{}}
	l.spaces = append(l.spaces, s)
	if len(path) > 16 || len(l.spaces) > 1<<12 {
		l.report(tooLarge(n.span, "too many namespaces"))
		return
	}
	inner := object(n.span)
	for k, v := range n.members() {
		switch {
		case k.text == "types" && v.kind == objectNode:
			for k, v := range v.members() {
				l.define(s, &definition{name: k.text, doc: k.doc, at: k.span, node: v})
			}
		case k.text == "types":
			l.report(malformedType(k.span, `"types" is an object of types by name, not `+v.kind.String(), `"types": {"string": ["pstring", {"countType": "varint"}]}`))
		case isType(v):
			l.define(s, &definition{name: k.text, doc: k.doc, at: k.span, node: v, bare: true})
		case v.kind == objectNode:
			inner.keys, inner.items = append(inner.keys, k), append(inner.items, v)
		default:
			l.report(notRead(k.span, k.text, "neither a type nor a namespace, but "+v.kind.String()))
		}
	}
	for i, v := range inner.items {
		l.collect(v, append(slices.Clip(path), inner.keys[i].text), s)
	}
}

// define adds a definition to a namespace. Of several with one name the last one counts.
func (l *lowerer) define(s *space, d *definition) {
	d.space = s
	if old := s.types[d.name]; old != nil {
		l.report(sameName(d.at, d.name, "namespace"))
		*old = *d
		return
	}
	s.order, s.types[d.name] = append(s.order, d), d
}

// isType reports whether a member of a namespace has the form of a type: a name, an array of a name and arguments, or an object of both. Other
// objects are namespaces.
func isType(n *node) bool {
	if typeName(n) == "" {
		return false
	}
	return n.kind != objectNode || !slices.ContainsFunc(n.keys, func(k key) bool { return k.text != "type" && k.text != "typeArgs" })
}

// unused reports the mistakes in types that no message uses, which are not compiled. Beside types a name that no type has may be a text for
// another program, such as a version.
func (l *lowerer) unused() {
	l.params = nil
	for _, s := range l.spaces {
		l.space = s
		for _, d := range s.order {
			if len(l.diags) > maxMistakes {
				return
			}
			name, at := typeName(d.node), d.node.span
			if d.node.kind == arrayNode && name != "" {
				at = d.node.items[0].span
			}
			a := args(d.node)
			switch {
			case l.seen[at]:
			case name == "":
				l.report(noType(d.node))
			case name == "native" || name[0] == '$' || s.find(name) != nil || isBuiltin(name):
			case d.bare && (a == nil || a.kind != arrayNode && a.kind != objectNode):
				w := unknownType(at, name, l.nearest(name, a != nil))
				w.Severity, w.Span, w.Message = diag.Warning, d.at, text.Quote(d.name)+" is ignored: "+w.Message
				l.report(w)
			default:
				l.report(unknownType(at, name, l.nearest(name, a != nil)))
			}
		}
	}
}

// find returns the definition of a type that is visible in a namespace.
func (s *space) find(name string) *definition {
	for ; s != nil; s = s.parent {
		if d := s.types[name]; d != nil {
			return d
		}
	}
	return nil
}

// key returns the direction and the group of the messages of a namespace.
func (s *space) key() (dir schema.Dir, group string) {
	var rest []string
	for _, p := range s.path {
		switch strings.ToLower(p) {
		case "toclient", "clientbound", "to_client", "s2c":
			dir = schema.ToClient
		case "toserver", "serverbound", "to_server", "c2s":
			dir = schema.ToServer
		default:
			rest = append(rest, p)
		}
	}
	return dir, strings.Join(rest, ".")
}

// typeName returns the name of a type, "" for a malformed one.
func typeName(n *node) string {
	switch {
	case n == nil:
		return ""
	case n.kind == stringNode:
		return n.text
	case n.kind == arrayNode && len(n.items) > 0:
		return n.items[0].str()
	case n.kind == objectNode:
		return n.get("type").str()
	}
	return ""
}

// args returns the arguments of a type, nil if it has none.
func args(n *node) *node {
	switch {
	case n != nil && n.kind == arrayNode && len(n.items) > 1:
		return n.items[1]
	case n != nil && n.kind == objectNode:
		return n.get("typeArgs")
	}
	return nil
}

// packet is a container with a mapper from codes to names, and a switch that compares with it.
type packet struct {
	codes, cases          *node
	before, between, rest []*node // its other fields: those before the mapper, up to the switch, and after it
}

// lone reports whether the packet has no other fields. Only then it need not be called one.
func (p *packet) lone() bool { return len(p.before)+len(p.between)+len(p.rest) == 0 }

// packetOf returns the packet that a definition is.
func packetOf(d *definition) (p packet, ok bool) {
	fields := args(d.node)
	if typeName(d.node) != "container" || fields == nil {
		return p, false
	}
	name := ""
	for _, f := range fields.items {
		switch of := f.get("type"); {
		case p.codes == nil && typeName(of) == "mapper" && compares(fields.items, f.get("name").str()):
			p.codes, name = of, f.get("name").str()
		case p.codes == nil:
			p.before = append(p.before, f)
		case p.cases == nil && typeName(of) == "switch" && args(of).get("compareTo").str() == name:
			p.cases = of
		case p.cases == nil:
			p.between = append(p.between, f)
		default:
			p.rest = append(p.rest, f)
		}
	}
	return p, p.cases != nil && args(p.cases).get("fields") != nil
}

// compares reports whether one of some fields is a switch that compares with the field of a name.
func compares(fields []*node, name string) bool {
	return name != "" && slices.ContainsFunc(fields, func(f *node) bool {
		of := f.get("type")
		return typeName(of) == "switch" && args(of).get("compareTo").str() == name
	})
}

// written returns the text of a member: its name and its value; zero if they are not together.
func written(name source.Span, value *node) source.Span {
	if value == nil || value.span.File != name.File || value.span.Start < name.End {
		return source.Span{}
	}
	return source.Span{File: name.File, Start: name.Start, End: value.span.End}
}

// packets compiles the messages of a packet.
func (l *lowerer) packets(d *definition, p *packet) (out []*schema.Message) {
	l.space = d.space
	l.params = nil
	t := l.typeOf(p.codes, newScope(nil))
	number, ok := sent(t)
	if !ok {
		return nil
	}
	fields := args(p.cases).get("fields")
	dir, group := d.space.key()
	names := map[string]bool{}
	for _, v := range number.Enum.Values {
		i := slices.IndexFunc(fields.keys, func(k key) bool { return k.text == v.Name })
		if i < 0 || names[v.Name] {
			continue
		}
		names[v.Name] = true
		of, at, doc := fields.items[i], fields.keys[i].span, fields.keys[i].doc
		text := written(at, of)
		l.space = d.space
		if named := d.space.find(of.str()); named != nil {
			at, doc, text = named.at, cmp.Or(named.doc, doc), written(named.at, named.node)
		}
		switch own := l.tree.file; {
		case at.File == own:
		case fields.keys[i].span.File == own:
			at = fields.keys[i].span
			text = written(at, of)
		default: // of imported files
			at, text = own.Line(1), source.Span{}
		}
		code := *shorter(number)
		code.Enum = nil
		m := l.messageOf(d, v.Name, at, of, p, schema.Item{Kind: schema.Code, Bits: code.Bits, Order: code.Order, Num: &code})
		m.Doc, m.Text = doc, text
		m.HasKey, m.Key = true, schema.Key{Dir: dir, Group: group, Code: uint32(v.Value)}
		out = append(out, m)
	}
	return out
}

// message compiles a message of a type.
func (l *lowerer) message(d *definition, name string, at source.Span, of *node) *schema.Message {
	return l.messageOf(d, name, at, of, &packet{})
}

// messageOf compiles a message of a type in a packet, with its code. The other fields of the packet are the fields of groups of the message.
func (l *lowerer) messageOf(d *definition, name string, at source.Span, of *node, in *packet, code ...schema.Item) *schema.Message {
	l.space, l.params = d.space, nil
	errs := l.errs
	dir, group := d.space.key()
	m := &schema.Message{Name: name, Version: 1, Key: schema.Key{Dir: dir, Group: group}, Body: &schema.Struct{}, Span: at}
	around := newScope(nil)
	var header, tail schema.Struct
	for _, f := range in.before {
		l.field(&header, around, f)
	}
	header.Wire = append(header.Wire, code...)
	for _, f := range in.between {
		l.field(&header, around, f)
	}
	t := l.typeOf(of, around)
	if s, _ := body(t, at); s != nil {
		copied := *s
		m.Body = &copied
		if last := len(s.Fields) - 1; last >= 0 && l.rest(s.Fields[last]) {
			m.Body.Optional = 1 + countBefore(s, s.Fields[last])
		}
	}
	for _, f := range in.rest {
		l.field(&tail, around, f)
	}
	m.Body.Wire = slices.Concat(header.Wire, m.Body.Wire, tail.Wire)
	m.Body.Fields = slices.Concat(l.part(m.Body, "header", &header), m.Body.Fields, l.part(m.Body, "tail", &tail))
	l.packedPositions(m.Body, at, false, map[inside]bool{})
	m.Broken = l.errs > errs
	return m
}

// part returns the group of the fields that a packet has around the contents of its messages: none if there are none.
func (l *lowerer) part(contents *schema.Struct, name string, of *schema.Struct) []*schema.Field {
	if len(of.Fields) == 0 {
		return nil
	}
	name = contents.Free(name)
	return []*schema.Field{{Name: name, Type: &schema.Group{Around: true, Struct: &schema.Struct{Name: name, Fields: of.Fields}}, TypeText: "container"}}
}

// inside is a struct that has been visited, in compressed contents or not.
type inside struct {
	s      *schema.Struct
	packed bool
}

// packedPositions reports contents at a position of the message that are in compressed contents.
func (l *lowerer) packedPositions(s *schema.Struct, at source.Span, packed bool, seen map[inside]bool) {
	if seen[inside{s, packed}] {
		return
	}
	seen[inside{s, packed}] = true
	for _, f := range s.Fields {
		here, in := at, packed
		if f.Span.File != nil {
			here = f.Span
		}
		if g, ok := f.Type.(*schema.Group); ok {
			if g.At != nil && packed {
				l.report(malformedType(here, "contents at a position of the message cannot be in compressed contents", "put them outside"))
				return
			}
			in = in || g.Packed != schema.Unpacked
		}
		for _, body := range schema.Bodies(f.Type) {
			l.packedPositions(body, here, in, seen)
		}
	}
}

// rest reports whether a field is missing if the message ends before it.
func (l *lowerer) rest(f *schema.Field) bool {
	return strings.HasPrefix(f.TypeText, "optionalOnRemaining")
}

// countBefore returns the number of items about a field before its value.
func countBefore(s *schema.Struct, f *schema.Field) (n int) {
	for _, it := range s.Wire {
		if it.Field == f && it.Kind != schema.Value {
			n++
		}
	}
	return n
}

// findRecursive determines the types that contain themselves.
func (l *lowerer) findRecursive() {
	uses := map[*definition][]*definition{}
	for _, s := range l.spaces {
		for _, d := range s.order {
			var walk func(n *node)
			walk = func(n *node) {
				if n.kind == stringNode {
					if to := s.find(n.text); to != nil && to.node.str() != "native" {
						uses[d] = append(uses[d], to)
					}
				}
				for _, i := range n.items {
					walk(i)
				}
			}
			walk(d.node)
		}
	}
	// Strongly connected components, by Tarjan's algorithm with a stack of its own.
	index, low := map[*definition]int{}, map[*definition]int{}
	var stack []*definition
	on := map[*definition]bool{}
	type frame struct {
		d    *definition
		next int
	}
	for _, s := range l.spaces {
		for _, d := range s.order {
			if index[d] != 0 {
				continue
			}
			frames := []frame{{d, 0}}
			for len(frames) > 0 {
				f := &frames[len(frames)-1]
				if f.next == 0 {
					index[f.d] = len(index) + 1
					low[f.d] = index[f.d]
					stack, on[f.d] = append(stack, f.d), true
				}
				if f.next < len(uses[f.d]) {
					to := uses[f.d][f.next]
					f.next++
					switch {
					case index[to] == 0:
						frames = append(frames, frame{to, 0})
					case on[to]:
						low[f.d] = min(low[f.d], index[to])
					}
					if to == f.d {
						l.recursive[to] = true
					}
					continue
				}
				if low[f.d] == index[f.d] {
					for n := 0; ; n++ {
						top := stack[len(stack)-1]
						stack, on[top] = stack[:len(stack)-1], false
						if n > 0 || top != f.d {
							l.recursive[top] = true
						}
						if top == f.d {
							break
						}
					}
				}
				done := f.d
				if frames = frames[:len(frames)-1]; len(frames) > 0 {
					up := frames[len(frames)-1].d
					low[up] = min(low[up], low[done])
				}
			}
		}
	}
}

// typeOf compiles a type.
func (l *lowerer) typeOf(n *node, sc *scope) lowered {
	if l.uses++; l.uses > maxTypes {
		if l.uses == maxTypes+1 {
			l.report(tooLarge(n.span, fmt.Sprintf("more than %d uses of types", maxTypes)))
		}
		return lowered{}
	}
	if l.depth++; l.depth > maxNested {
		l.report(tooLarge(n.span, fmt.Sprintf("types are nested more than %d times", maxNested)))
		l.depth--
		return lowered{}
	}
	defer func() { l.depth-- }()
	name := typeName(n)
	if name == "" {
		l.report(noType(n))
		return lowered{}
	}
	if p, ok := l.params[strings.TrimPrefix(name, "$")]; ok && name[0] == '$' {
		outer := l.params
		l.params = p.outer
		defer func() { l.params = outer }()
		return l.typeOf(p.node, p.scope)
	}
	a := args(n)
	if d := l.space.find(name); d != nil && d.node.str() != "native" {
		return l.named(d, a, sc)
	}
	t, ok := l.builtin(name, n, a, sc)
	if !ok {
		at := n.span
		if n.kind == arrayNode {
			at = n.items[0].span
		}
		if l.space.find(name) != nil {
			l.report(nativeType(at, name))
		} else {
			l.report(unknownType(at, name, l.nearest(name, a != nil)))
		}
		return lowered{}
	}
	if t.text == "" {
		t.text = typeText(n)
	}
	return t
}

// nearest returns the name of a type that is similar to a name: also one of the language that has arguments, if composite is set.
func (l *lowerer) nearest(name string, composite bool) string {
	var names []string
	for s := l.space; s != nil; s = s.parent {
		for _, d := range s.order {
			if names = append(names, d.name); len(names) > 2000 {
				break
			}
		}
	}
	for _, n := range numbers {
		names = append(names, n.name)
	}
	if composite {
		names = append(names, slices.Sorted(maps.Keys(composed))...)
	}
	return diag.Nearest(name, names)
}

// typeText returns a type as text, abbreviated.
func typeText(n *node) string {
	a := args(n)
	inner := func(name string) string {
		if t := a.get(name); t != nil {
			return typeText(t)
		}
		return ""
	}
	name := typeName(n)
	switch {
	case a == nil:
		return name
	case name == "option":
		return "option<" + typeText(a) + ">"
	case name == "mapper" || name == "bitflags" || name == "array":
		if t := inner("type"); t != "" {
			return name + "<" + t + ">"
		}
	case name == "switch":
		return "switch " + text.Cut(a.get("compareTo").str())
	case name == "pstring" || name == "buffer":
		if t := inner("countType"); t != "" {
			return name + "<" + t + ">"
		}
	}
	return name
}

// named compiles a use of a named type. The result is shared if it does not depend on the fields around it.
func (l *lowerer) named(d *definition, a *node, sc *scope) lowered {
	if t, ok := l.done[d]; ok && a == nil {
		return t
	}
	if s := l.open[d]; s != nil {
		return lowered{typ: &schema.Group{Struct: s, Own: true, Bare: typeName(d.node) != "container"}, text: d.name}
	}
	space, params, low := l.space, l.params, l.low
	l.space, l.low = d.space, math.MaxInt
	if l.params = nil; a != nil && a.kind == objectNode {
		l.params = map[string]param{}
		for i, k := range a.keys {
			l.params[k.text] = param{a.items[i], sc, params}
		}
	}
	var t lowered
	switch {
	case l.recursive[d]:
		s := &schema.Struct{}
		l.open[d] = s
		inner := l.typeOf(d.node, sc)
		delete(l.open, d)
		g := &schema.Group{Struct: s, Own: true}
		if b, bare := body(inner, d.at); b != nil {
			*s, g.Bare = *b, bare
		}
		t = lowered{typ: g, names: inner.names}
		if l.low <= sc.depth {
			l.report(recursiveType(d.at, d.name))
		}
	default:
		t = l.typeOf(d.node, sc)
	}
	t.text = d.name
	if l.low > sc.depth && a == nil {
		l.done[d] = t
	}
	l.space, l.params, l.low = space, params, min(low, l.low)
	return t
}
