package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// side compiles an expression with its leaves.
func (c *compiler) side(n *node) (*side, ty, outcome) {
	s := &side{}
	e, t, out := c.expr(n, s)
	s.root = e
	s.settle(e)
	return s, t, out
}

// slots returns the number of slots that the evaluation of a side takes.
func (s *side) slots() int { return len(s.leaves) + s.inner }

// settle puts the slots of the sides inside after those of the leaves, which are all known now.
func (s *side) settle(e *expr) {
	if e == nil {
		return
	}
	if e.most != nil {
		for i := range e.most.slots {
			e.most.slots[i] += len(s.leaves)
		}
	}
	s.settle(e.kids[0])
	s.settle(e.kids[1])
}

func (c *compiler) expr(n *node, s *side) (*expr, ty, outcome) {
	c.conds++
	switch n.kind {
	case nPath:
		return c.path(n, s)
	case nValue:
		if len(n.parts) > 0 {
			return c.selectedValue(n, s)
		}
	case nAdd, nSub, nMul, nDiv, nMod, nBits:
		return c.arithmetic(n, s)
	case nNeg:
		if !c.isLiteral(n) {
			e, t, out := c.number(n.kids[0], s)
			zero := &expr{op: xConst, val: intValue(0)}
			return &expr{op: xArith, kind: nSub, kids: [2]*expr{zero, e}}, ty{class: t.class}, out
		}
	case nCall:
		if !c.isLiteral(n) {
			return c.call(n, s)
		}
	case nOr, nXor, nAnd, nNot, nCompare, nIn, nContains, nMatches:
		return nil, ty{}, c.mistake(n, "a condition where a value is needed", "")
	}
	v, t, out := c.plain(n)
	return &expr{op: xConst, val: v}, t, out
}

// number compiles an expression that must be a number.
func (c *compiler) number(n *node, s *side) (*expr, ty, outcome) {
	e, t, out := c.expr(n, s)
	if out == fine && t.class != cNumber && t.class != cSpan && t.class != cBool {
		help := ""
		if t.class == cBytes {
			help = "write u32le(...) to read bytes as a number"
		}
		return nil, t, c.mistake(n, t.says(), help)
	}
	return e, t, out
}

func (c *compiler) arithmetic(n *node, s *side) (*expr, ty, outcome) {
	a, t, out := c.number(n.kids[0], s)
	if out != fine {
		return nil, t, out
	}
	b, u, out := c.number(n.kids[1], s)
	if out != fine {
		return nil, u, out
	}
	if n.kind == nBits {
		for i, x := range [...]ty{t, u} {
			if x.class == cSpan || x.num != nil && (x.num.Kind == schema.Float || x.num.Scale != 0) {
				return nil, x, c.mistake(n.kids[i], x.says()+" with a fraction", `"&" takes integers`)
			}
		}
	}
	return &expr{op: xArith, kind: n.kind, kids: [2]*expr{a, b}}, ty{class: cNumber}, fine
}

// path compiles a field.
func (c *compiler) path(n *node, s *side) (*expr, ty, outcome) {
	info := c.classify(n)
	switch info.kind {
	case pathFrame:
		return c.frameField(n, info, s)
	case pathCode:
		return c.groupCode(n)
	case pathLayer:
		return c.layerPath(n, info, s)
	case pathInFields:
	default:
		return nil, ty{}, c.mistake(n, strconv.Quote(n.String())+" has no value", "name one of its fields")
	}
	f, out := c.field(n, c.whole == n)
	if out != fine {
		return nil, ty{}, out
	}
	if n.raw {
		for i := range f.targets {
			if f.targets[i].conv != spanConv {
				f.targets[i].conv = &conv{kind: convRaw}
			}
		}
		f.t = ty{class: cBytes, label: f.t.label}
	}
	l := &leaf{sites: c.sites(f.targets)}
	if len(l.sites) == 0 {
		return nil, f.t, absent
	}
	s.needs = true
	return sliced(s.leaf(l), f.t, f.slice)
}

// sliced selects a part of a text or of bytes. One byte is a number.
func sliced(e *expr, t ty, b *bracket) (*expr, ty, outcome) {
	if b == nil {
		return e, t, fine
	}
	x := &expr{op: xSlice, kids: [2]*expr{e}, slice: *b}
	t.num, t.address = nil, false
	if b.form == oneOf && t.class == cBytes {
		x.op = xByte
		t.class = cNumber
	}
	return x, t, fine
}

// field resolves a path in the current message.
func (c *compiler) field(n *node, whole bool) (found, outcome) {
	m := c.shape()
	if m == nil || m.Body == nil {
		return found{}, absent
	}
	rest, ok := c.inMessage(n.parts, m)
	if !ok || !mentions(n, rest, m) {
		return found{}, absent
	}
	p := c.program(m)
	if p == nil {
		c.classify(n).found = true // the message cannot be decoded, which is not a mistake of the filter
		return found{}, absent
	}
	f, why := c.resolve(n, rest, p, whole)
	if why != nil {
		if why.message != "" {
			c.classify(n).found = true
			q := &rest[why.part]
			start, end := q.start, q.end
			if why.bracket != nil {
				start, end = why.bracket.start, why.bracket.end
			}
			return f, c.mistakeAt(start, end, why.message, why.help)
		}
		return f, absent
	}
	c.classify(n).found = true
	for _, t := range f.targets {
		c.columns[string(p.AppendFieldPath(nil, t.field))] = true
	}
	return f, fine
}

// sites returns the positions of fields in the program of the current message.
func (c *compiler) sites(targets []target) []siteConv {
	p := c.program(c.shape())
	var out []siteConv
	for _, t := range targets {
		if s, ok := t.site(p); ok {
			out = append(out, siteConv{s, t.conv})
		}
	}
	return out
}

func (c *compiler) frameField(n *node, info *pathInfo, s *side) (*expr, ty, outcome) {
	about := &frameInfo[info.field]
	t := ty{class: about.class, words: about.words, free: about.class == cText, label: about.name}
	e := &expr{op: xFrame, field: info.field}
	switch info.field {
	case ffName:
		e.op = xCodeName
		if c.message != nil {
			e = &expr{op: xConst, val: textValue([]byte(c.message.Name))}
		}
	case ffVer:
		if c.message == nil {
			return nil, t, absent
		}
		e = &expr{op: xConst, val: intValue(int64(c.message.Version))}
	case ffBuild:
		v, ok := c.env.Values["build"]
		if !ok {
			return nil, t, c.noBuild(n)
		}
		x, ok := parseNumber(v)
		if !ok {
			return nil, t, c.mistake(n, "the build is "+strconv.Quote(v)+", which is not a number", "")
		}
		e = &expr{op: xConst, val: x}
	case ffState, ffStatus:
		e.op = xState
		if info.field == ffStatus {
			e.op = xStatus
		}
		s.state = true
	case ffErr:
		e = s.leaf(&leaf{kind: leafErrors})
		s.state = true
	case ffInfo:
		l := &leaf{kind: leafInfo, sites: c.texts()}
		e = s.leaf(l)
		s.needs = s.needs || len(l.sites) > 0
	case ffTag:
		e = s.leaf(&leaf{kind: leafTags})
	case ffVia:
		e = s.leaf(&leaf{kind: leafVia})
	case ffFrom:
		e = s.leaf(&leaf{kind: leafFrom})
	case ffIP:
		t.address = true
		e = s.leaf(&leaf{kind: leafIP})
	case ffPort:
		e = s.leaf(&leaf{kind: leafPort})
	case ffOp:
		t.codes = true
	case ffSrcIP, ffDstIP:
		e.op, t.address = xFrameText, true
	default:
		if about.class == cText {
			e.op = xFrameText
		}
	}
	if n.raw && t.class != cBytes {
		return nil, t, c.mistake(n, strconv.Quote(about.name)+" has no bytes of its own", `"@" must precede a field of a message`)
	}
	q := &n.parts[0]
	switch {
	case len(q.index) == 0:
		return e, t, fine
	case len(q.index) > 1 || q.index[0].form == allOf || t.class != cText && t.class != cBytes:
		return nil, t, c.mistakeAt(q.index[0].start, q.index[len(q.index)-1].end, t.says(), "brackets take one part of text or bytes")
	}
	return sliced(e, t, &q.index[0])
}

// texts returns the sites of all texts of the current message.
func (c *compiler) texts() []siteConv {
	p := c.program(c.message)
	if p == nil {
		return nil
	}
	var targets []target
	for i := range p.Fields {
		if t, conv := typeOf(p.Fields[i].Schema); t.class == cText {
			targets = append(targets, target{uint16(i), nil, conv, c.everywhere(p, uint16(i))})
			c.columns[string(p.AppendFieldPath(nil, uint16(i)))] = true
		}
	}
	return c.sites(targets)
}

// everywhere returns the start of the hits that are all values of a field.
func (c *compiler) everywhere(p *codec.Program, field uint16) int {
	for f := p.Fields[field].Parent; f >= 0; f = p.Fields[f].Parent {
		if of, called := p.Called(uint16(f)); called && int(of) == f {
			return f + 1
		}
	}
	return 0
}

// groupCode compiles the code of a message, if the frame is of the group.
func (c *compiler) groupCode(n *node) (*expr, ty, outcome) {
	c.classify(n).found = true
	t := ty{class: cNumber, label: n.String(), codes: true, group: n.parts[0].name}
	if c.message == nil {
		return nil, t, absent
	}
	if c.message.Key.Group != n.parts[0].name {
		return nil, t, absent
	}
	return &expr{op: xFrame, field: ffOp}, t, fine
}

// call compiles a function whose argument is not a literal, or a part of its value.
func (c *compiler) call(n *node, s *side) (*expr, ty, outcome) {
	e, t, out := c.called(n, s)
	if out != fine || len(n.parts) == 0 {
		return e, t, out
	}
	if b := n.parts[0].index; len(b) > 1 || b[0].form == allOf || t.class != cText && t.class != cBytes {
		return nil, t, c.mistakeAt(b[0].start, b[len(b)-1].end, t.says(), "brackets take one part of text or bytes")
	}
	return sliced(e, t, &n.parts[0].index[0])
}

func (c *compiler) called(n *node, s *side) (*expr, ty, outcome) {
	f := functions[n.text]
	if out := c.arguments(n, f); out != fine {
		return nil, ty{}, out
	}
	arg := n.kids[0]
	if n.text == "max" || n.text == "min" {
		return c.extreme(n, s)
	}
	if n.text == "count" || n.text == "len" && !arg.raw {
		if e, out, done := c.countOf(n, arg, s); done {
			return e, ty{class: cNumber, label: n.String()}, out
		}
	}
	if n.text == "len" {
		c.whole = arg // lists were counted: this is a text, or bytes
	}
	e, t, out := c.expr(arg, s)
	if out != fine {
		return nil, t, out
	}
	x := &expr{kids: [2]*expr{e}}
	back := ty{class: cNumber, label: n.String()}
	want := func(classes ...class) outcome {
		if slices.Contains(classes, t.class) {
			return fine
		}
		return c.mistake(arg, t.says(), n.text+" takes "+classNames(classes))
	}
	switch {
	case n.text == "len":
		x.op, out = xLen, want(cText, cBytes)
	case n.text == "lower" || n.text == "upper":
		x.op, out, back.class = xLower, want(cText), cText
		if n.text == "upper" {
			x.op = xUpper
		}
	case n.text == "hex":
		x.op, out, back.class = xHex, want(cNumber, cBytes), cText
		if out == fine && t.num != nil && (t.num.Kind == schema.Float || t.num.Scale != 0) {
			out = c.mistake(arg, t.says()+" with a fraction", "hex takes integers and bytes")
		}
	case n.text == "abs":
		x.op, out, back.class = xAbs, want(cNumber, cSpan), t.class
		if t.num != nil && t.num.Kind == schema.Float {
			back.num = t.num // for the width of literals
		}
	case n.text == "string":
		back.class = cText
		if t.address {
			return e, back, fine
		}
		x.op = xDigits
		if t.class != cNumber || t.num != nil && (t.num.Kind == schema.Float || t.num.Scale != 0) {
			out = c.mistake(arg, t.says(), "string takes integers and addresses, as in Wireshark")
		}
	case n.text == "utf16":
		x.op, out, back.class = xUTF16, want(cText), cBytes
	case n.text == "utf8":
		if out, back.class = want(cText), cBytes; out == fine {
			return nil, t, c.mistake(n, "utf8 takes a text literal", "")
		}
	case f.read.size > 0:
		x.op, x.read, out = xRead, f.read, want(cBytes)
		if out == fine && len(n.kids) > 1 {
			out = c.mistake(n.kids[1], "only searches for floats have a tolerance", "")
		}
	}
	return x, back, out
}

// extreme compiles the greatest or least of the values of all arguments. One that the message does not have does not count.
func (c *compiler) extreme(n *node, s *side) (*expr, ty, outcome) {
	x := &expr{op: xMost, most: &extreme{order: opGt}}
	if n.text == "min" {
		x.most.order = opLt
	}
	var t ty
	for _, kid := range n.kids {
		inner, u, out := c.side(kid)
		switch {
		case out == absent:
			continue
		case out != fine:
			return nil, u, out
		case u.class == cBool:
			u.class = cNumber
		case u.class != cNumber && u.class != cSpan && u.class != cTime:
			return nil, u, c.mistake(kid, u.says(), n.text+" takes numbers and times")
		}
		if t.class != cNone && t.class != u.class {
			return nil, u, c.mistake(kid, u.says()+", and "+t.says(), n.text+" takes values of one kind")
		}
		t = ty{class: u.class, label: u.label}
		if len(n.kids) == 1 && u.num != nil && u.num.Kind == schema.Float {
			t.num = u.num
		}
		x.most.sides, x.most.slots = append(x.most.sides, inner), append(x.most.slots, s.inner)
		s.inner += inner.slots()
		s.state, s.needs = s.state || inner.state, s.needs || inner.needs
	}
	if t.class == cNone {
		return nil, t, absent
	}
	t.label = n.String()
	return x, t, fine
}

func classNames(classes []class) string {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = c.String()
	}
	return strings.Join(names, " or ")
}

func (c *compiler) arguments(n *node, f functionInfo) outcome {
	if len(n.kids) >= f.args && len(n.kids) <= f.most {
		return fine
	}
	count := map[int]string{1: "one value", 2: "one or two values"}[f.most]
	if count == "" {
		count = fmt.Sprintf("one value to %d", f.most)
	}
	return c.mistake(n, n.text+" takes "+count, f.doc)
}

// countOf compiles the number of values of a field, or of the elements of a list. done is false for other arguments.
func (c *compiler) countOf(n, arg *node, s *side) (e *expr, out outcome, done bool) {
	if arg.kind != nPath || c.classify(arg).kind != pathInFields {
		if n.text == "len" {
			return nil, fine, false
		}
		if e, ok := c.countFrame(arg); ok {
			return e, fine, true
		}
		return nil, c.mistake(arg, "count takes a field of a message, via or from", ""), true
	}
	c.counted = nil
	if n.text == "count" {
		c.counted = arg
	}
	f, out := c.field(arg, true)
	if out != fine {
		return nil, out, true
	}
	if n.text == "len" && f.t.class != cList {
		return nil, fine, false
	}
	sites := c.sites(f.targets)
	if len(sites) == 0 {
		return nil, absent, true
	}
	s.needs = true
	if n.text == "count" {
		return &expr{op: xCount, sites: sites}, fine, true
	}
	return s.leaf(&leaf{sites: sites}), fine, true
}
