package history

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"wirebench/defs/text"
	"wirebench/server/collab"
	"wirebench/server/store"
)

const (
	revisionsFolder = "history"
	revisionsEnding = ".jsonl"
	wholeEvery      = 50  // revisions between whole texts
	maxName         = 100 // bytes of the name of a revision
)

// maxBytes is the size of the history of a file above which its older half goes.
var maxBytes = 2 << 20

// PastRevision is a state of a definition.
type PastRevision struct {
	ID      string    `json:"id"`
	From    time.Time `json:"from" doc:"first change"`
	At      time.Time `json:"at" doc:"last change"`
	Who     []string  `json:"who" doc:"the people; outside: another program"`
	Added   int       `json:"added" doc:"lines"`
	Removed int       `json:"removed" doc:"lines"`
	Name    string    `json:"name,omitempty" doc:"given by a person"`
	Step    string    `json:"step,omitempty" doc:"id of the change of several files that it is a part of"`
}

// Errors of the history.
var (
	ErrNoRevision = errors.New("the history has no such revision")
	ErrNone       = errors.New("this project keeps no history")
)

// line is a line of a history: a revision, or a name.
type line struct {
	PastRevision
	Change collab.Change `json:"c,omitempty"` // from the text before
	Text   *string       `json:"t,omitempty"` // instead of Change: the whole text
	Hash   uint32        `json:"h,omitempty"` // of the text
	Of     string        `json:"of,omitempty"`
}

// past is a history, oldest first.
type past []line

func revisionsFile(file string) string { return revisionsFolder + "/" + file + revisionsEnding }

// newLine returns the line of a text, which is whole until it gets a change.
func newLine(text string, from, at time.Time, who []string) line {
	return line{PastRevision: PastRevision{ID: rand.Text(), From: moment(from), At: moment(at), Who: append([]string{}, who...)}, Text: &text, Hash: collab.NewText(text).Hash()}
}

// store writes a revision, after the text that it was made of unless the history ends with it. The caller holds files.
func (h *History) store(r *revision) error {
	x, size, err := h.read(r.file)
	if err != nil || r.again && x.endsWith(r.text) {
		return err
	}
	var lines []line
	if !r.begins && !x.endsWith(r.before) {
		lines = append(lines, newLine(r.before, r.from, r.from, nil))
	}
	if r.before != r.text {
		l := newLine(r.text, r.from, r.at, r.who)
		l.Step = r.step
		l.Added, l.Removed = linesChanged(r.before, r.text)
		if !r.begins && (len(x) == 0 || len(x)%wholeEvery != 0) {
			l.Text, l.Change = nil, collab.Between(collab.NewText(r.before), collab.NewText(r.text))
		}
		lines = append(lines, l)
	}
	delete(h.last, r.file)
	if size >= maxBytes && len(lines) > 0 {
		err = h.rewrite(r.file, x, lines)
		lines = nil
	}
	for i := 0; i < len(lines) && err == nil; i++ {
		err = h.append(r.file, lines[i])
	}
	if err == nil {
		h.last[r.file] = r.text
	}
	return err
}

func (h *History) append(file string, l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return h.Home.Append(revisionsFile(file), text)
}

// rewrite writes the newer half of a history and more lines; the first line gets its whole text.
func (h *History) rewrite(file string, all past, more []line) error {
	half := len(all) / 2
	x := append(slices.Clone(all[half:]), more...)
	if whole, err := all.text(half); err == nil {
		x[0].Text, x[0].Change = &whole, nil
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	for _, l := range x {
		if err := to.Encode(l); err != nil {
			return err
		}
	}
	_, err := h.Home.Write(revisionsFile(file), b.Bytes(), nil)
	return err
}

// read reads the history of a file, and its size in bytes. A damaged line is left out: revisions that were made of its text cannot be read,
// up to the next whole text. The caller holds files.
func (h *History) read(file string) (out past, size int, err error) {
	at := map[string]int{}
	f, err := h.Home.Load(revisionsFile(file), store.Lines(func(text []byte) error {
		var l line
		err := store.JSON(&l)(text)
		switch {
		case err != nil:
		case l.Of != "":
			if i, ok := at[l.Of]; ok {
				out[i].Name = l.Name
			}
		case l.ID == "":
			err = errors.New("no revision")
		default:
			at[l.ID] = len(out)
			out = append(out, l)
		}
		return err
	}))
	if err != nil && !store.Unusable(err) {
		return nil, 0, err
	}
	return out, len(f.Text), nil
}

// texts replays a history from the last whole text up to a revision: the index and the text of each that can be read.
func (x past) texts(from int) iter.Seq2[int, collab.Text] {
	return func(yield func(int, collab.Text) bool) {
		for from > 0 && x[from].Text == nil {
			from--
		}
		var now collab.Text
		known := false
		for i, l := range x[from:] {
			if l.Text != nil {
				now, known = collab.NewText(*l.Text), true
			} else if known {
				next, err := l.Change.Apply(now)
				now, known = next, err == nil && next.Hash() == l.Hash
			}
			if known && !yield(from+i, now) {
				return
			}
		}
	}
}

// text returns the text of the revision at an index.
func (x past) text(i int) (string, error) {
	for at, text := range x[:i+1].texts(i) {
		if at == i {
			return text.String(), nil
		}
	}
	return "", fmt.Errorf("%w: its text is damaged", ErrNoRevision)
}

// endsWith reports whether a text is the last one of a history, so that a change of it can follow.
func (x past) endsWith(text string) bool {
	want := collab.NewText(text)
	if len(x) == 0 || x[len(x)-1].Hash != want.Hash() {
		return false
	}
	is, err := x.text(len(x) - 1) // lines may be damaged
	return err == nil && is == want.String()
}

// index returns the index of a revision.
func (x past) index(id string) (int, error) {
	i := slices.IndexFunc(x, func(l line) bool { return l.ID == id })
	if i < 0 {
		return 0, ErrNoRevision
	}
	return i, nil
}

// linesChanged returns the number of lines that were added and removed.
func linesChanged(before, after string) (added, removed int) {
	for _, e := range text.Diff(strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")) {
		switch {
		case e.Old == 0:
			added++
		case e.New == 0:
			removed++
		}
	}
	return added, removed
}

// whole writes what is pending, and returns the history of a file.
func (h *History) whole(file string) (past, error) {
	if h.Home == nil {
		return nil, ErrNone
	}
	if err := store.CheckName(file); err != nil {
		return nil, err
	}
	h.write(file, true)
	h.files.Lock()
	defer h.files.Unlock()
	x, _, err := h.read(file)
	return x, err
}

// Of returns the revisions of a definition, newest first. The text before the first change is one of them.
func (h *History) Of(file string) ([]PastRevision, error) {
	x, err := h.whole(file)
	out := make([]PastRevision, 0, len(x))
	for _, l := range slices.Backward(x) {
		out = append(out, l.PastRevision)
	}
	return out, err
}

// Text returns the text of a revision, with "\n" at the ends of lines.
func (h *History) Text(file, id string) (string, error) {
	x, err := h.whole(file)
	if err != nil {
		return "", err
	}
	i, err := x.index(id)
	if err != nil {
		return "", err
	}
	return x.text(i)
}

// Find returns the first text of a definition for which is returns true; ok is false if its history has none.
func (h *History) Find(file string, is func(text string) bool) (text string, ok bool) {
	x, err := h.whole(file)
	if err != nil {
		return "", false
	}
	for _, now := range x.texts(0) {
		if text := now.String(); is(text) {
			return text, true
		}
	}
	return "", false
}

// Name names a revision; "" removes the name.
func (h *History) Name(file, id, name string) error {
	if name = strings.TrimSpace(name); len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return &store.NameError{Name: name, Reason: fmt.Sprintf("the name of a revision has at most %d bytes, on one line", maxName)}
	}
	x, err := h.whole(file)
	if err == nil {
		_, err = x.index(id)
	}
	if err != nil {
		return err
	}
	h.files.Lock()
	defer h.files.Unlock()
	return h.append(file, line{Of: id, PastRevision: PastRevision{Name: name, Who: []string{}}})
}

// move gives the histories of renamed files their new names, each after that of a file of the name that is gone.
func (h *History) move(files []Renaming) {
	if h.Home == nil {
		return
	}
	for _, r := range files {
		h.write(r.From, true)
		if err := h.moveOne(revisionsFile(r.From), revisionsFile(r.To)); err != nil {
			h.Log.Error("the history of a renamed definition stays under its old name", "project", h.Project, "file", r.From, "error", err)
		}
	}
}

func (h *History) moveOne(from, to string) error {
	h.files.Lock()
	defer h.files.Unlock()
	clear(h.last)
	f, err := h.Home.Read(from)
	if err != nil {
		return there(err)
	}
	has, err := h.Home.Read(to)
	if there(err) != nil {
		return err
	}
	if len(has.Text) > 0 {
		has.Text = append(bytes.TrimSuffix(has.Text, []byte("\n")), '\n') // a torn line stays one
	}
	if !bytes.HasSuffix(has.Text, f.Text) || err != nil { // else the program ended before it removed the other
		if _, err := h.Home.Write(to, append(has.Text, f.Text...), nil); err != nil {
			return err
		}
	}
	return h.Home.Remove(from, nil)
}

// there returns an error that is not that a file is missing.
func there(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
