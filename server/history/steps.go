package history

import (
	"cmp"
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
	Undo bool     `json:"undo,omitempty"`
	Who  []string `json:"who,omitempty"`
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
	list, _ := h.list() // the store says what is wrong
	out := make([]Step, len(list))
	for i, s := range list {
		out[i] = s.Step
	}
	return out
}

// list reads the journal.
func (h *History) list() (out []kept, err error) {
	if h.Home == nil {
		return nil, nil
	}
	if _, err := h.Home.Load(stepsFile, store.JSON(&out)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out, func(s kept) bool { return !isStepID(s.ID) }), nil
}

// isStepID reports whether an id may be part of a file name.
func isStepID(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func stepFile(id string) string { return stepsFolder + "/" + id + stepsEnding }

// change changes the journal, newest first, and drops what is beyond the bounds. The caller holds files.
func (h *History) change(with func(list []kept) []kept) error {
	was, err := h.list()
	if err != nil && !errors.Is(err, store.ErrDamaged) { // perhaps it can be read later
		return err
	}
	list := with(slices.Clone(was))
	n, size := 0, 0
	for n < min(len(list), maxSteps) && (n == 0 || size+list[n].Size <= maxStepsBytes) {
		size += list[n].Size
		n++
	}
	text, err := json.MarshalIndent(append([]kept{}, list[:n]...), "", "  ")
	if err == nil {
		_, err = h.Home.Write(stepsFile, append(text, '\n'), nil)
	}
	for _, s := range was {
		if err == nil && !slices.ContainsFunc(list[:n], func(o kept) bool { return o.ID == s.ID }) {
			_ = h.Home.Remove(stepFile(s.ID), nil)
		}
	}
	return err
}

// mark changes a step in the journal.
func (h *History) mark(id string, with func(s *kept) error) (out kept, err error) {
	h.files.Lock()
	defer h.files.Unlock()
	failed := goneStep()
	err = h.change(func(list []kept) []kept {
		for i := range list {
			if s := &list[i]; s.ID == id {
				failed = with(s)
				out = *s
			}
		}
		return list
	})
	return out, errors.Join(failed, err)
}

// record stores a step before its files are written. It has no id if it cannot be kept.
func (h *History) record(a Act) kept {
	s := kept{Step{ID: rand.Text(), At: moment(time.Now()), Renamed: a.Renamed}, &doing{Who: a.Who}}
	if h.Home == nil || len(a.Changes) == 0 {
		s.ID = ""
		return s
	}
	h.files.Lock()
	defer h.files.Unlock()
	err := h.pack(&s.Step, a.Changes)
	s.About = cmp.Or(a.About, s.About)
	if err == nil {
		err = h.change(func(list []kept) []kept { return slices.Insert(list, 0, s) })
	}
	if err != nil {
		h.cannotUndo(s, err)
		_ = h.Home.Remove(stepFile(s.ID), nil)
		s.ID = ""
	}
	return s
}

func (h *History) cannotUndo(s kept, err error) {
	h.Log.Error("a change cannot be undone: it is not in the journal", "project", h.Project, "change", s.About, "error", err)
}

// amend limits a recorded step to what was done: files may have been refused, or written by another program before they were replaced. It
// returns false if nothing is left.
func (h *History) amend(s *kept, planned, done []Change) bool {
	if s.ID == "" || len(done) == 0 || slices.EqualFunc(planned, done, same) {
		return len(done) > 0
	}
	now, err := h.mark(s.ID, func(k *kept) error { return h.pack(&k.Step, done) })
	if err != nil {
		h.cannotUndo(*s, err)
		return false
	}
	*s = now
	return true
}

// forget drops a step.
func (h *History) forget(id string) {
	h.files.Lock()
	defer h.files.Unlock()
	_ = h.change(func(list []kept) []kept { return slices.DeleteFunc(list, func(s kept) bool { return s.ID == id }) }) // the next start completes it
}

// settleNext leaves it to the next Write to settle steps.
func (h *History) settleNext(ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends = append(h.ends, ids...)
}

// settle says that all of the steps is written, the history, too. The caller holds files.
func (h *History) settle(ids []string) {
	if len(ids) == 0 {
		return
	}
	err := h.change(func(list []kept) []kept {
		for i := range list {
			if slices.Contains(ids, list[i].ID) {
				list[i].Doing = nil
			}
		}
		return list
	})
	if err != nil {
		h.Log.Error("the end of a change is not in the journal", "project", h.Project, "error", err)
		h.settleNext(ids...)
	}
}

// about describes changes of files: 3 files replaced, 1 new.
func about(changes []Change) (out string) {
	if len(changes) == 1 {
		return changes[0].Name + " " + changes[0].verb()
	}
	for _, verb := range []string{"replaced", "new", "deleted"} {
		n := 0
		for _, c := range changes {
			if c.verb() == verb {
				n++
			}
		}
		switch {
		case n == 0:
		case out != "":
			out += fmt.Sprintf(", %d %s", n, verb)
		case n == 1:
			out = "1 file " + verb
		default:
			out = fmt.Sprintf("%d files %s", n, verb)
		}
	}
	return out
}

func (c *Change) verb() string {
	switch {
	case c.Before == nil:
		return "new"
	case c.After == nil:
		return "deleted"
	}
	return "replaced"
}
