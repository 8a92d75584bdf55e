package subspace

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Options describe what is known about a connection before its first datagram.
type Options struct {
	HasKey   bool   // Key is known
	Key      uint32 // of the VIE cipher, as in the server's answer to the handshake, for captures without it; 0: not encrypted
	Schedule Schedule

	Clear func(transport.Clear) // receives each deciphered datagram; may be nil

	// Groups are those of the messages to the server and to the client for definitions of another language, which begin behind the type:
	// messages are marked by transport.MarkHeader. nil: the definitions are SubSpace's.
	Groups *[2]string
}

// mode selects how datagrams are read.
type mode uint8

const (
	unknown   mode = iota // stored until the cipher is determined
	plain                 // not encrypted
	vie                   // VIE cipher
	continuum             // Continuum's cipher: opaque
	closed                // unknown cipher or key: opaque
	info                  // info port: no core protocol
	announce              // a directory's port for announcements: no core protocol
)

// Transport reads the traffic of one UDP pair. Its memory is bounded, see the package comment.
type Transport struct {
	options Options
	mode    mode
	ways    [2]way
	group   string // group of the messages
	decided bool   // group has been determined for the session
	session session
	wishes  wishes
	begins  bool // the next frame is the first one of another session
	prompt  bool // do not store wishes: later datagrams may be sent on differently
	pending pending
	asked   []byte // start of the last request to an info port

	// rewriter, if not nil, decides which numbered packets are accepted, and sends on what is read.
	rewriter *Rewriter

	emit  func(*transport.Frame)
	frame transport.Frame // passed to emit, reused
	via   []string
	one   [1]transport.Source

	origin         // of the packet being read
	late   bool    // the packet had been given up as missing: not part of an assembly
	buffer []byte  // the datagram, deciphered
	alone  [1]wrap // path of a message whose parts were in several packets
}

// origin is where a packet comes from.
type origin struct {
	at     time.Time
	packet uint32
	off    uint32 // offset of the datagram in the packet's payload; of a stored packet: of its body
	note   string // note of all its messages
	path   []wrap // enclosing packets
	lost   int64  // bytes missing from the capture at its end
	end    uint32 // offset at which its captured bytes end
}

// way is the state of one direction.
type way struct {
	dir    schema.Dir
	cipher *Cipher   // nil: not encrypted
	count  int64     // datagrams received
	heard  time.Time // time of the last one
	order  order
	chunk  assembly
	stream assembly
	sync   syncs
	names  names
}

// New returns the transport of a connection.
func New(o Options) *Transport {
	t := &Transport{options: o, group: "game"}
	t.ways[0].dir, t.ways[1].dir = schema.ToServer, schema.ToClient
	t.restart()
	return t
}

// restart resets the state of a session.
func (t *Transport) restart() {
	t.session = session{}
	t.group, t.decided = "game", false
	for i := range t.ways {
		w := &t.ways[i]
		w.cipher, w.sync = nil, syncs{}
		w.order.reset()
		w.chunk.reset()
		w.stream.reset()
	}
}

func (t *Transport) way(dir schema.Dir) *way {
	if dir == schema.ToClient {
		return &t.ways[1]
	}
	return &t.ways[0]
}

func (t *Transport) other(w *way) *way {
	if w == &t.ways[0] {
		return &t.ways[1]
	}
	return &t.ways[0]
}

// Feed takes the next datagram. A direction of Both counts as ToServer.
func (t *Transport) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	t.emit = emit
	w := t.way(seg.Dir)
	w.count++
	t.begin(seg)
	if seg.Lost != 0 && (len(seg.Bytes) == 0 || t.mode == info || t.mode == announce) {
		t.problem(w, seg.Bytes, t.off, noteCut)
	} else {
		t.datagram(w, seg.Bytes)
	}
	t.overdue()
	t.emit = nil
	w.heard = seg.At
}

// begin sets the origin of the datagram to be read next.
func (t *Transport) begin(seg transport.Segment) {
	t.at, t.packet, t.off, t.note, t.path = seg.At, seg.Packet, seg.Off, "", t.path[:0]
	t.lost, t.end = seg.Lost, seg.Off+uint32(len(seg.Bytes))
}

// Flush gives up waiting: packets that wait for missing ones are emitted, and incomplete messages become problems. More datagrams may
// follow, and are read as if nothing had been waiting.
func (t *Transport) Flush(at time.Time, emit func(*transport.Frame)) {
	t.emit = emit
	t.refused()
	t.release(true)
	t.at = at
	t.abandon("when the capture paused or ended")
	t.emit = nil
}

// Waits reports whether datagrams are kept until their cipher or session is known, or until missing packets before them arrive.
func (t *Transport) Waits() bool {
	a, b := &t.ways[0].order, &t.ways[1].order
	return len(t.pending.kept)+len(t.wishes.kept)+len(a.early)+len(b.early)+len(a.far)+len(b.far) > 0
}

// abandon gives up everything that waits for further packets.
func (t *Transport) abandon(when string) {
	for i := range t.ways {
		w := &t.ways[i]
		if t.rewriter == nil {
			t.skipAll(w)
			t.giveUp(w, w.order.ackedTo(), acknowledged)
			t.dropFar(w)
		}
		if w.chunk.open() {
			t.incomplete(w, &w.chunk, "the last chunk was missing "+when)
		}
		if w.stream.open() {
			t.incomplete(w, &w.stream, "the rest of the stream was missing "+when)
		}
	}
}

// start sets up the frame of bytes inside the packets of the current path.
func (t *Transport) start(kind transport.Kind, w *way, data []byte, from []transport.Source, note string) *transport.Frame {
	t.frame = transport.Frame{
		Kind: kind, Dir: w.dir, At: t.at, Bytes: data, From: from, Note: note, Offset: transport.Unknown, Begins: t.begins,
	}
	t.begins = false
	if len(t.path) > 0 {
		t.via = t.via[:0]
		for _, p := range t.path {
			t.via = append(t.via, p.name(w))
		}
		t.frame.Via = t.via
	}
	return &t.frame
}

// source returns the only source of a frame: size bytes at an offset of the current packet.
func (t *Transport) source(off uint32, size int) []transport.Source {
	t.one[0] = transport.Source{Packet: t.packet, Off: off, Len: uint32(size)}
	return t.one[:]
}

// control emits a packet of the protocol itself.
func (t *Transport) control(w *way, data []byte, off uint32, note string) {
	f := t.start(transport.Control, w, data, t.source(off, len(data)), note)
	f.Key, f.HasKey = schema.Key{Dir: w.dir, Group: "core", Code: uint32(data[1])}, true
	t.emit(f)
}

// problem emits bytes that cannot be valid.
func (t *Transport) problem(w *way, data []byte, off uint32, note string) {
	t.emit(t.start(transport.Problem, w, data, t.source(off, len(data)), note))
}

// opaque emits a datagram that cannot be read.
func (t *Transport) opaque(w *way, data []byte, note string) {
	t.emit(t.start(transport.Opaque, w, data, t.source(t.off, len(data)), note))
}

const noteCut = "the end of this datagram is not in the capture"

// cut reports whether the end of a packet, or of a part of one, is not in the capture.
func (t *Transport) cut(off uint32, size int) bool { return t.lost != 0 && off+uint32(size) == t.end }

// message emits a game packet. from is nil for one in the current packet. A message whose end is not captured becomes a problem: its values
// could be wrong.
func (t *Transport) message(w *way, data []byte, off uint32, from []transport.Source, note string, resumed bool) {
	if !t.decided && w.dir == schema.ToServer {
		t.group, t.decided = groupOf(data), true
	}
	if from == nil && t.cut(off, len(data)) {
		t.problem(w, data, off, noteCut)
		return
	}
	if from == nil {
		from = t.source(off, len(data))
	}
	f := t.start(transport.Message, w, data, from, note)
	f.Key, f.HasKey, f.Resumed = schema.Key{Dir: w.dir, Group: t.group, Code: uint32(data[0])}, true, resumed
	if of := t.options.Groups; of != nil {
		t.via = append(append(t.via[:0], f.Via...), transport.MarkHeader)
		f.Via, f.Key.Group = t.via, of[0]
		if w.dir == schema.ToClient {
			f.Key.Group = of[1]
		}
	}
	switch {
	case note != "":
	case t.note != "":
		f.Note = t.note
	case data[0] >= typesEnd:
		f.Note = noteType
	case t.session.ended:
		f.Note = "comes after the session was disconnected"
	}
	t.session.used = true
	t.emit(f)
}
