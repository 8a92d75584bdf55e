package proxy

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Errors of operating a session.
var (
	ErrNotOperated = errors.New("the session only observes: it was made without a rewriter")
	ErrOff         = errors.New("the session is not being operated")
	ErrNoConn      = errors.New("there is no such connection, or it has ended")
	ErrNotHeld     = transport.ErrNotHeld
	ErrFull        = transport.ErrFull
)

// Match reports whether something is meant for a message. It is called in the goroutine of the connection, for each message, so it must be
// quick, and must not call the session; a panic counts as an error. The frame is valid until it returns, and must not be changed.
type Match func(*Message) bool

// Message is what rules and the intercept are asked about, one after another.
type Message struct {
	Conn  *transport.Conn
	Frame *transport.Frame
	N     uint64 // from 1; another one for each frame of the connection, and for what a rule has made of one
	Memo  any    // what those that are asked keep for the connection, so that they read a frame once; nil at first
}

// Intercept says which messages are held.
type Intercept struct {
	Filter string // for people
	Match  Match  // nil: none
}

// Held is a message that waits for a person.
type Held struct {
	ID    uint64              // unique in the session
	Conn  transport.Conn      //
	Frame transport.Frame     // as it came
	With  *transport.Outgoing // what rules have made of it, and what goes if it passes; nil: nothing
	At    time.Time           // since when it waits
	Until time.Time           // when it passes by itself; zero: never

	Behind int // messages and others of its direction that came after it and wait too, those that are held among them
}

// Operating is what a page shows of a session that can be operated.
type Operating struct {
	On        bool      `json:"on" doc:"messages are held, changed and injected"`
	Who       string    `json:"who,omitempty" doc:"has switched it last"`
	Since     time.Time `json:"since,omitzero"`
	Intercept string    `json:"intercept,omitempty" doc:"filter of the messages that are held"`
	Held      int       `json:"held" doc:"messages that wait for a person"`
	HeldBytes int       `json:"held_bytes"`
	Delayed   int       `json:"delayed" doc:"messages that rules delay"`
	Behind    int       `json:"behind" doc:"frames that wait behind those that are held or delayed; they are listed when they go on"`
	Rules     int       `json:"rules" doc:"that are on"`
}

// policy is what the connections go by. It is not changed but exchanged.
type policy struct {
	on        bool
	intercept Intercept
	rules     []*rule
}

// operator is what the connections of a session share that can be operated.
type operator struct {
	policy atomic.Pointer[policy]

	mu    sync.Mutex
	ended bool
	who   string
	since time.Time
	conns map[*operated]struct{}
	next  uint64
	held  map[uint64]*waiting
	sizes [2]struct{ n, bytes int } // of messages that wait for a person, and of those that rules delay

	standing int // in the lines of all connections
	heldUp   int // of them, those that are held or delayed

	changes chan struct{} // has one when other messages are held than before
	moved   chan struct{} // of the session

	backlog atomic.Int64 // bytes that were sent and not read yet
}

// waiting is a message that is held in its connection's rewriter.
type waiting struct {
	Held
	delayed bool // by a rule, else for a person
	due     time.Time
	on      *operated
	inner   uint64 // the rewriter's number
	seen    *sighting
	why     string // which rules delay it
	made    string // which rules have made With
	size    int
	place   int // in the heap of those that are due; -1: not there
	inLine  bool
	over    bool
}

func (p *operator) init(moved chan struct{}) {
	p.moved = moved
	p.policy.Store(&policy{})
	p.changes = make(chan struct{}, 1)
	p.conns, p.held = map[*operated]struct{}{}, map[uint64]*waiting{}
}

// poke says that other messages are held.
func (p *operator) poke() {
	poke(p.changes)
	poke(p.moved)
}

// HeldChanged has a value after messages were held or went on, several as one. It is for one reader.
func (s *Session) HeldChanged() <-chan struct{} { return s.op.changes }

// change exchanges the policy. It needs the lock.
func (p *operator) change(by func(*policy)) {
	next := *p.policy.Load()
	by(&next)
	p.policy.Store(&next)
}

// Bounds of delayed messages of a session.
const (
	maxDelayed      = 10_000
	maxDelayedBytes = 16 << 20
)

// enter takes a message in, or says that too much waits.
func (p *operator) enter(w *waiting, l Limits) bool {
	w.size = 512 + len(w.Frame.Bytes)
	if w.With != nil {
		w.size += len(w.With.Bytes)
	}
	most, mostBytes, kind := l.HeldMessages, l.HeldBytes, 0
	if w.delayed {
		most, mostBytes, kind = maxDelayed, maxDelayedBytes, 1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := &p.sizes[kind]; s.n >= most || s.bytes+w.size > mostBytes {
		return false
	}
	p.sizes[kind].n++
	p.sizes[kind].bytes += w.size
	p.next++
	w.ID = p.next
	p.held[w.ID] = w
	p.poke()
	return true
}

// leave takes it out.
func (p *operator) leave(w *waiting) {
	kind := 0
	if w.delayed {
		kind = 1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.over {
		return
	}
	w.over = true
	if w.inLine {
		p.heldUp--
	}
	p.sizes[kind].n--
	p.sizes[kind].bytes -= w.size
	delete(p.held, w.ID)
	p.poke()
}

func (p *operator) add(o *operated) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[o] = struct{}{}
}

func (p *operator) remove(o *operated) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, o)
}

// all are the connections that are open. It needs the lock.
func (p *operator) all() []*operated {
	var list []*operated
	for o := range p.conns {
		list = append(list, o)
	}
	return list
}

// end switches off for good, and lets pass what is held.
func (p *operator) end() {
	p.mu.Lock()
	p.ended = true
	p.change(func(x *policy) { x.on = false })
	list := p.all()
	p.mu.Unlock()
	for _, o := range list {
		_ = o.do(o.sync)
	}
}

func (p *operator) state() *Operating {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.policy.Load()
	out := &Operating{
		On: x.on, Who: p.who, Since: p.since, Intercept: x.intercept.Filter, Held: p.sizes[0].n, HeldBytes: p.sizes[0].bytes, Delayed: p.sizes[1].n,
		Behind: p.standing - p.heldUp,
	}
	for _, r := range x.rules {
		if r.On {
			out.Rules++
		}
	}
	return out
}

const maxWho = 100 // bytes of a name in events

// named is who, fit for an event.
func named(who string) string {
	who = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, who[:min(len(who), maxWho)])
	return cmp.Or(strings.ToValidUTF8(strings.TrimSpace(who), ""), "somebody")
}

// Operate switches on that messages are held, changed and injected, or off; then what is held passes. It is off at first. When it
// returns, the connections go by it. The errors are ErrNotOperated and, to switch on, ErrNoConn of a session that has ended.
func (s *Session) Operate(on bool, who string) error {
	if s.rewriter == nil {
		return ErrNotOperated
	}
	p := &s.op
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		if on {
			return ErrNoConn
		}
		return nil
	}
	p.who, p.since = named(who), time.Now()
	p.change(func(x *policy) { x.on = on })
	list := p.all()
	p.mu.Unlock()
	if on {
		s.events.by(named(who), Warning, "the session is operated: messages can be held, changed and injected")
	} else {
		s.events.by(named(who), Info, "the session only observes")
	}
	for _, o := range list {
		_ = o.do(o.sync)
	}
	return nil
}

// SetIntercept says which messages are held from now on; those that are held stay so.
func (s *Session) SetIntercept(x Intercept, who string) error {
	if s.rewriter == nil {
		return ErrNotOperated
	}
	s.op.mu.Lock()
	s.op.change(func(p *policy) {
		if p.intercept = x; x.Match == nil {
			p.intercept = Intercept{}
		}
	})
	s.op.mu.Unlock()
	if x.Match == nil {
		s.events.by(named(who), Info, "no messages are held")
	} else {
		s.events.by(named(who), Info, "messages are held: %s", x.Filter)
	}
	return nil
}

// Held are the messages that wait for a person, the oldest first. Their bytes must not be changed.
func (s *Session) Held() []Held {
	s.op.mu.Lock()
	defer s.op.mu.Unlock()
	var list []Held
	for _, w := range s.op.held {
		if !w.delayed {
			h := w.Held
			if line := w.on.lines[h.Frame.Dir-schema.ToServer]; w.inLine {
				at, _ := slices.BinarySearch(line, w.inner)
				h.Behind = max(len(line)-at-1, 0)
			}
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b Held) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Decide says what becomes of a message that is held. Pass lets it go as rules have made it, or as it came; Hold does nothing. The errors
// are ErrNotHeld and what is wrong with the replacement; with this it is still held.
func (s *Session) Decide(id uint64, d transport.Decision, who string) error {
	s.op.mu.Lock()
	w := s.op.held[id]
	s.op.mu.Unlock()
	if w == nil || w.delayed {
		return ErrNotHeld
	}
	if d.Action == transport.Hold {
		return nil
	}
	err := ErrNotHeld
	if w.on.do(func() { err = w.on.decide(w, d, named(who)) }) != nil {
		return ErrNotHeld
	}
	return err
}

// PassAll lets all messages go that wait for a person, and returns how many.
func (s *Session) PassAll(who string) int {
	s.op.mu.Lock()
	list := s.op.all()
	s.op.mu.Unlock()
	n := 0
	for _, o := range list {
		_ = o.do(func() { n += o.passAll(false, "passed by "+named(who)) })
	}
	if n > 0 {
		s.events.by(named(who), Info, "all passes that was held: %s", count(n, "message"))
	}
	return n
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(n) + " " + what + "s"
}

// Send puts a message into a direction of a connection. The errors are ErrNotOperated, ErrOff, ErrNoConn, and those of transport.Rewriter:
// ErrNotOperating, ErrClosed, ErrFull and what is wrong with the message.
func (s *Session) Send(connID int, dir schema.Dir, out transport.Outgoing, who string) error {
	if s.rewriter == nil {
		return ErrNotOperated
	}
	if dir != schema.ToServer && dir != schema.ToClient {
		return errors.New("a message goes either to the server or to the client")
	}
	s.op.mu.Lock()
	var found *operated
	for o := range s.op.conns {
		if o.c.ID == connID {
			found = o
		}
	}
	s.op.mu.Unlock()
	if found == nil {
		return ErrNoConn
	}
	err := ErrNoConn
	if found.do(func() { err = found.inject(dir, out, named(who)) }) != nil {
		return ErrNoConn
	}
	return err
}
