package subspace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Rewriter is the transport.Rewriter of one UDP pair.
//
// The safe point is where it is known how datagrams are enciphered; with the handshake that is before the first numbered packet. From
// there on the rewriter is the receiver of what each end sends and the sender of what each end gets: it acknowledges numbered packets
// itself, puts them in order, numbers what goes on anew and sends it again until it is acknowledged, with the timing of a server. To
// translate acknowledgements instead would be enough for a message that is dropped or added now and then, but a message that is held
// would make its sender give up (15 tries), one packet can become several and several one, and chunks and streams have to be whole
// before they can be decided about. The price is that an acknowledgement says no more than that the rewriter has the packet; so it takes no
// more when much waits, and a disconnect waits a short time for what is before it.
//
// Numbers that were relayed before that point keep their meaning: their packets and acknowledgements pass as they are, and so do chunks and
// streams of which a part was relayed.
//
// A reliable message that is held holds up all reliable ones of its direction, others overtake it. What was in clusters is put in clusters
// again, as it fits in 512 bytes. Chunked messages and streams go on when they are whole. A message that was not in parts and has become
// too long goes as a chunked message, and reliably. Sync packets pass at once, their counts corrected by the datagrams that the rewriter
// has added and saved. What servers ignore for its form does not pass.
type Rewriter struct {
	t      *Transport
	mode   transport.RewriteMode
	why    string
	asking bool // Decide is asked
	unseen bool // datagrams of the session were relayed and not fed
	lanes  [2]lane
	next   uint64 // the last id
	held   map[uint64]*item
	notice transport.Frame
	packed []byte // of the datagram that is put together

	// Of the call that is under way.
	r     *transport.Relay
	at    time.Time
	now   *carrier // what the packet that is read came in
	busy  bool     // a reliable packet is delivered
	holds bool     // and something in it is held
	batch []item   // what is in it
	whole bool     // all of it passes as it came
}

// carrier is what a packet came in.
type carrier struct {
	lane     *lane
	reliable bool
	passed   bool // it went on as it was: nothing is decided
}

// lane is one direction: from the end that sends to the end that receives.
type lane struct {
	dir schema.Dir

	// As the receiver of the one end.
	base    int64            // numbers below were relayed, and go on so
	awaited int64            // the number that is delivered next
	early   map[int32]*early // that came before it
	bytes   int              // of early
	started bool
	came    int64 // datagrams
	heard   time.Time

	rawChunk, rawStream bool // the one that is under way passes in its parts
	after               []item
	afterBytes          int

	// What is held, and behind it.
	queue  []*item
	queued int // bytes of the queue, and of unreliable ones that are held

	sender
}

// item is a packet that is to go on.
type item struct {
	id       uint64 // not 0: the relay is told when it goes
	held     bool
	lane     *lane
	reliable bool
	how      form
	bytes    []byte
	more     []uint64 // as id, of a cluster
}

// form is how a message is sent.
type form uint8

const (
	alone   form = iota
	chunked      // in parts, without a total
	streamed
	core // no message: a core packet
	gone // not sent
)

// Bounds of what a rewriter keeps, in each direction.
const (
	takeWindow   = 256     // numbers that are taken ahead of the next one, of up to maxRead bytes each
	maxLane      = 2 << 20 // bytes that wait to be sent or decided, above which no new packet is taken
	maxRead      = 1 << 10 // bytes of a datagram; servers read 520 at most
	itemCost     = 128     // bytes that count for each one that waits
	maxUnordered = 1 << 20 // bytes of unreliable messages that are held; more pass
)

// NewRewriter makes the rewriter of a connection.
func NewRewriter(o Options) *Rewriter {
	rw := &Rewriter{t: New(o), held: map[uint64]*item{}}
	rw.t.prompt = true
	rw.reset()
	return rw
}

var _ transport.Rewriter = (*Rewriter)(nil)

// reset begins a session.
func (rw *Rewriter) reset() {
	for i := range rw.lanes {
		l := &rw.lanes[i]
		for _, it := range l.queue {
			rw.tellAll(it, rw.r.Forget)
			delete(rw.held, it.id)
		}
		*l = lane{dir: schema.ToServer, came: l.came, heard: l.heard, sender: sender{went: l.went}}
		l.sender.reset()
		if i == 1 {
			l.dir = schema.ToClient
		}
	}
	for _, id := range slices.Sorted(maps.Keys(rw.held)) {
		rw.r.Forget(id)
	}
	clear(rw.held)
}

// tellAll tells the relay of all that an item is of.
func (rw *Rewriter) tellAll(it *item, tell func(id uint64)) {
	if it.id != 0 {
		tell(it.id)
	}
	for _, id := range it.more {
		tell(id)
	}
}

func (rw *Rewriter) lane(dir schema.Dir) *lane {
	if dir == schema.ToClient {
		return &rw.lanes[1]
	}
	return &rw.lanes[0]
}

func (rw *Rewriter) back(l *lane) *lane {
	if l == &rw.lanes[0] {
		return &rw.lanes[1]
	}
	return &rw.lanes[0]
}

func (rw *Rewriter) begin(at time.Time, r *transport.Relay) {
	rw.at, rw.r = at, r
	rw.t.emit = rw.frame
	rw.t.at = at
}

// end sends what the call has made.
func (rw *Rewriter) end() {
	for i := range rw.lanes {
		rw.transmit(&rw.lanes[i])
	}
	rw.t.emit, rw.r, rw.now = nil, nil, nil
}

// Feed takes the next datagram. A direction of Both counts as ToServer.
func (rw *Rewriter) Feed(seg transport.Segment, r *transport.Relay) {
	rw.begin(seg.At, r)
	defer rw.end()
	if seg.Dir != schema.ToClient {
		seg.Dir = schema.ToServer
	}
	l := rw.lane(seg.Dir)
	l.came++
	l.heard = seg.At
	if rw.mode == transport.Operating {
		rw.datagram(l, seg)
		if seg.Dir == schema.ToServer {
			rw.t.heard = seg.At
		}
		return
	}
	if rw.unseen = rw.unseen || seg.Lost != 0; seg.Lost == 0 {
		rw.put(l, seg.Bytes)
	}
	session := rw.t.session.used
	rw.t.Feed(seg, rw.frame)
	rw.t.emit = rw.frame
	if session && !rw.t.session.used {
		rw.unseen = false
	}
	if rw.mode == transport.Wanted || rw.mode == transport.Impossible {
		rw.tryTake()
	}
}

// tryTake begins to rewrite if it can be done by now.
func (rw *Rewriter) tryTake() {
	t := rw.t
	rw.mode = transport.Impossible
	switch {
	case t.mode == continuum:
		rw.why = "Continuum's cipher cannot be read"
	case t.mode == closed:
		rw.why = "enciphered, and the key is not known"
	case t.mode == info || t.mode == announce:
		rw.why = "no session: questions about how many players there are"
	case t.mode == unknown:
		rw.mode, rw.why = transport.Wanted, "the handshake, or datagrams that show the cipher"
	case rw.unseen:
		rw.why = "datagrams of the session were relayed without being seen"
	default:
		rw.mode, rw.why = transport.Operating, ""
		rw.reset()
		for i := range rw.lanes {
			rw.takeOver(&rw.lanes[i])
		}
	}
}

// takeOver takes the numbers of a direction from the transport, which has seen them.
func (rw *Rewriter) takeOver(l *lane) {
	w := rw.t.way(l.dir)
	o := &w.order
	l.started = o.started || rw.t.session.hasInit || rw.t.session.answered
	l.base, l.awaited = o.next, o.next
	l.early = map[int32]*early{}
	for n, e := range o.early {
		l.base = max(l.base, int64(n)+1)
		l.early[n] = e
		l.bytes += len(e.body)
	}
	o.early = nil
	o.reset()
	l.number = l.base
	l.rawChunk, l.rawStream = true, true // if one is under way
}

// datagram reads one of a session that is rewritten.
func (rw *Rewriter) datagram(l *lane, seg transport.Segment) {
	t := rw.t
	w := t.way(l.dir)
	w.figures.count(seg)
	t.begin(seg)
	if seg.Lost != 0 {
		t.problem(w, nil, 0, "bytes of a datagram are missing; it does not pass")
		return
	}
	data := seg.Bytes
	if t.handshake(w, data) {
		if !t.session.used {
			rw.reset()
			for i := range rw.lanes {
				rw.lanes[i].came, rw.lanes[i].went = 0, 0 // as the ends count
			}
			l.came = 1
			if t.mode != plain && t.mode != vie {
				rw.mode, rw.why, rw.unseen = transport.Wanted, "the server's key", false
			} else {
				rw.takeOver(&rw.lanes[0])
				rw.takeOver(&rw.lanes[1])
			}
		}
		rw.put(l, data)
		return
	}
	if len(data) > maxRead {
		t.problem(w, data, t.off, "longer than anything that servers read: it does not pass")
		return
	}
	t.session.used = true
	if w.cipher != nil {
		data = t.deciphered(w.cipher, data)
	}
	rw.read(&carrier{lane: l}, data, t.off)
}

// frame is given what the transport found.
func (rw *Rewriter) frame(f *transport.Frame) {
	rw.r.EmitFrame(f)
	c := rw.now
	if c == nil || rw.mode != transport.Operating || c.passed {
		return
	}
	behind := c.reliable && (len(c.lane.queue) > 0 || rw.busy && rw.holds)
	how := alone
	if n := len(rw.t.path); n > 0 {
		switch rw.t.path[n-1].kind {
		case inChunk:
			how = chunked
		case inStream:
			how = streamed
		}
	}
	if f.Kind != transport.Message || how == chunked && c.lane.rawChunk || how == streamed && c.lane.rawStream {
		// Nothing is decided about it, or its parts went on by themselves; but it stands in its place.
		if behind && rw.busy {
			rw.next++
			rw.r.Wait(rw.next)
			rw.add(&item{id: rw.next, lane: c.lane, reliable: true, how: gone})
		}
		return
	}
	rw.next++
	it := item{lane: c.lane, reliable: c.reliable, how: how, bytes: f.Bytes}
	var d transport.Decision
	if rw.asking {
		d = rw.r.Ask(rw.next, f)
	}
	if behind || d.Action != transport.Pass {
		it.id = rw.next
	}
	if it.held = d.Action == transport.Hold; behind || it.held && c.reliable {
		rw.r.Wait(it.id)
	}
	if it.held {
		rw.holds = rw.holds || c.reliable
	} else if d.Action == transport.Pass && how == alone && !c.reliable && len(f.Bytes) > usualSize {
		it.how = core // as it came, whatever the other end makes of it
	} else if err := rw.decide(&it, d); err != nil {
		rw.tell(c.lane, "the message was not replaced: "+err.Error())
	}
	if d.Action != transport.Pass {
		rw.whole = false
	}
	rw.add(&it)
}

// tell emits a problem that is the rewriter's.
func (rw *Rewriter) tell(l *lane, note string) {
	rw.notice = transport.Frame{Kind: transport.Problem, Dir: l.dir, At: rw.at, Offset: transport.Unknown, Length: transport.Unknown, Note: note}
	rw.r.EmitFrame(&rw.notice)
}

// decide carries out a decision on what is not sent yet.
func (rw *Rewriter) decide(it *item, d transport.Decision) error {
	switch d.Action {
	case transport.Drop:
		it.how, it.bytes = gone, nil
	case transport.Replace:
		if d.With.Raw {
			if err := fitsRaw(d.With.Bytes); err != nil {
				return err
			}
			rw.putAlone(it.lane, d.With.Bytes)
			it.how, it.bytes = gone, nil
			return nil
		}
		if err := fits(d.With.Bytes); err != nil {
			return err
		}
		it.bytes = append([]byte(nil), d.With.Bytes...)
		if it.how == chunked && len(it.bytes) > maxChunkSent {
			it.how = streamed
		}
	}
	return nil
}

var errType = errors.New("a message must begin with its type, which is not 0")

// fits reports what is wrong with a message.
func fits(data []byte) error {
	switch {
	case len(data) < 1 || len(data) > maxStream:
		return transport.OutOfRange(len(data), 1, maxStream)
	case data[0] == 0:
		return errType
	}
	return nil
}

func fitsRaw(data []byte) error {
	if len(data) < 1 || len(data) > usualSize {
		return fmt.Errorf("a datagram of %d bytes: it must have 1 to %d", len(data), usualSize)
	}
	return nil
}

// add lets a packet go on: in the batch of the reliable packet that it is in, or behind what is held.
func (rw *Rewriter) add(it *item) {
	switch {
	case it.reliable && rw.busy:
		if it.how == chunked || it.how == streamed || it.held {
			it.bytes = append([]byte(nil), it.bytes...) // the transport uses the room again
		}
		rw.batch = append(rw.batch, *it)
	default:
		rw.pass(it)
	}
}

// pass sends a packet, or lets it wait.
func (rw *Rewriter) pass(it *item) {
	l := it.lane
	switch {
	case !it.held && (!it.reliable || len(l.queue) == 0):
		rw.send(it)
		return
	case !it.reliable && l.queued > maxUnordered:
		rw.tell(l, "too much is held: the message is forwarded")
		rw.send(it)
		return
	}
	waits := *it
	waits.bytes = append([]byte(nil), it.bytes...)
	l.queued += len(waits.bytes) + itemCost
	if it.reliable {
		l.queue = append(l.queue, &waits)
	}
	if it.held {
		rw.held[it.id] = &waits
	}
}

// Operate says whether messages are asked about. What is rewritten stays so, since both ends have other numbers.
func (rw *Rewriter) Operate(on bool, at time.Time, r *transport.Relay) {
	rw.begin(at, r)
	defer rw.end()
	rw.asking = on
	switch {
	case on && (rw.mode == transport.Observing || rw.mode == transport.Impossible):
		rw.tryTake()
	case !on && rw.mode != transport.Operating:
		rw.mode, rw.why = transport.Observing, ""
	}
}

// Mode is how the connection is handled.
func (rw *Rewriter) Mode() (transport.RewriteMode, string) { return rw.mode, rw.why }

// Release decides about a message that is held.
func (rw *Rewriter) Release(id uint64, d transport.Decision, at time.Time, r *transport.Relay) error {
	it := rw.held[id]
	if it == nil {
		return transport.ErrNotHeld
	}
	if d.Action == transport.Hold {
		return nil
	}
	rw.begin(at, r)
	defer rw.end()
	l, before := it.lane, len(it.bytes)
	if err := rw.decide(it, d); err != nil {
		return err
	}
	l.queued += len(it.bytes) - before
	delete(rw.held, id)
	it.held = false
	if !it.reliable {
		l.queued -= len(it.bytes) + itemCost
		rw.send(it)
		return nil
	}
	n := 0
	for ; n < len(l.queue) && !l.queue[n].held; n++ {
		l.queued -= len(l.queue[n].bytes) + itemCost
		rw.send(l.queue[n])
		l.queue[n] = nil
	}
	l.queue = l.queue[n:]
	return nil
}

// Send puts an own message into a direction. Reliable ones go before those that are held.
func (rw *Rewriter) Send(dir schema.Dir, o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if rw.mode != transport.Operating {
		return transport.ErrNotOperating
	}
	l := rw.lane(dir)
	if rw.t.session.ended || l.dead {
		return transport.ErrClosed
	}
	rw.begin(at, r)
	defer rw.end()
	if o.Raw {
		if err := fitsRaw(o.Bytes); err != nil {
			return err
		}
		rw.t.session.used = true
		rw.next++
		rw.r.Go(rw.next, o.Bytes)
		rw.putAlone(l, o.Bytes)
		return nil
	}
	if err := fits(o.Bytes); err != nil {
		return err
	}
	if l.unsentBytes+l.afterBytes > maxLane {
		return transport.ErrFull
	}
	rw.t.session.used = true
	rw.next++
	rw.send(&item{id: rw.next, lane: l, reliable: !o.Unreliable, bytes: o.Bytes})
	return nil
}

// Waiting is how many bytes of a direction wait: in the order of their numbers, for a decision, or for the other end.
func (rw *Rewriter) Waiting(dir schema.Dir) int {
	l := rw.lane(dir)
	return l.bytes + l.queued + l.unsentBytes + l.afterBytes
}

// Flush emits what is incomplete. Of a session that is rewritten everything stays as it is: more may come.
func (rw *Rewriter) Flush(at time.Time, r *transport.Relay) {
	rw.begin(at, r)
	defer rw.end()
	if rw.mode != transport.Operating {
		rw.t.Flush(at, rw.frame)
		rw.t.emit = rw.frame
		if rw.mode != transport.Observing {
			rw.tryTake()
		}
		return
	}
	for i := range rw.lanes {
		l := &rw.lanes[i]
		w := rw.t.way(l.dir)
		if len(l.early) > 0 {
			rw.tell(l, fmt.Sprintf("waiting for reliable packet %d; %d later ones have arrived", l.awaited, len(l.early)))
		}
		if w.chunk.open() {
			rw.tell(l, "waiting for the last chunk")
		}
		if w.stream.open() {
			rw.tell(l, "waiting for the rest of the stream")
		}
	}
}
