package edit

import (
	"slices"
	"strings"

	"wirebench/defs/source"
)

// Tree edits languages whose definitions are trees, such as JSON and YAML: fields are the items of blocks, on lines of their own or several on
// one. A language finds its blocks and writes single fields; all else is the same for all of them.
type Tree struct {
	Separator string // between two fields: ","

	// Blocks returns the blocks of a file, in any order.
	Blocks func(f *source.File) []Block

	// Item returns the lines of a new field, without indentation.
	Item func(name, typ string) []string

	// Type returns a type as it is written in the place of another one, in a field with this indentation.
	Type func(typ, indent string) string
}

// Block is a sequence of fields.
type Block struct {
	Of    source.Span // the name of the message, or the field, that it belongs to
	Into  source.Span // between its brackets; without items it is replaced
	Items []Item      // in order

	Lines  bool   // its fields have lines of their own, also the first one
	Indent string // of the first one, if it has none yet
}

// Item is a field as written.
type Item struct {
	Span, Name, Type source.Span
}

// place is the place of an item.
type place struct {
	block *Block
	index int
}

func (p place) item() *Item { return &p.block.Items[p.index] }

// at returns the innermost item with a place.
func at(blocks []Block, s source.Span) (p place, ok bool) {
	if s.File != nil { // it may be a whole line
		t := s.Text()
		s = s.Sub(len(t)-len(strings.TrimLeft(t, " \t")), len(strings.TrimRight(t, " \t\r")))
	}
	for i := range blocks {
		b := &blocks[i]
		for k := range b.Items {
			it := &b.Items[k]
			if it.Span.File == s.File && it.Span.Start <= s.Start && s.End <= it.Span.End && (!ok || it.Span.Start > p.item().Span.Start) {
				p, ok = place{b, k}, true
			}
		}
	}
	return p, ok
}

// of returns the block of a message, or the outermost one inside a field.
func of(blocks []Block, s source.Span) (best *Block) {
	for i := range blocks {
		b := &blocks[i]
		if b.Of.File == s.File && b.Of.Start <= s.Start && s.End <= b.Of.End && (best == nil || b.Into.Start < best.Into.Start) {
			best = b
		}
	}
	return best
}

// Write is Rules.Write.
func (t *Tree) Write(f *source.File, p Place, fields []Field) (string, bool) {
	blocks := t.Blocks(f)
	var texts [][]string
	for _, field := range fields {
		lines, ok := t.field(f, blocks, field)
		if !ok {
			return "", false
		}
		texts = append(texts, lines)
	}
	if len(texts) == 0 {
		return "", false
	}
	if len(p.Replaced) > 0 {
		return t.replace(f, blocks, p.Replaced, texts)
	}
	var b *Block
	index := 0
	switch {
	case !p.Before.IsZero():
		before, ok := at(blocks, p.Before)
		if !ok {
			return "", false
		}
		b, index = before.block, before.index+1
	case !p.List.IsZero():
		list, ok := at(blocks, p.List)
		if !ok {
			return "", false
		}
		b = of(blocks, list.item().Span)
	default:
		b = of(blocks, p.Message)
	}
	if b == nil {
		return "", false
	}
	return t.insert(f, b, index, texts), true
}

// field returns the lines of a new field.
func (t *Tree) field(f *source.File, blocks []Block, field Field) ([]string, bool) {
	if field.Like.IsZero() {
		return t.Item(field.Name, field.Type.Text), true
	}
	p, ok := at(blocks, field.Like)
	if !ok {
		return nil, false
	}
	it := p.item()
	if field.Name != "" && it.Name.IsZero() {
		return nil, false
	}
	var spans []source.Span
	var with []string
	if field.Name != "" {
		spans, with = append(spans, it.Name), append(with, field.Name)
	}
	if field.Type.Text != "" {
		if it.Type.IsZero() {
			return nil, false
		}
		spans, with = append(spans, it.Type), append(with, t.Type(field.Type.Text, Indent(f, it.Span.Start)))
	}
	if len(spans) == 2 && spans[1].Start < spans[0].Start {
		slices.Reverse(spans)
		slices.Reverse(with)
	}
	text := ""
	from := it.Span.Start
	for i, s := range spans {
		text += f.Text[from:s.Start] + with[i]
		from = s.End
	}
	text += f.Text[from:it.Span.End]
	return lines(text, Indent(f, it.Span.Start)), true
}

// lines returns the lines of a text, without the indentation of its first one.
func lines(text, indent string) []string {
	out := strings.Split(source.UnixLines(text), "\n")
	for i := range out[1:] {
		out[1+i] = strings.TrimPrefix(out[1+i], indent)
	}
	return out
}

// Indent returns the white space at the start of the line of a place.
func Indent(f *source.File, at int) string {
	line := f.LineAt(at).Text()
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// lineEnd returns the line break of a file.
func (t *Tree) lineEnd(f *source.File) string {
	if strings.Contains(f.Text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// gap returns the text before an item of a block, and the indentation of its further lines: a line break and white space, or a space.
func (t *Tree) gap(f *source.File, b *Block, index int) (gap, indent string) {
	switch n := len(b.Items); {
	case n == 0 && !b.Lines:
		return "", Indent(f, b.Into.Start)
	case n == 0:
		indent = b.Indent
	default: // as those beside it
		it := b.Items[min(index, n-1)].Span
		if start := f.LineAt(it.Start).Start; !b.Lines && strings.TrimLeft(f.Text[start:it.Start], " \t") != "" {
			return " ", Indent(f, it.Start)
		}
		indent = Indent(f, it.Start)
	}
	return t.lineEnd(f) + indent, indent
}

// insert inserts fields before item index of a block.
func (t *Tree) insert(f *source.File, b *Block, index int, texts [][]string) string {
	gap, indent := t.gap(f, b, index)
	var out strings.Builder
	write := func(lines []string) {
		out.WriteString(strings.Join(lines, t.lineEnd(f)+indent))
	}
	switch {
	case len(b.Items) == 0:
		for i, lines := range texts {
			if i > 0 {
				out.WriteString(t.Separator)
			}
			if gap != "" {
				out.WriteString(gap)
			} else if i > 0 {
				out.WriteString(" ")
			}
			write(lines)
		}
		return f.Text[:b.Into.Start] + out.String() + f.Text[b.Into.End:]
	case index == 0:
		for _, lines := range texts {
			write(lines)
			out.WriteString(t.Separator + gap)
		}
		at := b.Items[0].Span.Start
		return f.Text[:at] + out.String() + f.Text[at:]
	}
	for _, lines := range texts {
		out.WriteString(t.Separator + gap)
		write(lines)
	}
	at := b.Items[index-1].Span.End
	return f.Text[:at] + out.String() + f.Text[at:]
}

// replace replaces fields by others.
func (t *Tree) replace(f *source.File, blocks []Block, replaced []source.Span, texts [][]string) (string, bool) {
	var b *Block
	var indexes []int
	for _, s := range replaced {
		p, ok := at(blocks, s)
		if !ok || b != nil && p.block != b {
			return "", false
		}
		b, indexes = p.block, append(indexes, p.index)
	}
	slices.Sort(indexes)
	indexes = slices.Compact(indexes)
	first := indexes[0]
	if indexes[len(indexes)-1]-first != len(indexes)-1 {
		return "", false
	}
	gap, indent := t.gap(f, b, max(first, 1))
	var out strings.Builder
	for i, lines := range texts {
		if i > 0 {
			out.WriteString(t.Separator + gap)
		}
		out.WriteString(strings.Join(lines, t.lineEnd(f)+indent))
	}
	at := b.Items[first].Span
	text := f.Text
	for _, i := range slices.Backward(indexes[1:]) {
		text = t.cut(text, b, i)
	}
	return text[:at.Start] + out.String() + text[at.End:], true
}

// cut returns a text without an item of a block. Only what is after the item may have changed before.
func (t *Tree) cut(text string, b *Block, i int) string {
	from, to := b.Items[i].Span.Start, b.Items[i].Span.End
	if rest := strings.TrimLeft(text[to:], " \t\r\n"); t.Separator != "" && strings.HasPrefix(rest, t.Separator) {
		to = len(text) - len(rest) + len(t.Separator)
	} else if i > 0 && t.Separator != "" { // the last one: the separator before it goes
		end := b.Items[i-1].Span.End
		if k := strings.Index(text[end:from], t.Separator); k >= 0 {
			text = text[:end+k] + text[end+k+len(t.Separator):]
			from, to = from-len(t.Separator), to-len(t.Separator)
		}
	}
	// What is left of its lines goes, too, if nothing else is on them.
	start := strings.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if k := strings.IndexByte(text[to:], '\n'); k >= 0 {
		end = to + k + 1
	}
	switch {
	case strings.TrimSpace(text[start:from]) == "" && strings.TrimSpace(text[to:end]) == "":
		return text[:start] + text[end:]
	case strings.TrimSpace(text[start:from]) == "":
		return text[:from] + strings.TrimLeft(text[to:], " \t")
	}
	if i == 0 {
		return text[:from] + strings.TrimLeft(text[to:], " \t")
	}
	return strings.TrimRight(text[:from], " \t") + text[to:]
}

// Remove is Rules.Remove.
func (t *Tree) Remove(f *source.File, line source.Span) (string, bool) {
	p, ok := at(t.Blocks(f), line)
	if !ok {
		return "", false
	}
	return t.cut(f.Text, p.block, p.index), true
}

// Find returns the innermost field with a place, and the block that it is in.
func (t *Tree) Find(f *source.File, s source.Span) (*Item, *Block, bool) {
	p, ok := at(t.Blocks(f), s)
	if !ok {
		return nil, nil, false
	}
	return p.item(), p.block, true
}
