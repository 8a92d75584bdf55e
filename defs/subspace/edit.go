package subspace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Edits change definitions by their rows.
var Edits = edit.Rules{Holes: true, Begin: begin, Types: editTypes, Filler: filler, Write: writeRows, Rename: renameRow, Name: nameTable, Remove: removeRow}

// begin returns a table without rows, with the type and the direction of a message.
func begin(name string, of edit.Message) string {
	title := strings.ReplaceAll(name, "_", " ")
	if of.Dir != schema.Both {
		title += " (" + of.Dir.String() + ")"
	}
	head, rows := "", ""
	if of.HasCode {
		title = fmt.Sprintf("0x%02X %s", of.Code, title)
	}
	switch of.Group {
	case "", gameGroup:
	case coreGroup:
		rows = fmt.Sprintf("0      1    type 0x00\n1      1    type 0x%02X\n", of.Code)
	default:
		head = groupWord + " " + of.Group + "\n\n"
	}
	return fmt.Sprintf("# description of %s\n\n%s%s\noffset size comment\n%s", name, head, title, rows)
}

// editTypes returns the types of a row of a size, in the order of the table.
func editTypes(_ *source.File, at edit.Run) []edit.Type {
	var single, texts, several []edit.Type
	isBytes, n := at.Bits%8 == 0, at.Bits/8
	add := func(list *[]edit.Type, group, text string, bits int) {
		*list = append(*list, edit.Type{Text: text, Group: group, Bits: bits})
	}
	if !isBytes && at.Bits <= 64 {
		add(&single, "One value", "u"+strconv.Itoa(at.Bits), at.Bits)
		add(&single, "One value", "i"+strconv.Itoa(at.Bits), at.Bits)
		add(&single, "One value", "bool", at.Bits)
		return single
	}
	for _, w := range types {
		t, _, _ := readType(w.name)
		switch {
		case !isBytes:
		case w.is <= floatType && t.bits == at.Bits:
			add(&single, "One value", w.name, at.Bits)
			if t.bits > 8 {
				add(&single, "One value", w.name+"be", at.Bits)
			}
		case w.is <= floatType && at.Bits%t.bits == 0:
			add(&several, "Several values", fmt.Sprintf("%s[%d]", w.name, at.Bits/t.bits), at.Bits)
		case w.is == boolType && n <= 8:
			add(&single, "One value", w.name, at.Bits)
		case w.is == textType, w.is == bytesType, w.is == nestedType:
			add(&texts, "Text and bytes", w.name, at.Bits)
			if at.ToEnd {
				texts = append(texts, edit.Type{Text: w.name, Title: w.name + " to the end", Group: "Text and bytes", Bits: -1})
			}
		case w.is == cstrType && at.Zero:
			add(&texts, "Text and bytes", w.name, -1)
		case w.is == padType:
			add(&texts, "Text and bytes", w.name, at.Bits)
		}
	}
	return slices.Concat(single, texts, several)
}

// filler returns an unsigned number, or bytes.
func filler(bits int) []edit.Type {
	switch {
	case bits < 0:
		return []edit.Type{{Text: "bytes", Bits: -1}}
	case bits == 0:
		return nil
	case bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits < 64 && bits%8 != 0:
		return []edit.Type{{Text: "u" + strconv.Itoa(bits), Bits: bits}}
	case bits%8 == 0:
		return []edit.Type{{Text: "bytes", Bits: bits}}
	}
	return nil
}

// editor is a file that is being edited.
type editor struct {
	*tree
	*edit.Lines
}

func newEditor(f *source.File) (*editor, bool) {
	t := parseTree(f)
	return &editor{t, edit.NewLines(f)}, !t.cut
}

// at returns the index of a row.
func (e *editor) at(s source.Span) (i int, ok bool) {
	if s.File != e.file {
		return 0, false
	}
	i = s.Pos().Line - 1
	return i, i < len(e.lines) && (e.lines[i].kind == rowLine || e.lines[i].kind == sentenceLine)
}

// editAt begins to edit a file, and returns the index of the line of a row.
func editAt(f *source.File, at source.Span) (e *editor, i int, ok bool) {
	if e, ok = newEditor(f); ok {
		i, ok = e.at(at)
	}
	return e, i, ok
}

// row returns the text of a row that looks like another one; nil: one in canonical form.
func (e *editor) row(like *line, off, size, rest string) string {
	if like == nil {
		return strings.TrimRight(fmt.Sprintf("%-6s %-4s %s", off, size, rest), " ")
	}
	whole := e.file.Line(like.span.Pos().Line)
	column := func(at source.Span) int { return edit.Column(e.file.Text[whole.Start:at.Start]) }
	head := e.file.Text[whole.Start:like.offset.Start] + off
	if gap := e.file.Text[like.offset.End:like.size.Start]; strings.Contains(gap, "\t") {
		return head + gap + size + gap + rest
	}
	head = edit.Pad(head, column(like.size)) + size
	if like.rest.Start == like.rest.End {
		return head + " " + rest
	}
	return edit.Pad(head, column(like.rest)) + rest
}

// offsetText returns an offset as in a row.
func offsetText(bits int) string {
	if bits%8 != 0 {
		return fmt.Sprintf("%d.%d", bits/8, bits%8)
	}
	return strconv.Itoa(bits / 8)
}

// sizeText returns a size as in a row.
func sizeText(bits int) string {
	switch {
	case bits < 0:
		return "?"
	case bits%8 != 0:
		return strconv.Itoa(bits) + "b"
	}
	return strconv.Itoa(bits / 8)
}

// after returns the offset of the end of a row, -1 if it depends on the data.
func (ln *line) after() int {
	if ln == nil {
		return -1
	}
	off, isNumber, ok := bitsOfOffset(ln.offset.Text())
	bits := bitsOfSize(ln.size.Text())
	if !isNumber || !ok || bits < 0 {
		return -1
	}
	return off + bits
}

// writeRows writes new rows.
func writeRows(f *source.File, at edit.Place, fields []edit.Field) (string, bool) {
	e, ok := newEditor(f)
	switch {
	case !ok || len(fields) == 0:
		return "", false
	case len(at.Replaced) > 0:
		return e.replace(at, fields)
	}
	i, off := 0, 0
	var like *line
	switch {
	case !at.Before.IsZero():
		if i, ok = e.at(at.Before); !ok {
			return "", false
		}
		if like = &e.lines[i]; like.kind == sentenceLine { // a list ends there
			like = nil
		}
		if off = like.after(); off >= 0 {
			off += at.Skip
		} else if at.Skip > 0 {
			return "", false
		}
		i++
	case at.List.IsZero() && at.Message.File == f:
		// The type is in the title.
		if i, ok = e.title(at.Message); !ok {
			return "", false
		}
		for off = at.Skip; i < len(e.lines) && e.lines[i].kind == rowLine; i++ { // of constants, and of the type
			if end := e.lines[i].after(); end < 0 || end > off {
				break
			}
			like = &e.lines[i]
		}
	default:
		return "", false
	}
	for _, field := range fields {
		text := "?"
		if off >= 0 {
			text = offsetText(off)
			if off += field.Type.Bits; field.Type.Bits < 0 {
				off = -1
			}
		}
		e.Insert(i, e.row(like, text, sizeText(field.Type.Bits), field.Type.Text+" "+field.Name))
	}
	return e.Text(), true
}

// title returns the index of the line after the title of a packet and the head of its table, which is added if it is missing.
func (e *editor) title(message source.Span) (i int, ok bool) {
	i = message.Pos().Line - 1
	if i >= len(e.lines) || e.lines[i].kind != titleLine {
		return 0, false
	}
	i++
	if i < len(e.lines) && e.lines[i].kind == headerLine {
		return i + 1, true
	}
	e.Insert(i, "offset size comment")
	return i, true
}

// replace replaces rows. Their comments stay, in the line of the first new one.
func (e *editor) replace(at edit.Place, fields []edit.Field) (string, bool) {
	var all []int
	for _, s := range at.Replaced {
		i, ok := e.at(s)
		if !ok || e.lines[i].kind != rowLine {
			return "", false
		}
		all = append(all, i)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	first := &e.lines[all[0]]
	off, isNumber, ok := bitsOfOffset(first.offset.Text())
	if !ok || isNumber && off < 0 {
		return "", false
	}
	if off += at.Skip; !isNumber {
		off = -1
	}
	comments := make([][]string, len(fields))
	var like *line // whose comment is in the column for comments
	for _, i := range all {
		ln := &e.lines[i]
		if ln.comment.IsZero() {
			continue
		}
		k := max(slices.IndexFunc(fields, func(f edit.Field) bool { n, ok := e.at(f.Like); return ok && n == i }), 0)
		comments[k] = append(comments[k], strings.TrimSpace(strings.TrimPrefix(ln.comment.Text(), "#")))
		if like == nil {
			like = ln
		}
	}
	for k, f := range fields {
		text := "?"
		if off >= 0 {
			text = offsetText(off)
			if off += f.Type.Bits; f.Type.Bits < 0 {
				off = -1
			}
		}
		rest := f.Type.Text + " " + f.Name
		if i, ok := e.at(f.Like); ok && f.Type.Text == "" {
			rest = e.lines[i].rest.Text()
		} else if ok && f.Name == "" {
			rest = f.Type.Text + " " + e.lines[i].naming()
		}
		code := e.row(first, text, sizeText(f.Type.Bits), rest)
		if len(comments[k]) > 0 {
			whole := e.file.Line(like.span.Pos().Line)
			code = edit.Pad(code, edit.Column(e.file.Text[whole.Start:like.comment.Start])) + "# " + strings.Join(comments[k], "; ")
		}
		if k == 0 {
			e.Lines.Replace(all[0], code)
		} else {
			e.Insert(all[0]+1, code)
		}
	}
	for _, i := range all[1:] {
		e.Delete(i)
	}
	return e.Text(), true
}

// naming returns the words after the type of a row: the name, and the properties of the value in parentheses.
func (ln *line) naming() string {
	word, rest := space.CutWord(ln.rest)
	if !isTypeWord(word.Text()) {
		rest = ln.rest
	}
	return rest.Text()
}

// nameOf returns the span of the name of a row.
func (ln *line) nameOf() source.Span {
	word, rest := space.CutWord(ln.rest)
	if !isTypeWord(word.Text()) {
		rest = ln.rest
	}
	if i := strings.IndexByte(rest.Text(), '('); i >= 0 {
		rest = space.Trimmed(rest.Sub(0, i))
	}
	if m := asAbove.FindStringSubmatchIndex(rest.Text()); m != nil {
		rest = rest.Sub(m[2], m[3])
	}
	return rest
}

// renameRow renames a row, and the references to it in its packet: lengths in brackets, and sentences. A name without dots is one in the group
// of the row.
func renameRow(f *source.File, at source.Span, _, name string) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok || e.lines[i].kind != rowLine {
		return "", false
	}
	own := e.lines[i].nameOf()
	if own.Start == own.End {
		own.Start, own.End = e.lines[i].rest.End, e.lines[i].rest.End
		return edit.Splice(f, []source.Span{own}, func(int) string { return " " + name }), true
	}
	path := pathOf(plain(own.Text()))
	if len(path) > 1 && !strings.Contains(name, ".") { // it stays in its group
		name = strings.Join(path[:len(path)-1], ".") + "." + name
	}
	first, last := i, i
	for first > 0 && e.lines[first].kind != titleLine {
		first--
	}
	for last+1 < len(e.lines) && e.lines[last+1].kind != titleLine {
		last++
	}
	type change struct {
		at   source.Span
		text string
	}
	changes := []change{{own, name}}
	same := func(s source.Span) {
		if !s.IsZero() && slices.Equal(pathOf(s.Text()), path) {
			changes = append(changes, change{s, strings.Join(pathOf(name), ".")})
		}
	}
	for k := first; k <= last; k++ {
		ln := &e.lines[k]
		switch ln.kind {
		case rowLine:
			word, _ := space.CutWord(ln.rest)
			if t, _, ok := readType(word.Text()); ok && t.isArray && t.length != "" {
				same(word.Sub(strings.IndexByte(word.Text(), '[')+1, len(word.Text())-1))
			}
		case sentenceLine:
			same(ln.says.from)
			same(ln.says.times)
			if ln.says.kind == byValue {
				same(ln.says.name)
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return a.at.Start - b.at.Start })
	spans := make([]source.Span, len(changes))
	for i, c := range changes {
		spans[i] = c.at
	}
	return edit.Splice(f, spans, func(i int) string { return changes[i].text }), true
}

// nameTable renames a packet in its title, with spaces if it had some. No other line refers to it.
func nameTable(f *source.File, message source.Span, name string) (string, bool) {
	e, ok := newEditor(f)
	if !ok || message.File != f {
		return "", false
	}
	ln := &e.lines[message.Pos().Line-1]
	switch {
	case ln.kind != titleLine:
		return "", false
	case ln.name.IsZero(): // the title is a type
		at := source.Span{File: f, Start: ln.code.End, End: ln.code.End}
		return edit.Splice(f, []source.Span{at}, func(int) string { return " " + name }), true
	case strings.Contains(ln.name.Text(), " "):
		name = strings.ReplaceAll(name, "_", " ")
	}
	return edit.Splice(f, []source.Span{ln.name}, func(int) string { return name }), true
}

// removeRow removes a row.
func removeRow(f *source.File, at source.Span) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok {
		return "", false
	}
	e.Delete(i)
	return e.Text(), true
}
