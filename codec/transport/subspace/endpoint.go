package subspace

import (
	"encoding/binary"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// EndpointOptions configures an endpoint.
type EndpointOptions struct {
	Options

	// Key is the key that a client offers, with the top bit set, as real clients do, so that both schedules agree. 0 requests no cipher.
	Key uint32

	// Encrypt lets a server choose the VIE cipher if the client offers a key; otherwise it answers that there is no cipher.
	Encrypt bool
}

// Intervals of an endpoint's own packets.
const (
	initEvery = time.Second // retry interval of a client's init until the server answers
	maxInits  = 20
	syncEvery = 5 * time.Second // of a client, as in real ones
)

// Endpoint is a client or a server of the core protocol. It uses one half of a Rewriter, whose other leg is not connected. The rewriter
// acknowledges, orders, numbers, retransmits and encrypts; every received message is dropped after it was emitted.
type Endpoint struct {
	o       EndpointOptions
	dir     schema.Dir // direction in which it sends
	rw      *Rewriter
	start   time.Time
	inits   int
	next    time.Time // time of the next init or sync
	closed  bool
	ended   bool     // the other end has disconnected
	heard   bool     // more than the handshake was received; a client that sends it has received the answer to its init
	waiting [][]byte // answers to be sent after the current datagram
	relay   transport.Relay
	r       *transport.Relay // of the current call
}

// NewEndpoint returns the endpoint that sends in the given direction.
func NewEndpoint(o EndpointOptions, sends schema.Dir) *Endpoint {
	if o.Schedule == Either {
		o.Schedule = Signed
	}
	o.HasKey = false // HasKey is for captures
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

// emit passes on received frames, and queues the answers that they require.
func (e *Endpoint) emit(f *transport.Frame) {
	if f.Dir == e.dir {
		return
	}
	if f.Kind == transport.Control && len(f.Bytes) >= coreHeader && f.Bytes[0] == 0 {
		switch data := f.Bytes; {
		case data[1] == coreInit && e.dir == schema.ToClient && len(data) == initSize:
			key := binary.LittleEndian.Uint32(data[keyAt:])
			if e.o.Encrypt && key != ownNegation {
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

// ticks returns the time of the core protocol: hundredths of a second since an arbitrary start.
func (e *Endpoint) ticks(at time.Time) uint32 {
	return uint32(at.Sub(e.start) / (10 * time.Millisecond))
}

// own feeds a packet of this end as if it had been received on the other leg.
func (e *Endpoint) own(data []byte, at time.Time) {
	e.rw.Feed(transport.Segment{Dir: e.dir, At: at, Bytes: data}, &e.relay)
}

// settle sends the answers, and discards the output on the unconnected leg.
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

// Start sends a client's init.
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

// Ready reports whether the handshake is complete.
func (e *Endpoint) Ready() (ok, never bool, why string) {
	mode, why := e.rw.Mode()
	switch {
	case e.closed:
		return false, true, "the connection is closed"
	case e.ended || e.rw.t.session.ended:
		return false, true, "the other end has disconnected"
	case e.rw.lane(e.dir).sender.dead:
		return false, true, "the other end no longer acknowledges"
	case mode == transport.Operating && e.dir == schema.ToClient && !e.heard:
		return false, false, "more than the handshake from the client" // the address of the init may be forged
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

// Tick retransmits unacknowledged packets, repeats a client's init, or sends its sync.
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
		sync = binary.LittleEndian.AppendUint32(sync, uint32(e.rw.lane(e.dir).packer.went+1))
		sync = binary.LittleEndian.AppendUint32(sync, uint32(e.rw.lane(schema.ToClient).count))
		_ = e.rw.Send(e.dir, transport.Outgoing{Bytes: sync, Raw: true}, at, &e.relay) // on failure, retry at the next sync
	case !never:
		e.hello(at)
	}
}

// Due returns the time of the next Tick.
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

// Unsent returns the number of bytes that are unacknowledged or waiting behind them.
func (e *Endpoint) Unsent() int {
	l := e.rw.lane(e.dir)
	n := l.sender.unsentBytes + l.after.bytes
	for _, p := range l.sender.flight {
		n += len(p.data)
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
