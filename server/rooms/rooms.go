package rooms

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"wirebench/server/admit"
	"wirebench/server/collab"
	"wirebench/server/history"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds.
const (
	maxRooms   = 500
	maxMembers = 500 // of a room: as many as there are pages
	maxName    = 60  // bytes of the name of a person
)

// Errors of joining and of members.
var (
	ErrNoFile  = errors.New("the file does not exist")
	ErrFull    = errors.New("too many people or files are open")
	ErrClosed  = errors.New("the file was deleted or renamed")
	ErrLarge   = fmt.Errorf("a text that is edited together has at most %d characters", maxText)
	ErrReading = errors.New("view only: changing definitions needs the role author")
)

// Set is the set of open rooms. The zero value is empty.
type Set struct {
	Log     *slog.Logger
	Changed func(project string) // somebody has opened or left a text; may be nil

	Suggested func(project string) // there is a suggestion; may be nil

	// Work bounds the work that changes of one person cost, in all texts.
	work     admit.Rate
	workOnce sync.Once

	// mu guards rooms and ended. It is held for a moment: never while a text is opened, read, merged or written, and never while the lock of a
	// room is waited for, since it is the one lock that all projects share.
	mu    sync.Mutex
	rooms map[place]*slot
	ended bool
	all   supervise.Group

	begunMu sync.Mutex
	begun   map[place]begunLog // guarded by begunMu, which is held for a moment
}

// slot holds the room of a place: while it is opened, or its log is begun anew without it, others wait for ready.
type slot struct {
	ready chan struct{} // closed when room or err is set
	room  *Room
	err   error
	left  func() // of the group of the set
}

// open returns the room, nil while there is none.
func (x *slot) open() *Room {
	select {
	case <-x.ready:
		return x.room
	default:
		return nil
	}
}

// place identifies the text of a room.
type place struct {
	ws   *workspace.Workspace
	file string
}

// Join opens the text of a file for a person, until Leave. Without a file that is a definition that was begun and not saved; a person who has a
// text to begin with begins one.
func (s *Set) Join(ctx context.Context, ws *workspace.Workspace, file string, who Person, have Have) (*Member, error) {
	if len(who.Name) > maxName {
		return nil, fmt.Errorf("a name has at most %d bytes", maxName)
	}
	at := place{ws, file}
	if !who.Writes {
		have.Begin = nil
	}
	for {
		r, ending, err := s.room(ctx, at, have.Begin)
		if err != nil {
			return nil, err
		}
		if ending != nil { // its text goes to the file first
			select {
			case <-ending:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		m, err := r.join(who, have)
		if m != nil {
			m.left = func() { s.changed(ws.Name) }
			s.changed(ws.Name)
		}
		if m != nil || err != nil {
			return m, err
		}
	}
}

func (s *Set) changed(project string) {
	if s.Changed != nil {
		s.Changed(project)
	}
}

// openIn returns the open rooms of the projects for which in returns true.
func (s *Set) openIn(in func(*workspace.Workspace) bool) (out []*Room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, x := range s.rooms {
		if r := x.open(); r != nil && in(at.ws) {
			out = append(out, r)
		}
	}
	return out
}

// Settle writes the texts of a project that are saved as people type to their files. One that its file refuses, one with errors, and one that
// is still not written after settleTime stay in their rooms, as those do that somebody saves.
func (s *Set) Settle(ws *workspace.Workspace) {
	open := s.openIn(func(of *workspace.Workspace) bool { return of == ws })
	for _, r := range open {
		r.kick(r.now)
	}
	for end := time.Now().Add(settleTime); len(open) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		open = slices.DeleteFunc(open, (*Room).isSettled)
	}
}

// settleTime bounds the wait of Settle.
const settleTime = 2 * time.Second

// Rename moves the texts of files that rename gives other names, with what is not saved of them. People who have one open are told.
func (s *Set) Rename(ws *workspace.Workspace, files []history.Renaming, rename func() error) error {
	s.Settle(ws)
	to := map[string]*Moved{}
	for _, f := range files {
		if _, moves := to[f.To]; !moves {
			to[f.To] = nil
		}
		to[f.From] = &Moved{File: f.To}
	}
	return s.move(ws, to, func() error { return moveTexts(ws, files, rename) })
}

// moveTexts moves the logs of files that rename gives other names.
func moveTexts(ws *workspace.Workspace, files []history.Renaming, rename func() error) error {
	var moved []history.Renaming
	for _, f := range files {
		if ws.Now().File(f.To) != nil { // a name that is taken is refused
			continue
		}
		log, err := place{ws, f.To}.readLog()
		if err == nil && log != nil && isBegun(log.Text) {
			err = ErrTaken
		}
		if err == nil {
			err = place{ws, f.From}.moveLog(f.To)
		}
		if err != nil {
			return errors.Join(err, moveBack(ws, moved))
		}
		moved = append(moved, f)
	}
	if err := rename(); err != nil {
		return errors.Join(err, moveBack(ws, moved))
	}
	return nil
}

func moveBack(ws *workspace.Workspace, moved []history.Renaming) (err error) {
	for _, f := range slices.Backward(moved) {
		err = errors.Join(err, (place{ws, f.To}).moveLog(f.From))
	}
	return err
}

// move calls act while no text of some files is open. It is told where the texts are then, nil for those that stay: people who have one open are
// told after act, if it succeeds.
func (s *Set) move(ws *workspace.Workspace, to map[string]*Moved, act func() error) (err error) {
	for _, name := range slices.Sorted(maps.Keys(to)) { // in order, so that two of them never wait for each other
		x, was, busy := s.occupy(place{ws, name})
		if busy != nil {
			return busy
		}
		defer func() {
			s.leave(place{ws, name}, x)
			for _, r := range was {
				r.settleMove(to[name], err)
			}
		}()
	}
	return act()
}

// occupy ends the room of a place, without writing its file, and keeps others from opening one until leave. was has those that have ended: their
// members wait until settleMove.
func (s *Set) occupy(at place) (x *slot, was []*Room, err error) {
	for {
		x, mine, err := s.enter(at, false)
		if err != nil || mine {
			return x, was, err
		}
		<-x.ready
		if r := x.room; r != nil {
			r.locked(func() { r.moving = true })
			r.end(ErrClosed)
			<-r.ended
			was = append(was, r)
		}
	}
}

// settleMove tells the members of a room that has ended where its text is; that it is where it was if err is not nil.
func (r *Room) settleMove(to *Moved, err error) {
	r.locked(func() {
		if r.moving = false; err == nil {
			r.movedTo = to
		}
		r.wakeAll()
	})
}

// Typed returns the text of a file as people have typed it, if that is not saved.
func (s *Set) Typed(ws *workspace.Workspace, file string) (text string, ok bool) {
	at := place{ws, file}
	x, mine, err := s.enter(at, false)
	if err != nil {
		return "", false
	}
	if mine { // nobody has it open
		defer s.leave(at, x)
		r, err := open(at, false, s.Log)
		if err != nil {
			return "", false
		}
		return r.doc.Text().String(), !r.unsaved.IsEmpty()
	}
	<-x.ready
	if r := x.room; r != nil {
		r.locked(func() { text, ok = r.doc.Text().String(), !r.unsaved.IsEmpty() })
	}
	return text, ok
}

// Forget removes earlier texts from the log of a text, and what was kept aside of damaged logs: only the present text stays.
func (s *Set) Forget(ws *workspace.Workspace, file string) error {
	at := place{ws, file}
	x, mine, err := s.enter(at, false)
	if err != nil {
		return err
	}
	if !mine {
		<-x.ready
		if r := x.room; r == nil || !r.forgetLog() { // it was not opened, or has ended
			return s.Forget(ws, file)
		}
		return at.remove(at.asideFile())
	}
	defer s.leave(at, x)
	r, err := open(at, false, s.Log)
	switch {
	case errors.Is(err, ErrNoFile), errors.Is(err, ErrLarge): // no room can use it
		err = at.removeLog()
	case err == nil && r.logSize > 0:
		err = r.beginLog(r.doc.Text().String(), r.doc.Version(), r.marks, r.fileEntry())
	}
	if err != nil {
		return err
	}
	return at.remove(at.asideFile())
}

// forgetLog begins the log anew. It returns false if the room has ended instead.
func (r *Room) forgetLog() bool {
	r.mu.Lock()
	r.forget = true
	before := r.forgotten
	r.mu.Unlock()
	r.kick(r.work)
	for {
		r.mu.Lock()
		done := r.forgotten > before
		r.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-r.ended:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}

// FilePeople are the people who have a file open.
type FilePeople struct {
	File   string `json:"file"`
	People []Seen `json:"people"`
}

// People returns who has which texts of a project open, by file.
func (s *Set) People(project string) []FilePeople {
	open := s.openIn(func(of *workspace.Workspace) bool { return of.Name == project })
	out := []FilePeople{}
	for _, r := range open {
		r.mu.Lock()
		if people := r.others(nil); len(people) > 0 {
			out = append(out, FilePeople{r.file, people})
		}
		r.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b FilePeople) int { return strings.Compare(a.File, b.File) })
	return out
}

// Counts are those of the open rooms.
type Counts struct {
	Rooms, People, Unsaved int // Unsaved: rooms whose texts are not those of their files
}

// Counts counts the open rooms of all projects.
func (s *Set) Counts() (c Counts) {
	for _, r := range s.openIn(func(*workspace.Workspace) bool { return true }) {
		r.locked(func() {
			c.Rooms++
			c.People += len(r.others(nil))
			if !r.unsaved.IsEmpty() {
				c.Unsaved++
			}
		})
	}
	return c
}

// enter returns the slot of a place. It is mine if there was none: then the caller sets the room or leaves. One for a room
// that stays open counts for maxRooms.
func (s *Set) enter(at place, stays bool) (x *slot, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x = s.rooms[at]; x != nil {
		return x, false, nil
	}
	if stays && (s.ended || len(s.rooms) >= maxRooms) {
		return nil, false, ErrFull
	}
	if s.rooms == nil {
		s.rooms = map[place]*slot{}
	}
	x = &slot{ready: make(chan struct{}), left: s.all.Enter()}
	s.rooms[at] = x
	return x, true, nil
}

// leave frees a place, whose room has ended or was not opened.
func (s *Set) leave(at place, x *slot) {
	s.mu.Lock()
	delete(s.rooms, at)
	s.mu.Unlock()
	if x.open() == nil {
		close(x.ready)
	}
	x.left()
}

// room returns the room of a text, or a channel that is closed when the room that is ending has ended.
func (s *Set) room(ctx context.Context, at place, begin *string) (r *Room, ending <-chan struct{}, err error) {
	x, mine, err := s.enter(at, true)
	if err != nil {
		return nil, nil, err
	}
	if !mine {
		select {
		case <-x.ready:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		switch r := x.room; {
		case x.err != nil:
			return nil, nil, x.err
		case r == nil: // it was not to be opened
			return nil, x.ready, nil
		case r.isEnding():
			return nil, r.ended, nil
		default:
			return r, nil, nil
		}
	}
	defer func() {
		if r == nil { // also after a panic
			x.err = err
			s.leave(at, x)
		}
	}()
	if begin != nil {
		if err = s.mayBegin(at); err != nil {
			return nil, nil, err
		}
	}
	if r, err = open(at, begin != nil, s.Log); err != nil {
		return nil, nil, err
	}
	r.spend, r.saidFile = s.works().Spend, func() { s.changed(at.ws.Name) }
	if s.Suggested != nil {
		r.suggested = func() { s.Suggested(at.ws.Name) }
	}
	x.room = r
	close(x.ready)
	supervise.Go("shared text", nil, func() {
		defer close(r.ended)
		defer s.leave(at, x)
		if err := supervise.Do("shared text", func() error { r.run(); return nil }); err != nil {
			r.end(err)
		}
	})
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended { // Close did not see it
		r.end(nil)
	}
	return r, nil, nil
}

// Open returns the number of open rooms.
func (s *Set) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rooms)
}

// Close ends all rooms and waits until their texts are in the files.
func (s *Set) Close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	for _, r := range s.openIn(func(*workspace.Workspace) bool { return true }) {
		r.end(nil)
	}
	s.all.Wait()
}

// Bounds of the work of one person, in steps: see collab.Document.Work. Somebody who types does a few hundred steps a second.
const (
	workPerSecond = collab.MaxSteps
	workAtOnce    = 4 * collab.MaxSteps
)

// works returns the allowances for work.
func (s *Set) works() *admit.Rate {
	s.workOnce.Do(func() { s.work.PerSecond, s.work.AtOnce = workPerSecond, workAtOnce })
	return &s.work
}

// bytesPerStep is the number of bytes of a message whose reading is a step of work.
const bytesPerStep = 2

// Wait waits until a person may do more work in texts, and charges the reading of a message of that many bytes.
func (s *Set) Wait(ctx context.Context, who string, message int) error {
	wait := s.works().Wait(who)
	s.works().Spend(who, float64(message/bytesPerStep))
	if wait == 0 {
		return nil
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
