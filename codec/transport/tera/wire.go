package tera

import (
	"encoding/binary"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// wire says how messages travel, but for the key exchange, the cipher and the long header.
var wire = func() *envelope.Envelope {
	e, diags := envelope.Parse(source.New("protocol.envelope", "carrier tera\n"))
	if len(diags) > 0 {
		panic(diags[0].Message)
	}
	e.States[0].Header = [2]*envelope.Header{} // definitions have it
	return e
}()

// wired returns the options for reading messages that begin at the offsets of the ways, with the ciphers of a session; nil: plain.
func (t *Transport) wired(s *Session) stream.Options {
	o := stream.Options{Envelope: wire, Definitions: t.options.Definitions, Clear: t.options.Clear, Link: &t.link}
	if e := t.options.Envelope; e != nil {
		o.Envelope, o.Foreign = e, true
	}
	for i := range t.ways {
		o.Starts[i].Offset = t.ways[i].offset
	}
	if s != nil {
		o.Starts[0].Cipher, o.Starts[1].Cipher = pike{&s.ToServer}, pike{&s.ToClient}
	}
	return o
}

// pike is a Cipher for package stream.
type pike struct{ *Cipher }

func (p pike) Apply(b []byte)       { p.XORKeyStream(b, b) }
func (p pike) Clone() stream.Cipher { c := *p.Cipher; return pike{&c} }
func (p pike) Skip(n int64) bool    { p.Cipher.Skip(n); return true }

// link reads and writes the long header. The count in it is the received one, plus the messages of its code that were injected and minus those
// dropped before it; so it is unchanged until a message is changed. Messages sent to a client must not change integrityIv: the link continues
// with the server's.
type link struct {
	o         *Options
	integrity integrity
	counts    map[uint16]*shift
}

// shift is the difference of a code's counts between the legs.
type shift struct {
	last uint32 // last count sent
	by   uint32 // added to received counts; wraps around
}

var viaIntegrity = []string{ViaIntegrity}

// Read recognizes the long header.
func (l *link) Read(f *transport.Frame) {
	switch {
	case f.Dir == schema.ToServer:
		l.integrity.missed = l.integrity.missed || f.Resumed
		if (l.o.IntegrityIV != nil || l.o.ZeroChecksum) && l.integrity.check(uint16(f.Key.Code), f.Bytes) {
			f.Via = viaIntegrity
		}
	case l.o.IntegrityIV != nil:
		if iv, ok := l.o.IntegrityIV(f.Key, f.Bytes); ok {
			l.integrity.iv, l.integrity.hasIV = iv, true
		}
	}
}

// Take forgets the differences between the legs.
func (l *link) Take() { clear(l.counts) }

// A mark holds the code of a received message and, with the long header, its count.
const (
	markShort = 1 << 62
	markLong  = 1 << 63
)

// Mark returns the code and count of a message.
func (l *link) Mark(f *transport.Frame) uint64 {
	if len(f.Via) == 0 || f.Via[0] != ViaIntegrity || len(f.Bytes) < integritySize {
		return markShort | uint64(f.Key.Code)<<32
	}
	code, count := uint16(f.Key.Code), binary.LittleEndian.Uint32(f.Bytes[4:])
	if l.counts[code] == nil {
		l.counts[code] = &shift{last: count - 1} // it may have to wait while others are sent before it
	}
	return markLong | uint64(code)<<32 | uint64(count)
}

// shift returns the shift of a code.
func (l *link) shift(code uint16) *shift {
	s := l.counts[code]
	if s == nil {
		s = &shift{last: l.integrity.sealed.of[code]}
		l.counts[code] = s
	}
	return s
}

// Choose takes the long header where other messages of the code have it.
func (l *link) Choose(dir schema.Dir, o *transport.Outgoing) []byte {
	if dir == schema.ToServer && len(o.Alternate) >= integritySize && l.long(binary.LittleEndian.Uint16(o.Alternate[2:])) {
		return o.Alternate
	}
	return o.Bytes
}

// Seal writes count and checksum.
func (l *link) Seal(dir schema.Dir, message []byte, mark uint64) {
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
	long := len(message) >= integritySize && (mark != 0 || l.long(code))
	if mark != 0 && (!long || uint16(mark>>32) != code) {
		l.Gone(dir, mark) // the counted message is not sent
		mark = 0
	}
	if !long {
		return
	}
	s := l.shift(code)
	if mark == 0 {
		s.last++
		s.by++
	} else {
		s.last = uint32(mark) + s.by
	}
	Seal(l.integrity.iv, s.last, message)
	if !l.integrity.hasIV {
		binary.LittleEndian.PutUint32(message[8:], 0)
	}
}

// Gone closes the gap in the counts after a dropped message.
func (l *link) Gone(_ schema.Dir, mark uint64) {
	if mark&markLong != 0 {
		l.shift(uint16(mark>>32)).by--
	}
}

// long reports whether injected messages of a code have the long header.
func (l *link) long(code uint16) bool {
	if !l.integrity.hasIV && !l.integrity.zero {
		return false
	}
	if l.o.LongHeader != nil {
		return l.o.LongHeader(schema.Key{Dir: schema.ToServer, Code: uint32(code)})
	}
	return l.integrity.sealed.of[code] > 0
}
