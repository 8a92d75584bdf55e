package rooms

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds.
const (
	maxRooms   = 500
	maxMembers = 100 // of a room
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

	mu    sync.Mutex
	rooms map[place]*Room
	ended bool
	all   supervise.Group
}

// place identifies the text of a room.
type place struct {
	ws   *workspace.Workspace
	file string
}

// Join opens the text of a file for a person, until Leave.
func (s *Set) Join(ctx context.Context, ws *workspace.Workspace, file string, who Person, have Have) (*Member, error) {
	if len(who.Name) > maxName {
		return nil, fmt.Errorf("a name has at most %d bytes", maxName)
	}
	at := place{ws, file}
	for {
		r, ending, err := s.room(at)
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

// Settle writes the texts of a project to their files, before files get other names. A text that its file refuses, and one that is still not
// written after settleTime, stays in its room.
func (s *Set) Settle(ws *workspace.Workspace) {
	s.mu.Lock()
	var open []*Room
	for at, r := range s.rooms {
		if at.ws == ws {
			open = append(open, r)
		}
	}
	s.mu.Unlock()
	for _, r := range open {
		r.kick(r.now)
	}
	for end := time.Now().Add(settleTime); len(open) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		open = slices.DeleteFunc(open, (*Room).isSettled)
	}
}

// settleTime bounds the wait of Settle.
const settleTime = 2 * time.Second

// Forget removes earlier texts from the log of a text, and what was kept aside of damaged logs: only the present text stays.
func (s *Set) Forget(ws *workspace.Workspace, file string) error {
	s.mu.Lock()
	r := s.rooms[place{ws, file}]
	s.mu.Unlock()
	at := place{ws, file}
	if r != nil && r.forgetLog() {
		return at.remove(at.asideFile())
	}
	return s.forgetClosed(at)
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

// forgetClosed is Forget for a text without a room.
func (s *Set) forgetClosed(at place) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rooms[at] != nil {
		return ErrFull // somebody has just opened it
	}
	r, err := open(at, s.Log)
	switch {
	case errors.Is(err, ErrNoFile), errors.Is(err, ErrLarge): // no room can use it
		err = at.removeLog()
	case err == nil && r.logSize > 0:
		err = r.beginLog(r.doc.Text().String(), r.doc.Version(), r.fileEntry())
	}
	if err != nil {
		return err
	}
	return at.remove(at.asideFile())
}

// FilePeople are the people who have a file open.
type FilePeople struct {
	File   string `json:"file"`
	People []Seen `json:"people"`
}

// People returns who has which texts of a project open, by file.
func (s *Set) People(project string) []FilePeople {
	s.mu.Lock()
	open := make([]*Room, 0, len(s.rooms))
	for at, r := range s.rooms {
		if at.ws.Name == project {
			open = append(open, r)
		}
	}
	s.mu.Unlock()
	out := []FilePeople{}
	for _, r := range open {
		r.mu.Lock()
		if people := r.others(&Member{version: r.logged}); len(people) > 0 {
			out = append(out, FilePeople{r.file, people})
		}
		r.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b FilePeople) int { return strings.Compare(a.File, b.File) })
	return out
}

// room returns the room of a text, or a channel that is closed when the room that is ending has ended.
func (s *Set) room(at place) (r *Room, ending <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r = s.rooms[at]; r != nil {
		if r.isEnding() {
			return nil, r.ended, nil
		}
		return r, nil, nil
	}
	if s.ended || len(s.rooms) >= maxRooms {
		return nil, nil, ErrFull
	}
	if r, err = open(at, s.Log); err != nil {
		return nil, nil, err
	}
	if s.rooms == nil {
		s.rooms = map[place]*Room{}
	}
	s.rooms[at] = r
	s.all.Go("shared text", nil, func() {
		defer close(r.ended)
		defer s.forget(at)
		if err := supervise.Do("shared text", func() error { r.run(); return nil }); err != nil {
			r.end(err)
		}
	})
	return r, nil, nil
}

// forget removes a room that has ended: the next one to join opens it again.
func (s *Set) forget(at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rooms, at)
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
	for _, r := range s.rooms {
		r.end(nil)
	}
	s.mu.Unlock()
	s.all.Wait()
}
