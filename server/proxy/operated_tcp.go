package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/supervise"
)

// aborter returns the means to end a connection immediately: with a rewriter its own goroutine does it, so that held messages can pass.
func (s *Session) aborter(plain func()) (cut chan struct{}, abort func(string)) {
	if s.rewriter == nil {
		return nil, func(string) { plain() }
	}
	cut = make(chan struct{})
	var once sync.Once
	return cut, func(string) { once.Do(func() { close(cut) }) }
}

const enoughPending = 256 << 10 // unsent bytes above which the sender is not read

// outlet writes one direction of a stream, so that a slow receiver delays nobody else.
type outlet struct {
	dst  net.Conn
	size atomic.Int64 // unwritten bytes

	mu   sync.Mutex
	next []byte
	end  bool // the stream ends after next
	wake chan struct{}
	room chan struct{} // signals progress

	ended atomic.Bool // the end has been written
}

func (l *outlet) add(data []byte, end bool) {
	l.size.Add(int64(len(data)))
	l.mu.Lock()
	l.next = append(l.next, data...)
	l.end = l.end || end
	l.mu.Unlock()
	poke(l.wake)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write runs until the end is written, the socket fails, or quit is closed.
func (l *outlet) write(quit <-chan struct{}, progress chan struct{}) error {
	var data []byte
	for {
		l.mu.Lock()
		data, l.next = l.next, data[:0]
		end := l.end
		l.mu.Unlock()
		if len(data) > 0 {
			if _, err := l.dst.Write(data); err != nil {
				return err
			}
			l.size.Add(-int64(len(data)))
			poke(l.room)
			if cap(data) > maxArena {
				data = nil
			}
			poke(progress)
			continue
		}
		if end {
			if half, ok := l.dst.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
			l.ended.Store(true)
			poke(progress)
			return nil
		}
		select {
		case <-l.wake:
		case <-quit:
			return nil
		}
	}
}

// streams holds the sockets of a TCP connection.
type streams struct {
	outlets [2]*outlet // to the server and to the client
	resumed [2]chan struct{}
	asleep  [2]bool // readers waiting to be resumed
}

func (x *streams) admits(schema.Dir, int) bool { return true }

func (x *streams) deliver(dir schema.Dir, data []byte, end bool) {
	x.outlets[dir-schema.ToServer].add(data, end)
}

func (x *streams) pending(dir schema.Dir) int {
	return int(x.outlets[dir-schema.ToServer].size.Load())
}

func (x *streams) took(dir schema.Dir) { x.asleep[dir-schema.ToServer] = true }

func (x *streams) resume(o *operated) {
	for way := range x.asleep {
		dir := schema.ToServer + schema.Dir(way)
		if x.asleep[way] && x.pending(dir) <= enoughPending && o.rw.Waiting(dir) <= transport.WaitingEnough {
			x.asleep[way] = false
			x.resumed[way] <- struct{}{}
		}
	}
	if x.outlets[0].ended.Load() && x.outlets[1].ended.Load() {
		o.over = true
	}
}

// read reads from one end and sends the data itself, or gives it to the connection.
func (o *operated) read(dir schema.Dir, src net.Conn, out *outlet, resumed <-chan struct{}) {
	sender := "the client"
	if dir == schema.ToClient {
		sender = "the server"
	}
	buf := make([]byte, smallBuffer)
	for {
		n, err := src.Read(buf)
		now := time.Now()
		if n > 0 {
			o.c.count(dir, n, now)
			if a := (arrival{dir: dir, at: now, bytes: buf[:n]}); o.sendDirect(a) {
				for out.size.Load() > enoughPending {
					select {
					case <-out.room:
					case <-o.done:
						return
					}
				}
			} else {
				if !o.give(a) {
					return
				}
				select {
				case <-resumed:
				case <-o.done:
					return
				}
			}
		}
		if n == smallBuffer && len(buf) == n { // busy stream: use a large buffer
			buf = make([]byte, maxPiece)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			if a := (arrival{dir: dir, at: now, end: true}); !o.sendDirect(a) {
				o.give(a)
			}
		default:
			if !errors.Is(err, net.ErrClosed) {
				o.s.because(o.c, sender+" has reset the connection")
			}
			o.give(arrival{dir: dir, at: now, err: err})
		}
		return
	}
}

// give passes an arrival to the goroutine of the connection.
func (o *operated) give(a arrival) bool {
	select {
	case o.in <- a:
		return true
	case <-o.done:
		return false
	}
}

// operateTCP relays a connection through its rewriter until the connection has ended.
func (s *Session) operateTCP(c *conn, cut chan struct{}, down, up net.Conn) {
	o := s.newOperated(c, cut)
	x := &streams{}
	for i, dst := range []net.Conn{up, down} {
		x.outlets[i] = &outlet{dst: dst, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
		x.resumed[i] = make(chan struct{}, 1)
	}
	o.carry = x
	quit := make(chan struct{})
	progress := make(chan struct{}, 1)
	failed := make(chan error, 2)
	var all supervise.Group
	ended := func(err error) { s.faulted(c, err) }
	for i, receiver := range []string{"the server", "the client"} {
		all.Go("connection", ended, func() {
			if x.outlets[i].write(quit, progress) != nil {
				failed <- errors.New(receiver + " has closed the connection")
			}
		})
	}
	all.Go("connection", ended, func() { o.read(schema.ToServer, down, x.outlets[0], x.resumed[0]) })
	all.Go("connection", ended, func() { o.read(schema.ToClient, up, x.outlets[1], x.resumed[1]) })
	if err := supervise.Do("connection", func() error { o.run(failed, progress); return nil }); err != nil {
		s.faulted(c, err)
	}
	if x.outlets[0].ended.Load() && x.outlets[1].ended.Load() {
		s.because(c, "closed")
	} else {
		x.drain(failed, progress)
		reset(down)
		reset(up)
	}
	close(quit)
	all.Wait()
}

// drain waits a short time for data in flight when a connection is cut off.
func (x *streams) drain(failed <-chan error, progress <-chan struct{}) {
	timer := time.NewTimer(lastWrites)
	defer timer.Stop()
	for x.outlets[0].size.Load()+x.outlets[1].size.Load() > 0 {
		select {
		case <-progress:
		case <-failed:
			return
		case <-timer.C:
			return
		}
	}
}
