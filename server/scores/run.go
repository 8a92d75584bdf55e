package scores

import (
	"context"
	"slices"
	"time"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/corpus"
	"wirebench/defs/schema"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// longMessage is the length of messages that are decoded alone, without columns.
const longMessage = 1 << 15

// Score is how a definition explains the messages of its code that a project owns.
type Score struct {
	Message string `json:"message"`
	Frames  int    `json:"frames" doc:"judged messages"`
	Of      int    `json:"of" doc:"messages of its code"`
	workspace.Tally
	First  *Defect `json:"first,omitempty" doc:"the first message that is not clean"`
	UsedBy string  `json:"usedBy,omitempty" doc:"another version of the definition that decodes these messages in the project"`

	Tried *uint32 `json:"tried,omitempty" doc:"the code that it was judged with, which its message does not have yet"`

	Mistakes bool   `json:"mistakes,omitempty" doc:"the text has mistakes: what is valid in it was judged"`
	State    State  `json:"state"`
	Lines    []Line `json:"lines,omitempty" doc:"of its fields"`
}

// Defect is why a message is not clean.
type Defect struct {
	Capture string `json:"capture" doc:"id"`
	Name    string `json:"name" doc:"of the capture"`
	Frame   uint32 `json:"frame"`
	Reason  string `json:"reason"`
}

// Line is what messages have at a line of a definition.
type Line struct {
	Line     int     `json:"line"`
	Frames   uint64  `json:"frames" doc:"messages with a value"`
	Distinct int     `json:"distinct" doc:"different values"`
	More     bool    `json:"more,omitempty" doc:"there are more of them than counted"`
	Values   string  `json:"values,omitempty" doc:"the only value, or the least and the greatest"`
	Bad      int     `json:"bad,omitempty" doc:"messages whose defect is here"`
	First    *Defect `json:"first,omitempty" doc:"the first of these"`
}

// Run judges one definition. It is for one goroutine.
type Run struct {
	board   *Board
	def     *workspace.Definition
	program *codec.Program
	sides   [2]side // of messages as they are defined, and of those with the alternative header
	again   int
	usedBy  string
	known   *figures // of another page with this text; nil if there are none
	of      int
	state   State // when Advance was called last

	verdicts reader
	judge    corpus.Judge
	rec      codec.Record
	frames   int
	tally    workspace.Tally
	first    *fault

	values  reader
	numbers []uint64
}

// side is what messages with one header have.
type side struct {
	program *codec.Program    // nil: there is no such header
	bad     map[uint16]*fault // by field
	table   *corpus.Table
	columns columns.Set
}

// side returns that of messages. The definition may have the alternative header itself.
func (r *Run) side(m *messages) *side {
	if m.alternate && r.sides[1].program != nil {
		return &r.sides[1]
	}
	return &r.sides[0]
}

// fault is a defect whose place is not yet named.
type fault struct {
	at     place
	reason string
	n      int
}

// reader is how far the messages were read.
type reader struct{ read map[*messages]int }

// Run returns a run of a definition; old, which may be nil, if it is of the same one.
func (b *Board) Run(d *workspace.Definition, old *Run) *Run {
	if old != nil && old.board == b && old.program == d.Program {
		old.def = d
		return old
	}
	r := &Run{board: b, def: d, program: d.Program}
	r.sides[0].program = d.Program
	if m := d.Message; m != nil && d.Program != nil {
		if alternate := d.Snap.Alternate(m); alternate != m {
			r.sides[1].program, _ = d.Snap.Program(alternate)
		}
	}
	r.begin()
	return r
}

// begin forgets what was read.
func (r *Run) begin() {
	r.verdicts, r.values = reader{map[*messages]int{}}, reader{map[*messages]int{}}
	r.frames, r.tally, r.first = 0, workspace.Tally{}, nil
	for i := range r.sides {
		if x := &r.sides[i]; x.program != nil {
			x.bad, x.table = map[uint16]*fault{}, corpus.NewTable(x.program)
		}
	}
}

// Advance judges further messages for some time, and reports whether there are more.
func (r *Run) Advance(ctx context.Context, enough time.Duration) (more bool) {
	if r.program == nil {
		return false
	}
	r.board.judging.Lock()
	defer r.board.judging.Unlock()
	until := time.Now().Add(enough)
	found, blocks, again, state := r.board.all(r.fits)
	r.state = state
	if r.again != again {
		r.again = again
		r.begin()
	}
	r.of = 0
	for _, b := range blocks {
		for i := range b {
			r.of += len(b[i].spans)
		}
	}
	if r.known = r.board.figuresOf(r.program, again, r.of); r.known != nil {
		return false
	}
	var moreVerdicts, moreValues bool
	supervise.Together(
		func() { moreVerdicts = r.verdicts.advance(ctx, until, found, blocks, r.take) },
		func() { moreValues = r.values.advance(ctx, until, found, blocks, r.count) },
	)
	if moreVerdicts || moreValues {
		return true
	}
	r.board.keep(figures{r.program, again, r.of, r.Score()})
	return false
}

// figuresOf returns the figures of a program if they are of all messages that there are. The caller holds judging.
func (b *Board) figuresOf(p *codec.Program, again, of int) *figures {
	for i := range b.known {
		if f := &b.known[i]; f.program == p && f.again == again && f.of == of {
			return f
		}
	}
	return nil
}

// keep keeps figures. The caller holds judging.
func (b *Board) keep(f figures) {
	rest := slices.DeleteFunc(slices.Clone(b.known), func(x figures) bool { return x.program == f.program })
	b.known = append([]figures{f}, rest[:min(len(rest), maxKnown-1)]...)
}

// fits reports whether messages have the code of the definition.
func (r *Run) fits(m *messages) bool {
	used := r.board.messageOf(r.def.Snap, m)
	if !sameCode(used, r.def.Message) {
		return false
	}
	if r.usedBy = ""; used.Version != r.def.Message.Version {
		r.usedBy = r.def.Snap.NameOf(used)
	}
	return true
}

// sameCode reports whether two messages have the same code; their versions may differ.
func sameCode(a, b *schema.Message) bool {
	return a != nil && b != nil && a.Name == b.Name && a.Key.Group == b.Key.Group && a.Key.Dir == b.Key.Dir
}

// advance calls take for parts of blocks that were not read, until there are no more or the time is over.
func (r *reader) advance(ctx context.Context, until time.Time, found []*messages, blocks [][]block, take func(m *messages, b *block)) (more bool) {
	for i, m := range found {
		at := 0
		for k := range blocks[i] {
			b := &blocks[i][k]
			if at += len(b.spans); at <= r.read[m] {
				continue
			}
			if ctx.Err() != nil || time.Now().After(until) {
				return true
			}
			from := len(b.spans) - (at - r.read[m])
			take(m, &block{b.data, b.spans[from:], b.at[from:]})
			r.read[m] = at
		}
	}
	return false
}

// take judges messages.
func (r *Run) take(m *messages, b *block) {
	x := r.side(m)
	if x.program == nil {
		return
	}
	for i, s := range b.spans {
		x.program.Decode(&r.rec, b.data[s.Off:s.Off+s.Len:s.Off+s.Len])
		v := r.judge.Of(&r.rec)
		r.frames++
		if r.tally.Add(v, 1); v == corpus.Clean {
			continue
		}
		f := x.bad[r.judge.Field()]
		if f == nil {
			f = &fault{at: b.at[i], reason: r.judge.Reason(&r.rec)}
			x.bad[r.judge.Field()] = f
		}
		f.n++
		if r.first == nil {
			r.first = f
		}
	}
}

// count counts the values of messages.
func (r *Run) count(m *messages, b *block) {
	x := r.side(m)
	if x.program == nil {
		return
	}
	r.numbers = r.numbers[:0]
	for _, at := range b.at {
		r.numbers = append(r.numbers, uint64(at.source)<<32|uint64(at.n))
	}
	spans, numbers := b.spans, r.numbers
	for len(spans) > 0 {
		if s := spans[0]; s.Len > longMessage {
			x.table.Add(numbers[0], b.data[s.Off:s.Off+s.Len])
			spans, numbers = spans[1:], numbers[1:]
			continue
		}
		x.columns.Reset()
		n := x.columns.Append(x.program, b.data, spans)
		x.table.AddColumns(&x.columns, numbers[:n])
		spans, numbers = spans[n:], numbers[n:]
	}
}

// Score returns the figures so far.
func (r *Run) Score() Score {
	if r.known != nil {
		s := r.known.score
		s.State = r.state
		return s
	}
	s := Score{Frames: r.frames, Of: r.of, Tally: r.tally, State: r.state, Mistakes: r.def.Broken()}
	if r.def.Message == nil || r.program == nil {
		return s
	}
	s.Message = r.def.Snap.NameOf(r.def.Message)
	s.First, s.UsedBy = r.defect(r.first), r.usedBy
	lines, firsts := map[int]*Line{}, map[int]*fault{}
	for i := range r.sides {
		if r.frames > 0 {
			r.figures(&r.sides[i], lines, firsts)
		}
	}
	for n, l := range lines {
		if n > 0 {
			l.First = r.defect(firsts[n])
			s.Lines = append(s.Lines, *l)
		}
	}
	slices.SortFunc(s.Lines, func(a, b Line) int { return a.Line - b.Line })
	return s
}

// figures adds those of messages with one header to lines, and the first fault of each.
func (r *Run) figures(x *side, lines map[int]*Line, firsts map[int]*fault) {
	if x.program == nil {
		return
	}
	line := func(field uint16) (*Line, int) {
		n := x.program.Line(field)
		if lines[n] == nil {
			lines[n] = &Line{Line: n}
		}
		return lines[n], n
	}
	own := map[int]bool{} // lines with figures of x
	for _, c := range x.table.Columns() {
		switch l, n := line(c.Field); {
		case own[n] || c.Frames == 0: // a line with several parts, as a vector, has the figures of the first
		case l.Frames > 0: // messages with the other header have it, too: perhaps with the same values
			l.Frames, l.Distinct, l.More, l.Values = l.Frames+c.Frames, max(l.Distinct, c.Distinct), true, ""
			own[n] = true
		default:
			l.Frames, l.Distinct, l.More, l.Values = c.Frames, c.Distinct, c.More, valuesOf(&c)
			own[n] = true
		}
	}
	for field, f := range x.bad {
		if field == codec.NoField {
			continue
		}
		l, n := line(field)
		l.Bad += f.n
		if firsts[n] == nil || f.at.before(firsts[n].at) {
			firsts[n] = f
		}
	}
}

func (p place) before(q place) bool { return p.source < q.source || p.source == q.source && p.n < q.n }

func (r *Run) defect(f *fault) *Defect {
	if f == nil {
		return nil
	}
	id, name := r.board.nameOf(f.at.source)
	return &Defect{Capture: id, Name: name, Frame: f.at.n, Reason: f.reason}
}

// maxValue is the maximum length of a value that is shown, in bytes.
const maxValue = 40

// valuesOf describes the values of a column.
func valuesOf(c *corpus.Column) string {
	cut := func(s string) string {
		r := []rune(s)
		if len(r) > maxValue {
			return string(r[:maxValue]) + "…"
		}
		return s
	}
	switch {
	case c.Values == 0:
		return ""
	case c.Constant:
		return "always " + cut(c.Min.Text)
	case c.Text || c.Bytes:
		return ""
	}
	return cut(c.Min.Text) + " … " + cut(c.Max.Text)
}
