// Package ingest follows the captures of projects, and takes their frames into a lake as they come: those that are uploaded, and those that are
// being recorded or appended to.
//
// What was recorded is on disk before it is taken, so nothing has to be kept here: after a crash or an error, captures are read again from their
// beginning, up to what the manifests of the lake do not have.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/redact"
	"wirebench/server/captures"
	"wirebench/server/lake"
	"wirebench/server/objects"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Feed takes the captures of projects into a lake.
type Feed struct {
	Options
	mu   sync.Mutex
	runs map[string]*run // of open projects
	one  chan struct{}   // a semaphore: captures that are complete are read one at a time
	many chan struct{}   // a semaphore of captures that are being written
}

// Options are the dependencies of a Feed.
type Options struct {
	Store    objects.Store
	Captures *captures.Set
	Every    time.Duration               // after which rows are in the lake
	Name     func(project string) string // in the lake: one that renaming does not change
	Log      *slog.Logger
}

// Bounds of a Feed.
const (
	mostGrowing = 64               // captures that are followed while they are written; others are read when they are complete
	mostBatch   = 256 << 20        // bytes of files, after which they are put into the lake
	quiet       = 5 * time.Second  // after which rows are put into the lake where nothing is being read
	lookPause   = 2 * time.Second  // between two looks at the list of captures
	lookAnyway  = 30 * time.Second // until the next look if nothing is reported
	leaveTime   = 2 * time.Second  // for the last rows when a project is closed
	mostDays    = 400              // of a capture: frames of further days are in the day when it came
)

// New returns a feed of a lake.
func New(o Options) *Feed {
	return &Feed{Options: o, runs: map[string]*run{}, one: make(chan struct{}, 1), many: make(chan struct{}, mostGrowing)}
}

// run is what is taken of a project.
type run struct {
	*Feed
	ws       *workspace.Workspace
	requests chan struct{} // receives a value when all rows are to be replaced
	ended    chan struct{} // receives a value when a capture has been read
	changed  chan struct{} // receives a value when captures have changed

	batching sync.Mutex   // for the use of the batch: held while it is committed, which may take long
	batch    *lake.Batch  // nil once it could not be committed
	since    atomic.Int64 // first row of the batch, nanoseconds since 1970; 0: there is nothing to commit
	pending  atomic.Int64 // rows of the batch

	hiding   sync.Mutex
	redactor *redact.Redactor // nil until there is a secret

	mu        sync.Mutex // for what follows; never held while the lake is used, and locked after batching
	project   *lake.Project
	done      map[string]int64   // captures that the batch has the end of: their sizes
	readers   map[string]*reader // by capture
	failed    map[string]failure // captures that could not be read
	waiting   int                // captures to be read, those being read included
	committed time.Time
	rewriting bool
	problem   error
	fault     error // of the lake, found by a reader
}

// failure is why a capture of some size could not be read.
type failure struct {
	size int64
	err  error
}

// Follow takes the captures of a project until the context is done.
func (f *Feed) Follow(ctx context.Context, ws *workspace.Workspace) {
	if ws.Captures == nil {
		return
	}
	r := &run{Feed: f, ws: ws, requests: make(chan struct{}, 1), ended: make(chan struct{}, 1), changed: make(chan struct{}, 1), failed: map[string]failure{}}
	f.mu.Lock()
	f.runs[ws.Name] = r
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.runs[ws.Name] == r {
			delete(f.runs, ws.Name)
		}
	}()
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		began := time.Now()
		err := supervise.Do("lake", func() error { return r.follow(ctx) })
		if ctx.Err() != nil {
			return
		}
		f.Log.Error("the lake cannot be written; trying again", "project", ws.Name, "lake", f.Store, "error", err)
		r.mu.Lock()
		r.problem = err
		r.mu.Unlock()
		if time.Since(began) > 10*time.Minute {
			wait = time.Second
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Changed says that captures of a project may have come or grown.
func (f *Feed) Changed(project string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.runs[project]; r != nil {
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
}

// follow takes captures until the context is done, or an error of the lake, after which it is opened again.
func (r *run) follow(ctx context.Context) error {
	project, err := lake.Open(ctx, r.Store, r.Name(r.ws.Name))
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.project, r.readers, r.fault = project, map[string]*reader{}, nil
	r.mu.Unlock()
	r.batching.Lock()
	r.begin(nil)
	r.batching.Unlock()
	reading := newReading(ctx)
	defer func() {
		reading.end()
		r.batching.Lock()
		defer r.batching.Unlock()
		if r.batch != nil {
			r.batch.Abandon()
		}
	}()
	pause := func(f func(context.Context) error) error {
		reading.end()
		reading = newReading(ctx)
		return f(ctx)
	}
	defined, stopDefined := r.ws.Changed()
	defer stopDefined()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	look := time.Now()
	soon := func() {
		if at := time.Now().Add(lookPause); at.Before(look) {
			look = at
		}
	}
	for {
		if !time.Now().Before(look) {
			look = time.Now().Add(lookAnyway)
			if again := r.look(reading); len(again) > 0 {
				if err := pause(func(ctx context.Context) error { return r.rewrite(ctx, again) }); err != nil {
					return err
				}
				look = time.Now()
			}
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
			defer cancel()
			reading.end()
			return r.commit(last)
		case <-r.changed:
			soon()
		case <-r.ended:
			r.mu.Lock()
			fault := r.fault
			r.mu.Unlock()
			if fault != nil {
				return fault
			}
			look = time.Now()
		case <-defined:
			r.redefine()
		case <-r.requests:
			if err := pause(r.rewriteAll); err != nil {
				return err
			}
			look = time.Now()
		case <-tick.C:
			if err := r.settle(ctx); err != nil {
				return err
			}
		}
	}
}

// reading is the goroutines that read captures.
type reading struct {
	ctx   context.Context
	stop  context.CancelFunc
	group supervise.Group
}

func newReading(ctx context.Context) *reading {
	r := &reading{}
	r.ctx, r.stop = context.WithCancel(ctx)
	return r
}

func (r *reading) end() {
	r.stop()
	r.group.Wait()
}

// begin begins a batch. The caller holds batching.
func (r *run) begin(replaced map[string]bool) {
	r.batch = r.lake().Begin(r.ws.Now().Schema().Messages, replaced)
	r.since.Store(0)
	r.pending.Store(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = map[string]int64{}
}

// begun says that the batch has something to commit.
func (r *run) begun() {
	if r.since.Load() == 0 {
		r.since.Store(time.Now().UnixNano())
	}
}

// settle commits the batch when it is time to, and merges small files.
func (r *run) settle(ctx context.Context) error {
	since := r.since.Load()
	if since == 0 {
		return nil
	}
	r.mu.Lock()
	waiting := r.waiting
	r.mu.Unlock()
	r.batching.Lock()
	full := r.batch != nil && r.batch.Bytes() >= mostBatch
	r.batching.Unlock()
	if age := time.Since(time.Unix(0, since)); age < r.Every && !full && (waiting > 0 || age < quiet) {
		return nil
	}
	if err := r.commit(ctx); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = r.lake().Compact(ctx, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// commit puts the batch into the lake, and begins another.
func (r *run) commit(ctx context.Context) error {
	r.batching.Lock()
	defer r.batching.Unlock()
	if r.batch == nil || r.since.Load() == 0 {
		return nil
	}
	if err := r.batch.Commit(ctx); err != nil {
		r.batch = nil
		return err
	}
	r.begin(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed, r.problem = time.Now(), nil
	return nil
}

// look begins to read captures that are not in the lake as they are now, and returns those whose rows must be replaced.
func (r *run) look(reading *reading) (again []store.Capture) {
	list, err := r.ws.Captures.List()
	if err != nil {
		r.Log.Warn("the captures cannot be listed for the lake", "project", r.ws.Name, "error", err)
		return nil // with the next look
	}
	slices.Reverse(list) // the oldest first
	had := r.project.Captures()
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := 0
	for _, x := range list {
		if r.readers[x.ID] != nil {
			waiting++
			continue
		}
		size, goesOn := r.Captures.Growing(r.ws, x)
		if f, ok := r.failed[x.ID]; ok && f.size == size || r.done[x.ID] == size && size > 0 || goesOn && !captures.ReadsOn(r.ws.Captures, x) {
			continue
		}
		switch r.needs(x, size, had[x.ID]) {
		case nothing:
		case replacing:
			again = append(again, x)
		case reads:
			slot := r.one
			if goesOn {
				select {
				case r.many <- struct{}{}:
				default:
					continue // when it is complete
				}
				slot = nil
			}
			waiting++
			one := &reader{run: r, x: x, size: size}
			for _, t := range had[x.ID] {
				one.was = t.Cut
			}
			r.readers[x.ID] = one
			reading.group.Go("lake", one.end, func() { one.read(reading.ctx, slot) })
		}
	}
	r.waiting = waiting + len(again)
	return again
}

type need uint8

const (
	nothing need = iota
	reads
	replacing
)

// needs says what a capture of some size needs, of which the lake has something.
func (r *run) needs(x store.Capture, size int64, had map[lake.Day]lake.Taken) need {
	numbering := ""
	for _, t := range had {
		switch {
		case t.Size == size && t.Size != 0:
			return nothing
		case t.Size != 0: // it has grown since it was complete: what was at its end was made of the bytes without these
			return replacing
		case numbering == "":
			numbering = captures.Numbering(r.ws.For(x), x)
		}
		if t.Cut != numbering {
			return replacing
		}
	}
	if size == 0 {
		return nothing
	}
	return reads
}

// redefine lets captures that are being read be read by changed definitions, unless their frames would have other numbers.
func (r *run) redefine() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, one := range r.readers {
		x, err := r.ws.Captures.Get(id)
		if err != nil {
			continue
		}
		if snap := r.ws.For(x); captures.Numbering(snap, x) == one.numbering.Load() {
			one.next.Store(snap)
		}
	}
}

// rewriteAll replaces the rows of all captures that are still there.
func (r *run) rewriteAll(ctx context.Context) error {
	list, err := r.ws.Captures.List()
	if err != nil {
		return err
	}
	return r.rewrite(ctx, list)
}

// rewrite replaces the rows of captures by what the present definitions read. Nobody else reads meanwhile. What a capture that cannot be read to its
// end has up to there replaces what it had.
func (r *run) rewrite(ctx context.Context, list []store.Capture) error {
	if err := r.commit(ctx); err != nil {
		return err
	}
	replaced := map[string]bool{}
	for _, x := range list {
		replaced[x.ID] = true
	}
	r.batching.Lock()
	r.batch.Abandon()
	r.begin(replaced)
	r.batching.Unlock()
	r.mu.Lock()
	r.rewriting = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.rewriting = false
	}()
	for _, x := range list {
		one := &reader{run: r, x: x}
		one.size, _ = r.Captures.Growing(r.ws, x)
		err := one.take(ctx, false)
		switch {
		case err == nil || errors.Is(err, captures.ErrGoesOn):
		case ctx.Err() != nil || one.broken:
			return err
		case errors.Is(err, fs.ErrNotExist): // it was removed: its rows stay
			delete(replaced, x.ID)
		default:
			one.fails(err)
		}
	}
	r.begun() // also where there are no rows
	return r.commit(ctx)
}

// Rewrite begins to replace the rows of all captures of a project that are still there by what the present definitions read. ok is false if the project is
// not followed. After an error of the lake or a restart, what was not yet replaced stays.
func (f *Feed) Rewrite(project string) (ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[project]
	if r == nil {
		return false
	}
	select {
	case r.requests <- struct{}{}:
	default: // it is going to begin
	}
	return true
}

// LakeState is what a lake has of a project.
type LakeState struct {
	Lake      string        `json:"lake" doc:"folder or bucket"`
	Name      string        `json:"name" doc:"of the project in the lake"`
	Rows      int           `json:"rows"`
	Files     int           `json:"files"`
	Bytes     int64         `json:"bytes"`
	Days      int           `json:"days"`
	Undefined int           `json:"undefined" doc:"frames that had no definition when they were read, and have no row"`
	Pending   int           `json:"pending" doc:"rows that are not in the lake yet"`
	Waiting   int           `json:"waiting" doc:"captures that are being read, or are to be read"`
	Rewriting bool          `json:"rewriting,omitempty" doc:"all rows are being replaced"`
	Written   time.Time     `json:"written,omitzero" doc:"when rows were last put into the lake, since the start of the program"`
	Changed   []LakeChange  `json:"changed" doc:"messages with rows that were read by another definition than the present one"`
	Failed    []LakeFailure `json:"failed" doc:"captures that cannot be read"`
	Problem   string        `json:"problem,omitempty" doc:"why the lake cannot be written; it is tried again"`
}

// Text returns what a list of captures says of the lake.
func (s *LakeState) Text() string {
	of := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	if s.Problem != "" {
		return "The lake cannot be written, and is tried again: " + s.Problem
	}
	parts := []string{of(s.Rows, "message is in the lake", "messages are in the lake")}
	if s.Rewriting {
		parts = append(parts, "all are being written again")
	} else if s.Waiting > 0 {
		parts = append(parts, of(s.Waiting, "capture is being read", "captures are being read"))
	}
	if len(s.Failed) > 0 {
		parts = append(parts, of(len(s.Failed), "capture cannot be read to its end", "captures cannot be read to their ends"))
	}
	return strings.Join(parts, " · ")
}

// LakeChange is a message whose definition has changed.
type LakeChange struct {
	Message string `json:"message"`
	Version int    `json:"version"`
	Rows    int    `json:"rows" doc:"read by another definition"`
	Gone    bool   `json:"gone,omitempty" doc:"there is no such message now"`
}

// LakeFailure is a capture that cannot be read.
type LakeFailure struct {
	Capture string `json:"capture" doc:"id"`
	Reason  string `json:"reason"`
}

// State returns what the lake has of a project; ok is false if it is not followed.
func (f *Feed) State(project string) (s LakeState, ok bool) {
	s, r := f.numbers(project)
	if r == nil {
		return s, false
	}
	if p := r.lake(); p != nil {
		r.count(p, &s)
	}
	slices.SortFunc(s.Changed, func(a, b LakeChange) int {
		return cmp.Or(strings.Compare(a.Message, b.Message), cmp.Compare(a.Version, b.Version))
	})
	return s, true
}

// Numbers is State without what takes longer: changed messages, and frames without a definition.
func (f *Feed) Numbers(project string) (s LakeState, ok bool) {
	s, r := f.numbers(project)
	if r == nil {
		return s, false
	}
	if p := r.lake(); p != nil {
		p.Files(func(_ lake.Day, l *lake.Listed) { s.Rows, s.Files, s.Bytes = s.Rows+l.Rows, s.Files+1, s.Bytes+l.Bytes })
	}
	return s, true
}

// Whole reports whether the lake has all of a capture that it can have.
func (f *Feed) Whole(project string, x store.Capture) bool {
	f.mu.Lock()
	r := f.runs[project]
	f.mu.Unlock()
	if r == nil {
		return false
	}
	r.mu.Lock()
	failed, is := r.failed[x.ID]
	r.mu.Unlock()
	p := r.lake()
	return is && failed.size == x.Size || x.Size == 0 || p != nil && p.Has(x.ID, x.Size)
}

// lake returns the project in the lake; nil until it is open.
func (r *run) lake() *lake.Project {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.project
}

// numbers returns what is not counted.
func (f *Feed) numbers(project string) (s LakeState, r *run) {
	f.mu.Lock()
	r = f.runs[project]
	f.mu.Unlock()
	if r == nil {
		return s, nil
	}
	s = LakeState{Lake: f.Store.String(), Name: f.Name(project), Changed: []LakeChange{}, Failed: []LakeFailure{}}
	r.mu.Lock()
	s.Waiting, s.Rewriting, s.Written, s.Pending = r.waiting, r.rewriting, r.committed, int(r.pending.Load())
	if r.problem != nil {
		s.Problem = r.problem.Error()
	}
	for id, x := range r.failed {
		s.Failed = append(s.Failed, LakeFailure{id, x.err.Error()})
	}
	r.mu.Unlock()
	slices.SortFunc(s.Failed, func(a, b LakeFailure) int { return strings.Compare(a.Capture, b.Capture) })
	return s, r
}
