package projects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// MaxProjects bounds the projects of a server, deleted ones included.
const MaxProjects = 200

// State is the state of a project.
type State string

// States. Only open projects are loaded and served; the others keep their files.
const (
	Open     State = "open"
	Archived State = "archived"
	Deleted  State = "deleted" // until it is restored, or removed for good
)

// Info describes a project.
type Info struct {
	Name        string    `json:"name" doc:"part of its addresses"`
	Title       string    `json:"title" doc:"display name"`
	Protocol    string    `json:"protocol" doc:"language of the definitions"`
	State       State     `json:"state" enum:"open,archived,deleted"`
	Samples     bool      `json:"samples,omitempty" doc:"made of the samples that ship with the program"`
	Library     string    `json:"library,omitempty" doc:"folder of the definitions on the server, where it is not in the data folder"`
	Formerly    []string  `json:"formerly,omitempty" doc:"earlier names; their addresses still lead here"`
	Created     time.Time `json:"created,omitzero"`
	Definitions int       `json:"definitions" doc:"number of files of an open project"`
	Messages    int       `json:"messages" doc:"number of messages of an open project, counting each version"`
	Captures    int       `json:"captures" doc:"number of captures of an open project"`
	Trouble     string    `json:"trouble,omitempty" doc:"why an open project could not be loaded"`
}

// Options configures a set of projects.
type Options struct {
	Data    *store.Data
	Log     *slog.Logger
	Options schema.Options // defaults of all projects; their settings override them
	Allowed []string       // folders below which the definitions of new projects may be
	Lake    bool           // the rows of captures are written to a lake, under names that renaming does not change
}

// Set is the set of projects. It is safe for concurrent use.
type Set struct {
	opts Options
	ctx  context.Context // done when the set is closed
	stop context.CancelFunc
	wg   sync.WaitGroup

	health health

	change  sync.Mutex // held while a project is made, renamed or changes its state
	mu      sync.Mutex
	all     []*project // sorted by name
	first   string     // the name of the project that / opens
	hooks   []func(context.Context, *workspace.Workspace)
	changed func() // called after a change
	renamed func(was, is string)
}

// Healthy returns an error if the data folder cannot be written.
func (s *Set) Healthy() error {
	if s.opts.Data == nil {
		return nil
	}
	return s.health.check(s.opts.Data.Writable)
}

// Space returns the room on the disk of the data folder, and its size; an error without a data folder, and where they are unknown.
func (s *Set) Space() (free, size int64, err error) {
	if s.opts.Data == nil {
		return 0, 0, errors.ErrUnsupported
	}
	return store.Space(s.opts.Data.Path())
}

// Renamed sets a function that is called after a project has got another name, or "" when it was removed for good.
func (s *Set) Renamed(f func(was, is string)) {
	s.change.Lock()
	defer s.change.Unlock()
	s.renamed = f
}

// project is a project with its state. Its fields change with both locks of the set held.
type project struct {
	Record
	name    string
	codes   *source.File         // a code map from outside the library
	ws      *workspace.Workspace // nil unless open
	trouble error                // why an open project is not loaded
	stop    context.CancelFunc
	running *supervise.Group // the hooks
	closed  chan struct{}    // closed when the workspace is
}

// ErrFixed reports that a set has no data folder, so that its projects cannot change.
var ErrFixed = errors.New("the server has no data folder: its projects cannot change")

// NotFoundError reports a project that does not exist. It names no others: whoever asks may not see them.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string { return "project " + e.Name + " not found" }

// Fixed returns a set of opened workspaces that cannot change, for tests and for servers without a data folder. Their names must differ.
func Fixed(list ...*workspace.Workspace) (*Set, error) {
	s := newSet(Options{})
	for _, w := range list {
		switch {
		case w == nil || w.Name == "":
			return nil, errors.New("a project without a name")
		case reserved[w.Name]:
			return nil, fmt.Errorf("no project can have the name %q", w.Name)
		case s.named(w.Name) != nil:
			return nil, fmt.Errorf("two projects have the name %q", w.Name)
		}
		s.all = append(s.all, &project{Record: Record{Title: w.Title(), Protocol: w.Dialect}, name: w.Name, ws: w, stop: func() {}, running: &supervise.Group{}, closed: make(chan struct{})})
	}
	if len(list) == 0 {
		return nil, errors.New("no projects")
	}
	s.first = list[0].Name // and the order stays that of the list
	return s, nil
}

func newSet(o Options) *Set {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Set{opts: o, changed: func() {}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends the watching of the folders, and waits for the functions of Each.
func (s *Set) Close() {
	s.stop()
	s.wg.Wait()
}

// Each calls run in a goroutine for every open project, now and when one is opened later. The context is done when the project is closed.
// changed is called after the list of projects has changed. Each must be called at most once.
func (s *Set) Each(run func(context.Context, *workspace.Workspace), changed func()) {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, run)
	s.changed = changed
	for _, p := range s.all {
		if p.ws != nil {
			s.run(p, run)
		}
	}
}

// run starts a function for an open project.
func (s *Set) run(p *project, run func(context.Context, *workspace.Workspace)) {
	ctx, stop := context.WithCancel(s.ctx)
	before, ws := p.stop, p.ws
	p.stop = func() { before(); stop() }
	s.wg.Add(1)
	p.running.Go("project", nil, func() {
		defer s.wg.Done()
		run(ctx, ws)
	})
}

// load opens the workspace of a project. One that cannot be read stays in the list, with the reason. The caller holds the lock of changes.
func (s *Set) load(p *project) error {
	w, err := s.open(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.ws, p.trouble = w, err
	if err != nil {
		return err
	}
	p.stop, p.running, p.closed = func() {}, &supervise.Group{}, make(chan struct{})
	s.run(p, func(ctx context.Context, w *workspace.Workspace) {
		if err := w.Run(ctx); err != nil && ctx.Err() == nil {
			s.opts.Log.Error("changes on disk are no longer followed", "project", w.Name, "error", err)
		}
	})
	for _, run := range s.hooks {
		s.run(p, run)
	}
	return nil
}

// unload closes a project: it is not found any more, and what runs for it has ended. The caller holds the lock of changes.
func (s *Set) unload(p *project) {
	s.mu.Lock()
	open := p.ws != nil
	p.ws, p.trouble = nil, nil
	s.mu.Unlock()
	if open {
		close(p.closed)
		p.stop()
		p.running.Wait()
	}
}

// Closed returns a channel that is closed when the project of a workspace is: what its pages send must not be stored any more.
func (s *Set) Closed(w *workspace.Workspace) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		if p.ws == w {
			return p.closed
		}
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

func (s *Set) named(name string) *project {
	for _, p := range s.all {
		if p.name == name {
			return p
		}
	}
	return nil
}

// Find returns an open project by its name, or else by an earlier one; nil if there is none.
func (s *Set) Find(name string) *workspace.Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.named(name); p != nil && p.ws != nil {
		return p.ws
	}
	for _, p := range s.all {
		if p.ws != nil && slices.Contains(p.Formerly, name) {
			return p.ws
		}
	}
	return nil
}

// Get returns an open project by name. The error is a *NotFoundError.
func (s *Set) Get(name string) (*workspace.Workspace, error) {
	if w := s.Find(name); w != nil {
		return w, nil
	}
	return nil, &NotFoundError{name}
}

// All returns the open projects: those of users by name, then those of samples in the order of the protocols.
func (s *Set) All() []*workspace.Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*workspace.Workspace
	for _, p := range s.sorted() {
		if p.ws != nil {
			list = append(list, p.ws)
		}
	}
	return list
}

// Seen is the part of a set that somebody may see. What is listed for people is listed by it.
type Seen struct {
	set  *Set
	sees func(name string) bool
}

// Seen returns the part of the set whose names sees accepts.
func (s *Set) Seen(sees func(name string) bool) Seen { return Seen{s, sees} }

// All is like [Set.All].
func (s Seen) All() []*workspace.Workspace {
	return slices.DeleteFunc(s.set.All(), func(w *workspace.Workspace) bool { return !s.sees(w.Name) })
}

// List is like [Set.List].
func (s Seen) List() []Info {
	return slices.DeleteFunc(s.set.List(), func(p Info) bool { return !s.sees(p.Name) })
}

// First returns the project that the address / opens for somebody; nil if there is none.
func (s Seen) First() *workspace.Workspace {
	if first := s.set.First(); first != nil && s.sees(first.Name) {
		return first
	}
	if all := s.All(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// First returns the project that the address / opens: that of --library, else the first of a user, else the samples; nil if none is open.
func (s *Set) First() *workspace.Workspace {
	s.mu.Lock()
	first := s.named(s.first)
	s.mu.Unlock()
	if first != nil && first.ws != nil {
		return first.ws
	}
	if all := s.All(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// List describes all projects, in the order of All; archived and deleted ones follow.
func (s *Set) List() []Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Info, 0, len(s.all))
	for _, p := range s.sorted() {
		list = append(list, p.info())
	}
	return list
}

// sorted returns the projects of users by name, then those of samples in the order of the protocols, then archived and deleted ones. The
// caller holds the lock.
func (s *Set) sorted() []*project {
	list := slices.Clone(s.all)
	slices.SortStableFunc(list, func(a, b *project) int { return cmp.Compare(a.rank(), b.rank()) })
	return list
}

func (p *project) rank() int {
	most := len(defs.Dialects)
	switch {
	case p.State == Deleted:
		return most + 2
	case p.State == Archived:
		return most + 1
	case p.Samples:
		return 1 + slices.IndexFunc(defs.Dialects, func(d defs.Dialect) bool { return d.Name == p.Protocol })
	}
	return 0
}

// Earlier returns the earlier names of an open project that lead to it.
func (s *Set) Earlier(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.named(name)
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Formerly), func(earlier string) bool { return s.named(earlier) != nil })
}

// InLake returns the name of a project in the lake.
func (s *Set) InLake(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.named(name); p != nil {
		return cmp.Or(p.Lake, name)
	}
	return name
}

// freeInLake returns a name that no project has in the lake: one, or one with a number.
func (s *Set) freeInLake(name string) string {
	for k := 1; ; k++ {
		free := name
		if k > 1 {
			free = fmt.Sprintf("%s-%d", name, k)
		}
		if !slices.ContainsFunc(s.all, func(p *project) bool { return cmp.Or(p.Lake, p.name) == free }) {
			return free
		}
	}
}

// Samples reports whether a project is made of the samples that ship with the program.
func (s *Set) Samples(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.named(name)
	return p != nil && p.Samples
}

// Info describes a project, in any state. The error is a *NotFoundError.
func (s *Set) Info(name string) (Info, error) {
	s.mu.Lock()
	p := s.named(name)
	if p == nil {
		s.mu.Unlock()
		return Info{}, &NotFoundError{name}
	}
	defer s.mu.Unlock()
	return p.info(), nil
}

func (p *project) info() Info {
	i := Info{
		Name: p.name, Title: p.Title, Protocol: p.Protocol, State: cmp.Or(p.State, Open), Samples: p.Samples, Library: p.Library,
		Formerly: slices.Clone(p.Formerly), Created: p.Created,
	}
	if p.trouble != nil {
		i.Trouble = p.trouble.Error()
	}
	if p.ws == nil {
		return i
	}
	snap := p.ws.Now()
	i.Definitions, i.Messages = len(snap.Library.Only(snap.Dialect.Name)), snap.Count()
	if p.ws.Captures != nil {
		if list, err := p.ws.Captures.List(); err == nil {
			i.Captures = len(list)
		}
	}
	return i
}

// open opens the workspace of a project.
func (s *Set) open(p *project) (*workspace.Workspace, error) {
	d, ok := defs.Find(p.Protocol)
	if !ok {
		return nil, fmt.Errorf("unknown protocol %q", p.Protocol)
	}
	data := s.opts.Data
	c := workspace.Config{Name: p.name, FirstTitle: cmp.Or(p.Title, d.Title), Dialect: d.Name, Options: s.opts.Options, Codes: p.codes, Log: s.opts.Log}
	home, err := data.Dir(p.name)
	if err != nil {
		return nil, err
	}
	c.Home = home
	if c.Captures, err = data.Captures(p.name, capturesFolder); err != nil {
		return nil, err
	}
	if p.Library != "" { // other programs may write there, too
		var library, samples *store.Dir
		if samples, err = data.Dir(p.name, samplesFolder); err == nil {
			library, err = store.Open(p.Library, store.WithLog(s.opts.Log))
		}
		c.Files = &owned{Dir: library, samples: samples}
	} else {
		c.Files, err = data.Dir(p.name, definitionsFolder)
	}
	if err != nil {
		return nil, err
	}
	return workspace.Open(c)
}
