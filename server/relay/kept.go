package relay

import (
	"io"
	"time"

	"wirebench/server/proxy"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Kept is where the recordings of the sessions of a workspace are kept: as its captures, or until they have gone to another workbench. Its
// methods are as those of store.Captures.
type Kept interface {
	Record(like store.Capture, now time.Time) (store.Capture, File, error)
	Room(resume bool) error
	Get(id string) (store.Capture, error)
	Edit(id string, change func(*store.Capture) error) (store.Capture, error)
	Remove(id string) error
	Changed(id string) (changed <-chan struct{}, stop func())
}

// File is the file of a recording.
type File interface {
	io.WriteCloser
	proxy.RecordFile
}

// inCaptures keeps recordings as captures.
type inCaptures struct{ *store.Captures }

// Record implements Kept.
func (c inCaptures) Record(like store.Capture, now time.Time) (store.Capture, File, error) {
	x, f, err := c.Captures.Record(like, now)
	if err != nil {
		return x, nil, err
	}
	return x, f, nil
}

// kept returns where the recordings of a workspace are kept, nil for nowhere.
func (p *Set) kept(ws *workspace.Workspace) Kept {
	if p.opts.Kept != nil {
		return p.opts.Kept(ws.Name)
	}
	if ws.Captures == nil {
		return nil
	}
	return inCaptures{ws.Captures}
}
