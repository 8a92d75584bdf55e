package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// typeString describes a type without the contents of lists, groups and choices.
func (p *printer) typeString(t Type) string {
	switch t := t.(type) {
	case *Number:
		return t.String() + p.expr(" computed as ", t.Expr)
	case *Bitfield:
		return t.String()
	case *Text:
		s := "text " + t.Charset.String() + " " + p.extent(t.Extent)
		if t.Pad != 0 {
			s += fmt.Sprintf(" pad %d", t.Pad)
		}
		return s + p.expr(" computed as ", t.Value)
	case *Blob:
		return "blob " + p.extent(t.Extent) + marks(mark{t.Nested, "nested"}, mark{t.UUID, "uuid"}) + p.expr(" computed as ", t.Value)
	case *List:
		if t.Size == Ending && t.Elem != nil { // the expression is about the fields of an element
			paths := make(map[*Field]string, len(t.Elem.Fields))
			addPaths(paths, t.Elem, "", 0, false)
			p.scopes = append(p.scopes, paths)
			defer func() { p.scopes = p.scopes[:len(p.scopes)-1] }()
		}
		return "list" + marks(mark{t.Linked, "linked"}, mark{t.Bare, "bare"}, mark{t.Once, "once"}, mark{t.Other, "other"}) + " " + p.extent(t.Extent)
	case *Group:
		return "group" + marks(mark{t.Array, "array"}, mark{t.Own, "own"}, mark{t.Sized, "sized"}, mark{t.Null, "null"}, mark{t.Bare, "bare"}, mark{t.Packed != Unpacked, t.Packed.String()}, mark{t.Look, "look"}, mark{t.Inner, "inner"}) +
			p.expr(" key ", t.Key) + p.expr(" of ", t.Size) + p.expr(" at ", t.At) + p.named(" in ", t.In)
	case *Choice:
		return "choice" + marks(mark{t.Anon, "anonymous"}, mark{t.On == nil, "present"}) + p.expr(" on ", t.On)
	case nil:
		return "no type"
	}
	return fmt.Sprintf("%T", t)
}

// mark is a word of a property that a type has, or not.
type mark struct {
	has  bool
	word string
}

func marks(list ...mark) (s string) {
	for _, m := range list {
		if m.has {
			s += " " + m.word
		}
	}
	return s
}

// extent describes an extent, with the expression of a computed one.
func (p *printer) extent(e Extent) string {
	return e.String() + p.expr(" of ", e.Expr)
}

// expr returns an expression after a prefix, or "" for none. Names of fields of enclosing structs begin with "../" for each level.
func (p *printer) expr(prefix string, e *Expr) string {
	if e == nil {
		return ""
	}
	text := make([]string, len(e.Args))
	for i, a := range e.Args {
		text[i] = p.expr("", a)
	}
	switch {
	case e.Op == Literal:
		return prefix + strconv.FormatInt(e.Int, 10)
	case e.Op == Ref && e.Part != "":
		return prefix + p.refer(e.Field) + "." + strconv.Quote(e.Part)
	case e.Op == Ref:
		return prefix + p.refer(e.Field)
	case e.Op == FloatLiteral:
		return prefix + strconv.FormatFloat(e.Float, 'g', -1, 64)
	case e.Op == TextLiteral:
		return prefix + strconv.Quote(e.Text)
	case e.Op == Begin || e.Op == End || e.Op == Index:
		return prefix + e.Op.Name() + "(" + p.named("", e.Field) + ")"
	case e.Op == Element && len(text) == 1:
		return prefix + p.refer(e.Field) + "[" + text[0] + "]." + e.Inner.Name
	case e.Op == Least || e.Op == Greatest:
		return prefix + e.Op.Name() + "(" + p.refer(e.Field) + "[]." + e.Inner.Name + ")"
	case e.Op == Characters && len(text) == 1:
		return prefix + e.Set.String() + "(" + text[0] + ")"
	case e.Op == If && len(text) == 3:
		return prefix + "(" + text[0] + " ? " + text[1] + " : " + text[2] + ")"
	case len(text) == 2 && e.Op <= If:
		return prefix + "(" + text[0] + " " + e.Op.Name() + " " + text[1] + ")"
	}
	return prefix + e.Op.Name() + "(" + strings.Join(text, ", ") + ")"
}

// named returns the path of a field after a prefix, or "" for none.
func (p *printer) named(prefix string, f *Field) string {
	if f == nil {
		return ""
	}
	return prefix + p.refer(f)
}

// refer returns the path of a field that an expression depends on.
func (p *printer) refer(f *Field) string {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if path, ok := p.scopes[i][f]; ok {
			return strings.Repeat("../", len(p.scopes)-1-i) + path
		}
	}
	return "?" + f.Name
}

// String describes the type: "int32", "uint16 big", "int16 scale 0.5 wrap", "uint8 1..3".
func (n *Number) String() string {
	var b strings.Builder
	b.WriteString(n.Kind.String())
	b.WriteString(strconv.Itoa(n.Bits))
	b.WriteString(marks(mark{n.Order == Big, "big"}, mark{n.Var != Sized, n.Var.String()}, mark{n.Add != 0, "add " + strconv.FormatInt(n.Add, 10)}, mark{n.Absent, "absent"}))
	if n.Scale != 0 {
		b.WriteString(" scale " + strconv.FormatFloat(n.Scale, 'g', -1, 64))
	}
	if n.Wrap {
		b.WriteString(" wrap")
	}
	if n.Truncate {
		b.WriteString(" truncate")
	}
	b.WriteString(rangeString(n.Min, n.Max, n.Kind))
	if n.Enum != nil {
		b.WriteString(marks(mark{n.Enum.Shown, "shown"}) + " enum " + n.Enum.Name + "{")
		for i, v := range n.Enum.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s=%d", v.Name, v.Value)
		}
		b.WriteByte('}')
	}
	return b.String()
}

// String lists the parts of each form as name@lowest bit:bits, after the bits that choose the form.
func (p *Bitfield) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bitfield%d", p.Bits)
	b.WriteString(marks(mark{p.Order == Big, "big"}, mark{p.Var != Sized, p.Var.String()}, mark{p.All != "", "all " + strconv.Quote(p.All)}))
	b.WriteString(" (" + strings.Join(p.Names, ", ") + ")")
	for _, f := range p.Forms {
		fmt.Fprintf(&b, " {%#x=%#x", f.Mask, f.Match)
		for _, part := range f.Parts {
			fmt.Fprintf(&b, " %s@%d:%s%d", part.Name, part.Shift, part.Kind, part.Bits)
			if part.Ones > 0 {
				fmt.Fprintf(&b, "x%d", part.Ones)
			}
			if part.Mask != 0 {
				fmt.Fprintf(&b, "&%#x", part.Mask)
			}
		}
		b.WriteByte('}')
	}
	return b.String()
}

// String describes how the number of units is determined, and its legal range.
func (e Extent) String() string {
	s := e.Size.String()
	switch e.Size {
	case Fixed:
		s += " " + strconv.Itoa(e.N)
	case Until:
		s += fmt.Sprintf(" %02x", e.End)
	}
	if e.Size == Terminated && e.End != 0 {
		s += fmt.Sprintf(" %02x", e.End)
	}
	if e.Trim {
		s += fmt.Sprintf(" trim %02x", e.Pad)
	}
	return s + marks(mark{e.Null, "null"}, mark{e.Lax, "lax"}, mark{e.Keep, "keep"}, mark{e.With, "with"}) + rangeString(e.Min, e.Max, Unsigned)
}

// rangeString returns " min..max", without the number of a missing bound, or "" without bounds.
func rangeString(lo, hi *Limit, kind NumKind) string {
	if lo == nil && hi == nil {
		return ""
	}
	return " " + lo.text(kind) + ".." + hi.text(kind)
}

// text returns the bound as a number of the given kind, or the name of the constant.
func (l *Limit) text(kind NumKind) string {
	switch {
	case l == nil:
		return ""
	case l.Const != "":
		return l.Const
	case kind == Signed:
		return strconv.FormatInt(l.Int, 10)
	case kind == Float:
		return strconv.FormatFloat(l.Float, 'g', -1, 64)
	}
	return strconv.FormatUint(l.Uint, 10)
}

// String returns the start of a type name: "int" as in "int32".
func (k NumKind) String() string {
	return word(int(k), "uint", "int", "float", "bool")
}

// String returns the name in lower case.
func (s Size) String() string {
	return word(int(s), "fixed", "counted", "terminated", "to-end", "computed", "until", "while", "ending", "scattered")
}

// String returns the name in lower case, "" for Sized.
func (v Varint) String() string {
	return word(int(v), "", "leb128", "sleb128", "zigzag", "vlq", "long", "wide", "wide-signed")
}

func word(i int, words ...string) string {
	if i < len(words) {
		return words[i]
	}
	return "?" + strconv.Itoa(i)
}
