package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The made-up protocol of the manual: web/docs/protocol.md describes it, and has its definitions and its envelope.

// regattaText returns a text of the manual by the language of its block.
func regattaText(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../web/docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)```\n").FindSubmatch(page)
	if m == nil {
		t.Fatalf("the manual has no block of %s", language)
	}
	return string(m[1])
}

const (
	regattaLogin, regattaSay, regattaSteer     = 1, 1, 2
	regattaWelcome, regattaChart, regattaHeard = 1, 2, 3
	regattaPacked                              = 128 // least bytes of a message that is compressed
)

// regattaPeer is one end of a connection.
type regattaPeer struct {
	conn     net.Conn
	key      []byte // nil before the login
	in, out  int    // bytes that were deciphered and enciphered
	packer   *zstd.Encoder
	unpacker *zstd.Decoder
}

func newRegattaPeer(c net.Conn) *regattaPeer {
	packer, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	unpacker, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	return &regattaPeer{conn: c, packer: packer, unpacker: unpacker}
}

// cipher applies the key to bytes of one direction.
func (p *regattaPeer) cipher(b []byte, at *int) {
	for i := range b {
		if p.key != nil {
			b[i] ^= p.key[*at%len(p.key)]
			*at++
		}
	}
}

// send sends a message.
func (p *regattaPeer) send(code byte, body []byte) error {
	message := append([]byte{code}, body...)
	head := []byte{0}
	if len(message) >= regattaPacked {
		head = binary.AppendUvarint(nil, uint64(len(message)))
		message = p.packer.EncodeAll(message, nil)
	}
	n := 3 + len(head) + len(message)
	frame := slices.Concat([]byte{byte(n >> 16), byte(n >> 8), byte(n)}, head, message)
	p.cipher(frame, &p.out)
	_, err := p.conn.Write(frame)
	return err
}

// receive returns the next message.
func (p *regattaPeer) receive() (code byte, body []byte, err error) {
	var head [3]byte
	if _, err := io.ReadFull(p.conn, head[:]); err != nil {
		return 0, nil, err
	}
	p.cipher(head[:], &p.in)
	n := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	if n < 5 || n > 1<<16 {
		return 0, nil, fmt.Errorf("a length of %d", n)
	}
	b := make([]byte, n-3)
	if _, err := io.ReadFull(p.conn, b); err != nil {
		return 0, nil, err
	}
	p.cipher(b, &p.in)
	size, k := binary.Uvarint(b)
	if b = b[k:]; size > 0 {
		if b, err = p.unpacker.DecodeAll(b, nil); err != nil || uint64(len(b)) != size {
			return 0, nil, errors.New("the compressed size is wrong")
		}
	}
	return b[0], b[1:], nil
}

func regattaString(text string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(text))), text...)
}

// regattaServer is a server of the protocol.
type regattaServer struct {
	addr string

	mu    sync.Mutex
	heard []string
}

// newRegatta starts a server, until the test ends.
func newRegatta(t *testing.T) *regattaServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &regattaServer{addr: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				stop := time.AfterFunc(2*time.Minute, func() { c.Close() })
				defer stop.Stop()
				defer c.Close()
				h.serve(newRegattaPeer(c))
			})
		}
	})
	t.Cleanup(func() { l.Close() })
	return h
}

func (h *regattaServer) serve(p *regattaPeer) {
	code, login, err := p.receive()
	if err != nil || code != regattaLogin || len(login) < 5 {
		return
	}
	p.key = login[len(login)-4:]
	ship := append(regattaString("Bounty of "+string(login[1:len(login)-4])), 0, 0, 0, 7)
	lines := []byte{3}
	for _, place := range []string{"North Quay", "South Quay", "Lighthouse"} {
		lines = append(lines, regattaString(strings.Repeat(place+" ", 6))...)
	}
	if p.send(regattaWelcome, ship) != nil || p.send(regattaChart, lines) != nil {
		return
	}
	for {
		code, body, err := p.receive()
		if err != nil {
			return
		}
		if code != regattaSay {
			continue
		}
		n, k := binary.Uvarint(body)
		if k <= 0 || n != uint64(len(body)-k) {
			return
		}
		text := string(body[k:])
		h.mu.Lock()
		h.heard = append(h.heard, text)
		h.mu.Unlock()
		if p.send(regattaHeard, slices.Concat([]byte{0, 0, 0, 7}, regattaString(text))) != nil {
			return
		}
	}
}

// hears waits until the server has heard a text last.
func (h *regattaServer) hears(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		good, all := len(h.heard) > 0 && h.heard[len(h.heard)-1] == text, fmt.Sprintf("%q", h.heard)
		h.mu.Unlock()
		if good {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server heard %s, not %q", all, text)
		}
	}
}

// sailor is a client of the protocol.
type sailor struct {
	*regattaPeer
	messages chan []byte // received, with their codes
}

// sail logs in at an address.
func sail(t *testing.T, addr string) *sailor {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	s := &sailor{newRegattaPeer(c), make(chan []byte, 100)}
	key := []byte{0xde, 0xad, 0xbe, 0xef}
	if err := s.send(regattaLogin, append(regattaString("ann"), key...)); err != nil {
		t.Fatal(err)
	}
	s.key = key
	go func() {
		defer close(s.messages)
		for {
			code, body, err := s.receive()
			if err != nil {
				return
			}
			s.messages <- append([]byte{code}, body...)
		}
	}()
	if m := s.next(t); m[0] != regattaWelcome {
		t.Fatalf("not the welcome: %x", m)
	}
	if m := s.next(t); m[0] != regattaChart || !bytes.Contains(m, []byte("Lighthouse")) {
		t.Fatalf("not the chart: %x", m)
	}
	return s
}

// next returns the next message.
func (s *sailor) next(t *testing.T) []byte {
	t.Helper()
	select {
	case m, ok := <-s.messages:
		if ok {
			return m
		}
		t.Fatal("the connection has ended")
	case <-time.After(20 * time.Second):
		t.Fatal("no message for the client")
	}
	return nil
}

// say sends a text.
func (s *sailor) say(t *testing.T, text string) {
	t.Helper()
	if err := s.send(regattaSay, regattaString(text)); err != nil {
		t.Fatal(err)
	}
}

// gets waits for a text that the server has heard.
func (s *sailor) gets(t *testing.T, text string) {
	t.Helper()
	m := s.next(t)
	if want := slices.Concat([]byte{regattaHeard, 0, 0, 0, 7}, regattaString(text)); !bytes.Equal(m, want) {
		t.Fatalf("the client got %x, not %x", m, want)
	}
}
