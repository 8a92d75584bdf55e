package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"wirebench/codec/value"
)

// Values that rules compute from the message: arithmetic, and texts by regular expressions.

// Bounds of computed values.
const (
	maxComputed = 500 // bytes of an expression, and of a regular expression
	maxNested   = 32
)

// computation is arithmetic on numbers of a message: old * 2 + .level. Integers are exact, however large; a division truncates unless a
// number has a point.
type computation struct {
	text string
	at   int
	deep int
}

// evaluate computes an expression. old is the present value of the field, and field returns that of a path.
func evaluate(text string, old json.RawMessage, field func(path string) (json.RawMessage, error)) (json.RawMessage, error) {
	if len(text) > maxComputed {
		return nil, fmt.Errorf("an expression of more than %d bytes", maxComputed)
	}
	c := &computation{text: text}
	number := func(raw json.RawMessage, of string) (*big.Rat, error) {
		s := strings.Trim(string(raw), `"`) // 64-bit integers are texts
		r, ok := new(big.Rat).SetString(s)
		if !ok || len(s) > 60 || strings.ContainsAny(s, "/xX") {
			return nil, fmt.Errorf("%s is %s, which is not a number", of, clip(string(raw)))
		}
		return r, nil
	}
	v, err := c.sum(func(name string) (*big.Rat, error) {
		if name == "old" {
			return number(old, "the value")
		}
		raw, err := field(strings.TrimPrefix(name, "."))
		if err != nil {
			return nil, err
		}
		return number(raw, name)
	})
	if err == nil && c.peek() != 0 {
		err = fmt.Errorf("unexpected %q", c.text[c.at:])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clip(text), err)
	}
	if v.IsInt() {
		return json.RawMessage(v.Num().String()), nil
	}
	f, _ := v.Float64()
	if math.IsInf(f, 0) {
		return nil, fmt.Errorf("%s: the result is too large", clip(text))
	}
	return json.RawMessage(strconv.FormatFloat(f, 'g', -1, 64)), nil
}

func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

func (c *computation) peek() byte {
	for c.at < len(c.text) && strings.IndexByte(" \t", c.text[c.at]) >= 0 {
		c.at++
	}
	if c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

func (c *computation) sum(of func(string) (*big.Rat, error)) (*big.Rat, error) {
	v, err := c.product(of)
	for err == nil {
		sign := c.peek()
		if sign != '+' && sign != '-' {
			break
		}
		c.at++
		var w *big.Rat
		if w, err = c.product(of); err == nil {
			if sign == '-' {
				w = new(big.Rat).Neg(w)
			}
			v = new(big.Rat).Add(v, w)
		}
	}
	return v, err
}

var errByZero = errors.New("a division by zero")

func (c *computation) product(of func(string) (*big.Rat, error)) (*big.Rat, error) {
	v, err := c.atom(of)
	for err == nil {
		sign := c.peek()
		if sign != '*' && sign != '/' && sign != '%' {
			break
		}
		c.at++
		w, werr := c.atom(of)
		switch {
		case werr != nil:
			return nil, werr
		case sign == '*':
			v = new(big.Rat).Mul(v, w)
		case w.Sign() == 0:
			return nil, errByZero
		case !v.IsInt() || !w.IsInt():
			if sign == '%' {
				return nil, errors.New("a remainder of numbers with a fraction")
			}
			v = new(big.Rat).Quo(v, w)
		case sign == '/':
			v = new(big.Rat).SetInt(new(big.Int).Quo(v.Num(), w.Num()))
		default:
			v = new(big.Rat).SetInt(new(big.Int).Rem(v.Num(), w.Num()))
		}
		if v.Num().BitLen() > 2048 || v.Denom().BitLen() > 2048 {
			return nil, errors.New("the result is too large")
		}
	}
	return v, err
}

var (
	literalNumber = regexp.MustCompile(`^(0x[0-9a-fA-F]{1,16}|[0-9]{1,20}(\.[0-9]{1,20})?)`)
	operand       = regexp.MustCompile(`^(old\b|\.[A-Za-z0-9_.\[\]]+)`)
)

func (c *computation) atom(of func(string) (*big.Rat, error)) (*big.Rat, error) {
	if c.deep++; c.deep > maxNested {
		return nil, fmt.Errorf("nested deeper than %d", maxNested)
	}
	defer func() { c.deep-- }()
	switch first := c.peek(); first {
	case '-':
		c.at++
		v, err := c.atom(of)
		if err != nil {
			return nil, err
		}
		return new(big.Rat).Neg(v), nil
	case '(':
		c.at++
		v, err := c.sum(of)
		if err == nil && c.peek() != ')' {
			err = errors.New(`a "(" without its ")"`)
		}
		c.at++
		return v, err
	}
	rest := c.text[c.at:]
	if s := literalNumber.FindString(rest); s != "" {
		c.at += len(s)
		if strings.HasPrefix(s, "0x") {
			n, _ := strconv.ParseUint(s[2:], 16, 64)
			return new(big.Rat).SetInt(new(big.Int).SetUint64(n)), nil
		}
		v, _ := new(big.Rat).SetString(s)
		return v, nil
	}
	if s := operand.FindString(rest); s != "" {
		c.at += len(s)
		return of(s)
	}
	if rest == "" {
		return nil, errors.New("the expression is not complete")
	}
	return nil, fmt.Errorf("unexpected %q: write numbers, old for the present value, and .field for another one", clip(rest))
}

// replaceText returns a JSON text in which matches of a regular expression are replaced; $1 is the first group.
func replaceText(pattern *regexp.Regexp, old json.RawMessage, with string) (json.RawMessage, error) {
	var s string
	if err := json.Unmarshal(old, &s); err != nil {
		return nil, fmt.Errorf("the value is %s, which is not text", clip(string(old)))
	}
	return json.Marshal(pattern.ReplaceAllString(s, with))
}

// fieldsOf returns a function that reads values by their paths in the JSON text of a message.
func fieldsOf(text []byte) func(path string) (json.RawMessage, error) {
	return func(path string) (json.RawMessage, error) {
		at, err := value.FindJSON(value.Unshare(text, path), path)
		if err != nil {
			return nil, err
		}
		text := value.Unshare(text, path)
		return json.RawMessage(text[at.From:at.To]), nil
	}
}
