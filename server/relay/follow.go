package relay

import (
	"reflect"
	"sync"
	"time"

	"wirebench/server/proxy"
)

// followed is the part of a session that follow uses.
type followed interface {
	State() proxy.State
	Moved() <-chan struct{}
	HeldChanged() <-chan struct{}
	Done() <-chan struct{}
}

// follow reports the progress of a session until it has ended: changed is called when it starts and ends, held when the held messages
// change, moved when the state changes. The state is compared only after traffic while a page watches, at most once per samplePause.
func follow(one followed, watched *watch, held, changed, moved func()) {
	changed()
	last := one.State()
	var rest <-chan time.Time // time of the next comparison
	for {
		var passed, seen <-chan struct{}
		if rest == nil {
			if seen = watched.begun(); seen == nil {
				passed = one.Moved()
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
		case <-passed:
			rest = time.After(samplePause)
			if now := one.State(); !reflect.DeepEqual(now, last) {
				if !reflect.DeepEqual(now.Operate, last.Operate) {
					held()
				}
				moved()
				last = now
			}
		}
	}
}

// watchers counts the pages that watch running traffic, by workspace.
type watchers struct {
	mu sync.Mutex
	by map[string]*watch
}

// of returns the watch of a workspace.
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

// Watch registers a page that watches the running traffic of a workspace, until leave.
func (p *Set) Watch(ws string) (leave func()) {
	w := p.watched.of(ws)
	w.add(1)
	return func() { w.add(-1) }
}

// watch counts the pages of one workspace.
type watch struct {
	mu    sync.Mutex
	n     int
	first chan struct{} // closed when the first page comes; replaced when all have left
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

// begun returns a channel that is closed when a page begins to watch; nil while one does.
func (w *watch) begun() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n > 0 {
		return nil
	}
	return w.first
}
