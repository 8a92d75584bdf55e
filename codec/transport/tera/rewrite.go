package tera

import (
	"encoding/binary"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// RewriteOptions are what is known of a connection that is rewritten.
type RewriteOptions struct {
	Options

	// LongHeader reports whether messages of a client with a code have count and checksum; nil: those of which one has come have. It is
	// asked for messages that are sent and did not come.
	LongHeader func(schema.Key) bool
}

// wire is what is TERA's in a rewriter.
//
// Each leg has its own ciphers. As long as nothing was changed both legs are at the same place of the same keystreams, so that what is
// deciphered and enciphered again comes out as it came in. A count of the long header is that of the message that came, plus what was sent
// and minus what was left out of its code before it; so it too stays as it is until something was changed. A proxy can only take over
// where the keys are known: from connections whose start it has seen. What is sent to a client must not change integrityIv: the rewriter
// goes on with the server's.
type wire struct {
	*Transport
	o      RewriteOptions
	opened Session // as the ends that send encipher
	closed Session // as the ends that receive decipher
	plain  bool
	counts map[uint16]*shift
}

// shift is how the counts of a code differ between the legs.
type shift struct {
	last uint32 // that was sent
	by   uint32 // added to what came; wraps
}

// NewRewriter makes the rewriter of a connection. The safe point is where the constants of the cipher are known, with the code of the
// client's first message if that comes in one piece, and then in each direction the next start of a message.
func NewRewriter(o RewriteOptions) *transport.StreamRewriter {
	return transport.NewStreamRewriter(&wire{Transport: New(o.Options), o: o, counts: map[uint16]*shift{}})
}

var _ transport.StreamWire = (*wire)(nil)

// Ready reports whether messages are read by now.
func (w *wire) Ready() (ok, never bool, why string) {
	switch w.mode {
	case opaque:
		return false, true, "the connection cannot be deciphered"
	case messages:
		if w.ways[0].dark || w.ways[1].dark {
			return false, true, "the place in the keystream is not known"
		}
		return true, false, ""
	}
	return false, false, "the exchange of keys and the first message"
}

// clear is how many bytes of a direction are not enciphered: those of the exchange of keys, if it was seen.
func (w *way) clear() (n int64) {
	for _, s := range w.steps()[:w.step] {
		n += int64(s.size)
	}
	return n
}

// Take sets the ciphers of both legs to where the streams are.
func (w *wire) Take(toServer, toClient int64) {
	w.plain = w.constants == AnyConstants
	if !w.plain {
		w.opened = *NewSession(w.keys, w.constants)
		w.opened.ToServer.Skip(toServer - w.ways[0].clear())
		w.opened.ToClient.Skip(toClient - w.ways[1].clear())
		w.closed = w.opened
	}
	clear(w.counts)
}

// Start is where the message starts that comes next.
func (w *wire) Start(dir schema.Dir) int64 {
	s := w.way(dir)
	if s.lost || s.dark || s.ended {
		return transport.Unknown
	}
	return s.offset + int64(s.done) + s.skip
}

// Open deciphers what came.
func (w *wire) Open(dir schema.Dir, data []byte) { w.cipher(&w.opened, dir, data) }

// Close enciphers what is sent.
func (w *wire) Close(dir schema.Dir, data []byte) { w.cipher(&w.closed, dir, data) }

func (w *wire) cipher(s *Session, dir schema.Dir, data []byte) {
	switch {
	case w.plain:
	case dir == schema.ToClient:
		s.ToClient.XORKeyStream(data, data)
	default:
		s.ToServer.XORKeyStream(data, data)
	}
}

// Bounds of what is sent, in bytes.
const (
	maxMessage = 1<<16 - 1
	maxRaw     = 1 << 20
)

// Fit takes the header that the others have, and sets the length.
func (w *wire) Fit(dir schema.Dir, o transport.Outgoing) ([]byte, error) {
	if !o.Raw && dir == schema.ToServer && len(o.Alternate) >= integritySize && w.long(binary.LittleEndian.Uint16(o.Alternate[2:])) {
		o.Bytes = o.Alternate
	}
	switch n := len(o.Bytes); {
	case o.Raw && (n < 1 || n > maxRaw):
		return nil, transport.OutOfRange(n, 1, maxRaw)
	case o.Raw:
		return append([]byte(nil), o.Bytes...), nil
	case n < headerSize || n > maxMessage:
		return nil, transport.OutOfRange(n, headerSize, maxMessage)
	}
	data := append([]byte(nil), o.Bytes...)
	binary.LittleEndian.PutUint16(data, uint16(len(data)))
	return data, nil
}

// A mark is the code of a message that came; if it has the long header also its count.
const (
	markShort = 1 << 62
	markLong  = 1 << 63
)

// Mark remembers code and count.
func (w *wire) Mark(f *transport.Frame) uint64 {
	if len(f.Via) == 0 || f.Via[0] != ViaIntegrity || len(f.Bytes) < integritySize {
		return markShort | uint64(f.Key.Code)<<32
	}
	code, count := uint16(f.Key.Code), binary.LittleEndian.Uint32(f.Bytes[4:])
	if w.counts[code] == nil {
		w.counts[code] = &shift{last: count - 1} // it may wait, and others be sent before it
	}
	return markLong | uint64(code)<<32 | uint64(count)
}

// shift is that of a code.
func (w *wire) shift(code uint16) *shift {
	s := w.counts[code]
	if s == nil {
		s = &shift{last: w.integrity.sealed.of[code]}
		w.counts[code] = s
	}
	return s
}

// Seal writes count and checksum.
func (w *wire) Seal(dir schema.Dir, message []byte, mark uint64) {
	if dir != schema.ToServer || len(message) < headerSize {
		return
	}
	code := binary.LittleEndian.Uint16(message[2:])
	if mark&markShort != 0 {
		if uint16(mark>>32) == code {
			return // as it came, or in its stead
		}
		mark = 0
	}
	long := len(message) >= integritySize && (mark != 0 || w.long(code))
	if mark != 0 && (!long || uint16(mark>>32) != code) {
		w.Gone(dir, mark) // there is no such message any more
		mark = 0
	}
	if !long {
		return
	}
	s := w.shift(code)
	if mark == 0 {
		s.last++
		s.by++
	} else {
		s.last = uint32(mark) + s.by
	}
	Seal(w.integrity.iv, s.last, message)
	if !w.integrity.hasIV {
		binary.LittleEndian.PutUint32(message[8:], 0)
	}
}

// Gone lets the counts behind a message close up.
func (w *wire) Gone(_ schema.Dir, mark uint64) {
	if mark&markLong != 0 {
		w.shift(uint16(mark>>32)).by--
	}
}

// long reports whether own messages of a code have the long header.
func (w *wire) long(code uint16) bool {
	if !w.integrity.hasIV && !w.integrity.zero {
		return false
	}
	if w.o.LongHeader != nil {
		return w.o.LongHeader(schema.Key{Dir: schema.ToServer, Code: uint32(code)})
	}
	return w.integrity.sealed.of[code] > 0
}
