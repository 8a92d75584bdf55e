package filter

import (
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// Other forms that people write, and the filters of packet captures, in the words of this language.

// adapt replaces other forms that people write: the bare name of a field, an address without a port, few seconds as a time, and names of
// properties as texts. It reports whether the condition is another.
func (c *compiler) adapt(n *node) (changed bool) {
	if n.kind == nPath {
		return c.addDot(n, false)
	}
	for i, kid := range n.kids {
		if kid.kind == nPath && i == 0 && (n.kind == nCompare || n.kind == nIn || n.kind == nContains || n.kind == nMatches) {
			changed = c.addDot(kid, true) || changed
		}
		changed = c.adapt(kid) || changed
	}
	switch n.kind {
	case nCompare, nIn:
		c.words(n)
		changed = c.addresses(n) || changed
		changed = c.seconds(n) || changed
	}
	return changed
}

// addDot makes the bare name of a field on the left of a comparison a field of any message.
func (c *compiler) addDot(n *node, compared bool) bool {
	if !compared || n.raw || len(n.parts) == 0 || n.parts[0].name == "" || n.parts[0].glob || c.classify(n).kind != pathWord && c.classify(n).kind != pathInFields {
		return false
	}
	head := n.parts[0].name
	_, coded := c.codes()[head]
	if w, _ := c.foreign(n); w != nil || c.messageNames[head] || c.groups[head] || coded || !c.hasAnywhere(head) {
		return false
	}
	delete(c.paths, n)
	n.parts = append([]part{{start: n.start, end: n.start}}, n.parts...)
	return true
}

// hasAnywhere reports whether a field of some message has the name.
func (c *compiler) hasAnywhere(name string) bool {
	return slices.ContainsFunc(c.shapes, func(m *schema.Message) bool {
		return m.Body != nil && (hasField(m.Body, name) || hasInside(m.Body, name))
	})
}

// seconds makes a time that is compared with few seconds the time since the first frame.
func (c *compiler) seconds(n *node) bool {
	for i, kid := range n.kids {
		if kid.kind != nPath || len(kid.parts) != 1 || kid.raw || c.classify(kid).kind != pathFrame || c.classify(kid).field != ffTime {
			continue
		}
		if n.kind == nIn && i > 0 {
			return false
		}
		for j, other := range n.kids {
			if j != i && !few(other) {
				return false
			}
		}
		delete(c.paths, kid)
		kid.parts[0].name = "t"
		return true
	}
	return false
}

// words makes the names of properties, where a text is compared with one, the text: via == stream.
func (c *compiler) words(n *node) {
	left := n.kids[0]
	if left.kind != nPath || c.classify(left).kind != pathFrame || frameInfo[c.classify(left).field].class != cText {
		return
	}
	for _, kid := range n.kids[1:] {
		if kid.kind != nPath || len(kid.parts) != 1 || kid.raw || len(kid.parts[0].index) > 0 {
			continue
		}
		name := kid.parts[0].name
		if f, ok := frameFields[name]; ok && f.isWeak(name) && frameInfo[f].class == cNumber {
			*kid = node{kind: nText, text: name, start: kid.start, end: kid.end}
		}
	}
}

// few reports whether a literal is a number of seconds that counts from the first frame.
func few(n *node) bool {
	switch n.kind {
	case nInt:
		return n.integer < maxSince
	case nFloat:
		return n.float < maxSince
	case nNeg, nRange:
		return !slices.ContainsFunc(n.kids, func(kid *node) bool { return !few(kid) })
	}
	return false
}

// addresses compares the address of an end only, if the other side of the comparison has no port.
func (c *compiler) addresses(n *node) bool {
	path := n.kids[0]
	if path.kind != nPath || path.raw || len(path.parts) != 1 || len(path.parts[0].index) > 0 || len(n.kids) < 2 {
		return false
	}
	only := map[string]string{"src": "srcip", "dst": "dstip"}[path.parts[0].name]
	if only == "" || c.classify(path).kind != pathFrame {
		return false
	}
	for _, kid := range n.kids[1:] {
		values := []*node{kid}
		if kid.kind == nRange {
			values = kid.kids
		}
		for _, v := range values {
			if _, ok := addressesOf(v.text); v.kind != nText || !ok {
				return false
			}
		}
	}
	path.parts[0].name = only
	delete(c.paths, path)
	return true
}

// captured returns the filter that means the same as a capture filter of tcpdump, such as "tcp port 7801", or "".
func captured(text string) string {
	words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", "&&", " and ", "||", " or ").Replace(text))
	var out []string
	said, joined := false, true
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch w {
		case "and", "or":
			if joined {
				return ""
			}
			out, joined = append(out, map[string]string{"and": "&&", "or": "||"}[w]), true
			continue
		case "not", "!", "(", ")":
			out = append(out, strings.Replace(w, "not", "!", 1))
			joined = w != ")"
			continue
		}
		if !joined {
			return ""
		}
		joined = false
		var parts []string
		if w == "tcp" || w == "udp" {
			parts = append(parts, "proto == "+strconv.Quote(w))
			if i++; i >= len(words) || words[i] == "and" || words[i] == "or" || words[i] == ")" {
				out, i = append(out, parts[0]), i-1
				continue
			}
			w = words[i]
		}
		end := ""
		if w == "src" || w == "dst" {
			end = w
			if i++; i >= len(words) {
				return ""
			}
			w = words[i]
		}
		if w != "port" && w != "host" && w != "net" && (end == "" || !isAddress(w)) {
			return ""
		}
		if !isAddress(w) {
			if i++; i >= len(words) {
				return ""
			}
		}
		value := words[i]
		switch _, err := strconv.ParseUint(value, 10, 16); {
		case w == "port" && err == nil:
			parts = append(parts, end+"port == "+value)
		case w != "port" && isAddress(value):
			parts = append(parts, map[string]string{"": "ip", "src": "src", "dst": "dst"}[end]+" == "+value)
		default:
			return ""
		}
		said = true
		condition := strings.Join(parts, " && ")
		if len(parts) > 1 {
			condition = "(" + condition + ")"
		}
		out = append(out, condition)
	}
	if !said || joined {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(out, " "), "! ", "!"), "( ", "(")
}
