package tera

import (
	"bytes"
	"encoding/binary"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/schema"
)

// EndpointOptions configures an endpoint.
type EndpointOptions struct {
	Options // Constants: AnyConstants means the constants of the client's first message for a server, and the current ones for a client

	// Own holds the keys of this end, Client1 and Client2 or Server1 and Server2; the others are ignored. If it is nil, the connection is not
	// encrypted and has no key exchange.
	Own *Keys
}

// Endpoint is a client or a server. It exchanges keys, and encrypts and deciphers with them.
//
// Its transport is fed the data of both ends, as from a capture, and yields the keys, the constants and the message boundaries. Only the
// frames of received data are emitted. A connection without a cipher has no such transport, which would wait for data of both ends to classify
// it.
type Endpoint struct {
	o       EndpointOptions
	dir     schema.Dir // direction in which it sends
	t       *Transport
	begun   [2]bool // ToServer, ToClient: a byte of the stream has been seen
	came    int64   // bytes received
	step    int     // parts of the key exchange that this end has sent
	session *Session
	counts  Counts
	iv      uint32
	hasIV   bool
	closed  bool
	ended   bool
	wrong   string // error that ends the key exchange

	plain *stream.Transport // of what is received, without a cipher
}

// NewEndpoint returns the endpoint that sends in the given direction.
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
	if o.Own == nil {
		e.plain = stream.New(e.t.wired(nil))
	}
	return e
}

var _ transport.Endpoint = (*Endpoint)(nil)

// Start sends the server's announcement of an encrypted connection.
func (e *Endpoint) Start(at time.Time, r *transport.Relay) {
	if e.o.Own != nil && e.dir == schema.ToClient {
		e.put(magicBytes[:], at, r)
	}
}

// put sends wire bytes.
func (e *Endpoint) put(data []byte, at time.Time, r *transport.Relay) {
	e.see(e.dir, data, false, at, r)
	r.Put(transport.Segment{Dir: e.dir, At: at, Bytes: data})
}

// see feeds wire bytes to the transport.
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

// Feed takes the next bytes of the stream.
func (e *Endpoint) Feed(data []byte, end bool, at time.Time, r *transport.Relay) {
	if e.ended {
		return
	}
	e.ended = end
	if e.plain != nil {
		e.plain.Feed(transport.Segment{Dir: transport.Opposite(e.dir), At: at, Bytes: data, Start: !e.begun[0], End: end}, r.EmitFrame)
		e.begun[0] = true
		return
	}
	// The exchange proceeds part by part: the answer to a part is sent before the next part is read.
	for len(data) > 0 && e.came < e.until() && e.wrong == "" {
		n := min(len(data), int(e.until()-e.came))
		if e.dir == schema.ToServer && e.step == 0 && !bytes.Equal(data[:n], magicBytes[e.came:e.came+int64(n)]) {
			e.wrong = "the server does not begin a key exchange: the connection may not be encrypted"
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

// until returns the number of bytes received when the other end's next part of the exchange is complete, or its last part if it has sent
// all parts.
func (e *Endpoint) until() int64 {
	if e.dir == schema.ToServer {
		return int64(len(magicBytes) + min(e.step, 2)*KeySize)
	}
	return int64(min(e.step+1, 2) * KeySize)
}

// answer sends the next part of the key exchange, after the other end's part is complete.
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

// found creates the ciphers when the keys and constants are known.
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

// Ready reports whether the key exchange is complete, and on a server that has to find the constants also the client's first message.
func (e *Endpoint) Ready() (ok, never bool, why string) {
	switch {
	case e.closed:
		return false, true, "the connection is closed"
	case e.wrong != "":
		return false, true, e.wrong
	case e.plain != nil || e.session != nil:
		return true, false, ""
	case e.t.mode == decided:
		return false, true, "the connection cannot be deciphered"
	case e.ended:
		return false, true, "the other end closed before the key exchange was complete"
	case e.t.mode == trial:
		return false, false, "the client's first message, which shows the cipher's constants"
	}
	return false, false, "the key exchange"
}

// maxRaw bounds bytes that are sent unchanged.
const maxRaw = 1 << 20

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
	data := append([]byte(nil), o.Bytes...)
	if e.o.Envelope != nil && o.Alternate != nil && !o.Raw {
		data = append(data[:0], o.Alternate...)
	}
	least, most := headerSize, wire.States[0].Frame[0].Max
	if o.Raw {
		least, most = 1, maxRaw
	}
	if len(data) < least || len(data) > most {
		return transport.OutOfRange(len(data), least, most)
	}
	if !o.Raw {
		binary.LittleEndian.PutUint16(data, uint16(len(data)))
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

// Due returns the zero time.
func (e *Endpoint) Due() time.Time { return time.Time{} }

// Unsent returns 0: there are no acknowledgements.
func (e *Endpoint) Unsent() int { return 0 }

// Close sends nothing: the protocol has no disconnect.
func (e *Endpoint) Close(time.Time, *transport.Relay) { e.closed = true }
