package relay

import (
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/filter"
	"wirebench/server/proxy"
	"wirebench/server/workspace"
)

// matcher is a filter for the proxy. It uses the current definitions, and is safe for concurrent use by all connections.
type matcher struct {
	snap func() *workspace.Snapshot // the current definitions
	text string
	from func() time.Time // time of the first frame; may be nil
	now  atomic.Pointer[compiledFilter]
}

type compiledFilter struct {
	snap *workspace.Snapshot
	pool sync.Pool // of *workspace.FrameFilter
	ok   bool
}

// frameReading is a message decoded once for all matchers of a connection.
type frameReading struct {
	snap *workspace.Snapshot
	n    uint64 // number of the message
	*workspace.Reading
}

// match reports whether a message matches. If the filter has become invalid because definitions changed, nothing matches.
func (m *matcher) match(x *proxy.Message) bool {
	now := m.now.Load()
	if snap := m.snap(); now == nil || now.snap != snap {
		first, mistakes := snap.Filter(m.text)
		now = &compiledFilter{snap: snap, ok: len(mistakes) == 0}
		now.pool.New = func() any { return first.Again() }
		m.now.Store(now)
	}
	if !now.ok {
		return false
	}
	read, ok := x.Memo.(*frameReading)
	if !ok || read.snap != now.snap {
		read = &frameReading{snap: now.snap, Reading: workspace.NewReading(now.snap)}
		x.Memo = read
	}
	if read.n != x.N {
		read.Take(x.Frame)
		read.n = x.N
	}
	one := now.pool.Get().(*workspace.FrameFilter)
	defer now.pool.Put(one)
	c := x.Conn
	where := filter.Where{Conn: c.Name(), Session: c.Session, Stream: c.ID, Proto: c.Proto.String()}
	if m.from != nil {
		where.Start = m.from()
	}
	return one.FitsReading(workspace.Where{Where: where, Before: x.Frame.At}, read.Reading)
}
