package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// maxStringDepth limits the nesting depth of structs that String follows.
const maxStringDepth = 256

// String returns the golden form of all messages, one after another. Two schemas with equal strings are equivalent. The text includes the
// codes of messages, but not the rest of the opcode map.
func (s *Schema) String() string {
	var b strings.Builder
	for i, m := range s.Messages {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(m.String())
	}
	return b.String()
}

// String returns the golden form of a message: a line about the message, the fields with their types as a tree, then the items in wire
// order, with the items of elements and groups below their parent item:
//
//	C_EXAMPLE.1 c2s code 4660
//	fields:
//	  number int32
//	  list list linked counted
//	    value int16
//	wire:
//	  length 16
//	  code 16
//	  count list 16
//	  offset list 16
//	  value number
//	  value list
//	    here 16
//	    next 16
//	    value value
func (m *Message) String() string {
	p := printer{}
	fmt.Fprintf(&p.b, "%s.%d", m.Name, m.Version)
	p.word(m.Key.Dir.String())
	if m.Key.Group != "" {
		p.word("group " + m.Key.Group)
	}
	if m.HasKey {
		p.word("code " + strconv.FormatUint(uint64(m.Key.Code), 10))
	}
	if m.Broken {
		p.word("broken")
	}
	if m.Unreadable {
		p.word("unreadable")
	} else if m.ReadOnly != "" {
		p.word("read-only")
	}
	if m.Measured {
		p.word("measured")
	}
	p.doc(m.Doc)
	p.b.WriteByte('\n')
	p.body(m.Body, 0)
	return p.b.String()
}

// printer accumulates the text. Lines are indented by two spaces per level.
type printer struct {
	b      strings.Builder
	scopes []map[*Field]string // names of the fields of enclosing structs, for expressions
	own    map[*Struct]int     // numbers of structs of groups that may contain themselves, which are written once
	items  map[*Struct]bool    // those whose items are written
}

func (p *printer) word(s string) {
	if s != "" {
		p.b.WriteByte(' ')
		p.b.WriteString(s)
	}
}

func (p *printer) line(depth int, format string, args ...any) {
	p.start(depth)
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

func (p *printer) start(depth int) {
	for range depth {
		p.b.WriteString("  ")
	}
}

func (p *printer) doc(doc string) {
	if doc != "" {
		fmt.Fprintf(&p.b, " # %q", doc)
	}
}

// body writes the fields and items of a message or a variant.
func (p *printer) body(s *Struct, depth int) {
	if s == nil {
		p.line(depth, "no body")
		return
	}
	p.line(depth, "fields:")
	p.fields(s, depth+1)
	p.line(depth, "wire:")
	p.wire(s, depth+1)
}

func (p *printer) fields(s *Struct, depth int) {
	if depth > maxStringDepth {
		p.line(depth, "...")
		return
	}
	paths := make(map[*Field]string, len(s.Fields))
	addPaths(paths, s, "", 0, false)
	p.scopes = append(p.scopes, paths)
	for _, f := range s.Fields {
		p.start(depth)
		p.b.WriteString(shownName(f))
		p.word(p.typeString(f.Type))
		again := false
		if g, ok := f.Type.(*Group); ok && g.Own {
			again = p.number(g.Struct)
		}
		if f.Same != nil {
			p.word("same as before")
		}
		p.doc(f.Doc)
		p.b.WriteByte('\n')
		if inner := innerStruct(f.Type); inner != nil && !again {
			p.fields(inner, depth+1)
		}
		if c, ok := f.Type.(*Choice); ok {
			p.alternatives(c, depth+1, p.fields)
		}
	}
	p.scopes = p.scopes[:len(p.scopes)-1]
}

// number writes the number of a struct that may contain itself. It reports whether the struct has been written before.
func (p *printer) number(s *Struct) (again bool) {
	n, again := p.own[s]
	if !again {
		if p.own == nil {
			p.own = map[*Struct]int{}
		}
		n = len(p.own) + 1
		p.own[s] = n
	}
	p.word(strconv.Itoa(n))
	if again {
		p.word("again")
	}
	return again
}

// alternatives writes the cases of a choice, and their contents.
func (p *printer) alternatives(c *Choice, depth int, contents func(*Struct, int)) {
	for i := range c.Cases {
		a := &c.Cases[i]
		text := "case " + strconv.FormatUint(a.Value, 10)
		switch {
		case a.Else:
			text = "else"
		case a.Text != nil:
			text = "case " + strconv.Quote(*a.Text)
		}
		if a.Name != "" {
			text += " named " + strconv.Quote(a.Name)
		}
		text += marks(mark{a.Bare, "bare"}, mark{a.Body == nil, "without a body"})
		p.line(depth, "%s", text)
		if a.Body != nil {
			contents(a.Body, depth+1)
		}
	}
}

// wire writes the items of a struct, then the number of optional items and the variants.
func (p *printer) wire(s *Struct, depth int) {
	if depth > maxStringDepth {
		p.line(depth, "...")
		return
	}
	paths := make(map[*Field]string, len(s.Fields))
	addPaths(paths, s, "", 0, false)
	for i := range s.Wire {
		p.item(&s.Wire[i], paths, depth)
	}
	if s.Optional > 0 {
		p.line(depth, "optional %d", s.Optional)
	}
	for _, v := range s.Variants {
		switch {
		case v.Field != nil:
			p.line(depth, "variant %s = %d", pathOf(paths, v.Field), v.Value)
		case v.MaxLen == 0:
			p.line(depth, "variant of %d bytes or more", v.MinLen)
		default:
			p.line(depth, "variant of %d..%d bytes", v.MinLen, v.MaxLen)
		}
		p.body(v.Body, depth+1)
	}
}

func (p *printer) item(it *Item, paths map[*Field]string, depth int) {
	p.start(depth)
	p.b.WriteString(it.Kind.String())
	carried := []*Field{it.Field}
	switch it.Kind {
	case Weave, Tagged:
		carried = it.Weave
		for _, f := range it.Weave {
			p.word(pathOf(paths, f))
		}
	case Const:
		p.word(fmt.Sprintf("% x", it.Bytes))
	default:
		if it.Field != nil {
			p.word(pathOf(paths, it.Field))
		}
		if it.Kind == Tag {
			p.word(strconv.FormatUint(uint64(it.Tag), 10))
		}
		if it.Bits != 0 {
			p.word(strconv.Itoa(it.Bits))
		}
		if it.Order == Big {
			p.word("big")
		}
		if it.Num != nil {
			p.word("as " + it.Num.String())
		}
	}
	p.b.WriteByte('\n')
	if it.Kind != Value && it.Kind != Weave && it.Kind != Tagged {
		return
	}
	for _, f := range carried {
		if f == nil {
			continue
		}
		if c, ok := f.Type.(*Choice); ok {
			p.alternatives(c, depth+1, p.wire)
			continue
		}
		inner := innerStruct(f.Type)
		if g, ok := f.Type.(*Group); ok && g.Own {
			if p.items[inner] {
				continue
			}
			if p.items == nil {
				p.items = map[*Struct]bool{}
			}
			p.items[inner] = true
		}
		if inner != nil {
			p.wire(inner, depth+1)
		}
	}
}

// innerStruct returns the struct of a list's element or of a group, or nil.
func innerStruct(t Type) *Struct {
	switch t := t.(type) {
	case *List:
		return t.Elem
	case *Group:
		return t.Struct
	}
	return nil
}

// addPaths names the fields that items of s may refer to: the fields of s and those inside groups, which may have no items themselves.
// If several fields have the same name, the second is name#2.
//
// A group that may contain itself has names too, but not those inside it.
func addPaths(paths map[*Field]string, s *Struct, prefix string, depth int, own bool) {
	if depth > maxStringDepth {
		return
	}
	seen := make(map[string]int, len(s.Fields))
	for _, f := range s.Fields {
		name := shownName(f)
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s#%d", name, n)
		}
		paths[f] = prefix + name
		if g, ok := f.Type.(*Group); ok && g.Struct != nil && !(g.Own && own) {
			addPaths(paths, g.Struct, prefix+name+".", depth+1, own || g.Own)
		}
	}
}

// shownName returns the name of a field, or a placeholder for the unnamed value of a bare list element.
func shownName(f *Field) string {
	if f.Name == "" {
		return "(element)"
	}
	return f.Name
}

func pathOf(paths map[*Field]string, f *Field) string {
	if path, ok := paths[f]; ok {
		return path
	}
	return "?" + f.Name
}

// String returns the kind in lower case, as in "value".
func (k ItemKind) String() string {
	names := [...]string{
		"value", "count", "offset", "here", "next", "length", "code", "const", "pad", "weave", "counter", "check",
		"bytes", "present", "more", "align", "tagged", "tag",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "item(" + strconv.Itoa(int(k)) + ")"
}
