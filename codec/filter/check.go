package filter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// compiler compiles a tree to conditions, separate ones for each message.
type compiler struct {
	env          Env
	text         string
	layers       *transport.Layers
	messages     []*schema.Message
	shapes       []*schema.Message // the messages, and the headers of frames without one
	messageNames map[string]bool
	groups       map[string]bool

	paths        map[*node]*pathInfo
	tries        map[*node]*try // by comparison
	fixed        map[*node]*cond
	regexps      map[regexpOf]*expression
	instructions int // of all regular expressions
	programs     map[*schema.Message]*codec.Program
	columns      map[string]bool // of the current message
	mistakes     []Mistake
	variety      map[*node]bool
	conds        int
	doubt        bool // while unknown names are reported: a field in the same comparison is unknown

	message   *schema.Message // current message; nil: frames without a definition
	header    *schema.Message // the current header of such frames; nil: none
	alternate *schema.Message // the same after the alternative header, while that is compiled; else nil
	at        *node           // current comparison, or item of a set
	subject   *node           // the other side of the comparison
	forms     []form          // of the paths in the current comparison
	counted   *node           // the path of which all occurrences are counted
	whole     *node           // the path whose lists are not their elements
	sel       *codec.Record   // the selected frame, decoded when needed
}

// regexpOf identifies a regular expression over text, or over bytes.
type regexpOf struct {
	node  *node
	bytes bool
}

// try is the result of compiling a comparison for the messages so far.
type try struct {
	ok      bool // valid for at least one message
	mistake *Mistake
}

// outcome is the result of compiling a part of a filter for one message.
type outcome uint8

const (
	fine   outcome = iota
	absent         // the message has no such field
	failed         // a mistake was recorded
)

func newCompiler(env Env) *compiler {
	c := &compiler{
		env: env, layers: env.Layers, messageNames: map[string]bool{}, groups: map[string]bool{}, paths: map[*node]*pathInfo{}, tries: map[*node]*try{},
		fixed: map[*node]*cond{}, regexps: map[regexpOf]*expression{}, variety: map[*node]bool{}, programs: map[*schema.Message]*codec.Program{},
	}
	if c.layers == nil {
		c.layers = &transport.Layers{}
	}
	if env.Schema != nil {
		c.messages = env.Schema.Messages
	}
	c.shapes = append(slices.Clip(c.messages), env.Headers...)
	for _, m := range c.messages {
		c.messageNames[m.Name] = true
		if m.Key.Group != "" {
			c.groups[m.Key.Group] = true
		}
	}
	return c
}

// program returns the program of a message, nil if it has none.
func (c *compiler) program(m *schema.Message) *codec.Program {
	if c.alternate != nil && m == c.message {
		m = c.alternate
	}
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

// shape returns what has the fields of the current message: it, or the header of frames without one.
func (c *compiler) shape() *schema.Message { return cmp.Or(c.message, c.header) }

// report adds a mistake to the result.
func (c *compiler) report(start, end int, message, help string) {
	c.mistakes = append(c.mistakes, Mistake{start, end, message, help})
}

// mistake records a mistake in the current comparison for the current message. It is reported if no message makes the comparison valid.
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

// varies reports whether a condition depends on the message.
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

// build compiles a tree for the current message.
func (c *compiler) build(n *node) *cond {
	if done := c.fixed[n]; done != nil {
		return done
	}
	var out *cond
	switch n.kind {
	case nAnd, nOr:
		out = c.list(n)
	case nXor:
		x := cond{op: cXor}
		for _, kid := range n.kids {
			x.kids = append(x.kids, c.build(kid))
		}
		out = c.add(x)
	case nNot:
		out = c.not(c.build(n.kids[0]))
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

func (c *compiler) not(x *cond) *cond {
	switch x.op {
	case cFalse:
		return always
	case cTrue:
		return never
	case cNot:
		return x.kids[0]
	}
	return c.add(cond{op: cNot, kids: []*cond{x}})
}

// list compiles "and" and "or".
func (c *compiler) list(n *node) *cond {
	op := cAnd
	if n.kind == nOr {
		op = cOr
	}
	kids := make([]*cond, len(n.kids))
	for i, kid := range n.kids {
		kids[i] = c.build(kid) // all of them, for their mistakes
	}
	return c.join(op, kids...)
}

// join joins conditions by cAnd or cOr, without those that are constant.
func (c *compiler) join(op condOp, all ...*cond) *cond {
	stop, skip := never, always
	if op == cOr {
		stop, skip = always, never
	}
	if slices.Contains(all, stop) {
		return stop
	}
	kids := slices.DeleteFunc(all, func(k *cond) bool { return k == skip })
	switch len(kids) {
	case 0:
		return skip
	case 1:
		return kids[0]
	}
	// Conditions that need no record come first.
	slices.SortStableFunc(kids, func(a, b *cond) int { return a.cost() - b.cost() })
	return c.add(cond{op: op, kids: kids})
}

// cost orders conditions: those that need the record are last.
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

// condition compiles a comparison, or an expression on its own, for each combination of the types that its paths have in the message.
func (c *compiler) condition(n *node) *cond {
	c.forms = c.forms[:0]
	var fits, others []*cond // others: for "all", that each combination fits or has no values
	for {
		c.at = n
		c.conds++
		if x, out := c.understand(n); out == fine {
			c.understood(n)
			fit := c.fold(x)
			fits = append(fits, fit)
			if x.all {
				there := []*cond{c.fold(cond{op: cExists, a: x.a})}
				if x.b != nil {
					there = append(there, c.fold(cond{op: cExists, a: x.b}))
				}
				others = append(others, c.join(cOr, fit, c.not(c.join(cAnd, there...))))
			}
		}
		if !c.nextForms() {
			break
		}
	}
	if len(fits) < 2 {
		others = nil
	}
	return c.join(cAnd, append(others, c.join(cOr, fits...))...)
}

// understood records that a comparison, or an item of a set, is valid for the current message.
func (c *compiler) understood(n *node) {
	if t := c.tries[n]; t == nil {
		c.tries[n] = &try{ok: true}
	} else {
		t.ok = true
	}
}

// fold replaces a condition that is the same for every frame by its value.
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
	m := machine{without: No, frame: &Frame{Frame: &transport.Frame{}}}
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

// isLiteral reports whether a node takes its type from the other side of the comparison.
func (c *compiler) isLiteral(n *node) bool {
	switch n.kind {
	case nInt, nFloat, nText, nBytes, nTrue, nFalse:
		return true
	case nNeg:
		return c.isLiteral(n.kids[0])
	case nPath:
		k := c.classify(n).kind
		return k == pathWord || k == pathMessage || k == pathGroup
	case nValue:
		return len(n.parts) == 0
	case nAdd, nSub, nMul, nDiv, nMod, nBits:
		return c.isLiteral(n.kids[0]) && c.isLiteral(n.kids[1])
	case nCall:
		f := functions[n.text]
		return len(n.parts) == 0 && (f.read.size > 0 || strings.HasPrefix(n.text, "utf")) && len(n.kids) > 0 && c.isLiteral(n.kids[0])
	}
	return false
}

// compare compiles left op right.
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
		t = c.timeLike(right, t, x.a)
	}
	if t.address && op != opEq && op != opNe {
		x.op, x.set = cIn, &set{}
		return x, c.beside(right, t, op, x.set)
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

// quick makes the comparison of one number of a message with a literal the fastest kind.
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
	x.op, x.site, x.conv, x.prog = cFixed, s.site, s.conv, c.program(c.shape())
}

// twoLiterals evaluates a comparison without fields: both sides have the kind of the first.
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

// maxSince is the number of seconds up to which a number compared with a time counts from the first frame, about three years: that is what
// lists show. Larger numbers count from 1970.
const maxSince = 1e8

// timeLike makes a time a time of day, or seconds since the first frame, if it is compared with one.
func (c *compiler) timeLike(n *node, t ty, s *side) ty {
	if n.kind == nRange {
		lo, hi := n.kids[0], n.kids[1]
		if n = lo; lo.kind != nText {
			n = hi // a range from 0 may end with seconds since 1970
		}
	}
	if s.root.op != xFrame || s.root.field != ffTime {
		return t
	}
	text := n.text
	switch n.kind {
	case nValue:
		text = c.env.Values[n.text]
	case nText:
	default:
		v, out := c.numberLiteral(n, ty{class: cNumber, label: t.label})
		if out == fine && math.Abs(v.float()) < maxSince {
			return since(t, s)
		}
		return t
	}
	if _, ofDay, ok := parseTime(text); ok && ofDay {
		s.root = &expr{op: xFrame, field: ffOfDay}
		t.ofDay = true
	} else if _, err := time.ParseDuration(text); err == nil {
		return since(t, s)
	}
	return t
}

// since makes a time the seconds since the first frame.
func since(t ty, s *side) ty {
	s.root = &expr{op: xFrame, field: ffSince}
	return ty{class: cSpan, label: t.label}
}

// compatible reports whether two expressions can be compared.
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

// in compiles left in {...}.
func (c *compiler) in(n *node) (cond, outcome) {
	left := n.kids[0]
	if c.isLiteral(left) {
		return cond{}, c.mistake(left, `the left side of "in" must be a field`, "")
	}
	c.subject = left
	a, t, out := c.side(left)
	if out != fine {
		return cond{}, out
	}
	if t.class == cTime {
		t = c.timeLike(n.kids[1], t, a)
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
	if t.address {
		return c.addressItem(n, t, s)
	}
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
			return c.mistake(n, "a range of values without an order", "ranges take numbers and times")
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
	if n.kind == nPath && t.codes && c.classify(n).kind == pathMessage {
		if codes := c.codesOf(n, t); len(codes) > 1 { // for example, one name can have different codes in each direction
			c.classify(n).found = true
			for _, v := range codes {
				s.numbers = append(s.numbers, interval{v, v})
			}
			return fine
		}
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

// contains compiles left contains right.
func (c *compiler) contains(n *node) (cond, outcome) {
	left, right := n.kids[0], n.kids[1]
	if c.isLiteral(left) {
		return cond{}, c.mistake(left, `the left side of "contains" must be a field`, "")
	}
	c.subject = left
	a, t, out := c.side(left)
	if out != fine {
		return cond{}, out
	}
	if t.class != cText && t.class != cBytes {
		help := `"contains" searches text and bytes`
		if t.class == cNumber {
			help = `compare a number with "==" or "in"; of a list any element may fit`
		}
		return cond{}, c.mistake(left, t.says(), help)
	}
	if !c.isLiteral(right) {
		return cond{}, c.mistake(right, `the right side of "contains" must be a literal`, "")
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

// maxText is the maximum length of a text to search for.
const maxText = MaxText

// matches compiles left matches right.
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
		return cond{}, c.mistake(right, "a regular expression must be in quotes", `write ~ "^S_"`)
	}
	if c.isLiteral(left) {
		return cond{}, c.mistake(left, "the left side of a regular expression must be a field", "")
	}
	c.subject = left
	a, t, out := c.side(left)
	if out != fine {
		return cond{}, out
	}
	if t.class != cText && t.class != cBytes {
		return cond{}, c.mistake(left, t.says(), "regular expressions match text and bytes")
	}
	x := cond{op: cMatch, a: a, all: n.quant == quantAll}
	key := regexpOf{right, t.class == cBytes}
	if key.bytes {
		x.op = cMatchBytes
	}
	if x.re = c.regexps[key]; x.re == nil {
		if len(text) > maxRegexp {
			return cond{}, c.mistake(right, fmt.Sprintf("a regular expression of more than %d bytes", maxRegexp), "")
		}
		var why string
		if x.re, why = compileRegexp(text, key.bytes); why != "" {
			return cond{}, c.mistake(right, why, "")
		}
		if c.instructions += x.re.size; c.instructions > maxPrograms {
			return cond{}, c.mistake(right, "the regular expressions of the filter are too large together", "repeat less with {n}")
		}
		c.regexps[key] = x.re
	}
	return x, fine
}

// alone compiles a value in place of a condition.
func (c *compiler) alone(n *node) (cond, outcome) {
	switch n.kind {
	case nTrue:
		return cond{op: cTrue}, fine
	case nFalse:
		return cond{op: cFalse}, fine
	case nFloat, nNeg, nInt, nText, nBytes, nWords:
		return cond{}, c.mistake(n, "a value is not a condition", "compare a field with it")
	case nPath:
		if x, out, done := c.alonePath(n); done {
			return x, out
		}
	case nValue:
		if len(n.parts) == 0 {
			if _, ok := c.env.Values[n.text]; !ok {
				return cond{}, c.noValue(n)
			}
			return cond{}, c.mistake(n, "a value is not a condition", "compare a field with it")
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
		x.op = cTruth // true if it has an element
	}
	return x, fine
}

// alonePath compiles the name of a message or group on its own.
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
