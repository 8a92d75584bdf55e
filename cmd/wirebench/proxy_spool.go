package main

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// spool queues bytes to be pushed, in memory or in a file, up to a bound. Each piece belongs to a part, which is one file of the recording.
// The bytes of a part are contiguous: when a piece is dropped, so is the rest of its part. A spool is safe for concurrent use.
type spool struct {
	limit int64
	file  *os.File // nil: in memory

	mu      sync.Mutex
	pieces  []spooled
	used    int64
	end     int64 // bytes written to the file, a ring of limit bytes
	broken  int   // part whose remaining bytes are dropped
	closed  bool
	missing int64 // bytes
	wake    chan struct{}
}

// spooled is a piece: its bytes are data, or are in the file at offset at modulo limit.
type spooled struct {
	part int
	data []byte
	at   int64
	size int64
}

func newSpool(limit int64, file *os.File) *spool {
	return &spool{limit: limit, file: file, broken: -1, wake: make(chan struct{}, 1)}
}

// add appends a copy of data to a part. The error is why the part ends here; it is returned once for each part.
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
		err = fmt.Errorf("the spool is full: %d bytes are queued", s.used)
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

// around reads or writes at an offset of the file, a ring buffer.
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

// close ends the input.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.signal()
}

// lose discards the queue and ends the input.
func (s *spool) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing += s.used
	s.pieces, s.used, s.closed = nil, 0, true
	s.signal()
}

// next waits for bytes and returns the first ones of one part, at most about most of them, or none when the spool is closed and empty.
// They remain in the spool until release. Not safe for concurrent use.
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

// release removes the first n bytes.
func (s *spool) release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n > 0 && len(s.pieces) > 0 {
		p := s.pieces[0] // a copy: next may hold the old one
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

// lost returns the number of bytes dropped or discarded.
func (s *spool) lost() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing
}

// waiting returns the number of queued bytes.
func (s *spool) waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
