package kaitai

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// exKind is the kind of an expression.
type exKind uint8

const (
	exInt exKind = iota
	exFloat
	exStr
	exFormat // a text with values: args, texts and expressions
	exBool
	exName
	exArray
	exEnum   // path, of an enum and its value
	exAttr   // args[0].name
	exCall   // args[0].name(args[1:])
	exIndex  // args[0][args[1]]
	exCast   // args[0].as<path>
	exUnary  // name args[0]
	exBinary // args[0] name args[1]
	exCond   // args[0] ? args[1] : args[2]
	exSizeof // of the type path, in bytes or bits
)

// ex is an expression, with its place in the text.
type ex struct {
	kind     exKind
	from, to int
	name     string
	int      uint64 // of an integer or a truth value
	float    float64
	path     []string
	list     bool // of a type: an array of it
	args     []*ex
}

// The limits of an expression.
const (
	maxExpr      = 1 << 15 // characters
	maxExprDepth = 100
)

// exprError is an error at a place of an expression.
type exprError struct {
	from, to int
	why      string
}

func (e *exprError) Error() string { return e.why }

type tokKind uint8

const (
	tokEnd tokKind = iota
	tokInt
	tokFloat
	tokStr
	tokFormat
	tokName
	tokOp
)

type tok struct {
	kind     tokKind
	from, to int
	text     string // name, operator, or the characters of a text
}

// exprParser parses an expression by precedence climbing.
type exprParser struct {
	text  string
	base  int // added to places
	at    int
	tok   tok
	depth int
}

// parseExpr parses an expression.
func parseExpr(text string) (e *ex, err error) {
	p := &exprParser{text: text}
	return p.whole()
}

func (p *exprParser) whole() (e *ex, err error) {
	x := p.parse(func() {
		p.next()
		e = p.cond()
	})
	switch {
	case x != nil:
		x.from, x.to = x.from+p.base, x.to+p.base
		return nil, x
	case p.base != 0:
		e.shift(p.base)
	}
	return e, nil
}

// parse runs f, and returns an error if it fails or leaves something over.
func (p *exprParser) parse(f func()) (err *exprError) {
	defer func() {
		if r := recover(); r != nil {
			x, ok := r.(*exprError)
			if !ok {
				panic(r)
			}
			err = x
		}
	}()
	if len(p.text) > maxExpr {
		p.fail(0, len(p.text), "the expression is too long")
	}
	f()
	if p.tok.kind != tokEnd {
		p.fail(p.tok.from, p.tok.to, fmt.Sprintf("%q is left over", p.text[p.tok.from:p.tok.to]))
	}
	return nil
}

func (e *ex) shift(by int) {
	e.from, e.to = e.from+by, e.to+by
	for _, a := range e.args {
		a.shift(by)
	}
}

// typeRef is the use of a type: its path and its arguments.
type typeRef struct {
	path []string
	args []*ex
	list bool
}

// parseTypeRef parses the use of a type: a::b(1, x)[].
func parseTypeRef(text string) (t typeRef, err error) {
	p := &exprParser{text: text}
	x := p.parse(func() {
		p.next()
		t.path = p.path()
		if p.is("(") {
			p.next()
			t.args = p.list(")")
		}
		if p.is("[") {
			p.next()
			p.want("]")
			t.list = true
		}
	})
	if x != nil {
		return t, x
	}
	return t, nil
}

func (p *exprParser) fail(from, to int, why string) {
	panic(&exprError{from, to, why})
}

// The operators, longer ones first.
var exprOps = [...]string{"::", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "?", ":", "(", ")", "[", "]", ",", "."}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *exprParser) next() {
	s := p.text
	for p.at < len(s) && strings.IndexByte(" \t\r\n", s[p.at]) >= 0 {
		p.at++
	}
	p.tok = tok{from: p.at, to: p.at}
	if p.at == len(s) {
		return
	}
	start := p.at
	switch c := s[p.at]; {
	case isDigit(c):
		p.number()
	case c == '"' || c == '\'':
		p.str(c)
	case c == 'f' && strings.HasPrefix(s[p.at:], `f"`):
		p.format()
	case isLetter(c):
		for p.at < len(s) && (isLetter(s[p.at]) || isDigit(s[p.at])) {
			p.at++
		}
		p.tok.kind, p.tok.text = tokName, s[start:p.at]
	default:
		i := slices.IndexFunc(exprOps[:], func(op string) bool { return strings.HasPrefix(s[p.at:], op) })
		if i < 0 {
			_, n := utf8.DecodeRuneInString(s[p.at:])
			p.fail(p.at, p.at+n, fmt.Sprintf("unexpected %q", s[p.at:p.at+n]))
		}
		p.tok.kind, p.tok.text = tokOp, exprOps[i]
		p.at += len(exprOps[i])
	}
	p.tok.to = p.at
}

func (p *exprParser) number() {
	s, start := p.text, p.at
	p.tok.kind = tokInt
	digits := func(is func(byte) bool) {
		for p.at < len(s) && (is(s[p.at]) || s[p.at] == '_') {
			p.at++
		}
	}
	if s[p.at] == '0' && p.at+1 < len(s) && strings.IndexByte("xXbBoO", s[p.at+1]) >= 0 {
		p.at += 2
		digits(func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' })
	} else {
		digits(isDigit)
		if p.at+1 < len(s) && s[p.at] == '.' && isDigit(s[p.at+1]) {
			p.tok.kind = tokFloat
			p.at++
			digits(isDigit)
		} else if p.at < len(s) && s[p.at] == '.' && (p.at+1 == len(s) || !isLetter(s[p.at+1])) { // 1.
			p.tok.kind = tokFloat
			p.at++
		}
		if p.at < len(s) && (s[p.at] == 'e' || s[p.at] == 'E') {
			k := p.at + 1
			if k < len(s) && (s[k] == '+' || s[k] == '-') {
				k++
			}
			if k < len(s) && isDigit(s[k]) {
				p.tok.kind = tokFloat
				p.at = k
				digits(isDigit)
			}
		}
	}
	p.tok.text = strings.ReplaceAll(s[start:p.at], "_", "")
}

// str reads a text in quotes: "" with escapes, ” without.
func (p *exprParser) str(quote byte) {
	s, start := p.text, p.at
	p.tok.kind = tokStr
	var out []byte
	for p.at++; ; {
		if p.at >= len(s) {
			p.fail(start, len(s), "the text has no end")
		}
		c := s[p.at]
		p.at++
		switch {
		case c == quote:
			p.tok.text = string(out)
			return
		case c == '\\' && quote == '"':
			out = p.escape(out)
		default:
			out = append(out, c)
		}
	}
}

func (p *exprParser) escape(out []byte) []byte {
	s, start := p.text, p.at-1
	if p.at >= len(s) {
		p.fail(start, len(s), "the text has no end")
	}
	c := s[p.at]
	p.at++
	if i := strings.IndexByte("abtnvfre\"'\\", c); i >= 0 {
		return append(out, "\a\b\t\n\v\f\r\x1b\"'\\"[i])
	}
	switch {
	case c == 'u':
		if p.at+4 <= len(s) {
			if v, err := strconv.ParseUint(s[p.at:p.at+4], 16, 32); err == nil {
				p.at += 4
				return utf8.AppendRune(out, rune(v))
			}
		}
	case c >= '0' && c <= '7':
		from := p.at - 1
		for p.at < len(s) && p.at-from < 3 && s[p.at] >= '0' && s[p.at] <= '7' {
			p.at++
		}
		v, _ := strconv.ParseUint(s[from:p.at], 8, 32)
		return utf8.AppendRune(out, rune(v))
	}
	p.fail(start, p.at, "unknown escape "+s[start:p.at])
	return nil
}

// format reads f"text {expression} text".
func (p *exprParser) format() {
	s, start := p.text, p.at
	p.tok.kind = tokFormat
	for p.at += 2; p.at < len(s) && s[p.at] != '"'; p.at++ {
		switch s[p.at] {
		case '\\':
			p.at++
		case '{':
			for p.at < len(s) && s[p.at] != '}' {
				p.at++
			}
		}
	}
	if p.at >= len(s) {
		p.fail(start, len(s), "the text has no end")
	}
	p.at++
}

// parts parses the parts of f"...".
func (p *exprParser) parts(t tok) *ex {
	e := &ex{kind: exFormat, from: t.from, to: t.to}
	s := p.text
	end := t.to - 1
	var lit []byte
	in := &exprParser{text: s[:end], at: t.from + 2}
	flush := func() {
		if len(lit) > 0 {
			e.args = append(e.args, &ex{kind: exStr, from: t.from, to: t.to, name: string(lit)})
			lit = nil
		}
	}
	for in.at < end {
		c := s[in.at]
		in.at++
		switch c {
		case '\\':
			lit = in.escape(lit)
		case '{':
			flush()
			n := strings.IndexByte(s[in.at:end], '}')
			if n < 0 {
				p.fail(t.from, t.to, `"}" is missing`)
			}
			q := &exprParser{text: s[in.at : in.at+n], base: in.at, depth: p.depth + 1}
			if q.depth > maxExprDepth {
				p.fail(t.from, t.to, "the expression is nested too deeply")
			}
			x, err := q.whole()
			if err != nil {
				panic(err)
			}
			e.args = append(e.args, x)
			in.at += n + 1
		default:
			lit = append(lit, c)
		}
	}
	flush()
	return e
}

func (p *exprParser) is(op string) bool {
	return p.tok.kind == tokOp && p.tok.text == op
}

func (p *exprParser) word(w string) bool {
	return p.tok.kind == tokName && p.tok.text == w
}

func (p *exprParser) want(op string) int {
	if !p.is(op) {
		p.fail(p.tok.from, p.tok.to, fmt.Sprintf("%q is missing", op))
	}
	to := p.tok.to
	p.next()
	return to
}

func (p *exprParser) enter() {
	if p.depth++; p.depth > maxExprDepth {
		p.fail(p.tok.from, p.tok.to, "the expression is nested too deeply")
	}
}

func (p *exprParser) cond() *ex {
	p.enter()
	defer func() { p.depth-- }()
	e := p.binary(0)
	if !p.is("?") {
		return e
	}
	p.next()
	a := p.cond()
	p.want(":")
	b := p.cond()
	return &ex{kind: exCond, from: e.from, to: b.to, args: []*ex{e, a, b}}
}

// binaries are the binary operators by precedence, the weakest first. Between and and comparisons is not.
var binaries = [...][]string{
	{"or"}, {"and"}, {"not"}, {"<", "<=", ">", ">=", "==", "!="}, {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

func (p *exprParser) binary(level int) *ex {
	if level == len(binaries) {
		return p.unary()
	}
	ops := binaries[level]
	if ops[0] == "not" {
		if !p.word("not") {
			return p.binary(level + 1)
		}
		p.enter()
		defer func() { p.depth-- }()
		from := p.tok.from
		p.next()
		x := p.binary(level)
		return &ex{kind: exUnary, name: "not", from: from, to: x.to, args: []*ex{x}}
	}
	e := p.binary(level + 1)
	for n := 0; (p.tok.kind == tokOp || p.tok.kind == tokName) && slices.Contains(ops, p.tok.text); n++ {
		if n > 500 {
			p.fail(p.tok.from, p.tok.to, "the expression is too long")
		}
		op := p.tok.text
		p.next()
		x := p.binary(level + 1)
		e = &ex{kind: exBinary, name: op, from: e.from, to: x.to, args: []*ex{e, x}}
	}
	return e
}

func (p *exprParser) unary() *ex {
	p.enter()
	defer func() { p.depth-- }()
	if p.is("-") || p.is("+") || p.is("~") {
		op, from := p.tok.text, p.tok.from
		p.next()
		x := p.unary()
		if op == "+" {
			return x
		}
		return &ex{kind: exUnary, name: op, from: from, to: x.to, args: []*ex{x}}
	}
	return p.postfix()
}

func (p *exprParser) postfix() *ex {
	e := p.primary()
	for n := 0; ; n++ {
		if n > maxExprDepth {
			p.fail(p.tok.from, p.tok.to, "the expression is nested too deeply")
		}
		switch {
		case p.is("."):
			p.next()
			if p.tok.kind != tokName {
				p.fail(p.tok.from, p.tok.to, "a name is missing")
			}
			name, to := p.tok.text, p.tok.to
			p.next()
			switch {
			case name == "as" && p.is("<"):
				path, list, to := p.typeIn()
				e = &ex{kind: exCast, from: e.from, to: to, path: path, list: list, args: []*ex{e}}
			case p.is("("):
				p.next()
				args := p.list(")")
				e = &ex{kind: exCall, name: name, from: e.from, to: p.last(), args: append([]*ex{e}, args...)}
			default:
				e = &ex{kind: exAttr, name: name, from: e.from, to: to, args: []*ex{e}}
			}
		case p.is("["):
			p.next()
			i := p.cond()
			to := p.want("]")
			e = &ex{kind: exIndex, from: e.from, to: to, args: []*ex{e, i}}
		default:
			return e
		}
	}
}

// last returns the end of what was read before the current token.
func (p *exprParser) last() int {
	return len(strings.TrimRight(p.text[:p.tok.from], " \t\r\n"))
}

// typeIn parses <a::b[]>.
func (p *exprParser) typeIn() (path []string, list bool, to int) {
	p.want("<")
	path = p.path()
	if p.is("[") {
		p.next()
		p.want("]")
		list = true
	}
	if p.is(">>") { // as in sizeof<x>>1
		p.tok.text, p.tok.from = ">", p.tok.from+1
		return path, list, p.tok.from
	}
	return path, list, p.want(">")
}

func (p *exprParser) path() (path []string) {
	if p.is("::") {
		p.next()
	}
	for {
		if p.tok.kind != tokName {
			p.fail(p.tok.from, p.tok.to, "a name is missing")
		}
		path = append(path, p.tok.text)
		p.next()
		if !p.is("::") {
			return path
		}
		p.next()
	}
}

// list parses expressions up to a bracket.
func (p *exprParser) list(end string) (out []*ex) {
	for !p.is(end) {
		out = append(out, p.cond())
		if !p.is(end) {
			p.want(",")
		}
	}
	p.want(end)
	return out
}

func (p *exprParser) primary() *ex {
	t := p.tok
	e := &ex{from: t.from, to: t.to}
	switch {
	case t.kind == tokInt:
		v, ok := new(big.Int).SetString(t.text, 0)
		if !ok {
			v, ok = new(big.Int).SetString(t.text, 10)
		}
		if !ok || v.BitLen() > 64 {
			p.fail(t.from, t.to, "an integer of more than 64 bits, or malformed")
		}
		e.int = v.Uint64()
		p.next()
	case t.kind == tokFloat:
		e.kind = exFloat
		v, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			p.fail(t.from, t.to, "a malformed number")
		}
		e.float = v
		p.next()
	case t.kind == tokStr:
		e.kind, e.name = exStr, t.text
		p.next()
		for p.tok.kind == tokStr { // texts side by side are one
			e.name += p.tok.text
			e.to = p.tok.to
			p.next()
		}
	case t.kind == tokFormat:
		e = p.parts(t)
		p.next()
	case p.is("("):
		p.next()
		e = p.cond()
		p.want(")")
	case p.is("["):
		p.next()
		e.kind, e.args = exArray, p.list("]")
		e.to = p.last()
	case p.is("::"):
		e.kind, e.path = exEnum, p.path()
		e.to = p.last()
	case t.kind == tokName && (t.text == "true" || t.text == "false"):
		e.kind = exBool
		if t.text == "true" {
			e.int = 1
		}
		p.next()
	case t.kind == tokName && (t.text == "sizeof" || t.text == "bitsizeof"):
		p.next()
		e.kind, e.name = exSizeof, t.text
		if !p.is("<") {
			p.fail(t.from, t.to, "a type in angle brackets is missing")
		}
		e.path, e.list, e.to = p.typeIn()
	case t.kind == tokName:
		p.next()
		if !p.is("::") {
			e.kind, e.name = exName, t.text
			break
		}
		p.next()
		e.kind, e.path = exEnum, append([]string{t.text}, p.path()...)
		e.to = p.last()
	default:
		p.fail(t.from, max(t.to, min(t.from+1, len(p.text))), "a value is missing")
	}
	return e
}
