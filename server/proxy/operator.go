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
	ErrNotOperated = errors.New("this listener only observes: stop it, and start one that can change messages (in the page with \"allow changes\", in a request or a file of --proxies with \"operate\": true)")
	ErrOff         = errors.New("the session is not being operated")
	ErrNoConn      = errors.New("the connection does not exist or has ended")
	ErrNotHeld     = transport.ErrNotHeld
	ErrFull        = transport.ErrFull
)

// Match reports whether a message matches. It is called in the goroutine of the connection for each message, so it must be quick, and must
// not call the session; a panic counts as an error. The frame is valid only during the call, and must not be changed.
type Match func(*Message) bool

// Message is a message given to rules and the intercept, one after another.
type Message struct {
	Conn  *transport.Conn
	Frame *transport.Frame
	N     uint64 // from 1; unique for each frame of the connection, and each replacement by a rule
	Memo  any    // cache of the matchers of a connection, so that they decode a frame once; nil at first
}

// Intercept selects the messages to hold.
type Intercept struct {
	Filter string // for display
	Match  Match  // nil holds none
}

// Held is a message waiting for a decision.
type Held struct {
	ID    uint64              // unique in the session
	Conn  transport.Conn      //
	Frame transport.Frame     // as received
	With  *transport.Outgoing // replacement by rules, sent if the message passes; nil if there is none
	At    time.Time           // start of waiting
	Until time.Time           // when it passes automatically; zero means never

	Behind int // later messages and other items of its direction that wait too, including held ones
}

// Operating is the state of a session that can be operated, for display.
type Operating struct {
	On        bool      `json:"on" doc:"messages are held, changed and injected"`
	Who       string    `json:"who,omitempty" doc:"the user who last switched it"`
	Since     time.Time `json:"since,omitzero"`
	Intercept string    `json:"intercept,omitempty" doc:"filter of the messages to hold"`
	Held      int       `json:"held" doc:"messages waiting for a decision"`
	HeldBytes int       `json:"held_bytes"`
	Delayed   int       `json:"delayed" doc:"messages delayed by rules"`
	Behind    int       `json:"behind" doc:"frames waiting behind held or delayed ones; they are listed when they are sent"`
	Rules     int       `json:"rules" doc:"active rules"`
}

// policy holds the settings that connections use. It is immutable and replaced as a whole.
type policy struct {
	on        bool
	intercept Intercept
	rules     []*rule
}

// operator is the state shared by the connections of a session that can be operated.
type operator struct {
	policy atomic.Pointer[policy]

	mu    sync.Mutex
	ended bool
	who   string
	since time.Time
	conns map[*operated]struct{}
	next  uint64
	held  map[uint64]*waiting
	sizes [2]struct{ n, bytes int } // held messages, and messages delayed by rules

	standing int // items queued in all connections
	heldUp   int // held or delayed items among them

	changes chan struct{} // has one element after a change of the held messages
	moved   chan struct{} // of the session

	backlog atomic.Int64 // bytes sent and not fed to rewriters yet
}

// waiting is a message held in the rewriter of its connection.
type waiting struct {
	Held
	delayed bool // by rules, else held for a user
	delays  []delayedBy
	due     time.Time
	on      *operated
	inner   uint64 // number of the rewriter
	seen    *sighting
	why     string // rules that delay it
	made    string // rules that replaced it
	size    int
	place   int // index in the heap of due messages; -1 if it is not there
	inLine  bool
	over    bool
}

func (p *operator) init(moved chan struct{}) {
	p.moved = moved
	p.policy.Store(&policy{})
	p.changes = make(chan struct{}, 1)
	p.conns, p.held = map[*operated]struct{}{}, map[uint64]*waiting{}
}

// poke signals a change of the held messages.
func (p *operator) poke() {
	poke(p.changes)
	poke(p.moved)
}

// HeldChanged returns a channel that receives a value after messages were held or released, several changes as one. It is for one reader.
func (s *Session) HeldChanged() <-chan struct{} { return s.op.changes }

// change replaces the policy. The caller holds the lock.
func (p *operator) change(by func(*policy)) {
	next := *p.policy.Load()
	by(&next)
	p.policy.Store(&next)
}

// Limits of the delayed messages of a session.
const (
	maxDelayed      = 10_000
	maxDelayedBytes = 16 << 20
)

// enter adds a message; false means that there is no room.
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

// turn makes a held message one that is only delayed; false means that there is no room.
func (p *operator) turn(w *waiting) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := &p.sizes[1]; s.n >= maxDelayed || s.bytes+w.size > maxDelayedBytes {
		return false
	}
	p.sizes[0].n--
	p.sizes[0].bytes -= w.size
	p.sizes[1].n++
	p.sizes[1].bytes += w.size
	w.delayed, w.Until = true, time.Time{}
	p.poke()
	return true
}

// leave removes a message.
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

// all returns the open connections. The caller holds the lock.
func (p *operator) all() []*operated {
	var list []*operated
	for o := range p.conns {
		list = append(list, o)
	}
	return list
}

// end switches operating off for good, and passes held messages.
func (p *operator) end() {
	p.mu.Lock()
	p.ended = true
	p.change(func(x *policy) { x.on = false })
	list := p.all()
	p.mu.Unlock()
	for _, o := range list {
		_ = o.do(func() { o.sync() })
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

const maxWho = 100 // bytes of a user name in events

// named returns a user name that is suitable for an event.
func named(who string) string {
	who = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, who[:min(len(who), maxWho)])
	return cmp.Or(strings.ToValidUTF8(strings.TrimSpace(who), ""), "somebody")
}

// Operate switches operating on or off: holding, changing and injecting messages. It is off at first; switching it off passes the held
// messages. On return all connections have changed. The error is ErrNotOperated or, when switching on in an ended session, ErrNoConn.
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
	p.mu.Unlock()
	if on {
		s.events.by(named(who), Warning, "the session is operated: messages can be held, changed and injected")
	} else {
		s.events.by(named(who), Info, "the session only observes")
	}
	s.apply(who)
	return nil
}

// apply makes all connections follow the policy: what nothing makes wait any more passes, in order. On return they do.
func (s *Session) apply(who string) {
	s.op.mu.Lock()
	list := s.op.all()
	s.op.mu.Unlock()
	n := 0
	for _, o := range list {
		_ = o.do(func() { n += o.sync() })
	}
	switch {
	case n == 0:
	case who == "":
		s.events.add(Info, "%s pass: nothing holds them any more", count(n, "message"))
	default:
		s.events.by(named(who), Info, "%s pass: nothing holds them any more", count(n, "message"))
	}
}

// Reconsider passes the messages that nothing makes wait any more, after the meaning of a filter has changed.
func (s *Session) Reconsider() {
	if s.rewriter != nil {
		s.apply("")
	}
}

// SetIntercept selects the messages to hold from now on. Of those already held, the others pass.
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
	s.apply(who)
	return nil
}

// Held returns the messages waiting for a decision, oldest first. Their bytes must not be changed.
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

// Decide decides about a held message. Pass sends it, with the replacement by rules if there is one; Hold does nothing. The error is
// ErrNotHeld, or about the replacement; then the message is still held.
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

// PassAll passes all held messages, and returns their number.
func (s *Session) PassAll(who string) int {
	s.op.mu.Lock()
	list := s.op.all()
	s.op.mu.Unlock()
	n := 0
	for _, o := range list {
		_ = o.do(func() { n += o.passAll(false, "passed by "+named(who)) })
	}
	if n > 0 {
		s.events.by(named(who), Info, "all held messages pass: %s", count(n, "message"))
	}
	return n
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(n) + " " + what + "s"
}

// Send injects a message into a direction of a connection. The error is ErrNotOperated, ErrOff, ErrNoConn, or one of transport.Rewriter:
// ErrNotOperating, ErrClosed, ErrFull, or about the message.
func (s *Session) Send(connID int, dir schema.Dir, out transport.Outgoing, who string) error {
	if s.rewriter == nil {
		return ErrNotOperated
	}
	if dir != schema.ToServer && dir != schema.ToClient {
		return errors.New("the direction must be to the server or to the client")
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
