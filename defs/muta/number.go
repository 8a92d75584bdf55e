package muta

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"wirebench/defs/text"
)

// number is the value of a constant or of a literal: an integer, or a float.
type number struct {
	whole *big.Int // nil if it is a float
	float float64
}

// asFloat returns the number as a float.
func (n number) asFloat() float64 {
	if n.whole == nil {
		return n.float
	}
	f, _ := new(big.Float).SetInt(n.whole).Float64()
	return f
}

// String returns the shortest decimal text that round-trips.
func (n number) String() string {
	if n.whole == nil {
		return strconv.FormatFloat(n.float, 'g', -1, 64)
	}
	return n.whole.String()
}

// maxWholeBits limits the size of integers during evaluation.
const maxWholeBits = 128

// literal parses a number in the syntax of definitions: decimal or 0x, with an optional sign; with "." or an exponent it is a float.
func literal(text string) (number, error) {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || len(text) > 64 || strings.Contains(digits, "_") {
		return number{}, errNoNumber
	}
	lower := strings.ToLower(digits)
	if hex, ok := strings.CutPrefix(lower, "0x"); ok {
		return wholeNumber(text, hex, 16)
	}
	if strings.Trim(lower, "0123456789") == "" && lower != "" {
		if len(lower) > 1 && lower[0] == '0' {
			return number{}, errOctal
		}
		return wholeNumber(text, lower, 10)
	}
	if strings.Trim(lower, "0123456789.e+-") != "" {
		return number{}, errNoNumber // including "inf" and "nan"
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return number{}, errNoNumber
	}
	return number{float: f}, nil
}

var (
	errNoNumber = errors.New("is not a number")
	errOctal    = errors.New("starts with 0, which means octal in C")
	errTooLarge = errors.New("is too large")
	errNesting  = errors.New("has too many brackets")
	errZero     = errors.New("divides by zero")
	errCycle    = errors.New("depends on itself, or on too many others")
)

func wholeNumber(text, digits string, base int) (number, error) {
	n, ok := new(big.Int).SetString(digits, base)
	switch {
	case !ok || strings.ContainsAny(digits, "+-"):
		return number{}, errNoNumber
	case n.BitLen() > maxWholeBits:
		return number{}, errTooLarge
	case text[0] == '-':
		n.Neg(n)
	}
	return number{whole: n}, nil
}

// missing is the error of an expression that depends on a constant without a value.
type missing struct{ name string }

func (m missing) Error() string { return fmt.Sprintf("depends on the constant %q", m.name) }

// evaluate computes a C constant expression: integers in the bases of C except octal, with C's suffixes, floats, names, + - * / % << >> & ^
// | ~ and parentheses. Unlike in C, integers do not overflow.
func evaluate(text string, lookup func(name string) (number, error)) (number, error) {
	e := evaluator{text: text, lookup: lookup}
	n, err := e.binary(0)
	if err != nil {
		return number{}, err
	}
	if e.i < len(e.text) {
		return number{}, errNoNumber
	}
	return n, nil
}

type evaluator struct {
	text   string
	i      int
	depth  int
	lookup func(name string) (number, error)
}

// levels are the operators by precedence, lowest first.
var levels = [...][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (e *evaluator) space() {
	for e.i < len(e.text) && text.IsBlank(e.text[e.i]) {
		e.i++
	}
}

func (e *evaluator) binary(level int) (number, error) {
	if level == len(levels) {
		return e.unary()
	}
	left, err := e.binary(level + 1)
	for err == nil {
		op := e.operator(level)
		if op == "" {
			return left, nil
		}
		var right number
		if right, err = e.binary(level + 1); err == nil {
			left, err = apply(op, left, right)
		}
	}
	return number{}, err
}

// operator consumes and returns an operator of the level, or returns "".
func (e *evaluator) operator(level int) string {
	e.space()
	for _, op := range levels[level] {
		if strings.HasPrefix(e.text[e.i:], op) {
			e.i += len(op)
			return op
		}
	}
	return ""
}

func apply(op string, a, b number) (number, error) {
	if a.whole == nil || b.whole == nil {
		return applyFloat(op, a.asFloat(), b.asFloat())
	}
	x, y, out := a.whole, b.whole, new(big.Int)
	switch op {
	case "|":
		out.Or(x, y)
	case "^":
		out.Xor(x, y)
	case "&":
		out.And(x, y)
	case "+":
		out.Add(x, y)
	case "-":
		out.Sub(x, y)
	case "*":
		out.Mul(x, y)
	case "/", "%":
		switch {
		case y.Sign() == 0:
			return number{}, errZero
		case op == "/":
			out.Quo(x, y)
		default:
			out.Rem(x, y)
		}
	default:
		if !y.IsUint64() || y.Uint64() > maxWholeBits {
			return number{}, errTooLarge
		}
		if op == "<<" {
			out.Lsh(x, uint(y.Uint64()))
		} else {
			out.Rsh(x, uint(y.Uint64()))
		}
	}
	if out.BitLen() > maxWholeBits {
		return number{}, errTooLarge
	}
	return number{whole: out}, nil
}

func applyFloat(op string, x, y float64) (number, error) {
	var f float64
	switch op {
	case "+":
		f = x + y
	case "-":
		f = x - y
	case "*":
		f = x * y
	case "/":
		if y == 0 {
			return number{}, errZero
		}
		f = x / y
	default:
		return number{}, errNoNumber
	}
	if math.IsInf(f, 0) {
		return number{}, errTooLarge
	}
	return number{float: f}, nil
}

// unary evaluates a number, a name or a parenthesized expression, with optional signs.
func (e *evaluator) unary() (number, error) {
	const most = 64
	if e.depth++; e.depth > most {
		return number{}, errNesting
	}
	defer func() { e.depth-- }()
	e.space()
	if e.i == len(e.text) {
		return number{}, errNoNumber
	}
	switch c := e.text[e.i]; c {
	case '+', '-', '~':
		e.i++
		n, err := e.unary()
		switch {
		case err != nil || c == '+':
		case c == '~' && n.whole == nil:
			return number{}, errNoNumber
		case c == '~':
			n.whole = new(big.Int).Not(n.whole)
		case n.whole == nil:
			n.float = -n.float
		default:
			n.whole = new(big.Int).Neg(n.whole)
		}
		return n, err
	case '(':
		e.i++
		n, err := e.binary(0)
		if err != nil {
			return number{}, err
		}
		if e.i == len(e.text) || e.text[e.i] != ')' {
			return number{}, errNoNumber
		}
		e.i++
		return n, nil
	}
	start := e.i
	for e.i < len(e.text) && e.inWord(start) {
		e.i++
	}
	word := e.text[start:e.i]
	if text.IsName(word) {
		return e.lookup(word)
	}
	return literal(withoutSuffix(word))
}

// inWord reports whether the byte at e.i continues the word that begins at start. A sign does after the "e" of a float.
func (e *evaluator) inWord(start int) bool {
	c := e.text[e.i]
	if text.IsNameByte(c) || c == '.' {
		return true
	}
	word := strings.ToLower(e.text[start:e.i])
	return (c == '+' || c == '-') && strings.HasSuffix(word, "e") && !strings.HasPrefix(word, "0x") && word[0] <= '9'
}

// withoutSuffix returns a C literal without its type suffix.
func withoutSuffix(word string) string {
	lower := strings.ToLower(word)
	if strings.HasPrefix(lower, "0x") {
		return strings.TrimRight(word, "uUlL")
	}
	if strings.ContainsAny(lower, ".e") {
		return strings.TrimRight(word, "fFlL")
	}
	return strings.TrimRight(word, "uUlL")
}
