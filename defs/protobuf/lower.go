package protobuf

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/wellknownimports"
	"google.golang.org/protobuf/types/descriptorpb"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// lowerer compiles the messages of a file.
type lowerer struct {
	*tree
	among   *build.Among
	diags   diag.List
	structs map[structKey]*schema.Struct
	broken  map[*decl]bool
	users   map[*decl][]*decl // of a message: those with fields of its type
	enums   map[*decl]*schema.Enum
	builtIn map[string]*tree // by path; nil: there is none
	group   *schema.Struct   // of unknown groups
}

// structKey is a message, or a group that a tag ends.
type structKey struct {
	of  *decl
	end uint32
}

func newLowerer(t *tree, among *build.Among) *lowerer {
	return &lowerer{
		tree: t, among: among, diags: slices.Clone(t.diags), structs: map[structKey]*schema.Struct{}, broken: map[*decl]bool{}, users: map[*decl][]*decl{},
		enums: map[*decl]*schema.Enum{}, builtIn: map[string]*tree{}, group: unknownGroup(),
	}
}

// report adds a diagnostic about the file. Those about others are theirs.
func (l *lowerer) report(d diag.Diagnostic) {
	if d.Span.File == l.file && !slices.ContainsFunc(l.diags, func(x diag.Diagnostic) bool { return x.Span == d.Span && x.Code == d.Code }) {
		text.Add(&l.diags, d, maxMistakes)
	}
}

func (l *lowerer) lower() (out []*schema.Message) {
	if l.result == nil {
		return nil
	}
	l.imports()
	l.extensions()
	var of []*decl
	for _, d := range l.decls {
		if d.message == nil || d.entry || l.isGroup(d) {
			continue
		}
		at := l.place(l.result.MessageNode(d.message).MessageName())
		if at.IsZero() {
			at = l.file.Line(1)
		}
		m := &schema.Message{Name: l.nameOf(d), Version: 1, Span: at, Text: l.whole(l.result.MessageNode(d.message)), Doc: l.doc(l.result.MessageNode(d.message)), Body: l.message(d, 0)}
		out, of = append(out, m), append(of, d)
	}
	l.spread()
	for i, m := range out {
		m.Broken = l.broken[of[i]]
	}
	return out
}

// isGroup reports whether a message is that of a group.
func (l *lowerer) isGroup(d *decl) bool {
	_, group := l.result.MessageNode(d.message).(*ast.SyntheticGroupMessageNode)
	return group
}

// nameOf returns the name of a message: with its package, if files of other packages have it, too.
func (l *lowerer) nameOf(d *decl) string {
	for _, f := range l.among.Named(nameKey(d.name)) {
		if t := l.among.Tree(f).(*tree); t != l.tree && t.byName[d.full] == nil && d.full != d.name {
			return strings.ReplaceAll(d.full, ".", "_")
		}
	}
	return d.name
}

// imports reports those that are missing.
func (l *lowerer) imports() {
	for _, n := range l.result.AST().Decls {
		if i, ok := n.(*ast.ImportNode); ok && i.Name != nil {
			if name := i.Name.AsString(); l.imported(l.tree, name) == nil {
				l.report(missingImport(l.place(i.Name), name))
			}
		}
	}
}

// imported returns the tree of an import; nil if there is none.
func (l *lowerer) imported(from *tree, name string) *tree {
	var best *build.File
	for _, f := range l.among.Named(fileKey(name)) {
		switch at := path.Clean("/" + f.Source.Name); {
		case at == path.Clean("/"+name), at == path.Join("/", path.Dir(from.file.Name), name):
			best = f
		case best == nil && (strings.HasSuffix(at, path.Clean("/"+name)) || strings.HasSuffix(path.Clean("/"+name), at)):
			best = f
		}
		if best == f && path.Clean("/"+f.Source.Name) == path.Clean("/"+name) {
			break
		}
	}
	if best != nil {
		if best.Source == l.file {
			return l.tree
		}
		l.among.Use(best)
		return l.among.Tree(best).(*tree)
	}
	t, known := l.builtIn[name]
	if !known {
		t = standard(name)
		l.builtIn[name] = t
	}
	return t
}

// none finds no file: only those of the library are left.
var none = protocompile.ResolverFunc(func(string) (protocompile.SearchResult, error) {
	return protocompile.SearchResult{}, fs.ErrNotExist
})

// standard returns a file that is built in, or nil.
func standard(name string) *tree {
	if !strings.HasPrefix(name, "google/protobuf/") || !fs.ValidPath(name) {
		return nil
	}
	found, err := wellknownimports.WithStandardImports(none).FindFileByPath(name)
	if err != nil || found.Source == nil {
		return nil
	}
	var b strings.Builder
	buf := make([]byte, 32<<10)
	for {
		n, err := found.Source.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			break
		}
	}
	t := parse(source.New(name, b.String()))
	t.own = true
	return t
}

// extensions reports those that are not of options.
func (l *lowerer) extensions() {
	report := func(of *descriptorpb.FieldDescriptorProto) {
		if name := strings.TrimPrefix(of.GetExtendee(), "."); !strings.HasPrefix(name, "google.protobuf.") || !strings.HasSuffix(name, "Options") {
			l.report(extension(l.place(l.result.FieldNode(of).FieldExtendee()), name))
		}
	}
	for _, x := range l.result.FileDescriptorProto().GetExtension() {
		report(x)
	}
	for _, d := range l.decls {
		for _, x := range d.message.GetExtension() {
			report(x)
		}
	}
}

// find finds a type by its name in a message: in the messages around, from inside to outside, and in the packages.
func (l *lowerer) find(in *decl, name string) *decl {
	if full, absolute := strings.CutPrefix(name, "."); absolute {
		return l.named(in.tree, full)
	}
	for scope := in.full; ; {
		full := name
		if scope != "" {
			full = scope + "." + name
		}
		if d := l.named(in.tree, full); d != nil {
			return d
		}
		if scope == "" {
			return nil
		}
		scope = scope[:max(strings.LastIndexByte(scope, '.'), 0)]
	}
}

// named returns a type by its whole name: of a file, of those that it imports, or of any other file of the project.
func (l *lowerer) named(t *tree, full string) *decl {
	if d := t.byName[full]; d != nil {
		return d
	}
	if d := l.amongImports(t, full, map[*tree]bool{t: true}, false); d != nil {
		return d
	}
	all := l.among.Named(typeKey(full))
	if len(all) == 0 {
		return nil
	}
	if all[0].Source != l.file {
		l.among.Use(all[0])
	}
	return l.among.Tree(all[0]).(*tree).byName[full]
}

// amongImports finds a type in the imports of a file, and in their public imports.
func (l *lowerer) amongImports(t *tree, full string, seen map[*tree]bool, public bool) *decl {
	if t.result == nil {
		return nil
	}
	d := t.result.FileDescriptorProto()
	for i, name := range d.GetDependency() {
		if public && !slices.Contains(d.GetPublicDependency(), int32(i)) {
			continue
		}
		if strings.HasPrefix(name, "google/protobuf/") && !strings.HasPrefix(full, "google.protobuf.") {
			continue
		}
		in := l.imported(t, name)
		if in == nil || seen[in] {
			continue
		}
		seen[in] = true
		if d := in.byName[full]; d != nil {
			return d
		}
		if d := l.amongImports(in, full, seen, true); d != nil {
			return d
		}
	}
	return nil
}

// spread marks the messages with a field whose message is broken as broken, too.
func (l *lowerer) spread() {
	var next []*decl
	for d := range l.broken {
		next = append(next, d)
	}
	for len(next) > 0 {
		d := next[len(next)-1]
		next = next[:len(next)-1]
		for _, user := range l.users[d] {
			if !l.broken[user] {
				l.broken[user] = true
				next = append(next, user)
			}
		}
	}
}

// message compiles a message, or a group that a tag ends.
func (l *lowerer) message(d *decl, end uint32) *schema.Struct {
	key := structKey{d, end}
	if s := l.structs[key]; s != nil {
		return s
	}
	s := &schema.Struct{Name: d.full}
	l.structs[key] = s
	var lists []*schema.Field
	numbers := map[uint32]bool{}
	for i, f := range d.message.GetField() {
		if i == maxFields {
			l.report(tooManyFields(l.at(d, f)))
			l.broken[d] = true
			break
		}
		number := uint32(f.GetNumber())
		if f.GetName() == "" || number == 0 || numbers[number] || slices.ContainsFunc(s.Fields, func(x *schema.Field) bool { return x.Name == f.GetName() }) {
			l.broken[d] = true // the parser says why
			continue
		}
		numbers[number] = true
		for _, x := range l.field(d, f) {
			x.Name = s.Free(x.Name)
			s.Fields = append(s.Fields, x)
			lists = append(lists, x)
		}
	}
	other := unknownFields(s.Free("unknown"), l.group)
	s.Fields = append(s.Fields, other)
	slices.SortStableFunc(lists, func(a, b *schema.Field) int {
		return cmp.Compare(a.Type.(*schema.List).Tag>>3, b.Type.(*schema.List).Tag>>3)
	})
	s.Wire = []schema.Item{{Kind: schema.Tagged, Weave: append(lists, other), Ends: end != 0}}
	if end != 0 {
		s.Wire = append(s.Wire, tagItem(end))
	}
	return s
}

// at returns the place of a field's name, or of its type.
func (l *lowerer) at(d *decl, f *descriptorpb.FieldDescriptorProto) source.Span {
	n := d.tree.result.FieldNode(f)
	if n.FieldType() != nil {
		return d.tree.place(n.FieldType())
	}
	return d.tree.place(n)
}

// field compiles a field: one list, or two of a repeated field of numbers.
func (l *lowerer) field(d *decl, f *descriptorpb.FieldDescriptorProto) []*schema.Field {
	once := f.GetLabel() != descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	node := d.tree.result.FieldNode(f)
	base := schema.Field{Name: f.GetName(), Doc: l.about(d, f), Span: d.tree.place(node)}
	number := uint32(f.GetNumber()) << 3
	typeText, kind := typeName(f), f.GetType()
	list := func(name string, tag uint32, elem *schema.Struct, once bool) *schema.Field {
		out := base
		out.Name, out.TypeText = name, typeText
		if !once {
			out.TypeText = "repeated " + typeText
		}
		out.Type = &schema.List{Elem: elem, Bare: true, Tag: tag, Once: once, Extent: schema.Extent{Size: schema.Scattered}}
		for _, x := range elem.Fields {
			x.Span = base.Span
		}
		return &out
	}
	var of *decl
	if f.GetTypeName() != "" {
		switch of = l.find(d, f.GetTypeName()); {
		case of == nil:
			l.report(unknownType(l.at(d, f), strings.TrimPrefix(f.GetTypeName(), "."), f.GetName()))
			l.broken[d] = true
			kind = descriptorpb.FieldDescriptorProto_TYPE_BYTES
		case of.enum != nil:
			kind = descriptorpb.FieldDescriptorProto_TYPE_ENUM
		default:
			l.users[of] = append(l.users[of], d)
			if kind == descriptorpb.FieldDescriptorProto_TYPE_GROUP {
				break
			}
			if kind = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE; featuresOf(d, f).delimited && !of.entry {
				kind = descriptorpb.FieldDescriptorProto_TYPE_GROUP
			}
		}
	}
	counted := schema.Extent{Size: schema.Counted}
	switch kind {
	case descriptorpb.FieldDescriptorProto_TYPE_STRING:
		return []*schema.Field{list(base.Name, number|wireBytes, sized(number|wireBytes, schema.Count, &schema.Text{Charset: schema.UTF8, Extent: counted}, typeText), once)}
	case descriptorpb.FieldDescriptorProto_TYPE_BYTES:
		return []*schema.Field{list(base.Name, number|wireBytes, sized(number|wireBytes, schema.Count, &schema.Blob{Extent: counted}, typeText), once)}
	case descriptorpb.FieldDescriptorProto_TYPE_GROUP:
		elem, _ := bare(&schema.Group{Own: true, Struct: l.message(of, number|wireEnd)}, typeText, tagItem(number|wireGroup))
		return []*schema.Field{list(base.Name, number|wireGroup, elem, once)}
	case descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
		g := &schema.Group{Sized: true, Struct: l.message(of, 0)}
		if !of.entry {
			g.Bare = true
			g.Struct, _ = bare(&schema.Group{Own: true, Struct: g.Struct}, typeText)
		}
		return []*schema.Field{list(base.Name, number|wireBytes, sized(number|wireBytes, schema.Bytes, g, typeText), once)}
	}
	x, ok := scalars[kind]
	if !ok {
		l.broken[d] = true
		return nil
	}
	if of != nil {
		x.number.Enum = l.enum(of)
	}
	one, _ := bare(&x.number, typeText, tagItem(number|x.wire))
	if once {
		return []*schema.Field{list(base.Name, number|x.wire, one, true)}
	}
	together := packed(number|wireBytes, &x.number, typeText)
	base.Doc = strings.TrimSpace(base.Doc)
	if featuresOf(d, f).packed {
		p := list(base.Name, number|wireBytes, together, true)
		p.TypeText = "repeated " + typeText
		return []*schema.Field{p, list(base.Name+"_unpacked", number|x.wire, one, false)}
	}
	p := list(base.Name+"_packed", number|wireBytes, together, true)
	p.TypeText = "repeated " + typeText
	return []*schema.Field{list(base.Name, number|x.wire, one, false), p}
}

// about returns the documentation of a field: comments, and what else its text says.
func (l *lowerer) about(d *decl, f *descriptorpb.FieldDescriptorProto) string {
	parts := []string{d.tree.doc(d.tree.result.FieldNode(f))}
	if parts[0] == "" {
		parts = nil
	}
	if f.OneofIndex != nil && !f.GetProto3Optional() && int(f.GetOneofIndex()) < len(d.message.GetOneofDecl()) {
		parts = append(parts, "one of "+d.message.GetOneofDecl()[f.GetOneofIndex()].GetName())
	}
	if f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED {
		parts = append(parts, "required")
	}
	if f.DefaultValue != nil {
		parts = append(parts, "default "+text.Printable(text.Cut(f.GetDefaultValue())))
	}
	if f.GetOptions().GetDeprecated() {
		parts = append(parts, "deprecated")
	}
	return strings.Join(parts, "; ")
}

// typeName returns the type of a field as in its text.
func typeName(f *descriptorpb.FieldDescriptorProto) string {
	if f.GetTypeName() != "" {
		return strings.TrimPrefix(f.GetTypeName(), ".")
	}
	return strings.ToLower(strings.TrimPrefix(f.GetType().String(), "TYPE_"))
}

// enum returns the names of the values of an enum.
func (l *lowerer) enum(d *decl) *schema.Enum {
	if e := l.enums[d]; e != nil {
		return e
	}
	e := &schema.Enum{Name: d.full, Shown: true}
	for _, v := range d.enum.GetValue() {
		e.Values = append(e.Values, schema.EnumValue{Name: v.GetName(), Value: uint64(uint32(v.GetNumber()))})
	}
	l.enums[d] = e
	return e
}

// features are those of editions that mean something for bytes.
type features struct{ packed, delimited bool }

// featuresOf returns those of a field: its own ones, or those of what is around it.
func featuresOf(d *decl, f *descriptorpb.FieldDescriptorProto) (x features) {
	file := d.tree.result.FileDescriptorProto()
	x.packed = file.GetSyntax() == "proto3" || file.GetSyntax() == "editions"
	set := func(s *descriptorpb.FeatureSet) {
		if s != nil && s.RepeatedFieldEncoding != nil {
			x.packed = s.GetRepeatedFieldEncoding() == descriptorpb.FeatureSet_PACKED
		}
		if s != nil && s.MessageEncoding != nil {
			x.delimited = s.GetMessageEncoding() == descriptorpb.FeatureSet_DELIMITED
		}
	}
	set(file.GetOptions().GetFeatures())
	var around []*decl
	for m := d; m != nil; m = m.outer {
		around = append(around, m)
	}
	for _, m := range slices.Backward(around) {
		set(m.message.GetOptions().GetFeatures())
	}
	set(f.GetOptions().GetFeatures())
	if o := f.GetOptions(); o != nil && o.Packed != nil {
		x.packed = o.GetPacked()
	}
	return x
}
