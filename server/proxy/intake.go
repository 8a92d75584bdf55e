package proxy

import (
	"net/netip"
	"sync"
	"time"
)

// intake is between who reads a socket of UDP and who relays what came. The system keeps little for a socket, so the reader does nothing
// but read; a burst waits here.
type intake struct {
	mu     sync.Mutex
	next   burst
	used   int  // bytes of the last chunk
	bytes  int  // of next, and of what is being relayed
	closed bool // nothing more comes

	wake chan struct{}
}

// burst is datagrams with the chunks that hold their bytes.
type burst struct {
	list   []datagram
	chunks []*[]byte
	bytes  int
}

type datagram struct {
	from netip.AddrPort
	at   time.Time
	data []byte
}

const (
	maxIntake    = 4 << 20 // bytes of a socket that wait
	datagramCost = 64      // bytes that count for each beside its own
)

func newIntake() *intake { return &intake{wake: make(chan struct{}, 1)} }

// put takes a datagram, and reports whether there was room.
func (t *intake) put(from netip.AddrPort, at time.Time, data []byte) bool {
	t.mu.Lock()
	cost := len(data) + datagramCost
	if t.bytes+cost > maxIntake {
		t.mu.Unlock()
		return false
	}
	b := &t.next
	if len(b.chunks) == 0 || chunkSize-t.used < len(data) {
		b.chunks = append(b.chunks, chunks.Get().(*[]byte))
		t.used = 0
	}
	chunk := *b.chunks[len(b.chunks)-1]
	end := t.used + copy(chunk[t.used:], data)
	b.list = append(b.list, datagram{from, at, chunk[t.used:end:end]})
	t.used = end
	b.bytes += cost
	t.bytes += cost
	t.mu.Unlock()
	poke(t.wake)
	return true
}

// close says that nothing more comes.
func (t *intake) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	poke(t.wake)
}

// each gives datagrams to f until the intake is closed and empty. Their bytes are not kept.
func (t *intake) each(f func(datagram)) {
	var b burst
	for {
		t.mu.Lock()
		t.bytes -= b.bytes
		b, t.next = t.next, burst{list: b.list[:0], chunks: b.chunks[:0]}
		t.used = 0
		closed := t.closed
		t.mu.Unlock()
		for i := range b.list {
			f(b.list[i])
		}
		for _, c := range b.chunks {
			chunks.Put(c)
		}
		clear(b.chunks)
		if cap(b.list) > 1<<12 { // what a moment needed is not kept for ever
			b.list = nil
		}
		if len(b.chunks) > 0 {
			continue
		}
		if closed {
			return
		}
		<-t.wake
	}
}
