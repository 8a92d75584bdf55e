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

// Bounds of looking into a capture by another protocol.
const (
	elsewhereBytes  = 8 << 20 // of the file
	elsewhereFrames = 100     // of which it is seen
)

// Messages counts messages that another protocol finds in the first part of a capture. What cannot be read there has none.
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
	how := readingOf(snap, protocol, store.Capture{}) // keys and framing were said for this protocol
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

// withoutFrames says why a file that was read to its end has no frames.
func withoutFrames(sum packet.Summary) string {
	if sum.Packets == 0 {
		return "there are no packets in this capture"
	}
	packets := "packets"
	if sum.Packets == 1 {
		packets = "packet"
	}
	said := fmt.Sprintf("%d %s, and no frame of the protocol in them", sum.Packets, packets)
	if left := sum.LeftOut(); len(left) > 0 {
		said += "; left out are " + strings.Join(left, ", ")
	}
	return said
}
