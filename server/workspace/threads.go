package workspace

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"wirebench/defs/source"
	"wirebench/server/collab"
	"wirebench/server/history"
	"wirebench/server/store"
)

// The threads of a project are in one file in its folder: comments on lines of definitions and on bytes of captures, and suggestions for other
// texts. A thread stays at its line while the text changes, whoever changes it: the file has the text that its places are in, and places are
// mapped when the definition has another one.
const threadsFile = "threads.json"

// Bounds of threads.
const (
	maxThreads     = 2000
	maxRemarks     = 200     // of a thread
	maxRemark      = 4 << 10 // bytes
	maxSuggestion  = 128 << 10
	maxThreadBytes = 16 << 20 // of the file
	maxQuote       = 200      // characters of a line
)

// Thread is a comment with its answers, or a suggestion.
type Thread struct {
	ID      string `json:"id"`
	File    string `json:"file,omitempty" doc:"the definition; absent for bytes of a capture"`
	Message string `json:"message,omitempty" doc:"the message at the line, or the first of the definition"`
	Line    int    `json:"line,omitempty" doc:"in the stored text; absent if the line is gone"`
	Path    string `json:"path,omitempty" doc:"the field at the line"`
	New     bool   `json:"new,omitempty" doc:"it suggests a file that does not exist"`
	Now     string `json:"now,omitempty" doc:"the line as it is"`
	Was     string `json:"was,omitempty" doc:"the line when the thread was begun"`

	Capture string `json:"capture,omitempty" doc:"id"`
	Frame   int    `json:"frame,omitempty" doc:"number of the frame"`
	Offset  int    `json:"offset,omitempty" doc:"of its bytes"`
	Length  int    `json:"length,omitempty" doc:"bytes"`

	Open       bool        `json:"open"`
	Concerns   bool        `json:"concerns,omitempty" doc:"it is open, and mentions the person who asks or is a suggestion of another one that they may accept"`
	By         string      `json:"by" doc:"who began it"`
	At         time.Time   `json:"at"`
	Changed    time.Time   `json:"changed"`
	ClosedBy   string      `json:"closedBy,omitempty"`
	Remarks    []Remark    `json:"remarks"`
	Suggestion *Suggestion `json:"suggestion,omitempty"`
}

// Remark is a text in a thread.
type Remark struct {
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	Text     string    `json:"text"`
	Mentions []string  `json:"mentions,omitempty" doc:"names after an @"`
}

// Suggestion is a changed or new text of a definition or a code map that somebody else is to accept.
type Suggestion struct {
	State string `json:"state" enum:"open,accepted,declined"`
	Base  string `json:"base" doc:"the text that was changed; empty for a new file"`
	Text  string `json:"text" doc:"the text that is suggested"`
}

// ThreadError reports why something cannot be done with a thread.
type ThreadError struct {
	Reason string
	Gone   bool // there is no such thread
	Full   bool // a bound is reached
}

func (e *ThreadError) Error() string { return e.Reason }

// threads are those of a workspace.
type threads struct {
	mu   sync.Mutex
	read bool
	all  []*storedThread
	text map[string]string // by file: the text that the places are in
}

// storedThread is a thread in its file.
type storedThread struct {
	Thread
	From int `json:"from"` // UTF-16 units from the start of the text
	To   int `json:"to"`

	Accepting *accepting `json:"accepting,omitempty"`
}

// accepting says that a suggestion is being accepted. If the program ends meanwhile, the next start sees by the file whether it was.
type accepting struct {
	By       string         `json:"by"`
	Revision store.Revision `json:"revision"` // of the file with the suggestion
}

func (x *storedThread) accepted(by string) {
	x.Suggestion.State, x.Open, x.ClosedBy, x.Accepting = "accepted", false, by, nil
}

// isNew reports whether a thread suggests a file that did not exist.
func (x *Thread) isNew() bool { return x.Suggestion != nil && x.Suggestion.Base == "" }

// isCodeMap reports whether a file of a name has codes of messages.
func (s *Snapshot) isCodeMap(name string) bool {
	return s.Dialect.Codes != nil && s.Dialect.Codes.Is(name)
}

// finishThreads closes suggestions that the program had accepted when it ended. It is called before anything else changes the files.
func (w *Workspace) finishThreads() {
	if w.Home == nil {
		return
	}
	t := &w.threads
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := w.loadThreads(); err != nil {
		return // whoever opens the threads sees it
	}
	changed := false
	for _, x := range t.all {
		if x.Accepting == nil || x.Suggestion == nil {
			continue
		}
		f, err := w.Files.Read(x.File)
		if err != nil && !notThere(err) {
			continue
		}
		if changed = true; err == nil && f.Revision == x.Accepting.Revision {
			x.accepted(x.Accepting.By)
		}
		x.Accepting = nil
	}
	if changed {
		if err := w.storeThreads(); err != nil {
			w.Log.Error("a suggestion that was accepted stays open", "project", w.Name, "error", err)
		}
	}
}

type storedThreads struct {
	Texts   map[string]string `json:"texts"`
	Threads []*storedThread   `json:"threads"`
}

// loadThreads reads the file once. The caller holds the lock.
func (w *Workspace) loadThreads() error {
	t := &w.threads
	if t.read {
		return nil
	}
	if w.Home == nil {
		return &ThreadError{Reason: "this project keeps no comments"}
	}
	var stored storedThreads
	_, err := w.Home.Load(threadsFile, store.JSON(&stored))
	if store.Unusable(err) {
		stored, err = storedThreads{}, nil
	}
	if err != nil {
		return fmt.Errorf("the comments of the project cannot be read: %w", err)
	}
	t.all, t.text, t.read = stored.Threads, stored.Texts, true
	if t.text == nil {
		t.text = map[string]string{}
	}
	t.all = slices.DeleteFunc(t.all, func(x *storedThread) bool { return x == nil || x.ID == "" || len(x.Remarks) == 0 })
	return nil
}

// storeThreads writes the file. The caller holds the lock. After an error the threads are those of the file.
func (w *Workspace) storeThreads() error {
	t := &w.threads
	used := map[string]string{}
	for _, x := range t.all {
		if x.File != "" && (x.Open || x.From < x.To) {
			used[x.File] = t.text[x.File]
		}
	}
	text, err := json.Marshal(storedThreads{used, t.all})
	if err == nil && len(text) > maxThreadBytes {
		err = &ThreadError{Reason: fmt.Sprintf("the comments of a project have at most %d MiB: delete old ones", maxThreadBytes>>20), Full: true}
	}
	if err == nil {
		_, err = w.Home.Write(threadsFile, append(text, '\n'), nil)
	}
	if err != nil {
		t.read = false
	}
	return err
}

// settleThreads maps the places in definitions that have another text than before. The caller holds the lock.
func (w *Workspace) settleThreads(snap *Snapshot) (changed bool) {
	t := &w.threads
	for file, was := range t.text {
		f := snap.File(file)
		if f == nil {
			continue // perhaps it comes back
		}
		now := source.UnixLines(f.Text)
		if now == was {
			continue
		}
		change := collab.Between(collab.NewText(was), collab.NewText(now))
		for _, x := range t.all {
			if x.File == file && x.From < x.To {
				x.From, x.To = change.Position(x.From, 1), change.Position(x.To, -1)
				x.To = max(x.From, x.To)
			}
		}
		t.text[file] = now
		changed = true
	}
	return changed
}

// shown returns a thread as others see it: its line and field are those of the present text.
func (w *Workspace) shown(snap *Snapshot, x *storedThread, lines map[string]map[int]string) Thread {
	out := x.Thread
	if x.Suggestion != nil {
		s := *x.Suggestion
		out.Suggestion = &s
	}
	out.Line, out.Path, out.Now, out.Message = 0, "", "", ""
	f := snap.File(x.File)
	if x.File == "" || f == nil {
		if out.New = x.isNew(); out.New && !snap.isCodeMap(x.File) {
			out.Message = snap.NameOfNew(path.Base(x.File))
		}
		return out
	}
	beside := snap.MessagesOf(f)
	if len(beside) > 0 {
		out.Message = snap.NameOf(beside[0])
	}
	if x.From >= x.To {
		return out
	}
	text := collab.NewText(w.threads.text[x.File])
	if x.To > len(text) {
		return out
	}
	before := text[:x.From].String()
	out.Line = strings.Count(before, "\n") + 1
	start := strings.LastIndexByte(before, '\n') + 1
	rest, _, _ := strings.Cut(before[start:]+text[x.From:].String(), "\n")
	out.Now = quote(rest)
	if lines[x.File] == nil {
		lines[x.File] = fieldsOf(snap, f)
	}
	out.Path = lines[x.File][out.Line]
	from := 0 // messages may have another order than their texts
	for _, m := range beside {
		if line := f.Position(m.Span.Start).Line; from <= line && line <= out.Line {
			from, out.Message = line, snap.NameOf(m)
		}
	}
	return out
}

// fieldsOf returns the paths of the fields of a file by line.
func fieldsOf(snap *Snapshot, f *source.File) map[int]string {
	out := map[int]string{}
	for _, m := range snap.MessagesOf(f) {
		p, err := snap.Program(m)
		if err != nil {
			continue
		}
		for i := range p.Fields {
			if line := p.Line(uint16(i)); out[line] == "" {
				out[line] = string(p.AppendFieldPath(nil, uint16(i)))
			}
		}
	}
	return out
}

func quote(line string) string {
	r := []rune(strings.TrimSpace(line))
	return string(r[:min(len(r), maxQuote)])
}

// Threads returns all threads, the newest change first; none if the workspace keeps none.
func (w *Workspace) Threads() ([]Thread, error) {
	if w.Home == nil {
		return nil, nil
	}
	snap := w.Now()
	t := &w.threads
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := w.loadThreads(); err != nil {
		return nil, err
	}
	w.settleThreads(snap) // stored with the next change
	out := make([]Thread, 0, len(t.all))
	lines := map[string]map[int]string{}
	for _, x := range t.all {
		out = append(out, w.shown(snap, x, lines))
	}
	slices.SortStableFunc(out, func(a, b Thread) int { return b.Changed.Compare(a.Changed) })
	return out, nil
}

var mention = regexp.MustCompile(`(?:^|[\s(,;])@([\p{L}\p{N}_.-]{1,60})`)

// Concerning returns whether a thread concerns a person: it is open, and mentions them, or is a suggestion of somebody else and they may accept it.
// The name is "" for somebody who has none.
func Concerning(name string, accepts bool) func(Thread) bool {
	at := regexp.MustCompile(`(?i)(?:^|[\s(,;])@` + regexp.QuoteMeta(name) + `[.-]*(?:$|[^\p{L}\p{N}_.-])`) // names of accounts may have spaces
	return func(x Thread) bool {
		return x.Open && (accepts && x.Suggestion != nil && (name == "" || x.By != name) ||
			name != "" && slices.ContainsFunc(x.Remarks, func(r Remark) bool { return at.MatchString(r.Text) }))
	}
}

// remark checks a text.
func remark(by, text string) (Remark, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Remark{}, &ThreadError{Reason: "a comment has a text"}
	case len(text) > maxRemark:
		return Remark{}, &ThreadError{Reason: fmt.Sprintf("a comment has at most %d bytes", maxRemark)}
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }):
		return Remark{}, &ThreadError{Reason: "a comment is text without control characters"}
	}
	r := Remark{By: by, At: time.Now().UTC().Truncate(time.Millisecond), Text: text}
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimRight(m[1], ".-"); name != "" && !slices.Contains(r.Mentions, name) {
			r.Mentions = append(r.Mentions, name)
		}
	}
	return r, nil
}

// NewThread is what a thread is begun with.
type NewThread struct {
	File       string
	Line       int
	Capture    string
	Frame      int
	Offset     int
	Length     int
	Text       string
	Suggestion *Suggestion // nil for a comment
}

// Begin adds a thread.
func (w *Workspace) Begin(by string, n NewThread) (Thread, error) {
	r, err := remark(by, n.Text)
	if err != nil {
		return Thread{}, err
	}
	return w.changeThreads(func(snap *Snapshot) (*storedThread, error) {
		t := &w.threads
		if len(t.all) >= maxThreads {
			return nil, &ThreadError{Reason: fmt.Sprintf("a project has at most %d comments and suggestions: delete old ones", maxThreads), Full: true}
		}
		x := &storedThread{Thread: Thread{ID: rand.Text(), Open: true, By: by, At: r.At, Remarks: []Remark{r}}}
		if n.File == "" {
			if n.Suggestion != nil {
				return nil, &ThreadError{Reason: "a suggestion is for a definition"}
			}
			x.Capture, x.Frame, x.Offset, x.Length = n.Capture, n.Frame, n.Offset, n.Length
			t.all = append(t.all, x)
			return x, nil
		}
		if s := n.Suggestion; s != nil {
			if len(s.Text) > maxSuggestion || len(s.Base) > maxSuggestion {
				return nil, &ThreadError{Reason: fmt.Sprintf("a suggested text has at most %d bytes", maxSuggestion)}
			}
			x.Suggestion = &Suggestion{State: "open", Base: source.UnixLines(s.Base), Text: source.UnixLines(s.Text)}
			if x.Suggestion.Base == x.Suggestion.Text {
				return nil, &ThreadError{Reason: "the suggestion changes nothing"}
			}
		}
		f := snap.File(n.File)
		if x.File = n.File; f == nil && x.isNew() {
			if err := w.checkName(n.File, []byte(n.Suggestion.Text)); err != nil {
				return nil, err
			}
			t.text[x.File] = ""
			t.all = append(t.all, x)
			return x, nil
		}
		if f == nil {
			return nil, NotFound(n.File, func() string { return "" })
		}
		now := source.UnixLines(f.Text)
		t.text[f.Name] = now
		if s := x.Suggestion; s != nil {
			n.Line = max(n.Line, firstChange(s.Base, now, s.Text))
		}
		lines := strings.SplitAfter(now, "\n")
		if n.Line < 1 || n.Line > len(lines) {
			return nil, &ThreadError{Reason: fmt.Sprintf("%s has no line %d", f.Name, n.Line)}
		}
		before := strings.Join(lines[:n.Line-1], "")
		line := strings.TrimSuffix(lines[n.Line-1], "\n")
		indent := len(line) - len(strings.TrimLeft(line, " \t-"))
		x.From = len(collab.NewText(before + line[:indent]))
		x.To = x.From + len(collab.NewText(strings.TrimRight(line[indent:], " \t")))
		if x.To == x.From { // an empty line: its end, as far as there is one
			x.To = min(x.From+1, len(collab.NewText(now)))
		}
		x.Was = quote(line)
		t.all = append(t.all, x)
		return x, nil
	})
}

// firstChange returns the line of the first change of a suggestion in the present text.
func firstChange(base, now, text string) int {
	at := 0
	for at < min(len(base), len(text)) && base[at] == text[at] {
		at++
	}
	return min(strings.Count(base[:at], "\n"), strings.Count(now, "\n")) + 1
}

// Answer adds a remark to a thread. A closed thread is opened again.
func (w *Workspace) Answer(by, id, text string) (Thread, error) {
	r, err := remark(by, text)
	if err != nil {
		return Thread{}, err
	}
	return w.changeThread(id, func(x *storedThread) error {
		if len(x.Remarks) >= maxRemarks {
			return &ThreadError{Reason: fmt.Sprintf("a thread has at most %d comments: begin another one", maxRemarks), Full: true}
		}
		x.Remarks = append(x.Remarks, r)
		if x.Suggestion == nil {
			x.Open, x.ClosedBy = true, ""
		}
		return nil
	})
}

// Resolve closes or opens a thread. A suggestion that is closed so is declined.
func (w *Workspace) Resolve(by, id string, open bool) (Thread, error) {
	return w.changeThread(id, func(x *storedThread) error {
		if s := x.Suggestion; s != nil {
			if s.State == "accepted" {
				return &ThreadError{Reason: "the suggestion was accepted"}
			}
			s.State = map[bool]string{true: "open", false: "declined"}[open]
		}
		x.Open, x.ClosedBy = open, ""
		if !open {
			x.ClosedBy = by
		}
		return nil
	})
}

// Forget removes a thread.
func (w *Workspace) Forget(id string) error {
	_, err := w.changeThreads(func(*Snapshot) (*storedThread, error) {
		t := &w.threads
		i := slices.IndexFunc(t.all, func(x *storedThread) bool { return x.ID == id })
		if i < 0 {
			return nil, errNoThread
		}
		x := t.all[i]
		t.all = slices.Delete(t.all, i, i+1)
		return x, nil
	})
	return err
}

var errNoThread = &ThreadError{Reason: "there is no such comment or suggestion", Gone: true}

// Merged returns a suggestion, the present text of its definition, "" if there is none, and that text with the suggested changes. Where both have
// changed a place since, both texts are there. Of one that is closed the texts are those that it was made of.
func (w *Workspace) Merged(id string) (x Thread, now, merged string, err error) {
	if x, err = w.suggestion(id); err != nil {
		return x, "", "", err
	}
	if x.Suggestion.State != "open" {
		return x, x.Suggestion.Base, x.Suggestion.Text, nil
	}
	now, merged, err = w.merged(x)
	return x, now, merged, err
}

// suggestion returns a copy of a thread with a suggestion.
func (w *Workspace) suggestion(id string) (x Thread, err error) {
	t := &w.threads
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := w.loadThreads(); err != nil {
		return x, err
	}
	i := slices.IndexFunc(t.all, func(x *storedThread) bool { return x.ID == id && x.Suggestion != nil })
	if i < 0 {
		return x, errNoThread
	}
	x = t.all[i].Thread
	s := *x.Suggestion
	x.Suggestion = &s
	return x, nil
}

func (w *Workspace) merged(x Thread) (now, merged string, err error) {
	snap, s := w.Now(), x.Suggestion
	f := snap.File(x.File)
	switch {
	case f != nil:
		now = source.UnixLines(f.Text)
	case !x.isNew():
		return "", "", &ThreadError{Reason: "the definition " + x.File + " is gone"}
	}
	text, isClear := collab.MergeClearly(collab.NewText(s.Base), collab.NewText(s.Text), collab.NewText(now))
	if merged = text.String(); now == s.Text { // as of a file that has come into being since
		merged = now
	} else if snap.isCodeMap(x.File) && f != nil && (!isClear || x.isNew()) {
		return snap.mergedCodes(f, s)
	}
	return now, merged, nil
}

// mergedCodes gives the codes of a suggestion to a code map that others have changed at the same lines.
func (s *Snapshot) mergedCodes(f *source.File, of *Suggestion) (now, merged string, err error) {
	before, _ := s.Dialect.Codes.Read(source.New(f.Name, of.Base))
	after, _ := s.Dialect.Codes.Read(source.New(f.Name, of.Text))
	g := GivenCodes{}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if was, ok := before[name]; !ok || was != after[name] {
			g.Codes = append(g.Codes, GivenCode{name, after[name]})
		}
	}
	if now, merged, err = s.withCodes(f.Name, g); err != nil {
		err = &ThreadError{Reason: err.Error() + ": it was given since the suggestion was made"}
	}
	return source.UnixLines(now), source.UnixLines(merged), err
}

// suggestedCode returns the code that the newest open suggestion for a code map gives a message, nil if none does.
func (w *Workspace) suggestedCode(name string) *uint32 {
	codes := w.Now().Dialect.Codes
	t := &w.threads
	t.mu.Lock()
	defer t.mu.Unlock()
	if codes == nil || w.loadThreads() != nil {
		return nil
	}
	for _, x := range slices.Backward(t.all) {
		if x.Open && x.Suggestion != nil && codes.Is(x.File) {
			given, _ := codes.Read(source.New(x.File, x.Suggestion.Text))
			if code, ok := given[name]; ok {
				return &code
			}
		}
	}
	return nil
}

// Accept writes the changes of a suggestion into its definition, or its text into a new file, and closes it. The history names who has suggested it
// and who accepts it.
func (w *Workspace) Accept(by, id string) (Thread, error) {
	x, err := w.suggestion(id)
	if err != nil {
		return Thread{}, err
	}
	if x.Suggestion.State != "open" {
		return Thread{}, &ThreadError{Reason: "the suggestion is no longer open"}
	}
	now, merged, err := w.merged(x)
	if err != nil {
		return Thread{}, err
	}
	f, err := w.Files.Read(x.File)
	switch {
	case err == nil && x.isNew() && merged != x.Suggestion.Text && !w.Now().isCodeMap(x.File):
		return Thread{}, &ThreadError{Reason: x.File + " exists since the suggestion was made, with another text: open the suggestion in the editor"}
	case err != nil && x.isNew() && notThere(err):
		merged, err = w.LikeOthers(merged), nil
	}
	if err != nil {
		return Thread{}, err
	}
	if source.UnixLines(string(f.Text)) != now {
		return Thread{}, &ThreadError{Reason: "the definition has just changed: look again"}
	}
	if strings.Contains(string(f.Text), "\r\n") {
		merged = strings.ReplaceAll(merged, "\n", "\r\n")
	}
	mark := func(a *accepting) error {
		_, err := w.changeThread(id, func(x *storedThread) error {
			x.Accepting = a
			return nil
		})
		return err
	}
	if err := mark(&accepting{by, store.RevisionOf([]byte(merged))}); err != nil {
		return Thread{}, err
	}
	who := []string{by, x.By}
	if by == "" || by == x.By {
		who = who[1:]
	}
	if w.Now().isCodeMap(x.File) {
		err = w.acceptCodes(x.By, by, who, history.Change{Name: x.File, Before: f.Text, After: []byte(merged)})
	} else {
		_, err = w.SaveBy(who, x.File, []byte(merged), &f.Revision)
	}
	if err != nil {
		return Thread{}, errors.Join(err, mark(nil))
	}
	return w.changeThread(id, func(x *storedThread) error {
		x.accepted(by)
		if text := w.threads.text[x.File]; x.isNew() { // it has a place from now on
			line, _, _ := strings.Cut(text, "\n")
			x.To = len(collab.NewText(line))
		}
		return nil
	})
}

// changeThread changes a thread.
func (w *Workspace) changeThread(id string, change func(x *storedThread) error) (Thread, error) {
	return w.changeThreads(func(*Snapshot) (*storedThread, error) {
		for _, x := range w.threads.all {
			if x.ID == id {
				return x, change(x)
			}
		}
		return nil, errNoThread
	})
}

// changeThreads changes the threads and stores them.
func (w *Workspace) changeThreads(change func(snap *Snapshot) (*storedThread, error)) (Thread, error) {
	snap := w.Now()
	t := &w.threads
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := w.loadThreads(); err != nil {
		return Thread{}, err
	}
	w.settleThreads(snap)
	x, err := change(snap)
	if err != nil {
		return Thread{}, err
	}
	x.Changed = time.Now().UTC().Truncate(time.Millisecond)
	if err := w.storeThreads(); err != nil {
		return Thread{}, err
	}
	return w.shown(snap, x, map[string]map[int]string{}), nil
}

// moveThreads makes threads follow renamed definitions.
func (w *Workspace) moveThreads(files []history.Renaming) {
	if w.Home == nil {
		return
	}
	t := &w.threads
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := w.loadThreads(); err != nil {
		return
	}
	moved := false
	for _, r := range files {
		for _, x := range t.all {
			if x.File == r.From {
				x.File, moved = r.To, true
			}
		}
		if text, ok := t.text[r.From]; ok {
			delete(t.text, r.From)
			t.text[r.To] = text
		}
	}
	if moved {
		if err := w.storeThreads(); err != nil {
			w.Log.Error("the comments on a renamed definition stay under its old name", "project", w.Name, "error", err)
		}
	}
}
