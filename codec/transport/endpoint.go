package transport

import (
	"errors"
	"time"

	"wirebench/defs/schema"
)

// Endpoint is one end of a connection: a client or a server of the protocol. It is fed the data of the other end, emits frames as the
// protocol's Transport does, and produces the data to send. It does no I/O and has no clock. One goroutine at a time uses it, and never
// from inside a Relay's functions. It never blocks or panics, and its memory is bounded.
//
// Relay.Emit receives frames from the other end, Relay.Out the bytes or datagrams to send to it. Relay.Decide is not called.
type Endpoint interface {
	// Start begins the connection and sends this end's first data. It is called once, before any other method.
	Start(at time.Time, r *Relay)

	// Feed takes the next bytes of a stream or the next datagram from the other end. end reports that the other end has finished.
	Feed(data []byte, end bool, at time.Time, r *Relay)

	// Ready reports whether messages can be sent. If never is true they cannot be sent any more. why is the reason, for people.
	Ready() (ok, never bool, why string)

	// Send sends a message. It returns ErrNotReady, ErrClosed, ErrFull, or an error about the message.
	Send(o Outgoing, at time.Time, r *Relay) error

	// Tick performs timed work, such as retransmission. Due returns the time of the next Tick, or the zero time if none is needed.
	Tick(at time.Time, r *Relay)
	Due() time.Time

	// Unsent returns the number of bytes that wait for acknowledgements of the other end. Callers should pause above WaitingEnough.
	Unsent() int

	// Close sends the protocol's disconnect, if it has one. Nothing is sent after it.
	Close(at time.Time, r *Relay)
}

// ErrNotReady reports that messages cannot be sent yet.
var ErrNotReady = errors.New("the connection is not ready for messages yet")

// Opposite returns the other direction; the opposite of Both is Both.
func Opposite(dir schema.Dir) schema.Dir {
	switch dir {
	case schema.ToServer:
		return schema.ToClient
	case schema.ToClient:
		return schema.ToServer
	}
	return schema.Both
}
