package history

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"wirebench/server/store"
)

// Change is what a step does to a file: its texts before and after, nil if there is no file.
type Change struct {
	Name          string
	Before, After []byte
}

func same(a, b Change) bool {
	return a.Name == b.Name && RevisionOf(a.Before) == RevisionOf(b.Before) && RevisionOf(a.After) == RevisionOf(b.After)
}

// RevisionOf is store.RevisionOf for a text that is nil if there is no file.
func RevisionOf(text []byte) store.Revision {
	if text == nil {
		return ""
	}
	return store.RevisionOf(text)
}

// other stands for the revision of a file that has neither text of a change.
const other store.Revision = "other"

// Act is what becomes a step.
type Act struct {
	About   string     // what people read; "": how many files become what
	Who     []string   // the people
	Renamed []Renaming // new names of messages
	Changes []Change
}

// Do records a step and does it, wholly or not at all. The step is nil if it cannot be undone. The caller holds the lock under which files
// change, and calls Write without it.
func (h *History) Do(a Act) (*Step, error) {
	s := h.record(a)
	now := make([]store.Revision, len(a.Changes))
	for i, c := range a.Changes {
		now[i] = RevisionOf(c.Before)
	}
	err := h.carryOut(s, a.Changes, now)
	return h.over(s, err == nil), err
}

// DoParts is Do for changes that do not depend on each other: write writes what can be written, and returns what it has done.
func (h *History) DoParts(a Act, write func() (done []Change)) *Step {
	s := h.record(a)
	done := write()
	h.saved(s, done, false)
	return h.over(s, h.amend(&s, a.Changes, done))
}

// over takes that the files of a step are as they stay: the next Write settles it, and it is dropped if it was not done. It returns the step,
// nil if it cannot be undone.
func (h *History) over(s kept, done bool) *Step {
	switch {
	case s.ID == "":
		return nil
	case !done:
		h.forget(s.ID)
		return nil
	}
	h.settleNext(s.ID)
	return &s.Step
}

// saved records the revisions of files that a step has replaced, with again unless their histories end with them.
func (h *History) saved(s kept, done []Change, again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range done {
		if c.Before == nil || c.After == nil {
			continue
		}
		r := newRevision(c.Name, string(c.Before), string(c.After), s.Doing.Who)
		r.step, r.again = s.ID, again
		h.here[c.Name] = string(c.After)
		h.add(r, false)
	}
}

// carryOut gives the files of a step their texts of after; what belongs to files with new names follows them.
func (h *History) carryOut(s kept, changes []Change, now []store.Revision) error {
	files := moves(changes, now)
	done, err := h.apply(changes, now)
	h.saved(s, done, false)
	if err != nil {
		return err
	}
	h.move(files)
	messages := slices.Clone(s.Renamed)
	for i, r := range messages {
		if s.Doing.Undo {
			messages[i] = Renaming{r.To, r.From}
		}
	}
	if h.Moved != nil {
		h.Moved(files, messages)
	}
	return nil
}

// apply gives files their texts of after. now are their present revisions; those of other texts are left as they are. If one cannot be
// written, those before it get their texts of before. It returns what it has changed. A file that changes its name exists under one of the
// names all the time.
func (h *History) apply(changes []Change, now []store.Revision) (done []Change, err error) {
	for _, write := range []bool{true, false} {
		for i, c := range changes {
			if now[i] == other || now[i] == RevisionOf(c.After) || (c.After != nil) != write {
				continue
			}
			did, err := h.put(c.Name, c.After, now[i])
			if did {
				done = append(done, c)
			}
			if err != nil {
				left, failed := h.takeBack(done)
				return left, errors.Join(err, failed)
			}
		}
	}
	return done, nil
}

// takeBack gives files their texts of before. It returns the changes that could not be taken back.
func (h *History) takeBack(done []Change) (left []Change, err error) {
	for _, c := range slices.Backward(done) {
		did, failed := h.put(c.Name, c.Before, RevisionOf(c.After))
		if !did {
			left = append(left, c)
		}
		err = errors.Join(err, failed)
	}
	return left, err
}

// put writes a file, or removes it if its text is nil. done with an error means that the change may be lost if the power fails now.
func (h *History) put(name string, text []byte, expect store.Revision) (done bool, err error) {
	if text == nil {
		err = h.Files.Remove(name, &expect)
		return err == nil, err
	}
	rev, err := h.Files.Write(name, text, &expect)
	return rev != "", err
}

// Turn undoes a step, or redoes it. Undo gives its files their texts of before; files that it made are removed, files that it removed are made.
// If some have other texts than the step left, nothing is changed and the error is a *StepError that names them; with rest these files are
// left as they are. A step that was interrupted by a crash can be undone, too, and an interrupted Turn repeated. The caller holds the lock
// under which files change, and calls Write without it.
func (h *History) Turn(id string, undo, rest bool, who []string) (Step, error) {
	changes, err := h.changesOf(id, undo)
	if err != nil {
		return Step{}, err
	}
	now, err := h.unchangedSince(changes, rest)
	if err != nil {
		return Step{}, err
	}
	s, err := h.mark(id, func(s *kept) error { s.Doing = &doing{Undo: undo, Who: who}; return nil })
	if err != nil {
		return Step{}, err
	}
	defer h.settleNext(id)
	if err := h.carryOut(s, changes, now); err != nil {
		return Step{}, err
	}
	s, err = h.mark(id, func(s *kept) error { s.Undone = undo; return nil })
	return s.Step, err
}

// changesOf reads the changes of a step, or those that undo it.
func (h *History) changesOf(id string, undo bool) ([]Change, error) {
	if h.Home == nil || !isStepID(id) {
		return nil, goneStep()
	}
	var changes []Change
	_, err := h.Home.Load(stepFile(id), func(text []byte) (err error) {
		changes, err = unpack(text)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, goneStep()
	case errors.Is(err, store.ErrDamaged):
		return nil, &StepError{Reason: "the journal of this change is damaged"}
	}
	for i, c := range changes {
		if undo {
			changes[i].Before, changes[i].After = c.After, c.Before
		}
	}
	return changes, err
}

// unchangedSince returns the revisions of the files of a step. Each has its text of before or, if the program ended meanwhile, of after. With
// rest, the revision of a file with any other text is other.
func (h *History) unchangedSince(changes []Change, rest bool) ([]store.Revision, error) {
	now, changed, err := h.revisionsNow(changes)
	if err != nil || len(changed) == 0 || rest && len(changed) < len(changes) {
		return now, err
	}
	more := ""
	if len(changed) > 3 {
		more = fmt.Sprintf(" and %d more", len(changed)-3)
	}
	return nil, &StepError{Files: len(changes), Changed: changed, Reason: "changed since: " + strings.Join(changed[:min(3, len(changed))], ", ") + more}
}

// revisionsNow returns the revisions of the files of a step, other for those that have neither of its texts, and the names of these.
func (h *History) revisionsNow(changes []Change) (now []store.Revision, changed []string, err error) {
	now = make([]store.Revision, len(changes))
	for i, c := range changes {
		f, err := h.Files.Read(c.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		if now[i] = f.Revision; now[i] != RevisionOf(c.After) && now[i] != RevisionOf(c.Before) {
			now[i], changed = other, append(changed, c.Name)
		}
	}
	return now, changed, nil
}

// Moves returns the definitions that get other names when a step is undone, or redone.
func (h *History) Moves(id string, undo bool) []Renaming {
	changes, err := h.changesOf(id, undo)
	if err != nil {
		return nil
	}
	now, _, err := h.revisionsNow(changes)
	if err != nil {
		return nil
	}
	return moves(changes, now)
}

// moves returns the definitions that changes give other names, in the order of the changes: a step removes some and makes others only to move
// them. now are the present revisions of the files. One that has another text under one of its names stays under both, and gets other for both.
func moves(changes []Change, now []store.Revision) (out []Renaming) {
	var gone, made []int
	for i, c := range changes {
		switch {
		case !Keeps(c.Name):
		case c.After == nil:
			gone = append(gone, i)
		case c.Before == nil:
			made = append(made, i)
		}
	}
	for k := 0; k < len(gone) && len(gone) == len(made); k++ {
		from, to := gone[k], made[k]
		if now[from] == other || now[to] == other {
			now[from], now[to] = other, other
			continue
		}
		out = append(out, Renaming{changes[from].Name, changes[to].Name})
	}
	return out
}

// Finish completes the steps that the program was doing when it ended, and removes the files of steps that are not in the journal. It is
// called before the library is read.
func (h *History) Finish() {
	list, err := h.list()
	if err != nil || h.Home == nil {
		return // nothing is known
	}
	for _, s := range slices.Backward(list) {
		if s.Doing == nil {
			continue
		}
		if err := h.finish(s); err != nil { // the next start tries again
			h.Log.Error("a change that was interrupted is not complete", "project", h.Project, "change", s.About, "error", err)
		}
	}
	h.Home.Sweep(stepsFolder, stepsFile, func(name string) bool {
		id, ok := strings.CutSuffix(name, stepsEnding)
		return ok && isStepID(id) && !slices.ContainsFunc(list, func(s kept) bool { return s.ID == id })
	})
}

// completed is what people read in the journal about such a step.
const completed = " (completed after the server had ended in the middle of it)"

// finish does what is left of a step. Files that other programs have changed since stay as they are.
func (h *History) finish(s kept) error {
	changes, err := h.changesOf(s.ID, s.Doing.Undo)
	if err != nil {
		return err
	}
	now, left, err := h.revisionsNow(changes)
	if err == nil {
		err = h.carryOut(s, changes, now)
	}
	if err != nil {
		return err
	}
	for i, c := range changes {
		if now[i] == RevisionOf(c.After) {
			h.saved(s, []Change{c}, true)
		}
	}
	h.Write()
	_, err = h.mark(s.ID, func(s *kept) error {
		s.Undone, s.Doing, s.About = s.Doing.Undo, nil, strings.TrimSuffix(s.About, completed)+completed
		return nil
	})
	h.Log.Info("a change that was interrupted is complete now", "project", h.Project, "change", s.About, "left as other programs wrote them", left)
	return err
}
