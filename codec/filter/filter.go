package filter

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Env is the environment that the meaning of a filter depends on.
type Env struct {
	Schema *schema.Schema // the definitions; nil: none

	// Program returns the program of a message, usually from a cache. Nil: programs are compiled here.
	Program func(*schema.Message) (*codec.Program, error)

	// Alternate returns a message behind the alternative header of its dialect, the same one at each call, or the message itself if it
	// cannot have that header; nil: there is none. The result has the message in AlternateOf.
	Alternate func(*schema.Message) *schema.Message

	// Headers are what surrounds the contents of messages without a definition, each the same one as in their frames.
	Headers []*schema.Message

	// Layers describes the packets around messages; nil: none. Layers of another protocol are used to report that this one has none.
	Layers *transport.Layers

	Values   map[string]string // values of $name; "build" is also a field
	Selected *Frame            // for $sel.path; nil: none
}

// Filter is a compiled filter. It is immutable and safe for concurrent use.
type Filter struct {
	everything bool
	rewritten  string
	translated string
	explained  []string
	widened    []string
	wide       string
	fields     []string
	plans      map[*schema.Message]*plan
	headers    []*schema.Message
	none       *plan // for frames without a definition, and for messages outside the schema
	names      map[uint32]string
	unjudged   atomic.Int64

	machines sync.Pool // memory of evaluations
}

// plan is the filter compiled for one message.
type plan struct {
	root    *cond
	columns []string
}

// nothing is the plan of messages that never match, everything the plan of messages that always match.
var (
	nothing    = &plan{root: never}
	everything = &plan{root: always}
)

// Compile compiles a filter. A blank text matches every frame. If there are mistakes, which are in text order, the filter is usable but
// matches nothing.
func Compile(text string, env Env) (*Filter, []Mistake) {
	f := &Filter{none: nothing}
	f.machines.New = func() any { return &machine{} }
	if len(text) > MaxText {
		return f, []Mistake{{MaxText, len(text), "a filter of more than " + strconv.Itoa(MaxText) + " bytes", ""}}
	}
	if strings.TrimSpace(text) == "" {
		f.everything, f.none = true, everything
		return f, nil
	}
	root, rewritten, foreign, mistakes := read(text)
	if len(mistakes) > 0 {
		return f, mistakes
	}
	c := newCompiler(env)
	c.text = text
	root, translated := c.translate(root)
	if len(c.mistakes) > 0 {
		return f, c.mistakes
	}
	clear(c.paths)
	if root.kind == nPath && len(root.parts) == 1 && !root.raw && len(root.parts[0].index) == 0 && root.quant == quantNone &&
		!root.parts[0].glob && c.classify(root).kind == pathWord {
		word := root.parts[0].name
		root, rewritten = bare(&node{kind: nWords, text: word, start: root.start, end: root.end}), true
		f.explained = c.nearly(word)
	}
	plans, none := c.plans(root)
	if len(c.mistakes) > 0 {
		return f, c.mistakes
	}
	if translated || foreign {
		f.translated = root.String()
	}
	if rewritten || f.translated != "" {
		if f.rewritten = root.String(); len(f.rewritten) > MaxText {
			f.rewritten = "" // it would not be read as a filter
		}
	}
	f.widened = c.widened(root)
	if w := c.wide(root); w != nil && root.short == notShort {
		f.wide = w.String()
	}
	f.headers = env.Headers
	f.plans, f.none, f.fields, f.explained = plans, none, fieldsOf(root), append(f.explained, c.explain(root)...)
	f.names = make(map[uint32]string, len(c.codes()))
	for name, code := range c.codes() {
		if old, ok := f.names[code]; !c.messageNames[name] && (!ok || name < old) {
			f.names[code] = name
		}
	}
	return f, nil
}

// read parses a filter, including short forms of the entire text. foreign reports that parts are in the language of another program.
func read(text string) (root *node, rewritten, foreign bool, mistakes []Mistake) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	start := len(text) - len(trimmed)
	switch {
	case strings.HasPrefix(trimmed, "=") && !strings.HasPrefix(trimmed, "=="):
		root, mistakes = findBox(text, start+1)
		return root, true, false, mistakes
	case captured(trimmed) != "":
		root, _, mistakes = parse(captured(trimmed))
		if len(mistakes) > 0 {
			return nil, false, false, mistakes
		}
		return root.place(start, len(text)), true, true, nil
	case isBareText(trimmed):
		body := strings.TrimSpace(text)
		return bare(&node{kind: nWords, text: body, start: start, end: start + len(body)}), true, false, nil
	}
	root, foreign, mistakes = parse(text)
	if len(mistakes) > 0 {
		return nil, false, false, mistakes
	}
	root, expanded := expand(root)
	return root, foreign || expanded, foreign, nil
}

// plans compiles the conditions of all messages.
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
	plans = make(map[*schema.Message]*plan, len(c.messages)+len(c.env.Headers))
	for _, m := range c.env.Headers {
		c.header = m
		plans[m] = one(nil)
	}
	c.header = nil
	for _, m := range c.messages {
		plans[m] = one(m)
		if len(plans[m].columns) > 0 && c.env.Alternate != nil { // fields have other offsets after the other header
			if c.alternate = c.env.Alternate(m); c.alternate != m {
				plans[c.alternate] = one(m)
			}
			c.alternate = nil
		}
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

// Index judges a frame without its record: by its code, direction, connection, name, length, time and other properties of the frame, and by
// numbers at fixed offsets in its bytes. It returns NeedsRecord if the result depends on other values of the message.
func (f *Filter) Index(x *Frame) Verdict { return f.judge(x, nil, NeedsRecord) }

// Match judges a frame. rec is its message, decoded from x.Bytes by the program of x.Message, or of x.Header; if it is nil, no field of a message is
// present.
func (f *Filter) Match(x *Frame, rec *codec.Record) bool { return f.judge(x, rec, No) == Yes }

func (f *Filter) judge(x *Frame, rec *codec.Record, without Verdict) Verdict {
	p := f.planOf(x.shape())
	switch p.root.op {
	case cFalse:
		return No
	case cTrue:
		return Yes
	}
	if rec != nil && (rec.Program == nil || rec.Program.Message != x.shape()) {
		rec = nil // of another message: offsets would be wrong
	}
	m := f.machines.Get().(*machine)
	m.filter, m.frame, m.rec, m.without = f, x, rec, without
	m.begin(x.Done)
	v := m.judge(p.root)
	if m.stopped {
		v = No
	}
	if m.costly {
		f.unjudged.Add(1)
	}
	m.release()
	f.machines.Put(m)
	return v
}

// Unjudged returns the number of frames that were too costly to judge. Each took more than about two seconds, and its verdict is No.
func (f *Filter) Unjudged() int64 { return f.unjudged.Load() }

// release drops references to data of the caller.
func (m *machine) release() {
	m.filter, m.frame, m.rec, m.text = nil, nil, nil, m.text[:0]
	m.done, m.runes.rest = nil, nil
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

// maxKept is the maximum size of a text buffer that a machine retains.
const maxKept = 1 << 20

func (f *Filter) planOf(m *schema.Message) *plan {
	if m == nil {
		return f.none
	}
	p := f.plans[m]
	if p == nil && m.AlternateOf != nil {
		p = f.plans[m.AlternateOf] // the header does not matter
	}
	if p == nil {
		return f.none
	}
	return p
}

// CanMatch reports whether any frame of a message can match; with nil, whether any frame without a definition can. Compile has computed the
// answer.
func (f *Filter) CanMatch(m *schema.Message) bool {
	return f.planOf(m).root.op != cFalse || m == nil && slices.ContainsFunc(f.headers, f.CanMatch)
}

// Everything reports whether the filter is empty and so matches every frame.
func (f *Filter) Everything() bool { return f.everything }

// Fields returns the message fields named in the filter, as written there: "C_CHAT.message", ".message".
func (f *Filter) Fields() []string { return f.fields }

// Columns returns the fields of a message that the filter reads, in order and without duplicates, as written by
// codec.Program.AppendFieldPath: "members[].name".
func (f *Filter) Columns(m *schema.Message) []string { return f.planOf(m).columns }

// Translated returns the filter in the words of this language, if it has names of Wireshark or mitmproxy, an address without a port, a number
// of seconds as a time, a field without its dot, or the form of a capture filter; otherwise "".
func (f *Filter) Translated() string { return f.translated }

// Version is the version of the language: what a filter that was stored by an older one means may have changed. In version 2 .x is any
// depth.
const Version = 2

// Widened describes, in a sentence for each, the paths that find more than in version 1.
func (f *Filter) Widened() []string { return f.widened }

// Wide returns the filter with the texts that it searches in bytes as UTF-16, "" if there are none: what to try if it finds nothing.
func (f *Filter) Wide() string { return f.wide }

// Rewritten returns the full form of a filter in a short form (bare text, a bare number, "= 48211", ~q), or "", also for a full form of more
// than MaxText bytes.
func (f *Filter) Rewritten() string { return f.rewritten }
