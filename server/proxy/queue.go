package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"wirebench/defs/schema"
)

// Sizes of buffers.
const (
	smallBuffer = 8 << 10   // for a direction with little traffic
	largeBuffer = 256 << 10 // for a direction that fills small buffers
	chunkSize   = 64 << 10  // for collecting small pieces
	handOver    = 64 << 10  // a piece of this size is queued in its read buffer; smaller ones are copied
)

// buffer is memory shared by the relay and the observer; the last one to release it returns it to the pool.
type buffer struct {
	data []byte
	refs atomic.Int32
}

var largeBuffers = sync.Pool{New: func() any { return &buffer{data: make([]byte, largeBuffer)} }}

var chunks = sync.Pool{New: func() any { b := make([]byte, chunkSize); return &b }}

func newLarge() *buffer {
	b := largeBuffers.Get().(*buffer)
	b.refs.Store(1)
	return b
}

// release releases a buffer. Small ones are left to the garbage collector.
func (b *buffer) release() {
	if b.refs.Add(-1) == 0 && len(b.data) == largeBuffer {
		largeBuffers.Put(b)
	}
}

type what uint8

const (
	opened what = iota
	carried
	ended  // a direction of a stream has ended
	closed // the connection has ended
	framed // a frame found by a rewriter
)

// item is one observation.
type item struct {
	what  what
	dir   schema.Dir
	at    int64 // nanoseconds since 1970
	conn  *conn
	bytes []byte
	buf   *buffer  // buffer that holds bytes; nil if a chunk of the batch does
	lost  [2]int64 // bytes not observed before this item, to the server and to the client
	piece uint32   // number of a received piece that is sent unchanged; 0 if there is none
	seen  *sighting
}

// batch is the set of items that the observer takes at once.
type batch struct {
	items  []item
	chunks []*[]byte
	memory int // bytes held by it
}

// queue is the queue between the relay and the observer. Adding never waits for the observer: items that do not fit are counted as lost.
// The end of a connection or direction always fits, as its room is reserved when the connection starts.
type queue struct {
	maxItems, maxMemory int

	mu     sync.Mutex
	next   batch
	used   int // bytes of chunk in use
	memory int // bytes in next, and in the batch of the observer
	closed bool
	lost   int64 // bytes, in total
	unseen int   // connections unknown to the observer

	wake chan struct{}
}

func newQueue(items, memory int) *queue {
	return &queue{maxItems: items, maxMemory: memory, wake: make(chan struct{}, 1)}
}

// signal wakes the observer. It is separate from put, so that bytes are sent first.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// open adds a new connection.
func (q *queue) open(c *conn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.next.items) >= q.maxItems {
		c.unseen = true
		q.unseen++
		return
	}
	q.next.items = append(q.next.items, item{what: opened, at: c.started.UnixNano(), conn: c})
}

// put adds bytes, and reports whether the observer holds buf now. buf is nil for bytes that must be copied.
func (q *queue) put(c *conn, dir schema.Dir, at time.Time, bytes []byte, buf *buffer) bool {
	return q.add(c, dir, at, bytes, buf, 0)
}

func (q *queue) add(c *conn, dir schema.Dir, at time.Time, bytes []byte, buf *buffer, piece uint32) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.unseen {
		return false
	}
	keep := buf != nil && len(buf.data) == largeBuffer && len(bytes) >= handOver
	cost := 0
	switch {
	case keep:
		cost = largeBuffer
	case len(q.next.chunks) == 0 || chunkSize-q.used < len(bytes):
		cost = chunkSize
	}
	if len(q.next.items) >= q.maxItems || q.memory+cost > q.maxMemory {
		c.pending[dir-schema.ToServer] += int64(len(bytes))
		c.lost.Add(int64(len(bytes)))
		q.lost += int64(len(bytes))
		return false
	}
	q.memory += cost
	q.next.memory += cost
	it := item{what: carried, dir: dir, at: at.UnixNano(), conn: c, lost: c.pending, piece: piece}
	c.pending = [2]int64{}
	if keep {
		buf.refs.Add(1)
		it.bytes, it.buf = bytes, buf
	} else {
		if cost > 0 {
			q.next.chunks = append(q.next.chunks, chunks.Get().(*[]byte))
			q.used = 0
		}
		chunk := *q.next.chunks[len(q.next.chunks)-1]
		end := q.used + copy(chunk[q.used:], bytes)
		it.bytes = chunk[q.used:end:end]
		q.used = end
	}
	q.next.items = append(q.next.items, it)
	return keep
}

// sent adds bytes sent by a rewriter, at most chunkSize. piece is the number of the received piece, if it is sent unchanged.
func (q *queue) sent(c *conn, dir schema.Dir, at time.Time, bytes []byte, piece uint32) {
	q.add(c, dir, at, bytes, nil, piece)
}

// frame adds a frame found by a rewriter, and reports whether there was room.
func (q *queue) frame(c *conn, f *sighting) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	cost := f.cost()
	if c.unseen || len(q.next.items) >= q.maxItems || q.memory+cost > q.maxMemory {
		return false
	}
	q.memory += cost
	q.next.memory += cost
	q.next.items = append(q.next.items, item{what: framed, at: f.At.UnixNano(), conn: c, seen: f})
	return true
}

// end adds the end of a direction, or of the connection.
func (q *queue) end(c *conn, w what, dir schema.Dir, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.unseen {
		return
	}
	q.next.items = append(q.next.items, item{what: w, dir: dir, at: at.UnixNano(), conn: c, lost: c.pending})
	c.pending = [2]int64{}
	c.unseen = w == closed
}

// take returns the queued items in exchange for the previous batch. done reports that no more will come.
func (q *queue) take(before batch) (b batch, done bool) {
	for i := range before.items {
		if buf := before.items[i].buf; buf != nil {
			buf.release()
		}
	}
	for _, c := range before.chunks {
		chunks.Put(c)
	}
	clear(before.items)
	clear(before.chunks)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.memory -= before.memory
	if len(q.next.items) == 0 {
		return batch{items: before.items[:0], chunks: before.chunks[:0]}, q.closed
	}
	b = q.next
	q.next = batch{}
	if cap(before.items) <= 1<<12 { // drop memory that was needed only for a burst
		q.next.items, q.next.chunks = before.items[:0], before.chunks[:0]
	}
	q.used = 0
	return b, false
}

// miss counts bytes that are recorded but were not decoded.
func (q *queue) miss(c *conn, n int) {
	c.lost.Add(int64(n))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost += int64(n)
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) losses() (bytes int64, conns int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost, q.unseen
}

// The size of a datagram is at most that of a chunk.
var _ [chunkSize - maxDatagram]struct{}
