package workspace

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"wirebench/server/store"
)

// Bounds of the journal. A step beyond them is done all the same, but cannot be undone.
const (
	maxSteps      = 20       // older ones are dropped
	maxStepBytes  = 64 << 20 // of the texts of a step
	maxStepsBytes = 32 << 20 // of the files of all steps
	maxStepNames  = 20       // names in the description of a step
)

// The journal is in the folder of the project, which is never the folder of another program: a list of the steps, and a file for each with
// the texts before and after it.
const (
	journalFile   = "changes.json"
	journalFolder = "changes"
	stepEnding    = ".tar.gz"
)

// Step is a change of the library that can be undone as a whole.
type Step struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	About  string    `json:"about" doc:"what was done: 3 files replaced, 1 new"`
	Files  int       `json:"files" doc:"number of files"`
	Names  []string  `json:"names" doc:"names of the first files"`
	Undone bool      `json:"undone,omitempty" doc:"it was undone, and can be redone"`
	Size   int       `json:"size" doc:"bytes that it takes in the journal"`

	Renamed []Renaming `json:"renamed,omitempty" doc:"new names of messages"`
}

// kept is a step as the journal has it.
type kept struct {
	Step
	Doing *doing `json:"doing,omitempty"`
}

// doing is the mark of a step whose files are being changed: if the program ends meanwhile, the next start completes it.
type doing struct {
	Undo  bool       `json:"undo,omitempty"`
	Who   []string   `json:"who,omitempty"`
	Files []Renaming `json:"files,omitempty"` // new names, which histories and comments follow
}

// change is what a step does to a file: its texts before and after, nil if there is no file.
type change struct {
	name          string
	before, after []byte
}

// textOf returns the text of a file that is there, which is not nil even if it is empty.
func textOf(text string) []byte { return append([]byte{}, text...) }

// StepError reports why a step cannot be undone or redone. Nothing was changed.
type StepError struct {
	Reason  string
	Gone    bool     // there is no such step
	Changed []string // files with other texts; the others can be undone
	Files   int      // of the step
}

func (e *StepError) Error() string { return e.Reason }

func goneStep() error {
	return &StepError{Reason: "this change is no longer in the journal: it keeps the last ones only", Gone: true}
}

// Steps returns the steps of the journal, newest first.
func (w *Workspace) Steps() []Step {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []Step{}
	for _, s := range w.steps() {
		out = append(out, s.Step)
	}
	return out
}

// steps reads the journal. A step whose end could not be written is not taken for one that is being done.
func (w *Workspace) steps() []kept {
	out, _ := w.readSteps()
	for i := range out {
		if !w.doing[out[i].ID] {
			out[i].Doing = nil
		}
	}
	return out
}

func (w *Workspace) readSteps() (out []kept, err error) {
	if w.Home == nil {
		return nil, nil
	}
	_, err = w.Home.Load(journalFile, store.JSON(&out)) // which says what is wrong
	if err != nil {
		if notThere(err) {
			err = nil
		}
		return nil, err
	}
	return slices.DeleteFunc(out, func(s kept) bool { return !isStepID(s.ID) }), nil
}

// isStepID reports whether an id may be part of a file name.
func isStepID(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func stepFile(id string) string { return journalFolder + "/" + id + stepEnding }

// record stores a step before its files are written, so that the next start completes one that a crash interrupts. It returns nil if the
// step cannot be kept. The caller holds the lock, and calls settle without it when all is written.
func (w *Workspace) record(about string, renamed []Renaming, d doing, changes []change) *Step {
	if w.Home == nil || len(changes) == 0 {
		return nil
	}
	size := 0
	s := &kept{Doing: &d}
	s.Step = Step{ID: rand.Text(), At: time.Now().UTC().Truncate(time.Second), Renamed: renamed}
	for _, c := range changes {
		size += len(c.before) + len(c.after)
	}
	err := error(errTooLargeStep)
	if size <= maxStepBytes {
		var packed []byte
		if packed, err = pack(changes); err == nil {
			s.describe(changes, len(packed))
			s.About = about
			_, err = w.Home.Write(stepFile(s.ID), packed, nil)
		}
	}
	if err == nil {
		w.begin(s.ID)
		if err = w.keepSteps(slices.Insert(w.steps(), 0, *s)); err != nil {
			_ = w.Home.Remove(stepFile(s.ID), nil)
		}
	}
	if err != nil {
		w.Log.Error("a change cannot be undone: it is not in the journal", "project", w.Name, "change", about, "error", err)
		return nil
	}
	return &s.Step
}

// begin says that a step is being done. The caller holds the lock.
func (w *Workspace) begin(id string) {
	if w.doing == nil {
		w.doing = map[string]bool{}
	}
	w.doing[id] = true
}

// settle says that all of a step is written, the history, too.
func (w *Workspace) settle(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.steps()
	i := slices.IndexFunc(list, func(s kept) bool { return s.ID == id && s.Doing != nil })
	delete(w.doing, id)
	if i < 0 {
		return
	}
	list[i].Doing = nil
	if err := w.keepSteps(list); err != nil {
		w.Log.Error("the end of a change is not in the journal", "project", w.Name, "change", list[i].About, "error", err)
	}
}

// settled is settle for a step that may be nil.
func (w *Workspace) settled(s **Step) {
	if *s != nil {
		w.settle((*s).ID)
	}
}

// finish completes the steps that the program was doing when it ended, and removes the files of steps that are not in the journal. It is
// called before the library is read.
func (w *Workspace) finish() {
	list, err := w.readSteps()
	if err != nil || w.Home == nil {
		return // nothing is known
	}
	changed := false
	for i := len(list) - 1; i >= 0; i-- {
		s := &list[i]
		if s.Doing == nil {
			continue
		}
		left, err := w.finishStep(s.ID, *s.Doing)
		if err != nil {
			w.Log.Error("a change that was interrupted is not complete", "project", w.Name, "change", s.About, "error", err)
			w.begin(s.ID) // the next start tries again
			continue
		}
		s.Undone, s.Doing, changed = s.Doing.Undo, nil, true
		if !strings.HasSuffix(s.About, completed) {
			s.About += completed
		}
		w.Log.Info("a change that was interrupted is complete now", "project", w.Name, "change", s.About, "left as other programs wrote them", left)
	}
	if changed {
		if err := w.keepSteps(list); err != nil {
			w.Log.Error("the end of a change is not in the journal", "project", w.Name, "error", err)
		}
	}
	w.sweep(journalFolder, journalFile, func(name string) bool {
		id, ok := strings.CutSuffix(name, stepEnding)
		return ok && isStepID(id) && !slices.ContainsFunc(list, func(s kept) bool { return s.ID == id })
	})
}

// completed is what people read in the journal about such a step.
const completed = " (completed after the server had ended in the middle of it)"

// finishStep does what is left of a step. It returns the files that other programs have changed since, which stay as they are.
func (w *Workspace) finishStep(id string, d doing) (left []string, err error) {
	changes, err := w.changesOf(id)
	if err != nil {
		return nil, err
	}
	if d.Undo {
		invert(changes)
	}
	now, left, err := w.revisionsNow(changes)
	if err == nil {
		err = w.apply(changes, now)
	}
	if err != nil {
		return left, err
	}
	w.moveHistory(d.Files)
	w.moveThreads(d.Files)
	for i, c := range changes {
		if c.before != nil && c.after != nil && now[i] != other && inHistory(c.name) {
			w.keepRevision(c.name, string(c.before), string(c.after), d.Who)
		}
	}
	return left, nil
}

// invert makes of changes those that undo them.
func invert(changes []change) {
	for i, c := range changes {
		changes[i].before, changes[i].after = c.after, c.before
	}
}

// sweep removes files in a folder of the project that a crash has left. While a damaged list of them is kept aside, they stay: they may be of
// that list.
func (w *Workspace) sweep(folder, list string, stray func(name string) bool) {
	beside, err := w.Home.Names(".")
	if err != nil || slices.ContainsFunc(beside, func(name string) bool { return strings.HasPrefix(name, list+store.DamagedEnding) }) {
		return
	}
	names, err := w.Home.Names(folder)
	if err != nil && !notThere(err) {
		w.Log.Error("a folder of the project cannot be read", "project", w.Name, "folder", folder, "error", err)
	}
	for _, name := range names {
		if stray(name) && w.Home.Remove(folder+"/"+name, nil) == nil {
			w.Log.Info("removed a file left by a crash", "project", w.Name, "file", folder+"/"+name)
		}
	}
}

var errTooLargeStep = fmt.Errorf("more than %d MB", maxStepBytes>>20)

// pack writes the texts of a step: a file for each text, below one of two folders.
func pack(changes []change) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	put := func(folder, name string, text []byte) error {
		if text == nil {
			return nil
		}
		if err := t.WriteHeader(&tar.Header{Name: folder + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err := t.Write(text)
		return err
	}
	for _, c := range changes {
		if err := errors.Join(put(beforeFolder, c.name, c.before), put(afterFolder, c.name, c.after)); err != nil {
			return nil, err
		}
	}
	err := errors.Join(t.Close(), z.Close())
	return out.Bytes(), err
}

const (
	beforeFolder = "before/"
	afterFolder  = "after/"
)

// unpack reads what pack has written.
func unpack(packed []byte) ([]change, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	t := tar.NewReader(io.LimitReader(z, 2*maxStepBytes))
	var out []change
	at := map[string]int{}
	for {
		h, err := t.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(t) // never nil
		if err != nil {
			return nil, err
		}
		folder, name, _ := strings.Cut(h.Name, "/")
		if err := store.CheckName(name); err != nil {
			return nil, err
		}
		i, known := at[name]
		if !known {
			i, at[name], out = len(out), len(out), append(out, change{name: name})
		}
		if folder+"/" == beforeFolder {
			out[i].before = text
		} else {
			out[i].after = text
		}
	}
}

// change records a step and does it, wholly or not at all. The step is nil if it cannot be undone. The caller holds the lock, and calls
// settled without it.
func (w *Workspace) change(about string, renamed []Renaming, d doing, changes []change) (*Step, error) {
	s := w.record(about, renamed, d, changes)
	now := make([]store.Revision, len(changes))
	for i, c := range changes {
		now[i] = revisionOf(c.before)
	}
	err := w.apply(changes, now)
	if err != nil && s != nil {
		w.forget(s.ID)
		s = nil
	}
	return s, err
}

// apply gives files their texts of after. now are their present revisions; those of other texts are left as they are. If one cannot be
// written, those before it get their texts of before. A file that changes its name exists under one of the names all the time.
func (w *Workspace) apply(changes []change, now []store.Revision) error {
	var done []change
	for _, write := range []bool{true, false} {
		for i, c := range changes {
			if now[i] == other || now[i] == revisionOf(c.after) || (c.after != nil) != write {
				continue
			}
			there, err := w.put(c.name, c.after, now[i])
			if there {
				done = append(done, c)
			}
			if err == nil {
				continue
			}
			for _, c := range slices.Backward(done) {
				_, failed := w.put(c.name, c.before, revisionOf(c.after))
				err = errors.Join(err, failed)
			}
			return err
		}
	}
	return nil
}

// put writes a file, or removes it if its text is nil. done with an error means that the change may be lost if the power fails now.
func (w *Workspace) put(name string, text []byte, expect store.Revision) (done bool, err error) {
	if text == nil {
		err = w.Files.Remove(name, &expect)
		return err == nil, err
	}
	rev, err := w.Files.Write(name, text, &expect)
	return rev != "", err
}

// amend limits a recorded step to what was done: files may have been refused, or written by another program before they were replaced. It
// returns nil if nothing is left. The caller holds the lock.
func (w *Workspace) amend(s *Step, planned, done []change) *Step {
	same := slices.EqualFunc(planned, done, func(a, b change) bool {
		return a.name == b.name && revisionOf(a.before) == revisionOf(b.before) && revisionOf(a.after) == revisionOf(b.after)
	})
	if s == nil || same {
		return s
	}
	list := w.steps()
	i := slices.IndexFunc(list, func(k kept) bool { return k.ID == s.ID })
	if i < 0 || len(done) == 0 {
		w.forget(s.ID)
		return nil
	}
	packed, err := pack(done)
	if err == nil {
		_, err = w.Home.Write(stepFile(s.ID), packed, nil)
	}
	if err == nil {
		list[i].describe(done, len(packed))
		err = w.keepSteps(list)
	}
	if err != nil {
		w.Log.Error("a change cannot be undone: it is not in the journal", "project", w.Name, "change", s.About, "error", err)
		w.forget(s.ID)
		return nil
	}
	return &list[i].Step
}

// describe says which files a step changes.
func (s *Step) describe(changes []change, size int) {
	s.About, s.Files, s.Size, s.Names = aboutFiles(changes), len(changes), size, []string{}
	for _, c := range changes[:min(len(changes), maxStepNames)] {
		s.Names = append(s.Names, c.name)
	}
}

// aboutFiles describes changes of files.
func aboutFiles(changes []change) string {
	var replaced, added, removed int
	for _, c := range changes {
		switch {
		case c.before == nil:
			added++
		case c.after == nil:
			removed++
		default:
			replaced++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		verb string
	}{{replaced, "replaced"}, {added, "new"}, {removed, "deleted"}} {
		switch {
		case p.n == 1 && len(changes) == 1:
			parts = append(parts, changes[0].name+" "+p.verb)
		case p.n == 1 && len(parts) == 0:
			parts = append(parts, "1 file "+p.verb)
		case p.n > 0 && len(parts) == 0:
			parts = append(parts, fmt.Sprintf("%d files %s", p.n, p.verb))
		case p.n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.verb))
		}
	}
	return strings.Join(parts, ", ")
}

// keepSteps stores the list, newest first, and drops what is beyond the bounds.
func (w *Workspace) keepSteps(list []kept) error {
	n, size := 0, 0
	for n < min(len(list), maxSteps) && (n == 0 || size+list[n].Size <= maxStepsBytes) {
		size += list[n].Size
		n++
	}
	text, err := json.MarshalIndent(append([]kept{}, list[:n]...), "", "  ")
	if err == nil {
		_, err = w.Home.Write(journalFile, append(text, '\n'), nil)
	}
	if err != nil {
		return err
	}
	for _, s := range list[n:] {
		_ = w.Home.Remove(stepFile(s.ID), nil)
	}
	return nil
}

// forget drops a step. The caller holds the lock.
func (w *Workspace) forget(id string) {
	if err := w.keepSteps(slices.DeleteFunc(w.steps(), func(s kept) bool { return s.ID == id })); err == nil {
		_ = w.Home.Remove(stepFile(id), nil)
	}
}

// Undo gives the files of a step their texts of before; files that it made are removed, files that it removed are made. If some have other
// texts than the step left, nothing is changed and the error is a *StepError that names them; with rest these files are left as they are. A
// step that was interrupted by a crash can be undone, too, and an interrupted Undo repeated.
func (w *Workspace) Undo(id string, rest bool, who ...string) (Step, error) {
	return w.turn(id, rest, true, who)
}

// Redo is the inverse of Undo.
func (w *Workspace) Redo(id string, rest bool, who ...string) (Step, error) {
	return w.turn(id, rest, false, who)
}

// Moves returns the definitions that get other names when a step is undone, or redone: each with the text, or the only one, of a file that goes.
func (w *Workspace) Moves(id string, undo bool) (out []Renaming) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes, err := w.changesOf(id)
	if err != nil {
		return nil
	}
	if undo {
		invert(changes)
	}
	changes = slices.DeleteFunc(changes, func(c change) bool { return !inHistory(c.name) })
	var gone, made []change
	for _, c := range changes {
		if c.after == nil {
			gone = append(gone, c)
		} else if c.before == nil {
			made = append(made, c)
		}
	}
	for _, c := range gone {
		i := slices.IndexFunc(made, func(m change) bool { return bytes.Equal(m.after, c.before) })
		if len(gone) == 1 && len(made) == 1 {
			i = 0
		}
		if i >= 0 {
			out = append(out, Renaming{From: c.name, To: made[i].name})
			made = slices.Delete(made, i, i+1)
		}
	}
	return out
}

func (w *Workspace) turn(id string, rest, undo bool, who []string) (Step, error) {
	var step *Step // once its files are being changed
	defer w.settled(&step)
	defer w.writeHistory("", false)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.reload(false); err != nil { // what other programs have written is not of these people
		return Step{}, err
	}
	list := w.steps()
	i := slices.IndexFunc(list, func(s kept) bool { return s.ID == id })
	if i < 0 {
		return Step{}, goneStep()
	}
	changes, err := w.changesOf(id)
	if err != nil {
		return Step{}, err
	}
	if undo {
		invert(changes)
	}
	now, err := w.unchangedSince(changes, rest)
	if err == nil {
		list[i].Doing = &doing{Undo: undo, Who: who}
		w.begin(id)
		step = &Step{ID: id}
		err = w.keepSteps(list)
	}
	if err == nil {
		err = w.apply(changes, now)
	}
	if err != nil {
		return Step{}, errors.Join(err, w.reloadBy(byChanges(who, changes)))
	}
	for _, r := range list[i].Renamed {
		if undo {
			r.From, r.To = r.To, r.From
		}
		w.renamed.add([]Renaming{r})
	}
	list[i].Undone = undo
	return list[i].Step, errors.Join(w.keepSteps(list), w.reloadBy(byChanges(who, changes)))
}

// changesOf reads the texts of a step.
func (w *Workspace) changesOf(id string) ([]change, error) {
	var changes []change
	_, err := w.Home.Load(stepFile(id), func(text []byte) (err error) {
		changes, err = unpack(text)
		return err
	})
	switch {
	case notThere(err):
		return nil, goneStep()
	case errors.Is(err, store.ErrDamaged):
		return nil, &StepError{Reason: "the journal of this change is damaged"}
	}
	return changes, err
}

// unchangedSince returns the revisions of the files of a step. Each has its text of before or, if the program ended meanwhile, of after. With
// rest, the revision of a file with any other text is other.
func (w *Workspace) unchangedSince(changes []change, rest bool) ([]store.Revision, error) {
	now, changed, err := w.revisionsNow(changes)
	if err != nil {
		return nil, err
	}
	e := &StepError{Files: len(changes), Changed: changed}
	if len(e.Changed) == 0 || rest && len(e.Changed) < len(changes) {
		return now, nil
	}
	more := ""
	if len(e.Changed) > 3 {
		more = fmt.Sprintf(" and %d more", len(e.Changed)-3)
	}
	e.Reason = "changed since: " + strings.Join(e.Changed[:min(3, len(e.Changed))], ", ") + more
	return nil, e
}

// revisionsNow returns the revisions of the files of a step, other for those that have neither of its texts, and the names of these.
func (w *Workspace) revisionsNow(changes []change) (now []store.Revision, changed []string, err error) {
	now = make([]store.Revision, len(changes))
	for i, c := range changes {
		f, err := w.Files.Read(c.name)
		switch {
		case notThere(err):
		case err != nil:
			return nil, nil, err
		default:
			now[i] = f.Revision
		}
		if now[i] != revisionOf(c.after) && now[i] != revisionOf(c.before) {
			now[i], changed = other, append(changed, c.name)
		}
	}
	return now, changed, nil
}

const other store.Revision = "other"

// revisionOf is store.RevisionOf for a text that is nil if there is no file.
func revisionOf(text []byte) store.Revision {
	if text == nil {
		return ""
	}
	return store.RevisionOf(text)
}
