package emit

import (
	"slices"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// A struct that has alternatives or contains itself, and is used in several places, has a section of its own: the places have links to it.

// mdType is such a struct.
type mdType struct {
	s      *schema.Struct
	name   string
	anchor string
	uses   int
	own    bool // it may contain itself
	named  bool // its name is that of a type
}

// described reports whether a struct has alternatives, or groups that may contain themselves, at any depth.
func described(s *schema.Struct, known map[*schema.Struct]bool, depth int) bool {
	if s == nil || depth > wire.MaxDepth {
		return false
	}
	if is, ok := known[s]; ok {
		return is
	}
	known[s] = false
	known[s] = slices.ContainsFunc(s.Fields, func(f *schema.Field) bool {
		switch t := f.Type.(type) {
		case *schema.Choice:
			return true
		case *schema.Group:
			return t.Own || described(t.Struct, known, depth+1)
		case *schema.List:
			return described(t.Elem, known, depth+1)
		}
		return false
	})
	return known[s]
}

// mdTypes finds the structs of messages that have a section.
type mdTypes struct {
	order []*mdType
	of    map[*schema.Struct]*mdType
	known map[*schema.Struct]bool // see described
}

// findTypes returns the structs with a section, by their first use.
func (w *markdown) findTypes(messages []*schema.Message) []*mdType {
	t := mdTypes{of: map[*schema.Struct]*mdType{}, known: map[*schema.Struct]bool{}}
	for _, m := range messages {
		if m.Body != nil && !m.Broken {
			t.walk(m.Body, messageName(m), 0)
		}
	}
	out := slices.DeleteFunc(t.order, func(x *mdType) bool { return x.uses < 2 && !x.own })
	w.apart = map[*schema.Struct]bool{}
	for _, x := range out {
		w.apart[x.s] = true
	}
	// A struct that depends on fields around it cannot be apart. Without it others may not be either, as their fields are at other bits.
	for pass, again := 0, true; again; pass++ {
		if again = false; pass == maxPasses {
			clear(w.apart)
			return nil
		}
		out = slices.DeleteFunc(out, func(x *mdType) bool {
			if _, err := wire.CompileApart(x.message(), w.apart); err == nil {
				return false
			}
			delete(w.apart, x.s)
			again = true
			return true
		})
	}
	return out
}

// maxPasses limits the time for structs that cannot be apart.
const maxPasses = 8

// message returns the struct as a message.
func (x *mdType) message() *schema.Message { return &schema.Message{Name: x.name, Body: x.s} }

// compile makes the layout of a message the current one. Layouts are not kept: a struct that is used in many places is in each of them.
func (w *markdown) compile(m *schema.Message) {
	w.begun = map[int]bool{}
	var err error
	if w.m, err = wire.CompileApart(m, w.apart); err != nil {
		w.m, _ = wire.Compile(m) // which has succeeded before
	}
}

// walk finds the structs inside a struct, once. path is its name.
func (t *mdTypes) walk(s *schema.Struct, path string, depth int) {
	if depth > wire.MaxDepth {
		return
	}
	for _, f := range s.Fields {
		switch typ := f.Type.(type) {
		case *schema.Group:
			t.use(typ.Struct, f, f.TypeText, path, typ.Own, depth)
		case *schema.List:
			t.use(typ.Elem, f, innerType(f.TypeText), path, false, depth)
		case *schema.Choice:
			text := ""
			if typ.On == nil {
				text = innerType(f.TypeText)
			}
			for i := range typ.Cases {
				if b := typ.Cases[i].Body; b != nil {
					t.use(b, f, text, path, false, depth)
				}
			}
		}
	}
	for _, v := range s.Variants {
		if v.Body != nil {
			t.walk(v.Body, path, depth+1)
		}
	}
}

// innerType returns the type in the innermost angle brackets.
func innerType(text string) string {
	text = strings.TrimRight(text, ">")
	return text[strings.LastIndexByte(text, '<')+1:]
}

// use notes a use of a struct as the contents of a field.
func (t *mdTypes) use(s *schema.Struct, f *schema.Field, text, path string, own bool, depth int) {
	if !described(s, t.known, 0) {
		return
	}
	if f.Name != "" {
		path += "." + f.Name
	}
	x := t.of[s]
	if x == nil {
		x = &mdType{s: s, name: s.Name, named: s.Name != ""}
		if !x.named {
			x.name = short(path)
		}
		t.of[s] = x
		t.order = append(t.order, x)
	}
	if x.uses++; !x.named && isName(text) && !slices.Contains(genericTypes, text) {
		x.name, x.named = text, true
	}
	x.own = x.own || own
	if x.uses == 1 {
		t.walk(s, path, depth+1)
	}
}

// genericTypes are names of types that do not identify a struct.
var genericTypes = []string{"container", "switch", "array", "option", "object"}

// types adds the sections of the structs that are apart, and their anchors before those of other sections.
func (w *markdown) types(types []*mdType) {
	if len(types) == 0 {
		return
	}
	w.anchor("Types")
	for _, x := range types {
		x.anchor = w.anchor(x.name)
		w.links[x.s] = "[" + markdownText(x.name) + "](#" + x.anchor + ")"
	}
}

// typeSection writes the section of a struct.
func (w *markdown) typeSection(x *mdType) string {
	w.compile(x.message())
	return "### " + markdownText(x.name) + "\n\nSize: " + sizeText(w.m.Body.Size) + ".\n\n" + w.table()
}

// link describes the contents of a row that are in a section: the type, as Markdown.
func (w *markdown) link(row *wire.Row) string {
	s := row.Apart
	if s == nil && row.Part != nil && row.Part.Kind == wire.Call {
		if g, ok := w.m.Fields[row.Field].Schema.Type.(*schema.Group); ok {
			s = g.Struct
		}
	}
	switch text := w.links[s]; {
	case s == nil || text == "":
		return ""
	case row.Part != nil && row.Part.Kind == wire.List:
		return "list of " + text
	default:
		return text
	}
}

// choiceText describes the values of a choice that have no contents.
func (w *markdown) choiceText(p *wire.Part) string {
	var none []string
	all := false
	for i := range p.Cases {
		c := &p.Cases[i]
		all = all || c.Else
		if len(c.Body.Parts) == 0 && len(none) <= mdNone {
			none = append(none, short(strings.TrimPrefix(w.m.Condition(c), "if ")))
		}
	}
	text := "alternatives"
	if len(none) > 0 {
		text += "; no contents if " + strings.Join(none[:min(len(none), mdNone)], ", ")
	}
	switch {
	case len(none) > mdNone:
		return text + ", …"
	case len(none) == 0 && !all:
		return text + "; no contents for other values"
	case !all:
		return text + ", and for other values"
	}
	return text
}

// mdNone is the number of values without contents that a row lists.
const mdNone = 4

// mdMore is the introduction of a document that has numbers of variable size, or alternatives.
const mdMore = `A varint has seven bits of a number in each byte, least significant ones first; the top bit of a byte is set if another byte follows. A signed varint is the two's complement,
a zigzag has the sign in its lowest bit, a sleb is sign-extended from its last byte, a vlq has the most significant bits first. Numbers of less than a byte that are marked as big are
numbered from the most significant bit. Offsets in a type are relative to its first byte. In formulas ".count" is the size of a count, and the name of a type with alternatives is its size.

`
