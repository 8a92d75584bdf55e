package proxy

import (
	"net"
	"sync"
	"syscall"
)

// drops counts datagrams of a session of UDP that were dropped as they came faster than they were taken: by the system, or at an intake.
type drops struct {
	mu      sync.Mutex
	sockets map[net.Conn]*dropsOf
	n       int64
	told    int64 // of them
	unknown bool
	small   bool // the system has given less room than was asked for
}

// dropsOf is a socket.
type dropsOf struct {
	last uint32
	conn *conn // whose server sends to it; nil of a listener
}

// watch adds a socket, and asks the system for room for what comes at once.
func (d *drops) watch(socket net.Conn, c *conn) {
	if b, ok := socket.(interface{ SetReadBuffer(int) error }); ok {
		_ = b.SetReadBuffer(socketBuffer) // as much as the system gives
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sockets == nil {
		d.sockets = map[net.Conn]*dropsOf{}
	}
	d.sockets[socket] = &dropsOf{conn: c}
}

// leave asks a last time; the socket is still open.
func (d *drops) leave(socket net.Conn) (more int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x := d.sockets[socket]; x != nil {
		d.ask(socket, x)
		delete(d.sockets, socket)
	}
	return d.news()
}

// look asks for all sockets, and returns how many datagrams were dropped since the last time.
func (d *drops) look() (more int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for socket, x := range d.sockets {
		d.ask(socket, x)
	}
	return d.news()
}

func (d *drops) news() int64 {
	more := d.n - d.told
	d.told = d.n
	return more
}

// add counts one that the proxy itself had no room for.
func (d *drops) add(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	if c != nil {
		c.dropped.Add(1)
	}
}

func (d *drops) ask(socket net.Conn, x *dropsOf) {
	c, ok := socket.(syscall.Conn)
	if !ok { // not one of the system's
		return
	}
	now, room, known, err := dropped(c)
	if err != nil {
		return
	}
	if !known {
		d.unknown = true
		return
	}
	d.small = d.small || room < socketBuffer
	more := int64(now - x.last) // it goes round
	x.last = now
	d.n += more
	if x.conn != nil {
		x.conn.dropped.Add(more)
	}
}

func (d *drops) state() (n int64, unknown bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n, d.unknown
}

// tellDrops shows that datagrams were dropped.
func (s *Session) tellDrops(n int64) {
	if n == 0 {
		return
	}
	s.drops.mu.Lock()
	small := s.drops.small
	s.drops.mu.Unlock()
	text := "datagrams were dropped: they came faster than they could be taken; they are counted, and in neither log nor recording"
	if small {
		text += ". The system gives a socket less room than the proxy asks for (net.core.rmem_max)"
	}
	s.events.add(Warning, "%s", text)
}
