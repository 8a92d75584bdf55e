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

// goodbyeTime is how long a page may take to answer a goodbye.
const goodbyeTime = time.Second

// ErrFull refuses a connection.
var ErrFull = errors.New("too many pages are open, or the server ends")

// Set is all open connections. The zero value has none.
type Set struct {
	mu     sync.Mutex
	ended  bool
	cancel map[*wsconn.Conn]context.CancelFunc
	wait   sync.WaitGroup
}

// All is the connections that are open now.
func (s *Set) All() []*wsconn.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.cancel))
}

// Add makes a connection one of the set, until Remove. Close calls cancel.
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

// Remove takes a connection out of the set.
func (s *Set) Remove(c *wsconn.Conn) {
	s.mu.Lock()
	delete(s.cancel, c)
	s.mu.Unlock()
	s.wait.Done()
}

// Close says goodbye to all pages and waits until their connections have ended. A page that does not answer loses its connection.
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
