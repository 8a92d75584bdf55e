package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// typeString describes a type without the contents of lists and groups.
func typeString(t Type) string {
	switch t := t.(type) {
	case *Number:
		return t.String()
	case *Bitfield:
		return t.String()
	case *Text:
		return "text " + t.Charset.String() + " " + t.Extent.String()
	case *Blob:
		s := "blob " + t.Extent.String()
		if t.Nested {
			s += " nested"
		}
		if t.UUID {
			s += " uuid"
		}
		return s
	case *List:
		s := "list "
		if t.Linked {
			s += "linked "
		}
		if t.Bare {
			s += "bare "
		}
		return s + t.Extent.String()
	case *Group:
		return "group" + flags("array", t.Array, "own", t.Own, "sized", t.Sized, "null", t.Null, "bare", t.Bare)
	case *Choice:
		s := "choice" + flags("anonymous", t.Anon)
		if t.On != nil {
			s += " on " + t.On.String()
		}
		return s
	case nil:
		return "no type"
	}
	return fmt.Sprintf("%T", t)
}

// String describes the type: "int32", "uint16 big", "int16 scale 0.5 wrap", "uint8 1..3".
func (n *Number) String() string {
	var b strings.Builder
	b.WriteString(n.Kind.String())
	b.WriteString(strconv.Itoa(n.Bits))
	if n.Order == Big {
		b.WriteString(" big")
	}
	b.WriteString(n.Var.String())
	if n.Add != 0 {
		fmt.Fprintf(&b, " add %d", n.Add)
	}
	b.WriteString(flags("absent", n.Absent))
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
		b.WriteString(flags("shown", n.Enum.Shown) + " enum " + n.Enum.Name + "{")
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
	if p.Order == Big {
		b.WriteString(" big")
	}
	b.WriteString(p.Var.String())
	if p.All != "" {
		b.WriteString(" all " + p.All)
	}
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
	if e.Size == Fixed {
		s += " " + strconv.Itoa(e.N)
	}
	if e.Expr != nil {
		s += " " + e.Expr.String()
	}
	if e.Size == Until {
		s += " " + strconv.Itoa(int(e.End))
	}
	return s + flags("null", e.Null) + rangeString(e.Min, e.Max, Unsigned)
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
func (c Charset) String() string {
	return word(int(c), "utf16le", "latin1", "utf8")
}

// String returns the name in lower case.
func (s Size) String() string {
	return word(int(s), "fixed", "counted", "terminated", "to-end", "computed", "until", "while")
}

// String returns the encoding after a space, "" for none.
func (v Varint) String() string { return word(int(v), "", " leb128", " sleb128", " zigzag", " vlq") }

// flags returns the names, each after a space, that are followed by true.
func flags(list ...any) (s string) {
	for i := 0; i < len(list); i += 2 {
		if list[i+1].(bool) {
			s += " " + list[i].(string)
		}
	}
	return s
}

// String returns the condition of the alternative.
func (a *Alternative) String() string {
	s := "case " + strconv.FormatUint(a.Value, 10)
	switch {
	case a.Else:
		s = "else"
	case a.Text != nil:
		s = "case " + strconv.Quote(*a.Text)
	}
	return s + flags("bare", a.Bare, "empty", a.Body == nil)
}

// String returns the expression in prefix notation.
func (e *Expr) String() string {
	switch e.Op {
	case Literal:
		return strconv.FormatInt(e.Int, 10)
	case Ref:
		if e.Part != "" {
			return e.Field.Name + "." + e.Part
		}
		return e.Field.Name
	}
	s := "(" + e.Op.Name()
	for _, a := range e.Args {
		s += " " + a.String()
	}
	return s + ")"
}

func word(i int, words ...string) string {
	if i < len(words) {
		return words[i]
	}
	return "?" + strconv.Itoa(i)
}
