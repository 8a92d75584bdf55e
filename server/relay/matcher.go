package relay

import (
	"sync"
	"sync/atomic"

	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/server/workspace"
)

// matcher is a filter as the proxy asks it: by the definitions of the moment, in the goroutines of all connections.
type matcher struct {
	ws   *workspace.Workspace
	text string
	now  atomic.Pointer[compiledFilter]
}

type compiledFilter struct {
	snap *workspace.Snapshot
	pool sync.Pool // of *workspace.FrameFilter
	ok   bool
}

// match reports whether a message fits. With definitions that have changed so that the filter is none any more, nothing does.
func (m *matcher) match(c *transport.Conn, f *transport.Frame) bool {
	now := m.now.Load()
	if snap := m.ws.Now(); now == nil || now.snap != snap {
		first, mistakes := snap.Filter(m.text)
		now = &compiledFilter{snap: snap, ok: len(mistakes) == 0}
		now.pool.New = func() any { return first.Again() }
		m.now.Store(now)
	}
	if !now.ok {
		return false
	}
	one := now.pool.Get().(*workspace.FrameFilter)
	defer now.pool.Put(one)
	return one.Fits(workspace.Where{Where: filter.Where{Conn: c.Name(), Session: c.Session, Proto: c.Proto.String()}, Before: f.At}, f)
}
