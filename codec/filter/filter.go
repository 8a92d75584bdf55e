package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Env is what the meaning of a filter depends on beside its text.
type Env struct {
	Schema *schema.Schema // the definitions; nil: none

	// Program gives the program of a message, as a cache has it. Nil: programs are compiled here.
	Program func(*schema.Message) (*codec.Program, error)

	Values   map[string]string // what $name stands for; "build" is also a field
	Selected *Frame            // for $sel.path; nil: none
}

// Filter is a filter that was compiled for a set of definitions. It is immutable, and any number of goroutines may use it at once.
type Filter struct {
	everything bool
	rewritten  string
	fields     []string
	plans      map[*schema.Message]*plan
	none       *plan // of frames without a definition, and of messages that are not of the schema
	names      map[uint32]string
	machines   *sync.Pool
}

// plan is the filter for one message.
type plan struct {
	root    *cond
	columns []string
}

// nothing is the plan of messages that never match, everything that of those that always do.
var (
	nothing    = &plan{root: never}
	everything = &plan{root: always}
)

// Compile makes a filter of its text. A text of nothing but space means every frame. With mistakes, which come in the order of the text,
// the filter is usable and matches nothing.
func Compile(text string, env Env) (*Filter, []Mistake) {
	f := &Filter{none: nothing}
	f.machines = &sync.Pool{New: func() any { return &machine{} }}
	if len(text) > MaxText {
		return f, []Mistake{{MaxText, len(text), "a filter of more than " + strconv.Itoa(MaxText) + " bytes", ""}}
	}
	if strings.TrimSpace(text) == "" {
		f.everything, f.none = true, everything
		return f, nil
	}
	root, rewritten, mistakes := read(text)
	if len(mistakes) > 0 {
		return f, mistakes
	}
	c := newCompiler(env)
	if root.kind == nPath && len(root.parts) == 1 && !root.raw && len(root.parts[0].index) == 0 && root.quant == quantNone &&
		!root.parts[0].glob && c.classify(root).kind == pathWord {
		root, rewritten = bare(&node{kind: nWords, text: root.parts[0].name, start: root.start, end: root.end}), true
	}
	plans, none := c.plans(root)
	if len(c.mistakes) > 0 {
		return f, c.mistakes
	}
	if rewritten {
		f.rewritten = root.String()
	}
	f.plans, f.none, f.fields = plans, none, fieldsOf(root)
	f.names = make(map[uint32]string, len(c.codes()))
	for name, code := range c.codes() {
		if old, ok := f.names[code]; !c.messageNames[name] && (!ok || name < old) {
			f.names[code] = name
		}
	}
	return f, nil
}

// read parses a filter, with the short forms that the whole of it may have.
func read(text string) (root *node, rewritten bool, mistakes []Mistake) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	start := len(text) - len(trimmed)
	switch {
	case strings.HasPrefix(trimmed, "=") && !strings.HasPrefix(trimmed, "=="):
		root, mistakes = findBox(text, start+1)
		return root, true, mistakes
	case isBareText(trimmed):
		body := strings.TrimSpace(text)
		return bare(&node{kind: nWords, text: body, start: start, end: start + len(body)}), true, nil
	}
	root, rewritten, mistakes = parse(text)
	if len(mistakes) > 0 {
		return nil, false, mistakes
	}
	root, expanded := expand(root)
	return root, rewritten || expanded, nil
}

// plans makes the conditions of all messages.
func (c *compiler) plans(root *node) (plans map[*schema.Message]*plan, none *plan) {
	one := func(m *schema.Message) *plan {
		c.message, c.columns = m, map[string]bool{}
		p := &plan{root: c.build(root)}
		for path := range c.columns {
			p.columns = append(p.columns, path)
		}
		slices.Sort(p.columns)
		if len(p.columns) == 0 {
			switch p.root {
			case never:
				return nothing
			case always:
				return everything
			}
		}
		return p
	}
	none = one(nil)
	plans = make(map[*schema.Message]*plan, len(c.messages))
	for _, m := range c.messages {
		plans[m] = one(m)
		if c.conds > maxConds {
			c.report(root.start, root.end, "the filter is too large for so many messages", "name the messages that are meant")
			return nil, nothing
		}
	}
	c.unknown(root, root)
	if len(c.mistakes) == 0 {
		c.misfits(root)
	}
	slices.SortStableFunc(c.mistakes, func(a, b Mistake) int { return a.Start - b.Start })
	c.mistakes = slices.Compact(c.mistakes)
	return plans, none
}

// maxMistakes is how many mistakes are worth reading.
const maxMistakes = 20

// unknown reports the names that nothing has. at is the condition, or the item of a set, that the node is in.
func (c *compiler) unknown(n, at *node) {
	if len(c.mistakes) >= maxMistakes {
		return
	}
	if n.kind == nPath && !c.classify(n).found {
		// Where a mistake says more of it, that one is enough.
		t := c.tries[at]
		said := t != nil && !t.ok && t.mistake != nil
		switch c.classify(n).kind {
		case pathInFields:
			if !said || !within(t.mistake, n) {
				c.unknownField(n)
			}
		case pathWord:
			if !said {
				c.unknownName(n)
			}
		}
	}
	for i, kid := range n.kids {
		switch {
		case n.kind == nAnd || n.kind == nOr || n.kind == nNot, n.kind == nIn && i > 0:
			c.unknown(kid, kid)
		default:
			c.unknown(kid, at)
		}
	}
}

func within(m *Mistake, n *node) bool { return m.Start >= n.start && m.End <= n.end }

// misfits reports the comparisons that no message understands.
func (c *compiler) misfits(n *node) {
	switch n.kind {
	case nAnd, nOr, nNot:
		for _, kid := range n.kids {
			c.misfits(kid)
		}
		return
	}
	t := c.tries[n]
	switch {
	case len(c.mistakes) >= maxMistakes:
	case t == nil:
		if paths := fieldsOf(n); len(paths) > 1 && c.neverTogether(n) {
			c.report(n.start, n.end, "no message has both "+strconv.Quote(paths[0])+" and "+strconv.Quote(paths[1]), "")
		}
	case !t.ok && t.mistake != nil:
		c.mistakes = append(c.mistakes, *t.mistake)
	}
	if n.kind == nIn {
		for _, item := range n.kids[1:] {
			if t := c.tries[item]; t != nil && !t.ok && t.mistake != nil && len(c.mistakes) < maxMistakes {
				c.mistakes = append(c.mistakes, *t.mistake)
			}
		}
	}
}

// neverTogether reports whether a comparison has two fields of messages, each of which some message has.
func (c *compiler) neverTogether(n *node) bool {
	fields := 0
	var count func(n *node)
	count = func(n *node) {
		if n.kind == nPath {
			if info := c.classify(n); info.kind == pathInFields && c.readable(n) {
				fields++
			}
		}
		for _, kid := range n.kids {
			count(kid)
		}
	}
	count(n)
	return fields > 1
}

// readable reports whether a message that has the field has a program.
func (c *compiler) readable(n *node) bool {
	for _, m := range c.messages {
		if m.Body == nil {
			continue
		}
		if rest, ok := c.inMessage(n.parts, m); ok && hasField(m.Body, rest[0].name) && c.program(m) != nil {
			return true
		}
	}
	return false
}

// unknownName reports a word that is not known.
func (c *compiler) unknownName(n *node) {
	name := n.parts[0].name
	if n.parts[0].glob {
		c.report(n.start, n.end, "no message is called "+strconv.Quote(clip(name)), "")
		return
	}
	help := didYouMean(name, c.names())
	if help == "" && len(c.fieldNames(name)) > 0 {
		help = "write " + strconv.Quote("."+name) + " for the field of any message"
	}
	if help == "" {
		help = "put text in quotes"
	}
	c.report(n.start, n.end, "unknown name "+strconv.Quote(clip(name)), help)
}

// names are those a path may start with.
func (c *compiler) names() []string {
	var out []string
	for f := range ffOfDay {
		out = append(out, frameInfo[f].name)
	}
	for _, m := range c.messages {
		out = append(out, m.Name)
	}
	for g := range c.groups {
		out = append(out, g)
	}
	for name := range c.codes() {
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fieldNames are the names of fields at the top of all messages, or the one that is asked for.
func (c *compiler) fieldNames(only string) []string {
	seen := map[string]bool{}
	var walk func(s *schema.Struct)
	walk = func(s *schema.Struct) {
		for _, f := range s.Fields {
			if f.Name != "" && (only == "" || f.Name == only) {
				seen[f.Name] = true
			}
		}
		for _, v := range s.Variants {
			if v.Body != nil {
				walk(v.Body)
			}
		}
	}
	for _, m := range c.messages {
		if m.Body != nil {
			walk(m.Body)
		}
	}
	out := make([]string, 0, len(seen))
	for name := range seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// unknownField reports a path that no message has: the part of it that goes wrong in the message that has most of it.
func (c *compiler) unknownField(n *node) {
	head := &n.parts[0]
	var best *wrong
	var where *schema.Message
	var parts []part
	heads := 0
	for _, m := range c.messages {
		rest, ok := c.inMessage(n.parts, m)
		if !ok || len(rest) == 0 {
			continue
		}
		heads++
		if m.Body == nil || !hasField(m.Body, rest[0].name) && best != nil {
			continue
		}
		p := c.program(m)
		if p == nil {
			continue
		}
		if _, why := c.resolve(n, rest, p, false); why != nil && (best == nil || why.part > best.part) {
			best, where, parts = why, m, rest
		}
	}
	switch {
	case head.name == "" && (best == nil || best.part == 0):
		name := n.parts[1]
		c.report(n.start, name.end, "no message has a field "+strconv.Quote(clip(name.name)), didYouMean(name.name, c.fieldNames("")))
	case heads == 0 && head.glob:
		c.report(head.start, head.end, "no message is called "+strconv.Quote(clip(head.name)), "")
	case heads == 0:
		help := didYouMean(head.name, c.names())
		if _, frame := frameFields[head.name]; frame {
			help = strconv.Quote(head.name) + " has no fields"
		}
		if _, code := c.codes()[head.name]; code {
			c.report(head.start, head.end, strconv.Quote(clip(head.name))+" has no definition", "its fields are not known")
			return
		}
		c.report(head.start, head.end, "unknown message "+strconv.Quote(clip(head.name)), help)
	case best == nil:
		// Its definition cannot be used, which is said elsewhere.
	default:
		q := &parts[best.part]
		of := where.Name
		if best.part > 0 {
			of = (&node{kind: nPath, parts: parts[:best.part]}).String()
		} else if heads > 1 && c.groups[head.name] {
			of = "no message of " + strconv.Quote(head.name)
			c.report(q.start, q.end, of+" has a field "+strconv.Quote(clip(q.name)), didYouMean(q.name, best.known))
			return
		}
		help := didYouMean(q.name, best.known)
		if help == "" && len(best.known) > 0 && len(best.known) <= 8 {
			help = oneOfThese("", best.known)
		}
		c.report(q.start, q.end, fmt.Sprintf("%q has no field %q", of, clip(q.name)), help)
	}
}

// fieldsOf are the fields of messages in a tree, as they are written.
func fieldsOf(n *node) (out []string) {
	var walk func(n *node)
	walk = func(n *node) {
		if n.kind == nPath && len(n.parts) > 1 {
			if s := (&node{kind: nPath, parts: n.parts}).String(); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(n)
	return out
}

// Index judges a frame without its record: by its code, direction, connection, name, length, time and whatever else the frame says.
// NeedsRecord is the answer where a value of the message decides.
func (f *Filter) Index(x *Frame) Verdict { return f.judge(x, nil, NeedsRecord) }

// Match judges a frame. rec is its message, decoded by the program of x.Message from x.Bytes; nil if there is none, and then no
// field of a message is there.
func (f *Filter) Match(x *Frame, rec *codec.Record) bool { return f.judge(x, rec, No) == Yes }

func (f *Filter) judge(x *Frame, rec *codec.Record, without Verdict) Verdict {
	p := f.planOf(x.Message)
	switch p.root.op {
	case cFalse:
		return No
	case cTrue:
		return Yes
	}
	if rec != nil && (rec.Program == nil || rec.Program.Message != x.Message) {
		rec = nil // of another message: places would be wrong
	}
	m := f.machines.Get().(*machine)
	m.filter, m.frame, m.rec, m.without = f, x, rec, without
	v := m.judge(p.root)
	m.release()
	f.machines.Put(m)
	return v
}

// release lets go of what belongs to the caller.
func (m *machine) release() {
	m.filter, m.frame, m.rec, m.text = nil, nil, nil, m.text[:0]
	for i := range m.slots {
		s := &m.slots[i]
		s.val = value{}
		s.cur.Forget()
		if cap(s.text) > maxKept {
			s.text = nil
		}
	}
	m.cur.Forget()
	if len(m.vals) > 0 {
		clear(m.vals)
		m.vals = m.vals[:0]
	}
	if cap(m.text) > maxKept {
		m.text = nil
	}
}

// maxKept is how much memory for text a machine keeps.
const maxKept = 1 << 20

func (f *Filter) planOf(m *schema.Message) *plan {
	if m != nil {
		if p := f.plans[m]; p != nil {
			return p
		}
	}
	return f.none
}

// CanMatch reports whether any frame of a message can match; of nil, any without a definition. It was decided when the filter was
// compiled.
func (f *Filter) CanMatch(m *schema.Message) bool { return f.planOf(m).root.op != cFalse }

// Everything reports whether the filter is empty and so matches every frame.
func (f *Filter) Everything() bool { return f.everything }

// Fields are the fields of messages that the filter names, as they are written in it: "C_CHAT.message", ".message".
func (f *Filter) Fields() []string { return f.fields }

// Columns are the fields of a message whose values decide, as codec.Program.AppendFieldPath writes them: "members[].name". In order,
// each once.
func (f *Filter) Columns(m *schema.Message) []string { return f.planOf(m).columns }

// Rewritten is what the filter stands for, if it was written in short: bare text, a bare number, "= 48211", ~q. Else it is "".
func (f *Filter) Rewritten() string { return f.rewritten }

// selectedValue is the value of a field in the selected frame.
func (c *compiler) selectedValue(n *node, s *side) (*expr, ty, outcome) {
	x := c.env.Selected
	if x == nil {
		return nil, ty{}, c.mistake(n, "no frame is selected", "")
	}
	parts := n.parts[1:]
	if len(parts) == 1 {
		if f, ok := frameFields[parts[0].name]; ok {
			return c.selectedFrame(n, f, parts[0])
		}
	}
	p := c.program(x.Message)
	if p == nil {
		return nil, ty{}, c.mistake(n, "the selected frame has no definition", "")
	}
	if len(parts) > 1 && parts[0].name == x.Message.Name {
		parts = parts[1:]
	}
	f, why := c.resolve(n, parts, p, false)
	if why != nil {
		q := &n.parts[len(n.parts)-len(parts)+why.part]
		if why.message == "" {
			why.message = fmt.Sprintf("%q has no field %q", x.Message.Name, clip(q.name))
			why.help = didYouMean(q.name, why.known)
		}
		return nil, f.t, c.mistakeAt(q.start, q.end, why.message, why.help)
	}
	if f.t.class == cGroup || f.t.class == cList {
		return nil, f.t, c.mistake(n, f.t.says(), groupHelp(f.t))
	}
	f.t.num = nil
	e := &expr{op: xLeaf, leaf: len(s.leaves)}
	l := &leaf{kind: leafConsts, consts: c.selectedConsts(p, f)}
	s.leaves = append(s.leaves, l)
	if f.slice != nil {
		return sliced(e, f.t, f.slice)
	}
	return e, f.t, fine
}

// selectedConsts reads the values of a field in the selected frame, the first 1,000.
func (c *compiler) selectedConsts(p *codec.Program, f found) (out []value) {
	if c.sel == nil {
		c.sel = new(codec.Record)
		p.Decode(c.sel, slices.Clone(c.env.Selected.Bytes))
	}
	for _, t := range f.targets {
		at, ok := p.Site(t.field, t.index...)
		if !ok {
			continue
		}
		var s slot
		for s.cur.Start(c.sel, at); len(out) < 1000 && s.cur.Next(); {
			s.take(t.conv)
			v := s.val
			v.b = slices.Clone(v.b)
			out = append(out, v)
		}
	}
	return out
}

// selectedFrame is what the selected frame says of itself.
func (c *compiler) selectedFrame(n *node, f frameField, q part) (*expr, ty, outcome) {
	about := &frameInfo[f]
	t := ty{class: about.class, words: about.words, label: about.name}
	m := machine{frame: c.env.Selected, filter: &Filter{}, without: No}
	e := &expr{op: xFrame, field: f}
	switch f {
	case ffName:
		e.op = xCodeName
	case ffState, ffStatus, ffErr, ffInfo, ffBuild, ffVer:
		return nil, t, c.mistake(n, strconv.Quote(about.name)+" of the selected frame is not known here", "")
	default:
		if about.class == cText {
			e.op = xFrameText
		}
	}
	v, ok := m.compute(e, 0)
	if !ok {
		return nil, t, absent
	}
	x := &expr{op: xConst, val: v}
	if len(q.index) == 1 && (t.class == cText || t.class == cBytes) {
		return sliced(x, t, &q.index[0])
	}
	return x, t, fine
}
