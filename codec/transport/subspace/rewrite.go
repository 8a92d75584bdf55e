package subspace

import (
	"fmt"
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
	t      *Transport // reads both directions, and calls core, takes and deliver while the rewriter operates
	mode   transport.RewriteMode
	why    string
	asking bool // call Decide for each message
	unseen bool // datagrams of the session were relayed without being fed
	lanes  [2]lane
	next   uint64 // the last id assigned
	batch  batch
	notice transport.Frame
	r      *transport.Relay // of the current call
}

// NewRewriter returns the rewriter of a connection.
func NewRewriter(o Options) *Rewriter {
	rw := &Rewriter{t: New(o)}
	rw.t.prompt = true
	for i := range rw.lanes {
		rw.lanes[i].way = &rw.t.ways[i]
	}
	rw.reset()
	return rw
}

var _ transport.Rewriter = (*Rewriter)(nil)

// reset begins a session.
func (rw *Rewriter) reset() {
	for i := range rw.lanes {
		l := &rw.lanes[i]
		l.queue.forget(rw.r)
		*l = lane{way: l.way, sender: newSender(), packer: packer{went: l.packer.went}}
	}
}

func (rw *Rewriter) lane(dir schema.Dir) *lane {
	if dir == schema.ToClient {
		return &rw.lanes[1]
	}
	return &rw.lanes[0]
}

func (rw *Rewriter) back(l *lane) *lane { return rw.lane(transport.Opposite(l.dir)) }

func (rw *Rewriter) begin(at time.Time, r *transport.Relay) {
	rw.r, rw.t.at, rw.t.emit = r, at, rw.frame
}

// end sends the output of the call.
func (rw *Rewriter) end() {
	for i := range rw.lanes {
		rw.transmit(&rw.lanes[i])
	}
	rw.t.emit, rw.r = nil, nil
}

// Feed takes the next datagram. A direction of Both counts as ToServer.
func (rw *Rewriter) Feed(seg transport.Segment, r *transport.Relay) {
	rw.begin(seg.At, r)
	defer rw.end()
	l := rw.lane(seg.Dir)
	if rw.mode == transport.Operating {
		rw.datagram(l, seg)
		l.heard = seg.At
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
		rw.why = "encrypted, and the key is not known"
	case t.mode == info || t.mode == announce:
		rw.why = "no session: requests for the number of players"
	case t.mode == unknown:
		rw.mode, rw.why = transport.Wanted, "the handshake, or datagrams that show the cipher"
	case rw.unseen:
		rw.why = "datagrams of the session were relayed without being seen"
	default:
		rw.mode, rw.why = transport.Operating, ""
		rw.take()
	}
}

// take begins to rewrite a session. The numbers up to the highest one that has been relayed stay in both legs.
func (rw *Rewriter) take() {
	rw.reset()
	rw.t.rewriter = rw
	for i := range rw.lanes {
		l := &rw.lanes[i]
		o := &l.order
		o.gaps = gaps{}
		o.started = o.started || rw.t.session.hasInit || rw.t.session.answered
		l.base = o.next
		for n := range o.early {
			l.base = max(l.base, int64(n)+1)
		}
		l.sender.number = l.base
		l.chunk.raw, l.stream.raw = true, true // if one is in progress
	}
}

// datagram reads a datagram of a rewritten session.
func (rw *Rewriter) datagram(l *lane, seg transport.Segment) {
	t := rw.t
	l.count++
	t.begin(seg)
	if seg.Lost != 0 {
		t.problem(l.way, nil, 0, "bytes of a datagram are missing; it is not forwarded")
		return
	}
	if t.handshake(l.way, seg.Bytes) {
		if !t.session.used {
			rw.again(l)
		}
		rw.put(l, seg.Bytes)
		return
	}
	if len(seg.Bytes) > maxRead {
		t.problem(l.way, seg.Bytes, t.off, "longer than servers accept: it is not forwarded")
		return
	}
	t.session.used = true
	t.read(l.way, t.deciphered(l.cipher, seg.Bytes), t.off)
}

// again begins another session, or repeats the handshake of one. Both ends count datagrams from there.
func (rw *Rewriter) again(l *lane) {
	rw.take()
	for i := range rw.lanes {
		rw.lanes[i].count, rw.lanes[i].packer.went = 0, 0
	}
	l.count = 1
	if rw.t.mode != plain && rw.t.mode != vie {
		rw.t.rewriter = nil
		rw.mode, rw.why, rw.unseen = transport.Wanted, "the server's key", false
	}
}

// tell emits a problem of the rewriter itself.
func (rw *Rewriter) tell(l *lane, note string) {
	rw.notice = transport.Frame{Kind: transport.Problem, Dir: l.dir, At: rw.t.at, Offset: transport.Unknown, Length: transport.Unknown, Note: note}
	rw.r.EmitFrame(&rw.notice)
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
	it := rw.lanes[0].queue.held[id]
	if it == nil {
		if it = rw.lanes[1].queue.held[id]; it == nil {
			return transport.ErrNotHeld
		}
	}
	if d.Action == transport.Hold {
		return nil
	}
	rw.begin(at, r)
	defer rw.end()
	q := &it.lane.queue
	before := it.cost()
	if err := rw.decide(it, d); err != nil {
		return err
	}
	q.bytes += it.cost() - before
	q.release(it, rw.send)
	return nil
}

// Send implements transport.Rewriter. Reliable messages are sent before held ones.
func (rw *Rewriter) Send(dir schema.Dir, o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if rw.mode != transport.Operating {
		return transport.ErrNotOperating
	}
	l := rw.lane(dir)
	if rw.t.session.ended || l.sender.dead {
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
	message := rw.message(&o)
	if err := fits(message); err != nil {
		return err
	}
	if l.sender.unsentBytes+l.after.bytes > maxLane {
		return transport.ErrFull
	}
	rw.t.session.used = true
	rw.next++
	rw.send(&item{id: rw.next, lane: l, reliable: !o.Unreliable, bytes: message})
	return nil
}

// message returns the form of a message that the connection has.
func (rw *Rewriter) message(o *transport.Outgoing) []byte {
	if rw.t.options.Groups != nil && o.Alternate != nil {
		return o.Alternate
	}
	return o.Bytes
}

// Tick retransmits packets that were not acknowledged.
func (rw *Rewriter) Tick(at time.Time, r *transport.Relay) {
	rw.begin(at, r)
	defer rw.end()
	for i := range rw.lanes {
		l := &rw.lanes[i]
		if l.sender.due(at, rw.back(l).heard, l.packer.add) {
			rw.tell(l, "reliable packets are no longer acknowledged: retransmission stopped")
		}
	}
}

// Due returns the time of the next retransmission or delayed disconnect, or the zero time.
func (rw *Rewriter) Due() time.Time {
	a, b := rw.lanes[0].sender.next(), rw.lanes[1].sender.next()
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Waiting returns the number of bytes of a direction that wait for earlier packets, for a decision, or for the other end.
func (rw *Rewriter) Waiting(dir schema.Dir) int {
	if rw.mode != transport.Operating {
		return 0
	}
	l := rw.lane(dir)
	return l.order.bytes + l.waiting()
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
		if o := &l.order; len(o.early) > 0 {
			rw.tell(l, fmt.Sprintf("waiting for reliable packet %d; %d later ones have arrived", o.next, len(o.early)))
		}
		if l.chunk.open() {
			rw.tell(l, "waiting for the last chunk")
		}
		if l.stream.open() {
			rw.tell(l, "waiting for the rest of the stream")
		}
	}
}
