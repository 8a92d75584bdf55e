package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/history"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// Files is the file store of a workspace: a folder on disk, in tests also one that fails. Its methods are safe for concurrent use.
type Files interface {
	history.Files
	List() (files []store.File, skipped []string, err error)
	Append(name string, line []byte) error
	Watch(ctx context.Context, changed func()) error
}

// Home is the folder of a workspace, which only this program writes.
type Home interface {
	Files
	history.Home
	Move(from, to string) error
	Names(folder string) ([]string, error)
	Stat(name string) (fs.FileInfo, error)
	Path(name string) string
}

// Config holds the parts of a workspace.
type Config struct {
	Name       string
	FirstTitle string // until Retitle is called
	Dialect    string
	Files      Files           // definitions, code maps and samples
	Home       Home            // settings.json, history and comments; nil keeps settings in memory only
	Captures   *store.Captures // nil if the workspace has no captures
	Options    schema.Options  // overridden by the settings
	Codes      *source.File    // a code map from outside the library; the settings may choose one of the library
	Log        *slog.Logger
}

// Workspace is a library that changes: by Save and similar methods, or by other programs that write to its folder. Its current meaning is a
// Snapshot. It is safe for concurrent use.
type Workspace struct {
	Config
	now   atomic.Pointer[Snapshot]
	title atomic.Pointer[string]

	mu          sync.Mutex // held while files or settings are changed or read
	settings    settings.Settings
	listed      int // number of files in the folder when it was last read, including other files
	listedBytes int

	History  *history.History
	threads  threads
	capsules capsules

	watchers watchers
	variants variants
	renamed  renames
}

// Open reads a workspace.
func Open(c Config) (*Workspace, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	w := &Workspace{Config: c}
	w.Retitle(c.FirstTitle)
	w.History = history.New(history.Config{Project: c.Name, Files: c.Files, Home: c.Home, Log: c.Log, Moved: func(files, messages []history.Renaming) {
		w.renamed.add(messages)
		w.moveThreads(files)
	}})
	w.readSettings()
	w.finishThreads()
	w.History.Finish()
	w.sweepCapsules()
	if err := w.Reload(); err != nil {
		return nil, err
	}
	return w, nil
}

// Empty returns a workspace of a language without files, for definitions that requests bring. Nothing can be stored in it.
func Empty(dialect string) (*Workspace, error) {
	w := &Workspace{Config: Config{Dialect: dialect}}
	w.Retitle("")
	next, err := w.build(&Library{})
	if err != nil {
		return nil, err
	}
	w.publish(next)
	return w, nil
}

// Title returns the display name.
func (w *Workspace) Title() string { return *w.title.Load() }

// Retitle changes the display name.
func (w *Workspace) Retitle(title string) { w.title.Store(&title) }

// Now returns the current snapshot.
func (w *Workspace) Now() *Snapshot { return w.now.Load() }

// Run reloads the library when other programs change the folder, until the context is done.
func (w *Workspace) Run(ctx context.Context) error {
	done := make(chan struct{})
	var writing supervise.Group
	writing.Go("history", nil, func() { w.History.Run(done) })
	writing.Go("check of the stored files", nil, func() { w.checkHome(done) })
	defer writing.Wait()
	defer close(done)
	return w.Files.Watch(ctx, func() {
		if err := supervise.Do("library", w.Reload); err != nil {
			w.Log.Error("reload the library", "project", w.Name, "error", err)
		}
	})
}

// Reload reads the folder again. If it cannot be read, the library stays as it is and says so.
func (w *Workspace) Reload() error {
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.reload(false)
	if err != nil {
		w.outdate(err)
	}
	return err
}

// outdate marks the library as older than its folder. The caller holds the lock.
func (w *Workspace) outdate(why error) {
	old := w.Now()
	if old == nil || old.Library.Outdated == why.Error() {
		return
	}
	lib := *old.Library
	lib.Outdated = why.Error()
	if next, err := w.build(&lib); err == nil {
		w.publish(next)
	}
}

// publish makes a snapshot the current one.
func (w *Workspace) publish(next *Snapshot) {
	next.ID = rand.Text()
	w.now.Store(next)
	w.watchers.tell()
}

// reload implements Reload. The caller holds the lock; force makes a new snapshot even if no file has changed.
func (w *Workspace) reload(force bool) error {
	files, skipped, err := w.Files.List()
	if err != nil {
		return fmt.Errorf("read library %s: %w", w.Name, err)
	}
	w.listed, w.listedBytes = len(files), 0
	for _, f := range files {
		w.listedBytes += len(f.Text)
	}
	old := w.Now()
	known := map[string]*source.File{}
	if old != nil {
		for _, f := range old.Library.All() {
			known[f.Name] = f
		}
	}
	lib, same := &Library{Skipped: skipped, samples: map[string]string{}}, old != nil && !force
	for _, f := range files {
		if strings.HasSuffix(f.Name, samplesEnding) {
			lib.samples[f.Name] = string(f.Text)
			if old == nil || old.Library.samples[f.Name] != lib.samples[f.Name] {
				w.checkSamples(f)
			}
			continue
		}
		was := known[f.Name]
		kept := was != nil && old.Library.dialects[was] == w.Dialect && old.Dialect.IsText != nil && old.Dialect.Rules.Reads(f.Name)
		if was != nil && was.Text == string(f.Text) {
			err = lib.take(was, old.Library.dialects[was], false)
		} else {
			same = false
			err = lib.addEdited(f.Name, f.Text, w.Dialect, kept)
		}
		if err != nil {
			return fmt.Errorf("read library %s: %w", w.Name, err)
		}
	}
	if same && old.Library.Outdated == "" && len(lib.All()) == len(known) && maps.Equal(lib.samples, old.Library.samples) {
		return nil
	}
	w.keepMap(lib)
	next, err := w.build(lib)
	if err != nil {
		return err
	}
	for _, f := range slices.Concat(lib.Files, lib.Envelopes) {
		if was := known[f.Name]; was == nil {
			w.History.Read(f.Name, f.Text, f.Text)
		} else if was != f {
			w.History.Read(f.Name, was.Text, f.Text)
		}
	}
	w.publish(next)
	return nil
}

// Turn undoes a step, or redoes it: see [history.History.Turn].
func (w *Workspace) Turn(id string, undo, rest bool, who ...string) (history.Step, error) {
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.reload(false); err != nil { // what other programs have written is not of these people
		return history.Step{}, err
	}
	step, err := w.History.Turn(id, undo, rest, who)
	return step, errors.Join(err, w.reload(false))
}

// TextOf returns the text that a definition had at a revision of pages, store.RevisionOf with their line ends; ok is false if neither the file
// nor its history has it.
func (w *Workspace) TextOf(file, revision string) (text string, ok bool) {
	is := func(text string) bool { return string(store.RevisionOf([]byte(text))) == revision }
	if f := w.Now().File(file); f != nil && is(source.UnixLines(f.Text)) {
		return source.UnixLines(f.Text), true
	}
	return w.History.Find(file, is)
}

// build makes a snapshot with the settings.
func (w *Workspace) build(lib *Library) (*Snapshot, error) {
	set := w.engine()
	if err := apply(w.settings, &set, lib); err != nil {
		return nil, err
	}
	next, err := rebuild(lib, set, w.Now())
	if err == nil {
		next.chosen = w.settings
	}
	return next, err
}

// engine returns the settings from the start of the program.
func (w *Workspace) engine() Settings {
	return Settings{Dialect: w.Dialect, Options: w.Options, Codes: w.Codes}
}

// OlderError reports a change that would move bytes of a definition that has a newer version: recordings made with it could no longer be
// decoded.
type OlderError struct {
	Message string // NAME.VERSION
	Newest  int
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("%s is an older version, the newest is %d: only names and comments may change, but this moves bytes; make a new version instead", e.Message, e.Newest)
}

// NameError reports a file name that is not valid for definitions of the workspace.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("%q: %s", e.Name, e.Reason) }

// Save writes a definition or a code map. expect is the revision that the caller has seen, nil for any, "" for a new file. The error is a
// *store.ConflictError if the file has another revision, an *OlderError if the text of an older version would move bytes.
func (w *Workspace) Save(name string, text []byte, expect *store.Revision) (store.Revision, error) {
	return w.SaveBy(nil, name, text, expect)
}

// SaveBy is Save by known people: a revision of its own in the history.
func (w *Workspace) SaveBy(who []string, name string, text []byte, expect *store.Revision) (store.Revision, error) {
	return w.saveAs(who, false, name, text, expect)
}

// SavesTyped reports whether a text is to be saved in a file although nobody says so: the project is set to that, and the text has no errors.
func (w *Workspace) SavesTyped(file, text string) bool {
	if !w.UserSettings().SaveTyped {
		return false
	}
	var found diag.List
	if IsEnvelope(file) {
		_, found = w.Now().WithEnvelope(text)
	} else {
		snap, f := w.Now().With(file, text)
		found = snap.DiagnosticsOf(f)
	}
	return !found.HasErrors()
}

// SaveTyped is SaveBy for a text that is saved as people type.
func (w *Workspace) SaveTyped(who []string, name string, text []byte, expect *store.Revision) (store.Revision, error) {
	return w.saveAs(who, true, name, text, expect)
}

func (w *Workspace) saveAs(who []string, typed bool, name string, text []byte, expect *store.Revision) (store.Revision, error) {
	if err := w.checkName(name, text); err != nil {
		return "", err
	}
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.checkOlder(name, text); err != nil {
		return "", err
	}
	old := w.Now().File(name)
	more := len(text)
	if old != nil {
		more -= len(old.Text)
	}
	if err := w.room(more, old == nil); err != nil {
		return "", err
	}
	if expect == nil && old != nil { // another program may have written a text that the library has not seen
		if f, err := w.Files.Read(name); err == nil && string(f.Text) != old.Text {
			if err := w.reload(false); err != nil {
				return "", err
			}
		}
	}
	if old = w.Now().File(name); old != nil && old.Text != string(text) && (expect == nil || *expect == Revision(old)) {
		w.History.Base(name, old.Text)
	}
	rev, err := w.Files.Write(name, text, expect)
	if err != nil && rev == "" {
		return rev, err
	}
	if old != nil {
		w.History.Saved(name, old.Text, string(text), who, typed)
	} else if len(who) > 0 {
		w.History.Begun(name, string(text), who)
	}
	return rev, errors.Join(err, w.reload(false))
}

// Delete removes a file. Its samples stay, in case it is restored. The step restores it; it is nil if that is not possible.
func (w *Workspace) Delete(name string, expect *store.Revision) (*history.Step, error) {
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	was, err := w.Files.Read(name)
	if err == nil && expect != nil && *expect != was.Revision {
		err = &store.ConflictError{Name: name, Have: was.Revision, Text: was.Text}
	}
	if err != nil {
		return nil, err
	}
	step, err := w.History.Do(history.Act{Changes: []history.Change{{Name: name, Before: was.Text}}})
	if err != nil {
		return nil, err
	}
	return step, w.reload(false)
}

// checkName refuses files that would be stored but not read.
func (w *Workspace) checkName(name string, text []byte) error {
	if err := store.CheckName(name); err != nil {
		return err
	}
	if len(text) > maxFileBytes {
		return &NameError{name, fmt.Sprintf("%d bytes; definitions have at most %d", len(text), maxFileBytes)}
	}
	if defs.IsCodeMap(name) || defs.IsValidity(name) || IsEnvelope(name) {
		return nil
	}
	if strings.EqualFold(path.Ext(name), ".map") {
		return &NameError{name, "not the name of a code map, such as protocol.1.map"}
	}
	if !mayBeDefinition(name) {
		return &NameError{name, "definitions end in " + w.extension()}
	}
	switch d, ok := defs.Detect(source.New(name, string(text))); {
	case ok && d != w.Dialect:
		return &NameError{name, fmt.Sprintf("this is a definition of protocol %s; the project is for %s", d, w.Dialect)}
	case !ok && !defs.IsDefinition(name) && !(w.Now().Dialect.IsText != nil && w.Now().File(name) != nil):
		return &NameError{name, "not a definition; definitions end in " + w.extension()}
	case !ok && w.extension() != ".def" && !w.Now().Dialect.Rules.Reads(name):
		return &NameError{name, "definitions of protocol " + w.Dialect + " end in " + w.extension()}
	}
	return nil
}

// CheckNew returns why a definition whose text is still being written cannot have a file name. An existing file is no reason, and the text is
// judged when it is saved.
func (w *Workspace) CheckNew(name string) error {
	if strings.EqualFold(path.Ext(name), w.extension()) {
		return store.CheckName(name)
	}
	return w.checkName(name, nil)
}

// LikeOthers returns the text of a new file with the line ends of the library, if all its definitions have the same.
func (w *Workspace) LikeOthers(text string) string {
	some := false
	for _, f := range w.Now().Library.Files {
		crlf := strings.Count(f.Text, "\r\n")
		if crlf != strings.Count(f.Text, "\n") {
			return text
		}
		some = some || crlf > 0
	}
	if some {
		return strings.ReplaceAll(source.UnixLines(text), "\n", "\r\n")
	}
	return text
}

// extension returns the extension of definitions.
func (w *Workspace) extension() string { return w.Now().Dialect.Ext }

// checkOlder refuses a change that moves bytes of a definition that has a newer version.
func (w *Workspace) checkOlder(name string, text []byte) error {
	snap := w.Now()
	f := snap.File(name)
	if f == nil || f.Text == string(text) {
		return nil
	}
	for _, m := range snap.MessagesOf(f) {
		if newest := snap.Newest(m); newest != m.Version && !snap.sameLayout(m, string(text)) {
			return &OlderError{snap.NameOf(m), newest}
		}
	}
	return nil
}

// KeepsLayout reports whether another text for the file of a message changes neither positions nor types of its fields.
func (s *Snapshot) KeepsLayout(m *schema.Message, text string) bool {
	return text == m.Span.File.Text || s.sameLayout(m, text)
}

func (s *Snapshot) sameLayout(m *schema.Message, text string) bool {
	next, _ := s.With(m.Span.File.Name, text)
	return s.keepsLayout(m, next)
}

// keepsLayout reports whether a message has the same bytes and types in another snapshot.
func (s *Snapshot) keepsLayout(m *schema.Message, next *Snapshot) bool {
	was, err := s.Program(m)
	if err != nil {
		return false
	}
	for _, n := range next.set.Named(m.Name) {
		if n.Version == m.Version && n.Span.File.Name == m.Span.File.Name {
			is, err := next.Program(n)
			return err == nil && (m.Broken || !n.Broken) && codec.SameLayout(was, is)
		}
	}
	return false
}

// Newest returns the highest version of a message with its name and group.
func (s *Snapshot) Newest(m *schema.Message) int {
	newest := m.Version
	for _, o := range s.set.Named(m.Name) {
		if o.Key.Group == m.Key.Group {
			newest = max(newest, o.Version)
		}
	}
	return newest
}

// File returns the file with a name, a definition or a map; nil if there is none.
func (s *Snapshot) File(name string) *source.File {
	if f := s.set.FileNamed(name); f != nil {
		return f
	}
	return s.others[name]
}

// Revision returns the revision of a file in the store.
func Revision(f *source.File) store.Revision { return store.RevisionOf([]byte(f.Text)) }

// watchers holds the channels of Changed.
type watchers struct {
	mu  sync.Mutex
	all map[chan struct{}]struct{}
}

// Changed returns a channel that receives a value after the library or the settings have changed; several changes may be reported as one.
// stop ends the subscription.
func (w *Workspace) Changed() (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	w.watchers.mu.Lock()
	defer w.watchers.mu.Unlock()
	if w.watchers.all == nil {
		w.watchers.all = map[chan struct{}]struct{}{}
	}
	w.watchers.all[c] = struct{}{}
	return c, func() {
		w.watchers.mu.Lock()
		defer w.watchers.mu.Unlock()
		delete(w.watchers.all, c)
	}
}

func (w *watchers) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- struct{}{}:
		default: // a notification is pending already
		}
	}
}

// notThere reports whether an error means that a file does not exist.
func notThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }
