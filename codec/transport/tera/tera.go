package tera

import (
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Options describes what is known about a connection before its first byte. The zero value is valid.
type Options struct {
	Constants Constants // of the cipher; AnyConstants tries both

	// Known reports whether a code has a name. It helps to find message boundaries after a gap; if nil, the codes already seen are used.
	Known func(schema.Key) bool

	// IntegrityIV reads the key of the checksums from a server message, if it is the one that contains it (S_LOGIN_ACCOUNT_INFO.integrityIv);
	// nil: there are no long headers. The message is valid only during the call.
	IntegrityIV func(key schema.Key, message []byte) (iv uint32, ok bool)

	// Keys are known from elsewhere. They are used where a part of the key exchange was not captured, and where streams begin right after it.
	// A complete captured exchange takes precedence. Not for rewriters, which have to see the exchange.
	Keys *Keys

	// ZeroChecksum accepts a checksum of 0 while no iv has been seen, as patch 92 sends it.
	ZeroChecksum bool

	// Clear receives each deciphered range; may be nil.
	Clear func(transport.Clear)
}

// mode selects how streams are read.
type mode uint8

const (
	undecided mode = iota // segments are stored until the connection is classified
	handshake             // of an enciphered connection
	trial                 // the keys are known, the constants are not
	messages              // enciphered or plain
	opaque
)

// chunkSize is the number of bytes read at a time. It bounds the memory for segments of any size.
const chunkSize = 32 << 10

// Transport frames one connection. Its memory is bounded: maxPending bytes until the connection is classified, then less than one message
// in each direction, or maxLook bytes during a search.
type Transport struct {
	options   Options
	mode      mode
	ways      [2]way
	integrity integrity
	magic     magic
	keys      *Keys     // nil: none received
	patched   bool      // not all were captured: those of the options are used
	constants Constants // in use; AnyConstants: none
	pending   pending
	trials    []candidate
	scores    []int32 // of candidate starts

	emit  func(*transport.Frame)
	frame transport.Frame // passed to emit, reused
	from  []transport.Source
}

// New returns the transport of a connection.
func New(o Options) *Transport {
	t := &Transport{options: o}
	t.integrity.zero = o.ZeroChecksum
	t.ways[0].dir, t.ways[1].dir = schema.ToServer, schema.ToClient
	return t
}

var _ transport.Waiter = (*Transport)(nil)

// Keys returns the keys of an enciphered connection and the constants under which its messages are read: enough for NewSession. ok is false
// while they are unknown.
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

// maxLost is the loss in bytes above which it counts as unknown, so that offsets cannot overflow.
const maxLost = 1 << 40

// take reads a segment in the current mode. It may change the mode, and then read the stored segments again.
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
			w.lose() // the capture begins in the middle of the stream
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

// Flush decides with the data available and reports incomplete messages.
func (t *Transport) Flush(at time.Time, emit func(*transport.Frame)) {
	t.emit = emit
	t.settle(at)
	for i := range t.ways {
		t.unfinished(&t.ways[i], at)
	}
	t.emit = nil
}

// Waits reports whether bytes are kept until the connection is classified, or until the start of a message is found.
func (t *Transport) Waits() bool {
	for i := range t.ways {
		if w := &t.ways[i]; w.lost && w.done < len(w.buf) {
			return true
		}
	}
	return len(t.pending.segments) > 0
}

// unfinished reports the incomplete rest of a stream that stops.
func (t *Transport) unfinished(w *way, at time.Time) {
	if t.mode != messages {
		return
	}
	if w.lost {
		t.look(w, true)
		t.read(w)
	}
	rest := w.buf[w.done:]
	if w.lost { // a start may still be found in it
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
