package protodef

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// packetMap is the name of an imported file that programs generate from the numbers of packets, and that is not among published files. It
// imports the file typesFile.
const (
	packetMap = "packet_map.yml"
	typesFile = "types.yml"
)

// yamlFile compiles the entries of a file, and of those that it imports, to the value that a JSON file of the same types has.
type yamlFile struct {
	among    *build.Among // nil without other files
	file     *source.File
	imported map[string]bool
	maps     map[string]*yamlEntry // mappings that have names
	numbered []*yamlEntry          // containers with a number
	diags    diag.List
}

// value returns the value of a file.
func (y *yamlFile) value(root *yamlEntry) *node {
	y.imported, y.maps = map[string]bool{y.file.Name: true}, map[string]*yamlEntry{}
	all := y.spliced(y.file, root.in)
	for _, e := range all {
		if strings.TrimSpace(e.value) == "=>" {
			y.maps[e.key.text] = e
		}
	}
	out := object(source.Span{File: y.file})
	types := object(out.span)
	generated := y.imported[""]
	for _, e := range all {
		switch {
		case e.item:
			y.fail(e.at, "an element without a list", "types are written as \"name: type\"")
		case e.key.text[0] == '^':
			y.namespace(out, strings.Split(e.key.text[1:], "."), e)
		default:
			if generated && strings.HasPrefix(e.key.text, "packet_") && e.number() != "" {
				y.numbered = append(y.numbered, e)
			}
			y.field(types, e)
		}
	}
	if len(y.numbered) > 0 {
		types.put(key{text: "mcpe_packet", span: y.numbered[0].key.span}, y.packets())
	}
	if len(types.keys) > 0 {
		if had := out.get("types"); had != nil {
			had.keys, had.items = append(had.keys, types.keys...), append(had.items, types.items...)
		} else {
			out.put(key{text: "types", span: out.span}, types)
		}
	}
	return out
}

func (y *yamlFile) fail(at source.Span, message, help string) {
	text.Add(&y.diags, text.Mistake("not-yaml", at, message, help), maxMistakes)
}

// spliced returns entries with those of imported files in place of the imports.
func (y *yamlFile) spliced(f *source.File, list []*yamlEntry) (out []*yamlEntry) {
	for _, e := range list {
		switch {
		case e.key.text == "!import":
			out = append(out, y.importFile(f, e)...)
		case strings.HasPrefix(e.key.text, "!"):
		default:
			out = append(out, e)
		}
	}
	return out
}

// importFile returns the entries of an imported file.
func (y *yamlFile) importFile(f *source.File, e *yamlEntry) []*yamlEntry {
	name := path.Join(path.Dir(f.Name), unquoted(e.value))
	if y.imported[name] {
		return nil
	}
	y.imported[name] = true
	if found := y.find(name); found != nil {
		return y.spliced(found.file, found.entries.in)
	}
	if path.Base(name) == packetMap {
		y.imported[""] = true // its contents are generated
		if found := y.find(path.Join(path.Dir(name), typesFile)); found != nil {
			return y.spliced(found.file, found.entries.in)
		}
		return nil
	}
	text.Add(&y.diags, text.Mistake("no-file", e.at, "no file is named "+text.Quote(unquoted(e.value)), "the name is relative to the folder of this file"), maxMistakes)
	return nil
}

// find returns the tree of another file.
func (y *yamlFile) find(name string) *tree {
	if y.among == nil {
		return nil
	}
	for _, f := range y.among.Named(fileKey(name)) {
		if t, ok := y.among.Tree(f).(*tree); ok && t.entries != nil && f.Source.Name == name {
			y.among.Use(f)
			return t
		}
	}
	return nil
}

// The keys by which files find each other: a file of a name, and a file that imports one of a name.
func fileKey(name string) string   { return "file " + name }
func importKey(name string) string { return "imports " + name }

// imports returns the names of the files that a file imports.
func imports(f *source.File, root *yamlEntry) (names []string) {
	for _, e := range root.in {
		if e.key.text == "!import" {
			name := path.Join(path.Dir(f.Name), unquoted(e.value))
			names = append(names, name)
			if path.Base(name) == packetMap {
				names = append(names, path.Join(path.Dir(name), typesFile))
			}
		}
	}
	return names
}

// number returns the number of a packet, "" if it has none.
func (e *yamlEntry) number() string {
	for _, in := range e.in {
		if in.key.text == "!id" {
			return in.value
		}
	}
	return ""
}

// packets returns the container with a mapper and a switch of all packets with numbers.
func (y *yamlFile) packets() *node {
	at := y.numbered[0].key.span
	mappings, cases := object(at), object(at)
	for _, e := range y.numbered {
		name := strings.TrimPrefix(e.key.text, "packet_")
		mappings.put(key{text: e.number(), span: e.key.span}, word(name, e.key.span))
		cases.put(key{text: name, span: e.key.span}, word(e.key.text, e.key.span))
	}
	sortKeys(mappings)
	name, params := object(at), object(at)
	name.set("name", word("name", at))
	name.set("type", composite(at, "mapper", object(at).with("type", word("varint", at)).with("mappings", mappings)))
	params.set("name", word("params", at))
	params.set("type", composite(at, "switch", object(at).with("compareTo", word("name", at)).with("fields", cases)))
	return composite(at, "container", array(at, name, params))
}

// namespace adds the types of a namespace.
func (y *yamlFile) namespace(out *node, names []string, e *yamlEntry) {
	for _, name := range names {
		next := out.get(name)
		if next == nil {
			next = object(e.key.span)
			out.put(key{text: name, span: e.key.span}, next)
		}
		out = next
	}
	for _, in := range e.in {
		if in.item {
			y.fail(in.at, "an element without a list", "types are written as \"name: type\"")
		} else if in.key.text[0] != '!' {
			y.field(out, in)
		}
	}
}

// field adds a named type to an object.
func (y *yamlFile) field(to *node, e *yamlEntry) {
	if strings.TrimSpace(e.value) == "=>" {
		return // a mapping that others refer to
	}
	name, of := y.named(e)
	if to.get(name) != nil {
		text.Add(&y.diags, sameName(e.key.span, name, "namespace"), maxMistakes)
	}
	to.put(key{name, e.key.span, e.key.doc}, of)
}

// named returns the name and the type of a field.
func (y *yamlFile) named(e *yamlEntry) (name string, of *node) {
	name, of = e.key.text, y.typeOf(e)
	if bare, ok := strings.CutSuffix(name, "?"); ok {
		name, of = bare, composite(e.key.span, "option", of)
	}
	return name, of
}

// typeOf returns the type that an entry describes.
func (y *yamlFile) typeOf(e *yamlEntry) *node {
	switch {
	case e.flow != nil:
		return e.flow
	case strings.Contains(e.value, "[]"):
		return y.array(e)
	case strings.Contains(e.value, "=>"):
		return y.mapper(e)
	case strings.HasSuffix(e.value, "?") && len(e.in) > 0:
		return y.choice(e)
	case e.value != "":
		return word(unquoted(e.value), e.at)
	}
	return y.container(e, e.in)
}

// container returns the container of some fields.
func (y *yamlFile) container(e *yamlEntry, in []*yamlEntry) *node {
	fields := array(e.key.span)
	for _, f := range in {
		switch {
		case f.item:
			y.fail(f.at, "an element without a list", "fields are written as \"name: type\"")
		case f.key.text[0] == '!':
		case f.empty && len(f.in) == 0:
			text.Add(&y.diags, text.Doubt("no-type", f.at, "the field "+text.Quote(f.key.text)+" has no type and is left out", "write a type after \":\", or \"void\""), maxMistakes)
		default:
			fields.items = append(fields.items, y.member(f))
		}
	}
	return composite(e.key.span, "container", fields)
}

// member returns a field of a container.
func (y *yamlFile) member(f *yamlEntry) *node {
	name, of := y.named(f)
	out := object(f.key.span)
	out.doc = f.key.doc
	if f.key.text == "_" {
		out.set("anon", &node{kind: boolNode, text: "true", span: f.key.span})
	} else {
		out.set("name", word(name, f.key.span))
	}
	out.set("type", of)
	return out
}

// array returns the type of "type[]countType", or of "[]countType" with fields. A count that starts with "$" is a number or a field.
func (y *yamlFile) array(e *yamlEntry) *node {
	of, count, _ := strings.Cut(e.value, "[]")
	of, count = strings.TrimSpace(of), strings.TrimSpace(count)
	at := object(e.at)
	switch n, sized := strings.CutPrefix(count, "$"); {
	case sized:
		at.set("count", scalar(n, e.at))
	case count == "":
		at.set("count", scalar("0", e.at))
		y.fail(e.at, "the type of the count of elements is missing", "for example \"string[]varint\"")
	default:
		at.set("countType", word(count, e.at))
	}
	var inner []*yamlEntry
	for _, f := range e.in {
		if !strings.HasPrefix(f.key.text, "!") {
			inner = append(inner, f)
		}
	}
	switch {
	case of != "":
		at.set("type", word(of, e.at))
		if len(inner) > 0 {
			y.fail(inner[0].at, "these elements have a type already", "lines below \"[]\" and a count are the fields of elements")
		}
	case len(inner) == 1 && inner[0].key.text == "_" && (strings.Contains(inner[0].value, "[]") || strings.HasSuffix(inner[0].value, "?")):
		at.set("type", y.typeOf(inner[0]))
	default:
		at.set("type", y.container(e, e.in))
	}
	return composite(e.at, "array", at)
}

// mapper returns the type of "type => " with names by number, of a list of names, or of a mapping with a name.
func (y *yamlFile) mapper(e *yamlEntry) *node {
	of, name, _ := strings.Cut(e.value, "=>")
	in := e.in
	if name = strings.TrimSpace(name); name != "" {
		if m := y.maps[name]; m != nil {
			in = m.in
		} else {
			y.fail(e.at, "no mapping is named "+text.Quote(name), "write it as \""+name+": =>\", with names by number below it")
		}
	}
	mappings := object(e.at)
	for i, f := range in {
		switch {
		case f.item:
			mappings.put(key{text: strconv.Itoa(i), span: f.at}, scalar(f.value, f.at))
		case f.key.text[0] != '!':
			mappings.put(f.key, scalar(f.value, f.at))
		}
	}
	sortKeys(mappings)
	return composite(e.at, "mapper", object(e.at).with("type", word(strings.TrimSpace(of), e.at)).with("mappings", mappings))
}

// choice returns the type of "field ?" with the types of its cases.
func (y *yamlFile) choice(e *yamlEntry) *node {
	cases := object(e.at)
	var other *node
	for _, f := range e.in {
		name := strings.TrimSuffix(f.key.text, "?")
		names, isCase := strings.CutPrefix(name, "if ")
		switch {
		case strings.HasPrefix(name, "!"):
			continue
		case name == "default":
			other = y.typeOf(f)
			continue
		case !isCase || f.item:
			y.fail(f.start(), "a case starts with \"if\" or \"default\"", "for example \"if 1 or 2: varint\"")
			continue
		}
		of := y.typeOf(f)
		for v := range strings.SplitSeq(names, " or ") {
			if v = strings.TrimSpace(v); v == "default" {
				other = of
			} else {
				cases.put(key{v, f.key.span, f.key.doc}, of)
			}
		}
	}
	sortKeys(cases)
	compare := strings.TrimSpace(strings.TrimSuffix(e.value, "?"))
	out := object(e.at).with("compareTo", word(compare, e.at)).with("fields", cases)
	if other != nil {
		out.set("default", other)
	}
	return composite(e.at, "switch", out)
}

// sortKeys orders the members of an object as JavaScript does: first those named by integers, in their order.
func sortKeys(n *node) {
	type member struct {
		key   key
		value *node
		order int64
	}
	list := make([]member, len(n.keys))
	for i, k := range n.keys {
		list[i] = member{k, n.items[i], 1 << 40}
		if v, ok := parseInt(k.text); ok && v >= 0 {
			list[i].order = v
		}
	}
	slices.SortStableFunc(list, func(a, b member) int { return cmp.Compare(a.order, b.order) })
	for i, m := range list {
		n.keys[i], n.items[i] = m.key, m.value
	}
}

// The values that types consist of.

func object(at source.Span) *node { return &node{kind: objectNode, span: at} }

func array(at source.Span, items ...*node) *node {
	return &node{kind: arrayNode, items: items, span: at}
}

func word(s string, at source.Span) *node { return &node{kind: stringNode, text: s, span: at} }

// composite returns a type with arguments.
func composite(at source.Span, name string, args *node) *node {
	return array(at, word(name, at), args)
}

// put adds a member, or replaces that of the same name.
func (n *node) put(k key, v *node) {
	if i := slices.IndexFunc(n.keys, func(old key) bool { return old.text == k.text }); i >= 0 {
		n.keys[i], n.items[i] = k, v
		return
	}
	n.keys, n.items = append(n.keys, k), append(n.items, v)
}

func (n *node) set(name string, v *node) { n.put(key{text: name, span: v.span}, v) }

func (n *node) with(name string, v *node) *node {
	n.set(name, v)
	return n
}
