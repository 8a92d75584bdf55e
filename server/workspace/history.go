package workspace

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"wirebench/defs"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/server/collab"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// The history of a definition is a file of JSON lines in the folder of the project: the text before the first change, then a line for each
// revision with what it changed, and now and then the whole text. Each save is a revision, of the person who saved; it is on disk before the
// save is confirmed. Only what the same people type in a shared text, which is saved as they type, is one revision: see joins.
const (
	historyFolder = "history"
	historyEnding = ".jsonl"
	historyPause  = 2 * time.Minute  // without a change, after which another revision begins
	historyMost   = 15 * time.Minute // of one revision
	historyWrite  = 30 * time.Second // between writing what has come
	wholeEvery    = 50               // revisions between whole texts
	maxRevision   = 100              // bytes of the name of a revision
)

// maxHistory is the size in bytes of the history of a file above which its older half goes.
var maxHistory = 2 << 20

// Outside is the author of what other programs wrote.
const Outside = "outside"

// PastRevision is a state of a definition.
type PastRevision struct {
	ID      string    `json:"id"`
	From    time.Time `json:"from" doc:"first change"`
	At      time.Time `json:"at" doc:"last change"`
	Who     []string  `json:"who" doc:"the people; outside: another program"`
	Added   int       `json:"added" doc:"lines"`
	Removed int       `json:"removed" doc:"lines"`
	Name    string    `json:"name,omitempty" doc:"given by a person"`
}

// Errors of the history.
var (
	ErrNoRevision = errors.New("the history has no such revision")
	ErrNoHistory  = errors.New("this project keeps no history")
)

// historyLine is a line of a history: a revision, or a name.
type historyLine struct {
	PastRevision
	Change collab.Change `json:"c,omitempty"` // from the text before
	Text   *string       `json:"t,omitempty"` // instead of Change: the whole text
	Hash   uint32        `json:"h,omitempty"` // of the text
	Of     string        `json:"of,omitempty"`
}

// history collects the changes of a workspace.
type history struct {
	mu   sync.Mutex
	open map[string]*pending // by file: what people type, until they pause
	done []*pending          // to be written before those

	last map[string]string // by file: the text that its history ends with, if known; guarded by historyMu
}

// by says who has written the files that are read next. Other files were written by other programs.
type by struct {
	who   []string
	files []string
	typed bool // in a shared text, which is saved as people type
}

// pending is a revision that is not written yet.
type pending struct {
	file, before, text string
	from, at           time.Time
	who                []string
}

// joins reports whether what is typed belongs to the revision.
func (p *pending) joins(who []string, now time.Time) bool {
	return now.Sub(p.at) <= historyPause && now.Sub(p.from) <= historyMost && slices.Equal(p.who, who)
}

// changed records a change of a file. What is typed is open until end.
func (h *history) changed(file, before, after string, who []string, typed bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if typed { // else the one who has saved is first
		who = slices.Sorted(slices.Values(who))
	}
	p := h.open[file]
	if p == nil || !typed || !p.joins(who, now) || p.text != before {
		h.endLocked(file)
		p = &pending{file: file, before: before, from: now, who: who}
		if h.open == nil {
			h.open = map[string]*pending{}
		}
		h.open[file] = p
	}
	p.text, p.at = after, now
	if !typed {
		h.endLocked(file)
	}
}

// end ends the open revision of a file.
func (h *history) end(file string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endLocked(file)
}

func (h *history) endLocked(file string) {
	if p := h.open[file]; p != nil {
		h.done = append(h.done, p)
		delete(h.open, file)
	}
}

// EndRevision ends the revision of what people type in a shared text: somebody has saved it.
func (w *Workspace) EndRevision(file string) {
	w.history.end(file)
	w.writeHistory("", false)
}

// byChanges says that people have made changes.
func byChanges(who []string, changes []change) by {
	out := by{who: who}
	for _, c := range changes {
		out.files = append(out.files, c.name)
	}
	return out
}

// Keep stores a text in the history of a definition that is in no file: that of one that was deleted while people changed it, or that cannot
// be merged. before is the text that it was made of. It returns once the text is on disk.
func (w *Workspace) Keep(file, before, text string, who []string) error {
	if w.Home == nil {
		return ErrNoHistory
	}
	now := time.Now()
	w.writeHistory(file, true)
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	return w.writeRevision(&pending{file: file, before: before, text: text, from: now, at: now, who: who})
}

// inHistory reports whether a file has a history.
func inHistory(name string) bool {
	return !defs.IsCodeMap(name) && !defs.IsValidity(name) && !strings.HasSuffix(name, samplesEnding)
}

// keepBase writes a text that is about to be replaced into the history, unless it is there: a program that ends between writing the file and
// its history would leave it nowhere. What people type in a shared text is one revision, whose base is there.
func (w *Workspace) keepBase(file, text string) {
	if w.Home == nil {
		return
	}
	text = source.UnixLines(text)
	w.history.mu.Lock()
	p := w.history.open[file]
	typed := p != nil && p.text == text
	w.history.mu.Unlock()
	if typed {
		return
	}
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	if is, known := w.history.last[file]; known && is == text {
		return
	}
	x, size, err := w.readHistory(file)
	if err == nil && !endsWith(x, text) {
		err = w.writeLines(file, x, size, []historyLine{baseLine(text, time.Now())}, text)
	}
	if err != nil {
		w.Log.Error("a revision is missing in the history", "project", w.Name, "file", file, "error", err)
	}
}

// keepRevision writes a revision that a program may have written before it ended.
func (w *Workspace) keepRevision(file, before, after string, who []string) {
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	now := time.Now()
	p := &pending{file: file, before: source.UnixLines(before), text: source.UnixLines(after), from: now, at: now, who: who}
	x, _, err := w.readHistory(file)
	if err == nil && p.before != p.text && !endsWith(x, p.text) {
		err = w.writeRevision(p)
	}
	if err != nil {
		w.Log.Error("a revision is missing in the history", "project", w.Name, "file", file, "error", err)
	}
}

// take returns the revisions that are to be written: of one file or of all ("") those that have ended, with all those that have not, too.
func (h *history) take(file string, all bool, now time.Time) []*pending {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.done
	h.done = nil
	for name, p := range h.open {
		if (file == "" || name == file) && (all || now.Sub(p.at) > historyPause || now.Sub(p.from) > historyMost) {
			out = append(out, p)
			delete(h.open, name)
		}
	}
	return out
}

func historyFile(file string) string { return historyFolder + "/" + file + historyEnding }

// recordTexts records which definitions differ between two libraries. The caller holds the lock, and writes the history without it.
func (w *Workspace) recordTexts(old, now *Library) {
	if w.Home == nil || old == nil {
		return
	}
	before := make(map[string]*source.File, len(old.Files))
	for _, f := range slices.Concat(old.Files, old.Envelopes) {
		before[f.Name] = f
	}
	for _, f := range slices.Concat(now.Files, now.Envelopes) {
		if was := before[f.Name]; was != nil && was != f {
			w.recordText(f.Name, was.Text, f.Text)
		}
	}
}

func (w *Workspace) recordText(file, before, after string) {
	if before == after || w.Home == nil {
		return
	}
	who, typed := []string{Outside}, false
	if slices.Contains(w.by.files, file) {
		who, typed = w.by.who, w.by.typed
		w.here.Store(file, after)
	}
	w.history.changed(file, source.UnixLines(before), source.UnixLines(after), who, typed, time.Now())
}

// WrittenHere reports whether the text of a file was written through this program, and not by another one.
func (w *Workspace) WrittenHere(file, text string) bool {
	last, ok := w.here.Load(file)
	return ok && last == text
}

// runHistory writes the history until done is closed.
func (w *Workspace) runHistory(done <-chan struct{}) {
	tick := time.NewTicker(historyWrite)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = supervise.Do("history", func() error { // the next ones are written
				w.writeHistory("", false)
				return nil
			})
		case <-done:
			w.writeHistory("", true)
			return
		}
	}
}

// writeHistory writes the revisions that have ended, and with all also what is typed, of one file or of all (""). One that cannot be written
// is lost; the texts are not.
func (w *Workspace) writeHistory(file string, all bool) {
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	for _, p := range w.history.take(file, all, time.Now()) {
		if p.before == p.text {
			continue
		}
		if err := w.writeRevision(p); err != nil {
			w.Log.Error("a revision is missing in the history", "project", w.Name, "file", p.file, "error", err)
		}
	}
}

func (w *Workspace) writeRevision(p *pending) error {
	x, size, err := w.readHistory(p.file)
	if err != nil {
		return err
	}
	before := collab.NewText(p.before)
	var lines []historyLine
	if !endsWith(x, p.before) {
		lines = append(lines, baseLine(p.before, p.from))
	}
	after := collab.NewText(p.text)
	line := historyLine{PastRevision: PastRevision{ID: rand.Text(), From: moment(p.from), At: moment(p.at), Who: p.who}, Hash: after.Hash()}
	line.Added, line.Removed = linesChanged(p.before, p.text)
	if line.Who == nil {
		line.Who = []string{}
	}
	if whole := len(x) > 0 && len(x)%wholeEvery == 0; whole {
		line.Text = &p.text
	} else {
		line.Change = collab.Between(before, after)
	}
	return w.writeLines(p.file, x, size, append(lines, line), p.text)
}

// baseLine is the line of a text with no revision before it.
func baseLine(text string, at time.Time) historyLine {
	return historyLine{PastRevision: PastRevision{ID: rand.Text(), From: moment(at), At: moment(at), Who: []string{}}, Text: &text, Hash: collab.NewText(text).Hash()}
}

// writeLines adds lines to a history, which ends with a text then.
func (w *Workspace) writeLines(file string, x []historyLine, size int, lines []historyLine, text string) (err error) {
	delete(w.history.last, file)
	if size < maxHistory {
		for i := 0; i < len(lines) && err == nil; i++ {
			var said []byte
			if said, err = json.Marshal(lines[i]); err == nil {
				err = w.Home.Append(historyFile(file), said)
			}
		}
	} else {
		err = w.keepHistory(file, append(x[len(x)/2:], lines...))
	}
	if err == nil {
		if w.history.last == nil {
			w.history.last = map[string]string{}
		}
		w.history.last[file] = text
	}
	return err
}

// endsWith reports whether a text is the last one of a history, so that a change of it can follow.
func endsWith(x []historyLine, text string) bool {
	last := len(x) - 1
	if last < 0 || x[last].Hash != collab.NewText(text).Hash() {
		return false
	}
	is, err := textOfRevision(x, x[last].ID) // lines may be damaged
	return err == nil && collab.NewText(is).String() == collab.NewText(text).String()
}

// moment is a time as it is written.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// keepHistory writes a history anew; the first line gets its whole text.
func (w *Workspace) keepHistory(file string, x []historyLine) error {
	all, _, err := w.readHistory(file)
	if err != nil {
		return err
	}
	if whole, err := textOfRevision(all, x[0].ID); err == nil {
		x[0].Text, x[0].Change = &whole, nil
	}
	var b bytes.Buffer
	for _, l := range x {
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
		if l.Name != "" {
			name, err := json.Marshal(historyLine{Of: l.ID, PastRevision: PastRevision{Name: l.Name}})
			if err != nil {
				return err
			}
			b.Write(append(name, '\n'))
		}
	}
	_, err = w.Home.Write(historyFile(file), b.Bytes(), nil)
	return err
}

// readHistory reads the history of a file, oldest first, and its size. A damaged line is left out: revisions that were made of its text
// cannot be read, up to the next whole text.
func (w *Workspace) readHistory(file string) (out []historyLine, size int, err error) {
	at := map[string]int{}
	f, err := w.Home.Load(historyFile(file), store.Lines(func(line []byte) error {
		var l historyLine
		err := store.JSON(&l)(line)
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

// textOfRevision replays a history up to a revision.
func textOfRevision(x []historyLine, id string) (string, error) {
	end := slices.IndexFunc(x, func(l historyLine) bool { return l.ID == id })
	if end < 0 {
		return "", ErrNoRevision
	}
	start := end
	for start > 0 && x[start].Text == nil {
		start--
	}
	if x[start].Text == nil {
		return "", fmt.Errorf("%w: its text is damaged", ErrNoRevision)
	}
	now := collab.NewText(*x[start].Text)
	for _, l := range x[start+1 : end+1] {
		next, err := l.Change.Apply(now)
		if err == nil && next.Hash() != l.Hash {
			err = errors.New("another hash")
		}
		if err != nil {
			return "", fmt.Errorf("%w: its text is damaged: %w", ErrNoRevision, err)
		}
		now = next
	}
	return now.String(), nil
}

// TextOf returns the text that a definition had at a revision of pages, store.RevisionOf with their line ends; ok is false if neither the file
// nor its history has it.
func (w *Workspace) TextOf(file, revision string) (text string, ok bool) {
	is := func(text string) bool { return string(store.RevisionOf([]byte(text))) == revision }
	if f := w.Now().File(file); f != nil && is(source.UnixLines(f.Text)) {
		return source.UnixLines(f.Text), true
	}
	x, err := w.wholeHistory(file)
	if err != nil {
		return "", false
	}
	var now collab.Text
	whole := false // now is known
	for _, l := range x {
		if l.Text != nil {
			now, whole = collab.NewText(*l.Text), true
		} else if whole {
			next, err := l.Change.Apply(now)
			now, whole = next, err == nil && next.Hash() == l.Hash
		}
		if whole && is(now.String()) {
			return now.String(), true
		}
	}
	return "", false
}

// History returns the revisions of a definition, newest first. The text before the first change is one of them.
func (w *Workspace) History(file string) ([]PastRevision, error) {
	x, err := w.wholeHistory(file)
	out := make([]PastRevision, 0, len(x))
	for _, l := range slices.Backward(x) {
		out = append(out, l.PastRevision)
	}
	return out, err
}

// RevisionText returns the text of a revision, with "\n" at the ends of lines.
func (w *Workspace) RevisionText(file, id string) (string, error) {
	x, err := w.wholeHistory(file)
	if err != nil {
		return "", err
	}
	return textOfRevision(x, id)
}

// NameRevision names a revision; "" removes the name.
func (w *Workspace) NameRevision(file, id, name string) error {
	if name = strings.TrimSpace(name); len(name) > maxRevision || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return &NameError{name, fmt.Sprintf("the name of a revision has at most %d bytes, on one line", maxRevision)}
	}
	x, err := w.wholeHistory(file)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(x, func(l historyLine) bool { return l.ID == id }) {
		return ErrNoRevision
	}
	line, err := json.Marshal(historyLine{Of: id, PastRevision: PastRevision{Name: name, Who: []string{}}})
	if err != nil {
		return err
	}
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	return w.Home.Append(historyFile(file), line)
}

// wholeHistory writes what is pending, and returns the history of a file.
func (w *Workspace) wholeHistory(file string) ([]historyLine, error) {
	if w.Home == nil {
		return nil, ErrNoHistory
	}
	if err := store.CheckName(file); err != nil {
		return nil, err
	}
	w.writeHistory(file, true)
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	x, _, err := w.readHistory(file)
	return x, err
}

// moveHistory gives the histories of renamed files their new names. A history that exists under the new name stays.
func (w *Workspace) moveHistory(files []Renaming) {
	if w.Home == nil {
		return
	}
	for _, r := range files {
		w.writeHistory(r.From, true)
		if err := w.moveOne(r); err != nil {
			w.Log.Error("the history of a renamed definition stays under its old name", "project", w.Name, "file", r.From, "error", err)
		}
	}
}

func (w *Workspace) moveOne(r Renaming) error {
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	f, err := w.Home.Read(historyFile(r.From))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	delete(w.history.last, r.From)
	delete(w.history.last, r.To)
	none := store.Revision("")
	var there *store.ConflictError
	if _, err := w.Home.Write(historyFile(r.To), f.Text, &none); errors.As(err, &there) && there.Have == f.Revision {
		err = nil // the program ended before it removed the other
	} else if err != nil {
		return err
	}
	return w.Home.Remove(historyFile(r.From), nil)
}
