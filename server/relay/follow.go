package relay

import (
	"reflect"
	"sync"
	"time"

	"wirebench/server/proxy"
)

// followed is a session of the proxy, as those see it who tell pages of it.
type followed interface {
	State() proxy.State
	Moved() <-chan struct{}
	HeldChanged() <-chan struct{}
	Done() <-chan struct{}
}

// follow tells how a session goes on, until it has ended: held that other messages wait for a person, changed that it stands otherwise.
// It looks at the session when something has moved and a page watches, at most once each samplePause.
func follow(one followed, watched *watch, held, changed func()) {
	changed()
	last := one.State()
	var rest <-chan time.Time // until it is looked at again
	for {
		var moved, seen <-chan struct{}
		if rest == nil {
			if seen = watched.begun(); seen == nil {
				moved = one.Moved()
			}
		}
		select {
		case <-one.Done():
			held()
			changed()
			return
		case <-one.HeldChanged():
			held()
		case <-seen:
		case <-rest:
			rest = nil
		case <-moved:
			rest = time.After(samplePause)
			if now := one.State(); !reflect.DeepEqual(now, last) {
				if !reflect.DeepEqual(now.Operate, last.Operate) {
					held()
				}
				changed()
				last = now
			}
		}
	}
}

// watchers are the pages that watch running traffic, by workspace.
type watchers struct {
	mu sync.Mutex
	by map[string]*watch
}

// of are those of a workspace.
func (w *watchers) of(ws string) *watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]*watch{}
	}
	if w.by[ws] == nil {
		w.by[ws] = &watch{first: make(chan struct{})}
	}
	return w.by[ws]
}

// Watch says that a page watches the running traffic of a workspace, until leave.
func (p *Set) Watch(ws string) (leave func()) {
	w := p.watched.of(ws)
	w.add(1)
	return func() { w.add(-1) }
}

// watch is the pages of one workspace.
type watch struct {
	mu    sync.Mutex
	n     int
	first chan struct{} // closed when one comes; another one when all have left
}

func (w *watch) add(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.n += n; {
	case w.n == 1 && n > 0:
		close(w.first)
	case w.n == 0:
		w.first = make(chan struct{})
	}
}

// begun is closed when a page begins to watch; it is nil while one does.
func (w *watch) begun() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n > 0 {
		return nil
	}
	return w.first
}
