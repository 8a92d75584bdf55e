package protodef

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// fields edits the fields of containers in JSON. Files in YAML are edited as text.
var fields = edit.Tree{Separator: ",", Blocks: blocks, Item: item, Type: func(typ, _ string) string { return writtenType(typ) }}

// Edits change definitions by their fields.
var Edits = edit.Rules{Begin: begin, Types: editTypes, Filler: filler, Write: fields.Write, Rename: renameField, Name: nameMessage, Remove: fields.Remove}

// begin returns a file with a message, in the namespace of its state and direction.
func begin(name string, of edit.Message) string {
	name = text.CleanName(name)
	side := map[schema.Dir]string{schema.ToServer: "toServer", schema.ToClient: "toClient"}[of.Dir]
	codes := fmt.Sprintf("0x%02x", of.Code)
	types := fmt.Sprintf(`{"packet_%[1]s": ["container", []], "packet": ["container", [`+
		`{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"%[2]s": "%[1]s"}}]},`+
		`{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"%[1]s": "packet_%[1]s"}}]}]]}`, name, codes)
	if !of.HasCode {
		types = fmt.Sprintf(`{"%s": ["container", []]}`, name)
	}
	whole := `{"types": ` + types + `}`
	for _, around := range []string{side, of.Group} {
		if around != "" {
			key, _ := json.Marshal(around)
			whole = fmt.Sprintf(`{%s: %s}`, key, whole)
		}
	}
	out, _ := Format(source.New("new.json", whole))
	return out
}

// blocks returns the containers and the bitfields of a file.
func blocks(f *source.File) (out []edit.Block) {
	if isYAML(f.Name) {
		return nil
	}
	var walk func(n *node, of source.Span)
	walk = func(n *node, of source.Span) {
		if a := args(n); typeName(n) == "container" && a != nil && a.kind == arrayNode {
			b := edit.Block{Of: of, Into: a.span.Sub(1, 1)}
			for _, x := range a.items {
				if x.kind != objectNode {
					return
				}
				it := edit.Item{Span: x.span}
				if name := x.get("name"); name != nil && name.kind == stringNode {
					it.Name = name.span.Sub(1, name.span.End-name.span.Start-1)
				}
				if t := x.get("type"); t != nil {
					it.Type = t.span
				}
				b.Items = append(b.Items, it)
			}
			out = append(out, b)
			for _, x := range a.items {
				walk(x, x.span)
			}
			return
		}
		for i, x := range n.items {
			if n.kind == objectNode && typeName(x) == "container" && of.IsZero() {
				walk(x, n.keys[i].span)
			} else {
				walk(x, of)
			}
		}
	}
	if t := parseTree(f); t.root != nil {
		walk(t.root, source.Span{})
	}
	return out
}

// item returns a field on one line.
func item(name, typ string) []string {
	return []string{fmt.Sprintf(`{"name": "%s", "type": %s}`, name, writtenType(typ))}
}

// writtenType returns a type as written in JSON: names are in quotes.
func writtenType(typ string) string {
	if strings.HasPrefix(typ, "[") {
		return typ
	}
	return `"` + typ + `"`
}

// editTypes returns the types of a number of bits.
func editTypes(_ *source.File, at edit.Run) (out []edit.Type) {
	if at.Bits%8 != 0 {
		return nil
	}
	n := at.Bits / 8
	add := func(group, title, typ string, kind edit.Kind) {
		out = append(out, edit.Type{Text: typ, Title: title, Group: group, Kind: kind, Bits: at.Bits})
	}
	for _, x := range numbers {
		if !strings.Contains(x.name, "int") && x.number.Var == 0 && x.number.Bits == at.Bits && (n > 1 || x.number.Order != schema.Little || x.name == "bool") {
			add("One value", "", x.name, edit.Value)
		}
	}
	for _, x := range numbers {
		if x.number.Var != 0 && x.number.Var != schema.Long && n <= (x.number.Bits+6)/7 {
			add("Variable size", "", x.name, edit.Value)
		}
	}
	if n == 16 {
		add("One value", "", "UUID", edit.Value)
	}
	add("Text and bytes", fmt.Sprintf("buffer of %d", n), fmt.Sprintf(`["buffer", {"count": %d}]`, n), edit.Value)
	add("Text and bytes", fmt.Sprintf("text of %d", n), fmt.Sprintf(`["pstring", {"count": %d}]`, n), edit.Value)
	if at.Zero {
		add("Text and bytes", "", "cstring", edit.Value)
	}
	if at.ToEnd {
		out = append(out, edit.Type{Text: "restBuffer", Group: "To the end", Bits: -1})
	}
	for _, count := range [...]struct {
		name string
		most int
	}{{"u8", 1}, {"u16", 2}, {"lu16", 2}, {"u32", 4}, {"lu32", 4}, {"varint", 0}} {
		if n == count.most || count.most == 0 && n <= 5 {
			for _, of := range [...][2]string{{"pstring", "text"}, {"buffer", "bytes"}} {
				add("Length of what follows", count.name+" and "+of[1], fmt.Sprintf(`["%s", {"countType": "%s"}]`, of[0], count.name), edit.Pointer)
			}
			add("Count of what follows", count.name+" and elements", fmt.Sprintf(`["array", {"countType": "%s", "type": ["container", []]}]`, count.name), edit.Pointer)
		}
	}
	return out
}

// filler returns types for bits without a meaning: an integer, or bytes.
func filler(bits int) []edit.Type {
	switch {
	case bits < 0:
		return []edit.Type{{Text: "restBuffer", Bits: -1}}
	case bits == 0 || bits%8 != 0:
		return nil
	case numberNamed("u"+itoa(bits)) != nil:
		return []edit.Type{{Text: "u" + itoa(bits), Bits: bits}}
	}
	return []edit.Type{{Text: fmt.Sprintf(`["buffer", {"count": %d}]`, bits/8), Bits: bits}}
}

// paths matches what may be the path of a field, in arguments that are paths or expressions.
var paths = regexp.MustCompile(`(?:\.\./)*[A-Za-z_]\w*`)

// renameField renames a field, and what refers to it from its container and from those inside.
func renameField(f *source.File, at source.Span, _, name string) (string, bool) {
	it, b, ok := fields.Find(f, at)
	if !ok || it.Name.IsZero() {
		return "", false
	}
	old := it.Name.Text()
	spans := []source.Span{it.Name}
	root := parseTree(f).root
	var around *node // the array of the container
	var find func(n *node)
	find = func(n *node) {
		if n.kind == arrayNode && n.span.Start == b.Into.Start-1 {
			around = n
		}
		for _, x := range n.items {
			find(x)
		}
	}
	find(root)
	var refer func(n *node, inside []*node)
	refer = func(n *node, inside []*node) {
		if a := args(n); typeName(n) == "container" && a != nil && a.kind == arrayNode {
			for _, x := range a.items {
				refer(x, append(slices.Clip(inside), a))
			}
			return
		}
		for i, x := range n.items {
			if n.kind == objectNode && x.kind == stringNode && slices.Contains(pathArguments, n.keys[i].text) {
				raw := x.span.Text()
				for _, m := range paths.FindAllStringIndex(raw, -1) {
					ups := strings.Count(raw[m[0]:m[1]], "../")
					word := raw[m[0]+3*ups : m[1]]
					if before := raw[:m[0]]; word != old || ups > len(inside) || strings.HasSuffix(before, ".") || strings.HasSuffix(before, "/") {
						continue
					}
					near := inside[:len(inside)-ups] // a nearer container may have the name
					if !slices.ContainsFunc(near, func(c *node) bool {
						return slices.ContainsFunc(c.items, func(f *node) bool { return f.get("name").str() == old })
					}) {
						spans = append(spans, x.span.Sub(m[0]+3*ups, m[1]))
					}
				}
			}
			refer(x, inside)
		}
	}
	if around != nil {
		for _, x := range around.items {
			refer(x, nil)
		}
	}
	slices.SortFunc(spans, func(a, b source.Span) int { return cmp.Compare(a.Start, b.Start) })
	return edit.Splice(f, slices.Compact(spans), func(int) string { return name }), true
}

// pathArguments are the arguments that have paths of fields, or expressions.
var pathArguments = []string{"compareTo", "count", "countFor", "until", "value", "position"}

// nameMessage renames a message: a type, with its uses as a type, or the name of a code, with its case.
func nameMessage(f *source.File, message source.Span, name string) (string, bool) {
	t := parseTree(f)
	if t.root == nil || message.File != f {
		return "", false
	}
	inner := func(s source.Span) source.Span { return s.Sub(1, s.End-s.Start-1) }
	var spans []source.Span
	typeKey := "" // of the type of the message
	var walk func(n *node)
	walk = func(n *node) {
		for i, x := range n.items {
			if n.kind == objectNode && n.keys[i].span == message {
				typeKey = n.keys[i].text
			}
			walk(x)
		}
	}
	walk(t.root)
	if typeKey == "" {
		return "", false
	}
	// The packet whose case is the type, or that has the message as its case.
	walk = func(n *node) {
		if p, ok := packetOf(&definition{node: n}); ok {
			cases := args(p.cases).get("fields")
			mappings := args(p.codes).get("mappings")
			for i, k := range cases.keys {
				if k.span != message && cases.items[i].str() != typeKey || mappings == nil {
					continue
				}
				for _, v := range mappings.items {
					if v.str() == k.text {
						spans = append(spans, inner(k.span), inner(v.span))
					}
				}
			}
		}
		for _, x := range n.items {
			walk(x)
		}
	}
	walk(t.root)
	if len(spans) == 0 { // a message without a code: its name is that of its type
		walk = func(n *node) {
			for i, x := range n.items {
				if n.kind == objectNode && n.keys[i].span == message {
					spans = append(spans, inner(n.keys[i].span))
				}
				if used := n.kind == objectNode && n.keys[i].text == "type" || n.kind == arrayNode && i == 1; used && x.str() == typeKey {
					spans = append(spans, inner(x.span))
				}
				walk(x)
			}
		}
		walk(t.root)
	}
	slices.SortFunc(spans, func(a, b source.Span) int { return cmp.Compare(a.Start, b.Start) })
	return edit.Splice(f, slices.Compact(spans), func(int) string { return name }), true
}
