package socket

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"wirebench/server/wsconn"
)

// maxOpen bounds the connections of a Set.
const maxOpen = 500

// goodbyeTime is the time that a page has to answer a closing handshake.
const goodbyeTime = time.Second

// ErrFull reports that a connection was refused.
var ErrFull = errors.New("too many pages are open, or the server is shutting down")

// Set is the set of open connections. The zero value is empty.
type Set struct {
	mu     sync.Mutex
	ended  bool
	cancel map[*wsconn.Conn]context.CancelFunc
	wait   sync.WaitGroup
}

// All returns the open connections.
func (s *Set) All() []*wsconn.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.cancel))
}

// Add adds a connection to the set, until Remove. Close calls cancel.
func (s *Set) Add(c *wsconn.Conn, cancel context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.cancel) >= maxOpen {
		return ErrFull
	}
	if s.cancel == nil {
		s.cancel = map[*wsconn.Conn]context.CancelFunc{}
	}
	s.cancel[c] = cancel
	s.wait.Add(1)
	return nil
}

// Remove removes a connection from the set.
func (s *Set) Remove(c *wsconn.Conn) {
	s.mu.Lock()
	delete(s.cancel, c)
	s.mu.Unlock()
	s.wait.Done()
}

// Close closes the connections of all pages and waits until they have ended. A connection whose page does not answer is dropped.
func (s *Set) Close(ctx context.Context) {
	s.mu.Lock()
	s.ended = true
	for c, cancel := range s.cancel {
		s.wait.Go(func() {
			goodbye, stop := context.WithTimeout(ctx, goodbyeTime)
			defer stop()
			defer context.AfterFunc(goodbye, c.Drop)()
			c.GoAway()
			cancel()
		})
	}
	s.mu.Unlock()
	s.wait.Wait()
}
