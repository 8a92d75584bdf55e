package filter

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// compiler makes conditions of a tree, for each message its own.
type compiler struct {
	env          Env
	messages     []*schema.Message
	messageNames map[string]bool
	groups       map[string]bool

	paths    map[*node]*pathInfo
	tries    map[*node]*try // by comparison
	fixed    map[*node]*cond
	regexps  map[*node]*regexp.Regexp
	programs map[*schema.Message]*codec.Program
	columns  map[string]bool // of the message at hand
	mistakes []Mistake
	variety  map[*node]bool
	conds    int

	message *schema.Message // at hand; nil: frames without a definition
	at      *node           // the comparison, or the item of a set, at hand
	subject *node           // what it is compared with
	sel     *codec.Record   // the selected frame, once it was needed
}

// try is how a comparison fared in the messages so far.
type try struct {
	ok      bool // one understood it
	mistake *Mistake
}

// outcome is what became of a part of a filter in one message.
type outcome uint8

const (
	fine   outcome = iota
	absent         // the message has no such field
	failed         // a mistake was noted
)

func newCompiler(env Env) *compiler {
	c := &compiler{
		env: env, messageNames: map[string]bool{}, groups: map[string]bool{}, paths: map[*node]*pathInfo{}, tries: map[*node]*try{},
		fixed: map[*node]*cond{}, regexps: map[*node]*regexp.Regexp{}, variety: map[*node]bool{}, programs: map[*schema.Message]*codec.Program{},
	}
	if env.Schema != nil {
		c.messages = env.Schema.Messages
	}
	for _, m := range c.messages {
		c.messageNames[m.Name] = true
		if m.Key.Group != "" {
			c.groups[m.Key.Group] = true
		}
	}
	return c
}

// program is that of a message, nil if it cannot be made.
func (c *compiler) program(m *schema.Message) *codec.Program {
	p, ok := c.programs[m]
	if ok || m == nil || m.Body == nil {
		return p
	}
	var err error
	if c.env.Program != nil {
		p, err = c.env.Program(m)
	} else {
		p, err = codec.Compile(m)
	}
	if err != nil || p == nil || p.Message != m {
		p = nil
	}
	c.programs[m] = p
	return p
}

// report notes a mistake for good.
func (c *compiler) report(start, end int, message, help string) {
	c.mistakes = append(c.mistakes, Mistake{start, end, message, help})
}

// mistake notes what is wrong with the comparison at hand in the message at hand. It counts if no message understands it.
func (c *compiler) mistake(n *node, message, help string) outcome {
	return c.mistakeAt(n.start, n.end, message, help)
}

func (c *compiler) mistakeAt(start, end int, message, help string) outcome {
	t := c.tries[c.at]
	if t == nil {
		t = &try{}
		c.tries[c.at] = t
	}
	if t.mistake == nil {
		t.mistake = &Mistake{start, end, message, help}
	}
	return failed
}

// varies reports whether a condition is another one in each message.
func (c *compiler) varies(n *node) bool {
	if v, ok := c.variety[n]; ok {
		return v
	}
	v := false
	if n.kind == nPath {
		switch info := c.classify(n); info.kind {
		case pathFrame:
			v = info.field == ffName || info.field == ffVer || info.field == ffInfo
		case pathInFields, pathMessage, pathCode:
			v = true
		}
	} else {
		for _, kid := range n.kids {
			v = c.varies(kid) || v
		}
	}
	c.variety[n] = v
	return v
}

// build makes the condition of a tree for the message at hand.
func (c *compiler) build(n *node) *cond {
	if done := c.fixed[n]; done != nil {
		return done
	}
	var out *cond
	switch n.kind {
	case nAnd, nOr:
		out = c.list(n)
	case nNot:
		kid := c.build(n.kids[0])
		switch kid.op {
		case cFalse:
			out = always
		case cTrue:
			out = never
		case cNot:
			out = kid.kids[0]
		default:
			out = c.add(cond{op: cNot, kids: []*cond{kid}})
		}
	default:
		out = c.condition(n)
	}
	if !c.varies(n) {
		c.fixed[n] = out
	}
	return out
}

func (c *compiler) add(x cond) *cond {
	c.conds++
	return &x
}

// list makes "and" and "or", leaving out what is decided.
func (c *compiler) list(n *node) *cond {
	op, stop, skip := cAnd, never, always
	if n.kind == nOr {
		op, stop, skip = cOr, always, never
	}
	var kids []*cond
	decided := false
	for _, kid := range n.kids {
		k := c.build(kid) // all of them, for their mistakes
		if k == stop {
			decided = true
		} else if k != skip {
			kids = append(kids, k)
		}
	}
	switch {
	case decided:
		return stop
	case len(kids) == 0:
		return skip
	case len(kids) == 1:
		return kids[0]
	}
	// What needs no record comes first.
	slices.SortStableFunc(kids, func(a, b *cond) int { return a.cost() - b.cost() })
	return c.add(cond{op: op, kids: kids})
}

// cost orders conditions: those that need the record come last.
func (x *cond) cost() int {
	if x.needs {
		return 1
	}
	for _, kid := range x.kids {
		if kid.cost() > 0 {
			return 1
		}
	}
	return 0
}

// condition makes a comparison, or what stands alone.
func (c *compiler) condition(n *node) *cond {
	c.at = n
	c.conds++
	x, out := c.understand(n)
	if out != fine {
		return never
	}
	c.understood(n)
	return c.fold(x)
}

// understood notes that the message at hand understands a comparison, or an item of a set.
func (c *compiler) understood(n *node) {
	if t := c.tries[n]; t == nil {
		c.tries[n] = &try{ok: true}
	} else {
		t.ok = true
	}
}

// fold decides a condition that says the same of every frame.
func (c *compiler) fold(x cond) *cond {
	if x.op == cFalse || x.op == cTrue {
		return map[condOp]*cond{cFalse: never, cTrue: always}[x.op]
	}
	constant := true
	for _, s := range [...]*side{x.a, x.b} {
		if s != nil {
			x.needs = x.needs || s.needs
			constant = constant && len(s.leaves) == 0 && s.root.constant()
		}
	}
	if !constant {
		return c.add(x)
	}
	m := machine{without: No, frame: &Frame{}}
	if m.judge(&x) == Yes {
		return always
	}
	return never
}

func (e *expr) constant() bool {
	switch e.op {
	case xConst:
		return true
	case xSlice, xByte, xLower, xUpper, xHex, xLen, xRead, xUTF16:
		return e.kids[0].constant()
	case xArith:
		return e.kids[0].constant() && e.kids[1].constant()
	}
	return false
}

func (c *compiler) understand(n *node) (cond, outcome) {
	switch n.kind {
	case nCompare:
		return c.compare(n)
	case nIn:
		return c.in(n)
	case nContains:
		return c.contains(n)
	case nMatches:
		return c.matches(n)
	}
	return c.alone(n)
}

// isLiteral reports whether a node takes its type from what it is compared with.
func (c *compiler) isLiteral(n *node) bool {
	switch n.kind {
	case nInt, nFloat, nText, nBytes, nTrue, nFalse:
		return true
	case nNeg:
		return c.isLiteral(n.kids[0])
	case nPath:
		k := c.classify(n).kind
		return k == pathWord || k == pathMessage && len(n.parts) == 1 || k == pathGroup
	case nValue:
		return len(n.parts) == 0
	case nAdd, nSub, nMul, nDiv, nMod, nBits:
		return c.isLiteral(n.kids[0]) && c.isLiteral(n.kids[1])
	case nCall:
		f := functions[n.text]
		return (f.read.size > 0 || strings.HasPrefix(n.text, "utf")) && len(n.kids) > 0 && c.isLiteral(n.kids[0])
	}
	return false
}

// compare makes left op right.
func (c *compiler) compare(n *node) (cond, outcome) {
	left, right, op := n.kids[0], n.kids[1], n.op
	if c.isLiteral(left) && !c.isLiteral(right) {
		left, right, op = right, left, op.swapped()
	}
	if c.isLiteral(left) {
		return c.twoLiterals(left, right, op)
	}
	c.subject = left
	a, t, out := c.side(left)
	if out != fine {
		return cond{}, out
	}
	x := cond{a: a, order: op, all: n.quant == quantAll}
	if !c.isLiteral(right) {
		b, u, out := c.side(right)
		if out != fine {
			return cond{}, out
		}
		if out := c.compatible(right, t, u, op); out != fine {
			return cond{}, out
		}
		x.op, x.b = cJoin, b
		x.all = n.quant == quantAll || n.quant == quantNone && op == opNe
		return x, fine
	}
	if t.class == cTime {
		t = c.dayTime(right, t, x.a)
	}
	if op == opEq || op == opNe {
		x.op, x.not, x.set = cIn, op == opNe, &set{}
		x.all = n.quant == quantAll || n.quant == quantNone && x.not
		if out := c.item(right, t, x.set); out != fine {
			return cond{}, out
		}
		x.set.finish()
		c.quick(&x)
		return x, fine
	}
	if t.class == cBool || t.class == cWord {
		return cond{}, c.mistake(n, t.says()+", which has no order", `compare it with "==" or "!="`)
	}
	v, _, out := c.literal(right, t)
	if out != fine {
		return cond{}, out
	}
	x.op, x.want = cOrder, v
	c.quick(&x)
	return x, fine
}

// quick makes a comparison of one number of a message with one that is written the quickest kind.
func (c *compiler) quick(x *cond) {
	if x.a.root.op != xLeaf || x.a.leaves[0].kind != leafSites || len(x.a.leaves[0].sites) != 1 {
		return
	}
	s := x.a.leaves[0].sites[0]
	if s.conv.kind > convPart || s.conv.kind == convPart || !s.site.Single() {
		return
	}
	if x.op == cIn {
		if len(x.set.numbers) != 1 || !equal(&x.set.numbers[0].lo, &x.set.numbers[0].hi) {
			return
		}
		x.want, x.order = x.set.numbers[0].lo, opEq
	}
	x.op, x.site, x.conv = cFixed, s.site, s.conv
}

// twoLiterals decides what has no field in it: the first side's kind is that of both.
func (c *compiler) twoLiterals(left, right *node, op cmpOp) (cond, outcome) {
	c.subject = left
	for _, n := range [...]*node{left, right} {
		if n.kind == nPath && c.classify(n).kind != pathWord {
			return cond{}, c.mistake(n, strconv.Quote(n.String())+" has no value", "name one of its fields")
		}
	}
	a, t, out := c.plain(left)
	if out != fine {
		return cond{}, out
	}
	b, _, out := c.literal(right, t)
	if out != fine {
		return cond{}, out
	}
	if holds(op, &a, &b) {
		return cond{op: cTrue}, fine
	}
	return cond{op: cFalse}, fine
}

// dayTime makes a time the time of day, if it is compared with one.
func (c *compiler) dayTime(n *node, t ty, s *side) ty {
	for n.kind == nRange {
		n = n.kids[0]
	}
	text := n.text
	if n.kind == nValue {
		text = c.env.Values[n.text]
	} else if n.kind != nText {
		return t
	}
	if _, ofDay, ok := parseTime(text); ok && ofDay && s.root.op == xFrame && s.root.field == ffTime {
		s.root = &expr{op: xFrame, field: ffOfDay}
		t.ofDay = true
	}
	return t
}

// compatible reports whether two expressions compare with each other.
func (c *compiler) compatible(right *node, t, u ty, op cmpOp) outcome {
	number := func(t ty) bool { return t.class == cNumber || t.class == cSpan || t.class == cBool }
	ordered := op != opEq && op != opNe
	switch {
	case t.class == cList || t.class == cGroup:
		return c.mistake(c.subject, t.says(), groupHelp(t))
	case u.class == cList || u.class == cGroup:
		return c.mistake(right, u.says(), groupHelp(u))
	case number(t) && number(u):
		return fine
	case t.class != u.class || t.class == cWord && &t.words[0] != &u.words[0]:
		return c.mistake(c.at, t.says()+", and "+u.says(), "")
	case ordered && t.class == cWord:
		return c.mistake(c.at, t.says()+", which has no order", `compare it with "==" or "!="`)
	}
	return fine
}

func groupHelp(t ty) string {
	if t.class == cList {
		return "name a field of its elements, or write count(...)"
	}
	return "name one of its fields"
}

// in makes left in {...}.
func (c *compiler) in(n *node) (cond, outcome) {
	left := n.kids[0]
	if c.isLiteral(left) {
		return cond{}, c.mistake(left, `a field stands left of "in"`, "")
	}
	c.subject = left
	a, t, out := c.side(left)
	if out != fine {
		return cond{}, out
	}
	if t.class == cTime {
		t = c.dayTime(n.kids[1], t, a)
	}
	x := cond{op: cIn, a: a, not: n.negated, set: &set{}}
	x.all = n.quant == quantAll || n.quant == quantNone && n.negated
	some := false
	for _, item := range n.kids[1:] {
		c.at = item
		if c.item(item, t, x.set) == fine {
			c.understood(item)
			some = true
		}
	}
	if c.at = n; !some {
		return cond{}, failed
	}
	x.set.finish()
	return x, fine
}

// item adds a value, or a range of values, to a set.
func (c *compiler) item(n *node, t ty, s *set) outcome {
	if n.kind == nRange {
		lo, _, out := c.literal(n.kids[0], t)
		if out != fine {
			return out
		}
		hi, _, out := c.literal(n.kids[1], t)
		if out != fine {
			return out
		}
		if lo.rank() != 0 || hi.rank() != 0 || t.class == cBool || t.class == cWord {
			return c.mistake(n, "a range of what has no order", "ranges are of numbers and times")
		}
		if holds(opGt, &lo, &hi) {
			return c.mistake(n, "the end of the range is before its start", "")
		}
		s.numbers = append(s.numbers, interval{lo, hi})
		return fine
	}
	if t.class == cBytes && c.isNear(n) {
		x, out := c.nearValue(n)
		if out == fine {
			s.near = append(s.near, x)
		}
		return out
	}
	v, p, out := c.literal(n, t)
	switch {
	case out != fine:
		return out
	case v.kind == vText:
		if s.texts == nil {
			s.texts = map[string]struct{}{}
		}
		s.texts[string(v.b)] = struct{}{}
	case v.kind == vBytes:
		s.patterns = append(s.patterns, p)
	default:
		s.numbers = append(s.numbers, interval{v, v})
	}
	return fine
}

// contains makes left contains right.
func (c *compiler) contains(n *node) (cond, outcome) {
	left, right := n.kids[0], n.kids[1]
	if c.isLiteral(left) {
		return cond{}, c.mistake(left, `a field stands left of "contains"`, "")
	}
	c.subject = left
	a, t, out := c.side(left)
	if out != fine {
		return cond{}, out
	}
	if t.class != cText && t.class != cBytes {
		help := `"contains" looks into text and bytes`
		if t.class == cNumber {
			help = `compare a number with "==" or "in"; of a list any element may fit`
		}
		return cond{}, c.mistake(left, t.says(), help)
	}
	if !c.isLiteral(right) {
		return cond{}, c.mistake(right, `what stands right of "contains" must be written out`, "")
	}
	x := cond{op: cFind, a: a, all: n.quant == quantAll}
	if t.class == cBytes && c.isNear(right) {
		near, out := c.nearValue(right)
		x.op, x.near = cNear, &near
		return x, out
	}
	v, p, out := c.literal(right, t)
	if out != fine {
		return cond{}, out
	}
	if v.kind == vText {
		p = pattern{value: v.b}
	}
	if p.size() > maxText {
		return cond{}, c.mistake(right, "a text of more than "+strconv.Itoa(maxText)+" bytes", "")
	}
	x.find = newFinder(p)
	return x, fine
}

// maxText is the longest text that can be looked for.
const maxText = MaxText

// matches makes left matches right.
func (c *compiler) matches(n *node) (cond, outcome) {
	left, right := n.kids[0], n.kids[1]
	text := right.text
	switch {
	case right.kind == nValue && len(right.parts) == 0:
		var ok bool
		if text, ok = c.env.Values[right.text]; !ok {
			return cond{}, c.noValue(right)
		}
	case right.kind != nText:
		return cond{}, c.mistake(right, "a regular expression stands in quotes", `write ~ "^S_"`)
	}
	if c.isLiteral(left) {
		return cond{}, c.mistake(left, "a field stands left of a regular expression", "")
	}
	c.subject = left
	a, t, out := c.side(left)
	if out != fine {
		return cond{}, out
	}
	if t.class != cText && t.class != cBytes {
		return cond{}, c.mistake(left, t.says(), "regular expressions look into text and bytes")
	}
	re := c.regexps[right]
	if re == nil {
		if len(text) > maxRegexp {
			return cond{}, c.mistake(right, fmt.Sprintf("a regular expression of more than %d bytes", maxRegexp), "")
		}
		var err error
		if re, err = regexp.Compile(text); err != nil {
			why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
			return cond{}, c.mistake(right, "no regular expression: "+why, "")
		}
		c.regexps[right] = re
	}
	return cond{op: cMatch, a: a, re: re, all: n.quant == quantAll}, fine
}

// alone makes a condition of a value that stands where one should.
func (c *compiler) alone(n *node) (cond, outcome) {
	switch n.kind {
	case nTrue:
		return cond{op: cTrue}, fine
	case nFalse:
		return cond{op: cFalse}, fine
	case nFloat, nNeg, nInt, nText, nBytes, nWords:
		return cond{}, c.mistake(n, "a value is no condition", "compare a field with it")
	case nPath:
		if x, out, done := c.alonePath(n); done {
			return x, out
		}
	case nValue:
		if len(n.parts) == 0 {
			if _, ok := c.env.Values[n.text]; !ok {
				return cond{}, c.noValue(n)
			}
			return cond{}, c.mistake(n, "a value is no condition", "compare a field with it")
		}
	}
	a, t, out := c.side(n)
	if out != fine {
		return cond{}, out
	}
	x := cond{op: cExists, a: a, all: n.quant == quantAll}
	switch {
	case t.class == cBool, n.kind == nBits, n.kind == nAdd, n.kind == nSub, n.kind == nMul, n.kind == nDiv, n.kind == nMod, n.kind == nCall:
		x.op = cTruth
	case t.class == cList:
		x.op = cTruth // it has an element
	}
	return x, fine
}

// alonePath makes a condition of the name of a message or group.
func (c *compiler) alonePath(n *node) (x cond, out outcome, done bool) {
	info := c.classify(n)
	switch info.kind {
	case pathMessage:
		info.found = true
		switch {
		case c.message != nil && info.messages[c.message]:
			return cond{op: cTrue}, fine, true
		case c.message == nil && len(info.codes) > 0:
			s := &set{}
			for _, v := range info.codes {
				s.numbers = append(s.numbers, interval{v, v})
			}
			s.finish()
			return cond{op: cIn, a: &side{root: &expr{op: xFrame, field: ffOp}}, set: s}, fine, true
		}
		return cond{op: cFalse}, fine, true
	case pathGroup:
		s := &set{texts: map[string]struct{}{n.parts[0].name: {}}}
		return cond{op: cIn, a: &side{root: &expr{op: xFrameText, field: ffGroup}}, set: s}, fine, true
	case pathWord:
		return cond{}, absent, true // reported as an unknown name
	}
	return cond{}, fine, false
}

// side makes an expression with its leaves.
func (c *compiler) side(n *node) (*side, ty, outcome) {
	s := &side{}
	e, t, out := c.expr(n, s)
	s.root = e
	return s, t, out
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
	case nOr, nAnd, nNot, nCompare, nIn, nContains, nMatches:
		return nil, ty{}, c.mistake(n, "a condition stands where a value should", "")
	}
	v, t, out := c.plain(n)
	return &expr{op: xConst, val: v}, t, out
}

// number makes an expression that must be a number.
func (c *compiler) number(n *node, s *side) (*expr, ty, outcome) {
	e, t, out := c.expr(n, s)
	if out == fine && t.class != cNumber && t.class != cSpan && t.class != cBool {
		help := ""
		if t.class == cBytes {
			help = "write u32le(...) for the number that bytes are"
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

// path makes an expression of a field.
func (c *compiler) path(n *node, s *side) (*expr, ty, outcome) {
	info := c.classify(n)
	switch info.kind {
	case pathFrame:
		return c.frameField(n, info, s)
	case pathCode:
		return c.groupCode(n)
	case pathInFields:
	default:
		return nil, ty{}, c.mistake(n, strconv.Quote(n.String())+" has no value", "name one of its fields")
	}
	f, out := c.field(n, false)
	if out != fine {
		return nil, ty{}, out
	}
	if n.raw {
		for i := range f.targets {
			f.targets[i].conv = &conv{kind: convRaw}
		}
		f.t = ty{class: cBytes, label: f.t.label}
	}
	e := &expr{op: xLeaf, leaf: len(s.leaves)}
	l := &leaf{sites: c.sites(f.targets)}
	if len(l.sites) == 0 {
		return nil, f.t, absent
	}
	s.leaves = append(s.leaves, l)
	s.needs = true
	return sliced(e, f.t, f.slice)
}

// sliced is a part of a text or of bytes. One byte is a number.
func sliced(e *expr, t ty, b *bracket) (*expr, ty, outcome) {
	if b == nil {
		return e, t, fine
	}
	x := &expr{op: xSlice, kids: [2]*expr{e}, slice: *b}
	t.num = nil
	if b.form == oneOf && t.class == cBytes {
		x.op = xByte
		t.class = cNumber
	}
	return x, t, fine
}

// field finds a path in the message at hand.
func (c *compiler) field(n *node, whole bool) (found, outcome) {
	m := c.message
	if m == nil || m.Body == nil {
		return found{}, absent
	}
	rest, ok := c.inMessage(n.parts, m)
	if !ok || !hasField(m.Body, rest[0].name) {
		return found{}, absent
	}
	p := c.program(m)
	if p == nil {
		c.classify(n).found = true // it cannot be decoded, which is not the filter's mistake
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

// sites finds where fields stand in the program of the message at hand.
func (c *compiler) sites(targets []target) []siteConv {
	p := c.programs[c.message]
	var out []siteConv
	for _, t := range targets {
		if s, ok := p.Site(t.field, t.index...); ok {
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
			return nil, t, absent
		}
		x, ok := parseNumber(v)
		if !ok {
			return nil, t, c.mistake(n, "the build is "+strconv.Quote(v)+", which is no number", "")
		}
		e = &expr{op: xConst, val: x}
	case ffState, ffStatus:
		e.op = xState
		if info.field == ffStatus {
			e.op = xStatus
		}
		s.state = true
	case ffErr:
		e = &expr{op: xLeaf, leaf: len(s.leaves)}
		s.leaves = append(s.leaves, &leaf{kind: leafErrors})
		s.state = true
	case ffInfo:
		e = &expr{op: xLeaf, leaf: len(s.leaves)}
		l := &leaf{kind: leafInfo, sites: c.texts()}
		s.leaves = append(s.leaves, l)
		s.needs = s.needs || len(l.sites) > 0
	default:
		if about.class == cText {
			e.op = xFrameText
		}
	}
	if n.raw && t.class != cBytes {
		return nil, t, c.mistake(n, strconv.Quote(about.name)+" has no bytes of its own", `"@" stands before a field of a message`)
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

// texts are all texts of the message at hand.
func (c *compiler) texts() []siteConv {
	p := c.program(c.message)
	if p == nil {
		return nil
	}
	var targets []target
	for i := range p.Fields {
		if t, conv := typeOf(p.Fields[i].Schema); t.class == cText {
			targets = append(targets, target{uint16(i), nil, conv})
			c.columns[string(p.AppendFieldPath(nil, uint16(i)))] = true
		}
	}
	return c.sites(targets)
}

// groupCode is the code of a message, if the frame is of the group.
func (c *compiler) groupCode(n *node) (*expr, ty, outcome) {
	c.classify(n).found = true
	t := ty{class: cNumber, label: n.String()}
	if c.message == nil {
		return nil, t, absent
	}
	if c.message.Key.Group != n.parts[0].name {
		return nil, t, absent
	}
	return &expr{op: xFrame, field: ffOp}, t, fine
}

// call makes a function of what is not written out.
func (c *compiler) call(n *node, s *side) (*expr, ty, outcome) {
	f := functions[n.text]
	if out := c.arguments(n, f); out != fine {
		return nil, ty{}, out
	}
	arg := n.kids[0]
	if n.text == "count" || n.text == "len" {
		if e, out, done := c.countOf(n, arg, s); done {
			return e, ty{class: cNumber, label: n.String()}, out
		}
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
	case n.text == "utf16":
		x.op, out, back.class = xUTF16, want(cText), cBytes
	case n.text == "utf8":
		if out, back.class = want(cText), cBytes; out == fine {
			return nil, t, c.mistake(n, "utf8 takes text that is written out", "")
		}
	case f.read.size > 0:
		x.op, x.read, out = xRead, f.read, want(cBytes)
		if out == fine && len(n.kids) > 1 {
			out = c.mistake(n.kids[1], "a tolerance is for looking for a float", "")
		}
	}
	return x, back, out
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
	count := "one value"
	if f.most == 2 {
		count = "one or two values"
	}
	return c.mistake(n, n.text+" takes "+count, f.doc)
}

// countOf is the number of values of a field, or of the elements of a list. done is false if that is not what is asked.
func (c *compiler) countOf(n, arg *node, s *side) (e *expr, out outcome, done bool) {
	if arg.kind != nPath || c.classify(arg).kind != pathInFields {
		if n.text == "len" {
			return nil, fine, false
		}
		return nil, c.mistake(arg, "count takes a field of a message", ""), true
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
	e = &expr{op: xLeaf, leaf: len(s.leaves)}
	s.leaves = append(s.leaves, &leaf{sites: sites})
	return e, fine, true
}

// plain is a value that is written out, of the kind it has by itself.
func (c *compiler) plain(n *node) (value, ty, outcome) {
	switch n.kind {
	case nInt, nFloat:
		v, _, out := c.literal(n, ty{class: cNumber})
		return v, ty{class: cNumber}, out
	case nText:
		return textValue([]byte(n.text)), ty{class: cText}, fine
	case nBytes:
		return bytesValue(n.bytes.value), ty{class: cBytes}, fine
	case nTrue, nFalse:
		return boolValue(n.kind == nTrue), ty{class: cBool}, fine
	case nNeg, nAdd, nSub, nMul, nDiv, nMod, nBits:
		v, _, out := c.literal(n, ty{class: cNumber})
		return v, ty{class: cNumber}, out
	case nCall:
		v, _, out := c.literal(n, ty{class: cBytes})
		return v, ty{class: cBytes}, out
	case nValue:
		text, ok := c.env.Values[n.text]
		if !ok {
			return value{}, ty{}, c.noValue(n)
		}
		if v, ok := parseNumber(text); ok {
			return v, ty{class: cNumber}, fine
		}
		return textValue([]byte(text)), ty{class: cText}, fine
	}
	return value{}, ty{}, absent // an unknown name, which is reported
}

func (c *compiler) noValue(n *node) outcome {
	names := slices.Sorted(maps.Keys(c.env.Values))
	if n.text == selected {
		return c.mistake(n, "no field of the selected frame", "write $sel.field")
	}
	help := didYouMean(n.text, names)
	return c.mistake(n, "no value is given for "+strconv.Quote("$"+n.text), help)
}

// parseNumber reads a number as a caller gives it.
func parseNumber(text string) (value, bool) {
	text = strings.TrimSpace(text)
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return intValue(i), true
	}
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return uintValue(u), true
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) {
		return floatValue(f), true
	}
	return value{}, false
}

// literal is a written value as what it is compared with takes it.
func (c *compiler) literal(n *node, t ty) (v value, p pattern, out outcome) {
	switch t.class {
	case cList, cGroup:
		return v, p, c.mistake(c.subject, t.says(), groupHelp(t))
	case cNumber, cSpan:
		v, out = c.numberLiteral(n, t)
		return v, p, out
	case cTime:
		v, out = c.timeLiteral(n, t)
		return v, p, out
	case cBool:
		v, out = c.boolLiteral(n, t)
		return v, p, out
	case cWord:
		v, out = c.wordLiteral(n, t)
		return v, p, out
	case cText:
		v, out = c.textLiteral(n, t)
		return v, p, out
	}
	return c.bytesLiteral(n, t)
}

// given is the text of $name.
func (c *compiler) given(n *node) (string, bool) {
	if n.kind != nValue {
		return "", false
	}
	s, ok := c.env.Values[n.text]
	return s, ok
}

// wordOf is a bare word, or a text.
func (c *compiler) wordOf(n *node) (string, bool) {
	if n.kind == nText {
		return n.text, true
	}
	if n.kind == nPath && len(n.parts) == 1 && !n.raw && len(n.parts[0].index) == 0 {
		return n.parts[0].name, true
	}
	return c.given(n)
}

func (c *compiler) numberLiteral(n *node, t ty) (value, outcome) {
	switch n.kind {
	case nInt:
		return uintValue(n.integer), fine
	case nFloat:
		if t.num != nil && t.num.Kind == schema.Float && t.num.Bits == 32 && t.num.Scale == 0 {
			return floatValue(float64(float32(n.float))), fine
		}
		return floatValue(n.float), fine
	case nTrue, nFalse:
		return value{}, c.mistake(n, t.says(), "compare it with a number")
	case nNeg:
		v, out := c.numberLiteral(n.kids[0], t)
		zero := intValue(0)
		if v.kind == vFloat {
			return floatValue(-v.f), out
		}
		v, _ = arithmetic(nSub, &zero, &v)
		return v, out
	case nAdd, nSub, nMul, nDiv, nMod, nBits:
		a, out := c.numberLiteral(n.kids[0], t)
		if out != fine {
			return a, out
		}
		b, out := c.numberLiteral(n.kids[1], t)
		if out != fine {
			return b, out
		}
		v, ok := arithmetic(n.kind, &a, &b)
		if !ok {
			return v, c.mistake(n, "this has no value", "")
		}
		return v, fine
	case nCall:
		return value{}, c.mistake(n, t.says()+", and "+strconv.Quote(n.String())+" is bytes", "compare it with a number")
	case nValue:
		text, ok := c.given(n)
		if !ok {
			return value{}, c.noValue(n)
		}
		if v, ok := parseNumber(text); ok {
			return v, fine
		}
		if t.num == nil || t.num.Enum == nil {
			return value{}, c.mistake(n, t.says()+`, and "$`+n.text+`" is `+strconv.Quote(text), "")
		}
	}
	if t.class == cSpan && n.kind == nText {
		if d, err := time.ParseDuration(strings.ReplaceAll(n.text, " ", "")); err == nil {
			return floatValue(d.Seconds()), fine
		}
		return value{}, c.mistake(n, strconv.Quote(n.text)+" is no time span", `write seconds, or "20ms"`)
	}
	word, ok := c.wordOf(n)
	if ok && t.num != nil && t.num.Enum != nil {
		if v, ok := enumValue(t.num, word); ok {
			if n.kind == nPath {
				c.classify(n).found = true
			}
			return v, fine
		}
		out := c.mistake(n, fmt.Sprintf("%q has no value %q", t.label, word), oneOfThese(word, enumNames(t.num)))
		if n.kind == nPath {
			c.classify(n).found = true // not an unknown name as well
		}
		return value{}, out
	}
	if n.kind == nPath {
		return value{}, absent // an unknown name
	}
	help := "compare it with a number"
	if n.kind == nText {
		if _, ok := parseNumber(n.text); ok {
			help = "write the number without quotes"
		}
		return value{}, c.mistake(n, t.says()+", and "+clip(quote(n.text))+" is text", help)
	}
	return value{}, c.mistake(n, t.says()+", and this is not", help)
}

// clip shortens a text for a message.
func clip(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}

func (c *compiler) timeLiteral(n *node, t ty) (value, outcome) {
	text, ok := n.text, n.kind == nText
	if s, given := c.given(n); given {
		text, ok = s, true
	}
	if ok {
		ns, ofDay, ok := parseTime(text)
		switch {
		case ok && ofDay == t.ofDay:
			return intValue(ns), fine
		case ok:
			return value{}, c.mistake(n, "a time of day and a date do not compare", "write both the same way")
		}
		if n.kind == nText {
			return value{}, c.mistake(n, clip(quote(text))+" is no time", `write "10:00:05" or "2026-11-20 10:00:05"`)
		}
	}
	v, out := c.numberLiteral(n, ty{class: cNumber, label: t.label})
	if out != fine {
		return v, out
	}
	if t.ofDay {
		return value{}, c.mistake(n, "a time of day and a number do not compare", "write both the same way")
	}
	if v.kind == vFloat {
		if math.Abs(v.f) > 9e9 {
			return value{}, c.mistake(n, "this is no time", "numbers are seconds since 1970")
		}
		whole, part := math.Modf(v.f)
		return intValue(int64(whole)*1e9 + int64(math.Round(part*1e9))), fine
	}
	if v.kind == vUint || int64(v.bits) > 9e9 || int64(v.bits) < -9e9 {
		return value{}, c.mistake(n, "this is no time", "numbers are seconds since 1970")
	}
	return intValue(int64(v.bits) * 1e9), fine
}

func (c *compiler) boolLiteral(n *node, t ty) (value, outcome) {
	switch {
	case n.kind == nTrue || n.kind == nFalse:
		return boolValue(n.kind == nTrue), fine
	case n.kind == nInt && n.integer <= 1:
		return uintValue(n.integer), fine
	case n.kind == nPath && c.classify(n).kind == pathWord:
		return value{}, absent
	}
	return value{}, c.mistake(n, t.says(), "compare it with true or false")
}

func (c *compiler) wordLiteral(n *node, t ty) (value, outcome) {
	word, ok := c.wordOf(n)
	if !ok {
		return value{}, c.mistake(n, t.says(), oneOfThese("", t.words))
	}
	if n.kind == nPath {
		c.classify(n).found = true
	}
	for i, w := range t.words {
		if w == word && w != "" {
			return intValue(int64(i)), fine
		}
	}
	return value{}, c.mistake(n, fmt.Sprintf("%q is never %q", t.label, word), oneOfThese(word, t.words))
}

func (c *compiler) textLiteral(n *node, t ty) (value, outcome) {
	if n.kind == nText {
		return textValue([]byte(n.text)), fine
	}
	if s, ok := c.given(n); ok {
		return textValue([]byte(s)), fine
	}
	switch n.kind {
	case nPath:
		word, ok := c.wordOf(n)
		info := c.classify(n)
		if ok && t.free && (t.label != "name" || info.kind == pathMessage && !n.parts[0].glob) {
			info.found = true
			return textValue([]byte(word)), fine
		}
		if n.parts[0].glob {
			info.found = true
			return value{}, c.mistake(n, "a pattern is not compared", "write the pattern alone, or name ~ \"^S_\"")
		}
		if info.kind != pathWord || !t.free {
			info.found = true
			return value{}, c.mistake(n, t.says(), "put the text in quotes: "+quote(word))
		}
		return value{}, absent
	case nValue:
		return value{}, c.noValue(n)
	}
	return value{}, c.mistake(n, t.says(), "put the text in quotes")
}

func (c *compiler) bytesLiteral(n *node, t ty) (v value, p pattern, out outcome) {
	switch n.kind {
	case nBytes:
		return bytesValue(n.bytes.value), n.bytes, fine
	case nText:
		p.value = []byte(n.text)
		return bytesValue(p.value), p, fine
	case nCall:
		b, out := c.encoded(n)
		p.value = b
		return bytesValue(b), p, out
	case nValue:
		s, ok := c.given(n)
		if !ok {
			return v, p, c.noValue(n)
		}
		p.value = []byte(s)
		return bytesValue(p.value), p, fine
	case nPath:
		if k := c.classify(n).kind; k == pathWord {
			return v, p, absent
		}
		return v, p, c.mistake(n, t.says(), "put text in quotes")
	}
	return v, p, c.mistake(n, t.says(), `write the bytes: u32le(5) or x"05 00"`)
}

// encoded is the bytes that a function makes of what is written out.
func (c *compiler) encoded(n *node) ([]byte, outcome) {
	f := functions[n.text]
	if out := c.arguments(n, f); out != fine {
		return nil, out
	}
	arg := n.kids[0]
	if f.read.size == 0 {
		v, out := c.textLiteral(arg, ty{class: cText})
		if out != fine {
			return nil, out
		}
		if n.text == "utf16" {
			return appendUTF16(nil, v.b), fine
		}
		return v.b, fine
	}
	if arg.kind == nBytes || arg.kind == nText {
		return nil, c.mistake(arg, "this is not a number", "")
	}
	v, out := c.numberLiteral(arg, ty{class: cNumber})
	if out != fine {
		return nil, out
	}
	size := f.read.size
	if f.read.float {
		if size == 4 {
			return appendNumber(nil, uint64(math.Float32bits(float32(v.float()))), size, f.read.big), fine
		}
		return appendNumber(nil, math.Float64bits(v.float()), size, f.read.big), fine
	}
	if v.kind == vFloat {
		return nil, c.mistake(arg, n.text+" takes an integer", "f32 and f64 are for floats")
	}
	least, most := intValue(-1<<(8*size-1)), uintValue(math.MaxUint64>>(64-8*size))
	if holds(opLt, &v, &least) || holds(opGt, &v, &most) {
		bytes := strconv.Itoa(size) + " bytes"
		if size == 1 {
			bytes = "1 byte"
		}
		return nil, c.mistake(arg, arg.String()+" does not fit "+bytes, "")
	}
	return appendNumber(nil, v.bits, size, f.read.big), fine
}

// isNear tells a float that may be a little off: f32(1.5, 0.01).
func (c *compiler) isNear(n *node) bool {
	return n.kind == nCall && len(n.kids) == 2 && functions[n.text].read.float && c.isLiteral(n.kids[0]) && c.isLiteral(n.kids[1])
}

func (c *compiler) nearValue(n *node) (near, outcome) {
	r := functions[n.text].read
	v, out := c.numberLiteral(n.kids[0], ty{class: cNumber})
	if out != fine {
		return near{}, out
	}
	off, out := c.numberLiteral(n.kids[1], ty{class: cNumber})
	return near{v.float(), math.Abs(off.float()), r.size, r.big}, out
}
