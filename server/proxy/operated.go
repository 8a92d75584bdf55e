package proxy

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

const (
	maxOwn      = 1 << 20     // bytes of a message that is injected or put instead of another
	lastWrites  = time.Second // for what passes when a connection is cut off
	wantedTime  = time.Second // after which it is said that a connection is not operated yet
	maxDelivery = 2 << 20     // bytes that wait for a stream's receiver, above which nothing is injected
)

// operated is a connection that is relayed through a rewriter. One goroutine runs it and owns all but what is said to be shared.
type operated struct {
	s  *Session
	c  *conn
	rw transport.Rewriter

	relay  transport.Relay
	past   transport.Relay // of what was sent before it is fed
	carry  carrier
	direct direct

	// Shared, all of them channels.
	in   chan arrival
	cmds chan func()
	cut  chan struct{} // closed to end it
	done chan struct{} // closed when it has ended

	on    bool // the rewriter was told to operate
	begun [2]bool
	ended [2]bool // nothing more comes
	over  bool
	late  []arrival // that were sent before they are fed

	held   map[uint64]*waiting  // by the rewriter's number
	stand  map[uint64]*sighting // all that do not go on yet, those that are held among them
	lines  [2][]uint64          // of them, those that stand in the line of their direction. Under the lock of Session.op
	due    dueHeap
	asking Message   // what rules and intercept were asked about last
	tell   time.Time // when to say that the connection is not operated yet; zero: never

	// Of the call that is under way.
	at       time.Time
	piece    []byte // that is fed
	pieceNo  uint32
	pieceDir schema.Dir
	seen     []*sighting
	own      *sighting // for Send
	freed    *waiting  // for Release
	changes  []change
	outs     []out
	arena    []byte
}

// carrier takes what goes out to the sockets, without waiting for a receiver.
type carrier interface {
	admits(dir schema.Dir, n int) bool // whether so many bytes may be delivered at all; asked once for each delivery
	deliver(dir schema.Dir, data []byte, end bool)
	pending(dir schema.Dir) int // bytes that are not sent
	took(dir schema.Dir)        // notes that bytes were taken, and that their reader waits
	resume(o *operated)         // lets those read on whose bytes do not wait
}

// arrival is what a socket gave. A reader of a stream waits to be resumed before it uses the memory again.
type arrival struct {
	dir   schema.Dir
	at    time.Time
	bytes []byte
	end   bool
	err   error  // it ends everything
	piece uint32 // its number, of one that was sent before it is fed
	lost  int64  // bytes that were sent before it and are not fed
}

// change is a replacement by rules, which is made right after the call in which the message came: only then errors are seen.
type change struct {
	inner uint64
	seen  *sighting
	v     verdict
}

// out is a run of the arena.
type out struct {
	dir      schema.Dir
	from, to int
	end      bool
}

func (s *Session) newOperated(c *conn, cut chan struct{}) *operated {
	o := &operated{
		s: s, c: c, in: make(chan arrival), cmds: make(chan func()), cut: cut, done: make(chan struct{}),
		held: map[uint64]*waiting{}, stand: map[uint64]*sighting{}, asking: Message{Conn: &c.Conn},
	}
	o.relay = transport.Relay{Emit: o.emit, Out: o.out, Decide: o.ask, Waits: o.waits, Goes: o.goes, Never: o.never}
	o.past = transport.Relay{Emit: o.emit, Never: o.never}
	var err error
	func() {
		defer rescue(&err)
		o.rw = s.rewriter(c.Conn)
	}()
	if err != nil {
		s.events.add(Failure, "%s passes without being read: %v", c.Name(), err)
	}
	if o.rw == nil {
		o.rw = unread{}
	}
	o.c.mode.Store(&mode{mode: transport.Observing.String()})
	o.direct.wake = make(chan struct{}, 1)
	o.gate()
	return o
}

// unread is the rewriter of a connection whose protocol nobody knows.
type unread struct{}

func (unread) Feed(seg transport.Segment, r *transport.Relay) {
	r.Put(transport.Segment{Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes, End: seg.End})
}
func (unread) Operate(bool, time.Time, *transport.Relay) {}
func (unread) Mode() (transport.RewriteMode, string) {
	return transport.Impossible, "the protocol is not known"
}

func (unread) Release(uint64, transport.Decision, time.Time, *transport.Relay) error {
	return transport.ErrNotHeld
}

func (unread) Send(schema.Dir, transport.Outgoing, time.Time, *transport.Relay) error {
	return transport.ErrNotOperating
}
func (unread) Tick(time.Time, *transport.Relay)  {}
func (unread) Due() time.Time                    { return time.Time{} }
func (unread) Waiting(schema.Dir) int            { return 0 }
func (unread) Flush(time.Time, *transport.Relay) {}

// do lets the connection's goroutine do something, and waits for it.
func (o *operated) do(f func()) error {
	ready := make(chan struct{})
	select {
	case o.cmds <- func() { defer close(ready); f() }:
		<-ready
		return nil
	case <-o.done:
		return ErrNoConn
	}
}

// run runs the connection until it has ended. The sockets are still open then, and what is pending is not sent yet.
// Of streams, failed gives why one cannot be written to, and progress says that something was written.
func (o *operated) run(failed <-chan error, progress <-chan struct{}) {
	defer close(o.done)
	o.s.op.add(o)
	defer o.s.op.remove(o)
	o.sync()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for !o.over {
		timer.Reset(o.rest())
		select {
		case a := <-o.in:
			o.arrive(a)
		case f := <-o.cmds:
			f()
		case <-o.direct.wake:
			o.catchUp(catchUpTime)
		case <-timer.C:
			o.tick()
		case err := <-failed:
			o.s.because(o.c, err.Error())
			o.over = true
		case <-progress:
		case <-o.cut:
			o.over = true
		}
		o.gate()
		o.carry.resume(o)
	}
	o.direct.open(false)
	o.catchUp(0)
	o.passAll(true, "the connection has ended")
	o.call(func() { o.rw.Flush(o.at, &o.relay) })
	o.abandon()
}

// rest is the time until something is due.
func (o *operated) rest() time.Duration {
	next := o.rw.Due()
	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if len(o.due) > 0 {
		sooner(o.due[0].due)
	}
	sooner(o.tell)
	if next.IsZero() {
		return time.Hour
	}
	return max(time.Until(next), time.Millisecond)
}

func (o *operated) tick() {
	now := time.Now()
	if due := o.rw.Due(); !due.IsZero() && !due.After(now) {
		o.call(func() { o.rw.Tick(now, &o.relay) })
	}
	if !o.tell.IsZero() && !o.tell.After(now) {
		o.tellWanted()
	}
	for len(o.due) > 0 && !o.due[0].due.After(now) {
		w := heap.Pop(&o.due).(*waiting)
		if w.delayed {
			_ = o.release(w, transport.Decision{}, "")
		} else {
			_ = o.release(w, transport.Decision{}, "nobody has decided in time")
			o.s.events.add(Warning, "nobody has decided about messages in time: they pass")
		}
	}
}

// arrive feeds what came.
func (o *operated) arrive(a arrival) {
	if a.err != nil {
		o.over = true
		return
	}
	o.catchUp(0) // what was sent before it
	if o.c.Proto == transport.UDP && len(a.bytes) == 0 {
		if o.carry.admits(a.dir, 0) {
			o.carry.deliver(a.dir, nil, false)
		}
		return
	}
	a.piece = o.direct.number()
	seg := o.segment(a)
	if o.ended[0] && o.ended[1] {
		o.passAll(true, "the connection has ended")
	}
	o.piece, o.pieceNo, o.pieceDir = a.bytes, a.piece, a.dir
	o.call(func() { o.rw.Feed(seg, &o.relay) })
	if o.piece = nil; !a.end {
		o.carry.took(a.dir)
	}
}

// segment is an arrival as rewriters are fed with it.
func (o *operated) segment(a arrival) transport.Segment {
	way := a.dir - schema.ToServer
	seg := transport.Segment{Dir: a.dir, At: a.at, Packet: a.piece, Lost: a.lost, Bytes: a.bytes, End: a.end}
	if o.c.Proto == transport.TCP {
		seg.Start = !o.begun[way]
	}
	o.begun[way], o.ended[way] = true, o.ended[way] || a.end
	return seg
}

// call calls the rewriter, and sees and sends what it made. A rewriter that fails loses its connection: the two ends may differ by now.
func (o *operated) call(f func()) {
	o.at = time.Now()
	var err error
	func() {
		defer rescue(&err)
		f()
		for len(o.changes) > 0 {
			x := o.changes[0]
			o.changes = o.changes[1:]
			o.replace(x)
		}
	}()
	if err != nil {
		o.changes = nil
		o.s.events.add(Failure, "%s is cut off: %v", o.c.Name(), err)
		o.s.because(o.c, "the rewriter has failed")
		o.over = true
	}
	o.flush()
	o.showMode()
}

// showMode shows a mode that has changed.
func (o *operated) showMode() {
	m, why := o.rw.Mode()
	before := o.c.mode.Load()
	if before.mode == m.String() && before.why == why {
		return
	}
	o.c.mode.Store(&mode{m.String(), why})
	o.tellMode()
	o.s.log.Touch()
}

// tellMode tells those who look on that a session is operated and a connection of it is not: messages pass that are meant to be held. A
// handshake that takes its usual time is not worth it.
func (o *operated) tellMode() {
	o.tell = time.Time{}
	switch m, why := o.rw.Mode(); {
	case !o.on:
	case m == transport.Impossible:
		o.s.events.add(Warning, "a connection cannot be operated: %s", why)
	case m == transport.Wanted:
		o.tell = time.Now().Add(wantedTime)
	}
}

func (o *operated) tellWanted() {
	o.tell = time.Time{}
	m, why := o.rw.Mode()
	if m != transport.Wanted || !o.on {
		return
	}
	o.s.events.add(Warning, "a connection is not operated yet, and its messages pass: what is missing is %s", why)
	o.at = time.Now()
	o.seen = append(o.seen, &sighting{Frame: transport.Frame{
		Kind: transport.Control, Dir: schema.ToServer, At: o.at, Offset: transport.Unknown, Length: transport.Unknown,
		Note: "not operated yet: messages pass, and are listed when they can be read; what is missing is " + why,
	}})
	o.flush()
}

// sync tells the rewriter whether the session is operated.
func (o *operated) sync() {
	on := o.s.op.policy.Load().on
	if on == o.on {
		return
	}
	o.on = on
	if on { // first what was sent before; mostly that is nothing, and the gate closes at once
		o.catchUp(0)
		o.direct.open(false)
		o.catchUp(0)
	} else {
		o.passAll(true, "the session is not operated any more")
	}
	o.call(func() { o.rw.Operate(on, o.at, &o.relay) })
	o.gate()
}

// emit takes a frame from the rewriter.
func (o *operated) emit(f *transport.Frame) {
	o.seen = append(o.seen, sight(f))
}

// ask decides about the message that was emitted last.
func (o *operated) ask(id uint64, f *transport.Frame) transport.Decision {
	p := o.s.op.policy.Load()
	if !p.on || len(o.seen) == 0 || len(p.rules) == 0 && p.intercept.Match == nil {
		return transport.Decision{}
	}
	x := o.seen[len(o.seen)-1]
	v := o.judge(p, f, x)
	switch {
	case v.drop:
		x.flags |= live.Dropped
		x.remark("dropped by " + v.why)
		return transport.Decision{Action: transport.Drop}
	case (v.hold || v.delay > 0) && o.wait(id, x, v):
		o.stop(id)
		return transport.Decision{Action: transport.Hold}
	case v.with != nil:
		o.stop(id)
		o.changes = append(o.changes, change{id, x, v})
		return transport.Decision{Action: transport.Hold}
	}
	return transport.Decision{}
}

// wait lets a message wait, if there is room for it.
func (o *operated) wait(id uint64, x *sighting, v verdict) bool {
	now := time.Now()
	w := &waiting{
		Held:    Held{Conn: o.c.Conn, Frame: x.Frame, At: now},
		delayed: !v.hold, on: o, inner: id, seen: x, why: v.why, made: v.made, place: -1,
	}
	w.Frame.From = nil
	if v.with != nil {
		w.With = &transport.Outgoing{Bytes: v.with}
	}
	switch hold := o.s.limits.Hold; {
	case w.delayed:
		w.due = now.Add(v.delay)
	case hold > 0:
		w.Until = now.Add(hold)
		w.due = w.Until
	}
	if !o.s.op.enter(w, o.s.limits) {
		if w.delayed {
			o.s.events.add(Warning, "too many messages are delayed: more pass at once")
		} else {
			o.s.events.add(Warning, "too many messages are held: more pass")
		}
		return false
	}
	o.held[id] = w
	if !w.due.IsZero() {
		heap.Push(&o.due, w)
	}
	o.s.log.Touch()
	return true
}

// forget takes a message out of the lists of what waits for a decision.
func (o *operated) forget(w *waiting) {
	delete(o.held, w.inner)
	if w.place >= 0 {
		heap.Remove(&o.due, w.place)
	}
	o.s.op.leave(w)
	o.s.log.Touch()
}

// replace makes a change of rules.
func (o *operated) replace(x change) {
	d := transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: x.v.with}}
	err := o.rw.Release(x.inner, d, o.at, &o.relay)
	if err == nil {
		o.instead(x.seen, d.With, "changed by "+x.v.made)
		return
	}
	for _, r := range x.v.by {
		o.failed(r, err)
	}
	x.seen.remark("not changed: " + err.Error())
	if errors.Is(err, transport.ErrNotHeld) {
		o.goes(x.inner, nil)
	} else {
		_ = o.rw.Release(x.inner, transport.Decision{}, o.at, &o.relay)
	}
}

// instead notes what is sent instead of a message, or is to be sent when its turn comes.
func (o *operated) instead(x *sighting, with transport.Outgoing, note string) {
	f := &transport.Frame{
		Kind: transport.Message, Dir: x.Dir, At: o.at, Key: x.Key, HasKey: x.HasKey, Name: x.Name, Bytes: bytes.Clone(with.Bytes),
		Offset: transport.Unknown, Note: note,
	}
	if with.Raw {
		f.Kind, f.Note = transport.Control, both(note, "as it stands")
		f.Key, f.HasKey, f.Name = schema.Key{}, false, ""
	}
	x.sent = f
	if x.gone {
		o.settle(x)
	}
}

// settle says of a message that was replaced what was sent, unless that is the same.
func (o *operated) settle(x *sighting) {
	f := x.sent
	if x.went != nil {
		f.Bytes = x.went
	}
	if f.Kind == transport.Message && bytes.Equal(f.Bytes, x.Bytes) {
		x.sent = nil
		return
	}
	x.flags |= live.Modified | live.Dropped
	f.At = x.At
	if f.Kind == transport.Message {
		o.identify(f)
	}
}

func (o *operated) identify(f *transport.Frame) {
	if o.s.identify == nil {
		return
	}
	var err error
	func() {
		defer rescue(&err)
		o.s.identify(o.c.Conn, f)
	}()
	if err != nil {
		o.s.events.add(Failure, "messages that are sent cannot be named: %v", err)
	}
}

// release lets a message go that waits. With an error but ErrNotHeld it still waits.
func (o *operated) release(w *waiting, d transport.Decision, note string) error {
	if w.over {
		return ErrNotHeld
	}
	byRules := d.Action == transport.Pass && w.With != nil
	if byRules {
		d = transport.Decision{Action: transport.Replace, With: *w.With}
		note = both("changed by "+w.made, note)
	}
	var err error
	o.call(func() {
		o.freed = w
		err = o.rw.Release(w.inner, d, o.at, &o.relay)
		if o.freed = nil; err != nil && !errors.Is(err, transport.ErrNotHeld) {
			return
		}
		x := w.seen
		waited := o.at.Sub(w.At).Round(time.Millisecond)
		x.told = true
		if w.delayed {
			x.remark(fmt.Sprintf("%s: delayed by %s", w.why, waited))
		} else {
			x.remark(fmt.Sprintf("held for %s", waited))
		}
		switch {
		case err != nil: // which no rewriter does without having told
			x.remark("it had gone on")
			o.goes(w.inner, nil)
		case d.Action == transport.Drop:
			x.flags |= live.Dropped
			x.remark(note)
		case d.Action == transport.Replace:
			o.instead(x, d.With, note)
		default:
			x.remark(note)
		}
		o.forget(w)
	})
	if err != nil && !errors.Is(err, transport.ErrNotHeld) && byRules { // what they have made is no message
		o.s.events.add(Failure, "%s fails, and leaves the message as it is: %v", w.made, err)
		o.s.op.mu.Lock()
		w.With = nil
		o.s.op.mu.Unlock()
		return o.release(w, transport.Decision{}, "not changed: "+err.Error())
	}
	return err
}

// decide does what somebody has decided.
func (o *operated) decide(w *waiting, d transport.Decision, who string) error {
	what := "passes"
	note := "passed by " + who
	switch d.Action {
	case transport.Drop:
		what, note = "is dropped", "dropped by "+who
	case transport.Replace:
		if len(d.With.Bytes) > maxOwn {
			return transport.OutOfRange(len(d.With.Bytes), 1, maxOwn)
		}
		what, note = "is sent as "+shortHex(d.With.Bytes, 64), "changed by "+who
	}
	x := w.seen
	err := o.release(w, d, note)
	if err != nil {
		return err
	}
	if x.sent != nil && x.gone {
		what = "is sent as " + shortHex(x.sent.Bytes, 64)
	}
	if !x.gone {
		what += ", when those before it have gone"
	}
	o.s.events.by(who, Info, "held message %d of %s %s %s: %s", w.ID, o.c.Name(), x.Dir, what, shortHex(w.Frame.Bytes, 32))
	return nil
}

// passAll lets go what waits, in its order: for a person, or with delayed all of it.
func (o *operated) passAll(delayed bool, note string) int {
	var list []*waiting
	for _, w := range o.held {
		if delayed || !w.delayed {
			list = append(list, w)
		}
	}
	sortWaiting(list)
	n := 0
	for _, w := range list {
		err := o.release(w, transport.Decision{}, note)
		if err != nil && !w.over { // the direction has ended
			w.seen.remark(err.Error())
			o.call(func() {
				o.forget(w)
				o.never(w.inner)
			})
			continue
		}
		n++
	}
	return n
}

// inject sends a message of somebody's.
func (o *operated) inject(dir schema.Dir, with transport.Outgoing, who string) error {
	switch {
	case !o.on:
		return ErrOff
	case o.over:
		return ErrNoConn
	case len(with.Bytes) > maxOwn:
		return transport.OutOfRange(len(with.Bytes), 1, maxOwn)
	case o.carry.pending(dir) > maxDelivery:
		return ErrFull
	}
	var err error
	o.call(func() {
		f := transport.Frame{
			Kind: transport.Message, Dir: dir, At: o.at, Bytes: bytes.Clone(with.Bytes), Offset: transport.Unknown, Note: "injected by " + who,
		}
		if with.Raw {
			f.Kind, f.Note = transport.Control, both(f.Note, "as it stands")
		}
		o.own = &sighting{Frame: f, flags: live.Injected, who: who, since: o.at}
		defer func() { o.own = nil }()
		err = o.rw.Send(dir, with, o.at, &o.relay)
	})
	return err
}

// out takes what is to be sent.
func (o *operated) out(seg transport.Segment) {
	from := len(o.arena)
	o.arena = append(o.arena, seg.Bytes...)
	o.outs = append(o.outs, out{seg.Dir, from, len(o.arena), seg.End})
}

const maxArena = 256 << 10 // bytes of memory that are kept for the next call

// flush shows what a call has made to the observer, and then sends it. What goes as it came is shown before the frames that were found in
// it, so that these know their packets; otherwise frames are first, so that the packets that follow have their comments.
func (o *operated) flush() {
	n := 0
	for _, x := range o.outs { // what may not go is not recorded either
		if x.from == x.to || o.carry.admits(x.dir, x.to-x.from) {
			o.outs[n] = x
			n++
		}
	}
	o.outs = o.outs[:n]
	same := uint32(0)
	if len(o.outs) == 1 && o.piece != nil {
		if x := o.outs[0]; x.dir == o.pieceDir && bytes.Equal(o.arena[x.from:x.to], o.piece) {
			same = o.pieceNo
			o.record(same)
		}
	}
	for i, x := range o.seen {
		o.seen[i] = nil
		if !o.s.queue.frame(o.c, x) {
			o.s.seen.unlogged.Add(1)
			o.s.events.add(Warning, "the observer was too slow: frames are missing in the log")
		}
	}
	if same == 0 {
		o.record(0)
	}
	for _, x := range o.outs {
		o.carry.deliver(x.dir, o.arena[x.from:x.to], x.end)
	}
	o.seen, o.outs = o.seen[:0], o.outs[:0]
	if o.arena = o.arena[:0]; cap(o.arena) > maxArena {
		o.arena = nil
	}
	if cap(o.seen) > 1<<12 {
		o.seen = nil
	}
	o.s.queue.signal()
}

func (o *operated) record(piece uint32) {
	for _, x := range o.outs {
		for data := o.arena[x.from:x.to]; len(data) > 0; {
			n := len(data)
			if o.c.Proto == transport.TCP {
				n = min(n, maxPiece)
			}
			o.s.queue.sent(o.c, x.dir, o.at, data[:n], piece)
			data = data[n:]
		}
		if x.end {
			o.s.queue.end(o.c, ended, x.dir, o.at)
		}
	}
}
