// Package regatta is the game of the manual's page "Your own protocol": a server and a client of a protocol that no tool knows. The page has
// its definitions and its envelope, and tests hold them together.
package regatta

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"wirebench/server/supervise"
)

// Codes of messages, by their direction.
const (
	Login, Say, Steer     = 1, 1, 2 // of the client; Login is the first message
	Welcome, Chart, Heard = 1, 2, 3 // of the server
)

const (
	packed     = 128              // least bytes of a message that is compressed
	maxMessage = 1 << 16          // bytes
	maxClients = 64               // at once
	silence    = 30 * time.Minute // an end without a message for this long is gone; long, because a message may be held
)

// Text returns a text as messages have it: its size and its bytes.
func Text(text string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(text))), text...)
}

// Peer is one end of a connection. Send and Receive may be called at once, each by one goroutine.
type Peer struct {
	conn     net.Conn
	key      []byte // nil before the login
	in, out  int    // bytes that were decrypted and encrypted
	packer   *zstd.Encoder
	unpacker *zstd.Decoder
}

func newPeer(c net.Conn) *Peer {
	packer, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	unpacker, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessage))
	return &Peer{conn: c, packer: packer, unpacker: unpacker}
}

// Close ends the connection.
func (p *Peer) Close() error { return p.conn.Close() }

// cipher applies the key to bytes of one direction.
func (p *Peer) cipher(b []byte, at *int) {
	for i := range b {
		if p.key != nil {
			b[i] ^= p.key[*at%len(p.key)]
			*at++
		}
	}
}

// Send sends a message.
func (p *Peer) Send(code byte, body []byte) error {
	message := append([]byte{code}, body...)
	head := []byte{0}
	if len(message) >= packed {
		head = binary.AppendUvarint(nil, uint64(len(message)))
		message = p.packer.EncodeAll(message, nil)
	}
	n := 3 + len(head) + len(message)
	frame := slices.Concat([]byte{byte(n >> 16), byte(n >> 8), byte(n)}, head, message)
	p.cipher(frame, &p.out)
	_, err := p.conn.Write(frame)
	return err
}

// Receive returns the next message.
func (p *Peer) Receive() (code byte, body []byte, err error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(silence))
	var head [3]byte
	if _, err := io.ReadFull(p.conn, head[:]); err != nil {
		return 0, nil, err
	}
	p.cipher(head[:], &p.in)
	n := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	if n < 5 || n > maxMessage {
		return 0, nil, fmt.Errorf("a message of %d bytes", n)
	}
	b := make([]byte, n-3)
	if _, err := io.ReadFull(p.conn, b); err != nil {
		return 0, nil, err
	}
	p.cipher(b, &p.in)
	size, k := binary.Uvarint(b)
	if k <= 0 {
		return 0, nil, errors.New("the size before compression is wrong")
	}
	if b = b[k:]; size > 0 {
		if b, err = p.unpacker.DecodeAll(b, nil); err != nil || uint64(len(b)) != size {
			return 0, nil, errors.New("the compressed size is wrong")
		}
	}
	if len(b) == 0 {
		return 0, nil, errors.New("a message without a code")
	}
	return b[0], b[1:], nil
}

// Server is a server of the game.
type Server struct {
	Addr string // IP:port

	heard    func(text string)
	listener net.Listener
	all      supervise.Group

	mu    sync.Mutex
	conns map[net.Conn]bool // nil after Close
}

// Listen starts a server. heard is called with each text that a client says, by several goroutines; it may be nil.
func Listen(addr string, heard func(text string)) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: l.Addr().String(), heard: heard, listener: l, conns: map[net.Conn]bool{}}
	s.all.Go("server", nil, func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if !s.keep(c) {
				c.Close()
				continue
			}
			s.all.Go("player", nil, func() {
				defer s.drop(c)
				s.serve(newPeer(c))
			})
		}
	})
	return s, nil
}

func (s *Server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil || len(s.conns) >= maxClients {
		return false
	}
	s.conns[c] = true
	return true
}

func (s *Server) drop(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Close ends the server and its connections, and waits for them.
func (s *Server) Close() {
	s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.all.Wait()
}

// serve answers one client.
func (s *Server) serve(p *Peer) {
	code, login, err := p.Receive()
	if err != nil || code != Login || len(login) < 5 {
		return
	}
	p.key = login[len(login)-4:]
	ship := append(Text("Bounty of "+string(login[1:len(login)-4])), 0, 0, 0, 7)
	lines := []byte{3}
	for _, place := range []string{"North Quay", "South Quay", "Lighthouse"} {
		lines = append(lines, Text(strings.Repeat(place+" ", 6))...)
	}
	if p.Send(Welcome, ship) != nil || p.Send(Chart, lines) != nil {
		return
	}
	for {
		code, body, err := p.Receive()
		if err != nil {
			return
		}
		if code != Say {
			continue
		}
		n, k := binary.Uvarint(body)
		if k <= 0 || n != uint64(len(body)-k) {
			return
		}
		text := string(body[k:])
		if s.heard != nil {
			s.heard(text)
		}
		if p.Send(Heard, slices.Concat([]byte{0, 0, 0, 7}, Text(text))) != nil {
			return
		}
	}
}

// Dial connects to a server, or to a proxy in front of it, and logs in with a name and a secret of four bytes.
func Dial(ctx context.Context, addr, name string, secret [4]byte) (*Peer, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	p := newPeer(c)
	if err := p.Send(Login, append(Text(name), secret[:]...)); err != nil {
		c.Close()
		return nil, err
	}
	p.key = secret[:]
	return p, nil
}

// calls are what the client of Play says, in turn.
var calls = []string{"ahoy", "clear the quay", "hoist the sails", "ready about", "mind the lighthouse", "well sailed"}

// Play connects, steers and talks, with pause between two messages, until the context or the connection ends. The error is nil after the end of
// the context.
func Play(ctx context.Context, addr string, secret [4]byte, pause time.Duration) error {
	p, err := Dial(ctx, addr, "ann", secret)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer p.Close()
	ended := make(chan error, 1)
	supervise.Go("player", func(err error) { ended <- err }, func() {
		for {
			if _, _, err := p.Receive(); err != nil {
				ended <- err
				return
			}
		}
	})
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			p.Close()
			<-ended
			return nil
		case err := <-ended:
			return fmt.Errorf("the connection has ended: %w", err)
		case <-tick.C:
		}
		if n%2 == 0 {
			heading := uint16(n * 7 % 360)
			err = p.Send(Steer, []byte{byte(heading >> 8), byte(heading), byte(n % 5)})
		} else {
			err = p.Send(Say, Text(calls[n/2%len(calls)]))
		}
		if err != nil {
			p.Close()
			return errors.Join(err, <-ended)
		}
	}
}
