package store

import (
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"

	"wirebench/server/supervise"
)

// watcher reports changes in directories. Systems limit the watchers of a user (Linux: to 128), so all folders of the process share one of
// the system's: each of its users gets the events of the directories that it has added, under the names that it has given them.
type watcher struct {
	Events chan fsnotify.Event
	Errors chan error // one is enough: after an error callers begin again
	shared *sharedWatcher
	dirs   map[string]string // added directories by the names that the system knows, without symbolic links
}

const pendingEvents = 4096 // of one user; if there are more it is told that events are lost

// sharedWatcher is the watcher of all users. It exists while there are any.
type sharedWatcher struct {
	change  sync.Mutex // held while watches change; the system may wait meanwhile until its events are taken
	system  *fsnotify.Watcher
	watched map[string]int // users of a directory

	mu    sync.Mutex // of users and their dirs
	users map[*watcher]bool
}

var watchers = &sharedWatcher{users: map[*watcher]bool{}, watched: map[string]int{}}

// newWatcher returns a watcher without directories.
func newWatcher() (*watcher, error) { return watchers.newWatcher() }

func (s *sharedWatcher) newWatcher() (*watcher, error) {
	s.change.Lock()
	defer s.change.Unlock()
	if s.system == nil {
		system, err := fsnotify.NewWatcher()
		if err != nil {
			return nil, err
		}
		s.system = system
		supervise.Go("folder", func(error) { s.lost(system) }, func() { s.run(system) })
	}
	w := &watcher{Events: make(chan fsnotify.Event, pendingEvents), Errors: make(chan error, 1), shared: s, dirs: map[string]string{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[w] = true
	return w, nil
}

// run passes the events of the system to the users.
func (s *sharedWatcher) run(system *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-system.Events:
			if !ok {
				return
			}
			s.pass(e)
		case err, ok := <-system.Errors:
			if !ok {
				return
			}
			s.failAll(err)
		}
	}
}

func (s *sharedWatcher) failAll(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.users {
		w.fail(err)
	}
}

// lost is called after a fault of run: the users begin anew, with another watcher of the system.
func (s *sharedWatcher) lost(system *fsnotify.Watcher) {
	s.change.Lock()
	defer s.change.Unlock()
	if s.system == system {
		s.system = nil
	}
	_ = system.Close()
	s.failAll(fsnotify.ErrEventOverflow)
}

// pass passes an event to the users that watch the directory, or the one that contains it.
func (s *sharedWatcher) pass(e fsnotify.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, base := filepath.Split(e.Name)
	dir = filepath.Clean(dir)
	for w := range s.users {
		to := e
		if name, ok := w.dirs[e.Name]; ok {
			to.Name = name
		} else if name, ok := w.dirs[dir]; ok {
			to.Name = filepath.Join(name, base)
		} else {
			continue
		}
		select {
		case w.Events <- to:
		default:
			w.fail(fsnotify.ErrEventOverflow)
		}
	}
}

func (w *watcher) fail(err error) {
	select {
	case w.Errors <- err:
	default:
	}
}

// Add watches a directory. An event after Add is not missed.
func (w *watcher) Add(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	s := w.shared
	s.change.Lock()
	defer s.change.Unlock()
	if err := s.system.Add(real); err != nil { // again, too: the directory may be another one of the same name
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := w.dirs[real]; !again {
		s.watched[real]++
	}
	w.dirs[real] = dir
	return nil
}

// Close ends the watching.
func (w *watcher) Close() {
	s := w.shared
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	delete(s.users, w)
	left := len(s.users)
	s.mu.Unlock()
	for dir := range w.dirs {
		if s.watched[dir]--; s.watched[dir] == 0 {
			delete(s.watched, dir)
			_ = s.system.Remove(dir) // the system has removed it if the directory is gone
		}
	}
	if left == 0 {
		s.system.Close()
		s.system = nil
	}
}
