package captures

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"wirebench/codec/pcap"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of growing captures.
const (
	growPatience = 2 * time.Minute       // a capture that has not grown for this long is complete
	growPause    = time.Second           // minimum time between two readings of a file that must be read from its start
	maxGrowing   = 1000                  // number of growing captures at a time
	rereadPause  = 10 * time.Millisecond // minimum time between two checks for awaited frames
)

// growing is the suffix of the key of a capture that is read as it grows.
const growing = "/grows"

// growth is the state of a growing capture.
type growth struct {
	size int64 // bytes on disk
	at   time.Time
}

// Grown reports that a capture has grown. Readers at its end continue; otherwise the open capture is closed, so that it is read again when
// opened next, and pages that list it are notified by Stale.
func (c *Set) Grown(ws, id string, size int64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := ws + "/" + id
	for k, g := range c.grows {
		if now.Sub(g.at) > streamPatience || len(c.grows) >= maxGrowing {
			delete(c.grows, k)
		}
	}
	c.grows[key] = growth{size, now}
	for k, o := range c.open {
		if k != key && !strings.HasPrefix(k, key+"/") || o.readsOn(size) {
			continue
		}
		close(o.stale)
		if o.held == 0 {
			o.stop()
		}
		delete(c.open, k)
	}
}

// Follow is like Get, but the log of a capture to which another program appends grows with the file.
func (c *Set) Follow(ws *workspace.Workspace, snap *workspace.Snapshot, x store.Capture) (*Capture, error) {
	c.mu.Lock()
	g, ok := c.grows[ws.Name+"/"+x.ID]
	c.mu.Unlock()
	grows := ok && time.Since(g.at) <= growPatience && x.Framing == "" && canReadOn(ws.Captures, x.ID)
	if grows {
		x.Size = max(x.Size, g.size)
	}
	return c.find(ws, snap, x, true, grows)
}

// readsOn passes the new size of the file to its reader. It returns false if there is none.
func (o *Capture) readsOn(size int64) bool {
	if o.tail == nil || !o.tail.grow(size) {
		return false
	}
	o.size.Store(size)
	o.log.Touch()
	return true
}

// canReadOn reports whether a file is an uncompressed packet capture, which is read packet by packet. Texts and raw bytes are read as a
// whole, and a compressed file ends where its compressed data ends.
func canReadOn(in *store.Captures, id string) bool {
	file, err := in.Open(id)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, pcap.SniffHead)
	n, _ := io.ReadFull(file, head) // shorter files have no format
	return pcap.SniffCapture(head[:n]) != ""
}

// tail reads a growing file: Read waits for more at the end, until the file has not grown for growPatience. It never reads beyond the
// reported size, because an append that fails is truncated again.
type tail struct {
	ctx      context.Context
	file     io.Reader
	patience time.Duration
	atEnd    func() // called whenever all available bytes have been read and processed

	mu    sync.Mutex
	size  int64         // bytes available
	read  int64         // bytes read
	more  chan struct{} // closed when size changes
	waits bool          // all available bytes have been read and processed
	last  error         // what the reader gets at the end, once nothing is appended any more; nil until then
	over  bool          // no more bytes will be read
}

func newTail(ctx context.Context, file io.Reader, size int64, atEnd func()) *tail {
	return &tail{ctx: ctx, file: file, patience: growPatience, atEnd: atEnd, size: size, more: make(chan struct{})}
}

// grow sets the size of the file. It returns false if the reader has ended.
func (t *tail) grow(size int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || size < t.read {
		return false
	}
	if size != t.size {
		t.size, t.waits = size, false
		close(t.more)
		t.more = make(chan struct{})
	}
	return true
}

// finish says that nothing is appended any more: at the end the reader gets an error.
func (t *tail) finish(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = err
		close(t.more)
		t.more = make(chan struct{})
	}
}

// idle reports whether all available bytes have been read and processed.
func (t *tail) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waits || t.over
}

// Read implements io.Reader for one goroutine, which must process the bytes it has read before it calls Read again.
func (t *tail) Read(p []byte) (int, error) {
	for {
		t.mu.Lock()
		left, more, last := t.size-t.read, t.more, t.last
		t.waits = left == 0
		t.mu.Unlock()
		if left == 0 && last != nil {
			return 0, last
		}
		if left > 0 {
			n, err := t.file.Read(p[:min(int64(len(p)), left)])
			t.mu.Lock()
			t.read += int64(n)
			if n == 0 && err != nil {
				t.over = true
			}
			t.mu.Unlock()
			if n > 0 && errors.Is(err, io.EOF) {
				err = nil // the file may grow
			}
			return n, err
		}
		t.atEnd()
		select {
		case <-more:
		case <-t.ctx.Done():
			return 0, t.ctx.Err()
		case <-time.After(t.patience):
			t.mu.Lock()
			t.over = t.size == t.read
			over := t.over
			t.mu.Unlock()
			if over {
				return 0, io.EOF
			}
		}
	}
}

// Grows reports whether the log may grow: the capture is of running traffic, or of a growing file.
func (o *Capture) Grows() bool { return (o.running || o.tail != nil) && !o.complete() }

// CaughtUp reports whether the log has all frames of the file as it is now.
func (o *Capture) CaughtUp() bool { return o.complete() || o.tail != nil && o.tail.idle() }

// Rest returns how long to wait before a capture is read again from its start, so that reading takes only a fraction of the time, whatever
// the size of the file.
func (o *Capture) Rest() time.Duration {
	if took := 3 * time.Duration(o.took.Load()); took > growPause {
		return took
	}
	return growPause
}
