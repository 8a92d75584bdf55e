package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/history"
	"wirebench/server/store"
)

// NewFile is a file to store: a definition, a code map or samples.
type NewFile struct {
	Name string
	Text []byte
}

// Outcome is the result of storing a NewFile.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "new"
	Replaced  Outcome = "replaced"
	Unchanged Outcome = "unchanged" // the stored text is the same
	Exists    Outcome = "exists"    // another text is stored, and was kept
	Refused   Outcome = "refused"
)

// SaveResult describes the result of storing a NewFile.
type SaveResult struct {
	Name    string // name in the library; the folder may differ from the one given, see SaveAll
	Outcome Outcome
	Stored  []byte // for Exists: the stored text
	Err     error  // for Refused; with Created and Replaced: the text may be lost if the power fails now
}

// ErrNoRoom reports that a library has reached its maximum size.
var ErrNoRoom = errors.New("the library is full")

// ErrTime reports that a file was not stored because the time limit was reached.
var ErrTime = errors.New("not stored: out of time")

// SaveAll stores many files, and reads the library once. A file that fails does not keep others from being stored, unless the disk is full;
// nothing is rolled back. A file whose text differs from the stored one is stored only with replace. The results are in the order of the
// files. The step undoes all of it; it is nil if nothing was stored, or too much. The error reports that the library could not be read.
//
// The library may have a file of the same name in another folder. That file is replaced if it is the only one, and either the new file is
// in no folder or its name determines the message that it defines: of two such files only one would be used.
func (w *Workspace) SaveAll(ctx context.Context, files []NewFile, replace bool, who ...string) (_ []SaveResult, step *history.Step, err error) {
	defer w.History.Write()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.reload(false); err != nil {
		return nil, nil, err
	}
	b := &batch{w: w, snap: w.Now(), files: files, replace: replace, results: make([]SaveResult, len(files))}
	b.index()
	b.plan()
	b.keepOlder()
	step = w.History.DoParts(history.Act{Who: who, Changes: b.changes()}, func() []history.Change {
		b.write(ctx)
		return b.done
	})
	return b.results, step, w.reload(false)
}

// batch is the work of one SaveAll.
type batch struct {
	w       *Workspace
	snap    *Snapshot
	files   []NewFile
	replace bool
	results []SaveResult
	planned []int            // indexes of files to write
	done    []history.Change // by write

	known  map[string]string   // texts of the library by name
	byBase map[string][]string // names in the library by their last element
	naming map[string]bool     // files whose name determines the message that they define
}

// index fills the maps.
func (b *batch) index() {
	b.known, b.byBase, b.naming = map[string]string{}, map[string][]string{}, map[string]bool{}
	for _, f := range b.snap.Library.All() {
		b.known[f.Name] = f.Text
		b.byBase[path.Base(f.Name)] = append(b.byBase[path.Base(f.Name)], f.Name)
	}
	for name, text := range b.snap.Library.samples {
		b.known[name] = text
	}
	for _, m := range b.snap.Schema().Messages {
		name := m.Span.File.Name
		if strings.HasPrefix(path.Base(name), fmt.Sprintf("%s.%d.", m.Name, m.Version)) {
			b.naming[name] = true
		}
	}
}

// place returns the name under which a file is stored. Samples are stored beside their definition.
func (b *batch) place(name string) string {
	if _, ok := b.known[name]; ok {
		return name
	}
	if stem, ok := strings.CutSuffix(name, samplesEnding); ok {
		return path.Join(path.Dir(b.place(stem+b.snap.Dialect.Ext)), path.Base(name))
	}
	if same := b.byBase[path.Base(name)]; len(same) == 1 && (path.Base(name) == name || b.naming[same[0]]) {
		return same[0]
	}
	return name
}

// plan decides which files to write.
func (b *batch) plan() {
	taken := map[string]int{}
	for i, f := range b.files {
		r := &b.results[i]
		r.Name = f.Name
		if err := store.CheckName(f.Name); err != nil {
			r.Outcome, r.Err = Refused, err
			continue
		}
		r.Name = b.place(f.Name)
		if first, ok := taken[r.Name]; ok {
			if r.Outcome = Unchanged; !bytes.Equal(b.files[first].Text, f.Text) {
				r.Outcome, r.Err = Refused, &NameError{f.Name, "duplicate file; only the first is stored"}
			}
			continue
		}
		taken[r.Name] = i
		stored, there := b.known[r.Name]
		if there && stored == string(f.Text) {
			r.Outcome = Unchanged
			continue
		}
		if err := b.w.checkFile(r.Name, f.Text); err != nil {
			r.Outcome, r.Err = Refused, err
			continue
		}
		if there && !b.replace {
			r.Outcome, r.Stored = Exists, []byte(stored)
			continue
		}
		b.planned = append(b.planned, i)
	}
}

// checkFile is like checkName, but accepts samples as well.
func (w *Workspace) checkFile(name string, text []byte) error {
	if !strings.HasSuffix(name, samplesEnding) {
		return w.checkName(name, text)
	}
	if len(bytes.TrimSpace(text)) > 0 && len(parseSamples(string(text))) == 0 {
		return &NameError{name, "no line is a sample"}
	}
	return nil
}

// keepOlder refuses files that would move bytes of an older version, as checkOlder does. It checks all files together, with one build of
// the library.
func (b *batch) keepOlder() {
	written := map[string]int{}
	for _, i := range b.planned {
		written[b.results[i].Name] = i
	}
	var older []*schema.Message
	for _, m := range b.snap.Schema().Messages {
		if _, ok := written[m.Span.File.Name]; ok && b.snap.Newest(m) != m.Version {
			older = append(older, m)
		}
	}
	if len(older) == 0 {
		return
	}
	next := b.next(written)
	for _, m := range older {
		i := written[m.Span.File.Name]
		if r := &b.results[i]; r.Outcome == "" && !b.snap.keepsLayout(m, next) {
			r.Outcome, r.Err = Refused, &OlderError{b.snap.NameOf(m), b.snap.Newest(m)}
		}
	}
	kept := b.planned[:0]
	for _, i := range b.planned {
		if b.results[i].Outcome == "" {
			kept = append(kept, i)
		}
	}
	b.planned = kept
}

// next returns the library with the files replaced.
func (b *batch) next(written map[string]int) *Snapshot {
	var gone, come []*source.File
	for name, i := range written {
		if f := b.snap.set.FileNamed(name); f != nil {
			gone, come = append(gone, f), append(come, source.New(name, string(b.files[i].Text)))
		}
	}
	return b.snap.derive("", gone, come)
}

// write writes the planned files.
func (b *batch) write(ctx context.Context) {
	var stop error // reason to stop writing
	for _, i := range b.planned {
		r, text := &b.results[i], b.files[i].Text
		if stop == nil && ctx.Err() != nil {
			stop = ErrTime
		}
		if stop != nil {
			r.Outcome, r.Err = Refused, stop
			continue
		}
		stored, there := b.known[r.Name]
		if r.Err = b.w.room(len(text)-len(stored), !there); r.Err != nil {
			r.Outcome = Refused
			continue
		}
		b.writeOne(r, text)
		if errors.Is(r.Err, store.ErrFull) || errors.Is(r.Err, store.ErrGone) {
			stop = r.Err
		}
		if r.Outcome == Created || r.Outcome == Replaced {
			b.w.grow(len(text)-len(stored), !there)
		}
	}
}

// changes returns what writing the planned files will do.
func (b *batch) changes() []history.Change {
	out := make([]history.Change, len(b.planned))
	for k, i := range b.planned {
		out[k] = history.Change{Name: b.results[i].Name, Before: b.stored(b.results[i].Name), After: []byte(string(b.files[i].Text))} // not nil
	}
	return out
}

// stored returns the text of a file of the library, nil if there is none.
func (b *batch) stored(name string) []byte {
	if text, there := b.known[name]; there {
		return []byte(text)
	}
	return nil
}

// writeOne writes a file. Another program may have changed it since the library was read, so the outcome is decided again.
func (b *batch) writeOne(r *SaveResult, text []byte) {
	was := b.stored(r.Name)
	expect := history.RevisionOf(was)
	for range 3 {
		rev, err := b.w.Files.Write(r.Name, text, &expect)
		if rev != "" {
			if r.Outcome, r.Err = Replaced, err; expect == "" {
				r.Outcome = Created
			}
			b.done = append(b.done, history.Change{Name: r.Name, Before: was, After: []byte(string(text))})
			return
		}
		r.Outcome, r.Err = Refused, err
		var moved *store.ConflictError
		switch {
		case !errors.As(err, &moved):
			return
		case moved.Have != "" && bytes.Equal(moved.Text, text):
			r.Outcome, r.Err = Unchanged, nil
			return
		case moved.Have != "" && !b.replace:
			r.Outcome, r.Stored, r.Err = Exists, moved.Text, nil
			return
		}
		expect, was = moved.Have, moved.Text
	}
}

// room checks that the folder stays within the bounds of reading. The caller holds the lock.
func (w *Workspace) room(more int, isNew bool) error {
	if isNew && w.listed >= store.MaxFiles || more > 0 && w.listedBytes+more > store.MaxAllBytes {
		return fmt.Errorf("%w: %d files, %d MB", ErrNoRoom, store.MaxFiles, store.MaxAllBytes>>20)
	}
	return nil
}

// grow updates the size of the folder until it is read again.
func (w *Workspace) grow(more int, isNew bool) {
	w.listedBytes += more
	if isNew {
		w.listed++
	}
}
