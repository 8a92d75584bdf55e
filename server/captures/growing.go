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

// Bounds of captures that others go on with.
const (
	growPatience = 2 * time.Minute       // without a piece a capture is taken to be whole
	growPause    = time.Second           // at least, between two readings of a file that cannot be read on from where it ended
	maxGrowing   = 1000                  // known at once
	rereadPause  = 10 * time.Millisecond // between two looks of who waits for frames, while they come
)

// growing is the end of the key of a capture whose reader waits at the end of the file.
const growing = "/grows"

// growth is what is known of a capture that comes in pieces.
type growth struct {
	size int64 // bytes that are on the disk
	at   time.Time
}

// Grown says that there is more of a capture. Whoever reads on at its end gets it; who opens it from now on otherwise reads all of it, and
// pages that list what was read before are told by stale.
func (c *Set) Grown(ws, id string, size int64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := ws + "/" + id
	for k, g := range c.grows {
		if now.Sub(g.at) > growPatience || len(c.grows) >= maxGrowing {
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

// Follow is get for a page, which follows a capture that others go on with: its log grows with the file.
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

// readsOn tells who reads a file how large it is now. It is false if nobody reads on.
func (o *Capture) readsOn(size int64) bool {
	if o.tail == nil || !o.tail.grow(size) {
		return false
	}
	o.size.Store(size)
	o.log.Touch()
	return true
}

// canReadOn reports whether a file is one of packets, which are read one by one as they come. Texts and raw bytes are read as a whole, and
// what is packed ends where its packing says.
func canReadOn(in *store.Captures, id string) bool {
	file, err := in.Open(id)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [4]byte
	_, err = io.ReadFull(file, head[:])
	form := pcap.SniffCapture(head[:])
	return err == nil && form != "" && form != "gzip"
}

// tail is a file that grows: at its end whoever reads waits for more, until nothing has come for growPatience. It never reads beyond what
// it was told is there: a piece that fails on its way to the disk is taken back.
type tail struct {
	ctx      context.Context
	file     io.Reader
	patience time.Duration
	atEnd    func() // called each time all that is there was read and worked on

	mu    sync.Mutex
	size  int64         // bytes that are there
	read  int64         // bytes of them that were read
	more  chan struct{} // closed when size becomes another
	waits bool          // all is read, and what was read is worked on
	over  bool          // it has ended
}

func newTail(ctx context.Context, file io.Reader, size int64, atEnd func()) *tail {
	return &tail{ctx: ctx, file: file, patience: growPatience, atEnd: atEnd, size: size, more: make(chan struct{})}
}

// grow says how large the file is now. It is false if nobody reads on any more.
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

// idle reports whether all that is there was read and worked on.
func (t *tail) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waits || t.over
}

// Read implements io.Reader for one goroutine, which works on what it has read before it reads on.
func (t *tail) Read(p []byte) (int, error) {
	for {
		t.mu.Lock()
		left, more := t.size-t.read, t.more
		t.waits = left == 0
		t.mu.Unlock()
		if left > 0 {
			n, err := t.file.Read(p[:min(int64(len(p)), left)])
			t.mu.Lock()
			t.read += int64(n)
			if n == 0 && err != nil {
				t.over = true
			}
			t.mu.Unlock()
			if n > 0 && errors.Is(err, io.EOF) {
				err = nil // it may go on
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

// Grows reports whether a capture is of running traffic, or of a file that grows.
func (o *Capture) Grows() bool { return (o.running || o.tail != nil) && !o.complete() }

// CaughtUp reports whether all of the file that is there is in the log.
func (o *Capture) CaughtUp() bool { return o.complete() || o.tail != nil && o.tail.idle() }

// Rest is how long to wait before a capture is read again from its start, so that reading takes a part of the time alone, however large
// the file has become.
func (o *Capture) Rest() time.Duration {
	if took := 3 * time.Duration(o.took.Load()); took > growPause {
		return took
	}
	return growPause
}
