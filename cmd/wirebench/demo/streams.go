package demo

import (
	"context"
	"crypto/cipher"
	crypto "crypto/rand"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
)

// maxPart is how many bytes of a message that is not whole are kept.
const maxPart = 1 << 16

// line is one end of a connection of TCP.
type line struct {
	conn       *net.TCPConn
	dir        schema.Dir    // of what is sent
	seal, open cipher.Stream // of what is sent, and what comes; nil: plain
	buf        []byte
}

func (l *line) send(message []byte, _ bool) error {
	if l.seal != nil {
		sealed := make([]byte, len(message))
		l.seal.XORKeyStream(sealed, message)
		message = sealed
	}
	_, err := l.conn.Write(message)
	return err
}

// exchangeKeys is what TERA's ends do before their first message: the server starts, then each sends a key twice.
func (l *line) exchangeKeys() error {
	var k tera.Keys
	put := func(key []byte) error {
		_, _ = crypto.Read(key) // it does not fail
		_, err := l.conn.Write(key)
		return err
	}
	get := func(key []byte) error {
		_, err := io.ReadFull(l.conn, key)
		return err
	}
	toServer, toClient := put, get
	var start [4]byte
	var err error
	if l.dir == schema.ToClient {
		toServer, toClient = get, put
		_, err = l.conn.Write([]byte{1, 0, 0, 0})
	} else if err = get(start[:]); err == nil && start != [4]byte{1, 0, 0, 0} {
		err = errors.New("the server does not start as one of TERA does")
	}
	for _, step := range []func() error{
		func() error { return toServer(k.Client1[:]) },
		func() error { return toClient(k.Server1[:]) },
		func() error { return toServer(k.Client2[:]) },
		func() error { return toClient(k.Server2[:]) },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return err
	}
	s := tera.NewSession(&k, tera.CurrentConstants)
	l.seal, l.open = &s.ToServer, &s.ToClient
	if l.dir == schema.ToClient {
		l.seal, l.open = l.open, l.seal
	}
	return nil
}

// serveStreams takes on players.
func serveStreams(g *Game, l *listener) {
	defer context.AfterFunc(g.ctx, func() { l.tcp.Close() })()
	var players atomic.Int32
	for seed := uint64(1); ; seed++ {
		conn, err := l.tcp.AcceptTCP()
		if g.ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil { // too many files are open
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if players.Add(1) > maxPlayers {
			players.Add(-1)
			conn.Close()
			continue
		}
		g.wg.Go(func() {
			defer players.Add(-1)
			_ = g.talk(g.ctx, conn, schema.ToClient, seed) // the player knows why
		})
	}
}

func playStream(ctx context.Context, g *Game, addr string, seed uint64) error {
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return g.talk(ctx, conn.(*net.TCPConn), schema.ToServer, seed)
}

// talk plays one end of a connection to its end, and closes it. When the context ends, it says no more, and listens until the other end
// has said all.
func (g *Game) talk(ctx context.Context, conn *net.TCPConn, dir schema.Dir, seed uint64) error {
	defer conn.Close()
	// A write that nobody takes, or a handshake, ends with the context, too.
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now().Add(patience)) })()
	l := &line{conn: conn, dir: dir}
	if g.words.hello != nil {
		conn.SetReadDeadline(time.Now().Add(patience))
		if err := g.words.hello(l); err != nil {
			return err
		}
	}
	s := g.speaker(dir, l.send, seed)
	a := g.words.actors[1-index(dir)](s)
	a.begin()

	in := make(chan []byte, 16)
	over := make(chan struct{})
	var failed error // of reading, after in is closed
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(in)
		failed = l.read(ctx, in, over)
	}()
	defer func() { // in this order: the reader is told, then its read ends, then it does
		close(over)
		conn.Close()
		<-read
	}()
	tick := time.NewTicker(g.interval())
	defer tick.Stop()
	done := ctx.Done()
	for s.err == nil {
		select {
		case data, ok := <-in:
			if !ok {
				if failed == nil && done != nil && dir == schema.ToServer {
					return ErrEnded
				}
				return failed
			}
			if err := l.take(data, s, a); err != nil {
				return err
			}
		case <-tick.C:
			if done != nil {
				a.tick()
			}
		case <-done:
			done = nil
			if err := conn.CloseWrite(); err != nil {
				return err
			}
			s.send = func([]byte, bool) error { return nil }
			s.told = onlyGot(s.told)
		}
	}
	return s.err
}

// onlyGot tells no more of what is said: it is not sent.
func onlyGot(told func(Event)) func(Event) {
	return func(e Event) {
		if e.Got {
			told(e)
		}
	}
}

// read hands on what comes until the other end has said all: then there is no error. One that says nothing for long is gone.
func (l *line) read(ctx context.Context, in chan<- []byte, over <-chan struct{}) error {
	for {
		if ctx.Err() == nil {
			l.conn.SetReadDeadline(time.Now().Add(stillness))
		}
		if ctx.Err() != nil { // it may have ended before that deadline was set
			l.conn.SetReadDeadline(time.Now().Add(patience))
		}
		data := make([]byte, 4096)
		n, err := l.conn.Read(data)
		if n > 0 {
			select {
			case in <- data[:n]:
			case <-over:
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			l.conn.Close() // so that no write waits any longer
			return err
		}
	}
}

// take reads what came.
func (l *line) take(data []byte, s *speaker, a actor) error {
	if l.open != nil {
		l.open.XORKeyStream(data, data)
	}
	l.buf = append(l.buf, data...)
	for len(l.buf) > 0 {
		n, err := s.hear(l.buf, a)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		l.buf = l.buf[n:]
	}
	if len(l.buf) > maxPart {
		return errors.New("a message that does not end")
	}
	l.buf = append([]byte(nil), l.buf...)
	return nil
}
