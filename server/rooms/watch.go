package rooms

import "wirebench/server/workspace"

// Watcher follows the text of an open room, as people have typed it, before it is on disk.
type Watcher struct {
	room   *Room
	client string // of the one who watches
	wake   chan struct{}
	until  int // version that Text has returned
}

// Watch follows the text of a file. client identifies the copy of the text of the one who watches, as in Push. It is nil if nobody has the text
// open.
func (s *Set) Watch(ws *workspace.Workspace, file, client string) *Watcher {
	s.mu.Lock()
	x := s.rooms[place{ws, file}]
	s.mu.Unlock()
	if x == nil || x.open() == nil {
		return nil
	}
	r := x.open()
	w := &Watcher{room: r, client: client, wake: make(chan struct{}, 1), until: -1}
	r.locked(func() {
		if r.watchers == nil {
			r.watchers = map[*Watcher]struct{}{}
		}
		r.watchers[w] = struct{}{}
	})
	return w
}

// Close ends following.
func (w *Watcher) Close() { w.room.locked(func() { delete(w.room.watchers, w) }) }

// File returns the name of the file.
func (w *Watcher) File() string { return w.room.file }

// Changed returns a channel that receives a value when the text has changed.
func (w *Watcher) Changed() <-chan struct{} { return w.wake }

// Text returns the text.
func (w *Watcher) Text() (text string) {
	w.room.locked(func() { text, w.until = w.room.doc.Text().String(), w.room.doc.Version() })
	return text
}

// Own reports whether the one who watches has made a change since Text, or nobody has.
func (w *Watcher) Own() (own bool) {
	w.room.locked(func() {
		updates, ok := w.room.doc.Since(w.until)
		own = !ok || len(updates) == 0
		for _, u := range updates {
			own = own || u.Client == w.client
		}
	})
	return own
}

// Others returns the number of others who have the text open.
func (w *Watcher) Others() (n int) {
	w.room.locked(func() { n = max(len(w.room.members)-1, 0) })
	return n
}

// wakeWatchers says that the text has changed. The caller holds the lock.
func (r *Room) wakeWatchers() {
	for w := range r.watchers {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}
