package tera

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Options describes what is known about a connection before its first byte. The zero value is valid.
type Options struct {
	Constants Constants // of the cipher; AnyConstants tries both

	// Definitions help to find message boundaries after a gap; if nil, lengths and the codes already seen do.
	Definitions stream.Definitions

	// Envelope is that of a project with definitions of another language, which do not have TERA's header: messages are marked by
	// transport.MarkHeader. nil: they have it.
	Envelope *envelope.Envelope

	// IntegrityIV reads the key of the checksums from a server message, if it is the one that contains it (S_LOGIN_ACCOUNT_INFO.integrityIv);
	// nil: there are no long headers. The message is valid only during the call.
	IntegrityIV func(key schema.Key, message []byte) (iv uint32, ok bool)

	// LongHeader reports whether client messages with a code have count and checksum; nil: those with a code of which such a message has been
	// received. It is called for injected messages.
	LongHeader func(schema.Key) bool

	// Keys are known from elsewhere. They are used where a part of the key exchange was not captured, and where streams begin right after it.
	// A complete captured exchange takes precedence. Not for rewriters, which have to see the exchange.
	Keys *Keys

	// ZeroChecksum accepts a checksum of 0 while no iv has been seen, as patch 92 sends it.
	ZeroChecksum bool

	// Clear receives each deciphered range; may be nil.
	Clear func(transport.Clear)
}

// mode is what is known about a connection.
type mode uint8

const (
	undecided mode = iota // segments are stored until the connection is classified
	handshake             // of an encrypted connection
	trial                 // the keys are known, the constants are not
	decided
)

// Transport frames one connection: it finds out whether and how it is encrypted, and has its messages read by the envelope of TERA. Its memory
// is bounded: maxPending bytes until the connection is classified, then what package stream keeps.
type Transport struct {
	options   Options
	mode      mode
	ways      [2]way
	link      link
	magic     magic
	keys      *Keys     // nil: none received
	patched   bool      // not all were captured: those of the options are used
	constants Constants // in use; AnyConstants: none
	pending   pending
	trials    []candidate

	open   func(stream.Options)    // begins to read
	pass   func(transport.Segment) // reads
	reader *stream.Transport       // nil: not decided, or of a Rewriter
	emit   func(*transport.Frame)
	frame  transport.Frame // passed to emit, reused
}

// way is what is known about one direction before it is read.
type way struct {
	dir    schema.Dir
	begun  bool // a segment has been received
	ended  bool
	lost   bool               // its start was not captured
	walk   walker             // while the stream is not classified
	search *stream.Transport  // of messages, if it is lost
	looked int                // bytes in which search found none
	offset int64              // of the next byte that is not of the key exchange
	step   int                // of the key exchange
	skip   int64              // bytes of the present step that were not captured
	key    []byte             // those that were
	from   []transport.Source // of key
	at     time.Time          // of the last byte of key
	read   bool               // a segment has been read
}

// New returns the transport of a connection.
func New(o Options) *Transport {
	t := &Transport{options: o}
	t.link = link{o: &t.options, counts: map[uint16]*shift{}, integrity: integrity{zero: o.ZeroChecksum}}
	t.ways[0].dir, t.ways[1].dir = schema.ToServer, schema.ToClient
	t.open = func(o stream.Options) { t.reader = stream.New(o) }
	t.pass = func(seg transport.Segment) { t.reader.Feed(seg, t.emit) }
	return t
}

var _ transport.Waiter = (*Transport)(nil)

// Keys returns the keys of an encrypted connection and the constants under which its messages are read: enough for NewSession. ok is false
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
	t.pending.fresh = 0
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
	case handshake:
		t.shake(w, seg)
	case trial:
		t.keep(seg)
		t.try(w, seg)
	case decided:
		t.pass(w.behind(seg))
	}
}

// behind returns a segment of a stream that is read: the first one behind the key exchange is the start.
func (w *way) behind(seg transport.Segment) transport.Segment {
	seg.Start = seg.Start || !w.read && w.step > 0
	w.read = true
	return seg
}

// Flush decides with the data available and reports incomplete messages.
func (t *Transport) Flush(at time.Time, emit func(*transport.Frame)) {
	t.emit = emit
	t.settle(at)
	if t.reader != nil {
		t.reader.Flush(at, emit)
	}
	t.emit = nil
}

// Waits reports whether bytes are kept until the connection is classified, or until the start of a message is found.
func (t *Transport) Waits() bool {
	return len(t.pending.segments) > 0 || t.reader != nil && t.reader.Waits()
}

// begin starts a frame.
func (t *Transport) begin(w *way, kind transport.Kind, offset int64, at time.Time) *transport.Frame {
	t.frame = transport.Frame{Kind: kind, Dir: w.dir, At: at, Offset: offset}
	return &t.frame
}
