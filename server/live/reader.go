package live

import (
	"context"
	"io"
	"time"
)

// Bounds of what a reader is given.
const (
	BatchTime  = 100 * time.Millisecond // between two batches at least
	maxBatch   = 8192                   // frames
	maxBehind  = 1 << 16                // frames: who is farther behind goes on with the newest
	keepBehind = maxBatch               // frames that are left for who was too far behind
)

// Touch tells readers that something beside the frames has changed.
func (l *Log) Touch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touched++
	l.wake()
}

// Close reports the end of the frames. The frames in the log can still be read.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wake()
}

// wake lets those who wait look again.
func (l *Log) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Batch is the news for a reader.
type Batch struct {
	From, To int  // the frames from From to To-1; there may be none. Some can be let go before they are read: Each passes over them
	Missed   int  // so many frames before From were skipped: the log does not keep them any more, or the reader was too slow
	Touched  bool // Touch was called since the last batch
}

// Reader follows a log. It holds nothing but its place, so however slow it is, it stalls neither traffic nor other readers. It is for one
// goroutine.
type Reader struct {
	log     *Log
	next    int
	touched int64
	every   time.Duration
	last    time.Time
}

// Follow makes a reader that starts with the frame of index since; a negative since, or one that is yet to come, is the next frame
// that comes. It needs no closing.
func (l *Log) Follow(since int) *Reader {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if since < 0 || since > l.Len() {
		since = l.Len()
	}
	return &Reader{log: l, next: since, touched: l.touched, every: BatchTime}
}

// Next waits until something is new, and at least BatchTime after the last batch. The error is that of the context, or io.EOF after
// the last frame of a log that was closed.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	if wait := r.every - time.Since(r.last); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
	for {
		b, changed, err := r.look()
		if changed == nil {
			r.last = time.Now()
			return b, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
}

// look takes what is new, or returns what to wait for.
func (r *Reader) look() (Batch, <-chan struct{}, error) {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	n, base := l.Len(), l.Base()
	if n == r.next && l.touched == r.touched {
		if l.closed {
			return Batch{}, nil, io.EOF
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		return Batch{}, l.changed, nil
	}
	from := max(r.next, base)
	if n-from > maxBehind {
		from = n - keepBehind
	}
	b := Batch{From: from, To: min(n, from+maxBatch), Missed: from - r.next, Touched: l.touched != r.touched}
	r.next, r.touched = b.To, l.touched
	return b, nil, nil
}
