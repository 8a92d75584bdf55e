package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/defs/schema"
)

// Row is one row of a layout: an item, or contents of variable size.
type Row struct {
	Field int // None for items without a field
	Kind  schema.ItemKind
	List  int // the list that it is an element of, or None
	Depth int // number of enclosing lists, compressed groups and groups with a computed size
	At    At
	Size
	Item *Item // nil for contents
	Part *Part // contents: text, bytes or a list, followed by the rows of the element; a Call, whose rows are those of another field; a Computed value, which has an Item, too, if it is a number; nil for an item

	Optional bool  // the message may end before it
	Woven    bool  // its elements are interleaved with those of the adjacent lists
	Case     *Case // the alternative that contains it, or nil

	Around *Around // the alternatives of the same element or message that contain Case

	Apart *schema.Struct // Outline: the struct of the contents, which have no rows
}

// Around is a linked list of alternatives, the innermost first. Rows share its links.
type Around struct {
	Case  *Case
	Outer *Around
}

// At is the offset of a part: a number of bits from the start of the message or of the element, plus the sizes of preceding fields.
type At struct {
	Elem   bool  // relative to the start of the element
	Packed bool  // relative to the start of the decompressed contents
	Placed *Part // relative to the position of this group's contents; nil for all others
	Bits   int64
	Behind *Behind // nil: the offset is the same in every message
}

// Behind is a linked list of preceding fields of variable size, the last one first. Rows share its links.
type Behind struct {
	Field  int
	Kind   schema.ItemKind // Value, or the kind of number about the field
	N      int             // length of the list
	Before *Behind
}

// Computed reports whether the row is a number that is computed: it has no offset, At is that of the next part.
func (r *Row) Computed() bool { return r.Part != nil && r.Part.Kind == Computed }

// Fixed reports whether the offset is the same in every message.
func (a At) Fixed() bool { return !a.Elem && !a.Packed && a.Placed == nil && a.Behind == nil }

// Same reports whether two offsets are equal, provided that those of the preceding rows are: lists are not compared in full.
func (a At) Same(b At) bool {
	if a.Elem != b.Elem || a.Packed != b.Packed || (a.Placed == nil) != (b.Placed == nil) || a.Bits != b.Bits || (a.Behind == nil) != (b.Behind == nil) {
		return false
	}
	return a.Behind == nil || a.Behind.Field == b.Behind.Field && a.Behind.Kind == b.Behind.Kind && a.Behind.N == b.Behind.N
}

// Layout returns the rows of the message, in the order in which Encode lays it out; those of elements with any other tag are left out, as they are
// the same in all messages.
func (m *Message) Layout() []Row {
	l := layouter{m: m}
	l.parts(m.Body.Parts, At{}, Row{List: None})
	return l.rows
}

// Outline is like Layout, but has a row for each Choice that is a field, before those of its alternatives, and none for the contents of
// structs that are apart: see CompileApart. For those of a list there is the row of the list, for those of an alternative a row whose
// Field is the choice.
func (m *Message) Outline() []Row {
	l := layouter{m: m, outline: true}
	l.parts(m.Body.Parts, At{}, Row{List: None})
	return l.rows
}

type layouter struct {
	m       *Message
	rows    []Row
	outline bool
}

// apart returns the struct of a body if its contents have no rows.
func (l *layouter) apart(b *Body) *schema.Struct {
	if l.outline && b.Struct != nil && l.m.apart[b.Struct] {
		return b.Struct
	}
	return nil
}

// parts lays out parts from an offset and returns the offset after them. base describes the enclosing scope.
func (l *layouter) parts(parts []Part, at At, base Row) At {
	for i := range parts {
		p := &parts[i]
		row := base
		row.Optional = base.Optional || p.Optional > 0
		switch p.Kind {
		case Block:
			l.block(p, at, row)
		case Weave: // the lists share one offset: each begins at the start of the first one or soon after it
			row.Woven = true
			for k := range p.Lists {
				l.content(&p.Lists[k], at, row)
			}
			for k := range p.Lists {
				at = after(&p.Lists[k], at)
			}
			continue
		case Tagged: // the elements are anywhere
			for k := range p.Lists {
				l.content(&p.Lists[k], at, row)
			}
		case Choice:
			if base.Case != nil {
				row.Around = &Around{base.Case, base.Around}
			}
			if l.outline && p.Field != None && p.Present == None {
				one := base.of(p, at)
				one.Optional = row.Optional
				l.rows = append(l.rows, one)
			}
			for k := range p.Cases {
				row.Case = &p.Cases[k]
				if s := l.apart(&row.Case.Body); s != nil {
					one := row.of(p, at)
					one.Apart, one.Size = s, row.Case.Body.Size
					l.rows = append(l.rows, one)
					continue
				}
				l.parts(row.Case.Body.Parts, at, row)
			}
			if p.Field == None {
				continue
			}
		case Var:
			it := &p.Items[0]
			row.Field, row.Kind, row.Item, row.Size, row.At = it.Field, it.Kind, it, p.Size, at
			l.rows = append(l.rows, row)
		case Computed:
			row = row.of(p, at)
			if len(p.Items) > 0 {
				row.Item = &p.Items[0]
			}
			l.rows = append(l.rows, row)
			continue
		case Align:
			row.Field, row.Kind, row.Size, row.At = None, schema.Align, p.Size, at
			row.Item = &Item{Kind: schema.Align, Field: None, Bits: p.Unit * 8, Reg: None}
			l.rows = append(l.rows, row)
		case Group:
			from := at
			if p.At != None {
				from = At{Placed: p}
			}
			if s := l.apart(p.Body); s != nil {
				row = row.of(p, from)
				row.Apart = s
				l.rows = append(l.rows, row)
				break
			}
			packed := l.m.Packing(p) != schema.Unpacked
			if packed || p.Bytes != None && l.m.Regs[p.Bytes].Expr != nil {
				l.rows = append(l.rows, row.of(p, from))
				row.Depth++
			}
			if packed {
				from = At{Packed: true}
			}
			l.parts(p.Body.Parts, from, row)
		case Let:
			continue
		default:
			l.content(p, at, row)
		}
		at = after(p, at)
	}
	return at
}

func (l *layouter) block(p *Part, at At, row Row) {
	for i := range p.Items {
		it := &p.Items[i]
		row.Field, row.Kind, row.Item, row.Size = it.Field, it.Kind, it, exactly(int64(it.Bits))
		row.At = at
		row.At.Bits += int64(it.Off)
		l.rows = append(l.rows, row)
	}
}

// of returns the row of a part with a field.
func (r Row) of(p *Part, at At) Row {
	r.Field, r.Kind, r.Part, r.Size, r.At = p.Field, schema.Value, p, p.Size, at
	return r
}

// content lays out text, bytes or a list, and a list's element.
func (l *layouter) content(p *Part, at At, row Row) {
	row = row.of(p, at)
	if p.Kind == List {
		row.Apart = l.apart(p.Elem)
	}
	l.rows = append(l.rows, row)
	if p.Kind == List && row.Apart == nil && (l.outline || !p.List.Other) {
		l.parts(p.Elem.Parts, At{Elem: true}, Row{List: p.Field, Depth: row.Depth + 1})
	}
}

// after returns the offset after a part.
func after(p *Part, at At) At {
	if p.Kind == Group && p.At != None {
		return at // its contents are elsewhere
	}
	if p.Fixed() {
		at.Bits += p.Min.Bits
		return at
	}
	n, kind, field := 1, schema.Value, p.Field
	if at.Behind != nil {
		n += at.Behind.N
	}
	switch p.Kind {
	case Align:
		kind = schema.Align
	case Tagged:
		field = p.Lists[len(p.Lists)-1].Field
	case Var:
		kind = p.Items[0].Kind
	case Block, Text, Blob, List, Weave, Choice, Group, Call, Let, Computed: // their field says what they are
	}
	at.Behind = &Behind{field, kind, n, at.Behind}
	return at
}

// Limits beyond which texts are abbreviated: paths have the field's number in place of the enclosing fields, offsets have the number of
// preceding parts. So texts about a message do not grow with the square of its definition.
const (
	maxPath   = 240 // bytes
	maxBehind = 32  // fields
	maxAt     = 480 // bytes
)

// Path returns the path of a field, without indexes of elements: members[].player_id. In a long path the field's number replaces the
// enclosing fields: "…#17.player_id". No two fields of different names have the same path.
func (m *Message) Path(field int) string {
	path, _ := m.path(field, false)
	return path
}

// FullPath returns the path of a field without abbreviation.
func (m *Message) FullPath(field int) string {
	path, _ := m.path(field, true)
	return path
}

// Label returns the path of a field, truncated if it is long, for texts about other fields.
func (m *Message) Label(field int) string { return cut(m.Path(field)) }

// cut truncates a text that is repeated in others.
func cut(text string) string {
	if len(text) <= maxPath {
		return text
	}
	end := maxPath
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func (m *Message) path(field int, full bool) (path string, short bool) {
	if field == None {
		return "", false
	}
	var chain [MaxDepth + 2]int
	n, size := 0, 0
	for f := field; f != None && n < len(chain); f = m.Fields[f].Parent {
		chain[n] = f
		n++
		size += len(m.Fields[f].Name) + 3
	}
	if short = size > maxPath && n > 1 && !full; short {
		for n = 1; m.Fields[chain[n-1]].Name == "" && n < len(chain) && m.Fields[chain[n-1]].Parent != None; n++ { // the value of a bare element
		}
		short = m.Fields[chain[n-1]].Parent != None
	}
	b := make([]byte, 0, min(size, maxPath)+8)
	if short {
		b = append(b, "…#"...)
		b = strconv.AppendInt(b, int64(field), 10)
	}
	for n--; n >= 0; n-- {
		f := &m.Fields[chain[n]]
		if f.InList && !m.Fields[f.Parent].Once() {
			b = append(b, "[]"...)
		}
		if name := f.Name; name != "" {
			if len(b) > 0 && name[0] != '[' {
				b = append(b, '.')
			}
			b = append(b, name...)
		}
	}
	return string(b), short
}

// AtText formats an offset in bytes: "18 + name", "element + 4". After too many parts, or if it is too long, it has their number:
// "18 + 40 parts before".
func (m *Message) AtText(at At) string { return m.atText(at, false) }

// Text formats an offset without the preceding fields: "18", "element + 4", "contents + 4", "position + 4".
func (at At) Text() string { return string(at.append(nil)) }

func (at At) append(b []byte) []byte {
	start := ""
	switch {
	case at.Elem:
		start = "element"
	case at.Packed:
		start = "contents"
	case at.Placed != nil:
		start = "position"
	}
	b = append(b, start...)
	if at.Bits > 0 || start == "" || at.Behind == nil {
		if start != "" {
			b = append(b, " + "...)
		}
		b = strconv.AppendInt(b, at.Bits/8, 10)
		if r := at.Bits % 8; r != 0 {
			b = append(b, " bytes "...)
			b = strconv.AppendInt(b, r, 10)
			b = append(b, " bits"...)
		}
	}
	return b
}

// FullAtText formats an offset with all preceding fields, without abbreviation.
func (m *Message) FullAtText(at At) string { return m.atText(at, true) }

// unnamed returns a word for a field without a name.
func (m *Message) unnamed(field int) string {
	if field != None {
		if _, ok := m.Fields[field].Schema.Type.(*schema.Choice); ok {
			return "alternative"
		}
	}
	return "value"
}

func (m *Message) atText(at At, full bool) string {
	b := at.append(make([]byte, 0, 32))
	if at.Behind == nil {
		return string(b)
	}
	start := len(b)
	if full || at.Behind.N <= maxBehind {
		parts := make([]*Behind, at.Behind.N)
		for x := at.Behind; x != nil; x = x.Before {
			parts[x.N-1] = x
		}
		for _, x := range parts {
			b = append(b, " + "...)
			path := m.relative(x.Field, at.Elem, full)
			b = append(b, path...)
			if path == "" && (x.Kind == schema.Code || x.Kind == schema.Align || x.Kind == schema.Tag) {
				b = append(b, x.Kind.String()...)
				continue
			}
			if path == "" {
				b = append(b, m.unnamed(x.Field)...)
			}
			if x.Kind != schema.Value {
				b = append(append(b, '.'), x.Kind.String()...)
			}
			if !full && len(b)-start > maxAt {
				b = b[:start]
				break
			}
		}
	}
	if len(b) == start {
		b = append(b, " + "...)
		b = strconv.AppendInt(b, int64(at.Behind.N), 10)
		b = append(b, " parts before"...)
	}
	return string(b)
}

// relative returns the path of a field relative to its element, for offsets.
func (m *Message) relative(field int, elem, full bool) string {
	path, short := m.path(field, full)
	if field != None && m.Fields[field].Schema.Name == "" {
		if c, ok := m.Fields[field].Schema.Type.(*schema.Choice); ok && c.Anon {
			path = strings.TrimPrefix(path+".alternatives", ".")
		}
	}
	if !elem || short {
		return path
	}
	for i := len(path) - 3; i >= 0; i-- {
		if path[i:i+3] == "[]." {
			return path[i+3:]
		}
	}
	return path
}

// When returns the condition under which a row is present: "if kind is 1", "in messages of 22 bytes". It is empty for one that always is,
// and describes the order of elements of an interleaved list.
func (m *Message) When(r *Row) string {
	switch {
	case r.Woven:
		return "elements interleaved with the adjacent lists"
	case r.Optional:
		return "if present"
	}
	return m.Conditions(r)
}

// Conditions returns the conditions of the alternatives that contain a row, "" for none.
func (m *Message) Conditions(r *Row) string {
	if r.Case == nil {
		return ""
	}
	text := m.Condition(r.Case)
	for a := r.Around; a != nil; a = a.Outer {
		outer := m.Condition(a.Case)
		if len(outer)+len(text) > maxAt {
			return "if … and " + strings.TrimPrefix(text, "if ")
		}
		text = outer + " and " + strings.TrimPrefix(text, "if ")
	}
	return text
}

// Note describes a row where its size and its type do not: its condition, and the rules of its encoding.
func (m *Message) Note(r *Row) string {
	when, rules := m.When(r), m.Rules(r)
	if when != "" && rules != "" {
		when += "; "
	}
	return when + rules
}

// Rules describes the encoding of a row where its size and its type do not: a formula of its size, the end of a list, a value that stands
// for none. It is empty for most rows.
func (m *Message) Rules(r *Row) string {
	rules, at := "", ""
	switch {
	case r.Part != nil:
		rules = m.extentNote(r.Part)
	case r.Item != nil:
		rules = m.itemNote(r)
	}
	if r.At.Placed != nil {
		if at = "position: " + m.ExprText(*m.Regs[r.At.Placed.At].Expr); rules != "" {
			at += "; "
		}
	}
	return at + rules
}

// extentNote describes how the end of contents is found, where it is neither a count nor a zero.
func (m *Message) extentNote(p *Part) string {
	switch e := p.Extent; {
	case m.Packing(p) != schema.Unpacked:
		switch m.Packing(p) {
		case schema.Xor:
			return "xor with " + m.ExprText(*p.Expr)
		case schema.Rotate:
			return "each byte rotated by " + m.ExprText(*p.Expr) + " bits"
		}
		return "compressed with " + m.Packing(p).String()
	case p.Kind == Computed:
		return "computed: " + m.ExprText(*p.Expr)
	case p.Kind == Group && p.Bytes != None && m.Regs[p.Bytes].Expr != nil:
		return "bytes: " + m.ExprText(*m.Regs[p.Bytes].Expr)
	case p.Kind == Call:
		return "as " + m.Label(m.Fields[p.Field].Again) + " again"
	case e.Size == schema.Computed:
		unit := "elements: "
		switch p.Unit {
		case 1:
			unit = "bytes: "
		case 2:
			unit = "units: "
		}
		return unit + m.ExprText(*m.Regs[p.Count].Expr)
	case e.Size == schema.Until:
		return "up to a byte of " + strconv.Itoa(int(e.End)) + " in the place of an element"
	case e.Size == schema.While:
		return "each element starts with whether another one follows"
	case e.Size == schema.Scattered && !p.List.Other:
		return fmt.Sprintf("anywhere, with the tag %d of field %d", p.List.Tag, p.List.Tag>>3)
	case e.Size == schema.Scattered:
		return "anywhere, with other tags: each has a value by the kind in its lowest three bits"
	case e.Size == schema.Ending:
		return "until " + m.ExprText(*m.Regs[p.Ended].Expr)
	case e.Size == schema.Terminated:
		return m.endNote(p)
	}
	return ""
}

// endNote describes the end of a text or of bytes, where it is not a zero that follows.
func (m *Message) endNote(p *Part) string {
	e, text := p.Extent, ""
	if e.End != 0 || p.Kind == Blob {
		text = "up to a byte of " + strconv.Itoa(int(e.End))
	}
	var more []string
	if e.With {
		more = append(more, "which belongs to the value")
	}
	if e.Keep {
		more = append(more, "which belongs to what follows")
	}
	if e.Lax {
		more = append(more, "or to the end")
	}
	if text == "" && more != nil {
		text = "up to a zero"
	}
	return strings.Join(append([]string{text}, more...), ", ")
}

// itemNote describes the numbers that mean that there is no value, and constants that are added.
func (m *Message) itemNote(r *Row) string {
	var absent, added string
	n, ok := r.Item.Type.(*schema.Number)
	if ok && n.Add != 0 {
		added = addedText(n.Add)
	}
	switch r.Kind {
	case schema.Value:
		if ok && n.Absent {
			absent = "0 if there is no value"
		}
	case schema.Count:
		if e, _ := ExtentOf(m.Fields[r.Field].Schema.Type); e.Null {
			absent = "-1 if there is no value"
		}
	case schema.Bytes:
		if g, ok := m.Fields[r.Field].Schema.Type.(*schema.Group); ok && g.Null {
			absent = "-1 if there is no value"
			if g.Packed == schema.Unpacked {
				absent = "0 if there is no value"
			}
		}
	}
	if added != "" && absent != "" {
		added += ", "
	}
	return added + absent
}

// addedText describes the number on the wire of a value that is that number plus a constant.
func addedText(constant int64) string {
	if constant < 0 {
		return "sent as the number plus " + strconv.FormatUint(-uint64(constant), 10)
	}
	return "sent as the number minus " + strconv.FormatInt(constant, 10)
}

// Condition returns the condition under which an alternative applies.
func (m *Message) Condition(c *Case) string {
	switch {
	case c.Reg != None:
		return m.condition(c)
	case c.Max == 0:
		return "in messages of " + strconv.Itoa(c.Min) + " bytes or more"
	case c.Min == c.Max:
		return "in messages of " + strconv.Itoa(c.Min) + " bytes"
	}
	return "in messages of " + strconv.Itoa(c.Min) + " to " + strconv.Itoa(c.Max) + " bytes"
}

// condition returns the condition of an alternative that depends on a register.
func (m *Message) condition(c *Case) string {
	r := &m.Regs[c.Reg]
	name := ""
	switch {
	case r.Expr != nil:
		name = m.ExprText(*r.Expr)
	case r.Kind == schema.Present && c.Else:
		return "if " + m.Label(r.Field) + " is present"
	case r.Kind == schema.Present:
		return "if " + m.Label(r.Field) + " is absent"
	default:
		name = m.Label(r.Field)
	}
	switch {
	case c.Not != nil:
		return "if " + name + " is not " + m.caseValue(c.Not)
	case c.Else:
		return "if " + name + " has another value"
	}
	return "if " + name + " is " + m.caseValue(c)
}

// caseValue formats the value that an alternative depends on.
func (m *Message) caseValue(c *Case) string {
	r := &m.Regs[c.Reg]
	n, ok := r.Type.(*schema.Number)
	switch {
	case c.Text != nil:
		return strconv.Quote(cut(*c.Text))
	case c.Name != "":
		return cut(c.Name)
	case r.Expr != nil:
		return strconv.FormatInt(int64(c.Value), 10)
	case ok:
		return n.Decimal(c.Value)
	}
	return strconv.FormatUint(c.Value, 10)
}

// ExprText formats an expression, abbreviated if it is long.
func (m *Message) ExprText(x Expr) string {
	var stack []string
	take := func(n int) []string {
		n = min(n, len(stack))
		args := stack[len(stack)-n:]
		stack = stack[:len(stack)-n]
		return args
	}
	for _, s := range x {
		text := ""
		switch s.Op {
		case schema.Literal:
			text = strconv.FormatInt(s.Int, 10)
		case schema.FloatLiteral:
			text = strconv.FormatFloat(s.Float, 'g', -1, 64)
		case schema.TextLiteral:
			text = strconv.Quote(cut(string(s.Text)))
		case schema.Cursor:
			text = "position"
		case schema.From:
			text = "begin"
		case schema.To:
			text = "end"
		case schema.Index:
			text = "number of the element of " + m.Label(s.Field)
		case schema.Element:
			text = m.Label(s.Field) + "[" + take(1)[0] + "]"
			if name := m.Fields[s.Inner].Name; name != "" {
				text += "." + name
			}
		case schema.Least, schema.Greatest:
			text = s.Op.Name() + " of " + m.Label(s.Field)
			if name := m.Fields[s.Inner].Name; name != "" {
				text += "." + name
			}
		case schema.Seek:
			text = "bytes up to " + take(2)[0]
		case schema.Trimmed:
			text = "bytes without the padding of " + take(1)[0]
		case schema.Begin, schema.End:
			if text = s.Op.Name() + " of the message"; s.Field != None {
				text = s.Op.Name() + " of " + m.Label(s.Field)
			}
		case schema.LengthOf, schema.ToInt, schema.ToText, schema.Slice, schema.Reverse, schema.ByteAt, schema.Characters, schema.ByteOf:
			text = s.Op.Name() + "(" + strings.Join(take(s.Op.Operands()), ", ") + ")"
		case schema.Ref:
			if text = m.Label(s.Field); s.Part != nil {
				text += "." + cut(s.Part.Name)
			}
		default:
			args := take(s.Op.Operands())
			switch len(args) {
			case 1:
				text = s.Op.Name() + args[0]
			case 2:
				text = "(" + args[0] + " " + s.Op.Name() + " " + args[1] + ")"
			case 3:
				text = "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")"
			}
		}
		if len(text) > maxPath {
			text = "…"
		}
		stack = append(stack, text)
	}
	if len(stack) == 0 {
		return ""
	}
	if text := stack[0]; len(text) > 2 && text[0] == '(' {
		return text[1 : len(text)-1]
	}
	return stack[0]
}
