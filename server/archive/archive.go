// Package archive puts complete captures into the place of captures (store.Place), each with the index of its frames beside it, and removes their
// files from the data folder when they take too much there.
//
// One goroutine does it for all projects. What it is to do is on disk in the folders of captures, so nothing is lost when the program ends: each step is
// done again, or completed, by the next sweep.
package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/server/captures"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of a Set.
const (
	settleTime  = time.Minute      // after the last byte of a capture, until it is complete
	sweepEach   = time.Minute      // if nothing is reported
	sweepPause  = 5 * time.Second  // between two sweeps
	mostPause   = 10 * time.Minute // between two sweeps of a place that fails
	mostIndexes = 8                // that wait for their captures to be in the place; they keep their frames in memory
)

// Options are the dependencies of a Set.
type Options struct {
	Projects *projects.Set
	Captures *captures.Set
	Place    *store.Place
	Changed  func(ws *workspace.Workspace) // captures went to the place, or left the data folder; may be nil
	Log      *slog.Logger

	Settle time.Duration // after the last byte of a capture; 0: a minute
}

// Set keeps the captures of projects in a place.
type Set struct {
	Options
	stop context.CancelFunc
	wg   supervise.Group
	wake chan struct{}

	mu      sync.Mutex
	indexes []waiting
	problem error // of the last sweep

	due atomic.Int64 // captures that are to be stored, after the last sweep
}

// waiting is an index that is to be stored.
type waiting struct {
	ws      *workspace.Workspace
	x       store.Capture
	reading string
	open    *captures.Capture
}

// New starts it, until Close.
func New(o Options) *Set {
	s := newSet(o)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.wg.Go("archive", func(error) { stop() }, func() { s.run(ctx) })
	return s
}

// newSet returns a Set that does nothing by itself.
func newSet(o Options) *Set {
	s := &Set{Options: o, stop: func() {}, wake: make(chan struct{}, 1)}
	s.Settle = cmp.Or(s.Settle, settleTime)
	s.Captures.Filled(s.index)
	return s
}

// run sweeps when something was reported, and each minute. After errors it waits longer each time.
func (s *Set) run(ctx context.Context) {
	pause := sweepPause
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		err := supervise.Do("archive", func() error { return s.Sweep(ctx) })
		if ctx.Err() != nil {
			return
		}
		s.said(err)
		if err != nil {
			pause = min(2*pause, mostPause)
			continue
		}
		pause = sweepPause
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-s.Place.Woken():
		case <-time.After(sweepEach):
		}
	}
}

// said keeps the error of a sweep, and logs it unless it was the same before.
func (s *Set) said(err error) {
	s.mu.Lock()
	was := s.problem
	s.problem = err
	s.mu.Unlock()
	switch {
	case err != nil && (was == nil || was.Error() != err.Error()):
		s.Log.Error("captures cannot be kept in their place; trying again", "place", s.Place, "error", err)
	case err == nil && was != nil:
		s.Log.Info("captures are kept in their place again", "place", s.Place)
	}
}

// Problem returns why the last sweep has failed, nil if it has not.
func (s *Set) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Due returns the number of captures that were to be stored after the last sweep.
func (s *Set) Due() int64 { return s.due.Load() }

// Wake says that captures of a project have come, grown or gone.
func (s *Set) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close ends it, and all requests to the place, and waits.
func (s *Set) Close() {
	s.stop()
	s.Place.Close()
	s.wg.Wait()
}

// index keeps an open capture until its index is stored.
func (s *Set) index(ws *workspace.Workspace, x store.Capture, reading string, open *captures.Capture) {
	may, waits := ws.Captures.Indexable(x.ID, reading, x.Size, x.Written)
	if !may && !waits {
		return
	}
	s.mu.Lock()
	s.indexes = slices.DeleteFunc(s.indexes, func(w waiting) bool { return w.ws == ws && w.x.ID == x.ID && w.reading == reading })
	s.indexes = append(s.indexes, waiting{ws, x, reading, open})
	if len(s.indexes) > mostIndexes {
		left := s.indexes[0]
		s.indexes = slices.Delete(s.indexes, 0, 1)
		s.Log.Info("the index of a capture is not stored, as too many wait; it is when the capture is read again", "project", left.ws.Name, "capture", left.x.ID)
	}
	s.mu.Unlock()
	s.Wake()
}

// Sweep does what there is to do now. An error of the place ends it; what is wrong with one capture is said, and does not keep others.
func (s *Set) Sweep(ctx context.Context) error {
	due := int64(0)
	defer func() { s.due.Store(due) }()
	var wrong error
	for _, ws := range s.Projects.All() {
		if ws.Captures == nil {
			continue
		}
		n, err := s.sweep(ctx, ws)
		due += n
		if errors.Is(err, store.ErrAway) || ctx.Err() != nil {
			return err
		}
		wrong = cmp.Or(wrong, err)
	}
	return cmp.Or(s.storeIndexes(ctx), s.evict(ctx), wrong)
}

// sweep tidies the objects of a project, and stores its captures. It returns the number of captures that are to be stored still.
func (s *Set) sweep(ctx context.Context, ws *workspace.Workspace) (due int64, wrong error) {
	if err := ws.Captures.Tidy(ctx); err != nil {
		return 0, err
	}
	list, err := ws.Captures.List()
	if err != nil {
		return 0, err
	}
	slices.Reverse(list) // the oldest first
	stored := false
	for _, x := range list {
		if x.Away || !ws.Captures.Due(x.ID) {
			continue
		}
		if due++; !s.complete(ws, x) || errors.Is(wrong, store.ErrAway) {
			continue
		}
		err := ws.Captures.Deposit(ctx, x.ID)
		switch {
		case ctx.Err() != nil:
			return due, ctx.Err()
		case errors.Is(err, store.ErrMoved), errors.Is(err, fs.ErrNotExist): // with the next sweep
		case err != nil:
			wrong = cmp.Or(wrong, fmt.Errorf("capture %s of project %s: %w", x.ID, ws.Name, err))
			if errors.Is(err, store.ErrAway) {
				wrong = err
			}
		default:
			due--
			stored = true
			s.Log.Info("capture stored in the place of captures", "project", ws.Name, "capture", x.ID, "bytes", x.Size)
		}
	}
	if stored && s.Changed != nil {
		s.Changed(ws)
	}
	return due, wrong
}

// complete reports whether nothing is to come of a capture, as far as is known.
func (s *Set) complete(ws *workspace.Workspace, x store.Capture) bool {
	if s.Captures.Runs(ws.Name, x.ID) || s.Captures.Writes(ws.Name, x.ID) {
		return false
	}
	if _, goesOn := s.Captures.Growing(ws, x); goesOn {
		return false
	}
	if x.Unfinished && x.Collected != nil { // its collector may come back
		return false
	}
	return time.Since(x.Written) >= s.Settle
}

// storeIndexes stores the indexes of captures that are in the place.
func (s *Set) storeIndexes(ctx context.Context) error {
	s.mu.Lock()
	all := s.indexes
	s.indexes = nil
	s.mu.Unlock()
	for i, w := range all {
		may, waits := w.ws.Captures.Indexable(w.x.ID, w.reading, w.x.Size, w.x.Written)
		var err error
		if may {
			err = w.ws.Captures.AddIndex(ctx, w.x.ID, w.reading, w.open.WriteIndex)
		}
		if waits || errors.Is(err, store.ErrAway) || ctx.Err() != nil {
			s.mu.Lock()
			s.indexes = append(s.indexes, w)
			if err != nil {
				s.indexes = append(s.indexes, all[i+1:]...)
			}
			s.mu.Unlock()
		}
		if errors.Is(err, store.ErrAway) || ctx.Err() != nil {
			return err
		}
		if err != nil && !errors.Is(err, store.ErrMoved) {
			s.Log.Warn("the index of a capture is not stored", "project", w.ws.Name, "capture", w.x.ID, "error", err)
		}
	}
	return nil
}

// evict removes files of captures that are in the place until the rest takes no more than it may. Those opened longest ago go first.
func (s *Set) evict(ctx context.Context) error {
	type cached struct {
		store.Cached
		ws *workspace.Workspace
	}
	var all []cached
	total := int64(0)
	for _, ws := range s.Projects.All() {
		if ws.Captures == nil {
			continue
		}
		list, err := ws.Captures.Cached()
		if err != nil {
			return err
		}
		for _, x := range list {
			all = append(all, cached{x, ws})
			total += x.Size
		}
	}
	slices.SortStableFunc(all, func(a, b cached) int { return a.Used.Compare(b.Used) })
	gone := map[*workspace.Workspace]bool{}
	for _, x := range all {
		if total <= s.Place.Local() || ctx.Err() != nil {
			break
		}
		if s.Captures.Shown(x.ws.Name, x.ID) {
			continue
		}
		evicted, err := x.ws.Captures.Evict(ctx, x.ID)
		if err != nil {
			return fmt.Errorf("capture %s of project %s stays in the data folder: %w", x.ID, x.ws.Name, err)
		}
		if evicted {
			total -= x.Size
			gone[x.ws] = true
			s.Log.Info("the file of a capture was removed; the place of captures has it", "project", x.ws.Name, "capture", x.ID, "bytes", x.Size)
		}
	}
	for ws := range gone {
		if s.Changed != nil {
			s.Changed(ws)
		}
	}
	return nil
}
