package socket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/server/supervise"
	"wirebench/server/wsconn"
)

// Bounds of the connections of a Set.
const (
	maxOpen     = 500
	maxOfOne    = 200 // of one person
	forOperator = 50  // of all, for operators alone
)

// goodbyeTime is the time that a page has to answer a closing handshake.
const goodbyeTime = time.Second

// Reasons why a connection was refused.
var (
	ErrFull       = errors.New("too many pages are open, or the server is shutting down")
	ErrFullForOne = fmt.Errorf("you have %d pages open: close some first", maxOfOne)
)

// Set is the set of open connections. The zero value is empty.
type Set struct {
	mu     sync.Mutex
	ended  bool
	cancel map[*wsconn.Conn]context.CancelFunc
	owners map[*wsconn.Conn]string
	of     map[string]int // connections by person
	queued map[string]*atomic.Int64
	wait   sync.WaitGroup
}

// Owner is the person of a connection.
type Owner struct {
	Key      string
	Operator bool // may have the last connections
}

// All returns the open connections.
func (s *Set) All() []*wsconn.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.cancel))
}

// Add adds a connection to the set, until Remove. Close calls cancel.
func (s *Set) Add(c *wsconn.Conn, cancel context.CancelFunc, by Owner) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := maxOpen
	if !by.Operator {
		most -= forOperator
	}
	switch {
	case s.ended || len(s.cancel) >= most:
		return ErrFull
	case s.of[by.Key] >= maxOfOne:
		return ErrFullForOne
	}
	if s.cancel == nil {
		s.cancel, s.owners, s.of = map[*wsconn.Conn]context.CancelFunc{}, map[*wsconn.Conn]string{}, map[string]int{}
	}
	s.cancel[c], s.owners[c] = cancel, by.Key
	if s.of[by.Key]++; s.queued == nil {
		s.queued = map[string]*atomic.Int64{}
	}
	if s.queued[by.Key] == nil {
		s.queued[by.Key] = &atomic.Int64{}
	}
	s.wait.Add(1)
	return nil
}

// Queued returns the count of the bytes that wait in the connections of the person of one of them, for Serve.
func (s *Set) Queued(c *wsconn.Conn) *atomic.Int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued[s.owners[c]]
}

// Remove removes a connection from the set.
func (s *Set) Remove(c *wsconn.Conn) {
	s.mu.Lock()
	if key := s.owners[c]; s.of[key] > 1 {
		s.of[key]--
	} else {
		delete(s.of, key)
		delete(s.queued, key)
	}
	delete(s.cancel, c)
	delete(s.owners, c)
	s.mu.Unlock()
	s.wait.Done()
}

// Close closes the connections of all pages and waits until they have ended. A connection whose page does not answer is dropped.
func (s *Set) Close(ctx context.Context) {
	s.mu.Lock()
	s.ended = true
	for c, cancel := range s.cancel {
		s.wait.Add(1)
		supervise.Go("page", nil, func() {
			defer s.wait.Done()
			defer cancel()
			goodbye, stop := context.WithTimeout(ctx, goodbyeTime)
			defer stop()
			defer supervise.After(goodbye, "page", c.Drop)()
			c.GoAway()
		})
	}
	s.mu.Unlock()
	s.wait.Wait()
}
