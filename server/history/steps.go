package history

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

const (
	stepsFile   = "changes.json"
	stepsFolder = "changes"
	stepsEnding = ".tar.gz"
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

// Renaming is a new name of a file or a message.
type Renaming struct {
	From string `json:"from" minLength:"1" maxLength:"500"`
	To   string `json:"to" minLength:"1" maxLength:"500"`
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
func (h *History) Steps() []Step {
	out := []Step{}
	for _, s := range h.list() {
		out = append(out, s.Step)
	}
	return out
}

// list reads the journal; nil if it cannot be read.
func (h *History) list() []kept {
	out, _ := h.readSteps() // which says what is wrong
	return out
}

func (h *History) readSteps() (out []kept, err error) {
	if h.Home == nil {
		return nil, nil
	}
	if _, err = h.Home.Load(stepsFile, store.JSON(&out)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
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

func stepFile(id string) string { return stepsFolder + "/" + id + stepsEnding }

// keepSteps stores the list, newest first, and drops what is beyond the bounds. The caller holds files.
func (h *History) keepSteps(list []kept) error {
	n, size := 0, 0
	for n < min(len(list), maxSteps) && (n == 0 || size+list[n].Size <= maxStepsBytes) {
		size += list[n].Size
		n++
	}
	text, err := json.MarshalIndent(append([]kept{}, list[:n]...), "", "  ")
	if err == nil {
		_, err = h.Home.Write(stepsFile, append(text, '\n'), nil)
	}
	if err != nil {
		return err
	}
	for _, s := range list[n:] {
		_ = h.Home.Remove(stepFile(s.ID), nil)
	}
	return nil
}

// mark changes a step in the journal.
func (h *History) mark(id string, change func(s *kept) error) (Step, error) {
	h.files.Lock()
	defer h.files.Unlock()
	list := h.list()
	i := slices.IndexFunc(list, func(s kept) bool { return s.ID == id })
	if i < 0 {
		return Step{}, goneStep()
	}
	err := change(&list[i])
	if err == nil {
		err = h.keepSteps(list)
	}
	return list[i].Step, err
}

// record stores a step before its files are written. It returns nil if the step cannot be kept.
func (h *History) record(a Act) *Step {
	if h.Home == nil || len(a.Changes) == 0 {
		return nil
	}
	s := &kept{Doing: &doing{Who: a.Who, Files: a.Files}}
	s.Step = Step{ID: rand.Text(), At: moment(time.Now()), Renamed: a.Renamed}
	h.files.Lock()
	defer h.files.Unlock()
	err := h.pack(&s.Step, a.Changes)
	if a.About != "" {
		s.About = a.About
	}
	if err == nil {
		if err = h.keepSteps(slices.Insert(h.list(), 0, *s)); err != nil {
			_ = h.Home.Remove(stepFile(s.ID), nil)
		}
	}
	if err != nil {
		h.cannotUndo(s.About, err)
		return nil
	}
	return &s.Step
}

func (h *History) cannotUndo(about string, err error) {
	h.Log.Error("a change cannot be undone: it is not in the journal", "project", h.Project, "change", about, "error", err)
}

// amend limits a recorded step to what was done: files may have been refused, or written by another program before they were replaced. It
// returns nil if nothing is left.
func (h *History) amend(s *Step, planned, done []Change) *Step {
	if s == nil || slices.EqualFunc(planned, done, same) {
		return s
	}
	var now Step
	var err error
	if len(done) > 0 {
		now, err = h.mark(s.ID, func(k *kept) error { return h.pack(&k.Step, done) })
	}
	if err != nil {
		h.cannotUndo(s.About, err)
	}
	if err != nil || len(done) == 0 {
		h.forget(s.ID)
		return nil
	}
	return &now
}

// forget drops a step.
func (h *History) forget(id string) {
	h.files.Lock()
	defer h.files.Unlock()
	if err := h.keepSteps(slices.DeleteFunc(h.list(), func(s kept) bool { return s.ID == id })); err == nil {
		_ = h.Home.Remove(stepFile(id), nil)
	}
}

// over says that the files of a step are as they stay. The next Write settles it.
func (h *History) over(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends = append(h.ends, id)
}

// settle says that all of the steps is written, the history, too. The caller holds files.
func (h *History) settle(ids []string) {
	if len(ids) == 0 {
		return
	}
	list, changed := h.list(), false
	for i := range list {
		if slices.Contains(ids, list[i].ID) && list[i].Doing != nil {
			list[i].Doing, changed = nil, true
		}
	}
	if !changed {
		return
	}
	if err := h.keepSteps(list); err != nil {
		h.Log.Error("the end of a change is not in the journal", "project", h.Project, "error", err)
		for _, id := range ids { // with the next write
			h.over(id)
		}
	}
}

// about describes changes of files.
func about(changes []Change) string {
	var replaced, added, removed int
	for _, c := range changes {
		switch {
		case c.Before == nil:
			added++
		case c.After == nil:
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
			parts = append(parts, changes[0].Name+" "+p.verb)
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
