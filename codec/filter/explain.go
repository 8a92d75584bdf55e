package filter

import (
	"slices"
	"strings"

	"wirebench/defs/schema"
)

// short is the kind of a short form in place of a condition.
type short uint8

const (
	notShort short = iota
	shortText
	shortCode
	shortBytes
	shortFind // "= 48211"
)

// Bounds of an explanation.
const (
	maxExplained = 4  // sentences
	maxExcerpt   = 48 // bytes of the filter in one of them
)

// Explain describes parts of the filter that may be surprising: the meaning of short forms, and that "!=" requires the field to be present.
// It returns "" for other filters.
func (f *Filter) Explain() string { return strings.Join(f.explained, "; ") }

// explainer collects sentences, each once.
type explainer struct {
	*compiler
	said []string
}

func (c *compiler) explain(root *node) []string {
	e := &explainer{compiler: c}
	e.condition(root)
	return e.said
}

func (e *explainer) say(sentence string) {
	for _, s := range e.said {
		if s == sentence {
			return
		}
	}
	e.said = append(e.said, sentence)
}

// condition explains a node in place of a condition.
func (e *explainer) condition(n *node) {
	if len(e.said) >= maxExplained {
		return
	}
	switch n.short {
	case shortText:
		e.say("text alone searches names and texts, ignoring case")
		return
	case shortCode:
		e.say("a number alone is the code of a message")
		return
	case shortBytes:
		e.say("bytes alone search the complete message")
		return
	case shortFind:
		e.say("searches the bytes for the value in each encoding")
		return
	}
	if v, ok := e.env.Values["build"]; ok && e.asksBuild(n) {
		e.say("the build is " + clip(v) + " in every frame")
	}
	switch n.kind {
	case nOr, nXor, nAnd:
		for _, kid := range n.kids {
			e.condition(kid)
		}
	case nNot:
		kid := n.kids[0]
		if path := e.compared(kid); path != nil {
			e.say(excerpt(n) + " also matches frames without " + excerpt(path))
			return
		}
		e.condition(kid)
	case nCompare:
		if path := e.compared(n); path != nil && n.op == opNe && n.quant == quantNone {
			e.say(excerpt(n) + " matches frames that have " + excerpt(path) + " if no value of it is equal")
		}
	case nIn:
		if path := e.compared(n); path != nil && n.negated && n.quant == quantNone {
			e.say(excerpt(n) + " matches frames that have " + excerpt(path) + " if no value of it is in the set")
		}
	case nContains:
		if e.wideTexts() {
			if x := e.wide(n); x != nil {
				e.say("a text in bytes is UTF-8: " + excerpt(x) + " finds it as UTF-16")
			}
		}
	case nBits:
		e.say(excerpt(n) + " alone is true if it is not 0")
	case nPath:
		if e.classify(n).kind == pathInFields {
			e.say(excerpt(n) + " alone is true if the field is present or, for a boolean, true")
		}
	}
}

// wideTexts reports whether messages have texts in UTF-16.
func (c *compiler) wideTexts() (wide bool) {
	for _, m := range c.messages {
		eachField(m.Body, func(f *schema.Field, _ string) {
			t, ok := f.Type.(*schema.Text)
			wide = wide || ok && t.Charset == schema.UTF16LE
		})
	}
	return wide
}

// wide returns a filter with the texts that are searched in bytes as UTF-16, nil if there are none.
func (c *compiler) wide(n *node) *node {
	if n.kind == nContains && n.kids[0].kind == nPath && n.kids[1].kind == nText && n.kids[1].text != "" {
		if info := c.classify(n.kids[0]); n.kids[0].raw || info.kind == pathFrame && info.field == ffBytes {
			x := *n
			x.kids = []*node{n.kids[0], callNode("utf16", n.kids[1])}
			return &x
		}
	}
	var out *node
	for i, kid := range n.kids {
		if w := c.wide(kid); w != nil {
			if out == nil {
				x := *n
				x.kids, out = slices.Clone(n.kids), &x
			}
			out.kids[i] = w
		}
	}
	return out
}

// asksBuild reports whether a comparison is with the build.
func (e *explainer) asksBuild(n *node) bool {
	switch n.kind {
	case nPath:
		info := e.classify(n)
		return info.kind == pathFrame && info.field == ffBuild
	case nCompare, nIn:
		return slices.ContainsFunc(n.kids, e.asksBuild)
	}
	return false
}

// compared returns the field of a message in a comparison, nil if there is none: properties of the frame itself are always present.
func (e *explainer) compared(n *node) *node {
	switch n.kind {
	case nIn:
		return e.fieldIn(n.kids[0])
	case nCompare, nContains, nMatches:
		if path := e.fieldIn(n.kids[0]); path != nil {
			return path
		}
		return e.fieldIn(n.kids[1])
	}
	return nil
}

// fieldIn returns the first field of a message in an expression.
func (e *explainer) fieldIn(n *node) *node {
	if n.kind == nPath {
		if e.classify(n).kind == pathInFields {
			return n
		}
		return nil
	}
	for _, kid := range n.kids {
		if path := e.fieldIn(kid); path != nil {
			return path
		}
	}
	return nil
}

// excerpt quotes a part of the filter in a sentence.
func excerpt(n *node) string {
	s := n.String()
	if len(s) > maxExcerpt {
		s = strings.ToValidUTF8(s[:maxExcerpt], "") + "..."
	}
	return "“" + s + "”"
}
