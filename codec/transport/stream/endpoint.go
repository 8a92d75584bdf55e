package stream

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Endpoint is a client or a server. Its state follows the messages that it sends and receives.
type Endpoint struct {
	t      *Transport
	l      *leg
	way    int // direction in which it sends
	begun  bool
	closed bool
	out    []byte
	frames uint32 // WebSocket frames sent
}

// NewEndpoint returns the endpoint that sends in the given direction.
func NewEndpoint(o Options, sends schema.Dir) *Endpoint {
	e := &Endpoint{t: New(o), way: envelope.Way(sends)}
	e.l = newLeg(&e.t.o, [2]bool{e.way == 0, e.way == 1})
	e.t.legs = [2]*leg{}
	e.t.legs[1-e.way] = e.l
	return e
}

var _ transport.Endpoint = (*Endpoint)(nil)

// Start sends the request of a WebSocket connection. Others have no greeting.
func (e *Endpoint) Start(at time.Time, r *transport.Relay) {
	if e.t.ways[0].ws != nil && e.way == 0 {
		r.Put(transport.Segment{Dir: schema.ToServer, At: at, Bytes: []byte(wsRequest)})
	}
}

// Feed takes the next bytes of the stream, or the next datagram.
func (e *Endpoint) Feed(data []byte, end bool, at time.Time, r *transport.Relay) {
	seg := transport.Segment{Dir: dirs[1-e.way], At: at, Bytes: data, Start: !e.begun, End: end}
	e.begun = true
	e.t.emit = r.EmitFrame
	s := e.t.ways[1-e.way].ws
	waits := s != nil && !s.upgraded
	e.t.emit = func(f *transport.Frame) {
		r.EmitFrame(f)
		switch {
		case s == nil || f.Kind != transport.Control:
		case f.In("ping"):
			e.frames++
			r.Put(transport.Segment{Dir: dirs[e.way], At: at, Bytes: appendFrame(nil, wsPong, f.Bytes, e.way == 0, e.frames)})
		case waits && f.In("handshake") && e.way == 1:
			r.Put(transport.Segment{Dir: schema.ToClient, At: at, Bytes: []byte(wsAnswer + accept(s.key) + "\r\n\r\n")})
		}
	}
	e.t.feed(&seg)
	e.t.emit = nil
}

// Ready reports whether messages can be sent: if the key of the cipher is known, and the handshake of a WebSocket connection is complete.
func (e *Endpoint) Ready() (ok, never bool, why string) {
	switch {
	case e.closed:
		return false, true, "the connection is closed"
	case e.t.ways[0].ws != nil && e.t.ways[1-e.way].ws.broken:
		return false, true, e.t.ways[1-e.way].dead
	case e.t.ways[0].ws != nil && !e.t.ways[1-e.way].ws.upgraded:
		return false, false, "the handshake of the WebSocket connection"
	case e.l.sides[e.way].opaque != "":
		return false, true, e.l.sides[e.way].opaque
	}
	return true, false, ""
}

// Send frames, compresses and encrypts a message and sends it.
func (e *Endpoint) Send(o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if ok, never, _ := e.Ready(); never {
		return transport.ErrClosed
	} else if !ok {
		return transport.ErrNotReady
	}
	if err := e.l.check(e.way, nil, o); err != nil {
		return err
	}
	message := e.l.bytes(e.way, o, &e.t.ways[e.way])
	e.out = append(e.out[:0], message...)
	if !o.Raw {
		var err error
		if e.out, err = e.l.alone(e.out[:0], e.way, message, &e.t.ways[e.way]); err != nil {
			return err
		}
		e.t.keep(e.l, e.way, message)
	}
	if c := e.l.sides[e.way].cipher; c != nil {
		c.Apply(e.out)
	}
	if e.t.ways[0].ws != nil {
		e.frames++
		e.out = appendFrame(nil, 2, e.out, e.way == 0, e.frames)
	}
	r.Put(transport.Segment{Dir: dirs[e.way], At: at, Bytes: e.out})
	if e.t.udp {
		e.l.restart(e.way, true)
	}
	if !o.Raw {
		key, _, has := e.l.code(e.way, message)
		var changes []change
		changes, _ = e.l.prepare(changes, e.way, key, has, message)
		e.t.applyOn(e.l, e.way, changes)
	}
	return nil
}

// Tick does nothing.
func (e *Endpoint) Tick(time.Time, *transport.Relay) {}

// Due returns the zero time.
func (e *Endpoint) Due() time.Time { return time.Time{} }

// Unsent returns 0: there are no acknowledgements.
func (e *Endpoint) Unsent() int { return 0 }

// Close sends nothing: an envelope has no disconnect.
func (e *Endpoint) Close(time.Time, *transport.Relay) { e.closed = true }
