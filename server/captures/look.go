package captures

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of trying a capture with another protocol.
const (
	elsewhereBytes  = 8 << 20 // read from the start of the file
	elsewhereFrames = 100     // maximum count of messages
)

// Messages counts the messages that another protocol finds in the first part of a capture, 0 if it cannot read it.
func Messages(ctx context.Context, in *store.Captures, id string, snap *workspace.Snapshot) (n int, err error) {
	protocol, ok := protocols.Of(snap.Dialect.Name)
	if !ok {
		return 0, nil
	}
	file, err := in.Open(id)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	how := readingOf(snap, protocol, store.Capture{}) // without keys and framing, which are for the protocol of the workspace
	how.Limit = 10 * elsewhereFrames
	_, _, err = capture.ReadAny(io.LimitReader(Until(ctx, file), elsewhereBytes), how, func(f *transport.Frame) {
		if f.Kind == transport.Message && n < elsewhereFrames {
			n++
		}
	})
	if errors.Is(err, context.Canceled) {
		return 0, err
	}
	return n, nil
}

// withoutFrames returns the reason why a file that was read to its end has no frames of a protocol.
func withoutFrames(protocol string, sum packet.Summary) string {
	if sum.Packets == 0 {
		return "the capture has no packets"
	}
	packets := "packets"
	if sum.Packets == 1 {
		packets = "packet"
	}
	note := fmt.Sprintf("read as %s, there are no frames in %d %s", protocol, sum.Packets, packets)
	if left := sum.LeftOut(); len(left) > 0 {
		note += "; skipped: " + strings.Join(left, ", ")
	}
	return note
}
