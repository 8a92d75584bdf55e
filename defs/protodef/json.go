package protodef

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// kind is the kind of a JSON value.
type kind uint8

const (
	nullNode kind = iota
	boolNode
	numberNode
	stringNode
	arrayNode
	objectNode
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "an array", "an object"}[k]
}

// node is a JSON value with its place.
type node struct {
	kind  kind
	text  string // of a string, without escapes; of a number and a boolean, as written
	items []*node
	keys  []key // of an object, with the same indexes as items
	span  source.Span
	doc   string // comment, of an element of an array
}

// key is the name of a member.
type key struct {
	text string
	span source.Span
	doc  string // comment
}

// get returns the member of a name, nil if there is none or n is not an object. If several have the name, the last one counts.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i].text == name {
			return n.items[i]
		}
	}
	return nil
}

// members returns the members of an object. If several have a name, the last one counts.
func (n *node) members() iter.Seq2[key, *node] {
	return func(yield func(key, *node) bool) {
		last := make(map[string]int, len(n.keys))
		for i, k := range n.keys {
			last[k.text] = i
		}
		for i, k := range n.keys {
			if last[k.text] == i && !yield(k, n.items[i]) {
				return
			}
		}
	}
}

// str returns the text of a string, "" for other values.
func (n *node) str() string {
	if n == nil || n.kind != stringNode {
		return ""
	}
	return n.text
}

// number returns the value of an integer.
func (n *node) number() (int64, bool) {
	if n == nil || n.kind != numberNode {
		return 0, false
	}
	v, err := strconv.ParseInt(n.text, 10, 64)
	return v, err == nil
}

func (n *node) truth() bool { return n != nil && n.kind == boolNode && n.text == "true" }

// The limits of a file.
const (
	maxNesting  = 200
	maxNodes    = 4 << 20
	maxMistakes = 100
	fewMembers  = 16 // of an object, whose names are compared one by one
)

// jsonParser parses JSON with comments and trailing commas, as people write it.
type jsonParser struct {
	file  *source.File
	text  string
	at    int
	nodes int
	diags diag.List
	flow  bool // in YAML: words without quotes, texts in single quotes, and comments that start with "#"

	comments bool
	above    []string // lines of the comment before the next value
	beside   *string  // the comment of the last member or element, for one on the same line; nil if there is none
	end      int      // of this member or element
}

func (p *jsonParser) span(from, to int) source.Span {
	return source.Span{File: p.file, Start: min(from, len(p.text)), End: min(to, len(p.text))}
}

func (p *jsonParser) fail(from, to int, message, help string) {
	text.Add(&p.diags, text.Mistake("not-json", p.span(from, to), message, help), maxMistakes)
}

func (p *jsonParser) document() (*node, bool) {
	p.at = len(p.text) - len(strings.TrimPrefix(p.text, "\ufeff"))
	p.skip()
	if p.at == len(p.text) {
		return nil, false // an empty file has no messages
	}
	n, ok := p.value(0)
	if !ok {
		return nil, false
	}
	if p.skip(); p.at < len(p.text) {
		p.fail(p.at, p.at+1, "text after the end of the value", `a file is one object: {"types": {...}, ...}`)
		return n, true
	}
	return n, true
}

// skip skips white space and comments.
func (p *jsonParser) skip() {
	lines := 0
	for p.at < len(p.text) {
		start := p.at
		switch c := p.text[p.at]; {
		case c == '\n':
			if lines++; lines > 1 {
				p.above = nil
			}
			p.at++
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case p.flow && c == '#' && p.at > 0 && strings.IndexByte(" \t\n", p.text[p.at-1]) >= 0:
			p.at += len(p.text[p.at:]) - len(strings.TrimLeftFunc(p.text[p.at:], func(r rune) bool { return r != '\n' }))
		case p.flow:
			return
		case strings.HasPrefix(p.text[p.at:], "//"):
			p.comments = true
			if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
				p.at += i
			} else {
				p.at = len(p.text)
			}
			p.remark(start, p.text[start+2:p.at])
			lines = 0
		case strings.HasPrefix(p.text[p.at:], "/*"):
			p.comments = true
			if i := strings.Index(p.text[p.at+2:], "*/"); i >= 0 {
				p.at += i + 4
			} else {
				p.at = len(p.text)
			}
			p.remark(start, strings.TrimSuffix(p.text[start+2:p.at], "*/"))
			lines = 0
		default:
			return
		}
	}
}

// remark takes a comment.
func (p *jsonParser) remark(at int, s string) {
	s = strings.TrimSpace(s)
	if p.beside == nil || strings.Contains(p.text[p.end:at], "\n") {
		p.above = append(p.above, s)
	} else if *p.beside == "" {
		*p.beside = s
	}
}

// doc returns the comment before a member or an element.
func (p *jsonParser) doc() string {
	s := strings.Join(p.above, "\n")
	p.above, p.beside = nil, nil
	return s
}

func (p *jsonParser) value(depth int) (*node, bool) {
	p.doc()
	if p.nodes++; p.nodes > maxNodes || depth > maxNesting {
		p.fail(p.at, p.at+1, fmt.Sprintf("more than %d values, or nested more than %d times", maxNodes, maxNesting), "split the file")
		return nil, false
	}
	if p.at >= len(p.text) {
		p.fail(len(p.text), len(p.text), "the file ends inside a value", "close all brackets and quotes")
		return nil, false
	}
	start := p.at
	n := &node{}
	ok := true
	switch c := p.text[p.at]; {
	case c == '{':
		n.kind = objectNode
		ok = p.object(n, depth)
	case c == '[':
		n.kind = arrayNode
		ok = p.array(n, depth)
	case c == '"':
		n.kind = stringNode
		n.text, ok = p.str()
	case p.flow && c != ',' && c != ':':
		*n = *scalar(p.word(), source.Span{})
	default:
		for p.at < len(p.text) && strings.IndexByte(" \t\r\n,:]}/\"", p.text[p.at]) < 0 {
			p.at++
		}
		n.text = p.text[start:p.at]
		switch _, err := strconv.ParseFloat(n.text, 64); {
		case n.text == "null":
		case n.text == "true" || n.text == "false":
			n.kind = boolNode
		case err == nil:
			n.kind = numberNode
		default:
			p.fail(start, max(p.at, start+1), text.Quote(p.text[start:max(p.at, min(start+1, len(p.text)))])+" is not a value", `strings are in double quotes`)
			return nil, false
		}
	}
	n.span = p.span(start, p.at)
	return n, ok
}

// has reports whether an object that is read has a name. The names of an object with many members are in *names.
func (n *node) has(name string, names *map[string]bool) bool {
	if *names == nil {
		if len(n.keys) < fewMembers {
			return slices.ContainsFunc(n.keys, func(old key) bool { return old.text == name })
		}
		*names = make(map[string]bool, 2*len(n.keys))
		for _, k := range n.keys {
			(*names)[k.text] = true
		}
	}
	if (*names)[name] {
		return true
	}
	(*names)[name] = true
	return false
}

func (p *jsonParser) object(n *node, depth int) bool {
	p.at++
	var names map[string]bool
	for {
		p.skip()
		switch {
		case p.at >= len(p.text):
			p.fail(len(p.text), len(p.text), "the file ends inside an object", `close it with "}"`)
			return false
		case p.text[p.at] == '}':
			p.doc()
			p.at++
			return true
		case p.text[p.at] == ',' && len(n.items) > 0:
			p.at++
			continue
		case p.text[p.at] != '"' && !p.flow:
			p.fail(p.at, p.at+1, "a name in double quotes is expected", `members are written as "name": value`)
			return false
		}
		start, doc := p.at, p.doc()
		name, ok := "", true
		if p.text[p.at] == '"' {
			name, ok = p.str()
		} else {
			name = unquoted(p.word())
		}
		if !ok {
			return false
		}
		k := key{name, p.span(start, p.at), doc}
		if n.has(name, &names) {
			text.Add(&p.diags, sameName(k.span, name, "object"), maxMistakes)
		}
		if p.skip(); p.at >= len(p.text) || p.text[p.at] != ':' {
			p.fail(p.at, p.at+1, `":" is expected after the name `+text.Quote(name), `members are written as "name": value`)
			return false
		}
		p.at++
		p.skip()
		v, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		n.keys, n.items = append(n.keys, k), append(n.items, v)
		p.beside, p.end = &n.keys[len(n.keys)-1].doc, p.at
		if p.skip(); p.at < len(p.text) && p.text[p.at] != ',' && p.text[p.at] != '}' {
			p.fail(p.at, p.at+1, `"," or "}" is expected after the value of `+text.Quote(name), "members are separated by commas")
			return false
		}
	}
}

func (p *jsonParser) array(n *node, depth int) bool {
	p.at++
	for {
		p.skip()
		switch {
		case p.at >= len(p.text):
			p.fail(len(p.text), len(p.text), "the file ends inside an array", `close it with "]"`)
			return false
		case p.text[p.at] == ']':
			p.doc()
			p.at++
			return true
		case p.text[p.at] == ',' && len(n.items) > 0:
			p.at++
			continue
		}
		doc := p.doc()
		v, ok := p.value(depth + 1)
		if !ok {
			return false
		}
		v.doc = doc
		n.items = append(n.items, v)
		p.beside, p.end = &v.doc, p.at
		if p.skip(); p.at < len(p.text) && p.text[p.at] != ',' && p.text[p.at] != ']' {
			p.fail(p.at, p.at+1, `"," or "]" is expected`, "elements are separated by commas")
			return false
		}
	}
}

// str parses a string.
func (p *jsonParser) str() (string, bool) {
	start := p.at
	p.at++
	if i := strings.IndexAny(p.text[p.at:], "\"\\\n"); i >= 0 && p.text[p.at+i] == '"' {
		s := p.text[p.at : p.at+i]
		p.at += i + 1
		return s, true
	}
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return b.String(), true
		case c == '\n':
			p.fail(start, p.at, "the line ends inside a string", "close it with a double quote")
			return "", false
		case c != '\\':
			b.WriteByte(c)
			p.at++
			continue
		}
		if p.at+1 >= len(p.text) {
			break
		}
		p.at += 2
		switch e := p.text[p.at-1]; e {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r := p.hex4()
			if utf16.IsSurrogate(r) && strings.HasPrefix(p.text[p.at:], `\u`) {
				p.at += 2
				r = utf16.DecodeRune(r, p.hex4())
			}
			b.WriteRune(r)
		default:
			b.WriteByte(e)
		}
	}
	p.fail(start, len(p.text), "the file ends inside a string", "close it with a double quote")
	return "", false
}

func (p *jsonParser) hex4() rune {
	end := min(p.at+4, len(p.text))
	v, err := strconv.ParseUint(p.text[p.at:end], 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	p.at = end
	return rune(v)
}
