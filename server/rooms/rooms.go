package rooms

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

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
	Log *slog.Logger

	mu    sync.Mutex
	rooms map[place]*Room
	ended bool
	all   sync.WaitGroup
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
		if m, err := r.join(who, have); m != nil || err != nil {
			return m, err
		}
	}
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
	s.all.Go(func() {
		r.run()
		s.mu.Lock()
		delete(s.rooms, at)
		s.mu.Unlock()
		close(r.ended)
	})
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
	for _, r := range s.rooms {
		r.end(nil)
	}
	s.mu.Unlock()
	s.all.Wait()
}
