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
	maxOwn      = 1 << 20     // maximum bytes of an injected message or a replacement
	lastWrites  = time.Second // time to send remaining data when a connection is cut off
	wantedTime  = time.Second // time after which a connection that is not operated yet is reported
	maxDelivery = 2 << 20     // bytes waiting for the receiver of a stream, above which nothing is injected
)

// operated is a connection relayed through a rewriter. One goroutine runs it and owns all fields that are not marked as shared.
type operated struct {
	s  *Session
	c  *conn
	rw transport.Rewriter

	relay  transport.Relay
	past   transport.Relay // for data that was sent before it is fed
	carry  carrier
	direct direct

	// Shared channels.
	in   chan arrival
	cmds chan func()
	cut  chan struct{} // closed to end the connection
	done chan struct{} // closed when the connection has ended

	on    bool // the rewriter is operating
	begun [2]bool
	ended [2]bool // no more data will come
	over  bool
	late  []arrival // data sent before it is fed

	held   map[uint64]*waiting  // by number of the rewriter
	stand  map[uint64]*sighting // all frames not sent yet, including held ones
	lines  [2][]uint64          // the queued ones of each direction, in order. Guarded by the lock of Session.op
	due    dueHeap
	asking Message   // the last message given to rules and intercept
	tell   time.Time // time to report that the connection is not operated yet; zero means never

	// State of the current call.
	at       time.Time
	piece    []byte // the bytes being fed
	pieceNo  uint32
	pieceDir schema.Dir
	seen     []*sighting
	own      *sighting // message of Send
	freed    *waiting  // message of Release
	changes  []change
	outs     []out
	arena    []byte
}

// carrier sends data to the sockets, without waiting for a receiver.
type carrier interface {
	admits(dir schema.Dir, n int) bool // whether a delivery of this size is possible at all; called once per delivery
	deliver(dir schema.Dir, data []byte, end bool)
	pending(dir schema.Dir) int // unsent bytes
	took(dir schema.Dir)        // the bytes of a reader were taken, and it waits
	resume(o *operated)         // resumes readers whose bytes are not waiting
}

// arrival is data received from a socket. The reader of a stream waits to be resumed before it reuses the memory.
type arrival struct {
	dir   schema.Dir
	at    time.Time
	bytes []byte
	end   bool
	err   error  // ends the connection
	piece uint32 // number of the piece, if it was sent before it is fed
	lost  int64  // bytes sent before it that are not fed
}

// change is a replacement by rules. It is applied after the call in which the message was found, because only then errors are detected.
type change struct {
	inner uint64
	seen  *sighting
	v     verdict
}

// out is a range of the arena.
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
		s.events.add(Failure, "%s passes without being decoded: %v", c.Name(), err)
	}
	if o.rw == nil {
		o.rw = unread{}
	}
	o.c.mode.Store(&mode{mode: transport.Observing.String()})
	o.direct.wake = make(chan struct{}, 1)
	return o
}

// unread is the rewriter of a connection of an unknown protocol.
type unread struct{}

func (unread) Feed(seg transport.Segment, r *transport.Relay) {
	r.Put(transport.Segment{Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes, End: seg.End})
}
func (unread) Operate(bool, time.Time, *transport.Relay) {}
func (unread) Mode() (transport.RewriteMode, string) {
	return transport.Impossible, "the protocol is unknown"
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

// do runs f in the goroutine of the connection, and waits for it.
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

// run runs the connection until it has ended. On return the sockets are still open, and pending data is not sent yet. For streams, failed
// receives the error of a write, and progress a value after each write.
func (o *operated) run(failed <-chan error, progress <-chan struct{}) {
	defer close(o.done)
	o.s.op.add(o)
	defer o.s.op.remove(o)
	defer o.vacate()
	o.sync()
	o.gate() // not before: what the readers send directly is not judged
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

// vacate gives back the places of what still waits, which is nothing unless run has panicked.
func (o *operated) vacate() {
	for _, w := range o.held {
		o.s.op.leave(w)
	}
	o.s.op.mu.Lock()
	defer o.s.op.mu.Unlock()
	for way := range o.lines {
		o.s.op.standing -= len(o.lines[way])
		o.lines[way] = nil
	}
}

// rest returns the time until the next timer.
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
			_ = o.release(w, transport.Decision{}, "time limit reached")
			o.s.events.add(Warning, "held messages reached their time limit and pass")
		}
	}
}

// arrive feeds received data.
func (o *operated) arrive(a arrival) {
	if a.err != nil {
		o.over = true
		return
	}
	o.catchUp(0) // data sent before it
	if o.c.Proto == transport.UDP && len(a.bytes) == 0 {
		if o.carry.admits(a.dir, 0) {
			o.s.queue.sent(o.c, a.dir, a.at, nil, 0)
			o.carry.deliver(a.dir, nil, false)
			o.s.queue.signal()
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

// segment converts an arrival for the rewriter.
func (o *operated) segment(a arrival) transport.Segment {
	way := a.dir - schema.ToServer
	seg := transport.Segment{Dir: a.dir, At: a.at, Packet: a.piece, Lost: a.lost, Bytes: a.bytes, End: a.end}
	if o.c.Proto == transport.TCP {
		seg.Start = !o.begun[way]
	}
	o.begun[way], o.ended[way] = true, o.ended[way] || a.end
	return seg
}

// call calls the rewriter, then shows and sends its output. If the rewriter panics, the connection is cut off, since the states of both
// ends may differ.
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
		o.s.because(o.c, "the rewriter failed")
		o.over = true
	}
	o.flush()
	o.showMode()
}

// showMode publishes a changed mode.
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

// tellMode reports that the session is operated but the connection is not, so that messages pass unintentionally. A handshake that takes
// the usual time is not reported.
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
	o.s.events.add(Warning, "a connection is not operated yet, and its messages pass: waiting for %s", why)
	o.at = time.Now()
	o.seen = append(o.seen, &sighting{Frame: transport.Frame{
		Kind: transport.Control, Dir: schema.ToServer, At: o.at, Offset: transport.Unknown, Length: transport.Unknown,
		Note: "not operated yet: messages pass, and are listed when they can be decoded; waiting for " + why,
	}})
	o.flush()
}

// sync follows the policy: it tells the rewriter whether the session is operated, and passes what nothing makes wait any more. It returns
// the number of the latter.
func (o *operated) sync() int {
	p := o.s.op.policy.Load()
	on := p.on
	if on == o.on {
		return o.reconsider(p)
	}
	o.on = on
	if on { // first feed data already sent; there is mostly none, and the gate closes immediately
		o.catchUp(0)
		o.direct.open(false)
		o.catchUp(0)
	} else {
		o.passAll(true, "operating was switched off")
	}
	o.call(func() { o.rw.Operate(on, o.at, &o.relay) })
	o.gate()
	return 0
}

// emit receives a frame from the rewriter.
func (o *operated) emit(f *transport.Frame) {
	o.seen = append(o.seen, sight(f))
}

// ask returns the decision about the last emitted message.
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

// wait queues a message, if there is room.
func (o *operated) wait(id uint64, x *sighting, v verdict) bool {
	now := time.Now()
	w := &waiting{
		Held:    Held{Conn: o.c.Conn, Frame: x.Frame, At: now},
		delayed: !v.hold, delays: v.delays, on: o, inner: id, seen: x, why: v.why, made: v.made, place: -1,
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
			o.s.events.add(Warning, "too many delayed messages: further ones pass immediately")
		} else {
			o.s.events.add(Warning, "too many held messages: further ones pass")
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

// forget removes a message from the waiting ones.
func (o *operated) forget(w *waiting) {
	delete(o.held, w.inner)
	if w.place >= 0 {
		heap.Remove(&o.due, w.place)
	}
	o.s.op.leave(w)
	o.s.log.Touch()
}

// replace applies a change by rules.
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

// instead records the replacement of a message, sent now or when the message would be.
func (o *operated) instead(x *sighting, with transport.Outgoing, note string) {
	f := &transport.Frame{
		Kind: transport.Message, Dir: x.Dir, At: o.at, Key: x.Key, HasKey: x.HasKey, Name: x.Name, Bytes: bytes.Clone(with.Bytes),
		Offset: transport.Unknown, Note: note,
	}
	if with.Raw {
		f.Kind, f.Note = transport.Control, both(note, "sent raw")
		f.Key, f.HasKey, f.Name = schema.Key{}, false, ""
	}
	x.sent = f
	if x.gone {
		o.settle(x)
	}
}

// settle completes a replaced message with the bytes that were sent, unless they are unchanged.
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
		o.s.events.add(Failure, "cannot identify sent messages: %v", err)
	}
}

// release sends or drops a waiting message. After an error other than ErrNotHeld it still waits.
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
		case err != nil: // the rewriter has reported its sending before
			x.remark("it was sent already")
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
	if err != nil && !errors.Is(err, transport.ErrNotHeld) && byRules { // the replacement by rules is invalid
		o.s.events.add(Failure, "%s failed, the message is unchanged: %v", w.made, err)
		o.s.op.mu.Lock()
		w.With = nil
		o.s.op.mu.Unlock()
		return o.release(w, transport.Decision{}, "not changed: "+err.Error())
	}
	return err
}

// decide applies the decision of a user.
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
		what += ", after the messages before it"
	}
	o.s.events.by(who, Info, "held message %d of %s %s %s: %s", w.ID, o.c.Name(), x.Dir, what, shortHex(w.Frame.Bytes, 32))
	return nil
}

// passAll releases the waiting messages in order: the held ones, or with delayed all.
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

// inject sends a message of a user.
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
			f.Kind, f.Note = transport.Control, both(f.Note, "sent raw")
		}
		o.own = &sighting{Frame: f, flags: live.Injected, who: who, since: o.at}
		defer func() { o.own = nil }()
		err = o.rw.Send(dir, with, o.at, &o.relay)
	})
	return err
}

// out receives data to send.
func (o *operated) out(seg transport.Segment) {
	from := len(o.arena)
	o.arena = append(o.arena, seg.Bytes...)
	o.outs = append(o.outs, out{seg.Dir, from, len(o.arena), seg.End})
}

const maxArena = 256 << 10 // bytes of memory kept for the next call

// flush shows the output of a call to the observer, and then sends it. Data sent unchanged is shown before the frames found in it, so that
// these know their packets; otherwise frames come first, so that the following packets get their comments.
func (o *operated) flush() {
	n := 0
	for _, x := range o.outs { // refused data must not be recorded
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
