package captures

import (
	"context"
	"errors"
	"io"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/transport"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

const (
	streamPatience = time.Hour              // an appended capture that has not grown for this long is complete, for Stream
	streamPause    = 250 * time.Millisecond // between two looks whether a capture has grown
)

// ErrGoesOn reports that a capture is still being written.
var ErrGoesOn = errors.New("the capture is still being written")

// Growing returns how far a capture is certainly written, and whether more may come: it is being recorded, or was appended to.
func (c *Set) Growing(ws *workspace.Workspace, x store.Capture) (size int64, goesOn bool) {
	if size, ok := ws.Captures.Recorded(x.ID); ok {
		return size, true
	}
	c.mu.Lock()
	g, ok := c.grows[ws.Name+"/"+x.ID]
	c.mu.Unlock()
	if ok && time.Since(g.at) <= streamPatience {
		return max(g.size, x.Size), true
	}
	return x.Size, false
}

// ReadsOn reports whether Stream can read a capture that is still being written.
func ReadsOn(in *store.Captures, x store.Capture) bool { return x.Framing == "" && canReadOn(in, x.ID) }

// Numbering returns a hash of what the numbers of the frames of a capture depend on. It is stable across restarts.
func Numbering(snap *workspace.Snapshot, x store.Capture) string {
	return CutBy(snap) + readingKey(snap, x)
}

// Streaming is how Stream reads.
type Streaming struct {
	Begun func(snap *workspace.Snapshot, x store.Capture) // the definitions and the settings that the capture is read with; may be nil
	Frame func(f *transport.Frame)                        // it is valid during the call
	Wait  bool                                            // at the end of a capture that is being written for what comes; else the error is ErrGoesOn there
}

// Stream reads the frames of a capture without keeping them, in the order of their numbers, and returns the number of bytes that were read. When its
// error is nil, the capture is complete.
func (c *Set) Stream(ctx context.Context, ws *workspace.Workspace, x store.Capture, how Streaming) (size int64, err error) {
	snap, x, protocol, err := c.traveling(ws, ws.For(x), x)
	if err != nil {
		return 0, err
	}
	if how.Begun != nil {
		how.Begun(snap, x)
	}
	file, err := c.openFile(ws.Captures, x.ID)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	size, goesOn := c.Growing(ws, x)
	t := newTail(ctx, file, size, func() {})
	t.patience = 1 << 62 // Growing decides
	var watching supervise.Group
	defer watching.Wait()
	watched, stop := context.WithCancel(ctx)
	defer stop()
	switch {
	case !goesOn:
		t.finish(io.EOF)
	case !how.Wait:
		t.finish(ErrGoesOn)
	default:
		watching.Go("capture", t.finish, func() {
			for goesOn {
				select {
				case <-watched.Done():
					return
				case <-time.After(streamPause):
				}
				var now int64
				if now, goesOn = c.Growing(ws, x); !goesOn {
					now = sizeOf(ws.Captures, x.ID, now)
				}
				t.grow(now)
			}
			t.finish(io.EOF)
		})
	}
	ends := &ending{Reader: t}
	options := OptionsOf(snap, protocol, x)
	options.Events = x.Packets && protocol.Streams
	_, _, err = capture.ReadAny(ends, options, func(f *transport.Frame) {
		if ends.err == nil {
			how.Frame(f)
		}
	})
	if ends.err != nil { // what was made of the bytes without what follows was no frame of the capture
		err = ends.err
	}
	return t.read, err
}

// sizeOf returns the size of a capture.
func sizeOf(in *store.Captures, id string, was int64) int64 {
	if x, err := in.Get(id); err == nil {
		return x.Size
	}
	return was
}

// ending keeps the error that a reader ended with, unless that was its end.
type ending struct {
	io.Reader
	err error
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		e.err = err
	}
	return n, err
}
