package proxy

import (
	"net/netip"
	"sync"
	"time"
)

// intake is the queue between the reader and the relay of a UDP socket. Systems buffer few datagrams per socket, so the reader does nothing
// else, and bursts wait here.
type intake struct {
	mu     sync.Mutex
	next   burst
	used   int  // bytes of the last chunk in use
	bytes  int  // in next, and in the burst being relayed
	closed bool // no more datagrams will come

	wake chan struct{}
}

// burst is a list of datagrams with the chunks that hold their bytes.
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
	maxIntake    = 4 << 20 // maximum bytes waiting per socket
	datagramCost = 64      // bytes charged per datagram in addition to its own
)

func newIntake() *intake { return &intake{wake: make(chan struct{}, 1)} }

// put adds a datagram, and reports whether there was room.
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

// close reports the end of the datagrams.
func (t *intake) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	poke(t.wake)
}

// each calls f for each datagram until the intake is closed and empty. The bytes are valid only during the call.
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
		if cap(b.list) > 1<<12 { // drop memory that was needed only for a burst
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
