package tera

import (
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Options are what is known of a connection before its first byte. The zero value will do.
type Options struct {
	Constants Constants // of the cipher; AnyConstants tries both

	// Known reports whether a code has a name. It helps to find messages again after a gap; nil: what has come before serves for that.
	Known func(schema.Key) bool

	// IntegrityIV reads the key of the checksums from a message of the server, if it is the one that holds it
	// (S_LOGIN_ACCOUNT_INFO.integrityIv); nil: there are no long headers. The message is valid until the function returns.
	IntegrityIV func(key schema.Key, message []byte) (iv uint32, ok bool)

	// Keys are known from elsewhere: they serve where a part of their exchange was not captured, and where streams begin right behind it.
	// What was captured of an exchange that is whole counts more. Not for rewriters, which have to see the exchange.
	Keys *Keys

	// ZeroChecksum takes a checksum of 0 for right as long as no iv has been seen, as patch 92 sends it.
	ZeroChecksum bool

	// Clear is told of each run of bytes that was enciphered; nil: nobody wants to know.
	Clear func(transport.Clear)
}

// mode is how streams are read.
type mode uint8

const (
	undecided mode = iota // everything is kept until it is clear what it is
	handshake             // of an enciphered connection
	trial                 // the keys are known, the constants are not
	messages              // enciphered or plain
	opaque
)

// chunkSize is how many bytes are read at a time: it bounds what is kept of a segment of any size.
const chunkSize = 32 << 10

// Transport is that of one connection. What it keeps is bounded: maxPending bytes until it is clear what the connection is, then less
// than one message in each direction, or maxLook bytes where a message is looked for.
type Transport struct {
	options   Options
	mode      mode
	ways      [2]way
	integrity integrity
	magic     magic
	keys      *Keys     // nil: none have come
	patched   bool      // not all of them have come: those of the options count
	constants Constants // that are used; AnyConstants: none
	pending   pending
	trials    []candidate
	scores    []int32 // of places where a message may start

	emit  func(*transport.Frame)
	frame transport.Frame // that is emitted, again and again
	from  []transport.Source
}

// New makes the transport of a connection.
func New(o Options) *Transport {
	t := &Transport{options: o}
	t.integrity.zero = o.ZeroChecksum
	t.ways[0].dir, t.ways[1].dir = schema.ToServer, schema.ToClient
	return t
}

var _ transport.Transport = (*Transport)(nil)

// Keys are the keys of an enciphered connection and the constants under which its messages are read: enough for NewSession. ok is false
// as long as they are not known.
func (t *Transport) Keys() (k *Keys, c Constants, ok bool) {
	return t.keys, t.constants, t.keys != nil && t.constants != AnyConstants
}

func (t *Transport) way(dir schema.Dir) *way {
	if dir == schema.ToClient {
		return &t.ways[1]
	}
	return &t.ways[0]
}

// Feed takes the next segment of a stream. A direction of Both counts as ToServer.
func (t *Transport) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	t.emit = emit
	if seg.Lost < 0 || seg.Lost > maxLost {
		seg.Lost = transport.Unknown
	}
	if seg.Dir != schema.ToClient {
		seg.Dir = schema.ToServer
	}
	t.take(seg)
	t.emit = nil
}

// maxLost is the number of bytes above which a loss counts as unknown, so that offsets cannot overflow.
const maxLost = 1 << 40

// take reads a segment as the mode says. It may change the mode, and then read again what was kept.
func (t *Transport) take(seg transport.Segment) {
	w := t.way(seg.Dir)
	if w.ended {
		return
	}
	switch t.mode {
	case undecided:
		t.keep(seg)
		t.recognise(w, seg)
		return
	case handshake:
		t.shake(w, seg)
		return
	case trial:
		t.keep(seg)
		t.try(w, seg)
		return
	}
	if !w.begun {
		w.begun = true
		if !seg.Start && seg.Lost == 0 && t.mode == messages {
			w.lose() // the stream is captured from the middle on
			w.dark = w.cipher != nil
		}
	}
	if seg.Lost != 0 {
		t.gap(w, seg)
	}
	for bytes := seg.Bytes; len(bytes) > 0; {
		part := seg
		part.Bytes = bytes[:min(len(bytes), chunkSize)]
		bytes = bytes[len(part.Bytes):]
		w.add(part)
		if n := len(part.Bytes); t.options.Clear != nil && w.cipher != nil && !w.dark {
			t.options.Clear(transport.Clear{Dir: w.dir, Packet: part.Packet, Off: part.Off, Bytes: w.buf[len(w.buf)-n:]})
		}
		if t.mode == messages && !w.dark {
			t.read(w)
		} else {
			t.opaque(w)
		}
		seg.Off += uint32(len(part.Bytes))
	}
	if seg.End {
		w.ended = true
		t.unfinished(w, seg.At)
		*w = way{dir: w.dir, begun: true, ended: true, offset: w.next()}
	}
}

// Flush decides with what there is and reports messages that are incomplete.
func (t *Transport) Flush(at time.Time, emit func(*transport.Frame)) {
	t.emit = emit
	t.settle(at)
	for i := range t.ways {
		t.unfinished(&t.ways[i], at)
	}
	t.emit = nil
}

// unfinished reports what is left of a stream that stops.
func (t *Transport) unfinished(w *way, at time.Time) {
	if t.mode != messages {
		return
	}
	if w.lost {
		t.look(w, true)
		t.read(w)
	}
	rest := w.buf[w.done:]
	if w.lost { // a start may still come to be found in it
		skip := int(max(w.told-w.offset-int64(w.done), 0))
		if n := len(rest) - skip; n > 0 {
			again := *w
			w.pass(skip)
			t.tellUnread(w, n)
			w.done, w.first, w.told = again.done, again.first, w.next()
		}
		return
	}
	if n := len(rest); n > 0 && w.told < w.next() {
		w.told = w.next()
		f := t.begin(w, transport.Problem, w.next()-int64(n), at)
		f.Bytes, f.From = rest[:min(n, maxShown)], t.sources(w, min(n, maxShown))
		f.Note = fmt.Sprintf("the stream ends inside a message, after %d of its bytes", n)
		t.emit(f)
	}
}

// begin starts a frame.
func (t *Transport) begin(w *way, kind transport.Kind, offset int64, at time.Time) *transport.Frame {
	t.frame = transport.Frame{Kind: kind, Dir: w.dir, At: at, Offset: offset}
	return &t.frame
}
