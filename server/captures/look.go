package captures

import (
	"context"
	"errors"
	"io"

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

// Messages counts the messages that another protocol finds in the first part of a capture, 0 if it cannot read it.
func Messages(ctx context.Context, in *store.Captures, id string, snap *workspace.Snapshot) (n int, err error) {
	file, err := in.Open(id)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return MessagesOf(Until(ctx, file), snap)
}

// MessagesOf counts the messages that the protocol of the definitions finds in the first part of a capture, 0 if it cannot read it. The error
// is context.Canceled of r.
func MessagesOf(r io.Reader, snap *workspace.Snapshot) (n int, err error) {
	protocol, ok := snap.Protocol()
	if !ok {
		return 0, nil
	}
	how := readingOf(snap, protocol, store.Capture{}) // without keys and framing, which are for the protocol of the workspace
	how.Limit = 10 * MaxMessagesOf
	_, _, err = capture.ReadAny(io.LimitReader(r, elsewhereBytes), how, func(f *transport.Frame) {
		if f.Kind == transport.Message && n < MaxMessagesOf {
			n++
		}
	})
	if errors.Is(err, context.Canceled) {
		return 0, err
	}
	return n, nil
}
