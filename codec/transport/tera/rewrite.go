package tera

import (
	"encoding/binary"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// RewriteOptions configures a rewriter.
type RewriteOptions struct {
	Options

	// LongHeader reports whether client messages with a code have count and checksum; nil: those with a code of which such a message has been
	// received. It is called for injected messages.
	LongHeader func(schema.Key) bool
}

// wire is the StreamWire of TERA.
//
// Each leg has its own ciphers. Until a message is changed, both legs are at the same position of the same keystreams, so deciphering and
// enciphering again restores the original bytes. The count in a long header is the received one, plus the messages of its code that were
// injected and minus those dropped before it; so it, too, is unchanged until a message is changed. A proxy can only take over where the
// keys are known: connections whose start it has seen. Messages sent to a client must not change integrityIv: the rewriter continues with
// the server's.
type wire struct {
	*Transport
	o      RewriteOptions
	opened Session // state at the sending ends
	closed Session // state at the receiving ends
	plain  bool
	counts map[uint16]*shift
}

// shift is the difference of a code's counts between the legs.
type shift struct {
	last uint32 // last count sent
	by   uint32 // added to received counts; wraps around
}

// NewRewriter returns the rewriter of a connection. The safe point is where the constants of the cipher are known, which requires the code
// of the client's first message, if that arrives in one piece; then in each direction the next start of a message.
func NewRewriter(o RewriteOptions) *transport.StreamRewriter {
	return transport.NewStreamRewriter(&wire{Transport: New(o.Options), o: o, counts: map[uint16]*shift{}})
}

var _ transport.StreamWire = (*wire)(nil)

// Ready reports whether messages can be read now.
func (w *wire) Ready() (ok, never bool, why string) {
	switch w.mode {
	case opaque:
		return false, true, "the connection cannot be deciphered"
	case messages:
		if w.ways[0].dark || w.ways[1].dark {
			return false, true, "the position in the keystream is unknown"
		}
		return true, false, ""
	}
	return false, false, "the key exchange and the first message"
}

// clear returns the number of plain bytes at the start of a direction: the key exchange, if it was seen.
func (w *way) clear() (n int64) {
	for _, s := range w.steps()[:w.step] {
		n += int64(s.size)
	}
	return n
}

// Take sets the ciphers of both legs to the positions of the streams.
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

// Start returns the offset of the next message, or transport.Unknown.
func (w *wire) Start(dir schema.Dir) int64 {
	s := w.way(dir)
	if s.lost || s.dark || s.ended {
		return transport.Unknown
	}
	return s.offset + int64(s.done) + s.skip
}

// Open deciphers received data.
func (w *wire) Open(dir schema.Dir, data []byte) { w.cipher(&w.opened, dir, data) }

// Close enciphers data to be sent.
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

// Limits of sent messages, in bytes.
const (
	maxMessage = 1<<16 - 1
	maxRaw     = 1 << 20
)

// Fit adds the long header where other messages of the code have it, and sets the length.
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

// A mark holds the code of a received message and, with the long header, its count.
const (
	markShort = 1 << 62
	markLong  = 1 << 63
)

// Mark returns the code and count of a message.
func (w *wire) Mark(f *transport.Frame) uint64 {
	if len(f.Via) == 0 || f.Via[0] != ViaIntegrity || len(f.Bytes) < integritySize {
		return markShort | uint64(f.Key.Code)<<32
	}
	code, count := uint16(f.Key.Code), binary.LittleEndian.Uint32(f.Bytes[4:])
	if w.counts[code] == nil {
		w.counts[code] = &shift{last: count - 1} // it may have to wait while others are sent before it
	}
	return markLong | uint64(code)<<32 | uint64(count)
}

// shift returns the shift of a code.
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
			return // received without the long header, or its replacement
		}
		mark = 0
	}
	long := len(message) >= integritySize && (mark != 0 || w.long(code))
	if mark != 0 && (!long || uint16(mark>>32) != code) {
		w.Gone(dir, mark) // the counted message is not sent
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

// Gone closes the gap in the counts after a dropped message.
func (w *wire) Gone(_ schema.Dir, mark uint64) {
	if mark&markLong != 0 {
		w.shift(uint16(mark>>32)).by--
	}
}

// long reports whether injected messages of a code have the long header.
func (w *wire) long(code uint16) bool {
	if !w.integrity.hasIV && !w.integrity.zero {
		return false
	}
	if w.o.LongHeader != nil {
		return w.o.LongHeader(schema.Key{Dir: schema.ToServer, Code: uint32(code)})
	}
	return w.integrity.sealed.of[code] > 0
}
