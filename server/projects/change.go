package projects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wirebench/defs"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

const maxTitle = 100

// New describes a project to make.
type New struct {
	Name     string                           // "": made of the title
	Title    string                           // "": the name, or that of the folder or project
	Protocol string                           // "": that of the folder or project
	Library  string                           // a folder on the server whose definitions are edited in place; "" for definitions in the data folder
	From     string                           // a project to copy the definitions and settings of
	Captures bool                             // with From: its captures, too
	Fill     func(*workspace.Workspace) error // stores the definitions, before the project can be seen
}

// InvalidError reports a request that cannot be carried out as it is.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// Make makes a project and opens it. The error is a *NameError, an *InvalidError or one of the disk; nothing is left of a project that
// could not be made.
func (s *Set) Make(ctx context.Context, n New) (*workspace.Workspace, error) {
	s.change.Lock()
	defer s.change.Unlock()
	if s.opts.Data == nil {
		return nil, ErrFixed
	}
	if len(s.all) >= MaxProjects {
		return nil, invalid("%d projects; at most %d are allowed, deleted ones included", len(s.all), MaxProjects)
	}
	title, err := checkTitle(cmp.Or(n.Title, n.Name, s.titleFrom(n)))
	if err != nil {
		return nil, err
	}
	p := &project{name: n.Name, Record: Record{Title: title, Protocol: n.Protocol, Created: time.Now().UTC().Truncate(time.Second)}}
	if p.name == "" {
		p.name = s.freeName(title)
	}
	if err := s.checkFree(p.name); err != nil {
		return nil, err
	}
	if err := s.takeName(p.name); err != nil {
		return nil, err
	}
	if free := s.freeInLake(p.name); free != p.name { // the name was that of a project that has another one now
		p.Lake = free
	}
	made, err := os.MkdirTemp(s.opts.Data.Path(), newFolder)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(made)
	switch {
	case n.Library != "" && (n.From != "" || n.Fill != nil), n.From != "" && n.Fill != nil:
		return nil, invalid("a project is made of a folder, of another project, or of files: only one of them")
	case n.Library != "":
		err = s.useFolder(p, n.Library)
	case n.From != "":
		err = s.copyProject(ctx, p, made, n)
	}
	if err != nil {
		return nil, err
	}
	if _, ok := defs.Find(p.Protocol); !ok {
		return nil, invalid("the protocol must be one of %s", dialectNames())
	}
	if n.Library == "" && n.From == "" {
		if err := fill(filepath.Join(made, definitionsFolder), p.Protocol, n.Fill); err != nil {
			return nil, err
		}
	}
	if err := s.place(made, p); err != nil {
		return nil, err
	}
	if err := s.load(p); err != nil {
		return nil, errors.Join(err, s.opts.Data.RemoveAll(p.name))
	}
	s.insert(p)
	s.changed()
	return p.ws, nil
}

// titleFrom returns the title of a project made of a folder or of another project.
func (s *Set) titleFrom(n New) string {
	if n.Library != "" {
		return filepath.Base(n.Library)
	}
	if from := s.Find(n.From); from != nil {
		return from.Title() + " copy"
	}
	return ""
}

// fill makes the folder of definitions. It is synced once, not for each file: a crash leaves nothing of the project.
func fill(dir, protocol string, with func(*workspace.Workspace) error) error {
	d, err := store.Open(dir, store.SyncLater())
	if err != nil || with == nil {
		return err
	}
	w, err := workspace.Open(workspace.Config{Name: "new", Dialect: protocol, Files: d})
	if err != nil {
		return err
	}
	return errors.Join(with(w), d.Sync())
}

func dialectNames() string {
	var names []string
	for _, d := range defs.Dialects {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// takeName ends the use of a name as an earlier one of other projects: it leads to one project only.
func (s *Set) takeName(name string) error {
	for _, p := range s.all {
		if !slices.Contains(p.Formerly, name) {
			continue
		}
		next := p.Record
		next.Formerly = slices.DeleteFunc(slices.Clone(p.Formerly), func(f string) bool { return f == name })
		if err := s.write(p.name, next); err != nil {
			return err
		}
		s.mu.Lock()
		p.Record = next
		s.mu.Unlock()
	}
	return nil
}

// place writes the record of a project into its folder, which has a temporary name, and gives the folder its name.
func (s *Set) place(made string, p *project) error {
	dir, err := store.Open(made)
	if err != nil {
		return err
	}
	text, err := store.MergeJSON(p.Record, nil)
	if err == nil {
		_, err = dir.Write(recordFile, append(text, '\n'), nil)
	}
	if err == nil {
		err = os.Chmod(made, 0o755)
	}
	if err != nil {
		return err
	}
	return s.opts.Data.Place(filepath.Base(made), p.name)
}

func checkTitle(title string) (string, error) {
	title = strings.Join(strings.Fields(title), " ")
	switch {
	case title == "":
		return "", invalid("a project needs a title or a name")
	case !utf8.ValidString(title) || utf8.RuneCountInString(title) > maxTitle:
		return "", invalid("the title has more than %d characters", maxTitle)
	}
	return title, nil
}

// useFolder makes a folder on the server the library of a project.
func (s *Set) useFolder(p *project, folder string) error {
	abs, err := s.allowed(folder)
	if err != nil {
		return err
	}
	for _, other := range s.all {
		if sameFolder(other.Library, abs) {
			return invalid("project %s has the definitions of this folder", other.name)
		}
	}
	if !isDir(abs) {
		return invalid("%s is not a folder", folder)
	}
	lib, err := workspace.Read(abs)
	if err != nil {
		return invalid("the folder cannot be read: %v", err)
	}
	if p.Protocol == "" {
		snap, err := workspace.Build(lib, workspace.Settings{})
		if err != nil {
			return invalid("the protocol of the folder was not recognized: %v", err)
		}
		p.Protocol = snap.Dialect.Name
	}
	p.Library = abs
	return nil
}

// allowed resolves a folder that the operator has allowed. Links do not lead out of the allowed folders.
func (s *Set) allowed(folder string) (string, error) {
	if !filepath.IsAbs(folder) {
		return "", invalid("the path of a folder on the server must be absolute")
	}
	real, err := filepath.EvalSymlinks(folder)
	for _, root := range s.opts.Allowed {
		abs, e := filepath.Abs(root)
		if rel, below := filepath.Rel(abs, folder); e == nil && err != nil && below == nil && filepath.IsLocal(rel) {
			return "", invalid("the folder cannot be opened: %v", err)
		}
		if e == nil {
			abs, e = filepath.EvalSymlinks(abs)
		}
		if e != nil || err != nil {
			continue
		}
		if rel, e := filepath.Rel(abs, real); e == nil && filepath.IsLocal(rel) {
			if !isDir(real) {
				return "", invalid("%s is not a folder", folder)
			}
			return real, nil
		}
	}
	// Whether a folder exists that is not allowed is not disclosed.
	return "", invalid("the folder is not one that the operator has allowed (--library, --allow-library)")
}

// Allowed returns the folders below which the definitions of new projects may be.
func (s *Set) Allowed() []string { return s.opts.Allowed }

// copyProject copies the definitions and settings of a project, and its captures if wanted.
func (s *Set) copyProject(ctx context.Context, p *project, made string, n New) error {
	from := s.Find(n.From)
	if from == nil {
		return &NotFoundError{n.From}
	}
	if p.Protocol == "" {
		p.Protocol = from.Dialect
	}
	if p.Protocol != from.Dialect {
		return invalid("project %s has definitions of protocol %s", from.Name, from.Dialect)
	}
	files, _, err := from.Files.List()
	if err != nil {
		return err
	}
	to, err := store.Open(filepath.Join(made, definitionsFolder), store.SyncLater())
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := to.Write(f.Name, f.Text, nil); err != nil {
			return err
		}
	}
	if err := to.Sync(); err != nil {
		return err
	}
	home, err := store.Open(made)
	if err != nil {
		return err
	}
	if err := workspace.CopySettings(from.Home, home); err != nil {
		return err
	}
	if !n.Captures || from.Captures == nil {
		return nil
	}
	captures, err := store.OpenCaptures(filepath.Join(made, capturesFolder))
	if err != nil {
		return err
	}
	list, err := from.Captures.List()
	if err != nil {
		return err
	}
	for _, x := range list {
		if err := copyCapture(ctx, from.Captures, captures, x); err != nil {
			return err
		}
	}
	return nil
}

func copyCapture(ctx context.Context, from, to *store.Captures, x store.Capture) error {
	file, err := from.Open(x.ID)
	if err != nil {
		return err
	}
	defer file.Close()
	y, err := to.AddFramed(x.Name, x.Framing, x.Added, &interruptible{ctx, file})
	if err != nil {
		return err
	}
	_, err = to.Note(y.ID, func(notes *store.Notes) { *notes = x.Notes })
	return err
}

// interruptible is a reader that ends with a context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Change describes a change of a project; empty parts stay.
type Change struct {
	Name  string
	Title string
	State State
}

// Edit renames a project or changes its state. A project whose name or state changes is closed; inUse, if not nil, may refuse that. The
// error is a *NotFoundError, a *NameError, an *InvalidError, that of inUse, or one of the disk.
func (s *Set) Edit(name string, c Change, inUse func(*workspace.Workspace) error) (Info, error) {
	s.change.Lock()
	defer s.change.Unlock()
	p, err := s.changeable(name)
	if err != nil {
		return Info{}, err
	}
	next := p.Record
	if c.Title != "" {
		if next.Title, err = checkTitle(c.Title); err != nil {
			return Info{}, err
		}
	}
	if !slices.Contains([]State{"", Open, Archived, Deleted}, c.State) {
		return Info{}, invalid("the state must be open, archived or deleted")
	}
	if c.State != "" {
		next.State = c.State
	}
	to := cmp.Or(c.Name, p.name)
	if to != p.name {
		if err := s.checkFree(to); err != nil {
			return Info{}, err
		}
		if err := s.takeName(to); err != nil {
			return Info{}, err
		}
		if s.opts.Lake {
			next.Lake = cmp.Or(p.Lake, p.name)
		}
		next.Formerly = p.Formerly
		next.Formerly = append(slices.DeleteFunc(slices.Clone(next.Formerly), func(f string) bool { return f == to || f == p.name }), p.name)
	}
	closing := p.ws != nil && (to != p.name || next.State != "" && next.State != Open)
	if closing && inUse != nil {
		if err := inUse(p.ws); err != nil {
			return Info{}, err
		}
	}
	if err := s.write(p.name, next); err != nil {
		return Info{}, err
	}
	if closing {
		s.unload(p)
	}
	if to != p.name {
		err = s.opts.Data.Rename(p.name, to)
		if err != nil {
			next, to = p.Record, p.name
			err = errors.Join(err, s.write(p.name, next))
		}
	}
	s.mu.Lock()
	was := p.name
	p.Record, p.name = next, to
	if p.ws != nil {
		p.ws.Retitle(p.Title)
	}
	slices.SortFunc(s.all, func(a, b *project) int { return strings.Compare(a.name, b.name) })
	s.mu.Unlock()
	if p.ws == nil && (p.State == "" || p.State == Open) {
		err = errors.Join(err, s.load(p))
	}
	s.changed()
	if was != to && s.renamed != nil {
		s.renamed(was, to)
	}
	if err != nil {
		return Info{}, err
	}
	return s.Info(to)
}

// Remove removes a deleted project for good. A library elsewhere stays.
func (s *Set) Remove(name string) error {
	s.change.Lock()
	defer s.change.Unlock()
	p, err := s.changeable(name)
	if err != nil {
		return err
	}
	if p.State != Deleted {
		return invalid("project %s is not deleted", name)
	}
	// Hidden first: a crash leaves no half of a project. Another one of this name may still have objects in the place of captures.
	gone := removedFolder + p.name + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if err := s.opts.Data.Rename(p.name, gone); err != nil {
		return err
	}
	s.mu.Lock()
	s.all = slices.DeleteFunc(s.all, func(x *project) bool { return x == p })
	s.mu.Unlock()
	s.changed()
	if s.renamed != nil {
		s.renamed(p.name, "")
	}
	return s.purge(gone)
}

// purgeTime bounds the removal of the captures of a project from the place of captures. The rest is done with the next start.
const purgeTime = 20 * time.Second

// purge removes the folder of a project, after the objects of its captures in the place of captures.
func (s *Set) purge(folder string) error {
	ctx, cancel := context.WithTimeout(s.ctx, purgeTime)
	defer cancel()
	if err := s.opts.Data.KeptIn().Purge(ctx, s.opts.Data.Path(folder, capturesFolder)); err != nil {
		return fmt.Errorf("the project is removed, but not all of its captures are: the rest goes with the next start: %w", err)
	}
	return s.opts.Data.RemoveAll(folder)
}

// changeable returns a project that may be changed.
func (s *Set) changeable(name string) (*project, error) {
	if s.opts.Data == nil {
		return nil, ErrFixed
	}
	s.mu.Lock()
	p := s.named(name)
	s.mu.Unlock()
	if p == nil {
		return nil, &NotFoundError{name}
	}
	return p, nil
}
