package transport

import (
	"errors"
	"time"

	"wirebench/defs/schema"
)

// Endpoint is one end of a connection: it takes part in the protocol itself, as a client or as a server. It is fed what comes from the
// other end, emits its frames as the protocol's Transport does, and puts out what is to be sent. It does no I/O and has no clock; one
// goroutine at a time uses it, never from inside a Relay's functions. It never blocks and never panics; what it keeps is bounded.
//
// Emit of a Relay gets what came from the other end, Out what goes to it: the bytes of a stream, or a datagram. Decide is not asked.
type Endpoint interface {
	// Start begins the connection, with what this end says first. It is called once, before all else.
	Start(at time.Time, r *Relay)

	// Feed takes what came from the other end: the next bytes of a stream, or a datagram. end: no more comes.
	Feed(data []byte, end bool, at time.Time, r *Relay)

	// Ready says whether messages can be sent. never: they cannot any more. why is what is missing, for people.
	Ready() (ok, never bool, why string)

	// Send sends a message. The errors are ErrNotReady, ErrClosed, ErrFull and what is wrong with the message.
	Send(o Outgoing, at time.Time, r *Relay) error

	// Tick does what is due at a time; Due is when the next one is needed, the zero time if none is.
	Tick(at time.Time, r *Relay)
	Due() time.Time

	// Unsent is how many bytes wait for the other end, which has not acknowledged those before them. A caller should send no more above
	// WaitingEnough.
	Unsent() int

	// Close says goodbye, where the protocol has a word for it. Nothing is sent after it.
	Close(at time.Time, r *Relay)
}

// ErrNotReady is a message that cannot be sent yet.
var ErrNotReady = errors.New("the connection is not ready for messages yet")

// Opposite is the other direction; that of Both is Both.
func Opposite(dir schema.Dir) schema.Dir {
	switch dir {
	case schema.ToServer:
		return schema.ToClient
	case schema.ToClient:
		return schema.ToServer
	}
	return schema.Both
}
