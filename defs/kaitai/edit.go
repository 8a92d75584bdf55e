package kaitai

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// fields edits the fields of sequences that have lines of their own.
var fields = edit.Tree{Blocks: blocks, Item: item, Type: func(typ, indent string) string { return strings.ReplaceAll(typ, "\n", "\n"+indent+"  ") }}

// Edits change formats by their fields.
var Edits = edit.Rules{Begin: begin, Types: editTypes, Filler: filler, Write: fields.Write, Rename: renameField, Name: nameFormat, Remove: fields.Remove}

// begin returns a format without fields.
func begin(name string, _ edit.Message) string {
	return "meta:\n  id: " + strings.ToLower(text.CleanName(name)) + "\n  endian: le\nseq: []\n"
}

// typeWords are the keys that say what the bytes of a field are. One that has others keeps its type.
var typeWords = []string{"type", "size", "size-eos", "encoding", "terminator", "contents"}

// blocks returns the sequences of a file.
func blocks(f *source.File) (out []edit.Block) {
	r := reader{file: f}
	var walk func(n *node, of source.Span)
	walk = func(n *node, of source.Span) {
		for i, x := range n.items {
			switch {
			case n.kind != mapNode:
			case n.keys[i].text == "seq":
				if b, ok := sequence(f, n.keys[i], x); ok {
					b.Of = of
					out = append(out, b)
				}
			case n.keys[i].text == "types" && x.kind == mapNode:
				for k, t := range x.items {
					walk(t, x.keys[k].span)
				}
			}
		}
	}
	if root := r.read(); root != nil {
		at := f.Line(1)
		if id := root.get("meta").get("id"); id != nil {
			at = id.span
		}
		walk(root, at)
	}
	return out
}

// sequence returns the fields of a sequence; ok is false if they do not stand in lines of their own.
func sequence(f *source.File, k key, list *node) (b edit.Block, ok bool) {
	line := f.LineAt(k.span.Start)
	rest := strings.TrimSpace(f.Text[k.span.End:line.End])
	b = edit.Block{Lines: true, Indent: edit.Indent(f, k.span.Start) + "  "}
	b.Into = source.Span{File: f, Start: line.End, End: line.End}
	switch {
	case len(list.items) > 0 && rest != ":" && !strings.HasPrefix(rest, ": #") && !strings.HasPrefix(rest, ":  #"):
		return b, false
	case len(list.items) == 0 && strings.HasPrefix(rest, ": []"): // the brackets go
		b.Into.Start = k.span.End + strings.IndexByte(f.Text[k.span.End:], ':') + 1
		b.Into.End = k.span.End + strings.IndexByte(f.Text[k.span.End:], ']') + 1
	case len(list.items) == 0 && rest != ":":
		return b, false
	}
	for _, n := range list.items {
		if n.kind != mapNode || len(n.keys) == 0 {
			return b, false
		}
		first := f.LineAt(n.keys[0].span.Start)
		indent := edit.Indent(f, first.Start)
		if !strings.HasPrefix(first.Text()[len(indent):], "- ") {
			return b, false
		}
		it := edit.Item{Span: source.Span{File: f, Start: first.Start + len(indent), End: itemEnd(f, first, indent)}}
		if id := n.get("id"); id != nil && id.exact {
			it.Name = id.span
		}
		it.Type = typeLines(f, n, it.Span)
		b.Items = append(b.Items, it)
	}
	return b, true
}

// itemEnd returns the end of the last line of an item: of those that are indented more.
func itemEnd(f *source.File, first source.Span, indent string) int {
	end := first.End
	for i := first.Pos().Line + 1; i <= f.NumLines(); i++ {
		line := f.Line(i)
		s := line.Text()
		bare := strings.TrimLeft(s, " ")
		switch {
		case bare == "" || bare[0] == '\r' || bare[0] == '#': // comments belong to what follows
			continue
		case len(s)-len(bare) <= len(indent):
			return end
		}
		end = line.Start + len(strings.TrimRight(s, " \t\r"))
	}
	return end
}

// typeLines returns the lines of a field that say its type: if they follow each other, and no other key depends on it.
func typeLines(f *source.File, n *node, item source.Span) (at source.Span) {
	for i, k := range n.keys {
		switch {
		case !slices.Contains(typeWords, k.text):
			if !slices.Contains([]string{"id", "doc", "doc-ref", "if"}, k.text) && !strings.HasPrefix(k.text, "-") {
				return source.Span{}
			}
			continue
		case n.items[i].kind != scalarNode:
			return source.Span{}
		}
		line := f.LineAt(k.span.Start)
		end := line.Start + len(strings.TrimRight(line.Text(), " \t\r"))
		if hash := strings.Index(line.Text(), " #"); hash >= 0 {
			end = line.Start + len(strings.TrimRight(line.Text()[:hash], " \t\r"))
		}
		switch {
		case at.IsZero():
			at = source.Span{File: f, Start: k.span.Start, End: end}
		case strings.TrimSpace(f.Text[at.End:k.span.Start]) != "":
			return source.Span{}
		default:
			at.End = end
		}
	}
	if at.End > item.End {
		return source.Span{}
	}
	return at
}

// item returns the lines of a field.
func item(name, typ string) []string {
	lines := []string{"- id: " + name}
	for line := range strings.SplitSeq(typ, "\n") {
		lines = append(lines, "  "+line)
	}
	return lines
}

// editTypes returns the types of a number of bits.
func editTypes(f *source.File, at edit.Run) (out []edit.Type) {
	if at.Bits%8 != 0 {
		return nil
	}
	n := at.Bits / 8
	r := reader{file: f}
	meta := r.read().get("meta")
	orders := []string{"le", "be"}
	if own := meta.get("endian").str(); own == "le" {
		orders = []string{"", "be"}
	} else if own == "be" {
		orders = []string{"", "le"}
	}
	encoding := ""
	if meta.get("encoding") == nil {
		encoding = "\nencoding: UTF-8"
	}
	add := func(group, title, typ string) {
		out = append(out, edit.Type{Text: typ, Title: title, Group: group, Bits: at.Bits})
	}
	switch n {
	case 1:
		add("One value", "u1", "type: u1")
		add("One value", "s1", "type: s1")
	case 2, 4, 8:
		for _, order := range orders {
			for _, kind := range []string{"u", "s", "f"} {
				if kind != "f" || n > 2 {
					name := fmt.Sprintf("%s%d%s", kind, n, order)
					add("One value", name, "type: "+name)
				}
			}
		}
	}
	add("Text and bytes", fmt.Sprintf("str of %d", n), fmt.Sprintf("type: str\nsize: %d%s", n, encoding))
	if at.Zero {
		add("Text and bytes", "strz", "type: strz"+encoding)
		add("Text and bytes", fmt.Sprintf("strz in %d", n), fmt.Sprintf("type: strz\nsize: %d%s", n, encoding))
	}
	add("Text and bytes", fmt.Sprintf("bytes of %d", n), fmt.Sprintf("size: %d", n))
	if at.ToEnd {
		out = append(out, edit.Type{Text: "size-eos: true", Title: "bytes to the end", Group: "To the end", Bits: -1},
			edit.Type{Text: "type: str\nsize-eos: true" + encoding, Title: "str to the end", Group: "To the end", Bits: -1})
	}
	return out
}

// filler returns types for bits without a meaning: a byte, or bytes. The order of larger integers depends on the file.
func filler(bits int) []edit.Type {
	switch {
	case bits < 0:
		return []edit.Type{{Text: "size-eos: true", Title: "bytes to the end", Bits: -1}}
	case bits == 0 || bits%8 != 0:
		return nil
	case bits == 8:
		return []edit.Type{{Text: "type: u1", Title: "u1", Bits: bits}}
	}
	return []edit.Type{{Text: fmt.Sprintf("size: %d", bits/8), Title: fmt.Sprintf("bytes of %d", bits/8), Bits: bits}}
}

// renameField renames a field, with the words that expressions have for it: in all of the file if no other field has the name, otherwise in
// its sequence.
func renameField(f *source.File, at source.Span, _, name string) (string, bool) {
	it, own, ok := fields.Find(f, at)
	if !ok || it.Name.IsZero() {
		return "", false
	}
	old := it.Name.Text()
	alone := 0
	for _, b := range blocks(f) {
		for _, other := range b.Items {
			if !other.Name.IsZero() && other.Name.Text() == old {
				alone++
			}
		}
	}
	from, to := 0, len(f.Text)
	if alone > 1 {
		from, to = own.Items[0].Span.Start, own.Items[len(own.Items)-1].Span.End
	}
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(old) + `\b`)
	spans := []source.Span{it.Name}
	r := reader{file: f}
	var walk func(n *node)
	walk = func(n *node) {
		for i, x := range n.items {
			if n.kind == mapNode && x.kind == scalarNode && x.exact && !slices.Contains(plainWords, n.keys[i].text) && x.span.Start >= from && x.span.End <= to {
				for _, m := range word.FindAllStringIndex(x.text, -1) {
					before := x.text[:m[0]]
					if alone > 1 && strings.HasSuffix(before, ".") || strings.HasSuffix(before, "::") || strings.Count(before, `"`)%2 == 1 {
						continue
					}
					spans = append(spans, x.sub(m[0], m[1]))
				}
			}
			walk(x)
		}
	}
	if root := r.read(); root != nil {
		walk(root)
	}
	slices.SortFunc(spans, func(a, b source.Span) int { return cmp.Compare(a.Start, b.Start) })
	return edit.Splice(f, slices.Compact(spans), func(int) string { return name }), true
}

// nameFormat renames a format that says its name. One that does not has the name of its file.
func nameFormat(f *source.File, message source.Span, name string) (string, bool) {
	r := reader{file: f}
	id := r.read().get("meta").get("id")
	if id == nil || !id.exact || id.span != message {
		return "", false
	}
	return edit.Splice(f, []source.Span{id.span}, func(int) string { return name }), true
}

// plainWords are the keys whose values are no expressions.
var plainWords = []string{"id", "doc", "doc-ref", "title", "contents", "encoding", "enum", "endian", "bit-endian", "license", "application", "file-extension", "ks-version", "-orig-id", "-webide-representation", "repeat"}
