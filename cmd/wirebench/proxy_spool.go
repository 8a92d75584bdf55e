package main

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// spool keeps what waits to be pushed, in memory or in a file, up to a bound. What is put in belongs to a part, the file that it is of; nothing
// may be missing inside a part, so one that does not fit ends there. It may be used by all goroutines.
type spool struct {
	limit int64
	file  *os.File // nil: in memory

	mu      sync.Mutex
	pieces  []spooled
	used    int64
	end     int64 // bytes that were put in the file, which begins anew after limit bytes
	broken  int   // part that something is missing of already
	closed  bool
	missing int64 // bytes
	wake    chan struct{}
}

// spooled is a piece: its bytes are data, or stand in the file.
type spooled struct {
	part int
	data []byte
	at   int64
	size int64
}

func newSpool(limit int64, file *os.File) *spool {
	return &spool{limit: limit, file: file, broken: -1, wake: make(chan struct{}, 1)}
}

// add puts a piece of a part in, and copies it. The error says why from here on the part is not taken any more, once for each part.
func (s *spool) add(part int, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == part || s.closed {
		s.missing += int64(len(data))
		return nil
	}
	p := spooled{part: part, at: s.end, size: int64(len(data))}
	var err error
	switch {
	case s.used+p.size > s.limit:
		err = fmt.Errorf("the spool is full: %d bytes wait", s.used)
	case s.file != nil:
		if err = s.around(s.file.WriteAt, data, s.end); err == nil {
			s.end += p.size
		}
	default:
		p.data = append([]byte(nil), data...)
	}
	if err != nil {
		s.broken = part
		s.missing += p.size
		return err
	}
	s.used += p.size
	s.pieces = append(s.pieces, p)
	s.signal()
	return nil
}

// around reads or writes at a place in the file that is used round and round.
func (s *spool) around(f func([]byte, int64) (int, error), data []byte, at int64) error {
	at %= s.limit
	first := min(int64(len(data)), s.limit-at)
	_, err := f(data[:first], at)
	if err == nil && first < int64(len(data)) {
		_, err = f(data[first:], 0)
	}
	return err
}

func (s *spool) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// close says that nothing more is put in.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.signal()
}

// lose lets go of what waits, and takes no more.
func (s *spool) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing += s.used
	s.pieces, s.used, s.closed = nil, 0, true
	s.signal()
}

// next waits for bytes, and returns those of one part that come first, about as many as are wanted at most; none when the spool is closed and
// empty. They stay until release. For one goroutine.
func (s *spool) next(ctx context.Context, most int64) (part int, data []byte, err error) {
	for {
		s.mu.Lock()
		pieces, closed := s.pieces, s.closed
		s.mu.Unlock()
		if len(pieces) > 0 {
			part = pieces[0].part
			for _, p := range pieces {
				if p.part != part || len(data) > 0 && int64(len(data))+p.size > most {
					break
				}
				if p.data != nil {
					data = append(data, p.data...)
					continue
				}
				at := len(data)
				data = append(data, make([]byte, p.size)...)
				if err := s.around(s.file.ReadAt, data[at:], p.at); err != nil {
					return part, nil, fmt.Errorf("read the spool: %w", err)
				}
			}
			return part, data, nil
		}
		if closed {
			return 0, nil, nil
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// release lets go of the first bytes.
func (s *spool) release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n > 0 && len(s.pieces) > 0 {
		p := s.pieces[0] // a copy: next may have the old one
		cut := min(n, p.size)
		n -= cut
		s.used -= cut
		if cut == p.size {
			s.pieces = s.pieces[1:]
			continue
		}
		p.at, p.size = p.at+cut, p.size-cut
		if p.data != nil {
			p.data = p.data[cut:]
		}
		s.pieces = append([]spooled{p}, s.pieces[1:]...)
	}
	if len(s.pieces) == 0 {
		s.pieces = nil
	}
}

// lost is how many bytes were not taken, or were let go.
func (s *spool) lost() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing
}

// waiting is how many bytes wait.
func (s *spool) waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
