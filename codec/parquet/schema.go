package parquet

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/defs/schema"
)

// Schema is the columns of the messages of one program. It is immutable.
type Schema struct {
	Program *codec.Program
	Renamed []Rename // columns with another name than their field

	roots  []*node // of fields
	leaves []*leaf // of fields, in the order of the columns
	whole  *pq.Schema
}

// Rename is a column with another name than its field.
type Rename struct {
	Path   string `json:"path"`   // of the field
	Column string `json:"column"` // name
}

// String returns the names and types of all columns as a text: files with the same can be one.
func (s *Schema) String() string { return s.whole.String() }

// node is a column, or a group or list of columns.
type node struct {
	name string
	kind nodeKind
	leaf *leaf // leafNode

	pick   uint16   // groupNode: the field of which Set.Picks says whether the group is there; NoField: it is there whenever that around it is
	bodies []bool   // groupNode of a choice: by alternative, whether it has contents
	list   uint16   // listNode
	kids   []*node  // listNode: the element
	fields []uint16 // that the node has the values of, leaves only
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	groupNode
	listNode
)

// Columns returns the number of columns.
func (s *Schema) Columns() int { return len(frameNames) + len(s.leaves) }

// builder makes the nodes of a program.
type builder struct {
	p   *codec.Program
	set columns.Set // without messages: says which fields have columns
}

// Of returns the columns of a program.
func Of(p *codec.Program) *Schema {
	b := builder{p: p}
	b.set.SelectWhole(p)
	s := &Schema{Program: p}
	s.roots = b.merge(b.below(-1))
	taken := map[string]bool{}
	for _, name := range frameNames {
		taken[name] = true
	}
	s.rename(s.roots, taken, "")
	root := &group{}
	for i, name := range frameNames {
		root.add(name, frameNodes[i])
	}
	for _, n := range s.roots {
		root.add(n.name, n.parquet())
		s.collect(n, nil)
	}
	s.whole = pq.NewSchema(p.Message.Name, root)
	return s
}

// below returns the nodes of the fields inside a field, or at the top for -1.
func (b *builder) below(parent int) (out []*node) {
	end := len(b.p.Fields)
	if parent >= 0 {
		end = b.p.Fields[parent].End
	}
	for i := parent + 1; i < end; i = b.p.Fields[i].End {
		out = append(out, b.field(i)...)
	}
	return out
}

// field returns the node of a field, those of its alternatives for a choice without a name, and none for a field without a column.
func (b *builder) field(i int) []*node {
	f := &b.p.Fields[i]
	n := &node{name: f.Name, pick: codec.NoField}
	if b.set.Kind(uint16(i)) == columns.MadeColumn {
		return b.madeLeaf(n, i)
	}
	switch t := f.Schema.Type.(type) {
	case *schema.List:
		return b.listOf(n, i, t)
	case *schema.Group:
		n.kind, n.kids = groupNode, b.merge(b.below(i))
		if b.set.Kind(uint16(i)) == columns.PickColumn {
			n.pick = uint16(i)
		}
		if t.Bare && len(n.kids) == 1 {
			return []*node{n.asOnly()}
		}
	case *schema.Choice:
		return b.choice(n, i, t)
	case *schema.Bitfield:
		return b.parts(n, i, t)
	case *schema.Number:
		n.leaf = &leaf{kind: numberKind(t)}
	case *schema.Text:
		n.leaf = &leaf{kind: textLeaf}
	case *schema.Blob:
		n.leaf = &leaf{kind: bytesLeaf}
		if t.UUID {
			n.leaf.kind = uuidLeaf
		}
	}
	if n.kind == leafNode {
		if b.set.Kind(uint16(i)) == columns.NoColumn {
			return nil
		}
		n.fields = []uint16{uint16(i)}
	}
	return []*node{n.orPresence()}
}

// orPresence returns a node that says whether a group without any fields is there, if this is one, as Parquet has no empty groups.
func (n *node) orPresence() *node {
	if n.kind == groupNode && len(n.kids) == 0 {
		n.kind, n.leaf = leafNode, &leaf{kind: presenceLeaf, bodies: n.bodies}
		n.fields = []uint16{n.pick}
	}
	return n
}

// asOnly returns the only node inside a group, in place of the group.
func (n *node) asOnly() *node {
	only := n.kids[0]
	only.name = n.name
	if only.kind == groupNode && only.pick == codec.NoField {
		only.pick, only.bodies = n.pick, n.bodies
	}
	return only
}

// madeLeaf returns the node of a field whose values the Set makes: see columns.Set.Made.
func (b *builder) madeLeaf(n *node, i int) []*node {
	switch t := b.p.Fields[i].Schema.Type.(type) {
	case *schema.Bitfield:
		return b.parts(n, i, t)
	case *schema.Group:
		n.leaf = &leaf{kind: jsonLeaf}
	default:
		n.leaf = &leaf{kind: madeLeaf}
	}
	n.fields = []uint16{uint16(i)}
	return []*node{n}
}

func (b *builder) listOf(n *node, i int, t *schema.List) []*node {
	if b.set.Kind(uint16(i)) != columns.ListColumn {
		return nil
	}
	n.kind, n.list = listNode, uint16(i)
	elem := &node{kind: groupNode, pick: codec.NoField, kids: b.merge(b.below(i))}
	if t.Bare && len(elem.kids) == 1 {
		elem = elem.asOnly()
	}
	elem = elem.orPresence()
	elem.name = "element"
	n.kids = []*node{elem}
	return []*node{n}
}

// choice returns the node of a choice, or those of its alternatives.
func (b *builder) choice(n *node, i int, t *schema.Choice) []*node {
	kids, filled := []*node{}, 0
	at, end := i+1, b.p.Fields[i].End
	for k := range t.Cases {
		a := &t.Cases[k]
		n.bodies = append(n.bodies, a.Body != nil && (len(a.Body.Fields) > 0 || t.On == nil && k > 0))
		if !n.bodies[k] {
			continue
		}
		filled++
		for range a.Body.Fields {
			if at >= end {
				break
			}
			below := b.field(at)
			at = b.p.Fields[at].End
			if len(below) == 1 && below[0].name == "" {
				below[0].name = alternativeName(a)
			}
			kids = append(kids, below...)
		}
	}
	for ; at < end; at = b.p.Fields[at].End { // what alternatives inside alternatives have
		kids = append(kids, b.field(at)...)
	}
	if t.Anon || n.name == "" && !b.p.Fields[i].InList && b.p.Fields[i].Parent < 0 {
		return kids
	}
	n.kind, n.kids = groupNode, b.merge(kids)
	if b.set.Kind(uint16(i)) == columns.PickColumn {
		n.pick = uint16(i)
	}
	if filled == 1 && len(n.kids) == 1 && t.Cases[slices.Index(n.bodies, true)].Bare {
		return []*node{n.asOnly()}
	}
	return []*node{n.orPresence()}
}

// alternativeName is the name of the column of an alternative that is a value without a name.
func alternativeName(a *schema.Alternative) string {
	switch {
	case a.Name != "":
		return a.Name
	case a.Else:
		return "else"
	case a.Text != nil:
		return *a.Text
	}
	return strconv.FormatInt(int64(a.Value), 10)
}

// parts returns the group of the parts of a bitfield.
func (b *builder) parts(n *node, i int, t *schema.Bitfield) []*node {
	n.kind = groupNode
	add := func(name string, l leaf) {
		l.flags, l.part = t, name
		n.kids = append(n.kids, &node{name: name, leaf: &l, fields: []uint16{uint16(i)}, pick: codec.NoField})
	}
	if t.All != "" {
		l := leaf{kind: unsignedKind(t.Bits), all: true}
		if t.Var == schema.Long {
			l.kind = madeLeaf
		}
		add(t.All, l)
	}
	for _, name := range t.Names {
		bits, truth := 0, true
		for f := range t.Forms {
			if p := t.Forms[f].Part(name); p != nil {
				bits, truth = max(bits, p.Bits), truth && p.Kind == schema.Bool
			}
		}
		l := leaf{kind: unsignedKind(bits)}
		if truth {
			l.kind = boolLeaf
		}
		add(name, l)
	}
	return []*node{n}
}

// merge makes fields with the same name and type, which are in different alternatives, one node.
func (b *builder) merge(list []*node) (out []*node) {
	for _, n := range list {
		i := slices.IndexFunc(out, func(o *node) bool {
			return o.name == n.name && o.kind == leafNode && n.kind == leafNode && o.leaf.kind == n.leaf.kind && o.leaf.flags == nil && n.leaf.flags == nil && n.leaf.kind != presenceLeaf
		})
		if i < 0 {
			out = append(out, n)
			continue
		}
		out[i].fields = append(out[i].fields, n.fields...)
	}
	return out
}

// rename gives nodes names that are different without regard to case, as SQL compares them, and not empty.
func (s *Schema) rename(list []*node, taken map[string]bool, path string) {
	for _, n := range list {
		was := n.name
		name := strings.ReplaceAll(strings.ToValidUTF8(was, "\uFFFD"), "\x00", "\uFFFD")
		if name == "" {
			name = "value"
		}
		n.name = name
		for k := 2; taken[strings.ToLower(n.name)]; k++ {
			n.name = fmt.Sprintf("%s_%d", name, k)
		}
		taken[strings.ToLower(n.name)] = true
		if n.name != was {
			s.Renamed = append(s.Renamed, Rename{path + was, n.name})
		}
		if n.kind == listNode {
			elem := n.kids[0]
			s.rename(elem.kids, map[string]bool{}, path+was+"[].")
			continue
		}
		s.rename(n.kids, map[string]bool{}, path+was+".")
	}
}

// collect adds the leaves of a node, each with the nodes around it.
func (s *Schema) collect(n *node, around []*node) {
	around = append(around[:len(around):len(around)], n)
	if n.kind == leafNode {
		l := n.leaf
		l.path, l.fields = around, n.fields
		for _, f := range l.fields {
			if f == codec.NoField {
				continue
			}
			if num, ok := s.Program.Fields[f].Schema.Type.(*schema.Number); ok {
				l.numbers = append(l.numbers, num)
			}
		}
		s.leaves = append(s.leaves, l)
	}
	for _, kid := range n.kids {
		s.collect(kid, around)
	}
}

// optional reports whether a node may be null where what is around it is not.
func (n *node) optional() bool { return n.kind != groupNode || n.pick != codec.NoField }

// parquet returns the node of the file's schema.
func (n *node) parquet() (out pq.Node) {
	switch n.kind {
	case leafNode:
		out = leafNodes[n.leaf.kind]
	case listNode:
		out = pq.List(n.kids[0].parquet())
	case groupNode:
		g := &group{}
		for _, kid := range n.kids {
			g.add(kid.name, kid.parquet())
		}
		out = g
	}
	if n.optional() {
		out = pq.Optional(out)
	}
	return out
}

// group is a pq.Group whose fields are in the order of the definition, and may have any name.
type group struct {
	pq.Group
	fields []pq.Field
}

func (g *group) add(name string, n pq.Node) { g.fields = append(g.fields, &field{n, name}) }

func (g *group) Fields() []pq.Field { return g.fields }

// GoType is used only for values of Go types, of which there are none.
func (g *group) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

type field struct {
	pq.Node
	name string
}

func (f *field) Name() string                             { return f.name }
func (f *field) Value(reflect.Value) (none reflect.Value) { return none }
