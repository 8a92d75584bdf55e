package filter

import (
	"math"
	"strconv"
	"strings"

	"wirebench/codec"
)

// Short forms, and their meaning.

func pathNode(names ...string) *node {
	n := &node{kind: nPath}
	for _, name := range names {
		n.parts = append(n.parts, part{name: name})
	}
	return n
}

func textNode(s string) *node { return &node{kind: nText, text: s} }

func callNode(name string, args ...*node) *node { return &node{kind: nCall, text: name, kids: args} }

func binary(k kind, left, right *node) *node { return &node{kind: k, kids: []*node{left, right}} }

// place sets the position of a node and its descendants in the text.
func (n *node) place(start, end int) *node {
	n.start, n.end = start, end
	for i := range n.parts {
		n.parts[i].start, n.parts[i].end = start, end
	}
	for _, kid := range n.kids {
		kid.place(start, end)
	}
	return n
}

// aliases are the supported words of mitmproxy. Those that take a pattern have an operator.
var aliases = map[string]struct {
	field   string
	value   string // dir: its value
	pattern bool   // a regular expression follows
	doc     string
}{
	"q":       {"dir", "c2s", false, "from the client"},
	"s":       {"dir", "s2c", false, "from the server"},
	"b":       {"bytes", "", true, "the bytes match a regular expression"},
	"src":     {"src", "", true, "the sender matches a regular expression"},
	"dst":     {"dst", "", true, "the receiver matches a regular expression"},
	"marked":  {"mark", "", false, "it is marked"},
	"comment": {"note", "", true, "its note matches a regular expression"},
	"tcp":     {"proto", "tcp", false, "carried by TCP"},
	"udp":     {"proto", "udp", false, "carried by UDP"},
}

// alias parses ~q and the like, after the sign.
func (p *parser) alias() *node {
	start := p.tok.start
	for isNameByte(p.peekByte(0)) {
		p.at++
	}
	name := p.text[start+1 : p.at]
	a, ok := aliases[name]
	if !ok {
		help := "there are ~q, ~s, ~b, ~src, ~dst, ~marked, ~comment, ~tcp and ~udp"
		if name == "c" {
			help = "write op == 7 for the code of a message"
		}
		return p.fail(start, max(p.at, start+1), "unknown "+strconv.Quote("~"+name), help)
	}
	p.rewritten = true
	field := pathNode(a.field)
	switch {
	case a.value != "" && a.field == "dir":
		n := binary(nCompare, field, pathNode(a.value)).place(start, p.at)
		p.advance()
		return n
	case a.value != "":
		n := binary(nCompare, field, textNode(a.value)).place(start, p.at)
		p.advance()
		return n
	case !a.pattern:
		field.place(start, p.at)
		p.advance()
		return field
	}
	p.space()
	if c := p.peekByte(0); c != '"' && c != '\'' && c != 'r' || c == 'r' && p.peekByte(1) != '"' && p.peekByte(1) != '\'' {
		from := p.at
		for p.at < len(p.text) && strings.IndexByte(" \t\r\n()", p.text[p.at]) < 0 {
			p.at++
		}
		if from == p.at {
			if name == "comment" {
				field.place(start, p.at)
				p.advance()
				return field
			}
			help := ""
			if p.at < len(p.text) {
				help = "put a pattern with parentheses in quotes"
			}
			return p.fail(start, p.at, "no pattern after "+strconv.Quote("~"+name), help)
		}
		n := binary(nMatches, field, textNode(p.text[from:p.at])).place(start, p.at)
		p.advance()
		return n
	}
	p.advance()
	if p.tok.kind != tText {
		return p.unexpected()
	}
	n := binary(nMatches, field, textNode(p.tok.text)).place(start, p.tok.end)
	p.advance()
	return n
}

// bare returns the meaning of a literal in place of a condition: a number is a code, a text is searched in the name and the texts of the
// message, bytes are searched in the message.
func bare(n *node) *node {
	var out *node
	switch n.kind {
	case nInt:
		out = binary(nCompare, pathNode("op"), &node{kind: nInt, integer: n.integer})
		out.short = shortCode
	case nText, nWords:
		low := string(appendCase(nil, []byte(n.text), true))
		out = &node{kind: nOr, kids: []*node{
			binary(nContains, callNode("lower", pathNode("name")), textNode(low)),
			binary(nContains, callNode("lower", pathNode("info")), textNode(low)),
		}, short: shortText}
	case nBytes:
		out = binary(nContains, pathNode("bytes"), &node{kind: nBytes, bytes: n.bytes})
		out.short = shortBytes
	default:
		return nil
	}
	return out.place(n.start, n.end)
}

// expand replaces literals in place of conditions.
func expand(n *node) (out *node, rewritten bool) {
	switch n.kind {
	case nOr, nXor, nAnd, nNot:
		for i, kid := range n.kids {
			k, r := expand(kid)
			n.kids[i] = k
			rewritten = rewritten || r
		}
		return n, rewritten
	}
	if b := bare(n); b != nil {
		return b, true
	}
	return n, false
}

// isBareText reports whether a text is at least two words separated only by spaces, none of them a keyword.
func isBareText(text string) bool {
	words := strings.Fields(text)
	for _, w := range words {
		for i := range len(w) {
			if !isNameByte(w[i]) {
				return false
			}
		}
		for _, k := range keywords {
			if w == k {
				return false
			}
		}
	}
	return len(words) > 1
}

// findBox returns the meaning of "= 48211": a search for the value in every encoding. A number in the fewest bytes that hold it is found in
// wider encodings, too.
func findBox(text string, start int) (*node, []Mistake) {
	body := strings.TrimSpace(text[start:])
	from := start + strings.Index(text[start:], body)
	end := from + len(body)
	if body == "" {
		return nil, []Mistake{{start, len(text), "nothing to search for", "write a number or a text after ="}}
	}
	s := scanner{text: text, at: from}
	t := s.next()
	negative := t.kind == tSign && t.text == "-"
	if negative {
		t = s.next()
	}
	whole := t.end == end && len(s.mistakes) == 0
	find := func(args ...*node) *node { return binary(nContains, pathNode("bytes"), args[0]) }
	var kids []*node
	switch {
	case whole && t.kind == tBytes && !negative:
		n := find(&node{kind: nBytes, bytes: t.bytes})
		n.short = shortBytes
		return n.place(from, end), nil
	case whole && t.kind == tInt:
		num := func() *node { return signedNode(nInt, t.integer, 0, negative) }
		switch v := t.integer; {
		case negative && v > 1<<63:
			return nil, []Mistake{{from, end, body + " does not fit 64 bits", ""}}
		case !negative && v <= math.MaxUint8 || negative && v <= 1<<7:
			kids = append(kids, find(callNode("u8", num())))
		case !negative && v <= math.MaxUint16 || negative && v <= 1<<15:
			kids = append(kids, find(callNode("u16le", num())), find(callNode("u16be", num())))
		case !negative && v <= math.MaxUint32 || negative && v <= 1<<31:
			kids = append(kids, find(callNode("u32le", num())), find(callNode("u32be", num())))
		default:
			kids = append(kids, find(callNode("u64le", num())), find(callNode("u64be", num())))
		}
		for _, x := range variables(t.integer, negative) {
			kids = append(kids, find(callNode(x.name, signedNode(nInt, x.value, 0, x.negative))))
		}
		for _, name := range [...]string{"f32", "f32be", "f64", "f64be"} {
			kids = append(kids, find(callNode(name, num())))
		}
	case whole && t.kind == tFloat:
		// A float may be displayed rounded: the tolerance is half a unit of its last digit.
		off := tolerance(t.text)
		for _, name := range [...]string{"f32", "f32be", "f64", "f64be"} {
			kids = append(kids, find(callNode(name, signedNode(nFloat, 0, t.float, negative), &node{kind: nFloat, float: off})))
		}
	case t.kind == tText && whole && !negative:
		body = t.text
	case t.kind == tBad && !negative && (text[from] == '"' || text[from] == '\''):
		return nil, s.mistakes
	}
	if body == "" {
		return nil, []Mistake{{from, end, "nothing to search for", ""}}
	}
	if len(body) > maxPattern {
		return nil, []Mistake{{from, end, "a text of more than " + strconv.Itoa(maxPattern) + " bytes", ""}}
	}
	kids = append(kids, find(textNode(body)), find(callNode("utf16", textNode(body))))
	return (&node{kind: nOr, kids: kids, short: shortFind}).place(from, end), nil
}

// variable is a number in an encoding of 7 bits a byte: a function and its argument.
type variable struct {
	name     string
	value    uint64
	negative bool
}

// variables returns the encodings of a number in which it has several bytes: each byte alone is in nearly every message, and that of a number below 128
// is u8. A negative one is written with 64 bits, as Protocol Buffers do, or with 32.
func variables(v uint64, negative bool) (out []variable) {
	switch {
	case negative && v > 0:
		out = append(out, variable{"varint", v, true})
		if v <= 1<<31 {
			out = append(out, variable{"varint", 1<<32 - v, false})
		}
	case v >= 1<<7:
		out = append(out, variable{"varint", v, false}, variable{"varintbe", v, false})
	}
	if v > 1<<6 || v == 1<<6 && !negative {
		if v <= math.MaxInt64 || negative && v == 1<<63 {
			out = append(out, variable{"zigzag", v, negative})
		}
	}
	return out
}

// Variables returns the bytes of a number in each encoding of 7 bits a byte in which = VALUE looks for it.
func Variables(v uint64, negative bool) (out [][]byte) {
	for _, x := range variables(v, negative) {
		if x.negative {
			x.value = -x.value
		}
		out = append(out, codec.AppendVarint(nil, x.value, functions[x.name].read.of, 64))
	}
	return out
}

func signedNode(k kind, integer uint64, float float64, negative bool) *node {
	n := &node{kind: k, integer: integer, float: float}
	if negative {
		return &node{kind: nNeg, kids: []*node{n}}
	}
	return n
}

// tolerance is half a unit of the last digit of a float literal.
func tolerance(text string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(text, "_", "")), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return 0.5 * math.Pow10(max(min(e, 300), -300)-len(fraction))
}
