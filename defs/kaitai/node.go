package kaitai

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The limits of the YAML of a file.
const (
	maxNodes    = 1 << 17 // with those of aliases
	maxNested   = 100     // nesting depth
	maxBrackets = 1000    // of brackets that are open, in any text: the parser recurses for each
	maxMistakes = 100
)

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	mapNode
	listNode
	nullNode
)

func (k nodeKind) String() string { return [...]string{"a value", "a map", "a list", "nothing"}[k] }

// key is the key of a map.
type key struct {
	text string
	span source.Span
}

// node is a value of YAML.
type node struct {
	kind   nodeKind
	text   string // of a scalar
	quoted bool   // a scalar that is text, whatever it looks like
	exact  bool   // the text is as in the file, from the start of the span on
	span   source.Span
	keys   []key
	items  []*node
}

// get returns the value of a key of a map, nil if there is none.
func (n *node) get(name string) *node {
	if n == nil || n.kind != mapNode {
		return nil
	}
	for i := range n.keys {
		if n.keys[i].text == name {
			return n.items[i]
		}
	}
	return nil
}

// str returns the text of a scalar, "" for others.
func (n *node) str() string {
	if n == nil || n.kind != scalarNode {
		return ""
	}
	return n.text
}

// sub returns the place of a part of the text of a scalar.
func (n *node) sub(from, to int) source.Span {
	if n.exact && from <= to && n.span.Start+to <= n.span.End {
		return n.span.Sub(from, to)
	}
	return n.span
}

// reader makes nodes of what the YAML package parses.
type reader struct {
	file    *source.File
	diags   diag.List
	nodes   int
	anchors map[string]ast.Node
	open    map[string]bool
}

func (r *reader) report(d diag.Diagnostic) { text.Add(&r.diags, d, maxMistakes) }

// read returns the document of the file, nil if there is none.
func (r *reader) read() (root *node) {
	f := r.file
	if f.NumLines() > text.MaxLines {
		r.report(text.TooManyLines(f.Line(text.MaxLines+1), text.MaxLines))
		return nil
	}
	open := 0
	for i := 1; i <= f.NumLines(); i++ {
		line := f.Line(i)
		if line.End-line.Start > text.MaxLine {
			r.report(text.LineTooLong(line))
			return nil
		}
		for k, c := range []byte(line.Text()) {
			switch {
			case c == '[' || c == '{':
				open++
			case c == ']' || c == '}':
				open = max(open-1, 0)
			case c < ' ' && c != '\t':
				r.report(text.ControlCharacter(line.Sub(k, k+1)))
				return nil
			}
		}
	}
	if open > maxBrackets {
		r.report(notYAML(f.Line(1), "more than 1000 brackets are open"))
		return nil
	}
	if !utf8.ValidString(f.Text) {
		r.report(notYAML(f.Line(1), "the text is not UTF-8"))
		return nil
	}
	defer func() { // the package panics for some texts that are not YAML
		if e := recover(); e != nil {
			r.report(notYAML(f.Line(1), "the file is not YAML"))
			root = nil
		}
	}()
	doc, err := parser.ParseBytes([]byte(source.UnixLines(strings.TrimPrefix(f.Text, "\ufeff"))), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, why := f.Line(1), "the file is not YAML"
		var has interface {
			GetToken() *token.Token
			GetMessage() string
		}
		if asError(err, &has) {
			why = has.GetMessage()
			if t := has.GetToken(); t != nil {
				at = r.span(t)
			}
		}
		r.report(notYAML(at, why))
		return nil
	}
	for _, d := range doc.Docs {
		if d.Body == nil {
			continue
		}
		if root != nil {
			r.report(notYAML(r.span(d.Body.GetToken()), "the file has several documents"))
			break
		}
		r.anchors, r.open = map[string]ast.Node{}, map[string]bool{}
		root = r.node(d.Body, 0)
	}
	return root
}

func asError(err error, to *interface {
	GetToken() *token.Token
	GetMessage() string
},
) bool {
	e, ok := err.(interface {
		GetToken() *token.Token
		GetMessage() string
	})
	*to = e
	return ok
}

// span returns the place of a token, on its first line.
func (r *reader) span(t *token.Token) source.Span {
	if t == nil || t.Position == nil {
		return r.file.Line(1)
	}
	line := r.file.Line(min(max(t.Position.Line, 1), r.file.NumLines()))
	s := line.Text()
	from := 0
	if t.Position.Line == 1 {
		from = len(s) - len(strings.TrimPrefix(s, "\ufeff"))
	}
	for n := t.Position.Column - 1; n > 0 && from < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
	}
	own := strings.TrimLeft(t.Origin, " \n\r\t")
	if i := strings.IndexByte(own, '\n'); i >= 0 {
		own = own[:i]
	}
	own = strings.TrimRight(own, " \r\t")
	to := from
	if strings.HasPrefix(s[from:], own) {
		to += len(own)
	} else if strings.HasPrefix(s[from:], t.Value) {
		to += len(t.Value)
	}
	if to == from {
		to = len(strings.TrimRight(s, " \t"))
	}
	return line.Sub(from, max(from, to))
}

// node makes a node. It returns nil for what is not understood.
func (r *reader) node(n ast.Node, depth int) *node {
	if r.nodes++; r.nodes > maxNodes || depth > maxNested {
		if r.nodes == maxNodes+1 || depth == maxNested+1 {
			r.report(tooLarge(r.span(n.GetToken()), "the file has too many values, or they are nested too deeply"))
		}
		return &node{kind: nullNode, span: r.span(n.GetToken())}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(n, n.Values, depth)
	case *ast.MappingValueNode:
		return r.mapping(n, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out := &node{kind: listNode, span: r.span(n.GetToken())}
		for _, v := range n.Values {
			out.items = append(out.items, r.node(v, depth+1))
		}
		return out
	case *ast.NullNode:
		if t := n.GetToken(); t != nil && t.Value != "" && t.Type != token.ImplicitNullType {
			return r.scalar(t, t.Value)
		}
		return &node{kind: nullNode, span: r.span(n.GetToken())}
	case *ast.StringNode:
		return r.scalar(n.Token, n.Value)
	case *ast.LiteralNode:
		out := r.scalar(n.Start, n.Value.Value)
		out.exact = false
		return out
	case *ast.AnchorNode:
		if n.Name != nil {
			r.anchors[n.Name.GetToken().Value] = n.Value
		}
		if n.Value == nil {
			break
		}
		return r.node(n.Value, depth+1)
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		to := r.anchors[name]
		if to == nil || r.open[name] {
			r.report(notYAML(r.span(n.Start), fmt.Sprintf("no value is named %s", text.Quote("&"+name))))
			break
		}
		r.open[name] = true
		defer delete(r.open, name)
		return r.node(to, depth+1)
	case *ast.TagNode:
		if n.Value == nil {
			break
		}
		return r.node(n.Value, depth+1)
	default:
		if t := n.GetToken(); t != nil {
			return r.scalar(t, t.Value)
		}
	}
	return &node{kind: nullNode, span: r.span(n.GetToken())}
}

// scalar makes a node of a text.
func (r *reader) scalar(t *token.Token, value string) *node {
	out := &node{text: value, span: r.span(t)}
	out.quoted = t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType || t.Type == token.LiteralType || t.Type == token.FoldedType
	at := out.span
	if (t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType) && at.End-at.Start > 1 {
		at = at.Sub(1, at.End-at.Start)
	}
	if value != "" && strings.HasPrefix(r.file.Text[at.Start:], value) && !strings.Contains(value, "\n") {
		out.span, out.exact = source.Span{File: at.File, Start: at.Start, End: at.Start + len(value)}, true
	}
	return out
}

func (r *reader) mapping(n ast.Node, values []*ast.MappingValueNode, depth int) *node {
	out := &node{kind: mapNode, span: r.span(n.GetToken())}
	seen := map[string]bool{}
	for i, v := range values {
		t := v.Key.GetToken()
		if m, ok := v.Key.(*ast.MappingKeyNode); ok && m.Value != nil {
			t = m.Value.GetToken()
		}
		k := r.scalar(t, t.Value)
		if i == 0 {
			out.span = k.span
		}
		switch {
		case v.Key.IsMergeKey():
			r.report(notYAML(k.span, "merged maps are not read"))
			continue
		case seen[k.text]:
			r.report(sameName(k.span, k.text))
			continue
		}
		seen[k.text] = true
		out.keys = append(out.keys, key{k.text, k.span})
		if v.Value == nil {
			out.items = append(out.items, &node{kind: nullNode, span: k.span})
			continue
		}
		item := r.node(v.Value, depth+1)
		if item.kind == nullNode {
			item.span = k.span
		}
		out.items = append(out.items, item)
	}
	return out
}
