package transport

import (
	"errors"
	"fmt"
	"time"

	"wirebench/defs/schema"
)

// Rewriter stands between the two ends of a connection, as a proxy does, and can change messages. It is fed the data of both ends, emits
// frames as the protocol's Transport does, and produces the data to send to both. It does no I/O and has no clock. A Rewriter serves one
// connection and one goroutine at a time, and is never called from inside a Relay's functions. It never blocks or panics, and its memory
// is bounded for any input.
//
// The direction of a Segment is that of the traffic, on both legs: a segment ToServer came from the client, or is to be sent to the
// server.
//
// A Rewriter starts in mode Observing, in which data passes unchanged. A proxy that relays the data itself until a change is wanted feeds
// the Rewriter with a Relay without Out, and hands the sockets over when it calls Operate; data fed before that call counts as sent. From
// the next safe point on, which each protocol defines, the Rewriter is Operating and requests a decision about each message. After the
// first change the two legs differ, and the connection is rewritten until its end.
// change the two legs differ, and the connection is rewritten until its end.
type Rewriter interface {
	// Feed takes the next segment of either end.
	Feed(seg Segment, r *Relay)

	// Operate turns decisions about messages on or off. Messages that are held stay held when it is turned off, and can be released.
	Operate(on bool, at time.Time, r *Relay)

	// Mode returns how the connection is handled. why is for people: the condition that Wanted waits for, or the reason for Impossible.
	Mode() (m RewriteMode, why string)

	// Release decides about a held message. Hold leaves it held. It returns ErrNotHeld, ErrClosed, or an error about the replacement;
	// after an error the message is still held.
	Release(id uint64, d Decision, at time.Time, r *Relay) error

	// Send injects a message into a direction, before held messages. It returns ErrNotOperating, ErrClosed, ErrFull, or an error about the
	// message.
	Send(dir schema.Dir, o Outgoing, at time.Time, r *Relay) error

	// Tick performs timed work: it retransmits packets that were not acknowledged.
	Tick(at time.Time, r *Relay)

	// Due returns the time of the next Tick, or the zero time if none is needed.
	Due() time.Time

	// Waiting returns the number of bytes of a direction that wait for a decision, behind a held message, or for the other end. A proxy
	// stops reading a stream above WaitingEnough. Far above it, held messages are passed on, or new packets are refused.
	Waiting(dir schema.Dir) int

	// Flush reports the end of the input, or a long pause: it emits incomplete messages as problems, and sends their bytes unchanged.
	Flush(at time.Time, r *Relay)
}

// WaitingEnough is the number of waiting bytes of a direction above which a proxy should stop reading from it.
const WaitingEnough = 1 << 20

// Relay holds the functions by which a Rewriter reports to its proxy and requests decisions. They are called during calls of the Rewriter's
// methods. Functions may be nil.
type Relay struct {
	Emit func(*Frame)  // receives the frames of both ends, as received
	Out  func(Segment) // sends; Dir, At, Bytes and End are set. Bytes are valid only during the call

	// Decide returns the decision about a message. It is called right after Emit, with the same frame. id is unique in the connection and
	// names the message if it is held. The Rewriter does not retain the bytes of the decision. If Decide is nil, all messages pass.
	Decide func(id uint64, f *Frame) Decision

	// Emit follows the order of arrival. The next three report where the order of sending differs.
	//
	// Waits is called right after Emit and Decide if the frame has to wait, because it or an earlier message is held. It is called during Send
	// if the message has to wait for the end of a message in progress.
	//
	// Goes is called when a waiting message is sent, for each message that was held, sent by Send, replaced or dropped. message is the message
	// as sent, with lengths, counts and checksums, before encrypting; it is valid only during the call, and nil if nothing is sent or if it
	// equals the requested message. Never reports that a message will not be sent because its session was restarted.
	Waits func(id uint64)
	Goes  func(id uint64, message []byte)
	Never func(id uint64)
}

// Action is what happens to a message.
type Action uint8

// The actions.
const (
	Pass    Action = iota // send it unchanged
	Drop                  // do not send it
	Replace               // send Decision.With instead
	Hold                  // retain it until Release, with all messages that must not overtake it
)

// Decision is the action for a message. A Replace with bytes that are not a message acts as Pass and emits a Problem with the reason.
type Decision struct {
	Action Action
	With   Outgoing // the replacement, for Replace
}

// Outgoing is a message to send, encoded by its definition, header included. The transport sets its length, sequence number and checksum.
type Outgoing struct {
	Bytes      []byte
	Alternate  []byte // the same message behind the other header that it may have, for connections that use it; nil: Bytes serves
	Open       []Open // of Alternate: those that were not stated
	Raw        bool   // send the bytes unchanged, valid or not; over UDP as a datagram of its own
	Unreliable bool   // send without acknowledgement, where the protocol has the choice. A replacement is sent as the original was
}

// Open is a range of bytes of a header without a stated value: it comes from the replaced message, or from the last one of the direction.
type Open struct{ From, To int }

// RewriteMode is how a Rewriter handles its connection.
type RewriteMode uint8

// The modes.
const (
	Observing  RewriteMode = iota // bytes pass unchanged
	Wanted                        // bytes pass unchanged until the safe point
	Operating                     // each message gets a decision
	Impossible                    // bytes pass unchanged, because messages cannot be read
)

// String returns the mode as the API writes it.
func (m RewriteMode) String() string {
	return [...]string{"observing", "wanted", "operating", "impossible"}[m]
}

// Errors of Release and Send.
var (
	ErrNotHeld      = errors.New("no longer held: it was decided already, or its connection has ended")
	ErrNotOperating = errors.New("the connection is not being rewritten")
	ErrClosed       = errors.New("the direction has ended")
	ErrFull         = errors.New("too much data waits to be sent")
)

// EmitFrame calls Emit, if it is set.
func (r *Relay) EmitFrame(f *Frame) {
	if r != nil && r.Emit != nil {
		r.Emit(f)
	}
}

// Put calls Out, if it is set.
func (r *Relay) Put(seg Segment) {
	if r != nil && r.Out != nil {
		r.Out(seg)
	}
}

// Wait calls Waits, if it is set.
func (r *Relay) Wait(id uint64) {
	if r != nil && r.Waits != nil {
		r.Waits(id)
	}
}

// Go calls Goes, if it is set.
func (r *Relay) Go(id uint64, message []byte) {
	if r != nil && r.Goes != nil {
		r.Goes(id, message)
	}
}

// Forget calls Never, if it is set.
func (r *Relay) Forget(id uint64) {
	if r != nil && r.Never != nil {
		r.Never(id)
	}
}

// Ask calls Decide. Without it the message passes.
func (r *Relay) Ask(id uint64, f *Frame) Decision {
	if r != nil && r.Decide != nil {
		return r.Decide(id, f)
	}
	return Decision{}
}

// OutOfRange returns the error for a message whose size is outside its protocol's limits, in bytes.
func OutOfRange(size, least, most int) error {
	return fmt.Errorf("a message of %d bytes: it must have %d to %d", size, least, most)
}
