package captures

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of looking for an envelope.
const (
	envelopeBytes = 16 << 20 // read from the start of the file
	maxUnfound    = 1024     // captures in which none was found
)

// envelope looks for the envelope of a capture of a project that has none. A found one becomes a setting of the capture, which applies until
// the project has an envelope. It returns the capture with its settings, and the definitions as it is read with.
func (c *Set) envelope(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture) (*workspace.Snapshot, store.Capture) {
	c.looking.Lock()
	defer c.looking.Unlock()
	if now, err := ws.Captures.Get(x.ID); err == nil && now.Settings.Envelope != "" { // found since x was read
		return ws.For(now), now
	}
	if !c.mayLook(ws.Name, x, snap) {
		return snap, x
	}
	file, err := c.openFile(ws.Captures, x.ID)
	if err != nil {
		return snap, x
	}
	defer file.Close()
	env := EnvOf(snap, x)
	streams, datagrams, err := samplesOf(file, env, snap)
	if err != nil {
		if !errors.Is(err, pcap.ErrFormat) {
			ws.Log.Warn("cannot look for an envelope", "file", ws.Captures.Path(x.ID), "error", err)
		}
		return snap, x
	}
	found, ok := env.Find(streams, datagrams)
	if !ok {
		return snap, x
	}
	next, err := ws.Captures.Edit(x.ID, func(now *store.Capture) error {
		now.Settings.Envelope = found.Comment(x.Name) + found.Text
		return nil
	})
	if err != nil {
		ws.Log.Warn("cannot store the envelope that was found", "file", ws.Captures.Path(x.ID), "error", err)
		return snap, x
	}
	return ws.For(next), next
}

// samplesOf returns the traffic in the first part of a capture.
func samplesOf(r io.Reader, env *protocols.Env, snap *workspace.Snapshot) (streams, datagrams [][]transport.Segment, err error) {
	streams, datagrams, err = capture.Samples(io.LimitReader(r, envelopeBytes), packet.Options{Ports: snap.Traffic.Ports, TLS: env.TLS()})
	var torn *packet.Torn
	if errors.As(err, &torn) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return streams, datagrams, err
}

// Envelopes returns the envelopes that the traffic of a capture may have, the most likely first. A capture without packets has none.
func Envelopes(ctx context.Context, in *store.Captures, snap *workspace.Snapshot, x store.Capture) ([]protocols.Found, error) {
	file, err := in.Open(x.ID)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	env := EnvOf(snap, x)
	streams, datagrams, err := samplesOf(Until(ctx, file), env, snap)
	if errors.Is(err, pcap.ErrFormat) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return env.Candidates(streams, datagrams), nil
}

// Bounds of Cut.
const (
	cutBytes  = 1 << 20 // read from the start of the file
	cutFrames = 20_000
)

// Cut calls emit with the frames in the first part of a capture, as the envelope of a snapshot cuts them. A frame is valid only during the
// call. more reports that the capture continues.
func Cut(ctx context.Context, in *store.Captures, snap *workspace.Snapshot, x store.Capture, emit func(*transport.Frame)) (more bool, err error) {
	protocol, ok := snap.Protocol()
	if !ok {
		return false, ErrProtocol
	}
	file, err := in.Open(x.ID)
	if err != nil {
		return false, err
	}
	defer file.Close()
	how := readingWith(EnvOf(snap, x), snap, protocol, x, nil)
	how.Recorded, how.Limit = nil, cutFrames
	_, _, err = capture.ReadAny(io.LimitReader(Until(ctx, file), cutBytes), how, emit)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if x.Size > cutBytes {
		return true, nil // any error is about the place where reading stopped
	}
	return false, err
}

// Evidence returns the evidence for the envelope that was found in a capture, "" if none was.
func Evidence(x store.Capture) string {
	first, _, _ := strings.Cut(x.Settings.Envelope, "\n")
	if text, ok := strings.CutPrefix(first, "# found in "+x.Name+": "); ok {
		return text
	}
	return ""
}

// mayLook reports whether to look for the envelope of a capture: not again for the same definitions and the same bytes, until some time has
// passed. The caller holds looking.
func (c *Set) mayLook(ws string, x store.Capture, snap *workspace.Snapshot) bool {
	key := unfound{ws + "/" + x.ID, x.Size, snap.ID}
	if at, ok := c.unfound[key]; ok && time.Since(at) < time.Minute {
		return false
	}
	if c.unfound == nil || len(c.unfound) >= maxUnfound {
		c.unfound = map[unfound]time.Time{}
	}
	c.unfound[key] = time.Now()
	return true
}

// unfound is a capture in which no envelope was found, or is being looked for.
type unfound struct {
	capture     string
	size        int64
	definitions string
}
