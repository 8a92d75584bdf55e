package demo

import (
	"encoding/binary"
	"errors"
	"time"

	"wirebench/codec/transport/subspace"
)

// Core packets, and sizes in bytes. Source: spec of the core protocol, sections 2 to 6.
const (
	coreInit       = 0x01
	coreKey        = 0x02
	coreReliable   = 0x03
	coreAck        = 0x04
	coreSync       = 0x05
	coreSyncAnswer = 0x06
	coreDisconnect = 0x07
	coreChunk      = 0x08
	coreChunkTail  = 0x09
	coreStream     = 0x0A
	coreCluster    = 0x0E

	maxDatagram = 512
	maxBody     = 480 // of a part of a chunked message or of a stream, and of a message that goes in one
	maxItem     = 255 // of a packet in a cluster
	maxEarly    = 32  // numbers that a receiver keeps ahead
	maxJoined   = 1 << 16
	maxQueue    = 500 // packets
	maxTries    = 15
	maxNested   = 8
)

var (
	errGone     = errors.New("the other end does not answer")
	errBehind   = errors.New("the other end does not keep up")
	errTooLarge = errors.New("a message is too large")
	errByed     = errors.New("the other end has said goodbye")
)

// core is one end of a session of SubSpace's core protocol: it numbers packets and sends them again, puts what comes in order, joins and
// splits. It has no socket and no clock.
type core struct {
	write  func(datagram []byte) // sends it
	hear   func(message []byte) error
	cipher *subspace.Cipher // nil: not enciphered

	now            time.Time
	heard          time.Time // when the last datagram came
	packets        [][]byte  // of this turn: for clusters
	sent, received uint32    // datagrams

	number int32 // of the next reliable packet
	flight []sending
	queue  [][]byte // wait for room in flight

	next     int32 // that is expected
	early    map[int32][]byte
	chunk    []byte
	stream   []byte
	streamed int // total of the stream
	over     bool
}

// sending is a reliable packet on its way.
type sending struct {
	number int32
	data   []byte
	at     time.Time
	tries  int
	acked  bool
}

func newCore(now time.Time, write func([]byte), hear func([]byte) error) *core {
	return &core{write: write, hear: hear, now: now, heard: now, early: map[int32][]byte{}}
}

// say sends a message: one that is large in chunks, a very large one as a stream.
func (c *core) say(message []byte, reliable bool) error {
	switch n := len(message); {
	case n > maxJoined:
		return errTooLarge
	case n > 4*maxBody:
		for at := 0; at < n; at += maxBody {
			head := []byte{0, coreStream, 0, 0, 0, 0}
			binary.LittleEndian.PutUint32(head[2:], uint32(n))
			c.number1(append(head, message[at:min(at+maxBody, n)]...))
		}
	case n > maxBody:
		for at := 0; at < n; at += maxBody {
			kind := byte(coreChunk)
			if at+maxBody >= n {
				kind = coreChunkTail
			}
			c.number1(append([]byte{0, kind}, message[at:min(at+maxBody, n)]...))
		}
	case reliable:
		c.number1(message)
	default:
		c.put(append([]byte(nil), message...))
	}
	if len(c.queue) > maxQueue {
		return errBehind
	}
	return nil
}

// number1 makes a reliable packet of one.
func (c *core) number1(packet []byte) {
	data := make([]byte, 6, 6+len(packet))
	data[1] = coreReliable
	c.queue = append(c.queue, append(data, packet...))
	c.fill()
}

// fill sends what there is room for.
func (c *core) fill() {
	for len(c.queue) > 0 && len(c.flight) < maxEarly {
		data := c.queue[0]
		c.queue = c.queue[1:]
		binary.LittleEndian.PutUint32(data[2:], uint32(c.number))
		c.flight = append(c.flight, sending{number: c.number, data: data, at: c.now, tries: 1})
		c.number++
		c.put(data)
	}
}

// put takes a packet into this turn.
func (c *core) put(packet []byte) { c.packets = append(c.packets, packet) }

// flush sends what was said in this turn: packets that follow each other and are small enough in clusters.
func (c *core) flush() {
	var cluster []byte
	var first []byte
	items := 0
	end := func() {
		switch items {
		case 0:
		case 1:
			c.datagram(first)
		default:
			c.datagram(cluster)
		}
		cluster, items = append(cluster[:0], 0, coreCluster), 0
	}
	end()
	for _, p := range c.packets {
		if len(p) > maxItem {
			end()
			c.datagram(p)
			continue
		}
		if len(cluster)+1+len(p) > maxDatagram {
			end()
		}
		if items++; items == 1 {
			first = p
		}
		cluster = append(append(cluster, byte(len(p))), p...)
	}
	end()
	c.packets = c.packets[:0]
}

// datagram sends one.
func (c *core) datagram(data []byte) {
	c.sent++
	out := append([]byte(nil), data...)
	if c.cipher != nil {
		c.cipher.Encrypt(out, out)
	}
	c.write(out)
}

// pass is the time that goes by: what was not acknowledged is sent again.
func (c *core) pass(now time.Time) error {
	c.now = now
	if now.Sub(c.heard) > silence {
		return errGone
	}
	for i := range c.flight {
		p := &c.flight[i]
		if p.acked || now.Sub(p.at) < 600*time.Millisecond*time.Duration(p.tries) {
			continue
		}
		if p.tries++; p.tries > maxTries {
			return errGone
		}
		p.at = now
		c.put(p.data)
	}
	return nil
}

// quiet reports whether everything that was said has come.
func (c *core) quiet() bool { return len(c.flight) == 0 && len(c.queue) == 0 && len(c.packets) == 0 }

// sync asks for the other end's time, and tells what was counted.
func (c *core) sync() {
	data := make([]byte, 14)
	data[1] = coreSync
	binary.LittleEndian.PutUint32(data[2:], ticks(c.now))
	binary.LittleEndian.PutUint32(data[6:], c.sent)
	binary.LittleEndian.PutUint32(data[10:], c.received)
	c.put(data)
}

// ticks is a time in hundredths of a second.
func ticks(t time.Time) uint32 { return uint32(t.UnixMilli() / 10) }

// bye ends the session.
func (c *core) bye() {
	c.flush()
	for range 2 {
		c.datagram([]byte{0, coreDisconnect})
	}
}

// take reads a datagram. errByed says that it was the last one.
func (c *core) take(data []byte, now time.Time) error {
	c.now, c.heard = now, now
	c.received++
	if c.cipher != nil {
		c.cipher.Decrypt(data, data)
	}
	return c.packet(data, 0)
}

func (c *core) packet(data []byte, depth int) error {
	switch {
	case len(data) == 0 || depth > maxNested:
		return nil
	case data[0] != 0:
		return c.hear(data)
	case len(data) < 2:
		return nil
	}
	body := data[2:]
	switch data[1] {
	case coreReliable:
		return c.reliable(data, depth)
	case coreAck:
		if len(data) == 6 {
			c.acked(int32(binary.LittleEndian.Uint32(body)))
		}
	case coreSync:
		if len(data) >= 6 {
			answer := make([]byte, 10)
			answer[1] = coreSyncAnswer
			copy(answer[2:], body[:4])
			binary.LittleEndian.PutUint32(answer[6:], ticks(c.now))
			c.put(answer)
		}
	case coreDisconnect:
		c.over = true
		return errByed
	case coreChunk, coreChunkTail:
		if len(c.chunk)+len(body) > maxJoined {
			return errTooLarge
		}
		c.chunk = append(c.chunk, body...)
		if data[1] == coreChunkTail {
			whole := c.chunk
			c.chunk = nil
			return c.whole(whole)
		}
	case coreStream:
		if len(body) > 4 {
			return c.part(int(binary.LittleEndian.Uint32(body)), body[4:])
		}
	case coreCluster:
		for len(body) > 0 && body[0] > 0 && len(body) > int(body[0]) {
			n := int(body[0])
			if err := c.packet(body[1:1+n], depth+1); err != nil {
				return err
			}
			body = body[1+n:]
		}
	}
	return nil
}

// whole takes a message that was in parts.
func (c *core) whole(message []byte) error {
	if len(message) == 0 || message[0] == 0 {
		return nil
	}
	return c.hear(message)
}

// part is one of a stream.
func (c *core) part(total int, data []byte) error {
	if len(c.stream) == 0 {
		c.streamed = total
	}
	if total != c.streamed || total > maxJoined || len(c.stream)+len(data) > total {
		c.stream = nil
		return nil
	}
	if c.stream = append(c.stream, data...); len(c.stream) < total {
		return nil
	}
	whole := c.stream
	c.stream = nil
	return c.whole(whole)
}

// reliable acknowledges a packet, and delivers those whose turn it is.
func (c *core) reliable(data []byte, depth int) error {
	if len(data) < 7 {
		return nil
	}
	n := int32(binary.LittleEndian.Uint32(data[2:]))
	if n < 0 || n-c.next >= maxEarly {
		return nil
	}
	ack := []byte{0, coreAck, 0, 0, 0, 0}
	copy(ack[2:], data[2:6])
	c.put(ack)
	if n < c.next || c.early[n] != nil {
		return nil
	}
	c.early[n] = append([]byte(nil), data[6:]...)
	for c.early[c.next] != nil {
		body := c.early[c.next]
		delete(c.early, c.next)
		c.next++
		if err := c.packet(body, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// acked notes that a packet came.
func (c *core) acked(n int32) {
	for i := range c.flight {
		if c.flight[i].number == n {
			c.flight[i].acked = true
		}
	}
	for len(c.flight) > 0 && c.flight[0].acked {
		c.flight = c.flight[1:]
	}
	c.fill()
}
