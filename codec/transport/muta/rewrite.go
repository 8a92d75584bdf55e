package muta

import (
	"errors"
	"fmt"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// wire is what is MUTA's in a rewriter: the definitions say what a message is, and there is nothing else to set right.
type wire struct{ *Transport }

// NewRewriter makes the rewriter of a connection. The safe point is in each direction the next start of a message. A message that does
// not measure passes as it is, as does what follows, until messages can be read again.
func NewRewriter(o Options) *transport.StreamRewriter {
	return transport.NewStreamRewriter(wire{New(o)})
}

var _ transport.StreamWire = wire{}

// Ready is always the case.
func (w wire) Ready() (ok, never bool, why string) {
	if w.o.Measure == nil {
		return false, true, "there are no definitions"
	}
	return true, false, ""
}

// Take has nothing to set up.
func (w wire) Take(int64, int64) {}

// Start is where the message starts that comes next.
func (w wire) Start(dir schema.Dir) int64 {
	s := w.way(dir)
	if s.lost || s.ended {
		return transport.Unknown
	}
	return s.offset
}

// Open leaves what came as it is.
func (w wire) Open(schema.Dir, []byte) {}

// Close leaves what is sent as it is.
func (w wire) Close(schema.Dir, []byte) {}

// maxRaw is how many bytes may be sent as they are, at once.
const maxRaw = 1 << 20

// Fit lets the definitions measure a message.
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

// Mark has nothing to remember.
func (w wire) Mark(*transport.Frame) uint64 { return 0 }

// Seal has nothing to write.
func (w wire) Seal(schema.Dir, []byte, uint64) {}

// Gone has nothing to count.
func (w wire) Gone(schema.Dir, uint64) {}
