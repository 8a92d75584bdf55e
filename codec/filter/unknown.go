package filter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// maxMistakes is the maximum number of reported mistakes.
const maxMistakes = 20

// unknown reports unknown names. at is the condition, or the item of a set, that contains the node.
func (c *compiler) unknown(n, at *node) {
	if len(c.mistakes) >= maxMistakes {
		return
	}
	if n.kind == nPath && !c.classify(n).found {
		// A more specific mistake is enough.
		t := c.tries[at]
		said := t != nil && !t.ok && t.mistake != nil
		switch c.classify(n).kind {
		case pathInFields:
			if !said || !within(t.mistake, n) {
				c.unknownField(n)
			}
		case pathWord:
			if !said && !c.doubt {
				c.unknownName(n)
			}
		}
	}
	if n.kind == nCompare || n.kind == nIn {
		c.doubt = c.lacksField(n)
		defer func() { c.doubt = false }()
	}
	for i, kid := range n.kids {
		switch {
		case n.kind == nAnd || n.kind == nOr || n.kind == nXor || n.kind == nNot, n.kind == nIn && i > 0:
			c.unknown(kid, kid)
		default:
			c.unknown(kid, at)
		}
	}
}

// lacksField reports whether a field in a comparison is unknown. Then a word in it may be valid.
func (c *compiler) lacksField(n *node) bool {
	if n.kind == nPath {
		info := c.classify(n)
		return info.kind == pathInFields && !info.found
	}
	return slices.ContainsFunc(n.kids, c.lacksField)
}

func within(m *Mistake, n *node) bool { return m.Start >= n.start && m.End <= n.end }

// misfits reports the comparisons that are valid for no message.
func (c *compiler) misfits(n *node) {
	switch n.kind {
	case nAnd, nOr, nXor, nNot:
		for _, kid := range n.kids {
			c.misfits(kid)
		}
		return
	}
	t := c.tries[n]
	switch {
	case len(c.mistakes) >= maxMistakes:
	case t == nil:
		if paths := fieldsOf(n); len(paths) > 1 && c.neverTogether(n) {
			c.report(n.start, n.end, "no message has both "+strconv.Quote(paths[0])+" and "+strconv.Quote(paths[1]), "")
		}
	case !t.ok && t.mistake != nil:
		c.mistakes = append(c.mistakes, *t.mistake)
	}
	if n.kind == nIn {
		for _, item := range n.kids[1:] {
			if t := c.tries[item]; t != nil && !t.ok && t.mistake != nil && len(c.mistakes) < maxMistakes {
				c.mistakes = append(c.mistakes, *t.mistake)
			}
		}
	}
}

// neverTogether reports whether a comparison that is valid for no message has several fields, each of which some message has.
func (c *compiler) neverTogether(n *node) bool {
	fields := 0
	var count func(n *node)
	count = func(n *node) {
		if n.kind == nPath {
			if info := c.classify(n); info.kind == pathInFields && c.readable(n) {
				fields++
			}
		}
		for _, kid := range n.kids {
			count(kid)
		}
	}
	count(n)
	return fields > 1
}

// readable reports whether a message with the field has a program.
func (c *compiler) readable(n *node) bool {
	for _, m := range c.shapes {
		if m.Body == nil {
			continue
		}
		if rest, ok := c.inMessage(n.parts, m); ok && mentions(n, rest, m) && c.program(m) != nil {
			return true
		}
	}
	return false
}

// unknownName reports an unknown word.
func (c *compiler) unknownName(n *node) {
	name := n.parts[0].name
	if n.parts[0].glob {
		c.report(n.start, n.end, "no message is called "+strconv.Quote(clip(name)), "")
		return
	}
	help := didYouMean(name, c.names())
	if w := wordOfName(name); w != nil && w.Why != "" {
		help = w.Why
	}
	if help == "" && len(c.fieldNames(name)) > 0 {
		help = "write " + strconv.Quote("."+name) + " for the field of any message, at any depth"
	}
	if help == "" {
		help = "put text in quotes"
	}
	c.report(n.start, n.end, "unknown name "+strconv.Quote(clip(name)), help)
}

// nearly explains a bare word that is searched as text, if it may be meant otherwise: as a name with a slip, or as a protocol.
func (c *compiler) nearly(word string) []string {
	if w := wordOfName(word); w != nil && w.Why != "" {
		return []string{w.Why}
	}
	low := strings.ToLower(word)
	known := slices.Sorted(maps.Keys(c.messageNames))
	if slices.ContainsFunc(known, func(name string) bool { return strings.Contains(strings.ToLower(name), low) }) {
		return nil
	}
	if help := didYouMean(word, known); help != "" {
		return []string{help}
	}
	return nil
}

// names returns the names that may start a path.
func (c *compiler) names() []string {
	var out []string
	for f := range ffOfDay {
		out = append(out, frameInfo[f].name)
	}
	for _, m := range c.messages {
		out = append(out, m.Name)
	}
	for g := range c.groups {
		out = append(out, g)
	}
	for name := range c.codes() {
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fieldNames returns the fields of all messages at any depth, or only the given one.
func (c *compiler) fieldNames(only string) []string {
	seen := map[string]bool{}
	for _, m := range c.shapes {
		eachField(m.Body, func(f *schema.Field, _ string) {
			if only == "" || f.Name == only {
				seen[f.Name] = true
			}
		})
	}
	return slices.Sorted(maps.Keys(seen))
}

// eachField calls yield with the fields of a struct at any depth, each with the name of the field around it, and with the parts of its
// bitfields.
func eachField(s *schema.Struct, yield func(f *schema.Field, of string)) {
	seen := map[*schema.Struct]bool{nil: true}
	var walk func(s *schema.Struct, of string)
	walk = func(s *schema.Struct, of string) {
		if seen[s] {
			return
		}
		seen[s] = true
		for f := range s.Members() {
			in := f.Name
			if in == "" {
				in = of
			} else if f.Same == nil {
				yield(f, of)
			}
			if bits, ok := f.Type.(*schema.Bitfield); ok {
				for _, name := range append(bits.Names[:len(bits.Names):len(bits.Names)], bits.All) {
					if name != "" {
						yield(&schema.Field{Name: name, TypeText: "bits"}, in)
					}
				}
			}
			for _, b := range schema.Bodies(f.Type) {
				walk(b, in)
			}
		}
	}
	walk(s, "")
}

// deeper returns the help for a field that is not at the top of a message, but inside.
func (c *compiler) deeper(n *node, name string) string {
	for _, m := range c.shapes {
		rest, ok := c.inMessage(n.parts, m)
		if !ok || len(rest) == 0 || m.Body == nil || !hasInside(m.Body, name) {
			continue
		}
		if p := c.program(m); p != nil {
			for _, h := range inside(p, hit{field: -1}, name, true) {
				path := strings.ReplaceAll(string(p.AppendFieldPath(nil, uint16(h.field))), "[]", "")
				if h.part != "" {
					path += "." + h.part
				}
				return fmt.Sprintf("it is inside: write %s.%s, or .%s for any depth", m.Name, path, name)
			}
		}
	}
	return ""
}

// inGroup returns the names that may follow the name of a group.
func (c *compiler) inGroup(group string) []string {
	out := []string{"type"}
	if group == c.layers.Group {
		for _, l := range c.layers.Fields {
			out = append(out, l.Name)
		}
	}
	for _, m := range c.messages {
		if m.Key.Group != group {
			continue
		}
		out = append(out, m.Name)
		if m.Body != nil {
			for f := range m.Body.Members() {
				out = append(out, f.Name)
			}
		}
	}
	return out
}

// unknownField reports a path that no message has, at its first wrong part in the message that matches most of it.
func (c *compiler) unknownField(n *node) {
	head := &n.parts[0]
	var best *wrong
	var where *schema.Message
	var parts []part
	heads := 0
	for _, m := range c.shapes {
		rest, ok := c.inMessage(n.parts, m)
		if !ok || len(rest) == 0 {
			continue
		}
		heads++
		if m.Body == nil || !mentions(n, rest, m) && best != nil {
			continue
		}
		p := c.program(m)
		if p == nil {
			continue
		}
		_, why := c.resolve(n, rest, p, false)
		if why == nil {
			return // it exists: another mistake of the comparison applies
		}
		if best == nil || why.part > best.part {
			best, where, parts = why, m, rest
		}
	}
	switch {
	case head.name == "" && (best == nil || best.part == 0):
		name := n.parts[1]
		c.report(n.start, name.end, "no message has a field "+strconv.Quote(clip(name.name)), didYouMean(name.name, c.fieldNames("")))
	case heads == 0 && head.glob:
		c.report(head.start, head.end, "no message is called "+strconv.Quote(clip(head.name)), "")
	case heads == 0:
		help := didYouMean(head.name, c.names())
		if _, frame := frameFields[head.name]; frame {
			help = strconv.Quote(head.name) + " has no fields"
		}
		if _, code := c.codes()[head.name]; code {
			c.report(head.start, head.end, strconv.Quote(clip(head.name))+" has no definition", "its fields are unknown")
			return
		}
		c.report(head.start, head.end, "unknown message "+strconv.Quote(clip(head.name)), help)
	case best == nil:
		// Its definition is invalid, which is reported elsewhere.
	default:
		q := &parts[best.part]
		of := cmp.Or(where.Name, "the header")
		if best.part > 0 {
			of = (&node{kind: nPath, parts: parts[:best.part]}).String()
		} else if heads > 1 && c.groups[head.name] {
			of = "no message of " + strconv.Quote(head.name)
			help := didYouMean(q.name, c.inGroup(head.name))
			if inside := c.deeper(n, q.name); inside != "" {
				help = inside
			}
			c.report(q.start, q.end, of+" has a field "+strconv.Quote(clip(q.name)), help)
			return
		}
		help := didYouMean(q.name, best.known)
		if best.part == 0 {
			if inside := c.deeper(n, q.name); inside != "" {
				help = inside
			}
		}
		if help == "" && len(best.known) > 0 && len(best.known) <= 8 {
			help = oneOfThese("", best.known)
		}
		c.report(q.start, q.end, fmt.Sprintf("%q has no field %q", of, clip(q.name)), help)
	}
}

// widened describes the paths that find more than they did until version 2 of the language: when a message had the field at its top, .x meant
// only that.
func (c *compiler) widened(root *node) (out []string) {
	var walk func(n *node)
	walk = func(n *node) {
		if n.kind == nPath && anyDepth(n) && len(n.parts) > 1 {
			if s := c.widenedPath(n); s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(root)
	return out
}

func (c *compiler) widenedPath(n *node) string {
	name, in := n.parts[1].name, (*schema.Message)(nil)
	top := false
	for _, m := range c.messages {
		if m.Body == nil {
			continue
		}
		top = top || hasField(m.Body, name)
		if in == nil && hasInside(m.Body, name) {
			in = m
		}
	}
	if !top || in == nil {
		return ""
	}
	path := n.String()
	return fmt.Sprintf("%s is any depth now, also inside %s; write *%[1]s for the top of a message", path, in.Name)
}

// fieldsOf returns the message fields in a tree, as written.
func fieldsOf(n *node) (out []string) {
	var walk func(n *node)
	walk = func(n *node) {
		if n.kind == nPath && len(n.parts) > 1 {
			if s := (&node{kind: nPath, parts: n.parts}).String(); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(n)
	return out
}
