package history

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"wirebench/defs"
	"wirebench/defs/source"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// Outside is the author of what other programs wrote.
const Outside = "outside"

const (
	pause     = 2 * time.Minute  // without a change, after which what is typed begins another revision
	most      = 15 * time.Minute // of one revision
	writeEach = 30 * time.Second // between writing what has come
)

// Files is the folder of the definitions.
type Files interface {
	Read(name string) (store.File, error)
	Write(name string, text []byte, expect *store.Revision) (store.Revision, error)
	Remove(name string, expect *store.Revision) error
}

// Home is the folder of the project, which only this program writes.
type Home interface {
	Files
	Append(name string, line []byte) error
	Load(name string, decode func(text []byte) error) (store.File, error)
	Below(folder string) ([]string, error)
	Sweep(folder, list string, stray func(name string) bool)
}

// Config holds the parts of a history.
type Config struct {
	Project string // its name, for the log
	Files   Files
	Home    Home // nil: nothing is kept, and no step can be undone
	Log     *slog.Logger

	// Moved is called when a step has given files and messages other names. It may be called twice for one step.
	Moved func(files, messages []Renaming)
}

// History is that of one project. It is safe for concurrent use.
type History struct {
	Config

	files sync.Mutex        // held while the files of the history are read or written
	last  map[string]string // by file: the text that its history ends with, if known; guarded by files

	mu   sync.Mutex           // guards the rest
	open map[string]*revision // by file: what people type, until they pause
	done []*revision          // to be written before those
	ends []string             // ids of steps that are done, but marked in the journal
	here map[string]string    // by file: the text that was written last through this program
}

// New returns a history.
func New(c Config) *History {
	return &History{Config: c, last: map[string]string{}, open: map[string]*revision{}, here: map[string]string{}}
}

// Keeps reports whether a file has a history.
func Keeps(file string) bool {
	return !defs.IsCodeMap(file) && !defs.IsValidity(file) && !strings.HasSuffix(file, store.SamplesEnding)
}

// revision is one that is not written yet.
type revision struct {
	file, before, text string // with "\n" at the ends of lines
	from, at           time.Time
	who                []string
	step               string // id of the step that it is a part of
	again              bool   // it is left out if the history ends with its text
	begins             bool   // it is the first of its file
}

func newRevision(file, before, after string, who []string) *revision {
	now := time.Now()
	return &revision{file: file, before: source.UnixLines(before), text: source.UnixLines(after), from: now, at: now, who: who}
}

// joins reports whether what is typed belongs to the revision.
func (r *revision) joins(next *revision) bool {
	return r.text == next.before && slices.Equal(r.who, next.who) && !r.ended(next.at)
}

// ended reports whether people have paused since.
func (r *revision) ended(now time.Time) bool { return now.Sub(r.at) > pause || now.Sub(r.from) > most }

// Saved records that people have saved a file, the one who did first: a revision of its own. With typed it was saved as they type, and is a
// part of what they type until they pause.
func (h *History) Saved(file, before, after string, who []string, typed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.here[file] = after
	if typed {
		who = slices.Sorted(slices.Values(who))
	}
	h.add(newRevision(file, before, after, who), typed)
}

// Begun records that people have saved a new file.
func (h *History) Begun(file, text string, who []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.here[file] = text
	r := newRevision(file, "", text, who)
	r.begins = true
	h.add(r, false)
}

// Read records that a file was read with another text than before, or for the first time: another program has written it, unless it is the text
// that was written last through this one.
func (h *History) Read(file, before, after string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last, ok := h.here[file]; ok {
		if last == after {
			return
		}
		before = last // another program may have been so quick that nobody has read it
		delete(h.here, file)
	}
	h.add(newRevision(file, before, after, []string{Outside}), false)
}

// add records a revision. The caller holds mu.
func (h *History) add(r *revision, typed bool) {
	if h.Home == nil || r.before == r.text || !Keeps(r.file) {
		return
	}
	if p := h.open[r.file]; p != nil && typed && p.joins(r) {
		p.text, p.at = r.text, r.at
		return
	}
	h.end(r.file)
	if typed {
		h.open[r.file] = r
	} else {
		h.done = append(h.done, r)
	}
}

// End ends what people type in a file, and writes it: somebody has saved the text that the file has already.
func (h *History) End(file string) {
	h.mu.Lock()
	h.end(file)
	h.mu.Unlock()
	h.Write()
}

// end is End without writing. The caller holds mu.
func (h *History) end(file string) {
	if p := h.open[file]; p != nil {
		h.done = append(h.done, p)
		delete(h.open, file)
	}
}

// WrittenHere reports whether the text of a file was written through this program, and not by another one.
func (h *History) WrittenHere(file, text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	last, ok := h.here[file]
	return ok && last == text
}

// Run writes what people type when they pause, until done is closed.
func (h *History) Run(done <-chan struct{}) {
	tick := time.NewTicker(writeEach)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = supervise.Do("history", func() error { // the next ones are written
				h.Write()
				return nil
			})
		case <-done:
			h.write("", true)
			return
		}
	}
}

// Write writes the revisions that have ended, and then the end of the steps that made them. One that cannot be written is lost; the texts are
// not. Whoever has changed files calls it before that is confirmed, without the lock under which they change.
func (h *History) Write() { h.write("", false) }

// write is Write, with all also for what is typed, in one file or in all ("").
func (h *History) write(file string, all bool) {
	h.files.Lock()
	defer h.files.Unlock()
	revisions, steps := h.take(file, all)
	for _, r := range revisions {
		if err := h.store(r); err != nil {
			h.Log.Error("a revision is missing in the history", "project", h.Project, "file", r.file, "error", err)
		}
	}
	h.settle(steps)
}

// take returns what is to be written.
func (h *History) take(file string, all bool) (revisions []*revision, steps []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	revisions, steps, h.done, h.ends = h.done, h.ends, nil, nil
	for name, r := range h.open {
		if (file == "" || name == file) && (all || r.ended(time.Now())) {
			revisions = append(revisions, r)
			delete(h.open, name)
		}
	}
	return revisions, steps
}

// Base writes a text that is about to be replaced into the history, unless it is there: a program that ends between writing the file and its
// history would leave it nowhere. The base of what people type is there.
func (h *History) Base(file, text string) {
	r := newRevision(file, text, text, nil)
	h.mu.Lock()
	p := h.open[file]
	typed := p != nil && p.text == r.text
	h.mu.Unlock()
	if h.Home == nil || typed || !Keeps(file) {
		return
	}
	h.Write() // it may be the text of a revision that is not written yet
	h.files.Lock()
	defer h.files.Unlock()
	if is, known := h.last[file]; known && is == r.text {
		return
	}
	if err := h.store(r); err != nil {
		h.Log.Error("a revision is missing in the history", "project", h.Project, "file", file, "error", err)
	}
}

// Keep stores a text that is in no file in the history of a definition, because it cannot be merged or another program has overtaken it. before
// is the text that it was made of. It returns once the text is on disk.
func (h *History) Keep(file, before, text string, who []string) error {
	if h.Home == nil {
		return ErrNone
	}
	h.write(file, true)
	h.files.Lock()
	defer h.files.Unlock()
	return h.store(newRevision(file, before, text, who))
}

// moment is a time as it is written.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
