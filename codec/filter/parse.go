package filter

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/defs/diag"
)

// parser builds the tree of a filter. It has one token of lookahead; the scanner is after it.
type parser struct {
	scanner
	tok       token
	depth     int
	failed    bool
	rewritten bool
}

// parse parses a filter that is not empty. The tree is nil if there are mistakes.
func parse(text string) (root *node, rewritten bool, mistakes []Mistake) {
	p := &parser{scanner: scanner{text: text}}
	p.advance()
	root = p.or()
	if !p.failed && p.tok.kind != tEnd {
		p.unexpected()
	}
	if len(p.mistakes) > 0 {
		return nil, false, p.mistakes
	}
	return root, p.rewritten, nil
}

func (p *parser) advance() {
	p.tok = p.next()
	if p.tok.kind == tBad {
		p.failed = true
	}
}

// fail records a mistake. All later calls return at once.
func (p *parser) fail(start, end int, message, help string) *node {
	p.mistake(start, end, message, help)
	p.failed = true
	p.tok = token{kind: tEnd, start: len(p.text), end: len(p.text)}
	p.at = len(p.text)
	return &node{kind: nFalse, start: start, end: end}
}

func (p *parser) unexpected() *node {
	t := p.tok
	switch {
	case t.kind == tEnd:
		at := len(strings.TrimRight(p.text, " \t\r\n"))
		return p.fail(at, at, "unexpected end of filter", "")
	case t.kind == tBad:
		return p.fail(t.start, t.end, "not understood", "")
	case t.text == "=":
		return p.fail(t.start, t.end, `unexpected "="`, `write "==" to compare`)
	case t.text == "|" || t.text == "^":
		return p.fail(t.start, t.end, "unexpected "+strconv.Quote(t.text), `write "||" or "or" for either of two`)
	case t.kind == tName || t.kind == tInt || t.kind == tFloat:
		return p.fail(t.start, t.end, "unexpected "+strconv.Quote(t.text), `put "&&" or "||" between two conditions, and quotes around text`)
	}
	return p.fail(t.start, t.end, "unexpected "+strconv.Quote(p.text[t.start:t.end]), "")
}

func (p *parser) sign(text string) bool {
	if p.tok.kind == tSign && p.tok.text == text {
		p.advance()
		return true
	}
	return false
}

func (p *parser) word(text string) bool {
	if p.isWord(text) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) isWord(text string) bool { return p.tok.kind == tName && p.tok.text == text }

// deeper enters one level of nesting and reports whether it is allowed. The caller leaves it with p.depth--.
func (p *parser) deeper() bool {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.tok.start, p.tok.end, "nested deeper than "+strconv.Itoa(maxDepth), "")
		return false
	}
	return true
}

func (p *parser) or() *node { return p.list(nOr, "||", "or", p.xor) }

func (p *parser) xor() *node { return p.list(nXor, "^^", "xor", p.and) }

func (p *parser) and() *node { return p.list(nAnd, "&&", "and", p.not) }

// list parses conditions separated by one operator.
func (p *parser) list(k kind, sign, word string, one func() *node) *node {
	n := one()
	for kids := []*node{n}; !p.failed && (p.sign(sign) || p.word(word)); {
		kids = append(kids, one())
		if k != nAnd && !p.failed {
			p.left(n, kids[len(kids)-1])
		}
		n = &node{kind: k, start: kids[0].start, end: kids[len(kids)-1].end, kids: kids}
	}
	return n
}

// left reports a value after a comparison and "or", x == 1 or 2: alone it would be a condition of its own.
func (p *parser) left(before, n *node) {
	for before.kind == nAnd || before.kind == nOr || before.kind == nXor {
		before = before.kids[len(before.kids)-1]
	}
	compares := before.kind == nCompare || before.kind == nIn || before.kind == nContains || before.kind == nMatches
	if !compares || n.kind != nInt && n.kind != nFloat && n.kind != nText && n.kind != nBytes {
		return
	}
	field, value := before.kids[0].String(), p.text[n.start:n.end]
	help := "repeat the field: " + clip(field) + " " + map[kind]string{nContains: "contains", nMatches: "~"}[before.kind] + " " + clip(value)
	if before.kind == nCompare && before.op == opEq || before.kind == nIn && !before.negated {
		help = "write " + clip(field) + " in {..., " + clip(value) + "}"
		if before.kind == nCompare {
			help = "write " + clip(field) + " in {" + clip(before.kids[1].String()) + ", " + clip(value) + "}"
		}
	} else if before.kind == nCompare {
		help = "repeat the field: " + clip(field) + " " + before.op.String() + " " + clip(value)
	}
	if n.kind == nInt {
		help += ", or op == " + value + " for the code of a message"
	}
	p.fail(n.start, n.end, "a value after \"or\" is not compared with "+strconv.Quote(clip(field)), help)
}

func (p *parser) not() *node {
	start := p.tok.start
	if !p.sign("!") && !p.word("not") {
		return p.comparison()
	}
	defer func() { p.depth-- }()
	if !p.deeper() {
		return p.unexpected()
	}
	n := p.not()
	return &node{kind: nNot, start: start, end: n.end, kids: []*node{n}}
}

// relation is a comparison as written. Some of Wireshark's have a quantifier.
type relation struct {
	cmpOp
	quant quant
}

var opNames = map[string]relation{
	"==": {opEq, quantNone}, "!=": {opNe, quantNone}, ">": {opGt, quantNone}, ">=": {opGe, quantNone}, "<": {opLt, quantNone}, "<=": {opLe, quantNone},
	"eq": {opEq, quantNone}, "ne": {opNe, quantNone}, "gt": {opGt, quantNone}, "ge": {opGe, quantNone}, "lt": {opLt, quantNone}, "le": {opLe, quantNone},
	"===": {opEq, quantAll}, "!==": {opNe, quantAny}, "~=": {opNe, quantAny},
	"any_eq": {opEq, quantNone}, "all_eq": {opEq, quantAll}, "any_ne": {opNe, quantAny}, "all_ne": {opNe, quantNone},
}

// operator returns the current comparison operator.
func (p *parser) operator() (relation, bool) {
	if p.tok.kind != tSign && p.tok.kind != tName {
		return relation{}, false
	}
	op, ok := opNames[p.tok.text]
	return op, ok
}

func (p *parser) comparison() *node {
	start := p.tok.start
	q := quantNone
	switch {
	case p.word("any"):
		q = quantAny
	case p.word("all"):
		q = quantAll
	}
	left := p.sum()
	if p.failed {
		return left
	}
	n := &node{start: start, quant: q, kids: []*node{left}}
	op, compares := p.operator()
	switch {
	case compares:
		n.kind, n.op = nCompare, op.cmpOp
		if q == quantNone { // as in Wireshark, "any" and "all" before it prevail
			n.quant = op.quant
		}
		p.advance()
		n.kids = append(n.kids, p.sum())
	case p.isWord("in") || p.isWord("not"):
		if n.negated = p.word("not"); n.negated && !p.isWord("in") {
			return p.unexpected()
		}
		p.advance()
		n.kind = nIn
		p.items(n)
	case p.word("contains"):
		n.kind = nContains
		n.kids = append(n.kids, p.sum())
	case p.word("matches") || p.sign("~"):
		n.kind = nMatches
		n.kids = append(n.kids, p.sum())
	default:
		if q != quantNone {
			left.quant = q
			if left.kind != nPath && left.kind != nCall {
				return p.fail(start, start+len("any"), `"any" and "all" must precede a comparison or a field`, "")
			}
		}
		return left
	}
	if p.failed {
		return left
	}
	if n.kind != nIn {
		n.end = n.kids[len(n.kids)-1].end
	}
	if _, again := p.operator(); again {
		return p.fail(p.tok.start, p.tok.end, "a second comparison", "write it as two: 1 < x && x < 5")
	}
	return n
}

// items parses a set.
func (p *parser) items(n *node) {
	if !p.sign("{") {
		p.fail(p.tok.start, max(p.tok.end, p.tok.start), `"in" needs a set`, "write {1, 2, 5..10}")
		return
	}
	for !p.failed {
		item := p.sum()
		if p.failed {
			return
		}
		if p.sign("..") {
			to := p.sum()
			item = &node{kind: nRange, start: item.start, end: to.end, kids: []*node{item, to}}
		}
		n.kids = append(n.kids, item)
		if p.tok.kind == tSign && p.tok.text == "}" {
			n.end = p.tok.end
			p.advance()
			return
		}
		if !p.failed && !p.sign(",") && !p.isItem() {
			if p.tok.kind == tEnd {
				p.fail(p.tok.start, p.tok.end, `a set without its "}"`, "")
				return
			}
			p.fail(p.tok.start, p.tok.end, "unexpected "+strconv.Quote(p.text[p.tok.start:p.tok.end]), `items of a set are separated by ","`)
		}
	}
}

// isItem reports whether the token begins an item of a set: the commas may be left out.
func (p *parser) isItem() bool {
	switch p.tok.kind {
	case tInt, tFloat, tText, tBytes:
		return true
	case tName:
		return !slices.Contains(keywords, p.tok.text)
	}
	return false
}

func (p *parser) sum() *node {
	n := p.product()
	for !p.failed {
		k := nAdd
		switch {
		case p.sign("+"):
		case p.sign("-"):
			k = nSub
		default:
			return n
		}
		right := p.product()
		n = &node{kind: k, start: n.start, end: right.end, kids: []*node{n, right}}
	}
	return n
}

func (p *parser) product() *node {
	n := p.unary()
	for !p.failed {
		k := nMul
		switch {
		case p.sign("*"):
		case p.sign("/"):
			k = nDiv
		case p.sign("%"):
			k = nMod
		case p.sign("&"):
			k = nBits
		default:
			return n
		}
		right := p.unary()
		n = &node{kind: k, start: n.start, end: right.end, kids: []*node{n, right}}
	}
	return n
}

func (p *parser) unary() *node {
	start := p.tok.start
	if !p.sign("-") {
		return p.atom()
	}
	defer func() { p.depth-- }()
	if !p.deeper() {
		return p.unexpected()
	}
	n := p.unary()
	return &node{kind: nNeg, start: start, end: n.end, kids: []*node{n}}
}

// keywords are words that are not names.
var keywords = []string{"and", "or", "xor", "not", "any", "all", "in", "contains", "matches", "eq", "ne", "gt", "ge", "lt", "le", "any_eq", "all_eq", "any_ne", "all_ne"}

func (p *parser) atom() *node {
	t := p.tok
	n := &node{start: t.start, end: t.end}
	switch t.kind {
	case tInt:
		n.kind, n.integer = nInt, t.integer
	case tFloat:
		n.kind, n.float = nFloat, t.float
	case tText:
		n.kind, n.text = nText, t.text
	case tBytes:
		n.kind, n.bytes = nBytes, t.bytes
	case tName:
		switch {
		case t.text == "true":
			n.kind = nTrue
		case t.text == "false":
			n.kind = nFalse
		case slices.Contains(keywords, t.text):
			return p.unexpected()
		case p.peekByte(0) == '(':
			return p.call()
		default:
			return p.path()
		}
	case tSign:
		switch t.text {
		case "(":
			return p.parentheses()
		case ".", "@", "*", "?":
			return p.path()
		case "$":
			return p.given()
		case "~":
			return p.alias()
		}
		return p.unexpected()
	default:
		return p.unexpected()
	}
	p.advance()
	return n
}

func (p *parser) parentheses() *node {
	open := p.tok
	p.advance()
	defer func() { p.depth-- }()
	if !p.deeper() {
		return p.unexpected()
	}
	n := p.or()
	if p.failed {
		return n
	}
	if p.tok.kind == tEnd {
		return p.fail(open.start, open.end, `a "(" without its ")"`, "")
	}
	if !p.sign(")") {
		return p.unexpected()
	}
	return n
}

func (p *parser) call() *node {
	t := p.tok
	n := &node{kind: nCall, start: t.start, text: t.text}
	if _, ok := functions[t.text]; !ok {
		return p.fail(t.start, t.end, "unknown function "+strconv.Quote(t.text), didYouMean(t.text, functionNames))
	}
	defer func() { p.depth-- }()
	if !p.deeper() {
		return p.unexpected()
	}
	p.advance() // the name
	p.advance() // "("
	for !p.failed {
		if p.tok.kind == tSign && p.tok.text == ")" {
			var q part
			for p.peekByte(0) == '[' {
				if !p.bracket(&q) {
					return n
				}
				n.parts = []part{q}
			}
			n.end = p.at
			p.advance()
			return n
		}
		if len(n.kids) > 0 && !p.sign(",") {
			if p.tok.kind == tEnd {
				return p.fail(t.start, t.end, `a "(" without its ")"`, "")
			}
			return p.unexpected()
		}
		n.kids = append(n.kids, p.sum())
	}
	return n
}

// path parses a field. It works on the text, as it must not contain spaces.
func (p *parser) path() *node {
	n := &node{kind: nPath, start: p.tok.start}
	p.at = p.tok.start
	if p.peekByte(0) == '@' {
		n.raw = true
		p.at++
	}
	first := true
	for first || p.peekByte(0) == '.' && isNameByte(p.peekByte(1)) {
		q := part{start: p.at}
		switch c := p.peekByte(0); {
		case first && c == '.' && isDigit(p.peekByte(1)):
			return p.fail(p.at, p.at+2, "a number starts with a digit", "write 0.5")
		case first && c == '.':
			q.end = p.at
		case first:
			p.name(&q)
			if q.name == "" {
				_, w := utf8.DecodeRuneInString(p.text[p.at:])
				return p.fail(n.start, p.at+w, `no name of a field after "@"`, "")
			}
		default:
			p.at++
			q.start = p.at
			for isNameByte(p.peekByte(0)) {
				p.at++
			}
			if p.peekByte(0) == '#' { // an earlier field of the same name: unk#1
				for p.at++; isDigit(p.peekByte(0)); p.at++ {
				}
			}
			q.name, q.end = p.text[q.start:p.at], p.at
		}
		if p.peekByte(0) == '[' && q.name == "" {
			return p.fail(p.at, p.at+1, "no name before the bracket", "")
		}
		for p.peekByte(0) == '[' {
			if !p.bracket(&q) {
				return n
			}
		}
		n.parts = append(n.parts, q)
		first = false
	}
	if len(n.parts) == 1 && n.parts[0].name == "" {
		return p.fail(n.start, n.start+1, `no name of a field after "."`, "")
	}
	if len(n.parts) > maxDepth {
		return p.fail(n.start, p.at, "a path of more than "+strconv.Itoa(maxDepth)+" names", "")
	}
	n.end = p.at
	p.advance()
	return n
}

// name parses the first name of a path, which may be a pattern. After a reserved word "*" is a multiplication.
func (p *parser) name(q *part) {
	for {
		c := p.peekByte(0)
		if c == '*' || c == '?' {
			if _, reserved := frameFields[p.text[q.start:p.at]]; reserved {
				break
			}
			q.glob = true
		} else if !isNameByte(c) {
			break
		}
		p.at++
	}
	q.name, q.end = p.text[q.start:p.at], p.at
}

// bracket parses [ ] after a name.
func (p *parser) bracket(q *part) bool {
	b := bracket{start: p.at}
	bad := func(message string) bool {
		end := strings.IndexByte(p.text[b.start:], ']')
		if end < 0 {
			end = len(p.text) - b.start - 1
		}
		p.fail(b.start, b.start+end+1, message, "write [3], [*], [4:2] for two from offset 4, [4-5], [:2] for the first two, [-2:] for the last two, or several, [0,4:2]")
		return false
	}
	if len(q.index) >= maxDepth {
		return bad("too many brackets")
	}
	p.at++
	p.space()
	if p.peekByte(0) == '*' {
		p.at++
		b.form = allOf
	} else {
		for first := true; first || p.peekByte(0) == ','; first = false {
			if !first {
				p.at++
				p.space()
			}
			one := bracket{start: b.start}
			if message := p.span(&one); message != "" {
				return bad(message)
			}
			if len(b.more) >= maxDepth {
				return bad("too many parts")
			}
			b.more = append(b.more, one)
			p.space()
		}
		if b.form = several; len(b.more) == 1 {
			b = b.more[0]
		}
	}
	p.space()
	if p.peekByte(0) != ']' {
		return bad(`a "[" without its "]"`)
	}
	p.at++
	b.end = p.at
	q.index = append(q.index, b)
	return true
}

// span parses a place, or a part of a text or of bytes: 4, 4:2, 4-5, 4:, :2, and ":" for all of it. It returns what is wrong.
func (p *parser) span(b *bracket) (wrong string) {
	lost := func() string { return "not understood: " + strconv.Quote(p.text[b.start:min(b.start+20, len(p.text))]) }
	ok := true
	if p.peekByte(0) != ':' {
		if b.at, ok = p.place(); !ok {
			return lost()
		}
		p.space()
	}
	c := p.peekByte(0)
	if c != ':' && c != '-' {
		return ""
	}
	p.at++
	p.space()
	if next := p.peekByte(0); c == ':' && (next == ']' || next == ',') {
		b.form = onward
		return ""
	}
	b.form = length
	if c == '-' {
		b.form = upTo
	}
	switch b.to, ok = p.place(); {
	case !ok:
		return lost()
	case c == ':' && b.to <= 0:
		return "a length of " + strconv.Itoa(b.to)
	case c == '-' && (b.to < 0) != (b.at < 0):
		return "one end is counted from the start, the other from the end"
	case c == '-' && b.to < b.at:
		return "the end is before the start"
	}
	return ""
}

// place parses a number in brackets. With "-" it is counted from the end, which is -1.
func (p *parser) place() (int, bool) {
	sign := 1
	if p.peekByte(0) == '-' {
		sign = -1
		p.at++
	}
	from := p.at
	for isDigit(p.peekByte(0)) || p.peekByte(0)|0x20 == 'x' || isHex(p.peekByte(0)) {
		p.at++
	}
	v, err := strconv.ParseUint(p.text[from:p.at], 0, 26)
	return sign * int(v), err == nil && (sign > 0 || v > 0)
}

// given parses $name, and $sel.path.
func (p *parser) given() *node {
	n := &node{kind: nValue, start: p.tok.start}
	for isNameByte(p.peekByte(0)) {
		p.at++
	}
	n.text = p.text[n.start+1 : p.at]
	n.end = p.at
	if n.text == "" {
		return p.fail(n.start, n.start+1, `no name after "$"`, "")
	}
	if n.text != selected || p.peekByte(0) != '.' {
		p.advance()
		return n
	}
	p.tok = token{kind: tSign, start: p.at, end: p.at + 1, text: "."}
	path := p.path()
	n.parts, n.end = path.parts, path.end
	return n
}

// selected is the name of the selected frame: $sel.path.
const selected = "sel"

// didYouMean returns the help for an unknown word.
func didYouMean(word string, known []string) string {
	if len(word) > 100 {
		return ""
	}
	if best := diag.Nearest(word, known); best != "" {
		return "did you mean " + strconv.Quote(best) + "?"
	}
	return ""
}
