package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/store"
)

// Bounds of looking into a capture by the protocols of other workspaces.
const (
	elsewhereBytes  = 8 << 20 // of the file
	elsewhereFrames = 100     // of which it is seen
	elsewhereTime   = 3 * time.Second
	maxElsewhere    = 8 // workspaces that are tried
)

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

// elsewhere is a workspace whose protocol a capture has messages of.
type elsewhere struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Frames int    `json:"frames" doc:"messages in the first part of the file, and not more than are needed to see it"`
}

type elsewhereOutput struct {
	Body struct {
		Workspaces []elsewhere `json:"workspaces" doc:"other workspaces whose protocol finds messages in it"`
	}
}

// elsewhereOf says in which other workspaces a capture shows something.
func (s *Server) elsewhereOf(ctx context.Context, in *CapturePath) (*elsewhereOutput, error) {
	ws, x, err := s.captureAt(*in)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, elsewhereTime)
	defer stop()
	out := &elsewhereOutput{}
	out.Body.Workspaces = []elsewhere{}
	tried := map[string]bool{ws.Snapshot.Dialect.Name: true}
	for _, w := range s.Workspaces {
		other := s.space(w.Name)
		if other == nil || other.Captures == nil || tried[other.Snapshot.Dialect.Name] || len(tried) > maxElsewhere {
			continue
		}
		tried[other.Snapshot.Dialect.Name] = true
		n, err := messagesBy(ctx, ws, other, x)
		if err != nil {
			return nil, captureProblem(err)
		}
		if n > 0 {
			out.Body.Workspaces = append(out.Body.Workspaces, elsewhere{other.Name, other.Title, n})
		}
	}
	return out, nil
}

// messagesBy counts messages that the protocol of another workspace finds in the first part of a capture. What cannot be read there has none.
func messagesBy(ctx context.Context, ws, other *space, x store.Capture) (n int, err error) {
	protocol, ok := protocols.Of(other.Snapshot.Dialect.Name)
	if !ok {
		return 0, nil
	}
	file, err := ws.Captures.Open(x.ID)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	how := readingOf(other.Snapshot, protocol, store.Capture{}) // keys and framing were said for this protocol
	how.Limit = 10 * elsewhereFrames
	var read atomic.Int64
	_, _, err = capture.ReadAny(io.LimitReader(&counted{file, &read, ctx}, elsewhereBytes), how, func(f *transport.Frame) {
		if f.Kind == transport.Message && n < elsewhereFrames {
			n++
		}
	})
	if errors.Is(err, context.Canceled) {
		return 0, err
	}
	return n, nil
}

type copyInput struct {
	CapturePath
	To string `query:"to" required:"true" maxLength:"100" doc:"name of the workspace that gets it"`
}

// copyCapture stores the file of a capture in another workspace, too. Marks and notes stay: they are about frames of a protocol.
func (s *Server) copyCapture(_ context.Context, in *copyInput) (*captureOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	to, err := s.withCaptures(in.To)
	if err != nil {
		return nil, err
	}
	x, err := ws.Captures.Get(in.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	file, err := ws.Captures.Open(x.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	defer file.Close()
	made, err := to.Captures.Add(x.Name, time.Now(), file)
	if err != nil {
		return nil, captureProblem(err)
	}
	return &captureOutput{http.StatusCreated, made}, nil
}
