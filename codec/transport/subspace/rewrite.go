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
// The safe point is where the cipher is known; with the handshake that is before the first numbered packet. From there on the rewriter is
// the receiver for each sending end and the sender for each receiving end: it acknowledges numbered packets itself, puts them in order,
// renumbers them, and retransmits until they are acknowledged, with the timing of a server. Translating acknowledgements instead would
// suffice for an occasional dropped or added message. But a held message would make its sender give up (15 tries), one packet can become
// several and several one, and chunks and streams have to be complete before they can be decided about. The cost is that an acknowledgement
// means only that the rewriter has the packet; so it accepts no more when too much waits, and a disconnect waits a short time for the
// packets before it.
//
// Numbers relayed before that point keep their meaning: their packets and acknowledgements pass unchanged, as do chunks and streams of
// which a part was relayed.
//
// A held reliable message blocks all reliable ones of its direction; other messages overtake it. Packets from clusters are put in clusters
// again, as many as fit in 512 bytes. Chunked messages and streams are sent on when they are complete. A message that was not in parts and
// has become too long is sent as a reliable chunked message. Sync packets pass at once, with their counts adjusted by the datagrams that
// the rewriter has added or saved. Packets that servers ignore because of their form are not passed on.
type Rewriter struct {
	t      *Transport
	mode   transport.RewriteMode
	why    string
	asking bool // call Decide for each message
	unseen bool // datagrams of the session were relayed without being fed
	lanes  [2]lane
	next   uint64 // the last id assigned
	held   map[uint64]*item
	notice transport.Frame
	packed []byte // buffer for the datagram being assembled

	// State of the current call.
	r     *transport.Relay
	at    time.Time
	now   *carrier // origin of the current packet
	busy  bool     // a reliable packet is being delivered
	holds bool     // and a message in it is held
	batch []item   // its packets
	whole bool     // all of them pass unchanged
}

// carrier describes the origin of a packet.
type carrier struct {
	lane     *lane
	reliable bool
	passed   bool // it was already passed on unchanged: no decisions
}

// lane is the state of one direction, from the sending to the receiving end.
type lane struct {
	dir schema.Dir

	// As the receiver for the sending end.
	base    int64            // lower numbers were relayed, and still are
	awaited int64            // the next number to deliver
	early   map[int32]*early // received before it
	bytes   int              // of early
	started bool
	came    int64 // datagrams received
	heard   time.Time

	rawChunk, rawStream bool // the message in progress passes in its parts
	after               []item
	afterBytes          int

	// The held items, and the items behind them.
	queue  []*item
	queued int // bytes of the queue, and of held unreliable messages

	sender
}

// item is a packet to be sent on.
type item struct {
	id       uint64 // if not 0, the relay is notified when it is sent
	held     bool
	lane     *lane
	reliable bool
	how      form
	bytes    []byte
	more     []uint64 // further ids, of a cluster
}

// form is how a message is sent.
type form uint8

const (
	alone   form = iota
	chunked      // in parts, without a total
	streamed
	core // a core packet, not a message
	gone // not sent
)

// Limits of the data that a rewriter retains, in each direction.
const (
	takeWindow   = 256     // numbers accepted ahead of the next one, of up to maxRead bytes each
	maxLane      = 2 << 20 // bytes waiting to be sent or decided, above which no new packet is accepted
	maxRead      = 1 << 10 // bytes of a datagram; servers read 520 at most
	itemCost     = 128     // bytes charged for each waiting item
	maxUnordered = 1 << 20 // bytes of held unreliable messages; more pass
)

// NewRewriter returns the rewriter of a connection.
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

// tellAll calls a function of the relay for each id of an item.
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

// end sends the output of the call.
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

// tryTake begins rewriting if it is possible now.
func (rw *Rewriter) tryTake() {
	t := rw.t
	rw.mode = transport.Impossible
	switch {
	case t.mode == continuum:
		rw.why = "Continuum's cipher cannot be read"
	case t.mode == closed:
		rw.why = "enciphered, and the key is not known"
	case t.mode == info || t.mode == announce:
		rw.why = "no session: requests for the number of players"
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

// takeOver copies the numbering of a direction from the transport, which has observed it.
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
	l.rawChunk, l.rawStream = true, true // if one is in progress
}

// datagram reads a datagram of a rewritten session.
func (rw *Rewriter) datagram(l *lane, seg transport.Segment) {
	t := rw.t
	w := t.way(l.dir)
	w.figures.count(seg)
	t.begin(seg)
	if seg.Lost != 0 {
		t.problem(w, nil, 0, "bytes of a datagram are missing; it is not forwarded")
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
		t.problem(w, data, t.off, "longer than servers accept: it is not forwarded")
		return
	}
	t.session.used = true
	if w.cipher != nil {
		data = t.deciphered(w.cipher, data)
	}
	rw.read(&carrier{lane: l}, data, t.off)
}

// frame receives the frames that the transport finds.
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
		// It needs no decision, or its parts were sent separately; but it takes its place in the order.
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
		it.how = core // unchanged, whatever the other end does with it
	} else if err := rw.decide(&it, d); err != nil {
		rw.tell(c.lane, "the message was not replaced: "+err.Error())
	}
	if d.Action != transport.Pass {
		rw.whole = false
	}
	rw.add(&it)
}

// tell emits a problem of the rewriter itself.
func (rw *Rewriter) tell(l *lane, note string) {
	rw.notice = transport.Frame{Kind: transport.Problem, Dir: l.dir, At: rw.at, Offset: transport.Unknown, Length: transport.Unknown, Note: note}
	rw.r.EmitFrame(&rw.notice)
}

// decide applies a decision to an unsent item.
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

// fits returns the error of an invalid message, or nil.
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

// add queues a packet to be sent: in the batch of the reliable packet that contains it, or behind the held items.
func (rw *Rewriter) add(it *item) {
	switch {
	case it.reliable && rw.busy:
		if it.how == chunked || it.how == streamed || it.held {
			it.bytes = append([]byte(nil), it.bytes...) // the transport reuses the buffer
		}
		rw.batch = append(rw.batch, *it)
	default:
		rw.pass(it)
	}
}

// pass sends a packet, or queues it.
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

// Operate implements transport.Rewriter. A rewritten session stays rewritten, since the two ends use different numbers.
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

// Mode implements transport.Rewriter.
func (rw *Rewriter) Mode() (transport.RewriteMode, string) { return rw.mode, rw.why }

// Release implements transport.Rewriter.
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

// Send implements transport.Rewriter. Reliable messages are sent before held ones.
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

// Waiting returns the number of bytes of a direction that wait for earlier packets, for a decision, or for the other end.
func (rw *Rewriter) Waiting(dir schema.Dir) int {
	l := rw.lane(dir)
	return l.bytes + l.queued + l.unsentBytes + l.afterBytes
}

// Flush reports incomplete messages. In a rewritten session they are retained, since the rest may follow.
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
