package subspace

import (
	"encoding/binary"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// EndpointOptions are what an end is made of.
type EndpointOptions struct {
	Options

	// Key is what a client offers: with the top bit set, as real ones do, so that both schedules are the same. 0: it asks for no cipher.
	Key uint32

	// Encipher lets a server choose the VIE cipher, where the client offers a key; else it answers that there is none.
	Encipher bool
}

// When an end says something by itself.
const (
	initEvery = time.Second // until the server answers
	maxInits  = 20
	syncEvery = 5 * time.Second // of a client, as real ones do
)

// Endpoint is a client or a server of the core protocol. It is one half of a Rewriter: the other leg leads nowhere. The rewriter
// acknowledges, orders, numbers, sends again and enciphers; every message that comes is dropped behind the point where it was emitted.
type Endpoint struct {
	o       EndpointOptions
	dir     schema.Dir // of what it sends
	rw      *Rewriter
	start   time.Time
	inits   int
	next    time.Time // init or sync
	closed  bool
	ended   bool     // the other end said goodbye
	heard   bool     // more than the handshake came: a client that sends it gets the answer, too
	waiting [][]byte // answers, to be sent when the datagram is read
	relay   transport.Relay
	r       *transport.Relay // of the call that is under way
}

// NewEndpoint makes the end that sends in a direction.
func NewEndpoint(o EndpointOptions, sends schema.Dir) *Endpoint {
	if o.Schedule == Either {
		o.Schedule = Signed
	}
	o.HasKey = false // of captures
	e := &Endpoint{o: o, dir: schema.ToServer, rw: NewRewriter(o.Options)}
	if sends == schema.ToClient {
		e.dir = schema.ToClient
	}
	e.relay = transport.Relay{
		Emit: e.emit,
		Out: func(s transport.Segment) {
			if s.Dir == e.dir {
				e.r.Put(s)
			}
		},
		Decide: func(_ uint64, f *transport.Frame) transport.Decision {
			return transport.Decision{Action: transport.Drop}
		},
	}
	return e
}

var _ transport.Endpoint = (*Endpoint)(nil)

// emit passes on what came, and notes what has to be answered.
func (e *Endpoint) emit(f *transport.Frame) {
	if f.Dir == e.dir {
		return
	}
	if f.Kind == transport.Control && len(f.Bytes) >= coreHeader && f.Bytes[0] == 0 {
		switch data := f.Bytes; {
		case data[1] == coreInit && e.dir == schema.ToClient && len(data) == initSize:
			key := binary.LittleEndian.Uint32(data[keyAt:])
			if e.o.Encipher && key != ownNegation {
				key = -key
			}
			e.waiting = append(e.waiting, binary.LittleEndian.AppendUint32([]byte{0, coreKey}, key))
		case data[1] == coreSync && (len(data) == syncSize || len(data) == oldSyncSize):
			answer := append([]byte{0, coreSyncAnswer}, data[timeAt:timeAt+4]...)
			e.waiting = append(e.waiting, binary.LittleEndian.AppendUint32(answer, e.ticks(f.At)))
		case data[1] == coreDisconnect && len(data) == disconnectSize:
			e.ended = true
		}
	}
	e.r.EmitFrame(f)
}

// ticks is the time of the core protocol: hundredths of a second, from anywhere.
func (e *Endpoint) ticks(at time.Time) uint32 {
	return uint32(at.Sub(e.start) / (10 * time.Millisecond))
}

// own feeds what this end says for itself, as if it came from the other leg.
func (e *Endpoint) own(data []byte, at time.Time) {
	e.rw.Feed(transport.Segment{Dir: e.dir, At: at, Bytes: data}, &e.relay)
}

// settle answers, and forgets what was to be sent on the leg that leads nowhere.
func (e *Endpoint) settle(at time.Time) {
	for _, data := range e.waiting {
		if data[1] == coreKey {
			e.own(data, at)
		} else if !e.closed {
			_ = e.rw.Send(e.dir, transport.Outgoing{Bytes: data, Raw: true}, at, &e.relay) // without a session nothing is answered
		}
	}
	e.waiting = e.waiting[:0]
	e.rw.lane(transport.Opposite(e.dir)).sender.drop()
	e.r = nil
}

// Start lets a client ask for a session.
func (e *Endpoint) Start(at time.Time, r *transport.Relay) {
	e.r, e.start = r, at
	e.rw.Operate(true, at, &e.relay)
	if e.dir == schema.ToServer {
		e.hello(at)
	}
	e.settle(at)
}

func (e *Endpoint) hello(at time.Time) {
	e.inits++
	e.next = at.Add(initEvery)
	data := binary.LittleEndian.AppendUint32([]byte{0, coreInit}, e.o.Key)
	e.own(binary.LittleEndian.AppendUint16(data, versionVIE), at)
}

// Feed takes the next datagram.
func (e *Endpoint) Feed(data []byte, end bool, at time.Time, r *transport.Relay) {
	e.r = r
	if len(data) > 0 {
		before, _, _ := e.Ready()
		if hello := len(data) >= coreHeader && data[0] == 0 && (data[1] == coreInit || data[1] == coreKey); !hello {
			e.heard = true
		}
		e.rw.Feed(transport.Segment{Dir: transport.Opposite(e.dir), At: at, Bytes: data}, &e.relay)
		if now, _, _ := e.Ready(); now && !before && e.dir == schema.ToServer {
			e.next = at // the server waits for it
		}
	}
	e.ended = e.ended || end
	e.settle(at)
}

// Ready is true behind the handshake.
func (e *Endpoint) Ready() (ok, never bool, why string) {
	mode, why := e.rw.Mode()
	switch {
	case e.closed:
		return false, true, "the connection is closed"
	case e.ended || e.rw.t.session.ended:
		return false, true, "the other end has disconnected"
	case e.rw.lane(e.dir).dead:
		return false, true, "the other end does not acknowledge any more"
	case mode == transport.Operating && e.dir == schema.ToClient && !e.heard:
		return false, false, "the client to say more than hello" // the hello may bear the address of somebody else
	case mode == transport.Operating:
		return true, false, ""
	case mode == transport.Impossible:
		return false, true, why
	case e.inits >= maxInits:
		return false, true, "the server does not answer"
	}
	return false, false, "the handshake"
}

// Send sends a message.
func (e *Endpoint) Send(o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if ok, never, _ := e.Ready(); never {
		return transport.ErrClosed
	} else if !ok {
		return transport.ErrNotReady
	}
	e.r = r
	defer e.settle(at)
	return e.rw.Send(e.dir, o, at, &e.relay)
}

// Tick sends again what was not acknowledged, asks for a session again, or sends a client's sync.
func (e *Endpoint) Tick(at time.Time, r *transport.Relay) {
	e.r = r
	defer e.settle(at)
	if e.closed {
		return
	}
	e.rw.Tick(at, &e.relay)
	if e.dir != schema.ToServer || at.Before(e.next) {
		return
	}
	switch ok, never, _ := e.Ready(); {
	case ok:
		if e.next = at.Add(syncEvery); !e.heard {
			e.next = at.Add(initEvery) // the server may wait for it
		}
		sync := binary.LittleEndian.AppendUint32([]byte{0, coreSync}, e.ticks(at))
		sync = binary.LittleEndian.AppendUint32(sync, uint32(e.rw.lane(e.dir).went+1))
		sync = binary.LittleEndian.AppendUint32(sync, uint32(e.rw.lane(schema.ToClient).came))
		_ = e.rw.Send(e.dir, transport.Outgoing{Bytes: sync, Raw: true}, at, &e.relay) // what cannot be sent now comes next time
	case !never:
		e.hello(at)
	}
}

// Due is when the next Tick is needed.
func (e *Endpoint) Due() time.Time {
	if e.closed {
		return time.Time{}
	}
	due := e.rw.Due()
	if _, never, _ := e.Ready(); e.dir == schema.ToServer && !never && (due.IsZero() || e.next.Before(due)) {
		due = e.next
	}
	return due
}

// Unsent is what was not acknowledged and what waits behind it.
func (e *Endpoint) Unsent() int {
	l := e.rw.lane(e.dir)
	n := l.unsentBytes + l.afterBytes
	for i := range l.flight {
		n += len(l.flight[i].data)
	}
	return n
}

// Close disconnects.
func (e *Endpoint) Close(at time.Time, r *transport.Relay) {
	if ok, _, _ := e.Ready(); ok {
		e.r = r
		_ = e.rw.Send(e.dir, transport.Outgoing{Bytes: []byte{0, coreDisconnect}, Raw: true}, at, &e.relay)
		e.settle(at)
	}
	e.closed = true
}
