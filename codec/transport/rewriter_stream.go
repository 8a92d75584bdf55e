package transport

import (
	"fmt"
	"time"

	"wirebench/defs/schema"
)

// StreamWire is the protocol of a StreamRewriter: one whose messages follow each other in two streams.
type StreamWire interface {
	Transport

	// Ready reports whether messages can be read. why names the missing prerequisite; never reports that it cannot be met any more.
	Ready() (ok bool, never bool, why string)

	// Take begins rewriting at the given offsets of the streams to the server and to the client; from there on Open and Close are called.
	Take(toServer, toClient int64)

	// Start returns the offset in a direction's stream of the first incomplete message, or Unknown.
	Start(dir schema.Dir) int64

	// Open deciphers the data received in a direction, Close enciphers the data sent in it. Both see all bytes in order.
	Open(dir schema.Dir, data []byte)
	Close(dir schema.Dir, data []byte)

	// Fit returns the message to send, in newly allocated memory.
	Fit(dir schema.Dir, o Outgoing) ([]byte, error)

	// Mark returns the state of a received message that Seal and Gone need when it is sent or dropped. It is 0 for injected messages.
	Mark(f *Frame) uint64

	// Seal writes the values that depend on earlier messages, such as counters, into a message being sent. Gone reports that a message is
	// omitted at this point.
	Seal(dir schema.Dir, message []byte, mark uint64)
	Gone(dir schema.Dir, mark uint64)
}

// Limits of the data that a StreamRewriter retains, in each direction.
const (
	maxStreamWaiting = 8 * WaitingEnough // bytes behind a held message, with entryCost for each entry
	entryCost        = 128               // bytes charged for each waiting message
	maxStreamLater   = 1 << 20           // bytes of injected messages that wait for the end of a message in progress
)

// StreamRewriter is the Rewriter of protocols whose messages follow each other in two streams.
//
// The safe point of a direction is the next start of a message: a partly sent message is completed without a decision. A held message
// blocks its direction. Where messages cannot be read, bytes pass unchanged until messages can be read again.
type StreamRewriter struct {
	wire    StreamWire
	mode    RewriteMode
	why     string
	asking  bool // call Decide for each message
	changed bool
	lines   [2]line
	next    uint64 // the last id assigned
	held    map[uint64]*entry
	notice  Frame
	usual   entry

	// State of the current call.
	r      *Relay
	at     time.Time
	unsent []byte // rest of the segment being fed, in modes that send it after the transport has read it
	onto   *line
}

// line is the state of one direction.
type line struct {
	dir        schema.Dir
	fed        int64  // bytes received
	done       int64  // offset up to which decisions have been made
	buf        []byte // plain bytes from done on: buf[from:]
	from       int
	queue      []*entry // in order; the first one is held
	bytes      int      // cost of the queue
	out        []byte   // enciphered, sent at the end of the call
	ended      bool     // the input has ended
	over       bool     // the end is being sent, or has been sent
	sent       bool     // the end has been sent
	mid        bool     // the sent data ends inside a message, as far as is known
	later      []*entry // injected messages to send when mid becomes false
	laterBytes int
}

// entry is an item that waits in a line.
type entry struct {
	id    uint64 // if not 0, the relay is notified when it is sent
	held  bool
	line  *line
	bytes []byte
	mark  uint64
	gone  bool // the message of mark is dropped
	kind  entryKind
}

type entryKind uint8

const (
	entryMessage entryKind = iota
	entryBytes             // bytes after which message boundaries are unknown
	entryRest              // the rest of a partly sent message
	entryRaw               // sent unchanged instead of a message
	entryFrame             // the place of a frame that sends no bytes
	entryEnd
)

// NewStreamRewriter returns the rewriter of a connection.
func NewStreamRewriter(w StreamWire) *StreamRewriter {
	s := &StreamRewriter{wire: w, held: map[uint64]*entry{}}
	s.lines[0].dir, s.lines[1].dir = schema.ToServer, schema.ToClient
	return s
}

var _ Rewriter = (*StreamRewriter)(nil)

func (s *StreamRewriter) line(dir schema.Dir) *line {
	if dir == schema.ToClient {
		return &s.lines[1]
	}
	return &s.lines[0]
}

// begin starts a call; end sends its output.
func (s *StreamRewriter) begin(at time.Time, r *Relay) { s.at, s.r = at, r }

func (s *StreamRewriter) end() {
	for i := range s.lines {
		l := &s.lines[i]
		if len(l.out) > 0 || l.over && !l.sent {
			s.r.Put(Segment{Dir: l.dir, At: s.at, Bytes: l.out, End: l.over && !l.sent})
			l.sent = l.over
			if l.out = l.out[:0]; cap(l.out) > maxKeep {
				l.out = nil
			}
		}
	}
	s.r, s.unsent, s.onto = nil, nil, nil
}

// maxKeep is the capacity in bytes above which a buffer is released instead of reused.
const maxKeep = 256 << 10

// maxStreamLost is the loss in bytes above which it counts as unknown, as in the transports.
const maxStreamLost = 1 << 40

// Feed takes the next segment of a stream. A direction of Both counts as ToServer.
func (s *StreamRewriter) Feed(seg Segment, r *Relay) {
	if seg.Dir != schema.ToClient {
		seg.Dir = schema.ToServer
	}
	if seg.Lost < 0 || seg.Lost > maxStreamLost {
		seg.Lost = Unknown
	}
	s.begin(seg.At, r)
	defer s.end()
	l := s.line(seg.Dir)
	if l.ended {
		return
	}
	l.fed += max(seg.Lost, 0)
	if s.mode == Operating {
		if seg.Lost != 0 { // lost in the proxy itself; the streams already differ, so this is the best that can be done
			s.passTo(l, l.fed, false)
			l.done = l.fed
		}
		s.take(l, seg.Bytes)
		s.wire.Feed(seg, s.frame)
		s.afterFeed(l, seg.End)
		return
	}
	l.done = l.fed
	if s.mode != Wanted {
		// Pass the data on unchanged before anything else.
		l.fed += int64(len(seg.Bytes))
		l.done, l.ended, l.over, l.sent = l.fed, seg.End, seg.End, seg.End
		s.r.Put(Segment{Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes, End: seg.End})
		s.wire.Feed(seg, s.frame)
		return
	}
	// The messages in this segment may reveal the cipher, and they can still be decided about.
	s.unsent, s.onto = seg.Bytes, l
	l.fed += int64(len(seg.Bytes))
	s.wire.Feed(seg, s.frame)
	if s.mode == Operating {
		s.taken()
		s.afterFeed(l, seg.End)
		return
	}
	l.out = append(l.out, seg.Bytes...)
	l.done, l.ended, l.over = l.fed, seg.End, seg.End
	s.unsent, s.onto = nil, nil
	s.tryTake()
}

// take appends received bytes.
func (s *StreamRewriter) take(l *line, data []byte) {
	if l.from > 0 {
		l.buf = l.buf[:copy(l.buf, l.buf[l.from:])]
		l.from = 0
	}
	at := len(l.buf)
	l.buf = append(l.buf, data...)
	s.wire.Open(l.dir, l.buf[at:])
	l.fed = l.done + int64(len(l.buf))
}

// afterFeed sends the bytes that need not wait for the rest of their message.
func (s *StreamRewriter) afterFeed(l *line, end bool) {
	if end || s.wire.Start(l.dir) < 0 {
		s.passTo(l, l.fed, false)
	}
	if end {
		l.ended, l.buf, l.from = true, nil, 0
		s.add(l, &entry{kind: entryEnd})
	}
	if len(l.buf) == l.from && cap(l.buf) > maxKeep {
		l.buf, l.from = nil, 0
	}
}

// frame receives the frames that the transport finds.
func (s *StreamRewriter) frame(f *Frame) {
	if s.mode == Wanted && s.onto != nil && f.Kind == Message {
		s.tryTake()
	}
	if s.mode != Operating {
		s.r.EmitFrame(f)
		return
	}
	l := s.line(f.Dir)
	end := f.Offset + int64(len(f.Bytes))
	if f.Kind == Problem && f.Note != "" && f.Offset >= l.done && len(f.Bytes) > 0 {
		f.Note += "; forwarded unchanged"
	}
	if f.Kind != Message || end <= l.done || end > l.fed {
		s.emit(l, f)
		return
	}
	if f.Offset < l.done {
		s.emit(l, f)
		s.passTo(l, end, true)
		return
	}
	s.passTo(l, f.Offset, true)
	s.message(l, f)
	l.from += len(f.Bytes)
	l.done = end
}

// emit emits a frame that needs no decision. It takes the place of its bytes in the line.
func (s *StreamRewriter) emit(l *line, f *Frame) {
	s.r.EmitFrame(f)
	if len(l.queue) > 0 {
		s.next++
		s.add(l, &entry{kind: entryFrame, id: s.next})
	}
}

// message requests the decision about a message.
func (s *StreamRewriter) message(l *line, f *Frame) {
	s.next++
	mark := s.wire.Mark(f)
	s.r.EmitFrame(f)
	var d Decision
	if s.asking {
		d = s.r.Ask(s.next, f)
	}
	if len(l.queue) == 0 && d.Action == Pass { // the common case, without a copy
		s.usual = entry{line: l, mark: mark, bytes: l.buf[l.from : l.from+len(f.Bytes)]}
		s.send(l, &s.usual)
		return
	}
	e := &entry{line: l, mark: mark, id: s.next, held: d.Action == Hold}
	e.bytes = append([]byte(nil), l.buf[l.from:l.from+len(f.Bytes)]...)
	offset := f.Offset
	err := s.decide(e, d)
	s.add(l, e)
	if err != nil {
		s.notice = Frame{Kind: Problem, Dir: l.dir, At: s.at, Offset: offset, Note: "the message was not replaced: " + err.Error()}
		s.emit(l, &s.notice)
	}
}

// decide applies a decision to an unsent entry.
func (s *StreamRewriter) decide(e *entry, d Decision) error {
	switch d.Action {
	case Drop:
		s.changed = true
		e.bytes, e.kind, e.gone = nil, entryRaw, true
	case Replace:
		data, err := s.wire.Fit(e.line.dir, d.With)
		if err != nil {
			return err
		}
		s.changed = true
		if e.bytes = data; d.With.Raw {
			e.kind, e.gone = entryRaw, true
		}
	}
	return nil
}

// tell emits a problem of the rewriter itself.
func (s *StreamRewriter) tell(l *line, offset int64, note string) {
	s.notice = Frame{Kind: Problem, Dir: l.dir, At: s.at, Offset: offset, Note: note}
	s.r.EmitFrame(&s.notice)
}

// passTo sends the undecided bytes up to an offset. whole reports that a message ends there.
func (s *StreamRewriter) passTo(l *line, to int64, whole bool) {
	n := int(min(to-l.done, int64(len(l.buf)-l.from)))
	if n <= 0 {
		return
	}
	e := &entry{kind: entryBytes, bytes: l.buf[l.from : l.from+n]}
	if whole {
		e.kind = entryRest
	}
	if len(l.queue) > 0 {
		e.bytes = append([]byte(nil), e.bytes...)
	}
	s.add(l, e)
	l.from += n
	l.done += int64(n)
}

// add sends an entry, or queues it behind the entries before it.
func (s *StreamRewriter) add(l *line, e *entry) {
	if len(l.queue) == 0 && !e.held {
		s.send(l, e)
		return
	}
	l.queue = append(l.queue, e)
	l.bytes += len(e.bytes) + entryCost
	if e.held {
		s.held[e.id] = e
	}
	if e.id != 0 {
		s.r.Wait(e.id)
	}
	for l.bytes > maxStreamWaiting {
		first := l.queue[0]
		delete(s.held, first.id)
		first.held = false
		s.tell(l, Unknown, "too much data waits behind a held message: it is forwarded")
		s.drain(l)
	}
}

// drain sends the entries that no longer wait.
func (s *StreamRewriter) drain(l *line) {
	n := 0
	for ; n < len(l.queue) && !l.queue[n].held; n++ {
		e := l.queue[n]
		l.bytes -= len(e.bytes) + entryCost
		l.queue[n] = nil
		s.send(l, e)
	}
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil
	}
}

// send writes an entry to the wire.
func (s *StreamRewriter) send(l *line, e *entry) {
	switch e.kind {
	case entryEnd:
		s.sendLater(l)
		l.over = true
		return
	case entryFrame:
		s.r.Go(e.id, nil)
		return
	case entryBytes:
		l.mid = true
	case entryRest:
		l.mid = false
	case entryMessage, entryRaw:
		l.mid = false
		s.sendLater(l) // these were injected earlier
	}
	if e.gone {
		s.wire.Gone(l.dir, e.mark)
	}
	s.write(l, e)
	if e.kind == entryRest {
		s.sendLater(l)
	}
}

func (s *StreamRewriter) write(l *line, e *entry) {
	at := len(l.out)
	l.out = append(l.out, e.bytes...)
	if e.kind == entryMessage {
		s.wire.Seal(l.dir, l.out[at:], e.mark)
	}
	if e.id != 0 {
		s.r.Go(e.id, l.out[at:len(l.out):len(l.out)])
	}
	s.wire.Close(l.dir, l.out[at:])
}

// sendLater sends the injected messages that waited for the end of another message.
func (s *StreamRewriter) sendLater(l *line) {
	for _, e := range l.later {
		s.write(l, e)
	}
	l.later, l.laterBytes = nil, 0
}

// tryTake begins rewriting if it is possible now.
func (s *StreamRewriter) tryTake() {
	ok, never, why := s.wire.Ready()
	s.why = why
	switch {
	case never:
		s.mode = Impossible
		return
	case !ok:
		return
	}
	s.mode, s.why = Operating, ""
	s.wire.Take(s.lines[0].done, s.lines[1].done)
	for i := range s.lines {
		l := &s.lines[i]
		l.buf, l.from, l.mid = nil, 0, true
	}
	if s.onto == nil {
		s.taken()
		return
	}
	s.take(s.onto, s.unsent)
}

// taken determines whether the streams were taken over inside messages.
func (s *StreamRewriter) taken() {
	for i := range s.lines {
		l := &s.lines[i]
		l.mid = len(l.queue) == 0 && s.wire.Start(l.dir) != l.done
	}
}

// Operate implements Rewriter.
func (s *StreamRewriter) Operate(on bool, at time.Time, r *Relay) {
	s.begin(at, r)
	defer s.end()
	s.asking = on
	switch {
	case on && s.mode == Observing:
		s.mode = Wanted
		s.tryTake()
	case !on && s.mode == Wanted:
		s.mode, s.why = Observing, ""
	case !on && s.mode == Operating && !s.changed && len(s.lines[0].queue) == 0 && len(s.lines[1].queue) == 0:
		for i := range s.lines {
			l := &s.lines[i]
			if len(l.later) > 0 {
				return
			}
		}
		for i := range s.lines {
			l := &s.lines[i]
			s.passTo(l, l.fed, false)
			l.buf, l.from = nil, 0
		}
		s.mode = Observing
	}
}

// Mode implements Rewriter.
func (s *StreamRewriter) Mode() (RewriteMode, string) { return s.mode, s.why }

// Release implements Rewriter.
func (s *StreamRewriter) Release(id uint64, d Decision, at time.Time, r *Relay) error {
	e := s.held[id]
	if e == nil {
		return ErrNotHeld
	}
	if d.Action == Hold {
		return nil
	}
	s.begin(at, r)
	defer s.end()
	l, before := e.line, len(e.bytes)
	if err := s.decide(e, d); err != nil {
		return err
	}
	l.bytes += len(e.bytes) - before
	delete(s.held, id)
	e.held = false
	s.drain(l)
	return nil
}

// Send implements Rewriter.
func (s *StreamRewriter) Send(dir schema.Dir, o Outgoing, at time.Time, r *Relay) error {
	if s.mode != Operating {
		return ErrNotOperating
	}
	s.begin(at, r)
	defer s.end()
	l := s.line(dir)
	if l.over {
		return ErrClosed
	}
	data, err := s.wire.Fit(l.dir, o)
	if err != nil {
		return err
	}
	if l.mid && l.laterBytes+len(data)+entryCost > maxStreamLater {
		return ErrFull
	}
	s.next++
	s.changed = true
	e := &entry{id: s.next, bytes: data}
	if o.Raw {
		e.kind = entryRaw
	}
	if l.mid {
		l.later = append(l.later, e)
		l.laterBytes += len(data) + entryCost
		s.r.Wait(e.id)
		return nil
	}
	s.write(l, e)
	return nil
}

// Tick does nothing: streams need no retransmission.
func (s *StreamRewriter) Tick(time.Time, *Relay) {}

// Due returns the zero time.
func (s *StreamRewriter) Due() time.Time { return time.Time{} }

// Waiting returns the number of bytes of a direction that wait: held messages and the data behind them.
func (s *StreamRewriter) Waiting(dir schema.Dir) int {
	l := s.line(dir)
	return l.bytes + l.laterBytes
}

// Flush emits incomplete messages as problems and sends their bytes unchanged.
func (s *StreamRewriter) Flush(at time.Time, r *Relay) {
	s.begin(at, r)
	defer s.end()
	s.wire.Flush(at, s.frame)
	if s.mode == Operating {
		for i := range s.lines {
			s.passTo(&s.lines[i], s.lines[i].fed, false)
		}
	}
}

// OutOfRange returns the error for a message whose size is outside its protocol's limits, in bytes.
func OutOfRange(size, least, most int) error {
	return fmt.Errorf("a message of %d bytes: it must have %d to %d", size, least, most)
}
