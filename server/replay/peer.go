package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/supervise"
)

// Limits of a Wire.
const (
	maxQueue      = 4096             // received messages not yet taken; above it reading stops
	maxQueueBytes = 16 << 20         //
	maxOut        = 16 << 20         // bytes not read by the other end; above it the connection is given up
	readyWithin   = 30 * time.Second // for the handshake, or for room to send
	writeWithin   = 30 * time.Second
	lingers       = 2 * time.Second // at the end, for data in flight
	maxBadReads   = 100             // in a row, of datagrams: a port that is not open yet is not an error
	readSize      = 64 << 10
)

// ErrUnread reports that the other end does not read the data sent to it.
var ErrUnread = errors.New("the other end does not read what is sent")

// Link is a connected socket: a net.Conn is one.
type Link interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// Wire is a Peer made of a socket and an Endpoint. It is safe for concurrent use.
type Wire struct {
	link      Link
	datagrams bool
	done      supervise.Group

	mu      sync.Mutex
	end     transport.Endpoint
	relay   transport.Relay
	change  chan struct{} // closed when anything below has changed
	queue   []Message
	bytes   int // of queue
	out     [][]byte
	outSize int   // bytes, including those being written
	over    error // nothing more is received; io.EOF after an orderly end
	failed  error // nothing can be sent
	closed  bool
	bad     int // failed reads in a row
}

// NewWire starts a connection. With datagrams, each read and write of the link is a datagram. Close ends it.
func NewWire(link Link, end transport.Endpoint, datagrams bool) *Wire {
	w := &Wire{link: link, datagrams: datagrams, end: end, change: make(chan struct{})}
	w.relay = transport.Relay{
		Emit: func(f *transport.Frame) {
			if f.Kind == transport.Control {
				return
			}
			m := Copy(f)
			w.queue = append(w.queue, m)
			w.bytes += len(m.Bytes)
		},
		Out: func(s transport.Segment) {
			if len(s.Bytes) == 0 || w.failed != nil {
				return
			}
			w.out = append(w.out, append([]byte(nil), s.Bytes...))
			if w.outSize += len(s.Bytes); w.outSize > maxOut {
				w.failed = ErrUnread
			}
		},
	}
	w.locked(func() { w.end.Start(time.Now(), &w.relay) })
	w.done.Go("connection", w.fault, w.read)
	w.done.Go("connection", w.fault, w.write)
	return w
}

// fault ends the connection after a panic, which leaves the lock free.
func (w *Wire) fault(err error) {
	_ = w.link.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over == nil {
		w.over = err
	}
	if w.failed == nil {
		w.failed = err
	}
	w.changed()
}

// changed wakes all waiters. The lock is held.
func (w *Wire) changed() {
	close(w.change)
	w.change = make(chan struct{})
}

// locked calls f with the lock held, and wakes all waiters.
func (w *Wire) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed()
	f()
}

// await waits for a condition and returns with the lock held, unless there is an error, which is the context's.
func (w *Wire) await(ctx context.Context, holds func() bool) error {
	returned := false
	w.mu.Lock()
	defer func() {
		if !returned { // holds has panicked
			w.mu.Unlock()
		}
	}()
	for !holds() {
		change := w.change
		w.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			returned = true
			return ctx.Err()
		}
		w.mu.Lock()
	}
	returned = true
	return nil
}

// arm sets the read deadline to the endpoint's next timer. The lock is held, so the latest setting wins.
func (w *Wire) arm() { _ = w.link.SetReadDeadline(w.end.Due()) } // a closed socket returns an error on read

// read receives until the end.
func (w *Wire) read() {
	buf := make([]byte, readSize)
	for {
		if !w.room() {
			return
		}
		n, err := w.link.Read(buf)
		if w.received(buf[:n], err) {
			return
		}
	}
}

// received feeds what a read has returned, and reports whether it was the last.
func (w *Wire) received(data []byte, err error) (over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed()
	now := time.Now()
	if len(data) > 0 {
		w.bad = 0
		w.end.Feed(data, false, now, &w.relay)
	}
	if due := w.end.Due(); !due.IsZero() && !now.Before(due) {
		w.end.Tick(now, &w.relay)
	}
	switch {
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
		return false
	case w.datagrams && !errors.Is(err, net.ErrClosed) && w.bad < maxBadReads:
		w.bad++
		return false
	}
	w.over = err
	w.end.Feed(nil, true, now, &w.relay)
	return true
}

// room waits until there is room in the queue, and runs timers meanwhile. It returns false when the wire is closed.
func (w *Wire) room() bool {
	for {
		ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
		err := w.await(ctx, func() bool { return w.over != nil || len(w.queue) < maxQueue && w.bytes < maxQueueBytes })
		stop()
		if err == nil {
			defer w.mu.Unlock()
			w.arm()
			return w.over == nil
		}
		w.locked(func() { w.end.Tick(time.Now(), &w.relay) })
	}
}

// write sends pending data, until the end.
func (w *Wire) write() {
	for {
		_ = w.await(context.Background(), func() bool { return len(w.out) > 0 || w.closed || w.failed != nil })
		out := w.out
		w.out = nil
		over := len(out) == 0 || w.failed != nil
		w.mu.Unlock()
		if over {
			return
		}
		size := 0
		for _, data := range out {
			size += len(data)
		}
		err := w.writeAll(out)
		w.mu.Lock()
		w.outSize -= size
		if err != nil && w.failed == nil {
			w.failed = fmt.Errorf("send: %w", err)
		}
		w.changed()
		w.mu.Unlock()
	}
}

func (w *Wire) writeAll(out [][]byte) error {
	if err := w.link.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if !w.datagrams {
		var all []byte
		for _, data := range out {
			all = append(all, data...)
		}
		out = [][]byte{all}
	}
	for _, data := range out {
		if _, err := w.link.Write(data); err != nil && (!w.datagrams || errors.Is(err, net.ErrClosed)) {
			return err // other datagrams may get through, and the protocol retransmits reliable ones
		}
	}
	return nil
}

// Send sends a message, when the handshake is over and there is room.
func (w *Wire) Send(ctx context.Context, o transport.Outgoing) error {
	limited, stop := context.WithTimeout(ctx, readyWithin)
	defer stop()
	var never error
	why := ""
	err := w.await(limited, func() bool {
		never = nil
		ok, no, what := w.end.Ready()
		why = what
		switch {
		case w.failed != nil:
			never = w.failed
		case w.closed:
			never = transport.ErrClosed
		case no:
			never = errors.New(what)
		case !ok && w.over != nil:
			never = fmt.Errorf("the connection ended before: %s", what)
		case ok && (w.end.Unsent() > transport.WaitingEnough || w.outSize > transport.WaitingEnough):
			why = "the other end to read what was sent"
			return false
		}
		return ok || never != nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("waited %s for: %s", readyWithin, why)
	}
	defer w.mu.Unlock()
	if never != nil {
		return never
	}
	if err := w.end.Send(o, time.Now(), &w.relay); err != nil {
		return err
	}
	w.arm()
	w.changed()
	return w.failed
}

// Wait waits until messages can be sent, or the first message of the other end can be received. The error is the context's, or the reason why
// neither will happen.
func (w *Wire) Wait(ctx context.Context) error {
	err := w.await(ctx, func() bool {
		ok, never, _ := w.end.Ready()
		return ok || never || len(w.queue) > 0 || w.over != nil || w.failed != nil
	})
	if err != nil {
		return err
	}
	defer w.mu.Unlock()
	switch ok, never, why := w.end.Ready(); {
	case ok || len(w.queue) > 0:
		return nil
	case w.failed != nil:
		return w.failed
	case never:
		return errors.New(why)
	}
	return fmt.Errorf("the connection ended before: %w", w.over)
}

// Receive waits for the next frame.
func (w *Wire) Receive(ctx context.Context) (Message, error) {
	if err := w.await(ctx, func() bool { return len(w.queue) > 0 || w.over != nil }); err != nil {
		return Message{}, err
	}
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return Message{}, w.over
	}
	m := w.queue[0]
	w.queue[0] = Message{}
	w.queue = w.queue[1:]
	w.bytes -= len(m.Bytes)
	w.changed()
	return m, nil
}

// CloseWrite waits a short time for pending data to be written, and shuts down the sending side of a stream. Receive continues.
func (w *Wire) CloseWrite() error {
	ctx, stop := context.WithTimeout(context.Background(), lingers)
	defer stop()
	if w.await(ctx, func() bool { return w.failed != nil || w.outSize == 0 }) == nil {
		w.mu.Unlock()
	}
	if half, ok := w.link.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close sends the protocol's goodbye, waits a short time for data in flight, and closes the socket. It may be called again.
func (w *Wire) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), lingers)
	defer stop()
	if w.await(ctx, func() bool {
		return w.closed || w.failed != nil || w.over != nil || w.end.Unsent() == 0 && w.outSize == 0
	}) != nil {
		w.mu.Lock()
	}
	if w.closed {
		w.mu.Unlock()
		w.done.Wait()
		return nil
	}
	fault := supervise.Do("connection", func() error {
		defer w.mu.Unlock()
		defer w.changed()
		w.closed = true
		w.end.Close(time.Now(), &w.relay)
		return nil
	})
	if fault != nil {
		w.fault(fault)
	}
	// Unread data would make the system reset the connection and discard data in flight.
	if w.CloseWrite() == nil {
		if w.await(ctx, func() bool { w.queue, w.bytes = nil, 0; return w.over != nil }) == nil {
			w.mu.Unlock()
		}
	}
	err := w.link.Close()
	w.mu.Lock()
	if w.over == nil {
		w.over = net.ErrClosed
	}
	if w.failed == nil {
		w.failed = transport.ErrClosed
	}
	w.changed()
	w.mu.Unlock()
	w.done.Wait()
	if fault != nil {
		return fault
	}
	return err
}

// Server is the Link of a UDP server with one client: the first that sends to it.
type Server struct {
	net.PacketConn
	mu     sync.Mutex
	client net.Addr
}

// Read reads the next datagram of the client.
func (s *Server) Read(p []byte) (int, error) {
	for {
		n, from, err := s.ReadFrom(p)
		if err != nil {
			return n, err
		}
		s.mu.Lock()
		if s.client == nil {
			s.client = from
		}
		same := s.client.String() == from.String()
		s.mu.Unlock()
		if same {
			return n, nil
		}
	}
}

// Write sends the client a datagram. Before the client is known the error is transport.ErrNotReady.
func (s *Server) Write(p []byte) (int, error) {
	s.mu.Lock()
	to := s.client
	s.mu.Unlock()
	if to == nil {
		return 0, transport.ErrNotReady
	}
	return s.WriteTo(p, to)
}
