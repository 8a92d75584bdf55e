package captures

import (
	"context"
	"errors"
	"io"

	"wirebench/codec"
	"wirebench/codec/capture"
	"wirebench/codec/transport"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of trying a capture with another protocol.
const (
	elsewhereBytes = 8 << 20 // read from the start of the file
	MaxMessagesOf  = 100     // maximum count of MessagesOf
)

// Found is what a protocol finds in the first part of a capture. Messages of unknown codes explain nothing.
type Found struct {
	Messages         int // that definitions explain; at most MaxMessagesOf
	Explained, Bytes int64
	Framed           bool // it finds messages, at least of codes that nothing defines
}

// Percent returns how much of the bytes is explained.
func (f Found) Percent() int { return int(100 * f.Explained / max(1, f.Bytes)) }

// Messages says what another protocol finds in the first part of a capture: nothing if it cannot read it.
func Messages(ctx context.Context, in *store.Captures, id string, snap *workspace.Snapshot) (Found, error) {
	file, err := in.Open(id)
	if err != nil {
		return Found{}, err
	}
	defer file.Close()
	return MessagesOf(Until(ctx, file), snap)
}

// MessagesOf says what the protocol of the definitions finds in the first part of a capture: nothing if it cannot read it. The error is
// context.Canceled of r.
func MessagesOf(r io.Reader, snap *workspace.Snapshot) (found Found, err error) {
	protocol, ok := snap.Protocol()
	if !ok {
		return found, nil
	}
	how := OptionsOf(snap, protocol, store.Capture{}) // without keys and framing, which are for the protocol of the workspace
	how.Limit = 10 * MaxMessagesOf
	read := workspace.NewReading(snap)
	_, _, err = capture.ReadAny(io.LimitReader(r, elsewhereBytes), how, func(f *transport.Frame) {
		found.Bytes += int64(len(f.Bytes))
		if f.Kind != transport.Message {
			return
		}
		found.Framed = true
		read.Take(f)
		if rec := read.Record(); rec != nil && rec.Status() == codec.OK {
			found.Messages = min(found.Messages+1, MaxMessagesOf)
			found.Explained += int64(len(f.Bytes)) - int64(rec.Unexplained())
		}
	})
	if errors.Is(err, context.Canceled) {
		return Found{}, err
	}
	return found, nil
}
