package tera

import (
	"bytes"
	"encoding/binary"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// EndpointOptions are what an end is made of.
type EndpointOptions struct {
	Options // Constants: of a server AnyConstants are those of the client's first message, of a client the current ones

	// Own are the keys of this end, of which the others do not count: Client1 and Client2 of a client, Server1 and Server2 of a server.
	// Nil: the connection is not enciphered, and has no exchange of keys.
	Own *Keys

	// LongHeader reports whether messages of a client with a code have count and checksum; nil: none have.
	LongHeader func(schema.Key) bool
}

// Endpoint is a client or a server: it exchanges keys, and enciphers and deciphers with them.
//
// A transport is fed with all that both ends send, as it would be from a capture: it tells the keys, the constants, and where messages
// begin. Only frames of what came are emitted. A connection that is not enciphered is cut by the Endpoint itself, since the transport
// would wait for both ends to show what it is.
type Endpoint struct {
	o       EndpointOptions
	dir     schema.Dir // of what it sends
	t       *Transport
	begun   [2]bool // ToServer, ToClient: a byte of it was seen
	came    int64   // bytes from the other end
	step    int     // of the exchange: parts of it that this end has sent
	session *Session
	counts  Counts
	iv      uint32
	hasIV   bool
	closed  bool
	ended   bool
	wrong   string // what ends the exchange of keys

	plain []byte // of a connection that is not enciphered: the message that is not whole
	offer int64  // its offset in the stream
	frame transport.Frame
}

// NewEndpoint makes the end that sends in a direction.
func NewEndpoint(o EndpointOptions, sends schema.Dir) *Endpoint {
	e := &Endpoint{o: o, dir: schema.ToServer}
	if sends == schema.ToClient {
		e.dir = schema.ToClient
	} else if e.o.Constants == AnyConstants {
		e.o.Constants = CurrentConstants
	}
	inner := e.o.Options
	inner.Keys = nil
	if read := inner.IntegrityIV; read != nil {
		inner.IntegrityIV = func(key schema.Key, message []byte) (uint32, bool) {
			iv, ok := read(key, message)
			if ok {
				e.iv, e.hasIV = iv, true
			}
			return iv, ok
		}
	}
	e.o.Options = inner
	e.t = New(inner)
	return e
}

var _ transport.Endpoint = (*Endpoint)(nil)

// Start lets a server say that the connection is enciphered.
func (e *Endpoint) Start(at time.Time, r *transport.Relay) {
	if e.o.Own != nil && e.dir == schema.ToClient {
		e.put(magicBytes[:], at, r)
	}
}

// put sends bytes as they go over the wire.
func (e *Endpoint) put(data []byte, at time.Time, r *transport.Relay) {
	e.see(e.dir, data, false, at, r)
	r.Put(transport.Segment{Dir: e.dir, At: at, Bytes: data})
}

// see shows the transport what goes over the wire.
func (e *Endpoint) see(dir schema.Dir, data []byte, end bool, at time.Time, r *transport.Relay) {
	i := 0
	if dir == schema.ToClient {
		i = 1
	}
	seg := transport.Segment{Dir: dir, At: at, Bytes: data, Start: !e.begun[i], End: end}
	e.begun[i] = true
	e.t.Feed(seg, func(f *transport.Frame) {
		if f.Dir != e.dir {
			r.EmitFrame(f)
		}
	})
}

// Feed takes the next bytes.
func (e *Endpoint) Feed(data []byte, end bool, at time.Time, r *transport.Relay) {
	if e.ended {
		return
	}
	e.ended = end
	if e.o.Own == nil {
		e.cut(data, end, at, r)
		return
	}
	// The exchange goes on part by part: what answers a part is sent before the next one is looked at.
	for len(data) > 0 && e.came < e.until() && e.wrong == "" {
		n := min(len(data), int(e.until()-e.came))
		if e.dir == schema.ToServer && e.step == 0 && !bytes.Equal(data[:n], magicBytes[e.came:e.came+int64(n)]) {
			e.wrong = "the server does not begin the exchange of keys: the connection may not be enciphered"
		}
		e.came += int64(n)
		e.see(transport.Opposite(e.dir), data[:n], false, at, r)
		if data = data[n:]; e.came == e.until() && e.wrong == "" {
			e.answer(at, r)
		}
	}
	if len(data) > 0 || end {
		e.came += int64(len(data))
		e.see(transport.Opposite(e.dir), data, end, at, r)
	}
	e.found()
}

// until is how many bytes of the other end make its next part of the exchange whole; of the last one if all have come.
func (e *Endpoint) until() int64 {
	if e.dir == schema.ToServer {
		return int64(len(magicBytes) + min(e.step, 2)*KeySize)
	}
	return int64(min(e.step+1, 2) * KeySize)
}

// answer sends the next part of the exchange, when the other end's is whole.
func (e *Endpoint) answer(at time.Time, r *transport.Relay) {
	own := [...]*[KeySize]byte{&e.o.Own.Client1, &e.o.Own.Client2}
	if e.dir == schema.ToClient {
		own = [...]*[KeySize]byte{&e.o.Own.Server1, &e.o.Own.Server2}
	}
	if e.step < len(own) {
		e.step++
		e.put(own[e.step-1][:], at, r)
	}
}

// found makes the ciphers when the keys and constants are known.
func (e *Endpoint) found() {
	if e.session != nil || !e.t.ways[0].shaken() || !e.t.ways[1].shaken() {
		return
	}
	c := e.o.Constants
	if c == AnyConstants {
		if c = e.t.constants; c == AnyConstants {
			return
		}
	}
	e.session = NewSession(e.t.keys, c)
}

// cut reads messages that are not enciphered.
func (e *Endpoint) cut(data []byte, end bool, at time.Time, r *transport.Relay) {
	if e.wrong != "" {
		return
	}
	for len(data) > 0 || len(e.plain) >= 2 {
		rest := e.plain
		if len(rest) < 2 {
			n := min(2-len(rest), len(data))
			e.plain = append(rest, data[:n]...)
			data = data[n:]
			if rest = e.plain; len(rest) < 2 {
				break
			}
		}
		size := int(binary.LittleEndian.Uint16(rest))
		if size < headerSize {
			e.wrong = "a message that is shorter than its header came; nobody knows where the next one begins"
			e.problem(rest, e.wrong, at, r)
			return
		}
		n := min(size-len(rest), len(data))
		e.plain = append(rest, data[:n]...)
		data = data[n:]
		if len(e.plain) < size {
			break
		}
		key := schema.Key{Dir: transport.Opposite(e.dir), Code: uint32(binary.LittleEndian.Uint16(e.plain[2:]))}
		if e.dir == schema.ToServer && e.o.IntegrityIV != nil {
			_, _ = e.o.IntegrityIV(key, e.plain)
		}
		e.frame = transport.Frame{Kind: transport.Message, Dir: key.Dir, At: at, Key: key, HasKey: true, Bytes: e.plain, Offset: e.offer}
		if e.dir == schema.ToClient && (e.o.IntegrityIV != nil || e.o.ZeroChecksum) && e.t.integrity.check(uint16(key.Code), e.plain) {
			e.frame.Via = viaIntegrity
		}
		r.EmitFrame(&e.frame)
		e.offer += int64(size)
		e.plain = e.plain[:0]
	}
	if end && len(e.plain) > 0 {
		e.problem(e.plain, "the stream ends inside a message", at, r)
	}
}

func (e *Endpoint) problem(data []byte, note string, at time.Time, r *transport.Relay) {
	e.frame = transport.Frame{
		Kind: transport.Problem, Dir: transport.Opposite(e.dir), At: at,
		Bytes: data[:min(len(data), maxShown)], Offset: e.offer, Note: note,
	}
	r.EmitFrame(&e.frame)
}

// Ready is true behind the exchange of keys; of a server that has to find the constants, behind the client's first message.
func (e *Endpoint) Ready() (ok, never bool, why string) {
	switch {
	case e.closed:
		return false, true, "the connection is closed"
	case e.wrong != "":
		return false, true, e.wrong
	case e.o.Own == nil || e.session != nil:
		return true, false, ""
	case e.t.mode == opaque:
		return false, true, "the connection cannot be deciphered"
	case e.ended:
		return false, true, "the other end closed before the exchange of keys was whole"
	case e.t.mode == trial:
		return false, false, "the client's first message, which shows the cipher's constants"
	}
	return false, false, "the exchange of keys"
}

// Send sends a message: its length is set, and its count and checksum if it has the long header.
func (e *Endpoint) Send(o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if e.closed {
		return transport.ErrClosed
	}
	if ok, never, _ := e.Ready(); never {
		return transport.ErrClosed
	} else if !ok {
		return transport.ErrNotReady
	}
	data, err := (&wire{}).Fit(e.dir, o)
	if err != nil {
		return err
	}
	if e.dir == schema.ToServer && !o.Raw && len(data) >= integritySize && e.o.LongHeader != nil {
		code := binary.LittleEndian.Uint16(data[2:])
		if e.o.LongHeader(schema.Key{Dir: e.dir, Code: uint32(code)}) {
			Seal(e.iv, e.counts.Next(code), data)
			if !e.hasIV {
				binary.LittleEndian.PutUint32(data[8:], 0)
			}
		}
	}
	if e.session == nil {
		r.Put(transport.Segment{Dir: e.dir, At: at, Bytes: data})
		return nil
	}
	if e.dir == schema.ToServer {
		e.session.ToServer.XORKeyStream(data, data)
	} else {
		e.session.ToClient.XORKeyStream(data, data)
	}
	e.put(data, at, r)
	return nil
}

// Tick does nothing.
func (e *Endpoint) Tick(time.Time, *transport.Relay) {}

// Due is never.
func (e *Endpoint) Due() time.Time { return time.Time{} }

// Unsent is nothing: a stream takes all at once.
func (e *Endpoint) Unsent() int { return 0 }

// Close has no word to say.
func (e *Endpoint) Close(time.Time, *transport.Relay) { e.closed = true }
