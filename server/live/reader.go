package live

import (
	"context"
	"io"
	"time"
)

// Bounds of the batches of a reader.
const (
	BatchTime  = 100 * time.Millisecond // minimum time between two batches
	maxBatch   = 8192                   // frames
	maxBehind  = 1 << 16                // frames: a reader farther behind skips to the newest
	keepBehind = maxBatch               // frames left for a reader that skips
)

// Touch notifies readers of a change outside the frames, such as new definitions.
func (l *Log) Touch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touched++
	l.wake()
}

// Close marks the end of the log. Its frames can still be read.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wake()
}

// Changed returns a channel that is closed with the next change: a frame, a call of Touch or Close. A caller that obtains the channel
// before it looks at the log misses nothing.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.change()
}

// change implements Changed. The caller holds mu.
func (l *Log) change() <-chan struct{} {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// wake closes the channel of Changed. The caller holds mu.
func (l *Log) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Batch describes the news for a reader.
type Batch struct {
	From, To int  // the frames from From to To-1, possibly none. Some may be discarded before they are read; Each skips these
	Missed   int  // number of frames skipped before From: the log no longer retains them, or the reader was too slow
	Touched  bool // Touch was called since the last batch
}

// Reader follows a log. It holds nothing but its position, so a slow reader delays neither the traffic nor other readers. It is for one
// goroutine.
type Reader struct {
	log     *Log
	next    int
	touched int64
	every   time.Duration
	last    time.Time
}

// Follow returns a reader that starts at the frame with index since. A negative index, or one beyond the end, selects the next frame to
// arrive. A reader need not be closed.
func (l *Log) Follow(since int) *Reader {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if since < 0 || since > l.Len() {
		since = l.Len()
	}
	return &Reader{log: l, next: since, touched: l.touched, every: BatchTime}
}

// Next waits until there is something new, and until at least BatchTime has passed since the last batch. The error is the error of the
// context, or io.EOF after the last frame of a closed log.
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

// look returns the next batch, or a channel to wait for.
func (r *Reader) look() (Batch, <-chan struct{}, error) {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	n, base := l.Len(), l.Base()
	if n == r.next && l.touched == r.touched {
		if l.closed {
			return Batch{}, nil, io.EOF
		}
		return Batch{}, l.change(), nil
	}
	from := max(r.next, base)
	if n-from > maxBehind {
		from = n - keepBehind
	}
	b := Batch{From: from, To: min(n, from+maxBatch), Missed: from - r.next, Touched: l.touched != r.touched}
	r.next, r.touched = b.To, l.touched
	return b, nil, nil
}
