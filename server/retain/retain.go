// Package retain removes captures that are older than a project or the server keeps them, and the oldest of more bytes than they keep.
//
// What somebody has worked on stays: a capture with a note, a mark, a marker or a comment, one that is set to be kept, one that a page shows, and one
// that is still written. Nothing goes in silence: each removal is in the log, in the audit log, and for a while in a list of the project.
package retain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/server/captures"
	"wirebench/server/projects"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of removing.
const (
	sweepEach  = time.Minute
	mostAtOnce = 100 // captures of a project in a sweep: as many have lines of their own in the audit log
	maxRemoved = 200 // remembered removals of a project
)

// removedFile is in the folder of a project.
const removedFile = "removed.json"

// Why a capture goes, or stays.
const (
	ForAge   = "age"
	ForBytes = "bytes"
)

// Leaving is a capture that goes at a moment, if nothing changes until then.
type Leaving struct {
	ID   string    `json:"id"`
	Name string    `json:"name"`
	Size int64     `json:"size" doc:"bytes"`
	At   time.Time `json:"at" doc:"when it may go at the earliest"`
	Why  string    `json:"why" enum:"age,bytes"`
}

// Staying is a capture that would go but for what somebody has done with it.
type Staying struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Why  string `json:"why" doc:"noted, commented, kept, in use, written, or not in the lake yet"`
}

// Removed is a capture that has gone.
type Removed struct {
	ID   string    `json:"id"`
	Name string    `json:"name"`
	Size int64     `json:"size" doc:"bytes"`
	At   time.Time `json:"at"`
	Why  string    `json:"why" enum:"age,bytes"`
}

// Plan says what goes and what stays.
type Plan struct {
	Age     string    `json:"age,omitempty" doc:"after which captures go; absent: never"`
	Bytes   int64     `json:"bytes,omitempty" doc:"that all captures may take; absent: any number"`
	Leaving []Leaving `json:"leaving" doc:"captures that go now or within the age, the first one first"`
	Staying []Staying `json:"staying" doc:"captures that would have gone already, and why they have not"`
	Removed []Removed `json:"removed" doc:"the last removals, the newest first"`
}

// plan decides what goes, of captures whose reasons to stay are known. It is a pure function.
func plan(all []store.Capture, stays func(store.Capture) string, keep settings.Keep, now time.Time) Plan {
	age, _ := settings.ParseAge(keep.Age)
	p := Plan{Age: keep.Age, Bytes: keep.Bytes, Leaving: []Leaving{}, Staying: []Staying{}, Removed: []Removed{}}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b store.Capture) int { return cmp.Or(last(a).Compare(last(b)), strings.Compare(a.ID, b.ID)) })
	total := int64(0)
	for _, x := range all {
		total += x.Size
	}
	for _, x := range all { // the oldest first
		goes := Leaving{ID: x.ID, Name: x.Name, Size: x.Size}
		switch {
		case age > 0 && now.Sub(last(x)) >= age:
			goes.At, goes.Why = now, ForAge
		case keep.Bytes > 0 && total > keep.Bytes:
			goes.At, goes.Why = now, ForBytes
		case age > 0:
			goes.At, goes.Why = last(x).Add(age), ForAge
		default:
			continue
		}
		why := stays(x)
		if why == "" {
			total -= x.Size
			p.Leaving = append(p.Leaving, goes)
		} else if !goes.At.After(now) {
			p.Staying = append(p.Staying, Staying{x.ID, x.Name, why})
		}
	}
	slices.SortStableFunc(p.Leaving, func(a, b Leaving) int { return a.At.Compare(b.At) })
	return p
}

// last returns when the last byte of a capture was written, or when it was added if its file is older.
func last(x store.Capture) time.Time {
	if x.Written.After(x.Added) {
		return x.Written
	}
	return x.Added
}

// noted reports whether somebody has written something about a capture.
func noted(x store.Capture) bool {
	return x.Notes.Text != "" || len(x.Notes.Noted) > 0 || len(x.Notes.Markers) > 0
}

// Options are the parts of a Set.
type Options struct {
	Projects *projects.Set
	Captures *captures.Set
	Keep     settings.Keep                  // of all projects
	Audit    func(project, what, on string) // may be nil
	Changed  func(ws *workspace.Workspace)  // captures were removed

	Taken func(*workspace.Workspace, store.Capture) bool // the lake has all of a capture; nil if there is no lake
	Log   *slog.Logger
}

// Set removes captures of all projects.
type Set struct {
	Options
	now   func() time.Time
	stop  context.CancelFunc
	wg    supervise.Group
	count [2]atomic.Int64 // removed captures, for age and for bytes
	bytes atomic.Int64

	mu   sync.Mutex                    // held while the removals of a project are read or written
	last map[*workspace.Workspace]Plan // after the last sweep, of open projects
}

// New starts removing, one minute from now and then each minute, until Close.
func New(o Options) *Set {
	ctx, stop := context.WithCancel(context.Background())
	s := &Set{Options: o, now: time.Now, stop: stop, last: map[*workspace.Workspace]Plan{}}
	s.wg.Go("retention", func(error) { stop() }, func() {
		tick := time.NewTicker(sweepEach)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = supervise.Do("retention", func() error { s.Sweep(ctx); return nil })
			}
		}
	})
	return s
}

// Close ends removing, and waits until it has ended.
func (s *Set) Close() {
	s.stop()
	s.wg.Wait()
}

// Counts returns how many captures were removed since the start for their age and for room, and their bytes.
func (s *Set) Counts() (forAge, forBytes, bytes int64) {
	return s.count[0].Load(), s.count[1].Load(), s.bytes.Load()
}

// Of returns what goes and what stays of a project, by its bounds within those of the server, or by others to try them.
func (s *Set) Of(ws *workspace.Workspace, try *settings.Keep) (Plan, error) {
	all, err := ws.Captures.List()
	if err != nil {
		return Plan{}, err
	}
	keep := s.keep(ws)
	if try != nil {
		keep = *try
	}
	p := plan(all, s.stays(ws), keep, s.now())
	p.Removed = slices.DeleteFunc(s.removed(ws), func(r Removed) bool { // noted before it is done, which may have failed
		return slices.ContainsFunc(all, func(x store.Capture) bool { return x.ID == r.ID })
	})
	return p, nil
}

// Last returns the plan of a project after the last sweep, or of now before the first one; ok is false if nothing is to go or has gone there.
func (s *Set) Last(ws *workspace.Workspace) (p Plan, ok bool) {
	s.mu.Lock()
	p, ok = s.last[ws]
	s.mu.Unlock()
	if !ok {
		var err error
		if p, err = s.present(ws); err != nil {
			return p, false
		}
		s.mu.Lock()
		s.last[ws] = p
		s.mu.Unlock()
	}
	return p, p.Age != "" || p.Bytes > 0 || len(p.Removed) > 0
}

// present is Of; a project that keeps all captures is not read.
func (s *Set) present(ws *workspace.Workspace) (Plan, error) {
	if s.keep(ws) == (settings.Keep{}) {
		return Plan{Removed: s.removed(ws)}, nil
	}
	return s.Of(ws, nil)
}

// Text says the plan in a sentence, for the list of captures.
func (p Plan) Text(now time.Time) string {
	var parts []string
	switch {
	case p.Age != "" && p.Bytes > 0:
		parts = append(parts, fmt.Sprintf("captures are removed after %s, and the oldest beyond %s", p.Age, size(p.Bytes)))
	case p.Age != "":
		parts = append(parts, fmt.Sprintf("captures are removed after %s", p.Age))
	case p.Bytes > 0:
		parts = append(parts, fmt.Sprintf("the oldest captures are removed beyond %s", size(p.Bytes)))
	}
	soon := 0
	for _, x := range p.Leaving {
		if x.At.Before(now.Add(24 * time.Hour)) {
			soon++
		}
	}
	if len(parts) > 0 {
		parts = append(parts, "those with a note, a mark, a marker or a comment stay")
	}
	if soon > 0 {
		parts = append(parts, fmt.Sprintf("%d within a day", soon))
	}
	if n := len(p.Removed); n > 0 {
		were := map[bool]string{true: "1 was", false: fmt.Sprint(n, " were")}[n == 1]
		parts = append(parts, fmt.Sprintf("%s removed, the last on %s", were, p.Removed[0].At.Format(time.DateOnly)))
	}
	return strings.Join(parts, "; ")
}

func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

func (s *Set) keep(ws *workspace.Workspace) settings.Keep {
	keep := s.Keep
	if own := ws.UserSettings().Keep; own != nil {
		keep = keep.Within(*own)
	}
	return keep
}

// stays returns why captures of a project stay, "" for one that may go.
func (s *Set) stays(ws *workspace.Workspace) func(store.Capture) string {
	commented := map[string]bool{}
	threads, err := ws.Threads()
	for _, x := range threads {
		if x.Capture != "" {
			commented[x.Capture] = true
		}
	}
	return func(x store.Capture) string {
		switch {
		case s.Captures.Runs(ws.Name, x.ID) || s.Captures.Writes(ws.Name, x.ID):
			return "written"
		case x.Keep:
			return "kept"
		case noted(x):
			return "noted"
		case commented[x.ID]:
			return "commented"
		case err != nil:
			return "commented, perhaps: the comments cannot be read"
		case s.Captures.Shown(ws.Name, x.ID):
			return "in use"
		case s.Taken != nil && !s.Taken(ws, x):
			return "not in the lake yet"
		}
		return ""
	}
}

// Sweep removes what is to go now.
func (s *Set) Sweep(ctx context.Context) {
	open := map[*workspace.Workspace]bool{}
	for _, ws := range s.Projects.All() {
		if ctx.Err() != nil {
			return
		}
		if ws.Captures == nil {
			continue
		}
		p, gone, err := s.sweep(ctx, ws)
		if err != nil {
			s.Log.Error("captures that are to go stay", "project", ws.Name, "error", err)
		}
		open[ws] = true
		s.mu.Lock()
		s.last[ws] = p
		s.mu.Unlock()
		if gone > 0 {
			s.Captures.ForgetBrief(ws.Captures)
			s.Changed(ws)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.last, func(ws *workspace.Workspace, _ Plan) bool { return !open[ws] })
}

var errStays = errors.New("it stays")

func (s *Set) sweep(ctx context.Context, ws *workspace.Workspace) (p Plan, n int, err error) {
	if p, err = s.present(ws); err != nil {
		return p, 0, err
	}
	var gone []Removed
	for _, x := range p.Leaving {
		if now := s.now(); x.At.After(now) || len(gone) == mostAtOnce || ctx.Err() != nil {
			break
		}
		stays := s.stays(ws)
		err := ws.Captures.RemoveIf(x.ID, func(now store.Capture) error { // somebody may have noted something
			if stays(now) != "" || now.Size != x.Size {
				return errStays
			}
			return s.remember(ws, append(gone, Removed{x.ID, x.Name, x.Size, s.now().UTC(), x.Why}))
		})
		if errors.Is(err, errStays) {
			continue
		}
		if err != nil {
			return p, len(gone), err
		}
		gone = append(gone, Removed{x.ID, x.Name, x.Size, s.now().UTC(), x.Why})
		s.Captures.Drop(ws.Name, x.ID)
		s.count[map[string]int{ForAge: 0, ForBytes: 1}[x.Why]].Add(1)
		s.bytes.Add(x.Size)
		s.Log.Info("capture removed", "project", ws.Name, "capture", x.ID, "name", x.Name, "bytes", x.Size, "for", x.Why)
		if s.Audit != nil {
			s.Audit(ws.Name, "remove a capture for its "+x.Why, fmt.Sprintf("%s, %s, %d bytes", x.ID, x.Name, x.Size))
		}
	}
	if len(gone) > 0 {
		p, err = s.Of(ws, nil)
	}
	return p, len(gone), err
}

// removed returns the remembered removals of a project, the newest first.
func (s *Set) removed(ws *workspace.Workspace) []Removed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load(ws)
}

func (s *Set) load(ws *workspace.Workspace) []Removed {
	all := []Removed{}
	if ws.Home != nil {
		_, _ = ws.Home.Load(removedFile, store.JSON(&all)) // a damaged file is kept aside by the store, which says so
	}
	return all
}

// remember stores a removal, the last of some of a sweep, before it is done.
func (s *Set) remember(ws *workspace.Workspace, gone []Removed) error {
	if ws.Home == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := gone[len(gone)-1]
	all := slices.DeleteFunc(s.load(ws), func(r Removed) bool { return r.ID == x.ID })
	all = append([]Removed{x}, all...)
	text, err := json.Marshal(all[:min(len(all), maxRemoved)])
	if err == nil {
		_, err = ws.Home.Write(removedFile, append(text, '\n'), nil)
	}
	return err
}
