package muta

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Endpoint is a client or a server: messages follow each other from the first byte on.
type Endpoint struct {
	t      *Transport
	dir    schema.Dir // of what it sends
	begun  bool
	closed bool
}

// NewEndpoint makes the end that sends in a direction.
func NewEndpoint(o Options, sends schema.Dir) *Endpoint {
	if sends != schema.ToClient {
		sends = schema.ToServer
	}
	return &Endpoint{t: New(o), dir: sends}
}

var _ transport.Endpoint = (*Endpoint)(nil)

// Start does nothing: there is no greeting.
func (e *Endpoint) Start(time.Time, *transport.Relay) {}

// Feed takes the next bytes.
func (e *Endpoint) Feed(data []byte, end bool, at time.Time, r *transport.Relay) {
	seg := transport.Segment{Dir: transport.Opposite(e.dir), At: at, Bytes: data, Start: !e.begun, End: end}
	e.begun = true
	e.t.Feed(seg, r.EmitFrame)
}

// Ready is true where the definitions say how long messages are.
func (e *Endpoint) Ready() (ok, never bool, why string) {
	switch {
	case e.closed:
		return false, true, "the connection is closed"
	case e.t.o.Measure == nil:
		return false, true, "there are no definitions"
	}
	return true, false, ""
}

// Send sends a message, which the definitions measure.
func (e *Endpoint) Send(o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if e.closed {
		return transport.ErrClosed
	}
	if e.t.o.Measure == nil && !o.Raw {
		return transport.ErrNotReady
	}
	data, err := (wire{e.t}).Fit(e.dir, o)
	if err != nil {
		return err
	}
	r.Put(transport.Segment{Dir: e.dir, At: at, Bytes: data})
	return nil
}

// Tick does nothing.
func (e *Endpoint) Tick(time.Time, *transport.Relay) {}

// Due is never.
func (e *Endpoint) Due() time.Time { return time.Time{} }

// Unsent is nothing: a stream takes all at once.
func (e *Endpoint) Unsent() int { return 0 }

// Close has no word to say.
func (e *Endpoint) Close(time.Time, *transport.Relay) { e.closed = true }
