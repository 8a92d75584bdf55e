package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"wirebench/defs/schema"
)

// Sizes of the memory that bytes pass through.
const (
	smallBuffer = 8 << 10   // of a direction that carries little
	largeBuffer = 256 << 10 // of one that fills small buffers
	chunkSize   = 64 << 10  // in which small pieces wait
	handOver    = 64 << 10  // a piece as large as this waits in the buffer it was read to; smaller ones are copied
)

// buffer is memory that the relay and the observer hold together; who lets go last gives it back.
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

// release lets go of a buffer. Small ones are left to the garbage collector.
func (b *buffer) release() {
	if b.refs.Add(-1) == 0 && len(b.data) == largeBuffer {
		largeBuffers.Put(b)
	}
}

type what uint8

const (
	opened what = iota
	carried
	ended  // one direction of a stream
	closed // and nothing more comes
	framed // a frame that a rewriter has found
)

// item is one observation.
type item struct {
	what  what
	dir   schema.Dir
	at    int64 // nanoseconds since 1970
	conn  *conn
	bytes []byte
	buf   *buffer  // that holds bytes; nil: a chunk of the batch does
	lost  [2]int64 // bytes that were not observed before this, in the direction to the server and to the client
	piece uint32   // number of what came and is sent just so; 0: of nothing
	seen  *sighting
}

// batch is what the observer takes at once.
type batch struct {
	items  []item
	chunks []*[]byte
	memory int // bytes that it holds
}

// queue is between the relay and the observer. Nobody who puts something in ever waits for who takes it out: what does not fit is counted
// as lost. What says that a connection or a direction ends always fits: there is room for it from the start of the connection on.
type queue struct {
	maxItems, maxMemory int

	mu     sync.Mutex
	next   batch
	used   int // bytes of chunk
	memory int // of next, and of the batch at the observer
	closed bool
	lost   int64 // bytes, in all
	unseen int   // connections that the observer does not know

	wake chan struct{}
}

func newQueue(items, memory int) *queue {
	return &queue{maxItems: items, maxMemory: memory, wake: make(chan struct{}, 1)}
}

// signal lets the observer look. It is apart from put, so that bytes are on their way before.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// open puts a new connection.
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

// put puts bytes, and reports whether the observer holds buf now. buf is nil for bytes that must be copied.
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

// sent puts bytes that a rewriter sends, at most chunkSize. piece is the number of what came, if it goes on as it came.
func (q *queue) sent(c *conn, dir schema.Dir, at time.Time, bytes []byte, piece uint32) {
	q.add(c, dir, at, bytes, nil, piece)
}

// frame puts a frame that a rewriter has found, and reports whether there was room.
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

// end puts the end of a direction, or of the connection.
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

// take returns what has come, in exchange for the batch before. done says that nothing more comes.
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
	if cap(before.items) <= 1<<12 { // what a moment needed is not kept for ever
		q.next.items, q.next.chunks = before.items[:0], before.chunks[:0]
	}
	q.used = 0
	return b, false
}

// miss counts bytes that are recorded and that nobody has read.
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

// Every datagram fits a chunk.
var _ [chunkSize - maxDatagram]struct{}
