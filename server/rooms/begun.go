package rooms

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"wirebench/defs/source"
	"wirebench/server/collab"
	"wirebench/server/workspace"
)

// A definition that was begun and not saved has a room and a log, and no file: everybody can open it, and what is typed is safe. It gets its file
// once somebody saves it, and is gone when people leave it without a text. One whose file was deleted while lines of it were not saved is the
// same: its text stays, and is merged with the file if that comes back.

// Bounds of definitions that were begun and not saved.
const (
	maxBegun     = 500    // of a project
	maxBegunLogs = 10_000 // of which it is known whether they are
)

// ErrTaken is the error for a name that another definition has.
var ErrTaken = errors.New("there is a definition of that name already")

// Begun returns the definitions of a project that were begun and not saved: the names of their future files, in order.
func (s *Set) Begun(ws *workspace.Workspace) (files []string) {
	for _, r := range s.openIn(func(of *workspace.Workspace) bool { return of == ws }) {
		if r.isBegun() {
			files = append(files, r.file)
		}
	}
	names, _ := logsOf(ws)
	for _, name := range names {
		if ws.Now().File(name) == nil && !slices.Contains(files, name) && s.hasBegun(place{ws, name}) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

// begunLog is what is known of a log without a file, until the log changes.
type begunLog struct {
	size  int64
	at    time.Time
	begun bool
}

// hasBegun reports whether the log of a place is that of a definition that was begun. A log is read again when it has changed.
func (s *Set) hasBegun(at place) bool {
	x, err := at.ws.Home.Stat(at.logFile())
	if err != nil {
		return false
	}
	now := begunLog{size: x.Size(), at: x.ModTime()}
	s.begunMu.Lock()
	k, ok := s.begun[at]
	s.begunMu.Unlock()
	if ok && k.size == now.size && k.at.Equal(now.at) {
		return k.begun
	}
	f, err := at.readLog()
	now.begun = err == nil && f != nil && isBegun(f.Text)
	s.begunMu.Lock()
	defer s.begunMu.Unlock()
	if s.begun == nil || len(s.begun) > maxBegunLogs {
		s.begun = map[place]begunLog{}
	}
	s.begun[at] = now
	return now.begun
}

// logsOf returns the names of the files that have a log.
func logsOf(ws *workspace.Workspace) (files []string, err error) {
	if ws.Home == nil {
		return nil, nil
	}
	names, err := ws.Home.Below(logFolder)
	for _, name := range names {
		if file, ok := strings.CutSuffix(strings.TrimPrefix(name, logFolder+"/"), logEnding); ok && !strings.HasSuffix(name, asideEnding) {
			files = append(files, file)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

// mayBegin returns an error if no definition can be begun with a file name.
func (s *Set) mayBegin(at place) error {
	if at.ws.Now().File(at.file) != nil {
		return nil // it is opened
	}
	if err := at.ws.CheckNew(at.file); err != nil {
		return err
	}
	if f, err := at.readLog(); err != nil || f != nil {
		return err
	}
	if n := len(s.Begun(at.ws)); n >= maxBegun {
		return fmt.Errorf("%d definitions of the project are not saved: save or discard some", n)
	}
	return nil
}

// MoveBegun gives a definition that was begun and not saved another name. People who have it open are told.
func (s *Set) MoveBegun(ws *workspace.Workspace, from string, to Moved) error {
	if from == to.File {
		return nil
	}
	if err := ws.CheckNew(to.File); err != nil {
		return err
	}
	if s.isTaken(ws, to.File) {
		return ErrTaken
	}
	return s.move(ws, map[string]*Moved{from: &to, to.File: nil}, func() error {
		if s.isTaken(ws, to.File) { // since then
			return ErrTaken
		}
		return place{ws, from}.moveLog(to.File)
	})
}

// isTaken reports whether a definition has the file name, saved or not.
func (s *Set) isTaken(ws *workspace.Workspace, file string) bool {
	return ws.Now().File(file) != nil || slices.Contains(s.Begun(ws), file)
}

// hasFile ends the state without a file. The caller holds the lock.
func (r *Room) hasFile() {
	if r.begun {
		r.begun, r.former = false, nil
		r.sayFile()
	}
}

// sayFile announces that the file was made, or has gone. The caller holds the lock.
func (r *Room) sayFile() {
	if r.saidFile != nil {
		r.saidFile()
	}
}

// keepGone keeps a text that is not saved without its file. It returns false if all of it is saved.
func (r *Room) keepGone() (kept bool) {
	r.locked(func() {
		if kept = !r.unsaved.IsEmpty(); !kept {
			return
		}
		former := r.fileText
		r.begun, r.former, r.raw, r.fileText, r.wills, r.outside = true, &former, "", "", nil, outside{}
		r.unsaved = collab.Between(nil, r.doc.Text())
		r.entries = append(r.entries, r.fileEntry())
		r.setState(FileState{})
		r.sayFile()
	})
	if kept {
		r.flush()
	}
	return kept
}

// baseOf returns the text that another program has most likely changed into a new text of the file: its last text, or the one that was deleted.
func (r *Room) baseOf(raw string) string {
	if r.former == nil {
		return r.fileText
	}
	return nearest([]fileText{{text: *r.former}, {}}, source.UnixLines(raw))
}

// isBegun reports whether there is no file yet.
func (r *Room) isBegun() (is bool) {
	r.locked(func() { is = r.begun })
	return is
}

// endBegun removes the log of a definition without a text.
func (r *Room) endBegun() {
	empty := false
	r.locked(func() { empty = r.logged == r.doc.Version() && strings.TrimSpace(r.doc.Text().String()) == "" })
	if !empty {
		return
	}
	if err := r.removeLog(); err != nil {
		r.log.Error("the log of a definition without a text stays", "error", err)
	}
}
