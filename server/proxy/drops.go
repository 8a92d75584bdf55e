package proxy

import (
	"net"
	"sync"
	"syscall"
)

// drops counts the datagrams of a UDP session dropped because they arrived too fast: by the system, or at an intake.
type drops struct {
	mu      sync.Mutex
	sockets map[net.Conn]*dropsOf
	n       int64
	told    int64 // the number already reported
	unknown bool
	small   bool // the receive buffer is smaller than requested
}

// dropsOf is the state of a socket.
type dropsOf struct {
	last uint32
	conn *conn // connection to the server; nil for a listener
}

// watch adds a socket, and enlarges its receive buffer.
func (d *drops) watch(socket net.Conn, c *conn) {
	if b, ok := socket.(interface{ SetReadBuffer(int) error }); ok {
		_ = b.SetReadBuffer(socketBuffer) // the system may limit it
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sockets == nil {
		d.sockets = map[net.Conn]*dropsOf{}
	}
	d.sockets[socket] = &dropsOf{conn: c}
}

// leave reads the counter of a socket a last time; the socket must still be open.
func (d *drops) leave(socket net.Conn) (more int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x := d.sockets[socket]; x != nil {
		d.ask(socket, x)
		delete(d.sockets, socket)
	}
	return d.news()
}

// look reads the counters of all sockets, and returns the number of datagrams dropped since the last call.
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

// add counts a datagram for which an intake had no room.
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
	if !ok { // not a system socket
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
	more := int64(now - x.last) // the counter wraps around
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

// tellDrops reports dropped datagrams as an event.
func (s *Session) tellDrops(n int64) {
	if n == 0 {
		return
	}
	s.drops.mu.Lock()
	small := s.drops.small
	s.drops.mu.Unlock()
	text := "datagrams were dropped because they arrived too fast; they are counted, but missing in log and recording"
	if small {
		text += ". The receive buffer of the socket is smaller than requested (net.core.rmem_max)"
	}
	s.events.add(Warning, "%s", text)
}
