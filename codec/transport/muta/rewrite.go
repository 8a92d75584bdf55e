package muta

import (
	"errors"
	"fmt"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// wire is the StreamWire of MUTA. Its messages have no cipher, counters or checksums.
type wire struct{ *Transport }

// NewRewriter returns the rewriter of a connection. The safe point of a direction is the next start of a message. An unreadable message
// passes unchanged, as does the data after it, until messages can be read again.
func NewRewriter(o Options) *transport.StreamRewriter {
	return transport.NewStreamRewriter(wire{New(o)})
}

var _ transport.StreamWire = wire{}

// Ready reports whether there are definitions.
func (w wire) Ready() (ok, never bool, why string) {
	if w.o.Measure == nil {
		return false, true, "there are no definitions"
	}
	return true, false, ""
}

// Take does nothing: there is no state to set up.
func (w wire) Take(int64, int64) {}

// Start implements transport.StreamWire.
func (w wire) Start(dir schema.Dir) int64 {
	s := w.way(dir)
	if s.lost || s.ended {
		return transport.Unknown
	}
	return s.offset
}

// Open does nothing: there is no cipher.
func (w wire) Open(schema.Dir, []byte) {}

// Close does nothing: there is no cipher.
func (w wire) Close(schema.Dir, []byte) {}

// maxRaw is the maximum size in bytes of a raw message.
const maxRaw = 1 << 20

// Fit checks a message against its definition.
func (w wire) Fit(dir schema.Dir, o transport.Outgoing) ([]byte, error) {
	size := len(o.Bytes)
	if o.Raw {
		if size < 1 || size > maxRaw {
			return nil, transport.OutOfRange(size, 1, maxRaw)
		}
		return append([]byte(nil), o.Bytes...), nil
	}
	if size < 1 || size > maxMessage {
		return nil, transport.OutOfRange(size, 1, maxMessage)
	}
	n, need, _, why := w.o.Measure(dir, o.Bytes)
	switch {
	case why != nil:
		return nil, errors.New(why())
	case n == 0:
		return nil, fmt.Errorf("the message has %d bytes and needs at least %d", size, need)
	case n != size:
		return nil, fmt.Errorf("the message ends after %d of the %d bytes", n, size)
	}
	return append([]byte(nil), o.Bytes...), nil
}

// Mark returns 0: messages have no counters.
func (w wire) Mark(*transport.Frame) uint64 { return 0 }

// Seal does nothing: messages have no counters or checksums.
func (w wire) Seal(schema.Dir, []byte, uint64) {}

// Gone does nothing: there are no counters.
func (w wire) Gone(schema.Dir, uint64) {}
