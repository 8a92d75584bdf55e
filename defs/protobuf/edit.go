package protobuf

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"google.golang.org/protobuf/types/descriptorpb"

	"wirebench/defs/edit"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// fields edits the fields of messages.
var fields = edit.Tree{Blocks: func(f *source.File) []edit.Block { return blocks(parse(f)) }, Item: item, Type: func(typ, _ string) string { return typ }}

// Edits change definitions by their fields.
var Edits = edit.Rules{
	Begin: begin, Guess: Sketch, Types: editTypes, Filler: func(int) []edit.Type { return nil }, Write: write, Rename: renameField, Name: nameMessage,
	Remove: fields.Remove,
}

// begin returns a file with a message, whose fields are guessed from its bytes.
func begin(name string, of edit.Message) string {
	name = text.CleanName(name)
	if guessed, ok := Sketch(name, of.Data); ok {
		return guessed
	}
	return fmt.Sprintf("syntax = \"proto3\";\n\nmessage %s {\n}\n", name)
}

// item returns the lines of a field. Its type may be with the number, as editTypes has it.
func item(name, typ string) []string {
	typ, rest, _ := strings.Cut(typ, " = ")
	lines := strings.Split(rest, "\n")
	lines[0] = fmt.Sprintf("%s %s = %s;", typ, name, strings.TrimSuffix(lines[0], ";"))
	return lines
}

// blocks returns the fields of the messages of a file, in the order of its declarations.
func blocks(t *tree) (out []edit.Block) {
	for _, d := range t.decls {
		body, ok := t.body(d)
		if !ok {
			continue
		}
		from, to := t.whole(body.OpenBrace).End, t.whole(body.CloseBrace).Start
		b := edit.Block{
			Of: t.whole(t.result.MessageNode(d.message).MessageName()), Into: source.Span{File: t.file, Start: from, End: from},
			Lines: strings.Contains(t.file.Text[from:to], "\n"), Indent: edit.Indent(t.file, from) + "  ",
		}
		for _, n := range body.Decls {
			if one, ok := n.(*ast.OneofNode); ok {
				for _, n := range one.Decls {
					b.Items = t.addItem(b.Items, n)
				}
				continue
			}
			b.Items = t.addItem(b.Items, n)
		}
		out = append(out, b)
	}
	return out
}

// body returns the part of a message between its brackets.
func (t *tree) body(d *decl) (*ast.MessageBody, bool) {
	if d.message == nil || d.entry {
		return nil, false
	}
	switch n := t.result.MessageNode(d.message).(type) {
	case *ast.MessageNode:
		return &n.MessageBody, n.OpenBrace != nil && n.CloseBrace != nil
	case *ast.SyntheticGroupMessageNode:
		g := (*ast.GroupNode)(n)
		return &g.MessageBody, g.OpenBrace != nil && g.CloseBrace != nil
	}
	return nil, false
}

// whole returns the place of a node, in all its lines.
func (t *tree) whole(n ast.Node) source.Span {
	info := t.result.AST().NodeInfo(n)
	size := len(t.file.Text)
	from := min(max(info.Start().Offset, 0), size)
	return source.Span{File: t.file, Start: from, End: min(max(info.End().Offset+1, from), size)}
}

// addItem adds a field as written.
func (t *tree) addItem(items []edit.Item, n ast.Node) []edit.Item {
	switch n := n.(type) {
	case *ast.FieldNode:
		if n.FldType == nil || n.Name == nil {
			return items
		}
		it := edit.Item{Span: t.whole(n), Name: t.whole(n.Name), Type: t.whole(n.FldType)}
		if n.Label.KeywordNode != nil {
			it.Type.Start = t.whole(n.Label.KeywordNode).Start
		}
		return append(items, it)
	case *ast.MapFieldNode:
		if n.Name != nil {
			return append(items, edit.Item{Span: t.whole(n), Name: t.whole(n.Name)})
		}
	case *ast.GroupNode:
		return append(items, edit.Item{Span: t.whole(n)})
	}
	return items
}

// editTypes returns the types of an element: what its bytes are most like first.
func editTypes(f *source.File, at edit.Run) (out []edit.Type) {
	e := at.Tagged
	if e == nil {
		return nil
	}
	t := parse(f)
	if t.result == nil {
		return nil
	}
	fields, _, whole := scan(append(binary.AppendUvarint(nil, uint64(e.Tag)), e.Data...), 0, 0)
	in := t.byName[e.In]
	if !whole || len(fields) != 1 || in == nil || in.message == nil {
		return nil
	}
	g := guesser{left: maxSketchFields}
	m := g.message([][]sent{fields}, 0)
	if len(m.fields) == 0 {
		return nil
	}
	guessed := m.fields[0]
	guessed.repeated = e.Repeated
	two := !slices.Contains([]string{"proto3", "editions"}, t.result.FileDescriptorProto().GetSyntax())
	add := func(group, title string, x guess) {
		if g.groups && !two {
			return // a guessed message with groups, which the syntax does not have
		}
		x.number = guessed.number
		w := sketchWriter{guesser: &guesser{groups: two}}
		typ := x.typ
		if x.message != nil && typ == "" {
			typ = t.free(in, "Field"+strconv.Itoa(int(x.number)))
			w.line(0, "")
			w.line(0, "")
			w.message(0, typ, x.message)
		}
		label, option := w.marks(&x)
		out = append(out, edit.Type{Text: strings.TrimRight(fmt.Sprintf("%s%s = %d%s;", label, typ, x.number, option)+w.out.String(), "\n"), Title: title, Group: group, Bits: -1})
	}
	plain := func(group string, types ...string) {
		if i := slices.Index(types, guessed.typ); i > 0 {
			types = slices.Insert(slices.Delete(slices.Clone(types), i, i+1), 0, guessed.typ)
		}
		for _, typ := range types {
			add(group, typ, guess{typ: typ, repeated: e.Repeated})
		}
	}
	switch fields[0].wire {
	case wireVarint:
		plain("Numbers", "uint32", "int32", "sint32", "bool", "uint64", "int64", "sint64")
	case wireFixed32:
		plain("Numbers", "fixed32", "sfixed32", "float")
	case wireFixed64:
		plain("Numbers", "fixed64", "sfixed64", "double")
	case wireBytes:
		asMessage := func() {
			if m := g.nested(fields, 0); m != nil {
				add("Messages", "a new message", guess{message: m, repeated: e.Repeated})
			}
		}
		if guessed.message != nil {
			asMessage()
		}
		plain("Text and bytes", "string", "bytes")
		if guessed.message == nil {
			asMessage()
		}
		for _, d := range t.decls {
			if d.message != nil && !d.entry && d.has(fields[0].data) && len(out) < maxEditTypes {
				add("Messages", d.full, guess{typ: t.shown(in, d), message: &shape{}, repeated: e.Repeated})
			}
		}
		if !e.Repeated {
			for _, typ := range packable(fields[0].data) {
				add("Numbers in one piece", "repeated "+typ, guess{typ: typ, repeated: true, packed: true})
			}
		}
	}
	return out
}

// maxEditTypes bounds the types that are offered.
const maxEditTypes = 24

// packable returns the numbers that contents may consist of.
func packable(data []byte) (out []string) {
	whole := len(data) > 0
	for b := data; len(b) > 0 && whole; {
		_, k := binary.Uvarint(b)
		whole, b = k > 0, b[max(k, 0):]
	}
	if whole {
		out = append(out, "uint32", "sint32", "uint64")
	}
	if n := len(data); n > 0 && n%4 == 0 {
		out = append(out, "float", "fixed32")
	}
	if n := len(data); n > 0 && n%8 == 0 {
		out = append(out, "double", "fixed64")
	}
	return out
}

// has reports whether a message has the fields of some bytes, at least one.
func (d *decl) has(data []byte) bool {
	all, _, whole := scan(data, 0, 1)
	for _, s := range all {
		if !slices.ContainsFunc(d.message.GetField(), func(f *descriptorpb.FieldDescriptorProto) bool {
			return uint32(f.GetNumber()) == s.number && wireOf(f) == s.wire
		}) {
			return false
		}
	}
	return whole && len(all) > 0
}

// wireOf returns the wire type of a field; that of one that names its type is not known, and as of a message.
func wireOf(f *descriptorpb.FieldDescriptorProto) uint8 {
	if x, ok := scalars[f.GetType()]; ok && f.Type != nil {
		return uint8(x.wire)
	}
	if f.GetType() == descriptorpb.FieldDescriptorProto_TYPE_GROUP {
		return wireGroup
	}
	return wireBytes
}

// free returns a name of a type that a message does not have yet.
func (t *tree) free(in *decl, name string) string {
	for i := 1; ; i++ {
		n := name
		if i > 1 {
			n += "_" + strconv.Itoa(i)
		}
		if t.byName[in.full+"."+n] == nil {
			return n
		}
	}
}

// shown returns the name by which a message refers to another one of its file.
func (t *tree) shown(in, d *decl) string {
	prefix := in.full + "."
	for {
		if rest, ok := strings.CutPrefix(d.full, prefix); ok && t.resolve(in, rest) == d {
			return rest
		}
		i := strings.LastIndexByte(strings.TrimSuffix(prefix, "."), '.')
		if i < 0 {
			break
		}
		prefix = prefix[:i+1]
	}
	if t.resolve(in, d.full) == d {
		return d.full
	}
	return "." + d.full
}

// resolve returns the type of this file that a name in a message means, nil if it is not in this file.
func (t *tree) resolve(in *decl, name string) *decl {
	if full, absolute := strings.CutPrefix(name, "."); absolute {
		return t.byName[full]
	}
	for scope := in.full; ; scope = scope[:max(strings.LastIndexByte(scope, '.'), 0)] {
		full := name
		if scope != "" {
			full = scope + "." + name
		}
		if d := t.byName[full]; d != nil || scope == "" {
			return d
		}
	}
}

// write returns the text with the field of an element.
func write(f *source.File, p edit.Place, add []edit.Field) (string, bool) {
	if p.Tagged == nil || len(add) != 1 {
		return "", false
	}
	if len(p.Replaced) > 0 {
		typ, rest, _ := strings.Cut(add[0].Type.Text, " = ") // the number stays, and so do options
		if strings.Contains(rest, "\n") {
			return "", false // with a new message
		}
		add = slices.Clone(add)
		add[0].Type.Text = typ
		return fields.Write(f, p, add)
	}
	t := parse(f)
	in := t.byName[p.Tagged.In]
	if in == nil || in.message == nil {
		return "", false
	}
	body, ok := t.body(in)
	if !ok {
		return "", false
	}
	from, to := t.whole(body.OpenBrace).End, t.whole(body.CloseBrace).Start
	for _, b := range blocks(t) {
		switch n := len(b.Items); {
		case b.Into.Start != from:
		case n > 0:
			p.Before = b.Items[n-1].Span
		case !b.Lines: // the bracket gets a line of its own
			return write(source.New(f.Name, f.Text[:from]+"\n"+edit.Indent(f, from)+strings.TrimLeft(f.Text[from:to], " \t")+f.Text[to:]), p, add)
		default:
			p.Message = b.Of
		}
	}
	return fields.Write(f, p, add)
}

// renameField gives a field another name. Nothing refers to it.
func renameField(f *source.File, at source.Span, path, name string) (string, bool) {
	it, _, ok := fields.Find(f, at)
	if !ok || it.Name.IsZero() || it.Name.Text() != path[strings.LastIndexAny(path, ".]")+1:] {
		return "", false
	}
	return edit.Splice(f, []source.Span{it.Name}, func(int) string { return name }), true
}

// nameMessage gives a message another name, also where fields of the file refer to it. An inner one keeps the names around it.
func nameMessage(f *source.File, message source.Span, name string) (string, bool) {
	t := parse(f)
	var d *decl
	for _, x := range t.decls {
		if x.message != nil && !x.entry && t.place(t.result.MessageNode(x.message).MessageName()) == message {
			d = x
		}
	}
	if d == nil {
		return "", false
	}
	if d.outer != nil {
		inner, ok := strings.CutPrefix(name, d.outer.name+"_")
		if !ok {
			return "", false
		}
		name = inner
	}
	spans := []source.Span{message}
	for _, in := range t.decls {
		for _, x := range in.message.GetField() {
			if x.GetTypeName() == "" || t.resolve(in, x.GetTypeName()) == nil {
				continue
			}
			node, ok := t.result.FieldNode(x).(*ast.FieldNode)
			if !ok {
				if m, is := t.result.FieldNode(x).(*ast.MapFieldNode); is && m.MapType != nil {
					spans = append(spans, t.references(in, m.MapType.ValueType, d)...)
				}
				continue
			}
			spans = append(spans, t.references(in, node.FldType, d)...)
		}
	}
	slices.SortFunc(spans, func(a, b source.Span) int { return a.Start - b.Start })
	return edit.Splice(f, slices.Compact(spans), func(int) string { return name }), true
}

// references returns the parts of a name that mean a type.
func (t *tree) references(in *decl, n ast.IdentValueNode, d *decl) (out []source.Span) {
	var parts []*ast.IdentNode
	switch n := n.(type) {
	case *ast.IdentNode:
		parts = []*ast.IdentNode{n}
	case *ast.CompoundIdentNode:
		parts = n.Components
	}
	if len(parts) == 0 {
		return nil
	}
	of := t.resolve(in, string(n.AsIdentifier()))
	for i := len(parts) - 1; i >= 0 && of != nil; i, of = i-1, of.outer { // "Ship.Crate": Crate, and Ship around it
		if of == d {
			out = append(out, t.whole(parts[i]))
		}
	}
	return out
}
