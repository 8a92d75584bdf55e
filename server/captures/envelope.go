package captures

import (
	"errors"
	"io"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/packet"
	"wirebench/codec/pcap"
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
	streams, datagrams, err := capture.Samples(io.LimitReader(file, envelopeBytes), packet.Options{Ports: snap.Traffic.Ports, TLS: env.TLS()})
	var torn *packet.Torn
	if err != nil && !errors.As(err, &torn) && !errors.Is(err, io.ErrUnexpectedEOF) {
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
