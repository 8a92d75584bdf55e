package filter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The precedence levels of operators, the lowest first.
const (
	levelOr = iota
	levelXor
	levelAnd
	levelNot
	levelCompare
	levelSum
	levelProduct
	levelUnary
	levelAtom
)

func (n *node) level() int {
	switch n.kind {
	case nOr:
		return levelOr
	case nXor:
		return levelXor
	case nAnd:
		return levelAnd
	case nNot:
		return levelNot
	case nCompare, nIn, nContains, nMatches:
		return levelCompare
	case nAdd, nSub:
		return levelSum
	case nMul, nDiv, nMod, nBits:
		return levelProduct
	case nNeg:
		return levelUnary
	}
	if n.quant != quantNone {
		return levelCompare
	}
	return levelAtom
}

// String returns the canonical form of the filter; parsing it yields the same filter.
func (n *node) String() string {
	var b strings.Builder
	n.print(&b, levelOr)
	return b.String()
}

// print writes the node, in parentheses if its precedence is lower than that of its surroundings.
func (n *node) print(b *strings.Builder, level int) {
	own := n.level()
	if own < level {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.quant {
	case quantAny:
		b.WriteString("any ")
	case quantAll:
		b.WriteString("all ")
	}
	between := func(sign string, left, right int) {
		for i, kid := range n.kids {
			if i > 0 {
				b.WriteString(sign)
				left = right
			}
			kid.print(b, left)
		}
	}
	switch n.kind {
	case nOr:
		between(" || ", levelXor, levelXor)
	case nXor:
		between(" xor ", levelAnd, levelAnd)
	case nAnd:
		between(" && ", levelNot, levelNot)
	case nNot:
		b.WriteByte('!')
		n.kids[0].print(b, levelNotInside(n.kids[0]))
	case nCompare:
		between(" "+n.op.String()+" ", levelSum, levelSum)
	case nIn:
		n.kids[0].print(b, levelSum)
		if n.negated {
			b.WriteString(" not")
		}
		b.WriteString(" in {")
		for i, kid := range n.kids[1:] {
			if i > 0 {
				b.WriteString(", ")
			}
			kid.print(b, levelSum)
		}
		b.WriteByte('}')
	case nContains:
		between(" contains ", levelSum, levelSum)
	case nMatches:
		between(" ~ ", levelSum, levelSum)
	case nRange:
		between("..", levelSum, levelSum)
	case nAdd:
		between(" + ", levelSum, levelProduct)
	case nSub:
		between(" - ", levelSum, levelProduct)
	case nMul:
		between(" * ", levelProduct, levelUnary)
	case nDiv:
		between(" / ", levelProduct, levelUnary)
	case nMod:
		between(" % ", levelProduct, levelUnary)
	case nBits:
		between(" & ", levelProduct, levelUnary)
	case nNeg:
		b.WriteByte('-')
		n.kids[0].print(b, levelUnary)
	case nInt:
		b.WriteString(strconv.FormatUint(n.integer, 10))
	case nFloat:
		b.WriteString(floatText(n.float))
	case nText:
		b.WriteString(quote(n.text))
	case nWords:
		b.WriteString(n.text)
	case nBytes:
		n.bytes.print(b)
	case nTrue:
		b.WriteString("true")
	case nFalse:
		b.WriteString("false")
	case nPath:
		if n.raw {
			b.WriteByte('@')
		}
		printParts(b, n.parts)
	case nValue:
		b.WriteString("$" + n.text)
		printParts(b, n.parts)
	case nCall:
		b.WriteString(n.text + "(")
		between(", ", levelSum, levelSum)
		b.WriteByte(')')
		printParts(b, n.parts)
	}
}

// levelNotInside puts comparisons after "!" in parentheses, as people misread them otherwise.
func levelNotInside(n *node) int {
	if n.kind == nNot {
		return levelNot
	}
	return levelSum
}

// floatText returns the shortest text of a float that does not read as an integer.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".") {
		return s
	}
	mantissa, exponent, ok := strings.Cut(s, "e")
	if ok {
		return mantissa + ".0e" + exponent
	}
	return s + ".0"
}

func printParts(b *strings.Builder, parts []part) {
	for i, q := range parts {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(q.name)
		for _, x := range q.index {
			b.WriteByte('[')
			parts := x.more
			if x.form != several {
				parts = []bracket{x}
			}
			for k, one := range parts {
				if k > 0 {
					b.WriteByte(',')
				}
				one.print(b)
			}
			b.WriteByte(']')
		}
	}
}

func (x *bracket) print(b *strings.Builder) {
	switch x.form {
	case oneOf:
		fmt.Fprintf(b, "%d", x.at)
	case allOf:
		b.WriteByte('*')
	case length:
		fmt.Fprintf(b, "%d:%d", x.at, x.to)
	case upTo:
		fmt.Fprintf(b, "%d-%d", x.at, x.to)
	case onward:
		fmt.Fprintf(b, "%d:", x.at)
	}
}

func (p *pattern) print(b *strings.Builder) {
	b.WriteString(`x"`)
	for i, v := range p.value {
		if i > 0 {
			b.WriteByte(' ')
		}
		m := byte(0xff)
		if p.mask != nil {
			m = p.mask[i]
		}
		for _, half := range [...][2]byte{{v >> 4, m >> 4}, {v & 15, m & 15}} {
			if half[1] == 0 {
				b.WriteByte('?')
			} else {
				b.WriteByte("0123456789abcdef"[half[0]])
			}
		}
	}
	b.WriteByte('"')
}

// quote returns a text as a literal of the language.
func quote(s string) string {
	b := []byte{'"'}
	for len(s) > 0 {
		c, n := utf8.DecodeRuneInString(s)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == utf8.RuneError && n == 1 || c < 0x20 || c == 0x7f:
			b = fmt.Appendf(b, `\x%02x`, s[0])
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(append(b, '"'))
}
