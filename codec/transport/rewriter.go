package transport

import (
	"errors"
	"time"

	"wirebench/defs/schema"
)

// Rewriter stands between the two ends of a connection as a proxy does, and can change what passes. It is fed what comes from both ends,
// emits frames as the protocol's Transport does, and puts out what is to be sent to both. It does no I/O and has no clock; one connection
// has one Rewriter, used by one goroutine at a time, never from inside a Relay's functions. It never blocks and never panics; what it keeps
// is bounded, whatever comes.
//
// A Segment's direction says which leg it belongs to, in both ways: one ToServer came from the client, or is to be sent to the server.
//
// A Rewriter begins in Observing: what comes goes out as it came, before anything is done with it. A proxy that relays by itself until
// it has to change something feeds it with a Relay without Out, and hands the sockets over when it calls Operate: what was fed before
// that call is taken to have been sent. From the next safe point on the Rewriter then is Operating: it asks about each message. Where
// that point is, each protocol says. Once something was changed the two legs differ, and the connection is rewritten until its end.
type Rewriter interface {
	// Feed takes the next segment from either end.
	Feed(seg Segment, r *Relay)

	// Operate says whether messages are to be asked about. Without it those that are held are still held, and can be released.
	Operate(on bool, at time.Time, r *Relay)

	// Mode is how the connection is handled. why is for people: what Wanted waits for, or why it is Impossible.
	Mode() (m RewriteMode, why string)

	// Release decides about a message that was held. Hold leaves it held. The errors are ErrNotHeld, ErrClosed, and what is wrong with
	// the replacement; with these the message is still held.
	Release(id uint64, d Decision, at time.Time, r *Relay) error

	// Send puts a message of the caller's into a direction, before those that are held. The errors are ErrNotOperating, ErrClosed, ErrFull
	// and what is wrong with the message.
	Send(dir schema.Dir, o Outgoing, at time.Time, r *Relay) error

	// Tick does what is due at a time: packets that were not acknowledged are sent again.
	Tick(at time.Time, r *Relay)

	// Due is when the next Tick is needed; the zero time if none is.
	Due() time.Time

	// Waiting is how many bytes of a direction wait: for a decision, behind such, or for the other end. A proxy stops reading a stream
	// above WaitingEnough. If more than some times that is fed, what is held is passed on, or new packets are not taken.
	Waiting(dir schema.Dir) int

	// Flush says that nothing more comes, or nothing for long: it emits what is incomplete as problems, and sends it as it is.
	Flush(at time.Time, r *Relay)
}

// WaitingEnough is how many bytes of a direction may wait before a proxy should read no more of it.
const WaitingEnough = 1 << 20

// Relay is what a Rewriter tells and asks the proxy that it works for, within a call. Functions that are nil are left out.
type Relay struct {
	Emit func(*Frame)  // of what came from both ends, as it came
	Out  func(Segment) // to be sent; Dir, At, Bytes and End are set. Bytes are valid until it returns

	// Decide says what becomes of a message, right after Emit was called with the same frame. id is unique in the connection and names
	// it if it is held; nil: all pass. The bytes of the decision are not kept.
	Decide func(id uint64, f *Frame) Decision

	// What Emit is told is in the order in which it came. These say where that is not the order in which it goes on.
	//
	// Waits is called right after Emit and Decide if the frame stands in a line: behind one that is held, or as the one that is. It is
	// called within Send if the message waits for the end of one that is under way.
	//
	// Goes is called when it is the turn of what waits; for each message that is held or sent by Send, and for those that are replaced or
	// dropped. message is what is sent, with its lengths, counts and checksums and before it is enciphered, valid until Goes returns;
	// nil: nothing, or nothing that differs from what was asked for. Never says that a turn never comes: its session has begun anew.
	Waits func(id uint64)
	Goes  func(id uint64, message []byte)
	Never func(id uint64)
}

// Action is what becomes of a message.
type Action uint8

// The actions.
const (
	Pass    Action = iota // as it came
	Drop                  // it is not sent
	Replace               // Decision.With is sent instead of it
	Hold                  // it waits for Release, and with it what must not overtake it
)

// Decision is what becomes of a message. A Replace with bytes that are not a message is a Pass, and a Problem that says why.
type Decision struct {
	Action Action
	With   Outgoing // of Replace
}

// Outgoing is a message as its code and body, with room for the header that its protocol gives it. It is as the definitions have it: what
// says its length, number or checksum is set.
type Outgoing struct {
	Bytes      []byte
	Long       []byte // the same with the longer one of two headers, for where messages of its code have that; nil: Bytes is right
	Raw        bool   // the bytes go as they are, right or wrong; a datagram of its own where there are datagrams
	Unreliable bool   // may get lost on its way, where the protocol has the choice. A replacement goes as what it replaces
}

// RewriteMode is how a connection is handled.
type RewriteMode uint8

// The modes.
const (
	Observing  RewriteMode = iota // bytes pass
	Wanted                        // bytes pass until the safe point
	Operating                     // messages are decided about
	Impossible                    // bytes pass: the messages cannot be read
)

// String is the mode as the API writes it.
func (m RewriteMode) String() string {
	return [...]string{"observing", "wanted", "operating", "impossible"}[m]
}

// What is wrong with a wish.
var (
	ErrNotHeld      = errors.New("no message of this number is held")
	ErrNotOperating = errors.New("the connection is not being rewritten")
	ErrClosed       = errors.New("the direction has ended")
	ErrFull         = errors.New("too much waits to be sent")
)

// EmitFrame calls Emit.
func (r *Relay) EmitFrame(f *Frame) {
	if r != nil && r.Emit != nil {
		r.Emit(f)
	}
}

// Put calls Out.
func (r *Relay) Put(seg Segment) {
	if r != nil && r.Out != nil {
		r.Out(seg)
	}
}

// Wait calls Waits.
func (r *Relay) Wait(id uint64) {
	if r != nil && r.Waits != nil {
		r.Waits(id)
	}
}

// Go calls Goes.
func (r *Relay) Go(id uint64, message []byte) {
	if r != nil && r.Goes != nil {
		r.Goes(id, message)
	}
}

// Forget calls Never.
func (r *Relay) Forget(id uint64) {
	if r != nil && r.Never != nil {
		r.Never(id)
	}
}

// Ask calls Decide.
func (r *Relay) Ask(id uint64, f *Frame) Decision {
	if r != nil && r.Decide != nil {
		return r.Decide(id, f)
	}
	return Decision{}
}
